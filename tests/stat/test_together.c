/*
 * test_together.c - intervals that shall hold together do, 95 times in 100.
 *
 * `--simultaneous` asks each of d intervals for a tail of 0.05 / d, where few
 * counts are not normal (docs/estimates.md, 3). In each run people are drawn
 * from a law with heavy, rare and missing values, and all intervals have to
 * hold: the shares of these people (target people), or of the law (population).
 * A run is one trial of an exact one-sided test at 1e-6.
 *
 * HSY_TEST_LONG: d 16 and 1024, n 200 and 10^4, epsilon .2, 1 and 4, both laws,
 * 2,000 runs (400 of 10^4 people over 1024 values); else what failed before.
 * `test_together MECHANISM [RUNS]`: the long form of one mechanism.
 * `test_together MECHANISM D EPSILON N LAW RUNS`: one cell.
 */
#include "rig/stat.h"

#define TOGETHER_LEVEL 0.95
#define TOGETHER_ALPHA 1e-6
#define TOGETHER_PEOPLE 10000u
#define TOGETHER_VALUES 1024u

static const char *const together_all[] = {
    "rr",  "grr", "ss",       "pgr", "hpg",  "hr",  "oue", "sue",
    "olh", "blh", "dbitflip", "hh",  "haar", "cms", "hcms"};

struct together_case {
    const char *mechanism;
    uint32_t d;
    double epsilon;
    size_t n;
    int law; /* 1 or 2 */
    uint64_t runs;
};

/* The two laws of 16 values; of more values the others are held by nobody. */
static const double together_laws[2][16] = {
    {0.5, 0.1, 0.1, 0.001, 0.001, 0.001, 0, 0, 0, 0, 0, 0.0594, 0.0594, 0.0594,
     0.0594, 0.0594},
    {0.99, 0.001, 0.001, 0.001, 0.001, 0.001, 0.005}};

struct together_work {
    struct stat_run run;
    const double *law;
    uint64_t codes[TOGETHER_PEOPLE];
    double share[TOGETHER_VALUES];
    double width; /* mean over intervals, in normal ones */
};

static struct together_work together;

static uint64_t together_draw(const double *law, double u)
{
    for (uint64_t v = 0; v < 16; v++) {
        if (u < law[v])
            return v;
        u -= law[v];
    }
    return 0;
}

/* Truths of n people, and their shares. A yes/no question asks for value 1. */
static void together_people(struct together_work *w, size_t n, uint64_t lane)
{
    const bool single = w->run.npoints == 1;
    struct stat_coins coins;
    hsy_rng rng;

    stat_coins_open(&coins, lane);
    rng = hsy_stream_rng(&coins.secret);
    memset(w->share, 0, sizeof w->share);
    for (size_t i = 0; i < n; i++) {
        uint32_t word = 0;
        uint64_t v;

        (void)rng.fill(rng.ctx, &word, sizeof word);
        v = together_draw(w->law, ((double)word + 0.5) / 4294967296.0);
        w->codes[i] = single ? v == 1 : v;
        w->share[single ? v != 1 : v] += 1 / (double)n;
    }
}

static double together_truth(const struct together_work *w, size_t v,
                             hsy_target target)
{
    if (target == HSY_PEOPLE)
        return w->share[v];
    return v >= 16 ? 0 : w->law[w->run.npoints == 1 ? 1 : v];
}

/* Whether all intervals of a collection hold. Sums of people's shares are a
 * rounding away from n-ths. */
static bool together_held(struct together_work *w, hsy_target target)
{
    const size_t d = w->run.npoints;
    const hsy_confidence how = {TOGETHER_LEVEL, target, HSY_INTERVAL_AUTO,
                                d == 1 ? 16 : d};
    const double z =
        -hsy_normal_quantile((1 - how.level) / 2 / (double)how.comparisons);
    bool held = true;

    for (size_t v = 0; v < d; v++) {
        const double truth = together_truth(w, v, target);
        hsy_estimate e;

        if (w->run.points[v].n == 0) /* nobody was asked: no interval */
            continue;
        if (hsy_estimate_point(&e, &w->run.points[v], &how, NULL) != HSY_OK)
            return false;
        held = held && e.low <= truth + 1e-12 && truth - 1e-12 <= e.high;
        w->width += (e.high - e.low) / (2 * z * e.sd) / (double)d;
    }
    return held;
}

static void together_judge(const struct together_case *c, hsy_target target,
                           uint64_t held, double width)
{
    ok(hsy_binomial_cdf(held, c->runs, TOGETHER_LEVEL) > TOGETHER_ALPHA,
       "%s d=%u epsilon %g n=%zu law %d %s: all held in %.4f of %llu runs, "
       "width %.2f normal",
       c->mechanism, c->d, c->epsilon, c->n, c->law,
       target == HSY_PEOPLE ? "people" : "population",
       (double)held / (double)c->runs, (unsigned long long)c->runs,
       width / (double)c->runs);
}

static void together_runs(const struct together_case *c, uint64_t lane)
{
    struct together_work *w = &together;
    uint64_t held[2] = {0};
    double width[2] = {0};

    w->law = together_laws[c->law - 1];
    for (uint64_t run = 0; run < c->runs; run++) {
        struct stat_coins coins;

        together_people(w, c->n, lane << 20 | run << 1);
        stat_coins_open(&coins, lane << 20 | run << 1 | 1);
        if (!stat_collect(&w->run, STAT_SIMULATE, w->codes, c->n, &coins))
            break;
        for (int target = 0; target < 2; target++) {
            w->width = 0;
            held[target] += together_held(w, (hsy_target)target);
            width[target] += w->width;
        }
    }
    together_judge(c, HSY_PEOPLE, held[0], width[0]);
    together_judge(c, HSY_POPULATION, held[1], width[1]);
}

static void together_case(const struct together_case *c, uint64_t lane)
{
    const struct stat_ask ask = {c->mechanism, c->d, c->epsilon, 0, 0};

    if (!stat_run_open(&together.run, &ask))
        return;
    together_runs(c, lane);
    stat_run_close(&together.run);
}

/* All cells of a mechanism. */
static void together_mechanism(const char *name, uint64_t runs, uint64_t lane)
{
    static const double epsilons[] = {0.2, 1, 4};

    for (unsigned i = 0; i < 24; i++) {
        const struct together_case c = {name,
                                        i & 1 ? 1024 : 16,
                                        epsilons[i / 8],
                                        i & 2 ? TOGETHER_PEOPLE : 200,
                                        i & 4 ? 2 : 1,
                                        (i & 3) == 3 ? runs / 5 : runs};

        if (strcmp(name, "rr") != 0 || c.d == 16)
            together_case(&c, lane + i);
    }
}

/* What was missed far more often, at sizes of ./check. */
static const struct together_case together_short[] = {
    {"grr", 16, 4, 200, 1, 400},  {"grr", 1024, 4, 200, 1, 60},
    {"pgr", 1024, 4, 200, 1, 60}, {"hpg", 1024, 4, 200, 2, 60},
    {"hr", 1024, 4, 200, 1, 60},  {"oue", 16, 4, 200, 1, 200},
    {"olh", 16, 4, 200, 2, 200},  {"dbitflip", 16, 4, 200, 2, 200},
    {"hh", 1024, 4, 200, 1, 60},  {"haar", 1024, 4, 200, 1, 60},
    {"rr", 16, 4, 200, 1, 1000},  {"ss", 16, 1, 200, 2, 200}};

static void together_asked(char **argv)
{
    const struct together_case c = {.mechanism = argv[1],
                                    .d = (uint32_t)strtoul(argv[2], NULL, 10),
                                    .epsilon = strtod(argv[3], NULL),
                                    .n = strtoull(argv[4], NULL, 10),
                                    .law = atoi(argv[5]),
                                    .runs = strtoull(argv[6], NULL, 10)};

    if (ok(c.d >= 16 && c.d <= TOGETHER_VALUES && c.n <= TOGETHER_PEOPLE &&
               (c.law == 1 || c.law == 2),
           "a cell"))
        together_case(&c, 8000);
}

static void together_long(const char *only, uint64_t runs)
{
    for (size_t i = 0; i < sizeof together_all / sizeof *together_all; i++)
        if (only == NULL || strcmp(only, together_all[i]) == 0)
            together_mechanism(together_all[i], runs, 5000 + 100 * i);
}

int main(int argc, char **argv)
{
    const uint64_t runs = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000;

    if (argc == 7)
        together_asked(argv);
    else if (argc > 1 || stat_long())
        together_long(argc > 1 ? argv[1] : NULL, runs);
    else
        for (size_t i = 0; i < sizeof together_short / sizeof *together_short;
             i++)
            together_case(&together_short[i], 7000 + i);
    return tap_done();
}
