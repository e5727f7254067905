/* store.c - hearsay store: a collector's data, while no collector runs. */
#define _GNU_SOURCE /* O_DIRECTORY, faccessat */
#include "cli/store/internal.h"

#include "host/base/day.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    STORE_OUTPUT = 1,
    STORE_TALLIES,
    STORE_WITH,
    STORE_FORMAT,
    STORE_BEFORE
};

static const struct cli_option store_options[] = {
    {STORE_OUTPUT, "output", "FILE",
     "export: everything, as one archive, whole or not\n"
     "at all"},
    {STORE_TALLIES, "tallies", "DIRECTORY",
     "export: a tally file of each task and release,\n"
     "for 'tally' and 'estimate'"},
    {STORE_WITH, "with", "PROGRAM",
     "check: rehearse an upgrade to this hearsay on a\n"
     "copy beside DIR"},
    CLI_FORMAT_OPTION(STORE_FORMAT),
    {STORE_BEFORE, "before", "DAY", "purge: what was over then"},
    {0, NULL, NULL, NULL}};

static const struct cli_command store_command = {
    "store",
    "check DIR [--format F] [--with PROGRAM] | "
    "export DIR [-o FILE] [--tallies DIRECTORY] | "
    "import FILE DIR | "
    "compact DIR | "
    "forget-nulls DIR DAY | "
    "retire DIR TASK [RELEASE] | "
    "purge DIR --before DAY",
    "Look after a collector's data while no collector serves it. 'check' "
    "reads\n"
    "everything, holds checksums and counts against each other, and says what "
    "is\n"
    "wrong. 'export' writes an archive or tallies, 'import' makes the data of "
    "an\n"
    "archive anew, 'compact' gives room back to the disk, 'forget-nulls' gives "
    "the\n"
    "ids of a day's null uploads back, 'retire' lets the tallies of a task go, "
    "and\n"
    "'purge' those of all that was over before a day.",
    store_options};

/* ---- Opening ------------------------------------------------------------- */

/* Whether a directory can be read and has nothing of a collector in it: then it
 * is another that was meant, and its mode is no matter. */
static bool store_none(const char *directory)
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

int store_open(struct store_data *d, const char *directory)
{
    hsy_error err = {.status = HSY_E_EMPTY};

    *d = (struct store_data){.directory = directory};
    if (store_none(directory))
        return store_complain(directory, &err);
    if (store_sqlite_open(&d->store, &d->state, directory, false, &err) ==
        HSY_OK)
        return 0;
    d->store = NULL;
    return store_complain(directory, &err);
}

int store_fold(struct store_data *d)
{
    /* Everything is read and nothing is written, so nothing is too much, and
     * what a collector does about days is left to it. */
    const struct engine_options o = {.size = sizeof o,
                                     .ids_epoch = UINT64_MAX,
                                     .fold_bytes = SIZE_MAX,
                                     .tally_bytes = SIZE_MAX,
                                     .keep_days = 36500};
    hsy_error err = {0};

    if (engine_open(&d->engine, d->store, &d->state, &o, &err) != HSY_OK) {
        d->engine = NULL;
        return store_complain(d->directory, &err);
    }
    d->roster = engine_roster(d->engine);
    return 0;
}

void store_shut(struct store_data *d)
{
    roster_drop(d->roster);
    engine_close(d->engine);
    if (d->store != NULL)
        d->store->ops->close(d->store);
    *d = (struct store_data){0};
}

int store_tally(struct store_data *d, const struct roster_entry *e,
                hsy_tally *tally, int64_t **words)
{
    hsy_error err = {0};
    hsy_status st;

    *words = malloc(e->words * sizeof **words);
    if (*words == NULL)
        return cli_fail_nomem();
    hsy_tally_init(tally, e->scheme, *words);
    st = engine_copy(d->engine, e->number, 0, 0, *words, &err);
    return st == HSY_OK || st == HSY_E_EMPTY
               ? 0
               : store_complain(d->directory, &err);
}

/* ---- Compact ------------------------------------------------------------- */

int store_run_compact(const struct store_how *how)
{
    struct store_data d;
    hsy_error err = {0};
    uint64_t before;
    int failed = store_open(&d, how->words[1]);

    if (failed) {
        store_shut(&d);
        return failed;
    }
    before = store_admin_bytes(d.store);
    if (store_admin_compact(d.store, &err) != HSY_OK)
        failed = store_complain(d.directory, &err);
    else
        printf("%" PRIu64 " bytes, %" PRIu64 " before\n",
               store_admin_bytes(d.store), before);
    store_shut(&d);
    return failed ? failed : cli_finish();
}

/* ---- The command --------------------------------------------------------- */

#define STORE_BIT(id) ((uint64_t)1 << (id))

static const struct store_action {
    const char *name;
    const char *operands; /* what must follow */
    size_t n;
    uint64_t takes; /* options */
    int (*run)(const struct store_how *how);
} store_actions[] = {
    {"check", "DIR", 1, STORE_BIT(STORE_FORMAT) | STORE_BIT(STORE_WITH),
     store_run_check},
    {"export", "DIR", 1, STORE_BIT(STORE_OUTPUT) | STORE_BIT(STORE_TALLIES),
     store_run_export},
    {"import", "FILE DIR", 2, 0, store_run_import},
    {"compact", "DIR", 1, 0, store_run_compact},
    {"forget-nulls", "DIR DAY", 2, 0, store_run_forget_nulls},
    {"retire", "DIR TASK [RELEASE]", 2, 0, store_run_retire},
    {"purge", "DIR --before DAY", 1, STORE_BIT(STORE_BEFORE), store_run_purge},
};

#define STORE_ACTIONS (sizeof store_actions / sizeof store_actions[0])

static bool store_day(struct cli_parser *p, struct store_how *how,
                      const char *text)
{
    if (day_parse(&how->day, text))
        return true;
    cli_usage(p, "'%s' is not a day as 2026-01-31", text);
    return false;
}

/* The third word of retire is a release. */
static bool store_release(struct cli_parser *p, struct store_how *how)
{
    uint64_t release;

    if (cli_parse_count(&release, how->words[3]) && release != 0 &&
        release <= UINT32_MAX) {
        how->release = (uint32_t)release;
        return true;
    }
    cli_usage(p, "'%s' is not a release", how->words[3]);
    return false;
}

static bool store_option(struct cli_parser *p, int id, struct store_how *how)
{
    if (id == CLI_OPERAND) {
        if (how->nwords == sizeof how->words / sizeof how->words[0]) {
            cli_usage(p, "'%s' is one word too many", p->value);
            return false;
        }
        how->words[how->nwords++] = p->value;
        return true;
    }
    how->given |= STORE_BIT(id);
    if (id == STORE_FORMAT)
        return cli_value_format(p, &how->format);
    if (id == STORE_BEFORE)
        return store_day(p, how, p->value);
    if (id == STORE_OUTPUT)
        how->output = p->value;
    else if (id == STORE_WITH)
        how->with = p->value;
    else
        how->tallies = p->value;
    return true;
}

static const struct store_action *store_action(struct cli_parser *p,
                                               const struct store_how *how)
{
    const char *names[STORE_ACTIONS + 1] = {NULL};
    const char *near;

    if (how->nwords == 0) {
        cli_usage(p, "say what to do: check, export, import, compact, "
                     "forget-nulls, retire or purge");
        return NULL;
    }
    for (size_t i = 0; i < STORE_ACTIONS; i++) {
        names[i] = store_actions[i].name;
        if (strcmp(how->words[0], names[i]) == 0)
            return &store_actions[i];
    }
    near = cli_nearest(how->words[0], names);
    cli_usage(p, near != NULL ? "no '%s'; did you mean '%s'?" : "no '%s'",
              how->words[0], near);
    return NULL;
}

int cmd_store(int argc, char **argv)
{
    struct store_how how = {0};
    const struct store_action *a;
    struct cli_parser p;
    int id;

    cli_begin(&p, &store_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END)
        if (id == CLI_STOP || !store_option(&p, id, &how))
            return p.exit;
    a = store_action(&p, &how);
    if (a == NULL)
        return p.exit;
    if (a->run == store_run_retire && how.nwords == 4) {
        if (!store_release(&p, &how))
            return p.exit;
        how.nwords--;
    }
    if (how.nwords != a->n + 1)
        return cli_usage(&p, "store %s takes %s", a->name, a->operands);
    if ((how.given & ~a->takes) != 0)
        return cli_usage(&p, "that option is not for store %s", a->name);
    if (a->run == store_run_export && how.given == 0)
        return cli_usage(&p, "say where to: -o FILE for everything, --tallies "
                             "DIRECTORY for tallies");
    if (a->run == store_run_purge && how.given == 0)
        return cli_usage(&p, "say --before DAY");
    if (a->run == store_run_forget_nulls && !store_day(&p, &how, how.words[2]))
        return p.exit;
    return a->run(&how);
}
