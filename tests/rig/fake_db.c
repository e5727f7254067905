/* fake_db.c - see fake_db.h. */

#include "rig/fake_db.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rows ---------------------------------------------------------------- */

struct fake_blob *fake_blob(const void *bytes, size_t len)
{
    struct fake_blob *b = malloc(sizeof *b + len + 1);

    b->refs = 1;
    b->len = len;
    if (len != 0)
        memcpy(b->bytes, bytes, len);
    b->bytes[len] = 0;
    return b;
}

void fake_blob_drop(struct fake_blob *b)
{
    if (b != NULL && --b->refs == 0)
        free(b);
}

static int fake_compare(const struct fake_key *a, const struct fake_key *b)
{
    if (a->table != b->table)
        return a->table < b->table ? -1 : 1;
    for (size_t i = 0; i < 3; i++)
        if (a->k[i] != b->k[i])
            return a->k[i] < b->k[i] ? -1 : 1;
    return memcmp(a->b, b->b, sizeof a->b);
}

/* Where a key stands, or would. */
static size_t fake_place(const struct fake_rows *r, const struct fake_key *key)
{
    size_t low = 0, high = r->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (fake_compare(&r->all[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool fake_at(const struct fake_rows *r, size_t i,
                    const struct fake_key *key)
{
    return i < r->n && fake_compare(&r->all[i].key, key) == 0;
}

static void fake_set(struct fake_rows *r, const struct fake_row *row)
{
    const size_t i = fake_place(r, &row->key);

    if (row->blob != NULL)
        row->blob->refs++;
    if (fake_at(r, i, &row->key)) {
        fake_blob_drop(r->all[i].blob);
        r->all[i] = *row;
        return;
    }
    if (r->n == r->room) {
        r->room = 2 * r->room + 16;
        r->all = realloc(r->all, r->room * sizeof *r->all);
    }
    memmove(r->all + i + 1, r->all + i, (r->n - i) * sizeof *r->all);
    r->all[i] = *row;
    r->n++;
}

static void fake_unset(struct fake_rows *r, const struct fake_key *key)
{
    const size_t i = fake_place(r, key);

    if (!fake_at(r, i, key))
        return;
    fake_blob_drop(r->all[i].blob);
    r->n--;
    memmove(r->all + i, r->all + i + 1, (r->n - i) * sizeof *r->all);
}

static void fake_apply(struct fake_rows *to, const struct fake_rows *writes)
{
    for (size_t i = 0; i < writes->n; i++)
        if (writes->all[i].gone)
            fake_unset(to, &writes->all[i].key);
        else
            fake_set(to, &writes->all[i]);
}

static void fake_clear(struct fake_rows *r)
{
    for (size_t i = 0; i < r->n; i++)
        fake_blob_drop(r->all[i].blob);
    free(r->all);
    *r = (struct fake_rows){NULL, 0, 0};
}

/* ---- Transactions -------------------------------------------------------- */

struct fake_tx *fake_begin(struct fake_server *s)
{
    struct fake_tx *t = calloc(1, sizeof *t);

    t->server = s;
    t->held = true;
    t->next = s->txs;
    s->txs = t;
    return t;
}

const struct fake_row *fake_find(const struct fake_server *s,
                                 const struct fake_tx *t,
                                 const struct fake_key *key)
{
    const size_t own = fake_place(&t->writes, key);
    const size_t i = fake_place(&s->rows, key);

    if (fake_at(&t->writes, own, key))
        return t->writes.all[own].gone ? NULL : &t->writes.all[own];
    return fake_at(&s->rows, i, key) ? &s->rows.all[i] : NULL;
}

const struct fake_row *fake_next(const struct fake_server *s,
                                 const struct fake_tx *t,
                                 const struct fake_key *key)
{
    size_t own = fake_place(&t->writes, key), i = fake_place(&s->rows, key);

    own += fake_at(&t->writes, own, key);
    i += fake_at(&s->rows, i, key);
    for (;;) {
        const struct fake_row *mine =
            own < t->writes.n ? &t->writes.all[own] : NULL;
        const struct fake_row *all = i < s->rows.n ? &s->rows.all[i] : NULL;
        const int order = mine == NULL  ? 1
                          : all == NULL ? -1
                                        : fake_compare(&mine->key, &all->key);
        const struct fake_row *row = order <= 0 ? mine : all;

        if (row == NULL || row->key.table != key->table)
            return NULL;
        own += order <= 0;
        i += order >= 0;
        if (!row->gone)
            return row;
    }
}

void fake_write(struct fake_tx *t, const struct fake_row *row)
{
    fake_set(&t->writes, row);
}

void fake_delete(struct fake_tx *t, const struct fake_key *key)
{
    const struct fake_row row = {.key = *key, .gone = true};

    fake_set(&t->writes, &row);
}

bool fake_take(struct fake_tx *t, const struct fake_key *key, bool exclusive)
{
    for (const struct fake_tx *o = t->server->txs; o != NULL; o = o->next)
        for (size_t i = 0; o != t && i < o->nlocks; i++)
            if (fake_compare(&o->locks[i].key, key) == 0 &&
                (exclusive || o->locks[i].exclusive))
                return false;
    if (t->nlocks == t->locks_room) {
        t->locks_room = 2 * t->locks_room + 16;
        t->locks = realloc(t->locks, t->locks_room * sizeof *t->locks);
    }
    t->locks[t->nlocks++] = (struct fake_lock){*key, exclusive};
    return true;
}

/* Nobody needs it any more. */
static void fake_reap(struct fake_server *s)
{
    for (struct fake_tx **at = &s->txs; *at != NULL;) {
        struct fake_tx *t = *at;

        if (t->held || t->state == FAKE_ACTIVE || t->state == FAKE_WAITING) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        fake_clear(&t->writes);
        free(t->locks);
        free(t);
    }
}

static void fake_finish(struct fake_tx *t, enum fake_state state)
{
    if (state == FAKE_DONE)
        fake_apply(&t->server->rows, &t->writes);
    t->state = state;
    t->nlocks = 0;
}

void fake_commit(struct fake_tx *t)
{
    struct fake_server *s = t->server;

    if (t->writes.n == 0) { /* nothing to wait for */
        fake_finish(t, FAKE_DONE);
        return;
    }
    if (s->nlog == s->log_room) {
        s->log_room = 2 * s->log_room + 16;
        s->log = realloc(s->log, s->log_room * sizeof *s->log);
    }
    s->log[s->nlog] = (struct fake_rows){NULL, 0, 0};
    for (size_t i = 0; i < t->writes.n; i++)
        fake_set(&s->log[s->nlog], &t->writes.all[i]);
    s->nlog++;
    t->lsn = ++s->lsn;
    t->state = FAKE_WAITING;
}

void fake_rollback(struct fake_tx *t)
{
    if (t->state == FAKE_ACTIVE)
        fake_finish(t, FAKE_FAILED);
    fake_let_go(t);
}

void fake_let_go(struct fake_tx *t)
{
    if (t->state == FAKE_ACTIVE)
        fake_finish(t, FAKE_FAILED);
    t->held = false;
    fake_reap(t->server);
}

/* ---- What happens to servers --------------------------------------------- */

void fake_replicate(struct fake_db *db, uint64_t records)
{
    struct fake_server *p = &db->servers[db->primary];
    struct fake_server *s = &db->servers[1 - db->primary];
    size_t n = 0;

    if (!db->standby)
        return;
    for (; n < records && n < p->nlog; n++) {
        fake_apply(&s->rows, &p->log[n]);
        fake_clear(&p->log[n]);
    }
    p->nlog -= n;
    memmove(p->log, p->log + n, p->nlog * sizeof *p->log);
    s->sequence = p->sequence + 32; /* a sequence is logged ahead */
    for (struct fake_tx *t = p->txs; t != NULL; t = t->next)
        if (t->state == FAKE_WAITING && t->lsn + p->nlog <= p->lsn)
            fake_finish(t, FAKE_DONE);
    fake_reap(p);
}

void fake_cancel_wait(struct fake_tx *t)
{
    if (t->state != FAKE_WAITING)
        return;
    t->warned = true;
    fake_finish(t, FAKE_DONE);
}

void fake_restart(struct fake_server *s)
{
    struct fake_tx *first;

    do { /* in the order of the log */
        first = NULL;
        for (struct fake_tx *t = s->txs; t != NULL; t = t->next)
            if (t->state == FAKE_WAITING &&
                (first == NULL || t->lsn < first->lsn))
                first = t;
        if (first != NULL)
            fake_finish(first, FAKE_DONE);
    } while (first != NULL);
    for (struct fake_tx *t = s->txs; t != NULL; t = t->next)
        if (t->state == FAKE_ACTIVE)
            fake_finish(t, FAKE_FAILED);
    s->life++;
    fake_reap(s);
}

void fake_promote(struct fake_db *db, bool zombie)
{
    struct fake_server *old = &db->servers[db->primary];
    struct fake_server *new = &db->servers[1 - db->primary];

    if (!db->standby)
        return;
    db->standby = false;
    db->primary = 1 - db->primary;
    new->up = new->primary = true;
    new->timeline = old->timeline + 1;
    if (!zombie) {
        fake_restart(old);
        old->up = old->primary = false;
    }
}

void fake_rejoin(struct fake_db *db)
{
    struct fake_server *p = &db->servers[db->primary];
    struct fake_server *s = &db->servers[1 - db->primary];

    if (db->standby)
        return;
    fake_restart(s);
    s->up = true;
    s->primary = false;
    for (size_t i = 0; i < s->nlog; i++)
        fake_clear(&s->log[i]);
    s->nlog = 0;
    fake_clear(&s->rows);
    fake_apply(&s->rows, &p->rows);
    /* What waits in the primary is in its log, and comes later. */
    s->sequence = p->sequence + 32;
    for (size_t i = 0; i < p->nlog; i++)
        fake_apply(&s->rows, &p->log[i]);
    db->standby = true;
    fake_replicate(db, UINT64_MAX);
}

void fake_db_open(struct fake_db *db)
{
    memset(db, 0, sizeof *db);
    for (size_t i = 0; i < 2; i++)
        db->servers[i] = (struct fake_server){.up = true, .timeline = 1};
    db->servers[0].primary = true;
    db->standby = true;
}

void fake_db_close(struct fake_db *db)
{
    for (size_t i = 0; i < 2; i++) {
        struct fake_server *s = &db->servers[i];

        for (struct fake_tx *t = s->txs; t != NULL; t = t->next) {
            t->held = false;
            t->state = FAKE_FAILED;
        }
        fake_reap(s);
        fake_clear(&s->rows);
        for (size_t k = 0; k < s->nlog; k++)
            fake_clear(&s->log[k]);
        free(s->log);
    }
}
