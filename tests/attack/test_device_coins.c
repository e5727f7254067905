/*
 * test_device_coins.c - whose coins a device draws, and what it leaves of them.
 *
 * Names: a source of coins writes down each context and opens the real streams.
 * Devices are saved, answered with one truth, restored and answered with
 * another: no two truths may share a coin, or the difference of what was sent
 * is that of what was kept. Stacks: no key and no coin of a stream stays.
 * States: two copies of one state tell nothing of their difference.
 */
#define _GNU_SOURCE /* pthread_attr_setstack */
#include "lib/bits/bytes.h"
#include "lib/core/blake2b.h"
#include "rig/dead_stack.h"
#include "rig/device_rig.h"
#include "rig/sanitized.h"

#define KEYS 16u
#define NAMES 64u

/* ---- A source that writes down ------------------------------------------- */

static struct {
    hsy_device *dev;
    size_t n, fail_at; /* the draw that fails; 0: none */
    struct name {
        hsy_context context;
        uint8_t digest[HSY_DIGEST];
    } of[NAMES];
} names;

static hsy_status names_open(void *ctx, hsy_keyed *room, hsy_coins *coins,
                             const hsy_context *context)
{
    struct name *name = &names.of[names.n];

    (void)ctx;
    if (names.n + 1 == names.fail_at || names.n == NAMES)
        return HSY_E_ENTROPY;
    names.n++;
    name->context = *context;
    memcpy(name->digest, context->digest, HSY_DIGEST);
    name->context.digest = name->digest;
    hsy_keyed_open(room, names.dev->keys.coins, context);
    *coins = hsy_keyed_coins(room);
    return HSY_OK;
}

static void names_begin(struct rig *g, size_t fail_at)
{
    names.dev = g->dev;
    names.n = 0;
    names.fail_at = fail_at;
    hsy_device_coins(g->dev, names_open, NULL);
}

static bool names_is(const struct name *name, const char *purpose)
{
    return strcmp(name->context.purpose, purpose) == 0;
}

/* ---- Devices ------------------------------------------------------------- */

enum { HIGH, LOW, KEPT };

/* sue of 32 at 2; the same at 0.5, which is made from it; and a kept one. */
static struct rig *coins_rig(uint8_t key)
{
    struct rig *g = rig_new();

    g->world.seed = (uint8_t)(7 + 8 * key);
    rig_task(g, "high", "browser", values("sue", 32, 2 * EPS), 0);
    rig_task(g, "low", "browser", values("sue", 32, EPS / 2), 0);
    rig_task(g, "kept", "usage", values("sue", 32, EPS / 2), EPS);
    rig_publish(g);
    if (rig_open(g, true) != HSY_OK || !rig_tasks(g) ||
        hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL) != HSY_OK)
        exit(1);
    return g;
}

/* As it was when it was saved. */
static void coins_restore(struct rig *g, const struct world *saved)
{
    g->world = *saved;
    if (!rig_again(g))
        exit(1);
}

/* The report of a task's first round. */
static uint32_t coins_report(const struct rig *g, uint32_t i)
{
    const uint32_t k = hsy_device_find(g->dev, g->release[i]);

    return bytes_get32(
        device_reports(g->dev, k, &g->dev->records[k].rounds[0]));
}

/* ---- Names --------------------------------------------------------------- */

struct counts {
    size_t permanent, lowered, report; /* contexts of each purpose */
    size_t wrong_truth, wrong_digest;
};

static void names_judge(struct counts *c, const struct rig *g, uint64_t truth)
{
    for (size_t i = 0; i < names.n; i++) {
        const struct name *name = &names.of[i];
        const bool lowered = names_is(name, DEVICE_PURPOSE_LOWERED);
        const bool report = names_is(name, DEVICE_PURPOSE_REPORT);

        c->permanent += names_is(name, DEVICE_PURPOSE_PERMANENT);
        c->lowered += lowered;
        c->report += report;
        if (lowered || report || names_is(name, DEVICE_PURPOSE_PERMANENT))
            c->wrong_truth += name->context.truth != truth;
        if (lowered)
            c->wrong_digest +=
                memcmp(name->digest, g->release[LOW]->digest, HSY_DIGEST) != 0;
    }
}

/* Both truths of a restored device, one after the other. */
static void coins_have_names(void)
{
    static const uint32_t truths[2] = {3, 9};
    struct counts c = {0};
    size_t same = 0, answered = 0;

    for (uint8_t key = 0; key < KEYS; key++) {
        struct rig *g = coins_rig(key);
        struct world *saved = malloc(sizeof *saved);
        uint32_t weakened[2];

        if (saved == NULL)
            exit(1);
        *saved = g->world;
        for (size_t i = 0; i < 2; i++) {
            coins_restore(g, saved);
            names_begin(g, 0);
            for (uint32_t task = HIGH; task <= KEPT; task++)
                answered += rig_answer(g, task, truths[i]) == HSY_ANSWERED;
            names_judge(&c, g, truths[i]);
            weakened[i] = coins_report(g, HIGH) ^ coins_report(g, LOW);
        }
        same += weakened[0] == weakened[1];
        free(saved);
        rig_free(g);
    }
    ok(eq_u64(answered, 6 * KEYS) && eq_u64(c.permanent, 6 * KEYS) &&
           eq_u64(c.lowered, 2 * KEYS) && eq_u64(c.report, 2 * KEYS),
       "%u devices answer with two truths each", KEYS);
    is_u64(c.wrong_truth, 0,
           "what is made from a truth has coins that it names: %zu have not",
           c.wrong_truth);
    is_u64(c.wrong_digest, 0,
           "a lowered answer has coins of its own release: %zu have not",
           c.wrong_digest);
    is_u64(same, 0, "no two truths are weakened by the same flips: %zu are",
           same);
}

/* The name of the coins for items 3 and 5, which is a keyed hash. */
static uint64_t tuple_name(uint8_t key)
{
    const hsy_truth items[2] = {index_truth(3), index_truth(5)};
    hsy_truth truth = {.type = HSY_TRUTH_TUPLE};
    struct rig *g = rig_new();
    hsy_release *r;
    uint64_t name = 0;

    g->world.seed = key;
    r = rig_tuple(g);
    truth.u.tuple.items = items;
    truth.u.tuple.count = 2;
    names_begin(g, 0);
    if (hsy_device_answer(g->dev, NULL, r, &truth, &g->err) != HSY_OK)
        exit(1);
    for (size_t i = 0; i < names.n; i++)
        if (names_is(&names.of[i], DEVICE_PURPOSE_PERMANENT))
            name = names.of[i].context.truth;
    free(r);
    rig_free(g);
    return name;
}

static void tuples_are_named_by_the_key(void)
{
    const uint64_t one = tuple_name(7), other = tuple_name(90);
    uint8_t items[16] = {3, 0, 0, 0, 0, 0, 0, 0, 5}, hash[8];

    hsy_blake2b(hash, sizeof hash, items, sizeof items, NULL, 0);
    ok(one != 0 && other != 0 && one != other && one != bytes_get64(hash) &&
           other != bytes_get64(hash),
       "a tuple's coins have a name that only the device can work out");
}

/* ---- The stack ----------------------------------------------------------- */

#define STREAM_WORDS 128u

static struct {
    struct rig *g;
    uint32_t task, truth;
    bool careless; /* leave the last stream */
    int answered;
} asked;

static void asked_act(void)
{
    hsy_keyed volatile room;

    if (asked.careless) {
        hsy_keyed_open((hsy_keyed *)&room, names.dev->keys.coins,
                       &names.of[names.n - 1].context);
        asked.answered = room.secret.left == 0 ? HSY_ANSWERED : 0;
        return;
    }
    asked.answered = rig_answer(asked.g, asked.task, asked.truth);
}

/* The key of a stream, at any place of four bytes, and its first coins. */
static size_t stream_words(uint64_t *out, const struct name *name)
{
    hsy_keyed streams;
    hsy_rng rng;
    size_t n = 0;

    hsy_keyed_open(&streams, names.dev->keys.coins, &name->context);
    rng = hsy_stream_rng(&streams.secret);
    for (size_t i = 4; i < 11; i++)
        memcpy(&out[n++], &streams.secret.state[i], 8);
    if (rng.fill(rng.ctx, &out[n], 8 * STREAM_WORDS) != HSY_OK)
        exit(1);
    return n + STREAM_WORDS;
}

/* Words of the streams that were opened, found where they were used. */
static size_t asked_left(void)
{
    static uint64_t words[NAMES * (STREAM_WORDS + 7)];
    size_t n = 0;

    if (!dead_stack_run(asked_act))
        return SIZE_MAX;
    for (size_t i = 0; i < names.n; i++)
        n += stream_words(words + n, &names.of[i]);
    return dead_stack_holds(words, n);
}

/* Later calls write over what earlier ones left: so every draw fails in turn,
 * before the answer is made with all of them. */
static void nothing_stays(struct rig *g, uint32_t task, size_t draws,
                          const char *what)
{
    size_t left = 0, made;

    asked.g = g;
    asked.task = task;
    asked.truth = 3;
    for (size_t fail_at = draws; fail_at > 0; fail_at--) {
        names_begin(g, fail_at);
        left += asked_left();
        left += asked.answered != -1 || names.n != fail_at - 1;
    }
    names_begin(g, 0);
    left += asked_left();
    made = names.n;
    ok(asked.answered == HSY_ANSWERED && made == draws && left == 0,
       "%s, %zu draws: nothing of them stays on the stack (%zu words)", what,
       made, left);
}

static void stacks(void)
{
    struct rig *g = coins_rig(1);

    nothing_stays(g, HIGH, 2, "a fresh answer");
    nothing_stays(g, LOW, 3, "a lowered answer");
    nothing_stays(g, KEPT, 4, "a kept answer and its report");
    asked.careless = true;
    ok(asked_left() > 0, "control: a stream that was not wiped is found");
    rig_free(g);
}

/* ---- The state ----------------------------------------------------------- */

/* How many of a record's sealed bytes differ. */
static size_t record_differs(const struct world *a, const struct world *b,
                             uint32_t at, uint32_t len)
{
    size_t n = 0;

    for (uint32_t i = 0; i < len; i++)
        n += a->file[HSY_FILE_A].bytes[at + i] !=
             b->file[HSY_FILE_A].bytes[at + i];
    return n;
}

/* Bytes that are sealed anew are random: of 400, fewer than 9/10 differ with
 * a chance below 1e-30. */
static void copies_tell_nothing(void)
{
    static const uint32_t truths[2] = {3, 9};
    struct rig *g = coins_rig(2);
    struct world *world = calloc(3, sizeof *world);
    const struct device_record *rec;
    uint32_t at, len;

    if (world == NULL)
        exit(1);
    world[2] = g->world;
    for (size_t i = 0; i < 2; i++) {
        coins_restore(g, &world[2]);
        if (rig_answer(g, KEPT, truths[i]) != HSY_ANSWERED)
            exit(1);
        world[i] = g->world;
    }
    rec = &g->dev->records[hsy_device_find(g->dev, g->release[KEPT])];
    len = bytes_get32(world[0].file[HSY_FILE_A].bytes + rec->at);
    at = rec->at + 20; /* length and mac (docs/formats.md) */
    ok(len > 300 &&
           record_differs(&world[0], &world[1], at, len) > len * 9 / 10,
       "two truths: %zu of the %u bytes of their record differ",
       record_differs(&world[0], &world[1], at, len), len);
    ok(record_differs(&world[0], &world[2], at, len) > len * 9 / 10 &&
           record_differs(&world[1], &world[2], at, len) > len * 9 / 10,
       "and of either from before");
    free(world);
    rig_free(g);
}

int main(void)
{
    coins_have_names();
    tuples_are_named_by_the_key();
    if (TEST_SANITIZED)
        tap_skip("the stack, under a sanitizer");
    else
        stacks();
    copies_tell_nothing();
    return tap_done();
}
