/* fake_sql.h - the statements of server/cluster, by their words, on rows of
 * fake_db.h; parameters and answers. For fake_pg.c. */
#ifndef FAKE_SQL_H
#define FAKE_SQL_H

#include "rig/fake_pg.h"
#include "server/postgres/values.h"

struct fake_param {
    int64_t v;
    bool null;
    uint8_t *bytes; /* owned: bytes, or items of an array */
    size_t len, n;
    int64_t *list; /* owned: numbers, or marks */
};

struct pg_params {
    struct fake_param p[PG_PARAMS];
    size_t n;
};

void fake_params_clear(struct pg_params *p);

struct fake_cell {
    int64_t v;
    bool null;
    struct fake_blob *blob;
};

struct pg_rows {
    struct fake_cell *cells; /* owned */
    size_t n, width, room;
    size_t changed;
    bool commit;
};

void fake_rows_clear(struct pg_rows *r);

enum fake_sql {
    FAKE_SQL_DONE,
    FAKE_SQL_WAIT,   /* somebody has a lock: again later */
    FAKE_SQL_REFUSED /* state says why */
};

enum fake_sql fake_sql(struct fake_tx *t, const char *sql,
                       const struct pg_params *p, struct pg_rows *r,
                       char state[6]);

/* The rows that new tables have. */
void fake_sql_tables(struct fake_db *db, size_t shards);

#endif
