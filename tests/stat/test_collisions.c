/*
 * test_collisions.c - sketches' intervals hold for a given pool of hashes.
 *
 * Collisions of public hashes are a bias of every collection with them, not a
 * chance: predicted and taken off, shares of 0, .001, .01, .1 and .5 are held
 * 95 times in 100 by pools that were named beforehand, for both targets. What
 * no candidate explains cannot be predicted: for it, each run takes another
 * pool, over which the floor is the variance. Exact one-sided tests at 1e-6, a
 * run being one trial; widths at most 1.25 of what the measured spread asks.
 *
 * HSY_TEST_LONG: n 200, 10^4 and 10^5, epsilon .2, 1 and 4, five pools; else
 * what failed before. `test_collisions MECHANISM N EPSILON POOL RUNS` is one
 * cell, with `unlisted` for POOL one whose heavy values are no candidates.
 */
#include "rig/stat.h"

#define COLLISIONS_LEVEL 0.95
#define COLLISIONS_ALPHA 1e-6
#define COLLISIONS_VALUES 64u
#define COLLISIONS_SHARES 5u
#define COLLISIONS_WIDE 1.25
#define COLLISIONS_SMALL 10 /* bits of a small pool */

/* Values of each share, in this order; then some of none, and the rest of the
 * people on the last 32. */
static const struct {
    double share;
    uint32_t first, values;
} collisions_shares[COLLISIONS_SHARES] = {
    {0.5, 0, 1}, {0.1, 1, 2}, {0.01, 3, 4}, {0.001, 7, 5}, {0, 12, 20}};

#define COLLISIONS_OTHERS 32u

struct collisions_case {
    const char *mechanism;
    size_t n;
    double epsilon;
    uint64_t pool;
    bool small;    /* 64 rows of 64 cells: collisions outweigh noise */
    bool unlisted; /* the heavy ones; then pools are drawn */
    uint64_t runs;
};

struct collisions_sums {
    uint64_t held;
    double sum, squares, width; /* of the errors, and of the intervals */
};

struct collisions_work {
    struct stat_run run;
    uint64_t *codes;
    double share[COLLISIONS_VALUES];
    struct collisions_sums sums[COLLISIONS_SHARES][2];
};

static double collisions_law(uint64_t v)
{
    double rest = 1;

    for (size_t i = 0; i < COLLISIONS_SHARES; i++) {
        const uint32_t first = collisions_shares[i].first;

        if (v >= first && v < first + collisions_shares[i].values)
            return collisions_shares[i].share;
        rest -= collisions_shares[i].share * collisions_shares[i].values;
    }
    return rest / COLLISIONS_OTHERS;
}

static void collisions_people(struct collisions_work *w, size_t n,
                              uint64_t lane)
{
    double edge[COLLISIONS_VALUES];
    struct stat_coins coins;
    hsy_rng rng;

    for (uint64_t v = 0; v < COLLISIONS_VALUES; v++)
        edge[v] = (v == 0 ? 0 : edge[v - 1]) + collisions_law(v);
    stat_coins_open(&coins, lane);
    rng = hsy_stream_rng(&coins.secret);
    memset(w->share, 0, sizeof w->share);
    for (size_t i = 0; i < n; i++) {
        uint32_t word = 0;
        uint64_t v = 0;
        double u;

        (void)rng.fill(rng.ctx, &word, sizeof word);
        u = ((double)word + 0.5) / 4294967296.0;
        while (v + 1 < COLLISIONS_VALUES && u >= edge[v])
            v++;
        w->codes[i] = v;
        w->share[v] += 1 / (double)n;
    }
}

static void collisions_add(struct collisions_sums *sums,
                           const hsy_evidence *point, hsy_target target,
                           double truth)
{
    const hsy_confidence how = {COLLISIONS_LEVEL, target, HSY_INTERVAL_AUTO, 1};
    hsy_estimate e;

    if (hsy_estimate_point(&e, point, &how, NULL) != HSY_OK)
        return;
    sums->held += e.low <= truth && truth <= e.high;
    sums->sum += e.value - truth;
    sums->squares += (e.value - truth) * (e.value - truth);
    sums->width += e.high - e.low;
}

/* One value of each share, in turn; of the unlisted only the listed. */
static void collisions_look(struct collisions_work *w,
                            const struct collisions_case *c, uint64_t run)
{
    for (size_t i = 0; i < COLLISIONS_SHARES; i++) {
        const uint32_t first = collisions_shares[i].first;
        const uint64_t v = first + run % collisions_shares[i].values;

        if (c->unlisted) {
            if (i < 2 || hsy_evidence_of(w->run.s, w->run.points, &w->run.tally,
                                         &v, 1, w->run.scratch, NULL) != HSY_OK)
                continue;
            w->run.points[v] = w->run.points[0];
        }
        collisions_add(&w->sums[i][0], &w->run.points[v], HSY_PEOPLE,
                       w->share[v]);
        collisions_add(&w->sums[i][1], &w->run.points[v], HSY_POPULATION,
                       collisions_law(v));
    }
}

static bool collisions_run(struct collisions_work *w,
                           const struct collisions_case *c, uint64_t run,
                           uint64_t lane)
{
    const uint64_t pool = c->unlisted ? 1 + run : c->pool;
    const struct stat_ask ask = {c->mechanism, COLLISIONS_VALUES, c->epsilon,
                                 c->small ? COLLISIONS_SMALL : 0, pool};
    struct stat_coins coins;
    bool collected = true;

    w->run.s = stat_scheme_of(&ask, HSY_KIND_VALUES, STAT_SKETCH);
    if (w->run.s == NULL)
        return false;
    if (run == 0)
        stat_run_room(&w->run);
    collisions_people(w, c->n, lane << 20 | run << 1);
    stat_coins_open(&coins, lane << 20 | run << 1 | 1);
    collected = stat_collect(&w->run, STAT_SIMULATE, w->codes, c->n, &coins);
    if (collected)
        collisions_look(w, c, run);
    free(w->run.s);
    w->run.s = NULL;
    return collected;
}

static void collisions_judge(const struct collisions_case *c,
                             const struct collisions_sums *s, double share,
                             bool people)
{
    const double runs = (double)c->runs, mean = s->sum / runs;
    const double sd =
        sqrt((s->squares / runs - mean * mean) * runs / (runs - 1));
    const double wide = s->width / runs / (2 * 1.95996 * sd);
    /* The measured spread is itself uncertain, by 1 / sqrt(2 runs). */
    const double slack = 1 + 5 / sqrt(2 * runs);

    ok(hsy_binomial_cdf(s->held, c->runs, COLLISIONS_LEVEL) > COLLISIONS_ALPHA,
       "%s n=%zu epsilon %g %s %llu share %g %s: held in %.4f of %llu runs",
       c->mechanism, c->n, c->epsilon, c->unlisted ? "unlisted" : "pool",
       (unsigned long long)c->pool, share, people ? "people" : "population",
       (double)s->held / runs, (unsigned long long)c->runs);
    ok(c->unlisted || wide <= COLLISIONS_WIDE * slack,
       "and %.3f as wide as the spread asks (bias %.2f of it)", wide,
       mean / sd);
}

static void collisions_case(const struct collisions_case *c, uint64_t lane)
{
    static struct collisions_work w;
    bool collected = true;

    memset(&w, 0, sizeof w);
    w.codes = stat_alloc(c->n * sizeof *w.codes);
    for (uint64_t run = 0; run < c->runs && collected; run++)
        collected = collisions_run(&w, c, run, lane);
    if (ok(collected, "%s: %llu collections", c->mechanism,
           (unsigned long long)c->runs))
        for (size_t i = c->unlisted ? 2 : 0; i < COLLISIONS_SHARES; i++)
            for (int target = 0; target < 2; target++)
                collisions_judge(c, &w.sums[i][target],
                                 collisions_shares[i].share, target == 0);
    stat_run_close(&w.run);
    free(w.codes);
}

static void collisions_all(const char *mechanism, uint64_t lane)
{
    static const double epsilons[] = {0.2, 1, 4};
    static const size_t people[] = {200, 10000, 100000};
    static const uint64_t pools[] = {0, 1, 2, 3, 20240301};

    for (unsigned i = 0; i < 45; i++) {
        const struct collisions_case c = {
            .mechanism = mechanism,
            .n = people[i / 3 % 3],
            .epsilon = epsilons[i % 3],
            .pool = pools[i / 9],
            .runs = people[i / 3 % 3] > 10000 ? 400 : 2000};

        collisions_case(&c, lane + i);
    }
}

static const struct collisions_case collisions_short[] = {
    {"cms", 100000, 4, 0, false, false, 8},
    {"cms", 20000, 4, 0, true, false, 200},
    {"hcms", 100000, 4, 7, true, false, 60},
    {"hcms", 10000, 1, 3, false, false, 40},
    {"cms", 20000, 4, 0, true, true, 200},
    {"hcms", 100000, 4, 0, true, true, 60}};

#define COLLISIONS_SHORT (sizeof collisions_short / sizeof *collisions_short)

int main(int argc, char **argv)
{
    if (argc == 6) {
        const bool unlisted = strcmp(argv[4], "unlisted") == 0;
        const struct collisions_case c = {.mechanism = argv[1],
                                          .n = strtoull(argv[2], NULL, 10),
                                          .epsilon = strtod(argv[3], NULL),
                                          .pool = strtoull(argv[4], NULL, 10),
                                          .small = unlisted,
                                          .unlisted = unlisted,
                                          .runs = strtoull(argv[5], NULL, 10)};

        collisions_case(&c, 9500);
    } else if (stat_long()) {
        collisions_all("cms", 9000);
        collisions_all("hcms", 9100);
    } else {
        for (size_t i = 0; i < COLLISIONS_SHORT; i++)
            collisions_case(&collisions_short[i], 9200 + i);
    }
    return tap_done();
}
