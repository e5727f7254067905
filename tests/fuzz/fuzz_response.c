/* fuzz_response.c - what a gateway answers a relay: the same in whatever pieces
 * it comes, and never more than there is room for. */
#define _GNU_SOURCE

#include "fuzz.h"
#include "server/peer/response.h"

#define LIMIT 65536u /* of a body */

struct ending {
    enum message_state state;
    size_t taken; /* bytes, when it ended */
    unsigned status;
    uint64_t length;
    bool sealed;
};

/* Feed pieces of `step` bytes until it is whole or bad. */
static struct ending feeds(const uint8_t *data, size_t len, size_t step)
{
    struct response r = {.limit = LIMIT};
    struct ending e = {.state = MESSAGE_MORE};

    response_again(&r);
    while (e.state == MESSAGE_MORE && e.taken < len) {
        size_t room, n = len - e.taken < step ? len - e.taken : step;
        uint8_t *to = response_room(&r, &room);

        fuzz_expect(to != NULL && room != 0, "there is room for a byte");
        n = n < room ? n : room;
        memcpy(to, data + e.taken, n);
        e.taken += n;
        e.state = response_add(&r, n);
        fuzz_expect(r.len <= MESSAGE_HEAD_BYTES + LIMIT + 1,
                    "what is kept is bounded");
    }
    e.status = r.head.status;
    e.length = r.head.length;
    e.sealed = response_typed(&r, "message/ohttp-res");
    if (e.state == MESSAGE_WHOLE)
        fuzz_expect(r.len - r.head.size == r.head.length &&
                        r.head.length <= LIMIT && r.head.status >= 200 &&
                        r.head.status <= 599,
                    "a whole answer has its length and a final status");
    response_clear(&r);
    return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct ending one = feeds(data, len, 1);
    struct ending all;

    if (one.state != MESSAGE_WHOLE) {
        all = feeds(data, len, len);
        fuzz_expect(all.state == one.state,
                    "what is no answer is none in whatever pieces");
        return 0;
    }
    all = feeds(data, one.taken, one.taken);
    fuzz_expect(all.state == MESSAGE_WHOLE && all.status == one.status &&
                    all.length == one.length && all.sealed == one.sealed,
                "an answer is the same in whatever pieces");
    if (len > one.taken)
        fuzz_expect(feeds(data, len, len).state == MESSAGE_BAD,
                    "what comes after it was not asked for");
    return 0;
}
