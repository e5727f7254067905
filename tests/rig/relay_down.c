/* relay_down.c - see relay_down.h. */
#define _GNU_SOURCE /* memmem, accept4, strcasestr */

#include "rig/relay_down.h"

#include "host/seal/bhttp.h"
#include "host/seal/ohttp.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RELAY_PATIENCE 1u /* seconds, where nothing will be said */
#define RELAY_UPLOADS 3u
#define RELAY_LENGTH 230u  /* of the longest upload */
#define RELAY_REQUEST 512u /* what the document says */
#define RELAY_READABLE 8u  /* bytes of an upload that are no chance */
#define RELAY_SEEN (1u << 16)
#define RELAY_ASKED 4096u /* bytes of one request at most */
#define RELAY_KEPT 8u     /* connections that are left without an answer */

const char *const relay_names[RELAY_HOWS] = {
    [RELAY_WORKS] = "works",
    [RELAY_NONE] = "is not there",
    [RELAY_DEAD] = "is dead",
    [RELAY_HANGS_UP] = "hangs up",
    [RELAY_SILENT] = "says nothing",
    [RELAY_BUSY] = "is busy",
    [RELAY_NO_GATEWAY] = "does not reach the gateway",
    [RELAY_OTHER_KEY] = "says that the key is another",
    [RELAY_REFUSES] = "refuses for good in clear",
    [RELAY_REDIRECTS] = "redirects to the collector",
    [RELAY_CLEAR] = "acknowledges in clear",
    [RELAY_PAGE] = "shows a page",
    [RELAY_SEALS_NOTHING] = "seals nothing",
    [RELAY_NO_HTTP] = "speaks no HTTP",
    [RELAY_UNPINNED] = "is named by the document alone"};

/* What a relay, or a collector, was sent. */
struct relay_wire {
    int fd;
    uint16_t port;
    unsigned connections;
    uint8_t seen[RELAY_SEEN];
    size_t len;
};

static struct relay_world {
    enum relay_how how;
    bool demanded;
    char url[64];
    struct relay_wire relay, collector;
    int stop[2]; /* a pipe */
    pthread_t thread;
    bool uneven;          /* a request has another length */
    int kept[RELAY_KEPT]; /* connections */
    size_t nkept;
    struct ohttp_key key;
    uint8_t upload[RELAY_UPLOADS][RELAY_LENGTH];
    size_t length[RELAY_UPLOADS];
    bool arrived[RELAY_UPLOADS], settled[RELAY_UPLOADS];
} relay_world;

/* ---- The device ---------------------------------------------------------- */

static void relay_uploads(struct relay_world *w)
{
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);

    hsy_stream_seed(&stream, 17, 0);
    rng.fill(rng.ctx, w->upload, sizeof w->upload);
    for (size_t i = 0; i < RELAY_UPLOADS; i++)
        w->length[i] = RELAY_LENGTH - 60 * i;
}

static void relay_way(const struct relay_world *w, struct send_way *way)
{
    *way = (struct send_way){.nkeys = 1,
                             .request_bytes = RELAY_REQUEST,
                             .response_bytes = HSY_RESPONSE_BYTES};
    way->keys[0].id = w->key.id;
    memcpy(way->keys[0].key, w->key.pub, sizeof way->keys[0].key);
    way->unpinned = w->how == RELAY_UNPINNED;
    if (w->demanded && w->how != RELAY_NONE)
        snprintf(way->relay, sizeof way->relay, "%s", w->url);
}

static hsy_status relay_gather(void *ctx, struct send_list *list,
                               hsy_error *err)
{
    const struct relay_world *w = ctx;

    (void)err;
    list->bytes = malloc(sizeof w->upload);
    list->items = calloc(RELAY_UPLOADS, sizeof *list->items);
    if (list->bytes == NULL || list->items == NULL)
        return HSY_E_NOMEM;
    list->room = sizeof w->upload;
    list->items_room = RELAY_UPLOADS;
    for (size_t i = 0; i < RELAY_UPLOADS; i++) {
        if (w->settled[i])
            continue;
        memcpy(list->bytes + list->len, w->upload[i], w->length[i]);
        list->items[list->n++] = (struct send_item){
            .at = list->len, .len = w->length[i], .relayed = w->demanded};
        list->len += w->length[i];
    }
    relay_way(w, &list->way);
    return HSY_OK;
}

static hsy_status relay_settle(void *ctx, const struct send_list *list,
                               hsy_error *err)
{
    struct relay_world *w = ctx;

    (void)err;
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < RELAY_UPLOADS; k++)
            if (list->items[i].settled &&
                list->items[i].len == w->length[k]) /* all differ */
                w->settled[k] = true;
    return HSY_OK;
}

/* ---- Listening ----------------------------------------------------------- */

static bool relay_bind(struct relay_wire *wire, bool listens)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;

    wire->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (wire->fd == -1 || bind(wire->fd, (struct sockaddr *)&at, len) != 0 ||
        (listens && listen(wire->fd, 16) != 0) ||
        getsockname(wire->fd, (struct sockaddr *)&at, &len) != 0)
        return false;
    wire->port = ntohs(at.sin_port);
    return true;
}

/* Bytes of a body, by the head of its request. */
static size_t relay_says(const uint8_t *bytes, size_t body)
{
    char head[RELAY_ASKED + 1];
    const char *length;

    memcpy(head, bytes, body);
    head[body] = '\0';
    length = strcasestr(head, "\r\nContent-Length:");
    return length == NULL ? 0 : strtoul(length + 17, NULL, 10);
}

/* One request: *body is where that begins, 0 if it has not come, and *says how
 * long it is to be. */
static size_t relay_hear(int fd, uint8_t bytes[RELAY_ASKED], size_t *body,
                         size_t *says)
{
    size_t len = 0, want = RELAY_ASKED;

    *body = *says = 0;
    while (len < want) {
        const ssize_t n = recv(fd, bytes + len, want - len, 0);
        const uint8_t *end;

        if (n <= 0)
            break;
        len += (size_t)n;
        end = *body == 0 ? memmem(bytes, len, "\r\n\r\n", 4) : NULL;
        if (end == NULL)
            continue;
        *body = (size_t)(end - bytes) + 4;
        *says = relay_says(bytes, *body);
        want = *says < RELAY_ASKED - *body ? *body + *says : RELAY_ASKED;
    }
    return len;
}

static void relay_note(struct relay_wire *wire, const uint8_t *bytes,
                       size_t len)
{
    const size_t left = RELAY_SEEN - wire->len;

    wire->connections++;
    len = len < left ? len : left;
    memcpy(wire->seen + wire->len, bytes, len);
    wire->len += len;
}

/* ---- Answers ------------------------------------------------------------- */

static void relay_say(int fd, const void *bytes, size_t len)
{
    if (send(fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
        return; /* who has gone hears nothing */
}

static void relay_answer(int fd, const char *status, const char *fields,
                         const void *body, size_t len)
{
    char head[512];
    const int n = snprintf(head, sizeof head,
                           "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n",
                           status, fields, len);

    relay_say(fd, head, (size_t)n);
    relay_say(fd, body, len);
}

/* As a gateway: open it, and acknowledge inside. */
static void relay_pass(struct relay_world *w, int fd, const uint8_t *sealed,
                       size_t len)
{
    uint8_t text[RELAY_ASKED], message[HSY_RESPONSE_BYTES];
    uint8_t answer[HSY_RESPONSE_BYTES + OHTTP_RESPONSE_EXTRA];
    const struct bhttp_response yes = {.status = 204};
    struct bhttp_request r;
    struct ohttp_gateway keep;
    size_t n;

    if (len < OHTTP_REQUEST_EXTRA ||
        ohttp_request_open(&keep, text, &n, &w->key, 1, sealed, len) !=
            HSY_OK ||
        bhttp_request_decode(&r, text, n) != HSY_OK)
        return;
    for (size_t i = 0; i < RELAY_UPLOADS; i++)
        if (r.content_len == w->length[i] &&
            memcmp(r.content, w->upload[i], r.content_len) == 0)
            w->arrived[i] = true;
    if (bhttp_response_encode(message, sizeof message, &n, &yes,
                              sizeof message) == HSY_OK &&
        ohttp_response_seal(&keep, answer, sizeof answer, &n, NULL, message,
                            sizeof message) == HSY_OK)
        relay_answer(fd, "200 OK", "Content-Type: message/ohttp-res\r\n",
                     answer, n);
    ohttp_gateway_clear(&keep);
}

#define RELAY_PROBLEM "Content-Type: application/problem+json\r\n"
#define RELAY_CLOSED "{\"status\":410,\"reason\":\"closed\"}"

/* Of what is said in clear. */
static const struct {
    const char *status, *fields, *body;
} relay_rows[RELAY_HOWS] = {
    [RELAY_BUSY] = {"503 Busy", RELAY_PROBLEM "Retry-After: 0\r\n", "{}"},
    [RELAY_NO_GATEWAY] = {"502 Bad Gateway", RELAY_PROBLEM, "{}"},
    [RELAY_OTHER_KEY] = {"400 Bad Request", RELAY_PROBLEM, "{}"},
    [RELAY_REFUSES] = {"410 Gone", RELAY_PROBLEM, RELAY_CLOSED},
    [RELAY_CLEAR] = {"204 No Content", "", ""},
    [RELAY_PAGE] = {"200 OK", "Content-Type: text/html\r\n", "<p>Room?</p>"},
    [RELAY_SEALS_NOTHING] = {"200 OK", "Content-Type: message/ohttp-res\r\n",
                             "not what was asked for, and sealed by nobody"}};

static void relay_redirect(const struct relay_world *w, int fd)
{
    char to[128];

    snprintf(to, sizeof to, "Location: http://127.0.0.1:%u/v1/uploads\r\n",
             w->collector.port);
    relay_answer(fd, "307 Temporary Redirect", to, "", 0);
}

/* false: the connection stays open. */
static bool relay_react(struct relay_world *w, int fd, const uint8_t *body,
                        size_t len)
{
    if (relay_rows[w->how].status != NULL)
        relay_answer(fd, relay_rows[w->how].status, relay_rows[w->how].fields,
                     relay_rows[w->how].body, strlen(relay_rows[w->how].body));
    else if (w->how == RELAY_WORKS || w->how == RELAY_UNPINNED)
        relay_pass(w, fd, body, len);
    else if (w->how == RELAY_REDIRECTS)
        relay_redirect(w, fd);
    else if (w->how == RELAY_NO_HTTP)
        relay_say(fd, "\0\1\2\r\n\r\n", 7);
    return w->how != RELAY_SILENT;
}

static void relay_serve(struct relay_world *w, struct relay_wire *wire)
{
    const int fd = accept4(wire->fd, NULL, NULL, SOCK_CLOEXEC);
    uint8_t bytes[RELAY_ASKED];
    size_t body, says, len;
    bool over = true;

    if (fd == -1)
        return;
    len = relay_hear(fd, bytes, &body, &says);
    relay_note(wire, bytes, len);
    if (wire == &w->collector) {
        relay_answer(fd, "204 No Content", "", "", 0);
    } else {
        w->uneven |= body != 0 && says != RELAY_REQUEST + OHTTP_REQUEST_EXTRA;
        over = relay_react(w, fd, bytes + body, len - body);
    }
    if (over || w->nkept == RELAY_KEPT)
        close(fd);
    else
        w->kept[w->nkept++] = fd;
}

static void *relay_main(void *ctx)
{
    struct relay_world *w = ctx;
    const bool listens = w->how != RELAY_DEAD && w->how != RELAY_NONE;
    struct pollfd on[] = {{w->stop[0], POLLIN, 0},
                          {w->collector.fd, POLLIN, 0},
                          {listens ? w->relay.fd : -1, POLLIN, 0}};

    do {
        if (poll(on, 3, -1) == -1)
            continue;
        if ((on[1].revents & POLLIN) != 0)
            relay_serve(w, &w->collector);
        if ((on[2].revents & POLLIN) != 0)
            relay_serve(w, &w->relay);
    } while (on[0].revents == 0 || on[1].revents != 0 || on[2].revents != 0);
    return NULL;
}

/* ---- A trial ------------------------------------------------------------- */

static bool relay_begin(struct relay_world *w)
{
    w->key = (struct ohttp_key){.id = 7};
    relay_uploads(w);
    if (seal_keypair(w->key.pub, w->key.secret) != HSY_OK ||
        !relay_bind(&w->relay, w->how != RELAY_DEAD && w->how != RELAY_NONE) ||
        !relay_bind(&w->collector, true) || pipe(w->stop) != 0)
        return false;
    snprintf(w->url, sizeof w->url, "http://127.0.0.1:%u/relay", w->relay.port);
    return pthread_create(&w->thread, NULL, relay_main, w) == 0;
}

static void relay_end(struct relay_world *w)
{
    close(w->stop[1]); /* the other end says so */
    pthread_join(w->thread, NULL);
    close(w->stop[0]);
    close(w->relay.fd);
    close(w->collector.fd);
    for (size_t i = 0; i < w->nkept; i++)
        close(w->kept[i]);
}

static bool relay_readable(const struct relay_world *w,
                           const struct relay_wire *wire)
{
    for (size_t i = 0; i < RELAY_UPLOADS; i++)
        for (size_t at = 0; at + RELAY_READABLE <= w->length[i]; at++)
            if (memmem(wire->seen, wire->len, w->upload[i] + at,
                       RELAY_READABLE) != NULL)
                return true;
    return false;
}

static const char *relay_kept(const struct relay_world *w,
                              const hsy_send_result *r)
{
    /* A busy machine may ask one that is silent too late. */
    const bool asked = w->how != RELAY_DEAD && w->how != RELAY_NONE &&
                       w->how != RELAY_SILENT && w->how != RELAY_UNPINNED;

    if (w->how == RELAY_UNPINNED && w->relay.connections != 0)
        return RELAY_BELIEVED;
    for (size_t i = 0; i < RELAY_UPLOADS; i++)
        if (w->settled[i])
            return "an upload was let go that nobody has";
    if (r->sent != 0 || r->refused != 0 || r->waiting != RELAY_UPLOADS)
        return "it does not say that everything waits";
    return asked && w->relay.connections == 0 ? "the relay was not asked"
                                              : NULL;
}

static const char *relay_came(const struct relay_world *w,
                              const hsy_send_result *r)
{
    for (size_t i = 0; i < RELAY_UPLOADS; i++)
        if (!w->arrived[i] || !w->settled[i])
            return "an upload has not arrived";
    return r->sent != RELAY_UPLOADS || r->waiting != 0
               ? "it does not say that everything was sent"
               : NULL;
}

static const char *relay_wrong(const struct relay_world *w,
                               const hsy_send_result *r)
{
    if (relay_readable(w, &w->relay))
        return "an upload is readable at the relay";
    if (w->collector.connections != 0)
        return RELAY_CLEARLY;
    if (w->uneven)
        return "requests have several lengths";
    return w->how == RELAY_WORKS ? relay_came(w, r) : relay_kept(w, r);
}

const char *relay_down(relay_sender *send, enum relay_how how, bool demanded)
{
    struct relay_world *w = &relay_world;
    const struct send_hooks hooks = {relay_gather, relay_settle, w, NULL};
    hsy_send_options o = {.size = sizeof o,
                          .attempts = how == RELAY_SILENT ? 1 : 2,
                          .wait_ms = 1,
                          .spread = HSY_SPREAD_NONE,
                          .answer_seconds =
                              how == RELAY_SILENT ? RELAY_PATIENCE : 60};
    hsy_send_result r;
    hsy_error err = {0};
    char url[64];

    memset(w, 0, sizeof *w);
    w->how = how;
    w->demanded = demanded;
    if (!relay_begin(w))
        return "there are no sockets";
    snprintf(url, sizeof url, "http://127.0.0.1:%u", w->collector.port);
    if (!demanded && how != RELAY_NONE)
        o.relay = w->url;
    send(&hooks, url, &o, &r, &err);
    relay_end(w);
    return relay_wrong(w, &r);
}
