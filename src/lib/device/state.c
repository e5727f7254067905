/*
 * state.c - what outlives the program besides its key: two copies of one image.
 *
 * Little-endian.                                         docs/formats.md, 7
 *
 *     image  0 magic[4], 4 version, 8 generation (8 bytes), 16 length of it
 *            all, 20 records, 24 zero[8], 32 tag[32], 64 records
 *     record 0 length of the payload, 4 mac[16], 20 payload, sealed
 *
 * mac is a keyed hash of the payload, tag one of the head and of all lengths
 * and macs. The payload is sealed by a key stream whose key is a keyed hash of
 * its mac [as in SIV, Rogaway and Shrimpton 2006]: no nonce, equal states give
 * equal bytes, and a change of one record seals that record anew and no other.
 *
 * A commit writes generation G + 1 to file A, then to file B, then raises the
 * anchor; only then is anything said that it holds. Claim: whatever a power cut
 * leaves of the store in progress, or else whatever single bit turns, a valid
 * copy is left that holds every debit of every answer given.
 *
 *   While nothing is being stored both files hold generation G whole: opening
 *   sees to it before it answers anything, and a commit that did not succeed in
 *   both leaves a device that refuses everything until it is opened again. Let
 *   every answer given so far be in G. While A is written B holds G, untouched.
 *   While B is written A holds G + 1, which has all that G has, for nothing is
 *   ever taken out of the sums. So at each moment one file is whole and has
 *   every answer given, and a fault strikes the other, or strikes while both
 *   are whole. What it struck does not verify, unless it came out as one of two
 *   whole generations, G or G + 1, each of which has every answer given.
 *   Opening takes the higher valid generation and writes it over the other copy
 *   before going on. An answer joins those given when both files hold it.
 *
 * Two faults at once may leave no valid copy: then the device is refused. What
 * both copies cannot show is that both were put back from a backup; the anchor
 * does.
 */
#include "lib/bits/bytes.h"
#include "lib/core/blake2b.h"
#include "lib/core/fail.h"
#include "lib/core/stream.h"
#include "lib/device/internal.h"

#include <string.h>

#define STATE_VERSION 3u
#define STATE_HEAD 64u
#define STATE_RECORD 20u /* length and mac */
#define STATE_MAC 16u

static const uint8_t state_magic[4] = {'H', 'S', 'Y', 'S'};

enum state_kind { STATE_DEVICE = 1, STATE_SOURCE = 2, STATE_RELEASE = 3 };

/* ---- Fields: one list for reading and for writing ------------------------ */

struct state_cursor {
    uint8_t *at;
    bool reading;
};

static void state_u32(struct state_cursor *c, uint32_t *x)
{
    if (c->reading)
        *x = bytes_get32(c->at);
    else
        bytes_put32(c->at, *x);
    c->at += 4;
}

static void state_u64(struct state_cursor *c, uint64_t *x)
{
    if (c->reading)
        *x = bytes_get64(c->at);
    else
        bytes_put64(c->at, *x);
    c->at += 8;
}

static void state_bytes(struct state_cursor *c, void *bytes, size_t len)
{
    if (c->reading)
        memcpy(bytes, c->at, len);
    else
        memcpy(c->at, bytes, len);
    c->at += len;
}

#define STATE_DEVICE_BYTES 168u

static void state_device_fields(struct state_cursor *c, struct device_head *h)
{
    uint32_t kind = STATE_DEVICE;

    state_u32(c, &kind);
    state_u32(c, &h->consent);
    state_u32(c, &h->day);
    state_u32(c, &h->spent_on);
    state_u64(c, &h->spent_day);
    state_u64(c, &h->spent_lifetime);
    state_u64(c, &h->version);
    state_bytes(c, h->digest, sizeof h->digest);
    state_bytes(c, h->sign_key, sizeof h->sign_key);
    state_bytes(c, h->next_key, sizeof h->next_key);
    state_bytes(c, h->root, sizeof h->root);
}

#define STATE_SOURCE_BYTES 88u

static void state_source_fields(struct state_cursor *c, struct device_source *s)
{
    uint32_t kind = STATE_SOURCE;

    state_u32(c, &kind);
    state_bytes(c, s->name, HSY_SOURCE_MAX);
    state_u32(c, &s->spent_on);
    state_u64(c, &s->spent_day);
    state_u64(c, &s->spent_lifetime);
}

#define STATE_PLAN_BYTES 156u /* a release but for keys, rounds, reports */
#define STATE_ROUND_BYTES 52u

static void state_plan_fields(struct state_cursor *c, struct device_record *r)
{
    uint32_t kind = STATE_RELEASE;

    state_u32(c, &kind);
    state_u32(c, &r->source);
    state_bytes(c, r->digest, sizeof r->digest);
    state_u32(c, &r->closed);
    state_u32(c, &r->report_bytes);
    state_u32(c, &r->sends);
    state_u32(c, &r->window);
    state_u32(c, &r->changes);
    state_u32(c, &r->answers);
    state_u32(c, &r->round_days);
    state_u64(c, &r->nano_permanent);
    state_bytes(c, r->base, sizeof r->base);
    state_u64(c, &r->first);
    state_u64(c, &r->slot);
    state_u32(c, &r->slot_state);
    state_u32(c, &r->origin);
    state_u64(c, &r->promise);
    state_u64(c, &r->terms);
    state_u64(c, &r->resume);
    state_u64(c, &r->agreed);
    state_u64(c, &r->used);
}

static void state_round_fields(struct state_cursor *c, struct device_round *r,
                               struct device_shown *shown)
{
    state_u64(c, &r->number);
    state_u64(c, &r->scheme);
    state_u64(c, &r->held);
    state_u64(c, &r->sent);
    state_u32(c, &r->answers);
    state_u64(c, &shown->key);
    state_u32(c, &shown->end);
    state_u32(c, &shown->delay);
}

/* What follows the plan, whose numbers are in bounds. */
static void state_answer_fields(struct state_cursor *c, struct device_record *r,
                                uint8_t *reports)
{
    for (uint32_t i = 0; i < r->changes; i++)
        state_u64(c, &r->keys[i]);
    for (uint32_t i = 0; i < r->window; i++)
        state_round_fields(c, &r->rounds[i], &r->shown[i]);
    state_bytes(c, reports, r->window * device_round_bytes(r));
}

static size_t state_release_bytes(const struct device_record *r)
{
    return STATE_PLAN_BYTES + 8 * (size_t)r->changes +
           r->window * (STATE_ROUND_BYTES + device_round_bytes(r));
}

size_t hsy_state_room(uint32_t n, size_t release_bytes)
{
    const size_t release = STATE_PLAN_BYTES + 8 * HSY_CHANGES_MAX +
                           DEVICE_WINDOW * STATE_ROUND_BYTES + release_bytes;

    return STATE_HEAD + STATE_RECORD + STATE_DEVICE_BYTES +
           n * (2 * STATE_RECORD + STATE_SOURCE_BYTES + release);
}

/* ---- Sealing ------------------------------------------------------------- */

static void state_mac(const hsy_device *dev, uint8_t mac[STATE_MAC],
                      const uint8_t *payload, size_t len)
{
    hsy_blake2b(mac, STATE_MAC, payload, len, dev->keys.mac, HSY_KEY);
}

/* Put the key stream of a mac over a payload, or take it off again. */
static void state_mask(const hsy_device *dev, uint8_t *payload, size_t len,
                       const uint8_t mac[STATE_MAC])
{
    uint8_t key[HSY_KEY], mask[256];
    hsy_stream stream;
    hsy_rng rng;

    hsy_blake2b(key, sizeof key, mac, STATE_MAC, dev->keys.seal, HSY_KEY);
    hsy_stream_key(&stream, key);
    rng = hsy_stream_rng(&stream);
    for (size_t at = 0; at < len; at += sizeof mask) {
        size_t n = len - at < sizeof mask ? len - at : sizeof mask;

        (void)rng.fill(rng.ctx, mask, n); /* an open stream has no end */
        for (size_t i = 0; i < n; i++)
            payload[at + i] ^= mask[i];
    }
    hsy_stream_clear(&stream);
    bytes_wipe(key, sizeof key);
    bytes_wipe(mask, sizeof mask);
}

static void state_seal(hsy_device *dev, uint32_t at, size_t len)
{
    uint8_t *record = dev->image + at;

    bytes_put32(record, (uint32_t)len);
    state_mac(dev, record + 4, record + STATE_RECORD, len);
    state_mask(dev, record + STATE_RECORD, len, record + 4);
}

static bool state_unseal(hsy_device *dev, uint32_t at, size_t len)
{
    uint8_t *record = dev->image + at, mac[STATE_MAC];

    state_mask(dev, record + STATE_RECORD, len, record + 4);
    state_mac(dev, mac, record + STATE_RECORD, len);
    return memcmp(mac, record + 4, sizeof mac) == 0;
}

void hsy_state_head(hsy_device *dev)
{
    struct state_cursor c = {dev->image + STATE_HEAD + STATE_RECORD, false};

    state_device_fields(&c, &dev->head);
    state_seal(dev, STATE_HEAD, STATE_DEVICE_BYTES);
}

void hsy_state_source(hsy_device *dev, uint32_t source)
{
    struct device_source *s = &dev->sources[source];
    struct state_cursor c = {dev->image + s->at + STATE_RECORD, false};

    state_source_fields(&c, s);
    state_seal(dev, s->at, STATE_SOURCE_BYTES);
}

void hsy_state_record(hsy_device *dev, uint32_t record)
{
    struct device_record *r = &dev->records[record];
    struct state_cursor c = {dev->image + r->at + STATE_RECORD, false};

    state_plan_fields(&c, r);
    state_answer_fields(&c, r, device_reports(dev, record, r->rounds));
    state_seal(dev, r->at, state_release_bytes(r));
    r->next.until = 0;
}

/* Room at the end of the image for one more record. */
static uint32_t state_grow(hsy_device *dev, size_t len)
{
    uint32_t at = (uint32_t)dev->image_len;

    dev->image_len += STATE_RECORD + len;
    return at;
}

void hsy_state_add_source(hsy_device *dev)
{
    dev->sources[dev->nsources].at = state_grow(dev, STATE_SOURCE_BYTES);
    hsy_state_source(dev, dev->nsources++);
}

void hsy_state_add_record(hsy_device *dev)
{
    struct device_record *r = &dev->records[dev->nrecords];

    r->at = state_grow(dev, state_release_bytes(r));
    hsy_state_record(dev, dev->nrecords++);
}

/* The tag of an image of len bytes whose lengths have been checked. */
static void state_tag(const hsy_device *dev, uint8_t tag[32], size_t len)
{
    struct blake2b b;

    hsy_blake2b_init(&b, 32, dev->keys.tag, HSY_KEY);
    hsy_blake2b_update(&b, dev->image, 32);
    for (size_t at = STATE_HEAD; at < len;
         at += STATE_RECORD + bytes_get32(dev->image + at))
        hsy_blake2b_update(&b, dev->image + at, STATE_RECORD);
    hsy_blake2b_final(&b, tag);
}

static void state_finish_as(hsy_device *dev, uint64_t generation)
{
    uint8_t *head = dev->image;

    dev->generation = generation;
    memcpy(head, state_magic, sizeof state_magic);
    bytes_put32(head + 4, STATE_VERSION);
    bytes_put64(head + 8, generation);
    bytes_put32(head + 16, (uint32_t)dev->image_len);
    bytes_put32(head + 20, 1 + dev->nsources + dev->nrecords);
    memset(head + 24, 0, 8);
    state_tag(dev, head + 32, dev->image_len);
}

void hsy_state_new(hsy_device *dev)
{
    dev->image_len = STATE_HEAD + STATE_RECORD + STATE_DEVICE_BYTES;
    hsy_state_head(dev);
    state_finish_as(dev, 0);
}

void hsy_state_finish(hsy_device *dev)
{
    state_finish_as(dev, dev->generation + 1);
}

/* ---- Writing ------------------------------------------------------------- */

hsy_status hsy_state_anchor(const hsy_device *dev, uint64_t *number,
                            hsy_error *err)
{
    *number = 0;
    if (dev->world.anchor_read == NULL)
        return HSY_OK;
    if (dev->world.anchor_read(dev->world.ctx, number) != HSY_OK)
        return hsy_fail(err, HSY_E_IO, HSY_FIELD_ANCHOR,
                        "the anchor cannot be read");
    return HSY_OK;
}

hsy_status hsy_state_current(const hsy_device *dev, hsy_error *err)
{
    uint64_t number;
    hsy_status st = hsy_state_anchor(dev, &number, err);

    if (st == HSY_OK && number > dev->generation)
        return hsy_fail_kind(err, HSY_E_DAMAGED, HSY_FIELD_ANCHOR,
                             "the state is older than the anchor says: it "
                             "was restored, or a copy of this device has "
                             "written since",
                             HSY_LIMIT_WRITES, number);
    return st;
}

hsy_status hsy_state_store(hsy_device *dev)
{
    const hsy_world *w = &dev->world;
    hsy_status st = w->store(w->ctx, HSY_FILE_A, dev->image, dev->image_len);

    if (st == HSY_OK)
        st = w->store(w->ctx, HSY_FILE_B, dev->image, dev->image_len);
    if (st == HSY_OK && w->anchor_raise != NULL)
        st = w->anchor_raise(w->ctx, dev->generation);
    return st;
}

hsy_status hsy_state_settle(hsy_device *dev, hsy_status stored, hsy_error *err)
{
    const uint32_t n = dev->nnotes;

    dev->nnotes = 0;
    if (stored != HSY_OK) {
        dev->phase = DEVICE_LOST;
        return hsy_fail(err, stored, HSY_FIELD_STATE,
                        "the state could not be written, so nothing was "
                        "answered: open the device again");
    }
    dev->phase = DEVICE_READY;
    for (uint32_t i = 0; i < n; i++)
        hsy_device_log(dev, &dev->notes[i]);
    return HSY_OK;
}

hsy_status hsy_state_commit(hsy_device *dev, hsy_error *err)
{
    hsy_state_finish(dev);
    return hsy_state_settle(dev, hsy_state_store(dev), err);
}

/* ---- Reading an image ---------------------------------------------------- */

/* Lengths first: records end where the image does, and are as many as said.
 * There is a head. */
static bool state_frame(const uint8_t *image, size_t len)
{
    size_t at = STATE_HEAD;
    uint32_t records = 0;

    if (bytes_get32(image + 16) != len)
        return false;
    for (; len - at >= STATE_RECORD; records++) {
        uint32_t payload = bytes_get32(image + at);

        if (payload < 4 || payload > len - at - STATE_RECORD)
            return false;
        at += STATE_RECORD + payload;
    }
    return at == len && records == bytes_get32(image + 20);
}

static hsy_status state_read_source(hsy_device *dev, uint32_t at, size_t len)
{
    struct state_cursor c = {dev->image + at + STATE_RECORD, true};
    struct device_source *s = &dev->sources[dev->nsources];

    if (len != STATE_SOURCE_BYTES)
        return HSY_E_DAMAGED;
    if (dev->nsources == dev->policy.releases)
        return HSY_E_POLICY;
    memset(s, 0, sizeof *s);
    s->at = at;
    state_source_fields(&c, s);
    dev->nsources++;
    return HSY_OK;
}

static bool state_plan_ok(const hsy_device *dev, const struct device_record *r)
{
    return r->source < dev->nsources && r->sends >= 1 &&
           r->sends <= HSY_ANSWERS_MAX && r->window >= 1 &&
           r->window <= DEVICE_WINDOW && r->changes <= HSY_CHANGES_MAX &&
           r->report_bytes <= DEVICE_RELEASE_BYTES_MAX;
}

/* An older answer may stand in a record that comes later. */
static bool state_origins_ok(const hsy_device *dev)
{
    for (uint32_t i = 0; i < dev->nrecords; i++)
        if (dev->records[i].origin >= dev->nrecords)
            return false;
    return true;
}

static hsy_status state_read_release(hsy_device *dev, uint32_t at, size_t len)
{
    struct state_cursor c = {dev->image + at + STATE_RECORD, true};
    struct device_record *r = &dev->records[dev->nrecords];

    if (len < STATE_PLAN_BYTES)
        return HSY_E_DAMAGED;
    if (dev->nrecords == dev->policy.releases)
        return HSY_E_POLICY;
    memset(r, 0, sizeof *r);
    r->at = at;
    state_plan_fields(&c, r);
    if (!state_plan_ok(dev, r) || len != state_release_bytes(r))
        return HSY_E_DAMAGED;
    if (r->window * device_round_bytes(r) > dev->policy.release_bytes)
        return HSY_E_POLICY;
    state_answer_fields(&c, r, device_reports(dev, dev->nrecords, r->rounds));
    dev->nrecords++;
    return HSY_OK;
}

static hsy_status state_read_record(hsy_device *dev, uint32_t at, size_t len)
{
    struct state_cursor c = {dev->image + at + STATE_RECORD, true};
    uint32_t kind = bytes_get32(c.at);

    if ((kind == STATE_DEVICE) != (at == STATE_HEAD))
        return HSY_E_DAMAGED;
    if (kind == STATE_SOURCE)
        return state_read_source(dev, at, len);
    if (kind == STATE_RELEASE)
        return state_read_release(dev, at, len);
    if (kind != STATE_DEVICE || len != STATE_DEVICE_BYTES)
        return HSY_E_DAMAGED;
    state_device_fields(&c, &dev->head);
    return HSY_OK;
}

/* Take an image apart whose frame holds, and leave it as it was. */
static hsy_status state_parse(hsy_device *dev, size_t len)
{
    hsy_status st = HSY_OK;

    dev->image_len = len;
    dev->generation = bytes_get64(dev->image + 8);
    dev->nsources = dev->nrecords = 0;
    for (size_t at = STATE_HEAD; at < len && st == HSY_OK;) {
        size_t payload = bytes_get32(dev->image + at);
        uint8_t mac[STATE_MAC];

        if (!state_unseal(dev, (uint32_t)at, payload))
            return HSY_E_DAMAGED;
        st = state_read_record(dev, (uint32_t)at, payload);
        memcpy(mac, dev->image + at + 4, sizeof mac);
        state_mask(dev, dev->image + at + STATE_RECORD, payload, mac);
        at += STATE_RECORD + payload;
    }
    if (st == HSY_OK && !state_origins_ok(dev))
        return HSY_E_DAMAGED;
    return st;
}

hsy_status hsy_state_read(hsy_device *dev, hsy_file file)
{
    uint8_t tag[32];
    size_t len = 0;
    uint64_t generation;
    hsy_status st = dev->world.load(dev->world.ctx, file, dev->image,
                                    dev->image_room, &len);

    if (st == HSY_E_RANGE)
        return HSY_E_POLICY;
    if (st == HSY_E_EMPTY)
        return HSY_E_DAMAGED;
    if (st != HSY_OK)
        return st;
    if (!hsy_state_generation(dev->image, len, &generation))
        return HSY_E_DAMAGED;
    if (bytes_get32(dev->image + 4) != STATE_VERSION)
        return HSY_E_VERSION;
    if (!state_frame(dev->image, len))
        return HSY_E_DAMAGED;
    state_tag(dev, tag, len);
    if (memcmp(tag, dev->image + 32, sizeof tag) != 0)
        return HSY_E_DAMAGED;
    return state_parse(dev, len);
}

bool hsy_state_generation(const uint8_t *image, size_t len,
                          uint64_t *generation)
{
    if (len < STATE_HEAD || memcmp(image, state_magic, sizeof state_magic) != 0)
        return false;
    *generation = bytes_get64(image + 8);
    return true;
}
