/*
 * body.c - the bytes of a body, and what they may take.
 *
 * A small body takes no room that others share: there are no more of them than
 * connections. A large one takes of inflight_bytes what has come, not what was
 * announced, and gives it back at once when there is no more: so large bodies,
 * however many and slow, keep no device's upload out.
 */
#include "server/http/internal.h"

#include <stdlib.h>
#include <string.h>

#define BODY_STEP 16384u /* bytes by which a large one grows, at least */

/* Small ones double; large ones grow by an eighth, so that what is taken is
 * about what has come. */
static size_t body_room(const struct request *q, size_t need)
{
    size_t room = q->room == 0 ? 4096 : 2 * q->room;

    if (q->declared > LISTEN_SMALL_BYTES)
        room = q->room + (q->room / 8 > BODY_STEP ? q->room / 8 : BODY_STEP);
    if (room < need)
        room = need;
    return room > q->declared ? q->declared : room;
}

static bool body_charge(struct request *q, size_t more)
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

static bool body_grow(struct request *q, size_t need)
{
    const size_t room = body_room(q, need);
    uint8_t *body;

    if (!body_charge(q, room - q->room))
        return false;
    body = realloc(q->body, room);
    if (body == NULL)
        return false;
    q->body = body;
    q->room = room;
    return true;
}

void body_more(struct request *q, const char *data, size_t size)
{
    q->moved += size;
    if (q->dropped || q->status != 0)
        return;
    if (size > q->declared - q->len ||
        (size > q->room - q->len && !body_grow(q, q->len + size))) {
        q->dropped = true;
        body_free(q);
        return;
    }
    memcpy(q->body + q->len, data, size);
    q->len += size;
}

void body_free(struct request *q)
{
    struct listener *l = q->loop->listener;

    atomic_fetch_sub(q->declared <= LISTEN_SMALL_BYTES ? &l->small
                                                       : &l->inflight,
                     q->charged);
    q->charged = 0;
    free(q->body);
    q->body = NULL;
    q->len = q->room = 0;
}

/* Whether large bodies have taken more than half of what they may. */
bool body_pressed(const struct listener *l)
{
    return atomic_load_explicit(&l->inflight, memory_order_relaxed) >
           l->options.inflight_bytes / 2;
}
