/* cluster_state.c - how the databases and the other nodes are, as this one sees
 * them. */
#define _GNU_SOURCE
#include "server/cluster/internal.h"

#include "host/base/steady.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t state_seconds(void)
{
    return steady_us() / STEADY_SECOND + 1;
}

/* ---- A shard ------------------------------------------------------------- */

void cluster_shard_tried(struct cluster_shard *s, hsy_status st,
                         const hsy_error *err)
{
    struct pg_found found;
    const char *why = err->msg != NULL ? err->msg : "";
    bool was;

    pg_place_found(s->place, &found);
    if (!found.reachable)
        why = found.reason;
    pthread_mutex_lock(&s->lock);
    was = s->refused;
    s->refused = st != HSY_OK;
    snprintf(s->refusal, sizeof s->refusal, "%s", s->refused ? why : "");
    if (s->refused)
        s->mark_at = 0; /* nobody knows now */
    pthread_mutex_unlock(&s->lock);
    if (st != HSY_OK && !was)
        cluster_say_shard(s, "shard-lost", why);
}

/* The mark moves on when all up to it is folded: what is folded is gone. */
static void state_mark(struct cluster_shard *s, bool any, int64_t least,
                       int64_t most)
{
    pthread_mutex_lock(&s->lock);
    if (!any) {
        s->mark_at = 0;
    } else if (s->mark_at == 0 || least > s->mark) {
        s->mark = most;
        s->mark_at = state_seconds();
    }
    pthread_mutex_unlock(&s->lock);
}

/* Notes since when the standby is missing that commits have to wait for. */
static void state_standby(struct cluster_shard *s)
{
    struct pg_found found;

    pg_place_found(s->place, &found);
    pthread_mutex_lock(&s->lock);
    if (!found.replicated || found.standby)
        s->alone_at = 0;
    else if (s->alone_at == 0)
        s->alone_at = steady_ms();
    pthread_mutex_unlock(&s->lock);
}

hsy_status cluster_shard_ask(struct cluster_shard *s, hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st = pg_verify(s->keeper, err);

    state_standby(s);
    if (st == HSY_OK)
        st = schema_check(s->keeper, err);
    if (st == HSY_E_VERSION)
        atomic_store(&s->newer, true); /* all links are dropped then */
    if (st == HSY_OK)
        st = pg_ask(s->keeper, &r, err,
                    "select min(number), max(number) from batches", "");
    if (st != HSY_OK)
        return st;
    if (pg_is_null(r, 0, 0))
        state_mark(s, false, 0, 0);
    else
        state_mark(s, true, pg_get(r, 0, 0), pg_get(r, 0, 1));
    pg_rows_free(r);
    return HSY_OK;
}

/* ---- Nodes --------------------------------------------------------------- */

static void state_node(struct cluster_node_status *n, const struct pg_rows *r,
                       size_t i)
{
    const int64_t seen = pg_get(r, i, 2);

    snprintf(n->name, sizeof n->name, "%s",
             (const char *)pg_get_bytes(r, i, 0, NULL));
    snprintf(n->version, sizeof n->version, "%s",
             (const char *)pg_get_bytes(r, i, 1, NULL));
    n->seen = seen > 0 ? (uint64_t)seen : 0;
}

static void state_nodes(struct cluster *c, const struct pg_rows *r)
{
    uint64_t alive = 0;

    pthread_mutex_lock(&c->lock);
    c->nnodes = pg_count(r) < CLUSTER_SHARDS ? pg_count(r) : CLUSTER_SHARDS;
    c->nodes_at = state_seconds();
    for (size_t i = 0; i < c->nnodes; i++) {
        state_node(&c->nodes[i], r, i);
        alive += c->nodes[i].seen <= CLUSTER_ALIVE;
    }
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_lock(&c->rules);
    mirror_nodes(c->base.view, alive);
    pthread_mutex_unlock(&c->rules);
}

hsy_status cluster_read_nodes(struct cluster *c, struct pg_link *l,
                              hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_ask(l, NULL, err,
               "insert into nodes values($1, clock_timestamp(), $2) on "
               "conflict (name) do update set seen = excluded.seen, version = "
               "excluded.version",
               "tt", c->node, HSY_VERSION);

    if (st == HSY_OK)
        st = pg_ask(l, &r, err,
                    "select name, version, extract(epoch from "
                    "clock_timestamp() - seen)::int8 from (select * from nodes "
                    "where seen > clock_timestamp() - interval '1 day' order "
                    "by seen desc limit 64) latest order by name",
                    "");
    if (st == HSY_OK)
        state_nodes(c, r);
    pg_rows_free(r);
    return st;
}

/* ---- The clock ----------------------------------------------------------- */

void cluster_compare_clocks(struct cluster *c, uint64_t now)
{
    const int64_t behind = (int64_t)time(NULL) - (int64_t)now;

    pthread_mutex_lock(&c->lock);
    c->behind = behind;
    pthread_mutex_unlock(&c->lock);
}

/* ---- All of it ----------------------------------------------------------- */

/* A failure is told once it has lasted; with the lock. */
static void state_failing(struct cluster_shard_status *out,
                          const struct cluster_shard *s)
{
    const uint64_t now = steady_ms();

    out->alone = s->alone_at != 0 && now >= s->alone_at + CLUSTER_FAILING;
    out->failing = s->failing != 0 && now >= s->failing + CLUSTER_FAILING;
    if (!out->failing)
        return;
    out->epoch = s->failure.epoch;
    snprintf(out->state, sizeof out->state, "%s", s->failure.state);
    if (out->up)
        snprintf(out->why, sizeof out->why, "%s", s->failure.why);
}

static void state_shard(struct cluster_shard_status *out,
                        struct cluster_shard *s, uint64_t now)
{
    pthread_mutex_lock(&s->lock);
    *out = s->status;
    out->waiting = s->waiting;
    out->unfolded = s->mark_at != 0 ? now - s->mark_at : 0;
    out->up = !s->refused;
    snprintf(out->why, sizeof out->why, "%s", s->refusal);
    state_failing(out, s);
    pthread_mutex_unlock(&s->lock);
    pg_place_found(s->place, &out->found);
    if (out->up && !out->found.reachable)
        snprintf(out->why, sizeof out->why, "%s", out->found.reason);
    out->up = out->up && out->found.reachable;
}

bool cluster_status(struct counting *counting, struct cluster_status *out)
{
    const uint64_t now = state_seconds();
    struct cluster *c;

    memset(out, 0, sizeof *out);
    if (counting == NULL || counting->ops != &cluster_functions)
        return false;
    c = cluster_of(counting);
    out->nshards = c->nshards;
    for (size_t i = 0; i < c->nshards; i++)
        state_shard(&out->shards[i], &c->shards[i], now);
    pthread_mutex_lock(&c->lock);
    out->behind = c->behind;
    out->nnodes = c->nnodes;
    memcpy(out->nodes, c->nodes, sizeof c->nodes);
    for (size_t i = 0; i < c->nnodes; i++) /* it is older by now */
        out->nodes[i].seen += now - c->nodes_at;
    pthread_mutex_unlock(&c->lock);
    return true;
}

size_t cluster_alive(const struct cluster_status *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->nnodes; i++)
        n += s->nodes[i].seen <= CLUSTER_ALIVE;
    return n;
}

bool cluster_replicated(const struct cluster_shard_status *s)
{
    return s->up && s->found.replicated && s->found.standby;
}

uint64_t cluster_unfolded(const struct cluster_status *s)
{
    uint64_t most = 0;

    for (size_t i = 0; i < s->nshards; i++)
        if (s->shards[i].unfolded > most)
            most = s->shards[i].unfolded;
    return most;
}
