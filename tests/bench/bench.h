/*
 * bench.h - measuring: what the parts of hearsay-bench share.
 *
 * A case is one thing to measure; its rate at a level is measured once a run,
 * when a row or another row's limit asks for it. Times are of this process (or
 * of the command it runs), not of the clock on the wall, and the best of
 * several counts.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "hearsay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_LEVELS 4 /* of hsy_cpu */

struct bench;

struct bench_case {
    const char *name;
    const char *unit; /* what there are so many of in a second */

    /* The rate, or 0 after a message. */
    double (*measure)(struct bench *b, const struct bench_case *c,
                      hsy_cpu level);
    bool levels; /* it can be had at every level, plain included */

    const char *limit; /* name of another case, or NULL */
    double takes;      /* units of the limit that one unit takes */

    /* What is measured; which of these count depends on measure. */
    const char *mechanism;
    uint32_t d;
    int64_t range; /* of a range whose mean is asked, if there is no d */
    uint32_t pool_bits;
    uint32_t hashes, width; /* of a sketch; of RAPPOR, width being cohorts */
    uint32_t candidates;    /* of a decoding */
    uint32_t q, t;          /* of projective geometry; 0: the best */
    uint32_t epsilon;       /* 0: 1 */
    size_t reports;
    const char *command; /* of hearsay */
    size_t part;         /* it gets one in so many of the lines */
    bool slow;           /* takes seconds once: with --quick only if named */
};

#define BENCH_CASES_MAX 64
extern const struct bench_case bench_cases[];
extern const size_t bench_cases_count;

/* One run. Zero it and set the first two. */
struct bench {
    double seconds; /* for a measurement */
    size_t lines;   /* of text for the commands */

    uint8_t *buffer; /* BENCH_BUFFER random bytes, NULL until needed */
    struct bench_files {
        bool open;
        int labels, truths; /* memory files */
        int reports, tally;
        const char *made; /* mechanism of the reports; NULL: there are none */
    } files;
};

#define BENCH_BUFFER ((size_t)256 << 20)

/* ---- bench_say.c --------------------------------------------------------- */

enum bench_exit { BENCH_DONE = 0, BENCH_FAILED = 1, BENCH_USAGE = 2 };

/* "hearsay-bench: ..." and a newline on stderr. */
void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_nomem(void);

/* A scheme to free, or false after a message. */
bool bench_scheme_new(hsy_scheme **out, const hsy_spec *spec);

/* Flush standard output: the exit code, after a message if it failed. */
int bench_finish(void);

/* ---- bench_clock.c ------------------------------------------------------- */

/* Do work over and over for about b->seconds: how many units a second in the
 * fastest round, units being done in one. */
double bench_best(const struct bench *b, double units, void (*work)(void *ctx),
                  void *ctx);

/* The same of one round, for work that takes seconds. */
double bench_once(double units, void (*work)(void *ctx), void *ctx);

/* A result the compiler has to compute. */
void bench_use(uint64_t x);

/* ---- bench_memory.c ------------------------------------------------------ */

/* The buffer, or NULL after a message. */
uint8_t *bench_buffer(struct bench *b);
void bench_buffer_clear(struct bench *b);

double bench_memory_read(struct bench *b, const struct bench_case *c,
                         hsy_cpu level);
double bench_memory_copy(struct bench *b, const struct bench_case *c,
                         hsy_cpu level);

/* ---- bench_kernels.c ----------------------------------------------------- */

double bench_chacha20(struct bench *b, const struct bench_case *c,
                      hsy_cpu level);
double bench_crc32c(struct bench *b, const struct bench_case *c, hsy_cpu level);
double bench_blake2b(struct bench *b, const struct bench_case *c,
                     hsy_cpu level);

/* ---- bench_scheme.c ------------------------------------------------------ */

double bench_fold(struct bench *b, const struct bench_case *c, hsy_cpu level);
double bench_randomize(struct bench *b, const struct bench_case *c,
                       hsy_cpu level);
double bench_single(struct bench *b, const struct bench_case *c, hsy_cpu level);
double bench_simulate(struct bench *b, const struct bench_case *c,
                      hsy_cpu level);
double bench_direct(struct bench *b, const struct bench_case *c, hsy_cpu level);
double bench_table(struct bench *b, const struct bench_case *c, hsy_cpu level);
double bench_decode(struct bench *b, const struct bench_case *c, hsy_cpu level);

/* ---- bench_sketch.c ------------------------------------------------------ */

double bench_wht(struct bench *b, const struct bench_case *c, hsy_cpu level);
double bench_sketch(struct bench *b, const struct bench_case *c, hsy_cpu level);

/* ---- bench_search.c ------------------------------------------------------ */

double bench_strings(struct bench *b, const struct bench_case *c,
                     hsy_cpu level);
double bench_search(struct bench *b, const struct bench_case *c, hsy_cpu level);
double bench_puzzle(struct bench *b, const struct bench_case *c, hsy_cpu level);

/* ---- bench_density.c ----------------------------------------------------- */

double bench_em(struct bench *b, const struct bench_case *c, hsy_cpu level);
double bench_ems(struct bench *b, const struct bench_case *c, hsy_cpu level);

/* ---- bench_rappor.c ------------------------------------------------------ */

double bench_rappor_fold(struct bench *b, const struct bench_case *c,
                         hsy_cpu level);
double bench_rappor_encode(struct bench *b, const struct bench_case *c,
                           hsy_cpu level);

/* ---- bench_chain.c ------------------------------------------------------- */

/* A permanent answer and a report from it, coins included, as a device does. */
double bench_chain(struct bench *b, const struct bench_case *c, hsy_cpu level);

/* ---- bench_device.c ------------------------------------------------------ */

/* hsy_device_answer; hsy_device_next and hsy_device_sent; on files of memory,
 * with `reports` tasks. */
double bench_device(struct bench *b, const struct bench_case *c, hsy_cpu level);
double bench_device_next(struct bench *b, const struct bench_case *c,
                         hsy_cpu level);

/* ---- bench_decode.c ------------------------------------------------------ */

double bench_rappor_decode(struct bench *b, const struct bench_case *c,
                           hsy_cpu level);
double bench_associate(struct bench *b, const struct bench_case *c,
                       hsy_cpu level);

/* ---- bench_seal.c -------------------------------------------------------- */

double bench_x25519(struct bench *b, const struct bench_case *c, hsy_cpu level);
double bench_hpke_seal(struct bench *b, const struct bench_case *c,
                       hsy_cpu level);
double bench_hpke_open(struct bench *b, const struct bench_case *c,
                       hsy_cpu level);
double bench_envelope(struct bench *b, const struct bench_case *c,
                      hsy_cpu level);

/* ---- bench_command.c ----------------------------------------------------- */

double bench_command(struct bench *b, const struct bench_case *c,
                     hsy_cpu level);
void bench_files_clear(struct bench *b);

#endif
