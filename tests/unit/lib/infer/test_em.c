/* test_em.c - EM climbs, ends at the top, and says so; counts drawn anew. */
#include "lib/infer/infer.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

/* A scheme and a tally of given counts. */
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

/* Theory 15.7: the exact maximum of grr. */
static void grr_vector(void)
{
    static const int64_t counts[4] = {10, 6, 3, 1};
    static const double want[4] = {0.770494176717331, 0.229505823282668, 0, 0};
    const hsy_density_how how = {.gain = 1e-13, .steps = 100000};
    hsy_spec spec = trial_values("grr", 4, 1);
    struct subject x = open_subject(&spec, counts, 4);
    hsy_density_fit fit = {0};
    double shares[4], off = 0;
    hsy_status st;

    st = hsy_density(x.s, shares, &fit, &x.t, &how, x.scratch, NULL);
    ok(st == HSY_OK && fit.converged && fit.method == HSY_DENSITY_EM,
       "grr: converges in %llu steps", (unsigned long long)fit.steps);
    for (size_t i = 0; i < 4; i++)
        off = fmax(off, fabs(shares[i] - want[i]));
    ok(off < 1e-6, "grr: the exact maximum of 15.7 (%.1e)", off);
    close_subject(&x);
}

/* rr: inside (0, 1) the most likely share is the unbiased one. */
static void rr_inside(void)
{
    static const int64_t ones = 60;
    const hsy_density_how how = {.gain = 1e-14, .steps = 100000};
    hsy_spec spec = trial_values("rr", 2, 1);
    struct subject x = open_subject(&spec, &ones, 1);
    hsy_evidence points[2];
    double shares[2];
    hsy_status st;

    x.t.strata[0] = 100;
    hsy_evidence_of(x.s, points, &x.t, NULL, 2, NULL, NULL);
    st = hsy_density(x.s, shares, NULL, &x.t, &how, x.scratch, NULL);
    ok(st == HSY_OK && fabs(shares[1] - points[1].value) < 1e-6 &&
           fabs(shares[0] + shares[1] - 1) < 1e-12,
       "rr: %.9f is the unbiased share", shares[1]);
    close_subject(&x);
}

static double likelihood(const struct subject *x, const double *theta)
{
    double image[64], scratch[64], sum = 0;

    x->s->mech->estimate->channel->forward(x->s, image, theta, scratch);
    for (size_t y = 0; y < x->s->cells; y++)
        sum += (double)x->t.cells[y] * log(image[y]);
    return sum;
}

/* All shares in steps of 1/200: none is more likely than what EM finds. */
static void brute_force(void)
{
    static const int64_t counts[5] = {61, 40, 77, 30, 12};
    const hsy_density_how how = {
        .method = HSY_DENSITY_EM, .gain = 1e-12, .steps = 100000};
    hsy_spec spec = trial_bins("sw", 3, 1);
    struct subject x;
    double shares[3], best = -INFINITY, at[3] = {0}, top;

    spec.param[HSY_PARAM_WINDOW] = 3;
    x = open_subject(&spec, counts, 5);
    hsy_density(x.s, shares, NULL, &x.t, &how, x.scratch, NULL);
    top = likelihood(&x, shares);
    for (int i = 0; i <= 200; i++)
        for (int j = 0; i + j <= 200; j++) {
            const double theta[3] = {i / 200.0, j / 200.0,
                                     (200 - i - j) / 200.0};
            double l = likelihood(&x, theta);

            if (l > best) {
                best = l;
                memcpy(at, theta, sizeof at);
            }
        }
    ok(top >= best - 1e-9 && top < best + 0.05,
       "sw: no share is more likely (%.6f, on the grid %.6f)", top, best);
    ok(fabs(at[0] - shares[0]) < 0.01 && fabs(at[1] - shares[1]) < 0.01,
       "and it is where the grid has its maximum");
    close_subject(&x);
}

/* The likelihood after 1, 2, 3, ... steps. */
static void never_falls(void)
{
    int64_t counts[64];
    hsy_spec spec = trial_bins("sw", 20, 1);
    struct subject x;
    double shares[20], last = -INFINITY;
    bool rises = true, sums = true;

    for (size_t i = 0; i < 30; i++)
        counts[i] = (int64_t)(i * i * 37 % 101) + (i == 12 ? 300 : 0);
    x = open_subject(&spec, counts, 30);
    ok(x.s->cells == 30, "20 bins have 30 places");
    for (uint64_t steps = 1; steps <= 300; steps++) {
        const hsy_density_how how = {
            .method = HSY_DENSITY_EM, .gain = 1e-300, .steps = steps};
        hsy_density_fit fit = {0};
        double sum = 0;

        hsy_density(x.s, shares, &fit, &x.t, &how, x.scratch, NULL);
        rises &= fit.log_likelihood >= last - 1e-9 && fit.steps == steps;
        last = fit.log_likelihood;
        for (size_t i = 0; i < 20; i++)
            sum += shares[i];
        sums &= fabs(sum - 1) < 1e-12;
    }
    ok(rises, "EM never lowers the likelihood, in 300 steps");
    ok(sums, "and shares make 1 after each");
    close_subject(&x);
}

/* What no method takes, by name. */
static void refusals(void)
{
    static const int64_t counts[6] = {1, 2, 3, 4, 5, 6};
    hsy_spec grr = trial_values("grr", 6, 1), oue = trial_values("oue", 6, 1);
    struct subject x = open_subject(&grr, counts, 6);
    struct subject y = open_subject(&oue, counts, 6);
    const hsy_density_how ems = {.method = HSY_DENSITY_EMS}, em = {0};
    const hsy_density_how odd = {.method = (hsy_density_method)3};
    const hsy_density_how again = {.level = 0.95, .repeats = -1};
    static const double levels[] = {0, 1, 100, -0.5};
    hsy_estimate est[6];
    hsy_error err = {0};
    double shares[6] = {7};

    ok(hsy_density(x.s, shares, NULL, &x.t, &ems, x.scratch, &err) ==
               HSY_E_RANGE &&
           err.field == HSY_FIELD_DENSITY,
       "a list has no neighbours to smooth over");
    ok(hsy_density(x.s, shares, NULL, &x.t, &odd, x.scratch, &err) ==
           HSY_E_RANGE,
       "no such method");
    ok(hsy_density(y.s, shares, NULL, &y.t, &em, y.scratch, &err) ==
               HSY_E_REFUSED &&
           err.field == HSY_FIELD_MECHANISM && hsy_density_scratch(y.s) == 0,
       "oue: its counters have no likelihood");
    ok(hsy_density_estimate(x.s, est, NULL, &x.t, &again, x.scratch, &err) ==
               HSY_E_RANGE &&
           err.field == HSY_FIELD_REPEATS,
       "fewer than no repeats");
    for (size_t i = 0; i < 4; i++) {
        const hsy_density_how level = {.level = levels[i]};

        ok(hsy_density_estimate(x.s, est, NULL, &x.t, &level, x.scratch,
                                &err) == HSY_E_RANGE &&
               err.field == HSY_FIELD_LEVEL,
           "a level of %g", levels[i]);
    }
    x.t.cells[0] = -1;
    ok(hsy_density(x.s, shares, NULL, &x.t, &em, x.scratch, &err) ==
               HSY_E_RANGE &&
           err.field == HSY_FIELD_TALLY,
       "a negative count");
    x.t.cells[0] = 2;
    ok(hsy_density(x.s, shares, NULL, &x.t, &em, x.scratch, &err) ==
           HSY_E_RANGE,
       "counts that do not add up to the reports");
    x.t.strata[0] = 0;
    ok(hsy_density(x.s, shares, NULL, &x.t, &em, x.scratch, &err) ==
           HSY_E_EMPTY,
       "no reports");
    ok(shares[0] == 7, "refusals write nothing");
    close_subject(&x);
    close_subject(&y);
}

/* Draws against the binomial law: of 20,000 those up to k, for five k; and a
 * multinomial adds up. Each check by an exact binomial tail, 1e-9. */
static void draws_of(uint64_t n, double p, hsy_stream *st)
{
    enum { DRAWS = 20000 };
    double mean = (double)n * p, sd = sqrt(mean * (1 - p));
    uint64_t at[5], below[5] = {0};
    bool good = true;

    for (int i = 0; i < 5; i++)
        at[i] = (uint64_t)fmin(fmax(floor(mean + (i - 2) * sd), 0), (double)n);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t k = hsy_binomial_draw(n, p, st);

        good &= k <= n;
        for (int j = 0; j < 5; j++)
            below[j] += k <= at[j];
    }
    for (int j = 0; j < 5; j++) {
        double f = hsy_binomial_cdf(at[j], n, p);
        double z =
            ((double)below[j] - DRAWS * f) / sqrt(fmax(DRAWS * f * (1 - f), 1));

        good &= fabs(z) < 6.5;
    }
    ok(good, "Bin(%llu, %g) follows its law", (unsigned long long)n, p);
}

static void draws(void)
{
    static const double chances[4] = {0.5, 0, 0.25, 0.25};
    double counts[4];
    hsy_stream st;

    hsy_stream_seed(&st, 5, 5);
    draws_of(10, 0.3, &st);
    draws_of(1000, 0.001, &st);
    draws_of(40, 0.5, &st);
    draws_of(1000, 0.97, &st);
    draws_of(1000000000, 0.2, &st);
    draws_of(1000000000, 3e-9, &st);
    ok(hsy_binomial_draw(9, 0, &st) == 0 && hsy_binomial_draw(9, 1, &st) == 9 &&
           hsy_binomial_draw(0, 0.4, &st) == 0,
       "certain counts");
    hsy_multinomial_draw(counts, chances, 4, 1000000, &st);
    ok(counts[0] + counts[2] + counts[3] == 1000000 && counts[1] == 0 &&
           fabs(counts[0] - 500000) < 6.5 * 500 &&
           fabs(counts[2] - 250000) < 6.5 * 433,
       "a multinomial adds up");
    hsy_stream_clear(&st);
}

int main(void)
{
    grr_vector();
    rr_inside();
    brute_force();
    never_falls();
    refusals();
    draws();
    return tap_done();
}
