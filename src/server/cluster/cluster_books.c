/*
 * cluster_books.c - what readers were shown and who may ask: the books of one
 * machine become rows of shard 0, and rows become books.
 *
 * A generation keeps its number and its lots: who has seen one before a move
 * and one after it can subtract no less than a lot.
 */
#include "server/cluster/internal.h"
#include "server/cluster/shown_bytes.h"
#include "server/cluster/shown_many.h"

#include "host/base/host_fail.h"
#include "server/store/book.h"

#include <stdlib.h>
#include <string.h>

#define BOOKS_ONCE 1000u /* enrolled tokens of a statement */
#define BOOKS_HASH 32u   /* bytes of a hash at most */

/* ---- Shown: out ---------------------------------------------------------- */

struct books_out {
    struct roster *roster;
    struct shown_keep *keep;
    struct pg_link *l;
    int64_t *words; /* owned: of the entry */
    hsy_error *err;
};

/* One tally after another: all of them at once may be large. */
static hsy_status books_view_out(struct books_out *o,
                                 const struct roster_entry *is,
                                 struct shown_view *v)
{
    hsy_status st = o->keep->ops->put(o->keep, is, v, v->kept, NULL, 0, o->err);

    for (size_t i = 0; i <= v->nblocks && st == HSY_OK; i++) {
        const struct shown_tally t = {i == 0 ? 0 : v->blocks[i - 1].first,
                                      o->words};
        size_t rows = 0;

        memset(o->words, 0, is->words * sizeof *o->words);
        st = shown_many_cells(o->l, is->number, t.block, o->words, is->words,
                              &rows, o->err);
        if (st == HSY_OK && rows != 0)
            st = o->keep->ops->put(o->keep, is, v, v->kept, &t, 1, o->err);
    }
    return st;
}

static hsy_status books_row_out(struct books_out *o, const struct pg_rows *r,
                                size_t i)
{
    const size_t entry = (size_t)pg_get(r, i, 0);
    const struct roster_entry *is;
    struct shown_view v = {0};
    size_t len;
    const uint8_t *bytes = pg_get_bytes(r, i, 1, &len);
    hsy_status st = HSY_OK;

    if (entry >= roster_count(o->roster))
        return host_fail(o->err, HSY_E_DAMAGED, HOST_FIELD_ENTRY,
                         "something is shown of a task that is not there");
    is = roster_at(o->roster, entry);
    st = shown_bytes_read(&v, bytes, len, o->err);
    free(o->words);
    o->words = malloc(is->words * sizeof *o->words);
    if (st == HSY_OK && o->words == NULL)
        st = host_nomem(o->err);
    if (st == HSY_OK && v.generation != 0)
        st = books_view_out(o, is, &v);
    shown_view_clear(&v);
    return st;
}

static hsy_status books_shown_out(struct cluster *c, struct pg_link *l,
                                  const char *directory, hsy_error *err)
{
    struct books_out o = {.l = l, .err = err};
    struct pg_rows *r = NULL;
    hsy_status st = shown_file_open(&o.keep, directory, err);

    if (st != HSY_OK)
        return st;
    o.roster = engine_roster(c->base.view);
    st = pg_ask(l, &r, err,
                "select entry, view from shown where version <> 0 order by "
                "entry",
                "");
    for (size_t i = 0; st == HSY_OK && i < pg_count(r); i++)
        st = books_row_out(&o, r, i);
    pg_rows_free(r);
    free(o.words);
    roster_drop(o.roster);
    o.keep->ops->close(o.keep);
    return st;
}

/* ---- Tokens: out --------------------------------------------------------- */

struct books_tokens {
    struct book *b;
    hsy_error *err;
};

static hsy_status books_person_out(void *ctx, const struct pg_rows *r, size_t i)
{
    const struct books_tokens *t = ctx;
    size_t len;
    const uint8_t *hash = pg_get_bytes(r, i, 2, &len);

    return book_do(
        t->b,
        book_ask(t->b, t->err,
                 "INSERT INTO people(name, role, hash) VALUES(?1, ?2, ?3)",
                 "tib", (const char *)pg_get_bytes(r, i, 0, NULL),
                 pg_get(r, i, 1), (const void *)hash, len),
        t->err);
}

static hsy_status books_task_out(void *ctx, const struct pg_rows *r, size_t i)
{
    const struct books_tokens *t = ctx;

    return book_do(t->b,
                   book_ask(t->b, t->err,
                            "INSERT INTO tasks(task, quota) VALUES(?1, ?2)",
                            "ti", (const char *)pg_get_bytes(r, i, 0, NULL),
                            pg_get(r, i, 1)),
                   t->err);
}

static hsy_status books_enrolled_out(void *ctx, const struct pg_rows *r,
                                     size_t i)
{
    const struct books_tokens *t = ctx;
    size_t len;
    const uint8_t *hash = pg_get_bytes(r, i, 1, &len);

    return book_do(
        t->b,
        book_ask(t->b, t->err,
                 "INSERT INTO enrolled(task, hash, expires) VALUES(?1, ?2, ?3)",
                 "tbi", (const char *)pg_get_bytes(r, i, 0, NULL),
                 (const void *)hash, len, pg_get(r, i, 2)),
        t->err);
}

static hsy_status books_tokens_out(struct pg_link *l, const char *directory,
                                   hsy_error *err)
{
    struct book b;
    struct books_tokens t = {&b, err};
    hsy_status st = book_open(&b, directory, &tokens_kind, true, err);

    if (st == HSY_OK)
        st = book_begin(&b, err);
    if (st != HSY_OK) {
        book_close(&b);
        return st;
    }
    st = cluster_each(l, "select name, role, hash from people order by 1",
                      books_person_out, &t, err);
    if (st == HSY_OK)
        st = cluster_each(l, "select task, quota from token_tasks order by 1",
                          books_task_out, &t, err);
    if (st == HSY_OK)
        st = cluster_each(
            l, "select task, hash, expires from enrolled order by 1, 2",
            books_enrolled_out, &t, err);
    st = book_end(&b, st, err);
    book_close(&b);
    return st;
}

hsy_status cluster_books_out(struct cluster *c, struct pg_link *l,
                             const char *directory, hsy_error *err)
{
    const hsy_status st = books_shown_out(c, l, directory, err);

    return st == HSY_OK ? books_tokens_out(l, directory, err) : st;
}

/* ---- Shown: in ----------------------------------------------------------- */

struct books_in {
    struct roster *roster;
    const bool *retired;
    struct shown_keep *keep;
    struct pg_link *l;
    hsy_error *err;
};

static hsy_status books_tallies_in(struct books_in *b,
                                   const struct roster_entry *is,
                                   const struct shown_view *v)
{
    int64_t *words = malloc(is->words * sizeof *words);
    hsy_status st = words == NULL ? host_nomem(b->err) : HSY_OK;

    for (size_t i = 0; i <= v->nblocks && st == HSY_OK; i++) {
        const struct shown_tally t = {i == 0 ? 0 : v->blocks[i - 1].first,
                                      words};

        memset(words, 0, is->words * sizeof *words);
        st = b->keep->ops->add(b->keep, SHOWN_READS, is->number, t.block, words,
                               is->words, b->err);
        if (st == HSY_OK)
            st = shown_many_put_tally(b->l, is, &t, b->err);
    }
    free(words);
    return st;
}

static hsy_status books_view_in(struct books_in *b, uint32_t entry,
                                struct shown_view *v)
{
    uint8_t *bytes = NULL;
    size_t len = 0;
    hsy_status st;

    if (entry >= roster_count(b->roster))
        return host_fail(b->err, HSY_E_FORMAT, HOST_FIELD_ENTRY,
                         "something is shown of a task that is not there");
    v->gone = b->retired[entry];
    st = shown_bytes_write(&bytes, &len, v, b->err);
    if (st == HSY_OK)
        st = pg_ask(b->l, NULL, b->err,
                    "insert into shown values($1, 1, $2, $3)", "ilb",
                    (int32_t)entry, (int64_t)v->generation, bytes, len);
    free(bytes);
    return st == HSY_OK ? books_tallies_in(b, roster_at(b->roster, entry), v)
                        : st;
}

static hsy_status books_take(void *ctx, uint32_t entry, struct shown_view *v)
{
    const hsy_status st = books_view_in(ctx, entry, v);

    shown_view_clear(v);
    return st;
}

static hsy_status books_shown_in(struct books_in *b, const char *directory)
{
    hsy_status st = shown_file_open(&b->keep, directory, b->err);

    if (st != HSY_OK)
        return st;
    st = b->keep->ops->read(b->keep, NULL, 0, books_take, b, b->err);
    b->keep->ops->close(b->keep);
    return st;
}

/* ---- Tokens: in ---------------------------------------------------------- */

static const char *books_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);

    return text != NULL ? text : "";
}

static hsy_status books_people_in(struct pg_link *l, struct book *b,
                                  hsy_error *err)
{
    sqlite3_stmt *row =
        book_ask(b, err, "SELECT name, role, hash FROM people", "");
    hsy_status st = row == NULL ? HSY_E_IO : HSY_OK;

    while (st == HSY_OK && book_row(b, row, &st, err))
        st = pg_ask(l, NULL, err, "insert into people values($1, $2, $3)",
                    "tib", books_text(row, 0), sqlite3_column_int(row, 1),
                    sqlite3_column_blob(row, 2),
                    (size_t)sqlite3_column_bytes(row, 2));
    sqlite3_finalize(row);
    return st;
}

static hsy_status books_tasks_in(struct pg_link *l, struct book *b,
                                 hsy_error *err)
{
    sqlite3_stmt *row = book_ask(b, err, "SELECT task, quota FROM tasks", "");
    hsy_status st = row == NULL ? HSY_E_IO : HSY_OK;

    while (st == HSY_OK && book_row(b, row, &st, err))
        st =
            pg_ask(l, NULL, err, "insert into token_tasks values($1, $2)", "tl",
                   books_text(row, 0), (int64_t)sqlite3_column_int64(row, 1));
    sqlite3_finalize(row);
    return st;
}

/* Enrolled tokens of a task, which may be a million. */
struct books_list {
    size_t n, len;
    uint8_t hashes[BOOKS_ONCE * BOOKS_HASH];
    int32_t expires[BOOKS_ONCE];
};

static hsy_status books_list_put(struct pg_link *l, const char *task,
                                 struct books_list *list, hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (list->n == 0)
        return st;
    st = pg_ask(l, NULL, err,
                "insert into enrolled select $1, h, e from unnest($2::bytea[], "
                "$3::int4[]) x(h, e)",
                "tBI", task, list->hashes, list->len, list->n, list->expires,
                list->n);
    list->n = 0;
    return st;
}

static hsy_status books_list_add(struct books_list *list, sqlite3_stmt *row,
                                 hsy_error *err)
{
    const size_t len = (size_t)sqlite3_column_bytes(row, 0);

    if (len == 0 || len > BOOKS_HASH || (list->len != 0 && len != list->len))
        return host_fail(err, HSY_E_FORMAT, HOST_FIELD_ENROLLED,
                         "a token that is none");
    list->len = len;
    memcpy(list->hashes + list->n * len, sqlite3_column_blob(row, 0), len);
    list->expires[list->n++] = sqlite3_column_int(row, 1);
    return HSY_OK;
}

static hsy_status books_list_in(struct pg_link *l, struct book *b,
                                const char *task, struct books_list *list,
                                hsy_error *err)
{
    sqlite3_stmt *rows = book_ask(
        b, err, "SELECT hash, expires FROM enrolled WHERE task=?1", "t", task);
    hsy_status st = rows == NULL ? HSY_E_IO : HSY_OK;

    while (st == HSY_OK && book_row(b, rows, &st, err)) {
        st = books_list_add(list, rows, err);
        if (st == HSY_OK && list->n == BOOKS_ONCE)
            st = books_list_put(l, task, list, err);
    }
    sqlite3_finalize(rows);
    return st == HSY_OK ? books_list_put(l, task, list, err) : st;
}

static hsy_status books_lists_in(struct pg_link *l, struct book *b,
                                 hsy_error *err)
{
    struct books_list *list = calloc(1, sizeof *list);
    sqlite3_stmt *tasks =
        book_ask(b, err, "SELECT DISTINCT task FROM enrolled", "");
    hsy_status st = tasks == NULL ? HSY_E_IO : HSY_OK;

    if (list == NULL)
        st = host_nomem(err);
    while (st == HSY_OK && book_row(b, tasks, &st, err))
        st = books_list_in(l, b, books_text(tasks, 0), list, err);
    sqlite3_finalize(tasks);
    free(list);
    return st;
}

/* A task whose tokens have quotas is whole in shard 0, where its ids are. */
static hsy_status books_whole(struct books_in *in)
{
    hsy_status st = HSY_OK;

    for (size_t i = 0; i < roster_count(in->roster) && st == HSY_OK; i++)
        st = pg_ask(in->l, NULL, in->err,
                    "update entries set whole_from = 0 where number = $1 and "
                    "exists (select 1 from token_tasks where task = $2)",
                    "it", (int32_t)i, roster_at(in->roster, i)->task.id);
    return st;
}

static hsy_status books_tokens_in(struct books_in *in, const char *directory)
{
    struct pg_link *l = in->l;
    struct book b;
    hsy_status st = book_open(&b, directory, &tokens_kind, false, in->err);

    if (st == HSY_E_EMPTY)
        return HSY_OK;
    if (st == HSY_OK)
        st = books_people_in(l, &b, in->err);
    if (st == HSY_OK)
        st = books_tasks_in(l, &b, in->err);
    if (st == HSY_OK)
        st = books_lists_in(l, &b, in->err);
    book_close(&b);
    if (st == HSY_OK)
        st = pg_do(l, "update tokens_version set version = version + 1",
                   in->err);
    return st == HSY_OK && in->roster != NULL ? books_whole(in) : st;
}

hsy_status cluster_books_in(struct roster *roster, const bool *retired,
                            struct pg_link *l, const char *directory,
                            hsy_error *err)
{
    struct books_in in = {
        .roster = roster, .retired = retired, .l = l, .err = err};
    struct book b;
    hsy_status st = book_open(&b, directory, &shown_kind, false, err);
    const bool none = st == HSY_E_EMPTY;

    book_close(&b);
    if (st == HSY_OK && roster != NULL)
        st = books_shown_in(&in, directory);
    return st == HSY_OK || none ? books_tokens_in(&in, directory) : st;
}
