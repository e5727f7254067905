/*
 * pair.c - the unrelated question whose own rate of yes is not known.
 *
 * Two samples are asked the sensitive question with the chances a and b, else
 * an innocuous one. With f and t the shares of yes to the two, the rates of yes
 * are r0 = a f + (1-a) t and r1 = b f + (1-b) t, so that
 *     f = ((1-b) r0 - (1-a) r1) / (a - b),  t = (a r1 - b r0) / (a - b)
 * [GAS69]. The log-likelihood is concave in (f, t), rates being linear in them:
 * for any f the best t, and the best f, are where a derivative changes sign.
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"

#include <math.h>

#define PAIR_STEPS 1100 /* bisections end long before, where doubles meet */

static double pair_rate(const hsy_survey_pair *s, size_t i, double f, double t)
{
    return s->chance[i] * f + (1 - s->chance[i]) * t;
}

/* The log-likelihood's derivative with respect to sample i's rate. */
static double pair_slope(const hsy_survey_pair *s, size_t i, double rate)
{
    const double no = s->n[i] - s->yes[i];
    const double up = s->yes[i] > 0 ? s->yes[i] / rate : 0;

    return up - (no > 0 ? no / (1 - rate) : 0);
}

/* With respect to the sensitive share, or to the innocuous one. */
static double pair_derivative(const hsy_survey_pair *s, double f, double t,
                              bool sensitive)
{
    double sum = 0;

    for (size_t i = 0; i < 2; i++) {
        const double part = sensitive ? s->chance[i] : 1 - s->chance[i];

        if (part > 0)
            sum += part * pair_slope(s, i, pair_rate(s, i, f, t));
    }
    return sum;
}

/* The most likely innocuous share if the sensitive one is f. */
static double pair_best_other(const hsy_survey_pair *s, double f)
{
    double low = 0, high = 1;

    for (int i = 0; i < PAIR_STEPS; i++) {
        const double middle = low + (high - low) / 2;

        if (middle == low || middle == high)
            break;
        if (pair_derivative(s, f, middle, false) > 0)
            low = middle;
        else
            high = middle;
    }
    return pair_derivative(s, f, high, false) > 0 ? high : low;
}

/* The most likely sensitive share; where the innocuous one is at its best its
 * derivative is all that the profile's has. */
static double pair_best(const hsy_survey_pair *s)
{
    double low = 0, high = 1;

    for (int i = 0; i < PAIR_STEPS; i++) {
        const double middle = low + (high - low) / 2;

        if (middle == low || middle == high)
            break;
        if (pair_derivative(s, middle, pair_best_other(s, middle), true) > 0)
            low = middle;
        else
            high = middle;
    }
    return low < 1e-300 ? 0 : high;
}

/* A sample's rate of yes as a share of its own. */
static hsy_evidence pair_point(const hsy_survey_pair *s, size_t i)
{
    return (hsy_evidence){.value = s->yes[i] / s->n[i],
                          .n = s->n[i],
                          .support = s->yes[i],
                          .p = 1};
}

/* The profile, less a constant. */
static double pair_profile(const hsy_survey_pair *s, double f)
{
    const double t = pair_best_other(s, f);
    double sum = 0;

    for (size_t i = 0; i < 2; i++) {
        const hsy_evidence point = pair_point(s, i);
        double log = -HUGE_VAL;

        (void)hsy_evidence_likelihood(
            &log, &point, hsy_share_clip(pair_rate(s, i, f, t)), NULL);
        sum += log;
    }
    return sum;
}

/* From the best share towards end, as far as the profile reaches limit. */
static double pair_edge(const hsy_survey_pair *s, double best, double end,
                        double limit)
{
    if (pair_profile(s, end) >= limit)
        return end;
    for (int i = 0; i < PAIR_STEPS; i++) {
        const double middle = best + (end - best) / 2;

        if (middle == best || middle == end)
            break;
        if (pair_profile(s, middle) >= limit)
            best = middle;
        else
            end = middle;
    }
    return best;
}

/* ---- Ends from those of the two rates ------------------------------------ */

struct pair_law {
    double c[2];    /* f = c[0] r[0] + c[1] r[1] */
    double rate[2]; /* as answered */
};

static struct pair_law pair_law_of(const hsy_survey_pair *s)
{
    const double gap = s->chance[0] - s->chance[1];

    return (struct pair_law){
        {(1 - s->chance[1]) / gap, -(1 - s->chance[0]) / gap},
        {s->yes[0] / s->n[0], s->yes[1] / s->n[1]}};
}

/* Both rates' intervals: their distances in squares [Newcombe98, method 10], or
 * as a box, which holds f whenever both hold. */
static void pair_ends(double ends[2], const hsy_survey_pair *s,
                      const struct pair_law *law, hsy_interval interval,
                      double miss)
{
    const bool box = interval == HSY_EXACT;
    double value = 0, below = 0, above = 0;

    for (size_t i = 0; i < 2; i++) {
        const hsy_evidence point = pair_point(s, i);
        const double c = law->c[i], middle = c * law->rate[i];
        double rates[2], down, up;

        hsy_interval_of(rates, &point, interval, HSY_POPULATION, miss);
        down = middle - fmin(c * rates[0], c * rates[1]);
        up = fmax(c * rates[0], c * rates[1]) - middle;
        value += middle;
        below = box ? below + down : hypot(below, down);
        above = box ? above + up : hypot(above, up);
    }
    ends[0] = hsy_share_clip(value - below);
    ends[1] = hsy_share_clip(value + above);
}

static double pair_sd(const hsy_survey_pair *s, const struct pair_law *law)
{
    double sum = 0;

    for (size_t i = 0; i < 2; i++)
        sum +=
            law->c[i] * law->c[i] * law->rate[i] * (1 - law->rate[i]) / s->n[i];
    return sqrt(sum);
}

/* ---- All of it ----------------------------------------------------------- */

static hsy_status pair_check(const hsy_survey_pair *s, double level,
                             hsy_error *err)
{
    if (!(level > 0 && level < 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_LEVEL,
                        "must lie strictly between 0 and 1");
    for (size_t i = 0; i < 2; i++) {
        if (!(s->chance[i] >= 0 && s->chance[i] <= 1))
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                            "a probability lies from 0 to 1");
        if (s->n[i] == 0)
            return hsy_fail_at(err, HSY_E_EMPTY, HSY_FIELD_N,
                               "nobody answered in a sample", HSY_UNIT_SAMPLE,
                               i + 1);
        if (!(s->n[i] > 0 && isfinite(s->n[i]) && s->yes[i] >= 0 &&
              s->yes[i] <= s->n[i]))
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_YES,
                               "must lie between 0 and the number of answers",
                               HSY_UNIT_SAMPLE, i + 1);
    }
    if (!(fabs(s->chance[0] - s->chance[1]) >= 1e-8))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        "both samples are asked alike: no information");
    return HSY_OK;
}

static void pair_wald(hsy_survey_result *r, const hsy_survey_pair *s, double z)
{
    const bool few = fmin(s->n[0], s->n[1]) < HSY_WALD_MIN;

    r->wald[0] = few ? NAN : hsy_share_clip(r->value - z * r->sd);
    r->wald[1] = few ? NAN : hsy_share_clip(r->value + z * r->sd);
}

static void pair_likely(hsy_survey_result *r, const hsy_survey_pair *s,
                        double z)
{
    const bool inside =
        r->value >= 0 && r->value <= 1 && r->other >= 0 && r->other <= 1;
    double limit;

    r->mle = inside ? r->value : pair_best(s);
    r->other_mle = inside ? r->other : pair_best_other(s, r->mle);
    limit = pair_profile(s, r->mle) - z * z / 2;
    r->likelihood[0] = pair_edge(s, r->mle, 0, limit);
    r->likelihood[1] = pair_edge(s, r->mle, 1, limit);
}

hsy_status hsy_survey_pair_estimate(const hsy_survey_pair *s,
                                    hsy_survey_result *out, double level,
                                    hsy_error *err)
{
    const double z = -hsy_normal_quantile((1 - level) / 2);
    const double gap = s->chance[0] - s->chance[1];
    hsy_survey_result r = {0};
    struct pair_law law;
    hsy_status st = pair_check(s, level, err);

    if (st != HSY_OK)
        return st;
    law = pair_law_of(s);
    r.value = law.c[0] * law.rate[0] + law.c[1] * law.rate[1];
    r.other = (s->chance[0] * law.rate[1] - s->chance[1] * law.rate[0]) / gap;
    r.sd = pair_sd(s, &law);
    pair_wald(&r, s, z);
    pair_ends(r.wilson, s, &law, HSY_WILSON, 1 - level);
    pair_ends(r.exact, s, &law, HSY_EXACT, (1 - level) / 2);
    pair_likely(&r, s, z);
    *out = r;
    return HSY_OK;
}
