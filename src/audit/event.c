/*
 * event.c - which event tells two truths apart best.
 *
 * One part of a sample chooses the event, another bounds it. The choice is then
 * independent of what the bound is computed from, so the bound keeps its
 * confidence however many events were looked at.
 */
#include "audit/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct audit_event_cell {
    double ratio; /* how much likelier under own, as seen */
    size_t cell;
};

/* What the search carries around. */
struct audit_event_search {
    const struct audit_sample *s;
    const struct audit_counts *c;
    struct audit_event *best;
    double z;
    uint8_t *set;                    /* one byte a cell */
    struct audit_event_cell *sorted; /* room for all cells */
};

static bool audit_event_offer(const struct audit_event_search *q,
                              struct audit_event *e)
{
    e->score = audit_bound_guess(e->hits, e->trials, q->z);
    if (e->score <= q->best->score)
        return false;
    *q->best = *e;
    return true;
}

/* How often bits i and j of probe x show the pattern, given the counts of
 * ones. A single bit is i = j with the pattern 0 or 3. */
static uint64_t audit_event_pattern(const struct audit_counts *c, size_t x,
                                    size_t i, size_t j, unsigned pattern)
{
    const uint64_t *pairs = c->pairs + x * AUDIT_BITS * AUDIT_BITS;
    uint64_t both = pairs[i * AUDIT_BITS + j];
    uint64_t one = pairs[i * AUDIT_BITS + i];
    uint64_t two = pairs[j * AUDIT_BITS + j];

    switch (pattern) {
    case 0:
        return c->reports[x] + both - one - two;
    case 1:
        return one - both;
    case 2:
        return two - both;
    default:
        return both;
    }
}

/* The two counts of an event that is not a set. */
static void audit_event_count(struct audit_event *e,
                              const struct audit_sample *s,
                              const struct audit_counts *c)
{
    const size_t probe[2] = {e->own, e->other};

    for (int k = 0; k < 2; k++) {
        size_t x = probe[k];

        e->trials[k] = c->reports[x];
        switch (e->class) {
        case AUDIT_CELL:
            e->hits[k] = c->cells[x * s->outputs->size + e->i];
            break;
        case AUDIT_BIT:
            e->hits[k] = audit_event_pattern(c, x, e->i, e->j, e->pattern);
            break;
        case AUDIT_RATIO:
            e->hits[k] = c->classes[x][e->i][e->j][e->pattern];
            e->trials[k] = c->classed[x];
            break;
        case AUDIT_SHAPE:
            e->hits[k] = c->shapes[x][e->i];
            e->trials[k] = c->shaped[x];
            break;
        default:
            break;
        }
    }
}

static void audit_event_try(const struct audit_event_search *q,
                            struct audit_event e)
{
    audit_event_count(&e, q->s, q->c);
    audit_event_offer(q, &e);
}

static void audit_event_cells(const struct audit_event_search *q, size_t own,
                              size_t other)
{
    struct audit_event e = {.class = AUDIT_CELL, .own = own, .other = other};

    for (e.i = 0; e.i < q->s->outputs->size; e.i++)
        audit_event_try(q, e);
}

static void audit_event_bits(const struct audit_event_search *q, size_t own,
                             size_t other)
{
    struct audit_event e = {.class = AUDIT_BIT, .own = own, .other = other};

    for (e.i = 0; e.i < q->s->nbits; e.i++)
        for (e.j = e.i; e.j < q->s->nbits; e.j++)
            for (e.pattern = 0; e.pattern < 4; e.pattern++)
                audit_event_try(q, e);
}

static void audit_event_ratio(const struct audit_event_search *q, size_t own,
                              size_t other)
{
    struct audit_event e = {.class = AUDIT_RATIO, .own = own, .other = other};

    e.i = own < other ? own : other;
    e.j = own < other ? other : own;
    for (e.pattern = 0; e.pattern < AUDIT_CLASSES; e.pattern++)
        audit_event_try(q, e);
}

static void audit_event_shapes(const struct audit_event_search *q, size_t own,
                               size_t other)
{
    struct audit_event e = {.class = AUDIT_SHAPE, .own = own, .other = other};

    for (e.i = 0; e.i < q->s->nshapes; e.i++)
        audit_event_try(q, e);
}

static int audit_event_order(const void *a, const void *b)
{
    const struct audit_event_cell *x = a, *y = b;

    return (x->ratio < y->ratio) - (x->ratio > y->ratio);
}

/*
 * The best set of outputs is, by Neyman and Pearson, those whose likelihood
 * ratio passes a bound: sort by the ratio that the learning part saw and try
 * every prefix on the choosing part, so that luck in the one is not taken for
 * promise in the other. Needs no knowledge of the mechanism.
 */
static void audit_event_sets(const struct audit_event_search *q, size_t own,
                             size_t other)
{
    size_t size = q->s->outputs->size, end = 0;
    const uint64_t *learnt = q->s->part[AUDIT_LEARN].cells;
    const uint64_t *a = learnt + own * size, *b = learnt + other * size;
    const uint64_t *cells = q->c->cells;
    struct audit_event e = {
        .class = AUDIT_SET,
        .own = own,
        .other = other,
        .set = q->set,
        .trials = {q->c->reports[own], q->c->reports[other]}};

    for (size_t i = 0; i < size; i++) {
        q->sorted[i].cell = i;
        q->sorted[i].ratio = ((double)a[i] + 0.5) / ((double)b[i] + 0.5);
    }
    qsort(q->sorted, size, sizeof *q->sorted, audit_event_order);
    for (e.i = 1; e.i <= size; e.i++) {
        e.hits[0] += cells[own * size + q->sorted[e.i - 1].cell];
        e.hits[1] += cells[other * size + q->sorted[e.i - 1].cell];
        if (audit_event_offer(q, &e))
            end = e.i;
    }
    if (end == 0)
        return; /* the set of an earlier pair may still be the best */
    memset(q->set, 0, size);
    for (size_t i = 0; i < end; i++)
        q->set[q->sorted[i].cell] = 1;
}

static void audit_event_search_pair(const struct audit_event_search *q,
                                    size_t own, size_t other)
{
    audit_event_cells(q, own, other);
    audit_event_bits(q, own, other);
    audit_event_ratio(q, own, other);
    audit_event_shapes(q, own, other);
    audit_event_sets(q, own, other);
}

hsy_status audit_event_choose(struct audit_event *best,
                              const struct audit_sample *s, double alpha,
                              uint8_t *set)
{
    struct audit_event_search q = {.s = s,
                                   .c = &s->part[AUDIT_CHOOSE],
                                   .best = best,
                                   .z = -hsy_normal_quantile(alpha / 2),
                                   .set = set};
    bool nothing;

    memset(best, 0, sizeof *best);
    q.sorted = calloc(s->outputs->size + 1, sizeof *q.sorted);
    if (q.sorted == NULL)
        return HSY_E_NOMEM;
    for (size_t i = 0; i < s->nprobes * s->nprobes; i++)
        if (i / s->nprobes != i % s->nprobes)
            audit_event_search_pair(&q, i / s->nprobes, i % s->nprobes);

    /*
     * A small epsilon may show nowhere yet. Then take what the law expects to
     * tell most: these events are few, so less than proof is enough to choose
     * one. 3: the part that proves has some 12 times as many trials.
     */
    q.z /= 3;
    nothing = best->class == AUDIT_NOTHING;
    for (size_t i = 0; nothing && i < s->nprobes * s->nprobes; i++)
        if (i / s->nprobes != i % s->nprobes)
            audit_event_ratio(&q, i / s->nprobes, i % s->nprobes);
    free(q.sorted);
    return HSY_OK;
}

void audit_event_recount(struct audit_event *e, const struct audit_sample *s)
{
    const struct audit_counts *c = &s->part[AUDIT_PROVE];
    size_t size = s->outputs->size;

    audit_event_count(e, s, c);
    if (e->class != AUDIT_SET)
        return;
    e->hits[0] = e->hits[1] = 0;
    for (size_t i = 0; i < size; i++) {
        e->hits[0] += e->set[i] * c->cells[e->own * size + i];
        e->hits[1] += e->set[i] * c->cells[e->other * size + i];
    }
}

static void audit_event_bit_name(char *out, size_t len,
                                 const struct audit_event *e,
                                 const struct audit_sample *s)
{
    if (e->i == e->j)
        snprintf(out, len, "bit %u is %u", s->bit_at[e->i], e->pattern & 1);
    else
        snprintf(out, len, "bits %u, %u are %u, %u", s->bit_at[e->i],
                 s->bit_at[e->j], e->pattern & 1, e->pattern >> 1);
}

void audit_event_name(char *out, size_t len, const struct audit_event *e,
                      const struct audit_sample *s)
{
    char what[48] = "nothing told them apart";
    const struct audit_shape *shape = &s->shape[e->i % AUDIT_SHAPES];

    if (e->class == AUDIT_CELL)
        snprintf(what, sizeof what, "output %zu", e->i);
    else if (e->class == AUDIT_SET)
        snprintf(what, sizeof what, "a set of %zu outputs", e->i);
    else if (e->class == AUDIT_BIT)
        audit_event_bit_name(what, sizeof what, e, s);
    else if (e->class == AUDIT_RATIO)
        snprintf(what, sizeof what, "likelihood ratio");
    else if (e->class == AUDIT_SHAPE)
        snprintf(what, sizeof what, "status %d, %llu + %llu bytes drawn",
                 (int)shape->status, (unsigned long long)shape->secret,
                 (unsigned long long)shape->published);
    if (e->class == AUDIT_NOTHING)
        snprintf(out, len, "%s", what);
    else
        snprintf(out, len, "%s (%s truth against %s, %s)", what,
                 s->probes[e->own].name, s->probes[e->other].name,
                 s->batch ? "batch" : "single");
}
