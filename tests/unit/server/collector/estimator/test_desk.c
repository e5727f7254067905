/*
 * test_desk.c - what waits at the desk is bounded and in order; figures that
 * were made last stand for what was asked, and nothing else.
 */
#include "rig/example_roster.h"
#include "server/collector/estimator/internal.h"
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define WAITING 32u

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint begun, done;
static bool in_order = true;

/* The desk does not look into a request: a number will do. */
static struct request *number(uintptr_t i)
{
    return (struct request *)i;
}

static void work(struct request *q, void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&begun, 1);
    pthread_mutex_lock(&gate);
    in_order &= (uintptr_t)q == atomic_load(&done) + 1;
    pthread_mutex_unlock(&gate);
    atomic_fetch_add(&done, 1);
}

static void until(atomic_uint *what, unsigned value)
{
    while (atomic_load(what) < value)
        sched_yield();
}

static void waits_at_the_desk(void)
{
    struct desk *d = NULL;
    bool taken = true;

    if (!is_status(desk_open(&d, NULL, NULL), HSY_OK, "a desk opens"))
        return;
    pthread_mutex_lock(&gate);
    taken &= desk_hand(d, number(1), work);
    until(&begun, 1); /* one is under way, and waits for the gate */
    for (uintptr_t i = 0; i < WAITING; i++)
        taken &= desk_hand(d, number(2 + i), work);
    ok(taken, "one is under way and %u wait", WAITING);
    ok(!desk_hand(d, number(99), work), "the next is sent away");
    pthread_mutex_unlock(&gate);
    until(&done, 1 + WAITING);
    ok(in_order, "they are answered in their order");
    ok(desk_hand(d, number(2 + WAITING), work), "then there is room again");
    until(&done, 2 + WAITING);
    desk_close(d);
    ok(in_order && eq_u64(atomic_load(&done), 2 + WAITING), "each once");
    desk_close(NULL);
}

/* ---- Figures that were made last ----------------------------------------- */

/* A figure that can be told apart. */
static struct figure *made(const struct roster_entry *e)
{
    const struct figure_how how = {.level = 0.95};
    int64_t *words = calloc(e->words + 1, sizeof *words);
    uint8_t *reports = example_reports(e->scheme, 1000);
    struct figure *f = NULL;
    hsy_tally t;

    hsy_tally_init(&t, e->scheme, words);
    if (hsy_tally_batch(&t, e->scheme, reports, 1000, NULL) != HSY_OK ||
        figure_make(&f, &(struct figure_of){.entry = e, .words = words}, &how,
                    NULL) != HSY_OK)
        f = NULL;
    free(reports);
    free(words);
    return f;
}

static bool finds(const struct recent *r, struct recent_key key,
                  const struct figure *want)
{
    struct figure *found = recent_find(r, &key);
    const bool same = found == want;

    figure_drop(found);
    return same;
}

static void stands_for_the_same(struct roster *roster)
{
    const struct roster_entry *e = roster_at(roster, 0);
    const struct recent_key key = {
        .entry = e, .level = 0.95, .lying = 0.01, .generation = 1000};
    struct recent_key other[] = {key, key, key, key, key, key, key, key};
    struct figure *a = made(e), *b = made(e);
    struct recent r = {.next = 0};
    bool any = false;

    if (!ok(a != NULL && b != NULL, "two figures"))
        return;
    ok(finds(&r, key, NULL), "nothing is there at first");
    recent_keep(&r, &key, a);
    ok(finds(&r, key, a), "what was made is there");
    other[0].entry = roster_at(roster, 1);
    other[1].first = 1;
    other[2].last = 1;
    other[3].top = 1;
    other[4].level = 0.9;
    other[5].lying = 0.02;
    other[6].generation = 1001;
    other[7].candidates = 1;
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        any |= !finds(&r, other[i], NULL);
    ok(!any, "and stands for nothing else");
    recent_keep(&r, &other[6], b);
    ok(finds(&r, other[6], b) && finds(&r, key, NULL) && eq_u64(r.next, 1),
       "another generation takes its place");
    for (uint32_t i = 0; i < RECENT_FIGURES; i++) {
        other[0].first = 100 + i;
        recent_keep(&r, &other[0], a);
    }
    ok(finds(&r, other[6], NULL) && finds(&r, other[0], a),
       "the oldest makes room");
    recent_clear(&r);
    ok(finds(&r, other[0], NULL), "nothing is there in the end");
    figure_drop(a);
    figure_drop(b);
}

int main(void)
{
    struct roster *r = example_roster();

    waits_at_the_desk();
    stands_for_the_same(r);
    roster_drop(r);
    return tap_done();
}
