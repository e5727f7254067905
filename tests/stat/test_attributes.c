/*
 * test_attributes.c - errors of attributes' shares, among those who answered,
 * are as large as stated: smp's sampling of people included, joint's sums of
 * cells included; and their intervals hold.
 *
 * Over RUNS collections of the same people the sum of squared errors over the
 * stated variance is close to chi-squared with RUNS degrees of freedom.
 */
#include "lib/special/special.h"
#include "rig/stat.h"
#include "tap.h"

#define RUNS 1000u
#define PEOPLE 1500u
#define VALUES 3u

struct attributes_run {
    hsy_scheme *s;
    uint8_t *reports;
    int64_t *memory;
    uint64_t codes[2 * PEOPLE];
    double share[2][VALUES]; /* of yes, and of each value */
    double square[2][VALUES], stated[2][VALUES], noise[2][VALUES];
    uint64_t covered, intervals;
};

/* 3 of 10 say yes; of the values 50, 30, 20 %. */
static void attributes_people(struct attributes_run *r)
{
    memset(r->share, 0, sizeof r->share);
    for (size_t i = 0; i < PEOPLE; i++) {
        uint64_t yes = i % 10 < 3, value = (i / 10) % 10;

        value = value < 5 ? 0 : value < 8 ? 1 : 2;
        r->codes[2 * i] = yes;
        r->codes[2 * i + 1] = value;
        r->share[0][0] += (double)yes / PEOPLE;
        r->share[1][value] += 1.0 / PEOPLE;
    }
}

static void attributes_point(struct attributes_run *r, size_t a, size_t v,
                             const hsy_evidence *p)
{
    const hsy_confidence how = {0.95, HSY_PEOPLE, HSY_SCORE, 1};
    const double f = r->share[a][v], error = p->value - f;
    hsy_evidence quiet = *p;
    hsy_estimate est;

    quiet.binomial_variance = 0;
    r->square[a][v] += error * error;
    r->stated[a][v] += stat_variance(p, f);
    r->noise[a][v] += stat_variance(&quiet, f);
    if (hsy_estimate_point(&est, p, &how, NULL) == HSY_OK)
        r->covered += est.low <= f && f <= est.high;
    r->intervals++;
}

static bool attributes_collect(struct attributes_run *r, uint64_t lane)
{
    struct stat_coins coins;
    hsy_tally t;
    hsy_scheme_info info;

    stat_coins_open(&coins, lane);
    hsy_scheme_describe(r->s, &info);
    hsy_tally_init(&t, r->s, r->memory);
    if (stat_randomize(r->s, &info, STAT_BATCH, r->reports, r->codes, PEOPLE,
                       &coins) != HSY_OK ||
        hsy_tally_batch(&t, r->s, r->reports, PEOPLE, NULL) != HSY_OK)
        return false;
    for (size_t a = 0; a < 2; a++) {
        hsy_evidence points[VALUES];
        size_t n = a == 0 ? 1 : VALUES;

        if (hsy_attribute_evidence(r->s, points, &t, a, NULL, n, NULL, NULL) !=
            HSY_OK)
            return false;
        for (size_t v = 0; v < n; v++)
            attributes_point(r, a, v, &points[v]);
    }
    return true;
}

/* The chance of so odd a sum of squares. */
static double attributes_odd(double square, double variance)
{
    double x = (double)RUNS * square / variance;
    double low = hsy_chi2_cdf(x, RUNS), high = hsy_chi2_upper(x, RUNS);

    return 2 * fmin(low, high);
}

static void attributes_mechanism(const char *name, double epsilon,
                                 uint64_t lane)
{
    struct attributes_run *r = stat_alloc(sizeof *r);
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = name,
                     .nano_epsilon = (uint64_t)(epsilon * 1e9)};
    double odd = 1, without = 1;
    bool good = true;
    hsy_scheme_info info;

    trial_attributes(&spec, VALUES);
    r->s = trial_scheme(&spec);
    hsy_scheme_describe(r->s, &info);
    r->reports = stat_alloc(PEOPLE * info.report_bytes);
    r->memory = stat_alloc(hsy_tally_words(r->s) * sizeof *r->memory);
    attributes_people(r);
    for (uint64_t i = 0; i < RUNS && good; i++)
        good = attributes_collect(r, lane * RUNS + i);
    for (size_t a = 0; a < 2; a++)
        for (size_t v = 0; v < (a == 0 ? 1 : VALUES); v++) {
            odd = fmin(odd, attributes_odd(r->square[a][v], r->stated[a][v]));
            without =
                fmin(without, attributes_odd(r->square[a][v], r->noise[a][v]));
        }
    ok(good && odd > 1e-9, "%s at epsilon %g: errors are as stated (odds %.2g)",
       name, epsilon, odd);
    if (strcmp(name, "smp") == 0 && epsilon > 1)
        ok(without < 1e-9,
           "control: and larger than noise alone, as half were not asked");
    /* Four shares a run, at worst wholly dependent: a fourth of the count. */
    odd = hsy_binomial_cdf(r->covered / 4, r->intervals / 4, 0.95);
    ok(odd > 1e-9 && odd < 1 - 1e-9,
       "%s at epsilon %g: 95 %% intervals hold in %.2f %% of %llu", name,
       epsilon, 100 * (double)r->covered / (double)r->intervals,
       (unsigned long long)r->intervals);
    free(r->reports);
    free(r->memory);
    free(r->s);
    free(r);
}

int main(void)
{
    static const double epsilons[] = {0.5, 1, 2, 4};

    for (uint64_t e = 0; e < 4; e++) {
        attributes_mechanism("smp", epsilons[e], 900 + e);
        attributes_mechanism("joint", epsilons[e], 910 + e);
    }
    return tap_done();
}
