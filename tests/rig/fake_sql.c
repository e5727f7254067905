/* fake_sql.c - see fake_sql.h. */

#include "rig/fake_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Parameters ---------------------------------------------------------- */

void fake_params_clear(struct pg_params *p)
{
    for (size_t i = 0; i < p->n; i++) {
        free(p->p[i].bytes);
        free(p->p[i].list);
    }
    memset(p, 0, sizeof *p);
}

static struct fake_param *param(struct pg_params *p)
{
    if (p->n == PG_PARAMS)
        abort();
    return &p->p[p->n++];
}

void pg_long(struct pg_params *p, int64_t value)
{
    param(p)->v = value;
}

void pg_int(struct pg_params *p, int32_t value)
{
    pg_long(p, value);
}

void pg_bool(struct pg_params *p, bool value)
{
    pg_long(p, value);
}

void pg_null(struct pg_params *p)
{
    param(p)->null = true;
}

void pg_bytes(struct pg_params *p, const void *bytes, size_t len)
{
    struct fake_param *to = param(p);

    to->len = len;
    to->bytes = malloc(len + 1);
    if (len != 0)
        memcpy(to->bytes, bytes, len);
}

void pg_text(struct pg_params *p, const char *text)
{
    pg_bytes(p, text, strlen(text));
}

static int64_t *param_list(struct pg_params *p, size_t n)
{
    struct fake_param *to = param(p);

    to->n = n;
    to->list = malloc((n + 1) * sizeof *to->list);
    return to->list;
}

void pg_longs(struct pg_params *p, const int64_t *values, size_t n)
{
    memcpy(param_list(p, n), values, n * sizeof *values);
}

void pg_ints(struct pg_params *p, const int32_t *values, size_t n)
{
    int64_t *to = param_list(p, n);

    for (size_t i = 0; i < n; i++)
        to[i] = values[i];
}

void pg_marks(struct pg_params *p, const bool *values, size_t n)
{
    int64_t *to = param_list(p, n);

    for (size_t i = 0; i < n; i++)
        to[i] = values[i];
}

void pg_items(struct pg_params *p, const void *items, size_t len, size_t n)
{
    pg_bytes(p, items, len * n);
    p->p[p->n - 1].n = n;
}

void pg_blobs(struct pg_params *p, const void *const *items, const size_t *lens,
              size_t n)
{
    (void)p;
    (void)items;
    (void)lens;
    (void)n;
    abort(); /* nothing that is simulated sends them */
}

/* ---- Answers ------------------------------------------------------------- */

void fake_rows_clear(struct pg_rows *r)
{
    for (size_t i = 0; i < r->n * r->width; i++)
        fake_blob_drop(r->cells[i].blob);
    free(r->cells);
    memset(r, 0, sizeof *r);
}

void pg_rows_free(struct pg_rows *r)
{
    if (r == NULL)
        return;
    fake_rows_clear(r);
    free(r);
}

size_t pg_count(const struct pg_rows *r)
{
    return r->n;
}

size_t pg_changed(const struct pg_rows *r)
{
    return r->changed;
}

static const struct fake_cell *cell_of(const struct pg_rows *r, size_t row,
                                       int column)
{
    return &r->cells[row * r->width + (size_t)column];
}

bool pg_is_null(const struct pg_rows *r, size_t row, int column)
{
    return cell_of(r, row, column)->null;
}

int64_t pg_get(const struct pg_rows *r, size_t row, int column)
{
    return cell_of(r, row, column)->v;
}

const uint8_t *pg_get_bytes(const struct pg_rows *r, size_t row, int column,
                            size_t *len)
{
    const struct fake_blob *b = cell_of(r, row, column)->blob;

    if (len != NULL)
        *len = b->len;
    return b->bytes;
}

/* One more row of so many cells, the first of which are numbers. */
static struct fake_cell *answer(struct pg_rows *r, size_t width,
                                const int64_t *v, size_t n)
{
    struct fake_cell *c;

    r->width = width;
    if ((r->n + 1) * width > r->room) {
        r->room = 2 * r->room + 8 * width;
        r->cells = realloc(r->cells, r->room * sizeof *r->cells);
    }
    c = r->cells + r->n++ * width;
    memset(c, 0, width * sizeof *c);
    for (size_t i = 0; i < n; i++)
        c[i].v = v[i];
    return c;
}

static void answer_blob(struct fake_cell *c, struct fake_blob *b)
{
    b->refs++;
    c->blob = b;
}

/* ---- What a statement is given ------------------------------------------- */

struct sql {
    struct fake_tx *t;
    struct fake_server *s;
    const char *text;
    const struct fake_param *p;
    struct pg_rows *r;
    char *state;
};

typedef enum fake_sql sql_does(struct sql *q);

static enum fake_sql sql_refuse(struct sql *q, const char *state)
{
    memcpy(q->state, state, 6);
    return FAKE_SQL_REFUSED;
}

static const struct fake_row *sql_find(struct sql *q, struct fake_key key)
{
    return fake_find(q->s, q->t, &key);
}

/* All rows of a table, one after the other; begin with NULL. */
static const struct fake_row *sql_each(struct sql *q, enum fake_table table,
                                       const struct fake_row *row)
{
    const struct fake_key least = {.table = table,
                                   .k = {INT64_MIN, INT64_MIN, INT64_MIN}};

    return fake_next(q->s, q->t, row == NULL ? &least : &row->key);
}

/* Whether the transaction has written it itself. */
static bool sql_own(const struct sql *q, const struct fake_row *row)
{
    const struct fake_rows *w = &q->t->writes;

    return row >= w->all && row < w->all + w->n;
}

static struct fake_row sql_row(enum fake_table table, int64_t a, int64_t b,
                               int64_t c)
{
    return (struct fake_row){.key = {.table = table, .k = {a, b, c}}};
}

static void sql_put(struct sql *q, struct fake_row *row,
                    const struct fake_param *bytes)
{
    struct fake_blob *b =
        bytes != NULL ? fake_blob(bytes->bytes, bytes->len) : row->blob;

    row->blob = b;
    fake_write(q->t, row);
    if (bytes != NULL)
        fake_blob_drop(b);
}

static int64_t sql_epoch(const struct sql *q)
{
    return atoi(strstr(q->text, "ids_") + 4);
}

/* ---- Ids ----------------------------------------------------------------- */

static enum fake_sql sql_ids_insert(struct sql *q)
{
    const int64_t epoch = sql_epoch(q);
    const struct fake_row table = sql_row(FAKE_EPOCHS, epoch, 0, 0);

    if (!fake_take(q->t, &table.key, false))
        return FAKE_SQL_WAIT;
    if (sql_find(q, table.key) == NULL)
        return sql_refuse(q, "42P01");
    for (size_t i = 0; i < q->p[0].n; i++) {
        struct fake_row row = sql_row(FAKE_IDS, epoch, q->p[0].list[i], 0);

        const struct fake_row *is = sql_find(q, row.key);

        if (is != NULL) {
            if (sql_own(q, is)) /* before the statement had to wait */
                answer(q->r, 1, &row.key.k[1], 1);
            continue;
        }
        if (!fake_take(q->t, &row.key, true))
            return FAKE_SQL_WAIT;
        row.v[0] = q->p[1].list[i];
        fake_write(q->t, &row);
        answer(q->r, 1, &row.key.k[1], 1);
    }
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_ids_select(struct sql *q)
{
    const int64_t epoch = sql_epoch(q);

    if (sql_find(q, sql_row(FAKE_EPOCHS, epoch, 0, 0).key) == NULL)
        return sql_refuse(q, "42P01");
    for (size_t i = 0; i < q->p[0].n; i++) {
        const int64_t id = q->p[0].list[i];
        const struct fake_row *is =
            sql_find(q, sql_row(FAKE_IDS, epoch, id, 0).key);

        if (is != NULL)
            answer(q->r, 2, (const int64_t[]){id, is->v[0]}, 2);
    }
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_ids_delete(struct sql *q)
{
    const int64_t epoch = sql_epoch(q);

    for (size_t i = 0; i < q->p[0].n; i++) {
        const struct fake_row row =
            sql_row(FAKE_IDS, epoch, q->p[0].list[i], 0);

        fake_delete(q->t, &row.key);
    }
    return FAKE_SQL_DONE;
}

/* ---- Quotas -------------------------------------------------------------- */

static struct fake_row sql_quota(const struct sql *q, size_t i)
{
    struct fake_row row = sql_row(FAKE_QUOTAS, q->p[0].list[i], 0, 0);

    memcpy(row.key.b, q->p[1].bytes + 16 * i, 16);
    return row;
}

static enum fake_sql sql_quota_lock(struct sql *q)
{
    for (size_t i = 0; i < q->p[0].n; i++) {
        struct fake_row row = sql_quota(q, i);
        const struct fake_row *is;
        struct fake_cell *c;

        if (!fake_take(q->t, &row.key, true))
            return FAKE_SQL_WAIT;
        is = sql_find(q, row.key);
        row.v[0] = is != NULL ? is->v[0] : q->p[2].list[i];
        fake_write(q->t, &row);
        c = answer(q->r, 3, (const int64_t[]){row.key.k[0], 0, row.v[0]}, 3);
        c[1].blob = fake_blob(row.key.b, 16);
    }
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_quota_use(struct sql *q)
{
    for (size_t i = 0; i < q->p[0].n; i++) {
        struct fake_row row = sql_quota(q, i);
        const struct fake_row *is = sql_find(q, row.key);

        row.v[0] = is->v[0] + q->p[2].list[i];
        fake_write(q->t, &row);
    }
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_quota_drop(struct sql *q)
{
    for (const struct fake_row *is = NULL;
         (is = sql_each(q, FAKE_QUOTAS, is)) != NULL;)
        if (is->key.k[0] <= q->p[0].v) {
            const struct fake_key key = is->key;

            if (!fake_take(q->t, &key, true))
                return FAKE_SQL_WAIT;
            fake_delete(q->t, &key);
            is = NULL;
        }
    return FAKE_SQL_DONE;
}

/* ---- Batches ------------------------------------------------------------- */

static enum fake_sql sql_batch(struct sql *q)
{
    const bool merged = strstr(q->text, "values($1, 0, 2, $2") != NULL;
    const struct fake_param *p = q->p;
    struct fake_row row = sql_row(FAKE_BATCHES, ++q->s->sequence, 0, 0);

    if (merged) {
        const int64_t v[] = {p[0].v, 0, 2, p[1].v, 0, 0, 0};

        memcpy(row.v, v, sizeof v);
        sql_put(q, &row, &p[2]);
        return FAKE_SQL_DONE;
    }
    if (p[2].v == 0 && fake_pg.slip == FAKE_AGAIN_UNWRITTEN)
        return FAKE_SQL_DONE;
    for (size_t i = 0; i < 7; i++)
        row.v[i] = p[i].v;
    sql_put(q, &row, &p[7]);
    return FAKE_SQL_DONE;
}

/* Up to $1 of them, deleted. */
static enum fake_sql sql_batches_take(struct sql *q)
{
    struct fake_row mark = sql_row(FAKE_FOLDS, 2, 0, 0);
    const struct fake_row *is = sql_find(q, mark.key);
    int64_t n = q->p[0].v;

    mark.v[0] = is != NULL ? is->v[0] : 0;
    for (const struct fake_row *row = NULL;
         n > 0 && (row = sql_each(q, FAKE_BATCHES, row)) != NULL; n--) {
        const struct fake_key key = row->key;
        struct fake_cell *c;

        if (fake_pg.slip == FAKE_WATERMARK && key.k[0] <= mark.v[0])
            continue;
        c = answer(q->r, 9, row->v, 7);
        c[7].null = true;
        answer_blob(&c[8], row->blob);
        fake_delete(q->t, &key);
        if (fake_pg.slip == FAKE_WATERMARK) {
            mark.v[0] = key.k[0];
            fake_write(q->t, &mark);
        }
        row = NULL;
    }
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_batches_sum(struct sql *q)
{
    for (const struct fake_row *row = NULL;
         (row = sql_each(q, FAKE_BATCHES, row)) != NULL;)
        if (row->v[2] == 1) { /* not summed up: who asks does that too */
            const int64_t v[] = {row->v[0],
                                 row->v[1],
                                 row->v[3],
                                 row->v[4],
                                 row->v[5],
                                 row->v[6],
                                 (int64_t)row->blob->len};

            answer(q->r, 7, v, 7);
        }
    return FAKE_SQL_DONE;
}

/* ---- Folds, counts, cells ------------------------------------------------ */

static enum fake_sql sql_round(struct sql *q)
{
    const struct fake_row row = sql_row(FAKE_FOLDS, 1, 0, 0);

    if (strstr(q->text, "for update") != NULL &&
        !fake_take(q->t, &row.key, true))
        return strstr(q->text, "skip locked") != NULL ? FAKE_SQL_DONE
                                                      : FAKE_SQL_WAIT;
    answer(q->r, 1, sql_find(q, row.key)->v, 1);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_round_set(struct sql *q)
{
    struct fake_row row = sql_row(FAKE_FOLDS, 1, 0, 0);

    row.v[0] = q->p[0].v;
    fake_write(q->t, &row);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_cells_read(struct sql *q)
{
    for (size_t i = 0; i < q->p[2].n; i++) {
        const struct fake_row *is = sql_find(
            q, sql_row(FAKE_CELLS, q->p[0].v, q->p[1].v, q->p[2].list[i]).key);

        if (is != NULL)
            answer_blob(&answer(q->r, 2, &q->p[2].list[i], 1)[1], is->blob);
    }
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_cells_put(struct sql *q)
{
    struct fake_row row = sql_row(FAKE_CELLS, q->p[0].v, q->p[1].v, q->p[2].v);

    row.v[0] = q->p[3].v;
    sql_put(q, &row, &q->p[4]);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_cells_changed(struct sql *q)
{
    for (const struct fake_row *row = NULL;
         (row = sql_each(q, FAKE_CELLS, row)) != NULL;)
        if (row->key.k[0] == q->p[0].v && row->v[0] > q->p[1].v)
            answer(q->r, 2, row->key.k + 1, 2);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_cells_fetch(struct sql *q)
{
    for (size_t i = 0; i < q->p[1].n; i++) {
        const struct fake_row *is = sql_find(
            q, sql_row(FAKE_CELLS, q->p[0].v, q->p[1].list[i], q->p[2].list[i])
                   .key);

        if (is != NULL)
            answer_blob(&answer(q->r, 3, is->key.k + 1, 2)[2], is->blob);
    }
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_counts_put(struct sql *q)
{
    struct fake_row row = sql_row(FAKE_COUNTS, q->p[0].v, q->p[1].v, 0);
    const struct fake_row *is = sql_find(q, row.key);

    row.v[0] = q->p[2].v;
    for (size_t i = 1; i < 5; i++)
        row.v[i] = q->p[2 + i].v + (is != NULL ? is->v[i] : 0);
    fake_write(q->t, &row);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_counts_changed(struct sql *q)
{
    for (const struct fake_row *row = NULL;
         (row = sql_each(q, FAKE_COUNTS, row)) != NULL;)
        if (row->v[0] > q->p[0].v) {
            const int64_t v[] = {row->key.k[0], row->key.k[1], row->v[1],
                                 row->v[2],     row->v[3],     row->v[4]};

            answer(q->r, 6, v, 6);
        }
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_counts_of(struct sql *q)
{
    for (const struct fake_row *row = NULL;
         (row = sql_each(q, FAKE_COUNTS, row)) != NULL;)
        if (row->key.k[0] == q->p[0].v)
            answer(q->r, 3,
                   (const int64_t[]){row->key.k[1], row->v[1], row->v[2]}, 3);
    return FAKE_SQL_DONE;
}

/* ---- Days ---------------------------------------------------------------- */

#define SQL_DAYS_KEY                                                           \
    (struct fake_key)                                                          \
    {                                                                          \
        .table = FAKE_DAYS, .k = { 1 }                                         \
    }

/* day, closed, purged, dropped */
static enum fake_sql sql_days(struct sql *q)
{
    const struct fake_key key = SQL_DAYS_KEY;
    const struct fake_row *is;

    if (strstr(q->text, "for update") != NULL && !fake_take(q->t, &key, true))
        return FAKE_SQL_WAIT;
    if (strstr(q->text, "for share") != NULL && !fake_take(q->t, &key, false))
        return FAKE_SQL_WAIT;
    is = sql_find(q, key);
    if (strncmp(q->text, "select dropped", 14) == 0)
        answer(q->r, 2, (const int64_t[]){is->v[3], is->v[5]}, 2);
    else
        answer(q->r, 5,
               (const int64_t[]){is->v[0], is->v[1], is->v[2], is->v[4]}, 4)[4]
            .v = (int64_t)fake_pg.now;
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_days_set(struct sql *q)
{
    const struct fake_key key = SQL_DAYS_KEY;
    struct fake_row row;

    if (!fake_take(q->t, &key, true))
        return FAKE_SQL_WAIT;
    row = *sql_find(q, key);
    if (strstr(q->text, "set day = day") != NULL) {
        /* as it is, but written */
    } else if (strstr(q->text, "set dropped") != NULL) {
        row.v[3] = q->p[0].v;
        row.v[5] = q->p[1].v;
    } else {
        if (row.v[4] != q->p[2].v)
            return FAKE_SQL_DONE; /* another node was faster */
        row.v[0] = q->p[0].v;
        row.v[1] = q->p[1].v;
        row.v[4]++;
    }
    fake_write(q->t, &row);
    q->r->changed = 1;
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_tables(struct sql *q)
{
    for (const struct fake_row *row = NULL;
         (row = sql_each(q, FAKE_EPOCHS, row)) != NULL;) {
        const int64_t epoch = row->key.k[0];

        answer(q->r, 1, &epoch, 1);
    }
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_table_make(struct sql *q)
{
    const struct fake_row row = sql_row(FAKE_EPOCHS, sql_epoch(q), 0, 0);

    if (sql_find(q, row.key) != NULL)
        return FAKE_SQL_DONE;
    if (!fake_take(q->t, &row.key, true))
        return FAKE_SQL_WAIT;
    fake_write(q->t, &row);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_table_drop(struct sql *q)
{
    const int64_t epoch = sql_epoch(q);
    const struct fake_row row = sql_row(FAKE_EPOCHS, epoch, 0, 0);

    if (!fake_take(q->t, &row.key, true))
        return FAKE_SQL_WAIT;
    for (const struct fake_row *is = NULL;
         (is = sql_each(q, FAKE_IDS, is)) != NULL;)
        if (is->key.k[0] == epoch) {
            const struct fake_key key = is->key;

            fake_delete(q->t, &key);
            is = NULL;
        }
    fake_delete(q->t, &row.key);
    return FAKE_SQL_DONE;
}

/* ---- Documents ----------------------------------------------------------- */

static const struct fake_row *sql_last(struct sql *q, enum fake_table table,
                                       int64_t *n)
{
    const struct fake_row *last = NULL;

    *n = 0;
    for (const struct fake_row *row = NULL;
         (row = sql_each(q, table, row)) != NULL; (*n)++)
        last = row;
    return last;
}

static enum fake_sql sql_version(struct sql *q)
{
    int64_t n, entries;
    const struct fake_row *last = sql_last(q, FAKE_DOCUMENTS, &n);

    (void)sql_last(q, FAKE_ENTRIES, &entries);
    answer(q->r, 2,
           (const int64_t[]){last != NULL ? last->key.k[0] : 0, entries}, 2);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_document(struct sql *q)
{
    int64_t n;
    const struct fake_row *last = sql_last(q, FAKE_DOCUMENTS, &n);

    if (last != NULL)
        answer_blob(answer(q->r, 1, NULL, 0), last->blob);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_document_put(struct sql *q)
{
    struct fake_row row = sql_row(FAKE_DOCUMENTS, q->p[0].v, 0, 0);

    sql_put(q, &row, &q->p[1]);
    return FAKE_SQL_DONE;
}

/* number, bytes, home, whole_from */
static enum fake_sql sql_entry_put(struct sql *q)
{
    struct fake_row row = sql_row(FAKE_ENTRIES, q->p[0].v, 0, 0);

    row.v[0] = q->p[2].v;
    row.v[1] = q->p[3].null;
    row.v[2] = q->p[3].v;
    sql_put(q, &row, &q->p[1]);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_entries(struct sql *q)
{
    for (const struct fake_row *row = NULL;
         (row = sql_each(q, FAKE_ENTRIES, row)) != NULL;)
        if (strstr(q->text, "whole_from") != NULL) {
            const int64_t v[] = {row->key.k[0], row->v[2], 0, row->v[0]};

            answer(q->r, 4, v, 4)[1].null = row->v[1] != 0;
        } else {
            answer_blob(&answer(q->r, 2, row->key.k, 1)[1], row->blob);
        }
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_widths(struct sql *q)
{
    for (const struct fake_row *row = NULL;
         (row = sql_each(q, FAKE_WIDTHS, row)) != NULL;)
        answer(q->r, 2, (const int64_t[]){row->key.k[0], row->v[0]}, 2);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_merged(struct sql *q)
{
    struct fake_row row = {.key = {.table = FAKE_MERGED}};

    memcpy(row.key.b, q->p[0].bytes,
           q->p[0].len < sizeof row.key.b ? q->p[0].len : sizeof row.key.b);
    if (sql_find(q, row.key) != NULL)
        return FAKE_SQL_DONE;
    if (!fake_take(q->t, &row.key, true))
        return FAKE_SQL_WAIT;
    fake_write(q->t, &row);
    q->r->changed = 1;
    return FAKE_SQL_DONE;
}

/* ---- Meta ---------------------------------------------------------------- */

static enum fake_sql sql_count(struct sql *q)
{
    answer(q->r, 1, (const int64_t[]){22}, 1);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_meta(struct sql *q)
{
    int64_t shard = 0;
    struct fake_cell *c;

    for (size_t i = 0; i < FAKE_SHARDS; i++)
        for (size_t k = 0; k < 2; k++)
            if (q->s == &fake_pg.shards[i].servers[k])
                shard = (int64_t)i;
    c = answer(q->r, 5, (const int64_t[]){1, 0, 0, shard, 0}, 5);
    c[1].blob = fake_blob("sixteen bytes...", 16);
    c[2].blob = fake_blob("thirty-two bytes that are a key.", 32);
    return FAKE_SQL_DONE;
}

static enum fake_sql sql_nothing(struct sql *q)
{
    (void)q;
    return FAKE_SQL_DONE;
}

static const struct {
    const char *begins;
    sql_does *does;
} sql_all[] = {{"insert into ids_", sql_ids_insert},
               {"select id, rest from ids_", sql_ids_select},
               {"delete from ids_", sql_ids_delete},
               {"insert into quotas select", sql_quota_lock},
               {"update quotas set used", sql_quota_use},
               {"delete from quotas where epoch <= $1", sql_quota_drop},
               {"insert into batches(", sql_batch},
               {"with few as (select number", sql_batches_take},
               {"select entry, epoch, sum(reports)", sql_batches_sum},
               {"select round from folds", sql_round},
               {"update folds set round", sql_round_set},
               {"select place, words from cells", sql_cells_read},
               {"insert into cells(", sql_cells_put},
               {"select epoch, place from cells", sql_cells_changed},
               {"select c.epoch, c.place, c.words", sql_cells_fetch},
               {"insert into counts(", sql_counts_put},
               {"select entry, epoch, reports, nulls, ids", sql_counts_changed},
               {"select epoch, reports, nulls from counts", sql_counts_of},
               {"select day, closed, purged", sql_days},
               {"select dropped, heeded from days", sql_days},
               {"select 1 from days", sql_days},
               {"update days set", sql_days_set},
               {"select substr(table_name, 5)", sql_tables},
               {"create table if not exists ids_", sql_table_make},
               {"drop table if exists ids_", sql_table_drop},
               {"select coalesce(max(version), 0)", sql_version},
               {"select (select coalesce(max(version)", sql_version},
               {"select bytes from documents", sql_document},
               {"insert into documents", sql_document_put},
               {"delete from documents", sql_nothing}, /* the last one counts */
               {"insert into entries(", sql_entry_put},
               {"select number, bytes from entries", sql_entries},
               {"select number, whole_from", sql_entries},
               {"select epoch, shards from widths", sql_widths},
               {"insert into merged", sql_merged},
               {"select count(*)::int8 from information_schema", sql_count},
               {"select version, cluster, key, shard", sql_meta},
               {"insert into nodes", sql_nothing},
               {"select name, version, extract", sql_nothing},
               {"set local lock_timeout", sql_nothing},
               /* Nobody here reads a table for long: no drop is given up. */
               {"savepoint heed", sql_nothing}};

enum fake_sql fake_sql(struct fake_tx *t, const char *sql,
                       const struct pg_params *p, struct pg_rows *r,
                       char state[6])
{
    struct sql q = {t, t->server, sql, p->p, r, state};

    for (size_t i = 0; i < sizeof sql_all / sizeof *sql_all; i++)
        if (strncmp(sql, sql_all[i].begins, strlen(sql_all[i].begins)) == 0)
            return sql_all[i].does(&q);
    fprintf(stderr, "fake_sql.c does not know: %s\n", sql);
    abort();
}

void fake_sql_tables(struct fake_db *db, size_t shards)
{
    struct fake_server *s = &db->servers[db->primary];
    struct fake_tx *t = fake_begin(s);
    struct fake_row row = {.key = SQL_DAYS_KEY};

    fake_write(t, &row);
    row = sql_row(FAKE_FOLDS, 1, 0, 0);
    fake_write(t, &row);
    row = sql_row(FAKE_WIDTHS, 0, 0, 0);
    row.v[0] = (int64_t)shards;
    fake_write(t, &row);
    fake_commit(t);
    fake_replicate(db, UINT64_MAX);
    fake_let_go(t);
}
