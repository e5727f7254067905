/* scheme.h - questions (spec and scheme), truths, reports and tallies. */
#ifndef HEARSAY_SCHEME_H
#define HEARSAY_SCHEME_H

#include "hearsay/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Spec and scheme ----------------------------------------------------- */

/* Kinds of truths. The numbers are wire format. */
typedef enum hsy_kind {
    HSY_KIND_YES_NO = 1,  /* 0 (no) or 1 (yes); estimate: the share of yes */
    HSY_KIND_VALUES = 2,  /* one of d values; estimate: the share of each */
    HSY_KIND_NUMBER = 3,  /* a number in [lo, hi]; estimate: the mean */
    HSY_KIND_BINS = 4,    /* a number in [lo, hi]; estimate: the share of each
                             of d equal bins */
    HSY_KIND_STRINGS = 5, /* any bytes; estimate: shares of candidates that are
                             named later */
    HSY_KIND_TUPLE = 6    /* several attributes, each of a kind of its own */
} hsy_kind;

/* Returns the name of a kind in files: "yes-no", "values", "number", "bins",
 * "strings", "tuple". NULL if there is no such kind. */
HSY_API const char *hsy_kind_name(uint32_t kind);

/* Ways to specify a mechanism's noise. SPINNER, COINS and CHANNEL are binary
 * randomized response (rr). The numbers are wire format. */
typedef enum hsy_design {
    HSY_DESIGN_EPSILON = 0, /* by nano_epsilon */
    HSY_DESIGN_SPINNER = 1, /* Warner: truth with probability chance[0] */
    HSY_DESIGN_COINS = 2,   /* truth w.p. chance[0], else yes w.p. chance[1] */
    HSY_DESIGN_CHANNEL = 3, /* P(yes|yes) = chance[0], P(yes|no) = chance[1] */
    HSY_DESIGN_RAPPOR = 4,  /* f = chance[0], p = chance[1], q = chance[2] */
    HSY_DESIGN_MATRIX = 5   /* a matrix, stored before the labels */
} hsy_design;

/* num / den, 0 <= num <= den, 1 <= den <= 2^31. */
typedef struct hsy_ratio {
    uint64_t num, den;
} hsy_ratio;

#define HSY_CHANCES 4 /* probabilities that a spec can hold */

/* Integer parameters of mechanisms. hsy_param_name returns the name. 0 lets the
 * mechanism choose. A mechanism refuses parameters that it does not have. */
typedef enum hsy_param {
    HSY_PARAM_G = 0,         /* local hashing: range of the hash */
    HSY_PARAM_POOL_BITS = 1, /* 2^this public seeds; default 16 */
    HSY_PARAM_POOL_SEED = 2, /* number of the public pool */
    HSY_PARAM_SUBSET = 3,   /* subset selection: number of values in a report */
    HSY_PARAM_WINDOW = 4,   /* window mechanisms: outputs around the truth */
    HSY_PARAM_OUTPUTS = 5,  /* window mechanisms: number of possible reports */
    HSY_PARAM_MIX = 6,      /* share of one-bit reports, in units of 2^-16 */
    HSY_PARAM_GRID = 7,     /* Laplace: steps in half the range */
    HSY_PARAM_BLOCKS = 8,   /* Hadamard and hybrid projective: blocks */
    HSY_PARAM_Q = 9,        /* projective: prime order of the field */
    HSY_PARAM_T = 10,       /* projective: coordinates of a point */
    HSY_PARAM_FANOUT = 11,  /* hierarchy: children of a node */
    HSY_PARAM_HASHES = 12,  /* hash functions of a sketch or Bloom filter */
    HSY_PARAM_WIDTH = 13,   /* sketch: cells of a row */
    HSY_PARAM_COHORTS = 14, /* RAPPOR: cohorts */
    HSY_PARAM_FILTER_BITS = 15,  /* RAPPOR: bits of the Bloom filter */
    HSY_PARAM_SAMPLED_BITS = 16, /* dBitFlip: buckets that a device answers */
    HSY_PARAM_BITS = 17,         /* bits of a spelled string */
    HSY_PARAM_FIRST = 18,        /* bits of the prefix before the first step */
    HSY_PARAM_STEP = 19,        /* bits from one group, or stage, to the next */
    HSY_PARAM_PREFIX_BITS = 20, /* stage: bits of the prefixes it asks for */
    HSY_PARAM_MAX_CANDIDATES = 21, /* stage: most candidates per stage */
    HSY_PARAM_SIZES = 22,          /* stage: hsy_sizes of the batches */
    HSY_PARAM_PIECE_BITS = 23,     /* puzzle: bits of a piece */
    HSY_PARAM_FRAGMENT_BITS = 24,  /* puzzle: bits of a fragment */
    HSY_PARAM_FRAGMENTS = 25,      /* puzzle: fragments of a word */
    HSY_PARAM_WORD_SHARE = 26      /* puzzle: share of epsilon for the word, in
                                      units of 2^-16 */
} hsy_param;

/* Sizes of the batches of a search in stages. */
typedef enum hsy_sizes {
    HSY_SIZES_EQUAL = 1,
    HSY_SIZES_RISING = 2,     /* evenly, from 1 to 3 times the first */
    HSY_SIZES_DIMINISHING = 3 /* evenly, down to a third of the first */
} hsy_sizes;

#define HSY_PARAMS 32 /* parameters that a spec can hold */
#define HSY_PARAM_MAX (((uint64_t)1 << 53) - 1) /* exact in JSON too */

/* Returns the name of a parameter on the command line and in JSON: "pool-bits".
 * NULL if there is no such parameter. */
HSY_API const char *hsy_param_name(size_t param);

#define HSY_NANO 1000000000u         /* nano-epsilon in epsilon 1 */
#define HSY_EPSILON_MIN 1000u        /* 1e-6 */
#define HSY_EPSILON_MAX 32000000000u /* 32 */
#define HSY_VALUES_MAX (1u << 22)    /* most values or bins */
#define HSY_UNARY_MAX (1u << 20)     /* most, if a report has a bit for each */
#define HSY_LABEL_MAX 4096u          /* bytes of one label */
#define HSY_LABELS_MAX (64u << 20)   /* bytes of all labels, encoded */
#define HSY_STRING_MAX 1024u         /* bytes of a string truth */
#define HSY_SCALE_MAX 9u             /* decimals of a number */
#define HSY_POOL_BITS_DEFAULT 16u
#define HSY_POOL_BITS_MAX 24u
#define HSY_ALPHABET 32u /* size of an alphabet: a bitmap of 256 bits */

/*
 * A question and how to answer it. Zero the struct, set size, then set the
 * fields that apply. Fields that do not apply must be zero; otherwise
 * HSY_E_RANGE.
 *
 * Later versions append fields. A program built with an older header has a
 * smaller size; missing fields count as zero. With a larger size, the fields
 * unknown to this library must be zero.
 *
 * labels holds d labels, each a u32 little-endian length and that many bytes.
 * NULL: the values are called 0 .. d-1. Labels must be unique. The library does
 * not check: it has no memory of its own.
 *
 * HSY_DESIGN_MATRIX stores its matrix before the labels: 1 + d d numbers of 8
 * bytes, little-endian. The first is the denominator, at most HSY_MATRIX_TOTAL.
 * The others are the numerators of P(y|x), at y d + x. Each column must add up
 * to the denominator.
 */
typedef struct hsy_spec {
    size_t size;           /* sizeof(hsy_spec) */
    const char *mechanism; /* name or alias; NULL or "auto": the library
                              chooses */
    uint64_t nano_epsilon; /* with any design but HSY_DESIGN_EPSILON: an upper
                              bound on its epsilon; 0: none */
    uint32_t kind;         /* hsy_kind */
    uint32_t d;            /* VALUES, BINS: number of values; YES_NO: 2 or 0;
                              STRINGS of a stage: number of prefixes */
    int64_t lo, hi;        /* NUMBER, BINS: the range in units of 10^-scale */
    uint32_t scale;
    const uint8_t *labels;         /* VALUES: labels; TUPLE: attributes; stage:
                                      d prefixes (hsy_stage_label) */
    size_t labels_len;             /* includes the matrix */
    uint32_t design;               /* hsy_design; must fit the mechanism (rr,
                                      rappor, matrix) */
    hsy_ratio chance[HSY_CHANCES]; /* probabilities of the design */
    uint64_t param[HSY_PARAMS];    /* hsy_param */

    /* Limits: bits of a report, and steps of estimating from `users` reports.
     * 0: none. `auto` chooses only mechanisms within them; a named mechanism
     * that exceeds them is refused. They are not part of the scheme. */
    uint64_t max_bits, max_steps, users;

    /* Spelled strings (hsy_truth_code): the bytes that may occur. Byte b is bit
     * b % 8 of alphabet[b / 8]. All zero: any bytes. */
    uint8_t alphabet[HSY_ALPHABET];
    const char *oracle; /* mechanism of the groups of a search; NULL: the
                           library chooses */

    /* Epsilon of a permanent answer (hsy_permanent) from which reports are
     * made, at least nano_epsilon. 0: every report has fresh coins. It does not
     * change reports. It is used for the standard error if a person sends
     * several (hsy_attend). Must be 0 for RAPPOR, whose design has it. */
    uint64_t nano_permanent;
} hsy_spec;

#define HSY_SPELL_BITS 512u /* most bits of a spelled string */
#define HSY_SPELL_WORDS (HSY_SPELL_BITS / 64)
#define HSY_MATRIX_MAX 64u /* states of a matrix */
#define HSY_MATRIX_TOTAL ((uint64_t)1 << 40)
#define HSY_ATTRIBUTES_MAX 64u /* attributes of a tuple */

/* A spec with every parameter resolved to integers. */
typedef struct hsy_scheme hsy_scheme;

/* Returns the bytes of a scheme for this spec; align as malloc does. Set all
 * fields of the spec first: the size may depend on any of them, including
 * nano_epsilon. */
HSY_API size_t hsy_scheme_size(const hsy_spec *spec);

/* Check and resolve a spec. On failure err->field is the wrong field. */
HSY_API hsy_status hsy_scheme_init(hsy_scheme *s, const hsy_spec *spec,
                                   hsy_error *err);

/* Set the implementation of the inner loops; default: the fastest. Returns
 * HSY_E_UNKNOWN if the machine cannot run it. Results do not depend on it. */
HSY_API hsy_status hsy_scheme_cpu(hsy_scheme *s, hsy_cpu level);

/* Analyses of tallies. Each mechanism has one, so callers need not compare
 * names. */
typedef enum hsy_analysis {
    HSY_ANALYSIS_POINTS = 1,  /* values, or a mean: hsy_evidence_of */
    HSY_ANALYSIS_DENSITY = 2, /* bins, by iteration: hsy_density */
    HSY_ANALYSIS_RAPPOR = 3,  /* candidates, by regression: hsy_rappor_decode */
    HSY_ANALYSIS_SEARCH = 4,  /* prefixes to strings: hsy_search_stage */
    HSY_ANALYSIS_PUZZLE = 5,  /* fragments to words: hsy_puzzle_search */
    HSY_ANALYSIS_STAGE = 6,   /* one stage of a search: hsy_stage_survivors */
    HSY_ANALYSIS_RELEASE = 7, /* a curator's noisy counts: hsy_evidence_of */
    HSY_ANALYSIS_ATTRIBUTES = 8, /* a tuple's attributes, each by its part */
    HSY_ANALYSIS_JOINT = 9       /* a tuple's attributes and their cells */
} hsy_analysis;

/* Distribution of a tally's cells, for mechanisms whose tally a simulation can
 * draw without drawing reports. */
typedef enum hsy_cell_law {
    HSY_CELLS_ANY = 0,   /* must be drawn report by report */
    HSY_CELLS_BIT = 1,   /* one cell: Bernoulli(p) for each person with truth 1,
                            Bernoulli(q) with truth 0 */
    HSY_CELLS_UNARY = 2, /* each cell: Bernoulli(p) for each person with its
                            value, Bernoulli(q) for the others */
    HSY_CELLS_DIRECT = 3 /* each person adds to one cell: that of the value with
                            probability p - q, else a uniform one */
} hsy_cell_law;

/* Properties of a scheme. Doubles are for display and estimation only. */
typedef struct hsy_scheme_info {
    const char *mechanism; /* canonical name, a literal */
    uint32_t id;           /* permanent wire id */
    uint32_t kind;
    hsy_analysis analysis; /* analysis of its tallies */
    hsy_cell_law cell_law;
    uint64_t nano_epsilon;    /* epsilon as requested, or of the design */
    double epsilon;           /* nano_epsilon / 1e9 */
    double epsilon_exact;     /* epsilon of the integer probabilities in use; at
                                 most epsilon */
    double epsilon_permanent; /* epsilon of any number of reports made from one
                                 permanent answer; 0: the scheme has none.
                                 hsy_randomize keeps no answer: each call spends
                                 epsilon again */
    uint64_t nano_permanent;  /* as in the spec */
    uint32_t d; /* number of values (VALUES, BINS), 2 (YES_NO), prefixes of a
                   stage, else 0 */
    int64_t lo, hi;
    uint32_t scale;
    uint32_t design;
    uint64_t param[HSY_PARAMS]; /* as resolved */
    size_t labels_len;
    size_t labels_at;              /* offset of the first label */
    uint32_t report_bits;          /* bits of information in a report */
    uint32_t packed_bits;          /* bits of a report in a stream */
    size_t report_bytes;           /* bytes of a report in memory */
    size_t cells, strata, weights; /* sizes of a tally */
    uint32_t answers; /* parts that one report contributes to: 1, or 2 for
                         sfp */
    double p, q;      /* support probabilities: own value, other value */
    double v0, v1;    /* n times the variance at share 0 and at share 1; 0 if
                         iterative */
    double steps;     /* steps to estimate all values from spec.users reports;
                         strings: for one candidate; iterative schemes: for one
                         iteration */
    bool iterative; /* estimated by iteration (hsy_density), not by evidence */
    bool central;   /* central release (hsy_central_release), without reports:
                       v0 and v1 are n squared times the variance of one
                       release */
    uint8_t digest[HSY_DIGEST];
    uint8_t alphabet[HSY_ALPHABET]; /* alphabet of spelled strings */
    const char *oracle;             /* as named in the spec, or NULL */
} hsy_scheme_info;

HSY_API void hsy_scheme_describe(const hsy_scheme *s, hsy_scheme_info *info);

/* Parts of a scheme: each report answers one of several questions, drawn at
 * random (a level of a tree, an attribute of a tuple). Part i, 0 <= i <
 * hsy_scheme_parts, is itself a scheme and lives as long as s. A joint scheme
 * has one part: its cells in row-major order (the last attribute varies
 * fastest). Any other scheme has one part: itself. */
HSY_API size_t hsy_scheme_parts(const hsy_scheme *s);
HSY_API const hsy_scheme *hsy_scheme_part(const hsy_scheme *s, size_t i);

/* Returns a truth's code in part i: its node on tree level i, its prefix, or
 * its attribute i. codes holds hsy_codes_per_truth codes. The run time does not
 * depend on them. */
HSY_API uint64_t hsy_part_code(const hsy_scheme *s, const uint64_t *codes,
                               size_t i);

/*
 * Tuples: several attributes (docs/mechanisms/smp.md, joint.md).
 * The labels of a TUPLE spec are a block of 2 to HSY_ATTRIBUTES_MAX attributes.
 * Each has a unique name and a spec of any other kind. nano_epsilon bounds the
 * privacy loss of the whole tuple; no attribute may have more.
 */

/* One attribute of a block. */
typedef struct hsy_attribute {
    const char *name;
    size_t name_len; /* 1 to HSY_LABEL_MAX */
    hsy_spec spec;
} hsy_attribute;

/* Append an attribute to a block of *len bytes and add its size to *len. If out
 * is NULL, only *len is set. Returns HSY_E_RANGE if room is too small, and the
 * errors of hsy_scheme_init. */
HSY_API hsy_status hsy_attribute_encode(uint8_t *out, size_t room, size_t *len,
                                        const hsy_attribute *a, hsy_error *err);

/* Read the attribute at offset *at of a block and advance *at to the next one.
 * The pointers point into the block. Returns HSY_E_END after the last one,
 * HSY_E_FORMAT if the block is malformed. */
HSY_API hsy_status hsy_attribute_next(hsy_attribute *a, size_t *at,
                                      const uint8_t *block, size_t len,
                                      hsy_error *err);

/* Returns the scheme of attribute i < hsy_codes_per_truth(s); it lives as long
 * as s. Under smp it is also the scheme that reports of this attribute use. Any
 * other scheme is its own attribute 0. */
HSY_API const hsy_scheme *hsy_scheme_attribute(const hsy_scheme *s, size_t i);

/* A mechanism that makes reports. */
typedef struct hsy_catalogue {
    const char *name;
    const char *aliases; /* comma-separated, may be empty */
    const char *title;   /* one line */
    uint32_t id;
    uint32_t kinds; /* bit 1 << hsy_kind for each kind it supports */
    hsy_analysis analysis;
    const char *oracle; /* strings: default oracle for large domains; NULL: it
                           depends on the spec */
} hsy_catalogue;

/* Returns mechanism number i; NULL past the end. */
HSY_API const hsy_catalogue *hsy_mechanism_at(size_t i);

/* Returns the mechanism with this name or alias; NULL if there is none. */
HSY_API const hsy_catalogue *hsy_mechanism_named(const char *name);

/* Returns mechanism number i of those that have permanent answers
 * (hsy_permanent) for this kind; NULL past the end. */
HSY_API const hsy_catalogue *hsy_mechanism_kept(uint32_t kind, size_t i);

/* ---- Truths -------------------------------------------------------------- */

typedef enum hsy_truth_type {
    HSY_TRUTH_INDEX = 1,
    HSY_TRUTH_NUMBER = 2,
    HSY_TRUTH_BYTES = 3,
    HSY_TRUTH_TUPLE = 4
} hsy_truth_type;

/*
 * A private value.
 *
 * A string is the first len bytes of a buffer of room bytes. All of room is
 * read, so time and addresses do not reveal len. Keep secret strings in buffers
 * of one size, and set room to it. room 0 means len: the addresses then reveal
 * where the string ends.
 */
typedef struct hsy_truth {
    hsy_truth_type type;
    union {
        uint32_t index; /* YES_NO, VALUES */
        int64_t number; /* NUMBER, BINS: in units of 10^-scale */
        struct {
            const void *data; /* may be NULL if len and room are 0 */
            size_t len;       /* at most HSY_STRING_MAX */
            size_t room;      /* 0, or at least len */
        } bytes;              /* STRINGS */
        struct {
            const struct hsy_truth *items;
            size_t count;
        } tuple; /* TUPLE: one item for each attribute, in order */
    } u;
} hsy_truth;

/* Returns the number of codes of a truth: 1, one for each attribute of a tuple,
 * or the words of a spelled string. In arrays the codes of one truth are
 * adjacent. */
HSY_API size_t hsy_codes_per_truth(const hsy_scheme *s);

/*
 * Convert a truth to its 64-bit code: its index, its steps above lo, its bin,
 * or the hash of its string. Writes hsy_codes_per_truth codes.
 *
 * Under pem a string is spelled in M bits (HSY_PARAM_BITS), with zeros after
 * its last symbol. A symbol is a byte in 8 bits. With an alphabet of A bytes it
 * is 1 plus the byte's rank, in ceil(log2(A + 1)) bits. The M bits are split
 * into ceil(M / 64) codes, most significant first; the last holds the remaining
 * bits. HSY_TRUTH_INDEX is also accepted: the M bits as an integer. A string is
 * outside the domain if it needs more than M bits, has a byte outside the
 * alphabet or, without an alphabet, ends in a zero byte.
 *
 * Returns HSY_E_RANGE outside the domain; for a tuple err does not name the
 * item. Every truth inside the domain takes the same steps: no branch and no
 * address depends on it (but see hsy_truth on lengths).
 */
HSY_API hsy_status hsy_truth_code(const hsy_scheme *s, uint64_t *code,
                                  const hsy_truth *truth, hsy_error *err);

/* Returns the number of possible codes (codes are 0 .. n-1): 2^M for strings
 * spelled in M < 64 bits. 0 for strings hashed to any 64-bit code, for strings
 * spelled in more bits, and for tuples, whose attributes have their own. */
HSY_API uint64_t hsy_code_count(const hsy_scheme *s);

/* Parse a decimal ("7", "-0.5", ".5") into units of 10^-scale, rounding half
 * away from zero. No exponent, no spaces. Returns HSY_E_FORMAT or HSY_E_RANGE.
 */
HSY_API hsy_status hsy_decimal_parse(int64_t *number, const char *text,
                                     size_t len, uint32_t scale);

/* Parse an epsilon into nano-epsilon, rounding down. Accepts a decimal ("1",
 * "0.5", ".5"), or "lnN" with a positive integer N ("ln3"), never rounded above
 * ln N. No sign, exponent or space. Returns HSY_E_FORMAT, or HSY_E_RANGE
 * outside [1e-6, 32] after rounding. */
HSY_API hsy_status hsy_epsilon_parse(uint64_t *nano_epsilon, const char *text,
                                     size_t len);

/* ---- Randomize ----------------------------------------------------------- */

/*
 * Randomize one truth into report, a buffer of report_bytes bytes
 * (hsy_scheme_info). Each call spends epsilon of the person's privacy.
 *
 * Returns HSY_E_RANGE if the truth is outside the domain or both coins are one
 * source, HSY_E_ENTROPY if a source failed. Then report is zeroed.
 */
HSY_API hsy_status hsy_randomize(const hsy_scheme *s, uint8_t *report,
                                 const hsy_truth *truth, hsy_coins *coins,
                                 hsy_error *err);

/* Randomize n truths, given as hsy_codes_per_truth codes each, into n times
 * report_bytes bytes. The distribution is that of n hsy_randomize calls; the
 * random bytes are used differently. On failure all of reports is zeroed. */
HSY_API hsy_status hsy_randomize_batch(const hsy_scheme *s, uint8_t *reports,
                                       const uint64_t *codes, size_t n,
                                       hsy_coins *coins, hsy_error *err);

/* ---- Reports and tallies ------------------------------------------------- */

/* Check that report_bytes bytes are a report of the scheme. Returns
 * HSY_E_FORMAT if they are not. */
HSY_API hsy_status hsy_check(const hsy_scheme *s, const uint8_t *report);

/* Check n reports in order. Returns the number of reports before the first
 * malformed one. */
HSY_API size_t hsy_check_batch(const hsy_scheme *s, const uint8_t *reports,
                               size_t n);

/* Convert n reports between memory and a stream; hsy_packed_size returns the
 * bytes in the stream. Unpacking checks only that the spare bits at the end are
 * zero. */
HSY_API size_t hsy_packed_size(const hsy_scheme *s, size_t n);
HSY_API void hsy_pack(const hsy_scheme *s, uint8_t *packed,
                      const uint8_t *reports, size_t n);
HSY_API hsy_status hsy_unpack(const hsy_scheme *s, uint8_t *reports,
                              const uint8_t *packed, size_t n);

/* A view of the caller's counters. strata[i] counts the reports of stratum i (a
 * cohort, a row of a sketch or a part); they sum to `answers` times the number
 * of reports. weights is the histogram of ones per report (unary schemes only).
 */
typedef struct hsy_tally {
    int64_t *cells;
    uint64_t *strata;
    uint64_t *weights;
    size_t ncells, nstrata, nweights;
    bool central;     /* central release: cells are noisy counts, strata count
                         releases, not reports */
    uint32_t answers; /* parts that one report contributes to; 0 means 1 */
    double kept;      /* hsy_attendance.kept, for hsy_plausible; 0: nobody
                         answered twice */
} hsy_tally;

/* hsy_tally_words returns the size of a tally in 64-bit words. hsy_tally_init
 * makes an empty tally in that memory; the view points into it. */
HSY_API size_t hsy_tally_words(const hsy_scheme *s);
HSY_API void hsy_tally_init(hsy_tally *t, const hsy_scheme *s, int64_t *memory);

/* Make a view of memory that already holds a tally, or zeros. */
HSY_API void hsy_tally_view(hsy_tally *t, const hsy_scheme *s, int64_t *memory);
HSY_API uint64_t hsy_tally_reports(const hsy_tally *t);

/* Make a view of the counters of part i: a tally of hsy_scheme_part(s, i). It
 * shares t's memory. */
HSY_API void hsy_tally_part(hsy_tally *part, const hsy_tally *t,
                            const hsy_scheme *s, size_t i);

/* Count one report, or n reports. All are checked before any is counted.
 * Returns HSY_E_FORMAT for a malformed one, with its number in err->at. */
HSY_API hsy_status hsy_tally_add(hsy_tally *t, const hsy_scheme *s,
                                 const uint8_t *report, hsy_error *err);
HSY_API hsy_status hsy_tally_batch(hsy_tally *t, const hsy_scheme *s,
                                   const uint8_t *reports, size_t n,
                                   hsy_error *err);

/* Count n reports like hsy_tally_batch, faster for sketches, which sort them by
 * row. scratch: hsy_tally_scratch bytes, aligned as malloc does; may be NULL if
 * that is 0. */
HSY_API size_t hsy_tally_scratch(const hsy_scheme *s, size_t n);
HSY_API hsy_status hsy_tally_bulk(hsy_tally *t, const hsy_scheme *s,
                                  const uint8_t *reports, size_t n,
                                  void *scratch, hsy_error *err);

/* Add another tally of the same scheme: all of it, or nothing and
 * HSY_E_OVERFLOW. */
HSY_API hsy_status hsy_tally_merge(hsy_tally *into, const hsy_tally *from,
                                   hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
