/*
 * route.c - which handler a request is for, and whether it may ask.
 *
 * Decided from the head alone, before a byte of the body is kept.
 */
#include "server/http/internal.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Whether path is the route's: '*' stands for one segment that is not empty. */
static bool route_fits(const char *pattern, const char *path)
{
    while (*pattern != 0) {
        if (*pattern == '*') {
            size_t len = strcspn(path, "/");

            if (len == 0)
                return false;
            path += len;
        } else if (*pattern != *path++) {
            return false;
        }
        pattern++;
    }
    return *path == 0;
}

static bool route_takes(const struct route *r, const char *method)
{
    return strcmp(r->method, method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(r->method, "GET") == 0);
}

/* "GET, HEAD, POST": what the path allows; empty if there is no such path. */
static void route_allowed(const struct listener *l, const char *path,
                          char out[64])
{
    size_t len = 0;

    out[0] = 0;
    for (size_t i = 0; i < l->options.nroutes; i++) {
        const struct route *r = &l->options.routes[i];
        bool get = strcmp(r->method, "GET") == 0;

        if (route_fits(r->path, path) && len < 48)
            len += (size_t)snprintf(out + len, 64 - len, "%s%s",
                                    len == 0 ? "" : ", ",
                                    get ? "GET, HEAD" : r->method);
    }
    if (len != 0 && l->options.cors != NULL)
        snprintf(out + len, 64 - len, ", OPTIONS");
}

static bool route_known_method(const char *method)
{
    static const char *const known[] = {"GET",     "HEAD",  "POST",  "PUT",
                                        "OPTIONS", "PATCH", "DELETE"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(method, known[i]) == 0)
            return true;
    return false;
}

/* Keep what stood for the stars. */
static bool route_segments(struct request *q)
{
    const char *path = q->path;
    char *to;

    if (strchr(q->route->path, '*') == NULL)
        return true;
    to = q->segments = request_memory(q, strlen(path) + 2);
    if (to == NULL)
        return false;
    for (const char *p = q->route->path; *p != 0; p++) {
        size_t len = *p == '*' ? strcspn(path, "/") : 0;

        memcpy(to, path, len);
        to += len;
        path += *p == '*' ? len : 1;
        if (*p == '*')
            *to++ = 0;
    }
    *to = 0; /* an empty one ends them */
    return true;
}

/* Answers go to pages of these origins only ("*": of any); others are answered
 * without. */
static bool route_origin(struct request *q)
{
    const char *const *cors = q->loop->listener->options.cors;
    const char *origin = request_header(q, "Origin");

    if (cors == NULL)
        return false;
    request_set(q, "Vary", "Origin");
    for (; origin != NULL && *cors != NULL; cors++)
        if (strcmp(*cors, "*") == 0 || strcmp(*cors, origin) == 0) {
            request_set(q, "Access-Control-Allow-Origin", origin);
            return true;
        }
    return false;
}

/* A page asks whether it may ask. */
static void route_preflight(struct request *q, const char *allowed, bool origin)
{
    if (origin) {
        request_set(q, "Access-Control-Allow-Methods", allowed);
        request_set(q, "Access-Control-Allow-Headers",
                    "Content-Type, Authorization");
        request_set(q, "Access-Control-Max-Age", "600");
    }
    request_set(q, "Allow", allowed);
    q->status = 204;
}

static bool route_find(struct request *q, const char *method)
{
    const struct listener *l = q->loop->listener;
    bool origin = route_origin(q);
    char allowed[64];

    for (size_t i = 0; i < l->options.nroutes; i++) {
        q->route = &l->options.routes[i];
        if (route_fits(q->route->path, q->path) &&
            route_takes(q->route, method))
            return true;
    }
    q->route = NULL;
    route_allowed(l, q->path, allowed);
    if (allowed[0] == 0) {
        request_refuse(q, 404, "no such resource", !route_known_method(method));
    } else if (strcmp(method, "OPTIONS") == 0 && l->options.cors != NULL) {
        route_preflight(q, allowed, origin);
    } else {
        request_set(q, "Allow", allowed);
        request_refuse(q, 405, "the resource does not take this method",
                       !route_known_method(method));
    }
    return false;
}

/*
 * Whether the request names this machine by an address or as localhost. Where
 * nobody needs a token, a page from anywhere could have its own name lead here
 * and be taken for ours; it cannot send another name than its own. No page
 * reaches a unix socket.
 */
static bool route_local(const struct request *q)
{
    const char *host = request_header(q, "Host");
    const size_t len = host == NULL ? 0 : strcspn(host, ":");

    if (q->loop->listener->unix_path != NULL)
        return true;
    if (len == 9 && strncasecmp(host, "localhost", len) == 0)
        return true;
    return host != NULL &&
           (host[0] == '[' || (len != 0 && strspn(host, "0123456789.") == len));
}

static bool route_may(struct request *q)
{
    const struct listen_options *o = &q->loop->listener->options;
    const char *token = request_bearer(q);
    enum listen_role role = LISTEN_ANYONE;

    if (o->role == NULL) {
        if (q->route->role == LISTEN_ANYONE || route_local(q))
            return true;
        request_refuse(q, 403,
                       "without tokens only an address or localhost is served",
                       false);
        return false;
    }
    if (token != NULL)
        role = o->role(o->ctx, token);
    if (role >= q->route->role)
        return true;
    if (role == LISTEN_ANYONE) {
        request_set(q, "WWW-Authenticate", "Bearer");
        request_refuse(q, 401,
                       token == NULL ? "a token is needed"
                                     : "the token is not known",
                       false);
    } else {
        request_refuse(q, 403, "the token's role may not do this", false);
    }
    return false;
}

bool request_admit(struct request *q, const char *method, uint64_t length)
{
    const struct listen_options *o = &q->loop->listener->options;
    size_t most;

    if (!route_find(q, method) || !route_may(q))
        return false;
    most = q->route->body_max;
    if (o->body_bytes != 0 && most > o->body_bytes)
        most = o->body_bytes;
    if (length > most) {
        request_refuse(q, 413, "the body is too large", true);
        return false;
    }
    if (!route_segments(q)) {
        request_refuse(q, 503, "out of memory", true);
        return false;
    }
    return true;
}
