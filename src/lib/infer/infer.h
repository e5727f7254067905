/* infer.h - what estimates are made of. */
#ifndef LIB_INFER_INFER_H
#define LIB_INFER_INFER_H

#include "lib/scheme/scheme.h"

/* The variance of a point's value if its share is f. Outside [0, 1] the same
 * polynomial, which may be negative there. */
double hsy_evidence_variance(const hsy_evidence *point, hsy_target target,
                             double f);

/* What f (1-f) / n is multiplied by in it. */
double hsy_evidence_curve(const hsy_evidence *point, hsy_target target);

/* HSY_OK, or what is wrong with a point or a confidence: HSY_E_EMPTY without
 * reports, HSY_E_RANGE for anything no tally gives. */
hsy_status hsy_evidence_check(const hsy_evidence *point, hsy_error *err);
hsy_status hsy_confidence_check(const hsy_confidence *how, hsy_error *err);

/* The chance that one interval may miss: (1 - level) / comparisons. */
double hsy_confidence_miss(const hsy_confidence *how);

/* value minus what support alone says: the correction a mechanism applied. */
double hsy_evidence_shift(const hsy_evidence *point);

/* Whether support is a coin of two different rates, and whether its count is
 * one that reports can give: from 0 to n. */
bool hsy_evidence_binary(const hsy_evidence *point);
bool hsy_evidence_counted(const hsy_evidence *point);

/* The interval alone, missing with chance `miss`; point is checked. Exact,
 * likelihood and Hoeffding need both of the above. */
void hsy_interval_of(double ends[2], const hsy_evidence *point,
                     hsy_interval interval, hsy_target target, double miss);

/* The rates at which so little or so much support of n is just possible, each
 * with chance miss / 2 [CP34]. */
void hsy_interval_rates(double ends[2], double n, double support, double miss);

/* Intervals of few reports (few.c). False, and nothing done, where the
 * normal ones hold. */
bool hsy_interval_few(double ends[2], const hsy_evidence *point,
                      hsy_target target, double miss);

/* How many times its variance a floor of so many lumps counts where tails of
 * `miss` are asked for (lumps.c). */
double hsy_lumps_widen(double lumps, double miss);

/* Whether a checked point and a checked choice of interval go together. */
hsy_status hsy_interval_check(const hsy_evidence *point, hsy_interval interval,
                              hsy_error *err);

double hsy_share_clip(double f);

/* By how much the mean of a normal estimate with this standard deviation is
 * above its share, given that it has passed (selected.c). */
double hsy_selected_bias(double share, double sd, double passed);

/* Releases (releases.c): whether a point is of such, the variance of its noise
 * at the share f, and the interval of either target. */
bool hsy_releases_has(const hsy_evidence *point);
double hsy_releases_variance(const hsy_evidence *point, double f);
void hsy_releases_interval(double ends[2], const hsy_evidence *point,
                           hsy_target target, double miss);

/* Whether so many noises can give these points: support_p and sum_p, which
 * begin at 1. count >= 1. */
void hsy_releases_plausible(hsy_plausibility *out, const hsy_evidence *points,
                            size_t count, bool complete);

/* HSY_OK, or why its noise leaves no interval. */
hsy_status hsy_releases_check(const hsy_evidence *point, hsy_error *err);

/* P(sum of k discrete Laplace integers >= t), t an integer >= 1 in a double,
 * 1 <= k <= HSY_RELEASES_EXACT, r = e^-rate. */
#define HSY_RELEASES_EXACT 64
double hsy_releases_tail(double t, unsigned k, double rate);

/* How odd the seeds and hashes of a local-hashing tally are, the least over the
 * parts of the scheme (detect.c); 1 where there are none. */
double hsy_detect_seeds(const hsy_tally *t, const hsy_scheme *s);

/* Heap sort, largest first: no memory, O(count log count) always. */
void hsy_sort_down(double *x, size_t count);

/* n reports spread over places by their chances, which need not add up to
 * exactly 1. */
void hsy_multinomial_draw(double *counts, const double *chances, size_t count,
                          uint64_t n, hsy_stream *st);

/* Shares under a prior of powers of the counts (post_power.c), into out, which
 * holds the values. The points have been checked, by both. */
hsy_status hsy_post_power_check(const hsy_evidence *points, size_t count,
                                hsy_error *err);
void hsy_post_power(double *out, const hsy_evidence *points, size_t count);

/* Of a report, and of the kept answer that it is made from. */
struct attend_laws {
    struct mech_support report, kept;
};

/* permanent NULL: as s says. HSY_E_REFUSED if no kept answer is known. */
hsy_status hsy_attend_laws(struct attend_laws *out, const hsy_scheme *s,
                           const hsy_scheme *permanent, hsy_error *err);

/* ---- Maximum likelihood through a channel, for densities: em.c -------------
 */

/* One likelihood and the room to climb it. All arrays are the caller's. */
struct em {
    const hsy_scheme *s;
    size_t values, outputs;
    double n;       /* reports */
    double *counts; /* outputs: shares of the reports */
    double *image;  /* outputs: their chances under theta, then ratios */
    double *theta;  /* values: the shares so far */
    double *back;   /* values */
    double *scratch;
    bool smooth;
    double gain;    /* a step that adds less ends it */
    uint64_t steps; /* at most so many */
};

/* Outputs of the scheme's channel. */
size_t hsy_em_outputs(const hsy_scheme *s);

/* Doubles of a likelihood's room; the likelihood in it, and what comes after
 * the room. */
size_t hsy_em_doubles(const hsy_scheme *s);
double *hsy_em_room(struct em *em, const hsy_scheme *s, double *room);

/* Check, take the method's rules, count, and climb. */
hsy_status hsy_em_fit(struct em *em, hsy_density_fit *fit, const hsy_tally *t,
                      const hsy_density_how *how, hsy_error *err);

#endif
