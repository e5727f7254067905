/* api_status.c - whether the collector is well. */
#include "server/collector/api/api.h"

#include <stdlib.h>

void api_health(struct request *q, void *ctx)
{
    static const char fine[] = "ok\n";

    (void)ctx;
    request_guard(q, NULL);
    request_answer(q, 200, "text/plain; charset=utf-8", fine, sizeof fine - 1,
                   NULL);
}

/* What is grave is a problem; of the rest each has a line. */
static void status_put_troubles(struct put *p, const struct trouble *all)
{
    put_array(p, "troubles");
    for (size_t i = 0; i < WATCH_TROUBLES; i++)
        if (all[i].text[0] != '\0') {
            put_object(p, NULL);
            put_word(p, "name", all[i].name);
            put_bool(p, "grave", all[i].grave);
            put_word(p, "text", all[i].text);
            put_end(p, '}');
        }
    put_end(p, ']');
}

#define STATUS_WORDS (WATCH_TROUBLES * (WATCH_TEXT + 32))

/* Every trouble, or every grave one: its name, its words, what ends it. */
static size_t status_words(char *text, size_t room, const struct trouble *all,
                           bool grave, const char *end)
{
    size_t used = 0;

    for (size_t i = 0; i < WATCH_TROUBLES; i++)
        if (all[i].text[0] != '\0' && (all[i].grave || !grave))
            used += (size_t)snprintf(text + used, room - used, "%s: %s%s",
                                     all[i].name, all[i].text, end);
    return used;
}

/* All that keeps it from being ready, by name, and what else is to be mended.
 */
static void status_not_ready(struct request *q, const struct trouble *all)
{
    char text[STATUS_WORDS];
    struct put p;

    if (!api_begin(q, &p))
        return;
    put_word(&p, "type", "about:blank");
    put_word(&p, "title", "Not ready");
    put_count(&p, "status", 503);
    put_text(&p, "detail", text,
             status_words(text, sizeof text, all, true, "; ") - 2);
    status_put_troubles(&p, all);
    api_answer(q, 503, &p);
}

void api_ready(struct request *q, void *ctx)
{
    const struct collector *c = ctx;
    struct trouble all[WATCH_TROUBLES];
    const size_t room = 32 + STATUS_WORDS;
    char *text = malloc(room);
    size_t used;

    watch_look(ctx, all);
    if (watch_grave(all) != NULL) {
        free(text);
        status_not_ready(q, all);
    } else if (text == NULL) {
        api_problem(q, 503, "Not ready", "out of memory");
    } else {
        used =
            (size_t)snprintf(text, room, "ready%s\n",
                             c->config.rehearsal != NULL ? ", rehearsal" : "");
        used += status_words(text + used, room - used, all, false, "\n");
        request_guard(q, NULL);
        request_answer(q, 200, "text/plain; charset=utf-8", text, used, free);
    }
}

/* Version and days of the document in force. */
static void status_put_document(struct put *p, struct collector *c)
{
    struct watch_document doc;

    watch_document(c, &doc);
    if (!doc.there) {
        put_null(p, "document");
    } else {
        put_object(p, "document");
        put_count(p, "version", doc.version);
        put_day(p, "issued", doc.issued);
        put_day(p, "expires", doc.expires - 1); /* the last day, as in a file */
        put_count(p, "tasks", doc.tasks);
        put_end(p, '}');
    }
}

static void status_put_nodes(struct put *p, const struct cluster_status *s)
{
    put_array(p, "nodes");
    for (size_t i = 0; i < s->nnodes; i++) {
        put_object(p, NULL);
        put_word(p, "name", s->nodes[i].name);
        put_word(p, "version", s->nodes[i].version);
        put_count(p, "seen", s->nodes[i].seen);
        put_bool(p, "alive", s->nodes[i].seen <= CLUSTER_ALIVE);
        put_end(p, '}');
    }
    put_end(p, ']');
}

static void status_put_shard(struct put *p,
                             const struct cluster_shard_status *s)
{
    put_object(p, NULL);
    put_word(p, "server", s->name);
    put_bool(p, "reachable", s->up);
    put_word(p, "why", s->up && !s->failing ? NULL : s->why);
    put_count(p, "timeline", s->found.timeline);
    put_bool(p, "replicated", cluster_replicated(s));
    put_count(p, "commits", s->commits);
    put_count(p, "uploads", s->uploads);
    put_count(p, "doubts", s->doubts);
    put_count(p, "retries", s->again);
    put_count(p, "folded", s->folded);
    put_count(p, "waiting", s->waiting);
    put_count(p, "unfolded_seconds", s->unfolded);
    put_end(p, '}');
}

/* Names of machines and of databases: for operators. */
static void status_put_cluster(struct put *p, struct collector *c)
{
    struct cluster_status s;

    if (!cluster_status(c->counting, &s))
        return;
    put_object(p, "cluster");
    put_number(p, "behind_seconds", (double)s.behind);
    status_put_nodes(p, &s);
    put_array(p, "shards");
    for (size_t i = 0; i < s.nshards; i++)
        status_put_shard(p, &s.shards[i]);
    put_end(p, ']');
    put_end(p, '}');
}

/* exact: for operators. */
static void status_put(struct put *p, struct collector *c, bool exact)
{
    struct trouble all[WATCH_TROUBLES];
    const struct trouble *why;
    struct engine_status status;

    watch_look(c, all);
    why = watch_grave(all);
    api_look_engine(c, &status, exact ? 1 : api_step(c));
    put_word(p, "version", HSY_VERSION);
    put_day(p, "day", status.day);
    put_day(p, "clock", status.clock_day);
    put_bool(p, "clock_believed", !status.clock_jumped);
    put_bool(p, "ready", why == NULL);
    put_word(p, "why", why != NULL ? why->text : NULL);
    status_put_troubles(p, all);
    put_bool(p, "admin_open", c->config.admin_open);
    put_bool(p, "rehearsal", c->config.rehearsal != NULL);
    status_put_document(p, c);
    put_number(p, "lying", c->config.lying);
    if (exact)
        status_put_cluster(p, c);
    put_object(p, "store");
    if (!config_many(&c->config)) {
        put_count(p, "commits", status.seq);
        put_count(p, "folded", status.folded);
    }
    put_count(p, "waiting_bytes", status.waiting_bytes);
    put_count(p, "ids", status.ids);
    if (!config_many(&c->config))
        put_count(p, "ids_bytes", status.ids_bytes);
    put_count(p, "tally_bytes", status.tally_bytes);
    put_count(p, "reports", status.reports);
    put_count(p, "nulls", status.nulls);
    put_end(p, '}');
}

void api_status(struct request *q, void *ctx)
{
    struct put p;

    if (!api_begin(q, &p))
        return;
    status_put(&p, ctx, api_operator(ctx, q));
    api_answer(q, 200, &p);
}
