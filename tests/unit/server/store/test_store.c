/* Tests of src/server/store/sqlite.c: every function, read back with a new
 * process's eyes after each; what is refused. */
#define _GNU_SOURCE

#include "rig/store_rig.h"
#include "tap.h"

static char unit_root[64], unit_at[96];
static struct rig unit_rig;

/* ---- Help ---------------------------------------------------------------- */

static hsy_status unit_open(struct rig *r, struct rig_told *told,
                            hsy_error *err)
{
    *err = (hsy_error){0};
    return rig_open(r, unit_at, told, err);
}

/* ---- What is kept -------------------------------------------------------- */

static void everything_is_read_back(void)
{
    struct rig_told told = {0};
    struct rig *r = &unit_rig;
    hsy_error err;
    hsy_status st = unit_open(r, &told, &err);
    uint8_t key[STORE_KEY];
    bool same = true;

    ok(eq_status(st, HSY_OK) && eq_u64(r->state.seq, 0) &&
           eq_u64(r->state.closed, 0),
       "a new store is empty");
    memcpy(key, r->state.key, sizeof key);
    for (unsigned k = 0; st == HSY_OK && k < RIG_STEPS; k++) {
        st = rig_step(r, k, &err);
        if (st != HSY_OK || r->wrong != NULL)
            break;
        rig_close(r);
        st = unit_open(r, &told, &err);
        rig_recover(r);
        same = same && memcmp(key, r->state.key, sizeof key) == 0;
    }
    ok(eq_status(st, HSY_OK) && r->wrong == NULL,
       "opened again after each of %u steps, everything is there%s%s",
       RIG_STEPS, r->wrong == NULL ? "" : ": ",
       r->wrong == NULL ? "" : r->wrong);
    ok(same, "the key stays");
    ok(eq_u64(r->state.day, RIG_DAY + 4) &&
           eq_u64(r->state.closed, RIG_DAY + 2) && eq_u64(r->figures, 1) &&
           eq_u64(r->documents, 1),
       "days, figures and the document are kept");
    is_status(r->store->ops->close_epochs(r->store, RIG_DAY, RIG_DAY, &err),
              HSY_OK,
              "days may be opened again, which only the engine asks for");
    rig_close(r);
    ok(eq_status(unit_open(r, &told, &err), HSY_OK) &&
           eq_u64(r->state.closed, RIG_DAY) && eq_u64(r->state.day, RIG_DAY),
       "and that is kept");
    rig_close(r);
    rig_remove(unit_at);
    unit_open(r, &told, &err);
    ok(memcmp(key, r->state.key, sizeof key) != 0, "another store's key");
    rig_close(r);
    rig_remove(unit_at);
}

/* Chunks that no round was made of are gone with their process. */
static void orphans_are_forgotten(void)
{
    static const int64_t words[100] = {[5] = 7};
    struct rig_told told = {0};
    struct rig *r = &unit_rig;
    const struct store_tally t = {0, 0, RIG_WORDS};
    const struct store_chunk c = {1, words, 100};
    hsy_error err;

    unit_open(r, &told, &err);
    is_status(r->store->ops->chunks(r->store, &t, &c, 1, &err), HSY_OK,
              "a chunk is written");
    rig_close(r);
    unit_open(r, &told, &err);
    ok(r->wrong == NULL, "without a round it is not there");
    ok(eq_status(r->store->ops->chunks(r->store, &t, NULL, 0, &err), HSY_OK) &&
           eq_status(rig_round(r->store, 0, 0, &err), HSY_OK),
       "a round is made without it");
    rig_close(r);
    unit_open(r, &told, &err);
    ok(r->wrong == NULL && eq_int(r->whole[0][STORE_CHUNK + 5], 0),
       "and it is still not there");
    rig_close(r);
    is_int(rig_sql(unit_at, "cells.db", "SELECT count(*) FROM chunks"), 0,
           "it has left the disk");
    rig_remove(unit_at);
}

/* The same chunk twice in a round: the last stands. A tally that was dropped
 * begins with zeros. */
static void rounds_replace_and_drops_forget(void)
{
    struct rig_told told = {0};
    struct rig *r = &unit_rig;
    int64_t words[100] = {0};
    const struct store_tally t = {0, RIG_DAY + 3, RIG_WORDS};
    const struct store_chunk c = {1, words, 100};
    hsy_error err;

    unit_open(r, &told, &err);
    words[1] = 5;
    r->store->ops->chunks(r->store, &t, &c, 1, &err);
    words[1] = 6;
    r->store->ops->chunks(r->store, &t, &c, 1, &err);
    is_status(rig_round(r->store, 0, 0, &err), HSY_OK,
              "a chunk is written twice in a round");
    rig_close(r);
    unit_open(r, &told, &err);
    is_int(r->day[3][STORE_CHUNK + 1], 6, "the last stands");
    ok(eq_status(r->store->ops->drop(r->store, &t, 1, &err), HSY_OK) &&
           eq_status(r->store->ops->chunks(r->store, &t, NULL, 0, &err),
                     HSY_OK) &&
           eq_status(rig_round(r->store, 0, 0, &err), HSY_OK),
       "the tally is dropped and begun again");
    rig_close(r);
    unit_open(r, &told, &err);
    ok(r->has_day[3] && eq_int(r->day[3][STORE_CHUNK + 1], 0),
       "it begins with zeros");
    rig_tidy(r, &err);
    rig_close(r);
    is_int(rig_sql(unit_at, "cells.db", "SELECT count(*) FROM chunks"), 0,
           "what was dropped has left the disk");
    rig_remove(unit_at);
}

/* ---- Housekeeping -------------------------------------------------------- */

static bool unit_ordered = true; /* within rows */
static unsigned unit_ids;

static hsy_status unit_count_ids(void *ctx, const struct store_ids *ids)
{
    uint8_t *seen = ctx;

    for (size_t i = 0; i < ids->n; i++) {
        const unsigned k = ids->ids[i].id[0] + 256u * ids->ids[i].id[1];

        unit_ordered &= i == 0 || memcmp(&ids->ids[i - 1], &ids->ids[i],
                                         sizeof *ids->ids) < 0;
        unit_ids += ids->epoch == 200 + k % 3 && ids->null == (k % 5 == 0) &&
                    seen[k]++ == 0;
    }
    return HSY_OK;
}

/* Many commits of few ids become few rows of many. */
static void ids_are_joined(void)
{
    static uint8_t seen[1000];
    const struct store_reader to = {.ctx = seen, .ids = unit_count_ids};
    struct store_state state;
    struct store *s;
    hsy_error err;
    uint64_t n = 0;
    bool more = true;
    hsy_status st = store_sqlite_open(&s, &state, unit_at, true, &err);

    for (unsigned k = 0; st == HSY_OK && k < 1000; k++) {
        const struct store_id id = {{(uint8_t)k, (uint8_t)(k >> 8)}, {0}};
        const struct store_ids ids = {
            .epoch = 200 + k % 3, .ids = &id, .n = 1, .null = k % 5 == 0};
        const struct store_commit c = {.seq = k + 1, .ids = &ids, .nids = 1};

        st = s->ops->append(s, &c, &err);
    }
    while (st == HSY_OK && more)
        st = s->ops->tidy(s, &more, &err);
    is_status(st, HSY_OK, "ids of 1000 commits are tidied");
    ok(eq_status(s->ops->read(s, &to, &err), HSY_OK) && eq_u64(unit_ids, 1000),
       "all are there once");
    ok(unit_ordered, "and not in the order in which they came");
    ok(eq_status(s->ops->forget_nulls(s, 202, &n, &err), HSY_OK) &&
           eq_u64(n, 67) &&
           eq_status(s->ops->forget_nulls(s, 202, &n, &err), HSY_OK) &&
           eq_u64(n, 0),
       "the ids of a day's null uploads are forgotten, once");
    memset(seen, 0, sizeof seen);
    unit_ids = 0;
    ok(eq_status(s->ops->read(s, &to, &err), HSY_OK) &&
           eq_u64(unit_ids, 1000 - 67),
       "all others are there");
    is_status(s->ops->close_epochs(s, 201, 202, &err), HSY_OK,
              "two days are closed");
    more = true;
    while (st == HSY_OK && more)
        st = s->ops->tidy(s, &more, &err);
    s->ops->close(s);
    ok(rig_sql(unit_at, "record.db", "SELECT count(*) FROM ids") < 40,
       "in few rows");
    is_int(rig_sql(unit_at, "record.db",
                   "SELECT count(*) FROM ids WHERE place < 202 << 32"),
           0, "and those of closed days have left the disk");
    rig_remove(unit_at);
}

static bool unit_holds(const char *file, const char *needle)
{
    FILE *in = fopen(rig_path(unit_at, file), "rb");
    static char bytes[4 << 20];
    size_t n = in == NULL ? 0 : fread(bytes, 1, sizeof bytes, in);

    if (in != NULL)
        fclose(in);
    return memmem(bytes, n, needle, strlen(needle)) != NULL;
}

/* A report that is in a tally is nowhere else, while the store is in use. */
static void what_is_folded_is_erased(void)
{
    static const char report[] = "a-report-that-can-be-found";
    const struct store_batch b = {.entry = 0,
                                  .epoch = 200,
                                  .type = STORE_REPORTS,
                                  .reports = 1,
                                  .bytes = (const uint8_t *)report,
                                  .len = sizeof report};
    const struct store_commit c = {.seq = 1, .batches = &b, .nbatches = 1};
    struct store_state state;
    struct store *s;
    hsy_error err;
    bool more = true;

    store_sqlite_open(&s, &state, unit_at, true, &err);
    s->ops->append(s, &c, &err);
    ok(unit_holds("record.db-wal", report), "a report rests in the log");
    rig_round(s, 0, 1, &err);
    while (more)
        if (s->ops->settle(s, STORE_QUIET, &more, &err) != HSY_OK)
            break;
    ok(!unit_holds("record.db-wal", report) && !unit_holds("record.db", report),
       "folded and tidied, it is nowhere");
    s->ops->close(s);
    rig_remove(unit_at);
}

/* ---- Refusals ------------------------------------------------------------ */

static void what_is_wrong_is_refused(void)
{
    struct rig_told told = {0};
    struct rig *r = &unit_rig;
    static const int64_t words[STORE_CHUNK];
    const struct store_tally t = {0, 0, RIG_WORDS}, u = {0, 0, 5000};
    const struct store_chunk shorter = {0, words, 99}, beyond = {2, words, 100};
    const struct store_chunk longer = {1, words, 101}, good = {1, words, 100};
    const struct store_chunk other = {1, words, 5000 - STORE_CHUNK};
    const uint8_t name[16] = {1};
    const struct store_id id = {{1}, {2}};
    const struct store_ids late = {.epoch = 1u << 31, .ids = &id, .n = 1};
    const struct store_count count = {0, 100, 5, 6};
    struct store_commit c = {.seq = 2};
    hsy_error err;

    unit_open(r, &told, &err);
    is_status(r->store->ops->append(r->store, &c, &err), HSY_E_RANGE,
              "a commit that is not the next is refused");
    c = (struct store_commit){.seq = 1, .merged = name};
    is_status(r->store->ops->append(r->store, &c, &err), HSY_OK,
              "a merged tally");
    c.seq = 2;
    c.counts = &count;
    c.ncounts = 1;
    is_status(r->store->ops->append(r->store, &c, &err), HSY_E_REFUSED,
              "the same again is refused");
    is_int(rig_sql(unit_at, "record.db", "SELECT count(*) FROM counts"), 0,
           "and nothing of that commit is kept");
    c.merged = NULL;
    c.ids = &late;
    c.nids = 1;
    ok(eq_status(r->store->ops->append(r->store, &c, &err), HSY_E_RANGE) &&
           eq_status(r->store->ops->close_epochs(r->store, 1u << 31, 1, &err),
                     HSY_E_RANGE),
       "a day that no calendar has is refused");
    c.nids = 0;
    is_status(r->store->ops->append(r->store, &c, &err), HSY_OK,
              "the next commit is taken");
    ok(eq_status(r->store->ops->chunks(r->store, &t, &shorter, 1, &err),
                 HSY_E_RANGE) &&
           eq_status(r->store->ops->chunks(r->store, &t, &longer, 1, &err),
                     HSY_E_RANGE) &&
           eq_status(r->store->ops->chunks(r->store, &t, &beyond, 1, &err),
                     HSY_E_RANGE),
       "chunks that do not fit their tally are refused");
    ok(eq_status(r->store->ops->chunks(r->store, &t, &good, 1, &err), HSY_OK) &&
           eq_status(rig_round(r->store, 0, 2, &err), HSY_OK),
       "one that does is taken");
    is_status(rig_round(r->store, 0, 1, &err), HSY_E_RANGE,
              "a round of the past is refused");
    ok(eq_status(r->store->ops->chunks(r->store, &u, &other, 1, &err),
                 HSY_OK) &&
           eq_status(rig_round(r->store, 0, 2, &err), HSY_E_RANGE),
       "so is a tally that has grown");
    rig_close(r);
    rig_remove(unit_at);
}

static void who_may_open(void)
{
    struct rig_told told = {0};
    struct rig *r = &unit_rig;
    struct store_state state;
    struct store *s;
    hsy_error err = {0};

    is_status(store_sqlite_open(&s, &state, unit_at, false, &err), HSY_E_EMPTY,
              "no directory: there is no store");
    mkdir(unit_at, 0700);
    ok(eq_status(store_sqlite_open(&s, &state, unit_at, false, &err),
                 HSY_E_EMPTY) &&
           access(rig_path(unit_at, "lock"), F_OK) == -1,
       "an empty directory: none either, and nothing is made in it");
    chmod(unit_at, 0750);
    is_status(store_sqlite_open(&s, &state, unit_at, true, &err), HSY_E_REFUSED,
              "a directory that others can read is refused");
    chmod(unit_at, 0700);
    unit_open(r, &told, &err);
    ok(eq_status(store_sqlite_open(&s, &state, unit_at, true, &err),
                 HSY_E_BUSY) &&
           eq_u64(err.limit, (uint64_t)getpid()),
       "one that is in use is busy, and it is said who has it");
    rig_close(r);
    is_status(store_sqlite_open(&s, &state, unit_at, false, &err), HSY_OK,
              "afterwards it opens");
    s->ops->close(s);
    rig_remove(unit_at);
}

int main(void)
{
    if (!rig_root(unit_root))
        return 1;
    snprintf(unit_at, sizeof unit_at, "%s/data", unit_root);

    everything_is_read_back();
    orphans_are_forgotten();
    rounds_replace_and_drops_forget();
    ids_are_joined();
    what_is_folded_is_erased();
    what_is_wrong_is_refused();
    who_may_open();

    rmdir(unit_root);
    return tap_done();
}
