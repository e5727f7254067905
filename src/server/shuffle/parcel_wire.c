/* parcel_wire.c - requests and answers of a delivery. */
#include "server/shuffle/parcel_wire.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <string.h>

#define PARCEL_VERSION 1u
#define PARCEL_ID PARCEL_HEAD /* where the id stands */
#define PARCEL_AT (PARCEL_ID + STORE_BATCH_ID)
#define PARCEL_END (PARCEL_AT + PARCEL_AFTER) /* length of an end */

enum parcel_kind { PARCEL_BEGINS = 1, PARCEL_GOES_ON, PARCEL_ENDS };
enum parcel_state { PARCEL_WANTS_MORE = 1, PARCEL_RECEIVED };

static const uint8_t parcel_request[4] = {'H', 'S', 'Y', 'D'};
static const uint8_t parcel_answer[4] = {'H', 'S', 'Y', 'A'};

static void parcel_head(uint8_t *wire, const uint8_t magic[4], unsigned word)
{
    memcpy(wire, magic, 4);
    bytes_put32(wire + 4, PARCEL_VERSION | (uint32_t)word << 16);
}

/* ---- Sending ------------------------------------------------------------- */

size_t parcel_begin(uint8_t *wire, const uint8_t *heads, size_t len)
{
    parcel_head(wire, parcel_request, PARCEL_BEGINS);
    memcpy(wire + PARCEL_HEAD, heads, len);
    return PARCEL_HEAD + len;
}

static size_t parcel_signed(uint8_t *wire, size_t len,
                            const uint8_t secret[HSY_SIGN_SECRET])
{
    return hsy_sign(wire + len, wire, len, secret) == HSY_OK
               ? len + PARCEL_AFTER
               : 0;
}

size_t parcel_piece(uint8_t *wire, const uint8_t id[STORE_BATCH_ID],
                    uint64_t at, size_t len,
                    const uint8_t secret[HSY_SIGN_SECRET])
{
    parcel_head(wire, parcel_request, PARCEL_GOES_ON);
    memcpy(wire + PARCEL_ID, id, STORE_BATCH_ID);
    bytes_put64(wire + PARCEL_AT, at);
    return parcel_signed(wire, PARCEL_BEFORE + len, secret);
}

size_t parcel_end(uint8_t *wire, const uint8_t id[STORE_BATCH_ID],
                  const uint8_t secret[HSY_SIGN_SECRET])
{
    parcel_head(wire, parcel_request, PARCEL_ENDS);
    memcpy(wire + PARCEL_ID, id, STORE_BATCH_ID);
    return parcel_signed(wire, PARCEL_AT, secret);
}

/* ---- Taking -------------------------------------------------------------- */

/* Whether the last bytes are a signature of the others, by the hop that begins
 * this batch. */
static hsy_status parcel_check(struct inbox *in, const uint8_t *wire,
                               size_t len, hsy_error *err)
{
    uint8_t key[HSY_SIGN_KEY];
    const hsy_status st = inbox_sender(in, wire + PARCEL_ID, key, err);

    if (st != HSY_OK)
        return st;
    return hsy_sign_verify(key, wire + len - PARCEL_AFTER, wire,
                           len - PARCEL_AFTER)
               ? HSY_OK
               : host_fail(err, HSY_E_SIGNATURE, HSY_FIELD_SIGNATURE,
                           "not signed by the hop whose batch it is");
}

static hsy_status parcel_goes_on(struct inbox *in, const uint8_t *wire,
                                 size_t len, struct inbox_answer *out,
                                 hsy_error *err)
{
    const uint64_t at = bytes_get64(wire + PARCEL_AT);
    const size_t bytes = len - PARCEL_BEFORE - PARCEL_AFTER;
    const hsy_status st =
        inbox_piece(in, wire + PARCEL_ID, at, wire + PARCEL_BEFORE, bytes, err);

    *out = (struct inbox_answer){.at = at + bytes};
    memcpy(out->id, wire + PARCEL_ID, sizeof out->id);
    return st;
}

hsy_status parcel_take(struct inbox *in, const uint8_t *wire, size_t len,
                       struct inbox_answer *out, hsy_error *err)
{
    hsy_status st;
    unsigned kind;

    if (len < PARCEL_HEAD || memcmp(wire, parcel_request, 4) != 0)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "this is no part of a delivery");
    kind = bytes_get32(wire + 4) >> 16;
    if ((bytes_get32(wire + 4) & 0xffff) != PARCEL_VERSION)
        return host_fail(err, HSY_E_VERSION, HSY_FIELD_VERSION,
                         "of a newer program");
    if (kind == PARCEL_BEGINS)
        return inbox_begin(in, wire + PARCEL_HEAD, len - PARCEL_HEAD, out, err);
    if (kind == PARCEL_GOES_ON ? len <= PARCEL_BEFORE + PARCEL_AFTER
                               : kind != PARCEL_ENDS || len != PARCEL_END)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                         "this is no part of a delivery");
    st = parcel_check(in, wire, len, err);
    if (st != HSY_OK)
        return st;
    return kind == PARCEL_ENDS ? inbox_end(in, wire + PARCEL_ID, out, err)
                               : parcel_goes_on(in, wire, len, out, err);
}

/* ---- Answers ------------------------------------------------------------- */

void parcel_answer_write(uint8_t wire[PARCEL_ANSWER],
                         const struct inbox_answer *answer)
{
    memset(wire, 0, PARCEL_ANSWER);
    parcel_head(wire, parcel_answer,
                answer->done ? PARCEL_RECEIVED : PARCEL_WANTS_MORE);
    memcpy(wire + 8, answer->id, STORE_BATCH_ID);
    bytes_put64(wire + 24, answer->done ? 0 : answer->at);
    if (answer->done)
        memcpy(wire + 32, answer->receipt, STORE_RECEIPT);
}

bool parcel_answer_read(struct inbox_answer *out, const uint8_t *wire,
                        size_t len)
{
    uint8_t again[PARCEL_ANSWER];

    if (len != PARCEL_ANSWER)
        return false;
    *out = (struct inbox_answer){.done = bytes_get32(wire + 4) >> 16 ==
                                         PARCEL_RECEIVED,
                                 .at = bytes_get64(wire + 24)};
    memcpy(out->id, wire + 8, sizeof out->id);
    memcpy(out->receipt, wire + 32, sizeof out->receipt);
    parcel_answer_write(again, out);
    return memcmp(again, wire, sizeof again) == 0; /* there is one encoding */
}
