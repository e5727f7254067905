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

/* In a transaction of somebody else's. Add the cells of a block to words, of
 * which there are n; *rows: how many it has. Put those of a tally in the place
 * of what is there. */
hsy_status shown_many_cells(struct pg_link *l, uint32_t entry, uint32_t block,
                            int64_t *words, size_t n, size_t *rows,
                            hsy_error *err);
hsy_status shown_many_put_tally(struct pg_link *l,
                                const struct roster_entry *is,
                                const struct shown_tally *t, hsy_error *err);

#endif
