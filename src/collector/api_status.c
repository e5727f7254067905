/* api_status.c - whether the collector is well. */
#include "api_parts.h"

#include <stdlib.h>
#include <string.h>

void api_health(struct request *q, void *ctx)
{
    static const char fine[] = "ok\n";

    (void)ctx;
    api_headers(q, NULL);
    request_answer(q, 200, "text/plain; charset=utf-8", fine, sizeof fine - 1,
                   NULL);
}

/* NULL, or what does not work. */
static const char *status_unready(struct collector *c)
{
    struct engine_status status;

    if (!__atomic_load_n(&c->ready, __ATOMIC_ACQUIRE))
        return "the collector is starting or stopping";
    engine_look(c->engine, &status);
    if (status.clock_jumped)
        return "the clock has jumped, and uploads are refused";
    if (history_stuck(c->history))
        return "what was counted has not been folded for minutes";
    return NULL;
}

void api_ready(struct request *q, void *ctx)
{
    static const char fine[] = "ready\n", rehearsed[] = "ready, rehearsal\n";
    const struct collector *c = ctx;
    const char *why = status_unready(ctx);
    const char *text = c->config.rehearsal != NULL ? rehearsed : fine;

    if (why != NULL) {
        api_problem(q, 503, "Not ready", "%s", why);
        return;
    }
    api_headers(q, NULL);
    request_answer(q, 200, "text/plain; charset=utf-8", text, strlen(text),
                   NULL);
}

/* Version and days of the document in force. */
static void status_put_document(struct put *p, struct collector *c)
{
    size_t len = 0;
    uint8_t *bytes = engine_document_hold(c->engine, &len);
    hsy_document doc;

    if (bytes == NULL || hsy_document_open(&doc, bytes, len, NULL) != HSY_OK) {
        put_null(p, "document");
    } else {
        put_object(p, "document");
        put_count(p, "version", doc.version);
        put_day(p, "issued", doc.issued);
        put_day(p, "expires", doc.expires - 1); /* the last day, as in a file */
        put_count(p, "tasks", doc.tasks);
        put_end(p, '}');
    }
    engine_document_drop(bytes);
}

void api_put_status(struct put *p, struct collector *c, bool exact)
{
    const char *why = status_unready(c);
    struct engine_status status;

    engine_look(c->engine, &status);
    if (!exact)
        api_round_engine(&status, api_step(c));
    put_word(p, "version", HSY_VERSION);
    put_day(p, "day", status.day);
    put_bool(p, "ready", why == NULL);
    put_word(p, "why", why);
    put_bool(p, "admin_open", c->config.admin_open);
    put_bool(p, "rehearsal", c->config.rehearsal != NULL);
    status_put_document(p, c);
    put_number(p, "lying", c->config.lying);
    put_object(p, "store");
    put_count(p, "commits", status.seq);
    put_count(p, "folded", status.folded);
    put_count(p, "waiting_bytes", status.waiting_bytes);
    put_count(p, "ids", status.ids);
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
    api_put_status(&p, ctx, api_operator(ctx, q));
    api_answer(q, 200, &p);
}
