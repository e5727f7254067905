/* covariance.c - how the estimates of two values vary together. */
#include "host/analysis/internal.h"

#include <stdlib.h>

static hsy_status covariance_fill(double *cov, const struct analysis_job *j,
                                  hsy_error *err)
{
    void *scratch =
        malloc(hsy_evidence_scratch(j->t.scheme, j->out->info.d) + 1);
    hsy_status st = scratch == NULL
                        ? host_nomem(err)
                        : hsy_covariance(j->t.scheme, cov, j->t.tally,
                                         j->out->how.target, scratch, err);

    free(scratch);
    return st;
}

/* Names of the d values, then a row for each two. */
static hsy_status covariance_rows(hsy_analysis_result *out, const double *cov,
                                  const struct analysis_asked *asked,
                                  hsy_error *err)
{
    const size_t d = out->info.d;
    hsy_analysis_row *named;
    hsy_status st;

    out->rows = calloc(d + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return host_nomem(err);
    out->count = d;
    for (size_t i = 0; i < d; i++)
        out->rows[i].place = (uint32_t)i;
    st = analysis_name_rows(out, asked, err);
    named = out->rows;
    out->rows = calloc(d * d + 1, sizeof *out->rows);
    out->count = out->rows != NULL ? d * d : 0;
    if (out->rows == NULL)
        st = host_nomem(err);
    for (size_t i = 0; st == HSY_OK && i < d * d; i++)
        out->rows[i] = (hsy_analysis_row){.value = named[i / d].value,
                                          .other = named[i % d].value,
                                          .covariance = cov[i]};
    free(named);
    return st;
}

hsy_status analysis_covariance(struct analysis_job *j, hsy_error *err)
{
    const size_t d = j->out->info.d;
    double *cov;
    hsy_status st;

    if (d > HSY_MATRIX_MAX)
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_COVARIANCE,
                               "too many values", HSY_MATRIX_MAX);
    st = analysis_ask(&j->asked, &j->t, j->request, err);
    if (st != HSY_OK)
        return st;
    cov = malloc((d * d + 1) * sizeof *cov);
    st = cov == NULL ? host_nomem(err) : covariance_fill(cov, j, err);
    if (st == HSY_OK)
        st = covariance_rows(j->out, cov, &j->asked, err);
    free(cov);
    j->out->of = j->out->selected = j->out->count;
    j->out->columns = 1u << HSY_COLUMN_VALUE | 1u << HSY_COLUMN_OTHER |
                      1u << HSY_COLUMN_COVARIANCE;
    return st;
}
