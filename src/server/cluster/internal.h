/* internal.h - what the files of a cluster's node share. */
#ifndef SERVER_CLUSTER_INTERNAL_H
#define SERVER_CLUSTER_INTERNAL_H

#include "server/cluster/cluster.h"

#include "server/engine/fold.h"
#include "server/engine/mirror.h"

#include <pthread.h>
#include <stdatomic.h>

#define CLUSTER_SQL 512 /* bytes of a statement with the name of a table */
#define CLUSTER_TEXT (PG_REASON + 84) /* of an event: a place and a reason */
#define CLUSTER_DELTA 4 /* type of a batch, besides enum store_batch_type */

/* ---- Uploads on their way ------------------------------------------------ */

/* An upload that may be new, and where it goes. */
struct cluster_piece {
    struct intake_upload *upload;
    struct store_id name;
    uint32_t shard;
};

struct cluster_ticket;

/* A submission's share of a lane's work. */
struct cluster_part {
    struct cluster_part *next;
    struct cluster_ticket *ticket;
};

/* A submission, until all lanes that have a part of it are done. */
struct cluster_ticket {
    struct submission *submission;
    atomic_uint left; /* parts */
    size_t bytes;
    size_t npieces;
    struct cluster_piece *pieces; /* these two in the same memory */
    struct cluster_part *parts;
};

/* ---- A group ------------------------------------------------------------- */

struct group_item {
    struct cluster_piece *piece;
    const struct submission *submission;
    uint32_t epoch, order;
    int64_t id, rest; /* as the table has them */
    bool follows;     /* the item before has the same id */
    bool over;        /* its epoch is closed: there is no table */
    bool decided;     /* `may` is known, */
    bool taken;       /* and it has a share of the epoch's ids */
    bool fresh;       /* its id was not there */
    bool there;       /* it was, with: */
    int64_t was;
    enum intake_verdict may; /* if it is new */
    enum intake_verdict verdict;
};

/* What a token has used, as the database says, and what it uses now. */
struct group_quota {
    uint32_t epoch;
    uint8_t token[16];
    int64_t used, added;
};

/* New uploads of an entry and epoch. */
struct group_slot {
    const struct roster_entry *is;
    uint32_t entry, epoch;
    int64_t reports, nulls, ids, enrolled;
    int32_t type;   /* STORE_REPORTS, or CLUSTER_DELTA where it is shorter */
    uint8_t *bytes; /* owned: uploads in the order of their bytes, or a delta */
    size_t len;
};

/* The uploads of some submissions on their way into one commit. The memory is
 * kept for the next. */
struct group {
    struct group_item *items; /* by epoch, id and order */
    size_t n, items_room;
    struct group_quota *quotas; /* by epoch and token */
    size_t nquotas, quotas_room;
    struct group_slot *slots;
    size_t nslots, slots_room;
    int64_t *longs; /* owned: two columns of some items */
    bool *marks;
    size_t columns_room;
    uint32_t *order; /* owned: items as they came */
    size_t order_room;
    struct fold_space space;
};

/* Begin; add those of a part that go to a shard; put in order. False: out of
 * memory. */
void group_begin(struct group *g);
bool group_add(struct group *g, const struct cluster_ticket *t, uint32_t shard);
bool group_sort(struct group *g);
void group_free(struct group *g);

/* An id of a store as the two columns of a table, and back. */
void cluster_id_columns(const struct store_id *name, int64_t *id,
                        int64_t *rest);
void cluster_id_bytes(struct store_id *name, int64_t id, int64_t rest);

/* Items from i on that are of one epoch: how many. */
size_t group_epoch(const struct group *g, size_t i);

/* Mark those of an epoch as new whose ids are listed; as there, with what they
 * have. */
void group_new(struct group *g, size_t first, size_t n, int64_t id);
void group_there(struct group *g, size_t first, size_t n, int64_t id,
                 int64_t rest);

/* The tokens of items that may be new; then who fits, in the order in which
 * they came, with what the database says was used. */
bool group_quotas(struct group *g);
void group_spend(struct group *g);

/* The slots of what is counted; false: out of memory. */
bool group_slots(struct group *g);

/* The verdict of every item, all answers being there. */
void group_judge(struct group *g);

/* ---- A node -------------------------------------------------------------- */

/* What an entry has in an epoch; ids of uploads without a token and with one.
 */
struct cluster_count {
    struct store_count n;
    int64_t ids, enrolled;
};

struct cluster_counts {
    struct cluster_count *all; /* owned */
    size_t n, room;
};

/* The count of an entry and epoch, made if there is none; NULL: out of memory.
 */
struct cluster_count *cluster_count(struct cluster_counts *c, uint32_t entry,
                                    uint32_t epoch);

/* Put one behind the others; then sort them, and add up those of one entry and
 * epoch. */
bool cluster_count_put(struct cluster_counts *c,
                       const struct cluster_count *more);
void cluster_counts_join(struct cluster_counts *c);

/* Why a commit failed. */
struct cluster_failure {
    char why[PG_REASON]; /* the server's words, or the link's */
    char state[6];       /* SQLSTATE, "" if there is none */
    uint32_t epoch;      /* its table is missing or may not be used; 0: it is
                            not about a table of ids */
};

struct cluster_shard {
    struct cluster *c;
    uint32_t number;
    struct pg_place *place;
    atomic_bool newer; /* its tables were upgraded: no link may go on */

    /* The lane. */
    pthread_t thread;
    bool runs;
    struct pg_link *link;
    uint64_t session; /* of the link, that was looked at */
    uint64_t again;   /* milliseconds: not to be tried before */
    struct group group;
    struct cluster_failure blame; /* why this group fails, */
    bool blamed;                  /* if that is known */
    uint32_t untabled; /* an open epoch of this group that has no table */

    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t wake;
    struct cluster_part *first, **end;
    size_t waiting, bytes;
    bool stopping;
    struct cluster_shard_status status;
    bool refused; /* the keeper could not use it, and why: */
    char refusal[PG_REASON];
    /* When the first commit began that failed since the last success, in
     * milliseconds; 0: the last one succeeded. Then the last failure. */
    uint64_t failing;
    bool failing_said; /* in the log, since then */
    struct cluster_failure failure;
    uint64_t alone_at; /* milliseconds: a required standby is missing since */
    int64_t mark;      /* a batch that waits to be folded, */
    uint64_t mark_at;  /* and since when, in seconds; 0: none does */

    /* The keeper's. */
    struct pg_link *keeper;
    uint64_t keeper_session, counts_session;
    uint32_t dropped;               /* tables up to this are gone */
    uint32_t made_first, made_last; /* tables that are there; 0: not known */
    int64_t round;                  /* of the counts that were read */
    uint64_t fold_at;               /* milliseconds: the next fold */
    struct cluster_counts counts;   /* folded ones */

    /* The desk's. */
    struct pg_link *desk;
    uint64_t desk_session, seen_session;
    int64_t sure; /* the last round that is replicated, for all we know */
};

/* A tally that this node has read. */
struct cluster_seen {
    int64_t *rounds; /* by shard, of what was read; owned */
};

struct cluster {
    struct counting base;
    struct cluster_options o;
    char node[CLUSTER_NODE];
    struct workers_options workers;
    struct schema_meta meta;

    pthread_mutex_t rules; /* of the view's half that admits */
    pthread_mutex_t routes;
    struct cluster_width {
        uint32_t epoch, shards;
    } * widths; /* ascending; owned; routes */
    size_t nwidths;
    uint32_t *whole_from; /* by entry; owned; routes */
    uint32_t *homes;      /* by entry: its shard, if it is whole; owned */
    size_t nentries;

    pthread_mutex_t desk; /* of the desk's links, and of the view's tallies */
    struct fold_space fold_desk, fold_keeper;
    struct cluster_seen *seen; /* by entry; owned; desk */
    size_t nseen;

    int64_t moved; /* how often days were moved; rules */

    pthread_t keeper, timelines;
    bool keeper_runs, timelines_run;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t wake;
    bool stopping;
    uint64_t kept; /* rounds of the keeper, for who waits for one */
    struct workers_times times;
    struct cluster_node_status nodes[CLUSTER_SHARDS];
    size_t nnodes;
    uint64_t nodes_at; /* when they were read, in seconds */
    int64_t behind;    /* seconds that the clock of shard 0 is behind ours */
    uint64_t started;  /* microseconds */
    struct {
        char event[32], text[CLUSTER_TEXT];
        uint64_t at; /* milliseconds */
    } said[8];       /* what was said last: not again for a while */
    size_t nsaid;

    size_t nshards;
    struct cluster_shard shards[];
};

extern const struct counting_functions cluster_functions;

static inline struct cluster *cluster_of(struct counting *c)
{
    return (struct cluster *)c;
}

void cluster_say(struct cluster *c, const char *event, const char *text);

/* Says it of a shard, with the name of its place: the reason has the server's
 * own words. */
void cluster_say_shard(struct cluster_shard *s, const char *event,
                       const char *why);

/* One without connections, closed by its functions; and the places of its
 * shards. */
struct cluster *cluster_new(const struct cluster_options *o);
hsy_status cluster_places(struct cluster *c, const char **about,
                          char reason[PG_REASON], hsy_error *err);

/* Be connected, to the shard that this is: whoever answers under its address
 * must say that it is. *session: which session was looked at. */
hsy_status cluster_connect(struct cluster_shard *s, struct pg_link *l,
                           uint64_t *session, hsy_error *err);

/* ---- cluster_route.c ----------------------------------------------------- */

/* The shard of an upload: by its id, or from some epoch on by its task.
 * CLUSTER_NOWHERE: this node does not know it, now. */
#define CLUSTER_NOWHERE UINT32_MAX
uint32_t cluster_route(struct cluster *c, uint32_t entry, uint32_t epoch,
                       const struct store_id *name);

/* The shard of a task that is whole in one, or CLUSTER_NOWHERE. */
uint32_t cluster_home(struct cluster *c, uint32_t entry);

/* Where a new task would be. */
uint32_t cluster_new_home(struct cluster *c, const char *task);

/* True in SQL if the clock of shard 0 says no later day than the next: uploads
 * of later ones, by which it is tried, may have come. */
#define CLUSTER_DAY_HOLDS                                                      \
    "days.day + 1 >= floor(extract(epoch from clock_timestamp()) / 86400)"

/* Tasks that want tokens now are whole from an epoch on that nobody has begun;
 * with shard 0's link. */
hsy_status cluster_enrol(struct cluster *c, struct pg_link *l, hsy_error *err);

/* What shard 0 says of both, read anew; the roster is the view's. HSY_E_REFUSED
 * if the list is too short: it is read all the same. */
hsy_status cluster_routes_read(struct cluster *c, struct pg_link *l,
                               hsy_error *err);

/* The same of a node that runs: *narrow, if its list is too short. It goes on
 * with its share, and the others must know of it. */
hsy_status cluster_routes_known(struct cluster *c, struct pg_link *l,
                                bool *narrow, hsy_error *err);

/* ---- cluster_lane.c ------------------------------------------------------ */

bool cluster_submit(struct counting *c, struct submission *s);
bool cluster_lane_start(struct cluster_shard *s);
void cluster_lane_stop(struct cluster_shard *s);

/* ---- cluster_commit.c ---------------------------------------------------- */

/* Decide about the group and commit it: every item has its verdict then. */
void cluster_commit(struct cluster_shard *s);

/* Commit a group without uploads, by the lane, while commits fail and no upload
 * is there that would find out. */
#define CLUSTER_PROBE 1000u /* milliseconds between two probes */
void cluster_probe(struct cluster_shard *s);

/* ---- cluster_fold.c ------------------------------------------------------ */

/* The words of a chunk, 0 behind the end of its tally; and add those of a row
 * to them. HSY_E_DAMAGED, HSY_E_OVERFLOW. */
size_t cluster_chunk_words(const struct roster_entry *is, size_t place);
hsy_status cluster_add_chunk(int64_t *words, size_t n, const uint8_t *bytes,
                             size_t len, hsy_error *err);

/* Fold what waits in a shard, a bounded amount; *more: something is left.
 * wait: for whoever folds now; else that is HSY_OK. */
hsy_status cluster_fold(struct cluster_shard *s, struct pg_link *l,
                        struct fold_space *space, bool wait, size_t *batches,
                        bool *more, hsy_error *err);

/* ---- cluster_keeper.c ---------------------------------------------------- */

/* What is to be known before anything is counted; then the thread. */
hsy_status cluster_first_look(struct cluster *c, size_t *shard, hsy_error *err);
bool cluster_keeper_start(struct cluster *c);
void cluster_keeper_stop(struct cluster *c);

/* What was read on this link of shard 0 is replicated: a write that comes after
 * it is. Whoever is told something that was there before needs that (trap 2).
 */
hsy_status cluster_sure(struct pg_link *l, hsy_error *err);

/* The document and entries of shard 0, if others than the view's are there. */
hsy_status cluster_read_document(struct cluster *c, struct pg_link *l,
                                 hsy_error *err);

/* ---- cluster_state.c ----------------------------------------------------- */

/* Note whether the keeper could connect to a shard; then ask how it is. */
void cluster_shard_tried(struct cluster_shard *s, hsy_status st,
                         const hsy_error *err);
hsy_status cluster_shard_ask(struct cluster_shard *s, hsy_error *err);

/* Say that this node is alive, and read who else is; with shard 0's link. */
hsy_status cluster_read_nodes(struct cluster *c, struct pg_link *l,
                              hsy_error *err);

/* Hold the clock of shard 0 against ours. */
void cluster_compare_clocks(struct cluster *c, uint64_t now);

/* ---- cluster_days.c ------------------------------------------------------ */

/* Days as shard 0 has them, into the view; its clock in *now. */
hsy_status cluster_read_days(struct cluster *c, struct pg_link *l,
                             uint64_t *now, hsy_error *err);

/* Make the table of an epoch that is not dropped; with the row of days locked.
 */
hsy_status cluster_make_ids(struct pg_link *l, uint32_t epoch, hsy_error *err);

/* The epochs that have a table, ascending. */
hsy_status cluster_ids_epochs(struct pg_link *l, struct pg_rows **rows,
                              hsy_error *err);

/* Make the tables of open epochs, drop those of closed ones. */
hsy_status cluster_tables(struct cluster_shard *s, struct pg_link *l,
                          hsy_error *err);

hsy_status cluster_close_epochs(void *ctx, uint32_t through, uint32_t day,
                                hsy_error *err);

/* ---- cluster_change.c ---------------------------------------------------- */

hsy_status cluster_document(struct counting *c, const uint8_t *bytes,
                            size_t len, hsy_error *err);
hsy_status cluster_put_document(void *ctx, const uint8_t *bytes, size_t len,
                                uint32_t first, const uint8_t *const *entries,
                                const size_t *lens, size_t n, hsy_error *err);

/* Delete the tallies of a shard that are of what is retired. */
hsy_status cluster_forget_retired(struct cluster *c, struct pg_link *l,
                                  hsy_error *err);
hsy_status cluster_put_retired(void *ctx, uint32_t entry, hsy_error *err);
hsy_status cluster_retire(struct counting *c, const char *task, uint32_t which,
                          uint64_t *n, hsy_error *err);
hsy_status cluster_merge(struct counting *c, uint32_t entry,
                         const uint8_t *bytes, size_t len, hsy_error *err);
hsy_status cluster_keep(struct counting *c, const struct store_figure *figure,
                        hsy_error *err);
hsy_status cluster_figures(struct counting *c, const struct store_reader *to,
                           hsy_error *err);

/* ---- cluster_receive.c --------------------------------------------------- */

hsy_status cluster_received(struct counting *c,
                            const uint8_t id[STORE_BATCH_ID],
                            struct store_received *out, hsy_error *err);
hsy_status cluster_receive(struct counting *c, struct engine_delivery *d,
                           hsy_error *err);

/* ---- cluster_visit.c ----------------------------------------------------- */

/* What a visitor needs to know; it tells nobody the time, and is no node. */
hsy_status cluster_visit(struct cluster *c, hsy_error *err);

/* This node is none any more; nobody need wait for it. */
void cluster_leave(struct cluster *c);

/* HSY_E_BUSY if a node was seen a moment ago: its name; with shard 0's link. */
hsy_status cluster_running(struct pg_link *l, char name[CLUSTER_NODE],
                           hsy_error *err);

/* ---- cluster_read.c, cluster_write.c ------------------------------------- */

/* Whoever looks after a cluster may wait long for an answer. */
#define CLUSTER_VISIT_PATIENCE 600000u

/* The rows of a SELECT, from a cursor of the transaction; what each returns
 * ends it. */
typedef hsy_status cluster_row(void *ctx, const struct pg_rows *rows, size_t i);
hsy_status cluster_each(struct pg_link *l, const char *select,
                        cluster_row *each, void *ctx, hsy_error *err);

/* ---- cluster_books.c ----------------------------------------------------- */

/* What readers were shown and who may ask, as books in a directory; and back,
 * by a transaction of shard 0. */
hsy_status cluster_books_out(struct cluster *c, struct pg_link *l,
                             const char *directory, hsy_error *err);
hsy_status cluster_books_in(struct roster *roster, const bool *retired,
                            struct pg_link *l, const char *directory,
                            hsy_error *err);

/* ---- cluster_look.c ------------------------------------------------------ */

hsy_status cluster_look(struct counting *c, uint32_t entry, workers_job *job,
                        void *ctx, hsy_error *err);

#endif
