/*
 * states.c - answers through any channel H, P(y | x) = H[y][x]: shares,
 * covariances, and the most likely shares (theory 1.1).
 *
 * lambda = H pi, so pi = H^-1 lambda, and for a sample of people
 *     n Cov[pi] = H^-1 (diag(lambda) - lambda lambda^T) H^-T.
 */
#include "lib/core/fail.h"
#include "lib/mech/matrix.h"

#include <math.h>
#include <string.h>

#define STATES_STEPS 200000 /* of the climb at most */
#define STATES_CLOSE 1e-12  /* of the log-likelihood per answer */
#define STATES_OFF 1e-9     /* how far a column's sum may be from 1 */

static hsy_status states_check(const double *h, size_t d, hsy_error *err)
{
    if (d < 2 || d > HSY_MATRIX_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                              "has from 2 states to a limit", HSY_MATRIX_MAX);
    for (size_t x = 0; x < d; x++) {
        double sum = 0;

        for (size_t y = 0; y < d; y++) {
            if (!(h[y * d + x] >= 0))
                return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                                   "has a probability below 0", HSY_UNIT_COLUMN,
                                   x + 1);
            sum += h[y * d + x];
        }
        if (!(fabs(sum - 1) <= STATES_OFF))
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                               "does not add up to 1", HSY_UNIT_COLUMN, x + 1);
    }
    return HSY_OK;
}

hsy_status hsy_survey_invert(double *inverse, double *condition,
                             const double *h, size_t d, hsy_error *err)
{
    double room[HSY_MATRIX_MAX * HSY_MATRIX_MAX];
    double result[HSY_MATRIX_MAX * HSY_MATRIX_MAX];
    hsy_status st = states_check(h, d, err);

    if (st != HSY_OK)
        return st;
    memcpy(room, h, d * d * sizeof *h);
    if (!hsy_matrix_invert(result, room, d))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                        "it is singular: some mixtures of truths are answered "
                        "alike, and no number of answers tells them apart");
    if (!(hsy_matrix_condition(result, d) <= MATRIX_WORST_CONDITION))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                        "it is as good as singular: its condition number is "
                        "above 1e8");
    memcpy(inverse, result, d * d * sizeof *result);
    *condition = hsy_matrix_condition(result, d);
    return HSY_OK;
}

double hsy_survey_states_epsilon(const double *h, size_t d)
{
    double worst = 0;

    for (size_t y = 0; y < d; y++) {
        double least = h[y * d], most = h[y * d];

        for (size_t x = 1; x < d; x++) {
            least = fmin(least, h[y * d + x]);
            most = fmax(most, h[y * d + x]);
        }
        if (most > 0) /* an answer that nobody gives tells nothing */
            worst = fmax(worst, least > 0 ? log(most / least) : HUGE_VAL);
    }
    return worst;
}

/* ---- The most likely shares ---------------------------------------------- */

/* What a little more of x adds to the log-likelihood per answer. At the top it
 * is at most 1 for every x, and by concavity no shares are better than these by
 * more than the largest, less 1. */
static double states_gains(double *gain, const double *share, const double *h,
                           const double *rate, size_t d)
{
    double most = 0, ratio[HSY_MATRIX_MAX];

    for (size_t y = 0; y < d; y++) {
        double image = 0;

        for (size_t x = 0; x < d; x++)
            image += h[y * d + x] * share[x];
        ratio[y] = rate[y] > 0 ? rate[y] / image : 0;
    }
    for (size_t x = 0; x < d; x++) {
        gain[x] = 0;
        for (size_t y = 0; y < d; y++)
            gain[x] += h[y * d + x] * ratio[y];
        most = fmax(most, gain[x]);
    }
    return most - 1;
}

/* Expectation and maximization from equal shares; false if it does not get
 * there. */
static bool states_climb(double *share, const double *h, const double *rate,
                         size_t d)
{
    double gain[HSY_MATRIX_MAX];

    for (size_t x = 0; x < d; x++)
        share[x] = 1 / (double)d;
    for (int step = 0; step < STATES_STEPS; step++) {
        if (states_gains(gain, share, h, rate, d) <= STATES_CLOSE)
            return true;
        for (size_t x = 0; x < d; x++)
            share[x] *= gain[x];
    }
    return false;
}

/* Shares within [0, 1] are the most likely already: H takes them to the rates
 * themselves. */
static bool states_likely(double *mle, const double *share, const double *h,
                          const double *rate, size_t d)
{
    for (size_t x = 0; x < d; x++)
        if (share[x] < 0)
            return states_climb(mle, h, rate, d);
    memcpy(mle, share, d * sizeof *mle);
    return true;
}

/* ---- Shares and covariances ---------------------------------------------- */

static void states_covariance(double *out, const double *share,
                              const double *inverse, const double *rate,
                              double n, size_t d)
{
    for (size_t v = 0; v < d; v++)
        for (size_t w = 0; w < d; w++) {
            double sum = 0;

            for (size_t y = 0; y < d; y++)
                sum += inverse[v * d + y] * rate[y] *
                       (inverse[w * d + y] - share[w]);
            out[v * d + w] = sum / n;
        }
}

static hsy_status states_count(double *n, const double *counts, size_t d,
                               hsy_error *err)
{
    double sum = 0;

    for (size_t y = 0; y < d; y++) {
        if (!(counts[y] >= 0 && isfinite(counts[y])))
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_COUNTS,
                               "must be finite and not negative",
                               HSY_UNIT_VALUE, y + 1);
        sum += counts[y];
    }
    *n = sum;
    return sum > 0 ? HSY_OK
                   : hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_COUNTS,
                              "nobody answered");
}

hsy_status hsy_survey_states(hsy_survey_shares *out, const double *h,
                             const double *counts, size_t d, hsy_error *err)
{
    double inverse[HSY_MATRIX_MAX * HSY_MATRIX_MAX];
    double rate[HSY_MATRIX_MAX], n = 0, condition;
    hsy_status st = hsy_survey_invert(inverse, &condition, h, d, err);

    if (st == HSY_OK)
        st = states_count(&n, counts, d, err);
    if (st != HSY_OK)
        return st;
    for (size_t y = 0; y < d; y++)
        rate[y] = counts[y] / n;
    for (size_t v = 0; v < d; v++) {
        out->share[v] = 0;
        for (size_t y = 0; y < d; y++)
            out->share[v] += inverse[v * d + y] * rate[y];
    }
    states_covariance(out->covariance, out->share, inverse, rate, n, d);
    out->likely = states_likely(out->mle, out->share, h, rate, d);
    return HSY_OK;
}
