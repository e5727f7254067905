/* serve_cluster.c - a collector that is one of many, on PostgreSQL. */
#define _GNU_SOURCE
#include "server/collector/serve.h"

#include "server/cluster/cluster.h"
#include "server/cluster/shown_many.h"
#include "server/cluster/tokens_many.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* An event in the log; any thread. */
static void serve_cluster_say(void *ctx, const char *event, const char *text)
{
    const struct collector *c = ctx;

    log_failure_about(c->log, event, "", &(hsy_error){.msg = text});
}

static bool serve_cluster_enrols(void *ctx, const char *task)
{
    const struct collector *c = ctx;
    uint8_t hash[16];
    uint32_t quota;

    return c->tokens != NULL &&
           tokens_enrolled(c->tokens, task, NULL, hash, &quota) != TOKENS_OPEN;
}

/* The host and where it listens: two nodes of one machine are two. */
static void serve_node(char name[CLUSTER_NODE], const struct config *f)
{
    char host[HOST_NAME_MAX + 1] = "node";

    gethostname(host, sizeof host - 1);
    if (f->node != NULL)
        snprintf(name, CLUSTER_NODE, "%s", f->node);
    else
        snprintf(name, CLUSTER_NODE, "%.30s %.30s", host, f->listen);
}

/* What is wrong, and at which database: its name has no password. */
hsy_status serve_cluster_fail(struct serve_trouble *t, hsy_status st,
                              const char *about, const char *reason)
{
    if (about == NULL)
        about = "storage";
    if (reason[0] != '\0')
        snprintf(t->text, sizeof t->text, "%.80s: %.160s", about, reason);
    else
        snprintf(t->text, sizeof t->text, "%.200s", about);
    return serve_fail(t, st, t->text);
}

hsy_status serve_open_cluster(struct collector *c,
                              const struct engine_options *engine,
                              struct serve_trouble *t)
{
    const struct config *f = &c->config;
    char node[CLUSTER_NODE], reason[PG_REASON] = "";
    const struct cluster_options o = {.size = sizeof o,
                                      .storage = f->storage,
                                      .node = node,
                                      .rehearsal = f->rehearsal != NULL,
                                      .now = serve_now,
                                      .waiting_bytes = f->waiting_bytes,
                                      .keep_days = f->keep_days,
                                      .enrols = serve_cluster_enrols,
                                      .say = serve_cluster_say,
                                      .ctx = c};
    struct tokens_keep *tokens = NULL;
    const char *about = NULL;
    hsy_status st;

    serve_node(node, f);
    st = cluster_open(&c->counting, &o, engine, &about, reason, &t->err);
    if (st == HSY_OK) {
        c->engine = c->counting->view;
        st = shown_many_open(&c->shown_keep, cluster_place(c->counting, 0),
                             &t->err);
    }
    if (st == HSY_OK)
        st = tokens_many_open(&tokens, cluster_place(c->counting, 0), &t->err);
    if (st == HSY_OK)
        st = tokens_open(&c->tokens, tokens, &t->err);
    if (st == HSY_OK)
        st = tokens_want(c->tokens, f->enrolled, &t->err);
    if (st == HSY_OK)
        serve_enrols(c, f);
    return st == HSY_OK ? HSY_OK : serve_cluster_fail(t, st, about, reason);
}
