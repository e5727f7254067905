/*
 * sim_discover.c - runs of a discovery, by several threads.
 *
 * Everybody reports one by one, through the library as a device and a collector
 * use it. A run has coins of its own (seed, epsilon, run), runs are averaged in
 * their order: so the numbers do not depend on the threads.
 */
#include "discovery.h"
#include "study_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DISCOVER_CHUNK 4096u /* people who report at a time */

const char *discovery_metric_name(enum discovery_metric metric)
{
    static const char *const names[DISCOVERY_METRICS] = {
        "f1", "ncr", "ndcg", "precision", "recall", "found"};

    return names[metric];
}

/* All runs, and what the threads share. */
struct discover_job {
    const struct discovery *how;
    hsy_stage stages[HSY_STAGES_MAX];
    size_t nstages;
    size_t top, most; /* strings wanted; prefixes kept, of any stage */
    double *each;     /* runs times DISCOVERY_METRICS */

    pthread_mutex_t lock; /* of what follows */
    uint64_t next;
    hsy_status st;
    hsy_error err;
};

/* A string and who holds it, in order of its code. */
struct discover_holders {
    uint64_t code, count;
};

/* What a thread works with; all owned. */
struct discover_worker {
    struct discover_job *job;
    hsy_scheme *s;
    hsy_info info;
    uint64_t *counts, *codes; /* of the people's truths */
    int64_t *memory;
    hsy_tally tally;
    uint8_t *reports;
    void *scratch;
    hsy_found *found;
    double *sizes; /* counts again */
    uint64_t *top; /* codes of the true top, first the largest */
    uint32_t *ranks;

    /* Ideal only. */
    struct discover_holders *holders;
    uint64_t *ends; /* of a group: people up to and with each string */
    uint64_t *candidates;
    hsy_point *points;

    pthread_t thread;
    bool started;
};

/* Lanes of a run. */
enum {
    LANE_PEOPLE,
    LANE_CODES,
    LANE_SECRET,
    LANE_PUBLISHED,
    LANE_IDEAL,
    LANES
};

static void discover_lane(const struct discover_worker *w, hsy_stream *st,
                          uint64_t run, unsigned lane)
{
    /* People and strings are the same at every epsilon. */
    const uint64_t nano = lane <= LANE_CODES ? 0 : w->info.nano_epsilon;

    hsy_stream_seed(st, w->job->how->seed ^ nano << 20, run * LANES + lane);
}

/* ---- People -------------------------------------------------------------- */

/*
 * A bijection of M bits without order in it: rounds of an odd factor and a
 * shift of half the bits, each of which can be undone.
 */
static uint64_t discover_mix(uint64_t x, const uint64_t odd[4], unsigned bits)
{
    const uint64_t mask = UINT64_MAX >> (64 - bits);

    for (unsigned k = 0; k < 4; k++) {
        x = x * (odd[k] | 1) & mask;
        x ^= x >> (bits + 1) / 2;
    }
    return x;
}

static void discover_people(struct discover_worker *w, uint64_t run)
{
    const struct study_people *people = w->job->how->people;
    uint64_t odd[4];
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);

    discover_lane(w, &st, run, LANE_PEOPLE);
    study_people_draw(w->counts, people, w->job->how->users, &st);
    discover_lane(w, &st, run, LANE_CODES);
    (void)rng.fill(rng.ctx, odd, sizeof odd);
    for (size_t i = 0; i < people->n; i++)
        w->codes[i] = discover_mix((uint64_t)people->numbers[i], odd,
                                   (unsigned)w->info.param[HSY_PARAM_BITS]);
}

/* The codes that most people hold; of equals the smaller value comes first. */
static size_t discover_truth(struct discover_worker *w)
{
    const size_t n = w->job->how->people->n;
    const size_t k = w->job->top < n ? w->job->top : n;
    size_t held = 0;

    for (size_t i = 0; i < n; i++)
        w->sizes[i] = (double)w->counts[i];
    hsy_metrics_largest(w->ranks, k, w->sizes, n);
    for (; held < k && w->counts[w->ranks[held]] > 0; held++)
        w->top[held] = w->codes[w->ranks[held]];
    return held;
}

/* ---- Real reports -------------------------------------------------------- */

static hsy_status discover_report(struct discover_worker *w, uint64_t run,
                                  hsy_error *err)
{
    const struct study_people *people = w->job->how->people;
    uint64_t codes[DISCOVER_CHUNK];
    hsy_stream secret, published;
    size_t filled = 0;
    hsy_status st = HSY_OK;

    discover_lane(w, &secret, run, LANE_SECRET);
    discover_lane(w, &published, run, LANE_PUBLISHED);
    hsy_tally_init(&w->tally, w->s, w->memory);
    for (size_t i = 0; i < people->n && st == HSY_OK; i++)
        for (uint64_t left = w->counts[i]; st == HSY_OK && left > 0; left--) {
            codes[filled++] = w->codes[i];
            if (filled < DISCOVER_CHUNK)
                continue;
            st = hsy_simulate_batch(w->s, w->reports, codes, filled, &secret,
                                    &published, err);
            if (st == HSY_OK)
                st = hsy_tally_batch(&w->tally, w->s, w->reports, filled, err);
            filled = 0;
        }
    if (st == HSY_OK)
        st = hsy_simulate_batch(w->s, w->reports, codes, filled, &secret,
                                &published, err);
    if (st == HSY_OK)
        st = hsy_tally_batch(&w->tally, w->s, w->reports, filled, err);
    return st;
}

static hsy_status discover_search(struct discover_worker *w, size_t *count,
                                  hsy_error *err)
{
    const struct discover_job *job = w->job;
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < job->nstages && st == HSY_OK; i++)
        st = hsy_search_stage(w->s, &w->tally, &job->how->search, job->stages,
                              i, w->found, count, w->scratch, err);
    return st;
}

/* ---- Ideal reports ------------------------------------------------------- */

static int discover_order(const void *a, const void *b)
{
    const struct discover_holders *x = a, *y = b;

    return x->code < y->code ? -1 : x->code > y->code;
}

/* Let the people of group i of the groups that are left step aside; how many
 * they are. */
static uint64_t discover_group(struct discover_worker *w, size_t i,
                               hsy_stream *st)
{
    const size_t n = w->job->how->people->n;
    uint64_t all = 0;

    for (size_t k = 0; k < n; k++) {
        const uint64_t own = hsy_binomial_draw(
            w->holders[k].count, 1 / (double)(w->job->nstages - i), st);

        w->holders[k].count -= own;
        w->ends[k] = all += own;
    }
    return all;
}

/* People of the group whose codes are below this. */
static uint64_t discover_below(const struct discover_worker *w, uint64_t code)
{
    size_t low = 0, high = w->job->how->people->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (w->holders[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : w->ends[low - 1];
}

/* The point of a candidate that `own` of n people hold. */
static hsy_point discover_point(const hsy_info *law, uint64_t own, uint64_t n,
                                hsy_stream *st)
{
    const uint64_t support = hsy_binomial_draw(own, law->p, st) +
                             hsy_binomial_draw(n - own, law->q, st);

    return (hsy_point){.value = ((double)support / (double)n - law->q) /
                                (law->p - law->q),
                       .n = (double)n,
                       .support = (double)support,
                       .p = law->p,
                       .q = law->q,
                       .v0 = law->v0,
                       .v1 = law->v1};
}

static hsy_status discover_ideal_stage(struct discover_worker *w, size_t i,
                                       size_t *count, hsy_stream *coins,
                                       hsy_error *err)
{
    const struct discover_job *job = w->job;
    const hsy_stage *stage = &job->stages[i];
    const unsigned below =
        (unsigned)w->info.param[HSY_PARAM_BITS] - stage->bits;
    const uint64_t n = discover_group(w, i, coins);
    size_t candidates;
    hsy_info law;

    if (n == 0)
        return study_fail(err, HSY_E_EMPTY, "users", "a group has no people");
    hsy_scheme_info(hsy_scheme_part(w->s, i), &law);
    candidates = hsy_search_extend(w->s, job->stages, i, w->found, *count,
                                   w->candidates);
    for (size_t c = 0; c < candidates; c++) {
        const uint64_t from = w->candidates[c], width = (uint64_t)1 << below;
        const uint64_t before = discover_below(w, from);
        const bool top = from + (width - 1) == UINT64_MAX;
        const uint64_t upto = top ? n : discover_below(w, from + width);

        w->points[c] = discover_point(&law, upto - before, n, coins);
    }
    return hsy_search_select(&job->how->search, stage, w->candidates, w->points,
                             candidates, w->found, count, err);
}

static hsy_status discover_ideal(struct discover_worker *w, uint64_t run,
                                 size_t *count, hsy_error *err)
{
    const size_t n = w->job->how->people->n;
    hsy_status st = HSY_OK;
    hsy_stream coins;

    discover_lane(w, &coins, run, LANE_IDEAL);
    for (size_t i = 0; i < n; i++)
        w->holders[i] = (struct discover_holders){w->codes[i], w->counts[i]};
    qsort(w->holders, n, sizeof *w->holders, discover_order);
    for (size_t i = 0; i < w->job->nstages && st == HSY_OK; i++)
        st = discover_ideal_stage(w, i, count, &coins, err);
    return st;
}

/* ---- One run ------------------------------------------------------------- */

static hsy_status discover_measure(struct discover_worker *w, uint64_t run,
                                   size_t count, hsy_error *err)
{
    const size_t k = discover_truth(w);
    double *out = w->job->each + run * DISCOVERY_METRICS;
    hsy_top top;
    hsy_status st;

    for (size_t i = 0; i < count; i++) {
        size_t rank = 0;

        while (rank < k && w->top[rank] != w->found[i].code[0])
            rank++;
        w->ranks[i] = rank < k ? (uint32_t)rank + 1 : 0;
    }
    st = hsy_metrics_top(&top, w->ranks, count, k, err);
    if (st != HSY_OK)
        return st;
    out[DISCOVERY_F1] = top.f1;
    out[DISCOVERY_NCR] = top.ncr;
    out[DISCOVERY_NDCG] = top.ndcg;
    out[DISCOVERY_PRECISION] = top.precision;
    out[DISCOVERY_RECALL] = top.recall;
    out[DISCOVERY_FOUND] = (double)count;
    return HSY_OK;
}

static hsy_status discover_one(struct discover_worker *w, uint64_t run,
                               hsy_error *err)
{
    hsy_spec spec = w->job->how->spec;
    size_t count = 0;
    hsy_status st = HSY_OK;

    if (spec.param[HSY_PARAM_POOL_SEED] == 0) {
        spec.param[HSY_PARAM_POOL_SEED] =
            (w->job->how->seed * 1000003 + run) % ((uint64_t)1 << 40);
        st = hsy_scheme_init(w->s, &spec, err);
    }
    if (st != HSY_OK)
        return st;
    discover_people(w, run);
    if (w->job->how->ideal)
        st = discover_ideal(w, run, &count, err);
    else
        st = discover_report(w, run, err);
    if (st == HSY_OK && !w->job->how->ideal)
        st = discover_search(w, &count, err);
    return st == HSY_OK ? discover_measure(w, run, count, err) : st;
}

static void *discover_work(void *arg)
{
    struct discover_worker *w = arg;
    struct discover_job *job = w->job;
    hsy_status st = HSY_OK;

    while (st == HSY_OK) {
        hsy_error err = {0};
        uint64_t run;
        bool done;

        pthread_mutex_lock(&job->lock);
        run = job->next++;
        done = run >= job->how->runs || job->st != HSY_OK;
        pthread_mutex_unlock(&job->lock);
        if (done)
            break;
        st = discover_one(w, run, &err);
        pthread_mutex_lock(&job->lock);
        if (st != HSY_OK && job->st == HSY_OK) {
            job->st = st;
            job->err = err;
        }
        if (job->how->tick != NULL)
            job->how->tick(job->how->ctx, job->how->users);
        pthread_mutex_unlock(&job->lock);
    }
    return NULL;
}

/* ---- Threads ------------------------------------------------------------- */

static size_t discover_candidates(const struct discover_job *job)
{
    uint64_t most = 0;

    for (size_t i = 0; i < job->nstages; i++)
        most =
            job->stages[i].candidates > most ? job->stages[i].candidates : most;
    return (size_t)most;
}

static bool discover_open_reports(struct discover_worker *w)
{
    struct discover_job *job = w->job;

    w->memory = calloc(hsy_tally_words(w->s), sizeof *w->memory);
    w->reports = calloc(DISCOVER_CHUNK, w->info.report_bytes);
    w->scratch = malloc(hsy_search_scratch(w->s, job->stages, job->nstages));
    return w->memory != NULL && w->reports != NULL && w->scratch != NULL;
}

static bool discover_open_ideal(struct discover_worker *w)
{
    const size_t n = w->job->how->people->n;
    const size_t candidates = discover_candidates(w->job);

    w->holders = calloc(n, sizeof *w->holders);
    w->ends = calloc(n, sizeof *w->ends);
    w->candidates = calloc(candidates, sizeof *w->candidates);
    w->points = calloc(candidates, sizeof *w->points);
    return w->holders != NULL && w->ends != NULL && w->candidates != NULL &&
           w->points != NULL;
}

/* Close it either way. */
static hsy_status discover_open(struct discover_worker *w,
                                struct discover_job *job, hsy_error *err)
{
    const size_t n = job->how->people->n;
    hsy_status st;

    w->job = job;
    w->s = malloc(hsy_scheme_size(&job->how->spec));
    w->counts = calloc(n, sizeof *w->counts);
    w->codes = calloc(n, sizeof *w->codes);
    w->sizes = calloc(n, sizeof *w->sizes);
    w->found = calloc(job->most, sizeof *w->found);
    w->ranks = calloc(job->most, sizeof *w->ranks);
    w->top = calloc(job->top, sizeof *w->top);
    if (w->s == NULL || w->counts == NULL || w->codes == NULL ||
        w->sizes == NULL || w->found == NULL || w->ranks == NULL ||
        w->top == NULL)
        return study_nomem(err);
    st = hsy_scheme_init(w->s, &job->how->spec, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_info(w->s, &w->info);
    if (job->how->ideal ? discover_open_ideal(w) : discover_open_reports(w))
        return HSY_OK;
    return study_nomem(err);
}

static void discover_close(struct discover_worker *w)
{
    free(w->s);
    free(w->counts);
    free(w->codes);
    free(w->sizes);
    free(w->found);
    free(w->ranks);
    free(w->top);
    free(w->memory);
    free(w->reports);
    free(w->scratch);
    free(w->holders);
    free(w->ends);
    free(w->candidates);
    free(w->points);
}

static hsy_status discover_threads(struct discover_job *job, hsy_error *err)
{
    const unsigned n = job->how->threads;
    struct discover_worker *workers = calloc(n, sizeof *workers);
    hsy_status st = workers != NULL ? HSY_OK : study_nomem(err);

    for (unsigned i = 0; i < n && st == HSY_OK; i++)
        st = discover_open(&workers[i], job, err);
    for (unsigned i = 1; i < n && st == HSY_OK; i++)
        workers[i].started = pthread_create(&workers[i].thread, NULL,
                                            discover_work, &workers[i]) == 0;
    if (st == HSY_OK)
        (void)discover_work(&workers[0]);
    for (unsigned i = 0; i < n && workers != NULL; i++) {
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
        discover_close(&workers[i]);
    }
    free(workers);
    if (st == HSY_OK && job->st != HSY_OK) {
        st = job->st;
        if (err != NULL)
            *err = job->err;
    }
    return st;
}

/* ---- All ----------------------------------------------------------------- */

static hsy_status discover_plan(struct discover_job *job,
                                struct discovery_result *out, hsy_error *err)
{
    const hsy_spec *spec = &job->how->spec;
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    hsy_status st =
        s != NULL ? hsy_scheme_init(s, spec, err) : study_nomem(err);

    if (st == HSY_OK)
        st = hsy_search_plan(s, &job->how->search, job->stages, &job->nstages,
                             err);
    if (st == HSY_OK)
        hsy_scheme_info(s, &out->info);
    free(s);
    if (st != HSY_OK)
        return st;
    if (out->info.param[HSY_PARAM_BITS] < 64 &&
        job->how->people->n > (uint64_t)1 << out->info.param[HSY_PARAM_BITS])
        return study_fail(err, HSY_E_RANGE, "bits",
                          "fewer strings than values: more bits are needed");
    job->top = (size_t)job->stages[job->nstages - 1].keep;
    for (size_t i = 0; i < job->nstages; i++)
        if (job->stages[i].keep > job->most)
            job->most = (size_t)job->stages[i].keep;
    out->groups = job->nstages;
    return HSY_OK;
}

static void discover_average(struct discovery_result *out,
                             const struct discover_job *job)
{
    const double n = (double)job->how->runs;

    for (size_t m = 0; m < DISCOVERY_METRICS; m++) {
        double sum = 0, squares = 0;

        for (uint64_t r = 0; r < job->how->runs; r++)
            sum += job->each[r * DISCOVERY_METRICS + m];
        for (uint64_t r = 0; r < job->how->runs; r++) {
            const double off = job->each[r * DISCOVERY_METRICS + m] - sum / n;

            squares += off * off;
        }
        out->mean[m] = sum / n;
        out->error[m] = n > 1 ? sqrt(squares / (n - 1) / n) : NAN;
    }
}

hsy_status discovery_run(struct discovery_result *out,
                         const struct discovery *how, hsy_error *err)
{
    struct discover_job job = {.how = how};
    hsy_status st;

    memset(out, 0, sizeof *out);
    st = discover_plan(&job, out, err);
    if (st != HSY_OK)
        return st;
    job.each = calloc((size_t)how->runs * DISCOVERY_METRICS, sizeof *job.each);
    if (job.each == NULL)
        return study_nomem(err);
    pthread_mutex_init(&job.lock, NULL);
    st = discover_threads(&job, err);
    if (st == HSY_OK)
        discover_average(out, &job);
    pthread_mutex_destroy(&job.lock);
    free(job.each);
    return st;
}

#undef DISCOVER_CHUNK
