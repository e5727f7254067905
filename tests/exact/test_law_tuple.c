/*
 * test_law_tuple.c - the exact laws of smp and joint, and what RS+FD would be.
 *
 * That smp's own code draws its law is shown by its parts, whose laws other
 * tests enumerate: given the attribute, it reports what the part alone reports
 * from the same coins, and each attribute has its exact share of the words.
 */
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#define REPORTS 4096u

static double worst_of(const hsy_scheme *s)
{
    hsy_factor f[4];
    size_t count;
    double sum = 0;

    hsy_law_worst(s, f, &count);
    for (size_t i = 0; i < count; i++)
        sum += log((double)f[i].num) - log((double)f[i].den);
    return sum * hsy_law_power(s);
}

/* Report y, if it is one. */
static bool report_at(const hsy_scheme *s, uint8_t report[8], uint32_t y)
{
    const uint8_t packed[8] = {(uint8_t)y, (uint8_t)(y >> 8)};

    memset(report, 0, 8);
    return y >> s->packed_bits == 0 &&
           hsy_unpack(s, report, packed, 1) == HSY_OK &&
           hsy_check(s, report) == HSY_OK;
}

/* Sums to 1 for every truth, and no ratio passes the stated one, which some
 * pair attains: pairs that differ everywhere included. */
static void sums(const hsy_scheme *s, const char *name)
{
    const uint64_t truths = trial_count(s);
    double off = 0, worst = 0;
    double *sum = trial_memory(truths * sizeof *sum);

    for (uint32_t y = 0; y < REPORTS; y++) {
        double low = 2, high = 0;
        uint8_t report[8];

        if (!report_at(s, report, y))
            continue;
        for (uint64_t x = 0; x < truths; x++) {
            uint64_t codes[HSY_ATTRIBUTES_MAX];
            double p;

            trial_codes(s, codes, x);
            p = trial_law(s, codes, report);
            sum[x] += p;
            low = fmin(low, p);
            high = fmax(high, p);
        }
        worst = fmax(worst, log(high / low));
    }
    for (uint64_t x = 0; x < truths; x++)
        off = fmax(off, fabs(sum[x] - 1));
    ok(off < 1e-12, "%s: the law sums up to 1 (%.1e)", name, off);
    ok(fabs(worst - worst_of(s)) < 1e-12 &&
           worst <= (double)s->nano_epsilon / 1e9,
       "%s: the worst ratio is the one stated, %.12f, and within epsilon", name,
       worst);
    free(sum);
}

/* ---- smp: its parts, from the same coins --------------------------------- */

/* Whether a report of s from this word answers part i as the part does. */
static bool as_part(const hsy_scheme *s, uint64_t word, size_t i, uint64_t x)
{
    const hsy_scheme *part = hsy_scheme_part(s, i);
    struct tape_word w = {.first = word};
    hsy_stream secret, published;
    hsy_coins coins = {hsy_stream_rng(&secret), {tape_word_fill, &w}};
    hsy_coins own = {hsy_stream_rng(&secret), hsy_stream_rng(&published)};
    uint64_t codes[HSY_ATTRIBUTES_MAX];
    uint8_t report[8] = {0}, alone[8] = {0};
    hsy_truth truth = trial_truth(s, x);
    uint64_t got = 0, want = 0;

    trial_codes(s, codes, x);
    hsy_stream_seed(&secret, x, 0);
    hsy_stream_seed(&w.rest, x, 1);
    if (hsy_randomize(s, report, &truth, &coins, NULL) != HSY_OK)
        return false;
    hsy_stream_seed(&secret, x, 0);
    hsy_stream_seed(&published, x, 1);
    if (hsy_randomize_batch(part, alone, &codes[i], 1, &own, NULL) != HSY_OK)
        return false;
    for (size_t k = 0; k < 8; k++) {
        got |= (uint64_t)report[k] << 8 * k;
        want |= (uint64_t)alone[k] << 8 * k;
    }
    return got == (want << s->parts.index_bits | i);
}

static void by_parts(const hsy_scheme *s, const char *name)
{
    const uint64_t parts = hsy_scheme_parts(s);
    bool good = true;

    for (uint64_t i = 0; i < parts; i++) {
        /* Words w with floor(w parts / 2^64) = i and none rejected. */
        uint64_t step = UINT64_MAX / parts;
        uint64_t from = i * step + i + 1, to = (i + 1) * step - 1;

        for (uint64_t x = 0; x < 40; x++)
            good &= as_part(s, from, i, x % trial_count(s)) &&
                    as_part(s, to, i, x % trial_count(s));
    }
    ok(good, "%s: given the attribute, a report is the attribute's own", name);
}

/* ---- Estimates ----------------------------------------------------------- */

/* The mean and the variance of an attribute's estimates from one report that
 * answers it, over the exact law. */
static void unbiased(const hsy_scheme *s, const char *name)
{
    double bias = 0, off = 0;

    for (uint64_t x = 0; x < trial_count(s); x++)
        for (size_t a = 0; a < hsy_codes_per_truth(s); a++) {
            const hsy_scheme *own = hsy_scheme_attribute(s, a);
            const size_t n = own->kind == HSY_KIND_YES_NO ? 1 : own->d;
            double m[8] = {0}, square[8] = {0}, all = 0;
            uint64_t codes[HSY_ATTRIBUTES_MAX];
            hsy_evidence point[8] = {{0}};

            trial_codes(s, codes, x);
            for (uint32_t y = 0; y < REPORTS; y++) {
                int64_t memory[64];
                uint8_t report[8];
                hsy_tally t;
                double p;

                if (!report_at(s, report, y))
                    continue;
                hsy_tally_init(&t, s, memory);
                hsy_tally_add(&t, s, report, NULL);
                if (hsy_attribute_evidence(s, point, &t, a, NULL, n, NULL,
                                           NULL) != HSY_OK)
                    continue; /* it answers another attribute */
                p = trial_law(s, codes, report);
                all += p;
                for (size_t v = 0; v < n; v++) {
                    m[v] += p * point[v].value;
                    square[v] += p * point[v].value * point[v].value;
                }
            }
            for (size_t v = 0; v < n; v++) {
                double f = codes[a] == (n == 1 ? 1 : v);
                double mean = m[v] / all;
                double var = square[v] / all - mean * mean;

                bias = fmax(bias, fabs(mean - f));
                off = fmax(
                    off, fabs(var / (f == 1 ? point[v].v1 : point[v].v0) - 1));
            }
        }
    ok(bias < 1e-9, "%s: estimates are unbiased (%.1e)", name, bias);
    ok(off < 1e-9, "%s: variances are v0 and v1 (%.1e)", name, off);
}

/* ---- RS+FD --------------------------------------------------------------- */

/*
 * Sample one of A attributes, answer it by grr over k values at eps', fill in
 * the others uniformly, and do not say which was sampled; eps' = ln(A (e^eps -
 * 1) + 1) as if the mixture hid it [theory 7.4]. The largest ratio over
 * tuples that differ everywhere.
 */
static double fake_data(unsigned attributes, unsigned k, double epsilon)
{
    double e = (double)attributes * (exp(epsilon) - 1) + 1;
    double own = e / (e + k - 1), other = 1 / (e + k - 1);
    double fake = pow(1.0 / k, attributes - 1);
    double high = 0, low = 0;

    /* The report that equals the first tuple in every place. */
    for (unsigned i = 0; i < attributes; i++) {
        high += own * fake / attributes;
        low += other * fake / attributes;
    }
    return log(high / low);
}

static void amplified(void)
{
    ok(fabs(fake_data(2, 3, 1) - 1.48988) < 5e-6 &&
           fabs(fake_data(3, 4, 1) - 1.81724) < 5e-6,
       "RS+FD's amplified budget breaks epsilon 1: %.5f and %.5f",
       fake_data(2, 3, 1), fake_data(3, 4, 1));
}

static void mechanism(const char *name, uint32_t values, double epsilon)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = name,
                     .nano_epsilon = (uint64_t)(epsilon * 1e9)};
    hsy_scheme *s;
    char title[64];

    trial_attributes(&spec, values);
    s = trial_scheme(&spec);
    snprintf(title, sizeof title, "%s, 2 x %u values at epsilon %g", name,
             values, epsilon);
    ok(s->packed_bits <= 12 && hsy_law_factors(s) <= 64,
       "%s: its reports can be counted", title);
    sums(s, title);
    unbiased(s, title);
    if (strcmp(name, "smp") == 0)
        by_parts(s, title);
    free(s);
}

int main(void)
{
    static const double epsilons[] = {0.1, 1, 3};

    for (size_t e = 0; e < 3; e++)
        for (uint32_t values = 2; values <= 5; values++) {
            mechanism("smp", values, epsilons[e]);
            mechanism("joint", values, epsilons[e]);
        }
    amplified();
    return tap_done();
}
