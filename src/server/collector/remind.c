/* remind.c - what is no mistake, as the rest may come later, but serves nobody
 * till then. */
#include "server/collector/serve.h"

#include "server/cluster/cluster.h"

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

/* What is sealed for this collector or shuffler can be opened. */
static void remind_chain(struct collector *c, const hsy_document *doc)
{
    const bool shuffles = collector_shuffles(c);
    struct hop_public keys = {.nseal = 0};
    char task[HSY_TASK_ID + 1];

    if (c->hop != NULL)
        hop_public(c->hop, &keys);
    if (shuffles && !hop_places(doc, keys.sign).any)
        log_event(c->log, LOG_NOTE, "shuffler-not-in-document",
                  "document=%" PRIu64, doc->version);
    if (!shuffles && hop_keyless(doc, &keys, false, task))
        log_event(c->log, LOG_ERROR, "no-seal-key", "task=%s", task);
}

/* The document in force is the engine's, and was looked through by it. */
void serve_remind_document(struct collector *c)
{
    size_t len = 0;
    uint8_t *bytes = engine_document_hold(c->engine, &len);
    hsy_document doc;

    if (bytes != NULL && hsy_document_open(&doc, bytes, len, NULL) == HSY_OK) {
        if (gateway_unnamed(c->gateway, &doc))
            log_event(c->log, LOG_NOTE, "gateway-keys-not-in-document",
                      "document=%" PRIu64, doc.version);
        remind_chain(c, &doc);
    }
    engine_document_drop(bytes);
}

/* What a node says to its databases is for nobody else. */
static void remind_databases(struct collector *c)
{
    for (size_t i = 0; config_many(&c->config) && c->config.storage[i] != NULL;
         i++) {
        const struct pg_place *place = cluster_place(c->counting, i);

        if (!pg_place_guarded(place))
            log_event(c->log, LOG_NOTE, "database-unguarded", "database=%s",
                      pg_place_name(place));
    }
}

void serve_remind(struct collector *c)
{
    remind_databases(c);
    if (c->admin != NULL && !c->config.admin_open && !tokens_any(c->tokens))
        log_event(c->log, LOG_NOTE, "admin-without-tokens", "make-one-by=%s",
                  "hearsay-serve-token-add");
    serve_remind_tokens(c);
    serve_remind_document(c);
}
