/* test_post.c - post-processing of whole domains. */
#include "hearsay.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#define MANY 1000

static hsy_evidence points[MANY];
static double out[MANY], scratch[MANY];

static bool post_near(double got, double want, double bound)
{
    return eq_near(got, want, bound);
}

static void set(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        points[i] = (hsy_evidence){.value = values[i],
                                   .n = 1000,
                                   .support = 0,
                                   .p = 0.5,
                                   .q = 0.25,
                                   .v0 = 3,
                                   .v1 = 4};
}

static bool post(size_t count, hsy_post method)
{
    return hsy_post_process(out, points, count, method, scratch, NULL) ==
           HSY_OK;
}

static bool result(const double *want, size_t count, double bound)
{
    bool same = true;

    for (size_t i = 0; i < count; i++)
        same = same && post_near(out[i], want[i], bound);
    return same;
}

/* The example of the handbook, by every method. */
static void by_hand(void)
{
    static const double x[4] = {.5, .4, .2, -.1};
    static const double sub[4] = {.5 - .1 / 3, .4 - .1 / 3, .2 - .1 / 3, 0};
    static const double mul[4] = {.5 / 1.1, .4 / 1.1, .2 / 1.1, 0};
    static const double cut[4] = {.5, .4, .1, 0};
    const double threshold = hsy_normal_quantile(1 - 0.05 / 4) * sqrt(0.003);

    set(x, 4);
    ok(post(4, HSY_POST_NONE) && result(x, 4, 0), "none changes nothing");
    ok(post(4, HSY_POST_NORM) && result(x, 4, 1e-15),
       "norm: they make 1 already");
    ok(post(4, HSY_POST_NORM_SUB) && result(sub, 4, 1e-15), "norm-sub");
    ok(post(4, HSY_POST_NORM_MUL) && result(mul, 4, 1e-15), "norm-mul");
    ok(post(4, HSY_POST_NORM_CUT) && result(cut, 4, 1e-15), "norm-cut");
    points[2].value = threshold * 1.001;
    points[1].value = threshold * 0.999;
    ok(post(4, HSY_POST_BASE_CUT) && out[0] == .5 && out[1] == 0 &&
           out[2] == points[2].value && out[3] == 0,
       "base-cut keeps what passes z over all values");
    points[2].residual_variance = 0.001;
    ok(post(4, HSY_POST_BASE_CUT) && out[2] == 0, "base-cut minds the floor");
}

/* The counts of four values under d-ary randomized response at epsilon 1. */
static void set_counts(const double *counts, size_t d, double epsilon)
{
    const double e = exp(epsilon), z = e + (double)d - 1;
    double n = 0;

    for (size_t i = 0; i < d; i++)
        n += counts[i];
    for (size_t i = 0; i < d; i++)
        points[i] =
            (hsy_evidence){.value = (counts[i] / n - 1 / z) / ((e - 1) / z),
                           .n = n,
                           .support = counts[i],
                           .p = e / z,
                           .q = 1 / z,
                           .v0 = 1,
                           .v1 = 1};
}

static void maximum_likelihood(void)
{
    static const double counts[4] = {500, 300, 150, 50};
    static const double want[4] = {0.770494176717331, 0.229505823282668, 0, 0};
    static const double inside[4] = {300, 260, 230, 210};

    set_counts(counts, 4, 1);
    ok(post(4, HSY_POST_MLE) && result(want, 4, 1e-14),
       "maximum likelihood of .5 .3 .15 .05");
    set_counts(inside, 4, 1);
    ok(post(4, HSY_POST_MLE) && post_near(out[0], points[0].value, 1e-14) &&
           post_near(out[3], points[3].value, 1e-14),
       "inside the simplex it is the plain estimate");
}

/* EM from anywhere climbs to the same place. */
static void em_agrees(void)
{
    static const double counts[6] = {90, 90, 20, 400, 150, 250};
    double theta[6], sum = 0;
    bool same = true;

    set_counts(counts, 6, 0.7);
    for (size_t i = 0; i < 6; i++)
        theta[i] = 1.0 / 6;
    for (int round = 0; round < 20000; round++) {
        double next[6] = {0};

        for (size_t y = 0; y < 6; y++) {
            const double p = points[y].p, q = points[y].q;
            const double lambda = q + theta[y] * (p - q);

            for (size_t v = 0; v < 6; v++)
                next[v] +=
                    theta[v] * counts[y] / 1000 * (v == y ? p : q) / lambda;
        }
        for (size_t v = 0; v < 6; v++)
            theta[v] = next[v];
    }
    ok(post(6, HSY_POST_MLE), "counts of six values");
    for (size_t i = 0; i < 6; i++) {
        same = same && post_near(out[i], theta[i], 1e-7);
        sum += out[i];
    }
    ok(same && post_near(sum, 1, 1e-14), "20,000 steps of EM lead there too");
}

static void mle_refuses_other_counts(void)
{
    static const double counts[3] = {50, 30, 20};
    hsy_error err = {0};

    set_counts(counts, 3, 1);
    points[0].support++;
    ok(eq_status(hsy_post_process(out, points, 3, HSY_POST_MLE, scratch, &err),
                 HSY_E_RANGE) &&
           err.msg != NULL,
       "supports that do not sum up to n");
    set_counts(counts, 3, 1);
    points[1].q *= 1.01;
    ok(!post(3, HSY_POST_MLE), "unequal probabilities");
    set_counts(counts, 3, 1);
    for (size_t i = 0; i < 3; i++)
        points[i].p = 0.5;
    ok(!post(3, HSY_POST_MLE), "probabilities of another mechanism");
    set_counts(counts, 3, 1);
    points[2].residual_variance = 1e-6;
    ok(!post(3, HSY_POST_MLE), "corrected counts");
}

static void yes_no(void)
{
    static const hsy_post clips[] = {HSY_POST_NORM_SUB, HSY_POST_NORM_MUL,
                                     HSY_POST_NORM_CUT, HSY_POST_MLE};
    static const double values[] = {-0.2, 0.3, 1.2};

    for (size_t i = 0; i < 3; i++) {
        points[0] = (hsy_evidence){.value = values[i],
                                   .n = 1000,
                                   .support = 1000 * (0.25 + values[i] * 0.5),
                                   .p = 0.75,
                                   .q = 0.25,
                                   .v0 = 0.75,
                                   .v1 = 0.75};
        ok(post(1, HSY_POST_NORM) && out[0] == values[i],
           "norm leaves a yes/no share alone");
        for (size_t k = 0; k < 4; k++)
            ok(post(1, clips[k]) && out[0] == fmin(fmax(values[i], 0), 1),
               "method %d clips %g to [0, 1]", (int)clips[k], values[i]);
        ok(post(1, HSY_POST_BASE_CUT) && out[0] == fmax(values[i], 0),
           "base-cut of a yes/no share");
    }
}

/* The projection is the only point of the simplex x - out is normal to. */
static void projection_is_optimal(void)
{
    uint64_t state = 1;
    double sum = 0, add = 0;
    bool optimal = true;

    for (size_t i = 0; i < MANY; i++) {
        double x;

        state = state * 6364136223846793005u + 1442695040888963407u;
        x = (double)(state >> 11) * 0x1p-53;
        points[i] = (hsy_evidence){.value = x * x * 0.02 - 0.005, .n = 1};
    }
    ok(post(MANY, HSY_POST_NORM_SUB), "a thousand values");
    for (size_t i = 0; i < MANY; i++) {
        sum += out[i];
        if (out[i] > 0)
            add = out[i] - points[i].value;
    }
    for (size_t i = 0; i < MANY; i++)
        optimal = optimal &&
                  (out[i] > 0 ? post_near(out[i] - points[i].value, add, 1e-15)
                              : points[i].value + add <= 1e-15);
    ok(post_near(sum, 1, 1e-12) && optimal,
       "norm-sub is the nearest point of the simplex");
    ok(post(MANY, HSY_POST_NORM), "norm of a thousand values");
    sum = 0;
    for (size_t i = 0; i < MANY; i++)
        sum += out[i];
    ok(post_near(sum, 1, 1e-12), "norm makes 1");
}

static void odd_shapes(void)
{
    static const double negative[3] = {-1, -2, -3};
    static const double third[3] = {1. / 3, 1. / 3, 1. / 3};
    static const double one[3] = {1, 0, 0};
    static const double equal[4] = {.4, .4, .4, .4};
    static const double kept[4] = {.4, .4, .2, 0};
    static const double tiny[3] = {.2, .1, -.3};
    static const double stays[3] = {.2, .1, 0};
    static const double large[3] = {1.5, .2, -1};

    set(negative, 3);
    ok(post(3, HSY_POST_NORM_MUL) && result(third, 3, 1e-15),
       "norm-mul of nothing positive: all alike");
    ok(post(3, HSY_POST_NORM_SUB) && result(one, 3, 1e-15),
       "norm-sub of nothing positive");
    ok(post(3, HSY_POST_NORM_CUT) && out[0] == 0 && out[2] == 0,
       "norm-cut of nothing positive: nothing");
    set(equal, 4);
    ok(post(4, HSY_POST_NORM_CUT) && result(kept, 4, 1e-15),
       "norm-cut of equal values: earlier ones first");
    set(tiny, 3);
    ok(post(3, HSY_POST_NORM_CUT) && result(stays, 3, 0),
       "norm-cut of less than 1 only drops negatives");
    set(large, 3);
    ok(post(3, HSY_POST_NORM_CUT) && result(one, 3, 0),
       "norm-cut of more than 1 in one value");
}

/* The sums over all counts, one by one, with the s that makes the mean n / d.
 */
static double power_direct(double x, double sd, double s, double n)
{
    double sum = 0, mean = 0;

    for (double c = 1; c <= n; c++) {
        double w = pow(c, -s) * exp(-(c - x) * (c - x) / (2 * sd * sd));

        sum += w;
        mean += w * c;
    }
    return mean / sum;
}

static void power_prior(void)
{
    static const double x[5] = {-.01, 0, .02, .1, .9};
    const double n = 20000;
    double low = 0, high = 10, off = 0;

    for (int i = 0; i < 50; i++) {
        double s = (low + high) / 2;

        if (power_direct(n / 5, 1e9, s, n) > n / 5)
            low = s;
        else
            high = s;
    }
    set(x, 5);
    for (int i = 0; i < 5; i++)
        points[i].n = n;
    ok(post(5, HSY_POST_POWER), "power takes five values");
    for (int i = 0; i < 5; i++) {
        double sd = sqrt(n * points[i].v0);

        off = fmax(off,
                   fabs(n * out[i] / power_direct(n * x[i], sd, low, n) - 1));
    }
    ok(off < 1e-3, "power: the sums over all counts, within %.1e", off);
    for (int i = 0; i < 5; i++)
        points[i].n = 1e9;
    ok(post(5, HSY_POST_POWER) && fabs(out[4] - .9) < 1e-3 && out[0] > 0 &&
           out[0] < 1e-3,
       "power of 10^9 reports: where there is evidence it decides");
    ok(post(5, HSY_POST_POWER_NS) &&
           fabs(out[0] + out[1] + out[2] + out[3] + out[4] - 1) < 1e-12,
       "power-ns makes 1");
}

static void refusals(void)
{
    static const double x[2] = {.5, .5};

    set(x, 2);
    out[0] = 7;
    is_status(hsy_post_process(out, points, 0, HSY_POST_NONE, scratch, NULL),
              HSY_E_RANGE, "no values");
    is_status(hsy_post_process(out, points, 2, (hsy_post)10, scratch, NULL),
              HSY_E_RANGE, "no such method");
    is_status(hsy_post_process(out, points, 2, HSY_POST_EM, scratch, NULL),
              HSY_E_RANGE, "EM takes a tally");
    is_status(hsy_post_process(out, points, 1, HSY_POST_POWER, scratch, NULL),
              HSY_E_RANGE, "a prior of powers takes a list");
    points[0].n = points[1].n = 2;
    is_status(hsy_post_process(out, points, 2, HSY_POST_POWER, scratch, NULL),
              HSY_E_RANGE, "and more reports than values");
    points[1].value = NAN;
    is_status(hsy_post_process(out, points, 2, HSY_POST_NORM, scratch, NULL),
              HSY_E_RANGE, "a value that is no number");
    points[1].n = 0;
    is_status(hsy_post_process(out, points, 2, HSY_POST_NORM, scratch, NULL),
              HSY_E_EMPTY, "no data");
    ok(out[0] == 7, "refusals write nothing");
}

int main(void)
{
    by_hand();
    maximum_likelihood();
    em_agrees();
    mle_refuses_other_counts();
    yes_no();
    projection_is_optimal();
    odd_shapes();
    power_prior();
    refusals();
    return tap_done();
}
