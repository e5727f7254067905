/*
 * zoo.h - mechanisms that are wrong in ways others were wrong.
 *
 * Each file here is one slip, small and deliberate. A mutant claims to be a
 * real scheme and answers by itself; the auditor must not believe it.
 */
#ifndef ZOO_H
#define ZOO_H

#include "audit/audit.h"
#include "lib/bits/bytes.h"
#include "lib/scheme/scheme.h"

#include <math.h>

struct zoo_mutant {
    const char *name;
    const char *slip;      /* what is wrong, for the test's sentence */
    const char *mechanism; /* what it claims to be */
    uint32_t kind, d;
    uint64_t nano_epsilon;
    hsy_status (*single)(void *ctx, const hsy_scheme *s, uint8_t *report,
                         const struct audit_probe *probe, hsy_coins *coins);
    double setting; /* how far off, where that can be chosen; ctx points here */
    uint64_t samples;
    unsigned faults; /* enum audit_fault: all of these must be found */
};

/* Ended by a row without a name. */
extern const struct zoo_mutant zoo_z02[], zoo_z09[], zoo_z34[], zoo_z35[],
    zoo_z21[], zoo_z22[], zoo_z23[], zoo_z24[];
extern const struct zoo_mutant zoo_z01[], zoo_z03[], zoo_z04[], zoo_z05[],
    zoo_z06[], zoo_z07[], zoo_z08[], zoo_z10[], zoo_z11[], zoo_z12[], zoo_z13[],
    zoo_z20[], zoo_z29[], zoo_z41[], zoo_z42[];

/* Mechanisms with a pool get a small one, seed 0: whole outputs are counted. */
#define ZOO_POOL_BITS 4
#define ZOO_POOL (1u << ZOO_POOL_BITS)

/* Z32: a tally whose sums wrap. */
hsy_status zoo_z32_merge(hsy_tally *into, const hsy_tally *from,
                         hsy_error *err);

/* Z17, Z18, Z19: a device's coins by a key that is made of too little. */
void zoo_z17_coins(uint8_t out[32], const uint8_t key[HSY_KEY],
                   const hsy_context *context, bool published);
void zoo_z18_coins(uint8_t out[32], const uint8_t key[HSY_KEY],
                   const hsy_context *context, bool published);
void zoo_z19_coins(uint8_t out[32], const uint8_t key[HSY_KEY],
                   const hsy_context *context, bool published);

/* Z24: follows the law, but not in constant time. */
hsy_status zoo_z24_single(void *ctx, const hsy_scheme *s, uint8_t *report,
                          const struct audit_probe *probe, hsy_coins *coins);

/* ---- What the mutants share: none of it is wrong ------------------------- */

static inline double zoo_epsilon(const hsy_scheme *s)
{
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    return info.epsilon;
}

static inline uint32_t zoo_domain(const hsy_scheme *s)
{
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    return info.d;
}

/* A uniform number in [0, 1) from the secret coins. */
static inline hsy_status zoo_uniform(double *u, hsy_coins *coins)
{
    uint8_t bytes[8];
    hsy_status st = coins->secret.fill(coins->secret.ctx, bytes, sizeof bytes);

    if (st == HSY_OK)
        *u = ldexp((double)(bytes_get64(bytes) >> 11), -53);
    return st;
}

/* The report whose packed bits are those of word. */
static inline hsy_status zoo_report(const hsy_scheme *s, uint8_t *report,
                                    uint64_t word)
{
    uint8_t packed[8];

    bytes_put64(packed, word);
    return hsy_unpack(s, report, packed, 1);
}

/* Independent bits: 1 with probability p at the truth, q elsewhere. */
static inline hsy_status zoo_unary(const hsy_scheme *s, uint8_t *report,
                                   uint64_t truth, double p, double q,
                                   hsy_coins *coins)
{
    uint32_t d = zoo_domain(s);
    uint64_t word = 0;

    for (uint32_t v = 0; v < d; v++) {
        double u;
        hsy_status st = zoo_uniform(&u, coins);

        if (st != HSY_OK)
            return st;
        word |= (uint64_t)(u < (v == truth ? p : q)) << v;
    }
    return zoo_report(s, report, word);
}

/* One bit, flipped with probability q. */
static inline hsy_status zoo_flip(const hsy_scheme *s, uint8_t *report,
                                  uint64_t truth, double q, hsy_coins *coins)
{
    double u;
    hsy_status st = zoo_uniform(&u, coins);

    return st == HSY_OK ? zoo_report(s, report, truth ^ (u < q)) : st;
}

/* A RAPPOR report: a uniform cohort, then bits that are 1 with probability own
 * where the truth sets them and other elsewhere. */
static inline hsy_status zoo_rappor(const hsy_scheme *s, uint8_t *report,
                                    uint64_t truth, double own, double other,
                                    hsy_coins *coins)
{
    uint16_t at[64];
    uint64_t word = 0, set = 0;
    uint8_t cohort;
    hsy_scheme_info info;
    hsy_status st =
        coins->published.fill(coins->published.ctx, &cohort, sizeof cohort);

    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(s, &info);
    cohort &= (uint8_t)(info.param[HSY_PARAM_COHORTS] - 1);
    hsy_rappor_bits(s, at, truth, cohort);
    for (size_t i = 0; i < info.param[HSY_PARAM_HASHES]; i++)
        set |= (uint64_t)1 << at[i];
    for (uint64_t b = 0; b < info.param[HSY_PARAM_FILTER_BITS]; b++) {
        double u;

        st = zoo_uniform(&u, coins);
        if (st != HSY_OK)
            return st;
        word |= (uint64_t)(u < ((set >> b & 1) != 0 ? own : other)) << b;
    }
    word |= (uint64_t)cohort << info.param[HSY_PARAM_FILTER_BITS];
    return zoo_report(s, report, word);
}

/* A step of Laplace's noise is less likely than the one before by e^-decay. */
static inline double zoo_decay(const hsy_scheme *s)
{
    return (double)s->nano_epsilon / HSY_NANO /
           (2 * (double)s->param[HSY_PARAM_GRID]);
}

/* Laplace's report of grid point j with some noise, held within its outputs. */
static inline hsy_status zoo_noise(const hsy_scheme *s, uint8_t *report,
                                   uint64_t j, double noise)
{
    double last = (double)s->cells - 1;
    double middle = last / 2 - (double)s->param[HSY_PARAM_GRID] + (double)j;

    return zoo_report(s, report, (uint64_t)fmin(fmax(middle + noise, 0), last));
}

#endif
