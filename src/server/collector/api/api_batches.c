/* api_batches.c - batches of shufflers, and their lists of documents. */
#include "server/collector/api/api.h"

#include <stdlib.h>

void api_post_batch(struct request *q, void *ctx)
{
    struct collector *c = ctx;

    if (c->hop == NULL)
        api_problem(q, 404, "No batches are taken here",
                    "there is no sign_key, and there are no seal_keys");
    else if (!request_typed(q, PARCEL_TYPE))
        api_problem(q, 415, "wrong Content-Type", "batches come as %s",
                    PARCEL_TYPE);
    else
        hop_take(c->hop, q);
}

static const char *const mixes_states[] = {
    [STORE_MIX_WAITING] = "waiting", [STORE_MIX_CLOSED] = "closed",
    [STORE_MIX_MIXED] = "mixed",     [STORE_MIX_ACKED] = "received",
    [STORE_MIX_ERASED] = "received", [STORE_MIX_EXPIRED] = "erased",
    [STORE_MIX_GONE] = "erased"};

/* Whether nothing about it changes any more. */
static bool mixes_over(const struct store_mix *row)
{
    return row->state == STORE_MIX_ACKED || row->state == STORE_MIX_ERASED ||
           row->state == STORE_MIX_EXPIRED || row->state == STORE_MIX_GONE;
}

static void mixes_put(struct put *p, const struct roster *roster,
                      const struct store_mix *row)
{
    const struct roster_entry *e = roster_at(roster, row->entry);

    put_object(p, NULL);
    put_word(p, "task", e->task.id);
    put_count(p, "release", e->task.release);
    put_day(p, "epoch", row->epoch);
    put_count(p, "part", row->part);
    put_word(p, "state", mixes_states[row->state]);
    put_count(p, "envelopes", row->n);
    put_end(p, '}');
}

/* How many are in a batch is no secret once it is over: the next hop knows, by
 * a signed count. Before that it would tell who has come since. */
static void mixes_list(struct collector *c, struct request *q, bool all)
{
    struct engine_status status;
    struct roster *roster;
    struct store_mix *rows;
    struct put p;
    size_t n;

    if (!collector_shuffles(c)) {
        api_problem(q, 404, "This is no shuffler", "it mixes no batches");
        return;
    }
    if (!api_begin(q, &p))
        return;
    engine_status(c->engine, &status);
    rows = hop_mixes(c->hop, &n);
    roster = engine_roster(c->engine);
    put_day(&p, "day", status.day);
    put_array_lines(&p, "batches");
    for (size_t i = 0; i < n; i++)
        if (rows[i].entry < roster_count(roster) &&
            (all || (mixes_over(&rows[i]) &&
                     rows[i].epoch + MIXER_DAYS >= status.day)))
            mixes_put(&p, roster, &rows[i]);
    put_end(&p, ']');
    roster_drop(roster);
    free(rows);
    api_answer(q, 200, &p);
}

void api_batches(struct request *q, void *ctx)
{
    mixes_list(ctx, q, false);
}

void api_all_batches(struct request *q, void *ctx)
{
    mixes_list(ctx, q, true);
}

void api_documents(struct request *q, void *ctx)
{
    struct collector *c = ctx;
    struct engine_status status;
    uint8_t *list = NULL;
    size_t len = 0;

    if (collector_shuffles(c))
        list = malloc(LOADED_MAX);
    if (list != NULL) {
        engine_status(c->engine, &status);
        len = hop_documents(c->hop, list, status.day);
    }
    if (len != 0) {
        request_answer(q, 200, "application/octet-stream", list, len, free);
        return;
    }
    free(list);
    api_problem(q, 404, "No list of documents",
                "a shuffler that has loaded a document signs one");
}
