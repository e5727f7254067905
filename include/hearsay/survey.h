/* survey.h - interview surveys. */
#ifndef HEARSAY_SURVEY_H
#define HEARSAY_SURVEY_H

#include "hearsay/estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Surveys: docs/survey.md ----------------------------------------------
 */

/* How people are asked in an interview; what `chance` holds for each. */
typedef enum hsy_survey_design {
    HSY_SURVEY_EPSILON = 0,   /* epsilon: the best design that spends so much */
    HSY_SURVEY_SPINNER = 1,   /* Warner: the question with chance p, else its
                                 opposite */
    HSY_SURVEY_COINS = 2,     /* the truth with chance t, else yes with r */
    HSY_SURVEY_CHANNEL = 3,   /* P(yes | yes), P(yes | no) */
    HSY_SURVEY_UNRELATED = 4, /* the question with chance t, else an innocuous
                                 one to which a share r says yes */
    HSY_SURVEY_FORCED = 5,    /* yes whatever is true with chance a, no with b,
                                 else the truth */
    HSY_SURVEY_CROSSWISE = 6  /* whether the answers to two questions are the
                                 same; a share r says yes to the other one */
} hsy_survey_design;

/* Any of them: P(yes | yes) = p, P(yes | no) = q, and their complements. A yes
 * of a crosswise design is "the same". */
typedef struct hsy_survey {
    double p, not_p, q, not_q;
} hsy_survey;

/* HSY_E_RANGE for what is no probability, and if yes is said as often by both,
 * or as often but for 1e-8: such answers hold no information. */
HSY_API hsy_status hsy_survey_init(hsy_survey *out, hsy_survey_design design,
                                   const double chance[2], hsy_error *err);

/* p - q; how private one answer is, infinite if an answer proves a truth; the
 * rate of yes if a share of yes, from 0 to 1, is true. */
HSY_API double hsy_survey_gap(const hsy_survey *s);
HSY_API double hsy_survey_epsilon(const hsy_survey *s);
HSY_API double hsy_survey_rate(const hsy_survey *s, double share);

/* What `yes` of n answers tell; both may be fractions, of weighted answers.
 * HSY_E_EMPTY without answers, HSY_E_RANGE if yes is not from 0 to n. */
HSY_API hsy_status hsy_survey_point(const hsy_survey *s, hsy_evidence *point,
                                    double yes, double n, hsy_error *err);

/* The people asked are a sample. Intervals are cut to [0, 1]. */
typedef struct hsy_survey_result {
    double value;   /* unbiased; may lie outside [0, 1] */
    double sd;      /* standard error */
    double mle;     /* most likely share, from 0 to 1 */
    double wald[2]; /* NaN below HSY_WALD_MIN answers */
    double wilson[2], likelihood[2], exact[2];
    double beyond;           /* standard errors by which the rate of yes is
                                outside what any share makes it; else 0 */
    double other, other_mle; /* of a pair: share of yes to the other question */
} hsy_survey_result;

/* A point of hsy_survey_point, level from 0 to 1 without the ends. */
HSY_API hsy_status hsy_survey_estimate(hsy_survey_result *out,
                                       const hsy_evidence *point, double level,
                                       hsy_error *err);

/* Sums over the weighted answers no [0] and yes [1]: of weights, and of their
 * squares. */
typedef struct hsy_survey_weights {
    double answers;
    double sum[2], squares[2];
} hsy_survey_weights;

/* As many plain answers as the weighted ones are worth, at most as many as
 * there are, and how many of them are yes. Answers are taken for independent,
 * weights for known beforehand. */
HSY_API hsy_status hsy_survey_weigh(double *yes, double *n,
                                    const hsy_survey_weights *w,
                                    hsy_error *err);

/* Whether all groups have one share: the likelihood ratio. */
typedef struct hsy_survey_test {
    double statistic, freedom, p_value;
    double pooled; /* the most likely share if there is but one */
    bool boundary; /* some group's is at 0 or 1: p_value is too large rather
                      than too small */
} hsy_survey_test;

/* At least two points of one design. */
HSY_API hsy_status hsy_survey_compare(const hsy_survey *s, hsy_survey_test *out,
                                      const hsy_evidence *groups, size_t count,
                                      hsy_error *err);

/* The unrelated question with an unknown rate of yes: two samples, asked the
 * sensitive question with different chances. */
typedef struct hsy_survey_pair {
    double chance[2];
    double yes[2], n[2];
} hsy_survey_pair;

/* Its exact interval holds at least as often as its level says. err->at is
 * the sample concerned, from 1. */
HSY_API hsy_status hsy_survey_pair_estimate(const hsy_survey_pair *s,
                                            hsy_survey_result *out,
                                            double level, hsy_error *err);

/* A channel of d states, 2 to HSY_MATRIX_MAX: h[y d + x] = P(y | x), so that
 * columns add up to 1. Its inverse, d times d, and condition number (1-norm).
 * HSY_E_RANGE with the column in err->at, or if it is singular or close to
 * it. */
HSY_API hsy_status hsy_survey_invert(double *inverse, double *condition,
                                     const double *h, size_t d, hsy_error *err);

/* Of a channel that hsy_survey_invert took. */
HSY_API double hsy_survey_states_epsilon(const double *h, size_t d);

/* Room for d states each. */
typedef struct hsy_survey_shares {
    double share[HSY_MATRIX_MAX]; /* unbiased */
    double mle[HSY_MATRIX_MAX];   /* most likely: none below 0, sum 1 */
    double covariance[HSY_MATRIX_MAX * HSY_MATRIX_MAX]; /* of share */
    bool likely; /* mle is within 1e-12 of the best log-likelihood per answer */
} hsy_survey_shares;

/* From counts of the d answers. */
HSY_API hsy_status hsy_survey_states(hsy_survey_shares *out, const double *h,
                                     const double *counts, size_t d,
                                     hsy_error *err);

/* Answers needed, a whole number in a double: that a Wald interval be margin to
 * either side if share is true; and in each of two groups, that a test of this
 * level find their shares different with chance `power`. HSY_E_RANGE
 * for what is no share, margin, level or power. */
HSY_API hsy_status hsy_survey_need(const hsy_survey *s, double *n, double share,
                                   double margin, double level, hsy_error *err);
HSY_API hsy_status hsy_survey_need_groups(const hsy_survey *s, double *n,
                                          const double shares[2], double level,
                                          double power, hsy_error *err);

/* The same of a pair, shares being those of yes to the sensitive question and
 * to the other one: fewest answers of both samples for a margin. */
HSY_API hsy_status hsy_survey_pair_need(double n[2], const double chance[2],
                                        const double shares[2], double margin,
                                        double level, hsy_error *err);

#define HSY_SURVEY_COVERAGE_MAX 100000000u /* answers */

/* The chance, from the binomial law itself, that an interval of n answers holds
 * the share that is true. Wald needs HSY_WALD_MIN answers. Of `how` the level
 * and the interval are read. */
HSY_API hsy_status hsy_survey_coverage(const hsy_survey *s, double *out,
                                       uint64_t n, double share,
                                       const hsy_confidence *how,
                                       hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
