/* cluster_write.h - a store that is only filled, in a transaction of shard 0.
 */
#ifndef SERVER_CLUSTER_CLUSTER_WRITE_H
#define SERVER_CLUSTER_CLUSTER_WRITE_H

#include "server/cluster/internal.h"

#define WRITE_QUOTAS 256u /* rows of a statement */

/* What an entry has in an epoch; without what waits to be folded. */
struct write_count {
    struct store_count n;
    int64_t ids, enrolled;
    uint64_t uploads; /* reports and nulls, with what waits */
};

struct write_day {
    uint32_t epoch;
    int64_t ids;
};

struct write_store {
    struct store base;
    struct pg_link *l;
    struct store_state state;
    bool rehearsed;        /* it has the mark of a rehearsal */
    uint32_t last;         /* the last epoch that anything is of */
    struct roster *roster; /* owned, as what follows */
    bool *retired;         /* by entry */
    uint8_t (*shares)[16]; /* by entry: the name of its shares of ids */
    struct write_count *counts;
    size_t n, room;
    struct write_day *days;
    size_t ndays;
    uint64_t received; /* envelopes of batches from shufflers */
    struct fold_space space;

    size_t nquotas;
    int32_t quota_epochs[WRITE_QUOTAS];
    uint8_t quota_tokens[WRITE_QUOTAS][16];
    int64_t quota_used[WRITE_QUOTAS];
    int64_t *id_columns;
    bool *id_blank;
};

/* With a link in a transaction; false: out of memory. Close in any case. */
bool write_open(struct write_store *s, struct pg_link *l);

/* All of the archive came: what was kept back is written, and held against the
 * rest. HSY_E_FORMAT: it does not agree with itself. */
hsy_status write_finish(struct write_store *s, hsy_error *err);
void write_close(struct write_store *s);

/* Quotas that wait to be written together. */
hsy_status write_flush_quotas(struct write_store *s, hsy_error *err);

/* Insert a row that must not be there yet: else HSY_E_FORMAT. */
hsy_status write_once(struct write_store *s, hsy_error *err, const char *sql,
                      const char *form, ...);

#endif
