/*
 * api_rounded.c - counters as readers see them who are no operators.
 *
 * A counter that goes up by one tells when one device sent. In steps it tells
 * only that many did.
 */
#include "api_parts.h"

#include <math.h>

#define ROUNDED_LEAST 100u
#define ROUNDED_BYTES ((uint64_t)1 << 20)
#define ROUNDED_TALLIES ((uint64_t)1 << 26)
#define ROUNDED_SECONDS 60u
#define ROUNDED_THINGS 10u /* connections, descriptors */

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
 * those of the same ids and batches, and of tallies that begin with the first
 * report of a day. */
void api_round_engine(struct engine_status *s, uint64_t step)
{
    const uint64_t bytes = ROUNDED_BYTES;

    if (step > 1)
        rounded(&s->tally_bytes, ROUNDED_TALLIES);
    rounded(&s->seq, step);
    rounded(&s->folded, step);
    rounded(&s->ids, step);
    rounded(&s->ids_bytes, bytes);
    rounded(&s->ids_disk_bytes, bytes);
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
    if (step > 1)
        t->micros = 0;
    for (size_t i = 0; i < WORKERS_WAITS; i++) {
        rounded(&t->waits[i], step);
        if (step > 1) /* as if all of a class lay in its middle */
            t->micros += t->waits[i] * ((uint64_t)48 << i);
    }
}

void api_round_listener(struct listen_status *s, uint64_t step)
{
    rounded(&s->requests, step);
    rounded(&s->inflight_bytes, (uint64_t)1 << 20);
    rounded(&s->answers[2], step);
    if (step > 1)
        rounded(&s->connections, ROUNDED_THINGS);
}

/* Files, memory and time grow with each commit. */
void api_round_figures(struct watch_figures *f, uint64_t step)
{
    if (step == 1)
        return;
    rounded(&f->disk_free, ROUNDED_TALLIES);
    rounded(&f->log_bytes, ROUNDED_BYTES);
    rounded(&f->unfolded_seconds, ROUNDED_SECONDS);
    rounded(&f->resident_bytes, ROUNDED_BYTES);
    rounded(&f->virtual_bytes, ROUNDED_BYTES);
    rounded(&f->open_files, ROUNDED_THINGS);
    f->cpu_seconds = floor(f->cpu_seconds);
}
