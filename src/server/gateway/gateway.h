/*
 * gateway.h - sealed requests (Oblivious HTTP, RFC 9458) in front of a server's
 * own routes.
 *
 * A body of POST /v1/ohttp is opened with one of at most two keys, the other
 * being the one before or after it. What is inside is answered inside: sealed,
 * and always of one length, whatever the answer is, but for documents, which
 * have another (gateway_document). Requests have one length too: another one
 * would tell whoever sees it which document a device has. A request for the
 * document has HSY_REQUEST_MIN bytes whatever document the device has, so that
 * it can be made by a device whose document states another length. Only what
 * was not opened, or has a wrong length, is answered in clear, with one body
 * for each of four reasons.
 */
#ifndef SERVER_GATEWAY_GATEWAY_H
#define SERVER_GATEWAY_GATEWAY_H

#include "host/seal/bhttp.h"
#include "host/seal/ohttp.h"
#include "server/http/http.h"

#define GATEWAY_KEYS 2u /* at a time */
#define GATEWAY_BODY_MAX ((1u << 20) + OHTTP_REQUEST_EXTRA)
#define GATEWAY_DOCUMENTS 64u /* sealed documents in memory */

struct gateway;

hsy_status gateway_new(struct gateway **out, hsy_error *err);
void gateway_free(struct gateway *g); /* NULL is allowed */

/* Take the keys of files (ended by NULL; NULL: none) in the place of those
 * before. A failure is of the file that *about is set to, and the old keys
 * stand; HSY_E_IO with errno. Any thread. */
hsy_status gateway_take_keys(struct gateway *g, char *const *files,
                             const char **about, hsy_error *err);

/* Whether it has keys, and the document names none of them: devices seal
 * nothing for it, though clients of others may. Any thread. */
bool gateway_unnamed(struct gateway *g, const hsy_document *doc);

/* GET /.well-known/ohttp-gateway: the keys, for clients of others. */
void gateway_show_keys(struct gateway *g, struct request *q);

/* ---- One request --------------------------------------------------------- */

struct gateway_asked {
    struct request *request;
    struct ohttp_gateway keep; /* for the answer */
    struct bhttp_request inner;
    uint8_t *bytes; /* inner is in them; the caller's to free */
};

/* Open a request of request_bytes before it was sealed (0: of any length), or
 * of HSY_REQUEST_MIN if it asks for the document. Returns false if it was
 * answered: in clear, unless what is inside is no request. */
bool gateway_open(struct gateway *g, struct request *q, size_t request_bytes,
                  struct gateway_asked *out);

/* Answer what was opened. reason: a word of ours, NULL: no content;
 * retry_after: seconds, NULL: none. Status 0 cuts the connection. What was kept
 * for it is wiped. Any thread. */
void gateway_answer(struct gateway *g, struct request *q,
                    struct ohttp_gateway *keep, unsigned status,
                    const char *retry_after, const char *reason);

/* Whether it asks for the document: GET /v1/document. */
bool gateway_asks_document(const struct gateway_asked *asked);

/* Answer with a document, padded to size bytes before it is sealed; as
 * gateway_answer with 503 if too many are on their way. */
void gateway_document(struct gateway *g, struct request *q,
                      struct ohttp_gateway *keep, size_t size,
                      const uint8_t *document, size_t len);

/* ---- For metrics --------------------------------------------------------- */

enum gateway_fate {
    GATEWAY_OPENED,
    GATEWAY_UNREADABLE,
    GATEWAY_UNKNOWN_KEY,
    GATEWAY_TYPE,   /* it is no sealed request */
    GATEWAY_LENGTH, /* it has another length than the document's requests */
    GATEWAY_FATES
};
extern const char *const gateway_fates[GATEWAY_FATES]; /* one word each */

struct gateway_status {
    uint64_t fates[GATEWAY_FATES];
    uint64_t answers[6]; /* sealed ones, by hundreds of the status inside */
};
void gateway_status(const struct gateway *g, struct gateway_status *out);

#endif
