/* need.c - before a survey: answers needed, and how often an interval
 * holds. */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"
#include "lib/special/special.h"

#include <math.h>

#define NEED_REACH 9.0   /* standard deviations: 1e-18 lies beyond */
#define NEED_SLACK 1e-12 /* of an end that was mapped */

static bool need_share(double x)
{
    return x >= 0 && x <= 1;
}

static bool need_chance(double x)
{
    return x > 0 && x < 1;
}

/* The variance of one answer if share is true, as it tells of the share. */
static double need_variance(const hsy_survey *s, double share)
{
    const double rate = hsy_survey_rate(s, share), gap = hsy_survey_gap(s);

    return rate * (1 - rate) / (gap * gap);
}

static hsy_status need_whole(double *n, double x, hsy_error *err)
{
    if (!(x <= 0x1p53))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_N, "more than 2^53 people");
    *n = fmax(ceil(x * (1 - 1e-14)), 1);
    return HSY_OK;
}

hsy_status hsy_survey_need(const hsy_survey *s, double *n, double share,
                           double margin, double level, hsy_error *err)
{
    const double z = -hsy_normal_quantile((1 - level) / 2);

    if (!need_share(share))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SHARE, "lies from 0 to 1");
    if (!need_chance(margin))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_MARGIN,
                        "lies between 0 and 1");
    if (!need_chance(level))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_LEVEL,
                        "lies between 0 and 1");
    return need_whole(n, z * z * need_variance(s, share) / (margin * margin),
                      err);
}

/* The z test of two rates: its error is that of the mean rate if they are
 * equal, and their own if not. */
hsy_status hsy_survey_need_groups(const hsy_survey *s, double *n,
                                  const double shares[2], double level,
                                  double power, hsy_error *err)
{
    const double a = shares[0], b = shares[1];
    const double miss = -hsy_normal_quantile((1 - level) / 2);
    const double find = hsy_normal_quantile(power);
    double root;

    if (!need_share(a) || !need_share(b) || a == b)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SHARES,
                        "two different ones from 0 to 1");
    if (!need_chance(level) || !need_chance(power))
        return hsy_fail(err, HSY_E_RANGE,
                        need_chance(level) ? HSY_FIELD_POWER : HSY_FIELD_LEVEL,
                        "lies between 0 and 1");
    root = miss * sqrt(2 * need_variance(s, (a + b) / 2)) +
           find * sqrt(need_variance(s, a) + need_variance(s, b));
    return need_whole(n, root <= 0 ? 1 : root * root / ((a - b) * (a - b)),
                      err);
}

/* Each sample counts with |c| sd of its rate: divided in that proportion the
 * fewest people do [GAS69]. */
hsy_status hsy_survey_pair_need(double n[2], const double chance[2],
                                const double shares[2], double margin,
                                double level, hsy_error *err)
{
    const double z = -hsy_normal_quantile((1 - level) / 2);
    const double gap = chance[0] - chance[1];
    double part[2], sum;
    hsy_status st = HSY_OK;

    if (!need_share(chance[0]) || !need_share(chance[1]) ||
        !(fabs(gap) >= 1e-8))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        "both samples are asked alike: no information");
    if (!need_share(shares[0]) || !need_share(shares[1]))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SHARE, "lies from 0 to 1");
    if (!need_chance(margin) || !need_chance(level))
        return hsy_fail(err, HSY_E_RANGE,
                        need_chance(level) ? HSY_FIELD_MARGIN : HSY_FIELD_LEVEL,
                        "lies between 0 and 1");
    for (size_t i = 0; i < 2; i++) {
        const double rate = chance[i] * shares[0] + (1 - chance[i]) * shares[1];

        part[i] = fabs((1 - chance[1 - i]) / gap) * sqrt(rate * (1 - rate));
    }
    sum = part[0] + part[1];
    for (size_t i = 0; i < 2 && st == HSY_OK; i++)
        st = need_whole(&n[i], z * z * part[i] * sum / (margin * margin), err);
    return st;
}

static hsy_status need_coverage_check(uint64_t n, double share,
                                      hsy_interval interval, hsy_error *err)
{
    if (n < 1 || n > HSY_SURVEY_COVERAGE_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_N,
                              "from 1 to a limit", HSY_SURVEY_COVERAGE_MAX);
    if (!need_share(share))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_SHARE, "lies from 0 to 1");
    if (interval == HSY_WALD && n < HSY_WALD_MIN)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_INTERVAL,
                              "the Wald interval needs more answers",
                              HSY_WALD_MIN);
    return HSY_OK;
}

hsy_status hsy_survey_coverage(const hsy_survey *s, double *out, uint64_t n,
                               double share, const hsy_confidence *how,
                               hsy_error *err)
{
    const hsy_confidence each = {how->level, HSY_POPULATION, how->interval, 1};
    const double all = (double)n, rate = hsy_survey_rate(s, share);
    const double reach = NEED_REACH * (sqrt(all * rate * (1 - rate)) + 4);
    const double last = fmin(all, ceil(all * rate + reach));
    hsy_status st = need_coverage_check(n, share, how->interval, err);
    double held = 0;

    for (double y = fmax(0, floor(all * rate - reach));
         y <= last && st == HSY_OK; y++) {
        hsy_estimate est;
        hsy_evidence point;

        st = hsy_survey_point(s, &point, y, all, err);
        if (st == HSY_OK)
            st = hsy_estimate_point(&est, &point, &each, err);
        if (st == HSY_OK && hsy_share_clip(est.low) <= share + NEED_SLACK &&
            share <= hsy_share_clip(est.high) + NEED_SLACK)
            held += exp(hsy_special_binomial_log(y, all, rate));
    }
    if (st == HSY_OK)
        *out = fmin(held, 1);
    return st;
}
