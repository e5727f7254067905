/*
 * projective.c - reports of projective geometry response and its hybrid.
 *
 * A value's own outputs are the points orthogonal to it, in its block. Which of
 * them it would be is drawn first, a number below their count, and turned into
 * the point by a kernel (kernels/orthogonal_points.c); then the two-level
 * engine chooses between it and a uniform point of all blocks.
 *
 * Report: block times b plus the point's number, ceil(log2 K) bits.
 */
#include "lib/family/projective.h"

#include "lib/bits/bytes.h"
#include "lib/bits/draw.h"
#include "lib/family/twolevel.h"
#include "lib/kernels/kernels.h"
#include "lib/scheme/report.h"

/* A report from three words in one draw: a rank, a coin, a uniform point. A
 * word out of bounds is drawn anew, which depends on nothing else. */
static hsy_status projective_one(const hsy_scheme *s, uint8_t *report,
                                 uint64_t code, hsy_coins *coins)
{
    const struct projective *p = &s->projective.space;
    struct {
        uint64_t words[3], below;
        uint32_t item, rank, own, out;
    } w = {.out = 0};
    uint32_t redo;
    hsy_u128 product;
    hsy_status st = draw_words(w.words, 3, &coins->secret);

    if (st != HSY_OK)
        return st;
    product = (hsy_u128)w.words[0] * p->set;
    w.below = (uint64_t)(product >> 64);
    if (ct_public(ct_less((uint64_t)product, p->set_excess)) != 0)
        st = hsy_prob_below(&w.below, p->set, p->set_excess, &coins->secret);
    w.rank = (uint32_t)w.below;
    w.own = projective_place(p, code, &w.item) * projective_points_of(p);
    w.own += hsy_orthogonal_point(w.item, w.rank, &p->geometry);
    if (st == HSY_OK &&
        hsy_blanket_choices_plain(&w.out, &redo, &w.own, w.words + 1, 1,
                                  &s->two.choice) != 0)
        st = hsy_twolevel_draw(s, &w.out, w.own, &coins->secret);
    if (st == HSY_OK)
        report_put(report, s->report_bytes, w.out);
    bytes_wipe(&w, sizeof w);
    return st;
}

/* Room for one block; holds truths and coins, so wipe it. */
struct projective_work {
    uint32_t item[TWOLEVEL_BLOCK];
    uint32_t rank[TWOLEVEL_BLOCK];
    uint32_t first[TWOLEVEL_BLOCK]; /* of the value's block */
};

/* n numbers below the size of a set. Lemire's rejection (prob.h) depends on
 * nothing but the word. */
static hsy_status projective_ranks(const struct projective *p, uint32_t *rank,
                                   struct twolevel_block *block, size_t n,
                                   hsy_rng *rng)
{
    hsy_status st = draw_words(block->coins, n, rng);
    size_t again = 0;

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        hsy_u128 product = (hsy_u128)block->coins[i] * p->set;

        rank[i] = (uint32_t)(product >> 64);
        block->redo[again] = (uint32_t)i;
        again += ct_public(ct_less((uint64_t)product, p->set_excess)) & 1;
    }
    for (size_t i = 0; i < again && st == HSY_OK; i++) {
        uint64_t below = 0;

        st = hsy_prob_below(&below, p->set, p->set_excess, rng);
        rank[block->redo[i]] = (uint32_t)below;
        bytes_wipe(&below, sizeof below);
    }
    return st;
}

/* The own outputs of n values, from ranks. */
static hsy_status projective_own(const hsy_scheme *s,
                                 struct twolevel_block *block,
                                 const uint64_t *codes, size_t n,
                                 hsy_coins *coins)
{
    const struct projective *p = &s->projective.space;
    const uint32_t points = projective_points_of(p);
    struct projective_work w;
    hsy_status st = projective_ranks(p, w.rank, block, n, &coins->secret);

    if (st != HSY_OK) {
        bytes_wipe(w.rank, n * sizeof *w.rank);
        return st;
    }
    for (size_t i = 0; i < n; i++)
        w.first[i] = points * projective_place(p, codes[i], &w.item[i]);
    s->kernels->orthogonal_points(block->own, w.item, w.rank, n, &p->geometry);
    for (size_t i = 0; i < n; i++)
        block->own[i] += w.first[i];
    bytes_wipe(w.item, n * sizeof *w.item);
    bytes_wipe(w.rank, n * sizeof *w.rank);
    bytes_wipe(w.first, n * sizeof *w.first);
    return HSY_OK;
}

hsy_status hsy_projective_randomize(const hsy_scheme *s, uint8_t *reports,
                                    const uint64_t *codes, size_t n,
                                    hsy_coins *coins)
{
    return n == 1 ? projective_one(s, reports, codes[0], coins)
                  : hsy_twolevel_randomize(s, reports, codes, n, coins,
                                           projective_own, 0);
}

/* Coordinates by definition, not by the kernel: of a point number, the first
 * non-zero one being 1. An item has them in reverse. */
static void projective_vector(const struct kernel_geometry *g, uint64_t number,
                              uint64_t vector[KERNEL_COORDINATES])
{
    uint32_t k = 0;

    while (k + 1 < g->t && number >= g->points[k + 1])
        k++;
    number -= g->points[k];
    for (uint32_t i = 0; i < g->t; i++) {
        vector[g->t - 1 - i] = i < k ? number % g->q : i == k;
        number /= g->q;
    }
}

static bool projective_orthogonal(const struct kernel_geometry *g,
                                  uint64_t point, uint64_t item)
{
    uint64_t u[KERNEL_COORDINATES], v[KERNEL_COORDINATES], sum = 0;

    projective_vector(g, point, u);
    projective_vector(g, item, v);
    for (uint32_t i = 0; i < g->t; i++)
        sum += u[i] * v[g->t - 1 - i];
    return sum % g->q == 0;
}

size_t hsy_projective_law(const hsy_scheme *s, hsy_factor *factors,
                          uint64_t code, const uint8_t *report)
{
    const struct projective *p = &s->projective.space;
    const uint32_t points = projective_points_of(p);
    uint64_t value = report_get(report, s->report_bytes);
    uint32_t item, block = projective_place(p, code, &item);
    bool own = value / points == block &&
               projective_orthogonal(&p->geometry, value % points, item);

    factors[0].num = own ? twolevel_own(s) : twolevel_other(s);
    factors[0].den = s->total;
    return 1;
}

/* Reached: no two values have the same set. */
double hsy_projective_steps(const hsy_scheme *s, double n)
{
    (void)n;
    return (double)s->cells * (1 + (double)s->param[HSY_PARAM_Q] *
                                       (double)(s->param[HSY_PARAM_T] - 2));
}

const struct mech_counting hsy_mech_projective_counting = {
    .check = hsy_outputs_check,
    .tally = hsy_outputs_tally,
};
