/*
 * internal.h - every kernel function by name, for the tables and the tests.
 *
 * The suffix is the level. Those of plain stand in the kernel's .c file, the
 * others in its *_vec.h, compiled once a level by vec_*.c. kernels.h says what
 * each computes.
 */
#ifndef LIB_KERNELS_INTERNAL_H
#define LIB_KERNELS_INTERNAL_H

#include "lib/kernels/kernels.h"

/* The instructions of a level, and what compiles all functions between open and
 * close for them. */
#define HSY_AVX2 "sse4.2,avx,avx2,bmi,bmi2,popcnt"
#define HSY_AVX512                                                             \
    HSY_AVX2 ",avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq"
#define HSY_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define HSY_TARGET_OPEN(level)                                                 \
    HSY_PRAGMA(clang attribute push(__attribute__((target(level))),            \
                                    apply_to = function))
#define HSY_TARGET_CLOSE HSY_PRAGMA(clang attribute pop)
#else
#define HSY_TARGET_OPEN(level)                                                 \
    HSY_PRAGMA(GCC push_options) HSY_PRAGMA(GCC target(level))
#define HSY_TARGET_CLOSE HSY_PRAGMA(GCC pop_options)
#endif

#define HSY_KERNELS_OF(level)                                                  \
    void hsy_chacha20_##level(uint8_t *out, size_t blocks,                     \
                              uint32_t state[16]);                             \
    void hsy_bernoulli_bits_##level(uint64_t *lanes, const uint64_t *planes,   \
                                    size_t words, unsigned digits,             \
                                    uint64_t threshold);                       \
    void hsy_sparse_##level(uint64_t *lanes, size_t words, uint64_t threshold, \
                            hsy_stream *st);                                   \
    size_t hsy_blanket_choices_##level(                                        \
        uint32_t *out, uint32_t *redo, const uint32_t *own,                    \
        const uint64_t *coins, size_t n, const struct kernel_choice *choice);  \
    size_t hsy_hadamard_##level(uint32_t *out, uint32_t *redo,                 \
                                const uint64_t *codes, const uint64_t *coins,  \
                                size_t n, const struct kernel_hadamard *h);    \
    void hsy_wht_##level(int64_t *cells, size_t n);                            \
    void hsy_bit_counts_##level(int64_t *cells, uint64_t *hist,                \
                                const uint8_t *rows, size_t n, size_t stride,  \
                                uint32_t d);                                   \
    size_t hsy_rows_with_popcount_##level(const uint8_t *rows, size_t n,       \
                                          size_t bytes, uint64_t ones);        \
    void hsy_cohorts_##level(int64_t *cells, uint64_t *strata,                 \
                             const uint8_t *reports, size_t n, size_t stride,  \
                             uint32_t k, uint32_t m);                          \
    void hsy_bit_counts_some_##level(int64_t *cells, const uint8_t *rows,      \
                                     const uint32_t *order, size_t n,          \
                                     size_t stride, uint32_t d);               \
    void hsy_lh_direct_##level(uint64_t *support, const uint64_t *codes,       \
                               size_t count, const struct kernel_cell *cells,  \
                               size_t n, uint32_t g, bool narrow);             \
    void hsy_lh_table_##level(uint64_t *support, const uint64_t *codes,        \
                              size_t count, const struct pool_hash *hashes,    \
                              const int64_t *table, size_t rows, uint32_t g,   \
                              bool narrow);                                    \
    void hsy_orthogonal_points_##level(uint32_t *out, const uint32_t *items,   \
                                       const uint32_t *ranks, size_t n,        \
                                       const struct kernel_geometry *g);       \
    void hsy_line_sums_##level(uint32_t *out, size_t stride,                   \
                               const uint32_t *m, uint32_t q, size_t count,    \
                               uint32_t *work)

HSY_KERNELS_OF(plain);
HSY_KERNELS_OF(portable);
HSY_KERNELS_OF(avx2);
HSY_KERNELS_OF(avx512);

uint32_t hsy_crc32c_plain(uint32_t crc, const uint8_t *data, size_t len);
uint32_t hsy_crc32c_portable(uint32_t crc, const uint8_t *data, size_t len);
uint32_t hsy_crc32c_sse42(uint32_t crc, const uint8_t *data, size_t len);

#undef HSY_KERNELS_OF

/* Whether a table computes what plain does, as far as a millisecond tells. */
bool hsy_kernels_agree(const struct hsy_kernels *k,
                       const struct hsy_kernels *plain);

#endif
