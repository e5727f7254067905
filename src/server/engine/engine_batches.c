/*
 * engine_batches.c - in which batches of shufflers an entry's reports came.
 *
 * A batch is one commit, and commits are folded whole and in their order: what
 * is in an entry's tallies are all reports of the batches up to one commit. So
 * the batches of a tally are known without a look into it, and at a start, when
 * everything is folded, they are those that the store has.
 */
#include "server/engine/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <stdlib.h>

bool engine_taken_room(struct engine_entry *x)
{
    return grow_room(&x->taken, &x->taken_room, x->ntaken + 1,
                     sizeof *x->taken);
}

void engine_taken_add(struct engine_entry *x, const struct store_received *row,
                      uint64_t seq)
{
    x->taken[x->ntaken++] = (struct engine_taken){.seq = seq,
                                                  .epoch = row->epoch,
                                                  .n = row->n,
                                                  .nulls = row->nulls,
                                                  .unopened = row->unopened};
}

static int batches_order(const void *a, const void *b)
{
    const struct engine_taken *x = a, *y = b;

    return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

void engine_sum_add(struct engine_sum *sum, const struct engine_sum *more)
{
    if (more->batches == 0)
        return;
    if (sum->batches == 0 || more->least < sum->least)
        sum->least = more->least;
    sum->batches += more->batches;
    sum->reports += more->reports;
}

static void batches_count(struct engine_batches *to,
                          const struct engine_taken *one)
{
    const struct engine_sum sum = {one->n != 0, one->n, one->n};

    to->empty += one->n == 0;
    to->nulls += one->nulls;
    to->unopened += one->unopened;
    engine_sum_add(&to->sum, &sum);
}

/* A copy of those that are asked for; with the lock. */
static struct engine_taken *batches_copy(const struct engine_entry *x,
                                         bool folded, size_t *n)
{
    struct engine_taken *all = malloc((x->ntaken + 1) * sizeof *all);

    *n = 0;
    for (size_t i = 0; all != NULL && i < x->ntaken; i++)
        if (!folded || x->taken[i].n == 0 || x->taken[i].seq <= x->through)
            all[(*n)++] = x->taken[i];
    return all;
}

hsy_status engine_batches(struct engine_batches **out, size_t *n,
                          struct engine *e, uint32_t entry, bool folded,
                          hsy_error *err)
{
    struct engine_batches *sums;
    struct engine_taken *all;
    size_t count = 0, used = 0;

    pthread_mutex_lock(&e->lock);
    all = batches_copy(e->entries[entry], folded, &count);
    pthread_mutex_unlock(&e->lock);
    sums = calloc(count + 1, sizeof *sums);
    if (all == NULL || sums == NULL) {
        free(all);
        free(sums);
        return host_nomem(err);
    }
    qsort(all, count, sizeof *all, batches_order);
    for (size_t i = 0; i < count; i++) {
        if (used == 0 || sums[used - 1].epoch != all[i].epoch)
            sums[used++].epoch = all[i].epoch;
        batches_count(&sums[used - 1], &all[i]);
    }
    free(all);
    *out = sums;
    *n = used;
    return HSY_OK;
}

void engine_batches_say(struct batches *to, const hsy_task *task,
                        const struct engine_sum *sum)
{
    to->n = task->model == HSY_MODEL_SHUFFLED && sum->batches != 0;
    to->list[0] = (hsy_batches){.batches = sum->batches,
                                .least = sum->least,
                                .reports = sum->reports,
                                .honest = task->assume_honest,
                                .delta = task->delta,
                                .nano_central = task->nano_central};
}

/* Whether batches of an epoch are in the tally of these days, or of all. */
static bool batches_asked(struct engine *e, uint32_t entry, uint32_t epoch,
                          uint32_t first, uint32_t last)
{
    bool there;

    if (last == 0)
        return true;
    pthread_mutex_lock(&e->lock);
    there = epoch >= first && epoch <= last &&
            engine_tally_of(e->entries[entry], epoch) != NULL;
    pthread_mutex_unlock(&e->lock);
    return there;
}

hsy_status engine_batches_of(struct batches *out, struct engine *e,
                             const struct roster_entry *is, uint32_t first,
                             uint32_t last, hsy_error *err)
{
    struct engine_batches *list = NULL;
    struct engine_sum sum = {0};
    size_t n = 0;
    hsy_status st = engine_batches(&list, &n, e, is->number, true, err);

    for (size_t i = 0; i < n; i++)
        if (batches_asked(e, is->number, list[i].epoch, first, last))
            engine_sum_add(&sum, &list[i].sum);
    engine_batches_say(out, &is->task, &sum);
    free(list);
    return st;
}
