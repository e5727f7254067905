/*
 * cluster_import.c - an archive into a cluster that has just been made.
 *
 * All shards are locked by the row that says whose they are, so that no node
 * learns the key that will not be theirs; those that might know it lose their
 * connections, and find another key when they come back. The others commit
 * before shard 0 does: until then the cluster is empty, and the same archive
 * can be imported again.
 */
#define _GNU_SOURCE
#include "server/cluster/cluster_admin.h"
#include "server/cluster/cluster_write.h"

#include "host/base/host_fail.h"
#include "server/store/admin.h"
#include "server/store/book.h"

#include <stdio.h>
#include <string.h>

#define IMPORT_AHEAD 2u /* days whose tables are made ahead */
#define IMPORT_WIDE 3u  /* days after the last until shards are used */

struct import {
    struct cluster *c;
    size_t shard; /* that something is done with */
    struct write_store store;
    char node[CLUSTER_NODE];
    hsy_error *err;
};

static struct pg_link *import_link(const struct import *m, size_t shard)
{
    return m->c->shards[shard].keeper;
}

/* ---- Before -------------------------------------------------------------- */

static hsy_status import_whose(struct import *m, size_t shard)
{
    struct schema_meta is = {0};
    hsy_status st = schema_read(import_link(m, shard), &is, m->err);

    if (st == HSY_OK && shard == 0)
        m->c->meta = is;
    if (st == HSY_OK &&
        (is.shard != shard ||
         memcmp(is.cluster, m->c->meta.cluster, sizeof is.cluster) != 0))
        st = host_fail(m->err, HSY_E_REFUSED, HOST_FIELD_STORE,
                       "it is another shard, or of another cluster");
    if (st == HSY_OK && is.rehearsal != m->c->o.rehearsal)
        st = host_fail(m->err, HSY_E_REFUSED, HOST_FIELD_REHEARSAL,
                       is.rehearsal ? "it was made for a rehearsal"
                                    : "it was not made for a rehearsal");
    explicit_bzero(&is, sizeof is);
    return st;
}

static hsy_status import_empty(struct import *m, size_t shard)
{
    struct pg_link *l = import_link(m, shard);
    struct pg_rows *r = NULL;
    hsy_status st =
        pg_ask(l, &r, m->err,
               "select exists(select 1 from documents) or exists(select 1 "
               "from entries) or exists(select 1 from batches) or "
               "exists(select 1 from counts) or exists(select 1 from cells) "
               "or exists(select 1 from quotas) or exists(select 1 from "
               "received) or exists(select 1 from merged) or exists(select 1 "
               "from figures) or exists(select 1 from shown) or "
               "exists(select 1 from people) or exists(select 1 from "
               "token_tasks) or exists(select 1 from enrolled)",
               "");

    if (st == HSY_OK && pg_get(r, 0, 0) != 0)
        st = host_fail(m->err, HSY_E_REFUSED, HOST_FIELD_STORE,
                       "something is in it already: make a cluster anew for "
                       "what is imported");
    pg_rows_free(r);
    return st;
}

static hsy_status import_begin(struct import *m, size_t shard)
{
    struct pg_link *l = import_link(m, shard);
    hsy_status st = pg_connect(l, m->err);

    pg_patience(l, CLUSTER_VISIT_PATIENCE);
    if (st == HSY_OK)
        st = import_whose(m, shard);
    if (st == HSY_OK)
        st = pg_begin(l, m->err);
    if (st == HSY_OK)
        st = pg_do(l, "set local idle_in_transaction_session_timeout = 0",
                   m->err);
    if (st == HSY_OK)
        st = pg_do(l, "set local lock_timeout = '5s'", m->err);
    if (st == HSY_OK)
        st = pg_do(l, "lock table meta, days in access exclusive mode", m->err);
    if (st == HSY_OK && shard == 0)
        st = cluster_running(l, m->node, m->err);
    return st == HSY_OK ? import_empty(m, shard) : st;
}

/* ---- After --------------------------------------------------------------- */

static hsy_status import_days(struct import *m, size_t shard)
{
    const struct store_state *state = &m->store.state;
    struct pg_link *l = import_link(m, shard);
    hsy_status st = pg_ask(
        l, NULL, m->err,
        shard == 0 ? "update days set day = $2, closed = $1, purged = "
                     "0, dropped = $1, moved = moved + 1, heeded = "
                     "moved + 1 where one = 1"
                   : "update days set dropped = $1 where one = 1",
        shard == 0 ? "ii" : "i", (int32_t)state->closed, (int32_t)state->day);

    for (uint32_t e = state->closed + 1;
         st == HSY_OK && state->day != 0 && e <= state->day + IMPORT_AHEAD; e++)
        st = cluster_make_ids(l, e, m->err);
    return st;
}

/* What was counted is in shard 0 alone. */
static hsy_status import_widths(struct import *m)
{
    struct pg_link *l = import_link(m, 0);
    hsy_status st = pg_do(l, "delete from widths", m->err);

    if (st == HSY_OK)
        st = pg_do(l, "insert into widths values(0, 1)", m->err);
    if (st == HSY_OK && m->c->nshards > 1)
        st = pg_ask(l, NULL, m->err, "insert into widths values($1, $2)", "ii",
                    (int32_t)(m->store.last + IMPORT_WIDE),
                    (int32_t)m->c->nshards);
    return st;
}

/* The key, and nobody who knows another. */
static hsy_status import_key(struct import *m, size_t shard)
{
    struct pg_link *l = import_link(m, shard);
    hsy_status st =
        pg_ask(l, NULL, m->err, "update meta set key = $1 where one = 1", "b",
               m->store.state.key, (size_t)STORE_KEY);

    return st == HSY_OK
               ? pg_do(l,
                       "select pg_terminate_backend(pid) from "
                       "pg_stat_activity where datname = "
                       "current_database() and usename = current_user and "
                       "application_name = 'hearsay' and pid <> "
                       "pg_backend_pid()",
                       m->err)
               : st;
}

static hsy_status import_end(struct import *m)
{
    hsy_status st = HSY_OK;

    for (size_t i = m->c->nshards; i-- != 0 && st == HSY_OK;) {
        m->shard = i;
        st = import_days(m, i);
        if (st == HSY_OK && i == 0)
            st = import_widths(m);
        if (st == HSY_OK)
            st = import_key(m, i);
    }
    for (size_t i = m->c->nshards; i-- != 0 && st == HSY_OK;) {
        m->shard = i;
        st = pg_commit(import_link(m, i), m->err);
    }
    return st;
}

/* ---- All of it ----------------------------------------------------------- */

/* The archive into shard 0's transaction; *ours: the archive is not wrong. */
static hsy_status import_fill(struct import *m, int archive,
                              const char *directory, bool *ours)
{
    struct write_store *s = &m->store;
    hsy_status st = store_archive_read(&s->base, directory, archive, m->err);

    if (st == HSY_OK)
        st = write_finish(s, m->err);
    *ours = st != HSY_E_FORMAT && st != HSY_E_VERSION &&
            (st != HSY_E_IO || pg_reason(s->l)[0] != '\0');
    if (st == HSY_OK && s->rehearsed != m->c->meta.rehearsal)
        st = host_fail(m->err, HSY_E_REFUSED, HOST_FIELD_REHEARSAL,
                       s->rehearsed ? "the archive is of a rehearsal: make a "
                                      "cluster for one"
                                    : "the archive is of no rehearsal: make a "
                                      "cluster that is none");
    if (st == HSY_OK)
        st = cluster_books_in(s->roster, s->retired, s->l, directory, m->err);
    return st;
}

static hsy_status import_all(struct import *m, int archive,
                             const char *directory, bool *ours)
{
    hsy_status st = HSY_OK;

    *ours = true;
    for (size_t i = 0; i < m->c->nshards && st == HSY_OK; i++) {
        m->shard = i;
        st = import_begin(m, i);
    }
    if (st == HSY_OK) {
        m->shard = 0;
        st = write_open(&m->store, import_link(m, 0))
                 ? import_fill(m, archive, directory, ours)
                 : host_nomem(m->err);
    }
    if (st == HSY_OK)
        st = import_end(m);
    for (size_t i = 0; i < m->c->nshards && st != HSY_OK; i++)
        if (pg_connected(import_link(m, i)))
            pg_drop(import_link(m, i)); /* which rolls it back */
    write_close(&m->store);
    return st;
}

static bool import_unshown(const char *directory)
{
    struct book b;
    hsy_error err;
    const hsy_status st = book_open(&b, directory, &shown_kind, false, &err);

    book_close(&b);
    return st == HSY_E_EMPTY;
}

hsy_status cluster_import(const struct cluster_options *o, int archive,
                          const char *directory, bool *unshown,
                          const char **about, char reason[PG_REASON],
                          hsy_error *err)
{
    static char text[256];
    struct import m = {.c = cluster_new(o), .err = err};
    bool ours = true;
    hsy_status st;

    *about = NULL;
    reason[0] = '\0';
    if (m.c == NULL)
        return host_nomem(err);
    st = cluster_places(m.c, about, reason, err);
    if (st == HSY_OK) {
        st = import_all(&m, archive, directory, &ours);
        *unshown = st == HSY_OK && import_unshown(directory);
        snprintf(text, sizeof text, "%s",
                 pg_place_name(m.c->shards[m.shard].place));
        *about = ours ? text : NULL;
        snprintf(reason, PG_REASON, "%s",
                 m.node[0] != '\0' ? m.node
                                   : pg_reason(import_link(&m, m.shard)));
    }
    m.c->base.ops->close(&m.c->base);
    return st;
}
