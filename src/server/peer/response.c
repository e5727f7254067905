/* response.c - the strict reader of a gateway's answers. */
#define _GNU_SOURCE /* memmem */
#include "server/peer/response.h"

#include "host/base/digits.h"
#include "host/base/grow.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RESPONSE_FIRST 4096u /* bytes of room, to begin with */
#define RESPONSE_KEEP 16384u /* bytes of room that are kept for the next */

/* ---- A head -------------------------------------------------------------- */

struct response_text {
    const char *at;
    size_t len;
};

/* tchar of RFC 9110. */
static bool response_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* What may stand in a value: no control character but a tab. */
static bool response_visible(struct response_text t)
{
    for (size_t i = 0; i < t.len; i++) {
        const unsigned char c = (unsigned char)t.at[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static bool response_is(struct response_text t, const char *word)
{
    return t.len == strlen(word) && strncasecmp(t.at, word, t.len) == 0;
}

static struct response_text response_trim(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (struct response_text){at, (size_t)(end - at)};
}

/* "HTTP/1.1 200 OK" */
static bool response_status(struct response_head *out, struct response_text t)
{
    const char *at = t.at;
    uint64_t status;

    if (t.len < 13 || strncmp(at, "HTTP/1.", 7) != 0 ||
        (at[7] != '0' && at[7] != '1') || at[8] != ' ' || at[12] != ' ')
        return false;
    out->close = at[7] == '0';
    if (!digits_parse(&status, at + 9, 3, 599))
        return false;
    out->status = (unsigned)status;
    return status >= 200 &&
           response_visible((struct response_text){at + 13, t.len - 13});
}

static bool response_length(size_t *out, struct response_text t)
{
    uint64_t n = 0;

    if (t.len > 7 || !digits_parse(&n, t.at, t.len, RESPONSE_BODY_MAX))
        return false;
    *out = (size_t)n;
    return true;
}

/* Whether one word of "a, b" is this. */
static bool response_has(struct response_text t, const char *word)
{
    const char *at = t.at, *end = t.at + t.len;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));

        if (comma == NULL)
            comma = end;
        if (response_is(response_trim(at, comma), word))
            return true;
        at = comma + 1;
    }
    return false;
}

static enum response_type response_kind(struct response_text t)
{
    const char *end = memchr(t.at, ';', t.len);

    t = response_trim(t.at, end != NULL ? end : t.at + t.len);
    return response_is(t, "message/ohttp-res")          ? RESPONSE_SEALED
           : response_is(t, "application/problem+json") ? RESPONSE_PROBLEM
                                                        : RESPONSE_OTHER;
}

/* What a head has said so far. */
struct response_said {
    bool length, type;
};

static bool response_field(struct response_head *out,
                           struct response_said *said, struct response_text t)
{
    const char *colon = memchr(t.at, ':', t.len);
    struct response_text name, value;

    if (colon == NULL || colon == t.at)
        return false;
    name = (struct response_text){t.at, (size_t)(colon - t.at)};
    for (size_t i = 0; i < name.len; i++)
        if (!response_name_char(name.at[i]))
            return false;
    value = response_trim(colon + 1, t.at + t.len);
    if (!response_visible(value) || response_is(name, "Transfer-Encoding"))
        return false;
    if (response_is(name, "Content-Length")) {
        if (said->length || !response_length(&out->length, value))
            return false;
        said->length = true;
    } else if (response_is(name, "Content-Type")) {
        if (said->type)
            return false;
        said->type = true;
        out->type = response_kind(value);
    } else if (response_is(name, "Connection")) {
        out->close |= response_has(value, "close");
    }
    return true;
}

bool response_read(struct response_head *out, const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    struct response_said said = {false, false};
    struct response_head head = {.status = 0};

    for (size_t line = 0; line <= RESPONSE_FIELDS + 1 && at < end; line++) {
        const char *stop = memmem(at, (size_t)(end - at), "\r\n", 2);
        struct response_text t = {at, 0};

        if (stop == NULL)
            return false;
        t.len = (size_t)(stop - at);
        at = stop + 2;
        if (line != 0 && t.len == 0) { /* the empty line */
            const bool none = head.status == 204 || head.status == 304;

            if (at != end || (none ? head.length != 0 : !said.length))
                return false;
            *out = head;
            return true;
        }
        if (line == 0 ? !response_status(&head, t)
                      : !response_field(&head, &said, t))
            return false;
    }
    return false;
}

/* ---- An answer ----------------------------------------------------------- */

static size_t response_most(const struct response *r)
{
    return r->most != 0 ? r->most : RESPONSE_BODY;
}

uint8_t *response_room(struct response *r, size_t *room)
{
    const size_t most = RESPONSE_HEAD + response_most(r);

    if (r->len == r->room) {
        size_t wanted = r->room == 0 ? RESPONSE_FIRST : 2 * r->room;

        if (wanted > most + 1) /* what is too long shows by one byte */
            wanted = most + 1;
        if (!grow_to(&r->bytes, wanted, 1))
            return NULL;
        r->room = wanted;
    }
    *room = r->room - r->len;
    return r->bytes + r->len;
}

enum response_state response_take(struct response *r, size_t n)
{
    const size_t from = r->len < 3 ? 0 : r->len - 3;

    r->len += n;
    if (r->body == 0) {
        const uint8_t *end =
            memmem(r->bytes + from, r->len - from, "\r\n\r\n", 4);
        const size_t head = end != NULL ? (size_t)(end - r->bytes) + 4 : r->len;

        if (head > RESPONSE_HEAD)
            return RESPONSE_BAD;
        if (end == NULL)
            return RESPONSE_MORE;
        if (!response_read(&r->head, (const char *)r->bytes, head) ||
            r->head.length > response_most(r))
            return RESPONSE_BAD;
        r->body = head;
    }
    if (r->len - r->body > r->head.length)
        return RESPONSE_BAD; /* nobody has asked for more */
    return r->len - r->body == r->head.length ? RESPONSE_WHOLE : RESPONSE_MORE;
}

void response_again(struct response *r)
{
    if (r->room > RESPONSE_KEEP) {
        free(r->bytes);
        r->bytes = NULL;
        r->room = 0;
    }
    r->len = r->body = 0;
    r->head = (struct response_head){.status = 0};
}

void response_clear(struct response *r)
{
    free(r->bytes);
    *r = (struct response){.bytes = NULL};
}
