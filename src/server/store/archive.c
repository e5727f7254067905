/* archive.c - everything of a store into one file. It takes no memory but
 * for one record. */
#include "server/store/archive.h"

#include "host/base/host_fail.h"

#include <string.h>

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

    archive_put(wire, type, 4);
    archive_put(wire + 8, head_len + body_len, 8);
    crc = hsy_crc32c(0, wire, 4);
    crc = hsy_crc32c(crc, wire + 8, 8);
    crc = hsy_crc32c(crc, head, head_len);
    if (body_len != 0)
        crc = hsy_crc32c(crc, body, body_len);
    archive_put(wire + 4, crc, 4);
    w->records++;
    st = output_write(w->out, wire, sizeof wire);
    if (st == HSY_OK)
        st = output_write(w->out, head, head_len);
    return st == HSY_OK && body_len != 0 ? output_write(w->out, body, body_len)
                                         : st;
}

static hsy_status archive_document(void *ctx, const uint8_t *bytes, size_t len)
{
    return archive_record(ctx, ARCHIVE_DOCUMENT, bytes, len, NULL, 0);
}

static hsy_status archive_entry(void *ctx, uint32_t number,
                                const uint8_t *bytes, size_t len)
{
    uint8_t head[4];

    archive_put(head, number, 4);
    return archive_record(ctx, ARCHIVE_ENTRY, head, sizeof head, bytes, len);
}

static hsy_status archive_count(void *ctx, const struct store_count *c)
{
    uint8_t head[24];

    archive_put(head, c->entry, 4);
    archive_put(head + 4, c->epoch, 4);
    archive_put(head + 8, c->reports, 8);
    archive_put(head + 16, c->nulls, 8);
    return archive_record(ctx, ARCHIVE_COUNT, head, sizeof head, NULL, 0);
}

static hsy_status archive_quota(void *ctx, const struct store_quota *q)
{
    uint8_t head[8];

    archive_put(head, q->epoch, 4);
    archive_put(head + 4, q->used, 4);
    return archive_record(ctx, ARCHIVE_QUOTA, head, sizeof head, q->token,
                          sizeof q->token);
}

static hsy_status archive_ids(void *ctx, const struct store_ids *ids)
{
    uint8_t head[4];

    archive_put(head, ids->epoch, 4);
    return archive_record(ctx, ids->null ? ARCHIVE_NULL_IDS : ARCHIVE_IDS, head,
                          sizeof head, ids->ids, ids->n * sizeof *ids->ids);
}

static hsy_status archive_tally(void *ctx, const struct store_tally *t)
{
    uint8_t head[16];

    archive_put(head, t->entry, 4);
    archive_put(head + 4, t->epoch, 4);
    archive_put(head + 8, t->words, 8);
    return archive_record(ctx, ARCHIVE_TALLY, head, sizeof head, NULL, 0);
}

static hsy_status archive_chunk(void *ctx, const struct store_tally *t,
                                const struct store_chunk *c)
{
    uint8_t head[4], words[8 * STORE_CHUNK];

    (void)t;
    archive_put(head, c->place, 4);
    for (size_t i = 0; i < c->n; i++)
        archive_put(words + 8 * i, (uint64_t)c->words[i], 8);
    return archive_record(ctx, ARCHIVE_CHUNK, head, sizeof head, words,
                          8 * c->n);
}

static hsy_status archive_batch(void *ctx, const struct store_batch *b)
{
    uint8_t head[20];

    archive_put(head, b->entry, 4);
    archive_put(head + 4, b->epoch, 4);
    archive_put(head + 8, b->type, 4);
    archive_put(head + 12, b->reports, 8);
    return archive_record(ctx, ARCHIVE_BATCH, head, sizeof head, b->bytes,
                          b->len);
}

static hsy_status archive_received(void *ctx, const struct store_received *r)
{
    uint8_t head[ARCHIVE_RECEIVED_HEAD],
        *at = head + STORE_BATCH_ID + STORE_DIGEST;

    memcpy(head, r->id, STORE_BATCH_ID);
    memcpy(head + STORE_BATCH_ID, r->digest, STORE_DIGEST);
    archive_put(at, r->entry, 4);
    archive_put(at + 4, r->epoch, 4);
    archive_put(at + 8, r->n, 8);
    archive_put(at + 16, r->nulls, 8);
    archive_put(at + 24, r->unopened, 8);
    archive_put(at + 32, r->again, 8);
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
    uint8_t head[8];

    archive_put(head, f->entry, 4);
    archive_put(head + 4, f->day, 4);
    return archive_record(ctx, ARCHIVE_FIGURE, head, sizeof head, f->json,
                          f->len);
}

static hsy_status archive_merged(void *ctx, const uint8_t name[STORE_MERGED])
{
    return archive_record(ctx, ARCHIVE_MERGED, name, STORE_MERGED, NULL, 0);
}

static hsy_status archive_book(void *ctx, uint32_t which, uint64_t at,
                               const uint8_t *bytes, size_t len)
{
    uint8_t head[ARCHIVE_BOOK_HEAD];

    archive_put(head, which, 4);
    archive_put(head + 4, at, 8);
    return archive_record(ctx, ARCHIVE_BOOK, head, sizeof head, bytes, len);
}

static hsy_status archive_begin(struct archive_writer *w,
                                const struct store_state *state)
{
    uint8_t head[ARCHIVE_HEAD] = ARCHIVE_MAGIC, body[STORE_KEY + 16];
    hsy_status st;

    archive_put(head + 4, ARCHIVE_VERSION, 4);
    archive_put(head + 8, 0, 4);
    archive_put(head + 12, hsy_crc32c(0, head, 12), 4);
    st = output_write(w->out, head, sizeof head);
    memcpy(body, state->key, STORE_KEY);
    archive_put(body + STORE_KEY, state->seq, 8);
    archive_put(body + STORE_KEY + 8, state->closed, 4);
    archive_put(body + STORE_KEY + 12, state->day, 4);
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
    uint8_t count[8];
    hsy_status st = archive_begin(&w, state);

    if (st == HSY_OK)
        st = s->ops->read(s, &to, err);
    if (st == HSY_OK)
        st = archive_books_read(directory, archive_book, &w, err);
    archive_put(count, w.records, 8);
    if (st == HSY_OK)
        st = archive_record(&w, ARCHIVE_END, count, sizeof count, NULL, 0);
    return st;
}
