/*
 * parcel_wire.h - what two hops say to each other while a batch is handed over.
 * docs/formats.md has the bytes.
 *
 * Requests: the heads of a batch (which its shufflers have signed), a piece of
 * its envelopes, its end. The last two are signed by the hop that sends, so
 * that nobody else can spoil a batch that is half there. Every answer has one
 * form: how much has come, or the receipt.
 */
#ifndef SERVER_SHUFFLE_PARCEL_WIRE_H
#define SERVER_SHUFFLE_PARCEL_WIRE_H

#include "server/shuffle/inbox.h"

#define PARCEL_TYPE "application/vnd.hearsay.parcel"
#define PARCEL_ANSWER 96u
#define PARCEL_HEAD 8u    /* of every request */
#define PARCEL_BEFORE 32u /* bytes before those of a piece */
#define PARCEL_AFTER HSY_SIGNATURE
#define PARCEL_MAX (PARCEL_BEFORE + INBOX_PIECE + PARCEL_AFTER)

/* ---- For who sends ------------------------------------------------------- */

/* Each fills wire, which has room, and returns how long it is; 0: it cannot be
 * signed. A piece's bytes stand at wire + PARCEL_BEFORE already. */
size_t parcel_begin(uint8_t *wire, const uint8_t *heads, size_t len);
size_t parcel_piece(uint8_t *wire, const uint8_t id[STORE_BATCH_ID],
                    uint64_t at, size_t len,
                    const uint8_t secret[HSY_SIGN_SECRET]);
size_t parcel_end(uint8_t *wire, const uint8_t id[STORE_BATCH_ID],
                  const uint8_t secret[HSY_SIGN_SECRET]);

/* Read an answer; false: it is none. */
bool parcel_answer_read(struct inbox_answer *out, const uint8_t *wire,
                        size_t len);

/* ---- For who takes ------------------------------------------------------- */

/* Do what a request says. HSY_E_FORMAT, HSY_E_VERSION; HSY_E_SIGNATURE: not by
 * the hop whose batch it is; others as inbox.h says. */
hsy_status parcel_take(struct inbox *in, const uint8_t *wire, size_t len,
                       struct inbox_answer *out, hsy_error *err);

void parcel_answer_write(uint8_t wire[PARCEL_ANSWER],
                         const struct inbox_answer *answer);

#endif
