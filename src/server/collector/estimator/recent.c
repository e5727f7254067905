/* recent.c - the figures that were made last. */
#include "server/collector/estimator/internal.h"

static bool recent_asks(const struct recent_key *a, const struct recent_key *b)
{
    return a->entry == b->entry && a->first == b->first && a->last == b->last &&
           a->top == b->top && a->level == b->level && a->lying == b->lying &&
           a->target == b->target && a->candidates == b->candidates;
}

struct figure *recent_find(const struct recent *r, const struct recent_key *key)
{
    for (size_t i = 0; i < RECENT_FIGURES; i++)
        if (r->figures[i].figure != NULL &&
            r->figures[i].key.generation == key->generation &&
            recent_asks(&r->figures[i].key, key))
            return figure_hold(r->figures[i].figure);
    return NULL;
}

/* Where the same was asked before, or the oldest stands. */
static size_t recent_place(struct recent *r, const struct recent_key *key)
{
    size_t at;

    for (size_t i = 0; i < RECENT_FIGURES; i++)
        if (recent_asks(&r->figures[i].key, key))
            return i;
    at = r->next;
    r->next = (r->next + 1) % RECENT_FIGURES;
    return at;
}

void recent_keep(struct recent *r, const struct recent_key *key,
                 struct figure *figure)
{
    const size_t at = recent_place(r, key);

    figure_drop(r->figures[at].figure);
    r->figures[at].key = *key;
    r->figures[at].figure = figure_hold(figure);
}

void recent_clear(struct recent *r)
{
    for (size_t i = 0; i < RECENT_FIGURES; i++)
        figure_drop(r->figures[i].figure);
    *r = (struct recent){0};
}
