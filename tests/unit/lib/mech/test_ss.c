/* test_ss.c - subset selection: size of the set, reports, counts, estimates. */
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_spec spec_of(uint32_t d, uint64_t w, double epsilon)
{
    hsy_spec spec = trial_values("ss", d, epsilon);

    spec.param[HSY_PARAM_SUBSET] = w;
    return spec;
}

static hsy_scheme_info info_of(uint32_t d, uint64_t w, double epsilon)
{
    hsy_spec spec = spec_of(d, w, epsilon);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    free(s);
    return info;
}

/* Theory 15.3. */
static void vectors(void)
{
    static const struct {
        uint32_t d;
        double epsilon;
        uint64_t w;
        double v0;
    } want[] = {
        {16, 0.5, 6, 13.6498737513360658},
        {1024, 0.5, 386, 15.6382626038125651},
        {65536, 0.5, 24742, 15.6702836099770431},
        {16, 1, 4, 3.11071570567571043},
        {1024, 1, 275, 3.67355235712264384},
        {65536, 1, 17625, 3.68255147320588196},
        {16, 2, 2, 0.519831883371969515},
        {1024, 2, 122, 0.720695300440594411},
        {65536, 2, 7812, 0.724009046966646896},
        {16, 4, 1, 0.0238788167999299511},
        {1024, 4, 18, 0.0739076923645083128},
        {65536, 4, 1178, 0.0759889901867700352},
    };
    hsy_scheme_info small = info_of(6, 2, 1);

    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        hsy_scheme_info info = info_of(want[i].d, 0, want[i].epsilon);

        ok(info.param[HSY_PARAM_SUBSET] == want[i].w &&
               fabs(info.v0 / want[i].v0 - 1) < 1e-12,
           "d = %u, epsilon %g: w = %u, v0 = %.15g", want[i].d, want[i].epsilon,
           (unsigned)info.param[HSY_PARAM_SUBSET], info.v0);
    }
    ok(fabs(small.v0 - 2.39963410) < 1e-8 && fabs(small.v1 - 2.87710498) < 1e-8,
       "d = 6, w = 2: v0 and v1 of the small case");
}

/* Neither neighbour of the chosen size is better; rho is rounded to 2^-20
 * there, which a tie may show. */
static void best(void)
{
    static const double epsilons[] = {1e-6, 0.01, 0.3, 1, 1.7, 3, 5, 9, 32};
    bool good = true;

    for (uint32_t d = 2; d <= 300; d++)
        for (size_t e = 0; e < sizeof epsilons / sizeof epsilons[0]; e++) {
            hsy_scheme_info info = info_of(d, 0, epsilons[e]);
            uint64_t w = info.param[HSY_PARAM_SUBSET];
            double v0 = info.v0 * (1 - 0x1p-19);

            good &= w == 1 || info_of(d, w - 1, epsilons[e]).v0 >= v0;
            good &= w == d - 1 || info_of(d, w + 1, epsilons[e]).v0 >= v0;
        }
    ok(good, "up to 300 values no other size is better at share 0");
    ok(info_of(HSY_UNARY_MAX, 0, 32).param[HSY_PARAM_SUBSET] == 1 &&
           info_of(HSY_UNARY_MAX, 0, 1e-6).param[HSY_PARAM_SUBSET] ==
               HSY_UNARY_MAX / 2,
       "2^20 values: one at epsilon 32, half of them at 10^-6");
}

static void refusals(void)
{
    static const struct {
        uint32_t d;
        uint64_t w;
        double epsilon;
        const char *field;
    } cases[] = {
        {HSY_UNARY_MAX + 1, 0, 1, "values"},
        {6, 6, 1, "subset"},
        {6, 7, 1, "subset"},
        {2, 2, 1, "subset"},
        {HSY_UNARY_MAX, (1u << 15) + 1, 32, "subset"},
    };
    hsy_spec spec = spec_of(HSY_UNARY_MAX, 1u << 15, 32);
    hsy_error err;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsy_spec bad = spec_of(cases[i].d, cases[i].w, cases[i].epsilon);
        hsy_scheme *s = trial_memory(hsy_scheme_size(&bad));

        err = (hsy_error){0};
        ok(hsy_scheme_init(s, &bad, &err) == HSY_E_RANGE &&
               err.field != HSY_FIELD_NONE &&
               strcmp(hsy_field_name(err.field), cases[i].field) == 0,
           "d = %u, w = %u, epsilon %g is refused by %s", cases[i].d,
           (unsigned)cases[i].w, cases[i].epsilon, cases[i].field);
        free(s);
    }
    ok(trial_resolves(&spec), "w = 2^15 is the most at epsilon 32");
}

static bool bit(const uint8_t *report, uint64_t v)
{
    return (report[v / 8] >> v % 8 & 1) != 0;
}

/* d = 5, w = 2: one word decides the four slots, as the digits of a number
 * below 4 3 2 1. A slot is taken if its digit is below what is needed. */
static void slots(void)
{
    hsy_spec spec = spec_of(5, 2, 1);
    hsy_scheme *s = trial_scheme(&spec);
    const uint64_t edge = s->coin.unit * 2 * s->two.weight;
    uint8_t report = 0;
    hsy_truth truth = {.type = HSY_TRUTH_INDEX, .u.index = 2};
    /* The first word for the digits a, b, c of bases 4, 3, 2. */
#define WORD(a, b, c) (((((a)*3 + (b)) * 2 + (c)) * (UINT64_MAX / 24)) + 24)
    const struct {
        uint64_t words[3];
        size_t n;
        uint8_t want; /* 0xff: no entropy */
        const char *text;
    } cases[] = {
        {{edge - 1, WORD(3, 0, 0)}, 2, 0x06, "with the truth: one other"},
        {{edge - 1, WORD(0, 0, 0)}, 2, 0x05, "slot 0 is value 0"},
        {{edge - 1, WORD(3, 2, 0)}, 2, 0x0c, "slot 2 is value 3"},
        {{edge - 1, WORD(3, 2, 1)}, 2, 0x14, "the last slot where it must be"},
        {{edge, WORD(0, 0, 0)}, 2, 0x03, "without the truth: two others"},
        {{edge, WORD(3, 2, 1)}, 2, 0x18, "which may be the last two"},
        {{edge, 0, WORD(3, 2, 1)}, 3, 0x18, "the word 0 is drawn anew"},
        {{edge - 1, 0}, 1, 0xff, "no word, no report"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tape tape = {cases[i].words, cases[i].n * 8}, none = {NULL, 0};
        hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
        hsy_status st = hsy_randomize(s, &report, &truth, &coins, NULL);

        ok(cases[i].want == 0xff
               ? st == HSY_E_ENTROPY && report == 0
               : st == HSY_OK && report == cases[i].want && tape.left == 0,
           "%s (%#x)", cases[i].text, (unsigned)report);
    }
#undef WORD
    free(s);
}

/* Around word ends, for one truth after the other: w ones and no spare bit,
 * the same on every level; and a set may hold any value. */
static void shapes(uint32_t d, uint64_t w)
{
    enum { N = 2003 };
    hsy_spec spec = spec_of(d, w, 1);
    hsy_scheme *s = trial_scheme(&spec);
    uint8_t *reports[2] = {trial_memory(N * s->report_bytes),
                           trial_memory(N * s->report_bytes)};
    uint64_t *codes = trial_memory(N * sizeof *codes);
    bool same = true, fine = true, all = true;

    for (size_t i = 0; i < N; i++)
        codes[i] = i * 7 % d;
    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        hsy_stream secret, public;
        hsy_coins coins = {hsy_stream_rng(&secret), hsy_stream_rng(&public)};
        uint8_t *out = reports[level != HSY_CPU_PLAIN];

        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        hsy_stream_seed(&secret, 9, d);
        hsy_stream_seed(&public, 9, 0);
        fine &= hsy_randomize_batch(s, out, codes, N, &coins, NULL) == HSY_OK &&
                s->mech->counting->check(s, out, N) == N;
        same &= memcmp(out, reports[0], N * s->report_bytes) == 0;
    }
    for (uint64_t v = 0; v < d; v++) {
        bool with = false, without = false;

        for (size_t i = 0; i < N; i++) {
            with |= bit(reports[0] + i * s->report_bytes, v);
            without |= !bit(reports[0] + i * s->report_bytes, v);
        }
        all &= with && without;
    }
    ok(fine, "d = %u, w = %u: all are reports", d, (unsigned)w);
    ok(same, "the same on every level");
    ok(all, "every value is in some and not in others");
    free(reports[0]);
    free(reports[1]);
    free(codes);
    free(s);
}

static void checks(void)
{
    hsy_spec spec = spec_of(12, 3, 1);
    hsy_scheme *s = trial_scheme(&spec);
    static const struct {
        uint8_t report[2];
        bool good;
    } cases[] = {
        {{0x07, 0x00}, true},  {{0x00, 0x0e}, true},  {{0x81, 0x08}, true},
        {{0x03, 0x00}, false}, {{0x0f, 0x00}, false}, {{0x00, 0x00}, false},
        {{0x03, 0x10}, false}, {{0x03, 0x80}, false}, {{0x07, 0x10}, false},
    };
    bool right = true;

    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            right &= (hsy_check(s, cases[i].report) == HSY_OK) == cases[i].good;
    }
    ok(right, "a report has exactly w ones and no spare bit, on every level");
    free(s);
}

/* Every kernel counts ones like the plain loop. */
static void kernels(void)
{
    enum { ROWS = 40, MOST = 700 };
    const struct hsy_kernels *plain = hsy_kernels_at(HSY_CPU_PLAIN);
    uint64_t seed = 1;

    for (int level = HSY_CPU_PORTABLE; level <= HSY_CPU_AVX512; level++) {
        bool same = true;

        if (!hsy_cpu_has((hsy_cpu)level))
            continue;
        for (size_t bytes = 1; bytes <= MOST; bytes += bytes < 70 ? 1 : 63) {
            uint8_t *rows = trial_memory(ROWS * bytes);
            uint64_t ones = 0;

            for (size_t i = 0; i < ROWS * bytes; i++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                rows[i] = i < bytes ? (uint8_t)(seed >> 56) : rows[i - bytes];
                ones += i < bytes ? (uint64_t)__builtin_popcount(rows[i]) : 0;
            }
            for (size_t odd = 0; odd <= ROWS; odd++) {
                const struct hsy_kernels *k = hsy_kernels_at((hsy_cpu)level);

                if (odd < ROWS)
                    rows[odd * bytes + odd % bytes] ^= 0x10;
                same &=
                    k->rows_with_popcount(rows, ROWS, bytes, ones) == odd &&
                    plain->rows_with_popcount(rows, ROWS, bytes, ones) == odd;
                if (odd < ROWS)
                    rows[odd * bytes + odd % bytes] ^= 0x10;
            }
            free(rows);
        }
        ok(same, "%s finds the first row of another weight, like plain",
           hsy_cpu_name((hsy_cpu)level));
    }
}

/* The estimates of all values add up to 1, whatever was reported; a tally is
 * the sum of its parts; d = 2 too. */
static void counts(uint32_t d, uint64_t w)
{
    enum { N = 500 };
    hsy_spec spec = spec_of(d, w, 0.7);
    hsy_scheme *s = trial_scheme(&spec);
    size_t words = hsy_tally_words(s);
    int64_t *memory = trial_memory(3 * words * sizeof *memory);
    uint8_t *reports = trial_memory(N * s->report_bytes);
    hsy_evidence *points = trial_memory(d * sizeof *points);
    uint64_t *codes = trial_memory(N * sizeof *codes);
    hsy_stream secret, public;
    hsy_tally whole, part, rest;
    double sum = 0;
    bool finite = true;

    hsy_stream_seed(&secret, 4, d);
    hsy_stream_seed(&public, 4, 0);
    hsy_tally_init(&whole, s, memory);
    hsy_tally_init(&part, s, memory + words);
    hsy_tally_init(&rest, s, memory + 2 * words);
    ok(hsy_simulate_batch(s, reports, codes, N, &secret, &public, NULL) ==
               HSY_OK &&
           hsy_tally_batch(&whole, s, reports, N, NULL) == HSY_OK &&
           hsy_tally_batch(&part, s, reports, 123, NULL) == HSY_OK &&
           hsy_tally_batch(&rest, s, reports + 123 * s->report_bytes, N - 123,
                           NULL) == HSY_OK &&
           hsy_tally_merge(&part, &rest, NULL) == HSY_OK &&
           memcmp(part.cells, whole.cells, words * sizeof *memory) == 0,
       "d = %u: a tally is the sum of its parts", d);
    hsy_evidence_of(s, points, &whole, NULL, d, NULL, NULL);
    for (uint32_t v = 0; v < d; v++) {
        sum += points[v].value;
        finite &= isfinite(points[v].value) && points[v].v0 > 0;
    }
    ok(finite && fabs(sum - 1) < 1e-9, "and the shares add up to 1 (%.2g)",
       sum - 1);
    free(codes);
    free(points);
    free(reports);
    free(memory);
    free(s);
}

/* A forged tally in which reports have other sizes shows. */
static void forged(void)
{
    hsy_spec spec = spec_of(8, 3, 1);
    hsy_scheme *s = trial_scheme(&spec);
    int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
    hsy_plausibility odd;
    hsy_evidence points[8];
    hsy_tally t;

    hsy_tally_init(&t, s, memory);
    t.strata[0] = 8000;
    for (size_t v = 0; v < 8; v++)
        t.cells[v] = 3000;
    hsy_evidence_of(s, points, &t, NULL, 8, NULL, NULL);
    hsy_plausible(s, &odd, &t, points, 8, true);
    ok(!odd.implausible, "3 values a report are plausible");
    t.cells[0]++;
    hsy_evidence_of(s, points, &t, NULL, 8, NULL, NULL);
    hsy_plausible(s, &odd, &t, points, 8, true);
    ok(odd.implausible && odd.sum_p == 0, "one more is impossible");
    free(memory);
    free(s);
}

/*
 * Two estimates' covariance, from the exact law: both u and v are in a set that
 * holds the truth x, .. docs/mechanisms/ss.md 4.
 */
static void covariance(void)
{
    enum { D = 6, W = 2 };
    hsy_spec spec = spec_of(D, W, 1);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_scheme_info info;
    double own = 0, other = 0, d = D, gap, c_own, c_other;

    hsy_scheme_describe(s, &info);
    gap = info.p - info.q;
    for (unsigned y = 0; y < 1u << D; y++) {
        const uint8_t report[1] = {(uint8_t)y};
        hsy_factor f[D];
        size_t n;
        double p = 1;

        if (hsy_check(s, report) != HSY_OK)
            continue;
        hsy_law(s, f, &n, 0, report);
        for (size_t i = 0; i < n; i++)
            p *= (double)f[i].num / (double)f[i].den;
        own += p * (bit(report, 0) - info.p) * (bit(report, 1) - info.q);
        other += p * (bit(report, 1) - info.q) * (bit(report, 2) - info.q);
    }
    /* The sum of all bits is w: each row of the covariance matrix adds up to
     * zero, and the d - 1 others are alike. */
    c_own = -info.p * (1 - info.p) / (d - 1);
    c_other = -(info.q * (1 - info.q) + c_own) / (d - 2);
    ok(fabs(own - c_own) < 1e-14 && fabs(other - c_other) < 1e-14,
       "covariances are those of the page (%g, %g)", own / gap / gap,
       other / gap / gap);
    free(s);
}

int main(void)
{
    vectors();
    best();
    refusals();
    slots();
    shapes(2, 1);
    shapes(9, 8);
    shapes(64, 20);
    shapes(65, 20);
    shapes(66, 33);
    shapes(129, 40);
    shapes(1000, 275);
    shapes(4097, 1000);
    checks();
    kernels();
    counts(2, 0);
    counts(5, 4);
    counts(200, 0);
    forged();
    covariance();
    return tap_done();
}
