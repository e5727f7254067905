/* test_lh.c - local hashing: range, pool, coins, decoding, collisions. */
#include "lib/bits/bytes.h"
#include "lib/family/lh.h"
#include "lib/scheme/report.h"
#include "lib/special/special.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

/* ---- Range and pool ------------------------------------------------------ */

/* The best integer range by trying all near it. */
static uint32_t best_range(double epsilon)
{
    long double e = expl((long double)epsilon), least = 0;
    uint32_t best = 0;

    for (uint32_t g = 2; g < 2 * e + 10; g++) {
        long double v = (e + g - 1) * (e + g - 1) / (g - 1);

        if (best == 0 || v < least) {
            least = v;
            best = g;
        }
    }
    return best;
}

static void ranges(void)
{
    bool good = true;
    hsy_spec spec;
    hsy_scheme *s;

    for (int i = 1; i <= 600; i++) {
        spec = trial_values("olh", 10, i / 100.0);
        s = trial_scheme(&spec);
        good &= s->param[HSY_PARAM_G] == best_range(i / 100.0);
        free(s);
    }
    ok(good, "olh: g is the best integer for epsilon 0.01 to 6");
    spec = trial_values("olh", 10, 32);
    s = trial_scheme(&spec);
    ok(s->param[HSY_PARAM_G] == 1024 && s->cells == (size_t)1 << 26,
       "olh: at epsilon 32 it is the most that the table holds");
    free(s);
    spec = trial_values("blh", 10, 3);
    s = trial_scheme(&spec);
    ok(s->param[HSY_PARAM_G] == 2 && s->param[HSY_PARAM_POOL_BITS] == 16 &&
           s->report_bits == 17 && s->report_bytes == 4 && s->cells == 131072,
       "blh: g is 2, the pool 2^16");
    free(s);
}

static void refuses(hsy_spec spec, const char *field, uint64_t limit,
                    const char *why)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
    hsy_error err = {0};

    ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
           strcmp(hsy_field_name(err.field), field) == 0 && err.limit == limit,
       "%s: refused, naming %s and its limit", why, field);
    free(s);
}

static void bad_ranges(void)
{
    hsy_spec spec = trial_values("olh", 10, 1);

    spec.param[HSY_PARAM_G] = 1;
    refuses(spec, "g", 2, "g = 1");
    spec.param[HSY_PARAM_G] = 1025;
    refuses(spec, "g", 1024, "a table of more than 2^26 cells");
    spec.param[HSY_PARAM_POOL_BITS] = 1;
    spec.param[HSY_PARAM_G] = HSY_VALUES_MAX + 1;
    refuses(spec, "g", HSY_VALUES_MAX, "g above 2^22");
    spec.param[HSY_PARAM_G] = 0;
    spec.param[HSY_PARAM_POOL_BITS] = 25;
    refuses(spec, "pool-bits", 24, "a pool of 2^25");
    spec = trial_values("blh", 10, 1);
    spec.param[HSY_PARAM_G] = 3;
    refuses(spec, "g", 2, "blh with g = 3");
}

/* ---- Coins --------------------------------------------------------------- */

static hsy_scheme *small_scheme(void)
{
    hsy_spec spec = trial_values("olh", 100, 1);

    spec.param[HSY_PARAM_G] = 4;
    spec.param[HSY_PARAM_POOL_BITS] = 5;
    spec.param[HSY_PARAM_POOL_SEED] = 7;
    return trial_scheme(&spec);
}

static void coin(void)
{
    hsy_scheme *s = small_scheme();
    const uint32_t seed = 0xffffffe0u | 9; /* only the low five bits count */
    const uint64_t blanket[2] = {s->two.choice.blanket - 1, (uint64_t)3 << 62};
    const uint64_t own[2] = {s->two.choice.blanket, (uint64_t)3 << 62};
    struct tape secret = {blanket, sizeof blanket};
    struct tape published = {&seed, sizeof seed};
    hsy_coins coins = {{tape_fill, &secret}, {tape_fill, &published}};
    hsy_truth truth = {.type = HSY_TRUTH_INDEX};
    struct pool_hash hash = hsy_pool_at(7, 9);
    uint8_t report = 0xff;

    truth.u.index = 42;
    ok(hsy_randomize(s, &report, &truth, &coins, NULL) == HSY_OK &&
           report == (9 | 3 << 5),
       "below the edge y is the uniform value, and j the seed");
    secret = (struct tape){own, sizeof own};
    published = (struct tape){&seed, sizeof seed};
    ok(hsy_randomize(s, &report, &truth, &coins, NULL) == HSY_OK &&
           report == (9 | lh_hash(s, &hash, 42) << 5),
       "from the edge on y is the hash of the truth");
    report = 0xff;
    secret = (struct tape){own, sizeof own};
    ok(hsy_randomize(s, &report, &truth, &coins, NULL) == HSY_E_ENTROPY &&
           report == 0 && secret.left == sizeof own,
       "without a published word there is no report");
    published = (struct tape){&seed, sizeof seed};
    secret = (struct tape){own, 8};
    ok(hsy_randomize(s, &report, &truth, &coins, NULL) == HSY_E_ENTROPY &&
           report == 0,
       "without secret words neither");
    free(s);
}

/* A batch takes its seeds from the published stream in order, and the secret
 * one gives the coins: two streams, never shared. */
static void batch(void)
{
    hsy_scheme *s = small_scheme();
    enum { N = 600 };
    static uint64_t codes[N];
    static uint8_t reports[N], first[N], seeds[4 * N];
    hsy_stream a, b;
    hsy_coins coins = {hsy_stream_rng(&a), hsy_stream_rng(&b)};
    struct tape none = {NULL, 0};
    bool order = true, same = true;

    for (size_t i = 0; i < N; i++)
        codes[i] = i % 100;
    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        hsy_stream_seed(&a, 1, 0);
        hsy_stream_seed(&b, 1, 1);
        hsy_randomize_batch(s, reports, codes, N, &coins, NULL);
        if (level == HSY_CPU_PLAIN)
            memcpy(first, reports, N);
        same &= memcmp(first, reports, N) == 0;
    }
    hsy_stream_seed(&b, 1, 1);
    coins.published.fill(coins.published.ctx, seeds, sizeof seeds);
    for (size_t i = 0; i < N; i++)
        order &= (reports[i] & 31) == (seeds[4 * i] & 31);
    ok(same, "every level gives the same reports");
    ok(order, "seeds are the published stream's words in order");
    coins.published = (hsy_rng){tape_fill, &none};
    ok(hsy_randomize_batch(s, reports, codes, N, &coins, NULL) ==
               HSY_E_ENTROPY &&
           reports[0] == 0 && reports[N - 1] == 0,
       "a batch without published words leaves zeros");
    free(s);
}

static void checks(void)
{
    hsy_spec spec = trial_values("olh", 100, 1);
    hsy_scheme *s;
    uint8_t report[4] = {0xff, 0xff, 2, 0};
    hsy_tally t;

    spec.param[HSY_PARAM_G] = 3;
    s = trial_scheme(&spec);
    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    ok(hsy_check(s, report) == HSY_OK, "y = g - 1 is a report");
    ok(hsy_tally_add(&t, s, report, NULL) == HSY_OK &&
           t.cells[65535 * 3 + 2] == 1,
       "and counts in row j, place y");
    report[2] = 3;
    ok(hsy_check(s, report) == HSY_E_FORMAT, "y = g is none");
    report[2] = 2;
    report[3] = 0x80;
    ok(hsy_check(s, report) == HSY_E_FORMAT, "nor are spare bits");
    free(t.cells);
    free(s);
}

/* ---- Decoding ------------------------------------------------------------ */

/* Support by the definition. */
static double support_of(const hsy_scheme *s, const hsy_tally *t, uint64_t code)
{
    double sum = 0;

    for (uint32_t j = 0; j < lh_pool(s); j++) {
        struct pool_hash h = hsy_pool_at(s->param[HSY_PARAM_POOL_SEED], j);

        sum += (double)t->cells[(size_t)j * s->param[HSY_PARAM_G] +
                                lh_hash(s, &h, code)];
    }
    return sum;
}

static double plain_estimate(const hsy_scheme *s, const hsy_tally *t,
                             uint64_t code)
{
    struct mech_support law;

    hsy_lh_support(s, &law);
    return (support_of(s, t, code) / (double)t->strata[0] - law.q) / law.gap;
}

/* n truths of the given spread; the tally of their reports. */
static hsy_tally collect(const hsy_scheme *s, const uint64_t *codes, size_t n)
{
    uint8_t *reports = trial_memory(n * s->report_bytes);
    hsy_stream a, b;
    hsy_coins coins = {hsy_stream_rng(&a), hsy_stream_rng(&b)};
    hsy_tally t;

    hsy_stream_seed(&a, 11, 0);
    hsy_stream_seed(&b, 11, 1);
    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    if (hsy_randomize_batch(s, reports, codes, n, &coins, NULL) != HSY_OK ||
        hsy_tally_batch(&t, s, reports, n, NULL) != HSY_OK)
        puts("Bail out! no tally");
    free(reports);
    return t;
}

/* Few reports in many seeds (cell by cell) and many in few (whole rows) are
 * decoded alike, on every level, for closed and for open domains. */
static void decodes(hsy_spec spec, size_t n, const char *what)
{
    hsy_scheme *s = trial_scheme(&spec);
    enum { COUNT = 50 };
    uint64_t *codes = trial_memory(n * sizeof *codes);
    uint64_t asked[COUNT];
    hsy_evidence points[COUNT];
    void *scratch = trial_memory(hsy_evidence_scratch(s, COUNT));
    uint64_t width = hsy_code_count(s) == 0 ? UINT64_MAX : hsy_code_count(s);
    bool good = true;
    hsy_tally t;

    for (size_t i = 0; i < COUNT; i++)
        asked[i] = i * 0x9e3779b97f4a7c15 % width;
    for (size_t i = 0; i < n; i++)
        codes[i] = asked[i % 20];
    t = collect(s, codes, n);
    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        hsy_evidence_of(s, points, &t, asked, COUNT, scratch, NULL);
        for (size_t i = 0; i < COUNT; i++)
            good &=
                fabs(points[i].value - plain_estimate(s, &t, asked[i])) < 1e-9;
    }
    ok(good, "%s: decoded as defined, on every level", what);
    free(t.cells);
    free(scratch);
    free(codes);
    free(s);
}

static void decoding(void)
{
    hsy_spec closed = trial_values("olh", 1000, 1), open = closed, wide;

    open.kind = HSY_KIND_STRINGS;
    open.d = 0;
    wide = trial_values("olh", HSY_VALUES_MAX, 1);
    decodes(closed, 300, "300 reports");
    decodes(closed, 100000, "100,000 reports");
    decodes(open, 300, "300 reports of strings");
    decodes(open, 100000, "100,000 reports of strings");
    decodes(wide, 100000, "100,000 reports of 2^22 values");
    closed.param[HSY_PARAM_G] = 100;
    decodes(closed, 100000, "100,000 reports with g = 100");
}

/* ---- Collisions of a small pool ------------------------------------------ */

/*
 * The tally that n reports give on average, without noise: what is left between
 * estimate and truth is the bias of the pool.
 */
static hsy_tally average(const hsy_scheme *s, const double *f, uint32_t d,
                         double n)
{
    hsy_tally t;
    double own = (double)s->two.weight, other = ldexp(1, (int)s->two.shift);
    double total = (double)s->total, rows = (double)lh_pool(s);

    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    for (uint32_t j = 0; j < lh_pool(s); j++) {
        struct pool_hash h = hsy_pool_at(s->param[HSY_PARAM_POOL_SEED], j);
        double *mass = trial_memory(s->param[HSY_PARAM_G] * sizeof *mass);

        for (uint32_t v = 0; v < d; v++)
            mass[lh_hash(s, &h, v)] += f[v];
        for (uint32_t y = 0; y < s->param[HSY_PARAM_G]; y++) {
            int64_t count = (int64_t)llround(
                n / rows * (other + mass[y] * (own - other)) / total);

            t.cells[(size_t)j * s->param[HSY_PARAM_G] + y] = count;
            t.strata[0] += (uint64_t)count;
        }
        free(mass);
    }
    return t;
}

static double mean_square(const double *error, uint32_t d)
{
    double sum = 0;

    for (uint32_t v = 0; v < d; v++)
        sum += error[v] * error[v];
    return sum / d;
}

/* f[0] = heavy, f[1] a fifth of it, the rest uneven. */
static void shares(double *f, uint32_t d, double heavy)
{
    double sum = 0;

    f[0] = heavy;
    f[1] = heavy / 5;
    for (uint32_t v = 2; v < d; v++) {
        uint32_t mixed = v * 2654435769u;

        f[v] = pow((mixed >> 8) * 0x1p-24, 4);
        sum += f[v];
    }
    for (uint32_t v = 2; v < d; v++)
        f[v] *= (1 - 1.2 * heavy) / sum;
}

static void collisions(double heavy, double n)
{
    enum { D = 1024 };
    hsy_spec spec = trial_values("olh", D, 1);
    hsy_scheme *s;
    hsy_evidence *points = trial_memory(D * sizeof *points);
    void *scratch;
    double f[D], plain[D], corrected[D], before, after, worst = 0;
    hsy_tally t;

    spec.param[HSY_PARAM_POOL_BITS] = 6;
    s = trial_scheme(&spec);
    scratch = trial_memory(hsy_evidence_scratch(s, D));
    shares(f, D, heavy);
    t = average(s, f, D, n);
    hsy_evidence_of(s, points, &t, NULL, D, scratch, NULL);
    for (uint32_t v = 0; v < D; v++) {
        plain[v] = plain_estimate(s, &t, v) - f[v];
        corrected[v] = points[v].value - f[v];
        worst = fmax(worst, fabs(corrected[v]));
    }
    before = mean_square(plain, D);
    after = mean_square(corrected, D);
    ok(before > 0.5 * heavy * heavy / (3 * 64),
       "heavy %g: without correction the pool shows (mean square %.1e)", heavy,
       before);
    ok(after < before / 50, "heavy %g: with it, it is gone (%.1e)", heavy,
       after);
    ok(after < 1.5 * points[0].residual_variance &&
           worst * worst < 40 * points[0].residual_variance,
       "heavy %g: what is left is covered by the floor (%.1e)", heavy,
       points[0].residual_variance);
    ok(points[0].residual_variance < before / 10,
       "heavy %g: which is no longer large", heavy);
    free(t.cells);
    free(points);
    free(scratch);
    free(s);
}

/* A heavy string that nobody lists cannot be subtracted: the floor says so. */
static void unlisted(void)
{
    enum { D = 500 };
    hsy_spec spec = trial_values("olh", D, 1);
    hsy_scheme *s;
    uint64_t codes[D - 1];
    hsy_evidence points[D - 1];
    void *scratch;
    double f[D] = {0.6}, error[D - 1], left;
    hsy_tally t;

    spec.param[HSY_PARAM_POOL_BITS] = 8;
    s = trial_scheme(&spec);
    scratch = trial_memory(hsy_evidence_scratch(s, D - 1));
    for (uint32_t v = 1; v < D; v++) {
        f[v] = 0.4 / (D - 1);
        codes[v - 1] = v;
    }
    t = average(s, f, D, 1e12);
    hsy_evidence_of(s, points, &t, codes, D - 1, scratch, NULL);
    for (uint32_t v = 1; v < D; v++)
        error[v - 1] = points[v - 1].value - f[v];
    left = mean_square(error, D - 1);
    ok(left > 0.5 * 0.36 / (3 * 256) &&
           left < 1.5 * points[0].residual_variance &&
           points[0].residual_variance < 2 * left,
       "an unlisted 60 %% is in the floor (%.1e of %.1e)", left,
       points[0].residual_variance);
    free(t.cells);
    free(scratch);
    free(s);
}

/* The same list with every code twice gives the same estimates. */
static void repeated(void)
{
    enum { D = 200 };
    hsy_spec spec = trial_values("olh", D, 1);
    hsy_scheme *s;
    uint64_t codes[2 * D];
    hsy_evidence once[D], twice[2 * D];
    void *scratch;
    double f[D];
    bool same = true;
    hsy_tally t;

    spec.param[HSY_PARAM_POOL_BITS] = 6;
    s = trial_scheme(&spec);
    scratch = trial_memory(hsy_evidence_scratch(s, 2 * D));
    shares(f, D, 0.4);
    for (uint32_t v = 0; v < 2 * D; v++)
        codes[v] = v / 2;
    t = average(s, f, D, 1e12);
    hsy_evidence_of(s, once, &t, NULL, D, scratch, NULL);
    hsy_evidence_of(s, twice, &t, codes, 2 * D, scratch, NULL);
    for (uint32_t v = 0; v < 2 * D; v++)
        same &= fabs(twice[v].value - once[v / 2].value) < 1e-9;
    ok(same, "a code named twice is corrected for once");
    free(t.cells);
    free(scratch);
    free(s);
}

/* Whether a sum of D squared standardised errors is one of D normal ones: the
 * chi-square law at alpha = 1e-12 on either side. */
static bool standard(double sum, double d)
{
    return hsy_chi2_upper(sum, d) > 1e-12 && hsy_chi2_cdf(sum, d) > 1e-12;
}

static void with_noise(void)
{
    enum { D = 256, N = 400000 };
    hsy_spec spec = trial_values("olh", D, 1);
    hsy_scheme *s;
    uint64_t *codes = trial_memory(N * sizeof *codes);
    hsy_evidence points[D];
    double f[D] = {0}, sum = 0, plain = 0;
    void *scratch;
    hsy_tally t;

    spec.param[HSY_PARAM_POOL_BITS] = 8;
    s = trial_scheme(&spec);
    scratch = trial_memory(hsy_evidence_scratch(s, D));
    for (size_t i = 0; i < N; i++) {
        codes[i] = i % 2 == 0 ? 0 : i / 2 % D;
        f[codes[i]] += 1.0 / N;
    }
    t = collect(s, codes, N);
    hsy_evidence_of(s, points, &t, NULL, D, scratch, NULL);
    for (uint32_t v = 0; v < D; v++) {
        double var = (f[v] * points[v].v1 + (1 - f[v]) * points[v].v0) / N;

        sum += pow(points[v].value - f[v], 2) /
               (var + points[v].residual_variance);
        plain += pow(plain_estimate(s, &t, v) - f[v], 2) / var;
    }
    ok(standard(sum, D), "errors are as large as they say (%.2f)", sum / D);
    ok(!standard(plain, D), "control: plain ones are not (%.2f)", plain / D);
    free(t.cells);
    free(scratch);
    free(codes);
    free(s);
}

static void candidates(void)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "olh",
                     .kind = HSY_KIND_STRINGS,
                     .nano_epsilon = HSY_NANO};
    hsy_scheme *s = trial_scheme(&spec);
    hsy_evidence point;
    hsy_error err;
    hsy_tally t;
    const uint64_t code = 5;
    void *scratch = trial_memory(hsy_evidence_scratch(s, 1));

    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    ok(hsy_evidence_of(s, &point, &t, NULL, 0, scratch, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_CANDIDATES,
       "open strings need candidates");
    ok(hsy_evidence_of(s, &point, &t, &code, 1, scratch, &err) == HSY_E_EMPTY,
       "and reports");
    t.cells[3] = 1;
    t.strata[0] = 1;
    ok(hsy_evidence_of(s, &point, &t, &code, 1, scratch, &err) == HSY_OK &&
           point.n == 1,
       "one report will do");
    free(t.cells);
    free(scratch);
    free(s);
}

int main(void)
{
    ranges();
    bad_ranges();
    coin();
    batch();
    checks();
    decoding();
    collisions(0.5, 1e12);
    collisions(0.3, 1e12);
    unlisted();
    repeated();
    with_noise();
    candidates();
    return tap_done();
}
