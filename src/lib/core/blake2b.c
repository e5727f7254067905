/* blake2b.c - the hash BLAKE2b, plain and keyed [RFC7693]. */
#include "lib/core/blake2b.h"

#include "hearsay.h"
#include "lib/bits/bytes.h"

#include <string.h>

static const uint64_t blake2b_iv[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

/* The message schedule [RFC7693, 2.7]; rounds 10 and 11 are 0 and 1 again. */
static const uint8_t blake2b_sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t blake2b_rotate(uint64_t x, int by)
{
    return x >> by | x << (64 - by);
}

static inline void blake2b_mix(uint64_t *a, uint64_t *b, uint64_t *c,
                               uint64_t *d, uint64_t x, uint64_t y)
{
    *a += *b + x;
    *d = blake2b_rotate(*d ^ *a, 32);
    *c += *d;
    *b = blake2b_rotate(*b ^ *c, 24);
    *a += *b + y;
    *d = blake2b_rotate(*d ^ *a, 16);
    *c += *d;
    *b = blake2b_rotate(*b ^ *c, 63);
}

/* Where indices are constants, v stays in registers; a small client loops. */
#ifdef HSY_CLIENT
#define BLAKE2B_UNROLL
#else
#define BLAKE2B_UNROLL _Pragma("GCC unroll 4")
#endif

static inline void blake2b_round(uint64_t v[16], const uint64_t m[16],
                                 const uint8_t s[16])
{
    BLAKE2B_UNROLL
    for (int i = 0; i < 4; i++) /* columns */
        blake2b_mix(&v[i], &v[4 + i], &v[8 + i], &v[12 + i], m[s[2 * i]],
                    m[s[2 * i + 1]]);
    BLAKE2B_UNROLL
    for (int i = 0; i < 4; i++) /* diagonals */
        blake2b_mix(&v[i], &v[4 + (i + 1) % 4], &v[8 + (i + 2) % 4],
                    &v[12 + (i + 3) % 4], m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
}

/* Compress the full block; last is all ones for the last one, else zero. The
 * upper half of the 128-bit counter is always zero: lengths are below 2^64. */
static void blake2b_compress(struct blake2b *b, uint64_t last)
{
    uint64_t v[16], m[16];

    for (int i = 0; i < 16; i++)
        m[i] = bytes_get64(b->block + 8 * i);
    memcpy(v, b->h, sizeof b->h);
    memcpy(v + 8, blake2b_iv, sizeof blake2b_iv);
    v[12] ^= b->count;
    v[14] ^= last;
    for (int i = 0; i < 12; i++)
        blake2b_round(v, m, blake2b_sigma[i % 10]);
    for (int i = 0; i < 8; i++)
        b->h[i] ^= v[i] ^ v[8 + i];
    bytes_wipe(v, sizeof v);
    bytes_wipe(m, sizeof m);
}

void hsy_blake2b_init(struct blake2b *b, size_t out_len, const uint8_t *key,
                      size_t key_len)
{
    memcpy(b->h, blake2b_iv, sizeof b->h);
    b->h[0] ^= 0x01010000 ^ (uint64_t)key_len << 8 ^ (uint64_t)out_len;
    b->count = 0;
    b->used = 0;
    b->out_len = out_len;
    memset(b->block, 0, sizeof b->block);
    if (key_len > 0) {
        memcpy(b->block, key, key_len);
        b->used = sizeof b->block; /* the key fills a block of its own */
    }
}

void hsy_blake2b_update(struct blake2b *b, const void *data, size_t len)
{
    const uint8_t *from = data;

    while (len > 0) {
        size_t room = sizeof b->block - b->used;
        size_t n = len < room ? len : room;

        /* A full block waits: it may be the last, which is marked. */
        if (room == 0) {
            b->count += sizeof b->block;
            blake2b_compress(b, 0);
            b->used = 0;
            continue;
        }
        memcpy(b->block + b->used, from, n);
        b->used += n;
        from += n;
        len -= n;
    }
}

void hsy_blake2b_final(struct blake2b *b, uint8_t *out)
{
    uint8_t hash[64];

    memset(b->block + b->used, 0, sizeof b->block - b->used);
    b->count += b->used;
    blake2b_compress(b, UINT64_MAX);
    for (int i = 0; i < 8; i++)
        bytes_put64(hash + 8 * i, b->h[i]);
    memcpy(out, hash, b->out_len);
    bytes_wipe(hash, sizeof hash);
    bytes_wipe(b, sizeof *b);
}

void hsy_blake2b(uint8_t *out, size_t out_len, const void *data, size_t len,
                 const uint8_t *key, size_t key_len)
{
    struct blake2b b;

    hsy_blake2b_init(&b, out_len, key, key_len);
    hsy_blake2b_update(&b, data, len);
    hsy_blake2b_final(&b, out);
}
