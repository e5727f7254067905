/*
 * test_ids_scale.c - what many ids cost: memory, a start, an admission.
 *
 *   test_ids_scale N [DIRECTORY]   so many; 10^8 take 2 GB of disk and minutes
 *
 * Ids are put into a store as commits of it, and a new process opens that with
 * none of it in the cache. Then two engines, one of which keeps all ids in
 * memory, are given the same uploads in turn.
 */
#define _GNU_SOURCE

#include "rig/engine_rig.h"
#include "rig/sanitized.h"
#include "server/engine/ids.h"
#include "server/engine/internal.h"
#include "server/store/admin.h"
#include "server/store/internal.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SCALE_COMMIT 65536u /* ids of a commit at most */
#define SCALE_TURNS 40u
#define SCALE_REQUEST 1000u
#define SCALE_LOOK 100000u
#define SCALE_DAYS 5u /* the ids of the store are of so many */

static size_t scale_commit;

static double scale_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A number of /proc/self/status in MiB. */
static double scale_memory(const char *what)
{
    FILE *in = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;

    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        if (strncmp(line, what, strlen(what)) == 0)
            kib = strtod(line + strlen(what) + 1, NULL);
    if (in != NULL)
        fclose(in);
    return kib / 1024;
}

static const struct engine_options scale_options = {.ids_epoch = 4000000000,
                                                    .fold_bytes = 1 << 26,
                                                    .tally_bytes = 1 << 24,
                                                    .day_words = 2000,
                                                    .keep_days = 5,
                                                    .grace_days = 7,
                                                    .clock_days = 12};

/* ---- A store full of ids ------------------------------------------------- */

static void scale_names(const struct ids *t, struct store_id *ids,
                        uint64_t from, size_t n)
{
    static const uint8_t digest[32];

    for (size_t i = 0; i < n; i++) {
        const uint64_t number = from + i;
        uint8_t id[16] = {0};

        memcpy(id, &number, sizeof number);
        ids_name(t, &ids[i], id, digest);
    }
}

/* As an engine would, with a count of the day for each id. */
static hsy_status scale_append(struct store *s, struct store_state *state,
                               struct ids *t, uint64_t from, size_t n,
                               hsy_error *err)
{
    static struct store_id ids[SCALE_COMMIT];
    const uint32_t epoch =
        RIG_DAY - (uint32_t)(from / scale_commit % SCALE_DAYS);
    const struct store_ids brought = {.epoch = epoch, .ids = ids, .n = n};
    const struct store_commit c = {
        .seq = state->seq + 1, .ids = &brought, .nids = 1};
    bool more = false;
    hsy_status st;

    scale_names(t, ids, from, n);
    st = s->ops->append(s, &c, err);
    if (st != HSY_OK)
        return st;
    state->seq++;
    if (from / scale_commit % 80 >= 75) /* 16 commits of the day are new */
        st = s->ops->seal(s, epoch, err);
    for (unsigned i = 0; st == HSY_OK && i < 12; i++)
        st = s->ops->settle(s, STORE_BUSY, &more, err);
    return st;
}

static bool scale_fill(const char *directory, uint64_t n)
{
    struct store *s;
    struct store_state state;
    struct ids *t;
    hsy_error err = {0};
    bool more = true;
    hsy_status st = store_sqlite_open(&s, &state, directory, true, &err);

    if (st != HSY_OK)
        return false;
    t = ids_open(state.key);
    st = s->ops->close_epochs(s, RIG_DAY - SCALE_DAYS, RIG_DAY, &err);
    for (uint64_t i = 0; st == HSY_OK && i < n; i += scale_commit)
        st = scale_append(s, &state, t, i,
                          n - i < scale_commit ? (size_t)(n - i) : scale_commit,
                          &err);
    /* As a collector does when nobody waits. */
    for (uint32_t d = 0; st == HSY_OK && d < SCALE_DAYS; d++)
        st = s->ops->seal(s, RIG_DAY - d, &err);
    while (st == HSY_OK && more)
        st = s->ops->settle(s, STORE_QUIET, &more, &err);
    ids_close(t);
    s->ops->close(s);
    if (st != HSY_OK)
        printf("# %s: %s\n", hsy_field_name(err.field), err.msg);
    return st == HSY_OK;
}

/* ---- A start ------------------------------------------------------------- */

static void scale_cold(const char *directory)
{
    DIR *d = opendir(directory);
    const struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL) {
        const int fd = openat(dirfd(d), e->d_name, O_RDONLY);

        if (fd != -1) {
            fsync(fd);
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
            close(fd);
        }
    }
    if (d != NULL)
        closedir(d);
}

struct scale_start {
    double seconds, before, resident, lookup;
    uint64_t ids, runs, disk, memory, wrong;
};

/* Some ids that are there, and others. */
static void scale_look(const struct ids *t, uint64_t n, struct scale_start *out)
{
    static struct store_id ids[SCALE_LOOK];
    enum ids_answer answer;
    double begin;

    for (uint64_t i = 0; i < 1000; i++) {
        scale_names(t, ids, i * (n / 1000), 1);
        out->wrong += ids_find(t, ids, &answer) != HSY_OK || answer != IDS_SAME;
    }
    scale_names(t, ids, n, SCALE_LOOK);
    begin = scale_now();
    for (size_t i = 0; i < SCALE_LOOK; i++)
        out->wrong +=
            ids_find(t, &ids[i], &answer) != HSY_OK || answer != IDS_NEW;
    out->lookup = (scale_now() - begin) * 1e6 / SCALE_LOOK;
}

/* In a process of its own: open it, and look for some ids. */
static void scale_open(const char *directory, uint64_t n,
                       struct scale_start *out)
{
    struct store *s = NULL;
    struct store_state state;
    struct engine *e = NULL;
    struct engine_status status;
    hsy_error err = {0};
    double begin;

    out->before = scale_memory("VmRSS");
    begin = scale_now();
    if (store_sqlite_open(&s, &state, directory, false, &err) != HSY_OK ||
        engine_open(&e, s, &state, &scale_options, &err) != HSY_OK) {
        printf("# %s\n", err.msg);
        _exit(1);
    }
    out->seconds = scale_now() - begin;
    out->resident = scale_memory("VmHWM");
    engine_status(e, &status);
    out->ids = status.ids;
    out->runs = status.ids_runs;
    out->disk = status.ids_disk_bytes;
    out->memory = status.ids_bytes;
    out->wrong = n != status.ids;
    scale_look(e->ids, n, out);
    _exit(0);
}

static void many_ids_open(const char *directory, uint64_t n, bool full)
{
    struct scale_start *out = mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char runs[160];
    double begin = scale_now();
    int status = 0;
    bool filled;
    pid_t child;

    filled = scale_fill(directory, n);
    ok(filled, "%llu ids are put into a store: %.1f s", (unsigned long long)n,
       scale_now() - begin);
    snprintf(runs, sizeof runs, "%s/runs", directory);
    scale_cold(directory);
    scale_cold(runs);
    fflush(stdout);
    child = fork();
    if (child == 0)
        scale_open(directory, n, out);
    waitpid(child, &status, 0);
    ok(status == 0 && out->wrong == 0 && out->ids == n,
       "a start knows all of them: %.2f s", out->seconds);
    printf("# %llu ids in %llu runs of %.0f MiB: %.0f MiB of memory for ids, "
           "%.0f MiB resident (%.0f before), %.2f us to look for one of none\n",
           (unsigned long long)n, (unsigned long long)out->runs,
           (double)out->disk / 1048576, (double)out->memory / 1048576,
           out->resident, out->before, out->lookup);
    ok((double)out->memory <
           2.2 * (double)n + (double)(full ? 1 << 28 : 1 << 24) * 2.6,
       "and takes %.2f bytes an id", (double)out->memory / (double)n);
    if (full)
        ok(out->seconds < 10 && out->resident < 2048,
           "in less than 10 seconds and 2 GiB");
    munmap(out, sizeof *out);
}

/* ---- Admissions ---------------------------------------------------------- */

struct scale_side {
    struct rig r;
    struct store *store;
    struct store_state state;
    double took[SCALE_TURNS];
};

static bool scale_side_open(struct scale_side *w, const char *directory,
                            uint64_t runs_at)
{
    hsy_error err;

    w->r.options = scale_options;
    w->r.options.runs_at = runs_at;
    w->r.document = rig_document(RIG_TASKS, 1, 1, &w->r.document_len);
    if (store_sqlite_open(&w->store, &w->state, directory, true, &err) !=
            HSY_OK ||
        engine_open(&w->r.e, w->store, &w->state, &w->r.options, &err) !=
            HSY_OK ||
        engine_set_document(w->r.e, w->r.document, w->r.document_len, &err) !=
            HSY_OK)
        return false;
    w->r.roster = engine_roster(w->r.e);
    return rig_day(&w->r, RIG_DAY) == HSY_OK;
}

static void scale_side_close(struct scale_side *w)
{
    engine_close(w->r.e);
    if (w->store != NULL)
        w->store->ops->close(w->store);
    roster_drop(w->r.roster);
    free(w->r.document);
}

/* Null uploads: nothing but their ids. Returns the time of admitting alone. */
static double scale_admit(struct scale_side *w, uint64_t from, uint64_t n,
                          uint64_t *wrong)
{
    static struct intake_upload uploads[SCALE_REQUEST];
    static uint8_t payloads[SCALE_REQUEST][RIG_PAYLOAD];
    double took = 0;

    for (uint64_t i = 0; i < n; i += SCALE_REQUEST) {
        struct submission s = {.in = {.uploads = uploads, .n = SCALE_REQUEST}};
        double begin;
        hsy_status st;

        for (size_t k = 0; k < SCALE_REQUEST; k++) {
            const struct rig_upload of = {
                .epoch = RIG_DAY, .kind = 2, .id = from + i + k + 1, .n = 1};

            rig_fill(&w->r, &uploads[k], payloads[k], &of);
        }
        w->r.steady += 60;
        rig_jump(&w->r, RIG_DAY); /* and there is a rate of new ids */
        begin = scale_now();
        st = engine_admit(w->r.e, &s, NULL);
        took += scale_now() - begin;
        for (size_t k = 0; k < SCALE_REQUEST; k++)
            *wrong += st != HSY_OK || uploads[k].verdict != INTAKE_COUNTED;
    }
    return took;
}

/* What the other thread does meanwhile. */
static void scale_settle(struct scale_side *w)
{
    bool more = true;

    engine_tidy(w->r.e, &more, NULL);
    for (more = true; more;)
        engine_settle(w->r.e, STORE_QUIET, &more, NULL);
}

static int scale_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void admissions_cost_as_much(const char *directory, uint64_t n,
                                    uint64_t runs_at, bool full)
{
    static struct scale_side old, new;
    struct scale_side *const both[] = {&old, &new};
    const uint64_t turn =
        n / SCALE_TURNS < SCALE_REQUEST ? SCALE_REQUEST : n / SCALE_TURNS;
    double ratio[SCALE_TURNS / 4];
    struct engine_status status[2];
    char path[2][160];
    uint64_t wrong = 0;

    snprintf(path[0], sizeof path[0], "%s-old", directory);
    snprintf(path[1], sizeof path[1], "%s-new", directory);
    wrong += !scale_side_open(&old, path[0], UINT64_MAX);
    wrong += !scale_side_open(&new, path[1], runs_at);
    for (unsigned k = 0; wrong == 0 && k < SCALE_TURNS; k++)
        for (unsigned i = 0; i < 2; i++) {
            struct scale_side *w = both[(i + k) % 2];

            w->took[k] = scale_admit(
                w, k * turn, turn / SCALE_REQUEST * SCALE_REQUEST, &wrong);
            scale_settle(w);
        }
    for (unsigned k = 0; k < SCALE_TURNS / 4; k++)
        ratio[k] = new.took[k + SCALE_TURNS * 3 / 4] /
                   old.took[k + SCALE_TURNS * 3 / 4];
    qsort(ratio, SCALE_TURNS / 4, sizeof *ratio, scale_order);
    engine_status(old.r.e, &status[0]);
    engine_status(new.r.e, &status[1]);
    ok(wrong == 0 && status[1].ids == status[0].ids && status[1].ids_runs != 0,
       "%llu uploads are admitted, by an engine with runs and one without",
       (unsigned long long)status[1].ids);
    printf("# admitting: %.3f us without runs, %.3f us with %llu, the last "
           "quarter; ratio %.3f in the median (%.3f to %.3f); memory of ids "
           "%.0f and %.0f MiB\n",
           old.took[SCALE_TURNS - 1] * 1e6 / (double)turn,
           new.took[SCALE_TURNS - 1] * 1e6 / (double)turn,
           (unsigned long long)status[1].ids_runs, ratio[SCALE_TURNS / 8],
           ratio[0], ratio[SCALE_TURNS / 4 - 1],
           (double)status[0].ids_bytes / 1048576,
           (double)status[1].ids_bytes / 1048576);
    if (full)
        ok(ratio[SCALE_TURNS / 8] <= 1.10, "it takes at most a tenth longer");
    for (unsigned i = 0; i < 2; i++) {
        scale_side_close(both[i]);
        store_remove(path[i]);
    }
}

int main(int argc, char **argv)
{
    const bool full = argc > 1;
    const uint64_t n = full             ? strtoull(argv[1], NULL, 10)
                       : TEST_SANITIZED ? 100000
                                        : 1000000;
    char root[128], at[140];

    snprintf(root, sizeof root, "%s/hearsay-ids-XXXXXX",
             argc > 2                                 ? argv[2]
             : full || access("/dev/shm", W_OK) == -1 ? "/tmp"
                                                      : "/dev/shm");
    if (mkdtemp(root) == NULL)
        return 1;
    snprintf(at, sizeof at, "%s/data", root);
    setvbuf(stdout, NULL, _IOLBF, 0);
    scale_commit = full ? SCALE_COMMIT : 1024;
    many_ids_open(at, n, full);
    store_remove(at);
    if (!full || n <= 20000000)
        admissions_cost_as_much(at, full ? n : n / 10,
                                full ? ENGINE_RUNS : n / 100, full);
    rmdir(root);
    return tap_done();
}
