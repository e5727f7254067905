/* test_device_answer.c - answers: states, caps, coins, sizes. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "rig/device_rig.h"

#include <time.h>

/* ---- Answers ------------------------------------------------------------- */

static void states_of_an_answer(void)
{
    struct rig *g = rig_new();
    hsy_truth wrong = {.type = HSY_TRUTH_NUMBER};

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    ok(eq_status(hsy_device_consent_set(g->dev, HSY_CONSENT_NONE, NULL),
                 HSY_OK) &&
           eq_int(rig_answer(g, 0, 1), HSY_ANSWER_NO_CONSENT),
       "without consent nothing is answered");
    hsy_device_consent_set(g->dev, HSY_CONSENT_COLLECT, NULL);
    ok(eq_status(
           hsy_device_answer(g->dev, NULL, g->release[0], &wrong, &g->err),
           HSY_E_RANGE) &&
           eq_u64(rig_spent(g, NULL), 0),
       "a truth of the wrong type is an error before any charge");
    g->world.clock = HSY_E_IO;
    ok(rig_answer(g, 0, 1) == -1 && eq_status(g->err.status, HSY_E_IO),
       "without a clock nothing is answered");
    g->world.clock = HSY_OK;
    g->world.now = 0;
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_CLOSED && rig_spent(g, NULL) == 0,
       "in 1970 the task has not begun, whatever its document says");
    rig_day(g, 0);
    is_int(rig_answer(g, 0, 1), HSY_ANSWERED,
           "on its first day it is answered");
    ok(rig_answer(g, 0, 3) == HSY_ANSWER_KEPT && rig_spent(g, NULL) == EPS,
       "a second truth changes nothing and costs nothing");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED && rig_spent(g, NULL) == 2 * EPS,
       "the next slot has its own answer and charge");
    rig_day(g, 0);
    is_int(rig_answer(g, 0, 3), HSY_ANSWER_KEPT,
           "turning the clock back: kept");
    g->world.now = (uint64_t)49710 * DEVICE_DAY; /* 2106 */
    is_int(rig_answer(g, 0, 3), HSY_ANSWER_CLOSED, "in 2106 the task is over");
    g->world.now = UINT64_MAX;
    is_int(rig_answer(g, 0, 3), HSY_ANSWER_CLOSED, "and at the end of time");
    rig_day(g, 2);
    is_int(rig_answer(g, 0, 3), HSY_ANSWERED,
           "and neither has moved the device's day");
    ok(eq_u64(world_entries(&g->world, HSY_LOG_CHARGE), 3) &&
           eq_u64(world_entries(&g->world, HSY_LOG_ANSWER), 3),
       "the log has three charges and three answers");
    rig_free(g);
}

static void caps_hold(void)
{
    struct rig *g = rig_new();
    hsy_budget b;
    int answered = 0;

    g->sources[0].cap_lifetime = 5 * EPS;
    rig_task(g, "a", "browser", values("grr", 4, 2 * EPS), 0);
    rig_task(g, "b", "browser", values("grr", 5, EPS), 0);
    rig_task(g, "c", "usage", values("grr", 5, EPS), 0);
    rig_begin(g);
    is_int(rig_answer(g, 0, 1), HSY_ANSWERED, "2 of 5");
    rig_day(g, 1);
    is_int(rig_answer(g, 0, 1), HSY_ANSWERED, "4 of 5");
    rig_day(g, 2);
    is_int(rig_answer(g, 0, 1), HSY_ANSWER_EXHAUSTED, "2 more are too many");
    is_int(rig_answer(g, 1, 1), HSY_ANSWERED, "1 more is exactly affordable");
    is_int(rig_answer(g, 2, 1), HSY_ANSWERED,
           "another source has its own caps");
    for (uint32_t day = 3; day < 300; day++) {
        rig_day(g, day);
        answered += rig_answer(g, 0, 1) == HSY_ANSWERED;
        answered += rig_answer(g, 1, 1) == HSY_ANSWERED;
    }
    ok(answered == 0 && rig_spent(g, "browser") == 5 * EPS,
       "a lifetime cap never renews");
    ok(eq_status(hsy_device_budget(g->dev, &b, "browser", NULL), HSY_OK) &&
           eq_u64(b.day, DAY0 + 299) && eq_u64(b.spent_day, 0) &&
           eq_u64(b.cap_day, 8 * EPS) && eq_u64(b.cap_lifetime, 5 * EPS),
       "the budget says so");
    is_status(hsy_device_budget(g->dev, &b, "location", NULL), HSY_E_UNKNOWN,
              "and knows no other sources");
    rig_free(g);
}

/* A cap that is lowered below what was spent has no room at all. */
static void lowered_caps_hold(void)
{
    struct rig *g = rig_new();

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    for (uint32_t day = 0; day < 4; day++) {
        rig_day(g, day);
        rig_answer(g, 0, 1);
    }
    g->sources[0].cap_lifetime = 2 * EPS;
    rig_day(g, 4);
    ok(rig_again(g) && rig_answer(g, 0, 1) == HSY_ANSWER_EXHAUSTED &&
           rig_spent(g, "browser") == 4 * EPS,
       "a source that has spent more than its new cap is not asked");
    g->sources[0].cap_lifetime = 40 * EPS;
    g->policy.cap_lifetime = 2 * EPS;
    rig_day(g, 5);
    ok(rig_again(g) && rig_answer(g, 0, 1) == HSY_ANSWER_EXHAUSTED &&
           rig_spent(g, NULL) == 4 * EPS,
       "nor is a device that has");
    rig_free(g);
}

static void day_caps_hold(void)
{
    struct rig *g = rig_new();

    g->sources[0].cap_day = 3 * EPS;
    g->policy.cap_day = 4 * EPS;
    rig_task(g, "a", "browser", values("grr", 4, 2 * EPS), 0);
    rig_task(g, "b", "browser", values("grr", 5, 2 * EPS), 0);
    rig_task(g, "c", "usage", values("grr", 5, 2 * EPS), 0);
    rig_task(g, "d", "settings", values("grr", 5, EPS), 0);
    rig_begin(g);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED &&
           rig_answer(g, 1, 1) == HSY_ANSWER_EXHAUSTED,
       "the source's day is spent");
    ok(rig_answer(g, 2, 1) == HSY_ANSWERED &&
           rig_answer(g, 3, 1) == HSY_ANSWER_EXHAUSTED,
       "the device's day is spent");
    rig_day(g, 1);
    is_int(rig_answer(g, 1, 1), HSY_ANSWERED, "the next day has its own");
    is_u64(rig_spent(g, NULL), 6 * EPS, "and the lifetime goes on");
    rig_free(g);
}

/* Exhausted once, a slot stays so, even where a later day could pay. */
static void an_exhausted_slot_stays_so(void)
{
    struct rig *g = rig_new();

    g->policy.cap_day = 3 * EPS;
    rig_task(g, "a", "browser", values("grr", 4, 2 * EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 2 * EPS);
    rig_begin(g);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED &&
           rig_answer(g, 1, 1) == HSY_ANSWER_EXHAUSTED,
       "the day cannot pay for both");
    rig_day(g, 1);
    ok(rig_answer(g, 1, 1) == HSY_ANSWER_EXHAUSTED && rig_again(g) &&
           rig_answer(g, 1, 1) == HSY_ANSWER_EXHAUSTED,
       "the slot stays exhausted");
    rig_day(g, 10);
    is_int(rig_answer(g, 1, 1), HSY_ANSWERED, "the next slot is answered");
    rig_free(g);
}

static void sampled_slots(void)
{
    struct rig *g = rig_new();
    int in = 0, out = 0, other = 0;
    size_t sent[2];

    g->sources[0].cap_lifetime = g->policy.cap_lifetime = 1000 * EPS;
    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    g->task[0].sample = (hsy_ratio){1, 4};
    rig_begin(g);
    for (uint32_t day = 0; day < 300; day++) {
        int state;

        rig_day(g, day);
        state = rig_answer(g, 0, 1);
        in += state == HSY_ANSWERED;
        out += state == HSY_ANSWER_SAMPLED_OUT;
        other += rig_answer(g, 0, 1) !=
                 (state == HSY_ANSWERED ? HSY_ANSWER_KEPT : state);
    }
    /* Binomial(300, 1/4): 75 +- 7.5; 8 standard deviations. */
    ok(in + out == 300 && in > 15 && in < 135 && other == 0,
       "%d of 300 slots are drawn for 1/4, each time the same", in);
    is_u64(rig_spent(g, "browser"), (uint64_t)in * EPS,
           "only they are charged");
    rig_send(g, sent);
    ok(eq_u64(sent[0] + sent[1], 7) && sent[1] > 0,
       "the kept rounds are all sent, as reports or null");
    rig_free(g);
}

/* Ten answers, of which three go out. */
static void reservoirs(void)
{
    struct rig *g = rig_new();
    size_t count[2];
    int states = 0;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    g->task[0].answers = 10;
    g->task[0].sends = 3;
    rig_task(g, "b", "usage", values("grr", 4, EPS), 0);
    g->task[1].answers = 10;
    g->task[1].sends = 3;
    rig_begin(g);
    for (int i = 0; i < 12; i++)
        states += rig_answer(g, 0, (uint32_t)i % 4) ==
                  (i < 10 ? HSY_ANSWERED : HSY_ANSWER_KEPT);
    is_int(states, 12, "ten answers are taken, then the round has them");
    is_u64(rig_spent(g, "browser"), 3 * EPS, "three are charged");
    rig_answer(g, 1, 1);
    rig_day(g, 1);
    rig_send(g, count);
    ok(eq_u64(count[0], 4) && eq_u64(count[1], 2),
       "three go out; where one was answered, one and two nulls");
    rig_free(g);
}

/* Of two answers either goes out, in half of the rounds each. Within 5 sigma;
 * the key is fixed. */
static void either_answer_is_drawn(void)
{
    enum { ROUNDS = 360 };
    struct rig *g = rig_new();
    uint32_t second = 0;

    g->sources[0].cap_lifetime = g->policy.cap_lifetime = 1000 * EPS;
    rig_task(g, "a", "browser", values("oue", 64, EPS), 0);
    g->task[0].answers = 2;
    rig_begin(g);
    for (uint32_t day = 0; day < ROUNDS; day++) {
        uint8_t before[8];
        const uint8_t *at = device_reports(
            g->dev, 0, &g->dev->records[0].rounds[day % DEVICE_WINDOW]);

        rig_day(g, day);
        rig_answer(g, 0, 1);
        memcpy(before, at, sizeof before);
        rig_answer(g, 0, 1);
        second += memcmp(before, at, sizeof before) != 0;
    }
    ok(second > ROUNDS / 2 - 47 && second < ROUNDS / 2 + 47,
       "of two answers the second is drawn in half of the rounds: %u of %u",
       second, ROUNDS);
    rig_free(g);
}

static void truths_outside_the_domain(void)
{
    struct rig *g = rig_new();
    const hsy_spec number = {.mechanism = "onebit",
                             .kind = HSY_KIND_NUMBER,
                             .lo = -5,
                             .hi = 100,
                             .nano_epsilon = EPS};
    hsy_truth t = {.type = HSY_TRUTH_NUMBER};
    uint64_t low, high, a, b;
    hsy_scheme *s;
    hsy_truth item;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    g->task[0].other = 2;
    rig_task(g, "n", "usage", number, 0);
    rig_begin(g);
    s = g->release[0]->scheme;
    item = index_truth(77);
    ok(eq_status(hsy_truth_code_clamped(s, &a, &item, 2, NULL), HSY_OK) &&
           eq_u64(a, 2),
       "an unlisted value is `other`");
    ok(eq_status(hsy_truth_code_clamped(s, &a, &item, HSY_TASK_CLOSED, NULL),
                 HSY_OK) &&
           eq_u64(a, 3),
       "in a closed list the last one");
    is_int(rig_answer(g, 0, UINT32_MAX), HSY_ANSWERED, "and is answered");
    s = g->release[1]->scheme;
    t.u.number = INT64_MIN;
    hsy_truth_code_clamped(s, &low, &t, 0, NULL);
    t.u.number = INT64_MAX;
    hsy_truth_code_clamped(s, &high, &t, 0, NULL);
    t.u.number = -5;
    hsy_truth_code_clamped(s, &a, &t, 0, NULL);
    t.u.number = 100;
    hsy_truth_code_clamped(s, &b, &t, 0, NULL);
    ok(eq_u64(low, 0) && eq_u64(a, 0) && eq_u64(high, 105) && eq_u64(b, 105),
       "a number outside its range is at its nearer end");
    for (int64_t x = -5; x <= 100; x++) {
        t.u.number = x;
        hsy_truth_code_clamped(s, &a, &t, 0, NULL);
        hsy_truth_code(s, &b, &t, NULL);
        if (a != b)
            break;
        if (x == 100)
            ok(true, "inside the range nothing is changed");
    }
    is_u64(a, b, "total and plain codes agree");
    rig_free(g);
}

/* ---- The shape of an answer ---------------------------------------------- */

static void no_truth_shows_in_what_is_written(void)
{
    struct rig *g = rig_new();
    struct world *kept = malloc(sizeof *kept);
    uint32_t stores = 0, different = 0;
    size_t stored = 0;

    rig_task(g, "a", "browser", values("grr", 64, EPS), 2 * EPS);
    g->task[0].max_changes = 3;
    rig_begin(g);
    rig_answer(g, 0, 0);
    *kept = g->world;
    for (uint32_t truth = 0; truth < 64; truth++) {
        g->world = *kept;
        rig_again(g);
        rig_day(g, 1);
        g->world.stores = 0;
        g->world.stored = 0;
        different += rig_answer(g, 0, truth) != HSY_ANSWERED;
        if (truth != 0)
            different += g->world.stores != stores || g->world.stored != stored;
        stores = g->world.stores;
        stored = g->world.stored;
    }
    ok(eq_u64(different, 0) && eq_u64(stores, 2),
       "64 truths, the same or new: two stores of one size");
    free(kept);
    rig_free(g);
}

static void equal_states_have_equal_bytes(void)
{
    struct rig *g = rig_new();
    struct world *kept = malloc(sizeof *kept);

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    *kept = g->world;
    rig_answer(g, 0, 2);
    is_bytes(g->world.file[1].bytes, g->world.file[2].bytes,
             g->world.file[1].len, "both copies are the same");
    {
        struct file *once = malloc(sizeof *once);

        *once = g->world.file[1];
        g->world = *kept;
        rig_again(g);
        rig_answer(g, 0, 2);
        ok(eq_u64(once->len, g->world.file[1].len) &&
               eq_bytes(once->bytes, g->world.file[1].bytes, once->len),
           "and the same history gives the same bytes");
        free(once);
    }
    free(kept);
    rig_free(g);
}

/* ---- Coins --------------------------------------------------------------- */

struct hook {
    hsy_device *dev;
    uint32_t calls, fail_at;
};

static hsy_status hook_open(void *ctx, hsy_keyed *room, hsy_coins *coins,
                            const hsy_context *context)
{
    struct hook *h = ctx;

    if (++h->calls == h->fail_at)
        return HSY_E_ENTROPY;
    hsy_keyed_open(room, h->dev->keys.coins, context);
    *coins = hsy_keyed_coins(room);
    return HSY_OK;
}

static void failing_coins_leave_no_trace(void)
{
    struct rig *g = rig_new();
    struct hook h = {0};
    bool good = true;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 2 * EPS);
    g->task[0].sample = (hsy_ratio){999999999, 1000000000};
    rig_begin(g);
    h.dev = g->dev;
    hsy_device_coins(g->dev, hook_open, &h);
    g->world.stores = 0;
    for (uint32_t i = 1; i <= 5; i++) {
        h = (struct hook){.dev = g->dev, .fail_at = i};
        good &= rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_ENTROPY &&
                rig_spent(g, NULL) == 0 && g->world.stores == 0;
    }
    ok(good, "each of five draws may fail: no answer, no charge, no write");
    h = (struct hook){.dev = g->dev};
    ok(eq_int(rig_answer(g, 0, 1), HSY_ANSWERED) && eq_int(h.calls, 5),
       "then it is answered with all of them");
    rig_free(g);
}

/* ---- Several attributes -------------------------------------------------- */

static void tuples_have_coins_of_all_items(void)
{
    struct rig *g = rig_new();
    hsy_release *r = rig_tuple(g);
    const struct device_record *rec = &g->dev->records[1];
    uint8_t seen[2][64] = {{0}};
    hsy_truth items[2] = {index_truth(3), index_truth(0)};
    hsy_truth truth = {.type = HSY_TRUTH_TUPLE};
    int differ = 0;

    if (rec->report_bytes > sizeof seen[0])
        exit(1);
    truth.u.tuple.items = items;
    truth.u.tuple.count = 2;
    for (uint32_t day = 0; day < 40; day++) {
        hsy_answer_state state = 0;

        rig_day(g, day);
        items[1].u.index = day; /* from 8 on outside the domain */
        if (hsy_device_answer(g->dev, &state, r, &truth, &g->err) != HSY_OK ||
            state != HSY_ANSWERED)
            break;
        memcpy(seen[day % 2],
               device_reports(g->dev, 1, &rec->rounds[day % rec->window]),
               rec->report_bytes);
        differ += memcmp(seen[0], seen[1], 64) != 0 &&
                  hsy_check(r->scheme, seen[day % 2]) == HSY_OK;
    }
    ok(differ >= 35, "each is answered with coins of its own: %d", differ);
    truth.u.tuple.count = 1;
    rig_day(g, 50);
    is_status(hsy_device_answer(g->dev, NULL, r, &truth, NULL), HSY_E_RANGE,
              "an item too few is the program's mistake");
    free(r);
    rig_free(g);
}

/* ---- Sizes --------------------------------------------------------------- */

static void a_hundred_tasks(void)
{
    struct rig *g = rig_new();
    struct timespec from, to;
    double us, all = 0;
    bool good = true;

    g->policy.releases = 100;
    g->sources[0].cap_lifetime = g->sources[0].cap_day = 100000 * EPS;
    g->policy.cap_lifetime = g->policy.cap_day = 100000 * EPS;
    for (uint32_t i = 0; i < 100; i++) {
        char id[5] = {'t', (char)('0' + i / 10), (char)('0' + i % 10), 0};

        rig_task(g, id, "browser", values("sue", 1024, EPS + i), 2 * EPS + i);
    }
    rig_begin(g);
    for (uint32_t day = 0; day < 3; day++) {
        rig_day(g, day);
        for (uint32_t i = 100; i-- > 0;) {
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
            good &= rig_answer(g, i, 1) == HSY_ANSWERED;
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
            us = (double)(to.tv_sec - from.tv_sec) * 1e6 +
                 (double)(to.tv_nsec - from.tv_nsec) / 1e3;
            all += us;
        }
    }
    ok(good, "100 tasks with reports of 128 bytes are answered");
    ok(rig_again(g), "and opened again");
    ok(g->world.file[1].len < 65536, "the state takes %zu bytes",
       g->world.file[1].len);
    printf("# an answer takes %.1f us of CPU\n", all / 300);
    rig_free(g);
}

/* What the coins of answers are named by. */
struct truths {
    uint64_t name[64];
    uint32_t count;
};

static hsy_status truths_coins(void *ctx, hsy_keyed *room, hsy_coins *coins,
                               const hsy_context *c)
{
    static const uint8_t key[HSY_KEY] = {3};
    struct truths *t = ctx;

    if (strcmp(c->purpose, DEVICE_PURPOSE_PERMANENT) == 0 && t->count < 64)
        t->name[t->count++] = c->truth;
    hsy_keyed_open(room, key, c);
    *coins = hsy_keyed_coins(room);
    return HSY_OK;
}

/* Strings of 16 symbols, each of which differs from the first in one: no two
 * share the coins of an answer (T07). */
static void long_strings_have_coins_of_their_own(void)
{
    hsy_spec spec = {.mechanism = "pem",
                     .kind = HSY_KIND_STRINGS,
                     .nano_epsilon = EPS / 8,
                     .param[HSY_PARAM_BITS] = 128};
    struct rig *g = rig_new();
    struct truths names = {.count = 0};
    uint32_t same = 0;

    rig_task(g, "a", "browser", spec, 0);
    rig_begin(g);
    hsy_device_coins(g->dev, truths_coins, &names);
    for (uint32_t k = 0; k <= 16; k++) {
        char text[] = "aaaaaaaaaaaaaaaa";
        hsy_truth t = {.type = HSY_TRUTH_BYTES};

        if (k > 0)
            text[k - 1] = 'b';
        t.u.bytes.data = (const uint8_t *)text;
        t.u.bytes.len = t.u.bytes.room = 16;
        rig_day(g, k);
        (void)hsy_device_answer(g->dev, NULL, g->release[0], &t, &g->err);
    }
    for (uint32_t i = 0; i < names.count; i++)
        for (uint32_t k = 0; k < i; k++)
            same += names.name[i] == names.name[k];
    ok(eq_u64(names.count, 17) && eq_u64(same, 0),
       "every symbol of a long string names the coins");
    rig_free(g);
}

int main(void)
{
    states_of_an_answer();
    caps_hold();
    lowered_caps_hold();
    day_caps_hold();
    an_exhausted_slot_stays_so();
    sampled_slots();
    reservoirs();
    either_answer_is_drawn();
    truths_outside_the_domain();
    no_truth_shows_in_what_is_written();
    equal_states_have_equal_bytes();
    failing_coins_leave_no_trace();
    tuples_have_coins_of_all_items();
    a_hundred_tasks();
    long_strings_have_coins_of_their_own();
    return tap_done();
}
