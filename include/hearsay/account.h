/* account.h - accuracy, poisoning and privacy accounts. */
#ifndef HEARSAY_ACCOUNT_H
#define HEARSAY_ACCOUNT_H

#include "hearsay/device.h"
#include "hearsay/estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Accuracy before anything is collected: docs/planning.md ------------- */

/* Why an error is at most so large: a theorem that holds for every n, the
 * normal approximation, and the binomial law itself. */
typedef enum hsy_bound {
    HSY_BOUND_HOEFFDING = 0,
    HSY_BOUND_NORMAL = 1,
    HSY_BOUND_EXACT = 2
} hsy_bound;

#define HSY_BOUNDS 3u

/* What a scheme's estimates are made of: a mean of one term for each report,
 * people being a sample. A mean's units are those of a range from 0 to 1. */
typedef struct hsy_accuracy {
    double width;       /* every term lies in an interval this wide; 0: no such
                           width is known */
    double variance;    /* of a term, at most; the sample's included */
    double share;       /* that is estimated */
    double lambda, gap; /* it is (X / n - q) / gap, X the reports that support
                           it, each with chance lambda */
    bool binomial;      /* and X is binomial */
    double at_once;     /* so many estimates shall hold together */
} hsy_accuracy;

/*
 * Of a scheme, for a share (below 0: the one that is hardest to tell).
 * HSY_E_UNKNOWN for releases, tuples and what is estimated by iteration,
 * HSY_E_RANGE. Local hashing and sketches have neither width nor binomial law:
 * their functions come from a pool, whose collisions all reports share. What
 * those of a sketch leave however many report is not in the variance. A mean is
 * taken where it is hardest to tell.
 */
HSY_API hsy_status hsy_accuracy_of(const hsy_scheme *s, hsy_accuracy *out,
                                   double share, double at_once,
                                   hsy_error *err);

/* Whether a bound is there; then, all but one being given, the last: the error
 * alpha that is passed with chance at most beta, how many reports that takes
 * (exact: infinity if more than 2^52), and that chance. 0 < alpha; 0 < beta
 * < 1; 1 <= n <= 9e15. */
HSY_API bool hsy_accuracy_has(const hsy_accuracy *a, hsy_bound bound);
HSY_API double hsy_accuracy_alpha(const hsy_accuracy *a, hsy_bound bound,
                                  double n, double beta);
HSY_API double hsy_accuracy_users(const hsy_accuracy *a, hsy_bound bound,
                                  double alpha, double beta);
HSY_API double hsy_accuracy_beta(const hsy_accuracy *a, hsy_bound bound,
                                 double n, double alpha);

/* The mean of the largest of d normal errors, in standard errors. */
HSY_API double hsy_normal_largest(double d);

/* The same for a trusted curator's release, noise alone: the error of a count's
 * share that is passed with chance at most beta, and the people it takes.
 * sensitivity: what one person changes, 1 of a count, 2 of a histogram. */
HSY_API double hsy_central_alpha(double epsilon, double sensitivity, double n,
                                 double beta);
HSY_API double hsy_central_users(double epsilon, double sensitivity,
                                 double alpha, double beta);

/* n times the mean variance of d shares by the best mechanism known, subset
 * selection with its best w, which tends to the least possible [YB18]. */
HSY_API double hsy_best_known_variance(double d, double epsilon);

/* ---- Poisoning: docs/poisoning.md -----------------------------------------
 */

/* What devices that lie send, so that their targets come out large. */
typedef enum hsy_attack {
    HSY_ATTACK_RANDOM = 0, /* any report, all with the same chance */
    HSY_ATTACK_INPUT = 1,  /* the honest report of a target, any of them */
    HSY_ATTACK_MAXIMAL = 2 /* the report that supports most targets */
} hsy_attack;

#define HSY_TARGETS_MAX 64u

/* Devices that lie, and what they are after. */
typedef struct hsy_liars {
    hsy_attack attack;
    const uint64_t *targets; /* different codes */
    size_t count;            /* of targets, 1 to HSY_TARGETS_MAX */
    double share;            /* of all reports that are theirs, below 1 */
    double held;             /* share that the targets together have among the
                                honest */
} hsy_liars;

/*
 * What the estimated shares of all targets together gain by liars, on the
 * average: the sum of the estimates from all reports less that from the honest
 * ones. *supported, which may be NULL, is how many targets one of their reports
 * supports. HSY_E_RANGE for what is out of range, HSY_E_UNKNOWN for a mechanism
 * whose lies have not been worked out; grr, ss, sue, oue, olh and blh have
 * been.
 */
HSY_API hsy_status hsy_poison_gain(const hsy_scheme *s, double *gain,
                                   double *supported, const hsy_liars *liars,
                                   hsy_error *err);

/* How far liars can have moved an estimate from what the honest hold, beyond
 * its standard error. */
typedef struct hsy_poison_bound {
    double up;   /* at most this much too large, */
    double down; /* or too small; both at least 0, as shares (of the range) */
} hsy_poison_bound;

/*
 * The worst of a share `lying` of all `reports`, whatever those devices send
 * and whatever they are after. points are those of the tally, count of them.
 * HSY_E_UNKNOWN for a mechanism without such a bound: matrix, rappor, those
 * estimated by iteration, hierarchies and tuples.
 */
HSY_API hsy_status hsy_poison_bounds(const hsy_scheme *s,
                                     hsy_poison_bound *bounds,
                                     const hsy_evidence *points, size_t count,
                                     uint64_t reports, double lying,
                                     hsy_error *err);

/* ---- Accounts: docs/accounting.md ------------------------------------------
 *
 * What was spent, as people read it: in doubles, and never too little. Every
 * bound is rounded away from zero by more than its arithmetic may be wrong.
 * Where delta is asked for it is from 1e-250 to less than 1, and an epsilon of
 * one report is at most 100.
 */

#define HSY_COMPOSE_MAX 1000000000u /* reports in one account */
#define HSY_COMPOSE_KINDS 256u      /* different epsilons of the optimal one */

/*
 * `count` reports of epsilon each. Of one person: each with coins of its own
 * and possibly chosen by the answers before it. Or of as many people who change
 * together, a household: each with coins of his own, and asked the same
 * whatever others answered.
 */
typedef struct hsy_spent {
    double epsilon;
    uint64_t count;
} hsy_spent;

/* Bounds of the total, each with delta but for the first, which needs none.
 * None is always the least: all may be above basic. */
typedef struct hsy_composed {
    double basic;        /* the sum */
    double grouposition; /* sum of squares / 2, and a deviation [BNS18] */
    double divergence;   /* the same with the Kullback-Leibler divergence of
                            each report itself */
    double advanced;     /* [DRV10] */
} hsy_composed;

HSY_API hsy_status hsy_compose_bounds(hsy_composed *out, const hsy_spent *spent,
                                      size_t kinds, double delta,
                                      hsy_error *err);

/* The least total for a delta: optimal for one epsilon [KOV15], for `kinds`
 * different ones an upper bound within about a thousandth of it. scratch has
 * hsy_compose_scratch doubles and is not read for one; at most
 * HSY_COMPOSE_KINDS. */
HSY_API size_t hsy_compose_scratch(void);
HSY_API hsy_status hsy_compose_epsilon(double *total, const hsy_spent *spent,
                                       size_t kinds, double delta,
                                       double *scratch, hsy_error *err);

/* Sort by epsilon and put equal ones together; if more than `most` are left,
 * near ones too, all rounded up to the largest of them. How many there are now.
 * Counts must not pass 2^64 together. */
HSY_API size_t hsy_compose_merge(hsy_spent *spent, size_t count, size_t most);

/* How shuffled reports are bounded. */
typedef enum hsy_shuffle_bound {
    HSY_SHUFFLE_ANY = 0,       /* "clones": any mechanism, each to his own */
    HSY_SHUFFLE_BINARY = 1,    /* rr: binary randomized response */
    HSY_SHUFFLE_TWO_LEVEL = 2, /* "blanket": a truth favours `favoured` of the
                                  outputs, by the factor e^epsilon_report */
    HSY_SHUFFLE_EXACT = 3      /* rr, by enumeration: for 1000 people at most */
} hsy_shuffle_bound;

#define HSY_SHUFFLE_PEOPLE_MAX UINT64_C(1000000000000)
#define HSY_SHUFFLE_EXACT_MAX 1000u

/* n people send one report each, independently, through a shuffler that leaves
 * nothing but the reports in random order. Only honest ones count. */
typedef struct hsy_shuffle {
    hsy_shuffle_bound by;
    uint64_t n;
    double epsilon_report; /* of one report alone */
    double favoured; /* TWO_LEVEL: share of all outputs (grr: 1 / values) */
    double overlap;  /* TWO_LEVEL: share that two truths favour, the least over
                     all pairs (grr: 0). 0 is safe if favoured <= 1/2 */
} hsy_shuffle;

/* The bound that fits a scheme: BINARY for rr by epsilon, TWO_LEVEL for grr,
 * ss, hr, pgr, olh and blh, ANY for the rest; with the scheme's
 * exact epsilon. HSY_E_UNKNOWN for a curator's release: it has no reports. */
HSY_API hsy_status hsy_shuffle_scheme(hsy_shuffle *out, const hsy_scheme *s,
                                      uint64_t n, hsy_error *err);

/*
 * The shuffled reports are (epsilon, delta) private for each of the n people,
 * against whoever sees all of them: the least delta that is proved for an
 * epsilon, and the least epsilon for a delta. HSY_E_RANGE.
 */
HSY_API hsy_status hsy_shuffle_delta(const hsy_shuffle *s, double *delta,
                                     double epsilon, hsy_error *err);
HSY_API hsy_status hsy_shuffle_epsilon(const hsy_shuffle *s, double *epsilon,
                                       double delta, hsy_error *err);

/* How many people it takes (within 1e-9; s->n is not read), and the largest
 * epsilon_report that does (s->epsilon_report is not read; for TWO_LEVEL
 * `favoured` stays). HSY_E_RANGE also if no number of people is enough. */
HSY_API hsy_status hsy_shuffle_people(const hsy_shuffle *s, uint64_t *n,
                                      double epsilon, double delta,
                                      hsy_error *err);
HSY_API hsy_status hsy_shuffle_epsilon_report(const hsy_shuffle *s,
                                              double *epsilon_report,
                                              double epsilon, double delta,
                                              hsy_error *err);

/* The closed form of the first [FMT21, Thm 3.1], several times larger: of s
 * only n and epsilon_report are read. */
HSY_API hsy_status hsy_shuffle_closed(const hsy_shuffle *s, double *epsilon,
                                      double delta, hsy_error *err);

/* "clones", "blanket" or "exact". */
HSY_API const char *hsy_shuffle_bound_name(hsy_shuffle_bound by);

/*
 * A batch that a chain of shufflers passes on: real reports that are opened
 * together. Nulls, and what was refused or erased, do not count. honest is the
 * share of the reports that is assumed to be of honest people.
 */
typedef struct hsy_batch {
    uint64_t reports;
    hsy_ratio honest;
    double delta;
} hsy_batch;

/*
 * Batches in which reports of a tally came, on the terms of one task: the share
 * of honest people that it assumes, the chance that its promise fails, and the
 * promise.
 */
typedef struct hsy_batches {
    uint64_t batches; /* that have reports */
    uint64_t least;   /* reports that each of them has at least */
    uint64_t reports; /* of all of them */
    hsy_ratio honest, delta;
    uint64_t nano_central; /* promised for the smallest that may be; 0: none */
} hsy_batches;

/* What it is worth to one of the honest ones, by the best bound that holds. */
typedef struct hsy_worth {
    uint64_t n;     /* honest reports, rounded down, the person's included */
    uint64_t among; /* with the same seed or cohort, where people keep one: so
                       many at least, but for half of delta; else n */
    hsy_shuffle_bound by;
    double epsilon_report; /* of a report alone, if everybody else colludes */
    double epsilon;        /* of this batch, with delta */
    double again;          /* of each batch, where the person is in several;
                              infinite if nothing is proved */
    double most;           /* of any number of them on one truth, without
                              delta: the permanent answer's; infinite if every
                              report has fresh coins */
    double delta;
} hsy_worth;

/* kept: the pair of a permanent answer and the reports made from it, s being
 * the reports'; NULL: not known, or fresh coins. HSY_E_UNKNOWN for a curator's
 * release; HSY_E_RANGE. */
HSY_API hsy_status hsy_worth_of(hsy_worth *out, const hsy_scheme *s,
                                const hsy_permanent *kept, const hsy_batch *b,
                                hsy_error *err);

/* What so many batches tell together of a person who is in all of them: the
 * least of the sum, of optimal composition with one delta more, and of what the
 * permanent answer tells without any. */
HSY_API hsy_status hsy_worth_batches(const hsy_worth *w, double *epsilon,
                                     double *delta, uint64_t batches,
                                     hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
