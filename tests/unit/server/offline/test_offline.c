/* test_offline.c - a collector's data while nobody serves it: checked,
 * exported, imported, retired, and an upgrade rehearsed. */
#define _GNU_SOURCE
#include "server/offline/offline.h"

#include "host/base/output.h"
#include "rig/engine_rig.h"
#include "server/store/archive.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* A path below the root, until the fourth after it. */
static const char *at(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
    const int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, mode);

    if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    close(fd);
}

static size_t files_in(const char *path)
{
    DIR *d = opendir(path);
    size_t n = 0;

    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL)
        closedir(d);
    return n > 2 ? n - 2 : 0;
}

static void sql(const char *name, const char *text)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(at(name), &db) != SQLITE_OK ||
        sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        abort();
    sqlite3_close(db);
}

/* Data with five reports of the first task, one of the second and a null
 * upload; over: the next release of each is asked since. */
static void make(const char *name, bool over)
{
    static const struct rig_upload uploads[] = {
        {.task = 0, .epoch = RIG_DAY, .kind = 1, .id = 1, .n = 5, .first = 10},
        {.task = 1, .epoch = RIG_DAY, .kind = 1, .id = 2, .n = 1},
        {.task = 0, .epoch = RIG_DAY, .kind = 2, .id = 3, .n = 1}};
    struct rig r = {.options = {.ids_epoch = 1 << 20,
                                .fold_bytes = 1 << 20,
                                .tally_bytes = 1 << 24,
                                .day_words = 2000,
                                .keep_days = 5,
                                .grace_days = 2,
                                .clock_days = 12}};
    struct store_state state;
    struct store *store = NULL;
    hsy_error err = {0};

    r.document = rig_document(RIG_TASKS, 1, 1, &r.document_len);
    if (store_sqlite_open(&store, &state, at(name), true, &err) != HSY_OK ||
        engine_open(&r.e, store, &state, &r.options, &err) != HSY_OK ||
        engine_set_document(r.e, r.document, r.document_len, &err) != HSY_OK)
        abort();
    r.roster = engine_roster(r.e);
    rig_jump(&r, RIG_DAY);
    for (size_t i = 0; i < 3; i++)
        if (rig_one(&r, uploads[i]) != INTAKE_COUNTED)
            abort();
    free(r.document);
    r.document = rig_document(RIG_TASKS, 2, 2, &r.document_len);
    if (over &&
        engine_set_document(r.e, r.document, r.document_len, &err) != HSY_OK)
        abort();
    engine_close(r.e);
    roster_drop(r.roster);
    store->ops->close(store);
    free(r.document);
}

/* ---- Opening and checking ------------------------------------------------ */

struct heard {
    unsigned n;
    char last[OFFLINE_PROBLEM];
};

static void hear(void *ctx, const char *text)
{
    struct heard *h = ctx;

    h->n++;
    snprintf(h->last, sizeof h->last, "%s", text);
}

static void opening(void)
{
    struct offline o;
    hsy_error err = {0};

    ok(offline_open(&o, root, &err) == HSY_E_EMPTY, "nothing is in the root");
    offline_close(&o);
    ok(offline_open(&o, at("nowhere"), &err) != HSY_OK, "nor elsewhere");
    offline_close(&o);
}

static void checking(void)
{
    struct heard h = {0};
    struct offline_check c = {.wrong = hear, .ctx = &h};
    struct offline o;
    hsy_error err = {0};
    int64_t *words = NULL;
    hsy_tally tally;

    ok(offline_open(&o, at("data"), &err) == HSY_OK &&
           offline_check(&c, &o, &err) == HSY_OK && h.n == 0 &&
           c.problem[0] == '\0',
       "sound data is told nothing of");
    ok(c.n == RIG_TASKS && c.ids == 3 && c.rows[0].counted == 5 &&
           c.rows[0].nulls == 1 && c.rows[0].tallied == 5 &&
           c.rows[1].tallied == 1 && c.rows[2].counted == 0 && c.rows[0].agrees,
       "every report is in its tally");
    ok(offline_tally(&o, roster_at(o.roster, 2), &tally, &words, &err) ==
               HSY_OK &&
           hsy_tally_reports(&tally) == 0,
       "a task without reports has a tally of zeros");
    free(words);
    offline_check_clear(&c);
    offline_close(&o);
}

static void damage(void)
{
    struct heard h = {0};
    struct offline_check c = {.wrong = hear, .ctx = &h};
    struct offline o;
    hsy_error err = {0};

    make("bad", false);
    sql("bad/record.db", "UPDATE ids SET bytes = zeroblob(length(bytes))");
    ok(offline_open(&o, at("bad"), &err) == HSY_OK &&
           offline_check(&c, &o, &err) == HSY_OK && h.n == 1 &&
           strcmp(h.last, c.problem) == 0 && strstr(c.problem, "ids") != NULL,
       "a row that is not as it was written is told (%s)", h.last);
    offline_check_clear(&c);
    offline_close(&o);
}

/* ---- Files --------------------------------------------------------------- */

static void exporting(void)
{
    struct offline o;
    hsy_error err = {0};
    char *path = NULL;

    ok(offline_open(&o, at("data"), &err) == HSY_OK &&
           offline_export(&o, &path, at("tallies"), &err) == HSY_OK &&
           path == NULL && files_in(at("tallies")) == RIG_TASKS,
       "a tally file a task");
    offline_close(&o);
    ok(offline_open(&o, at("data"), &err) == HSY_OK &&
           offline_export(&o, &path, at("no/where"), &err) == HSY_E_IO &&
           path != NULL && strcmp(path, at("no/where")) == 0,
       "a directory that cannot be made is named");
    free(path);
    offline_close(&o);
}

static void archive(const char *name)
{
    struct output *out = NULL;
    struct offline o;
    hsy_error err = {0};

    if (offline_open(&o, at("data"), &err) != HSY_OK ||
        output_open(&out, at(name)) != HSY_OK ||
        store_archive_write(o.store, &o.state, o.directory, out, &err) !=
            HSY_OK ||
        output_commit(out) != HSY_OK)
        abort();
    offline_close(&o);
}

static hsy_status import(struct offline_made *made, const char *file,
                         const char *directory)
{
    const struct offline_check told = {0};
    const int fd = open(at(file), O_RDONLY);
    hsy_error err = {0};
    hsy_status st = offline_import(made, at(directory), fd, &told, &err);

    close(fd);
    free(made->draft);
    return st;
}

static void importing(void)
{
    struct offline_check c = {0};
    struct offline_made made;
    struct offline o;
    hsy_error err = {0};

    archive("archive");
    ok(import(&made, "archive", "heir") == HSY_OK &&
           made.what == OFFLINE_IMPORTED && made.unshown,
       "an archive becomes data; of what was shown it says nothing");
    ok(offline_open(&o, at("heir"), &err) == HSY_OK &&
           offline_check(&c, &o, &err) == HSY_OK && c.problem[0] == '\0' &&
           c.rows[0].tallied == 5 && c.ids == 3,
       "with all that was counted");
    offline_check_clear(&c);
    offline_close(&o);
    ok(import(&made, "archive", "heir") != HSY_OK &&
           made.what == OFFLINE_IMPORT_THERE,
       "nothing is made over it");
    write_file("no-archive", "hello", 0600);
    ok(import(&made, "no-archive", "other") != HSY_OK &&
           made.what == OFFLINE_IMPORT_ARCHIVE &&
           access(at("other"), F_OK) == -1 &&
           access(at("other.draft"), F_OK) == -1,
       "nor of another file");
    write_file("stuck.draft", "", 0600);
    ok(import(&made, "archive", "stuck") != HSY_OK &&
           made.what == OFFLINE_IMPORT_WAY,
       "nor where something is in the way");
}

/* ---- Forgetting ---------------------------------------------------------- */

static void forgetting(void)
{
    struct offline o;
    hsy_error err = {0};
    uint64_t n = 0;

    make("old", true);
    ok(offline_open(&o, at("old"), &err) == HSY_OK &&
           offline_fold(&o, &err) == HSY_OK &&
           offline_retire(&o, "one", 1, &n, &err) == HSY_OK && n == 1 &&
           engine_is_retired(o.engine, 0) && !engine_is_retired(o.engine, 1),
       "a release that is over is retired");
    ok(offline_retire(&o, "one", 2, &n, &err) != HSY_OK &&
           offline_retire(&o, "nix", 0, &n, &err) == HSY_E_UNKNOWN,
       "one that is asked is not, nor one that does not exist");
    ok(offline_retire(&o, NULL, 1, &n, &err) == HSY_OK && n == 0 &&
           offline_retire(&o, NULL, RIG_DAY + 1, &n, &err) == HSY_E_RANGE,
       "days that are open are not purged");
    offline_close(&o);
}

/* ---- An upgrade ---------------------------------------------------------- */

static enum offline_upgrade upgrade(struct offline_upgraded *u,
                                    const char *theirs)
{
    char ours[128];
    hsy_error err = {0};

    snprintf(ours, sizeof ours, "%s", at("ours"));
    (void)offline_upgrade(u, at("data"), ours, at(theirs), &err);
    ok(u->unremoved == 0 && u->what != OFFLINE_UPGRADE_MEMORY &&
           (u->what == OFFLINE_UPGRADE_WAY || access(u->copy, F_OK) == -1),
       "what is done leaves no copy behind");
    free(u->copy);
    return u->what;
}

static void upgrades(void)
{
    struct offline_upgraded u;

    write_file("ours",
               "#!/bin/sh\ngrep -q changed \"$3/last\" 2>/dev/null && { echo "
               "newer; exit 1; }\n"
               "echo '{\"ids\": 3, \"bytes\": 7}'\n",
               0700);
    write_file("same",
               "#!/bin/sh\necho '{\"ids\": 3, \"bytes\": 9, \"more\": 1}'\n",
               0700);
    write_file("changes",
               "#!/bin/sh\necho changed >\"$3/last\"\necho '{\"ids\": 3, "
               "\"bytes\": 7}'\n",
               0700);
    write_file("other", "#!/bin/sh\necho '{\"ids\": 4, \"bytes\": 7}'\n", 0700);
    write_file("fails", "#!/bin/sh\nexit 1\n", 0700);
    ok(upgrade(&u, "same") == OFFLINE_UPGRADE_SAME && u.back,
       "one that says the same, and more, is taken; and left again");
    free(u.why);
    ok(upgrade(&u, "changes") == OFFLINE_UPGRADE_SAME && !u.back &&
           strcmp(u.why, "newer") == 0,
       "of one that changes the data there is no way back");
    free(u.why);
    ok(upgrade(&u, "other") == OFFLINE_UPGRADE_OTHER &&
           strcmp(u.key, "ids") == 0,
       "one that counts otherwise is told of");
    ok(upgrade(&u, "fails") == OFFLINE_UPGRADE_UNREAD, "one that fails");
    ok(upgrade(&u, "nowhere") == OFFLINE_UPGRADE_RUN && u.reason == ENOENT,
       "one that is not there");
    write_file("ours", "#!/bin/sh\nexit 1\n", 0700);
    ok(upgrade(&u, "same") == OFFLINE_UPGRADE_UNSOUND, "data that is unsound");
    if (mkdir(at("data.rehearsal"), 0700) == -1)
        abort();
    ok(upgrade(&u, "same") == OFFLINE_UPGRADE_WAY, "something in the way");
}

int main(void)
{
    char command[96];

    snprintf(root, sizeof root, "/tmp/hearsay-offline-XXXXXX");
    if (mkdtemp(root) == NULL)
        return 1;
    make("data", false);
    opening();
    checking();
    damage();
    exporting();
    importing();
    forgetting();
    upgrades();
    snprintf(command, sizeof command, "rm -rf %s", root);
    if (system(command) != 0)
        return 1;
    return tap_done();
}
