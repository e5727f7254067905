/*
 * hearsay_host.h - a device on a computer, and the files tasks come from.
 *
 * libhearsay leaves files, clock, entropy and signatures to its caller; this
 * library brings the real ones: a directory for the state, the system's clock,
 * getrandom, libsodium, HTTP by libcurl; and tasks.yaml, read by libyaml.
 *
 *     hsy_client *client;
 *     hsy_client_open(&client, "state", &policy, "tasks.signed", NULL, &err);
 *     hsy_client_answer(client, "browser", &truth, NULL, &err);
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

/* The release of a task, NULL if there is none; all of them. */
HSY_API const hsy_release *hsy_client_release(hsy_client *client,
                                              const char *task);
HSY_API const hsy_release *const *hsy_client_releases(hsy_client *client,
                                                      size_t *n);

/* The task that release i was admitted for, as it stands in the document; false
 * past the end. */
HSY_API bool hsy_client_task(hsy_client *client, size_t i, hsy_task *task);

/* Refused task number i, and why; false past the end. */
HSY_API bool hsy_client_refused(hsy_client *client, size_t i, hsy_task *task,
                                hsy_error *why);

/* As hsy_device_answer, hsy_device_next and hsy_device_sent. */
HSY_API hsy_status hsy_client_answer(hsy_client *client, const char *task,
                                     const hsy_truth *truth,
                                     hsy_answer_state *state, hsy_error *err);

/* A truth from text, as a line of `hearsay randomize`: yes or no, one of the
 * values, a decimal, a string. What is not listed becomes `other`, a number
 * outside the range its nearer end. HSY_E_FORMAT or HSY_E_RANGE if the text is
 * no answer: then nothing is charged. */
HSY_API hsy_status hsy_client_answer_text(hsy_client *client, const char *task,
                                          const char *text, size_t len,
                                          hsy_answer_state *state,
                                          hsy_error *err);
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
 * HSY_OK if nothing waits any more; HSY_E_IO if something does, result says
 * what and why, or if there is no libcurl, which is loaded by the first call;
 * HSY_E_RANGE for a url, token or option that makes no sense. options may be
 * NULL. The client is not let go while this waits: a program that must answer
 * meanwhile sends with attempts 1, and waits by itself.
 */
HSY_API hsy_status hsy_device_upload(hsy_client *client, const char *url,
                                     const hsy_send_options *options,
                                     hsy_send_result *result, hsy_error *err);

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

#ifdef __cplusplus
}
#endif

#endif
