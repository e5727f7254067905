/* engine_forget.c - what an operator lets an engine forget. */
#include "server/engine/internal.h"

#include "host/base/host_fail.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* ---- Ids of null uploads ------------------------------------------------- */

/* What is left of an entry's ids without its nulls. */
static void forget_row(const struct engine *e, struct store_quota *row,
                       const struct store_count *count)
{
    const uint64_t used =
        portions_used(&e->portions, count->epoch, count->entry);
    const uint64_t left = used > count->nulls ? used - count->nulls : 0;

    *row = (struct store_quota){.epoch = count->epoch,
                                .used = (uint32_t)(left + 1)};
    portions_name(row->token, count->entry);
}

/* The rows of all entries that have something in the epoch. */
static size_t forget_rows(const struct engine *e, uint32_t epoch,
                          struct store_quota *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < e->nentries; i++) {
        const struct engine_entry *x = e->entries[i];

        for (size_t k = 0; k < x->ncounts; k++)
            if (x->counts[k].epoch == epoch)
                forget_row(e, &rows[n++], &x->counts[k]);
    }
    return n;
}

hsy_status engine_forget_nulls(struct engine *e, uint32_t epoch, uint64_t *n,
                               hsy_error *err)
{
    struct store_quota *rows = malloc((e->nentries + 1) * sizeof *rows);
    struct store_commit c = {.seq = e->status.seq + 1, .quotas = rows};
    hsy_status st;

    if (rows == NULL)
        return host_nomem(err);
    c.nquotas = epoch > e->closed ? forget_rows(e, epoch, rows) : 0;
    st = e->store->ops->forget_nulls(e->store, epoch, n, err);
    if (st == HSY_OK && *n != 0)
        st = e->store->ops->append(e->store, &c, err);
    e->dead = true;
    free(rows);
    return st;
}

/* ---- Tasks --------------------------------------------------------------- */

bool engine_is_retired(struct engine *e, uint32_t entry)
{
    bool retired;

    pthread_mutex_lock(&e->lock);
    retired = entry < e->nentries && e->entries[entry]->retired;
    pthread_mutex_unlock(&e->lock);
    return retired;
}

static void forget_mark(struct engine *e, struct engine_entry *x, uint64_t seq)
{
    pthread_mutex_lock(&e->lock);
    e->status.seq = seq;
    if (e->queue.first == NULL && e->status.waiting_bytes == 0)
        e->status.folded = seq;
    x->retired = e->trim = true;
    x->refuses = x->undated = false;
    pthread_mutex_unlock(&e->lock);
}

static hsy_status forget_current(hsy_error *err)
{
    return host_fail(err, HSY_E_REFUSED, HSY_FIELD_TASK,
                     "the document in force asks it: put one in force without "
                     "it first");
}

hsy_status engine_entry_there(const struct engine *e, uint32_t entry,
                              hsy_error *err)
{
    if (e->dead)
        return host_fail(err, HSY_E_IO, HOST_FIELD_STORE,
                         "the store has failed");
    if (entry >= e->nentries)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_ENTRY,
                         "there is no such task");
    return HSY_OK;
}

hsy_status engine_retire(struct engine *e, uint32_t entry, hsy_error *err)
{
    const struct store_count mark = {.entry = entry, .epoch = ENGINE_RETIRED};
    const struct store_commit c = {
        .seq = e->status.seq + 1, .counts = &mark, .ncounts = 1};
    hsy_status st = engine_entry_there(e, entry, err);

    if (st != HSY_OK)
        return st;
    if (e->entries[entry]->retired)
        return HSY_OK;
    if (roster_at(e->roster, entry)->current)
        return forget_current(err);
    st = e->store->ops->append(e->store, &c, err);
    e->dead |= st != HSY_OK && st != HSY_E_FULL && !e->mirror;
    if (st == HSY_OK)
        forget_mark(e, e->entries[entry], c.seq);
    return st;
}

static bool forget_meant(const struct engine *e, uint32_t entry,
                         const char *task, uint32_t release)
{
    const hsy_task *is = &roster_at(e->roster, entry)->task;

    return strcmp(is->id, task) == 0 &&
           (release == 0 || is->release == release);
}

/* None of them, if the document in force asks one. */
hsy_status engine_retire_task(struct engine *e, const char *task,
                              uint32_t release, uint64_t *n, hsy_error *err)
{
    hsy_status st = HSY_OK;
    bool any = false, current = false;

    *n = 0;
    for (uint32_t i = 0; i < e->nentries; i++)
        if (forget_meant(e, i, task, release)) {
            any = true;
            current |= roster_at(e->roster, i)->current;
        }
    if (!any)
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_TASK,
                         "no such task or release in this data");
    if (current)
        return forget_current(err);
    for (uint32_t i = 0; st == HSY_OK && i < e->nentries; i++)
        if (forget_meant(e, i, task, release) && !e->entries[i]->retired) {
            st = engine_retire(e, i, err);
            *n += st == HSY_OK;
        }
    return st;
}

hsy_status engine_purge(struct engine *e, uint32_t before, uint64_t *n,
                        hsy_error *err)
{
    hsy_status st = HSY_OK;

    *n = 0;
    if (before > e->closed + 1)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_BEFORE,
                         "days before it are still open");
    for (uint32_t i = 0; st == HSY_OK && i < e->nentries; i++) {
        const struct roster_entry *is = roster_at(e->roster, i);

        if (is->current || is->last >= before || e->entries[i]->retired)
            continue;
        st = engine_retire(e, i, err);
        *n += st == HSY_OK;
    }
    pthread_mutex_lock(&e->lock);
    if (st == HSY_OK && before > e->purged)
        e->purged = before;
    e->trim = true;
    pthread_mutex_unlock(&e->lock);
    return st;
}

/* ---- Memory -------------------------------------------------------------- */

/* The ids of a day are a gigabyte in small pieces: without this the process
 * keeps what was freed. */
void engine_trim(struct engine *e)
{
    bool trim;

    pthread_mutex_lock(&e->lock);
    trim = e->trim;
    e->trim = false;
    pthread_mutex_unlock(&e->lock);
    if (trim)
        malloc_trim(0);
}
