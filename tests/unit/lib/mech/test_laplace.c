/* test_laplace.c - means by Laplace noise: table, vectors, ways, refusals. */
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_spec laplace_spec(double epsilon, uint64_t grid)
{
    hsy_spec spec = trial_number(1000, epsilon);

    spec.mechanism = "laplace";
    spec.param[HSY_PARAM_GRID] = grid;
    return spec;
}

/* n times the worst variance in units of half the range squared. */
static double worst(const char *name, double epsilon)
{
    hsy_spec spec = trial_number(1000, epsilon);
    hsy_scheme *s;
    hsy_scheme_info info;

    spec.mechanism = name;
    s = trial_scheme(&spec);
    hsy_scheme_describe(s, &info);
    free(s);
    return 4 * info.v0;
}

/* Theory 2.2. */
static void vectors(void)
{
    static const double epsilons[] = {0.1, 0.5, 1, 2, 4};

    for (size_t i = 0; i < 5; i++) {
        double e = epsilons[i], got = worst("laplace", e);

        ok(fabs(got * e * e / 8 - 1) < (e < 0.5 ? 2e-2 : 2e-3),
           "epsilon %g: near 8 / epsilon^2 (%.6g)", e, got);
    }
    ok(worst("laplace", 2.31) > worst("onebit", 2.31) &&
           worst("laplace", 2.34) < worst("onebit", 2.34),
       "better than one bit from epsilon 2.32 on");
    for (size_t i = 0; i < 5; i++)
        ok(worst("laplace", epsilons[i]) > worst("dwm", epsilons[i]),
           "epsilon %g: dwm is better", epsilons[i]);
}

/* The table against the definition: sums ascend to total less twice the tail,
 * each mass is the next integer from the one before times keep, and over 2G
 * steps no more than e^epsilon is lost. */
static void table(void)
{
    static const struct {
        double epsilon;
        uint64_t grid;
    } rows[] = {{0.001, 0}, {0.5, 0}, {1, 256}, {4, 64}, {32, 1}, {32, 256}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = laplace_spec(rows[i].epsilon, rows[i].grid);
        hsy_scheme *s = trial_scheme(&spec);
        const uint64_t *sums = mech_tail(s);
        size_t far = (s->cells - 1) / 2 + s->param[HSY_PARAM_GRID];
        uint64_t u = s->noise.middle;
        bool good = sums[0] == u;

        for (size_t k = 1; k < far; k++) {
            hsy_u128 product = (hsy_u128)u * s->noise.keep;

            u = (uint64_t)(product >> 64) + ((uint64_t)product != 0);
            good &= sums[k] - sums[k - 1] == 2 * u && u > 0;
        }
        ok(good && sums[far - 1] + 2 * s->noise.beyond == s->total &&
               fabs((double)s->total / 0x1p60 - 1) < 1e-9,
           "epsilon %g, grid %d: %zu sums of one geometric row",
           rows[i].epsilon, (int)s->param[HSY_PARAM_GRID], far);
        ok(hsy_scheme_size(&spec) == sizeof *s + far * sizeof *sums,
           "which are what the scheme's size makes room for");
        ok(pow((double)s->noise.keep / 0x1p64,
               2 * (double)s->param[HSY_PARAM_GRID]) *
                   exp(rows[i].epsilon) >
               1 - 1e-12,
           "2G steps lose no more than e^epsilon");
        free(s);
    }
}

/* Simulation finds the same noise by another way; single reports are batches
 * of one. */
static void ways(void)
{
    enum { N = 1000 };
    hsy_spec spec = laplace_spec(1, 0);
    hsy_scheme *s = trial_scheme(&spec);
    static uint8_t reports[3][2 * N];
    uint64_t codes[N];
    hsy_stream secret[3], published[3];
    bool same = true;

    for (uint64_t i = 0; i < N; i++)
        codes[i] = i;
    for (size_t k = 0; k < 3; k++) {
        hsy_stream_seed(&secret[k], 5, 0);
        hsy_stream_seed(&published[k], 5, 1);
    }
    for (size_t i = 0; i < N; i++) {
        hsy_coins one = {hsy_stream_rng(&secret[0]),
                         hsy_stream_rng(&published[0])};
        hsy_coins batch = {hsy_stream_rng(&secret[2]),
                           hsy_stream_rng(&published[2])};
        hsy_truth truth = {.type = HSY_TRUTH_NUMBER};

        truth.u.number = (int64_t)i;
        same &= hsy_randomize(s, reports[0] + 2 * i, &truth, &one, NULL) ==
                    HSY_OK &&
                hsy_randomize_batch(s, reports[2] + 2 * i, &codes[i], 1, &batch,
                                    NULL) == HSY_OK;
    }
    ok(s->report_bytes == 2 && same &&
           memcmp(reports[0], reports[2], sizeof reports[0]) == 0,
       "one report is a batch of one");
    for (size_t k = 0; k < 2; k++) {
        hsy_coins coins = {hsy_stream_rng(&secret[k]),
                           hsy_stream_rng(&published[k])};

        hsy_stream_seed(&secret[k], 6, 0);
        same &=
            (k == 0 ? hsy_randomize_batch(s, reports[k], codes, N, &coins, NULL)
                    : hsy_simulate_batch(s, reports[k], codes, N, &secret[k],
                                         &published[k], NULL)) == HSY_OK;
    }
    ok(same && memcmp(reports[0], reports[1], sizeof reports[0]) == 0 &&
           memcmp(reports[0], reports[2], sizeof reports[0]) != 0,
       "a simulation with the same coins reports the same");
    free(s);
}

/* The report that three words make: of the rounding, the noise, the sign. */
static uint64_t from_words(const hsy_scheme *s, uint64_t code, uint64_t u,
                           uint64_t noise, uint64_t sign)
{
    const uint64_t words[3] = {u, noise, sign};
    struct tape tape = {words, sizeof words}, none = {NULL, 0};
    hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
    uint8_t report[2] = {0};

    if (hsy_randomize_batch(s, report, &code, 1, &coins, NULL) != HSY_OK ||
        tape.left != 0)
        return UINT64_MAX;
    return report[0] | (uint64_t)report[1] << 8;
}

/* The sign is the last bit of a word of its own: up and down lie evenly about
 * the middle, whatever the noise's word ends in, and no other bit matters. The
 * middle of the range has as much room above it as below. */
static void signs(void)
{
    hsy_spec spec = laplace_spec(1, 0);
    hsy_scheme *s = trial_scheme(&spec);
    const uint64_t last = s->cells - 1;
    uint64_t seed = 1;
    bool even = true, own = true, other = true;
    size_t apart = 0;

    for (int i = 0; i < 1000; i++) {
        uint64_t noise, sign, up, down;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        noise = (seed >> 2) * 2; /* below 2^63, and even */
        sign = (seed ^ seed << 31) | 1;
        up = from_words(s, 500, 1, noise, sign);
        down = from_words(s, 500, 1, noise, sign - 1);
        even &= up >= last / 2 && up + down == last;
        apart += up != down;
        own &= from_words(s, 500, 1, noise + 1, sign) == up &&
               from_words(s, 500, 1, noise + 1, sign - 1) == down;
        other &= from_words(s, 500, 1, noise, 1) == up &&
                 from_words(s, 500, 1, noise, 0) == down;
    }
    ok(even && apart > 900, "noise goes up or down by as much, as the sign is");
    ok(own, "the last bit of the noise's word has no part in it");
    ok(other, "nor have the others of the sign's");
    free(s);
}

/* A batch draws the words of the rounding for all, then those of the noise,
 * then those of the sign, and makes of each three what a single report is. */
static void batch_words(void)
{
    enum { N = 200 };
    hsy_spec spec = laplace_spec(1, 0);
    hsy_scheme *s = trial_scheme(&spec);
    uint64_t words[3 * N], codes[N], seed = 7;
    struct tape tape = {words, sizeof words}, none = {NULL, 0};
    hsy_coins coins = {{tape_fill, &tape}, {tape_fill, &none}};
    uint8_t reports[2 * N];
    bool same;

    for (size_t i = 0; i < 3 * N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        words[i] = seed >> 1 ^ seed >> 40;
        codes[i % N] = 5 * (i % N);
    }
    same = hsy_randomize_batch(s, reports, codes, N, &coins, NULL) == HSY_OK;
    for (size_t i = 0; i < N; i++)
        same &=
            from_words(s, codes[i], words[i], words[N + i], words[2 * N + i]) ==
            (reports[2 * i] | (uint64_t)reports[2 * i + 1] << 8);
    ok(same && tape.left == 0, "each of a batch has three words of its own");
    free(s);
}

static void counts(void)
{
    hsy_spec spec = laplace_spec(8, 1);
    hsy_scheme *s = trial_scheme(&spec);
    /* 2 outputs beyond each of the 3 of the grid: 0 .. 6. */
    static const uint8_t reports[] = {0, 6, 3, 4, 4}, bad[] = {7};
    const double more = 1 / (exp(4) - 1);
    int64_t memory[8], others[8];
    hsy_tally t, other;
    hsy_evidence point, again;

    ok(s->cells == 7 && hsy_tally_words(s) == 8, "seven outputs");
    hsy_tally_init(&t, s, memory);
    hsy_tally_init(&other, s, others);
    ok(hsy_tally_batch(&t, s, bad, 1, NULL) == HSY_E_FORMAT,
       "an output that there is not is refused");
    ok(hsy_tally_batch(&t, s, reports, 5, NULL) == HSY_OK &&
           hsy_evidence_of(s, &point, &t, NULL, 1, NULL, NULL) == HSY_OK &&
           fabs(point.value - (0.5 + 2.0 / 2 / 5)) < 1e-12,
       "the mean of places");
    hsy_tally_init(&t, s, memory);
    t.cells[6] = 1;
    t.strata[0] = 1;
    ok(hsy_evidence_of(s, &again, &t, NULL, 1, NULL, NULL) == HSY_OK &&
           fabs(again.value - (0.5 + (3 + more) / 2)) < 1e-9,
       "an end says the mean of what ends there");
    hsy_tally_init(&t, s, memory);
    ok(hsy_tally_batch(&t, s, reports, 2, NULL) == HSY_OK &&
           hsy_tally_batch(&other, s, reports + 2, 3, NULL) == HSY_OK &&
           hsy_tally_merge(&t, &other, NULL) == HSY_OK &&
           hsy_evidence_of(s, &again, &t, NULL, 1, NULL, NULL) == HSY_OK &&
           memcmp(&point, &again, sizeof point) == 0,
       "merged tallies say what one says");
    free(s);
}

static void refuses(double epsilon, uint64_t grid, uint64_t limit)
{
    hsy_spec spec = laplace_spec(epsilon, grid);
    hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
    hsy_error err = {0};

    ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_GRID && err.limit == limit,
       "a grid of %llu is refused at epsilon %g", (unsigned long long)grid,
       epsilon);
    free(s);
}

/* Every scheme's wire form is its own fixed point. */
static void wire(void)
{
    bool same = true;

    for (size_t i = 0; i < 40; i++) {
        hsy_spec spec = laplace_spec(0.001 * pow(10, (double)i / 9), 0);
        hsy_scheme *s = trial_scheme(&spec), *again = trial_scheme(&spec);
        uint8_t bytes[HSY_SCHEME_WIRE];

        hsy_scheme_encode(s, bytes);
        same &= hsy_scheme_decode(again, bytes, NULL, 0, NULL) == HSY_OK &&
                memcmp(s->digest, again->digest, HSY_DIGEST) == 0;
        free(s);
        free(again);
    }
    ok(same, "a resolved grid resolves to itself");
}

int main(void)
{
    vectors();
    table();
    ways();
    signs();
    batch_words();
    counts();
    refuses(1, 257, 256);
    refuses(1, (uint64_t)1 << 40, 256);
    refuses(0.01, 50, 40);
    wire();
    return tap_done();
}
