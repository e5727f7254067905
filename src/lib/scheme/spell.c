/* spell.c - strings spelled in bits, in time that tells nothing of them. */
#include "lib/scheme/spell.h"

#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/kernels/pool.h"

#include <string.h>

/* Ones in x, without a table. */
static uint64_t spell_ones(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return x * 0x0101010101010101 >> 56;
}

/* 1 + rank of a byte in the alphabet; 0 if it is not there. What is compared is
 * hidden: clang 19 makes a look into a table, and a branch, of the loop. */
static uint64_t spell_rank(const uint8_t alphabet[HSY_ALPHABET], uint64_t byte)
{
    const uint64_t bit = (uint64_t)1 << (byte & 63), at = ct_hide(byte >> 6);
    uint64_t rank = 1, there = 0;

    for (size_t k = 0; k < HSY_ALPHABET / 8; k++) {
        const uint64_t word = bytes_get64(alphabet + 8 * k);
        const uint64_t here = ct_hide(ct_equal(k, at));

        rank += spell_ones(word & (ct_less(k, at) | (here & (bit - 1))));
        there |= here & word & bit;
    }
    return ct_hide(rank & ~ct_equal(ct_hide(there), 0));
}

size_t hsy_spell_size(const uint8_t alphabet[HSY_ALPHABET])
{
    uint64_t size = 0;

    for (size_t k = 0; k < HSY_ALPHABET / 8; k++)
        size += spell_ones(bytes_get64(alphabet + 8 * k));
    return (size_t)size;
}

uint32_t hsy_spell_symbol(const uint8_t alphabet[HSY_ALPHABET])
{
    const size_t size = hsy_spell_size(alphabet);
    uint32_t bits = 0;

    while (size >> bits != 0)
        bits++;
    return size == 0 ? 8 : bits;
}

uint32_t hsy_symbol_bits(const hsy_scheme *s)
{
    return hsy_spell_symbol(s->alphabet);
}

size_t hsy_spell_most(const hsy_scheme *s)
{
    return (size_t)(s->param[HSY_PARAM_BITS] / hsy_spell_symbol(s->alphabet));
}

/* A symbol of n bits, the first of them at bit `at`, words filled from their
 * highest bit on. */
static void spell_put(uint64_t *codes, size_t at, uint32_t n, uint64_t symbol)
{
    const size_t word = at / 64, off = at % 64;

    if (off + n <= 64) {
        codes[word] |= symbol << (64 - off - n);
        return;
    }
    codes[word] |= symbol >> (off + n - 64);
    codes[word + 1] |= symbol << (128 - off - n);
}

/* Bits of the last word that are left over. */
static unsigned spell_pad(uint64_t bits)
{
    return (unsigned)(64 * spell_words(bits) - bits);
}

uint64_t hsy_spell(const hsy_scheme *s, uint64_t *codes, const uint8_t *data,
                   size_t room, size_t len)
{
    const uint64_t bits = s->param[HSY_PARAM_BITS];
    const uint32_t own = hsy_spell_symbol(s->alphabet);
    const size_t words = spell_words(bits), most = hsy_spell_most(s);
    const bool raw = hsy_spell_size(s->alphabet) == 0;
    uint64_t last = ct_equal(len, 0) & 1, foreign = 0;

    memset(codes, 0, words * sizeof *codes);
    for (size_t i = 0; i < most; i++) {
        /* Hidden, or what the compiler keeps of i - len enters the address. */
        const uint64_t end = ct_hide(len), here = ct_less(i, end);
        /* Past the room the first byte is read again, and dropped. */
        const uint64_t byte = data[i & ct_less(i, room)] & here;
        const uint64_t symbol =
            raw ? byte : spell_rank(s->alphabet, byte) & here;

        foreign |= here & ct_equal(symbol, 0);
        last |= symbol & ct_equal(i + 1, end);
        spell_put(codes, i * own, own, symbol);
    }
    foreign = raw ? 0 : foreign;
    codes[words - 1] >>= spell_pad(bits);
    for (size_t k = 0; k < words; k++)
        codes[k] &= ~foreign;
    return (ct_less(most, len) & SPELL_LONG) | (foreign & SPELL_FOREIGN) |
           (ct_equal(last, 0) & ~foreign & ~ct_less(most, len) & SPELL_ENDING);
}

void hsy_spell_prefix(uint64_t *prefix, const uint64_t *codes, uint64_t bits,
                      uint64_t length)
{
    const size_t words = spell_words(bits), kept = spell_words(length);

    for (size_t k = 0; k < kept; k++)
        prefix[k] = k + 1 == words ? codes[k] << spell_pad(bits) : codes[k];
    prefix[kept - 1] >>= spell_pad(length);
}

uint64_t hsy_spell_last(const uint64_t *prefix, uint64_t length, uint64_t n)
{
    const size_t last = spell_words(length) - 1;
    const uint64_t held = length - 64 * last; /* bits of the last word */
    const uint64_t before = held < n ? prefix[last - 1] << held : 0;

    return (before | prefix[last]) & (((uint64_t)1 << n) - 1);
}

uint64_t hsy_spell_hash(const uint64_t *prefix, uint64_t length)
{
    uint64_t hash = pool_scatter(prefix[0]);

    for (size_t k = 1; k < spell_words(length); k++)
        hash = pool_scatter(hash ^ prefix[k]);
    return hash;
}
