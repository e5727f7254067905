/*
 * projective_sizes.c - geometries: their sizes and variances, and the search
 * for the best (theory 3.7, 3.8).
 *
 * A choice is made in integers: it comes out the same everywhere. Of geometries
 * that cost the same it is that of the least q, then of the least t, then of
 * the fewest blocks.
 */
#include "lib/core/exp.h"
#include "lib/core/fail.h"
#include "lib/family/projective.h"
#include "lib/family/twolevel.h"
#include "lib/scheme/report.h"

/* Most q of a hybrid, if chosen: its variance is about 1/q above the least
 * there is, its decoding q steps a point and level. */
#define PROJECTIVE_SMALL 61
#define PROJECTIVE_SPARE 8       /* at most so many points a value, if chosen */
#define PROJECTIVE_LINE_MAX 5791 /* q^2 + q + 1 <= 2^25 */

/* (q^k - 1) / (q - 1), or UINT64_MAX if it is above 2^25; q <= 2^25. */
static uint64_t projective_points(uint64_t q, uint64_t k)
{
    uint64_t points = 0;

    for (uint64_t i = 0; i < k; i++) {
        points = points * q + 1;
        if (points > PROJECTIVE_POINTS_MAX)
            return UINT64_MAX;
    }
    return points;
}

struct projective_sizes hsy_projective_sizes(uint64_t q, uint64_t t)
{
    return (struct projective_sizes){.points = projective_points(q, t),
                                     .set = projective_points(q, t - 1),
                                     .meet = projective_points(q, t - 2)};
}

struct projective_sizes hsy_projective_resolved(const hsy_scheme *s)
{
    return hsy_projective_sizes(s->param[HSY_PARAM_Q], s->param[HSY_PARAM_T]);
}

double hsy_projective_rho(const hsy_scheme *s)
{
    return (double)s->two.weight / (double)twolevel_other(s);
}

/* The second moment of a report that lies in the block and is orthogonal with
 * probability a, in the block only with probability b. */
static double projective_moment(const double value[3], double a, double b,
                                double neither)
{
    return value[0] * value[0] * a + value[1] * value[1] * b +
           value[2] * value[2] * neither;
}

/*
 * Theory 3.8 with every probability a sum of positive terms over
 * Z = h b + (rho - 1) set. The three values of a report, times
 * (rho - 1) (set - meet) / Z, are
 *     orthogonal  1 - meet/set + g,   in the block  -meet/set + g,   else g,
 *     Z g = b meet/set - set.
 */
struct projective_variance
hsy_projective_variance(const struct projective_sizes *sizes, double blocks,
                        double rho)
{
    double b = (double)sizes->points, set = (double)sizes->set;
    double meet = (double)sizes->meet, more = rho - 1;
    double z = b * blocks + more * set, scale = z / (more * (set - meet));
    double g = (b * meet / set - set) / z;
    const double value[3] = {scale * ((set - meet) / set + g),
                             scale * (g - meet / set), scale * g};
    double away = b * (blocks - 1);

    return (struct projective_variance){
        .own =
            projective_moment(value, rho * set / z, (b - set) / z, away / z) -
            1,
        .same =
            projective_moment(value, (more * meet + set) / z,
                              (b - set + more * (set - meet)) / z, away / z),
        .other = projective_moment(value, set / z, (b - set) / z,
                                   (away + more * set) / z)};
}

/* ---- The search ---------------------------------------------------------- */

static bool projective_prime(uint64_t q)
{
    if (q < 4)
        return q >= 2;
    for (uint64_t i = 2; i * i <= q; i++)
        if (q % i == 0)
            return false;
    return true;
}

/*
 * What a geometry costs: its variance at share 0, the others spread evenly over
 * the blocks, times u^2, u = rho - 1, which is the same for all of them. With b
 * points, k own outputs of a value, m that two values of a block share and
 * n = k - m = q^(t-2), the sum that hsy_projective_variance makes of its three
 * moments is, by k^2 - b m = n and b - k = q n,
 *
 *     (u^2 m / h + u (2 k - 1) + h (b - 1) + (h - 1) n / k^2) / n.
 *
 * rho = A / 2^s, so with U = A - 2^s it is a fraction over 2^(2s) h n k^2 (the
 * power is the same for all, too) with the numerator
 *
 *     U^2 m k^2 + U 2^s (2 k - 1) h k^2 + 2^(2s) (h^2 (b - 1) k^2 + h (h - 1)
 * n).
 *
 * A < 2^47, and h b <= 2^25 bounds h k, h n, h m too: each summand is a product
 * of a factor below 2^94 and one below 2^77, and a numerator times another's
 * denominator, below 2^75, is below 2^250.
 */
struct projective_cost {
    uint64_t num[4]; /* lowest word first */
    hsy_u128 den;
};

/* num += a b 2^(64 at) */
static void projective_cost_words(uint64_t num[4], uint64_t a, uint64_t b,
                                  size_t at)
{
    hsy_u128 carry = (hsy_u128)a * b;

    for (; at < 4; at++) {
        carry += num[at];
        num[at] = (uint64_t)carry;
        carry >>= 64;
    }
}

/* num += a b */
static void projective_cost_add(uint64_t num[4], hsy_u128 a, hsy_u128 b)
{
    for (size_t i = 0; i < 4; i++)
        projective_cost_words(num, (uint64_t)(a >> 64 * (i / 2)),
                              (uint64_t)(b >> 64 * (i % 2)), i / 2 + i % 2);
}

/* Whether a < b: cross-multiplied, nothing is rounded. */
static bool projective_cost_less(const struct projective_cost *a,
                                 const struct projective_cost *b)
{
    uint64_t one[4] = {0}, two[4] = {0};
    size_t i = 3;

    for (size_t k = 0; k < 8; k++) {
        projective_cost_words(one, a->num[k / 2],
                              (uint64_t)(b->den >> 64 * (k % 2)),
                              k / 2 + k % 2);
        projective_cost_words(two, b->num[k / 2],
                              (uint64_t)(a->den >> 64 * (k % 2)),
                              k / 2 + k % 2);
    }
    while (i > 0 && one[i] == two[i])
        i--;
    return one[i] < two[i];
}

/* What is searched, and the best so far. */
struct projective_search {
    uint64_t d;
    uint64_t most;      /* points of all blocks */
    uint64_t enough;    /* the same where the number of blocks is chosen */
    uint64_t t, blocks; /* 0: any */
    bool hybrid;
    uint64_t weight;     /* floor(e^epsilon) */
    uint64_t own, other; /* rho = own / other, at most e^epsilon */
    bool found;
    struct projective_cost least;
    uint64_t best[3]; /* q, t, blocks */
};

/* Whether the law's integers fit: total < 2^63 with no binary digit behind the
 * point of rho (hsy_twolevel_resolve). */
static bool projective_fits(const struct projective_sizes *sizes,
                            uint64_t blocks, uint64_t weight)
{
    hsy_u128 total = (hsy_u128)sizes->set * weight + blocks * sizes->points;

    return total >> 63 == 0;
}

static struct projective_cost
projective_cost(const struct projective_search *x,
                const struct projective_sizes *sizes, uint64_t blocks)
{
    const uint64_t b = sizes->points, k = sizes->set, m = sizes->meet;
    const uint64_t n = k - m, h = blocks, U = x->own - x->other;
    const hsy_u128 square = (hsy_u128)k * k;
    struct projective_cost cost = {.den = h * n * square};

    projective_cost_add(cost.num, (hsy_u128)U * U, m * square);
    projective_cost_add(cost.num, (hsy_u128)U * x->other,
                        (hsy_u128)(2 * k - 1) * h * square);
    projective_cost_add(cost.num, (hsy_u128)x->other * x->other,
                        (hsy_u128)h * h * (b - 1) * square + h * (h - 1) * n);
    return cost;
}

static void projective_try(struct projective_search *x, uint64_t q, uint64_t t,
                           const struct projective_sizes *sizes,
                           uint64_t blocks)
{
    const struct projective_cost cost = projective_cost(x, sizes, blocks);

    if (!projective_fits(sizes, blocks, x->weight) ||
        (x->found && !projective_cost_less(&cost, &x->least)))
        return;
    x->found = true;
    x->least = cost;
    x->best[0] = q;
    x->best[1] = t;
    x->best[2] = blocks;
}

/* The number of blocks, first to last, from which on more cost more: by h the
 * cost is c / h + c' h and a constant, which is convex. */
static uint64_t projective_blocks(const struct projective_search *x,
                                  const struct projective_sizes *sizes,
                                  uint64_t first, uint64_t last)
{
    while (first < last) {
        const uint64_t middle = first + (last - first) / 2;
        const struct projective_cost here = projective_cost(x, sizes, middle);
        const struct projective_cost more =
            projective_cost(x, sizes, middle + 1);

        if (projective_cost_less(&more, &here))
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* The best number of blocks that hold d values, or the one that is given. */
static void projective_try_blocks(struct projective_search *x, uint64_t q,
                                  uint64_t t)
{
    struct projective_sizes sizes = hsy_projective_sizes(q, t);
    uint64_t first = (x->d + sizes.points - 1) / sizes.points;
    uint64_t last = x->most / sizes.points, blocks = 1;

    if (x->blocks != 0)
        blocks = x->blocks;
    else if (x->hybrid && first <= x->enough / sizes.points)
        blocks = projective_blocks(x, &sizes, first, x->enough / sizes.points);
    else if (x->hybrid)
        blocks = first;
    if (blocks >= first && blocks <= last)
        projective_try(x, q, t, &sizes, blocks);
}

/* The numbers of coordinates that come into question with q. In one block the
 * fewest that give d points; more only make the set's share coarser. */
static void projective_try_order(struct projective_search *x, uint64_t q)
{
    uint64_t t = x->t != 0 ? x->t : 2;

    for (;; t++) {
        uint64_t points = projective_points(q, t);

        if (points > x->most)
            return;
        if (x->hybrid || points >= x->d || x->t != 0)
            projective_try_blocks(x, q, t);
        if (x->t != 0 || (!x->hybrid && points >= x->d))
            return;
    }
}

/* The least prime from q on. */
static uint64_t projective_prime_from(uint64_t q)
{
    while (!projective_prime(q))
        q++;
    return q;
}

/* Whether t is given, or q <= 4 rho + 8. */
static bool projective_near(const struct projective_search *x, uint64_t q)
{
    return x->t != 0 || q <= 8 || (q - 8) * x->other <= 4 * x->own;
}

/*
 * Two coordinates are generalized randomized response over q + 1 outputs: of
 * those the least q is the best. From three on q is at most 5791, and at most
 * 4 rho + 8 unless t is given: the best is near rho + 1.
 */
static void projective_search(struct projective_search *x, uint64_t q)
{
    if (q != 0) {
        projective_try_order(x, q);
        return;
    }
    for (q = 2; q <= PROJECTIVE_LINE_MAX && projective_near(x, q); q++)
        if ((!x->hybrid || q <= PROJECTIVE_SMALL) && projective_prime(q))
            projective_try_order(x, q);
    if (!x->hybrid && (x->t == 0 || x->t == 2))
        projective_try_order(x,
                             projective_prime_from(x->d <= 3 ? 2 : x->d - 1));
}

/* ---- Resolving ----------------------------------------------------------- */

static hsy_status projective_check(const struct projective_search *x,
                                   uint64_t q, hsy_error *err)
{
    if (q > PROJECTIVE_POINTS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_Q,
                              "a field of more than 2^25 elements",
                              PROJECTIVE_POINTS_MAX);
    if (q != 0 && !projective_prime(q))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_Q,
                        "the order of the field must be a prime");
    if (x->t == 1)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_T,
                               "a point has at least 2 coordinates", 2);
    if (x->t > PROJECTIVE_T_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_T,
                               "a point has at most 25 coordinates",
                               PROJECTIVE_T_MAX);
    if (x->blocks > PROJECTIVE_POINTS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_BLOCKS,
                              "more than 2^25", PROJECTIVE_POINTS_MAX);
    return HSY_OK;
}

/* Why what was given leads to no geometry. */
static hsy_status projective_none(const struct projective_search *x, uint64_t q,
                                  hsy_error *err)
{
    uint64_t points = projective_points(q != 0 ? q : 2, x->t != 0 ? x->t : 2);
    uint64_t blocks = x->blocks != 0 ? x->blocks : 1;

    if (points > x->most)
        return hsy_fail_limit(err, HSY_E_RANGE,
                              x->t != 0 ? HSY_FIELD_T : HSY_FIELD_Q,
                              "more than 2^25 points", x->most);
    if (points > x->most / blocks)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_BLOCKS,
                              "more than 2^25 points in all blocks together",
                              x->most / points);
    if (q != 0 && x->t != 0 && points * blocks < x->d)
        return hsy_fail(
            err, HSY_E_RANGE, x->hybrid ? HSY_FIELD_BLOCKS : HSY_FIELD_T,
            x->hybrid ? "fewer points than values: take more blocks, or "
                        "a larger t or q"
                      : "fewer points than values: take a larger t or "
                        "q");
    return hsy_fail(err, HSY_E_RANGE,
                    q != 0      ? HSY_FIELD_Q
                    : x->t != 0 ? HSY_FIELD_T
                                : HSY_FIELD_BLOCKS,
                    "no geometry of at most 2^25 points fits the domain and "
                    "epsilon; leave it to hearsay");
}

static struct kernel_geometry projective_geometry(uint64_t q, uint64_t t)
{
    struct kernel_geometry g = {
        .q = (uint32_t)q, .t = (uint32_t)t, .shift = 27};
    uint64_t power = 1;

    for (uint32_t k = 0; k <= t; k++) {
        g.points[k] = (uint32_t)projective_points(q, k);
        g.power[k] = k < t ? (uint32_t)power : 0;
        power *= q;
    }
    /* magic q - 2^shift < q <= 2^(shift-27): exact below 2^27. */
    while ((uint64_t)1 << (g.shift - 27) < q)
        g.shift++;
    g.magic = (uint32_t)((((uint64_t)1 << g.shift) + q - 1) / q);
    return g;
}

static void projective_settle(hsy_scheme *s, const uint64_t chosen[3])
{
    struct projective_sizes sizes = hsy_projective_sizes(chosen[0], chosen[1]);
    uint64_t blocks = chosen[2], outputs = blocks * sizes.points;

    s->param[HSY_PARAM_Q] = chosen[0];
    s->param[HSY_PARAM_T] = chosen[1];
    hsy_twolevel_resolve(s, outputs, sizes.set);
    s->law = LAW_PROJECTIVE;
    s->projective.space = (struct projective){
        .geometry = projective_geometry(chosen[0], chosen[1]),
        .set = sizes.set,
        .set_excess = hsy_prob_excess(sizes.set),
        .blocks = (uint32_t)blocks,
        .spread = spread_of(s->d),
        .room = spread_divisor_of((s->d + blocks - 1) / blocks)};
    s->report_bits = report_bits_of(outputs);
    s->report_bytes = report_bytes_of(s->report_bits);
    s->cells = outputs;
}

hsy_status hsy_projective_resolve(hsy_scheme *s, const hsy_spec *spec,
                                  bool hybrid, hsy_error *err)
{
    uint64_t q = spec->param[HSY_PARAM_Q], half_nano = 2 * s->nano_epsilon;
    unsigned shift = hsy_exp_shift(half_nano);
    struct projective_search x = {.d = s->d,
                                  .t = spec->param[HSY_PARAM_T],
                                  .blocks = spec->param[HSY_PARAM_BLOCKS],
                                  .hybrid = hybrid,
                                  .weight = hsy_exp_weight(half_nano, 0),
                                  .own = hsy_exp_weight(half_nano, shift),
                                  .other = (uint64_t)1 << shift,
                                  .most = PROJECTIVE_POINTS_MAX,
                                  .enough = PROJECTIVE_SPARE * (uint64_t)s->d};
    hsy_status st = projective_check(&x, q, err);

    if (st != HSY_OK)
        return st;
    if (x.enough > x.most)
        x.enough = x.most;
    if (q == 0 && x.t == 0 && x.blocks == 0)
        x.most = x.enough;
    projective_search(&x, q);
    if (!x.found)
        return projective_none(&x, q, err);
    projective_settle(s, x.best);
    if (hybrid)
        s->param[HSY_PARAM_BLOCKS] = x.best[2];
    return HSY_OK;
}
