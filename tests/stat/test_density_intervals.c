/*
 * test_density_intervals.c - intervals of shares by EM from a square wave hold
 * as often as they say, whatever the shares are.
 *
 * People are drawn from a law, and each sends a report, so that one run is a
 * trial of both targets. The share of a run's bins that are held is a number
 * from 0 to 1 with mean at least 0.95: its sum over runs is below what it is
 * with a chance of at most the binomial's [Hoeffding56]. Single bins hold at
 * least 9 times in 10. All at 1e-6.
 */
#include "lib/infer/infer.h"
#include "rig/stat.h"

#define INTERVALS_ALPHA 1e-6
#define INTERVALS_LEVEL 0.95
#define INTERVALS_BIN 0.9
#define INTERVALS_MOST 64u
#define INTERVALS_PLACES 128u

/* ---- Laws ---------------------------------------------------------------- */

static const char *const intervals_laws[] = {
    "Beta(2,5)", "two peaks", "heaped ages", "point masses", "one at the edge"};

#define INTERVALS_LAWS 5u

/* Ages from 0 to 99, said in tens and fives by many. */
static double intervals_heaped(double from, double to)
{
    double sum = 0;

    for (int age = (int)(100 * from); age < (int)(100 * to + 1e-9); age++) {
        const double off = (age - 38) / 18.0;
        const double often = age % 10 == 0 ? 8 : age % 5 == 0 ? 4 : 1;

        sum += often * (exp(-off * off / 2) + 0.02);
    }
    return sum;
}

static double intervals_peak(double at, double middle, double width)
{
    const double off = (at - middle) / width;

    return exp(-off * off / 2);
}

static double intervals_bin(size_t law, size_t v, size_t d)
{
    const double from = (double)v / (double)d, to = (double)(v + 1) / (double)d;
    const double at = (from + to) / 2;

    switch (law) {
    case 0:
        return hsy_beta_inc(2, 5, to) - hsy_beta_inc(2, 5, from);
    case 1:
        return 0.6 * intervals_peak(at, 0.25, 0.06) +
               0.4 * intervals_peak(at, 0.7, 0.08) + 1e-4;
    case 2:
        return intervals_heaped(from, to);
    case 3:
        return v == d / 3       ? 0.5
               : v == d / 3 + 1 ? 0.2
               : v == 3 * d / 4 ? 0.3
                                : 0;
    default:
        return v == 0;
    }
}

static void intervals_law(double *shares, size_t law, size_t d)
{
    double sum = 0;

    for (size_t v = 0; v < d; v++)
        sum += shares[v] = intervals_bin(law, v, d);
    for (size_t v = 0; v < d; v++)
        shares[v] /= sum;
}

/* ---- Runs ---------------------------------------------------------------- */

struct intervals_cell {
    size_t law;
    uint32_t d;
    double epsilon;
    uint64_t people, rounds; /* each sends so many reports */
    double repeats;          /* what the analyst says of that */
    unsigned runs;
};

struct intervals_tally {
    double held[2], halved[2]; /* over runs and bins, by target */
    double width[2], square[2];
    unsigned bin[2][INTERVALS_MOST];
    unsigned worst[2]; /* runs that held, of the bin with the fewest */
};

struct intervals_rig {
    struct stat_run run;
    void *scratch;
    double law[INTERVALS_MOST], who[INTERVALS_MOST];
    double chance[INTERVALS_MOST][INTERVALS_PLACES];
};

static bool intervals_open(struct intervals_rig *g,
                           const struct intervals_cell *c)
{
    const struct stat_ask ask = {"sw", c->d, c->epsilon, 0, 0};

    memset(g, 0, sizeof *g);
    g->run.s = stat_scheme(&ask);
    if (g->run.s == NULL)
        return false;
    stat_run_room(&g->run);
    g->scratch = stat_alloc(hsy_density_estimate_scratch(g->run.s));
    intervals_law(g->law, c->law, c->d);
    for (size_t y = 0; y < g->run.info.cells; y++)
        for (uint32_t v = 0; v < c->d; v++) {
            const uint8_t report[2] = {(uint8_t)y, (uint8_t)(y >> 8)};
            hsy_factor f;
            size_t count;

            hsy_law(g->run.s, &f, &count, v, report);
            g->chance[v][y] = (double)f.num / (double)f.den;
        }
    return true;
}

static void intervals_close(struct intervals_rig *g)
{
    free(g->scratch);
    stat_run_close(&g->run);
}

/* People, and the places of all their reports. */
static void intervals_collect(struct intervals_rig *g,
                              const struct intervals_cell *c, hsy_stream *st)
{
    double places[INTERVALS_PLACES];
    const size_t k = g->run.info.cells;

    hsy_tally_init(&g->run.tally, g->run.s, g->run.memory);
    hsy_multinomial_draw(g->who, g->law, c->d, c->people, st);
    for (size_t v = 0; v < c->d; v++) {
        hsy_multinomial_draw(places, g->chance[v], k,
                             (uint64_t)g->who[v] * c->rounds, st);
        for (size_t y = 0; y < k; y++)
            g->run.tally.cells[y] += (int64_t)places[y];
        g->who[v] /= (double)c->people;
    }
    g->run.tally.strata[0] = c->people * c->rounds;
}

static void intervals_count(struct intervals_tally *t, hsy_target target,
                            const hsy_estimate *est, const double *truth,
                            const struct intervals_cell *c)
{
    for (size_t v = 0; v < c->d; v++) {
        const double width = est[v].high - est[v].low;
        const double middle = (est[v].high + est[v].low) / 2;
        const bool held = est[v].low <= truth[v] && truth[v] <= est[v].high;

        t->held[target] += held / (double)c->d;
        t->halved[target] +=
            (fabs(truth[v] - middle) <= width / 4) / (double)c->d;
        t->bin[target][v] += held;
        t->width[target] += width / (double)c->d / c->runs;
        t->square[target] += (est[v].value - truth[v]) *
                             (est[v].value - truth[v]) / (double)c->d / c->runs;
    }
}

static void intervals_worst(struct intervals_tally *t,
                            const struct intervals_cell *c)
{
    for (int target = 0; target < 2; target++) {
        t->worst[target] = c->runs;
        for (size_t v = 0; v < c->d; v++)
            if (t->bin[target][v] < t->worst[target])
                t->worst[target] = t->bin[target][v];
    }
}

static bool intervals_run(struct intervals_tally *t,
                          const struct intervals_cell *c, uint64_t lane)
{
    static struct intervals_rig g;
    hsy_estimate est[INTERVALS_MOST];
    hsy_stream st;
    bool good = intervals_open(&g, c);

    memset(t, 0, sizeof *t);
    hsy_stream_seed(&st, stat_seed(), lane);
    for (unsigned run = 0; run < c->runs && good; run++) {
        intervals_collect(&g, c, &st);
        for (int target = 0; target < 2; target++) {
            const hsy_density_how how = {.level = INTERVALS_LEVEL,
                                         .target = (hsy_target)target,
                                         .repeats = c->repeats};

            good &= hsy_density_estimate(g.run.s, est, NULL, &g.run.tally, &how,
                                         g.scratch, NULL) == HSY_OK;
            intervals_count(t, how.target, est,
                            target == HSY_PEOPLE ? g.who : g.law, c);
        }
    }
    intervals_worst(t, c);
    intervals_close(&g);
    return good;
}

/* The chance of so few, or fewer, if each holds with probability `claim`. */
static double intervals_odds(double held, double runs, double claim)
{
    return hsy_binomial_cdf((uint64_t)(held + 1e-6), (uint64_t)runs, claim);
}

/* ---- Every kind of people ------------------------------------------------ */

static unsigned intervals_runs(const struct intervals_cell *c)
{
    if (stat_long())
        return c->people > 10000 ? 400 : 2000;
    return c->d > 16 ? 6 : 60;
}

/* In a cell, each target: all bins, each bin; and the width that the estimate's
 * own error has. A bin of 16 at epsilon 4 is told apart by itself; elsewhere
 * the likelihood has less noise than any bound that holds for all shares. */
static void intervals_judge(const struct intervals_tally *t,
                            const struct intervals_cell *c, double sums[2])
{
    bool good = true;

    for (int target = 0; target < 2; target++) {
        const double wide =
            t->width[target] / (2 * 1.96 * sqrt(t->square[target]));

        good &= intervals_odds(t->held[target], c->runs, INTERVALS_LEVEL) >
                    INTERVALS_ALPHA &&
                intervals_odds(t->worst[target], c->runs, INTERVALS_BIN) >
                    INTERVALS_ALPHA;
        good &= c->d > 16 || c->epsilon < 4 || wide < 1.25;
        sums[target] += t->held[target];
        if (stat_long())
            printf("# %s\t%u\t%g\t%llu\t%s\t%.4f\t%.4f\t%.5f\t%.2f\n",
                   intervals_laws[c->law], c->d, c->epsilon,
                   (unsigned long long)c->people,
                   target == HSY_PEOPLE ? "people" : "population",
                   t->held[target] / c->runs,
                   (double)t->worst[target] / c->runs, t->width[target], wide);
    }
    ok(good, "%s, %u bins, epsilon %g, %llu people: %.3f and %.3f held",
       intervals_laws[c->law], c->d, c->epsilon, (unsigned long long)c->people,
       t->held[0] / c->runs, t->held[1] / c->runs);
}

static void intervals_of(uint32_t d, uint64_t lane)
{
    static const double epsilons[] = {0.2, 1, 4};
    static const uint64_t people[] = {200, 10000, 100000};
    double sums[2] = {0}, runs = 0, halved = 0;

    for (size_t i = 0; i < INTERVALS_LAWS * 9; i++) {
        struct intervals_cell c = {.law = i / 9,
                                   .d = d,
                                   .epsilon = epsilons[i / 3 % 3],
                                   .people = people[i % 3],
                                   .rounds = 1};
        struct intervals_tally t;

        c.runs = intervals_runs(&c);
        if (!intervals_run(&t, &c, lane + i)) {
            ok(false, "cell %zu", i);
            continue;
        }
        intervals_judge(&t, &c, sums);
        runs += c.runs;
        halved += t.halved[HSY_PEOPLE];
    }
    for (int target = 0; target < 2; target++)
        ok(intervals_odds(sums[target], runs, INTERVALS_LEVEL) >
               INTERVALS_ALPHA,
           "%u bins, %s: %.4f of all", d,
           target == HSY_PEOPLE ? "people" : "population", sums[target] / runs);
    ok(intervals_odds(halved, runs, INTERVALS_LEVEL) < INTERVALS_ALPHA,
       "control: half as wide they would hold %.4f", halved / runs);
}

/* ---- People who come back ------------------------------------------------ */

/* 500 people send 8 reports each: sampling is of 500, not of 4000. */
static void intervals_repeats(void)
{
    struct intervals_cell c = {.law = 0,
                               .d = 16,
                               .epsilon = 4,
                               .people = 500,
                               .rounds = 8,
                               .repeats = 8,
                               .runs = stat_long() ? 2000 : 200};
    struct intervals_tally told, taken;

    if (!ok(intervals_run(&told, &c, 7000), "people who come back"))
        return;
    ok(intervals_odds(told.held[HSY_POPULATION], c.runs, INTERVALS_LEVEL) >
               INTERVALS_ALPHA &&
           intervals_odds(told.held[HSY_PEOPLE], c.runs, INTERVALS_LEVEL) >
               INTERVALS_ALPHA,
       "eight reports each: %.3f of the population's shares held, %.3f of the "
       "people's",
       told.held[HSY_POPULATION] / c.runs, told.held[HSY_PEOPLE] / c.runs);
    c.repeats = 0;
    if (!ok(intervals_run(&taken, &c, 7000), "taken for new people"))
        return;
    ok(intervals_odds(taken.held[HSY_POPULATION], c.runs, INTERVALS_LEVEL) <
           INTERVALS_ALPHA,
       "control: then %.3f hold", taken.held[HSY_POPULATION] / c.runs);
}

int main(void)
{
    intervals_of(16, 7100);
    intervals_of(64, 7200);
    intervals_repeats();
    return tap_done();
}
