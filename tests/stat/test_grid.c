/*
 * test_grid.c - n times the mean squared error of every mechanism is what its
 * formula says, at epsilon 0.5, 1, 2 and 4 and for 16, 1024 and 65536 values.
 *
 * The formulas are the textbook's in real numbers, written here anew
 * (MECHANISMS 2 and 3, docs/mechanisms): the library's v0 and v1 must agree
 * with them too. They hold for any number of people, so a collection is small
 * and there are many: each has people of its own, drawn evenly from all values,
 * and public hashes of its own. The mean over all collections of their mean
 * square, over the formula, must be 1 within 4.5 of its standard errors, which
 * come from the spread between collections and must be at most 1 %.
 *
 * 4.5 standard errors are 7e-6, two-sided. There are some 180 such checks, so
 * where seeds are fresh (HSY_TEST_LONG) there are four times as many
 * collections, and the bound is 6 of the standard errors, then half as large.
 *
 * A line of output a check: `build/tests/stat/test_grid | grep over` is the
 * table of ratios.
 */
#include "stat.h"

#define GRID_ERROR 0.01  /* largest standard error */
#define GRID_SAME 1e-6   /* the library's variance against the formula */
#define GRID_EXCESS 0.15 /* of a formula that would be noticed */

static double grid_bound(void)
{
    return stat_long() ? 6 : 4.5;
}

/* What a formula says of a scheme, times n. */
struct grid_law {
    double v0, v1;  /* as hsy_info states them */
    double mean;    /* of the squared error, over all values */
    double collide; /* more for public hashes, times n and sum f_u^2 */
};

/* A setting: n people of a scheme. */
struct grid_case {
    const hsy_scheme *s;
    hsy_info info; /* for resolved parameters */
    double E;      /* e^epsilon */
    double d, n;
};

/* ---- Formulas ------------------------------------------------------------ */

/* All shares add up to 1, so their mean is 1 / d. */
static struct grid_law grid_of(const struct grid_case *c, double v0, double v1)
{
    return (struct grid_law){v0, v1, v0 + (v1 - v0) / c->d, 0};
}

/* The pure law, MECHANISMS 0.1. */
static struct grid_law grid_pure(const struct grid_case *c, double p, double q)
{
    const double gap = (p - q) * (p - q);

    return grid_of(c, q * (1 - q) / gap, p * (1 - p) / gap);
}

static double grid_param(const struct grid_case *c, unsigned which)
{
    return (double)c->info.param[which];
}

static struct grid_law grid_rr(const struct grid_case *c)
{
    const double v = c->E / ((c->E - 1) * (c->E - 1));

    return grid_of(c, v, v);
}

static struct grid_law grid_grr(const struct grid_case *c)
{
    const double gap = (c->E - 1) * (c->E - 1);

    return grid_of(c, (c->d - 2 + c->E) / gap, (c->d - 1) * c->E / gap);
}

static struct grid_law grid_sue(const struct grid_case *c)
{
    const double p = 1 / (1 + 1 / sqrt(c->E));

    return grid_pure(c, p, 1 - p);
}

static struct grid_law grid_oue(const struct grid_case *c)
{
    return grid_pure(c, 0.5, 1 / (c->E + 1));
}

/* People of one value and one hash function collide alike: 1 / ((g-1) K) for
 * each pair of them (lh.md, 5). */
static struct grid_law grid_lh(const struct grid_case *c)
{
    const double g = grid_param(c, HSY_PARAM_G);
    struct grid_law law = grid_pure(c, c->E / (c->E + g - 1), 1 / g);

    law.collide = 1 / ((g - 1) * exp2(grid_param(c, HSY_PARAM_POOL_BITS)));
    return law;
}

static struct grid_law grid_ss(const struct grid_case *c)
{
    const double w = grid_param(c, HSY_PARAM_W), z = w * c->E + c->d - w;

    return grid_pure(c, w * c->E / z,
                     (w * (w - 1) * c->E + (c->d - w) * w) / ((c->d - 1) * z));
}

/* Points of a projective space of t coordinates. */
static double grid_points(double q, double t)
{
    return (pow(q, t) - 1) / (q - 1);
}

static struct grid_law grid_pgr(const struct grid_case *c)
{
    const double q = grid_param(c, HSY_PARAM_Q), t = grid_param(c, HSY_PARAM_T);
    const double set = grid_points(q, t - 1), meet = grid_points(q, t - 2);
    const double z = (c->E - 1) * set + grid_points(q, t);

    return grid_pure(c, c->E * set / z, ((c->E - 1) * meet + set) / z);
}

/* Balanced blocks: d and B are powers of two. Stated: v1 at F = 1. */
static struct grid_law grid_hr(const struct grid_case *c)
{
    const double B = grid_param(c, HSY_PARAM_BLOCKS), u = c->E - 1;
    const double one = (2 * B + u) / (u * u), v0 = one * (2 + u / B);

    return (struct grid_law){v0, one * (2 + u) - 1, v0 - 1 / c->d, 0};
}

/* The mean share of people in a value's block: blocks take ceil(d/h) values
 * each, the last ones what is left over. */
static double grid_hpg_block(double d, double h)
{
    const double full = ceil(d / h);
    double left = d, sum = 0;

    for (; left > 0; left -= full)
        sum += fmin(left, full) * fmin(left, full);
    return sum / (d * d);
}

static struct grid_law grid_hpg(const struct grid_case *c)
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
        v[1] * share + v[2] * (1 - share) + (v[0] - v[1]) / c->d, 0};
}

/* MECHANISMS 3.9, over n: people of one value meet another value in the same
 * row, or in one of their own. */
static struct grid_law grid_sketch(const struct grid_case *c, double v0,
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

static struct grid_law grid_cms(const struct grid_case *c)
{
    const double root = sqrt(c->E), v = root / ((root - 1) * (root - 1));

    return grid_sketch(c, v, v);
}

static struct grid_law grid_hcms(const struct grid_case *c)
{
    const double coth = (c->E + 1) / (c->E - 1);

    return grid_sketch(c, coth * coth - 1 / grid_param(c, HSY_PARAM_WIDTH),
                       coth * coth - 1);
}

/* The chance of a, of n with chance p each. */
static double grid_mass(double a, double n, double p)
{
    return exp(lgamma(n + 1) - lgamma(a + 1) - lgamma(n - a + 1) + a * log(p) +
               (n - a) * log1p(-p));
}

/* n times the mean of 1 / A, A reports of n with chance p, if there are any;
 * up to 12 standard deviations from the mean. */
static double grid_inverse(double n, double p)
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
static double grid_inverse_pool(double n, double p, double pool)
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
static double grid_apart(const struct grid_case *c)
{
    return (1 - 1 / c->d) * (1 - 1 / c->n) / c->d;
}

/*
 * A value is asked of A people, a sample of all. The library's estimate is the
 * share among those, so that at share 1 it varies by the bits alone (the one
 * of [DKY17], over the expected number, by (d/bits - 1) more). With few people,
 * or few sets, n E[1/A] exceeds d/bits.
 */
static struct grid_law grid_dbitflip(const struct grid_case *c)
{
    const double bits = grid_param(c, HSY_PARAM_BITS);
    const double root = sqrt(c->E), v = root / ((root - 1) * (root - 1));
    const double each = grid_inverse_pool(
        c->n, bits / c->d, exp2(grid_param(c, HSY_PARAM_POOL_BITS)));
    struct grid_law law = grid_of(c, v * c->d / bits, v * c->d / bits);

    /* f (1-f) (n-A) / (A (n-1)) on top. */
    law.mean = each * v + (each - 1) * c->n / (c->n - 1) * grid_apart(c);
    return law;
}

/*
 * A bin is 2^-h plus a coefficient of each level: weight 1/2 at the leaves,
 * 1/4 above them, ... A level has A people, a sample of all (haar.md). A
 * coefficient l levels from the leaves has a mean square of 2^(l-h) / n.
 */
static struct grid_law grid_haar(const struct grid_case *c)
{
    const double h = log2(c->d), g = (c->E - 1) / (c->E + 1);
    double sum = 0;

    for (double l = 1; l <= h; l++)
        sum += exp2(-2 * l) * (1 / (g * g) - exp2(l - h) / c->n);
    sum = grid_inverse(c->n, 1 / h) * sum - grid_apart(c);
    return (struct grid_law){NAN, NAN, sum, 0};
}

#define GRID_LEVELS 16

/* A level of a hierarchy with even shares. */
struct grid_level {
    struct grid_case c;
    struct grid_law law;
    bool direct; /* grr, not olh */
    double a;    /* weight of a node against the sum of its children */
};

static void grid_hh_levels(struct grid_level *level, size_t h,
                           const struct grid_case *c, double B)
{
    double below = 0;

    for (size_t k = h; k-- > 0;) {
        struct grid_level *l = &level[k];
        double own;

        l->c = (struct grid_case){
            .s = hsy_scheme_part(c->s, k), .E = c->E, .n = c->n / (double)h};
        hsy_scheme_info(l->c.s, &l->c.info);
        l->c.d = l->c.info.d;
        l->direct = strcmp(l->c.info.mechanism, "grr") == 0;
        l->law = l->direct ? grid_grr(&l->c) : grid_lh(&l->c);
        own = l->law.mean + (1 - 1 / l->c.d) / l->c.d;
        l->a = k + 1 == h ? 1 : B * below / (B * below + own);
        below = k + 1 == h ? own : own * l->a;
    }
}

/* n_k Var of sum w x over the nodes of a level, even shares (hh.md). */
static double grid_hh_level(const struct grid_level *l, double first,
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

/*
 * A leaf is 1 / d plus, for each level l of its path, B^(l-h) times its node's
 * z less the mean z of its siblings and itself; z is a x + (1 - a) times the
 * sum of z below. So the weight of a node of level k depends on where its path
 * leaves the leaf's: at level j, or not at all.
 */
static struct grid_law grid_hh(const struct grid_case *c)
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
        sum += grid_hh_level(&level[k - 1], first + on, squares + on * on);
    }
    sum = grid_inverse(c->n, 1 / (double)h) * sum - grid_apart(c);
    return (struct grid_law){NAN, NAN, sum, 0};
}

/* ---- Formulas of means, in units of the range ---------------------------- */

#define GRID_TRUTH 300u /* of STAT_RANGE, what all hold */

/* MECHANISMS 2.1. */
static double grid_bit(const struct grid_case *c, double x)
{
    const double p = (1 + x * (c->E - 1)) / (c->E + 1);
    const double wide = (c->E + 1) / (c->E - 1);

    return wide * wide * p * (1 - p);
}

/* MECHANISMS 2.5 by summing over all outputs, and `mix` one-bit reports. */
static double grid_window(const struct grid_case *c, double x)
{
    const double N = grid_param(c, HSY_PARAM_OUTPUTS);
    const double w = grid_param(c, HSY_PARAM_W), R = N - w;
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

/* MECHANISMS 2.2: noise, and rounding to the grid. */
static double grid_laplace(const struct grid_case *c, double x)
{
    const double G = grid_param(c, HSY_PARAM_GRID);
    const double a = exp(-log(c->E) / (2 * G));
    const double up = 2 * G * x - floor(2 * G * x);

    return (2 * a / ((1 - a) * (1 - a)) + up * (1 - up)) / (4 * G * G);
}

static struct grid_law grid_mean(const struct grid_case *c,
                                 double (*of)(const struct grid_case *, double))
{
    return (struct grid_law){NAN, NAN, of(c, (double)GRID_TRUTH / STAT_RANGE),
                             0};
}

static struct grid_law grid_onebit(const struct grid_case *c)
{
    return grid_mean(c, grid_bit);
}

static struct grid_law grid_dwm(const struct grid_case *c)
{
    return grid_mean(c, grid_window);
}

static struct grid_law grid_noise(const struct grid_case *c)
{
    return grid_mean(c, grid_laplace);
}

/* ---- The grid ------------------------------------------------------------ */

#define GRID_SIZES 3

static const uint32_t grid_d[GRID_SIZES] = {16, 1024, 65536};
static const unsigned grid_runs[GRID_SIZES] = {3000, 100, 64};
static const unsigned grid_single = 30000; /* where there is one estimate */

struct grid_row {
    const char *name;
    struct grid_law (*law)(const struct grid_case *c);
    uint32_t kind;
    bool pool; /* of public hashes, drawn anew each time */
    unsigned people[GRID_SIZES];
};

static const struct grid_row grid_rows[] = {
    {"rr", grid_rr, HSY_KIND_YES_NO, false, {100}},
    {"grr", grid_grr, HSY_KIND_VALUES, false, {100, 200, 400}},
    {"ss", grid_ss, HSY_KIND_VALUES, false, {100, 100, 30}},
    {"pgr", grid_pgr, HSY_KIND_VALUES, false, {100, 200, 200}},
    {"hpg", grid_hpg, HSY_KIND_VALUES, false, {100, 200, 200}},
    {"hr", grid_hr, HSY_KIND_VALUES, true, {100, 200, 400}},
    {"sue", grid_sue, HSY_KIND_VALUES, false, {100, 100, 50}},
    {"oue", grid_oue, HSY_KIND_VALUES, false, {100, 100, 50}},
    {"olh", grid_lh, HSY_KIND_VALUES, true, {100, 100, 50}},
    {"blh", grid_lh, HSY_KIND_VALUES, true, {100, 100, 50}},
    {"dbitflip", grid_dbitflip, HSY_KIND_VALUES, true, {100, 1024, 65536}},
    {"cms", grid_cms, HSY_KIND_VALUES, true, {100, 100, 100}},
    {"hcms", grid_hcms, HSY_KIND_VALUES, true, {100, 100, 100}},
    {"hh", grid_hh, HSY_KIND_BINS, false, {300, 1000, 1600}},
    {"haar", grid_haar, HSY_KIND_BINS, false, {500, 2000, 4000}},
    {"onebit", grid_onebit, HSY_KIND_NUMBER, false, {30}},
    {"dwm", grid_dwm, HSY_KIND_NUMBER, false, {30}},
    {"pm", grid_dwm, HSY_KIND_NUMBER, false, {30}},
    {"hm", grid_dwm, HSY_KIND_NUMBER, false, {30}},
    {"laplace", grid_noise, HSY_KIND_NUMBER, false, {30}},
};

#define GRID_ROWS (sizeof grid_rows / sizeof grid_rows[0])

/* Sketches of 64 rows of 1024 cells; as many hash functions that people do not
 * collide enough to be corrected; a quarter of 16 values asked by dBitFlip, 16
 * of more. Else what the library chooses. */
static hsy_spec grid_spec(const struct grid_row *row, size_t size,
                          double epsilon, uint64_t seed)
{
    const bool sketch = strstr(row->name, "cms") != NULL;
    const bool list =
        row->kind == HSY_KIND_VALUES || row->kind == HSY_KIND_BINS;

    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = row->name,
                      .nano_epsilon = (uint64_t)(epsilon * 1e9),
                      .kind = row->kind,
                      .d = list ? grid_d[size] : 0,
                      .hi = row->kind == HSY_KIND_BINS     ? grid_d[size]
                            : row->kind == HSY_KIND_NUMBER ? STAT_RANGE
                                                           : 0,
                      .param[HSY_PARAM_POOL_BITS] =
                          row->law == grid_lh ? 14 + (size == 2 ? 2 : 0) : 0,
                      .param[HSY_PARAM_HASHES] = sketch ? 64 : 0,
                      .param[HSY_PARAM_WIDTH] = sketch ? 1024 : 0,
                      .param[HSY_PARAM_BITS] =
                          strcmp(row->name, "dbitflip") != 0 ? 0
                          : size == 0                        ? 4
                                                             : 16,
                      .param[HSY_PARAM_POOL_SEED] = row->pool ? seed : 0};
}

/* A value for each person, evenly; or what means ask of all alike. */
static void grid_people(uint64_t *codes, size_t n, const struct stat_run *r,
                        uint64_t lane)
{
    struct stat_coins coins;
    hsy_rng rng;

    stat_coins_open(&coins, lane);
    rng = hsy_stream_rng(&coins.secret);
    for (size_t i = 0; i < n; i++) {
        uint16_t word = 0; /* d divides 2^16 */

        (void)rng.fill(rng.ctx, &word, sizeof word);
        codes[i] =
            r->info.kind == HSY_KIND_NUMBER ? GRID_TRUTH : word % r->info.d;
    }
}

struct grid_sums {
    double ratio, squares; /* over collections */
    unsigned runs;
};

/* n times the mean squared error of a collection, over the formula. */
static double grid_ratio(const struct stat_run *r, const struct grid_law *law,
                         const uint64_t *codes, size_t n)
{
    static double shares[65536];
    double error = 0, alike = 0, asked = 0;

    memset(shares, 0, sizeof shares);
    for (size_t i = 0; i < n; i++)
        if (r->npoints == 1)
            shares[0] += (double)codes[i] / (double)n /
                         (r->info.kind == HSY_KIND_NUMBER ? STAT_RANGE : 1);
        else
            shares[codes[i]] += 1.0 / (double)n;
    for (size_t v = 0; v < r->npoints; v++) {
        const double off = r->points[v].value - shares[v];

        alike += shares[v] * (shares[v] - 1 / (double)n);
        if (r->points[v].n > 0) { /* else it has no estimate: dbitflip */
            error += off * off;
            asked++;
        }
    }
    return (double)n * error / asked /
           (law->mean +
            law->collide * (double)n * alike * (1 - 1 / (double)r->npoints));
}

static bool grid_collect(struct grid_sums *sums, struct stat_run *r,
                         const struct grid_law *law, size_t n, uint64_t lane)
{
    static uint64_t codes[65536];
    struct stat_coins coins;
    double ratio;

    grid_people(codes, n, r, 2 * lane);
    stat_coins_open(&coins, 2 * lane + 1);
    if (!stat_collect(r, STAT_SIMULATE, codes, n, &coins))
        return false;
    ratio = grid_ratio(r, law, codes, n);
    sums->ratio += ratio;
    sums->squares += ratio * ratio;
    sums->runs++;
    return true;
}

static bool grid_same(double stated, double formula)
{
    return isnan(formula) || fabs(stated / formula - 1) <= GRID_SAME;
}

/* The largest distance from 1, in standard errors, of all so far. */
static double grid_worst;

static void grid_judge(const struct grid_sums *sums, const struct grid_case *c,
                       const struct grid_law *law)
{
    const double runs = sums->runs, mean = sums->ratio / runs;
    const double error =
        sqrt((sums->squares / runs - mean * mean) / (runs - 1));
    const double z = (mean - 1) / error;

    grid_worst = fmax(grid_worst, fabs(z));
    ok(error <= GRID_ERROR && fabs(z) <= grid_bound(),
       "%s at epsilon %g, d %g: n MSE over formula %.4f, se %.4f, z %+.2f",
       c->info.mechanism, c->info.epsilon, c->d, mean, error, z);
    ok(fabs(mean / (1 + GRID_EXCESS) - 1) > grid_bound() * error,
       "control: a formula %g %% higher would be noticed", 100 * GRID_EXCESS);
    ok(grid_same(c->info.v0, law->v0) && grid_same(c->info.v1, law->v1),
       "its stated variances are the formula's");
}

/*
 * Many values, few people, fewer functions than would do without a correction:
 * the noise of some of the values looks like heavy ones. Taking it for shares
 * multiplied it once, by 30; what is chosen must be so little that it does not.
 */
static void grid_few(double epsilon, uint64_t lane)
{
    static const struct grid_row blh = {
        "blh", grid_lh, HSY_KIND_VALUES, true, {0, 0, 50}};
    struct grid_sums sums = {0};
    struct grid_case c = {.E = exp(epsilon), .n = 50};
    bool good = true;

    for (uint64_t i = 0; i < 16 && good; i++) {
        hsy_spec spec = grid_spec(&blh, 2, epsilon, lane << 20 | i);
        struct stat_run r = {0};
        struct grid_law law;

        spec.param[HSY_PARAM_POOL_BITS] = 10;
        r.s = trial_scheme(&spec);
        stat_run_room(&r);
        c.info = r.info;
        c.d = r.info.d;
        law = grid_lh(&c);
        good = grid_collect(&sums, &r, &law, 50, lane << 20 | i);
        stat_run_close(&r);
    }
    ok(good && sums.ratio / 16 < 1.5,
       "blh at epsilon %g, 50 people, 1024 functions: no noise is multiplied "
       "(%.3f)",
       epsilon, sums.ratio / 16);
}

static void grid_cell(const struct grid_row *row, size_t size, double epsilon,
                      uint64_t lane)
{
    const unsigned runs =
        (row->people[1] == 0 ? grid_single : grid_runs[size]) *
        (stat_long() ? 4 : 1);
    hsy_spec spec = grid_spec(row, size, epsilon, 0);
    struct grid_case c = {.E = exp(epsilon), .n = row->people[size]};
    struct grid_sums sums = {0};
    struct grid_law law;
    struct stat_run r = {.s = trial_scheme(&spec)};
    bool good = true;

    stat_run_room(&r);
    c.s = r.s;
    c.info = r.info;
    c.d = row->people[1] == 0 ? 2 : r.info.d;
    law = row->law(&c);
    for (uint64_t i = 0; i < runs && good; i++) {
        if (row->pool) {
            spec = grid_spec(row, size, epsilon, lane << 20 | i);
            good = hsy_scheme_init(r.s, &spec, NULL) == HSY_OK;
        }
        good = good &&
               grid_collect(&sums, &r, &law, row->people[size], lane << 20 | i);
    }
    if (ok(good, "%s: %u collections", row->name, runs))
        grid_judge(&sums, &c, &law);
    stat_run_close(&r);
}

/* Every mechanism that has points is in the table above; others state why. */
static void grid_complete(void)
{
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++) {
        bool known = strcmp(row->name, "matrix") == 0 || /* the user's law */
                     strcmp(row->name, "rappor") == 0 || /* its decoder's */
                     !stat_pointed(row->name);

        for (size_t k = 0; k < GRID_ROWS; k++)
            known |= strcmp(row->name, grid_rows[k].name) == 0;
        ok(known, "%s is in the grid", row->name);
    }
}

int main(int argc, char **argv)
{
    static const double epsilons[] = {0.5, 1, 2, 4};

    grid_complete();
    for (size_t i = 0; i < GRID_ROWS; i++)
        for (size_t size = 0; size < GRID_SIZES; size++)
            for (size_t e = 0; e < 4; e++)
                if (grid_rows[i].people[size] != 0 &&
                    (argc < 2 || strcmp(argv[1], grid_rows[i].name) == 0))
                    grid_cell(&grid_rows[i], size, epsilons[e],
                              7000 + 16 * i + 4 * size + e);
    for (size_t e = 1; e < 4 && argc < 2; e++)
        grid_few(epsilons[e], 7500 + e);
    printf("# farthest from its formula: %.2f standard errors\n", grid_worst);
    return tap_done();
}
