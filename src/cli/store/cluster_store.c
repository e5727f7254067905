/* cluster_store.c - hearsay store on a cluster, which a configuration names. */
#define _GNU_SOURCE /* mkdtemp */
#include "cli/store/internal.h"

#include "server/cluster/cluster_admin.h"
#include "server/cluster/shown_many.h"
#include "server/collector/shown/shown.h"
#include "server/process/config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A cluster that is visited. */
struct visit {
    const char *path;
    struct config f;
    struct counting *c;
};

/* ---- Its configuration --------------------------------------------------- */

bool store_is_cluster(const char *path)
{
    struct stat is;

    return stat(path, &is) == 0 && S_ISREG(is.st_mode);
}

/* What a configuration says, perhaps instead of a directory; its mistakes are
 * those of 'serve check'. */
static int cluster_config(struct config *f, const char *path, bool instead)
{
    const char *no = instead ? "not a directory, and as a configuration " : "";
    hsy_problem *problems = NULL;
    hsy_error err = {0};
    size_t n = 0;
    const hsy_status st =
        config_read(f, false, path, NULL, 0, &problems, &n, &err);

    free(problems);
    if (st == HSY_E_IO)
        return cli_fail_file(path, &err);
    if (st != HSY_OK)
        return cli_fail("%s: %snot valid; see 'hearsay serve check %s'", path,
                        no, path);
    if (!config_many(f)) {
        config_clear(f);
        return cli_fail("%s: %sit has no 'storage'; list the databases of the "
                        "cluster there",
                        path, no);
    }
    return 0;
}

static struct cluster_options cluster_how(const struct config *f)
{
    return (struct cluster_options){.storage = f->storage,
                                    .node = "store",
                                    .visits = true,
                                    .rehearsal = f->rehearsal != NULL,
                                    .keep_days = f->keep_days};
}

/* Which database, what is wrong, and why. */
static int cluster_refused(const char *about, const char *reason,
                           const hsy_error *err)
{
    return cli_fail("%s: %s%s%s", about != NULL ? about : "storage",
                    err->msg != NULL ? err->msg : hsy_strstatus(err->status),
                    reason[0] != '\0' ? ": " : "", reason);
}

/* ---- init-cluster -------------------------------------------------------- */

int store_run_init_cluster(void *to)
{
    const struct store_how *how = to;
    struct config f = {0};
    struct cluster_options o;
    char reason[PG_REASON] = "";
    const char *about = NULL;
    hsy_error err = {0};
    size_t made = 0;
    int failed = cluster_config(&f, how->words[1], false);

    if (failed)
        return failed;
    o = cluster_how(&f);
    if (cluster_init(&o, &made, &about, reason, &err) != HSY_OK)
        failed = cluster_refused(about, reason, &err);
    config_clear(&f);
    if (failed)
        return failed;
    if (made == 0)
        printf("nothing to do: all shards have their tables\n");
    else
        printf("%zu shard%s made or upgraded\n", made, made == 1 ? "" : "s");
    return cli_finish();
}

/* ---- Visiting ------------------------------------------------------------ */

static int visit_open(struct visit *v, const char *path)
{
    char reason[PG_REASON] = "";
    const char *about = NULL;
    hsy_error err = {0};
    int failed;

    *v = (struct visit){.path = path};
    failed = cluster_config(&v->f, path, true);
    if (!failed) {
        const struct cluster_options o = cluster_how(&v->f);
        const struct engine_options engine = {
            .ids_epoch = UINT64_MAX,
            .fold_bytes = SIZE_MAX,
            .tally_bytes = SIZE_MAX,
            .day_words = v->f.day_words,
            .keep_days = (uint32_t)v->f.keep_days,
            .grace_days = (uint32_t)v->f.grace_days,
            .clock_days = (uint32_t)v->f.clock_days};

        if (cluster_open(&v->c, &o, &engine, &about, reason, &err) != HSY_OK)
            failed = cluster_refused(about, reason, &err);
    }
    return failed;
}

static void visit_close(struct visit *v)
{
    if (v->c != NULL)
        v->c->ops->close(v->c);
    config_clear(&v->f);
}

static int visit_refused(const struct visit *v, const hsy_error *err)
{
    const char *why = cluster_why(v->c);

    if (why[0] == '\0')
        return store_complain(v->path, err);
    return cluster_refused(v->path, why, err);
}

/* Nobody may serve it meanwhile. */
static int visit_quiet(const struct visit *v)
{
    char node[CLUSTER_NODE];
    hsy_error err = {0};

    if (cluster_quiet(v->c, node, &err) == HSY_OK)
        return 0;
    return node[0] != '\0'
               ? cli_fail("%s: the node '%s' is running; stop all nodes first "
                          "(a killed one is forgotten after %u seconds)",
                          v->path, node, CLUSTER_ALIVE)
               : visit_refused(v, &err);
}

/* A directory for books, of which PATH_MAX bytes hold the name. */
static int visit_directory(char *name)
{
    const char *in = getenv("TMPDIR");

    if (snprintf(name, PATH_MAX, "%s/hearsay-XXXXXX",
                 in != NULL && in[0] != '\0' ? in : "/tmp") >= PATH_MAX)
        return cli_fail("TMPDIR: the name is too long");
    return mkdtemp(name) != NULL ? 0
                                 : cli_fail("%s: %s", name, strerror(errno));
}

/* ---- Reading ------------------------------------------------------------- */

static void visit_wrong(void *ctx, const char *text)
{
    bool *any = ctx;

    *any = true;
    cli_fail("%s", text);
}

static int visit_check(const struct store_how *how, struct visit *v)
{
    struct offline o = {.directory = v->path};
    struct cluster_status is;
    hsy_error err = {0};
    bool wrong = false;
    int failed = 0;

    cluster_status(v->c, &is);
    o.shards = is.nshards;
    if (cluster_bytes(v->c, &o.bytes, &err) != HSY_OK ||
        cluster_look_through(v->c, visit_wrong, &wrong, &err) != HSY_OK ||
        cluster_store(&o.store, &o.state, v->c, true, &err) != HSY_OK)
        return visit_refused(v, &err);
    failed = store_check(how, &o);
    if (failed && cluster_why(v->c)[0] != '\0')
        cli_fail("%s: %s", v->path, cluster_why(v->c));
    offline_close(&o);
    return wrong ? CLI_FAILED : failed;
}

int store_cluster_check(const struct store_how *how)
{
    struct visit v;
    int failed = visit_open(&v, how->words[1]);

    if (!failed)
        failed = visit_check(how, &v);
    visit_close(&v);
    return failed ? failed : cli_finish();
}

static int visit_export(const struct store_how *how, struct visit *v,
                        const char *directory)
{
    struct offline o = {.directory = directory, .shards = 1};
    hsy_error err = {0};
    int failed = 0;

    if (cluster_fold_all(v->c, &err) != HSY_OK ||
        cluster_store(&o.store, &o.state, v->c, false, &err) != HSY_OK)
        return visit_refused(v, &err);
    if (how->output != NULL &&
        cluster_store_books(o.store, directory, &err) != HSY_OK)
        failed = visit_refused(v, &err);
    else
        failed = store_export(how, &o);
    offline_close(&o);
    return failed;
}

int store_cluster_export(const struct store_how *how)
{
    char directory[PATH_MAX];
    struct visit v;
    int failed = visit_open(&v, how->words[1]);

    if (!failed)
        failed = visit_quiet(&v);
    if (!failed)
        failed = visit_directory(directory);
    if (!failed) {
        failed = visit_export(how, &v, directory);
        store_remove(directory);
    }
    visit_close(&v);
    return failed ? failed : cli_finish();
}

/* ---- Importing ----------------------------------------------------------- */

static int import_refused(const struct store_how *how, const char *about,
                          const char *reason, const hsy_error *err)
{
    const char *file = cli_input_name(how->words[1]);

    if (about == NULL)
        return err->status == HSY_E_FORMAT ? cli_fail_at(file, err)
                                           : store_complain(file, err);
    if (err->status == HSY_E_BUSY && reason[0] != '\0' && err->msg != NULL &&
        strcmp(err->msg, "a node is running") == 0)
        return cli_fail("%s: the node '%s' is running; stop all nodes first",
                        how->words[2], reason);
    return cluster_refused(about, reason, err);
}

/* Whatever waits is folded, as a collector does when it is stopped. */
static int import_fold(const struct store_how *how)
{
    struct visit v;
    hsy_error err = {0};
    int failed = visit_open(&v, how->words[2]);

    if (!failed && cluster_fold_all(v.c, &err) != HSY_OK)
        failed = visit_refused(&v, &err);
    visit_close(&v);
    return failed;
}

int store_cluster_import(const struct store_how *how, int archive)
{
    struct config f = {0};
    struct cluster_options o;
    char directory[PATH_MAX], reason[PG_REASON] = "";
    const char *about = NULL;
    hsy_error err = {0};
    bool unshown = false;
    int failed = cluster_config(&f, how->words[2], true);

    if (!failed)
        failed = visit_directory(directory);
    if (!failed) {
        o = cluster_how(&f);
        if (cluster_import(&o, archive, directory, &unshown, &about, reason,
                           &err) != HSY_OK)
            failed = import_refused(how, about, reason, &err);
        store_remove(directory);
    }
    config_clear(&f);
    if (!failed && unshown)
        cli_note("%s: does not record what readers were shown; they could "
                 "subtract it from what is shown next",
                 cli_input_name(how->words[1]));
    return failed ? failed : import_fold(how);
}

/* ---- Forgetting ---------------------------------------------------------- */

int store_cluster_compact(const struct store_how *how)
{
    uint64_t before = 0, after = 0;
    hsy_error err = {0};
    struct visit v;
    int failed = visit_open(&v, how->words[1]);

    if (!failed && (cluster_bytes(v.c, &before, &err) != HSY_OK ||
                    cluster_compact(v.c, &err) != HSY_OK ||
                    cluster_bytes(v.c, &after, &err) != HSY_OK))
        failed = visit_refused(&v, &err);
    visit_close(&v);
    if (failed)
        return failed;
    printf("%" PRIu64 " bytes, %" PRIu64 " before\n", after, before);
    return cli_finish();
}

int store_cluster_forget_nulls(const struct store_how *how)
{
    hsy_error err = {0};
    struct visit v;
    uint64_t n = 0;
    int failed = visit_open(&v, how->words[1]);

    if (!failed && cluster_forget_nulls(v.c, how->day, &n, &err) != HSY_OK)
        failed = visit_refused(&v, &err);
    visit_close(&v);
    if (failed)
        return failed;
    printf("%" PRIu64 " ids of null uploads deleted\n", n);
    return cli_finish();
}

/* What readers are shown is forgotten too. */
static hsy_status retire_shown(const struct visit *v, uint32_t before,
                               hsy_error *err)
{
    struct shown_options o = {.engine = v->c->view,
                              .day_words = v->f.day_words,
                              .keep_days = v->f.keep_days};
    struct shown *shown = NULL;
    hsy_status st = shown_many_open(&o.keep, cluster_place(v->c, 0), err);

    if (st == HSY_OK)
        st = shown_open(&shown, &o, err);
    if (st == HSY_OK)
        st = shown_forget(shown, before, err);
    shown_close(shown);
    return st;
}

int store_cluster_retire(const struct store_how *how)
{
    const bool task = how->words[2] != NULL;
    hsy_error err = {0};
    struct visit v;
    uint64_t n = 0;
    int failed = visit_open(&v, how->words[1]);
    hsy_status st;

    if (!failed) {
        st = v.c->ops->retire(v.c, how->words[2],
                              task ? how->release : how->day, &n, &err);
        if (st == HSY_OK)
            st = retire_shown(&v, task ? 0 : how->day, &err);
        if (st != HSY_OK)
            failed = visit_refused(&v, &err);
    }
    visit_close(&v);
    if (failed)
        return failed;
    printf("retired: %" PRIu64 "\n", n);
    return cli_finish();
}
