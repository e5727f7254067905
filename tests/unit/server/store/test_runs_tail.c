/* Tests of src/server/store/store_runs_make.c: who appends waits for no run
 * that is made, merged or removed. */
#define _GNU_SOURCE

#include "rig/store_disk.h"
#include "rig/store_rig.h"
#include "tap.h"

static char tail_root[64], tail_at[96];
static struct store *tail_store;
static struct store_state tail_state;

static bool tail_locked(void)
{
    struct store_sqlite *s = (struct store_sqlite *)tail_store;
    bool locked;

    pthread_mutex_lock(&s->writing.mutex);
    locked = s->writing.last != s->writing.served;
    pthread_mutex_unlock(&s->writing.mutex);
    return locked;
}

#define TAIL_IDS 4096u /* of a commit */

static struct tail_runs {
    unsigned writes, locked; /* of runs, and those while nobody may write */
    unsigned syncs, deletes;
    unsigned step, most; /* writes of one call at most */
} tail_runs;

static void tail_watch_runs(enum disk_what what, const char *file)
{
    if (strncmp(file, "runs/", 5) != 0)
        return;
    tail_runs.locked += tail_locked();
    tail_runs.writes += what == DISK_WRITE;
    tail_runs.syncs += what == DISK_SYNC;
    tail_runs.deletes += what == DISK_DELETE;
    tail_runs.step += what == DISK_WRITE;
}

/* A commit with ids, which are hashes of numbers. */
static hsy_status tail_append_ids(hsy_error *err)
{
    static struct store_id ids[TAIL_IDS];
    const struct store_ids brought = {.epoch = 100, .ids = ids, .n = TAIL_IDS};
    const struct store_commit c = {
        .seq = tail_state.seq + 1, .ids = &brought, .nids = 1};
    hsy_status st;

    for (uint64_t i = 0; i < TAIL_IDS; i++) {
        const uint64_t number = c.seq * TAIL_IDS + i;
        uint8_t hash[sizeof *ids];

        hsy_blake2b(hash, sizeof hash, &number, sizeof number, NULL, 0);
        memcpy(&ids[i], hash, sizeof hash);
    }
    st = tail_store->ops->append(tail_store, &c, err);
    tail_state.seq += st == HSY_OK;
    return st;
}

/* One run of 120,000 ids and one of 80,000, merged: several steps each. */
static void nobody_waits_for_runs(void)
{
    hsy_error err;
    bool more, good = store_sqlite_open(&tail_store, &tail_state, tail_at, true,
                                        &err) == HSY_OK;

    tail_runs = (struct tail_runs){0};
    disk.hook = tail_watch_runs;
    for (unsigned i = 0; good && i < 50; i++) {
        good = tail_append_ids(&err) == HSY_OK;
        if (good && (i == 29 || i == 49))
            good = tail_store->ops->seal(tail_store, 100, &err) == HSY_OK;
        for (more = i == 29 || i == 49; good && more;) {
            tail_runs.step = 0;
            good = tail_store->ops->settle(tail_store, STORE_QUIET, &more,
                                           &err) == HSY_OK;
            if (tail_runs.step > tail_runs.most)
                tail_runs.most = tail_runs.step;
        }
    }
    ok(good && tail_runs.writes > 100 && tail_runs.deletes >= 2 &&
           eq_u64(tail_runs.locked, 0),
       "runs are written, synced and removed while others may commit: %u "
       "writes, %u while they may not",
       tail_runs.writes, tail_runs.locked);
    /* 65,536 ids of 16 bytes, in pieces of 64 KiB; the filter besides. */
    ok(tail_runs.most <= 32, "and at most %u pieces of 64 KiB at a time",
       tail_runs.most);
    disk.hook = NULL;
    tail_store->ops->close(tail_store);
}

int main(void)
{
    if (!rig_root(tail_root))
        return 1;
    snprintf(tail_at, sizeof tail_at, "%s/data", tail_root);
    disk_begin();
    nobody_waits_for_runs();
    rig_remove(tail_at);
    rmdir(tail_root);
    return tap_done();
}
