/* test_onebit.c - the one-bit mean: rounding, channel, law, counts. */
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_status play(const hsy_scheme *s, uint8_t *report, int64_t truth,
                       const uint64_t *words, size_t n)
{
    struct tape tape = {words, n * sizeof *words}, none = {NULL, 0};
    hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
    hsy_truth t = {.type = HSY_TRUTH_NUMBER};

    t.u.number = truth;
    return hsy_randomize(s, report, &t, &coins, NULL);
}

/* Range -2 .. 2: below(4) is the top two bits of the first word. A word of the
 * channel between its edges repeats the rounded bit. */
static void coin(void)
{
    hsy_spec spec = trial_number(2, 1);
    hsy_scheme *s;
    uint8_t report = 0xff;
    bool good = true;
    uint64_t between;

    spec.lo = -2;
    s = trial_scheme(&spec);
    between = s->coin.unit * s->bits.other;
    ok(s->bits.own > s->bits.other && hsy_code_count(s) == 5, "five truths");
    for (int64_t truth = -2; truth <= 2; truth++)
        for (uint64_t u = 0; u < 4; u++) {
            const uint64_t words[2] = {u << 62, between};

            good &= play(s, &report, truth, words, 2) == HSY_OK &&
                    report == (u < (uint64_t)(truth + 2));
        }
    ok(good, "the bit is below(width) < steps");
    for (int64_t truth = -2; truth <= 2; truth += 4) {
        const uint64_t low[2] = {0, between - 1};
        const uint64_t high[2] = {0, s->coin.unit * s->bits.own};

        ok(play(s, &report, truth, low, 2) == HSY_OK && report == 1 &&
               play(s, &report, truth, high, 2) == HSY_OK && report == 0,
           "outside its edges the channel does not look at truth %d",
           (int)truth);
    }
    report = 0xff;
    ok(play(s, &report, 0, (const uint64_t[]){0}, 1) == HSY_E_ENTROPY &&
           play(s, &report, 0, NULL, 0) == HSY_E_ENTROPY && report == 0,
       "without both words there is no report");
    ok(play(s, &report, 3, (const uint64_t[]){0, 0}, 2) == HSY_E_RANGE &&
           play(s, &report, -3, (const uint64_t[]){0, 0}, 2) == HSY_E_RANGE &&
           report == 0,
       "numbers outside the range are refused");
    free(s);
}

/* Width 3 refuses the word 0 (2^64 mod 3 = 1). */
static void batch(void)
{
    hsy_spec spec = trial_number(3, 1);
    hsy_scheme *s = trial_scheme(&spec);
    uint64_t between = s->coin.unit * s->bits.other;
    const uint64_t words[] = {
        UINT64_MAX, 0,       1,          UINT64_MAX, /* two, again */
        between,    between, UINT64_MAX, between};   /* the last again */
    const uint64_t codes[3] = {2, 3, 1};
    struct tape tape = {words, sizeof words}, none = {NULL, 0};
    hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
    uint8_t reports[3];

    ok(s->coin.last < UINT64_MAX, "the channel refuses some words");
    ok(hsy_randomize_batch(s, reports, codes, 3, &coins, NULL) == HSY_OK &&
           memcmp(reports, "\0\1\1", 3) == 0 && tape.left == 0,
       "a batch redraws what was refused, in each of its steps");
    for (size_t less = 1; less <= 8; less++) {
        bool zeros;

        tape = (struct tape){words, sizeof words - 8 * less};
        memset(reports, 9, sizeof reports);
        zeros = hsy_randomize_batch(s, reports, codes, 3, &coins, NULL) ==
                    HSY_E_ENTROPY &&
                memcmp(reports, "\0\0\0", 3) == 0;
        ok(zeros, "short of %zu words a batch leaves zeros", less);
    }
    free(s);
}

/* P[1 | t] as stated: exact up to 2^17 steps. */
static void law(void)
{
    static const int64_t widths[] = {1, 7, 1000, 1 << 17};

    for (size_t i = 0; i < 4; i++)
        for (int e = 0; e < 3; e++) {
            static const double epsilons[] = {0.001, 1, 32};
            hsy_spec spec = trial_number(widths[i], epsilons[e]);
            hsy_scheme *s = trial_scheme(&spec);
            uint64_t t = (uint64_t)widths[i] / 2;
            const uint8_t one = 1, zero = 0;
            uint64_t w = t == 0 ? 1 : (uint64_t)widths[i];
            hsy_factor f[2] = {{1, 1}, {1, 1}}, g[2] = {{1, 1}, {1, 1}};
            size_t count;

            hsy_law(s, f, &count, t, &one);
            hsy_law(s, g, &count, t, &zero);
            ok(f[0].den == s->total && g[0].den == s->total && f[1].den == w &&
                   g[1].den == w && f[1].num == 1 && g[1].num == 1 &&
                   f[0].num + g[0].num == s->total * w &&
                   f[0].num == t * s->bits.own + (w - t) * s->bits.other,
               "width %d, epsilon %g: the law is exact", (int)widths[i],
               epsilons[e]);
            free(s);
        }
}

static void wide_law(void)
{
    hsy_spec spec = trial_number(INT64_MAX, 1);
    hsy_scheme *s = trial_scheme(&spec);
    const uint8_t one = 1;
    hsy_factor f[2];
    size_t count;

    hsy_law(s, f, &count, INT64_MAX, &one);
    ok(count == 1 && f[0].num == s->bits.own && f[0].den == s->total,
       "a range of 2^63 - 1 steps states its ends exactly");
    hsy_law(s, f, &count, INT64_MAX / 2, &one);
    ok(count == 2 && f[0].den == s->total && f[1].den == INT64_MAX &&
           f[0].num >> 63 == 1 &&
           fabs((double)f[0].num / (double)s->total * (double)f[1].num /
                    0x1p63 -
                0.5) < 1e-15,
       "and its middle to the last digit");
    free(s);
}

static void counts(void)
{
    hsy_spec spec = trial_number(10, 1);
    hsy_scheme *s = trial_scheme(&spec);
    int64_t memory[2];
    const uint64_t code = 1;
    hsy_tally t;
    hsy_evidence point;
    hsy_error err;

    hsy_tally_init(&t, s, memory);
    ok(hsy_tally_batch(&t, s, (const uint8_t[]){1, 1, 0, 1}, 4, NULL) ==
               HSY_OK &&
           t.cells[0] == 3 && t.strata[0] == 4,
       "ones are counted");
    ok(hsy_evidence_of(s, &point, &t, NULL, 1, NULL, NULL) == HSY_OK &&
           fabs(point.value - (0.75 - point.q) / (point.p - point.q)) < 1e-12 &&
           point.binomial_variance == 1 && point.v0 == point.v1,
       "the mean is a share of the range, its spread at most that of yes/no");
    ok(hsy_evidence_of(s, &point, &t, &code, 1, NULL, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_CANDIDATES,
       "a mean has no candidates");
    ok(hsy_evidence_of(s, &point, &t, NULL, 2, NULL, &err) == HSY_E_RANGE,
       "and is one point");
    free(s);
}

int main(void)
{
    coin();
    batch();
    law();
    wide_law();
    counts();
    return tap_done();
}
