/* manual.c - which keys a manual page of section 5 lists. */
#include "rig/manual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *manual_read(const char *name)
{
    char path[256];
    size_t len = 0, room = 1u << 20;
    char *page = malloc(room);
    FILE *f;

    snprintf(path, sizeof path, "docs/man/%s", name);
    f = fopen(path, "r");
    if (f != NULL && page != NULL)
        len = fread(page, 1, room - 1, f);
    if (f != NULL)
        fclose(f);
    if (len == 0) {
        free(page);
        return NULL;
    }
    page[len] = '\0';
    return page;
}

/* The section's lines: from its heading to the next. */
static const char *manual_section(const char *page, const char *section,
                                  const char **end)
{
    char heading[64];
    const char *at;

    snprintf(heading, sizeof heading, "\n.Sh %s\n", section);
    at = strstr(page, heading);
    if (at == NULL)
        return NULL;
    at += strlen(heading);
    *end = strstr(at, "\n.Sh ");
    if (*end == NULL)
        *end = at + strlen(at);
    return at;
}

/* Where the keys of a line begin; NULL: it names none. SET is a plain list. */
static const char *manual_names(const char *line, const char *section)
{
    if (strncmp(line, ".It Cm ", 7) == 0)
        return line + 7;
    return strcmp(section, "SET") == 0 && strncmp(line, ".Cm ", 4) == 0
               ? line + 4
               : NULL;
}

/* The next word of a line that is a key; its length in *len, 0 at the end. */
static const char *manual_word(const char *at, size_t *len)
{
    at += strspn(at, " ,.");
    *len = strcspn(at, " ,\n");
    return at;
}

const char *manual_item(const char *page, const char *section, const char *key,
                        size_t *len)
{
    const char *end = NULL, *line = manual_section(page, section, &end);

    for (; line != NULL && line < end; line = strchr(line, '\n') + 1) {
        const char *word = manual_names(line, section);
        size_t n = 0;

        if (word == NULL)
            continue;
        for (word = manual_word(word, &n); n != 0;
             word = manual_word(word + n, &n)) {
            const char *text = strchr(word, '\n') + 1, *next = end, *item;

            if (n != strlen(key) || memcmp(word, key, n) != 0)
                continue;
            item = strstr(text, "\n.It ");
            if (item != NULL && item < next)
                next = item;
            *len = (size_t)(next - text);
            return text;
        }
    }
    return NULL;
}

size_t manual_keys(const char *page, const char *section)
{
    const char *end = NULL, *line = manual_section(page, section, &end);
    size_t keys = 0;

    for (; line != NULL && line < end; line = strchr(line, '\n') + 1) {
        const char *word = manual_names(line, section);
        size_t n = 0;

        if (word == NULL)
            continue;
        for (word = manual_word(word, &n); n != 0;
             word = manual_word(word + n, &n))
            keys++;
    }
    return keys;
}
