/*
 * work.c - all runs of a study, by several threads.
 *
 * A run is cut into parts if there are fewer runs than threads could share
 * evenly: each part lets some of the chunks of people report. Threads take
 * parts in order; tallies of a run's parts are added up, and who adds the last
 * one measures the run. Integers add up to the same in any order, chunks have
 * coins of their own, and runs are averaged in their order at the end: so the
 * numbers do not depend on the threads.
 */
#include "sim/base/crew.h"
#include "sim/study/internal.h"

#include <stdlib.h>
#include <string.h>

/* What a thread works with. */
struct worker {
    struct study_job *job;
    struct owned owned;              /* all but memory, which wanders */
    hsy_scheme *scheme;              /* its own */
    uint64_t scheme_run, people_run; /* whose it holds */
    uint64_t *counts, *ends;         /* of the run's people */
    int64_t *memory;
    int64_t *own; /* of one curator's tally */
    struct study_desk desk;
    struct study_bench bench;
};

/* Lanes of a run: 2^42 of them, two a chunk, or one a curator. */
#define WORK_LANES 42

static uint64_t work_lane(uint64_t run, uint64_t place)
{
    return run << WORK_LANES | place;
}

static void work_tick(struct study_job *job, uint64_t users)
{
    if (job->study->tick == NULL)
        return;
    pthread_mutex_lock(&job->lock);
    job->study->tick(job->study->ctx, users);
    pthread_mutex_unlock(&job->lock);
}

/* ---- One part ------------------------------------------------------------ */

static void work_people(struct worker *w, uint64_t run)
{
    const struct study_job *job = w->job;
    const struct study_people *people = job->study->people;
    hsy_stream st;

    if (w->people_run == run)
        return;
    w->people_run = run;
    if (job->study->as_counted) {
        memcpy(w->counts, people->counts, people->n * sizeof *w->counts);
    } else {
        hsy_stream_seed(&st, job->people_seed, run);
        study_people_draw(w->counts, people, job->study->users, &st);
        hsy_stream_clear(&st);
    }
    for (size_t i = 0; i < people->n; i++)
        w->ends[i] = (i > 0 ? w->ends[i - 1] : 0) + w->counts[i];
}

/* The scheme of a run: where hashes are public, those of this run. */
static hsy_status work_scheme(struct worker *w, uint64_t run, hsy_error *err)
{
    hsy_spec spec = w->job->spec;

    if (w->scheme_run == run || !w->job->pooled)
        return HSY_OK;
    w->scheme_run = run;
    spec.param[HSY_PARAM_POOL_SEED] =
        (w->job->report_seed + run) % HSY_PARAM_MAX + 1;
    return hsy_scheme_init(w->scheme, &spec, err);
}

static hsy_status work_chunks(struct worker *w, hsy_tally *t,
                              const struct study_truths *truths, uint64_t run,
                              unsigned part, hsy_error *err)
{
    const struct study_job *job = w->job;
    const uint64_t first = job->chunks / job->parts * part;
    const uint64_t end = part + 1 < job->parts
                             ? job->chunks / job->parts * (part + 1)
                             : job->chunks;
    hsy_status st = HSY_OK;

    for (uint64_t c = first; st == HSY_OK && c < end; c++) {
        hsy_stream secret, published;

        hsy_stream_seed(&secret, job->report_seed, work_lane(run, 2 * c));
        hsy_stream_seed(&published, job->report_seed,
                        work_lane(run, 2 * c + 1));
        st = study_report(t, w->scheme, &w->desk, truths, c, &secret,
                          &published, err);
        work_tick(w->job, job->chunk);
    }
    return st;
}

static hsy_status work_tally(struct worker *w, hsy_tally *t,
                             const struct study_truths *truths, uint64_t run,
                             unsigned part, hsy_error *err)
{
    const struct study_result *out = w->job->out;
    hsy_status status = HSY_OK;
    hsy_stream st;

    if (!out->at_once)
        return work_chunks(w, t, truths, run, part, err);
    if (out->info.central) {
        const struct study_curators all = {out->curators, w->job->report_seed,
                                           work_lane(run, 0)};

        status = study_release(t, w->own, w->scheme, truths, &all, err);
    } else {
        hsy_stream_seed(&st, w->job->report_seed, work_lane(run, 0));
        study_draw(t, &out->info, truths, &st);
    }
    work_tick(w->job, truths->users);
    return status;
}

/* Keep a part's tally, or add it to those that are kept. With the last part t
 * is the whole run's. The lock is held. */
static hsy_status work_keep(struct worker *w, hsy_tally *t, uint64_t run,
                            bool *whole, hsy_error *err)
{
    struct study_slot *slot = &w->job->slots[run];
    int64_t *mine = w->memory;
    hsy_status st;

    *whole = ++slot->done == w->job->parts;
    if (slot->memory == NULL) {
        slot->memory = mine;
        slot->tally = *t;
        w->memory = calloc(hsy_tally_words(w->scheme), sizeof *w->memory);
        return w->memory != NULL ? HSY_OK : host_nomem(err);
    }
    st = hsy_tally_merge(&slot->tally, t, err);
    if (*whole) {
        *t = slot->tally;
        w->memory = slot->memory;
        slot->memory = NULL;
        free(mine);
    }
    return st;
}

/* Whether the run is complete with this part, and its tally then t. */
static hsy_status work_gather(struct worker *w, hsy_tally *t, uint64_t run,
                              bool *whole, hsy_error *err)
{
    struct study_job *job = w->job;
    hsy_status st = HSY_OK;

    *whole = true;
    if (job->parts == 1)
        return HSY_OK;
    pthread_mutex_lock(&job->lock);
    st = work_keep(w, t, run, whole, err);
    pthread_mutex_unlock(&job->lock);
    return st;
}

/* What a figure shows of the first run. */
static void work_show(struct study_result *out, const struct study_bench *bench)
{
    const size_t d = out->info.d;

    memcpy(out->truths, bench->truths, d * sizeof *out->truths);
    memcpy(out->estimates, bench->estimates, d * sizeof *out->estimates);
}

static hsy_status work_part(void *worker, uint64_t item, hsy_error *err)
{
    struct worker *w = worker;
    struct study_job *job = w->job;
    const uint64_t run = item / job->parts;
    const struct study_truths truths = {job->codes, w->counts, w->ends,
                                        job->study->people->n,
                                        job->study->users};
    bool whole = false;
    hsy_tally t;
    hsy_status st = work_scheme(w, run, err);

    if (st != HSY_OK)
        return st;
    work_people(w, run);
    hsy_tally_init(&t, w->scheme, w->memory);
    st = work_tally(w, &t, &truths, run, (unsigned)(item % job->parts), err);
    if (st == HSY_OK)
        st = work_gather(w, &t, run, &whole, err);
    if (st != HSY_OK || !whole)
        return st;
    st = study_measure(job->out->each + run * STUDY_METRICS, &w->bench,
                       w->scheme, &job->out->info, &t, &truths, &job->aim, err);
    if (st == HSY_OK && run == 0 && job->out->truths != NULL)
        work_show(job->out, &w->bench);
    return st;
}

/* ---- Threads ------------------------------------------------------------- */

unsigned study_workers(const struct study_job *job)
{
    const uint64_t items = job->out->runs * job->parts;

    return items < job->study->threads ? (unsigned)items : job->study->threads;
}

size_t study_work_bytes(const struct study_job *job, const hsy_scheme *s)
{
    const hsy_scheme_info *info = &job->out->info;
    const size_t reports =
        job->out->at_once
            ? 0
            : job->chunk * (sizeof(uint64_t) + info->report_bytes) +
                  hsy_tally_scratch(s, job->chunk);

    return hsy_scheme_size(&job->spec) +
           (info->central ? 3 : 2) * hsy_tally_words(s) * sizeof(int64_t) +
           2 * job->study->people->n * sizeof(uint64_t) + reports +
           study_bench_bytes(s, info, job->aim.top);
}

static hsy_status work_open(void *worker, void *shared, hsy_error *err)
{
    struct worker *w = worker;
    struct study_job *job = shared;
    const hsy_scheme_info *info = &job->out->info;
    const size_t people = job->study->people->n;
    hsy_status st;

    *w = (struct worker){
        .job = job, .scheme_run = UINT64_MAX, .people_run = UINT64_MAX};
    st = owned_scheme(&w->owned, &w->scheme, &job->spec, err);
    if (st != HSY_OK)
        return st;
    w->counts = owned_array(&w->owned, people, sizeof *w->counts);
    w->ends = owned_array(&w->owned, people, sizeof *w->ends);
    w->memory = calloc(hsy_tally_words(w->scheme), sizeof *w->memory);
    if (info->central)
        w->own =
            owned_array(&w->owned, hsy_tally_words(w->scheme), sizeof *w->own);
    w->desk.chunk = job->chunk;
    if (!job->out->at_once)
        study_desk_open(&w->desk, &w->owned, w->scheme, info->report_bytes);
    study_bench_open(&w->bench, &w->owned, info, job->aim.top);
    return w->memory != NULL ? owned_all(&w->owned, err) : host_nomem(err);
}

static void work_close(void *worker)
{
    struct worker *w = worker;

    owned_free(&w->owned);
    free(w->memory);
}

hsy_status study_work(struct study_job *job, hsy_error *err)
{
    const struct crew crew = {.items = job->out->runs * job->parts,
                              .threads = study_workers(job),
                              .worker = sizeof(struct worker),
                              .job = job,
                              .open = work_open,
                              .work = work_part,
                              .close = work_close};

    return crew_work(&crew, err);
}
