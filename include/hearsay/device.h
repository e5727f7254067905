/* device.h - permanent answers, tasks and the device. */
#ifndef HEARSAY_DEVICE_H
#define HEARSAY_DEVICE_H

#include "hearsay/estimate.h"
#include "hearsay/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Permanent answers (memoization): docs/longitudinal.md -------------- */

/*
 * Fresh noise every day averages out (docs/longitudinal.md). So a device keeps
 * one permanent answer, a report of the scheme `permanent`. It makes every
 * report from that answer by a second step of noise. A single report has the
 * distribution of the scheme `report`, within 2^-64 per output or bit; its
 * epsilon is never exceeded. Any number of reports made from one permanent
 * answer reveal no more than that answer.
 *
 * The two schemes must agree in everything but epsilon. For olh they must also
 * agree in g, which must be set in the permanent one. Mechanisms: rr (by
 * epsilon), grr, sue, oue, olh, blh, onebit, dbitflip. RAPPOR has both steps in
 * one scheme: pass that scheme as both arguments.
 */
typedef struct hsy_permanent {
    const hsy_scheme *permanent, *report; /* must outlive this */
    uint64_t grain; /* onebit: numbers are rounded to lo + multiples of this */
    uint64_t step;  /* private: P(noise) times 2^64, rounded up */
} hsy_permanent;

/* Pair two schemes. grain: for onebit it must divide hi - lo (in units of
 * 10^-scale), 0 means hi - lo; for others it must be 0. Returns HSY_E_MISMATCH
 * if the schemes differ in more than epsilon, HSY_E_UNKNOWN for other
 * mechanisms. Returns HSY_E_RANGE if permanent's epsilon is below report's, or
 * for a pool of more than 2^16 seeds: a permanent seed from a larger pool would
 * identify the device. */
HSY_API hsy_status hsy_permanent_init(hsy_permanent *c,
                                      const hsy_scheme *permanent,
                                      const hsy_scheme *report, uint64_t grain,
                                      hsy_error *err);

/*
 * Compute the key of a truth's permanent answer: the code itself, its hash
 * (olh, blh), its index in the device's public set of buckets (dbitflip), or
 * the grid point it is rounded to (onebit: x + alpha rounded down to the grid,
 * with the device's offset alpha uniform in [0, grain)). Codes with the same
 * key share a permanent answer.
 *
 * `own` are the device's coins for this question; they must not depend on the
 * truth. published determines the hash function or set, secret determines
 * alpha. The run time does not depend on code.
 */
HSY_API hsy_status hsy_permanent_key(const hsy_permanent *c, uint64_t *key,
                                     uint64_t code, hsy_coins *own);

/* Make the permanent answer of a key: report_bytes bytes of the permanent
 * scheme. The secret coins must be the key's own. The published coins must be
 * the stream of own.published again from its start, for every key. On failure
 * answer is zeroed. */
HSY_API hsy_status hsy_permanent_answer(const hsy_permanent *c, uint8_t *answer,
                                        uint64_t key, hsy_coins *coins);

/* Make one report from a permanent answer, with its own coins. On failure
 * report is zeroed. */
HSY_API hsy_status hsy_permanent_report(const hsy_permanent *c, uint8_t *report,
                                        const uint8_t *answer, hsy_rng *secret);

/* Costs and probabilities of both steps. p is the probability of reporting the
 * true value, q that of a given other one; with unary encoding they are those
 * of a 1 for a bit that is 1, and for one that is 0. */
typedef struct hsy_permanent_info {
    double p1, q1;             /* the permanent step */
    double p2, q2;             /* the step of each report */
    double epsilon_report;     /* one report, from the integers in use */
    double epsilon_permanent;  /* any number of reports on one key */
    uint64_t keys;             /* number of keys; 0: more than 2^63 */
    double epsilon_all_values; /* keys times epsilon_permanent; infinite if keys
                                  is 0 */
} hsy_permanent_info;

HSY_API void hsy_permanent_describe(const hsy_permanent *c,
                                    hsy_permanent_info *info);

/* Returns the exact privacy loss of `reports` reports on one key
 * (docs/theory.md, 4.1). */
HSY_API double hsy_permanent_epsilon(const hsy_permanent *c, uint64_t reports);

/* Output perturbation [DKY17]: compute the epsilon of a report if a permanent
 * onebit or rr answer at nano_permanent is flipped with probability gamma.
 * Rounded down by at most 2 nano-epsilon. Returns HSY_E_RANGE unless 0 <= gamma
 * < 1/2, or if the result is below HSY_EPSILON_MIN. */
HSY_API hsy_status hsy_permanent_gamma(uint64_t *nano_report,
                                       uint64_t nano_permanent,
                                       hsy_ratio gamma);

/* ---- Tasks: docs/tasks.md ------------------------------------------------ */

#define HSY_SOURCE_MAX 64u     /* bytes of a source's name */
#define HSY_QUESTION_MAX 1024u /* bytes of a question's text */
#define HSY_TASKS_MAX 256u     /* tasks of a document */
#define HSY_DOCUMENT_MAX (1u << 27)
#define HSY_CHANGES_MAX 16u /* permanent answers per slot */
#define HSY_ANSWERS_MAX 64u /* answers per slot */
#define HSY_SIGNATURE 64
#define HSY_SIGN_KEY 32            /* a public key */
#define HSY_TASK_CLOSED UINT32_MAX /* hsy_task.other: there is no "other" */

#define HSY_SHUFFLERS_MAX 8u
#define HSY_SEAL_KEY 32           /* X25519, a public key */
#define HSY_SEAL_LAYER 52u        /* bytes that a layer of sealing adds */
#define HSY_STATEMENT_WIRE 512    /* bytes of a shuffler's statement */
#define HSY_STATEMENT_SIGNED 448u /* bytes before the signature */
#define HSY_STATEMENT_GATEWAYS 4u /* gateway keys in a statement */
#define HSY_OPERATOR_MAX 48u      /* bytes of an operator's name */
#define HSY_RELAY_MAX 1024u       /* bytes of a relay's URL */
#define HSY_REQUEST_MIN 512u
#define HSY_REQUEST_MAX (1u << 21)
#define HSY_REQUEST_ROOM 192u   /* bytes that a sealed request adds at most */
#define HSY_RESPONSE_BYTES 256u /* of every answer but a document */
#define HSY_DOCUMENT_BYTES_MIN (1u << 16) /* of a sealed document */
#define HSY_DOCUMENT_BYTES_MAX (1u << 20)

/* Trust models of a task. LOCAL: the collector sees each report. SHUFFLED:
 * shufflers each remove a layer of sealing and pass on whole batches in random
 * order, without ids and times. */
typedef enum hsy_model {
    HSY_MODEL_LOCAL = 0,
    HSY_MODEL_SHUFFLED = 1
} hsy_model;

#define HSY_TASK_RELAY 1u /* flags: send through the relay or not at all */

/*
 * A task of a document. Days are UTC days since 1970-01-01.
 *
 * Time is divided into slots of slot_days from start on, and slots into rounds
 * of round_days. In each round a device answers at most once (or `answers`
 * times). After the round it sends exactly `sends` uploads, whatever happened.
 * With one round in a slot every answer has fresh coins. With several, a
 * permanent answer is kept for the slot, and each round's report is made from
 * it.
 */
typedef struct hsy_task {
    char id[HSY_TASK_ID + 1];
    uint32_t release;                /* from 1 */
    char source[HSY_SOURCE_MAX + 1]; /* NUL-terminated, [a-z0-9._-] */
    const char *question; /* text for the person, UTF-8, not terminated */
    size_t question_len;
    uint32_t start, end;      /* the first day, and the day after the last */
    uint32_t slot_days;       /* 0: one slot from start to end */
    uint32_t round_days;      /* 0: one round in a slot; else it divides
                                 slot_days (if that is 0, end - start) */
    uint32_t max_changes;     /* most permanent answers per slot, at least 1;
                                 further truths reuse the oldest answer */
    uint32_t answers;         /* answers stored in a round, at least 1 */
    uint32_t sends;           /* answers sent per round, 1 to `answers`, drawn
                                 at random */
    hsy_ratio sample;         /* share of devices that take part in a slot */
    uint32_t delay_seconds;   /* longest random delay after a round */
    uint32_t grace_days;      /* days after which an unsent upload is dropped */
    uint32_t min_reports;     /* fewest reports for an estimate */
    uint32_t other;           /* VALUES: index of the value "other", or
                                 HSY_TASK_CLOSED */
    uint64_t grain;           /* as for hsy_permanent_init */
    const uint8_t *scheme;    /* scheme of a report, HSY_SCHEME_WIRE bytes */
    const uint8_t *permanent; /* permanent scheme, HSY_SCHEME_WIRE bytes; NULL:
                                 fresh coins */
    const uint8_t *labels;
    size_t labels_len;

    uint32_t model; /* hsy_model */
    uint32_t flags; /* HSY_TASK_RELAY */
    /* HSY_MODEL_SHUFFLED only; else 0 and NULL. */
    uint32_t shufflers; /* number of shufflers, 1 to HSY_SHUFFLERS_MAX */
    uint32_t min_batch; /* fewest uploads of a batch */
    uint32_t max_wait;  /* days that a smaller batch waits; then it is erased */
    uint32_t close_after_seconds; /* delay after the day until a batch closes */
    hsy_ratio assume_honest;      /* assumed share of honest reports in a
                                     batch */
    hsy_ratio delta;
    uint64_t nano_central; /* central epsilon of a report in the smallest batch,
                              with delta, as computed by the document's maker */
    const uint8_t
        *statements; /* shufflers times HSY_STATEMENT_WIRE, in order */
    /* Key of the innermost layer, HSY_SEAL_KEY bytes. Changing this key, or a
     * shuffler's sealing key, makes another release. */
    const uint8_t *collector_key;
} hsy_task;

/* Returns the number of honest devices' reports in the smallest batch of a
 * shuffled task: assume_honest x sample x min_batch, rounded down; 0 of other
 * tasks. hsy_policy.min_batch is compared with it. Not in a small client. */
HSY_API uint64_t hsy_task_batch_reports(const hsy_task *task);

/* A shuffler's signed statement: it shuffles this task with these keys, and
 * passes on no batch of fewer than min_batch. */
typedef struct hsy_statement {
    char task[HSY_TASK_ID + 1];
    uint32_t release;
    uint32_t place, of; /* position in the chain, 1 to `of`; shuffler 1 removes
                           the outermost layer */
    uint32_t min_batch;
    uint32_t max_wait;
    uint32_t close_after_seconds;
    uint32_t from, until;           /* first day, and the day after the last */
    uint8_t sign_key[HSY_SIGN_KEY]; /* verifies this statement and batches */
    uint8_t seal_key[HSY_SEAL_KEY];
    char operated_by[HSY_OPERATOR_MAX + 1]; /* one line of UTF-8 */
    uint32_t gateway_keys; /* number of keys of its gateway, at most
                              HSY_STATEMENT_GATEWAYS */
    uint8_t gateway[HSY_STATEMENT_GATEWAYS][HSY_SEAL_KEY];
    uint8_t signature[HSY_SIGNATURE]; /* over the first
                                         HSY_STATEMENT_SIGNED bytes */
} hsy_statement;

/* Encode or decode a statement: one canonical encoding. The signature is
 * neither made nor checked. Extensions that this version does not know are
 * ignored if they say that they may be, else the statement is refused. */
HSY_API hsy_status hsy_statement_encode(uint8_t wire[HSY_STATEMENT_WIRE],
                                        const hsy_statement *statement,
                                        hsy_error *err);
HSY_API hsy_status hsy_statement_decode(hsy_statement *statement,
                                        const uint8_t wire[HSY_STATEMENT_WIRE],
                                        hsy_error *err);

/* Compute the slot and round that an upload of this epoch belongs to. It is
 * unique: delays are shorter than a round. Sets out->each to task->sends; does
 * not write out->reports. Returns HSY_E_RANGE if no round of the task has ended
 * by then. */
HSY_API hsy_status hsy_task_round(hsy_round *out, const hsy_task *task,
                                  uint32_t epoch, hsy_error *err);

#define HSY_GATEWAY_KEYS 2u

/* The relay that devices send through, and the gateway keys they seal for. */
typedef struct hsy_parties {
    uint32_t request_bytes;  /* length of every sealed request, a power of two;
                                0: no gateway */
    uint32_t response_bytes; /* HSY_RESPONSE_BYTES; 0: no gateway */
    uint32_t document_bytes; /* length of every sealed response that holds a
                                document, a power of two; 0: the gateway
                                gives none */
    uint32_t gateway_keys;   /* number of keys, at most HSY_GATEWAY_KEYS */
    struct hsy_gateway_key {
        uint8_t id;
        uint8_t key[HSY_SEAL_KEY];
    } gateway[HSY_GATEWAY_KEYS];
    const char *relay; /* URL, not terminated */
    size_t relay_len;  /* 0: none */
} hsy_parties;

/* All tasks of a collector, signed, in one canonical encoding. */
typedef struct hsy_document {
    uint64_t version; /* from 1; increases with every change */
    uint32_t issued;  /* day on which it was issued */
    uint32_t expires; /* day after the last on which devices accept it */
    uint32_t tasks;   /* number of tasks */
    uint8_t next_key[HSY_SIGN_KEY]; /* key that may also sign later versions, or
                                       zeros */
    const uint8_t *bytes;           /* whole document, signature last */
    size_t len;
    const hsy_parties *parties; /* for encoding; NULL: none */
} hsy_document;

/* Encode a document without its signature. *len is set to its size, also if out
 * is NULL. Reads version, issued, expires, next_key and parties of doc. Writes
 * format 1 if there are no parties, shufflers or flags, format 3 if the parties
 * have document_bytes. Returns HSY_E_RANGE with the task's number in err->at
 * and its field in err->field. */
HSY_API hsy_status hsy_document_encode(const hsy_document *doc, uint8_t *out,
                                       size_t room, size_t *len,
                                       const hsy_task *tasks, size_t n,
                                       hsy_error *err);

/* Open a document; doc points into bytes. The signature must be present but is
 * not verified. Checks the fields of every task, but not tasks against each
 * other. */
HSY_API hsy_status hsy_document_open(hsy_document *doc, const uint8_t *bytes,
                                     size_t len, hsy_error *err);

/* Read task i < doc->tasks of an open document. Its pointers point into
 * doc->bytes. */
HSY_API void hsy_document_task(const hsy_document *doc, hsy_task *task,
                               uint32_t i);

/*
 * Compute the terms of task i < doc->tasks: a digest of all that the document
 * says about who reports what, when and to whom (docs/formats.md, 5). Two
 * documents give a task the same terms only if they differ in texts and
 * min_reports at most, in this task and in every other one on its source. Every
 * layer of a sealed upload is bound to them. Not in a small client.
 */
HSY_API void hsy_document_terms(const hsy_document *doc,
                                uint8_t terms[HSY_DIGEST], uint32_t i);

/* Compute the digest that people and programs compare documents by: BLAKE2b-256
 * of all bytes, the signature included. Not in a small client. */
HSY_API void hsy_document_digest(const hsy_document *doc,
                                 uint8_t digest[HSY_DIGEST]);

/* Read the parties of an open document: zeros if it has none. relay points into
 * doc->bytes. */
HSY_API void hsy_document_parties(const hsy_document *doc,
                                  hsy_parties *parties);

/* A task with its schemes resolved; budget is charged per release. Stored in
 * the caller's memory, aligned as malloc does. */
typedef struct hsy_release hsy_release;

HSY_API size_t hsy_release_size(const hsy_task *task);
HSY_API hsy_status hsy_release_init(hsy_release *r, const hsy_task *task,
                                    hsy_error *err);

typedef struct hsy_release_info {
    hsy_task task; /* question, labels, schemes, statements and key are NULL */
    const hsy_scheme *scheme;    /* scheme of a report */
    const hsy_scheme *permanent; /* NULL: fresh coins */
    const hsy_permanent *memo;   /* NULL if permanent is NULL */
    uint64_t slots;              /* slots from start to end */
    uint64_t rounds;             /* rounds in a slot */
    uint64_t nano_report;        /* one report */
    uint64_t nano_slot;          /* charged for a slot, whatever the truth is */
    uint64_t nano_task;          /* slots times nano_slot, at most 2^64 - 1 */
    size_t upload_bytes;         /* header and report, sealed if shuffled */
    /* Identifies the question for coins and charges: permanent (or only)
     * scheme, grain, start, slots and rounds. Independent of the task's name,
     * so renaming neither redraws nor recharges. */
    uint8_t digest[HSY_DIGEST];
} hsy_release_info;

HSY_API void hsy_release_describe(const hsy_release *r, hsy_release_info *info);

/* Write the privacy label: a paragraph that tells the person what is asked,
 * what one and all answers can reveal, what is sent and when. UTF-8,
 * NUL-terminated, truncated to room. Returns the bytes of the whole text
 * without the NUL. task is read during the call only. Of a shuffled task that a
 * device admitted, the label has the digest of the document. */
HSY_API size_t hsy_release_label(const hsy_release *r, char *out, size_t room,
                                 const hsy_task *task);

/* State that this program proved the central epsilon of a shuffled task.
 * Without it the label calls that figure the collector's claim.
 * hsy_device_admit does the same with hsy_world.central. */
HSY_API void hsy_release_proved(hsy_release *r);

/* Returns the factor e^epsilon in tenths, as the privacy label prints it:
 * rounded up, to tenths below 100, else to whole numbers. Returns 0 above
 * HSY_EPSILON_MAX: nothing is promised. */
HSY_API uint64_t hsy_odds(uint64_t nano_epsilon);

/* ---- The device: docs/device.md ------------------------------------------ */

/* Files of a device. */
typedef enum hsy_file {
    HSY_FILE_KEY = 0, /* written once */
    HSY_FILE_A = 1,   /* two copies of the state */
    HSY_FILE_B = 2
} hsy_file;

/* Kinds of log entries for the person. No entry holds a truth. */
typedef enum hsy_log_kind {
    HSY_LOG_TASKS = 1,   /* a document was accepted */
    HSY_LOG_CHARGE = 2,  /* the source was charged for a slot */
    HSY_LOG_ANSWER = 3,  /* an answer was randomized and stored */
    HSY_LOG_SILENT = 4,  /* not answered; state says why */
    HSY_LOG_UPLOAD = 5,  /* bytes were handed out for sending */
    HSY_LOG_SENT = 6,    /* the collector acknowledged the upload */
    HSY_LOG_DROPPED = 7, /* a stored report was not sent in time */
    HSY_LOG_CONSENT = 8, /* the person changed the consent */
    HSY_LOG_FORGET = 9,
    HSY_LOG_REFUSED = 10, /* the collector refused the upload for good */
    HSY_LOG_WITHHELD = 11 /* a stored report was given under another promise
                             than the document makes, and is not sent */
} hsy_log_kind;

typedef struct hsy_log_entry {
    uint32_t kind;
    uint32_t day;
    char task[HSY_TASK_ID + 1]; /* empty if no task is concerned */
    char source[HSY_SOURCE_MAX + 1];
    uint32_t release;
    uint64_t slot, round;
    union {
        uint64_t version;      /* TASKS: version of the document */
        uint64_t nano_charged; /* CHARGE */
        uint32_t state;        /* SILENT: hsy_answer_state */
        struct {
            const uint8_t *bytes;
            size_t len;
        } upload;         /* UPLOAD: bytes handed out */
        uint32_t consent; /* CONSENT: hsy_consent */
        uint32_t status;  /* REFUSED: HTTP status */
    } u;                  /* zero for other kinds */
} hsy_log_entry;

/* Contents of a sealed upload, its binding and its keys. */
typedef struct hsy_envelope {
    const char *task; /* HSY_TASK_ID bytes, zero-padded */
    uint32_t release;
    const uint8_t *digest; /* digest of the scheme, HSY_DIGEST bytes */
    const uint8_t *terms;  /* hsy_document_terms, HSY_DIGEST bytes */
    uint32_t epoch;
    const uint8_t *id;     /* 16 bytes */
    const uint8_t *keys;   /* layers times HSY_SEAL_KEY, outermost first */
    size_t layers;         /* number of shufflers, plus 1 for the collector */
    const uint8_t *seed;   /* 64 secret bytes for the coins of all layers */
    uint8_t kind;          /* HSY_UPLOAD_REPORTS or HSY_UPLOAD_NULL */
    const uint8_t *report; /* packed */
    size_t report_len;
} hsy_envelope;

/* The system behind a device. libhearsay-host implements it (hearsay/host.h).
 */
typedef struct hsy_world {
    size_t size; /* sizeof(hsy_world) */
    void *ctx;

    /* Read a whole file. Returns HSY_E_EMPTY if there is none, HSY_E_RANGE if
     * it is longer than room, HSY_E_IO. */
    hsy_status (*load)(void *ctx, hsy_file file, uint8_t *buf, size_t room,
                       size_t *len);

    /* Replace a file. Must return HSY_OK only if the bytes survive a power cut
     * from now on. After any other status the file may hold old, new or mixed
     * bytes. */
    hsy_status (*store)(void *ctx, hsy_file file, const uint8_t *buf,
                        size_t len);

    /* Seconds since 1970-01-01 UTC. */
    hsy_status (*now)(void *ctx, uint64_t *seconds);

    hsy_rng entropy; /* for the key, once in a device's lifetime */

    /* Returns true if sig is the key's Ed25519 signature [RFC 8032] of the
     * bytes. */
    bool (*verify)(void *ctx, const uint8_t key[HSY_SIGN_KEY],
                   const uint8_t sig[HSY_SIGNATURE], const uint8_t *bytes,
                   size_t len);

    /* Anchor: a monotonic counter stored outside the device's files. Both NULL:
     * no anchor, and a state restored from a backup is not detected. */
    hsy_status (*anchor_read)(void *ctx, uint64_t *number);
    hsy_status (*anchor_raise)(void *ctx, uint64_t number);

    /* Log for the person. May be NULL. */
    void (*log)(void *ctx, const hsy_log_entry *entry);

    /* Seal an envelope in layers, each bound to the terms (docs/formats.md, 5).
     * len is HSY_SEAL_LAYER for each layer, plus 1, plus the report's length.
     * Equal envelopes must give equal bytes. NULL: shuffled tasks are not
     * admitted. A program built before this member existed has a smaller size.
     */
    hsy_status (*seal)(void *ctx, uint8_t *out, size_t len,
                       const hsy_envelope *envelope);

    /* Returns true if this program proves the central epsilon of a shuffled
     * task (hsy_worth_holds); a task whose epsilon it does not prove is not
     * admitted. NULL: labels call it the collector's claim. A program built
     * before this member existed has a smaller size. */
    bool (*central)(void *ctx, const hsy_release *release);
} hsy_world;

/* Caps of one source in nano-epsilon, whatever a task asks. 0: nothing is
 * allowed. */
typedef struct hsy_source {
    const char *name;
    uint64_t cap_answer;   /* for one report */
    uint64_t cap_day;      /* for a day */
    uint64_t cap_lifetime; /* for all time; never renews */
} hsy_source;

typedef struct hsy_policy {
    size_t size; /* sizeof(hsy_policy) */
    const hsy_source *sources;
    size_t nsources;                /* at most HSY_TASKS_MAX */
    uint64_t cap_day, cap_lifetime; /* for all sources together */
    uint8_t sign_key[HSY_SIGN_KEY]; /* verifies the first document */
    uint32_t releases;              /* number of releases to make room for, at
                                       most 4096 */
    size_t release_bytes; /* bytes reserved per release for stored reports: at
                             least 2 * sends * report_bytes (two rounds); at
                             most 8 rounds are used; 0: 256 */
    /* Demands on every task; a task that does not meet them is not admitted,
     * and nothing from outside lowers them. A program built before these
     * members existed has a smaller size and demands none of them. */
    uint64_t min_batch; /* reports: assume_honest x sample x the task's */
    uint32_t min_shufflers;
    uint32_t flags;               /* HSY_POLICY_ */
    const uint8_t *shuffler_keys; /* HSY_SIGN_KEY bytes each; one of the task's
                                     shufflers must sign with one of them */
    size_t nshuffler_keys;        /* 0: no demand */
    /* Relays to send through. Under HSY_POLICY_RELAY that the document names
     * one does not count. A program built before these members existed has a
     * smaller size. */
    const char *const *relays; /* URLs; the first is used unless the document
                                  names another of them */
    size_t nrelays;
    const uint8_t *gateway_keys; /* HSY_SEAL_KEY bytes each; all gateway keys of
                                    the document must be among them */
    size_t ngateway_keys;        /* 0: with shuffler_keys, among those that the
                                    first shuffler's statement names */
} hsy_policy;

#define HSY_POLICY_RELAY 1u   /* treat every task as HSY_TASK_RELAY */
#define HSY_POLICY_PIN_ALL 2u /* all shufflers must be in shuffler_keys */
/* `relays` are what the first document named: labels say so. */
#define HSY_POLICY_RELAY_NAMED 4u

/* A device in the caller's memory, aligned as malloc does. It copies policy and
 * world, but what their members point to must outlive it. */
typedef struct hsy_device hsy_device;

HSY_API size_t hsy_device_size(const hsy_policy *policy);

/* Create a device: a key and an empty ledger. Returns HSY_E_REFUSED if a key or
 * a used state already exists. */
HSY_API hsy_status hsy_device_create(hsy_device *dev, const hsy_policy *policy,
                                     const hsy_world *world, hsy_error *err);

/* Open a device. Returns HSY_E_EMPTY if there is none, HSY_E_VERSION if another
 * version of the program wrote it. Returns HSY_E_DAMAGED if a part is missing
 * or changed, or older than the anchor: then no answer is possible until a
 * person restores or deletes the files. */
HSY_API hsy_status hsy_device_open(hsy_device *dev, const hsy_policy *policy,
                                   const hsy_world *world, hsy_error *err);

/* Wipe the memory. */
HSY_API void hsy_device_close(hsy_device *dev);

/* Accept a document. It must be signed by the key in force: the policy's, or
 * the one that an earlier document named next. Its version must not be below
 * the last one; an equal version must have equal bytes. It must be issued
 * tomorrow at the latest, and not have expired; a document accepted in time
 * stays in force. doc and dev point into bytes. Returns HSY_E_SIGNATURE for
 * another key, HSY_E_OLD for an older version or an expired document,
 * HSY_E_RANGE if it is issued later than tomorrow. */
HSY_API hsy_status hsy_device_accept_document(hsy_device *dev,
                                              hsy_document *doc,
                                              const uint8_t *bytes, size_t len,
                                              hsy_error *err);

/* Admit task i of the accepted document, if the policy allows it. Returns
 * HSY_E_POLICY with the field and the limit otherwise, HSY_E_OLD if the task is
 * over. The first admission is stored durably; uploads are due from that round
 * on. Admit all tasks before any is answered: after one that the document's
 * parties, or room for releases, have refused, no shuffled task on its source
 * is answered or sent for under this document, nor before its next slot; after
 * two such sources, none on any. */
HSY_API hsy_status hsy_device_admit(hsy_device *dev, hsy_release *r,
                                    const hsy_document *doc, uint32_t i,
                                    hsy_error *err);

/* Outcomes of an answer. None depends on the truth. */
typedef enum hsy_answer_state {
    HSY_ANSWERED = 1,    /* randomized and stored */
    HSY_ANSWER_KEPT = 2, /* the round already has its answers */
    HSY_ANSWER_SAMPLED_OUT = 3,
    HSY_ANSWER_EXHAUSTED = 4, /* a cap is reached */
    HSY_ANSWER_CLOSED = 5,    /* before start, past end, or forgotten */
    HSY_ANSWER_NO_CONSENT = 6 /* also: none since the promise changed, and the
                                 slot began before */
} hsy_answer_state;

/* Answer a truth: check, charge, make durable, then store the report for
 * sending. A truth outside the domain becomes `other` or the nearer end of the
 * range. A string that is too long is truncated: to HSY_STRING_MAX bytes, under
 * pem to the longest prefix that can be encoded. After any failure nothing is
 * answered: HSY_E_IO if a file or the clock fails, HSY_E_DAMAGED if the state
 * was restored or a write failed before, HSY_E_BUSY between hsy_device_begin
 * and hsy_device_end. state may be NULL. */
HSY_API hsy_status hsy_device_answer(hsy_device *dev, hsy_answer_state *state,
                                     const hsy_release *r,
                                     const hsy_truth *truth, hsy_error *err);

/* Bytes that an answer must write. */
typedef struct hsy_device_write {
    const uint8_t *bytes; /* in the device's memory */
    size_t len;           /* 0: nothing to write */
    uint64_t number;      /* to raise the anchor to */
} hsy_device_write;

/* Answer a truth without blocking. hsy_device_begin returns the bytes to write.
 * Store them in HSY_FILE_A, then in HSY_FILE_B, raise the anchor to the number
 * if there is one, and pass the result to hsy_device_end. If there is nothing
 * to write, do not call hsy_device_end. In between every other call returns
 * HSY_E_BUSY. */
HSY_API hsy_status hsy_device_begin(hsy_device *dev, hsy_answer_state *state,
                                    hsy_device_write *write,
                                    const hsy_release *r,
                                    const hsy_truth *truth, hsy_error *err);
HSY_API hsy_status hsy_device_end(hsy_device *dev, hsy_status stored,
                                  hsy_error *err);

/*
 * Write the next due upload of these releases: header and payload, upload_bytes
 * of its release. Returns HSY_E_END if none is due. The same bytes are returned
 * until hsy_device_sent. Every round of every release gives exactly `sends`
 * uploads: null uploads where there is no answer, or one that was given under
 * another promise: another model, or without the relay. If a shuffled task has
 * other terms than before, the slot that has begun gives none, answered or not,
 * unless the person consents. Without HSY_CONSENT_SEND nothing is returned.
 *
 * Once returned, an upload keeps its epoch even if a later document differs.
 * The state is stored durably before the first upload of a round is returned.
 * If `answers` exceeds `sends`, the round accepts no answers from then on.
 *
 * A program that sends by itself must send uploads with HSY_TASK_RELAY, or all
 * under HSY_POLICY_RELAY, sealed through the relay or not at all.
 * hsy_client_next (hearsay/host.h) does not return them.
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

/* Read the budget of one source; NULL: of all sources together. Returns
 * HSY_E_UNKNOWN if the policy has no such source. */
HSY_API hsy_status hsy_device_budget(hsy_device *dev, hsy_budget *out,
                                     const char *source, hsy_error *err);

typedef enum hsy_consent {
    HSY_CONSENT_NONE = 0,    /* neither collect nor send; default */
    HSY_CONSENT_COLLECT = 1, /* answer and store */
    HSY_CONSENT_SEND = 2     /* answer, store and send */
} hsy_consent;

/* Set the consent, durably. HSY_CONSENT_NONE also deletes stored reports that
 * were not sent. Others also agree to the document in force, and to no later
 * one: kept answers may be reported as it says, so call this when the person
 * has consented, not at every start. */
HSY_API hsy_status hsy_device_consent_set(hsy_device *dev, hsy_consent consent,
                                          hsy_error *err);
HSY_API hsy_consent hsy_device_consent(const hsy_device *dev);

/* Delete everything kept about a source (NULL: all sources) except what was
 * spent. Its releases are closed for ever. */
HSY_API hsy_status hsy_device_forget(hsy_device *dev, const char *source,
                                     hsy_error *err);

/* ---- A world in memory, for tests ---------------------------------------- */

#define HSY_FILES 3 /* values of hsy_file */

typedef struct hsy_memory_file {
    bool there; /* the file exists */
    size_t len;
    uint8_t *bytes; /* room for hsy_memory_world.room */
} hsy_memory_file;

/*
 * A test double: files in the caller's memory, a clock that the test sets,
 * coins from a seed. Equal calls make equal bytes. It accepts every signature,
 * keeps no secret and forgets the budget when the program ends: never use it
 * for a person's device.
 *
 * A test may change every member between two calls, and replace callbacks of
 * world: ctx is this object. Do not move it while a device uses it.
 */
typedef struct hsy_memory_world {
    hsy_world world;  /* to create or open a device with */
    uint64_t seconds; /* time of the clock */
    uint64_t anchor;
    hsy_stream coins;
    uint64_t stores; /* writes so far */
    size_t room; /* bytes that a file can hold; 0: stored bytes are dropped */
    hsy_memory_file file[HSY_FILES];
    /* Statuses that the callbacks return instead of HSY_OK. */
    hsy_status load_fails, store_fails, clock_fails, entropy_fails;
} hsy_memory_world;

/* Initialize a test double. The three files share len bytes of memory;
 * hsy_device_size of the policy is enough for each. NULL and 0: stored bytes
 * are dropped. */
HSY_API void hsy_memory_world_init(hsy_memory_world *m, uint8_t *room,
                                   size_t len, uint64_t seconds, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
