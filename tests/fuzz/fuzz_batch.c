/* fuzz_batch.c - heads of batches: one encoding, within their limits. */
#define _GNU_SOURCE

#include "fuzz.h"
#include "server/shuffle/batch_wire.h"

/* What is signed; the signature is by a key that nobody knows. */
static void batch_reads(const uint8_t *wire)
{
    static uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET];
    static bool made;
    uint8_t again[BATCH_HEAD];
    struct batch_head h;

    if (batch_head_read(&h, wire, NULL) != HSY_OK)
        return;
    made = made || hsy_sign_keypair(key, secret) == HSY_OK;
    fuzz_expect(batch_head_write(again, &h, secret, NULL) == HSY_OK &&
                    memcmp(wire, again, BATCH_SIGNED) == 0,
                "a head that is read is written as the same bytes");
    fuzz_expect(h.n + h.unopened == h.in + h.waited && h.waited <= h.n &&
                    h.n <= BATCH_MOST && h.n != 0 &&
                    h.length <= HSY_UPLOAD_MAX && h.place <= h.of &&
                    strlen(h.task) <= HSY_TASK_ID,
                "counts and lengths are bounded");
}

/* Heads as those of a chain of as many hops. */
static void batch_chains(const uint8_t *data, size_t len)
{
    const struct batch_chain chain = {.task = "colours",
                                      .scheme = data,
                                      .hops = (uint32_t)(len / BATCH_HEAD),
                                      .of = BATCH_HOPS,
                                      .length = 61};
    struct batch_head h;

    fuzz_expect(batch_heads_check(&h, data, len, &chain, NULL) != HSY_OK,
                "nobody has signed it");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    for (size_t at = 0; len - at >= BATCH_HEAD; at += BATCH_HEAD)
        batch_reads(data + at);
    if (len >= BATCH_HEAD && len <= BATCH_HOPS * BATCH_HEAD)
        batch_chains(data, len);
    return 0;
}
