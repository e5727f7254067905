/*
 * tokens_many.c - tokens in a database that collectors share.
 *
 * Every change raises the version in its transaction, first of all: so changes
 * come one after another, and what a name or a count was found to be stays so
 * until the commit. Collectors look at the version each second and read all
 * again if it is another, as of one moment.
 */
#include "server/cluster/tokens_many.h"

#include "server/cluster/schema.h"

#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

#define TOKENS_MANY_PAGE "50000" /* enrolled tokens of an answer */
/* Milliseconds that an answer may take: of who looks each second, of a commit,
 * and of who reads all (10^7 tokens are sorted in 10 s). */
#define TOKENS_MANY_LOOK 2000u
#define TOKENS_MANY_WAIT 6000u
#define TOKENS_MANY_READ 30000u

struct tokens_many {
    struct tokens_keep keep; /* first */
    struct pg_link *link;    /* owned */
    bool change;
};

static struct pg_link *tokens_many_link(struct tokens_keep *k)
{
    return ((struct tokens_many *)k)->link;
}

const char *tokens_many_reason(const struct tokens_keep *k)
{
    return pg_reason(((const struct tokens_many *)k)->link);
}

static hsy_status tokens_many_damaged(hsy_error *err)
{
    return host_fail(err, HSY_E_DAMAGED, HOST_FIELD_STORE,
                     "a token in the database is none: restore it");
}

/* ---- Reading ------------------------------------------------------------- */

/* A name of at most so many letters. */
static bool tokens_many_text(char *to, size_t most, const struct pg_rows *rows,
                             size_t row, int column)
{
    size_t len;
    const uint8_t *text = pg_get_bytes(rows, row, column, &len);

    if (len > most)
        return false;
    memcpy(to, text, len);
    to[len] = '\0';
    return true;
}

static bool tokens_many_person(struct tokens_person *p,
                               const struct pg_rows *rows, size_t row)
{
    const int64_t role = pg_get(rows, row, 1);
    size_t len;
    const uint8_t *hash = pg_get_bytes(rows, row, 2, &len);

    if (role < LISTEN_SCRAPER || role > LISTEN_OPERATOR || len != TOKENS_HASH ||
        !tokens_many_text(p->name, TOKENS_NAME, rows, row, 0) ||
        !tokens_name_fits(p->name))
        return false;
    p->role = (enum listen_role)role;
    memcpy(p->hash, hash, TOKENS_HASH);
    return true;
}

static hsy_status tokens_many_people(struct tokens_keep *k,
                                     struct tokens_people *out, hsy_error *err)
{
    struct pg_link *l = tokens_many_link(k);
    struct pg_rows *rows = NULL;
    hsy_status st;

    *out = (struct tokens_people){calloc(TOKENS_MAX, sizeof *out->all), 0};
    if (out->all == NULL)
        return host_nomem(err);
    st = pg_ask(l, &rows, err,
                "select name, role, hash from people order by name limit 1000",
                "");
    for (size_t i = 0; st == HSY_OK && i < pg_count(rows); i++)
        if (!tokens_many_person(&out->all[out->n++], rows, i))
            st = tokens_many_damaged(err);
    pg_rows_free(rows);
    return st;
}

/* One answer's rows into a list. */
static hsy_status tokens_many_take(struct tokens_list *list, uint64_t *room,
                                   const struct pg_rows *rows, hsy_error *err)
{
    for (size_t i = 0; i < pg_count(rows); i++) {
        size_t len;
        const uint8_t *hash = pg_get_bytes(rows, i, 0, &len);

        if (len != TOKENS_SHORT)
            return tokens_many_damaged(err);
        if (!tokens_list_room(list, room))
            return host_nomem(err);
        memcpy(list->hashes + list->n * TOKENS_SHORT, hash, TOKENS_SHORT);
        list->expires[list->n++] = (uint32_t)pg_get(rows, i, 1);
    }
    return HSY_OK;
}

/* In a transaction. Page by page: in one answer libpq would need four times the
 * memory of the list. All pages are wanted, not the first soon: an index would
 * give that, and go through the table at random. */
static hsy_status tokens_many_list(struct tokens_keep *k,
                                   struct tokens_list *list, hsy_error *err)
{
    struct pg_link *l = tokens_many_link(k);
    uint64_t room = 0, before;
    hsy_status st = pg_do(l, "set local cursor_tuple_fraction = 1", err);

    if (st == HSY_OK)
        st = pg_ask(
            l, NULL, err,
            "declare pages no scroll cursor for select hash, expires from "
            "enrolled where task = $1 order by hash",
            "t", list->task);
    do {
        struct pg_rows *rows = NULL;

        before = list->n;
        if (st == HSY_OK)
            st = pg_ask(l, &rows, err, "fetch " TOKENS_MANY_PAGE " from pages",
                        "");
        if (st == HSY_OK)
            st = tokens_many_take(list, &room, rows, err);
        pg_rows_free(rows);
    } while (st == HSY_OK && list->n != before);
    return st == HSY_OK ? pg_do(l, "close pages", err) : st;
}

/* A row of a task: its name and quota. */
static bool tokens_many_task(char task[HSY_TASK_ID + 1], uint32_t *quota,
                             const struct pg_rows *rows, size_t row)
{
    const int64_t is = pg_get(rows, row, 1);

    *quota = (uint32_t)is;
    return is > 0 && is <= UINT32_MAX &&
           tokens_many_text(task, HSY_TASK_ID, rows, row, 0);
}

/* In the order of their bytes: they are looked up so. */
static hsy_status tokens_many_lists(struct tokens_keep *k,
                                    struct tokens_set *out, hsy_error *err)
{
    struct pg_link *l = tokens_many_link(k);
    char task[HSY_TASK_ID + 1];
    struct pg_rows *rows = NULL;
    uint32_t quota;
    hsy_status st =
        pg_ask(l, &rows, err,
               "select task, quota from token_tasks order by task collate "
               "\"C\"",
               "");

    for (size_t i = 0; st == HSY_OK && i < pg_count(rows); i++) {
        struct tokens_list *list;

        if (!tokens_many_task(task, &quota, rows, i))
            st = tokens_many_damaged(err);
        else if ((list = tokens_set_list(out, task, quota)) == NULL)
            st = host_nomem(err);
        else
            st = tokens_many_list(k, list, err);
    }
    pg_rows_free(rows);
    return st;
}

static hsy_status tokens_many_tasks(
    struct tokens_keep *k,
    hsy_status (*each)(void *ctx, const char *task, uint64_t n, uint32_t quota),
    void *ctx, hsy_error *err)
{
    struct pg_link *l = tokens_many_link(k);
    char task[HSY_TASK_ID + 1];
    struct pg_rows *rows = NULL;
    uint32_t quota;
    hsy_status st =
        pg_ask(l, &rows, err,
               "select task, quota, (select count(*) from enrolled e where "
               "e.task = t.task) from token_tasks t order by task collate "
               "\"C\"",
               "");

    for (size_t i = 0; st == HSY_OK && i < pg_count(rows); i++)
        st = tokens_many_task(task, &quota, rows, i)
                 ? each(ctx, task, (uint64_t)pg_get(rows, i, 2), quota)
                 : tokens_many_damaged(err);
    pg_rows_free(rows);
    return st;
}

static hsy_status tokens_many_count(struct tokens_keep *k, const char *task,
                                    uint64_t *n, hsy_error *err)
{
    struct pg_rows *rows = NULL;
    hsy_status st =
        pg_ask(tokens_many_link(k), &rows, err,
               "select count(*) from enrolled where task = $1", "t", task);

    *n = st == HSY_OK ? (uint64_t)pg_get(rows, 0, 0) : 0;
    pg_rows_free(rows);
    return st;
}

/* ---- For a running collector --------------------------------------------- */

static hsy_status tokens_many_now(struct tokens_keep *k, int64_t *version,
                                  hsy_error *err)
{
    struct pg_rows *rows = NULL;
    hsy_status st = pg_ask(tokens_many_link(k), &rows, err,
                           "select version from tokens_version", "");

    if (st == HSY_OK && pg_count(rows) != 1)
        st = tokens_many_damaged(err);
    if (st == HSY_OK)
        *version = pg_get(rows, 0, 0);
    pg_rows_free(rows);
    return st;
}

/* A link that died since it was used last is made anew, at once. */
static hsy_status tokens_many_version(struct tokens_keep *k, int64_t *version,
                                      hsy_error *err)
{
    struct pg_link *l = tokens_many_link(k);
    const bool old = pg_connected(l);
    hsy_status st = pg_connect(l, err);

    pg_patience(l, TOKENS_MANY_LOOK);
    if (st != HSY_OK)
        return st;
    st = tokens_many_now(k, version, err);
    if (st == HSY_E_BUSY && old && (st = pg_connect(l, err)) == HSY_OK)
        st = tokens_many_now(k, version, err);
    return st;
}

static hsy_status tokens_many_load(struct tokens_keep *k,
                                   struct tokens_set *out, int64_t *version,
                                   hsy_error *err)
{
    struct pg_link *l = tokens_many_link(k);
    hsy_status st = pg_connect(l, err);

    pg_patience(l, TOKENS_MANY_READ);
    if (st == HSY_OK)
        st = pg_begin_reading(l, err);
    if (st != HSY_OK)
        return st;
    st = tokens_many_now(k, version, err);
    if (st == HSY_OK)
        st = tokens_many_people(k, &out->people, err);
    if (st == HSY_OK)
        st = tokens_many_lists(k, out, err);
    pg_rollback(l); /* nothing was changed */
    return st;
}

static hsy_status tokens_many_backup(struct tokens_keep *k,
                                     const char *directory, hsy_error *err)
{
    (void)k;
    (void)directory;
    return host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                     "the database is backed up by its own tools");
}

/* ---- For commands -------------------------------------------------------- */

static hsy_status tokens_many_begin(struct tokens_keep *k, bool change,
                                    bool create, hsy_error *err)
{
    struct tokens_many *m = (struct tokens_many *)k;
    struct schema_meta meta;
    hsy_status st = pg_connect(m->link, err);

    (void)create; /* 'store init-cluster' makes the tables */
    pg_patience(m->link, change ? TOKENS_MANY_WAIT : TOKENS_MANY_READ);
    m->change = change;
    if (st == HSY_OK)
        st = schema_read(m->link, &meta, err);
    if (st == HSY_OK && meta.shard != 0)
        st = host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                       "this is not the first shard of its cluster: tokens are "
                       "kept there");
    if (st == HSY_OK)
        st = change ? pg_begin(m->link, err) : pg_begin_reading(m->link, err);
    if (st != HSY_OK || !change)
        return st;
    st = pg_do(m->link, "update tokens_version set version = version + 1", err);
    if (st != HSY_OK)
        pg_rollback(m->link);
    return st;
}

static hsy_status tokens_many_end(struct tokens_keep *k, hsy_status st,
                                  hsy_error *err)
{
    struct tokens_many *m = (struct tokens_many *)k;

    if (st != HSY_OK || !m->change) {
        pg_rollback(m->link);
        return st;
    }
    if (pg_commit(m->link, err) != HSY_OK)
        return host_fail(err, HSY_E_BUSY, HOST_FIELD_STORE,
                         "whether it was done is not known: look by 'hearsay "
                         "serve token list', then try again");
    return HSY_OK;
}

/* A statement, and how many rows it changed. */
static hsy_status tokens_many_change(struct tokens_keep *k, uint64_t *n,
                                     hsy_error *err, const char *sql,
                                     const char *form, ...)
{
    struct pg_rows *rows = NULL;
    va_list values;
    hsy_status st;

    va_start(values, form);
    st = pg_ask_list(tokens_many_link(k), &rows, err, sql, form, values);
    va_end(values);
    *n = st == HSY_OK ? pg_changed(rows) : 0;
    pg_rows_free(rows);
    return st;
}

static hsy_status tokens_many_put_person(struct tokens_keep *k,
                                         const struct tokens_person *is,
                                         hsy_error *err)
{
    return pg_ask(tokens_many_link(k), NULL, err,
                  "insert into people values($1, $2, $3)", "tib", is->name,
                  (int32_t)is->role, is->hash, sizeof is->hash);
}

static hsy_status tokens_many_drop_person(struct tokens_keep *k,
                                          const char *name, uint64_t *n,
                                          hsy_error *err)
{
    return tokens_many_change(k, n, err, "delete from people where name = $1",
                              "t", name);
}

static hsy_status tokens_many_put_task(struct tokens_keep *k, const char *task,
                                       uint32_t quota, hsy_error *err)
{
    return pg_ask(tokens_many_link(k), NULL, err,
                  "insert into token_tasks values($1, $2) on "
                  "conflict(task) do update set quota = "
                  "excluded.quota",
                  "tl", task, (int64_t)quota);
}

static hsy_status tokens_many_drop_task(struct tokens_keep *k, const char *task,
                                        uint64_t *n, hsy_error *err)
{
    return tokens_many_change(
        k, n, err, "delete from token_tasks where task = $1", "t", task);
}

static hsy_status tokens_many_put_enrolled(struct tokens_keep *k,
                                           const char *task,
                                           const uint8_t *hashes, size_t n,
                                           uint32_t expires, hsy_error *err)
{
    return pg_ask(tokens_many_link(k), NULL, err,
                  "insert into enrolled select $1, hash, $3 from "
                  "unnest($2::bytea[]) t(hash) on conflict do "
                  "nothing",
                  "tBi", task, hashes, (size_t)TOKENS_SHORT, n,
                  (int32_t)expires);
}

static hsy_status tokens_many_expire(struct tokens_keep *k, const char *task,
                                     const uint8_t *hash, uint32_t day,
                                     uint64_t *n, hsy_error *err)
{
    return tokens_many_change(
        k, n, err,
        hash == NULL ? "update enrolled set expires = $2 where task = $1"
                     : "update enrolled set expires = $2 where task = $1 and "
                       "hash = $3",
        hash == NULL ? "ti" : "tib", task, (int32_t)day, hash,
        (size_t)TOKENS_SHORT);
}

static hsy_status tokens_many_drop_enrolled(struct tokens_keep *k,
                                            const char *task,
                                            const uint8_t *hash, uint64_t *n,
                                            hsy_error *err)
{
    return tokens_many_change(
        k, n, err,
        hash == NULL ? "delete from enrolled where task = $1"
                     : "delete from enrolled where task = $1 and hash = $2",
        hash == NULL ? "t" : "tb", task, hash, (size_t)TOKENS_SHORT);
}

static bool tokens_many_asked(struct tokens_keep *k, const char *task)
{
    struct pg_link *l = tokens_many_link(k);
    struct pg_rows *rows = NULL;
    bool known = true;

    if (pg_connect(l, NULL) == HSY_OK &&
        pg_ask(l, &rows, NULL,
               "select bytes from documents order by version desc limit 1",
               "") == HSY_OK &&
        pg_count(rows) == 1) {
        size_t len;
        const uint8_t *bytes = pg_get_bytes(rows, 0, 0, &len);

        known = tokens_asked_in(bytes, len, task);
    }
    pg_rows_free(rows);
    return known;
}

/* ---- Open and close ------------------------------------------------------ */

static void tokens_many_close(struct tokens_keep *k)
{
    pg_link_free(tokens_many_link(k));
    free(k);
}

static const struct tokens_keep_functions tokens_many_functions = {
    .version = tokens_many_version,
    .load = tokens_many_load,
    .backup = tokens_many_backup,
    .begin = tokens_many_begin,
    .end = tokens_many_end,
    .people = tokens_many_people,
    .list = tokens_many_list,
    .tasks = tokens_many_tasks,
    .count = tokens_many_count,
    .put_person = tokens_many_put_person,
    .drop_person = tokens_many_drop_person,
    .put_task = tokens_many_put_task,
    .drop_task = tokens_many_drop_task,
    .put_enrolled = tokens_many_put_enrolled,
    .expire = tokens_many_expire,
    .drop_enrolled = tokens_many_drop_enrolled,
    .asked = tokens_many_asked,
    .close = tokens_many_close,
};

hsy_status tokens_many_open(struct tokens_keep **out, struct pg_place *place,
                            hsy_error *err)
{
    struct tokens_many *m = calloc(1, sizeof *m);

    if (m == NULL || (m->link = pg_link_new(place)) == NULL) {
        free(m);
        return host_nomem(err);
    }
    m->keep.ops = &tokens_many_functions;
    *out = &m->keep;
    return HSY_OK;
}
