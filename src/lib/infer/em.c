/*
 * em.c - the distribution that makes all counts together most likely [Li20].
 *
 * A channel turns shares theta into chances M theta of its outputs; c are the
 * shares of the outputs among the reports. One step of expectation and
 * maximization multiplies theta_x by
 *
 *     sum over y of M[y][x] c_y / (M theta)_y,
 *
 * which never lowers the likelihood and keeps the sum at 1 (columns of M add up
 * to 1). EMS smoothes after each step with binomial weights (1, 2, 1) / 4, at
 * the ends (2, 1) / 3: a prior for neighbours that are alike.
 *
 * M is applied by the mechanism's own forward and backward, in O(d) for a
 * square wave. Logarithms cost more than the rest of a step, so the stop rule
 * looks at one step in ten.                        docs/estimates.md, section 8
 */
#include "lib/infer/infer.h"

#include "lib/core/fail.h"

#include <math.h>

#define EM_STEPS 10000u
#define EM_GAIN 1e-3
#define EM_LOOK 10u    /* steps between two looks at the likelihood */
#define EM_NONE 1e-200 /* a share that is 0 but for the time to get there */

/* Whether the counters are counts of the outputs of a channel that is known,
 * from shares that there are. */
static bool em_applies(const hsy_scheme *s)
{
    return s->mech->estimate->channel != NULL && s->d != 0;
}

size_t hsy_em_outputs(const hsy_scheme *s)
{
    const struct mech_channel *channel = s->mech->estimate->channel;

    return channel != NULL && channel->outputs != 0 ? channel->outputs
                                                    : s->cells;
}

size_t hsy_em_doubles(const hsy_scheme *s)
{
    const struct mech_channel *channel = s->mech->estimate->channel;
    const size_t more =
        channel != NULL && channel->scratch != NULL ? channel->scratch(s) : 0;

    if (!em_applies(s))
        return 0;
    return 2 * hsy_em_outputs(s) + 2 * (size_t)s->d + more;
}

double *hsy_em_room(struct em *em, const hsy_scheme *s, double *room)
{
    *em = (struct em){.s = s};
    if (!em_applies(s))
        return room; /* there may be none */
    em->values = s->d;
    em->outputs = hsy_em_outputs(s);
    em->counts = room;
    em->image = em->counts + em->outputs;
    em->theta = em->image + em->outputs;
    em->back = em->theta + em->values;
    em->scratch = em->back + em->values;
    return room + hsy_em_doubles(s);
}

static hsy_status em_rules(struct em *em, const hsy_density_how *how,
                           hsy_error *err)
{
    const hsy_scheme *s = em->s;
    const double scale = exp((double)s->nano_epsilon / 1e9);

    if (!em_applies(s))
        return hsy_fail(err, HSY_E_REFUSED, HSY_FIELD_MECHANISM,
                        "its counters are not counts of reports alike, so "
                        "they have no likelihood to maximize");
    if ((unsigned)how->method > HSY_DENSITY_EMS)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DENSITY, "no such method");
    if (how->method == HSY_DENSITY_EMS && s->kind != HSY_KIND_BINS)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DENSITY,
                        "smoothing (ems) needs the bins of a range; use em");
    if (!(how->gain >= 0) || !isfinite(how->gain))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_GAIN, "from 0 on");
    em->smooth = how->method == HSY_DENSITY_EMS;
    em->gain = how->gain > 0 ? how->gain : EM_GAIN * (em->smooth ? 1 : scale);
    em->steps = how->steps > 0 ? how->steps : EM_STEPS;
    return HSY_OK;
}

static hsy_status em_counts(struct em *em, const hsy_tally *t, hsy_error *err)
{
    const hsy_scheme *s = em->s;
    double sum = 0;

    if (t->ncells != s->cells || t->nstrata != s->strata)
        return hsy_fail(err, HSY_E_MISMATCH, HSY_FIELD_TALLY,
                        "the tally belongs to another scheme");
    em->n = (double)hsy_tally_reports(t);
    if (!(em->n > 0))
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_REPORTS,
                        "no data: there are no reports");
    if (s->mech->estimate->channel->counts != NULL)
        s->mech->estimate->channel->counts(em->counts, t);
    else
        for (size_t y = 0; y < em->outputs; y++)
            em->counts[y] = (double)t->cells[y];
    for (size_t y = 0; y < em->outputs; y++) {
        if (em->counts[y] < 0)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TALLY,
                            "a count is negative");
        sum += em->counts[y];
        em->counts[y] /= em->n;
    }
    if (fabs(sum - em->n) > 1e-9 * em->n)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TALLY,
                        "the counts do not add up to the reports");
    return HSY_OK;
}

/* ---- Climbing ------------------------------------------------------------ */

/* ln of the likelihood of theta, whose image is there. An output that was
 * counted has a chance above 0: else no theta would explain it, and steps only
 * move mass to values that do. */
static double em_likelihood(const struct em *em)
{
    double sum = 0;

    for (size_t y = 0; y < em->outputs; y++)
        if (em->counts[y] > 0)
            sum += em->counts[y] * log(em->image[y]);
    return em->n * sum;
}

static void em_scale(double *theta, size_t count)
{
    double even = 0, odd = 0;

    for (size_t i = 0; i + 1 < count; i += 2) {
        even += theta[i];
        odd += theta[i + 1];
    }
    if (count % 2 == 1)
        even += theta[count - 1];
    for (size_t i = 0; i < count; i++)
        theta[i] *= 1 / (even + odd);
}

/* theta of a step from its image, by way of the ratios. */
static void em_step(struct em *em)
{
    for (size_t y = 0; y < em->outputs; y++)
        em->image[y] = em->counts[y] > 0 ? em->counts[y] / em->image[y] : 0;
    em->s->mech->estimate->channel->backward(em->s, em->back, em->image,
                                             em->scratch);
    for (size_t x = 0; x < em->values; x++)
        em->theta[x] *= em->back[x];
}

/* In place: the value before the last change is carried along. */
static void em_smooth(double *theta, size_t count)
{
    double before = theta[0];

    if (count < 2)
        return;
    theta[0] = (2 * theta[0] + theta[1]) / 3;
    for (size_t x = 1; x + 1 < count; x++) {
        const double here = theta[x];

        theta[x] = 0.25 * (before + 2 * here + theta[x + 1]);
        before = here;
    }
    theta[count - 1] = (before + 2 * theta[count - 1]) / 3;
}

/* Rounding moves the sum by some 1e-16 a step; and a share that goes to 0 by a
 * factor a step shall not spend its time among numbers too small for the
 * processor. */
static void em_tidy(struct em *em)
{
    for (size_t x = 0; x < em->values; x++)
        if (em->theta[x] < EM_NONE)
            em->theta[x] = 0;
    em_scale(em->theta, em->values);
}

/* Climb from equal shares: rules and counts are there, theta comes
 * out and adds up to 1. */
static hsy_density_fit em_climb(struct em *em)
{
    hsy_density_fit fit = {.method =
                               em->smooth ? HSY_DENSITY_EMS : HSY_DENSITY_EM,
                           .log_likelihood = -INFINITY};

    for (size_t x = 0; x < em->values; x++)
        em->theta[x] = 1 / (double)em->values;
    for (;; fit.steps++) {
        const bool last = fit.steps == em->steps;
        const bool look = last || fit.steps % EM_LOOK == 0;

        if (look)
            em_tidy(em);
        em->s->mech->estimate->channel->forward(em->s, em->image, em->theta,
                                                em->scratch);
        if (look) {
            const double before = fit.log_likelihood;

            fit.log_likelihood = em_likelihood(em);
            fit.converged = fit.log_likelihood - before < EM_LOOK * em->gain;
        }
        if (fit.converged || last)
            break;
        em_step(em);
        if (em->smooth) {
            em_smooth(em->theta, em->values);
            em_scale(em->theta, em->values);
        }
    }
    return fit;
}

hsy_status hsy_em_fit(struct em *em, hsy_density_fit *fit, const hsy_tally *t,
                      const hsy_density_how *how, hsy_error *err)
{
    hsy_density_fit found;
    hsy_status st = em_rules(em, how, err);

    if (st == HSY_OK)
        st = em_counts(em, t, err);
    if (st != HSY_OK)
        return st;
    found = em_climb(em);
    if (!isfinite(found.log_likelihood))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TALLY,
                        "it counts a report that no value gives");
    if (fit != NULL)
        *fit = found;
    return HSY_OK;
}

size_t hsy_density_scratch(const hsy_scheme *s)
{
    return hsy_em_doubles(s) * sizeof(double);
}

hsy_status hsy_density(const hsy_scheme *s, double *shares,
                       hsy_density_fit *fit, const hsy_tally *t,
                       const hsy_density_how *how, void *scratch,
                       hsy_error *err)
{
    struct em em;
    hsy_status st;

    hsy_em_room(&em, s, scratch);
    st = hsy_em_fit(&em, fit, t, how, err);
    for (size_t x = 0; x < em.values && st == HSY_OK; x++)
        shares[x] = em.theta[x];
    return st;
}
