/*
 * host.h - a device on a computer, and the files tasks come from.
 *
 * libhearsay leaves files, clock, entropy and signatures to its caller; this
 * library brings the real ones: a directory for the state, the system's clock,
 * getrandom, libsodium, HTTP by libcurl; and tasks.yaml, read by libyaml.
 *
 *     hsy_client *client;
 *     hsy_client_open(&client, "state", &policy, "tasks.signed", NULL, &err);
 *     hsy_client_answer(client, NULL, "browser", &truth, &err);
 *     hsy_client_close(client);
 *
 * Conventions as in hearsay.h, but these functions allocate.
 */
#ifndef HEARSAY_HOST_H
#define HEARSAY_HOST_H

#include "hearsay.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The world: a directory ---------------------------------------------- */

typedef struct hsy_host_options {
    size_t size;           /* sizeof(hsy_host_options) */
    uint32_t wait_seconds; /* for another process to let go; 0: fail at once */
    const char *anchor;    /* a file elsewhere for the anchor, NULL: none */
    bool no_log;           /* keep no log for the person to read */
    bool create;           /* make directory and device if there is none */

    /* UTC seconds since 1970; anything but HSY_OK fails what asked. NULL: the
     * system's clock. A device's days never go back: one that was given a false
     * clock is a rehearsal's, for good. Programs that were compiled without
     * these two, and so with a smaller size, have the system's. */
    hsy_status (*clock)(void *ctx, uint64_t *seconds);
    void *clock_ctx;
} hsy_host_options;

/*
 * Files `key`, `state.a`, `state.b`, `log` and `lock` in a directory that only
 * its owner can read: HSY_E_REFUSED if others can. One process has it at a
 * time: HSY_E_BUSY. A forked child may only close it: the world's functions,
 * and a client's, are HSY_E_REFUSED there, so that a device in it answers
 * nothing. HSY_E_EMPTY if there is no such directory.
 *
 * options may be NULL: make what is missing, wait ten seconds, keep a log.
 */
typedef struct hsy_host hsy_host;

HSY_API hsy_status hsy_host_open(hsy_host **host, const char *directory,
                                 const hsy_host_options *options,
                                 hsy_error *err);
HSY_API void hsy_host_close(hsy_host *host);

/* Lives as long as the host does. */
HSY_API const hsy_world *hsy_host_world(hsy_host *host);

/* False if an entry of the log could not be written. That stops no answer. */
HSY_API bool hsy_host_logged(const hsy_host *host);

/* ---- A client: a device with all its tasks ------------------------------- */

typedef struct hsy_client hsy_client;

/*
 * Open the device in a directory, take the document in a file and admit every
 * task that the policy allows. The policy is copied; options may be NULL. A
 * task that is not allowed is left out; hsy_client_refused says why.
 */
HSY_API hsy_status hsy_client_open(hsy_client **client, const char *directory,
                                   const hsy_policy *policy,
                                   const char *document,
                                   const hsy_host_options *options,
                                   hsy_error *err);
HSY_API void hsy_client_close(hsy_client *client);

HSY_API hsy_host *hsy_client_host(hsy_client *client);
HSY_API hsy_device *hsy_client_device(hsy_client *client);

/* The releases of all tasks that were admitted. */
HSY_API const hsy_release *const *hsy_client_releases(hsy_client *client,
                                                      size_t *n);

/* The task that release i was admitted for, as it stands in the document; false
 * past the end. */
HSY_API bool hsy_client_task(hsy_client *client, hsy_task *task, size_t i);

/* Refused task number i, and why; false past the end. */
HSY_API bool hsy_client_refused(hsy_client *client, hsy_task *task,
                                hsy_error *why, size_t i);

/* As hsy_device_answer, hsy_device_next and hsy_device_sent. */
HSY_API hsy_status hsy_client_answer(hsy_client *client,
                                     hsy_answer_state *state, const char *task,
                                     const hsy_truth *truth, hsy_error *err);

/* A truth from text, as a line of `hearsay randomize`: yes or no, one of the
 * values, a decimal, a string. What is not listed becomes `other`, a number
 * outside the range its nearer end. HSY_E_FORMAT or HSY_E_RANGE if the text is
 * no answer: then nothing is charged. */
HSY_API hsy_status hsy_client_answer_text(hsy_client *client,
                                          hsy_answer_state *state,
                                          const char *task, const char *text,
                                          size_t len, hsy_error *err);
HSY_API hsy_status hsy_client_next(hsy_client *client, uint8_t *upload,
                                   size_t room, size_t *len, hsy_error *err);
HSY_API hsy_status hsy_client_sent(hsy_client *client, const uint8_t *upload,
                                   size_t len, hsy_error *err);

/* ---- Sending: HTTP (docs/device.md) -------------------------------------- */

typedef struct hsy_send_options {
    size_t size;             /* sizeof(hsy_send_options) */
    const char *token;       /* for tasks that want one; NULL: none */
    const char *ca_file;     /* who signs the server's certificate; NULL: the
                                system's list */
    uint32_t attempts;       /* at most; 0: 5 */
    uint32_t wait_ms;        /* before the second, at most; it doubles with each
                                one more; 0: 1000 */
    uint32_t seconds;        /* for everything, waits included; 0: 300 */
    uint32_t answer_seconds; /* for one request; 0: 30 */
    bool one_connection;     /* for all uploads: quicker, and it tells the
                                collector that they are of one device */
    const char *relay;       /* "https://host/path": sealed uploads go there;
                                NULL: where the document says. A program
                                compiled before this was there has a size
                                without it */
} hsy_send_options;

typedef struct hsy_send_result {
    uint64_t sent;     /* acknowledged: the collector has them */
    uint64_t refused;  /* for good (409, 410, 422): not sent again */
    uint64_t waiting;  /* still in the outbox, for another time */
    uint32_t attempts; /* that were made */
    uint32_t status;   /* the last HTTP status that was no acknowledgement */
    const char *why;   /* what that means, a literal; NULL: nothing waits */
} hsy_send_result;

/*
 * Send every upload that is due to the collector at url ("https://host" and
 * perhaps a port and a path, without "/v1/uploads"): one a request, each on a
 * connection of its own, the same bytes however often it takes. What was
 * acknowledged, or can never be accepted, is marked as sent; the rest stays
 * due. Certificates are verified, redirects are not followed.
 *
 * Where a relay is named, by options or by the document, each upload is sealed
 * for the gateway whose keys the document has (Oblivious HTTP, docs/relay.md)
 * and goes to the relay; url is then named inside and not connected to. What is
 * answered in clear was not sent. A task that demands the relay is never sent
 * without: its uploads stay due.
 *
 * HSY_OK if nothing waits any more; HSY_E_IO if something does, result says
 * what and why, or if there is no libcurl, which is loaded by the first call;
 * HSY_E_RANGE for a url, token or option that makes no sense. options may be
 * NULL. The client is not let go while this waits: a program that must answer
 * meanwhile sends with attempts 1, and waits by itself.
 */
HSY_API hsy_status hsy_device_upload(hsy_client *client,
                                     hsy_send_result *result, const char *url,
                                     const hsy_send_options *options,
                                     hsy_error *err);

/* The document that the collector at url gives out, to be freed with free();
 * its signature is for hsy_device_accept_document to check. */
HSY_API hsy_status hsy_document_fetch(uint8_t **bytes, size_t *len,
                                      const char *url,
                                      const hsy_send_options *options,
                                      hsy_error *err);

/* ---- Signatures: Ed25519 ------------------------------------------------- */

#define HSY_SIGN_SECRET 64

HSY_API hsy_status hsy_sign_keypair(uint8_t key[HSY_SIGN_KEY],
                                    uint8_t secret[HSY_SIGN_SECRET]);
HSY_API hsy_status hsy_sign(uint8_t sig[HSY_SIGNATURE], const uint8_t *bytes,
                            size_t len, const uint8_t secret[HSY_SIGN_SECRET]);
HSY_API bool hsy_sign_verify(const uint8_t key[HSY_SIGN_KEY],
                             const uint8_t sig[HSY_SIGNATURE],
                             const uint8_t *bytes, size_t len);

/* ---- tasks.yaml ---------------------------------------------------------- */

/* Where something is wrong in a task file, or worth a remark. */
typedef struct hsy_problem {
    uint32_t line; /* from 1 on, 0: the file as a whole */
    bool warning;  /* it may be compiled nevertheless */
    char task[HSY_TASK_ID + 1];
    char field[48];
    char text[256]; /* what, and what to do */
} hsy_problem;

typedef struct hsy_tasks hsy_tasks;

/* Read and check a task file. Problems, warnings included, are listed either
 * way: HSY_E_FORMAT if any is no warning; then *tasks only has those. */
HSY_API hsy_status hsy_tasks_read(hsy_tasks **tasks, const char *path,
                                  hsy_error *err);
HSY_API void hsy_tasks_free(hsy_tasks *tasks);
HSY_API size_t hsy_tasks_problems(const hsy_tasks *tasks,
                                  const hsy_problem **problems);
HSY_API const hsy_task *hsy_tasks_all(const hsy_tasks *tasks, size_t *n);

/* Its version, issued and expires; the rest of doc is zeroed. */
HSY_API void hsy_tasks_head(const hsy_tasks *tasks, hsy_document *doc);

/* Hold it against the document in force: what may change in a version, what
 * needs a new release. Adds to the problems. */
HSY_API hsy_status hsy_tasks_change(hsy_tasks *tasks, const hsy_document *from,
                                    hsy_error *err);

/* The signed document, to be freed with free(). next_key, which may be NULL,
 * also signs later versions. HSY_E_FORMAT while there are problems. */
HSY_API hsy_status hsy_tasks_compile(const hsy_tasks *tasks, uint8_t **bytes,
                                     size_t *len,
                                     const uint8_t secret[HSY_SIGN_SECRET],
                                     const uint8_t *next_key, hsy_error *err);

/* ---- Analysis: what a tally says (docs/estimates.md) ----------------------
 *
 *     hsy_analysis_tally t = {.scheme = s, .tally = &tally};
 *     hsy_analysis_request q = {.size = sizeof q};
 *     hsy_analysis_result r;
 *     hsy_analysis_run(&r, &t, NULL, &q, &err);
 *     hsy_analysis_json(&r, &text, &len, &err);
 *     hsy_analysis_clear(&r);
 *
 * is `hearsay estimate --format json`, and what a collector serves.
 */

/* A tally and what belongs to it; a view. */
typedef struct hsy_analysis_tally {
    const hsy_scheme *scheme;
    const hsy_scheme_info *info; /* of the scheme; NULL: it is asked */
    const hsy_tally *tally;
    const uint8_t *labels; /* of the spec, info->labels_len bytes; NULL: values
                              are called by their numbers */
    const hsy_attendance *attended; /* NULL: nobody is in it twice */
    const hsy_scheme *permanent;    /* of the kept answers; NULL: as the scheme
                                       says */
    const hsy_round *rounds; /* that its reports are of; NULL: not known, and
                                attended is the most there can be */
    size_t nrounds;
    /* The smallest of the batches in which its reports were shuffled; of 0
     * reports: what is to be assumed of those that `batches` says, zeros: what
     * they say. NULL: nothing is said of it. */
    const hsy_batch *batch;
    const hsy_batches *batches; /* in which they came; NULL: not known */
    size_t nbatches;
} hsy_analysis_tally;

/* Any bytes. */
typedef struct hsy_analysis_text {
    const char *text;
    size_t len;
} hsy_analysis_text;

/* A range of bins, or a quantile. */
typedef struct hsy_analysis_range {
    double quantile;  /* 0 < quantile < 1; 0: the share of bins from .. to-1 */
    size_t from, to;  /* 0 <= from < to <= d */
    const char *name; /* what its row is called */
} hsy_analysis_range;

/* What to make of a tally. */
typedef enum hsy_analysis_question {
    HSY_ASK_ESTIMATES = 0,  /* of each value, or of what is found */
    HSY_ASK_RANGES = 1,     /* the ranges and quantiles of the request */
    HSY_ASK_COVARIANCE = 2, /* of each two values */
    HSY_ASK_JOINT = 3       /* each combination of a tuple's attributes */
} hsy_analysis_question;

/* What is asked; zeros, but for size, are what `hearsay estimate` does without
 * options. What a mechanism's analysis has no use for does not matter. */
typedef struct hsy_analysis_request {
    size_t size; /* sizeof(hsy_analysis_request) */
    hsy_analysis_question question;
    double level; /* of intervals; 0: 0.95 */
    hsy_target target;
    hsy_interval interval;
    bool simultaneous;          /* all intervals hold together */
    hsy_post post;              /* a further number for each row */
    hsy_density_method density; /* shares by likelihood; AUTO: where there are
                                   no others */
    double lying;               /* share of devices that may lie */
    uint64_t top;               /* the largest alone; 0: all */
    const hsy_analysis_text *candidates; /* values asked for; NULL: all */
    size_t ncandidates;
    bool bare; /* rows have no names, and nothing is said beside them */
    hsy_analysis_text attribute; /* of a tuple only this one; NULL: all */
    const hsy_analysis_range *ranges;
    size_t nranges;
    bool quantiles;   /* of bins: some beside the shares */
    uint64_t devices; /* of two tallies: so many in all that keep their first
                         answer, from known rounds; 0: not known */
    bool overlap;     /* two tallies may hold the same reports */
    hsy_rappor_options rappor; /* alpha 0: 0.1; level, target and dispersion do
                                  not matter */
    hsy_search search;         /* of a search; size 0: its defaults */
    bool significant; /* of a search: strings that chance hardly makes alone */
} hsy_analysis_request;

/* What a row has; the columns of a table in their order. */
typedef enum hsy_analysis_column {
    HSY_COLUMN_ATTRIBUTE,
    HSY_COLUMN_VALUE,
    HSY_COLUMN_OTHER,
    HSY_COLUMN_ESTIMATE,
    HSY_COLUMN_STDERR,
    HSY_COLUMN_LOW,
    HSY_COLUMN_HIGH,
    HSY_COLUMN_LOW_LYING,
    HSY_COLUMN_HIGH_LYING,
    HSY_COLUMN_UNBIASED,
    HSY_COLUMN_POST,
    HSY_COLUMN_P_ZERO,
    HSY_COLUMN_Q_VALUE,
    HSY_COLUMN_P_VALUE,
    HSY_COLUMN_LEVEL,
    HSY_COLUMN_DETECTED,
    HSY_COLUMN_SIGNIFICANT,
    HSY_COLUMN_COVARIANCE
} hsy_analysis_column;

#define HSY_COLUMNS 18u

/* Which of the members hold is in the result's columns. NaN: there is none. */
typedef struct hsy_analysis_row {
    hsy_analysis_text value;     /* what it is called */
    hsy_analysis_text attribute; /* ... of which attribute of a tuple */
    hsy_analysis_text other;     /* of a covariance */
    hsy_estimate est; /* shares as fractions, a mean in the range's units */
    double low_lying, high_lying; /* its interval, wider by what liars can do */
    double post;     /* of RAPPOR the best guess that is not below 0 */
    double unbiased; /* RAPPOR's own files: est.value is the best guess */
    double p_zero, q_value; /* RAPPOR's: hsy_rappor_share */
    double p_value;         /* of a difference */
    double level;           /* of its interval */
    double covariance;
    uint32_t place;   /* among the values asked for */
    uint32_t part;    /* of the attribute among all */
    bool mean;        /* no share: in the units of a range */
    bool detected;    /* RAPPOR */
    bool significant; /* of a search: more than chance makes */
} hsy_analysis_row;

/* What is to be said beside a result: first sentences that belong to it, then
 * doubts. */
typedef enum hsy_analysis_code {
    HSY_NOTE_PERSON_ROUNDS = 1,
    HSY_NOTE_MEAN_ROUNDS = 2,
    HSY_NOTE_KEPT_NOISE = 3,
    HSY_NOTE_ATTENDANCE_BOUND = 4,
    HSY_NOTE_PAIRED = 5,
    HSY_NOTE_OVERLAP = 6,
    HSY_DOUBT_SUPPORT = 7,  /* p */
    HSY_DOUBT_SUM = 8,      /* p */
    HSY_DOUBT_WEIGHTS = 9,  /* p */
    HSY_DOUBT_SEEDS = 10,   /* p */
    HSY_DOUBT_LYING = 11,   /* p */
    HSY_DOUBT_FEW = 12,     /* count reports */
    HSY_DOUBT_STEPS = 13,   /* count steps of EM */
    HSY_DOUBT_OUTSIDE = 14, /* count of `of` intervals; chance makes p */
    HSY_DOUBT_OUTSIDE_ODD = 15,
    HSY_DOUBT_CANDIDATES = 16,
    HSY_DOUBT_DETECTED = 17,
    HSY_DOUBT_STRINGS = 18, /* an attribute has no candidates */
    HSY_DOUBT_UNANSWERED = 19
} hsy_analysis_code;

typedef struct hsy_analysis_note {
    hsy_analysis_code code;
    uint32_t which;              /* 1: of the tally that is taken off */
    hsy_analysis_text attribute; /* of a tuple; else NULL */
    double p;
    uint64_t count, of;
} hsy_analysis_note;

/* A short name for programs, and a sentence. Literals. */
HSY_API const char *hsy_analysis_code_name(hsy_analysis_code code);
HSY_API const char *hsy_analysis_code_text(hsy_analysis_code code);

/* What came of it. Treat as read-only; it owns its memory. */
typedef struct hsy_analysis_result {
    hsy_analysis_question question;
    hsy_scheme_info info;
    hsy_scheme_info
        against; /* of the tally that is taken off, if two are compared */
    bool compared, paired, overlap;
    bool from_files;                   /* RAPPOR's own: there is no tally */
    uint64_t reports, reports_against; /* of a release: releases */
    double people, people_against;     /* NaN but of releases */
    uint64_t devices_in_all;           /* of the request */
    bool attends;                      /* attended holds */
    hsy_attendance attended;
    bool shuffled; /* batch and worth hold */
    hsy_batch batch;
    hsy_worth worth; /* of the smallest batch */
    /* In which batches reports came, if the tally says it: all of them, with
     * the terms of those that are worth least; nano_central 0: worth is of
     * other terms than what was promised. */
    hsy_batches batches;
    uint64_t each; /* reports of one device, at most, in as many batches: what
                      all of them are worth */
    double epsilon_each, delta_each;

    hsy_confidence how; /* its level is that of rows that were not selected */
    bool simultaneous;
    hsy_post post;
    hsy_density_method density; /* shares by likelihood; AUTO: by points */
    const char *why;            /* there are no intervals; NULL: there are */

    double lying;          /* assumed share; NaN: there is no bound */
    hsy_poison_bound lies; /* the largest by which a row is wider */
    double lying_p; /* of the tests that find liars; NaN: reports do not show */
    bool looked;    /* whether the reports are implausible: notes say so */

    uint32_t columns; /* bit 1 << hsy_analysis_column */
    hsy_analysis_row *rows;
    size_t count;          /* of rows */
    uint64_t selected, of; /* so many of so many were selected */
    bool largest_first;
    double level_selected; /* of their intervals */
    bool has_rest;         /* some are not among them: */
    hsy_estimate rest;     /* all of those; NaN: no error is known */
    hsy_analysis_row *quantiles;
    size_t nquantiles;
    hsy_evidence *points; /* of all values asked for, by place; NULL: by other
                          means */
    hsy_analysis_note *notes;
    size_t nnotes;

    /* RAPPOR. */
    hsy_rappor_law law;
    hsy_rappor_summary summary;
    hsy_rappor_options rappor;
    uint64_t candidates; /* also of a search */
    size_t unshown;      /* detected, and not among the rows */
    hsy_estimate not_shown;

    /* A search. */
    uint64_t groups, found;
    double detectable; /* a share that passes each stage but for 5 % */
    bool significant;  /* rows are only what chance hardly makes */
    uint32_t stage, stages, bits; /* in batches; stage 0: all at once */

    void *memory; /* of names */
} hsy_analysis_result;

/*
 * Analyze a tally as its mechanism asks (hsy_scheme_info.analysis), or its
 * difference to `against` (may be NULL), which must ask the same:
 * HSY_E_MISMATCH with what differs in err->msg, HSY_E_REFUSED where shares are
 * estimated together. HSY_E_EMPTY without reports; HSY_E_RANGE or HSY_E_UNKNOWN
 * with the field of the request, of candidates with the place from 1 in
 * err->at; HSY_E_NOMEM. The result is zeroed if it fails.
 */
HSY_API hsy_status hsy_analysis_run(hsy_analysis_result *out,
                                    const hsy_analysis_tally *t,
                                    const hsy_analysis_tally *against,
                                    const hsy_analysis_request *request,
                                    hsy_error *err);
HSY_API void hsy_analysis_clear(hsy_analysis_result *r);

/* As JSON [RFC 8259] and as CSV [RFC 4180], to be freed with free(). */
HSY_API hsy_status hsy_analysis_json(const hsy_analysis_result *r, char **json,
                                     size_t *len, hsy_error *err);
HSY_API hsy_status hsy_analysis_csv(const hsy_analysis_result *r, char **csv,
                                    size_t *len, hsy_error *err);

/* The same name in JSON and CSV. A literal. */
HSY_API const char *hsy_analysis_column_name(hsy_analysis_column column);

#ifdef __cplusplus
}
#endif

#endif
