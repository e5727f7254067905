/* test_pem.c - pem: what it plans and refuses, how strings are spelled, and
 * what it makes of a tally. */
#include "lib/family/lh.h"
#include "lib/mech/mechanisms.h"
#include "lib/scheme/sampled.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_spec pem_spec(uint64_t bits, uint64_t step, uint64_t first,
                         double epsilon)
{
    hsy_spec spec = trial_values("pem", 0, epsilon);

    spec.kind = HSY_KIND_STRINGS;
    spec.param[HSY_PARAM_BITS] = bits;
    spec.param[HSY_PARAM_STEP] = step;
    spec.param[HSY_PARAM_FIRST] = first;
    return spec;
}

/* s_j = min(M, first + j step); without first a whole number of steps. */
static void plans(void)
{
    static const struct {
        uint64_t bits, step, first;
        size_t groups;
        uint64_t chosen;
    } rows[] = {{48, 8, 4, 6, 4},  {48, 8, 5, 6, 5},  {48, 8, 0, 5, 8},
                {0, 0, 0, 5, 8},   {48, 10, 0, 4, 8}, {48, 1, 0, 44, 4},
                {64, 8, 0, 7, 8},  {8, 0, 0, 1, 1},   {2, 1, 1, 1, 1},
                {16, 2, 0, 6, 4},  {12, 8, 0, 1, 4},  {64, 1, 1, 63, 1},
                {48, 16, 8, 3, 8}, {64, 16, 0, 4, 4}, {10, 3, 1, 3, 1}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const hsy_spec spec =
            pem_spec(rows[i].bits, rows[i].step, rows[i].first, 1);
        hsy_scheme *s = trial_scheme(&spec);

        ok(hsy_scheme_parts(s) == rows[i].groups &&
               s->param[HSY_PARAM_FIRST] == rows[i].chosen,
           "%u bits by %u: %zu groups, the first of %u bits and a step",
           (unsigned)rows[i].bits, (unsigned)rows[i].step, rows[i].groups,
           (unsigned)rows[i].chosen);
        free(s);
    }
}

/* grr up to 3 e^2 + 2 = 24.2 prefixes; seeds and ranges of the others. */
static void oracles(void)
{
    const hsy_spec spec = pem_spec(48, 2, 2, 2);
    hsy_scheme *s = trial_scheme(&spec);

    ok(hsy_scheme_part(s, 0)->mech == &hsy_mech_grr &&
           hsy_scheme_part(s, 0)->d == 16,
       "16 prefixes at epsilon 2 are asked by grr");
    ok(hsy_scheme_part(s, 1)->mech == &hsy_mech_olh &&
           hsy_scheme_part(s, 1)->kind == HSY_KIND_STRINGS &&
           lh_range(hsy_scheme_part(s, 1)) == hsy_lh_best_range(2000000000) &&
           lh_pool_bits(hsy_scheme_part(s, 1)) == 16,
       "64 by olh, with the best range and 2^16 functions");
    ok(hsy_scheme_part(s, 1)->param[HSY_PARAM_POOL_SEED] !=
           hsy_scheme_part(s, 2)->param[HSY_PARAM_POOL_SEED],
       "and those of each group are its own");
    free(s);
}

/* Memory is bounded at any epsilon, and what is resolved resolves to itself. */
static void sizes(void)
{
    bool bounded = true, same = true;

    for (double epsilon = 0.5; epsilon <= 32; epsilon += 0.5)
        for (uint64_t step = 1; step <= 16; step += 5) {
            hsy_spec spec = pem_spec(64, step, 0, epsilon);
            hsy_scheme *s = trial_scheme(&spec), *t;

            bounded &= s->cells <= (size_t)1 << 26;
            memcpy(spec.param, s->param, sizeof spec.param);
            t = trial_scheme(&spec);
            same &= memcmp(s->digest, t->digest, HSY_DIGEST) == 0;
            free(s);
            free(t);
        }
    ok(bounded, "all groups have at most 2^26 cells, whatever epsilon is");
    ok(same, "resolved parameters give the same scheme again");
}

static void refusals(void)
{
    static const struct {
        uint32_t param;
        uint64_t value;
        const char *field;
    } rows[] = {{HSY_PARAM_BITS, 1, "bits"},
                {HSY_PARAM_BITS, 513, "bits"},
                {HSY_PARAM_STEP, 48, "step"},
                {HSY_PARAM_STEP, 21, "step"},
                {HSY_PARAM_FIRST, 48, "first"},
                {HSY_PARAM_FIRST, 17, "first"},
                {HSY_PARAM_POOL_BITS, 25, "pool-bits"},
                {HSY_PARAM_POOL_BITS, 24, "pool-bits"},
                {HSY_PARAM_POOL_SEED, (uint64_t)1 << 40, "pool-seed"},
                {HSY_PARAM_G, 4, "g"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = pem_spec(48, 8, 0, 1);
        hsy_error err = {0};
        hsy_scheme *s;

        spec.param[rows[i].param] = rows[i].value;
        s = trial_memory(hsy_scheme_size(&spec));
        ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
               strcmp(hsy_field_name(err.field), rows[i].field) == 0,
           "%s %llu is refused", rows[i].field,
           (unsigned long long)rows[i].value);
        free(s);
    }
}

/* ---- Spelling ------------------------------------------------------------ */

static hsy_truth pem_truth(const char *text, size_t len, size_t room)
{
    hsy_truth truth = {.type = HSY_TRUTH_BYTES};

    truth.u.bytes.data = text;
    truth.u.bytes.len = len;
    truth.u.bytes.room = room;
    return truth;
}

static void spelling(void)
{
    static const struct {
        uint64_t bits;
        const char *text;
        size_t len;
        uint64_t code;
        bool spelled;
    } rows[] = {{48, "waterX", 5, 0x776174657200, true},
                {48, "waters", 6, 0x776174657273, true},
                {48, "watered", 7, 0, false},
                {48, "", 0, 0, true},
                {48, "\xff\xfe", 2, 0xfffe00000000, true}, /* no UTF-8 */
                {48, "a\0b", 3, 0x610062000000, true},
                {48, "a\0", 2, 0, false},
                {64, "waterloo", 8, 0x77617465726c6f6f, true},
                {64, "waterloo!", 9, 0, false},
                {20, "ab", 2, 0x61620, true},
                {20, "abc", 3, 0, false}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const hsy_spec spec = pem_spec(rows[i].bits, 0, 0, 1);
        hsy_scheme *s = trial_scheme(&spec);
        char text[64] = {0};
        uint64_t code = 1, wide = 1;
        hsy_truth truth = pem_truth(rows[i].text, rows[i].len, 0);
        hsy_status st = hsy_truth_code(s, &code, &truth, NULL);
        uint8_t string[HSY_SPELL_BITS];

        memcpy(text, rows[i].text, rows[i].len);
        memset(text + rows[i].len, 'x', sizeof text - rows[i].len);
        truth = pem_truth(text, rows[i].len, sizeof text);
        ok((st == HSY_OK) == rows[i].spelled &&
               hsy_truth_code(s, &wide, &truth, NULL) == st,
           "string %zu in %u bits: %s", i, (unsigned)rows[i].bits,
           rows[i].spelled ? "spelled" : "refused");
        ok(!rows[i].spelled ||
               (code == rows[i].code && wide == code &&
                hsy_code_string(s, string, &code) == rows[i].len &&
                memcmp(string, rows[i].text, rows[i].len) == 0),
           "and as it should be, there and back");
        free(s);
    }
}

/* On a device no string is an error: the first bytes stand for it. */
static void totals(void)
{
    const hsy_spec spec = pem_spec(20, 0, 0, 1);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_truth truth = pem_truth("abc", 3, 0);
    uint64_t code = 0;

    ok(hsy_truth_code_clamped(s, &code, &truth, 0, NULL) == HSY_OK &&
           code == 0x61620,
       "a device cuts a string that is too long");
    truth = (hsy_truth){.type = HSY_TRUTH_INDEX, .u.index = 0xfffff};
    ok(hsy_truth_code(s, &code, &truth, NULL) == HSY_OK && code == 0xfffff,
       "an index is its own code");
    truth.u.index = 0x100000;
    ok(hsy_truth_code(s, &code, &truth, NULL) == HSY_E_RANGE,
       "if it has no more bits than a string");
    ok(hsy_truth_code_clamped(s, &code, &truth, 0, NULL) == HSY_OK && code == 0,
       "a device takes its last bits");
    ok(hsy_code_count(s) == 1 << 20, "there are 2^20 codes");
    code = 1 << 20;
    ok(!hsy_codes_inside(s, &code, 1), "and no more");
    free(s);
}

static void prefixes(void)
{
    const hsy_spec spec = pem_spec(64, 8, 8, 1);
    hsy_scheme *s = trial_scheme(&spec);
    const uint64_t code = 0x77617465726c6f6f;

    ok(hsy_part_code(s, &code, 0) == pool_scatter(0x7761) &&
           hsy_part_code(s, &code, 6) == pool_scatter(code),
       "group 1 is asked for two bytes, the last one for all");
    free(s);
}

/* ---- Estimates ----------------------------------------------------------- */

/* At epsilon 20 and 2^10 strings every group is asked by grr, nearly without
 * noise: the last group's shares come out. */
static void shares(void)
{
    const hsy_spec spec = pem_spec(10, 3, 1, 20);
    hsy_scheme *s = trial_scheme(&spec);
    const uint64_t asked[3] = {5, 6, 1000};
    uint64_t codes[3000];
    hsy_evidence points[3];
    hsy_stream secret, published;
    hsy_scheme_info info;
    hsy_tally t, last;
    uint8_t *reports;
    void *scratch = trial_memory(hsy_evidence_scratch(s, 3));
    double n;

    hsy_scheme_describe(s, &info);
    reports = trial_memory(3000 * info.report_bytes);
    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    hsy_stream_seed(&secret, 1, 0);
    hsy_stream_seed(&published, 1, 1);
    for (size_t i = 0; i < 3000; i++)
        codes[i] = i % 3 == 0 ? 5 : 1000;
    ok(hsy_evidence_of(s, points, &t, asked, 3, scratch, NULL) == HSY_E_EMPTY,
       "without reports there are no estimates");
    ok(hsy_simulate_batch(s, reports, codes, 3000, &secret, &published, NULL) ==
               HSY_OK &&
           hsy_tally_batch(&t, s, reports, 3000, NULL) == HSY_OK,
       "3000 reports are counted");
    hsy_tally_part(&last, &t, s, hsy_scheme_parts(s) - 1);
    n = (double)hsy_tally_reports(&last);
    ok(hsy_evidence_of(s, points, &t, asked, 3, scratch, NULL) == HSY_OK &&
           fabs(points[0].value - (double)last.cells[5] / n) < 1e-4 &&
           fabs(points[1].value) < 1e-4 && points[0].n == n,
       "shares are those of the last group");
    ok(fabs(points[0].binomial_variance - (3000 - n) / 2999) < 1e-12,
       "which is a sample of all who answered");
    memset(last.cells, 0, last.ncells * sizeof *last.cells);
    last.strata[0] = 0;
    ok(hsy_evidence_of(s, points, &t, asked, 3, scratch, NULL) == HSY_OK &&
           points[0].n == 0,
       "if the last group is empty, nothing is known");
    {
        hsy_scheme_info own;

        hsy_scheme_describe(hsy_scheme_part(s, 2), &own);
        ok(fabs(info.v0 / (3 * own.v0) - 1) < 1e-12,
           "n Var is that of a group, times the groups");
    }
    free(t.cells);
    free(reports);
    free(scratch);
    free(s);
}

int main(void)
{
    plans();
    oracles();
    sizes();
    refusals();
    spelling();
    totals();
    prefixes();
    shares();
    return tap_done();
}
