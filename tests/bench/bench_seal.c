/* bench_seal.c - the speed of sealing and opening a report of 128 bytes, next
 * to that of X25519, which is what they cannot do without. */
#include "bench/bench.h"
#include "host/seal/seal.h"

#include <sodium.h>

#define BENCH_SEAL_TEXT 128u
#define BENCH_SEAL_ROUND 64 /* operations, a few milliseconds */
#define BENCH_ENVELOPE (SEAL_LAYER + 1 + BENCH_SEAL_TEXT)

struct bench_seal {
    uint8_t pub[1][SEAL_KEY], secret[SEAL_KEY], enc[SEAL_ENC],
        terms[HSY_DIGEST];
    uint8_t text[BENCH_SEAL_TEXT], sealed[BENCH_SEAL_TEXT + SEAL_TAG];
    uint8_t envelope[BENCH_ENVELOPE], peeled[1 + BENCH_SEAL_TEXT];
    hsy_status failed;
};

static void bench_multiply(void *ctx)
{
    struct bench_seal *x = ctx;

    for (int i = 0; i < BENCH_SEAL_ROUND; i++) {
        if (crypto_scalarmult(x->enc, x->secret, x->pub[0]) != 0)
            x->failed = HSY_E_REFUSED;
    }
}

static void bench_close(void *ctx)
{
    struct bench_seal *x = ctx;
    struct seal_context c;

    for (int i = 0; i < BENCH_SEAL_ROUND; i++) {
        hsy_status st = seal_setup_sender(&c, x->enc, SEAL_CHACHA20, x->pub[0],
                                          NULL, 0, NULL);

        if (st == HSY_OK)
            st = seal_close(&c, x->sealed, NULL, 0, x->text, sizeof x->text);
        if (st != HSY_OK)
            x->failed = st;
    }
}

static void bench_open(void *ctx)
{
    struct bench_seal *x = ctx;
    struct seal_context c;

    for (int i = 0; i < BENCH_SEAL_ROUND; i++) {
        hsy_status st = seal_setup_receiver(&c, SEAL_CHACHA20, x->enc,
                                            x->secret, x->pub[0], NULL, 0);

        if (st == HSY_OK)
            st = seal_open(&c, x->text, NULL, 0, x->sealed, sizeof x->sealed);
        if (st != HSY_OK)
            x->failed = st;
    }
}

static const uint8_t bench_seed[SEAL_SEED], bench_digest[32], bench_id[16];

static struct seal_place bench_place(const struct bench_seal *x)
{
    return (struct seal_place){"task", 1,        bench_digest,
                               20000,  bench_id, x->terms};
}

static void bench_peel(void *ctx)
{
    struct bench_seal *x = ctx;
    const struct seal_place at = bench_place(x);

    for (int i = 0; i < BENCH_SEAL_ROUND; i++) {
        hsy_status st = seal_peel(x->peeled, x->secret, x->pub[0], 0, 1, &at,
                                  x->envelope, BENCH_ENVELOPE);

        if (st != HSY_OK)
            x->failed = st;
    }
}

/* Something to open. */
static void bench_prepare(struct bench_seal *x)
{
    const struct seal_place at = bench_place(x);

    bench_close(x);
    if (x->failed == HSY_OK)
        x->failed =
            seal_onion(x->envelope, (const uint8_t(*)[SEAL_KEY])x->pub, 1, &at,
                       bench_seed, SEAL_REPORT, x->text, BENCH_SEAL_TEXT);
}

static double bench_seal(const struct bench *b, const struct bench_case *c,
                         void (*work)(void *ctx))
{
    struct bench_seal x = {.failed = HSY_OK};
    double rate = 0;

    x.failed = seal_keypair(x.pub[0], x.secret);
    if (x.failed == HSY_OK)
        bench_prepare(&x);
    if (x.failed == HSY_OK)
        rate = bench_best(b, BENCH_SEAL_ROUND, work, &x);
    if (x.failed == HSY_OK)
        return rate;
    bench_fail("%s: %s", c->name, hsy_strstatus(x.failed));
    return 0;
}

double bench_x25519(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    (void)level;
    return bench_seal(b, c, bench_multiply);
}

double bench_hpke_seal(struct bench *b, const struct bench_case *c,
                       hsy_cpu level)
{
    (void)level;
    return bench_seal(b, c, bench_close);
}

double bench_hpke_open(struct bench *b, const struct bench_case *c,
                       hsy_cpu level)
{
    (void)level;
    return bench_seal(b, c, bench_open);
}

double bench_envelope(struct bench *b, const struct bench_case *c,
                      hsy_cpu level)
{
    (void)level;
    return bench_seal(b, c, bench_peel);
}
