/*
 * test_patterns.c - every bit of a wide report has noise of its own.
 *
 * For each bit of a report it is written down in which of many runs it was 1:
 * its pattern. With a truth that stays and published coins that stay,
 *
 *   - a bit's ones are a binomial count (its chance, or a range of it, is given
 *     by the scheme), exact at STAT_ALPHA over all bits;
 *   - as many bits vary as have noise: the rest is published;
 *   - no two patterns are equal: with shared coins they would be. Two
 *     independent ones of chances p are with (p^2 + (1-p)^2)^RUNS, below 1e-30
 *     for all pairs here.
 *
 * This sees missing and shared noise at any width, which tests of a report as a
 * whole do not. Controls: bits that share coins, and bits without any.
 */
#include "lib/scheme/permanent.h"
#include "rig/stat.h"

#define RUNS 256u

/* ---- Patterns ------------------------------------------------------------ */

struct patterns {
    size_t bits;
    uint8_t (*of)[RUNS / 8]; /* by bit */
};

static struct patterns patterns_of(const uint8_t *reports, size_t bytes)
{
    struct patterns p = {8 * bytes, NULL};

    p.of = trial_memory(p.bits * sizeof *p.of);
    for (size_t run = 0; run < RUNS; run++)
        for (size_t bit = 0; bit < p.bits; bit++)
            if (reports[run * bytes + bit / 8] >> bit % 8 & 1)
                p.of[bit][run / 8] |= (uint8_t)(1u << run % 8);
    return p;
}

static unsigned patterns_count(const struct patterns *p, size_t bit)
{
    unsigned ones = 0;

    for (size_t i = 0; i < RUNS / 8; i++)
        ones += (unsigned)__builtin_popcount(p->of[bit][i]);
    return ones;
}

static int patterns_order(const void *a, const void *b)
{
    return memcmp(a, b, RUNS / 8);
}

struct verdict {
    size_t varying, outside, alike;
};

/* Chances of a 1 from low to high. The patterns are sorted and freed. */
static struct verdict patterns_judge(struct patterns *p, double low,
                                     double high)
{
    struct verdict v = {0};
    size_t varying = 0;

    for (size_t bit = 0; bit < p->bits; bit++) {
        const unsigned ones = patterns_count(p, bit);
        const double p_value =
            ones < RUNS * low    ? stat_binomial(ones, RUNS, low)
            : ones > RUNS * high ? stat_binomial(ones, RUNS, high)
                                 : 1;

        if (ones == 0 || ones == RUNS)
            continue;
        v.outside += p_value < STAT_ALPHA / (double)p->bits;
        memmove(p->of[varying++], p->of[bit], RUNS / 8);
    }
    qsort(p->of, varying, sizeof *p->of, patterns_order);
    for (size_t i = 1; i < varying; i++)
        v.alike += patterns_order(p->of[i - 1], p->of[i]) == 0;
    v.varying = varying;
    free(p->of);
    return v;
}

static bool patterns_good(const uint8_t *reports, size_t bytes, size_t noisy,
                          double low, double high, struct verdict *v)
{
    struct patterns p = patterns_of(reports, bytes);

    *v = patterns_judge(&p, low, high);
    return v->varying == noisy && v->outside == 0 && v->alike == 0;
}

/* ---- Mechanisms ---------------------------------------------------------- */

/* Published coins that are always the same, and none that is drawn anew. */
static hsy_status same_fill(void *ctx, void *buf, size_t len)
{
    (void)ctx;
    memset(buf, 0x5a, len);
    return HSY_OK;
}

/* RUNS reports of one truth, as a batch or one by one. */
static bool make_all(const hsy_scheme *s, uint8_t *reports, bool batch,
                     uint64_t lane)
{
    const size_t width = hsy_codes_per_truth(s);
    uint64_t *codes = trial_memory(RUNS * width * sizeof *codes);
    hsy_stream stream;
    hsy_coins coins = {{NULL, NULL}, {same_fill, NULL}};
    hsy_status st = HSY_OK;

    hsy_stream_seed(&stream, stat_seed(), lane);
    coins.secret = hsy_stream_rng(&stream);
    for (size_t i = 0; i < RUNS && st == HSY_OK; i += batch ? RUNS : 1)
        st = s->mech->client->randomize(s, reports + i * s->report_bytes, codes,
                                        batch ? RUNS : 1, &coins);
    free(codes);
    return st == HSY_OK;
}

static void mechanism(const char *name, const hsy_spec *spec, size_t noisy,
                      double low, double high, uint64_t lane)
{
    hsy_scheme *s = trial_scheme(spec);
    uint8_t *reports = trial_memory(RUNS * s->report_bytes);
    struct verdict v[2] = {{0}};
    bool good = true;

    for (size_t batch = 0; batch < 2; batch++)
        good &= make_all(s, reports, batch == 1, 2 * lane + batch) &&
                patterns_good(reports, s->report_bytes, noisy, low, high,
                              &v[batch]);
    ok(good,
       "%s: %zu bits of %u have noise of their own (%zu, %zu vary; %zu, %zu "
       "stray; %zu, %zu alike)",
       name, noisy, s->report_bits, v[0].varying, v[1].varying, v[0].outside,
       v[1].outside, v[0].alike, v[1].alike);
    free(reports);
    free(s);
}

/* The chance of a 1 where the truth has none, by symmetric unary encoding. */
static double symmetric(double epsilon)
{
    return 1 / (1 + exp(epsilon / 2));
}

static void unary(const char *name, uint32_t d, uint64_t lane)
{
    const hsy_spec spec = trial_values(name, d, 1);
    const double q = strcmp(name, "oue") == 0 ? 1 / (1 + exp(1)) : symmetric(1);
    const double p = strcmp(name, "oue") == 0 ? 0.5 : 1 - q;

    mechanism(name, &spec, d, q, p, lane);
}

/* A set of w values: each is in it with nearly w / d, the truth with more. */
static void subsets(uint32_t d, uint64_t lane)
{
    const hsy_spec spec = trial_values("ss", d, 1);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    free(s);
    mechanism("ss", &spec, d, info.q, info.p, lane);
}

static void buckets(uint32_t bits, uint64_t lane)
{
    hsy_spec spec = trial_values("dbitflip", bits, 1);

    spec.param[HSY_PARAM_SAMPLED_BITS] = bits;
    spec.param[HSY_PARAM_POOL_BITS] = 1;
    mechanism("dbitflip", &spec, bits, symmetric(1), 1 - symmetric(1), lane);
}

static void sketch(uint64_t width, uint64_t lane)
{
    hsy_spec spec = trial_values("cms", 1000, 1);

    spec.param[HSY_PARAM_HASHES] = 4;
    spec.param[HSY_PARAM_WIDTH] = width;
    mechanism("cms", &spec, width, symmetric(1), 1 - symmetric(1), lane);
}

/* A 0 is reported as 1 with 0.5625, a 1 with 0.6875. */
static hsy_spec rappor(uint64_t bits)
{
    hsy_spec spec = trial_values("rappor", 100, 0);

    spec.design = HSY_DESIGN_RAPPOR;
    spec.chance[0] = spec.chance[1] = (hsy_ratio){1, 2};
    spec.chance[2] = (hsy_ratio){3, 4};
    spec.param[HSY_PARAM_FILTER_BITS] = bits;
    spec.param[HSY_PARAM_COHORTS] = 4;
    return spec;
}

/* Fragments and words, each by a sketch of 1024 cells; prefixes by one. */
static void spelled(const char *name, const char *oracle, size_t noisy,
                    uint64_t lane)
{
    hsy_spec spec = trial_values(name, 0, 1);
    char text[32];

    spec.kind = HSY_KIND_STRINGS;
    if (strcmp(name, "stage") == 0)
        spec = trial_spelled(name, 16, 1);
    spec.oracle = oracle;
    snprintf(text, sizeof text, "%s%s%s", name, oracle != NULL ? " by " : "",
             oracle != NULL ? oracle : "");
    mechanism(text, &spec, noisy, symmetric(1), 1 - symmetric(1), lane);
}

/* Two attributes of 150 values and of two, by one draw or as one value. */
static void tuple(const char *name, const char *own, uint64_t lane)
{
    static uint8_t block[2048];
    hsy_spec spec = trial_values(name, 0, 1), part = trial_values(own, 150, 1);
    size_t len = 0;

    hsy_attribute_encode(
        block, sizeof block, &len,
        &(hsy_attribute){.name = "a", .name_len = 1, .spec = part}, NULL);
    part.d = 2;
    hsy_attribute_encode(
        block, sizeof block, &len,
        &(hsy_attribute){.name = "b", .name_len = 1, .spec = part}, NULL);
    spec.kind = HSY_KIND_TUPLE;
    spec.labels = block;
    spec.labels_len = len;
    if (strcmp(name, "smp") == 0)
        mechanism(name, &spec, 150, symmetric(1), 1 - symmetric(1), lane);
    else /* a set of about 300 / (1 + e), and the truth's own chance */
        mechanism(name, &spec, 300, 0.99 / (1 + exp(1)), 0.51, lane);
}

/* ---- Reports from a permanent answer ------------------------------------- */

static void kept(const hsy_spec *permanent, size_t noisy, double low,
                 double high, uint64_t lane)
{
    hsy_spec spec = *permanent;
    hsy_scheme *first = trial_scheme(&spec), *second;
    uint8_t *answer, *reports;
    hsy_stream stream;
    hsy_coins coins = {{NULL, NULL}, {same_fill, NULL}};
    struct verdict v = {0};
    hsy_permanent c;
    bool made;

    spec.nano_epsilon = spec.nano_epsilon != 0 ? HSY_NANO : 0;
    second = trial_scheme(&spec);
    answer = trial_memory(second->report_bytes);
    reports = trial_memory(RUNS * second->report_bytes);
    hsy_stream_seed(&stream, stat_seed(), lane);
    coins.secret = hsy_stream_rng(&stream);
    made = hsy_permanent_init(&c, first, second, 0, NULL) == HSY_OK &&
           hsy_permanent_answer(&c, answer, 0, &coins) == HSY_OK;
    for (size_t i = 0; i < RUNS && made; i++) {
        uint8_t *report = reports + i * second->report_bytes;

        made =
            hsy_permanent_report(&c, report, answer, &coins.secret) == HSY_OK;
        for (size_t k = 0; high == 0 && k < second->report_bytes; k++)
            report[k] ^= answer[k]; /* flips, whose chance is the step's */
    }
    if (high == 0)
        low = high = (double)c.step * 0x1p-64;
    made = made &&
           patterns_good(reports, second->report_bytes, noisy, low, high, &v);
    ok(made,
       "%s: %zu bits of a kept answer have noise of their own (%zu vary, %zu "
       "stray, %zu alike)",
       spec.mechanism, noisy, v.varying, v.outside, v.alike);
    free(answer);
    free(reports);
    free(first);
    free(second);
}

static void kept_unary(const char *name, uint32_t d, uint64_t lane)
{
    const hsy_spec spec = trial_values(name, d, 8);

    kept(&spec, d, 0, 0, lane);
}

static void kept_others(uint64_t lane)
{
    hsy_spec spec = trial_values("dbitflip", 63, 8);

    spec.param[HSY_PARAM_SAMPLED_BITS] = 63;
    spec.param[HSY_PARAM_POOL_BITS] = 1;
    kept(&spec, 63, 0, 0, lane);
    spec = rappor(1100);
    kept(&spec, 1100, 0.5, 0.75, lane + 1);
}

/* ---- All of them, and controls ------------------------------------------- */

/* The wide ones, which are gone through above. */
static bool is_wide(const char *name)
{
    static const char *const names[] = {"ss",  "sue",    "oue", "cms",
                                        "sfp", "rappor", "smp", "joint",
                                        "pem", "stage"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void no_others(void)
{
    const hsy_catalogue *row;
    const char *forgotten = "";

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (uint32_t d = 2; d <= 1u << 16; d *= 2) {
            const hsy_spec spec = trial_small(row, d, 1);
            hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));

            if (hsy_scheme_init(s, &spec, NULL) == HSY_OK &&
                s->report_bits > 64 && !is_wide(row->name))
                forgotten = row->name;
            free(s);
        }
    ok(forgotten[0] == '\0', "no other mechanism has more than 64 bits %s",
       forgotten);
}

/* Reports of 100 random bits, of which the last take the coins of the first or
 * have none. */
static void controls(void)
{
    static uint8_t reports[RUNS * 13], bare[RUNS * 13];
    hsy_stream stream;
    struct verdict v;
    hsy_rng rng;

    hsy_stream_seed(&stream, stat_seed(), 1000);
    rng = hsy_stream_rng(&stream);
    if (rng.fill(rng.ctx, reports, sizeof reports) != HSY_OK)
        exit(1);
    ok(patterns_good(reports, 13, 104, 0.5, 0.5, &v),
       "control: random bits pass");
    memcpy(bare, reports, sizeof bare);
    for (size_t i = 0; i < RUNS; i++) {
        reports[13 * i + 12] =
            (uint8_t)(reports[13 * i + 12] << 1 | (reports[13 * i] & 1));
        bare[13 * i + 12] &= 0x7f;
    }
    ok(!patterns_good(reports, 13, 104, 0.5, 0.5, &v) && v.alike == 1,
       "control: a shared coin is seen");
    ok(!patterns_good(bare, 13, 104, 0.5, 0.5, &v) && v.varying == 103,
       "control: a bit without noise is seen");
}

int main(void)
{
    const hsy_spec cohorts = rappor(1100), few = rappor(128);

    subsets(100, 1);
    subsets(1025, 2);
    unary("sue", 1000, 3);
    unary("sue", 1025, 4);
    unary("sue", 3000, 5);
    unary("oue", 65, 6);
    unary("oue", 2049, 7);
    buckets(40, 8);
    buckets(63, 9);
    sketch(128, 10);
    sketch(2048, 11);
    mechanism("rappor", &few, 128, 0.5625, 0.6875, 12);
    mechanism("rappor", &cohorts, 1100, 0.5625, 0.6875, 13);
    spelled("sfp", NULL, 2048, 14);
    spelled("pem", "cms", 1024, 15);
    spelled("stage", "cms", 1024, 18);
    tuple("smp", "sue", 16);
    tuple("joint", "sue", 17);
    kept_unary("sue", 1000, 40);
    kept_unary("sue", 1025, 41);
    kept_unary("sue", 3000, 42);
    kept_unary("oue", 2049, 43);
    kept_others(44);
    no_others();
    controls();
    return tap_done();
}
