/* alphabet.c - sets of bytes as text: "a-z0-9", "\x00-\x1f". */
#include "hearsay.h"
#include "lib/bits/hex.h"
#include "lib/core/fail.h"

static bool alphabet_has(const uint8_t alphabet[HSY_ALPHABET], unsigned byte)
{
    return alphabet[byte / 8] >> byte % 8 & 1;
}

/* The byte written at *at, which then is behind it; 256 if none is. */
static unsigned alphabet_next(const char *text, size_t len, size_t *at)
{
    unsigned high, low;

    if (text[*at] != '\\')
        return (unsigned char)text[(*at)++];
    if (len - *at >= 2 && (text[*at + 1] == '\\' || text[*at + 1] == '-')) {
        *at += 2;
        return (unsigned char)text[*at - 1];
    }
    if (len - *at < 4 || text[*at + 1] != 'x')
        return 256;
    high = hex_value(text[*at + 2]);
    low = hex_value(text[*at + 3]);
    *at += 4;
    return high < 16 && low < 16 ? 16 * high + low : 256;
}

hsy_status hsy_alphabet_parse(uint8_t alphabet[HSY_ALPHABET], const char *text,
                              size_t len, hsy_error *err)
{
    uint8_t made[HSY_ALPHABET] = {0};

    for (size_t at = 0; at < len;) {
        const size_t from = at;
        const unsigned first = alphabet_next(text, len, &at);
        unsigned last = first;

        if (first < 256 && at + 1 < len && text[at] == '-') {
            at++;
            last = alphabet_next(text, len, &at);
        }
        if (first > 255 || last > 255 || last < first)
            return hsy_fail_at(err, HSY_E_FORMAT, HSY_FIELD_ALPHABET,
                               first < 256 && last < first
                                   ? "this range runs backwards; write a-z"
                                   : "write single bytes, ranges as a-z, or "
                                     "\\xHH",
                               HSY_UNIT_CHARACTER, from + 1);
        for (unsigned b = first; b <= last; b++)
            made[b / 8] = (uint8_t)(made[b / 8] | 1u << b % 8);
    }
    if (len == 0)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_ALPHABET, "is empty");
    for (size_t i = 0; i < HSY_ALPHABET; i++)
        alphabet[i] = made[i];
    return HSY_OK;
}

static size_t alphabet_write(char *text, unsigned byte)
{
    if (byte == '\\' || byte == '-') {
        text[0] = '\\';
        text[1] = (char)byte;
        return 2;
    }
    if (byte > ' ' && byte < 0x7f) {
        text[0] = (char)byte;
        return 1;
    }
    text[0] = '\\';
    text[1] = 'x';
    text[2] = hex_digit(byte >> 4);
    text[3] = hex_digit(byte & 15);
    return 4;
}

/* Runs of three and more as ranges; no run is longer than its bytes alone, so
 * 256 times four characters suffice. */
size_t hsy_alphabet_text(char text[HSY_ALPHABET_TEXT],
                         const uint8_t alphabet[HSY_ALPHABET])
{
    size_t len = 0;

    for (unsigned b = 0; b < 256; b++) {
        unsigned last = b;

        if (!alphabet_has(alphabet, b))
            continue;
        while (last < 255 && alphabet_has(alphabet, last + 1))
            last++;
        len += alphabet_write(text + len, b);
        if (last < b + 2)
            continue;
        text[len++] = '-';
        len += alphabet_write(text + len, last);
        b = last;
    }
    text[len] = 0;
    return len;
}
