/* sketch.c - parameters and variances of count-mean sketches. */
#include "lib/family/sketch.h"

#include "lib/core/fail.h"

#define SKETCH_ROWS_DEFAULT 1024u
#define SKETCH_ROWS_MAX 65536u
#define SKETCH_WIDTH_DEFAULT 1024u
#define SKETCH_CELLS_MAX ((uint64_t)1 << 26) /* 512 MiB of counters */

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
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_HASHES,
                               "at most 65536 hash functions", SKETCH_ROWS_MAX);
    if ((rows & (rows - 1)) != 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_HASHES,
                        "must be a power of two");
    if (width < 2)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_WIDTH,
                               "a row has at least 2 cells", 2);
    if (width > SKETCH_WIDTH_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_WIDTH,
                              "a row has at most 2^20 cells", SKETCH_WIDTH_MAX);
    if (rows * width > SKETCH_CELLS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_WIDTH,
                              "hashes times width is at most 2^26",
                              SKETCH_CELLS_MAX / rows);
    s->param[HSY_PARAM_HASHES] = rows;
    s->param[HSY_PARAM_WIDTH] = width;
    s->param[HSY_PARAM_POOL_SEED] = spec->param[HSY_PARAM_POOL_SEED];
    s->cells = (size_t)(rows * width);
    return HSY_OK;
}

double hsy_sketch_kappa(const hsy_scheme *s)
{
    return 1 / ((double)(sketch_width(s) - 1) * (double)sketch_rows(s));
}

/* The pure law draws a hash for each report. Of k rows, those of one row share
 * theirs, and that part stands in the floor instead. */
void hsy_sketch_variance(const hsy_scheme *s, double v[2])
{
    struct mech_support law;

    s->mech->estimate->support(s, &law);
    v[0] = mech_support_v0(&law) - hsy_sketch_kappa(s);
    v[1] = mech_support_v1(&law);
}
