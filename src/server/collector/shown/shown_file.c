/*
 * shown_file.c - shown.db: generations as they were shown last.
 *
 * A tally is cut into pieces of SHOWN_PIECE words, little-endian; pieces of
 * zeros are not there. All of a generation is one transaction. A file that was
 * made before there were batches gets their table when it is opened; a program
 * that does not know them leaves them as they are, and then they are fewer than
 * what is shown.
 */
#include "server/collector/shown/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"
#include "server/store/book.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_PIECE 32768u
#define SHOWN_BATCHES                                                          \
    "CREATE TABLE IF NOT EXISTS batches(entry INTEGER, epoch INTEGER, "        \
    "batches INTEGER NOT NULL, least INTEGER NOT NULL, reports INTEGER NOT "   \
    "NULL, own_batches INTEGER NOT NULL, own_least INTEGER NOT NULL, "         \
    "own_reports INTEGER NOT NULL, PRIMARY KEY(entry, epoch)) WITHOUT ROWID"

struct shown_file {
    struct shown_keep keep; /* first */
    struct book book;
};

static const struct shown_keep_functions file_functions;

static struct shown_file *file_of(struct shown_keep *k)
{
    return (struct shown_file *)k;
}

hsy_status shown_file_open(struct shown_keep **out, const char *data,
                           hsy_error *err)
{
    struct shown_file *f = calloc(1, sizeof *f);
    hsy_status st;

    if (f == NULL)
        return host_nomem(err);
    st = book_open(&f->book, data, &shown_kind, true, err);
    if (st == HSY_OK) {
        st = book_run(&f->book, SHOWN_BATCHES, err);
        if (st != HSY_OK)
            book_close(&f->book);
    }
    f->keep.ops = &file_functions;
    if (st == HSY_OK)
        *out = &f->keep;
    else
        free(f);
    return st;
}

static void file_close(struct shown_keep *k)
{
    book_close(&file_of(k)->book);
    free(k);
}

static hsy_status file_backup(struct shown_keep *k, const char *directory,
                              hsy_error *err)
{
    return book_copy(&file_of(k)->book, directory, &shown_kind, err);
}

/* ---- Reading ------------------------------------------------------------- */

/* Rows of an entry into an array that grows; fill: one of them. */
static hsy_status file_rows(struct shown_file *f, const char *sql,
                            uint32_t entry, void *memory, size_t *n,
                            size_t size,
                            void (*fill)(void *row, sqlite3_stmt *ask),
                            hsy_error *err)
{
    sqlite3_stmt *ask = book_ask(&f->book, err, sql, "i", (int64_t)entry);
    char *rows = NULL;
    size_t room = 0;
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;

    *n = 0;
    while (st == HSY_OK && book_row(&f->book, ask, &st, err)) {
        if (grow_room(&rows, &room, *n + 1, size))
            fill(rows + size * (*n)++, ask);
        else
            st = host_nomem(err);
    }
    sqlite3_finalize(ask);
    memcpy(memory, &rows, sizeof rows);
    return st;
}

/* NULL is 0. */
static struct engine_sum file_sum(sqlite3_stmt *ask, int column)
{
    return (struct engine_sum){(uint64_t)sqlite3_column_int64(ask, column),
                               (uint64_t)sqlite3_column_int64(ask, column + 1),
                               (uint64_t)sqlite3_column_int64(ask, column + 2)};
}

static void file_count(void *row, sqlite3_stmt *ask)
{
    *(struct shown_epoch *)row =
        (struct shown_epoch){.epoch = (uint32_t)sqlite3_column_int64(ask, 0),
                             .reports = (uint64_t)sqlite3_column_int64(ask, 1),
                             .own = (uint64_t)sqlite3_column_int64(ask, 2),
                             .nulls = (uint64_t)sqlite3_column_int64(ask, 3),
                             .came = file_sum(ask, 4),
                             .own_came = file_sum(ask, 7)};
}

static void file_block(void *row, sqlite3_stmt *ask)
{
    *(struct shown_block *)row =
        (struct shown_block){.first = (uint32_t)sqlite3_column_int64(ask, 0),
                             .last = (uint32_t)sqlite3_column_int64(ask, 1),
                             .over = sqlite3_column_int64(ask, 2) != 0};
}

static hsy_status file_view(struct shown_file *f, uint32_t entry,
                            struct shown_view *v, hsy_error *err)
{
    hsy_status st = file_rows(
        f,
        "SELECT c.epoch, c.reports, own, nulls, batches, least, b.reports, "
        "own_batches, own_least, own_reports FROM counts c LEFT JOIN batches b "
        "ON b.entry=c.entry AND b.epoch=c.epoch WHERE c.entry=?1 ORDER BY "
        "c.epoch",
        entry, &v->counts, &v->ncounts, sizeof *v->counts, file_count, err);

    if (st == HSY_OK)
        st = file_rows(f,
                       "SELECT first, last, over FROM blocks WHERE entry=?1 "
                       "ORDER BY first",
                       entry, &v->blocks, &v->nblocks, sizeof *v->blocks,
                       file_block, err);
    return st;
}

/* Nobody else writes: it is read once, and then all of it. */
static hsy_status file_read(struct shown_keep *k, const uint64_t *known,
                            size_t n, shown_taker *take, void *ctx,
                            hsy_error *err)
{
    struct shown_file *f = file_of(k);
    sqlite3_stmt *ask = book_ask(
        &f->book, err,
        "SELECT entry, generation, digest FROM shown ORDER BY entry", "");
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;

    (void)known;
    (void)n;
    while (st == HSY_OK && book_row(&f->book, ask, &st, err)) {
        const uint32_t entry = (uint32_t)sqlite3_column_int64(ask, 0);
        struct shown_view v = {.generation =
                                   (uint64_t)sqlite3_column_int64(ask, 1)};

        if (sqlite3_column_bytes(ask, 2) == HSY_DIGEST)
            memcpy(v.digest, sqlite3_column_blob(ask, 2), HSY_DIGEST);
        st = file_view(f, entry, &v, err);
        if (st == HSY_OK)
            st = take(ctx, entry, &v);
        else
            shown_view_clear(&v);
    }
    sqlite3_finalize(ask);
    return st;
}

static hsy_status file_add(struct shown_keep *k, enum shown_turn turn,
                           uint32_t entry, uint32_t block, int64_t *words,
                           size_t n, hsy_error *err)
{
    struct shown_file *f = file_of(k);
    sqlite3_stmt *ask =
        book_ask(&f->book, err,
                 "SELECT place, words FROM pieces WHERE entry=?1 AND block=?2",
                 "ii", (int64_t)entry, (int64_t)block);
    hsy_status st = ask == NULL ? HSY_E_IO : HSY_OK;

    (void)turn;
    while (st == HSY_OK && book_row(&f->book, ask, &st, err)) {
        const size_t at = (size_t)sqlite3_column_int64(ask, 0) * SHOWN_PIECE;
        const uint8_t *bytes = sqlite3_column_blob(ask, 1);
        const size_t len = (size_t)sqlite3_column_bytes(ask, 1) / 8;

        if (at > n || len > n - at) {
            st = host_fail(
                err, HSY_E_FORMAT, host_field_find(shown_kind.name),
                "it is of another task: restore the one that belongs here");
            break;
        }
        for (size_t i = 0; i < len; i++)
            words[at + i] += (int64_t)bytes_get64(bytes + 8 * i);
    }
    sqlite3_finalize(ask);
    return st;
}

/* ---- Writing ------------------------------------------------------------- */

static bool file_zero(const int64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (words[i] != 0)
            return false;
    return true;
}

/* One piece; bytes has room for it. */
static hsy_status file_piece(struct shown_file *f, uint32_t entry,
                             uint32_t block, size_t place, const int64_t *words,
                             size_t n, uint8_t *bytes, hsy_error *err)
{
    if (file_zero(words, n))
        return book_do(&f->book,
                       book_ask(&f->book, err,
                                "DELETE FROM pieces WHERE entry=?1 AND "
                                "block=?2 AND place=?3",
                                "iii", (int64_t)entry, (int64_t)block,
                                (int64_t)place),
                       err);
    for (size_t i = 0; i < n; i++)
        bytes_put64(bytes + 8 * i, (uint64_t)words[i]);
    return book_do(&f->book,
                   book_ask(&f->book, err,
                            "INSERT OR REPLACE INTO pieces VALUES(?1, ?2, ?3, "
                            "?4)",
                            "iiib", (int64_t)entry, (int64_t)block,
                            (int64_t)place, (const void *)bytes, 8 * n),
                   err);
}

static hsy_status file_tally(struct shown_file *f,
                             const struct roster_entry *is,
                             const struct shown_tally *t, hsy_error *err)
{
    uint8_t *bytes = malloc(8 * (size_t)SHOWN_PIECE);
    hsy_status st = HSY_OK;

    if (bytes == NULL)
        return host_nomem(err);
    for (size_t at = 0; at < is->words && st == HSY_OK; at += SHOWN_PIECE)
        st = file_piece(
            f, is->number, t->block, at / SHOWN_PIECE, t->words + at,
            is->words - at < SHOWN_PIECE ? is->words - at : SHOWN_PIECE, bytes,
            err);
    free(bytes);
    return st;
}

/* Batches of an epoch, if it has any. */
static hsy_status file_batches(struct shown_file *f, uint32_t entry,
                               const struct shown_epoch *e, hsy_error *err)
{
    const struct engine_sum *all = &e->came, *own = &e->own_came;

    if (all->batches == 0)
        return HSY_OK;
    return book_do(&f->book,
                   book_ask(&f->book, err,
                            "INSERT OR REPLACE INTO batches VALUES(?1, ?2, ?3, "
                            "?4, ?5, ?6, ?7, ?8)",
                            "iiiiiiii", (int64_t)entry, (int64_t)e->epoch,
                            (int64_t)all->batches, (int64_t)all->least,
                            (int64_t)all->reports, (int64_t)own->batches,
                            (int64_t)own->least, (int64_t)own->reports),
                   err);
}

static hsy_status file_counts(struct shown_file *f, uint32_t entry,
                              const struct shown_view *v, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < v->ncounts && st == HSY_OK; i++)
        st = book_do(
            &f->book,
            book_ask(&f->book, err,
                     "INSERT OR REPLACE INTO counts VALUES(?1, ?2, ?3, ?4, ?5)",
                     "iiiii", (int64_t)entry, (int64_t)v->counts[i].epoch,
                     (int64_t)v->counts[i].reports, (int64_t)v->counts[i].own,
                     (int64_t)v->counts[i].nulls),
            err);
    for (size_t i = 0; i < v->ncounts && st == HSY_OK; i++)
        st = file_batches(f, entry, &v->counts[i], err);
    for (size_t i = 0; i < v->nblocks && st == HSY_OK; i++)
        st = book_do(
            &f->book,
            book_ask(&f->book, err,
                     "INSERT OR REPLACE INTO blocks VALUES(?1, ?2, ?3, ?4)",
                     "iiii", (int64_t)entry, (int64_t)v->blocks[i].first,
                     (int64_t)v->blocks[i].last, (int64_t)v->blocks[i].over),
            err);
    return st;
}

static hsy_status file_put(struct shown_keep *k, const struct roster_entry *is,
                           struct shown_view *v, uint32_t kept,
                           const struct shown_tally *tallies, size_t n,
                           hsy_error *err)
{
    struct shown_file *f = file_of(k);
    const int64_t entry = is->number;
    hsy_status st = book_begin(&f->book, err);

    if (st != HSY_OK)
        return st;
    st = book_do(&f->book,
                 book_ask(&f->book, err,
                          "INSERT OR REPLACE INTO shown VALUES(?1, ?2, ?3, ?4)",
                          "iiib", entry, (int64_t)v->generation,
                          (int64_t)is->words, (const void *)is->digest,
                          sizeof is->digest),
                 err);
    if (st == HSY_OK)
        st = file_counts(f, is->number, v, err);
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = file_tally(f, is, &tallies[i], err);
    if (st == HSY_OK)
        st = book_do(&f->book,
                     book_ask(&f->book, err,
                              "DELETE FROM pieces WHERE entry=?1 AND block IN "
                              "(SELECT first FROM blocks WHERE entry=?1 AND "
                              "last<?2)",
                              "ii", entry, (int64_t)kept),
                     err);
    return book_end(&f->book, st, err);
}

/* ---- Forgetting ---------------------------------------------------------- */

static hsy_status file_forget(struct shown_keep *k, uint32_t entry,
                              uint32_t before, bool all, hsy_error *err)
{
    struct shown_file *f = file_of(k);
    const int64_t last = all ? INT64_MAX : (int64_t)before;
    hsy_status st = book_begin(&f->book, err);

    if (st != HSY_OK)
        return st;
    st = book_do(&f->book,
                 book_ask(&f->book, err,
                          "DELETE FROM pieces WHERE entry=?1 AND (?3 OR block "
                          "IN (SELECT first FROM blocks WHERE entry=?1 AND "
                          "last<?2))",
                          "iii", (int64_t)entry, last, (int64_t)all),
                 err);
    if (st == HSY_OK && !all)
        st = book_do(&f->book,
                     book_ask(&f->book, err,
                              "DELETE FROM blocks WHERE entry=?1 AND last<?2",
                              "ii", (int64_t)entry, last),
                     err);
    return book_end(&f->book, st, err);
}

static const struct shown_keep_functions file_functions = {
    .read = file_read,
    .add = file_add,
    .put = file_put,
    .forget = file_forget,
    .backup = file_backup,
    .close = file_close,
};
