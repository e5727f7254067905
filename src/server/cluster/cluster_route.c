/*
 * cluster_route.c - which shard an upload goes to.
 *
 * By a keyed hash of its id, so that no stranger can fill one; but a task whose
 * tokens have quotas, or that shufflers deliver, is in one shard as a whole,
 * for what it counts beside ids must be in their transaction.
 *
 * Were two nodes to choose differently for one upload, it could be counted in
 * two shards. So both, how many shards there are and which tasks are whole, are
 * in shard 0, and are changed only for epochs from the day of the database plus
 * 3 on. A node takes uploads up to the day after the last that it has read, and
 * reads routes before that day counts for it (cluster_keeper.c): what was
 * changed since is for epochs that it refuses. One that stood still for days
 * would else take the new day's uploads by the old routes, for the moment
 * until it has read them. While a later day of the database's clock is on trial
 * its uploads are taken too (engine_days): nothing is changed then. What it
 * cannot tell, because it has not read the task's row yet or does not know the
 * shard, it leaves to others (503).
 */
#include "server/cluster/internal.h"

#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

#define ROUTE_NEVER UINT32_MAX

/* With the lock. */
static uint32_t route_width(const struct cluster *c, uint32_t epoch)
{
    uint32_t shards = 1;

    for (size_t i = 0; i < c->nwidths && c->widths[i].epoch <= epoch; i++)
        shards = c->widths[i].shards;
    return shards;
}

static uint32_t route_known(const struct cluster *c, uint32_t shard)
{
    return shard < c->nshards ? shard : CLUSTER_NOWHERE;
}

uint32_t cluster_route(struct cluster *c, uint32_t entry, uint32_t epoch,
                       const struct store_id *name)
{
    uint32_t bits, shard;

    memcpy(&bits, name->id + 8, sizeof bits);
    pthread_mutex_lock(&c->routes);
    if (entry >= c->nentries)
        shard = CLUSTER_NOWHERE;
    else if (epoch >= c->whole_from[entry])
        shard = c->homes[entry];
    else
        shard = (uint32_t)((uint64_t)bits * route_width(c, epoch) >> 32);
    shard = route_known(c, shard);
    pthread_mutex_unlock(&c->routes);
    return shard;
}

uint32_t cluster_home(struct cluster *c, uint32_t entry)
{
    uint32_t shard;

    pthread_mutex_lock(&c->routes);
    shard =
        route_known(c, entry < c->nentries ? c->homes[entry] : CLUSTER_NOWHERE);
    pthread_mutex_unlock(&c->routes);
    return shard;
}

/* ---- What shard 0 says --------------------------------------------------- */

/* Whether the cluster has more shards than this node lists. */
static bool route_narrow(struct cluster *c)
{
    bool narrow;

    pthread_mutex_lock(&c->routes);
    narrow = route_width(c, UINT32_MAX) > c->nshards;
    pthread_mutex_unlock(&c->routes);
    return narrow;
}

static hsy_status route_widths(struct cluster *c, struct pg_link *l,
                               hsy_error *err)
{
    struct cluster_width *all;
    struct pg_rows *r = NULL;
    hsy_status st;
    size_t n;

    st = pg_ask(l, &r, err, "select epoch, shards from widths order by epoch",
                "");
    if (st != HSY_OK)
        return st;
    n = pg_count(r);
    all = malloc((n + 1) * sizeof *all);
    for (size_t i = 0; all != NULL && i < n; i++)
        all[i] = (struct cluster_width){(uint32_t)pg_get(r, i, 0),
                                        (uint32_t)pg_get(r, i, 1)};
    pg_rows_free(r);
    if (all == NULL)
        return host_nomem(err);
    pthread_mutex_lock(&c->routes);
    free(c->widths);
    c->widths = all;
    c->nwidths = n;
    pthread_mutex_unlock(&c->routes);
    return route_narrow(c)
               ? host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                           "the cluster has more shards than 'storage' lists")
               : HSY_OK;
}

uint32_t cluster_new_home(struct cluster *c, const char *task)
{
    uint64_t hash;
    uint32_t home;

    hsy_blake2b((uint8_t *)&hash, sizeof hash, (const uint8_t *)task,
                strlen(task), c->meta.key, sizeof c->meta.key);
    pthread_mutex_lock(&c->routes);
    home = (uint32_t)(hash % route_width(c, UINT32_MAX));
    pthread_mutex_unlock(&c->routes);
    return home;
}

static hsy_status route_entries(struct cluster *c, struct pg_link *l,
                                struct roster *roster, hsy_error *err)
{
    const size_t n = roster_count(roster);
    uint32_t *from = malloc((n + 1) * sizeof *from);
    uint32_t *homes = calloc(n + 1, sizeof *homes);
    struct pg_rows *r = NULL;
    hsy_status st;

    st = from == NULL || homes == NULL
             ? host_nomem(err)
             : pg_ask(l, &r, err,
                      "select number, whole_from, retired, home from entries",
                      "");
    if (st != HSY_OK) {
        free(from);
        free(homes);
        return st;
    }
    for (size_t i = 0; i < n; i++)
        from[i] = ROUTE_NEVER;
    for (size_t i = 0; i < pg_count(r); i++) {
        const uint64_t number = (uint64_t)pg_get(r, i, 0);

        if (number < n)
            homes[number] = (uint32_t)pg_get(r, i, 3);
        if (number < n && !pg_is_null(r, i, 1))
            from[number] = (uint32_t)pg_get(r, i, 1);
        if (pg_get(r, i, 2) != 0)
            mirror_retired(c->base.view, (uint32_t)number);
    }
    pg_rows_free(r);
    pthread_mutex_lock(&c->routes);
    free(c->whole_from);
    free(c->homes);
    c->whole_from = from;
    c->homes = homes;
    c->nentries = n;
    pthread_mutex_unlock(&c->routes);
    return HSY_OK;
}

hsy_status cluster_routes_read(struct cluster *c, struct pg_link *l,
                               hsy_error *err)
{
    struct roster *roster = engine_roster(c->base.view);
    hsy_status st = route_entries(c, l, roster, err);

    if (st == HSY_OK)
        st = route_widths(c, l, err);
    roster_drop(roster);
    return st;
}

hsy_status cluster_routes_known(struct cluster *c, struct pg_link *l,
                                bool *narrow, hsy_error *err)
{
    const hsy_status st = cluster_routes_read(c, l, err);

    *narrow = st == HSY_E_REFUSED && c->started != 0 && route_narrow(c);
    return *narrow ? HSY_OK : st;
}

/* Whether a task is spread over shards that wants tokens by now. */
static bool route_late(struct cluster *c, const struct roster_entry *e)
{
    bool spread;

    pthread_mutex_lock(&c->routes);
    spread = e->number < c->nentries && c->whole_from[e->number] == ROUTE_NEVER;
    pthread_mutex_unlock(&c->routes);
    return spread && e->current && c->o.enrols != NULL &&
           c->o.enrols(c->o.ctx, e->task.id);
}

hsy_status cluster_enrol(struct cluster *c, struct pg_link *l, hsy_error *err)
{
    struct roster *roster = engine_roster(c->base.view);
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < roster_count(roster) && st == HSY_OK; i++) {
        if (!route_late(c, roster_at(roster, i)))
            continue;
        st = pg_ask(l, NULL, err,
                    "update entries set whole_from = day + 3 from days where "
                    "number = $1 and whole_from is null and one = 1 and ($2 "
                    "or " CLUSTER_DAY_HOLDS ")",
                    "io", (int32_t)i, c->o.rehearsal);
    }
    roster_drop(roster);
    return st;
}
