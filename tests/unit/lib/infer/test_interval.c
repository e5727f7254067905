/* test_interval.c - standard errors and intervals of single points. */
#include "hearsay.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static bool interval_near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fmax(fabs(want), 1e-3);
}

/* A plain point: what a pure mechanism makes of y supports in n. */
static hsy_evidence pure(double y, double n, double p, double q)
{
    const double gap = p - q;

    return (hsy_evidence){.value = (y / n - q) / gap,
                          .n = n,
                          .support = y,
                          .p = p,
                          .q = q,
                          .v0 = q * (1 - q) / (gap * gap),
                          .v1 = p * (1 - p) / (gap * gap)};
}

static hsy_evidence warner(double epsilon, double y, double n)
{
    const double q = 1 / (1 + exp(epsilon));

    return pure(y, n, 1 - q, q);
}

static hsy_confidence how(hsy_interval interval, hsy_target target)
{
    return (hsy_confidence){0.95, target, interval, 1};
}

static hsy_estimate estimate(const hsy_evidence *point, hsy_interval interval,
                             hsy_target target)
{
    const hsy_confidence c = how(interval, target);
    hsy_estimate est = {NAN, NAN, NAN, NAN};

    ok(hsy_estimate_point(&est, point, &c, NULL) == HSY_OK,
       "interval %d of target %d is given", (int)interval, (int)target);
    return est;
}

static void published_vectors(void)
{
    static const struct {
        hsy_interval interval;
        double low, high;
        const char *name;
    } rows[] = {
        {HSY_WALD, 0.217899174620320628, 0.349310142631948803, "Wald"},
        {HSY_WILSON, 0.218847879271618492, 0.350017623398325012, "Wilson"},
        {HSY_LIKELIHOOD, 0.218514597860881858, 0.349801800107339839,
         "likelihood"},
        {HSY_EXACT, 0.217536970007706490, 0.350950251740731827, "exact"}};
    const hsy_evidence point = warner(1, 400, 1000);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_estimate e = estimate(&point, rows[i].interval, HSY_POPULATION);

        ok(interval_near(e.value, 0.283604658626134715),
           "value of 400 in 1000");
        ok(interval_near(e.low, rows[i].low) &&
               interval_near(e.high, rows[i].high),
           "%s interval of 400 in 1000 at epsilon 1", rows[i].name);
    }
}

static void boundary_likelihood(void)
{
    const hsy_evidence point = warner(1, 250, 1000);
    hsy_estimate e = estimate(&point, HSY_LIKELIHOOD, HSY_POPULATION);
    hsy_evidence mirror = warner(1, 750, 1000);

    ok(e.low == 0 && interval_near(e.high, 0.0316856578858070782),
       "likelihood interval at the boundary 0");
    e = estimate(&mirror, HSY_LIKELIHOOD, HSY_POPULATION);
    ok(e.high == 1 && interval_near(1 - e.low, 0.0316856578858070782),
       "likelihood interval at the boundary 1");
}

static double likelihood(const hsy_evidence *point, double f)
{
    double log = NAN;

    ok(hsy_evidence_likelihood(&log, point, f, NULL) == HSY_OK,
       "the likelihood of %g is given", f);
    return log;
}

/* The logarithm of a binomial, less its greatest, and the interval's ends. */
static void likelihood_is_the_textbook_one(void)
{
    const hsy_evidence point = warner(1, 400, 1000),
                       below = warner(1, 250, 1000);
    const hsy_evidence all = pure(3, 3, 1, 0);
    const hsy_estimate e = estimate(&point, HSY_LIKELIHOOD, HSY_PEOPLE);
    const double z = hsy_normal_quantile(0.975), rate = point.q;
    hsy_error err = {0};
    double log;

    ok(interval_near(likelihood(&point, 0),
                     400 * (log1p(rate - 1) - log1p(-0.6)) +
                         600 * (log1p(-rate) - log1p(-0.4))),
       "nobody, against the most likely share");
    ok(likelihood(&point, point.value) == 0, "which is the unbiased one");
    ok(fabs(likelihood(&point, e.low) + z * z / 2) < 1e-9 &&
           fabs(likelihood(&point, e.high) + z * z / 2) < 1e-9,
       "at the ends of its interval it is cut off");
    ok(likelihood(&below, 0) == 0 && likelihood(&below, 0.1) < 0,
       "below what noise alone gives nobody is most likely");
    ok(likelihood(&all, 1) == 0 && isinf(likelihood(&all, 0)),
       "what cannot be has no logarithm");
    ok(hsy_evidence_likelihood(&log, &point, 1.01, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_F &&
           hsy_evidence_likelihood(&log, &point, NAN, NULL) == HSY_E_RANGE,
       "a share lies from 0 to 1");
}

static void hoeffding_vectors(void)
{
    hsy_evidence point = warner(1, 4e5, 1e6);
    hsy_confidence c = how(HSY_HOEFFDING, HSY_PEOPLE);
    hsy_estimate e = estimate(&point, HSY_HOEFFDING, HSY_PEOPLE);

    ok(interval_near((e.high - e.low) / 2, 0.00293886841119055234),
       "Hoeffding half width, n = 1e6, epsilon 1");
    point = warner(0.5, 4e3, 1e4);
    c.level = 0.99;
    ok(hsy_estimate_point(&e, &point, &c, NULL) == HSY_OK &&
           interval_near((e.high - e.low) / 2, 0.0664556802141868951),
       "Hoeffding half width, n = 1e4, epsilon 0.5, 99 %%");
}

/* [Wilson27] on the rate of support, then mapped to shares. */
static void wilson_is_the_textbook_one(void)
{
    const double z = hsy_normal_quantile(0.975), z2 = z * z;
    bool same = true;

    for (int y = 0; y <= 100; y += 5) {
        const hsy_evidence point = pure(y, 100, 0.5, 0.2);
        const hsy_confidence c = how(HSY_WILSON, HSY_PEOPLE);
        const double l = y / 100.0, scale = 1 + z2 / 100;
        const double centre = (l + z2 / 200) / scale;
        const double half = z / scale * sqrt(l * (1 - l) / 100 + z2 / 40000);
        hsy_estimate e;

        same = same && hsy_estimate_point(&e, &point, &c, NULL) == HSY_OK &&
               interval_near(e.low, (centre - half - 0.2) / 0.3) &&
               interval_near(e.high, (centre + half - 0.2) / 0.3);
    }
    ok(same, "the Wilson interval equals the textbook's for all supports");
}

/* Both ends solve (value - f)^2 = z^2 variance(f). */
static void score_ends_solve_the_quadratic(void)
{
    const hsy_evidence point = {.value = 0.1,
                                .n = 500,
                                .support = 200,
                                .p = 0.5,
                                .q = 0.25,
                                .v0 = 3,
                                .v1 = 4,
                                .binomial_variance = 0.5,
                                .residual_variance = 1e-4};
    const double z = hsy_normal_quantile(0.975);
    const hsy_estimate e = estimate(&point, HSY_SCORE, HSY_PEOPLE);
    const double ends[2] = {e.low, e.high};

    for (int i = 0; i < 2; i++) {
        const double f = ends[i], off = point.value - f;
        const double var = (3 + f + 0.5 * f * (1 - f)) / 500 + 1e-4;

        ok(interval_near(off * off, z * z * var),
           "a score end solves its quadratic");
    }
    ok(interval_near(e.sd, sqrt((3.1 + 0.5 * 0.09) / 500 + 1e-4)),
       "standard error: noise, spread and floor");
}

static void targets_differ_by_sampling(void)
{
    hsy_evidence point = warner(1, 400, 1000);
    const double f = point.value;
    const double people = estimate(&point, HSY_INTERVAL_AUTO, HSY_PEOPLE).sd;
    hsy_estimate sample = estimate(&point, HSY_INTERVAL_AUTO, HSY_POPULATION);
    hsy_estimate wilson = estimate(&point, HSY_WILSON, HSY_POPULATION);

    ok(interval_near(people * people, 0.920673594207792319 / 1000),
       "people: the noise alone");
    ok(interval_near(sample.sd * sample.sd,
                     people * people + f * (1 - f) / 1000),
       "population: the noise and the sampling");
    ok(sample.low == wilson.low && sample.high == wilson.high,
       "automatic for a population is Wilson");
    point.binomial_variance = 1;
    ok(estimate(&point, HSY_SCORE, HSY_PEOPLE).sd == sample.sd &&
           estimate(&point, HSY_SCORE, HSY_POPULATION).sd == sample.sd,
       "spread and sampling are not added twice");
}

/* Values far outside [0, 1], where the variance's polynomial is negative. */
static void value_lies_inside(void)
{
    static const hsy_interval kinds[] = {HSY_INTERVAL_AUTO, HSY_WALD,
                                         HSY_WILSON, HSY_SCORE, HSY_HOEFFDING};
    bool inside = true;

    for (int i = -60; i <= 80; i++) {
        for (size_t k = 0; k < 5 * 2; k++) {
            const hsy_confidence c = how(kinds[k / 2], (hsy_target)(k % 2));
            const hsy_evidence point = {.value = i / 20.0,
                                        .n = 60,
                                        .support = 30,
                                        .p = 0.9,
                                        .q = 0,
                                        .v0 = 0,
                                        .v1 = i % 2 ? 0.2 : 9};
            hsy_estimate e;

            inside = inside &&
                     hsy_estimate_point(&e, &point, &c, NULL) == HSY_OK &&
                     e.low <= e.value && e.value <= e.high && isfinite(e.low) &&
                     isfinite(e.high) && e.sd >= 0;
        }
    }
    ok(inside, "the value lies in its interval, however odd");
}

/* A spinner below one half: no is the likelier answer of those who mean yes. */
static void reversed_channel_mirrors(void)
{
    static const hsy_interval kinds[] = {HSY_WALD,       HSY_WILSON,
                                         HSY_SCORE,      HSY_EXACT,
                                         HSY_LIKELIHOOD, HSY_HOEFFDING};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const hsy_evidence straight = pure(400, 1000, 0.7, 0.3);
        const hsy_evidence reversed = pure(600, 1000, 0.3, 0.7);
        const hsy_estimate a = estimate(&straight, kinds[i], HSY_POPULATION);
        const hsy_estimate b = estimate(&reversed, kinds[i], HSY_POPULATION);

        ok(interval_near(a.low, b.low) && interval_near(a.high, b.high) &&
               interval_near(a.sd, b.sd),
           "p < q: interval %d is that of the complement", (int)kinds[i]);
    }
}

static void extremes_of_support(void)
{
    static const hsy_interval kinds[] = {HSY_EXACT, HSY_LIKELIHOOD};

    for (size_t i = 0; i < 2; i++) {
        const hsy_evidence none = pure(0, 40, 0.75, 0.25);
        const hsy_evidence all = pure(40, 40, 0.75, 0.25);
        const hsy_evidence one = pure(1, 1, 0.75, 0.25);
        hsy_estimate e = estimate(&none, kinds[i], HSY_POPULATION);

        ok(e.low == 0 && e.high >= 0 && e.high < 0.5, "no support at all");
        e = estimate(&all, kinds[i], HSY_POPULATION);
        ok(e.high == 1 && e.low > 0.5, "full support");
        e = estimate(&one, kinds[i], HSY_POPULATION);
        ok(e.low == 0 && e.high == 1, "one report says nothing");
    }
}

static void comparisons_widen(void)
{
    static const hsy_interval kinds[] = {HSY_WALD,       HSY_WILSON,
                                         HSY_SCORE,      HSY_EXACT,
                                         HSY_LIKELIHOOD, HSY_HOEFFDING};
    const hsy_evidence point = warner(1, 400, 1000);

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const hsy_confidence many = {0.95, HSY_PEOPLE, kinds[i], 1024};
        const hsy_confidence one = {1 - 0.05 / 1024, HSY_PEOPLE, kinds[i], 1};
        hsy_estimate a, b;

        ok(hsy_estimate_point(&a, &point, &many, NULL) == HSY_OK &&
               hsy_estimate_point(&b, &point, &one, NULL) == HSY_OK &&
               fabs(a.low - b.low) < 1e-9 && fabs(a.high - b.high) < 1e-9,
           "1024 comparisons: interval %d at level 1 - 0.05/1024",
           (int)kinds[i]);
    }
}

/* A corrected value moves its interval; a floor widens it. */
static void corrections_and_floors(void)
{
    static const hsy_interval kinds[] = {HSY_EXACT, HSY_LIKELIHOOD,
                                         HSY_HOEFFDING};
    hsy_evidence moved = warner(1, 400, 1000), wide = moved;
    const hsy_evidence plain = moved;

    moved.value -= 0.01;
    wide.residual_variance = 1e-4;
    for (size_t i = 0; i < 3; i++) {
        const hsy_estimate a = estimate(&plain, kinds[i], HSY_PEOPLE);
        const hsy_estimate b = estimate(&moved, kinds[i], HSY_PEOPLE);
        const hsy_estimate c = estimate(&wide, kinds[i], HSY_PEOPLE);

        ok(interval_near(b.low, a.low - 0.01) &&
               interval_near(b.high, a.high - 0.01),
           "a correction shifts interval %d", (int)kinds[i]);
        ok(c.low < a.low - 0.022 && c.high > a.high + 0.022,
           "a floor widens interval %d by more than z times its root",
           (int)kinds[i]);
    }
}

/* From epsilon 1e-6 to 32, one report to 10^15, none to all in support. */
static void extremes_stay_finite(void)
{
    static const double epsilons[] = {1e-6, 1, 32}, ns[] = {1, 60, 1e9, 1e15};
    static const double parts[] = {0, 0.25, 0.5, 1}, levels[] = {0.5, 0.999999};
    static const uint64_t comparisons[] = {1, 1u << 22};
    bool finite = true;

    for (unsigned i = 0; i < 3 * 4 * 4 * 2 * 2 * 7 * 2; i++) {
        const double n = ns[i / 3 % 4];
        const hsy_evidence point =
            warner(epsilons[i % 3], floor(n * parts[i / 12 % 4]), n);
        const hsy_confidence c = {levels[i / 48 % 2], (hsy_target)(i / 1344),
                                  (hsy_interval)(i / 192 % 7),
                                  comparisons[i / 96 % 2]};
        hsy_estimate e;
        hsy_status st = hsy_estimate_point(&e, &point, &c, NULL);

        if (c.interval == HSY_WALD && n < 50)
            finite = finite && st == HSY_E_RANGE;
        else
            finite = finite && st == HSY_OK && isfinite(e.value) &&
                     isfinite(e.sd) && isfinite(e.low) && isfinite(e.high) &&
                     e.low <= e.high;
    }
    ok(finite, "extreme epsilons, counts and levels give finite intervals");
}

static hsy_status refusal(hsy_evidence point, hsy_confidence c, hsy_error *err)
{
    hsy_estimate est = {1, 2, 3, 4};
    const hsy_status st = hsy_estimate_point(&est, &point, &c, err);

    ok(est.value == 1 && est.sd == 2 && est.low == 3 && est.high == 4,
       "a refusal writes nothing");
    return st;
}

static void bad_input_is_refused(void)
{
    const hsy_evidence good = warner(1, 40, 100);
    hsy_evidence bad = good;
    hsy_error err = {0};

    bad.n = 0;
    ok(refusal(bad, how(HSY_SCORE, HSY_PEOPLE), &err) == HSY_E_EMPTY &&
           strcmp(err.msg, "no data") == 0,
       "no reports: no data");
    bad.n = NAN;
    ok(refusal(bad, how(HSY_SCORE, HSY_PEOPLE), &err) == HSY_E_RANGE,
       "n is not a number");
    bad = good;
    bad.value = NAN;
    ok(refusal(bad, how(HSY_SCORE, HSY_PEOPLE), &err) == HSY_E_RANGE,
       "the value is not a number");
    bad = good;
    bad.v0 = -1;
    ok(refusal(bad, how(HSY_SCORE, HSY_PEOPLE), &err) == HSY_E_RANGE,
       "a negative variance");
    bad = good;
    bad.q = bad.p;
    ok(refusal(bad, how(HSY_EXACT, HSY_PEOPLE), &err) == HSY_E_RANGE,
       "exact without a difference between p and q");
    bad = good;
    bad.support = 101;
    ok(hsy_evidence_likelihood(&(double){0}, &bad, 0, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_SUPPORT,
       "a likelihood of more support than reports");
    ok(refusal(bad, how(HSY_LIKELIHOOD, HSY_PEOPLE), &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_SUPPORT,
       "more support than reports");
    bad = warner(1, 20, 49);
    ok(refusal(bad, how(HSY_WALD, HSY_PEOPLE), &err) == HSY_E_RANGE &&
           err.limit == 50,
       "Wald below 50 reports");
    bad = warner(1, 20, 50);
    estimate(&bad, HSY_WALD, HSY_PEOPLE);
}

static void bad_confidence_is_refused(void)
{
    static const double levels[] = {0, 1, -1, 2, NAN};
    const hsy_evidence good = warner(1, 40, 100);
    hsy_confidence c = how(HSY_SCORE, HSY_PEOPLE);

    for (size_t i = 0; i < 5; i++) {
        c.level = levels[i];
        ok(refusal(good, c, NULL) == HSY_E_RANGE, "level %g", levels[i]);
    }
    c = how(HSY_SCORE, HSY_PEOPLE);
    c.comparisons = 0;
    ok(refusal(good, c, NULL) == HSY_E_RANGE, "no comparisons");
    c = how((hsy_interval)7, HSY_PEOPLE);
    ok(refusal(good, c, NULL) == HSY_E_RANGE, "no such interval");
    c = how(HSY_SCORE, (hsy_target)2);
    ok(refusal(good, c, NULL) == HSY_E_RANGE, "no such target");
}

int main(void)
{
    published_vectors();
    boundary_likelihood();
    likelihood_is_the_textbook_one();
    hoeffding_vectors();
    wilson_is_the_textbook_one();
    score_ends_solve_the_quadratic();
    targets_differ_by_sampling();
    value_lies_inside();
    reversed_channel_mirrors();
    extremes_of_support();
    comparisons_widen();
    corrections_and_floors();
    extremes_stay_finite();
    bad_input_is_refused();
    bad_confidence_is_refused();
    return tap_done();
}
