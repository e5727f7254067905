/* test_device_answer.c - answers: states, caps, coins, sizes. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "device_rig.h"

#include <time.h>

/* ---- Answers ------------------------------------------------------------- */

static void states_of_an_answer(void)
{
    struct rig *g = rig_new();
    hsy_truth wrong = {.type = HSY_TRUTH_NUMBER};

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    ok(hsy_device_consent_set(g->dev, HSY_CONSENT_NONE, NULL) == HSY_OK &&
           rig_answer(g, 0, 1) == HSY_ANSWER_NO_CONSENT,
       "without consent nothing is answered");
    hsy_device_consent_set(g->dev, HSY_CONSENT_COLLECT, NULL);
    ok(hsy_device_answer(g->dev, g->release[0], &wrong, NULL, &g->err) ==
               HSY_E_RANGE &&
           rig_spent(g, NULL) == 0,
       "a truth of the wrong type is an error before any charge");
    g->world.clock = HSY_E_IO;
    ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_IO,
       "without a clock nothing is answered");
    g->world.clock = HSY_OK;
    g->world.now = 0;
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED,
       "a clock in 1970 stands at the document's day");
    rig_day(g, 0);
    ok(rig_answer(g, 0, 3) == HSY_ANSWER_KEPT && rig_spent(g, NULL) == EPS,
       "a second truth changes nothing and costs nothing");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED && rig_spent(g, NULL) == 2 * EPS,
       "the next slot has its own answer and charge");
    rig_day(g, 0);
    ok(rig_answer(g, 0, 3) == HSY_ANSWER_KEPT, "turning the clock back: kept");
    g->world.now = (uint64_t)49710 * DEVICE_DAY; /* 2106 */
    ok(rig_answer(g, 0, 3) == HSY_ANSWER_CLOSED, "in 2106 the task is over");
    g->world.now = UINT64_MAX;
    ok(rig_answer(g, 0, 3) == HSY_ANSWER_CLOSED, "and at the end of time");
    rig_day(g, 2);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED,
       "and neither has moved the device's day");
    ok(world_entries(&g->world, HSY_ENTRY_CHARGE) == 3 &&
           world_entries(&g->world, HSY_ENTRY_ANSWER) == 3,
       "the log has three charges and three answers");
    rig_free(g);
}

static void caps_hold(void)
{
    struct rig *g = rig_new();
    hsy_budget b;
    int answered = 0;

    g->sources[0].nano_lifetime = 5 * EPS;
    rig_task(g, "a", "browser", values("grr", 4, 2 * EPS), 0);
    rig_task(g, "b", "browser", values("grr", 5, EPS), 0);
    rig_task(g, "c", "usage", values("grr", 5, EPS), 0);
    rig_begin(g);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED, "2 of 5");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED, "4 of 5");
    rig_day(g, 2);
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_EXHAUSTED, "2 more are too many");
    ok(rig_answer(g, 1, 1) == HSY_ANSWERED, "1 more is exactly affordable");
    ok(rig_answer(g, 2, 1) == HSY_ANSWERED, "another source has its own caps");
    for (uint32_t day = 3; day < 300; day++) {
        rig_day(g, day);
        answered += rig_answer(g, 0, 1) == HSY_ANSWERED;
        answered += rig_answer(g, 1, 1) == HSY_ANSWERED;
    }
    ok(answered == 0 && rig_spent(g, "browser") == 5 * EPS,
       "a lifetime cap never renews");
    ok(hsy_device_budget(g->dev, "browser", &b, NULL) == HSY_OK &&
           b.day == DAY0 + 299 && b.spent_day == 0 && b.cap_day == 8 * EPS &&
           b.cap_lifetime == 5 * EPS,
       "the budget says so");
    ok(hsy_device_budget(g->dev, "location", &b, NULL) == HSY_E_UNKNOWN,
       "and knows no other sources");
    rig_free(g);
}

static void day_caps_hold(void)
{
    struct rig *g = rig_new();

    g->sources[0].nano_day = 3 * EPS;
    g->policy.nano_day = 4 * EPS;
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
    ok(rig_answer(g, 1, 1) == HSY_ANSWERED, "the next day has its own");
    ok(rig_spent(g, NULL) == 6 * EPS, "and the lifetime goes on");
    rig_free(g);
}

/* Exhausted once, a slot stays so, even where a later day could pay. */
static void an_exhausted_slot_stays_so(void)
{
    struct rig *g = rig_new();

    g->policy.nano_day = 3 * EPS;
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
    ok(rig_answer(g, 1, 1) == HSY_ANSWERED, "the next slot is answered");
    rig_free(g);
}

static void sampled_slots(void)
{
    struct rig *g = rig_new();
    int in = 0, out = 0, other = 0;
    size_t sent[2];

    g->sources[0].nano_lifetime = g->policy.nano_lifetime = 1000 * EPS;
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
    ok(rig_spent(g, "browser") == (uint64_t)in * EPS, "only they are charged");
    rig_send(g, sent);
    ok(sent[0] + sent[1] == 7 && sent[1] > 0,
       "the kept rounds are all sent, as reports or null");
    rig_free(g);
}

/* The report that waits for a release's round on this day. */
static bool held(struct rig *g, uint32_t i, uint32_t day, uint8_t *report,
                 size_t bytes)
{
    const uint32_t k = hsy_device_find(g->dev, g->release[i]);
    const struct device_record *rec = &g->dev->records[k];
    const struct device_round *round = &rec->rounds[day % rec->window];

    if (round->number != day + 1 || round->held != 1)
        return false;
    memcpy(report, device_reports(g->dev, k, round), bytes);
    return true;
}

/* With the two epsilons equal a report is the permanent answer itself. */
static void permanent_answers(void)
{
    struct rig *g = rig_new();
    uint8_t first[4] = {0}, again[4], other[4];
    bool same = true;

    rig_task(g, "one", "browser", values("sue", 32, EPS), EPS);
    rig_task(g, "two", "usage", values("sue", 32, EPS), EPS);
    g->task[1].max_changes = 2;
    rig_begin(g);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED &&
           rig_answer(g, 1, 3) == HSY_ANSWERED,
       "two memoised tasks are answered");
    ok(rig_spent(g, "browser") == EPS && rig_spent(g, "usage") == 2 * EPS,
       "a slot costs max_changes times epsilon, up front");
    held(g, 0, 0, first, 4);
    for (uint32_t day = 1; day < 10; day++) {
        rig_day(g, day);
        same &= rig_answer(g, 0, 3 + day) == HSY_ANSWERED &&
                held(g, 0, day, again, 4) && memcmp(first, again, 4) == 0;
    }
    ok(same, "one permanent answer stands whatever the truth does");
    ok(rig_spent(g, "browser") == EPS, "and nothing more is charged");
    rig_day(g, 10);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED && held(g, 0, 10, again, 4) &&
           memcmp(first, again, 4) != 0 && rig_spent(g, "browser") == 2 * EPS,
       "the next slot has another, and is charged");

    rig_day(g, 20);
    rig_answer(g, 1, 3);
    held(g, 1, 20, first, 4);
    rig_day(g, 21);
    rig_answer(g, 1, 9);
    held(g, 1, 21, other, 4);
    ok(memcmp(first, other, 4) != 0,
       "with two changes a new truth has its own");
    rig_day(g, 22);
    rig_answer(g, 1, 3);
    held(g, 1, 22, again, 4);
    ok(memcmp(first, again, 4) == 0, "and the old truth its old one");
    rig_day(g, 23);
    ok(rig_again(g) && rig_answer(g, 1, 11) == HSY_ANSWERED &&
           held(g, 1, 23, again, 4) && memcmp(first, again, 4) == 0,
       "a third truth reuses the oldest, also after opening again");
    ok(rig_spent(g, "usage") == 4 * EPS, "two slots were charged");
    rig_free(g);
}

/* Every memoised mechanism through the device. */
static void all_chains_answer(void)
{
    static const struct {
        const char *mechanism;
        hsy_kind kind;
        uint64_t nano, permanent;
    } cases[] = {
        {"rr", HSY_KIND_YES_NO, EPS, 2 * EPS},
        {"grr", HSY_KIND_VALUES, EPS, 2 * EPS},
        {"sue", HSY_KIND_VALUES, EPS, 2 * EPS},
        {"oue", HSY_KIND_VALUES, EPS, 2 * EPS},
        {"olh", HSY_KIND_VALUES, EPS, 2 * EPS},
        {"blh", HSY_KIND_STRINGS, EPS, 2 * EPS},
        {"dbitflip", HSY_KIND_BINS, EPS, 2 * EPS},
        {"onebit", HSY_KIND_NUMBER, EPS, 2 * EPS},
        {"rappor", HSY_KIND_STRINGS, 0, 0},
    };
    const size_t n = sizeof cases / sizeof cases[0];
    struct rig *g = rig_new();
    bool good = true;

    g->sources[0].nano_day = g->sources[0].nano_lifetime = 100 * EPS;
    g->policy.nano_day = 100 * EPS;
    for (size_t i = 0; i < n; i++) {
        hsy_spec spec = {.mechanism = cases[i].mechanism,
                         .kind = cases[i].kind,
                         .nano_epsilon = cases[i].nano};

        if (spec.kind == HSY_KIND_VALUES || spec.kind == HSY_KIND_BINS)
            spec.d = 16;
        if (spec.kind == HSY_KIND_NUMBER || spec.kind == HSY_KIND_BINS)
            spec.hi = 1440;
        if (strcmp(cases[i].mechanism, "dbitflip") == 0)
            spec.param[HSY_PARAM_BITS] = 4;
        if (cases[i].nano == 0) {
            spec.design = HSY_DESIGN_RAPPOR;
            spec.chance[0] = (hsy_ratio){1, 2};
            spec.chance[1] = (hsy_ratio){1, 2};
            spec.chance[2] = (hsy_ratio){3, 4};
            spec.param[HSY_PARAM_BITS] = 32;
            spec.param[HSY_PARAM_HASHES] = 2;
            spec.param[HSY_PARAM_COHORTS] = 64;
        }
        rig_task(g, cases[i].mechanism, "browser", spec, cases[i].permanent);
        if (cases[i].nano == 0) {
            g->task[i].permanent = g->scheme[i];
            g->task[i].slot_days = 10;
            g->task[i].round_days = 1;
        }
    }
    rig_begin(g);
    for (size_t k = 0; k < 3 * n; k++) {
        const uint32_t i = (uint32_t)(k % n), day = (uint32_t)(k / n);
        hsy_answer_state state = 0;
        hsy_truth t = {.type = HSY_TRUTH_INDEX};
        uint8_t report[64];

        if (cases[i].kind == HSY_KIND_STRINGS) {
            t.type = HSY_TRUTH_BYTES;
            t.u.bytes.data = "example.org";
            t.u.bytes.len = 11;
        } else if (g->release[i]->scheme->hi != 0) {
            t.type = HSY_TRUTH_NUMBER;
            t.u.number = 700;
        }
        rig_day(g, day);
        good &= hsy_device_answer(g->dev, g->release[i], &t, &state, NULL) ==
                    HSY_OK &&
                state == HSY_ANSWERED &&
                held(g, i, day, report, g->release[i]->scheme->report_bytes) &&
                hsy_check(g->release[i]->scheme, report) == HSY_OK;
    }
    ok(good, "all chains answer with reports of their schemes");
    /* 4 ln 3 = 4.394449154672: rounded up, for 2 hashes and f = 1/2. */
    ok(g->release[n - 1]->nano_slot == 4394449156 ||
           g->release[n - 1]->nano_slot == 4394449155,
       "RAPPOR is charged its permanent answer: %llu",
       (unsigned long long)g->release[n - 1]->nano_slot);
    rig_free(g);
}

/* A task under another name: the same coins, no new charge. */
static void a_renamed_task_is_the_same(void)
{
    struct rig *g = rig_new();
    uint8_t first[4], again[4];
    hsy_release_info a, b;

    rig_task(g, "old-name", "browser", values("sue", 32, EPS), EPS);
    rig_begin(g);
    rig_answer(g, 0, 3);
    held(g, 0, 0, first, 4);
    hsy_release_describe(g->release[0], &a);
    memset(g->task[0].id, 0, sizeof g->task[0].id);
    memcpy(g->task[0].id, "new", 3);
    g->task[0].release = 9;
    g->task[0].end += 40;
    g->task[0].question = "asked another way";
    g->task[0].question_len = 17;
    rig_publish(g);
    ok(rig_tasks(g) && rig_answer(g, 0, 7) == HSY_ANSWER_KEPT,
       "a renamed task has had its answer");
    hsy_release_describe(g->release[0], &b);
    ok(memcmp(a.digest, b.digest, HSY_DIGEST) == 0, "its digest is the same");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 7) == HSY_ANSWERED && held(g, 0, 1, again, 4) &&
           memcmp(first, again, 4) == 0 && rig_spent(g, "browser") == EPS,
       "and the permanent answer too, without a new charge");
    rig_free(g);
}

static void a_lower_epsilon_is_answered_from_the_older(void)
{
    static const char *const mechanisms[] = {"grr", "sue", "oue"};

    for (size_t m = 0; m < 3; m++) {
        struct rig *g = rig_new();
        uint8_t a[4] = {0}, b[4] = {1}, c[4] = {0};

        rig_task(g, "old", "browser", values(mechanisms[m], 30, 2 * EPS), 0);
        rig_task(g, "same", "browser", values(mechanisms[m], 30, 2 * EPS), 0);
        rig_task(g, "low", "browser", values(mechanisms[m], 30, EPS), 0);
        rig_task(g, "lower", "browser", values(mechanisms[m], 30, EPS / 2), 0);
        rig_task(g, "high", "browser", values(mechanisms[m], 30, 2 * EPS - 7),
                 0);
        rig_task(g, "else", "browser", values(mechanisms[m], 29, EPS), 0);
        g->task[1].answers = g->task[1].sends = 2; /* another release */
        rig_begin(g);
        ok(rig_answer(g, 0, 5) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 2 * EPS,
           "%s: the first is charged", mechanisms[m]);
        ok(rig_answer(g, 1, 17) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 2 * EPS,
           "the same epsilon in another plan is free");
        held(g, 0, 0, a, 4);
        ok(held(g, 1, 0, b, 4) &&
               memcmp(a, b, g->release[0]->scheme->report_bytes) == 0,
           "and the same answer, whatever the truth is by now");
        ok(rig_answer(g, 2, 5) == HSY_ANSWERED &&
               rig_answer(g, 3, 5) == HSY_ANSWERED &&
               rig_answer(g, 4, 5) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 2 * EPS && held(g, 2, 0, c, 4),
           "lower ones are free");
        ok(rig_answer(g, 5, 5) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 3 * EPS,
           "another domain is charged in full");
        rig_day(g, 1);
        ok(rig_answer(g, 2, 5) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 4 * EPS &&
               rig_answer(g, 0, 5) == HSY_ANSWERED &&
               rig_spent(g, "browser") == 6 * EPS,
           "in a slot without the older answer it is charged, and a higher "
           "epsilon is");
        rig_free(g);
    }
}

/* Memoised, lowered: the chain hangs on the old key for the whole slot. */
static void a_lowered_slot_stays_so(void)
{
    struct rig *g = rig_new();
    uint8_t a[4], b[4];
    bool same = true;

    rig_task(g, "old", "browser", values("sue", 32, EPS), EPS);
    rig_task(g, "new", "browser", values("sue", 32, EPS), EPS);
    g->task[1].max_changes = 3; /* another release at the same epsilon */
    rig_begin(g);
    rig_answer(g, 0, 3);
    held(g, 0, 0, a, 4);
    for (uint32_t day = 0; day < 10; day++) {
        rig_day(g, day);
        same &= rig_answer(g, 1, 20 + day % 3) == HSY_ANSWERED &&
                held(g, 1, day, b, 4) && memcmp(a, b, 4) == 0;
        if (day == 4)
            same &= rig_again(g);
    }
    ok(same && rig_spent(g, "browser") == EPS,
       "a lowered slot repeats the older answer, free, whatever the truth is");
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
    ok(states == 12, "ten answers are taken, then the round has them");
    ok(rig_spent(g, "browser") == 3 * EPS, "three are charged");
    rig_answer(g, 1, 1);
    rig_day(g, 1);
    rig_send(g, count);
    ok(count[0] == 4 && count[1] == 2,
       "three go out; where one was answered, one and two nulls");
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
    ok(hsy_truth_total(s, &a, &item, 2, NULL) == HSY_OK && a == 2,
       "an unlisted value is `other`");
    ok(hsy_truth_total(s, &a, &item, HSY_TASK_CLOSED, NULL) == HSY_OK && a == 3,
       "in a closed list the last one");
    ok(rig_answer(g, 0, UINT32_MAX) == HSY_ANSWERED, "and is answered");
    s = g->release[1]->scheme;
    t.u.number = INT64_MIN;
    hsy_truth_total(s, &low, &t, 0, NULL);
    t.u.number = INT64_MAX;
    hsy_truth_total(s, &high, &t, 0, NULL);
    t.u.number = -5;
    hsy_truth_total(s, &a, &t, 0, NULL);
    t.u.number = 100;
    hsy_truth_total(s, &b, &t, 0, NULL);
    ok(low == 0 && a == 0 && high == 105 && b == 105,
       "a number outside its range is at its nearer end");
    for (int64_t x = -5; x <= 100; x++) {
        t.u.number = x;
        hsy_truth_total(s, &a, &t, 0, NULL);
        hsy_truth_code(s, &b, &t, NULL);
        if (a != b)
            break;
        if (x == 100)
            ok(true, "inside the range nothing is changed");
    }
    ok(a == b, "total and plain codes agree");
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
    ok(different == 0 && stores == 2,
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
    ok(memcmp(g->world.file[1].bytes, g->world.file[2].bytes,
              g->world.file[1].len) == 0,
       "both copies are the same");
    {
        struct file *once = malloc(sizeof *once);

        *once = g->world.file[1];
        g->world = *kept;
        rig_again(g);
        rig_answer(g, 0, 2);
        ok(once->len == g->world.file[1].len &&
               memcmp(once->bytes, g->world.file[1].bytes, once->len) == 0,
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

static hsy_status hook_open(void *ctx, hsy_streams *room, hsy_coins *coins,
                            const hsy_context *context)
{
    struct hook *h = ctx;

    if (++h->calls == h->fail_at)
        return HSY_E_ENTROPY;
    hsy_streams_open(room, h->dev->keys.coins, context);
    *coins = hsy_streams_coins(room);
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
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED && h.calls == 5,
       "then it is answered with all of them");
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
    g->sources[0].nano_lifetime = g->sources[0].nano_day = 100000 * EPS;
    g->policy.nano_lifetime = g->policy.nano_day = 100000 * EPS;
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
    ok(g->world.file[1].len < 65536, "the state takes %zu bytes",
       g->world.file[1].len);
    printf("# an answer takes %.1f us of CPU\n", all / 300);
    rig_free(g);
}

int main(void)
{
    states_of_an_answer();
    caps_hold();
    day_caps_hold();
    an_exhausted_slot_stays_so();
    sampled_slots();
    permanent_answers();
    all_chains_answer();
    a_renamed_task_is_the_same();
    a_lower_epsilon_is_answered_from_the_older();
    a_lowered_slot_stays_so();
    reservoirs();
    truths_outside_the_domain();
    no_truth_shows_in_what_is_written();
    equal_states_have_equal_bytes();
    failing_coins_leave_no_trace();
    a_hundred_tasks();
    return tap_done();
}
