/* bench_search.c - the speed of a search for frequent strings, and of the
 * hashing that it cannot do without. */
#include "bench/bench.h"

#include <stdlib.h>

#define BENCH_SEARCH_CHUNK 4096u

/* Owns its memory. */
struct bench_search {
    hsy_scheme *s;
    hsy_scheme_info info;
    hsy_tally tally;
    int64_t *memory;
    hsy_search how;
    hsy_stage stages[HSY_STAGES_MAX];
    size_t nstages;
    hsy_puzzle_plan plan; /* of a puzzle */
    hsy_candidate *found;
    uint64_t *codes; /* of candidates, without a search */
    size_t count;
    hsy_evidence *points;
    void *scratch;
    hsy_status failed;
};

static void bench_search_close(struct bench_search *x)
{
    free(x->s);
    free(x->memory);
    free(x->found);
    free(x->codes);
    free(x->points);
    free(x->scratch);
}

/* Reports of strings that no two people share: nothing is predicted, so each
 * candidate is hashed once with each function. */
static hsy_status bench_search_people(struct bench_search *x, size_t n)
{
    uint64_t codes[BENCH_SEARCH_CHUNK];
    uint8_t *reports = malloc(BENCH_SEARCH_CHUNK * x->info.report_bytes);
    hsy_stream secret, published, people;
    hsy_rng rng = hsy_stream_rng(&people);
    hsy_status st = reports != NULL ? HSY_OK : HSY_E_NOMEM;

    hsy_stream_seed(&secret, 1, 5);
    hsy_stream_seed(&published, 1, 6);
    hsy_stream_seed(&people, 1, 7);
    for (size_t done = 0; done < n && st == HSY_OK;
         done += BENCH_SEARCH_CHUNK) {
        (void)rng.fill(rng.ctx, codes, sizeof codes);
        for (size_t i = 0; i < BENCH_SEARCH_CHUNK; i++)
            codes[i] >>= 16;
        st = hsy_simulate_batch(x->s, reports, codes, BENCH_SEARCH_CHUNK,
                                &secret, &published, NULL);
        if (st == HSY_OK)
            st = hsy_tally_batch(&x->tally, x->s, reports, BENCH_SEARCH_CHUNK,
                                 NULL);
    }
    free(reports);
    return st;
}

/* False after a message; close it in either case. */
static bool bench_search_open(struct bench_search *x,
                              const struct bench_case *c, hsy_cpu level,
                              bool pem)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = c->mechanism,
                     .kind = HSY_KIND_STRINGS,
                     .nano_epsilon =
                         (uint64_t)HSY_NANO * (c->epsilon ? c->epsilon : 1),
                     .param = {[HSY_PARAM_BITS] = pem ? 48 : 0,
                               [HSY_PARAM_STEP] = pem ? 8 : 0,
                               [HSY_PARAM_FIRST] = pem ? 4 : 0,
                               [HSY_PARAM_HASHES] = c->hashes,
                               [HSY_PARAM_WIDTH] = c->width}};

    if (c->hashes != 0) /* a puzzle, of letters */
        (void)hsy_alphabet_parse(spec.alphabet, "a-z", 3, NULL);
    *x = (struct bench_search){.how = {.size = sizeof(hsy_search)}};
    if (!bench_scheme_new(&x->s, &spec))
        return false;
    hsy_scheme_cpu(x->s, level);
    hsy_scheme_describe(x->s, &x->info);
    x->memory = calloc(hsy_tally_words(x->s), sizeof *x->memory);
    if (x->memory == NULL) {
        bench_nomem();
        return false;
    }
    hsy_tally_init(&x->tally, x->s, x->memory);
    if (bench_search_people(x, c->reports) == HSY_OK)
        return true;
    bench_nomem();
    return false;
}

static double bench_search_rate(const struct bench *b,
                                const struct bench_case *c,
                                struct bench_search *x, bool ready,
                                double units, void (*work)(void *ctx))
{
    double rate = ready ? bench_best(b, units, work, x) : 0;

    if (x->failed != HSY_OK) {
        bench_fail("%s: %s", c->name, hsy_strstatus(x->failed));
        rate = 0;
    }
    bench_search_close(x);
    return rate;
}

/* ---- A list of strings --------------------------------------------------- */

static void bench_strings_all(void *ctx)
{
    struct bench_search *x = ctx;

    x->failed = hsy_evidence_of(x->s, x->points, &x->tally, x->codes, x->count,
                                x->scratch, NULL);
}

double bench_strings(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_search x;
    bool ready = bench_search_open(&x, c, level, false);

    if (ready) {
        x.count = c->candidates;
        x.codes = calloc(x.count, sizeof *x.codes);
        x.points = calloc(x.count, sizeof *x.points);
        x.scratch = malloc(hsy_evidence_scratch(x.s, x.count));
        ready = x.codes != NULL && x.points != NULL && x.scratch != NULL;
        for (size_t i = 0; ready && i < x.count; i++)
            x.codes[i] = i * 0x9e3779b97f4a7c15;
    }
    return bench_search_rate(
        b, c, &x, ready,
        (double)c->candidates *
            (double)((uint64_t)1 << x.info.param[HSY_PARAM_POOL_BITS]),
        bench_strings_all);
}

/* ---- A search ------------------------------------------------------------ */

static void bench_search_all(void *ctx)
{
    struct bench_search *x = ctx;
    hsy_found found = {x->found, 0};

    x->failed = HSY_OK;
    for (size_t i = 0; i < x->nstages && x->failed == HSY_OK; i++)
        x->failed = hsy_search_stage(x->s, &found, &x->tally, &x->stages[i],
                                     x->scratch, NULL);
}

double bench_search(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_search x;
    bool ready =
        bench_search_open(&x, c, level, true) &&
        hsy_search_plan(x.s, x.stages, &x.nstages, &x.how, NULL) == HSY_OK;
    double evaluations = 0;

    for (size_t i = 0; ready && i < x.nstages; i++)
        evaluations +=
            (double)x.stages[i].candidates *
            (double)((uint64_t)1 << x.info.param[HSY_PARAM_POOL_BITS]);
    if (ready) {
        x.found = calloc((size_t)x.stages[0].most, sizeof *x.found);
        x.scratch = malloc(hsy_search_scratch(x.s, x.stages, x.nstages));
        ready = x.found != NULL && x.scratch != NULL;
    }
    return bench_search_rate(b, c, &x, ready, evaluations, bench_search_all);
}

/* ---- A puzzle ------------------------------------------------------------ */

static const hsy_puzzle bench_puzzle_how = {.size = sizeof(hsy_puzzle)};

static void bench_puzzle_all(void *ctx)
{
    struct bench_search *x = ctx;
    hsy_puzzle_trace trace;
    hsy_found found = {x->found, 0};

    x->failed = hsy_puzzle_search(x->s, &found, &trace, &x->tally, &x->plan,
                                  x->scratch, NULL);
}

double bench_puzzle(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_search x;
    bool ready =
        bench_search_open(&x, c, level, false) &&
        hsy_puzzle_plan_make(x.s, &x.plan, &bench_puzzle_how, NULL) == HSY_OK;

    if (ready) {
        x.found = calloc((size_t)x.plan.word.keep, sizeof *x.found);
        x.scratch = malloc(hsy_puzzle_memory(x.s, &x.plan));
        ready = x.found != NULL && x.scratch != NULL;
    }
    return bench_search_rate(b, c, &x, ready,
                             ready ? (double)x.plan.offset.candidates *
                                         (double)x.plan.fragments *
                                         (double)c->hashes
                                   : 0,
                             bench_puzzle_all);
}
