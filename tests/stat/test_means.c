/*
 * test_means.c - 95 % intervals of means hold the mean 95 times in 100, however
 * the numbers lie: all alike, at both ends, spread evenly.
 *
 * 400 runs, an exact binomial test at 1e-6. For the target people the same
 * people answer anew in each run; for the target population each run draws its
 * own people. Where a report is one bit nothing shows how numbers lie. For a
 * population that does not matter; for people the interval is made for numbers
 * all alike and may hold the mean more often elsewhere, but not less.
 */
#include "rig/stat.h"

#define MEANS_RUNS 400u
#define MEANS_PEOPLE 2000u
#define MEANS_LEVEL 0.95
#define MEANS_ALPHA 1e-6

enum means_shape { MEANS_ALIKE, MEANS_ENDS, MEANS_EVEN, MEANS_SHAPES };

static const char *const means_names[MEANS_SHAPES] = {
    "all alike", "at the ends", "spread evenly"};

/* The number of person u, from 0 to 1; the mean is 0.3, or 0.5 if even. */
static uint64_t means_code(enum means_shape shape, double u)
{
    if (shape == MEANS_ALIKE)
        return 3 * STAT_RANGE / 10;
    if (shape == MEANS_ENDS)
        return u < 0.3 ? STAT_RANGE : 0;
    return (uint64_t)(u * (STAT_RANGE + 1));
}

/* The people of a run, and the mean that its interval shall hold. */
static double means_people(uint64_t *codes, enum means_shape shape,
                           hsy_target target, uint64_t lane)
{
    struct stat_coins coins;
    hsy_rng rng;
    double sum = 0;

    stat_coins_open(&coins, lane);
    rng = hsy_stream_rng(&coins.secret);
    for (size_t i = 0; i < MEANS_PEOPLE; i++) {
        double u = ((double)i + 0.5) / MEANS_PEOPLE;
        uint32_t word;

        if (target == HSY_POPULATION) {
            (void)rng.fill(rng.ctx, &word, sizeof word);
            u = ((double)word + 0.5) / 4294967296.0;
        }
        codes[i] = means_code(shape, u);
        sum += (double)codes[i] / STAT_RANGE;
    }
    if (target == HSY_PEOPLE)
        return sum / MEANS_PEOPLE;
    return shape == MEANS_EVEN ? 0.5 : 0.3;
}

/* Whether the interval holds the mean, moved by so many standard errors. */
static bool means_held(const struct stat_run *r, double mean, hsy_target target,
                       double shift)
{
    const hsy_confidence how = {MEANS_LEVEL, target, HSY_INTERVAL_AUTO, 1};
    hsy_estimate e;

    if (hsy_estimate_point(&e, &r->points[0], &how, NULL) != HSY_OK)
        return false;
    mean += shift * e.sd;
    return e.low <= mean && mean <= e.high;
}

static void means_target(struct stat_run *r, enum means_shape shape,
                         hsy_target target, uint64_t lane)
{
    static uint64_t codes[MEANS_PEOPLE];
    const bool sharp = r->info.report_bits > 1 || shape == MEANS_ALIKE ||
                       target == HSY_POPULATION;
    uint64_t held = 0, moved = 0;
    bool answered = true;

    for (uint64_t run = 0; run < MEANS_RUNS; run++) {
        struct stat_coins coins;
        double mean = means_people(codes, shape, target, lane << 16 | run << 1);

        stat_coins_open(&coins, lane << 16 | run << 1 | 1);
        answered &= stat_collect(r, STAT_SIMULATE, codes, MEANS_PEOPLE, &coins);
        held += means_held(r, mean, target, 0);
        moved += means_held(r, mean, target, 1.5);
    }
    ok(answered && ((!sharp && (double)held > MEANS_LEVEL * MEANS_RUNS) ||
                    stat_binomial(held, MEANS_RUNS, MEANS_LEVEL) > MEANS_ALPHA),
       "%s at epsilon %g, %s %s: %llu of %u intervals hold the mean",
       r->info.mechanism, r->info.epsilon,
       target == HSY_PEOPLE ? "people" : "population", means_names[shape],
       (unsigned long long)held, MEANS_RUNS);
    if (sharp)
        ok(stat_binomial(moved, MEANS_RUNS, MEANS_LEVEL) <= MEANS_ALPHA,
           "control: one and a half standard errors beside it would be "
           "noticed");
}

int main(void)
{
    static const double epsilons[] = {0.5, 1, 4};
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (size_t e = 0; e < 3 && (row->kinds >> HSY_KIND_NUMBER & 1) != 0;
             e++) {
            const struct stat_ask ask = {row->name, 0, epsilons[e], 0, 0};
            struct stat_run r;

            if (!stat_run_open(&r, &ask))
                continue;
            for (int k = 0; k < 2 * MEANS_SHAPES; k++)
                means_target(&r, (enum means_shape)(k / 2),
                             k % 2 == 0 ? HSY_PEOPLE : HSY_POPULATION,
                             9000 + 100 * i + 10 * e + (uint64_t)k);
            stat_run_close(&r);
        }
    return tap_done();
}
