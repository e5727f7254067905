/*
 * test_law_pem.c - the exact law of spelled strings: alphabets, strings of
 * several words, and every oracle.
 *
 * Which group is asked depends on no truth; given the group a report is the
 * oracle's own, whose law other tests enumerate. Here all reports are summed
 * up, and reports are held against the group's from the same coins.
 */
#include "lib/scheme/report.h"
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#define LAW_TRUTHS 16u
#define LAW_BITS 16u /* most of a report that is enumerated */

/* What is asked, and strings that it takes. */
struct law_case {
    const char *name, *oracle, *alphabet;
    uint64_t bits, step, first, pool_bits, hashes, width;
    const char *truths[LAW_TRUTHS];
};

static const struct law_case law_cases[] = {
    {"letters",
     NULL,
     "a-c",
     10,
     3,
     1,
     2,
     0,
     0,
     {"", "a", "b", "c", "ab", "abcab", "ccccc", "bacca"}},
    {"letters by olh",
     "olh",
     "a-c",
     10,
     3,
     1,
     2,
     0,
     0,
     {"", "a", "b", "c", "ab", "abcab", "ccccc", "bacca"}},
    {"letters by blh",
     "blh",
     "a-c",
     10,
     3,
     1,
     2,
     0,
     0,
     {"", "a", "b", "c", "ab", "abcab", "ccccc", "bacca"}},
    {"letters by hr",
     "hr",
     "a-c",
     10,
     4,
     2,
     0,
     0,
     0,
     {"", "a", "b", "c", "ab", "abcab", "ccccc", "bacca"}},
    {"letters by pgr",
     "pgr",
     "a-c",
     6,
     3,
     1,
     0,
     0,
     0,
     {"", "a", "b", "c", "ab", "abc", "ccc", "bac"}},
    {"letters by oue", "oue", "ab", 3, 1, 1, 0, 0, 0, {"", "a", "b"}},
    {"letters by ss", "ss", "ab", 3, 1, 1, 0, 0, 0, {"", "a", "b"}},
    {"letters by cms",
     "cms",
     "a-c",
     10,
     4,
     2,
     0,
     2,
     4,
     {"", "a", "b", "c", "ab", "abcab", "ccccc", "bacca"}},
    {"letters by hcms",
     "hcms",
     "a-c",
     10,
     4,
     2,
     0,
     4,
     8,
     {"", "a", "b", "c", "ab", "abcab", "ccccc", "bacca"}},
    {"128 bits",
     "olh",
     NULL,
     128,
     20,
     4,
     3,
     0,
     0,
     {"", "a", "waterloo", "waterloo sunset", "waterloo sunsets", "zzzzzzzz"}},
    {"26 letters in 130 bits",
     "hcms",
     "a-z",
     130,
     20,
     4,
     0,
     4,
     4,
     {"", "a", "waterloo", "waterloosunset", "abcdefghijklmnopqrstuvwxyz"}},
};

static hsy_scheme *law_scheme(const struct law_case *c)
{
    hsy_spec spec = trial_values("pem", 0, 1.5);

    spec.kind = HSY_KIND_STRINGS;
    spec.oracle = c->oracle;
    spec.param[HSY_PARAM_BITS] = c->bits;
    spec.param[HSY_PARAM_STEP] = c->step;
    spec.param[HSY_PARAM_FIRST] = c->first;
    spec.param[HSY_PARAM_POOL_BITS] = c->pool_bits;
    spec.param[HSY_PARAM_HASHES] = c->hashes;
    spec.param[HSY_PARAM_WIDTH] = c->width;
    if (c->alphabet != NULL &&
        hsy_alphabet_parse(spec.alphabet, c->alphabet, strlen(c->alphabet),
                           NULL) != HSY_OK)
        abort();
    return trial_scheme(&spec);
}

static hsy_truth law_truth(const char *text)
{
    hsy_truth truth = {.type = HSY_TRUTH_BYTES};

    truth.u.bytes.data = text;
    truth.u.bytes.len = strlen(text);
    return truth;
}

static size_t law_codes(const hsy_scheme *s, const struct law_case *c,
                        uint64_t codes[LAW_TRUTHS][HSY_SPELL_WORDS])
{
    size_t n = 0;

    for (; n < LAW_TRUTHS && c->truths[n] != NULL; n++) {
        hsy_truth truth = law_truth(c->truths[n]);

        if (hsy_truth_code(s, codes[n], &truth, NULL) != HSY_OK)
            abort();
    }
    return n;
}

static void sums(const hsy_scheme *s, const struct law_case *c)
{
    uint64_t codes[LAW_TRUTHS][HSY_SPELL_WORDS];
    const size_t n = law_codes(s, c, codes);
    double sum[LAW_TRUTHS] = {0}, off = 0, worst = 0;
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    for (uint32_t y = 0; y >> s->packed_bits == 0; y++) {
        const uint8_t packed[8] = {(uint8_t)y, (uint8_t)(y >> 8)};
        uint8_t report[8] = {0};
        double low = 2, high = 0;

        if (hsy_unpack(s, report, packed, 1) != HSY_OK ||
            hsy_check(s, report) != HSY_OK)
            continue;
        for (size_t x = 0; x < n; x++) {
            const double p = trial_law(s, codes[x], report);

            sum[x] += p;
            low = fmin(low, p);
            high = fmax(high, p);
        }
        worst = fmax(worst, log(high / low));
    }
    for (size_t x = 0; x < n; x++)
        off = fmax(off, fabs(sum[x] - 1));
    ok(s->packed_bits <= LAW_BITS && off < 1e-12,
       "%s: all reports of a string sum up to 1 (%.1e)", c->name, off);
    ok(fabs(worst - info.epsilon_exact) < 1e-12 && worst <= info.epsilon,
       "%s: two strings differ by the stated ratio at most, and do", c->name);
}

/* A word of the published coins draws the group, which answers by itself from
 * those that follow. */
static void groups(const hsy_scheme *s, const struct law_case *c)
{
    uint64_t codes[LAW_TRUTHS][HSY_SPELL_WORDS];
    const size_t n = law_codes(s, c, codes);
    bool good = true;

    for (uint64_t seed = 0; seed < 200; seed++) {
        const size_t x = seed % n;
        hsy_truth truth = law_truth(c->truths[x]);
        hsy_stream secret, published;
        hsy_coins coins = {hsy_stream_rng(&secret), hsy_stream_rng(&published)};
        uint8_t report[8] = {0}, alone[8] = {0};
        uint64_t word, i, code;

        hsy_stream_seed(&secret, seed, 0);
        hsy_stream_seed(&published, seed, 1);
        good &= hsy_randomize(s, report, &truth, &coins, NULL) == HSY_OK;
        i = report_get(report, 8) & (((uint64_t)1 << s->parts.index_bits) - 1);
        code = hsy_part_code(s, codes[x], i);
        hsy_stream_seed(&secret, seed, 0);
        hsy_stream_seed(&published, seed, 1);
        (void)coins.published.fill(coins.published.ctx, &word, sizeof word);
        good &= hsy_randomize_batch(hsy_scheme_part(s, i), alone, &code, 1,
                                    &coins, NULL) == HSY_OK &&
                report_get(report, 8) ==
                    (report_get(alone, 8) << s->parts.index_bits | i);
    }
    ok(good, "%s: given the group a report is the oracle's own", c->name);
}

int main(void)
{
    for (size_t i = 0; i < sizeof law_cases / sizeof law_cases[0]; i++) {
        hsy_scheme *s = law_scheme(&law_cases[i]);

        sums(s, &law_cases[i]);
        groups(s, &law_cases[i]);
        free(s);
    }
    return tap_done();
}
