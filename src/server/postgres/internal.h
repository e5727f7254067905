/* internal.h - what the files of connections share. */
#ifndef SERVER_POSTGRES_INTERNAL_H
#define SERVER_POSTGRES_INTERNAL_H

#include "server/postgres/postgres.h"
#include "server/postgres/pq.h"
#include "server/postgres/values.h"

#include <pthread.h>

#define PG_MISSET "the database is not set as it must be"
#define PG_WORDS 32u /* keywords of a connection, at most */

struct pg_word {
    char key[32];
    char *value; /* owned */
};

struct pg_host {
    char *name, *address, *port; /* owned; address: NULL for a socket file */
    char *password;              /* owned; NULL: none of its own */
};

struct pg_place {
    const struct pq *pq;
    struct pg_host hosts[PG_HOSTS];
    size_t nhosts;
    struct pg_word words[PG_WORDS]; /* for all hosts */
    size_t nwords;
    char name[256];
    pthread_mutex_t lock;
    struct pg_found found; /* lock */
    size_t used;           /* the host that the last link was made to; lock */
    bool logged; /* the server was reloaded, and logged what links sent; lock */
};

/* A value that a statement gets. */
struct pg_value {
    Oid type;
    size_t at, len; /* in bytes */
    bool null;
};

struct pg_params {
    struct pg_value values[PG_PARAMS];
    size_t n;
    uint8_t *bytes; /* owned */
    size_t len, room;
    bool failed; /* out of memory, or too many */
};

/* A statement that the server has parsed. */
struct pg_statement {
    char *sql; /* owned */
    char name[16];
    bool parsed;
};

#define PG_STATEMENTS 64u
/* Answers under way that there is room for at first. */
#define PG_EXPECTED 512u

enum pg_expect { PG_PARSE, PG_EXECUTE, PG_SYNC };

struct pg_link {
    struct pg_place *place;
    const struct pq *pq;
    PGconn *conn; /* NULL: not connected */
    uint64_t session;
    uint32_t timeline; /* of its server */
    unsigned patience; /* milliseconds */
    bool warned;       /* a warning came since the turn began */
    bool failed;       /* something of this turn was refused */
    struct pg_params params;
    struct pg_statement statements[PG_STATEMENTS];
    size_t next; /* the statement that is forgotten next */
    struct pg_answer {
        enum pg_expect what;
        struct pg_statement *statement;
    } * expected; /* a ring; owned */
    size_t expected_room, first, n;
    char reason[PG_REASON];
    char state[6];
};

struct pg_rows {
    const struct pq *pq;
    PGresult *result;
};

/* A reason: words of ours, or of the library or server up to its line's end. */
void pg_say(char reason[PG_REASON], const char *text);

/* ---- passwords.c --------------------------------------------------------- */

/* Give each host its password of a file as PostgreSQL's manual has it (34.16),
 * read now: later it may not be in reach. reason is filled on failure. */
hsy_status pg_passwords(struct pg_place *p, const char *path,
                        const char *database, const char *user,
                        char reason[PG_REASON], hsy_error *err);

/* ---- connect.c ----------------------------------------------------------- */

/* The primary, of all servers of the place, and its timeline; NULL, with a
 * reason and *st. */
PGconn *pg_primary(struct pg_place *p, uint32_t *timeline,
                   char reason[PG_REASON], hsy_status *st);

#endif
