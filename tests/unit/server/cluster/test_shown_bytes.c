/*
 * test_shown_bytes.c - a view as bytes: what is written is read; whatever else
 * stands there is damage, not a crash and not a view that no plan makes.
 */
#include "server/cluster/shown_bytes.h"
#include "tap.h"

#include <stdlib.h>

static struct shown_epoch counts[] = {
    {0, 7, 0, 3, {0, 0, 0}, {0, 0, 0}},
    {20600, 60, 50, 1, {2, 30, 60}, {1, 50, 50}},
    {20601, INT64_MAX - 100, 40, 0, {3, 4, 40}, {3, 4, 40}},
};
static struct shown_block blocks[] = {
    {.first = 20600, .last = 20600, .over = true},
    {.first = 20601, .last = 20999}};
static const struct shown_view view = {.digest = {1, 2, 3},
                                       .generation = 300,
                                       .version = 9,
                                       .kept = 20000,
                                       .counts = counts,
                                       .ncounts = 3,
                                       .blocks = blocks,
                                       .nblocks = 2,
                                       .gone = true};

/* What a plan may have made: in order, none in another, own within all. */
static bool sane(const struct shown_view *v)
{
    bool good = v->generation != 0;

    for (size_t i = 0; i < v->ncounts; i++)
        good &= v->counts[i].own <= v->counts[i].reports &&
                (i == 0 || v->counts[i].epoch > v->counts[i - 1].epoch);
    for (size_t k = 0; k < v->nblocks; k++)
        good &= v->blocks[k].last >= v->blocks[k].first &&
                (k == 0 || v->blocks[k].first > v->blocks[k - 1].last);
    return good;
}

static bool same(const struct shown_view *v)
{
    return eq_bytes(v->digest, view.digest, HSY_DIGEST) &&
           eq_u64(v->generation, 300) && eq_u64(v->version, 0) &&
           eq_u64(v->kept, 20000) && v->gone && eq_u64(v->ncounts, 3) &&
           eq_u64(v->nblocks, 2) && eq_u64(v->counts[0].reports, 7) &&
           eq_u64(v->counts[1].epoch, 20600) &&
           eq_u64(v->counts[1].own_came.least, 50) &&
           eq_u64(v->counts[2].reports, INT64_MAX - 100) &&
           eq_u64(v->counts[2].nulls, 0) &&
           eq_u64(v->counts[2].came.reports, 40);
}

/* Bytes in memory of their own length, so that a sanitizer sees every step
 * beyond. */
static hsy_status read_exactly(const uint8_t *bytes, size_t len, bool *good)
{
    uint8_t *copy = malloc(len != 0 ? len : 1);
    struct shown_view v = {0};
    hsy_status st = HSY_E_NOMEM;

    if (copy != NULL && len != 0)
        memcpy(copy, bytes, len);
    if (copy != NULL)
        st = shown_bytes_read(&v, copy, len, NULL);
    *good = st == HSY_E_DAMAGED || (st == HSY_OK && sane(&v));
    shown_view_clear(&v);
    free(copy);
    return st;
}

static void every_change(uint8_t *bytes, size_t len)
{
    bool good, all = true;
    size_t read = 0;

    for (size_t cut = 0; cut < len; cut++)
        all &= read_exactly(bytes, cut, &good) == HSY_E_DAMAGED && good;
    ok(all, "no part of it is one");
    all = true;
    for (size_t at = 0; at < len; at++)
        for (unsigned flip = 1; flip < 256; flip++) {
            bytes[at] ^= (uint8_t)flip;
            read += read_exactly(bytes, len, &good) == HSY_OK;
            all &= good;
            bytes[at] ^= (uint8_t)flip;
        }
    ok(all && read != 0, "with any byte changed it is damage, or a view that "
                         "could be");
}

static void random_bytes(void)
{
    uint8_t bytes[200];
    uint64_t seed = 1;
    bool good, all = true;

    for (unsigned n = 0; n < 20000; n++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (uint8_t)(seed >> 40) & (n % 2 ? 0xff : 0x8f);
        }
        bytes[0] = 1;
        (void)read_exactly(bytes, seed >> 32 & 127, &good);
        all &= good;
    }
    ok(all, "20000 times random bytes");
}

int main(void)
{
    struct shown_view back = {0}, none = {.generation = 1};
    uint8_t *bytes = NULL;
    size_t len = 0;

    is_status(shown_bytes_write(&bytes, &len, &view, NULL), HSY_OK,
              "a view is written");
    ok(len < 120, "in %u bytes", (unsigned)len);
    ok(eq_status(shown_bytes_read(&back, bytes, len, NULL), HSY_OK) &&
           same(&back) && back.blocks[0].over && !back.blocks[1].over &&
           eq_u64(back.blocks[1].last, 20999),
       "and read");
    every_change(bytes, len);
    shown_view_clear(&back);
    free(bytes);
    is_status(shown_bytes_write(&bytes, &len, &none, NULL), HSY_OK,
              "one of no reports is written");
    ok(eq_status(shown_bytes_read(&back, bytes, len, NULL), HSY_OK) &&
           eq_u64(back.ncounts, 0),
       "and read");
    shown_view_clear(&back);
    free(bytes);
    random_bytes();
    return tap_done();
}
