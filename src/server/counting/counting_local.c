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

/* On the thread that admits; before there is one, at once. */
static hsy_status local_admitting(struct counting *c, workers_job *job,
                                  void *ctx, hsy_error *err)
{
    struct workers *w = local_of(c)->workers;

    return w != NULL ? workers_admitting(w, job, ctx, err)
                     : job(c->view, ctx, err);
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

/* ---- What changes something ---------------------------------------------- */

struct local_bytes {
    uint32_t entry;
    const uint8_t *bytes;
    size_t len;
};

static hsy_status local_document_job(struct engine *e, void *ctx,
                                     hsy_error *err)
{
    const struct local_bytes *b = ctx;

    return engine_set_document(e, b->bytes, b->len, err);
}

static hsy_status local_document(struct counting *c, const uint8_t *bytes,
                                 size_t len, hsy_error *err)
{
    struct local_bytes b = {0, bytes, len};

    return local_admitting(c, local_document_job, &b, err);
}

static hsy_status local_merge_job(struct engine *e, void *ctx, hsy_error *err)
{
    const struct local_bytes *b = ctx;

    return engine_merge(e, b->entry, b->bytes, b->len, err);
}

static hsy_status local_merge(struct counting *c, uint32_t entry,
                              const uint8_t *bytes, size_t len, hsy_error *err)
{
    struct local_bytes b = {entry, bytes, len};

    return local_admitting(c, local_merge_job, &b, err);
}

struct local_received {
    struct store *store;
    const uint8_t *id;
    struct store_received *out;
};

static hsy_status local_received_job(struct engine *e, void *ctx,
                                     hsy_error *err)
{
    const struct local_received *r = ctx;

    (void)e;
    return r->store->ops->received(r->store, r->id, r->out, err);
}

static hsy_status local_received(struct counting *c,
                                 const uint8_t id[STORE_BATCH_ID],
                                 struct store_received *out, hsy_error *err)
{
    struct local_received r = {local_of(c)->store, id, out};

    return local_admitting(c, local_received_job, &r, err);
}

static hsy_status local_receive_job(struct engine *e, void *ctx, hsy_error *err)
{
    return engine_receive(e, ctx, err);
}

static hsy_status local_receive(struct counting *c, struct engine_delivery *d,
                                hsy_error *err)
{
    return local_admitting(c, local_receive_job, d, err);
}

struct local_retire {
    const char *task;
    uint32_t which;
    uint64_t *n;
};

static hsy_status local_retire_job(struct engine *e, void *ctx, hsy_error *err)
{
    const struct local_retire *r = ctx;

    return r->task != NULL ? engine_retire_task(e, r->task, r->which, r->n, err)
                           : engine_purge(e, r->which, r->n, err);
}

static hsy_status local_retire(struct counting *c, const char *task,
                               uint32_t which, uint64_t *n, hsy_error *err)
{
    struct local_retire r = {task, which, n};

    return local_admitting(c, local_retire_job, &r, err);
}

/* ---- Figures that are kept ----------------------------------------------- */

static hsy_status local_keep_job(struct engine *e, void *ctx, hsy_error *err)
{
    return engine_keep(e, ctx, err);
}

static hsy_status local_keep(struct counting *c,
                             const struct store_figure *figure, hsy_error *err)
{
    struct store_figure copy = *figure;

    return local_admitting(c, local_keep_job, &copy, err);
}

static hsy_status local_figures_job(struct engine *e, void *ctx, hsy_error *err)
{
    return engine_figures(e, ctx, err);
}

static hsy_status local_figures(struct counting *c,
                                const struct store_reader *to, hsy_error *err)
{
    struct store_reader copy = *to;

    return local_admitting(c, local_figures_job, &copy, err);
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
