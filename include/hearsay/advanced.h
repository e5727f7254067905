/* advanced.h - for simulations, audits and tests; not stable. */
#ifndef HEARSAY_ADVANCED_H
#define HEARSAY_ADVANCED_H

#include "hearsay/account.h"

#ifdef HSY_UNSTABLE

#ifdef __cplusplus
extern "C" {
#endif

/* Compute the Walsh-Hadamard transform of n cells in place, modulo 2^64:
 * cells[i] = sum over k of (-1)^(ones of i & k) cells[k]. n must be a power of
 * two, else HSY_E_RANGE. Returns HSY_E_UNKNOWN if this machine cannot run
 * `level`. */
HSY_API hsy_status hsy_hadamard_transform(int64_t *cells, size_t n,
                                          hsy_cpu level);

/* Randomize like hsy_randomize_batch, but faster and not in constant time: the
 * number of random bytes used reveals the noise. Returns HSY_E_REFUSED unless
 * both streams were opened by seed, HSY_E_RANGE if secret == published. */
HSY_API hsy_status hsy_simulate_batch(const hsy_scheme *s, uint8_t *reports,
                                      const uint64_t *codes, size_t n,
                                      hsy_stream *secret, hsy_stream *published,
                                      hsy_error *err);

/* Make n reports of lying devices, to test a collector: they pass hsy_check.
 * Streams as for hsy_simulate_batch, errors as for hsy_poison_gain.
 * liars->share and held are not used. */
HSY_API hsy_status hsy_poison_reports(const hsy_scheme *s, uint8_t *reports,
                                      size_t n, const hsy_liars *liars,
                                      hsy_stream *secret, hsy_stream *published,
                                      hsy_error *err);

/* Open stream number `lane` of a simulation. Anyone who knows the seed knows
 * the coins: never use it for a real person. */
HSY_API void hsy_stream_seed(hsy_stream *st, uint64_t seed, uint64_t lane);

/* ---- Exact distributions ------------------------------------------------- */

/* num / den; den 0 means 2^64. */
typedef struct hsy_factor {
    uint64_t num, den;
} hsy_factor;

/* Compute P[report | code] as a product of *count factors, at most
 * hsy_law_factors(s). report must pass hsy_check. The product is the exact
 * probability under hsy_randomize, except for means strictly inside a range of
 * more than 2^16 steps (laplace: 16 steps): there it may be too small by a
 * relative 2^-63. */
HSY_API size_t hsy_law_factors(const hsy_scheme *s);
HSY_API void hsy_law(const hsy_scheme *s, hsy_factor *factors, size_t *count,
                     uint64_t code, const uint8_t *report);

/* Compute hsy_law for a truth of several codes (hsy_codes_per_truth). */
HSY_API void hsy_law_codes(const hsy_scheme *s, hsy_factor *factors,
                           size_t *count, const uint64_t *codes,
                           const uint8_t *report);

/* Compute the largest ratio of two probabilities of one report as a product of
 * *count factors, at most 4. The product to the power hsy_law_power(s) is
 * e^epsilon_exact. num or den 0 means 2^64. The power is above 1 only for
 * rappor: its number of hash functions. */
HSY_API void hsy_law_worst(const hsy_scheme *s, hsy_factor factors[4],
                           size_t *count);
HSY_API uint32_t hsy_law_power(const hsy_scheme *s);

/* ---- Special functions: relative error at most 1e-12 --------------------- */

HSY_API double hsy_normal_cdf(double z);
HSY_API double hsy_normal_quantile(double p);
HSY_API double hsy_chi2_upper(double x, double k); /* 1 - cdf */
HSY_API double hsy_chi2_quantile(double p, double k);
HSY_API double hsy_beta_inc(double a, double b, double x); /* regularised */
HSY_API double hsy_beta_inv(double p, double a, double b);
HSY_API double hsy_binomial_cdf(uint64_t k, uint64_t n, double p);

/* ---- Counts drawn at once, for simulation -------------------------------- */

/* Draw a binomial count of n trials with probability p, n below 2^53, in O(1).
 * st must be open; equal seeds give equal counts. For simulated people only:
 * never for private coins. */
HSY_API uint64_t hsy_binomial_draw(uint64_t n, double p, hsy_stream *st);

/* ---- Metrics: estimates against known truths (docs/simulation.md) -------- */

typedef struct hsy_errors {
    double mse; /* mean of the squared errors */
    double mae; /* mean of the absolute errors */
    double max; /* the largest absolute error */
} hsy_errors;

/* Compute the errors of count estimates, at least one. */
HSY_API void hsy_metrics_errors(hsy_errors *out, const double *estimates,
                                const double *truths, size_t count);

/* Returns the share of count intervals, at least one, that hold their truth. */
HSY_API double hsy_metrics_coverage(const hsy_estimate *estimates,
                                    const double *truths, size_t count);

/* Returns the total variation distance, 0 to 1: half the sum of the absolute
 * differences. */
HSY_API double hsy_metrics_variation(const double *shares, const double *truths,
                                     size_t count);

/* Returns the Kullback-Leibler divergence of shares from truths, sum t ln(t /
 * s), in nats. A share below floor > 0 counts as floor, and all are then scaled
 * to sum to 1, so the result is finite. A good floor is half a person, 1 /
 * (2n). */
HSY_API double hsy_metrics_divergence(const double *shares,
                                      const double *truths, size_t count,
                                      double floor);

/* Find the indices of the k <= count largest numbers, largest first; of equal
 * ones the lower index comes first. No number may be NaN. */
HSY_API void hsy_metrics_largest(uint32_t *places, size_t k, const double *x,
                                 size_t count);

/* Score of a returned list against the true top k. */
typedef struct hsy_topk_score {
    size_t hits, extra, missed; /* true positives, false positives, false
                                   negatives */
    double precision;           /* hits / (hits + extra), 0 for an empty list */
    double recall;              /* hits / (hits + missed) */
    double f1;                  /* 2 hits / (2 hits + extra + missed) */
    double ncr;                 /* hits weighted k for rank 1 down to 1 for rank
                                   k */
    double ndcg;                /* as ncr, discounted by 1 / log2(position +
                                   1) */
} hsy_topk_score;

/* Score a list. ranks[i] is the true rank, 1 to k, of the item at position i; 0
 * if it is not in the top k. No rank may occur twice; k is at least 1. Returns
 * HSY_E_RANGE for a rank above k, with the position (from 1) in err->at, and
 * for more than k hits. */
HSY_API hsy_status hsy_metrics_top(hsy_topk_score *out, const uint32_t *ranks,
                                   size_t returned, size_t k, hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif

#endif
