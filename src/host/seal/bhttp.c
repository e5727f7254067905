/* bhttp.c - binary HTTP read [RFC 9292]. Its texts are what HTTP allows. */
#include "host/seal/bhttp.h"

#include "host/seal/bhttp_texts.h"

#include <string.h>

/* Framing indicators, section 3.3; the next bit is set in the other form. */
#define BHTTP_RESPONSE 1u
#define BHTTP_INDETERMINATE 2u

struct bhttp_cursor {
    uint8_t *at;
    size_t left;
};

struct bhttp_text bhttp_text(const char *string)
{
    return (struct bhttp_text){string, strlen(string)};
}

bool bhttp_is(struct bhttp_text text, const char *string)
{
    return text.len == strlen(string) &&
           (text.len == 0 || memcmp(text.at, string, text.len) == 0);
}

const struct bhttp_text *bhttp_field(const struct bhttp_field *fields, size_t n,
                                     const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (bhttp_is(fields[i].name, name))
            return &fields[i].value;
    }
    return NULL;
}

/* ---- Integers and strings ------------------------------------------------ */

/* A variable-length integer [RFC 9000, section 16]; it may be longer than it
 * need be. */
static bool bhttp_integer(struct bhttp_cursor *c, uint64_t *value)
{
    size_t len;

    if (c->left == 0)
        return false;
    len = (size_t)1 << (c->at[0] >> 6);
    if (len > c->left)
        return false;
    *value = c->at[0] & 0x3fu;
    for (size_t i = 1; i < len; i++)
        *value = *value << 8 | c->at[i];
    c->at += len;
    c->left -= len;
    return true;
}

/* The next bytes as a cursor of their own. */
static bool bhttp_take(struct bhttp_cursor *c, struct bhttp_cursor *part,
                       uint64_t len)
{
    if (len > c->left)
        return false;
    *part = (struct bhttp_cursor){c->at, (size_t)len};
    c->at += len;
    c->left -= (size_t)len;
    return true;
}

static bool bhttp_counted(struct bhttp_cursor *c, struct bhttp_cursor *part)
{
    uint64_t len;

    return bhttp_integer(c, &len) && bhttp_take(c, part, len);
}

static struct bhttp_text bhttp_view(const struct bhttp_cursor *part)
{
    return (struct bhttp_text){(const char *)part->at, part->left};
}

static bool bhttp_word(struct bhttp_cursor *c, struct bhttp_text *word)
{
    struct bhttp_cursor part;

    if (!bhttp_counted(c, &part))
        return false;
    *word = bhttp_view(&part);
    return bhttp_is_word(*word);
}

/* ---- Fields -------------------------------------------------------------- */

/* Where fields go: none where they are passed over. */
struct bhttp_fields {
    struct bhttp_field *fields;
    size_t *n;
};

/* The rest of a field whose name has len bytes. */
static hsy_status bhttp_one_field(struct bhttp_cursor *c, uint64_t len,
                                  const struct bhttp_fields *to)
{
    struct bhttp_cursor name, value;
    struct bhttp_field f;

    if (!bhttp_take(c, &name, len) || !bhttp_counted(c, &value))
        return HSY_E_FORMAT;
    f = (struct bhttp_field){bhttp_view(&name), bhttp_view(&value)};
    if (!bhttp_is_name(f.name) || !bhttp_is_value(f.value))
        return HSY_E_FORMAT;
    if (to == NULL)
        return HSY_OK;
    if (*to->n == BHTTP_FIELDS)
        return HSY_E_FULL;
    to->fields[(*to->n)++] = f;
    return HSY_OK;
}

/* Fields to the end of a section: where it has a length that of the cursor,
 * else a name of no bytes. */
static hsy_status bhttp_each_field(struct bhttp_cursor *c, bool ended,
                                   const struct bhttp_fields *to)
{
    hsy_status st = HSY_OK;
    uint64_t len;

    while (st == HSY_OK && c->left != 0) {
        if (!bhttp_integer(c, &len))
            return HSY_E_FORMAT;
        if (len == 0 && ended)
            return HSY_OK;
        st = bhttp_one_field(c, len, to);
    }
    return st == HSY_OK && ended ? HSY_E_FORMAT : st;
}

/* A section that was left out is empty, section 3.8. */
static hsy_status bhttp_section(struct bhttp_cursor *c, unsigned framing,
                                const struct bhttp_fields *to)
{
    struct bhttp_cursor part;

    if (c->left == 0)
        return HSY_OK;
    if ((framing & BHTTP_INDETERMINATE) != 0)
        return bhttp_each_field(c, true, to);
    if (!bhttp_counted(c, &part))
        return HSY_E_FORMAT;
    return bhttp_each_field(&part, false, to);
}

/* ---- Content ------------------------------------------------------------- */

/* Pieces to the one of no bytes, moved together. */
static hsy_status bhttp_pieces(struct bhttp_cursor *c,
                               struct bhttp_cursor *content)
{
    struct bhttp_cursor piece;

    *content = (struct bhttp_cursor){c->at, 0};
    while (bhttp_counted(c, &piece)) {
        if (piece.left == 0)
            return HSY_OK;
        memmove(content->at + content->left, piece.at, piece.left);
        content->left += piece.left;
    }
    return HSY_E_FORMAT;
}

static hsy_status bhttp_content(struct bhttp_cursor *c, unsigned framing,
                                struct bhttp_cursor *content)
{
    *content = (struct bhttp_cursor){c->at, 0};
    if (c->left == 0)
        return HSY_OK;
    if ((framing & BHTTP_INDETERMINATE) != 0)
        return bhttp_pieces(c, content);
    return bhttp_counted(c, content) ? HSY_OK : HSY_E_FORMAT;
}

/* All that follows the control data: header, content, trailer, padding. */
static hsy_status bhttp_rest(struct bhttp_cursor *c, unsigned framing,
                             const struct bhttp_fields *to,
                             struct bhttp_cursor *content)
{
    hsy_status st = bhttp_section(c, framing, to);

    if (st == HSY_OK)
        st = bhttp_content(c, framing, content);
    if (st == HSY_OK)
        st = bhttp_section(c, framing, NULL);
    for (size_t i = 0; st == HSY_OK && i < c->left; i++)
        st = c->at[i] == 0 ? HSY_OK : HSY_E_FORMAT;
    return st;
}

/* ---- Messages ------------------------------------------------------------ */

static hsy_status bhttp_framing(struct bhttp_cursor *c, unsigned direction,
                                unsigned *framing)
{
    uint64_t value;

    if (!bhttp_integer(c, &value))
        return HSY_E_FORMAT;
    if (value > (BHTTP_RESPONSE | BHTTP_INDETERMINATE) ||
        (value & BHTTP_RESPONSE) != direction)
        return HSY_E_UNKNOWN;
    *framing = (unsigned)value;
    return HSY_OK;
}

hsy_status bhttp_request_decode(struct bhttp_request *r, uint8_t *bytes,
                                size_t len)
{
    struct bhttp_cursor c = {bytes, len}, content;
    struct bhttp_request q = {.n_fields = 0};
    const struct bhttp_fields to = {q.fields, &q.n_fields};
    unsigned framing;
    hsy_status st = bhttp_framing(&c, 0, &framing);

    if (st != HSY_OK)
        return st;
    if (!bhttp_word(&c, &q.method) || !bhttp_word(&c, &q.scheme) ||
        !bhttp_word(&c, &q.authority) || !bhttp_word(&c, &q.path) ||
        q.method.len == 0)
        return HSY_E_FORMAT;
    st = bhttp_rest(&c, framing, &to, &content);
    if (st != HSY_OK)
        return st;
    q.content = content.at;
    q.content_len = content.left;
    *r = q;
    return HSY_OK;
}

/* The status of the response itself, past informational ones. */
static hsy_status bhttp_status(struct bhttp_cursor *c, unsigned framing,
                               unsigned *status)
{
    uint64_t value;

    while (bhttp_integer(c, &value)) {
        hsy_status st;

        if (bhttp_is_status(value)) {
            *status = (unsigned)value;
            return HSY_OK;
        }
        if (value < 100 || value > 199)
            return HSY_E_FORMAT;
        st = bhttp_section(c, framing, NULL);
        if (st != HSY_OK)
            return st;
    }
    return HSY_E_FORMAT;
}

hsy_status bhttp_response_decode(struct bhttp_response *r, uint8_t *bytes,
                                 size_t len)
{
    struct bhttp_cursor c = {bytes, len}, content;
    struct bhttp_response q = {.n_fields = 0};
    const struct bhttp_fields to = {q.fields, &q.n_fields};
    unsigned framing;
    hsy_status st = bhttp_framing(&c, BHTTP_RESPONSE, &framing);

    if (st == HSY_OK)
        st = bhttp_status(&c, framing, &q.status);
    if (st == HSY_OK)
        st = bhttp_rest(&c, framing, &to, &content);
    if (st != HSY_OK)
        return st;
    q.content = content.at;
    q.content_len = content.left;
    *r = q;
    return HSY_OK;
}
