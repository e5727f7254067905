/* cluster_write_end.c - all of an archive came: counts, and whether it agrees
 * with itself. */
#include "server/cluster/cluster_write.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <stdio.h>
#include <stdlib.h>

/* Ids that no entry has without a token: where they are counted is all the same
 * to who admits. */
static void write_enrolled(struct write_store *s)
{
    for (size_t i = 0; i < s->ndays; i++) {
        struct write_count *first = NULL;
        int64_t left = s->days[i].ids;

        for (size_t k = 0; k < s->n; k++) {
            if (s->counts[k].n.epoch != s->days[i].epoch)
                continue;
            left -= s->counts[k].ids;
            if (first == NULL)
                first = &s->counts[k];
        }
        if (first != NULL && left > 0)
            first->enrolled = left;
    }
}

static hsy_status write_put_counts(struct write_store *s, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < s->n && st == HSY_OK; i++) {
        const struct write_count *c = &s->counts[i];
        const bool open = engine_is_day(&c->n) && c->n.epoch > s->state.closed;

        st = write_once(s, err,
                        "insert into counts values($1, $2, 1, $3, $4, $5, $6) "
                        "on conflict do nothing",
                        "iillll", (int32_t)c->n.entry, (int32_t)c->n.epoch,
                        (int64_t)c->n.reports, (int64_t)c->n.nulls,
                        open ? c->ids : INT64_C(0), c->enrolled);
    }
    return st;
}

/* ---- Whether it agrees with itself --------------------------------------- */

static hsy_status write_read_words(void *ctx, const struct pg_rows *r, size_t i)
{
    int64_t *to = (int64_t *)ctx + (size_t)pg_get(r, i, 0) * STORE_CHUNK;
    size_t len;
    const uint8_t *bytes = pg_get_bytes(r, i, 1, &len);

    for (size_t k = 0; k < len / 8; k++)
        to[k] = (int64_t)bytes_get64(bytes + 8 * k);
    return HSY_OK;
}

static hsy_status write_agrees(struct write_store *s,
                               const struct roster_entry *is, hsy_error *err)
{
    int64_t *words = calloc(is->words, sizeof *words);
    uint64_t counted = 0;
    char sql[CLUSTER_SQL];
    hsy_tally tally;
    hsy_status st;

    if (words == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < s->n; i++)
        if (s->counts[i].n.entry == is->number)
            counted += s->counts[i].n.reports;
    hsy_tally_view(&tally, is->scheme, words);
    snprintf(sql, sizeof sql,
             "select place, words from cells where entry = %u and epoch = 0",
             (unsigned)is->number);
    st = cluster_each(s->l, sql, write_read_words, words, err);
    if (st == HSY_OK && hsy_tally_reports(&tally) != counted)
        st = host_fail(err, HSY_E_FORMAT, HOST_FIELD_ARCHIVE,
                       "a tally has other reports than were counted");
    free(words);
    return st;
}

/* Envelopes that came late from a shuffler have their ids under another day. */
static hsy_status write_days_agree(const struct write_store *s, hsy_error *err)
{
    for (size_t i = 0; i < s->ndays; i++) {
        uint64_t uploads = s->received;

        for (size_t k = 0; k < s->n; k++)
            if (s->counts[k].n.epoch == s->days[i].epoch)
                uploads += s->counts[k].uploads;
        if ((uint64_t)s->days[i].ids > uploads)
            return host_fail(err, HSY_E_FORMAT, HOST_FIELD_ARCHIVE,
                             "a day has more ids than uploads");
    }
    return HSY_OK;
}

hsy_status write_finish(struct write_store *s, hsy_error *err)
{
    const size_t n = s->roster != NULL ? roster_count(s->roster) : 0;
    hsy_status st = write_flush_quotas(s, err);

    if (st == HSY_OK)
        st = write_days_agree(s, err);
    write_enrolled(s);
    if (st == HSY_OK)
        st = write_put_counts(s, err);
    if (st == HSY_OK)
        st = pg_do(s->l, "update folds set round = 1 where one = 1", err);
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        if (!s->retired[i])
            st = write_agrees(s, roster_at(s->roster, i), err);
    return st;
}
