/*
 * internal.h - what the files of the store of one machine share.
 *
 * Two databases in one directory. `record.db` has everything but cells;
 * `cells.db` has the chunks of tallies, so that writing a tally of millions of
 * cells never holds up an append. docs/formats.md has every table.
 *
 * Four connections: `append`, `flip` and `mix` to the record, one for each
 * thread that uses a store, and `cells`. Whoever writes to the record holds
 * `writing`, which goes round in the order of asking; whoever uses flip or
 * cells holds `cutting`, and takes it first.
 */
#ifndef SERVER_STORE_INTERNAL_H
#define SERVER_STORE_INTERNAL_H

#include "server/store/store.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#define STORE_PAGE 4096u      /* bytes of a page of all databases */
#define STORE_VERSION 4       /* of the record's tables (user_version), */
#define STORE_CELLS_VERSION 2 /* and of those of cells */
#define STORE_LOG 4096u       /* pages of the record's log before it is moved */
#define STORE_CELLS_LOG 1024u /* of that of cells */
#define STORE_RESERVE ((size_t)16 << 20) /* bytes, at most */
#define STORE_EPOCHS 0x7ffffffeu /* the last: places of ids are below 2^63 */
#define STORE_NULLS 0x80000000u  /* half the places of an epoch's ids */
#define STORE_PATIENCE 10000     /* ms, should a stranger have it open */
#define STORE_NAME 16 /* bytes that name a store: both databases have them */
#define STORE_ROBBED SQLITE_EMPTY /* a code that SQLite does not use */

/* ---- Statements (sql.c, sql.def) ---------------------------------------- */

enum sql_id {
#define SQL(name, text) SQL_##name,
#define ROWS(name, table, text) SQL_##name,
#include "server/store/sql.def"
#undef SQL
#undef ROWS
    SQL_COUNT
};

struct sql {
    sqlite3 *db;
    const char *file;   /* for messages */
    atomic_size_t *log; /* pages in its log; of the two connections to the
                         * record there is one */
    sqlite3_stmt *ready[SQL_COUNT]; /* those it has asked for */
};

#define SQL_COLUMNS 16 /* of a row at most */

/* A column: a number, or bytes if there are any. */
struct sql_value {
    uint64_t number;
    const void *bytes; /* NULL: a number */
    size_t len;
};

#define SQL_N(x)                                                               \
    (struct sql_value)                                                         \
    {                                                                          \
        .number = (x)                                                          \
    }
#define SQL_B(p, n)                                                            \
    (struct sql_value)                                                         \
    {                                                                          \
        .bytes = (p), .len = (n)                                               \
    }

/* All return a code of SQLite; SQLITE_OK, or what went wrong. */

/* A statement, bound to n values from the first parameter on; step and reset
 * it. NULL: *rc says why. */
sqlite3_stmt *sql_start(struct sql *q, enum sql_id id,
                        const struct sql_value *values, size_t n, int *rc);
/* Run it to its end. */
int sql_run(struct sql *q, enum sql_id id, const struct sql_value *values,
            size_t n);
/* Put a row with its checksum, which is the first parameter; say that too. */
int sql_put(struct sql *q, enum sql_id id, const struct sql_value *values,
            size_t n);
int sql_put_sum(struct sql *q, enum sql_id id, const struct sql_value *values,
                size_t n, uint32_t *sum);

/* The checksum of a row. */
uint32_t sql_sum(const struct sql_value *values, size_t n);

/* The numbers of a query's one row; SQLITE_DONE: it has none. */
int sql_numbers(struct sql *q, enum sql_id id, const struct sql_value *values,
                size_t n, uint64_t *to, int columns);

/* All rows of a query, each checked: HSY_E_DAMAGED if one does not hold, what
 * each returned, or HSY_E_IO with *rc not SQLITE_OK. Columns that a row does
 * not have are 0. */
typedef hsy_status sql_each(void *ctx, const struct sql_value *row);
hsy_status sql_rows(struct sql *q, enum sql_id id,
                    const struct sql_value *values, size_t n, sql_each *each,
                    void *ctx, int *rc);

int sql_open(struct sql *q, const char *path, const char *file,
             atomic_size_t *log);
void sql_close(struct sql *q); /* half-open too */

/* Whether a commit is durable when it returns, or with the next that is of any
 * connection to the same database. */
int sql_sync(struct sql *q, bool full);
int sql_pragma(struct sql *q, const char *name, int64_t *value);

/* What makes the tables of a database, in a transaction that is left open
 * (tables.c). */
extern const char store_tables_record[], store_tables_cells[];
/* The same for those of earlier versions: what they lack. */
extern const char store_tables_upgrade_1[], store_tables_upgrade_2[],
    store_tables_upgrade_3[], store_tables_cells_upgrade[];

/* ---- The store ----------------------------------------------------------- */

/* A lock that is handed over in the order of asking (line.c). */
struct store_line {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    uint64_t last, served;
};
void store_line_init(struct store_line *line);
void store_line_clear(struct store_line *line);
void store_line_lock(struct store_line *line);
void store_line_unlock(struct store_line *line);

/* A tally whose superseded chunks are to be erased, from place on. */
struct store_garbage {
    uint32_t entry, epoch, place;
};

/* Rows that are counted; hops: of what came from one or goes to one. */
enum store_kind {
    STORE_BATCHES,
    STORE_IDS,
    STORE_RUNS,
    STORE_HOPS,
    STORE_KINDS
};

/* The row of meta: what every transaction of the record agrees on. */
struct store_meta {
    struct store_state state;
    uint64_t turn; /* which opening of the store this is */
    struct store_kept {
        uint64_t rows, checks; /* the sum of their sums */
    } kept[STORE_KINDS];
};

struct store_sqlite {
    struct store is; /* first */
    int dir, lock;
    int reserve; /* opened when it is first filled */
    int last;    /* says the last commit once more */
    int held;    /* record.db, locked: `lock` is only a name in a directory */
    char *path;  /* of the directory, absolute */
    struct sql append, flip, mix, cells;
    struct store_line writing;
    pthread_mutex_t cutting;
    pthread_mutex_t copying; /* one backup at a time; taken before the others */
    atomic_int dead;         /* a status; nothing is done any more */
    atomic_size_t record_log, cells_log; /* pages in the logs, */
    size_t record_most, cells_most;      /* before they are moved by who writes
                                          * tallies */
    size_t reserve_bytes;
    atomic_bool full;    /* a write has found no room */
    atomic_bool crowded; /* the same, since the last backup began */
    atomic_bool erased;  /* the logs must be truncated in a pause */

    struct store_state state; /* of the thread that appends */
    uint8_t name[STORE_NAME]; /* of both databases */
    uint64_t turn;            /* as cells have it */

    /* Guarded by writing: the row as it stands, and as the transaction that is
     * under way leaves it. */
    struct store_meta meta, next;

    uint64_t tidied;         /* ids up to this place have been looked at */
    struct runs_store *runs; /* store_runs.h */

    /* Guarded by cutting. */
    size_t record_at, cells_at;  /* pages at which a log is tried next */
    bool swept;                  /* orphans of an earlier process are gone */
    struct store_tally *pending; /* written, waiting for their round */
    size_t npending;
    struct store_garbage *waste; /* a queue */
    size_t nwaste;
};

/* Fill in *err for a code of SQLite, roll back what was begun, and remember
 * what is fatal. */
hsy_status store_fail(struct store_sqlite *s, struct sql *q, int rc,
                      hsy_error *err);
/* HSY_OK, or why nothing may be done any more. */
hsy_status store_alive(struct store_sqlite *s, hsy_error *err);
/* A row's checksum does not hold, or a row is missing. */
hsy_status store_damaged(struct store_sqlite *s, const char *table,
                         hsy_error *err);

/* sql_rows, with a reason for what went wrong; else what each returned. */
hsy_status store_rows(struct store_sqlite *s, struct sql *q, enum sql_id id,
                      const struct sql_value *values, size_t n, sql_each *each,
                      void *ctx, hsy_error *err);

/* One transaction of a connection: begin, body, commit, or nothing at all. For
 * the record it takes writing, and what body makes of s->next becomes the row
 * of meta; for cells the caller holds cutting. */
typedef int store_body(struct store_sqlite *s, struct sql *q, const void *what);
hsy_status store_write(struct store_sqlite *s, struct sql *q, store_body *body,
                       const void *what, hsy_error *err);

/* The functions of store_functions, by file. */
hsy_status store_read(struct store *is, const struct store_reader *to,
                      hsy_error *err);
hsy_status store_append(struct store *is, const struct store_commit *c,
                        hsy_error *err);
hsy_status store_document(struct store *is, const uint8_t *bytes, size_t len,
                          uint32_t first, const uint8_t *const *entries,
                          const size_t *lens, size_t n, hsy_error *err);
hsy_status store_close_epochs(struct store *is, uint32_t through, uint32_t day,
                              hsy_error *err);
hsy_status store_forget_nulls(struct store *is, uint32_t epoch, uint64_t *n,
                              hsy_error *err);
hsy_status store_figure(struct store *is, const struct store_figure *f,
                        hsy_error *err);
hsy_status store_housekeeping(struct store *is, bool *more, hsy_error *err);
hsy_status store_settle(struct store *is, enum store_pace pace, bool *more,
                        hsy_error *err);
hsy_status store_chunks(struct store *is, const struct store_tally *tally,
                        const struct store_chunk *chunks, size_t n,
                        hsy_error *err);
hsy_status store_rounds(struct store *is, const struct store_round *rounds,
                        size_t n, hsy_error *err);
hsy_status store_drop(struct store *is, const struct store_tally *tallies,
                      size_t n, hsy_error *err);
hsy_status store_backup(struct store *is, const char *directory,
                        const struct store_beside *beside, hsy_error *err);
hsy_status store_get_received(struct store *is,
                              const uint8_t id[STORE_BATCH_ID],
                              struct store_received *out, hsy_error *err);
hsy_status store_get_heads(struct store *is, const uint8_t id[STORE_BATCH_ID],
                           uint8_t heads[STORE_HEADS], size_t *len,
                           hsy_error *err);
hsy_status store_mix(struct store *is, const struct store_mix *rows, size_t n,
                     hsy_error *err);
hsy_status store_sealed_count(struct store *is, const struct store_set *set,
                              uint64_t *envelopes, hsy_error *err);
hsy_status
store_sealed(struct store *is, const struct store_set *set, uint64_t *at,
             hsy_status (*each)(void *ctx, const struct store_batch *batch),
             void *ctx, bool *more, hsy_error *err);
hsy_status store_forget_received(struct store *is, uint32_t before,
                                 hsy_error *err);
hsy_status store_sealed_erase(struct store *is, const struct store_set *set,
                              bool *more, hsy_error *err);

/* The directory, made if it is to be created (directory.c), and the locks
 * in it, `lock` and the record's file: HSY_E_BUSY with who has them in
 * err->limit. Then our number is written into the first, for people. */
hsy_status store_enter(struct store_sqlite *s, const char *directory,
                       bool create, hsy_error *err);
hsy_status store_lock(struct store_sqlite *s, hsy_error *err);
hsy_status store_hold(struct store_sqlite *s, bool create, hsy_error *err);
void store_lock_number(const struct store_sqlite *s);

/* ---- Between them -------------------------------------------------------- */

/* The row of meta (meta.c). Write it as s->next, that of cells with our
 * turn; hold it, within a transaction, against s->meta: STORE_ROBBED if another
 * process was here. */
int store_put_meta(struct store_sqlite *s, struct sql *q);
int store_put_name(struct store_sqlite *s, struct sql *q);
hsy_status store_get_meta(struct store_sqlite *s, struct sql *q, enum sql_id id,
                          sql_each *take, hsy_error *err); /* sqlite.c */
/* Put a row that it counts; erase those of which a query says how many there
 * are and the sum of their sums. */
int store_put_kept(struct store_sqlite *s, struct sql *q, enum store_kind kind,
                   enum sql_id put, const struct sql_value *row, size_t n);
int store_erase_kept(struct store_sqlite *s, struct sql *q,
                     enum store_kind kind, enum sql_id count, enum sql_id erase,
                     const struct sql_value *values, size_t n);
/* Ids of a span of places; the run of a number. */
int store_erase_ids(struct store_sqlite *s, struct sql *q,
                    const struct sql_value span[2]);
int store_erase_run(struct store_sqlite *s, struct sql *q, uint64_t number);
/* The same of what came from a hop, and of what goes to one (mixes.c). */
int store_put_received(struct store_sqlite *s, struct sql *q,
                       const struct store_received *received);
int store_put_mix(struct store_sqlite *s, struct sql *q,
                  const struct store_mix *mix);
hsy_status store_received_row(struct store_received *out,
                              const struct sql_value *row);
hsy_status store_mix_row(struct store_mix *out, const struct sql_value *row);
struct store_batch
store_batch_row(const struct sql_value *row); /* read_back.c */

int store_still_ours(struct store_sqlite *s, struct sql *q);
int store_cells_ours(struct store_sqlite *s);

/* Read it, and find all rows that it speaks of: HSY_E_DAMAGED. The same after a
 * record of an earlier version got what it lacks, and take the next turn. */
hsy_status store_read_meta(struct store_sqlite *s, hsy_error *err);
hsy_status store_take_turn(struct store_sqlite *s, int64_t version,
                           hsy_error *err);

/* The same of cells: name and turn, and then the turn that was taken in the
 * record. HSY_E_DAMAGED if cells are of a later one. */
hsy_status store_read_name(struct store_sqlite *s, bool old, hsy_error *err);
hsy_status store_take_cells(struct store_sqlite *s, bool old, hsy_error *err);

/* Open a store that nobody has and nobody is to change: a copy, for reading.
 * No lock is taken and no turn (sqlite.c). */
hsy_status store_sqlite_look(struct store **out, const char *directory,
                             hsy_error *err);

/* Move a log into its database: it is written over from its beginning, or
 * truncated. Another connection that still reads puts it off; that is no
 * failure (store_log.c). */
hsy_status store_empty_log(struct store_sqlite *s, struct sql *q, bool truncate,
                           hsy_error *err);

/* The same, not truncated, once it is too long. No room for it is no failure.
 * Caller holds cutting. */
hsy_status store_bound_log(struct store_sqlite *s, struct sql *q,
                           hsy_error *err);

/* Give the record's log the blocks it will need, where the disk has many and
 * some are held as a reserve too. Caller holds cutting. */
void store_log_ahead(struct store_sqlite *s);

/* Write zeros over what lies behind the end of the record's log, which was just
 * begun again. Caller holds cutting (blank.c). */
hsy_status store_blank_log(struct store_sqlite *s, hsy_error *err);

/* Whether the head of a log's index is of the form that says where it ends. */
bool store_blank_knows(const volatile uint32_t *index);

/* Whether the logs, which cannot be written over while somebody reads, have
 * become so long that the reader has to go. Any thread. */
bool store_log_crowds(struct store_sqlite *s);

/* The place of the last row of ids after one place and up to another, of so
 * many rows and bytes that nobody waits long for it; 0: there is none. */
int store_ids_some(struct sql *q, uint64_t from, uint64_t through, size_t rows,
                   size_t most, uint64_t *last);

/* Erase ids and quotas of closed epochs, a bounded number. */
hsy_status store_erase_epochs(struct store_sqlite *s, bool *more,
                              hsy_error *err);

/* What a transaction that erases batches is bounded to. */
#define STORE_ERASE_ROWS 256u
#define STORE_ERASE_BYTES (1u << 20)

/* Batches that a transaction erases. */
struct store_erased {
    uint64_t numbers[STORE_ERASE_ROWS];
    size_t n, bytes;
};
bool store_erased_enough(const struct store_erased *e);
/* Those of a query (number, length, checksum) as far as there is room; then
 * erase them. */
int store_erased_list(struct sql *q, enum sql_id id,
                      const struct sql_value *values, size_t n,
                      struct store_erased *e, struct store_kept *less);
int store_erased_go(struct store_sqlite *s, struct sql *q,
                    const struct store_erased *e);

/* Erase the batches of entries that their tallies hold, all of them, a bounded
 * number a transaction. */
hsy_status store_erase_batches(struct store_sqlite *s, struct sql *q,
                               const struct store_round *rounds, size_t n,
                               hsy_error *err);

/* The round in force of an entry (0: none) and through what (cells.c). */
hsy_status store_get_round(struct store_sqlite *s, struct sql *q,
                           uint32_t entry, uint64_t *round, uint64_t *through,
                           hsy_error *err);

/* A row of tallies. */
struct store_tally_row {
    struct store_tally is;
    uint64_t since;         /* the round in which it began */
    uint64_t chunks, check; /* rows in force, and the sum of their checksums */
};
struct store_tally_row store_tally_row(const struct sql_value *row);

/* A tally as the record has it; since is 0 if it has none. Caller holds
 * cutting. */
hsy_status store_get_tally(struct store_sqlite *s, uint32_t entry,
                           uint32_t epoch, struct store_tally_row *row,
                           hsy_error *err);

/* ---- A copy of two moments (last.c) -------------------------------------- */

/* Hold the last commit against what was written down outside: HSY_E_DAMAGED if
 * acknowledged ones are missing. Write it down. */
hsy_status store_last_open(struct store_sqlite *s, hsy_error *err);
void store_last_write(const struct store_sqlite *s, uint64_t seq);

/* ---- A full disk (reserve.c) --------------------------------------------- */

/* How much is held for then, and how long logs may be: by the file system. */
void store_reserve_plan(struct store_sqlite *s);
/* Give it up; take it, if there is room. Caller holds cutting. */
void store_reserve_release(struct store_sqlite *s);
void store_reserve_take(struct store_sqlite *s);
hsy_status store_reserve(struct store *is, hsy_error *err);

/* ---- Waste (waste.c) ----------------------------------------------------- */

/* Once in a process: erase chunks that an earlier one left without a round, and
 * note where superseded ones may be. Caller holds cutting. */
hsy_status store_sweep(struct store_sqlite *s, hsy_error *err);

/* Erase some superseded chunks; *more if there are others. Caller holds
 * cutting. */
hsy_status store_erase_waste(struct store_sqlite *s, size_t rows, bool *more,
                             hsy_error *err);
void store_add_waste(struct store_sqlite *s, uint32_t entry, uint32_t epoch);

#endif
