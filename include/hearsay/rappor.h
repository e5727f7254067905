/* rappor.h - decoding RAPPOR. */
#ifndef HEARSAY_RAPPOR_H
#define HEARSAY_RAPPOR_H

#include "hearsay/estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Decoding: docs/rappor-decode.md ------------------------------------- */

/* Counts of a RAPPOR collection. q = P(reported bit is 1 | set in the Bloom
 * filter), p = P(reported bit is 1 | not set), with both noise steps together
 * (hsy_rappor_channel). */
typedef struct hsy_rappor_data {
    size_t size;            /* sizeof(hsy_rappor_data) */
    uint32_t k, h;          /* bits and hashes of a filter */
    uint32_t m;             /* cohorts */
    double p, q;            /* 0 <= p, q <= 1, not equal */
    const uint64_t *totals; /* reports of each cohort: m */
    const uint64_t *ones;   /* [cohort][bit]: reports with the bit set */
    size_t candidates;
    const uint16_t *bits; /* [candidate][cohort][hash]: bit from 0; a bit that
                             occurs twice in a cohort counts once */
} hsy_rappor_data;

#define HSY_RAPPOR_BITS_MAX 4096u    /* k */
#define HSY_RAPPOR_HASHES_MAX 64u    /* h */
#define HSY_RAPPOR_COHORTS_MAX 4096u /* m */
#define HSY_RAPPOR_CELLS_MAX (1u << 22)
#define HSY_RAPPOR_CANDIDATES_MAX (1u << 24)

/* Noise parameters of RAPPOR. */
typedef struct hsy_rappor_noise {
    uint32_t k, h;  /* bits and hashes of a filter */
    double f, p, q; /* f of the permanent answer; p, q of the report */
} hsy_rappor_noise;

/* Both noise steps combined into one (p, q), and the epsilons of one report and
 * of any number of reports from one permanent answer (infinite if f is 0). With
 * k = 1 two values differ in one bit, else in at most 2h bits. */
typedef struct hsy_rappor_law {
    double p, q;
    double epsilon_report, epsilon_permanent;
} hsy_rappor_law;

HSY_API hsy_status hsy_rappor_channel(hsy_rappor_law *law,
                                      const hsy_rappor_noise *noise,
                                      hsy_error *err);

typedef enum hsy_rappor_method {
    HSY_RAPPOR_SAMPLER = 0, /* posterior with point mass at zero */
    HSY_RAPPOR_NNLS = 1     /* non-negative least squares, p-values */
} hsy_rappor_method;

typedef enum hsy_rappor_correction {
    HSY_RAPPOR_FDR = 0,       /* bounds the expected share of false
                                 discoveries */
    HSY_RAPPOR_BONFERRONI = 1 /* bounds the probability of any false
                                 discovery */
} hsy_rappor_correction;

/* Options of a decode. Zero the struct and set size; 0 means the default. */
typedef struct hsy_rappor_options {
    size_t size;         /* sizeof(hsy_rappor_options) */
    uint32_t method;     /* hsy_rappor_method */
    uint32_t correction; /* hsy_rappor_correction */
    double alpha;        /* bound of the correction; 0: 0.1 */
    double level;        /* level of the intervals; 0: 0.95 */
    uint32_t target;     /* hsy_target */
    uint32_t sweeps;     /* sweeps of the sampler; 0: 1000, or fewer for a long
                            list */
    uint64_t seed;       /* seed of the sampler's stream */
    double dispersion;   /* factor by which counts vary more than independent
                            reports (devices repeat permanent answers);
                            0: 1 */
} hsy_rappor_options;

/* Share of one candidate. value is the posterior mean (or the non-negative
 * fit), the best guess. sd and the interval belong to `unbiased`, the weighted
 * least-squares estimate, so value may lie outside. Intervals of detected
 * candidates are adjusted for selection: they have the summary's
 * level_selected, the others the requested level. */
typedef struct hsy_rappor_share {
    hsy_estimate est;
    double unbiased;
    double p_zero; /* sampler: P(share is 0 | data); nnls: p-value */
    double q;      /* smallest alpha at which it is detected; 1: at none */
    bool detected; /* q <= alpha; by the sampler only if p_zero <= 1/2 */
} hsy_rappor_share;

typedef struct hsy_rappor_summary {
    uint64_t reports;
    uint32_t cohorts; /* cohorts with reports */
    size_t detected;
    double allocated; /* sum of the detected `unbiased` */
    double unlisted;  /* share of unlisted strings, from the intercept */
    double unlisted_sd;
    double level_selected; /* level of the intervals of detected candidates */
    hsy_estimate rest;     /* 1 minus `allocated` */
    double dispersion;     /* factor applied to variances, at least 1 */
    bool intercept;        /* false: the bits of the candidates leave the
                              intercept undetermined */
    bool posed; /* true: regression on all candidates; false: on the detected
                   ones only, and intervals are conditional on them */
} hsy_rappor_summary;

/* Returns the bytes of memory for a decode; 0 if data is out of range. */
HSY_API size_t hsy_rappor_scratch(const hsy_rappor_data *data);

/* Decode the shares of all candidates, in their order. scratch is aligned as
 * malloc does. Returns HSY_E_EMPTY without reports. Returns HSY_E_RANGE if a
 * field is out of range, with the cohort or candidate (from 1) in err->at. Two
 * candidates with equal bits everywhere cannot be told apart: err->at is the
 * later one, err->limit the earlier. */
HSY_API hsy_status hsy_rappor_decode(const hsy_rappor_data *data,
                                     hsy_rappor_share *shares,
                                     hsy_rappor_summary *summary,
                                     const hsy_rappor_options *options,
                                     void *scratch, hsy_error *err);

/* ---- Association of several variables ------------------------------------ */

#define HSY_ASSOCIATE_VARIABLES 8u /* most variables */
#define HSY_ASSOCIATE_CELLS 1024u  /* most cells of the joint table */

/* Reports of several variables from the same people. rows[v] has n times
 * categories[v] entries: P(report of v | category), up to a factor for each
 * report. Any mechanism can fill it; hsy_rappor_associate does for RAPPOR. */
typedef struct hsy_association {
    size_t size; /* sizeof(hsy_association) */
    size_t n;
    uint32_t variables;
    uint32_t categories[HSY_ASSOCIATE_VARIABLES];
    const double *rows[HSY_ASSOCIATE_VARIABLES];
} hsy_association;

typedef struct hsy_association_result {
    size_t cells;   /* product of the categories */
    double chi2;    /* likelihood ratio against independence */
    double freedom; /* its degrees of freedom */
    double p_value; /* of independence of all variables */
    double gap;     /* bound on the distance to the maximal log-likelihood */
    uint32_t iterations;
} hsy_association_result;

/* Returns the bytes of scratch; 0 if the table is out of range. */
HSY_API size_t hsy_associate_scratch(const hsy_association *a);

/* Compute the most likely joint distribution (the last variable varies fastest)
 * and the covariance of its cells, cells squared, from the empirical
 * information. People are taken as a sample of a population. Returns
 * HSY_E_EMPTY without reports. Returns HSY_E_RANGE for a report (err->at) that
 * no category can give, for numbers that are not probabilities, and if the
 * reports cannot distinguish the cells. */
HSY_API hsy_status hsy_associate(const hsy_association *a, double *share,
                                 double *covariance,
                                 hsy_association_result *result, void *scratch,
                                 hsy_error *err);

/* Compute the first-order change of the joint distribution when rows change
 * from a to other (of the same shape). share and covariance are those of a. Use
 * it for rows that are estimates: shift their parameters by a standard error,
 * and add change times change' to the covariance. scratch as for hsy_associate.
 */
HSY_API void hsy_associate_shift(const hsy_association *a, double *change,
                                 const double *share, const double *covariance,
                                 const hsy_association *other, void *scratch);

/* Values of a RAPPOR variable beside its listed strings. */
typedef enum hsy_rappor_rest {
    HSY_RAPPOR_REST_NONE = 0,    /* none: the list is complete */
    HSY_RAPPOR_REST_STRINGS = 1, /* unlisted strings, as one category */
    HSY_RAPPOR_REST_NO_BIT = 2   /* no bit: the "no" of a boolean */
} hsy_rappor_rest;

typedef struct hsy_rappor_variable {
    hsy_rappor_data data;      /* listed strings as candidates; counts of these
                                  reports */
    uint32_t rest;             /* hsy_rappor_rest */
    const double *shares, *sd; /* shares of the listed strings and their
                                  standard errors (hsy_rappor_decode);
                                  HSY_RAPPOR_REST_STRINGS only */
    const uint8_t *words;      /* stride bytes for each report; bit b is bit b %
                                  8 of byte b / 8 */
    size_t stride;
} hsy_rappor_variable;

/* Reports of several RAPPOR variables from the same people. */
typedef struct hsy_rappor_reports {
    size_t size; /* sizeof(hsy_rappor_reports) */
    size_t n;
    const uint32_t *cohorts;
    uint32_t variables;
    hsy_rappor_variable variable[HSY_ASSOCIATE_VARIABLES];
} hsy_rappor_reports;

/* Returns the bytes of scratch; 0 if something is out of range. */
HSY_API size_t hsy_rappor_associate_scratch(const hsy_rappor_reports *r);

/* Compute hsy_associate for RAPPOR reports. The covariance includes the error
 * of the listed strings' shares. scratch is aligned as malloc does. */
HSY_API hsy_status hsy_rappor_associate(const hsy_rappor_reports *r,
                                        double *share, double *covariance,
                                        hsy_association_result *result,
                                        void *scratch, hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
