/* bench_scheme.c - the speed of randomizing, counting and decoding. */
#include "bench/bench.h"

#include <stdlib.h>

/* A scheme with all its calls need. Owns its memory. */
struct bench_scheme {
    hsy_scheme *s;
    hsy_scheme_info info;
    hsy_stream secret, published;
    uint64_t *codes;
    uint8_t *reports;
    const uint8_t *rows; /* reports of someone else */
    size_t n;
    hsy_tally tally;
    int64_t *counters;
    hsy_evidence *points;
    void *scratch;
    hsy_status failed; /* the first failure of a call, HSY_OK if none */
};

static void bench_scheme_close(struct bench_scheme *x)
{
    free(x->s);
    free(x->codes);
    free(x->reports);
    free(x->counters);
    free(x->points);
    free(x->scratch);
}

/* Uniform truths. */
static bool bench_scheme_population(struct bench_scheme *x, size_t n)
{
    hsy_rng rng = hsy_stream_rng(&x->published);

    x->n = n;
    x->codes = malloc(n * sizeof *x->codes);
    x->reports = calloc(n, x->info.report_bytes);
    if (x->codes == NULL || x->reports == NULL)
        return false;
    rng.fill(rng.ctx, x->codes, n * sizeof *x->codes);
    for (size_t i = 0; i < n; i++)
        x->codes[i] %= hsy_code_count(x->s);
    return true;
}

/* False after a message; close it in either case. n may be 0. */
static bool bench_scheme_open(struct bench_scheme *x,
                              const struct bench_case *c, hsy_cpu level,
                              size_t n)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = c->mechanism,
                     .nano_epsilon =
                         (uint64_t)HSY_NANO * (c->epsilon ? c->epsilon : 1),
                     .kind = c->d != 0 ? HSY_KIND_VALUES : HSY_KIND_NUMBER,
                     .d = c->d,
                     .hi = c->d != 0 ? 0 : c->range,
                     .param = {[HSY_PARAM_POOL_BITS] = c->pool_bits,
                               [HSY_PARAM_Q] = c->q,
                               [HSY_PARAM_T] = c->t}};

    *x = (struct bench_scheme){.failed = HSY_OK};
    if (!bench_scheme_new(&x->s, &spec))
        return false;
    hsy_scheme_cpu(x->s, level);
    hsy_scheme_describe(x->s, &x->info);
    hsy_stream_seed(&x->secret, 1, 3);
    hsy_stream_seed(&x->published, 1, 4);
    hsy_stream_cpu(&x->secret, level);
    hsy_stream_cpu(&x->published, level);
    x->counters = calloc(hsy_tally_words(x->s), sizeof *x->counters);
    if (x->counters == NULL || (n > 0 && !bench_scheme_population(x, n))) {
        bench_nomem();
        return false;
    }
    hsy_tally_init(&x->tally, x->s, x->counters);
    return true;
}

static void bench_note_status(struct bench_scheme *x, hsy_status st)
{
    if (x->failed == HSY_OK)
        x->failed = st;
}

/* Measure unless the scheme is not there; no rate if a call has failed. */
static double bench_scheme_rate(const struct bench *b,
                                const struct bench_case *c,
                                struct bench_scheme *x, bool ready,
                                double units, void (*work)(void *ctx))
{
    double rate = 0;

    if (ready && x->failed == HSY_OK)
        rate = bench_best(b, units, work, x);
    if (x->failed != HSY_OK) {
        bench_fail("%s: %s", c->name, hsy_strstatus(x->failed));
        rate = 0;
    }
    bench_scheme_close(x);
    return rate;
}

/* ---- Counting unary reports ---------------------------------------------- */

static void bench_fold_all(void *ctx)
{
    struct bench_scheme *x = ctx;

    bench_note_status(x, hsy_tally_batch(&x->tally, x->s, x->rows, x->n, NULL));
}

/*
 * Any bytes are reports where d is a multiple of 8, so the random buffer
 * serves; it is larger than any cache. The plain loop computes longer than it
 * reads, and gets a part.
 */
double bench_fold(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    size_t bytes = level == HSY_CPU_PLAIN ? BENCH_BUFFER / 64 : BENCH_BUFFER;
    const uint8_t *rows = bench_buffer(b);
    struct bench_scheme x;
    bool ready;

    if (rows == NULL)
        return 0;
    ready = bench_scheme_open(&x, c, level, 0);
    x.rows = rows;
    x.n = ready ? bytes / x.info.report_bytes : 0;
    return bench_scheme_rate(b, c, &x, ready, (double)x.n, bench_fold_all);
}

/* ---- Randomizing --------------------------------------------------------- */

static void bench_randomize_all(void *ctx)
{
    struct bench_scheme *x = ctx;
    hsy_coins coins = {hsy_stream_rng(&x->secret),
                       hsy_stream_rng(&x->published)};

    bench_note_status(
        x, hsy_randomize_batch(x->s, x->reports, x->codes, x->n, &coins, NULL));
}

double bench_randomize(struct bench *b, const struct bench_case *c,
                       hsy_cpu level)
{
    struct bench_scheme x;
    bool ready = bench_scheme_open(&x, c, level, c->reports);

    return bench_scheme_rate(b, c, &x, ready, (double)c->reports,
                             bench_randomize_all);
}

/* One report a call, each from the stream's buffer. */
static void bench_single_all(void *ctx)
{
    struct bench_scheme *x = ctx;
    hsy_coins coins = {hsy_stream_rng(&x->secret),
                       hsy_stream_rng(&x->published)};
    hsy_truth truth = {.type = HSY_TRUTH_INDEX};

    for (size_t i = 0; i < x->n; i++) {
        truth.u.index = (uint32_t)x->codes[i];
        bench_note_status(
            x, hsy_randomize(x->s, x->reports + i * x->info.report_bytes,
                             &truth, &coins, NULL));
    }
}

double bench_single(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_scheme x;
    bool ready = bench_scheme_open(&x, c, level, c->reports);

    return bench_scheme_rate(b, c, &x, ready, (double)c->reports,
                             bench_single_all);
}

static void bench_simulate_all(void *ctx)
{
    struct bench_scheme *x = ctx;

    bench_note_status(x, hsy_simulate_batch(x->s, x->reports, x->codes, x->n,
                                            &x->secret, &x->published, NULL));
}

double bench_simulate(struct bench *b, const struct bench_case *c,
                      hsy_cpu level)
{
    struct bench_scheme x;
    bool ready = bench_scheme_open(&x, c, level, c->reports);

    return bench_scheme_rate(b, c, &x, ready, (double)c->reports,
                             bench_simulate_all);
}

/* ---- Decoding local hashing ---------------------------------------------- */

static void bench_points_all(void *ctx)
{
    struct bench_scheme *x = ctx;

    bench_note_status(x, hsy_evidence_of(x->s, x->points, &x->tally, NULL,
                                         x->info.d, x->scratch, NULL));
}

/* A tally of c->reports reports, and room for all estimates. */
static bool bench_points_open(struct bench_scheme *x,
                              const struct bench_case *c, hsy_cpu level)
{
    if (!bench_scheme_open(x, c, level, c->reports))
        return false;
    x->points = malloc(x->info.d * sizeof *x->points);
    x->scratch = malloc(hsy_evidence_scratch(x->s, x->info.d));
    if (x->points == NULL || x->scratch == NULL) {
        bench_nomem();
        return false;
    }
    bench_simulate_all(x);
    bench_note_status(x,
                      hsy_tally_batch(&x->tally, x->s, x->reports, x->n, NULL));
    return true;
}

/* With few reports for its pool every non-empty cell is hashed against every
 * value: those are the evaluations. */
double bench_direct(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_scheme x;
    bool ready = bench_points_open(&x, c, level);
    double cells = 0;

    for (size_t i = 0; ready && i < x.tally.ncells; i++)
        cells += x.tally.cells[i] != 0;
    return bench_scheme_rate(b, c, &x, ready, cells * x.info.d,
                             bench_points_all);
}

/* With many, every value is looked up in every row. Rates are for a pool of
 * 10,000 seeds, the real one being a power of two. */
double bench_table(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_scheme x;
    bool ready = bench_points_open(&x, c, level);
    double pool = (double)((uint64_t)1 << c->pool_bits);

    return bench_scheme_rate(b, c, &x, ready, pool / 10000, bench_points_all);
}

/* Everything estimated once. */
double bench_decode(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_scheme x;
    bool ready = bench_points_open(&x, c, level);

    return bench_scheme_rate(b, c, &x, ready, 1, bench_points_all);
}
