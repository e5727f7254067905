/* task_rounds.c - what to expect of a task as its days go by. */
#include "host/plan/internal.h"

#include "host/analysis/analysis.h"
#include "host/tasks/calendar.h"

#include <math.h>

/* 1, 2, 4 ... rounds, and all of them. */
static hsy_status task_rows(struct plan_task *t, hsy_error *err)
{
    for (uint64_t rounds = 1;; rounds *= 2) {
        struct plan_task_row *row = &t->row[t->nrows++];
        const uint64_t people = t->devices * t->release.task.sends;
        hsy_status st;

        row->rounds = rounds < t->rounds ? rounds : t->rounds;
        row->reports = row->rounds * people;
        st = hsy_attend_expect(
            t->release.scheme, row->sd,
            &(hsy_attend_plan){.permanent = t->release.permanent,
                               .share = t->share,
                               .devices = people,
                               .rounds = row->rounds,
                               .per_slot = t->release.rounds},
            err);
        if (st != HSY_OK)
            return st;
        row->sd[0] *= analysis_unit(&t->info);
        row->sd[1] *= analysis_unit(&t->info);
        if (row->rounds == t->rounds)
            return HSY_OK;
    }
}

static void task_describe(struct plan_task *t, const hsy_release *release,
                          const struct plan_task_how *how)
{
    const hsy_task *task = &t->release.task;

    *t = (struct plan_task){.share = isnan(how->share) ? 0.5 : how->share};
    hsy_release_describe(release, &t->release);
    hsy_scheme_describe(t->release.scheme, &t->info);
    t->length = task->end - task->start;
    t->taking = (double)task->sample.num / (double)task->sample.den;
    t->over = how->days > t->length;
    t->days = calendar_round(task);
    t->rounds = (t->over ? t->length : how->days) / t->days;
    t->devices = (uint64_t)((double)how->devices * t->taking);
}

hsy_status plan_task(struct plan_task *out, const hsy_release *release,
                     const struct plan_task_how *how, hsy_error *err)
{
    hsy_status st;

    task_describe(out, release, how);
    if (!isnan(how->share) && out->info.kind == HSY_KIND_NUMBER)
        return plan_fail(&out->why, PLAN_WHY_SHARE, err, HSY_E_RANGE,
                         "the task asks for a mean");
    if (out->rounds == 0)
        return plan_fail(&out->why, PLAN_WHY_DAYS, err, HSY_E_RANGE,
                         "no round ends by then");
    if (out->devices == 0)
        return plan_fail(&out->why, PLAN_WHY_DEVICES, err, HSY_E_RANGE,
                         "none of the devices takes part");
    st = task_rows(out, err);
    if (st != HSY_OK)
        out->why = PLAN_WHY_LAW;
    return st;
}
