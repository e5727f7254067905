/*
 * labels.c - the values of a list, and a fast way from a value to its
 * place.
 *
 * Open addressing with a tag beside each place. The hash is a 128-bit product
 * of the value's first and last eight bytes and its length under a random key;
 * if too many values share those, all their bytes are hashed instead.
 */
#include "host/base/labels.h"
#include "host/base/grow.h"

#include "host/base/lines.h"
#include "host/base/owned.h"
#include "lib/bits/bytes.h"
#include "lib/bits/u128.h"
#include "lib/bits/utf8.h"

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

static uint64_t labels_mix(uint64_t a, uint64_t b)
{
    hsy_u128 product = (hsy_u128)a * b;

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

    *len = bytes_get32(text - 4);
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
    return grow_room(&l->block, &l->room, l->len + more + LABELS_SPARE, 1) &&
           grow_room(&l->starts, &l->starts_room, (size_t)l->d + 1,
                     sizeof *l->starts);
}

static const char *labels_wrong(const uint8_t *text, size_t len, bool shown)
{
    uint32_t c;

    if (len == 0)
        return "a value is empty";
    if (len > HSY_LABEL_MAX)
        return "a value is longer than 4096 bytes";
    for (size_t i = 0, n; i < len; i += n) {
        n = utf8_one(&c, text + i, len - i);
        if (n == 0)
            return "a value is not UTF-8";
        if (shown && i == 0 && c == 0xfeff)
            return "a value begins with a byte-order mark";
        if (shown && (c < 0x20 || c == 0x7f))
            return "a value holds a control character";
        if (c == '\n' || c == '\r')
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
        return host_fail_at(err, HSY_E_RANGE, HSY_FIELD_NONE,
                            "there are more than 4194304 values",
                            HSY_UNIT_VALUE, place);
    if (l->len + 4 + len > HSY_LABELS_MAX)
        return host_fail_at(err, HSY_E_RANGE, HSY_FIELD_NONE,
                            "all values together are longer than 64 MiB",
                            HSY_UNIT_VALUE, place);
    if (!labels_grow(l, len + 4))
        return host_nomem(err);
    bytes_put32(l->block + l->len, (uint32_t)len);
    memcpy(l->block + l->len + 4, text, len);
    l->starts[l->d++] = (uint32_t)(l->len + 4);
    l->len += 4 + len;
    memset(l->block + l->len, 0, LABELS_SPARE);
    return HSY_OK;
}

hsy_status labels_add(struct labels *l, const void *text, size_t len,
                      hsy_error *err)
{
    const char *wrong = labels_wrong(text, len, l->shown);

    if (wrong != NULL)
        return host_fail_at(err, HSY_E_RANGE, HSY_FIELD_NONE, wrong,
                            HSY_UNIT_VALUE, (uint64_t)l->d + 1);
    return labels_append(l, text, len, err);
}

hsy_status labels_take(struct labels *l, const uint8_t *block, size_t len,
                       hsy_error *err)
{
    size_t at = 0;

    while (at < len) {
        size_t n = len - at >= 4 ? bytes_get32(block + at) : len;
        hsy_status st;

        if (len - at < 4 || n > len - at - 4)
            return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                             "the labels are cut short");
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
            return host_fail_at(err, HSY_E_RANGE, HSY_FIELD_NONE,
                                "the value is given twice", HSY_UNIT_VALUE,
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
        return host_nomem(err);
    l->mask = (uint32_t)(slots - 1);
    if (labels_draw_key(l) != HSY_OK)
        return host_fail(err, HSY_E_ENTROPY, HSY_FIELD_NONE,
                         "the random source failed");
    return labels_fill(l, err);
}

hsy_status labels_other(struct labels *l, uint32_t *place, hsy_error *err)
{
    static const uint8_t other[5 + LABELS_SPARE] = "other";
    hsy_status st;

    *place = labels_find(l, other, 5);
    if (*place < l->d)
        return HSY_OK;
    st = labels_add(l, other, 5, err);
    return st == HSY_OK ? labels_index(l, err) : st;
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

static hsy_status labels_line(void *ctx, const struct line *line,
                              uint64_t number, hsy_error *err)
{
    (void)number; /* the line is the place */
    return labels_add(ctx, line->text, line->len, err);
}

hsy_status labels_read(struct labels *l, int fd, hsy_error *err)
{
    hsy_status st = lines_each(fd, false, labels_line, l, err);

    if (st != HSY_OK)
        return st;
    if (l->d == 0)
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_NONE,
                         "holds no values; write one a line");
    return labels_index(l, err);
}
