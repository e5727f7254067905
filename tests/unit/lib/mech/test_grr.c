/* test_grr.c - generalized randomized response: weights, coins, counts. */
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_status play(const hsy_scheme *s, uint8_t *report, uint32_t truth,
                       const uint64_t *words, size_t n)
{
    struct tape tape = {words, n * sizeof *words}, none = {NULL, 0};
    hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
    hsy_truth t = {.type = HSY_TRUTH_INDEX};

    t.u.index = truth;
    return hsy_randomize(s, report, &t, &coins, NULL);
}

/* The least shift that gives the weight 45 bits, with total below 2^63. */
static void weights(void)
{
    static const struct {
        uint32_t d;
        double epsilon;
        uint32_t shift;
    } cases[] = {{2, 1, 43},        {1024, 1, 43},    {1u << 20, 1, 42},
                 {1u << 22, 1, 40}, {16, 10, 30},     {16, 11, 29},
                 {16, 32, 0},       {1u << 22, 32, 0}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsy_spec spec = trial_values("grr", cases[i].d, cases[i].epsilon);
        hsy_scheme *s = trial_scheme(&spec);

        ok(s->two.shift == cases[i].shift && s->total < (uint64_t)1 << 63 &&
               s->total ==
                   ((uint64_t)(s->d - 1) << s->two.shift) + s->two.weight,
           "d = %u, epsilon %g: shift %u", cases[i].d, cases[i].epsilon,
           s->two.shift);
        free(s);
    }
}

static void sizes(void)
{
    static const struct {
        uint32_t d, bits, bytes;
    } cases[] = {{2, 1, 1},      {3, 2, 1},        {256, 8, 1},
                 {257, 9, 2},    {1024, 10, 2},    {65536, 16, 2},
                 {65537, 17, 4}, {1u << 22, 22, 4}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsy_spec spec = trial_values("grr", cases[i].d, 1);
        hsy_scheme *s = trial_scheme(&spec);
        hsy_scheme_info info;

        hsy_scheme_describe(s, &info);
        ok(info.report_bits == cases[i].bits &&
               info.packed_bits == cases[i].bits &&
               info.report_bytes == cases[i].bytes &&
               info.cells == cases[i].d && info.strata == 1 &&
               info.weights == 0,
           "d = %u: %u bits in %u bytes, a cell a value", cases[i].d,
           cases[i].bits, cases[i].bytes);
        free(s);
    }
}

/* d = 4 divides 2^64: the top two bits of the second word are the value. */
static void coin(void)
{
    hsy_spec spec = trial_values("grr", 4, 1);
    hsy_scheme *s = trial_scheme(&spec);
    const uint64_t two = (uint64_t)2 << 62;
    const uint64_t blanket[2] = {s->two.choice.blanket - 1, two};
    const uint64_t own[2] = {s->two.choice.blanket, two};
    const uint64_t late[3] = {UINT64_MAX, s->two.choice.blanket, two};
    uint8_t report = 0xff;

    ok(play(s, &report, 1, blanket, 2) == HSY_OK && report == 2,
       "below the edge the report is the uniform value");
    ok(play(s, &report, 1, own, 2) == HSY_OK && report == 1,
       "from the edge on it is the truth");
    ok(s->two.choice.last < UINT64_MAX &&
           play(s, &report, 3, late, 3) == HSY_OK && report == 3,
       "a coin out of bounds is drawn anew");
    report = 0xff;
    ok(play(s, &report, 1, own, 1) == HSY_E_ENTROPY && report == 0,
       "both words are drawn even if one would do");
    ok(play(s, &report, 1, own, 0) == HSY_E_ENTROPY && report == 0,
       "without entropy there is no report");
    ok(play(s, &report, 4, own, 2) == HSY_E_RANGE && report == 0,
       "truth 4 is outside");
    free(s);
}

/* The uniform value of d = 3 refuses the word 0 (2^64 mod 3 = 1). */
static void batch(void)
{
    hsy_spec spec = trial_values("grr", 3, 1);
    hsy_scheme *s = trial_scheme(&spec);
    uint64_t edge = s->two.choice.blanket;
    const uint64_t words[] = {edge - 1,   UINT64_MAX, edge,     UINT64_MAX,
                              0,          0, /* refused: drawn again below */
                              UINT64_MAX, UINT64_MAX, /* refused by the coin */
                              edge,       1,          edge - 1, 1};
    const uint64_t codes[4] = {0, 1, 2, 1};
    struct tape tape = {words, sizeof words}, none = {NULL, 0};
    hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
    uint8_t reports[4];

    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        tape = (struct tape){words, sizeof words};
        ok(hsy_randomize_batch(s, reports, codes, 4, &coins, NULL) == HSY_OK &&
               memcmp(reports, "\2\1\2\0", 4) == 0 && tape.left == 0,
           "a batch on %s uses the same edges and redraws",
           hsy_cpu_name((hsy_cpu)level));
        tape = (struct tape){words, sizeof words - 8};
        ok(hsy_randomize_batch(s, reports, codes, 4, &coins, NULL) ==
                   HSY_E_ENTROPY &&
               memcmp(reports, "\0\0\0\0", 4) == 0,
           "a batch on %s short of one word leaves zeros",
           hsy_cpu_name((hsy_cpu)level));
    }
    free(s);
}

/* All levels and the single call give the same reports where they can: the
 * draws of one block are those of single calls in order. */
static void levels(void)
{
    hsy_spec spec = trial_values("grr", 1000, 2);
    hsy_scheme *s = trial_scheme(&spec);
    enum { N = 1000 };
    static uint64_t codes[N];
    static uint8_t first[2 * N], reports[2 * N];
    bool same = true;

    for (size_t i = 0; i < N; i++)
        codes[i] = i * 7 % 1000;
    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        hsy_stream st, unused;
        hsy_coins coins = {hsy_stream_rng(&st), hsy_stream_rng(&unused)};

        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        hsy_stream_seed(&st, 5, 0);
        same &=
            hsy_randomize_batch(s, reports, codes, N, &coins, NULL) == HSY_OK;
        if (level == HSY_CPU_PLAIN)
            memcpy(first, reports, sizeof first);
        same &= memcmp(first, reports, sizeof first) == 0;
    }
    ok(same, "every level gives the same thousand reports");
    free(s);
}

static void counts(void)
{
    hsy_spec spec = trial_values("grr", 300, 1);
    hsy_scheme *s = trial_scheme(&spec);
    const uint8_t reports[8] = {44, 1, 0, 0, 43, 1, 43, 1}; /* 300, 0, 299 */
    const uint64_t last = 299;
    int64_t *memory = trial_memory(8 * hsy_tally_words(s));
    hsy_evidence *points = trial_memory(300 * sizeof *points);
    hsy_tally t;
    hsy_error err;
    double sum = 0;

    hsy_tally_init(&t, s, memory);
    ok(hsy_check(s, reports) == HSY_E_FORMAT &&
           hsy_check(s, reports + 2) == HSY_OK &&
           hsy_check(s, reports + 4) == HSY_OK,
       "reports are below d");
    ok(hsy_check_batch(s, reports, 4) == 0 &&
           hsy_check_batch(s, reports + 2, 3) == 3,
       "up to the first that is none");
    ok(hsy_tally_batch(&t, s, reports, 4, &err) == HSY_E_FORMAT && err.at == 1,
       "report 300 is refused");
    ok(hsy_tally_batch(&t, s, reports + 2, 3, &err) == HSY_OK &&
           t.cells[0] == 1 && t.cells[299] == 2 && hsy_tally_reports(&t) == 3,
       "reports are counted by value");
    ok(hsy_evidence_of(s, points, &t, NULL, 300, NULL, NULL) == HSY_OK,
       "all values are estimated");
    for (size_t v = 0; v < 300; v++)
        sum += points[v].value;
    ok(fabs(sum - 1) < 1e-9, "shares add up to 1");
    ok(hsy_evidence_of(s, points, &t, &last, 1, NULL, NULL) == HSY_OK &&
           points[0].support == 2,
       "one value can be asked alone");
    ok(hsy_evidence_of(s, points, &t, (const uint64_t[]){300}, 1, NULL, NULL) ==
           HSY_E_RANGE,
       "value 300 cannot be asked");
    free(memory);
    free(points);
    free(s);
}

int main(void)
{
    weights();
    sizes();
    coin();
    batch();
    levels();
    counts();
    return tap_done();
}
