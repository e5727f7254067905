/* device.h - permanent answers, tasks and the device. */
#ifndef HEARSAY_DEVICE_H
#define HEARSAY_DEVICE_H

#include "hearsay/estimate.h"
#include "hearsay/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Permanent answers, weakened for each report ------------------------- */

/*
 * Who is asked the same every day must not toss fresh coins every day: the
 * noise averages out (docs/longitudinal.md). A device keeps one permanent
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
    const hsy_scheme *permanent, *report; /* must outlive this */
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

/* The permanent answer of a key: report_bytes of the permanent scheme. The
 * secret coins are the key's own; the published ones begin as `own` did, for
 * every key. On failure answer is zeroed. */
HSY_API hsy_status hsy_permanent_answer(const hsy_permanent *c, uint8_t *answer,
                                        uint64_t key, hsy_coins *coins);

/* One report from a permanent answer, with coins of its own. On failure report
 * is zeroed. */
HSY_API hsy_status hsy_permanent_report(const hsy_permanent *c, uint8_t *report,
                                        const uint8_t *answer, hsy_rng *secret);

/* What both steps cost and do. Of two-level mechanisms and bits alike: the
 * chance that a step leaves on the right value, and on one that is wrong. */
typedef struct hsy_permanent_info {
    double p1, q1;             /* the permanent step */
    double p2, q2;             /* the step of each report */
    double epsilon_report;     /* of the integers: one report */
    double epsilon_permanent;  /* any number of reports on one key */
    uint64_t keys;             /* that there can be, 0 if more than 2^63 */
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

#define HSY_SHUFFLERS_MAX 8u
#define HSY_SEAL_KEY 32           /* X25519, a public key */
#define HSY_SEAL_LAYER 52u        /* bytes that a layer of sealing adds */
#define HSY_STATEMENT_WIRE 256    /* bytes of a shuffler's statement */
#define HSY_STATEMENT_SIGNED 192u /* of them before the signature */
#define HSY_OPERATOR_MAX 48u      /* bytes of an operator's name */
#define HSY_RELAY_MAX 1024u       /* bytes of a relay's URL */
#define HSY_REQUEST_MIN 512u
#define HSY_REQUEST_MAX (1u << 21)
#define HSY_REQUEST_ROOM 192u /* of a request, beside its upload */

/* Who sees a report beside its device: the collector alone, or first shufflers
 * that each take off a layer of sealing and pass on whole batches in an order
 * drawn at random, without ids and times. */
typedef enum hsy_model {
    HSY_MODEL_LOCAL = 0,
    HSY_MODEL_SHUFFLED = 1
} hsy_model;

#define HSY_TASK_RELAY 1u /* flags: by the relay or not at all */

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

    uint32_t model; /* hsy_model */
    uint32_t flags; /* HSY_TASK_RELAY */
    /* HSY_MODEL_SHUFFLED; of other tasks they are 0 and NULL. */
    uint32_t shufflers; /* 1 to HSY_SHUFFLERS_MAX, one after the other */
    uint32_t min_batch; /* fewer uploads are not passed on */
    uint32_t max_wait;  /* days that too few wait for more; then they are
                           erased */
    uint32_t close_after_seconds; /* after its day a batch is closed */
    hsy_ratio assume_honest;      /* share of a batch that are real reports of
                                     devices that do not lie */
    hsy_ratio delta;
    uint64_t nano_central; /* of a report in the smallest batch, with delta:
                              what the document's maker has worked out */
    const uint8_t
        *statements; /* shufflers times HSY_STATEMENT_WIRE, in order */
    /* HSY_SEAL_KEY bytes, that the innermost layer is sealed for. Another one,
     * or another of a shuffler to seal for, is another release. */
    const uint8_t *collector_key;
} hsy_task;

/* What a shuffler says and signs about itself: with these keys it shuffles this
 * task, and passes on no batch of fewer than min_batch. */
typedef struct hsy_statement {
    char task[HSY_TASK_ID + 1];
    uint32_t release;
    uint32_t place, of; /* from 1 on, of so many: the first opens first */
    uint32_t min_batch;
    uint32_t max_wait;
    uint32_t close_after_seconds;
    uint32_t from, until; /* its first day, and the day after its last */
    uint8_t
        sign_key[HSY_SIGN_KEY]; /* of the shuffler: signs this and batches */
    uint8_t seal_key[HSY_SEAL_KEY];
    char operated_by[HSY_OPERATOR_MAX + 1]; /* one line of UTF-8 */
    uint8_t signature[HSY_SIGNATURE];       /* of the wire's first
                                               HSY_STATEMENT_SIGNED bytes */
} hsy_statement;

/* One canonical encoding. The signature is neither made nor checked. */
HSY_API hsy_status hsy_statement_encode(uint8_t wire[HSY_STATEMENT_WIRE],
                                        const hsy_statement *statement,
                                        hsy_error *err);
HSY_API hsy_status hsy_statement_decode(hsy_statement *statement,
                                        const uint8_t wire[HSY_STATEMENT_WIRE],
                                        hsy_error *err);

/* The slot and the round of it that an upload of this epoch is of: delays are
 * shorter than a round, so there is one. reports is not written, each is sends.
 * HSY_E_RANGE if no round of the task has ended by then. */
HSY_API hsy_status hsy_task_round(hsy_round *out, const hsy_task *task,
                                  uint32_t epoch, hsy_error *err);

#define HSY_GATEWAY_KEYS 2u

/* Whom devices reach a collector through, and the keys they seal requests for.
 */
typedef struct hsy_parties {
    uint32_t request_bytes;  /* every sealed request has so many, a power of
                                two; 0: there is no gateway */
    uint32_t response_bytes; /* and every sealed answer */
    uint32_t gateway_keys;   /* how many, at most HSY_GATEWAY_KEYS */
    struct hsy_gateway_key {
        uint8_t id;
        uint8_t key[HSY_SEAL_KEY];
    } gateway[HSY_GATEWAY_KEYS];
    const char *relay; /* URL, not terminated */
    size_t relay_len;  /* 0: none */
} hsy_parties;

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
    const hsy_parties *parties; /* for encode, NULL: none */
} hsy_document;

/* Write a document without its signature; *len is what it takes, also if out is
 * NULL. version, issued, expires, next_key, parties are read of doc. Where
 * there are no parties, shufflers or flags it is of format 1. HSY_E_RANGE with
 * the task's number in err->at, its field in err->field. */
HSY_API hsy_status hsy_document_encode(const hsy_document *doc, uint8_t *out,
                                       size_t room, size_t *len,
                                       const hsy_task *tasks, size_t n,
                                       hsy_error *err);

/* Read the frame of a document, signature included but not checked; it keeps
 * bytes. Every task is checked as far as its own fields go. */
HSY_API hsy_status hsy_document_open(hsy_document *doc, const uint8_t *bytes,
                                     size_t len, hsy_error *err);

/* Task i < doc->tasks of an open document; its pointers lead into the bytes. */
HSY_API void hsy_document_task(const hsy_document *doc, hsy_task *task,
                               uint32_t i);

/* The parties of an open document, all zeros if it has none; relay leads into
 * the bytes. */
HSY_API void hsy_document_parties(const hsy_document *doc,
                                  hsy_parties *parties);

/*
 * A task with its schemes resolved, in the caller's memory, suitably aligned
 * (as malloc aligns). What answers are charged under.
 */
typedef struct hsy_release hsy_release;

HSY_API size_t hsy_release_size(const hsy_task *task);
HSY_API hsy_status hsy_release_init(hsy_release *r, const hsy_task *task,
                                    hsy_error *err);

typedef struct hsy_release_info {
    hsy_task task; /* question, labels, wires, statements and key are NULL */
    const hsy_scheme *scheme;    /* of a report */
    const hsy_scheme *permanent; /* NULL: fresh coins each slot */
    const hsy_permanent *memo;   /* NULL with it */
    uint64_t slots;              /* from start to end */
    uint64_t rounds;             /* of a slot */
    uint64_t nano_report;        /* one report */
    uint64_t nano_slot;  /* charged for a slot, whatever the truth does */
    uint64_t nano_task;  /* slots times that, at most 2^64 - 1 */
    size_t upload_bytes; /* header and report, sealed if shuffled */
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
HSY_API size_t hsy_release_label(const hsy_release *r, char *out, size_t room,
                                 const hsy_task *task);

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
    HSY_LOG_TASKS = 1,   /* a document was taken */
    HSY_LOG_CHARGE = 2,  /* the source was charged for a slot */
    HSY_LOG_ANSWER = 3,  /* an answer was noised and stored */
    HSY_LOG_SILENT = 4,  /* not answered: state says why */
    HSY_LOG_UPLOAD = 5,  /* these bytes were handed out for sending */
    HSY_LOG_SENT = 6,    /* the collector has acknowledged them */
    HSY_LOG_DROPPED = 7, /* stored, and not sent in time */
    HSY_LOG_CONSENT = 8, /* the person has decided anew */
    HSY_LOG_FORGET = 9,
    HSY_LOG_REFUSED = 10 /* the collector will not take them */
} hsy_log_kind;

typedef struct hsy_log_entry {
    uint32_t kind;
    uint32_t day;
    char task[HSY_TASK_ID + 1]; /* empty where none is concerned */
    char source[HSY_SOURCE_MAX + 1];
    uint32_t release;
    uint64_t slot, round;
    union {
        uint64_t version;      /* TASKS: of the document */
        uint64_t nano_charged; /* CHARGE */
        uint32_t state;        /* SILENT: hsy_answer_state */
        struct {
            const uint8_t *bytes;
            size_t len;
        } upload;         /* UPLOAD: what leaves */
        uint32_t consent; /* CONSENT: hsy_consent */
        uint32_t status;  /* REFUSED: HTTP's */
    } u;                  /* of other kinds zero */
} hsy_log_entry;

/* What a sealed upload is bound to, and for whom it is sealed. */
typedef struct hsy_envelope {
    const char *task; /* HSY_TASK_ID bytes, zero-padded */
    uint32_t release;
    const uint8_t *digest; /* HSY_DIGEST bytes: of the scheme */
    uint32_t epoch;
    const uint8_t *id;     /* 16 bytes */
    const uint8_t *keys;   /* layers times HSY_SEAL_KEY, outermost first */
    size_t layers;         /* shufflers, and the collector */
    const uint8_t *seed;   /* 64 secret bytes, all the layers' coins */
    uint8_t kind;          /* HSY_UPLOAD_REPORTS or HSY_UPLOAD_NULL */
    const uint8_t *report; /* packed */
    size_t report_len;
} hsy_envelope;

/* The world behind a device. libhearsay-host has the real one
 * (hearsay/host.h). */
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

    /* Seal an envelope in layers, each bound to all the keys
     * (docs/formats.md, 5): len is HSY_SEAL_LAYER for each, 1 and the report's.
     * The same envelope gives the same bytes. NULL: shuffled tasks
     * are not admitted. A program compiled before this was there has a size
     * without it. */
    hsy_status (*seal)(void *ctx, uint8_t *out, size_t len,
                       const hsy_envelope *envelope);
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
    /* What every task must have, or it is not admitted; nothing from outside
     * lowers it. A program compiled before these were there has a size without
     * them, and demands none of it. */
    uint64_t min_batch;
    uint32_t min_shufflers;
    uint32_t flags;               /* HSY_POLICY_ */
    const uint8_t *shuffler_keys; /* HSY_SIGN_KEY bytes each: one of the task's
                                     shufflers signs with one of these */
    size_t nshuffler_keys;        /* 0: any shufflers, and none */
} hsy_policy;

#define HSY_POLICY_RELAY 1u   /* as if every task had HSY_TASK_RELAY */
#define HSY_POLICY_PIN_ALL 2u /* all its shufflers are of shuffler_keys */

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
 * answered until a person has looked; HSY_E_VERSION if another version of the
 * program wrote it. */
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
HSY_API hsy_status hsy_device_answer(hsy_device *dev, hsy_answer_state *state,
                                     const hsy_release *r,
                                     const hsy_truth *truth, hsy_error *err);

/* What an answer has to write. */
typedef struct hsy_device_write {
    const uint8_t *bytes; /* they stay in the device */
    size_t len;           /* 0: nothing */
    uint64_t number;      /* for the anchor */
} hsy_device_write;

/*
 * The same for a program that must not wait: begin says what is to be written;
 * the program stores the bytes in HSY_FILE_A, then in HSY_FILE_B, raises the
 * anchor to the number if there is one, and ends with how that went. Where
 * nothing is to be written there is nothing to end. In between every other call
 * is HSY_E_BUSY.
 */
HSY_API hsy_status hsy_device_begin(hsy_device *dev, hsy_answer_state *state,
                                    hsy_device_write *write,
                                    const hsy_release *r,
                                    const hsy_truth *truth, hsy_error *err);
HSY_API hsy_status hsy_device_end(hsy_device *dev, hsy_status stored,
                                  hsy_error *err);

/*
 * The next upload that is due, of any of these releases: header and payload, as
 * many as upload_bytes of its release. HSY_E_END if none is. The same bytes
 * come again until hsy_device_sent says that they have arrived. Every round of
 * every release gives exactly `sends` uploads; where there is no answer, null
 * ones. Nothing comes without HSY_CONSENT_SEND. What has come once keeps its
 * epoch, whatever a later document says: before the first upload of a round
 * comes that is written, and where a round takes more answers than it sends,
 * that it takes no more.
 *
 * How an upload travels is not this call's business: a program that sends by
 * itself must send what has HSY_TASK_RELAY, or all under HSY_POLICY_RELAY,
 * sealed through the relay and not at all otherwise. hsy_client_next
 * (hearsay/host.h) hands out none of these.
 */
HSY_API hsy_status hsy_device_next(hsy_device *dev, uint8_t *upload,
                                   size_t room, size_t *len,
                                   const hsy_release *const *releases, size_t n,
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
HSY_API hsy_status hsy_device_budget(hsy_device *dev, hsy_budget *out,
                                     const char *source, hsy_error *err);

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
