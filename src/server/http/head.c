/*
 * head.c - a request's head has one reading, or the connection is over.
 *
 * libmicrohttpd 0.9.75 takes bare line feeds, folded lines, blanks before a
 * colon and two lengths. Version 1.0 replaces folds by blanks unless it is
 * strict, as loop_daemon makes it; then it refuses such heads by itself, and
 * two lengths remain. Both parse in place, and what they hand out still lies
 * where it was received, with line ends and colons overwritten by NUL; so
 * whether a head was exactly
 *
 *     METHOD SP URL SP VERSION CR LF  (NAME ":" blanks VALUE CR LF)*  CR LF
 *
 * shows in the places of its parts: each begins where the one before it ends. A
 * line that ended in a bare LF is a byte too short, a folded one was moved
 * away, a NUL inside ends a part too early. A library that did not parse in
 * place would have every request refused, never one let through. probe.c tests
 * all of this with the library that is there before a listener starts.
 */
#include "server/http/internal.h"

#include "host/base/digits.h"

#include <string.h>
#include <strings.h>
#include <sys/socket.h>

struct head_walk {
    const char *end; /* where the next line must begin; NULL: doubtful */
    unsigned lengths, hosts, codings, encodings, upgrades, expects;
    const char *length, *expect;
    size_t length_len;
};

/* RFC 9110, 5.6.2 */
static bool head_is_token(const char *text, size_t len)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
              (c >= 'a' && c <= 'z') || (c != 0 && strchr(others, c) != NULL)))
            return false;
    }
    return len != 0;
}

/* A value: no control characters and no blank at its end. */
static bool head_is_text(const char *text, size_t len)
{
    if (len != 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        return false;
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') ||
            text[i] == 0x7f)
            return false;
    return true;
}

static bool head_is(const char *name, size_t len, const char *want)
{
    return len == strlen(want) && strncasecmp(name, want, len) == 0;
}

/* Content_Length and the like: some readers take it for the real one. */
static bool head_is_disguised(const char *name, size_t len)
{
    static const char *const framing[] = {"content-length",
                                          "transfer-encoding"};

    for (size_t f = 0; f < 2; f++) {
        size_t dash = strcspn(framing[f], "-");

        if (len == strlen(framing[f]) && name[dash] == '_' &&
            strncasecmp(name, framing[f], dash) == 0 &&
            strcasecmp(name + dash + 1, framing[f] + dash + 1) == 0)
            return true;
    }
    return false;
}

static void head_note(struct head_walk *w, const char *name, size_t len,
                      const char *value, size_t value_len)
{
    if (head_is(name, len, "content-length")) {
        w->lengths++;
        w->length = value;
        w->length_len = value_len;
    } else if (head_is(name, len, "expect")) {
        w->expects++;
        w->expect = value;
    }
    w->hosts += head_is(name, len, "host");
    w->codings += head_is(name, len, "transfer-encoding");
    w->encodings += head_is(name, len, "content-encoding");
    w->upgrades += head_is(name, len, "upgrade");
}

static enum MHD_Result head_line(void *ctx, enum MHD_ValueKind kind,
                                 const char *name, size_t len,
                                 const char *value, size_t value_len)
{
    struct head_walk *w = ctx;
    const char *colon = name + len;

    (void)kind;
    if (name != w->end || value == NULL || value <= colon ||
        !head_is_token(name, len) || head_is_disguised(name, len) ||
        !head_is_text(value, value_len)) {
        w->end = NULL;
        return MHD_NO;
    }
    for (const char *c = colon + 1; c < value; c++)
        if (*c != ' ' && *c != '\t') {
            w->end = NULL;
            return MHD_NO;
        }
    w->end = value + value_len + 2;
    head_note(w, name, len, value, value_len);
    return MHD_YES;
}

/* Of at most 18 digits. */
static bool head_number(const char *text, size_t len, uint64_t *out)
{
    return len <= 18 && digits_parse(out, text, len, UINT64_MAX);
}

static void head_bad(struct head_facts *out, int status, const char *title)
{
    out->status = status;
    out->title = title;
}

void listen_head(struct head_facts *out, struct MHD_Connection *http,
                 const struct head *head)
{
    struct head_walk w = {.end = head->version + strlen(head->version) + 2};
    bool newer = strcmp(head->version, "HTTP/1.1") == 0;

    *out = (struct head_facts){0};
    MHD_get_connection_values_n(http, MHD_HEADER_KIND, head_line, &w);
    if (head->url_end == NULL || head->version != head->url_end + 1 ||
        w.end == NULL || w.end + 2 != head->method + head->size ||
        !head_is_token(head->method, strlen(head->method)) ||
        head->url != head->method + strlen(head->method) + 1)
        head_bad(out, 400, "malformed head: one space, CR LF, no folded lines");
    else if (!newer && strcmp(head->version, "HTTP/1.0") != 0)
        head_bad(out, 505, "only HTTP/1.1 is spoken here");
    else if (w.hosts > 1 || (w.hosts == 0 && newer))
        head_bad(out, 400, "a request has one Host");
    else if (w.lengths > 1 || (w.lengths != 0 && w.codings != 0) ||
             (w.lengths != 0 &&
              !head_number(w.length, w.length_len, &out->length)))
        head_bad(out, 400, "a body has one Content-Length, in digits");
    else if (w.codings != 0)
        head_bad(out, 411, "a body needs a Content-Length");
    else if (w.encodings != 0)
        head_bad(out, 415, "a body is sent as it is, without Content-Encoding");
    else if (w.upgrades != 0)
        head_bad(out, 400, "nothing to upgrade to");
    else if (w.expects > 1 ||
             (w.expects == 1 && strcasecmp(w.expect, "100-continue") != 0))
        head_bad(out, 417, "nothing but 100-continue may be expected");
}

/* Of a connection that waits for its head to end: whether it has a length that
 * is none. */
static bool head_is_cut(const struct request *q)
{
    const char *value = NULL;
    size_t len = 0;
    uint64_t number;

    return q->lined &&
           MHD_lookup_connection_value_n(q->http, MHD_HEADER_KIND,
                                         "Content-Length", 14, &value,
                                         &len) == MHD_YES &&
           !head_number(value, len, &number);
}

void listen_complaint(void *loop, const char *format, va_list args)
{
    static const char answer[] =
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
        "Content-Security-Policy: default-src 'none'; frame-ancestors "
        "'none'\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n"
        "Content-Length: 0\r\n\r\n";
    struct loop *p = loop;

    (void)args; /* bytes of strangers */
    if (strstr(format, "Content-Length") == NULL)
        return;
    for (struct request *q = p->connections; q != NULL; q = q->next)
        if (head_is_cut(q)) {
            q->lined = false;
            q->linger = true;
            atomic_fetch_add_explicit(&p->refused, 1, memory_order_relaxed);
            if (atomic_load(&p->listener->tls) == NULL)
                (void)!send(q->fd, answer, sizeof answer - 1,
                            MSG_DONTWAIT | MSG_NOSIGNAL);
            shutdown(q->fd, SHUT_RDWR);
        }
}

const char *listen_url(const char *url)
{
    if (url == NULL || *url != '/')
        return NULL;
    while (*url > ' ' && *url < 0x7f)
        url++;
    return *url == 0 ? url : NULL;
}

static int head_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t listen_unescape(void *ctx, struct MHD_Connection *http, char *text)
{
    char *to = text;

    (void)ctx;
    (void)http;
    for (const char *from = text; *from != 0; to++) {
        int high = from[0] == '%' ? head_digit(from[1]) : -1;
        int low = high >= 0 ? head_digit(from[2]) : -1;

        if (low >= 0 && (high | low) != 0) {
            *to = (char)(16 * high + low);
            from += 3;
        } else {
            *to = *from++;
        }
    }
    *to = 0;
    return (size_t)(to - text);
}
