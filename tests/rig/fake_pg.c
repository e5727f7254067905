/* fake_pg.c - see fake_pg.h. */
#define _GNU_SOURCE

#include "rig/fake_pg.h"

#include "rig/fake_sql.h"

#include <stdlib.h>
#include <string.h>

struct fake_pg fake_pg;

#define FAKE_PUTS 64u /* statements of a turn */

struct fake_put {
    char *sql;
    struct pg_params params;
};

struct pg_place {
    unsigned shard, client;
    uint32_t timeline; /* the highest seen */
    uint64_t connected;
};

struct pg_link {
    struct pg_place *place;
    struct fake_server *server; /* NULL: not connected */
    uint64_t life, session;
    struct fake_tx *tx;
    bool failed, warned;
    struct fake_put puts[FAKE_PUTS];
    struct pg_rows *answers[FAKE_PUTS];
    size_t nputs, done, taken;
    bool refused; /* the statement after the last that was done */
    char state[6];
};

/* ---- Places and links ---------------------------------------------------- */

hsy_status pg_place_open(struct pg_place **out, const char *url,
                         char reason[PG_REASON], hsy_error *err)
{
    (void)reason;
    (void)err;
    *out = calloc(1, sizeof **out);
    (*out)->shard = (unsigned)(url[0] - '0');
    (*out)->client = fake_pg.client;
    return HSY_OK;
}

void pg_place_close(struct pg_place *p)
{
    free(p);
}

const char *pg_place_name(const struct pg_place *p)
{
    return p->shard == 0 ? "shard 0" : "shard 1";
}

const char *pg_place_file(const struct pg_place *p, unsigned which)
{
    (void)p;
    (void)which;
    return NULL;
}

void pg_place_found(struct pg_place *p, struct pg_found *out)
{
    *out = (struct pg_found){.timeline = p->timeline,
                             .replicated = true,
                             .standby = true,
                             .version = 150000,
                             .connected = p->connected,
                             .reachable = true};
}

void pg_look(struct pg_place *p)
{
    for (size_t i = 0; i < 2; i++) {
        const struct fake_server *s = &fake_pg.shards[p->shard].servers[i];

        if (s->up && s->primary && fake_pg.reaches[p->client][i] &&
            s->timeline > p->timeline)
            p->timeline = s->timeline;
    }
}

struct pg_link *pg_link_new(struct pg_place *p)
{
    struct pg_link *l = calloc(1, sizeof *l);

    l->place = p;
    return l;
}

static void link_clear(struct pg_link *l)
{
    for (size_t i = 0; i < l->nputs; i++) {
        free(l->puts[i].sql);
        fake_params_clear(&l->puts[i].params);
    }
    for (size_t i = l->taken; i < l->done; i++)
        pg_rows_free(l->answers[i]);
    l->nputs = l->done = l->taken = 0;
    l->refused = false;
}

static bool link_alive(const struct pg_link *l)
{
    return l->server != NULL && l->server->up && l->server->primary &&
           l->server->life == l->life && !fake_pg.dead[l->place->client];
}

bool pg_connected(const struct pg_link *l)
{
    return l->server != NULL;
}

/* What was sent is done whoever listens: a commit that waits goes on. */
void pg_drop(struct pg_link *l)
{
    if (l->tx != NULL)
        fake_let_go(l->tx);
    l->tx = NULL;
    l->server = NULL;
    l->failed = l->warned = false;
    link_clear(l);
}

void pg_link_free(struct pg_link *l)
{
    if (l == NULL)
        return;
    pg_drop(l);
    free(l);
}

static hsy_status link_lost(struct pg_link *l, hsy_error *err)
{
    pg_drop(l);
    if (err != NULL)
        *err = (hsy_error){.status = HSY_E_BUSY, .msg = "lost"};
    return HSY_E_BUSY;
}

hsy_status pg_connect(struct pg_link *l, hsy_error *err)
{
    struct pg_place *p = l->place;
    struct fake_db *db = &fake_pg.shards[p->shard];
    struct fake_server *best = NULL;

    if (link_alive(l) && l->server->timeline >= p->timeline)
        return HSY_OK;
    pg_drop(l);
    for (size_t i = 0; i < 2; i++) {
        struct fake_server *s = &db->servers[i];

        if (s->up && s->primary && fake_pg.reaches[p->client][i] &&
            s->timeline >= p->timeline &&
            (best == NULL || s->timeline > best->timeline))
            best = s;
    }
    if (best == NULL || fake_pg.dead[p->client])
        return link_lost(l, err);
    l->server = best;
    l->life = best->life;
    l->session++;
    p->connected++;
    p->timeline = best->timeline;
    return HSY_OK;
}

uint64_t pg_session(const struct pg_link *l)
{
    return l->session;
}

void pg_patience(struct pg_link *l, unsigned milliseconds)
{
    (void)l;
    (void)milliseconds;
}

const char *pg_reason(const struct pg_link *l)
{
    return l->state;
}

const char *pg_state(const struct pg_link *l)
{
    return l->state;
}

/* ---- A turn -------------------------------------------------------------- */

hsy_status pg_put_list(struct pg_link *l, hsy_error *err, const char *sql,
                       const char *form, va_list values)
{
    struct fake_put *put = &l->puts[l->nputs];

    if (l->server == NULL)
        return link_lost(l, err);
    if (l->nputs++ == FAKE_PUTS)
        abort();
    *put = (struct fake_put){.sql = strdup(sql)};
    pg_values(&put->params, form, values);
    return HSY_OK;
}

/* A commit, and its wait for the standby. */
static bool link_commit(struct pg_link *l, struct pg_rows *r)
{
    struct fake_tx *t = l->tx;

    if (t == NULL)
        return true;
    if (l->failed) {
        l->failed = false;
        fake_rollback(t);
        l->tx = NULL;
        return true; /* it says ROLLBACK */
    }
    fake_commit(t);
    for (unsigned spins = 0; t->state == FAKE_WAITING; spins++)
        if (!fake_pg.wait(spins) || !link_alive(l))
            return false;
    if (!link_alive(l))
        return false;
    r->commit = t->state == FAKE_DONE;
    fake_pg.commits += r->commit;
    fake_pg.warnings += t->warned;
    l->warned = t->warned;
    fake_let_go(t);
    l->tx = NULL;
    return true;
}

/* One statement; FAKE_SQL_WAIT is tried again until it is not. */
static enum fake_sql link_do(struct pg_link *l, struct fake_put *p,
                             struct pg_rows *r)
{
    enum fake_sql said = FAKE_SQL_WAIT;

    for (unsigned spins = 0; said == FAKE_SQL_WAIT; spins++) {
        if (!link_alive(l))
            return FAKE_SQL_WAIT;
        fake_rows_clear(r);
        said = fake_sql(l->tx, p->sql, &p->params, r, l->state);
        if (said == FAKE_SQL_WAIT && !fake_pg.wait(spins))
            return FAKE_SQL_WAIT;
    }
    return said;
}

/* False: the link is lost. */
static bool link_statement(struct pg_link *l, struct fake_put *p)
{
    struct pg_rows *r = calloc(1, sizeof *r);
    const bool own = l->tx == NULL && strncmp(p->sql, "begin", 5) != 0 &&
                     strcmp(p->sql, "commit") != 0 &&
                     strcmp(p->sql, "rollback") != 0;
    enum fake_sql said = FAKE_SQL_DONE;
    bool good = true;

    if (strncmp(p->sql, "begin", 5) == 0 || own)
        l->tx = fake_begin(l->server);
    if (strcmp(p->sql, "commit") == 0) {
        good = link_commit(l, r);
    } else if (strcmp(p->sql, "rollback") == 0) {
        if (l->tx != NULL)
            fake_rollback(l->tx);
        l->tx = NULL;
        l->failed = false;
    } else if (strncmp(p->sql, "begin", 5) != 0) {
        said = l->failed ? FAKE_SQL_REFUSED : link_do(l, p, r);
        good = said != FAKE_SQL_WAIT;
        if (good && own && said == FAKE_SQL_DONE)
            good = link_commit(l, r);
        else if (good && own)
            fake_rollback(l->tx);
        l->tx = own ? NULL : l->tx;
    }
    if (said == FAKE_SQL_REFUSED) {
        fake_pg.refusals++;
        l->failed = l->tx != NULL;
        l->refused = true;
    }
    if (good && said == FAKE_SQL_DONE)
        l->answers[l->done++] = r;
    else
        pg_rows_free(r);
    return good;
}

hsy_status pg_turn(struct pg_link *l, hsy_error *err)
{
    const enum fake_fate fate = fake_pg.fate();
    bool good = fate != FAKE_LOST && link_alive(l);

    l->warned = false;
    l->state[0] = '\0';
    for (size_t i = 0; i < l->nputs && good && !l->refused; i++) {
        while (i != 0 && fake_pg.pauses())
            (void)fake_pg.wait(0);
        good = link_alive(l) && link_statement(l, &l->puts[i]);
    }
    return good && fate == FAKE_ARRIVES && link_alive(l) ? HSY_OK
                                                         : link_lost(l, err);
}

static hsy_status link_refuses(hsy_error *err)
{
    if (err != NULL)
        *err = (hsy_error){.status = HSY_E_REFUSED, .msg = "refused"};
    return HSY_E_REFUSED;
}

hsy_status pg_take(struct pg_link *l, struct pg_rows **rows, hsy_error *err)
{
    if (rows != NULL)
        *rows = NULL;
    if (l->server == NULL)
        return link_lost(l, err);
    if (l->taken == l->done)
        return l->refused ? link_refuses(err) : link_lost(l, err);
    if (rows != NULL)
        *rows = l->answers[l->taken++];
    else
        pg_rows_free(l->answers[l->taken++]);
    return HSY_OK;
}

hsy_status pg_end(struct pg_link *l, hsy_error *err)
{
    const bool refused = l->refused;

    if (l->server == NULL)
        return link_lost(l, err);
    link_clear(l);
    return refused ? link_refuses(err) : HSY_OK;
}

bool pg_is_commit(const struct pg_link *l, const struct pg_rows *r)
{
    return r->commit && (!l->warned || fake_pg.slip == FAKE_TRUSTS_WARNING) &&
           l->server->timeline >= l->place->timeline;
}

hsy_status pg_commit(struct pg_link *l, hsy_error *err)
{
    struct pg_rows *r = NULL;
    const hsy_status st = pg_ask(l, &r, err, "commit", "");
    const bool certain = st == HSY_OK && pg_is_commit(l, r);

    pg_rows_free(r);
    return certain ? HSY_OK : link_lost(l, err);
}

void pg_rollback(struct pg_link *l)
{
    if (l->server == NULL)
        return;
    (void)pg_ask(l, NULL, NULL, "rollback", "");
}

hsy_status pg_verify(struct pg_link *l, hsy_error *err)
{
    (void)l;
    (void)err;
    return HSY_OK;
}

/* ---- Opening ------------------------------------------------------------- */

void fake_pg_open(size_t shards)
{
    for (size_t i = 0; i < FAKE_SHARDS; i++) {
        fake_db_open(&fake_pg.shards[i]);
        fake_sql_tables(&fake_pg.shards[i], shards);
    }
    for (size_t i = 0; i < FAKE_CLIENTS; i++)
        fake_pg.reaches[i][0] = fake_pg.reaches[i][1] = true;
}

void fake_pg_close(void)
{
    for (size_t i = 0; i < FAKE_SHARDS; i++)
        fake_db_close(&fake_pg.shards[i]);
    memset(&fake_pg, 0, sizeof fake_pg);
}
