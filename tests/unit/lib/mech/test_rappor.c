/* test_rappor.c - RAPPOR: its figures, refusals, bits, and counts. */
#include "lib/mech/rappor.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>

static hsy_spec rappor_spec(hsy_ratio f, hsy_ratio p, hsy_ratio q, uint32_t h)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = "rappor",
                      .kind = HSY_KIND_STRINGS,
                      .design = HSY_DESIGN_RAPPOR,
                      .chance = {f, p, q},
                      .param[HSY_PARAM_HASHES] = h};
}

static hsy_scheme_info info_of(const hsy_spec *spec)
{
    hsy_scheme *s = trial_scheme(spec);
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    free(s);
    return info;
}

/* Theory 15.3. */
static void figures(void)
{
    hsy_spec spec =
        rappor_spec((hsy_ratio){1, 2}, (hsy_ratio){1, 2}, (hsy_ratio){3, 4}, 2);
    hsy_scheme_info info = info_of(&spec);

    ok(info.q == 0.5625 && info.p == 0.6875, "p* and q* of the usual design");
    ok(fabs(info.epsilon_exact - 1.07428586416672818) < 1e-14 &&
           fabs(info.epsilon_permanent - 4.39444915467243877) < 1e-14 &&
           info.epsilon - info.epsilon_exact < 1e-9,
       "its epsilons");
    spec = rappor_spec((hsy_ratio){1, 4}, (hsy_ratio){35, 100},
                       (hsy_ratio){65, 100}, 1);
    info = info_of(&spec);
    ok(info.epsilon_exact <= 0.915666187250960729 &&
           info.epsilon_exact > 0.915666187250960729 - 1e-9 &&
           fabs(info.epsilon_permanent - 3.89182029811062661) < 1e-14,
       "probabilities of 32 digits, rounded toward noise");
    spec =
        rappor_spec((hsy_ratio){0, 1}, (hsy_ratio){1, 2}, (hsy_ratio){3, 4}, 2);
    info = info_of(&spec);
    ok(info.epsilon_permanent == 0 &&
           fabs(info.epsilon_exact - 2 * log(3)) < 1e-14,
       "f = 0: nothing bounds a lifetime");
    spec =
        rappor_spec((hsy_ratio){1, 2}, (hsy_ratio){0, 1}, (hsy_ratio){1, 1}, 2);
    info = info_of(&spec);
    ok(info.p == 0.75 && info.q == 0.25 &&
           info.epsilon_exact == info.epsilon_permanent,
       "p = 0 and q = 1: a report is the permanent answer");
    ok(info.iterative, "it is decoded by regression");
}

static void refuses(hsy_spec spec, const char *field, const char *what)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
    hsy_error err = {0};

    ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
           err.field != HSY_FIELD_NONE &&
           strcmp(hsy_field_name(err.field), field) == 0,
       "%s is refused by %s", what, field);
    free(s);
}

static void refusals(void)
{
    const hsy_ratio none = {0, 1}, half = {1, 2}, all = {1, 1};
    const hsy_ratio more = {3, 4};
    hsy_spec spec;

    refuses(rappor_spec(half, half, half, 2), "chance", "p = q");
    refuses(rappor_spec(half, more, half, 2), "chance", "p above q");
    refuses(rappor_spec(all, half, more, 2), "chance", "f = 1");
    refuses(rappor_spec(none, none, half, 2), "chance", "f = 0 and p = 0");
    refuses(rappor_spec(none, half, all, 2), "chance", "f = 0 and q = 1");
    refuses(rappor_spec((hsy_ratio){3, 2}, half, more, 2), "chance", "f = 3/2");
    refuses(rappor_spec((hsy_ratio){0, 0}, half, more, 2), "chance", "f = 0/0");
    refuses(rappor_spec(half, half, more, 65), "hashes", "65 hashes");
    refuses(rappor_spec(half, half, more, 17), "hashes",
            "17 hashes of 32 bits");
    spec = rappor_spec(half, half, more, 1);
    spec.param[HSY_PARAM_FILTER_BITS] = 4097;
    refuses(spec, "filter-bits", "4097 bits");
    spec.param[HSY_PARAM_FILTER_BITS] = 1;
    refuses(spec, "filter-bits", "one bit");
    spec.param[HSY_PARAM_FILTER_BITS] = 4096;
    spec.param[HSY_PARAM_COHORTS] = 4097;
    refuses(spec, "cohorts", "more than 2^24 cells");
    spec.param[HSY_PARAM_COHORTS] = 65537;
    refuses(spec, "cohorts", "65537 cohorts");
    spec = rappor_spec(half, half, more, 2);
    spec.nano_epsilon = HSY_NANO;
    refuses(spec, "epsilon", "a cap below what the design spends");
    spec =
        rappor_spec((hsy_ratio){0, 0}, (hsy_ratio){0, 0}, (hsy_ratio){0, 0}, 1);
    spec.design = HSY_DESIGN_EPSILON;
    spec.nano_epsilon = 23 * (uint64_t)HSY_NANO;
    refuses(spec, "epsilon", "epsilon 23 for one hash");
    spec.design = HSY_DESIGN_COINS;
    refuses(spec, "design", "another mechanism's design");
}

/* h distinct ascending bits, and each of the k about as often. */
static void bits(void)
{
    enum { CODES = 4000, H = 5, K = 37 };
    hsy_spec spec =
        rappor_spec((hsy_ratio){1, 2}, (hsy_ratio){1, 2}, (hsy_ratio){3, 4}, H);
    hsy_scheme *s;
    unsigned seen[K] = {0};
    bool distinct = true;
    double chi2 = 0, mean = (double)CODES * H / K;
    uint16_t at[H];

    spec.param[HSY_PARAM_FILTER_BITS] = K;
    s = trial_scheme(&spec);
    for (uint64_t i = 0; i < CODES; i++) {
        distinct &= hsy_rappor_bits(s, at, i * 0x9e3779b97f4a7c15,
                                    (uint32_t)(i % 64)) == HSY_OK;
        for (int j = 0; j < H; j++) {
            distinct &= at[j] < K && (j == 0 || at[j] > at[j - 1]);
            seen[at[j] % K]++;
        }
    }
    for (int b = 0; b < K; b++)
        chi2 += (seen[b] - mean) * (seen[b] - mean) / mean;
    ok(distinct, "the bits of a code are distinct and ascending");
    ok(hsy_chi2_upper(chi2, K - 1) > 1e-9, "and spread over all (%.1f)", chi2);
    ok(hsy_rappor_bits(s, at, 1, 64) == HSY_E_RANGE, "no cohort 64 of 64");
    free(s);
    spec = trial_values("grr", 3, 1);
    s = trial_scheme(&spec);
    ok(hsy_rappor_bits(s, at, 1, 0) == HSY_E_RANGE, "no bits of grr");
    free(s);
}

/* Every kernel counts like the plain one, for every shape of report. */
static void counts_of(uint32_t k, uint32_t m, size_t n)
{
    hsy_spec spec =
        rappor_spec((hsy_ratio){1, 2}, (hsy_ratio){1, 2}, (hsy_ratio){3, 4}, 1);
    hsy_stream secret, published;
    hsy_coins coins = {hsy_stream_rng(&secret), hsy_stream_rng(&published)};
    uint64_t *codes = trial_memory(n * sizeof *codes);
    int64_t *memory[2];
    hsy_tally t[2];
    hsy_scheme *s;
    hsy_scheme_info info;
    uint8_t *reports;
    bool same = true;

    spec.param[HSY_PARAM_FILTER_BITS] = k;
    spec.param[HSY_PARAM_COHORTS] = m;
    s = trial_scheme(&spec);
    hsy_scheme_describe(s, &info);
    hsy_stream_seed(&secret, 1, k);
    hsy_stream_seed(&published, 1, m);
    reports = trial_memory(n * info.report_bytes);
    for (size_t i = 0; i < n; i++)
        codes[i] = i % 7;
    same &= hsy_randomize_batch(s, reports, codes, n, &coins, NULL) == HSY_OK;
    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        int which = level != HSY_CPU_PLAIN;

        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        memory[which] = trial_memory(hsy_tally_words(s) * sizeof(int64_t));
        hsy_tally_init(&t[which], s, memory[which]);
        same &= hsy_tally_batch(&t[which], s, reports, n, NULL) == HSY_OK &&
                hsy_tally_reports(&t[which]) == n;
        if (which) {
            same &= memcmp(memory[0], memory[1],
                           hsy_tally_words(s) * sizeof(int64_t)) == 0;
            free(memory[1]);
        }
    }
    ok(same, "%u bits, %u cohorts, %zu reports: all levels count alike", k, m,
       n);
    memset(reports, 0xff, info.report_bytes);
    ok(hsy_check(s, reports) == HSY_OK ||
           hsy_tally_add(&t[0], s, reports, NULL) == HSY_E_FORMAT,
       "and no cohort that is not there");
    free(memory[0]);
    free(reports);
    free(codes);
    free(s);
}

int main(void)
{
    static const uint32_t shapes[][2] = {
        {2, 1},      {5, 3},    {8, 64},  {32, 64},   {57, 128},
        {63, 2},     {64, 64},  {65, 7},  {128, 128}, {131, 3},
        {1000, 100}, {4096, 5}, {70, 600}};

    figures();
    refusals();
    bits();
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        counts_of(shapes[i][0], shapes[i][1], 3000);
        counts_of(shapes[i][0], shapes[i][1], 5);
    }
    return tap_done();
}
