/* Tests of src/server/store/store_log.c, server/store/line.c and what a
 * checkpoint costs: who appends waits for nothing but its own sync and what is
 * short. */
#define _GNU_SOURCE

#include "rig/store_disk.h"
#include "rig/store_rig.h"
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

static char tail_root[64], tail_at[96];
static struct store *tail_store;
static struct store_state tail_state;
static struct store_sqlite *tail_is;

static bool tail_open(void)
{
    hsy_error err;

    rig_remove(tail_at);
    disk_reset();
    if (store_sqlite_open(&tail_store, &tail_state, tail_at, true, &err) !=
        HSY_OK)
        return false;
    tail_is = (struct store_sqlite *)tail_store;
    return true;
}

static void tail_close(void)
{
    tail_store->ops->close(tail_store);
    rig_remove(tail_at);
}

static uint8_t tail_batch[4 << 20];

/* A commit with one batch of len bytes of an entry. */
static hsy_status tail_append(uint32_t entry, size_t len)
{
    const struct store_batch b = {.entry = entry,
                                  .epoch = 100,
                                  .type = STORE_REPORTS,
                                  .reports = 1,
                                  .bytes = tail_batch,
                                  .len = len};
    const struct store_commit c = {
        .seq = tail_state.seq + 1, .batches = &b, .nbatches = 1};
    hsy_error err;
    hsy_status st = tail_store->ops->append(tail_store, &c, &err);

    tail_state.seq += st == HSY_OK;
    return st;
}

/* ---- Logs ---------------------------------------------------------------- */

/* What was done to the record's files, and who might write meanwhile. */
static struct tail_seen {
    unsigned moved, moved_locked; /* pages of the database not yet synced */
    unsigned most, most_locked;   /* of a sync */
    unsigned truncations;         /* of the log */
    bool commit;                  /* during the next write of the database */
} tail_seen;

static bool tail_locked(void)
{
    bool locked;

    pthread_mutex_lock(&tail_is->writing.mutex);
    locked = tail_is->writing.last != tail_is->writing.served;
    pthread_mutex_unlock(&tail_is->writing.mutex);
    return locked;
}

static void tail_hook(enum disk_what what, const char *file)
{
    const bool locked = tail_locked(), db = strcmp(file, "record.db") == 0;

    if (what == DISK_TRUNCATE && strcmp(file, "record.db-wal") == 0)
        tail_seen.truncations++;
    if (db && what == DISK_WRITE) {
        tail_seen.moved++;
        if (tail_seen.commit && !locked) { /* somebody goes on meanwhile */
            tail_seen.commit = false;
            tail_append(0, 5000);
        }
    }
    if (db && what == DISK_SYNC) {
        unsigned *most = locked ? &tail_seen.most_locked : &tail_seen.most;

        *most = tail_seen.moved > *most ? tail_seen.moved : *most;
        tail_seen.moved = 0;
    }
}

static void nobody_waits_for_a_long_sync(void)
{
    hsy_error err;
    bool more, good = tail_open();

    for (unsigned i = 0; good && i < 300; i++)
        good = tail_append(i % 3, 60000) == HSY_OK;
    ok(good && atomic_load(&tail_is->record_log) > STORE_LOG,
       "the log has grown beyond its bound");
    tail_seen = (struct tail_seen){.commit = true};
    disk.hook = tail_hook;
    ok(eq_status(tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err),
                 HSY_OK) &&
           eq_u64(atomic_load(&tail_is->record_log), 0),
       "it is moved, while commits go on");
    ok(tail_seen.most > 4000 && tail_seen.most_locked < 300,
       "%u pages are synced while all may write, %u while nobody may",
       tail_seen.most, tail_seen.most_locked);
    for (unsigned i = 0; good && i < 20; i++)
        good = tail_append(i % 3, 60000) == HSY_OK;
    ok(good && atomic_load(&tail_is->record_log) < 400,
       "it is written over from its beginning");
    tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err);
    is_u64(tail_seen.truncations, 0, "and no commit cuts it");
    disk.hook = NULL;
    tail_close();
}

/* As much as 256 MiB, and the database is not touched by who appends. */
static void who_appends_moves_no_log(void)
{
    bool good = tail_open();

    tail_seen = (struct tail_seen){.moved = 0};
    disk.hook = tail_hook;
    for (unsigned i = 0; good && i < 66; i++)
        good = tail_append(0, 4 << 20) == HSY_OK;
    ok(good && eq_u64(tail_seen.moved, 0) && eq_u64(tail_seen.most, 0),
       "who appends moves no log, however long it is");
    disk.hook = NULL;
    tail_close();
}

/* A log that is truncated only when it is quiet, and when that is said. */
static void logs_are_truncated_when_quiet(void)
{
    struct stat is = {0};
    hsy_error err;
    bool more = false, good = tail_open();

    for (unsigned i = 0; good && i < 20; i++)
        good = tail_append(1, 60000) == HSY_OK;
    rig_round(tail_store, 1, tail_state.seq, &err);
    ok(eq_status(tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err),
                 HSY_OK) &&
           more,
       "what was erased is something to do when nobody waits");
    stat(rig_path(tail_at, "record.db-wal"), &is);
    ok(is.st_size > 100000, "and rests in the log until then");
    while (more)
        if (tail_store->ops->settle(tail_store, STORE_QUIET, &more, &err) !=
            HSY_OK)
            break;
    stat(rig_path(tail_at, "record.db-wal"), &is);
    tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err);
    ok(eq_int(is.st_size, 0) && !more, "then it is cut to nothing, once");
    tail_close();
}

static sqlite3_int64 tail_bytes(const char *file)
{
    struct stat is;

    return stat(rig_path(tail_at, file), &is) == 0 ? is.st_size : 0;
}

/* Whether the record's log holds some bytes of what was appended. */
static bool tail_rests(const char *word)
{
    static char bytes[STORE_LOG * 8192];
    FILE *in = fopen(rig_path(tail_at, "record.db-wal"), "rb");
    size_t n = in == NULL ? 0 : fread(bytes, 1, sizeof bytes, in);

    if (in != NULL)
        fclose(in);
    return memmem(bytes, n, word, strlen(word)) != NULL;
}

/* A commit of an upload that can be found again. */
static bool tail_word(const char *word)
{
    memset(tail_batch, 'x', 60000);
    memcpy(tail_batch + 30000, word, strlen(word));
    return tail_append(1, 60000) == HSY_OK;
}

static unsigned tail_blanks; /* zeros written while somebody might commit */

static void tail_blanking(enum disk_what what, const char *file)
{
    const bool wal = strcmp(file, "record.db-wal") == 0;

    if (wal && what == DISK_TRUNCATE)
        tail_seen.truncations++;
    if (wal && what == DISK_SYNC && !tail_locked() && tail_blanks++ < 3)
        tail_word("came meanwhile"); /* between two pieces */
}

/* If somebody always waits, the log is not cut: what was erased is written
 * over, and what comes meanwhile stays. */
static void logs_are_blanked_when_overdue(void)
{
    hsy_error err;
    bool more = true, good = tail_open();
    sqlite3_int64 size;

    for (unsigned i = 0; good && i < 40; i++)
        good = tail_word("a single report");
    rig_round(tail_store, 1, tail_state.seq, &err);
    size = tail_bytes("record.db-wal");
    ok(good && tail_rests("a single report"),
       "what was erased rests in the log");
    tail_seen.truncations = tail_blanks = 0;
    disk.hook = tail_blanking;
    while (good && more)
        good = tail_store->ops->settle(tail_store, STORE_OVERDUE, &more,
                                       &err) == HSY_OK;
    disk.hook = NULL;
    ok(good && !tail_rests("a single report") && tail_blanks > 3,
       "where somebody always waits it is written over, in %u pieces",
       tail_blanks);
    ok(eq_u64(tail_seen.truncations, 0) && tail_bytes("record.db-wal") >= size,
       "and the log is not cut (%u, %lld of %lld)", tail_seen.truncations,
       (long long)tail_bytes("record.db-wal"), (long long)size);
    tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err);
    ok(more &&
           eq_status(
               tail_store->ops->settle(tail_store, STORE_QUIET, &more, &err),
               HSY_OK) &&
           eq_int(tail_bytes("record.db-wal"), 0),
       "the next pause without uploads truncates a log that was scrubbed");
    tail_store->ops->close(tail_store);
    ok(eq_status(
           store_sqlite_open(&tail_store, &tail_state, tail_at, false, &err),
           HSY_OK) &&
           tail_state.seq == 43 &&
           rig_sql(tail_at, "record.db", "SELECT count(*) FROM batches") == 3,
       "what came meanwhile is there");
    tail_close();
}

/* A kill when all is written over: the log is read up to its end. */
static void a_log_with_zeros_is_read(void)
{
    hsy_error err;
    bool more = true, good = tail_open();
    const pid_t child = good ? fork() : -1;
    int status = -1;

    if (child == 0) {
        for (unsigned i = 0; good && i < 40; i++)
            good = tail_word("a single report");
        rig_round(tail_store, 1, tail_state.seq, &err);
        while (good && more)
            good = tail_store->ops->settle(tail_store, STORE_OVERDUE, &more,
                                           &err) == HSY_OK;
        good &= tail_word("the last");
        _exit(good ? 0 : 1);
    }
    waitpid(child, &status, 0);
    tail_store->ops->close(tail_store);
    ok(status == 0 &&
           eq_status(store_sqlite_open(&tail_store, &tail_state, tail_at, false,
                                       &err),
                     HSY_OK) &&
           tail_state.seq == 41,
       "a process that ends after that has lost nothing");
    tail_close();
}

/* A reader that stays: the log is tried again when it has grown, not always. */
static void a_reader_that_stays(void)
{
    sqlite3 *db = NULL;
    hsy_error err;
    bool more, good = tail_open();
    uint64_t before;

    tail_append(0, 100);
    sqlite3_open(rig_path(tail_at, "record.db"), &db);
    sqlite3_exec(db, "BEGIN; SELECT count(*) FROM batches", NULL, NULL, NULL);
    for (unsigned i = 0; good && i < 300; i++)
        good = tail_append(0, 60000) == HSY_OK;
    good &=
        tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err) == HSY_OK;
    before = disk.ops;
    for (unsigned i = 0; good && i < 100; i++)
        good = tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err) ==
               HSY_OK;
    ok(good && eq_u64(disk.ops, before),
       "a reader that stays costs nothing more");
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
    for (unsigned i = 0; good && i < 300; i++)
        good = tail_append(0, 60000) == HSY_OK;
    ok(good &&
           eq_status(
               tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err),
               HSY_OK) &&
           eq_u64(atomic_load(&tail_is->record_log), 0),
       "when it has gone the log is moved");
    tail_close();
}

/* ---- A small disk -------------------------------------------------------- */

static sqlite3_int64 tail_room; /* bytes of all files together */

/* What all files take, if one of them were so long. */
static sqlite3_int64 tail_takes(const char *file, sqlite3_int64 end)
{
    static const char *const files[] = {"record.db", "record.db-wal",
                                        "cells.db", "cells.db-wal", "reserve"};
    sqlite3_int64 bytes = 0;

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const sqlite3_int64 is = tail_bytes(files[i]);

        bytes += strcmp(files[i], file) == 0 && end > is ? end : is;
    }
    return bytes;
}

static bool tail_fits(const char *file, sqlite3_int64 end)
{
    return tail_takes(file, end) <= tail_room;
}

/* Nearly all that is written is erased soon: a log that nobody moves must not
 * take all the room there is, nor may others who take the rest end it. */
static void a_small_disk_stays_in_use(void)
{
    unsigned taken = 0, refused = 0, stuck = 0;
    hsy_error err;
    bool more, due = false, good = tail_open();

    tail_is->reserve_bytes = 1 << 19; /* as store_reserve_plan would */
    tail_is->record_most = tail_is->cells_most = tail_is->reserve_bytes / 4096;
    good &= tail_store->ops->reserve(tail_store, &err) == HSY_OK;
    ok(good && eq_int(tail_bytes("reserve"), 1 << 19), "some room is held");
    tail_room = 3 << 20;
    disk.fits = tail_fits;
    while (good && taken < 600 && stuck < 5) {
        const hsy_status st = tail_append(0, 20000);

        taken += st == HSY_OK;
        refused += st == HSY_E_FULL;
        stuck = st == HSY_OK ? 0 : stuck + 1;
        due |= st == HSY_OK && taken % 20 == 0;
        if (due) /* until it goes, as who folds does */
            due = rig_round(tail_store, 0, tail_state.seq, &err) != HSY_OK;
        refused += due;
        good &= tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err) ==
                HSY_OK;
        if (taken == 290 && tail_room == 3 << 20) /* others take the rest */
            tail_room = tail_takes("", 0);
    }
    ok(good && eq_u64(taken, 600) && refused != 0,
       "%u commits are taken, %u refused, none for ever", taken, refused);
    disk.fits = NULL;
    tail_store->ops->reserve(tail_store, &err);
    is_int(tail_bytes("reserve"), 1 << 19, "and the room is held again");
    tail_close();
}

static bool tail_greedy; /* commits while the reserve is given up */

static void tail_eats(enum disk_what what, const char *file)
{
    if (tail_greedy && what == DISK_WRITE && strcmp(file, "record.db") == 0 &&
        !tail_locked() && tail_bytes("reserve") == 0) {
        tail_greedy = false;
        while (tail_append(0, 20000) == HSY_OK)
            continue;
        tail_greedy = true;
    }
}

/* The room that is held is for the logs: who commits while they are moved must
 * not take it. */
static void nobody_eats_the_reserve(void)
{
    hsy_error err;
    bool more, good = tail_open();

    tail_is->reserve_bytes = 1 << 19;
    tail_is->record_most = tail_is->cells_most = tail_is->reserve_bytes / 4096;
    good &= tail_store->ops->reserve(tail_store, &err) == HSY_OK;
    tail_room = tail_takes("", 0) + (1 << 19);
    disk.fits = tail_fits;
    while (good && tail_append(0, 20000) == HSY_OK)
        continue;
    tail_greedy = true;
    disk.hook = tail_eats;
    good &=
        tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err) == HSY_OK;
    disk.hook = NULL;
    tail_greedy = false;
    ok(good && eq_int(tail_bytes("record.db-wal"), 0),
       "on a full disk the log gives back what it takes");
    is_int(tail_bytes("reserve"), 1 << 19, "and the room is held again");
    disk.fits = NULL;
    tail_close();
}

/* ---- A backup that reads for long ---------------------------------------- */

#define TAIL_PAGES 250u /* of a copy, and then some commits */

static unsigned tail_copied, tail_pages; /* how often, and pages so far */

static void tail_busy(enum disk_what what, const char *file)
{
    bool more;
    hsy_error err;

    if (what != DISK_WRITE || strcmp(file, "record.db") != 0 ||
        tail_copied == 0 || ++tail_pages % TAIL_PAGES != 0)
        return;
    tail_copied--;
    disk.hook = NULL; /* none of what follows */
    for (unsigned i = 0; i < 20; i++)
        tail_append(0, 60000);
    tail_store->ops->settle(tail_store, STORE_BUSY, &more, &err);
    disk.hook = tail_busy;
}

static hsy_status tail_backup(unsigned busy, hsy_error *err)
{
    char to[128];
    hsy_status st;
    struct stat is;

    snprintf(to, sizeof to, "%s/copy", tail_root);
    tail_copied = busy;
    tail_pages = 0;
    disk.hook = tail_busy;
    st = tail_store->ops->backup(tail_store, to, NULL, err);
    disk.hook = NULL;
    if (st != HSY_OK && stat(to, &is) == 0)
        st = HSY_OK;
    rig_remove(to);
    snprintf(to, sizeof to, "%s/copy.draft", tail_root);
    return stat(to, &is) == 0 ? HSY_OK : st;
}

static void a_backup_gives_way(void)
{
    const size_t most = 16;
    hsy_error err = {0};
    hsy_status st;
    bool more, good = tail_open();

    tail_is->record_most = tail_is->cells_most = most;
    for (unsigned i = 0; good && i < 200; i++)
        good = tail_append(0, 60000) == HSY_OK;
    good &=
        tail_store->ops->settle(tail_store, STORE_QUIET, &more, &err) == HSY_OK;
    ok(good && eq_status(tail_backup(2, &err), HSY_OK),
       "a backup is made while commits go on");
    good &=
        tail_store->ops->settle(tail_store, STORE_QUIET, &more, &err) == HSY_OK;
    st = tail_backup(10000, &err);
    ok(eq_status(st, HSY_E_BUSY) && err.msg != NULL,
       "one for which a log would grow without bound is given up: %s",
       err.msg == NULL ? "nothing" : err.msg);
    ok(tail_copied > 9900 && atomic_load(&tail_is->record_log) < 256 * most,
       "the log has %zu pages", atomic_load(&tail_is->record_log));
    ok(eq_status(tail_append(0, 100), HSY_OK) &&
           eq_status(
               tail_store->ops->settle(tail_store, STORE_QUIET, &more, &err),
               HSY_OK) &&
           eq_u64(atomic_load(&tail_is->record_log), 0),
       "and is moved when it has gone");
    is_status(tail_backup(0, &err), HSY_OK, "the next is made");
    tail_close();
}

/* A disk that others fill while a backup reads: it goes, so that the log can.
 */
static void a_backup_gives_way_on_a_full_disk(void)
{
    hsy_error err = {0};
    bool more, good = tail_open();

    for (unsigned i = 0; good && i < 200; i++)
        good = tail_append(0, 60000) == HSY_OK;
    good &=
        tail_store->ops->settle(tail_store, STORE_QUIET, &more, &err) == HSY_OK;
    atomic_store(&tail_is->full, true); /* as a commit that finds no room */
    ok(good && eq_status(tail_backup(1, &err), HSY_E_BUSY),
       "a backup that is made when the disk becomes full is given up");
    tail_close();
}

/* ---- Rounds -------------------------------------------------------------- */

static uint64_t tail_syncs(size_t n)
{
    struct store_round rounds[64];
    static const int64_t words[STORE_CHUNK] = {1};
    const struct store_chunk chunk = {0, words, STORE_CHUNK};
    hsy_error err;
    uint64_t before;
    bool good = true;

    for (uint32_t i = 0; i < n; i++) {
        const struct store_tally t = {i, 0, STORE_CHUNK};

        good &= tail_append(i, 100) == HSY_OK;
        good &=
            tail_store->ops->chunks(tail_store, &t, &chunk, 1, &err) == HSY_OK;
        rounds[i] = (struct store_round){i, tail_state.seq};
    }
    before = disk.syncs;
    good &= tail_store->ops->rounds(tail_store, rounds, n, &err) == HSY_OK;
    return good ? disk.syncs - before : UINT64_MAX;
}

static void rounds_of_many_cost_as_one(void)
{
    uint64_t one, many;

    tail_open();
    one = tail_syncs(1);
    many = tail_syncs(64);
    ok(one > 0 && eq_u64(many, one),
       "rounds of 64 entries take %llu syncs, of one %llu",
       (unsigned long long)many, (unsigned long long)one);
    tail_close();
    ok(tail_open() &&
           eq_int(rig_sql(tail_at, "record.db", "SELECT count(*) FROM batches"),
                  0),
       "and leave no batch");
    tail_close();
}

/* ---- The lock ------------------------------------------------------------ */

static struct store_line tail_line;
static char tail_came[8]; /* in the order of coming in */

static void tail_enter(char who)
{
    store_line_lock(&tail_line);
    tail_came[strlen(tail_came)] = who;
    store_line_unlock(&tail_line);
}

static void *tail_waiter(void *who)
{
    tail_enter(*(const char *)who);
    return NULL;
}

/* Until so many have asked. */
static void tail_until(uint64_t asked)
{
    uint64_t last = 0;

    while (last != asked) {
        pthread_mutex_lock(&tail_line.mutex);
        last = tail_line.last;
        pthread_mutex_unlock(&tail_line.mutex);
    }
}

/* Who gives the lock back and asks again at once comes after who waited. */
static void a_lock_goes_round(void)
{
    static const char names[] = "bcd";
    pthread_t waiters[3];

    store_line_init(&tail_line);
    store_line_lock(&tail_line);
    for (uint64_t i = 0; i < 3; i++) {
        pthread_create(&waiters[i], NULL, tail_waiter,
                       (void *)(uintptr_t)&names[i]);
        tail_until(i + 2);
    }
    store_line_unlock(&tail_line);
    tail_enter('a');
    for (size_t i = 0; i < 3; i++)
        pthread_join(waiters[i], NULL);
    is_text(tail_came, "bcda",
            "a lock is handed over in the order of asking: %s", tail_came);
    store_line_clear(&tail_line);
}

int main(void)
{
    if (!rig_root(tail_root))
        return 1;
    snprintf(tail_at, sizeof tail_at, "%s/data", tail_root);
    disk_begin();

    nobody_waits_for_a_long_sync();
    who_appends_moves_no_log();
    logs_are_truncated_when_quiet();
    logs_are_blanked_when_overdue();
    a_log_with_zeros_is_read();
    a_reader_that_stays();
    a_small_disk_stays_in_use();
    nobody_eats_the_reserve();
    a_backup_gives_way();
    a_backup_gives_way_on_a_full_disk();
    rounds_of_many_cost_as_one();
    a_lock_goes_round();

    rmdir(tail_root);
    return tap_done();
}
