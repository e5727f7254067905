/* test_accuracy.c - error, people, chance: vectors (theory 15.1), the
 * bounds against the law itself, and each number from the others. */
#include "hearsay.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool accuracy_near(double a, double b, double relative)
{
    return eq_near(a, b, relative * fabs(b));
}

static hsy_accuracy accuracy_rr(double epsilon, double share)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .kind = HSY_KIND_YES_NO,
                           .mechanism = "rr",
                           .nano_epsilon = (uint64_t)(epsilon * 1e9)};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    hsy_accuracy a = {0};

    if (s == NULL || hsy_scheme_init(s, &spec, NULL) != HSY_OK ||
        hsy_accuracy_of(s, &a, share, 1, NULL) != HSY_OK)
        a.width = NAN;
    free(s);
    return a;
}

static void vectors(void)
{
    const hsy_accuracy one = accuracy_rr(1, -1), half = accuracy_rr(0.5, -1);
    const hsy_accuracy tenth = accuracy_rr(0.1, -1);
    const hsy_bound h = HSY_BOUND_HOEFFDING;

    ok(accuracy_near(one.width, 2.16395341373865285, 1e-12), "coth(1/2)");
    ok(accuracy_near(hsy_accuracy_alpha(&one, h, 1e6, 0.05),
                     0.00293886841119055234, 1e-12),
       "alpha(10^6, 1, 0.05)");
    ok(accuracy_near(hsy_accuracy_alpha(&half, h, 1e4, 0.01),
                     0.0664556802141868951, 1e-12),
       "alpha(10^4, 0.5, 0.01)");
    ok(hsy_accuracy_users(&one, h, 0.01, 0.05) == 86370, "n(0.01, 1, 0.05)");
    ok(hsy_accuracy_users(&tenth, h, 0.01, 0.05) == 7390059,
       "n(0.01, 0.1, 0.05)");
    ok(accuracy_near(hsy_accuracy_beta(&one, h, 1e6, 0.00293886841119055234),
                     0.05, 1e-10),
       "and back to beta");
    ok(one.share == 0.5 && accuracy_near(one.lambda, 0.5, 1e-12),
       "half is the hardest share");
}

/* P[|X / n - lambda| > alpha gap], term by term. */
static double accuracy_sum(const hsy_accuracy *a, int n, double alpha)
{
    double sum = 0;

    for (int x = 0; x <= n; x++) {
        const double off = fabs(x - n * a->lambda) / (n * a->gap);

        if (off > alpha * (1 + 1e-12))
            sum += exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) +
                       x * log(a->lambda) + (n - x) * log1p(-a->lambda));
    }
    return sum;
}

/* At the exact alpha the chance is at most beta; just below it is more. */
static void exact(void)
{
    static const double shares[] = {0, 0.02, 0.3, 0.5, 1};
    bool holds = true, least = true, theorem = true;

    for (int n = 3; n <= 400; n += 37)
        for (size_t i = 0; i < 5; i++)
            for (double beta = 0.01; beta < 0.5; beta *= 3) {
                const hsy_accuracy a = accuracy_rr(1, shares[i]);
                const double alpha =
                    hsy_accuracy_alpha(&a, HSY_BOUND_EXACT, n, beta);

                holds &= accuracy_sum(&a, n, alpha) <= beta * (1 + 1e-9);
                least &= alpha == 0 ||
                         accuracy_sum(&a, n, alpha * (1 - 1e-9)) > beta;
                theorem &= alpha <=
                           hsy_accuracy_alpha(&a, HSY_BOUND_HOEFFDING, n, beta);
            }
    ok(holds, "the exact error is passed no more often than beta");
    ok(least, "and no smaller one is");
    ok(theorem, "the theorem is never below it");
}

static void people(void)
{
    const hsy_accuracy a = accuracy_rr(1, -1);
    bool holds = true, needed = true;

    for (double alpha = 0.3; alpha > 0.03; alpha *= 0.7) {
        const double n = hsy_accuracy_users(&a, HSY_BOUND_EXACT, alpha, 0.05);

        for (double m = n; m < n + 200; m++)
            holds &= accuracy_sum(&a, (int)m, alpha) <= 0.05 * (1 + 1e-9);
        needed &= accuracy_sum(&a, (int)n - 1, alpha) > 0.05;
    }
    ok(holds, "so many people are enough, and so is any larger number");
    ok(needed, "one less is not");
}

/* The chance of every number of people from the answer on, where its steps are
 * long and where they are short. */
static void people_after(void)
{
    static const double laws[][2] = {{0.2689, 0.4621}, {0.0101, 0.4621},
                                     {0.001, 0.245},   {0.001, 0.03},
                                     {0.5, 0.4621},    {0.3, 0.9}};
    const hsy_accuracy all = accuracy_rr(1, -1);
    bool holds = true, needed = true;

    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++)
        for (double beta = 0.3; beta > 1e-4; beta /= 20) {
            const hsy_accuracy a = {.lambda = laws[i][0],
                                    .gap = laws[i][1],
                                    .binomial = true,
                                    .at_once = 1};
            const double n =
                hsy_accuracy_users(&a, HSY_BOUND_EXACT, 0.001, beta);

            for (double m = n; m < n + 300; m++)
                holds &=
                    hsy_accuracy_beta(&a, HSY_BOUND_EXACT, m, 0.001) <= beta;
            needed &=
                hsy_accuracy_beta(&a, HSY_BOUND_EXACT, n - 1, 0.001) > beta;
        }
    ok(holds, "where steps are long too, any number from there on is enough");
    ok(needed, "and still one less is not");
    ok(isinf(hsy_accuracy_users(&all, HSY_BOUND_EXACT, 1e-9, 0.05)) &&
           hsy_accuracy_users(&all, HSY_BOUND_NORMAL, 1e-9, 0.05) > 1e17,
       "more people than can be counted are no answer");
}

/* d times a chance each; the mean of the largest. */
static void many(void)
{
    hsy_accuracy a = accuracy_rr(1, 0);
    const double one = hsy_accuracy_alpha(&a, HSY_BOUND_NORMAL, 1e4, 0.001);

    a.at_once = 50;
    ok(accuracy_near(hsy_accuracy_alpha(&a, HSY_BOUND_NORMAL, 1e4, 0.05), one,
                     1e-12) &&
           hsy_accuracy_beta(&a, HSY_BOUND_HOEFFDING, 10, 0.01) == 1,
       "fifty at once have a fiftieth of the chance each, and no chance passes "
       "1");
    ok(accuracy_near(hsy_normal_largest(1), sqrt(2 / acos(-1.0)), 1e-9),
       "the mean of |N| is sqrt(2/pi)");
    ok(accuracy_near(hsy_normal_largest(2), 2 / sqrt(acos(-1.0)), 1e-9),
       "and of the larger of two 2/sqrt(pi)");
    ok(hsy_normal_largest(1e6) > 4.8 && hsy_normal_largest(1e6) < 5.1,
       "of a million about 5");
}

/* Discrete Laplace: P[|X| >= t] = 2 r^t / (1 + r), summed. */
static void central(void)
{
    bool holds = true;

    for (double epsilon = 0.1; epsilon < 5; epsilon *= 2) {
        const double n = 1000, r = exp(-epsilon);
        const double t = round(hsy_central_alpha(epsilon, 1, n, 0.05) *
                               n); /* passed at t+1 */
        double beyond = 0;

        for (double x = t + 1; x < t + 2000; x++)
            beyond += 2 * (1 - r) / (1 + r) * pow(r, x);
        holds &= beyond <= 0.05 && beyond + 2 * (1 - r) / (1 + r) * pow(r, t) >
                                       (t > 0 ? 0.05 : 0);
    }
    ok(holds, "a curator's error is passed no more often than beta, and no "
              "smaller one is");
    ok(hsy_central_users(1, 1, 0.01, 0.05) == 300 &&
           hsy_central_alpha(1, 1, 300, 0.05) <= 0.01,
       "300 people for one percent");
}

static void refused(void)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .kind = HSY_KIND_BINS,
                           .mechanism = "sw",
                           .d = 16,
                           .hi = 100,
                           .nano_epsilon = HSY_NANO};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    hsy_accuracy a;

    ok(s != NULL && eq_status(hsy_scheme_init(s, &spec, NULL), HSY_OK) &&
           eq_status(hsy_accuracy_of(s, &a, 0, 1, NULL), HSY_E_UNKNOWN),
       "what is estimated by iteration has no bound");
    free(s);
}

static hsy_accuracy accuracy_scheme(const char *mechanism, hsy_kind kind,
                                    uint32_t d, uint64_t nano,
                                    hsy_scheme_info *info)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .kind = kind,
                           .mechanism = mechanism,
                           .d = d,
                           .hi = kind == HSY_KIND_NUMBER ? 100 : 0,
                           .nano_epsilon = nano};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    hsy_accuracy a = {0};

    if (s == NULL || hsy_scheme_init(s, &spec, NULL) != HSY_OK ||
        hsy_accuracy_of(s, &a, 0, 1, NULL) != HSY_OK)
        a.variance = NAN;
    else
        hsy_scheme_describe(s, info);
    free(s);
    return a;
}

/* No plan is better than the variance that the mechanism itself states, and
 * none is without a number. */
static void stated(const char *name, uint32_t kind, uint32_t d)
{
    bool holds = true;

    for (uint64_t e = 1; e <= 6; e++) {
        hsy_scheme_info info = {0};
        const hsy_accuracy a =
            accuracy_scheme(name, kind, d, e * HSY_NANO, &info);
        const double least =
            kind == HSY_KIND_NUMBER ? a.variance * (1 - 1e-9) : a.variance;

        holds &= a.variance >= info.v0 * (1 - 1e-9) && isfinite(a.variance);
        holds &= isfinite(a.width) && (!a.binomial || a.gap > 0);
        holds &= (kind != HSY_KIND_NUMBER && a.width == 0) ||
                 a.width * a.width / 4 >= least;
    }
    ok(holds, "%s: the variance is no less than it says", name);
}

/* rr takes two values, a matrix says its own. */
static void mechanisms(void)
{
    const hsy_catalogue *row;
    unsigned shares = 0, means = 0;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++) {
        if (row->analysis != HSY_ANALYSIS_POINTS ||
            strcmp(row->name, "rr") == 0 || strcmp(row->name, "matrix") == 0)
            continue;
        if (row->kinds >> HSY_KIND_NUMBER & 1) {
            stated(row->name, HSY_KIND_NUMBER, 0);
            means++;
        } else if (row->kinds >> HSY_KIND_VALUES & 1) {
            stated(row->name, HSY_KIND_VALUES, 100);
            shares++;
        }
    }
    ok(shares >= 12 && means >= 5, "%u shares, %u means", shares, means);
}

/* Hash functions that all reports share are in no theorem about independent
 * terms. Hadamard response of several blocks has one, with a width of its own.
 */
static void laws(void)
{
    hsy_scheme_info info = {0};
    const hsy_accuracy cms =
        accuracy_scheme("cms", HSY_KIND_VALUES, 100, HSY_NANO, &info);
    const hsy_accuracy hcms =
        accuracy_scheme("hcms", HSY_KIND_VALUES, 100, HSY_NANO, &info);
    const hsy_accuracy hr = accuracy_scheme("hr", HSY_KIND_VALUES, 100,
                                            UINT64_C(5) * HSY_NANO, &info);
    const double blocks = (double)info.param[HSY_PARAM_BLOCKS], E = exp(5);

    ok(!cms.binomial && cms.width == 0 && !hcms.binomial && hcms.width == 0,
       "sketches have neither a theorem nor a binomial law");
    ok(blocks > 1 && !hr.binomial &&
           accuracy_near(hr.width, 2 * (2 * blocks - 1 + E) / (E - 1), 1e-9),
       "hr of several blocks has the width of its terms, and no binomial law");
}

/* Every mechanism of shares: the stated variance is that of its law. */
static void limit(void)
{
    ok(accuracy_near(hsy_best_known_variance(2, 1), 0.920673594207792319,
                     1e-12),
       "of two values the best is randomized response");
    ok(accuracy_near(hsy_best_known_variance(1e9, 1), 3.68269437683116928,
                     1e-6),
       "of very many 4 e^epsilon / (e^epsilon - 1)^2");
}

int main(void)
{
    vectors();
    exact();
    people();
    people_after();
    many();
    central();
    refused();
    mechanisms();
    laws();
    limit();
    return tap_done();
}
