/* response.c - see response.h. */
#include "server/peer/response.h"

#include "host/base/grow.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RESPONSE_FIRST 4096u /* bytes of memory at first */
#define RESPONSE_KEEP 16384u /* that are kept for the next response */

uint8_t *response_room(struct response *r, size_t *room)
{
    /* A byte more than there may be shows that a response is too long. */
    const size_t most = MESSAGE_HEAD_BYTES + r->limit + 1;

    if (r->len == r->room) {
        size_t wanted = r->room == 0 ? RESPONSE_FIRST : 2 * r->room;

        if (wanted > most)
            wanted = most;
        if (!grow_to(&r->bytes, wanted, 1))
            return NULL;
        r->room = wanted;
    }
    *room = r->room - r->len;
    return r->bytes + r->len;
}

enum message_state response_add(struct response *r, size_t n)
{
    struct message *head = &r->head;
    size_t body;

    r->len += n;
    if (head->size == 0) {
        const enum message_state state =
            message_read(head, (const char *)r->bytes, r->len);

        if (state != MESSAGE_WHOLE)
            return state;
    }
    body = r->len - head->size;
    if (head->length > r->limit || body > head->length)
        return MESSAGE_BAD; /* no other request was sent */
    return body == head->length ? MESSAGE_WHOLE : MESSAGE_MORE;
}

bool response_typed(const struct response *r, const char *type)
{
    const char *bytes = (const char *)r->bytes;
    const struct message_field *f =
        message_find(&r->head, bytes, "Content-Type");
    const size_t len = strlen(type);

    return f != NULL && f->value.len >= len &&
           strncasecmp(bytes + f->value.at, type, len) == 0 &&
           (f->value.len == len ||
            strchr("; \t", bytes[f->value.at + len]) != NULL);
}

const uint8_t *response_body(const struct response *r)
{
    return r->bytes + r->head.size;
}

void response_again(struct response *r)
{
    if (r->room > RESPONSE_KEEP)
        response_clear(r);
    r->len = 0;
    message_begin(&r->head, MESSAGE_RESPONSE);
}

void response_clear(struct response *r)
{
    free(r->bytes);
    r->bytes = NULL;
    r->len = r->room = 0;
}
