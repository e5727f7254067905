/* gateway.c - opening requests and sealing their answers. */
#define _GNU_SOURCE
#include "server/gateway/gateway.h"

#include "host/base/host_fail.h"
#include "host/tasks/keys.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gateway {
    pthread_mutex_t lock; /* of the keys */
    struct ohttp_key keys[GATEWAY_KEYS];
    size_t n;
    _Atomic uint64_t fates[GATEWAY_FATES], answers[6];
    _Atomic unsigned documents; /* in memory, sealed */
};

const char *const gateway_fates[GATEWAY_FATES] = {
    [GATEWAY_OPENED] = "opened",
    [GATEWAY_UNREADABLE] = "unreadable",
    [GATEWAY_UNKNOWN_KEY] = "unknown-key",
    [GATEWAY_TYPE] = "wrong-type",
    [GATEWAY_LENGTH] = "wrong-length"};

/* ---- Keys ---------------------------------------------------------------- */

hsy_status gateway_new(struct gateway **out, hsy_error *err)
{
    struct gateway *g = calloc(1, sizeof *g);

    if (g == NULL)
        return host_nomem(err);
    pthread_mutex_init(&g->lock, NULL);
    *out = g;
    return HSY_OK;
}

void gateway_free(struct gateway *g)
{
    if (g == NULL)
        return;
    pthread_mutex_destroy(&g->lock);
    explicit_bzero(g->keys, sizeof g->keys);
    free(g);
}

/* A key is called by the first byte of its name, which follows from its public
 * half: who has that knows the number. */
static hsy_status gateway_read_key(struct ohttp_key *key, const char *path,
                                   hsy_error *err)
{
    uint8_t name[SEAL_KEY_ID];
    const hsy_status st = keys_seal_secret(key->secret, path, err);

    if (st != HSY_OK)
        return st;
    if (seal_public(key->pub, key->secret) != HSY_OK)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "this secret has no public half");
    seal_key_id(name, key->pub);
    key->id = name[0];
    return HSY_OK;
}

/* Read at most GATEWAY_KEYS of them; HSY_E_REFUSED if others can read one, or
 * two would be called by one number. */
static hsy_status gateway_read_keys(struct ohttp_key *keys, size_t *n,
                                    char *const *files, const char **about,
                                    hsy_error *err)
{
    *n = 0;
    for (; files != NULL && *files != NULL; files++) {
        hsy_status st;

        *about = *files;
        if (*n == GATEWAY_KEYS)
            return host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE,
                             "a gateway has two keys at most: one in use, and "
                             "the one before or after it");
        st = gateway_read_key(&keys[*n], *files, err);
        if (st != HSY_OK)
            return st;
        for (size_t i = 0; i < *n; i++)
            if (keys[i].id == keys[*n].id)
                return host_fail(err, HSY_E_REFUSED, HSY_FIELD_NONE,
                                 "this key would have the number of the other: "
                                 "make another");
        ++*n;
    }
    return HSY_OK;
}

hsy_status gateway_take_keys(struct gateway *g, char *const *files,
                             const char **about, hsy_error *err)
{
    struct ohttp_key keys[GATEWAY_KEYS];
    size_t n = 0;
    const hsy_status st = gateway_read_keys(keys, &n, files, about, err);

    if (st == HSY_OK) {
        pthread_mutex_lock(&g->lock);
        memcpy(g->keys, keys, sizeof keys);
        g->n = n;
        pthread_mutex_unlock(&g->lock);
    }
    explicit_bzero(keys, sizeof keys);
    return st;
}

static size_t gateway_copy(struct gateway *g,
                           struct ohttp_key keys[GATEWAY_KEYS])
{
    size_t n;

    pthread_mutex_lock(&g->lock);
    n = g->n;
    memcpy(keys, g->keys, sizeof g->keys);
    pthread_mutex_unlock(&g->lock);
    return n;
}

static bool gateway_names(const hsy_parties *named, const struct ohttp_key *key)
{
    for (size_t i = 0; i < named->gateway_keys; i++)
        if (memcmp(named->gateway[i].key, key->pub, sizeof key->pub) == 0)
            return true;
    return false;
}

bool gateway_unnamed(struct gateway *g, const hsy_document *doc)
{
    struct ohttp_key keys[GATEWAY_KEYS];
    const size_t n = gateway_copy(g, keys);
    bool unnamed = n != 0;
    hsy_parties named;

    hsy_document_parties(doc, &named);
    for (size_t i = 0; i < n; i++)
        unnamed &= !gateway_names(&named, &keys[i]);
    explicit_bzero(keys, sizeof keys);
    return unnamed;
}

void gateway_show_keys(struct gateway *g, struct request *q)
{
    uint8_t *list = malloc(GATEWAY_KEYS * OHTTP_LISTED);
    struct ohttp_key keys[GATEWAY_KEYS];
    const size_t n = gateway_copy(g, keys);
    size_t len = 0;

    if (list != NULL)
        len = ohttp_config_list(list, keys, n);
    explicit_bzero(keys, sizeof keys);
    if (list == NULL || n == 0) {
        free(list);
        request_problem(q, 404, "no gateway",
                        "this server has no key to open sealed requests with");
        return;
    }
    request_set(q, "Cache-Control", "public, max-age=3600, no-transform");
    request_answer(q, 200, "application/ohttp-keys", list, len, free);
}

/* ---- Opening ------------------------------------------------------------- */

/* In clear: one body for each reason, whatever the request was. */
static void gateway_refuse(struct gateway *g, struct request *q,
                           enum gateway_fate why)
{
    static const struct {
        int status;
        const char *body;
    } all[GATEWAY_FATES] = {
        [GATEWAY_UNREADABLE] = {400,
                                "{\"type\":\"about:blank\",\"title\":\"the "
                                "sealed request cannot be opened\","
                                "\"status\":400}"},
        [GATEWAY_UNKNOWN_KEY] = {400,
                                 "{\"type\":\"https://iana.org/assignments/"
                                 "http-problem-types#ohttp-key\",\"title\":"
                                 "\"the key is not known here\","
                                 "\"status\":400}"},
        [GATEWAY_TYPE] = {415,
                          "{\"type\":\"about:blank\",\"title\":\"sealed "
                          "requests are message/ohttp-req\",\"status\":415}"},
        [GATEWAY_LENGTH] = {400, "{\"type\":\"about:blank\",\"title\":\"not of "
                                 "the length that the document states\","
                                 "\"status\":400}"}};

    atomic_fetch_add(&g->fates[why], 1);
    request_guard(q, NULL);
    request_answer(q, all[why].status, "application/problem+json",
                   all[why].body, strlen(all[why].body), NULL);
}

/* In its place; *len becomes that of the binary HTTP. */
static hsy_status gateway_unseal(struct gateway *g, struct gateway_asked *out,
                                 size_t *len)
{
    struct ohttp_key keys[GATEWAY_KEYS];
    const size_t n = gateway_copy(g, keys);
    hsy_status st = HSY_E_REFUSED;

    if (*len >= OHTTP_REQUEST_EXTRA)
        st = ohttp_request_open(&out->keep, out->bytes + OHTTP_REQUEST_HEAD,
                                len, keys, n, out->bytes, *len);
    explicit_bzero(keys, sizeof keys);
    return st;
}

bool gateway_asks_document(const struct gateway_asked *asked)
{
    return bhttp_is(asked->inner.method, "GET") &&
           bhttp_is(asked->inner.path, "/v1/document");
}

/* Returns false if what was opened is answered. own: it has the length of the
 * document's requests; else it may ask for the document only, as if it had not
 * been opened. */
static bool gateway_inside(struct gateway *g, struct gateway_asked *out,
                           size_t len, bool own)
{
    const bool reads =
        bhttp_request_decode(&out->inner, out->bytes + OHTTP_REQUEST_HEAD,
                             len) == HSY_OK;

    if (!own && !(reads && gateway_asks_document(out))) {
        ohttp_gateway_clear(&out->keep);
        gateway_refuse(g, out->request, GATEWAY_LENGTH);
        return false;
    }
    atomic_fetch_add(&g->fates[GATEWAY_OPENED], 1);
    if (!reads)
        gateway_answer(g, out->request, &out->keep, 400, NULL, "malformed");
    return reads;
}

bool gateway_open(struct gateway *g, struct request *q, size_t request_bytes,
                  struct gateway_asked *out)
{
    const bool typed = request_typed(q, "message/ohttp-req");
    bool own, good;
    size_t len;
    hsy_status st;

    (void)request_body(q, &len);
    own = request_bytes == 0 || len == request_bytes + OHTTP_REQUEST_EXTRA;
    if (!typed || (!own && len != HSY_REQUEST_MIN + OHTTP_REQUEST_EXTRA)) {
        gateway_refuse(g, q, typed ? GATEWAY_LENGTH : GATEWAY_TYPE);
        return false;
    }
    out->request = q;
    out->bytes = request_take_body(q, &len);
    if (out->bytes == NULL) {
        request_answer(q, 0, NULL, NULL, 0, NULL);
        return false;
    }
    st = gateway_unseal(g, out, &len);
    good = st == HSY_OK && gateway_inside(g, out, len, own);
    if (st != HSY_OK)
        gateway_refuse(g, q,
                       st == HSY_E_UNKNOWN ? GATEWAY_UNKNOWN_KEY
                                           : GATEWAY_UNREADABLE);
    if (!good)
        free(out->bytes);
    return good;
}

/* ---- Answering ----------------------------------------------------------- */

#define GATEWAY_CONTENT 96u /* bytes of a content, at most */

/* {"status":409,"reason":"conflict"}: short, so that every answer has room. */
static bool gateway_message(uint8_t out[HSY_RESPONSE_BYTES], unsigned status,
                            const char *retry_after, const char *reason)
{
    struct bhttp_response r = {.status = status};
    char content[GATEWAY_CONTENT];
    size_t len;

    if (reason != NULL) {
        r.content = (const uint8_t *)content;
        r.content_len = (size_t)snprintf(content, sizeof content,
                                         "{\"status\":%u,\"reason\":\"%.48s\"}",
                                         status, reason);
        r.fields[r.n_fields++] = (struct bhttp_field){
            bhttp_text("content-type"), bhttp_text("application/problem+json")};
    }
    if (retry_after != NULL)
        r.fields[r.n_fields++] = (struct bhttp_field){bhttp_text("retry-after"),
                                                      bhttp_text(retry_after)};
    return bhttp_response_encode(out, HSY_RESPONSE_BYTES, &len, &r,
                                 HSY_RESPONSE_BYTES) == HSY_OK;
}

void gateway_answer(struct gateway *g, struct request *q,
                    struct ohttp_gateway *keep, unsigned status,
                    const char *retry_after, const char *reason)
{
    const size_t room = HSY_RESPONSE_BYTES + OHTTP_RESPONSE_EXTRA;
    uint8_t message[HSY_RESPONSE_BYTES], *sealed = NULL;
    size_t len = 0;

    if (status != 0 && gateway_message(message, status, retry_after, reason))
        sealed = malloc(room);
    if (sealed != NULL &&
        ohttp_response_seal(keep, sealed, room, &len, NULL, message,
                            sizeof message) != HSY_OK) {
        free(sealed);
        sealed = NULL;
    }
    ohttp_gateway_clear(keep);
    if (sealed == NULL) {
        request_answer(q, 0, NULL, NULL, 0, NULL);
        return;
    }
    atomic_fetch_add(&g->answers[status / 100 % 6], 1);
    request_answer(q, 200, "message/ohttp-res", sealed, len, free);
}

/* ---- Documents ----------------------------------------------------------- */

/* A sealed document on its way to a relay. */
struct gateway_body {
    struct gateway *gateway; /* in whose number of documents it is */
    uint8_t bytes[];
};

static void gateway_body_free(void *bytes)
{
    struct gateway_body *b =
        (struct gateway_body *)((char *)bytes -
                                offsetof(struct gateway_body, bytes));

    atomic_fetch_sub(&b->gateway->documents, 1);
    free(b);
}

/* NULL: no memory, or it does not fit. */
static struct gateway_body *gateway_seal(struct gateway *g,
                                         const struct ohttp_gateway *keep,
                                         size_t size, const uint8_t *document,
                                         size_t document_len, size_t *len)
{
    const struct bhttp_response r = {
        .status = 200,
        .fields = {{bhttp_text("content-type"),
                    bhttp_text("application/octet-stream")}},
        .n_fields = 1,
        .content = document,
        .content_len = document_len};
    const size_t room = size + OHTTP_RESPONSE_EXTRA;
    struct gateway_body *b = malloc(sizeof *b + room);
    uint8_t *message = malloc(size);

    if (b == NULL || message == NULL ||
        bhttp_response_encode(message, size, len, &r, size) != HSY_OK ||
        ohttp_response_seal(keep, b->bytes, room, len, NULL, message, size) !=
            HSY_OK) {
        free(b);
        b = NULL;
    } else {
        b->gateway = g;
    }
    free(message);
    return b;
}

void gateway_document(struct gateway *g, struct request *q,
                      struct ohttp_gateway *keep, size_t size,
                      const uint8_t *document, size_t len)
{
    struct gateway_body *b = NULL;
    size_t sealed = 0;

    if (atomic_fetch_add(&g->documents, 1) < GATEWAY_DOCUMENTS)
        b = gateway_seal(g, keep, size, document, len, &sealed);
    if (b == NULL) {
        atomic_fetch_sub(&g->documents, 1);
        gateway_answer(g, q, keep, 503, "10", "busy");
        return;
    }
    ohttp_gateway_clear(keep);
    atomic_fetch_add(&g->answers[2], 1);
    request_answer(q, 200, "message/ohttp-res", b->bytes, sealed,
                   gateway_body_free);
}

void gateway_status(const struct gateway *g, struct gateway_status *out)
{
    for (int i = 0; i < GATEWAY_FATES; i++)
        out->fates[i] = atomic_load(&g->fates[i]);
    for (int i = 0; i < 6; i++)
        out->answers[i] = atomic_load(&g->answers[i]);
}
