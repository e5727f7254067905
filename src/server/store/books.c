/*
 * books.c - the books beside a store in its archive: what readers were
 * shown, who may ask.
 *
 * Without shown.db data that was carried elsewhere would begin with another
 * generation, and whoever has seen both could subtract them. A book goes as the
 * bytes of its file, and is looked through when it arrives.
 */
#define _GNU_SOURCE /* O_NOFOLLOW */

#include "server/store/archive.h"

#include "host/base/host_fail.h"
#include "server/store/book.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define BOOKS_PATH 4096u

/* By their numbers in an archive, from 1 on. */
static const struct book_kind *const books_kinds[] = {&shown_kind,
                                                      &tokens_kind};

#define BOOKS_COUNT (sizeof books_kinds / sizeof books_kinds[0])

struct books_one {
    archive_piece *each;
    void *ctx;
    uint32_t which;
};

static hsy_status books_piece(void *ctx, uint64_t at, const uint8_t *bytes,
                              size_t len)
{
    const struct books_one *one = ctx;

    return one->each(one->ctx, one->which, at, bytes, len);
}

hsy_status archive_books_read(const char *directory, archive_piece *each,
                              void *ctx, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (uint32_t i = 0; st == HSY_OK && i < BOOKS_COUNT; i++) {
        struct books_one one = {each, ctx, i + 1};
        struct book b;

        st = book_open(&b, directory, books_kinds[i], false, err);
        if (st == HSY_E_EMPTY) {
            st = HSY_OK;
            continue;
        }
        if (st == HSY_OK)
            st = book_bytes(&b, directory, books_piece, &one, err);
        book_close(&b);
    }
    return st;
}

/* ---- Arriving ------------------------------------------------------------ */

void archive_book_done(struct archive_book *b)
{
    if (b->open)
        close(b->fd);
    b->open = false;
}

static hsy_status books_failed(hsy_error *err)
{
    return host_fail(err, errno == ENOSPC ? HSY_E_FULL : HSY_E_IO,
                     HOST_FIELD_BOOK, "it cannot be written");
}

/* Make what arrived durable, and look through it. */
static hsy_status books_finish(struct archive_book *b, const char *directory,
                               hsy_error *err)
{
    const bool durable = fsync(b->fd) == 0;
    struct book book;
    hsy_status st;

    archive_book_done(b);
    if (!durable)
        return books_failed(err);
    st = book_open(&book, directory, books_kinds[b->which - 1], false, err);
    if (st == HSY_OK)
        st = book_look(&book, err);
    book_close(&book);
    if (st == HSY_OK || st == HSY_E_NOMEM || st == HSY_E_VERSION ||
        st == HSY_E_FULL)
        return st;
    return host_fail(err, HSY_E_FORMAT,
                     host_field_find(books_kinds[b->which - 1]->name),
                     "it is damaged");
}

static hsy_status books_begin(struct archive_book *b, const char *directory,
                              uint32_t which, hsy_error *err)
{
    char path[BOOKS_PATH];

    if (snprintf(path, sizeof path, "%s/%s", directory,
                 books_kinds[which - 1]->name) >= (int)sizeof path)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_BOOK,
                         "its name is too long");
    b->fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (b->fd == -1)
        return books_failed(err);
    b->open = true;
    b->which = which;
    b->at = 0;
    return HSY_OK;
}

hsy_status archive_book_add(struct archive_book *b, const char *directory,
                            uint32_t which, uint64_t at, const uint8_t *bytes,
                            size_t len, hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (which == 0 || which > BOOKS_COUNT || which < b->which ||
        (at != 0 && (which != b->which || at != b->at)) ||
        (at == 0 && which == b->which))
        return host_fail(err, HSY_E_FORMAT, HOST_FIELD_BOOK,
                         "a part of it is missing or out of order");
    if (at == 0) {
        st = archive_book_end(b, directory, err);
        if (st == HSY_OK)
            st = books_begin(b, directory, which, err);
    }
    if (st == HSY_OK && write(b->fd, bytes, len) != (ssize_t)len)
        st = books_failed(err);
    b->at += len;
    return st;
}

hsy_status archive_book_end(struct archive_book *b, const char *directory,
                            hsy_error *err)
{
    return b->open ? books_finish(b, directory, err) : HSY_OK;
}
