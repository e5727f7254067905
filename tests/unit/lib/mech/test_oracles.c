/* test_oracles.c - pem by any oracle that can answer for candidates: its parts,
 * what it refuses, counts of prefixes that nobody has, and that it finds. */
#include "lib/mech/mechanisms.h"
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static const char *const oracle_names[] = {
    "grr", "ss", "pgr", "hpg", "hr", "sue", "oue", "olh", "blh", "cms", "hcms"};

#define ORACLES (sizeof oracle_names / sizeof oracle_names[0])

static hsy_spec oracle_spec(const char *oracle, uint64_t bits, double epsilon)
{
    hsy_spec spec = trial_values("pem", 0, epsilon);

    spec.kind = HSY_KIND_STRINGS;
    spec.param[HSY_PARAM_BITS] = bits;
    spec.param[HSY_PARAM_STEP] = 3;
    spec.param[HSY_PARAM_FIRST] = 3;
    spec.oracle = oracle;
    return spec;
}

/* The scheme of a wire and nothing else. */
static hsy_scheme *oracle_again(const hsy_scheme *s)
{
    uint8_t wire[HSY_SCHEME_WIRE];
    hsy_spec spec;

    hsy_scheme_encode(s, wire);
    if (hsy_spec_decode(&spec, wire, NULL, 0, NULL) != HSY_OK)
        abort();
    return trial_scheme(&spec);
}

static void parts(void)
{
    for (size_t i = 0; i < ORACLES; i++) {
        const hsy_spec spec = oracle_spec(oracle_names[i], 9, 1);
        hsy_scheme *s = trial_scheme(&spec), *again = oracle_again(s);
        hsy_scheme_info info;
        bool all = hsy_scheme_parts(s) == 2;

        hsy_scheme_describe(s, &info);
        for (size_t k = 0; k < 2; k++)
            all &=
                hsy_scheme_part(s, k)->mech == hsy_mech_named(oracle_names[i]);
        ok(all && strcmp(info.oracle, oracle_names[i]) == 0,
           "%s asks every group", oracle_names[i]);
        ok(memcmp(s->digest, again->digest, HSY_DIGEST) == 0 &&
               fabs(info.epsilon_exact - 1) < 1e-6,
           "at epsilon 1, and its wire makes the same scheme");
        free(s);
        free(again);
    }
}

static void refusals(void)
{
    static const struct {
        const char *oracle;
        uint64_t bits;
        uint32_t param;
        uint64_t value;
        const char *field;
    } rows[] = {{"rappor", 9, HSY_PARAM_G, 0, "oracle"},
                {"pem", 9, HSY_PARAM_G, 0, "oracle"},
                {"dbitflip", 9, HSY_PARAM_G, 0, "oracle"},
                {"onebit", 9, HSY_PARAM_G, 0, "oracle"},
                {"grr", 23, HSY_PARAM_G, 0, "oracle"},
                {"oue", 21, HSY_PARAM_G, 0, "oracle"},
                {"sue", 48, HSY_PARAM_G, 0, "oracle"},
                {"hr", 512, HSY_PARAM_G, 0, "step"},
                {"hr", 100, HSY_PARAM_G, 0, "oracle"},
                {"hcms", 9, HSY_PARAM_POOL_BITS, 4, "pool-bits"},
                {"grr", 9, HSY_PARAM_POOL_BITS, 4, "pool-bits"},
                {"olh", 9, HSY_PARAM_WIDTH, 16, "width"},
                {NULL, 9, HSY_PARAM_HASHES, 16, "hashes"},
                {"hcms", 9, HSY_PARAM_HASHES, 3, "hashes"},
                {"hcms", 9, HSY_PARAM_WIDTH, 1 << 22, "width"},
                {"cms", 9, HSY_PARAM_WIDTH, 1 << 22, "width"},
                {NULL, 512, HSY_PARAM_STEP, 7, "step"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = oracle_spec(rows[i].oracle, rows[i].bits, 1);
        hsy_error err = {0};
        hsy_scheme *s;

        spec.param[rows[i].param] = rows[i].value;
        s = trial_memory(hsy_scheme_size(&spec));
        ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
               strcmp(hsy_field_name(err.field), rows[i].field) == 0,
           "refused %zu: %s", i, rows[i].field);
        free(s);
    }
}

static void treehist(void)
{
    hsy_spec spec = trial_values("treehist", 0, 1);
    hsy_scheme *s, *again;
    hsy_scheme_info info;

    spec.kind = HSY_KIND_STRINGS;
    s = trial_scheme(&spec);
    again = oracle_again(s);
    hsy_scheme_describe(s, &info);
    ok(strcmp(info.mechanism, "pem") == 0 && strcmp(info.oracle, "hcms") == 0 &&
           info.param[HSY_PARAM_STEP] == 1 && hsy_scheme_parts(s) == 47,
       "treehist is pem by hcms, a bit a group");
    ok(s->cells <= (size_t)1 << 22 &&
           memcmp(s->digest, again->digest, HSY_DIGEST) == 0,
       "with few counters, and its wire is one of pem");
    free(s);
    free(again);
    spec.oracle = "olh";
    spec.param[HSY_PARAM_STEP] = 2;
    s = trial_scheme(&spec);
    ok(hsy_scheme_part(s, 0)->mech == &hsy_mech_olh &&
           s->param[HSY_PARAM_STEP] == 2,
       "what a spec names itself stays");
    free(s);
}

/* ---- Reports ------------------------------------------------------------- */

#define ORACLE_PEOPLE 24000u

struct oracle_run {
    hsy_scheme *s;
    hsy_tally t;
};

/* Half of the people have 300, a quarter 77, the others any of 512. */
static struct oracle_run oracle_people(const char *name)
{
    hsy_spec spec = oracle_spec(name, 9, 3);
    struct oracle_run r = {.s = trial_scheme(&spec)};
    uint64_t *codes = trial_memory(ORACLE_PEOPLE * sizeof *codes);
    uint8_t *reports = trial_memory(ORACLE_PEOPLE * r.s->report_bytes);
    hsy_stream secret, published;

    for (size_t i = 0; i < ORACLE_PEOPLE; i++)
        codes[i] = i % 4 < 2 ? 300 : i % 4 == 2 ? 77 : i / 4 % 256;
    hsy_stream_seed(&secret, 8, 0);
    hsy_stream_seed(&published, 8, 1);
    hsy_tally_init(&r.t, r.s, trial_memory(8 * hsy_tally_words(r.s)));
    if (hsy_simulate_batch(r.s, reports, codes, ORACLE_PEOPLE, &secret,
                           &published, NULL) != HSY_OK ||
        hsy_tally_batch(&r.t, r.s, reports, ORACLE_PEOPLE, NULL) != HSY_OK)
        abort();
    free(codes);
    free(reports);
    return r;
}

/* Strings 400 .. 511 are nobody's: their support is a count of chance q, or has
 * no such law and then q is 0. Deviations are bounded as 112 normal ones. */
static void nobody(const struct oracle_run *r, const char *name)
{
    uint64_t codes[112];
    hsy_evidence points[112];
    void *scratch = trial_memory(hsy_evidence_scratch(r->s, 112));
    double worst = 0, off = 0, mean = 0;

    for (size_t i = 0; i < 112; i++)
        codes[i] = 400 + i;
    if (hsy_evidence_of(r->s, points, &r->t, codes, 112, scratch, NULL) !=
        HSY_OK)
        abort();
    for (size_t i = 0; i < 112; i++) {
        const hsy_evidence *p = &points[i];

        worst = fmax(worst, fabs(p->value) /
                                sqrt(p->v0 / p->n + p->residual_variance));
        mean +=
            p->value / sqrt(p->v0 / p->n + p->residual_variance) / sqrt(112);
        if (p->q > 0)
            off = fmax(off, fabs(p->support - p->n * p->q) /
                                sqrt(p->n * p->q * (1 - p->q) +
                                     p->residual_variance * p->n * p->n *
                                         (p->p - p->q) * (p->p - p->q)));
    }
    ok(worst < 5 && fabs(mean) < 5,
       "%s: shares of what nobody has are within their errors (%.1f)", name,
       worst);
    ok(off < 5, "and their support is a count by chance q (%.1f)", off);
    free(scratch);
}

static void finds(const struct oracle_run *r, const char *name)
{
    const hsy_search how = {.size = sizeof how, .top = 8, .significant = true};
    hsy_stage stages[HSY_STAGES_MAX];
    static hsy_candidate list[1024];
    hsy_found found = {list, 0};
    size_t nstages = 0;
    void *scratch;
    hsy_status st = hsy_search_plan(r->s, stages, &nstages, &how, NULL);

    scratch = trial_memory(hsy_search_scratch(r->s, stages, nstages));
    for (size_t i = 0; i < nstages && st == HSY_OK; i++)
        st = hsy_search_stage(r->s, &found, &r->t, &stages[i], scratch, NULL);
    ok(st == HSY_OK && found.count == 2 && list[0].code[0] == 300 &&
           list[1].code[0] == 77 && strcmp(stages[0].oracle, name) == 0,
       "%s: both strings are found, and nothing else (%zu)", name, found.count);
    ok(found.count == 2 &&
           fabs(list[0].point.value - 0.5) <
               5 * sqrt(list[0].point.v1 / list[0].point.n +
                        list[0].point.residual_variance +
                        0.25 / list[0].point.n) &&
           stages[0].v0 > 0,
       "with their shares");
    free(scratch);
}

int main(void)
{
    parts();
    refusals();
    treehist();
    for (size_t i = 0; i < ORACLES; i++) {
        struct oracle_run r = oracle_people(oracle_names[i]);

        nobody(&r, oracle_names[i]);
        finds(&r, oracle_names[i]);
        free(r.t.cells);
        free(r.s);
    }
    return tap_done();
}
