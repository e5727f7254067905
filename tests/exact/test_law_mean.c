/*
 * test_law_mean.c - the law of a mean's truth between two points of the grid.
 *
 * A truth is rounded to one of its neighbours, so its law is their laws mixed:
 * P[y | code] = ((width - rest) P[y | floor] + rest P[y | floor + 1]) / width.
 * Where R divides the width the points are codes themselves, whose laws are
 * single fractions. hsy_law must be that mixture exactly while it has 64 binary
 * digits, and else to 63 of them, never more, however little is left of it.
 */
#include "rig/enumerate.h"

/* P[y | code] from hsy_law. */
static void mean_law(mpq_t out, const hsy_scheme *s, uint64_t code, uint64_t y)
{
    hsy_factor factors[8];
    uint8_t report[8];
    size_t count;

    enumerate_report(report, s, y);
    hsy_law(s, factors, &count, code, report);
    enumerate_factors(factors, count, false, mpq_numref(out), mpq_denref(out));
    mpq_canonicalize(out);
}

/* The neighbours' laws, mixed; width = R step. */
static void mean_mixture(mpq_t out, const hsy_scheme *s, uint64_t step,
                         uint64_t code, uint64_t y)
{
    uint64_t floor = code / step, rest = code % step;
    mpq_t next, part;

    mpq_inits(next, part, NULL);
    mean_law(out, s, floor * step, y);
    if (rest != 0) {
        mean_law(next, s, (floor + 1) * step, y);
        mpq_sub(next, next, out);
        mpq_set_ui(part, rest, step);
        mpq_canonicalize(part);
        mpq_mul(next, next, part);
        mpq_add(out, out, next);
    }
    mpq_clears(next, part, NULL);
}

/* want >= got >= want (1 - 2^-63), or got = want. */
static bool mean_near(const mpq_t got, const mpq_t want, bool exact)
{
    mpq_t short_of, most;
    bool near;

    if (exact)
        return mpq_equal(got, want) != 0;
    mpq_inits(short_of, most, NULL);
    mpq_sub(short_of, want, got);
    mpq_div_2exp(most, want, 63);
    near = mpq_sgn(short_of) >= 0 && mpq_cmp(short_of, most) <= 0;
    mpq_clears(short_of, most, NULL);
    return near;
}

/* Outputs at both ends and some between; codes next to points and elsewhere. */
static bool mean_agrees(const hsy_scheme *s, uint64_t R, bool exact)
{
    const uint64_t width = (uint64_t)s->hi, step = width / R;
    const uint64_t codes[] = {1,           step - 1,     step + 1,
                              175665,      width / 3,    width / 2 + 1,
                              width - 1,   width - step, width / 7 * 5,
                              step / 3 + 1};
    mpq_t got, want;
    bool agree = true;

    mpq_inits(got, want, NULL);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        for (uint64_t y = 0; y < s->cells && codes[i] <= width;
             y += s->cells < 64 || y < 2 || y + 3 > s->cells
                      ? 1
                      : (s->cells - y) / 2) {
            mean_law(got, s, codes[i], y);
            mean_mixture(want, s, step, codes[i], y);
            agree &= mean_near(got, want, exact);
        }
    mpq_clears(got, want, NULL);
    return agree;
}

/* outputs and w of a window, or the grid. */
struct mean_row {
    const char *mechanism;
    double epsilon;
    uint64_t outputs, w, grid;
    uint64_t R;
};

static void mean_check(const struct mean_row *row, unsigned bits, bool exact)
{
    hsy_spec spec =
        trial_number((int64_t)(row->R * ((uint64_t)1 << bits)), row->epsilon);
    hsy_scheme *s;

    spec.mechanism = row->mechanism;
    spec.param[HSY_PARAM_OUTPUTS] = row->outputs;
    spec.param[HSY_PARAM_WINDOW] = row->w;
    spec.param[HSY_PARAM_GRID] = row->grid;
    s = trial_scheme(&spec);
    ok(mean_agrees(s, row->R, exact),
       "%s, epsilon %g, %llu steps of 2^%u: the law is the neighbours' mixed, "
       "%s",
       row->mechanism, row->epsilon, (unsigned long long)row->R, bits,
       exact ? "exactly" : "to 63 digits");
    free(s);
}

int main(void)
{
    /* Up to 2^16 steps, for Laplace 16, every law is exact. */
    static const struct {
        struct mean_row row;
        unsigned exact;
    } rows[] = {
        {{"dwm", 32, 1024, 1023, 0, 1}, 16}, {{"dwm", 1, 8, 3, 0, 5}, 13},
        {{"dwm", 0.001, 9, 5, 0, 4}, 14},    {{"hm", 1, 1024, 1019, 0, 5}, 13},
        {{"onebit", 1, 0, 0, 0, 1}, 16},     {{"onebit", 32, 0, 0, 0, 1}, 16},
        {{"laplace", 1, 0, 0, 4, 8}, 1},     {{"laplace", 32, 0, 0, 1, 2}, 3},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mean_check(&rows[i].row, rows[i].exact, true);
        mean_check(&rows[i].row, 40, false);
        mean_check(&rows[i].row, 59, false);
    }
    mean_check(&rows[0].row, 62, false);
    return tap_done();
}
