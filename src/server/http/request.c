/*
 * request.c - a request: its head, its body, and what a handler may ask.
 */
#include "server/http/internal.h"

#include "host/base/grow.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BODY_STEP 16384u /* bytes by which a large one grows, at least */

/* ---- Escapes ------------------------------------------------------------- */

static int request_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Replaces %XX by its byte, in place; %00 stays, for it would end the text. */
static void request_unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from != 0; to++) {
        int high = from[0] == '%' ? request_digit(from[1]) : -1;
        int low = high >= 0 ? request_digit(from[2]) : -1;

        if (low >= 0 && (high | low) != 0) {
            *to = (char)(16 * high + low);
            from += 3;
        } else {
            *to = *from++;
        }
    }
    *to = 0;
}

/* ---- From its head to its end -------------------------------------------- */

static void request_ends_at(char *text, struct message_text part)
{
    text[part.at + part.len] = 0;
}

/* Every part of a head has a byte behind it that is not part of anything. */
static void request_open_head(struct request *q)
{
    const struct message *m = q->head;
    char *path = q->text + m->target.at, *query;

    request_ends_at(q->text, m->method);
    request_ends_at(q->text, m->target);
    for (unsigned i = 0; i < m->nfields; i++) {
        request_ends_at(q->text, m->fields[i].name);
        request_ends_at(q->text, m->fields[i].value);
    }
    query = path + strcspn(path, "?");
    q->query = *query == '?' ? query + 1 : query;
    *query = 0;
    request_unescape(path);
    q->path = path;
    q->without_body = strcmp(q->text + m->method.at, "HEAD") == 0;
}

void request_begin(struct request *q, const struct message *head, char *text)
{
    struct loop *loop = q->loop;
    const bool trusted = q->trusted;

    *q = (struct request){.loop = loop,
                          .trusted = trusted,
                          .head = head,
                          .text = text,
                          .declared = (size_t)head->length};
    if (text != NULL)
        request_open_head(q);
    loop_count(&loop->requests);
}

static void request_drop_body(struct request *q)
{
    struct listener *l = q->loop->listener;

    atomic_fetch_sub(q->declared <= LISTEN_SMALL_BYTES ? &l->small
                                                       : &l->inflight,
                     q->charged);
    q->charged = 0;
    if (!q->borrowed)
        free(q->body);
    q->body = NULL;
    q->len = q->room = 0;
}

void request_end(struct request *q)
{
    for (struct request_piece *next, *p = q->pieces; p != NULL; p = next) {
        next = p->next;
        free(p);
    }
    q->pieces = NULL;
    q->headers = NULL;
    request_drop_body(q);
}

/* ---- The body ------------------------------------------------------------ */

/* A small body takes no room that others share: there are no more of them than
 * connections. A large one takes of inflight_bytes what has come, not what was
 * announced, and gives it back at once when there is no more: so large bodies,
 * however many and slow, keep no device's upload out. */

/* Large ones grow by an eighth, so that what is taken is about what has come.
 */
static size_t request_next_room(const struct request *q)
{
    const size_t more = q->room / 8 > BODY_STEP ? q->room / 8 : BODY_STEP;

    if (q->declared <= LISTEN_SMALL_BYTES || q->declared - q->room < more)
        return q->declared;
    return q->room + more;
}

static bool request_charge(struct request *q, size_t more)
{
    struct listener *l = q->loop->listener;

    if (q->declared <= LISTEN_SMALL_BYTES) {
        atomic_fetch_add(&l->small, more);
    } else if (atomic_fetch_add(&l->inflight, more) + more >
               l->options.inflight_bytes) {
        atomic_fetch_sub(&l->inflight, more);
        return false;
    }
    q->charged += more;
    return true;
}

static bool request_grow_body(struct request *q)
{
    const size_t room = request_next_room(q);

    if (!request_charge(q, room - q->room) || !grow_to(&q->body, room, 1))
        return false;
    q->room = room;
    return true;
}

void request_open_body(struct request *q, uint8_t *here)
{
    q->borrowed = here != NULL;
    q->body = q->declared != 0 ? here : NULL;
    q->room = here != NULL ? q->declared : 0;
}

uint8_t *request_body_room(struct request *q, size_t *room)
{
    if (!q->dropped && q->len == q->room && !request_grow_body(q)) {
        q->dropped = true;
        request_drop_body(q);
    }
    if (q->dropped)
        return NULL;
    *room = q->room - q->len;
    return q->body + q->len;
}

void request_body_came(struct request *q, size_t n)
{
    q->came += n;
    if (!q->dropped)
        q->len += n;
}

bool request_pressed(const struct listener *l)
{
    return atomic_load_explicit(&l->inflight, memory_order_relaxed) >
           l->options.inflight_bytes / 2;
}

/* ---- What a handler may ask ---------------------------------------------- */

const struct route *request_route(const struct request *q)
{
    return q->route;
}

const char *request_segment(const struct request *q, size_t i)
{
    const char *at = q->segments;

    for (; at != NULL && *at != 0; at += strlen(at) + 1)
        if (i-- == 0)
            return at;
    return NULL;
}

/* Reads the next part of a query, NAME or NAME=VALUE, and unescapes it; false:
 * there is none, or no memory. */
static bool request_next_query(const struct request *q, const char **at,
                               const char **name, const char **value)
{
    const size_t len = strcspn(*at, "&");
    char *text = NULL, *equals;

    if (**at != 0) /* what it has is its own, const or not */
        text = request_memory((struct request *)(uintptr_t)q, len + 1);
    if (text == NULL)
        return false;
    memcpy(text, *at, len);
    text[len] = 0;
    *at += len + ((*at)[len] == '&');
    for (char *plus = text; (plus = strchr(plus, '+')) != NULL;)
        *plus = ' ';
    equals = strchr(text, '=');
    if (equals != NULL) {
        *equals++ = 0;
        request_unescape(equals);
    }
    request_unescape(text);
    *name = text;
    *value = equals;
    return true;
}

const char *request_query(const struct request *q, const char *name)
{
    const char *at = q->query, *known, *value;

    while (request_next_query(q, &at, &known, &value))
        if (strcmp(known, name) == 0)
            return value;
    return NULL;
}

bool request_query_only(const struct request *q, const char *const *names)
{
    const char *at = q->query, *name, *value;
    uint64_t seen = 0; /* a bit each */

    while (request_next_query(q, &at, &name, &value)) {
        size_t i = 0;

        while (names[i] != NULL && strcmp(names[i], name) != 0)
            i++;
        if (names[i] == NULL || (seen >> i & 1) != 0)
            return false;
        seen |= (uint64_t)1 << i;
    }
    return true;
}

const char *request_header(const struct request *q, const char *name)
{
    const struct message_field *field = message_find(q->head, q->text, name);

    return field != NULL ? q->text + field->value.at : NULL;
}

bool request_typed(const struct request *q, const char *type)
{
    const char *given = request_header(q, "Content-Type");
    const size_t len = given != NULL ? strcspn(given, "; \t") : 0;

    return len == strlen(type) && strncasecmp(given, type, len) == 0;
}

void request_trust(struct request *q, bool trusted)
{
    q->trusted = trusted;
}

bool request_trusted(const struct request *q)
{
    return q->trusted;
}

const char *request_bearer(const struct request *q)
{
    const char *given = request_header(q, "Authorization");

    if (given == NULL || strncasecmp(given, "Bearer ", 7) != 0)
        return NULL;
    given += 7;
    return given + strspn(given, " ");
}

const uint8_t *request_body(const struct request *q, size_t *len)
{
    *len = q->len;
    return q->body;
}

uint8_t *request_take_body(struct request *q, size_t *len)
{
    uint8_t *body = q->body;

    *len = q->len;
    if (q->borrowed || body == NULL) {
        body = calloc(1, q->len + 1);
        if (body != NULL && q->len != 0)
            memcpy(body, q->body, q->len);
    }
    q->body = NULL;
    q->len = 0;
    return body;
}

void *request_memory(struct request *q, size_t size)
{
    struct request_piece *piece = malloc(sizeof *piece + size);

    if (piece == NULL)
        return NULL;
    piece->next = q->pieces;
    q->pieces = piece;
    return piece->bytes;
}
