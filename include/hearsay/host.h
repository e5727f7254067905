/*
 * host.h - a device on a computer, task files, and analysis.
 *
 * libhearsay leaves files, clock, entropy and signatures to its caller. This
 * library implements them: a directory for the state, the system's clock,
 * getrandom, libsodium, HTTP by libcurl. It also reads tasks.yaml, by libyaml.
 *
 *     hsy_client *client;
 *     hsy_client_open(&client, "state", &policy, "tasks.signed", NULL, &err);
 *     hsy_client_answer(client, NULL, "browser", &truth, &err);
 *     hsy_client_close(client);
 *
 * The conventions of hearsay.h hold, except that these functions allocate.
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
    uint32_t wait_seconds; /* time to wait for the lock; 0: fail at once */
    const char *anchor;    /* anchor file, outside the directory; NULL: none */
    bool no_log;           /* do not keep a log for the person */
    bool create;           /* create directory and device if missing */

    /* UTC seconds since 1970. A status other than HSY_OK fails the caller.
     * NULL: the system's clock. A device never goes back in time: once opened
     * with another clock it can only be used for rehearsals. A program built
     * without these two members has a smaller size and uses the system's clock.
     */
    hsy_status (*clock)(void *ctx, uint64_t *seconds);
    void *clock_ctx;
} hsy_host_options;

/*
 * A directory with the files `key`, `state.a`, `state.b`, `log` and `lock`.
 * Returns HSY_E_REFUSED if other users can read it, HSY_E_EMPTY if it does not
 * exist. One process may have it open at a time: HSY_E_BUSY. A forked child may
 * only close it: the functions of the world and of a client return
 * HSY_E_REFUSED there, so the device answers nothing.
 *
 * options may be NULL: create what is missing, wait ten seconds, keep a log.
 */
typedef struct hsy_host hsy_host;

HSY_API hsy_status hsy_host_open(hsy_host **host, const char *directory,
                                 const hsy_host_options *options,
                                 hsy_error *err);
HSY_API void hsy_host_close(hsy_host *host);

/* Returns the world; it lives as long as the host. */
HSY_API const hsy_world *hsy_host_world(hsy_host *host);

/* Returns false if a log entry could not be written. That does not prevent
 * answers. */
HSY_API bool hsy_host_logged(const hsy_host *host);

/* ---- A client: a device with all its tasks ------------------------------- */

typedef struct hsy_client hsy_client;

/* Open the device in a directory, accept the document in a file and admit every
 * task that the policy allows. hsy_client_refused tells why a task was not
 * admitted. The policy is copied; options may be NULL. */
HSY_API hsy_status hsy_client_open(hsy_client **client, const char *directory,
                                   const hsy_policy *policy,
                                   const char *document,
                                   const hsy_host_options *options,
                                   hsy_error *err);
HSY_API void hsy_client_close(hsy_client *client);

HSY_API hsy_host *hsy_client_host(hsy_client *client);
HSY_API hsy_device *hsy_client_device(hsy_client *client);

/* Returns the releases of all admitted tasks. */
HSY_API const hsy_release *const *hsy_client_releases(hsy_client *client,
                                                      size_t *n);

/* Read the task of release i from the document. Returns false past the end. */
HSY_API bool hsy_client_task(hsy_client *client, hsy_task *task, size_t i);

/* Read refused task number i and the reason. Returns false past the end. */
HSY_API bool hsy_client_refused(hsy_client *client, hsy_task *task,
                                hsy_error *why, size_t i);

/* Answer, and hand out uploads, like hsy_device_answer, hsy_device_next and
 * hsy_device_sent. hsy_client_next does not return uploads of tasks that demand
 * a relay: HSY_E_REFUSED if nothing else is due and there are such tasks. */
HSY_API hsy_status hsy_client_answer(hsy_client *client,
                                     hsy_answer_state *state, const char *task,
                                     const hsy_truth *truth, hsy_error *err);

/* Answer with a text, as in a line of `hearsay randomize`: yes or no, a value,
 * a decimal, a string. An unlisted value becomes `other`, a number outside the
 * range its nearer end. Returns HSY_E_FORMAT or HSY_E_RANGE if the text is not
 * a valid answer; nothing is charged. */
HSY_API hsy_status hsy_client_answer_text(hsy_client *client,
                                          hsy_answer_state *state,
                                          const char *task, const char *text,
                                          size_t len, hsy_error *err);
HSY_API hsy_status hsy_client_next(hsy_client *client, uint8_t *upload,
                                   size_t room, size_t *len, hsy_error *err);
HSY_API hsy_status hsy_client_sent(hsy_client *client, const uint8_t *upload,
                                   size_t len, hsy_error *err);

/* ---- Sending: HTTP (docs/device.md) -------------------------------------- */

#define HSY_SPREAD_NONE UINT32_MAX /* send everything now */

typedef struct hsy_send_options {
    size_t size;             /* sizeof(hsy_send_options) */
    const char *token;       /* for tasks that need one; NULL: none */
    const char *ca_file;     /* file of certificate authorities; NULL: system */
    uint32_t attempts;       /* most attempts of an upload; 0: 5. Without effect
                                if wait is set, unless spread is
                                HSY_SPREAD_NONE */
    uint32_t wait_ms;        /* longest initial retry delay, doubled each time;
                                0: 1000. A longer spread takes its place */
    uint32_t seconds;        /* total time limit, waits included; 0: 300, with
                                wait 86,400. With wait no upload leaves after
                                it, but answers are still waited for */
    uint32_t answer_seconds; /* timeout of one request; 0: 30 */
    bool one_connection;     /* use one connection for all uploads: faster, but
                                it links them to one device */
    const char *relay;       /* "https://host/path" of the relay; NULL: as the
                                document says. A program built before this
                                member existed has a smaller size */
    uint32_t spread;         /* each upload leaves at a random time of its own
                                within so many seconds; 0: 3600.
                                HSY_SPREAD_NONE: all now, which shows that they
                                are one device's. From here on as for relay */
    bool wait;               /* wait for these times, retries included, until
                                the outbox is empty or the time is over */
} hsy_send_options;

typedef struct hsy_send_result {
    uint64_t sent;     /* acknowledged by the collector */
    uint64_t refused;  /* refused for good (409, 410, 422); not sent again */
    uint64_t waiting;  /* still in the outbox */
    uint32_t attempts; /* most attempts made of one upload */
    uint32_t status;   /* last HTTP status other than an acknowledgement */
    const char *why;   /* why an upload waits that was tried, a literal; NULL:
                          none does */
} hsy_send_result;

/*
 * Send due uploads to the collector at url ("https://host", optionally a port
 * and a path, without "/v1/uploads"). An upload gets a random time within
 * options.spread when a call first finds it due, and another one for each
 * retry; they are kept in the device's directory. A call sends the upload whose
 * time has come, one at most, and returns: call it again every few minutes.
 * With options.wait it returns when no upload is left that can be sent, or
 * after options.seconds; with HSY_SPREAD_NONE it sends all uploads now.
 *
 * Each upload is one request on its own connection; retries send the same
 * bytes. With options.wait no answer changes when another upload leaves: an
 * upload that fails, in whatever way, gets another time of its own, so attempts
 * are not counted. Call it again within seconds when it returns. Without
 * options.wait two uploads never leave in one call, which shows in the long run
 * which are one device's (docs/device.md). Acknowledged and finally refused
 * uploads are marked as sent; the others stay due. Certificates are verified,
 * redirects are not followed.
 *
 * If the options or the document name a relay, each upload is sealed for the
 * gateway keys of the document (Oblivious HTTP, docs/relay.md) and sent to the
 * relay. url is then only named inside the sealed request. An unsealed response
 * is treated as a failure. A task that demands a relay is never sent without
 * one: its uploads stay due.
 *
 * Returns HSY_OK if nothing waits but for its time. Returns HSY_E_IO if
 * something waits that was tried or waited for (result says what and why), or
 * if libcurl, loaded by the first call, is missing. Returns HSY_E_RANGE for an
 * invalid url, token or option. options may be NULL. The client stays locked
 * while this waits: a program that must answer meanwhile calls it without wait.
 */
HSY_API hsy_status hsy_device_upload(hsy_client *client,
                                     hsy_send_result *result, const char *url,
                                     const hsy_send_options *options,
                                     hsy_error *err);

/*
 * Fetch the next document of a device; free it with free().
 * hsy_device_accept_document verifies its signature. If the options or the
 * document name a relay, the document comes through it, sealed, in an answer of
 * the fixed length that it states (docs/relay.md), at a random time within
 * options.spread: *bytes is NULL if that has not come, so call it again every
 * few minutes, or set options.wait. Do not call it together with
 * hsy_device_upload: at any other time. Else it is fetched from the collector
 * at url, now. Returns HSY_E_REFUSED if a task or the policy demands a relay
 * and none is named, or if the document of the device has no document_bytes.
 */
HSY_API hsy_status hsy_client_fetch(hsy_client *client, uint8_t **bytes,
                                    size_t *len, const char *url,
                                    const hsy_send_options *options,
                                    hsy_error *err);

/* Fetch the document of the collector at url, directly; free it with free().
 * hsy_device_accept_document verifies its signature. */
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

/* A problem or a warning in a task file. */
typedef struct hsy_problem {
    uint32_t line; /* from 1; 0: the whole file */
    bool warning;  /* does not prevent compiling */
    char task[HSY_TASK_ID + 1];
    char field[48];
    char text[256]; /* what is wrong, and what to do */
} hsy_problem;

typedef struct hsy_tasks hsy_tasks;

/* Read and check a task file. Problems and warnings are listed in any case.
 * Returns HSY_E_FORMAT if there are problems; then *tasks holds only the list.
 */
HSY_API hsy_status hsy_tasks_read(hsy_tasks **tasks, const char *path,
                                  hsy_error *err);
HSY_API void hsy_tasks_free(hsy_tasks *tasks);
HSY_API size_t hsy_tasks_problems(const hsy_tasks *tasks,
                                  const hsy_problem **problems);
HSY_API const hsy_task *hsy_tasks_all(const hsy_tasks *tasks, size_t *n);

/* Read version, issued and expires; other fields of doc are zeroed. */
HSY_API void hsy_tasks_head(const hsy_tasks *tasks, hsy_document *doc);

/* Compare a task file with the document in force: which changes are allowed,
 * and which need a new release. Adds to the problems. */
HSY_API hsy_status hsy_tasks_change(hsy_tasks *tasks, const hsy_document *from,
                                    hsy_error *err);

/* Compile and sign a document; free it with free(). next_key, which may be
 * NULL, may also sign later versions. Returns HSY_E_FORMAT while there are
 * problems. */
HSY_API hsy_status hsy_tasks_compile(const hsy_tasks *tasks, uint8_t **bytes,
                                     size_t *len,
                                     const uint8_t secret[HSY_SIGN_SECRET],
                                     const uint8_t *next_key, hsy_error *err);

/* ---- Analysis: docs/estimates.md ------------------------------------------
 *
 *     hsy_analysis_tally t = {.scheme = s, .tally = &tally};
 *     hsy_analysis_request q = {.size = sizeof q};
 *     hsy_analysis_result r;
 *     hsy_analysis_run(&r, &t, NULL, &q, &err);
 *     hsy_analysis_json(&r, &text, &len, &err);
 *     hsy_analysis_clear(&r);
 *
 * writes the same JSON as `hearsay estimate --format json` and a collector.
 */

/* A view of a tally and of what is known about its reports. */
typedef struct hsy_analysis_tally {
    const hsy_scheme *scheme;
    const hsy_scheme_info *info; /* of the scheme; NULL: computed */
    const hsy_tally *tally;
    const uint8_t *labels; /* of the spec, info->labels_len bytes; NULL: values
                              are named by numbers */
    const hsy_attendance *attended; /* NULL: nobody answered twice */
    const hsy_scheme *permanent;    /* scheme of the permanent answers; NULL: as
                                       in hsy_evidence_attend */
    const hsy_round *rounds; /* rounds of its reports; NULL: unknown, attended
                                is an upper bound */
    size_t nrounds;
    /* Smallest shuffled batch of its reports. If reports is 0, honest and delta
     * override the terms of `batches` (0: keep theirs). NULL: unknown. */
    const hsy_batch *batch;
    const hsy_batches *batches; /* batches of its reports; NULL: unknown */
    size_t nbatches;
} hsy_analysis_tally;

/* A string of any bytes. */
typedef struct hsy_analysis_text {
    const char *text;
    size_t len;
} hsy_analysis_text;

/* A range of bins, or a quantile. */
typedef struct hsy_analysis_range {
    double quantile;  /* 0 < quantile < 1; 0: share of bins from .. to-1 */
    size_t from, to;  /* 0 <= from < to <= d */
    const char *name; /* name of its row */
} hsy_analysis_range;

/* Questions to a tally. */
typedef enum hsy_analysis_question {
    HSY_ASK_ESTIMATES = 0,  /* estimates of values, or of what was found */
    HSY_ASK_RANGES = 1,     /* ranges and quantiles of the request */
    HSY_ASK_COVARIANCE = 2, /* covariances of all pairs of values */
    HSY_ASK_JOINT = 3       /* all combinations of a tuple's attributes */
} hsy_analysis_question;

/* A request. Set size; zeros in all other fields give what `hearsay estimate`
 * prints without options. Fields that an analysis does not need are ignored. */
typedef struct hsy_analysis_request {
    size_t size; /* sizeof(hsy_analysis_request) */
    hsy_analysis_question question;
    double level; /* level of intervals; 0: 0.95 */
    hsy_target target;
    hsy_interval interval;
    bool simultaneous;          /* simultaneous intervals */
    hsy_post post;              /* post-processed number for each row */
    hsy_density_method density; /* maximum-likelihood shares; AUTO: only for
                                   mechanisms without evidence */
    double lying;               /* assumed share of lying devices */
    uint64_t top;               /* number of largest rows; 0: all */
    const hsy_analysis_text *candidates; /* values to estimate; NULL: all */
    size_t ncandidates;
    bool bare;                   /* omit row names and notes */
    hsy_analysis_text attribute; /* this attribute of a tuple only; NULL: all */
    const hsy_analysis_range *ranges;
    size_t nranges;
    bool quantiles;   /* bins: also some quantiles */
    uint64_t devices; /* two tallies with known rounds: number of all devices
                         that keep their first answer; 0: unknown */
    bool overlap;     /* two tallies may share reports */
    hsy_rappor_options rappor; /* alpha 0: 0.1; level, target and dispersion are
                                  ignored */
    hsy_search search;         /* options of a search; size 0: defaults */
    bool significant;          /* search: significant strings only */
} hsy_analysis_request;

/* Columns of a row, in the order of a table. */
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

/* A row. The result's columns state which members are set. NaN: no value. */
typedef struct hsy_analysis_row {
    hsy_analysis_text value;     /* name */
    hsy_analysis_text attribute; /* attribute of a tuple */
    hsy_analysis_text other;     /* second value of a covariance */
    hsy_estimate est; /* shares as fractions, means in the range's units */
    double low_lying, high_lying; /* interval widened for lying devices */
    double post;     /* post-processed; RAPPOR: best guess, not below 0 */
    double unbiased; /* RAPPOR's own files, where est.value is the best guess */
    double p_zero, q_value; /* RAPPOR: hsy_rappor_share */
    double p_value;         /* p-value of a difference */
    double level;           /* level of the interval */
    double covariance;
    uint32_t place;   /* index among the requested values */
    uint32_t part;    /* index of the attribute */
    bool mean;        /* a mean, in the units of the range */
    bool detected;    /* RAPPOR */
    bool significant; /* search: significant */
} hsy_analysis_row;

/* Notes on a result, and doubts: warnings that it may be wrong. p, count and of
 * are members of hsy_analysis_note. */
typedef enum hsy_analysis_code {
    HSY_NOTE_PERSON_ROUNDS = 1,    /* shares of person-rounds, not of people */
    HSY_NOTE_MEAN_ROUNDS = 2,      /* mean over person-rounds, not people */
    HSY_NOTE_KEPT_NOISE = 3,       /* reports repeat permanent noise */
    HSY_NOTE_ATTENDANCE_BOUND = 4, /* rounds unknown: error is a bound */
    HSY_NOTE_PAIRED = 5,           /* common permanent noise was subtracted */
    HSY_NOTE_OVERLAP = 6,          /* tallies may share reports */
    HSY_DOUBT_SUPPORT = 7,         /* p: hsy_plausibility.support_p */
    HSY_DOUBT_SUM = 8,             /* p: hsy_plausibility.sum_p */
    HSY_DOUBT_WEIGHTS = 9,         /* p: hsy_plausibility.weights_p */
    HSY_DOUBT_SEEDS = 10,          /* p: hsy_plausibility.seeds_p */
    HSY_DOUBT_LYING = 11,          /* p: p-value of the tests for lying */
    HSY_DOUBT_FEW = 12,            /* count: number of reports */
    HSY_DOUBT_STEPS = 13,          /* count: steps of EM, which did not
                                      converge */
    HSY_DOUBT_OUTSIDE = 14,     /* count of `of` intervals lie outside [0, 1];
                                   p is the number expected by chance */
    HSY_DOUBT_OUTSIDE_ODD = 15, /* as OUTSIDE, but significantly many */
    HSY_DOUBT_CANDIDATES = 16,  /* post-processing assumed that the candidates
                                   are all values */
    HSY_DOUBT_DETECTED = 17,    /* RAPPOR: detected shares exceed 100 % */
    HSY_DOUBT_STRINGS = 18,     /* an attribute has no candidates */
    HSY_DOUBT_UNANSWERED = 19,  /* no report holds the attribute */
    HSY_NOTE_SUM = 20,          /* p: sum of the shares of all values */
    HSY_NOTE_WIDE = 21          /* count of `of` simultaneous intervals cover
                                   all of [0, 1] */
} hsy_analysis_code;

typedef struct hsy_analysis_note {
    hsy_analysis_code code;
    uint32_t which;              /* 1: about the subtracted tally */
    hsy_analysis_text attribute; /* attribute of a tuple; else NULL */
    double p;
    uint64_t count, of;
} hsy_analysis_note;

/* hsy_analysis_code_name returns a short name for programs,
 * hsy_analysis_code_text a sentence. Both are literals. */
HSY_API const char *hsy_analysis_code_name(hsy_analysis_code code);
HSY_API const char *hsy_analysis_code_text(hsy_analysis_code code);

/* A result. It owns its memory; treat it as read-only. */
typedef struct hsy_analysis_result {
    hsy_analysis_question question;
    hsy_scheme_info info;
    hsy_scheme_info against; /* of the subtracted tally, if two are compared */
    bool compared, paired, overlap;
    bool from_files;                   /* from RAPPOR's own files, without a
                                          tally */
    uint64_t reports, reports_against; /* central: number of releases */
    double people, people_against;     /* NaN except for central releases */
    uint64_t devices_in_all;           /* as in the request */
    bool attends;                      /* attended is set */
    hsy_attendance attended;
    bool shuffled; /* batch and worth are set */
    hsy_batch batch;
    hsy_worth worth; /* privacy of the smallest batch */
    /* All batches of the reports, if known, with the least private terms.
     * nano_central 0: nothing was promised under the terms that worth uses. */
    hsy_batches batches;
    uint64_t each; /* most reports of one device, each in its own batch;
                      epsilon_each and delta_each are their total */
    double epsilon_each, delta_each;

    hsy_confidence how; /* its level holds for rows that were not selected */
    bool simultaneous;
    hsy_post post;
    hsy_density_method density; /* maximum-likelihood shares; AUTO: from
                                   evidence */
    const char *why;            /* reason why there are no intervals; NULL if
                                   there are */

    double lying;          /* assumed share of lying devices; NaN: no bound */
    hsy_poison_bound lies; /* largest widening of a row */
    double lying_p;        /* p-value of the tests for lying devices; NaN: none
                              applies */
    bool tested;           /* plausibility was tested; notes hold the result */

    uint32_t columns; /* bit 1 << hsy_analysis_column */
    hsy_analysis_row *rows;
    size_t count;          /* number of rows */
    uint64_t selected, of; /* number of rows selected, and number they were
                              selected from */
    bool largest_first;
    double level_selected; /* level of the intervals of selected rows */
    bool has_rest;         /* some values are not in the rows */
    hsy_estimate rest;     /* sum of those; NaN: no error is known */
    hsy_analysis_row *quantiles;
    size_t nquantiles;
    hsy_evidence *points; /* evidence of all requested values, by place; NULL:
                             not used */
    hsy_analysis_note *notes;
    size_t nnotes;

    /* RAPPOR. */
    hsy_rappor_law law;
    hsy_rappor_summary summary;
    hsy_rappor_options rappor;
    uint64_t candidates; /* candidates, also of a search */
    size_t unshown;      /* detected candidates that are not in the rows */
    hsy_estimate not_shown;

    /* A search. */
    uint64_t groups, found;
    double detectable; /* share that passes each stage with probability 95 % */
    bool significant;  /* rows are only significant strings */
    uint32_t stage, stages, bits; /* search in batches; stage 0: not in
                                     batches */

    void *memory; /* memory of names */
} hsy_analysis_result;

/* Analyze a tally by its mechanism's analysis (hsy_scheme_info.analysis), or
 * its difference from `against` (may be NULL), which must have the same
 * question. Returns HSY_E_MISMATCH with the reason in err->msg if it has not,
 * and HSY_E_REFUSED for mechanisms whose shares are estimated jointly: no
 * difference is defined. Returns HSY_E_EMPTY without reports. Returns
 * HSY_E_RANGE or HSY_E_UNKNOWN with the field of the request, for candidates
 * with the position (from 1) in err->at. Returns HSY_E_NOMEM if memory runs
 * out. On failure the result is zeroed. */
HSY_API hsy_status hsy_analysis_run(hsy_analysis_result *out,
                                    const hsy_analysis_tally *t,
                                    const hsy_analysis_tally *against,
                                    const hsy_analysis_request *request,
                                    hsy_error *err);
HSY_API void hsy_analysis_clear(hsy_analysis_result *r);

/* Write a result as JSON [RFC 8259] or as CSV [RFC 4180]; free it with free().
 */
HSY_API hsy_status hsy_analysis_json(const hsy_analysis_result *r, char **json,
                                     size_t *len, hsy_error *err);
HSY_API hsy_status hsy_analysis_csv(const hsy_analysis_result *r, char **csv,
                                    size_t *len, hsy_error *err);

/* Returns the name of a column in JSON and CSV. A literal. */
HSY_API const char *hsy_analysis_column_name(hsy_analysis_column column);

#ifdef __cplusplus
}
#endif

#endif
