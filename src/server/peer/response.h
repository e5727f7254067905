/*
 * response.h - what another server answers, read strictly.
 *
 * HTTP/1.1 with a length that is said once: no chunks, no interim answers, no
 * end by closing. What is not of that form is no answer, and its connection is
 * not used again: where one answer ends is never in doubt.
 */
#ifndef SERVER_PEER_RESPONSE_H
#define SERVER_PEER_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESPONSE_HEAD 8192u /* bytes of a head, at most */
#define RESPONSE_FIELDS 64u
#define RESPONSE_BODY 65536u /* bytes of a body, unless more are expected */
#define RESPONSE_BODY_MAX ((1u << 20) + 48u) /* a sealed document */

enum response_type { RESPONSE_OTHER, RESPONSE_SEALED, RESPONSE_PROBLEM };

struct response_head {
    unsigned status; /* 200 to 599 */
    size_t length;   /* of the body, at most RESPONSE_BODY_MAX */
    enum response_type type;
    bool close; /* nothing comes after it */
};

/* Read a head: len bytes, the empty line at its end included. */
bool response_read(struct response_head *out, const char *text, size_t len);

enum response_state { RESPONSE_MORE, RESPONSE_WHOLE, RESPONSE_BAD };

/* An answer in the making; zero it to begin, clear it at the end. */
struct response {
    uint8_t *bytes; /* owned: head and body */
    size_t len, room;
    size_t body; /* where the body begins; 0: the head is not whole */
    size_t most; /* bytes of a body; 0: RESPONSE_BODY */
    struct response_head head;
};

/* Room for what may come next, at *room bytes; NULL: out of memory. */
uint8_t *response_room(struct response *r, size_t *room);
/* So many bytes were put there. */
enum response_state response_take(struct response *r, size_t n);
/* Forget the answer, and keep the memory unless it was a long one. */
void response_again(struct response *r);
void response_clear(struct response *r);

#endif
