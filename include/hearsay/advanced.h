/* advanced.h - what simulations, audits and tests need; it may change. */
#ifndef HEARSAY_ADVANCED_H
#define HEARSAY_ADVANCED_H

#include "hearsay/account.h"

#ifdef HSY_UNSTABLE

#ifdef __cplusplus
extern "C" {
#endif

/* The Walsh-Hadamard transform of n cells in place, n a power of two: cells[i]
 * = sum over k of (-1)^(ones of i & k) cells[k], modulo 2^64. HSY_E_RANGE if n
 * is none, HSY_E_UNKNOWN if the machine lacks the table. */
HSY_API hsy_status hsy_hadamard_transform(int64_t *cells, size_t n,
                                          hsy_cpu level);

/* As hsy_randomize_batch, at simulation speed: how many coins it takes tells
 * where the noise fell. HSY_E_REFUSED unless both streams were opened by seed,
 * HSY_E_RANGE if they are one. */
HSY_API hsy_status hsy_simulate_batch(const hsy_scheme *s, uint8_t *reports,
                                      const uint64_t *codes, size_t n,
                                      hsy_stream *secret, hsy_stream *published,
                                      hsy_error *err);

/* n reports of liars, to try a collector with: they pass hsy_check. Streams as
 * of hsy_simulate_batch, errors as of hsy_poison_gain; liars->share and held
 * are not read. */
HSY_API hsy_status hsy_poison_reports(const hsy_scheme *s, uint8_t *reports,
                                      size_t n, const hsy_liars *liars,
                                      hsy_stream *secret, hsy_stream *published,
                                      hsy_error *err);

/* Open stream number `lane` of a simulation. Anyone who knows the seed knows
 * the coins: never for a real person. */
HSY_API void hsy_stream_seed(hsy_stream *st, uint64_t seed, uint64_t lane);

/* ---- Exact laws ---------------------------------------------------------- */

/* num / den, where den 0 stands for 2^64. */
typedef struct hsy_factor {
    uint64_t num, den;
} hsy_factor;

/* P[report | code] as the product of *count factors, exactly what randomize
 * does. At most hsy_law_factors(s) of them. report must pass hsy_check. (Only
 * for a mean, alone or in a tuple, between the ends of a range of more than
 * 2^16 steps, for laplace of more than 16, may the product fall short, by at
 * most 2^-63 of it.) */
HSY_API size_t hsy_law_factors(const hsy_scheme *s);
HSY_API void hsy_law(const hsy_scheme *s, hsy_factor *factors, size_t *count,
                     uint64_t code, const uint8_t *report);

/* The same of a truth with hsy_codes_per_truth codes, which may be more than
 * one. */
HSY_API void hsy_law_codes(const hsy_scheme *s, hsy_factor *factors,
                           size_t *count, const uint64_t *codes,
                           const uint8_t *report);

/* The largest ratio of two probabilities of one report, as a product of
 * *count factors num / den (at most 4; den 0 stands for 2^64, and so does num
 * 0), to the power hsy_law_power(s): e^epsilon_exact. The power is 1 but for
 * reports whose worst ratio repeats itself bit by bit. */
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

/* How many of n trials succeed, each with probability p from 0 to 1, n below
 * 2^53: in O(1), whatever n. From a stream that is open: the same seed gives
 * the same count. For simulated people only; nothing private is drawn so. */
HSY_API uint64_t hsy_binomial_draw(uint64_t n, double p, hsy_stream *st);

/* ---- Metrics: estimates against known truths (docs/simulation.md) -------- */

typedef struct hsy_errors {
    double mse; /* mean of the squared errors */
    double mae; /* mean of the absolute errors */
    double max; /* the largest absolute error */
} hsy_errors;

/* Of count estimates, at least one. */
HSY_API void hsy_metrics_errors(hsy_errors *out, const double *estimates,
                                const double *truths, size_t count);

/* The share of count intervals, at least one, that hold their truth. */
HSY_API double hsy_metrics_coverage(const hsy_estimate *estimates,
                                    const double *truths, size_t count);

/* How far two distributions lie apart, 0 to 1: half the sum of the absolute
 * differences. */
HSY_API double hsy_metrics_variation(const double *shares, const double *truths,
                                     size_t count);

/* The Kullback-Leibler divergence of shares from truths, sum t ln(t / s), in
 * nats. A share below floor > 0 counts as floor, and all are then scaled to add
 * up to 1, so that it is finite: half a person, 1 / (2n), is a floor that fits.
 */
HSY_API double hsy_metrics_divergence(const double *shares,
                                      const double *truths, size_t count,
                                      double floor);

/* The places of the k <= count largest numbers, largest first; of equal ones
 * the earlier place comes first. No number is a NaN. */
HSY_API void hsy_metrics_largest(uint32_t *places, size_t k, const double *x,
                                 size_t count);

/* A list that was returned, against the true k. */
typedef struct hsy_topk_score {
    size_t hits, extra, missed; /* right, wrong, and left out */
    double precision;           /* hits / (hits + extra), 0 for an empty list */
    double recall;              /* hits / (hits + missed) */
    double f1;                  /* 2 hits / (2 hits + extra + missed) */
    double ncr;                 /* hits weighed k for rank 1 down to 1 for k */
    double ndcg;                /* the same with 1 / log2(position + 1) */
} hsy_topk_score;

/* ranks[i] is the true rank, 1 to k, of what was returned at position i, and 0
 * if it is not among the k; no rank comes twice. k is at least 1. HSY_E_RANGE
 * with the position (from 1) in err->at for a rank above k; without a line if
 * there are more hits than k, so that some rank came twice. */
HSY_API hsy_status hsy_metrics_top(hsy_topk_score *out, const uint32_t *ranks,
                                   size_t returned, size_t k, hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif

#endif
