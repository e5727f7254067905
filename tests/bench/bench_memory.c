/*
 * bench_memory.c - how fast this machine reads and copies memory.
 *
 * The same bytes can be read at twice the speed by another loop: what a loop
 * reaches depends on its width and on how far ahead it asks for lines. So the
 * limit is the best of several.
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"

#include <string.h>
#include <sys/mman.h>

uint8_t *bench_buffer(struct bench *b)
{
    hsy_stream stream;
    uint8_t *p;

    if (b->buffer != NULL)
        return b->buffer;
    p = mmap(NULL, BENCH_BUFFER, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        bench_nomem();
        return NULL;
    }
    /* Where the system has no huge pages the figures are lower, that is all. */
    (void)madvise(p, BENCH_BUFFER, MADV_HUGEPAGE);
    hsy_stream_seed(&stream, 1, 1);
    hsy_stream_rng(&stream).fill(&stream, p, BENCH_BUFFER);
    b->buffer = p;
    return p;
}

void bench_buffer_clear(struct bench *b)
{
    if (b->buffer != NULL)
        munmap(b->buffer, BENCH_BUFFER);
    b->buffer = NULL;
}

/* ---- Loops --------------------------------------------------------------- */

/* Vectors of 16, 32 and 64 bytes at any address. */
typedef uint64_t bench_v16 __attribute__((vector_size(16), may_alias));
typedef uint64_t bench_v32 __attribute__((vector_size(32), may_alias));
typedef uint64_t bench_v64 __attribute__((vector_size(64), may_alias));

/* Add up the buffer, 256 bytes a step in four sums, asking for what is `ahead`
 * bytes on; the buffer is aligned to pages. Prefetching past its end is
 * allowed. */
#define BENCH_READ_LOOP(name, target, vector, ahead, level)                    \
    target static void name(void *ctx)                                         \
    {                                                                          \
        const uint8_t *p = ctx;                                                \
        vector sum[4] = {{0}, {0}, {0}, {0}};                                  \
                                                                               \
        for (size_t i = 0; i < BENCH_BUFFER; i += 4 * sizeof(vector)) {        \
            const vector *v = (const void *)(p + i);                           \
                                                                               \
            if ((ahead) > 0)                                                   \
                for (size_t k = 0; k < 4 * sizeof(vector); k += 64)            \
                    __builtin_prefetch(p + i + (ahead) + k, 0, level);         \
            sum[0] += v[0];                                                    \
            sum[1] += v[1];                                                    \
            sum[2] += v[2];                                                    \
            sum[3] += v[3];                                                    \
        }                                                                      \
        sum[0] += sum[1] + sum[2] + sum[3];                                    \
        bench_use(sum[0][0] + sum[0][1]);                                      \
    }

#define BENCH_ANY
BENCH_READ_LOOP(bench_read16, BENCH_ANY, bench_v16, 0, 3)
BENCH_READ_LOOP(bench_read16_near, BENCH_ANY, bench_v16, 1024, 3)

#if defined(__x86_64__)
#define BENCH_AVX2 __attribute__((target("avx2")))
#define BENCH_AVX512 __attribute__((target("avx512f")))
BENCH_READ_LOOP(bench_read32, BENCH_AVX2, bench_v32, 0, 3)
BENCH_READ_LOOP(bench_read32_near, BENCH_AVX2, bench_v32, 1024, 3)
BENCH_READ_LOOP(bench_read32_far, BENCH_AVX2, bench_v32, 16384, 2)
BENCH_READ_LOOP(bench_read64, BENCH_AVX512, bench_v64, 0, 3)
BENCH_READ_LOOP(bench_read64_near, BENCH_AVX512, bench_v64, 1024, 3)
BENCH_READ_LOOP(bench_read64_far, BENCH_AVX512, bench_v64, 16384, 2)
#endif

static const struct bench_loop {
    hsy_cpu level;
    void (*read)(void *buffer);
} bench_loops[] = {
    {HSY_CPU_PLAIN, bench_read16},       {HSY_CPU_PLAIN, bench_read16_near},
#if defined(__x86_64__)
    {HSY_CPU_AVX2, bench_read32},        {HSY_CPU_AVX2, bench_read32_near},
    {HSY_CPU_AVX2, bench_read32_far},    {HSY_CPU_AVX512, bench_read64},
    {HSY_CPU_AVX512, bench_read64_near}, {HSY_CPU_AVX512, bench_read64_far},
#endif
};

double bench_memory_read(struct bench *b, const struct bench_case *c,
                         hsy_cpu level)
{
    /* Shared out among the loops: the limit is not to be luckier than what is
     * measured against it. */
    const struct bench part = {.seconds = b->seconds / 4};
    uint8_t *buffer = bench_buffer(b);
    double best = 0;

    (void)c;
    (void)level;
    if (buffer == NULL)
        return 0;
    for (size_t i = 0; i < sizeof bench_loops / sizeof bench_loops[0]; i++) {
        double rate;

        if (!hsy_cpu_has(bench_loops[i].level))
            continue;
        rate = bench_best(&part, (double)BENCH_BUFFER, bench_loops[i].read,
                          buffer);
        best = rate > best ? rate : best;
    }
    return best;
}

/* The half that is written gets bytes as random as its own. */
static void bench_copy(void *ctx)
{
    uint8_t *p = ctx;

    memcpy(p, p + BENCH_BUFFER / 2, BENCH_BUFFER / 2);
}

double bench_memory_copy(struct bench *b, const struct bench_case *c,
                         hsy_cpu level)
{
    uint8_t *buffer = bench_buffer(b);

    (void)c;
    (void)level;
    if (buffer == NULL)
        return 0;
    return bench_best(b, (double)(BENCH_BUFFER / 2), bench_copy, buffer);
}
