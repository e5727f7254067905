/* store_rig.c - see store_rig.h. */

#define _GNU_SOURCE

#include "rig/store_rig.h"

/* Mostly in the small chunk, now and then in the large one. */
static uint32_t rig_cell(uint64_t i)
{
    return (uint32_t)(i % 11 == 0 ? 0 : STORE_CHUNK) + (uint32_t)i;
}

static uint32_t rig_day(uint64_t i)
{
    return RIG_DAY + (uint32_t)(i / 8);
}

bool rig_is(struct rig *r, bool good, const char *what)
{
    if (!good && r->wrong == NULL)
        r->wrong = what;
    return good;
}

/* ---- Writing ------------------------------------------------------------- */

hsy_status rig_append(struct rig *r, hsy_error *err)
{
    const uint64_t i = r->state.seq + 1;
    const struct store_id id = {.id = {(uint8_t)i, 7}, .content = {9}};
    const struct store_ids ids = {.epoch = rig_day(i), .ids = &id, .n = 1};
    uint8_t bytes[600] = {(uint8_t)i};
    const struct store_batch batch = {.entry = i % 2,
                                      .epoch = rig_day(i),
                                      .type = STORE_REPORTS,
                                      .reports = 1,
                                      .bytes = bytes,
                                      .len = sizeof bytes};
    const struct store_count count = {i % 2, rig_day(i), i, i + 1};
    const struct store_quota quota = {
        {(uint8_t)(i % 3)}, rig_day(i), (uint32_t)i};
    const struct store_commit c = {.seq = i,
                                   .ids = &ids,
                                   .nids = 1,
                                   .batches = &batch,
                                   .nbatches = 1,
                                   .counts = &count,
                                   .ncounts = 1,
                                   .quotas = &quota,
                                   .nquotas = 1};
    hsy_status st;

    r->told->tried = i;
    st = r->store->ops->append(r->store, &c, err);
    if (st != HSY_OK)
        return st;
    r->told->acknowledged = i;
    r->state.seq = i;
    return HSY_OK;
}

/* One report into its tallies. */
static void rig_count(struct rig *r, uint64_t i)
{
    const uint32_t cell = rig_cell(i), d = rig_day(i) - RIG_DAY;

    r->whole[i % 2][cell]++;
    r->dirty[i % 2][cell / STORE_CHUNK] = true;
    if (i % 2 == 0) {
        r->day[d][cell]++;
        r->dirty[2 + d][cell / STORE_CHUNK] = true;
    }
}

void rig_fold(struct rig *r, uint32_t entry)
{
    for (uint64_t i = r->through[entry] + 1; i <= r->state.seq; i++)
        if (i % 2 == entry)
            rig_count(r, i);
    r->through[entry] = r->state.seq;
}

hsy_status rig_chunks(struct rig *r, uint32_t entry, uint32_t epoch,
                      const int64_t *words, const bool *dirty, hsy_error *err)
{
    const struct store_tally t = {entry, epoch, RIG_WORDS};
    hsy_status st = HSY_OK;

    for (uint32_t place = 0; st == HSY_OK && place < RIG_CHUNKS; place++) {
        const struct store_chunk c = {place, words + place * STORE_CHUNK,
                                      place == 0 ? STORE_CHUNK : 100};

        if (dirty[place])
            st = r->store->ops->chunks(r->store, &t, &c, 1, err);
    }
    return st;
}

hsy_status rig_round(struct store *s, uint32_t entry, uint64_t through,
                     hsy_error *err)
{
    const struct store_round round = {entry, through};

    return s->ops->rounds(s, &round, 1, err);
}

hsy_status rig_write(struct rig *r, uint32_t entry, hsy_error *err)
{
    hsy_status st =
        rig_chunks(r, entry, 0, r->whole[entry], r->dirty[entry], err);

    for (uint32_t d = 0; st == HSY_OK && entry == 0 && d < RIG_DAYS; d++)
        st = rig_chunks(r, 0, RIG_DAY + d, r->day[d], r->dirty[2 + d], err);
    if (st == HSY_OK)
        st = rig_round(r->store, entry, r->through[entry], err);
    if (st != HSY_OK)
        return st;
    r->told->rounds++;
    memset(r->dirty[entry], 0, sizeof r->dirty[entry]);
    if (entry == 0)
        memset(r->dirty[2], 0, RIG_DAYS * sizeof r->dirty[2]);
    return HSY_OK;
}

hsy_status rig_document(struct rig *r, hsy_error *err)
{
    static const uint8_t one[] = "first task", two[] = "second task";
    static const uint8_t *const entries[] = {one, two};
    static const size_t lens[] = {sizeof one, sizeof two};
    static const uint8_t document[] = "both tasks";

    if (r->documents != 0)
        return HSY_OK;
    return r->store->ops->document(r->store, document, sizeof document, 0,
                                   entries, lens, 2, err);
}

hsy_status rig_drop(struct rig *r, hsy_error *err)
{
    const struct store_tally t = {0, RIG_DAY, RIG_WORDS};
    hsy_status st;

    r->told->tried_drop = true;
    st = r->store->ops->drop(r->store, &t, 1, err);
    if (st == HSY_OK)
        r->told->dropped = true;
    return st;
}

hsy_status rig_close_epochs(struct rig *r, uint32_t through, hsy_error *err)
{
    hsy_status st;

    if (through > r->told->tried_closed)
        r->told->tried_closed = through;
    st = r->store->ops->close_epochs(r->store, through, through + 2, err);
    if (st == HSY_OK && through > r->told->closed)
        r->told->closed = through;
    return st;
}

hsy_status rig_figure(struct rig *r, hsy_error *err)
{
    const struct store_figure f = {1, RIG_DAY, "{\"a\":1}", 7};

    return r->store->ops->figure(r->store, &f, err);
}

hsy_status rig_tidy(struct rig *r, hsy_error *err)
{
    const enum store_pace pace =
        r->state.seq % 2 == 0 ? STORE_QUIET : STORE_OVERDUE;
    bool more = true;
    hsy_status st = HSY_OK;

    while (st == HSY_OK && more)
        st = r->store->ops->tidy(r->store, &more, err);
    for (more = true; st == HSY_OK && more;)
        st = r->store->ops->settle(r->store, pace, &more, err);
    return st;
}

/* The ids of all open days may become runs; housekeeping makes them. */
static hsy_status rig_seal(struct rig *r, hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (uint32_t d = 0; st == HSY_OK && d < RIG_DAYS; d++)
        if (RIG_DAY + d > r->told->tried_closed)
            st = r->store->ops->seal(r->store, RIG_DAY + d, err);
    return st;
}

/* ---- Reading back -------------------------------------------------------- */

static hsy_status rig_read_document(void *ctx, const uint8_t *bytes, size_t len)
{
    struct rig *r = ctx;

    r->documents++;
    rig_is(r, len == 11 && memcmp(bytes, "both tasks", 11) == 0,
           "another document");
    return HSY_OK;
}

static hsy_status rig_read_entry(void *ctx, uint32_t number,
                                 const uint8_t *bytes, size_t len)
{
    struct rig *r = ctx;

    (void)bytes;
    rig_is(r, number == r->entries++ && len > 10, "another entry");
    return HSY_OK;
}

static hsy_status rig_read_count(void *ctx, const struct store_count *c)
{
    struct rig *r = ctx;

    if (rig_is(r, c->entry < 2 && c->epoch - RIG_DAY < RIG_DAYS,
               "a count of nothing"))
        r->counts[c->entry][c->epoch - RIG_DAY] = *c;
    return HSY_OK;
}

static hsy_status rig_read_quota(void *ctx, const struct store_quota *q)
{
    struct rig *r = ctx;

    rig_is(r,
           q->epoch > r->state.closed && q->used <= r->state.seq &&
               q->token[0] == q->used % 3,
           "another quota");
    return HSY_OK;
}

static hsy_status rig_read_ids(void *ctx, const struct store_ids *ids)
{
    struct rig *r = ctx;

    for (size_t k = 0; k < ids->n; k++) {
        const unsigned i = ids->ids[k].id[0];

        if (rig_is(r,
                   i < RIG_COMMITS && ids->epoch == rig_day(i) &&
                       ids->ids[k].id[1] == 7 && ids->ids[k].content[0] == 9,
                   "another id"))
            r->ids[i]++;
    }
    return HSY_OK;
}

static hsy_status rig_read_tally(void *ctx, const struct store_tally *t)
{
    struct rig *r = ctx;
    const bool whole = t->entry < 2 && t->epoch == 0;
    const bool day = t->entry == 0 && t->epoch - RIG_DAY < RIG_DAYS;

    rig_is(r, t->words == RIG_WORDS && (whole || day), "another tally");
    if (day)
        r->has_day[t->epoch - RIG_DAY] = true;
    return HSY_OK;
}

static hsy_status rig_read_chunk(void *ctx, const struct store_tally *t,
                                 const struct store_chunk *c)
{
    struct rig *r = ctx;
    int64_t *words =
        t->epoch == 0 ? r->whole[t->entry] : r->day[t->epoch - RIG_DAY];

    if (rig_is(r,
               c->place < RIG_CHUNKS &&
                   c->n == (c->place == 0 ? STORE_CHUNK : 100),
               "another chunk"))
        memcpy(words + c->place * STORE_CHUNK, c->words,
               c->n * sizeof *c->words);
    return HSY_OK;
}

static hsy_status rig_read_batch(void *ctx, const struct store_batch *b)
{
    struct rig *r = ctx;

    if (rig_is(r,
               b->seq < RIG_COMMITS && b->entry == b->seq % 2 &&
                   b->epoch == rig_day(b->seq) && b->len == 600 &&
                   b->bytes[0] == b->seq && b->reports == 1 &&
                   b->type == STORE_REPORTS && !r->pending[b->seq],
               "another batch"))
        r->pending[b->seq] = true;
    return HSY_OK;
}

static hsy_status rig_read_figure(void *ctx, const struct store_figure *f)
{
    struct rig *r = ctx;

    r->figures++;
    rig_is(r, f->entry == 1 && f->day == RIG_DAY && f->len == 7,
           "another figure");
    return HSY_OK;
}

/* ---- What must be true --------------------------------------------------- */

/* Every commit is counted once in a tally or its batch, later ones nowhere. */
static void rig_judge_cells(struct rig *r)
{
    int64_t cells[2] = {0}, days = 0;
    unsigned n[2] = {0}, dropped = 0;

    for (uint64_t i = 1; i < RIG_COMMITS; i++) {
        const uint32_t d = rig_day(i) - RIG_DAY;
        const int64_t in_all = r->whole[i % 2][rig_cell(i)] + r->pending[i];

        rig_is(r, in_all == (i <= r->state.seq),
               i <= r->told->acknowledged ? "an acknowledged report is lost "
                                            "or doubled"
                                          : "a report that nobody brought");
        n[i % 2] += i <= r->state.seq && !r->pending[i];
        if (i % 2 == 0 && r->has_day[d])
            rig_is(r,
                   r->day[d][rig_cell(i)] + r->pending[i] ==
                       (i <= r->state.seq),
                   "a day disagrees with the whole");
        if (i % 2 == 0 && i <= r->state.seq && !r->pending[i])
            dropped += !r->has_day[d];
    }
    for (uint32_t k = 0; k < RIG_WORDS; k++) {
        cells[0] += r->whole[0][k];
        cells[1] += r->whole[1][k];
        for (uint32_t d = 0; d < RIG_DAYS; d++)
            days += r->has_day[d] ? r->day[d][k] : 0;
    }
    rig_is(r, cells[0] == n[0] && cells[1] == n[1], "cells from nowhere");
    rig_is(r, days + dropped == n[0], "cells of a day from nowhere");
    rig_is(r, dropped == 0 || r->told->tried_drop, "a day is lost");
}

static void rig_judge(struct rig *r)
{
    rig_is(r,
           r->state.seq == r->told->acknowledged ||
               r->state.seq == r->told->tried,
           "not the last commit");
    rig_is(r,
           r->state.closed == r->told->closed ||
               r->state.closed == r->told->tried_closed,
           "another day is closed");
    rig_is(r, r->documents == r->entries / 2 && r->documents <= 1,
           "half a document");
    rig_is(r, r->documents == 1 || r->state.seq == 0, "the document is lost");
    for (uint64_t i = 1; i < RIG_COMMITS; i++) {
        const bool there = i <= r->state.seq && rig_day(i) > r->state.closed;
        const struct store_count *c = &r->counts[i % 2][rig_day(i) - RIG_DAY];

        rig_is(r, r->ids[i] == there, "an id is lost or doubled");
        if (i <= r->state.seq &&
            (i + 2 > r->state.seq || rig_day(i + 2) != rig_day(i)))
            rig_is(r, c->reports == i && c->nulls == i + 1,
                   "a count is not the last");
    }
    rig_judge_cells(r);
}

hsy_status rig_open(struct rig *r, const char *directory, struct rig_told *told,
                    hsy_error *err)
{
    static const struct store_reader reader = {
        .document = rig_read_document,
        .entry = rig_read_entry,
        .count = rig_read_count,
        .quota = rig_read_quota,
        .ids = rig_read_ids,
        .tally = rig_read_tally,
        .chunk = rig_read_chunk,
        .batch = rig_read_batch,
        .figure = rig_read_figure,
    };
    struct store_reader to = reader;
    hsy_status st;

    memset(r, 0, sizeof *r);
    r->told = told;
    to.ctx = r;
    st = store_sqlite_open(&r->store, &r->state, directory, true, err);
    if (st != HSY_OK)
        return st;
    /* Short logs, so that a short life moves them too. */
    ((struct store_sqlite *)r->store)->record_most = 60;
    ((struct store_sqlite *)r->store)->cells_most = 40;
    ((struct store_sqlite *)r->store)->reserve_bytes = 1 << 16;
    st = r->store->ops->read(r->store, &to, err);
    if (st == HSY_OK)
        rig_judge(r);
    return st;
}

void rig_close(struct rig *r)
{
    if (r->store != NULL)
        r->store->ops->close(r->store);
    r->store = NULL;
}

void rig_recover(struct rig *r)
{
    for (uint64_t i = 1; i < RIG_COMMITS; i++)
        if (r->pending[i])
            rig_count(r, i);
    r->through[0] = r->through[1] = r->state.seq;
}

/* ---- A life -------------------------------------------------------------- */

hsy_status rig_step(struct rig *r, unsigned k, hsy_error *err)
{
    if (k == 0)
        return rig_document(r, err);
    if (k % 2 == 1)
        return rig_append(r, err);
    if (k % 10 == 8) { /* one after the other, with no commit between */
        hsy_status st;

        rig_fold(r, 0);
        st = rig_write(r, 0, err);
        rig_fold(r, 1);
        return st == HSY_OK ? rig_write(r, 1, err) : st;
    }
    if (k % 14 == 10) {
        rig_fold(r, 1);
        return rig_write(r, 1, err);
    }
    if (k == 32 || k == 60)
        return rig_close_epochs(r, RIG_DAY + k / 20 - 1, err);
    if (k == 36)
        return rig_drop(r, err);
    if (k == 34)
        return rig_figure(r, err);
    if (k % 6 == 4)
        return rig_seal(r, err);
    return k % 6 == 0 ? rig_tidy(r, err) : HSY_OK;
}

/* ---- Directories --------------------------------------------------------- */

bool rig_root(char root[64])
{
    strcpy(root, "/dev/shm/hearsay-store-XXXXXX");
    if (mkdtemp(root) != NULL)
        return true;
    strcpy(root, "/tmp/hearsay-store-XXXXXX");
    return mkdtemp(root) != NULL;
}

char *rig_path(const char *directory, const char *file)
{
    static char path[160];

    snprintf(path, sizeof path, "%s/%s", directory, file);
    return path;
}

int64_t rig_sql(const char *directory, const char *file, const char *text)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int64_t got = -1;

    if (sqlite3_open(rig_path(directory, file), &db) == SQLITE_OK &&
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

static void rig_remove_files(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL)
        unlinkat(dirfd(d), e->d_name, 0);
    if (d != NULL)
        closedir(d);
    rmdir(directory);
}

void rig_remove(const char *directory)
{
    rig_remove_files(rig_path(directory, "runs"));
    rig_remove_files(directory);
}
