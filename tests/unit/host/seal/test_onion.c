/* test_onion.c - a report in layers: each opens for its key, in its place, and
 * with every byte as it was sealed. */
#include "host/seal/seal.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define LAYERS 3u
#define REPORT 20u
#define SIZE (LAYERS * SEAL_LAYER + 1 + REPORT)

static uint8_t pubs[SEAL_LAYERS_MAX][SEAL_KEY];
static uint8_t secrets[SEAL_LAYERS_MAX][SEAL_KEY];
static uint8_t seed[SEAL_SEED], report[REPORT], digest[32], id[16];
static uint8_t terms[HSY_DIGEST];
static struct seal_place here = {"colour", 3, digest, 20401, id, terms};

static void set_up(void)
{
    for (size_t i = 0; i < SEAL_LAYERS_MAX; i++) {
        memset(secrets[i], (int)i + 1, SEAL_KEY);
        seal_public(pubs[i], secrets[i]);
    }
    for (size_t i = 0; i < sizeof seed; i++)
        seed[i] = (uint8_t)i;
    for (size_t i = 0; i < REPORT; i++)
        report[i] = (uint8_t)(0x40 + i);
    memset(terms, 0x7e, sizeof terms);
    memset(digest, 0xd1, sizeof digest);
    memset(id, 0x1d, sizeof id);
}

static hsy_status sealed(uint8_t *out, uint8_t kind)
{
    return seal_onion(out, (const uint8_t(*)[SEAL_KEY])pubs, LAYERS, &here,
                      seed, kind, kind == SEAL_NULL ? NULL : report, REPORT);
}

static hsy_status peel(uint8_t *out, size_t layer, const struct seal_place *at,
                       const uint8_t *envelope, size_t len)
{
    return seal_peel(out, secrets[layer], pubs[layer], layer, LAYERS, at,
                     envelope, len);
}

static void opens_layer_by_layer(uint8_t kind)
{
    uint8_t a[SIZE], b[SIZE], want[1 + REPORT] = {kind};
    size_t len = SIZE;
    bool good = true;

    if (kind == SEAL_REPORT)
        memcpy(want + 1, report, REPORT);
    is_status(sealed(a, kind), HSY_OK, "kind %u is sealed", kind);
    is_u64(seal_onion_size(LAYERS, REPORT), SIZE, "in as many bytes as said");
    for (size_t i = 0; i < LAYERS; i++) {
        good &= peel(b, i, &here, a, len) == HSY_OK;
        len -= SEAL_LAYER;
        memcpy(a, b, len);
    }
    ok(good && eq_u64(len, sizeof want) && eq_bytes(a, want, sizeof want),
       "and comes out of three layers as it was");
}

/* As many layers as there may be, each taken off where it stands. */
static void nine_layers_in_place(void)
{
    uint8_t a[SEAL_LAYERS_MAX * SEAL_LAYER + 1 + REPORT], *at = a;
    size_t len = sizeof a;
    bool good = seal_onion(a, (const uint8_t(*)[SEAL_KEY])pubs, SEAL_LAYERS_MAX,
                           &here, seed, SEAL_REPORT, report, REPORT) == HSY_OK;

    for (size_t i = 0; good && i < SEAL_LAYERS_MAX; i++) {
        good = seal_peel(at + 36, secrets[i], pubs[i], i, SEAL_LAYERS_MAX,
                         &here, at, len) == HSY_OK;
        at += 36;
        len -= SEAL_LAYER;
    }
    ok(good && eq_u64(len, 1 + REPORT) && at[0] == SEAL_REPORT &&
           eq_bytes(at + 1, report, REPORT),
       "nine layers come off in place");
}

/* What layer i is given, having come through those before. */
static size_t given_to(uint8_t *envelope, size_t layer)
{
    uint8_t out[SIZE];
    size_t len = SIZE;

    sealed(envelope, SEAL_REPORT);
    for (size_t i = 0; i < layer; i++) {
        peel(out, i, &here, envelope, len);
        len -= SEAL_LAYER;
        memcpy(envelope, out, len);
    }
    return len;
}

static void every_byte_counts(size_t layer)
{
    uint8_t envelope[SIZE], out[SIZE];
    size_t len = given_to(envelope, layer);
    unsigned opened = 0, key_ids = 0;

    for (size_t i = 0; i < len; i++) {
        hsy_status st;

        envelope[i] ^= (uint8_t)(1u << i % 8);
        st = peel(out, layer, &here, envelope, len);
        key_ids += st == HSY_E_UNKNOWN;
        opened += st != HSY_E_UNKNOWN && st != HSY_E_REFUSED;
        envelope[i] ^= (uint8_t)(1u << i % 8);
    }
    ok(eq_u64(opened, 0) && eq_u64(key_ids, SEAL_KEY_ID),
       "layer %zu: with any byte changed it does not open", layer);
    for (size_t i = 0; i < len; i++)
        opened += peel(out, layer, &here, envelope, i) != HSY_E_REFUSED;
    is_u64(opened, 0, "nor cut off anywhere");
    is_status(peel(out, layer, &here, envelope, len), HSY_OK, "else it does");
}

static void opens_in_its_place_only(size_t layer)
{
    static const uint8_t other[32] = {1};
    struct seal_place places[7] = {here, here, here, here, here, here, here};
    uint8_t envelope[SIZE], out[SIZE];
    size_t len = given_to(envelope, layer);
    bool outer = layer == 0;
    unsigned wrong = 0;

    places[0].task = "colours";
    places[1].release++;
    places[2].digest = other;
    places[3].terms = other;
    places[4].epoch += SEAL_PERIOD_DAYS;
    places[5].epoch++;
    places[6].id = other;
    for (size_t i = 0; i < 7; i++)
        wrong += peel(out, layer, &places[i], envelope, len) !=
                 (i < 5 || outer ? HSY_E_REFUSED : HSY_OK);
    is_u64(wrong, 0,
           "layer %zu: not in another task, release, scheme or period, nor "
           "under other terms%s",
           layer, outer ? ", epoch or under another id" : "");
}

/* Days of who opens it, from those of the envelope's own period on. */
static void opens_in_two_periods(size_t layer)
{
    const uint32_t begin = here.epoch / SEAL_PERIOD_DAYS * SEAL_PERIOD_DAYS;
    struct seal_place at = here;
    uint8_t envelope[SIZE], out[SIZE];
    size_t len = given_to(envelope, layer);
    unsigned wrong = 0;

    at.id = NULL;
    for (uint32_t i = 0; i < 4 * SEAL_PERIOD_DAYS; i++) {
        const uint32_t periods = i / SEAL_PERIOD_DAYS; /* 1 is its own */
        bool late = false;
        hsy_status st;

        at.epoch = begin - SEAL_PERIOD_DAYS + i;
        st = seal_peel_recent(out, &late, secrets[layer], pubs[layer], layer,
                              LAYERS, &at, envelope, len);
        wrong += st != (periods == 1 || periods == 2 ? HSY_OK : HSY_E_REFUSED);
        wrong += st == HSY_OK && late != (periods == 2);
    }
    is_u64(wrong, 0, "layer %zu opens in its own period and the next one",
           layer);
}

static void the_outermost_has_no_period(void)
{
    uint8_t envelope[SIZE], out[SIZE];
    bool late;

    given_to(envelope, 0);
    is_status(seal_peel_recent(out, &late, secrets[0], pubs[0], 0, LAYERS,
                               &here, envelope, SIZE),
              HSY_E_RANGE, "refuses to try two periods of the outermost layer");
}

static void opens_for_its_key_only(void)
{
    uint8_t envelope[SIZE], out[SIZE];

    sealed(envelope, SEAL_REPORT);
    is_status(
        seal_peel(out, secrets[1], pubs[1], 0, LAYERS, &here, envelope, SIZE),
        HSY_E_UNKNOWN, "another key: told by its id");
    is_status(
        seal_peel(out, secrets[1], pubs[0], 0, LAYERS, &here, envelope, SIZE),
        HSY_E_REFUSED, "another secret under the same id");
    ok(eq_status(seal_peel(out, secrets[0], pubs[0], 0, LAYERS + 1, &here,
                           envelope, SIZE),
                 HSY_E_REFUSED) &&
           eq_status(seal_peel(out, secrets[0], pubs[0], 1, LAYERS, &here,
                               envelope, SIZE),
                     HSY_E_REFUSED),
       "as another layer, or as one of more");
    ok(eq_status(seal_peel(out, secrets[0], pubs[0], LAYERS, LAYERS, &here,
                           envelope, SIZE),
                 HSY_E_RANGE) &&
           eq_status(seal_peel(out, secrets[0], pubs[0], 0, SEAL_LAYERS_MAX + 1,
                               &here, envelope, SIZE),
                     HSY_E_RANGE),
       "there is no such layer");
    memset(envelope + SEAL_KEY_ID, 0, SEAL_ENC);
    is_status(peel(out, 0, &here, envelope, SIZE), HSY_E_REFUSED,
              "an encapsulation of zeros");
}

static void bytes_follow_from_the_seed(void)
{
    uint8_t first[SIZE], again[SIZE];
    unsigned kept = 0;

    sealed(first, SEAL_REPORT);
    sealed(again, SEAL_REPORT);
    is_bytes(again, first, SIZE, "a retry has the same bytes");
    seed[0] ^= 1;
    sealed(again, SEAL_REPORT);
    seed[0] ^= 1;
    for (size_t i = SEAL_KEY_ID; i < SIZE; i++)
        kept += again[i] == first[i];
    ok(kept < SIZE / 8, "another seed has other bytes");
    /* One seed for two uploads is a mistake; keys are not shared even then. */
    here.epoch++;
    sealed(again, SEAL_REPORT);
    here.epoch--;
    ok(memcmp(again + SEAL_KEY_ID, first + SEAL_KEY_ID, SEAL_ENC) != 0,
       "nor do two epochs share a key");
}

static void null_looks_like_real(void)
{
    uint8_t real[SIZE], null[SIZE];

    ok(eq_status(sealed(real, SEAL_REPORT), HSY_OK) &&
           eq_status(sealed(null, SEAL_NULL), HSY_OK) &&
           eq_bytes(null, real, SEAL_KEY_ID),
       "a null upload has the length and the head of a real one");
}

static void limits_hold(void)
{
    const uint8_t(*keys)[SEAL_KEY] = (const uint8_t(*)[SEAL_KEY])pubs;
    uint8_t out[SIZE] = {0}, key[SEAL_KEY];
    unsigned left = 0;

    ok(eq_status(seal_onion(out, keys, 0, &here, seed, SEAL_REPORT, report, 1),
                 HSY_E_RANGE) &&
           eq_status(seal_onion(out, keys, SEAL_LAYERS_MAX + 1, &here, seed,
                                SEAL_REPORT, report, 1),
                     HSY_E_RANGE),
       "from one layer to nine");
    ok(eq_status(seal_onion(out, keys, 1, &here, seed, 0, report, 1),
                 HSY_E_RANGE) &&
           eq_status(seal_onion(out, keys, 1, &here, seed, 3, report, 1),
                     HSY_E_RANGE) &&
           eq_status(
               seal_onion(out, keys, 1, &here, seed, SEAL_REPORT, NULL, 1),
               HSY_E_RANGE) &&
           eq_status(seal_onion(out, keys, 1, &here, seed, SEAL_REPORT, report,
                                HSY_UPLOAD_MAX + 1),
                     HSY_E_RANGE),
       "reports and nulls, of a length that can be sent");
    memcpy(key, pubs[0], SEAL_KEY);
    memset(pubs[0], 0, SEAL_KEY);
    is_status(sealed(out, SEAL_REPORT), HSY_E_REFUSED,
              "a key that hides nothing is refused");
    memcpy(pubs[0], key, SEAL_KEY);
    for (size_t i = 0; i < SIZE; i++)
        left += out[i] != 0;
    is_u64(left, 0, "and nothing is left behind");
}

/* The bytes are a format, the seed's part in them too: what a device sends
 * again after an update is what it sent before. By an implementation of
 * docs/formats.md in another language. */
static void format_is_kept(void)
{
    static const uint8_t want_id[SEAL_KEY_ID] = {0x81, 0x16, 0xa3, 0x24};
    static const uint8_t want[HSY_DIGEST] = {
        0xbb, 0xf9, 0xb8, 0xc8, 0xc3, 0x5c, 0x27, 0xe3, 0xc8, 0xad, 0x90,
        0x81, 0x55, 0x7a, 0x8a, 0x6b, 0x15, 0xa0, 0xdb, 0xff, 0x63, 0x5b,
        0x85, 0xb4, 0x10, 0x98, 0x3c, 0xab, 0x02, 0xf4, 0x93, 0x92};
    uint8_t key_id[SEAL_KEY_ID], envelope[SIZE], got[HSY_DIGEST];

    seal_key_id(key_id, pubs[0]);
    is_bytes(key_id, want_id, sizeof key_id, "the id of a key");
    sealed(envelope, SEAL_REPORT);
    hsy_blake2b(got, sizeof got, envelope, sizeof envelope, NULL, 0);
    is_bytes(got, want, sizeof got, "the digest of an envelope");
}

int main(void)
{
    set_up();
    opens_layer_by_layer(SEAL_REPORT);
    opens_layer_by_layer(SEAL_NULL);
    nine_layers_in_place();
    for (size_t i = 0; i < LAYERS; i++) {
        every_byte_counts(i);
        opens_in_its_place_only(i);
        if (i != 0)
            opens_in_two_periods(i);
    }
    the_outermost_has_no_period();
    opens_for_its_key_only();
    bytes_follow_from_the_seed();
    null_looks_like_real();
    limits_hold();
    format_is_kept();
    return tap_done();
}
