/* account.h - accuracy, poisoning and privacy accounts. */
#ifndef HEARSAY_ACCOUNT_H
#define HEARSAY_ACCOUNT_H

#include "hearsay/device.h"
#include "hearsay/estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Accuracy before anything is collected: docs/planning.md ------------- */

/* Kinds of error bounds: Hoeffding's inequality, which holds for every n, the
 * normal approximation, and the binomial distribution itself. */
typedef enum hsy_bound {
    HSY_BOUND_HOEFFDING = 0,
    HSY_BOUND_NORMAL = 1,
    HSY_BOUND_EXACT = 2
} hsy_bound;

#define HSY_BOUNDS 3u

/* Accuracy of a scheme: its estimate is the mean of one term per report, and
 * the people are a sample. Means are scaled to the range [0, 1]. */
typedef struct hsy_accuracy {
    double width;       /* length of an interval that contains every term; 0:
                           none is known */
    double variance;    /* largest variance of a term, sampling included */
    double share;       /* the share to estimate */
    double lambda, gap; /* the estimate is (X / n - q) / gap, where X of n
                           reports support the value, each with probability
                           lambda */
    bool binomial;      /* X is binomial */
    double at_once;     /* estimates that must hold together */
} hsy_accuracy;

/* Describe the accuracy of a scheme at a true share. share < 0: the share with
 * the largest variance. For a mean it is always the worst case. Local hashing
 * and sketches have neither width nor binomial distribution: their functions
 * come from a pool, and all reports share its collisions. The variance does not
 * include the residual error of a sketch. Returns HSY_E_UNKNOWN for central
 * releases, tuples and iterative schemes, HSY_E_RANGE if share is above 1 or
 * at_once below 1. */
HSY_API hsy_status hsy_accuracy_of(const hsy_scheme *s, hsy_accuracy *out,
                                   double share, double at_once,
                                   hsy_error *err);

/*
 * hsy_accuracy_has: true if this bound exists.
 * hsy_accuracy_alpha: the error exceeded with probability at most beta, from n
 * reports.
 * hsy_accuracy_users: reports needed for error alpha and probability beta;
 * infinity if the exact bound needs more than 2^52.
 * hsy_accuracy_beta: probability that the error exceeds alpha.
 * 0 < alpha; 0 < beta < 1; 1 <= n <= 9e15.
 */
HSY_API bool hsy_accuracy_has(const hsy_accuracy *a, hsy_bound bound);
HSY_API double hsy_accuracy_alpha(const hsy_accuracy *a, hsy_bound bound,
                                  double n, double beta);
HSY_API double hsy_accuracy_users(const hsy_accuracy *a, hsy_bound bound,
                                  double alpha, double beta);
HSY_API double hsy_accuracy_beta(const hsy_accuracy *a, hsy_bound bound,
                                 double n, double alpha);

/* Returns the expected largest of d normal errors, in standard errors. */
HSY_API double hsy_normal_largest(double d);

/* hsy_central_alpha returns the error of a share in a curator's release that is
 * exceeded with probability at most beta; hsy_central_users the number of
 * people needed for error alpha. Both count the noise only, no sampling error.
 * sensitivity: change of the counts by one person, 1 for a count, 2 for a
 * histogram. */
HSY_API double hsy_central_alpha(double epsilon, double sensitivity, double n,
                                 double beta);
HSY_API double hsy_central_users(double epsilon, double sensitivity,
                                 double alpha, double beta);

/* Returns n times the mean variance of d shares for the best known mechanism,
 * subset selection with its best w. It is asymptotically optimal [YB18]. */
HSY_API double hsy_best_known_variance(double d, double epsilon);

/* ---- Poisoning: docs/poisoning.md -----------------------------------------
 */

/* Attacks of lying devices that want large estimates for their targets. */
typedef enum hsy_attack {
    HSY_ATTACK_RANDOM = 0, /* a uniformly random report */
    HSY_ATTACK_INPUT = 1,  /* the honest report of a random target */
    HSY_ATTACK_MAXIMAL = 2 /* a report that supports most targets */
} hsy_attack;

#define HSY_TARGETS_MAX 64u

/* Lying devices and their targets. */
typedef struct hsy_liars {
    hsy_attack attack;
    const uint64_t *targets; /* distinct codes */
    size_t count;            /* number of targets, 1 to HSY_TARGETS_MAX */
    double share;            /* share of all reports that lying devices send,
                                below 1 */
    double held;             /* true combined share of the targets */
} hsy_liars;

/* Compute the expected gain of the targets' combined share: the estimate from
 * all reports minus that from the honest ones. *supported, which may be NULL,
 * is the expected number of targets that one lying report supports. Returns
 * HSY_E_RANGE if a field of liars is out of range, a target is outside the
 * domain or occurs twice. Returns HSY_E_UNKNOWN for a mechanism without a
 * formula; grr, ss, sue, oue, olh and blh have one. */
HSY_API hsy_status hsy_poison_gain(const hsy_scheme *s, double *gain,
                                   double *supported, const hsy_liars *liars,
                                   hsy_error *err);

/* Largest error that lying devices can cause, beyond the standard error. */
typedef struct hsy_poison_bound {
    double up;   /* largest upward error of an estimate */
    double down; /* largest downward error; both at least 0, as shares (means:
                    as shares of the range) */
} hsy_poison_bound;

/* Compute the worst case for a share `lying` of all `reports`, whatever those
 * devices send. points are the evidence of the tally, count of them. Returns
 * HSY_E_UNKNOWN for a mechanism without such a bound: matrix, rappor, iterative
 * ones, trees and tuples. */
HSY_API hsy_status hsy_poison_bounds(const hsy_scheme *s,
                                     hsy_poison_bound *bounds,
                                     const hsy_evidence *points, size_t count,
                                     uint64_t reports, double lying,
                                     hsy_error *err);

/* ---- Accounts: docs/accounting.md ------------------------------------------
 *
 * Total privacy loss, in doubles. Each bound is rounded up by more than its
 * possible arithmetic error. delta must be from 1e-250 to less than 1, and the
 * epsilon of one report at most 100.
 */

#define HSY_COMPOSE_MAX 1000000000u /* most reports in one account */
#define HSY_COMPOSE_KINDS 256u      /* most different epsilons in one */

/* `count` reports with this epsilon each. Either all of one person: each report
 * has independent coins and may depend on the answers before it. Or one report
 * each of `count` people who change together (a household): each has
 * independent coins, and no question depends on others' answers. */
typedef struct hsy_spent {
    double epsilon;
    uint64_t count;
} hsy_spent;

/* Bounds of the total. All but basic hold with delta. None is always the
 * smallest, and any may exceed basic: use the minimum. */
typedef struct hsy_composed {
    double basic;        /* sum of the epsilons */
    double grouposition; /* sum of squares / 2, plus a deviation [BNS18] */
    double divergence;   /* as grouposition, with each report's Kullback-Leibler
                            divergence */
    double advanced;     /* [DRV10] */
} hsy_composed;

HSY_API hsy_status hsy_compose_bounds(hsy_composed *out, const hsy_spent *spent,
                                      size_t kinds, double delta,
                                      hsy_error *err);

/* Compute the smallest total for a delta. It is optimal if all reports have one
 * epsilon [KOV15]. For `kinds` different ones, at most HSY_COMPOSE_KINDS, it is
 * an upper bound with a relative error of about 0.001. scratch has room for
 * hsy_compose_scratch doubles; it is not used if kinds is 1. */
HSY_API size_t hsy_compose_scratch(void);
HSY_API hsy_status hsy_compose_epsilon(double *total, const hsy_spent *spent,
                                       size_t kinds, double delta,
                                       double *scratch, hsy_error *err);

/* Sort by epsilon and merge rows of equal epsilon. If more than `most` remain,
 * merge neighbours too, with the larger epsilon. Returns the new number of
 * rows. The sum of the counts must be below 2^64. */
HSY_API size_t hsy_compose_merge(hsy_spent *spent, size_t count, size_t most);

/* Bounds for shuffled reports. */
typedef enum hsy_shuffle_bound {
    HSY_SHUFFLE_ANY = 0,       /* "clones": any mechanism, possibly different
                                  ones */
    HSY_SHUFFLE_BINARY = 1,    /* rr: binary randomized response */
    HSY_SHUFFLE_TWO_LEVEL = 2, /* "blanket": each truth makes a share `favoured`
                                  of the outputs e^epsilon_report times as
                                  likely as the others */
    HSY_SHUFFLE_EXACT = 3      /* rr, by enumeration: at most 1000 people */
} hsy_shuffle_bound;

#define HSY_SHUFFLE_PEOPLE_MAX UINT64_C(1000000000000)
#define HSY_SHUFFLE_EXACT_MAX 1000u

/* n people send one report each, independently. The shuffler reveals only the
 * reports in random order. Count only honest people. */
typedef struct hsy_shuffle {
    hsy_shuffle_bound by;
    uint64_t n;
    double epsilon_report; /* epsilon of one report alone */
    double favoured; /* TWO_LEVEL: share of the outputs that a truth favours
                        (grr: 1 / values) */
    double overlap;  /* TWO_LEVEL: share of the outputs that two truths both
                        favour, minimum over all pairs (grr: 0). 0 is safe if
                        favoured <= 1/2 */
} hsy_shuffle;

/* Choose the bound for a scheme, with its exact epsilon: BINARY for rr by
 * epsilon, TWO_LEVEL for grr, ss, hr, pgr, olh and blh, else ANY. Returns
 * HSY_E_UNKNOWN for a curator's release: it has no reports. */
HSY_API hsy_status hsy_shuffle_scheme(hsy_shuffle *out, const hsy_scheme *s,
                                      uint64_t n, hsy_error *err);

/* hsy_shuffle_delta computes the smallest proven delta for an epsilon;
 * hsy_shuffle_epsilon the smallest epsilon for a delta. Shuffled reports are
 * (epsilon, delta)-private for each person, against anyone who sees all of
 * them. Both return HSY_E_RANGE if a field of s, epsilon or delta is out of
 * range. */
HSY_API hsy_status hsy_shuffle_delta(const hsy_shuffle *s, double *delta,
                                     double epsilon, hsy_error *err);
HSY_API hsy_status hsy_shuffle_epsilon(const hsy_shuffle *s, double *epsilon,
                                       double delta, hsy_error *err);

/* hsy_shuffle_people computes the number of people needed for (epsilon, delta),
 * to a relative error of 1e-9; it ignores s->n, and returns HSY_E_RANGE also if
 * no number is enough. hsy_shuffle_epsilon_report computes the largest
 * epsilon_report; it ignores s->epsilon_report and keeps `favoured`. */
HSY_API hsy_status hsy_shuffle_people(const hsy_shuffle *s, uint64_t *n,
                                      double epsilon, double delta,
                                      hsy_error *err);
HSY_API hsy_status hsy_shuffle_epsilon_report(const hsy_shuffle *s,
                                              double *epsilon_report,
                                              double epsilon, double delta,
                                              hsy_error *err);

/* Compute the closed form of the clones bound [FMT21, Thm 3.1], which is
 * several times larger. Reads only n and epsilon_report. */
HSY_API hsy_status hsy_shuffle_closed(const hsy_shuffle *s, double *epsilon,
                                      double delta, hsy_error *err);

/* Returns "clones", "blanket" or "exact". */
HSY_API const char *hsy_shuffle_bound_name(hsy_shuffle_bound by);

/* A batch of reports that shufflers passed on together. Null, refused and
 * erased uploads are not counted. honest is the assumed share of honest
 * reports. */
typedef struct hsy_batch {
    uint64_t reports;
    hsy_ratio honest;
    double delta;
} hsy_batch;

/* Batches that a tally's reports arrived in, with the terms of one task: its
 * assumed honest share, its delta and its promise. */
typedef struct hsy_batches {
    uint64_t batches; /* batches with reports */
    uint64_t least;   /* reports of the smallest batch */
    uint64_t reports; /* reports of all batches */
    hsy_ratio honest, delta;
    uint64_t nano_central; /* promised for the smallest allowed batch; 0:
                              none */
} hsy_batches;

/* Privacy that a batch gives to an honest person, by the best bound that holds.
 */
typedef struct hsy_worth {
    uint64_t n;     /* honest reports, including the person's, rounded down */
    uint64_t among; /* lower bound, failing with probability delta / 2, on the
                       reports with the person's permanent seed or cohort; n if
                       there is none */
    hsy_shuffle_bound by;
    double epsilon_report; /* epsilon of a report if all others collude */
    double epsilon;        /* epsilon of this batch, with delta */
    double again;          /* epsilon of each batch for a person in several;
                              infinite if nothing is proved */
    double most;           /* epsilon of any number of batches on one truth (the
                              permanent answer's), with delta 0; infinite with
                              fresh coins */
    double delta;
} hsy_worth;

/* Compute the privacy that a batch gives. kept: the permanent answer and the
 * reports made from it, where s is the scheme of the reports; NULL: unknown, or
 * fresh coins. Returns HSY_E_UNKNOWN for a curator's release, HSY_E_RANGE if a
 * field of b is out of range. */
HSY_API hsy_status hsy_worth_of(hsy_worth *out, const hsy_scheme *s,
                                const hsy_permanent *kept, const hsy_batch *b,
                                hsy_error *err);

/* Set *holds to whether hsy_worth_of finds at most `epsilon`, which is above 0
 * and at most 100. Takes a small part of its time: one value of each bound. */
HSY_API hsy_status hsy_worth_holds(bool *holds, const hsy_scheme *s,
                                   const hsy_permanent *kept,
                                   const hsy_batch *b, double epsilon,
                                   hsy_error *err);

/* Compute the total of `batches` batches for a person who is in all of them:
 * the minimum of the sum, of optimal composition with one more delta, and of
 * the permanent answer's epsilon. Returns HSY_E_RANGE for more than
 * HSY_COMPOSE_MAX batches. */
HSY_API hsy_status hsy_worth_batches(const hsy_worth *w, double *epsilon,
                                     double *delta, uint64_t batches,
                                     hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
