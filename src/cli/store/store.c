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

static bool store_day(struct cli_parser *p, struct store_how *how,
                      const char *text)
{
    if (day_parse(&how->day, text))
        return true;
    cli_usage(p, "'%s' is not a day as 2026-01-31", text);
    return false;
}

static bool store_before(struct cli_parser *p, void *to)
{
    return store_day(p, to, p->value);
}

static bool store_operand(struct cli_parser *p, void *to)
{
    struct store_how *how = to;

    if (how->nwords == sizeof how->words / sizeof how->words[0]) {
        cli_usage(p, "'%s' is one word too many", p->value);
        return false;
    }
    how->words[how->nwords++] = p->value;
    return true;
}

#define STORE(member) offsetof(struct store_how, member)

static const struct cli_option store_options[] = {
    {0, "output", "FILE",
     "export: everything, as one archive, whole or not\n"
     "at all",
     CLI_INTO_TEXT, STORE(output)},
    {0, "tallies", "DIRECTORY",
     "export: a tally file of each task and release,\n"
     "for 'tally' and 'estimate'",
     CLI_INTO_TEXT, STORE(tallies)},
    {0, "with", "PROGRAM",
     "check: rehearse an upgrade to this hearsay on a\n"
     "copy beside DIR",
     CLI_INTO_TEXT, STORE(with)},
    CLI_FORMAT_ROW(STORE(format)),
    {0, "before", "DAY", "purge: what was over then", CLI_INTO_CALL,
     .call = store_before},
    {0}};

static const struct cli_command store_command = {
    "store",
    "check DIR [--format F] [--with PROGRAM] | "
    "export DIR [-o FILE] [--tallies DIRECTORY] | "
    "import FILE DIR | "
    "compact DIR | "
    "forget-nulls DIR DAY | "
    "retire DIR TASK [RELEASE] | "
    "purge DIR --before DAY | "
    "init-cluster CONFIG",
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
    "'purge' those of all that was over before a day. 'init-cluster' makes "
    "the\n"
    "tables of a cluster in the databases that a configuration names; such a\n"
    "configuration in the place of DIR is that cluster.",
    store_options, .operand = store_operand};

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
    return store_is_cluster(how->words[1])
               ? store_cluster_compact(how)
               : store_with(how, false, store_compact);
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
    return store_is_cluster(how->words[1])
               ? store_cluster_forget_nulls(how)
               : store_with(how, true, store_forget_nulls);
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
    return store_is_cluster(how->words[1])
               ? store_cluster_retire(how)
               : store_with(how, true, store_retire);
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
    return store_is_cluster(how->words[1]) ? store_cluster_retire(how)
                                           : store_with(how, true, store_purge);
}

/* ---- The command --------------------------------------------------------- */

static const struct store_action {
    const char *name;
    const char *operands; /* what must follow */
    size_t n;
    const char *takes; /* options */
    int (*run)(const struct store_how *how);
} store_actions[] = {
    {"check", "DIR", 1, "format with", store_run_check},
    {"export", "DIR", 1, "output tallies", store_run_export},
    {"import", "FILE DIR", 2, "", store_run_import},
    {"compact", "DIR", 1, "", store_run_compact},
    {"forget-nulls", "DIR DAY", 2, "", store_run_forget_nulls},
    {"retire", "DIR TASK [RELEASE]", 2, "", store_run_retire},
    {"purge", "DIR --before DAY", 1, "before", store_run_purge},
    {"init-cluster", "CONFIG", 1, "", store_run_init_cluster},
};

#define STORE_ACTIONS (sizeof store_actions / sizeof store_actions[0])

/* The third word of retire is a release. */
static bool store_release(struct cli_parser *p, struct store_how *how)
{
    uint64_t release;

    if (cli_parse_count(&release, how->words[3]) && release != 0 &&
        release <= UINT32_MAX) {
        how->release = (uint32_t)release;
        how->nwords--;
        return true;
    }
    cli_usage(p, "'%s' is not a release", how->words[3]);
    return false;
}

static const struct store_action *store_action(struct cli_parser *p,
                                               const struct store_how *how)
{
    const char *near;
    size_t i = cli_find(store_actions, sizeof store_actions[0], STORE_ACTIONS,
                        how->words[0], &near);

    if (i < STORE_ACTIONS)
        return &store_actions[i];
    if (how->nwords == 0)
        cli_usage(p, "say what to do: check, export, import, compact, "
                     "forget-nulls, retire, purge or init-cluster");
    else
        cli_usage(p, near != NULL ? "no '%s'; did you mean '%s'?" : "no '%s'",
                  how->words[0], near);
    return NULL;
}

int cmd_store(int argc, char **argv)
{
    struct store_how how = {0};
    const struct store_action *a;
    struct cli_parser p;

    if (!cli_read(&p, &store_command, argc, argv, &how))
        return p.exit;
    a = store_action(&p, &how);
    if (a == NULL || (a->run == store_run_retire && how.nwords == 4 &&
                      !store_release(&p, &how)))
        return p.exit;
    if (how.nwords != a->n + 1)
        return cli_usage(&p, "store %s takes %s", a->name, a->operands);
    if (cli_stray(&p, a->takes) != NULL)
        return cli_usage(&p, "that option is not for store %s", a->name);
    if (a->run == store_run_export && p.given == 0)
        return cli_usage(&p, "say where to: -o FILE for everything, --tallies "
                             "DIRECTORY for tallies");
    if (a->run == store_run_purge && p.given == 0)
        return cli_usage(&p, "say --before DAY");
    if (a->run == store_run_forget_nulls && !store_day(&p, &how, how.words[2]))
        return p.exit;
    return a->run(&how);
}
