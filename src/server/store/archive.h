/*
 * archive.h - what the files of archives share.
 *
 * An archive is a head and records in the order in which a store reads back,
 * each with its length and checksum, and an END that counts them.
 * docs/formats.md has the bytes.
 */
#ifndef SERVER_STORE_ARCHIVE_H
#define SERVER_STORE_ARCHIVE_H

#include "server/store/admin.h"

#define ARCHIVE_MAGIC "HSYA"
#define ARCHIVE_VERSION 1u
#define ARCHIVE_HEAD 16u
#define ARCHIVE_RECORD (UINT64_C(1) << 30) /* bytes of a payload at most */

enum archive_type {
    ARCHIVE_STATE = 1,
    ARCHIVE_DOCUMENT,
    ARCHIVE_ENTRY,
    ARCHIVE_COUNT,
    ARCHIVE_QUOTA,
    ARCHIVE_IDS,
    ARCHIVE_TALLY,
    ARCHIVE_CHUNK,
    ARCHIVE_BATCH,
    ARCHIVE_FIGURE,
    ARCHIVE_MERGED,
    ARCHIVE_END,
    ARCHIVE_NULL_IDS, /* after IDS came into use: it stands among them, */
    ARCHIVE_BOOK,     /* this before END, */
    ARCHIVE_RECEIVED, /* and this after BATCH */
    ARCHIVE_TYPES
};

#define ARCHIVE_RECEIVED_HEAD (STORE_BATCH_ID + STORE_DIGEST + 40u)
#define ARCHIVE_BOOK_HEAD 12u /* which (4), from where on (8) */

/* ---- Books beside the store (books.c) ------------------------------------ */

/* All books of a directory, piece by piece; what is not there is none. What
 * each returns ends it, then err is as it was. */
typedef hsy_status archive_piece(void *ctx, uint32_t which, uint64_t at,
                                 const uint8_t *bytes, size_t len);
hsy_status archive_books_read(const char *directory, archive_piece *each,
                              void *ctx, hsy_error *err);

/* The book that arrives; zeroed at first. */
struct archive_book {
    bool open;
    int fd;
    uint32_t which;
    uint64_t at;
};

/* A piece of a book into its file of a directory, the next one; the end of all.
 * A book is looked through when it is whole: HSY_E_FORMAT, HSY_E_VERSION. */
hsy_status archive_book_add(struct archive_book *b, const char *directory,
                            uint32_t which, uint64_t at, const uint8_t *bytes,
                            size_t len, hsy_error *err);
hsy_status archive_book_end(struct archive_book *b, const char *directory,
                            hsy_error *err);
void archive_book_done(struct archive_book *b); /* after a failure too */

#endif
