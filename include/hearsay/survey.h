/* survey.h - interview surveys. */
#ifndef HEARSAY_SURVEY_H
#define HEARSAY_SURVEY_H

#include "hearsay/estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Surveys: docs/survey.md ----------------------------------------------
 */

/* Interview designs, and the meaning of `chance` for each. */
typedef enum hsy_survey_design {
    HSY_SURVEY_EPSILON = 0,   /* epsilon; the best design for it */
    HSY_SURVEY_SPINNER = 1,   /* Warner: the question with probability p, else
                                 its opposite */
    HSY_SURVEY_COINS = 2,     /* the truth with probability t, else yes with
                                 probability r */
    HSY_SURVEY_CHANNEL = 3,   /* P(yes | yes), P(yes | no) */
    HSY_SURVEY_UNRELATED = 4, /* the question with probability t, else an
                                 innocuous one that a share r answers with
                                 yes */
    HSY_SURVEY_FORCED = 5,    /* forced yes with probability a, forced no with
                                 b, else the truth */
    HSY_SURVEY_CROSSWISE = 6  /* yes if both answers are equal; a share r
                                 answers yes to the other question */
} hsy_survey_design;

/* A design as a channel: P(yes | yes) = p, P(yes | no) = q, and their
 * complements. In a crosswise design "yes" means "equal". */
typedef struct hsy_survey {
    double p, not_p, q, not_q;
} hsy_survey;

/* Make a design. Returns HSY_E_RANGE if a chance is not a probability, or if p
 * and q differ by less than 1e-8: such answers hold no information. */
HSY_API hsy_status hsy_survey_init(hsy_survey *out, hsy_survey_design design,
                                   const double chance[2], hsy_error *err);

/* hsy_survey_gap returns p - q; hsy_survey_epsilon the epsilon of one answer
 * (infinite if an answer proves a truth); hsy_survey_rate the expected rate of
 * yes for a true share, 0 to 1. */
HSY_API double hsy_survey_gap(const hsy_survey *s);
HSY_API double hsy_survey_epsilon(const hsy_survey *s);
HSY_API double hsy_survey_rate(const hsy_survey *s, double share);

/* Compute the evidence of `yes` of n answers. Both may be fractions (weighted
 * answers). Returns HSY_E_EMPTY without answers, HSY_E_RANGE if yes is not from
 * 0 to n. */
HSY_API hsy_status hsy_survey_point(const hsy_survey *s, hsy_evidence *point,
                                    double yes, double n, hsy_error *err);

/* Estimate for a population, from a sample. Intervals are clipped to [0, 1]. */
typedef struct hsy_survey_result {
    double value;   /* unbiased; may lie outside [0, 1] */
    double sd;      /* standard error */
    double mle;     /* most likely share, from 0 to 1 */
    double wald[2]; /* NaN below HSY_WALD_MIN answers */
    double wilson[2], likelihood[2], exact[2];
    double beyond;           /* distance of the observed rate of yes from its
                                possible range, in standard errors; 0 inside */
    double other, other_mle; /* pair only: share of yes to the other question */
} hsy_survey_result;

/* Estimate from the evidence of hsy_survey_point. 0 < level < 1. */
HSY_API hsy_status hsy_survey_estimate(hsy_survey_result *out,
                                       const hsy_evidence *point, double level,
                                       hsy_error *err);

/* Sums over weighted answers, no [0] and yes [1]: of weights and of squared
 * weights. */
typedef struct hsy_survey_weights {
    double answers;
    double sum[2], squares[2];
} hsy_survey_weights;

/* Compute the effective number of unweighted answers, at most the real number,
 * and the yes among them. Answers must be independent, and weights fixed
 * beforehand. */
HSY_API hsy_status hsy_survey_weigh(double *yes, double *n,
                                    const hsy_survey_weights *w,
                                    hsy_error *err);

/* Likelihood-ratio test that all groups have one share. */
typedef struct hsy_survey_test {
    double statistic, freedom, p_value;
    double pooled; /* most likely share if there is one */
    bool boundary; /* some group's share is 0 or 1: p_value is conservative */
} hsy_survey_test;

/* Compare at least two groups of one design. */
HSY_API hsy_status hsy_survey_compare(const hsy_survey *s, hsy_survey_test *out,
                                      const hsy_evidence *groups, size_t count,
                                      hsy_error *err);

/* Unrelated question with an unknown rate of yes: two samples, asked the
 * sensitive question with different probabilities. */
typedef struct hsy_survey_pair {
    double chance[2];
    double yes[2], n[2];
} hsy_survey_pair;

/* Estimate from a pair of samples. The exact interval has at least its nominal
 * coverage. err->at is the sample, from 1. */
HSY_API hsy_status hsy_survey_pair_estimate(const hsy_survey_pair *s,
                                            hsy_survey_result *out,
                                            double level, hsy_error *err);

/* Invert a channel of d states, 2 to HSY_MATRIX_MAX: h[y d + x] = P(y | x);
 * columns must sum to 1. Writes the inverse, d times d, and the condition
 * number (1-norm). Returns HSY_E_RANGE with the column in err->at, or if the
 * channel is singular or nearly so. */
HSY_API hsy_status hsy_survey_invert(double *inverse, double *condition,
                                     const double *h, size_t d, hsy_error *err);

/* Returns the epsilon of a channel that hsy_survey_invert accepted. */
HSY_API double hsy_survey_states_epsilon(const double *h, size_t d);

/* Shares of d states. */
typedef struct hsy_survey_shares {
    double share[HSY_MATRIX_MAX]; /* unbiased */
    double mle[HSY_MATRIX_MAX];   /* most likely: none below 0, sum 1 */
    double covariance[HSY_MATRIX_MAX * HSY_MATRIX_MAX]; /* of share */
    bool likely; /* true: mle is within 1e-12 of the best log-likelihood per
                    answer */
} hsy_survey_shares;

/* Estimate from the counts of the d answers. */
HSY_API hsy_status hsy_survey_states(hsy_survey_shares *out, const double *h,
                                     const double *counts, size_t d,
                                     hsy_error *err);

/* Compute the number of answers needed, an integer in a double.
 * hsy_survey_need: for a Wald interval of plus or minus margin at a true share.
 * hsy_survey_need_groups: in each of two groups, for a test of this level to
 * detect different shares with probability `power`. Returns HSY_E_RANGE for an
 * invalid share, margin, level or power. */
HSY_API hsy_status hsy_survey_need(const hsy_survey *s, double *n, double share,
                                   double margin, double level, hsy_error *err);
HSY_API hsy_status hsy_survey_need_groups(const hsy_survey *s, double *n,
                                          const double shares[2], double level,
                                          double power, hsy_error *err);

/* Compute the fewest answers of both samples of a pair for a margin. shares:
 * yes to the sensitive question, and to the other one. */
HSY_API hsy_status hsy_survey_pair_need(double n[2], const double chance[2],
                                        const double shares[2], double margin,
                                        double level, hsy_error *err);

#define HSY_SURVEY_COVERAGE_MAX 100000000u /* answers */

/* Compute the exact coverage of an interval of n answers at a true share, from
 * the binomial distribution. Wald needs HSY_WALD_MIN answers. Reads the level
 * and the interval of how. */
HSY_API hsy_status hsy_survey_coverage(const hsy_survey *s, double *out,
                                       uint64_t n, double share,
                                       const hsy_confidence *how,
                                       hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
