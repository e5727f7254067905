/* test_rr.c - randomized response: its forms, its coin, its counts. */
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_spec design(uint32_t form, hsy_ratio a, hsy_ratio b)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = "rr",
                      .kind = HSY_KIND_YES_NO,
                      .design = form,
                      .chance = {a, b}};
}

static hsy_ratio ratio(uint64_t num, uint64_t den)
{
    return (hsy_ratio){num, den};
}

/* ---- Integers of each form ----------------------------------------------- */

static void resolves(hsy_spec spec, uint64_t own, uint64_t other,
                     uint64_t total, double epsilon, const char *what)
{
    hsy_scheme *s = trial_scheme(&spec);
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    ok(s->bits.own == own && s->bits.other == other && s->total == total,
       "%s: own, other and total are exact", what);
    ok(fabs(info.epsilon_exact - epsilon) < 1e-12 * epsilon &&
           info.epsilon_exact <= info.epsilon &&
           info.epsilon < epsilon + 1.01e-9,
       "%s: epsilon is covered, by less than a nano", what);
    free(s);
}

static void forms(void)
{
    resolves(design(HSY_DESIGN_SPINNER, ratio(3, 4), ratio(0, 0)), 3, 1, 4,
             log(3), "spinner 3/4");
    resolves(design(HSY_DESIGN_SPINNER, ratio(1, 4), ratio(0, 0)), 1, 3, 4,
             log(3), "spinner 1/4");
    resolves(design(HSY_DESIGN_COINS, ratio(1, 2), ratio(1, 2)), 3, 1, 4,
             1.09861228866810969, "coins 1/2, 1/2");
    resolves(design(HSY_DESIGN_COINS, ratio(3, 10), ratio(1, 4)), 19, 7, 40,
             0.998528830111127155, "coins 0.3, 0.25");
    resolves(design(HSY_DESIGN_CHANNEL, ratio(4, 5), ratio(1, 3)), 12, 5, 15,
             log(10.0 / 3), "channel 4/5, 1/3");
    resolves(design(HSY_DESIGN_CHANNEL, ratio(1, 3), ratio(4, 5)), 5, 12, 15,
             log(10.0 / 3), "channel 1/3, 4/5");
}

static void by_epsilon(void)
{
    hsy_spec spec = trial_values("rr", 2, 1);
    hsy_scheme *s = trial_scheme(&spec);

    /* floor(e 2^43). */
    ok(s->bits.own == 23910259823703 && s->bits.other == (uint64_t)1 << 43 &&
           s->total == s->bits.own + s->bits.other,
       "by epsilon 1: own is floor(e 2^43), 45 bits");
    free(s);
    spec = trial_values("rr", 2, 32);
    s = trial_scheme(&spec);
    ok(s->bits.own == 78962960182680 && s->bits.other == 1,
       "by epsilon 32: own is floor(e^32), which has more than 45 bits");
    free(s);
}

/* ---- What is refused ----------------------------------------------------- */

static void refuses(hsy_spec spec, const char *field, const char *why)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
    hsy_error err = {0};

    ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
           strcmp(hsy_field_name(err.field), field) == 0,
       "%s: refused, naming %s", why, field);
    free(s);
}

static void bad_forms(void)
{
    const hsy_ratio half = {1, 2}, none = {0, 0};
    hsy_spec spec;

    refuses(design(4, half, half), "design", "form 4");
    refuses(design(HSY_DESIGN_SPINNER, none, none), "chance", "0/0");
    refuses(design(HSY_DESIGN_SPINNER, ratio(5, 4), none), "chance", "5/4");
    refuses(design(HSY_DESIGN_SPINNER, ratio(1, (1ull << 31) + 1), none),
            "chance", "a denominator above 2^31");
    refuses(design(HSY_DESIGN_COINS, half, none), "chance",
            "two coins, one given");
    refuses(design(HSY_DESIGN_SPINNER, half, none), "chance",
            "spinner 1/2, no information");
    refuses(design(HSY_DESIGN_COINS, ratio(0, 3), half), "chance",
            "coins that never tell the truth");
    refuses(design(HSY_DESIGN_CHANNEL, ratio(1, 3), ratio(2, 6)), "chance",
            "a channel that answers alike");
    refuses(design(HSY_DESIGN_SPINNER, ratio(1, 1), none), "chance",
            "spinner 1, infinite epsilon");
    refuses(design(HSY_DESIGN_SPINNER, ratio(0, 1), none), "chance",
            "spinner 0, infinite epsilon");
    refuses(design(HSY_DESIGN_COINS, half, ratio(0, 1)), "chance",
            "coins whose yes proves yes");
    refuses(design(HSY_DESIGN_COINS, half, ratio(1, 1)), "chance",
            "coins whose no proves no");
    refuses(design(HSY_DESIGN_CHANNEL, ratio(1, 1), half), "chance",
            "a channel whose no proves no");
    refuses(design(HSY_DESIGN_COINS, ratio((1ull << 31) - 1, 1ull << 31),
                   ratio(1, 1ull << 31)),
            "epsilon", "coins that spend ln 2^62");
    spec = design(HSY_DESIGN_EPSILON, ratio(3, 4), none);
    spec.nano_epsilon = HSY_NANO;
    refuses(spec, "chance", "by epsilon with a chance");
    refuses(design(HSY_DESIGN_SPINNER, ratio(3, 4), half), "chance",
            "a spinner with a second chance");
    spec = design(HSY_DESIGN_COINS, half, half);
    spec.chance[2] = half;
    refuses(spec, "chance", "two coins and a third");
    spec = design(HSY_DESIGN_SPINNER, ratio(3, 4), none);
    spec.nano_epsilon = HSY_NANO;
    refuses(spec, "epsilon", "spinner 3/4 under a cap of 1");
    spec.nano_epsilon = 100;
    refuses(spec, "epsilon", "a cap below the least epsilon");
}

static void caps(void)
{
    hsy_spec spec = design(HSY_DESIGN_SPINNER, ratio(3, 4), ratio(0, 0));
    hsy_scheme *s = trial_scheme(&spec);
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    ok(info.nano_epsilon == 1098612289, "ln 3 is claimed as 1.098612289");
    free(s);
    spec.nano_epsilon = 1098612289;
    s = trial_scheme(&spec);
    free(s);
    spec.nano_epsilon = 5 * (uint64_t)HSY_NANO;
    s = trial_scheme(&spec);
    hsy_scheme_describe(s, &info);
    ok(info.nano_epsilon == 1098612289, "a cap is no claim");
    free(s);
    spec.nano_epsilon = 1098612288;
    refuses(spec, "epsilon", "a cap one nano short");
}

/* ---- The coin ------------------------------------------------------------ */

static hsy_status play(const hsy_scheme *s, uint8_t *report, uint32_t truth,
                       const uint64_t *words, size_t n, size_t *left)
{
    struct tape tape = {words, n * sizeof *words};
    struct tape none = {NULL, 0};
    hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
    hsy_truth t = {.type = HSY_TRUTH_INDEX};
    hsy_status st;

    t.u.index = truth;
    st = hsy_randomize(s, report, &t, &coins, NULL);
    *left = tape.left;
    return st;
}

/* The coin has one edge for each truth: these words stand for all 2^64. */
static void edges(const hsy_scheme *s, uint32_t truth)
{
    uint64_t edge = s->coin.unit * (truth ? s->bits.own : s->bits.other);
    const uint64_t words[4] = {0, edge - 1, edge, s->coin.last};
    const uint8_t want[4] = {1, 1, 0, 0};

    for (size_t i = 0; i < 4; i++) {
        uint8_t report = 0xff;
        size_t left;

        ok(play(s, &report, truth, &words[i], 1, &left) == HSY_OK &&
               report == want[i] && left == 0,
           "truth %u: word %zu is answered %u from one draw", truth, i,
           want[i]);
    }
}

static void coin(void)
{
    hsy_spec spec = design(HSY_DESIGN_SPINNER, ratio(2, 3), ratio(0, 0));
    hsy_scheme *s = trial_scheme(&spec);
    const uint64_t words[2] = {UINT64_MAX, 0}; /* 2^64 - 1 = 3 * unit */
    uint8_t report = 0xff;
    size_t left;

    edges(s, 0);
    edges(s, 1);
    ok(s->coin.last == UINT64_MAX - 1, "2^64 mod 3 words are refused");
    ok(play(s, &report, 0, words, 2, &left) == HSY_OK && left == 0,
       "a refused word is drawn anew");
    report = 0xff;
    ok(play(s, &report, 1, words, 1, &left) == HSY_E_ENTROPY && report == 0,
       "without a word that is taken there is no report");
    ok(play(s, &report, 1, words, 0, &left) == HSY_E_ENTROPY && report == 0,
       "without entropy there is no report");
    ok(play(s, &report, 2, words, 2, &left) == HSY_E_RANGE && report == 0,
       "truth 2 is outside");
    free(s);
}

static void batch(void)
{
    hsy_spec spec = design(HSY_DESIGN_SPINNER, ratio(2, 3), ratio(0, 0));
    hsy_scheme *s = trial_scheme(&spec);
    uint64_t edge0 = s->coin.unit * s->bits.other,
             edge1 = s->coin.unit * s->bits.own;
    /* The third is refused, so the fifth word is its second try. */
    const uint64_t words[5] = {edge0, edge1 - 1, UINT64_MAX, edge0 - 1, edge0};
    const uint64_t codes[4] = {0, 1, 1, 0};
    struct tape tape = {words, sizeof words}, none = {NULL, 0};
    hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
    uint8_t reports[4];
    hsy_error err;

    ok(hsy_randomize_batch(s, reports, codes, 4, &coins, NULL) == HSY_OK &&
           memcmp(reports, "\0\1\1\1", 4) == 0 && tape.left == 0,
       "a batch uses the same edges and redraws what was refused");
    tape = (struct tape){words, 4 * sizeof *words};
    memset(reports, 9, sizeof reports);
    ok(hsy_randomize_batch(s, reports, codes, 4, &coins, &err) ==
               HSY_E_ENTROPY &&
           memcmp(reports, "\0\0\0\0", 4) == 0,
       "a batch short of entropy leaves zeros");
    tape = (struct tape){words, sizeof words};
    memset(reports, 9, sizeof reports);
    ok(hsy_randomize_batch(s, reports, (const uint64_t[]){0, 2, 0, 1}, 4,
                           &coins, &err) == HSY_E_RANGE &&
           memcmp(reports, "\0\0\0\0", 4) == 0 && tape.left == sizeof words,
       "a batch with a foreign code draws nothing");
    ok(hsy_randomize_batch(s, reports, codes, 0, &coins, NULL) == HSY_OK,
       "an empty batch is nothing");
    free(s);
}

/* ---- Counts -------------------------------------------------------------- */

static void counts(void)
{
    hsy_spec spec = trial_values("rr", 2, 1);
    hsy_scheme *s = trial_scheme(&spec);
    const uint8_t reports[5] = {1, 0, 1, 1, 0}, bad[3] = {1, 0, 2};
    const uint64_t zero = 0;
    int64_t memory[2];
    hsy_tally t;
    hsy_evidence two[2], one;
    hsy_error err;

    ok(hsy_tally_words(s) == 2, "a tally is a cell and a stratum");
    hsy_tally_init(&t, s, memory);
    ok(hsy_evidence_of(s, two, &t, NULL, 2, NULL, &err) == HSY_E_EMPTY,
       "no reports, no points");
    ok(hsy_tally_batch(&t, s, bad, 3, &err) == HSY_E_FORMAT && err.at == 3 &&
           hsy_tally_reports(&t) == 0,
       "a report of 2 is refused by its number, and nothing counted");
    ok(hsy_tally_batch(&t, s, reports, 5, &err) == HSY_OK && t.cells[0] == 3 &&
           hsy_tally_reports(&t) == 5,
       "ones are counted");
    ok(hsy_evidence_of(s, two, &t, NULL, 2, NULL, &err) == HSY_OK &&
           fabs(two[0].value + two[1].value - 1) < 1e-12 &&
           two[1].support == 3 && two[0].support == 2,
       "the two values' shares add up to 1");
    ok(fabs(two[1].value - (0.6 - two[1].q) / (two[1].p - two[1].q)) < 1e-12 &&
           fabs(two[1].p - 0.731058578630004879) < 1e-12 &&
           fabs(two[1].v0 - 0.920673594207792319) < 1e-12,
       "the share is (support/n - q) / (p - q)");
    ok(hsy_evidence_of(s, &one, &t, &zero, 1, NULL, &err) == HSY_OK &&
           one.value == two[0].value,
       "one value can be asked alone");
    ok(hsy_evidence_of(s, two, &t, NULL, 1, NULL, &err) == HSY_E_RANGE &&
           err.limit == 2,
       "all values are two points");
    free(s);
}

/* With p != 1 - q the mirrored value has other variances. */
static void channel_points(void)
{
    hsy_spec spec = design(HSY_DESIGN_COINS, ratio(1, 2), ratio(1, 3));
    hsy_scheme *s;
    int64_t memory[2];
    hsy_tally t;
    hsy_evidence two[2];

    spec.kind = HSY_KIND_VALUES;
    spec.d = 2;
    s = trial_scheme(&spec);
    hsy_tally_init(&t, s, memory);
    t.cells[0] = 30;
    t.strata[0] = 100;
    hsy_evidence_of(s, two, &t, NULL, 2, NULL, NULL);
    ok(fabs(two[1].v0 - two[0].v1) < 1e-12 &&
           fabs(two[1].v1 - two[0].v0) < 1e-12 &&
           fabs(two[0].p - 5.0 / 6) < 1e-15 && fabs(two[0].q - 1.0 / 3) < 1e-15,
       "no is yes with the roles exchanged");
    free(s);
}

int main(void)
{
    forms();
    by_epsilon();
    bad_forms();
    caps();
    coin();
    batch();
    counts();
    channel_points();
    return tap_done();
}
