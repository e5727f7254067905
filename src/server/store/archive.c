/* archive.c - everything of a store into one file. It takes no memory but
 * for one record. */
#include "server/store/archive.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <string.h>

#define ARCHIVE_NUMBERS 24 /* bytes of those that a record begins with */

/* ---- Writing ------------------------------------------------------------- */

struct archive_writer {
    struct output *out;
    uint64_t records;
    hsy_error *err;
};

/* A record whose payload stands in two parts. */
static hsy_status archive_record(struct archive_writer *w,
                                 enum archive_type type, const void *head,
                                 size_t head_len, const void *body,
                                 size_t body_len)
{
    uint8_t wire[ARCHIVE_HEAD];
    uint32_t crc;
    hsy_status st;

    bytes_put32(wire, type);
    bytes_put64(wire + 8, head_len + body_len);
    crc = hsy_crc32c(0, wire, 4);
    crc = hsy_crc32c(crc, wire + 8, 8);
    crc = hsy_crc32c(crc, head, head_len);
    if (body_len != 0)
        crc = hsy_crc32c(crc, body, body_len);
    bytes_put32(wire + 4, crc);
    w->records++;
    st = output_write(w->out, wire, sizeof wire);
    if (st == HSY_OK)
        st = output_write(w->out, head, head_len);
    return st == HSY_OK && body_len != 0 ? output_write(w->out, body, body_len)
                                         : st;
}

/* Numbers of 4 or 8 bytes, as widths says of each. */
static uint8_t *archive_numbers(uint8_t *to, const char *widths,
                                const uint64_t *numbers)
{
    for (; *widths != '\0'; to += *widths++ - '0', numbers++) {
        bytes_put32(to, (uint32_t)*numbers);
        if (*widths == '8')
            bytes_put32(to + 4, (uint32_t)(*numbers >> 32));
    }
    return to;
}

/* A record that begins with some. */
static hsy_status archive_row(struct archive_writer *w, enum archive_type type,
                              const char *widths, const uint64_t *numbers,
                              const void *body, size_t len)
{
    uint8_t head[ARCHIVE_NUMBERS];
    const uint8_t *end = archive_numbers(head, widths, numbers);

    return archive_record(w, type, head, (size_t)(end - head), body, len);
}

static hsy_status archive_document(void *ctx, const uint8_t *bytes, size_t len)
{
    return archive_record(ctx, ARCHIVE_DOCUMENT, bytes, len, NULL, 0);
}

static hsy_status archive_entry(void *ctx, uint32_t number,
                                const uint8_t *bytes, size_t len)
{
    return archive_row(ctx, ARCHIVE_ENTRY, "4", &(uint64_t){number}, bytes,
                       len);
}

static hsy_status archive_count(void *ctx, const struct store_count *c)
{
    return archive_row(
        ctx, ARCHIVE_COUNT, "4488",
        (const uint64_t[]){c->entry, c->epoch, c->reports, c->nulls}, NULL, 0);
}

static hsy_status archive_quota(void *ctx, const struct store_quota *q)
{
    return archive_row(ctx, ARCHIVE_QUOTA, "44",
                       (const uint64_t[]){q->epoch, q->used}, q->token,
                       sizeof q->token);
}

static hsy_status archive_ids(void *ctx, const struct store_ids *ids)
{
    return archive_row(ctx, ids->null ? ARCHIVE_NULL_IDS : ARCHIVE_IDS, "4",
                       &(uint64_t){ids->epoch}, ids->ids,
                       ids->n * sizeof *ids->ids);
}

static hsy_status archive_tally(void *ctx, const struct store_tally *t)
{
    return archive_row(ctx, ARCHIVE_TALLY, "448",
                       (const uint64_t[]){t->entry, t->epoch, t->words}, NULL,
                       0);
}

static hsy_status archive_chunk(void *ctx, const struct store_tally *t,
                                const struct store_chunk *c)
{
    uint8_t words[8 * STORE_CHUNK];

    (void)t;
    for (size_t i = 0; i < c->n; i++)
        bytes_put64(words + 8 * i, (uint64_t)c->words[i]);
    return archive_row(ctx, ARCHIVE_CHUNK, "4", &(uint64_t){c->place}, words,
                       8 * c->n);
}

static hsy_status archive_batch(void *ctx, const struct store_batch *b)
{
    return archive_row(
        ctx, ARCHIVE_BATCH, "4448",
        (const uint64_t[]){b->entry, b->epoch, b->type, b->reports}, b->bytes,
        b->len);
}

static hsy_status archive_received(void *ctx, const struct store_received *r)
{
    uint8_t head[ARCHIVE_RECEIVED_HEAD];

    memcpy(head, r->id, STORE_BATCH_ID);
    memcpy(head + STORE_BATCH_ID, r->digest, STORE_DIGEST);
    archive_numbers(head + STORE_BATCH_ID + STORE_DIGEST, "448888",
                    (const uint64_t[]){r->entry, r->epoch, r->n, r->nulls,
                                       r->unopened, r->again});
    return archive_record(ctx, ARCHIVE_RECEIVED, head, sizeof head, r->heads,
                          r->heads_len);
}

/* Which envelopes a batch takes is said by the numbers of commits, and an
 * archive has none. */
static hsy_status archive_shuffles(struct archive_writer *w)
{
    return host_fail(
        w->err, HSY_E_REFUSED, HOST_FIELD_MIXES,
        "data of a shuffler is neither exported nor copied: keep its "
        "keys (docs/run-a-shuffler.md)");
}

static hsy_status archive_sealed(void *ctx, const struct store_batch *b)
{
    (void)b;
    return archive_shuffles(ctx);
}

static hsy_status archive_mix(void *ctx, const struct store_mix *m)
{
    (void)m;
    return archive_shuffles(ctx);
}

static hsy_status archive_figure(void *ctx, const struct store_figure *f)
{
    return archive_row(ctx, ARCHIVE_FIGURE, "44",
                       (const uint64_t[]){f->entry, f->day}, f->json, f->len);
}

static hsy_status archive_merged(void *ctx, const uint8_t name[STORE_MERGED])
{
    return archive_record(ctx, ARCHIVE_MERGED, name, STORE_MERGED, NULL, 0);
}

static hsy_status archive_book(void *ctx, uint32_t which, uint64_t at,
                               const uint8_t *bytes, size_t len)
{
    return archive_row(ctx, ARCHIVE_BOOK, "48", (const uint64_t[]){which, at},
                       bytes, len);
}

static hsy_status archive_begin(struct archive_writer *w,
                                const struct store_state *state)
{
    uint8_t head[ARCHIVE_HEAD] = ARCHIVE_MAGIC, body[STORE_KEY + 16];
    hsy_status st;

    bytes_put32(head + 4, ARCHIVE_VERSION);
    bytes_put32(head + 12, hsy_crc32c(0, head, 12));
    st = output_write(w->out, head, sizeof head);
    memcpy(body, state->key, STORE_KEY);
    archive_numbers(body + STORE_KEY, "844",
                    (const uint64_t[]){state->seq, state->closed, state->day});
    return st == HSY_OK
               ? archive_record(w, ARCHIVE_STATE, body, sizeof body, NULL, 0)
               : st;
}

hsy_status store_archive_write(struct store *s, const struct store_state *state,
                               const char *directory, struct output *out,
                               hsy_error *err)
{
    struct archive_writer w = {out, 0, err};
    const struct store_reader to = {.ctx = &w,
                                    .document = archive_document,
                                    .entry = archive_entry,
                                    .count = archive_count,
                                    .quota = archive_quota,
                                    .ids = archive_ids,
                                    .tally = archive_tally,
                                    .chunk = archive_chunk,
                                    .batch = archive_batch,
                                    .sealed = archive_sealed,
                                    .received = archive_received,
                                    .mix = archive_mix,
                                    .figure = archive_figure,
                                    .merged = archive_merged};
    hsy_status st = archive_begin(&w, state);

    if (st == HSY_OK)
        st = s->ops->read(s, &to, err);
    if (st == HSY_OK)
        st = archive_books_read(directory, archive_book, &w, err);
    if (st == HSY_OK)
        st = archive_row(&w, ARCHIVE_END, "8", &(uint64_t){w.records}, NULL, 0);
    return st;
}
