/*
 * response.h - a response of another server, as its bytes come.
 *
 * The head is read by server/http/message.h, which wants its length said once:
 * no chunks, no interim responses, no end by closing. A response of another
 * form is refused and its connection is closed, so where one response ends is
 * never in doubt.
 */
#ifndef SERVER_PEER_RESPONSE_H
#define SERVER_PEER_RESPONSE_H

#include "server/http/message.h"

/* Zero it and set its limit; clear it at the end. */
struct response {
    struct message head; /* head.size is 0 until the head is complete */
    uint8_t *bytes;      /* owned: head and body */
    size_t len, room;
    size_t limit; /* bytes of a body at most */
};

/* Returns where the next bytes go and sets *room to how many there may be, at
 * least 1. Returns NULL if there is no memory. */
uint8_t *response_room(struct response *r, size_t *room);
/* Counts n bytes that were put there. After MESSAGE_BAD it must not be called
 * again. */
enum message_state response_add(struct response *r, size_t n);
/* Returns true if the head is of this media type, whatever parameters that
 * has. */
bool response_typed(const struct response *r, const char *type);
/* Returns the body of a complete response, of head.length bytes. */
const uint8_t *response_body(const struct response *r);
/* Call it before each response. Keeps the memory of a short one. */
void response_again(struct response *r);
void response_clear(struct response *r);

#endif
