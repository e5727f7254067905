/* api_retire.c - what an operator lets go while the collector runs. */
#include "server/collector/api/api.h"

#include <inttypes.h>

struct retire {
    char task[HSY_TASK_ID + 1];
    uint32_t release; /* 0: all */
    uint32_t before;
    uint64_t n;
};

/* A task, or what was over before a day; false after an answer. */
static bool retire_do(struct collector *c, struct request *q, struct retire *r)
{
    const struct counting_functions *ops = c->counting->ops;
    hsy_error err = {0};
    const hsy_status st =
        r->before != 0
            ? ops->purge(c->counting, r->before, &r->n, &err)
            : ops->retire(c->counting, r->task, r->release, &r->n, &err);

    if (st == HSY_OK) {
        if (shown_forget(history_shown(c->history), r->before, &err) != HSY_OK)
            log_failure(c->log, "snapshot", &err);
        return true;
    }
    if (err.status == HSY_E_REFUSED)
        api_problem(q, 409, "It is asked", "%s", err.msg);
    else if (err.status == HSY_E_RANGE)
        api_problem(q, 409, "Days are open", "%s", err.msg);
    else
        api_failed(q, &err);
    return false;
}

void api_retire(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    const struct roster_entry *e;
    struct roster *roster = api_entry(c, q, "release", &e);
    struct retire r = {.release = 0};
    struct put p;

    if (roster == NULL)
        return;
    snprintf(r.task, sizeof r.task, "%s", e->task.id);
    if (request_query(q, "release") != NULL)
        r.release = e->task.release;
    roster_drop(roster);
    if (!retire_do(c, q, &r) || !api_begin(q, &p))
        return;
    log_event(c->log, LOG_NOTE, "retired", "task=%s releases=%" PRIu64, r.task,
              r.n);
    put_word(&p, "task", r.task);
    put_count(&p, "retired", r.n);
    api_answer(q, 200, &p);
}

void api_purge(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    struct retire r = {.before = 0};
    char day[DAY_TEXT];
    struct put p;

    if (!api_day(q, "before", &r.before))
        return;
    if (r.before == 0) {
        api_problem(q, 400, "Not possible as asked",
                    "before: a day is wanted, as 2026-11-16");
        return;
    }
    if (!retire_do(c, q, &r) || !api_begin(q, &p))
        return;
    day_text(day, r.before);
    log_event(c->log, LOG_NOTE, "purged", "before=%s releases=%" PRIu64, day,
              r.n);
    put_day(&p, "before", r.before);
    put_count(&p, "retired", r.n);
    api_answer(q, 200, &p);
}
