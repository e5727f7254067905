/*
 * longitudinal.c - what many reports on one permanent answer cost together.
 *
 * A permanent step that is right with probability p1 (a wrong value comes with
 * q1), and T steps of noise on its answer that leave p2 on the right value and
 * q2 on a wrong one. In doubles: for people to read, never for coins.
 *
 * Outputs. Let output m be reported n_m times. With r = p2 / q2 >= 1 and
 * S = sum over m of r^(n_m), the chance of the reports is, up to a factor that
 * all truths share, q1 S + (p1 - q1) r^(n_x) for truth x. Against truth x' the
 * ratio grows with n_x and falls with every other count, n_x' included; so the
 * worst reports are x, T times:
 *
 *     ones = ln (p1 X + 1 - p1) / (q1 X + 1 - q1),   X = r^T.
 *
 * Bits. c ones of T multiply the odds of a permanent 1 by
 * X = (p2/q2)^c ((1-p2)/(1-q2))^(T-c), which grows with c, and the ratio
 * (p1 X + 1 - p1) / (q1 X + 1 - q1) grows with X. The extremes are T ones, as
 * above, and no one,
 *
 *     zeros = ln (q1 X + 1 - q1) / (p1 X + 1 - p1),  X = ((1-p2)/(1-q2))^T.
 *
 * Two truths have another law in `differ` bits: one bit costs the larger, two
 * cost ones + zeros. Both forms are written as log1p of a difference, which is
 * exact where the costs are small, with powers as e^-y, y >= 0, which is never
 * too large for a double.                   docs/longitudinal.md,
 * theory 4.1
 */
#include "lib/family/twolevel.h"
#include "lib/scheme/permanent.h"

#include <math.h>

/* x / 2^64, and the same with 0 for 2^64. */
static double longitudinal_part(uint64_t x)
{
    return (double)x * 0x1p-64;
}

static double longitudinal_rest(uint64_t x)
{
    return x == 0 ? 1 : longitudinal_part(x);
}

/* p1 and q1. */
static void longitudinal_permanent(const hsy_permanent *c,
                                   struct mech_support *out)
{
    const hsy_scheme *s = c->permanent;

    switch (s->mech->client->permanent->step) {
    case PERMANENT_OUTPUT:
        hsy_support_of(out, twolevel_own(s), twolevel_other(s), s->total);
        break;
    case PERMANENT_FLIP:
        hsy_support_of(out, s->bits.own, s->bits.other, s->total);
        break;
    case PERMANENT_INSTANT:
        hsy_support_of(out, 0 - s->rappor.flip, s->rappor.flip, 0);
        break;
    }
}

/* p2 and q2. */
static void longitudinal_step(const hsy_permanent *c, struct mech_support *out)
{
    const hsy_scheme *s = c->report;
    const double k = s->mech->client->permanent->part(s).count;
    const double noise = longitudinal_part(c->step);
    const double rest = longitudinal_rest(0 - c->step);

    switch (s->mech->client->permanent->step) {
    case PERMANENT_OUTPUT:
        *out = (struct mech_support){.p = rest + noise / k,
                                     .not_p = noise - noise / k,
                                     .q = noise / k,
                                     .not_q = 1 - noise / k,
                                     .gap = rest};
        break;
    case PERMANENT_FLIP:
        *out = (struct mech_support){.p = rest,
                                     .not_p = noise,
                                     .q = noise,
                                     .not_q = rest,
                                     .gap = longitudinal_rest(0 - 2 * c->step)};
        break;
    case PERMANENT_INSTANT:
        *out = (struct mech_support){
            .p = longitudinal_rest(0 - s->rappor.miss),
            .not_p = longitudinal_part(s->rappor.miss),
            .q = longitudinal_part(s->rappor.low),
            .not_q = longitudinal_rest(0 - s->rappor.low),
            .gap = longitudinal_rest(0 - s->rappor.miss - s->rappor.low)};
        break;
    }
}

/* ln (a + b e^-y) / (low + high e^-y) where a - low = high - b = gap. */
static double longitudinal_gain(double gap, double low, double high, double y)
{
    return log1p(gap * -expm1(-y) / (low + high * exp(-y)));
}

/* What the permanent answer itself spends. */
static double longitudinal_most(const hsy_permanent *c)
{
    hsy_scheme_info info;

    hsy_scheme_describe(c->permanent, &info);
    return info.epsilon_permanent != 0 ? info.epsilon_permanent
                                       : info.epsilon_exact;
}

double hsy_permanent_epsilon(const hsy_permanent *c, uint64_t reports)
{
    const struct permanent_part part =
        c->report->mech->client->permanent->part(c->report);
    const double T = (double)reports, most = longitudinal_most(c);
    struct mech_support first, step;
    double ones, zeros, spent;

    if (reports == 0)
        return 0;
    longitudinal_permanent(c, &first);
    longitudinal_step(c, &step);
    ones = longitudinal_gain(first.gap, first.q, first.not_q,
                             T * log1p(step.gap / step.q));
    zeros = longitudinal_gain(first.gap, first.not_p, first.p,
                              T * log1p(step.gap / step.not_p));
    if (c->report->mech->client->permanent->step == PERMANENT_OUTPUT)
        spent = ones;
    else if (part.differ == 1)
        spent = ones > zeros ? ones : zeros;
    else
        spent = part.differ / 2 * (ones + zeros);
    return spent < most ? spent : most; /* the last digits of a double */
}

void hsy_permanent_describe(const hsy_permanent *c, hsy_permanent_info *info)
{
    struct mech_support first, step;

    longitudinal_permanent(c, &first);
    longitudinal_step(c, &step);
    *info = (hsy_permanent_info){.p1 = first.p,
                                 .q1 = first.q,
                                 .p2 = step.p,
                                 .q2 = step.q,
                                 .epsilon_report = hsy_permanent_epsilon(c, 1),
                                 .epsilon_permanent = longitudinal_most(c),
                                 .keys = hsy_permanent_keys(c)};
    info->epsilon_all_values =
        info->keys == 0 ? INFINITY
                        : (double)info->keys * info->epsilon_permanent;
}
