/*
 * joint.c - several attributes as one value: association at the full epsilon.
 *
 * The attributes' codes, read as digits of which the last runs fastest, are one
 * of D cells, at most 4096. The cell is asked by subset selection (ss.c) with
 * sets of w cells, which has the least variance of all mechanisms for one of D
 * values; where the best w is 1 it is generalized randomized response, and
 * grr.c asks, in a shorter report. w is a parameter and part of the scheme, so
 * that a later choice of it never changes an old file.
 *
 * Privacy. The cell is a function of the truth, and its answer keeps epsilon.
 *                                             docs/mechanisms/joint.md, Thm 1
 *
 * Report and tally: those of the cells' scheme, part 0.
 */
#include "lib/bits/bytes.h"
#include "lib/core/fail.h"
#include "lib/scheme/sampled.h"
#include "lib/scheme/scheme.h"
#include "lib/scheme/tuple.h"

#define JOINT_CELLS_MAX 4096u

/* ---- Resolving ----------------------------------------------------------- */

/* Cells of a spec that need not be sound: the product, or a number above the
 * limit. An attribute without a list of values counts as one value. */
static uint64_t joint_cells(const hsy_spec *spec)
{
    const size_t count = hsy_tuple_count(spec);
    uint64_t cells = 1;

    for (size_t i = 0; i < count && cells <= JOINT_CELLS_MAX; i++) {
        hsy_spec sub = {.size = sizeof sub};

        hsy_tuple_at(&sub, spec, i);
        cells *= sub.kind == HSY_KIND_YES_NO ? 2 : sub.d != 0 ? sub.d : 1;
    }
    return cells;
}

static hsy_spec joint_cell_spec(const hsy_spec *spec, uint64_t w)
{
    return (hsy_spec){
        .size = sizeof(hsy_spec),
        .mechanism = w == 1 ? "grr" : "ss",
        .kind = HSY_KIND_VALUES,
        .d = (uint32_t)joint_cells(spec),
        .nano_epsilon = spec->nano_epsilon,
        .param[HSY_PARAM_SUBSET] = w == 1 ? 0 : w,
    };
}

/* The size of a set: as given, or what ss takes for the best; 0 if there is
 * none. */
static uint64_t joint_size(const hsy_spec *spec)
{
    const hsy_spec cell = joint_cell_spec(spec, 0);
    uint64_t w = spec->param[HSY_PARAM_SUBSET];
    hsy_scheme made;

    if (w == 0 && hsy_scheme_head(&made, NULL, &cell, NULL) == HSY_OK)
        w = made.param[HSY_PARAM_SUBSET];
    return w;
}

static size_t joint_parts(const hsy_spec *spec)
{
    return 1 + hsy_tuple_count(spec);
}

static void joint_part(hsy_spec *sub, const hsy_spec *spec, size_t i)
{
    if (i == 0)
        *sub = joint_cell_spec(spec, joint_size(spec));
    else
        hsy_tuple_at(sub, spec, i - 1);
}

/* Digits of which the last runs fastest; part 0 is all there is. */
static uint64_t joint_code(const hsy_scheme *s, const uint64_t *codes, size_t i)
{
    const size_t width = hsy_codes_per_truth(s);
    uint64_t cell = 0;

    (void)i;
    for (size_t a = 0; a < width; a++)
        cell = cell * hsy_scheme_attribute(s, a)->d + codes[a];
    return cell;
}

const struct mech_parts hsy_mech_joint_parts = {.parts = joint_parts,
                                                .part = joint_part,
                                                .code = joint_code,
                                                .whole = true};

static hsy_status joint_attribute(const hsy_spec *spec, size_t i,
                                  hsy_error *err)
{
    hsy_spec sub = {.size = sizeof sub};

    hsy_tuple_at(&sub, spec, i);
    if (sub.kind != HSY_KIND_YES_NO && sub.kind != HSY_KIND_VALUES &&
        sub.kind != HSY_KIND_BINS)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ATTRIBUTE,
                        "joint takes yes/no, lists of values and bins");
    if (sub.design != HSY_DESIGN_EPSILON)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DESIGN,
                        "joint asks all attributes at once, by no "
                        "probabilities of one");
    return HSY_OK;
}

/* ---- Sums of cells ------------------------------------------------------- */

/* Variance of how many of `good` among `of` a uniform set of k has. */
static double joint_hypergeometric(double good, double of, double k)
{
    double share = good / of;

    return k * share * (1 - share) * (of - k) / (of - 1);
}

/*
 * A marginal adds up m of the D cells. How many of them a set of w has: given
 * whether the truth's own cell is in it (law.p), the others are a uniform set
 * of w - 1 or of w among D - 1. So n times the variance of the share, nobody
 * in the marginal and all of them, is
 *     (E[variance] + p (1-p) (difference of the means)^2) / (p - q)^2.
 */
static void joint_marginal(const struct mech_support *law, double d, double w,
                           double m, double v[2])
{
    const double gap = law->gap * law->gap;

    for (int in = 0; in < 2; in++) {
        double good = m - in, apart = in - good / (d - 1);

        v[in] = (law->p * joint_hypergeometric(good, d - 1, w - 1) +
                 law->not_p * joint_hypergeometric(good, d - 1, w) +
                 law->p * law->not_p * apart * apart) /
                gap;
    }
}

static void joint_variance_of(const hsy_scheme *cells, double w,
                              uint32_t values, double v[2])
{
    struct mech_support law;

    cells->mech->estimate->support(cells, &law);
    joint_marginal(&law, cells->d, w, (double)cells->d / values, v);
}

/* The largest variance of an attribute's share. */
static double joint_worst(const hsy_spec *spec, const hsy_scheme *cells,
                          double w)
{
    double most = 0;

    for (size_t i = 0; i < hsy_tuple_count(spec); i++) {
        hsy_spec sub = {.size = sizeof sub};
        double v[2], worst;

        hsy_tuple_at(&sub, spec, i);
        joint_variance_of(cells, w, sub.kind == HSY_KIND_YES_NO ? 2 : sub.d, v);
        worst = hsy_tuple_worst(v, 0);
        most = worst > most ? worst : most;
    }
    return most;
}

/* What is the cells' own is the whole scheme's. */
static void joint_take(hsy_scheme *s, const hsy_scheme *cells)
{
    s->law = LAW_PARTS;
    s->parts.count = 1;
    s->parts.digest = bytes_get64(cells->digest);
    s->report_bits = cells->report_bits;
    s->report_bytes = cells->report_bytes;
    s->cells = cells->cells;
    s->strata = cells->strata;
    s->weights = cells->weights;
}

static hsy_status joint_resolve(hsy_scheme *s, const hsy_spec *spec,
                                hsy_error *err)
{
    hsy_scheme cells;
    hsy_spec cell;
    hsy_status st;

    if (joint_cells(spec) > JOINT_CELLS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_ATTRIBUTE,
                              "too many cells together; smp takes any number",
                              JOINT_CELLS_MAX);
    for (size_t i = 0; i < hsy_tuple_count(spec); i++) {
        st = joint_attribute(spec, i, err);
        if (st != HSY_OK)
            return st;
    }
    s->param[HSY_PARAM_SUBSET] = joint_size(spec);
    cell = joint_cell_spec(spec, s->param[HSY_PARAM_SUBSET]);
    st = hsy_scheme_head(&cells, NULL, &cell, err);
    if (st != HSY_OK)
        return st;
    joint_take(s, &cells);
    s->parts.worst =
        joint_worst(spec, &cells, (double)s->param[HSY_PARAM_SUBSET]);
    return HSY_OK;
}

static size_t joint_tail_size(const hsy_spec *spec)
{
    return joint_cells(spec) > JOINT_CELLS_MAX /* which resolve refuses */
               ? 0
               : hsy_sampled_size(spec, &hsy_mech_joint_parts);
}

/* ---- Estimates ----------------------------------------------------------- */

/* Of the attribute that is worst at share 0. */
static void joint_variance(const hsy_scheme *s, double v[2])
{
    const hsy_scheme *cells = hsy_scheme_part(s, 0);

    v[0] = v[1] = 0;
    for (size_t i = 0; i < hsy_codes_per_truth(s); i++) {
        double own[2];

        joint_variance_of(cells, (double)s->param[HSY_PARAM_SUBSET],
                          hsy_scheme_attribute(s, i)->d, own);
        if (i > 0 && own[0] <= v[0])
            continue;
        v[0] = own[0];
        v[1] = own[1];
    }
}

/* Cells of one value of attribute i that stand together. */
static size_t joint_stride(const hsy_scheme *s, size_t i)
{
    size_t stride = 1;

    for (size_t a = i + 1; a < hsy_codes_per_truth(s); a++)
        stride *= hsy_scheme_attribute(s, a)->d;
    return stride;
}

static double joint_sum(const hsy_tally *t, size_t value, size_t values,
                        size_t stride)
{
    double sum = 0;

    for (size_t from = value * stride; from < t->ncells;
         from += values * stride)
        for (size_t k = 0; k < stride; k++)
            sum += (double)t->cells[from + k];
    return sum;
}

void hsy_joint_points(const hsy_scheme *s, hsy_evidence *points,
                      const hsy_tally *t, size_t i, size_t count)
{
    const hsy_scheme *cells = hsy_scheme_part(s, 0);
    const hsy_scheme *own = hsy_scheme_attribute(s, i);
    const double n = (double)hsy_tally_reports(t), m = cells->d / own->d;
    const bool coin =
        s->param[HSY_PARAM_SUBSET] == 1; /* a report has one cell */
    struct mech_support law;
    double v[2];

    cells->mech->estimate->support(cells, &law);
    joint_variance_of(cells, (double)s->param[HSY_PARAM_SUBSET], own->d, v);
    for (size_t k = 0; k < count; k++) {
        /* Of a yes/no question the one point is that of yes. */
        double sum = joint_sum(t, own->kind == HSY_KIND_YES_NO ? 1 : k, own->d,
                               joint_stride(s, i));

        points[k] = (hsy_evidence){
            .value = (sum / n - m * law.q) / law.gap,
            .n = n,
            .support = coin ? sum : 0,
            .p = coin ? law.p + (m - 1) * law.q : 0,
            .q = coin ? m * law.q : 0,
            .v0 = v[0],
            .v1 = v[1],
        };
    }
}

const struct mech_client hsy_mech_joint_client = {
    .resolve = joint_resolve,
    .randomize = hsy_whole_randomize,
    .tail_size = joint_tail_size,
    .settle = hsy_sampled_settle,
};

const struct mech_estimate hsy_mech_joint_estimate = {
    .variance = joint_variance,
};
