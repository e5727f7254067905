/*
 * send.h - what the files of sending share.
 *
 * A *list* holds the uploads that are due. It is gathered anew before every
 * attempt, for the person may have thought better of it in between, and a
 * device that waits must not keep others out: who gathers and settles it may
 * open and close the device each time (home_log.c does).
 */
#ifndef HOST_CLIENT_SEND_H
#define HOST_CLIENT_SEND_H

#include "host/base/curl_load.h"
#include "host/client/client.h"

struct send_item {
    size_t at, len; /* in the list's bytes */
    uint32_t status;
    bool settled; /* acknowledged (204), or refused for good */
    bool relayed; /* its task demands the relay */
};

/* What the signed document says about the way; nobody else is asked. */
struct send_way {
    struct hsy_gateway_key keys[HSY_GATEWAY_KEYS];
    uint32_t nkeys;                /* 0: there is no gateway */
    uint32_t request_bytes;        /* of binary HTTP, before it is sealed */
    char relay[HSY_RELAY_MAX + 1]; /* "": none is named */
};

void hsy_send_way(struct send_way *way, const hsy_document *document);

/* Zero it to begin. */
struct send_list {
    uint8_t *bytes;          /* owned */
    struct send_item *items; /* owned */
    size_t len, room, n, items_room;
    struct send_way way;
};

/* Everything of these that is due, and its way. */
hsy_status hsy_send_gather(hsy_client *client, enum client_which which,
                           struct send_list *list, hsy_error *err);
void hsy_send_clear(struct send_list *list);

/* Mark what is settled as sent, or as refused. */
hsy_status hsy_send_mark(hsy_client *client, const struct send_list *list,
                         hsy_error *err);

struct send_hooks {
    hsy_status (*gather)(void *ctx, struct send_list *list, hsy_error *err);
    hsy_status (*settle)(void *ctx, const struct send_list *list,
                         hsy_error *err);
    void *ctx;
};

/* As hsy_device_upload, with a device behind hooks. */
hsy_status hsy_send_all(const struct send_hooks *hooks, const char *url,
                        const hsy_send_options *options,
                        hsy_send_result *result, hsy_error *err);

/* ---- HTTP (send_http.c) -------------------------------------------------- */

struct send_http;

/* What came back. */
struct send_answer {
    uint32_t status;     /* 0: none that could be used */
    bool sealed;         /* its body is a message/ohttp-res */
    const uint8_t *body; /* until the next request */
    size_t len;
    uint64_t retry_after; /* seconds; 0: nothing was said */
    bool problem;         /* it is a problem+json, so the collector's own */
    bool early;           /* which says that the epoch has not begun */
    const char *why;      /* a literal: why there is none */
    bool again;           /* which may be otherwise soon */
};

/* libcurl; HSY_E_IO if there is none. */
hsy_status hsy_http_curl(const struct curl_functions **use, hsy_error *err);

/* What a request that has ended with `code` was answered, body and all. */
void hsy_http_answer(const struct curl_functions *use, CURL *curl,
                     CURLcode code, const uint8_t *body, size_t len,
                     struct send_answer *answer);

/* options are complete: no default is left in them. To a relay its own address
 * is posted to, and no token goes along. HSY_E_RANGE. */
hsy_status hsy_http_open(struct send_http **out, const char *url, bool relay,
                         const hsy_send_options *options, hsy_error *err);
void hsy_http_close(struct send_http *http); /* NULL is allowed */

/* Wait at most `seconds` for an answer. */
void hsy_http_post(struct send_http *http, const uint8_t *bytes, size_t len,
                   uint32_t seconds, struct send_answer *answer);
void hsy_http_get(struct send_http *http, uint32_t seconds, uint8_t **bytes,
                  size_t *len, struct send_answer *answer);

/* ---- Sealed (send_sealed.c) ---------------------------------------------- */

struct send_sealed;

/* For uploads to the collector at url, with a token (NULL: none) inside. */
hsy_status hsy_sealed_open(struct send_sealed **out, const char *url,
                           const char *token, hsy_error *err);
void hsy_sealed_close(struct send_sealed *s); /* NULL is allowed */

/* Seal an upload, anew each time: *len bytes at *bytes, until the next one.
 * turn: which of the gateway's keys. NULL, or why it cannot be: a literal. */
const char *hsy_sealed_request(struct send_sealed *s,
                               const struct send_way *way, uint32_t turn,
                               const uint8_t *upload, size_t upload_len,
                               const uint8_t **bytes, size_t *len);

/* What came back for the last one: what the gateway has answered inside is the
 * answer; whatever came in clear is none. Once for each request. */
void hsy_sealed_answer(struct send_sealed *s, const struct send_way *way,
                       const struct send_answer *outer,
                       struct send_answer *answer);

/* Both, with the relay between them. */
void hsy_sealed_post(struct send_sealed *s, struct send_http *relay,
                     const struct send_way *way, uint32_t turn,
                     const uint8_t *upload, size_t len, uint32_t seconds,
                     struct send_answer *answer);

#endif
