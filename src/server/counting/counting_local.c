/*
 * counting_local.c - one machine: the engine with its two threads, on SQLite.
 *
 * Everything that changes what is counted runs on the admitter's thread,
 * everything that reads tallies on the folder's (workers.h).
 */
#define _GNU_SOURCE /* explicit_bzero */
#include "server/counting/counting.h"

#include "host/base/host_fail.h"
#include "server/store/rehearsal.h"

#include <stdlib.h>
#include <string.h>

#define LOCAL_FOLDS 16u /* bounded amounts, before somebody looks */

struct counting_local {
    struct counting base;
    struct store *store;
    struct workers *workers; /* NULL: not started, or stopped */
};

static struct counting_local *local_of(struct counting *c)
{
    return (struct counting_local *)c;
}

static hsy_status local_start(struct counting *c,
                              const struct workers_options *o, hsy_error *err)
{
    return workers_start(&local_of(c)->workers, c->view, o, err);
}

static bool local_submit(struct counting *c, struct submission *s)
{
    return workers_submit(local_of(c)->workers, s);
}

static void local_times(struct counting *c, struct workers_times *out)
{
    workers_status(local_of(c)->workers, out);
}

/* ---- On the thread that admits ------------------------------------------- */

/* What is to be done there, and with what. */
struct local_call {
    enum {
        LOCAL_DOCUMENT,
        LOCAL_MERGE,
        LOCAL_RECEIVED,
        LOCAL_RECEIVE,
        LOCAL_RETIRE,
        LOCAL_KEEP,
        LOCAL_FIGURES
    } does;
    uint32_t which; /* entry, release or day */
    const uint8_t *bytes;
    size_t len;
    const char *task;
    struct store *store;
    struct store_received *received;
    struct engine_delivery *delivery;
    const struct store_figure *figure;
    const struct store_reader *to;
    uint64_t *n;
};

static hsy_status local_job(struct engine *e, void *ctx, hsy_error *err)
{
    const struct local_call *c = ctx;

    switch (c->does) {
    case LOCAL_DOCUMENT:
        return engine_set_document(e, c->bytes, c->len, err);
    case LOCAL_MERGE:
        return engine_merge(e, c->which, c->bytes, c->len, err);
    case LOCAL_RECEIVED:
        return c->store->ops->received(c->store, c->bytes, c->received, err);
    case LOCAL_RECEIVE:
        return engine_receive(e, c->delivery, err);
    case LOCAL_RETIRE:
        return c->task != NULL
                   ? engine_retire_task(e, c->task, c->which, c->n, err)
                   : engine_purge(e, c->which, c->n, err);
    case LOCAL_KEEP:
        return engine_keep(e, c->figure, err);
    case LOCAL_FIGURES:
        return engine_figures(e, c->to, err);
    }
    return HSY_E_UNKNOWN;
}

/* Before there is such a thread, at once. */
static hsy_status local_admitting(struct counting *c, struct local_call call,
                                  hsy_error *err)
{
    struct workers *w = local_of(c)->workers;

    return w != NULL ? workers_admitting(w, local_job, &call, err)
                     : local_job(c->view, &call, err);
}

static hsy_status local_document(struct counting *c, const uint8_t *bytes,
                                 size_t len, hsy_error *err)
{
    return local_admitting(
        c, (struct local_call){LOCAL_DOCUMENT, .bytes = bytes, .len = len},
        err);
}

static hsy_status local_merge(struct counting *c, uint32_t entry,
                              const uint8_t *bytes, size_t len, hsy_error *err)
{
    return local_admitting(
        c, (struct local_call){LOCAL_MERGE, entry, .bytes = bytes, .len = len},
        err);
}

static hsy_status local_received(struct counting *c,
                                 const uint8_t id[STORE_BATCH_ID],
                                 struct store_received *out, hsy_error *err)
{
    return local_admitting(c,
                           (struct local_call){LOCAL_RECEIVED,
                                               .store = local_of(c)->store,
                                               .bytes = id, .received = out},
                           err);
}

static hsy_status local_receive(struct counting *c, struct engine_delivery *d,
                                hsy_error *err)
{
    return local_admitting(c, (struct local_call){LOCAL_RECEIVE, .delivery = d},
                           err);
}

static hsy_status local_retire(struct counting *c, const char *task,
                               uint32_t which, uint64_t *n, hsy_error *err)
{
    return local_admitting(
        c, (struct local_call){LOCAL_RETIRE, which, .task = task, .n = n}, err);
}

static hsy_status local_keep(struct counting *c,
                             const struct store_figure *figure, hsy_error *err)
{
    return local_admitting(c, (struct local_call){LOCAL_KEEP, .figure = figure},
                           err);
}

static hsy_status local_figures(struct counting *c,
                                const struct store_reader *to, hsy_error *err)
{
    return local_admitting(c, (struct local_call){LOCAL_FIGURES, .to = to},
                           err);
}

/* ---- Tallies ------------------------------------------------------------- */

struct local_look {
    workers_job *job;
    void *ctx;
};

static hsy_status local_look_job(struct engine *e, void *ctx, hsy_error *err)
{
    const struct local_look *l = ctx;
    hsy_status st = HSY_OK;
    bool more = true;

    for (unsigned i = 0; i < LOCAL_FOLDS && more && st == HSY_OK; i++)
        st = engine_fold(e, &more, err);
    return st == HSY_OK ? l->job(e, l->ctx, err) : st;
}

static hsy_status local_look(struct counting *c, uint32_t entry,
                             workers_job *job, void *ctx, hsy_error *err)
{
    struct local_look l = {job, ctx};

    (void)entry; /* batches are folded in the order of their commits */
    return workers_folding(local_of(c)->workers, local_look_job, &l, err);
}

/* ---- Life ---------------------------------------------------------------- */

static hsy_status local_nothing(struct engine *e, void *ctx, hsy_error *err)
{
    (void)e;
    (void)ctx;
    (void)err;
    return HSY_OK;
}

static void local_answer(struct counting *c, enum counting_half half)
{
    struct workers *w = local_of(c)->workers;

    if (half == COUNTING_ADMITS)
        (void)workers_admitting(w, local_nothing, NULL, NULL);
    else
        (void)workers_folding(w, local_nothing, NULL, NULL);
}

static hsy_status local_backup(struct counting *c, const char *directory,
                               const struct store_beside *beside,
                               hsy_error *err)
{
    struct store *s = local_of(c)->store;

    return s->ops->backup(s, directory, beside, err);
}

static hsy_status local_stop(struct counting *c, hsy_error *err)
{
    struct counting_local *l = local_of(c);
    hsy_status st = HSY_OK;

    if (l->workers != NULL)
        st = workers_stop(l->workers, err);
    l->workers = NULL;
    return st;
}

static void local_close(struct counting *c)
{
    struct counting_local *l = local_of(c);

    engine_close(c->view);
    if (l->store != NULL)
        l->store->ops->close(l->store);
    free(l);
}

static const struct counting_functions local_functions = {
    .name = "local",
    .start = local_start,
    .submit = local_submit,
    .times = local_times,
    .document = local_document,
    .merge = local_merge,
    .received = local_received,
    .receive = local_receive,
    .keep = local_keep,
    .figures = local_figures,
    .retire = local_retire,
    .look = local_look,
    .answer = local_answer,
    .backup = local_backup,
    .stop = local_stop,
    .close = local_close};

hsy_status counting_local_open(struct counting **out, const char *data,
                               bool rehearsal, const struct engine_options *o,
                               hsy_error *err)
{
    struct counting_local *l = calloc(1, sizeof *l);
    struct store_state state;
    hsy_status st;

    *out = NULL;
    if (l == NULL)
        return host_nomem(err);
    l->base.ops = &local_functions;
    st = store_sqlite_open(&l->store, &state, data, true, err);
    if (st == HSY_OK)
        st = rehearsal_mark(l->store, &state, rehearsal, err);
    if (st == HSY_OK)
        st = engine_open(&l->base.view, l->store, &state, o, err);
    explicit_bzero(&state, sizeof state);
    if (st == HSY_OK)
        *out = &l->base;
    else
        local_close(&l->base);
    return st;
}

struct store *counting_store(struct counting *c)
{
    return c->ops == &local_functions ? local_of(c)->store : NULL;
}

void counting_close(struct counting *c)
{
    hsy_error err;

    if (c == NULL)
        return;
    (void)c->ops->stop(c, &err);
    c->ops->close(c);
}
