/*
 * labels.c - the values of a list, and a fast way from a value to its
 * place.
 *
 * Open addressing with a tag beside each place. The hash is a 128-bit product
 * of the value's first and last eight bytes and its length under a random key;
 * if too many values share those, all their bytes are hashed instead.
 */
#include "cli/base/base.h"

#include <stdlib.h>
#include <string.h>

struct labels_slot {
    uint32_t tag;
    uint32_t place; /* LABELS_FREE: none */
};

#define LABELS_FREE UINT32_MAX
#define LABELS_SPARE 8u /* readable bytes after the block */
/* Probes after which the shallow hash is given up. */
#define LABELS_CROWD 128u

static hsy_status labels_fail(hsy_error *err, hsy_status status,
                              const char *msg, uint64_t line)
{
    if (err != NULL)
        *err = (hsy_error){.status = status, .msg = msg, .line = line};
    return status;
}

/* ---- Hashing ------------------------------------------------------------- */

struct labels_ends {
    uint64_t first, last;
};

static uint64_t labels_load(const uint8_t *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return x;
}

/* The first and last eight bytes; a shorter text is padded with zeros. Reads
 * eight bytes from text on, whatever len is. */
static struct labels_ends labels_ends(const uint8_t *text, size_t len)
{
    struct labels_ends e;

    e.first = labels_load(text);
    if (len >= 8) {
        e.last = labels_load(text + len - 8);
        return e;
    }
    e.last = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    e.first &= ((uint64_t)1 << (8 * len)) - 1;
#else
    e.first = len == 0 ? 0 : e.first >> (64 - 8 * len);
#endif
    return e;
}

__extension__ typedef unsigned __int128 labels_wide;

static uint64_t labels_mix(uint64_t a, uint64_t b)
{
    labels_wide product = (labels_wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t labels_hash(const struct labels *l, const uint8_t *text,
                            size_t len, struct labels_ends e)
{
    uint64_t h = labels_mix(e.first ^ l->key[0], e.last ^ l->key[1] ^ len);

    if (l->deep) {
        for (size_t i = 8; i + 8 < len; i += 8)
            h = labels_mix(labels_load(text + i) ^ l->key[0], h ^ l->key[1]);
    }
    return h;
}

static const uint8_t *labels_text(const struct labels *l, uint32_t i,
                                  size_t *len)
{
    const uint8_t *text = l->block + l->starts[i];

    *len = (size_t)text[-4] | (size_t)text[-3] << 8 | (size_t)text[-2] << 16 |
           (size_t)text[-1] << 24;
    return text;
}

static bool labels_equal(const struct labels *l, uint32_t i,
                         const uint8_t *text, size_t len, struct labels_ends e)
{
    size_t own_len;
    const uint8_t *own = labels_text(l, i, &own_len);
    struct labels_ends o;

    if (own_len != len)
        return false;
    o = labels_ends(own, len);
    if (o.first != e.first || o.last != e.last)
        return false;
    return len <= 16 || memcmp(own + 8, text + 8, len - 16) == 0;
}

uint32_t labels_find(const struct labels *l, const uint8_t *text, size_t len)
{
    struct labels_ends e = labels_ends(text, len);
    uint64_t h = labels_hash(l, text, len, e);
    uint32_t tag = (uint32_t)(h >> 32);

    for (uint32_t i = (uint32_t)h & l->mask;; i = (i + 1) & l->mask) {
        const struct labels_slot *slot = &l->slots[i];

        if (slot->place == LABELS_FREE)
            return l->d;
        if (slot->tag == tag && labels_equal(l, slot->place, text, len, e))
            return slot->place;
    }
}

/* ---- Building ------------------------------------------------------------ */

/* Room for `more` bytes and one more start. */
static bool labels_grow(struct labels *l, size_t more)
{
    if (l->len + more + LABELS_SPARE > l->room) {
        size_t room = 2 * l->room + more + 4096;
        uint8_t *block = realloc(l->block, room);

        if (block == NULL)
            return false;
        l->block = block;
        l->room = room;
    }
    if (l->d == l->starts_room) {
        size_t room = 2 * l->starts_room + 64;
        uint32_t *starts = realloc(l->starts, room * sizeof *starts);

        if (starts == NULL)
            return false;
        l->starts = starts;
        l->starts_room = room;
    }
    return true;
}

size_t cli_utf8_one(const uint8_t *p, size_t left)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xc0 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf8 ? 4
                             : 0;
    uint32_t c;

    if (n <= 1 || n > left)
        return n <= left ? n : 0;
    c = p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    return n;
}

static const char *labels_wrong(const uint8_t *text, size_t len)
{
    if (len == 0)
        return "a value may not be empty";
    if (len > HSY_LABEL_MAX)
        return "a value is longer than 4096 bytes";
    for (size_t i = 0, n; i < len; i += n) {
        n = cli_utf8_one(text + i, len - i);
        if (n == 0)
            return "a value is not UTF-8";
        if (text[i] == '\n' || text[i] == '\r')
            return "a value may not hold a line break";
    }
    return NULL;
}

/* Whatever the text is. */
static hsy_status labels_append(struct labels *l, const void *text, size_t len,
                                hsy_error *err)
{
    uint64_t place = (uint64_t)l->d + 1;

    if (l->d >= HSY_VALUES_MAX)
        return labels_fail(err, HSY_E_RANGE,
                           "there are more than 4194304 values", place);
    if (l->len + 4 + len > HSY_LABELS_MAX)
        return labels_fail(err, HSY_E_RANGE,
                           "all values together are longer than 64 MiB", place);
    if (!labels_grow(l, len + 4))
        return labels_fail(err, HSY_E_NOMEM, "out of memory", 0);
    for (size_t i = 0; i < 4; i++)
        l->block[l->len + i] = (uint8_t)(len >> (8 * i));
    memcpy(l->block + l->len + 4, text, len);
    l->starts[l->d++] = (uint32_t)(l->len + 4);
    l->len += 4 + len;
    memset(l->block + l->len, 0, LABELS_SPARE);
    return HSY_OK;
}

hsy_status labels_add(struct labels *l, const void *text, size_t len,
                      hsy_error *err)
{
    const char *wrong = labels_wrong(text, len);

    if (wrong != NULL)
        return labels_fail(err, HSY_E_RANGE, wrong, (uint64_t)l->d + 1);
    return labels_append(l, text, len, err);
}

hsy_status labels_take(struct labels *l, const uint8_t *block, size_t len,
                       hsy_error *err)
{
    size_t at = 0;

    while (at < len) {
        size_t n = 0;
        hsy_status st;

        for (size_t i = 0; i < 4 && len - at >= 4; i++)
            n |= (size_t)block[at + i] << (8 * i);
        if (len - at < 4 || n > len - at - 4)
            return labels_fail(err, HSY_E_FORMAT, "the labels are cut short",
                               0);
        st = labels_append(l, block + at + 4, n, err);
        if (st != HSY_OK)
            return st;
        at += 4 + n;
    }
    return HSY_OK;
}

enum labels_outcome { LABELS_GOOD, LABELS_TWICE, LABELS_CROWDED };

static enum labels_outcome labels_insert(struct labels *l, uint32_t place)
{
    size_t len;
    const uint8_t *text = labels_text(l, place, &len);
    struct labels_ends e = labels_ends(text, len);
    uint64_t h = labels_hash(l, text, len, e);
    uint32_t tag = (uint32_t)(h >> 32), i = (uint32_t)h & l->mask;
    uint32_t probes = 0;

    while (l->slots[i].place != LABELS_FREE) {
        const struct labels_slot *slot = &l->slots[i];

        if (slot->tag == tag && labels_equal(l, slot->place, text, len, e))
            return LABELS_TWICE;
        if (++probes > LABELS_CROWD && !l->deep)
            return LABELS_CROWDED;
        i = (i + 1) & l->mask;
    }
    l->slots[i] = (struct labels_slot){.tag = tag, .place = place};
    return LABELS_GOOD;
}

static hsy_status labels_fill(struct labels *l, hsy_error *err)
{
    for (uint32_t i = 0; i <= l->mask; i++)
        l->slots[i].place = LABELS_FREE;
    for (uint32_t i = 0; i < l->d; i++) {
        switch (labels_insert(l, i)) {
        case LABELS_GOOD:
            break;
        case LABELS_TWICE:
            return labels_fail(err, HSY_E_RANGE, "a value stands there twice",
                               (uint64_t)i + 1);
        case LABELS_CROWDED:
            l->deep = true;
            return labels_fill(l, err);
        }
    }
    return HSY_OK;
}

static hsy_status labels_draw_key(struct labels *l)
{
    hsy_entropy entropy;
    hsy_coins coins;
    hsy_status st;

    hsy_entropy_init(&entropy);
    coins = hsy_entropy_coins(&entropy);
    st = coins.published.fill(coins.published.ctx, l->key, sizeof l->key);
    hsy_entropy_clear(&entropy);
    return st;
}

hsy_status labels_index(struct labels *l, hsy_error *err)
{
    size_t slots = 8;

    while (slots < 2 * (size_t)l->d)
        slots *= 2;
    free(l->slots);
    l->slots = malloc(slots * sizeof *l->slots);
    if (l->slots == NULL)
        return labels_fail(err, HSY_E_NOMEM, "out of memory", 0);
    l->mask = (uint32_t)(slots - 1);
    if (labels_draw_key(l) != HSY_OK)
        return labels_fail(err, HSY_E_ENTROPY, "the random source failed", 0);
    return labels_fill(l, err);
}

const char *labels_at(const struct labels *l, uint32_t i, size_t *len)
{
    return (const char *)labels_text(l, i, len);
}

void labels_clear(struct labels *l)
{
    free(l->block);
    free(l->starts);
    free(l->slots);
    *l = (struct labels){0};
}

/* ---- A list from a file -------------------------------------------------- */

static int labels_read_lines(struct labels *l, struct lines *r,
                             const char *name)
{
    struct line lines[256];
    hsy_error err = {0};
    size_t n = 0;

    for (;;) {
        hsy_status st = lines_next(r, lines, 256, &n, &err);

        for (size_t i = 0; st == HSY_OK && i < n; i++)
            st = labels_add(l, lines[i].text, lines[i].len, &err);
        if (st == HSY_E_NOMEM)
            return cli_fail_nomem();
        if (st != HSY_OK)
            return cli_fail_line(name, &err);
        if (n == 0)
            return 0;
    }
}

int cli_labels_read(struct labels *l, const char *path)
{
    const char *name = cli_input_name(path);
    struct lines lines;
    hsy_error err = {0};
    int fd = cli_open_input(path);
    int failed;

    if (fd == -1)
        return CLI_FAILED;
    if (lines_open(&lines, fd) != HSY_OK) {
        cli_close_input(fd);
        return cli_fail_nomem();
    }
    failed = labels_read_lines(l, &lines, name);
    lines_close(&lines);
    cli_close_input(fd);
    if (failed)
        return failed;
    if (l->d == 0)
        return cli_fail("%s: holds no values; write one a line", name);
    if (labels_index(l, &err) != HSY_OK)
        return cli_fail_line(name, &err);
    return 0;
}
