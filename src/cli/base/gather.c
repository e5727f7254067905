/* gather.c - the files of a command into one tally, with messages. */
#include "cli/base/gather.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Messages ------------------------------------------------------------ */

static const char *const gather_said[] = {
    [GATHER_UNSAID] = "does not state its round, but other files do; add it "
                      "with 'hearsay tally --round SLOT:ROUND'",
    [GATHER_KEPT_UNSAID] = "reports made from permanent answers share their "
                           "noise with other rounds, but no round is stated; "
                           "add it with 'hearsay tally --round SLOT:ROUND'",
    [GATHER_ROUNDS_SAID] = "states its rounds; leave out --rounds",
    [GATHER_ROUNDS_NONE] = "--rounds does not apply to a curator's release, "
                           "which has no reports; leave it out",
    [GATHER_ROUNDS_FRESH] =
        "--rounds applies only to reports made from permanent answers; leave "
        "it out (here every report has fresh noise, and a person who reports "
        "twice counts twice)",
    [GATHER_ROUNDS_LACK] =
        "no interval: its reports are made from permanent answers, and the "
        "number of rounds is not stated; use --rounds 1 if nobody is in it "
        "twice, else --rounds T for at most T reports a person"};

static int gather_fail_mixed(const struct gather *g)
{
    const struct gather_wrong *w = &g->wrong;
    char names[160] = "";

    if (w->mechanisms[0] != NULL)
        snprintf(names, sizeof names, ": %s and %s", w->mechanisms[0],
                 w->mechanisms[1]);
    if (w->name == g->first)
        return cli_fail(
            "%s: holds parts that cannot be merged: they differ in %s%s",
            w->name, w->difference, names);
    return cli_fail("%s: cannot be merged with %s: they differ in %s%s",
                    w->name, g->first, w->difference, names);
}

static int gather_fail(const struct gather *g, const hsy_error *err)
{
    const struct gather_wrong *w = &g->wrong;

    if (err->status == HSY_E_NOMEM)
        return cli_fail_nomem();
    switch (w->trouble) {
    case GATHER_OTHER:
        return cli_fail_at(w->name, err);
    case GATHER_REPORT:
        return cli_fail("%s: %s %" PRIu64 ", report %" PRIu64 ": %s", w->name,
                        hsy_unit_name(w->unit), w->line, w->report,
                        err->msg != NULL ? err->msg
                                         : hsy_strstatus(err->status));
    case GATHER_COLUMN:
        return cli_fail_truth(w->name, w->line, &w->record);
    case GATHER_MIXED:
        return gather_fail_mixed(g);
    default:
        return cli_fail("%s: %s", w->name, gather_said[w->trouble]);
    }
}

/* ---- Files --------------------------------------------------------------- */

static int gather_add(struct gather *g, const char *path,
                      struct cli_progress *progress)
{
    int fd = cli_open_input(path);
    hsy_error err = {0};
    hsy_status st;

    if (fd == -1)
        return CLI_FAILED;
    cli_progress_input(progress, fd);
    g->tick = cli_progress_set;
    g->tick_ctx = progress;
    st = gather_file(g, fd, cli_input_name(path), &err);
    if (st == HSY_OK)
        cli_progress_set(progress, g->counted);
    cli_close_input(fd);
    cli_progress_end(progress);
    return st == HSY_OK ? 0 : gather_fail(g, &err);
}

int cli_gather_file(struct gather *g, const char *path)
{
    struct cli_progress progress = {.what = "reports"};

    cli_progress_inputs(&progress, &path, 1);
    return gather_add(g, path, &progress);
}

static int gather_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A file that is named twice is counted twice: a slip of the hand, most likely,
 * that would show nowhere else. */
static int gather_twice(char *const *paths, size_t n)
{
    char **sorted;

    if (n < 2)
        return 0;
    sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL)
        return cli_fail_nomem();
    memcpy(sorted, paths, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, gather_order);
    for (size_t i = 1; i < n; i++)
        if (strcmp(sorted[i], sorted[i - 1]) == 0)
            cli_note("warning: %s is given twice; its people count twice",
                     sorted[i]);
    free(sorted);
    return 0;
}

int cli_gather_files(struct gather *g, struct cli_parser *p, char **paths,
                     int n)
{
    int failed = cli_check_inputs(p, (const char *const *)paths, (size_t)n);
    struct cli_progress progress = {.what = "reports"};
    hsy_error err = {0};

    if (!failed)
        failed = gather_twice(paths, (size_t)n);
    if (!failed)
        cli_progress_inputs(&progress, (const char *const *)paths, (size_t)n);
    if (!failed && n == 0)
        failed = gather_add(g, NULL, &progress);
    for (int i = 0; i < n && !failed; i++)
        failed = gather_add(g, paths[i], &progress);
    if (failed)
        return failed;
    return gather_settle(g, &err) == HSY_OK ? 0 : gather_fail(g, &err);
}

int cli_gather_attend(struct gather *g, uint64_t most)
{
    hsy_error err = {0};

    return gather_attend(g, most, &err) == HSY_OK ? 0 : gather_fail(g, &err);
}
