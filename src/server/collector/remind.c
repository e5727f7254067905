/* remind.c - what is no mistake, as the rest may come later, but serves nobody
 * till then. */
#include "server/collector/serve.h"

#include <inttypes.h>
#include <string.h>

static bool remind_asks(const struct roster *r, const char *task)
{
    for (size_t i = 0; r != NULL && i < roster_count(r); i++)
        if (strcmp(roster_at(r, i)->task.id, task) == 0)
            return true;
    return false;
}

void serve_remind_tokens(struct collector *c)
{
    struct roster *r = engine_roster(c->engine);
    char task[HSY_TASK_ID + 1];

    for (size_t i = 0; tokens_task(c->tokens, i, task); i++)
        if (!remind_asks(r, task))
            log_event(c->log, LOG_NOTE, "tokens-of-no-task", "task=%s", task);
    roster_drop(r);
}

/* The document in force is the engine's, and was looked through by it. */
void serve_remind_document(struct collector *c)
{
    size_t len = 0;
    uint8_t *bytes = engine_document_hold(c->engine, &len);
    hsy_document doc;

    if (bytes != NULL && hsy_document_open(&doc, bytes, len, NULL) == HSY_OK &&
        gateway_unnamed(c->gateway, &doc))
        log_event(c->log, LOG_NOTE, "gateway-keys-not-in-document",
                  "document=%" PRIu64, doc.version);
    if (bytes != NULL && collector_shuffles(c) &&
        hsy_document_open(&doc, bytes, len, NULL) == HSY_OK &&
        !hop_places(&doc, hop_shuffler(c->hop)).any)
        log_event(c->log, LOG_NOTE, "shuffler-not-in-document",
                  "document=%" PRIu64, doc.version);
    engine_document_drop(bytes);
}

void serve_remind(struct collector *c)
{
    if (c->admin != NULL && !c->config.admin_open && !tokens_any(c->tokens))
        log_event(c->log, LOG_NOTE, "admin-without-tokens", "make-one-by=%s",
                  "hearsay-serve-token-add");
    serve_remind_tokens(c);
    serve_remind_document(c);
}
