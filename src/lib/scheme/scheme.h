/* scheme.h - what a mechanism is, and what a scheme holds. */
#ifndef LIB_SCHEME_SCHEME_H
#define LIB_SCHEME_SCHEME_H

#include "hearsay.h"
#include "lib/bits/u128.h"
#include "lib/core/prob.h"
#include "lib/kernels/kernels.h"
#include "lib/scheme/spread.h"

#include <stddef.h>

/* The pure law of a mechanism (theory 0.1), for estimation only. Each
 * number comes from the integers directly, so none suffers cancellation. */
struct mech_support {
    double p, not_p; /* own value supported, and not */
    double q, not_q; /* other value supported, and not */
    double gap;      /* p - q */
};

/* n times the variance of an estimated share, at share 0 and at share 1. */
static inline double mech_support_v0(const struct mech_support *law)
{
    return law->q * law->not_q / (law->gap * law->gap);
}

static inline double mech_support_v1(const struct mech_support *law)
{
    return law->p * law->not_p / (law->gap * law->gap);
}

/* Which outputs a truth makes likelier than others: what shuffling counts on.
 */
enum mech_favours {
    MECH_FAVOURS_UNKNOWN = 0,
    MECH_FAVOURS_BIT,    /* one of two, if it is symmetric */
    MECH_FAVOURS_VALUE,  /* its own value */
    MECH_FAVOURS_SUBSET, /* the sets that hold it */
    MECH_FAVOURS_HALF,   /* half of its block */
    MECH_FAVOURS_POINTS, /* the points of a hyperplane */
    MECH_FAVOURS_HASH    /* under each function, its hash */
};

/* How the errors of two values' estimates hang together. */
enum mech_errors {
    MECH_ERRORS_APART = 0, /* as those of two cells of one histogram */
    MECH_ERRORS_DESIGN,    /* by outputs they share, a report being one cell */
    MECH_ERRORS_SKETCH,    /* by outputs they share, a report being many */
    MECH_ERRORS_TOGETHER   /* each is made of all cells */
};

struct mech_permanent;
struct mech_lies;
struct mech_parts;

/* What a device runs. */
struct mech_client {
    /* Fill in what another name of it means (treehist); NULL: they all mean the
     * same. */
    void (*configure)(hsy_spec *spec);

    /*
     * Check the spec's mechanism part and derive all integers from it. The
     * common part (kind, domain, epsilon's range, labels) is already in s and
     * has been checked.
     */
    hsy_status (*resolve)(hsy_scheme *s, const hsy_spec *spec, hsy_error *err);

    /* Of a search through strings, whose parts may be asked by the mechanism
     * that a spec names: codes are the string itself, spelled in HSY_PARAM_BITS
     * bits (spell.h). NULL: a string's code is its hash. */
    uint64_t (*spell)(const hsy_scheme *s, uint64_t *codes, const uint8_t *data,
                      size_t room, size_t len);

    /* Reports of n truths, whose codes are in the domain: one each, of a tuple
     * or a long string several (hsy_codes_per_truth). Must not branch on, or
     * index by, codes or coins. */
    hsy_status (*randomize)(const hsy_scheme *s, uint8_t *reports,
                            const uint64_t *codes, size_t n, hsy_coins *coins);

    /* How reports are made from a permanent answer (permanent.h); NULL: they
     * are not. */
    const struct mech_permanent *permanent;

    /* Bytes of a scheme's tail for a spec that need not be sound, NULL: those
     * of its parts, if it has any; and the tail of a resolved one, which cannot
     * fail, NULL: there is none. */
    size_t (*tail_size)(const hsy_spec *spec);
    void (*settle)(hsy_scheme *s, const hsy_spec *spec);
};

/* Many reports: simulated, checked, counted. */
struct mech_counting {
    /* The law of randomize, simulation only; NULL: that serves. */
    hsy_status (*simulate_batch)(const hsy_scheme *s, uint8_t *reports,
                                 const uint64_t *codes, size_t n,
                                 hsy_stream *secret, hsy_stream *published);

    /* n reports of report_bytes bytes, otherwise untrusted: how many from the
     * first on are well-formed. */
    size_t (*check)(const hsy_scheme *s, const uint8_t *reports, size_t n);

    /* The reports have passed check and no count can pass 2^63 - 1. */
    void (*tally)(const hsy_scheme *s, hsy_tally *t, const uint8_t *reports,
                  size_t n);

    /* The same faster, with tally_scratch bytes; both NULL: tally serves. */
    void (*tally_bulk)(const hsy_scheme *s, hsy_tally *t,
                       const uint8_t *reports, size_t n, void *scratch);
    size_t (*tally_scratch)(const hsy_scheme *s, size_t n);
};

/* The channel for EM, where a tally has a likelihood. */
struct mech_channel {
    /* out[y] = sum over x of P[y | x] theta[x], and its transpose, out[x] = sum
     * over y of P[y | x] ratio[y]. */
    void (*forward)(const hsy_scheme *s, double *out, const double *theta,
                    double *scratch);
    void (*backward)(const hsy_scheme *s, double *out, const double *ratio,
                     double *scratch);
    size_t (*scratch)(const hsy_scheme *s); /* doubles; NULL: none */

    /* Where cells do not count outputs one by one: how many outputs there are,
     * and their counts from a tally. 0 and NULL: the cells. */
    size_t outputs;
    void (*counts)(double *counts, const hsy_tally *t);
};

/* What a tally tells, and how well. */
struct mech_estimate {
    hsy_cell_law cell_law;
    enum mech_errors errors;
    bool iterative; /* hsy_density estimates; points is NULL */

    /* t has reports; codes are in the domain, NULL: all. points_scratch NULL:
     * none is needed. */
    void (*points)(const hsy_scheme *s, hsy_evidence *points,
                   const hsy_tally *t, const uint64_t *codes, size_t count,
                   void *scratch);
    size_t (*points_scratch)(const hsy_scheme *s, size_t count);

    /* n Cov of all d estimated shares, target people; scratch as for points.
     * NULL where it is not known. */
    void (*covariance)(const hsy_scheme *s, double *out, const hsy_tally *t,
                       void *scratch);

    /* The pure law; NULL for a mechanism that has none, which then has
     * variance. */
    void (*support)(const hsy_scheme *s, struct mech_support *out);

    /* n times the variance of a share of 0 (blocks balanced), and of 1; for a
     * mean, the largest there is, twice. NULL: as the pure law says. */
    void (*variance)(const hsy_scheme *s, double v[2]);

    /* The least and the most that one report can add to the sum of which an
     * estimate is the mean. NULL: as the points' law of support says, if there
     * is one. */
    void (*reach)(const hsy_scheme *s, double reach[2]);

    /* How its devices can lie (lies.h); NULL: not worked out. */
    const struct mech_lies *lies;

    /* Steps of estimating everything from n reports, counting included where a
     * report takes many; for strings, of one candidate; by iteration, of one
     * round. NULL: one a cell. */
    double (*steps)(const hsy_scheme *s, double n);

    const struct mech_channel *channel; /* NULL: there is no likelihood */
};

/* P[report | truth] in factors, exactly. */
struct mech_law {
    enum mech_favours favours;
    size_t factors; /* most that are written; 0: one for each report bit */
    size_t (*factors_of)(const hsy_scheme *s); /* or so many, if not NULL */
    size_t (*of_code)(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                      const uint8_t *report);
    size_t (*of_codes)(const hsy_scheme *s, hsy_factor *factors,
                       const uint64_t *codes,
                       const uint8_t *report); /* of a tuple or a long string */
    size_t (*worst)(const hsy_scheme *s, hsy_factor factors[4]);
    uint32_t (*power)(const hsy_scheme *s); /* NULL: 1 */

    /* ln of the ratio that bounds all reports on one truth together, if its
     * permanent answer is kept; NULL: there is none. */
    double (*epsilon_permanent)(const hsy_scheme *s);
};

/*
 * A row of mechanisms.def. A small client (make client) answers and does
 * nothing else: its rows have the first table alone. A curator's release has no
 * reports, and no law.
 */
struct hsy_mechanism {
    hsy_catalogue row;
    uint32_t params;  /* bit 1 << hsy_param for each it takes */
    uint32_t designs; /* bit 1 << hsy_design for each that describes it */
    const struct mech_client *client;
    const struct mech_counting *counting;
    const struct mech_estimate *estimate;
    const struct mech_law *law;
    const struct mech_parts *parts; /* sampled.h; NULL: it is one question */
};

/* A curator's: there are no reports, only tallies. */
static inline bool mech_central(const struct hsy_mechanism *mech)
{
    return mech->row.analysis == HSY_ANALYSIS_RELEASE;
}

/* The integers that probabilities are made of, by the kind of law. Where one
 * begins with another it may be read as that one. */
enum law_kind {
    LAW_IN_TAIL = 0, /* the mechanism's own, behind the scheme */
    LAW_TWO_LEVEL,
    LAW_PROJECTIVE,
    LAW_BITS,
    LAW_RAPPOR,
    LAW_NOISE,
    LAW_PARTS,
    LAW_RELEASE
};

/* Own outputs have weight rho = weight / 2^shift, the others 1 (twolevel.h). */
struct law_two_level {
    uint64_t weight;
    uint32_t shift;
    struct kernel_choice choice;
};

/* The points and the blocks of a projective scheme. */
struct projective {
    struct kernel_geometry geometry;
    uint64_t set, set_excess; /* own outputs of a value; 2^64 mod that */
    uint32_t blocks;
    struct spread spread;       /* values to slots, if there are many blocks */
    struct spread_divisor room; /* slots of a block, at most its points */
};

struct law_projective {
    struct law_two_level two;
    struct projective space;
};

/* Bits: P(1|1) = own / total, P(1|0) = other / total. Of vectors (unary.h)
 * other is cut to `digits` leading digits; of dBitFlip they are weight and
 * 2^shift, which its wire states besides. */
struct law_bits {
    uint64_t own, other;
    uint32_t digits, shift;
    uint64_t weight;
};

struct law_rappor {
    struct law_bits bits;
    uint64_t flip;      /* permanent: P(a bit is turned), over 2^64 */
    uint64_t low, miss; /* instantaneous: P(0 to 1), P(1 to 0) */
    uint32_t flip_digits, step_digits; /* binary digits of those */
};

/* Two-sided noise (laplace.c): each step away keeps `keep` / 2^64 of the mass
 * before it, from `middle` on; `beyond` is that of either end. */
struct law_noise {
    uint64_t keep, middle, beyond;
};

/* Sub-questions (sampled.h). */
struct law_parts {
    uint32_t count;
    uint64_t digest;     /* eight bytes of a digest of all of them, so that the
                            scheme's covers them */
    uint32_t index_bits; /* of the number of the part that was drawn */
    double worst; /* of a tuple: the largest variance of an attribute's share, n
                     times, for the people who answered: what auto chooses by */
};

/* A curator's noise: steps of the range (central.c). */
struct law_release {
    uint64_t grid;
};

/*
 * A resolved scheme: integers only between truth and report. The first part is
 * common to all mechanisms, the second is filled in by resolve; what a
 * mechanism does not use is zero.
 */
struct hsy_scheme {
    const struct hsy_mechanism *mech;
    const struct hsy_kernels *kernels;
    uint8_t digest[HSY_DIGEST];

    uint32_t kind;
    uint32_t d; /* values; 2 for yes/no, 0 for numbers and open strings */
    int64_t lo, hi;
    uint32_t scale;
    uint64_t labels_len;
    size_t labels_at; /* where in them the first label begins */
    uint8_t labels_digest[HSY_DIGEST];
    uint64_t nano_epsilon;
    uint64_t nano_permanent; /* of the kept answers reports are made from; 0 */
    uint32_t design;
    hsy_ratio chance[HSY_CHANCES];
    uint64_t param[HSY_PARAMS]; /* resolved: no 0 for "choose" */
    uint8_t alphabet[HSY_ALPHABET];
    uint32_t oracle; /* id of the mechanism that was named for the parts */
    double users;    /* of the spec, for steps */

    uint32_t report_bits, packed_bits;
    size_t report_bytes;
    size_t cells, strata, weights;
    uint32_t answers; /* parts that each report answers */

    uint64_t total;        /* the denominator of probabilities; 0: 2^64 */
    struct prob_base coin; /* of that denominator */
    enum law_kind law;
    union {
        struct law_two_level two;
        struct law_projective projective;
        struct law_bits bits;
        struct law_rappor rappor;
        struct law_noise noise;
        struct law_parts parts;
        struct law_release release;
    };
};

/* What a mechanism keeps after its scheme: tail_size bytes, aligned as the
 * scheme is, written by settle. A copy of the struct does not have it. */
static inline const void *mech_tail(const hsy_scheme *s)
{
    return s + 1;
}

/* Whether a probability of a spec is one, in numbers whose products fit. */
static inline bool mech_ratio_valid(const hsy_ratio *r)
{
    return r->den >= 1 && r->den <= (uint64_t)1 << 31 && r->num <= r->den;
}

/* n times the variance at share 0 and at share 1, by variance or support. */
void hsy_mech_variance(const hsy_scheme *s, double v[2]);
double hsy_mech_steps(const hsy_scheme *s);

/* ln(high / low), high >= low; 0 stands for 2^64. */
double hsy_mech_ln(uint64_t high, uint64_t low);

/* The row called name (an alias will do) or numbered id; NULL if none. */
const struct hsy_mechanism *hsy_mech_named(const char *name);
const struct hsy_mechanism *hsy_mech_numbered(uint32_t id);

/* Whether a spec leaves the choice of the mechanism to hearsay. */
bool hsy_mech_is_auto(const char *name);

/* The mechanism a spec names, or means by its design; NULL if it leaves the
 * choice, or names one that there is not. */
const struct hsy_mechanism *hsy_mech_meant(const hsy_spec *spec);

/* Resolve s, whose common part is filled in, by the best mechanism for its kind
 * (auto.c). */
hsy_status hsy_mech_auto(hsy_scheme *s, const hsy_spec *spec, hsy_error *err);

/* Whether name stands in a comma-separated list. */
bool hsy_mech_listed(const char *name, const char *list);

/* Whether the design and the parameters that a spec gives are the mechanism's
 * own. */
hsy_status hsy_mech_takes(const struct hsy_mechanism *mech,
                          const hsy_spec *spec, hsy_error *err);

/* The most bytes of a tail that the mechanism of this spec can take, which need
 * not be sound. */
size_t hsy_mech_tail_size(const hsy_spec *spec);

/* Resolve s by one mechanism: its kinds, its parameters, the sizes. */
hsy_status hsy_mech_resolve(hsy_scheme *s, const struct hsy_mechanism *mech,
                            const hsy_spec *spec, hsy_error *err);

/* Claim what a design's probabilities spend: nano (0: more than any scheme
 * may), unless the spec's epsilon, a cap if it is there, is less. */
hsy_status hsy_mech_claim(hsy_scheme *s, uint64_t nano, hsy_error *err);

/* The law of support by own / total and other / total; total 0 stands for
 * 2^64. */
void hsy_support_of(struct mech_support *out, uint64_t own, uint64_t other,
                    uint64_t total);

/* Evidence from a support count under the pure law. */
void hsy_evidence_pure(hsy_evidence *point, const struct mech_support *law,
                       double n, double support);

/* check of a mechanism of which every number of report_bits is a report: only
 * spare bits can be wrong. */
size_t hsy_spare_check(const hsy_scheme *s, const uint8_t *reports, size_t n);

/* check and tally of a mechanism whose report is the number of a cell, which
 * counts it. */
size_t hsy_outputs_check(const hsy_scheme *s, const uint8_t *reports, size_t n);
void hsy_outputs_tally(const hsy_scheme *s, hsy_tally *t,
                       const uint8_t *reports, size_t n);

/* The points of a mechanism whose cell v is the support of value v. */
void hsy_evidence_cells(const hsy_scheme *s, hsy_evidence *points,
                        const hsy_tally *t, const uint64_t *codes, size_t count,
                        void *scratch);

/* Refuse one source in both roles: else a published seed shows the bytes that
 * tossed a coin. */
hsy_status hsy_mech_coins(const hsy_coins *coins, hsy_error *err);

/* Refuse a scheme that has no reports. */
hsy_status hsy_mech_reports(const hsy_scheme *s, hsy_error *err);

/* Whether all codes of n truths are in the domain, without telling which is
 * not. */
bool hsy_codes_inside(const hsy_scheme *s, const uint64_t *codes, size_t n);

/*
 * As hsy_truth_code, but every truth of the right type has its code: an index
 * outside the list is `other` (the last one, if that is no index), a number
 * outside the range its nearer end, a string too long its first HSY_STRING_MAX
 * bytes, or as many as can be spelled. No branch and no address depends on it,
 * not even on whether it lies in the domain. HSY_E_RANGE for a wrong type,
 * which is the program's mistake.
 */
hsy_status hsy_truth_code_clamped(const hsy_scheme *s, uint64_t *codes,
                                  const hsy_truth *truth, uint32_t other,
                                  hsy_error *err);

/* Bytes of a matrix of d states, which stands before the labels. */
size_t hsy_matrix_bytes(uint32_t d);

/* Fill in s->digest: BLAKE2b-256 of a tag and the encoded scheme, which holds
 * the digest of the labels. */
void hsy_scheme_digest(hsy_scheme *s);

/* Check and resolve a spec into all of a scheme but its tail. known, which may
 * be NULL, gets the spec as this version has it. */
hsy_status hsy_scheme_head(hsy_scheme *s, hsy_spec *known, const hsy_spec *spec,
                           hsy_error *err);

/* The table (table.c; a small client has its own). */
extern const struct hsy_mechanism *const hsy_mech_table[];
extern const size_t hsy_mech_count;

#endif
