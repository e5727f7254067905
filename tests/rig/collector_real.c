/* collector_real.c - see collector_real.h. */

#include "rig/collector_real.h"

static bool real_open(struct world *w)
{
    if (w->rig.e == NULL && rig_start(&w->rig) != HSY_OK)
        return false;
    return true;
}

static void real_kill(struct world *w)
{
    engine_close(w->rig.e);
    w->rig.e = NULL;
}

static hsy_status real_tell(struct world *w, struct engine_time now)
{
    return engine_tell(w->rig.e, now, NULL);
}

static void real_mend(struct world *w)
{
    w->rig.options.accept_clock = w->rig.store.mends = true;
    world_crash(w);
}

static struct intake_days real_days(struct world *w)
{
    return engine_days(w->rig.e);
}

static hsy_status real_admit(struct world *w, struct submission *list)
{
    return engine_admit(w->rig.e, list, NULL);
}

/* Tallies of elsewhere: file i has one report, of a cell that no item has. */
#define REAL_TALLIES 4u

#define REAL_TASK 0u

static hsy_status real_merge(struct world *w, uint32_t i)
{
    size_t len;
    uint8_t *file = rig_tally_file(roster_at(w->rig.roster, REAL_TASK),
                                   WORLD_ITEMS + i, 1, &len);
    hsy_status st = engine_merge(w->rig.e, REAL_TASK, file, len, NULL);

    free(file);
    if (st == HSY_OK)
        w->merged |= 1u << i;
    return st == HSY_E_REFUSED ? HSY_OK : st;
}

/* Each is there once if it was acknowledged, and never twice. */
static bool real_merged(const struct world *w, const int64_t *cells)
{
    bool good = true;

    for (uint32_t i = 0; i < REAL_TALLIES; i++) {
        const int64_t n = cells[WORLD_ITEMS + i];

        good &= n == 1 || (n == 0 && (w->merged >> i & 1) == 0);
    }
    return good;
}

/* A later document, with every task under another release. */
static hsy_status real_take(struct world *w)
{
    const uint64_t version = 2 + world_below(w, 5);
    size_t len;
    uint8_t *document = rig_document(RIG_TASKS, 2, version, &len);
    hsy_status st = engine_set_document(w->rig.e, document, len, NULL);

    free(document);
    return st == HSY_E_OLD ? HSY_OK : st;
}

static hsy_status real_work(struct world *w)
{
    bool more;

    if (world_harm(w, 60))
        return real_merge(w, world_below(w, REAL_TALLIES));
    if (world_harm(w, 100))
        return real_take(w);
    switch (world_below(w, 8)) {
    case 0:
        engine_checkpoint(w->rig.e);
        return HSY_OK;
    case 1:
    case 2:
        return engine_fold(w->rig.e, &more, NULL);
    case 3:
        return engine_tidy(w->rig.e, &more, NULL);
    default:
        return engine_write(w->rig.e, 1 + world_below(w, 20000), &more, NULL);
    }
}

/* Fold everything; of what is being written, finish that first. */
static hsy_status real_rest(struct world *w)
{
    struct engine_status status;
    hsy_status st = rig_fold(&w->rig);

    engine_status(w->rig.e, &status);
    if (st == HSY_OK && status.waiting_bytes != 0)
        st = rig_write(&w->rig);
    return st == HSY_OK ? rig_fold(&w->rig) : st;
}

static bool real_cells(struct world *w, uint32_t task, uint32_t first,
                       uint32_t last, int64_t cells[WORLD_ITEMS])
{
    const int64_t *all;
    int64_t *words = rig_copy(&w->rig, task, first, last, &all);
    const bool there = words != NULL;

    if (there)
        memcpy(cells, all, WORLD_ITEMS * sizeof *cells);
    free(words);
    return there;
}

/* The counts of all days are those of the tally. */
static bool real_sound(struct world *w)
{
    bool good = w->rig.store.faults == 0;

    for (uint32_t task = 0; task < RIG_TASKS; task++) {
        struct store_count counts[64];
        const size_t n = engine_counts(w->rig.e, task, counts, 64);
        const int64_t *cells;
        int64_t *words = rig_copy(&w->rig, task, 0, 0, &cells);
        uint64_t reports = 0, nulls = 0, counted = 0;

        for (size_t i = 0; i < n; i++) {
            reports += counts[i].reports;
            nulls += counts[i].nulls;
        }
        for (size_t i = 0; words != NULL && i < rig_cells[task]; i++)
            counted += (uint64_t)cells[i];
        for (size_t i = 0; i < WORLD_ITEMS; i++)
            nulls -= w->items[i].task == task && w->items[i].null &&
                     w->items[i].acked;
        /* A null may be counted and not yet acknowledged. */
        good &= reports == counted && nulls <= WORLD_ITEMS;
        if (task == REAL_TASK)
            good &= words == NULL ? w->merged == 0 : real_merged(w, cells);
        free(words);
    }
    return good;
}

const struct world_collector world_real = {.name = "hearsay",
                                           .open = real_open,
                                           .kill = real_kill,
                                           .tell = real_tell,
                                           .mend = real_mend,
                                           .days = real_days,
                                           .admit = real_admit,
                                           .work = real_work,
                                           .rest = real_rest,
                                           .cells = real_cells,
                                           .sound = real_sound,
                                           .quotas = true};
