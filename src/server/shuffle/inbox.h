/*
 * inbox.h - batches on their way in, at a later shuffler or at the collector.
 *
 * A batch comes in pieces, so that no request is large: first its heads, then
 * its envelopes from where the last piece ended, then its end. Pieces rest in a
 * file of `incoming` beside the store until the batch is whole; it is looked
 * through, handed on as one delivery, and gone. A file is no promise: only the
 * receipt is, and that is given for what is durable in the store. After a kill
 * the sender goes on where the file ends, or begins again. There are
 * INBOX_FILES of them at most, which have INBOX_BYTES once they are whole; a
 * sender's only one may have more. Then the oldest one of the sender with the
 * most files or bytes goes, whichever is short, and that sender begins again:
 * nobody can push out the batch of a sender that has less.
 *
 * One thread at a time.
 */
#ifndef SERVER_SHUFFLE_INBOX_H
#define SERVER_SHUFFLE_INBOX_H

#include "server/engine/engine.h"
#include "server/shuffle/batch_wire.h"

#define INBOX_PIECE (1u << 20) /* bytes of envelopes in a piece at most */
#define INBOX_FILES 64u        /* batches that are not whole, at most */
#define INBOX_BYTES (UINT64_C(8) << 30)

/* What a receiver knows of a task. */
struct inbox_task {
    struct batch_chain chain; /* `task` and `scheme` last for the call */
    uint32_t entry;
    size_t item; /* bytes of what becomes of an envelope that opens; 0: they
                    are kept as they are */
    uint8_t key[HSY_SIGN_KEY]; /* this shuffler's own, that names its batch */
};

struct inbox_options {
    size_t size;                     /* sizeof(struct inbox_options) */
    const char *directory;           /* of the store */
    uint64_t bytes;                  /* of batches; 0: INBOX_BYTES */
    uint8_t secret[HSY_SIGN_SECRET]; /* signs receipts */

    /* The task of a head; false: there is none. */
    bool (*find)(void *ctx, const struct batch_head *head,
                 struct inbox_task *out);
    /* Open an envelope, where task->item is not 0. HSY_E_REFUSED,
     * HSY_E_UNKNOWN: it does not open or is no report, and is counted. */
    hsy_status (*open)(void *ctx, const struct inbox_task *task, uint8_t *item,
                       bool *null, const uint8_t *envelope);
    /* Whether a batch is here: HSY_OK and *here; HSY_E_MISMATCH: another of its
     * id is. */
    hsy_status (*here)(void *ctx, const struct batch_head *head, bool *here,
                       hsy_error *err);
    /* Make it durable: engine_receive by the thread that admits. */
    hsy_status (*take)(void *ctx, struct engine_delivery *delivery,
                       hsy_error *err);
    void *ctx;
};

struct inbox;

/* Files of an earlier process stay: senders go on with them. */
hsy_status inbox_open(struct inbox **out, const struct inbox_options *options,
                      hsy_error *err);
void inbox_close(struct inbox *in); /* NULL is allowed */

/*
 * The heads of a batch. *done: it is here, and there is the receipt; else *at
 * says how many bytes of its envelopes have come. HSY_E_UNKNOWN: no such task;
 * HSY_E_MISMATCH: another batch of its id is here, or it is of another place or
 * task; others as batch_heads_check; HSY_E_FULL, HSY_E_IO.
 */
struct inbox_answer {
    uint8_t id[STORE_BATCH_ID];
    bool done;
    uint64_t at;
    uint8_t receipt[STORE_RECEIPT];
};
hsy_status inbox_begin(struct inbox *in, const uint8_t *heads, size_t len,
                       struct inbox_answer *out, hsy_error *err);

/* The key that the sender of a batch signs with, which was begun. HSY_E_EMPTY:
 * it was not. */
hsy_status inbox_sender(struct inbox *in, const uint8_t id[STORE_BATCH_ID],
                        uint8_t key[HSY_SIGN_KEY], hsy_error *err);

/* Envelopes from a place on. HSY_E_EMPTY: it was not begun; HSY_E_RANGE: they
 * are not the next, or more than there are, with what has come in
 * err->limit. */
hsy_status inbox_piece(struct inbox *in, const uint8_t id[STORE_BATCH_ID],
                       uint64_t at, const uint8_t *bytes, size_t len,
                       hsy_error *err);

/*
 * All has come: look through it and take it. HSY_OK: the receipt. HSY_E_EMPTY:
 * it was not begun; HSY_E_RANGE: it is not whole, with what has come in
 * err->limit; HSY_E_REFUSED: its digest is another, two envelopes are equal, or
 * the store does not take it: nothing is changed, and what has come is
 * forgotten, so that it can be sent anew. HSY_E_FULL, HSY_E_BUSY: later.
 */
hsy_status inbox_end(struct inbox *in, const uint8_t id[STORE_BATCH_ID],
                     struct inbox_answer *out, hsy_error *err);

#endif
