/* export_store.c - hearsay store export, import: data as files and back. */
#define _GNU_SOURCE /* renameat2 */
#include "cli/store/internal.h"

#include "host/format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMPORT_PATH 4096u

/* ---- Out ----------------------------------------------------------------- */

static int export_archive(struct store_data *d, const char *path)
{
    const char *to = cli_output_path(path);
    struct output *out = NULL;
    hsy_error err = {0};
    int failed = cli_open_output(&out, to);

    if (failed)
        return failed;
    errno = 0;
    if (store_archive_write(d->store, &d->state, d->directory, out, &err) !=
        HSY_OK) {
        failed = err.msg != NULL ? store_complain(d->directory, &err)
                                 : cli_fail_output(to);
        output_abort(out);
        return failed;
    }
    return output_commit(out) == HSY_OK ? 0 : cli_fail_output(to);
}

static int export_tally(struct store_data *d, const struct roster_entry *e,
                        const char *directory)
{
    const size_t room = strlen(directory) + HSY_TASK_ID + 32;
    char *path = malloc(room);
    struct output *out = NULL;
    int64_t *words = NULL;
    struct engine_rounds of = {0};
    hsy_tally tally;
    int failed = path == NULL ? cli_fail_nomem() : 0;

    if (!failed) {
        snprintf(path, room, "%s/%s-%" PRIu32 ".tally", directory, e->task.id,
                 e->task.release);
        failed = store_tally(d, e, &tally, &words);
    }
    if (!failed && engine_rounds(&of, d->engine, e, 0, 0, NULL) != HSY_OK)
        failed = cli_fail_nomem();
    if (!failed)
        failed = cli_open_output(&out, path);
    if (!failed && container_put_tally(
                       out, e->scheme, e->task.labels, e->task.labels_len,
                       &tally, of.unknown == 0 ? &of.rounds : NULL) != HSY_OK) {
        failed = cli_fail_output(path);
        output_abort(out);
    } else if (!failed && output_commit(out) != HSY_OK) {
        failed = cli_fail_output(path);
    }
    rounds_clear(&of.rounds);
    free(words);
    free(path);
    return failed;
}

static int export_tallies(struct store_data *d, const char *directory)
{
    int failed = store_fold(d);

    if (failed)
        return failed;
    if (mkdir(directory, 0777) == -1 && errno != EEXIST)
        return cli_fail("%s: %s", directory, strerror(errno));
    for (size_t i = 0; !failed && i < roster_count(d->roster); i++)
        if (!engine_is_retired(d->engine, (uint32_t)i))
            failed = export_tally(d, roster_at(d->roster, i), directory);
    return failed;
}

int store_run_export(const struct store_how *how)
{
    struct store_data d;
    int failed = store_open(&d, how->words[1]);

    umask(077); /* it has the key of the ids, and reports */
    if (!failed && how->output != NULL)
        failed = export_archive(&d, how->output);
    if (!failed && how->tallies != NULL)
        failed = export_tallies(&d, how->tallies);
    store_shut(&d);
    return failed ? failed : cli_finish();
}

/* ---- In ------------------------------------------------------------------ */

static int import_fill(const char *draft, const char *file)
{
    struct store_data d = {.directory = draft};
    hsy_error err = {0};
    int fd = cli_open_input(file), failed = 0;

    if (fd == -1)
        return CLI_FAILED;
    if (store_sqlite_open(&d.store, &d.state, draft, true, &err) != HSY_OK) {
        d.store = NULL;
        failed = store_complain(draft, &err);
    } else if (store_archive_read(d.store, draft, fd, &err) != HSY_OK) {
        failed = err.status == HSY_E_FORMAT
                     ? cli_fail_at(cli_input_name(file), &err)
                     : store_complain(cli_input_name(file), &err);
    }
    cli_close_input(fd);
    store_shut(&d);
    return failed;
}

/* What was made is looked through as any other data would be. */
static int import_check(const char *draft, const char *file)
{
    struct store_data d;
    int failed = store_open(&d, draft);

    if (!failed)
        failed = store_check(&d, false, CLI_TABLE);
    store_shut(&d);
    return failed ? cli_fail("%s: the data in it does not agree with itself; "
                             "nothing was made",
                             cli_input_name(file))
                  : 0;
}

/* Archives of earlier versions have no books. */
static void import_note(const char *draft, const char *file)
{
    char path[IMPORT_PATH];

    if (snprintf(path, sizeof path, "%s/shown.db", draft) < (int)sizeof path &&
        access(path, F_OK) == -1)
        cli_note("%s: it does not say what readers were shown: who has seen "
                 "that could subtract it from what is shown next. Put shown.db "
                 "of the same moment beside the data before it is served",
                 cli_input_name(file));
}

static int import_place(const char *draft, const char *directory)
{
    if (!store_sync(draft) ||
        renameat2(AT_FDCWD, draft, AT_FDCWD, directory, RENAME_NOREPLACE) ==
            -1 ||
        !store_sync_parent(directory))
        return cli_fail("%s: %s", directory, strerror(errno));
    return 0;
}

int store_run_import(const struct store_how *how)
{
    const char *directory = how->words[2];
    const size_t room = strlen(directory) + sizeof ".draft";
    struct stat there;
    char *draft;
    int failed;

    if (lstat(directory, &there) == 0)
        return cli_fail("%s: something is there already; name a directory "
                        "that is not",
                        directory);
    draft = malloc(room);
    if (draft == NULL)
        return cli_fail_nomem();
    snprintf(draft, room, "%s.draft", directory);
    failed = store_remove(draft) ? import_fill(draft, how->words[1])
                                 : cli_fail("%s: it is in the way", draft);
    if (!failed)
        failed = import_check(draft, how->words[1]);
    if (!failed)
        import_note(draft, how->words[1]);
    if (!failed)
        failed = import_place(draft, directory);
    if (failed)
        store_remove(draft);
    free(draft);
    return failed ? failed : cli_finish();
}
