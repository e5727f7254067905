/*
 * sim_puzzle.c - runs of a puzzle, by several threads.
 *
 * Everybody reports one by one, through the library as a device and a collector
 * use it. A run has coins of its own (seed, epsilon, run), runs are averaged in
 * their order: so the numbers do not depend on the threads.
 */
#define _POSIX_C_SOURCE 200809L
#include "sim/base/crew.h"
#include "sim/discovery/puzzling.h"
#include "sim/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PUZZLE_CHUNK 4096u /* people who report at a time */

const char *puzzling_metric_name(enum puzzling_metric metric)
{
    static const char *const names[PUZZLING_METRICS] = {
        "f1", "ncr", "ndcg", "precision", "recall", "found", "held", "reached"};

    return names[metric];
}

/* All runs, and what the threads share. */
struct puzzle_job {
    const struct puzzling *how;
    hsy_puzzle_plan plan;
    hsy_scheme_info info;
    size_t width;    /* of a code */
    uint64_t *codes; /* of the words */
    double *each;    /* runs times PUZZLING_METRICS */
    double *seconds; /* that the search of each run took */
};

/* What a thread works with; all owned. */
struct puzzle_worker {
    struct puzzle_job *job;
    hsy_scheme *s;
    uint32_t *order;  /* word of each rank */
    uint64_t *counts; /* of people, by rank */
    double *sizes;    /* the same again */
    int64_t *memory;
    hsy_tally tally;
    uint8_t *reports;
    uint64_t *batch; /* codes of those who report */
    void *scratch;
    hsy_candidate *found;
    uint32_t *top;   /* ranks that most people hold, first the largest */
    uint32_t *ranks; /* places in top of what was found, from 1 on */
};

/* Lanes of a run. */
enum { LANE_PEOPLE, LANE_WORDS, LANE_SECRET, LANE_PUBLISHED, LANES };

static void puzzle_lane(const struct puzzle_worker *w, hsy_stream *st,
                        uint64_t run, unsigned lane)
{
    /* People and words are the same at every epsilon. */
    const uint64_t nano = lane <= LANE_WORDS ? 0 : w->job->info.nano_epsilon;

    hsy_stream_seed(st, w->job->how->seed ^ nano << 20, run * LANES + lane);
}

/* ---- People -------------------------------------------------------------- */

/* Who holds how many, and a random order of the words [Fisher, Yates]. */
static void puzzle_people(struct puzzle_worker *w, uint64_t run)
{
    const struct puzzling *how = w->job->how;
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);

    puzzle_lane(w, &st, run, LANE_PEOPLE);
    study_people_draw(w->counts, how->people, how->users, &st);
    puzzle_lane(w, &st, run, LANE_WORDS);
    for (size_t i = 0; i < how->nwords; i++) {
        uint64_t coin;
        size_t at;

        (void)rng.fill(rng.ctx, &coin, sizeof coin);
        at = (size_t)((double)(coin >> 11) * 0x1p-53 * (double)(i + 1));
        w->order[i] = w->order[at];
        w->order[at] = (uint32_t)i;
    }
}

static hsy_status puzzle_send(struct puzzle_worker *w, size_t n,
                              hsy_stream *secret, hsy_stream *published,
                              hsy_error *err)
{
    hsy_status st = hsy_simulate_batch(w->s, w->reports, w->batch, n, secret,
                                       published, err);

    return st == HSY_OK ? hsy_tally_batch(&w->tally, w->s, w->reports, n, err)
                        : st;
}

static hsy_status puzzle_report(struct puzzle_worker *w, uint64_t run,
                                hsy_error *err)
{
    const struct puzzle_job *job = w->job;
    hsy_stream secret, published;
    size_t filled = 0;
    hsy_status st = HSY_OK;

    puzzle_lane(w, &secret, run, LANE_SECRET);
    puzzle_lane(w, &published, run, LANE_PUBLISHED);
    hsy_tally_init(&w->tally, w->s, w->memory);
    for (size_t i = 0; i < job->how->people->n && st == HSY_OK; i++)
        for (uint64_t left = w->counts[i]; st == HSY_OK && left > 0; left--) {
            memcpy(w->batch + filled++ * job->width,
                   job->codes + w->order[i] * job->width,
                   job->width * sizeof *w->batch);
            if (filled < PUZZLE_CHUNK)
                continue;
            st = puzzle_send(w, filled, &secret, &published, err);
            filled = 0;
        }
    return st == HSY_OK ? puzzle_send(w, filled, &secret, &published, err) : st;
}

/* ---- One run ------------------------------------------------------------- */

/* The place of a found word among the people, by rank from 0 on; how many
 * ranks there are if nobody holds it. */
static size_t puzzle_rank(const struct puzzle_worker *w,
                          const hsy_candidate *found)
{
    const struct puzzle_job *job = w->job;
    size_t i = 0;

    while (i < job->how->people->n &&
           (w->counts[i] == 0 ||
            memcmp(job->codes + w->order[i] * job->width, found->code,
                   job->width * sizeof *found->code) != 0))
        i++;
    return i;
}

/* Of equal ranks the earlier one is first; what nobody holds is none. */
static size_t puzzle_truth(struct puzzle_worker *w)
{
    const size_t n = w->job->how->people->n, most = (size_t)w->job->how->top;
    size_t k = most < n ? most : n;

    for (size_t i = 0; i < n; i++)
        w->sizes[i] = (double)w->counts[i];
    hsy_metrics_largest(w->top, k, w->sizes, n);
    while (k > 0 && w->counts[w->top[k - 1]] == 0)
        k--;
    return k;
}

static hsy_status puzzle_measure(struct puzzle_worker *w, uint64_t run,
                                 size_t count, hsy_error *err)
{
    const size_t k = puzzle_truth(w), n = w->job->how->people->n;
    double *out = w->job->each + run * PUZZLING_METRICS;
    size_t held = 0, reached = 0;
    hsy_topk_score top;
    hsy_status st;

    for (size_t i = 0; i < count; i++) {
        const size_t rank = puzzle_rank(w, &w->found[i]);
        size_t at = 0;

        while (at < k && w->top[at] != rank)
            at++;
        held += rank < n;
        reached += at < k;
        if (i < k)
            w->ranks[i] = at < k ? (uint32_t)at + 1 : 0;
    }
    st = hsy_metrics_top(&top, w->ranks, count < k ? count : k, k, err);
    if (st != HSY_OK)
        return st;
    out[PUZZLING_F1] = top.f1;
    out[PUZZLING_NCR] = top.ncr;
    out[PUZZLING_NDCG] = top.ndcg;
    out[PUZZLING_PRECISION] = top.precision;
    out[PUZZLING_RECALL] = top.recall;
    out[PUZZLING_FOUND] = (double)count;
    out[PUZZLING_HELD] = count > 0 ? (double)held / (double)count : 0;
    out[PUZZLING_REACHED] = (double)reached / (double)k;
    return HSY_OK;
}

static double puzzle_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* People, their reports, the search, and how it went; and how long it took. */
static hsy_status puzzle_one(void *worker, uint64_t run, hsy_error *err)
{
    struct puzzle_worker *w = worker;
    const struct puzzling *how = w->job->how;
    hsy_spec spec = how->spec;
    hsy_puzzle_trace trace;
    hsy_found found = {w->found, 0};
    double start;
    hsy_status st = HSY_OK;

    if (spec.param[HSY_PARAM_POOL_SEED] == 0) {
        spec.param[HSY_PARAM_POOL_SEED] =
            (how->seed * 1000003 + run) % ((uint64_t)1 << 40);
        st = hsy_scheme_init(w->s, &spec, err);
    }
    if (st == HSY_OK) {
        puzzle_people(w, run);
        st = puzzle_report(w, run, err);
    }
    if (st != HSY_OK)
        return st;
    start = puzzle_now();
    st = hsy_puzzle_search(w->s, &found, &trace, &w->tally, &w->job->plan,
                           w->scratch, err);
    w->job->seconds[run] = puzzle_now() - start;
    return st == HSY_OK ? puzzle_measure(w, run, found.count, err) : st;
}

/* ---- Threads ------------------------------------------------------------- */

static hsy_status puzzle_open(void *worker, void *shared, hsy_error *err)
{
    struct puzzle_worker *w = worker;
    struct puzzle_job *job = shared;
    const struct puzzling *how = job->how;
    const size_t n = how->people->n;

    w->job = job;
    w->s = malloc(hsy_scheme_size(&how->spec));
    w->order = calloc(how->nwords, sizeof *w->order);
    w->counts = calloc(n, sizeof *w->counts);
    w->sizes = calloc(n, sizeof *w->sizes);
    w->reports = calloc(PUZZLE_CHUNK, job->info.report_bytes);
    w->batch = calloc(PUZZLE_CHUNK * job->width, sizeof *w->batch);
    w->found = malloc((size_t)job->plan.word.keep * sizeof *w->found);
    w->top = calloc((size_t)how->top, sizeof *w->top);
    w->ranks = calloc((size_t)how->top, sizeof *w->ranks);
    if (w->s == NULL || w->order == NULL || w->counts == NULL ||
        w->sizes == NULL || w->reports == NULL || w->batch == NULL ||
        w->found == NULL || w->top == NULL || w->ranks == NULL)
        return study_nomem(err);
    if (hsy_scheme_init(w->s, &how->spec, err) != HSY_OK)
        return study_nomem(err); /* it did before */
    w->memory = calloc(hsy_tally_words(w->s), sizeof *w->memory);
    w->scratch = malloc(hsy_puzzle_memory(w->s, &job->plan));
    return w->memory != NULL && w->scratch != NULL ? HSY_OK : study_nomem(err);
}

static void puzzle_close(void *worker)
{
    struct puzzle_worker *w = worker;

    free(w->s);
    free(w->order);
    free(w->counts);
    free(w->sizes);
    free(w->memory);
    free(w->reports);
    free(w->batch);
    free(w->scratch);
    free(w->found);
    free(w->top);
    free(w->ranks);
}

static void puzzle_tick(void *shared)
{
    const struct puzzle_job *job = shared;

    if (job->how->tick != NULL)
        job->how->tick(job->how->ctx, job->how->users);
}

/* ---- All ----------------------------------------------------------------- */

/* The codes of all words, and what the search will be like. */
static hsy_status puzzle_prepare(struct puzzle_job *job, hsy_scheme *s,
                                 hsy_error *err)
{
    const struct puzzling *how = job->how;
    hsy_status st = hsy_scheme_init(s, &how->spec, err);

    if (st == HSY_OK)
        st = hsy_puzzle_plan_make(s, &job->plan, &how->search, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, &job->info);
    job->width = hsy_codes_per_truth(s);
    job->codes = calloc(how->nwords * job->width, sizeof *job->codes);
    job->each = calloc((size_t)how->runs * PUZZLING_METRICS, sizeof *job->each);
    job->seconds = calloc((size_t)how->runs, sizeof *job->seconds);
    if (job->codes == NULL || job->each == NULL || job->seconds == NULL)
        return study_nomem(err);
    for (size_t i = 0; i < how->nwords && st == HSY_OK; i++) {
        hsy_truth truth = {.type = HSY_TRUTH_BYTES};

        truth.u.bytes.data = how->words[i].text;
        truth.u.bytes.len = how->words[i].len;
        st = hsy_truth_code(s, job->codes + i * job->width, &truth, err);
        if (st != HSY_OK && err != NULL) {
            err->field = HSY_FIELD_WORDS;
            err->unit = HSY_UNIT_LINE;
            err->at = i + 1;
        }
    }
    return st;
}

hsy_status puzzling_run(struct puzzling_result *out, const struct puzzling *how,
                        hsy_error *err)
{
    struct puzzle_job job = {.how = how};
    const struct crew crew = {.items = how->runs,
                              .threads = how->threads,
                              .worker = sizeof(struct puzzle_worker),
                              .job = &job,
                              .open = puzzle_open,
                              .work = puzzle_one,
                              .close = puzzle_close,
                              .tick = puzzle_tick};
    hsy_scheme *s = malloc(hsy_scheme_size(&how->spec));
    hsy_status st = s != NULL ? puzzle_prepare(&job, s, err) : study_nomem(err);

    free(s);
    if (st == HSY_OK)
        st = crew_work(&crew, err);
    if (st == HSY_OK) {
        *out = (struct puzzling_result){.info = job.info};
        crew_average(out->mean, out->error, job.each, how->runs,
                     PUZZLING_METRICS);
        for (uint64_t r = 0; r < how->runs; r++)
            out->seconds = fmax(out->seconds, job.seconds[r]);
    }
    free(job.codes);
    free(job.each);
    free(job.seconds);
    return st;
}

#undef PUZZLE_CHUNK
