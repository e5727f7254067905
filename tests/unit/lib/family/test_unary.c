/* test_unary.c - unary encoding: thresholds, lanes, the true bit, counts. */
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

/* ---- Thresholds ---------------------------------------------------------- */

/* How much epsilon a bit loses when flip is rounded up to so many digits. */
static double loss(uint64_t flip, unsigned digits)
{
    uint64_t rest = UINT64_MAX >> digits, cut = (flip + rest) & ~rest;
    long double more = (long double)(cut - flip);

    return (double)(log1pl(more / (long double)flip) -
                    log1pl(-more / (long double)(0 - flip)));
}

static void threshold(const char *name, double epsilon, uint64_t flip)
{
    hsy_spec spec = trial_values(name, 10, epsilon);
    hsy_scheme *s = trial_scheme(&spec);
    double allowed = name[0] == 'o' ? 3.5e-9 : 1.5e-9; /* one bit of two */
    uint64_t rest = UINT64_MAX >> s->bits.digits;

    ok(s->bits.other == ((flip + rest) & ~rest) &&
           loss(flip, s->bits.digits) <= allowed,
       "%s at epsilon %g: 1/(e^x + 1) rounded up to %u digits", name, epsilon,
       s->bits.digits);
    ok(s->bits.digits == 32 || loss(flip, s->bits.digits - 1) > allowed,
       "%s at epsilon %g: one digit less would not do", name, epsilon);
    ok(name[0] == 'o' ? s->bits.own == (uint64_t)1 << 63
                      : s->bits.own == 0 - s->bits.other,
       "%s at epsilon %g: own is %s", name, epsilon,
       name[0] == 'o' ? "1/2" : "1 - other");
    free(s);
}

/* Exact ceilings of theory 15.7; sue takes them at half its epsilon. */
static void thresholds(void)
{
    threshold("oue", 0.5, 0x60a6815965e37a0f);
    threshold("oue", 1, 0x44d9585152ea1936);
    threshold("oue", 2, 0x1e84152bac31aeaa);
    threshold("oue", 4, 0x049abe8790f0b0b4);
    threshold("sue", 1, 0x60a6815965e37a0f);
    threshold("sue", 2, 0x44d9585152ea1936);
    threshold("sue", 4, 0x1e84152bac31aeaa);
    threshold("sue", 8, 0x049abe8790f0b0b4);
}

static void limits(void)
{
    hsy_spec spec = trial_values("oue", 10, 24.89);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_scheme_info info;
    hsy_error err;

    hsy_scheme_describe(s, &info);
    ok(info.epsilon - info.epsilon_exact <= 0x1p-28,
       "oue at its largest epsilon still loses at most 2^-28");
    spec.nano_epsilon++;
    ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_EPSILON && err.limit == 24890000000u,
       "oue above it is refused, with the limit");
    spec = trial_values("sue", 10, 32);
    ok(hsy_scheme_init(s, &spec, NULL) == HSY_OK, "sue goes to epsilon 32");
    hsy_scheme_describe(s, &info);
    ok(info.epsilon - info.epsilon_exact <= 0x1p-28,
       "and loses at most 2^-28 there");
    spec = trial_values("oue", HSY_UNARY_MAX, 1);
    ok(hsy_scheme_init(s, &spec, NULL) == HSY_OK, "2^20 values are a scheme");
    hsy_scheme_describe(s, &info);
    ok(info.report_bits == HSY_UNARY_MAX && info.packed_bits == HSY_UNARY_MAX &&
           info.report_bytes == HSY_UNARY_MAX / 8 &&
           info.weights == HSY_UNARY_MAX + 1,
       "a bit a value, and a histogram of d + 1 weights");
    free(s);
}

/* ---- Lanes --------------------------------------------------------------- */

/* Planes all ones make every lane 1, all zeros every lane 0. */
static hsy_status play(const hsy_scheme *s, uint8_t *report, uint32_t truth,
                       uint8_t noise, uint64_t coin, size_t less)
{
    size_t words = (s->d + 63) / 64, first = words < 16 ? words : 16;
    size_t n = words * s->bits.digits + 1;
    uint64_t *tape_words = trial_memory(n * sizeof *tape_words);
    struct tape tape = {tape_words, n * sizeof *tape_words - less};
    struct tape none = {NULL, 0};
    hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
    hsy_truth t = {.type = HSY_TRUTH_INDEX};
    hsy_status st;

    memset(tape_words, noise, n * sizeof *tape_words);
    tape_words[first * s->bits.digits] =
        coin; /* after the first chunk's planes */
    t.u.index = truth;
    st = hsy_randomize(s, report, &t, &coins, NULL);
    if (st == HSY_OK && tape.left != 0)
        st = HSY_E_RANGE; /* not the whole tape */
    free(tape_words);
    return st;
}

static bool only(const uint8_t *report, size_t bytes, uint32_t d, uint32_t v,
                 bool set)
{
    bool good = true;

    for (uint32_t i = 0; i < 8 * bytes; i++) {
        bool bit = (report[i / 8] >> i % 8 & 1) != 0;

        good &= bit == (i < d && (i == v ? set : !set));
    }
    return good;
}

static void true_bit(uint32_t d, uint32_t truth)
{
    hsy_spec spec = trial_values("oue", d, 1);
    hsy_scheme *s = trial_scheme(&spec);
    uint8_t *report = trial_memory(s->report_bytes);
    bool good = true;

    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        good &= play(s, report, truth, 0, s->bits.own - 1, 0) == HSY_OK &&
                only(report, s->report_bytes, d, truth, true);
        good &= play(s, report, truth, 0xff, s->bits.own, 0) == HSY_OK &&
                only(report, s->report_bytes, d, truth, false);
    }
    ok(good, "d = %u: bit %u is its coin's, over ones and over zeros", d,
       truth);
    memset(report, 7, s->report_bytes);
    ok(play(s, report, truth, 0xff, 0, 1) == HSY_E_ENTROPY &&
           only(report, s->report_bytes, d, d, true),
       "d = %u: short of a byte of entropy there are only zeros", d);
    free(report);
    free(s);
}

static void lanes(void)
{
    static const uint32_t domains[] = {2,    8,    63,   64,   65,  127,
                                       1000, 1024, 1025, 2048, 2500};

    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
        true_bit(domains[i], 0);
        true_bit(domains[i], domains[i] - 1);
        true_bit(domains[i], domains[i] / 2);
    }
}

/* ---- Batches, simulation ------------------------------------------------- */

static void levels(void)
{
    hsy_spec spec = trial_values("sue", 1100, 1);
    hsy_scheme *s = trial_scheme(&spec);
    enum { N = 20 };
    uint8_t *first = trial_memory(N * s->report_bytes);
    uint8_t *reports = trial_memory(N * s->report_bytes);
    uint64_t codes[N];
    bool same[3] = {true, true, true};

    for (size_t i = 0; i < N; i++)
        codes[i] = i * 57 % 1100;
    for (int way = 0; way < 2; way++)
        for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
            hsy_stream st, public;
            hsy_coins coins = {hsy_stream_rng(&st), hsy_stream_rng(&public)};

            if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
                continue;
            hsy_stream_seed(&st, 5, 0);
            hsy_stream_seed(&public, 5, 1);
            if (way == 0)
                hsy_randomize_batch(s, reports, codes, N, &coins, NULL);
            else
                hsy_simulate_batch(s, reports, codes, N, &st, &public, NULL);
            if (level == HSY_CPU_PLAIN)
                memcpy(first, reports, N * s->report_bytes);
            same[way] &= memcmp(first, reports, N * s->report_bytes) == 0;
        }
    ok(same[0], "every level gives the same reports");
    ok(same[1], "every level simulates the same reports");
    free(first);
    free(reports);
    free(s);
}

/* Coins are drawn for several reports at once; a source that fails on the way
 * leaves nothing behind. */
static void batches(uint32_t d)
{
    hsy_spec spec = trial_values("oue", d, 1);
    hsy_scheme *s = trial_scheme(&spec);
    enum { N = 70 };
    uint8_t *each = trial_memory(N * s->report_bytes);
    uint8_t *together = trial_memory(N * s->report_bytes);
    uint64_t codes[N];
    hsy_stream one, all, public;
    hsy_coins single = {hsy_stream_rng(&one), hsy_stream_rng(&public)};
    hsy_coins batch = {hsy_stream_rng(&all), hsy_stream_rng(&public)};

    hsy_stream_seed(&one, 6, 0);
    hsy_stream_seed(&all, 6, 0);
    hsy_stream_seed(&public, 6, 1);
    for (size_t i = 0; i < N; i++) {
        codes[i] = i * 57 % d;
        hsy_randomize_batch(s, each + i * s->report_bytes, &codes[i], 1,
                            &single, NULL);
    }
    hsy_randomize_batch(s, together, codes, N, &batch, NULL);
    ok(memcmp(each, together, N * s->report_bytes) == 0,
       "d = %u: a batch gives the reports that its truths give one by one", d);
    free(each);
    free(together);
    free(s);
}

static void short_batch(void)
{
    hsy_spec spec = trial_values("oue", 1000, 1);
    hsy_scheme *s = trial_scheme(&spec);
    enum { N = 6, WORDS = 5 * 513 };
    uint8_t *reports = trial_memory(N * s->report_bytes);
    uint8_t *zeros = trial_memory(N * s->report_bytes);
    uint64_t *words = trial_memory(WORDS * sizeof *words);
    struct tape tape = {words, WORDS * sizeof *words};
    struct tape none = {NULL, 0};
    hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
    const uint64_t codes[N] = {1, 2, 3, 4, 5, 6};

    memset(words, 0xff, WORDS * sizeof *words);
    ok(hsy_randomize_batch(s, reports, codes, N, &coins, NULL) ==
               HSY_E_ENTROPY &&
           memcmp(reports, zeros, N * s->report_bytes) == 0,
       "a batch short of entropy has only zeros");
    free(reports);
    free(zeros);
    free(words);
    free(s);
}

static void simulation(void)
{
    hsy_spec spec = trial_values("oue", 100, 1);
    hsy_scheme *s = trial_scheme(&spec);
    const hsy_context context = {"test", "x", 1, (const uint8_t[32]){0}, 0, 0};
    const uint8_t key[HSY_KEY] = {0};
    const uint64_t code = 3, foreign = 100;
    uint8_t report[13] = {0xaa};
    hsy_stream seeded, other;
    hsy_keyed keyed;
    hsy_error err;

    hsy_stream_seed(&seeded, 1, 0);
    hsy_stream_seed(&other, 1, 1);
    hsy_keyed_open(&keyed, key, &context);
    ok(hsy_simulate_batch(s, report, &code, 1, &keyed.secret, &seeded, &err) ==
               HSY_E_REFUSED &&
           report[0] == 0,
       "a real person's coins cannot simulate");
    ok(hsy_simulate_batch(s, report, &code, 1, &seeded, &keyed.published,
                          &err) == HSY_E_REFUSED,
       "nor can a real person's published stream");
    ok(hsy_simulate_batch(s, report, &foreign, 1, &seeded, &other, &err) ==
           HSY_E_RANGE,
       "a foreign code is refused");
    ok(hsy_simulate_batch(s, report, &code, 1, &seeded, &other, &err) ==
               HSY_OK &&
           hsy_check(s, report) == HSY_OK,
       "seeded streams simulate");
    free(s);
}

/* ---- Counts -------------------------------------------------------------- */

static void counts(void)
{
    hsy_spec spec = trial_values("oue", 11, 1);
    hsy_scheme *s = trial_scheme(&spec);
    const uint8_t reports[8] = {0x01, 0x04, 0x00, 0x00, 0x81, 0x07, 0, 8};
    int64_t *memory = trial_memory(8 * hsy_tally_words(s));
    hsy_evidence points[11];
    hsy_tally t;
    hsy_error err;

    hsy_tally_init(&t, s, memory);
    ok(hsy_tally_batch(&t, s, reports, 4, &err) == HSY_E_FORMAT &&
           err.at == 4 && hsy_tally_reports(&t) == 0,
       "a spare bit that is set is refused");
    ok(hsy_tally_batch(&t, s, reports, 3, &err) == HSY_OK && t.cells[0] == 2 &&
           t.cells[7] == 1 && t.cells[10] == 2 && t.cells[8] == 1 &&
           t.cells[1] == 0,
       "ones are counted by value");
    ok(t.nweights == 12 && t.weights[0] == 1 && t.weights[2] == 1 &&
           t.weights[5] == 1,
       "and by report");
    ok(hsy_evidence_of(s, points, &t, NULL, 11, NULL, NULL) == HSY_OK &&
           points[10].support == 2 &&
           fabs(points[10].value -
                (2.0 / 3 - points[0].q) / (0.5 - points[0].q)) < 1e-12,
       "shares are (support/n - q) / (1/2 - q)");
    ok(fabs(points[0].v1 - points[0].v0 - 1) < 1e-9, "v1 = v0 + 1");
    free(memory);
    free(s);
}

int main(void)
{
    thresholds();
    limits();
    lanes();
    levels();
    batches(2);
    batches(1000);
    batches(1024);
    batches(1100);
    short_batch();
    simulation();
    counts();
    return tap_done();
}
