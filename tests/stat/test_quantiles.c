/*
 * test_quantiles.c - intervals of quantiles hold as often as they say, and are
 * not wider than that takes.
 *
 * 64 bins; people are drawn from a law, and each sends a report, so that one
 * run is a trial of both targets. The true quantile is that of the people's
 * bins, or of the law's, spread evenly within a bin. The share of a run's five
 * quantiles that are held is a number from 0 to 1 with mean at least 0.95
 * [Hoeffding56: its sum over runs], at 1e-6.
 */
#include "lib/infer/infer.h"
#include "rig/stat.h"

#define QUANTILES_BINS 64u
#define QUANTILES_ALPHA 1e-6
#define QUANTILES_ASKED 5u
#define QUANTILES_LAWS 4u
#define QUANTILES_PEOPLE 100000u

static const double quantiles_asked[QUANTILES_ASKED] = {0.1, 0.25, 0.5, 0.75,
                                                        0.9};

/*
 * The mean width, in bins, that intervals had over these laws, quantiles and
 * both targets when they ended at edges of bins (71b07fc): each is now at
 * least a tenth narrower, but where both are nearly the whole range.
 */
static const struct quantiles_cell {
    const char *mechanism; /* NULL: auto */
    double epsilon;
    uint64_t people;
    double before; /* 0: there were none */
} quantiles_cells[] = {
    {"hh", 0.2, 200, 0},         {"hh", 0.2, 10000, 47.53},
    {"hh", 0.2, 100000, 19.36},  {"hh", 1, 200, 56.38},
    {"hh", 1, 10000, 12.14},     {"hh", 1, 100000, 3.38},
    {"hh", 4, 200, 13.89},       {"hh", 4, 10000, 1.92},
    {"hh", 4, 100000, 1.31},     {"haar", 0.2, 200, 0},
    {"haar", 0.2, 10000, 44.20}, {"haar", 0.2, 100000, 17.27},
    {"haar", 1, 200, 56.51},     {"haar", 1, 10000, 11.87},
    {"haar", 1, 100000, 3.24},   {"haar", 4, 200, 33.98},
    {"haar", 4, 10000, 5.00},    {"haar", 4, 100000, 1.82},
    {NULL, 0.2, 200, 0},         {NULL, 0.2, 10000, 52.11},
    {NULL, 0.2, 100000, 24.95},  {NULL, 1, 200, 57.44},
    {NULL, 1, 10000, 16.59},     {NULL, 1, 100000, 4.96},
    {NULL, 4, 200, 15.94},       {NULL, 4, 10000, 2.25},
    {NULL, 4, 100000, 1.39},     {"sw", 0.2, 200, 0},
    {"sw", 0.2, 10000, 0},       {"sw", 0.2, 100000, 0},
    {"sw", 1, 200, 0},           {"sw", 1, 10000, 0},
    {"sw", 1, 100000, 0},        {"sw", 4, 200, 0},
    {"sw", 4, 10000, 0},         {"sw", 4, 100000, 0},
};

#define QUANTILES_CELLS (sizeof quantiles_cells / sizeof quantiles_cells[0])

/* ---- Laws ---------------------------------------------------------------- */

static double quantiles_peak(double at, double middle, double width)
{
    const double off = (at - middle) / width;

    return exp(-off * off / 2);
}

/* Ages in bins, said in tens and fives by many. */
static double quantiles_heaped(double from, double to)
{
    double sum = 0;

    for (int age = (int)(100 * from); age < (int)(100 * to + 1e-9); age++)
        sum += (age % 10 == 0  ? 8
                : age % 5 == 0 ? 4
                               : 1) *
               (quantiles_peak(age, 38, 18) + 0.02);
    return sum;
}

static double quantiles_bin(size_t law, size_t v)
{
    const double from = (double)v / QUANTILES_BINS;
    const double to = (double)(v + 1) / QUANTILES_BINS, at = (from + to) / 2;

    switch (law) {
    case 0:
        return hsy_beta_inc(2, 5, to) - hsy_beta_inc(2, 5, from);
    case 1:
        return 0.6 * quantiles_peak(at, 0.25, 0.06) +
               0.4 * quantiles_peak(at, 0.7, 0.08) + 1e-4;
    case 2:
        return quantiles_heaped(from, to);
    default:
        return v == 21 ? 0.5 : v == 22 ? 0.2 : v == 48 ? 0.3 : 0;
    }
}

static void quantiles_law(double *shares, size_t law)
{
    double sum = 0;

    for (size_t v = 0; v < QUANTILES_BINS; v++)
        sum += shares[v] = quantiles_bin(law, v);
    for (size_t v = 0; v < QUANTILES_BINS; v++)
        shares[v] /= sum;
}

static double quantiles_true(const double *shares, double q)
{
    double below = 0;

    for (size_t v = 0; v < QUANTILES_BINS; v++) {
        if (below + shares[v] >= q)
            return (double)v + (q - below) / shares[v];
        below += shares[v];
    }
    return QUANTILES_BINS;
}

/* ---- Runs ---------------------------------------------------------------- */

struct quantiles_rig {
    struct stat_run run;
    void *scratch;
    double held[2], halved, width, runs;
    double law[QUANTILES_BINS], who[QUANTILES_BINS];
};

static bool quantiles_open(struct quantiles_rig *g,
                           const struct quantiles_cell *c)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = c->mechanism,
                           .nano_epsilon = (uint64_t)(c->epsilon * 1e9),
                           .kind = HSY_KIND_BINS,
                           .d = QUANTILES_BINS,
                           .hi = QUANTILES_BINS};

    memset(g, 0, sizeof *g);
    g->run.s = stat_alloc(hsy_scheme_size(&spec));
    if (hsy_scheme_init(g->run.s, &spec, NULL) != HSY_OK)
        return false;
    stat_run_room(&g->run);
    g->scratch = stat_alloc(hsy_ranges_scratch(g->run.s));
    return true;
}

static bool quantiles_collect(struct quantiles_rig *g, uint64_t people,
                              uint64_t lane)
{
    static uint64_t codes[QUANTILES_PEOPLE];
    struct stat_coins coins;
    hsy_stream st;
    size_t at = 0;

    hsy_stream_seed(&st, stat_seed(), lane);
    hsy_multinomial_draw(g->who, g->law, QUANTILES_BINS, people, &st);
    for (size_t v = 0; v < QUANTILES_BINS; v++) {
        for (double k = 0; k < g->who[v]; k++)
            codes[at++] = v;
        g->who[v] /= (double)people;
    }
    stat_coins_open(&coins, lane + 1);
    return stat_collect(&g->run, STAT_SIMULATE, codes, people, &coins);
}

static bool quantiles_count(struct quantiles_rig *g, const hsy_ranges *r,
                            hsy_target target)
{
    const hsy_confidence how = {0.95, target, HSY_INTERVAL_AUTO, 1};

    for (size_t k = 0; k < QUANTILES_ASKED; k++) {
        const double truth = quantiles_true(
            target == HSY_PEOPLE ? g->who : g->law, quantiles_asked[k]);
        hsy_estimate est;
        double middle;

        if (hsy_quantile(r, &est, quantiles_asked[k], &how, NULL) != HSY_OK ||
            est.low > est.value || est.high < est.value)
            return false;
        middle = (est.low + est.high) / 2;
        g->held[target] += (est.low <= truth && truth <= est.high) * 0.2;
        g->halved += (fabs(truth - middle) <= (est.high - middle) / 2) * 0.1;
        g->width += (est.high - est.low) / (2 * QUANTILES_ASKED);
    }
    return true;
}

static unsigned quantiles_runs(uint64_t people)
{
    if (stat_long())
        return people > 10000 ? 400 : 2000;
    return people > 10000 ? 1 : people > 200 ? 4 : 12;
}

static bool quantiles_run(struct quantiles_rig *g,
                          const struct quantiles_cell *c, uint64_t lane)
{
    const unsigned runs = quantiles_runs(c->people);

    for (unsigned i = 0; i < runs * QUANTILES_LAWS; i++) {
        hsy_ranges r;

        quantiles_law(g->law, i % QUANTILES_LAWS);
        if (!quantiles_collect(g, c->people, lane << 32 | 4 * i) ||
            hsy_ranges_open(&r, g->run.s, &g->run.tally, g->scratch, NULL) !=
                HSY_OK ||
            !quantiles_count(g, &r, HSY_PEOPLE) ||
            !quantiles_count(g, &r, HSY_POPULATION))
            return false;
        g->runs++;
    }
    return true;
}

static double quantiles_odds(double held, double runs)
{
    return hsy_binomial_cdf((uint64_t)(held + 1e-6), (uint64_t)runs, 0.95);
}

int main(void)
{
    static struct quantiles_rig g;
    double halved = 0, runs = 0;

    for (size_t i = 0; i < QUANTILES_CELLS; i++) {
        const struct quantiles_cell *c = &quantiles_cells[i];
        const bool good =
            quantiles_open(&g, c) && quantiles_run(&g, c, 8000 + i);
        const double width = g.width / g.runs;

        ok(good && quantiles_odds(g.held[0], g.runs) > QUANTILES_ALPHA &&
               quantiles_odds(g.held[1], g.runs) > QUANTILES_ALPHA,
           "%s at epsilon %g, %llu people: %.3f and %.3f held",
           c->mechanism != NULL ? c->mechanism : "auto", c->epsilon,
           (unsigned long long)c->people, g.held[0] / g.runs,
           g.held[1] / g.runs);
        if (c->before > 0 && g.runs >= 16) /* else too few for a mean */
            ok(width < 0.9 * c->before, "%.2f bins wide, once %.2f", width,
               c->before);
        halved += g.halved;
        runs += g.runs;
        free(g.scratch);
        stat_run_close(&g.run);
    }
    ok(quantiles_odds(halved, runs) < QUANTILES_ALPHA,
       "control: half as wide they would hold %.3f", halved / runs);
    return tap_done();
}
