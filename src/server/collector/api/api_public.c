/*
 * api_public.c - what anyone may ask: take my uploads, what are the tasks, are
 * you there.
 *
 * An upload is acknowledged when workers.h says that it is durable, and not
 * otherwise: if the store fails the connection is cut, and the device sends the
 * same bytes again.
 */
#define _GNU_SOURCE /* open_memstream */
#include "host/base/fields.h"
#include "server/collector/collector.h"

#include "host/base/hex.h"
#include "host/base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PUBLIC_BODY_MAX (64u << 20) /* the configuration's limit is below */
#define PUBLIC_HEALTH 32u
#define PUBLIC_TAG_BYTES 16u
#define PUBLIC_TAG (2 * PUBLIC_TAG_BYTES + 3)

/* Who has sent a request, while its uploads are read. */
struct public_sender {
    struct collector *c;
    const char *token; /* NULL: none */
    struct submission *s;
    const struct roster_entry *last; /* what was asked before, and */
    enum tokens_entry entry;         /* the answer */
};

struct public_upload {
    struct submission submission; /* the first member */
    struct request *request;
    struct collector *collector;
};

/* ---- The answer ---------------------------------------------------------- */

static bool public_accepted(const struct intake_upload *u)
{
    return u->verdict == INTAKE_COUNTED || u->verdict == INTAKE_AGAIN;
}

/* "refused":[{"upload":1,"status":409,"reason":"conflict","title":"..."}] */
static void public_list(struct put *p, const struct intake *in)
{
    put_array(p, "refused");
    for (size_t i = 0; i < in->n; i++) {
        const struct intake_row *row = &intake_verdicts[in->uploads[i].verdict];

        if (public_accepted(&in->uploads[i]))
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

/* Some uploads are refused: which, and why. */
static void public_refuse(struct request *q, const struct intake *in,
                          size_t accepted, const struct intake_row *first)
{
    const bool some = accepted != 0;
    char *text = NULL;
    size_t len = 0;
    struct put p;
    hsy_status st = put_open_tight(&p, NULL);

    if (st == HSY_OK && some) {
        put_count(&p, "accepted", accepted);
    } else if (st == HSY_OK) {
        put_word(&p, "type", "about:blank");
        put_word(&p, "title", first->title);
        put_count(&p, "status", (uint64_t)first->status);
    }
    if (st == HSY_OK) {
        public_list(&p, in);
        st = put_close(&p, &text, &len, NULL);
    }
    if (st != HSY_OK) {
        request_answer(q, 0, NULL, NULL, 0, NULL);
        return;
    }
    if (!some && first->status == 429)
        request_set(q, "Retry-After", "3600");
    if (!some && first->status == 503)
        request_set(q, "Retry-After", "60");
    request_answer(q, some ? 200 : first->status,
                   some ? "application/json" : "application/problem+json", text,
                   len, free);
}

static void public_answer(struct request *q, const struct intake *in)
{
    const struct intake_row *first = NULL;
    size_t accepted = 0;

    for (size_t i = 0; i < in->n; i++) {
        if (public_accepted(&in->uploads[i]))
            accepted++;
        else if (first == NULL)
            first = &intake_verdicts[in->uploads[i].verdict];
    }
    if (first == NULL)
        request_answer(q, 204, NULL, NULL, 0, NULL);
    else
        public_refuse(q, in, accepted, first);
}

/* The whole request is refused for now. */
static void public_later(struct collector *c, struct request *q,
                         enum watch_refusal why)
{
    static const struct {
        const char *seconds, *detail;
    } all[] = {[WATCH_DISK] = {"10", "the disk is full; nothing was counted"},
               [WATCH_BUSY] = {"1", "too many uploads wait; nothing was "
                                    "counted"},
               [WATCH_MEMORY] = {"10", "out of memory"}};

    watch_refused(c->watch, why);
    request_set(q, "Retry-After", all[why].seconds);
    request_problem(q, 503, "no room at present", "%s", all[why].detail);
}

/* By the admitter's thread. The submission is gone with the request's answer,
 * so the intake is taken out of it. */
static void public_done(struct submission *s)
{
    struct request *q = ((struct public_upload *)s)->request;
    struct collector *c = ((struct public_upload *)s)->collector;
    struct intake in = s->in;

    if (s->outcome == HSY_OK) {
        watch_taken(c->watch);
        public_answer(q, &in);
    } else if (s->outcome == HSY_E_FULL) {
        public_later(c, q, WATCH_DISK);
    } else {
        request_answer(q, 0, NULL, NULL, 0, NULL);
    }
    intake_clear(&in);
}

/* ---- Taking uploads ------------------------------------------------------ */

static bool public_form(const struct request *q, enum intake_form *form)
{
    static const char *const types[] = {[INTAKE_BINARY] =
                                            "application/octet-stream",
                                        [INTAKE_JSON] = "application/json"};
    const char *type = request_header(q, "Content-Type");
    size_t len = type == NULL ? 0 : strcspn(type, "; \t");

    for (int i = INTAKE_BINARY; i <= INTAKE_JSON; i++)
        if (len == strlen(types[i]) && strncasecmp(type, types[i], len) == 0) {
            *form = (enum intake_form)i;
            return true;
        }
    return false;
}

/* Whether the request's token is good for uploads of an entry. A submission
 * has one token: a forwarder's is good for all tasks, others for one. */
static enum tokens_entry public_token(const struct public_sender *from,
                                      const struct roster_entry *of)
{
    struct submission *s = from->s;
    uint8_t hash[sizeof s->token];
    uint32_t quota = 0;
    enum tokens_entry entry = tokens_enrolled(from->c->tokens, of->task.id,
                                              from->token, hash, &quota);

    if (entry != TOKENS_GOOD && entry != TOKENS_FORWARDER)
        return entry;
    if (s->quota != 0 && memcmp(s->token, hash, sizeof hash) != 0)
        return TOKENS_BAD;
    memcpy(s->token, hash, sizeof hash);
    s->quota = quota;
    return entry;
}

/* The gate of intake: how many reports an upload may have. */
static uint32_t public_most(void *ctx, struct intake_upload *u)
{
    struct public_sender *from = ctx;

    if (u->entry != from->last) {
        from->last = u->entry;
        from->entry = public_token(from, u->entry);
    }
    u->enrolled = from->entry == TOKENS_GOOD || from->entry == TOKENS_FORWARDER;
    if (from->entry == TOKENS_FORWARDER)
        return (uint32_t)from->c->config.reports_upload;
    return from->entry != TOKENS_BAD;
}

static void public_malformed(struct collector *c, struct request *q,
                             const hsy_error *err)
{
    if (err->status == HSY_E_NOMEM) {
        public_later(c, q, WATCH_MEMORY);
        return;
    }
    watch_refused(c->watch, WATCH_MALFORMED);
    if (err->at != 0)
        request_problem(q, 400, "the body cannot be read",
                        "upload %llu: %s%s%s; nothing was counted",
                        (unsigned long long)err->at,
                        host_field_name(err->field),
                        err->field == HSY_FIELD_NONE ? "" : ": ", err->msg);
    else
        request_problem(q, 400, "the body cannot be read",
                        "%s%s%s; nothing was counted",
                        host_field_name(err->field),
                        err->field == HSY_FIELD_NONE ? "" : ": ", err->msg);
}

static hsy_status public_read(struct collector *c, struct request *q,
                              struct submission *s, enum intake_form form,
                              hsy_error *err)
{
    struct public_sender from = {
        .c = c, .token = request_bearer(q), .s = s, .entry = TOKENS_OPEN};
    const struct intake_gate gate = {public_most, &from};
    struct roster *roster = engine_roster(c->engine);
    size_t len;
    uint8_t *body = request_take_body(q, &len);
    hsy_status st = body == NULL
                        ? HSY_E_NOMEM
                        : intake_read(&s->in, roster, engine_days(c->engine),
                                      &gate, form, body, len, err);

    if (body == NULL)
        *err = (hsy_error){.status = st, .msg = "out of memory"};
    roster_drop(roster);
    return st;
}

static void public_post_uploads(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    struct public_upload *u = request_memory(q, sizeof *u);
    enum intake_form form;
    hsy_error err = {0};

    if (!public_form(q, &form)) {
        watch_refused(c->watch, WATCH_TYPE);
        request_problem(q, 415, "wrong Content-Type",
                        "uploads are application/octet-stream or "
                        "application/json");
        return;
    }
    if (u == NULL) {
        public_later(c, q, WATCH_MEMORY);
        return;
    }
    *u = (struct public_upload){
        .submission.done = public_done, .request = q, .collector = c};
    if (public_read(c, q, &u->submission, form, &err) != HSY_OK) {
        public_malformed(c, q, &err);
        return;
    }
    if (!workers_submit(c->workers, &u->submission)) {
        struct intake in = u->submission.in;

        public_later(c, q, WATCH_BUSY);
        intake_clear(&in);
    }
}

/* ---- The rest ------------------------------------------------------------ */

/* What a cache asks by: the beginning of the signature, which is of all bytes.
 * It is the same for whoever asks, and so it marks nobody. */
static void public_tag(char tag[PUBLIC_TAG], const uint8_t *document,
                       size_t len)
{
    const uint8_t *signature = document + len - HSY_SIGNATURE;

    char digits[2 * PUBLIC_TAG_BYTES + 1];

    hex_put(digits, signature, PUBLIC_TAG_BYTES);
    snprintf(tag, PUBLIC_TAG, "\"%s\"", digits);
}

/* Whether who asks has it already. */
static bool public_has(const struct request *q, const char *tag)
{
    const char *given = request_header(q, "If-None-Match");

    return given != NULL &&
           (strcmp(given, "*") == 0 || strstr(given, tag) != NULL);
}

static void public_get_tasks(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    size_t len;
    uint8_t *document = engine_document_hold(c->engine, &len);
    char tag[PUBLIC_TAG];

    if (document == NULL) {
        request_problem(q, 404, "no tasks yet",
                        "the collector was given no document");
        return;
    }
    public_tag(tag, document, len);
    request_set(q, "ETag", tag);
    request_set(q, "Cache-Control", "public, max-age=300, no-transform");
    if (public_has(q, tag)) {
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
    {"POST", "/v1/uploads", LISTEN_ANYONE, PUBLIC_BODY_MAX,
     public_post_uploads},
    {"GET", "/v1/tasks", LISTEN_ANYONE, 0, public_get_tasks},
    {"GET", "/healthz", LISTEN_ANYONE, 0, public_get_health},
};
const size_t api_public_count = sizeof api_public / sizeof *api_public;
