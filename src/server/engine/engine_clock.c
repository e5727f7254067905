/*
 * engine_clock.c - what day it is, and which epochs that closes.
 *
 * A day that is closed stays closed: its ids are forgotten. So a clock that is
 * wrong for a moment must not close anything. Within one process a wall clock
 * can be held against the steady one, and what devices send against either.
 */
#include "server/engine/internal.h"

#include "host/base/host_fail.h"

#define CLOCK_DAY 86400u
#define CLOCK_APART 5 /* seconds that two clocks may drift apart in a trial */
#define CLOCK_QUIET (CLOCK_DAY / 2) /* of a first midnight; then it is said */
#define CLOCK_DRIFT 288 /* one second in so many: five minutes a day */

/* The last epoch that is over on a day: it ended grace_days ago. */
static uint32_t clock_over(const struct engine *e, uint32_t day)
{
    const uint64_t open = (uint64_t)e->options.grace_days + 1;

    return day > open ? (uint32_t)(day - open) : 0;
}

/* Seconds since the anchor; a steady clock that goes back stands still. */
static uint64_t clock_since(const struct engine_clock *c, uint64_t steady)
{
    return steady > c->steady ? steady - c->steady : 0;
}

/* The time without a wall clock: the last that was believed, and on from there
 * by the steady one. */
static uint64_t clock_by_steady(const struct engine_clock *c, uint64_t steady)
{
    return c->wall + clock_since(c, steady);
}

/* The day by it. */
static uint32_t clock_known(const struct engine *e, uint64_t steady)
{
    const uint64_t day = clock_by_steady(&e->clock, steady) / CLOCK_DAY;

    return e->clock.told != 0 && day > e->day ? (uint32_t)day : e->day;
}

/*
 * The last day that needs no trial.
 *
 * The anchor (c->wall, c->steady) is of the last trial or acceptance; later it
 * only moves down, to a wall clock that has lost time. Let a trial leave (w,
 * s): then a day d is believed at the steady time t without another one only if
 *
 *     86400 d <= w + (t - s) + (t - s) / CLOCK_DRIFT + c->credit.
 *
 * An anchor (w', s') that was moved down has w' <= w + (s' - s), and so gives
 * no more than this. Hence all that a clock gains between two trials, in
 * however many steps, is its drift and c->credit, which is a day at most. A
 * start has no credit, and the beginning of the last day as its anchor: the
 * store does not know how much of that day had passed. So a restart gains
 * nothing without a trial.
 */
static uint32_t clock_reach(const struct engine *e, uint64_t steady)
{
    const struct engine_clock *c = &e->clock;
    uint64_t day;

    if (c->told == 0)
        return e->day;
    day = (clock_by_steady(c, steady) + clock_since(c, steady) / CLOCK_DRIFT +
           c->credit) /
          CLOCK_DAY;
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

void engine_clock_heard(struct engine *e, uint32_t epoch, uint64_t n)
{
    struct engine_clock *c = &e->clock;

    if (c->state != ENGINE_CLOCK_JUMPED)
        return;
    if (epoch > c->known + (c->told > c->known + 1 ? 1 : 0) &&
        epoch > clock_over(e, c->told))
        c->fit += n;
    else
        c->unfit += n;
}

/* Whether the next day is tried by a collector that has had no trial yet: it
 * was stopped over a midnight, or this is its first one. */
static bool clock_morning(const struct engine_clock *c, uint32_t known,
                          uint32_t day)
{
    return c->credit == 0 && day == known + 1;
}

/* Whether what came in speaks for the clock. The first midnight of a collector
 * passes if nothing came in, but only that one. */
static bool clock_fits(const struct engine_clock *c, uint32_t known,
                       uint32_t day)
{
    return c->fit > c->unfit ||
           (c->fresh && c->unfit == 0 && clock_morning(c, known, day));
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
           (e->options.driven_clock || (now.steady - c->since >= ENGINE_TRIAL &&
                                        clock_fits(c, known, day)));
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
    hsy_status st = e->store->ops->close_epochs(e->store, closed, day, err);

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

/* From where the steady clock goes on alone, after a trial or an acceptance. A
 * trial in which nothing came in gives no credit. */
static void clock_anchor(struct engine_clock *c, struct engine_time now,
                         bool silent)
{
    c->wall = now.wall;
    c->steady = now.steady;
    c->credit = silent ? 0 : CLOCK_DAY;
    c->fresh = false;
}

/* A clock that has lost time is not held against what it was. */
static void clock_lower(struct engine *e, struct engine_time now)
{
    struct engine_clock *c = &e->clock;
    const uint64_t begin = (uint64_t)e->day * CLOCK_DAY;
    const uint64_t wall = now.wall > begin ? now.wall : begin;

    if (wall >= clock_by_steady(c, now.steady))
        return;
    c->wall = wall;
    c->steady = now.steady;
}

/* The anchor of a start. */
static void clock_first(struct engine *e, struct engine_time now)
{
    struct engine_clock *c = &e->clock;

    c->wall = (uint64_t)e->day * CLOCK_DAY;
    c->steady = now.steady;
    c->credit = 0;
    c->fresh = true;
}

/* What is known after this time was told. tried: somebody vouches for it. */
static void clock_note(struct engine *e, struct engine_time now, bool tried)
{
    struct engine_clock *c = &e->clock;
    const uint32_t day = (uint32_t)(now.wall / CLOCK_DAY);
    const bool silent = c->state == ENGINE_CLOCK_JUMPED && c->fit == 0 &&
                        !e->options.driven_clock;

    pthread_mutex_lock(&e->lock);
    if (tried)
        clock_anchor(c, now, silent);
    else if (c->told == 0)
        clock_first(e, now);
    c->told = day;
    c->known = clock_known(e, now.steady);
    c->state = day <= e->closed                   ? ENGINE_CLOCK_BEHIND
               : day > clock_reach(e, now.steady) ? ENGINE_CLOCK_JUMPED
                                                  : ENGINE_CLOCK_FINE;
    if (c->state == ENGINE_CLOCK_FINE)
        clock_lower(e, now);
    c->quiet = c->state == ENGINE_CLOCK_JUMPED &&
               clock_morning(c, c->known, day) &&
               now.steady - c->since < CLOCK_QUIET;
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
    const uint32_t known = clock_known(e, now.steady);
    bool tried = e->day == 0 || (e->options.accept_clock && e->clock.told == 0);
    hsy_status st = HSY_OK;

    if (e->dead)
        return host_fail(err, HSY_E_IO, HOST_FIELD_STORE,
                         "the store has failed");
    engine_runs_status(e);
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
        clock_note(e, now, tried);
    return st;
}
