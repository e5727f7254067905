/*
 * test_coverage_exact.c - how often each interval holds the truth, by summing
 * the exact law of the support over all its values: no sampling, no seed.
 *
 * Population: support is Bin(n, lambda). People: it is Bin(nf, p) + Bin(n - nf,
 * q) for the n f people who hold the value.
 */
#include "hearsay.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define MOST 1000

static double law[MOST + 1];

static double log_binomial(double n, double k, double p)
{
    if (p == 0)
        return k == 0 ? 0 : -INFINITY;
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
           (n - k) * log1p(-p);
}

static void law_population(int n, double p, double q, double f)
{
    for (int y = 0; y <= n; y++)
        law[y] = exp(log_binomial(n, y, q + f * (p - q)));
}

static void law_people(int n, double p, double q, double f)
{
    const int own = (int)lround(n * f);
    double others[MOST + 1];

    for (int y = 0; y <= n - own; y++)
        others[y] = exp(log_binomial(n - own, y, q));
    memset(law, 0, sizeof law);
    for (int a = 0; a <= own; a++) {
        const double pa = exp(log_binomial(own, a, p));

        for (int b = 0; b <= n - own; b++)
            law[a + b] += pa * others[b];
    }
}

static hsy_evidence point_of(int y, int n, double p, double q)
{
    const double gap = p - q;

    return (hsy_evidence){.value = ((double)y / n - q) / gap,
                          .n = n,
                          .support = y,
                          .p = p,
                          .q = q,
                          .v0 = q * (1 - q) / (gap * gap),
                          .v1 = p * (1 - p) / (gap * gap)};
}

/* Under the current law. With clip an interval beyond 0 or 1 is taken to end
 * there, as it is shown to people. */
static double coverage(int n, double p, double q, double f,
                       const hsy_confidence *how, bool clip)
{
    double held = 0;

    for (int y = 0; y <= n; y++) {
        const hsy_evidence point = point_of(y, n, p, q);
        hsy_estimate e;

        if (hsy_estimate_point(&e, &point, how, NULL) != HSY_OK)
            return NAN;
        if (clip) {
            e.low = fmin(fmax(e.low, 0), 1);
            e.high = fmin(fmax(e.high, 0), 1);
        }
        if (e.low <= f + 1e-12 && f <= e.high + 1e-12)
            held += law[y];
    }
    return held;
}

static const double epsilons[] = {0.5, 1, 2};
static const int reports[] = {50, 1000};
static const double shares[] = {0, 0.02, 0.3, 0.5};

struct range {
    double low, high;
};

/* The grid of 24 settings; every row is printed. */
static struct range sweep(hsy_target target, hsy_interval interval, bool clip,
                          const char *name)
{
    const hsy_confidence how = {0.95, target, interval, 1};
    struct range r = {1, 0};

    for (size_t i = 0; i < 24; i++) {
        const double epsilon = epsilons[i / 8], f = shares[i % 4];
        const int n = reports[i / 4 % 2];
        const double q = 1 / (1 + exp(epsilon)), p = 1 - q;
        double c;

        if (target == HSY_PEOPLE)
            law_people(n, p, q, f);
        else
            law_population(n, p, q, f);
        c = coverage(n, p, q, f, &how, clip);
        printf("# %-22s epsilon %.1f n %4d f %.2f: %.4f\n", name, epsilon, n, f,
               c);
        r.low = fmin(r.low, c);
        r.high = fmax(r.high, c);
    }
    return r;
}

/* Published to three digits. */
static bool rounds_to(struct range got, double low, double high)
{
    return fabs(got.low - low) <= 0.0005001 &&
           fabs(got.high - high) <= 0.0005001;
}

static void population_table(void)
{
    static const struct {
        hsy_interval interval;
        bool clip;
        double low, high;
        const char *name;
    } rows[] = {{HSY_WILSON, true, 0.935, 0.974, "Wilson, clipped"},
                {HSY_WILSON, false, 0.935, 0.963, "Wilson"},
                {HSY_LIKELIHOOD, false, 0.935, 0.978, "likelihood"},
                {HSY_EXACT, false, 0.952, 0.987, "exact"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct range r =
            sweep(HSY_POPULATION, rows[i].interval, rows[i].clip, rows[i].name);

        ok(rounds_to(r, rows[i].low, rows[i].high),
           "population, %s: %.4f to %.4f, published %.3f to %.3f", rows[i].name,
           r.low, r.high, rows[i].low, rows[i].high);
    }
}

/*
 * The textbook's Wald interval takes its variance at the raw value; hearsay's
 * at the nearest share, which repairs the worst of it near 0.
 */
static double coverage_textbook(int n, double p, double q, double f)
{
    const double z = hsy_normal_quantile(0.975);
    double held = 0;

    for (int y = 0; y <= n; y++) {
        const double l = (double)y / n;
        const double half = z * sqrt(l * (1 - l) / n);

        if (fabs(l - (q + f * (p - q))) <= half)
            held += law[y];
    }
    return held;
}

static void wald(void)
{
    const struct range ours =
        sweep(HSY_POPULATION, HSY_WALD, false, "population, Wald");
    struct range textbook = {1, 0};

    for (size_t i = 0; i < 24; i++) {
        const double q = 1 / (1 + exp(epsilons[i / 8])), f = shares[i % 4];
        const int n = reports[i / 4 % 2];
        double c;

        law_population(n, 1 - q, q, f);
        c = coverage_textbook(n, 1 - q, q, f);
        textbook.low = fmin(textbook.low, c);
        textbook.high = fmax(textbook.high, c);
    }
    ok(rounds_to(textbook, 0.905, 0.950),
       "the textbook's Wald: %.4f to %.4f, published 0.905 to 0.950",
       textbook.low, textbook.high);
    ok(ours.low >= 0.9345, "population, Wald: %.4f to %.4f, Wilson's least",
       ours.low, ours.high);
}

/* What is guaranteed, for both targets. */
static void guarantees(void)
{
    static const hsy_interval kinds[] = {HSY_EXACT, HSY_HOEFFDING};
    static const char *const names[] = {"exact", "Hoeffding"};

    for (size_t i = 0; i < 4; i++) {
        const hsy_target target = i < 2 ? HSY_PEOPLE : HSY_POPULATION;
        const struct range r = sweep(target, kinds[i % 2], false, names[i % 2]);

        ok(r.low >= 0.95, "%s, %s: never below 0.95 (%.4f to %.4f)",
           target == HSY_PEOPLE ? "people" : "population", names[i % 2], r.low,
           r.high);
    }
}

/*
 * The score interval of the people target is about 95 %; Wilson's, which
 * answers for sampling too, is a control that covers far too much at epsilon 2.
 */
static void people_score(void)
{
    const struct range r = sweep(HSY_PEOPLE, HSY_SCORE, false, "people, score");
    const struct range wilson =
        sweep(HSY_PEOPLE, HSY_WILSON, false, "people, Wilson");
    const struct range lr =
        sweep(HSY_PEOPLE, HSY_LIKELIHOOD, false, "people, likelihood");

    ok(r.low >= 0.93 && r.high <= 0.97, "people, score: %.4f to %.4f", r.low,
       r.high);
    ok(wilson.high > 0.99, "control: Wilson covers people to %.4f",
       wilson.high);
    ok(lr.low >= 0.93, "people, likelihood: at least %.4f", lr.low);
}

/* Unary probabilities: p and q do not sum up to 1, and v0 differs from v1. */
static void unary_score(void)
{
    const hsy_confidence people = {0.95, HSY_PEOPLE, HSY_INTERVAL_AUTO, 1};
    const hsy_confidence sample = {0.95, HSY_POPULATION, HSY_INTERVAL_AUTO, 1};

    for (size_t i = 0; i < 6; i++) {
        const double q = 1 / (1 + exp(epsilons[i / 2]));
        const double f = i % 2 ? 0.1 : 0.3;
        double a, b;

        law_people(1000, 0.5, q, f);
        a = coverage(1000, 0.5, q, f, &people, false);
        law_population(1000, 0.5, q, f);
        b = coverage(1000, 0.5, q, f, &sample, false);
        ok(a > 0.94 && a < 0.96 && b > 0.94 && b < 0.96,
           "unary, epsilon %.1f, f %.1f: people %.4f, population %.4f",
           epsilons[i / 2], f, a, b);
    }
}

int main(void)
{
    population_table();
    wald();
    guarantees();
    people_score();
    unary_score();
    return tap_done();
}
