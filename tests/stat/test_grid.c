/*
 * test_grid.c - n times the mean squared error of every mechanism is what its
 * formula says, at epsilon 0.5, 1, 2 and 4 and for 16, 1024 and 65536 values.
 *
 * The formulas are the textbook's in real numbers, written here anew
 * (grid_laws.h): the library's v0 and v1 of shares must agree with them too,
 * but for trees, which state theirs point by point. They hold for any number of
 * people, so a collection is small and there are many: each has people of its
 * own, drawn evenly from all values, and public hashes of its own. The mean
 * over all collections of their mean square, over the formula, must be 1
 * within 4.5 of its standard errors, which come from the spread between
 * collections and must be at most 1 %. (The pool of hh cannot be drawn anew;
 * what that may do is added to its bound.)
 *
 * 4.5 standard errors are 7e-6, two-sided; with 40 collections 6e-5, by
 * Student's t. Seeds are fixed. There are 192 such checks, so where seeds are
 * fresh (HSY_TEST_LONG) there are four times as many collections, and the bound
 * is 6 of the standard errors, then half as large.
 *
 * A line of output a check: `build/tests/stat/test_grid | grep over` is the
 * table of ratios.
 */
#include "grid_laws.h"

#define GRID_ERROR 0.01  /* largest standard error */
#define GRID_SAME 1e-6   /* the library's variance against the formula */
#define GRID_EXCESS 0.15 /* of a formula that would be noticed */

static double grid_bound(void)
{
    return stat_long() ? 6 : 4.5;
}

/* ---- The grid ------------------------------------------------------------ */

#define GRID_SIZES 3

static const uint32_t grid_d[GRID_SIZES] = {16, 1024, 65536};
static const unsigned grid_runs[GRID_SIZES] = {3000, 100, 40};
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
    {"hh", grid_hh, HSY_KIND_BINS, false, {300, 1000, 400}},
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
                      .param[HSY_PARAM_SAMPLED_BITS] =
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
    struct grid_law law;
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

/* One collection. A tree's formula goes by the people of its levels. */
static bool grid_collect(struct grid_sums *sums, struct stat_run *r,
                         const struct grid_row *row, struct grid_case *c,
                         uint64_t lane)
{
    static uint64_t codes[65536];
    const size_t n = (size_t)c->n;
    struct stat_coins coins;
    double ratio;

    grid_people(codes, n, r, 2 * lane);
    stat_coins_open(&coins, 2 * lane + 1);
    if (!stat_collect(r, STAT_SIMULATE, codes, n, &coins))
        return false;
    if (sums->runs == 0 || row->kind == HSY_KIND_BINS) {
        c->level = r->tally.strata;
        sums->law = row->law(c);
    }
    ratio = grid_ratio(r, &sums->law, codes, n);
    sums->ratio += ratio;
    sums->squares += ratio * ratio;
    sums->runs++;
    return true;
}

static bool grid_same(double stated, double formula)
{
    return fabs(stated / formula - 1) <= GRID_SAME;
}

/* The largest distance from 1, in standard errors, of all so far. */
static double grid_worst;

static void grid_judge(const struct grid_sums *sums, const struct grid_case *c)
{
    const double runs = sums->runs, mean = sums->ratio / runs;
    const double error =
        sqrt((sums->squares / runs - mean * mean) / (runs - 1));
    const double z = (mean - 1) / hypot(error, sums->law.pool);

    grid_worst = fmax(grid_worst, fabs(z));
    ok(error <= GRID_ERROR && fabs(z) <= grid_bound(),
       "%s at epsilon %g, d %g: n MSE over formula %.4f, se %.4f, z %+.2f",
       c->info.mechanism, c->info.epsilon, c->d, mean, error, z);
    ok(fabs(mean / (1 + GRID_EXCESS) - 1) >
           grid_bound() * hypot(error, sums->law.pool),
       "control: a formula %g %% higher would be noticed", 100 * GRID_EXCESS);
    if (!isnan(sums->law.v0)) /* of a share */
        ok(grid_same(c->info.v0, sums->law.v0) &&
               grid_same(c->info.v1, sums->law.v1),
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

        spec.param[HSY_PARAM_POOL_BITS] = 10;
        r.s = trial_scheme(&spec);
        stat_run_room(&r);
        c.info = r.info;
        c.d = r.info.d;
        good = grid_collect(&sums, &r, &blh, &c, lane << 20 | i);
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
    struct stat_run r = {.s = trial_scheme(&spec)};
    bool good = true;

    stat_run_room(&r);
    c.s = r.s;
    c.info = r.info;
    c.d = row->people[1] == 0 ? 2 : r.info.d;
    for (uint64_t i = 0; i < runs && good; i++) {
        if (row->pool) {
            spec = grid_spec(row, size, epsilon, lane << 20 | i);
            good = hsy_scheme_init(r.s, &spec, NULL) == HSY_OK;
        }
        good = good && grid_collect(&sums, &r, row, &c, lane << 20 | i);
    }
    if (ok(good, "%s: %u collections", row->name, runs))
        grid_judge(&sums, &c);
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
