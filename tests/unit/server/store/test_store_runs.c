/*
 * test_store_runs.c - an engine whose ids go to the disk: whatever is killed,
 * closed, copied or damaged, an id that was counted is never new again while
 * its day is open. tests/unit/server/store/test_store_faults.c cuts the power.
 */
#define _GNU_SOURCE

#include "rig/runs_world.h"
#include "rig/sanitized.h"
#include "server/engine/ids.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- Tests --------------------------------------------------------------- */

static void ids_leave_memory(void)
{
    struct world *w = &world;
    struct engine_status s;
    uint64_t n = 0;

    world_new(w);
    for (uint64_t i = 0; i < 20000; i += 1000) {
        n += world_send(w, RIG_DAY, i, i + 1000, INTAKE_COUNTED);
        world_settle(w, UINT32_MAX);
    }
    world_rest(w);
    s = world_status(w);
    ok(n == 20000 && s.ids == n && s.ids_runs >= 2 && s.ids_runs <= 12 &&
           world_files(runs_at) == s.ids_runs,
       "20,000 ids are in %llu files", (unsigned long long)s.ids_runs);
    ok(s.ids_bytes < 20000 * 3 + 4 * IDS_EPOCH_BYTES && s.ids_disk_bytes != 0,
       "in %llu bytes of memory", (unsigned long long)s.ids_bytes);
    ok(world_send(w, RIG_DAY, 0, 20000, INTAKE_AGAIN) == 20000,
       "all are known");
    ok(world_sql(runs_at, "SELECT count(*) FROM ids WHERE length(bytes) > 0") <
           40,
       "their rows are erased");
    ok(world_send(w, RIG_DAY, 20000, 20010, INTAKE_COUNTED) == 10,
       "others are new");
    ok(world_again(w) == HSY_OK &&
           world_send(w, RIG_DAY, 0, 20010, INTAKE_AGAIN) == 20010 &&
           world_status(w).ids == 20010,
       "opened again all are known, those behind erased rows too");
}

/* Ids that are read to become a run, and its filter, are memory of ids too. */
static void making_is_counted(void)
{
    struct world *w = &world;
    uint64_t most = 0;

    world_new(w);
    world_send(w, RIG_DAY, 0, 20000, INTAKE_COUNTED);
    for (unsigned i = 0; i < 40; i++) {
        const uint64_t now = w->store->ops->making(w->store);

        most = now > most ? now : most;
        world_settle(w, 1);
    }
    world_rest(w);
    ok(most >= AT * sizeof(struct store_id) &&
           w->store->ops->making(w->store) == 0,
       "making runs takes %llu bytes, and none when they are there",
       (unsigned long long)most);
    world_end(w);
}

/* Seeds of lives with everything in any order, and a kill between any two
 * steps. */
static void nothing_is_new_again(void)
{
    struct world *w = &world;
    const unsigned lives = getenv("HSY_TEST_LONG") != NULL ? 200
                           : TEST_SANITIZED                ? 3
                                                           : 12;
    uint64_t wrong = 0, kills = 0, made = 0, random = 20261117;

    for (unsigned life = 0; life < lives; life++) {
        uint64_t sent[2] = {0};

        world_new(w);
        for (unsigned step = 0; step < 60; step++) {
            const uint64_t x = (random = random * 6364136223846793005u +
                                         1442695040888963407u) >>
                               33;
            const uint32_t d = x / 16 % 2;
            const uint64_t n = 1 + x / 32 % 700;
            const uint64_t late = sent[d] < 600 ? 0 : sent[d] - 600;

            /* Many small rows, which are joined, or few large ones. */
            world_request = x % 3 == 0 ? 100 : 7;
            if (x % 16 < 7) {
                wrong += world_send(w, RIG_DAY + d, sent[d], sent[d] + n,
                                    INTAKE_COUNTED) != n;
                sent[d] += n;
            } else if (x % 16 < 12) {
                wrong += world_settle(w, (unsigned)(x / 32 % 9)) != HSY_OK;
                wrong += world_send(w, RIG_DAY + d, late, sent[d],
                                    INTAKE_AGAIN) != sent[d] - late;
            } else if (x % 16 < 14) {
                wrong += world_rest(w) != HSY_OK;
            } else {
                wrong += world_again(w) != HSY_OK;
                kills++;
            }
            if (x % 16 > 12)
                for (uint32_t k = 0; k < 2; k++)
                    wrong += world_send(w, RIG_DAY + k, 0, sent[k],
                                        INTAKE_AGAIN) != sent[k];
            wrong += world_status(w).ids != sent[0] + sent[1];
        }
        made += ((struct store_sqlite *)w->store)->runs->next;
        world_end(w);
    }
    world_request = 100;
    ok(wrong == 0 && kills > lives && made > 5 * lives,
       "%u lives with %llu kills and %llu runs: no id is new again", lives,
       (unsigned long long)kills, (unsigned long long)made);
}

static void closed_days_leave_nothing(void)
{
    struct world *w = &world;
    bool good;

    world_new(w);
    good = world_send(w, RIG_DAY, 0, 3000, INTAKE_COUNTED) == 3000 &&
           world_send(w, RIG_DAY + 1, 0, 3000, INTAKE_COUNTED) == 3000;
    world_rest(w);
    good &= world_files(runs_at) >= 2;
    good &= rig_day(&w->r, RIG_DAY + 3) == HSY_OK;
    world_rest(w);
    ok(good && world_status(w).ids == 3000 &&
           world_sql(runs_at,
                     "SELECT count(*) FROM runs WHERE epoch = 20600") == 0 &&
           world_send(w, RIG_DAY + 1, 0, 3000, INTAKE_AGAIN) == 3000,
       "the runs of a day go when it closes, and those of the next stay");
    good = rig_day(&w->r, RIG_DAY + 4) == HSY_OK;
    world_kill(w); /* before they are removed */
    good &= world_open(w, runs_at) == HSY_OK;
    world_rest(w);
    ok(good && world_status(w).ids == 0 && world_files(runs_at) == 0 &&
           world_sql(runs_at, "SELECT count(*) FROM runs") == 0,
       "also after a kill");
    world_end(w);
}

static void nulls_are_forgotten(void)
{
    struct world *w = &world;
    uint64_t n = 0;
    bool good;

    world_new(w);
    good = world_send(w, RIG_DAY, 0, 5000, INTAKE_COUNTED) == 5000;
    world_rest(w);
    good &= world_send(w, RIG_DAY, 5000, 5100, INTAKE_COUNTED) == 100;
    good &= engine_forget_nulls(w->r.e, RIG_DAY, &n, &w->err) == HSY_OK;
    good &= world_again(w) == HSY_OK;
    ok(good && n == 1020 && world_status(w).ids == 5100 - n &&
           world_send(w, RIG_DAY, 0, 5100, INTAKE_AGAIN) == 5100 - n,
       "ids of %llu null uploads are forgotten, of rows and runs",
       (unsigned long long)n);
    world_end(w);
}

/* ---- Copies -------------------------------------------------------------- */

static void copies_are_whole(void)
{
    struct world *w = &world;
    bool good;

    world_new(w);
    good = world_send(w, RIG_DAY, 0, 4000, INTAKE_COUNTED) == 4000;
    world_rest(w);
    good &= world_send(w, RIG_DAY, 4000, 5000, INTAKE_COUNTED) == 1000;
    world_settle(w, 2); /* one is being made */
    store_remove(runs_other);
    good &=
        w->store->ops->backup(w->store, runs_other, NULL, &w->err) == HSY_OK;
    world_rest(w);
    world_kill(w);
    ok(good && world_files(runs_other) != 0 &&
           world_open(w, runs_other) == HSY_OK &&
           world_send(w, RIG_DAY, 0, 5000, INTAKE_AGAIN) == 5000,
       "a backup has its runs");
    world_kill(w);
    ok(store_remove(runs_other), "and is removed with them");
    world_end(w);
}

static void archives_are_whole(void)
{
    struct world *w = &world;
    struct store *to = NULL;
    struct store_state state;
    struct output *out;
    uint8_t *bytes = NULL;
    size_t len = 0;
    char file[] = "/tmp/hearsay-archive-XXXXXX";
    int fd = mkstemp(file);
    bool good;

    world_new(w);
    good = world_send(w, RIG_DAY, 0, 4000, INTAKE_COUNTED) == 4000;
    world_rest(w);
    good &= world_send(w, RIG_DAY, 4000, 4200, INTAKE_COUNTED) == 200;
    engine_close(w->r.e);
    w->r.e = NULL;
    w->state.seq = ((struct store_sqlite *)w->store)->state.seq;
    output_memory(&out);
    good &= store_archive_write(w->store, &w->state, runs_at, out, &w->err) ==
            HSY_OK;
    output_take(out, &bytes, &len);
    good &=
        write(fd, bytes, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0;
    store_remove(runs_other);
    good &= store_sqlite_open(&to, &state, runs_other, true, &w->err) == HSY_OK;
    good &=
        to != NULL && store_archive_read(to, runs_other, fd, &w->err) == HSY_OK;
    if (to != NULL)
        to->ops->close(to);
    world_kill(w);
    ok(good && world_open(w, runs_other) == HSY_OK &&
           world_send(w, RIG_DAY, 0, 4200, INTAKE_AGAIN) == 4200,
       "an archive has the ids of runs");
    world_kill(w);
    store_remove(runs_other);
    world_end(w);
    free(bytes);
    close(fd);
    unlink(file);
}

/* What an archive or an older program leaves: all of it rows. */
static void many_rows_become_runs(void)
{
    struct world *w = &world;
    struct store_sqlite *s;
    uint64_t runs;
    bool good;

    world_new(w);
    world_kill(w);
    w->r.options.runs_at = UINT64_MAX;
    good = world_open(w, runs_at) == HSY_OK &&
           world_send(w, RIG_DAY, 0, 5000, INTAKE_COUNTED) == 5000;
    world_kill(w);
    good &= store_sqlite_open(&w->store, &w->state, runs_at, false, &w->err) ==
            HSY_OK;
    s = (struct store_sqlite *)w->store;
    s->runs->ids_at = 100;
    good &= store_runs_convert(s, &w->err) == HSY_OK;
    world_kill(w);
    good &= world_open(w, runs_at) == HSY_OK;
    runs = world_status(w).ids_runs;
    ok(good && runs >= 2 && world_status(w).ids == 5000 &&
           world_send(w, RIG_DAY, 0, 5000, INTAKE_AGAIN) == 5000 &&
           world_send(w, RIG_DAY, 5000, 5010, INTAKE_COUNTED) == 10 &&
           world_again(w) == HSY_OK &&
           world_send(w, RIG_DAY, 0, 5010, INTAKE_AGAIN) == 5010,
       "very many rows become %llu runs when the store is opened",
       (unsigned long long)runs);
    world_end(w);
}

/* ---- Threads ------------------------------------------------------------- */

static atomic_bool folder_stop;

/* As workers_fold.c does it. */
static void *folder(void *ctx)
{
    struct world *w = ctx;
    hsy_status st = HSY_OK;
    hsy_error err = {0};

    for (unsigned i = 0; st == HSY_OK && !atomic_load(&folder_stop); i++) {
        bool more;

        st = engine_fold(w->r.e, &more, &err);
        if (st == HSY_OK)
            st = engine_settle(w->r.e, i % 3 == 0 ? STORE_QUIET : STORE_BUSY,
                               &more, &err);
    }
    return st == HSY_OK ? NULL : w;
}

/* Only the folder folds here. */
static uint64_t threads_send(struct world *w, uint64_t from, uint64_t to,
                             enum intake_verdict wanted)
{
    uint64_t n = 0;

    for (; from < to; from += 10) {
        struct rig_upload of[10];
        enum intake_verdict verdicts[10];

        for (size_t i = 0; i < 10; i++)
            of[i] = world_upload(RIG_DAY, from + i);
        rig_admit(&w->r, of, 10, verdicts);
        for (size_t i = 0; i < 10; i++)
            n += verdicts[i] == wanted;
    }
    return n;
}

static void two_threads(void)
{
    const uint64_t most = TEST_SANITIZED ? 6000 : 20000;
    struct world *w = &world;
    pthread_t thread;
    void *failed = w;
    uint64_t wrong = 0;

    world_new(w);
    atomic_store(&folder_stop, false);
    if (pthread_create(&thread, NULL, folder, w) != 0)
        return;
    for (uint64_t i = 0; i < most; i += 1000) {
        wrong += threads_send(w, i, i + 1000, INTAKE_COUNTED) != 1000;
        wrong += threads_send(w, i / 2, i / 2 + 1000, INTAKE_AGAIN) != 1000;
    }
    atomic_store(&folder_stop, true);
    pthread_join(thread, &failed);
    world_rest(w);
    ok(wrong == 0 && failed == NULL && world_status(w).ids == most &&
           world_status(w).ids_runs != 0,
       "while one thread makes and merges runs no id is new to the other");
    world_end(w);
}

/* ---- Damage -------------------------------------------------------------- */

static void damage_is_found(void)
{
    struct world *w = &world;
    char path[256];
    off_t bytes = 0;
    int fd;
    bool good;

    world_new(w);
    good = world_send(w, RIG_DAY, 0, 4000, INTAKE_COUNTED) == 4000;
    world_rest(w);
    world_kill(w);
    good &= world_a_file(path, &bytes) && truncate(path, bytes - 1) == 0;
    ok(good && world_open(w, runs_at) == HSY_E_DAMAGED &&
           w->err.field == HOST_FIELD_RUNS,
       "a run that is shorter");
    world_kill(w);
    unlink(path);
    ok(world_open(w, runs_at) == HSY_E_DAMAGED, "one that is not there");
    world_end(w);

    world_new(w);
    good = world_send(w, RIG_DAY, 0, 4000, INTAKE_COUNTED) == 4000;
    world_rest(w);
    world_kill(w);
    good &= world_sql(runs_at, "UPDATE runs SET through = through + 1") != -1;
    ok(good && world_open(w, runs_at) == HSY_E_DAMAGED, "a changed row");
    world_end(w);

    world_new(w);
    good = world_send(w, RIG_DAY, 0, 4000, INTAKE_COUNTED) == 4000;
    world_rest(w);
    good &= world_a_file(path, &bytes);
    fd = open(path, O_RDWR);
    for (off_t at = 4096 + 100; at < bytes; at += 4096)
        good &= pwrite(fd, "changed", 7, at) == 7;
    close(fd);
    for (uint64_t i = 0; i < 50; i++) {
        const struct rig_upload of = world_upload(RIG_DAY, i);
        enum intake_verdict verdict = INTAKE_FULL;
        const hsy_status st = rig_admit(&w->r, &of, 1, &verdict);

        good &= verdict == INTAKE_AGAIN || st != HSY_OK;
    }
    ok(good && world_send(w, RIG_DAY, 9000, 9100, INTAKE_COUNTED) == 0,
       "a page that has changed: nothing is counted any more");
    world_end(w);
}

int main(void)
{
    if (!world_places())
        return 1;
    ids_leave_memory();
    world_end(&world);
    making_is_counted();
    nothing_is_new_again();
    closed_days_leave_nothing();
    nulls_are_forgotten();
    copies_are_whole();
    archives_are_whole();
    many_rows_become_runs();
    two_threads();
    damage_is_found();

    store_remove(runs_at);
    rmdir(runs_root);
    return tap_done();
}
