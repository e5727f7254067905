/*
 * send_sealed.c - an upload as a sealed request (Oblivious HTTP), and the
 * answer that only its sender can open.
 *
 * Every request has one length, which the document says, and a seal of its own;
 * what is inside is the same however often it takes. Whoever answers in clear,
 * relay, gateway or a stranger, has not acknowledged anything.
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

/* Binary HTTP of the document's length, behind the room for a seal's head. */
static hsy_status sealed_message(struct send_sealed *s,
                                 const struct send_way *way,
                                 const uint8_t *upload, size_t len)
{
    struct bhttp_request r = {
        .method = bhttp_text("POST"),
        .scheme = bhttp_text(s->https ? "https" : "http"),
        .authority = bhttp_text(s->authority),
        .path = bhttp_text("/v1/uploads"),
        .fields = {{bhttp_text("content-type"),
                    bhttp_text("application/octet-stream")}},
        .n_fields = 1,
        .content = upload,
        .content_len = len};
    const size_t room = way->request_bytes + OHTTP_REQUEST_EXTRA;
    size_t written;

    if (s->token[0] != '\0')
        r.fields[r.n_fields++] = (struct bhttp_field){
            bhttp_text("authorization"), bhttp_text(s->token)};
    if (!grow_room(&s->bytes, &s->room, room, 1))
        return HSY_E_NOMEM;
    return bhttp_request_encode(s->bytes + OHTTP_REQUEST_HEAD,
                                way->request_bytes, &written, &r,
                                way->request_bytes);
}

const char *hsy_sealed_request(struct send_sealed *s,
                               const struct send_way *way, uint32_t turn,
                               const uint8_t *upload, size_t upload_len,
                               const uint8_t **bytes, size_t *len)
{
    hsy_status st;

    if (way->nkeys == 0 || way->request_bytes == 0)
        return "the document has no key of a gateway to seal for";
    st = sealed_message(s, way, upload, upload_len);
    if (st == HSY_OK) {
        const struct hsy_gateway_key *key = &way->keys[turn % way->nkeys];

        st = ohttp_request_seal(
            &s->keep, s->bytes, way->request_bytes + OHTTP_REQUEST_EXTRA, len,
            key->id, key->key, SEAL_CHACHA20, NULL,
            s->bytes + OHTTP_REQUEST_HEAD, way->request_bytes);
    }
    if (st != HSY_OK)
        return st == HSY_E_FULL
                   ? "the upload does not fit the document's requests"
                   : "it could not be sealed";
    *bytes = s->bytes;
    return NULL;
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

/* What the gateway says; false: nobody who could open the request has said it.
 */
static bool sealed_opened(const struct send_sealed *s,
                          const struct send_answer *outer,
                          struct send_answer *answer)
{
    uint8_t *text = malloc(outer->len + 1);
    const struct bhttp_text *type;
    struct bhttp_response r;
    size_t len;
    bool good;

    if (text == NULL)
        return false;
    good = ohttp_response_open(&s->keep, text, &len, outer->body, outer->len) ==
               HSY_OK &&
           bhttp_response_decode(&r, text, len) == HSY_OK;
    if (good) {
        type = bhttp_field(r.fields, r.n_fields, "content-type");
        *answer = (struct send_answer){
            .status = r.status,
            .retry_after = sealed_seconds(&r),
            .problem =
                type != NULL && bhttp_is(*type, "application/problem+json"),
            .early = r.content_len != 0 &&
                     memmem(r.content, r.content_len, "\"early\"", 7) != NULL};
    }
    free(text);
    return good;
}

/* In clear: not sent, whatever it says. What may be otherwise soon is tried
 * again, an unknown key with the other one. */
static void sealed_refused(const struct send_answer *outer,
                           const struct send_way *way,
                           struct send_answer *answer)
{
    *answer = (struct send_answer){.why = outer->why, .again = outer->again};
    if (outer->status == 0)
        return;
    if (outer->status == 200 && outer->sealed)
        answer->why = "the answer was not sealed for this request";
    else if (outer->status == 502 || outer->status == 503 ||
             outer->status == 504)
        answer->why = "the relay does not reach the collector";
    else if (outer->status == 400 && outer->problem)
        answer->why =
            "the gateway has another key than these tasks name: take the tasks "
            "again";
    else
        answer->why = "what answers there is no relay";
    answer->again = outer->status >= 500 || outer->status == 429 ||
                    (outer->status == 400 && way->nkeys > 1);
    answer->retry_after = outer->retry_after;
}

void hsy_sealed_answer(struct send_sealed *s, const struct send_way *way,
                       const struct send_answer *outer,
                       struct send_answer *answer)
{
    if (outer->status != 200 || !outer->sealed ||
        !sealed_opened(s, outer, answer))
        sealed_refused(outer, way, answer);
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

    *answer = (struct send_answer){.status = 0};
    answer->why =
        hsy_sealed_request(s, way, turn, upload, len, &bytes, &sealed);
    if (answer->why != NULL)
        return;
    hsy_http_post(relay, bytes, sealed, seconds, &outer);
    hsy_sealed_answer(s, way, &outer, answer);
}
