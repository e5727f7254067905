/* renew.c - the next generation of an entry. */
#include "server/collector/shown/internal.h"

#include "host/analysis/analysis.h"
#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_SPARE 2u /* days before its tally goes a block is finished */

/* What the folder copies of an entry at one moment. */
struct shown_work {
    struct shown *s;
    const struct roster_entry *is;
    struct shown_view now; /* as it is shown */
    struct shown_plan plan;
    int64_t *whole;       /* the live tally; owned */
    int64_t **lots;       /* and those of the plan's lots; owned */
    uint32_t kept, begin; /* days of which blocks go on, and may begin */
};

static void shown_work_clear(struct shown_work *w)
{
    for (size_t i = 0; w->lots != NULL && i < w->plan.nlots; i++)
        free(w->lots[i]);
    free(w->lots);
    w->lots = NULL;
    shown_plan_clear(&w->plan);
}

uint64_t shown_reports(const struct roster_entry *is, int64_t *words)
{
    hsy_tally tally;
    hsy_scheme_info info;

    hsy_scheme_describe(is->scheme, &info);
    analysis_view(&tally, &info, words);
    return hsy_tally_reports(&tally);
}

/* The tallies of the plan's lots. *whole: false if one does not have all
 * reports of its days (its days were not kept from the first on): such days are
 * of no block. */
static hsy_status shown_fetch(struct shown_work *w, struct engine *e,
                              bool *whole, hsy_error *err)
{
    hsy_status st = HSY_OK;

    *whole = true;
    w->lots = calloc(w->plan.nlots + 1, sizeof *w->lots);
    if (w->lots == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < w->plan.nlots && *whole; i++) {
        const struct shown_lot *lot = &w->plan.lots[i];

        w->lots[i] = calloc(w->is->words + 1, sizeof **w->lots);
        if (w->lots[i] == NULL)
            return host_nomem(err);
        st = engine_copy(e, w->is->number, lot->first, lot->last, w->lots[i],
                         err);
        if (st != HSY_OK && st != HSY_E_EMPTY)
            return st;
        *whole = st == HSY_OK && shown_reports(w->is, w->lots[i]) == lot->live;
        if (*whole)
            continue;
        if (lot->block != SHOWN_FORMING)
            w->now.blocks[lot->block].over = true;
        else
            w->begin = lot->last + 1;
    }
    return HSY_OK;
}

/* While nothing is folded. */
static hsy_status shown_look(struct engine *e, void *ctx, hsy_error *err)
{
    struct shown_work *w = ctx;
    struct store_count *live = NULL;
    struct engine_batches *batches = NULL;
    struct shown_ask ask = {.is = w->is,
                            .daily = w->is->words <= w->s->o.day_words,
                            .open = engine_days(e).first};
    bool whole = false;
    hsy_status st = engine_folded(&live, &ask.n, e, w->is->number, err);

    if (st == HSY_OK)
        st = engine_batches(&batches, &ask.nbatches, e, w->is->number, true,
                            err);
    ask.live = live;
    ask.batches = batches;
    while (st == HSY_OK && !whole) {
        shown_work_clear(w);
        ask.kept = w->kept;
        ask.begin = w->begin;
        st = shown_plan(&w->plan, &w->now, &ask);
        if (st == HSY_OK && !w->plan.any)
            break;
        if (st == HSY_OK)
            st = shown_fetch(w, e, &whole, err);
    }
    if (st == HSY_OK && w->plan.any)
        st = engine_copy(e, w->is->number, 0, 0, w->whole, err);
    free(live);
    free(batches);
    return st;
}

/* What a lot has that is not shown: its live tally less that of its block. */
static hsy_status shown_held(struct shown_work *w, size_t i, int64_t *words,
                             hsy_error *err)
{
    const size_t n = w->is->words;
    hsy_status st = HSY_OK;

    memset(words, 0, n * sizeof *words);
    if (w->plan.lots[i].block != SHOWN_FORMING)
        st = w->s->keep->ops->add(w->s->keep, SHOWN_MAKES, w->is->number,
                                  w->plan.lots[i].first, words, n, err);
    for (size_t k = 0; k < n; k++)
        words[k] = w->lots[i][k] - words[k];
    return st;
}

/*
 * The whole as it will be shown. With the rest shown it is all that is live
 * less what is held; else what is shown now and the lots that come.
 */
static hsy_status shown_total(struct shown_work *w, int64_t *total,
                              hsy_error *err)
{
    const size_t n = w->is->words;
    int64_t *held = calloc(n + 1, sizeof *held);
    hsy_status st = HSY_OK;

    if (held == NULL)
        return host_nomem(err);
    if (w->plan.rest)
        memcpy(total, w->whole, n * sizeof *total);
    else
        st = w->s->keep->ops->add(w->s->keep, SHOWN_MAKES, w->is->number, 0,
                                  total, n, err);
    for (size_t i = 0; i < w->plan.nlots && st == HSY_OK; i++) {
        const bool less = w->plan.rest && !w->plan.lots[i].shown;
        const bool more = !w->plan.rest && w->plan.lots[i].shown;

        if (less || more)
            st = shown_held(w, i, held, err);
        for (size_t k = 0; k < n && st == HSY_OK && (less || more); k++)
            total[k] += less ? -held[k] : held[k];
    }
    free(held);
    return st;
}

/* With the keep's lock. */
static hsy_status shown_commit(struct shown_work *w, hsy_error *err)
{
    const size_t n = w->plan.nlots;
    const bool all = w->plan.rest && n == 0; /* then it is the live one */
    struct shown_tally *tallies = calloc(n + 1, sizeof *tallies);
    int64_t *total = all ? NULL : calloc(w->is->words + 1, sizeof *total);
    size_t used = 1;
    hsy_status st = HSY_OK;

    if (tallies == NULL || (!all && total == NULL))
        st = host_nomem(err);
    else if (!all)
        st = shown_total(w, total, err);
    if (st == HSY_OK)
        st = shown_room(w->s, w->is->number); /* what is put can be shown */
    w->plan.next.kept = w->now.kept;
    if (st == HSY_OK) {
        tallies[0] = (struct shown_tally){0, all ? w->whole : total};
        for (size_t i = 0; i < n; i++)
            if (w->plan.lots[i].shown)
                tallies[used++] =
                    (struct shown_tally){w->plan.lots[i].first, w->lots[i]};
        st = w->s->keep->ops->put(w->s->keep, w->is, &w->plan.next,
                                  shown_kept(w->s, 0), tallies, used, err);
    }
    if (st == HSY_OK) {
        memcpy(w->plan.next.digest, w->is->digest, HSY_DIGEST);
        st = shown_set(w->s, w->is->number, &w->plan.next);
    }
    free(tallies);
    free(total);
    return st;
}

/* As far as that is known without a copy. */
bool shown_due(struct shown *s, const struct roster_entry *is)
{
    uint64_t shown, live = 0;
    struct store_count *days;
    size_t n;

    if (s == NULL || engine_is_retired(s->o.engine, is->number))
        return false;
    shown = shown_count(s, is->number, 0).reports;
    n = engine_counts(s->o.engine, is->number, NULL, 0);
    days = calloc(n + 1, sizeof *days);
    if (days == NULL)
        return false;
    engine_counts(s->o.engine, is->number, days, n);
    for (size_t i = 0; i < n; i++)
        live += days[i].reports;
    free(days);
    return live > shown && live - shown >= is->task.min_reports;
}

/* A disk that is full stays so for a while: it is said once. */
static hsy_status shown_failed(struct shown *s, hsy_status st, hsy_error *err)
{
    if (s->failing)
        return host_fail(err, HSY_E_BUSY, HSY_FIELD_NONE, "it was said");
    s->failing = true;
    return st;
}

/* With `renewing`, the entry entered: plan from what is shown, copy, put. What
 * another node has put since is taken over, and nothing else made now. */
static hsy_status shown_make(struct shown_work *w, hsy_error *err)
{
    struct shown *s = w->s;
    bool newer = false;
    hsy_status st = shown_enter(s, SHOWN_MAKES, w->is, &w->now, &newer, err);

    if (st != HSY_OK)
        return st;
    if (w->now.kept > w->kept)
        w->kept = w->now.kept;
    if (!newer && !w->now.gone)
        st = counting_look(s->o.counting, w->is->number, shown_look, w, err);
    pthread_mutex_lock(&s->keep_lock);
    if (st == HSY_OK && w->plan.any)
        st = shown_commit(w, err);
    st = shown_leave(s, SHOWN_MAKES, w->is, &w->now, newer, st, err);
    pthread_mutex_unlock(&s->keep_lock);
    return st;
}

hsy_status shown_renew(struct shown *s, const struct roster_entry *is,
                       hsy_error *err)
{
    struct shown_work w = {.s = s, .is = is};
    hsy_status st;

    if (s == NULL || atomic_load(&s->paused) || !shown_due(s, is))
        return HSY_OK;
    pthread_mutex_lock(&s->renewing);
    w.kept = shown_kept(s, SHOWN_SPARE);
    st = shown_get(s, is->number, &w.now);
    w.whole = calloc(is->words + 1, sizeof *w.whole);
    if (st != HSY_OK || w.whole == NULL || !shown_due(s, is))
        st = w.whole == NULL ? HSY_E_NOMEM : st;
    else
        st = shown_make(&w, err);
    if (st == HSY_OK && w.plan.any)
        s->failing = false;
    else if (st != HSY_OK && st != HSY_E_BUSY)
        st = shown_failed(s, st, err);
    shown_work_clear(&w);
    shown_view_clear(&w.now);
    free(w.whole);
    pthread_mutex_unlock(&s->renewing);
    return st;
}
