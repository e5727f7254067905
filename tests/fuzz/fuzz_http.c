/* fuzz_http.c - a head is read as the grammar reads it, in every split. */
#define _GNU_SOURCE

#include "fuzz.h"
#include "rig/http_grammar.h"

/* The first byte says what it is a head of, and where it is split. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const enum message_kind kind =
        len != 0 && (data[0] & 1) != 0 ? MESSAGE_RESPONSE : MESSAGE_REQUEST;
    struct grammar_reading slow;
    struct message m;
    const char *what;

    if (len == 0)
        return 0;
    grammar_read(&slow, kind, data + 1, len - 1);
    message_begin(&m, kind);
    what = grammar_differs(
        &slow, message_read(&m, (const char *)data + 1, len - 1), &m);
    fuzz_expect(what == NULL, what);
    for (uint64_t pieces = 0; pieces <= 256; pieces += 256) {
        const enum message_state state = grammar_feed(
            &m, kind, data + 1, len - 1, pieces == 0 ? 0 : pieces + data[0]);

        what = grammar_differs(&slow, state, &m);
        fuzz_expect(what == NULL, what);
    }
    return 0;
}
