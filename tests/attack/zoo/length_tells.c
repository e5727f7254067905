/* length_tells.c - a gateway that seals an answer as long as it is: the relay,
 * which carries it and knows the address, tells by its length whether the
 * upload was counted or refused, and why. Nothing in a seal hides a length. */
#include "zoo_sealed.h"

#include <stdio.h>
#include <stdlib.h>

/* The message of an answer, without the zeros after it. */
static size_t length_message(uint8_t out[HSY_RESPONSE_BYTES], unsigned status,
                             const char *retry_after, const char *reason)
{
    struct bhttp_response r = {.status = status};
    char content[96];
    size_t len = 0;

    if (reason != NULL) {
        r.content = (const uint8_t *)content;
        r.content_len = (size_t)snprintf(content, sizeof content,
                                         "{\"status\":%u,\"reason\":\"%.48s\"}",
                                         status, reason);
        r.fields[r.n_fields++] = (struct bhttp_field){
            bhttp_text("content-type"), bhttp_text("application/problem+json")};
    }
    if (retry_after != NULL)
        r.fields[r.n_fields++] = (struct bhttp_field){bhttp_text("retry-after"),
                                                      bhttp_text(retry_after)};
    return bhttp_response_encode(out, HSY_RESPONSE_BYTES, &len, &r, 0) == HSY_OK
               ? len
               : 0;
}

void zoo_length_tells_answer(struct gateway *g, struct request *q,
                             struct ohttp_gateway *keep, unsigned status,
                             const char *retry_after, const char *reason)
{
    const size_t room = HSY_RESPONSE_BYTES + OHTTP_RESPONSE_EXTRA;
    uint8_t message[HSY_RESPONSE_BYTES], *sealed = malloc(room);
    const size_t len = length_message(message, status, retry_after, reason);
    size_t sealed_len = 0;

    (void)g;
    if (sealed == NULL || ohttp_response_seal(keep, sealed, room, &sealed_len,
                                              NULL, message, len) != HSY_OK) {
        free(sealed);
        request_answer(q, 0, NULL, NULL, 0, NULL);
        return;
    }
    request_answer(q, 200, "message/ohttp-res", sealed, sealed_len, free);
}
