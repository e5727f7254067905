/* bench_clock.c - the best of several rounds, in processor time. */
#define _DEFAULT_SOURCE
#include "bench/bench.h"

#include <time.h>

#define BENCH_ROUNDS 3 /* at least, however long they take */

static double bench_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The first round warms up caches and page tables and is not counted unless
 * it is the fastest. */
double bench_best(const struct bench *b, double units, void (*work)(void *ctx),
                  void *ctx)
{
    double start = bench_now(), before = start, best = 0;

    for (int round = 0; round < BENCH_ROUNDS || before - start < b->seconds;
         round++) {
        double after;

        work(ctx);
        after = bench_now();
        if (after > before && units / (after - before) > best)
            best = units / (after - before);
        before = after;
    }
    return best;
}

double bench_once(double units, void (*work)(void *ctx), void *ctx)
{
    double start = bench_now();

    work(ctx);
    return units / (bench_now() - start);
}

void bench_use(uint64_t x)
{
    __asm__ __volatile__("" : : "r"(x));
}
