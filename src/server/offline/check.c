/*
 * check.c - a collector's data checked: everything is read and held against
 * everything else that says the same.
 *
 * Both databases are looked through page by page, every row is held against its
 * checksum, and the chunks of a tally against the round that put them in force.
 * Then what was not folded is folded in memory, and for every entry the counts
 * of its days, added up, must be the reports in its tally. A day's own tally
 * has no more reports than its count, and a day no more ids than uploads. What
 * is sealed is in no tally, and envelopes that came late from a shuffler have
 * their ids under a day that was open then.
 */
#include "server/offline/offline.h"

#include "host/base/day.h"
#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check_day {
    uint32_t epoch;
    uint64_t ids, uploads; /* reports and nulls */
};

struct check {
    struct offline *d;
    struct offline_check *out;
    struct check_day *days; /* owned */
    size_t ndays;
    uint64_t received; /* envelopes of batches from a shuffler */
};

/* ---- Reading ------------------------------------------------------------- */

static hsy_status check_entry(void *ctx, uint32_t number, const uint8_t *bytes,
                              size_t len)
{
    struct check *c = ctx;

    (void)number;
    (void)bytes;
    (void)len;
    if (!grow_to(&c->out->rows, c->out->n + 1, sizeof *c->out->rows))
        return HSY_E_NOMEM;
    c->out->rows[c->out->n++] = (struct offline_row){.agrees = true};
    return HSY_OK;
}

static struct check_day *check_day(struct check *c, uint32_t epoch)
{
    for (size_t i = c->ndays; i-- != 0;)
        if (c->days[i].epoch == epoch)
            return &c->days[i];
    if (!grow_to(&c->days, c->ndays + 1, sizeof *c->days))
        return NULL;
    c->days[c->ndays] = (struct check_day){.epoch = epoch};
    return &c->days[c->ndays++];
}

static hsy_status check_count(void *ctx, const struct store_count *count)
{
    struct check *c = ctx;
    struct check_day *day = check_day(c, count->epoch);

    if (day == NULL)
        return HSY_E_NOMEM;
    if (count->entry >= c->out->n)
        return HSY_E_DAMAGED;
    c->out->rows[count->entry].counted += count->reports;
    c->out->rows[count->entry].nulls += count->nulls;
    c->out->rows[count->entry].days +=
        count->epoch != 0 && count->epoch < ENGINE_MERGED;
    day->uploads += count->reports + count->nulls;
    return HSY_OK;
}

static hsy_status check_ids(void *ctx, const struct store_ids *ids)
{
    struct check *c = ctx;
    struct check_day *day = check_day(c, ids->epoch);

    if (day == NULL)
        return HSY_E_NOMEM;
    day->ids += ids->n;
    c->out->ids += ids->n;
    return HSY_OK;
}

static hsy_status check_quota(void *ctx, const struct store_quota *quota)
{
    (void)ctx;
    (void)quota;
    return HSY_OK;
}

static hsy_status check_batch(void *ctx, const struct store_batch *batch)
{
    struct check *c = ctx;

    if (batch->entry >= c->out->n)
        return HSY_E_DAMAGED;
    c->out->rows[batch->entry].waiting += batch->reports;
    return HSY_OK;
}

static hsy_status check_sealed(void *ctx, const struct store_batch *batch)
{
    struct check *c = ctx;
    const hsy_status st = check_batch(ctx, batch);

    if (st == HSY_OK)
        c->out->rows[batch->entry].sealed = true;
    return st;
}

static hsy_status check_mix(void *ctx, const struct store_mix *mix)
{
    struct check *c = ctx;

    if (mix->entry >= c->out->n)
        return HSY_E_DAMAGED;
    c->out->rows[mix->entry].sealed = true;
    return HSY_OK;
}

static hsy_status check_received(void *ctx, const struct store_received *row)
{
    struct check *c = ctx;

    if (row->entry >= c->out->n)
        return HSY_E_DAMAGED;
    c->received += row->n + row->nulls;
    return HSY_OK;
}

static hsy_status check_figure(void *ctx, const struct store_figure *figure)
{
    (void)figure;
    ((struct check *)ctx)->out->figures++;
    return HSY_OK;
}

static hsy_status check_merged(void *ctx, const uint8_t name[STORE_MERGED])
{
    (void)name;
    ((struct check *)ctx)->out->merged++;
    return HSY_OK;
}

/* ---- Saying what is wrong ------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void
check_say(struct check *c, const char *format, ...)
{
    va_list args;
    char text[OFFLINE_PROBLEM];

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (c->out->wrong != NULL)
        c->out->wrong(c->out->ctx, text);
    if (c->out->problem[0] == '\0')
        memcpy(c->out->problem, text, sizeof text);
}

static void check_page(void *ctx, const char *file, const char *text)
{
    check_say(ctx, "%s: %.400s", file, text);
}

static void check_error(struct check *c, const hsy_error *err)
{
    if (err->field == HOST_FIELD_RUNS && err->at != 0)
        check_say(c, "runs/*.%" PRIu64 ": %s", err->at, err->msg);
    else
        check_say(c, "%s%s%s", host_field_name(err->field),
                  err->field == HSY_FIELD_NONE ? "" : ": ",
                  err->msg == NULL ? hsy_strstatus(err->status) : err->msg);
}

/* ---- Holding against each other ------------------------------------------ */

/* The tallies of single days, where they are kept: words is room for one. */
static hsy_status check_entry_days(struct check *c,
                                   const struct roster_entry *e,
                                   const hsy_tally *tally, int64_t *words,
                                   hsy_error *why)
{
    const size_t n = engine_counts(c->d->engine, e->number, NULL, 0);
    struct store_count *counts = malloc((n + 1) * sizeof *counts);

    if (counts == NULL)
        return host_nomem(why);
    engine_counts(c->d->engine, e->number, counts, n);
    for (size_t i = 0; i < n; i++) {
        const uint32_t day = counts[i].epoch;
        char text[DAY_TEXT];
        hsy_error err;

        if (day == 0 || day >= ENGINE_MERGED ||
            engine_copy(c->d->engine, e->number, day, day, words, &err) !=
                HSY_OK)
            continue; /* there is none of its own */
        if (hsy_tally_reports(tally) <= counts[i].reports)
            continue;
        day_text(text, day);
        check_say(c,
                  "%s, release %" PRIu32 ": %s: %" PRIu64
                  " reports were counted, its tally has %" PRIu64,
                  e->task.id, e->task.release, text, counts[i].reports,
                  hsy_tally_reports(tally));
        c->out->rows[e->number].agrees = false;
    }
    free(counts);
    return HSY_OK;
}

static hsy_status check_tallies(struct check *c, const struct roster_entry *e,
                                hsy_error *err)
{
    struct offline_row *row = &c->out->rows[e->number];
    int64_t *words = NULL;
    hsy_tally tally;
    hsy_status st = offline_tally(c->d, e, &tally, &words, err);

    if (st == HSY_OK) {
        row->tallied = hsy_tally_reports(&tally);
        st = check_entry_days(c, e, &tally, words, err);
    }
    free(words);
    if (st != HSY_OK || row->tallied == row->counted || row->sealed ||
        (row->tallied == 0 && engine_is_retired(c->d->engine, e->number)))
        return st;
    row->agrees = false;
    check_say(c,
              "%s, release %" PRIu32 ": %" PRIu64
              " reports were counted, its tally has %" PRIu64,
              e->task.id, e->task.release, row->counted, row->tallied);
    return HSY_OK;
}

static hsy_status check_entries(struct check *c, hsy_error *err)
{
    hsy_status st = offline_fold(c->d, err);

    for (size_t i = 0; st == HSY_OK && i < roster_count(c->d->roster); i++)
        st = check_tallies(c, roster_at(c->d->roster, i), err);
    return st;
}

static void check_days(struct check *c)
{
    for (size_t i = 0; i < c->ndays; i++) {
        char text[DAY_TEXT];

        if (c->days[i].ids <= c->days[i].uploads + c->received)
            continue;
        day_text(text, c->days[i].epoch);
        check_say(c, "%s: %" PRIu64 " ids, but %" PRIu64 " uploads", text,
                  c->days[i].ids, c->days[i].uploads);
    }
}

/* ---- All of it ----------------------------------------------------------- */

hsy_status offline_check(struct offline_check *out, struct offline *o,
                         hsy_error *err)
{
    struct check c = {.d = o, .out = out};
    const struct store_reader to = {.ctx = &c,
                                    .entry = check_entry,
                                    .count = check_count,
                                    .quota = check_quota,
                                    .ids = check_ids,
                                    .batch = check_batch,
                                    .sealed = check_sealed,
                                    .received = check_received,
                                    .mix = check_mix,
                                    .figure = check_figure,
                                    .merged = check_merged};
    hsy_error why = {0};
    hsy_status st = o->shards != 0
                        ? HSY_OK /* its pages are the database's business */
                        : store_admin_verify(o->store, check_page, &c, &why);

    if (st == HSY_OK)
        st = o->store->ops->read(o->store, &to, &why);
    if (st != HSY_OK && out->problem[0] == '\0')
        check_error(&c, &why);
    if (st == HSY_OK) {
        st = check_entries(&c, err);
        check_days(&c);
    } else {
        st = HSY_OK; /* it is said, and that is what was asked */
    }
    free(c.days);
    return st;
}

void offline_check_clear(struct offline_check *c)
{
    free(c->rows);
    c->rows = NULL;
}
