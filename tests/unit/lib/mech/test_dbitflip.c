/* test_dbitflip.c - dBitFlip: parameters, sets, reports, counts, estimates. */
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_spec spec_of(uint32_t d, uint64_t bits, uint64_t pool_bits,
                        double epsilon)
{
    hsy_spec spec = trial_values("dbitflip", d, epsilon);

    spec.param[HSY_PARAM_SAMPLED_BITS] = bits;
    spec.param[HSY_PARAM_POOL_BITS] = pool_bits;
    return spec;
}

static hsy_scheme_info info_of(uint32_t d, uint64_t bits, double epsilon)
{
    hsy_spec spec = spec_of(d, bits, 0, epsilon);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    free(s);
    return info;
}

/* Theory 15.3 has v0 and v1 of the paper's estimator, which divides by the
 * expected number of people asked; dividing by the real one takes k/d' - 1 off
 * v1. */
static void vectors(void)
{
    hsy_scheme_info info = info_of(5, 2, 1), one = info_of(5, 1, 1);
    hsy_scheme_info all = info_of(8, 8, 1);
    hsy_spec sue = trial_values("sue", 8, 1);
    hsy_scheme *s = trial_scheme(&sue);
    hsy_scheme_info unary;

    hsy_scheme_describe(s, &unary);
    ok(fabs(info.v0 / 9.79424522258190940 - 1) < 1e-12 &&
           fabs((info.v1 + 5.0 / 2 - 1) / 11.2942452225819094 - 1) < 1e-12,
       "2 of 5 at epsilon 1: v0 and v1 (%.15g)", info.v0);
    ok(fabs(one.v0 / (5 / (4 * pow(sinh(0.5), 2))) - 1) < 1e-9 &&
           fabs(one.epsilon_exact - 1) < 1e-12,
       "one bit spends all of epsilon, not half of it");
    ok(fabs(all.v0 / unary.v0 - 1) < 1e-8 && fabs(all.p / unary.p - 1) < 1e-8,
       "all bits are sue");
    free(s);
}

static void parameters(void)
{
    static const struct {
        uint32_t d;
        uint64_t bits, pool;
        const char *field; /* NULL: taken */
        uint64_t want_bits, want_pool;
    } cases[] = {
        {5, 0, 0, NULL, 5, 16},
        {1000, 0, 0, NULL, 16, 16},
        {1u << 14, 0, 0, NULL, 16, 16},
        {(1u << 14) + 1, 0, 0, NULL, 16, 17},
        {1u << 20, 0, 0, NULL, 16, 22},
        {48, 48, 0, NULL, 48, 16},
        {63, 63, 1, NULL, 63, 1},
        {5, 2, 8, NULL, 2, 8},
        {5, 2, 7, "pool-bits", 0, 0},
        {5, 6, 0, "sampled-bits", 0, 0},
        {49, 49, 0, "sampled-bits", 0, 0},
        {64, 64, 1, "sampled-bits", 0, 0},
        {5, 2, 25, "pool-bits", 0, 0},
        {1u << 20, 1, 0, "pool-bits", 0, 0},
        {(1u << 20) + 1, 0, 0, "values", 0, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsy_spec spec = spec_of(cases[i].d, cases[i].bits, cases[i].pool, 1);
        hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
        hsy_error err = {0};
        hsy_status st = hsy_scheme_init(s, &spec, &err);

        if (cases[i].field != NULL)
            ok(st == HSY_E_RANGE && err.field != HSY_FIELD_NONE &&
                   strcmp(hsy_field_name(err.field), cases[i].field) == 0,
               "d = %u, %u bits: refused by %s", cases[i].d,
               (unsigned)cases[i].bits, cases[i].field);
        else
            ok(st == HSY_OK &&
                   s->param[HSY_PARAM_SAMPLED_BITS] == cases[i].want_bits &&
                   s->param[HSY_PARAM_POOL_BITS] == cases[i].want_pool &&
                   s->cells == 2 * (size_t)cases[i].d,
               "d = %u: %u bits of 2^%u sets", cases[i].d,
               (unsigned)cases[i].want_bits, (unsigned)cases[i].want_pool);
        free(s);
    }
}

/* Sets have distinct buckets, each bucket in as many as any other: a report of
 * every set, all bits 1, counts them. */
static void sets(void)
{
    enum { D = 40, BITS = 7, POOL = 1 << 12 };
    hsy_spec spec = spec_of(D, BITS, 12, 1);
    hsy_scheme *s = trial_scheme(&spec);
    int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
    hsy_tally t;
    bool distinct = true, even = true;
    const double want = (double)POOL * BITS / D;

    hsy_tally_init(&t, s, memory);
    for (uint32_t j = 0; j < POOL; j++) {
        uint64_t value = j | (uint64_t)127 << 12;
        uint8_t report[4] = {(uint8_t)value, (uint8_t)(value >> 8),
                             (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
        int64_t before[D];

        memcpy(before, t.cells, sizeof before);
        distinct &= hsy_tally_add(&t, s, report, NULL) == HSY_OK;
        for (size_t v = 0; v < D; v++)
            distinct &= t.cells[v] - before[v] <= 1;
    }
    for (size_t v = 0; v < D; v++)
        even &= t.cells[v] == t.cells[D + v] &&
                fabs((double)t.cells[v] - want) < 7 * sqrt(want);
    ok(distinct, "no set has a bucket twice");
    ok(even, "every bucket is in about as many sets");
    free(memory);
    free(s);
}

/* A bucket that nobody was asked about has no estimate, and says so. */
static void unasked(void)
{
    hsy_spec spec = spec_of(6, 2, 8, 1);
    hsy_scheme *s = trial_scheme(&spec);
    int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
    const hsy_confidence how = {0.95, HSY_PEOPLE, HSY_INTERVAL_AUTO, 1};
    const uint8_t report[2] = {0, 1};
    hsy_evidence points[6];
    hsy_estimate est;
    hsy_plausibility odd;
    hsy_tally t;
    size_t asked = 0, silent = 0;

    hsy_tally_init(&t, s, memory);
    hsy_tally_add(&t, s, report, NULL);
    hsy_evidence_of(s, points, &t, NULL, 6, NULL, NULL);
    for (size_t v = 0; v < 6; v++) {
        hsy_status st = hsy_estimate_point(&est, &points[v], &how, NULL);

        asked += points[v].n == 1 && st == HSY_OK && isfinite(est.value);
        silent += points[v].n == 0 && st == HSY_E_EMPTY && points[v].value == 0;
    }
    hsy_plausible(s, &odd, &t, points, 6, true);
    ok(asked == 2 && silent == 4,
       "one report tells of two buckets; the others are without data");
    ok(!odd.implausible, "which is not implausible");
    free(memory);
    free(s);
}

/* Where cells say what no reports can, nothing is NaN. */
static void hostile(void)
{
    static const int64_t cells[][2] = {{5, 0}, {0, -3}, {9, 4}, {-1, 7}};
    hsy_spec spec = spec_of(6, 2, 8, 1);
    hsy_scheme *s = trial_scheme(&spec);
    int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
    hsy_evidence points[6];
    hsy_tally t;
    bool finite = true;

    hsy_tally_init(&t, s, memory);
    t.strata[0] = 10;
    for (size_t i = 0; i < 4; i++) {
        t.cells[i] = cells[i][0];
        t.cells[6 + i] = cells[i][1];
    }
    hsy_evidence_of(s, points, &t, NULL, 6, NULL, NULL);
    for (size_t v = 0; v < 6; v++)
        finite &=
            isfinite(points[v].value) && isfinite(points[v].binomial_variance);
    ok(finite, "no tally gives an estimate that is not a number");
    free(memory);
    free(s);
}

/* At a large epsilon the sample of those asked is the larger part of the error:
 * honest reports must not look forged for it. */
static void honest(void)
{
    enum { N = 1 << 17, D = 50 };
    hsy_spec spec = spec_of(D, 4, 12, 20);
    hsy_scheme *s = trial_scheme(&spec);
    int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
    uint8_t *reports = trial_memory(N * s->report_bytes);
    uint64_t *codes = trial_memory(N * sizeof *codes);
    hsy_evidence points[D];
    hsy_plausibility odd;
    hsy_stream secret, public;
    hsy_tally t;

    for (size_t i = 0; i < N; i++)
        codes[i] = i % D;
    hsy_stream_seed(&secret, 8, 0);
    hsy_stream_seed(&public, 8, 1);
    hsy_tally_init(&t, s, memory);
    hsy_simulate_batch(s, reports, codes, N, &secret, &public, NULL);
    hsy_tally_batch(&t, s, reports, N, NULL);
    hsy_evidence_of(s, points, &t, NULL, D, NULL, NULL);
    hsy_plausible(s, &odd, &t, points, D, true);
    ok(!odd.implausible, "honest reports at epsilon 20 are plausible (%.2g)",
       odd.sum_p);
    t.cells[0] = t.cells[D];
    t.cells[1] = t.cells[D + 1];
    hsy_evidence_of(s, points, &t, NULL, D, NULL, NULL);
    hsy_plausible(s, &odd, &t, points, D, true);
    ok(odd.sum_p < 1e-6, "two values of share 1 are not");
    free(memory);
    free(reports);
    free(codes);
    free(s);
}

int main(void)
{
    vectors();
    parameters();
    sets();
    unasked();
    hostile();
    honest();
    return tap_done();
}
