/* orthogonal_points_vec.h - orthogonal points in vectors; orthogonal_points.c
 * says why. Numbers stay below 2^31, so signed comparisons serve. */
#include "lib/kernels/simd.h"

SIMD_INLINE simd32 K(orthogonal_quotient)(simd32 n,
                                          const struct kernel_geometry *g)
{
    const simd64 magic = (simd64){0} + g->magic;
    simd64 even = simd_mul32((simd64)n, magic) >> g->shift;
    simd64 odd = simd_mul32((simd64)n >> 32, magic) >> g->shift;

    return (simd32)(even | odd << 32);
}

/* x where a >= b, else 0. */
SIMD_INLINE simd32 K(orthogonal_from)(simd32 a, uint32_t b, simd32 x)
{
    return (simd32)((simd_signed32)a >= (int32_t)b) & x;
}

SIMD_INLINE simd32 K(orthogonal_all)(uint32_t x)
{
    return (simd32){0} + x;
}

/* The point before its rank is taken, from w and the item. */
SIMD_INLINE simd32 K(orthogonal_form)(simd32 w, simd32 item,
                                      const struct kernel_geometry *g)
{
    const uint32_t q = g->q, t = g->t;
    simd32 digit[KERNEL_COORDINATES], quotient, x = w, before = w;
    simd32 rest = item, place = K(orthogonal_all)(g->power[t - 1]), sum = {0};

    for (uint32_t i = 1; i < t; i++) {
        simd32 less = K(orthogonal_all)(g->power[t - i] - g->power[t - 1 - i]);

        rest -= K(orthogonal_from)(item, g->points[i],
                                   K(orthogonal_all)(g->power[i - 1]));
        place -= K(orthogonal_from)(item, g->points[i], less);
    }
    for (uint32_t i = 0; i + 1 < t; i++) {
        simd_signed32 cut = (simd_signed32)item < (int32_t)g->points[t - 1 - i];

        quotient = K(orthogonal_quotient)(x, g);
        digit[i] = x - quotient * q;
        x = quotient;
        before = (simd32)simd_select((simd64)cut, (simd64)(x * g->power[i + 1]),
                                     (simd64)before);
    }
    for (uint32_t i = 0; i + 1 < t; i++) {
        quotient = K(orthogonal_quotient)(rest, g);
        sum += (rest - quotient * q) * digit[t - 2 - i];
        rest = quotient;
    }
    sum -= K(orthogonal_quotient)(sum, g) * q;
    sum = K(orthogonal_from)(sum, 1, q - sum);
    return w + before * (q - 1) + sum * place;
}

SIMD_INLINE simd32 K(orthogonal_vector)(simd32 item, simd32 rank,
                                        const struct kernel_geometry *g)
{
    simd32 w = rank + 1, form;

    for (uint32_t i = 1; i + 1 < g->t; i++)
        w +=
            K(orthogonal_from)(rank, g->points[i],
                               K(orthogonal_all)(g->power[i - 1] * (g->q - 2)));
    form = K(orthogonal_form)(w, item, g);
    rank = form - 1;
    for (uint32_t i = 1; i < g->t; i++)
        rank -= K(orthogonal_from)(
            form, g->power[i], K(orthogonal_all)(g->power[i - 1] * (g->q - 2)));
    return rank;
}

void K(hsy_orthogonal_points)(uint32_t *out, const uint32_t *items,
                              const uint32_t *ranks, size_t n,
                              const struct kernel_geometry *g)
{
    size_t i = 0;

    for (; n - i >= SIMD_HALVES; i += SIMD_HALVES)
        simd_store(out + i, (simd64)K(orthogonal_vector)(
                                (simd32)simd_load(items + i),
                                (simd32)simd_load(ranks + i), g));
    hsy_orthogonal_points_plain(out + i, items + i, ranks + i, n - i, g);
}
