/*
 * ask.h - requests to another server, one at a time, by a thread that waits for
 * each answer.
 *
 * The connection is kept between requests. One that the other server has closed
 * meanwhile is replaced, and the same bytes are sent again: what is asked must
 * bear that.
 */
#ifndef SERVER_PEER_ASK_H
#define SERVER_PEER_ASK_H

#include "server/peer/target.h"

struct ask;

struct ask_options {
    size_t size; /* sizeof(struct ask_options) */
    struct target *to;
    uint32_t connect_seconds;
    uint32_t
        answer_seconds; /* from the first byte sent to the last that came */
};

/* Everything that a sandbox would forbid later is done here. */
hsy_status ask_open(struct ask **out, const struct ask_options *o,
                    hsy_error *err);
void ask_close(struct ask *a); /* NULL is allowed */

enum ask_outcome {
    ASK_ANSWERED,
    ASK_NO_LINK, /* no connection came about */
    ASK_BROKEN,  /* it broke before the answer */
    ASK_STRANGE, /* what came is no answer of a server of ours */
    ASK_SLOW,    /* none came in time */
    ASK_STOPPED,
    ASK_OUTCOMES
};
extern const char *const ask_outcomes[ASK_OUTCOMES]; /* one word each */

struct ask_answer {
    unsigned status;
    const uint8_t *body; /* until the next request */
    size_t len;
};

enum ask_outcome ask_post(struct ask *a, const uint8_t *body, size_t len,
                          struct ask_answer *out);

/* From now on all that is asked, and what waits, is ASK_STOPPED. Any thread. */
void ask_stop(struct ask *a);

#endif
