/* test_blake2b.c - known answers, and pieces that add up to the whole. */
#include "hearsay.h"
#include "lib/core/blake2b.h"
#include "tap.h"

#include <string.h>

/* Whether the bytes are these hexadecimal digits. */
static bool is_hex(const uint8_t *bytes, size_t len, const char *hex)
{
    char digits[129];

    for (size_t i = 0; i < len; i++)
        snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
    return strcmp(digits, hex) == 0;
}

static void plain_answers(void)
{
    uint8_t out[64];

    hsy_blake2b(out, 64, "abc", 3, NULL, 0);
    ok(is_hex(
           out, 64,
           "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
           "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"),
       "BLAKE2b-512 of abc is that of RFC 7693, appendix A");
    hsy_blake2b(out, 64, NULL, 0, NULL, 0);
    ok(is_hex(
           out, 64,
           "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419"
           "d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce"),
       "nothing at all has its known hash");
    hsy_blake2b(out, 32, "abc", 3, NULL, 0);
    ok(is_hex(
           out, 32,
           "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"),
       "BLAKE2b-256 is a hash of its own, not a cut one");
}

/* Input 00 01 02 ..., key 00 01 .. 3f: the official known-answer file. */
static void keyed_answers(void)
{
    static const struct {
        size_t len;
        const char *hash;
    } rows[] = {
        {0, "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
            "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568"},
        {1, "961f6dd1e4dd30f63901690c512e78e4b45e4742ed197c3c5e45c549fd25f2e4"
            "187b0bc9fe30492b16b0d0bc4ef9b0f34c7003fac09a5ef1532e69430234cebd"},
        {127,
         "76d2d819c92bce55fa8e092ab1bf9b9eab237a25267986cacf2b8ee14d214d73"
         "0dc9a5aa2d7b596e86a1fd8fa0804c77402d2fcd45083688b218b1cdfa0dcbcb"},
        {128,
         "72065ee4dd91c2d8509fa1fc28a37c7fc9fa7d5b3f8ad3d0d7a25626b57b1b44"
         "788d4caf806290425f9890a3a2a35a905ab4b37acfd0da6e4517b2525c9651e4"},
        {129,
         "64475dfe7600d7171bea0b394e27c9b00d8e74dd1e416a79473682ad3dfdbb70"
         "6631558055cfc8a40e07bd015a4540dcdea15883cbbf31412df1de1cd4152b91"},
        {255,
         "142709d62e28fcccd0af97fad0f8465b971e82201dc51070faa0372aa43e9248"
         "4be1c1e73ba10906d5d1853db6a4106e0a7bf9800d373d6dee2d46d62ef2a461"},
    };
    uint8_t in[255], out[64];

    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_blake2b(out, 64, in, rows[i].len, in, 64);
        ok(is_hex(out, 64, rows[i].hash), "keyed hash of %zu bytes",
           rows[i].len);
    }
}

/* RFC 7693, appendix E: the sequence it fills inputs and keys with. */
static void self_test_sequence(uint8_t *out, size_t len, uint32_t seed)
{
    uint32_t a = 0xDEAD4BAD * seed, b = 1;

    for (size_t i = 0; i < len; i++) {
        uint32_t t = a + b;

        a = b;
        b = t;
        out[i] = (uint8_t)(t >> 24);
    }
}

static void self_test(void)
{
    static const size_t outs[] = {20, 32, 48, 64};
    static const size_t ins[] = {0, 3, 128, 129, 255, 1024};
    uint8_t in[1024], key[64], out[64], grand[32];
    struct blake2b all;

    hsy_blake2b_init(&all, sizeof grand, NULL, 0);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 6; j++) {
            self_test_sequence(in, ins[j], (uint32_t)ins[j]);
            self_test_sequence(key, outs[i], (uint32_t)outs[i]);
            hsy_blake2b(out, outs[i], in, ins[j], NULL, 0);
            hsy_blake2b_update(&all, out, outs[i]);
            hsy_blake2b(out, outs[i], in, ins[j], key, outs[i]);
            hsy_blake2b_update(&all, out, outs[i]);
        }
    hsy_blake2b_final(&all, grand);
    ok(is_hex(
           grand, 32,
           "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475"),
       "the self test of RFC 7693, appendix E, passes");
}

static void pieces_add_up(void)
{
    uint8_t in[400], whole[32], parts[32];
    size_t same = 0, cuts = 0;
    struct blake2b b;

    self_test_sequence(in, sizeof in, 400);
    hsy_blake2b(whole, 32, in, sizeof in, in, 32);
    for (size_t cut = 0; cut <= sizeof in; cut++, cuts++) {
        hsy_blake2b_init(&b, 32, in, 32);
        hsy_blake2b_update(&b, in, cut);
        hsy_blake2b_update(&b, in + cut, sizeof in - cut);
        hsy_blake2b_final(&b, parts);
        same += memcmp(whole, parts, 32) == 0;
    }
    is_u64(same, cuts, "every way to cut the input in two gives the same hash");
}

static void final_wipes(void)
{
    static const struct blake2b zero;
    struct blake2b b;
    uint8_t out[32];

    memset(&b, 0xa5, sizeof b);
    hsy_blake2b_init(&b, 32, (const uint8_t *)"a secret key", 12);
    hsy_blake2b_update(&b, "a truth", 7);
    hsy_blake2b_final(&b, out);
    ok(eq_bytes(b.h, zero.h, sizeof b.h) &&
           eq_bytes(b.block, zero.block, sizeof b.block),
       "nothing of key or input is left in the state");
}

int main(void)
{
    plain_answers();
    keyed_answers();
    self_test();
    pieces_add_up();
    final_wipes();
    return tap_done();
}
