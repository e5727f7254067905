/*
 * wht.h - the frame shared by the fast Walsh-Hadamard transforms.
 *
 * A level of the transform at distance h turns each pair x[i], x[i + h] into
 * its sum and its difference. Levels may come in any order. A step takes three
 * (or two, or one) at once, eight vectors in registers: the fewer times memory
 * is walked, the better. All levels that stay within the inner cache are done
 * there before the next part is touched, then those within the outer one, so
 * the whole array is walked once for these and once for every three levels
 * above them. Sums are modulo 2^64.
 */
#ifndef LIB_KERNELS_WHT_H
#define LIB_KERNELS_WHT_H

#include <stddef.h>
#include <stdint.h>

/* One processor's loops. step[k] does the k + 1 levels from distance h on, for
 * n >= h << (k + 1) cells; h is a multiple of the vector. */
struct wht_level {
    size_t base; /* cells that `start` transforms wholly: eight vectors */
    void (*start)(uint64_t *cells, size_t n);
    void (*step[3])(uint64_t *cells, size_t n, size_t h);
};

/* The kernel wht, by the means of a level. */
void hsy_wht_with(const struct wht_level *level, int64_t *cells, size_t n);

/* ---- Loops for vectors of any width -------------------------------------- */

/* v[i], v[i + h] to sum and difference. */
#define HSY_WHT_PAIR(vector, v, i, h)                                          \
    do {                                                                       \
        vector sum_ = (v)[i] + (v)[(i) + (h)];                                 \
                                                                               \
        (v)[(i) + (h)] = (v)[i] - (v)[(i) + (h)];                              \
        (v)[i] = sum_;                                                         \
    } while (0)

/* All levels within v[0 .. 2^count - 1]; loops of fixed length unroll. */
#define HSY_WHT_VECTORS(vector, v, count)                                      \
    _Pragma("GCC unroll 3") for (size_t h_ = 1; h_ < (size_t)1 << (count);     \
                                 h_ *= 2)                                      \
        _Pragma("GCC unroll 4") for (size_t i_ = 0;                            \
                                     i_ < (size_t)1 << ((count)-1); i_++)      \
            HSY_WHT_PAIR(vector, v, i_ / h_ * 2 * h_ + i_ % h_, h_)

/* The step of `count` levels as function `name`. Vectors may stand anywhere. */
#define HSY_WHT_STEP(name, target, vector, count)                              \
    target static void name(uint64_t *cells, size_t n, size_t h)               \
    {                                                                          \
        enum { lanes_ = sizeof(vector) / 8, ways_ = 1 << (count) };            \
                                                                               \
        for (size_t group_ = 0; group_ < n; group_ += h * ways_)               \
            for (size_t at_ = group_; at_ < group_ + h; at_ += lanes_) {       \
                vector v_[ways_];                                              \
                                                                               \
                _Pragma("GCC unroll 8") for (size_t k_ = 0; k_ < ways_; k_++)  \
                    memcpy(&v_[k_], cells + at_ + k_ * h, sizeof(vector));     \
                HSY_WHT_VECTORS(vector, v_, count);                            \
                _Pragma("GCC unroll 8") for (size_t k_ = 0; k_ < ways_; k_++)  \
                    memcpy(cells + at_ + k_ * h, &v_[k_], sizeof(vector));     \
            }                                                                  \
    }

#endif
