/*
 * cluster_commit.c - a group becomes one transaction of its shard.
 *
 *     turn 1   begin; insert the ids, an epoch after the other, and say which
 *              are new; lock what tokens have used
 *     turn 2   read what the others have; take back ids whose quota is used up;
 *              write what tokens use and the reports; commit
 *
 * Nothing that is acknowledged depends on an answer before the commit's: a row
 * that another transaction inserted is seen once that is committed, and then
 * our own commit, which writes a row in any case, is replicated after it.
 */
#include "server/cluster/internal.h"

#include "host/base/host_fail.h"
#include "host/base/steady.h"

#include <stdio.h>
#include <string.h>

#define COMMIT_TRIES 3u    /* of a group, */
#define COMMIT_WHOLE 6000u /* milliseconds after which there is no other */
#define COMMIT_PAUSE 500u  /* milliseconds, after a shard did not answer */
#define COMMIT_QUOTAS 256u /* rows of tokens in a statement */

/* How a try ended. */
enum commit_end {
    COMMIT_DONE,  /* it is certain */
    COMMIT_AGAIN, /* nothing was committed, and it may be tried again */
    COMMIT_DOUBT  /* it is not known, or cannot be now */
};

/* ---- Which items --------------------------------------------------------- */

enum commit_pick {
    COMMIT_INSERT, /* may be new */
    COMMIT_SEEK,   /* are there or are refused */
    COMMIT_OLD,    /* were to be inserted and are there, and those above */
    COMMIT_BACK    /* are taken back */
};

static bool commit_picked(const struct group_item *item, enum commit_pick pick)
{
    if (item->follows)
        return false;
    switch (pick) {
    case COMMIT_INSERT:
        return item->may == INTAKE_COUNTED;
    case COMMIT_SEEK:
        return item->may != INTAKE_COUNTED && !item->over;
    case COMMIT_OLD:
        return !item->fresh && !item->over;
    case COMMIT_BACK:
        return item->fresh && item->may != INTAKE_COUNTED;
    }
    return false;
}

/* The columns of those of an epoch that are picked: how many. */
static size_t commit_columns(struct group *g, size_t first, size_t n,
                             enum commit_pick pick)
{
    int64_t *ids = g->longs, *rests = g->longs + g->columns_room;
    size_t picked = 0;

    for (size_t i = first; i < first + n; i++) {
        if (!commit_picked(&g->items[i], pick))
            continue;
        ids[picked] = g->items[i].id;
        rests[picked] = g->items[i].rest;
        g->marks[picked++] =
            g->items[i].piece->upload->head.kind == HSY_UPLOAD_NULL;
    }
    return picked;
}

/* ---- Turn 1 -------------------------------------------------------------- */

static const char commit_ids_insert[] =
    "insert into ids_%u select * from unnest($1::int8[], $2::int8[], "
    "$3::boolean[]) on conflict do nothing returning id";

static hsy_status commit_put_ids(struct cluster_shard *s, size_t first,
                                 size_t n, hsy_error *err)
{
    struct group *g = &s->group;
    const size_t picked = commit_columns(g, first, n, COMMIT_INSERT);
    char sql[CLUSTER_SQL];

    if (picked == 0)
        return HSY_OK;
    snprintf(sql, sizeof sql, commit_ids_insert,
             (unsigned)g->items[first].epoch);
    return pg_put(s->link, err, sql, "LLM", g->longs, picked,
                  g->longs + g->columns_room, picked, g->marks, picked);
}

static hsy_status commit_put_quotas(struct cluster_shard *s, const char *sql,
                                    hsy_error *err)
{
    struct group *g = &s->group;
    int32_t epochs[COMMIT_QUOTAS];
    int64_t added[COMMIT_QUOTAS];
    uint8_t tokens[COMMIT_QUOTAS][16];
    hsy_status st = HSY_OK;

    for (size_t at = 0; at < g->nquotas && st == HSY_OK; at += COMMIT_QUOTAS) {
        const size_t n =
            g->nquotas - at < COMMIT_QUOTAS ? g->nquotas - at : COMMIT_QUOTAS;

        for (size_t i = 0; i < n; i++) {
            epochs[i] = (int32_t)g->quotas[at + i].epoch;
            added[i] = g->quotas[at + i].added;
            memcpy(tokens[i], g->quotas[at + i].token, 16);
        }
        st = pg_put(s->link, err, sql, "IBL", epochs, n, tokens,
                    sizeof tokens[0], n, added, n);
    }
    return st;
}

/* The row of a token is made, or locked as it is. */
static const char commit_quota_lock[] =
    "insert into quotas select * from unnest($1::int4[], $2::bytea[], "
    "$3::int8[]) on conflict (epoch, token) do update set used = quotas.used "
    "returning epoch, token, used";

static const char commit_quota_use[] =
    "update quotas set used = quotas.used + x.added from unnest($1::int4[], "
    "$2::bytea[], $3::int8[]) as x(epoch, token, added) where quotas.epoch = "
    "x.epoch and quotas.token = x.token";

static hsy_status commit_put_first(struct cluster_shard *s, hsy_error *err)
{
    struct group *g = &s->group;
    hsy_status st;

    st = pg_put(s->link, err, "begin", "");
    for (size_t i = 0, n; i < g->n && st == HSY_OK; i += n) {
        n = group_epoch(g, i);
        st = commit_put_ids(s, i, n, err);
    }
    if (st == HSY_OK)
        st = commit_put_quotas(s, commit_quota_lock, err);
    return st == HSY_OK ? pg_turn(s->link, err) : st;
}

static void commit_note_quota(struct group *g, const struct pg_rows *r)
{
    for (size_t i = 0; i < pg_count(r); i++) {
        size_t len;
        const uint8_t *token = pg_get_bytes(r, i, 1, &len);

        for (size_t k = 0; len == 16 && k < g->nquotas; k++)
            if (g->quotas[k].epoch == (uint32_t)pg_get(r, i, 0) &&
                memcmp(g->quotas[k].token, token, 16) == 0)
                g->quotas[k].used = pg_get(r, i, 2);
    }
}

/* *closed: the epoch whose table is not there. */
static hsy_status commit_take_first(struct cluster_shard *s, uint32_t *closed,
                                    hsy_error *err)
{
    struct group *g = &s->group;
    struct pg_rows *r = NULL;
    hsy_status st = pg_take(s->link, NULL, err);

    for (size_t i = 0, n; i < g->n && st == HSY_OK; i += n) {
        n = group_epoch(g, i);
        if (commit_columns(g, i, n, COMMIT_INSERT) == 0)
            continue;
        st = pg_take(s->link, &r, err);
        if (st == HSY_E_REFUSED)
            *closed = g->items[i].epoch;
        for (size_t k = 0; st == HSY_OK && k < pg_count(r); k++)
            group_new(g, i, n, pg_get(r, k, 0));
        pg_rows_free(r);
        r = NULL;
    }
    for (size_t at = 0; at < g->nquotas && st == HSY_OK; at += COMMIT_QUOTAS) {
        st = pg_take(s->link, &r, err);
        if (st == HSY_OK)
            commit_note_quota(g, r);
        pg_rows_free(r);
        r = NULL;
    }
    return st == HSY_OK || st == HSY_E_REFUSED ? pg_end(s->link, err) : st;
}

/* ---- Turn 2 -------------------------------------------------------------- */

static hsy_status commit_put_some(struct cluster_shard *s,
                                  enum commit_pick pick, const char *format,
                                  hsy_error *err)
{
    struct group *g = &s->group;
    hsy_status st = HSY_OK;

    for (size_t i = 0, n; i < g->n && st == HSY_OK; i += n) {
        size_t picked;
        char sql[CLUSTER_SQL];

        n = group_epoch(g, i);
        picked = commit_columns(g, i, n, pick);
        if (picked == 0)
            continue;
        snprintf(sql, sizeof sql, format, (unsigned)g->items[i].epoch);
        st = pg_put(s->link, err, sql, "L", g->longs, picked);
    }
    return st;
}

/* Rows of reports; an empty one if there are none, so that the commit waits for
 * the standby whatever it answers. */
static hsy_status commit_put_batches(struct cluster_shard *s, hsy_error *err)
{
    static const char insert[] =
        "insert into batches(entry, epoch, type, reports, nulls, ids, "
        "enrolled, bytes) values($1, $2, $3, $4, $5, $6, $7, $8)";
    const struct group *g = &s->group;
    const struct group_slot none = {.entry = 0};
    const size_t n = g->nslots != 0 ? g->nslots : 1;
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        const struct group_slot *slot = g->nslots != 0 ? &g->slots[i] : &none;

        st =
            pg_put(s->link, err, insert, "iiillllb", (int32_t)slot->entry,
                   (int32_t)slot->epoch, slot->type, slot->reports, slot->nulls,
                   slot->ids, slot->enrolled, slot->bytes, slot->len);
    }
    return st;
}

static hsy_status commit_put_second(struct cluster_shard *s, hsy_error *err)
{
    hsy_status st = commit_put_some(
        s, COMMIT_OLD, "select id, rest from ids_%u where id = any($1)", err);

    if (st == HSY_OK)
        st = commit_put_some(s, COMMIT_BACK,
                             "delete from ids_%u where id = any($1)", err);
    if (st == HSY_OK)
        st = commit_put_quotas(s, commit_quota_use, err);
    if (st == HSY_OK)
        st = commit_put_batches(s, err);
    if (st == HSY_OK)
        st = pg_put(s->link, err, "commit", "");
    return st == HSY_OK ? pg_turn(s->link, err) : st;
}

static hsy_status commit_take_old(struct cluster_shard *s, uint32_t *closed,
                                  hsy_error *err)
{
    struct group *g = &s->group;
    hsy_status st = HSY_OK;

    for (size_t i = 0, n; i < g->n && st == HSY_OK; i += n) {
        struct pg_rows *r = NULL;

        n = group_epoch(g, i);
        if (commit_columns(g, i, n, COMMIT_OLD) == 0)
            continue;
        st = pg_take(s->link, &r, err);
        if (st == HSY_E_REFUSED)
            *closed = g->items[i].epoch;
        for (size_t k = 0; st == HSY_OK && k < pg_count(r); k++)
            group_there(g, i, n, pg_get(r, k, 0), pg_get(r, k, 1));
        pg_rows_free(r);
    }
    return st;
}

static hsy_status commit_take_nothing(struct cluster_shard *s, size_t n,
                                      hsy_error *err)
{
    hsy_status st = HSY_OK;

    while (n-- != 0 && st == HSY_OK)
        st = pg_take(s->link, NULL, err);
    return st;
}

/* *certain: the commit's own answer says so. */
static hsy_status commit_take_second(struct cluster_shard *s, uint32_t *closed,
                                     bool *certain, hsy_error *err)
{
    struct group *g = &s->group;
    struct pg_rows *r = NULL;
    size_t backs = 0;
    hsy_status st = commit_take_old(s, closed, err), end;

    for (size_t i = 0, n; i < g->n; i += n) {
        n = group_epoch(g, i);
        backs += commit_columns(g, i, n, COMMIT_BACK) != 0;
    }
    if (st == HSY_OK)
        st = commit_take_nothing(
            s,
            backs + (g->nquotas + COMMIT_QUOTAS - 1) / COMMIT_QUOTAS +
                (g->nslots != 0 ? g->nslots : 1),
            err);
    if (st == HSY_OK)
        st = pg_take(s->link, &r, err);
    if (st != HSY_OK && st != HSY_E_REFUSED)
        return st;
    end = pg_end(s->link, err);
    *certain = st == HSY_OK && end == HSY_OK && pg_is_commit(s->link, r);
    pg_rows_free(r);
    return end != HSY_OK ? end : st;
}

/* ---- A try --------------------------------------------------------------- */

/* What would become of each item, by the rules of this node. */
static void commit_may(struct cluster_shard *s)
{
    struct cluster *c = s->c;
    const uint32_t open = engine_days(c->base.view).first;

    pthread_mutex_lock(&c->rules);
    for (size_t i = 0; i < s->group.n; i++) {
        struct group_item *item = &s->group.items[i];

        if (item->follows || item->decided)
            continue;
        item->may = mirror_may(c->base.view, item->piece->upload);
        item->over = item->epoch < open;
        item->taken = item->may == INTAKE_COUNTED;
        item->decided = true;
    }
    pthread_mutex_unlock(&c->rules);
}

/* Shares that were not needed go back. */
static void commit_give(struct cluster_shard *s)
{
    struct cluster *c = s->c;

    pthread_mutex_lock(&c->rules);
    for (size_t i = 0; i < s->group.n; i++) {
        struct group_item *item = &s->group.items[i];

        if (item->taken && item->verdict != INTAKE_COUNTED)
            mirror_give(c->base.view, item->piece->upload);
        item->taken = false;
    }
    pthread_mutex_unlock(&c->rules);
}

/* The table of an epoch is not there: it is closed. One that is not made yet is
 * made by the keeper; until then it is not known. */
static void commit_closed(struct cluster_shard *s, uint32_t epoch)
{
    const uint32_t dropped = __atomic_load_n(&s->dropped, __ATOMIC_ACQUIRE);
    struct cluster *c = s->c;

    pthread_mutex_lock(&c->rules);
    for (size_t i = 0; i < s->group.n; i++) {
        struct group_item *item = &s->group.items[i];

        if (item->epoch != epoch || item->follows)
            continue;
        if (item->taken)
            mirror_give(c->base.view, item->piece->upload);
        item->taken = false;
        item->may = epoch <= dropped ? INTAKE_CLOSED : INTAKE_DOUBT;
        item->over = true;
    }
    pthread_mutex_unlock(&c->rules);
    if (epoch > dropped)
        s->untabled = epoch;
}

static bool commit_state(const struct pg_link *l, const char *state)
{
    return strcmp(pg_state(l), state) == 0;
}

/* Keeps the reason of a failure for the trouble, before a rollback or another
 * try overwrites that of the link. epoch: whose table a statement was about, or
 * 0; the others can be committed if the table is missing or has no grant (class
 * 42). */
static void commit_blame(struct cluster_shard *s, const char *why,
                         uint32_t epoch)
{
    struct cluster_failure *b = &s->blame;

    snprintf(b->why, sizeof b->why, "%s", why);
    snprintf(b->state, sizeof b->state, "%s", pg_state(s->link));
    b->epoch = strncmp(b->state, "42", 2) == 0 ? epoch : 0;
    s->blamed = true;
}

/* A statement was refused: who is to blame, and whether once more helps. */
static enum commit_end commit_refused(struct cluster_shard *s, uint32_t closed)
{
    const bool missing = commit_state(s->link, "42P01");
    const bool again = commit_state(s->link, "40P01") ||
                       commit_state(s->link, "40001") ||
                       commit_state(s->link, "55P03");

    if (!missing && !again)
        cluster_say(s->c, "statement-refused", pg_reason(s->link));
    commit_blame(s, pg_reason(s->link), closed);
    pg_rollback(s->link);
    if (missing && closed != 0)
        commit_closed(s, closed);
    return again || (missing && closed != 0) ? COMMIT_AGAIN : COMMIT_DOUBT;
}

/* Whether the database has to be asked anything: not if all is refused. */
static bool commit_idle(const struct group *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (commit_picked(&g->items[i], COMMIT_INSERT) ||
            commit_picked(&g->items[i], COMMIT_SEEK))
            return false;
    return true;
}

static void commit_forget(struct group *g)
{
    for (size_t i = 0; i < g->n; i++)
        g->items[i].fresh = g->items[i].there = false;
}

static enum commit_end commit_try(struct cluster_shard *s, hsy_error *err)
{
    struct group *g = &s->group;
    uint32_t closed = 0;
    bool certain = false;
    hsy_status st;

    commit_forget(g);
    if (commit_idle(g))
        return COMMIT_DONE;
    if (!group_quotas(g))
        return COMMIT_DOUBT;
    st = commit_put_first(s, err);
    if (st == HSY_OK)
        st = commit_take_first(s, &closed, err);
    if (st == HSY_E_REFUSED)
        return commit_refused(s, closed);
    if (st != HSY_OK) {
        pg_drop(s->link);    /* no answer of this try is one of the next's */
        return COMMIT_AGAIN; /* no commit was sent: nothing is in doubt */
    }
    group_spend(g);
    if (!group_slots(g)) {
        pg_rollback(s->link);
        return COMMIT_DOUBT;
    }
    st = commit_put_second(s, err);
    if (st == HSY_OK)
        st = commit_take_second(s, &closed, &certain, err);
    if (st == HSY_E_REFUSED)
        return commit_refused(s, closed);
    if (st == HSY_OK && certain)
        return COMMIT_DONE;
    pg_drop(s->link); /* a warning, or anything but COMMIT */
    return COMMIT_DOUBT;
}

/* ---- All of it ----------------------------------------------------------- */

static void commit_doubt(struct cluster_shard *s)
{
    for (size_t i = 0; i < s->group.n; i++)
        s->group.items[i].verdict = INTAKE_DOUBT;
    s->again = steady_ms() + COMMIT_PAUSE;
}

static void commit_count(struct cluster_shard *s, enum commit_end end,
                         unsigned tries)
{
    pthread_mutex_lock(&s->lock);
    s->status.commits += end == COMMIT_DONE;
    s->status.uploads += end == COMMIT_DONE ? s->group.n : 0;
    s->status.doubts += end != COMMIT_DONE;
    s->status.again += tries - 1;
    pthread_mutex_unlock(&s->lock);
}

static bool commit_used(const struct group *g, uint32_t epoch)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->items[i].epoch == epoch && !g->items[i].over)
            return true;
    return false;
}

/* Notes a failure, and says why commits fail once that is a trouble: the
 * trouble's own text may be read by anybody, and names no server. A full disk
 * names another file each time, so it is said once. */
static void commit_failed(struct cluster_shard *s, uint64_t begun,
                          const hsy_error *err)
{
    const char *why = pg_reason(s->link);
    bool say;

    if (why[0] == '\0' && err->msg != NULL)
        why = err->msg;
    if (!s->blamed)
        commit_blame(s, why, 0);
    pthread_mutex_lock(&s->lock);
    if (s->failing == 0) {
        s->failing = begun;
        s->failing_said = false;
    }
    s->failure = s->blame;
    say = !s->failing_said && steady_ms() >= s->failing + CLUSTER_FAILING;
    s->failing_said = s->failing_said || say;
    pthread_mutex_unlock(&s->lock);
    if (say)
        cluster_say_shard(s, "commit-failed", s->blame.why);
}

/* A commit of one epoch says nothing of another whose table is missing. */
static void commit_succeeded(struct cluster_shard *s, bool all_epochs)
{
    pthread_mutex_lock(&s->lock);
    if (all_epochs || s->failure.epoch == 0 ||
        commit_used(&s->group, s->failure.epoch))
        s->failing = 0;
    pthread_mutex_unlock(&s->lock);
}

/* ---- A probe ------------------------------------------------------------- */

/* Returns HSY_OK if the disk has room for a table of some 100 pages. Small rows
 * are no proof of that: they fit into pages that are there, and the next
 * uploads would fail again. The table is unlogged, for a full disk must not get
 * more WAL, and the rollback removes it. */
static hsy_status commit_probe_room(struct cluster_shard *s, hsy_error *err)
{
    hsy_status st = pg_begin(s->link, err);

    if (st == HSY_OK)
        st = pg_do(s->link, "create unlogged table room(x int8)", err);
    if (st == HSY_OK)
        st = pg_do(s->link, "insert into room select generate_series(1, 20000)",
                   err);
    if (st == HSY_E_REFUSED)
        commit_blame(s, pg_reason(s->link), 0);
    pg_rollback(s->link);
    return st;
}

/* Sends what a group sends, without uploads: no ids into the table of an epoch
 * that failed (0: none), no quotas, an empty batch. *n: answers before that of
 * the commit. */
static hsy_status commit_probe_put(struct cluster_shard *s, uint32_t epoch,
                                   size_t *n, hsy_error *err)
{
    const int64_t longs[1] = {0};
    const int32_t ints[1] = {0};
    const bool marks[1] = {false};
    const uint8_t token[16] = {0};
    char sql[CLUSTER_SQL];
    hsy_status st = pg_put(s->link, err, "begin", "");

    *n = epoch != 0 ? 4 : 3;
    snprintf(sql, sizeof sql, commit_ids_insert, (unsigned)epoch);
    if (st == HSY_OK && epoch != 0)
        st = pg_put(s->link, err, sql, "LLM", longs, (size_t)0, longs,
                    (size_t)0, marks, (size_t)0);
    if (st == HSY_OK)
        st = pg_put(s->link, err, commit_quota_lock, "IBL", ints, (size_t)0,
                    token, sizeof token, (size_t)0, longs, (size_t)0);
    if (st == HSY_OK)
        st = commit_put_batches(s, err);
    if (st == HSY_OK)
        st = pg_put(s->link, err, "commit", "");
    return st == HSY_OK ? pg_turn(s->link, err) : st;
}

/* Returns true if the probe was committed for certain. */
static bool commit_probe_try(struct cluster_shard *s, uint32_t epoch, bool full,
                             hsy_error *err)
{
    struct pg_rows *r = NULL;
    bool certain = false;
    size_t n = 0;
    hsy_status st = cluster_connect(s, s->link, &s->session, err), end;

    if (st == HSY_OK && full)
        st = commit_probe_room(s, err);
    if (st == HSY_OK)
        st = commit_probe_put(s, epoch, &n, err);
    else
        return false;
    if (st == HSY_OK)
        st = commit_take_nothing(s, n, err);
    if (st == HSY_OK)
        st = pg_take(s->link, &r, err);
    if (st == HSY_OK || st == HSY_E_REFUSED) {
        end = pg_end(s->link, err);
        certain = st == HSY_OK && end == HSY_OK && pg_is_commit(s->link, r);
        st = end != HSY_OK ? end : st;
    }
    pg_rows_free(r);
    if (st == HSY_E_REFUSED) {
        commit_blame(s, pg_reason(s->link), epoch);
        pg_rollback(s->link);
    } else if (!certain) {
        pg_drop(s->link);
    }
    return certain;
}

void cluster_probe(struct cluster_shard *s)
{
    const uint32_t dropped = __atomic_load_n(&s->dropped, __ATOMIC_ACQUIRE);
    const uint64_t begun = steady_ms();
    hsy_error err = {0};
    uint32_t epoch;
    bool full;

    pthread_mutex_lock(&s->lock);
    epoch = s->failure.epoch > dropped ? s->failure.epoch : 0;
    full = strcmp(s->failure.state, CLUSTER_DISK_FULL) == 0;
    pthread_mutex_unlock(&s->lock);
    group_begin(&s->group);
    s->blamed = false;
    if (commit_probe_try(s, epoch, full, &err)) {
        commit_succeeded(s, true);
        return;
    }
    commit_failed(s, begun, &err);
    s->again = steady_ms() + COMMIT_PAUSE; /* who waited gets 503 now */
}

/* ---- A group ------------------------------------------------------------- */

void cluster_commit(struct cluster_shard *s)
{
    const uint64_t begun = steady_ms();
    enum commit_end end = COMMIT_AGAIN;
    hsy_error err = {0};
    unsigned tries = 0;

    s->untabled = 0;
    s->blamed = false;
    if (steady_ms() < s->again) {
        for (size_t i = 0; i < s->group.n; i++)
            s->group.items[i].verdict = INTAKE_DOUBT;
        return; /* it was down a moment ago: who waits for it holds up others */
    }
    while (end == COMMIT_AGAIN &&
           (tries == 0 || steady_ms() < begun + COMMIT_WHOLE) &&
           tries++ < COMMIT_TRIES) {
        if (cluster_connect(s, s->link, &s->session, &err) != HSY_OK) {
            end = COMMIT_DOUBT;
            break;
        }
        commit_may(s);
        s->blamed = s->untabled != 0;
        end = commit_try(s, &err);
    }
    if (end == COMMIT_DONE)
        group_judge(&s->group);
    else
        commit_doubt(s);
    commit_count(s, end, tries == 0 ? 1 : tries);
    if (end != COMMIT_DONE || s->untabled != 0)
        commit_failed(s, begun, &err);
    else if (!commit_idle(&s->group))
        commit_succeeded(s, false);
    commit_give(s);
}
