/*
 * orthogonal_points.c - points of a projective geometry orthogonal to a given
 * one, any machine.
 *
 * A report's point u is a vector of F_q^t whose first non-zero coordinate is 1;
 * an item's point v one whose last is. Their numbers come from base-q digits:
 * with k coordinates between the 1 and the far end, number = points[k] + those
 * k digits. For u the digit of q^i is coordinate t-1-i, for v coordinate i.
 * The "number form" of u is the same with q^k for points[k]: its digits are
 * all the coordinates.
 *
 * Let j be v's last non-zero position, and w the vector number `rank` with t-1
 * coordinates. Then u is w with one coordinate inserted at j:
 *
 *     u_j = - sum over i < j of w_i v_i  mod q.
 *
 * u is orthogonal to v. It begins with 1: either w's leading 1 stands before j
 * and still leads, or all w_i before j are 0, then so is u_j, and w's leading 1
 * stands behind it. Taking u_j out again gives w back, so the map from ranks to
 * the orthogonal points is one to one and, being onto as well (a u orthogonal
 * to v has just this u_j), counts them all. docs/mechanisms/pgr.md, Lemma 1
 *
 * Digits by a public divisor, comparisons with all bounds, choices by masks:
 * the steps depend on q and t only. Numbers stay below 2 q^(t-1) < 2^26, sums
 * of products below (t-1) q^2 < 2^27.
 */
#include "lib/bits/ct.h"
#include "lib/kernels/internal.h"

static inline uint32_t orthogonal_quotient(uint32_t n,
                                           const struct kernel_geometry *g)
{
    return (uint32_t)((uint64_t)n * g->magic >> g->shift);
}

/* x if a >= b, else 0. */
static inline uint32_t orthogonal_from(uint32_t a, uint32_t b, uint32_t x)
{
    return (uint32_t)ct_hide(~ct_less(a, b)) & x;
}

/* The number form of number r among the points of k coordinates: the step from
 * points[i] to points[i+1] grows from q^i to q^(i+1) - q^i. */
static uint32_t orthogonal_unrank(uint32_t r, uint32_t k,
                                  const struct kernel_geometry *g)
{
    uint32_t form = r + 1;

    for (uint32_t i = 1; i < k; i++)
        form += orthogonal_from(r, g->points[i], g->power[i - 1] * (g->q - 2));
    return form;
}

static uint32_t orthogonal_rank(uint32_t form, const struct kernel_geometry *g)
{
    uint32_t r = form - 1;

    for (uint32_t i = 1; i < g->t; i++)
        r -= orthogonal_from(form, g->power[i], g->power[i - 1] * (g->q - 2));
    return r;
}

uint32_t hsy_orthogonal_point(uint32_t item, uint32_t rank,
                              const struct kernel_geometry *g)
{
    const uint32_t q = g->q, t = g->t;
    uint32_t w = orthogonal_unrank(rank, t - 1, g), x = w;
    uint32_t before = w;              /* w with zeros from coordinate j on */
    uint32_t rest = item;             /* v's digits without the last 1 */
    uint32_t place = g->power[t - 1]; /* of u_j: q^(t-1-j) */
    uint32_t digit[KERNEL_COORDINATES], sum = 0, quotient;

    for (uint32_t i = 1; i < t; i++) {
        rest -= orthogonal_from(item, g->points[i], g->power[i - 1]);
        place -= orthogonal_from(item, g->points[i],
                                 g->power[t - i] - g->power[t - 1 - i]);
    }
    for (uint32_t i = 0; i + 1 < t; i++) {
        quotient = orthogonal_quotient(x, g);
        digit[i] = x - quotient * q;
        x = quotient;
        /* Cut one digit more, as long as j <= t-2-i. */
        before -= orthogonal_from(g->points[t - 1 - i] - 1, item,
                                  before - x * g->power[i + 1]);
    }
    for (uint32_t i = 0; i + 1 < t; i++) {
        quotient = orthogonal_quotient(rest, g);
        sum += (rest - quotient * q) * digit[t - 2 - i];
        rest = quotient;
    }
    sum -= orthogonal_quotient(sum, g) * q;
    sum = orthogonal_from(sum, 1, q - sum);
    return orthogonal_rank(w + before * (q - 1) + sum * place, g);
}

void hsy_orthogonal_points_plain(uint32_t *out, const uint32_t *items,
                                 const uint32_t *ranks, size_t n,
                                 const struct kernel_geometry *g)
{
    for (size_t i = 0; i < n; i++)
        out[i] = hsy_orthogonal_point(items[i], ranks[i], g);
}
