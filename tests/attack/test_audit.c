/*
 * test_audit.c - the auditor itself: its bound against known figures, its
 * search, its confidence, and its eyes for what is not in the report.
 */
#include "audit/internal.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20240229u

/* ---- The bound ----------------------------------------------------------- */

/* Theory 15.7, from two independent implementations. */
static void test_bound(void)
{
    const uint64_t hits[2] = {7311, 2689}, trials[2] = {10000, 10000};
    const uint64_t none[2] = {0, 0}, all[2] = {10000, 0};
    double bound = audit_bound(hits, trials, 0.01);

    ok(fabs(bound - 0.942084002088356936) < 1e-12,
       "the bound of 7311 against 2689 in 10000 is 0.94208 (%.15f)", bound);
    ok(audit_bound(none, trials, 0.01) == 0, "no hits prove nothing");
    ok(audit_bound(all, none, 0.01) == 0, "no trials prove nothing");
    ok(fabs(audit_bound(all, trials, 0.01) -
            log(pow(0.005, 1e-4) / (1 - pow(0.005, 1e-4)))) < 1e-9,
       "all against none: both Clopper-Pearson ends in closed form");
    ok(audit_bound_guess(hits, trials, 2.575829303548901) < 0.95 &&
           audit_bound_guess(hits, trials, 2.575829303548901) > 0.93,
       "the quick bound is close to it");
}

/* ---- Subjects ------------------------------------------------------------ */

static hsy_scheme *test_scheme(const char *mechanism, uint32_t kind, uint32_t d,
                               uint64_t nano_epsilon)
{
    hsy_spec spec = {
        .size = sizeof spec,
        .mechanism = mechanism,
        .nano_epsilon = nano_epsilon,
        .kind = kind,
        .d = d,
        .hi = kind == HSY_KIND_NUMBER || kind == HSY_KIND_BINS ? 100 : 0};
    hsy_scheme *s;

    if (strcmp(mechanism, "rappor") == 0) {
        /* One bit of few, so that 200,000 reports tell enough. */
        spec.param[HSY_PARAM_FILTER_BITS] = 6;
        spec.param[HSY_PARAM_HASHES] = 1;
        spec.param[HSY_PARAM_COHORTS] = 2;
    }
    if (strcmp(mechanism, "pem") == 0) { /* groups of 4 and 8 prefixes */
        spec.param[HSY_PARAM_BITS] = 3;
        trial_steps(&spec, 1);
    }
    if (strcmp(mechanism, "stage") == 0) /* all 8 strings, and none of them */
        spec.param[HSY_PARAM_BITS] = spec.param[HSY_PARAM_STEP] = 3;

    if (strcmp(mechanism, "sfp") == 0) { /* the worst takes two answers */
        spec.param[HSY_PARAM_BITS] = 2;
        trial_steps(&spec, 1);
        trial_puzzle(&spec);
    }

    trial_attach(&spec);
    s = malloc(hsy_scheme_size(&spec));
    if (s == NULL || hsy_scheme_init(s, &spec, NULL) != HSY_OK)
        abort();
    return s;
}

static struct audit_result test_run(const struct audit_subject *subject,
                                    uint64_t samples, double confidence)
{
    const struct audit_options how = {samples, confidence, true,
                                      SEED,    NULL,       NULL};
    struct audit_result r;

    if (audit_run(&r, subject, &how) != HSY_OK)
        abort();
    return r;
}

static void test_library(void)
{
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++) {
        uint32_t kind = row->kinds >> HSY_KIND_YES_NO & 1   ? HSY_KIND_YES_NO
                        : row->kinds >> HSY_KIND_VALUES & 1 ? HSY_KIND_VALUES
                        : row->kinds >> HSY_KIND_BINS & 1   ? HSY_KIND_BINS
                        : row->kinds >> HSY_KIND_TUPLE & 1  ? HSY_KIND_TUPLE
                        : row->kinds >> HSY_KIND_NUMBER & 1 ? HSY_KIND_NUMBER
                                                            : HSY_KIND_STRINGS;
        bool listed = kind == HSY_KIND_VALUES || kind == HSY_KIND_BINS;
        hsy_scheme *s = test_scheme(row->name, kind, listed ? 8 : 0, HSY_NANO);
        struct audit_subject subject = audit_library(s);
        struct audit_result r = test_run(&subject, 200000, AUDIT_CONFIDENCE);

        ok(r.faults == 0, "%s holds (%s)", row->name, audit_verdict(r.faults));
        ok(r.exact <= r.nominal && r.sampled <= r.exact &&
               r.sampled > (strcmp(row->name, "sfp") == 0 ? 0.6 : 0.7),
           "sampled %.4f <= exact %.10f <= nominal", r.sampled, r.exact);
        ok(r.outputs == 0 || fabs(r.enumerated - r.exact) < 1e-12,
           "enumeration over %llu outputs agrees",
           (unsigned long long)r.outputs);
        free(s);
    }
}

/* The same seed is the same audit; another one is another. */
static void test_reproducible(void)
{
    hsy_scheme *s = test_scheme("grr", HSY_KIND_VALUES, 8, HSY_NANO);
    struct audit_subject subject = audit_library(s);
    struct audit_options how = {50000, 0.99, true, 1, NULL, NULL};
    struct audit_result a, b, c;

    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    ok(audit_run(&a, &subject, &how) == HSY_OK &&
           audit_run(&b, &subject, &how) == HSY_OK && a.sampled == b.sampled &&
           a.law_p == b.law_p,
       "a seed makes an audit reproducible");
    how.seed = 2;
    ok(audit_run(&c, &subject, &how) == HSY_OK && c.sampled != a.sampled,
       "another seed draws other coins");
    how.seeded = false;
    ok(audit_run(&c, &subject, &how) == HSY_OK && c.faults == 0,
       "kernel coins pass as well");
    how.samples = 999;
    ok(audit_run(&c, &subject, &how) == HSY_E_RANGE, "999 samples are refused");
    free(s);
}

/* ---- Confidence ---------------------------------------------------------- */

/*
 * Choosing on one part and bounding on the other keeps the confidence: at 90 %
 * the bound passes the exact epsilon in at most one audit of ten, though many
 * events are looked at. Exact binomial test at 1e-9 over 200 audits.
 */
static void test_confidence(void)
{
    hsy_scheme *s = test_scheme("oue", HSY_KIND_VALUES, 8, HSY_NANO);
    struct audit_subject subject = audit_library(s);
    uint64_t above = 0, runs = 200;

    for (uint64_t i = 0; i < runs; i++) {
        const struct audit_options how = {4000,     0.9,  true,
                                          SEED + i, NULL, NULL};
        struct audit_result r;

        if (audit_run(&r, &subject, &how) != HSY_OK)
            abort();
        above += r.sampled > r.exact;
    }
    ok(hsy_beta_inc((double)above + 1e-300, (double)(runs - above) + 1, 0.1) >
           1e-9,
       "at 90 %% the bound passes exact in %llu of 200 audits",
       (unsigned long long)above);
    free(s);
}

/* ---- What is not in the report ------------------------------------------- */

/* Draws one byte more for truth 1. */
static hsy_status test_greedy(void *ctx, const hsy_scheme *s, uint8_t *report,
                              const struct audit_probe *probe, hsy_coins *coins)
{
    uint8_t more;

    (void)ctx;
    if (probe->code == 1 &&
        coins->secret.fill(coins->secret.ctx, &more, 1) != HSY_OK)
        return HSY_E_ENTROPY;
    return hsy_randomize(s, report, &probe->truth, coins, NULL);
}

/* Refuses one truth of its domain. */
static hsy_status test_shy(void *ctx, const hsy_scheme *s, uint8_t *report,
                           const struct audit_probe *probe, hsy_coins *coins)
{
    (void)ctx;
    if (probe->code == 1)
        return HSY_E_RANGE;
    return hsy_randomize(s, report, &probe->truth, coins, NULL);
}

/* Reports what no honest device would. */
static hsy_status test_garbled(void *ctx, const hsy_scheme *s, uint8_t *report,
                               const struct audit_probe *probe,
                               hsy_coins *coins)
{
    hsy_status st = hsy_randomize(s, report, &probe->truth, coins, NULL);

    (void)ctx;
    report[0] = (uint8_t)(report[0] == 0 ? 2 : report[0]);
    return st;
}

/* A batch in which neighbours share their noise: each report alone is right. */
static hsy_status test_batch_wrong(void *ctx, const hsy_scheme *s,
                                   uint8_t *reports, const uint64_t *codes,
                                   size_t n, hsy_coins *coins)
{
    hsy_status st = hsy_randomize_batch(s, reports, codes, n, coins, NULL);

    (void)ctx;
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        if (i % 4 == 0)
            reports[i] = (uint8_t)codes[i]; /* one in four is bare */
    return st;
}

static void test_besides(void)
{
    hsy_scheme *s = test_scheme("rr", HSY_KIND_YES_NO, 0, HSY_NANO);
    struct audit_subject subject = {s, test_greedy, NULL, NULL};
    struct audit_result r = test_run(&subject, 20000, AUDIT_CONFIDENCE);

    ok((r.faults & AUDIT_SAMPLED) != 0 && strstr(r.event, "bytes") != NULL,
       "a truth that draws more coins is noticed (%s)", r.event);
    subject.single = test_shy;
    r = test_run(&subject, 20000, AUDIT_CONFIDENCE);
    ok((r.faults & AUDIT_STATUS) != 0 && (r.faults & AUDIT_SAMPLED) != 0,
       "a truth that is refused is noticed (%s)", r.event);
    subject.single = test_garbled;
    r = test_run(&subject, 20000, AUDIT_CONFIDENCE);
    ok((r.faults & AUDIT_MALFORMED) != 0, "an impossible report is noticed");
    subject.single = NULL;
    subject.batch = test_batch_wrong;
    r = test_run(&subject, 100000, AUDIT_CONFIDENCE);
    ok((r.faults & AUDIT_SAMPLED) != 0 && (r.faults & AUDIT_LAW) != 0,
       "bare reports in a batch are noticed (%s)", r.event);
    free(s);
}

/* ---- Large outputs ------------------------------------------------------- */

static void test_large(void)
{
    hsy_scheme *s = test_scheme("oue", HSY_KIND_VALUES, 300, HSY_NANO);
    struct audit_subject subject = audit_library(s);
    struct audit_result r = test_run(&subject, 100000, AUDIT_CONFIDENCE);

    ok(r.faults == 0 && r.outputs == 0 && r.sampled > 0.7,
       "300 bits cannot be enumerated, and are audited by ratio and pairs "
       "(%.3f, %s)",
       r.sampled, r.event);
    free(s);
    s = test_scheme("olh", HSY_KIND_STRINGS, 0, 2 * (uint64_t)HSY_NANO);
    subject = audit_library(s);
    r = test_run(&subject, 100000, AUDIT_CONFIDENCE);
    ok(r.faults == 0 && r.outputs == 0 && r.sampled > 1.6,
       "a pool of 2^16 seeds is audited given the seed (%.3f, %s)", r.sampled,
       r.event);
    free(s);
}

int main(void)
{
    test_bound();
    test_library();
    test_reproducible();
    test_confidence();
    test_besides();
    test_large();
    return tap_done();
}
