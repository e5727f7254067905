/*
 * test_delta.c - sums of reports as bytes: what is written is added; bytes that
 * nobody writes are damage; a sum counts what its reports do.
 */
#include "server/cluster/delta.h"

#include "lib/bits/bytes.h"
#include "rig/example_roster.h"
#include "tap.h"

#define WORDS 300u
#define UPLOADS 40u

/* In memory of their own length, so that a sanitizer sees every step beyond. */
static hsy_status add(int64_t *words, const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len != 0 ? len : 1);
    hsy_status st = HSY_E_NOMEM;

    if (copy != NULL && len != 0)
        memcpy(copy, bytes, len);
    if (copy != NULL)
        st = delta_add(words, WORDS, copy, len, NULL);
    free(copy);
    return st;
}

/* Damage, or the very bytes that its words are written as. */
static bool damaged_or_same(const uint8_t *bytes, size_t len, size_t *read)
{
    int64_t words[WORDS] = {0};
    uint8_t back[20 * WORDS];
    const hsy_status st = add(words, bytes, len);

    if (st == HSY_E_DAMAGED)
        return true;
    *read += 1;
    if (st != HSY_OK || delta_size(words, WORDS) != len)
        return false;
    delta_write(back, words, WORDS);
    return memcmp(back, bytes, len) == 0;
}

static void small_ones(void)
{
    const int64_t words[WORDS] = {3, 0, -1, 0, 0, 64};
    const uint8_t wanted[] = {0, 6, 1, 1, 2, 0x80, 1};
    int64_t back[WORDS] = {10, 7};
    uint8_t bytes[sizeof wanted];

    if (!ok(eq_u64(delta_size(words, WORDS), sizeof wanted),
            "its size is known"))
        return;
    delta_write(bytes, words, WORDS);
    is_bytes(bytes, wanted, sizeof wanted, "it is written as documented");
    ok(eq_status(add(back, bytes, sizeof bytes), HSY_OK) &&
           eq_int(back[0], 13) && eq_int(back[1], 7) && eq_int(back[2], -1) &&
           eq_int(back[5], 64),
       "and added to what is there");
    is_u64(delta_size(back, 0), 0, "of no words there are no bytes");
    is_status(add(back, bytes, 0), HSY_OK, "which add nothing");
}

static void large_ones(void)
{
    int64_t words[WORDS] = {INT64_MAX, INT64_MIN}, back[WORDS] = {0};
    uint8_t bytes[20 * WORDS];
    size_t len;

    words[WORDS - 1] = INT64_MIN + 1;
    words[130] = -64;
    len = delta_size(words, WORDS);
    delta_write(bytes, words, WORDS);
    ok(eq_status(add(back, bytes, len), HSY_OK) &&
           eq_bytes(back, words, sizeof words),
       "the largest and the smallest numbers");
    is_status(add(back, bytes, len), HSY_E_OVERFLOW,
              "twice they are too large");
}

static void bad_ones(void)
{
    static const struct {
        const char *what;
        uint8_t bytes[12];
        size_t len;
    } bad[] = {
        {"no number", {0}, 1},
        {"a number that does not end", {0, 0x80}, 2},
        {"nothing added", {0, 0}, 2},
        {"a number longer than it must be", {0, 0x82, 0}, 3},
        {"a place longer than it must be", {0x80, 0, 2}, 3},
        {"a word beyond the last", {0xac, 2, 2}, 3},
        {"and one after the last", {0xab, 2, 2, 0, 2}, 5},
        {"a place of 2^64 - 1",
         {255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 2},
         11},
        {"a number of more than 64 bits",
         {0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2},
         11},
        {"and one of eleven bytes",
         {0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 129, 0},
         12},
    };
    int64_t words[WORDS] = {0};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        is_status(add(words, bad[i].bytes, bad[i].len), HSY_E_DAMAGED, "%s",
                  bad[i].what);
    is_status(add(words, (const uint8_t[]){0xab, 2, 2}, 3), HSY_OK,
              "the last word itself is there");
}

static void random_ones(void)
{
    uint8_t bytes[40];
    uint64_t seed = 1;
    size_t read = 0;
    bool all = true;

    for (unsigned n = 0; n < 50000; n++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (uint8_t)(seed >> 40) & (n % 2 ? 0xff : 0x8f);
        }
        all &= damaged_or_same(bytes, seed >> 32 & 31, &read);
    }
    ok(all && read > 100, "random bytes are damage, or one sum's own");
}

/* ---- Of reports ---------------------------------------------------------- */

/* Uploads as a batch has them; to be freed. */
static uint8_t *batch(const struct roster_entry *is, size_t *len)
{
    uint8_t *bytes = NULL;

    *len = 0;
    for (uint8_t i = 0; i < UPLOADS; i++) {
        const size_t n = i % 10 == 0 ? 3 : 1;
        size_t size;
        uint8_t *upload = example_upload(is, 1, n, i, &size);
        uint8_t *more = realloc(bytes, *len + size);

        if (upload == NULL || more == NULL)
            abort();
        bytes = more;
        size -= HSY_UPLOAD_WIRE;
        bytes_put32(bytes + *len, (uint32_t)n);
        memcpy(bytes + *len + 4, upload + HSY_UPLOAD_WIRE, size);
        *len += 4 + size;
        free(upload);
    }
    return bytes;
}

static bool same_sum(struct fold_space *space, const struct roster_entry *is,
                     bool *summed)
{
    int64_t *one = calloc(is->words, 8), *other = calloc(is->words, 8);
    size_t len, left;
    uint8_t *bytes = batch(is, &len), *copy = malloc(len);
    struct store_batch b = {
        .type = STORE_REPORTS, .bytes = copy, .len = left = len};
    hsy_tally t;
    bool good;

    if (one == NULL || other == NULL || copy == NULL)
        abort();
    memcpy(copy, bytes, len);
    hsy_tally_view(&t, is->scheme, one);
    good = eq_status(fold_batch(space, is, &t, NULL, &b, NULL), HSY_OK);
    *summed = delta_sum(space, is, bytes, &left);
    if (*summed)
        good =
            good && left < len &&
            eq_status(delta_add(other, is->words, bytes, left, NULL), HSY_OK) &&
            eq_bytes(other, one, is->words * 8);
    else
        good = good && eq_u64(left, len) && eq_bytes(bytes, copy, len);
    free(one);
    free(other);
    free(bytes);
    free(copy);
    return good;
}

static void every_mechanism(void)
{
    struct roster *r = example_roster();
    struct fold_space space = {NULL, NULL, 0, 0};
    size_t sums = 0, large = 0;
    bool good = r != NULL;

    for (size_t i = 0; good && i < roster_count(r); i++) {
        const struct roster_entry *is = roster_at(r, i);
        bool summed;

        good = same_sum(&space, is, &summed) &&
               (!summed || is->words <= DELTA_WORDS);
        sums += summed;
        large += is->words > DELTA_WORDS;
    }
    ok(good && sums != 0,
       "of every mechanism: %u sums that count the same, "
       "%u tasks too large",
       (unsigned)sums, (unsigned)large);
    fold_space_clear(&space);
    roster_drop(r);
}

static void not_reports(void)
{
    struct roster *r = example_roster();
    struct fold_space space = {NULL, NULL, 0, 0};
    uint8_t bytes[5] = {200, 1, 2, 3, 4};
    size_t len = sizeof bytes, none = 0;

    ok(!delta_sum(&space, roster_at(r, 0), bytes, &len) && eq_u64(len, 5) &&
           eq_u64(bytes[0], 200),
       "what are no reports is left as it is");
    ok(!delta_sum(&space, roster_at(r, 0), bytes, &none), "as is nothing");
    fold_space_clear(&space);
    roster_drop(r);
}

int main(void)
{
    small_ones();
    large_ones();
    bad_ones();
    random_ones();
    every_mechanism();
    not_reports();
    return tap_done();
}
