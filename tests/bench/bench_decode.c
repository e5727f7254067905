/*
 * bench_decode.c - the speed of RAPPOR's analysis, on populations of known
 * shape: decoding counts, and associating a boolean with a string.
 *
 * Strings follow a power law, and half of the candidates nobody has; bits and
 * noise come from a seeded stream. Counts are their expectation plus a normal
 * error, which is all that decoding can see of people.
 */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>

struct bench_counts {
    hsy_stream stream;
    hsy_rappor_law law;
    hsy_rappor_data data;
    uint16_t *bits;
    uint64_t *totals, *ones;
    double *set; /* share of a cohort's people whose filter has a bit */
    hsy_rappor_share *shares;
    void *scratch;
    hsy_error err;
};

static double bench_uniform(hsy_stream *stream)
{
    hsy_rng rng = hsy_stream_rng(stream);
    uint64_t x;

    rng.fill(rng.ctx, &x, sizeof x);
    return ((double)(x >> 12) + 0.5) * 0x1p-52;
}

static void bench_decode_one(void *ctx)
{
    const hsy_rappor_options how = {.size = sizeof how};
    struct bench_counts *x = ctx;
    hsy_rappor_summary summary;

    if (x->err.status == HSY_OK)
        hsy_rappor_decode(&x->data, x->shares, &summary, &how, x->scratch,
                          &x->err);
}

/* The share of candidate i of n; the first half are held, down a power law. */
static double bench_share(size_t i, size_t n)
{
    const size_t held = n / 2 < 100 ? n / 2 : 100;
    double all = 0;

    for (size_t j = 0; j < held; j++)
        all += 1 / (double)(j + 1);
    return i < held ? 1 / ((double)(i + 1) * all) : 0;
}

static void bench_counts_fill(struct bench_counts *x, double reports)
{
    const hsy_rappor_data *d = &x->data;
    const size_t cells = (size_t)d->m * d->k, each = (size_t)d->m * d->h;

    for (size_t i = 0; i < d->candidates * each; i++)
        x->bits[i] = (uint16_t)(bench_uniform(&x->stream) * d->k);
    for (size_t s = 0; s < 100 && s < d->candidates; s++) {
        const double share = bench_share(s, d->candidates);

        for (size_t i = 0; i < each; i++)
            x->set[i / d->h * d->k + x->bits[s * each + i]] += share;
    }
    for (size_t i = 0; i < cells; i++) {
        const double n = floor(reports / d->m);
        const double set = fmin(1, x->set[i]);
        const double rate = set * d->q + (1 - set) * d->p;
        const double noise = hsy_normal_quantile(bench_uniform(&x->stream));

        x->totals[i / d->k] = (uint64_t)n;
        x->ones[i] = (uint64_t)fmin(
            n, fmax(0, n * rate + sqrt(n * rate * (1 - rate)) * noise));
    }
}

/* d bits, width cohorts. */
static bool bench_counts_open(struct bench_counts *x,
                              const struct bench_case *c)
{
    const size_t cells = (size_t)c->width * c->d;

    *x = (struct bench_counts){0};
    hsy_rappor_channel(
        &x->law,
        &(hsy_rappor_noise){
            .k = c->d, .h = c->hashes, .f = 0.5, .p = 0.25, .q = 0.75},
        NULL);
    hsy_stream_seed(&x->stream, 1, 7);
    x->bits =
        malloc((size_t)c->candidates * c->width * c->hashes * sizeof *x->bits);
    x->totals = calloc(c->width, sizeof *x->totals);
    x->ones = calloc(cells, sizeof *x->ones);
    x->set = calloc(cells, sizeof *x->set);
    x->shares = malloc(c->candidates * sizeof *x->shares);
    x->data = (hsy_rappor_data){.size = sizeof x->data,
                                .k = c->d,
                                .h = c->hashes,
                                .m = c->width,
                                .p = x->law.p,
                                .q = x->law.q,
                                .totals = x->totals,
                                .ones = x->ones,
                                .candidates = c->candidates,
                                .bits = x->bits};
    x->scratch = malloc(hsy_rappor_scratch(&x->data) + 1);
    if (x->bits == NULL || x->totals == NULL || x->ones == NULL ||
        x->set == NULL || x->shares == NULL || x->scratch == NULL) {
        bench_nomem();
        return false;
    }
    bench_counts_fill(x, (double)c->reports);
    return true;
}

double bench_rappor_decode(struct bench *b, const struct bench_case *c,
                           hsy_cpu level)
{
    struct bench_counts x;
    double rate = 0;

    (void)level;
    if (bench_counts_open(&x, c))
        rate = c->candidates > 10000 ? bench_once(1, bench_decode_one, &x)
                                     : bench_best(b, 1, bench_decode_one, &x);
    free(x.bits);
    free(x.totals);
    free(x.ones);
    free(x.set);
    free(x.shares);
    free(x.scratch);
    if (x.err.status == HSY_OK)
        return rate;
    bench_fail("%s: %s", c->name, x.err.msg);
    return 0;
}

/* ---- Association --------------------------------------------------------- */

#define BENCH_PAIR_BITS 16u
#define BENCH_PAIR_COHORTS 64u
#define BENCH_PAIR_STRINGS 4u

/* A boolean and one of four strings, each listed; p = 0.25 and q = 0.75. */
struct bench_pairs {
    hsy_rappor_reports reports;
    uint16_t bit[BENCH_PAIR_COHORTS];
    uint16_t bits[BENCH_PAIR_STRINGS * BENCH_PAIR_COHORTS * 2];
    uint64_t totals[BENCH_PAIR_COHORTS];
    uint64_t yes[BENCH_PAIR_COHORTS];
    uint64_t ones[BENCH_PAIR_COHORTS * BENCH_PAIR_BITS];
    uint32_t *cohorts;
    uint8_t *answers, *words;
    void *scratch;
    double share[2 * BENCH_PAIR_STRINGS];
    double covariance[4 * BENCH_PAIR_STRINGS * BENCH_PAIR_STRINGS];
    hsy_error err;
};

static void bench_pairs_one(void *ctx)
{
    struct bench_pairs *x = ctx;
    hsy_association_result result;

    if (x->err.status == HSY_OK)
        hsy_rappor_associate(&x->reports, x->share, x->covariance, &result,
                             x->scratch, &x->err);
}

static void bench_pairs_fill(struct bench_pairs *x)
{
    hsy_stream stream;

    hsy_stream_seed(&stream, 1, 8);
    for (size_t i = 0; i < sizeof x->bits / sizeof x->bits[0]; i++)
        x->bits[i] = (uint16_t)(bench_uniform(&stream) * BENCH_PAIR_BITS);
    for (size_t i = 0; i < x->reports.n; i++) {
        const uint32_t c =
            (uint32_t)(bench_uniform(&stream) * BENCH_PAIR_COHORTS);
        const uint32_t s = i % BENCH_PAIR_STRINGS;
        const uint16_t *bits = x->bits + (s * BENCH_PAIR_COHORTS + c) * 2;
        const bool yes = bench_uniform(&stream) < 0.2 * (s + 1);

        x->cohorts[i] = c;
        x->totals[c]++;
        x->answers[i] = bench_uniform(&stream) < (yes ? 0.75 : 0.25);
        x->yes[c] += x->answers[i];
        for (uint32_t b = 0; b < BENCH_PAIR_BITS; b++) {
            const bool set = bits[0] == b || bits[1] == b;
            const bool one = bench_uniform(&stream) < (set ? 0.75 : 0.25);

            x->words[2 * i + b / 8] |= (uint8_t)(one << b % 8);
            x->ones[c * BENCH_PAIR_BITS + b] += one;
        }
    }
}

static bool bench_pairs_open(struct bench_pairs *x, size_t n)
{
    hsy_rappor_data data = {.size = sizeof data,
                            .k = BENCH_PAIR_BITS,
                            .h = 2,
                            .m = BENCH_PAIR_COHORTS,
                            .p = 0.25,
                            .q = 0.75,
                            .totals = x->totals,
                            .ones = x->ones,
                            .candidates = BENCH_PAIR_STRINGS,
                            .bits = x->bits};

    x->cohorts = malloc(n * sizeof *x->cohorts);
    x->answers = calloc(n, 1);
    x->words = calloc(n, 2);
    x->reports = (hsy_rappor_reports){.size = sizeof x->reports,
                                      .n = n,
                                      .cohorts = x->cohorts,
                                      .variables = 2};
    x->reports.variable[1] =
        (hsy_rappor_variable){.data = data, .words = x->words, .stride = 2};
    data.k = data.h = 1;
    data.candidates = 1;
    data.ones = x->yes;
    data.bits = x->bit;
    x->reports.variable[0] =
        (hsy_rappor_variable){.data = data,
                              .rest = HSY_RAPPOR_REST_NO_BIT,
                              .words = x->answers,
                              .stride = 1};
    x->scratch = malloc(hsy_rappor_associate_scratch(&x->reports) + 1);
    if (x->cohorts == NULL || x->answers == NULL || x->words == NULL ||
        x->scratch == NULL) {
        bench_nomem();
        return false;
    }
    bench_pairs_fill(x);
    return true;
}

double bench_associate(struct bench *b, const struct bench_case *c,
                       hsy_cpu level)
{
    struct bench_pairs x = {0};
    double rate = 0;

    (void)level;
    if (bench_pairs_open(&x, c->reports))
        rate = bench_best(b, 1, bench_pairs_one, &x);
    free(x.cohorts);
    free(x.answers);
    free(x.words);
    free(x.scratch);
    if (x.err.status == HSY_OK)
        return rate;
    bench_fail("%s: %s", c->name, x.err.msg);
    return 0;
}
