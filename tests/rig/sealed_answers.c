/* sealed_answers.c - see sealed_answers.h. */
#define _GNU_SOURCE /* memmem, mkdtemp */

#include "rig/sealed_answers.h"

#include "host/tasks/keys.h"
#include "rig/listen_client.h"
#include "server/collector/watch/watch.h"
#include "server/intake/intake.h"

#include <stdio.h>

#define SEALED_ROWS 256u
#define SEALED_REQUEST 512u
#define SEALED_ANSWER 4096u /* bytes of an answer with its head, at most */
#define SEALED_NO_HTTP (SEALED_ROWS - 1)

/* What is answered. */
struct sealed_row {
    unsigned status;
    const char *retry_after, *reason;
};

struct sealed_rig {
    sealed_answerer *answer;
    struct gateway *gateway;
    struct listener *listener;
    uint8_t id, pub[SEAL_KEY];
    struct sealed_row rows[SEALED_ROWS];
    size_t n;
};

/* What came of a request. */
struct sealed_heard {
    uint8_t bytes[SEALED_ANSWER];
    size_t len, body; /* all of it, and where the body begins */
};

/* ---- Everything that is answered ----------------------------------------- */

static void sealed_add(struct sealed_rig *s, unsigned status,
                       const char *reason)
{
    static const char *const later[] = {NULL, "1", "10", "60", "3600"};

    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
        s->rows[s->n++] = (struct sealed_row){status, later[i], reason};
}

static void sealed_rows(struct sealed_rig *s)
{
    s->n = 0;
    for (size_t i = 0; i < INTAKE_VERDICTS; i++)
        sealed_add(s, (unsigned)intake_verdicts[i].status,
                   intake_verdicts[i].status == 204 ? NULL
                                                    : intake_verdicts[i].name);
    for (size_t i = 0; i < WATCH_REFUSALS; i++)
        sealed_add(s,
                   i == WATCH_MALFORMED ? 400
                   : i == WATCH_TYPE    ? 415
                                        : 503,
                   watch_refusals[i]);
    sealed_add(s, 404, "no-upload");
    sealed_add(s, 405, "no-upload");
}

/* ---- The gateway --------------------------------------------------------- */

/* The first byte of a request's content is the row. */
static void sealed_handle(struct request *q, void *ctx)
{
    struct sealed_rig *s = ctx;
    struct gateway_asked asked;
    const struct sealed_row *row;

    if (!gateway_open(s->gateway, q, SEALED_REQUEST, &asked))
        return;
    row = &s->rows[asked.inner.content[0]];
    free(asked.bytes);
    s->answer(s->gateway, q, &asked.keep, row->status, row->retry_after,
              row->reason);
    ohttp_gateway_clear(&asked.keep);
}

static const struct route sealed_routes[] = {{"POST", "/v1/ohttp",
                                              LISTEN_ANYONE, GATEWAY_BODY_MAX,
                                              sealed_handle, NULL}};

static bool sealed_listen(struct sealed_rig *s)
{
    const struct listen_options o = {.size = sizeof o,
                                     .address = "127.0.0.1:0",
                                     .routes = sealed_routes,
                                     .nroutes = 1,
                                     .ctx = s,
                                     .loops = 1,
                                     .connections = 16,
                                     .head_seconds = 60,
                                     .body_seconds = 60,
                                     .idle_seconds = 60,
                                     .inflight_bytes = 1 << 20};

    return listen_open(&s->listener, &o, NULL) == HSY_OK &&
           listen_start(s->listener, NULL) == HSY_OK;
}

/* A pair of its own, in files as an operator has them. */
static bool sealed_keys(struct sealed_rig *s)
{
    char at[] = "/tmp/hearsay-sealed-XXXXXX";
    char name[64] = "", secret[80] = "", public[80] = "";
    char *files[] = {secret, NULL};
    const char *about;
    uint8_t id[SEAL_KEY_ID];
    bool good = mkdtemp(at) != NULL;

    snprintf(name, sizeof name, "%s/key", at);
    snprintf(secret, sizeof secret, "%s.secret", name);
    snprintf(public, sizeof public, "%s.public", name);
    good = good && keys_write(name, true, &about, NULL) == HSY_OK &&
           keys_seal_public(s->pub, public, NULL) == HSY_OK &&
           gateway_new(&s->gateway, NULL) == HSY_OK &&
           gateway_take_keys(s->gateway, files, &about, NULL) == HSY_OK;
    unlink(secret);
    unlink(public);
    rmdir(at);
    seal_key_id(id, s->pub);
    s->id = id[0];
    return good;
}

/* ---- A client ------------------------------------------------------------ */

static bool sealed_message(uint8_t out[SEALED_REQUEST], uint8_t row)
{
    const struct bhttp_request r = {.method = bhttp_text("POST"),
                                    .scheme = bhttp_text("http"),
                                    .authority = bhttp_text("x"),
                                    .path = bhttp_text("/v1/uploads"),
                                    .content = &row,
                                    .content_len = 1};
    size_t len;

    memset(out, 7, SEALED_REQUEST);
    return row == SEALED_NO_HTTP ||
           bhttp_request_encode(out, SEALED_REQUEST, &len, &r,
                                SEALED_REQUEST) == HSY_OK;
}

/* When it was answered is no secret, and moves on. */
static void sealed_undate(struct sealed_heard *heard)
{
    static const char name[] = "\r\nDate: ";
    uint8_t *at = memmem(heard->bytes, heard->body, name, sizeof name - 1);

    for (at = at == NULL ? NULL : at + sizeof name - 1;
         at != NULL && at < heard->bytes + heard->body && *at != '\r'; at++)
        *at = '-';
}

static bool sealed_ask(const struct sealed_rig *s, uint8_t row,
                       struct ohttp_client *keep, struct sealed_heard *heard)
{
    uint8_t message[SEALED_REQUEST];
    uint8_t sealed[SEALED_REQUEST + OHTTP_REQUEST_EXTRA];
    const uint8_t *end;
    char head[256];
    size_t len;
    ssize_t n;
    int fd;

    if (!sealed_message(message, row) ||
        ohttp_request_seal(keep, sealed, sizeof sealed, &len, s->id, s->pub,
                           SEAL_CHACHA20, NULL, message,
                           sizeof message) != HSY_OK)
        return false;
    fd = dial(s->listener);
    n = snprintf(head, sizeof head,
                 HEAD("POST /v1/ohttp") "Content-Type: message/ohttp-req\r\n"
                                        "Content-Length: %zu\r\n\r\n",
                 len);
    say(fd, head, (size_t)n);
    say(fd, (const char *)sealed, len);
    heard->len = 0;
    while ((n = recv(fd, heard->bytes + heard->len, SEALED_ANSWER - heard->len,
                     0)) > 0)
        heard->len += (size_t)n;
    close(fd);
    end = memmem(heard->bytes, heard->len, "\r\n\r\n", 4);
    heard->body = end == NULL ? 0 : (size_t)(end - heard->bytes) + 4;
    sealed_undate(heard);
    return end != NULL;
}

/* Whether it says inside what was answered. */
static bool sealed_says(const struct ohttp_client *keep,
                        const struct sealed_heard *heard,
                        const struct sealed_row *row)
{
    uint8_t text[SEALED_ANSWER];
    const struct bhttp_text *later;
    struct bhttp_response r;
    size_t len;

    if (ohttp_response_open(keep, text, &len, heard->bytes + heard->body,
                            heard->len - heard->body) != HSY_OK ||
        bhttp_response_decode(&r, text, len) != HSY_OK)
        return false;
    later = bhttp_field(r.fields, r.n_fields, "retry-after");
    return r.status == row->status &&
           (row->retry_after == NULL
                ? later == NULL
                : later != NULL && bhttp_is(*later, row->retry_after)) &&
           (row->reason == NULL ? r.content_len == 0
                                : memmem(r.content, r.content_len, row->reason,
                                         strlen(row->reason)) != NULL);
}

/* ---- All of them --------------------------------------------------------- */

static const char *sealed_compare(const struct sealed_heard *first,
                                  const struct sealed_heard *heard,
                                  struct sealed_seen *seen)
{
    const size_t len = heard->len - heard->body;

    seen->least = seen->answers == 0 || len < seen->least ? len : seen->least;
    seen->most = len > seen->most ? len : seen->most;
    seen->answers++;
    if (seen->least != seen->most)
        return SEALED_LENGTHS;
    return heard->body != first->body ||
                   memcmp(heard->bytes, first->bytes, first->body) != 0
               ? "answers have several heads"
               : NULL;
}

static const char *sealed_all(const struct sealed_rig *s,
                              struct sealed_seen *seen)
{
    static const struct sealed_row no_http = {400, NULL, "malformed"};
    static struct sealed_heard first, heard;
    const char *wrong = NULL;

    for (size_t i = 0; i <= s->n; i++) {
        const bool last = i == s->n;
        struct ohttp_client keep;
        const char *now;

        if (!sealed_ask(s, last ? SEALED_NO_HTTP : (uint8_t)i, &keep, &heard))
            return "there is no answer";
        if (!sealed_says(&keep, &heard, last ? &no_http : &s->rows[i]))
            return "an answer says something else inside";
        if (i == 0)
            first = heard;
        now = sealed_compare(&first, &heard, seen);
        wrong = wrong == NULL ? now : wrong;
    }
    return wrong;
}

const char *sealed_answers(sealed_answerer *answer, struct sealed_seen *seen)
{
    struct sealed_rig s = {.answer = answer};
    const char *wrong = "there is no gateway";

    *seen = (struct sealed_seen){.answers = 0};
    sealed_rows(&s);
    if (sealed_keys(&s) && sealed_listen(&s))
        wrong = sealed_all(&s, seen);
    listen_close(s.listener);
    gateway_free(s.gateway);
    return wrong;
}
