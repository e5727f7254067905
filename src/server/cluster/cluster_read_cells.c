/* cluster_read_cells.c - the tallies of a cluster, added up over its shards. */
#include "server/cluster/cluster_read.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "server/cluster/delta.h"

#include <stdlib.h>

#define READ_CHUNKS 64 /* of a statement */

static hsy_status read_add_chunks(struct read_store *s,
                                  const struct roster_entry *is,
                                  const struct pg_rows *r, int64_t *words)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < pg_count(r) && st == HSY_OK; i++) {
        const size_t place = (size_t)pg_get(r, i, 0);
        size_t len;
        const uint8_t *bytes = pg_get_bytes(r, i, 1, &len);
        const size_t n = cluster_chunk_words(is, place);

        st = cluster_add_chunk(n == 0 ? words : words + place * STORE_CHUNK, n,
                               bytes, len, s->err);
    }
    return st;
}

/* Sums of reports that are not folded: no store has batches of them. */
static hsy_status read_deltas(struct read_store *s,
                              const struct roster_entry *is, int32_t epoch,
                              int64_t *words)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < s->c->nshards && st == HSY_OK; i++) {
        struct pg_link *l = read_link(s, i);
        struct pg_rows *r = NULL;

        st = pg_ask(l, &r, s->err,
                    "select bytes from batches where type = 4 and entry = $1 "
                    "and $2 in (0, epoch)",
                    "ii", (int32_t)is->number, epoch);
        for (size_t k = 0; st == HSY_OK && k < pg_count(r); k++) {
            size_t len;
            const uint8_t *bytes = pg_get_bytes(r, k, 0, &len);

            st = delta_add(words, is->words, bytes, len, s->err);
        }
        pg_rows_free(r);
    }
    return st;
}

/* All shards' into words, which are zeros. */
static hsy_status read_words(struct read_store *s,
                             const struct roster_entry *is, int32_t epoch,
                             int64_t *words)
{
    const size_t chunks = (is->words + STORE_CHUNK - 1) / STORE_CHUNK;
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < s->c->nshards && st == HSY_OK; i++)
        for (size_t at = 0; at <= chunks && st == HSY_OK; at += READ_CHUNKS) {
            struct pg_link *l = read_link(s, i);
            struct pg_rows *r = NULL;

            st = pg_ask(l, &r, s->err,
                        "select place, words from cells where entry = $1 and "
                        "epoch = $2 and place >= $3 and place < $4",
                        "iiii", (int32_t)is->number, epoch, (int32_t)at,
                        at + READ_CHUNKS > chunks ? INT32_MAX
                                                  : (int32_t)at + READ_CHUNKS);
            if (st == HSY_OK)
                st = read_add_chunks(s, is, r, words);
            pg_rows_free(r);
        }
    return st == HSY_OK ? read_deltas(s, is, epoch, words) : st;
}

static hsy_status read_tally(struct read_store *s,
                             const struct roster_entry *is, int32_t epoch)
{
    const struct store_tally tally = {is->number, (uint32_t)epoch, is->words};
    int64_t *words = calloc(is->words, sizeof *words);
    hsy_status st =
        words == NULL ? host_nomem(s->err) : read_words(s, is, epoch, words);

    if (st == HSY_OK && s->to->tally != NULL)
        st = s->to->tally(s->to->ctx, &tally);
    for (uint32_t i = 0; st == HSY_OK && s->to->chunk != NULL &&
                         cluster_chunk_words(is, i) != 0;
         i++) {
        const struct store_chunk chunk = {i, words + (size_t)i * STORE_CHUNK,
                                          cluster_chunk_words(is, i)};
        size_t k = 0;

        while (k < chunk.n && chunk.words[k] == 0)
            k++;
        if (k < chunk.n)
            st = s->to->chunk(s->to->ctx, &tally, &chunk);
    }
    free(words);
    return st;
}

static int read_compare_epochs(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* The epochs of which any shard has chunks, or will have when it folds. */
static hsy_status read_epochs(struct read_store *s,
                              const struct roster_entry *is, int32_t **out,
                              size_t *n)
{
    const bool daily = mirror_daily(s->c->base.view, is);
    hsy_status st = HSY_OK;

    *out = NULL;
    *n = 0;
    for (size_t i = 0; i < s->c->nshards && st == HSY_OK; i++) {
        struct pg_link *l = read_link(s, i);
        struct pg_rows *r = NULL;

        st = pg_ask(l, &r, s->err,
                    "select epoch from cells where entry = $1 union select "
                    "unnest(array[0, case when $2 then epoch else 0 end]) from "
                    "batches where entry = $1 and type = 4",
                    "io", (int32_t)is->number, daily);
        if (st != HSY_OK)
            break;
        if (!grow_to(out, *n + pg_count(r) + 1, sizeof **out))
            st = host_nomem(s->err);
        for (size_t k = 0; st == HSY_OK && k < pg_count(r); k++)
            (*out)[(*n)++] = (int32_t)pg_get(r, k, 0);
        pg_rows_free(r);
    }
    if (*n > 1)
        qsort(*out, *n, sizeof **out, read_compare_epochs);
    return st;
}

hsy_status read_tallies(struct read_store *s)
{
    struct roster *roster = engine_roster(s->c->base.view);
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < roster_count(roster) && st == HSY_OK; i++) {
        int32_t *epochs = NULL;
        size_t n = 0;

        if (engine_is_retired(s->c->base.view, (uint32_t)i))
            continue;
        st = read_epochs(s, roster_at(roster, i), &epochs, &n);
        for (size_t k = 0; k < n && st == HSY_OK; k++)
            if (k == 0 || epochs[k] != epochs[k - 1])
                st = read_tally(s, roster_at(roster, i), epochs[k]);
        free(epochs);
    }
    roster_drop(roster);
    return st;
}
