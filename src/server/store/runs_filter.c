/*
 * runs_filter.c - which ids a run may have, in two bytes an id and a little.
 *
 * Ids are keyed hashes in their order, so the first bits of one say about where
 * it stands: buckets of 32 to 64 ids. Its last two bytes have nothing to do
 * with the order: an id that is not there meets one of a bucket's marks with a
 * chance below 64 / 65,536.
 */
#include "server/store/runs.h"

#include <stdlib.h>
#include <string.h>

#define FILTER_BUCKET 32u /* ids, at least on average */
#define FILTER_PAD 8u     /* marks behind the last: they are read by fours */
#define FILTER_ONES UINT64_C(0x0001000100010001)

unsigned run_filter_bits(uint64_t count)
{
    unsigned bits = 0;

    while (bits < 27 && count >> (bits + 1) >= FILTER_BUCKET)
        bits++;
    return bits;
}

uint64_t run_filter_bytes(uint64_t count)
{
    return 4 * ((UINT64_C(1) << run_filter_bits(count)) + 1) + 2 * count;
}

bool run_filter_make(struct run_filter *f, uint64_t count)
{
    const unsigned bits = run_filter_bits(count);

    *f = (struct run_filter){.bits = bits};
    if (count >= UINT32_MAX)
        return false;
    f->first = malloc((((size_t)1 << bits) + 1) * sizeof *f->first);
    f->marks = malloc(((size_t)count + FILTER_PAD) * sizeof *f->marks);
    if (f->first == NULL || f->marks == NULL) {
        run_filter_clear(f);
        return false;
    }
    memset(f->marks + count, 0, FILTER_PAD * sizeof *f->marks);
    f->first[0] = 0;
    return true;
}

void run_filter_clear(struct run_filter *f)
{
    free(f->first);
    free(f->marks);
    *f = (struct run_filter){0};
}

/* The first bits of an id: its bucket. */
static size_t filter_bucket(const struct run_filter *f,
                            const struct store_id *id)
{
    const uint64_t head = (uint64_t)id->id[0] << 24 |
                          (uint64_t)id->id[1] << 16 | (uint64_t)id->id[2] << 8 |
                          id->id[3];

    return (size_t)(head >> (32 - f->bits));
}

static uint16_t filter_mark(const struct store_id *id)
{
    uint16_t mark; /* as it stands in memory and in the file */

    memcpy(&mark, id->id + sizeof id->id - sizeof mark, sizeof mark);
    return mark;
}

void run_filter_add(struct run_filter *f, const struct store_id *id)
{
    const size_t bucket = filter_bucket(f, id);

    while (f->begun < bucket)
        f->first[++f->begun] = (uint32_t)f->count;
    f->marks[f->count++] = filter_mark(id);
}

void run_filter_end(struct run_filter *f)
{
    const size_t buckets = (size_t)1 << f->bits;

    while (f->begun < buckets)
        f->first[++f->begun] = (uint32_t)f->count;
}

void run_filter_near(const struct run_filter *f, const struct store_id *id)
{
    __builtin_prefetch(&f->first[filter_bucket(f, id)]);
}

void run_filter_nearer(const struct run_filter *f, const struct store_id *id)
{
    const uint16_t *marks = &f->marks[f->first[filter_bucket(f, id)]];

    __builtin_prefetch(marks);
    __builtin_prefetch(marks + 32); /* the next line: a bucket has 64 to 128
                                     * bytes */
}

/* Four marks at a time: a lane of x is zero where they are the same. Marks
 * beyond the bucket are met too, which the caller sees. */
static bool filter_any(const uint16_t *marks, uint64_t four)
{
    uint64_t x;

    memcpy(&x, marks, sizeof x);
    x ^= four;
    return ((x - FILTER_ONES) & ~x & (FILTER_ONES << 15)) != 0;
}

bool run_filter_next(const struct run_filter *f, const struct store_id *id,
                     uint64_t *at)
{
    const size_t bucket = filter_bucket(f, id);
    const uint64_t end = f->first[bucket + 1];
    const uint16_t mark = filter_mark(id);
    const uint64_t four = mark * FILTER_ONES;
    uint64_t i = *at > f->first[bucket] ? *at : f->first[bucket];

    for (; i < end; i += 4) {
        if (!filter_any(f->marks + i, four))
            continue;
        for (uint64_t k = i; k < i + 4 && k < end; k++)
            if (f->marks[k] == mark) {
                *at = k;
                return true;
            }
    }
    return false;
}
