/*
 * sampled_law.c - exact laws of reports that answer one of several parts: the
 * chance of the part times the part's own law, and where an answer stands
 * beside, times the law of that.
 */
#include "lib/scheme/sampled.h"

#include <string.h>

size_t hsy_sampled_law_factors(const hsy_scheme *s)
{
    const hsy_scheme *beside = sampled_beside(s);
    size_t most = 0;

    for (size_t i = 0; i < sampled_drawn(s); i++) {
        size_t own = hsy_law_factors(hsy_scheme_part(s, i));

        most = own > most ? own : most;
    }
    return most + 1 + (beside != NULL ? hsy_law_factors(beside) : 0);
}

size_t hsy_sampled_law_codes(const hsy_scheme *s, hsy_factor *factors,
                             const uint64_t *codes, const uint8_t *report)
{
    const size_t i = sampled_index(s, report);
    const size_t drawn = sampled_drawn(s);
    const hsy_scheme *part = hsy_scheme_part(s, i), *last = sampled_beside(s);
    size_t count = 1;
    uint8_t room[8];

    factors[0] = (hsy_factor){1, drawn};
    count += part->mech->law->of_code(part, factors + 1,
                                      s->mech->parts->code(s, codes, i),
                                      sampled_take(s, part, room, report));
    if (last != NULL)
        count += last->mech->law->of_code(last, factors + count,
                                          s->mech->parts->code(s, codes, drawn),
                                          sampled_take_beside(s, room, report));
    return count;
}

static size_t sampled_law(const hsy_scheme *s, hsy_factor *factors,
                          uint64_t code, const uint8_t *report)
{
    return hsy_sampled_law_codes(s, factors, &code, report);
}

/* An integer of up to eight factors below 2^64 + 1, least limb first. */
struct sampled_product {
    uint64_t limb[9];
};

/* Times x, where 0 stands for 2^64: then all limbs move up by one. */
static void sampled_times(struct sampled_product *p, uint64_t x)
{
    uint64_t carry = 0;

    for (size_t i = 0; i < 9; i++) {
        hsy_u128 sum = (hsy_u128)p->limb[i] * x + carry;
        uint64_t below = carry;

        carry = x == 0 ? p->limb[i] : (uint64_t)(sum >> 64);
        p->limb[i] = x == 0 ? below : (uint64_t)sum;
    }
}

/* Whether the product of ratios a is larger than b's: cross-multiplied. */
static bool sampled_worse(const hsy_factor *a, size_t na, const hsy_factor *b,
                          size_t nb)
{
    struct sampled_product left = {{1}}, right = {{1}};
    size_t i = 8;

    for (size_t k = 0; k < na; k++) {
        sampled_times(&left, a[k].num);
        sampled_times(&right, a[k].den);
    }
    for (size_t k = 0; k < nb; k++) {
        sampled_times(&left, b[k].den);
        sampled_times(&right, b[k].num);
    }
    while (i > 0 && left.limb[i] == right.limb[i])
        i--;
    return left.limb[i] > right.limb[i];
}

static size_t sampled_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    const hsy_scheme *last = sampled_beside(s);
    size_t count = 0;

    for (size_t i = 0; i < sampled_drawn(s); i++) {
        const hsy_scheme *part = hsy_scheme_part(s, i);
        hsy_factor own[4];
        size_t n = part->mech->law->worst(part, own);

        if (i > 0 && !sampled_worse(own, n, factors, count))
            continue;
        memcpy(factors, own, n * sizeof *own);
        count = n;
    }
    if (last != NULL) /* two answers to one truth: two factors each at most */
        count += last->mech->law->worst(last, factors + count);
    return count;
}

const struct mech_law hsy_mech_sampled_law = {
    .of_code = sampled_law,
    .of_codes = hsy_sampled_law_codes,
    .worst = sampled_law_worst,
};
