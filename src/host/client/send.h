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

/* When an upload leaves (send_times.c), in ms since 1970 by the device's clock.
 */
struct send_when {
    uint64_t drawn, leaves; /* when it was drawn; 0: it has no time */
    uint64_t turn;          /* tries of all runs: which of the gateway's keys */
    uint32_t tries;         /* in this run */
    bool over;              /* not tried again in this run */
    bool unsent;            /* the last try failed before anything left */
    bool flying;            /* its request is not answered yet */
    const char *why;        /* why the last try failed, a literal */
};

struct send_item {
    size_t at, len; /* in the list's bytes */
    uint32_t status;
    bool settled; /* acknowledged (204), or refused for good */
    bool relayed; /* its task demands the relay */
    struct send_when when;
};

/* The way of uploads, by the signed document and the policy. */
struct send_way {
    struct hsy_gateway_key keys[HSY_GATEWAY_KEYS];
    uint32_t nkeys;          /* 0: there is no gateway */
    uint32_t request_bytes;  /* of binary HTTP, before it is sealed */
    uint32_t response_bytes; /* likewise, of every answer */
    uint32_t document_bytes; /* likewise, of those that hold a document; 0:
                                the gateway gives none */
    char relay[HSY_RELAY_MAX + 1]; /* "": none is named */
    bool unpinned; /* the document alone names it, which does not count */
};

/* By the document alone. */
void hsy_send_way(struct send_way *way, const hsy_document *document);

/* Zero it to begin. */
struct send_list {
    uint8_t *bytes;          /* owned */
    struct send_item *items; /* owned */
    size_t len, room, n, items_room;
    struct send_way way;
    uint64_t seconds; /* since 1970, by the device's clock */
    bool keep_times;  /* when it is settled, store the times of the rest */
};

/* Everything of these that is due, and its way. */
hsy_status hsy_send_gather(hsy_client *client, enum client_which which,
                           struct send_list *list, hsy_error *err);
void hsy_send_clear(struct send_list *list);

/* Mark what is settled as sent, or as refused, and store the other times. */
hsy_status hsy_send_mark(hsy_client *client, const struct send_list *list,
                         hsy_error *err);

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
    bool unsent;          /* nothing left the device */
};

/* What a test drives in place of clock, entropy and network. */
struct send_drive {
    uint64_t (*now)(void *ctx); /* ms since 1970 */
    void (*wait)(void *ctx, uint64_t ms);
    uint64_t (*draw)(void *ctx, const uint8_t *id); /* of the upload */
    void (*post)(void *ctx, const uint8_t *upload, size_t len,
                 struct send_answer *answer);
    void *ctx;
};

struct send_hooks {
    hsy_status (*gather)(void *ctx, struct send_list *list, hsy_error *err);
    hsy_status (*settle)(void *ctx, const struct send_list *list,
                         hsy_error *err);
    void *ctx;
    const struct send_drive *drive; /* NULL: the real ones */
};

/* As hsy_device_upload, with a device behind hooks. */
hsy_status hsy_send_all(const struct send_hooks *hooks, const char *url,
                        const hsy_send_options *options,
                        hsy_send_result *result, hsy_error *err);

/* ---- The document -------------------------------------------------------- */

/* How the next document is fetched. */
struct send_fetch {
    struct send_way way;
    char relay[HSY_RELAY_MAX + 1]; /* "": from the collector */
    uint64_t wait;                 /* ms until its time; 0: now */
    bool waited;                   /* for a time that was drawn in this run */
};

/* Decide it, with a client that is open. A time that has come is forgotten: the
 * next fetch has another. HSY_E_REFUSED if it may be fetched neither way. */
hsy_status hsy_fetch_plan(hsy_client *client, const hsy_send_options *options,
                          struct send_fetch *f, hsy_error *err);

struct send_fetch_hooks {
    hsy_status (*plan)(void *ctx, const hsy_send_options *options,
                       struct send_fetch *f, hsy_error *err);
    void *ctx;
    bool sends; /* uploads leave in this run: nothing comes through a relay */
};

/* As hsy_client_fetch, with a device behind hooks. */
hsy_status hsy_fetch_all(const struct send_fetch_hooks *hooks, uint8_t **bytes,
                         size_t *len, const char *url,
                         const hsy_send_options *options, hsy_error *err);

/* ---- Times (send_times.c) ------------------------------------------------ */

#define SEND_RETRY_AFTER_MAX 86400u /* seconds that are respected at most */

#define SEND_ID 16u    /* bytes of an upload's id */
#define SEND_ID_AT 80u /* where it is in an upload (docs/formats.md, 5) */

/* The upload with this id; NULL if there is none. */
struct send_item *hsy_times_find(const struct send_list *list,
                                 const uint8_t *id);

/* Read the times that an earlier run has stored for uploads of the list; store
 * those of all that are not settled. */
void hsy_times_load(hsy_host *host, struct send_list *list);
hsy_status hsy_times_store(hsy_host *host, const struct send_list *list);

/* Returns true if a stored time makes sense. A clock that was set back, or a
 * damaged file, could otherwise keep an upload for ever. */
bool hsy_times_valid(const struct send_when *when, uint64_t now,
                     uint64_t spread_ms);

/* The same for when the document is fetched: drawn is 0 if nothing is stored,
 * or is to be. */
void hsy_times_load_fetch(hsy_host *host, struct send_when *when);
hsy_status hsy_times_store_fetch(hsy_host *host, const struct send_when *when);

/* ---- HTTP (send_http.c) -------------------------------------------------- */

struct send_http;

/* libcurl; HSY_E_IO if there is none. */
hsy_status hsy_http_curl(const struct curl_functions **use, hsy_error *err);

/* Reads the answer to a request that has ended with `code`, body and all.
 * relay: the request went to a relay, which the reason of a failure names. */
void hsy_http_answer(const struct curl_functions *use, CURL *curl,
                     CURLcode code, bool relay, const uint8_t *body, size_t len,
                     struct send_answer *answer);

/* options are complete: no default is left in them. To a relay its own address
 * is posted to, and no token goes along. HSY_E_RANGE. */
hsy_status hsy_http_open(struct send_http **out, const char *url, bool relay,
                         const hsy_send_options *options, hsy_error *err);
void hsy_http_close(struct send_http *http); /* NULL is allowed */

#define SEND_ANSWER_MAX (64u << 10) /* bytes of an answer to an upload */

/* Wait at most `seconds` for an answer, of `most` bytes at most. */
void hsy_http_post(struct send_http *http, const uint8_t *bytes, size_t len,
                   uint32_t seconds, size_t most, struct send_answer *answer);
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

/* Ask for the document, as every device does: with the same length and nothing
 * that tells which document this one has. *bytes (to be freed) is what the
 * gateway has given; NULL: none, and why is the answer's. */
void hsy_sealed_fetch(struct send_sealed *s, struct send_http *relay,
                      const struct send_way *way, uint32_t turn,
                      uint32_t seconds, uint8_t **bytes, size_t *len,
                      struct send_answer *answer);

#endif
