/* base.h - status, errors, coins, processor. */
#ifndef HEARSAY_BASE_H
#define HEARSAY_BASE_H

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
    HSY_E_REFUSED = 10,   /* valid, but not allowed in this state */
    HSY_E_END = 11,       /* end of input at a record boundary; nothing due */
    HSY_E_BUSY = 12,      /* locked by another writer; try again */
    HSY_E_DAMAGED = 13,   /* a device's state is missing, corrupt, or restored
                             from an old copy */
    HSY_E_POLICY = 14,    /* the policy does not allow it */
    HSY_E_SIGNATURE = 15, /* not signed by the key in force */
    HSY_E_OLD = 16,       /* an older version, or one that has expired */
    HSY_E_FULL = 17,      /* no room left; nothing was changed */
    HSY_E_VERSION = 18    /* written by another version of the program */
} hsy_status;

/* Fields that an error can be about: a field of a struct, a key of a file, a
 * parameter of a mechanism. hsy_field_name gives the name. The numbers are not
 * ABI: compare with the constants, print the names. */
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
    X(FILTER_BITS, "filter-bits")                                              \
    X(FIRST, "first")                                                          \
    X(FORMAT, "format")                                                        \
    X(FRAGMENT_BITS, "fragment-bits")                                          \
    X(FRAGMENTS, "fragments")                                                  \
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
    X(PIECE_BITS, "piece-bits")                                                \
    X(POLICY, "policy")                                                        \
    X(POOL_BITS, "pool-bits")                                                  \
    X(POOL_SEED, "pool-seed")                                                  \
    X(POSITION, "position")                                                    \
    X(POST, "post")                                                            \
    X(POWER, "power")                                                          \
    X(PREFIX, "prefix")                                                        \
    X(PREFIX_BITS, "prefix-bits")                                              \
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
    X(SAMPLED_BITS, "sampled-bits")                                            \
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
    X(SIZES, "sizes")                                                          \
    X(SLOT_DAYS, "slot_days")                                                  \
    X(SOURCE, "source")                                                        \
    X(SOURCES, "sources")                                                      \
    X(SPENT, "spent")                                                          \
    X(STATE, "state")                                                          \
    X(STEP, "step")                                                            \
    X(STRATA, "strata")                                                        \
    X(SUBSET, "subset")                                                        \
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
    X(WEIGHT, "weight")                                                        \
    X(WIDTH, "width")                                                          \
    X(WINDOW, "window")                                                        \
    X(WORD_SHARE, "word-share")                                                \
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
    X(MODEL, "model")                                                          \
    X(FLAGS, "flags")                                                          \
    X(SHUFFLERS, "shufflers")                                                  \
    X(MIN_BATCH, "min_batch")                                                  \
    X(MAX_WAIT, "max_wait")                                                    \
    X(CLOSE_AFTER, "close_after")                                              \
    X(ASSUME_HONEST, "assume_honest")                                          \
    X(EPSILON_CENTRAL, "epsilon_central")                                      \
    X(STATEMENT, "statement")                                                  \
    X(PLACE, "place")                                                          \
    X(OPERATOR, "operator")                                                    \
    X(RELAY, "relay")                                                          \
    X(GATEWAY_KEYS, "gateway_keys")                                            \
    X(COLLECTOR_KEY, "collector_key")                                          \
    X(REQUEST_BYTES, "request_bytes")                                          \
    X(RESPONSE_BYTES, "response_bytes")                                        \
    X(DOCUMENT_BYTES, "document_bytes")                                        \
    X(SEAL, "seal")                                                            \
    X(SEAL_KEY, "seal_key")                                                    \
    X(SIGN_KEY, "sign_key")                                                    \
    X(MIN_SHUFFLERS, "min_shufflers")                                          \
    X(SHUFFLER_KEYS, "shuffler_keys")                                          \
    /* fields end */

#define HSY_FIELD_CONSTANT(id, name) HSY_FIELD_##id,
enum hsy_field { HSY_FIELDS(HSY_FIELD_CONSTANT) HSY_FIELDS_END };

/* First number that programs may use for fields of their own. */
#define HSY_FIELD_OWN 4096u

/* Unit that the position of an error is counted in. */
typedef enum hsy_unit {
    HSY_UNIT_NONE = 0,
    HSY_UNIT_LINE = 1,
    HSY_UNIT_RECORD = 2,
    HSY_UNIT_REPORT = 3,
    HSY_UNIT_UPLOAD = 4,
    HSY_UNIT_TASK = 5,
    HSY_UNIT_VALUE = 6, /* a value of a list */
    HSY_UNIT_CANDIDATE = 7,
    HSY_UNIT_PREFIX = 8,
    HSY_UNIT_COHORT = 9,
    HSY_UNIT_COLUMN = 10, /* a column of a matrix */
    HSY_UNIT_CHARACTER = 11,
    HSY_UNIT_SAMPLE = 12, /* a sample of a survey */
    HSY_UNIT_ROUND = 13,
    HSY_UNIT_RANK = 14,
    HSY_UNIT_TARGET = 15,
    HSY_UNIT_SOURCE = 16,
    HSY_UNIT_SERIES = 17, /* a series of a figure */
    HSY_UNIT_RUN = 18,    /* a file of ids in a collector's data directory */
    HSY_UNIT_GROUP = 19   /* a group of people in a search */
} hsy_unit;

/* Meaning of the limit of an error. */
typedef enum hsy_limit_kind {
    HSY_LIMIT_NONE = 0,    /* no limit */
    HSY_LIMIT_COUNT = 1,   /* the bound that was exceeded */
    HSY_LIMIT_STATED = 2,  /* as COUNT, but msg already contains the number: do
                              not print it again */
    HSY_LIMIT_NANO = 3,    /* as COUNT, in nano-epsilon */
    HSY_LIMIT_DAY = 4,     /* a day since 1970-01-01 */
    HSY_LIMIT_END = 5,     /* the day after the last allowed one */
    HSY_LIMIT_VERSION = 6, /* version of a document or format */
    HSY_LIMIT_PROCESS = 7, /* id of the process that holds the lock */
    HSY_LIMIT_OTHER = 8,   /* position of the other item, in the unit of `at` */
    HSY_LIMIT_WRITES = 9   /* writes of a device's state */
} hsy_limit_kind;

/* Details of a failure. msg is a string literal, or NULL. No member ever holds
 * a truth. */
typedef struct hsy_error {
    hsy_status status;
    const char *msg;
    uint32_t field; /* hsy_field, or a program's own number */
    uint32_t unit;  /* hsy_unit of `at` */
    uint64_t at;    /* position of the line, report or task, from 1; 0: none */
    uint32_t kind;  /* hsy_limit_kind of `limit` */
    uint64_t limit;
} hsy_error;

/* Returns the name of a field; "" for HSY_FIELD_NONE and a program's own. */
HSY_API const char *hsy_field_name(uint32_t field);

/* Returns the field with this name; HSY_FIELD_NONE if there is none. */
HSY_API uint32_t hsy_field_find(const char *name);

/* Returns the name of a unit ("line"); "" for HSY_UNIT_NONE. */
HSY_API const char *hsy_unit_name(uint32_t unit);

/* Returns a short text for a status, never NULL. */
HSY_API const char *hsy_strstatus(hsy_status status);

/* ---- Coins: random bytes ------------------------------------------------- */

/* A source of random bytes. fill must write all len bytes or return
 * HSY_E_ENTROPY. */
typedef struct hsy_rng {
    hsy_status (*fill)(void *ctx, void *buf, size_t len);
    void *ctx;
} hsy_rng;

/* Coins are the random bytes of a report. hsy_randomize draws them from two
 * sources. Bytes from `published` may appear in the report (a hash seed). Bytes
 * from `secret` never leave the device. The two must be independent, or a
 * published seed would reveal the secret bytes: functions return HSY_E_RANGE if
 * both have the same fill and ctx. */
typedef struct hsy_coins {
    hsy_rng secret;
    hsy_rng published;
} hsy_coins;

/* Fresh kernel randomness, for programs that answer once. Each draw calls
 * getrandom(2); a large draw expands 32 such bytes with ChaCha20. Nothing is
 * kept between draws, so a forked child or a copied memory image repeats
 * nothing. Do not move the struct. */
typedef struct hsy_entropy {
    struct hsy_entropy_role {
        uint32_t open;
    } secret, published;
} hsy_entropy;

HSY_API void hsy_entropy_init(hsy_entropy *e);
HSY_API void hsy_entropy_clear(hsy_entropy *e);

/* Returns coins that point to e: e must outlive them. After hsy_entropy_clear
 * they return HSY_E_ENTROPY. */
HSY_API hsy_coins hsy_entropy_coins(hsy_entropy *e);

/* A ChaCha20 key stream [RFC8439], with a 64-bit counter. The fields are
 * private. */
typedef struct hsy_stream {
    uint32_t state[16];
    uint8_t block[1024];
    size_t left;       /* unread bytes at the end of block */
    uint32_t cpu;      /* hsy_cpu implementation in use */
    uint32_t simulate; /* nonzero: opened by hsy_stream_seed */
} hsy_stream;

/* Inputs that a device's coins are derived from. Each field is encoded with its
 * length, so no two contexts share an encoding. */
typedef struct hsy_context {
    const char *purpose; /* domain-separation string of the program,
                            NUL-terminated */
    const void *source;  /* name of the private data */
    size_t source_len;
    const uint8_t *digest; /* digest of the scheme, HSY_DIGEST bytes */
    uint64_t slot;         /* slot of the task (hsy_task), or another number */
    uint64_t truth;        /* code of the truth, by hsy_truth_code */
} hsy_context;

#define HSY_KEY 32
#define HSY_DIGEST 32

/* A device's coins: one stream for each role. Do not move the struct. */
typedef struct hsy_keyed {
    hsy_stream secret, published;
} hsy_keyed;

/* Open the coins of one context under a device's secret key. Equal contexts
 * give equal coins. The secret and the published stream are independent. */
HSY_API void hsy_keyed_open(hsy_keyed *streams, const uint8_t key[HSY_KEY],
                            const hsy_context *context);
HSY_API void hsy_keyed_clear(hsy_keyed *streams);

/* Returns coins that point to streams: streams must outlive them. */
HSY_API hsy_coins hsy_keyed_coins(hsy_keyed *streams);

/* Returns the stream as a source of bytes. It points to st, and fails only
 * after hsy_stream_clear. */
HSY_API hsy_rng hsy_stream_rng(hsy_stream *st);
HSY_API void hsy_stream_clear(hsy_stream *st);

/* ---- Processor ----------------------------------------------------------- */

/* Implementations of the inner loops, slowest first. All give the same results,
 * bit for bit. */
typedef enum hsy_cpu {
    HSY_CPU_PLAIN = 0,    /* plain C: the reference implementation */
    HSY_CPU_PORTABLE = 1, /* vectors of 16 bytes: SSE2, NEON, wasm */
    HSY_CPU_AVX2 = 2,
    HSY_CPU_AVX512 = 3
} hsy_cpu;

/* hsy_cpu_best returns the fastest implementation that this machine can run.
 * hsy_cpu_has returns true if the machine can run `level`. */
HSY_API hsy_cpu hsy_cpu_best(void);
HSY_API bool hsy_cpu_has(hsy_cpu level);
HSY_API const char *hsy_cpu_name(hsy_cpu level);

/* Set the implementation that a stream uses. Returns HSY_E_UNKNOWN if the
 * machine cannot run it. */
HSY_API hsy_status hsy_stream_cpu(hsy_stream *st, hsy_cpu level);

#ifdef __cplusplus
}
#endif

#endif
