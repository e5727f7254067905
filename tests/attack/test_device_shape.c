/*
 * test_device_shape.c - A4: two truths, the same coins: the world cannot tell.
 *
 * For pairs of truths a device is asked and sends for some days, with coins
 * that do not know the truth. Every call to the world, in order, with its size
 * (loads, stores, clock, log), every status and state, and every upload's
 * header and length must be the same for both. A client that stores one byte
 * more for one truth must be noticed.
 *
 * S2 (HSY_TEST_LONG=1 only, for machines that are busy lie about time): the
 * time of an answer, a fixed truth against a random one, in pairs whose order
 * is random; the sign of the differences tells nothing (p > 1e-6).
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "lib/bits/bytes.h"
#include "lib/device/internal.h"
#include "rig/device_world.h"
#include "tap.h"

#include <time.h>

#define SHAPE_PAIRS 10000u
#define SHAPE_ASKS 6u
#define SHAPE_SEED 21u
#define SHAPE_TASKS 8u
#define SHAPE_TIMED 1000000u

struct shape {
    struct world world;
    struct world_setup setup;
    struct world_task task[SHAPE_TASKS];
    hsy_device *dev;
    uint8_t *memory;
    size_t size, n;
    struct world before;
    uint64_t coins; /* seed of the pair */
    bool leaks;     /* the control */
};

/* Coins of a context but for its truth. */
static hsy_status shape_coins(void *ctx, hsy_keyed *room, hsy_coins *coins,
                              const hsy_context *context)
{
    const struct shape *s = ctx;
    hsy_context blind = *context;
    uint8_t key[HSY_KEY] = {0};

    bytes_put64(key, s->coins);
    blind.truth = 0;
    hsy_keyed_open(room, key, &blind);
    *coins = hsy_keyed_coins(room);
    return HSY_OK;
}

static void shape_add(struct shape *s, const hsy_spec *report,
                      const hsy_spec *permanent)
{
    struct world_task *t = &s->task[s->n];
    char id[] = "task-a";

    id[5] = (char)('a' + s->n++);
    world_task_init(t, id, report, permanent, 28);
    if (permanent != NULL) {
        t->task.slot_days = 4;
        t->task.round_days = 2;
        t->task.max_changes = 2;
    }
}

static void shape_init(struct shape *s)
{
    hsy_spec rr = trial_values("rr", 2, 1), less = trial_values("rr", 2, 0.5);
    hsy_spec grr = trial_values("grr", 9, 1), oue = trial_values("oue", 9, 1);
    hsy_spec olh = trial_values("olh", 9, 1), kept = trial_values("oue", 9, 2);
    hsy_spec number = trial_number(100, 0.5), one = trial_number(100, 1);

    memset(s, 0, sizeof *s);
    world_init(&s->world, SHAPE_SEED);
    world_setup_init(&s->setup, &s->world, false, 1000ull * HSY_NANO,
                     1000ull * HSY_NANO);
    shape_add(s, &rr, NULL);
    shape_add(s, &less, &rr);
    shape_add(s, &grr, NULL);
    shape_add(s, &oue, NULL);
    shape_add(s, &oue, &kept);
    shape_add(s, &olh, NULL);
    shape_add(s, &number, &one);
    s->task[2].task.answers = 3;
    s->size = hsy_device_size(&s->setup.policy);
    s->dev = trial_memory(s->size);
    s->memory = trial_memory(s->size);
    world_setup_create(&s->setup, s->dev, s->task, s->n);
    memcpy(s->memory, s->dev, s->size);
    s->before = s->world;
}

static hsy_truth shape_truth(const hsy_release *r, uint64_t code)
{
    hsy_release_info info;

    hsy_release_describe(r, &info);
    return trial_truth_one(info.scheme, code % hsy_code_count(info.scheme));
}

/* All of a header but the checksum of the payload. */
static void shape_header(struct shape *s, const uint8_t *upload)
{
    hsy_upload head;

    memset(&head, 0, sizeof head);
    if (hsy_upload_decode(&head, upload, NULL) != HSY_OK)
        abort();
    head.checksum = 0;
    world_note(&s->world, 18, hsy_crc32c(0, &head, sizeof head));
}

/* All that shows of some days in which the truth has these values. */
static uint64_t shape_of(struct shape *s, uint64_t coins,
                         const uint64_t truths[SHAPE_ASKS], size_t release)
{
    const hsy_release *r = s->setup.release[release];

    memcpy(s->dev, s->memory, s->size);
    s->world = s->before;
    s->coins = coins;
    hsy_device_coins(s->dev, shape_coins, s);
    for (size_t i = 0; i < SHAPE_ASKS; i++) {
        hsy_truth truth = shape_truth(r, truths[i]);
        hsy_answer_state state = 0;
        uint8_t upload[WORLD_UPLOAD];
        size_t len = 0;
        hsy_status st = hsy_device_answer(s->dev, &state, r, &truth, NULL);

        world_note(&s->world, 16, (uint64_t)st << 8 | state);
        if (s->leaks && truths[i] % 2 != 0)
            world_note(&s->world, 2, 1);
        st = hsy_device_next(s->dev, upload, sizeof upload, &len, &r, 1, NULL);
        world_note(&s->world, 17, (uint64_t)st << 32 | len);
        if (st == HSY_OK) {
            shape_header(s, upload);
            st = hsy_device_sent(s->dev, &r, 1, upload, len, NULL);
        }
        world_note(&s->world, 19, (uint64_t)st);
        s->world.seconds += WORLD_DAY / 2;
    }
    return s->world.shape;
}

/* Pairs whose shapes differ. */
static uint32_t shape_differ(struct shape *s, uint32_t pairs)
{
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);
    uint32_t differ = 0;

    hsy_stream_seed(&stream, SHAPE_SEED, 1);
    for (uint32_t n = 0; n < pairs; n++) {
        uint64_t truths[2][SHAPE_ASKS];

        if (rng.fill(rng.ctx, truths, sizeof truths) != HSY_OK)
            abort();
        differ += shape_of(s, n, truths[0], n % s->n) !=
                  shape_of(s, n, truths[1], n % s->n);
    }
    return differ;
}

/* ---- S2 ------------------------------------------------------------------ */

static double shape_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Nanoseconds of one answer. */
static double shape_time(struct shape *s, uint64_t code)
{
    const hsy_release *r = s->setup.release[0];
    hsy_truth truth = shape_truth(r, code);
    double from;

    memcpy(s->dev, s->memory, s->size);
    s->world = s->before;
    from = shape_clock();
    (void)hsy_device_answer(s->dev, NULL, r, &truth, NULL);
    return shape_clock() - from;
}

/* The sign test: under the null the number of pairs in which the fixed truth
 * took longer is binomial at 1/2; its normal tail at 1e-6 is 4.9 sigma. */
static void shape_timing(struct shape *s)
{
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);
    double slower = 0, untied = 0;

    hsy_stream_seed(&stream, SHAPE_SEED, 2);
    for (uint32_t n = 0; n < SHAPE_TIMED; n++) {
        uint8_t coin[2];
        double fixed, random;

        (void)rng.fill(rng.ctx, coin, sizeof coin);
        if ((coin[0] & 1) != 0) {
            fixed = shape_time(s, 0);
            random = shape_time(s, coin[1] & 1);
        } else {
            random = shape_time(s, coin[1] & 1);
            fixed = shape_time(s, 0);
        }
        slower += fixed > random;
        untied += fixed != random;
    }
    ok(fabs(slower - untied / 2) < 4.9 * sqrt(untied) / 2,
       "S2: of %.0f pairs the fixed truth takes longer in %.0f", untied,
       slower);
}

int main(void)
{
    static struct shape s;
    uint32_t differ;

    shape_init(&s);
    differ = shape_differ(&s, SHAPE_PAIRS);
    is_u64(differ, 0, "A4: %u pairs of truths, %u differ from outside",
           SHAPE_PAIRS, differ);
    s.leaks = true;
    ok(shape_differ(&s, 100) > 0, "control: one byte more is noticed");
    s.leaks = false;
    if (getenv("HSY_TEST_LONG") != NULL)
        shape_timing(&s);
    world_setup_clear(&s.setup);
    free(s.memory);
    free(s.dev);
    return tap_done();
}
