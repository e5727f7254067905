/* shuffled_batch.c - what a batch of shuffled reports promises, and its error
 * beside that of local reports and of a curator who promise the same. */
#include "host/plan/internal.h"

#include "host/analysis/analysis.h"
#include "host/worth/worth.h"

#include <math.h>
#include <stdlib.h>

/* The report's epsilon is given, or follows from the batch's. */
static hsy_status batch_worth(struct plan_batch *out, hsy_spec *spec,
                              const struct plan_batch_ask *ask, hsy_error *err)
{
    hsy_status st =
        ask->central > 0
            ? worth_largest(spec, &out->worth, &ask->batch, ask->central, err)
            : worth_spec(&out->worth, spec, &ask->batch, err);

    if (st == HSY_E_NOMEM)
        out->why = PLAN_WHY_MEMORY;
    else if (st != HSY_OK)
        out->why = err != NULL && err->field == HSY_FIELD_DELTA ? PLAN_WHY_ASKED
                                                                : PLAN_WHY_SPEC;
    return st;
}

static hsy_status batch_report(struct plan_batch *out, const hsy_spec *spec,
                               hsy_error *err)
{
    hsy_scheme *s;
    hsy_status st = plan_scheme(&s, spec, spec->nano_epsilon, &out->why, err);

    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, &out->info);
    free(s);
    if (out->info.iterative)
        return plan_fail(&out->why, PLAN_WHY_ITERATIVE, err, HSY_E_UNKNOWN,
                         "estimated by iteration, with no error to compare");
    return HSY_OK;
}

const char *plan_curator(bool add_remove)
{
    return add_remove ? "central-add-remove" : "central";
}

/* What becomes of the question at the batch's epsilon by another mechanism. */
static hsy_status batch_beside(hsy_scheme_info *info, struct plan_batch *out,
                               const hsy_spec *asked, const char *mechanism,
                               hsy_error *err)
{
    hsy_spec spec = *asked;
    hsy_scheme *s;
    hsy_status st;

    spec.mechanism = mechanism;
    spec.nano_epsilon = (uint64_t)ceil(out->worth.epsilon * HSY_NANO);
    st = plan_scheme(&s, &spec, spec.nano_epsilon, &out->why, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, info);
    free(s);
    return HSY_OK;
}

hsy_status plan_batch(struct plan_batch *out, const struct plan_batch_ask *ask,
                      hsy_error *err)
{
    const double n = (double)ask->batch.reports;
    hsy_scheme_info central, local;
    hsy_spec spec = ask->spec;
    double unit;
    hsy_status st;

    *out = (struct plan_batch){.delta = ask->batch.delta};
    st = batch_worth(out, &spec, ask, err);
    if (st == HSY_OK)
        st = batch_report(out, &spec, err);
    if (st == HSY_OK)
        st = batch_beside(&central, out, &ask->spec, plan_curator(false), err);
    if (st == HSY_OK)
        st = batch_beside(&local, out, &ask->spec, "auto", err);
    if (st != HSY_OK)
        return st;
    unit = analysis_unit(&central);
    out->local = local.mechanism;
    out->shuffled_sd = analysis_unit(&out->info) * sqrt(out->info.v0 / n);
    out->local_sd = unit * sqrt(local.v0 / n);
    out->central_sd = unit * sqrt(central.v0) / n;
    return HSY_OK;
}
