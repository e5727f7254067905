/* delta.c - what a batch adds to a small tally, as bytes of a row. */
#include "server/cluster/delta.h"

#include "host/base/host_fail.h"

#include <stdlib.h>

/* ---- Writing ------------------------------------------------------------- */

static uint64_t delta_code(int64_t value)
{
    return value < 0 ? ~((uint64_t)value << 1) : (uint64_t)value << 1;
}

static size_t delta_number_size(uint64_t x)
{
    size_t n = 1;

    for (; x >= 0x80; x >>= 7)
        n++;
    return n;
}

uint8_t *delta_number(uint8_t *p, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        *p++ = (uint8_t)(x | 0x80);
    *p++ = (uint8_t)x;
    return p;
}

size_t delta_size(const int64_t *words, size_t n)
{
    size_t size = 0, next = 0;

    for (size_t i = 0; i < n; i++) {
        if (words[i] == 0)
            continue;
        size += delta_number_size(i - next) +
                delta_number_size(delta_code(words[i]));
        next = i + 1;
    }
    return size;
}

void delta_write(uint8_t *to, const int64_t *words, size_t n)
{
    size_t next = 0;

    for (size_t i = 0; i < n; i++) {
        if (words[i] == 0)
            continue;
        to = delta_number(to, i - next);
        to = delta_number(to, delta_code(words[i]));
        next = i + 1;
    }
}

bool delta_sum(struct fold_space *space, const struct roster_entry *is,
               uint8_t *bytes, size_t *len)
{
    const struct store_batch b = {
        .type = STORE_REPORTS, .bytes = bytes, .len = *len};
    size_t size = *len;
    int64_t *words;
    hsy_tally sum;
    hsy_error err;

    if (is->words > DELTA_WORDS || *len == 0)
        return false;
    words = calloc(is->words, sizeof *words);
    if (words == NULL)
        return false;
    hsy_tally_view(&sum, is->scheme, words);
    if (fold_batch(space, is, &sum, NULL, &b, &err) == HSY_OK)
        size = delta_size(words, is->words);
    if (size < *len)
        delta_write(bytes, words, is->words);
    free(words);
    if (size >= *len)
        return false;
    *len = size;
    return true;
}

/* ---- Reading ------------------------------------------------------------- */

struct delta_from {
    const uint8_t *p, *end;
    bool bad;
};

/* The next number, as it would be written; else 0, and all is bad. */
static uint64_t delta_take(struct delta_from *f)
{
    uint64_t x = 0;

    for (unsigned shift = 0; !f->bad && f->p != f->end; shift += 7) {
        const uint8_t byte = *f->p++;

        if (shift == 63 && byte > 1)
            break;
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (byte >= 0x80)
            continue;
        if (byte == 0 && shift != 0)
            break;
        return x;
    }
    f->bad = true;
    return 0;
}

hsy_status delta_add(int64_t *words, size_t n, const uint8_t *bytes, size_t len,
                     hsy_error *err)
{
    struct delta_from f = {.p = bytes, .end = bytes + len};

    while (f.p != f.end) {
        const uint64_t between = delta_take(&f), code = delta_take(&f);
        const int64_t more = (int64_t)(code >> 1) ^ -(int64_t)(code & 1);

        if (f.bad || more == 0 || between >= n)
            return host_fail(err, HSY_E_DAMAGED, HOST_FIELD_BATCH,
                             "no sum of reports has such bytes");
        words += between;
        n -= between + 1;
        if (__builtin_add_overflow(*words, more, words))
            return host_fail(err, HSY_E_OVERFLOW, HSY_FIELD_TALLY,
                             "a count would pass 2^63 - 1");
        words++;
    }
    return HSY_OK;
}
