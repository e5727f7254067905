/*
 * fuzz_values.c - a file with a list of values: what is accepted holds the
 * lines as they are, and each value is found at its place.
 */
#define _GNU_SOURCE

#include "fuzz_cli.h"

/* The next line of text[*at..len), without its end; *at moves on. */
static size_t values_line(const uint8_t *text, size_t len, size_t *at)
{
    const uint8_t *from = text + *at;
    const uint8_t *newline = memchr(from, '\n', len - *at);
    size_t size = newline == NULL ? len - *at : (size_t)(newline - from);

    *at += size + (newline != NULL);
    return size - (size > 0 && from[size - 1] == '\r');
}

static void values_are_the_lines(const struct labels *l, const uint8_t *data,
                                 size_t len)
{
    uint32_t i = 0;

    for (size_t at = 0, own_len; at < len; i++) {
        const uint8_t *line = data + at;
        size_t line_len = values_line(data, len, &at);
        const char *own = i < l->d ? labels_at(l, i, &own_len) : NULL;

        fuzz_expect(own != NULL && own_len == line_len &&
                        memcmp(own, line, own_len) == 0,
                    "a value is its line");
    }
    fuzz_expect(i == l->d && l->d != 0, "there are as many values as lines");
}

/* Where a linear search finds text, or d. */
static uint32_t values_search(const struct labels *l, const uint8_t *text,
                              size_t len)
{
    for (uint32_t i = 0; i < l->d; i++) {
        size_t own_len;
        const char *own = labels_at(l, i, &own_len);

        if (own_len == len && memcmp(own, text, len) == 0)
            return i;
    }
    return l->d;
}

/* Each value, and each with a bit changed, is found where it is. */
static void values_are_found(const struct labels *l)
{
    uint8_t text[HSY_LABEL_MAX + 8] = {0};

    for (uint32_t i = 0; i < l->d && i < 64; i++) {
        size_t len;
        const char *own = labels_at(l, i, &len);

        memcpy(text, own, len);
        fuzz_expect(labels_find(l, text, len) == i,
                    "a value is found at its place");
        text[i % len] ^= 1;
        fuzz_expect(labels_find(l, text, len) == values_search(l, text, len),
                    "another is found where it is, or not");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct labels labels = {0};
    struct fuzz_said said;
    char path[32];
    int failed;

    snprintf(path, sizeof path, "/dev/fd/%d", fuzz_fd(data, len));
    fuzz_listen(&said);
    failed = cli_labels_read(&labels, path);
    fuzz_understand(&said, failed);
    fuzz_expect(failed != CLI_USAGE, "a file is no matter of usage");
    if (!failed) {
        values_are_the_lines(&labels, data, len);
        values_are_found(&labels);
    }
    labels_clear(&labels);
    return 0;
}
