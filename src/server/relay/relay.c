/* relay.c - a relay from its options to its end, and its routes. */
#define _GNU_SOURCE
#include "server/relay/relay.h"

#include "host/base/host_fail.h"
#include "server/process/config.h"
#include "server/process/log.h"
#include "server/process/metrics_text.h"
#include "server/process/notify.h"
#include "server/process/pem.h"
#include "server/process/resources.h"
#include "server/process/sandbox.h"
#include "server/relay/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RELAY_BODY_MAX (1u << 20)
#define RELAY_HEAD_SECONDS 10u
#define RELAY_BODY_SECONDS 10u
#define RELAY_IDLE_SECONDS 60u
#define RELAY_SEND_BYTES (32u << 10)
#define RELAY_LONG 64u /* answers with documents in memory */
#define RELAY_ADMIN_CONNECTIONS 64u
#define RELAY_FILES 128u     /* besides connections */
#define RELAY_LOOP_FILES 72u /* of a loop, besides its connections */

#define RELAY_COUNT(table) (sizeof(table) / sizeof(table)[0])

struct relay {
    struct relay_options options;
    struct target gateway;
    struct pool *pool;
    struct listener *public, *admin;
    struct log *log;
    bool reached; /* as logged last, like failure */
    enum target_failure failure;
    _Atomic bool serves; /* both listeners do; not while draining */
    _Atomic unsigned long_count;
};

/* ---- Routes -------------------------------------------------------------- */

static void relay_forward(struct request *q, void *ctx)
{
    struct relay *r = ctx;
    size_t body;

    (void)request_body(q, &body);
    if (!request_typed(q, "message/ohttp-req"))
        request_problem(q, 415, "a relay takes message/ohttp-req", NULL);
    else if (body == 0)
        request_problem(q, 400, "there is no sealed request", NULL);
    else
        pool_forward(r->pool, q);
}

static void relay_health(struct request *q, void *ctx)
{
    (void)ctx;
    request_answer(q, 200, "text/plain", "ok\n", 3, NULL);
}

static const char *const relay_failures[TARGET_FAILURES] = {
    [TARGET_REACHED] = "not connected yet",
    [TARGET_NO_CONNECTION] =
        "cannot connect; check that the gateway is running",
    [TARGET_NO_TLS] = "the TLS handshake fails; check that address and port "
                      "are the gateway's",
    [TARGET_WRONG_NAME] = "the gateway's certificate is not trusted: it is for "
                          "another name than --gateway says",
    [TARGET_WRONG_TIME] = "the gateway's certificate is not trusted: it has "
                          "expired or is not valid yet",
    [TARGET_UNKNOWN_CA] =
        "the gateway's certificate is not trusted: it is of an unknown "
        "authority; name the CA certificates with --ca FILE"};

static void relay_ready(struct request *q, void *ctx)
{
    struct relay *r = ctx;

    if (!r->serves)
        request_problem(q, 503, "the relay is stopping", NULL);
    else if (!r->gateway.reached)
        request_problem(q, 503, "the gateway cannot be reached", "%s",
                        relay_failures[target_failure(&r->gateway)]);
    else
        request_answer(q, 200, "text/plain", "ready\n", 6, NULL);
}

static void relay_put(FILE *to, const struct pool_status *p, bool reached,
                      const struct listen_status *s)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } rows[] = {
        {"relay_forwarded_total",
         "Sealed requests taken for the gateway since the start.",
         p->forwarded},
        {"relay_answered_total",
         "Sealed answers of the gateway that were forwarded.",
         p->outcomes[CLIENT_ANSWERED]},
        {"relay_gateway_connections", "Connections to the gateway.",
         p->links.connections},
        {"relay_gateway_connections_total",
         "Connections to the gateway that were made.", p->links.opened},
        {"relay_waiting", "Requests that wait for a connection to the gateway.",
         p->links.waiting},
        {"relay_at_work", "Requests that are not answered yet.", p->at_work},
        {"relay_gateway_reached",
         "1 if the last connection to the gateway came about.", reached},
        {"relay_connections", "Connections of clients.", s->connections},
        {"relay_requests_total", "Requests since the start, of whatever kind.",
         s->requests},
        {"relay_refused_total", "Requests refused by their head alone.",
         s->refused},
        {"relay_full_total", "Of these, for want of connections or memory.",
         s->full},
        {"relay_timeouts_total", "Connections closed, as their time was up.",
         s->timeouts},
        {"relay_inflight_bytes", "Bodies that are being taken, in bytes.",
         s->inflight_bytes}};

    for (size_t i = 0; i < RELAY_COUNT(rows); i++)
        metrics_one(to, rows[i].name, rows[i].help, rows[i].value);
    metrics_words(to, "relay_failed_total", "Requests without one, by why.",
                  "why", pool_outcomes + 1, p->outcomes + 1, POOL_OUTCOMES - 1);
    metrics_head(to, "relay_answers_total",
                 "Answers to clients, by hundreds of their status.");
    for (int i = 2; i < 6; i++)
        fprintf(to,
                "hearsay_relay_answers_total{status=\"%dxx\"} %" PRIu64 "\n", i,
                s->answers[i]);
}

static void relay_metrics(struct request *q, void *ctx)
{
    const struct relay *r = ctx;
    struct pool_status pool;
    struct listen_status listen;
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    bool bad;

    if (to == NULL) {
        request_problem(q, 503, "out of memory", NULL);
        return;
    }
    pool_status(r->pool, &pool);
    listen_status(r->public, &listen);
    relay_put(to, &pool, r->gateway.reached, &listen);
    bad = ferror(to) != 0;
    if (fclose(to) == 0 && !bad) {
        request_answer(q, 200, "text/plain; version=0.0.4", text, len, free);
    } else {
        free(text);
        request_problem(q, 503, "out of memory", NULL);
    }
}

static const struct route relay_public_routes[] = {
    {"POST", "/", LISTEN_ANYONE, RELAY_BODY_MAX, relay_forward, NULL},
    {"GET", "/healthz", LISTEN_ANYONE, 0, relay_health, NULL},
};

static const struct route relay_admin_routes[] = {
    {"GET", "/healthz", LISTEN_ANYONE, 0, relay_health, NULL},
    {"GET", "/readyz", LISTEN_SCRAPER, 0, relay_ready, NULL},
    {"GET", "/metrics", LISTEN_SCRAPER, 0, relay_metrics, NULL},
};

/* ---- Opening ------------------------------------------------------------- */

static hsy_status relay_fail(struct relay_trouble *t, hsy_status st,
                             const char *about)
{
    t->number = st == HSY_E_IO && t->err.msg == NULL ? errno : 0;
    t->about = about;
    return st;
}

/* As many descriptors as connections need, or as the system allows. */
static unsigned relay_connections(const struct relay *r)
{
    const struct relay_options *o = &r->options;
    const uint64_t spare = RELAY_FILES +
                           RELAY_LOOP_FILES * (resources_cores() + 1) +
                           RELAY_ADMIN_CONNECTIONS + o->links;
    const uint64_t wanted = o->connections + spare;
    const uint64_t got = resources_descriptors(wanted);

    if (got == wanted)
        return o->connections;
    log_event(r->log, LOG_NOTE, "descriptors", "limit=%" PRIu64, got);
    return got > spare + 8 ? (unsigned)(got - spare) : 8;
}

static struct listen_options relay_listen(struct relay *r,
                                          struct listen_handed *handed)
{
    const struct relay_options *o = &r->options;

    return (struct listen_options){
        .size = sizeof(struct listen_options),
        .handed = handed,
        .ctx = r,
        .loops = resources_cores(),
        .connections = relay_connections(r),
        .address_connections = o->address_connections,
        .exempt = o->proxies,
        .head_seconds = RELAY_HEAD_SECONDS,
        .body_seconds = RELAY_BODY_SECONDS,
        .idle_seconds = RELAY_IDLE_SECONDS,
        .body_bytes = o->body_bytes,
        .inflight_bytes = (size_t)o->connections * o->body_bytes,
        .send_bytes = RELAY_SEND_BYTES};
}

static hsy_status relay_open_public(struct relay *r,
                                    struct listen_handed *handed,
                                    struct relay_trouble *t)
{
    struct listen_options o = relay_listen(r, handed);
    struct pem_pair pem;
    const char *about = r->options.listen;
    hsy_status st = pem_read(&pem, r->options.tls_cert, r->options.tls_key,
                             &about, &t->err);

    o.address = r->options.listen;
    o.routes = relay_public_routes;
    o.nroutes = RELAY_COUNT(relay_public_routes);
    o.tls_cert = (const char *)pem.cert;
    o.tls_key = (const char *)pem.key;
    if (st == HSY_OK) {
        about = r->options.listen;
        st = listen_open(&r->public, &o, &t->err);
    }
    pem_forget(&pem);
    return st == HSY_OK ? HSY_OK : relay_fail(t, st, about);
}

static hsy_status relay_open_admin(struct relay *r,
                                   struct listen_handed *handed,
                                   struct relay_trouble *t)
{
    struct listen_options o = relay_listen(r, handed);
    hsy_status st;

    if (r->options.admin == NULL)
        return HSY_OK;
    o.address = r->options.admin;
    o.routes = relay_admin_routes;
    o.nroutes = RELAY_COUNT(relay_admin_routes);
    o.loops = 1;
    o.connections = RELAY_ADMIN_CONNECTIONS;
    st = listen_open(&r->admin, &o, &t->err);
    return st == HSY_OK ? HSY_OK : relay_fail(t, st, r->options.admin);
}

static hsy_status relay_open_listeners(struct relay *r, struct relay_trouble *t)
{
    struct listen_handed handed;
    hsy_status st;

    notify_handed(&handed);
    st = relay_open_public(r, &handed, t);
    if (st == HSY_OK)
        st = relay_open_admin(r, &handed, t);
    for (size_t i = 0; st == HSY_OK && i < handed.n; i++)
        if (handed.fd[i] != -1)
            st = relay_fail(t,
                            host_fail(&t->err, HSY_E_RANGE, HSY_FIELD_NONE,
                                      "a socket was handed over whose address "
                                      "is neither --listen nor --admin"),
                            "LISTEN_FDS");
    return st;
}

static hsy_status relay_open_pool(struct relay *r, struct relay_trouble *t)
{
    const struct relay_options *o = &r->options;
    const struct pool_options pool = {.size = sizeof pool,
                                      .gateway = &r->gateway,
                                      .threads = (resources_cores() + 1) / 2,
                                      .links = o->links,
                                      .waiting = o->waiting,
                                      .answer_seconds = o->answer_seconds,
                                      .answer_bytes = o->answer_bytes,
                                      .nanswer_bytes = o->nanswer_bytes,
                                      .long_most = RELAY_LONG,
                                      .long_count = &r->long_count};
    const struct target_options gateway = {.url = o->gateway,
                                           .path = "/v1/ohttp",
                                           .type = "message/ohttp-req",
                                           .ca_file = o->ca_file};
    hsy_status st = target_open(&r->gateway, &gateway, &t->err);

    if (st == HSY_OK)
        st = pool_open(&r->pool, &pool, &t->err);
    return st == HSY_OK ? HSY_OK : relay_fail(t, st, o->gateway);
}

hsy_status relay_open(struct relay **out, const struct relay_options *o,
                      struct relay_trouble *t)
{
    struct relay *r = calloc(1, sizeof *r);
    hsy_status st;

    *t = (struct relay_trouble){.about = NULL};
    if (r == NULL)
        return relay_fail(t, HSY_E_NOMEM, NULL);
    *out = r;
    r->options = *o;
    r->log = log_open(stderr, o->log_json, LOG_NOTE);
    if (r->log == NULL)
        return relay_fail(t, HSY_E_NOMEM, NULL);
    st = relay_open_pool(r, t);
    return st == HSY_OK ? relay_open_listeners(r, t) : st;
}

/* ---- Starting ------------------------------------------------------------ */

static hsy_status relay_enclose(struct relay *r, struct relay_trouble *t)
{
    const struct relay_options *o = &r->options;
    char *public = sandbox_socket_place(o->listen);
    char *admin = sandbox_socket_place(o->admin);
    const char *writable[] = {public, admin, NULL};
    const char *readable[] = {o->tls_cert != NULL ? o->tls_cert : "",
                              o->tls_key != NULL ? o->tls_key : "", NULL};
    const struct sandbox_options box = {.does = SANDBOX_CONNECTS,
                                        .writable = writable,
                                        .readable = readable,
                                        .required =
                                            o->sandbox == CONFIG_REQUIRED};
    struct sandbox_result is = {0};
    hsy_status st = HSY_E_NOMEM;

    if (public != NULL && admin != NULL)
        st = sandbox_enter(&box, &is, &t->err);
    free(public);
    free(admin);
    if (st != HSY_OK)
        return relay_fail(t, st, "sandbox");
    log_event(r->log, is.landlock != 0 && is.seccomp ? LOG_DETAIL : LOG_NOTE,
              "sandbox", "landlock=%d seccomp=%s calls=%zu", is.landlock,
              is.seccomp ? "on" : "none", sandbox_calls(SANDBOX_CONNECTS));
    return HSY_OK;
}

hsy_status relay_start(struct relay *r, struct relay_trouble *t)
{
    hsy_status st = HSY_OK;

    *t = (struct relay_trouble){.about = NULL};
    if (r->options.sandbox != CONFIG_OFF)
        st = relay_enclose(r, t);
    if (st == HSY_OK)
        st = pool_start(r->pool, &t->err);
    if (st == HSY_OK)
        st = listen_start(r->public, &t->err);
    if (st == HSY_OK && r->admin != NULL)
        st = listen_start(r->admin, &t->err);
    if (st != HSY_OK)
        return relay_fail(t, st, t->about);
    r->serves = true;
    log_event(r->log, LOG_NOTE, "started",
              "version=%s devices-tls=%s gateway-tls=%s", HSY_VERSION,
              r->options.tls_cert != NULL ? "yes" : "no",
              r->gateway.tls ? "yes" : "no");
    return HSY_OK;
}

const struct listener *relay_public(const struct relay *r)
{
    return r->public;
}

const struct listener *relay_admin(const struct relay *r)
{
    return r->admin;
}

/* ---- While it runs ------------------------------------------------------- */

/* Logs each change once, also for a gateway that was never reached. */
static void relay_look_gateway(struct relay *r)
{
    const bool reached = r->gateway.reached;
    const enum target_failure failure =
        reached ? TARGET_REACHED : target_failure(&r->gateway);

    if (reached && !r->reached)
        log_event(r->log, LOG_NOTE, "gateway-reached", "%s", "");
    if (!reached && failure != r->failure)
        log_words(r->log, LOG_NOTE, "gateway-lost", r->options.gateway,
                  relay_failures[failure]);
    r->reached = reached;
    r->failure = failure;
}

bool relay_look(struct relay *r)
{
    bool turned = pool_turned(r->pool);

    turned &= listen_turned(r->public);
    turned &= r->admin == NULL || listen_turned(r->admin);
    relay_look_gateway(r);
    return turned;
}

void relay_reload(struct relay *r)
{
    const struct relay_options *o = &r->options;
    const char *about = NULL;
    hsy_error err = {0};
    struct pem_pair pem;
    hsy_status st;

    if (o->tls_cert == NULL)
        return;
    st = pem_read(&pem, o->tls_cert, o->tls_key, &about, &err);
    if (st == HSY_OK)
        st = listen_certify(r->public, (char *)pem.cert, (char *)pem.key, &err);
    pem_forget(&pem);
    if (st == HSY_OK)
        log_event(r->log, LOG_NOTE, "reloaded", "%s", "");
    else
        log_failure_about(r->log, "reload-certificate-kept", about, &err);
}

/* ---- The end ------------------------------------------------------------- */

void relay_stop(struct relay *r)
{
    r->serves = false;
    listen_drain(r->public, r->options.drain_seconds);
    if (r->admin != NULL)
        listen_drain(r->admin, 1);
}

void relay_close(struct relay *r)
{
    if (r == NULL)
        return;
    if (r->public != NULL)
        listen_drain(r->public, 0); /* handlers use the pool */
    if (r->admin != NULL)
        listen_drain(r->admin, 0);
    pool_close(r->pool);
    listen_close(r->public);
    listen_close(r->admin);
    target_close(&r->gateway);
    log_close(r->log);
    free(r);
}
