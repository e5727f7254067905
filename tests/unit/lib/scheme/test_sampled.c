/*
 * test_sampled.c - the engine of schemes with parts, on a row of its own: mixed
 * parts, in reports of one number and of whole bytes.
 */
#include "lib/scheme/sampled.h"
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

#define CODES 40u
#define REPORTS 3000u

/* ---- Rows: a code below 40, asked in four ways --------------------------- */

static const uint32_t short_sizes[4] = {40, 2, 7, 5};
static const char *const short_names[4] = {"olh", "rr", "grr", "oue"};

static size_t four(const hsy_spec *spec)
{
    (void)spec;
    return 4;
}

/* d of the spec sizes the unary part: up to 59 it goes into a number. */
static void short_part(hsy_spec *sub, const hsy_spec *spec, size_t i)
{
    sub->mechanism = short_names[i];
    sub->kind = HSY_KIND_VALUES;
    sub->d = i == 3 ? spec->d : short_sizes[i];
    sub->nano_epsilon = spec->nano_epsilon;
    if (i == 0)
        sub->param[HSY_PARAM_POOL_BITS] = 4;
}

static uint64_t short_code(const hsy_scheme *s, const uint64_t *codes, size_t i)
{
    const hsy_scheme *part = hsy_scheme_part(s, i);

    return codes[0] % part->d;
}

static const struct mech_parts how = {
    .parts = four, .part = short_part, .code = short_code};

static hsy_status resolve(hsy_scheme *s, const hsy_spec *spec, hsy_error *err)
{
    return hsy_sampled_resolve(s, spec, err);
}

static const struct mech_client client = {.resolve = resolve,
                                          .randomize = hsy_sampled_randomize,
                                          .settle = hsy_sampled_settle};

static const struct hsy_mechanism row = {
    .row = {.name = "four",
            .aliases = "",
            .title = "four questions",
            .id = 9999,
            .kinds = 1u << HSY_KIND_VALUES},
    .client = &client,
    .counting = &hsy_mech_sampled_counting,
    .law = &hsy_mech_sampled_law,
    .parts = &how,
};

/* The same from the last to the first: the unary part, which tells a little
 * less than the others, comes first. */
static void back_part(hsy_spec *sub, const hsy_spec *spec, size_t i)
{
    short_part(sub, spec, 3 - i);
}

static const struct mech_parts back_how = {
    .parts = four, .part = back_part, .code = short_code};

static const struct hsy_mechanism back = {
    .row = {.name = "back",
            .aliases = "",
            .title = "four questions, the last first",
            .id = 9998,
            .kinds = 1u << HSY_KIND_VALUES},
    .client = &client,
    .law = &hsy_mech_sampled_law,
    .parts = &back_how,
};

/* The scheme of such a row, which is in no table. */
static hsy_scheme *scheme_by(const struct hsy_mechanism *mech, uint32_t d,
                             double epsilon)
{
    const hsy_spec spec = trial_values("four", d, epsilon);
    hsy_scheme *s =
        trial_memory(sizeof *s + hsy_sampled_size(&spec, mech->parts));

    s->kernels = hsy_kernels_at(hsy_cpu_best());
    s->kind = spec.kind;
    s->d = CODES;
    s->nano_epsilon = spec.nano_epsilon;
    if (hsy_mech_resolve(s, mech, &spec, NULL) != HSY_OK) {
        puts("Bail out! no scheme of four parts");
        exit(1);
    }
    mech->client->settle(s, &spec);
    return s;
}

static hsy_scheme *scheme_of(uint32_t d)
{
    return scheme_by(&row, d, 1);
}

static hsy_tally tally_of(const hsy_scheme *s)
{
    hsy_tally t;

    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    return t;
}

/* ---- Tests --------------------------------------------------------------- */

static void sizes(void)
{
    hsy_scheme *number = scheme_of(20), *bytes = scheme_of(100);
    hsy_tally t = tally_of(bytes), part;

    ok(hsy_scheme_parts(number) == 4 && number->report_bits == 2 + 20 &&
           number->report_bytes == 4 && number->packed_bits == 22,
       "parts of few bits make one number");
    ok(bytes->report_bytes == 1 + 13 && bytes->report_bits == 8 * 14 &&
           bytes->packed_bits == 8 * 14,
       "a part of 100 bits makes whole bytes");
    ok(bytes->cells == hsy_scheme_part(bytes, 0)->cells + 1 + 7 + 100 &&
           bytes->strata == 4 && bytes->weights == 101,
       "a tally is those of the parts");
    hsy_tally_part(&part, &t, bytes, 2);
    ok(part.cells == t.cells + hsy_scheme_part(bytes, 0)->cells + 1 &&
           part.ncells == 7 && part.strata == t.strata + 2 &&
           part.nstrata == 1 && part.weights == NULL && part.nweights == 0,
       "a view on part 2");
    hsy_tally_part(&part, &t, bytes, 3);
    ok(part.weights == t.weights && part.nweights == 101,
       "part 3 has the weights");
    ok(number->parts.digest != bytes->parts.digest,
       "the digests of the parts are in the scheme's integers");
    free(t.cells);
    free(number);
    free(bytes);
}

/* Any other scheme is its own part. */
static void ordinary(void)
{
    hsy_spec spec = trial_values("oue", 9, 1);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_tally t = tally_of(s), part;

    hsy_tally_part(&part, &t, s, 0);
    ok(hsy_scheme_parts(s) == 1 && hsy_scheme_part(s, 0) == s &&
           part.cells == t.cells && part.strata == t.strata &&
           part.weights == t.weights && part.ncells == t.ncells &&
           part.nstrata == t.nstrata && part.nweights == t.nweights &&
           part.central == t.central,
       "an ordinary scheme has one part, itself");
    free(t.cells);
    free(s);
}

static bool same(const hsy_tally *a, const hsy_tally *b, const hsy_scheme *s)
{
    return memcmp(a->cells, b->cells, 8 * hsy_tally_words(s)) == 0;
}

/* Reports counted in blocks, one by one, and by the parts themselves. */
static void counting(uint32_t d)
{
    hsy_scheme *s = scheme_of(d);
    uint8_t *reports = trial_memory(REPORTS * s->report_bytes);
    uint64_t *codes = trial_memory(REPORTS * 8);
    hsy_tally batch = tally_of(s), single = tally_of(s), view;
    hsy_stream secret, published;
    hsy_coins coins = {hsy_stream_rng(&secret), hsy_stream_rng(&published)};
    bool level = true;

    hsy_stream_seed(&secret, 5, 0);
    hsy_stream_seed(&published, 5, 1);
    for (size_t i = 0; i < REPORTS; i++)
        codes[i] = i % 5;
    ok(hsy_randomize_batch(s, reports, codes, REPORTS, &coins, NULL) ==
               HSY_OK &&
           hsy_tally_batch(&batch, s, reports, REPORTS, NULL) == HSY_OK,
       "%u bits: a batch is randomized and counted", d);
    for (size_t i = 0; i < REPORTS; i++)
        hsy_tally_add(&single, s, reports + i * s->report_bytes, NULL);
    ok(same(&batch, &single, s), "%u bits: one by one counts the same", d);
    for (size_t i = 0; i < 4; i++) {
        hsy_tally_part(&view, &batch, s, i);
        /* 750 expected, deviation 24: 6 of them */
        level &= view.strata[0] > 600 && view.strata[0] < 900;
    }
    ok(level && hsy_tally_reports(&batch) == REPORTS,
       "%u bits: parts are asked equally often", d);
    hsy_tally_part(&view, &batch, s, 2);
    {
        hsy_evidence points[7];

        /* Codes 0 to 4 equally often: shares 0.2, deviation 0.07. */
        ok(hsy_evidence_of(hsy_scheme_part(s, 2), points, &view, NULL, 7, NULL,
                           NULL) == HSY_OK &&
               fabs(points[1].value - 0.2) < 0.4 &&
               points[0].n == (double)view.strata[0],
           "%u bits: a part's view is estimated by the part", d);
    }
    free(batch.cells);
    free(single.cells);
    free(reports);
    free(codes);
    free(s);
}

/* The law of a single report, summed over all reports of one part. */
static void laws(void)
{
    hsy_scheme *s = scheme_of(20);
    double sum = 0;
    size_t reports = 0;

    for (uint32_t y = 0; y < 1u << 22; y++) {
        const uint8_t report[4] = {(uint8_t)y, (uint8_t)(y >> 8),
                                   (uint8_t)(y >> 16)};
        hsy_factor f[64];
        double p = 1;
        size_t count;

        if (hsy_check(s, report) != HSY_OK)
            continue;
        hsy_law(s, f, &count, 3, report);
        for (size_t i = 0; i < count; i++)
            p *= (f[i].num == 0 ? 0x1p64 : (double)f[i].num) /
                 (f[i].den == 0 ? 0x1p64 : (double)f[i].den);
        sum += p;
        reports++;
    }
    ok(fabs(sum - 1) < 1e-9, "the law sums up to 1 over %zu reports (%.12f)",
       reports, sum);
    ok(reports ==
           (1u << 20) + 7 + 2 + 16 * hsy_scheme_part(s, 0)->param[HSY_PARAM_G],
       "and all of these are reports");
    ok(hsy_law_factors(s) == 21,
       "as many factors as the longest part, and one");
    free(s);
}

static void worst(void)
{
    hsy_scheme *s = scheme_of(20);
    hsy_factor f[4];
    size_t count;
    double ratio = 1;

    hsy_law_worst(s, f, &count);
    for (size_t i = 0; i < count; i++)
        ratio *= (double)f[i].num / (double)f[i].den;
    ok(ratio <= exp(1) * (1 + 1e-15) && ratio > exp(1) * (1 - 1e-8),
       "the worst part spends epsilon (%.15g)", ratio);
    free(s);
}

/* The worst ratio of a scheme, exactly. */
static void worst_of(mpq_t ratio, const hsy_scheme *s)
{
    hsy_factor f[4];
    size_t count;

    hsy_law_worst(s, f, &count);
    mpq_set_ui(ratio, 1, 1);
    for (size_t i = 0; i < count; i++) {
        mpq_t factor;

        mpq_init(factor);
        mpz_set_ui(mpq_numref(factor), f[i].num);
        mpz_set_ui(mpq_denref(factor), f[i].den);
        mpq_canonicalize(factor);
        mpq_mul(ratio, ratio, factor);
        mpq_clear(factor);
    }
}

/* Of all parts the one that tells the most counts, by however little and
 * wherever it stands. */
static void worst_part(const struct hsy_mechanism *mech)
{
    static const double epsilons[] = {1e-6, 0.01, 0.3, 1, 2.5, 7};
    uint32_t wrong = 0;
    mpq_t all, part, most;

    mpq_inits(all, part, most, NULL);
    for (size_t e = 0; e < sizeof epsilons / sizeof epsilons[0]; e++) {
        hsy_scheme *s = scheme_by(mech, 20, epsilons[e]);

        worst_of(all, s);
        mpq_set_ui(most, 0, 1);
        for (size_t i = 0; i < 4; i++) {
            worst_of(part, hsy_scheme_part(s, i));
            if (mpq_cmp(part, most) > 0)
                mpq_set(most, part);
        }
        wrong += mpq_cmp(all, most) != 0;
        free(s);
    }
    mpq_clears(all, part, most, NULL);
    ok(wrong == 0, "%s: the worst ratio is the largest of the parts'",
       mech->row.name);
}

/* What memory held before does not leave with a short part's report. */
static void nothing_left_over(void)
{
    hsy_scheme *s = scheme_of(100);
    hsy_stream secret, published;
    hsy_coins coins = {hsy_stream_rng(&secret), hsy_stream_rng(&published)};
    uint32_t wrong = 0;

    hsy_stream_seed(&secret, 1, 0);
    hsy_stream_seed(&published, 1, 1);
    for (uint64_t k = 0; k < 200; k++) {
        const uint64_t codes[2] = {k % CODES, k % CODES};
        uint8_t reports[2 * 14];

        memset(reports, 0xff, sizeof reports);
        if (k % 2 == 0)
            hsy_sampled_randomize(s, reports, codes, 1, &coins);
        else
            hsy_sampled_randomize(s, reports, codes, 2, &coins);
        wrong += hsy_check(s, reports) != HSY_OK ||
                 (k % 2 != 0 && hsy_check(s, reports + 14) != HSY_OK);
    }
    ok(wrong == 0, "a report has zeros after a short part's");
    free(s);
}

static void refusals(void)
{
    hsy_scheme *number = scheme_of(20), *bytes = scheme_of(100);
    uint8_t report[14] = {0};

    ok(hsy_check(bytes, report) == HSY_OK, "zeros are a report of part 0");
    report[0] = 4;
    ok(hsy_check(bytes, report) == HSY_E_FORMAT, "no part 4");
    report[0] = 1;
    report[13] = 1;
    ok(hsy_check(bytes, report) == HSY_E_FORMAT, "zeros after the part");
    report[13] = 0;
    report[1] = 2;
    ok(hsy_check(bytes, report) == HSY_E_FORMAT, "the part checks its own");
    memset(report, 0, sizeof report);
    report[0] = 1 | 1 << 2;
    ok(hsy_check(number, report) == HSY_OK, "a one of part 1");
    report[2] = 1;
    ok(hsy_check(number, report) == HSY_E_FORMAT,
       "bits above the part's are none of its report");
    memset(report, 0, sizeof report);
    report[0] = 3;
    report[2] = 1 << 5;
    ok(hsy_check(number, report) == HSY_OK, "the last bit of part 3");
    report[2] = 1 << 6;
    ok(hsy_check(number, report) == HSY_E_FORMAT, "and none above it");
    free(number);
    free(bytes);
}

/* A part's refusal is the scheme's. */
static void unsound(void)
{
    const hsy_spec spec = trial_values("four", 1, 1);
    hsy_scheme s = {.kind = HSY_KIND_VALUES, .d = CODES};
    hsy_error err = {0};

    ok(hsy_mech_resolve(&s, &row, &spec, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_VALUES,
       "a part that cannot be is named");
}

static void kernels(void)
{
    hsy_scheme *s = scheme_of(20);
    bool all = hsy_scheme_cpu(s, HSY_CPU_PLAIN) == HSY_OK;

    for (size_t i = 0; i < 4; i++)
        all &= hsy_scheme_part(s, i)->kernels == hsy_kernels_at(HSY_CPU_PLAIN);
    ok(all, "the kernel table of a scheme is that of its parts");
    free(s);
}

int main(void)
{
    sizes();
    ordinary();
    counting(20);
    counting(100);
    counting(40000); /* more than a block has room for */
    laws();
    worst();
    worst_part(&row);
    worst_part(&back);
    nothing_left_over();
    refusals();
    unsound();
    kernels();
    return tap_done();
}
