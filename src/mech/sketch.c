/*
 * sketch.c - parameters and evidence of count-mean sketches.
 *
 * For the fixed family of hashes, collisions of v with the other values are a
 * bias: over families a variance of kappa times the sum of f_u^2 over u != v,
 * kappa = 1 / ((m - 1) k), however many reports there are (MECHANISMS 3.9). It
 * goes into point.floor. The sum of squares is estimated from the sketch: two
 * people of one row meet in a cell for certain if they have the same value, and
 * with probability 1/m if not.                   docs/mechanisms/cms.md, 4
 */
#include "sketch.h"

#include "fail.h"

#define SKETCH_ROWS_DEFAULT 1024u
#define SKETCH_ROWS_MAX 65536u
#define SKETCH_WIDTH_DEFAULT 1024u
#define SKETCH_CELLS_MAX ((uint64_t)1 << 26) /* 512 MiB of counters */
#define SKETCH_PART ((size_t)1 << 14)        /* cells decoded at once */

hsy_status hsy_sketch_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    uint64_t rows = spec->param[HSY_PARAM_HASHES];
    uint64_t width = spec->param[HSY_PARAM_WIDTH];

    if (rows == 0)
        rows = SKETCH_ROWS_DEFAULT;
    if (width == 0)
        width = SKETCH_WIDTH_DEFAULT;
    if (rows > SKETCH_ROWS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, "hashes",
                              "at most 65536 hash functions", SKETCH_ROWS_MAX);
    if ((rows & (rows - 1)) != 0)
        return hsy_fail(err, HSY_E_RANGE, "hashes", "must be a power of two");
    if (width < 2)
        return hsy_fail_limit(err, HSY_E_RANGE, "width",
                              "a row has at least 2 cells", 2);
    if (width > SKETCH_WIDTH_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, "width",
                              "a row has at most 2^20 cells", SKETCH_WIDTH_MAX);
    if (rows * width > SKETCH_CELLS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, "width",
                              "hashes times width is at most 2^26",
                              SKETCH_CELLS_MAX / rows);
    s->param[HSY_PARAM_HASHES] = rows;
    s->param[HSY_PARAM_WIDTH] = width;
    s->param[HSY_PARAM_POOL_SEED] = spec->param[HSY_PARAM_POOL_SEED];
    s->cells = (size_t)(rows * width);
    return HSY_OK;
}

/* kappa: see above. */
static double sketch_kappa(const hsy_scheme *s)
{
    return 1 / ((double)(sketch_width(s) - 1) * (double)sketch_rows(s));
}

/* The pure law draws a hash for each report. Of k rows, those of one row share
 * theirs, and that part stands in the floor instead. */
void hsy_sketch_variance(const hsy_scheme *s, double v[2])
{
    struct mech_support law;

    s->mech->support(s, &law);
    v[0] = mech_support_v0(&law) - sketch_kappa(s);
    v[1] = mech_support_v1(&law);
}

static size_t sketch_part_rows(const hsy_scheme *s)
{
    size_t rows = SKETCH_PART / sketch_width(s);

    return rows == 0 ? 1 : rows < sketch_rows(s) ? rows : sketch_rows(s);
}

size_t hsy_sketch_points_scratch(const hsy_scheme *s, size_t count)
{
    size_t rows = sketch_part_rows(s);

    return 2 * count * sizeof(uint64_t) +
           rows *
               (sizeof(struct pool_hash) + sketch_width(s) * sizeof(int64_t));
}

/* What every value's support is read from; leads into the caller's scratch. */
struct sketch_sum {
    const uint64_t *codes;
    size_t count;
    uint64_t *sum; /* modulo 2^64: transforms have both signs */
    struct pool_hash *hashes;
    int64_t *table;
};

static void sketch_open(struct sketch_sum *e, const hsy_scheme *s,
                        const uint64_t *codes, size_t count, void *scratch)
{
    uint64_t *all = scratch;

    for (size_t v = 0; v < count; v++)
        all[v] = sketch_code(s, codes != NULL ? codes[v] : v);
    e->codes = all;
    e->count = count;
    e->sum = all + count;
    for (size_t v = 0; v < count; v++)
        e->sum[v] = 0;
    e->hashes = (struct pool_hash *)(e->sum + count);
    e->table = (int64_t *)(e->hashes + sketch_part_rows(s));
}

/* Add what `rows` rows from number `first` on give. */
static void sketch_add(struct sketch_sum *e, const hsy_scheme *s,
                       const hsy_tally *t, uint32_t first, size_t rows,
                       bool transform)
{
    const size_t width = sketch_width(s);
    const int64_t *table = t->cells + first * width;

    for (size_t j = 0; j < rows; j++)
        e->hashes[j] = sketch_function(s, first + (uint32_t)j);
    for (size_t i = 0; transform && i < rows * width; i++)
        e->table[i] = table[i];
    for (size_t j = 0; transform && j < rows; j++)
        s->kernels->wht(e->table + j * width, width);
    s->kernels->lh_table(e->sum, e->codes, e->count, e->hashes,
                         transform ? e->table : table, rows, (uint32_t)width,
                         false);
}

static double sketch_clip(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* The sum of f_u^2 over all values, from the chance of a pair to meet. */
static double sketch_squares(const hsy_scheme *s, double pairs, double n)
{
    double m = sketch_width(s);
    double same = sketch_clip((pairs - 1 / m) * m / (m - 1));

    return same + (1 - same) / n; /* n of the n^2 pairs are of one person */
}

void hsy_sketch_points(const hsy_scheme *s, hsy_point *points,
                       const hsy_tally *t, const uint64_t *codes, size_t count,
                       void *scratch, const struct sketch_reading *reading)
{
    const double n = (double)hsy_tally_reports(t), kappa = sketch_kappa(s);
    const double squares = sketch_squares(s, reading->pairs, n);
    const size_t part = sketch_part_rows(s);
    struct mech_support law;
    struct sketch_sum e;
    double v[2];

    sketch_open(&e, s, codes, count, scratch);
    for (uint32_t j = 0; j < sketch_rows(s); j += (uint32_t)part) {
        size_t rows = sketch_rows(s) - j < part ? sketch_rows(s) - j : part;

        sketch_add(&e, s, t, j, rows, reading->transform);
    }
    s->mech->support(s, &law);
    hsy_sketch_variance(s, v);
    for (size_t i = 0; i < count; i++) {
        double support =
            reading->base + reading->scale * (double)(int64_t)e.sum[i];
        double f;

        hsy_points_pure(&points[i], &law, n, support);
        f = sketch_clip(points[i].value);
        points[i].v0 = v[0];
        points[i].floor = squares > f * f ? kappa * (squares - f * f) : 0;
    }
}

#undef SKETCH_ROWS_DEFAULT
#undef SKETCH_ROWS_MAX
#undef SKETCH_WIDTH_DEFAULT
#undef SKETCH_CELLS_MAX
#undef SKETCH_PART
