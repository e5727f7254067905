/*
 * api_public.c - what anyone may ask: take my uploads, what are the tasks, are
 * you there.
 */
#define _GNU_SOURCE /* open_memstream */
#include "server/collector/api/api.h"

#include "host/base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC_BODY_MAX (64u << 20) /* the configuration's limit is below */
#define PUBLIC_HEALTH 32u

struct public_upload {
    struct uploads uploads; /* the first member */
    struct request *request;
};

/* ---- Uploads ------------------------------------------------------------- */

/* "refused":[{"upload":1,"status":409,"reason":"conflict","title":"..."}] */
static void public_list(struct put *p, const struct intake *in)
{
    put_array(p, "refused");
    for (size_t i = 0; i < in->n; i++) {
        const struct intake_row *row = &intake_verdicts[in->uploads[i].verdict];

        if (uploads_accepted(&in->uploads[i]))
            continue;
        put_object(p, NULL);
        put_count(p, "upload", i + 1);
        put_count(p, "status", (uint64_t)row->status);
        put_word(p, "reason", row->name);
        put_word(p, "title", row->title);
        put_end(p, '}');
    }
    put_end(p, ']');
}

static size_t public_accepted(const struct intake *in)
{
    size_t n = 0;

    for (size_t i = 0; i < in->n; i++)
        n += uploads_accepted(&in->uploads[i]);
    return n;
}

/* Some uploads are refused: which, and why. */
static void public_refuse(struct request *q, const struct uploads_answer *a)
{
    const size_t accepted = public_accepted(a->refusals);
    char *text = NULL;
    size_t len = 0;
    struct put p;
    hsy_status st = put_open_tight(&p, NULL);

    if (st == HSY_OK && accepted != 0) {
        put_count(&p, "accepted", accepted);
    } else if (st == HSY_OK) {
        put_word(&p, "type", "about:blank");
        put_word(&p, "title", a->title);
        put_count(&p, "status", (uint64_t)a->status);
    }
    if (st == HSY_OK) {
        public_list(&p, a->refusals);
        st = put_close(&p, &text, &len, NULL);
    }
    if (st != HSY_OK)
        request_answer(q, 0, NULL, NULL, 0, NULL);
    else
        request_answer(q, a->status,
                       accepted != 0 ? "application/json"
                                     : "application/problem+json",
                       text, len, free);
}

static void public_answer(struct uploads *u, const struct uploads_answer *a)
{
    struct request *q = ((struct public_upload *)u)->request;

    if (a->retry_after != NULL)
        request_set(q, "Retry-After", a->retry_after);
    if (a->refusals != NULL)
        public_refuse(q, a);
    else if (a->title != NULL)
        request_problem(q, a->status, a->title, "%s", a->detail);
    else
        request_answer(q, a->status, NULL, NULL, 0, NULL);
}

static void public_post_uploads(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    struct public_upload *u = request_memory(q, sizeof *u);
    const char *type = request_header(q, "Content-Type");
    enum intake_form form;
    uint8_t *body;
    size_t len;

    if (type == NULL || !uploads_form(&form, type, strlen(type))) {
        watch_refused(c->watch, WATCH_TYPE);
        request_problem(q, 415, "wrong Content-Type",
                        "uploads are application/octet-stream or "
                        "application/json");
        return;
    }
    if (u == NULL) {
        watch_refused(c->watch, WATCH_MEMORY);
        request_set(q, "Retry-After", "10");
        request_problem(q, 503, "no room at present", "out of memory");
        return;
    }
    *u = (struct public_upload){.uploads = {.collector = c,
                                            .token = request_bearer(q),
                                            .form = form,
                                            .answer = public_answer},
                                .request = q};
    body = request_take_body(q, &len);
    if (body == NULL) { /* out of memory */
        request_answer(q, 0, NULL, NULL, 0, NULL);
        return;
    }
    uploads_take(&u->uploads, body, len);
}

/* ---- The rest ------------------------------------------------------------ */

static void public_get_document(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    size_t len;
    uint8_t *document = engine_document_hold(c->engine, &len);

    if (document == NULL) {
        request_problem(q, 404, "no tasks yet",
                        "the collector was given no document");
        return;
    }
    request_set(q, "Cache-Control", "public, max-age=300, no-transform");
    /* The signature is of all bytes. */
    if (request_unchanged(q, document + len - HSY_SIGNATURE)) {
        engine_document_drop(document);
        request_answer(q, 304, NULL, NULL, 0, NULL);
    } else {
        request_answer(q, 200, "application/octet-stream", document, len,
                       engine_document_drop);
    }
}

/* Of a rehearsal also its day: who drives the clock waits for it. */
static void public_get_health(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    char *text = request_memory(q, PUBLIC_HEALTH);
    struct engine_status status;

    if (c->config.rehearsal == NULL || text == NULL) {
        request_answer(q, 200, "text/plain", "ok\n", 3, NULL);
        return;
    }
    engine_status(c->engine, &status);
    snprintf(text, PUBLIC_HEALTH, "rehearsal day=%" PRIu32 "\n", status.day);
    request_answer(q, 200, "text/plain", text, strlen(text), NULL);
}

const struct route api_public[] = {
    {"POST", "/v1/uploads", LISTEN_ANYONE, PUBLIC_BODY_MAX, public_post_uploads,
     NULL},
    {"POST", "/v1/ohttp", LISTEN_ANYONE, GATEWAY_BODY_MAX, api_sealed, NULL},
    {"GET", "/.well-known/ohttp-gateway", LISTEN_ANYONE, 0, api_sealed_keys,
     NULL},
    {"POST", "/v1/batches", LISTEN_ANYONE, PARCEL_MAX, api_post_batch, NULL},
    {"GET", "/v1/batches", LISTEN_ANYONE, 0, api_batches, NULL},
    {"GET", "/v1/document", LISTEN_ANYONE, 0, public_get_document, NULL},
    {"GET", "/v1/documents", LISTEN_ANYONE, 0, api_documents, NULL},
    {"GET", "/healthz", LISTEN_ANYONE, 0, public_get_health, NULL},
};
const size_t api_public_count = sizeof api_public / sizeof *api_public;
