/*
 * read_back.c - everything that was kept, handed back row by row. Every row's
 * checksum is held against it; the chunks of a tally must be those, and all
 * those, that its round put in force.
 */
#include "server/store/store_runs.h"

#include "lib/bits/bytes.h"

#include <string.h>

struct reading {
    struct store_sqlite *s;
    const struct store_reader *to;
    hsy_error *err;
    const struct store_tally_row *tally; /* whose chunks these are */
    uint64_t chunks, check;              /* read so far */
};

static hsy_status read_document(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;

    return r->to->document == NULL
               ? HSY_OK
               : r->to->document(r->to->ctx, row[1].bytes, row[1].len);
}

static hsy_status read_entry(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;

    return r->to->entry == NULL
               ? HSY_OK
               : r->to->entry(r->to->ctx, (uint32_t)row[0].number, row[1].bytes,
                              row[1].len);
}

static hsy_status read_count(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;
    const struct store_count c = {(uint32_t)row[0].number,
                                  (uint32_t)row[1].number, row[2].number,
                                  row[3].number};

    return r->to->count == NULL ? HSY_OK : r->to->count(r->to->ctx, &c);
}

static hsy_status read_quota(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;
    struct store_quota q = {.epoch = (uint32_t)row[0].number,
                            .used = (uint32_t)row[2].number};

    if (row[1].len != sizeof q.token)
        return HSY_E_DAMAGED;
    memcpy(q.token, row[1].bytes, sizeof q.token);
    return r->to->quota == NULL ? HSY_OK : r->to->quota(r->to->ctx, &q);
}

static hsy_status read_ids(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;
    const struct store_ids ids = {.epoch = (uint32_t)(row[0].number >> 32),
                                  .null = (row[0].number & STORE_NULLS) != 0,
                                  .ids = row[1].bytes,
                                  .n = row[1].len / sizeof *ids.ids};

    if (row[1].len % sizeof *ids.ids != 0)
        return HSY_E_DAMAGED;
    if (row[0].number <=
        store_runs_through(r->s, runs_half_of(row[0].number), 0))
        return HSY_OK; /* a run has them */
    return r->to->ids == NULL ? HSY_OK : r->to->ids(r->to->ctx, &ids);
}

struct store_batch store_batch_row(const struct sql_value *row)
{
    return (struct store_batch){.seq = row[0].number,
                                .entry = (uint32_t)row[1].number,
                                .epoch = (uint32_t)row[2].number,
                                .type = (uint32_t)row[3].number,
                                .reports = row[4].number,
                                .bytes = row[5].bytes,
                                .len = row[5].len};
}

static hsy_status read_batch(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;
    const struct store_batch b = store_batch_row(row);

    return r->to->batch == NULL ? HSY_OK : r->to->batch(r->to->ctx, &b);
}

static hsy_status read_sealed(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;
    const struct store_batch b = store_batch_row(row);

    return r->to->sealed == NULL ? HSY_OK : r->to->sealed(r->to->ctx, &b);
}

static hsy_status read_figure(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;
    const struct store_figure f = {(uint32_t)row[0].number,
                                   (uint32_t)row[1].number, row[2].bytes,
                                   row[2].len};

    return r->to->figure == NULL ? HSY_OK : r->to->figure(r->to->ctx, &f);
}

static hsy_status read_merged(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;

    if (row[0].len != STORE_MERGED)
        return HSY_E_DAMAGED;
    return r->to->merged == NULL ? HSY_OK
                                 : r->to->merged(r->to->ctx, row[0].bytes);
}

static hsy_status read_received(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;
    struct store_received received;
    const hsy_status st = store_received_row(&received, row);

    return st != HSY_OK || r->to->received == NULL
               ? st
               : r->to->received(r->to->ctx, &received);
}

static hsy_status read_mix(void *ctx, const struct sql_value *row)
{
    const struct reading *r = ctx;
    struct store_mix mix;
    const hsy_status st = store_mix_row(&mix, row);

    return st != HSY_OK || r->to->mix == NULL ? st
                                              : r->to->mix(r->to->ctx, &mix);
}

/* ---- Tallies ------------------------------------------------------------- */

static hsy_status read_chunk(void *ctx, const struct sql_value *row)
{
    struct reading *r = ctx;
    const struct store_tally *t = &r->tally->is;
    const uint64_t place = row[2].number, first = place * STORE_CHUNK;
    const uint8_t *wire = row[4].bytes;
    int64_t words[STORE_CHUNK];
    struct store_chunk chunk = {(uint32_t)place, words, row[4].len / 8};

    if (place > UINT32_MAX || first >= t->words || row[4].len % 8 != 0 ||
        chunk.n !=
            (t->words - first < STORE_CHUNK ? t->words - first : STORE_CHUNK))
        return HSY_E_DAMAGED;
    for (size_t i = 0; i < chunk.n; i++)
        words[i] = (int64_t)bytes_get64(wire + 8 * i);
    r->chunks++;
    r->check += sql_sum(row, 5);
    return r->to->chunk == NULL ? HSY_OK : r->to->chunk(r->to->ctx, t, &chunk);
}

static hsy_status read_chunks(struct reading *r,
                              const struct store_tally_row *t)
{
    struct sql_value v[4] = {SQL_N(t->is.entry), SQL_N(t->is.epoch),
                             SQL_N(t->since), SQL_N(0)};
    uint64_t through;
    hsy_status st = store_get_round(r->s, &r->s->append, t->is.entry,
                                    &v[3].number, &through, r->err);

    r->tally = t;
    r->chunks = r->check = 0;
    if (st == HSY_OK)
        st = store_rows(r->s, &r->s->cells, SQL_GET_CHUNKS, v, 4, read_chunk, r,
                        r->err);
    if (st == HSY_OK && (r->chunks != t->chunks || r->check != t->check))
        return store_damaged(r->s, "chunks", r->err);
    return st;
}

static hsy_status read_tally(void *ctx, const struct sql_value *row)
{
    struct reading *r = ctx;
    const struct store_tally_row t = store_tally_row(row);
    hsy_status st =
        r->to->tally == NULL ? HSY_OK : r->to->tally(r->to->ctx, &t.is);

    return st == HSY_OK ? read_chunks(r, &t) : st;
}

/* ---- Everything ---------------------------------------------------------- */

hsy_status store_read(struct store *is, const struct store_reader *to,
                      hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    struct reading r = {.s = s, .to = to, .err = err};
    const uint64_t closed = s->state.closed;
    const struct sql_value ids[] = {SQL_N(((closed + 1) << 32) - 1),
                                    SQL_N(INT64_MAX)};
    const struct read_step {
        bool wanted;
        enum sql_id id;
        const struct sql_value *values;
        size_t n;
        sql_each *each;
    } steps[] = {
        {to->document != NULL, SQL_GET_DOCUMENT, NULL, 0, read_document},
        {to->entry != NULL, SQL_GET_ENTRIES, NULL, 0, read_entry},
        {to->count != NULL, SQL_GET_COUNTS, NULL, 0, read_count},
        {to->quota != NULL, SQL_GET_QUOTAS, &SQL_N(closed), 1, read_quota},
        {to->ids != NULL, SQL_GET_IDS, ids, 2, read_ids},
        {to->tally != NULL || to->chunk != NULL, SQL_GET_TALLIES, NULL, 0,
         read_tally},
        {to->batch != NULL, SQL_GET_BATCHES, NULL, 0, read_batch},
        {to->sealed != NULL, SQL_GET_ALL_SEALED, NULL, 0, read_sealed},
        {to->received != NULL, SQL_GET_ALL_RECEIVED, NULL, 0, read_received},
        {to->mix != NULL, SQL_GET_MIXES, NULL, 0, read_mix},
        {to->figure != NULL, SQL_GET_FIGURES, NULL, 0, read_figure},
        {to->merged != NULL, SQL_GET_MERGED, NULL, 0, read_merged},
    };
    hsy_status st = store_alive(s, err);

    for (size_t i = 0; st == HSY_OK && i < sizeof steps / sizeof steps[0];
         i++) {
        if (steps[i].wanted || to->check)
            st = store_rows(s, &s->append, steps[i].id, steps[i].values,
                            steps[i].n, steps[i].each, &r, err);
        if (st == HSY_OK && steps[i].id == SQL_GET_IDS)
            st = store_runs_read(s, to, err);
    }
    return st;
}
