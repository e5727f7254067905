/*
 * postgres.h - connections to PostgreSQL, and statements through them.
 *
 * A *place* is one database on one or more servers, of which one is primary at
 * a time; a *link* is a connection to the primary, owned by one thread. libpq
 * is loaded when a place is opened and not before.
 *
 * What can be told from an answer and what cannot is kept apart: HSY_OK is
 * certain; HSY_E_BUSY means that the link was lost or the deadline passed, that
 * it is not known what became of a commit under way, and that the same can be
 * asked again of whoever is primary then. A link is never cancelled: a wait for
 * the standby that is cancelled looks like a commit (D1).
 */
#ifndef SERVER_POSTGRES_POSTGRES_H
#define SERVER_POSTGRES_POSTGRES_H

#include "hearsay.h"

#include <stdarg.h>

#define PG_REASON 200 /* bytes of a reason, NUL included */
#define PG_HOSTS 8u   /* servers of a place, at most */

struct pg_place;
struct pg_link;

/* ---- Places -------------------------------------------------------------- */

/* A place by its URL, postgresql://user@host1,host2:port/database?..., with
 * names resolved and password files read: nothing is read later but for
 * certificates. HSY_E_UNKNOWN: there is no libpq; HSY_E_FORMAT, HSY_E_RANGE.
 * reason is filled on failure. */
hsy_status pg_place_open(struct pg_place **out, const char *url,
                         char reason[PG_REASON], hsy_error *err);
void pg_place_close(struct pg_place *p); /* NULL is allowed */

/* host:port,... and the database, without what is secret; the place's. */
const char *pg_place_name(const struct pg_place *p);

/* Whether nobody between here and the servers can read along or take their
 * place: each shows a certificate that is checked, or is on this machine. */
bool pg_place_guarded(const struct pg_place *p);

/* A file that a connection reads again, which < PG_FILES: certificates, a key,
 * lists of those revoked; NULL: it is not named. */
#define PG_FILES 5u
const char *pg_place_file(const struct pg_place *p, unsigned which);

/* What the last connection found, or a link since. Any thread. */
struct pg_found {
    uint32_t timeline;      /* the highest seen; 0: none yet */
    bool replicated;        /* commits wait for a standby, */
    bool standby;           /* and one that they wait for is connected */
    uint32_t version;       /* of the server, 150018 */
    uint64_t connected;     /* how often a link was made */
    bool reachable;         /* the last try succeeded */
    bool refused;           /* it failed by the server's settings: */
    char reason[PG_REASON]; /* why not */
};
void pg_place_found(struct pg_place *p, struct pg_found *out);

/* Ask all servers of the place for their timeline but the one that the last
 * link was made to, and keep the highest of those that take writes: links to a
 * server below it are made anew by pg_connect, and no commit of theirs is
 * certain. 2.5 s at most. Any thread. */
void pg_look(struct pg_place *p);

/* ---- Links --------------------------------------------------------------- */

/* NULL: out of memory. Connects when something is asked. */
struct pg_link *pg_link_new(struct pg_place *p);
void pg_link_free(struct pg_link *l); /* NULL is allowed */

/*
 * Be connected to the primary. All servers of the place are asked at once for
 * their timeline; of those that take writes the highest is taken, and never one
 * below the highest that any link of the place has seen: a server that was
 * frozen while another was promoted still calls itself primary. A link whose
 * server is below that by now is made anew. HSY_E_BUSY: nobody answers;
 * HSY_E_REFUSED: its settings would lose what was acknowledged or log what must
 * not be read (pg_reason).
 */
hsy_status pg_connect(struct pg_link *l, hsy_error *err);

/* Ask the server of a link again what pg_connect asked: settings are reloaded
 * while links stay. Fails as pg_connect does, and the link is dropped. */
hsy_status pg_verify(struct pg_link *l, hsy_error *err);
bool pg_connected(const struct pg_link *l);

/* How often this link was made anew: another number, another session. */
uint64_t pg_session(const struct pg_link *l);

/* Close the socket; what was under way is in doubt. */
void pg_drop(struct pg_link *l);

/* Milliseconds that an answer may take from when it is waited for. 6,000. */
void pg_patience(struct pg_link *l, unsigned milliseconds);

/* Why the last call failed: words for an operator, without values; and the
 * SQLSTATE, "" if there was none. */
const char *pg_reason(const struct pg_link *l);
const char *pg_state(const struct pg_link *l);

/* ---- Statements ---------------------------------------------------------- */

/* The rows of an answer. */
struct pg_rows;
size_t pg_count(const struct pg_rows *r);
size_t pg_changed(const struct pg_rows *r); /* rows that a command changed */
bool pg_is_null(const struct pg_rows *r, size_t row, int column);
int64_t pg_get(const struct pg_rows *r, size_t row, int column); /* any int */
const uint8_t *pg_get_bytes(const struct pg_rows *r, size_t row, int column,
                            size_t *len); /* bytea or text, ended by NUL */
void pg_rows_free(struct pg_rows *r);     /* NULL is allowed */

/*
 * One statement and its answer, which is to be freed unless rows is NULL.
 * Values of $1, $2, ... follow in the order of `form`, at most PG_PARAMS: 'i'
 * an int32_t, 'l' an int64_t, 'o' a bool, 't' a text, 'b' bytes and their
 * size_t, 'n' NULL, without an argument. Arrays, each with its size_t last:
 * 'I' of int32_t, 'L' of int64_t, 'M' of bool in which false is NULL, 'B' of
 * bytes that have one length (items, size_t), 'V' of various (items, size_t *).
 *
 * HSY_E_BUSY as above; else HSY_E_REFUSED, with pg_state, when the server
 * refuses it; a transaction that was begun is to be rolled back then.
 */
#define PG_PARAMS 12u
hsy_status pg_ask(struct pg_link *l, struct pg_rows **rows, hsy_error *err,
                  const char *sql, const char *form, ...);
hsy_status pg_ask_list(struct pg_link *l, struct pg_rows **rows, hsy_error *err,
                       const char *sql, const char *form, va_list values);

/* One without values, whose answer is of no interest. */
hsy_status pg_do(struct pg_link *l, const char *sql, hsy_error *err);

/* Several on one way: each pg_put sends a statement with its values; pg_turn
 * sends the end of the turn; then pg_take gives the answers in order, and after
 * the last of them pg_end. After a refusal the others of the turn were not
 * done, and pg_take refuses them all. Without memory for a statement
 * (HSY_E_NOMEM) the link is dropped if a turn was begun: its answers would be
 * taken for those of the next. */
hsy_status pg_put(struct pg_link *l, hsy_error *err, const char *sql,
                  const char *form, ...);
hsy_status pg_turn(struct pg_link *l, hsy_error *err);
hsy_status pg_take(struct pg_link *l, struct pg_rows **rows, hsy_error *err);
hsy_status pg_end(struct pg_link *l, hsy_error *err);

/* A transaction. HSY_OK of pg_commit is certain: the answer says COMMIT, no
 * warning came with it, and no other server is known to be promoted. Anything
 * else is HSY_E_BUSY, and the link is dropped. pg_rollback: after a refusal.
 * pg_finish: commit if st is HSY_OK, else roll back, and st. pg_begin_reading:
 * all that is read is of one moment, that of the first question; to be rolled
 * back. */
hsy_status pg_begin(struct pg_link *l, hsy_error *err);
hsy_status pg_begin_reading(struct pg_link *l, hsy_error *err);
hsy_status pg_commit(struct pg_link *l, hsy_error *err);
void pg_rollback(struct pg_link *l);
hsy_status pg_finish(struct pg_link *l, hsy_status st, hsy_error *err);

/* The same of an answer that pg_take gave to "commit". */
bool pg_is_commit(const struct pg_link *l, const struct pg_rows *r);

#endif
