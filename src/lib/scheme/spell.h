/*
 * spell.h - strings spelled in bits, for mechanisms that ask for prefixes.
 *
 * A string of a spelled scheme has M bits (HSY_PARAM_BITS), symbol by symbol,
 * zeros after the last. A symbol is a byte, in 8 bits, or of an alphabet of A
 * bytes 1 plus the byte's rank, in ceil(log2(A + 1)) bits, so that 0 ends the
 * string. M bits are ceil(M / 64) words, the first bits in the first one; the
 * last word is a number of as many bits as are left. A prefix is kept likewise.
 */
#ifndef LIB_SCHEME_SPELL_H
#define LIB_SCHEME_SPELL_H

#include "lib/scheme/scheme.h"

/* What is wrong with a string, as bits of hsy_spell's answer. */
enum spell_wrong {
    SPELL_LONG = 1,   /* more symbols than there is room for */
    SPELL_ENDING = 2, /* a zero byte at its end, which is not kept */
    SPELL_FOREIGN = 4 /* a byte that is not in the alphabet */
};

/* Words of so many bits. */
static inline size_t spell_words(uint64_t bits)
{
    return (size_t)((bits + 63) / 64);
}

/* Bytes of an alphabet, bits of a symbol, and the symbols of a string. */
size_t hsy_spell_size(const uint8_t alphabet[HSY_ALPHABET]);
uint32_t hsy_spell_symbol(const uint8_t alphabet[HSY_ALPHABET]);
size_t hsy_spell_most(const hsy_scheme *s);

/*
 * The words of a string, which is the first len of room readable bytes, room at
 * least 1; and what is wrong with it. One that is too long is cut; one with a
 * foreign byte is the empty string. Neither a branch nor an address depends on
 * the string or len.
 */
uint64_t hsy_spell(const hsy_scheme *s, uint64_t *codes, const uint8_t *data,
                   size_t room, size_t len);

/* The first `length` of `bits` bits, 1 <= length <= bits. Constant time in
 * codes. */
void hsy_spell_prefix(uint64_t *prefix, const uint64_t *codes, uint64_t bits,
                      uint64_t length);

/* The last n <= 63 bits of a prefix, n <= length. Constant time in prefix. */
uint64_t hsy_spell_last(const uint64_t *prefix, uint64_t length, uint64_t n);

/* A prefix of `length` bits as the code of an open string: scattered, because
 * candidates of a search are runs of neighbours, whose collisions would come
 * together (pool.h). Constant time in prefix. */
uint64_t hsy_spell_hash(const uint64_t *prefix, uint64_t length);

#endif
