/* audit_law.c - epsilon from the resolved integers, two ways. */
#include "audit/internal.h"

#include <math.h>
#include <stdlib.h>

#define AUDIT_LAW_2_64 18446744073709551616.0L

static long double audit_law_den(const hsy_factor *f)
{
    return f->den == 0 ? AUDIT_LAW_2_64 : (long double)f->den;
}

double audit_exact(const hsy_scheme *s)
{
    hsy_factor f[4];
    size_t count;
    long double sum = 0;

    hsy_law_worst(s, f, &count);
    for (size_t i = 0; i < count; i++) {
        long double den = audit_law_den(&f[i]);
        long double num =
            f[i].num == 0 ? AUDIT_LAW_2_64 : (long double)f[i].num;

        /* num - den is exact where they are close, so a tiny epsilon keeps
         * its digits. */
        sum += log1pl((num - den) / den);
    }
    return (double)(sum * hsy_law_power(s));
}

/* P[report | codes]. factors has room for hsy_law_factors. */
static long double audit_probability(const hsy_scheme *s, hsy_factor *factors,
                                     const uint64_t *codes,
                                     const uint8_t *report)
{
    long double product = 1;
    size_t count;

    hsy_law_codes(s, factors, &count, codes, report);
    for (size_t i = 0; i < count; i++)
        product *= (long double)factors[i].num / audit_law_den(&factors[i]);
    return product;
}

int audit_compare(const hsy_scheme *s, hsy_factor *factors, const uint64_t *a,
                  const uint64_t *b, const uint8_t *report)
{
    hsy_factor *other = factors + hsy_law_factors(s);
    long double ratio = 1;
    size_t count, others;

    /* Factor by factor, so that a product over many bits cannot underflow. */
    hsy_law_codes(s, factors, &count, a, report);
    hsy_law_codes(s, other, &others, b, report);
    for (size_t i = 0; i < count || i < others; i++) {
        if (i < count)
            ratio *= (long double)factors[i].num / audit_law_den(&factors[i]);
        if (i < others && other[i].num == 0)
            return 1;
        if (i < others)
            ratio *= audit_law_den(&other[i]) / (long double)other[i].num;
    }
    if (fabsl(ratio - 1) < 1e-15L)
        return 0;
    return ratio > 1 ? 1 : -1;
}

/* Report number `cell`, if there is one. */
static bool audit_law_report(const hsy_scheme *s, uint8_t *report, size_t cell)
{
    const uint8_t packed[8] = {(uint8_t)cell, (uint8_t)(cell >> 8)};

    return hsy_unpack(s, report, packed, 1) == HSY_OK &&
           hsy_check(s, report) == HSY_OK;
}

/* How many truths there are, 0 if more than AUDIT_LAW_DOMAIN or any number. */
static uint64_t audit_law_truths(const hsy_scheme *s)
{
    uint64_t truths = 1;

    for (size_t i = 0; i < hsy_codes_per_truth(s) && truths != 0; i++) {
        uint64_t count = hsy_code_count(hsy_scheme_attribute(s, i));

        truths = count <= AUDIT_LAW_DOMAIN ? truths * count : 0;
        truths = truths <= AUDIT_LAW_DOMAIN ? truths : 0;
    }
    return truths;
}

/* The codes of truth k of all. */
static void audit_law_codes(const hsy_scheme *s, uint64_t *codes, uint64_t k)
{
    for (size_t i = 0; i < hsy_codes_per_truth(s); i++) {
        uint64_t count = hsy_code_count(hsy_scheme_attribute(s, i));

        codes[i] = k % count;
        k /= count;
    }
}

/* ln of the largest over the smallest probability of a report: over all codes
 * of a domain of at most AUDIT_LAW_DOMAIN, else over the probes. */
static double audit_law_spread(const hsy_scheme *s, hsy_factor *factors,
                               const uint8_t *report,
                               const struct audit_probe *probes, size_t nprobes)
{
    const uint64_t truths = audit_law_truths(s);
    const uint64_t n = truths != 0 ? truths : nprobes;
    long double low = 2, high = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t room[HSY_ATTRIBUTES_MAX];
        const uint64_t *codes = truths != 0 ? room : probes[i].codes;
        long double p;

        if (truths != 0)
            audit_law_codes(s, room, i);
        p = audit_probability(s, factors, codes, report);

        low = p < low ? p : low;
        high = p > high ? p : high;
    }
    if (high == 0)
        return 0; /* nobody sends it */
    return low == 0 ? INFINITY : (double)log1pl((high - low) / low);
}

static void audit_law_fill(struct audit_outputs *out, const hsy_scheme *s,
                           const struct audit_probe *probes, size_t nprobes,
                           uint8_t *report, hsy_factor *factors)
{
    for (size_t cell = 0; cell < out->size; cell++) {
        bool real = audit_law_report(s, report, cell);

        for (size_t x = 0; x < nprobes; x++)
            out->law[x * out->size + cell] =
                real ? (double)audit_probability(s, factors, probes[x].codes,
                                                 report)
                     : -1;
        if (real) {
            double spread =
                audit_law_spread(s, factors, report, probes, nprobes);

            out->count++;
            out->epsilon = fmax(out->epsilon, spread);
        }
    }
}

hsy_status audit_enumerate(struct audit_outputs *out, const hsy_scheme *s,
                           const hsy_scheme_info *info,
                           const struct audit_probe *probes, size_t nprobes)
{
    uint8_t *report = calloc(1, info->report_bytes + 8);
    hsy_factor *factors = calloc(hsy_law_factors(s) + 1, sizeof *factors);
    hsy_status st = HSY_E_NOMEM;

    *out = (struct audit_outputs){0};
    if (info->packed_bits <= AUDIT_CELL_BITS)
        out->size = (size_t)1 << info->packed_bits;
    out->law = calloc(nprobes * out->size + 1, sizeof *out->law);
    if (report != NULL && factors != NULL && out->law != NULL) {
        audit_law_fill(out, s, probes, nprobes, report, factors);
        st = HSY_OK;
    }
    free(report);
    free(factors);
    return st;
}
