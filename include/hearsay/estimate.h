/* estimate.h - evidence, intervals, people who answer again. */
#ifndef HEARSAY_ESTIMATE_H
#define HEARSAY_ESTIMATE_H

#include "hearsay/scheme.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Estimates ----------------------------------------------------------- */

/* Noise added to a share: the sum of `terms` independent integers of the
 * discrete Laplace law with r = e^-rate, times a factor that is at0 if the
 * share is 0, at1 if it is 1, and on the line through them between. */
typedef struct hsy_noise {
    double rate, terms;
    double at0, at1;
} hsy_noise;

/* What a value is counted from where it is no single coin: base + the sum of
 * weight[i] count[i] / n. Intervals of few reports are made from it
 * (docs/estimates.md, 3). bound: a variance besides whose tails are at most
 * normal; alone, without counts, if both weights are 0. rate: the chance of the
 * first count for a report of another value; 0 if there is nothing of this. */
typedef struct hsy_few {
    double n, rate;
    double count[2], weight[2];
    double base, bound;
} hsy_few;

/* One value's evidence. Shares are fractions of n; for a mean the share of the
 * range, value = (mean - lo) / (hi - lo). */
typedef struct hsy_evidence {
    double value;   /* unbiased; may lie outside [0, 1] */
    double n;       /* reports */
    double support; /* reports that support the value, as counted */
    double p, q;    /* support probabilities: own value, other value */
    double v0, v1;  /* n times the variance at share 0 and at share 1; for
                       local hashing, after what was predicted of the others
                       was taken off, so v0 may differ from value to value */
    double binomial_variance; /* times f(1-f)/n: more variance for the target
                                 people */
    double residual_variance; /* variance that more reports do not remove */
    double sampling_discount; /* from 0 to 1: a sample of people adds (1 - this)
                    f(1-f)/n; 0 for shares, 1 for a mean of truths all alike */
    hsy_noise noise[2];       /* of releases, whose n is the people's number: if
                                 noise[0].terms is not 0 they take the place of v0,
                                 v1 and binomial_variance */
    hsy_few few;              /* rate 0: support is all that was counted */
    double lumps; /* of how many equal parts residual_variance is at worst, on
                     average: its tails are those of a Poisson number.
                     0: normal ones */

    /* Of people who answered more than once (hsy_evidence_attend); else 0. */
    double kept;         /* hsy_attendance */
    double came;         /* hsy_attendance */
    double kept0, kept1; /* as v0 and v1, of a kept answer alone; v0 and v1 have
                            kept times these in them, and binomial_variance 1 +
                            kept times itself */
} hsy_evidence;

/* Evidence for `count` codes, or for all d values if codes is NULL (then count
 * is d; 1 for a mean or a yes/no question, where it is the share of yes).
 * scratch: hsy_evidence_scratch bytes, aligned as malloc aligns; may be NULL if
 * that is 0. HSY_E_EMPTY if there are no reports. */
HSY_API size_t hsy_evidence_scratch(const hsy_scheme *s, size_t count);
HSY_API hsy_status hsy_evidence_of(const hsy_scheme *s, hsy_evidence *points,
                                   const hsy_tally *t, const uint64_t *codes,
                                   size_t count, void *scratch, hsy_error *err);

/* The same for attribute i of a tuple, as hsy_evidence_of for its scheme. The
 * error is about all who answered, also where only some were asked for this
 * attribute. joint takes no codes but NULL. HSY_E_EMPTY also if nobody was
 * asked for it. */
HSY_API size_t hsy_attribute_evidence_scratch(const hsy_scheme *s, size_t i,
                                              size_t count);
HSY_API hsy_status hsy_attribute_evidence(const hsy_scheme *s,
                                          hsy_evidence *points,
                                          const hsy_tally *t, size_t i,
                                          const uint64_t *codes, size_t count,
                                          void *scratch, hsy_error *err);

/* ---- Attendance: people who answer again: docs/longitudinal.md -------- */

/* Reports of one round of one slot. Those of a slot may be made from answers
 * that are kept for it; slots have coins of their own. */
typedef struct hsy_round {
    uint64_t slot;
    uint32_t round; /* of its slot */
    uint32_t each;  /* reports of one device in the round, at most */
    uint64_t reports;
} hsy_round;

/* The rounds of a tally, ascending by slot and round. */
typedef struct hsy_rounds {
    const hsy_round *list;
    size_t count;
} hsy_rounds;

/*
 * How often the same people stand in a tally. Who sent r_i reports brings one
 * person's luck r_i times, so that sums of squares of r_i count, over all
 * reports: kept of those made from one kept answer, came of all a person's.
 * Both are beyond 1, the least: 0 if nobody sent two.
 *
 * A tally does not say who sent what. The squares add up to the devices that
 * are in both rounds, over all pairs of rounds: at most the smaller round's
 * reports. Exact where the larger round always holds the smaller one's devices,
 * else an upper bound.
 */
typedef struct hsy_attendance {
    uint64_t reports;
    uint64_t rounds;  /* that have reports */
    uint64_t devices; /* of the largest round, at least */
    double kept, came;
} hsy_attendance;

/* scratch: a double for each round. HSY_E_RANGE with the round's place in
 * err->at: out of order, without reports, each 0, or of more reports than 2^53
 * together; HSY_E_EMPTY if there are none. */
HSY_API hsy_status hsy_attend(hsy_attendance *out, const hsy_rounds *rounds,
                              double *scratch, hsy_error *err);

/* Rounds that cannot be told apart: any person sent at most `most` of all
 * reports. HSY_E_RANGE unless 1 <= most <= reports. */
HSY_API hsy_status hsy_attend_most(hsy_attendance *out, uint64_t reports,
                                   uint64_t most, hsy_error *err);

/*
 * What two tallies of one task share of their kept noise, at least: the devices
 * that are in both rounds, over all pairs of a round of one and a round of the
 * other in one slot, over the product of the reports. Of `devices` in all,
 * rounds of U and V reports have U + V - devices in common, or none. devices 0:
 * not known, and nothing is taken for shared. HSY_E_RANGE if a round has more
 * devices than that.
 */
HSY_API hsy_status hsy_attend_both(double *shared, const hsy_rounds *a,
                                   const hsy_rounds *b, uint64_t devices,
                                   hsy_error *err);

/* Give points the errors of people who answered more than once. permanent: the
 * scheme of the kept answers, NULL: the one that s says (nano_permanent, or
 * RAPPOR's), if any. HSY_E_REFUSED if a slot has several rounds and no kept
 * answer is known. */
HSY_API hsy_status hsy_evidence_attend(hsy_evidence *points, size_t count,
                                       const hsy_scheme *s,
                                       const hsy_scheme *permanent,
                                       const hsy_attendance *attended,
                                       hsy_error *err);

/* Devices that all answer in each of some rounds. */
typedef struct hsy_attend_plan {
    const hsy_scheme *permanent; /* as of hsy_evidence_attend */
    double share;                /* that is true */
    uint64_t devices, rounds;
    uint64_t per_slot; /* rounds of a slot */
} hsy_attend_plan;

/* What to expect before anything is collected: the standard errors, for the
 * people and for the population (hsy_target), of the share (of a mean: the
 * worst there is, as a share of its range). HSY_E_UNKNOWN for a scheme without
 * points, HSY_E_RANGE. */
HSY_API hsy_status hsy_attend_expect(const hsy_scheme *s, double sd[2],
                                     const hsy_attend_plan *plan,
                                     hsy_error *err);

/* The bits of a RAPPOR report that stand for a code in a cohort: as many as the
 * scheme has hashes, ascending, no two the same. Tallies have the cell of bit b
 * of cohort c at c bits + b, and c's reports in stratum c. HSY_E_RANGE if the
 * scheme is of another mechanism, or has no such code or cohort. Time does not
 * depend on code. */
HSY_API hsy_status hsy_rappor_bits(const hsy_scheme *s, uint16_t *positions,
                                   uint64_t code, uint32_t cohort);

typedef enum hsy_target {
    HSY_PEOPLE = 0,    /* the share among those who answered */
    HSY_POPULATION = 1 /* they are a sample of independent people */
} hsy_target;

typedef enum hsy_interval {
    HSY_INTERVAL_AUTO = 0, /* score for people, Wilson for a population */
    HSY_WALD = 1,
    HSY_WILSON = 2, /* of the population target */
    HSY_SCORE = 3,  /* of the chosen target */
    HSY_EXACT = 4,  /* Clopper-Pearson */
    HSY_LIKELIHOOD = 5,
    HSY_HOEFFDING = 6
} hsy_interval;

#define HSY_WALD_MIN 50 /* reports; below there is no Wald interval */

typedef struct hsy_confidence {
    double level; /* 0 < level < 1 */
    hsy_target target;
    hsy_interval interval;
    uint64_t comparisons; /* intervals that shall hold together, at least 1 */
} hsy_confidence;

/* The covariances of all d estimated shares, d times d doubles; scratch as for
 * hsy_evidence_of of all values. HSY_E_UNKNOWN for a mechanism without a
 * formula: grr and matrix have one. */
HSY_API hsy_status hsy_covariance(const hsy_scheme *s, double *out,
                                  const hsy_tally *t, hsy_target target,
                                  void *scratch, hsy_error *err);

typedef struct hsy_estimate {
    double value;
    double sd; /* standard error */
    double low, high;
} hsy_estimate;

/* A point with its standard error and interval, unclipped, except that exact
 * and likelihood intervals lie within [0, 1]. HSY_E_RANGE if the interval
 * cannot be had (Wald below 50 reports). */
HSY_API hsy_status hsy_estimate_point(hsy_estimate *est,
                                      const hsy_evidence *point,
                                      const hsy_confidence *how,
                                      hsy_error *err);

/*
 * Shares that are shown because they are large are rather too large, and their
 * intervals miss more often than they say. The level that each of `selected`
 * intervals needs, of `of` shares that were looked at, so that on average at
 * most 1 - level of those selected miss [BY05, Thm 1]:
 *     1 - (1 - level) selected / of.
 * The level itself if nothing or everything was selected.
 */
HSY_API double hsy_selected_level(double level, uint64_t selected, uint64_t of);

/* What shares were selected from. */
typedef struct hsy_selection {
    uint64_t of;   /* how many were looked at */
    double passed; /* what a share had to be above; -INFINITY: nothing was left
                      out */
    double design; /* by how much more their sum deviates than that of
                      independent shares; 0: at most as much as is known of the
                      mechanism */
} hsy_selection;

/* Measure from->design of these codes by replicates of a tally, as far as that
 * is needed and its cells tell; else it is left as it is. Scratch as malloc
 * aligns, 0 bytes if nothing is to be measured. HSY_E_EMPTY without reports. */
HSY_API size_t hsy_selection_scratch(const hsy_scheme *s, size_t count);
HSY_API hsy_status hsy_selection_measure(const hsy_scheme *s,
                                         hsy_selection *from,
                                         const hsy_tally *t,
                                         const uint64_t *codes, size_t count,
                                         void *scratch, hsy_error *err);

/*
 * 1 less the sum of `count` different shares of one tally: what is not among
 * them. Its standard error is that of a sum chosen beforehand. The selected are
 * too large rather than too small, so the upper end reaches as much further up
 * as selection can have added to each of them, given the lower end of its own
 * interval (docs/estimates.md). count 0: everything, without an error.
 * how->comparisons does not matter. Errors as of hsy_estimate_point.
 */
HSY_API hsy_status hsy_estimate_rest(const hsy_scheme *s, hsy_estimate *est,
                                     const hsy_evidence *points, size_t count,
                                     const hsy_selection *from,
                                     const hsy_confidence *how, hsy_error *err);

/* The logarithm of how likely the share f, from 0 to 1, makes the support of a
 * point, less that of the most likely share: 0 at the top, -INFINITY where it
 * is impossible. Support is taken for a coin of rate q + (p - q) f, as by
 * likelihood intervals, and the same points are refused. */
HSY_API hsy_status hsy_evidence_likelihood(double *out,
                                           const hsy_evidence *point, double f,
                                           hsy_error *err);

/* a - b of two independent tallies, and the two-sided p-value of "equal". */
HSY_API hsy_status hsy_estimate_difference(hsy_estimate *est, double *p_value,
                                           const hsy_evidence *a,
                                           const hsy_evidence *b,
                                           const hsy_confidence *how,
                                           hsy_error *err);

/* The same of two tallies of one task that share kept answers:
 * hsy_attend_both, 0 if they share none. Only Wald, score and Wilson. */
HSY_API hsy_status hsy_estimate_paired(hsy_estimate *est, double *p_value,
                                       const hsy_evidence *a,
                                       const hsy_evidence *b, double shared,
                                       const hsy_confidence *how,
                                       hsy_error *err);

/*
 * Sums of bins, and quantiles, of a scheme of bins: best from hh and haar,
 * whose error grows with the logarithm of the bins, and from sw (up to 256
 * bins), by likelihood; from any other mechanism that is estimated by points
 * all the same. Keep scratch (hsy_ranges_scratch
 * bytes, aligned as malloc aligns) and the scheme while r is in use. Treat the
 * fields as private.
 */
typedef struct hsy_ranges {
    const hsy_scheme *scheme;
    void *law;           /* of its variances */
    const double *cdf;   /* d + 1: the share below each edge, unbiased */
    const double *least; /* d + 1: the least of cdf from there on */
    double *low, *high;  /* d + 1 each: its bounds, as last asked for */
    double *above, *variance;
    size_t d;
    double n;
    double noise, came; /* of people who answered again */
} hsy_ranges;

HSY_API size_t hsy_ranges_scratch(const hsy_scheme *s);

/* HSY_E_RANGE if the scheme has no bins, HSY_E_REFUSED if there are no ranges
 * of it, HSY_E_EMPTY without reports. */
HSY_API hsy_status hsy_ranges_open(hsy_ranges *r, const hsy_scheme *s,
                                   const hsy_tally *t, void *scratch,
                                   hsy_error *err);

/* Give them the errors of people who answered more than once, as
 * hsy_evidence_attend; for sets of values of two-level mechanisms an upper
 * bound.
 */
HSY_API hsy_status hsy_ranges_attend(hsy_ranges *r, const hsy_scheme *permanent,
                                     const hsy_attendance *attended,
                                     hsy_error *err);

/* The share in bins from .. to-1, from < to <= d: unbiased, with a normal
 * interval (Wald below 50 reports is refused). Of sw by likelihood, with the
 * bounds of hsy_density_estimate whatever how->interval is. */
HSY_API hsy_status hsy_range(const hsy_ranges *r, hsy_estimate *est,
                             size_t from, size_t to, const hsy_confidence *how,
                             hsy_error *err);

/*
 * Where a share q of all, 0 < q < 1, lies below, counted in bins: 2.5 is the
 * middle of the third. Its ends are where the bounds of the CDF, made monotone
 * and straight within a bin, reach q; sd is half their distance over the normal
 * quantile. how->interval must be AUTO, WALD or SCORE (or WILSON of a
 * population): the band is normal. Not for two threads with the same r.
 */
HSY_API hsy_status hsy_quantile(const hsy_ranges *r, hsy_estimate *est,
                                double q, const hsy_confidence *how,
                                hsy_error *err);

typedef enum hsy_post {
    HSY_POST_NONE = 0,
    HSY_POST_NORM = 1,     /* add a constant: sum 1 */
    HSY_POST_NORM_SUB = 2, /* nearest point of the simplex */
    HSY_POST_NORM_MUL = 3, /* negatives to zero, then scale */
    HSY_POST_NORM_CUT = 4, /* keep the largest until they sum up to 1 */
    HSY_POST_BASE_CUT = 5, /* keep what is significant at 5 % over all */
    HSY_POST_MLE = 6,      /* exact maximum likelihood, rr and grr only */
    HSY_POST_POWER = 7,    /* mean under a prior of powers of the counts */
    HSY_POST_POWER_NS = 8, /* the same, then the nearest of the simplex */
    HSY_POST_EM = 9        /* maximum likelihood through any channel: needs the
                              tally, so it is hsy_density that gives it */
} hsy_post;

/* Post-process the whole domain; scratch holds count doubles. HSY_E_RANGE if
 * the method does not fit the points. */
HSY_API hsy_status hsy_post_process(double *out, const hsy_evidence *points,
                                    size_t count, hsy_post method,
                                    double *scratch, hsy_error *err);

/*
 * Shares from the likelihood of all counts together, for schemes whose tally
 * counts reports alike: iterative ones (hsy_scheme_info), which have no points,
 * and any other whose channel is known. They are at least 0 and add up to 1.
 */
typedef enum hsy_density_method {
    HSY_DENSITY_AUTO = 0, /* EM */
    HSY_DENSITY_EM = 1,   /* expectation and maximization: most likely shares */
    HSY_DENSITY_EMS = 2   /* EM with smoothing over neighbours, for bins: less
                             noise, more bias */
} hsy_density_method;

typedef struct hsy_density_how {
    hsy_density_method method;
    double gain;    /* stop once a step adds less to the log-likelihood; 0:
                       0.001 for EMS, 0.001 e^epsilon for EM */
    uint64_t steps; /* at most; 0: 10,000 */

    /* Of hsy_density_estimate. */
    double level; /* 0 < level < 1 */
    hsy_target target;
    double repeats; /* of a population: reports a person sent, where the same
                       people answered again with fresh coins; 0 or 1: one */
} hsy_density_how;

typedef struct hsy_density_fit {
    hsy_density_method method; /* never AUTO */
    uint64_t steps;
    double log_likelihood; /* but for a constant of the counts */
    bool converged;        /* by the rule, and not by running out of steps */

    /* Of hsy_density_estimate: why there are no intervals; NULL: there are. */
    const char *no_interval;
} hsy_density_fit;

/* Shares of all d values. scratch: hsy_density_scratch bytes, aligned as malloc
 * aligns; fit may be NULL. HSY_E_REFUSED if the counters have no likelihood,
 * HSY_E_EMPTY if there are no reports. */
HSY_API size_t hsy_density_scratch(const hsy_scheme *s);
HSY_API hsy_status hsy_density(const hsy_scheme *s, double *shares,
                               hsy_density_fit *fit, const hsy_tally *t,
                               const hsy_density_how *how, void *scratch,
                               hsy_error *err);

/*
 * The same with intervals, each of which holds a share as often as how->level
 * says, whatever the shares are: the bounds are weighted sums of the counts,
 * and reach to the estimate. sd is half an interval over the normal quantile.
 * There are none (NAN, and fit->no_interval says why) for EMS, and above 256
 * values or 1024 outputs. scratch: hsy_density_estimate_scratch bytes.
 */
HSY_API size_t hsy_density_estimate_scratch(const hsy_scheme *s);
HSY_API hsy_status hsy_density_estimate(const hsy_scheme *s, hsy_estimate *est,
                                        hsy_density_fit *fit,
                                        const hsy_tally *t,
                                        const hsy_density_how *how,
                                        void *scratch, hsy_error *err);

/* Whether the counts can come from this scheme at all. Each p-value is the
 * chance of something as odd from honest reports; values are from 0 to 1,
 * and 1 where a check does not apply. */
typedef struct hsy_plausibility {
    double support_p; /* the oddest single support count, over all values */
    size_t odd_value; /* its place in points */
    double sum_p;     /* all shares together make 1 */
    double weights_p; /* ones per report, unary schemes */
    bool implausible; /* one of them is below 1e-6 */
    double seeds_p;   /* seeds and hashes of local hashing */
} hsy_plausibility;

/* complete: points are the whole domain in order. weights_p and seeds_p find
 * devices that lie for gain (docs/poisoning.md); other reports have no such
 * sign. Each report is taken for another device's, unless t and points say
 * otherwise: then for so many fewer. */
HSY_API void hsy_plausible(const hsy_scheme *s, hsy_plausibility *out,
                           const hsy_tally *t, const hsy_evidence *points,
                           size_t count, bool complete);

#ifdef __cplusplus
}
#endif

#endif
