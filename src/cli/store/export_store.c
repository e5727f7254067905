/* export_store.c - hearsay store export, import: data as files and back. */
#include "cli/store/internal.h"
#include "host/base/output.h"
#include "server/store/archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Out ----------------------------------------------------------------- */

static int export_archive(const struct store_how *how, struct offline *d)
{
    const char *to = cli_output_path(how->output);
    struct output *out = NULL;
    hsy_error err = {0};
    int failed = cli_open_output(&out, to);

    if (failed)
        return failed;
    errno = 0;
    if (store_archive_write(d->store, &d->state, d->directory, out, &err) !=
        HSY_OK) {
        failed = err.msg != NULL ? store_complain(how->words[1], &err)
                                 : cli_fail_output(to);
        output_abort(out);
        return failed;
    }
    return output_commit(out) == HSY_OK ? 0 : cli_fail_output(to);
}

static int export_tallies(const struct store_how *how, struct offline *d)
{
    hsy_error err = {0};
    char *path = NULL;
    const hsy_status st = offline_export(d, &path, how->tallies, &err);
    int failed = 0;

    if (st != HSY_OK && path != NULL && st != HSY_E_NOMEM)
        failed = cli_fail_output(path);
    else if (st != HSY_OK)
        failed = st == HSY_E_NOMEM ? cli_fail_nomem()
                                   : store_complain(how->words[1], &err);
    free(path);
    return failed;
}

int store_export(const struct store_how *how, struct offline *d)
{
    int failed = 0;

    umask(077); /* it has the key of the ids, and reports */
    if (how->output != NULL)
        failed = export_archive(how, d);
    if (!failed && how->tallies != NULL)
        failed = export_tallies(how, d);
    return failed;
}

int store_run_export(void *to)
{
    const struct store_how *how = to;

    return store_is_cluster(how->words[1])
               ? store_cluster_export(how)
               : store_with(how, false, store_export);
}

/* ---- In ------------------------------------------------------------------ */

static int import_unsound(const char *file)
{
    return cli_fail("%s: the archive is inconsistent; nothing was written",
                    file);
}

static int import_refused(const char *directory, const char *file,
                          const struct offline_made *made, const hsy_error *err)
{
    switch (made->what) {
    case OFFLINE_IMPORT_THERE:
        return cli_fail("%s: already exists; import needs a directory that "
                        "does not exist yet",
                        directory);
    case OFFLINE_IMPORT_WAY:
        return cli_fail("%s: already exists; remove it first", made->draft);
    case OFFLINE_IMPORT_DRAFT:
        return store_complain(made->draft, err);
    case OFFLINE_IMPORT_ARCHIVE:
        return err->status == HSY_E_FORMAT ? cli_fail_at(file, err)
                                           : store_complain(file, err);
    case OFFLINE_IMPORT_READ:
        store_complain(made->draft, err);
        return import_unsound(file);
    case OFFLINE_IMPORT_UNSOUND:
        return import_unsound(file);
    case OFFLINE_IMPORT_PLACE:
        return cli_fail("%s: %s", directory, strerror(errno));
    default:
        return cli_fail_nomem();
    }
}

/* Of what is being made. */
static void import_wrong(void *ctx, const char *text)
{
    const struct offline_made *made = ctx;

    cli_fail("%s: %s", made->draft, text);
}

static int import_run(const char *directory, const char *file, int archive)
{
    struct offline_made made;
    const struct offline_check told = {.wrong = import_wrong, .ctx = &made};
    hsy_error err = {0};
    int failed = 0;

    if (offline_import(&made, directory, archive, &told, &err) != HSY_OK)
        failed = import_refused(directory, file, &made, &err);
    else if (made.unshown)
        cli_note("%s: does not record what readers were shown; they could "
                 "subtract it from what is shown next. Put shown.db of the "
                 "same time beside the data before you serve it",
                 file);
    free(made.draft);
    return failed;
}

int store_run_import(void *to)
{
    const struct store_how *how = to;
    const int fd = cli_open_input(how->words[1]);
    int failed;

    if (fd == -1)
        return CLI_FAILED;
    failed = store_is_cluster(how->words[2])
                 ? store_cluster_import(how, fd)
                 : import_run(how->words[2], cli_input_name(how->words[1]), fd);
    cli_close_input(fd);
    return failed ? failed : cli_finish();
}
