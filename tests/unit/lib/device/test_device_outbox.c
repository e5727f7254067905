/* test_device_outbox.c - uploads, consent, forgetting. */
#include "rig/device_rig.h"

/* ---- Uploads ------------------------------------------------------------- */

static void every_round_sends(void)
{
    struct rig *g = rig_new();
    uint8_t one[4096], two[4096];
    hsy_upload head;
    size_t count[2], len, again;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 0);
    rig_begin(g);
    rig_answer(g, 0, 1);
    is_status(rig_next(g, one, &len), HSY_E_END,
              "before the round's end nothing");
    rig_day(g, 1);
    ok(eq_status(rig_next(g, one, &len), HSY_OK) && rig_again(g) &&
           eq_status(rig_next(g, two, &again), HSY_OK) && eq_u64(len, again) &&
           eq_bytes(one, two, len),
       "the same bytes come until they are acknowledged");
    ok(eq_status(hsy_upload_decode(&head, one, NULL), HSY_OK) &&
           eq_u64(head.epoch, DAY0 + 1) && eq_u64(head.count, 1) &&
           eq_u64(head.checksum,
                  hsy_crc32c(0, one + HSY_UPLOAD_WIRE, head.length)) &&
           eq_u64(len, HSY_UPLOAD_WIRE + head.length),
       "an upload is well formed, its epoch the day it is due");
    rig_send(g, count);
    ok(eq_u64(count[0], 1) && eq_u64(count[1], 1),
       "an answer, and a null upload");
    is_status(rig_sent(g, one, len), HSY_OK, "acknowledged twice is no harm");
    one[80] ^= 1;
    is_status(rig_sent(g, one, len), HSY_E_FORMAT, "a changed one is refused");
    ok(rig_again(g) && eq_status(rig_next(g, one, &len), HSY_E_END),
       "sent is sent, also after opening");
    rig_day(g, 4);
    rig_send(g, count);
    ok(eq_u64(count[0], 0) && eq_u64(count[1], 6),
       "three silent days: six null uploads");
    hsy_device_consent_set(g->dev, HSY_CONSENT_COLLECT, NULL);
    is_int(rig_answer(g, 0, 1), HSY_ANSWERED, "collected");
    rig_day(g, 5);
    is_status(rig_next(g, one, &len), HSY_E_END, "and not sent");
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    rig_send(g, count);
    ok(eq_u64(count[0], 1) && eq_u64(count[1], 1), "until the person agrees");
    rig_free(g);
}

static void old_rounds_are_given_up(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 0);
    g->task[1].grace_days = 2;
    rig_begin(g);
    for (uint32_t day = 0; day < 20; day++) {
        rig_day(g, day);
        rig_answer(g, 0, 1);
        if (day < 18)
            rig_answer(g, 1, 1);
    }
    rig_send(g, count);
    ok(eq_u64(count[0], 7 + 2) && eq_u64(count[1], 1),
       "of twenty days the last seven, or those within the grace: %zu and "
       "%zu null",
       count[0], count[1]);
    is_u64(world_entries(&g->world, HSY_LOG_DROPPED), 12 + 11,
           "what was dropped is in the log: %zu",
           world_entries(&g->world, HSY_LOG_DROPPED));
    rig_free(g);
}

static void delays(void)
{
    struct rig *g = rig_new();
    uint64_t first = 0, last = 0;
    size_t got = 0, count[2];

    for (int i = 0; i < 16; i++) {
        char id[3] = {'t', (char)('a' + i), 0};

        rig_task(g, id, "browser", values("grr", (uint32_t)(3 + i), EPS), 0);
        g->task[i].delay_seconds = 80000;
    }
    rig_begin(g);
    for (uint64_t s = 0; s < 80000; s += 400) {
        g->world.now = (uint64_t)(DAY0 + 1) * DEVICE_DAY + s;
        rig_send(g, count);
        if (count[1] != 0 && got == 0)
            first = s;
        if (count[1] != 0)
            last = s;
        got += count[1];
    }
    ok(eq_u64(got, 16) && last - first > 20000,
       "16 uploads spread over their delay: %llu to %llu s",
       (unsigned long long)first, (unsigned long long)last);
    rig_free(g);
}

static void admission_starts_the_cadence(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_day(g, 5);
    rig_begin(g);
    rig_send(g, count);
    is_u64(count[0] + count[1], 0, "no round before the admission is sent");
    rig_day(g, 6);
    ok(rig_again(g), "opened the next day");
    rig_send(g, count);
    ok(eq_u64(count[0], 0) && eq_u64(count[1], 1),
       "but the round of the admission is");
    rig_free(g);
}

static void the_last_round_is_sent(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    g->task[0].slot_days = 7;
    g->task[0].end = DAY0 + 10; /* the second slot is cut short */
    rig_begin(g);
    rig_day(g, 8);
    is_int(rig_answer(g, 0, 1), HSY_ANSWERED, "answered in the last slot");
    rig_day(g, 10);
    is_int(rig_answer(g, 0, 1), HSY_ANSWER_CLOSED, "the task is over");
    ok(rig_again(g), "and still admitted");
    rig_send(g, count);
    ok(eq_u64(count[0], 1) && eq_u64(count[1], 1),
       "the last round is sent at the end");
    rig_free(g);
}

/* ---- Consent and forgetting ---------------------------------------------- */

static void forgetting(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 0);
    rig_begin(g);
    rig_answer(g, 0, 1);
    rig_answer(g, 1, 1);
    hsy_device_consent_set(g->dev, HSY_CONSENT_NONE, NULL);
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    is_int(rig_answer(g, 0, 1), HSY_ANSWER_KEPT,
           "the round has had its answer");
    rig_day(g, 1);
    rig_send(g, count);
    ok(eq_u64(count[0], 0) && eq_u64(count[1], 2),
       "without consent what waited is deleted; nulls go out");
    rig_answer(g, 0, 1);
    rig_answer(g, 1, 1);
    is_status(hsy_device_forget(g->dev, "location", NULL), HSY_E_UNKNOWN,
              "an unknown source cannot be forgotten");
    ok(eq_status(hsy_device_forget(g->dev, "browser", NULL), HSY_OK) &&
           rig_again(g),
       "a source is forgotten");
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_CLOSED &&
           rig_answer(g, 1, 1) == HSY_ANSWER_KEPT,
       "its releases are closed, others are not");
    is_u64(rig_spent(g, "browser"), 2 * EPS, "what was spent stays");
    rig_day(g, 2);
    rig_send(g, count);
    ok(eq_u64(count[0], 1) && eq_u64(count[1], 0),
       "and it sends nothing any more");
    rig_day(g, 30);
    is_int(rig_answer(g, 0, 1), HSY_ANSWER_CLOSED, "for ever");
    ok(eq_status(hsy_device_forget(g->dev, NULL, NULL), HSY_OK) &&
           eq_int(rig_answer(g, 1, 1), HSY_ANSWER_CLOSED),
       "or all of them");
    rig_free(g);
}

int main(void)
{
    every_round_sends();
    old_rounds_are_given_up();
    delays();
    admission_starts_the_cadence();
    the_last_round_is_sent();
    forgetting();
    return tap_done();
}
