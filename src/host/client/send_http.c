/*
 * send_http.c - requests to a collector, by libcurl.
 *
 * One address; nothing about the device but what is sent: no agent's name, no
 * cookies, no kept TLS session (R25). What comes back is bounded, and only its
 * status is believed; words of a stranger are not shown to anybody.
 */
#define _GNU_SOURCE /* memmem */

#include "host/client/send.h"

#include "host/base/curl_load.h"
#include "host/base/grow.h"
#include "host/base/owned.h"
#include "host/base/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HTTP_URL 2048u
#define HTTP_TOKEN 256u
#define HTTP_DOCUMENT_MAX (16u << 20) /* bytes of a document */

struct send_http {
    const struct curl_functions *use;
    CURL *curl;
    struct curl_slist *headers;
    char uploads[HTTP_URL + 16], tasks[HTTP_URL + 16];
    uint8_t *body; /* of the answer */
    size_t len, room, most;
    bool too_long;
    bool relay; /* what answers there is one */
};

/* ---- What may be asked for ----------------------------------------------- */

/* Base64url, or anything else that needs no care in a header. */
static bool http_token_ok(const char *token)
{
    const size_t len = strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "abcdefghijklmnopqrstuvwxyz"
                                     "0123456789-._~+/=");

    return len != 0 && len <= HTTP_TOKEN && token[len] == '\0';
}

static hsy_status http_addresses(struct send_http *h, const char *url,
                                 hsy_error *err)
{
    size_t len = strlen(url);

    if (!url_ok(url))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_URL,
                         "an address is http:// or https://, a host without "
                         "'%', perhaps a port and a path");
    if (len > HTTP_URL)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_URL, "too long");
    if (h->relay) {
        snprintf(h->uploads, sizeof h->uploads, "%s", url);
        return HSY_OK;
    }
    while (url[len - 1] == '/')
        len--;
    snprintf(h->uploads, sizeof h->uploads, "%.*s/v1/uploads", (int)len, url);
    snprintf(h->tasks, sizeof h->tasks, "%.*s/v1/document", (int)len, url);
    return HSY_OK;
}

/* ---- Opening ------------------------------------------------------------- */

static bool http_header(struct send_http *h, const char *line)
{
    struct curl_slist *more = h->use->slist_append(h->headers, line);

    if (more != NULL)
        h->headers = more;
    return more != NULL;
}

static bool http_headers(struct send_http *h, const char *token)
{
    char line[HTTP_TOKEN + 32];
    bool good =
        http_header(h, h->relay ? "Content-Type: message/ohttp-req"
                                : "Content-Type: application/octet-stream") &&
        http_header(h, "Expect:") && http_header(h, "Accept:");

    if (token == NULL || h->relay)
        return good;
    snprintf(line, sizeof line, "Authorization: Bearer %s", token);
    return good && http_header(h, line);
}

static size_t http_take(char *bytes, size_t one, size_t n, void *ctx)
{
    struct send_http *h = ctx;
    size_t len = one * n;

    if (len > h->most - h->len) {
        h->too_long = true;
        return 0;
    }
    if (!grow_room(&h->body, &h->room, h->len + len, 1))
        return 0;
    memcpy(h->body + h->len, bytes, len);
    h->len += len;
    return len;
}

static bool http_options(struct send_http *h, const hsy_send_options *o)
{
    CURL *c = h->curl;

    return http_headers(h, o->token) &&
           h->use->easy_setopt(c, CURLOPT_HTTPHEADER, h->headers) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") ==
               CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_SSL_SESSIONID_CACHE, 0L) ==
               CURLE_OK &&
           (o->ca_file == NULL ||
            h->use->easy_setopt(c, CURLOPT_CAINFO, o->ca_file) == CURLE_OK) &&
           h->use->easy_setopt(c, CURLOPT_HTTP_VERSION,
                               (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_FORBID_REUSE,
                               o->one_connection ? 0L : 1L) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_WRITEFUNCTION, http_take) ==
               CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_WRITEDATA, h) == CURLE_OK;
}

hsy_status hsy_http_curl(const struct curl_functions **use, hsy_error *err)
{
    *use = hsy_curl_load();
    return *use != NULL ? HSY_OK
                        : host_fail(err, HSY_E_IO, HSY_FIELD_CURL,
                                    "libcurl is not installed: the package "
                                    "libcurl3-gnutls, or libcurl4");
}

static hsy_status http_setup(struct send_http *h, const char *url,
                             const hsy_send_options *o, hsy_error *err)
{
    hsy_status st = http_addresses(h, url, err);

    if (st != HSY_OK)
        return st;
    if (o->token != NULL && !http_token_ok(o->token))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_TOKEN,
                         "not a token: letters, digits and -._~+/= alone");
    st = hsy_http_curl(&h->use, err);
    if (st != HSY_OK)
        return st;
    h->curl = h->use->easy_init();
    if (h->curl == NULL || !http_options(h, o))
        return host_nomem(err);
    return HSY_OK;
}

hsy_status hsy_http_open(struct send_http **out, const char *url, bool relay,
                         const hsy_send_options *options, hsy_error *err)
{
    struct send_http *h = calloc(1, sizeof *h);
    hsy_status st;

    if (h == NULL)
        return host_nomem(err);
    h->relay = relay;
    st = http_setup(h, url, options, err);
    if (st != HSY_OK) {
        hsy_http_close(h);
        return st;
    }
    *out = h;
    return HSY_OK;
}

void hsy_http_close(struct send_http *http)
{
    if (http == NULL)
        return;
    if (http->curl != NULL) {
        http->use->easy_cleanup(http->curl);
        http->use->slist_free_all(http->headers);
    }
    free(http->body);
    free(http);
}

/* ---- Requests ------------------------------------------------------------ */

/* Sets why nothing came back, in words of our own that name the peer, and
 * whether a later request may fare better. */
static void http_why(CURLcode code, bool relay, struct send_answer *answer)
{
    static const struct {
        CURLcode code;
        bool again;
        const char *why, *relay; /* of a collector, of a relay */
    } rows[] = {
        {CURLE_COULDNT_RESOLVE_HOST, true, "the host's name does not resolve",
         "the relay's name does not resolve"},
        {CURLE_COULDNT_RESOLVE_PROXY, true, "the proxy's name does not resolve",
         "the proxy's name does not resolve"},
        {CURLE_COULDNT_CONNECT, true,
         "cannot connect; check that the collector is running",
         "cannot connect to the relay; check that it is running"},
        {CURLE_OPERATION_TIMEDOUT, true, "timeout: no answer in time",
         "timeout: no answer of the relay in time"},
        {CURLE_PEER_FAILED_VERIFICATION, false,
         "the server's certificate is not trusted: wrong name, expired, or of "
         "an unknown authority (a CA file may be named)",
         "the relay's certificate is not trusted: wrong name, expired, or of "
         "an unknown authority (a CA file may be named)"},
        {CURLE_SSL_CACERT_BADFILE, false,
         "the CA certificates cannot be read: install the system's (package "
         "ca-certificates) or name a CA file that can be read",
         "the CA certificates cannot be read: install the system's (package "
         "ca-certificates) or name a CA file that can be read"},
        {CURLE_SSL_CONNECT_ERROR, false, "no TLS with this server",
         "no TLS with the relay"},
        {CURLE_GOT_NOTHING, true, "the connection was closed without an answer",
         "the relay's connection was closed without an answer"},
        {CURLE_RECV_ERROR, true, "the connection broke before the answer",
         "the connection to the relay broke before the answer"},
        {CURLE_SEND_ERROR, true, "the connection broke while sending",
         "the connection to the relay broke while sending"},
        {CURLE_PARTIAL_FILE, true, "the answer was cut short",
         "the relay's answer was cut short"},
        {CURLE_WEIRD_SERVER_REPLY, false, "what answers there is no web server",
         "what answers at the relay's URL is no web server"},
        {CURLE_UNSUPPORTED_PROTOCOL, false,
         "what answers there is no web server",
         "what answers at the relay's URL is no web server"},
        {CURLE_URL_MALFORMAT, false, "the URL is malformed",
         "the relay's URL is malformed"},
    };

    answer->why = "the request failed";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == code) {
            answer->why = relay ? rows[i].relay : rows[i].why;
            answer->again = rows[i].again;
        }
}

static void http_read(const struct curl_functions *use, CURL *curl,
                      struct send_answer *answer)
{
    const char *type = NULL;
    curl_off_t retry = 0;
    long status = 0;

    use->easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    use->easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry);
    use->easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    answer->status = (uint32_t)status;
    answer->retry_after = retry > 0 ? (uint64_t)retry : 0;
    answer->problem =
        type != NULL && strncmp(type, "application/problem+json", 24) == 0;
    answer->sealed =
        type != NULL && strncasecmp(type, "message/ohttp-res", 17) == 0;
}

void hsy_http_answer(const struct curl_functions *use, CURL *curl,
                     CURLcode code, bool relay, const uint8_t *body, size_t len,
                     struct send_answer *answer)
{
    *answer = (struct send_answer){.status = 0};
    if (code != CURLE_OK) {
        http_why(code, relay, answer);
        return;
    }
    http_read(use, curl, answer);
    answer->body = body;
    answer->len = len;
    answer->early = len != 0 && memmem(body, len, "\"early\"", 7) != NULL;
}

static void http_perform(struct send_http *h, const char *url, uint32_t seconds,
                         size_t most, struct send_answer *answer)
{
    CURLcode code;

    h->len = 0;
    h->most = most;
    h->too_long = false;
    h->use->easy_setopt(h->curl, CURLOPT_TIMEOUT, (long)seconds);
    h->use->easy_setopt(h->curl, CURLOPT_URL, url);
    code = h->use->easy_perform(h->curl);
    hsy_http_answer(h->use, h->curl, code, h->relay, h->body, h->len, answer);
    if (h->too_long)
        answer->why = "the answer is longer than any of a collector";
}

void hsy_http_post(struct send_http *http, const uint8_t *bytes, size_t len,
                   uint32_t seconds, size_t most, struct send_answer *answer)
{
    http->use->easy_setopt(http->curl, CURLOPT_POST, 1L);
    http->use->easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                           (curl_off_t)len);
    http->use->easy_setopt(http->curl, CURLOPT_POSTFIELDS, bytes);
    http_perform(http, http->uploads, seconds, most, answer);
}

void hsy_http_get(struct send_http *http, uint32_t seconds, uint8_t **bytes,
                  size_t *len, struct send_answer *answer)
{
    http->use->easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
    http_perform(http, http->tasks, seconds, HTTP_DOCUMENT_MAX, answer);
    if (answer->status != 200 || http->len == 0)
        return;
    *bytes = http->body;
    *len = http->len;
    http->body = NULL;
    http->len = http->room = 0;
}
