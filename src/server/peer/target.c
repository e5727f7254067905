/*
 * target.c - where requests go: a URL, its addresses, connections by TCP and
 * TLS that never wait.
 */
#define _GNU_SOURCE
#include "server/peer/target.h"

#include "host/base/digits.h"
#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TARGET_PATH 1024u
#define TARGET_LENGTH 32u /* digits of a length, and the head's end */

/* ---- The URL ------------------------------------------------------------- */

struct target_parts {
    const char *host, *port, *path;
    size_t host_len, port_len;
};

static bool target_port(const struct target_parts *u)
{
    uint64_t n = 0;

    return u->port_len <= 5 && digits_parse(&n, u->port, u->port_len, 65535) &&
           n != 0;
}

static bool target_split(struct target *g, struct target_parts *u,
                         const char *url)
{
    const char *at, *end, *colon;

    g->tls = strncmp(url, "https://", 8) == 0;
    if (!g->tls && strncmp(url, "http://", 7) != 0)
        return false;
    for (const char *c = url; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || strchr("?#@\\\"<>^`{|}", *c) != NULL)
            return false;
    at = url + (g->tls ? 8 : 7);
    end = at + strcspn(at, "/");
    *u = (struct target_parts){.path = end, .port = g->tls ? "443" : "80"};
    u->port_len = strlen(u->port);
    u->host = at;
    if (*at == '[') {
        colon = memchr(at, ']', (size_t)(end - at));
        if (colon == NULL)
            return false;
        u->host = at + 1;
        u->host_len = (size_t)(colon - u->host);
        colon++;
    } else {
        colon = memchr(at, ':', (size_t)(end - at));
        if (colon == NULL)
            colon = end;
        u->host_len = (size_t)(colon - at);
    }
    if (colon != end) {
        if (*colon != ':')
            return false;
        u->port = colon + 1;
        u->port_len = (size_t)(end - u->port);
    }
    return u->host_len != 0 && u->host_len < TARGET_HOST &&
           strlen(u->path) < TARGET_PATH && target_port(u);
}

/* All that the other server sees of a request but its length and body. */
static void target_head(struct target *g, const struct target_parts *u,
                        const struct target_options *o)
{
    const char *path =
        u->path[0] == '\0' || strcmp(u->path, "/") == 0 ? o->path : u->path;
    const bool usual = strcmp(g->port, g->tls ? "443" : "80") == 0;
    const bool six = strchr(g->host, ':') != NULL;

    g->head_len =
        (size_t)snprintf(g->head, sizeof g->head,
                         "POST %s HTTP/1.1\r\nHost: %s%s%s%s%s\r\n"
                         "Content-Type: %s\r\nContent-Length: ",
                         path, six ? "[" : "", g->host, six ? "]" : "",
                         usual ? "" : ":", usual ? "" : g->port, o->type);
}

static hsy_status target_address(struct target *g,
                                 const struct target_options *o, hsy_error *err)
{
    struct target_parts u;
    struct in6_addr any;

    if (!target_split(g, &u, o->url))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_URL,
                         "must be http://HOST or https://HOST, optionally with "
                         ":PORT and /PATH");
    memcpy(g->host, u.host, u.host_len);
    memcpy(g->port, u.port, u.port_len);
    g->literal = inet_pton(AF_INET, g->host, &any) == 1 ||
                 inet_pton(AF_INET6, g->host, &any) == 1;
    target_head(g, &u, o);
    return HSY_OK;
}

static hsy_status target_look_up(struct target *g, hsy_error *err)
{
    const struct addrinfo want = {.ai_socktype = SOCK_STREAM,
                                  .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;

    if (getaddrinfo(g->host, g->port, &want, &found) != 0)
        return host_fail(err, HSY_E_IO, HSY_FIELD_URL,
                         "the host's name does not resolve");
    for (struct addrinfo *a = found; a != NULL && g->n < TARGET_ADDRESSES;
         a = a->ai_next) {
        struct target_address *to = &g->addresses[g->n];

        if (a->ai_addrlen > sizeof to->at)
            continue;
        memcpy(&to->at, a->ai_addr, a->ai_addrlen);
        to->len = a->ai_addrlen;
        g->n++;
    }
    freeaddrinfo(found);
    return g->n != 0 ? HSY_OK
                     : host_fail(err, HSY_E_IO, HSY_FIELD_URL,
                                 "the server's name has no address");
}

static hsy_status target_trust(struct target *g, const char *ca_file,
                               hsy_error *err)
{
    int n;

    if (!g->tls)
        return HSY_OK;
    if (gnutls_certificate_allocate_credentials(&g->trust) < 0)
        return host_nomem(err);
    n = ca_file == NULL ? gnutls_certificate_set_x509_system_trust(g->trust)
                        : gnutls_certificate_set_x509_trust_file(
                              g->trust, ca_file, GNUTLS_X509_FMT_PEM);
    return n > 0 ? HSY_OK
                 : host_fail(err, HSY_E_FORMAT, HSY_FIELD_URL,
                             "no certificates to trust: the server's could "
                             "not be checked");
}

hsy_status target_open(struct target *g, const struct target_options *o,
                       hsy_error *err)
{
    hsy_status st;

    *g = (struct target){.trust = NULL};
    st = target_address(g, o, err);
    if (st == HSY_OK)
        st = target_look_up(g, err);
    return st == HSY_OK ? target_trust(g, o->ca_file, err) : st;
}

void target_close(struct target *g)
{
    if (g->trust != NULL)
        gnutls_certificate_free_credentials(g->trust);
    g->trust = NULL;
}

bool target_compose(const struct target *g, struct target_request *out,
                    const uint8_t *body, size_t len)
{
    const size_t need = g->head_len + TARGET_LENGTH + len;

    if (need > out->room) {
        if (!grow_to(&out->bytes, need, 1))
            return false;
        out->room = need;
    }
    memcpy(out->bytes, g->head, g->head_len);
    out->len =
        g->head_len + (size_t)snprintf((char *)out->bytes + g->head_len,
                                       TARGET_LENGTH, "%zu\r\n\r\n", len);
    memcpy(out->bytes + out->len, body, len);
    out->len += len;
    return true;
}

/* ---- Connections --------------------------------------------------------- */

/* No ticket is asked for: one connection is not known by another. */
static bool target_session(struct target *g, struct target_link *k)
{
    gnutls_session_t tls;

    if (!tls_stream_begin(&k->tls, k->fd, GNUTLS_CLIENT))
        return false;
    tls = k->tls.session;
    if (!g->literal && gnutls_server_name_set(tls, GNUTLS_NAME_DNS, g->host,
                                              strlen(g->host)) < 0)
        return false;
    gnutls_session_set_verify_cert(tls, g->host, 0);
    return gnutls_priority_set_direct(
               tls, "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2", NULL) ==
               0 &&
           gnutls_credentials_set(tls, GNUTLS_CRD_CERTIFICATE, g->trust) == 0;
}

static struct target_address *target_of(struct target *g,
                                        const struct target_link *k)
{
    return &g->addresses[k->turn % g->n];
}

/* Records how an attempt to connect ended. */
static void target_tried(struct target *g, const struct target_link *k)
{
    atomic_store(&target_of(g, k)->failure, k->failure);
    atomic_store(&g->reached, k->up);
}

bool target_begin(struct target *g, struct target_link *k)
{
    const struct target_address *to;
    const int on = 1;

    *k = (struct target_link){.turn = g->turn, .failure = TARGET_NO_CONNECTION};
    to = target_of(g, k);
    k->fd = socket(to->at.any.sa_family,
                   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    setsockopt(k->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(k->fd, &to->at.any, to->len) == 0 || errno == EINPROGRESS)
        return true;
    target_end(g, k);
    return false;
}

/* Whether connect(2), which is over, ended well. */
static bool target_connected(const struct target_link *k)
{
    socklen_t size = sizeof(int);
    int failed = 0;

    return getsockopt(k->fd, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 &&
           failed == 0;
}

/* Returns why a handshake failed, from the code of gnutls_handshake. */
static enum target_failure target_handshake_failure(gnutls_session_t tls,
                                                    int code)
{
    const unsigned wrong = gnutls_session_get_verify_cert_status(tls);
    const unsigned time = GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED;

    if (code != GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
        return TARGET_NO_TLS;
    if ((wrong & GNUTLS_CERT_SIGNER_NOT_FOUND) == 0 && (wrong & time) != 0)
        return TARGET_WRONG_TIME;
    if ((wrong & GNUTLS_CERT_SIGNER_NOT_FOUND) == 0 &&
        (wrong & GNUTLS_CERT_UNEXPECTED_OWNER) != 0)
        return TARGET_WRONG_NAME;
    return TARGET_UNKNOWN_CA;
}

enum target_step target_go_on(struct target *g, struct target_link *k)
{
    int code = 0;

    if (k->tls.session == NULL &&
        (!target_connected(k) || (g->tls && !target_session(g, k))))
        return TARGET_FAILED;
    if (k->tls.session != NULL)
        code = tls_stream_handshake(&k->tls);
    if (code == GNUTLS_E_AGAIN) {
        k->failure = TARGET_NO_TLS; /* should it time out */
        return TARGET_WAITS;
    }
    k->up = code == 0;
    k->failure =
        k->up ? TARGET_REACHED : target_handshake_failure(k->tls.session, code);
    if (k->up)
        target_tried(g, k);
    return k->up ? TARGET_DONE : TARGET_FAILED;
}

ssize_t target_send(struct target_link *k, const uint8_t *bytes, size_t len)
{
    ssize_t n;

    if (k->tls.session != NULL)
        return tls_stream_write(&k->tls, bytes, len);
    n = send(k->fd, bytes, len, MSG_NOSIGNAL);
    if (n == -1)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return n;
}

ssize_t target_receive(struct target_link *k, uint8_t *bytes, size_t room)
{
    ssize_t n;

    if (k->tls.session != NULL)
        return tls_stream_read(&k->tls, bytes, room);
    n = recv(k->fd, bytes, room, 0);
    if (n == -1)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return n > 0 ? n : -1;
}

void target_end(struct target *g, struct target_link *k)
{
    unsigned turn = k->turn;

    if (!k->up) {
        target_tried(g, k);
        atomic_compare_exchange_strong(&g->turn, &turn, turn + 1);
    }
    tls_stream_end(&k->tls);
    if (k->fd != -1)
        close(k->fd);
    *k = (struct target_link){.fd = -1};
}

enum target_failure target_failure(const struct target *g)
{
    unsigned most = TARGET_REACHED;

    for (size_t i = 0; i < g->n; i++) {
        const unsigned failure = atomic_load(&g->addresses[i].failure);

        if (failure > most)
            most = failure;
    }
    return (enum target_failure)most;
}
