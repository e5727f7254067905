/*
 * state_open.c - the key, making a device and opening it again.
 *
 *     key    0 magic[4], 4 version, 8 key[32], 40 check[16] (BLAKE2b of it)
 *
 * Making writes both copies of the state first, of generation 0, and the key
 * last: a device exists from the moment its key does. Opening takes the copy of
 * the higher generation and mends the other before it goes on (state.c).
 */
#include "lib/bits/bytes.h"
#include "lib/core/fail.h"
#include "lib/device/internal.h"

#include <string.h>

#define STATE_OPEN_VERSION 1u
#define STATE_OPEN_KEY 56u /* bytes of the key's file */

static const uint8_t state_open_magic[4] = {'H', 'S', 'Y', 'K'};

/* ---- The key ------------------------------------------------------------- */

static void state_open_subkey(uint8_t out[HSY_KEY], const char *purpose,
                              const uint8_t key[HSY_KEY])
{
    hsy_blake2b(out, HSY_KEY, purpose, strlen(purpose), key, HSY_KEY);
}

static void state_open_keys(struct device_keys *keys,
                            const uint8_t key[HSY_KEY])
{
    state_open_subkey(keys->coins, "hearsay device coins 1", key);
    state_open_subkey(keys->mac, "hearsay device mac 1", key);
    state_open_subkey(keys->seal, "hearsay device seal 1", key);
    state_open_subkey(keys->tag, "hearsay device tag 1", key);
#ifndef HSY_CLIENT
    state_open_subkey(keys->envelope, "hearsay device envelope 1", key);
    state_open_subkey(keys->promise, "hearsay device promise 1", key);
#endif
}

static void state_open_key_encode(uint8_t file[STATE_OPEN_KEY],
                                  const uint8_t key[HSY_KEY])
{
    memcpy(file, state_open_magic, sizeof state_open_magic);
    bytes_put32(file + 4, STATE_OPEN_VERSION);
    memcpy(file + 8, key, HSY_KEY);
    hsy_blake2b(file + 40, 16, file, 40, NULL, 0);
}

/* What there is of a key. */
enum state_open_key {
    STATE_OPEN_KEY_NONE,
    STATE_OPEN_KEY_WHOLE,
    STATE_OPEN_KEY_BROKEN
};

/* Read it; key is written only if it is whole. HSY_E_IO. */
static hsy_status state_open_key_read(hsy_device *dev,
                                      enum state_open_key *found,
                                      uint8_t key[HSY_KEY], hsy_error *err)
{
    uint8_t file[STATE_OPEN_KEY], again[STATE_OPEN_KEY];
    size_t len = 0;
    hsy_status st =
        dev->world.load(dev->world.ctx, HSY_FILE_KEY, file, sizeof file, &len);

    *found = st == HSY_E_EMPTY ? STATE_OPEN_KEY_NONE : STATE_OPEN_KEY_BROKEN;
    if (st != HSY_OK && st != HSY_E_EMPTY && st != HSY_E_RANGE)
        return hsy_fail(err, st, HSY_FIELD_KEY, "the key cannot be read");
    if (st == HSY_OK && len == sizeof file) {
        state_open_key_encode(again, file + 8);
        if (memcmp(again, file, sizeof file) == 0) {
            *found = STATE_OPEN_KEY_WHOLE;
            memcpy(key, file + 8, HSY_KEY);
        }
        bytes_wipe(again, sizeof again);
    }
    bytes_wipe(file, sizeof file);
    return HSY_OK;
}

/* ---- Opening ------------------------------------------------------------- */

/* What a copy looks like to somebody without the key. */
enum state_open_look {
    STATE_OPEN_LOOK_NONE,
    STATE_OPEN_LOOK_TORN, /* no image: its making was cut short, or worse */
    STATE_OPEN_LOOK_NEW,
    STATE_OPEN_LOOK_USED
};

static hsy_status state_open_look(hsy_device *dev, hsy_file file,
                                  enum state_open_look *look, hsy_error *err)
{
    size_t len = 0;
    uint64_t generation = 0;
    hsy_status st = dev->world.load(dev->world.ctx, file, dev->image,
                                    dev->image_room, &len);

    *look = STATE_OPEN_LOOK_TORN;
    if (st == HSY_E_EMPTY)
        *look = STATE_OPEN_LOOK_NONE;
    else if (st == HSY_E_RANGE)
        *look = STATE_OPEN_LOOK_USED;
    else if (st != HSY_OK)
        return hsy_fail(err, st, HSY_FIELD_STATE, "the state cannot be read");
    else if (hsy_state_generation(dev->image, len, &generation))
        *look = generation > 0 ? STATE_OPEN_LOOK_USED : STATE_OPEN_LOOK_NEW;
    return HSY_OK;
}

/*
 * Whether making a device may begin (again). The copies are written first, of
 * generation 0, and the key last; where that was cut short nothing has been
 * answered yet. A broken key beside anything but two new copies is damage.
 */
static hsy_status state_open_unmade(hsy_device *dev, enum state_open_key key,
                                    bool *unmade, hsy_error *err)
{
    enum state_open_look a, b;
    hsy_status st = state_open_look(dev, HSY_FILE_A, &a, err);

    if (st == HSY_OK)
        st = state_open_look(dev, HSY_FILE_B, &b, err);
    if (st != HSY_OK)
        return st;
    *unmade = key == STATE_OPEN_KEY_NONE
                  ? a != STATE_OPEN_LOOK_USED && b != STATE_OPEN_LOOK_USED
                  : key == STATE_OPEN_KEY_BROKEN && a == STATE_OPEN_LOOK_NEW &&
                        b == STATE_OPEN_LOOK_NEW;
    return HSY_OK;
}

static hsy_status state_open_anchor_new(const hsy_device *dev, hsy_error *err)
{
    uint64_t number;
    hsy_status st = hsy_state_anchor(dev, &number, err);

    if (st == HSY_OK && number != 0)
        return hsy_fail_kind(err, HSY_E_REFUSED, HSY_FIELD_ANCHOR,
                             "the anchor knows a device that has answered: "
                             "restore its files, or reset the anchor",
                             HSY_LIMIT_WRITES, number);
    return st;
}

static hsy_status state_open_write_new(hsy_device *dev,
                                       const uint8_t key[HSY_KEY],
                                       hsy_error *err)
{
    uint8_t file[STATE_OPEN_KEY];
    hsy_status st;

    state_open_keys(&dev->keys, key);
    hsy_state_new(dev);
    st = hsy_state_store(dev);
    if (st == HSY_OK) {
        state_open_key_encode(file, key);
        st = dev->world.store(dev->world.ctx, HSY_FILE_KEY, file, sizeof file);
        bytes_wipe(file, sizeof file);
    }
    if (st != HSY_OK)
        return hsy_fail(err, st, HSY_FIELD_STATE,
                        "the new device cannot be written");
    return HSY_OK;
}

hsy_status hsy_state_create(hsy_device *dev, hsy_error *err)
{
    uint8_t key[HSY_KEY];
    enum state_open_key found;
    bool unmade = false;
    hsy_status st = state_open_key_read(dev, &found, key, err);

    if (st == HSY_OK)
        st = state_open_unmade(dev, found, &unmade, err);
    if (st == HSY_OK && !unmade)
        st = hsy_fail(err, HSY_E_REFUSED, HSY_FIELD_STATE,
                      "there is a device already, or what is left of one");
    if (st == HSY_OK)
        st = state_open_anchor_new(dev, err);
    if (st == HSY_OK && dev->world.entropy.fill(dev->world.entropy.ctx, key,
                                                sizeof key) != HSY_OK)
        st = hsy_fail(err, HSY_E_ENTROPY, HSY_FIELD_KEY,
                      "the random source failed; no device was made");
    if (st == HSY_OK)
        st = state_open_write_new(dev, key, err);
    bytes_wipe(key, sizeof key);
    return st;
}

/* What opening found besides the copy in memory: which the other one is, and
 * whether it is of the same generation. */
struct state_open_found {
    hsy_file other;
    bool both;
};

static hsy_status state_open_unreadable(hsy_device *dev, hsy_status a,
                                        hsy_status b, hsy_error *err)
{
    if (a == HSY_E_POLICY && b == HSY_E_POLICY)
        return hsy_fail_limit(err, HSY_E_POLICY, HSY_FIELD_RELEASES,
                              "the state has more than the policy has room "
                              "for: raise releases or release_bytes",
                              dev->policy.releases);
    if (a == HSY_E_VERSION && b == HSY_E_VERSION)
        return hsy_fail(err, HSY_E_VERSION, HSY_FIELD_STATE,
                        "the state was written by another version of the "
                        "program: use that one, or make a new device");
    return hsy_fail(err, HSY_E_DAMAGED, HSY_FIELD_STATE,
                    "neither copy of the state is whole, or they belong to "
                    "another key");
}

/* A copy that could not be read may be the newer one: only what was read and
 * does not verify is given up. */
static bool state_open_was_read(hsy_status st)
{
    return st == HSY_OK || st == HSY_E_DAMAGED || st == HSY_E_POLICY ||
           st == HSY_E_VERSION;
}

/* Read both copies; the higher generation ends up in memory. */
static hsy_status state_open_choose(hsy_device *dev,
                                    struct state_open_found *found,
                                    hsy_error *err)
{
    uint8_t tag[32] = {0};
    hsy_status a = hsy_state_read(dev, HSY_FILE_A), b;
    const uint64_t generation = dev->generation;

    if (a == HSY_OK)
        memcpy(tag, dev->image + 32, sizeof tag);
    b = hsy_state_read(dev, HSY_FILE_B);
    if (!state_open_was_read(a) || !state_open_was_read(b))
        return hsy_fail(err, state_open_was_read(a) ? b : a, HSY_FIELD_STATE,
                        "the state cannot be read");
    if (a != HSY_OK && b != HSY_OK)
        return state_open_unreadable(dev, a, b, err);
    found->both = a == HSY_OK && b == HSY_OK && generation == dev->generation;
    if (found->both && memcmp(tag, dev->image + 32, sizeof tag) != 0)
        return hsy_fail_kind(err, HSY_E_DAMAGED, HSY_FIELD_STATE,
                             "the copies of the state tell different stories",
                             HSY_LIMIT_WRITES, generation);
    found->other = HSY_FILE_A;
    if (b == HSY_OK && (a != HSY_OK || dev->generation >= generation))
        return HSY_OK;
    found->other = HSY_FILE_B;
    if (hsy_state_read(dev, HSY_FILE_A) != HSY_OK)
        return hsy_fail(err, HSY_E_IO, HSY_FIELD_STATE,
                        "the state cannot be read");
    return HSY_OK;
}

/* Make the other copy whole, never touching the one that is, and bring the
 * anchor up to both. */
static hsy_status state_open_mend(hsy_device *dev,
                                  const struct state_open_found *found,
                                  hsy_error *err)
{
    const hsy_world *w = &dev->world;
    uint64_t number;
    hsy_status st = hsy_state_anchor(dev, &number, err);

    if (st != HSY_OK)
        return st;
    if (!found->both)
        st = w->store(w->ctx, found->other, dev->image, dev->image_len);
    if (st == HSY_OK && w->anchor_raise != NULL && number < dev->generation)
        st = w->anchor_raise(w->ctx, dev->generation);
    if (st != HSY_OK)
        return hsy_fail(err, st, HSY_FIELD_STATE,
                        "the state cannot be written");
    return HSY_OK;
}

hsy_status hsy_state_open(hsy_device *dev, hsy_error *err)
{
    uint8_t key[HSY_KEY];
    enum state_open_key found;
    struct state_open_found copies = {HSY_FILE_A, false};
    bool unmade = false;
    hsy_status st = state_open_key_read(dev, &found, key, err);

    if (st == HSY_OK && found != STATE_OPEN_KEY_WHOLE) {
        st = state_open_unmade(dev, found, &unmade, err);
        if (st == HSY_OK)
            st = unmade ? hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_KEY,
                                   "there is no device")
                        : hsy_fail(err, HSY_E_DAMAGED, HSY_FIELD_KEY,
                                   "is missing or changed");
    }
    if (st != HSY_OK)
        return st;
    state_open_keys(&dev->keys, key);
    bytes_wipe(key, sizeof key);
    st = state_open_choose(dev, &copies, err);
    if (st == HSY_OK)
        st = hsy_state_current(dev, err);
    if (st == HSY_OK)
        st = state_open_mend(dev, &copies, err);
    return st;
}
