/* params.c - values on their way to a statement, and rows on their way back, in
 * PostgreSQL's binary form (big-endian). */
#include "server/postgres/internal.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of types, which do not change (pg_type.dat). */
#define PARAMS_BOOL 16u
#define PARAMS_BYTEA 17u
#define PARAMS_INT8 20u
#define PARAMS_INT4 23u
#define PARAMS_TEXT 25u
#define PARAMS_BOOLS 1000u
#define PARAMS_BYTEAS 1001u
#define PARAMS_INT4S 1007u
#define PARAMS_INT8S 1016u

static uint8_t *params_room(struct pg_params *p, size_t n)
{
    size_t room = p->room == 0 ? 4096 : p->room;
    uint8_t *more;

    while (room - p->len < n)
        room *= 2;
    if (room != p->room) {
        more = realloc(p->bytes, room);
        if (more == NULL) {
            p->failed = true;
            return NULL;
        }
        p->bytes = more;
        p->room = room;
    }
    p->len += n;
    return p->bytes + p->len - n;
}

/* The next value, of n bytes. */
static uint8_t *params_next(struct pg_params *p, Oid type, size_t n)
{
    if (p->n == PG_PARAMS) {
        p->failed = true;
        return NULL;
    }
    p->values[p->n++] = (struct pg_value){.type = type, .at = p->len, .len = n};
    return params_room(p, n);
}

static void params_put(uint8_t *to, uint64_t value, size_t n)
{
    for (size_t i = n; i-- != 0; value >>= 8)
        to[i] = (uint8_t)value;
}

void pg_int(struct pg_params *p, int32_t value)
{
    uint8_t *to = params_next(p, PARAMS_INT4, 4);

    if (to != NULL)
        params_put(to, (uint32_t)value, 4);
}

void pg_long(struct pg_params *p, int64_t value)
{
    uint8_t *to = params_next(p, PARAMS_INT8, 8);

    if (to != NULL)
        params_put(to, (uint64_t)value, 8);
}

void pg_bool(struct pg_params *p, bool value)
{
    uint8_t *to = params_next(p, PARAMS_BOOL, 1);

    if (to != NULL)
        *to = value;
}

void pg_bytes(struct pg_params *p, const void *bytes, size_t len)
{
    uint8_t *to = params_next(p, PARAMS_BYTEA, len);

    if (to != NULL && len != 0)
        memcpy(to, bytes, len);
}

void pg_text(struct pg_params *p, const char *text)
{
    uint8_t *to = params_next(p, PARAMS_TEXT, strlen(text));

    if (to != NULL)
        memcpy(to, text, strlen(text));
}

void pg_null(struct pg_params *p)
{
    if (params_next(p, 0, 0) != NULL)
        p->values[p->n - 1].null = true;
}

/* ---- Arrays -------------------------------------------------------------- */

/* An array's head, with room for n items of len bytes behind it. */
static uint8_t *params_array(struct pg_params *p, Oid type, Oid item,
                             bool nulls, size_t n, size_t bytes)
{
    uint8_t *to = params_next(p, type, n == 0 ? 12 : 20 + bytes);

    if (to == NULL)
        return NULL;
    params_put(to, n != 0, 4); /* dimensions */
    params_put(to + 4, nulls, 4);
    params_put(to + 8, item, 4);
    if (n != 0) {
        params_put(to + 12, n, 4);
        params_put(to + 16, 1, 4); /* the first index */
    }
    return to + 20;
}

void pg_longs(struct pg_params *p, const int64_t *values, size_t n)
{
    uint8_t *to = params_array(p, PARAMS_INT8S, PARAMS_INT8, false, n, n * 12);

    for (size_t i = 0; to != NULL && i < n; i++, to += 12) {
        params_put(to, 8, 4);
        params_put(to + 4, (uint64_t)values[i], 8);
    }
}

void pg_ints(struct pg_params *p, const int32_t *values, size_t n)
{
    uint8_t *to = params_array(p, PARAMS_INT4S, PARAMS_INT4, false, n, n * 8);

    for (size_t i = 0; to != NULL && i < n; i++, to += 8) {
        params_put(to, 4, 4);
        params_put(to + 4, (uint32_t)values[i], 4);
    }
}

void pg_marks(struct pg_params *p, const bool *values, size_t n)
{
    size_t marked = 0;
    uint8_t *to;

    for (size_t i = 0; i < n; i++)
        marked += values[i];
    to = params_array(p, PARAMS_BOOLS, PARAMS_BOOL, marked != n, n,
                      n * 4 + marked);
    for (size_t i = 0; to != NULL && i < n; i++) {
        params_put(to, values[i] ? 1 : UINT32_MAX, 4);
        to += 4;
        if (values[i])
            *to++ = 1;
    }
}

void pg_blobs(struct pg_params *p, const void *const *items, const size_t *lens,
              size_t n)
{
    size_t bytes = n * 4;
    uint8_t *to;

    for (size_t i = 0; i < n; i++)
        bytes += lens[i];
    to = params_array(p, PARAMS_BYTEAS, PARAMS_BYTEA, false, n, bytes);
    for (size_t i = 0; to != NULL && i < n; i++) {
        params_put(to, lens[i], 4);
        if (lens[i] != 0)
            memcpy(to + 4, items[i], lens[i]);
        to += 4 + lens[i];
    }
}

void pg_items(struct pg_params *p, const void *items, size_t len, size_t n)
{
    const uint8_t *from = items;
    uint8_t *to =
        params_array(p, PARAMS_BYTEAS, PARAMS_BYTEA, false, n, n * (4 + len));

    for (size_t i = 0; to != NULL && i < n; i++, to += 4 + len) {
        params_put(to, len, 4);
        memcpy(to + 4, from + i * len, len);
    }
}

/* ---- Rows ---------------------------------------------------------------- */

size_t pg_count(const struct pg_rows *r)
{
    return (size_t)r->pq->ntuples(r->result);
}

size_t pg_changed(const struct pg_rows *r)
{
    return strtoull(r->pq->cmdTuples(r->result), NULL, 10);
}

bool pg_is_null(const struct pg_rows *r, size_t row, int column)
{
    return r->pq->getisnull(r->result, (int)row, column) != 0;
}

int64_t pg_get(const struct pg_rows *r, size_t row, int column)
{
    const uint8_t *at =
        (const uint8_t *)r->pq->getvalue(r->result, (int)row, column);
    const int len = r->pq->getlength(r->result, (int)row, column);
    uint64_t value =
        len != 0 && (at[0] & 0x80) != 0 && len > 1 ? UINT64_MAX : 0;

    for (int i = 0; i < len && i < 8; i++)
        value = value << 8 | at[i];
    return (int64_t)value;
}

const uint8_t *pg_get_bytes(const struct pg_rows *r, size_t row, int column,
                            size_t *len)
{
    if (len != NULL)
        *len = (size_t)r->pq->getlength(r->result, (int)row, column);
    return (const uint8_t *)r->pq->getvalue(r->result, (int)row, column);
}

void pg_rows_free(struct pg_rows *r)
{
    if (r == NULL)
        return;
    r->pq->clear(r->result);
    free(r);
}
