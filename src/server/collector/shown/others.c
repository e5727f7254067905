/*
 * others.c - one chain of generations for all nodes that share a keep.
 *
 * Whatever two nodes answer, at whatever times, differs by whole lots:
 *
 * 1. The generations of an entry are one chain, cluster-wide. Who makes the
 *    next holds the entry (enter) from before it reads the view g that the
 *    plan starts from until g + 1 is put, and makes none if g is not what it
 *    shows. So every generation is planned from the one before it, by lots.c:
 *    its new lots are disjoint from all lots up to g.
 * 2. What is planned against is live after the entry was entered, so it has all
 *    that g has: counts only grow (else shown_plan refuses, HSY_E_RANGE).
 * 3. An answer is made of one member of the chain: view and tallies are read at
 *    one moment, between enter and leave (shown_copy), or from a view alone.
 *    It is a sum of lots of the chain up to that member.
 * 4. No member that was shown leaves the chain: it is shown after put has
 *    returned HSY_OK, or leave or read have, by when it is as durable as an
 *    upload that was acknowledged. One whose commit is in doubt is shown by
 *    nobody until that is so.
 *
 * Two answers are thus sums over the lots of one chain, each lot whole; so is
 * their difference. That one node shows g while another shows g + 1 is as if
 * the one had been asked earlier.
 */
#include "server/collector/shown/internal.h"

#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

static hsy_status others_foreign(const struct shown *s, hsy_error *err)
{
    return host_fail(err, HSY_E_MISMATCH,
                     s->keep->ops->shared ? HOST_FIELD_STORE
                                          : HOST_FIELD_SHOWN_DB,
                     "it is of another collector's tasks: restore the one that "
                     "belongs here (docs/runbook.md)");
}

/* ---- All of it ----------------------------------------------------------- */

struct others_reading {
    struct shown *s;
    struct roster *roster;
};

static hsy_status others_take(void *ctx, uint32_t entry, struct shown_view *v)
{
    const struct others_reading *r = ctx;
    const size_t n = r->roster != NULL ? roster_count(r->roster) : 0;

    if (entry >= n && r->s->keep->ops->shared) {
        shown_view_clear(v); /* of a document that this node is to learn of */
        return HSY_OK;
    }
    if (entry >= n || memcmp(roster_at(r->roster, entry)->digest, v->digest,
                             HSY_DIGEST) != 0) {
        shown_view_clear(v);
        return HSY_E_MISMATCH;
    }
    return shown_set(r->s, entry, v);
}

/* The versions of the views, to be freed; NULL: out of memory. */
static uint64_t *others_known(struct shown *s, size_t *n)
{
    uint64_t *known;

    pthread_mutex_lock(&s->lock);
    *n = s->n;
    known = calloc(s->n + 1, sizeof *known);
    for (size_t i = 0; known != NULL && i < s->n; i++)
        known[i] = s->views[i].version;
    pthread_mutex_unlock(&s->lock);
    return known;
}

hsy_status shown_read(struct shown *s, hsy_error *err)
{
    struct others_reading reading = {.s = s};
    uint64_t *known;
    size_t n;
    hsy_status st;

    pthread_mutex_lock(&s->keep_lock);
    known = others_known(s, &n);
    reading.roster = engine_roster(s->o.engine);
    st = known == NULL ? host_nomem(err)
                       : s->keep->ops->read(s->keep, known, n, others_take,
                                            &reading, err);
    roster_drop(reading.roster);
    pthread_mutex_unlock(&s->keep_lock);
    free(known);
    return st == HSY_E_MISMATCH ? others_foreign(s, err) : st;
}

hsy_status shown_refresh(struct shown *s, hsy_error *err)
{
    hsy_status st;

    if (s == NULL || !s->keep->ops->shared)
        return HSY_OK;
    st = shown_read(s, err);
    if (st == HSY_OK || st == HSY_E_BUSY) {
        s->blind = s->blind && st == HSY_E_BUSY;
        return st;
    }
    if (s->blind)
        return host_fail(err, HSY_E_BUSY, HSY_FIELD_NONE, "it was said");
    s->blind = true;
    return st;
}

/* ---- One entry ----------------------------------------------------------- */

hsy_status shown_enter(struct shown *s, enum shown_turn turn,
                       const struct roster_entry *is, struct shown_view *v,
                       bool *newer, hsy_error *err)
{
    const struct shown_keep_functions *ops = s->keep->ops;
    hsy_status st;

    *newer = false;
    if (!ops->shared)
        return HSY_OK;
    st = ops->enter(s->keep, turn, is->number, v, newer, err);
    if (st == HSY_OK && v->generation != 0 &&
        memcmp(v->digest, is->digest, HSY_DIGEST) != 0) {
        (void)ops->leave(s->keep, turn, false, NULL);
        st = others_foreign(s, err);
    }
    return st;
}

hsy_status shown_leave(struct shown *s, enum shown_turn turn,
                       const struct roster_entry *is,
                       const struct shown_view *v, bool newer, hsy_status st,
                       hsy_error *err)
{
    struct shown_view copy;
    hsy_status left;

    if (!s->keep->ops->shared)
        return st;
    newer = newer && (st == HSY_OK || st == HSY_E_EMPTY);
    left = s->keep->ops->leave(s->keep, turn, newer, st == HSY_OK ? err : NULL);
    if (!newer)
        return st;
    if (left == HSY_OK)
        left = shown_view_copy(&copy, v);
    if (left == HSY_OK) {
        left = shown_set(s, is->number, &copy);
        shown_view_clear(&copy); /* unless it is shown */
    }
    return st != HSY_OK ? st : left;
}
