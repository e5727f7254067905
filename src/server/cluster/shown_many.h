/* shown_many.h - what readers are shown, kept in a database that nodes share.
 */
#ifndef SERVER_CLUSTER_SHOWN_MANY_H
#define SERVER_CLUSTER_SHOWN_MANY_H

#include "server/collector/shown/shown_keep.h"
#include "server/postgres/postgres.h"

/* On shard 0, with two links of its own: a reader does not wait for who makes a
 * generation. Connects when something is asked. */
hsy_status shown_many_open(struct shown_keep **out, struct pg_place *place,
                           hsy_error *err);

#endif
