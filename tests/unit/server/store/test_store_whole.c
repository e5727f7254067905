/* Tests of src/server/store/sqlite.c: damage is found, a backup is whole,
 * threads do not meet. */
#define _GNU_SOURCE

#include "rig/store_rig.h"
#include "server/store/admin.h"
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>

static char whole_root[64], whole_at[96], whole_other[96];
static struct rig whole_rig;

static hsy_status whole_open(struct rig *r, struct rig_told *told,
                             hsy_error *err)
{
    *err = (hsy_error){0};
    return rig_open(r, whole_at, told, err);
}

/* A whole life in whole_at. */
static struct rig_told whole_live(void)
{
    struct rig_told told = {0};
    struct rig *r = &whole_rig;
    hsy_error err;
    hsy_status st;

    rig_remove(whole_at);
    st = whole_open(r, &told, &err);
    for (unsigned k = 0; st == HSY_OK && k < RIG_STEPS; k++)
        st = rig_step(r, k, &err);
    rig_close(r);
    return told;
}

/* ---- Damage -------------------------------------------------------------- */

static hsy_status whole_reopen(hsy_error *err)
{
    struct rig_told told = {0};
    hsy_status st = whole_open(&whole_rig, &told, err);

    rig_close(&whole_rig);
    return st;
}

static void damage_is_found(void)
{
    static const struct {
        const char *file, *change, *what;
        hsy_status status;
    } cases[] = {
        {"record.db", "PRAGMA user_version = 5", "a newer record",
         HSY_E_VERSION},
        {"cells.db", "PRAGMA user_version = 3", "newer cells", HSY_E_VERSION},
        {"record.db", "UPDATE meta SET seq = seq + 1", "a changed state",
         HSY_E_DAMAGED},
        {"record.db", "DELETE FROM meta", "no state", HSY_E_DAMAGED},
        {"record.db", "UPDATE entries SET bytes = zeroblob(5) WHERE number = 1",
         "a changed entry", HSY_E_DAMAGED},
        {"record.db", "UPDATE counts SET reports = reports + 1",
         "changed counts", HSY_E_DAMAGED},
        {"record.db", "UPDATE ids SET place = place + 1000", "moved ids",
         HSY_E_DAMAGED},
        {"record.db", "UPDATE batches SET reports = 2", "changed batches",
         HSY_E_DAMAGED},
        {"record.db", "UPDATE rounds SET round = round - 1", "an old round",
         HSY_E_DAMAGED},
        {"record.db", "DROP TABLE quotas", "a missing table", HSY_E_DAMAGED},
        {"cells.db",
         "DELETE FROM chunks WHERE number = (SELECT max(number) "
         "FROM chunks)",
         "a missing chunk", HSY_E_DAMAGED},
        {"cells.db", "UPDATE chunks SET words = zeroblob(length(words))",
         "changed words", HSY_E_DAMAGED},
        {"cells.db", "UPDATE meta SET name = zeroblob(16)", "other cells",
         HSY_E_DAMAGED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsy_error err = {0};
        hsy_status st;

        whole_live();
        if (rig_sql(whole_at, cases[i].file, cases[i].change) == -1)
            ok(false, "%s", cases[i].change);
        st = whole_reopen(&err);
        ok(st == cases[i].status && err.msg != NULL &&
               err.field != HSY_FIELD_NONE,
           "%s: %s", cases[i].what, err.msg == NULL ? "nothing" : err.msg);
    }
}

static void missing_parts_are_found(void)
{
    static const char *const files[] = {"record.db", "cells.db"};
    hsy_error err;
    FILE *out;

    for (size_t i = 0; i < 2; i++) {
        whole_live();
        unlink(rig_path(whole_at, files[i]));
        ok(whole_reopen(&err) == HSY_E_DAMAGED, "without %s it is damaged",
           files[i]);
        whole_live();
        out = fopen(rig_path(whole_at, files[i]), "wb");
        fputs("this is no database, and it is long enough not to be one", out);
        fclose(out);
        ok(whole_reopen(&err) == HSY_E_DAMAGED, "with a text for %s too",
           files[i]);
        whole_live();
        fclose(fopen(rig_path(whole_at, files[i]), "wb"));
        ok(whole_reopen(&err) == HSY_E_DAMAGED, "with nothing in %s too",
           files[i]);
    }
    rig_remove(whole_at);
}

/* After damage was met nothing is written. */
static void nothing_after_damage(void)
{
    struct rig_told told = whole_live();
    struct rig *r = &whole_rig;
    hsy_error err;

    rig_sql(whole_at, "cells.db", "UPDATE chunks SET round = round + 100");
    ok(whole_open(r, &told, &err) == HSY_E_DAMAGED &&
           rig_append(r, &err) == HSY_E_DAMAGED,
       "a damaged store takes no commit");
    rig_close(r);
    rig_remove(whole_at);
}

/* ---- Backups ------------------------------------------------------------- */

static void backups_are_whole(void)
{
    struct rig_told told = {0}, then = {0};
    struct rig *r = &whole_rig;
    hsy_error err;
    hsy_status st = whole_open(r, &told, &err);

    for (unsigned k = 0; st == HSY_OK && k < RIG_STEPS; k++) {
        st = rig_step(r, k, &err);
        if (k == 39) { /* with chunks that wait for their round */
            rig_fold(r, 0);
            rig_chunks(r, 0, 0, r->whole[0], r->dirty[0], &err);
            then = told;
            st = r->store->ops->backup(r->store, whole_other, NULL, &err);
        }
    }
    ok(st == HSY_OK, "a backup is made in the middle of a life");
    ok(r->store->ops->backup(r->store, whole_other, NULL, &err) ==
           HSY_E_REFUSED,
       "never over something that is there");
    ok(r->store->ops->backup(r->store, "/nonexistent/backup", NULL, &err) ==
           HSY_E_IO,
       "nor where nothing can be made");
    ok(rig_append(r, &err) == HSY_OK, "and the store goes on");
    rig_close(r);
    ok(store_admin_look(whole_other, &err) == HSY_OK &&
           access(rig_path(whole_other, "lock"), F_OK) == -1,
       "which is looked through as it was made, and left as it is");
    ok(rig_open(r, whole_other, &then, &err) == HSY_OK && r->wrong == NULL,
       "the backup is the store of that moment%s%s",
       r->wrong == NULL ? "" : ": ", r->wrong == NULL ? "" : r->wrong);
    rig_close(r);
    rig_sql(whole_other, "cells.db",
            "UPDATE chunks SET words = zeroblob(length(words))");
    ok(store_admin_look(whole_other, &err) == HSY_E_DAMAGED,
       "one that is not sound is found");
    rig_remove(whole_other);
    rig_remove(whole_at);
}

struct whole_beside {
    hsy_status st; /* what it says */
    bool draft;    /* what it was given had another name */
};

static hsy_status whole_put(void *ctx, const char *directory, hsy_error *err)
{
    struct whole_beside *b = ctx;
    FILE *out = fopen(rig_path(directory, "shown.db"), "wb");

    b->draft = strcmp(directory, whole_other) != 0 &&
               access(whole_other, F_OK) == -1 &&
               access(rig_path(directory, "record.db"), F_OK) == 0;
    fclose(out);
    *err = (hsy_error){
        .status = b->st, .field = HOST_FIELD_SHOWN_DB, .msg = "no room"};
    return b->st;
}

/* What belongs beside the store is there before a backup has its name. */
static void backups_are_whole_with_what_is_beside(void)
{
    struct rig_told told = whole_live();
    struct whole_beside b = {.st = HSY_E_FULL};
    const struct store_beside beside = {whole_put, &b};
    struct rig *r = &whole_rig;
    char draft[128];
    hsy_error err;

    snprintf(draft, sizeof draft, "%s.draft", whole_other);
    whole_open(r, &told, &err);
    ok(r->store->ops->backup(r->store, whole_other, &beside, &err) ==
               HSY_E_FULL &&
           b.draft && access(whole_other, F_OK) == -1 &&
           access(draft, F_OK) == -1,
       "a backup that lacks what belongs beside it is not there");
    b = (struct whole_beside){.st = HSY_OK};
    ok(r->store->ops->backup(r->store, whole_other, &beside, &err) == HSY_OK &&
           b.draft && access(rig_path(whole_other, "shown.db"), F_OK) == 0,
       "it has its name when all of it is");
    rig_close(r);
    rig_remove(whole_other);
    rig_remove(whole_at);
}

/* ---- Threads ------------------------------------------------------------- */

static struct rig whole_folder; /* what the thread that writes tallies has */
static atomic_uint_fast64_t whole_appended;
static atomic_bool whole_failed;

static void *whole_append_all(void *ctx)
{
    struct rig *r = ctx;
    hsy_error err;
    bool more;

    for (unsigned i = 0; i < 40; i++) {
        if (rig_append(r, &err) != HSY_OK ||
            r->store->ops->tidy(r->store, &more, &err) != HSY_OK)
            atomic_store(&whole_failed, true);
        atomic_store(&whole_appended, r->state.seq);
    }
    return NULL;
}

static void *whole_write_all(void *ctx)
{
    struct rig *w = ctx;
    hsy_error err;

    while (w->through[1] < 40 && !atomic_load(&whole_failed)) {
        for (uint32_t e = 0; e < 2; e++) {
            w->state.seq = atomic_load(&whole_appended);
            rig_fold(w, e);
            if (rig_write(w, e, &err) != HSY_OK)
                atomic_store(&whole_failed, true);
        }
    }
    return NULL;
}

/* One appends, one writes tallies, a third makes backups: each backup is the
 * store of some moment. */
static void threads_do_not_meet(void)
{
    struct rig_told told = {0}, folded = {0};
    struct rig *r = &whole_rig, *w = &whole_folder;
    pthread_t threads[2];
    unsigned good = 0;
    hsy_error err;

    whole_open(r, &told, &err);
    rig_document(r, &err);
    memset(w, 0, sizeof *w);
    w->store = r->store;
    w->told = &folded;
    pthread_create(&threads[0], NULL, whole_append_all, r);
    pthread_create(&threads[1], NULL, whole_write_all, w);
    for (unsigned i = 0; i < 5; i++) {
        snprintf(whole_other, sizeof whole_other, "%s/other%u", whole_root, i);
        if (r->store->ops->backup(r->store, whole_other, NULL, &err) != HSY_OK)
            atomic_store(&whole_failed, true);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    rig_close(r);
    ok(!atomic_load(&whole_failed), "three threads use a store");
    ok(whole_open(r, &told, &err) == HSY_OK && r->wrong == NULL,
       "and everything is there once%s%s", r->wrong == NULL ? "" : ": ",
       r->wrong == NULL ? "" : r->wrong);
    rig_close(r);
    for (unsigned i = 0; i < 5; i++) {
        struct store_state state = {.seq = 0};
        struct store *s;

        snprintf(whole_other, sizeof whole_other, "%s/other%u", whole_root, i);
        if (store_sqlite_open(&s, &state, whole_other, false, &err) == HSY_OK)
            s->ops->close(s);
        told = (struct rig_told){.acknowledged = state.seq};
        good +=
            rig_open(r, whole_other, &told, &err) == HSY_OK && r->wrong == NULL;
        rig_close(r);
        rig_remove(whole_other);
    }
    ok(good == 5, "each of 5 backups is the store of a moment");
    rig_remove(whole_at);
}

int main(void)
{
    if (!rig_root(whole_root))
        return 1;
    snprintf(whole_at, sizeof whole_at, "%s/data", whole_root);
    snprintf(whole_other, sizeof whole_other, "%s/other", whole_root);

    damage_is_found();
    missing_parts_are_found();
    nothing_after_damage();
    backups_are_whole();
    backups_are_whole_with_what_is_beside();
    threads_do_not_meet();

    rmdir(whole_root);
    return tap_done();
}
