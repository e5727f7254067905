/*
 * test_mse.c - the error of estimates is what their variance says.
 *
 * n times the mean squared error, over its theory, is 1. One run gives a mean
 * of squares over all values; runs are independent, so their spread gives the
 * standard error of the whole, and 4.5 of them are allowed (7e-6, two-sided,
 * by the central limit theorem).
 */
#include "stat.h"

#define MSE_RUNS 500u
#define MSE_PEOPLE 3000u
#define MSE_VALUES 24u
#define MSE_FLAT 100u /* values of equal share, for local hashing */
#define MSE_SIGMAS 4.5
#define MSE_TIGHT 0.03 /* the standard error must be below this */

/*
 * Half of the people hold value 0, the rest are spread over the others. A
 * number is the same for all: then stochastic rounding adds what it can.
 * Local hashing subtracts the collisions of heavy values and states less
 * variance for it; flat people have no heavy values.
 */
static void mse_people(uint64_t *codes, const struct stat_run *r, bool flat)
{
    for (size_t i = 0; i < MSE_PEOPLE; i++) {
        if (r->npoints > 1)
            codes[i] = flat         ? i % r->npoints
                       : i % 2 == 0 ? 0
                                    : 1 + i % (r->npoints - 1);
        else if (r->info.kind == HSY_KIND_NUMBER)
            codes[i] = STAT_RANGE / 4;
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

/* One collection, with a pool of its own: mean of squared error over theory. */
static bool mse_run(double *ratio, const struct stat_ask *ask, bool flat,
                    uint64_t lane)
{
    static uint64_t codes[MSE_PEOPLE];
    double shares[MSE_FLAT], sum = 0;
    struct stat_coins coins;
    struct stat_run r;

    memset(&r, 0, sizeof r);
    r.s = stat_scheme(ask);
    if (r.s == NULL)
        return false;
    stat_run_room(&r);
    mse_people(codes, &r, flat);
    mse_shares(shares, &r, codes);
    stat_coins_open(&coins, lane);
    if (!stat_collect(&r, STAT_SIMULATE, codes, MSE_PEOPLE, &coins)) {
        stat_run_close(&r);
        return false;
    }
    for (size_t v = 0; v < r.npoints; v++) {
        double error = r.points[v].value - shares[v];

        sum += error * error / stat_variance(&r.points[v], shares[v]);
    }
    *ratio = sum / (double)r.npoints;
    stat_run_close(&r);
    return true;
}

struct mse_result {
    double mean, error;
    bool answered;
};

/* The mean ratio over runs, and its standard error. */
static struct mse_result mse_runs(const char *name, double epsilon, bool flat,
                                  unsigned runs, uint64_t lane)
{
    double sum = 0, squares = 0;
    struct mse_result result = {0, 0, true};

    for (unsigned i = 0; i < runs && result.answered; i++) {
        const struct stat_ask ask = {name, flat ? MSE_FLAT : MSE_VALUES,
                                     epsilon, 12, lane << 32 | i};
        double ratio = 0;

        result.answered = mse_run(&ratio, &ask, flat, lane << 20 | i);
        sum += ratio;
        squares += ratio * ratio;
    }
    result.mean = sum / runs;
    result.error = sqrt((squares / runs - result.mean * result.mean) / runs);
    return result;
}

static void mse_agrees(const struct mse_result *r, const char *name,
                       double epsilon, const char *people)
{
    ok(r->answered && fabs(r->mean - 1) <= MSE_SIGMAS * r->error,
       "%s at epsilon %g, %s: n MSE over theory is 1 (%.4f, se %.4f)", name,
       epsilon, people, r->mean, r->error);
    ok(r->error <= MSE_TIGHT && fabs(r->mean - 1.15) > MSE_SIGMAS * r->error,
       "control: 15 %% more would be noticed");
}

static void mse_mechanism(const char *name, double epsilon, uint64_t lane)
{
    const struct stat_ask ask = {name, MSE_VALUES, epsilon, 12, 0};
    hsy_scheme *s = stat_scheme(&ask);
    struct mse_result r;
    hsy_info info;

    if (!ok(s != NULL, "%s at epsilon %g is a scheme", name, epsilon))
        return;
    hsy_scheme_info(s, &info);
    free(s);
    /* More runs where a run gives one square only. */
    r = mse_runs(name, epsilon, false,
                 stat_points(&info) > 1 ? MSE_RUNS : 10 * MSE_RUNS, lane);
    mse_agrees(&r, name, epsilon, "half of the people in one value");
    if (info.param[HSY_PARAM_POOL_BITS] == 0)
        return;
    r = mse_runs(name, epsilon, true, MSE_RUNS, lane + 1000);
    mse_agrees(&r, name, epsilon, "flat shares");
}

int main(void)
{
    static const double epsilons[] = {0.5, 1, 2, 4};
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (size_t e = 0; e < 4; e++)
            mse_mechanism(row->name, epsilons[e], 100 + 4 * i + e);
    return tap_done();
}
