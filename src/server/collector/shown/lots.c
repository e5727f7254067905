/*
 * lots.c - which reports are a lot, which are held back.
 *
 * The proof is short. Reports that were never shown are divided here into sets;
 * a set is shown only if min_reports devices are in it at least, and then all
 * of it in one generation and in one block, or in none. Every answer is a sum
 * over such sets. A combination of answers gives each report of a set the same
 * weight: if that is not 0 for one, it is not 0 for min_reports.
 */
#include "server/collector/shown/internal.h"

#include <stdlib.h>
#include <string.h>

void shown_view_clear(struct shown_view *v)
{
    free(v->counts);
    free(v->blocks);
    *v = (struct shown_view){0};
}

void shown_view_forget(struct shown_view *v, uint32_t before, bool all)
{
    size_t left = 0;

    for (size_t k = 0; k < v->nblocks; k++)
        if (all || v->blocks[k].last >= before)
            v->blocks[left++] = v->blocks[k];
    v->nblocks = left;
    v->gone |= all;
}

hsy_status shown_view_copy(struct shown_view *out, const struct shown_view *v)
{
    *out = *v;
    out->counts = malloc((v->ncounts + 1) * sizeof *v->counts);
    out->blocks = malloc((v->nblocks + 1) * sizeof *v->blocks);
    if (out->counts == NULL || out->blocks == NULL) {
        shown_view_clear(out);
        return HSY_E_NOMEM;
    }
    if (v->ncounts != 0)
        memcpy(out->counts, v->counts, v->ncounts * sizeof *v->counts);
    if (v->nblocks != 0)
        memcpy(out->blocks, v->blocks, v->nblocks * sizeof *v->blocks);
    return HSY_OK;
}

struct shown_epoch shown_view_at(const struct shown_view *v, uint32_t epoch)
{
    size_t low = 0, high = v->ncounts;

    while (low < high) {
        const size_t mid = (low + high) / 2;

        if (v->counts[mid].epoch == epoch)
            return v->counts[mid];
        if (v->counts[mid].epoch < epoch)
            low = mid + 1;
        else
            high = mid;
    }
    return (struct shown_epoch){.epoch = epoch};
}

void shown_plan_clear(struct shown_plan *p)
{
    shown_view_clear(&p->next);
    free(p->lots);
    *p = (struct shown_plan){0};
}

/* ---- Sets of reports ----------------------------------------------------- */

/* While a plan is made: what each epoch has beyond what is shown, and the set
 * that it belongs to. */
struct plan {
    const struct shown_ask *ask;
    struct shown_plan *out;
    struct store_count *held; /* by epoch, as ask->live; owned */
    struct store_count *some; /* room for a set; owned */
    size_t *set;              /* PLAN_REST, or the place of a lot; owned */
};

#define PLAN_REST SIZE_MAX

/* Whether a set has enough devices. */
static bool plan_enough(const struct plan *p, size_t set)
{
    const uint64_t least = p->ask->is->task.min_reports;
    struct engine_rounds of = {0};
    hsy_attendance attended = {0};
    size_t n = 0;

    for (size_t i = 0; i < p->ask->n; i++)
        if (p->set[i] == set && p->held[i].reports != 0)
            p->some[n++] = p->held[i];
    if (n == 0)
        return false;
    if (engine_rounds_of(&of, p->ask->is, p->some, n, NULL) != HSY_OK ||
        engine_rounds_attend(&attended, &of, &p->ask->is->task, NULL) != HSY_OK)
        attended.devices = 0;
    rounds_clear(&of.rounds);
    return attended.devices >= (least > 1 ? least : 1);
}

static void plan_into_rest(const struct plan *p, size_t set)
{
    for (size_t i = 0; i < p->ask->n; i++)
        if (p->set[i] == set)
            p->set[i] = PLAN_REST;
}

static struct shown_lot *plan_lot(struct plan *p, size_t block, uint32_t first,
                                  uint32_t last)
{
    struct shown_lot *lot = &p->out->lots[p->out->nlots++];

    *lot = (struct shown_lot){.block = block, .first = first, .last = last};
    return lot;
}

/* ---- Blocks that are there ----------------------------------------------- */

/* Epochs of a block are its set; false: nothing is held there. */
static bool plan_gather(struct plan *p, size_t set, uint32_t first,
                        uint32_t last)
{
    bool any = false;

    for (size_t i = 0; i < p->ask->n; i++)
        if (engine_is_day(&p->ask->live[i]) && p->ask->live[i].epoch >= first &&
            p->ask->live[i].epoch <= last) {
            p->set[i] = set;
            any |= p->held[i].reports != 0;
        }
    return any;
}

/* A set is a lot, is held, or, when its days are over, is left to the rest. */
static void plan_settle(struct plan *p, struct shown_lot *lot)
{
    const size_t set = p->out->nlots - 1;

    lot->shown = plan_enough(p, set);
    if (!lot->shown && lot->last < p->ask->open) {
        plan_into_rest(p, set);
        p->out->nlots--;
    }
}

static void plan_blocks(struct plan *p)
{
    const struct shown_view *next = &p->out->next;

    for (size_t k = 0; k < next->nblocks; k++) {
        const struct shown_block *b = &next->blocks[k];

        if (b->over || b->first < p->ask->kept)
            continue;
        if (plan_gather(p, p->out->nlots, b->first, b->last))
            plan_settle(p, plan_lot(p, k, b->first, b->last));
        else
            plan_into_rest(p, p->out->nlots); /* nothing of it is held */
    }
}

/* ---- Blocks that become some --------------------------------------------- */

/* Whether a day may be of a new block: it is in none, and nothing of it is
 * shown otherwise. */
static bool plan_free(const struct plan *p, const struct shown_view *now,
                      uint32_t day)
{
    const struct shown_view *next = &p->out->next;

    if (day < p->ask->kept || day < p->ask->begin ||
        shown_view_at(now, day).reports != 0)
        return false;
    for (size_t k = 0; k < next->nblocks; k++)
        if (day >= next->blocks[k].first && day <= next->blocks[k].last)
            return false;
    return true;
}

static void plan_new_block(struct plan *p, const struct shown_lot *lot)
{
    struct shown_view *next = &p->out->next;
    size_t at = next->nblocks++;

    for (; at > 0 && next->blocks[at - 1].first > lot->first; at--)
        next->blocks[at] = next->blocks[at - 1];
    next->blocks[at] =
        (struct shown_block){.first = lot->first, .last = lot->last};
}

/* A day joins the lot before it; the lot, if more are to join. */
static struct shown_lot *plan_join(struct plan *p, struct shown_lot *lot,
                                   size_t i)
{
    const uint32_t day = p->ask->live[i].epoch;

    if (lot == NULL && p->held[i].reports == 0)
        return NULL;
    if (lot == NULL)
        lot = plan_lot(p, SHOWN_FORMING, day, day);
    lot->last = day;
    p->set[i] = p->out->nlots - 1;
    if (!plan_enough(p, p->out->nlots - 1))
        return lot;
    lot->shown = true;
    plan_new_block(p, lot);
    return NULL;
}

/* Days between blocks and after them, joined until they are enough. */
static void plan_form(struct plan *p, const struct shown_view *now)
{
    struct shown_lot *lot = NULL;

    for (size_t i = 0; i < p->ask->n; i++) {
        if (!engine_is_day(&p->ask->live[i]))
            continue;
        if (plan_free(p, now, p->ask->live[i].epoch)) {
            lot = plan_join(p, lot, i);
        } else if (lot != NULL) {
            plan_settle(p, lot);
            lot = NULL;
        }
    }
    if (lot != NULL)
        plan_settle(p, lot);
}

/* ---- What will be shown -------------------------------------------------- */

/* Of blocks that gave something to the rest no more is told apart. */
static void plan_end_blocks(struct plan *p)
{
    struct shown_view *next = &p->out->next;

    for (size_t k = 0; k < next->nblocks; k++)
        for (size_t i = 0; i < p->ask->n; i++)
            if (p->set[i] == PLAN_REST && p->held[i].reports != 0 &&
                engine_is_day(&p->ask->live[i]) &&
                p->ask->live[i].epoch >= next->blocks[k].first &&
                p->ask->live[i].epoch <= next->blocks[k].last)
                next->blocks[k].over = true;
}

/*
 * The batches of an epoch's live reports. They are shown with the reports, and
 * never before: an epoch's reports are shown all or none of a generation, and
 * what is live are whole batches (engine_batches.c). So what is told of batches
 * is a function of whole lots too, but for the size of the smallest, which may
 * be less than a lot: shown_copy does not tell that.
 */
static struct engine_sum plan_came(const struct plan *p, uint32_t epoch)
{
    for (size_t i = 0; i < p->ask->nbatches; i++)
        if (p->ask->batches[i].epoch == epoch)
            return p->ask->batches[i].sum;
    return (struct engine_sum){0};
}

static void plan_count(const struct plan *p, const struct shown_view *now,
                       size_t i)
{
    const struct store_count *live = &p->ask->live[i];
    struct shown_lot *lot =
        p->set[i] != PLAN_REST ? &p->out->lots[p->set[i]] : NULL;
    struct shown_epoch *next = &p->out->next.counts[i];

    *next = shown_view_at(now, live->epoch);
    next->nulls = live->nulls;
    if (lot != NULL)
        lot->live += live->reports;
    if (lot != NULL ? lot->shown : p->out->rest) {
        next->reports = live->reports;
        next->came = plan_came(p, live->epoch);
    }
    if (lot != NULL && lot->shown) {
        next->own += p->held[i].reports;
        next->own_came = next->came; /* nothing of its day is in the rest */
    }
}

static void plan_show(struct plan *p, const struct shown_view *now)
{
    struct shown_plan *out = p->out;

    out->rest = plan_enough(p, PLAN_REST);
    out->any = out->rest;
    for (size_t k = 0; k < out->nlots; k++)
        out->any |= out->lots[k].shown;
    if (out->rest)
        plan_end_blocks(p);
    for (size_t i = 0; i < p->ask->n; i++)
        plan_count(p, now, i);
    out->next.ncounts = p->ask->n;
    out->next.generation += out->any;
}

/* ---- All of it ----------------------------------------------------------- */

/* What is held of each epoch; false: less is there than is shown. */
static bool plan_hold(struct plan *p, const struct shown_view *now)
{
    uint64_t known = 0, shown = 0;

    for (size_t i = 0; i < p->ask->n; i++) {
        const uint64_t of = shown_view_at(now, p->ask->live[i].epoch).reports;

        if (p->ask->live[i].reports < of)
            return false;
        p->held[i] = p->ask->live[i];
        p->held[i].reports -= of;
        p->set[i] = PLAN_REST;
        known += of;
    }
    for (size_t i = 0; i < now->ncounts; i++)
        shown += now->counts[i].reports;
    return shown == known;
}

static bool plan_open(struct plan *p, const struct shown_view *now)
{
    struct shown_view *next = &p->out->next;
    const size_t n = p->ask->n, blocks = now->nblocks;

    *next =
        (struct shown_view){.generation = now->generation, .nblocks = blocks};
    next->counts = calloc(n + 1, sizeof *next->counts);
    next->blocks = calloc(blocks + n + 1, sizeof *next->blocks);
    p->out->lots = calloc(blocks + n + 1, sizeof *p->out->lots);
    p->held = calloc(n + 1, sizeof *p->held);
    p->some = calloc(n + 1, sizeof *p->some);
    p->set = calloc(n + 1, sizeof *p->set);
    if (next->counts == NULL || next->blocks == NULL || p->out->lots == NULL ||
        p->held == NULL || p->some == NULL || p->set == NULL)
        return false;
    if (blocks != 0)
        memcpy(next->blocks, now->blocks, blocks * sizeof *next->blocks);
    return true;
}

hsy_status shown_plan(struct shown_plan *out, const struct shown_view *now,
                      const struct shown_ask *ask)
{
    struct plan p = {.ask = ask, .out = out};
    hsy_status st = HSY_OK;

    *out = (struct shown_plan){0};
    if (!plan_open(&p, now))
        st = HSY_E_NOMEM;
    else if (!plan_hold(&p, now))
        st = HSY_E_RANGE;
    if (st == HSY_OK && ask->daily) {
        plan_blocks(&p);
        plan_form(&p, now);
    }
    if (st == HSY_OK)
        plan_show(&p, now);
    free(p.held);
    free(p.some);
    free(p.set);
    if (st != HSY_OK)
        shown_plan_clear(out);
    return st;
}
