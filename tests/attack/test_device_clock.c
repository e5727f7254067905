/*
 * test_device_clock.c - L05: a clock that lies mints no budget.
 *
 * Random walks of a device's clock: seconds, hours (as daylight saving moves
 * it), days, up to 50 years either way, and the ends of other people's
 * calendars: 1970, 2038, 2106, the last second there is. Before each question
 * and after it the ledger is looked at: no day has more than the day's cap, all
 * days together not more than the lifetime cap, and the device's day never goes
 * back. HSY_TEST_LONG=1 walks 10^6 times.
 */
#include "lib/bits/bytes.h"
#include "rig/device_world.h"
#include "tap.h"

#define CLOCK_SEED 5u
#define CLOCK_STEPS 16u
#define CLOCK_YEAR (365u * (uint64_t)WORLD_DAY)
#define CLOCK_TASKS 3u
#define CLOCK_END 2932896u           /* the first day of the year 10000 */
#define CLOCK_DAY_CAP 1400000000u    /* less than all tasks ask for */
#define CLOCK_SOURCE_CAP 1200000000u /* of a day: less than those on s */
#define CLOCK_LIFE_CAP 7250000000u

/* Far from both ends of the calendar, so that no walk falls off. */
static const uint64_t clock_ends[] = {0,
                                      1,
                                      86399,
                                      (1u << 31) - 1,
                                      1u << 31,
                                      UINT32_MAX,
                                      1ull << 32,
                                      UINT64_MAX,
                                      4294967295u * (uint64_t)WORLD_DAY};

struct clock_walk {
    struct world world;
    struct world_setup setup;
    struct world_task task[CLOCK_TASKS];
    hsy_device *dev;
    uint32_t day;                    /* of the last charge, */
    uint64_t charged[WORLD_SOURCES]; /* on it, */
    uint64_t life;                   /* and in all */
    uint64_t over, back;             /* faults */
};

/* What the log says was charged, by day and source. */
static void clock_entry(void *ctx, const hsy_log_entry *entry)
{
    struct clock_walk *c = ctx;
    const size_t source = strcmp(entry->source, world_sources[1]) == 0;

    if (entry->kind != HSY_LOG_CHARGE)
        return;
    c->back += entry->day < c->day;
    if (entry->day != c->day)
        memset(c->charged, 0, sizeof c->charged);
    c->day = entry->day;
    c->charged[source] += entry->u.nano_charged;
    c->life += entry->u.nano_charged;
    c->over += c->charged[source] > CLOCK_SOURCE_CAP ||
               c->charged[0] + c->charged[1] > CLOCK_DAY_CAP ||
               c->life > CLOCK_LIFE_CAP;
}

/* Tasks for all of time, two of them on one source. */
static void clock_init(struct clock_walk *c)
{
    hsy_spec one = trial_values("rr", 2, 1), half = trial_values("rr", 2, 0.5);
    hsy_spec less = trial_values("grr", 3, 0.3);

    memset(c, 0, sizeof *c);
    world_init(&c->world, CLOCK_SEED);
    world_setup_init(&c->setup, &c->world, false, CLOCK_DAY_CAP,
                     CLOCK_LIFE_CAP);
    world_task_init(&c->task[0], "day", &one, NULL, 1);
    world_task_init(&c->task[1], "week", &half, NULL, 1);
    world_task_init(&c->task[2], "more", &less, NULL, 1);
    snprintf(c->task[1].task.source, sizeof c->task[1].task.source, "%s",
             world_sources[1]);
    c->task[1].task.slot_days = 7;
    for (size_t i = 0; i < WORLD_SOURCES; i++)
        c->setup.source[i].cap_day = CLOCK_SOURCE_CAP;
    for (size_t i = 0; i < CLOCK_TASKS; i++) {
        c->task[i].task.start = 0;
        c->task[i].task.end = CLOCK_END;
    }
    c->setup.policy.releases = CLOCK_TASKS;
    c->dev = trial_memory(hsy_device_size(&c->setup.policy));
    world_setup_create(&c->setup, c->dev, c->task, CLOCK_TASKS);
    c->world.entry = clock_entry;
    c->world.entry_ctx = c;
}

static uint64_t clock_coin(hsy_stream *stream)
{
    hsy_rng rng = hsy_stream_rng(stream);
    uint8_t bytes[8];

    if (rng.fill(rng.ctx, bytes, sizeof bytes) != HSY_OK)
        abort();
    return bytes_get64(bytes);
}

/* Somewhere else. */
static void clock_jump(struct clock_walk *c, hsy_stream *stream)
{
    static const uint64_t reach[] = {60,
                                     3600,
                                     3600,
                                     WORLD_DAY,
                                     WORLD_DAY,
                                     30 * (uint64_t)WORLD_DAY,
                                     50 * CLOCK_YEAR};
    uint64_t coin = clock_coin(stream), now = c->world.seconds, by;

    if (coin % 8 == 7) {
        c->world.seconds =
            clock_ends[coin / 8 % (sizeof clock_ends / sizeof *clock_ends)];
        return;
    }
    by = clock_coin(stream) % (reach[coin % 8 % 7] + 1);
    if (coin / 8 % 2 == 0)
        c->world.seconds = now > by ? now - by : 0;
    else
        c->world.seconds = now < UINT64_MAX - by ? now + by : UINT64_MAX;
}

/* Ask, and look at the ledger. */
static void clock_ask(struct clock_walk *c, uint64_t coin)
{
    hsy_truth truth = {.type = HSY_TRUTH_INDEX, .u.index = coin & 1};
    const hsy_release *r = c->setup.release[coin / 2 % CLOCK_TASKS];
    hsy_budget before = {0}, after = {0};

    c->over += hsy_device_budget(c->dev, &before, NULL, NULL) != HSY_OK;
    c->over += hsy_device_answer(c->dev, NULL, r, &truth, NULL) != HSY_OK;
    c->over += hsy_device_budget(c->dev, &after, NULL, NULL) != HSY_OK;
    c->over += after.spent_day > CLOCK_DAY_CAP ||
               after.spent_lifetime > CLOCK_LIFE_CAP ||
               after.spent_lifetime != c->life;
    c->back += after.day < before.day;
}

int main(void)
{
    const uint32_t walks = getenv("HSY_TEST_LONG") != NULL ? 1000000 : 10000;
    static struct clock_walk c, walk;
    uint64_t most = 0, over = 0, back = 0;
    uint8_t *memory;
    size_t size;
    hsy_stream stream;

    clock_init(&c);
    size = hsy_device_size(&c.setup.policy);
    memory = trial_memory(size);
    memcpy(memory, c.dev, size);
    hsy_stream_seed(&stream, CLOCK_SEED, 1);
    walk = c;
    for (uint32_t n = 0; n < walks; n++) {
        c = walk;
        memcpy(c.dev, memory, size);
        for (uint32_t i = 0; i < CLOCK_STEPS; i++) {
            clock_jump(&c, &stream);
            clock_ask(&c, clock_coin(&stream));
        }
        over += c.over;
        back += c.back;
        most = c.life > most ? c.life : most;
    }
    is_u64(over, 0,
           "L05: %u walks of %u steps: no cap of a day or a life passed", walks,
           CLOCK_STEPS);
    is_u64(back, 0, "L05: no day of a charge lies before the one before it");
    ok(most > CLOCK_LIFE_CAP - 1000000000u && most <= CLOCK_LIFE_CAP,
       "control: some walk spends all that there is");
    world_setup_clear(&c.setup);
    free(memory);
    free(c.dev);
    return tap_done();
}
