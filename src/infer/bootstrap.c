/*
 * bootstrap.c - how far a density may be off: reports drawn anew from the
 * fitted channel, estimated like the real ones, over and over [ET93].
 */
#include "em.h"
#include "fail.h"
#include "infer.h"

#include <math.h>

#define BOOTSTRAP_REPLICATES 200u
#define BOOTSTRAP_MOST 100000u
#define BOOTSTRAP_LANE 0x626f6f7473747270u /* "bootstrp" */

static uint64_t bootstrap_replicates(const hsy_density_how *how)
{
    return how->replicates != 0 ? how->replicates : BOOTSTRAP_REPLICATES;
}

size_t hsy_density_estimate_scratch(const hsy_scheme *s,
                                    const hsy_density_how *how)
{
    const uint64_t each = bootstrap_replicates(how);

    if (each > BOOTSTRAP_MOST ||
        s->d > SIZE_MAX / sizeof(double) / 2 / (each + 1))
        return 0;
    return (hsy_em_doubles(s) + hsy_em_outputs(s) + (size_t)each * s->d) *
           sizeof(double);
}

/* The value that the share `part` of sorted[0] >= sorted[1] >= ... lies above,
 * between two of them by its distance: part (count + 1) is from 1 to count. */
static double bootstrap_quantile(const double *sorted, size_t count,
                                 double part)
{
    const double place = part * ((double)count + 1) - 1;
    const size_t at = (size_t)place;
    const double rest = place - (double)at;

    return at + 1 < count ? sorted[at] + rest * (sorted[at + 1] - sorted[at])
                          : sorted[count - 1];
}

static double bootstrap_sd(const double *x, size_t count)
{
    const double mean = hsy_sum(x, count) / (double)count;
    double squares = 0;

    for (size_t i = 0; i < count; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return sqrt(squares / ((double)count - 1));
}

/* replicas of one share become its error and interval. */
static void bootstrap_share(hsy_estimate *est, double *replicas, size_t count,
                            double miss)
{
    hsy_sort_down(replicas, count);
    est->sd = bootstrap_sd(replicas, count);
    est->high = bootstrap_quantile(replicas, count, miss / 2);
    est->low = bootstrap_quantile(replicas, count, 1 - miss / 2);
}

static hsy_status bootstrap_check(const hsy_density_how *how, hsy_error *err)
{
    const uint64_t count = bootstrap_replicates(how);

    if (!(how->level > 0 && how->level < 1))
        return hsy_fail(err, HSY_E_RANGE, "level", "between 0 and 1");
    if (count > BOOTSTRAP_MOST)
        return hsy_fail_limit(err, HSY_E_RANGE, "replicates", "too many",
                              BOOTSTRAP_MOST);
    /* The ends are replicates: miss / 2 of count + 1 is at least one. */
    if ((1 - how->level) / 2 * ((double)count + 1) < 1)
        return hsy_fail_limit(err, HSY_E_RANGE, "replicates",
                              "too few for so high a level: at least",
                              (uint64_t)ceil(2 / (1 - how->level)) - 1);
    return HSY_OK;
}

/* Replicate number r of every share, each to its place among its own. */
static void bootstrap_replicate(struct em *em, double *replicas, size_t r,
                                size_t count, const double *model,
                                hsy_stream *stream)
{
    hsy_multinomial_draw(em->counts, model, em->outputs, (uint64_t)em->n,
                         stream);
    for (size_t y = 0; y < em->outputs; y++)
        em->counts[y] /= em->n;
    hsy_em_climb(em);
    for (size_t x = 0; x < em->values; x++)
        replicas[x * count + r] = em->theta[x];
}

hsy_status hsy_density_estimate(const hsy_scheme *s, hsy_estimate *est,
                                hsy_density_fit *fit, const hsy_tally *t,
                                const hsy_density_how *how, void *scratch,
                                hsy_error *err)
{
    const size_t count = (size_t)bootstrap_replicates(how);
    struct em em;
    double *model = hsy_em_room(&em, s, scratch);
    double *replicas = model + em.outputs;
    hsy_stream stream;
    hsy_status st = bootstrap_check(how, err);

    if (st == HSY_OK)
        st = hsy_em_fit(&em, fit, t, how, err);
    if (st != HSY_OK)
        return st;
    s->mech->forward(s, model, em.theta, em.scratch);
    for (size_t x = 0; x < em.values; x++)
        est[x].value = em.theta[x];
    hsy_stream_seed(&stream, how->seed, BOOTSTRAP_LANE);
    for (size_t r = 0; r < count; r++)
        bootstrap_replicate(&em, replicas, r, count, model, &stream);
    hsy_stream_clear(&stream);
    for (size_t x = 0; x < em.values; x++)
        bootstrap_share(&est[x], replicas + x * count, count, 1 - how->level);
    return HSY_OK;
}

#undef BOOTSTRAP_REPLICATES
#undef BOOTSTRAP_MOST
#undef BOOTSTRAP_LANE
