/*
 * cluster_admin.h - what `hearsay store` does to a cluster: look through it,
 * carry it elsewhere, let go of what may be forgotten.
 *
 * A cluster is opened by cluster_open with `visits` set, and never started.
 * What only reads, or is one transaction of each shard, may be done while nodes
 * run; what wants a cluster that nobody serves says so.
 */
#ifndef SERVER_CLUSTER_CLUSTER_ADMIN_H
#define SERVER_CLUSTER_CLUSTER_ADMIN_H

#include "server/cluster/cluster.h"

/* HSY_E_BUSY if a node is running, seen within CLUSTER_ALIVE seconds: its name.
 */
hsy_status cluster_quiet(struct counting *c, char name[CLUSTER_NODE],
                         hsy_error *err);

/* Fold all that waits. */
hsy_status cluster_fold_all(struct counting *c, hsy_error *err);

/*
 * All that a cluster has, as a store that is only read: each shard as of one
 * moment. count_ids: whoever reads ids is told how many there are, and not
 * which. The cluster must outlive it, and nothing else may be asked of the
 * cluster meanwhile.
 */
hsy_status cluster_store(struct store **out, struct store_state *state,
                         struct counting *c, bool count_ids, hsy_error *err);

/* What readers were shown and who may ask, as the books of a directory, as of
 * the moment of that store. */
hsy_status cluster_store_books(struct store *s, const char *directory,
                               hsy_error *err);

/* Fill a cluster that has just been made from an archive: all or nothing.
 * directory: an empty one, for books. *unshown: it does not say what readers
 * were shown. HSY_E_BUSY: a node runs; HSY_E_REFUSED: it is not empty, or the
 * database refuses; about and reason as cluster_open says, if it is not the
 * archive that is wrong (*about is NULL then). */
hsy_status cluster_import(const struct cluster_options *o, int archive,
                          const char *directory, bool *unshown,
                          const char **about, char reason[PG_REASON],
                          hsy_error *err);

/* What is missing in a shard that a node would need: told one by one. */
hsy_status cluster_look_through(struct counting *c,
                                void (*wrong)(void *ctx, const char *text),
                                void *ctx, hsy_error *err);

/* Bytes of all its tables; and make room in them for what comes. */
hsy_status cluster_bytes(struct counting *c, uint64_t *bytes, hsy_error *err);
hsy_status cluster_compact(struct counting *c, hsy_error *err);

/* Forget the ids of an epoch's null uploads: *n. */
hsy_status cluster_forget_nulls(struct counting *c, uint32_t epoch, uint64_t *n,
                                hsy_error *err);

/* Why the database refused the last of these. */
const char *cluster_why(struct counting *c);

#endif
