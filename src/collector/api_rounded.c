/*
 * api_rounded.c - counters as readers see them who are no operators.
 *
 * A counter that goes up by one tells when one device sent. In steps it tells
 * only that many did.
 */
#include "api_parts.h"

#define ROUNDED_LEAST 100u

uint64_t api_step(struct collector *c)
{
    struct roster *roster = engine_roster(c->engine);
    uint64_t step = ROUNDED_LEAST;

    for (size_t i = 0; roster != NULL && i < roster_count(roster); i++)
        while (step < roster_at(roster, i)->task.min_reports &&
               step < UINT64_MAX / 10)
            step *= 10;
    roster_drop(roster);
    return step;
}

static void rounded(uint64_t *x, uint64_t step)
{
    *x -= *x % step;
}

/* What is refused is no report; of what is counted nothing tells one. Bytes are
 * those of the same ids and batches. */
void api_round_engine(struct engine_status *s, uint64_t step)
{
    const uint64_t bytes = (uint64_t)1 << 20;

    rounded(&s->seq, step);
    rounded(&s->folded, step);
    rounded(&s->ids, step);
    rounded(&s->ids_bytes, bytes);
    rounded(&s->waiting_bytes, bytes);
    rounded(&s->verdicts[INTAKE_COUNTED], step);
    rounded(&s->verdicts[INTAKE_AGAIN], step);
    rounded(&s->reports, step);
    rounded(&s->nulls, step);
    if (s->folded > s->seq)
        s->folded = s->seq;
}

void api_round_times(struct workers_times *t, uint64_t step)
{
    rounded(&t->groups, step);
    rounded(&t->submissions, step);
    for (size_t i = 0; i < WORKERS_WAITS; i++)
        rounded(&t->waits[i], step);
}

void api_round_listener(struct listen_status *s, uint64_t step)
{
    rounded(&s->requests, step);
    rounded(&s->inflight_bytes, (uint64_t)1 << 20);
    rounded(&s->answers[2], step);
}
