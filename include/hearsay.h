/*
 * hearsay.h - local differential privacy.
 *
 *     truth --randomize--> report --tally--> tally --estimate--> estimate
 *     on the device only   on the wire       all that is kept    with its error
 *
 * Conventions, stated once:
 *   - No pointer may be NULL unless its comment says so.
 *   - The caller owns all memory. No call allocates, and none keeps a pointer
 *     after returning, except where its comment says so.
 *   - Outputs are written only when the result is HSY_OK, except that where
 *     there is no report its place is zeroed.
 *   - An hsy_error pointer may always be NULL.
 *   - Probabilities are integers, rounded toward more privacy; epsilon is an
 *     integer number of nano-epsilon, rounded down where it enters.
 *   - No global state: any thread may use an object, one thread at a time.
 */
#ifndef HEARSAY_H
#define HEARSAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HSY_VERSION "0.1.0"
#define HSY_ABI 0 /* the N of libhearsay.so.N */

#if defined(__GNUC__)
#define HSY_API __attribute__((visibility("default")))
#else
#define HSY_API
#endif

/* ---- Errors -------------------------------------------------------------- */

/* The numbers are ABI: append, never renumber. */
typedef enum hsy_status {
    HSY_OK = 0,
    HSY_E_RANGE = 1,      /* an argument is outside its documented range */
    HSY_E_UNKNOWN = 2,    /* no such mechanism, kind or processor feature */
    HSY_E_FORMAT = 3,     /* bytes from outside are malformed */
    HSY_E_ENTROPY = 4,    /* the random source failed; nothing was reported */
    HSY_E_NOMEM = 5,      /* out of memory; host code only */
    HSY_E_IO = 6,         /* a file or socket failed; host code only */
    HSY_E_MISMATCH = 7,   /* two objects belong to different schemes */
    HSY_E_OVERFLOW = 8,   /* a count would pass 2^63 - 1; nothing was added */
    HSY_E_EMPTY = 9,      /* no reports: nothing can be estimated */
    HSY_E_REFUSED = 10,   /* possible, but not allowed here */
    HSY_E_END = 11,       /* the input ended where it may end */
    HSY_E_BUSY = 12,      /* somebody else is writing; try again */
    HSY_E_DAMAGED = 13,   /* a device's state is missing, changed or restored */
    HSY_E_POLICY = 14,    /* more than the program allows */
    HSY_E_SIGNATURE = 15, /* not signed by the key in force */
    HSY_E_OLD = 16,       /* an older version, or one that has expired */
    HSY_E_FULL = 17,      /* no room left; nothing was changed */
    HSY_E_VERSION = 18    /* made by a newer program */
} hsy_status;

/* What an error is about: a field of a struct, a key of a file, a parameter of
 * a mechanism. Names by hsy_field_name. The numbers are not ABI: programs
 * compare with these constants and print the names. */
#define HSY_FIELDS(X)                                                          \
    X(NONE, "")                                                                \
    X(AGAINST, "against")                                                      \
    X(ALPHA, "alpha")                                                          \
    X(ALPHABET, "alphabet")                                                    \
    X(ANCHOR, "anchor")                                                        \
    X(ANSWERS, "answers")                                                      \
    X(AT_ONCE, "at_once")                                                      \
    X(ATTACK, "attack")                                                        \
    X(ATTRIBUTE, "attribute")                                                  \
    X(ATTRIBUTES, "attributes")                                                \
    X(BETWEEN, "between")                                                      \
    X(BINS, "bins")                                                            \
    X(BITS, "bits")                                                            \
    X(BLOCKS, "blocks")                                                        \
    X(BY, "by")                                                                \
    X(CANDIDATE, "candidate")                                                  \
    X(CANDIDATES, "candidates")                                                \
    X(CAP_DAY, "cap_day")                                                      \
    X(CAP_LIFETIME, "cap_lifetime")                                            \
    X(CATEGORIES, "categories")                                                \
    X(CELLS, "cells")                                                          \
    X(CHANCE, "chance")                                                        \
    X(CLIENT, "client")                                                        \
    X(CLOCK, "clock")                                                          \
    X(COHORT, "cohort")                                                        \
    X(COHORTS, "cohorts")                                                      \
    X(COINS, "coins")                                                          \
    X(COMPARISONS, "comparisons")                                              \
    X(CONSENT, "consent")                                                      \
    X(CONTENT, "content")                                                      \
    X(COUNT, "count")                                                          \
    X(COUNTS, "counts")                                                        \
    X(COVARIANCE, "covariance")                                                \
    X(CURL, "curl")                                                            \
    X(DELAY, "delay")                                                          \
    X(DELTA, "delta")                                                          \
    X(DENSITY, "density")                                                      \
    X(DESIGN, "design")                                                        \
    X(DEVICE, "device")                                                        \
    X(DEVICES, "devices")                                                      \
    X(DIGEST, "digest")                                                        \
    X(DIRECTORY, "directory")                                                  \
    X(DISPERSION, "dispersion")                                                \
    X(DOCUMENT, "document")                                                    \
    X(END, "end")                                                              \
    X(EPOCH, "epoch")                                                          \
    X(EPSILON, "epsilon")                                                      \
    X(EPSILON_REPORT, "epsilon_report")                                        \
    X(EXPIRES, "expires")                                                      \
    X(F, "f")                                                                  \
    X(FANOUT, "fanout")                                                        \
    X(FAVOURED, "favoured")                                                    \
    X(FORMAT, "format")                                                        \
    X(G, "g")                                                                  \
    X(GAIN, "gain")                                                            \
    X(GRACE, "grace")                                                          \
    X(GRAIN, "grain")                                                          \
    X(GRID, "grid")                                                            \
    X(GROUP, "group")                                                          \
    X(H, "h")                                                                  \
    X(HASHES, "hashes")                                                        \
    X(HEADER, "header")                                                        \
    X(HELD, "held")                                                            \
    X(HI, "hi")                                                                \
    X(ID, "id")                                                                \
    X(INTERVAL, "interval")                                                    \
    X(IRR, "irr")                                                              \
    X(ISSUED, "issued")                                                        \
    X(JOINT, "joint")                                                          \
    X(K, "k")                                                                  \
    X(KEEP, "keep")                                                            \
    X(KEY, "key")                                                              \
    X(KIND, "kind")                                                            \
    X(LABELS, "labels")                                                        \
    X(LABELS_LEN, "labels_len")                                                \
    X(LENGTH, "length")                                                        \
    X(LEVEL, "level")                                                          \
    X(LO, "lo")                                                                \
    X(LOCK, "lock")                                                            \
    X(LYING, "lying")                                                          \
    X(M, "m")                                                                  \
    X(MAGIC, "magic")                                                          \
    X(MAP, "map")                                                              \
    X(MARGIN, "margin")                                                        \
    X(MATRIX, "matrix")                                                        \
    X(MAX_CANDIDATES, "max-candidates")                                        \
    X(MAX_BITS, "max_bits")                                                    \
    X(MAX_CHANGES, "max_changes")                                              \
    X(MAX_STEPS, "max_steps")                                                  \
    X(MECHANISM, "mechanism")                                                  \
    X(METHOD, "method")                                                        \
    X(MIX, "mix")                                                              \
    X(N, "n")                                                                  \
    X(NAME, "name")                                                            \
    X(NOISE, "noise")                                                          \
    X(NSOURCES, "nsources")                                                    \
    X(OF, "of")                                                                \
    X(ONES, "ones")                                                            \
    X(OPTIONS, "options")                                                      \
    X(ORACLE, "oracle")                                                        \
    X(OTHER, "other")                                                          \
    X(OUTPUTS, "outputs")                                                      \
    X(OVERLAP, "overlap")                                                      \
    X(P, "p")                                                                  \
    X(PAIRS, "pairs")                                                          \
    X(PARAMETERS, "parameters")                                                \
    X(PAYLOAD, "payload")                                                      \
    X(PEOPLE, "people")                                                        \
    X(PERMANENT, "permanent")                                                  \
    X(POLICY, "policy")                                                        \
    X(POOL_BITS, "pool-bits")                                                  \
    X(POOL_SEED, "pool-seed")                                                  \
    X(POSITION, "position")                                                    \
    X(POST, "post")                                                            \
    X(POWER, "power")                                                          \
    X(PREFIX, "prefix")                                                        \
    X(PREFIXES, "prefixes")                                                    \
    X(Q, "q")                                                                  \
    X(QUANTILE, "quantile")                                                    \
    X(QUESTION, "question")                                                    \
    X(RANGE, "range")                                                          \
    X(RANGES, "ranges")                                                        \
    X(RANKS, "ranks")                                                          \
    X(RECORD, "record")                                                        \
    X(RELEASE, "release")                                                      \
    X(RELEASE_BYTES, "release_bytes")                                          \
    X(RELEASES, "releases")                                                    \
    X(REPEATS, "repeats")                                                      \
    X(REPORT, "report")                                                        \
    X(REPORTS, "reports")                                                      \
    X(REST, "rest")                                                            \
    X(ROOM, "room")                                                            \
    X(ROUND_DAYS, "round_days")                                                \
    X(ROUNDS, "rounds")                                                        \
    X(ROWS, "rows")                                                            \
    X(SAMPLE, "sample")                                                        \
    X(SAMPLING_DISCOUNT, "sampling_discount")                                  \
    X(SCALE, "scale")                                                          \
    X(SCHEME, "scheme")                                                        \
    X(SEED, "seed")                                                            \
    X(SENDS, "sends")                                                          \
    X(SHARE, "share")                                                          \
    X(SHARED, "shared")                                                        \
    X(SHARES, "shares")                                                        \
    X(SIGNATURE, "signature")                                                  \
    X(SIZE, "size")                                                            \
    X(SLOT_DAYS, "slot_days")                                                  \
    X(SOURCE, "source")                                                        \
    X(SOURCES, "sources")                                                      \
    X(SPENT, "spent")                                                          \
    X(STATE, "state")                                                          \
    X(STEP, "step")                                                            \
    X(STRATA, "strata")                                                        \
    X(SUPPORT, "support")                                                      \
    X(SWEEPS, "sweeps")                                                        \
    X(T, "t")                                                                  \
    X(TALLY, "tally")                                                          \
    X(TARGET, "target")                                                        \
    X(TARGETS, "targets")                                                      \
    X(TASK, "task")                                                            \
    X(TASKS, "tasks")                                                          \
    X(THRESHOLD, "threshold")                                                  \
    X(TOKEN, "token")                                                          \
    X(TOP, "top")                                                              \
    X(TOTAL, "total")                                                          \
    X(TOTALS, "totals")                                                        \
    X(TRUTH, "truth")                                                          \
    X(TYPE, "type")                                                            \
    X(UPLOAD, "upload")                                                        \
    X(URL, "url")                                                              \
    X(VALUE, "value")                                                          \
    X(VALUES, "values")                                                        \
    X(VARIABLE, "variable")                                                    \
    X(VARIABLES, "variables")                                                  \
    X(VARIANCE, "variance")                                                    \
    X(VERSION, "version")                                                      \
    X(W, "w")                                                                  \
    X(WEIGHT, "weight")                                                        \
    X(WIDTH, "width")                                                          \
    X(WORDS, "words")                                                          \
    X(WORLD, "world")                                                          \
    X(YES, "yes")                                                              \
    X(KIND_OF_TRUTH, "kind of truth")                                          \
    X(PROBABILITIES, "probabilities")                                          \
    X(PERMANENT_EPSILON, "permanent epsilon")                                  \
    X(RESOLVED_INTEGERS, "resolved integers")                                  \
    X(PARAM, "param")                                                          \
    X(STATE_A, "state.a")                                                      \
    X(STATE_B, "state.b")                                                      \
    /* fields end */

#define HSY_FIELD_CONSTANT(id, name) HSY_FIELD_##id,
enum hsy_field { HSY_FIELDS(HSY_FIELD_CONSTANT) HSY_FIELDS_END };

/* From here on numbers are a program's own. */
#define HSY_FIELD_OWN 4096u

/* What the position of an error counts. */
typedef enum hsy_unit {
    HSY_UNIT_NONE = 0,
    HSY_UNIT_LINE = 1,
    HSY_UNIT_RECORD = 2,
    HSY_UNIT_REPORT = 3,
    HSY_UNIT_UPLOAD = 4,
    HSY_UNIT_TASK = 5,
    HSY_UNIT_VALUE = 6, /* of a list: a label */
    HSY_UNIT_CANDIDATE = 7,
    HSY_UNIT_PREFIX = 8,
    HSY_UNIT_COHORT = 9,
    HSY_UNIT_COLUMN = 10, /* of a matrix */
    HSY_UNIT_CHARACTER = 11,
    HSY_UNIT_SAMPLE = 12, /* of a survey */
    HSY_UNIT_ROUND = 13,
    HSY_UNIT_RANK = 14,
    HSY_UNIT_TARGET = 15,
    HSY_UNIT_SOURCE = 16,
    HSY_UNIT_SERIES = 17, /* of a drawing */
    HSY_UNIT_RUN = 18,    /* of a store */
    HSY_UNIT_GROUP = 19   /* of a search */
} hsy_unit;

/* What the limit of an error is. */
typedef enum hsy_limit_kind {
    HSY_LIMIT_NONE = 0,    /* there is none */
    HSY_LIMIT_COUNT = 1,   /* the bound that was passed */
    HSY_LIMIT_STATED = 2,  /* the same; the message states it already */
    HSY_LIMIT_NANO = 3,    /* the same in nano-epsilon */
    HSY_LIMIT_DAY = 4,     /* a day since 1970-01-01 */
    HSY_LIMIT_END = 5,     /* the day after the last one */
    HSY_LIMIT_VERSION = 6, /* of a document or format */
    HSY_LIMIT_PROCESS = 7, /* the process that is in the way */
    HSY_LIMIT_OTHER = 8,   /* the other one concerned, counted as `at` is */
    HSY_LIMIT_WRITES = 9   /* of a device's state */
} hsy_limit_kind;

/* msg is a string literal, or NULL. Neither it nor a number ever holds a truth.
 */
typedef struct hsy_error {
    hsy_status status;
    const char *msg;
    uint32_t field; /* hsy_field, or a program's own */
    uint32_t unit;  /* hsy_unit: what `at` counts */
    uint64_t at;    /* the line, report or task concerned, from 1 on; 0: none */
    uint32_t kind;  /* hsy_limit_kind: what `limit` is */
    uint64_t limit;
} hsy_error;

/* What a field is called; "" for HSY_FIELD_NONE and a program's own. */
HSY_API const char *hsy_field_name(uint32_t field);

/* The field of this name; HSY_FIELD_NONE if there is none. */
HSY_API uint32_t hsy_field_find(const char *name);

/* What a unit is called: "line"; "" for HSY_UNIT_NONE. */
HSY_API const char *hsy_unit_name(uint32_t unit);

/* A few words for a status, never NULL. */
HSY_API const char *hsy_strstatus(hsy_status status);

/* ---- Coins: where randomness comes from ---------------------------------- */

/* A source of random bytes: fill all len of them or return HSY_E_ENTROPY. */
typedef struct hsy_rng {
    hsy_status (*fill)(void *ctx, void *buf, size_t len);
    void *ctx;
} hsy_rng;

/* What randomizing takes. Nothing that is drawn from `published` is secret (a
 * hash seed that stands in the report); nothing that is drawn from `secret`
 * ever leaves the device. The two never share a stream, or a published seed
 * would show the coins: one source (fill and ctx) in both roles is refused. */
typedef struct hsy_coins {
    hsy_rng secret;
    hsy_rng published;
} hsy_coins;

/* Fresh kernel randomness, for commands that answer once. Each draw is a batch
 * of getrandom(2) bytes of its own, a large one the ChaCha20 expansion of 32 of
 * them; nothing is kept between draws, so there is nothing that a forked child
 * or a copied memory image could repeat. Keep at one address. */
typedef struct hsy_entropy {
    struct hsy_entropy_role {
        uint32_t open;
    } secret, published;
} hsy_entropy;

HSY_API void hsy_entropy_init(hsy_entropy *e);
HSY_API void hsy_entropy_clear(hsy_entropy *e);

/* The coins keep the pointer: e must outlive them. Once e is cleared they give
 * HSY_E_ENTROPY. */
HSY_API hsy_coins hsy_entropy_coins(hsy_entropy *e);

/* A ChaCha20 key stream [RFC 8439, 64-bit counter]. Treat the fields as
 * private. */
typedef struct hsy_stream {
    uint32_t state[16];
    uint8_t block[1024];
    size_t left;       /* unread bytes at the end of block */
    uint32_t cpu;      /* hsy_cpu level that computes it */
    uint32_t simulate; /* nonzero: opened by seed */
} hsy_stream;

/* What a device's coins are a function of. Each field enters with its length:
 * no two contexts share an encoding. digest is the scheme's. */
typedef struct hsy_context {
    const char *purpose; /* NUL-terminated, chosen by the program */
    const void *source;  /* the private data's own name */
    size_t source_len;
    const uint8_t *digest; /* HSY_DIGEST bytes */
    uint64_t slot;
    uint64_t truth; /* its code, hsy_truth_code */
} hsy_context;

#define HSY_KEY 32
#define HSY_DIGEST 32

/* A device's coins: a stream for each role. Keep at one address. */
typedef struct hsy_keyed {
    hsy_stream secret, published;
} hsy_keyed;

/* Open the coins of one context under a device's secret key. The same context
 * always gives the same coins; the two roles never have any in common. */
HSY_API void hsy_keyed_open(hsy_keyed *streams, const uint8_t key[HSY_KEY],
                            const hsy_context *context);
HSY_API void hsy_keyed_clear(hsy_keyed *streams);

/* The coins keep the pointer: streams must outlive them. */
HSY_API hsy_coins hsy_keyed_coins(hsy_keyed *streams);

/* Open stream number `lane` of a simulation. Anyone who knows the seed knows
 * the coins: never for a real person. */
HSY_API void hsy_stream_seed(hsy_stream *st, uint64_t seed, uint64_t lane);

/* The stream as a source; it fails only once cleared. Keeps the pointer. */
HSY_API hsy_rng hsy_stream_rng(hsy_stream *st);
HSY_API void hsy_stream_clear(hsy_stream *st);

/* ---- Processor ----------------------------------------------------------- */

/* Kernel tables, slowest first. All give the same results, bit for bit. */
typedef enum hsy_cpu {
    HSY_CPU_PLAIN = 0,    /* textbook loops: the reference the rest equal */
    HSY_CPU_PORTABLE = 1, /* any machine */
    HSY_CPU_AVX2 = 2,
    HSY_CPU_AVX512 = 3
} hsy_cpu;

/* The best table this machine can run, and whether it can run a given one. */
HSY_API hsy_cpu hsy_cpu_best(void);
HSY_API bool hsy_cpu_has(hsy_cpu level);
HSY_API const char *hsy_cpu_name(hsy_cpu level);

/* Choose the table of a stream; HSY_E_UNKNOWN if the machine lacks it. */
HSY_API hsy_status hsy_stream_cpu(hsy_stream *st, hsy_cpu level);

/* The Walsh-Hadamard transform of n cells in place, n a power of two: cells[i]
 * = sum over k of (-1)^(ones of i & k) cells[k], modulo 2^64. HSY_E_RANGE if n
 * is none, HSY_E_UNKNOWN if the machine lacks the table. */
HSY_API hsy_status hsy_hadamard_transform(int64_t *cells, size_t n,
                                          hsy_cpu level);

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

/* Integer parameters of the mechanisms. The numbers are wire format: append. A
 * mechanism refuses those it does not take; 0 leaves the choice to it. */
typedef enum hsy_param {
    HSY_PARAM_G = 0,         /* local hashing: range of the hash, 0: the best */
    HSY_PARAM_POOL_BITS = 1, /* 2^this public seeds, 0: 2^16 */
    HSY_PARAM_POOL_SEED = 2, /* which public pool */
    HSY_PARAM_W = 3,         /* size of a subset or of a window; bits of the
                                first prefix, or of a stage's, or of a puzzle
                                piece */
    HSY_PARAM_BLOCKS = 4,    /* Hadamard and hybrid projective: blocks; puzzle:
                                fragments of a word */
    HSY_PARAM_Q = 5,         /* projective: prime order of the field */
    HSY_PARAM_T = 6,         /* projective: coordinates of a point */
    HSY_PARAM_BITS = 7,      /* bits of a dBitFlip report, a Bloom filter or a
                                spelled string */
    HSY_PARAM_HASHES = 8,    /* hash functions of a sketch or Bloom filter */
    HSY_PARAM_WIDTH = 9,     /* sketch: cells of a row; stages: the most
                                candidates that one of them may have */
    HSY_PARAM_OUTPUTS = 10,  /* window mechanisms: values of a report */
    HSY_PARAM_COHORTS = 11,  /* RAPPOR: cohorts */
    HSY_PARAM_FANOUT = 12,   /* hierarchy: children of a node */
    HSY_PARAM_MIX = 13,      /* share of one-bit reports, or of epsilon that is
                                the word's, in 2^-16; stages: batches of equal
                                size (1), rising (2) evenly from 1 to 3, or
                                diminishing (3) the reverse */
    HSY_PARAM_GRID = 14,     /* Laplace: steps in half the range */
    HSY_PARAM_STEP = 15      /* prefixes: bits from one group, or stage, to the
                                next; puzzle: bits of a fragment */
} hsy_param;

#define HSY_PARAMS 16                           /* all of them */
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

/* Bytes a scheme for this spec takes, suitably aligned (as malloc aligns). */
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
    HSY_ANALYSIS_PUZZLE = 5,  /* fragments to words: hsy_puzzle_join */
    HSY_ANALYSIS_STAGE = 6,   /* one stage of a search: hsy_stage_survivors */
    HSY_ANALYSIS_RELEASE = 7, /* a curator's noisy counts: hsy_evidence_of */
    HSY_ANALYSIS_ATTRIBUTES = 8, /* a tuple's attributes, each by its part */
    HSY_ANALYSIS_JOINT = 9       /* a tuple's attributes and their cells */
} hsy_analysis;

/* What became of a spec. Doubles are for display and estimation only. */
typedef struct hsy_scheme_info {
    const char *mechanism; /* canonical name, a literal */
    uint32_t id;           /* permanent wire id */
    uint32_t kind;
    hsy_analysis analysis;    /* of its tallies */
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

/* Append an attribute to a block of *len bytes in room, *len then growing by
 * what it takes; out may be NULL, to learn that. name: 1 to HSY_LABEL_MAX
 * bytes. HSY_E_RANGE if it does not fit, or as hsy_scheme_init. */
HSY_API hsy_status hsy_attribute_encode(uint8_t *out, size_t room, size_t *len,
                                        const char *name, size_t name_len,
                                        const hsy_spec *spec, hsy_error *err);

/* One attribute of a block; all pointers lead into the block. */
typedef struct hsy_attribute {
    const char *name;
    size_t name_len;
    hsy_spec spec;
} hsy_attribute;

/* The attribute at *at of a block, which then is where the next one begins.
 * HSY_E_END if there is none, HSY_E_FORMAT. */
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

/* The same law at simulation speed: how many coins it takes tells where the
 * noise fell. HSY_E_REFUSED unless both streams were opened by seed,
 * HSY_E_RANGE if they are one. */
HSY_API hsy_status hsy_simulate_batch(const hsy_scheme *s, uint8_t *reports,
                                      const uint64_t *codes, size_t n,
                                      hsy_stream *secret, hsy_stream *published,
                                      hsy_error *err);

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
 * malformed one is HSY_E_FORMAT with its number in err->line. */
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

/* ---- A curator's release: docs/central.md ---------------------------------
 */

/*
 * Who is trusted with the truths themselves can publish their counts with far
 * less noise (mechanisms "central" and "central-add-remove", which no device
 * can use). One such release is one tally: count people, then add the noise,
 * once. Releases of several curators, each about people of its own, add up by
 * hsy_tally_merge; hsy_evidence_of and hsy_estimate_point know the noise of the
 * sum. Every release about the same people spends epsilon again.
 */

/* Count n people by their codes into an empty tally or one so begun: until
 * hsy_central_release it holds truths. HSY_E_RANGE for a code outside the
 * domain, HSY_E_REFUSED once it is released, HSY_E_MISMATCH, HSY_E_OVERFLOW. */
HSY_API hsy_status hsy_central_count(hsy_tally *t, const hsy_scheme *s,
                                     const uint64_t *codes, size_t n,
                                     hsy_error *err);

/* The same of people[i] people who all hold codes[i]; people NULL: one each. */
HSY_API hsy_status hsy_central_count_many(hsy_tally *t, const hsy_scheme *s,
                                          const uint64_t *codes,
                                          const uint64_t *people, size_t n,
                                          hsy_error *err);

/* Add the noise. Time tells of it: for the curator's own machine, out of
 * sight of whoever must not know the truths. On HSY_E_ENTROPY all cells are
 * zeroed; other failures as above. */
HSY_API hsy_status hsy_central_release(hsy_tally *t, const hsy_scheme *s,
                                       hsy_rng *secret, hsy_error *err);

/* How many people the releases in t are about; noisy, and perhaps negative,
 * under add/remove. 0 for a scheme with reports. */
HSY_API double hsy_central_people(const hsy_scheme *s, const hsy_tally *t);

/* ---- Exact laws ---------------------------------------------------------- */

/* num / den, where den 0 stands for 2^64. */
typedef struct hsy_factor {
    uint64_t num, den;
} hsy_factor;

/* P[report | code] as the product of *count factors, exactly what randomize
 * does. At most hsy_law_factors(s) of them. report must pass hsy_check. (Only
 * for a mean, alone or in a tuple, between the ends of a range of more than
 * 2^16 steps, for laplace of more than 16, may the product fall short, by at
 * most 2^-63 of it.) */
HSY_API size_t hsy_law_factors(const hsy_scheme *s);
HSY_API void hsy_law(const hsy_scheme *s, hsy_factor *factors, size_t *count,
                     uint64_t code, const uint8_t *report);

/* The same of a truth with hsy_codes_per_truth codes, which may be more than
 * one. */
HSY_API void hsy_law_codes(const hsy_scheme *s, hsy_factor *factors,
                           size_t *count, const uint64_t *codes,
                           const uint8_t *report);

/* The largest ratio of two probabilities of one report, as a product of
 * *count factors num / den (at most 4; den 0 stands for 2^64, and so does num
 * 0), to the power hsy_law_power(s): e^epsilon_exact. The power is 1 but for
 * reports whose worst ratio repeats itself bit by bit. */
HSY_API void hsy_law_worst(const hsy_scheme *s, hsy_factor factors[4],
                           size_t *count);
HSY_API uint32_t hsy_law_power(const hsy_scheme *s);

/* ---- Chains: a permanent answer, weakened for each report ---------------- */

/*
 * Who is asked the same every day must not toss fresh coins every day: the
 * noise averages out (docs/longitudinal.md). A chain keeps one permanent
 * answer, a report of the scheme `permanent`, and makes every report from it by
 * one more step of noise, so that a single report has the law of the scheme
 * `report`, up to 2^-64 an output or a bit and never beyond its epsilon. All
 * reports made from one permanent answer, however many, tell no more than that
 * answer.
 *
 * The two schemes agree in everything but epsilon (olh: also in g, which must
 * be given to the permanent one). The mechanisms: rr (by epsilon), grr, sue,
 * oue, olh, blh, onebit, dbitflip. RAPPOR has both steps in one scheme: give
 * that twice, or a copy.
 */
typedef struct hsy_permanent {
    const hsy_scheme *permanent, *report; /* must outlive the chain */
    uint64_t grain; /* onebit: numbers are rounded to lo + multiples of it */
    uint64_t step;  /* treat as private: P(noise), over 2^64, rounded up */
} hsy_permanent;

/* grain: onebit only, it divides hi - lo (in units of 10^-scale); 0: as if it
 * were hi - lo for onebit, and it must be 0 for the others. HSY_E_MISMATCH if
 * the schemes differ in more than epsilon, HSY_E_RANGE if permanent's epsilon
 * is below report's, or for a pool of more than 2^16 seeds (a kept seed marks a
 * device); HSY_E_UNKNOWN for other mechanisms. */
HSY_API hsy_status hsy_permanent_init(hsy_permanent *c,
                                      const hsy_scheme *permanent,
                                      const hsy_scheme *report, uint64_t grain,
                                      hsy_error *err);

/*
 * What a permanent answer is kept for: the code itself, its hash (olh, blh),
 * its place in the public set of buckets (dbitflip), or the point that it is
 * rounded to (onebit: x + alpha < R rounds down, alpha uniform below the
 * grain). Codes with one key have one permanent answer. `own` are the coins of
 * the device for this question, the same whatever the truth is: published gives
 * the hash function or set, secret gives alpha. Constant time in code.
 */
HSY_API hsy_status hsy_permanent_key(const hsy_permanent *c, uint64_t *key,
                                     uint64_t code, hsy_coins *own);

/* How many keys there can be, 0 if more than 2^63. */
HSY_API uint64_t hsy_permanent_keys(const hsy_permanent *c);

/* The permanent answer of a key: report_bytes of the permanent scheme. The
 * secret coins are the key's own; the published ones begin as `own` did, for
 * every key. On failure answer is zeroed. */
HSY_API hsy_status hsy_permanent_answer(const hsy_permanent *c, uint8_t *answer,
                                        uint64_t key, hsy_coins *coins);

/* One report from a permanent answer, with coins of its own. On failure report
 * is zeroed. */
HSY_API hsy_status hsy_permanent_report(const hsy_permanent *c, uint8_t *report,
                                        const uint8_t *answer, hsy_rng *secret);

/* What a chain costs and does. Of two-level mechanisms and bits alike: the
 * chance that a step leaves on the right value, and on one that is wrong. */
typedef struct hsy_permanent_info {
    double p1, q1;             /* the permanent step */
    double p2, q2;             /* the step of each report */
    double epsilon_report;     /* of the integers: one report */
    double epsilon_permanent;  /* any number of reports on one key */
    uint64_t keys;             /* hsy_permanent_keys */
    double epsilon_all_values; /* keys times epsilon_permanent; infinite if keys
                                is 0 */
} hsy_permanent_info;

HSY_API void hsy_permanent_describe(const hsy_permanent *c,
                                    hsy_permanent_info *info);

/* The exact loss of `reports` reports on one key (MECHANISMS 4.1). */
HSY_API double hsy_permanent_epsilon(const hsy_permanent *c, uint64_t reports);

/* Output perturbation [DKY17]: the epsilon of one report if a permanent onebit
 * or rr answer at nano_permanent is flipped with probability gamma for each
 * report, rounded down by at most 2 nano-epsilon. HSY_E_RANGE unless 0 <= gamma
 * < 1/2, and if what is left is below HSY_EPSILON_MIN. */
HSY_API hsy_status hsy_permanent_gamma(uint64_t *nano_report,
                                       uint64_t nano_permanent,
                                       hsy_ratio gamma);

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
    double sampling_discount; /* from 0 to 1: a sample of people adds (1 - even)
                    f(1-f)/n; 0 for shares, 1 for a mean of truths all alike */
    hsy_noise noise[2];       /* of releases, whose n is the people's number: if
                                 noise[0].terms is not 0 they take the place of v0,
                                 v1 and spread */
    hsy_few few;              /* rate 0: support is all that was counted */
    double lumps; /* of how many equal parts the floor is at worst, on
                     average: its tails are those of a Poisson number.
                     0: normal ones */

    /* Of people who answered more than once (hsy_evidence_attend); else 0. */
    double kept;         /* hsy_attendance */
    double came;         /* hsy_attendance */
    double kept0, kept1; /* as v0 and v1, of a kept answer alone; v0 and v1 have
                            kept times these in them, and spread 1 + kept
                            times itself */
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

/* Rounds ascend by slot and round. scratch: n doubles. HSY_E_RANGE with the
 * round's place in err->line: out of order, without reports, each 0, or of more
 * reports than 2^53 together; HSY_E_EMPTY if there are none. */
HSY_API hsy_status hsy_attend(hsy_attendance *out, const hsy_round *rounds,
                              size_t n, double *scratch, hsy_error *err);

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
HSY_API hsy_status hsy_attend_both(double *shared, const hsy_round *a,
                                   size_t na, const hsy_round *b, size_t nb,
                                   uint64_t devices, hsy_error *err);

/* Give points the errors of people who answered more than once. permanent: the
 * scheme of the kept answers, NULL: the one that s says (nano_permanent, or
 * RAPPOR's), if any. HSY_E_REFUSED if a slot has several rounds and no kept
 * answer is known. */
HSY_API hsy_status hsy_evidence_attend(hsy_evidence *points, size_t count,
                                       const hsy_scheme *s,
                                       const hsy_scheme *permanent,
                                       const hsy_attendance *attended,
                                       hsy_error *err);

/*
 * What to expect before anything is collected: the standard errors, for the
 * people and for the population (hsy_target), of a share f (of a mean: the
 * worst there is, as a share of its range) if `devices` all answer in each of
 * `rounds` rounds, of which a slot has per_slot. HSY_E_UNKNOWN for a scheme
 * without points, HSY_E_RANGE.
 */
HSY_API hsy_status hsy_attend_expect(double sd[2], const hsy_scheme *s,
                                     const hsy_scheme *permanent, double f,
                                     uint64_t devices, uint64_t rounds,
                                     uint64_t per_slot, hsy_error *err);

/* The bits of a RAPPOR report that stand for a code in a cohort: as many as the
 * scheme has hashes, ascending, no two the same. Tallies have the cell of bit b
 * of cohort c at c bits + b, and c's reports in stratum c. HSY_E_RANGE if the
 * scheme is of another mechanism, or has no such code or cohort. Time does not
 * depend on code. */
HSY_API hsy_status hsy_rappor_bits(const hsy_scheme *s, uint64_t code,
                                   uint32_t cohort, uint16_t *positions);

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
HSY_API hsy_status hsy_selection_measure(hsy_selection *from,
                                         const hsy_scheme *s,
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
HSY_API hsy_status hsy_estimate_rest(hsy_estimate *est, const hsy_scheme *s,
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
HSY_API hsy_status hsy_range(hsy_estimate *est, const hsy_ranges *r,
                             size_t from, size_t to, const hsy_confidence *how,
                             hsy_error *err);

/* The shares below the d + 1 edges, made monotone: the mean of the running
 * maximum from the left and the running minimum from the right, in [0, 1]. */
HSY_API void hsy_ranges_cdf(const hsy_ranges *r, double *out);

/*
 * Where a share q of all, 0 < q < 1, lies below, counted in bins: 2.5 is the
 * middle of the third. Its ends are where the bounds of the CDF, made monotone
 * and straight within a bin, reach q; sd is half their distance over the normal
 * quantile. how->interval must be AUTO, WALD or SCORE (or WILSON of a
 * population): the band is normal. Not for two threads with the same r.
 */
HSY_API hsy_status hsy_quantile(hsy_estimate *est, const hsy_ranges *r,
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
HSY_API void hsy_plausible(hsy_plausibility *out, const hsy_scheme *s,
                           const hsy_tally *t, const hsy_evidence *points,
                           size_t count, bool complete);

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
HSY_API hsy_status hsy_accuracy_of(hsy_accuracy *out, const hsy_scheme *s,
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

/* Devices that lie want `targets` to come out large; r different codes. */
typedef enum hsy_attack {
    HSY_ATTACK_RANDOM = 0, /* any report, all with the same chance */
    HSY_ATTACK_INPUT = 1,  /* the honest report of a target, any of them */
    HSY_ATTACK_MAXIMAL = 2 /* the report that supports most targets */
} hsy_attack;

#define HSY_TARGETS_MAX 64u

/*
 * What the estimated shares of all targets together gain if a share `lying` of
 * all reports comes from such devices, on the average: the sum of the estimates
 * from all reports less that from the honest ones, among whom the targets have
 * the share `held` together. *supported, which may be NULL, is how many targets
 * one of their reports supports. HSY_E_RANGE for what is out of range,
 * HSY_E_UNKNOWN for a mechanism whose lies have not been worked out; grr, ss,
 * sue, oue, olh and blh have been.
 */
HSY_API hsy_status hsy_poison_gain(double *gain, double *supported,
                                   const hsy_scheme *s, hsy_attack attack,
                                   const uint64_t *targets, size_t r,
                                   double lying, double held, hsy_error *err);

/* n reports of such devices, to try a collector with: they pass hsy_check.
 * Streams and errors as hsy_simulate_batch and hsy_poison_gain. */
HSY_API hsy_status hsy_poison_reports(const hsy_scheme *s, uint8_t *reports,
                                      size_t n, hsy_attack attack,
                                      const uint64_t *targets, size_t r,
                                      hsy_stream *secret, hsy_stream *published,
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
HSY_API hsy_status hsy_poison_bounds(hsy_poison_bound *bounds,
                                     const hsy_scheme *s,
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

/* What reports of one epsilon lose, exactly: the least delta for which all
 * together are (total, delta) private if each is private and no more is known
 * of it [KOV15]. */
HSY_API hsy_status hsy_compose_delta(double *delta, const hsy_spent *spent,
                                     double total, hsy_error *err);

/* The other way round, for `kinds` different epsilons: optimal for one, for
 * several an upper bound within about a thousandth of it. scratch has
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
    HSY_SHUFFLE_TWO_LEVEL = 2, /* "blanket": a truth favours `inside` of the
                                  outputs, by the factor e^epsilon0 */
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
                     all pairs (grr: 0). 0 is safe if inside <= 1/2 */
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
HSY_API hsy_status hsy_shuffle_delta(double *delta, const hsy_shuffle *s,
                                     double epsilon, hsy_error *err);
HSY_API hsy_status hsy_shuffle_epsilon(double *epsilon, const hsy_shuffle *s,
                                       double delta, hsy_error *err);

/* How many people it takes (within 1e-9; s->n is not read), and the largest
 * epsilon0 that does (s->epsilon_report is not read; for TWO_LEVEL `inside`
 * stays). HSY_E_RANGE also if no number of people is enough. */
HSY_API hsy_status hsy_shuffle_people(uint64_t *n, const hsy_shuffle *s,
                                      double epsilon, double delta,
                                      hsy_error *err);
HSY_API hsy_status hsy_shuffle_epsilon_report(double *epsilon0,
                                              const hsy_shuffle *s,
                                              double epsilon, double delta,
                                              hsy_error *err);

/* The closed form of the first [FMT21, Thm 3.1], several times larger: of s
 * only n and epsilon0 are read. */
HSY_API hsy_status hsy_shuffle_closed(double *epsilon, const hsy_shuffle *s,
                                      double delta, hsy_error *err);

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

/* f, p, q of RAPPOR's parameters as one step, p* and q*, and what they cost:
 * one report, and any number of them if the permanent answer is kept (infinite
 * if f is 0). With one bit (k = 1) a value is a bit, else two values are told
 * apart by 2h bits at most. */
typedef struct hsy_rappor_law {
    double p, q;
    double epsilon_report, epsilon_permanent;
} hsy_rappor_law;

HSY_API hsy_status hsy_rappor_channel(hsy_rappor_law *law, uint32_t k,
                                      uint32_t h, double f, double p, double q,
                                      hsy_error *err);

/* De-noised share of reports whose filter has a bit, and its standard
 * deviation, m times k each. A cohort without reports has zeros. Candidates
 * are not looked at. */
HSY_API hsy_status hsy_rappor_rates(double *rate, double *sd,
                                    const hsy_rappor_data *data,
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
 * range, err->line then being the cohort or candidate (from 1) concerned; for
 * two candidates with the same bits everywhere, which nothing can tell apart,
 * err->line is the later and err->limit the earlier. */
HSY_API hsy_status hsy_rappor_decode(hsy_rappor_share *shares,
                                     hsy_rappor_summary *summary,
                                     const hsy_rappor_data *data,
                                     const hsy_rappor_options *options,
                                     void *scratch, hsy_error *err);

/* ---- Association of several variables ------------------------------------ */

#define HSY_ASSOCIATE_VARIABLES 8u /* most variables */
#define HSY_ASSOCIATE_CELLS 1024u  /* most cells of the joint table */

/* Reports of several variables from the same people. rows[v] is n times
 * categories[v]: P(report of v | category), up to a factor of its own for each
 * report. Any mechanism can fill it, RAPPOR's by hsy_rappor_likelihood. */
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
 * without reports; HSY_E_RANGE for a report (err->line) that no category can
 * give, for numbers that are no probabilities, and if the reports cannot tell
 * the cells apart.
 */
HSY_API hsy_status hsy_associate(double *share, double *covariance,
                                 hsy_association_result *result,
                                 const hsy_association *a, void *scratch,
                                 hsy_error *err);

/*
 * How the joint would change, to first order, if the rows of a were those of
 * other, which has the same shape. share and covariance are a's. For rows that
 * are estimates themselves: shift what they depend on by a standard error, and
 * add change times change' to the covariance. scratch: as for hsy_associate.
 */
HSY_API void hsy_associate_shift(double *change, const double *share,
                                 const double *covariance,
                                 const hsy_association *a,
                                 const hsy_association *other, void *scratch);

/*
 * Rows of n reports of a RAPPOR variable for data->candidates categories and,
 * if other is not NULL, a last one for all other strings. words: stride bytes a
 * report, bit b at bit b % 8 of byte b / 8; cohorts below data->m. other: 2 m k
 * numbers, the chance of each bit there and how far a report's own bit has
 * moved it, which is taken back (hsy_rappor_other makes both; chances known
 * beforehand have zeros behind them). HSY_E_RANGE with the report in err->line
 * if its cohort is too large or no category gives it.
 */
HSY_API hsy_status hsy_rappor_likelihood(double *rows,
                                         const hsy_rappor_data *data,
                                         const double *other,
                                         const uint8_t *words, size_t stride,
                                         const uint32_t *cohorts, size_t n,
                                         hsy_error *err);

/*
 * What hsy_rappor_likelihood needs of the strings outside the list, 2 m k
 * numbers, from the counts of the same reports: for each cohort and bit what
 * the counts have beyond the candidates' shares, divided by the share that is
 * left, drawn toward what hashes do on average as far as it is noise.
 * HSY_E_RANGE unless the shares are at least 0 and leave some of 1.
 */
HSY_API hsy_status hsy_rappor_other(double *other, const hsy_rappor_data *data,
                                    const double *shares, hsy_error *err);

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
    const uint8_t *words;      /* as for hsy_rappor_likelihood */
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
HSY_API hsy_status hsy_rappor_associate(double *share, double *covariance,
                                        hsy_association_result *result,
                                        const hsy_rappor_reports *r,
                                        void *scratch, hsy_error *err);

/* ---- Discovery: frequent strings that nobody listed: docs/discovery.md --- */

#define HSY_STAGES_MAX 64u
#define HSY_SEARCH_CANDIDATES ((uint64_t)1 << 18)     /* of a stage, default */
#define HSY_SEARCH_CANDIDATES_MAX ((uint64_t)1 << 24) /* at most */
#define HSY_SEARCH_TOP_MAX 65536u
#define HSY_SEARCH_KEEP_MAX 16u

/* What is wanted of a tally of pem. Zero it and set size; 0 leaves the choice.
 */
typedef struct hsy_search {
    size_t size;             /* sizeof(hsy_search) */
    uint64_t top;            /* so many strings at most; 0: 16 */
    uint64_t keep;           /* so many times top prefixes go from an inner
                                stage to the next; 0: 2 */
    bool significant;        /* only what chance hardly makes, at each stage */
    double alpha;            /* how hardly: the chance that a stage takes any
                                prefix that nobody has; 0: 0.05 */
    uint64_t max_candidates; /* of a stage; 0: HSY_SEARCH_CANDIDATES */
} hsy_search;

/* One stage of a search, of the group with the same number. */
typedef struct hsy_stage {
    const char *oracle;  /* mechanism of the group */
    uint32_t bits;       /* of a prefix */
    uint32_t step;       /* of them new; of the first stage all */
    uint64_t candidates; /* at most */
    uint64_t keep;       /* that go on, or that are found, at most */
    double v0;           /* group's n times the variance of a share of 0 */
    double z;            /* a share is significant from so many standard errors
                            on: the quantile at alpha / candidates */
    size_t width;        /* words of a code: hsy_codes_per_truth */
} hsy_stage;

/* The stages of a search and how many, before anything is collected. Refuses
 * what cannot be searched: HSY_E_RANGE with the field of how (and in err->limit
 * the candidates of the stage that has too many), HSY_E_UNKNOWN for another
 * mechanism. */
HSY_API hsy_status hsy_search_plan(const hsy_scheme *s, const hsy_search *how,
                                   hsy_stage stages[HSY_STAGES_MAX],
                                   size_t *count, hsy_error *err);

/* Reports that the group of a stage needs so that a prefix of this share is
 * significant but for a chance of `miss`; and the share that this many reports
 * are enough for [WLJ19; MECHANISMS 5.1]. 0 < share, miss < 1. */
HSY_API double hsy_stage_users(const hsy_stage *stage, double share,
                               double miss);
HSY_API double hsy_stage_share(const hsy_stage *stage, double reports,
                               double miss);

/* A prefix that survived, or a string that was found. */
typedef struct hsy_candidate {
    uint64_t code[HSY_SPELL_WORDS]; /* of a prefix, zeros after it */
    hsy_evidence point;             /* from the group of its stage alone */
    bool significant;
    uint64_t of;   /* candidates of the stage that it was chosen from */
    double passed; /* what its share had to be above, -INFINITY: nothing */
} hsy_candidate;

/* Scratch of any stage, in bytes. */
HSY_API size_t hsy_search_scratch(const hsy_scheme *s, const hsy_stage *stages,
                                  size_t count);

/*
 * Stage i of a search, i = 0, 1, ...: extend the *count prefixes in found,
 * which survived the stage before (of the first one all there are), and replace
 * them by those that survive this one, largest share first; of the last stage
 * they are the strings. found has room for the largest `keep` of all stages.
 * HSY_E_EMPTY if the stage's group has no reports.
 */
HSY_API hsy_status hsy_search_stage(const hsy_scheme *s, const hsy_tally *t,
                                    const hsy_search *how,
                                    const hsy_stage *stages, size_t i,
                                    hsy_candidate *found, size_t *count,
                                    void *scratch, hsy_error *err);

/* The same in two halves, for who has points of his own: all extensions of the
 * prefixes that a string can have, into codes, which has room for those of the
 * stage's candidates; how many. Then the best of n and their points. */
HSY_API size_t hsy_search_extend(const hsy_scheme *s, const hsy_stage *stages,
                                 size_t i, const hsy_candidate *found,
                                 size_t count, uint64_t *codes);
HSY_API hsy_status hsy_search_select(const hsy_search *how,
                                     const hsy_stage *stage,
                                     const uint64_t *codes,
                                     const hsy_evidence *points, size_t n,
                                     hsy_candidate *found, size_t *count,
                                     hsy_error *err);

/*
 * In batches (docs/discovery.md): every stage is a scheme of its own, of the
 * mechanism `stage`, with a tally of its own. Its labels are the prefixes that
 * survived the stage before, its candidates those with all continuations.
 */

/* Which stage of how many a scheme is, from 1 on; 0: of no search in batches.
 */
HSY_API uint32_t hsy_stage_number(const hsy_scheme *s);
HSY_API uint32_t hsy_stage_count(const hsy_scheme *s);

/* How many parts of the people are in batch i, from 1 to hsy_stage_count; of 0:
 * all parts. */
HSY_API uint64_t hsy_stage_weight(const hsy_scheme *s, uint32_t i);

/* The prefixes a stage begins with, as codes of strings with zeros after them,
 * hsy_codes_per_truth each; at the first one nothing alone. How many; codes may
 * be NULL. */
HSY_API size_t hsy_stage_prefixes(const hsy_scheme *s, uint64_t *codes);

/* The stage that a scheme is; how->keep as far as there is room at the next
 * (HSY_PARAM_WIDTH). Errors as of hsy_search_plan, but how->max_candidates does
 * not matter: a stage was made with its candidates. */
HSY_API hsy_status hsy_stage_plan(const hsy_scheme *s, const hsy_search *how,
                                  hsy_stage *stage, hsy_error *err);

/* What survives a stage, or of the last one is found, from its own tally:
 * found has room for stage->keep. HSY_E_EMPTY if it holds no reports. */
HSY_API size_t hsy_stage_scratch(const hsy_scheme *s, const hsy_stage *stage);
HSY_API hsy_status hsy_stage_survivors(const hsy_scheme *s, const hsy_tally *t,
                                       const hsy_search *how,
                                       const hsy_stage *stage,
                                       hsy_candidate *found, size_t *count,
                                       void *scratch, hsy_error *err);

/* A prefix that survived a stage as the label that the next one has for it:
 * hexadecimal digits, and a zero. The next stage has them in ascending order.
 * Returns the length. */
#define HSY_STAGE_LABEL (HSY_SPELL_BITS / 4 + 1)
HSY_API size_t hsy_stage_label(const hsy_scheme *s, char label[HSY_STAGE_LABEL],
                               const uint64_t *codes);

/* The string that codes spell, and its length. */
HSY_API size_t hsy_code_string(const hsy_scheme *s,
                               uint8_t string[HSY_SPELL_BITS],
                               const uint64_t *codes);

/* Bits of one of its symbols, and bit `at` of a string, the first one being 0.
 */
HSY_API uint32_t hsy_symbol_bits(const hsy_scheme *s);
HSY_API unsigned hsy_code_bit(const hsy_scheme *s, const uint64_t *codes,
                              uint32_t at);

/* A set of bytes from text and as text: each byte stands for itself, a-z for
 * all from a to z, \xHH for any byte, \- and \\ for these. HSY_E_FORMAT, with
 * the place in err->line. As text it is unique, and ends in a zero; it returns
 * the length. */
#define HSY_ALPHABET_TEXT 1025u
HSY_API hsy_status hsy_alphabet_parse(uint8_t alphabet[HSY_ALPHABET],
                                      const char *text, size_t len,
                                      hsy_error *err);
HSY_API size_t hsy_alphabet_text(char text[HSY_ALPHABET_TEXT],
                                 const uint8_t alphabet[HSY_ALPHABET]);

/* ---- Discovery by puzzle: a tally of sfp: docs/mechanisms/sfp.md --------- */

#define HSY_PUZZLE_PAIRS_MAX 16384u /* of an offset that go on */

/* Where fragment i of a word begins, in bits; there are as many fragments as
 * HSY_PARAM_BLOCKS says, of HSY_PARAM_STEP bits. */
HSY_API uint32_t hsy_puzzle_offset(const hsy_scheme *s, size_t i);

/* The puzzle piece and fragment i of a word, from its codes, and the code of
 * such a pair under any of the parts 0 .. HSY_PARAM_BLOCKS - 1. Time does not
 * depend on what they are. */
HSY_API uint32_t hsy_puzzle_piece(const hsy_scheme *s, const uint64_t *codes);
HSY_API uint32_t hsy_puzzle_fragment(const hsy_scheme *s, const uint64_t *codes,
                                     size_t i);
HSY_API uint64_t hsy_puzzle_pair(const hsy_scheme *s, uint32_t piece,
                                 uint32_t fragment);

/* What is wanted of a tally of sfp. Zero it and set size; 0 leaves the choice.
 */
typedef struct hsy_puzzle {
    size_t size;             /* sizeof(hsy_puzzle) */
    uint64_t top;            /* so many words at most; 0: all */
    uint64_t threshold;      /* so many pairs of an offset go on at most; 0: as
                                many as are significant, or with `all` 20 */
    bool all;                /* chance or not, of pairs and words; else only
                                what chance hardly makes */
    double alpha;            /* how hardly: the chance that an offset takes any
                                pair, or the end any word, that nobody has; 0:
                                0.05 */
    uint64_t max_candidates; /* pairs of an offset, words that are joined; 0:
                                HSY_SEARCH_CANDIDATES */
} hsy_puzzle;

/* The search before anything is collected, as stages: every one of `fragments`
 * offsets, which a report is about with the same chance, and the words, which
 * every report is about. */
typedef struct hsy_puzzle_plan {
    size_t fragments;
    hsy_stage offset; /* candidates: 2^w pieces, each with all fragments that
                         a word can have */
    hsy_stage word;   /* candidates: at most */
} hsy_puzzle_plan;

/* HSY_E_RANGE with the field of how (in err->limit the pairs, if there are too
 * many), HSY_E_UNKNOWN for another mechanism. */
HSY_API hsy_status hsy_puzzle_plan_make(const hsy_scheme *s,
                                        const hsy_puzzle *how,
                                        hsy_puzzle_plan *plan, hsy_error *err);

/* What a search looked at. */
typedef struct hsy_puzzle_trace {
    uint64_t pairs;      /* that went on, of all offsets */
    uint64_t joined;     /* words that they make */
    uint64_t candidates; /* of them those that have the piece they were joined
                            by */
} hsy_puzzle_trace;

/* Bytes of memory for a search; aligned as malloc aligns. */
HSY_API size_t hsy_puzzle_memory(const hsy_scheme *s,
                                 const hsy_puzzle_plan *plan);

/*
 * The frequent words in a tally, largest share first, with their evidence from
 * the sketch of words; found has room for plan->word.keep. HSY_E_EMPTY if an
 * offset has no reports; HSY_E_RANGE, field "max-candidates" and how many in
 * err->limit, if more words could be joined than are allowed; HSY_E_FORMAT if
 * the tally has not as many fragments as words.
 */
HSY_API hsy_status hsy_puzzle_search(const hsy_scheme *s, const hsy_tally *t,
                                     const hsy_puzzle *how,
                                     const hsy_puzzle_plan *plan,
                                     hsy_candidate *found, size_t *count,
                                     hsy_puzzle_trace *trace, void *memory,
                                     hsy_error *err);

/* A frequent pair of an offset. */
typedef struct hsy_pair {
    uint32_t piece, fragment;
} hsy_pair;

/*
 * The middle of a search: all words that can be joined from pairs of one piece,
 * one of each offset, that agree where they overlap and of which nothing
 * follows the end of the word; those whose own piece is that one. The pairs of
 * offset i are pairs[first[i]] up to pairs[first[i+1]], ordered by piece and
 * then fragment. ways has room for a number for each pair, codes for `most`
 * words. trace may be NULL.
 */
HSY_API hsy_status hsy_puzzle_join(const hsy_scheme *s, const hsy_pair *pairs,
                                   const size_t *first, uint64_t *ways,
                                   uint64_t most, uint64_t *codes,
                                   size_t *count, hsy_puzzle_trace *trace,
                                   hsy_error *err);

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
HSY_API hsy_status hsy_survey_point(hsy_evidence *point, const hsy_survey *s,
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
HSY_API hsy_status hsy_survey_compare(hsy_survey_test *out, const hsy_survey *s,
                                      const hsy_evidence *groups, size_t count,
                                      hsy_error *err);

/* The unrelated question with an unknown rate of yes: two samples, asked the
 * sensitive question with different chances. */
typedef struct hsy_survey_pair {
    double chance[2];
    double yes[2], n[2];
} hsy_survey_pair;

/* Its exact interval holds at least as often as its level says. err->line is
 * the sample concerned, from 1. */
HSY_API hsy_status hsy_survey_pair_estimate(hsy_survey_result *out,
                                            const hsy_survey_pair *s,
                                            double level, hsy_error *err);

/* A channel of d states, 2 to HSY_MATRIX_MAX: h[y d + x] = P(y | x), so that
 * columns add up to 1. Its inverse, d times d, and condition number (1-norm).
 * HSY_E_RANGE with the column in err->line, or if it is singular or close to
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
 * level find their shares a and b different with chance `power`. HSY_E_RANGE
 * for what is no share, margin, level or power. */
HSY_API hsy_status hsy_survey_need(double *n, const hsy_survey *s, double share,
                                   double margin, double level, hsy_error *err);
HSY_API hsy_status hsy_survey_need_groups(double *n, const hsy_survey *s,
                                          double a, double b, double level,
                                          double power, hsy_error *err);

/* The same of a pair whose other question a share `other` says yes to: fewest
 * answers of both samples for a margin. */
HSY_API hsy_status hsy_survey_pair_need(double n[2], const double chance[2],
                                        double share, double other,
                                        double margin, double level,
                                        hsy_error *err);

#define HSY_SURVEY_COVERAGE_MAX 100000000u /* answers */

/* The chance, from the binomial law itself, that an interval of n answers holds
 * the share that is true. Wald needs HSY_WALD_MIN answers. */
HSY_API hsy_status hsy_survey_coverage(double *out, const hsy_survey *s,
                                       uint64_t n, double share,
                                       hsy_interval interval, double level,
                                       hsy_error *err);

/* ---- Special functions: relative error at most 1e-12 --------------------- */

HSY_API double hsy_normal_cdf(double z);
HSY_API double hsy_normal_quantile(double p);
HSY_API double hsy_chi2_cdf(double x, double k);
HSY_API double hsy_chi2_upper(double x, double k); /* 1 - cdf */
HSY_API double hsy_chi2_quantile(double p, double k);
HSY_API double hsy_beta_inc(double a, double b, double x); /* regularised */
HSY_API double hsy_beta_inv(double p, double a, double b);
HSY_API double hsy_binomial_cdf(uint64_t k, uint64_t n, double p);

/* ---- Counts drawn at once, for simulation -------------------------------- */

/* How many of n trials succeed, each with probability p from 0 to 1, n below
 * 2^53: in O(1), whatever n. From a stream that is open: the same seed gives
 * the same count. For simulated people only; nothing private is drawn so. */
HSY_API uint64_t hsy_binomial_draw(uint64_t n, double p, hsy_stream *st);

/* ---- Metrics: estimates against known truths (docs/simulation.md) -------- */

typedef struct hsy_errors {
    double mse; /* mean of the squared errors */
    double mae; /* mean of the absolute errors */
    double max; /* the largest absolute error */
} hsy_errors;

/* Of count estimates, at least one. */
HSY_API void hsy_metrics_errors(hsy_errors *out, const double *estimates,
                                const double *truths, size_t count);

/* The share of count intervals, at least one, that hold their truth. */
HSY_API double hsy_metrics_coverage(const hsy_estimate *estimates,
                                    const double *truths, size_t count);

/* How far two distributions lie apart, 0 to 1: half the sum of the absolute
 * differences. */
HSY_API double hsy_metrics_variation(const double *shares, const double *truths,
                                     size_t count);

/* The Kullback-Leibler divergence of shares from truths, sum t ln(t / s), in
 * nats. A share below floor > 0 counts as floor, and all are then scaled to add
 * up to 1, so that it is finite: half a person, 1 / (2n), is a floor that fits.
 */
HSY_API double hsy_metrics_divergence(const double *shares,
                                      const double *truths, size_t count,
                                      double floor);

/* The places of the k <= count largest numbers, largest first; of equal ones
 * the earlier place comes first. No number is a NaN. */
HSY_API void hsy_metrics_largest(uint32_t *places, size_t k, const double *x,
                                 size_t count);

/* A list that was returned, against the true k. */
typedef struct hsy_topk_score {
    size_t hits, extra, missed; /* right, wrong, and left out */
    double precision;           /* hits / (hits + extra), 0 for an empty list */
    double recall;              /* hits / (hits + missed) */
    double f1;                  /* 2 hits / (2 hits + extra + missed) */
    double ncr;                 /* hits weighed k for rank 1 down to 1 for k */
    double ndcg;                /* the same with 1 / log2(position + 1) */
} hsy_topk_score;

/* ranks[i] is the true rank, 1 to k, of what was returned at position i, and 0
 * if it is not among the k; no rank comes twice. k is at least 1. HSY_E_RANGE
 * with the position (from 1) in err->line for a rank above k; without a line if
 * there are more hits than k, so that some rank came twice. */
HSY_API hsy_status hsy_metrics_top(hsy_topk_score *out, const uint32_t *ranks,
                                   size_t returned, size_t k, hsy_error *err);

/* ---- Formats: docs/formats.md -------------------------------------------- */

/* Bytes of an encoded scheme without its labels. */
#define HSY_SCHEME_WIRE 384

/* One canonical encoding. Decoding resolves the spec part anew and refuses
 * unless every resolved integer agrees. The spec's labels point into labels. */
HSY_API void hsy_scheme_encode(const hsy_scheme *s,
                               uint8_t wire[HSY_SCHEME_WIRE]);
HSY_API hsy_status hsy_spec_decode(hsy_spec *spec,
                                   const uint8_t wire[HSY_SCHEME_WIRE],
                                   const uint8_t *labels, size_t labels_len,
                                   hsy_error *err);
HSY_API hsy_status hsy_scheme_decode(hsy_scheme *s,
                                     const uint8_t wire[HSY_SCHEME_WIRE],
                                     const uint8_t *labels, size_t labels_len,
                                     hsy_error *err);

/* The first field in which two schemes differ, a literal; NULL if they are the
 * same. */
HSY_API const char *hsy_scheme_difference(const hsy_scheme *a,
                                          const hsy_scheme *b);

/* A file is a prefix (this, then the scheme, then its labels) and records. */
typedef enum hsy_content {
    HSY_CONTENT_REPORTS = 1,
    HSY_CONTENT_TALLY = 2
} hsy_content;

typedef struct hsy_file_header {
    uint32_t content; /* hsy_content */
    uint32_t labels_len;
    uint8_t digest[HSY_DIGEST];
    uint32_t checksum; /* of scheme and labels */
} hsy_file_header;

#define HSY_PREFIX_WIRE 64

typedef enum hsy_record_type {
    HSY_RECORD_REPORTS = 1, /* count packed reports */
    HSY_RECORD_STRATA = 2,  /* count u64 from place `first` on */
    HSY_RECORD_WEIGHTS = 3,
    HSY_RECORD_CELLS = 4, /* count i64; a run of zero cells is left out */
    HSY_RECORD_END = 5,   /* count: all reports of the file */
    HSY_RECORD_ROUNDS = 6 /* count rounds of 24 bytes: hsy_round */
} hsy_record_type;

typedef struct hsy_record {
    uint32_t type;
    uint32_t length; /* payload bytes, at most HSY_RECORD_MAX */
    uint64_t first, count;
    uint32_t checksum; /* of the payload */
} hsy_record;

#define HSY_RECORD_WIRE 32
#define HSY_RECORD_MAX (1u << 20)
/* Cells, strata or weights in one record. */
#define HSY_RECORD_CELLS_RUN 4096u

HSY_API void hsy_file_header_encode(uint8_t wire[HSY_PREFIX_WIRE],
                                    const hsy_file_header *prefix);
HSY_API hsy_status hsy_file_header_decode(hsy_file_header *prefix,
                                          const uint8_t wire[HSY_PREFIX_WIRE],
                                          hsy_error *err);
HSY_API void hsy_record_encode(uint8_t wire[HSY_RECORD_WIRE],
                               const hsy_record *record);
HSY_API hsy_status hsy_record_decode(hsy_record *record,
                                     const uint8_t wire[HSY_RECORD_WIRE],
                                     hsy_error *err);

/* CRC-32C of len bytes, continued from crc (0 at the start). */
HSY_API uint32_t hsy_crc32c(uint32_t crc, const void *data, size_t len);

/* What travels before a batch of packed reports from a device. */
#define HSY_UPLOAD_WIRE 128
#define HSY_UPLOAD_MAX (1u << 20) /* payload bytes */
#define HSY_TASK_ID 32            /* zero-padded [a-z0-9._-] */

typedef struct hsy_upload {
    uint32_t kind; /* 1 reports, 2 null: same length, never folded */
    char task[HSY_TASK_ID + 1];
    uint32_t release;
    uint32_t epoch; /* UTC days since 1970-01-01 */
    uint8_t digest[HSY_DIGEST];
    uint8_t id[16];
    uint32_t count;
    uint32_t length;   /* payload bytes that follow */
    uint32_t checksum; /* of the payload */
} hsy_upload;

HSY_API hsy_status hsy_upload_encode(uint8_t wire[HSY_UPLOAD_WIRE],
                                     const hsy_upload *upload, hsy_error *err);
HSY_API hsy_status hsy_upload_decode(hsy_upload *upload,
                                     const uint8_t wire[HSY_UPLOAD_WIRE],
                                     hsy_error *err);

/* BLAKE2b of out_len bytes (1 to 64), keyed if key_len (at most 64) is not 0
 * [RFC 7693]. data may be NULL if len is 0, key if key_len is 0. */
HSY_API void hsy_blake2b(uint8_t *out, size_t out_len, const void *data,
                         size_t len, const uint8_t *key, size_t key_len);

/* ---- Tasks: docs/tasks.md ------------------------------------------------ */

#define HSY_SOURCE_MAX 64u     /* bytes of a source's name */
#define HSY_QUESTION_MAX 1024u /* bytes of a question's text */
#define HSY_TASKS_MAX 256u     /* tasks of a document */
#define HSY_DOCUMENT_MAX (1u << 27)
#define HSY_CHANGES_MAX 16u /* permanent answers of one slot */
#define HSY_ANSWERS_MAX 64u /* answers of one slot */
#define HSY_SIGNATURE 64
#define HSY_SIGN_KEY 32            /* a public key */
#define HSY_TASK_CLOSED UINT32_MAX /* other: the list has no such place */

/*
 * A task as it stands in a document. Days are UTC days since 1970-01-01.
 *
 * Time is cut into slots of slot_days from start on, and slots into rounds of
 * round_days. In each round a device answers at most once (or `answers` times)
 * and sends exactly `sends` uploads after the round's end, whatever happened.
 * One round a slot: every answer has fresh coins. More than one: a permanent
 * answer is kept for the slot, and each round's report is made from it.
 */
typedef struct hsy_task {
    char id[HSY_TASK_ID + 1];
    uint32_t release;                /* from 1 on */
    char source[HSY_SOURCE_MAX + 1]; /* NUL-terminated, [a-z0-9._-] */
    const char *question; /* text for the person, UTF-8, not terminated */
    size_t question_len;
    uint32_t start, end;      /* the first day, and the day after the last */
    uint32_t slot_days;       /* 0: one slot from start to end */
    uint32_t round_days;      /* 0: one round a slot; else divides slot_days, or
                                 with slot_days 0 end - start */
    uint32_t max_changes;     /* permanent answers of a slot, from 1 on; later
                                 changes of the truth reuse the oldest */
    uint32_t answers;         /* of a round, from 1 on: noised and stored */
    uint32_t sends;           /* of a round, 1 to answers: a random sample */
    hsy_ratio sample;         /* share of devices that take part in a slot */
    uint32_t delay_seconds;   /* uploads wait up to this after their round */
    uint32_t grace_days;      /* later than this an upload is not sent at all */
    uint32_t min_reports;     /* below this no estimate is shown */
    uint32_t other;           /* VALUES: the index of what is not listed, or
                                 HSY_TASK_CLOSED */
    uint64_t grain;           /* hsy_permanent_init */
    const uint8_t *scheme;    /* HSY_SCHEME_WIRE bytes: the report's */
    const uint8_t *permanent; /* the same, NULL: one round a slot */
    const uint8_t *labels;
    size_t labels_len;
} hsy_task;

/* The slot and the round of it that an upload of this epoch is of: delays are
 * shorter than a round, so there is one. reports is not written, each is sends.
 * HSY_E_RANGE if no round of the task has ended by then. */
HSY_API hsy_status hsy_task_round(hsy_round *out, const hsy_task *task,
                                  uint32_t epoch, hsy_error *err);

/* All tasks of a collector at one time: one canonical encoding, signed. */
typedef struct hsy_document {
    uint64_t version; /* grows with every change, from 1 on */
    uint32_t issued;  /* day */
    uint32_t expires; /* day after the last on which it may be taken */
    uint32_t tasks;
    uint8_t
        next_key[HSY_SIGN_KEY]; /* zeros, or who also signs later versions */
    const uint8_t *bytes;       /* all of it, signature last */
    size_t len;
} hsy_document;

/* Write a document without its signature; *len is what it takes, also if out is
 * NULL. version, issued, expires, next_key are read of doc. HSY_E_RANGE with
 * the task's number in err->line, its field in err->field. */
HSY_API hsy_status hsy_document_encode(uint8_t *out, size_t room, size_t *len,
                                       const hsy_document *doc,
                                       const hsy_task *tasks, size_t n,
                                       hsy_error *err);

/* Read the frame of a document, signature included but not checked; it keeps
 * bytes. Every task is checked as far as its own fields go. */
HSY_API hsy_status hsy_document_open(hsy_document *doc, const uint8_t *bytes,
                                     size_t len, hsy_error *err);

/* Task i < doc->tasks of an open document; its pointers lead into the bytes. */
HSY_API void hsy_document_task(const hsy_document *doc, hsy_task *task,
                               uint32_t i);

/*
 * A task with its schemes resolved, in the caller's memory, suitably aligned
 * (as malloc aligns). What answers are charged under.
 */
typedef struct hsy_release hsy_release;

HSY_API size_t hsy_release_size(const hsy_task *task);
HSY_API hsy_status hsy_release_init(hsy_release *r, const hsy_task *task,
                                    hsy_error *err);

typedef struct hsy_release_info {
    hsy_task task;               /* question, labels and wires are NULL */
    const hsy_scheme *scheme;    /* of a report */
    const hsy_scheme *permanent; /* NULL: fresh coins each slot */
    const hsy_permanent *chain;  /* NULL with it */
    uint64_t slots;              /* from start to end */
    uint64_t rounds;             /* of a slot */
    uint64_t nano_report;        /* one report */
    uint64_t nano_slot;  /* charged for a slot, whatever the truth does */
    uint64_t nano_task;  /* slots times that, at most 2^64 - 1 */
    size_t upload_bytes; /* header and report */
    /* What coins are drawn under and charges written down: the permanent scheme
     * (or the only one), grain, start and the plan of slots, not the task's
     * name. A renamed task has the same. */
    uint8_t digest[HSY_DIGEST];
} hsy_release_info;

HSY_API void hsy_release_describe(const hsy_release *r, hsy_release_info *info);

/* A paragraph in plain words for the person asked: what is asked, what one
 * answer and all answers together can tell, what is sent and when. UTF-8,
 * NUL-terminated, cut to room; returns the bytes of all of it without the NUL.
 * task may be closed with its document. */
HSY_API size_t hsy_release_label(const hsy_release *r, const hsy_task *task,
                                 char *out, size_t room);

/* Tenths of the factor by which the odds of a guess can move, e^epsilon, as the
 * paragraph says it: rounded up, to tenths below 100 and else to whole ones. 0
 * above HSY_EPSILON_MAX: nothing is promised. */
HSY_API uint64_t hsy_odds(uint64_t nano_epsilon);

/* ---- The device: docs/device.md ------------------------------------------ */

/* The durable parts of a device. */
typedef enum hsy_file {
    HSY_FILE_KEY = 0, /* written once */
    HSY_FILE_A = 1,   /* two copies of the state */
    HSY_FILE_B = 2
} hsy_file;

/* What the device writes down for the person: never a truth. */
typedef enum hsy_log_kind {
    HSY_LOG_TASKS = 1,   /* a document was taken; nano: its version */
    HSY_LOG_CHARGE = 2,  /* nano was charged to the source for a slot */
    HSY_LOG_ANSWER = 3,  /* an answer was noised and stored */
    HSY_LOG_SILENT = 4,  /* not answered: state says why */
    HSY_LOG_UPLOAD = 5,  /* these bytes were handed out for sending */
    HSY_LOG_SENT = 6,    /* the collector has acknowledged them */
    HSY_LOG_DROPPED = 7, /* stored, and not sent in time */
    HSY_LOG_CONSENT = 8, /* nano: the new hsy_consent */
    HSY_LOG_FORGET = 9,
    HSY_LOG_REFUSED = 10 /* the collector will not take them; nano: why */
} hsy_log_kind;

typedef struct hsy_log_entry {
    uint32_t kind;
    uint32_t day;
    char task[HSY_TASK_ID + 1]; /* empty where none is concerned */
    char source[HSY_SOURCE_MAX + 1];
    uint32_t release;
    uint64_t slot, round;
    uint64_t nano;
    uint32_t state;       /* hsy_answer_state */
    const uint8_t *bytes; /* UPLOAD: what leaves */
    size_t len;
} hsy_log_entry;

/* The world behind a device. libhearsay-host has the real one
 * (hearsay_host.h). */
typedef struct hsy_world {
    size_t size; /* sizeof(hsy_world) */
    void *ctx;

    /* All of a file; HSY_E_EMPTY if there is none, HSY_E_RANGE if it is longer
     * than room, HSY_E_IO. */
    hsy_status (*load)(void *ctx, hsy_file file, uint8_t *buf, size_t room,
                       size_t *len);

    /* Put bytes in a file's place. HSY_OK only if they outlive a power cut from
     * now on; after anything else the file may hold old, new or mixed bytes. */
    hsy_status (*store)(void *ctx, hsy_file file, const uint8_t *buf,
                        size_t len);

    /* Seconds since 1970-01-01 UTC. */
    hsy_status (*now)(void *ctx, uint64_t *seconds);

    hsy_rng entropy; /* for the key, once in a device's life */

    /* Whether sig is key's signature [RFC 8032, Ed25519] of len bytes. */
    bool (*verify)(void *ctx, const uint8_t key[HSY_SIGN_KEY],
                   const uint8_t sig[HSY_SIGNATURE], const uint8_t *bytes,
                   size_t len);

    /* A number kept elsewhere that only grows. Both NULL: there is none, and a
     * state restored from a backup is not noticed. */
    hsy_status (*anchor_read)(void *ctx, uint64_t *number);
    hsy_status (*anchor_raise)(void *ctx, uint64_t number);

    /* What the person may read. May be NULL. */
    void (*log)(void *ctx, const hsy_log_entry *entry);
} hsy_world;

/* What a program allows for one source, whatever a task asks. 0: nothing. */
typedef struct hsy_source {
    const char *name;
    uint64_t cap_answer;   /* epsilon of one report, at most */
    uint64_t cap_day;      /* charged a day */
    uint64_t cap_lifetime; /* charged in all; never renews */
} hsy_source;

typedef struct hsy_policy {
    size_t size; /* sizeof(hsy_policy) */
    const hsy_source *sources;
    size_t nsources;                /* at most HSY_TASKS_MAX */
    uint64_t cap_day, cap_lifetime; /* of all sources together */
    uint8_t sign_key[HSY_SIGN_KEY]; /* who signs the first document */
    uint32_t releases;              /* room for so many, at most 4096 */
    size_t release_bytes; /* room for each one's stored reports: 2 rounds times
                             sends times report_bytes, or more: up to 8 rounds
                             are kept; 0: 256 */
} hsy_policy;

/* The client in the caller's memory, suitably aligned (as malloc aligns). It
 * keeps the policy's and the world's pointers. */
typedef struct hsy_device hsy_device;

HSY_API size_t hsy_device_size(const hsy_policy *policy);

/* Make a new device: a key, an empty ledger. HSY_E_REFUSED if there is a key,
 * or a state that has been used. */
HSY_API hsy_status hsy_device_create(hsy_device *dev, const hsy_policy *policy,
                                     const hsy_world *world, hsy_error *err);

/* Open it again. HSY_E_EMPTY if there is none; HSY_E_DAMAGED if a part is
 * missing or changed, or older than the anchor says: then nothing may be
 * answered until a person has looked. */
HSY_API hsy_status hsy_device_open(hsy_device *dev, const hsy_policy *policy,
                                   const hsy_world *world, hsy_error *err);

/* Wipe the memory. */
HSY_API void hsy_device_close(hsy_device *dev);

/*
 * Take a document: signed by the key in force (the policy's, or the one that an
 * earlier document named next), of a version not older than the last, the same
 * bytes as before if of the same, issued tomorrow at the latest and not expired
 * (one that was taken in time stays in force). HSY_E_SIGNATURE, HSY_E_OLD,
 * HSY_E_RANGE. doc keeps bytes.
 */
HSY_API hsy_status hsy_device_accept_document(hsy_device *dev,
                                              hsy_document *doc,
                                              const uint8_t *bytes, size_t len,
                                              hsy_error *err);

/* Resolve task i of the document taken, if the policy allows it: HSY_E_POLICY
 * with the field and the limit otherwise, HSY_E_OLD if it is over. Durable the
 * first time: uploads are due from the round of its admission on. */
HSY_API hsy_status hsy_device_admit(hsy_device *dev, hsy_release *r,
                                    const hsy_document *doc, uint32_t i,
                                    hsy_error *err);

/* What became of a truth. None depends on it. */
typedef enum hsy_answer_state {
    HSY_ANSWERED = 1,    /* noised and stored */
    HSY_ANSWER_KEPT = 2, /* this round has its answer; the first stands */
    HSY_ANSWER_SAMPLED_OUT = 3,
    HSY_ANSWER_EXHAUSTED = 4, /* a cap is reached */
    HSY_ANSWER_CLOSED = 5,    /* before start, past end, or forgotten */
    HSY_ANSWER_NO_CONSENT = 6
} hsy_answer_state;

/*
 * Answer a truth: check, charge, make durable, and only then store the noised
 * answer for sending. A truth outside the domain becomes `other` or the nearest
 * end of the range; a string too long its first HSY_STRING_MAX bytes,
 * or under pem as many as can be spelled. Any
 * failure leaves nothing answered: HSY_E_IO, HSY_E_DAMAGED, HSY_E_BUSY.
 * state may be NULL.
 */
HSY_API hsy_status hsy_device_answer(hsy_device *dev, const hsy_release *r,
                                     const hsy_truth *truth,
                                     hsy_answer_state *state, hsy_error *err);

/*
 * The same for a program that must not wait: begin says what is to be written;
 * the program stores the bytes, which stay in the device, in HSY_FILE_A, then
 * in HSY_FILE_B, raises the anchor to *number if there is one, and ends with
 * how that went. *len 0: nothing is to be written, and nothing to end. In
 * between every other call is HSY_E_BUSY.
 */
HSY_API hsy_status hsy_device_begin(hsy_device *dev, const hsy_release *r,
                                    const hsy_truth *truth,
                                    hsy_answer_state *state,
                                    const uint8_t **bytes, size_t *len,
                                    uint64_t *number, hsy_error *err);
HSY_API hsy_status hsy_device_end(hsy_device *dev, hsy_status stored,
                                  hsy_error *err);

/*
 * The next upload that is due, of any of these releases: header and payload, as
 * many as upload_bytes of its release. HSY_E_END if none is. The same bytes
 * come again until hsy_device_sent says that they have arrived. Every round of
 * every release gives exactly `sends` uploads; where there is no answer, null
 * ones. Nothing comes without HSY_CONSENT_SEND. Where a round takes more
 * answers than it sends, that it takes no more is written before its reports
 * come.
 */
HSY_API hsy_status hsy_device_next(hsy_device *dev,
                                   const hsy_release *const *releases, size_t n,
                                   uint8_t *upload, size_t room, size_t *len,
                                   hsy_error *err);
HSY_API hsy_status hsy_device_sent(hsy_device *dev,
                                   const hsy_release *const *releases, size_t n,
                                   const uint8_t *upload, size_t len,
                                   hsy_error *err);

typedef struct hsy_budget {
    uint32_t day;
    uint64_t spent_day, spent_lifetime; /* nano-epsilon */
    uint64_t cap_day, cap_lifetime;
} hsy_budget;

/* Of one source, or of all if source is NULL. HSY_E_UNKNOWN if the policy has
 * no such source. */
HSY_API hsy_status hsy_device_budget(hsy_device *dev, const char *source,
                                     hsy_budget *out, hsy_error *err);

typedef enum hsy_consent {
    HSY_CONSENT_NONE = 0,    /* neither collect nor send; a new device */
    HSY_CONSENT_COLLECT = 1, /* answer and store */
    HSY_CONSENT_SEND = 2     /* and send */
} hsy_consent;

/* Durable. To HSY_CONSENT_NONE also deletes what is stored and not sent. */
HSY_API hsy_status hsy_device_consent_set(hsy_device *dev, hsy_consent consent,
                                          hsy_error *err);
HSY_API hsy_consent hsy_device_consent(const hsy_device *dev);

/* Delete everything kept about a source (NULL: all) but what was spent. Its
 * releases are closed for ever. */
HSY_API hsy_status hsy_device_forget(hsy_device *dev, const char *source,
                                     hsy_error *err);

#ifdef __cplusplus
}
#endif

#endif
