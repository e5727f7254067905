/*
 * schema.h - the tables of a cluster, and how they are made and upgraded.
 *
 * Every shard has the same tables in a schema `hearsay` of its database; those
 * that are marked are used in shard 0 alone. Ids stand in a table an epoch,
 * ids_20773, which is made ahead and dropped when the epoch closes.
 */
#ifndef SERVER_CLUSTER_SCHEMA_H
#define SERVER_CLUSTER_SCHEMA_H

#include "server/postgres/postgres.h"
#include "server/store/store.h"

/*
 * Nodes of two versions run side by side while a cluster is upgraded: a program
 * works with the tables of the version before its own, and leaves them as they
 * are; once all nodes are new, init-cluster makes of them those of this
 * version, by steps (schema.c). So a step may add, and not take away what the
 * version before needs; what is not needed any more goes one version later.
 * Older nodes refuse newer tables when they connect, and once a second.
 *
 * SCHEMA_TRIAL: a version after this one, whose step adds a column. The test of
 * upgrades has a hearsay that is built so (tests/e2e/cluster_upgrade.t).
 */
#ifndef SCHEMA_TRIAL
#define SCHEMA_TRIAL 0
#endif
#define SCHEMA_VERSION (1 + SCHEMA_TRIAL) /* what this program makes, */
#define SCHEMA_OLDEST 1   /* and the oldest that it works with */
#define SCHEMA_CLUSTER 16 /* bytes that name a cluster */

/* What a shard says of itself. */
struct schema_meta {
    uint32_t version;
    uint8_t cluster[SCHEMA_CLUSTER];
    uint8_t key[STORE_KEY]; /* for ids and tokens: the same in all shards */
    uint32_t shard;         /* its number */
    bool rehearsal;
};

/* Make the tables of shard number meta->shard, or upgrade them. HSY_E_REFUSED:
 * there is another cluster's, or another shard of this one; HSY_E_VERSION: a
 * newer program made them; *made: false if they were there, as this version has
 * them. */
hsy_status schema_make(struct pg_link *l, const struct schema_meta *meta,
                       bool *made, hsy_error *err);

/* Read it. HSY_E_EMPTY: there are no tables; HSY_E_DAMAGED: some are missing;
 * HSY_E_VERSION: too new, or too old (then schema_make upgrades them). */
hsy_status schema_read(struct pg_link *l, struct schema_meta *out,
                       hsy_error *err);

/* HSY_E_VERSION: a newer program has upgraded them since. */
hsy_status schema_check(struct pg_link *l, hsy_error *err);

#endif
