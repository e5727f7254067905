/* cluster_read.h - what the files share that read a cluster as a store. */
#ifndef SERVER_CLUSTER_CLUSTER_READ_H
#define SERVER_CLUSTER_CLUSTER_READ_H

#include "server/cluster/cluster_admin.h"
#include "server/cluster/internal.h"

struct read_store {
    struct store base;
    struct cluster *c;
    bool count_ids;
    uint32_t closed;
    struct cluster_counts counts; /* by entry and epoch */

    /* Of a call. */
    const struct store_reader *to;
    hsy_error *err;
    uint32_t epoch; /* whose ids come */
};

/* A shard's link, which is in a transaction. */
static inline struct pg_link *read_link(struct read_store *s, size_t shard)
{
    return s->c->shards[shard].desk;
}

/* The tallies of all entries, with their chunks (cluster_read_cells.c). */
hsy_status read_tallies(struct read_store *s);

#endif
