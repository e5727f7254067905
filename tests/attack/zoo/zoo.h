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
extern const struct zoo_mutant zoo_rappor_truth_ored[], zoo_q_narrowed_to_0[],
    zoo_f_without_hashes[], zoo_out_of_range_is_zero[],
    zoo_laplace_in_doubles[], zoo_wrong_digit[], zoo_division_off_by_one[],
    zoo_time_shows_noise[];
extern const struct zoo_mutant zoo_oue_truth_ored[], zoo_last_position_plain[],
    zoo_lie_may_be_true[], zoo_shared_coins[], zoo_epsilon_each_bit[],
    zoo_oue_wrong_q[], zoo_lie_cut_to_7_bits[], zoo_libc_rand[],
    zoo_status_ignored[], zoo_seed_shows_coin[], zoo_hash_cuts_seed[],
    zoo_missing_return[], zoo_one_value_too_many[], zoo_lies_not_uniform[],
    zoo_lie_off_by_a_part[];

/* Mechanisms with a pool get a small one, seed 0: whole outputs are counted. */
#define ZOO_POOL_BITS 4
#define ZOO_POOL (1u << ZOO_POOL_BITS)

/* sums_wrap: a tally whose sums wrap. */
hsy_status zoo_sums_wrap_merge(hsy_tally *into, const hsy_tally *from,
                               hsy_error *err);

/* cohort_by_key_alone, empty_role_tag, fields_without_lengths: a device's coins
 * by a key that is made of too little. */
void zoo_cohort_by_key_alone_coins(uint8_t out[32], const uint8_t key[HSY_KEY],
                                   const hsy_context *context, bool published);
void zoo_empty_role_tag_coins(uint8_t out[32], const uint8_t key[HSY_KEY],
                              const hsy_context *context, bool published);
void zoo_fields_without_lengths_coins(uint8_t out[32],
                                      const uint8_t key[HSY_KEY],
                                      const hsy_context *context,
                                      bool published);

/* time_shows_noise: follows the law, but not in constant time. */
hsy_status zoo_time_shows_noise_single(void *ctx, const hsy_scheme *s,
                                       uint8_t *report,
                                       const struct audit_probe *probe,
                                       hsy_coins *coins);

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
