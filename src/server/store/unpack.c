/*
 * unpack.c - an archive becomes a store.
 *
 * Counts, ids and names go in as commits of their own, tallies as one round of
 * each entry, and batches that were not folded after that, so that they are
 * beyond it here as they were there.
 */
#include "server/store/archive.h"

#include "host/base/files.h"
#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNPACK_PIECE 65536u
#define UNPACK_ENTRIES 65536u

struct unpack_reader {
    struct store *store;
    hsy_error *err;
    int fd;
    uint8_t *bytes; /* owned: the payload */
    size_t len, room;
    uint64_t record; /* from 1 on */
    uint32_t type;

    uint64_t seq; /* of the store that is filled */
    uint8_t *document;
    size_t document_len;
    uint8_t **entries; /* owned */
    size_t *lens;
    size_t nentries;
    bool put;               /* document and entries are in the store */
    struct store_tally now; /* whose chunks come */
    uint8_t *written;       /* by entry: it has tallies that want a round */
    bool rounded;
    const char *directory;
    struct archive_book book; /* the one that comes */
};

static hsy_status unpack_bad(struct unpack_reader *r, const char *msg)
{
    return host_fail_at(r->err, HSY_E_FORMAT, HOST_FIELD_ARCHIVE, msg,
                        HSY_UNIT_RECORD, r->record);
}

static hsy_status unpack_take(struct unpack_reader *r, uint8_t *to, size_t len)
{
    while (len != 0) {
        ssize_t n = read(r->fd, to, len);

        if (n == -1 && retry_read(r->fd))
            continue;
        if (n == -1)
            return host_fail(r->err, HSY_E_IO, HOST_FIELD_ARCHIVE,
                             "it cannot be read");
        if (n == 0)
            return unpack_bad(r, "it ends early");
        to += n;
        len -= (size_t)n;
    }
    return HSY_OK;
}

/* A payload; the buffer grows with what has arrived. */
static hsy_status unpack_payload(struct unpack_reader *r, uint64_t len)
{
    hsy_status st = HSY_OK;

    r->len = 0;
    while (st == HSY_OK && r->len < len) {
        size_t piece =
            len - r->len < UNPACK_PIECE ? (size_t)(len - r->len) : UNPACK_PIECE;

        if (!grow_room(&r->bytes, &r->room, r->len + piece, 1))
            return host_nomem(r->err);
        st = unpack_take(r, r->bytes + r->len, piece);
        r->len += piece;
    }
    return st;
}

static hsy_status unpack_next(struct unpack_reader *r)
{
    uint8_t wire[ARCHIVE_HEAD];
    uint32_t crc;
    uint64_t len;
    hsy_status st;

    r->record++;
    st = unpack_take(r, wire, sizeof wire);
    if (st != HSY_OK)
        return st;
    len = bytes_get64(wire + 8);
    if (len > ARCHIVE_RECORD)
        return unpack_bad(r, "a record is too long");
    st = unpack_payload(r, len);
    if (st != HSY_OK)
        return st;
    crc = hsy_crc32c(0, wire, 4);
    crc = hsy_crc32c(crc, wire + 8, 8);
    if (r->len != 0)
        crc = hsy_crc32c(crc, r->bytes, r->len);
    if (crc != bytes_get32(wire + 4))
        return unpack_bad(r, "a record has changed: its checksum is wrong");
    r->type = bytes_get32(wire);
    return HSY_OK;
}

static hsy_status unpack_head(struct unpack_reader *r)
{
    uint8_t head[ARCHIVE_HEAD];
    hsy_status st = unpack_take(r, head, sizeof head);

    if (st != HSY_OK)
        return st;
    if (memcmp(head, ARCHIVE_MAGIC, 4) != 0 ||
        bytes_get32(head + 12) != hsy_crc32c(0, head, 12))
        return unpack_bad(r, "this is no archive of a collector's data");
    if (bytes_get32(head + 4) != ARCHIVE_VERSION)
        return host_fail(r->err, HSY_E_VERSION, HOST_FIELD_ARCHIVE,
                         "a newer program made it: use that one");
    return bytes_get32(head + 8) == 0
               ? HSY_OK
               : unpack_bad(r, "reserved bytes are not zero");
}

/* ---- What records do ----------------------------------------------------- */

static hsy_status unpack_commit(struct unpack_reader *r, struct store_commit *c)
{
    hsy_status st;
    bool more;

    c->seq = r->seq + 1;
    st = r->store->ops->append(r->store, c, r->err);
    if (st == HSY_OK)
        r->seq++;
    if (st == HSY_OK)
        st = r->store->ops->settle(r->store, STORE_BUSY, &more, r->err);
    return st == HSY_E_RANGE ? unpack_bad(r, "a day beyond all days") : st;
}

static hsy_status unpack_take_state(struct unpack_reader *r)
{
    struct store_state state;
    hsy_status st;

    memcpy(state.key, r->bytes, STORE_KEY);
    state.seq = 0;
    state.closed = bytes_get32(r->bytes + STORE_KEY + 8);
    state.day = bytes_get32(r->bytes + STORE_KEY + 12);
    st = r->store->ops->inherit(r->store, &state, r->err);
    return st == HSY_E_RANGE ? unpack_bad(r, "a day beyond all days") : st;
}

static hsy_status unpack_take_document(struct unpack_reader *r)
{
    if (r->document != NULL)
        return unpack_bad(r, "two documents");
    r->document = r->bytes;
    r->document_len = r->len;
    r->bytes = NULL;
    r->room = 0;
    return HSY_OK;
}

static hsy_status unpack_take_entry(struct unpack_reader *r)
{
    const size_t n = r->nentries + 1;
    uint8_t *copy;

    if (bytes_get32(r->bytes) != r->nentries || n > UNPACK_ENTRIES)
        return unpack_bad(r, "an entry is missing, or there are too many");
    copy = malloc(r->len);
    if (copy == NULL || !grow_to(&r->entries, n, sizeof(uint8_t *)) ||
        !grow_to(&r->lens, n, sizeof *r->lens)) {
        free(copy);
        return host_nomem(r->err);
    }
    memcpy(copy, r->bytes + 4, r->len - 4);
    r->entries[r->nentries] = copy;
    r->lens[r->nentries++] = r->len - 4;
    return HSY_OK;
}

static hsy_status unpack_take_count(struct unpack_reader *r)
{
    const struct store_count count = {
        bytes_get32(r->bytes), bytes_get32(r->bytes + 4),
        bytes_get64(r->bytes + 8), bytes_get64(r->bytes + 16)};
    struct store_commit c = {.counts = &count, .ncounts = 1};

    return unpack_commit(r, &c);
}

static hsy_status unpack_take_quota(struct unpack_reader *r)
{
    struct store_quota quota = {.epoch = bytes_get32(r->bytes),
                                .used = bytes_get32(r->bytes + 4)};
    struct store_commit c = {.quotas = &quota, .nquotas = 1};

    memcpy(quota.token, r->bytes + 8, sizeof quota.token);
    return unpack_commit(r, &c);
}

static hsy_status unpack_take_ids(struct unpack_reader *r)
{
    const struct store_ids ids = {
        .epoch = bytes_get32(r->bytes),
        .null = r->type == ARCHIVE_NULL_IDS,
        .ids = (const struct store_id *)(const void *)(r->bytes + 4),
        .n = (r->len - 4) / sizeof *ids.ids};
    struct store_commit c = {.ids = &ids, .nids = 1};

    if ((r->len - 4) % sizeof(struct store_id) != 0)
        return unpack_bad(r, "half an id");
    return unpack_commit(r, &c);
}

static hsy_status unpack_take_tally(struct unpack_reader *r)
{
    r->now =
        (struct store_tally){bytes_get32(r->bytes), bytes_get32(r->bytes + 4),
                             bytes_get64(r->bytes + 8)};
    if (r->now.entry >= r->nentries || r->now.words == 0)
        return unpack_bad(r, "a tally of no entry");
    r->written[r->now.entry] = 1;
    return r->store->ops->chunks(r->store, &r->now, NULL, 0, r->err);
}

static hsy_status unpack_take_chunk(struct unpack_reader *r)
{
    int64_t words[STORE_CHUNK];
    const struct store_chunk c = {bytes_get32(r->bytes), words,
                                  (r->len - 4) / 8};
    hsy_status st;

    if (r->now.words == 0 || r->len % 8 != 4 || c.n > STORE_CHUNK)
        return unpack_bad(r, "a chunk of no tally");
    for (size_t i = 0; i < c.n; i++)
        words[i] = (int64_t)bytes_get64(r->bytes + 4 + 8 * i);
    st = r->store->ops->chunks(r->store, &r->now, &c, 1, r->err);
    return st == HSY_E_RANGE ? unpack_bad(r, "a chunk does not fit its tally")
                             : st;
}

/* All tallies are there: one round of each entry that has some. */
static hsy_status unpack_rounds(struct unpack_reader *r)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; st == HSY_OK && !r->rounded && i < r->nentries; i++) {
        const struct store_round round = {(uint32_t)i, r->seq};

        if (r->written[i] != 0)
            st = r->store->ops->rounds(r->store, &round, 1, r->err);
    }
    r->rounded = true;
    return st;
}

static hsy_status unpack_take_batch(struct unpack_reader *r)
{
    const struct store_batch b = {.entry = bytes_get32(r->bytes),
                                  .epoch = bytes_get32(r->bytes + 4),
                                  .type = bytes_get32(r->bytes + 8),
                                  .reports = bytes_get64(r->bytes + 12),
                                  .bytes = r->bytes + 20,
                                  .len = r->len - 20};
    struct store_commit c = {.batches = &b, .nbatches = 1};

    if (b.entry >= r->nentries)
        return unpack_bad(r, "a batch of no entry");
    if (b.type == STORE_SEALED)
        return unpack_bad(r, "a batch that is sealed");
    return unpack_commit(r, &c);
}

static hsy_status unpack_take_received(struct unpack_reader *r)
{
    const uint8_t *at = r->bytes + STORE_BATCH_ID + STORE_DIGEST;
    struct store_received received = {.entry = bytes_get32(at),
                                      .epoch = bytes_get32(at + 4),
                                      .n = bytes_get64(at + 8),
                                      .nulls = bytes_get64(at + 16),
                                      .unopened = bytes_get64(at + 24),
                                      .again = bytes_get64(at + 32),
                                      .heads = r->bytes + ARCHIVE_RECEIVED_HEAD,
                                      .heads_len =
                                          r->len - ARCHIVE_RECEIVED_HEAD};
    struct store_commit c = {.received = &received};
    hsy_status st;

    if (received.entry >= r->nentries)
        return unpack_bad(r, "a batch of no entry");
    memcpy(received.id, r->bytes, STORE_BATCH_ID);
    memcpy(received.digest, r->bytes + STORE_BATCH_ID, STORE_DIGEST);
    st = unpack_commit(r, &c);
    return st == HSY_E_REFUSED ? unpack_bad(r, "a batch is there twice") : st;
}

static hsy_status unpack_take_figure(struct unpack_reader *r)
{
    const struct store_figure f = {bytes_get32(r->bytes),
                                   bytes_get32(r->bytes + 4),
                                   (const char *)r->bytes + 8, r->len - 8};

    return r->store->ops->figure(r->store, &f, r->err);
}

static hsy_status unpack_take_merged(struct unpack_reader *r)
{
    struct store_commit c = {.merged = r->bytes};
    hsy_status st = unpack_commit(r, &c);

    return st == HSY_E_REFUSED ? unpack_bad(r, "a merged tally is there twice")
                               : st;
}

static hsy_status unpack_book(struct unpack_reader *r, hsy_status st)
{
    if (st == HSY_E_FORMAT && r->err != NULL) {
        r->err->unit = HSY_UNIT_RECORD;
        r->err->at = r->record;
    }
    return st;
}

static hsy_status unpack_take_book(struct unpack_reader *r)
{
    return unpack_book(r, archive_book_add(&r->book, r->directory,
                                           bytes_get32(r->bytes),
                                           bytes_get64(r->bytes + 4),
                                           r->bytes + ARCHIVE_BOOK_HEAD,
                                           r->len - ARCHIVE_BOOK_HEAD, r->err));
}

static hsy_status unpack_take_end(struct unpack_reader *r)
{
    uint8_t more;
    ssize_t n;
    hsy_status st =
        unpack_book(r, archive_book_end(&r->book, r->directory, r->err));

    if (st != HSY_OK)
        return st;
    if (bytes_get64(r->bytes) != r->record - 1)
        return unpack_bad(r, "records are missing");
    do
        n = read(r->fd, &more, 1);
    while (n == -1 && retry_read(r->fd));
    return n == 0 ? HSY_OK : unpack_bad(r, "something follows its end");
}

/* Ranks that are asked for. */
enum { UNPACK_ENTRY = 3, UNPACK_IDS = 6, UNPACK_TALLY = 7 };

static const struct {
    size_t least, most; /* bytes of the payload */
    unsigned rank;      /* they come in this order */
    hsy_status (*take)(struct unpack_reader *r);
} unpack_types[] = {
    [ARCHIVE_STATE] = {STORE_KEY + 16, STORE_KEY + 16, 1, unpack_take_state},
    [ARCHIVE_DOCUMENT] = {1, SIZE_MAX, 2, unpack_take_document},
    [ARCHIVE_ENTRY] = {5, SIZE_MAX, UNPACK_ENTRY, unpack_take_entry},
    [ARCHIVE_COUNT] = {24, 24, 4, unpack_take_count},
    [ARCHIVE_QUOTA] = {24, 24, 5, unpack_take_quota},
    [ARCHIVE_IDS] = {4, SIZE_MAX, UNPACK_IDS, unpack_take_ids},
    [ARCHIVE_TALLY] = {16, 16, UNPACK_TALLY, unpack_take_tally},
    [ARCHIVE_CHUNK] = {12, 4 + 8 * STORE_CHUNK, UNPACK_TALLY,
                       unpack_take_chunk},
    [ARCHIVE_BATCH] = {20, SIZE_MAX, 8, unpack_take_batch},
    [ARCHIVE_RECEIVED] = {ARCHIVE_RECEIVED_HEAD,
                          ARCHIVE_RECEIVED_HEAD + STORE_HEADS, 9,
                          unpack_take_received},
    [ARCHIVE_FIGURE] = {8, SIZE_MAX, 10, unpack_take_figure},
    [ARCHIVE_MERGED] = {STORE_MERGED, STORE_MERGED, 11, unpack_take_merged},
    [ARCHIVE_END] = {8, 8, 13, unpack_take_end},
    [ARCHIVE_NULL_IDS] = {4, SIZE_MAX, UNPACK_IDS, unpack_take_ids},
    [ARCHIVE_BOOK] = {ARCHIVE_BOOK_HEAD + 1, SIZE_MAX, 12, unpack_take_book}};

/* Document and entries go in together, before what speaks of them. */
static hsy_status unpack_put_document(struct unpack_reader *r)
{
    r->put = true;
    r->written = calloc(r->nentries + 1, 1);
    if (r->written == NULL)
        return host_nomem(r->err);
    if (r->document == NULL)
        return r->nentries == 0 ? HSY_OK
                                : unpack_bad(r, "entries of no document");
    return r->store->ops->document(r->store, r->document, r->document_len, 0,
                                   (const uint8_t *const *)r->entries, r->lens,
                                   r->nentries, r->err);
}

static hsy_status unpack_take_one(struct unpack_reader *r, unsigned *rank)
{
    hsy_status st = unpack_next(r);

    if (st != HSY_OK)
        return st;
    if (r->type == 0 || r->type >= ARCHIVE_TYPES)
        return unpack_bad(r, "a record of an unknown type");
    if (unpack_types[r->type].rank < *rank || (*rank == 0 && r->type != 1) ||
        (*rank == 1 && r->type == ARCHIVE_STATE))
        return unpack_bad(r, "a record is out of order");
    *rank = unpack_types[r->type].rank;
    if (r->len < unpack_types[r->type].least ||
        r->len > unpack_types[r->type].most)
        return unpack_bad(r, "a record has another length than its type");
    if (*rank > UNPACK_ENTRY && !r->put)
        st = unpack_put_document(r);
    if (st == HSY_OK && *rank > UNPACK_TALLY)
        st = unpack_rounds(r);
    return st == HSY_OK ? unpack_types[r->type].take(r) : st;
}

hsy_status store_archive_read(struct store *s, const char *directory, int fd,
                              hsy_error *err)
{
    struct unpack_reader r = {
        .store = s, .err = err, .fd = fd, .directory = directory};
    unsigned rank = 0;
    hsy_status st = unpack_head(&r);

    while (st == HSY_OK && r.type != ARCHIVE_END)
        st = unpack_take_one(&r, &rank);
    for (size_t i = 0; i < r.nentries; i++)
        free(r.entries[i]);
    free(r.entries);
    free(r.lens);
    free(r.document);
    free(r.written);
    free(r.bytes);
    archive_book_done(&r.book);
    return st;
}
