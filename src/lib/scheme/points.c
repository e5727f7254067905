/* points.c - evidence from counts, under the pure law (theory 0.1). */
#include "lib/core/fail.h"
#include "lib/scheme/scheme.h"

void hsy_support_of(struct mech_support *out, uint64_t own, uint64_t other,
                    uint64_t total)
{
    double whole = total == 0 ? 18446744073709551616.0 : (double)total;
    bool direct = own > other;
    uint64_t apart = direct ? own - other : other - own;

    out->p = (double)own / whole;
    out->not_p = (double)(total - own) / whole;
    out->q = (double)other / whole;
    out->not_q = (double)(total - other) / whole;
    out->gap = (direct ? 1 : -1) * ((double)apart / whole);
}

void hsy_evidence_pure(hsy_evidence *point, const struct mech_support *law,
                       double n, double support)
{
    *point = (hsy_evidence){
        .value = (support / n - law->q) / law->gap,
        .n = n,
        .support = support,
        .p = law->p,
        .q = law->q,
        .v0 = mech_support_v0(law),
        .v1 = mech_support_v1(law),
    };
}

void hsy_evidence_cells(const hsy_scheme *s, hsy_evidence *points,
                        const hsy_tally *t, const uint64_t *codes, size_t count,
                        void *scratch)
{
    struct mech_support law;

    (void)scratch;
    s->mech->estimate->support(s, &law);
    for (size_t i = 0; i < count; i++) {
        uint64_t code = codes != NULL ? codes[i] : i;

        hsy_evidence_pure(&points[i], &law, (double)t->strata[0],
                          (double)t->cells[code]);
    }
}

size_t hsy_evidence_scratch(const hsy_scheme *s, size_t count)
{
    return s->mech->estimate->points_scratch == NULL
               ? 0
               : s->mech->estimate->points_scratch(s, count);
}

/* codes, or their absence, fit the kind of truth. */
static hsy_status points_codes(const hsy_scheme *s, const uint64_t *codes,
                               size_t count, hsy_error *err)
{
    bool single = s->kind == HSY_KIND_NUMBER;
    size_t all = single || s->kind == HSY_KIND_YES_NO ? 1 : s->d;

    if (codes == NULL && s->kind == HSY_KIND_STRINGS)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                        "open strings need a list of candidates");
    if (codes != NULL && single)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                        "a mean has no candidates");
    if (codes == NULL && count != all)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                              "not the number of values", all);
    if (codes != NULL && !hsy_codes_inside(s, codes, count))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                        "a candidate is outside the domain");
    return HSY_OK;
}

hsy_status hsy_evidence_of(const hsy_scheme *s, hsy_evidence *points,
                           const hsy_tally *t, const uint64_t *codes,
                           size_t count, void *scratch, hsy_error *err)
{
    hsy_status st = points_codes(s, codes, count, err);

    if (st != HSY_OK)
        return st;
    if (s->mech->estimate->points == NULL)
        return hsy_fail(err, HSY_E_REFUSED, HSY_FIELD_MECHANISM,
                        "it is not estimated value by value");
    if (t->ncells != s->cells || t->nstrata != s->strata)
        return hsy_fail(err, HSY_E_MISMATCH, HSY_FIELD_TALLY,
                        "the tally belongs to another scheme");
    if (hsy_tally_reports(t) == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_REPORTS,
                        "no data: there are no reports");
    if (mech_central(s->mech) && !(hsy_central_people(s, t) >= 1))
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_PEOPLE,
                        "no data: nobody, or so few that noise hides them");
    s->mech->estimate->points(s, points, t, codes, count, scratch);
    return HSY_OK;
}

/* A sample of people adds diag(f) - f f^T to n Cov. */
static void points_sampled(double *out, const hsy_evidence *points, size_t d)
{
    for (size_t v = 0; v < d; v++)
        for (size_t w = 0; w < d; w++)
            out[v * d + w] += points[v].value * ((v == w) - points[w].value);
}

hsy_status hsy_covariance(const hsy_scheme *s, double *out, const hsy_tally *t,
                          hsy_target target, void *scratch, hsy_error *err)
{
    hsy_evidence points[HSY_MATRIX_MAX];
    hsy_status st;

    if (s->mech->estimate->covariance == NULL)
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                        "covariances are available for grr and matrix only");
    if (s->d > HSY_MATRIX_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                              "too many values for a table of covariances",
                              HSY_MATRIX_MAX);
    st = hsy_evidence_of(s, points, t, NULL, s->d, scratch, err);
    if (st != HSY_OK)
        return st;
    s->mech->estimate->covariance(s, out, t, scratch);
    if (target == HSY_POPULATION)
        points_sampled(out, points, s->d);
    for (size_t i = 0; i < (size_t)s->d * s->d; i++)
        out[i] /= points[0].n;
    return HSY_OK;
}
