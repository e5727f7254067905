/* open.c - a collector's data opened while no collector runs. */
#define _GNU_SOURCE /* O_DIRECTORY, faccessat */
#include "server/offline/offline.h"

#include "host/base/host_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether a directory can be read and has nothing of a collector in it: then it
 * is another that was meant, and its mode is no matter. */
static bool open_none(const char *directory)
{
    const int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool none = dir != -1 && faccessat(dir, "record.db", F_OK, 0) == -1 &&
                      errno == ENOENT &&
                      faccessat(dir, "cells.db", F_OK, 0) == -1 &&
                      errno == ENOENT;

    if (dir != -1)
        close(dir);
    return none;
}

hsy_status offline_open(struct offline *o, const char *directory,
                        hsy_error *err)
{
    hsy_status st;

    *o = (struct offline){.directory = directory};
    if (open_none(directory))
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_NONE,
                         "no collector's data");
    st = store_sqlite_open(&o->store, &o->state, directory, false, err);
    if (st != HSY_OK)
        o->store = NULL;
    return st;
}

hsy_status offline_fold(struct offline *o, hsy_error *err)
{
    /* Everything is read and nothing is written, so nothing is too much, and
     * what a collector does about days is left to it. */
    const struct engine_options how = {.ids_epoch = UINT64_MAX,
                                       .fold_bytes = SIZE_MAX,
                                       .tally_bytes = SIZE_MAX,
                                       .keep_days = 36500};
    const hsy_status st =
        engine_open(&o->engine, o->store, &o->state, &how, err);

    if (st == HSY_OK)
        o->roster = engine_roster(o->engine);
    else
        o->engine = NULL;
    return st;
}

void offline_close(struct offline *o)
{
    roster_drop(o->roster);
    engine_close(o->engine);
    if (o->store != NULL)
        o->store->ops->close(o->store);
    *o = (struct offline){0};
}

hsy_status offline_tally(struct offline *o, const struct roster_entry *e,
                         hsy_tally *tally, int64_t **words, hsy_error *err)
{
    hsy_status st;

    *words = malloc(e->words * sizeof **words);
    if (*words == NULL)
        return host_nomem(err);
    hsy_tally_init(tally, e->scheme, *words);
    st = engine_copy(o->engine, e->number, 0, 0, *words, err);
    return st == HSY_E_EMPTY ? HSY_OK : st;
}
