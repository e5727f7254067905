/*
 * book.h - a small SQLite file of ours beside the store: who may ask
 * (tokens.db), what is shown (shown.db).
 *
 * Mode 0600, of the data directory's owner; a rollback journal and full syncs,
 * so that whoever has written is done when the call returns, and no other file
 * stays. Damage and newer versions are refused.
 */
#ifndef SERVER_STORE_BOOK_H
#define SERVER_STORE_BOOK_H

#include "hearsay/host.h"

#include <sqlite3.h>
#include <stdarg.h>

struct book {
    sqlite3 *db;
    const char *what; /* for messages: its name */
};

/* How a book is laid out: its application id, version and tables. */
struct book_kind {
    const char *name; /* "tokens.db" */
    int32_t application;
    int32_t version;
    const char *tables;
};

/* Those there are (book_kinds.c): what readers are shown, who may ask. */
extern const struct book_kind shown_kind, tokens_kind;

/* create: make it if there is none, else HSY_E_EMPTY. HSY_E_FORMAT: damaged, or
 * no such book; HSY_E_VERSION: of a newer hearsay. */
hsy_status book_open(struct book *b, const char *data,
                     const struct book_kind *kind, bool create, hsy_error *err);
void book_close(struct book *b); /* what is not open is fine */

hsy_status book_run(struct book *b, const char *sql, hsy_error *err);

/* A statement with its first arguments bound, in the order of `form`: 'i' an
 * int64_t, 't' a text, 'b' bytes and their size_t. NULL: err is set. */
sqlite3_stmt *book_ask(struct book *b, hsy_error *err, const char *sql,
                       const char *form, ...);

/* The next row; false at the end, or with *st set on failure. */
bool book_row(struct book *b, sqlite3_stmt *ask, hsy_status *st,
              hsy_error *err);

/* A statement that gives no rows; ends it. Takes NULL for one that failed. */
hsy_status book_do(struct book *b, sqlite3_stmt *ask, hsy_error *err);

/* BEGIN IMMEDIATE; then COMMIT if st is HSY_OK, else ROLLBACK. */
hsy_status book_begin(struct book *b, hsy_error *err);
hsy_status book_end(struct book *b, hsy_status st, hsy_error *err);

/* The bytes of its file as of one moment, piece by piece; what each returns
 * ends it. Close it afterwards. */
hsy_status book_bytes(struct book *b, const char *data,
                      hsy_status (*each)(void *ctx, uint64_t at,
                                         const uint8_t *bytes, size_t len),
                      void *ctx, hsy_error *err);

/* Look through one that came from elsewhere, page by page: HSY_E_FORMAT. */
hsy_status book_look(struct book *b, hsy_error *err);

/* A copy of it in another directory, as of one moment. */
hsy_status book_copy(struct book *b, const char *directory,
                     const struct book_kind *kind, hsy_error *err);

#endif
