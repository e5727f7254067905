/*
 * api_sealed.c - uploads, and requests for the document, that came sealed by a
 * relay that knows who sent them and not what.
 *
 * One upload a request, to POST /v1/uploads; or GET /v1/document. All answers,
 * the refusals too, are inside and of one length, and documents of another. A
 * request for the document has no field that is read: everybody asks alike, and
 * gets the document that this server has loaded.
 */

#include "server/collector/api/api.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct sealed_upload {
    struct uploads uploads; /* the first member */
    struct request *request;
    struct ohttp_gateway keep;
};

static void sealed_answer(struct uploads *u, const struct uploads_answer *a)
{
    struct sealed_upload *s = (struct sealed_upload *)u;

    gateway_answer(u->collector->gateway, s->request, &s->keep,
                   (unsigned)a->status, a->retry_after, a->reason);
}

/* The token of an Authorization field, in the request's memory; NULL: none. */
static const char *sealed_token(struct request *q,
                                const struct bhttp_request *inner)
{
    const struct bhttp_text *given =
        bhttp_field(inner->fields, inner->n_fields, "authorization");
    char *token;

    if (given == NULL || given->len < 7 ||
        strncasecmp(given->at, "Bearer ", 7) != 0)
        return NULL;
    token = request_memory(q, given->len - 6);
    if (token != NULL) {
        memcpy(token, given->at + 7, given->len - 7);
        token[given->len - 7] = '\0';
    }
    return token;
}

/* 0 if it is an upload for us, else the status that says what it is not. */
static unsigned sealed_route(const struct bhttp_request *inner,
                             enum intake_form *form)
{
    const struct bhttp_text *type =
        bhttp_field(inner->fields, inner->n_fields, "content-type");

    if (!bhttp_is(inner->path, "/v1/uploads"))
        return 404;
    if (!bhttp_is(inner->method, "POST"))
        return 405;
    if (type == NULL || !uploads_form(form, type->at, type->len) ||
        *form != INTAKE_BINARY)
        return 415;
    return 0;
}

static void sealed_take(struct collector *c, struct gateway_asked *asked,
                        struct sealed_upload *s)
{
    const struct bhttp_request *inner = &asked->inner;
    const size_t len = inner->content_len;

    *s = (struct sealed_upload){
        .uploads = {.collector = c,
                    .token = sealed_token(asked->request, inner),
                    .form = INTAKE_BINARY,
                    .single = true,
                    .answer = sealed_answer},
        .request = asked->request,
        .keep = asked->keep};
    if (len != 0)
        memmove(asked->bytes, inner->content, len);
    uploads_take(&s->uploads, asked->bytes, len);
}

/* The document that is in force here, or 404. */
static void sealed_document(struct collector *c, struct gateway_asked *asked,
                            uint32_t size)
{
    size_t len = 0;
    uint8_t *document =
        size != 0 ? engine_document_hold(c->engine, &len) : NULL;

    if (document != NULL)
        gateway_document(c->gateway, asked->request, &asked->keep, size,
                         document, len);
    else
        gateway_answer(c->gateway, asked->request, &asked->keep, 404, NULL,
                       "no-document");
    engine_document_drop(document);
    free(asked->bytes);
}

void api_sealed(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    struct roster *roster = engine_roster(c->engine);
    const uint32_t request_bytes = roster_request_bytes(roster);
    const uint32_t document_bytes = roster_document_bytes(roster);
    struct gateway_asked asked;
    struct sealed_upload *s;
    enum intake_form form;
    unsigned status;

    roster_drop(roster);
    if (!gateway_open(c->gateway, q, request_bytes, &asked))
        return;
    if (gateway_asks_document(&asked)) {
        sealed_document(c, &asked, document_bytes);
        return;
    }
    s = request_memory(q, sizeof *s);
    status = s == NULL ? 503 : sealed_route(&asked.inner, &form);
    if (status == 0) {
        sealed_take(c, &asked, s);
    } else {
        free(asked.bytes);
        gateway_answer(c->gateway, q, &asked.keep, status,
                       status == 503 ? "10" : NULL,
                       status == 503 ? "memory" : "no-upload");
    }
    ohttp_gateway_clear(&asked.keep);
}

void api_sealed_keys(struct request *q, void *ctx)
{
    struct collector *c = ctx;

    gateway_show_keys(c->gateway, q);
}
