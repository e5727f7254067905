/* tally_archive.c - a collector's data as files, and back. */
#define _GNU_SOURCE /* renameat2 */
#include "server/offline/offline.h"

#include "host/base/files.h"
#include "host/base/host_fail.h"
#include "host/base/output.h"
#include "host/format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Out ----------------------------------------------------------------- */

static hsy_status archive_write(const char *path, const struct roster_entry *e,
                                const hsy_tally *tally,
                                const struct engine_rounds *of)
{
    struct output *out = NULL;
    hsy_status st;

    errno = 0;
    st = output_open(&out, path);
    if (st != HSY_OK)
        return st;
    st = container_put_tally(out, e->scheme, e->task.labels, e->task.labels_len,
                             tally, of->unknown == 0 ? &of->rounds : NULL,
                             &of->batches);
    if (st != HSY_OK) {
        output_abort(out);
        return st;
    }
    return output_commit(out);
}

/* One entry. The path stays with who asked if it could not be written. */
static hsy_status archive_tally(struct offline *o, char **path,
                                const struct roster_entry *e,
                                const char *directory, hsy_error *err)
{
    const size_t room = strlen(directory) + HSY_TASK_ID + 32;
    char *name = malloc(room);
    struct engine_rounds of = {0};
    int64_t *words = NULL;
    hsy_tally tally;
    hsy_status st = name == NULL ? host_nomem(err)
                                 : offline_tally(o, e, &tally, &words, err);

    if (st == HSY_OK && engine_rounds(&of, o->engine, e, 0, 0, NULL) != HSY_OK)
        st = host_nomem(err);
    if (st == HSY_OK) {
        snprintf(name, room, "%s/%s-%" PRIu32 ".tally", directory, e->task.id,
                 e->task.release);
        st = archive_write(name, e, &tally, &of);
        if (st != HSY_OK) {
            *path = name;
            name = NULL;
        }
    }
    rounds_clear(&of.rounds);
    free(words);
    free(name);
    return st;
}

hsy_status offline_export(struct offline *o, char **path, const char *directory,
                          hsy_error *err)
{
    hsy_status st = offline_fold(o, err);

    *path = NULL;
    if (st != HSY_OK)
        return st;
    if (mkdir(directory, 0777) == -1 && errno != EEXIST) {
        *path = strdup(directory);
        return *path != NULL ? HSY_E_IO : host_nomem(err);
    }
    for (size_t i = 0; st == HSY_OK && i < roster_count(o->roster); i++)
        if (!engine_is_retired(o->engine, (uint32_t)i))
            st =
                archive_tally(o, path, roster_at(o->roster, i), directory, err);
    return st;
}

/* ---- In ------------------------------------------------------------------ */

static hsy_status archive_fill(struct offline_made *made, int archive,
                               hsy_error *err)
{
    struct offline d = {.directory = made->draft};
    hsy_status st =
        store_sqlite_open(&d.store, &d.state, made->draft, true, err);

    made->what = OFFLINE_IMPORT_DRAFT;
    if (st != HSY_OK) {
        d.store = NULL;
    } else {
        made->what = OFFLINE_IMPORT_ARCHIVE;
        st = store_archive_read(d.store, made->draft, archive, err);
    }
    offline_close(&d);
    return st;
}

/* What was made is looked through as any other data would be. */
static hsy_status archive_check(struct offline_made *made,
                                const struct offline_check *told,
                                hsy_error *err)
{
    struct offline_check c = {.wrong = told->wrong, .ctx = told->ctx};
    struct offline d;
    hsy_status st = offline_open(&d, made->draft, err);

    made->what = OFFLINE_IMPORT_READ;
    if (st == HSY_OK)
        st = offline_check(&c, &d, err);
    if (st == HSY_OK && c.problem[0] != '\0') {
        made->what = OFFLINE_IMPORT_UNSOUND;
        st = host_fail(err, HSY_E_DAMAGED, HSY_FIELD_NONE,
                       "the data does not agree with itself");
    }
    offline_check_clear(&c);
    offline_close(&d);
    return st;
}

/* Archives of earlier versions have no books. */
static bool archive_unshown(const char *draft)
{
    char *path = file_path(draft, "shown.db");
    const bool none = path != NULL && access(path, F_OK) == -1;

    free(path);
    return none;
}

static hsy_status archive_place(struct offline_made *made,
                                const char *directory, hsy_error *err)
{
    if (store_sync(made->draft) &&
        renameat2(AT_FDCWD, made->draft, AT_FDCWD, directory,
                  RENAME_NOREPLACE) == 0 &&
        store_sync_parent(directory))
        return HSY_OK;
    made->what = OFFLINE_IMPORT_PLACE;
    return host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                     "it cannot be put in its place");
}

static hsy_status archive_make(struct offline_made *made, const char *directory,
                               int archive, const struct offline_check *told,
                               hsy_error *err)
{
    hsy_status st = archive_fill(made, archive, err);

    if (st == HSY_OK)
        st = archive_check(made, told, err);
    if (st == HSY_OK) {
        made->unshown = archive_unshown(made->draft);
        st = archive_place(made, directory, err);
    }
    if (st != HSY_OK) {
        const int reason = errno;

        store_remove(made->draft);
        errno = reason;
    }
    return st;
}

hsy_status offline_import(struct offline_made *made, const char *directory,
                          int archive, const struct offline_check *told,
                          hsy_error *err)
{
    const size_t room = strlen(directory) + sizeof ".draft";
    struct stat there;
    hsy_status st;

    *made = (struct offline_made){.what = OFFLINE_IMPORT_THERE};
    if (lstat(directory, &there) == 0)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_NONE,
                         "something is there");
    made->what = OFFLINE_IMPORT_MEMORY;
    made->draft = malloc(room);
    if (made->draft == NULL)
        return host_nomem(err);
    snprintf(made->draft, room, "%s.draft", directory);
    made->what = OFFLINE_IMPORT_WAY;
    if (!store_remove(made->draft))
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_NONE,
                         "it is in the way");
    st = archive_make(made, directory, archive, told, err);
    if (st == HSY_OK)
        made->what = OFFLINE_IMPORTED;
    return st;
}
