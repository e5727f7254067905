/*
 * send_sealed.c - an upload, or the wish for the next document, as a sealed
 * request (Oblivious HTTP), and the answer that only its sender can open.
 *
 * Requests and answers each have one length, which the document states, and
 * every request has a seal of its own; what is inside is the same however often
 * it takes. Whoever answers in clear, relay, gateway or a stranger, has not
 * acknowledged anything. The request for a document is the same for everybody,
 * and an answer that holds one has the length that this document states.
 */
#define _GNU_SOURCE /* memmem, explicit_bzero */
#include "host/client/send.h"

#include "host/base/grow.h"
#include "host/base/owned.h"
#include "host/seal/bhttp.h"
#include "host/seal/ohttp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEALED_URL 2048u
#define SEALED_TOKEN 320u
#define SEALED_DIGITS 9u /* of seconds, more are as good as never */

struct send_sealed {
    bool https;
    char authority[SEALED_URL];
    char token[SEALED_TOKEN]; /* "": none */
    uint8_t *bytes;           /* owned: of a request */
    size_t room;
    struct ohttp_client keep;
};

/* ---- Opening ------------------------------------------------------------- */

hsy_status hsy_sealed_open(struct send_sealed **out, const char *url,
                           const char *token, hsy_error *err)
{
    struct send_sealed *s = calloc(1, sizeof *s);
    const char *host = strstr(url, "://");
    size_t len;

    if (s == NULL)
        return host_nomem(err);
    *out = s;
    s->https = strncmp(url, "https", 5) == 0;
    host = host != NULL ? host + 3 : url;
    len = strcspn(host, "/");
    if (len >= sizeof s->authority)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_URL, "too long");
    memcpy(s->authority, host, len);
    if (token != NULL && snprintf(s->token, sizeof s->token, "Bearer %s",
                                  token) >= (int)sizeof s->token)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_TOKEN, "too long");
    return HSY_OK;
}

void hsy_sealed_close(struct send_sealed *s)
{
    if (s == NULL)
        return;
    ohttp_client_clear(&s->keep);
    explicit_bzero(s->token, sizeof s->token);
    free(s->bytes);
    free(s);
}

/* ---- A request ----------------------------------------------------------- */

/* Binary HTTP of size bytes, sealed. */
static const char *sealed_seal(struct send_sealed *s,
                               const struct send_way *way, uint32_t turn,
                               struct bhttp_request *r, size_t size,
                               const uint8_t **bytes, size_t *len)
{
    const size_t room = size + OHTTP_REQUEST_EXTRA;
    const struct hsy_gateway_key *key;
    hsy_status st = HSY_E_NOMEM;
    size_t written;

    if (way->nkeys == 0 || way->request_bytes == 0)
        return "the document has no key of a gateway to seal for";
    r->scheme = bhttp_text(s->https ? "https" : "http");
    r->authority = bhttp_text(s->authority);
    if (grow_room(&s->bytes, &s->room, room, 1))
        st = bhttp_request_encode(s->bytes + OHTTP_REQUEST_HEAD, size, &written,
                                  r, size);
    key = &way->keys[turn % way->nkeys];
    if (st == HSY_OK)
        st = ohttp_request_seal(&s->keep, s->bytes, room, len, key->id,
                                key->key, SEAL_CHACHA20, NULL,
                                s->bytes + OHTTP_REQUEST_HEAD, size);
    if (st != HSY_OK)
        return st == HSY_E_FULL
                   ? "the upload does not fit the document's requests"
                   : "it could not be sealed";
    *bytes = s->bytes;
    return NULL;
}

const char *hsy_sealed_request(struct send_sealed *s,
                               const struct send_way *way, uint32_t turn,
                               const uint8_t *upload, size_t upload_len,
                               const uint8_t **bytes, size_t *len)
{
    struct bhttp_request r = {
        .method = bhttp_text("POST"),
        .path = bhttp_text("/v1/uploads"),
        .fields = {{bhttp_text("content-type"),
                    bhttp_text("application/octet-stream")}},
        .n_fields = 1,
        .content = upload,
        .content_len = upload_len};

    if (s->token[0] != '\0')
        r.fields[r.n_fields++] = (struct bhttp_field){
            bhttp_text("authorization"), bhttp_text(s->token)};
    return sealed_seal(s, way, turn, &r, way->request_bytes, bytes, len);
}

/* ---- Its answer ---------------------------------------------------------- */

static uint64_t sealed_seconds(const struct bhttp_response *r)
{
    const struct bhttp_text *text =
        bhttp_field(r->fields, r->n_fields, "retry-after");
    uint64_t n = 0;

    if (text == NULL || text->len == 0 || text->len > SEALED_DIGITS)
        return 0;
    for (size_t i = 0; i < text->len; i++) {
        if (text->at[i] < '0' || text->at[i] > '9')
            return 0;
        n = 10 * n + (uint64_t)(text->at[i] - '0');
    }
    return n;
}

/* What the gateway says, in a text that is to be freed; NULL: nobody who could
 * open the request has said it. */
static uint8_t *sealed_opened(const struct send_sealed *s,
                              const struct send_answer *outer,
                              struct bhttp_response *r,
                              struct send_answer *answer)
{
    uint8_t *text = malloc(outer->len + 1);
    const struct bhttp_text *type;
    size_t len;

    if (text == NULL ||
        ohttp_response_open(&s->keep, text, &len, outer->body, outer->len) !=
            HSY_OK ||
        bhttp_response_decode(r, text, len) != HSY_OK) {
        free(text);
        return NULL;
    }
    type = bhttp_field(r->fields, r->n_fields, "content-type");
    *answer = (struct send_answer){
        .status = r->status,
        .retry_after = sealed_seconds(r),
        .problem = type != NULL && bhttp_is(*type, "application/problem+json"),
        .early = r->content_len != 0 &&
                 memmem(r->content, r->content_len, "\"early\"", 7) != NULL};
    return text;
}

/* Another length would let whoever chose it know the answer on its way. */
static bool sealed_length(const struct send_answer *outer,
                          const struct send_way *way)
{
    return outer->len == (size_t)way->response_bytes + OHTTP_RESPONSE_EXTRA;
}

/* In clear, or of another length: not sent, whatever it says. What may be
 * otherwise soon is tried again, an unknown key with the other one. */
static void sealed_refused(const struct send_answer *outer, bool length,
                           const struct send_way *way,
                           struct send_answer *answer)
{
    *answer = (struct send_answer){.why = outer->why, .again = outer->again};
    if (outer->status == 0)
        return;
    if (outer->status == 200 && outer->sealed)
        answer->why = length
                          ? "the answer was not sealed for this request"
                          : "the answer has another length than the document "
                            "states";
    else if (outer->status == 502 || outer->status == 503 ||
             outer->status == 504)
        answer->why = "the relay does not reach the collector";
    else if (outer->status == 400 && outer->problem)
        answer->why =
            "the gateway has another key or length than these tasks name: take "
            "the tasks again";
    else
        answer->why = "what answers at the relay's URL is no relay";
    answer->again = outer->status >= 500 || outer->status == 429 ||
                    (outer->status == 400 && way->nkeys > 1);
    answer->retry_after = outer->retry_after;
}

void hsy_sealed_answer(struct send_sealed *s, const struct send_way *way,
                       const struct send_answer *outer,
                       struct send_answer *answer)
{
    struct bhttp_response r;
    uint8_t *text = NULL;

    if (outer->status == 200 && outer->sealed && sealed_length(outer, way))
        text = sealed_opened(s, outer, &r, answer);
    if (text == NULL)
        sealed_refused(outer, sealed_length(outer, way), way, answer);
    free(text);
    ohttp_client_clear(&s->keep);
}

void hsy_sealed_post(struct send_sealed *s, struct send_http *relay,
                     const struct send_way *way, uint32_t turn,
                     const uint8_t *upload, size_t len, uint32_t seconds,
                     struct send_answer *answer)
{
    struct send_answer outer;
    const uint8_t *bytes;
    size_t sealed;

    *answer = (struct send_answer){.unsent = true};
    answer->why =
        hsy_sealed_request(s, way, turn, upload, len, &bytes, &sealed);
    if (answer->why != NULL)
        return;
    hsy_http_post(relay, bytes, sealed, seconds, SEND_ANSWER_MAX, &outer);
    hsy_sealed_answer(s, way, &outer, answer);
}

/* ---- The document -------------------------------------------------------- */

/* Whether an answer may hold a document. The document in it says which of the
 * lengths it has, so that a later one may be longer. */
static bool sealed_document_length(const struct send_answer *outer)
{
    const size_t n = outer->len - OHTTP_RESPONSE_EXTRA;

    return outer->len >= HSY_DOCUMENT_BYTES_MIN + OHTTP_RESPONSE_EXTRA &&
           n <= HSY_DOCUMENT_BYTES_MAX && (n & (n - 1)) == 0;
}

/* Why what a gateway gave is not the document that it should be; NULL: it is,
 * or it is none, which shows when it is read. */
static const char *sealed_document_wrong(const struct bhttp_response *r,
                                         const struct send_answer *outer)
{
    hsy_document doc;
    hsy_parties p;

    if (r->content_len == 0)
        return "the document is empty";
    if (hsy_document_open(&doc, r->content, r->content_len, NULL) != HSY_OK)
        return NULL;
    hsy_document_parties(&doc, &p);
    return outer->len == (size_t)p.document_bytes + OHTTP_RESPONSE_EXTRA
               ? NULL
               : "the answer has another length than the document in it "
                 "states";
}

static void sealed_document(struct send_sealed *s, const struct send_way *way,
                            const struct send_answer *outer, uint8_t **bytes,
                            size_t *len, struct send_answer *answer)
{
    const bool holds = sealed_document_length(outer);
    const bool length = holds || sealed_length(outer, way);
    struct bhttp_response r;
    uint8_t *text = NULL;

    if (outer->status == 200 && outer->sealed && length)
        text = sealed_opened(s, outer, &r, answer);
    if (text == NULL) {
        sealed_refused(outer, length, way, answer);
        if (outer->status == 400 && outer->problem)
            answer->why = "the gateway has another key than these tasks name: "
                          "take the next document from a file";
    } else if ((r.status == 200) != holds) {
        *answer = (struct send_answer){
            .why = "the answer has another length than the document states"};
    } else if (holds) {
        answer->why = sealed_document_wrong(&r, outer);
        answer->status = answer->why == NULL ? 200 : 0;
    } else if (r.status == 404) {
        *answer = (struct send_answer){.why = "the gateway gives no documents"};
    }
    if (text != NULL && answer->status == 200) {
        *len = r.content_len;
        memmove(text, r.content, *len);
        *bytes = text;
        text = NULL;
    }
    free(text);
    ohttp_client_clear(&s->keep);
}

void hsy_sealed_fetch(struct send_sealed *s, struct send_http *relay,
                      const struct send_way *way, uint32_t turn,
                      uint32_t seconds, uint8_t **bytes, size_t *len,
                      struct send_answer *answer)
{
    struct bhttp_request r = {.method = bhttp_text("GET"),
                              .path = bhttp_text("/v1/document")};
    struct send_answer outer;
    const uint8_t *request;
    size_t sealed;

    *bytes = NULL;
    *answer = (struct send_answer){.status = 0};
    answer->why =
        sealed_seal(s, way, turn, &r, HSY_REQUEST_MIN, &request, &sealed);
    if (answer->why != NULL)
        return;
    hsy_http_post(relay, request, sealed, seconds,
                  HSY_DOCUMENT_BYTES_MAX + OHTTP_RESPONSE_EXTRA, &outer);
    sealed_document(s, way, &outer, bytes, len, answer);
}
