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

#endif
