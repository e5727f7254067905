/*
 * test_coverage.c - 95 % intervals hold the truth 95 times in 100.
 *
 * At epsilon 1 and 4, for each mechanism, each target and shares 0.02, 0.1,
 * 0.3: the intervals of all values of that share, over 400 runs, against an
 * exact binomial test at 1e-6. For the target people the same people answer
 * anew in each run; for the target population each run draws its own people.
 */
#include "stat.h"

#define COVERAGE_RUNS 400u
#define COVERAGE_PEOPLE 6000u
#define COVERAGE_LEVEL 0.95
#define COVERAGE_ALPHA 1e-6

/* A share, how many values have it, and the size of the domain. */
struct coverage_case {
    double share;
    uint32_t d, values;
};

static const struct coverage_case coverage_cases[] = {
    {0.02, 50, 50}, {0.1, 10, 10}, {0.3, 4, 3}};

/* Person u's truth, u from 0 to 1: values in turn, the last one what is left
 * over. A number is the share of the range. */
static uint64_t coverage_code(const struct stat_run *r,
                              const struct coverage_case *c, double u)
{
    uint64_t v = (uint64_t)(u / c->share);

    if (r->npoints == 1)
        return r->info.kind == HSY_KIND_NUMBER
                   ? (uint64_t)(c->share * STAT_RANGE + 0.5)
                   : u < c->share;
    return v < c->d ? v : c->d - 1;
}

static void coverage_people(uint64_t *codes, const struct stat_run *r,
                            const struct coverage_case *c, hsy_target target,
                            uint64_t lane)
{
    struct stat_coins coins;
    hsy_rng rng;

    stat_coins_open(&coins, lane);
    rng = hsy_stream_rng(&coins.secret);
    for (size_t i = 0; i < COVERAGE_PEOPLE; i++) {
        double u = ((double)i + 0.5) / COVERAGE_PEOPLE;
        uint32_t word;

        if (target == HSY_POPULATION) {
            (void)rng.fill(rng.ctx, &word, sizeof word);
            u = ((double)word + 0.5) / 4294967296.0;
        }
        codes[i] = coverage_code(r, c, u);
        /* A population of numbers at the ends of the range. */
        if (target == HSY_POPULATION && r->info.kind == HSY_KIND_NUMBER)
            codes[i] = u < c->share ? STAT_RANGE : 0;
    }
}

/* How many of the intervals of one run hold the share. */
static uint64_t coverage_held(const struct stat_run *r,
                              const struct coverage_case *c, size_t values,
                              hsy_target target, double shift)
{
    const hsy_confidence how = {COVERAGE_LEVEL, target, HSY_INTERVAL_AUTO, 1};
    uint64_t held = 0;

    for (size_t v = 0; v < values; v++) {
        hsy_estimate e;

        if (hsy_estimate_point(&e, &r->points[v], &how, NULL) == HSY_OK)
            held += e.low <= c->share + shift * e.sd &&
                    c->share + shift * e.sd <= e.high;
    }
    return held;
}

static void coverage_target(struct stat_run *r, const struct coverage_case *c,
                            hsy_target target, uint64_t lane)
{
    static uint64_t codes[COVERAGE_PEOPLE];
    size_t values = r->npoints == 1 ? 1 : c->values;
    uint64_t held = 0, shifted = 0, n = COVERAGE_RUNS * values;
    bool answered = true;

    for (uint64_t run = 0; run < COVERAGE_RUNS; run++) {
        struct stat_coins coins;

        coverage_people(codes, r, c, target, lane << 16 | run << 1);
        stat_coins_open(&coins, lane << 16 | run << 1 | 1);
        answered &=
            stat_collect(r, STAT_SIMULATE, codes, COVERAGE_PEOPLE, &coins);
        held += coverage_held(r, c, values, target, 0);
        shifted += coverage_held(r, c, values, target, 1.5);
    }
    ok(answered && stat_binomial(held, n, COVERAGE_LEVEL) > COVERAGE_ALPHA,
       "%s at epsilon %g, %s, share %g: %llu of %llu intervals hold it",
       r->info.mechanism, r->info.epsilon,
       target == HSY_PEOPLE ? "people" : "population", c->share,
       (unsigned long long)held, (unsigned long long)n);
    ok(stat_binomial(shifted, n, COVERAGE_LEVEL) <= COVERAGE_ALPHA,
       "control: one and a half standard errors beside it would be noticed");
}

static void coverage_mechanism(const char *name, double epsilon, uint64_t lane)
{
    for (size_t k = 0; k < 3; k++) {
        const struct coverage_case *c = &coverage_cases[k];
        const struct stat_ask ask = {name, c->d, epsilon, 0, 0};
        struct stat_run r;

        if (!stat_run_open(&r, &ask))
            continue;
        coverage_target(&r, c, HSY_PEOPLE, lane + 2 * k);
        coverage_target(&r, c, HSY_POPULATION, lane + 2 * k + 1);
        stat_run_close(&r);
    }
}

int main(void)
{
    static const double epsilons[] = {1, 4};
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (size_t e = 0; e < 2 && stat_pointed(row->name); e++)
            coverage_mechanism(row->name, epsilons[e], 3000 + 100 * i + 10 * e);
    return tap_done();
}
