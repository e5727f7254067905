/*
 * api_rounded.c - counters as readers see them who are no operators.
 *
 * A counter that goes up by one tells when one device sent. In steps, and at
 * the moments at which generations are made, it tells only that many did.
 */
#include "server/collector/api/api.h"

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
static void rounded_engine(struct engine_status *s, uint64_t step)
{
    rounded(&s->tally_bytes, ROUNDED_TALLIES);
    rounded(&s->seq, step);
    rounded(&s->folded, step);
    rounded(&s->ids, step);
    rounded(&s->ids_bytes, ROUNDED_BYTES);
    rounded(&s->ids_disk_bytes, ROUNDED_BYTES);
    rounded(&s->waiting_bytes, ROUNDED_BYTES);
    rounded(&s->verdicts[INTAKE_COUNTED], step);
    rounded(&s->verdicts[INTAKE_AGAIN], step);
    rounded(&s->reports, step);
    rounded(&s->nulls, step);
    if (s->folded > s->seq)
        s->folded = s->seq;
}

void api_look_engine(struct collector *c, struct engine_status *out,
                     uint64_t step)
{
    struct history_seen seen;
    const struct engine_status *then = &seen.engine;

    engine_status(c->engine, out);
    if (step == 1)
        return;
    history_seen(c, &seen);
    out->tally_bytes = then->tally_bytes;
    out->refusing = then->refusing;
    out->undated = then->undated;
    out->seq = then->seq;
    out->folded = then->folded;
    out->ids = then->ids;
    out->ids_bytes = then->ids_bytes;
    out->ids_runs = then->ids_runs;
    out->ids_disk_bytes = then->ids_disk_bytes;
    out->waiting_bytes = then->waiting_bytes;
    out->verdicts[INTAKE_COUNTED] = then->verdicts[INTAKE_COUNTED];
    out->verdicts[INTAKE_AGAIN] = then->verdicts[INTAKE_AGAIN];
    out->reports = then->reports;
    out->nulls = then->nulls;
    rounded_engine(out, step);
}

void api_look_times(struct collector *c, struct workers_times *out,
                    uint64_t step)
{
    struct history_seen seen;
    uint64_t checkpoint;

    counting_times(c->counting, out);
    if (step == 1)
        return;
    history_seen(c, &seen);
    checkpoint = out->checkpoint;
    *out = seen.times;
    out->checkpoint = checkpoint;
    rounded(&out->groups, step);
    rounded(&out->submissions, step);
    out->micros = 0;
    for (size_t i = 0; i < WORKERS_WAITS; i++) {
        rounded(&out->waits[i], step);
        /* as if all of a class lay in its middle */
        out->micros += out->waits[i] * ((uint64_t)48 << i);
    }
}

void api_look_public(struct collector *c, struct listen_status *out,
                     uint64_t step)
{
    struct history_seen seen;

    listen_status(c->public, out);
    if (step == 1)
        return;
    history_seen(c, &seen);
    seen.listener.refused = out->refused;
    seen.listener.full = out->full;
    seen.listener.answers[4] = out->answers[4];
    seen.listener.answers[5] = out->answers[5];
    *out = seen.listener;
    rounded(&out->requests, step);
    rounded(&out->inflight_bytes, ROUNDED_BYTES);
    rounded(&out->answers[2], step);
    rounded(&out->connections, ROUNDED_THINGS);
}

/* Files, memory and time grow with each commit. What was refused does not
 * count, and what waits for minutes is a fault. */
void api_look_figures(struct collector *c, struct watch_figures *out,
                      uint64_t step)
{
    struct history_seen seen;
    const struct watch_figures *then = &seen.figures;

    watch_figures(c, out);
    if (step == 1)
        return;
    history_seen(c, &seen);
    out->disk_free = then->disk_free;
    out->disk_size = then->disk_size;
    out->log_bytes = then->log_bytes;
    out->resident_bytes = then->resident_bytes;
    out->virtual_bytes = then->virtual_bytes;
    out->open_files = then->open_files;
    out->cpu_seconds = floor(then->cpu_seconds);
    rounded(&out->disk_free, ROUNDED_TALLIES);
    rounded(&out->log_bytes, ROUNDED_BYTES);
    rounded(&out->unfolded_seconds, ROUNDED_SECONDS);
    rounded(&out->resident_bytes, ROUNDED_BYTES);
    rounded(&out->virtual_bytes, ROUNDED_BYTES);
    rounded(&out->open_files, ROUNDED_THINGS);
}

/* Failures are of now; a commit is of uploads. */
bool api_look_cluster(struct collector *c, struct cluster_status *out,
                      uint64_t step)
{
    struct history_seen seen;

    if (!cluster_status(c->counting, out))
        return false;
    if (step == 1)
        return true;
    history_seen(c, &seen);
    for (size_t i = 0; i < out->nshards; i++) {
        struct cluster_shard_status *s = &out->shards[i];
        const struct cluster_shard_status *then = &seen.cluster.shards[i];

        s->commits = then->commits;
        s->uploads = then->uploads;
        s->folded = then->folded;
        s->waiting = then->waiting;
        rounded(&s->commits, step);
        rounded(&s->uploads, step);
        rounded(&s->folded, step);
        rounded(&s->waiting, step);
        rounded(&s->unfolded, ROUNDED_SECONDS);
    }
    return true;
}
