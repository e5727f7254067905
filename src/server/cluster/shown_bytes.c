/* shown_bytes.c - a view of what is shown, as bytes of a row. */
#include "server/cluster/shown_bytes.h"

#include "host/base/host_fail.h"
#include "server/cluster/delta.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_FORMAT 1
#define BYTES_NUMBER 10u /* bytes of a number, at most */
#define BYTES_HEAD (1 + HSY_DIGEST)
#define BYTES_EPOCH 10u /* numbers of an epoch, */
#define BYTES_BLOCK 3u  /* of a block, */
#define BYTES_FIRST 5u  /* and before them */

/* ---- Writing ------------------------------------------------------------- */

static uint8_t *bytes_sum(uint8_t *p, const struct engine_sum *sum)
{
    p = delta_number(p, sum->batches);
    p = delta_number(p, sum->least);
    return delta_number(p, sum->reports);
}

static uint8_t *bytes_epochs(uint8_t *p, const struct shown_view *v)
{
    uint32_t before = 0;

    for (size_t i = 0; i < v->ncounts; i++) {
        const struct shown_epoch *e = &v->counts[i];

        p = delta_number(p, e->epoch - before);
        p = delta_number(p, e->reports);
        p = delta_number(p, e->own);
        p = delta_number(p, e->nulls);
        p = bytes_sum(p, &e->came);
        p = bytes_sum(p, &e->own_came);
        before = e->epoch;
    }
    return p;
}

static uint8_t *bytes_blocks(uint8_t *p, const struct shown_view *v)
{
    uint32_t before = 0;

    for (size_t k = 0; k < v->nblocks; k++) {
        const struct shown_block *b = &v->blocks[k];

        p = delta_number(p, b->first - before);
        p = delta_number(p, b->last - b->first);
        p = delta_number(p, b->over);
        before = b->last;
    }
    return p;
}

hsy_status shown_bytes_write(uint8_t **out, size_t *len,
                             const struct shown_view *v, hsy_error *err)
{
    const size_t numbers =
        BYTES_FIRST + BYTES_EPOCH * v->ncounts + BYTES_BLOCK * v->nblocks;
    uint8_t *bytes = malloc(BYTES_HEAD + BYTES_NUMBER * numbers), *p = bytes;

    if (bytes == NULL)
        return host_nomem(err);
    *p++ = BYTES_FORMAT;
    memcpy(p, v->digest, HSY_DIGEST);
    p = delta_number(p + HSY_DIGEST, v->generation);
    p = delta_number(p, v->kept);
    p = delta_number(p, v->gone);
    p = delta_number(p, v->ncounts);
    p = delta_number(p, v->nblocks);
    p = bytes_blocks(bytes_epochs(p, v), v);
    *out = bytes;
    *len = (size_t)(p - bytes);
    return HSY_OK;
}

/* ---- Reading ------------------------------------------------------------- */

struct bytes_from {
    const uint8_t *p, *end;
    bool bad;
};

/* A number up to most; else 0, and all that follows is bad. */
static uint64_t bytes_take(struct bytes_from *f, uint64_t most)
{
    uint64_t x = 0;

    for (unsigned shift = 0; !f->bad && shift < 63; shift += 7) {
        if (f->p == f->end)
            break;
        x |= (uint64_t)(*f->p & 0x7f) << shift;
        if (*f->p++ < 0x80 && x <= most)
            return x;
        if (f->p[-1] < 0x80)
            break;
    }
    f->bad = true;
    return 0;
}

/* A count: below 2^63, as the database has them. */
static uint64_t bytes_count(struct bytes_from *f)
{
    return bytes_take(f, INT64_MAX);
}

static struct engine_sum bytes_take_sum(struct bytes_from *f)
{
    struct engine_sum sum;

    sum.batches = bytes_count(f);
    sum.least = bytes_count(f);
    sum.reports = bytes_count(f);
    return sum;
}

/* Ascending; no more reports in all than can be counted. */
static void bytes_take_epochs(struct bytes_from *f, struct shown_view *v)
{
    uint64_t epoch = 0, all = 0;

    for (size_t i = 0; i < v->ncounts && !f->bad; i++) {
        struct shown_epoch *e = &v->counts[i];
        const uint64_t more = bytes_take(f, UINT32_MAX);

        epoch += more;
        e->epoch = (uint32_t)epoch;
        e->reports = bytes_count(f);
        e->own = bytes_count(f);
        e->nulls = bytes_count(f);
        e->came = bytes_take_sum(f);
        e->own_came = bytes_take_sum(f);
        all += e->reports;
        f->bad |= epoch > UINT32_MAX || (i > 0 && more == 0) ||
                  e->own > e->reports || all > INT64_MAX;
    }
}

/* Ascending, and none in another. */
static void bytes_take_blocks(struct bytes_from *f, struct shown_view *v)
{
    uint64_t day = 0;

    for (size_t k = 0; k < v->nblocks && !f->bad; k++) {
        struct shown_block *b = &v->blocks[k];
        const uint64_t more = bytes_take(f, UINT32_MAX);

        day += more;
        b->first = (uint32_t)day;
        day += bytes_take(f, UINT32_MAX);
        b->last = (uint32_t)day;
        b->over = bytes_take(f, 1) != 0;
        f->bad |= day > UINT32_MAX || more == 0;
    }
}

/* Room for as many as bytes are left can say, and no more. */
static hsy_status bytes_room(struct bytes_from *f, struct shown_view *v,
                             hsy_error *err)
{
    const size_t left = (size_t)(f->end - f->p);

    v->ncounts = (size_t)bytes_take(f, left / BYTES_EPOCH);
    v->nblocks = (size_t)bytes_take(f, left / BYTES_BLOCK);
    v->counts = calloc(v->ncounts + 1, sizeof *v->counts);
    v->blocks = calloc(v->nblocks + 1, sizeof *v->blocks);
    return v->counts != NULL && v->blocks != NULL ? HSY_OK : host_nomem(err);
}

hsy_status shown_bytes_read(struct shown_view *out, const uint8_t *bytes,
                            size_t len, hsy_error *err)
{
    struct bytes_from f = {bytes, bytes + len, true};
    struct shown_view v = {0};
    hsy_status st = HSY_OK;

    if (len >= BYTES_HEAD && bytes[0] == BYTES_FORMAT) {
        f.bad = false;
        f.p += BYTES_HEAD;
        memcpy(v.digest, bytes + 1, HSY_DIGEST);
        v.generation = bytes_count(&f);
        v.kept = (uint32_t)bytes_take(&f, UINT32_MAX);
        v.gone = bytes_take(&f, 1) != 0;
        st = bytes_room(&f, &v, err);
    }
    if (st == HSY_OK) {
        bytes_take_epochs(&f, &v);
        bytes_take_blocks(&f, &v);
    }
    if (st == HSY_OK && (f.bad || f.p != f.end || v.generation == 0))
        st = host_fail(err, HSY_E_DAMAGED, HOST_FIELD_STORE,
                       "the table 'shown' is damaged: restore the database");
    if (st == HSY_OK)
        *out = v;
    else
        shown_view_clear(&v);
    return st;
}
