/*
 * test_desk.c - what waits at the desk is bounded and in order; figures made a
 * moment ago stand for what was asked, and nothing else.
 */
#include "server/collector/estimator/desk.h"
#include "server/collector/estimator/recent.h"
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

static void work(struct collector *c, struct request *q)
{
    (void)c;
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

static bool finds(const struct recent *r, struct recent_key key,
                  const char *want)
{
    char *json = NULL;
    size_t len = 0;
    const bool found = recent_find(r, &key, &json, &len);
    const bool same = found && len == strlen(want) && strcmp(json, want) == 0;

    free(json);
    return same;
}

static void stands_for_a_moment(void)
{
    const struct recent_key key = {
        .entry = 3, .level = 0.95, .lying = 0.01, .generation = 1000};
    struct recent_key other[] = {key, key, key, key, key, key, key, key};
    struct recent r = {0};
    bool any = false;

    ok(!finds(&r, key, ""), "nothing is there at first");
    recent_keep(&r, &key, "{\"a\": 1}", 8);
    ok(finds(&r, key, "{\"a\": 1}"), "what was made is there");
    other[0].entry = 4;
    other[1].first = 1;
    other[2].last = 1;
    other[3].top = 1;
    other[4].level = 0.9;
    other[5].lying = 0.02;
    other[6].generation = 1001;
    other[7].candidates = 1;
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        any |= finds(&r, other[i], "{\"a\": 1}");
    ok(!any, "and stands for nothing else");
    for (uint32_t i = 0; i < RECENT_FIGURES; i++) {
        other[0].entry = 100 + i;
        recent_keep(&r, &other[0], "{}", 2);
    }
    ok(!finds(&r, key, "{\"a\": 1}") && finds(&r, other[0], "{}"),
       "the oldest makes room");
    recent_clear(&r);
    ok(!finds(&r, other[0], "{}"), "nothing is there in the end");
}

int main(void)
{
    waits_at_the_desk();
    stands_for_a_moment();
    return tap_done();
}
