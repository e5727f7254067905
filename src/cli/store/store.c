/* store.c - hearsay store: a collector's data, while no collector runs. */
#define _GNU_SOURCE /* O_DIRECTORY, faccessat */
#include "cli/store/internal.h"

#include "host/base/day.h"

#include <inttypes.h>
#include <stdlib.h>

#define STORE(member) offsetof(struct store_how, member)

static const struct cli_option store_options[] = {
    {"output", "FILE", "write everything to one archive, whole or not at all",
     CLI_INTO_TEXT, STORE(output), .verbs = "export"},
    {"tallies", "DIRECTORY",
     "write a tally file per task and release, for 'tally' and 'estimate'",
     CLI_INTO_TEXT, STORE(tallies), .verbs = "export"},
    {"with", "PROGRAM",
     "rehearse an upgrade to this hearsay program on a copy beside DIR",
     CLI_INTO_TEXT, STORE(with), .verbs = "check"},
    {"format", "table|csv|json", "output format", CLI_INTO_FORMAT,
     STORE(format), .preset = "table", .verbs = "check"},
    {"before", "DAY", "delete what ended before this day, e.g. 2026-01-31",
     CLI_INTO_DAY, STORE(day), .verbs = "purge"},
    {0}};

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

static int store_run_compact(void *to)
{
    const struct store_how *how = to;

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
    printf("%" PRIu64 " ids of null uploads deleted\n", n);
    return 0;
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

static int store_purge(const struct store_how *how, struct offline *o)
{
    hsy_error err = {0};
    uint64_t n = 0;
    const hsy_status st = offline_retire(o, NULL, how->day, &n, &err);

    return store_retired(how, st, n, &err);
}

static int store_run_purge(void *to)
{
    const struct store_how *how = to;

    return store_is_cluster(how->words[1]) ? store_cluster_retire(how)
                                           : store_with(how, true, store_purge);
}

/* ---- The command --------------------------------------------------------- */

/* The second word of forget-nulls is a day. */
static int store_run_forget_nulls(void *to)
{
    struct store_how *how = to;

    if (!day_parse(&how->day, how->words[2]))
        return cli_usage(&how->parser, "'%s' is not a day such as 2026-01-31",
                         how->words[2]);
    return store_is_cluster(how->words[1])
               ? store_cluster_forget_nulls(how)
               : store_with(how, true, store_forget_nulls);
}

/* The third word of retire is a release. */
static int store_run_retire(void *to)
{
    struct store_how *how = to;
    uint64_t release = 0;

    if (how->words[3] != NULL && (!cli_parse_count(&release, how->words[3]) ||
                                  release == 0 || release > UINT32_MAX))
        return cli_usage(&how->parser,
                         "'%s' is not a release; use an integer from 1",
                         how->words[3]);
    how->release = (uint32_t)release;
    return store_is_cluster(how->words[1])
               ? store_cluster_retire(how)
               : store_with(how, true, store_retire);
}

static const struct cli_verb store_verbs[] = {
    {"check", "DIR|CONFIG", "[--format F] [--with PROGRAM]",
     .run = store_run_check,
     .about = "Read everything and report what is wrong."},
    {"export", "DIR|CONFIG", "[-o FILE] [--tallies DIRECTORY]",
     "output|tallies", store_run_export,
     .about = "Write an archive or tallies."},
    {"import", "FILE DIR|CONFIG", .run = store_run_import,
     .about = "Restore data from an archive."},
    {"compact", "DIR|CONFIG", .run = store_run_compact,
     .about = "Shrink the files on disk."},
    {"forget-nulls", "DIR|CONFIG DAY", .run = store_run_forget_nulls,
     .about = "Delete the stored ids of a day's null uploads."},
    {"retire", "DIR|CONFIG TASK [RELEASE]", .run = store_run_retire,
     .about = "Delete the tallies of a task."},
    {"purge", "DIR|CONFIG", "--before DAY", "before", store_run_purge,
     .about = "Delete the tallies of tasks that ended before a day."},
    {"init-cluster", "CONFIG", .run = store_run_init_cluster,
     .about = "Create the tables of a cluster in its databases."},
    {0}};

static const struct cli_command store_command = {
    "store",
    NULL,
    "Maintain a collector's data while no collector serves it. The data are in "
    "a\ndirectory DIR, or in the databases of a cluster, named by its "
    "configuration\nCONFIG.",
    store_options,
    .verbs = store_verbs,
    .listed = true};

int cmd_store(int argc, char **argv)
{
    struct store_how how = {.words = argv};

    return cli_run(&how.parser, &store_command, argc, argv, &how);
}
