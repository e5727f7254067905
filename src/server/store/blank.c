/*
 * blank.c - what was erased leaves the record's log while it is in use.
 *
 * A log that is cut gives its blocks back, and every commit after that waits
 * until the file system has found and noted others: on a busy machine for a
 * hundred milliseconds and more. So where somebody waits the log is begun again
 * (store_log.c) and what lies behind its end is written over with zeros, a
 * little at a time.
 *
 * What lies there is of earlier beginnings. SQLite tells it from what counts by
 * the salts in the log's head, which it writes and syncs before the first frame
 * of a beginning. So nothing is written over before there is such a frame: were
 * the head an old one, a log with zeros in it would be read up to there, and
 * pages would be older than in the database. Where the log ends says its index
 * (https://sqlite.org/walformat.html, 2.1), while nobody can write: within a
 * transaction. An index of another form says nothing to us: then the log is
 * cut.
 */
#include "server/store/internal.h"

#include <string.h>

#define BLANK_WRITES 4u        /* at a time, */
#define BLANK_BYTES 65536u     /* of so many bytes */
#define BLANK_INDEX 32768      /* bytes of the first part of an index */
#define BLANK_VERSION 3007000u /* its first word */
#define BLANK_PAGE 3u   /* the word of it whose latter half is a page's size */
#define BLANK_FRAMES 4u /* the word of it that counts frames */
#define BLANK_HEAD 32u  /* bytes of a log's head, */
#define BLANK_FRAME                                                            \
    (24u + STORE_PAGE) /* and of a frame: its head and a page                  \
                        */

bool store_blank_knows(const volatile uint32_t *index)
{
    const uint32_t word = index[BLANK_PAGE];
    uint16_t half[2];

    memcpy(half, &word, sizeof half);
    return index[0] == BLANK_VERSION && half[1] == STORE_PAGE;
}

/* How many frames of this beginning there are; within a transaction. *known:
 * the index says so as it is known to. */
static int blank_frames(struct sql *q, uint32_t *frames, bool *known)
{
    sqlite3_file *db = NULL;
    void volatile *index = NULL;
    int rc = sqlite3_file_control(q->db, "main", SQLITE_FCNTL_FILE_POINTER,
                                  (void *)&db);

    if (rc == SQLITE_OK)
        rc = db->pMethods->xShmMap(db, 0, BLANK_INDEX, 0, &index);
    *known = rc == SQLITE_OK && index != NULL && store_blank_knows(index);
    *frames = *known ? ((const volatile uint32_t *)index)[BLANK_FRAMES] : 0;
    return rc;
}

static int blank_file(struct sql *q, sqlite3_file **log)
{
    return sqlite3_file_control(q->db, "main", SQLITE_FCNTL_JOURNAL_POINTER,
                                (void *)log);
}

/* Zeros from a place on, up to the end of the file or so many bytes. */
static int blank_write(sqlite3_file *log, sqlite3_int64 *at, sqlite3_int64 size)
{
    static const uint8_t zeros[BLANK_BYTES];
    int rc = SQLITE_OK;

    for (unsigned i = 0; rc == SQLITE_OK && i < BLANK_WRITES && *at < size;
         i++) {
        const sqlite3_int64 left = size - *at;
        const int n =
            left < (sqlite3_int64)sizeof zeros ? (int)left : (int)sizeof zeros;

        rc = log->pMethods->xWrite(log, zeros, n, *at);
        *at += n;
    }
    return rc;
}

struct blank {
    sqlite3_int64 *at; /* up to where it is written over */
    bool *more, *known;
};

static int blank_piece(struct store_sqlite *s, struct sql *q, const void *what)
{
    const struct blank *b = what;
    sqlite3_file *log = NULL;
    sqlite3_int64 size = 0, end;
    uint32_t frames;
    int rc = blank_file(q, &log);

    (void)s;
    if (rc == SQLITE_OK)
        rc = log->pMethods->xFileSize(log, &size);
    if (rc == SQLITE_OK)
        rc = blank_frames(q, &frames, b->known);
    *b->more = false;
    if (rc != SQLITE_OK || frames == 0)
        return rc;
    end = BLANK_HEAD + (sqlite3_int64)frames * BLANK_FRAME;
    if (*b->at < end)
        *b->at = end;
    rc = blank_write(log, b->at, size);
    *b->more = *b->at < size;
    return rc;
}

/* A frame of this beginning, so that the head is its. */
static int blank_begin(struct store_sqlite *s, struct sql *q, const void *what)
{
    (void)what;
    return store_put_meta(s, q);
}

/* While all may write. */
static hsy_status blank_sync(struct store_sqlite *s, struct sql *q,
                             hsy_error *err)
{
    sqlite3_file *log = NULL;
    int rc = blank_file(q, &log);

    if (rc == SQLITE_OK)
        rc = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    return rc == SQLITE_OK ? HSY_OK : store_fail(s, q, rc, err);
}

hsy_status store_blank_log(struct store_sqlite *s, hsy_error *err)
{
    sqlite3_int64 at = 0;
    bool more = true, known = true;
    const struct blank b = {&at, &more, &known};
    hsy_status st = store_write(s, &s->flip, blank_begin, NULL, err);

    while (st == HSY_OK && more) {
        st = store_write(s, &s->flip, blank_piece, &b, err);
        if (st == HSY_OK)
            st = blank_sync(s, &s->flip, err);
    }
    return st == HSY_OK && !known ? store_empty_log(s, &s->flip, true, err)
                                  : st;
}
