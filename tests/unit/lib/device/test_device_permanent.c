/* test_device_permanent.c - permanent answers, and answers made from older
 * ones. */
#include "rig/device_rig.h"

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
static void all_permanents_answer(void)
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

    g->sources[0].cap_day = g->sources[0].cap_lifetime = 100 * EPS;
    g->policy.cap_day = 100 * EPS;
    for (size_t i = 0; i < n; i++) {
        hsy_spec spec = {.mechanism = cases[i].mechanism,
                         .kind = cases[i].kind,
                         .nano_epsilon = cases[i].nano};

        if (spec.kind == HSY_KIND_VALUES || spec.kind == HSY_KIND_BINS)
            spec.d = 16;
        if (spec.kind == HSY_KIND_NUMBER || spec.kind == HSY_KIND_BINS)
            spec.hi = 1440;
        if (strcmp(cases[i].mechanism, "dbitflip") == 0)
            spec.param[HSY_PARAM_SAMPLED_BITS] = 4;
        if (cases[i].nano == 0) {
            spec.design = HSY_DESIGN_RAPPOR;
            spec.chance[0] = (hsy_ratio){1, 2};
            spec.chance[1] = (hsy_ratio){1, 2};
            spec.chance[2] = (hsy_ratio){3, 4};
            spec.param[HSY_PARAM_FILTER_BITS] = 32;
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
        good &= hsy_device_answer(g->dev, &state, g->release[i], &t, NULL) ==
                    HSY_OK &&
                state == HSY_ANSWERED &&
                held(g, i, day, report, g->release[i]->scheme->report_bytes) &&
                hsy_check(g->release[i]->scheme, report) == HSY_OK;
    }
    ok(good, "all permanent answers give reports of their schemes");
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

/* Memoised, lowered: the answer hangs on the old key for the whole slot. */
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

/* The older answer may belong to a release that was admitted later. */
static void an_origin_may_stand_behind(void)
{
    struct rig *g = rig_new();
    uint8_t a[4], b[4];

    rig_task(g, "new", "browser", values("sue", 32, EPS), EPS);
    g->task[0].max_changes = 3;
    rig_task(g, "old", "browser", values("sue", 32, EPS), EPS);
    rig_begin(g);
    ok(rig_answer(g, 1, 3) == HSY_ANSWERED &&
           rig_answer(g, 0, 9) == HSY_ANSWERED && rig_again(g),
       "answered from a release further down, and opened again");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 9) == HSY_ANSWERED && held(g, 1, 0, a, 4) &&
           held(g, 0, 1, b, 4) && memcmp(a, b, 4) == 0 &&
           rig_spent(g, "browser") == EPS,
       "the next round has the same answer, free");
    rig_free(g);
}

/* Of several fresh answers in a slot the first serves, in every slot. */
static void the_first_of_several_serves(void)
{
    struct rig *g = rig_new();
    uint8_t first[16], low[16];
    const struct device_record *rec;

    rig_task(g, "two", "browser", values("oue", 128, EPS), 0);
    g->task[0].answers = g->task[0].sends = 2;
    rig_task(g, "one", "browser", values("oue", 128, EPS), 0);
    rig_begin(g);
    rig_day(g, 1);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED &&
           rig_answer(g, 0, 90) == HSY_ANSWERED &&
           rig_answer(g, 1, 90) == HSY_ANSWERED &&
           rig_spent(g, "browser") == 2 * EPS && held(g, 1, 1, low, 16),
       "after two answers of a slot a third at the same epsilon is free");
    rec = &g->dev->records[hsy_device_find(g->dev, g->release[0])];
    memcpy(first,
           device_reports(g->dev, hsy_device_find(g->dev, g->release[0]),
                          &rec->rounds[1]),
           16);
    ok(memcmp(first, low, 16) == 0, "for it is the first of them");
    rig_free(g);
}

/* A task's record. */
static const struct device_record *record(const struct rig *g, uint32_t i)
{
    return &g->dev->records[hsy_device_find(g->dev, g->release[i])];
}

/* What was made from an older answer, was not answered at all or is forgotten
 * has none to make another from. */
static void only_paid_answers_serve(void)
{
    struct rig *g = rig_new();

    rig_task(g, "mid", "browser", values("sue", 32, EPS), 0);
    rig_task(g, "high", "browser", values("sue", 32, 2 * EPS), 0);
    rig_task(g, "low", "browser", values("sue", 32, EPS / 2), 0);
    rig_begin(g);
    ok(rig_answer(g, 1, 3) == HSY_ANSWERED &&
           rig_answer(g, 0, 3) == HSY_ANSWERED &&
           rig_answer(g, 2, 3) == HSY_ANSWERED &&
           rig_spent(g, "browser") == 2 * EPS &&
           record(g, 2)->origin == hsy_device_find(g->dev, g->release[1]),
       "of two older answers the one that was paid for serves");
    g->sources[0].cap_lifetime = 3 * EPS;
    rig_day(g, 1);
    ok(rig_again(g) && rig_answer(g, 1, 3) == HSY_ANSWER_EXHAUSTED &&
           rig_answer(g, 0, 3) == HSY_ANSWERED &&
           rig_spent(g, "browser") == 3 * EPS,
       "one that no cap had room for does not");
    rig_free(g);
}

/* Of two answers one is sent, and one is paid for: neither serves. */
static void an_answer_that_may_stay_does_not_serve(void)
{
    struct rig *g = rig_new();

    rig_task(g, "two", "browser", values("oue", 30, EPS), 0);
    g->task[0].answers = 2;
    rig_task(g, "low", "browser", values("oue", 30, EPS / 2), 0);
    rig_begin(g);
    ok(rig_answer(g, 0, 3) == HSY_ANSWERED &&
           rig_answer(g, 0, 4) == HSY_ANSWERED &&
           rig_spent(g, "browser") == EPS,
       "of two answers one will be sent: the slot costs one");
    ok(rig_answer(g, 1, 3) == HSY_ANSWERED &&
           rig_spent(g, "browser") == EPS + EPS / 2,
       "what may not be sent serves for nothing: the next one is paid for");
    rig_free(g);
}

static void forgotten_answers_do_not_serve(void)
{
    struct rig *g = rig_new();

    rig_task(g, "high", "browser", values("sue", 32, EPS), 0);
    rig_begin(g);
    rig_answer(g, 0, 3);
    rig_task(g, "low", "browser", values("sue", 32, EPS / 2), 0);
    rig_publish(g);
    ok(hsy_device_forget(g->dev, "browser", NULL) == HSY_OK && rig_tasks(g) &&
           rig_answer(g, 1, 3) == HSY_ANSWERED &&
           rig_spent(g, "browser") == EPS + EPS / 2,
       "a forgotten answer serves for nothing: the next one is paid for");
    rig_free(g);
}

/* Points of another grain are other keys: the answer is another, and paid. */
static void another_grain_is_another_release(void)
{
    struct rig *g = rig_new();
    const hsy_spec spec = {.mechanism = "onebit",
                           .kind = HSY_KIND_NUMBER,
                           .hi = 1440,
                           .nano_epsilon = EPS};
    const hsy_truth truth = {.type = HSY_TRUTH_NUMBER};

    rig_task(g, "two", "browser", spec, EPS);
    rig_task(g, "three", "browser", spec, EPS);
    g->task[1].grain = 720;
    rig_begin(g);
    ok(hsy_device_answer(g->dev, NULL, g->release[0], &truth, NULL) == HSY_OK &&
           hsy_device_answer(g->dev, NULL, g->release[1], &truth, NULL) ==
               HSY_OK &&
           rig_spent(g, "browser") == 2 * EPS && g->dev->nrecords == 2,
       "numbers rounded to another grain are another release");
    rig_free(g);
}

/* The seed in a report of olh for this truth, on a device whose key is always
 * the same. */
static uint64_t seed(uint64_t permanent, uint32_t truth)
{
    struct rig *g = rig_new();
    hsy_spec spec = values("olh", 64, EPS);
    uint8_t report[8] = {0};

    spec.param[HSY_PARAM_POOL_BITS] = 16;
    rig_task(g, "a", "browser", spec, permanent);
    rig_publish(g);
    if (rig_open(g, true) != HSY_OK || !rig_tasks(g) ||
        hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL) != HSY_OK ||
        rig_answer(g, 0, truth) != HSY_ANSWERED ||
        !held(g, 0, 0, report, g->release[0]->scheme->report_bytes))
        exit(1);
    rig_free(g);
    return report[0] | (uint64_t)report[1] << 8;
}

/* R4: what is published is never drawn after looking at the truth. */
static void published_coins_know_no_truth(void)
{
    const uint64_t fresh = seed(0, 0), kept = seed(2 * EPS, 0);
    bool same = true;

    for (uint32_t truth = 1; truth < 8; truth++)
        same &= seed(0, truth) == fresh && seed(2 * EPS, truth) == kept;
    ok(same && fresh != kept,
       "whatever the truth is, a report shows the same seed");
}

/* Another epsilon of the report is the same release by another scheme: what
 * waits is not sent under that one's name. */
static void another_report_scheme(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "a", "browser", values("grr", 4, EPS), 2 * EPS);
    rig_begin(g);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED, "a round is answered");
    g->tasks = 0;
    rig_task(g, "a", "browser", values("grr", 4, EPS / 2), 2 * EPS);
    rig_publish(g);
    ok(rig_tasks(g) && rig_answer(g, 0, 1) == HSY_ANSWER_KEPT,
       "the same round has its answer, whatever a report's epsilon is now");
    rig_day(g, 1);
    rig_send(g, count);
    ok(count[0] == 0 && count[1] == 1 && rig_spent(g, "browser") == 2 * EPS,
       "a null upload goes in its place, and nothing is charged");
    rig_free(g);
}

int main(void)
{
    permanent_answers();
    all_permanents_answer();
    a_renamed_task_is_the_same();
    a_lower_epsilon_is_answered_from_the_older();
    a_lowered_slot_stays_so();
    an_origin_may_stand_behind();
    the_first_of_several_serves();
    only_paid_answers_serve();
    an_answer_that_may_stay_does_not_serve();
    forgotten_answers_do_not_serve();
    another_grain_is_another_release();
    published_coins_know_no_truth();
    another_report_scheme();
    return tap_done();
}
