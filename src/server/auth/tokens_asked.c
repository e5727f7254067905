/* tokens_asked.c - whether tokens can be of any use to whom they are given. */
#include "server/auth/internal.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tokens_asked_in(const void *bytes, size_t len, const char *task)
{
    hsy_document doc;
    hsy_task is;

    if (bytes == NULL || hsy_document_open(&doc, bytes, len, NULL) != HSY_OK)
        return true;
    for (uint32_t i = 0; i < doc.tasks; i++) {
        hsy_document_task(&doc, &is, i);
        if (strcmp(is.id, task) == 0)
            return true;
    }
    return false;
}

/* Beside a collector that runs: one look, and nothing is written. */
static bool asked_look(sqlite3 *db, const char *task)
{
    sqlite3_stmt *ask = NULL;
    bool known = true;

    if (sqlite3_prepare_v2(db, "SELECT bytes FROM documents", -1, &ask, NULL) ==
            SQLITE_OK &&
        sqlite3_step(ask) == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(ask, 0);

        known =
            tokens_asked_in(bytes, (size_t)sqlite3_column_bytes(ask, 0), task);
    }
    sqlite3_finalize(ask);
    return known;
}

bool tokens_asked_record(const char *data, const char *task)
{
    const size_t room = strlen(data) + sizeof "/record.db";
    char *path = malloc(room);
    sqlite3 *db = NULL;
    bool known = true;

    if (path == NULL)
        return true;
    snprintf(path, room, "%s/record.db", data);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK)
        known = asked_look(db, task);
    sqlite3_close(db);
    free(path);
    return known;
}

bool tokens_asked(struct tokens_keep *k, const char *task)
{
    return k->ops->asked(k, task);
}
