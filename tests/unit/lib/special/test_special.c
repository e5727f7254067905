/* test_special.c - the special functions against 30-digit vectors. */
#include "hearsay.h"
#include "lib/special/special.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VECTORS "tests/vectors/special.txt"
#define BOUND 1e-12

static double binomial(double k, double n, double p)
{
    return hsy_binomial_cdf((uint64_t)k, (uint64_t)n, p);
}

static const struct function {
    const char *name;
    int arguments;
    double (*one)(double);
    double (*two)(double, double);
    double (*three)(double, double, double);
} functions[] = {{"normal_cdf", 1, hsy_normal_cdf, NULL, NULL},
                 {"normal_quantile", 1, hsy_normal_quantile, NULL, NULL},
                 {"chi2_cdf", 2, NULL, hsy_chi2_cdf, NULL},
                 {"chi2_upper", 2, NULL, hsy_chi2_upper, NULL},
                 {"chi2_quantile", 2, NULL, hsy_chi2_quantile, NULL},
                 {"beta_inc", 3, NULL, NULL, hsy_beta_inc},
                 {"beta_inv", 3, NULL, NULL, hsy_beta_inv},
                 {"binomial_cdf", 3, NULL, NULL, binomial}};

#define FUNCTIONS (sizeof functions / sizeof functions[0])

static double call(const struct function *f, const double *x)
{
    if (f->arguments == 1)
        return f->one(x[0]);
    return f->arguments == 2 ? f->two(x[0], x[1]) : f->three(x[0], x[1], x[2]);
}

/* The function a line begins with, its numbers in x; NULL for a comment. */
static const struct function *parse(const char *line, double x[4])
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        size_t len = strlen(functions[i].name);
        char *at = NULL;

        if (strncmp(line, functions[i].name, len) != 0 || line[len] != ' ')
            continue;
        for (int k = 0; k <= functions[i].arguments; k++)
            x[k] = strtod(k == 0 ? line + len : at, &at);
        return &functions[i];
    }
    return NULL;
}

static void vectors_hold(const char *path)
{
    double worst[FUNCTIONS] = {0};
    int count[FUNCTIONS] = {0};
    char line[256];
    FILE *file = fopen(path, "r");

    if (!ok(file != NULL, "%s can be read", path))
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        double x[4] = {0}, got, error;
        const struct function *f = parse(line, x);

        if (f == NULL)
            continue;
        got = call(f, x);
        error = fabs(got / x[f->arguments] - 1);
        count[f - functions]++;
        worst[f - functions] = fmax(worst[f - functions], error);
        if (!(error <= BOUND))
            ok(false, "got %.17g (error %.2g) for %s", got, error, line);
    }
    fclose(file);
    for (size_t i = 0; i < FUNCTIONS; i++)
        ok(count[i] > 0 && worst[i] <= BOUND,
           "%s agrees with %d vectors within 1e-12 (%.1e)", functions[i].name,
           count[i], worst[i]);
}

static bool special_near(double got, double want)
{
    return eq_near(got, want, BOUND * fabs(want));
}

static void known_quantiles(void)
{
    ok(special_near(hsy_normal_quantile(0.975), 1.95996398454005424),
       "z_0.975");
    ok(special_near(hsy_chi2_quantile(0.95, 1), 3.84145882069412596),
       "chi2_1,0.95");
    ok(special_near(-hsy_normal_quantile(0.05 / 1024), 3.89634253260832803),
       "z over 1024 comparisons");
    ok(special_near(-hsy_normal_quantile(0.05 / 65536), 4.80781628427973226),
       "z over 65536 comparisons");
    ok(special_near(hsy_beta_inv(0.005, 7311, 2690), 0.719520423851050165),
       "Clopper-Pearson lower end of 7311 in 10000");
    ok(special_near(hsy_beta_inv(0.995, 2690, 7311), 0.280479576148949835),
       "Clopper-Pearson upper end of 2689 in 10000");
}

static void edges_are_exact(void)
{
    ok(hsy_beta_inc(3, 4, 0) == 0 && hsy_beta_inc(3, 4, 1) == 1 &&
           hsy_beta_inv(0, 3, 4) == 0 && hsy_beta_inv(1, 3, 4) == 1,
       "beta at 0 and 1");
    ok(hsy_chi2_cdf(0, 3) == 0 && hsy_chi2_upper(0, 3) == 1 &&
           hsy_chi2_cdf(INFINITY, 3) == 1 && hsy_chi2_upper(INFINITY, 3) == 0,
       "chi-square at 0 and infinity");
    ok(hsy_chi2_quantile(0, 3) == 0 && isinf(hsy_chi2_quantile(1, 3)),
       "chi-square quantiles of 0 and 1");
    ok(isinf(hsy_normal_quantile(0)) && isinf(hsy_normal_quantile(1)) &&
           hsy_normal_quantile(0.5) == 0 && hsy_normal_cdf(0) == 0.5,
       "normal at 0, 1/2 and 1");
    ok(hsy_binomial_cdf(5, 5, 0.3) == 1 && hsy_binomial_cdf(9, 5, 0.3) == 1 &&
           hsy_binomial_cdf(4, 5, 1) == 0 && hsy_binomial_cdf(0, 5, 0) == 1 &&
           hsy_binomial_cdf(0, 0, 0.5) == 1,
       "binomial at its ends");
}

static void senseless_arguments_are_nan(void)
{
    ok(isnan(hsy_beta_inc(0, 1, 0.5)) && isnan(hsy_beta_inc(1, -1, 0.5)) &&
           isnan(hsy_beta_inc(1, 1, 1.5)) && isnan(hsy_beta_inc(1, 1, NAN)) &&
           isnan(hsy_beta_inv(-0.1, 1, 1)) && isnan(hsy_beta_inv(0.5, 0, 1)),
       "beta outside its domain is NaN");
    ok(isnan(hsy_chi2_cdf(-1, 3)) && isnan(hsy_chi2_upper(1, 0)) &&
           isnan(hsy_chi2_quantile(2, 3)) && isnan(hsy_chi2_quantile(0.5, 0)),
       "chi-square outside its domain is NaN");
    ok(isnan(hsy_normal_quantile(-0.1)) && isnan(hsy_normal_quantile(1.1)) &&
           isnan(hsy_binomial_cdf(1, 2, 1.5)),
       "normal and binomial outside their domains are NaN");
}

/* A grid of shapes and probabilities, each inverse put back into its function.
 * Near 1 a quantile's own rounding shows in the smaller tail. */
static void inverses_invert(void)
{
    static const double shapes[] = {0.5, 1, 7, 39, 41, 1000, 1e6, 1e9};
    static const double ps[] = {1e-30, 1e-6, 0.025, 0.4};
    double worst = 0;

    for (size_t i = 0; i < 64 * 4; i++) {
        double a = shapes[i / 32], b = shapes[i / 4 % 8], p = ps[i % 4];
        double x = hsy_beta_inv(p, a, b);
        double rounding = (a + b / (1 - x)) * 4e-16;

        if (x < 0.999)
            worst = fmax(worst, fabs(hsy_beta_inc(a, b, x) / p - 1) - rounding);
    }
    ok(worst <= BOUND, "beta_inv inverts beta_inc (%.1e)", worst);
    worst = 0;
    for (size_t i = 0; i < 8 * 4; i++) {
        double k = shapes[i / 4], p = ps[i % 4];
        double x = hsy_chi2_quantile(p, k);

        worst = fmax(worst, fabs(hsy_chi2_cdf(x, k) / p - 1) - k * 4e-16);
    }
    ok(worst <= BOUND, "chi2_quantile inverts chi2_cdf (%.1e)", worst);
}

/* Starts so far out that the density over the tail is rounding only. */
static void far_starts_converge(void)
{
    double x = hsy_beta_inv(6.53639e-207, 4.8427e8, 0.450254);
    double tail = hsy_beta_inc(4.8427e8, 0.450254, x);

    /* One rounding of x moves the tail by 5e-8 of itself here. */
    ok(fabs(tail / 6.53639e-207 - 1) < 1e-6, "beta_inv from far below");
    x = hsy_chi2_quantile(0.97429, 0.00345754);
    ok(special_near(hsy_chi2_cdf(x, 0.00345754), 0.97429),
       "chi2_quantile from above");
}

/* The two methods on both sides of the switch at 40 give one function. */
static void methods_meet(void)
{
    double worst = 0;

    for (int i = 1; i < 100; i++) {
        double x = i / 100.0, below = 39.999999999, above = 40.000000001;
        double mid = sqrt(hsy_beta_inc(below, 55, x) *
                          hsy_beta_inc(2 * 40 - below, 55, x));

        worst = fmax(worst, fabs(hsy_beta_inc(40, 55, x) / mid - 1));
        mid = sqrt(hsy_chi2_cdf(160 * x, 2 * below) *
                   hsy_chi2_cdf(160 * x, 2 * above));
        worst = fmax(worst, fabs(hsy_chi2_cdf(160 * x, 80) / mid - 1));
    }
    ok(worst <= BOUND, "fraction and quadrature meet at 40 (%.1e)", worst);
}

int main(int argc, char **argv)
{
    vectors_hold(argc > 1 ? argv[1] : VECTORS);
    known_quantiles();
    edges_are_exact();
    senseless_arguments_are_nan();
    inverses_invert();
    far_starts_converge();
    methods_meet();
    return tap_done();
}
