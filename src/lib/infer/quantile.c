/*
 * quantile.c - where a share of all lies below: the CDF of bins made monotone,
 * and its band [Woodruff52].
 *
 * The bounds of the CDF at its edges make two lines, which noise lets rise and
 * fall. The CDF does not fall, so each line may be made monotone, like the CDF
 * itself by the mean of its running maximum from the left and its running
 * minimum from the right; the true quantile lies, but for the chance of the
 * bounds, between where the upper line reaches q and where the lower one does.
 * Lines are straight within a bin, as the CDF is if people are spread evenly
 * there.
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"
#include "lib/infer/ranges.h"

#include <math.h>

/* Into above: the least of line[i] from each edge on. */
static void quantile_least(double *above, const double *line, size_t d)
{
    above[d] = line[d];
    for (size_t i = d; i-- > 0;)
        above[i] = fmin(line[i], above[i + 1]);
}

/* The first place where a line reaches q, made monotone, straight between its
 * edges; above as by quantile_least. */
static double quantile_reach(const double *line, const double *above, size_t d,
                             double q)
{
    double most = line[0], below = (most + above[0]) / 2;

    if (below >= q)
        return 0;
    for (size_t i = 1; i <= d; i++) {
        double here;

        most = fmax(most, line[i]);
        here = (most + above[i]) / 2;
        if (here >= q)
            return (double)(i - 1) + (q - below) / (here - below);
        below = here;
    }
    return (double)d;
}

static hsy_status quantile_check(const hsy_ranges *r, double q,
                                 const hsy_confidence *how, hsy_error *err)
{
    hsy_evidence point = {.n = r->n};
    hsy_status st = hsy_confidence_check(how, err);

    if (st != HSY_OK)
        return st;
    if (!(q > 0 && q < 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_QUANTILE,
                        "must lie strictly between 0 and 1");
    if (how->interval != HSY_WALD && how->interval != HSY_SCORE &&
        how->interval != HSY_WILSON && how->interval != HSY_INTERVAL_AUTO)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_INTERVAL,
                        "a quantile's is normal: wald or score");
    return hsy_interval_check(&point, how->interval, err);
}

hsy_status hsy_quantile(const hsy_ranges *r, hsy_estimate *est, double q,
                        const hsy_confidence *how, hsy_error *err)
{
    hsy_status st = quantile_check(r, q, how, err);
    double z;

    if (st != HSY_OK)
        return st;
    z = -hsy_normal_quantile(hsy_confidence_miss(how) / 2);
    hsy_ranges_lines(r, q, z, how->target);
    est->value = quantile_reach(r->cdf, r->least, r->d, q);
    quantile_least(r->above, r->high, r->d);
    est->low = fmin(est->value, quantile_reach(r->high, r->above, r->d, q));
    quantile_least(r->above, r->low, r->d);
    est->high = fmax(est->value, quantile_reach(r->low, r->above, r->d, q));
    est->sd = (est->high - est->low) / (2 * z);
    return HSY_OK;
}
