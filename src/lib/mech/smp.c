/*
 * smp.c - one sampled attribute of several, at the full epsilon.
 *
 * A report says which attribute it answers, drawn uniformly from the published
 * coins, and answers that one by the attribute's own mechanism.
 *
 * Privacy. That of the engine (sampled.h): which attribute is asked says
 * nothing of the truth, and its answer keeps epsilon, so
 *     P[(i, y) | x] / P[(i, y) | x'] <= e^epsilon
 * for any two truths x, x', which may differ in every attribute. No part of
 * the budget is "amplified": that would hold only between truths which differ
 * in one attribute.                            docs/mechanisms/smp.md, Thm 1
 */
#include "lib/scheme/sampled.h"
#include "lib/scheme/scheme.h"
#include "lib/scheme/tuple.h"

static uint64_t smp_code(const hsy_scheme *s, const uint64_t *codes, size_t i)
{
    (void)s;
    return codes[i];
}

const struct mech_parts hsy_mech_smp_parts = {
    .parts = hsy_tuple_count, .part = hsy_tuple_at, .code = smp_code};

/*
 * The worst variance of an attribute among those whose mechanism states it
 * without its tail and by a formula. Another one was chosen on purpose: then 0,
 * so that nothing is chosen in smp's place.
 */
static double smp_worst(const hsy_scheme *part, double count)
{
    double v[2];

    if (part->mech->client->settle != NULL || part->mech->estimate->iterative)
        return 0;
    hsy_mech_variance(part, v);
    v[0] *= count;
    v[1] *= count;
    return hsy_tuple_worst(v, count - 1);
}

static hsy_status smp_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    const size_t count = hsy_tuple_count(spec);
    bool stated = true;

    s->nano_epsilon = 0;
    for (size_t i = 0; i < count; i++) {
        hsy_spec sub = {.size = sizeof sub};
        hsy_scheme part;
        double worst;
        hsy_status st;

        hsy_tuple_at(&sub, spec, i);
        st = hsy_scheme_head(&part, NULL, &sub, err);
        if (st != HSY_OK)
            return st;
        if (part.nano_epsilon > s->nano_epsilon)
            s->nano_epsilon = part.nano_epsilon;
        worst = smp_worst(&part, (double)count);
        stated &= worst > 0;
        s->parts.worst = worst > s->parts.worst ? worst : s->parts.worst;
    }
    if (!stated)
        s->parts.worst = 0;
    return hsy_sampled_resolve(s, spec, err);
}

/* Of the attribute that is worst at share 0: its own, times how many there
 * are. */
static void smp_variance(const hsy_scheme *s, double v[2])
{
    const size_t count = hsy_scheme_parts(s);

    v[0] = v[1] = 0;
    for (size_t i = 0; i < count; i++) {
        double own[2];

        hsy_mech_variance(hsy_scheme_part(s, i), own);
        if (i > 0 && (double)count * own[0] <= v[0])
            continue;
        v[0] = (double)count * own[0];
        v[1] = (double)count * own[1];
    }
}

/* The logarithm of the worst ratio of an attribute. */
static double smp_ratio(const hsy_scheme *part)
{
    hsy_factor f[4];
    size_t count = part->mech->law->worst(part, f);
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        bool up = f[i].den != 0 && (f[i].num == 0 || f[i].num >= f[i].den);

        up |= f[i].num == 0 && f[i].den == 0;
        sum += up ? hsy_mech_ln(f[i].num, f[i].den)
                  : -hsy_mech_ln(f[i].den, f[i].num);
    }
    return sum * hsy_law_power(part);
}

static const hsy_scheme *smp_worst_part(const hsy_scheme *s)
{
    const hsy_scheme *worst = hsy_scheme_part(s, 0);

    for (size_t i = 1; i < hsy_scheme_parts(s); i++)
        if (smp_ratio(hsy_scheme_part(s, i)) > smp_ratio(worst))
            worst = hsy_scheme_part(s, i);
    return worst;
}

static size_t smp_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    const hsy_scheme *worst = smp_worst_part(s);

    return worst->mech->law->worst(worst, factors);
}

static uint32_t smp_law_power(const hsy_scheme *s)
{
    return hsy_law_power(smp_worst_part(s));
}

const struct mech_client hsy_mech_smp_client = {
    .resolve = smp_resolve,
    .randomize = hsy_sampled_randomize,
    .settle = hsy_sampled_settle,
};

const struct mech_estimate hsy_mech_smp_estimate = {
    .variance = smp_variance,
};

const struct mech_law hsy_mech_smp_law = {
    .of_codes = hsy_sampled_law_codes,
    .worst = smp_law_worst,
    .power = smp_law_power,
};
