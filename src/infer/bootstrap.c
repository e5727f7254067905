/*
 * bootstrap.c - how far a density may be off: reports drawn anew from the
 * fitted channel and estimated like the real ones, over and over [ET93].
 *
 * A replicate's distance to the estimate stands for the estimate's distance to
 * the truth. Its root mean square, bias included, is the standard error, and
 * the interval is that many times the normal quantile to either side: of the
 * intervals made from replicates the one that covers best where the estimate is
 * biased (docs/estimates.md, section 8, has the figures). Only squares are
 * kept, so memory does not grow with the replicates.
 */
#include "em.h"
#include "fail.h"
#include "infer.h"

#include <math.h>

#define BOOTSTRAP_REPLICATES 200u
#define BOOTSTRAP_LEAST 20u
#define BOOTSTRAP_MOST 1000000u
#define BOOTSTRAP_LANE 0x626f6f7473747270u /* "bootstrp" */

static uint64_t bootstrap_replicates(const hsy_density_how *how)
{
    return how->replicates != 0 ? how->replicates : BOOTSTRAP_REPLICATES;
}

size_t hsy_density_estimate_scratch(const hsy_scheme *s)
{
    const size_t room = hsy_em_doubles(s);

    return room == 0 ? 0 : (room + hsy_em_outputs(s)) * sizeof(double);
}

static hsy_status bootstrap_check(const hsy_density_how *how, hsy_error *err)
{
    const uint64_t replicates = bootstrap_replicates(how);
    const hsy_confidence level = {.level = how->level, .comparisons = 1};

    if (replicates < BOOTSTRAP_LEAST)
        return hsy_fail_limit(err, HSY_E_RANGE, "replicates",
                              "too few for a standard error", BOOTSTRAP_LEAST);
    if (replicates > BOOTSTRAP_MOST)
        return hsy_fail_limit(err, HSY_E_RANGE, "replicates", "too many",
                              BOOTSTRAP_MOST);
    return hsy_confidence_check(&level, err);
}

/* The squares become standard errors, and these intervals. */
static void bootstrap_intervals(hsy_estimate *est, size_t count,
                                uint64_t replicates, double level)
{
    const double z = -hsy_normal_quantile((1 - level) / 2);

    for (size_t x = 0; x < count; x++) {
        est[x].sd = sqrt(est[x].sd / (double)replicates);
        est[x].low = est[x].value - z * est[x].sd;
        est[x].high = est[x].value + z * est[x].sd;
    }
}

/* Estimate what is drawn from model, and add up squared distances. */
static void bootstrap_replicate(struct em *em, hsy_estimate *est,
                                const double *model, hsy_stream *stream)
{
    hsy_multinomial_draw(em->counts, model, em->outputs, (uint64_t)em->n,
                         stream);
    for (size_t y = 0; y < em->outputs; y++)
        em->counts[y] /= em->n;
    hsy_em_climb(em);
    for (size_t x = 0; x < em->values; x++) {
        const double off = em->theta[x] - est[x].value;

        est[x].sd += off * off;
    }
}

hsy_status hsy_density_estimate(const hsy_scheme *s, hsy_estimate *est,
                                hsy_density_fit *fit, const hsy_tally *t,
                                const hsy_density_how *how, void *scratch,
                                hsy_error *err)
{
    const uint64_t replicates = bootstrap_replicates(how);
    struct em em;
    double *model = hsy_em_room(&em, s, scratch);
    hsy_stream stream;
    hsy_status st = bootstrap_check(how, err);

    if (st == HSY_OK)
        st = hsy_em_fit(&em, fit, t, how, err);
    if (st != HSY_OK)
        return st;
    s->mech->forward(s, model, em.theta, em.scratch);
    for (size_t x = 0; x < em.values; x++)
        est[x] = (hsy_estimate){.value = em.theta[x]};
    hsy_stream_seed(&stream, how->seed, BOOTSTRAP_LANE);
    for (uint64_t r = 0; r < replicates; r++)
        bootstrap_replicate(&em, est, model, &stream);
    hsy_stream_clear(&stream);
    bootstrap_intervals(est, em.values, replicates, how->level);
    return HSY_OK;
}

#undef BOOTSTRAP_REPLICATES
#undef BOOTSTRAP_LEAST
#undef BOOTSTRAP_MOST
#undef BOOTSTRAP_LANE
