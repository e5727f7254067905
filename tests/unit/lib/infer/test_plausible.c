/* test_plausible.c - counts that honest reports could not have given. */
#include "hearsay.h"
#include "tap.h"

#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define D 16
#define RUNS 2000

static alignas(64) uint8_t scheme_bytes[4096];
static int64_t memory[4 << 20];
static hsy_evidence points[D];
static uint8_t scratch[64 << 20];
static hsy_tally tally;

static const hsy_scheme *resolve(const char *mechanism, hsy_kind kind,
                                 double epsilon)
{
    const bool hashed = strcmp(mechanism, "olh") == 0;
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = mechanism,
                           .nano_epsilon = (uint64_t)(epsilon * 1e9),
                           .kind = kind,
                           .d = kind == HSY_KIND_VALUES ? D : 0,
                           .param[HSY_PARAM_G] = hashed ? 4 : 0,
                           .param[HSY_PARAM_POOL_BITS] = hashed ? 16 : 0};
    hsy_scheme *s = (hsy_scheme *)scheme_bytes;
    hsy_error err = {0};

    if (hsy_scheme_size(&spec) > sizeof scheme_bytes ||
        hsy_scheme_init(s, &spec, &err) != HSY_OK ||
        hsy_tally_words(s) > sizeof memory / sizeof memory[0]) {
        printf("Bail out! %s: %s\n", mechanism, err.msg ? err.msg : "size");
        exit(1);
    }
    return s;
}

/* A scheme with an empty tally. */
static const hsy_scheme *scheme(const char *mechanism, hsy_kind kind,
                                double epsilon)
{
    const hsy_scheme *s = resolve(mechanism, kind, epsilon);

    hsy_tally_init(&tally, s, memory);
    return s;
}

/* xorshift64*; a binomial count by normal approximation where that is good to
 * far less than a standard deviation, by counting coins elsewhere. */
static uint64_t state = 0x2545f4914f6cdd1d;

static double uniform(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return ((double)((state * 0x2545f4914f6cdd1d) >> 12) + 0.5) * 0x1p-52;
}

static uint64_t binomial(uint64_t n, double p)
{
    uint64_t k = 0;

    if ((double)n * p * (1 - p) > 1000) {
        const double mean = (double)n * p, sd = sqrt(mean * (1 - p));

        return (uint64_t)fmax(0,
                              rint(mean + sd * hsy_normal_quantile(uniform())));
    }
    for (uint64_t i = 0; i < n; i++)
        k += uniform() < p;
    return k;
}

/* Unary reports of n people who all hold value 0, bit by bit. */
static void unary_reports(uint64_t n, double p, double q)
{
    memset(memory, 0,
           (tally.ncells + tally.nstrata + tally.nweights) * sizeof memory[0]);
    for (uint64_t i = 0; i < n; i++) {
        size_t weight = 0;

        for (size_t v = 0; v < D; v++) {
            const bool bit = uniform() < (v == 0 ? p : q);

            tally.cells[v] += bit;
            weight += bit;
        }
        tally.weights[weight]++;
    }
    tally.strata[0] = n;
}

static void set_ones(uint64_t n, uint64_t ones)
{
    tally.strata[0] = n;
    tally.cells[0] = (int64_t)ones;
}

static hsy_plausibility judge(const hsy_scheme *s, size_t count)
{
    hsy_plausibility out;

    if (hsy_evidence_scratch(s, count) > sizeof scratch ||
        hsy_evidence_of(s, points, &tally, NULL, count, scratch, NULL) !=
            HSY_OK) {
        printf("Bail out! no points\n");
        exit(1);
    }
    hsy_plausible(s, &out, &tally, points, count, true);
    return out;
}

/* So many alarms have a chance of 1e-12 or more if each has `nominal`. */
static bool at_most(int alarms, double nominal)
{
    return hsy_binomial_cdf((uint64_t)(RUNS - alarms), RUNS, 1 - nominal) >=
           1e-12;
}

/* Honest unary reports: p-values fall below 1 % at most as often as they say,
 * with the people where the support check is tightest: none holds 1 .. 15. */
static void honest_unary(const char *name)
{
    const hsy_scheme *s = scheme(name, HSY_KIND_VALUES, 1);
    int support = 0, sum = 0, weights = 0, alarms = 0;
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    for (int run = 0; run < RUNS; run++) {
        hsy_plausibility p;

        unary_reports(60 + (uint64_t)run % 7 * 50, info.p, info.q);
        p = judge(s, D);
        support += p.support_p < 0.01;
        sum += p.sum_p < 0.01;
        weights += p.weights_p < 0.01;
        alarms += p.implausible;
    }
    ok(at_most(support, 0.01) && at_most(sum, 0.01) && at_most(weights, 0.01),
       "%s: p < 0.01 in %d, %d, %d of %d honest runs", name, support, sum,
       weights, RUNS);
    is_int(alarms, 0, "%s: no false alarm", name);
}

/* A million reports made at epsilon 1.2 and claimed to be of 1. */
static void wrong_epsilon_unary(const char *name)
{
    const hsy_scheme *s = scheme(name, HSY_KIND_VALUES, 1.2);
    hsy_plausibility p;
    hsy_scheme_info made;

    hsy_scheme_describe(s, &made);
    s = scheme(name, HSY_KIND_VALUES, 1);
    unary_reports(1000000, made.p, made.q);
    p = judge(s, D);
    ok(p.implausible && p.weights_p < 1e-6 && p.sum_p < 1e-6 &&
           p.support_p < 1e-6,
       "%s at 1.2 claimed as 1: weights, sum and support tell", name);
}

/* Everyone means yes: 10^6 reports at 1.2 have more ones than 1 allows. */
static void wrong_epsilon_yes_no(void)
{
    const hsy_scheme *s = scheme("rr", HSY_KIND_YES_NO, 1);
    hsy_plausibility p;
    int alarms = 0, low = 0;

    set_ones(1000000, binomial(1000000, 1 / (1 + exp(-1.2))));
    p = judge(s, 1);
    ok(p.implausible && p.support_p < 1e-6 && p.sum_p == 1 && p.weights_p == 1,
       "rr at 1.2 claimed as 1, all yes: support tells");
    set_ones(1000000, 500000);
    p = judge(s, 1);
    ok(!p.implausible && p.support_p == 1, "rr, half yes: nothing to see");
    for (int run = 0; run < RUNS; run++) {
        set_ones(100000, binomial(100000, 1 / (1 + exp(-1))));
        p = judge(s, 1);
        low += p.support_p < 0.01;
        alarms += p.implausible;
    }
    ok(at_most(low, 0.01) && eq_int(alarms, 0),
       "rr, honest and all yes: p < 0.01 in %d of %d runs", low, RUNS);
}

/* Five standard deviations beyond n q or n p raise the alarm, four do not. */
static void five_sigmas(void)
{
    const hsy_scheme *s = scheme("rr", HSY_KIND_YES_NO, 1);
    const double q = 1 / (1 + exp(1)), n = 1e6, sd = sqrt(n * q * (1 - q));

    set_ones(1000000, (uint64_t)(n * q - 5.02 * sd));
    ok(judge(s, 1).implausible, "5 standard deviations below all-no");
    set_ones(1000000, (uint64_t)(n * q - 4 * sd));
    ok(!judge(s, 1).implausible, "4 below are noise");
    set_ones(1000000, (uint64_t)(n * (1 - q) + 5.02 * sd));
    ok(judge(s, 1).implausible, "5 standard deviations above all-yes");
    set_ones(1000000, (uint64_t)(n * (1 - q) + 4 * sd));
    ok(!judge(s, 1).implausible, "4 above are noise");
}

/* One value a report: the shares' sum says nothing, the largest count does. */
static void one_value_a_report(void)
{
    const hsy_scheme *s = scheme("grr", HSY_KIND_VALUES, 1);
    hsy_plausibility p;

    for (size_t v = 0; v < D; v++)
        tally.cells[v] = 60000;
    tally.cells[5] = 100000;
    tally.strata[0] = 1000000;
    p = judge(s, D);
    ok(!p.implausible && p.sum_p == 1, "grr: an honest histogram");
    tally.cells[5] = 250000;
    for (size_t v = 0; v < D; v++)
        if (v != 5)
            tally.cells[v] = 50000;
    p = judge(s, D);
    ok(p.implausible && eq_u64(p.odd_value, 5) && p.support_p < 1e-6,
       "grr: a count above n p is named");
}

/* Weights right on average but not in distribution: padded forgeries. */
static void padded_weights(void)
{
    const hsy_scheme *s = scheme("oue", HSY_KIND_VALUES, 1);
    hsy_plausibility p;
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    unary_reports(100000, info.p, info.q);
    p = judge(s, D);
    ok(!p.implausible, "oue: 100,000 honest reports");
    memset(tally.weights, 0, tally.nweights * sizeof tally.weights[0]);
    tally.weights[4] = 53400;
    tally.weights[5] = 46600;
    p = judge(s, D);
    ok(p.implausible && p.weights_p < 1e-6 && p.sum_p > 1e-6,
       "oue: the right mean weight with the wrong law");
    tally.weights[4]--;
    ok(judge(s, D).weights_p == 0, "oue: weights that do not add up");
}

/* 2^18 reports of local hashing through the library itself, made at one epsilon
 * and judged by another: corrected values, each with a floor. */
static hsy_plausibility local_hashing(double made, double claimed, double share)
{
    static uint64_t codes[4096];
    static uint8_t reports[4096 * 16];
    const hsy_scheme *s = scheme("olh", HSY_KIND_VALUES, made);
    hsy_stream secret, published;

    hsy_stream_seed(&secret, 1, 0);
    hsy_stream_seed(&published, 1, 1);
    for (int batch = 0; batch < 64; batch++) {
        for (size_t i = 0; i < 4096; i++)
            codes[i] = uniform() < share ? 3 : 7;
        if (hsy_simulate_batch(s, reports, codes, 4096, &secret, &published,
                               NULL) != HSY_OK ||
            hsy_tally_batch(&tally, s, reports, 4096, NULL) != HSY_OK) {
            printf("Bail out! no reports\n");
            exit(1);
        }
    }
    return judge(resolve("olh", HSY_KIND_VALUES, claimed), D);
}

static void hashed_reports(void)
{
    hsy_plausibility p = local_hashing(1, 1, 0.9);

    ok(!p.implausible && p.support_p > 0.001 && p.sum_p > 0.001,
       "olh: honest reports pass (%g, %g)", p.support_p, p.sum_p);
    p = local_hashing(1, 1, 1);
    ok(!p.implausible, "olh: honest reports of one value pass (%g, %g)",
       p.support_p, p.sum_p);
    p = local_hashing(1.2, 1, 1);
    ok(p.implausible && eq_u64(p.odd_value, 3) && p.support_p < 1e-6,
       "olh at 1.2 claimed as 1, one value: its support tells");
}

/* What no report can give: a count below 0, above n, or of no reports. */
static void impossible_counts(const char *name)
{
    static const double counts[] = {100001, 1e15, -1};
    const hsy_scheme *s = scheme(name, HSY_KIND_VALUES, 1);
    hsy_plausibility p;

    for (size_t i = 0; i < 3; i++) {
        tally.strata[0] = 100000;
        judge(s, D);
        points[6].support = counts[i];
        hsy_plausible(s, &p, &tally, points, D, true);
        ok(p.implausible && p.support_p == 0 && p.odd_value == 6,
           "%s: %g of 100,000 is impossible", name, counts[i]);
    }
    points[2] = (hsy_evidence){.support = 1};
    hsy_plausible(s, &p, &tally, points + 2, 1, false);
    ok(p.implausible && p.support_p == 0, "%s: so is one of none", name);
}

/* The same through the tally, where one more than all were once not seen. */
static void one_too_many(void)
{
    const hsy_scheme *s = scheme("oue", HSY_KIND_VALUES, 1);
    hsy_plausibility p;

    tally.strata[0] = 100000;
    for (size_t v = 0; v < D; v++)
        tally.cells[v] = 30000;
    for (int64_t count = 99999; count <= 100001; count++) {
        tally.cells[3] = count;
        p = judge(s, D);
        ok(p.implausible && p.support_p < 1e-300 && eq_u64(p.odd_value, 3) &&
               p.sum_p < 1,
           "oue: %d of 100,000 is implausible", (int)count);
    }
}

static void nothing_to_judge(void)
{
    const hsy_scheme *s = scheme("oue", HSY_KIND_VALUES, 1);
    hsy_plausibility p;

    points[0] = (hsy_evidence){.n = 0};
    hsy_plausible(s, &p, &tally, points, 1, false);
    ok(p.support_p == 1 && p.sum_p == 1 && p.weights_p == 1 && !p.implausible,
       "an empty tally is not implausible");
}

int main(void)
{
    honest_unary("oue");
    honest_unary("sue");
    wrong_epsilon_unary("oue");
    wrong_epsilon_unary("sue");
    wrong_epsilon_yes_no();
    five_sigmas();
    one_value_a_report();
    padded_weights();
    hashed_reports();
    impossible_counts("oue");
    impossible_counts("grr");
    impossible_counts("olh");
    one_too_many();
    nothing_to_judge();
    return tap_done();
}
