/* bench_sketch.c - the speed of Hadamard transforms and of counting sketches.
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"

#include <stdlib.h>
#include <sys/mman.h>

/* n zeroed words that may stand on huge pages; NULL after a message. */
static void *bench_words(size_t n)
{
    void *p = mmap(NULL, n * 8, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        bench_nomem();
        return NULL;
    }
    (void)madvise(p, n * 8, MADV_HUGEPAGE);
    return p;
}

/* ---- The transform ------------------------------------------------------- */

struct bench_transform {
    int64_t *cells;
    size_t n;
    hsy_cpu level;
};

static void bench_transform_once(void *ctx)
{
    struct bench_transform *x = ctx;

    (void)hsy_hadamard_transform(x->cells, x->n, x->level);
}

/* Sums are modulo 2^64, so the same cells may be transformed over and over. */
double bench_wht(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    struct bench_transform x = {bench_words(c->d), c->d, level};
    double rate;

    if (x.cells == NULL)
        return 0;
    for (size_t i = 0; i < x.n; i++)
        x.cells[i] = (int64_t)(i * 2654435761u % 1000);
    rate = bench_best(b, 1, bench_transform_once, &x);
    munmap(x.cells, x.n * 8);
    return rate;
}

/* ---- Counting ------------------------------------------------------------ */

struct bench_count {
    hsy_scheme *s;
    const uint8_t *reports;
    size_t n;
    hsy_tally tally;
    void *scratch;
    hsy_status failed;
};

static void bench_count_all(void *ctx)
{
    struct bench_count *x = ctx;
    hsy_status st =
        hsy_tally_bulk(&x->tally, x->s, x->reports, x->n, x->scratch, NULL);

    if (x->failed == HSY_OK)
        x->failed = st;
}

/* Reports out of random bytes, spare bits cleared: rows and places uniform, as
 * they are. False: they do not fit the buffer. */
static bool bench_count_fill(uint8_t *reports, const hsy_scheme_info *info,
                             size_t n)
{
    size_t bytes = info->report_bytes, spare = 8 * bytes - info->report_bits;

    if (n * bytes > BENCH_BUFFER)
        return false;
    for (size_t i = 0; i < n; i++)
        reports[(i + 1) * bytes - 1] &= (uint8_t)(0xff >> spare);
    return true;
}

static double bench_count(struct bench *b, const struct bench_case *c,
                          struct bench_count *x, uint8_t *buffer)
{
    size_t words = hsy_tally_words(x->s);
    int64_t *counters = bench_words(words);
    hsy_scheme_info info;
    double rate = 0;

    hsy_scheme_describe(x->s, &info);
    x->scratch = malloc(hsy_tally_scratch(x->s, x->n) + 1);
    if (counters != NULL && x->scratch != NULL &&
        bench_count_fill(buffer, &info, x->n)) {
        hsy_tally_init(&x->tally, x->s, counters);
        rate = bench_best(b, (double)x->n, bench_count_all, x);
    }
    if (x->failed != HSY_OK) {
        bench_fail("%s: %s", c->name, hsy_strstatus(x->failed));
        rate = 0;
    }
    if (counters != NULL)
        munmap(counters, words * 8);
    free(x->scratch);
    return rate;
}

/* A batch of c->reports reports of the sketch; the plain loop gets a part. */
double bench_sketch(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    const hsy_spec spec = {
        .size = sizeof spec,
        .mechanism = c->mechanism,
        .nano_epsilon = 4 * (uint64_t)HSY_NANO,
        .kind = HSY_KIND_STRINGS,
        .param = {
            [HSY_PARAM_HASHES] = c->hashes, [HSY_PARAM_WIDTH] = c->width}};
    struct bench_count x = {.n = level == HSY_CPU_PLAIN ? c->reports / 8
                                                        : c->reports};
    uint8_t *buffer = bench_buffer(b);
    double rate;

    if (buffer == NULL || !bench_scheme_new(&x.s, &spec))
        return 0;
    x.reports = buffer;
    hsy_scheme_cpu(x.s, level);
    rate = bench_count(b, c, &x, buffer);
    free(x.s);
    return rate;
}
