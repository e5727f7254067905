/* scheme.h - what is asked, truths, reports and tallies. */
#ifndef HEARSAY_SCHEME_H
#define HEARSAY_SCHEME_H

#include "hearsay/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Spec and scheme ----------------------------------------------------- */

/* What kind of truth is asked for. Numbers are wire format. */
typedef enum hsy_kind {
    HSY_KIND_YES_NO = 1, /* index 0 (no) or 1 (yes); the share of yes */
    HSY_KIND_VALUES = 2, /* one of d values; the share of each */
    HSY_KIND_NUMBER = 3, /* a number in [lo, hi]; the mean */
    HSY_KIND_BINS = 4,   /* a number in [lo, hi]; the share of each of d bins */
    HSY_KIND_STRINGS = 5, /* any bytes; shares of candidates named later */
    HSY_KIND_TUPLE = 6    /* several attributes, each of a kind of its own */
} hsy_kind;

/* What a kind is called in files: "yes-no", "values", "number", "bins",
 * "strings", "tuple". NULL for a number without a kind. */
HSY_API const char *hsy_kind_name(uint32_t kind);

/* How a mechanism that is given by probabilities is described: the first four
 * are binary randomized response. Numbers are wire format. */
typedef enum hsy_design {
    HSY_DESIGN_EPSILON = 0, /* by nano_epsilon */
    HSY_DESIGN_SPINNER = 1, /* Warner: truth with probability chance[0] */
    HSY_DESIGN_COINS = 2,   /* truth w.p. chance[0], else yes w.p. chance[1] */
    HSY_DESIGN_CHANNEL = 3, /* P(yes|yes) = chance[0], P(yes|no) = chance[1] */
    HSY_DESIGN_RAPPOR = 4,  /* f = chance[0], p = chance[1], q = chance[2] */
    HSY_DESIGN_MATRIX = 5   /* by a matrix, which stands before the labels */
} hsy_design;

/* num / den, 0 <= num <= den, 1 <= den <= 2^31. */
typedef struct hsy_ratio {
    uint64_t num, den;
} hsy_ratio;

#define HSY_CHANCES 4 /* probabilities a spec has room for */

/* Integer parameters of the mechanisms, each with one meaning and the one name
 * that hsy_param_name gives it. A mechanism refuses those it does not take; 0
 * leaves the choice to it. */
typedef enum hsy_param {
    HSY_PARAM_G = 0,         /* local hashing: range of the hash */
    HSY_PARAM_POOL_BITS = 1, /* 2^this public seeds, 0: 2^16 */
    HSY_PARAM_POOL_SEED = 2, /* which public pool */
    HSY_PARAM_SUBSET = 3,    /* subset selection: values of a report */
    HSY_PARAM_WINDOW = 4,    /* window mechanisms: outputs around the truth */
    HSY_PARAM_OUTPUTS = 5,   /* window mechanisms: values of a report */
    HSY_PARAM_MIX = 6,       /* share of one-bit reports, in 2^-16 */
    HSY_PARAM_GRID = 7,      /* Laplace: steps in half the range */
    HSY_PARAM_BLOCKS = 8,    /* Hadamard and hybrid projective: blocks */
    HSY_PARAM_Q = 9,         /* projective: prime order of the field */
    HSY_PARAM_T = 10,        /* projective: coordinates of a point */
    HSY_PARAM_FANOUT = 11,   /* hierarchy: children of a node */
    HSY_PARAM_HASHES = 12,   /* hash functions of a sketch or Bloom filter */
    HSY_PARAM_WIDTH = 13,    /* sketch: cells of a row */
    HSY_PARAM_COHORTS = 14,  /* RAPPOR: cohorts */
    HSY_PARAM_FILTER_BITS = 15,  /* RAPPOR: bits of the Bloom filter */
    HSY_PARAM_SAMPLED_BITS = 16, /* dBitFlip: buckets that a device answers */
    HSY_PARAM_BITS = 17,         /* of a spelled string */
    HSY_PARAM_FIRST = 18,        /* bits of the prefix before the first group */
    HSY_PARAM_STEP = 19,        /* bits from one group, or stage, to the next */
    HSY_PARAM_PREFIX_BITS = 20, /* stage: bits of the prefixes it asks for */
    HSY_PARAM_MAX_CANDIDATES =
        21,                       /* stage: the most that one of a search has */
    HSY_PARAM_SIZES = 22,         /* stage: hsy_sizes of the batches */
    HSY_PARAM_PIECE_BITS = 23,    /* puzzle: bits of a piece */
    HSY_PARAM_FRAGMENT_BITS = 24, /* puzzle: bits of a fragment */
    HSY_PARAM_FRAGMENTS = 25,     /* puzzle: fragments of a word */
    HSY_PARAM_WORD_SHARE = 26     /* puzzle: epsilon of the word, in 2^-16 */
} hsy_param;

/* Sizes of the batches of a search in stages. */
typedef enum hsy_sizes {
    HSY_SIZES_EQUAL = 1,
    HSY_SIZES_RISING = 2,     /* evenly, from 1 to 3 times the first */
    HSY_SIZES_DIMINISHING = 3 /* the reverse */
} hsy_sizes;

#define HSY_PARAMS 32 /* what a spec has room for; hsy_param_name has which */
#define HSY_PARAM_MAX (((uint64_t)1 << 53) - 1) /* exact in JSON too */

/* What a parameter is called on the command line and in JSON: "pool-bits".
 * NULL for a number without a parameter. */
HSY_API const char *hsy_param_name(size_t param);

#define HSY_NANO 1000000000u         /* nano-epsilon in epsilon 1 */
#define HSY_EPSILON_MIN 1000u        /* 1e-6 */
#define HSY_EPSILON_MAX 32000000000u /* 32 */
#define HSY_VALUES_MAX (1u << 22)    /* most values, GRR and open lists */
#define HSY_UNARY_MAX (1u << 20)     /* most values with a bit each */
#define HSY_LABEL_MAX 4096u          /* bytes of one label */
#define HSY_LABELS_MAX (64u << 20)   /* bytes of all labels, encoded */
#define HSY_STRING_MAX 1024u         /* bytes of a string truth */
#define HSY_SCALE_MAX 9u             /* decimals of a number */
#define HSY_POOL_BITS_DEFAULT 16u
#define HSY_POOL_BITS_MAX 24u
#define HSY_ALPHABET 32u /* bytes of a set of bytes */

/*
 * What is wanted. Zero it, set size, fill in what applies; nothing that does
 * not apply is ignored, it is refused.
 *
 * Later versions append fields. A shorter spec, of a program built with an
 * older header, has zeros there; of a longer one, built with a newer header,
 * the fields unknown here must be zero.
 *
 * labels are d times a u32 little-endian length and as many bytes; NULL: the
 * values are called 0 .. d-1. That no two are the same is for the caller to
 * see: without memory of its own the library cannot.
 *
 * HSY_DESIGN_MATRIX has its matrix before the labels, if there are any: 1 + d d
 * numbers of 8 bytes, little-endian. The first is the denominator, at most
 * HSY_MATRIX_TOTAL; then row by row the numerator of P(y|x) at y d + x, so that
 * each column adds up to the denominator.
 */
typedef struct hsy_spec {
    size_t size;           /* sizeof(hsy_spec) */
    const char *mechanism; /* name or alias; NULL or "auto": hearsay chooses */
    uint64_t nano_epsilon; /* if a design gives the probabilities: a cap or 0 */
    uint32_t kind;         /* hsy_kind */
    uint32_t d;            /* VALUES, BINS: how many; YES_NO: 2 or 0; STRINGS
                              of a stage: how many prefixes are left */
    int64_t lo, hi;        /* NUMBER, BINS: the range in units of 10^-scale */
    uint32_t scale;
    const uint8_t *labels;         /* VALUES; of a TUPLE its attributes; of a
                                      stage d prefixes (hsy_stage_label) */
    size_t labels_len;             /* with a matrix: of it and the labels */
    uint32_t design;               /* hsy_design, rr only */
    hsy_ratio chance[HSY_CHANCES]; /* as many as the design takes */
    uint64_t param[HSY_PARAMS];    /* hsy_param */

    /* What a report may take at most, and the steps of estimating from `users`
     * reports; 0: any. They guide the choice of a mechanism, refuse one that
     * takes more, and are no part of the scheme. */
    uint64_t max_bits, max_steps, users;

    /* Of spelled strings (hsy_truth_code): the bytes they are made of, bit b %
     * 8 of alphabet[b / 8] for byte b; all zero: any bytes. */
    uint8_t alphabet[HSY_ALPHABET];
    const char *oracle; /* the mechanism that groups of a search are asked by;
                           NULL: hearsay chooses */

    /* Reports are made from an answer that is kept (hsy_permanent): its
     * epsilon, at least nano_epsilon; 0: every report has fresh coins. It
     * changes no report, but what several reports of one person are worth
     * together (hsy_attend). RAPPOR has it in its design: 0. */
    uint64_t nano_permanent;
} hsy_spec;

#define HSY_SPELL_BITS 512u /* most bits of a spelled string */
#define HSY_SPELL_WORDS (HSY_SPELL_BITS / 64)
#define HSY_MATRIX_MAX 64u /* states of a matrix */
#define HSY_MATRIX_TOTAL ((uint64_t)1 << 40)
#define HSY_ATTRIBUTES_MAX 64u /* attributes of a tuple */

/* A task's mechanism with every parameter resolved to integers. */
typedef struct hsy_scheme hsy_scheme;

/* Bytes a scheme for this spec takes, suitably aligned (as malloc aligns). Call
 * it when all of the spec is set, nano_epsilon too: the mechanism, and the
 * length of a table of its probabilities, may depend on any field, and what was
 * asked before may be too little. */
HSY_API size_t hsy_scheme_size(const hsy_spec *spec);

/* Check and resolve a spec. On failure err names the field. */
HSY_API hsy_status hsy_scheme_init(hsy_scheme *s, const hsy_spec *spec,
                                   hsy_error *err);

/* Choose the scheme's kernel table; HSY_E_UNKNOWN if the machine lacks it. A
 * new scheme uses the best one. Results do not depend on it. */
HSY_API hsy_status hsy_scheme_cpu(hsy_scheme *s, hsy_cpu level);

/* How a tally of the mechanism is analyzed: one of these for each mechanism, so
 * that nobody need know its name. */
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

/* The law by which the cells of a tally come about, where it is so simple that
 * a simulation can draw them at once. */
typedef enum hsy_cell_law {
    HSY_CELLS_ANY = 0,   /* only report by report */
    HSY_CELLS_BIT = 1,   /* one cell: a coin a person, p at 1 and q at 0 */
    HSY_CELLS_UNARY = 2, /* each by coins of its own, p of its value, else q */
    HSY_CELLS_DIRECT = 3 /* the value with chance p - q, else any of them */
} hsy_cell_law;

/* What became of a spec. Doubles are for display and estimation only. */
typedef struct hsy_scheme_info {
    const char *mechanism; /* canonical name, a literal */
    uint32_t id;           /* permanent wire id */
    uint32_t kind;
    hsy_analysis analysis; /* of its tallies */
    hsy_cell_law cell_law;
    uint64_t nano_epsilon;    /* claimed */
    double epsilon;           /* nano_epsilon / 1e9 */
    double epsilon_exact;     /* of the integers in use; at most epsilon */
    double epsilon_permanent; /* of any number of reports on one truth, if its
                                permanent answer is kept and each is made from
                                it; 0 where there is none. hsy_randomize keeps
                                none: every call spends epsilon anew */
    uint64_t nano_permanent;  /* of the spec */
    uint32_t d; /* values of VALUES and BINS, 2 for YES_NO, prefixes of a
                   stage, else 0 */
    int64_t lo, hi;
    uint32_t scale;
    uint32_t design;
    uint64_t param[HSY_PARAMS]; /* as resolved */
    size_t labels_len;
    size_t labels_at;              /* where in them the first label begins */
    uint32_t report_bits;          /* information in a report */
    uint32_t packed_bits;          /* bits a report takes in a stream */
    size_t report_bytes;           /* bytes of a report in memory */
    size_t cells, strata, weights; /* sizes of a tally */
    uint32_t answers; /* parts that each report answers: 1, or 2 of sfp */
    double p, q;      /* support probabilities: own value, other value */
    double v0, v1;    /* n times the variance at share 0 and at share 1; 0 where
                         iterative: there is none */
    double steps;   /* of estimating everything (of one candidate string, of one
                       round where iterative), for the spec's users */
    bool iterative; /* estimated by iteration (hsy_density), not by points */
    bool central;   /* a curator's release (hsy_central_release): there are no
                       reports. v0 and v1 are then of one release, n squared
                       times the variance */
    uint8_t digest[HSY_DIGEST];
    uint8_t alphabet[HSY_ALPHABET]; /* of spelled strings */
    const char *oracle;             /* that the spec named, or NULL */
} hsy_scheme_info;

HSY_API void hsy_scheme_describe(const hsy_scheme *s, hsy_scheme_info *info);

/*
 * The parts of a scheme in which each report answers one of several questions,
 * drawn at random: levels of a hierarchy, attributes of a tuple. Part i is a
 * scheme of its own, 0 <= i < hsy_scheme_parts, and lives as long as s does.
 * A joint scheme has one part: that of its cells, the last attribute running
 * fastest. Any other scheme has one part: itself.
 */
HSY_API size_t hsy_scheme_parts(const hsy_scheme *s);
HSY_API const hsy_scheme *hsy_scheme_part(const hsy_scheme *s, size_t i);

/* The code under part i of the truth with these codes, hsy_codes_per_truth of
 * them: its node of a level, its prefix, its attribute. Time does not depend on
 * them. */
HSY_API uint64_t hsy_part_code(const hsy_scheme *s, const uint64_t *codes,
                               size_t i);

/*
 * Several attributes (docs/mechanisms/smp.md, joint.md). The labels of a TUPLE
 * spec are a block of 2 to HSY_ATTRIBUTES_MAX attributes, each a name, which no
 * other has, and a spec of any other kind. nano_epsilon is the tuple's; no
 * attribute may claim more. Reports tell no more of the whole truth than that.
 */

/* One attribute of a block. */
typedef struct hsy_attribute {
    const char *name;
    size_t name_len; /* 1 to HSY_LABEL_MAX */
    hsy_spec spec;
} hsy_attribute;

/* Append an attribute to a block of *len bytes in room, *len then growing by
 * what it takes; out may be NULL, to learn that. HSY_E_RANGE if it does not
 * fit, or as hsy_scheme_init. */
HSY_API hsy_status hsy_attribute_encode(uint8_t *out, size_t room, size_t *len,
                                        const hsy_attribute *a, hsy_error *err);

/* The attribute at *at of a block, which then is where the next one begins; its
 * pointers lead into the block. HSY_E_END if there is none, HSY_E_FORMAT. */
HSY_API hsy_status hsy_attribute_next(hsy_attribute *a, size_t *at,
                                      const uint8_t *block, size_t len,
                                      hsy_error *err);

/* The scheme of attribute i < hsy_codes_per_truth(s): what it asks for and,
 * under smp, how. It lives as long as s does. Any other scheme is its own
 * attribute 0. */
HSY_API const hsy_scheme *hsy_scheme_attribute(const hsy_scheme *s, size_t i);

/* The mechanisms that make reports: row i, NULL past the end. */
typedef struct hsy_catalogue {
    const char *name;
    const char *aliases; /* comma-separated, may be empty */
    const char *title;   /* one line */
    uint32_t id;
    uint32_t kinds; /* bit 1 << hsy_kind for each kind it can ask */
    hsy_analysis analysis;
    const char *oracle; /* of strings: what asks if a spec names none, and there
                           are more than a few values; NULL: it varies */
} hsy_catalogue;

HSY_API const hsy_catalogue *hsy_mechanism_at(size_t i);

/* The mechanism of this name, or with this alias; NULL if there is none. */
HSY_API const hsy_catalogue *hsy_mechanism_named(const char *name);

/* The mechanisms to choose from for answers that are kept (hsy_permanent): row
 * i for a kind of truth, NULL past the end. */
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
 * A string is the first len of room readable bytes. All of room is read, so
 * that may show in time and addresses, but len does not: keep secret strings
 * in buffers of one size, and state it. room 0 stands for len itself; then the
 * addresses that are read show where the string ends.
 */
typedef struct hsy_truth {
    hsy_truth_type type;
    union {
        uint32_t index; /* YES_NO, VALUES */
        int64_t number; /* NUMBER, BINS: in units of 10^-scale */
        struct {
            const void *data; /* may be NULL if len and room are 0 */
            size_t len;       /* at most HSY_STRING_MAX */
            size_t room;      /* 0, or from len on */
        } bytes;              /* STRINGS */
        struct {
            const struct hsy_truth *items;
            size_t count;
        } tuple; /* TUPLE: one item for each attribute, in order */
    } u;
} hsy_truth;

/* How many codes a truth has: 1, or one for each attribute of a tuple, or the
 * words of a spelled string. Where codes of n truths are asked for, those of a
 * truth stand together. */
HSY_API size_t hsy_codes_per_truth(const hsy_scheme *s);

/* The 64-bit code of a truth under a scheme: its index, its steps above lo,
 * its bin, or its string's hash; hsy_codes_per_truth of them.
 *
 * Under pem a string is spelled: M bits (HSY_PARAM_BITS), zeros after its last
 * symbol. A symbol is a byte in 8 bits; of an alphabet of A bytes it is 1 plus
 * the byte's rank there, in as many bits as A takes. The M bits are ceil(M /
 * 64) codes, first bits first, the last code a number of the bits that are
 * left. A string that takes more bits is outside the domain, and so is one with
 * a byte that is not in the alphabet, and without an alphabet one that ends in
 * a zero byte, which would not be told apart from none. There an index below
 * 2^M is a truth too: the number that the M bits are.
 *
 * HSY_E_RANGE if it is outside the domain;
 * of a tuple err does not say which item is. Every truth inside the domain
 * takes the same steps; neither a branch nor an address depends on it (but see
 * hsy_truth on a string's length). */
HSY_API hsy_status hsy_truth_code(const hsy_scheme *s, uint64_t *code,
                                  const hsy_truth *truth, hsy_error *err);

/* How many codes there are: a code is below this. 2^M for strings spelled in M
 * < 64 bits; 0 for open strings (any 64-bit code), and for a tuple, whose
 * attributes have their own. */
HSY_API uint64_t hsy_code_count(const hsy_scheme *s);

/* The decimal text[0..len) in units of 10^-scale, rounded half away from zero.
 * No exponent, no spaces. HSY_E_FORMAT or HSY_E_RANGE. */
HSY_API hsy_status hsy_decimal_parse(int64_t *number, const char *text,
                                     size_t len, uint32_t scale);

/* Epsilon from text as nano-epsilon, rounded down: a decimal ("1", "0.5"), or
 * "lnN" with a positive integer N ("ln3"), which never comes out above ln N. No
 * sign, exponent or space. HSY_E_FORMAT, or HSY_E_RANGE if what was rounded is
 * outside [1e-6, 32]; any negative number is. */
HSY_API hsy_status hsy_epsilon_parse(uint64_t *nano_epsilon, const char *text,
                                     size_t len);

/* ---- Randomize ----------------------------------------------------------- */

/*
 * Randomize one private value into report, a buffer of report_bytes bytes
 * (hsy_scheme_info). Each call spends epsilon of the privacy of the person
 * behind truth.
 *
 * HSY_E_RANGE if truth is outside the domain or the two coins are one source,
 * HSY_E_ENTROPY if a source failed; then nothing was reported and report is
 * zeroed.
 */
HSY_API hsy_status hsy_randomize(const hsy_scheme *s, uint8_t *report,
                                 const hsy_truth *truth, hsy_coins *coins,
                                 hsy_error *err);

/* The same for n truths at once, hsy_codes_per_truth codes each: reports holds
 * n times report_bytes. Other coins are drawn than by n single calls; the law
 * is the same. On any failure the whole of reports is zeroed. */
HSY_API hsy_status hsy_randomize_batch(const hsy_scheme *s, uint8_t *reports,
                                       const uint64_t *codes, size_t n,
                                       hsy_coins *coins, hsy_error *err);

/* ---- Reports and tallies ------------------------------------------------- */

/* Whether these report_bytes bytes are a report of the scheme at all. */
HSY_API hsy_status hsy_check(const hsy_scheme *s, const uint8_t *report);

/* The same of n reports, one after the other: how many there are before the
 * first that is none. */
HSY_API size_t hsy_check_batch(const hsy_scheme *s, const uint8_t *reports,
                               size_t n);

/* Bytes that n reports take in a stream, and the two conversions. Unpacking
 * checks nothing but that the spare bits at the end are zero. */
HSY_API size_t hsy_packed_size(const hsy_scheme *s, size_t n);
HSY_API void hsy_pack(const hsy_scheme *s, uint8_t *packed,
                      const uint8_t *reports, size_t n);
HSY_API hsy_status hsy_unpack(const hsy_scheme *s, uint8_t *reports,
                              const uint8_t *packed, size_t n);

/* A view on the caller's counters. strata sum up to `answers` times the number
 * of reports; weights is the histogram of ones per report, unary schemes only.
 */
typedef struct hsy_tally {
    int64_t *cells;
    uint64_t *strata;
    uint64_t *weights;
    size_t ncells, nstrata, nweights;
    bool central; /* cells are a curator's: not bounded by the reports, which
                     are releases */
    uint32_t answers; /* parts that each report answers; 0 stands for 1 */
    double kept;      /* hsy_attendance, for hsy_plausible; 0: nobody is in it
                         twice */
} hsy_tally;

/* 64-bit words a tally of the scheme takes; an empty tally in them. The view
 * keeps the pointer. */
HSY_API size_t hsy_tally_words(const hsy_scheme *s);
HSY_API void hsy_tally_init(hsy_tally *t, const hsy_scheme *s, int64_t *memory);

/* The same without the zeros: memory holds a tally already, or was zero. */
HSY_API void hsy_tally_view(hsy_tally *t, const hsy_scheme *s, int64_t *memory);
HSY_API uint64_t hsy_tally_reports(const hsy_tally *t);

/* A view on the counters of part i of the scheme s that t belongs to: a tally
 * of hsy_scheme_part(s, i). It keeps t's memory. */
HSY_API void hsy_tally_part(hsy_tally *part, const hsy_tally *t,
                            const hsy_scheme *s, size_t i);

/* Count one report, or n of them. All are checked before any is counted; a
 * malformed one is HSY_E_FORMAT with its number in err->at. */
HSY_API hsy_status hsy_tally_add(hsy_tally *t, const hsy_scheme *s,
                                 const uint8_t *report, hsy_error *err);
HSY_API hsy_status hsy_tally_batch(hsy_tally *t, const hsy_scheme *s,
                                   const uint8_t *reports, size_t n,
                                   hsy_error *err);

/* The same for many reports at once, faster where there is scratch: a sketch
 * sorts them by its rows there. scratch: hsy_tally_scratch bytes, aligned as
 * malloc aligns; may be NULL if that is 0. */
HSY_API size_t hsy_tally_scratch(const hsy_scheme *s, size_t n);
HSY_API hsy_status hsy_tally_bulk(hsy_tally *t, const hsy_scheme *s,
                                  const uint8_t *reports, size_t n,
                                  void *scratch, hsy_error *err);

/* Add another tally of the same scheme; all or nothing, HSY_E_OVERFLOW. */
HSY_API hsy_status hsy_tally_merge(hsy_tally *into, const hsy_tally *from,
                                   hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
