/* runs_world.c - see runs_world.h. */

#define _GNU_SOURCE

#include "rig/runs_world.h"

char runs_root[64], runs_at[96], runs_other[96];

struct world world;

hsy_status world_open(struct world *w, const char *directory)
{
    hsy_status st;

    w->err = (hsy_error){0};
    st = store_sqlite_open(&w->store, &w->state, directory, true, &w->err);
    if (st == HSY_OK)
        st = engine_open(&w->r.e, w->store, &w->state, &w->r.options, &w->err);
    if (st == HSY_OK)
        st = engine_set_document(w->r.e, w->r.document, w->r.document_len,
                                 &w->err);
    if (st != HSY_OK)
        return st;
    roster_drop(w->r.roster);
    w->r.roster = engine_roster(w->r.e);
    return rig_day(&w->r, w->state.day > RIG_DAY ? w->state.day : RIG_DAY);
}

void world_kill(struct world *w)
{
    engine_close(w->r.e);
    w->r.e = NULL;
    if (w->store != NULL)
        w->store->ops->close(w->store);
    w->store = NULL;
}

hsy_status world_again(struct world *w)
{
    world_kill(w);
    return world_open(w, runs_at);
}

void world_new(struct world *w)
{
    store_remove(runs_at);
    *w = (struct world){.r = {.options = {.ids_epoch = 1 << 20,
                                          .fold_bytes = 1 << 22,
                                          .tally_bytes = 1 << 24,
                                          .day_words = 2000,
                                          .keep_days = 5,
                                          .grace_days = 2,
                                          .clock_days = 12,
                                          .runs_at = AT}}};
    w->r.document = rig_document(RIG_TASKS, 1, 1, &w->r.document_len);
    if (world_open(w, runs_at) != HSY_OK)
        ok(false, "a store opens: %s", w->err.msg);
}

void world_end(struct world *w)
{
    world_kill(w);
    roster_drop(w->r.roster);
    free(w->r.document);
}

/* ---- Uploads ------------------------------------------------------------- */

struct rig_upload world_upload(uint32_t epoch, uint64_t n)
{
    return (struct rig_upload){.task = n % 2,
                               .epoch = epoch,
                               .kind = n % 5 == 0 ? 2 : 1,
                               .id = (uint64_t)epoch << 32 | n,
                               .n = 1,
                               .first = (uint32_t)(n % 300)};
}

size_t world_request = 100; /* uploads of a request, at most 100 */

uint64_t world_send(struct world *w, uint32_t epoch, uint64_t from, uint64_t to,
                    enum intake_verdict wanted)
{
    uint64_t n = 0;

    while (from < to) {
        struct rig_upload of[100];
        enum intake_verdict verdicts[100];
        size_t k = 0;

        for (; k < world_request && from < to; k++)
            of[k] = world_upload(epoch, from++);
        rig_admit(&w->r, of, k, verdicts);
        for (size_t i = 0; i < k; i++)
            n += verdicts[i] == wanted;
        rig_fold(&w->r);
    }
    return n;
}

hsy_status world_settle(struct world *w, unsigned steps)
{
    hsy_status st = HSY_OK;
    bool more = true;

    for (; st == HSY_OK && more && steps > 0; steps--)
        st = engine_settle(w->r.e, true, &more, &w->err);
    return st;
}

hsy_status world_rest(struct world *w)
{
    bool more = true;
    hsy_status st = HSY_OK;

    while (st == HSY_OK && more)
        st = engine_tidy(w->r.e, &more, &w->err);
    if (st == HSY_OK)
        st = world_settle(w, UINT32_MAX);
    return st == HSY_OK ? engine_tidy(w->r.e, &more, &w->err) : st;
}

struct engine_status world_status(struct world *w)
{
    struct engine_status status;

    engine_status(w->r.e, &status);
    return status;
}

unsigned world_files(const char *directory)
{
    char path[128];
    const struct dirent *e;
    unsigned n = 0;
    DIR *d;

    snprintf(path, sizeof path, "%s/runs", directory);
    d = opendir(path);
    while (d != NULL && (e = readdir(d)) != NULL)
        n += e->d_name[0] != '.';
    if (d != NULL)
        closedir(d);
    return n;
}

int64_t world_sql(const char *directory, const char *text)
{
    char path[128];
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int64_t got = -1;

    snprintf(path, sizeof path, "%s/record.db", directory);
    if (sqlite3_open(path, &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, text, -1, &st, NULL) == SQLITE_OK) {
        const int rc = sqlite3_step(st);

        got = rc == SQLITE_ROW    ? sqlite3_column_int64(st, 0)
              : rc == SQLITE_DONE ? 0
                                  : -1;
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
    return got;
}

bool world_a_file(char path[256], off_t *bytes)
{
    const struct dirent *e;
    struct stat is;
    DIR *d;
    bool found = false;

    snprintf(path, 256, "%s/runs", runs_at);
    d = opendir(path);
    while (d != NULL && !found && (e = readdir(d)) != NULL)
        if (e->d_name[0] != '.') {
            snprintf(path, 256, "%s/runs/%.40s", runs_at, e->d_name);
            found = stat(path, &is) == 0;
            *bytes = is.st_size;
        }
    if (d != NULL)
        closedir(d);
    return found;
}

bool world_places(void)
{
    strcpy(runs_root, "/dev/shm/hearsay-runs-XXXXXX");
    if (mkdtemp(runs_root) == NULL) {
        strcpy(runs_root, "/tmp/hearsay-runs-XXXXXX");
        if (mkdtemp(runs_root) == NULL)
            return false;
    }
    snprintf(runs_at, sizeof runs_at, "%s/data", runs_root);
    snprintf(runs_other, sizeof runs_other, "%s/other", runs_root);
    return true;
}
