/*
 * engine_rounds.c - of which rounds an entry's reports are.
 *
 * An upload's epoch tells its round. A tally that was merged in says its rounds
 * itself; they are counted under the first epoch in which such a round is sent,
 * marked as merged, since they stand in no day's tally.
 */
#include "server/engine/internal.h"

#include "host/base/host_fail.h"
#include "host/tasks/calendar.h"

#include <stdlib.h>

/* Days of a round, and rounds of a slot and of the task. */
struct engine_plan {
    uint32_t days;
    uint64_t slot, all;
};

static struct engine_plan rounds_plan(const hsy_task *t)
{
    const uint32_t length = t->end - t->start;
    const uint32_t days = calendar_round(t);

    return (struct engine_plan){days, calendar_slot(t) / days,
                                ((uint64_t)length + days - 1) / days};
}

/* The count of a merged round; 0: the task has no such round. */
static uint32_t rounds_epoch(const hsy_task *task, const hsy_round *round)
{
    const struct engine_plan plan = rounds_plan(task);
    uint64_t number;

    if (round->round >= plan.slot || round->slot >= plan.all ||
        round->each > task->sends)
        return 0;
    number = round->slot * plan.slot + round->round;
    if (number >= plan.all)
        return 0;
    return ENGINE_MERGED | (uint32_t)(task->start + (number + 1) * plan.days);
}

hsy_status engine_rounds_counts(struct store_count **out, size_t *n,
                                const struct roster_entry *is,
                                const struct rounds *rounds, uint64_t reports,
                                hsy_error *err)
{
    const bool known = rounds->n != 0;
    struct store_count *made;

    if (!known && is->task.permanent != NULL)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_ROUNDS,
                         "reports made from kept answers share their noise "
                         "with other rounds', and the tally does not say of "
                         "which rounds they are: 'hearsay tally --round "
                         "SLOT:ROUND' makes one that does");
    made = calloc(rounds->n + 1, sizeof *made);
    if (made == NULL)
        return host_nomem(err);
    made[0] = (struct store_count){.entry = is->number, .reports = reports};
    for (size_t i = 0; i < rounds->n; i++) {
        made[i] = (struct store_count){
            .entry = is->number,
            .epoch = rounds_epoch(&is->task, &rounds->list[i]),
            .reports = rounds->list[i].reports};
        if (made[i].epoch == 0) {
            free(made);
            return host_fail(err, HSY_E_MISMATCH, HSY_FIELD_ROUNDS,
                             "the task has no such round");
        }
    }
    *out = made;
    *n = known ? rounds->n : 1;
    return HSY_OK;
}

/* ---- Reading ------------------------------------------------------------- */

/* Counts of an entry while those are taken off that are not folded yet. */
struct rounds_counts {
    struct store_count *list; /* owned */
    size_t n;
};

static void rounds_less(struct rounds_counts *c, uint32_t epoch,
                        uint64_t reports)
{
    for (size_t i = c->n; i-- != 0;)
        if (c->list[i].epoch == epoch) {
            c->list[i].reports -= reports;
            return;
        }
}

/* A tally that waits to be merged in. */
static hsy_status rounds_less_tally(struct rounds_counts *c,
                                    const struct roster_entry *is,
                                    const struct engine_batch *b,
                                    hsy_error *err)
{
    struct rounds rounds = {0};
    struct store_count *counts = NULL;
    size_t n = 0;
    hsy_status st = engine_merge_rounds(&rounds, b->bytes, b->len, err);

    if (st == HSY_OK)
        st = engine_rounds_counts(&counts, &n, is, &rounds, b->reports, err);
    for (size_t i = 0; i < n; i++)
        rounds_less(c, counts[i].epoch, counts[i].reports);
    free(counts);
    rounds_clear(&rounds);
    return st;
}

static hsy_status rounds_less_queue(struct rounds_counts *c,
                                    const struct roster_entry *is,
                                    const struct engine_batch *b,
                                    hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (; b != NULL && st == HSY_OK; b = b->next) {
        if (b->entry != is->number)
            continue;
        if (b->type == STORE_TALLY)
            st = rounds_less_tally(c, is, b, err);
        else
            rounds_less(c, b->epoch, b->reports);
    }
    return st;
}

/* What is counted and folded, of the epochs whose tallies are there; with the
 * lock, so that counts and queue are of one moment. */
static hsy_status rounds_folded(struct rounds_counts *c, struct engine *e,
                                const struct engine_entry *x, bool days,
                                hsy_error *err)
{
    const struct engine_batch *const queues[] = {
        e->fold.ready.first, e->fold.frozen.first, e->queue.first};
    const struct store_count *from = e->mirror ? x->folded : x->counts;
    const size_t n = e->mirror ? x->nfolded : x->ncounts;
    hsy_status st = HSY_OK;

    c->list = malloc((n + 1) * sizeof *c->list);
    if (c->list == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < n; i++)
        if (!days || engine_tally_of(x, from[i].epoch) != NULL)
            c->list[c->n++] = from[i];
    for (size_t i = 0; i < 3 && st == HSY_OK; i++)
        st = rounds_less_queue(c, x->is, queues[i], err);
    return st;
}

/* The round of a count; false if it is not known. */
static bool rounds_of(hsy_round *out, const hsy_task *task,
                      const struct store_count *count)
{
    out->reports = count->reports;
    if (rounds_plan(task).all == 1) {
        out->slot = out->round = 0;
        out->each = task->sends;
        return true;
    }
    return hsy_task_round(out, task, count->epoch & ~ENGINE_MERGED, NULL) ==
           HSY_OK;
}

static bool rounds_asked(const struct store_count *count, uint32_t first,
                         uint32_t last)
{
    if (count->reports == 0)
        return false;
    return last == 0 || (count->epoch >= first && count->epoch <= last);
}

/* Those of counts that are asked for. */
static hsy_status rounds_sum(struct engine_rounds *out,
                             const struct store_count *list, size_t n,
                             const struct roster_entry *is, uint32_t first,
                             uint32_t last, hsy_error *err)
{
    hsy_status st = HSY_OK;

    *out = (struct engine_rounds){0};
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        hsy_round round;

        if (!rounds_asked(&list[i], first == 0 ? 1 : first, last))
            continue;
        if (rounds_of(&round, &is->task, &list[i]))
            st = rounds_add(&out->rounds, &round, err);
        else
            out->unknown += list[i].reports;
    }
    if (st != HSY_OK)
        rounds_clear(&out->rounds);
    return st;
}

hsy_status engine_rounds(struct engine_rounds *out, struct engine *e,
                         const struct roster_entry *is, uint32_t first,
                         uint32_t last, hsy_error *err)
{
    struct rounds_counts c = {0};
    hsy_status st;

    *out = (struct engine_rounds){0};
    pthread_mutex_lock(&e->lock);
    st = rounds_folded(&c, e, e->entries[is->number], last != 0, err);
    pthread_mutex_unlock(&e->lock);
    if (st == HSY_OK)
        st = rounds_sum(out, c.list, c.n, is, first, last, err);
    if (st == HSY_OK)
        st = engine_batches_of(&out->batches, e, is, first, last, err);
    if (st != HSY_OK)
        rounds_clear(&out->rounds);
    free(c.list);
    return st;
}

hsy_status engine_rounds_counted(struct engine_rounds *out, struct engine *e,
                                 const struct roster_entry *is, uint32_t first,
                                 uint32_t last, hsy_error *err)
{
    struct rounds_counts c = {.n = engine_counts(e, is->number, NULL, 0)};
    size_t now;
    hsy_status st;

    *out = (struct engine_rounds){0};
    c.list = malloc((c.n + 1) * sizeof *c.list);
    if (c.list == NULL)
        return host_nomem(err);
    now = engine_counts(e, is->number, c.list, c.n);
    c.n = now < c.n ? now : c.n;
    st = rounds_sum(out, c.list, c.n, is, first, last, err);
    free(c.list);
    return st;
}

hsy_status engine_rounds_of(struct engine_rounds *out,
                            const struct roster_entry *is,
                            const struct store_count *counts, size_t n,
                            hsy_error *err)
{
    return rounds_sum(out, counts, n, is, 0, 0, err);
}

hsy_status engine_folded(struct store_count **out, size_t *n, struct engine *e,
                         uint32_t entry, hsy_error *err)
{
    struct rounds_counts c = {0};
    hsy_status st;

    pthread_mutex_lock(&e->lock);
    st = rounds_folded(&c, e, e->entries[entry], false, err);
    pthread_mutex_unlock(&e->lock);
    if (st == HSY_OK) {
        *out = c.list;
        *n = c.n;
    } else {
        free(c.list);
    }
    return st;
}

hsy_status engine_rounds_attend(hsy_attendance *out,
                                const struct engine_rounds *r,
                                const hsy_task *task, hsy_error *err)
{
    const uint64_t all = rounds_plan(task).all;
    const uint64_t reports = r->rounds.reports + r->unknown;

    if (r->unknown == 0)
        return rounds_attend(out, &r->rounds, err);
    return hsy_attend_most(
        out, reports, all * task->sends < reports ? all * task->sends : reports,
        err);
}
