/* info.c - a scheme described: sizes, rates, and what it spends. */
#include "lib/scheme/scheme.h"

/* libm stays out of this room; two words of an integer make a double. */
static double scheme_info_double(hsy_u128 x)
{
    return (double)(uint64_t)(x >> 64) * 18446744073709551616.0 +
           (double)(uint64_t)x;
}

/* ln(high / low), high >= low > 0, both at most 2^64. */
static double scheme_info_ln(hsy_u128 high, hsy_u128 low)
{
    double powers = 0, z, square, term, sum = 0;
    bool under;

    for (; low << 1 <= high; low <<= 1)
        powers++;
    if (5 * high > 7 * low) { /* now high / low is from 0.7 to 1.4 */
        low <<= 1;
        powers++;
    }
    /* ln(high / low) = 2 artanh(z), |z| < 0.18; the difference is exact. */
    under = high < low;
    z = scheme_info_double(under ? low - high : high - low) /
        scheme_info_double(high + low);
    square = z * z;
    term = under ? -2 * z : 2 * z;
    for (int k = 1; k < 26; k += 2) {
        sum += term / k;
        term *= square;
    }
    return powers * 0.693147180559945309417232121458 + sum;
}

static hsy_u128 scheme_info_whole(uint64_t x)
{
    return x == 0 ? (hsy_u128)1 << 64 : x;
}

double hsy_mech_ln(uint64_t high, uint64_t low)
{
    return scheme_info_ln(scheme_info_whole(high), scheme_info_whole(low));
}

/*
 * ln of the worst ratio. The integers never exceed e^epsilon (X1 proves it),
 * but the last digits of a double may: those, and no more, are taken back.
 * A release's noise is of epsilon itself, a rational: there is nothing to
 * round.
 */
static double scheme_info_epsilon_exact(const hsy_scheme *s, double epsilon)
{
    hsy_factor factors[4];
    size_t count;
    double sum = 0;

    if (mech_central(s->mech))
        return epsilon;
    count = s->mech->law->worst(s, factors);

    for (size_t i = 0; i < count; i++) {
        hsy_u128 num = scheme_info_whole(factors[i].num);
        hsy_u128 den = scheme_info_whole(factors[i].den);

        sum +=
            num >= den ? scheme_info_ln(num, den) : -scheme_info_ln(den, num);
    }
    sum *= hsy_law_power(s);
    return sum > epsilon && sum - epsilon < 1e-14 * epsilon ? epsilon : sum;
}

static void scheme_info_support(const hsy_scheme *s, hsy_scheme_info *info)
{
    struct mech_support law = {0};
    double v[2];

    if (s->mech->estimate->support != NULL)
        s->mech->estimate->support(s, &law);
    hsy_mech_variance(s, v);
    info->p = law.p;
    info->q = law.q;
    info->v0 = v[0];
    info->v1 = v[1];
    info->steps = hsy_mech_steps(s);
    info->iterative = s->mech->estimate->iterative;
    info->nano_permanent = s->nano_permanent;
    if (s->mech->law != NULL && s->mech->law->epsilon_permanent != NULL)
        info->epsilon_permanent = s->mech->law->epsilon_permanent(s);
    else
        info->epsilon_permanent = (double)s->nano_permanent / 1e9;
    info->epsilon = (double)s->nano_epsilon / 1e9;
    info->epsilon_exact = scheme_info_epsilon_exact(s, info->epsilon);
}

void hsy_scheme_describe(const hsy_scheme *s, hsy_scheme_info *info)
{
    *info = (hsy_scheme_info){
        .mechanism = s->mech->row.name,
        .id = s->mech->row.id,
        .kind = s->kind,
        .analysis = s->mech->row.analysis,
        .cell_law = s->mech->estimate->cell_law,
        .nano_epsilon = s->nano_epsilon,
        .d = s->d,
        .lo = s->lo,
        .hi = s->hi,
        .scale = s->scale,
        .design = s->design,
        .labels_len = s->labels_len,
        .labels_at = s->labels_at,
        .report_bits = s->report_bits,
        .packed_bits = s->packed_bits,
        .report_bytes = s->report_bytes,
        .cells = s->cells,
        .strata = s->strata,
        .weights = s->weights,
        .answers = s->answers,
        .central = mech_central(s->mech),
        .oracle =
            s->oracle != 0 ? hsy_mech_numbered(s->oracle)->row.name : NULL,
    };
    for (size_t i = 0; i < HSY_ALPHABET; i++)
        info->alphabet[i] = s->alphabet[i];
    for (size_t i = 0; i < HSY_PARAMS; i++)
        info->param[i] = s->param[i];
    for (size_t i = 0; i < HSY_DIGEST; i++)
        info->digest[i] = s->digest[i];
    scheme_info_support(s, info);
}
