/* test_search.c - the search for frequent strings: its plan, its order, what it
 * refuses, and that it finds them. */
#include "hearsay.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_scheme *search_scheme(uint64_t bits, uint64_t step, uint64_t first,
                                 double epsilon)
{
    hsy_spec spec = trial_values("pem", 0, epsilon);

    spec.kind = HSY_KIND_STRINGS;
    spec.param[HSY_PARAM_BITS] = bits;
    spec.param[HSY_PARAM_STEP] = step;
    spec.param[HSY_PARAM_FIRST] = first;
    spec.param[HSY_PARAM_POOL_BITS] = 8;
    return trial_scheme(&spec);
}

/* ---- Plans --------------------------------------------------------------- */

/* 48 bits by 8 from 4 on, 16 strings: 2^12 candidates, then 32 2^8, at the end
 * 32 2^4. */
static void plan(void)
{
    static const uint32_t bits[] = {12, 20, 28, 36, 44, 48};
    const hsy_search how = {.size = sizeof how};
    hsy_scheme *s = search_scheme(48, 8, 4, 1);
    hsy_stage stages[HSY_STAGES_MAX];
    size_t count = 0;
    bool good = true;

    ok(hsy_search_plan(s, stages, &count, &how, NULL) == HSY_OK && count == 6,
       "48 bits by 8 from 4 on are six stages");
    for (size_t i = 0; i < 6; i++)
        good &= stages[i].bits == bits[i] &&
                stages[i].candidates == (i == 0   ? 4096u
                                         : i == 5 ? 512u
                                                  : 8192u) &&
                stages[i].keep == (i == 5 ? 16 : 32);
    ok(good, "with the candidates of theory 5.1");
    ok(fabs(stages[1].z + hsy_normal_quantile(0.05 / 8192)) < 1e-12,
       "Bonferroni over the candidates");
    free(s);
}

/* n = V0 (z + z')^2 / f^2, and back. */
static void users(void)
{
    const hsy_stage stage = {.v0 = 3.6824, .z = 4.3695};
    const double want =
        3.6824 * (4.3695 + 1.644854) * (4.3695 + 1.644854) / 0.0001;

    ok(fabs(hsy_stage_users(&stage, 0.01, 0.05) / want - 1) < 1e-5,
       "a string of 1 %% takes V0 (z + z')^2 / f^2 reports of a group");
    ok(fabs(hsy_stage_share(&stage, want, 0.05) / 0.01 - 1) < 1e-5,
       "and so many reports find it");
}

/* The reports of a stage against the law of counts: the threshold is a binomial
 * tail, of n people f n or so hold the string. */
static void users_of_counts(double f)
{
    const double p = 0.5, q = 1.0 / 56, gap = (p - q) * (p - q);
    const double chance = 0.05 / 8192;
    const hsy_stage stage = {.v0 = q * (1 - q) / gap,
                             .v1 = p * (1 - p) / gap,
                             .q = q,
                             .z = -hsy_normal_quantile(chance)};
    const double n = hsy_stage_users(&stage, f, 0.05);
    const double mean = n * (f * p + (1 - f) * q);
    const double variance =
        n * (f * p * (1 - p) + (1 - f) * q * (1 - q) + f * (1 - f) * gap);
    uint64_t least = (uint64_t)(n * q);
    double found;

    while (hsy_binomial_cdf((uint64_t)n - least, (uint64_t)n, 1 - q) > chance)
        least++;
    found = hsy_normal_cdf((mean - (double)least + 0.5) / sqrt(variance));
    ok(found > 0.94 && found < 0.96,
       "%.0f reports find a string of %g with probability %.4f", n, f, found);
    ok(fabs(hsy_stage_share(&stage, n, 0.05) / f - 1) < 0.01,
       "and so many reports find that share");
}

/* Ninety prefixes of 1.2 %, one of 1 %, and 8000 that nobody has, whose
 * estimates are a normal law's quantiles. */
#define CROWD 8091u

static bool crowd_passes(uint64_t most, size_t *passing)
{
    const hsy_stage stage = {.keep = 32, .most = most, .width = 1};
    hsy_candidate *found = trial_memory(CROWD * sizeof *found);
    hsy_evidence *points = trial_memory(CROWD * sizeof *points);
    uint64_t *codes = trial_memory(CROWD * sizeof *codes);
    bool passes = false;

    for (size_t c = 0; c < CROWD; c++) {
        const double noise =
            0.002 * hsy_normal_quantile(((double)c - 90.5) / (CROWD - 91));

        points[c] = (hsy_evidence){.n = 1e4,
                                   .v0 = 0.04,
                                   .value = c < 90    ? 0.012
                                            : c == 90 ? 0.01
                                                      : noise};
        codes[c] = c;
    }
    *passing = hsy_search_select(&stage, found, codes, points, CROWD);
    for (size_t k = 0; k < *passing; k++)
        passes |= found[k].code[0] == 90;
    free(found);
    free(points);
    free(codes);
    return passes;
}

static void crowd(void)
{
    size_t passing = 0;

    ok(crowd_passes(1024, &passing) && passing > 91 && passing < 91 + 32,
       "prefixes that stand out pass besides the 32 largest: %zu", passing);
    ok(!crowd_passes(32, &passing) && passing == 32,
       "control: without room for them the 32 largest pass");
}

static void refusal(const hsy_scheme *s, hsy_search how, const char *field,
                    const char *sentence)
{
    hsy_stage stages[HSY_STAGES_MAX];
    hsy_error err = {0};
    size_t count = 77;

    ok(hsy_search_plan(s, stages, &count, &how, &err) != HSY_OK &&
           strcmp(hsy_field_name(err.field), field) == 0 && count == 77,
       "%s", sentence);
}

static void refusals(void)
{
    const hsy_search how = {.size = sizeof how};
    hsy_spec olh = trial_values("olh", 100, 1);
    hsy_scheme *s = search_scheme(16, 8, 4, 1), *other = trial_scheme(&olh);
    hsy_search x = how;
    hsy_stage stages[HSY_STAGES_MAX];
    hsy_error err = {0};
    size_t count = 0;

    refusal(other, how, "mechanism", "olh has no prefixes to search");
    x.size = 1;
    refusal(s, x, "size", "a search of another version");
    x = how;
    x.top = 65537;
    refusal(s, x, "top", "too many strings");
    x = how;
    x.keep = 17;
    refusal(s, x, "keep", "too many prefixes");
    x = how;
    x.alpha = 1;
    refusal(s, x, "alpha", "a chance of 1");
    x.alpha = NAN;
    refusal(s, x, "alpha", "no chance at all");
    x = how;
    x.max_candidates = HSY_SEARCH_CANDIDATES_MAX + 1;
    refusal(s, x, "max-candidates", "more candidates than anybody searches");
    x = how;
    x.top = 4096;
    ok(hsy_search_plan(s, stages, &count, &x, &err) == HSY_OK &&
           stages[0].keep == 4096 && stages[1].candidates == 65536,
       "all prefixes may survive");
    x.max_candidates = 65535;
    ok(hsy_search_plan(s, stages, &count, &x, &err) == HSY_E_RANGE &&
           err.limit == 65536,
       "a stage that would explode says how many candidates it has");
    free(s);
    s = search_scheme(8, 7, 1, 1);
    x = how;
    x.top = 257;
    refusal(s, x, "top", "more strings than there are candidates");
    free(s);
    free(other);
}

/* ---- Choosing ------------------------------------------------------------ */

#define SEARCH_MANY 1000u

/* Largest first, of equals the smaller code, as a plain sort has it. */
static void order(void)
{
    static uint64_t codes[SEARCH_MANY];
    static hsy_evidence points[SEARCH_MANY];
    bool good = true;

    for (size_t i = 0; i < SEARCH_MANY; i++) {
        codes[i] = i;
        points[i] = (hsy_evidence){.value = (double)(i * 7919 % 100),
                                   .n = 100,
                                   .v0 = 1e9,
                                   .p = 0.5,
                                   .q = 0.25};
    }
    for (size_t keep = 1; keep <= 40; keep += 13) {
        const hsy_stage stage = {.keep = keep, .width = 1};
        hsy_candidate found[40];

        good &= hsy_search_select(&stage, found, codes, points, SEARCH_MANY) ==
                keep;
        for (size_t k = 0; k < keep && good; k++) {
            size_t before = 0; /* of all others */

            for (size_t i = 0; i < SEARCH_MANY; i++)
                before += points[i].value > found[k].point.value ||
                          (points[i].value == found[k].point.value &&
                           codes[i] < found[k].code[0]);
            good &= before == k;
        }
    }
    ok(good, "the largest shares survive, in order, ties by code");
}

/* 20 of 100 support a value of rate 0.1: z 3.3, but the binomial tail is 0.002,
 * so among 100 candidates it may be chance. */
static void significance(void)
{
    const hsy_stage stage = {.keep = 1, .width = 1, .significant = true};
    hsy_evidence point = {.value = 0.3,
                          .n = 100,
                          .support = 21,
                          .p = 0.5,
                          .q = 0.1,
                          .v0 = 0.5625};
    uint64_t codes[100] = {0};
    hsy_evidence points[100];
    hsy_candidate found[1];

    for (size_t i = 0; i < 100; i++)
        points[i] = (hsy_evidence){.n = 100, .q = 0.1, .p = 0.5, .v0 = 0.5625};
    points[50] = point;
    ok(hsy_search_select(&stage, found, codes, points, 100) == 0,
       "what only the normal law finds significant is not");
    points[50].support = 30;
    points[50].value = 0.5;
    ok(hsy_search_select(&stage, found, codes, points, 100) == 1 &&
           found[0].significant && found[0].point.support == 30,
       "what both do, is");
}

/* ---- Finding ------------------------------------------------------------- */

#define SEARCH_PEOPLE 20000u

struct search_run {
    hsy_scheme *s;
    hsy_tally t;
    hsy_stage stages[HSY_STAGES_MAX];
    size_t nstages;
    hsy_candidate found[1024];
    size_t count;
    void *scratch;
};

/* People of these strings, a quarter, a fifth and a tenth of all, and others
 * who share theirs with nobody. */
static const char *const search_words[] = {"flood", "fire", "fir"};

static void search_codes(const hsy_scheme *s, uint64_t *codes)
{
    for (size_t i = 0; i < SEARCH_PEOPLE; i++) {
        const size_t part = i % 20;
        const size_t word = part < 5 ? 0 : part < 9 ? 1 : part < 11 ? 2 : 3;
        hsy_truth truth = {.type = HSY_TRUTH_BYTES};

        codes[i] = i * 0x9e3779b97f4a7c15 >> 24;
        if (word == 3)
            continue;
        truth.u.bytes.data = search_words[word];
        truth.u.bytes.len = strlen(search_words[word]);
        if (hsy_truth_code(s, &codes[i], &truth, NULL) != HSY_OK)
            abort();
    }
}

static hsy_status search_all(struct search_run *r, hsy_error *err)
{
    hsy_found found = {r->found, 0};
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < r->nstages && st == HSY_OK; i++)
        st = hsy_search_stage(r->s, &found, &r->t, &r->stages[i], r->scratch,
                              err);
    r->count = found.count;
    return st;
}

static void finding(void)
{
    const hsy_search how = {
        .size = sizeof how, .top = 8, .keep = 3, .significant = true};
    struct search_run r = {.s = search_scheme(40, 8, 0, 5)};
    uint64_t *codes = trial_memory(SEARCH_PEOPLE * sizeof *codes);
    hsy_stream secret, published;
    hsy_error err = {0};
    hsy_scheme_info info;
    uint8_t *reports;
    uint64_t first;

    hsy_scheme_describe(r.s, &info);
    reports = trial_memory(SEARCH_PEOPLE * info.report_bytes);
    hsy_tally_init(&r.t, r.s, trial_memory(8 * hsy_tally_words(r.s)));
    hsy_stream_seed(&secret, 5, 0);
    hsy_stream_seed(&published, 5, 1);
    search_codes(r.s, codes);
    if (hsy_simulate_batch(r.s, reports, codes, SEARCH_PEOPLE, &secret,
                           &published, NULL) != HSY_OK ||
        hsy_tally_batch(&r.t, r.s, reports, SEARCH_PEOPLE, NULL) != HSY_OK ||
        hsy_search_plan(r.s, r.stages, &r.nstages, &how, NULL) != HSY_OK)
        abort();
    r.scratch = trial_memory(hsy_search_scratch(r.s, r.stages, r.nstages));
    ok(search_all(&r, &err) == HSY_OK && r.count == 3,
       "three strings are found, and nothing else (%zu)", r.count);
    for (size_t k = 0; k < 3 && r.count == 3; k++) {
        uint8_t string[HSY_SPELL_BITS] = {0};
        const size_t len = hsy_code_string(r.s, string, r.found[k].code);
        const double share = k == 0 ? 0.25 : k == 1 ? 0.2 : 0.1;

        ok(len == strlen(search_words[k]) &&
               memcmp(string, search_words[k], len) == 0,
           "%s is number %zu", search_words[k], k + 1);
        ok(fabs(r.found[k].point.value - share) < 0.04, "with its share (%.3f)",
           r.found[k].point.value);
    }
    ok(r.found[0].point.binomial_variance > 0.5,
       "which is that of a sample of all who answered");

    /* Every report of group 2 is lost. */
    {
        hsy_tally group;

        hsy_tally_part(&group, &r.t, r.s, 1);
        first = group.strata[0];
        group.strata[0] = 0;
    }
    ok(first > 0 && search_all(&r, &err) == HSY_E_EMPTY && err.limit == 2,
       "a group without reports is named");
    free(r.t.cells);
    free(r.scratch);
    free(reports);
    free(codes);
    free(r.s);
}

int main(void)
{
    plan();
    users();
    users_of_counts(0.2);
    users_of_counts(0.05);
    users_of_counts(0.01);
    users_of_counts(0.001);
    crowd();
    refusals();
    order();
    significance();
    finding();
    return tap_done();
}
