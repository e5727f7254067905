/*
 * kernels.h - the loops worth writing for a processor, as const tables.
 *
 * Every table computes the same function, bit for bit; plain is the reference,
 * the others are one source in vectors of 16, 32 and 64 bytes (simd.h). The one
 * of AVX-512 is used after a trial against plain (known_answers.c).
 * A kernel neither allocates nor fails. Those marked secret do not branch on,
 * or index by, their data.
 */
#ifndef LIB_KERNELS_KERNELS_H
#define LIB_KERNELS_KERNELS_H

#include "hearsay.h"
#include "lib/kernels/pool.h"

/* One non-empty cell of a local-hashing tally. */
struct kernel_cell {
    struct pool_hash hash;
    uint64_t count;
    uint32_t y; /* the reported hash value */
};

/* What a batch of blanket choices needs: see family/twolevel.h. */
struct kernel_choice {
    uint64_t last;    /* largest word the coin takes */
    uint64_t blanket; /* the coin says "blanket" below this */
    uint64_t bound;   /* outputs 0 .. bound-1, below 2^32 */
    uint64_t excess;  /* 2^64 mod bound */
};

/* What a batch of Hadamard response needs: see hadamard.h and mech/hr.c. */
struct kernel_hadamard {
    uint64_t last, blanket; /* as in kernel_choice */
    uint32_t a, c;          /* the hash that turns rows of values */
    uint32_t block_bits;    /* log2 of the blocks, at most 22 */
    uint32_t index_bits;    /* log2 of their outputs, 1 to 23 */
};

/*
 * The projective geometry of t coordinates over the field of prime order q:
 * power[k] = q^k for k < t, points[k] = (q^k - 1) / (q - 1) for k <= t, the
 * points of k coordinates; points[t] <= 2^25. floor(n / q) = n magic >> shift
 * for n < 2^27. See kernels/orthogonal_points.c.
 */
#define KERNEL_COORDINATES 26

struct kernel_geometry {
    uint32_t q, t;
    uint32_t power[KERNEL_COORDINATES];
    uint32_t points[KERNEL_COORDINATES];
    uint32_t magic, shift;
};

/* Room in words for the rows that line_sums works on. */
#define KERNEL_LINE_SUMS_ROWS 16u
#define KERNEL_LINE_SUMS_WORK(q)                                               \
    (KERNEL_LINE_SUMS_ROWS * (2 * (size_t)(q) + 16))

struct hsy_kernels {
    /* blocks key-stream blocks of 64 bytes; the 64-bit counter in state[12..13]
     * moves on. Secret. */
    void (*chacha20)(uint8_t *out, size_t blocks, uint32_t state[16]);

    uint32_t (*crc32c)(uint32_t crc, const uint8_t *data, size_t len);

    /*
     * Lanes of Bernoulli bits, fixed length: from planes, `digits` arrays of
     * `words` words, least significant digit first, bit i of lanes is 1 with
     * probability threshold / 2^64; digits are the top digits of threshold,
     * the rest of it is zero. Secret.
     */
    void (*bernoulli_bits)(uint64_t *lanes, const uint64_t *planes,
                           size_t words, unsigned digits, uint64_t threshold);

    /* words lanes of the same law by early exit, for simulation only. Takes
     * what it needs from the stream. */
    void (*sparse)(uint64_t *lanes, size_t words, uint64_t threshold,
                   hsy_stream *st);

    /*
     * n choices from 2n coin words (coins[2i] the blanket coin, coins[2i+1]
     * the uniform value): out[i] = uniform if blanket, else own[i]. Returns
     * how many words were out of bounds; those i are listed in redo (room for
     * n) and their out[i] is unspecified. Secret but for redo.
     */
    size_t (*blanket_choices)(uint32_t *out, uint32_t *redo,
                              const uint32_t *own, const uint64_t *coins,
                              size_t n, const struct kernel_choice *choice);

    /* n reports of Hadamard response from codes and 2n coin words (coins[2i]
     * the blanket coin, coins[2i+1] the uniform output), with redo as
     * blanket_choices has it. Secret but for redo. */
    size_t (*hadamard)(uint32_t *out, uint32_t *redo, const uint64_t *codes,
                       const uint64_t *coins, size_t n,
                       const struct kernel_hadamard *h);

    /* The Walsh-Hadamard transform of n cells in place, n a power of two:
     * cells[i] = sum over k of (-1)^(ones of i & k) cells[k], modulo 2^64. */
    void (*wht)(int64_t *cells, size_t n);

    /*
     * Count n rows, stride bytes apart, of d bits each, spare bits zero:
     * cells[i] += how many rows have bit i; hist[w]++ for the number w of ones
     * of each row, unless hist is NULL. One pass over memory: the kernel cuts
     * its own tiles. A call has a fixed cost of some nanoseconds a cell, so
     * pass all the rows there are, 256 KiB or more where possible.
     */
    void (*bit_counts)(int64_t *cells, uint64_t *hist, const uint8_t *rows,
                       size_t n, size_t stride, uint32_t d);

    /* How many of n rows of `bytes` bytes, from the first on, have exactly
     * that many ones. */
    size_t (*rows_with_popcount)(const uint8_t *rows, size_t n, size_t bytes,
                                 uint64_t ones);

    /*
     * Count n reports, stride bytes apart, each a little-endian number: k bits
     * and above them a cohort c below m. cells[c k + b] += 1 for every bit b
     * that is set, strata[c] += 1.
     */
    void (*cohorts)(int64_t *cells, uint64_t *strata, const uint8_t *reports,
                    size_t n, size_t stride, uint32_t k, uint32_t m);

    /* Count the rows numbered order[0 .. n-1] likewise, without hist; spare
     * bits may be anything. */
    void (*bit_counts_some)(int64_t *cells, const uint8_t *rows,
                            const uint32_t *order, size_t n, size_t stride,
                            uint32_t d);

    /* support[v] += sum of cell counts over cells whose hash of codes[v] is y.
     * narrow: all codes are below HSY_POOL_NARROW. */
    void (*lh_direct)(uint64_t *support, const uint64_t *codes, size_t count,
                      const struct kernel_cell *cells, size_t n, uint32_t g,
                      bool narrow);

    /* The same from a whole table, `rows` rows of g counts, row i belonging to
     * hashes[i]. Counts are below 2^63 in sum. */
    void (*lh_table)(uint64_t *support, const uint64_t *codes, size_t count,
                     const struct pool_hash *hashes, const int64_t *table,
                     size_t rows, uint32_t g, bool narrow);

    /* out[i] = the point number ranks[i] of those orthogonal to items[i]; both
     * are numbers of points, ranks below points[t - 1]. Secret. */
    void (*orthogonal_points)(uint32_t *out, const uint32_t *items,
                              const uint32_t *ranks, size_t n,
                              const struct kernel_geometry *g);

    /*
     * The discrete Radon transform of `count` matrices of q rows and columns,
     * one behind the other: sums along all lines, modulo 2^32. Of matrix c,
     *     out[s stride + c q + z] = sum over e of m[c][e][(z - s e) mod q].
     * work: KERNEL_LINE_SUMS_WORK(q) words.
     */
    void (*line_sums)(uint32_t *out, size_t stride, const uint32_t *m,
                      uint32_t q, size_t count, uint32_t *work);
};

/* The table of a level the machine has (hsy_cpu_has). */
const struct hsy_kernels *hsy_kernels_at(hsy_cpu level);

/* One point of the kernel orthogonal_points, and the reference of the kernel
 * blanket_choices, for who takes one report at a time: no table is asked for.
 */
uint32_t hsy_orthogonal_point(uint32_t item, uint32_t rank,
                              const struct kernel_geometry *g);
size_t hsy_blanket_choices_plain(uint32_t *out, uint32_t *redo,
                                 const uint32_t *own, const uint64_t *coins,
                                 size_t n, const struct kernel_choice *choice);

#endif
