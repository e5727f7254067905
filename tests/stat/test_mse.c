/*
 * test_mse.c - the error of estimates is what their variance says.
 *
 * n times the mean squared error, over the variance that each point states, is
 * 1, with half of the people in one value. (test_grid.c has even shares, many
 * sizes, and formulas of its own.) One run gives a mean of squares over all
 * values; runs are independent, so their spread gives the standard error of the
 * whole, which must be at most what is stated below; the ratio must be 1 within
 * 5 of those stated (6e-7, two-sided, by the central limit theorem).
 *
 * For local hashing with flat shares the theory itself is near only: at 4096
 * seeds it says up to 1 % too much. There the standard error is half as large,
 * so that the other 1 % are 5 of them again.
 */
#include "rig/stat.h"

#define MSE_PEOPLE 3000u
#define MSE_SINGLE 200u /* where there is one estimate, and many runs */
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
};

#define MSE_ERRORS 5
#define MSE_CONTROL 11 /* errors: an excess of so many would be noticed */

/* 1.5 % in ./check; 0.4 % at epsilon 1 in a long run. */
static const struct mse_bar mse_short[] = {{0.5, 16000, 0.015},
                                           {1, 16000, 0.015},
                                           {2, 16000, 0.015},
                                           {4, 16000, 0.015}};
static const struct mse_bar mse_long[] = {{0.5, 16000, 0.015},
                                          {1, 180000, 0.004},
                                          {2, 16000, 0.015},
                                          {4, 16000, 0.015}};

static size_t mse_count(const struct stat_run *r)
{
    return r->npoints == 1 ? MSE_SINGLE : MSE_PEOPLE;
}

/*
 * Half of the people hold value 0, the rest are spread over the others.
 * Numbers are all alike where a report is one bit: then stochastic rounding
 * adds what it can, which is what such a report has to assume. Longer ones
 * show how far numbers lie from the ends: half are alike, the rest at an end.
 * Local hashing subtracts the collisions of heavy values and states less
 * variance for it; flat people have no heavy values.
 */
static void mse_people(uint64_t *codes, const struct stat_run *r, bool flat)
{
    for (size_t i = 0; i < mse_count(r); i++) {
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
    double shares[MSE_FLAT], sum = 0;
    struct stat_coins coins;

    mse_people(codes, r, flat);
    mse_shares(shares, r, codes);
    stat_coins_open(&coins, lane);
    if (!stat_collect(r, STAT_SIMULATE, codes, mse_count(r), &coins))
        return false;
    for (size_t v = 0; v < r->npoints; v++) {
        double error = r->points[v].value - shares[v];

        sum += error * error / stat_variance(&r->points[v], shares[v]);
    }
    *ratio = sum / (double)r->npoints;
    return true;
}

/* A scheme with a pool of its own; those of one estimate have none. */
static bool mse_open(struct stat_run *r, const struct stat_ask *ask)
{
    if (r->s != NULL && r->npoints == 1)
        return true;
    stat_run_close(r);
    memset(r, 0, sizeof *r);
    r->s = stat_scheme(ask);
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
        struct stat_ask ask = *first;
        double ratio = 0;

        ask.pool_seed = lane << 32 | i;
        result.answered =
            mse_open(&r, &ask) && mse_run(&ratio, &r, flat, lane << 20 | i);
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
    const double allowed = MSE_ERRORS * bar->error;
    const double control = MSE_CONTROL * bar->error;
    const struct mse_result r =
        mse_runs(&ask, flat, bar->squares * more / (unsigned)points, lane);

    ok(r.answered && r.error * sqrt(more) <= bar->error &&
           fabs(r.mean - 1) <= allowed,
       "%s at epsilon %g, %s: n MSE over theory is 1 within %g %% (%.4f, se "
       "%.4f)",
       name, bar->epsilon,
       flat ? "flat shares" : "half of the people in one value", 100 * allowed,
       r.mean, r.error);
    ok(fabs(r.mean / (1 + control) - 1) > allowed,
       "control: a theory %g %% higher would be noticed", 100 * control);
}

static void mse_mechanism(const char *name, const struct mse_bar *bar,
                          uint64_t lane)
{
    const struct stat_ask ask = {name, MSE_VALUES, bar->epsilon, 12, 0};
    hsy_scheme *s = stat_scheme(&ask);
    hsy_scheme_info info;

    if (!ok(s != NULL, "%s at epsilon %g is a scheme", name, bar->epsilon))
        return;
    hsy_scheme_describe(s, &info);
    free(s);
    if (info.iterative)
        return; /* it states no variance: test_density.c */
    mse_agrees(name, bar, false, stat_points(&info), lane);
    if (info.param[HSY_PARAM_POOL_BITS] != 0)
        mse_agrees(name, bar, true, MSE_FLAT, lane + 1000);
}

/* Of one mechanism, if it is named. */
int main(int argc, char **argv)
{
    const struct mse_bar *bars = stat_long() ? mse_long : mse_short;
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (size_t e = 0; e < 4 && stat_pointed(row->name) &&
                           (argc < 2 || strcmp(argv[1], row->name) == 0);
             e++)
            mse_mechanism(row->name, &bars[e], 100 + 4 * i + e);
    return tap_done();
}
