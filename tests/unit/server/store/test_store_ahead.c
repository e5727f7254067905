/* test_store_ahead.c - the record's log has its blocks before anybody waits for
 * them (src/server/store/store_log.c): where the disk has room, and nothing
 * that was erased is in them. */
#define _GNU_SOURCE

#include "rig/store_disk.h"
#include "rig/store_rig.h"
#include "tap.h"

static char ahead_root[64], ahead_at[96];
static struct store *ahead_store;
static struct store_state ahead_state;

static bool ahead_open(void)
{
    hsy_error err;

    disk_reset();
    return store_sqlite_open(&ahead_store, &ahead_state, ahead_at, true,
                             &err) == HSY_OK;
}

static void ahead_close(void)
{
    ahead_store->ops->close(ahead_store);
}

static bool ahead_append(void)
{
    static const uint8_t bytes[60000] = {0x5a, 0xa5, 0x5a, 0xa5};
    const struct store_batch b = {.entry = 1,
                                  .epoch = 100,
                                  .type = STORE_REPORTS,
                                  .reports = 1,
                                  .bytes = bytes,
                                  .len = sizeof bytes};
    const struct store_commit c = {
        .seq = ahead_state.seq + 1, .batches = &b, .nbatches = 1};
    hsy_error err;
    const bool good = ahead_store->ops->append(ahead_store, &c, &err) == HSY_OK;

    ahead_state.seq += good;
    return good;
}

static struct stat ahead_log(void)
{
    struct stat is = {0};

    stat(rig_path(ahead_at, "record.db-wal"), &is);
    return is;
}

/* Whether nothing but zeros is in the log. */
static bool ahead_blank(void)
{
    FILE *in = fopen(rig_path(ahead_at, "record.db-wal"), "rb");
    int c = 0;

    while (in != NULL && c == 0)
        c = getc(in);
    if (in != NULL)
        fclose(in);
    return c == EOF;
}

static void commits_find_blocks(void)
{
    hsy_error err;
    struct stat before, after;
    bool more = true, good = ahead_open();

    ok(good && ahead_log().st_size < 1 << 20, "at first the log is short");
    good &= ahead_store->ops->reserve(ahead_store, &err) == HSY_OK;
    before = ahead_log();
    ok(good && before.st_size >= (off_t)STORE_LOG * 4096 &&
           before.st_blocks * 512 >= (off_t)STORE_LOG * 4096,
       "then it has the blocks of %lld bytes", (long long)before.st_size);
    for (unsigned i = 0; good && i < 100; i++)
        good = ahead_append();
    after = ahead_log();
    ok(good && after.st_size == before.st_size, "which commits do not change");
    rig_round(ahead_store, 1, ahead_state.seq, &err);
    while (good && more)
        good = ahead_store->ops->settle(ahead_store, STORE_QUIET, &more,
                                        &err) == HSY_OK;
    ok(good && ahead_log().st_size == before.st_size && ahead_blank(),
       "when it was cut it has them again, with nothing in them");
    good &= ahead_append();
    ahead_close();
    ok(good && ahead_open() && eq_u64(ahead_state.seq, 101),
       "opened again all commits are there");
    ahead_close();
    rig_remove(ahead_at);
}

static void a_small_disk_keeps_its_room(void)
{
    hsy_error err;
    const bool good = ahead_open();

    ((struct store_sqlite *)ahead_store)->reserve_bytes = 1 << 19;
    ok(good &&
           eq_status(ahead_store->ops->reserve(ahead_store, &err), HSY_OK) &&
           ahead_log().st_size < 1 << 20,
       "a small disk keeps its room");
    ahead_close();
    rig_remove(ahead_at);
}

int main(void)
{
    if (!rig_root(ahead_root))
        return 1;
    snprintf(ahead_at, sizeof ahead_at, "%s/data", ahead_root);
    disk_begin();
    commits_find_blocks();
    a_small_disk_keeps_its_room();
    rmdir(ahead_root);
    return tap_done();
}
