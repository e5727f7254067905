/*
 * test_coverage.c - 95 % intervals hold the truth 95 times in 100.
 *
 * At epsilon 1 and 4, for each mechanism, each target and shares 0.02, 0.1,
 * 0.3, over 2,000 runs (HSY_TEST_LONG; else 100). For the target people the
 * same people answer anew in each run; for the target population each run draws
 * its own people.
 *
 * Values of one run depend on each other, runs do not. So one interval a run,
 * of the values in turn, goes to an exact binomial test at 1e-6. The share of
 * all intervals, whose standard error comes from the spread between runs, may
 * be 5 of these from 95 %, and 1 % more: the intervals are normal ones, and of
 * counts.
 */
#include "stat.h"

#define COVERAGE_PEOPLE 6000u
#define COVERAGE_LEVEL 0.95
#define COVERAGE_ALPHA 1e-6

#define COVERAGE_SLACK 0.01
#define COVERAGE_ERRORS 5

static uint64_t coverage_runs(void)
{
    return stat_long() ? 2000 : 100;
}

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

/* Whether the interval of a value holds what is `shift` standard errors above
 * the share. */
static bool coverage_holds(const struct stat_run *r,
                           const struct coverage_case *c, size_t v,
                           hsy_target target, double shift)
{
    const hsy_confidence how = {COVERAGE_LEVEL, target, HSY_INTERVAL_AUTO, 1};
    hsy_estimate e;
    double truth;

    if (hsy_estimate_point(&e, &r->points[v], &how, NULL) != HSY_OK)
        return false;
    truth = c->share + shift * e.sd;
    return e.low <= truth && truth <= e.high;
}

/* What runs have held so far. */
struct coverage_sums {
    uint64_t held, shifted; /* one interval a run */
    double share, squares;  /* of all intervals of a run */
};

static void coverage_add(struct coverage_sums *sums, const struct stat_run *r,
                         const struct coverage_case *c, hsy_target target,
                         uint64_t run)
{
    const size_t values = r->npoints == 1 ? 1 : c->values;
    double share = 0;

    for (size_t v = 0; v < values; v++)
        share += coverage_holds(r, c, v, target, 0) / (double)values;
    sums->share += share;
    sums->squares += share * share;
    sums->held += coverage_holds(r, c, run % values, target, 0);
    sums->shifted += coverage_holds(r, c, run % values, target, 2);
}

static void coverage_judge(const struct coverage_sums *sums, const char *what)
{
    const uint64_t runs = coverage_runs();
    const double all = sums->share / (double)runs;
    const double error =
        sqrt((sums->squares / (double)runs - all * all) / (double)(runs - 1));

    ok(stat_binomial(sums->held, runs, COVERAGE_LEVEL) > COVERAGE_ALPHA,
       "%s: %llu of %llu intervals hold it", what,
       (unsigned long long)sums->held, (unsigned long long)runs);
    ok(fabs(all - COVERAGE_LEVEL) <= COVERAGE_SLACK + COVERAGE_ERRORS * error,
       "and %.4f of those of all values (se %.4f)", all, error);
    ok(stat_binomial(sums->shifted, runs, COVERAGE_LEVEL) <= COVERAGE_ALPHA,
       "control: two standard errors beside it would be noticed");
}

static void coverage_target(struct stat_run *r, const struct coverage_case *c,
                            hsy_target target, uint64_t lane)
{
    static uint64_t codes[COVERAGE_PEOPLE];
    struct coverage_sums sums = {0};
    bool answered = true;
    char what[96];

    for (uint64_t run = 0; run < coverage_runs() && answered; run++) {
        struct stat_coins coins;

        coverage_people(codes, r, c, target, lane << 16 | run << 1);
        stat_coins_open(&coins, lane << 16 | run << 1 | 1);
        answered =
            stat_collect(r, STAT_SIMULATE, codes, COVERAGE_PEOPLE, &coins);
        coverage_add(&sums, r, c, target, run);
    }
    snprintf(what, sizeof what, "%s at epsilon %g, %s, share %g",
             r->info.mechanism, r->info.epsilon,
             target == HSY_PEOPLE ? "people" : "population", c->share);
    if (ok(answered, "%s", what))
        coverage_judge(&sums, what);
}

static void coverage_mechanism(const char *name, double epsilon, uint64_t lane)
{
    for (size_t k = 0; k < 3; k++) {
        const struct coverage_case *c = &coverage_cases[k];
        const struct stat_ask ask = {name, c->d, epsilon, 0, 0};
        struct stat_run r;

        if (!stat_run_open(&r, &ask))
            continue;
        if (r.info.iterative) { /* no points: test_density.c */
            stat_run_close(&r);
            continue;
        }
        coverage_target(&r, c, HSY_PEOPLE, lane + 2 * k);
        coverage_target(&r, c, HSY_POPULATION, lane + 2 * k + 1);
        stat_run_close(&r);
    }
}

/* Of one mechanism, if it is named. */
int main(int argc, char **argv)
{
    static const double epsilons[] = {1, 4};
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (size_t e = 0; e < 2 && stat_pointed(row->name) &&
                           (argc < 2 || strcmp(argv[1], row->name) == 0);
             e++)
            coverage_mechanism(row->name, epsilons[e], 3000 + 100 * i + 10 * e);
    return tap_done();
}
