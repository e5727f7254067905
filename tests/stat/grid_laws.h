/*
 * grid_laws.h - the expected squared error of every mechanism, for test_grid.c:
 * formulas of theory 2 and 3 and of docs/mechanisms, in real numbers.
 */
#ifndef GRID_LAWS_H
#define GRID_LAWS_H

#include "rig/stat.h"

/* What a formula says of a scheme, times n. */
struct grid_law {
    double v0, v1;  /* as hsy_scheme_info states them; else NAN */
    double mean;    /* of the squared error, over all values */
    double collide; /* more for public hashes, times n and sum f_u^2 */
    double pool;    /* standard deviation over pools, relative, where a pool is
                       fixed: the formulas are means over pools */
};

/* A setting: n people of a scheme. */
struct grid_case {
    const hsy_scheme *s;
    hsy_scheme_info info; /* for resolved parameters */
    double E;             /* e^epsilon */
    double d, n;
    const uint64_t *level; /* people of each level, of a tree */
};

/* ---- Formulas ------------------------------------------------------------ */

/* All shares add up to 1, so their mean is 1 / d. */
static inline struct grid_law grid_of(const struct grid_case *c, double v0,
                                      double v1)
{
    return (struct grid_law){v0, v1, v0 + (v1 - v0) / c->d, 0, 0};
}

/* The pure law, theory 0.1. */
static inline struct grid_law grid_pure(const struct grid_case *c, double p,
                                        double q)
{
    const double gap = (p - q) * (p - q);

    return grid_of(c, q * (1 - q) / gap, p * (1 - p) / gap);
}

static inline double grid_param(const struct grid_case *c, unsigned which)
{
    return (double)c->info.param[which];
}

static inline struct grid_law grid_rr(const struct grid_case *c)
{
    const double v = c->E / ((c->E - 1) * (c->E - 1));

    return grid_of(c, v, v);
}

static inline struct grid_law grid_grr(const struct grid_case *c)
{
    const double gap = (c->E - 1) * (c->E - 1);

    return grid_of(c, (c->d - 2 + c->E) / gap, (c->d - 1) * c->E / gap);
}

static inline struct grid_law grid_sue(const struct grid_case *c)
{
    const double p = 1 / (1 + 1 / sqrt(c->E));

    return grid_pure(c, p, 1 - p);
}

static inline struct grid_law grid_oue(const struct grid_case *c)
{
    return grid_pure(c, 0.5, 1 / (c->E + 1));
}

/* People of one value and one hash function collide alike: 1 / ((g-1) K) for
 * each pair of them (lh.md, 5). */
static inline struct grid_law grid_lh(const struct grid_case *c)
{
    const double g = grid_param(c, HSY_PARAM_G);
    struct grid_law law = grid_pure(c, c->E / (c->E + g - 1), 1 / g);

    law.collide = 1 / ((g - 1) * exp2(grid_param(c, HSY_PARAM_POOL_BITS)));
    return law;
}

static inline struct grid_law grid_ss(const struct grid_case *c)
{
    const double w = grid_param(c, HSY_PARAM_SUBSET), z = w * c->E + c->d - w;

    return grid_pure(c, w * c->E / z,
                     (w * (w - 1) * c->E + (c->d - w) * w) / ((c->d - 1) * z));
}

/* Points of a projective space of t coordinates. */
static inline double grid_points(double q, double t)
{
    return (pow(q, t) - 1) / (q - 1);
}

static inline struct grid_law grid_pgr(const struct grid_case *c)
{
    const double q = grid_param(c, HSY_PARAM_Q), t = grid_param(c, HSY_PARAM_T);
    const double set = grid_points(q, t - 1), meet = grid_points(q, t - 2);
    const double z = (c->E - 1) * set + grid_points(q, t);

    return grid_pure(c, c->E * set / z, ((c->E - 1) * meet + set) / z);
}

/* Balanced blocks: d and B are powers of two. Stated: v1 at F = 1. */
static inline struct grid_law grid_hr(const struct grid_case *c)
{
    const double B = grid_param(c, HSY_PARAM_BLOCKS), u = c->E - 1;
    const double one = (2 * B + u) / (u * u), v0 = one * (2 + u / B);

    return (struct grid_law){v0, one * (2 + u) - 1, v0 - 1 / c->d, 0, 0};
}

/* The mean share of people in a value's block: blocks take ceil(d/h) values
 * each, the last ones what is left over. */
static inline double grid_hpg_block(double d, double h)
{
    const double full = ceil(d / h);
    double left = d, sum = 0;

    for (; left > 0; left -= full)
        sum += fmin(left, full) * fmin(left, full);
    return sum / (d * d);
}

static inline struct grid_law grid_hpg(const struct grid_case *c)
{
    const double q = grid_param(c, HSY_PARAM_Q), t = grid_param(c, HSY_PARAM_T);
    const double h = grid_param(c, HSY_PARAM_BLOCKS), u = c->E - 1;
    const double b = grid_points(q, t), set = grid_points(q, t - 1);
    const double meet = grid_points(q, t - 2), p0 = 1 / (b * h + u * set);
    const double A = 1 / (u * p0 * (set - meet)), B = -A * meet / set;
    const double G = -A * p0 * set - B * p0 * b;
    const double hit[3] = {c->E * set, u * meet + set, set}; /* own, same, */
    const double in[3] = {b + u * set, b + u * set, b};      /* other */
    const double share = grid_hpg_block(c->d, h);
    double v[3];

    for (size_t i = 0; i < 3; i++) {
        const double p1 = p0 * hit[i], p2 = p0 * (in[i] - hit[i]);

        v[i] = (A + B + G) * (A + B + G) * p1 + (B + G) * (B + G) * p2 +
               G * G * (1 - p1 - p2) - (i == 0 ? 1 : 0);
    }
    return (struct grid_law){
        v[1] / h + v[2] * (1 - 1 / h), v[0],
        v[1] * share + v[2] * (1 - share) + (v[0] - v[1]) / c->d, 0, 0};
}

/* Theory 3.9, over n: people of one value meet another value in the same
 * row, or in one of their own. */
static inline struct grid_law grid_sketch(const struct grid_case *c, double v0,
                                          double v1)
{
    const double k = grid_param(c, HSY_PARAM_HASHES);
    const double m = grid_param(c, HSY_PARAM_WIDTH);
    const double wide = m * m / ((m - 1) * (m - 1));
    struct grid_law law =
        grid_of(c, wide * v0 + (1 - 1 / k) / (m - 1), wide * v1);

    law.collide = 1 / (k * (m - 1));
    return law;
}

static inline struct grid_law grid_cms(const struct grid_case *c)
{
    const double root = sqrt(c->E), v = root / ((root - 1) * (root - 1));

    return grid_sketch(c, v, v);
}

static inline struct grid_law grid_hcms(const struct grid_case *c)
{
    const double coth = (c->E + 1) / (c->E - 1);

    return grid_sketch(c, coth * coth - 1 / grid_param(c, HSY_PARAM_WIDTH),
                       coth * coth - 1);
}

/* The chance of a, of n with chance p each. */
static inline double grid_mass(double a, double n, double p)
{
    return exp(lgamma(n + 1) - lgamma(a + 1) - lgamma(n - a + 1) + a * log(p) +
               (n - a) * log1p(-p));
}

/* n times the mean of 1 / A, A reports of n with chance p, if there are any;
 * up to 12 standard deviations from the mean. */
static inline double grid_inverse(double n, double p)
{
    const double wide = 12 * sqrt(n * p * (1 - p)) + 12;
    double sum = 0, all = 0;

    for (double a = fmax(1, floor(n * p - wide)); a <= fmin(n, n * p + wide);
         a++) {
        const double mass = p < 1 ? grid_mass(a, n, p) : a == n;

        all += mass;
        sum += mass / a;
    }
    return n * sum / all;
}

/* The same where one of `pool` sets is drawn, and each has the value with
 * chance p: some values are in fewer sets than others. */
static inline double grid_inverse_pool(double n, double p, double pool)
{
    const double wide = 8 * sqrt(pool * p * (1 - p));
    double sum = 0, all = 0;

    for (double c = fmax(1, floor(pool * p - wide));
         c <= fmin(pool, pool * p + wide); c += fmax(1, floor(wide / 64))) {
        const double mass = grid_mass(c, pool, p);

        all += mass;
        sum += mass * grid_inverse(n, c / pool);
    }
    return sum / all;
}

/* The mean of f (1-f), f the shares among n people drawn evenly. */
static inline double grid_apart(const struct grid_case *c)
{
    return (1 - 1 / c->d) * (1 - 1 / c->n) / c->d;
}

/*
 * A value is asked of A people, a sample of all. The library's estimate is the
 * share among those, so that at share 1 it varies by the bits alone (the one
 * of [DKY17], over the expected number, by (d/bits - 1) more). With few people,
 * or few sets, n E[1/A] exceeds d/bits.
 */
static inline struct grid_law grid_dbitflip(const struct grid_case *c)
{
    const double bits = grid_param(c, HSY_PARAM_SAMPLED_BITS);
    const double root = sqrt(c->E), v = root / ((root - 1) * (root - 1));
    const double each = grid_inverse_pool(
        c->n, bits / c->d, exp2(grid_param(c, HSY_PARAM_POOL_BITS)));
    struct grid_law law = grid_of(c, v * c->d / bits, v * c->d / bits);

    /* f (1-f) (n-A) / (A (n-1)) on top. */
    law.mean = each * v + (each - 1) * c->n / (c->n - 1) * grid_apart(c);
    return law;
}

/* n over the people of a level, who are a sample of all. */
static inline double grid_level_inverse(const struct grid_case *c, size_t l)
{
    return c->n / (double)c->level[l];
}

/*
 * A bin is 2^-h plus a coefficient of each level: weight 1/2 at the leaves,
 * 1/4 above them, ... (haar.md). One of level l, from 0 at the root, has a mean
 * square of 2^-l / n.
 */
static inline struct grid_law grid_haar(const struct grid_case *c)
{
    const double g = (c->E - 1) / (c->E + 1);
    const size_t h = c->info.strata;
    double sum = 0;

    for (size_t l = 0; l < h; l++)
        sum += grid_level_inverse(c, l) * exp2(2 * ((double)l - (double)h)) *
               (1 / (g * g) - exp2(-(double)l) / c->n);
    return (struct grid_law){NAN, NAN, sum - grid_apart(c), 0, 0};
}

#define GRID_LEVELS 16

/* A level of a hierarchy with even shares. */
struct grid_level {
    struct grid_case c;
    struct grid_law law;
    bool direct; /* grr, not olh */
    double a;    /* weight of a node against the sum of its children */
};

static inline void grid_hh_levels(struct grid_level *level, size_t h,
                                  const struct grid_case *c, double B)
{
    double below = 0;

    for (size_t k = h; k-- > 0;) {
        struct grid_level *l = &level[k];
        double own;

        l->c = (struct grid_case){
            .s = hsy_scheme_part(c->s, k), .E = c->E, .n = c->n / (double)h};
        hsy_scheme_describe(l->c.s, &l->c.info);
        l->c.d = l->c.info.d;
        l->direct = strcmp(l->c.info.mechanism, "grr") == 0;
        l->law = l->direct ? grid_grr(&l->c) : grid_lh(&l->c);
        own = (l->law.mean + (1 - 1 / l->c.d) / l->c.d) *
              grid_level_inverse(c, k);
        l->a = k + 1 == h ? 1 : B * below / (B * below + own);
        below = k + 1 == h ? own : own * l->a;
    }
}

/* n_k Var of sum w x over the nodes of a level, even shares (hh.md). */
static inline double grid_hh_level(const struct grid_level *l, double first,
                                   double squares)
{
    const double m = l->c.d, E = l->c.E;
    const double scale = (E + m - 1) / (E - 1); /* 1 / (p - q) of grr */
    const double mean = first / m;

    if (l->direct)
        return scale * scale * (squares / m - mean * mean);
    return (l->law.v0 + (l->law.v1 - l->law.v0 + 1) / m) * squares -
           mean * mean;
}

/* A tree's pool is part of its format. Two siblings collide in 1/g of its K
 * functions, give or take, and so do all others at the same distance: this
 * correlation of theirs, 0 over pools, has the variance 1 / ((g-1) K). */
static inline double grid_hh_pool(const struct grid_level *leaves)
{
    return leaves->direct ? 0 : sqrt(leaves->law.collide);
}

/*
 * A leaf is 1 / d plus, for each level l of its path, B^(l-h) times its node's
 * z less the mean z of its siblings and itself; z is a x + (1 - a) times the
 * sum of z below. So the weight of a node of level k depends on where its path
 * leaves the leaf's: at level j, or not at all.
 */
static inline struct grid_law grid_hh(const struct grid_case *c)
{
    const double B = grid_param(c, HSY_PARAM_FANOUT);
    const size_t h = hsy_scheme_parts(c->s);
    static struct grid_level level[GRID_LEVELS];
    double sum = 0;

    grid_hh_levels(level, h, c, B);
    for (size_t k = 1; k <= h; k++) {
        double on = 0, first = 0, squares = 0; /* on the path, so far */

        for (size_t j = 1; j <= k; j++) {
            const double others = (B - 1) * pow(B, (double)(k - j));
            double z = pow(B, (double)j - (double)h) * level[k - 1].a, off;

            for (size_t i = j; i < k; i++)
                z *= 1 - level[i - 1].a;
            off = on - z / B;
            on += z * (1 - 1 / B);
            first += others * off;
            squares += others * off * off;
        }
        sum += grid_level_inverse(c, k - 1) *
               grid_hh_level(&level[k - 1], first + on, squares + on * on);
    }
    return (struct grid_law){NAN, NAN, sum - grid_apart(c), 0,
                             grid_hh_pool(&level[h - 1])};
}

/* ---- Formulas of means, in units of the range ---------------------------- */

#define GRID_TRUTH 300u /* of STAT_RANGE, what all hold */

/* Theory 2.1. */
static inline double grid_bit(const struct grid_case *c, double x)
{
    const double p = (1 + x * (c->E - 1)) / (c->E + 1);
    const double wide = (c->E + 1) / (c->E - 1);

    return wide * wide * p * (1 - p);
}

/* Theory 2.5 by summing over all outputs, and `mix` one-bit reports. */
static inline double grid_window(const struct grid_case *c, double x)
{
    const double N = grid_param(c, HSY_PARAM_OUTPUTS);
    const double w = grid_param(c, HSY_PARAM_WINDOW), R = N - w;
    const double mix = grid_param(c, HSY_PARAM_MIX) / 65536;
    const double Z = w * c->E + R, at = floor(x * R), up = x * R - at;
    const double b0 = (c->E - 1) * w * (w - 1) / 2 + N * (N - 1) / 2;
    double square = 0;

    for (double y = 0; y < N; y++) {
        const double value = (y * Z - b0) / ((c->E - 1) * w) / R;
        const double low = y >= at && y < at + w ? c->E : 1;
        const double high = y > at && y <= at + w ? c->E : 1;

        square += value * value * ((1 - up) * low + up * high) / Z;
    }
    return (1 - mix) * (square - x * x) + mix * grid_bit(c, x);
}

/* Theory 2.2: noise, and rounding to the grid. */
static inline double grid_laplace(const struct grid_case *c, double x)
{
    const double G = grid_param(c, HSY_PARAM_GRID);
    const double a = exp(-log(c->E) / (2 * G));
    const double up = 2 * G * x - floor(2 * G * x);

    return (2 * a / ((1 - a) * (1 - a)) + up * (1 - up)) / (4 * G * G);
}

static inline struct grid_law grid_mean(const struct grid_case *c,
                                        double (*of)(const struct grid_case *,
                                                     double))
{
    return (struct grid_law){NAN, NAN, of(c, (double)GRID_TRUTH / STAT_RANGE),
                             0, 0};
}

static inline struct grid_law grid_onebit(const struct grid_case *c)
{
    return grid_mean(c, grid_bit);
}

static inline struct grid_law grid_dwm(const struct grid_case *c)
{
    return grid_mean(c, grid_window);
}

static inline struct grid_law grid_noise(const struct grid_case *c)
{
    return grid_mean(c, grid_laplace);
}

#endif
