/* task_cost.c - what a task costs whoever answers it, as its reports add up. */
#include "host/tasks/task_cost.h"

#include "host/base/host_fail.h"

#include <math.h>
#include <stdlib.h>

#define COST_DIVIDED 400u /* reports that are divided in every way */

/* How many permanent answers a slot may use. */
static uint64_t cost_answers(const struct task_cost *row)
{
    const uint64_t most = row->info.task.max_changes, keys = row->memo.keys;

    return keys != 0 && keys < most ? keys : most;
}

/*
 * What so many reports of a slot tell at most: the largest sum over all ways to
 * divide them among its answers, whose coins are independent
 * (docs/longitudinal.md). Where there are too many ways, as if each answer had
 * all reports.
 */
static double cost_divided(const hsy_permanent *memo, uint64_t reports,
                           uint64_t answers)
{
    double one[COST_DIVIDED + 1], most[COST_DIVIDED + 1];

    if (answers > reports)
        answers = reports;
    if (answers == 1 || reports > COST_DIVIDED)
        return (double)answers * hsy_permanent_epsilon(memo, reports);
    for (uint64_t t = 0; t <= reports; t++)
        most[t] = one[t] = hsy_permanent_epsilon(memo, t);
    for (uint64_t k = 1; k < answers; k++) /* in place: downward */
        for (uint64_t t = reports; t > 0; t--)
            for (uint64_t own = 1; own <= t; own++)
                most[t] = fmax(most[t], one[own] + most[t - own]);
    return most[reports];
}

static hsy_status cost_open(struct task_cost *row, const hsy_task *task,
                            hsy_error *err)
{
    static const uint64_t reports[TASK_COST_AFTER] = {7, 30, 0}; /* 0: all */
    const hsy_status st = task_release(&row->release, task, err);

    if (st != HSY_OK)
        return st;
    row->task = task;
    hsy_release_describe(row->release, &row->info);
    if (task_model_proved(&row->info))
        hsy_release_proved(row->release);
    hsy_scheme_describe(row->info.scheme, &row->scheme);
    for (size_t i = 0; i < TASK_COST_AFTER; i++)
        row->after[i] = NAN;
    if (row->info.memo == NULL)
        return HSY_OK;
    hsy_permanent_describe(row->info.memo, &row->memo);
    for (size_t i = 0; i < TASK_COST_AFTER; i++)
        if (reports[i] <= row->info.rounds)
            row->after[i] = cost_divided(
                row->info.memo, reports[i] != 0 ? reports[i] : row->info.rounds,
                cost_answers(row));
    return HSY_OK;
}

hsy_status task_costs_open(struct task_costs *l, const struct task_file *t,
                           size_t *at, hsy_error *err)
{
    hsy_status st = HSY_OK;

    l->rows = calloc(t->n + 1, sizeof *l->rows);
    if (l->rows == NULL)
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, NULL);
    l->n = t->n;
    for (*at = 0; *at < t->n; ++*at) {
        st = cost_open(&l->rows[*at], &t->all[*at], err);
        if (st != HSY_OK)
            break;
    }
    return st;
}

void task_costs_clear(struct task_costs *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->rows[i].release);
    free(l->rows);
    *l = (struct task_costs){.rows = NULL};
}

bool task_costs_keep(const struct task_costs *l, uint32_t least, uint32_t most)
{
    for (size_t i = 0; i < l->n; i++) {
        const hsy_release_info *info = &l->rows[i].info;

        if (info->memo != NULL && info->task.max_changes >= least &&
            info->task.max_changes <= most)
            return true;
    }
    return false;
}
