/*
 * stream.c - coins from a key: ChaCha20 [RFC8439] over BLAKE2b [RFC7693].
 *
 * The state has four constant words, eight of key, a 64-bit block counter in
 * words 12 and 13 and a nonce of zero: a key is used for one stream only. What
 * is delivered depends on the place in the stream alone, not on how the draws
 * are cut nor on the processor.
 */
#include "lib/core/stream.h"

#include "lib/bits/bytes.h"
#include "lib/core/blake2b.h"
#include "lib/kernels/kernels.h"

#include <string.h>

enum { STREAM_BLOCK = 64 };

static const uint32_t stream_constant[4] = {0x61707865, 0x3320646e, 0x79622d32,
                                            0x6b206574};

void hsy_stream_key(hsy_stream *st, const uint8_t key[HSY_KEY])
{
    memset(st, 0, sizeof *st);
    memcpy(st->state, stream_constant, sizeof stream_constant);
    for (int i = 0; i < 8; i++)
        st->state[4 + i] = bytes_get32(key + 4 * i);
    st->cpu = (uint32_t)hsy_cpu_best();
}

static void stream_number(struct blake2b *b, uint64_t x)
{
    uint8_t bytes[8];

    bytes_put64(bytes, x);
    hsy_blake2b_update(b, bytes, sizeof bytes);
    bytes_wipe(bytes, sizeof bytes);
}

/* The length, then the bytes: where a field ends is part of what is hashed. */
static void stream_field(struct blake2b *b, const void *data, size_t len)
{
    stream_number(b, len);
    hsy_blake2b_update(b, data, len);
}

static void stream_finish(hsy_stream *st, struct blake2b *b)
{
    uint8_t key[HSY_KEY];

    hsy_blake2b_final(b, key);
    hsy_stream_key(st, key);
    bytes_wipe(key, sizeof key);
}

/* Fields of fixed order, each with its length or of fixed length: the encoding
 * is injective, and what separates roles and purposes is hashed like everything
 * else. */
static void stream_open(hsy_stream *st, const char *role,
                        const uint8_t key[HSY_KEY], const hsy_context *context)
{
    struct blake2b b;

    hsy_blake2b_init(&b, HSY_KEY, key, HSY_KEY);
    stream_field(&b, role, strlen(role));
    stream_field(&b, context->purpose, strlen(context->purpose));
    stream_field(&b, context->source, context->source_len);
    stream_field(&b, context->digest, HSY_DIGEST);
    stream_number(&b, context->slot);
    stream_number(&b, context->truth);
    stream_finish(st, &b);
}

void hsy_keyed_open(hsy_keyed *streams, const uint8_t key[HSY_KEY],
                    const hsy_context *context)
{
    stream_open(&streams->secret, "hearsay secret coins 1", key, context);
    stream_open(&streams->published, "hearsay published coins 1", key, context);
}

hsy_coins hsy_keyed_coins(hsy_keyed *streams)
{
    return (hsy_coins){hsy_stream_rng(&streams->secret),
                       hsy_stream_rng(&streams->published)};
}

void hsy_keyed_clear(hsy_keyed *streams)
{
    hsy_stream_clear(&streams->secret);
    hsy_stream_clear(&streams->published);
}

void hsy_stream_seed(hsy_stream *st, uint64_t seed, uint64_t lane)
{
    static const char tag[] = "hearsay simulation 1";
    struct blake2b b;

    hsy_blake2b_init(&b, HSY_KEY, NULL, 0);
    stream_field(&b, tag, sizeof tag - 1);
    stream_number(&b, seed);
    stream_number(&b, lane);
    stream_finish(st, &b);
    st->simulate = 1;
}

/* Hand out the next n <= left bytes of the block and forget them. */
static void stream_take(hsy_stream *st, uint8_t *out, size_t n)
{
    uint8_t *from = st->block + sizeof st->block - st->left;

    memcpy(out, from, n);
    bytes_wipe(from, n);
    st->left -= n;
}

static void stream_blocks(hsy_stream *st, uint8_t *out, size_t blocks)
{
    hsy_kernels_at((hsy_cpu)st->cpu)->chacha20(out, blocks, st->state);
}

/* A cleared or never opened stream has no constants: it yields nothing rather
 * than coins that anyone can compute. */
static hsy_status stream_fill(void *ctx, void *buf, size_t len)
{
    hsy_stream *st = ctx;
    uint8_t *out = buf;
    size_t n = len < st->left ? len : st->left;

    if (st->state[0] != stream_constant[0])
        return HSY_E_ENTROPY;
    if (n > 0)
        stream_take(st, out, n);
    out += n;
    len -= n;
    if (len >= sizeof st->block) {
        size_t whole = len - len % sizeof st->block;

        /* In whole runs of the widest kernel: it would throw away the rest. */
        stream_blocks(st, out, whole / STREAM_BLOCK);
        out += whole;
        len -= whole;
    }
    if (len > 0) {
        stream_blocks(st, st->block, sizeof st->block / STREAM_BLOCK);
        st->left = sizeof st->block;
        stream_take(st, out, len);
    }
    return HSY_OK;
}

hsy_rng hsy_stream_rng(hsy_stream *st)
{
    return (hsy_rng){stream_fill, st};
}

void hsy_stream_clear(hsy_stream *st)
{
    bytes_wipe(st, sizeof *st);
}

hsy_status hsy_stream_cpu(hsy_stream *st, hsy_cpu level)
{
    if (!hsy_cpu_has(level))
        return HSY_E_UNKNOWN;
    st->cpu = (uint32_t)level;
    return HSY_OK;
}
