/* test_hh.c - hh and haar: what they choose, refuse, and make of a tally. */
#include "lib/mech/mechanisms.h"
#include "lib/scheme/sampled.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_scheme *hh_of(uint32_t d, uint64_t fanout, double epsilon)
{
    hsy_spec spec = trial_bins("hh", d, epsilon);

    spec.param[HSY_PARAM_FANOUT] = fanout;
    return trial_scheme(&spec);
}

/* (B + 1) h^2 for 4 and for 8: 1024 bins 125 and 144, 512 bins 125 and 81. */
static void choices(void)
{
    static const struct {
        uint32_t d;
        uint64_t fanout;
        size_t levels;
    } rows[] = {{1024, 4, 5}, {512, 8, 3}, {64, 8, 2}, {256, 4, 4}, {2, 4, 1}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_scheme *s = hh_of(rows[i].d, 0, 1);

        ok(s->param[HSY_PARAM_FANOUT] == rows[i].fanout &&
               hsy_scheme_parts(s) == rows[i].levels,
           "%u bins: fanout %u, %zu levels", rows[i].d,
           (unsigned)rows[i].fanout, rows[i].levels);
        free(s);
    }
}

/* grr up to 3 e + 2 = 10.15 nodes at epsilon 1. */
static void oracles(void)
{
    hsy_scheme *s = hh_of(110, 10, 1), *t = hh_of(121, 11, 1);

    ok(hsy_scheme_part(s, 1)->d == 11 && hsy_scheme_part(s, 0)->d == 2 &&
           hsy_scheme_part(s, 1)->mech == &hsy_mech_olh &&
           hsy_scheme_part(s, 0)->mech == &hsy_mech_grr,
       "11 nodes at epsilon 1 are asked by olh, 2 by grr");
    ok(hsy_scheme_part(t, 0)->mech == &hsy_mech_olh,
       "11 nodes of 121 bins too");
    free(s);
    free(t);
}

/* The node of a code on a level, by the division that the mechanism avoids. */
static void nodes(uint32_t d, uint64_t fanout)
{
    hsy_scheme *s = hh_of(d, fanout, 20);
    const size_t h = hsy_scheme_parts(s);
    uint64_t leaves = 1;
    bool same = true;

    for (size_t l = h; l-- > 0; leaves *= fanout)
        for (uint64_t code = 0; code < d; code += 1 + d / 5000)
            same &= s->mech->parts->code(s, &code, l) == code / leaves &&
                    code / leaves < hsy_scheme_part(s, l)->d;
    ok(same, "%u bins by %u: every bin has its node", d, (unsigned)fanout);
    free(s);
}

static void refusals(void)
{
    static const uint64_t wrong[] = {1, 1025, 1u << 30};
    hsy_spec spec = trial_bins("hh", 100, 1);
    hsy_error err = {0};

    for (size_t i = 0; i < 3; i++) {
        hsy_scheme *s;

        spec.param[HSY_PARAM_FANOUT] = wrong[i];
        s = trial_memory(hsy_scheme_size(&spec));
        ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
               err.field == HSY_FIELD_FANOUT,
           "fanout %u is refused", (unsigned)wrong[i]);
        free(s);
    }
    spec = trial_values("haar", 8, 1);
    {
        hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));

        ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE,
           "a list of values has no order: haar refuses it");
        free(s);
    }
}

/* Without reports on some levels an estimate is finite, its error bounded. */
static void sparse(const char *name)
{
    hsy_spec spec = trial_bins(name, 30, 1);
    hsy_scheme *s;
    hsy_tally t;
    hsy_evidence points[30];
    void *scratch;
    bool finite = true;
    double sum = 0;

    if (strcmp(name, "hh") == 0)
        spec.param[HSY_PARAM_FANOUT] = 3;
    s = trial_scheme(&spec);
    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    scratch = trial_memory(hsy_evidence_scratch(s, 30));
    t.strata[0] = 1;
    t.cells[0] = 1;
    ok(hsy_evidence_of(s, points, &t, NULL, 30, scratch, NULL) == HSY_OK,
       "%s: one report, of one level", name);
    for (size_t i = 0; i < 30; i++) {
        finite &= isfinite(points[i].value) && isfinite(points[i].v0) &&
                  points[i].v0 >= 0;
        sum += points[i].value;
    }
    ok(finite && fabs(sum - 1) < 1e-9, "%s: finite, and all bins make 1", name);
    free(scratch);
    free(t.cells);
    free(s);
}

static void haar_reports(void)
{
    hsy_spec spec = trial_bins("haar", 13, 1); /* 4 levels: 1 + 2 + 3 bits */
    hsy_scheme *s = trial_scheme(&spec);
    const uint8_t row = 1 << 1 | 2 << 3, spare = 1 << 6, good = 3 << 1 | 7 << 3;

    ok(s->report_bits == 6 && s->cells == 15 && s->strata == 4,
       "haar: 13 bins make reports of 6 bits and 15 cells");
    ok(hsy_check(s, &row) == HSY_E_FORMAT, "level 1 has no row 2");
    ok(hsy_check(s, &spare) == HSY_E_FORMAT, "spare bits are refused");
    ok(hsy_check(s, &good) == HSY_OK, "level 3 has row 7");
    free(s);
}

static void ranges_refuse(void)
{
    hsy_spec spec = trial_bins("haar", 8, 1),
             values = trial_values("grr", 8, 1);
    hsy_scheme *s = trial_scheme(&spec), *v = trial_scheme(&values);
    const hsy_confidence how = {0.95, HSY_PEOPLE, HSY_INTERVAL_AUTO, 1};
    const hsy_confidence exact = {0.95, HSY_PEOPLE, HSY_EXACT, 1};
    void *scratch = trial_memory(hsy_ranges_scratch(s));
    hsy_estimate est;
    hsy_ranges r;
    hsy_tally t, u;

    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    hsy_tally_init(&u, v, trial_memory(8 * hsy_tally_words(v)));
    ok(hsy_ranges_open(&r, v, &u, scratch, NULL) == HSY_E_RANGE,
       "a list of values has no ranges");
    ok(hsy_ranges_open(&r, s, &t, scratch, NULL) == HSY_E_EMPTY,
       "nor has an empty tally");
    t.strata[0] = t.strata[1] = t.strata[2] = 1000;
    ok(hsy_ranges_open(&r, s, &t, scratch, NULL) == HSY_OK &&
           hsy_range(&r, &est, 0, 8, &how, NULL) == HSY_OK && est.value == 1 &&
           est.sd == 0,
       "everything is 1, for certain");
    ok(hsy_range(&r, &est, 3, 3, &how, NULL) == HSY_E_RANGE &&
           hsy_range(&r, &est, 3, 9, &how, NULL) == HSY_E_RANGE,
       "no bin, and a bin outside, are refused");
    ok(hsy_quantile(&r, &est, 0, &how, NULL) == HSY_E_RANGE &&
           hsy_quantile(&r, &est, 1, &how, NULL) == HSY_E_RANGE &&
           hsy_quantile(&r, &est, 0.5, &exact, NULL) == HSY_E_RANGE,
       "quantiles 0 and 1, and exact intervals, are refused");
    ok(hsy_quantile(&r, &est, 0.5, &how, NULL) == HSY_OK && est.value == 4 &&
           est.low < 4 && est.high > 4,
       "of even bins the median is in the middle");
    free(scratch);
    free(t.cells);
    free(u.cells);
    free(s);
    free(v);
}

/* What a scheme states of itself: one level of grr, consistent by itself, has
 * grr's variances. */
static void stated_variance(void)
{
    for (uint32_t d = 2; d <= 4; d++) {
        hsy_spec spec = trial_values("grr", d, 3);
        hsy_scheme *grr = trial_scheme(&spec), *hh;
        hsy_scheme_info a, b;

        spec.mechanism = "hh";
        spec.kind = HSY_KIND_BINS;
        spec.hi = d;
        hh = trial_scheme(&spec);
        hsy_scheme_describe(grr, &a);
        hsy_scheme_describe(hh, &b);
        ok(hsy_scheme_parts(hh) == 1 && fabs(a.v0 - b.v0) < 1e-12 * a.v0 &&
               fabs(a.v1 - b.v1) < 1e-12 * a.v1,
           "%u bins at epsilon 3: n Var %.6f and %.6f, as of grr", d, b.v0,
           b.v1);
        free(grr);
        free(hh);
    }
}

int main(void)
{
    stated_variance();
    choices();
    oracles();
    nodes(1000, 10);
    nodes(1u << 22, 7);
    refusals();
    sparse("hh");
    sparse("haar");
    haar_reports();
    ranges_refuse();
    return tap_done();
}
