/* written.c - numbers and texts as JSON and CSV. */
#include "written.h"

#include "utf8.h"

#include <string.h>

void written_number(char text[WRITTEN_NUMBER], double x)
{
    for (int digits = 15; digits <= 17; digits++) {
        double back;

        snprintf(text, WRITTEN_NUMBER, "%.*g", digits, x);
        if (sscanf(text, "%lf", &back) == 1 && back == x)
            return;
    }
}

/* ---- CSV ----------------------------------------------------------------- */

static bool written_csv_plain(const char *text, size_t len)
{
    if (len == 0)
        return true;
    for (size_t i = 0; i < len; i++) {
        if (strchr(",\"\r\n", text[i]) != NULL)
            return false;
    }
    return text[0] != ' ' && text[len - 1] != ' ';
}

void written_csv(FILE *to, const char *text, size_t len)
{
    if (written_csv_plain(text, len)) {
        fwrite(text, 1, len, to);
        return;
    }
    putc('"', to);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            putc('"', to);
        putc(text[i], to);
    }
    putc('"', to);
}

/* ---- JSON ---------------------------------------------------------------- */

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
        } else if (*p < 0x20 || *p == 0x7f) {
            fprintf(to, "\\u%04x", *p);
        } else {
            fwrite(p, 1, n, to);
        }
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

void written_json_hex(FILE *to, const char *name, const char *text, size_t len)
{
    fprintf(to, ", \"%s_hex\": \"", name);
    for (size_t i = 0; i < len; i++)
        fprintf(to, "%02x", (unsigned char)text[i]);
    putc('"', to);
}
