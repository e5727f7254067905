/* estimate.h - evidence, intervals, repeated answers. */
#ifndef HEARSAY_ESTIMATE_H
#define HEARSAY_ESTIMATE_H

#include "hearsay/scheme.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Estimates ----------------------------------------------------------- */

/* Noise added to a share: a sum of `terms` independent discrete Laplace
 * integers with r = e^-rate, times a factor. The factor is at0 for a share of
 * 0, at1 for a share of 1, and linear between. */
typedef struct hsy_noise {
    double rate, terms;
    double at0, at1;
} hsy_noise;

/* Counts behind a value that is not a single binomial count: value = base + the
 * sum of weight[i] count[i] / n. Intervals of few reports use them
 * (docs/estimates.md, 3). bound: additional variance of a term with
 * sub-Gaussian tails; the only term if both weights are 0. rate: P(a report of
 * another value is counted in count[0]); 0: the struct is not used. */
typedef struct hsy_few {
    double n, rate;
    double count[2], weight[2];
    double base, bound;
} hsy_few;

/* Evidence for one value. Shares are fractions of n. For a mean, value is (mean
 * - lo) / (hi - lo). */
typedef struct hsy_evidence {
    double value;   /* unbiased; may lie outside [0, 1] */
    double n;       /* reports */
    double support; /* reports that support the value, as counted */
    double p, q;    /* support probabilities: own value, other value */
    double v0, v1;  /* n times the variance at share 0 and at share 1. Local
                       hashing subtracts predicted collisions, so v0 may differ
                       between values */
    double binomial_variance; /* coefficient of f(1-f)/n in the variance for
                                 HSY_PEOPLE */
    double residual_variance; /* variance that more reports do not remove */
    double sampling_discount; /* 0 to 1: for HSY_POPULATION, sampling adds (1 -
                                 this) f(1-f)/n. 0 for shares, 1 for a mean
                                 whose truths are all equal */
    hsy_noise noise[2];       /* central releases only (n: number of people). If
                                 noise[0].terms is not 0, noise replaces v0, v1
                                 and binomial_variance */
    hsy_few few;              /* rate 0: support is the only count */
    double lumps; /* expected number of equal parts (collisions) that make up
                     residual_variance, in the worst case; its tails are then
                     Poisson. 0: normal tails */

    /* Repeated answers (hsy_evidence_attend); else 0. */
    double kept;         /* as hsy_attendance.kept */
    double came;         /* as hsy_attendance.came */
    double kept0, kept1; /* v0 and v1 of a permanent answer alone. v0 and v1
                            include kept times these; binomial_variance includes
                            the factor 1 + kept */
} hsy_evidence;

/* Compute the evidence for `count` codes. codes NULL: for all d values, and
 * count must be d (1 for a mean, or for the share of yes). scratch:
 * hsy_evidence_scratch bytes, aligned as malloc does; may be NULL if that is 0.
 * Returns HSY_E_EMPTY without reports. */
HSY_API size_t hsy_evidence_scratch(const hsy_scheme *s, size_t count);
HSY_API hsy_status hsy_evidence_of(const hsy_scheme *s, hsy_evidence *points,
                                   const hsy_tally *t, const uint64_t *codes,
                                   size_t count, void *scratch, hsy_error *err);

/* Compute the evidence for attribute i of a tuple, like hsy_evidence_of for its
 * scheme. Standard errors refer to all who answered, even if only some reported
 * this attribute. For joint, codes must be NULL. Returns HSY_E_EMPTY also if
 * nobody reported it. */
HSY_API size_t hsy_attribute_evidence_scratch(const hsy_scheme *s, size_t i,
                                              size_t count);
HSY_API hsy_status hsy_attribute_evidence(const hsy_scheme *s,
                                          hsy_evidence *points,
                                          const hsy_tally *t, size_t i,
                                          const uint64_t *codes, size_t count,
                                          void *scratch, hsy_error *err);

/* ---- Attendance: repeated answers: docs/longitudinal.md ----------------- */

/* Reports of one round of one slot (hsy_task). Reports in one slot may come
 * from the same permanent answers; different slots use independent coins. */
typedef struct hsy_round {
    uint64_t slot;
    uint32_t round; /* number of the round in its slot */
    uint32_t each;  /* most reports of one device in the round */
    uint64_t reports;
} hsy_round;

/* The rounds of a tally, ascending by slot and round. */
typedef struct hsy_rounds {
    const hsy_round *list;
    size_t count;
} hsy_rounds;

/*
 * Repetition of people in a tally. With r_i reports of person i and n reports
 * in all, came = (sum of r_i^2) / n - 1; kept is the same with r_i counted per
 * permanent answer. Both are 0 if nobody reported twice.
 *
 * A tally does not record who sent what. So the sum of r_i^2 is bounded by
 * summing, over all pairs of rounds, the reports of the smaller round. This is
 * exact if the larger round always contains the smaller one's devices.
 */
typedef struct hsy_attendance {
    uint64_t reports;
    uint64_t rounds;  /* rounds with reports */
    uint64_t devices; /* lower bound on the number of devices: the largest
                         round */
    double kept, came;
} hsy_attendance;

/* Compute the attendance of rounds. scratch: a double for each round. Returns
 * HSY_E_RANGE with the round's position in err->at if it is out of order, its
 * reports or `each` are 0, or the reports exceed 2^53. Returns HSY_E_EMPTY
 * without rounds. */
HSY_API hsy_status hsy_attend(hsy_attendance *out, const hsy_rounds *rounds,
                              double *scratch, hsy_error *err);

/* Compute the attendance if rounds are unknown and nobody sent more than `most`
 * reports. Returns HSY_E_RANGE unless 1 <= most <= reports. */
HSY_API hsy_status hsy_attend_most(hsy_attendance *out, uint64_t reports,
                                   uint64_t most, hsy_error *err);

/* Compute a lower bound on the share of permanent noise common to two tallies
 * of one task: the sum over pairs of rounds of one slot of the devices in both,
 * divided by the product of the numbers of reports. If there are `devices` in
 * all, rounds of U and V reports have at least max(0, U + V - devices) in
 * common. devices 0: unknown; the result is 0. Returns HSY_E_RANGE if a round
 * has more devices than that. */
HSY_API hsy_status hsy_attend_both(double *shared, const hsy_rounds *a,
                                   const hsy_rounds *b, uint64_t devices,
                                   hsy_error *err);

/* Adjust evidence for repeated answers. permanent: the scheme of the permanent
 * answers. NULL: use nano_permanent (or RAPPOR's design) of s, if set. Returns
 * HSY_E_REFUSED if a slot has several rounds and no permanent scheme is known.
 */
HSY_API hsy_status hsy_evidence_attend(hsy_evidence *points, size_t count,
                                       const hsy_scheme *s,
                                       const hsy_scheme *permanent,
                                       const hsy_attendance *attended,
                                       hsy_error *err);

/* A plan in which every device answers in each round. */
typedef struct hsy_attend_plan {
    const hsy_scheme *permanent; /* as in hsy_evidence_attend */
    double share;                /* true share */
    uint64_t devices, rounds;
    uint64_t per_slot; /* rounds per slot */
} hsy_attend_plan;

/* Predict the standard errors of a share before collecting: sd[0] for the
 * people, sd[1] for the population (hsy_target). For a mean: the worst case, in
 * units of the range. Returns HSY_E_UNKNOWN for a scheme without evidence,
 * HSY_E_RANGE if share is not from 0 to 1, a number is 0 or there are more than
 * 2^53 reports. */
HSY_API hsy_status hsy_attend_expect(const hsy_scheme *s, double sd[2],
                                     const hsy_attend_plan *plan,
                                     hsy_error *err);

/* Compute the bits of a RAPPOR report that a code sets in a cohort, ascending
 * and distinct: one for each hash of the scheme. In tallies bit b of cohort c
 * is cell c bits + b, and stratum c counts its reports. Returns HSY_E_RANGE for
 * another mechanism, code or cohort. Time does not depend on code. */
HSY_API hsy_status hsy_rappor_bits(const hsy_scheme *s, uint16_t *positions,
                                   uint64_t code, uint32_t cohort);

typedef enum hsy_target {
    HSY_PEOPLE = 0,    /* the people who answered */
    HSY_POPULATION = 1 /* the population they are an independent sample of */
} hsy_target;

typedef enum hsy_interval {
    HSY_INTERVAL_AUTO = 0, /* score for people, Wilson for a population */
    HSY_WALD = 1,
    HSY_WILSON = 2, /* always for HSY_POPULATION */
    HSY_SCORE = 3,  /* for the target */
    HSY_EXACT = 4,  /* Clopper-Pearson */
    HSY_LIKELIHOOD = 5,
    HSY_HOEFFDING = 6
} hsy_interval;

#define HSY_WALD_MIN 50 /* fewest reports for a Wald interval */

typedef struct hsy_confidence {
    double level; /* 0 < level < 1 */
    hsy_target target;
    hsy_interval interval;
    uint64_t comparisons; /* intervals that must hold together, at least 1 */
} hsy_confidence;

/* Compute the covariances of all d estimated shares: d times d doubles. scratch
 * as for hsy_evidence_of with all values. Returns HSY_E_UNKNOWN for mechanisms
 * without a formula; grr and matrix have one. */
HSY_API hsy_status hsy_covariance(const hsy_scheme *s, double *out,
                                  const hsy_tally *t, hsy_target target,
                                  void *scratch, hsy_error *err);

typedef struct hsy_estimate {
    double value;
    double sd; /* standard error */
    double low, high;
} hsy_estimate;

/* Compute an estimate with its standard error and interval. Intervals are not
 * clipped; exact and likelihood intervals lie within [0, 1]. Returns
 * HSY_E_RANGE if the interval does not exist (Wald below 50 reports). */
HSY_API hsy_status hsy_estimate_point(hsy_estimate *est,
                                      const hsy_evidence *point,
                                      const hsy_confidence *how,
                                      hsy_error *err);

/*
 * Return the level that each of `selected` intervals needs so that on average
 * at most 1 - level of them miss [BY05, Thm 1]. Shares selected from `of` for
 * being large are too large on average, and their plain intervals miss more
 * often than stated:
 *
 *     1 - (1 - level) selected / of
 *
 * Returns level itself if nothing or everything was selected.
 */
HSY_API double hsy_selected_level(double level, uint64_t selected, uint64_t of);

/* The set that shares were selected from. */
typedef struct hsy_selection {
    uint64_t of;   /* size of the set */
    double passed; /* threshold that a share had to exceed; -INFINITY: none */
    double design; /* design effect of the sum: its variance relative to
                      independent shares; 0: worst case of the mechanism */
} hsy_selection;

/* Measure from->design for these codes by replicates of a tally. It is left
 * unchanged if it is not needed or cannot be measured from the cells. scratch
 * is aligned as malloc does; 0 bytes if nothing is to be measured. Returns
 * HSY_E_EMPTY without reports. */
HSY_API size_t hsy_selection_scratch(const hsy_scheme *s, size_t count);
HSY_API hsy_status hsy_selection_measure(const hsy_scheme *s,
                                         hsy_selection *from,
                                         const hsy_tally *t,
                                         const uint64_t *codes, size_t count,
                                         void *scratch, hsy_error *err);

/* Estimate the rest: 1 minus the sum of `count` different shares of one tally.
 * The standard error is that of a sum chosen beforehand. Selection biases
 * shares upward, so the upper end is raised by the largest bias consistent with
 * the lower end of each share's own interval (docs/estimates.md). count 0: the
 * estimate is 1 with standard error 0. how->comparisons is not used. Errors as
 * for hsy_estimate_point. */
HSY_API hsy_status hsy_estimate_rest(const hsy_scheme *s, hsy_estimate *est,
                                     const hsy_evidence *points, size_t count,
                                     const hsy_selection *from,
                                     const hsy_confidence *how, hsy_error *err);

/* Compute the log-likelihood of the share f, 0 to 1, minus that of the most
 * likely share: 0 at the maximum, -INFINITY where impossible. The support is
 * taken as binomial with probability q + (p - q) f. Returns HSY_E_RANGE for
 * evidence that has no likelihood interval. */
HSY_API hsy_status hsy_evidence_likelihood(double *out,
                                           const hsy_evidence *point, double f,
                                           hsy_error *err);

/* Estimate the difference a - b of two independent tallies, and the two-sided
 * p-value of the hypothesis a = b. */
HSY_API hsy_status hsy_estimate_difference(hsy_estimate *est, double *p_value,
                                           const hsy_evidence *a,
                                           const hsy_evidence *b,
                                           const hsy_confidence *how,
                                           hsy_error *err);

/* Estimate the difference of two tallies of one task that share permanent
 * answers. shared: from hsy_attend_both, 0 if none. Only Wald, score and Wilson
 * intervals. */
HSY_API hsy_status hsy_estimate_paired(hsy_estimate *est, double *p_value,
                                       const hsy_evidence *a,
                                       const hsy_evidence *b, double shared,
                                       const hsy_confidence *how,
                                       hsy_error *err);

/* Sums of bins, and quantiles. Best with hh and haar, whose error grows with
 * the logarithm of the number of bins; next sw (by likelihood, up to 256 bins).
 * Any other mechanism with hsy_evidence_of also works, except dbitflip. Keep
 * scratch (hsy_ranges_scratch bytes, aligned as malloc does) and the scheme
 * while r is in use. The fields are private. */
typedef struct hsy_ranges {
    const hsy_scheme *scheme;
    void *law;           /* variances */
    const double *cdf;   /* d + 1: unbiased share below each edge */
    const double *least; /* d + 1: minimum of cdf from there on */
    double *low, *high;  /* d + 1 each: last computed bounds */
    double *above, *variance;
    size_t d;
    double n;
    double noise, came; /* for repeated answers */
} hsy_ranges;

HSY_API size_t hsy_ranges_scratch(const hsy_scheme *s);

/* Open the ranges of a tally. Returns HSY_E_RANGE if the kind is not BINS,
 * HSY_E_REFUSED if the mechanism cannot estimate sums of bins, HSY_E_EMPTY
 * without reports. */
HSY_API hsy_status hsy_ranges_open(hsy_ranges *r, const hsy_scheme *s,
                                   const hsy_tally *t, void *scratch,
                                   hsy_error *err);

/* Adjust ranges for repeated answers, like hsy_evidence_attend. For sets of
 * values of two-level mechanisms this is an upper bound. */
HSY_API hsy_status hsy_ranges_attend(hsy_ranges *r, const hsy_scheme *permanent,
                                     const hsy_attendance *attended,
                                     hsy_error *err);

/* Estimate the share in bins from .. to-1, from < to <= d. It is unbiased, with
 * a normal interval; HSY_WALD below 50 reports returns HSY_E_RANGE. For sw it
 * is by likelihood, with the bounds of hsy_density_estimate for any
 * how->interval. */
HSY_API hsy_status hsy_range(const hsy_ranges *r, hsy_estimate *est,
                             size_t from, size_t to, const hsy_confidence *how,
                             hsy_error *err);

/* Estimate the q-quantile, 0 < q < 1, in bins: 2.5 is the middle of the third
 * bin. The interval ends where the monotone, piecewise linear confidence band
 * of the CDF reaches q. sd is half its length divided by the normal quantile.
 * how->interval must be AUTO, WALD or SCORE (or WILSON for a population),
 * because the band uses the normal approximation. Two threads must not use one
 * r. */
HSY_API hsy_status hsy_quantile(const hsy_ranges *r, hsy_estimate *est,
                                double q, const hsy_confidence *how,
                                hsy_error *err);

typedef enum hsy_post {
    HSY_POST_NONE = 0,
    HSY_POST_NORM = 1,     /* add a constant so that the sum is 1 */
    HSY_POST_NORM_SUB = 2, /* nearest point of the simplex */
    HSY_POST_NORM_MUL = 3, /* negatives to zero, then scale to sum 1 */
    HSY_POST_NORM_CUT = 4, /* keep the largest until they sum to 1 */
    HSY_POST_BASE_CUT = 5, /* keep values significant at family-wise 5 % */
    HSY_POST_MLE = 6,      /* exact maximum likelihood, rr and grr only */
    HSY_POST_POWER = 7,    /* posterior mean under a power-law prior */
    HSY_POST_POWER_NS = 8, /* POWER, then NORM_SUB */
    HSY_POST_EM = 9        /* maximum likelihood by EM; needs the tally: use
                              hsy_density */
} hsy_post;

/* Post-process estimates of the whole domain. scratch holds count doubles.
 * Returns HSY_E_RANGE if the method does not fit. */
HSY_API hsy_status hsy_post_process(double *out, const hsy_evidence *points,
                                    size_t count, hsy_post method,
                                    double *scratch, hsy_error *err);

/* Maximum-likelihood shares from all counts together. They are at least 0 and
 * sum to 1. For iterative schemes (hsy_scheme_info), and any other whose
 * channel is known. */
typedef enum hsy_density_method {
    HSY_DENSITY_AUTO = 0, /* EM */
    HSY_DENSITY_EM = 1,   /* expectation maximization: most likely shares */
    HSY_DENSITY_EMS = 2   /* EM with smoothing over neighbouring bins: less
                             noise, more bias */
} hsy_density_method;

typedef struct hsy_density_how {
    hsy_density_method method;
    double gain;    /* stop when a step adds less to the log-likelihood; 0:
                       0.001 for EMS, 0.001 e^epsilon for EM */
    uint64_t steps; /* most steps; 0: 10,000 */

    /* For hsy_density_estimate only. */
    double level; /* 0 < level < 1 */
    hsy_target target;
    double repeats; /* HSY_POPULATION only: reports per person, if people
                       answered repeatedly with fresh coins; 0 means 1 */
} hsy_density_how;

typedef struct hsy_density_fit {
    hsy_density_method method; /* never AUTO */
    uint64_t steps;
    double log_likelihood; /* up to a constant of the counts */
    bool converged;        /* false: stopped by the limit of steps */

    /* hsy_density_estimate: reason why there are no intervals; NULL if there
     * are. */
    const char *no_interval;
} hsy_density_fit;

/* Compute the shares of all d values. scratch: hsy_density_scratch bytes,
 * aligned as malloc does. fit may be NULL. Returns HSY_E_REFUSED if the
 * counters have no likelihood, HSY_E_EMPTY without reports. */
HSY_API size_t hsy_density_scratch(const hsy_scheme *s);
HSY_API hsy_status hsy_density(const hsy_scheme *s, double *shares,
                               hsy_density_fit *fit, const hsy_tally *t,
                               const hsy_density_how *how, void *scratch,
                               hsy_error *err);

/* Compute the shares with intervals. Each interval covers its share with
 * probability how->level for any true shares. Its bounds are linear in the
 * counts, and are extended to include the estimate. sd is half of the 95 %
 * interval over 1.96, whatever the level. EMS has no intervals, nor has a
 * scheme above 256 values or 1024 outputs: then they are NAN and
 * fit->no_interval says why. scratch: hsy_density_estimate_scratch bytes. */
HSY_API size_t hsy_density_estimate_scratch(const hsy_scheme *s);
HSY_API hsy_status hsy_density_estimate(const hsy_scheme *s, hsy_estimate *est,
                                        hsy_density_fit *fit,
                                        const hsy_tally *t,
                                        const hsy_density_how *how,
                                        void *scratch, hsy_error *err);

/* Tests of the hypothesis that all reports are honest: p-values, 1 if a test
 * does not apply. */
typedef struct hsy_plausibility {
    double support_p; /* most unusual support count, over all values */
    size_t odd_value; /* index of that value in points */
    double sum_p;     /* sum of all shares, compared with 1 */
    double weights_p; /* ones per report (unary schemes) */
    bool implausible; /* some p-value is below 1e-6 */
    double seeds_p;   /* seeds and hashes (local hashing) */
} hsy_plausibility;

/* Test a tally. complete: points are the whole domain in order. weights_p and
 * seeds_p detect lying devices (docs/poisoning.md), under unary and
 * local-hashing mechanisms only. The tests assume one report per device, unless
 * t->kept and points[i].kept are set. */
HSY_API void hsy_plausible(const hsy_scheme *s, hsy_plausibility *out,
                           const hsy_tally *t, const hsy_evidence *points,
                           size_t count, bool complete);

#ifdef __cplusplus
}
#endif

#endif
