/* bench_kernels.c - the speed of the random stream, checksum and hash. */
#include "bench/bench.h"

#define BENCH_BLOCK ((size_t)64 << 10) /* stays in the cache */

struct bench_bytes {
    uint8_t block[BENCH_BLOCK];
    hsy_stream stream;
    uint32_t crc;
};

static void bench_draw(void *ctx)
{
    struct bench_bytes *x = ctx;
    hsy_rng rng = hsy_stream_rng(&x->stream);

    for (int i = 0; i < 16; i++)
        rng.fill(rng.ctx, x->block, BENCH_BLOCK);
}

double bench_chacha20(struct bench *b, const struct bench_case *c,
                      hsy_cpu level)
{
    struct bench_bytes x = {.crc = 0};

    (void)c;
    hsy_stream_seed(&x.stream, 1, 2);
    hsy_stream_cpu(&x.stream, level);
    return bench_best(b, 16.0 * (double)BENCH_BLOCK, bench_draw, &x);
}

static void bench_check(void *ctx)
{
    struct bench_bytes *x = ctx;

    for (int i = 0; i < 16; i++)
        x->crc = hsy_crc32c(x->crc, x->block, BENCH_BLOCK);
}

double bench_crc32c(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_bytes x = {.crc = 0};

    (void)c;
    (void)level;
    return bench_best(b, 16.0 * (double)BENCH_BLOCK, bench_check, &x);
}

static void bench_hash(void *ctx)
{
    struct bench_bytes *x = ctx;

    hsy_blake2b(x->block, HSY_DIGEST, x->block, BENCH_BLOCK, NULL, 0);
}

double bench_blake2b(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_bytes x = {.crc = 0};

    (void)c;
    (void)level;
    return bench_best(b, (double)BENCH_BLOCK, bench_hash, &x);
}
