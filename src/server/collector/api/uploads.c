/*
 * uploads.c - a body of uploads from its first byte to its answer.
 *
 * An upload is acknowledged when counting.h says that it is durable, and not
 * otherwise: if the store fails the connection is cut, and the device sends the
 * same bytes again.
 */
#define _GNU_SOURCE
#include "server/collector/api/api.h"

#include "host/base/fields.h"
#include "host/base/host_fail.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define UPLOADS_DETAIL 512u

/* Who has sent a request, while its uploads are read. */
struct uploads_sender {
    struct collector *c;
    const char *token; /* NULL: none */
    struct submission *s;
    const struct roster_entry *last; /* what was asked before, and */
    enum tokens_entry entry;         /* the answer */
};

bool uploads_accepted(const struct intake_upload *u)
{
    return u->verdict == INTAKE_COUNTED || u->verdict == INTAKE_AGAIN;
}

/* ---- Answers ------------------------------------------------------------- */

/* Each upload has its verdict. */
static void uploads_judged(struct uploads *u, const struct intake *in)
{
    const struct intake_row *first = NULL;
    struct uploads_answer a = {.status = 204};
    size_t accepted = 0;

    for (size_t i = 0; i < in->n; i++) {
        if (uploads_accepted(&in->uploads[i]))
            accepted++;
        else if (first == NULL)
            first = &intake_verdicts[in->uploads[i].verdict];
    }
    if (first != NULL) {
        a = (struct uploads_answer){.status = first->status,
                                    .reason = first->name,
                                    .title = first->title,
                                    .refusals = in};
        if (accepted != 0)
            a.status = 200;
        else if (first->status == 429)
            a.retry_after = "3600";
        else if (first == &intake_verdicts[INTAKE_DOUBT])
            a.retry_after = "5";
        else if (first->status == 503)
            a.retry_after = "60";
    }
    u->answer(u, &a);
}

/* All are refused for now. */
static void uploads_later(struct uploads *u, enum watch_refusal why)
{
    static const struct {
        const char *seconds, *detail;
    } all[] = {[WATCH_DISK] = {"10", "the disk is full; nothing was counted"},
               [WATCH_BUSY] = {"1", "too many uploads wait; nothing was "
                                    "counted"},
               [WATCH_MEMORY] = {"10", "out of memory"}};
    const struct uploads_answer a = {.status = 503,
                                     .retry_after = all[why].seconds,
                                     .reason = watch_refusals[why],
                                     .title = "no room at present",
                                     .detail = all[why].detail};

    watch_refused(u->collector->watch, why);
    u->answer(u, &a);
}

/* By the admitter's thread. The submission is gone with the answer, so the
 * intake is taken out of it. */
static void uploads_done(struct submission *s)
{
    struct uploads *u = (struct uploads *)s;
    struct intake in = s->in;

    if (s->outcome == HSY_OK) {
        watch_taken(u->collector->watch);
        uploads_judged(u, &in);
    } else if (s->outcome == HSY_E_FULL) {
        uploads_later(u, WATCH_DISK);
    } else {
        u->answer(u, &(struct uploads_answer){.status = 0});
    }
    intake_clear(&in);
}

static void uploads_malformed(struct uploads *u, const hsy_error *err)
{
    char detail[UPLOADS_DETAIL], where[64] = "";
    const struct uploads_answer a = {.status = 400,
                                     .reason = watch_refusals[WATCH_MALFORMED],
                                     .title = "the body cannot be read",
                                     .detail = detail};

    if (err->status == HSY_E_NOMEM) {
        uploads_later(u, WATCH_MEMORY);
        return;
    }
    watch_refused(u->collector->watch, WATCH_MALFORMED);
    if (err->at != 0)
        snprintf(where, sizeof where,
                 "upload %llu: ", (unsigned long long)err->at);
    snprintf(detail, sizeof detail, "%s%s%s%s; nothing was counted", where,
             host_field_name(err->field),
             err->field == HSY_FIELD_NONE ? "" : ": ", err->msg);
    u->answer(u, &a);
}

/* ---- Reading ------------------------------------------------------------- */

bool uploads_form(enum intake_form *form, const char *type, size_t len)
{
    static const char *const types[] = {[INTAKE_BINARY] =
                                            "application/octet-stream",
                                        [INTAKE_JSON] = "application/json"};
    size_t word = 0;

    while (word < len && type[word] != '\0' &&
           strchr("; \t", type[word]) == NULL)
        word++;
    for (int i = INTAKE_BINARY; i <= INTAKE_JSON; i++)
        if (word == strlen(types[i]) &&
            strncasecmp(type, types[i], word) == 0) {
            *form = (enum intake_form)i;
            return true;
        }
    return false;
}

/* Whether the request's token is good for uploads of an entry. A submission
 * has one token: a forwarder's is good for all tasks, others for one. */
static enum tokens_entry uploads_token(const struct uploads_sender *from,
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
static uint32_t uploads_most(void *ctx, struct intake_upload *u)
{
    struct uploads_sender *from = ctx;

    if (u->entry != from->last) {
        from->last = u->entry;
        from->entry = uploads_token(from, u->entry);
    }
    u->enrolled = from->entry == TOKENS_GOOD || from->entry == TOKENS_FORWARDER;
    if (from->entry == TOKENS_FORWARDER)
        return (uint32_t)from->c->config.reports_upload;
    return from->entry != TOKENS_BAD;
}

static hsy_status uploads_read(struct uploads *u, uint8_t *body, size_t len,
                               hsy_error *err)
{
    struct collector *c = u->collector;
    struct submission *s = &u->submission;
    struct uploads_sender from = {
        .c = c, .token = u->token, .s = s, .entry = TOKENS_OPEN};
    const struct intake_gate gate = {
        .most = uploads_most,
        .ctx = &from,
        .shuffler = c->hop != NULL ? hop_shuffler(c->hop) : NULL};
    struct roster *roster = engine_roster(c->engine);
    const hsy_status st = intake_read(&s->in, roster, engine_days(c->engine),
                                      &gate, u->form, body, len, err);

    roster_drop(roster);
    if (st != HSY_OK || !u->single || s->in.n == 1)
        return st;
    intake_clear(&s->in);
    return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                     "a sealed request has exactly one upload");
}

void uploads_take(struct uploads *u, uint8_t *body, size_t len)
{
    hsy_error err = {0};

    u->submission.done = uploads_done;
    if (body == NULL) {
        uploads_later(u, WATCH_MEMORY);
    } else if (uploads_read(u, body, len, &err) != HSY_OK) {
        uploads_malformed(u, &err);
    } else if (!counting_submit(u->collector->counting, &u->submission)) {
        struct intake in = u->submission.in;

        uploads_later(u, WATCH_BUSY);
        intake_clear(&in);
    }
}
