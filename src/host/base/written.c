/* written.c - texts in memory; numbers and texts as JSON and CSV. */
#define _GNU_SOURCE /* open_memstream */
#include "host/base/written.h"

#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "lib/bits/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool written_open(struct written *w)
{
    *w = (struct written){.text = NULL};
    w->to = open_memstream(&w->text, &w->len);
    return w->to != NULL;
}

hsy_status written_close(struct written *w, char **text, size_t *len,
                         hsy_error *err)
{
    bool whole = w->to != NULL && ferror(w->to) == 0;

    if (w->to != NULL)
        whole &= fclose(w->to) == 0;
    if (!whole || w->text == NULL) { /* cutting it to its length may fail */
        free(w->text);
        return host_nomem(err);
    }
    *text = w->text;
    *len = w->len;
    return HSY_OK;
}

void written_nano(char text[WRITTEN_NUMBER], uint64_t nano)
{
    size_t len =
        (size_t)snprintf(text, WRITTEN_NUMBER, "%" PRIu64 ".%09" PRIu64,
                         nano / HSY_NANO, nano % HSY_NANO);

    while (text[len - 1] == '0')
        len--;
    text[len - (text[len - 1] == '.')] = '\0';
}

void written_number(char text[WRITTEN_NUMBER], double x)
{
    for (int digits = 15; digits <= 17; digits++) {
        double back;

        snprintf(text, WRITTEN_NUMBER, "%.*g", digits, x);
        if (sscanf(text, "%lf", &back) == 1 && back == x)
            return;
    }
}

/* ---- What people are shown ----------------------------------------------- */

/* Whether a character is one that nobody sees, or that moves or turns what
 * stands beside it: controls, line ends, what Unicode 15 calls default
 * ignorable (directions of writing among them), and what is no character.
 * web/dom.js hides the same; tests/e2e/words.t holds them together. */
static bool written_hidden(uint32_t c)
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
        return true;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (c <= hidden[i][1])
            return c >= hidden[i][0];
    return false;
}

size_t written_take(struct written_piece *out, const char *text, size_t left)
{
    uint32_t c;
    const size_t n = utf8_one(&c, (const uint8_t *)text, left);
    int len;

    out->point = 0;
    if (n == 0) {
        len = snprintf(out->bytes, sizeof out->bytes, "\\x%02x",
                       (unsigned char)*text);
    } else if (written_hidden(c)) {
        len = snprintf(out->bytes, sizeof out->bytes,
                       c == '\t'   ? "\\t"
                       : c == '\n' ? "\\n"
                                   : "\\u{%" PRIx32 "}",
                       c);
    } else {
        len = snprintf(out->bytes, sizeof out->bytes, "%.*s", (int)n, text);
        out->point = c;
    }
    out->len = (size_t)len;
    return n == 0 ? 1 : n;
}

void written_name(char *name, size_t size, const char *text, size_t len)
{
    size_t used = 0;

    for (size_t i = 0; i < len;) {
        struct written_piece piece;

        i += written_take(&piece, text + i, len - i);
        if (used + piece.len >= size)
            break;
        memcpy(name + used, piece.bytes, piece.len);
        used += piece.len;
    }
    name[used] = '\0';
}

/* ---- CSV ----------------------------------------------------------------- */

static bool written_csv_plain(const char *text, size_t len)
{
    if (len == 0)
        return true;
    for (size_t i = 0; i < len; i++) {
        if (strchr(",;\"\t\r\n", text[i]) != NULL)
            return false;
    }
    return text[0] != ' ' && text[len - 1] != ' ';
}

/* Bytes of a number that text[0..len) begins with: -3, 1.5 */
static size_t written_csv_digits(const char *text, size_t len)
{
    size_t i = len > 0 && *text == '-', digits = 0;
    bool point = false;

    for (; i < len; i++) {
        if (text[i] >= '0' && text[i] <= '9')
            digits++;
        else if (text[i] == '.' && !point && i + 1 < len && text[i + 1] != '.')
            point = true;
        else
            break;
    }
    return digits != 0 ? i : 0;
}

/* A number below 0, or a bin that begins with one: -3, -3..-1.5 */
static bool written_csv_negative(const char *text, size_t len)
{
    const size_t n = written_csv_digits(text, len);

    if (n == 0 || n == len)
        return n != 0;
    return len - n > 2 && memcmp(text + n, "..", 2) == 0 &&
           written_csv_digits(text + n + 2, len - n - 2) == len - n - 2;
}

/* Whether a spreadsheet would compute it: those of some languages take the wide
 * forms of the signs as well, and some skip blanks. */
static bool written_csv_formula(const char *text, size_t len)
{
    static const char *const signs[] = {"=",
                                        "+",
                                        "-",
                                        "@",
                                        "\t",
                                        "\r",
                                        "\n",
                                        "\xef\xbc\x9d",
                                        "\xef\xbc\x8b",
                                        "\xef\xbc\x8d",
                                        "\xef\xbc\xa0",
                                        "\xe2\x88\x92"};

    if (written_csv_negative(text, len))
        return false;
    for (; len > 0 && *text == ' '; len--)
        text++;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        const size_t n = strlen(signs[i]);

        if (len >= n && memcmp(text, signs[i], n) == 0)
            return true;
    }
    return false;
}

static size_t written_csv_piece(FILE *to, const char *text, size_t left)
{
    struct written_piece piece;
    size_t n;

    if (*text == '"')
        putc('"', to);
    if ((unsigned char)*text < 0x80) {
        putc(*text, to);
        return 1;
    }
    n = written_take(&piece, text, left);
    fwrite(piece.bytes, 1, piece.len, to);
    return n;
}

void written_csv(FILE *to, const char *text, size_t len)
{
    const bool formula = written_csv_formula(text, len);
    const bool quoted = formula || !written_csv_plain(text, len);

    if (quoted)
        putc('"', to);
    if (formula)
        putc('\'', to);
    for (size_t i = 0; i < len;)
        i += written_csv_piece(to, text + i, len - i);
    if (quoted)
        putc('"', to);
}

/* ---- JSON ---------------------------------------------------------------- */

/* A character by its number; two halves beyond the first 65536 [RFC 8259, 7].
 */
static void written_json_point(FILE *to, uint32_t c)
{
    if (c < 0x10000)
        fprintf(to, "\\u%04" PRIx32, c);
    else
        fprintf(to, "\\u%04" PRIx32 "\\u%04" PRIx32,
                0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
}

void written_json(FILE *to, const char *text, size_t len)
{
    putc('"', to);
    for (size_t i = 0, n; i < len; i += n) {
        const uint8_t *p = (const uint8_t *)text + i;
        uint32_t c;

        n = utf8_one(&c, p, len - i);
        if (n == 0) {
            fputs("\\ufffd", to);
            n = 1;
        } else if (*p == '"' || *p == '\\') {
            fprintf(to, "\\%c", *p);
        } else if (written_hidden(c)) {
            written_json_point(to, c);
        } else {
            fwrite(p, 1, n, to);
        }
    }
    putc('"', to);
}

void written_json_exact(FILE *to, const char *text, size_t len)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";

    putc('"', to);
    for (size_t i = 0; i < len; i++) {
        const char c = text[i], *at = c != '\0' ? strchr(escaped, c) : NULL;

        if (at != NULL)
            fprintf(to, "\\%c", letters[at - escaped]);
        else if ((unsigned char)c < 0x20)
            fprintf(to, "\\u%04X", (unsigned)c);
        else
            putc(c, to);
    }
    putc('"', to);
}

bool written_utf8(const char *text, size_t len)
{
    uint32_t c;
    size_t n = 1;

    for (size_t i = 0; i < len && n != 0; i += n)
        n = utf8_one(&c, (const uint8_t *)text + i, len - i);
    return n != 0;
}

void written_hex(FILE *to, const void *bytes, size_t n)
{
    char digits[3];

    for (size_t i = 0; i < n; i++) {
        hex_put(digits, (const uint8_t *)bytes + i, 1);
        fputs(digits, to);
    }
}
