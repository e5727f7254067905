/*
 * cluster.h - counting on many machines: processes without a state of their
 * own, which share one or more PostgreSQL.
 *
 * Exactly once. An upload's id is a row of the table of its epoch, its reports
 * are in a row of `batches`, and both are in one transaction: who inserts the
 * id first counts the upload. Acknowledged is what a commit has brought that is
 * certain (postgres.h); an upload that was there before is acknowledged by a
 * transaction that writes a row too, for otherwise its commit would wait for no
 * standby (D2). Whoever gets no certain answer says 503, and the
 * same bytes sent again find out.
 *
 * *Shards* are databases among which ids are spread by a keyed hash. No
 * transaction needs two: tallies add up. Shard 0 has in addition what there is
 * once: days, documents, tokens, figures.
 *
 * Threads of a node: a lane a shard, which commits what waits for it as one
 * group; the keeper, which looks at shard 0, closes days and folds; and whoever
 * asks, at the desk.
 */
#ifndef SERVER_CLUSTER_CLUSTER_H
#define SERVER_CLUSTER_CLUSTER_H

#include "server/cluster/schema.h"
#include "server/counting/counting.h"

#define CLUSTER_SHARDS 64u
#define CLUSTER_NODE 64 /* bytes of a node's name, NUL included */

struct cluster_options {
    char *const *storage; /* URLs of the shards, ended by NULL */
    const char *node;     /* how this node is called */
    bool visits;          /* look after it, and be no node of it */
    bool rehearsal;       /* the caller's clock is the cluster's: */
    uint64_t (*now)(void *ctx);
    size_t waiting_bytes; /* of uploads that wait for a lane */
    uint64_t keep_days;   /* tallies of days that are kept */
    /* Whether a task wants tokens; may be NULL. */
    bool (*enrols)(void *ctx, const char *task);
    /* Something that an operator should read: an event, and words; any thread.
     * May be NULL. */
    void (*say)(void *ctx, const char *event, const char *text);
    void *ctx;
};

/*
 * Connect to every shard, and read what is known. A failure is of the URL that
 * *about is set to (without what is secret), reason has words for the operator:
 * HSY_E_BUSY if it cannot be reached, HSY_E_EMPTY if it has no tables,
 * HSY_E_REFUSED if it is another's, or not set as it must be.
 */
hsy_status cluster_open(struct counting **out, const struct cluster_options *o,
                        const struct engine_options *engine, const char **about,
                        char reason[PG_REASON], hsy_error *err);

/* ---- How it is ----------------------------------------------------------- */

struct cluster_shard_status {
    const char *name; /* hosts and database */
    struct pg_found found;
    uint64_t commits,
        uploads;       /* groups that were committed, and their uploads */
    uint64_t doubts;   /* groups of which it is not known */
    uint64_t again;    /* groups that were tried once more */
    uint64_t folded;   /* batches that this node folded */
    uint64_t waiting;  /* submissions in the lane */
    uint64_t unfolded; /* seconds for which a batch waits, at least */
    bool up;           /* this node can use it */
    bool failing;      /* it can, but commits have failed for CLUSTER_FAILING */
    char state[6];     /* the SQLSTATE of that failure, "" if there is none */
    uint32_t epoch; /* the only epoch whose commits fail; 0: all of them do */
    bool alone;     /* a required standby is missing for CLUSTER_FAILING */
    char why[PG_REASON]; /* why it is not up, or is failing */
};

/* Milliseconds without a commit after which failures are a trouble: a failover
 * or a restart of the standby may take less. */
#define CLUSTER_FAILING 3000u
#define CLUSTER_DISK_FULL "53100" /* SQLSTATE */

/* Seconds in which a node must have been seen to be alive. */
#define CLUSTER_ALIVE 10u

struct cluster_node_status {
    char name[CLUSTER_NODE];
    char version[32];
    uint64_t seen; /* seconds ago */
};

struct cluster_status {
    size_t nshards, nnodes;
    int64_t behind; /* seconds that the clock of shard 0 is behind ours */
    struct cluster_shard_status shards[CLUSTER_SHARDS];
    struct cluster_node_status nodes[CLUSTER_SHARDS];
};

/* NULL-safe: false if it counts on one machine, and then there is no shard. Any
 * thread. */
bool cluster_status(struct counting *c, struct cluster_status *out);
size_t cluster_alive(const struct cluster_status *s);      /* nodes */
uint64_t cluster_unfolded(const struct cluster_status *s); /* of all shards */

/* Returns true if commits wait for a standby, and one is connected. */
bool cluster_replicated(const struct cluster_shard_status *s);

/* Place of a shard, for who keeps something else there; the cluster's. */
struct pg_place *cluster_place(struct counting *c, size_t shard);

/* Files that its connections read again, `i` from 0 on; NULL: no more. */
const char *cluster_file(struct counting *c, size_t i);

/* ---- Before it is served ------------------------------------------------- */

/* Make or upgrade the tables of all shards in the list; what is there stays.
 * *made: shards that had none. */
hsy_status cluster_init(const struct cluster_options *o, size_t *made,
                        const char **about, char reason[PG_REASON],
                        hsy_error *err);

/* What was found at a shard, by one who only looks. */
struct cluster_finding {
    const char *name; /* hosts and database; NULL: its URL cannot be read */
    hsy_status st;    /* HSY_OK: a node can use it; else err, and reason */
    hsy_error err;
    char reason[PG_REASON];
    bool replicated; /* commits wait for a standby */
    int64_t behind;  /* seconds that its clock is behind ours */
};

/* Look at every shard of the list, whatever is found at the others: one finding
 * each, in their order. */
typedef void cluster_tell(void *ctx, const struct cluster_finding *found);
void cluster_examine(const struct cluster_options *o, cluster_tell *tell,
                     void *ctx);

#endif
