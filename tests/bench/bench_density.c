/*
 * bench_density.c - the speed of densities: a square wave over d bins, its
 * 100,000 reports spread like a Beta(5, 2), decoded by EM or EMS.
 */
#include "bench/bench.h"

#include <stdlib.h>

struct bench_density {
    hsy_scheme *s;
    hsy_tally tally;
    int64_t *counters;
    double *shares;
    void *scratch;
    hsy_density_how how;
    hsy_status failed;
};

static void bench_density_one(void *ctx)
{
    struct bench_density *x = ctx;
    hsy_status st = hsy_density(x->s, x->shares, NULL, &x->tally, &x->how,
                                x->scratch, NULL);

    if (x->failed == HSY_OK)
        x->failed = st;
}

/* Count n reports of people at the quantiles of the distribution. */
static hsy_status bench_density_collect(struct bench_density *x, uint32_t d,
                                        size_t n)
{
    hsy_stream secret, published;
    hsy_status st = HSY_OK;

    hsy_stream_seed(&secret, 1, 5);
    hsy_stream_seed(&published, 1, 6);
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        double u = ((double)i + 0.5) / (double)n;
        uint64_t code = (uint64_t)(hsy_beta_inv(u, 5, 2) * d);
        uint8_t report[8];

        st = hsy_simulate_batch(x->s, report, &code, 1, &secret, &published,
                                NULL);
        if (st == HSY_OK)
            st = hsy_tally_add(&x->tally, x->s, report, NULL);
    }
    return st;
}

static double bench_density(const struct bench *b, const struct bench_case *c,
                            hsy_density_method method)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = c->mechanism,
                     .nano_epsilon = HSY_NANO,
                     .kind = HSY_KIND_BINS,
                     .d = c->d,
                     .hi = c->d};
    struct bench_density x = {.how = {.method = method}};
    double rate = 0;

    if (!bench_scheme_new(&x.s, &spec))
        return 0;
    x.counters = calloc(hsy_tally_words(x.s), sizeof *x.counters);
    x.shares = malloc(c->d * sizeof *x.shares);
    x.scratch = malloc(hsy_density_scratch(x.s));
    if (x.counters == NULL || x.shares == NULL || x.scratch == NULL) {
        bench_nomem();
    } else {
        hsy_tally_init(&x.tally, x.s, x.counters);
        x.failed = bench_density_collect(&x, c->d, c->reports);
        if (x.failed == HSY_OK)
            rate = bench_best(b, 1, bench_density_one, &x);
        if (x.failed != HSY_OK)
            bench_fail("%s: %s", c->name, hsy_strstatus(x.failed));
    }
    free(x.s);
    free(x.counters);
    free(x.shares);
    free(x.scratch);
    return x.failed == HSY_OK ? rate : 0;
}

double bench_em(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    (void)level;
    return bench_density(b, c, HSY_DENSITY_EM);
}

double bench_ems(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    (void)level;
    return bench_density(b, c, HSY_DENSITY_EMS);
}
