/*
 * fake_db.h - a database on two servers in memory, for simulations: a primary,
 * and a standby that what is committed comes to later.
 *
 * As PostgreSQL does (D1, D2): a commit is in the log at once,
 * and seen by others when the standby has it, or when its wait is cancelled, or
 * when the server was killed and has started again. A standby that is promoted
 * knows what had come to it and nothing else; the old primary may go on beside
 * it. Numbers of a sequence are taken in the order of inserts, not of commits.
 */
#ifndef FAKE_DB_H
#define FAKE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fake_table {
    FAKE_DAYS,
    FAKE_WIDTHS,
    FAKE_DOCUMENTS,
    FAKE_ENTRIES,
    FAKE_BATCHES,
    FAKE_FOLDS,
    FAKE_COUNTS,
    FAKE_CELLS,
    FAKE_QUOTAS,
    FAKE_IDS,
    FAKE_EPOCHS, /* tables of ids that are there */
    FAKE_MERGED
};

struct fake_key {
    int64_t table, k[3];
    uint8_t b[32];
};

/* Bytes that rows share. */
struct fake_blob {
    unsigned refs;
    size_t len;
    uint8_t bytes[];
};

struct fake_blob *fake_blob(const void *bytes, size_t len);
void fake_blob_drop(struct fake_blob *b); /* NULL is allowed */

struct fake_row {
    struct fake_key key;
    int64_t v[8];
    struct fake_blob *blob;
    bool gone; /* as a write: the row is deleted */
};

struct fake_rows {
    struct fake_row *all; /* by key */
    size_t n, room;
};

enum fake_state {
    FAKE_ACTIVE,
    FAKE_WAITING, /* in the log, and the standby does not have it */
    FAKE_DONE,
    FAKE_FAILED
};

struct fake_lock {
    struct fake_key key;
    bool exclusive;
};

struct fake_tx {
    struct fake_tx *next;
    struct fake_server *server;
    enum fake_state state;
    bool held;   /* a client has it */
    bool warned; /* its wait was cancelled */
    uint64_t lsn;
    struct fake_rows writes;
    struct fake_lock *locks;
    size_t nlocks, locks_room;
};

struct fake_server {
    bool up, primary;
    uint32_t timeline;
    uint64_t life; /* another after each restart: sessions end */
    int64_t sequence;
    struct fake_rows rows;
    struct fake_tx *txs;
    struct fake_rows *log; /* what the standby does not have; owned */
    size_t nlog, log_room;
    uint64_t lsn; /* of the last in the log */
};

struct fake_db {
    struct fake_server servers[2];
    unsigned primary;
    bool standby; /* the other is one */
};

void fake_db_open(struct fake_db *db);
void fake_db_close(struct fake_db *db);

/* ---- Transactions -------------------------------------------------------- */

struct fake_tx *fake_begin(struct fake_server *s);
const struct fake_row *fake_find(const struct fake_server *s,
                                 const struct fake_tx *t,
                                 const struct fake_key *key);
/* The first row of a table that is after a key; NULL: none. */
const struct fake_row *fake_next(const struct fake_server *s,
                                 const struct fake_tx *t,
                                 const struct fake_key *key);
void fake_write(struct fake_tx *t, const struct fake_row *row);
void fake_delete(struct fake_tx *t, const struct fake_key *key);

/* False: somebody else has it. */
bool fake_take(struct fake_tx *t, const struct fake_key *key, bool exclusive);

/* Ends it, or lets it wait. */
void fake_commit(struct fake_tx *t);
void fake_rollback(struct fake_tx *t);
void fake_let_go(struct fake_tx *t); /* the client has gone */

/* ---- What happens to servers --------------------------------------------- */

void fake_replicate(struct fake_db *db, uint64_t records);
void fake_cancel_wait(struct fake_tx *t);
void fake_restart(struct fake_server *s);
/* The standby becomes primary; the old one goes on as a zombie, or is gone. */
void fake_promote(struct fake_db *db, bool zombie);
void fake_rejoin(struct fake_db *db); /* the old one becomes the standby */

#endif
