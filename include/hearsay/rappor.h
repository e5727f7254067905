/* rappor.h - RAPPOR's analysis. */
#ifndef HEARSAY_RAPPOR_H
#define HEARSAY_RAPPOR_H

#include "hearsay/estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- RAPPOR's analysis: docs/rappor-decode.md ---------------------------- */

/* What a RAPPOR collection gathered. q and p are those of one report: P(a bit
 * comes out 1) if the Bloom filter has it set and if not (hsy_rappor_channel).
 */
typedef struct hsy_rappor_data {
    size_t size;            /* sizeof(hsy_rappor_data) */
    uint32_t k, h;          /* bits and hashes of a filter */
    uint32_t m;             /* cohorts */
    double p, q;            /* 0 <= p, q <= 1, not equal */
    const uint64_t *totals; /* reports of each cohort, m */
    const uint64_t *ones;   /* [cohort][bit]: reports with it set */
    size_t candidates;
    const uint16_t *bits; /* [candidate][cohort][hash]: the bit from 0; a bit
                             named twice in a cohort counts once */
} hsy_rappor_data;

#define HSY_RAPPOR_BITS_MAX 4096u    /* k */
#define HSY_RAPPOR_HASHES_MAX 64u    /* h */
#define HSY_RAPPOR_COHORTS_MAX 4096u /* m */
#define HSY_RAPPOR_CELLS_MAX (1u << 22)
#define HSY_RAPPOR_CANDIDATES_MAX (1u << 24)

/* RAPPOR's parameters of one report. */
typedef struct hsy_rappor_noise {
    uint32_t k, h;  /* bits and hashes of a filter */
    double f, p, q; /* the permanent answer's and the report's */
} hsy_rappor_noise;

/* f, p, q of RAPPOR's parameters as one step, p* and q*, and what they cost:
 * one report, and any number of them if the permanent answer is kept (infinite
 * if f is 0). With one bit (k = 1) a value is a bit, else two values are told
 * apart by 2h bits at most. */
typedef struct hsy_rappor_law {
    double p, q;
    double epsilon_report, epsilon_permanent;
} hsy_rappor_law;

HSY_API hsy_status hsy_rappor_channel(hsy_rappor_law *law,
                                      const hsy_rappor_noise *noise,
                                      hsy_error *err);

typedef enum hsy_rappor_method {
    HSY_RAPPOR_SAMPLER = 0, /* posterior with an atom at zero */
    HSY_RAPPOR_NNLS = 1     /* non-negative least squares, p-values */
} hsy_rappor_method;

typedef enum hsy_rappor_correction {
    HSY_RAPPOR_FDR = 0,       /* the expected share of false among detected */
    HSY_RAPPOR_BONFERRONI = 1 /* the chance of any false one */
} hsy_rappor_correction;

/* Zero it, set size; zero fields have the defaults stated. */
typedef struct hsy_rappor_options {
    size_t size;         /* sizeof(hsy_rappor_options) */
    uint32_t method;     /* hsy_rappor_method */
    uint32_t correction; /* hsy_rappor_correction */
    double alpha;        /* what the correction bounds; 0: 0.1 */
    double level;        /* of the intervals; 0: 0.95 */
    uint32_t target;     /* hsy_target */
    uint32_t sweeps;     /* of the sampler that count; 0: 1000, or fewer for a
                            long list */
    uint64_t seed;       /* of the sampler's stream */
    double dispersion;   /* the variance of a count of bits is so many times
                            that of independent reports, as where devices repeat
                            a permanent answer; 0: 1 */
} hsy_rappor_options;

/* value is the posterior mean (or the non-negative fit), the best guess at a
 * share. sd and the interval belong to `unbiased`, the weighted least-squares
 * estimate, so that value may lie outside. The intervals of detected ones are
 * adjusted for their selection: they have the summary's level_selected, the
 * others the level that was asked for. */
typedef struct hsy_rappor_share {
    hsy_estimate est;
    double unbiased;
    double p_zero; /* the sampler: P(share is 0 | data); nnls: its p-value */
    double q;      /* the least alpha at which it is detected */
    bool detected;
} hsy_rappor_share;

typedef struct hsy_rappor_summary {
    uint64_t reports;
    uint32_t cohorts; /* with reports */
    size_t detected;
    double allocated; /* sum of the detected shares */
    double unlisted;  /* share of strings nobody listed, from the intercept */
    double unlisted_sd;
    double level_selected; /* of the detected ones' intervals */
    hsy_estimate rest;     /* 1 less the sum of the detected ones' `unbiased` */
    double dispersion;     /* by which variances were multiplied, at least 1 */
    bool intercept; /* false: the candidates leave no bit to tell it by */
    bool posed;     /* regression on all candidates; else on the detected
                       ones, and intervals hold given those */
} hsy_rappor_summary;

/* Bytes of memory a decode takes, 0 if data is out of range. */
HSY_API size_t hsy_rappor_scratch(const hsy_rappor_data *data);

/* Decode: shares of all candidates, in their order. scratch: aligned as malloc
 * aligns. HSY_E_EMPTY without reports; HSY_E_RANGE where a field is out of
 * range, err->at then being the cohort or candidate (from 1) concerned; for
 * two candidates with the same bits everywhere, which nothing can tell apart,
 * err->at is the later and err->limit the earlier. */
HSY_API hsy_status hsy_rappor_decode(const hsy_rappor_data *data,
                                     hsy_rappor_share *shares,
                                     hsy_rappor_summary *summary,
                                     const hsy_rappor_options *options,
                                     void *scratch, hsy_error *err);

/* ---- Association of several variables ------------------------------------ */

#define HSY_ASSOCIATE_VARIABLES 8u /* most variables */
#define HSY_ASSOCIATE_CELLS 1024u  /* most cells of the joint table */

/* Reports of several variables from the same people. rows[v] is n times
 * categories[v]: P(report of v | category), up to a factor of its own for each
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
    double p_value; /* P(as much if all variables are independent) */
    double gap;     /* log-likelihood is within this of the maximum */
    uint32_t iterations;
} hsy_association_result;

/* Bytes of memory, 0 if the table is out of range. */
HSY_API size_t hsy_associate_scratch(const hsy_association *a);

/*
 * The joint distribution of most likelihood (the last variable runs fastest)
 * and the covariance of its cells, cells squared, from the empirical
 * information. People are taken for a sample of a population. HSY_E_EMPTY
 * without reports; HSY_E_RANGE for a report (err->at) that no category can
 * give, for numbers that are no probabilities, and if the reports cannot tell
 * the cells apart.
 */
HSY_API hsy_status hsy_associate(const hsy_association *a, double *share,
                                 double *covariance,
                                 hsy_association_result *result, void *scratch,
                                 hsy_error *err);

/*
 * How the joint would change, to first order, if the rows of a were those of
 * other, which has the same shape. share and covariance are a's. For rows that
 * are estimates themselves: shift what they depend on by a standard error, and
 * add change times change' to the covariance. scratch: as for hsy_associate.
 */
HSY_API void hsy_associate_shift(const hsy_association *a, double *change,
                                 const double *share, const double *covariance,
                                 const hsy_association *other, void *scratch);

/* What a RAPPOR variable holds beside its listed strings. */
typedef enum hsy_rappor_rest {
    HSY_RAPPOR_REST_NONE = 0,    /* nothing: the list is complete */
    HSY_RAPPOR_REST_STRINGS = 1, /* strings nobody listed, one category */
    HSY_RAPPOR_REST_NO_BIT = 2   /* no bit at all: the "no" of a boolean */
} hsy_rappor_rest;

typedef struct hsy_rappor_variable {
    hsy_rappor_data data; /* its listed strings as candidates; the counts of
                             these reports */
    uint32_t rest;        /* hsy_rappor_rest */
    const double *shares, *sd; /* of the listed strings and their standard
                                  errors (hsy_rappor_decode); for
                                  HSY_RAPPOR_REST_STRINGS only */
    const uint8_t *words;      /* stride bytes a report, bit b at bit b % 8 of
                                  byte b / 8 */
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

/* Bytes of memory, 0 if something is out of range. */
HSY_API size_t hsy_rappor_associate_scratch(const hsy_rappor_reports *r);

/* hsy_associate of RAPPOR's reports; the covariance allows for the shares of
 * the listed strings being estimates. scratch: aligned as malloc aligns. */
HSY_API hsy_status hsy_rappor_associate(const hsy_rappor_reports *r,
                                        double *share, double *covariance,
                                        hsy_association_result *result,
                                        void *scratch, hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
