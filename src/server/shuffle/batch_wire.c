/* batch_wire.c - heads of batches and receipts: bytes, signatures, counts. */
#include "server/shuffle/batch_wire.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <string.h>

#define BATCH_VERSION 1u

enum {
    BATCH_AT_PLACE = 8,
    BATCH_AT_OF = 12,
    BATCH_AT_ID = 16,
    BATCH_AT_TASK = 32,
    BATCH_AT_RELEASE = 64,
    BATCH_AT_SCHEME = 68,
    BATCH_AT_EPOCH = 100,
    BATCH_AT_PART = 104,
    BATCH_AT_N = 108,
    BATCH_AT_IN = 116,
    BATCH_AT_UNOPENED = 124,
    BATCH_AT_LENGTH = 132,
    BATCH_AT_DIGEST = 136,
    BATCH_AT_WAITED = 168,
    BATCH_AT_ZEROS = 176
};

static const uint8_t batch_magic[4] = {'H', 'S', 'Y', 'B'};

/* ---- Names --------------------------------------------------------------- */

static bool batch_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

/* A name and zeros behind it. */
static bool batch_task_good(const uint8_t task[HSY_TASK_ID])
{
    size_t len = 0;

    while (len < HSY_TASK_ID && batch_letter(task[len]))
        len++;
    if (len == 0)
        return false;
    while (len < HSY_TASK_ID && task[len] == 0)
        len++;
    return len == HSY_TASK_ID;
}

static void batch_task_pad(uint8_t out[HSY_TASK_ID], const char *task)
{
    memset(out, 0, HSY_TASK_ID);
    for (size_t i = 0; i < HSY_TASK_ID && task[i] != '\0'; i++)
        out[i] = (uint8_t)task[i];
}

void batch_id(uint8_t id[STORE_BATCH_ID], const uint8_t sign_key[HSY_SIGN_KEY],
              const char *task, uint32_t release, uint32_t epoch, uint32_t part)
{
    static const char purpose[] = "hearsay batch id 1";
    uint8_t text[sizeof purpose - 1 + HSY_SIGN_KEY + HSY_TASK_ID + 12];
    uint8_t *at = text;

    memcpy(at, purpose, sizeof purpose - 1);
    at += sizeof purpose - 1;
    memcpy(at, sign_key, HSY_SIGN_KEY);
    at += HSY_SIGN_KEY;
    batch_task_pad(at, task);
    at += HSY_TASK_ID;
    bytes_put32(at, release);
    bytes_put32(at + 4, epoch);
    bytes_put32(at + 8, part);
    hsy_blake2b(id, STORE_BATCH_ID, text, sizeof text, NULL, 0);
}

/* ---- Heads --------------------------------------------------------------- */

/* Numbers of a head, wherever it comes from. */
static hsy_status batch_head_good(const struct batch_head *h, hsy_status st,
                                  hsy_error *err)
{
    if (h->of == 0 || h->of > BATCH_HOPS || h->place == 0 || h->place > h->of)
        return host_fail(err, st, HOST_FIELD_PLACE,
                         "a place in a chain of 1 to 8 shufflers");
    if (h->n == 0 || h->n > BATCH_MOST)
        return host_fail(err, st, HSY_FIELD_COUNT,
                         "a batch has 1 to 2^20 envelopes");
    if (h->part >= BATCH_PARTS)
        return host_fail(err, st, HSY_FIELD_COUNT,
                         "an epoch has at most 4096 parts");
    if (h->in > UINT32_MAX || h->unopened > h->in || h->waited > h->n ||
        h->in - h->unopened != h->n - h->waited)
        return host_fail(err, st, HSY_FIELD_COUNT,
                         "what was taken in is what came out and what did not");
    if (h->length == 0 || h->length > HSY_UPLOAD_MAX)
        return host_fail(err, st, HSY_FIELD_LENGTH,
                         "envelopes of 1 to 2^20 bytes");
    return HSY_OK;
}

hsy_status batch_head_write(uint8_t wire[BATCH_HEAD],
                            const struct batch_head *h,
                            const uint8_t secret[HSY_SIGN_SECRET],
                            hsy_error *err)
{
    hsy_status st = batch_head_good(h, HSY_E_RANGE, err);

    if (st != HSY_OK)
        return st;
    memset(wire, 0, BATCH_HEAD);
    batch_task_pad(wire + BATCH_AT_TASK, h->task);
    if (!batch_task_good(wire + BATCH_AT_TASK))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_TASK, "no task's name");
    memcpy(wire, batch_magic, sizeof batch_magic);
    bytes_put32(wire + 4, BATCH_VERSION);
    bytes_put32(wire + BATCH_AT_PLACE, h->place);
    bytes_put32(wire + BATCH_AT_OF, h->of);
    memcpy(wire + BATCH_AT_ID, h->id, STORE_BATCH_ID);
    bytes_put32(wire + BATCH_AT_RELEASE, h->release);
    memcpy(wire + BATCH_AT_SCHEME, h->scheme, HSY_DIGEST);
    bytes_put32(wire + BATCH_AT_EPOCH, h->epoch);
    bytes_put32(wire + BATCH_AT_PART, h->part);
    bytes_put64(wire + BATCH_AT_N, h->n);
    bytes_put64(wire + BATCH_AT_IN, h->in);
    bytes_put64(wire + BATCH_AT_UNOPENED, h->unopened);
    bytes_put32(wire + BATCH_AT_LENGTH, h->length);
    memcpy(wire + BATCH_AT_DIGEST, h->digest, STORE_DIGEST);
    bytes_put64(wire + BATCH_AT_WAITED, h->waited);
    return hsy_sign(wire + BATCH_SIGNED, wire, BATCH_SIGNED, secret);
}

/* What every head begins with and is padded with. */
static hsy_status batch_frame(const uint8_t wire[BATCH_HEAD], hsy_error *err)
{
    if (memcmp(wire, batch_magic, sizeof batch_magic) != 0)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_HEADER,
                         "not a batch of hearsay");
    if (bytes_get32(wire + 4) != BATCH_VERSION)
        return host_fail(err, HSY_E_VERSION, HSY_FIELD_HEADER,
                         "a batch of a version that is not known");
    for (size_t i = BATCH_AT_ZEROS; i < BATCH_SIGNED; i++)
        if (wire[i] != 0)
            return host_fail(err, HSY_E_FORMAT, HSY_FIELD_HEADER,
                             "reserved bytes are not zero");
    if (!batch_task_good(wire + BATCH_AT_TASK))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_TASK, "no task's name");
    return HSY_OK;
}

hsy_status batch_head_read(struct batch_head *h, const uint8_t wire[BATCH_HEAD],
                           hsy_error *err)
{
    struct batch_head is = {.place = bytes_get32(wire + BATCH_AT_PLACE),
                            .of = bytes_get32(wire + BATCH_AT_OF),
                            .release = bytes_get32(wire + BATCH_AT_RELEASE),
                            .epoch = bytes_get32(wire + BATCH_AT_EPOCH),
                            .part = bytes_get32(wire + BATCH_AT_PART),
                            .n = bytes_get64(wire + BATCH_AT_N),
                            .in = bytes_get64(wire + BATCH_AT_IN),
                            .unopened = bytes_get64(wire + BATCH_AT_UNOPENED),
                            .waited = bytes_get64(wire + BATCH_AT_WAITED),
                            .length = bytes_get32(wire + BATCH_AT_LENGTH)};
    hsy_status st = batch_frame(wire, err);

    if (st == HSY_OK)
        st = batch_head_good(&is, HSY_E_FORMAT, err);
    if (st != HSY_OK)
        return st;
    memcpy(is.id, wire + BATCH_AT_ID, STORE_BATCH_ID);
    memcpy(is.task, wire + BATCH_AT_TASK, HSY_TASK_ID);
    memcpy(is.scheme, wire + BATCH_AT_SCHEME, HSY_DIGEST);
    memcpy(is.digest, wire + BATCH_AT_DIGEST, STORE_DIGEST);
    *h = is;
    return HSY_OK;
}

/* ---- A chain ------------------------------------------------------------- */

static hsy_status batch_hop_bad(hsy_error *err, uint32_t hop, uint32_t field,
                                const char *msg)
{
    return host_fail_at(err, HSY_E_REFUSED, field, msg, HSY_UNIT_NONE, hop);
}

/* A head as its own hop's, whatever the others say. */
static hsy_status batch_hop_check(struct batch_head *h, const uint8_t *wire,
                                  uint32_t hop, const struct batch_chain *c,
                                  hsy_error *err)
{
    const uint8_t *key = c->keys[hop - 1];
    uint8_t id[STORE_BATCH_ID];
    hsy_status st = batch_head_read(h, wire, err);

    if (st != HSY_OK)
        return st;
    if (!hsy_sign_verify(key, wire + BATCH_SIGNED, wire, BATCH_SIGNED))
        return batch_hop_bad(err, hop, HSY_FIELD_SIGNATURE,
                             "not signed by the shuffler of its place");
    if (h->place != hop || h->of != c->of)
        return host_fail(err, HSY_E_MISMATCH, HOST_FIELD_PLACE,
                         "of another place in the chain");
    if (strcmp(h->task, c->task) != 0 || h->release != c->release ||
        memcmp(h->scheme, c->scheme, HSY_DIGEST) != 0)
        return host_fail(err, HSY_E_MISMATCH, HSY_FIELD_TASK,
                         "of another task, release or scheme");
    batch_id(id, key, h->task, h->release, h->epoch, h->part);
    if (memcmp(id, h->id, sizeof id) != 0)
        return batch_hop_bad(err, hop, HSY_FIELD_ID, "the id is not its own");
    if (h->n < c->least)
        return batch_hop_bad(err, hop, HSY_FIELD_COUNT,
                             "fewer envelopes than a batch must have");
    if (h->waited != 0 && (hop == 1 || h->waited >= c->waits))
        return batch_hop_bad(err, hop, HSY_FIELD_COUNT,
                             "more envelopes that waited than can have");
    return HSY_OK;
}

/* A hop's head after that of the hop before it. */
static hsy_status batch_follows(const struct batch_head *before,
                                const struct batch_head *h, hsy_error *err)
{
    if (before->epoch != h->epoch || before->part != h->part)
        return host_fail(err, HSY_E_MISMATCH, HSY_FIELD_EPOCH,
                         "the hop before gave another epoch or part");
    if (before->n != h->in)
        return batch_hop_bad(
            err, h->place, HSY_FIELD_COUNT,
            "it took in another number than the hop before it gave");
    if (before->length != h->length + BATCH_LAYER)
        return batch_hop_bad(err, h->place, HSY_FIELD_LENGTH,
                             "its envelopes are not one layer shorter");
    return HSY_OK;
}

hsy_status batch_heads_check(struct batch_head *h, const uint8_t *heads,
                             size_t len, const struct batch_chain *chain,
                             hsy_error *err)
{
    struct batch_head before = {.n = 0}, is = {.n = 0};
    hsy_status st = HSY_OK;

    if (chain->hops == 0 || len != (size_t)chain->hops * BATCH_HEAD)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                         "a head of each hop before, and no more");
    for (uint32_t hop = 1; st == HSY_OK && hop <= chain->hops; hop++) {
        const uint8_t *wire =
            hop == chain->hops ? heads : heads + (size_t)hop * BATCH_HEAD;

        st = batch_hop_check(&is, wire, hop, chain, err);
        if (st == HSY_OK && hop != 1)
            st = batch_follows(&before, &is, err);
        before = is;
    }
    if (st == HSY_OK && is.length != chain->length)
        return host_fail(err, HSY_E_MISMATCH, HSY_FIELD_LENGTH,
                         "envelopes of another length than the task has");
    if (st == HSY_OK)
        *h = is;
    return st;
}

/* ---- Receipts ------------------------------------------------------------ */

#define BATCH_RECEIPT_TEXT "hearsay receipt 1"
#define BATCH_RECEIPT                                                          \
    (sizeof BATCH_RECEIPT_TEXT - 1 + STORE_BATCH_ID + STORE_DIGEST + 8)

static void batch_receipt_text(uint8_t text[BATCH_RECEIPT],
                               const uint8_t id[STORE_BATCH_ID],
                               const uint8_t digest[STORE_DIGEST], uint64_t n)
{
    memcpy(text, BATCH_RECEIPT_TEXT, sizeof BATCH_RECEIPT_TEXT - 1);
    text += sizeof BATCH_RECEIPT_TEXT - 1;
    memcpy(text, id, STORE_BATCH_ID);
    memcpy(text + STORE_BATCH_ID, digest, STORE_DIGEST);
    bytes_put64(text + STORE_BATCH_ID + STORE_DIGEST, n);
}

hsy_status batch_receipt(uint8_t receipt[STORE_RECEIPT],
                         const uint8_t id[STORE_BATCH_ID],
                         const uint8_t digest[STORE_DIGEST], uint64_t n,
                         const uint8_t secret[HSY_SIGN_SECRET])
{
    uint8_t text[BATCH_RECEIPT];

    batch_receipt_text(text, id, digest, n);
    return hsy_sign(receipt, text, sizeof text, secret);
}

bool batch_receipt_holds(const uint8_t receipt[STORE_RECEIPT],
                         const uint8_t id[STORE_BATCH_ID],
                         const uint8_t digest[STORE_DIGEST], uint64_t n,
                         const uint8_t key[HSY_SIGN_KEY])
{
    uint8_t text[BATCH_RECEIPT];

    batch_receipt_text(text, id, digest, n);
    return hsy_sign_verify(key, receipt, text, sizeof text);
}
