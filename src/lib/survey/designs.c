/*
 * designs.c - interview surveys by randomized response: designs and evidence.
 *
 * Every design with one sample is a channel of two numbers, P(yes | yes) = p
 * and P(yes | no) = q; the share f of yes makes the answer yes with the rate
 * q + f (p - q), and all else follows from that [Warner65]. Complements are
 * kept beside p and q: of epsilon 30 nothing would be left of 1 - p.
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"

#include <math.h>

#define SURVEY_LEAST_GAP 1e-8 /* as for a matrix: a condition of 1e8 */

/* Asked for the truth with chance t, else made to say yes with chance r. */
static void survey_mix(hsy_survey *s, double t, double r)
{
    *s = (hsy_survey){.p = t + (1 - t) * r,
                      .not_p = (1 - t) * (1 - r),
                      .q = (1 - t) * r,
                      .not_q = t + (1 - t) * (1 - r)};
}

static hsy_status survey_check(const hsy_survey *s, hsy_error *err)
{
    const double chances[] = {s->p, s->not_p, s->q, s->not_q};

    for (size_t i = 0; i < sizeof chances / sizeof chances[0]; i++)
        if (!(chances[i] >= 0 && chances[i] <= 1))
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                            "a probability lies from 0 to 1");
    if (fabs(s->p + s->not_p - 1) > 1e-12 || fabs(s->q + s->not_q - 1) > 1e-12)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        "yes and no must add up to 1");
    if (s->p == s->q)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        "both truths give the same answers: no information");
    if (!(fabs(hsy_survey_gap(s)) >= SURVEY_LEAST_GAP))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        "both truths give the same answers within 1e-8: almost "
                        "no information");
    return HSY_OK;
}

static hsy_status survey_by_epsilon(hsy_survey *s, double epsilon,
                                    hsy_error *err)
{
    if (!(epsilon >= HSY_EPSILON_MIN / 1e9 && epsilon <= HSY_EPSILON_MAX / 1e9))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_EPSILON,
                        "must be from 0.000001 to 32");
    s->p = s->not_q = 1 / (1 + exp(-epsilon));
    s->q = s->not_p = 1 / (1 + exp(epsilon));
    return HSY_OK;
}

hsy_status hsy_survey_init(hsy_survey *out, hsy_survey_design design,
                           const double chance[2], hsy_error *err)
{
    const double a = chance[0], b = chance[1];
    hsy_survey s = {0};
    hsy_status st = HSY_OK;

    switch (design) {
    case HSY_SURVEY_EPSILON:
        st = survey_by_epsilon(&s, a, err);
        break;
    case HSY_SURVEY_SPINNER: /* the question or its opposite */
    case HSY_SURVEY_CROSSWISE:
        s = (hsy_survey){.p = a, .not_p = 1 - a, .q = 1 - a, .not_q = a};
        break;
    case HSY_SURVEY_COINS:
    case HSY_SURVEY_UNRELATED:
        survey_mix(&s, a, b);
        break;
    case HSY_SURVEY_CHANNEL:
        s = (hsy_survey){.p = a, .not_p = 1 - a, .q = b, .not_q = 1 - b};
        break;
    case HSY_SURVEY_FORCED:
        if (!(a >= 0 && b >= 0 && a + b <= 1))
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                            "being made to say yes and being made to say no "
                            "add up to more than 1");
        s = (hsy_survey){.p = 1 - b, .not_p = b, .q = a, .not_q = 1 - a};
        break;
    default:
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DESIGN, "no such design");
    }
    if (st == HSY_OK)
        st = survey_check(&s, err);
    if (st == HSY_OK)
        *out = s;
    return st;
}

/* The difference of whichever pair is the smaller loses less. */
double hsy_survey_gap(const hsy_survey *s)
{
    return s->p + s->q <= 1 ? s->p - s->q : s->not_q - s->not_p;
}

/* How far one answer can move the odds of two truths, on the log scale. */
static double survey_ratio(double a, double b)
{
    return a == b ? 0 : a == 0 || b == 0 ? HUGE_VAL : fabs(log(a / b));
}

double hsy_survey_epsilon(const hsy_survey *s)
{
    return fmax(survey_ratio(s->p, s->q), survey_ratio(s->not_p, s->not_q));
}

double hsy_survey_rate(const hsy_survey *s, double share)
{
    return s->q * (1 - share) + s->p * share;
}

hsy_status hsy_survey_point(const hsy_survey *s, hsy_evidence *point,
                            double yes, double n, hsy_error *err)
{
    const double gap = hsy_survey_gap(s);
    hsy_status st = survey_check(s, err);

    if (st != HSY_OK)
        return st;
    if (n == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_N, "nobody answered");
    if (!(n > 0 && isfinite(n)))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_N,
                        "must be a positive count");
    if (!(yes >= 0 && yes <= n))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_YES,
                        "must lie between 0 and the number of answers");
    *point = (hsy_evidence){.value = (yes / n - s->q) / gap,
                            .n = n,
                            .support = yes,
                            .p = s->p,
                            .q = s->q,
                            .v0 = s->q * s->not_q / (gap * gap),
                            .v1 = s->p * s->not_p / (gap * gap)};
    return HSY_OK;
}

/* ---- Estimates ----------------------------------------------------------- */

/* Standard errors by which the rate of yes is outside what any share makes of
 * it, whoever answered. */
static double survey_beyond(const hsy_evidence *point)
{
    const double rate = point->support / point->n;
    const double low = fmin(point->p, point->q),
                 high = fmax(point->p, point->q);
    const double end = rate < low ? low : rate > high ? high : rate;

    return end == rate ? 0
                       : fabs(rate - end) / sqrt(end * (1 - end) / point->n);
}

static hsy_status survey_interval(double ends[2], const hsy_evidence *point,
                                  hsy_interval interval, double level,
                                  hsy_error *err)
{
    const hsy_confidence how = {level, HSY_POPULATION, interval, 1};
    hsy_estimate est = {0};
    hsy_status st;

    if (interval == HSY_WALD && point->n < HSY_WALD_MIN) {
        ends[0] = ends[1] = NAN;
        return HSY_OK;
    }
    st = hsy_estimate_point(&est, point, &how, err);
    ends[0] = hsy_share_clip(est.low);
    ends[1] = hsy_share_clip(est.high);
    return st;
}

hsy_status hsy_survey_estimate(hsy_survey_result *out,
                               const hsy_evidence *point, double level,
                               hsy_error *err)
{
    hsy_survey_result r = {0};
    hsy_status st = survey_interval(r.wald, point, HSY_WALD, level, err);

    if (st == HSY_OK)
        st = survey_interval(r.wilson, point, HSY_WILSON, level, err);
    if (st == HSY_OK)
        st = survey_interval(r.likelihood, point, HSY_LIKELIHOOD, level, err);
    if (st == HSY_OK)
        st = survey_interval(r.exact, point, HSY_EXACT, level, err);
    if (st != HSY_OK)
        return st;
    r.value = point->value;
    r.mle = hsy_share_clip(point->value);
    r.sd = sqrt(hsy_evidence_variance(point, HSY_POPULATION, r.mle));
    r.beyond = survey_beyond(point);
    *out = r;
    return HSY_OK;
}

/* ---- Weights ------------------------------------------------------------- */

/*
 * The rate is r = sum w y / sum w, and if answers are independent and weights
 * given beforehand its variance is sum w^2 (y - r)^2 / (sum w)^2. So many plain
 * answers have the same: r (1-r) / variance [KG98], but no more than there are.
 * Where all said the same that is 0 / 0, and (sum w)^2 / sum w^2 stands in for
 * it [Kish65], the limit for weights that have nothing to do with the answer.
 */
hsy_status hsy_survey_weigh(double *yes, double *n, const hsy_survey_weights *w,
                            hsy_error *err)
{
    const double sum = w->sum[0] + w->sum[1];
    const double r = w->sum[1] / sum;
    const double squares =
        w->squares[1] * (1 - r) * (1 - r) + w->squares[0] * r * r;
    double alike;

    if (!(w->sum[0] >= 0 && w->sum[1] >= 0 && sum > 0 && isfinite(sum) &&
          w->squares[0] >= 0 && w->squares[1] >= 0 &&
          isfinite(w->squares[0] + w->squares[1]) && w->answers >= 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_WEIGHT,
                        "must be finite, not negative, and not all 0");
    alike = squares > 0 ? r * (1 - r) / squares * sum * sum
                        : sum * sum / (w->squares[0] + w->squares[1]);
    *n = fmin(alike, w->answers);
    *yes = w->sum[0] == 0 ? *n : r * *n;
    return HSY_OK;
}

/* ---- Groups -------------------------------------------------------------- */

/*
 * Twice the log-likelihood lost by one share for all, each share kept within
 * [0, 1], against chi-squared with one degree less than groups.
 *
 * At the boundary that errs on the safe side. There the statistic is, for many
 * answers, d^2(z, ray) - d^2(z, cone) for normal z, the cone being what the
 * shares may be and the ray its diagonal, against |z|^2 - t^2, t = <z, u> for
 * the diagonal's unit u, without bounds. If t >= 0 it is that less d^2(z,
 * cone). If t < 0 it is the square of z's positive part, and t^2 <= <negative
 * part, u>^2 <= the square of the negative part, so that again it is no more.
 */
hsy_status hsy_survey_compare(const hsy_survey *s, hsy_survey_test *out,
                              const hsy_evidence *groups, size_t count,
                              hsy_error *err)
{
    hsy_survey_test test = {.freedom = (double)count - 1};
    double yes = 0, n = 0;
    hsy_evidence all;
    hsy_status st;

    if (count < 2)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_GROUP,
                        "a comparison needs two groups or more");
    for (size_t i = 0; i < count; i++) {
        if (groups[i].p != s->p || groups[i].q != s->q)
            return hsy_fail_at(err, HSY_E_MISMATCH, HSY_FIELD_GROUP,
                               "is of another design", HSY_UNIT_SAMPLE, i + 1);
        yes += groups[i].support;
        n += groups[i].n;
        test.boundary |= groups[i].value <= 0 || groups[i].value >= 1;
    }
    st = hsy_survey_point(s, &all, fmin(yes, n), n, err);
    if (st != HSY_OK)
        return st;
    test.pooled = hsy_share_clip(all.value);
    for (size_t i = 0; i < count && st == HSY_OK; i++) {
        double log = 0;

        st = hsy_evidence_likelihood(&log, &groups[i], test.pooled, err);
        test.statistic -= 2 * log;
    }
    if (st != HSY_OK)
        return st;
    test.p_value = hsy_chi2_upper(test.statistic, test.freedom);
    *out = test;
    return HSY_OK;
}
