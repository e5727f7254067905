/* tokens_many.h - tokens in a database that collectors share. */
#ifndef SERVER_CLUSTER_TOKENS_MANY_H
#define SERVER_CLUSTER_TOKENS_MANY_H

#include "server/auth/tokens_keep.h"
#include "server/postgres/postgres.h"

/* On shard 0, with a link of its own; connects when something is asked. Who
 * waits for a commit that is in doubt gets HSY_E_BUSY: it may have been done.
 */
hsy_status tokens_many_open(struct tokens_keep **out, struct pg_place *place,
                            hsy_error *err);

/* Why the database did not do the last that was asked; "": it did. */
const char *tokens_many_reason(const struct tokens_keep *k);

#endif
