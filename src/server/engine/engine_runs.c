/*
 * engine_runs.c - ids go from memory to the disk, and what comes of it is
 * adopted: by the half that admits, between its commits (ids.c, store_runs.c).
 */
#include "server/engine/internal.h"

#include "host/base/host_fail.h"
#include "server/store/runs.h"

#include <stdlib.h>

#define RUNS_IDLE 16u /* one part in so many of runs_at, when nobody waits */

/* Without memory for it the ids stay where they are: it was not said that they
 * may go. */
static void runs_adopt(struct engine *e, struct store_runs *runs)
{
    if (runs->epoch > e->closed)
        ids_adopt(e->ids, runs);
    for (size_t i = 0; i < runs->n; i++)
        run_drop(runs->all[i]);
    free(runs->all);
}

void engine_runs_status(struct engine *e)
{
    struct store_runs runs;
    bool any = false;

    while (e->store->ops->runs != NULL &&
           e->store->ops->runs(e->store, &runs)) {
        runs_adopt(e, &runs);
        any = true;
    }
    if (!any)
        return;
    pthread_mutex_lock(&e->lock);
    e->trim = true;
    engine_count_ids(e);
    pthread_mutex_unlock(&e->lock);
}

hsy_status engine_runs_seal(struct engine *e, bool idle, hsy_error *err)
{
    const uint64_t at =
        e->options.runs_at == 0 ? ENGINE_RUNS : e->options.runs_at;
    const uint64_t least = idle && at > RUNS_IDLE ? at / RUNS_IDLE : at;
    hsy_status st = HSY_OK;
    uint32_t epoch;

    if (e->store->ops->seal == NULL)
        return HSY_OK;
    while (st == HSY_OK && ids_next_fresh(e->ids, least, &epoch)) {
        st = e->store->ops->seal(e->store, epoch, err);
        if (st == HSY_OK)
            ids_seal(e->ids, epoch);
    }
    return st == HSY_E_NOMEM || st == HSY_E_FULL ? HSY_OK : st;
}

/* With the lock. */
void engine_count_ids(struct engine *e)
{
    e->status.ids = ids_count(e->ids);
    e->status.ids_bytes = ids_bytes(e->ids);
    ids_runs(e->ids, &e->status.ids_runs, &e->status.ids_disk_bytes);
}
