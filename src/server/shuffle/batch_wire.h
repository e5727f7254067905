/*
 * batch_wire.h - a batch on its way from one hop to the next, and the receipt
 * for it. docs/formats.md has the bytes.
 *
 * A batch is a head, the heads of the hops before, and envelopes of one length.
 * The head is signed by the shuffler that mixed it and holds the digest of all
 * that follows, so a batch is what that shuffler made or nothing.
 */
#ifndef SERVER_SHUFFLE_BATCH_WIRE_H
#define SERVER_SHUFFLE_BATCH_WIRE_H

#include "hearsay/host.h"
#include "server/store/store.h"

#define BATCH_HEAD 256u
#define BATCH_SIGNED 192u     /* bytes of it that are signed */
#define BATCH_HOPS 8u         /* shufflers in a chain at most */
#define BATCH_LAYER 52u       /* an envelope has so much less after each */
#define BATCH_MOST (1u << 20) /* envelopes */
#define BATCH_PARTS 4096u     /* of an epoch: 2^32 envelopes */

struct batch_head {
    uint32_t place, of; /* this shuffler's, from 1 on, and how many there are */
    uint8_t id[STORE_BATCH_ID];
    char task[HSY_TASK_ID + 1];
    uint32_t release;
    uint8_t scheme[HSY_DIGEST];
    uint32_t epoch, part;
    uint64_t n;        /* envelopes in it, */
    uint64_t in;       /* that were taken in, */
    uint64_t unopened; /* and of which nothing came */
    uint64_t waited;   /* of earlier batches: n + unopened = in + waited */
    uint32_t length;   /* of an envelope */
    uint8_t digest[STORE_DIGEST]; /* BLAKE2b-256 of what follows the head */
};

/* The name of a batch: the same for the same decision of the same shuffler. */
void batch_id(uint8_t id[STORE_BATCH_ID], const uint8_t sign_key[HSY_SIGN_KEY],
              const char *task, uint32_t release, uint32_t epoch,
              uint32_t part);

/* Write a head and sign it. HSY_E_RANGE: it is none. */
hsy_status batch_head_write(uint8_t wire[BATCH_HEAD],
                            const struct batch_head *h,
                            const uint8_t secret[HSY_SIGN_SECRET],
                            hsy_error *err);

/* Read one; there is one encoding of each. HSY_E_FORMAT, HSY_E_VERSION. Who
 * signed it is not looked at. */
hsy_status batch_head_read(struct batch_head *h, const uint8_t wire[BATCH_HEAD],
                           hsy_error *err);

/* What a receiver knows of the chain before it. */
struct batch_chain {
    const char *task;
    uint32_t release;
    const uint8_t *scheme; /* HSY_DIGEST */
    uint32_t hops;         /* before the receiver */
    uint32_t of;           /* in all */
    uint64_t least;        /* envelopes that a batch must have */
    uint64_t waits;        /* fewer than these wait for others at a hop */
    uint32_t length;       /* of an envelope as it comes to the receiver */
    uint8_t keys[BATCH_HOPS][HSY_SIGN_KEY]; /* that the hops sign with */
};

/*
 * Hold the heads of a batch, its own first and then those of the hops before
 * from the first on, against the chain: each is signed by its hop, all are of
 * one task, release, scheme, epoch and part, a hop took in as many as the one
 * before gave, and added fewer than chain->waits that had waited. *h is the
 * batch's own. HSY_E_FORMAT, HSY_E_VERSION; HSY_E_MISMATCH: of another place or
 * task; HSY_E_REFUSED: a signature or a count does not hold, with the hop in
 * err->at.
 */
hsy_status batch_heads_check(struct batch_head *h, const uint8_t *heads,
                             size_t len, const struct batch_chain *chain,
                             hsy_error *err);

/* ---- Receipts ------------------------------------------------------------ */

/* Signed by the receiver once the batch is durable; the same each time. */
hsy_status batch_receipt(uint8_t receipt[STORE_RECEIPT],
                         const uint8_t id[STORE_BATCH_ID],
                         const uint8_t digest[STORE_DIGEST], uint64_t n,
                         const uint8_t secret[HSY_SIGN_SECRET]);
bool batch_receipt_holds(const uint8_t receipt[STORE_RECEIPT],
                         const uint8_t id[STORE_BATCH_ID],
                         const uint8_t digest[STORE_DIGEST], uint64_t n,
                         const uint8_t key[HSY_SIGN_KEY]);

#endif
