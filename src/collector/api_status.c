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

/* What is grave is a problem; of the rest each has a line. */
void api_ready(struct request *q, void *ctx)
{
    const struct collector *c = ctx;
    struct trouble all[WATCH_TROUBLES];
    const size_t room = 32 + WATCH_TROUBLES * (WATCH_TEXT + 32);
    char *text = malloc(room);
    const struct trouble *why;
    size_t used;

    watch_look(ctx, all);
    why = watch_grave(all);
    if (why != NULL || text == NULL) {
        free(text);
        api_problem(q, 503, "Not ready", "%s",
                    why != NULL ? why->text : "out of memory");
        return;
    }
    used = (size_t)snprintf(text, room, "ready%s\n",
                            c->config.rehearsal != NULL ? ", rehearsal" : "");
    for (size_t i = 0; i < WATCH_TROUBLES; i++)
        if (all[i].text[0] != '\0')
            used += (size_t)snprintf(text + used, room - used, "%s: %s\n",
                                     all[i].name, all[i].text);
    api_headers(q, NULL);
    request_answer(q, 200, "text/plain; charset=utf-8", text, used, free);
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

void api_put_status(struct put *p, struct collector *c, bool exact)
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

void api_tell_status(struct collector *c)
{
    struct put p;
    char *json;
    size_t len;

    if (c->admin == NULL || put_open(&p, NULL) != HSY_OK)
        return;
    api_put_status(&p, c, false);
    if (put_close(&p, &json, &len, NULL) != HSY_OK)
        return;
    listen_publish(c->admin, "status", json, len);
    free(json);
}
