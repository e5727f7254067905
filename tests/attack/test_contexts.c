/*
 * test_contexts.c - no two contexts share their coins.
 *
 * Contexts that look alike once lengths and places are forgotten (fields moved
 * into each other, NULs, prefixes, numbers with their bytes shifted) and random
 * ones: every pair of them is compared, in both roles, by the first 32 bytes of
 * each stream. A way to key coins that forgets a length must be caught.
 * HSY_TEST_LONG=1 compares 10^9 pairs.
 */
#include "rig/trial.h"
#include "tap.h"
#include "zoo/zoo.h"

#include <stdlib.h>
#include <string.h>

#define CONTEXTS_SEED 4u

typedef void contexts_coins(uint8_t out[32], const uint8_t key[HSY_KEY],
                            const hsy_context *context, bool published);

/* A context with room for what it points to. */
struct contexts_one {
    hsy_context context;
    char purpose[24], source[32];
    uint8_t digest[HSY_DIGEST];
};

static void contexts_set(struct contexts_one *c, const char *purpose,
                         const char *source, size_t source_len,
                         const uint8_t *digest, uint64_t slot, uint64_t truth)
{
    memset(c, 0, sizeof *c);
    snprintf(c->purpose, sizeof c->purpose, "%s", purpose);
    memcpy(c->source, source, source_len);
    memcpy(c->digest, digest, HSY_DIGEST);
    c->context.source_len = source_len;
    c->context.slot = slot;
    c->context.truth = truth;
}

static void contexts_point(struct contexts_one *c)
{
    c->context.purpose = c->purpose;
    c->context.source = c->source;
    c->context.digest = c->digest;
}

/*
 * Structured ones: every way to cut one text into purpose and source, with
 * digests that begin like the text, and slots and truths that are shifts of
 * each other. They differ in some field, every one from every other.
 */
static size_t contexts_structured(struct contexts_one *all, size_t room)
{
    static const char text[] = "reportreport\0s\0s";
    static const uint64_t numbers[] = {0, 1, 256, (uint64_t)1 << 56,
                                       UINT64_MAX};
    size_t n = 0;

    for (size_t cut = 0; cut <= 12; cut++)
        for (size_t len = 0; len <= 4; len++)
            for (size_t d = 0; d < 3; d++)
                for (size_t s = 0; s < 5; s++)
                    for (size_t v = 0; v < 5 && n < room; v++) {
                        uint8_t digest[HSY_DIGEST] = {0};
                        char purpose[13] = {0};

                        memcpy(purpose, text, cut);
                        digest[d == 2 ? HSY_DIGEST - 1 : 0] = d == 0 ? 0 : 's';
                        contexts_set(&all[n++], purpose, text + cut, len,
                                     digest, numbers[s], numbers[v]);
                    }
    return n;
}

/* Random ones; a number of 64 random bits keeps them apart. */
static void contexts_random(struct contexts_one *c, hsy_stream *stream)
{
    hsy_rng rng = hsy_stream_rng(stream);
    uint8_t bytes[64];
    char purpose[9] = {0};

    if (rng.fill(rng.ctx, bytes, sizeof bytes) != HSY_OK)
        abort();
    for (size_t i = 0; i < bytes[0] % 9u; i++)
        purpose[i] = (char)('a' + bytes[1 + i] % 2);
    contexts_set(c, purpose, (const char *)bytes + 10, bytes[9] % 9u,
                 bytes + 20, bytes[52] % 4u, bytes_get64(bytes + 54));
}

static int contexts_order(const void *a, const void *b)
{
    return memcmp(a, b, 32);
}

/* Pairs that share coins, among all contexts and both roles. */
static uint64_t contexts_shared(contexts_coins *coins, struct contexts_one *all,
                                size_t n)
{
    static const uint8_t key[HSY_KEY] = {3};
    uint8_t(*seen)[32] = trial_memory(2 * n * sizeof *seen);
    uint64_t shared = 0;

    for (size_t i = 0; i < n; i++) {
        contexts_point(&all[i]);
        coins(seen[2 * i], key, &all[i].context, false);
        coins(seen[2 * i + 1], key, &all[i].context, true);
    }
    qsort(seen, 2 * n, sizeof *seen, contexts_order);
    for (size_t i = 1; i < 2 * n; i++)
        shared += memcmp(seen[i - 1], seen[i], sizeof *seen) == 0;
    free(seen);
    return shared;
}

static void contexts_library(uint8_t out[32], const uint8_t key[HSY_KEY],
                             const hsy_context *context, bool published)
{
    hsy_keyed streams;
    hsy_rng rng;

    hsy_keyed_open(&streams, key, context);
    rng = hsy_stream_rng(published ? &streams.published : &streams.secret);
    if (rng.fill(rng.ctx, out, 32) != HSY_OK)
        abort();
    hsy_keyed_clear(&streams);
}

int main(void)
{
    const size_t n = getenv("HSY_TEST_LONG") != NULL ? 23000 : 5000;
    struct contexts_one *all = trial_memory(n * sizeof *all);
    size_t structured = contexts_structured(all, n);
    hsy_stream stream;

    hsy_stream_seed(&stream, CONTEXTS_SEED, 0);
    for (size_t i = structured; i < n; i++)
        contexts_random(&all[i], &stream);
    is_u64(contexts_shared(contexts_library, all, n), 0,
           "none of %.2g pairs of contexts and roles shares its coins",
           (double)n * (2 * (double)n - 1));
    ok(contexts_shared(zoo_empty_role_tag_coins, all, structured) > 0,
       "control: a tag that is empty is noticed");
    ok(contexts_shared(zoo_fields_without_lengths_coins, all, structured) > 0,
       "control: fields without their lengths are noticed");
    free(all);
    return tap_done();
}
