/*
 * runs.c - runs of a discovery, by several threads.
 *
 * Here everybody reports one by one in one round, through the library as a
 * device and a collector use it; sim_batches.c and sim_puzzle.c have the other
 * forms. A run has coins of its own (seed, epsilon, run), runs are
 * averaged in their order: so the numbers do not depend on the threads.
 */
#include "sim/base/crew.h"
#include "sim/discovery/internal.h"

#include <stdlib.h>
#include <string.h>

#define DISCOVER_CHUNK 4096u /* people who report at a time */

const char *discovery_metric_name(enum discovery_metric metric)
{
    static const char *const names[DISCOVERY_METRICS] = {
        "f1",    "ncr",  "ndcg",    "precision", "recall",
        "found", "held", "reached", "seconds"};

    return names[metric];
}

void discover_stream(const struct discover_worker *w, hsy_stream *st,
                     uint64_t which, enum discover_lane lane)
{
    const struct discovery *how = w->job->how;
    const uint64_t nano = lane <= DISCOVER_CODES ? 0 : how->spec.nano_epsilon;

    hsy_stream_seed(st, how->seed ^ nano << 20,
                    which * w->job->form->lanes + lane);
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

/* Of equal shares the smaller code comes first, which would favour small
 * numbers. So where truths are their own strings a mask, another each run, goes
 * over all of them: prefixes stay prefixes. */
void discover_codes(struct discover_worker *w, uint64_t run)
{
    const struct study_people *people = w->job->how->people;
    const unsigned bits = w->job->bits;
    uint64_t coins[4];
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);

    discover_stream(w, &st, run, DISCOVER_CODES);
    (void)rng.fill(rng.ctx, coins, sizeof coins);
    for (size_t i = 0; i < people->n; i++) {
        const uint64_t number = (uint64_t)people->numbers[i];

        w->codes[i] = w->job->how->as_strings
                          ? number ^ coins[0] >> (64 - bits)
                          : discover_mix(number, coins, bits);
    }
}

void discover_people(struct discover_worker *w, uint64_t run)
{
    const struct study_people *people = w->job->how->people;
    hsy_stream st;

    discover_codes(w, run);
    discover_stream(w, &st, run, DISCOVER_PEOPLE);
    if (w->job->how->as_counted)
        memcpy(w->counts, people->counts, people->n * sizeof *w->counts);
    else
        study_people_draw(w->counts, people, w->job->users, &st);
}

/* The truths that most people hold; of equals the smaller one comes first. */
static size_t discover_truth(struct discover_worker *w)
{
    const size_t n = w->job->how->people->n;
    size_t k = w->job->top < n ? w->job->top : n;

    for (size_t i = 0; i < n; i++)
        w->sizes[i] = (double)w->counts[i];
    hsy_metrics_largest(w->top, k, w->sizes, n);
    while (k > 0 && w->counts[w->top[k - 1]] == 0)
        k--;
    return k;
}

/* ---- One round ----------------------------------------------------------- */

hsy_status discover_scheme(const struct discover_worker *w, hsy_scheme *s,
                           uint64_t run, hsy_error *err)
{
    hsy_spec spec = w->job->how->spec;

    if (spec.param[HSY_PARAM_POOL_SEED] == 0)
        spec.param[HSY_PARAM_POOL_SEED] =
            (w->job->how->seed * 1000003 + run) % ((uint64_t)1 << 40);
    return hsy_scheme_init(s, &spec, err);
}

hsy_status discover_plan(struct discover_job *job, hsy_error *err)
{
    const hsy_spec *spec = &job->how->spec;
    hsy_scheme *s;
    hsy_status st = scheme_open(&s, spec, err);
    hsy_scheme_info info;

    if (st == HSY_OK)
        st = hsy_search_plan(s, job->stages, &job->nstages, &job->how->search,
                             err);
    if (st == HSY_OK) {
        hsy_scheme_describe(s, &info);
        job->bits = (unsigned)info.param[HSY_PARAM_BITS];
        job->users = job->how->users;
        job->out->step = info.param[HSY_PARAM_STEP];
        job->out->mechanism =
            info.oracle != NULL ? info.oracle : discovery_rule(info.id);
    }
    free(s);
    return st;
}

static hsy_status discover_add(struct discover_desk *desk, size_t n,
                               hsy_stream *secret, hsy_stream *published,
                               hsy_error *err)
{
    hsy_status st = hsy_simulate_batch(desk->s, desk->reports, desk->codes, n,
                                       secret, published, err);

    return st == HSY_OK
               ? hsy_tally_batch(&desk->tally, desk->s, desk->reports, n, err)
               : st;
}

hsy_status discover_report(struct discover_worker *w, uint64_t run,
                           hsy_error *err)
{
    const size_t width = w->job->width;
    struct discover_desk *desk = &w->desk;
    hsy_stream secret, published;
    size_t filled = 0;
    hsy_status st = HSY_OK;

    discover_stream(w, &secret, run, DISCOVER_SECRET);
    discover_stream(w, &published, run, DISCOVER_PUBLISHED);
    hsy_tally_init(&desk->tally, desk->s, desk->memory);
    for (size_t i = 0; i < w->job->how->people->n && st == HSY_OK; i++)
        for (uint64_t left = w->counts[i]; st == HSY_OK && left > 0; left--) {
            memcpy(desk->codes + filled++ * width, w->codes + i * width,
                   width * sizeof *desk->codes);
            if (filled < DISCOVER_CHUNK)
                continue;
            st = discover_add(desk, filled, &secret, &published, err);
            filled = 0;
        }
    return st == HSY_OK ? discover_add(desk, filled, &secret, &published, err)
                        : st;
}

hsy_status discover_desk_open(struct discover_worker *w, hsy_error *err)
{
    const hsy_spec *spec = &w->job->how->spec;
    struct discover_desk *desk = &w->desk;
    hsy_scheme_info info;
    hsy_status st;

    st = owned_scheme(&w->owned, &desk->s, spec, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(desk->s, &info);
    desk->memory =
        owned_array(&w->owned, hsy_tally_words(desk->s), sizeof *desk->memory);
    desk->codes = owned_array(&w->owned, DISCOVER_CHUNK * w->job->width,
                              sizeof *desk->codes);
    desk->reports = owned_array(&w->owned, DISCOVER_CHUNK, info.report_bytes);
    return owned_all(&w->owned, err);
}

static hsy_status discover_search(struct discover_worker *w, uint64_t run,
                                  size_t *count, hsy_error *err)
{
    const struct discover_job *job = w->job;
    struct discover_desk *desk = &w->desk;
    hsy_found found = {w->found, 0};
    hsy_status st = discover_scheme(w, desk->s, run, err);

    if (st != HSY_OK)
        return st;
    discover_people(w, run);
    st = discover_report(w, run, err);
    for (size_t i = 0; i < job->nstages && st == HSY_OK; i++)
        st = hsy_search_stage(desk->s, &found, &desk->tally, &job->stages[i],
                              desk->scratch, err);
    *count = found.count;
    return st;
}

static hsy_status discover_open(struct discover_worker *w, hsy_error *err)
{
    const struct discover_job *job = w->job;
    hsy_status st = discover_desk_open(w, err);

    if (st != HSY_OK)
        return st;
    w->desk.scratch = owned_array(
        &w->owned, 1, hsy_search_scratch(w->desk.s, job->stages, job->nstages));
    return owned_all(&w->owned, err);
}

static const struct discover_form discover_reports = {
    discover_plan, discover_open, discover_search, DISCOVER_LANES};

/* ---- One run ------------------------------------------------------------- */

/* Whether a truth is what was found. */
static bool discover_is(const struct discover_worker *w, size_t truth,
                        const hsy_candidate *found)
{
    const size_t width = w->job->width;

    return memcmp(w->codes + truth * width, found->code,
                  width * sizeof *found->code) == 0;
}

/* Of a puzzle, which may return more than k: whether anybody holds what it has
 * found, and whether all of the top are anywhere among it. */
static void discover_more(const struct discover_worker *w, double *out,
                          size_t count, size_t k)
{
    const size_t n = w->job->how->people->n;
    size_t held = 0, reached = 0;

    for (size_t i = 0; i < count; i++) {
        size_t at = 0;

        while (at < n &&
               (w->counts[at] == 0 || !discover_is(w, at, &w->found[i])))
            at++;
        held += at < n;
        reached += w->ranks[i] != 0;
    }
    out[DISCOVERY_HELD] = count > 0 ? (double)held / (double)count : 0;
    out[DISCOVERY_REACHED] = (double)reached / (double)k;
}

static hsy_status discover_measure(struct discover_worker *w, uint64_t run,
                                   size_t count, hsy_error *err)
{
    const bool puzzle = w->job->how->words != NULL;
    const size_t k = discover_truth(w);
    double *out = w->job->out->each + run * DISCOVERY_METRICS;
    hsy_topk_score top;
    hsy_status st;

    for (size_t i = 0; i < count; i++) {
        size_t rank = 0;

        while (rank < k && !discover_is(w, w->top[rank], &w->found[i]))
            rank++;
        w->ranks[i] = rank < k ? (uint32_t)rank + 1 : 0;
    }
    st = hsy_metrics_top(&top, w->ranks, puzzle && count > k ? k : count, k,
                         err);
    if (st != HSY_OK)
        return st;
    out[DISCOVERY_F1] = top.f1;
    out[DISCOVERY_NCR] = top.ncr;
    out[DISCOVERY_NDCG] = top.ndcg;
    out[DISCOVERY_PRECISION] = top.precision;
    out[DISCOVERY_RECALL] = top.recall;
    out[DISCOVERY_FOUND] = (double)count;
    if (puzzle)
        discover_more(w, out, count, k);
    return HSY_OK;
}

static hsy_status discover_work(void *worker, uint64_t run, hsy_error *err)
{
    struct discover_worker *w = worker;
    size_t count = 0;
    hsy_status st = w->job->form->search(w, run, &count, err);

    return st == HSY_OK ? discover_measure(w, run, count, err) : st;
}

/* ---- Threads ------------------------------------------------------------- */

static hsy_status discover_begin(void *worker, void *shared, hsy_error *err)
{
    struct discover_worker *w = worker;
    struct discover_job *job = shared;
    const size_t n = job->how->people->n;

    w->job = job;
    w->counts = owned_array(&w->owned, n, sizeof *w->counts);
    w->codes = owned_array(&w->owned, n * job->width, sizeof *w->codes);
    w->sizes = owned_array(&w->owned, n, sizeof *w->sizes);
    w->found = owned_array(&w->owned, job->most, sizeof *w->found);
    w->ranks = owned_array(&w->owned, job->most, sizeof *w->ranks);
    w->top = owned_array(&w->owned, job->top, sizeof *w->top);
    return job->form->open(w, err);
}

static void discover_end(void *worker)
{
    struct discover_worker *w = worker;

    owned_free(&w->owned);
}

static void discover_tick(void *shared)
{
    const struct discover_job *job = shared;

    if (job->how->tick != NULL)
        job->how->tick(job->how->ctx, job->users);
}

/* ---- All ----------------------------------------------------------------- */

static hsy_status discover_prepare(struct discover_job *job,
                                   struct discovery_result *out,
                                   const struct discovery *how, hsy_error *err)
{
    hsy_status st;

    *job = (struct discover_job){.how = how, .out = out};
    memset(out, 0, sizeof *out);
    job->form = how->words != NULL   ? &discover_puzzle
                : how->batches.asked ? &discover_in_batches
                                     : &discover_reports;
    job->width = 1;
    st = job->form->plan(job, err);
    if (st != HSY_OK)
        return st;
    if (!how->as_strings && how->words == NULL && job->bits < 64 &&
        how->people->n > (uint64_t)1 << job->bits)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_BITS,
                         "fewer strings than values: more bits are needed");
    job->top =
        (size_t)(how->words != NULL ? how->search.top
                                    : job->stages[job->nstages - 1].keep);
    for (size_t i = 0; i < job->nstages; i++) {
        if (job->stages[i].keep > job->most)
            job->most = (size_t)job->stages[i].keep;
        if (job->stages[i].most > job->most)
            job->most = (size_t)job->stages[i].most;
    }
    out->bits = job->bits;
    out->groups = job->nstages;
    out->epsilon = (double)how->spec.nano_epsilon / HSY_NANO;
    out->top = job->top;
    out->runs = how->runs;
    out->users = how->users;
    out->domain = how->people->n;
    return HSY_OK;
}

hsy_status discovery_check(const struct discovery *how, hsy_error *err)
{
    struct discovery_result out;
    struct discover_job job;
    const hsy_status st = discover_prepare(&job, &out, how, err);

    free(job.words);
    return st;
}

hsy_status discovery_run(struct discovery_result *out,
                         const struct discovery *how, hsy_error *err)
{
    struct discover_job job;
    const struct crew crew = {.items = how->runs,
                              .threads = how->threads,
                              .worker = sizeof(struct discover_worker),
                              .job = &job,
                              .open = discover_begin,
                              .work = discover_work,
                              .close = discover_end,
                              .tick = discover_tick};
    hsy_status st = discover_prepare(&job, out, how, err);

    if (st == HSY_OK) {
        out->each =
            calloc((size_t)how->runs * DISCOVERY_METRICS, sizeof *out->each);
        st = out->each != NULL ? crew_work(&crew, err) : host_nomem(err);
    }
    if (st == HSY_OK)
        crew_average(out->mean, out->error, out->each, out->runs,
                     DISCOVERY_METRICS);
    free(job.words);
    return st;
}

void discovery_close(struct discovery_result *out)
{
    free(out->each);
    out->each = NULL;
}
