/* wht_vec.h - the Walsh-Hadamard transform in vectors; see wht.h. */
#include "lib/kernels/simd.h"

/* One level inside a vector: x with the lanes of each pair exchanged, plus x
 * with the second of each pair, where the sign is -1, negated. */
#define WHT_LEVEL(x, sign, ...)                                                \
    ((((x) ^ (sign)) - (sign)) + __builtin_shufflevector(x, x, __VA_ARGS__))

SIMD_INLINE simd64 K(wht_inside)(simd64 x)
{
    const uint64_t m = UINT64_MAX;

#if SIMD_BYTES == 16
    return WHT_LEVEL(x, ((simd64){0, m}), 1, 0);
#elif SIMD_BYTES == 32
    x = WHT_LEVEL(x, ((simd64){0, m, 0, m}), 1, 0, 3, 2);
    return WHT_LEVEL(x, ((simd64){0, 0, m, m}), 2, 3, 0, 1);
#else
    x = WHT_LEVEL(x, ((simd64){0, m, 0, m, 0, m, 0, m}), 1, 0, 3, 2, 5, 4, 7,
                  6);
    x = WHT_LEVEL(x, ((simd64){0, 0, m, m, 0, 0, m, m}), 2, 3, 0, 1, 6, 7, 4,
                  5);
    return WHT_LEVEL(x, ((simd64){0, 0, 0, 0, m, m, m, m}), 4, 5, 6, 7, 0, 1, 2,
                     3);
#endif
}

#undef WHT_LEVEL

/* All levels within v[0 .. ways - 1]. */
SIMD_INLINE void K(wht_across)(simd64 *v, size_t ways)
{
    SIMD_UNROLL
    for (size_t h = 1; h < ways; h *= 2) {
        SIMD_UNROLL
        for (size_t k = 0; k < ways / 2; k++) {
            size_t i = k / h * 2 * h + k % h;
            simd64 sum = v[i] + v[i + h];

            v[i + h] = v[i] - v[i + h];
            v[i] = sum;
        }
    }
}

static void K(wht_start)(uint64_t *cells, size_t n)
{
    for (uint64_t *at = cells; at < cells + n; at += 8 * SIMD_WORDS) {
        simd64 v[8];

        SIMD_UNROLL
        for (size_t k = 0; k < 8; k++)
            v[k] = K(wht_inside)(simd_load(at + k * SIMD_WORDS));
        K(wht_across)(v, 8);
        SIMD_UNROLL
        for (size_t k = 0; k < 8; k++)
            simd_store(at + k * SIMD_WORDS, v[k]);
    }
}

SIMD_INLINE void K(wht_step)(uint64_t *cells, size_t n, size_t h, size_t ways)
{
    for (size_t group = 0; group < n; group += h * ways)
        for (size_t at = group; at < group + h; at += SIMD_WORDS) {
            simd64 v[8];

            SIMD_UNROLL
            for (size_t k = 0; k < ways; k++)
                v[k] = simd_load(cells + at + k * h);
            K(wht_across)(v, ways);
            SIMD_UNROLL
            for (size_t k = 0; k < ways; k++)
                simd_store(cells + at + k * h, v[k]);
        }
}

static void K(wht_step2)(uint64_t *cells, size_t n, size_t h)
{
    K(wht_step)(cells, n, h, 2);
}

static void K(wht_step4)(uint64_t *cells, size_t n, size_t h)
{
    K(wht_step)(cells, n, h, 4);
}

static void K(wht_step8)(uint64_t *cells, size_t n, size_t h)
{
    K(wht_step)(cells, n, h, 8);
}

void K(hsy_wht)(int64_t *cells, size_t n)
{
    static const struct wht_level level = {
        .base = 8 * SIMD_WORDS,
        .start = K(wht_start),
        .step = {K(wht_step2), K(wht_step4), K(wht_step8)},
    };

    hsy_wht_with(&level, cells, n);
}
