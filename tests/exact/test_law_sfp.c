/*
 * test_law_sfp.c - the exact law of sfp: two answers about one word.
 *
 * That its own code draws its law is shown by its parts, whose laws
 * test_law_sketch.c enumerates: given the offset, a report is what the two
 * parts report from the same coins, one after the other, and each offset has
 * its exact share of the words.
 */
#include "lib/scheme/report.h"
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>

static hsy_scheme *sfp(const char *oracle, uint32_t bits, double epsilon,
                       uint64_t mix)
{
    hsy_spec spec = trial_values("sfp", 0, epsilon);

    spec.kind = HSY_KIND_STRINGS;
    spec.oracle = oracle;
    spec.param[HSY_PARAM_BITS] = bits;
    spec.param[HSY_PARAM_FRAGMENT_BITS] = 1;
    spec.param[HSY_PARAM_PIECE_BITS] = 2;
    trial_puzzle(&spec);
    spec.param[HSY_PARAM_HASHES] = 2;
    spec.param[HSY_PARAM_WORD_SHARE] = mix;
    return trial_scheme(&spec);
}

static double law_of(const hsy_scheme *s, uint64_t code, const uint8_t *report)
{
    hsy_factor f[64];
    size_t count;
    double p = 1;

    hsy_law(s, f, &count, code, report);
    for (size_t i = 0; i < count; i++)
        p *= (double)f[i].num / (f[i].den == 0 ? 0x1p64 : (double)f[i].den);
    return count <= hsy_law_factors(s) ? p : NAN;
}

static double worst_of(const hsy_scheme *s)
{
    hsy_factor f[4];
    size_t count;
    double sum = 0;

    hsy_law_worst(s, f, &count);
    for (size_t i = 0; i < count; i++)
        sum += log((double)f[i].num) - log((double)f[i].den);
    return sum;
}

/* Sums to 1 for every word, and no ratio passes the stated one, which is the
 * sum of both parts' and which some pair attains. */
static void sums(const hsy_scheme *s, const char *name)
{
    const uint64_t words = hsy_code_count(s);
    const size_t last = hsy_scheme_parts(s) - 1;
    const double both =
        worst_of(hsy_scheme_part(s, 0)) + worst_of(hsy_scheme_part(s, last));
    double *sum = trial_memory(words * sizeof *sum), off = 0, worst = 0;

    for (uint64_t y = 0; y >> s->report_bits == 0; y++) {
        double low = 2, high = 0;
        uint8_t report[8];

        report_put(report, s->report_bytes, y);
        if (hsy_check(s, report) != HSY_OK)
            continue;
        for (uint64_t x = 0; x < words; x++) {
            const double p = law_of(s, x, report);

            sum[x] += p;
            low = fmin(low, p);
            high = fmax(high, p);
        }
        worst = fmax(worst, log(high / low));
    }
    for (uint64_t x = 0; x < words; x++)
        off = fmax(off, fabs(sum[x] - 1));
    ok(off < 1e-12, "%s: the law sums up to 1 (%.1e)", name, off);
    ok(fabs(worst - worst_of(s)) < 1e-12 && fabs(worst - both) < 1e-12 &&
           worst <= (double)s->nano_epsilon / 1e9,
       "%s: the worst ratio is both parts' together, %.12f, and within epsilon",
       name, worst);
    free(sum);
}

/* Whether a report of s from this word is what its two parts report. */
static bool as_parts(const hsy_scheme *s, uint64_t word, size_t i, uint64_t x)
{
    const size_t last = hsy_scheme_parts(s) - 1;
    const hsy_scheme *part = hsy_scheme_part(s, i);
    const hsy_scheme *beside = hsy_scheme_part(s, last);
    const uint64_t codes[2] = {hsy_part_code(s, &x, i),
                               hsy_part_code(s, &x, last)};
    const hsy_truth truth = {.type = HSY_TRUTH_INDEX, .u.index = (uint32_t)x};
    struct tape_word w = {.first = word};
    hsy_stream secret, published;
    hsy_coins coins = {hsy_stream_rng(&secret), {tape_word_fill, &w}};
    hsy_coins own = {hsy_stream_rng(&secret), hsy_stream_rng(&published)};
    uint8_t report[8] = {0}, a[8] = {0}, b[8] = {0};

    hsy_stream_seed(&secret, x, 0);
    hsy_stream_seed(&w.rest, x, 1);
    if (hsy_randomize(s, report, &truth, &coins, NULL) != HSY_OK)
        return false;
    hsy_stream_seed(&secret, x, 0);
    hsy_stream_seed(&published, x, 1);
    if (hsy_randomize_batch(part, a, &codes[0], 1, &own, NULL) != HSY_OK ||
        hsy_randomize_batch(beside, b, &codes[1], 1, &own, NULL) != HSY_OK)
        return false;
    return report_get(report, s->report_bytes) ==
           (i | report_get(a, part->report_bytes) << s->parts.index_bits |
            report_get(b, beside->report_bytes)
                << (s->parts.index_bits + part->report_bits));
}

static void by_parts(const hsy_scheme *s, const char *name)
{
    const uint64_t offsets = hsy_scheme_parts(s) - 1;
    bool good = true;

    for (uint64_t i = 0; i < offsets; i++) {
        /* Words w with floor(w offsets / 2^64) = i and none rejected. */
        const uint64_t step = UINT64_MAX / offsets;
        const uint64_t from = i * step + i + 1, to = (i + 1) * step - 1;

        for (uint64_t x = 0; x < hsy_code_count(s); x++)
            good &= as_parts(s, from, i, x) && as_parts(s, to, i, x);
    }
    ok(good, "%s: given the offset, a report is its parts' own", name);
}

int main(void)
{
    static const double epsilons[] = {0.5, 1, 4};
    static const char *const oracles[] = {"cms", "hcms"};

    for (size_t e = 0; e < 3; e++)
        for (size_t o = 0; o < 2; o++)
            for (uint64_t mix = 0; mix < 3; mix++) {
                hsy_scheme *s = sfp(oracles[o], 3, epsilons[e], mix * 20000);

                sums(s, oracles[o]);
                by_parts(s, oracles[o]);
                free(s);
            }
    return tap_done();
}
