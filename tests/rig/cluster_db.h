/* cluster_db.h - a database with the tables of a cluster, where HSY_PG names a
 * server (tests/rig/postgres.py). */
#ifndef CLUSTER_DB_H
#define CLUSTER_DB_H

#include "server/cluster/schema.h"

/* Shard 0 with new tables; NULL: there is no server, or it will not do. */
struct pg_place *db_open(void);

/* One statement on a link of its own; false, said on standard error: it failed.
 */
bool db_do(struct pg_place *place, const char *sql);

#endif
