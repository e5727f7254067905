/*
 * test_central.c - a curator's noise has its law, its intervals their coverage,
 * and the error of K curators grows as sqrt(K).
 */
#include "lib/infer/infer.h"
#include "lib/mech/central.h"
#include "rig/stat.h"

#define DRAWS 200000
#define CELLS 41 /* noise of -20 .. 20, the ends taking what is beyond */

/* ---- The law of the noise ------------------------------------------------ */

static double law(int x, double rate)
{
    const double r = exp(-rate);
    const int size = x < 0 ? -x : x;

    if (size == CELLS / 2)
        return pow(r, size) / (1 + r);
    return (1 - r) / (1 + r) * pow(r, size);
}

/* Pearson's p-value of counts against a rate; cells expected below 10 go
 * together. */
static double fits(const double counts[CELLS], double rate)
{
    double chi = 0, seen = 0, want = 0, cells = -1;

    for (int i = 0; i < CELLS; i++) {
        seen += counts[i];
        want += DRAWS * law(i - CELLS / 2, rate);
        if (want < 10 && i + 1 < CELLS)
            continue;
        chi += want > 0 ? (seen - want) * (seen - want) / want : 0;
        cells++;
        seen = want = 0;
    }
    return hsy_chi2_upper(chi, cells);
}

static void put(double counts[CELLS], double noise)
{
    counts[(int)fmin(fmax(noise, -(CELLS / 2)), CELLS / 2) + CELLS / 2]++;
}

static double uniform(hsy_stream *st)
{
    hsy_rng rng = hsy_stream_rng(st);
    uint64_t word = 0;

    rng.fill(rng.ctx, &word, sizeof word);
    return ((double)(word >> 11) + 0.5) / 9007199254740992.0;
}

static void noise(uint64_t s, uint64_t t, uint64_t lane)
{
    const double rate = (double)s / (double)t;
    double counts[CELLS] = {0}, twice[CELLS] = {0}, rounded[CELLS] = {0};
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);
    bool drawn = true;

    hsy_stream_seed(&st, stat_seed(), lane);
    for (int i = 0; i < DRAWS; i++) {
        double u = uniform(&st) - 0.5;
        int64_t x = 0;

        drawn &= hsy_central_noise(&x, s, t, &rng) == HSY_OK;
        put(counts, (double)x);
        /* Mutant: minus zero is kept, so that zero comes too often. */
        put(twice, x == 0 || uniform(&st) > law(0, rate) / 2 ? (double)x : 0);
        /* Mutant: Laplace in floating point, rounded. */
        put(rounded, rint(copysign(log(1 - 2 * fabs(u)) / rate, u)));
    }
    ok(drawn && fits(counts, rate) > STAT_ALPHA,
       "noise at rate %g has its law (chi-square)", rate);
    ok(fits(counts, 1.05 * rate) < STAT_ALPHA,
       "control: five per cent more epsilon is noticed");
    ok(fits(twice, rate) < STAT_ALPHA, "control: so is zero drawn too often");
    if (rate >= 0.5) /* below, rounding hardly shows */
        ok(fits(rounded, rate) < STAT_ALPHA,
           "control: and Laplace noise that is rounded");
}

/* ---- Error against the number of curators -------------------------------- */

#define RUNS 2000
#define PEOPLE 200

/* Mean square error of RUNS sums of K releases, in standard errors from the
 * predicted one; a square of a sum of Laplace has a kurtosis below 6. */
static void curators(const char *row, uint32_t kind, uint64_t k)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = row,
                     .kind = kind,
                     .nano_epsilon = HSY_NANO,
                     .d = kind == HSY_KIND_VALUES ? 4 : 0,
                     .hi = kind == HSY_KIND_NUMBER ? 10 : 0};
    hsy_scheme *s = trial_scheme(&spec);
    int64_t *memory = trial_memory(2 * hsy_tally_words(s) * sizeof *memory);
    uint64_t codes[PEOPLE];
    double truth = 0, square = 0, fourth = 0, predicted = 0, mean, error;
    const size_t n = kind == HSY_KIND_VALUES ? 4 : 1;
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);
    bool good = true;

    hsy_stream_seed(&st, stat_seed(), 7000 + k);
    for (size_t i = 0; i < PEOPLE; i++) {
        codes[i] = i % 4 == 0 ? 1 : 0;
        truth += (double)codes[i] / PEOPLE / (kind == HSY_KIND_NUMBER ? 10 : 1);
    }
    for (int run = 0; run < RUNS; run++) {
        hsy_tally all, one;
        hsy_evidence points[4];
        double e;

        hsy_tally_init(&all, s, memory);
        for (uint64_t i = 0; i < k; i++) {
            hsy_tally_init(&one, s, memory + hsy_tally_words(s));
            good &= hsy_central_count(&one, s, codes, PEOPLE, NULL) == HSY_OK &&
                    hsy_central_release(&one, s, &rng, NULL) == HSY_OK &&
                    hsy_tally_merge(&all, &one, NULL) == HSY_OK;
        }
        good &= hsy_evidence_of(s, points, &all, NULL, n, NULL, NULL) == HSY_OK;
        e = points[n == 4 ? 1 : 0].value - truth;
        square += e * e / RUNS;
        fourth += e * e * e * e / RUNS;
        predicted +=
            hsy_evidence_variance(&points[n == 4 ? 1 : 0], HSY_PEOPLE, truth) /
            RUNS;
    }
    mean = predicted;
    error = sqrt((fourth - square * square) / RUNS);
    ok(good && fabs(square - mean) < 4.5 * error,
       "%s, %s, %d curators: error is as predicted (%.4g, %.4g)", row,
       hsy_kind_name(kind), (int)k, sqrt(square), sqrt(mean));
    ok(fabs(square - 2 * mean) > 4.5 * error, "control: not twice as much");
    free(memory);
    free(s);
}

/* ---- Coverage ------------------------------------------------------------ */

static double chance(int x, double rate)
{
    const double r = exp(-rate);

    return (1 - r) / (1 + r) * pow(r, abs(x));
}

static bool covers(const hsy_evidence *p, double f, double level,
                   hsy_target target)
{
    const hsy_confidence how = {level, target, HSY_INTERVAL_AUTO, 1};
    hsy_estimate est;

    return hsy_estimate_point(&est, p, &how, NULL) == HSY_OK && est.low <= f &&
           est.high >= f;
}

/* Replace, people: the least interval that reaches the level, exactly. */
static void coverage_exact(unsigned k, double rate, double level)
{
    hsy_evidence p = {.n = 1000, .noise = {{rate, k, 0.001, 0.001}}};
    int reach = 0;
    double inside, narrower;

    while (p.value = 0.3 + 0.001 * (reach + 1),
           covers(&p, 0.3, level, HSY_PEOPLE))
        reach++;
    inside = 1 - 2 * hsy_releases_tail(reach + 1, k, rate);
    narrower = reach == 0 ? 0 : 1 - 2 * hsy_releases_tail(reach, k, rate);
    ok(inside >= level && narrower < level,
       "%u releases at rate %g, level %g: %.4f, and one step less would not do",
       k, rate, level, inside);
}

/* Add and remove: every noise of two cells that matters, by its chance. */
static double coverage_open(double rate, double f, double level)
{
    enum { REACH = 30, N = 400 };
    const double ones = f * N;
    double inside = 0;

    for (int x = -REACH; x <= REACH; x++)
        for (int y = -REACH; y <= REACH; y++) {
            const double weight = chance(x, rate) * chance(y, rate);
            const double people = N + x + y;
            const hsy_evidence p = {
                .value = (ones + x) / people,
                .n = people,
                .noise = {{rate, 1, 1 / people, 0}, {rate, 1, 0, -1 / people}}};

            if (weight > 1e-9 && covers(&p, f, level, HSY_PEOPLE))
                inside += weight;
        }
    return inside;
}

/* A sample of a population: every count and noise, by its chance. */
static double coverage_sample(double rate, double f, double level)
{
    enum { REACH = 25, N = 150 };
    double inside = 0;

    for (uint64_t c = 0; c <= N; c++) {
        double of = hsy_binomial_cdf(c, N, f) -
                    (c == 0 ? 0 : hsy_binomial_cdf(c - 1, N, f));

        for (int x = -REACH; x <= REACH; x++) {
            const hsy_evidence p = {.value = ((double)c + x) / N,
                                    .n = N,
                                    .noise = {{rate, 1, 1.0 / N, 1.0 / N}}};

            if (of * chance(x, rate) > 1e-9 &&
                covers(&p, f, level, HSY_POPULATION))
                inside += of * chance(x, rate);
        }
    }
    return inside;
}

static void coverage(void)
{
    static const double rates[] = {0.5, 1, 3}, levels[] = {0.8, 0.95, 0.99};

    for (unsigned k = 1; k <= 64; k *= 4)
        for (size_t i = 0; i < 3; i++)
            coverage_exact(k, rates[i], levels[i]);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            double open = fmin(coverage_open(rates[i], 0.01, levels[j]),
                               coverage_open(rates[i], 0.5, levels[j]));
            double sample = coverage_sample(rates[i], 0.3, levels[j]);

            ok(open >= levels[j],
               "add/remove at rate %g: %.4f inside at level %g", rates[i], open,
               levels[j]);
            ok(fabs(sample - levels[j]) < (levels[j] < 0.9 ? 0.04 : 0.015),
               "a sample, rate %g: %.4f inside at level %g", rates[i], sample,
               levels[j]);
        }
}

int main(void)
{
    noise(1, 1, 1);
    noise(1, 2, 2);
    noise(HSY_NANO, 3 * (uint64_t)HSY_NANO + 1, 3);
    noise(2, 1, 4);
    for (uint64_t k = 1; k <= 16; k *= 4)
        for (size_t row = 0; row < 2; row++) {
            const char *name = row == 0 ? "central" : "central-add-remove";

            curators(name, HSY_KIND_YES_NO, k);
            curators(name, HSY_KIND_VALUES, k);
            curators(name, HSY_KIND_NUMBER, k);
        }
    coverage();
    return tap_done();
}
