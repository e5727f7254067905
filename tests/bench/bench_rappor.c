/* bench_rappor.c - the speed of RAPPOR: folding and encoding. */
#include "bench/bench.h"

#include <stdlib.h>

#define BENCH_RAPPOR_REPORTS ((size_t)1 << 18)

struct bench_rappor {
    hsy_scheme *s;
    hsy_stream secret, published;
    uint64_t *codes;
    uint8_t *reports;
    int64_t *counters;
    hsy_tally tally;
};

static void bench_rappor_encode_all(void *ctx)
{
    struct bench_rappor *x = ctx;
    hsy_coins coins = {hsy_stream_rng(&x->secret),
                       hsy_stream_rng(&x->published)};

    hsy_randomize_batch(x->s, x->reports, x->codes, BENCH_RAPPOR_REPORTS,
                        &coins, NULL);
}

static void bench_rappor_fold_all(void *ctx)
{
    struct bench_rappor *x = ctx;

    hsy_tally_batch(&x->tally, x->s, x->reports, BENCH_RAPPOR_REPORTS, NULL);
}

/* d is the number of bits; by epsilon 1, so that no probability is a quarter
 * and cheap. */
static bool bench_rappor_open(struct bench_rappor *x,
                              const struct bench_case *c, hsy_cpu level)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "rappor",
                           .nano_epsilon = HSY_NANO,
                           .kind = HSY_KIND_STRINGS,
                           .param = {[HSY_PARAM_FILTER_BITS] = c->d}};
    hsy_scheme_info info;

    *x = (struct bench_rappor){0};
    if (!bench_scheme_new(&x->s, &spec))
        return false;
    hsy_scheme_cpu(x->s, level);
    hsy_scheme_describe(x->s, &info);
    hsy_stream_seed(&x->secret, 1, 3);
    hsy_stream_seed(&x->published, 1, 4);
    hsy_stream_cpu(&x->secret, level);
    hsy_stream_cpu(&x->published, level);
    x->codes = malloc(BENCH_RAPPOR_REPORTS * sizeof *x->codes);
    x->reports = calloc(BENCH_RAPPOR_REPORTS, info.report_bytes);
    x->counters = calloc(hsy_tally_words(x->s), sizeof *x->counters);
    if (x->codes == NULL || x->reports == NULL || x->counters == NULL) {
        bench_nomem();
        return false;
    }
    for (size_t i = 0; i < BENCH_RAPPOR_REPORTS; i++)
        x->codes[i] = i * 0x9e3779b97f4a7c15;
    hsy_tally_init(&x->tally, x->s, x->counters);
    bench_rappor_encode_all(x);
    return true;
}

static double bench_rappor_rate(struct bench *b, const struct bench_case *c,
                                hsy_cpu level, void (*work)(void *ctx))
{
    struct bench_rappor x;
    double rate = 0;

    if (bench_rappor_open(&x, c, level))
        rate = bench_best(b, (double)BENCH_RAPPOR_REPORTS, work, &x);
    free(x.s);
    free(x.codes);
    free(x.reports);
    free(x.counters);
    return rate;
}

double bench_rappor_fold(struct bench *b, const struct bench_case *c,
                         hsy_cpu level)
{
    return bench_rappor_rate(b, c, level, bench_rappor_fold_all);
}

double bench_rappor_encode(struct bench *b, const struct bench_case *c,
                           hsy_cpu level)
{
    return bench_rappor_rate(b, c, level, bench_rappor_encode_all);
}
