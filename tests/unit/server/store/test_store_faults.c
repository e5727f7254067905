/* Tests of src/server/store/sqlite.c on a disk that fails: the store is
 * killed at every write, loses what was not synced, runs out of room, fails to
 * sync. store_rig.h says what must be true afterwards. */
#define _GNU_SOURCE

#include "rig/sanitized.h"
#include "rig/store_disk.h"
#include "rig/store_rig.h"
#include "tap.h"

#include <sys/mman.h>
#include <sys/wait.h>

static char faults_root[64], faults_at[96];
static struct rig faults_rig;
static bool faults_long;

static uint64_t faults_random;

/* Every one in a long run; every few otherwise, primes to meet all kinds. */
static uint64_t faults_step(uint64_t step)
{
    return faults_long ? 1 : TEST_SANITIZED ? 7 * step : step;
}

/* An empty directory; that it is there saves a sync of a real one. */
static void faults_begin(void)
{
    rig_remove(faults_at);
    mkdir(faults_at, 0700);
    disk_reset();
}

static uint64_t faults_draw(void) /* xorshift64* */
{
    faults_random ^= faults_random >> 12;
    faults_random ^= faults_random << 25;
    faults_random ^= faults_random >> 27;
    return faults_random * UINT64_C(2685821657736338717);
}

/* A sync failed as the store was closed; nobody is told of that. */
static bool faults_in_close;

/* The whole life of a store, with a new process in the middle of it. Returns
 * the first status that is not HSY_OK. */
static hsy_status faults_live(struct rig *r, struct rig_told *told,
                              hsy_error *err)
{
    hsy_status st = rig_open(r, faults_at, told, err);

    for (unsigned k = 0; st == HSY_OK && k < RIG_STEPS; k++) {
        st = rig_step(r, k, err);
        if (st == HSY_OK && k == RIG_STEPS / 2) {
            const uint64_t syncs = disk.syncs;

            rig_close(r);
            faults_in_close = syncs < disk.eio_at && disk.syncs >= disk.eio_at;
            st = rig_open(r, faults_at, told, err);
            rig_recover(r);
        }
    }
    return st;
}

/* Whether the record has no batch besides those that are to be folded. */
static bool faults_erased(const struct rig *r)
{
    int64_t pending = 0;

    for (unsigned i = 0; i < RIG_COMMITS; i++)
        pending += r->pending[i];
    return rig_sql(faults_at, "record.db", "SELECT count(*) FROM batches") ==
           pending;
}

/* What is left opens, is as it was told, and can be used: whatever rested is
 * folded, written and read again. NULL, or what is wrong. */
static const char *faults_check(struct rig *r, struct rig_told *told)
{
    hsy_error err = {0};
    hsy_status st = rig_open(r, faults_at, told, &err);

    if (st == HSY_OK)
        rig_is(r, faults_erased(r), "a folded report still rests");
    if (st == HSY_OK && r->wrong == NULL) {
        told->acknowledged = told->tried = r->state.seq;
        told->closed = told->tried_closed = r->state.closed;
        rig_recover(r);
        st = rig_document(r, &err);
    }
    if (st == HSY_OK && r->wrong == NULL)
        st = rig_append(r, &err);
    for (uint32_t e = 0; st == HSY_OK && r->wrong == NULL && e < 2; e++) {
        rig_fold(r, e);
        st = rig_write(r, e, &err);
    }
    if (st == HSY_OK && r->wrong == NULL) {
        rig_close(r);
        st = rig_open(r, faults_at, told, &err);
    }
    rig_close(r);
    if (st != HSY_OK && r->wrong == NULL)
        r->wrong = err.msg == NULL ? "no reason" : err.msg;
    return r->wrong;
}

/* ---- Killed -------------------------------------------------------------- */

/* A life in a process of its own that ends at operation k; false if it came to
 * its end before. */
static bool faults_kill(uint64_t k, struct rig_told *told)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        hsy_error err;

        disk_reset();
        disk.kill_at = k;
        if (faults_live(&faults_rig, told, &err) != HSY_OK)
            _exit(1);
        rig_close(&faults_rig);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) ||
        (WEXITSTATUS(status) != 9 && WEXITSTATUS(status) != 0))
        return ok(false, "a life ended otherwise at operation %llu",
                  (unsigned long long)k),
               false;
    return WEXITSTATUS(status) == 9;
}

static void killed_anywhere(void)
{
    struct rig_told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *wrong = NULL;
    uint64_t k, deaths = 0;
    const uint64_t step = faults_step(9);
    bool died = true;

    for (k = 1; died && wrong == NULL; k += step) {
        memset(told, 0, sizeof *told);
        faults_begin();
        died = faults_kill(k, told);
        deaths += died;
        disk_reset();
        wrong = faults_check(&faults_rig, told);
    }
    ok(wrong == NULL && deaths > (TEST_SANITIZED ? 10 : 80),
       "killed before or within %llu writes: every acknowledged report is "
       "there once%s%s",
       (unsigned long long)deaths, wrong == NULL ? "" : ": ",
       wrong == NULL ? "" : wrong);
    munmap(told, sizeof *told);
}

/* ---- Power cuts (C03) ---------------------------------------------------- */

/* What was told before each operation of the journal. */
static struct rig_told *faults_told;
static size_t faults_told_n;

/* How much of what was not synced is there: of 256. */
struct faults_chance {
    unsigned whole, sector;
};

static bool faults_whole(void *ctx)
{
    return (faults_draw() >> 32) % 256 < ((struct faults_chance *)ctx)->whole;
}

static bool faults_sector(void *ctx)
{
    return (faults_draw() >> 32) % 256 < ((struct faults_chance *)ctx)->sector;
}

/* Note what is told up to the operations that there are. */
static void faults_note(const struct rig_told *told)
{
    faults_told = realloc(faults_told, (disk.nop + 1) * sizeof *faults_told);
    while (faults_told_n <= disk.nop)
        faults_told[faults_told_n++] = *told;
}

static hsy_status faults_journal(void)
{
    struct rig_told told = {0};
    struct rig *r = &faults_rig;
    hsy_error err;
    hsy_status st;

    faults_begin();
    disk.journal = true;
    st = rig_open(r, faults_at, &told, &err);
    faults_note(&told);
    for (unsigned k = 0; st == HSY_OK && k < RIG_STEPS; k++) {
        const struct rig_told before = told;

        st = rig_step(r, k, &err);
        /* During the step it was being tried, and not yet acknowledged. */
        faults_told =
            realloc(faults_told, (disk.nop + 1) * sizeof *faults_told);
        while (faults_told_n < disk.nop) {
            faults_told[faults_told_n] = told;
            faults_told[faults_told_n].acknowledged = before.acknowledged;
            faults_told[faults_told_n].closed = before.closed;
            faults_told[faults_told_n++].dropped = before.dropped;
        }
        faults_note(&told);
        if (st == HSY_OK && k == RIG_STEPS / 2) {
            rig_close(r);
            st = rig_open(r, faults_at, &told, &err);
            rig_recover(r);
            faults_note(&told);
        }
    }
    rig_close(r);
    faults_note(&told);
    disk.journal = false;
    return st;
}

static const char *faults_cut(size_t n, struct faults_chance *chance)
{
    struct rig_told told = faults_told[n];
    int dir;

    rig_remove(faults_at);
    mkdir(faults_at, 0700);
    dir = open(faults_at, O_RDONLY | O_DIRECTORY);
    disk_cut(dir, n, faults_whole, faults_sector, chance);
    close(dir);
    return faults_check(&faults_rig, &told);
}

/* Whether an operation writes over what lies behind the end of a log. */
static bool faults_blanks(const struct disk_op *op)
{
    return op->what == DISK_WRITE && op->len > 4120 && op->bytes[0] == 0 &&
           memcmp(op->bytes, op->bytes + 1, (size_t)op->len - 1) == 0;
}

/* What is written over must not have counted, whatever is there of it. */
static void cut_while_a_log_is_blanked(void)
{
    const unsigned each = faults_long ? 500 : TEST_SANITIZED ? 2 : 10;
    const char *wrong = NULL;
    size_t blanks = 0, states = 0;

    for (size_t i = 0; i < disk.nop && wrong == NULL; i++) {
        if (!faults_blanks(&disk.op[i]))
            continue;
        blanks++;
        for (unsigned k = 0; k < each && wrong == NULL; k++, states++) {
            struct faults_chance chance = {256, k % 2 == 0 ? 4 : 128};

            wrong = faults_cut(i + 1, &chance);
        }
    }
    ok(wrong == NULL && blanks >= 8,
       "%zu states where a log was being written over (%zu times): the same"
       "%s%s",
       states, blanks, wrong == NULL ? "" : ": ", wrong == NULL ? "" : wrong);
}

static void cut_anywhere(void)
{
    static const struct faults_chance chances[] = {
        {0, 256}, {256, 256}, {128, 256}, {224, 240}, {32, 128}};
    const char *wrong = NULL;
    size_t n = 0, states = 0, runs = 0, merged = 0,
           most = faults_long      ? 200000
                  : TEST_SANITIZED ? 160
                                   : 1000;

    ok(eq_status(faults_journal(), HSY_OK) && disk.nop > 300,
       "a life is written down, every operation on its files");
    for (int i = 0; i < disk.names; i++)
        runs += strncmp(disk.name[i], "runs/", 5) == 0;
    for (size_t i = 0; i < disk.nop; i++)
        merged += disk.op[i].what == DISK_DELETE &&
                  strncmp(disk.name[disk.op[i].file], "runs/", 5) == 0;
    ok(runs >= 8 && merged >= 5, "with %zu runs, of which %zu are merged", runs,
       merged);
    faults_random = 20261116;
    while (states < most && wrong == NULL) {
        struct faults_chance chance = chances[states % 5];

        /* Every moment in turn, with a stride that meets all of them. */
        n = (n + 101) % (disk.nop + 1);
        wrong = faults_cut(n, &chance);
        states++;
    }
    ok(wrong == NULL,
       "%zu states after a power cut: every acknowledged report is there "
       "once%s%s (operation %zu)",
       states, wrong == NULL ? "" : ": ", wrong == NULL ? "" : wrong, n);
    cut_while_a_log_is_blanked();
    disk_reset();
    free(faults_told);
}

/* ---- A failed sync (C06) ------------------------------------------------- */

static void nothing_after_a_failed_sync(void)
{
    const char *wrong = NULL;
    uint64_t k, failed = 0, after = 0;
    bool met = true;

    for (k = 1; met && wrong == NULL; k += faults_step(3)) {
        struct rig_told told = {0};
        struct rig *r = &faults_rig;
        hsy_error err;
        uint64_t acknowledged;
        hsy_status st;

        faults_begin();
        disk.eio_at = k;
        faults_in_close = false;
        st = faults_live(r, &told, &err);
        met = disk.syncs >= k;
        acknowledged = told.acknowledged;
        if (met && st != HSY_E_IO && !faults_in_close)
            wrong = "a failed sync was not told";
        failed += st == HSY_E_IO;
        /* Nothing is ever accepted again. */
        for (unsigned s = 1; st == HSY_E_IO && r->store != NULL && s < 40; s++)
            after += rig_step(r, s == 2 || s == 4 ? 1 : s, &err) == HSY_OK &&
                     (s % 2 == 1 || s % 10 == 8);
        after += told.acknowledged - acknowledged;
        rig_close(r);
        disk_reset();
        if (wrong == NULL)
            wrong = faults_check(r, &told);
    }
    ok(wrong == NULL && failed > (TEST_SANITIZED ? 2 : 20) && eq_u64(after, 0),
       "%llu failed syncs: nothing is acknowledged after one (%llu)%s%s",
       (unsigned long long)failed, (unsigned long long)after,
       wrong == NULL ? "" : ": ", wrong == NULL ? "" : wrong);
}

/* ---- A full disk (C05) --------------------------------------------------- */

/* From write k on there is no room for a while; each step is tried until it
 * goes. */
static hsy_status faults_live_full(struct rig *r, struct rig_told *told,
                                   uint64_t *refused)
{
    hsy_error err;
    hsy_status st;
    unsigned tries = 0;

    do
        st = rig_open(r, faults_at, told, &err);
    while (st == HSY_E_FULL && ++*refused && ++tries < 100);
    for (unsigned k = 0; st == HSY_OK && k < RIG_STEPS; k++) {
        const uint64_t before = r->state.seq;

        do
            st = rig_step(r, k, &err);
        while (st == HSY_E_FULL && r->state.seq == before && ++*refused &&
               ++tries < 100);
    }
    rig_close(r);
    return st;
}

static void full_and_emptied(void)
{
    const char *wrong = NULL;
    uint64_t k, refused = 0;
    bool met = true;

    for (k = 1; met && wrong == NULL; k += faults_step(13)) {
        struct rig_told told = {0};

        faults_begin();
        disk.full_at = k;
        disk.full_for = 1 + k % 7;
        if (faults_live_full(&faults_rig, &told, &refused) != HSY_OK)
            wrong = "it does not go on when there is room again";
        met = disk.writes >= k;
        disk_reset();
        if (wrong == NULL && told.acknowledged != RIG_STEPS / 2)
            wrong = "a commit is missing";
        if (wrong == NULL)
            wrong = faults_check(&faults_rig, &told);
    }
    ok(wrong == NULL && refused > (TEST_SANITIZED ? 3 : 30),
       "full at any write: %llu refusals, nothing lost, and it goes on%s%s",
       (unsigned long long)refused, wrong == NULL ? "" : ": ",
       wrong == NULL ? "" : wrong);
}

int main(void)
{
    faults_long = getenv("HSY_TEST_LONG") != NULL;
    if (!rig_root(faults_root))
        return 1;
    snprintf(faults_at, sizeof faults_at, "%s/data", faults_root);
    disk_begin();

    killed_anywhere();
    cut_anywhere();
    nothing_after_a_failed_sync();
    full_and_emptied();

    rig_remove(faults_at);
    rmdir(faults_root);
    return tap_done();
}
