/*
 * hr_points.c - evidence from a Hadamard response tally, and its channel.
 *
 * Cells count outputs. With Y the Walsh-Hadamard transform of a block's cells,
 * Y[i] is the number of reports in the block that are a value's own, less those
 * that are not, and Y[0] all of them. A report of the value adds E/(2B-1+E) -
 * 1/(2B-1+E) to Y[i] on average, any other report nothing: two own sets of one
 * block meet in half of each.                      docs/mechanisms/hr.md, 3
 */
#include "lib/mech/haar.h"
#include "lib/mech/hr.h"

#include "lib/family/twolevel.h"

/* The law in units of 2^shift: u = E - 1 and Z = 2B - 1 + E, both from the
 * integers in use. */
struct hr_points_rates {
    double u, z;
    double c; /* Z / u^2: the variance is c (2 + F u) - f */
};

static struct hr_points_rates hr_points_rates_of(const hsy_scheme *s)
{
    double one = (double)twolevel_other(s);
    struct hr_points_rates r = {
        .u = (double)(twolevel_own(s) - twolevel_other(s)) / one,
        .z = (double)s->total / one,
    };

    r.c = r.z / (r.u * r.u);
    return r;
}

/* Of one block only: its values support each other by half. With more there is
 * no pure law, for the values of other blocks support it less. */
void hsy_hr_support(const hsy_scheme *s, struct mech_support *out)
{
    *out = (struct mech_support){.p = 0};
    if (s->param[HSY_PARAM_BLOCKS] != 1)
        return;
    hsy_support_of(out, twolevel_own(s), twolevel_other(s), s->total);
    out->q = out->not_q = 0.5;
    out->gap /= 2; /* p - 1/2 = (p - (1 - p)) / 2, and 1 - p is the other */
}

/* A share of 0 whose block holds 1/B of the people; a share of 1, whose block
 * holds all of them. */
void hsy_hr_variance(const hsy_scheme *s, double v[2])
{
    struct hr_points_rates r = hr_points_rates_of(s);

    v[0] = r.c * (2 + r.u / (double)s->param[HSY_PARAM_BLOCKS]);
    v[1] = r.c * (2 + r.u) - 1;
}

/* A report of the value's block adds one way or the other. */
void hsy_hr_reach(const hsy_scheme *s, double reach[2])
{
    struct hr_points_rates r = hr_points_rates_of(s);

    reach[0] = -r.z / r.u;
    reach[1] = r.z / r.u;
}

double hsy_hr_steps(const hsy_scheme *s, double n)
{
    (void)n;
    return (double)s->cells * (double)hr_kernel(s).index_bits;
}

size_t hsy_hr_points_scratch(const hsy_scheme *s, size_t count)
{
    (void)count;
    return s->cells * sizeof(int64_t);
}

/*
 * With several blocks the variance depends on the share F of people in the
 * value's block, n Var = c (2 + F u) - f. F is estimated from the block's
 * reports, of which each person in it gives Z^-1 u more than one outside; what
 * of it is not the value's own stays when its share is varied. A block of two
 * outputs has one value, and nothing besides.
 */
static void hr_points_one(hsy_evidence *point, const struct hr_points_rates *r,
                          double n, double all, double y, bool alone)
{
    double f = r->z / r->u * y / n;
    double block = (all / n * r->z - 2) / r->u;
    double own = f < 0 ? 0 : f > 1 ? 1 : f;
    double rest = (block > 1 ? 1 : block) - own;

    if (alone || rest < 0)
        rest = 0;
    *point = (hsy_evidence){
        .value = f,
        .n = n,
        .support = (all + y) / 2,
        .v0 = r->c * (2 + rest * r->u),
        .v1 = r->c * (2 + (rest + 1) * r->u) - 1,
        .few = {.n = n,
                .rate = 1 / r->z,
                .count = {(all + y) / 2, (all - y) / 2},
                .weight = {r->z / r->u, -r->z / r->u}},
    };
}

void hsy_hr_points(const hsy_scheme *s, hsy_evidence *points,
                   const hsy_tally *t, const uint64_t *codes, size_t count,
                   void *scratch)
{
    const struct kernel_hadamard h = hr_kernel(s);
    const size_t size = (size_t)1 << h.index_bits;
    const struct hr_points_rates r = hr_points_rates_of(s);
    const double n = (double)t->strata[0];
    int64_t *y = scratch;
    struct mech_support law;

    hsy_hr_support(s, &law);
    for (size_t i = 0; i < s->cells; i++)
        y[i] = t->cells[i];
    for (size_t at = 0; at < s->cells; at += size)
        s->kernels->wht(y + at, size);
    for (size_t k = 0; k < count; k++) {
        uint64_t item = hadamard_item(codes != NULL ? codes[k] : k, &h);
        double all = (double)y[item & ~(uint64_t)(size - 1)];
        double own = (double)y[item];

        if (law.gap > 0)
            hsy_evidence_pure(&points[k], &law, n, (all + own) / 2);
        else
            hr_points_one(&points[k], &r, n, all, own, size == 2);
    }
}

/* ---- The channel --------------------------------------------------------- */

/* P[y | x] of an output that is not own, and half of what an own one has more:
 * an own one has both halves, (1 + 1) / 2, another none, (1 - 1) / 2. */
struct hr_points_channel {
    double other, half;
};

static struct hr_points_channel hr_points_channel_of(const hsy_scheme *s,
                                                     size_t size)
{
    struct hr_points_rates r = hr_points_rates_of(s);
    double set = (double)size / 2;

    return (struct hr_points_channel){1 / (r.z * set), r.u / (2 * r.z * set)};
}

void hsy_hr_forward(const hsy_scheme *s, double *out, const double *theta,
                    double *scratch)
{
    const struct kernel_hadamard h = hr_kernel(s);
    const size_t size = (size_t)1 << h.index_bits;
    const struct hr_points_channel p = hr_points_channel_of(s, size);
    double sum = 0;

    (void)scratch;
    for (size_t y = 0; y < s->cells; y++)
        out[y] = 0;
    for (uint32_t x = 0; x < s->d; x++) {
        out[hadamard_item(x, &h)] = theta[x];
        sum += theta[x];
    }
    for (size_t at = 0; at < s->cells; at += size) {
        double block;

        hsy_haar_transform(out + at, size);
        block = out[at];
        for (size_t u = at; u < at + size; u++)
            out[u] = p.other * sum + p.half * (block + out[u]);
    }
}

void hsy_hr_backward(const hsy_scheme *s, double *out, const double *ratio,
                     double *scratch)
{
    const struct kernel_hadamard h = hr_kernel(s);
    const size_t size = (size_t)1 << h.index_bits;
    const struct hr_points_channel p = hr_points_channel_of(s, size);
    double sum = 0;

    for (size_t y = 0; y < s->cells; y++) {
        scratch[y] = ratio[y];
        sum += ratio[y];
    }
    for (size_t at = 0; at < s->cells; at += size)
        hsy_haar_transform(scratch + at, size);
    for (uint32_t x = 0; x < s->d; x++) {
        uint64_t item = hadamard_item(x, &h);
        double block = scratch[item & ~(uint64_t)(size - 1)];

        out[x] = p.other * sum + p.half * (block + scratch[item]);
    }
}

size_t hsy_hr_channel_scratch(const hsy_scheme *s)
{
    return s->cells;
}
