/*
 * test_ranges.c - errors of ranges and quantiles are what they are said to be.
 *
 * 64 bins, people of a known distribution. Over runs: the squared error of
 * ranges over the stated variance is 1 within 5 of its own standard errors
 * (6e-7), and 95 % intervals of ranges and of quantiles hold the truth, by
 * exact binomial tests at 1e-6: ranges neither too often nor too seldom,
 * quantiles not too seldom. Of pgr and hr the bins of a range lie in the sets
 * that reports support, and its variance is not that of independent bins.
 */
#include "rig/stat.h"

#define RANGES_BINS 64u
#define RANGES_PEOPLE 4000u
#define RANGES_RUNS 600u
#define RANGES_ALPHA 1e-6
#define RANGES_ASKED 6u

static const size_t ranges_asked[RANGES_ASKED][2] = {
    {0, 32}, {5, 6}, {3, 50}, {17, 23}, {40, 64}, {1, 63}};

/* Person i of the people, or u of the population: a ramp, heavier below. */
static uint64_t ranges_code(double u)
{
    return (uint64_t)(RANGES_BINS * u * u);
}

/* The share of the population below an edge. */
static double ranges_cdf(double edge)
{
    return sqrt(edge / RANGES_BINS);
}

struct ranges_run {
    struct stat_run run;
    void *scratch;
    uint64_t codes[RANGES_PEOPLE];
    double below[RANGES_BINS + 1]; /* share of the target */
    double sum, squares;           /* of squared error over variance */
    uint64_t held, asked, quantiles_held, quantiles;
};

static void ranges_people(struct ranges_run *x, hsy_target target,
                          uint64_t lane)
{
    struct stat_coins coins;
    hsy_rng rng;

    stat_coins_open(&coins, lane);
    rng = hsy_stream_rng(&coins.secret);
    memset(x->below, 0, sizeof x->below);
    for (size_t i = 0; i < RANGES_PEOPLE; i++) {
        double u = ((double)i + 0.5) / RANGES_PEOPLE;
        uint32_t word;

        if (target == HSY_POPULATION) {
            (void)rng.fill(rng.ctx, &word, sizeof word);
            u = ((double)word + 0.5) / 4294967296.0;
        }
        x->codes[i] = ranges_code(u);
        x->below[x->codes[i] + 1] += 1.0 / RANGES_PEOPLE;
    }
    for (size_t i = 1; i <= RANGES_BINS; i++)
        x->below[i] = target == HSY_POPULATION ? ranges_cdf((double)i)
                                               : x->below[i] + x->below[i - 1];
}

static void ranges_of(struct ranges_run *x, const hsy_ranges *r,
                      const hsy_confidence *how)
{
    double mean = 0;

    for (size_t k = 0; k < RANGES_ASKED; k++) {
        const size_t from = ranges_asked[k][0], to = ranges_asked[k][1];
        const double truth = x->below[to] - x->below[from];
        hsy_estimate est = {0};
        double error;

        if (hsy_range(r, &est, from, to, how, NULL) != HSY_OK)
            continue;
        error = (est.value - truth) / est.sd;
        mean += error * error / RANGES_ASKED;
        x->held += est.low <= truth && truth <= est.high;
        x->asked++;
    }
    x->sum += mean;
    x->squares += mean * mean;
}

static void ranges_quantiles(struct ranges_run *x, const hsy_ranges *r,
                             const hsy_confidence *how)
{
    static const double shares[] = {0.25, 0.5, 0.9};

    for (size_t k = 0; k < 3; k++) {
        hsy_estimate est = {0};
        size_t bin = 0;
        double truth; /* people are spread evenly within a bin */

        while (x->below[bin + 1] < shares[k])
            bin++;
        truth = (double)bin + (shares[k] - x->below[bin]) /
                                  (x->below[bin + 1] - x->below[bin]);
        x->quantiles_held +=
            hsy_quantile(r, &est, shares[k], how, NULL) == HSY_OK &&
            est.low <= truth && truth <= est.high;
        x->quantiles++;
    }
}

static bool ranges_collect(struct ranges_run *x, const hsy_confidence *how,
                           uint64_t lane)
{
    struct stat_coins coins;
    hsy_ranges r;

    stat_coins_open(&coins, lane);
    if (!stat_collect(&x->run, STAT_SIMULATE, x->codes, RANGES_PEOPLE,
                      &coins) ||
        hsy_ranges_open(&r, x->run.s, &x->run.tally, x->scratch, NULL) !=
            HSY_OK)
        return false;
    ranges_of(x, &r, how);
    ranges_quantiles(x, &r, how);
    return true;
}

static void ranges_judge(const struct ranges_run *x, const char *what)
{
    const double mean = x->sum / RANGES_RUNS;
    const double error =
        sqrt((x->squares / RANGES_RUNS - mean * mean) / RANGES_RUNS);

    ok(fabs(mean - 1) <= 5 * error && error < 0.06,
       "%s: squared errors of ranges over their variance are %.3f (se %.3f)",
       what, mean, error);
    /* Ranges of one run depend on each other: as if a run were one draw. */
    ok(stat_binomial(x->held / RANGES_ASKED, RANGES_RUNS, 0.95) >
               RANGES_ALPHA &&
           eq_u64(x->asked, RANGES_RUNS * RANGES_ASKED),
       "%s: 95 %% intervals hold %.3f of ranges", what,
       (double)x->held / (double)x->asked);
    ok(hsy_binomial_cdf(x->quantiles_held / 3, RANGES_RUNS, 0.95) >
           RANGES_ALPHA,
       "%s: and %.3f of quantiles", what,
       (double)x->quantiles_held / (double)x->quantiles);
    ok(stat_binomial((uint64_t)(0.89 * RANGES_RUNS), RANGES_RUNS, 0.95) <
           RANGES_ALPHA,
       "control: 0.89 would be noticed");
}

static void ranges_check(const char *name, double epsilon, hsy_target target,
                         uint64_t lane)
{
    struct ranges_run *x = stat_alloc(sizeof *x);
    const hsy_confidence how = {0.95, target, HSY_INTERVAL_AUTO, 1};
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = name,
                           .nano_epsilon = (uint64_t)(epsilon * 1e9),
                           .kind = HSY_KIND_BINS,
                           .d = RANGES_BINS,
                           .hi = RANGES_BINS};
    bool good = true;
    char what[64];

    x->run.s = stat_alloc(hsy_scheme_size(&spec));
    good = hsy_scheme_init(x->run.s, &spec, NULL) == HSY_OK;
    snprintf(what, sizeof what, "%s at epsilon %g, %s", name, epsilon,
             target == HSY_PEOPLE ? "people" : "population");
    if (good) {
        stat_run_room(&x->run);
        x->scratch = stat_alloc(hsy_ranges_scratch(x->run.s));
    }
    for (uint64_t i = 0; i < RANGES_RUNS && good; i++) {
        ranges_people(x, target, lane << 32 | 2 * i);
        good = ranges_collect(x, &how, lane << 32 | (2 * i + 1));
    }
    ok(good, "%s: %u runs", what, RANGES_RUNS);
    ranges_judge(x, what);
    free(x->scratch);
    stat_run_close(&x->run);
    free(x);
}

int main(void)
{
    static const char *const names[] = {"hh", "haar", "grr", "oue"};

    for (uint64_t i = 0; i < 4; i++) {
        ranges_check(names[i], 1, HSY_PEOPLE, 900 + 4 * i);
        ranges_check(names[i], 4, HSY_PEOPLE, 901 + 4 * i);
        ranges_check(names[i], 4, HSY_POPULATION, 902 + 4 * i);
    }
    ranges_check("pgr", 1, HSY_PEOPLE, 916);
    ranges_check("hr", 1, HSY_POPULATION, 917);
    return tap_done();
}
