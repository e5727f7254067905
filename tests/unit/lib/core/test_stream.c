/* test_stream.c - key streams: known answers, cuts, contexts, wiping. */
#include "lib/core/stream.h"

#include "lib/bits/bytes.h"
#include "lib/core/blake2b.h"
#include "lib/kernels/kernels.h"
#include "rig/sanitized.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONG = 20000,
    STRUCTURED = TEST_SANITIZED ? 50000 : 1000000,
    RANDOM = TEST_SANITIZED ? 5000 : 100000
};

static bool is_hex(const uint8_t *bytes, size_t len, const char *hex)
{
    char digits[129];

    for (size_t i = 0; i < len; i++)
        snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
    return strcmp(digits, hex) == 0;
}

static void stream_draw(hsy_stream *st, void *out, size_t len)
{
    hsy_rng rng = hsy_stream_rng(st);

    if (rng.fill(rng.ctx, out, len) != HSY_OK)
        ok(false, "an open stream does not fail");
}

/* RFC 8439, 2.3.2, at every level of this machine. */
static void block_vector(hsy_cpu level)
{
    uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    uint8_t out[64];

    for (uint32_t i = 0; i < 8; i++)
        state[4 + i] = 0x03020100 + 0x04040404 * i;
    state[12] = 1;
    state[13] = 0x09000000;
    state[14] = 0x4a000000;
    hsy_kernels_at(level)->chacha20(out, 1, state);
    ok(is_hex(
           out, 64,
           "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
           "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"),
       "%s: the block of RFC 8439, 2.3.2", hsy_cpu_name(level));
    ok(eq_u64(state[12], 2) && eq_u64(state[13], 0x09000000),
       "%s: the counter moves on", hsy_cpu_name(level));
}

/* Values of an independent implementation over Python's hashlib. */
static void known_streams(void)
{
    static const uint8_t zero[HSY_KEY];
    uint8_t key[HSY_KEY], digest[HSY_DIGEST], out[1040];
    hsy_context c = {"answer", "source\0x", 8,
                     digest,   3,           ((uint64_t)1 << 63) + 5};
    hsy_keyed both;
    hsy_stream st;

    hsy_stream_key(&st, zero);
    stream_draw(&st, out, 64);
    ok(is_hex(
           out, 64,
           "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
           "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"),
       "the stream of the zero key is that of RFC 8439, A.1");
    hsy_stream_seed(&st, 1, 2);
    stream_draw(&st, out, sizeof out);
    ok(is_hex(
           out, 32,
           "80f104a2c92ba5c3f54a069dfad44de2fd8b2a1e0bfd014a25046fc49675c291"),
       "the stream of seed 1, lane 2");
    ok(is_hex(out + 1024, 16, "681618c4ac6f1df834625a53b88167e0"),
       "and its seventeenth block");
    is_u64(st.simulate, 1, "a stream opened by seed is marked");
    for (uint8_t i = 0; i < 32; i++) {
        key[i] = i;
        digest[i] = (uint8_t)(100 + i);
    }
    hsy_keyed_open(&both, key, &c);
    stream_draw(&both.secret, out, 32);
    ok(is_hex(
           out, 32,
           "9df924428af91b4a077fe7067f6e653b776faf939647865283ec8bc793938aa7"),
       "the secret coins of a context");
    stream_draw(&both.published, out, 32);
    ok(is_hex(
           out, 32,
           "6904f3ff894f070b195d137d6b39cd0ad8d9616e26102db5b946a3c07a34c471"),
       "and its published ones");
    ok(eq_u64(both.secret.simulate, 0) && eq_u64(both.published.simulate, 0),
       "streams opened by context are not marked");
}

/* Draws of all sizes, from a generator of no importance. */
static void draw_in_pieces(hsy_stream *st, uint8_t *out, size_t len,
                           uint32_t cut)
{
    while (len > 0) {
        size_t n;

        cut = cut * 1664525 + 1013904223;
        n = (cut >> 8) % ((cut >> 28) < 4 ? 3000 : 70);
        if (n > len)
            n = len;
        stream_draw(st, out, n);
        out += n;
        len -= n;
    }
}

static void cuts_do_not_matter(hsy_cpu level)
{
    static uint8_t whole[LONG], pieces[LONG];
    unsigned differ = 0;
    hsy_stream st;

    for (uint32_t cut = 0; cut < 100; cut++) {
        hsy_stream_seed(&st, cut, 0);
        hsy_stream_cpu(&st, HSY_CPU_PLAIN);
        st.state[12] = 0xffffffd0; /* the counter's carry lies ahead */
        stream_draw(&st, whole, LONG);
        hsy_stream_seed(&st, cut, 0);
        if (hsy_stream_cpu(&st, level) != HSY_OK)
            differ++;
        st.state[12] = 0xffffffd0;
        draw_in_pieces(&st, pieces, LONG, cut);
        differ += memcmp(whole, pieces, LONG) != 0;
    }
    is_u64(differ, 0, "%s: the bytes depend on their place alone",
           hsy_cpu_name(level));
}

static void big_draws_bypass_the_block(void)
{
    static uint8_t out[4096 + 64];
    hsy_stream st;

    hsy_stream_seed(&st, 5, 0);
    stream_draw(&st, out, sizeof out);
    ok(eq_u64(st.left, 1024 - 64) && eq_u64(st.state[12], 4096 / 64 + 16),
       "whole runs go straight to the caller, the rest through the block");
    stream_draw(&st, out, 0);
    is_u64(st.left, 1024 - 64, "drawing nothing takes nothing");
}

static bool all_zero(const void *p, size_t len)
{
    const uint8_t *bytes = p;
    uint8_t any = 0;

    for (size_t i = 0; i < len; i++)
        any |= bytes[i];
    return any == 0;
}

static void used_coins_are_wiped(void)
{
    uint8_t out[100], after[8];
    hsy_stream st;
    hsy_rng rng = hsy_stream_rng(&st);

    hsy_stream_seed(&st, 6, 0);
    stream_draw(&st, out, sizeof out);
    ok(eq_u64(st.left, 1024 - 100) && all_zero(st.block, 100) &&
           !all_zero(st.block + 100, 8),
       "what was handed out is no longer in the block");
    hsy_stream_clear(&st);
    ok(all_zero(&st, sizeof st), "clearing leaves nothing");
    memset(after, 0x5a, sizeof after);
    ok(eq_status(rng.fill(rng.ctx, after, sizeof after), HSY_E_ENTROPY) &&
           eq_u64(after[0], 0x5a) && eq_u64(after[7], 0x5a),
       "a cleared stream gives no coins");
}

static void unknown_processors(void)
{
    hsy_stream st;

    hsy_stream_seed(&st, 1, 1);
    is_u64(st.cpu, (uint32_t)hsy_cpu_best(),
           "a new stream uses the best table");
    ok(eq_status(hsy_stream_cpu(&st, (hsy_cpu)77), HSY_E_UNKNOWN) &&
           eq_u64(st.cpu, (uint32_t)hsy_cpu_best()),
       "an unknown level is refused and changes nothing");
}

/* The first 16 bytes of a context's coins. */
static void coins_of(uint8_t out[16], const uint8_t key[HSY_KEY],
                     const hsy_context *c)
{
    hsy_keyed both;

    hsy_keyed_open(&both, key, c);
    stream_draw(&both.secret, out, 16);
}

static void roles_are_apart(void)
{
    uint8_t key[HSY_KEY] = {1}, digest[HSY_DIGEST] = {2};
    const hsy_context c = {"p", "s", 1, digest, 4, 5};
    uint8_t secret[16], published[16];
    hsy_keyed both;
    hsy_coins coins;

    hsy_keyed_open(&both, key, &c);
    coins = hsy_keyed_coins(&both);
    ok(eq_status(coins.secret.fill(coins.secret.ctx, secret, 16), HSY_OK) &&
           eq_status(coins.published.fill(coins.published.ctx, published, 16),
                     HSY_OK) &&
           memcmp(secret, published, 16) != 0,
       "one context has other coins for each role");
    hsy_keyed_clear(&both);
    ok(all_zero(&both, sizeof both) &&
           eq_status(coins.secret.fill(coins.secret.ctx, secret, 16),
                     HSY_E_ENTROPY),
       "clearing a device's coins leaves neither");
}

static void every_field_counts(void)
{
    uint8_t key[HSY_KEY] = {1}, digest[HSY_DIGEST] = {2}, other[32] = {3};
    const hsy_context base = {"p", "s", 1, digest, 4, 5};
    hsy_context c[7];
    uint8_t first[16], out[16];
    unsigned same = 0;

    for (int i = 0; i < 7; i++)
        c[i] = base;
    c[1].purpose = "q";
    c[2].source = "t";
    c[3].source_len = 0;
    c[4].digest = other;
    c[5].slot = 5;
    c[6].truth = 4;
    coins_of(first, key, &c[0]);
    coins_of(out, key, &base);
    is_bytes(first, out, 16, "the same context has the same coins");
    for (int i = 1; i < 7; i++) {
        coins_of(out, key, &c[i]);
        same += memcmp(first, out, 16) == 0;
    }
    coins_of(out, other, &base);
    same += memcmp(first, out, 16) == 0;
    is_u64(same, 0, "key, purpose, source, digest, slot and truth all matter");
}

/*
 * Context number n of a structured family: ten choices for each of six parts,
 * made of the same few bytes, so that whatever an encoding confuses (where a
 * field ends, NUL bytes, lengths in the data, slot and truth) collides.
 */
struct named {
    char purpose[16];
    uint8_t source[64], digest[HSY_DIGEST];
    hsy_context context;
};

static void structured_context(struct named *x, uint32_t n)
{
    static const uint8_t fill[10] = {'a', 0, 1, 2, 8, 9, 32, 'b', 128, 255};
    static const uint64_t number[10] = {0,          1,
                                        2,          8,
                                        32,         0x6161616161616161,
                                        255,        256,
                                        UINT64_MAX, (uint64_t)1 << 32};
    uint32_t purpose_len = n % 10, source_len = n / 10 % 10 + 1;

    memset(x->purpose, 0, sizeof x->purpose);
    memset(x->purpose, 'a', purpose_len);
    memset(x->source, fill[n / 100 % 10], source_len);
    memset(x->digest, fill[n / 1000 % 10], sizeof x->digest);
    x->context = (hsy_context){x->purpose,
                               x->source,
                               source_len,
                               x->digest,
                               number[n / 10000 % 10],
                               number[n / 100000 % 10]};
}

static void random_context(struct named *x, hsy_stream *st)
{
    uint8_t r[18];

    stream_draw(st, r, sizeof r);
    memset(x->purpose, 0, sizeof x->purpose);
    memset(x->purpose, 'a', r[0] % 16);
    x->purpose[15] = 0;
    stream_draw(st, x->source, sizeof x->source);
    memset(x->digest, r[1] & 1, sizeof x->digest);
    x->context =
        (hsy_context){x->purpose, x->source,          r[1] % 64u,
                      x->digest,  bytes_get64(r + 2), bytes_get64(r + 10)};
}

static int compare_coins(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

static size_t collisions(uint8_t (*coins)[16], size_t n)
{
    size_t same = 0;

    qsort(coins, n, sizeof coins[0], compare_coins);
    for (size_t i = 1; i < n; i++)
        same += memcmp(coins[i - 1], coins[i], 16) == 0;
    return same;
}

/* What the library must not do: fields one after the other. */
static void careless_coins_of(uint8_t out[16], const hsy_context *c)
{
    struct blake2b b;
    uint8_t number[8];

    hsy_blake2b_init(&b, 16, NULL, 0);
    hsy_blake2b_update(&b, c->purpose, strlen(c->purpose));
    hsy_blake2b_update(&b, c->source, c->source_len);
    hsy_blake2b_update(&b, c->digest, HSY_DIGEST);
    bytes_put64(number, c->slot);
    hsy_blake2b_update(&b, number, sizeof number);
    bytes_put64(number, c->truth);
    hsy_blake2b_update(&b, number, sizeof number);
    hsy_blake2b_final(&b, out);
}

/* 1.1 million contexts, every pair of them compared: 6 * 10^11 pairs. By the
 * birthday bound honest coins collide with probability below 2^-87. */
static void contexts_are_injective(void)
{
    static uint8_t coins[STRUCTURED + RANDOM][16];
    static const uint8_t key[HSY_KEY] = {9};
    struct named x;
    hsy_stream st;

    for (uint32_t n = 0; n < STRUCTURED; n++) {
        structured_context(&x, n);
        coins_of(coins[n], key, &x.context);
    }
    hsy_stream_seed(&st, 7, 0);
    for (uint32_t n = STRUCTURED; n < STRUCTURED + RANDOM; n++) {
        random_context(&x, &st);
        coins_of(coins[n], key, &x.context);
    }
    is_u64(collisions(coins, STRUCTURED + RANDOM), 0,
           "no two of 1,100,000 contexts share coins");
    for (uint32_t n = 0; n < 1000; n++) {
        structured_context(&x, n);
        careless_coins_of(coins[n], &x.context);
    }
    ok(collisions(coins, 1000) > 0,
       "control: without lengths two contexts would");
}

static void lanes_are_apart(void)
{
    static uint8_t coins[65536][16];
    hsy_stream st;

    for (uint32_t i = 0; i < 65536; i++) {
        hsy_stream_seed(&st, i % 256, i / 256);
        stream_draw(&st, coins[i], 16);
    }
    is_u64(collisions(coins, 65536), 0, "seed and lane are not confused");
}

int main(void)
{
    for (hsy_cpu level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++)
        if (hsy_cpu_has(level)) {
            block_vector(level);
            cuts_do_not_matter(level);
        } else {
            tap_skip(hsy_cpu_name(level));
        }
    known_streams();
    big_draws_bypass_the_block();
    used_coins_are_wiped();
    unknown_processors();
    every_field_counts();
    roles_are_apart();
    contexts_are_injective();
    lanes_are_apart();
    return tap_done();
}
