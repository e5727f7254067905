/*
 * test_mse.c - the error of estimates is what their variance says.
 *
 * n times the mean squared error, over its theory, is 1. One run gives a mean
 * of squares over all values; runs are independent, so their spread gives the
 * standard error of the whole. At epsilon 1 the ratio must be 1 within 2 %,
 * elsewhere within 7.5 %: 5 standard errors (6e-7, two-sided, by the central
 * limit theorem).
 *
 * For local hashing with flat shares the theory itself is near only: at 4096
 * seeds it says up to 1 % too much. There the standard error is half as large,
 * so that the other 1 % are 5 of them again.
 */
#include "stat.h"

#define MSE_PEOPLE 3000u
#define MSE_FEW 400u /* where a run gives one square, there are many runs */
#define MSE_VALUES 24u
#define MSE_FLAT 100u    /* values of equal share, for local hashing */
#define MSE_FLAT_MORE 4u /* times as many squares there */

/* How closely an epsilon is looked at. A mean of m independent squares over
 * their variance has the standard error sqrt(2/m); values of one run are not
 * quite independent, so there are more. */
struct mse_bar {
    double epsilon;
    unsigned squares; /* over all runs */
    double error;     /* the standard error may be so much */
    double allowed;   /* 5 such errors */
    double control;   /* an excess that would be noticed */
};

static const struct mse_bar mse_bars[] = {{0.5, 14000, 0.015, 0.075, 0.16},
                                          {1, 180000, 0.004, 0.02, 0.05},
                                          {2, 14000, 0.015, 0.075, 0.16},
                                          {4, 14000, 0.015, 0.075, 0.16}};

/*
 * Half of the people hold value 0, the rest are spread over the others.
 * Numbers are all alike where a report is one bit: then stochastic rounding
 * adds what it can, which is what such a report has to assume. Longer ones
 * show how far numbers lie from the ends: half are alike, the rest at an end.
 * Local hashing subtracts the collisions of heavy values and states less
 * variance for it; flat people have no heavy values.
 */
static size_t mse_people(uint64_t *codes, const struct stat_run *r, bool flat)
{
    const size_t n = r->npoints > 1 ? MSE_PEOPLE : MSE_FEW;

    for (size_t i = 0; i < n; i++) {
        if (r->npoints > 1)
            codes[i] = flat         ? i % r->npoints
                       : i % 2 == 0 ? 0
                                    : 1 + i % (r->npoints - 1);
        else if (r->info.kind == HSY_KIND_NUMBER)
            codes[i] = r->info.report_bits == 1 || i % 2 == 0 ? STAT_RANGE / 4
                       : i % 8 == 1                           ? STAT_RANGE
                                                              : 0;
        else
            codes[i] = i % 4 == 0;
    }
    return n;
}

static void mse_shares(double *shares, const struct stat_run *r,
                       const uint64_t *codes)
{
    memset(shares, 0, MSE_FLAT * sizeof *shares);
    if (r->npoints == 1) {
        shares[0] = 0.25;
        return;
    }
    for (size_t i = 0; i < MSE_PEOPLE; i++)
        shares[codes[i]] += 1.0 / MSE_PEOPLE;
}

/* One collection: mean of squared error over theory. */
static bool mse_run(double *ratio, struct stat_run *r, bool flat, uint64_t lane)
{
    static uint64_t codes[MSE_PEOPLE];
    const size_t n = mse_people(codes, r, flat);
    double shares[MSE_FLAT], sum = 0;
    struct stat_coins coins;

    mse_shares(shares, r, codes);
    stat_coins_open(&coins, lane);
    if (!stat_collect(r, STAT_SIMULATE, codes, n, &coins))
        return false;
    for (size_t v = 0; v < r->npoints; v++) {
        double error = r->points[v].value - shares[v];

        sum += error * error / stat_variance(&r->points[v], shares[v]);
    }
    *ratio = sum / (double)r->npoints;
    return true;
}

/* The scheme of run i: one with a pool has a new pool in each. */
static bool mse_open(struct stat_run *r, const struct stat_ask *first,
                     uint64_t lane, unsigned i)
{
    struct stat_ask ask = *first;

    if (r->s != NULL && r->info.param[HSY_PARAM_POOL_BITS] == 0)
        return true;
    stat_run_close(r);
    memset(r, 0, sizeof *r);
    ask.pool_seed = lane << 32 | i;
    r->s = stat_scheme(&ask);
    if (r->s != NULL)
        stat_run_room(r);
    return r->s != NULL;
}

struct mse_result {
    double mean, error;
    bool answered;
};

/* The mean ratio over runs, and its standard error. */
static struct mse_result mse_runs(const struct stat_ask *first, bool flat,
                                  unsigned runs, uint64_t lane)
{
    double sum = 0, squares = 0;
    struct mse_result result = {0, 0, true};
    struct stat_run r = {0};

    for (unsigned i = 0; i < runs && result.answered; i++) {
        double ratio = 0;

        result.answered = mse_open(&r, first, lane, i) &&
                          mse_run(&ratio, &r, flat, lane << 20 | i);
        sum += ratio;
        squares += ratio * ratio;
    }
    stat_run_close(&r);
    result.mean = sum / runs;
    result.error = sqrt((squares / runs - result.mean * result.mean) / runs);
    return result;
}

static void mse_agrees(const char *name, const struct mse_bar *bar, bool flat,
                       size_t points, uint64_t lane)
{
    const struct stat_ask ask = {name, flat ? MSE_FLAT : MSE_VALUES,
                                 bar->epsilon, 12, 0};
    const unsigned more = flat ? MSE_FLAT_MORE : 1;
    const struct mse_result r =
        mse_runs(&ask, flat, bar->squares * more / (unsigned)points, lane);

    ok(r.answered && r.error * sqrt(more) <= bar->error &&
           fabs(r.mean - 1) <= bar->allowed,
       "%s at epsilon %g, %s: n MSE over theory is 1 within %g %% (%.4f, se "
       "%.4f)",
       name, bar->epsilon,
       flat ? "flat shares" : "half of the people in one value",
       100 * bar->allowed, r.mean, r.error);
    ok(fabs(r.mean / (1 + bar->control) - 1) > bar->allowed,
       "control: a theory %g %% higher would be noticed", 100 * bar->control);
}

static void mse_mechanism(const char *name, const struct mse_bar *bar,
                          uint64_t lane)
{
    const struct stat_ask ask = {name, MSE_VALUES, bar->epsilon, 12, 0};
    hsy_scheme *s = stat_scheme(&ask);
    hsy_info info;

    if (!ok(s != NULL, "%s at epsilon %g is a scheme", name, bar->epsilon))
        return;
    hsy_scheme_info(s, &info);
    free(s);
    if (info.iterative)
        return; /* it states no variance: test_density.c */
    mse_agrees(name, bar, false, stat_points(&info), lane);
    if (info.param[HSY_PARAM_POOL_BITS] != 0)
        mse_agrees(name, bar, true, MSE_FLAT, lane + 1000);
}

int main(void)
{
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (size_t e = 0;
             e < sizeof mse_bars / sizeof *mse_bars && stat_pointed(row->name);
             e++)
            mse_mechanism(row->name, &mse_bars[e], 100 + 4 * i + e);
    return tap_done();
}
