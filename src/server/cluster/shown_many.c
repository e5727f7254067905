/*
 * shown_many.c - generations in a database that nodes share.
 *
 * Why any two answers of any two nodes differ by whole lots stands in others.c.
 * Its parts here: who holds an entry's row (for update) changes the row and its
 * cells, nobody else, and each change raises the version. A maker enters by
 * taking the row, so between enter and put no other node changes either; a
 * reader enters by a snapshot (repeatable read), so row and cells are of one
 * moment.
 *
 * What is committed may be visible and yet on no standby: after a wait that was
 * cancelled, or a restart of the primary (D1, D2). So a node that
 * finds a version which it does not know commits a row of its own before it
 * shows that: this waits for the standby, and with it for all that was read. A
 * version that is shown is thus never lost by a failover, and never another
 * one's number.
 */
#include "server/cluster/shown_many.h"

#include "server/cluster/shown_bytes.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

#define MANY_PIECE 4096u /* words of a row */
#define MANY_ONCE 32u    /* rows of a statement */

struct many {
    struct shown_keep keep;   /* first */
    struct pg_link *links[2]; /* by shown_turn; owned */
    bool inside[2];           /* in a transaction */
    uint64_t version;         /* of the entry that the maker is in */
};

static struct many *many_of(struct shown_keep *k)
{
    return (struct many *)k;
}

/* A failed call ends the transaction. That others hold a row too long is no
 * fault of the database's. */
static hsy_status many_failed(struct many *m, enum shown_turn turn,
                              hsy_status st, hsy_error *err)
{
    struct pg_link *l = m->links[turn];
    const bool wait = strcmp(pg_state(l), "55P03") == 0 ||
                      strcmp(pg_state(l), "40001") == 0 ||
                      strcmp(pg_state(l), "40P01") == 0;

    m->inside[turn] = false;
    if (st != HSY_E_BUSY)
        pg_rollback(l);
    return st == HSY_E_REFUSED && wait
               ? host_fail(err, HSY_E_BUSY, HOST_FIELD_STORE,
                           "another node is at it")
               : st;
}

/* ---- Entering and leaving ------------------------------------------------ */

/* A node that stands still must not hold a row for ever, nor one wait for it so
 * long that its own link is given up. */
static const char *const many_begin[][4] = {
    [SHOWN_READS] = {"begin isolation level repeatable read"},
    [SHOWN_MAKES] = {"begin", "set local lock_timeout = '4s'",
                     "set local idle_in_transaction_session_timeout = '60s'"},
};

static const char *const many_look[] = {
    [SHOWN_READS] = "select version, case when version <> $2 then view end "
                    "from shown where entry = $1",
    [SHOWN_MAKES] = "select version, case when version <> $2 then view end "
                    "from shown where entry = $1 for update",
};

/* Send all that enters an entry; n: the answers to come before the row's. */
static hsy_status many_send(struct pg_link *l, enum shown_turn turn,
                            uint32_t entry, uint64_t version, size_t *n,
                            hsy_error *err)
{
    hsy_status st = HSY_OK;

    for (*n = 0; st == HSY_OK && many_begin[turn][*n] != NULL; ++*n)
        st = pg_put(l, err, many_begin[turn][*n], "");
    if (st == HSY_OK && turn == SHOWN_MAKES) {
        st = pg_put(l, err,
                    "insert into shown values($1, 0, 0, '') on conflict do "
                    "nothing",
                    "i", (int32_t)entry);
        ++*n;
    }
    if (st == HSY_OK)
        st = pg_put(l, err, many_look[turn], "il", (int32_t)entry,
                    (int64_t)version);
    return st == HSY_OK ? pg_turn(l, err) : st;
}

static hsy_status many_row(struct pg_link *l, enum shown_turn turn,
                           uint32_t entry, uint64_t version,
                           struct pg_rows **rows, hsy_error *err)
{
    struct pg_rows *got = NULL;
    size_t n;
    hsy_status st = many_send(l, turn, entry, version, &n, err), end;

    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = pg_take(l, NULL, err);
    if (st == HSY_OK)
        st = pg_take(l, &got, err);
    if (st == HSY_OK || st == HSY_E_REFUSED) {
        end = pg_end(l, err);
        st = end != HSY_OK ? end : st;
    }
    if (st == HSY_OK)
        *rows = got;
    else
        pg_rows_free(got);
    return st;
}

/* The same on a link that may have died since it was used last: then once more,
 * for nothing was under way. */
static hsy_status many_begin_in(struct many *m, enum shown_turn turn,
                                uint32_t entry, uint64_t version,
                                struct pg_rows **rows, hsy_error *err)
{
    struct pg_link *l = m->links[turn];
    const bool old = pg_connected(l);
    hsy_status st = pg_connect(l, err);

    if (st != HSY_OK)
        return st;
    st = many_row(l, turn, entry, version, rows, err);
    if (st == HSY_E_BUSY && old && (st = pg_connect(l, err)) == HSY_OK)
        st = many_row(l, turn, entry, version, rows, err);
    if (st != HSY_OK)
        return many_failed(m, turn, st, err);
    m->inside[turn] = true;
    return HSY_OK;
}

/* A row's view, if it has one; else an empty one. */
static hsy_status many_view(struct shown_view *out, const struct pg_rows *rows,
                            size_t row, int version, int view, hsy_error *err)
{
    const int64_t is = pg_get(rows, row, version);
    size_t len;
    const uint8_t *bytes = pg_get_bytes(rows, row, view, &len);
    hsy_status st = HSY_OK;

    *out = (struct shown_view){0};
    if (is == 0)
        return HSY_OK;
    st = shown_bytes_read(out, bytes, len, err);
    out->version = (uint64_t)is;
    return st;
}

static hsy_status many_enter(struct shown_keep *k, enum shown_turn turn,
                             uint32_t entry, struct shown_view *v, bool *newer,
                             hsy_error *err)
{
    struct many *m = many_of(k);
    struct shown_view found = {0};
    struct pg_rows *rows = NULL;
    bool there;
    hsy_status st = many_begin_in(m, turn, entry, v->version, &rows, err);

    *newer = false;
    if (st != HSY_OK)
        return st;
    there = pg_count(rows) == 1;
    if (there && !pg_is_null(rows, 0, 1))
        st = many_view(&found, rows, 0, 0, 1, err);
    if (turn == SHOWN_MAKES && there)
        m->version = (uint64_t)pg_get(rows, 0, 0);
    *newer =
        st == HSY_OK && (there ? !pg_is_null(rows, 0, 1) : v->version != 0);
    pg_rows_free(rows);
    if (st != HSY_OK)
        return many_failed(m, turn, st, err);
    if (*newer) {
        shown_view_clear(v);
        *v = found;
    }
    return HSY_OK;
}

/* Commit a row: when that is certain, so is all that this link has read. All on
 * one way: a node that stops in between holds no row that others wait for. */
static hsy_status many_certain(struct pg_link *l, hsy_error *err)
{
    static const char *const all[] = {
        "begin", "update shown_looked set times = times + 1", "commit"};
    struct pg_rows *answer = NULL;
    bool sure = false;
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < 3 && st == HSY_OK; i++)
        st = pg_put(l, err, all[i], "");
    if (st == HSY_OK)
        st = pg_turn(l, err);
    for (size_t i = 0; i < 3 && st == HSY_OK; i++) {
        pg_rows_free(answer);
        st = pg_take(l, &answer, err);
    }
    if (st == HSY_OK)
        sure = pg_is_commit(l, answer);
    pg_rows_free(answer);
    if (st == HSY_OK)
        st = pg_end(l, err);
    if (st == HSY_OK && sure)
        return HSY_OK;
    pg_drop(l);
    return host_fail(err, HSY_E_BUSY, HOST_FIELD_STORE,
                     "the database did not commit");
}

static hsy_status many_leave(struct shown_keep *k, enum shown_turn turn,
                             bool newer, hsy_error *err)
{
    struct many *m = many_of(k);
    struct pg_link *l = m->links[turn];

    if (m->inside[turn])
        pg_rollback(l);
    m->inside[turn] = false;
    return newer ? many_certain(l, err) : HSY_OK;
}

/* ---- Reading ------------------------------------------------------------- */

static const char many_news[] =
    "select entry, version, view from shown s where version <> 0 and not "
    "exists (select 1 from unnest($1::int4[], $2::int8[]) k(entry, version) "
    "where k.entry = s.entry and k.version = s.version)";

/* Rows that are not of the versions known. */
static hsy_status many_changed(struct many *m, const uint64_t *known, size_t n,
                               struct pg_rows **rows, hsy_error *err)
{
    struct pg_link *l = m->links[SHOWN_READS];
    int32_t *entries = calloc(n + 1, sizeof *entries);
    int64_t *versions = calloc(n + 1, sizeof *versions);
    hsy_status st;

    for (size_t i = 0; entries != NULL && versions != NULL && i < n; i++) {
        entries[i] = (int32_t)i;
        versions[i] = (int64_t)known[i];
    }
    if (entries != NULL && versions != NULL) {
        st = pg_ask(l, rows, err, many_news, "IL", entries, n, versions, n);
    } else {
        st = host_nomem(err);
    }
    free(entries);
    free(versions);
    return st;
}

static hsy_status many_read(struct shown_keep *k, const uint64_t *known,
                            size_t n, shown_taker *take, void *ctx,
                            hsy_error *err)
{
    struct many *m = many_of(k);
    struct pg_link *l = m->links[SHOWN_READS];
    struct pg_rows *rows = NULL;
    hsy_status st = pg_connect(l, err);

    if (st == HSY_OK)
        st = many_changed(m, known, n, &rows, err);
    if (st == HSY_OK && pg_count(rows) != 0)
        st = many_certain(l, err);
    for (size_t i = 0; st == HSY_OK && i < pg_count(rows); i++) {
        struct shown_view v;

        st = many_view(&v, rows, i, 1, 2, err);
        if (st == HSY_OK)
            st = take(ctx, (uint32_t)pg_get(rows, i, 0), &v);
    }
    pg_rows_free(rows);
    return st;
}

static hsy_status many_add_row(const struct pg_rows *rows, size_t row,
                               int64_t *words, size_t n, hsy_error *err)
{
    const uint64_t at = (uint64_t)pg_get(rows, row, 0) * MANY_PIECE;
    size_t len;
    const uint8_t *bytes = pg_get_bytes(rows, row, 1, &len);

    if (at > n || len % 8 != 0 || len / 8 > MANY_PIECE || len / 8 > n - at)
        return host_fail(err, HSY_E_DAMAGED, HOST_FIELD_STORE,
                         "the table 'shown_cells' is damaged: restore the "
                         "database");
    for (size_t i = 0; i < len / 8; i++)
        words[at + i] =
            (int64_t)((uint64_t)words[at + i] + bytes_get64(bytes + 8 * i));
    return HSY_OK;
}

hsy_status shown_many_cells(struct pg_link *l, uint32_t entry, uint32_t block,
                            int64_t *words, size_t n, size_t *rows,
                            hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st = pg_ask(
        l, &r, err,
        "select place, words from shown_cells where entry = $1 and block = $2",
        "ii", (int32_t)entry, (int32_t)block);

    *rows = st == HSY_OK ? pg_count(r) : 0;
    for (size_t i = 0; st == HSY_OK && i < *rows; i++)
        st = many_add_row(r, i, words, n, err);
    pg_rows_free(r);
    return st;
}

static hsy_status many_add(struct shown_keep *k, enum shown_turn turn,
                           uint32_t entry, uint32_t block, int64_t *words,
                           size_t n, hsy_error *err)
{
    struct many *m = many_of(k);
    size_t rows;
    const hsy_status st =
        shown_many_cells(m->links[turn], entry, block, words, n, &rows, err);

    return st == HSY_OK || st == HSY_E_DAMAGED ? st
                                               : many_failed(m, turn, st, err);
}

/* ---- Writing ------------------------------------------------------------- */

/* Pieces of a tally that are put on one way. */
struct many_pieces {
    uint32_t entry, block;
    int32_t places[MANY_ONCE], empty[MANY_ONCE];
    size_t lens[MANY_ONCE];
    const void *items[MANY_ONCE];
    size_t n, nempty;
    uint8_t bytes[MANY_ONCE][8 * MANY_PIECE];
};

static void many_piece(struct many_pieces *p, size_t place,
                       const int64_t *words, size_t n)
{
    uint8_t *to = p->bytes[p->n];
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        any |= words[i] != 0;
        bytes_put64(to + 8 * i, (uint64_t)words[i]);
    }
    if (!any) {
        p->empty[p->nempty++] = (int32_t)place;
        return;
    }
    p->places[p->n] = (int32_t)place;
    p->items[p->n] = to;
    p->lens[p->n++] = 8 * n;
}

/* A piece that has not changed is not written. */
static hsy_status many_put_pieces(struct pg_link *l, struct many_pieces *s,
                                  hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (s->n != 0)
        st = pg_ask(l, NULL, err,
                    "insert into shown_cells select $1, $2, place, words from "
                    "unnest($3::int4[], $4::bytea[]) t(place, words) on "
                    "conflict(entry, block, place) do update set words = "
                    "excluded.words where shown_cells.words <> excluded.words",
                    "iiIV", (int32_t)s->entry, (int32_t)s->block, s->places,
                    s->n, s->items, s->lens, s->n);
    if (st == HSY_OK && s->nempty != 0)
        st = pg_ask(l, NULL, err,
                    "delete from shown_cells where entry = $1 and block = $2 "
                    "and place = any($3)",
                    "iiI", (int32_t)s->entry, (int32_t)s->block, s->empty,
                    s->nempty);
    s->n = s->nempty = 0;
    return st;
}

hsy_status shown_many_put_tally(struct pg_link *l,
                                const struct roster_entry *is,
                                const struct shown_tally *t, hsy_error *err)
{
    struct many_pieces *p = calloc(1, sizeof *p);
    hsy_status st = HSY_OK;

    if (p == NULL)
        return host_nomem(err);
    p->entry = is->number;
    p->block = t->block;
    for (size_t at = 0; at < is->words && st == HSY_OK; at += MANY_PIECE) {
        const size_t left = is->words - at;

        many_piece(p, at / MANY_PIECE, t->words + at,
                   left < MANY_PIECE ? left : MANY_PIECE);
        if (left <= MANY_PIECE || p->n + p->nempty == MANY_ONCE)
            st = many_put_pieces(l, p, err);
    }
    free(p);
    return st;
}

/* The cells of blocks that end from one day on and before another. */
static hsy_status many_drop(struct pg_link *l, uint32_t entry,
                            const struct shown_view *v, uint32_t from,
                            uint32_t before, hsy_error *err)
{
    int32_t *blocks = calloc(v->nblocks + 1, sizeof *blocks);
    size_t n = 0;
    hsy_status st = HSY_OK;

    if (blocks == NULL)
        return host_nomem(err);
    for (size_t k = 0; k < v->nblocks; k++)
        if (v->blocks[k].last >= from && v->blocks[k].last < before)
            blocks[n++] = (int32_t)v->blocks[k].first;
    if (n != 0)
        st = pg_ask(l, NULL, err,
                    "delete from shown_cells where entry = $1 and block = "
                    "any($2)",
                    "iI", (int32_t)entry, blocks, n);
    free(blocks);
    return st;
}

/* The row, with the version after that which was entered; and commit. */
static hsy_status many_put_row(struct many *m, uint32_t entry,
                               struct shown_view *v, hsy_error *err)
{
    struct pg_link *l = m->links[SHOWN_MAKES];
    uint8_t *bytes = NULL;
    size_t len = 0;
    hsy_status st = shown_bytes_write(&bytes, &len, v, err);

    if (st == HSY_OK)
        st = pg_ask(l, NULL, err,
                    "update shown set version = $2, generation = $3, view = $4 "
                    "where entry = $1",
                    "illb", (int32_t)entry, (int64_t)m->version + 1,
                    (int64_t)v->generation, bytes, len);
    free(bytes);
    if (st == HSY_OK)
        st = pg_commit(l, err);
    if (st == HSY_OK)
        v->version = m->version + 1;
    m->inside[SHOWN_MAKES] &= st != HSY_OK;
    return st;
}

static hsy_status many_put(struct shown_keep *k, const struct roster_entry *is,
                           struct shown_view *v, uint32_t kept,
                           const struct shown_tally *tallies, size_t n,
                           hsy_error *err)
{
    struct many *m = many_of(k);
    struct pg_link *l = m->links[SHOWN_MAKES];
    const uint32_t was = v->kept;
    hsy_status st = HSY_OK;

    memcpy(v->digest, is->digest, HSY_DIGEST);
    v->kept = kept > was ? kept : was;
    for (size_t i = 0; i < n && st == HSY_OK; i++)
        st = shown_many_put_tally(l, is, &tallies[i], err);
    if (st == HSY_OK)
        st = many_drop(l, is->number, v, was, v->kept, err);
    if (st == HSY_OK)
        st = many_put_row(m, is->number, v, err);
    return st == HSY_OK ? HSY_OK : many_failed(m, SHOWN_MAKES, st, err);
}

/* The entry entered. */
static hsy_status many_forget_in(struct many *m, uint32_t entry,
                                 struct shown_view *v, uint32_t before,
                                 bool all, hsy_error *err)
{
    struct pg_link *l = m->links[SHOWN_MAKES];
    hsy_status st;

    if (all) {
        st = pg_ask(l, NULL, err, "delete from shown_cells where entry = $1",
                    "i", (int32_t)entry);
    } else {
        st = many_drop(l, entry, v, 0, before, err);
    }
    shown_view_forget(v, before, all);
    if (st == HSY_OK)
        st = many_put_row(m, entry, v, err);
    return st == HSY_OK ? HSY_OK : many_failed(m, SHOWN_MAKES, st, err);
}

static hsy_status many_forget(struct shown_keep *k, uint32_t entry,
                              uint32_t before, bool all, hsy_error *err)
{
    struct many *m = many_of(k);
    struct shown_view v = {.version = UINT64_MAX >> 1}; /* no row's */
    bool newer;
    hsy_status st = many_enter(k, SHOWN_MAKES, entry, &v, &newer, err);

    if (st == HSY_OK && v.generation != 0)
        st = many_forget_in(m, entry, &v, before, all, err);
    if (st == HSY_OK)
        st = many_leave(k, SHOWN_MAKES, false, err);
    shown_view_clear(&v);
    return st;
}

/* ---- Open and close ------------------------------------------------------ */

static hsy_status many_backup(struct shown_keep *k, const char *directory,
                              hsy_error *err)
{
    (void)k;
    (void)directory;
    return host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                     "the database is backed up by its own tools");
}

static void many_close(struct shown_keep *k)
{
    pg_link_free(many_of(k)->links[SHOWN_READS]);
    pg_link_free(many_of(k)->links[SHOWN_MAKES]);
    free(k);
}

static const struct shown_keep_functions many_functions = {
    .shared = true,
    .read = many_read,
    .enter = many_enter,
    .leave = many_leave,
    .add = many_add,
    .put = many_put,
    .forget = many_forget,
    .backup = many_backup,
    .close = many_close,
};

hsy_status shown_many_open(struct shown_keep **out, struct pg_place *place,
                           hsy_error *err)
{
    struct many *m = calloc(1, sizeof *m);

    if (m == NULL)
        return host_nomem(err);
    m->keep.ops = &many_functions;
    m->links[SHOWN_READS] = pg_link_new(place);
    m->links[SHOWN_MAKES] = pg_link_new(place);
    if (m->links[SHOWN_READS] == NULL || m->links[SHOWN_MAKES] == NULL) {
        many_close(&m->keep);
        return host_nomem(err);
    }
    *out = &m->keep;
    return HSY_OK;
}
