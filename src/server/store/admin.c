/* admin.c - looking through a store, making it small, inheriting one. */
#define _GNU_SOURCE /* fstatat */

#include "server/store/admin.h"

#include "host/base/host_fail.h"
#include "server/store/store_runs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

hsy_status store_admin_verify(struct store *is,
                              void (*say)(void *ctx, const char *file,
                                          const char *text),
                              void *ctx, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    struct sql *const both[] = {&s->append, &s->cells};
    hsy_status st = store_alive(s, err);

    for (size_t i = 0; i < 2 && st == HSY_OK; i++) {
        sqlite3_stmt *q = NULL;
        bool sound = true;
        int rc = sqlite3_prepare_v2(both[i]->db, "PRAGMA integrity_check(20)",
                                    -1, &q, NULL);

        while (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
            const char *text = (const char *)sqlite3_column_text(q, 0);

            rc = SQLITE_OK;
            if (text != NULL && strcmp(text, "ok") == 0)
                continue;
            sound = false;
            say(ctx, both[i]->file, text == NULL ? "out of memory" : text);
        }
        sqlite3_finalize(q);
        if (rc != SQLITE_DONE)
            st = store_fail(s, both[i], rc, err);
        else if (!sound)
            st = store_damaged(s, both[i]->file, err);
    }
    return st;
}

/* ---- A copy -------------------------------------------------------------- */

static void keep_silent(void *ctx, const char *file, const char *text)
{
    (void)ctx;
    (void)file;
    (void)text;
}

hsy_status store_admin_look(const char *directory, hsy_error *err)
{
    struct store *s;
    hsy_status st = store_sqlite_look(&s, directory, err);

    if (st != HSY_OK)
        return st;
    st = store_admin_verify(s, keep_silent, NULL, err);
    if (st == HSY_OK)
        st = store_read(s, &(struct store_reader){.check = true}, err);
    s->ops->close(s);
    return st;
}

/* ---- Room ---------------------------------------------------------------- */

uint64_t store_admin_bytes(struct store *is)
{
    static const char *const names[] = {"record.db", "record.db-wal",
                                        "cells.db", "cells.db-wal"};
    struct store_sqlite *s = (struct store_sqlite *)is;
    uint64_t bytes = store_runs_bytes(s);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct stat file;

        if (fstatat(s->dir, names[i], &file, 0) == 0)
            bytes += (uint64_t)file.st_size;
    }
    return bytes;
}

/* Rewrite both databases. What SQLite sets aside meanwhile is a file without a
 * name in the directory of the store: neither in memory, nor elsewhere on the
 * disk. */
static hsy_status keep_vacuum(struct store_sqlite *s, hsy_error *err)
{
    struct sql *const both[] = {&s->append, &s->cells};
    hsy_status st = HSY_OK;

    sqlite3_temp_directory = sqlite3_mprintf("%s", s->path);
    if (sqlite3_temp_directory == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < 2 && st == HSY_OK; i++) {
        int rc = sqlite3_exec(both[i]->db, "PRAGMA temp_store=FILE; VACUUM",
                              NULL, NULL, NULL);

        st = rc == SQLITE_OK ? store_empty_log(s, both[i], true, err)
                             : store_fail(s, both[i], rc, err);
    }
    sqlite3_free(sqlite3_temp_directory);
    sqlite3_temp_directory = NULL;
    return st;
}

hsy_status store_admin_compact(struct store *is, hsy_error *err)
{
    bool more = true;
    hsy_status st = HSY_OK;

    while (st == HSY_OK && more)
        st = store_housekeeping(is, &more, err);
    for (more = true; st == HSY_OK && more;)
        st = store_settle(is, STORE_QUIET, &more, err);
    return st == HSY_OK ? keep_vacuum((struct store_sqlite *)is, err) : st;
}

/* ---- An heir ------------------------------------------------------------- */

static int keep_state(struct store_sqlite *s, struct sql *q, const void *what)
{
    (void)q;
    s->next.state = *(const struct store_state *)what;
    return SQLITE_OK;
}

hsy_status store_admin_inherit(struct store *is,
                               const struct store_state *state, hsy_error *err)
{
    struct store_sqlite *s = (struct store_sqlite *)is;
    struct store_state next = *state;
    hsy_status st;

    if (s->state.seq != 0)
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                         "it is in use already");
    if (state->closed > STORE_EPOCHS)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_EPOCH, "beyond all days");
    next.seq = 0;
    st = store_write(s, &s->append, keep_state, &next, err);
    if (st == HSY_OK)
        s->state = next;
    return st;
}
