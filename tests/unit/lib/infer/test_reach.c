/* test_reach.c - bounds of sums of shares, and where there are none. */
#include "lib/infer/reach.h"

#include "lib/infer/infer.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

/* A scheme, a tally of given counts, and room for everything. */
struct subject {
    hsy_scheme *s;
    int64_t *memory;
    hsy_tally t;
    void *scratch;
};

static struct subject open_subject(const hsy_spec *spec, const int64_t *counts,
                                   size_t n)
{
    struct subject x = {.s = trial_scheme(spec)};

    x.memory = trial_memory(hsy_tally_words(x.s) * 8);
    hsy_tally_init(&x.t, x.s, x.memory);
    for (size_t i = 0; i < n; i++) {
        x.t.cells[i] = counts[i];
        x.t.strata[0] += (uint64_t)counts[i];
    }
    x.scratch = trial_memory(hsy_density_estimate_scratch(x.s));
    return x;
}

static void close_subject(struct subject *x)
{
    free(x->s);
    free(x->memory);
    free(x->scratch);
}

/* A reach of three bins and five places, for all sums of them. */
static struct reach three(struct subject *x, double **room)
{
    static const int64_t counts[5] = {61, 40, 77, 30, 12};
    static const double theta[3] = {0.5, 0.1, 0.4};
    hsy_spec spec = trial_bins("sw", 3, 1);
    double shares[5], scratch[8];
    struct reach r;

    spec.param[HSY_PARAM_WINDOW] = 3;
    *x = open_subject(&spec, counts, 5);
    *room = trial_memory(hsy_reach_doubles(3, 5) * sizeof(double));
    for (size_t y = 0; y < 5; y++)
        shares[y] = (double)counts[y] / 220;
    hsy_reach_room(&r, 3, 5, *room);
    hsy_reach_channel(&r, x->s, scratch);
    hsy_reach_open(&r, theta, shares, 220, 1);
    return r;
}

/* n (x - pilot)' M' S^-1 M (x - pilot), by the whitened columns. */
static double squared(const struct reach *r, const double *x)
{
    double sum = 0;

    for (size_t y = 0; y < r->outputs; y++) {
        double off = 0;

        for (size_t v = 0; v < r->values; v++)
            off += (x[v] - r->pilot[v]) * r->white[v * r->outputs + y];
        sum += off * off;
    }
    return r->n * sum;
}

/* The largest sum on a grid of all shares at most so far from the pilot. */
static double brute_force(const struct reach *r, const double *a, int sign,
                          double z)
{
    enum { STEPS = 1000 };
    double best = -INFINITY;

    for (int i = 0; i <= STEPS; i++)
        for (int j = 0; i + j <= STEPS; j++) {
            const double x[3] = {i / (double)STEPS, j / (double)STEPS,
                                 (STEPS - i - j) / (double)STEPS};

            if (squared(r, x) <= z * z)
                best = fmax(best,
                            sign * (a[0] * x[0] + a[1] * x[1] + a[2] * x[2]));
        }
    return best;
}

static void path_is_the_largest(void)
{
    static const double sums[4][3] = {
        {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}};
    struct subject x;
    double *room;
    struct reach r = three(&x, &room);
    double off = 0, far = 0;

    for (int i = 0; i < 16; i++) {
        const double *a = sums[i / 4], z = i % 2 == 0 ? 0.5 : 1.5;
        const int sign = i / 2 % 2 == 0 ? 1 : -1;
        double level, here = 0, mu = hsy_reach_path(&r, &level, a, sign, z);

        for (size_t v = 0; v < 3; v++)
            here += sign * a[v] * r.far[v];
        if (!isfinite(mu)) {
            far++;
            continue;
        }
        off = fmax(off, fabs(here - brute_force(&r, a, sign, z)));
        off = fmax(off, fabs(sqrt(squared(&r, r.far)) - z) / 100);
    }
    ok(off < 0.003 && far < 8,
       "no shares at that distance have a larger sum (%.4f)", off);
    close_subject(&x);
    free(room);
}

static void certain_sums(void)
{
    static const double all[3] = {1, 1, 1}, none[3] = {0, 0, 0};
    static const double one[3] = {1, 0, 0};
    bool wider = true;
    struct subject x;
    double *room;
    struct reach r = three(&x, &room);

    ok(hsy_reach_bound(&r, all, 1, 2) == 1 &&
           hsy_reach_bound(&r, all, -1, 2) == 1 &&
           hsy_reach_bound(&r, none, 1, 2) == 0,
       "everything is 1, and nothing 0");
    ok(hsy_reach_bound(&r, one, 1, 100) == 1 &&
           hsy_reach_bound(&r, one, -1, 100) == 0,
       "far enough, a share may be all or none");
    for (int i = 1; i < 5; i++) {
        const double z = i / 8.0, next = z + 0.125;

        wider &= hsy_reach_bound(&r, one, 1, z) <
                     hsy_reach_bound(&r, one, 1, next) &&
                 hsy_reach_bound(&r, one, -1, z) >
                     hsy_reach_bound(&r, one, -1, next);
    }
    ok(wider, "bounds are wider the surer they are");
    close_subject(&x);
    free(room);
}

/* Where nothing is near 0 or 1 an interval is the unbiased one, with the larger
 * of two variances. */
static void rr_is_wald(void)
{
    static const int64_t ones = 5000;
    const hsy_density_how how = {.level = 0.95,
                                 .gain = 1e-14,
                                 .steps = 100000,
                                 .target = HSY_POPULATION};
    const hsy_confidence wald = {0.95, HSY_POPULATION, HSY_WALD, 1};
    hsy_spec spec = trial_values("rr", 2, 1);
    struct subject x = open_subject(&spec, &ones, 1);
    hsy_estimate est[2], want = {0};
    hsy_evidence points[2];
    bool good;

    x.t.strata[0] = 10000;
    hsy_evidence_of(x.s, points, &x.t, NULL, 2, NULL, NULL);
    good = hsy_density_estimate(x.s, est, NULL, &x.t, &how, x.scratch, NULL) ==
               HSY_OK &&
           hsy_estimate_point(&want, &points[1], &wald, NULL) == HSY_OK;
    ok(good && fabs(est[1].low / want.low - 1) < 1e-3 &&
           fabs(est[1].high / want.high - 1) < 1e-3,
       "rr: %.5f to %.5f, Wald's %.5f to %.5f", est[1].low, est[1].high,
       want.low, want.high);
    close_subject(&x);
}

/* The population's are wider, and wider still if people came back. */
static void targets(void)
{
    static const int64_t counts[6] = {100, 200, 300, 100, 50, 60};
    hsy_spec spec = trial_values("grr", 6, 4);
    struct subject x = open_subject(&spec, counts, 6);
    hsy_density_how how = {.level = 0.95};
    hsy_estimate people[6], all[6], again[6], same[6];

    hsy_density_estimate(x.s, people, NULL, &x.t, &how, x.scratch, NULL);
    how.repeats = 4; /* the same people, whatever they send */
    hsy_density_estimate(x.s, same, NULL, &x.t, &how, x.scratch, NULL);
    how.target = HSY_POPULATION;
    hsy_density_estimate(x.s, again, NULL, &x.t, &how, x.scratch, NULL);
    how.repeats = 0;
    hsy_density_estimate(x.s, all, NULL, &x.t, &how, x.scratch, NULL);
    ok(memcmp(people, same, sizeof same) == 0 && all[2].sd > people[2].sd &&
           again[2].sd > all[2].sd && again[2].sd < 2 * all[2].sd,
       "people %.4f, population %.4f, of people who came back %.4f",
       people[2].sd, all[2].sd, again[2].sd);
    close_subject(&x);
}

static bool none(const hsy_estimate *est, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(est[i].low) || !isnan(est[i].high) || !isnan(est[i].sd) ||
            !(est[i].value >= 0))
            return false;
    return true;
}

static void no_interval(uint32_t d, hsy_density_method method, const char *why)
{
    static int64_t counts[1024];
    const hsy_density_how how = {.method = method, .level = 0.95};
    hsy_spec spec = trial_bins("sw", d, 1);
    struct subject x;
    hsy_density_fit fit = {0};
    hsy_estimate *est = trial_memory(d * sizeof *est);
    hsy_status st;

    for (size_t i = 0; i < 1024; i++)
        counts[i] = 1;
    x.s = trial_scheme(&spec);
    d = (uint32_t)x.s->cells;
    free(x.s);
    x = open_subject(&spec, counts, d);
    st = hsy_density_estimate(x.s, est, &fit, &x.t, &how, x.scratch, NULL);
    ok(st == HSY_OK && none(est, x.s->d) && fit.no_interval != NULL &&
           strstr(fit.no_interval, why) != NULL,
       "%u bins: no interval, %s", x.s->d, fit.no_interval);
    close_subject(&x);
    free(est);
}

/* Ranges of a square wave: the same bounds, and refused where there are none.
 */
static void ranges(void)
{
    static const int64_t counts[5] = {61, 40, 77, 30, 12};
    const hsy_confidence how = {0.95, HSY_POPULATION, HSY_INTERVAL_AUTO, 1};
    const hsy_confidence sure = {1, HSY_POPULATION, HSY_INTERVAL_AUTO, 1};
    const hsy_density_how same = {.level = 0.95, .target = HSY_POPULATION};
    hsy_spec spec = trial_bins("sw", 3, 1), many = trial_bins("sw", 300, 1);
    hsy_scheme *large = trial_scheme(&many);
    struct subject x;
    hsy_estimate est[3], sum;
    hsy_ranges r;
    void *scratch;

    spec.param[HSY_PARAM_WINDOW] = 3;
    x = open_subject(&spec, counts, 5);
    scratch = trial_memory(hsy_ranges_scratch(x.s));
    hsy_density_estimate(x.s, est, NULL, &x.t, &same, x.scratch, NULL);
    ok(hsy_ranges_open(&r, x.s, &x.t, scratch, NULL) == HSY_OK &&
           hsy_range(&r, &sum, 1, 2, &how, NULL) == HSY_OK &&
           fabs(sum.low - est[1].low) < 1e-9 &&
           fabs(sum.high - est[1].high) < 1e-9,
       "a range of one bin is the bin");
    ok(hsy_quantile(&r, &sum, 0.5, &how, NULL) == HSY_OK &&
           sum.low <= sum.value && sum.value <= sum.high && sum.low >= 0 &&
           sum.high <= 3,
       "a quantile has an interval around it");
    ok(hsy_range(&r, &sum, 0, 1, &sure, NULL) == HSY_E_RANGE &&
           hsy_quantile(&r, &sum, 0.5, &sure, NULL) == HSY_E_RANGE,
       "a level of 1 is refused");
    ok(hsy_ranges_scratch(large) == 0, "300 bins have no ranges");
    close_subject(&x);
    free(scratch);
    free(large);
}

int main(void)
{
    path_is_the_largest();
    certain_sums();
    rr_is_wald();
    targets();
    no_interval(16, HSY_DENSITY_EMS, "smoothing");
    no_interval(257, HSY_DENSITY_EM, "256");
    ranges();
    return tap_done();
}
