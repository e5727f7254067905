/* test_labels.c - lists of values: what a value may be, where each stands,
 * which stands there twice, and where "other" is. */
#define _GNU_SOURCE
#include "host/base/labels.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The place of a text, read from a buffer with room behind it. */
static uint32_t place(const struct labels *l, const char *text)
{
    uint8_t room[8192] = {0};

    memcpy(room, text, strlen(text));
    return labels_find(l, room, strlen(text));
}

static bool holds(const struct labels *l, uint32_t i, const char *want)
{
    size_t len;
    const char *text = labels_at(l, i, &len);

    return len == strlen(want) && memcmp(text, want, len) == 0;
}

static void values_have_rules(void)
{
    static const struct {
        const char *text;
        size_t len;
        const char *plain, *shown; /* why not; NULL: it is one */
    } rows[] = {
        {"a", 1, NULL, NULL},
        {"gr\xc3\xbc\xc3\x9f", 6, NULL, NULL},
        {"", 0, "empty", "empty"},
        {"\xff", 1, "not UTF-8", "not UTF-8"},
        {"\xc3", 1, "not UTF-8", "not UTF-8"},
        {"a\nb", 3, "line break", "control character"},
        {"a\rb", 3, "line break", "control character"},
        {"a\tb", 3, NULL, "control character"},
        {"a\x7f", 2, NULL, "control character"},
        {"a\0b", 3, NULL, "control character"},
        {"\xef\xbb\xbf"
         "a",
         4, NULL, "byte-order mark"},
        {"a\xef\xbb\xbf", 4, NULL, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned shown = 0; shown < 2; shown++) {
            const char *why = shown ? rows[i].shown : rows[i].plain;
            struct labels l = {.shown = shown};
            hsy_error err = {0};
            hsy_status st;

            labels_add(&l, "first", 5, NULL);
            st = labels_add(&l, rows[i].text, rows[i].len, &err);
            ok(why == NULL ? st == HSY_OK && l.d == 2
                           : st == HSY_E_RANGE && err.at == 2 && l.d == 1 &&
                                 strstr(err.msg, why) != NULL,
               "value %zu, %s: %s", i, shown ? "shown" : "plain",
               why != NULL ? err.msg : "taken");
            labels_clear(&l);
        }
}

static void long_values(void)
{
    char *text = malloc(HSY_LABEL_MAX + 1);
    struct labels l = {0};

    memset(text, 'x', HSY_LABEL_MAX + 1);
    ok(labels_add(&l, text, HSY_LABEL_MAX, NULL) == HSY_OK &&
           labels_add(&l, text, HSY_LABEL_MAX + 1, NULL) == HSY_E_RANGE,
       "a value has a longest length");
    labels_clear(&l);
    free(text);
}

/* Many that share their ends: the hash must look at their middle. */
static void every_value_is_found(void)
{
    struct labels l = {0};
    hsy_error err = {0};
    char text[64];
    size_t found = 0;

    for (unsigned i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "beginning-%05u-the-end", i);
        labels_add(&l, text, strlen(text), &err);
    }
    ok(labels_index(&l, &err) == HSY_OK && l.d == 5000 && l.deep,
       "five thousand with the same ends");
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "beginning-%05u-the-end", i);
        found += place(&l, text) == i && holds(&l, i, text);
    }
    ok(found == 5000 && place(&l, "beginning-05000-the-end") == 5000 &&
           place(&l, "") == 5000,
       "each has its place, another has none");
    labels_clear(&l);
}

static void doubles_are_named(void)
{
    static const char *const texts[] = {"c", "b", "a", "b", "a"};
    struct labels l = {0};
    hsy_error err = {0};

    for (size_t i = 0; i < 5; i++)
        labels_add(&l, texts[i], 1, &err);
    ok(labels_index(&l, &err) == HSY_E_RANGE && err.at == 4 &&
           place(&l, "b") == 1,
       "the first that stands there twice, and where it stood before");
    labels_clear(&l);
}

static void other_is_there(void)
{
    struct labels l = {0};
    uint32_t at = 9;

    labels_add(&l, "x", 1, NULL);
    labels_index(&l, NULL);
    ok(labels_other(&l, &at, NULL) == HSY_OK && at == 1 && l.d == 2 &&
           holds(&l, 1, "other") && place(&l, "other") == 1 &&
           place(&l, "x") == 0,
       "at the end if the list had none");
    ok(labels_other(&l, &at, NULL) == HSY_OK && at == 1 && l.d == 2,
       "else where it is");
    labels_clear(&l);
}

static void blocks_and_files(void)
{
    static const uint8_t block[] = "\1\0\0\0a\2\0\0\0b\n";
    struct labels l = {0}, file = {0};
    hsy_error err = {0};
    int ends[2];

    ok(labels_take(&l, block, sizeof block - 1, &err) == HSY_OK && l.d == 2 &&
           holds(&l, 1, "b\n") && l.len == sizeof block - 1 &&
           memcmp(l.block, block, l.len) == 0,
       "a block is taken as it is");
    ok(labels_take(&l, block, sizeof block - 2, &err) == HSY_E_FORMAT,
       "unless it is cut short");
    labels_clear(&l);
    if (pipe(ends) == -1 || write(ends[1], "x\r\ny\nother", 10) != 10)
        return;
    close(ends[1]);
    ok(labels_read(&file, ends[0], &err) == HSY_OK && file.d == 3 &&
           holds(&file, 0, "x") && place(&file, "y") == 1,
       "a file has one a line, however it ends");
    labels_clear(&file);
    ok(labels_read(&file, ends[0], &err) == HSY_E_EMPTY, "or none");
    close(ends[0]);
    labels_clear(&file);
}

int main(void)
{
    values_have_rules();
    long_values();
    every_value_is_found();
    doubles_are_named();
    other_is_there();
    blocks_and_files();
    return tap_done();
}
