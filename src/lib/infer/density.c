/*
 * density.c - shares by likelihood with intervals that hold, or none and why.
 *
 * An interval ends at the bounds of reach.c, which hold whatever the shares
 * are; the estimate, which is biased toward smooth shapes because EM stops
 * early, has no part in them but that the interval reaches to it. EMS is biased
 * by a width counted in bins, of which its reports show nothing: it has none.
 */
#include "lib/core/fail.h"
#include "lib/infer/infer.h"
#include "lib/infer/reach.h"

#include <math.h>

static const char density_smoothed[] =
    "smoothing has a bias that reports do not show";
static const char density_kept[] = "reports made from kept answers share their "
                                   "noise, and shares by likelihood "
                                   "have no bound for that";
static const char density_many[] =
    "intervals are for at most 256 values and 1024 outputs";

size_t hsy_density_estimate_scratch(const hsy_scheme *s)
{
    const size_t room = hsy_em_doubles(s);

    if (room == 0)
        return 0;
    return (room + s->d + hsy_reach_doubles(s->d, hsy_em_outputs(s))) *
           sizeof(double);
}

static hsy_status density_check(const hsy_density_how *how, hsy_error *err)
{
    const hsy_confidence level = {
        .level = how->level, .target = how->target, .comparisons = 1};

    if (!(how->repeats >= 0) || !isfinite(how->repeats))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_REPEATS,
                        "reports a person sent: 0 or more");
    return hsy_confidence_check(&level, err);
}

/* Parts of the variance of sampling in what is asked: 0 of the people. */
static double density_sampling(const hsy_density_how *how)
{
    return how->target == HSY_POPULATION ? fmax(how->repeats, 1) : 0;
}

/* unit: values zeros. */
static void density_intervals(struct reach *r, hsy_estimate *est, double *unit,
                              double level)
{
    const double z = -hsy_normal_quantile((1 - level) / 2);

    for (size_t x = 0; x < r->values; x++) {
        unit[x] = 1;
        hsy_reach_interval(r, &est[x], unit, z);
        unit[x] = 0;
    }
}

static const char *density_refuses(const struct em *em, const hsy_tally *t)
{
    if (t->kept > 0)
        return density_kept;
    if (em->smooth)
        return density_smoothed;
    return hsy_reach_fits(em->values, em->outputs) ? NULL : density_many;
}

hsy_status hsy_density_estimate(const hsy_scheme *s, hsy_estimate *est,
                                hsy_density_fit *fit, const hsy_tally *t,
                                const hsy_density_how *how, void *scratch,
                                hsy_error *err)
{
    struct em em;
    struct reach r;
    double *unit = hsy_em_room(&em, s, scratch);
    hsy_status st = density_check(how, err);
    const char *why;

    if (st == HSY_OK)
        st = hsy_em_fit(&em, fit, t, how, err);
    if (st != HSY_OK)
        return st;
    why = density_refuses(&em, t);
    for (size_t x = 0; x < em.values; x++) {
        est[x] = (hsy_estimate){em.theta[x], NAN, NAN, NAN};
        unit[x] = 0;
    }
    if (fit != NULL)
        fit->no_interval = why;
    if (why != NULL)
        return HSY_OK;
    hsy_reach_room(&r, em.values, em.outputs, unit + em.values);
    hsy_reach_channel(&r, s, em.scratch);
    hsy_reach_open(&r, em.theta, em.counts, em.n, density_sampling(how));
    density_intervals(&r, est, unit, how->level);
    return HSY_OK;
}
