/*
 * test_device_attacks.c - L10 on the real client: whoever keeps all uploads of
 * a device learns no more than its ledger shows.
 *
 * Each device is asked every day and hands out its uploads; the attacker reads
 * nothing else. He guesses the truth by the majority of all reports, and a
 * change in the middle by the shares of yes before and after it. A share of n
 * devices strays from its mean by five standard deviations in less than one
 * test of a million; the seed is fixed. HSY_TEST_LONG=1: 10,000 devices.
 */
#include "rig/device_world.h"
#include "tap.h"

#include <math.h>

#define SIGMAS 5.0
#define LN3 1098612288u /* in nano-epsilon, rounded down */
#define PLENTY UINT64_C(10000000000000)

/* How devices are asked, and what their policy allows. */
struct attack_plan {
    uint32_t days;
    uint32_t max_changes; /* 0: fresh coins every day */
    uint64_t cap;         /* lifetime, nano-epsilon */
};

/* What the attacker has of one device. */
struct attack_seen {
    uint32_t reports, yes; /* of all days */
    uint32_t early, early_yes;
    uint64_t spent; /* what the ledger shows */
};

struct attack_result {
    double right;   /* guesses of the truth */
    double changed; /* changes that were seen, */
    double alarms;  /* and seen where there were none */
    uint64_t spent; /* most of a device */
};

static uint32_t attack_devices(void)
{
    return getenv("HSY_TEST_LONG") != NULL ? 10000 : 200;
}

static void attack_task(struct world_task *t, const struct attack_plan *plan)
{
    const hsy_spec one = {.size = sizeof one,
                          .mechanism = "rr",
                          .kind = HSY_KIND_YES_NO,
                          .nano_epsilon = LN3};
    hsy_spec kept = one;

    kept.nano_epsilon = 2 * (uint64_t)LN3;
    world_task_init(t, "asked", &one, plan->max_changes != 0 ? &kept : NULL,
                    plan->days);
    if (plan->max_changes == 0)
        return;
    t->task.slot_days = 0;
    t->task.round_days = 1;
    t->task.max_changes = plan->max_changes;
}

/* Everything that is due leaves; reports are counted, nulls tell nothing. */
static void attack_read(struct attack_seen *seen, hsy_device *dev,
                        const struct world_setup *s, bool early)
{
    uint8_t upload[WORLD_UPLOAD];
    hsy_error err = {0};
    size_t len;

    while (hsy_device_next(dev, upload, sizeof upload, &len, world_releases(s),
                           s->n, &err) == HSY_OK) {
        hsy_upload head;
        uint32_t yes;

        world_must(hsy_upload_decode(&head, upload, &err), "upload", &err);
        world_must(
            hsy_device_sent(dev, world_releases(s), s->n, upload, len, &err),
            "sent", &err);
        if (head.kind != 1)
            continue;
        yes = upload[HSY_UPLOAD_WIRE] & 1;
        seen->reports++;
        seen->yes += yes;
        seen->early += early;
        seen->early_yes += early && yes;
    }
}

/* One device through all days. Uploads are due the day after, so the first day
 * of the second half brings the last report of the first. */
static struct attack_seen attack_device(const struct attack_plan *plan,
                                        uint32_t number, bool changes)
{
    static struct world world;
    struct attack_seen seen = {0};
    struct world_setup setup;
    struct world_task task;
    hsy_device *dev;
    hsy_error err = {0};

    world_init(&world, 1000 + number);
    world_setup_init(&setup, &world, false, plan->cap, plan->cap);
    setup.policy.releases = 1;
    dev = trial_memory(hsy_device_size(&setup.policy));
    attack_task(&task, plan);
    world_setup_create(&setup, dev, &task, 1);
    for (uint32_t day = 0; day <= plan->days; day++) {
        const bool later = day >= plan->days / 2;
        const hsy_truth truth = {.type = HSY_TRUTH_INDEX,
                                 .u.index = (number + (changes && later)) % 2};

        attack_read(&seen, dev, &setup, day <= plan->days / 2);
        world_must(hsy_device_answer(dev, NULL, setup.release[0], &truth, &err),
                   "answer", &err);
        world.seconds += WORLD_DAY;
    }
    seen.spent = world_spent(dev, "s");
    world_setup_clear(&setup);
    hsy_device_close(dev);
    free(dev);
    return seen;
}

/* 1, or 1/2 for a tie. */
static double attack_guess(const struct attack_seen *seen, uint32_t truth)
{
    uint32_t right = truth == 1 ? seen->yes : seen->reports - seen->yes;

    return 2 * right > seen->reports ? 1 : 2 * right == seen->reports ? 0.5 : 0;
}

/* A quarter lies between what noise does and what another answer does. */
static bool attack_sees_change(const struct attack_seen *seen)
{
    const double early = (double)seen->early_yes / seen->early;
    const double late =
        (double)(seen->yes - seen->early_yes) / (seen->reports - seen->early);

    return fabs(early - late) > 0.25;
}

/* Half of the devices change, if any do. */
static struct attack_result attack_run(const struct attack_plan *plan,
                                       bool changes)
{
    const uint32_t n = attack_devices();
    struct attack_result r = {0};

    for (uint32_t i = 0; i < n; i++) {
        const bool changed = changes && i / 2 % 2 == 1;
        struct attack_seen seen = attack_device(plan, i, changed);

        r.right += attack_guess(&seen, i % 2) / n;
        r.spent = seen.spent > r.spent ? seen.spent : r.spent;
        if (changes && changed)
            r.changed += attack_sees_change(&seen) / (n / 2.0);
        else if (changes)
            r.alarms += attack_sees_change(&seen) / (n / 2.0);
    }
    return r;
}

static double attack_allowed(uint64_t nano)
{
    return 1 / (1 + exp(-(double)nano / HSY_NANO));
}

static bool attack_within(double share, double allowed)
{
    return share <=
           allowed + SIGMAS * sqrt(allowed * (1 - allowed) / attack_devices());
}

static void kept_answers_stay_private(void)
{
    const struct attack_plan plan = {1000, 1, PLENTY};
    struct attack_result r = attack_run(&plan, false);

    is_u64(r.spent, 2 * (uint64_t)LN3,
           "1000 days of a kept answer are charged once");
    ok(attack_within(r.right, attack_allowed(r.spent)),
       "and tell no more: %.3f right", r.right);
    ok(r.right > 0.75, "control: the attacker is not asleep");
}

static void fresh_answers_do_not(void)
{
    const struct attack_plan plan = {101, 0, PLENTY};
    struct attack_result r = attack_run(&plan, false);

    ok(eq_u64(r.spent, 101 * (uint64_t)LN3) && r.right > 0.999,
       "101 fresh answers are charged, and tell all: %.3f right", r.right);
    ok(!attack_within(r.right, attack_allowed(LN3)),
       "control: which is more than one answer may");
}

static void a_cap_holds(void)
{
    const struct attack_plan plan = {101, 0, 3 * (uint64_t)LN3};
    struct attack_result r = attack_run(&plan, false);

    is_u64(r.spent, plan.cap, "a cap of three answers is reached, not passed");
    ok(attack_within(r.right, attack_allowed(r.spent)) &&
           fabs(r.right - 27.0 / 32) <=
               SIGMAS * sqrt(27.0 / 32 * 5 / 32 / attack_devices()),
       "and the attacker has the majority of three: %.3f right", r.right);
}

static void changes_are_hidden_or_paid(void)
{
    const struct attack_plan one = {200, 1, PLENTY}, two = {200, 2, PLENTY};
    const double sigma = 0.5 / sqrt(attack_devices());
    struct attack_result r = attack_run(&one, true);

    ok(eq_u64(r.spent, 2 * (uint64_t)LN3) &&
           (r.changed + 1 - r.alarms) / 2 <= 0.5 + SIGMAS * sigma,
       "with max_changes 1 nothing shows: %.3f seen, %.3f false", r.changed,
       r.alarms);
    r = attack_run(&two, true);
    is_u64(r.spent, 4 * (uint64_t)LN3,
           "with 2, both answers are paid for up front");
    ok(fabs(r.changed - 0.82) <= SIGMAS * sqrt(2) * sigma && r.alarms < 0.05,
       "and it shows where they differ, 82 %% of the time: %.3f", r.changed);
}

int main(void)
{
    kept_answers_stay_private();
    fresh_answers_do_not();
    a_cap_holds();
    changes_are_hidden_or_paid();
    return tap_done();
}
