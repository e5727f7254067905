/* Tests of src/server/shuffle/batch_wire.c: one encoding, signed; the heads of
 * a chain agree, or the batch is refused; receipts are the receiver's. */
#include "server/shuffle/batch_wire.h"
#include "tap.h"

#include <string.h>

#define WIRE_REPORT 9u /* bytes behind the last layer */

/* Keys of a chain. */
static uint8_t wire_keys[BATCH_HOPS][HSY_SIGN_KEY];
static uint8_t wire_secrets[BATCH_HOPS][HSY_SIGN_SECRET];
static uint8_t wire_scheme[HSY_DIGEST];

static void wire_make_keys(void)
{
    for (size_t i = 0; i < BATCH_HOPS; i++)
        if (hsy_sign_keypair(wire_keys[i], wire_secrets[i]) != HSY_OK)
            ok(false, "keys are made");
    memset(wire_scheme, 0x5c, sizeof wire_scheme);
}

/* The head of a hop of a chain through which all 40 envelopes came. */
static struct batch_head wire_head(uint32_t place, uint32_t of)
{
    struct batch_head h = {.place = place,
                           .of = of,
                           .task = "colours",
                           .release = 3,
                           .epoch = 20600,
                           .part = 0,
                           .n = 40,
                           .in = 40,
                           .length =
                               (of - place + 1) * BATCH_LAYER + WIRE_REPORT};

    memcpy(h.scheme, wire_scheme, sizeof h.scheme);
    memset(h.digest, 0xd0 + (int)place, sizeof h.digest);
    batch_id(h.id, wire_keys[place - 1], h.task, h.release, h.epoch, h.part);
    return h;
}

static struct batch_chain wire_chain(uint32_t hops, uint32_t of)
{
    struct batch_chain c = {.task = "colours",
                            .release = 3,
                            .scheme = wire_scheme,
                            .hops = hops,
                            .of = of,
                            .least = 30,
                            .waits = 30,
                            .length =
                                (of - hops + 1) * BATCH_LAYER + WIRE_REPORT};

    memcpy(c.keys, wire_keys, sizeof c.keys);
    return c;
}

static hsy_status wire_sign(uint8_t *wire, const struct batch_head *h)
{
    return batch_head_write(wire, h, wire_secrets[h->place - 1], NULL);
}

/* ---- One head ------------------------------------------------------------ */

static void a_head_comes_back(void)
{
    const struct batch_head h = wire_head(2, 3);
    struct batch_head got;
    uint8_t wire[BATCH_HEAD], again[BATCH_HEAD];

    is_status(wire_sign(wire, &h), HSY_OK, "a head is written");
    is_status(batch_head_read(&got, wire, NULL), HSY_OK, "and read");
    ok(got.place == 2 && got.of == 3 && strcmp(got.task, "colours") == 0 &&
           got.release == 3 && got.epoch == 20600 && got.n == 40 &&
           got.in == 40 && got.unopened == 0 && got.length == h.length &&
           memcmp(got.id, h.id, sizeof h.id) == 0 &&
           memcmp(got.digest, h.digest, sizeof h.digest) == 0,
       "a head comes back as it was");
    is_status(wire_sign(again, &got), HSY_OK, "and written again");
    is_bytes(again, wire, sizeof wire, "as the same bytes");
}

static void bytes_are_as_the_page_says(void)
{
    static const uint8_t begins[16] = {'H', 'S', 'Y', 'B', 1, 0, 0, 0,
                                       2,   0,   0,   0,   3, 0, 0, 0};
    const struct batch_head h = wire_head(2, 3);
    uint8_t wire[BATCH_HEAD];

    wire_sign(wire, &h);
    is_bytes(wire, begins, sizeof begins, "magic, version and place begin it");
    is_bytes(wire + 32, "colours\0", 8, "then the task");
    ok(wire[64] == 3 && wire[68] == 0x5c && wire[108] == 40 &&
           wire[116] == 40 && wire[124] == 0 && wire[132] == 113 &&
           wire[136] == 0xd2,
       "numbers stand where the page says");
    ok(hsy_sign_verify(wire_keys[1], wire + 192, wire, 192),
       "the signature is of the first 192 bytes");
}

static void numbers_beyond_are_refused(void)
{
    struct batch_head bad[11];
    uint8_t wire[BATCH_HEAD];

    for (size_t i = 0; i < 11; i++)
        bad[i] = wire_head(1, 2);
    bad[0].of = 9;
    bad[1].n = bad[1].in = 0;
    bad[2].n = bad[2].in = BATCH_MOST + UINT64_C(1);
    bad[3].in = 41;
    bad[4].unopened = 1;
    bad[5].unopened = UINT64_MAX; /* 40 - (2^64 - 1) is 41, modulo 2^64 */
    bad[6].length = 0;
    bad[7].length = HSY_UPLOAD_MAX + 1;
    strcpy(bad[8].task, "Colours");
    bad[9].waited = 1;
    bad[10].waited = bad[10].n + 1; /* 40 - 41 is -1, modulo 2^64 */
    bad[10].in = bad[10].unopened - 1;
    for (size_t i = 0; i < 11; i++)
        is_status(batch_head_write(wire, &bad[i], wire_secrets[0], NULL),
                  HSY_E_RANGE, "a number beyond its range is not written");
}

static void every_changed_byte_is_refused(void)
{
    const struct batch_chain chain = wire_chain(1, 1);
    const struct batch_head h = wire_head(1, 1);
    struct batch_head got;
    uint8_t wire[BATCH_HEAD];
    unsigned taken = 0;

    wire_sign(wire, &h);
    is_status(batch_heads_check(&got, wire, sizeof wire, &chain, NULL), HSY_OK,
              "a head alone is a chain of one");
    for (size_t i = 0; i < sizeof wire; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            wire[i] ^= (uint8_t)(1u << bit);
            taken += batch_heads_check(&got, wire, sizeof wire, &chain, NULL) ==
                     HSY_OK;
            wire[i] ^= (uint8_t)(1u << bit);
        }
    is_u64(taken, 0, "no flipped bit passes");
}

/* ---- A chain ------------------------------------------------------------- */

/* The heads of a batch that has come through two of three hops. */
struct wire_two {
    struct batch_head first, second;
    uint8_t heads[2 * BATCH_HEAD];
};

static struct wire_two wire_two(void)
{
    return (struct wire_two){wire_head(1, 3), wire_head(2, 3), {0}};
}

static hsy_status wire_two_check(struct wire_two *t, hsy_error *err)
{
    const struct batch_chain chain = wire_chain(2, 3);
    struct batch_head got;

    wire_sign(t->heads, &t->second);
    wire_sign(t->heads + BATCH_HEAD, &t->first);
    return batch_heads_check(&got, t->heads, sizeof t->heads, &chain, err);
}

static void a_chain_holds_or_is_refused(void)
{
    struct wire_two t = wire_two();
    hsy_error err;

    is_status(wire_two_check(&t, &err), HSY_OK, "two hops that agree pass");

    t.second.n = 39;
    t.second.in = 39;
    is_status(wire_two_check(&t, &err), HSY_E_REFUSED,
              "one that dropped one is refused");
    ok(err.at == 2, "the second dropped one without saying so: hop %u is named",
       (unsigned)err.at);

    t = wire_two();
    t.second.n = 39;
    t.second.unopened = 1;
    is_status(wire_two_check(&t, &err), HSY_OK, "what did not open is said");

    t = wire_two();
    t.second.n = t.second.in = 41;
    is_status(wire_two_check(&t, &err), HSY_E_REFUSED,
              "one that added one is refused");

    t = wire_two();
    t.first.n = t.first.in = t.second.n = t.second.in = 29;
    is_status(wire_two_check(&t, &err), HSY_E_REFUSED,
              "a small batch is refused");

    t = wire_two();
    t.first.epoch++;
    batch_id(t.first.id, wire_keys[0], t.first.task, t.first.release,
             t.first.epoch, 0);
    is_status(wire_two_check(&t, &err), HSY_E_MISMATCH,
              "another epoch is refused");

    t = wire_two();
    t.second.epoch = t.first.epoch = 20601; /* ids of the day before */
    is_status(wire_two_check(&t, &err), HSY_E_REFUSED,
              "an id of another day is refused");

    t = wire_two();
    t.first.length++;
    is_status(wire_two_check(&t, &err), HSY_E_REFUSED,
              "a wrong length is refused");

    t = wire_two();
    t.second.scheme[0] ^= 1;
    is_status(wire_two_check(&t, &err), HSY_E_MISMATCH,
              "another scheme is refused");
}

static void what_waited_is_said_and_bounded(void)
{
    static const struct {
        uint32_t place;
        uint64_t waited;
        hsy_status status;
        const char *what;
    } rows[] = {
        {2, 29, HSY_OK, "a later hop adds envelopes that waited"},
        {2, 30, HSY_E_REFUSED, "refuses as many as make a batch"},
        {1, 1, HSY_E_REFUSED, "refuses envelopes that waited at a first hop"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wire_two t = wire_two();
        struct batch_head *h = rows[i].place == 1 ? &t.first : &t.second;
        hsy_error err = {0};

        h->waited = rows[i].waited;
        h->n += h->waited;
        t.second.in = t.first.n;
        is_status(wire_two_check(&t, &err), rows[i].status, "%s", rows[i].what);
    }
}

static void strangers_are_refused(void)
{
    const struct batch_chain chain = wire_chain(2, 3);
    struct wire_two t = wire_two();
    struct batch_head got;
    hsy_error err;

    wire_two_check(&t, &err);
    batch_head_write(t.heads, &t.second, wire_secrets[4], NULL);
    is_status(batch_heads_check(&got, t.heads, sizeof t.heads, &chain, &err),
              HSY_E_REFUSED, "a stranger is refused");
    ok(err.field == HSY_FIELD_SIGNATURE && err.at == 2,
       "a stranger's signature is named");

    t = wire_two();
    wire_two_check(&t, &err);
    memcpy(t.heads + BATCH_HEAD, t.heads, BATCH_HEAD);
    is_status(batch_heads_check(&got, t.heads, sizeof t.heads, &chain, &err),
              HSY_E_REFUSED, "the same head twice is refused");
    is_status(batch_heads_check(&got, t.heads, BATCH_HEAD, &chain, &err),
              HSY_E_FORMAT, "a head too few is refused");
}

/* ---- Ids and receipts ---------------------------------------------------- */

static void ids_differ_by_all_they_are_made_of(void)
{
    uint8_t ids[6][STORE_BATCH_ID];
    bool differ = true;

    batch_id(ids[0], wire_keys[0], "colours", 3, 20600, 0);
    batch_id(ids[1], wire_keys[1], "colours", 3, 20600, 0);
    batch_id(ids[2], wire_keys[0], "colour", 3, 20600, 0);
    batch_id(ids[3], wire_keys[0], "colours", 4, 20600, 0);
    batch_id(ids[4], wire_keys[0], "colours", 3, 20601, 0);
    batch_id(ids[5], wire_keys[0], "colours", 3, 20600, 1);
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < i; k++)
            differ = differ && memcmp(ids[i], ids[k], STORE_BATCH_ID) != 0;
    ok(differ, "key, task, release, epoch and part each make another id");
}

static void receipts_are_of_one_batch(void)
{
    uint8_t receipt[STORE_RECEIPT], again[STORE_RECEIPT];
    uint8_t id[STORE_BATCH_ID] = {1}, digest[STORE_DIGEST] = {2};

    is_status(batch_receipt(receipt, id, digest, 40, wire_secrets[0]), HSY_OK,
              "a receipt is made");
    batch_receipt(again, id, digest, 40, wire_secrets[0]);
    is_bytes(receipt, again, sizeof receipt, "the same each time");
    ok(batch_receipt_holds(receipt, id, digest, 40, wire_keys[0]), "it holds");
    ok(!batch_receipt_holds(receipt, id, digest, 41, wire_keys[0]) &&
           !batch_receipt_holds(receipt, id, digest, 40, wire_keys[1]),
       "but of no other number and by no other key");
    digest[31] ^= 1;
    ok(!batch_receipt_holds(receipt, id, digest, 40, wire_keys[0]),
       "nor of another batch");
}

int main(void)
{
    wire_make_keys();
    a_head_comes_back();
    bytes_are_as_the_page_says();
    numbers_beyond_are_refused();
    every_changed_byte_is_refused();
    a_chain_holds_or_is_refused();
    what_waited_is_said_and_bounded();
    strangers_are_refused();
    ids_differ_by_all_they_are_made_of();
    receipts_are_of_one_batch();
    return tap_done();
}
