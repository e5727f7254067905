/*
 * connect.c - which server is primary, and whether it may be trusted.
 *
 * All servers are asked at once, so that one that is frozen costs nothing. Each
 * that is not in recovery says its timeline; a server that was cut off while
 * another was promoted is on an older one. Its commits could not wait for a
 * standby any more, but time would be lost with it.
 */
#define _GNU_SOURCE
#include "server/postgres/internal.h"

#include "host/base/host_fail.h"
#include "host/base/steady.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define CONNECT_WHOLE 2500u  /* milliseconds for all of it */
#define CONNECT_OTHERS 400u  /* for the others, after the first primary, */
#define CONNECT_DEAD 1000u   /* or after the first standby, soon promoted */
#define CONNECT_LEAST 140000 /* PostgreSQL 14: what follows is in it */

/* Settings under which something acknowledged could be lost, or ids and reports
 * be read in a log (P7). The first column is true if all is well. */
static const struct {
    const char *sql, *reason;
    bool logs; /* a server that breaks it logs ids and reports */
} connect_rules[] = {
    {"current_setting('fsync') = 'on'", "fsync is off: a crash loses commits",
     false},
    {"current_setting('full_page_writes') = 'on'",
     "full_page_writes is off: a crash damages tables", false},
    /* It stays so for this session, whatever is reloaded meanwhile; but a
     * session that began now must have it too. */
    {"set_config('synchronous_commit', current_setting('synchronous_commit'), "
     "false) in ('on', 'remote_apply') and (select reset_val from pg_settings "
     "where name = 'synchronous_commit') in ('on', 'remote_apply')",
     "synchronous_commit is not 'on': commits would be acknowledged that a "
     "crash loses",
     false},
    {"current_setting('log_statement') in ('none', 'ddl') or "
     "current_setting('log_parameter_max_length') = '0'",
     "log_statement logs parameters: ids and reports would stand in the log",
     true},
    {"(current_setting('log_min_duration_statement') = '-1' and "
     "current_setting('log_min_duration_sample') = '-1' and "
     "current_setting('log_transaction_sample_rate') = '0') or "
     "current_setting('log_parameter_max_length') = '0'",
     "slow statements are logged with their parameters: set "
     "log_parameter_max_length = 0",
     true},
    {"current_setting('log_parameter_max_length_on_error') = '0'",
     "parameters of failed statements are logged: set "
     "log_parameter_max_length_on_error = 0",
     true},
    {"coalesce(current_setting('auto_explain.log_min_duration', true), '-1') "
     "in ('-1', '')",
     "auto_explain logs statements with their parameters", true},
    {"current_setting('track_commit_timestamp') = 'off'",
     "track_commit_timestamp is on: it notes when each upload came", false},
};

#define CONNECT_RULES (sizeof connect_rules / sizeof *connect_rules)

/* Columns of the question, before those of the rules. */
enum {
    CONNECT_PRIMARY,
    CONNECT_TIMELINE,
    CONNECT_REPLICATED,
    CONNECT_STANDBY,
    CONNECT_FIRST_RULE
};

struct connect_try {
    PGconn *conn; /* NULL: failed */
    enum { CONNECT_STARTS, CONNECT_ASKS, CONNECT_ENDS, CONNECT_KNOWN } state;
    PostgresPollingStatusType wants;
    bool primary, replicated, standby;
    uint32_t timeline;
    uint64_t bad; /* bits of connect_rules that do not hold */
};

struct connect {
    struct pg_place *p;
    const struct pq *pq;
    struct connect_try all[PG_HOSTS];
    char *reason;
    hsy_status st;
    bool standby;  /* one has answered */
    uint32_t seen; /* the highest timeline before this */
    size_t skip;   /* the host that is not asked; PG_HOSTS: none */
};

static void connect_lost(struct connect *c, struct connect_try *t,
                         const char *why)
{
    if (why != NULL)
        pg_say(c->reason, why);
    c->pq->finish(t->conn);
    t->conn = NULL;
}

/* Warnings of a connection that is being made are nobody's. */
static void connect_quiet(void *ctx, const PGresult *result)
{
    (void)ctx;
    (void)result;
}

static void connect_start(struct connect *c, size_t i)
{
    const struct pg_place *p = c->p;
    const struct pg_host *h = &p->hosts[i];
    const char *keys[PG_WORDS + 5], *values[PG_WORDS + 5];
    struct connect_try *t = &c->all[i];
    size_t n = 0;

    for (size_t k = 0; k < p->nwords; k++) {
        keys[n] = p->words[k].key;
        values[n++] = p->words[k].value;
    }
    keys[n] = "host";
    values[n++] = h->name;
    keys[n] = "port";
    values[n++] = h->port;
    if (h->address != NULL) {
        keys[n] = "hostaddr";
        values[n++] = h->address;
    }
    if (h->password != NULL) {
        keys[n] = "password";
        values[n++] = h->password;
    }
    keys[n] = NULL;
    values[n] = NULL;
    t->conn = c->pq->connectStartParams(keys, values, 0);
    if (t->conn == NULL)
        return;
    (void)c->pq->setNoticeReceiver(t->conn, connect_quiet, NULL);
    t->wants = PGRES_POLLING_WRITING;
    if (c->pq->status(t->conn) == CONNECTION_BAD)
        connect_lost(c, t, c->pq->errorMessage(t->conn));
}

/* ---- What a server says -------------------------------------------------- */

static char *connect_question(void)
{
    char *sql = NULL;
    size_t len;
    FILE *f = open_memstream(&sql, &len);

    if (f == NULL)
        return NULL;
    fputs("select not pg_is_in_recovery() and "
          "current_setting('transaction_read_only') = 'off', "
          "case when pg_is_in_recovery() then '' else "
          "substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) end, "
          "current_setting('synchronous_standby_names') <> '', "
          /* A role without pg_read_all_stats sees that a WAL sender exists,
           * but not its state: any sender may be the standby then. */
          "exists (select from pg_stat_replication where sync_state is null or "
          "sync_state in ('sync', 'quorum'))",
          f);
    for (size_t i = 0; i < CONNECT_RULES; i++)
        fprintf(f, ", (%s)", connect_rules[i].sql);
    if (fclose(f) == 0)
        return sql;
    free(sql);
    return NULL;
}

static void connect_ask(struct connect *c, struct connect_try *t)
{
    char *sql = connect_question();

    if (c->pq->serverVersion(t->conn) < CONNECT_LEAST) {
        c->st = HSY_E_REFUSED;
        connect_lost(c, t, "the server is older than PostgreSQL 14");
    } else if (sql == NULL ||
               c->pq->sendQueryParams(t->conn, sql, 0, NULL, NULL, NULL, NULL,
                                      0) != 1) {
        connect_lost(c, t, c->pq->errorMessage(t->conn));
    } else {
        t->state = CONNECT_ASKS;
        t->wants = PGRES_POLLING_READING;
    }
    free(sql);
}

static bool connect_true(const struct connect *c, const PGresult *r, int column)
{
    return c->pq->getvalue(r, 0, column)[0] == 't';
}

/* All of the answer, as far as it has come: a server that stops in the middle
 * is not waited for here. */
static void connect_rest(struct connect *c, struct connect_try *t)
{
    PGresult *more;

    while (!c->pq->isBusy(t->conn)) {
        more = c->pq->getResult(t->conn);
        if (more != NULL) {
            c->pq->clear(more);
            continue;
        }
        t->state = CONNECT_KNOWN;
        c->standby = c->standby || !t->primary;
        if (!t->primary)
            connect_lost(c, t, "no server takes writes: all are standbys");
        return;
    }
}

static void connect_answer(struct connect *c, struct connect_try *t)
{
    PGresult *r = c->pq->getResult(t->conn);

    if (r == NULL || c->pq->resultStatus(r) != PGRES_TUPLES_OK ||
        c->pq->ntuples(r) != 1) {
        connect_lost(c, t, c->pq->errorMessage(t->conn));
        c->pq->clear(r);
        return;
    }
    t->primary = connect_true(c, r, CONNECT_PRIMARY);
    t->timeline =
        (uint32_t)strtoul(c->pq->getvalue(r, 0, CONNECT_TIMELINE), NULL, 16);
    t->replicated = connect_true(c, r, CONNECT_REPLICATED);
    t->standby = connect_true(c, r, CONNECT_STANDBY);
    for (size_t i = 0; i < CONNECT_RULES; i++)
        if (!connect_true(c, r, CONNECT_FIRST_RULE + (int)i))
            t->bad |= UINT64_C(1) << i;
    c->pq->clear(r);
    t->state = CONNECT_ENDS;
    connect_rest(c, t);
}

/* ---- All of them --------------------------------------------------------- */

static void connect_step(struct connect *c, struct connect_try *t)
{
    if (t->state == CONNECT_STARTS) {
        t->wants = c->pq->connectPoll(t->conn);
        if (t->wants == PGRES_POLLING_FAILED)
            connect_lost(c, t, c->pq->errorMessage(t->conn));
        else if (t->wants == PGRES_POLLING_OK)
            connect_ask(c, t);
    } else if (c->pq->consumeInput(t->conn) != 1) {
        connect_lost(c, t, c->pq->errorMessage(t->conn));
    } else if (t->state == CONNECT_ENDS) {
        connect_rest(c, t);
    } else if (!c->pq->isBusy(t->conn)) {
        connect_answer(c, t);
    }
}

/* Let those that wait go on; false: none does. */
static bool connect_round(struct connect *c, int milliseconds)
{
    struct pollfd fds[PG_HOSTS];
    struct connect_try *who[PG_HOSTS];
    nfds_t n = 0;

    for (size_t i = 0; i < c->p->nhosts; i++) {
        struct connect_try *t = &c->all[i];

        if (t->conn == NULL || t->state == CONNECT_KNOWN)
            continue;
        who[n] = t;
        fds[n++] = (struct pollfd){
            .fd = c->pq->socket(t->conn),
            .events = t->wants == PGRES_POLLING_WRITING ? POLLOUT : POLLIN};
    }
    if (n == 0)
        return false;
    if (poll(fds, n, milliseconds) > 0)
        for (nfds_t i = 0; i < n; i++)
            if (fds[i].revents != 0)
                connect_step(c, who[i]);
    return true;
}

static bool connect_any(const struct connect *c)
{
    for (size_t i = 0; i < c->p->nhosts; i++)
        if (c->all[i].conn != NULL && c->all[i].state == CONNECT_KNOWN)
            return true;
    return false;
}

/* Somebody was promoted since the last time: who still does not answer is most
 * likely whom he follows. */
static bool connect_newer(const struct connect *c)
{
    for (size_t i = 0; c->seen != 0 && i < c->p->nhosts; i++)
        if (c->all[i].conn != NULL && c->all[i].state == CONNECT_KNOWN &&
            c->all[i].timeline > c->seen)
            return true;
    return false;
}

/* Whose machine is dead never answers. Who waits for it all the time is late
 * for the standby that is promoted meanwhile. */
static void connect_all(struct connect *c)
{
    uint64_t until = steady_ms() + CONNECT_WHOLE, now = steady_ms();
    uint64_t rest = CONNECT_WHOLE;

    for (size_t i = 0; i < c->p->nhosts; i++)
        if (i != c->skip)
            connect_start(c, i);
    while (now < until && !connect_newer(c) &&
           connect_round(c, (int)(until - now))) {
        uint64_t left = rest;

        now = steady_ms();
        if (connect_any(c))
            left = CONNECT_OTHERS;
        else if (c->standby)
            left = CONNECT_DEAD;
        if (left < rest && now + left < until)
            until = now + left;
        rest = left;
    }
}

/* The highest timeline, no lower than any seen before; the others are let go.
 */
static struct connect_try *connect_choose(struct connect *c)
{
    struct connect_try *best = NULL;

    for (size_t i = 0; i < c->p->nhosts; i++) {
        struct connect_try *t = &c->all[i];

        if (t->conn == NULL)
            continue;
        if (t->state != CONNECT_KNOWN) {
            connect_lost(c, t, "no answer in time");
        } else if (t->timeline < c->p->found.timeline) {
            connect_lost(c, t,
                         "the server that answers was primary before another "
                         "was promoted");
        } else if (best == NULL || t->timeline > best->timeline) {
            if (best != NULL)
                connect_lost(c, best, NULL);
            best = t;
        } else {
            connect_lost(c, t, NULL);
        }
    }
    return best;
}

/* Writes why a server is refused by a rule, with the lock. If links were in use
 * when a reload broke the rule, it logged what they sent until that was noticed
 * (once a second), and the operator has to know as long as it is refused. */
static void connect_refusal(struct pg_place *p, size_t rule,
                            char reason[PG_REASON])
{
    const bool logs = connect_rules[rule].logs;

    p->logged = p->logged || (logs && p->found.reachable);
    snprintf(reason, PG_REASON, "%s%s", connect_rules[rule].reason,
             logs && p->logged
                 ? "; up to a second of reports was logged: delete that log"
                 : "");
}

static void connect_judge(struct connect *c, struct connect_try *t)
{
    char reason[PG_REASON];

    for (size_t i = 0; i < CONNECT_RULES; i++)
        if (t->bad >> i & 1) {
            c->st = HSY_E_REFUSED;
            connect_refusal(c->p, i, reason);
            connect_lost(c, t, reason);
            return;
        }
}

/* With the lock. */
static void connect_note(struct pg_place *p, const struct connect_try *t,
                         hsy_status st, const char *reason)
{
    struct pg_found *f = &p->found;

    f->reachable = t != NULL && t->conn != NULL;
    f->refused = !f->reachable && st == HSY_E_REFUSED;
    if (!f->reachable) {
        snprintf(f->reason, sizeof f->reason, "%s", reason);
        return;
    }
    f->reason[0] = '\0';
    p->logged = false;
    f->timeline = t->timeline;
    f->replicated = t->replicated;
    f->standby = t->standby;
    f->version = (uint32_t)p->pq->serverVersion(t->conn);
    f->connected++;
}

PGconn *pg_primary(struct pg_place *p, uint32_t *timeline,
                   char reason[PG_REASON], hsy_status *st)
{
    struct connect c = {.p = p,
                        .pq = p->pq,
                        .reason = reason,
                        .st = HSY_E_BUSY,
                        .skip = PG_HOSTS};
    struct connect_try *best;

    pg_say(reason, "no server answers");
    pthread_mutex_lock(&p->lock);
    c.seen = p->found.timeline;
    pthread_mutex_unlock(&p->lock);
    connect_all(&c);
    pthread_mutex_lock(&p->lock);
    best = connect_choose(&c);
    if (best != NULL)
        connect_judge(&c, best);
    connect_note(p, best, c.st, reason);
    if (best != NULL && best->conn != NULL)
        p->used = (size_t)(best - c.all);
    pthread_mutex_unlock(&p->lock);
    *st = best != NULL && best->conn != NULL ? HSY_OK : c.st;
    if (*st != HSY_OK)
        return NULL;
    reason[0] = '\0'; /* what else goes wrong has another */
    *timeline = best->timeline;
    return best->conn;
}

void pg_look(struct pg_place *p)
{
    char reason[PG_REASON];
    struct connect c = {.p = p, .pq = p->pq, .reason = reason};
    uint32_t highest = 0;

    pthread_mutex_lock(&p->lock);
    c.seen = p->found.timeline;
    c.skip = p->used;
    pthread_mutex_unlock(&p->lock);
    connect_all(&c);
    for (size_t i = 0; i < p->nhosts; i++) {
        struct connect_try *t = &c.all[i];

        if (t->conn == NULL)
            continue;
        if (t->state == CONNECT_KNOWN && t->timeline > highest)
            highest = t->timeline;
        connect_lost(&c, t, NULL);
    }
    pthread_mutex_lock(&p->lock);
    if (highest > p->found.timeline)
        p->found.timeline = highest;
    pthread_mutex_unlock(&p->lock);
}

/* ---- Later --------------------------------------------------------------- */

/* Notes what a link found: the rule that does not hold, or CONNECT_RULES, and
 * writes why the server is refused. */
static void connect_found(struct pg_place *p, const struct pg_rows *r,
                          size_t broken, char reason[PG_REASON])
{
    struct pg_found *f = &p->found;

    pthread_mutex_lock(&p->lock);
    if (broken < CONNECT_RULES)
        connect_refusal(p, broken, reason);
    else
        p->logged = false;
    f->reachable = broken == CONNECT_RULES;
    f->refused = !f->reachable;
    f->replicated = pg_get(r, 0, CONNECT_REPLICATED) != 0;
    f->standby = pg_get(r, 0, CONNECT_STANDBY) != 0;
    snprintf(f->reason, sizeof f->reason, "%s", f->refused ? reason : "");
    pthread_mutex_unlock(&p->lock);
}

/* Returns the first rule that does not hold, or CONNECT_RULES. */
static size_t connect_broken(const struct pg_rows *r)
{
    size_t i = 0;

    while (i < CONNECT_RULES && pg_get(r, 0, CONNECT_FIRST_RULE + (int)i) != 0)
        i++;
    return i;
}

hsy_status pg_verify(struct pg_link *l, hsy_error *err)
{
    char *sql = connect_question();
    struct pg_rows *r = NULL;
    size_t broken;
    hsy_status st;

    st = sql != NULL ? pg_ask(l, &r, err, sql, "") : host_nomem(err);
    free(sql);
    if (st != HSY_OK)
        return st;
    broken = connect_broken(r);
    connect_found(l->place, r, broken, l->reason);
    pg_rows_free(r);
    if (broken == CONNECT_RULES)
        return HSY_OK;
    pg_drop(l);
    return host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE, PG_MISSET);
}
