/* utf8.h - one character of UTF-8 at a time. */
#ifndef HSY_UTF8_H
#define HSY_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The length of the sequence that p[0..left) begins with, left > 0, and its
 * character; 0 if it is none: no overlong form, no surrogate, nothing above
 * U+10FFFF [RFC 3629]. */
static inline size_t utf8_one(uint32_t *c, const uint8_t *p, size_t left)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xc0 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf8 ? 4
                             : 0;

    if (n == 0 || n > left)
        return 0;
    *c = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (p[i] & 0x3fu);
    }
    if (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000))
        return 0;
    return n;
}

/* Whether a character is one that nobody sees, or that moves or turns what
 * stands beside it: controls, line ends, what Unicode 15 calls default
 * ignorable (directions of writing among them), and what is no character.
 * web/dom.js hides the same; tests/e2e/words.t holds them together. */
static inline int utf8_hidden(uint32_t c)
{
    static const uint32_t hidden[][2] = {
        {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},
        {0x34f, 0x34f},     {0x61c, 0x61c},     {0x115f, 0x1160},
        {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},
        {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
        {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
        {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x1bca0, 0x1bca3},
        {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };

    if ((c & 0xfffe) == 0xfffe)
        return 1;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (c <= hidden[i][1])
            return c >= hidden[i][0];
    return 0;
}

#endif
