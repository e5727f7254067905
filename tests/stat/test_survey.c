/*
 * test_survey.c - how often each interval of a survey holds the truth, and how
 * often a test finds a difference, from binomial sums: no sampling, no seed.
 */
#include "hearsay.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

struct range {
    double low, high;
};

static hsy_survey channel(hsy_survey_design design, double a, double b)
{
    const double chance[2] = {a, b};
    hsy_survey s = {0};

    if (hsy_survey_init(&s, design, chance, NULL) != HSY_OK)
        exit(2);
    return s;
}

static void note(struct range *r, double c)
{
    r->low = fmin(r->low, c);
    r->high = fmax(r->high, c);
}

static const struct {
    hsy_interval interval;
    const char *name;
    double low, high; /* Theory 1.3, to three digits, but for Wald's, which
                         takes its variance at a share within [0, 1] */
} kinds[] = {{HSY_WALD, "Wald", 0.935, 0.987},
             {HSY_WILSON, "Wilson", 0.935, 0.974},
             {HSY_LIKELIHOOD, "likelihood", 0.935, 0.978},
             {HSY_EXACT, "exact", 0.952, 0.987}};

#define KINDS (sizeof kinds / sizeof kinds[0])

static void print_coverage(const char *name, double n, double f,
                           const double coverage[KINDS])
{
    printf("# %-22s %5.0f %5.2f ", name, n, f);
    for (size_t k = 0; k < KINDS; k++)
        printf(" %10.4f", coverage[k]);
    putchar('\n');
}

static void print_head(void)
{
    printf("# %-22s %5s %5s ", "design", "n", "share");
    for (size_t k = 0; k < KINDS; k++)
        printf(" %10s", kinds[k].name);
    putchar('\n');
}

static void cover(double out[KINDS], const hsy_survey *s, uint64_t n, double f)
{
    for (size_t k = 0; k < KINDS; k++) {
        out[k] = NAN;
        if (hsy_survey_coverage(
                s, &out[k], n, f,
                &(hsy_confidence){.interval = kinds[k].interval, .level = 0.95},
                NULL) != HSY_OK)
            exit(2);
    }
}

/* The textbook's Wald interval: its variance is that of the rate as answered,
 * and it is not cut. */
static double cover_textbook(const hsy_survey *s, uint64_t n, double f)
{
    const double z = hsy_normal_quantile(0.975), size = (double)n;
    const double rate = hsy_survey_rate(s, f);
    double held = 0, below = 0;

    for (uint64_t y = 0; y <= n; y++) {
        const double l = (double)y / size, up = hsy_binomial_cdf(y, n, rate);

        if (fabs(l - rate) <= z * sqrt(l * (1 - l) / size))
            held += up - below;
        below = up;
    }
    return held;
}

/* The 24 settings of theory 1.3; its figures at share 0 include the cut. */
static void the_published_table(void)
{
    static const double epsilons[] = {0.5, 1, 2},
                        shares[] = {0, 0.02, 0.3, 0.5};
    static const uint64_t sizes[] = {50, 1000};
    struct range r[KINDS] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}};
    struct range textbook = {1, 0};

    print_head();
    for (size_t i = 0; i < 24; i++) {
        const hsy_survey s = channel(HSY_SURVEY_EPSILON, epsilons[i / 8], 0);
        const uint64_t n = sizes[i / 4 % 2];
        double c[KINDS];
        char name[32];

        cover(c, &s, n, shares[i % 4]);
        snprintf(name, sizeof name, "epsilon %g", epsilons[i / 8]);
        print_coverage(name, (double)n, shares[i % 4], c);
        for (size_t k = 0; k < KINDS; k++)
            note(&r[k], c[k]);
        note(&textbook, cover_textbook(&s, n, shares[i % 4]));
    }
    printf("# Wald by the textbook: %.4f to %.4f\n", textbook.low,
           textbook.high);
    ok(fabs(textbook.low - 0.905) <= 0.0005 && textbook.high <= 0.9505,
       "the textbook's Wald covers 0.905 to 0.950, as published");
    for (size_t k = 0; k < KINDS; k++) {
        printf("# %s: %.4f to %.4f\n", kinds[k].name, r[k].low, r[k].high);
        ok(fabs(r[k].low - kinds[k].low) <= 0.0005 + 1e-9 &&
               fabs(r[k].high - kinds[k].high) <= 0.0005 + 1e-9,
           "%s covers %.3f to %.3f, as known", kinds[k].name, kinds[k].low,
           kinds[k].high);
    }
}

/* Every other design, skew ones too: the exact interval never falls short, and
 * control: Wald does. */
static void every_design(void)
{
    static const struct {
        hsy_survey_design design;
        double a, b;
        const char *name;
    } rows[] = {{HSY_SURVEY_SPINNER, 0.7, 0, "spinner 0.7"},
                {HSY_SURVEY_COINS, 0.5, 0.5, "coins 1/2,1/2"},
                {HSY_SURVEY_CHANNEL, 0.9, 0.3, "channel 0.9,0.3"},
                {HSY_SURVEY_UNRELATED, 0.7, 0.1, "unrelated 0.7,0.1"},
                {HSY_SURVEY_FORCED, 1.0 / 6, 1.0 / 12, "forced 1/6,1/12"},
                {HSY_SURVEY_CROSSWISE, 0.25, 0, "crosswise 0.25"},
                {HSY_SURVEY_CHANNEL, 1, 0, "asked directly"}};
    static const double shares[] = {0, 0.01, 0.05, 0.2, 0.5, 0.9, 1};
    struct range exact = {1, 0}, wald = {1, 0};

    for (size_t i = 0; i < 7 * (sizeof rows / sizeof rows[0]); i++) {
        const hsy_survey s =
            channel(rows[i / 7].design, rows[i / 7].a, rows[i / 7].b);
        double c[KINDS];

        cover(c, &s, 200, shares[i % 7]);
        print_coverage(rows[i / 7].name, 200, shares[i % 7], c);
        note(&wald, c[0]);
        note(&exact, c[3]);
    }
    ok(exact.low >= 0.95, "the exact interval of every design covers 95 %%");
    ok(wald.low < 0.9, "control: Wald's does not");
}

/* ---- Two groups ---------------------------------------------------------- */

#define MOST 200

static void binomial_law(double law[MOST + 1], uint64_t n, double rate)
{
    double below = 0;

    for (uint64_t i = 0; i <= n; i++) {
        const double up = hsy_binomial_cdf(i, n, rate);

        law[i] = up - below;
        below = up;
    }
}

/* The chance that the ratio test calls n and n answers different. */
static double finds(const hsy_survey *s, double a, double b, uint64_t n)
{
    double first[MOST + 1], second[MOST + 1], found = 0;

    binomial_law(first, n, hsy_survey_rate(s, a));
    binomial_law(second, n, hsy_survey_rate(s, b));
    for (uint64_t i = 0; i <= n; i++)
        for (uint64_t j = 0; j <= n; j++) {
            hsy_survey_test t;
            hsy_evidence points[2];

            if (first[i] * second[j] < 1e-10)
                continue;
            if (hsy_survey_point(s, &points[0], (double)i, (double)n, NULL) ||
                hsy_survey_point(s, &points[1], (double)j, (double)n, NULL) ||
                hsy_survey_compare(s, &t, points, 2, NULL))
                exit(2);
            found += t.p_value < 0.05 ? first[i] * second[j] : 0;
        }
    return found;
}

static void the_ratio_test(void)
{
    static const double equal[] = {0, 0.05, 0.3, 0.5};
    const hsy_survey s = channel(HSY_SURVEY_SPINNER, 0.8, 0);
    double need = 0, power, most = 0;

    for (size_t i = 0; i < 4; i++) {
        const double p = finds(&s, equal[i], equal[i], 100);

        printf("# equal shares %.2f, 100 each: called different %.4f\n",
               equal[i], p);
        most = fmax(most, p);
        if (equal[i] == 0)
            ok(p < 0.05, "at the boundary the test errs on the safe side");
    }
    /* A chi-squared law for counts: [Williams76] has its error of order 1/n. */
    ok(most <= 0.06, "equal shares are called different in about 5 %%");
    if (hsy_survey_need_groups(&s, &need, (double[]){0.2, 0.6}, 0.95, 0.8,
                               NULL))
        exit(2);
    power = finds(&s, 0.2, 0.6, (uint64_t)need);
    printf("# shares 0.2 and 0.6, %.0f each: found %.4f\n", need, power);
    ok(fabs(power - 0.8) < 0.02,
       "so many as are needed for 80 %% find it in 80 %%");
}

/* ---- Two samples --------------------------------------------------------- */

/* How often exact, Wilson and likelihood intervals of a pair hold, over the law
 * of both counts. */
static void pair_covers(double held[3], double f, double t, uint64_t n)
{
    double first[MOST + 1], second[MOST + 1];

    binomial_law(first, n, 0.7 * f + 0.3 * t);
    binomial_law(second, n, 0.3 * f + 0.7 * t);
    for (uint64_t i = 0; i < (n + 1) * (n + 1); i++) {
        const uint64_t a = i / (n + 1), b = i % (n + 1);
        const hsy_survey_pair pair = {
            {0.7, 0.3}, {(double)a, (double)b}, {(double)n, (double)n}};
        const double p = first[a] * second[b];
        hsy_survey_result r;
        const double *const all[] = {r.exact, r.wilson, r.likelihood};

        if (p < 1e-7)
            continue;
        if (hsy_survey_pair_estimate(&pair, &r, 0.95, NULL) != HSY_OK)
            exit(2);
        for (size_t k = 0; k < 3; k++)
            held[k] += all[k][0] <= f + 1e-12 && f <= all[k][1] + 1e-12 ? p : 0;
    }
}

static void pairs(void)
{
    static const double cases[][2] = {{0.05, 0.5}, {0.3, 0.2}};

    for (size_t i = 0; i < 2; i++) {
        const double f = cases[i][0], t = cases[i][1];
        double held[3] = {0, 0, 0};

        pair_covers(held, f, t, 50);
        printf("# two samples of 50, shares %.2f and %.2f: exact %.4f wilson "
               "%.4f likelihood %.4f\n",
               f, t, held[0], held[1], held[2]);
        ok(held[0] >= 0.95, "a pair's exact interval covers 95 %%");
        ok(held[1] > 0.93 && held[2] > 0.93,
           "its Wilson and likelihood intervals about as often");
    }
}

int main(void)
{
    the_published_table();
    every_design();
    the_ratio_test();
    pairs();
    return tap_done();
}
