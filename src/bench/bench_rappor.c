/* bench_rappor.c - the speed of RAPPOR: folding, encoding, and its dialects. */
#include "bench/bench.h"
#include "cli/base/base.h"
#include "host/format/rappor_dialect.h"

#include <stdlib.h>

#define BENCH_RAPPOR_REPORTS ((size_t)1 << 18)

struct bench_rappor {
    hsy_scheme *s;
    hsy_stream secret, published;
    uint64_t *codes;
    uint8_t *reports;
    int64_t *counters;
    hsy_tally tally;
};

static void bench_rappor_encode_all(void *ctx)
{
    struct bench_rappor *x = ctx;
    hsy_coins coins = {hsy_stream_rng(&x->secret),
                       hsy_stream_rng(&x->published)};

    hsy_randomize_batch(x->s, x->reports, x->codes, BENCH_RAPPOR_REPORTS,
                        &coins, NULL);
}

static void bench_rappor_fold_all(void *ctx)
{
    struct bench_rappor *x = ctx;

    hsy_tally_batch(&x->tally, x->s, x->reports, BENCH_RAPPOR_REPORTS, NULL);
}

/* d is the number of bits; by epsilon 1, so that no probability is a quarter
 * and cheap. */
static bool bench_rappor_open(struct bench_rappor *x,
                              const struct bench_case *c, hsy_cpu level)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = "rappor",
                           .nano_epsilon = HSY_NANO,
                           .kind = HSY_KIND_STRINGS,
                           .param = {[HSY_PARAM_FILTER_BITS] = c->d}};
    hsy_scheme_info info;

    *x = (struct bench_rappor){0};
    if (cli_scheme_new(&x->s, &spec) != 0)
        return false;
    hsy_scheme_cpu(x->s, level);
    hsy_scheme_describe(x->s, &info);
    hsy_stream_seed(&x->secret, 1, 3);
    hsy_stream_seed(&x->published, 1, 4);
    hsy_stream_cpu(&x->secret, level);
    hsy_stream_cpu(&x->published, level);
    x->codes = malloc(BENCH_RAPPOR_REPORTS * sizeof *x->codes);
    x->reports = calloc(BENCH_RAPPOR_REPORTS, info.report_bytes);
    x->counters = calloc(hsy_tally_words(x->s), sizeof *x->counters);
    if (x->codes == NULL || x->reports == NULL || x->counters == NULL) {
        cli_fail_nomem();
        return false;
    }
    for (size_t i = 0; i < BENCH_RAPPOR_REPORTS; i++)
        x->codes[i] = i * 0x9e3779b97f4a7c15;
    hsy_tally_init(&x->tally, x->s, x->counters);
    bench_rappor_encode_all(x);
    return true;
}

static double bench_rappor_rate(struct bench *b, const struct bench_case *c,
                                hsy_cpu level, void (*work)(void *ctx))
{
    struct bench_rappor x;
    double rate = 0;

    if (bench_rappor_open(&x, c, level))
        rate = bench_best(b, (double)BENCH_RAPPOR_REPORTS, work, &x);
    free(x.s);
    free(x.codes);
    free(x.reports);
    free(x.counters);
    return rate;
}

double bench_rappor_fold(struct bench *b, const struct bench_case *c,
                         hsy_cpu level)
{
    return bench_rappor_rate(b, c, level, bench_rappor_fold_all);
}

double bench_rappor_encode(struct bench *b, const struct bench_case *c,
                           hsy_cpu level)
{
    return bench_rappor_rate(b, c, level, bench_rappor_encode_all);
}

/* ---- Dialects ------------------------------------------------------------ */

#define BENCH_RAPPOR_ANSWERS 4096u

/* The python dialect with 32 bits; the instantaneous step takes p = 1/2 and
 * q = 3/4 from two words of fresh coins. */
struct bench_dialect {
    struct rappor_encoder encoder;
    struct rappor_client client;
    hsy_stream coins;
    bool fresh;
    uint32_t sum;
};

static uint32_t bench_dialect_instant(uint32_t prr, hsy_stream *coins)
{
    hsy_rng rng = hsy_stream_rng(coins);
    uint32_t word[2];

    rng.fill(rng.ctx, word, sizeof word);
    return (prr & (word[0] | word[1])) | (~prr & word[0]);
}

static void bench_dialect_all(void *ctx)
{
    struct bench_dialect *x = ctx;
    struct rappor_answer a;

    for (uint32_t i = 0; i < BENCH_RAPPOR_ANSWERS; i++) {
        if (x->fresh)
            rappor_answer_once(&x->encoder, "client-secret", 13, i % 64, &i,
                               sizeof i, &a);
        else
            rappor_client_answer(&x->client, &x->encoder, &i, sizeof i, &a);
        x->sum += bench_dialect_instant(
            (uint32_t)a.prr[0] | (uint32_t)a.prr[1] << 8 |
                (uint32_t)a.prr[2] << 16 | (uint32_t)a.prr[3] << 24,
            &x->coins);
    }
    bench_use(x->sum);
}

static double bench_dialect_rate(struct bench *b, bool fresh)
{
    struct bench_dialect x = {.fresh = fresh};
    double rate;

    if (rappor_encoder_init(&x.encoder, RAPPOR_PYTHON, 32, 2, 64, 0.5, NULL,
                            NULL) != HSY_OK ||
        rappor_client_open(&x.client, &x.encoder, "client-secret", 13, 5) !=
            HSY_OK) {
        cli_fail("rappor-dialect: no such client");
        return 0;
    }
    hsy_stream_seed(&x.coins, 1, 5);
    rate = bench_best(b, BENCH_RAPPOR_ANSWERS, bench_dialect_all, &x);
    rappor_client_clear(&x.client);
    return rate;
}

double bench_rappor_fresh(struct bench *b, const struct bench_case *c,
                          hsy_cpu level)
{
    (void)c;
    (void)level;
    return bench_dialect_rate(b, true);
}

double bench_rappor_kept(struct bench *b, const struct bench_case *c,
                         hsy_cpu level)
{
    (void)c;
    (void)level;
    return bench_dialect_rate(b, false);
}
