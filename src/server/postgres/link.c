/*
 * link.c - statements in pipeline mode, and what their answers mean.
 *
 * Every statement is parsed once a connection and kept by its text. In a turn
 * an error skips all that follows up to its end, the commit too (trap 6), so a
 * turn that was refused leaves a transaction open: whoever began it rolls back.
 */
#define _GNU_SOURCE
#include "server/postgres/internal.h"

#include "host/base/host_fail.h"
#include "host/base/steady.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK_PATIENCE 6000u /* milliseconds */

void pg_say(char reason[PG_REASON], const char *text)
{
    if (text != reason)
        snprintf(reason, PG_REASON, "%.*s", (int)strcspn(text, "\n"), text);
}

/* Wait until the socket is readable (or writable) or a moment of steady_ms has
 * come; false: it has. */
static bool pg_wait(int socket, bool write, uint64_t until)
{
    struct pollfd fd = {.fd = socket,
                        .events = (short)(POLLIN | (write ? POLLOUT : 0))};
    const uint64_t now = steady_ms();

    return now < until && poll(&fd, 1, (int)(until - now)) > 0;
}

struct pg_link *pg_link_new(struct pg_place *p)
{
    struct pg_link *l = calloc(1, sizeof *l);

    if (l != NULL) {
        l->place = p;
        l->pq = p->pq;
        l->patience = LINK_PATIENCE;
    }
    return l;
}

static void link_forget(struct pg_link *l)
{
    for (size_t i = 0; i < PG_STATEMENTS; i++)
        l->statements[i].parsed = false;
    l->first = l->n = 0;
    l->failed = l->warned = false;
}

void pg_drop(struct pg_link *l)
{
    if (l->conn != NULL)
        l->pq->finish(l->conn);
    l->conn = NULL;
    link_forget(l);
}

void pg_link_free(struct pg_link *l)
{
    if (l == NULL)
        return;
    pg_drop(l);
    for (size_t i = 0; i < PG_STATEMENTS; i++)
        free(l->statements[i].sql);
    free(l->params.bytes);
    free(l->expected);
    free(l);
}

bool pg_connected(const struct pg_link *l)
{
    return l->conn != NULL;
}

uint64_t pg_session(const struct pg_link *l)
{
    return l->session;
}

void pg_patience(struct pg_link *l, unsigned milliseconds)
{
    l->patience = milliseconds;
}

const char *pg_reason(const struct pg_link *l)
{
    return l->reason;
}

const char *pg_state(const struct pg_link *l)
{
    return l->state;
}

/* Any warning: a commit that was not replicated comes with one. */
static void link_notice(void *ctx, const PGresult *result)
{
    struct pg_link *l = ctx;
    const char *severity =
        l->pq->resultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

    if (severity == NULL || strcmp(severity, "WARNING") == 0) {
        const char *text =
            l->pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

        l->warned = true;
        if (text != NULL)
            pg_say(l->reason, text);
    }
}

/* Returns true if nobody has seen a server that was promoted after this link's.
 */
static bool link_newest(const struct pg_link *l)
{
    bool newest;

    pthread_mutex_lock(&l->place->lock);
    newest = l->timeline >= l->place->found.timeline;
    pthread_mutex_unlock(&l->place->lock);
    return newest;
}

hsy_status pg_connect(struct pg_link *l, hsy_error *err)
{
    hsy_status st;

    if (l->conn != NULL && link_newest(l))
        return HSY_OK;
    pg_drop(l);
    l->state[0] = '\0';
    l->conn = pg_primary(l->place, &l->timeline, l->reason, &st);
    if (l->conn == NULL)
        return host_fail(
            err, st, HOST_FIELD_STORE,
            st == HSY_E_REFUSED ? PG_MISSET : "the database cannot be reached");
    (void)l->pq->setNoticeReceiver(l->conn, link_notice, l);
    if (l->pq->setnonblocking(l->conn, 1) != 0 ||
        l->pq->enterPipelineMode(l->conn) != 1) {
        pg_say(l->reason, l->pq->errorMessage(l->conn));
        pg_drop(l);
        return host_fail(err, HSY_E_BUSY, HOST_FIELD_STORE,
                         "the database cannot be reached");
    }
    l->session++;
    return HSY_OK;
}

/* The link is of no use any more. */
static hsy_status link_lost(struct pg_link *l, const char *why, hsy_error *err)
{
    pg_say(l->reason, why);
    l->state[0] = '\0';
    pg_drop(l);
    return host_fail(err, HSY_E_BUSY, HOST_FIELD_STORE,
                     "the database does not answer");
}

/* ---- Sending ------------------------------------------------------------- */

/* How many statements a turn has is up to who uploads: a bound here would be a
 * group that never gets through. */
static bool link_expect_more(struct pg_link *l)
{
    const size_t room =
        l->expected_room == 0 ? PG_EXPECTED : 2 * l->expected_room;
    struct pg_answer *more = malloc(room * sizeof *more);

    if (more == NULL)
        return false;
    for (size_t i = 0; i < l->n; i++)
        more[i] = l->expected[(l->first + i) % l->expected_room];
    free(l->expected);
    l->expected = more;
    l->expected_room = room;
    l->first = 0;
    return true;
}

static bool link_expect(struct pg_link *l, enum pg_expect what,
                        struct pg_statement *statement)
{
    if (l->n == l->expected_room && !link_expect_more(l))
        return false;
    l->expected[(l->first + l->n) % l->expected_room] =
        (struct pg_answer){what, statement};
    l->n++;
    return true;
}

/* A statement by its text; one that is not parsed yet is, on the same way. */
static struct pg_statement *link_statement(struct pg_link *l, const char *sql)
{
    struct pg_statement *s;

    for (size_t i = 0; i < PG_STATEMENTS; i++)
        if (l->statements[i].sql != NULL &&
            strcmp(l->statements[i].sql, sql) == 0)
            return &l->statements[i];
    s = &l->statements[l->next];
    if (s->parsed)
        return NULL; /* all places are taken: it goes without one */
    l->next = (l->next + 1) % PG_STATEMENTS;
    free(s->sql);
    s->sql = strdup(sql);
    if (s->sql == NULL)
        return NULL;
    snprintf(s->name, sizeof s->name, "s%u",
             (unsigned)((size_t)(s - l->statements)));
    return s;
}

struct link_values {
    Oid types[PG_PARAMS];
    const char *bytes[PG_PARAMS];
    int lens[PG_PARAMS], formats[PG_PARAMS];
};

static void link_values(struct link_values *v, const struct pg_params *p)
{
    for (size_t i = 0; i < p->n; i++) {
        v->types[i] = p->values[i].type;
        v->bytes[i] =
            p->values[i].null ? NULL : (const char *)p->bytes + p->values[i].at;
        v->lens[i] = (int)p->values[i].len;
        v->formats[i] = 1;
    }
}

hsy_status pg_put_list(struct pg_link *l, hsy_error *err, const char *sql,
                       const char *form, va_list values)
{
    struct pg_params *p = &l->params;
    struct pg_statement *s;
    struct link_values v;
    bool sent = true;
    int n;

    p->n = p->len = 0;
    p->failed = false;
    pg_values(p, form, values);
    n = (int)p->n;
    if (p->failed) {
        if (l->n != 0) /* a turn was begun, and its answers are nobody's */
            (void)link_lost(l, "out of memory", NULL);
        return host_nomem(err);
    }
    if (l->conn == NULL)
        return link_lost(l, "the connection was lost", err);
    link_values(&v, p);
    s = link_statement(l, sql);
    if (s != NULL && !s->parsed) {
        sent = l->pq->sendPrepare(l->conn, s->name, sql, n, v.types) == 1 &&
               link_expect(l, PG_PARSE, s);
        s->parsed = true; /* unless the answer says no */
    }
    if (sent && s != NULL)
        sent = l->pq->sendQueryPrepared(l->conn, s->name, n, v.bytes, v.lens,
                                        v.formats, 1) == 1;
    else if (sent)
        sent = l->pq->sendQueryParams(l->conn, sql, n, v.types, v.bytes, v.lens,
                                      v.formats, 1) == 1;
    return sent && link_expect(l, PG_EXECUTE, NULL)
               ? HSY_OK
               : link_lost(l, l->pq->errorMessage(l->conn), err);
}

/* What is to be sent leaves while answers may come in. */
static hsy_status link_flush(struct pg_link *l, hsy_error *err)
{
    const uint64_t until = steady_ms() + l->patience;
    int left;

    while ((left = l->pq->flush(l->conn)) == 1) {
        if (!pg_wait(l->pq->socket(l->conn), true, until))
            return link_lost(l, "no answer in time", err);
        if (l->pq->consumeInput(l->conn) != 1)
            return link_lost(l, l->pq->errorMessage(l->conn), err);
    }
    return left == 0 ? HSY_OK : link_lost(l, l->pq->errorMessage(l->conn), err);
}

hsy_status pg_turn(struct pg_link *l, hsy_error *err)
{
    if (l->conn == NULL)
        return link_lost(l, "the connection was lost", err);
    l->warned = false;
    l->state[0] = '\0';
    if (l->pq->pipelineSync(l->conn) != 1 || !link_expect(l, PG_SYNC, NULL))
        return link_lost(l, l->pq->errorMessage(l->conn), err);
    return link_flush(l, err);
}

/* ---- Answers ------------------------------------------------------------- */

/* The next result, NULL between two statements; false: the link is lost. */
static bool link_result(struct pg_link *l, uint64_t until, PGresult **out)
{
    while (l->pq->isBusy(l->conn)) {
        if (!pg_wait(l->pq->socket(l->conn), false, until)) {
            pg_say(l->reason, "no answer in time");
            return false;
        }
        if (l->pq->consumeInput(l->conn) != 1) {
            pg_say(l->reason, l->pq->errorMessage(l->conn));
            return false;
        }
    }
    *out = l->pq->getResult(l->conn);
    return true;
}

static void link_refused(struct pg_link *l, const PGresult *r)
{
    const char *state = l->pq->resultErrorField(r, PG_DIAG_SQLSTATE);
    const char *text = l->pq->resultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);

    if (l->failed)
        return; /* the first says why */
    l->failed = true;
    snprintf(l->state, sizeof l->state, "%s", state != NULL ? state : "");
    pg_say(l->reason, text != NULL ? text : "refused");
}

/* One answer of what was sent; *kind: what it answers. */
static hsy_status link_next(struct pg_link *l, PGresult **out,
                            enum pg_expect *kind, hsy_error *err)
{
    const uint64_t until = steady_ms() + l->patience;
    struct pg_statement *s;
    PGresult *r = NULL, *end = NULL;
    ExecStatusType status;

    if (l->conn == NULL || l->n == 0)
        return link_lost(l, "the connection was lost", err);
    *kind = l->expected[l->first].what;
    s = l->expected[l->first].statement;
    if (!link_result(l, until, &r))
        return link_lost(l, l->reason, err);
    if (r == NULL)
        return link_lost(l, "an answer is missing", err);
    l->first = (l->first + 1) % l->expected_room;
    l->n--;
    status = l->pq->resultStatus(r);
    if ((*kind == PG_SYNC) != (status == PGRES_PIPELINE_SYNC)) {
        pg_say(l->reason, l->pq->errorMessage(l->conn));
        l->pq->clear(r);
        return link_lost(l, l->reason, err);
    }
    if (status == PGRES_FATAL_ERROR)
        link_refused(l, r);
    if (s != NULL && status != PGRES_COMMAND_OK)
        s->parsed = false;
    if (*kind != PG_SYNC &&
        (!link_result(l, until, &end) || end != NULL)) { /* its end */
        l->pq->clear(r);
        l->pq->clear(end);
        return link_lost(l, l->reason, err);
    }
    *out = r;
    return HSY_OK;
}

static hsy_status link_no(struct pg_link *l, hsy_error *err)
{
    /* A server that is going down, or has become a standby, ends the session or
     * refuses all: as if it were gone. 25006: read only. */
    if (l->state[0] == '5' && l->state[1] == '7')
        return link_lost(l, l->reason, err);
    if (strcmp(l->state, "25006") == 0)
        return link_lost(l, l->reason, err);
    return host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                     "the database refuses a statement");
}

static bool link_good(struct pg_link *l, const PGresult *r)
{
    const ExecStatusType status = l->pq->resultStatus(r);

    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

hsy_status pg_take(struct pg_link *l, struct pg_rows **rows, hsy_error *err)
{
    enum pg_expect kind = PG_PARSE;
    PGresult *r = NULL;
    hsy_status st = HSY_OK;
    bool good = true;

    if (rows != NULL)
        *rows = NULL;
    while (st == HSY_OK && kind == PG_PARSE) {
        st = link_next(l, &r, &kind, err);
        if (st != HSY_OK)
            return st;
        good = link_good(l, r);
        if (kind == PG_PARSE)
            l->pq->clear(r);
    }
    if (kind == PG_SYNC) {
        l->pq->clear(r);
        return link_lost(l, "an answer is missing", err);
    }
    if (!good) {
        l->pq->clear(r);
        return host_fail(err, HSY_E_REFUSED, HOST_FIELD_STORE,
                         "the database refuses a statement");
    }
    if (rows != NULL && (*rows = malloc(sizeof **rows)) != NULL)
        **rows = (struct pg_rows){l->pq, r};
    else
        l->pq->clear(r);
    if (rows != NULL && *rows == NULL)
        return link_lost(l, "out of memory", err);
    return HSY_OK;
}

hsy_status pg_end(struct pg_link *l, hsy_error *err)
{
    enum pg_expect kind = PG_EXECUTE;
    hsy_status st = HSY_OK;
    bool failed;

    while (st == HSY_OK && kind != PG_SYNC) {
        PGresult *r = NULL;

        st = link_next(l, &r, &kind, err);
        l->pq->clear(r);
    }
    if (st != HSY_OK)
        return st;
    failed = l->failed;
    l->failed = false;
    return failed ? link_no(l, err) : HSY_OK;
}

/* ---- Transactions -------------------------------------------------------- */

/* COMMIT of a transaction that failed says ROLLBACK, and is no error (trap 5);
 * one whose wait for the standby was cancelled says COMMIT, with a warning
 * (trap 1). One of a server that is not primary any more is lost with it. */
bool pg_is_commit(const struct pg_link *l, const struct pg_rows *r)
{
    return strcmp(r->pq->cmdStatus(r->result), "COMMIT") == 0 && !l->warned &&
           link_newest(l);
}

hsy_status pg_commit(struct pg_link *l, hsy_error *err)
{
    struct pg_rows *r = NULL;
    hsy_status st = pg_ask(l, &r, err, "commit", "");

    if (st == HSY_OK && !pg_is_commit(l, r)) {
        pg_rows_free(r);
        return link_lost(l,
                         l->warned ? l->reason
                                   : "a commit was rolled back, or another "
                                     "server was promoted",
                         err);
    }
    pg_rows_free(r);
    if (st == HSY_E_REFUSED)
        return link_lost(l, l->reason, err);
    return st;
}

void pg_rollback(struct pg_link *l)
{
    hsy_error err;

    if (l->conn == NULL)
        return;
    if (pg_do(l, "rollback", &err) == HSY_E_REFUSED)
        pg_drop(l);
}
