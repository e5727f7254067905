/*
 * engine_clock.c - what day it is, and which epochs that closes.
 *
 * A day that is closed stays closed: its ids are forgotten. So a clock that is
 * wrong for a moment must not close anything. Within one process a wall clock
 * can be held against the steady one, and what devices send against either.
 */
#include "engine_parts.h"

#include "hostfail.h"

#define CLOCK_DAY 86400u
#define CLOCK_APART 5 /* seconds that two clocks may drift apart in a trial */

/* The last epoch that is over on a day: it ended grace_days ago. */
static uint32_t clock_over(const struct engine *e, uint32_t day)
{
    const uint64_t open = (uint64_t)e->options.grace_days + 1;

    return day > open ? (uint32_t)(day - open) : 0;
}

/* The time without a wall clock: the last that was believed, and on from there
 * by the steady one. */
static uint64_t clock_by_steady(const struct engine_clock *c, uint64_t steady)
{
    return c->wall + (steady - c->steady);
}

/* The day by it. */
static uint32_t clock_known(const struct engine *e, uint64_t steady)
{
    const uint64_t day = clock_by_steady(&e->clock, steady) / CLOCK_DAY;

    return e->clock.told != 0 && day > e->day ? (uint32_t)day : e->day;
}

/* Seconds by which the wall clock may gain on the steady one without a trial: a
 * day at most, and what it has gained comes back as fast as time goes by. So a
 * clock that wanders a day at a time gets no further than a right one, and a
 * day. */
static uint64_t clock_credit(const struct engine_clock *c, uint64_t steady)
{
    const uint64_t credit = c->credit + (steady - c->steady);

    return credit < CLOCK_DAY ? credit : CLOCK_DAY;
}

/* The last day that needs no trial. */
static uint32_t clock_reach(const struct engine *e, uint64_t steady)
{
    const struct engine_clock *c = &e->clock;
    uint64_t day;

    if (c->told == 0)
        return e->day + 1; /* it was stopped over a midnight */
    day = (clock_by_steady(c, steady) + clock_credit(c, steady)) / CLOCK_DAY;
    return day > e->day ? (uint32_t)day : e->day;
}

/* Whether a day is not so far ahead that it is out of the question. */
static bool clock_may_be(const struct engine *e, uint32_t known, uint32_t day)
{
    return day <= (uint64_t)known + e->options.clock_days;
}

/* ---- Any thread ---------------------------------------------------------- */

struct intake_days engine_days(struct engine *e)
{
    const struct engine_clock *c = &e->clock;
    struct intake_days days;

    pthread_mutex_lock(&e->lock);
    days = (struct intake_days){.first = e->closed + 1, .last = e->day + 1};
    if (c->state == ENGINE_CLOCK_JUMPED)
        days.last = c->known + 1;
    if (c->state == ENGINE_CLOCK_BEHIND ||
        (c->state == ENGINE_CLOCK_JUMPED &&
         clock_may_be(e, c->known, c->told))) {
        days.other_first = clock_over(e, c->told) + 1;
        days.other_last = c->told + 1;
    }
    pthread_mutex_unlock(&e->lock);
    return days;
}

/* ---- A trial ------------------------------------------------------------- */

void engine_clock_heard(struct engine *e, uint32_t epoch)
{
    struct engine_clock *c = &e->clock;

    if (c->state != ENGINE_CLOCK_JUMPED)
        return;
    if (epoch > c->known + 1 && epoch > clock_over(e, c->told))
        c->fit++;
    else
        c->unfit++;
}

static int64_t clock_ahead(struct engine_time now)
{
    return (int64_t)now.wall - (int64_t)now.steady;
}

/* Whether a clock that has jumped may be believed by now. */
static bool clock_tried(struct engine *e, uint32_t known, uint32_t day,
                        struct engine_time now)
{
    struct engine_clock *c = &e->clock;
    const int64_t apart = clock_ahead(now) - c->ahead;

    if (c->state != ENGINE_CLOCK_JUMPED || apart > CLOCK_APART ||
        apart < -CLOCK_APART) {
        c->since = now.steady;
        c->ahead = clock_ahead(now);
        c->fit = c->unfit = 0;
    }
    return clock_may_be(e, known, day) &&
           (e->options.driven_clock ||
            (now.steady - c->since >= ENGINE_TRIAL && c->fit > c->unfit));
}

/* ---- Being told ---------------------------------------------------------- */

/* The last epoch that must stay closed on a day that the operator has accepted:
 * it is over, or something was counted in it before it was closed. */
static uint32_t clock_accepted(const struct engine *e, uint32_t day)
{
    uint32_t closed = clock_over(e, day);

    for (size_t i = 0; i < e->nentries; i++)
        for (size_t k = 0; k < e->entries[i]->ncounts; k++) {
            const struct store_count *n = &e->entries[i]->counts[k];

            if (engine_is_day(n) && n->epoch <= e->closed &&
                n->epoch > closed && (n->reports != 0 || n->nulls != 0))
                closed = n->epoch;
        }
    return closed;
}

/* It is this day, and the epochs up to `closed` are. */
static hsy_status clock_move(struct engine *e, uint32_t day, uint32_t closed,
                             hsy_error *err)
{
    hsy_status st = e->store->is->close_epochs(e->store, closed, day, err);

    e->dead |= st == HSY_E_IO;
    if (st != HSY_OK)
        return st;
    ids_drop(e->ids, closed);
    quotas_drop(&e->quotas, closed);
    portions_drop(&e->portions, closed);
    pthread_mutex_lock(&e->lock);
    e->trim = closed > e->closed;
    e->day = day;
    e->closed = closed;
    for (size_t i = 0; i < e->nentries; i++)
        e->entries[i]->undated = false; /* until it happens again */
    e->status.ids_over = false;         /* of the day before */
    engine_count_ids(e);
    pthread_mutex_unlock(&e->lock);
    return HSY_OK;
}

/* From where the steady clock goes on alone. tried: the wall clock need not be
 * held against it. */
static void clock_anchor(struct engine *e, struct engine_time now, bool tried)
{
    struct engine_clock *c = &e->clock;
    const uint64_t begin = (uint64_t)e->day * CLOCK_DAY;
    const uint64_t wall = now.wall > begin ? now.wall : begin;
    const uint64_t alone = clock_by_steady(c, now.steady);
    uint64_t gain = wall > alone && !tried ? wall - alone : 0;

    c->credit = clock_credit(c, now.steady);
    if (gain > c->credit)
        gain = c->credit;
    c->credit -= gain;
    c->wall = tried || wall <= alone ? wall : alone + gain;
    c->steady = now.steady;
}

/* The same of the first time that is told: a day that was not known is all that
 * it may gain. */
static void clock_first(struct engine *e, struct engine_time now, bool fine,
                        bool gained)
{
    struct engine_clock *c = &e->clock;
    const uint64_t begin = (uint64_t)e->day * CLOCK_DAY;

    c->wall = fine && now.wall > begin ? now.wall : begin;
    c->steady = now.steady;
    c->credit = gained ? 0 : CLOCK_DAY;
}

/* What is known after this time was told. before: the day until then; tried:
 * somebody vouches for it. */
static void clock_note(struct engine *e, struct engine_time now,
                       uint32_t before, bool tried)
{
    struct engine_clock *c = &e->clock;
    const uint32_t day = (uint32_t)(now.wall / CLOCK_DAY);

    pthread_mutex_lock(&e->lock);
    c->known = clock_known(e, now.steady);
    c->state = day <= e->closed                   ? ENGINE_CLOCK_BEHIND
               : day > clock_reach(e, now.steady) ? ENGINE_CLOCK_JUMPED
                                                  : ENGINE_CLOCK_FINE;
    if (c->told == 0)
        clock_first(e, now, c->state == ENGINE_CLOCK_FINE,
                    e->day > before && !tried);
    else if (c->state == ENGINE_CLOCK_FINE)
        clock_anchor(e, now, tried);
    c->told = day;
    pthread_mutex_unlock(&e->lock);
}

/* It is at least this day, and what is over then closes. */
static hsy_status clock_forward(struct engine *e, uint32_t day, hsy_error *err)
{
    const uint32_t over = clock_over(e, day);

    return clock_move(e, day, over > e->closed ? over : e->closed, err);
}

hsy_status engine_tell(struct engine *e, struct engine_time now, hsy_error *err)
{
    const uint32_t day = (uint32_t)(now.wall / CLOCK_DAY);
    const uint32_t before = e->day, known = clock_known(e, now.steady);
    bool tried = e->day == 0 || (e->options.accept_clock && e->clock.told == 0);
    hsy_status st = HSY_OK;

    if (e->dead)
        return host_fail(err, HSY_E_IO, "store", "the store has failed");
    engine_runs_look(e);
    portions_tick(&e->portions, now.steady);
    if (tried && day < e->day) {
        st = clock_move(e, day, clock_accepted(e, day), err);
    } else if (day > e->day) {
        const bool near = day <= clock_reach(e, now.steady);

        tried = tried || (!near && clock_tried(e, known, day, now));
        /* What is over by the steady clock is over by either reading. */
        if (tried || near || known > e->day)
            st = clock_forward(e, tried || near ? day : known, err);
    }
    if (st == HSY_OK)
        clock_note(e, now, before, tried);
    return st;
}
