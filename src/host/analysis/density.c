/* density.c - shares from the likelihood of all counts together: the estimates
 * of a mechanism that has no others, or as post-processing. */
#include "host/analysis/internal.h"

#include <math.h>
#include <stdlib.h>

/* Post-processing climbs further than a density does: its stop rule is a
 * question of time, and not of smoothness. */
#define DENSITY_POST_GAIN 1e-6
#define DENSITY_POST_STEPS 200000u

static hsy_status density_steps(struct analysis_job *j,
                                const hsy_density_fit *fit, hsy_error *err)
{
    const hsy_analysis_note note = {.code = HSY_DOUBT_STEPS,
                                    .count = fit->steps};

    return fit->converged || j->request->bare
               ? HSY_OK
               : analysis_note(j->out, &note, err);
}

/* Shares make 1; how far their sum may be off is not known. */
static void density_rest(hsy_analysis_result *out)
{
    out->rest = (hsy_estimate){1, NAN, NAN, NAN};
    for (size_t i = 0; i < out->count; i++)
        out->rest.value -= out->rows[i].est.value;
}

hsy_status analysis_no_difference(const struct analysis_job *j, hsy_error *err)
{
    if (!j->out->compared)
        return HSY_OK;
    return host_fail(err, HSY_E_REFUSED, HSY_FIELD_AGAINST,
                     "shares that are estimated together are no independent "
                     "estimates of each value: their differences have no test");
}

/* What goes with points only. */
static hsy_status density_fits(const struct analysis_job *j, hsy_error *err)
{
    if (j->request->candidates != NULL)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_CANDIDATES,
                         "shares by EM are of all values");
    return analysis_no_difference(j, err);
}

hsy_status analysis_by_density(struct analysis_job *j, hsy_error *err)
{
    hsy_analysis_result *out = j->out;
    const hsy_density_how how = {.method = j->request->density,
                                 .level = analysis_job_level(j, out->info.d),
                                 .target = out->how.target,
                                 .repeats =
                                     out->attends ? 1 + out->attended.came : 0};
    hsy_density_fit fit = {0};
    hsy_status st = density_fits(j, err);

    if (st == HSY_OK)
        st = analysis_density(&out->rows, &out->count, &fit, &j->t, &how, err);
    if (st == HSY_OK)
        st = density_steps(j, &fit, err);
    if (st == HSY_OK)
        st = analysis_doubt_few(j, 0, err);
    if (st != HSY_OK)
        return st;
    out->density = fit.method;
    out->why = fit.no_interval;
    analysis_cut(j);
    density_rest(out);
    return out->why == NULL ? analysis_quantiles(j, err) : HSY_OK;
}

hsy_status analysis_density_post(double **shares, struct analysis_job *j,
                                 hsy_error *err)
{
    const hsy_density_how how = {.method = HSY_DENSITY_EM,
                                 .gain = DENSITY_POST_GAIN,
                                 .steps = DENSITY_POST_STEPS};
    void *scratch = malloc(hsy_density_scratch(j->t.scheme) + 1);
    double *out = calloc((size_t)j->out->info.d + 1, sizeof *out);
    hsy_density_fit fit = {0};
    hsy_status st = scratch == NULL || out == NULL
                        ? host_nomem(err)
                        : hsy_density(j->t.scheme, out, &fit, j->t.tally, &how,
                                      scratch, err);

    free(scratch);
    if (st == HSY_OK)
        st = density_steps(j, &fit, err);
    if (st == HSY_OK)
        *shares = out;
    else
        free(out);
    return st;
}
