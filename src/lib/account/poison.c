/*
 * poison.c - what devices that lie can do to an estimate.
 *
 * An estimate is a mean over all reports of what each adds, phi. With a share
 * beta of liars it is (1 - beta) times that of the honest, f, plus beta times
 * the liars' mean of phi; it gains beta (mean of phi - f). Under the pure law a
 * report adds (1 - q) / (p - q) to a value that it supports and -q / (p - q) to
 * any other. So liars whose reports support j of r targets gain
 *
 *     G = beta ((E[j] - r q) / (p - q) - f_T)       (theory 12, [CJG21])
 *
 * on all of them, f_T being what the honest hold; and nobody moves one value by
 * more than beta (max phi - 0) up or beta (1 - min phi) down.
 */
#include "lib/core/fail.h"
#include "lib/family/lies.h"

#include <math.h>

/* ---- Gains --------------------------------------------------------------- */

static hsy_status poison_check(const hsy_scheme *s, const hsy_liars *liars,
                               hsy_error *err)
{
    const uint64_t *targets = liars->targets;
    const size_t r = liars->count;

    if (s->mech->estimate->lies == NULL)
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                        "how its devices lie best has not been worked out");
    if ((unsigned)liars->attack > (unsigned)HSY_ATTACK_MAXIMAL)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ATTACK, "no such attack");
    if (r == 0 || r > HSY_TARGETS_MAX || (s->d != 0 && r > s->d))
        return hsy_fail_stated(
            err, HSY_E_RANGE, HSY_FIELD_TARGETS,
            "from 1 to 64, and no more than there are values", HSY_TARGETS_MAX);
    if (!hsy_codes_inside(s, targets, r))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TARGETS,
                        "a target is outside the domain");
    for (size_t i = 0; i < r; i++)
        for (size_t k = 0; k < i; k++)
            if (targets[k] == targets[i])
                return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_TARGETS,
                                   "a target is given twice", HSY_UNIT_TARGET,
                                   i + 1);
    return HSY_OK;
}

/* How many of r targets a liar's report supports on the average. */
static double poison_supported(const hsy_scheme *s, const hsy_liars *liars,
                               const struct mech_support *law)
{
    const size_t r = liars->count;
    hsy_ratio share;

    switch (liars->attack) {
    case HSY_ATTACK_RANDOM:
        share = s->mech->estimate->lies->share(s);
        return (double)r * ((double)share.num / (double)share.den);
    case HSY_ATTACK_INPUT:
        return law->p + (double)(r - 1) * law->q;
    default:
        return (double)s->mech->estimate->lies->most(s, liars->targets, r);
    }
}

hsy_status hsy_poison_gain(const hsy_scheme *s, double *gain, double *supported,
                           const hsy_liars *liars, hsy_error *err)
{
    hsy_status st = poison_check(s, liars, err);
    struct mech_support law;
    double j;

    if (st != HSY_OK)
        return st;
    if (!(liars->share >= 0 && liars->share < 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_LYING,
                        "from 0 to less than 1");
    if (!(liars->held >= 0 && liars->held <= 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_HELD,
                        "a share is from 0 to 1");
    s->mech->estimate->support(s, &law);
    j = poison_supported(s, liars, &law);
    *gain = liars->share *
            ((j - (double)liars->count * law.q) / law.gap - liars->held);
    if (supported != NULL)
        *supported = j;
    return HSY_OK;
}

#define POISON_BLOCK 256u

/* Honest reports of targets, each drawn with the same chance. */
static hsy_status poison_inputs(const hsy_scheme *s, uint8_t *reports, size_t n,
                                const hsy_liars *liars, hsy_stream *secret,
                                hsy_stream *published, hsy_error *err)
{
    const uint64_t excess = hsy_prob_excess(liars->count);
    hsy_rng rng = hsy_stream_rng(published);
    uint64_t codes[POISON_BLOCK];
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n && st == HSY_OK; done += POISON_BLOCK) {
        size_t m = n - done < POISON_BLOCK ? n - done : POISON_BLOCK;

        for (size_t i = 0; i < m && st == HSY_OK; i++) {
            uint64_t which = 0;

            st = hsy_prob_below(&which, liars->count, excess, &rng);
            codes[i] = liars->targets[which];
        }
        if (st == HSY_OK)
            st = hsy_simulate_batch(s, reports + done * s->report_bytes, codes,
                                    m, secret, published, err);
    }
    return st;
}

hsy_status hsy_poison_reports(const hsy_scheme *s, uint8_t *reports, size_t n,
                              const hsy_liars *liars, hsy_stream *secret,
                              hsy_stream *published, hsy_error *err)
{
    hsy_status st = poison_check(s, liars, err);
    hsy_rng rng = hsy_stream_rng(published);

    if (st == HSY_OK) /* the streams, as simulating sees to them */
        st = hsy_simulate_batch(s, reports, liars->targets, 0, secret,
                                published, err);
    if (st != HSY_OK)
        return st;
    switch (liars->attack) {
    case HSY_ATTACK_RANDOM:
        return s->mech->estimate->lies->any(s, reports, n, &rng);
    case HSY_ATTACK_INPUT:
        return poison_inputs(s, reports, n, liars, secret, published, err);
    default:
        return s->mech->estimate->lies->best(s, reports, n, liars->targets,
                                             liars->count, &rng);
    }
}

/* ---- Bounds -------------------------------------------------------------- */

/* What a report can add to one value. */
struct poison_reach {
    double least, most;
};

/* By the mechanism, or by the law of support of its points. */
static bool poison_reach(struct poison_reach *out, const hsy_scheme *s,
                         const hsy_evidence *point)
{
    const double gap = point->p - point->q;
    double own[2], yes, no;

    if (s->mech->estimate->reach != NULL) {
        s->mech->estimate->reach(s, own);
        *out = (struct poison_reach){own[0], own[1]};
        return true;
    }
    if (s->mech->estimate->support == NULL || gap == 0)
        return false;
    yes = (1 - point->q) / gap;
    no = -point->q / gap;
    *out = (struct poison_reach){fmin(yes, no), fmax(yes, no)};
    return true;
}

/*
 * Local hashing takes predicted collisions off (lh_points.c): from a report of
 * seed j, w_u times (1 if u and v collide there, less 1/g) / (1 - 1/g) for each
 * u that is predicted to have the share w_u. These shares add up to 1 at most,
 * so a liar's seed takes off 1 at most, or adds 1 / (g - 1). What they do to
 * the rest of the reports stands in the points' floor.
 */
static void poison_predicted(struct poison_reach *reach, const hsy_scheme *s)
{
    reach->least -= 1;
    reach->most += 1 / ((double)s->param[HSY_PARAM_G] - 1);
}

hsy_status hsy_poison_bounds(const hsy_scheme *s, hsy_poison_bound *bounds,
                             const hsy_evidence *points, size_t count,
                             uint64_t reports, double lying, hsy_error *err)
{
    const bool hashed = s->mech->estimate->lies == &hsy_lies_hash;

    if (!(lying >= 0 && lying < 1))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_LYING,
                        "from 0 to less than 1");
    if (s->mech->estimate->points == NULL || s->mech->parts != NULL)
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                        "it has no bound on what lying devices can do");
    for (size_t i = 0; i < count; i++) {
        struct poison_reach reach;
        /* All liars may speak of this value, where not everybody does. */
        const double liars = lying * (double)reports;
        const double part = liars < points[i].n ? liars / points[i].n : 1;

        if (!poison_reach(&reach, s, &points[i]))
            return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                            "it has no bound on what lying devices can do");
        if (hashed)
            poison_predicted(&reach, s);
        bounds[i].up = part * fmax(0, reach.most);
        bounds[i].down = part * fmax(0, 1 - reach.least);
    }
    return HSY_OK;
}
