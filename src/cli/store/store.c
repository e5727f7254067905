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

/* ---- With the data open -------------------------------------------------- */

int store_with(const struct store_how *how, bool fold,
               int (*run)(const struct store_how *how, struct offline *o))
{
    struct offline o;
    hsy_error err = {0};
    hsy_status st = offline_open(&o, how->words[1], &err);
    int failed;

    if (st == HSY_OK && fold)
        st = offline_fold(&o, &err);
    failed = st == HSY_OK ? run(how, &o) : store_complain(how->words[1], &err);
    offline_close(&o);
    return failed ? failed : cli_finish();
}

static int store_compact(const struct store_how *how, struct offline *o)
{
    const uint64_t before = store_admin_bytes(o->store);
    hsy_error err = {0};

    if (store_admin_compact(o->store, &err) != HSY_OK)
        return store_complain(how->words[1], &err);
    printf("%" PRIu64 " bytes, %" PRIu64 " before\n",
           store_admin_bytes(o->store), before);
    return 0;
}

static int store_run_compact(const struct store_how *how)
{
    return store_with(how, false, store_compact);
}

/* ---- What may be forgotten ----------------------------------------------- */

static int store_forget_nulls(const struct store_how *how, struct offline *o)
{
    hsy_error err = {0};
    uint64_t n = 0;

    if (engine_forget_nulls(o->engine, how->day, &n, &err) != HSY_OK)
        return store_complain(how->words[1], &err);
    printf("%" PRIu64 " ids of null uploads are forgotten\n", n);
    return 0;
}

static int store_run_forget_nulls(const struct store_how *how)
{
    return store_with(how, true, store_forget_nulls);
}

static int store_retired(const struct store_how *how, hsy_status st, uint64_t n,
                         const hsy_error *err)
{
    if (st != HSY_OK)
        return store_complain(how->words[1], err);
    printf("retired: %" PRIu64 "\n", n);
    return 0;
}

static int store_retire(const struct store_how *how, struct offline *o)
{
    hsy_error err = {0};
    uint64_t n = 0;
    const hsy_status st =
        offline_retire(o, how->words[2], how->release, &n, &err);

    return store_retired(how, st, n, &err);
}

static int store_run_retire(const struct store_how *how)
{
    return store_with(how, true, store_retire);
}

static int store_purge(const struct store_how *how, struct offline *o)
{
    hsy_error err = {0};
    uint64_t n = 0;
    const hsy_status st = offline_purge(o, how->day, &n, &err);

    return store_retired(how, st, n, &err);
}

static int store_run_purge(const struct store_how *how)
{
    return store_with(how, true, store_purge);
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
