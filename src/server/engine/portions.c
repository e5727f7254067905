/* portions.c - whose ids fill an epoch. */
#include "server/engine/portions.h"

#include "host/base/grow.h"

#include <stdlib.h>
#include <string.h>

void portions_clear(struct portions *s)
{
    portions_drop(s, UINT32_MAX);
    free(s->epochs);
    free(s->asked);
    free(s->fresh);
    *s = (struct portions){0};
}

/* ---- Dividing ------------------------------------------------------------ */

/* What of so many ids of an entry is beyond its own part. */
static uint64_t portions_beyond(const struct portions *s, size_t entry,
                                uint64_t used)
{
    const uint64_t own = s->asked[entry] ? s->each : 0;

    return used > own ? used - own : 0;
}

static void portions_recount(const struct portions *s, struct portions_epoch *e)
{
    e->pooled = e->enrolled > s->reserve ? e->enrolled - s->reserve : 0;
    for (size_t i = 0; i < s->entries; i++)
        e->pooled += portions_beyond(s, i, e->used[i]);
}

/* Limit, tasks or the reserve are others. */
static void portions_again(struct portions *s)
{
    uint64_t asked = 0, open;

    for (size_t i = 0; i < s->entries; i++)
        asked += s->asked[i];
    s->reserve = s->enrols ? s->limit / PORTIONS_RESERVE : 0;
    open = s->limit - s->reserve;
    s->each = asked == 0 ? 0 : open / 2 / asked;
    s->pool = open - asked * s->each;
    for (size_t i = 0; i < s->n; i++)
        portions_recount(s, &s->epochs[i]);
}

static uint64_t portions_burst(const struct portions *s)
{
    const uint64_t burst = s->limit / PORTIONS_FILL * PORTIONS_BURST;

    return burst > PORTIONS_ONCE ? burst : PORTIONS_ONCE;
}

/* Room for more entries in a list of numbers, zeros. */
static bool portions_grow(uint64_t **list, size_t from, size_t to)
{
    if (!grow_to(list, to + 1, sizeof **list))
        return false;
    memset(*list + from, 0, (to + 1 - from) * sizeof **list);
    return true;
}

bool portions_divide(struct portions *s, uint64_t limit, const struct roster *r)
{
    const size_t tasks = roster_count(r);
    const size_t n = tasks > s->entries ? tasks : s->entries;

    if (!grow_to(&s->asked, n + 1, sizeof *s->asked))
        return false;
    for (size_t i = 0; i < s->n; i++)
        if (!portions_grow(&s->epochs[i].used, s->entries, n))
            return false;
    if (!portions_grow(&s->fresh, s->entries, n))
        return false;
    s->limit = limit;
    for (size_t i = 0; i < n; i++) {
        s->asked[i] = i < tasks && roster_at(r, i)->current;
        if (i >= s->entries)
            s->fresh[i] = portions_burst(s);
    }
    s->entries = n;
    portions_again(s);
    return true;
}

void portions_enrols(struct portions *s, bool any)
{
    if (s->enrols == any)
        return;
    s->enrols = any;
    portions_again(s);
}

/* ---- Epochs -------------------------------------------------------------- */

static struct portions_epoch *portions_of(const struct portions *s,
                                          uint32_t epoch)
{
    for (size_t i = s->n; i-- > 0;)
        if (s->epochs[i].epoch == epoch)
            return &s->epochs[i];
    return NULL;
}

/* A new one if there is none; NULL: out of memory. */
static struct portions_epoch *portions_make(struct portions *s, uint32_t epoch)
{
    struct portions_epoch *e = portions_of(s, epoch);

    if (e != NULL)
        return e;
    if (!grow_to(&s->epochs, s->n + 1, sizeof *s->epochs))
        return NULL;
    e = &s->epochs[s->n];
    *e = (struct portions_epoch){.epoch = epoch};
    if (!portions_grow(&e->used, 0, s->entries))
        return NULL;
    s->n++;
    return e;
}

bool portions_take(struct portions *s, uint32_t epoch, uint32_t entry,
                   bool enrolled)
{
    struct portions_epoch *e = portions_make(s, epoch);
    uint64_t *used, own;

    if (e == NULL || (!enrolled && s->fresh[entry] == 0))
        return false;
    used = enrolled ? &e->enrolled : &e->used[entry];
    own = enrolled ? s->reserve : s->asked[entry] ? s->each : 0;
    if (*used >= own && e->pooled >= s->pool)
        return false;
    e->pooled += *used >= own;
    ++*used;
    s->fresh[entry] -= !enrolled;
    return true;
}

void portions_give(struct portions *s, uint32_t epoch, uint32_t entry,
                   bool enrolled)
{
    struct portions_epoch *e = portions_of(s, epoch);
    uint64_t *used, own;

    if (e == NULL)
        return;
    used = enrolled ? &e->enrolled : &e->used[entry];
    own = enrolled ? s->reserve : s->asked[entry] ? s->each : 0;
    /* portions_had or portions_tick may have been called since it was taken:
     * then there is nothing to give back. */
    if (*used != 0) {
        --*used;
        e->pooled -= *used >= own && e->pooled != 0;
    }
    if (!enrolled && s->fresh[entry] < portions_burst(s))
        s->fresh[entry]++;
}

bool portions_over(const struct portions *s, uint32_t epoch)
{
    const struct portions_epoch *e = portions_of(s, epoch);

    if (e == NULL || e->pooled < s->pool ||
        (s->enrols && e->enrolled < s->reserve))
        return false;
    for (size_t i = 0; i < s->entries; i++)
        if (s->asked[i] && e->used[i] < s->each)
            return false;
    return true;
}

bool portions_had(struct portions *s, uint32_t epoch, uint64_t ids,
                  const uint64_t *used)
{
    struct portions_epoch *e = portions_make(s, epoch);

    if (e == NULL)
        return false;
    e->enrolled = ids;
    for (size_t i = 0; i < s->entries; i++) {
        /* Data of before may count reports: there are no more than ids. */
        e->used[i] = used[i] < e->enrolled ? used[i] : e->enrolled;
        e->enrolled -= e->used[i];
    }
    portions_recount(s, e);
    return true;
}

uint64_t portions_used(const struct portions *s, uint32_t epoch, uint32_t entry)
{
    const struct portions_epoch *e = portions_of(s, epoch);

    return e == NULL ? 0 : e->used[entry];
}

/* Spread, since names serve as hashes. */
void portions_name(uint8_t name[16], uint32_t entry)
{
    const uint64_t spread = (entry + UINT64_C(1)) * 0x9e3779b97f4a7c15u;

    for (unsigned i = 0; i < 8; i++)
        name[i] = (uint8_t)(spread >> 8 * i);
    memcpy(name + 8, "task", 4);
    for (unsigned i = 0; i < 4; i++)
        name[12 + i] = (uint8_t)(entry >> 8 * i);
}

void portions_tick(struct portions *s, uint64_t second)
{
    const uint64_t all = s->limit / PORTIONS_FILL > PORTIONS_RATE
                             ? s->limit / PORTIONS_FILL
                             : PORTIONS_RATE;
    const uint64_t rate = s->nodes > 1 ? all / s->nodes + 1 : all;
    const uint64_t most = portions_burst(s);
    const uint64_t passed = second > s->second + PORTIONS_BURST
                                ? PORTIONS_BURST
                                : second - s->second;

    if (second <= s->second)
        return;
    for (size_t i = 0; i < s->entries; i++)
        s->fresh[i] = most - s->fresh[i] > passed * rate
                          ? s->fresh[i] + passed * rate
                          : most;
    s->second = second;
}

void portions_drop(struct portions *s, uint32_t through)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (s->epochs[i].epoch <= through)
            free(s->epochs[i].used);
        else
            s->epochs[kept++] = s->epochs[i];
    }
    s->n = kept;
}
