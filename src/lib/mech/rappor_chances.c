/*
 * rappor_chances.c - RAPPOR's probabilities, exactly.
 *
 * Three chances, each rounded up to binary digits, so that noise only grows:
 *
 *     flip = f / 2    a bit of the Bloom filter is turned for good
 *     low  = p        a permanent 0 is reported as 1
 *     miss = 1 - q    a permanent 1 is reported as 0
 *
 * With flip of a digits and the others of b, a + b <= 64, the rates of a
 * reported 1 are multiples of 2^-64, without rounding:
 *
 *     other = p* = (1 - flip) low + flip (1 - miss)       of a bit that is 0
 *     1 - own = 1 - q* = (1 - flip) miss + flip (1 - low) of a bit that is 1
 *
 * By epsilon alone the second step is symmetric, low = miss, and with
 * r = 1 / (e^(epsilon/2h) + 1), the rate of wrong bits that epsilon allows,
 * flip is the largest power of two below r; low is then the least that keeps
 * p* at r or above. docs/mechanisms/rappor.md, Thm 1 and Rounding.
 */
#include "lib/mech/rappor.h"

#include "lib/core/exp.h"
#include "lib/core/fail.h"

#define RAPPOR_DIGITS 32 /* of probabilities that are given */

/* Up to here 64 digits suffice for a slack of 2^-28, see rappor_by_epsilon. */
#define RAPPOR_EACH_MAX 22000000000u

/* ---- A power of a ratio, rounded up -------------------------------------- */

/* A number at most m / 2^shift, 2^62 <= m < 2^63. */
struct rappor_upper {
    uint64_t m;
    int shift;
};

static struct rappor_upper rappor_cut(hsy_u128 m, int shift)
{
    for (; m >> 63 != 0; shift--)
        m = (m >> 1) + (uint64_t)(m & 1);
    return (struct rappor_upper){(uint64_t)m, shift};
}

/* high / low, high >= low > 0. */
static struct rappor_upper rappor_ratio(uint64_t high, uint64_t low)
{
    return rappor_cut(((hsy_u128)high << 63) / low + 1, 63);
}

static struct rappor_upper rappor_times(struct rappor_upper a,
                                        struct rappor_upper b)
{
    return rappor_cut((hsy_u128)a.m * b.m, a.shift + b.shift);
}

/*
 * What one report spends, as a ratio: (own (1 - other) / (other (1 - own)))^h.
 * Every step rounds up by less than 2^-61 of its value, and there are at most
 * 2 + 64: what is lost is below 2^-54. Shifts below 0 stand for more than
 * 2^62.
 */
static struct rappor_upper rappor_spent(const hsy_scheme *s)
{
    struct rappor_upper each =
        rappor_times(rappor_ratio(s->bits.own, s->bits.other),
                     rappor_ratio(0 - s->bits.other, 0 - s->bits.own));
    struct rappor_upper all = each;

    for (uint32_t i = 1; i < rappor_hashes(s) && all.shift >= 0; i++)
        all = rappor_times(all, each);
    return all;
}

static bool rappor_covers(uint64_t nano_epsilon, struct rappor_upper spent)
{
    return spent.shift >= 0 && hsy_exp_covers(2 * nano_epsilon, spent.m,
                                              (uint64_t)1 << spent.shift);
}

/* ---- Rates --------------------------------------------------------------- */

static uint32_t rappor_digits(uint64_t threshold)
{
    return threshold == 0 ? 0 : 64 - (uint32_t)__builtin_ctzll(threshold);
}

/* own and other from s->rappor; false unless 0 < p* < q* < 1. */
static bool rappor_rates(hsy_scheme *s)
{
    struct law_rappor *r = &s->rappor;
    hsy_u128 one = (hsy_u128)1 << 64, wrong;

    r->flip_digits = rappor_digits(r->flip);
    r->step_digits = rappor_digits(r->low | r->miss);
    /* Products have at most 64 binary digits: dropping 64 drops zeros. */
    s->bits.other = (uint64_t)(((one - r->flip) * r->low >> 64) +
                               (r->flip * (one - r->miss) >> 64));
    wrong =
        ((one - r->flip) * r->miss >> 64) + (r->flip * (one - r->low) >> 64);
    s->bits.own = (uint64_t)(one - wrong);
    return s->bits.other != 0 && wrong != 0 && s->bits.other < s->bits.own;
}

/* ceil(num / den 2^64) at RAPPOR_DIGITS digits; num < den. */
static uint64_t rappor_threshold(uint64_t num, uint64_t den)
{
    uint64_t digits = ((num << RAPPOR_DIGITS) + den - 1) / den;

    return digits << (64 - RAPPOR_DIGITS);
}

/* ---- By probabilities ---------------------------------------------------- */

/* p < q, without division: denominators are at most 2^31. */
static bool rappor_ordered(const hsy_ratio *p, const hsy_ratio *q)
{
    return p->num * q->den < q->num * p->den;
}

static hsy_status rappor_take(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    for (size_t i = 0; i < HSY_CHANCES; i++) {
        const hsy_ratio *r = &spec->chance[i];
        bool none = r->num == 0 && r->den == 0;

        if (i < 3 ? !mech_ratio_valid(r) : !none)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                            "f, p and q are each num/den with den from 1 to "
                            "2^31");
        s->chance[i] = *r;
    }
    if (s->chance[0].num == s->chance[0].den)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        "with f = 1 a report holds nothing: no information");
    if (!rappor_ordered(&s->chance[1], &s->chance[2]))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        "p must be below q: no information, or bits that "
                        "mean their opposite");
    return HSY_OK;
}

/* The smallest nano-epsilon that covers; 0 if that is above the largest. */
static uint64_t rappor_claim(struct rappor_upper spent)
{
    uint64_t low = HSY_EPSILON_MIN, high = HSY_EPSILON_MAX;

    if (!rappor_covers(high, spent))
        return 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (rappor_covers(middle, spent))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

static hsy_status rappor_by_chance(hsy_scheme *s, const hsy_spec *spec,
                                   hsy_error *err)
{
    const hsy_ratio *f = &s->chance[0], *p = &s->chance[1], *q = &s->chance[2];
    hsy_status st = rappor_take(s, spec, err);

    if (st != HSY_OK)
        return st;
    s->rappor.flip = rappor_threshold(f->num, 2 * f->den);
    s->rappor.low = rappor_threshold(p->num, p->den);
    s->rappor.miss = rappor_threshold(q->den - q->num, q->den);
    if (!rappor_rates(s))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                        s->bits.other != 0 && s->bits.own != 0 &&
                                s->bits.other >= s->bits.own
                            ? "too little of the truth is left: p and q are "
                              "alike to 32 binary digits"
                            : "with f = 0 and p = 0 or q = 1 a bit would "
                              "prove the truth: infinite epsilon");
    return hsy_mech_claim(s, rappor_claim(rappor_spent(s)), err);
}

/* ---- By epsilon ---------------------------------------------------------- */

/* Set low = miss = step and say whether epsilon covers what comes of it. */
static bool rappor_step(hsy_scheme *s, uint64_t step)
{
    s->rappor.low = s->rappor.miss = step;
    return rappor_rates(s) && rappor_covers(s->nano_epsilon, rappor_spent(s));
}

/* The least step of so many digits that epsilon covers: what is spent falls as
 * the step grows, and at 1/2 less one digit nearly nothing is. */
static void rappor_least_step(hsy_scheme *s, uint32_t digits)
{
    const unsigned rest = 64 - digits;
    uint64_t low = 0, high = ((uint64_t)1 << (digits - 1)) - 1;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (rappor_step(s, middle << rest))
            high = middle;
        else
            low = middle + 1;
    }
    rappor_step(s, high << rest);
}

/*
 * A digit more of the step halves the slack, which is below
 * 2 h 2^-b / (r (1 - r)): with epsilon / h at most 22, r is above 2^-16, flip
 * takes at most 16 digits, and 48 for the step keep it under 2^-30 h. Three
 * nano-epsilon are less than 2^-28.
 */
static hsy_status rappor_by_epsilon(hsy_scheme *s, const hsy_spec *spec,
                                    hsy_error *err)
{
    const uint64_t each = s->nano_epsilon / rappor_hashes(s);
    uint64_t r = hsy_exp_flip(each); /* half nano of epsilon / 2h */
    uint32_t digits = RAPPOR_DIGITS, most;

    for (size_t i = 0; i < HSY_CHANCES; i++)
        if (spec->chance[i].num != 0 || spec->chance[i].den != 0)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                            "probabilities without a design");
    if (each > RAPPOR_EACH_MAX)
        return hsy_fail_kind(err, HSY_E_RANGE, HSY_FIELD_EPSILON,
                             "at most 22 for each hash; give f, p and q",
                             HSY_LIMIT_NANO, RAPPOR_EACH_MAX);
    s->rappor.flip = (uint64_t)1 << 62;
    while (s->rappor.flip >= r)
        s->rappor.flip >>= 1;
    most = 64 - rappor_digits(s->rappor.flip);
    do
        rappor_least_step(s, digits);
    while (rappor_covers(s->nano_epsilon - 3, rappor_spent(s)) &&
           digits++ < most);
    return HSY_OK;
}

hsy_status hsy_rappor_chances(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    if (spec->design != HSY_DESIGN_EPSILON && spec->design != HSY_DESIGN_RAPPOR)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DESIGN,
                        "rappor takes f, p and q, or epsilon");
    s->law = LAW_RAPPOR;
    s->design = spec->design;
    return s->design == HSY_DESIGN_RAPPOR ? rappor_by_chance(s, spec, err)
                                          : rappor_by_epsilon(s, spec, err);
}
