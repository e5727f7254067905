/* bhttp_write.c - binary HTTP written [RFC 9292], in the known-length form. */
#include "host/seal/bhttp.h"

#include "host/seal/bhttp_texts.h"

#include <string.h>

#define BHTTP_KNOWN_REQUEST 0u
#define BHTTP_KNOWN_RESPONSE 1u
#define BHTTP_INTEGER_MAX (1u << 30) /* what an integer of four bytes holds */

/* What does not fit is not written; st remembers it. */
struct bhttp_pen {
    uint8_t *out;
    size_t room, len;
    hsy_status st;
};

static void bhttp_put(struct bhttp_pen *p, const void *bytes, size_t len)
{
    if (p->st == HSY_OK && len > p->room - p->len)
        p->st = HSY_E_FULL;
    if (p->st != HSY_OK || len == 0)
        return;
    memcpy(p->out + p->len, bytes, len);
    p->len += len;
}

/* In as few bytes as hold it; lengths are below BHTTP_INTEGER_MAX. */
static size_t bhttp_integer_bytes(size_t value)
{
    return value < 1u << 6 ? 1 : value < 1u << 14 ? 2 : 4;
}

static void bhttp_put_integer(struct bhttp_pen *p, size_t value)
{
    static const uint8_t marks[] = {0, 0x00, 0x40, 0, 0x80};
    size_t len = bhttp_integer_bytes(value);
    uint8_t bytes[4];

    if (value >= BHTTP_INTEGER_MAX) {
        p->st = HSY_E_RANGE;
        return;
    }
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(value >> 8 * (len - 1 - i));
    bytes[0] |= marks[len];
    bhttp_put(p, bytes, len);
}

static void bhttp_put_text(struct bhttp_pen *p, struct bhttp_text t, bool legal)
{
    if (!legal)
        p->st = HSY_E_RANGE;
    bhttp_put_integer(p, t.len);
    bhttp_put(p, t.at, t.len);
}

static void bhttp_put_word(struct bhttp_pen *p, struct bhttp_text t)
{
    bhttp_put_text(p, t, bhttp_is_word(t));
}

static size_t bhttp_text_bytes(struct bhttp_text t)
{
    return t.len < BHTTP_INTEGER_MAX ? bhttp_integer_bytes(t.len) + t.len
                                     : BHTTP_INTEGER_MAX;
}

static void bhttp_put_fields(struct bhttp_pen *p,
                             const struct bhttp_field *fields, size_t n)
{
    size_t len = 0;

    if (n > BHTTP_FIELDS) {
        p->st = HSY_E_RANGE;
        return;
    }
    for (size_t i = 0; i < n; i++)
        len += bhttp_text_bytes(fields[i].name) +
               bhttp_text_bytes(fields[i].value);
    bhttp_put_integer(p, len);
    for (size_t i = 0; i < n; i++) {
        bhttp_put_text(p, fields[i].name, bhttp_is_name(fields[i].name));
        bhttp_put_text(p, fields[i].value, bhttp_is_value(fields[i].value));
    }
}

/* Content, an empty trailer, zeros. */
static hsy_status bhttp_finish(struct bhttp_pen *p, const uint8_t *content,
                               size_t content_len, size_t size, size_t *len)
{
    bhttp_put_integer(p, content_len);
    bhttp_put(p, content, content_len);
    bhttp_put_integer(p, 0);
    if (p->st != HSY_OK)
        return p->st;
    if (p->len < size) {
        memset(p->out + p->len, 0, size - p->len);
        p->len = size;
    }
    *len = p->len;
    return HSY_OK;
}

static struct bhttp_pen bhttp_pen(uint8_t *out, size_t room, size_t size)
{
    return (struct bhttp_pen){.out = out,
                              .room = size == 0 ? room : size,
                              .st = size > room ? HSY_E_FULL : HSY_OK};
}

hsy_status bhttp_request_encode(uint8_t *out, size_t room, size_t *len,
                                const struct bhttp_request *r, size_t size)
{
    struct bhttp_pen p = bhttp_pen(out, room, size);

    if (r->method.len == 0)
        return HSY_E_RANGE;
    bhttp_put_integer(&p, BHTTP_KNOWN_REQUEST);
    bhttp_put_word(&p, r->method);
    bhttp_put_word(&p, r->scheme);
    bhttp_put_word(&p, r->authority);
    bhttp_put_word(&p, r->path);
    bhttp_put_fields(&p, r->fields, r->n_fields);
    return bhttp_finish(&p, r->content, r->content_len, size, len);
}

hsy_status bhttp_response_encode(uint8_t *out, size_t room, size_t *len,
                                 const struct bhttp_response *r, size_t size)
{
    struct bhttp_pen p = bhttp_pen(out, room, size);

    if (!bhttp_is_status(r->status))
        return HSY_E_RANGE;
    bhttp_put_integer(&p, BHTTP_KNOWN_RESPONSE);
    bhttp_put_integer(&p, r->status);
    bhttp_put_fields(&p, r->fields, r->n_fields);
    return bhttp_finish(&p, r->content, r->content_len, size, len);
}
