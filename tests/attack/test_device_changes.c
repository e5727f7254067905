/*
 * test_device_changes.c - a collector that changes what a version may change,
 * and a clock that goes to and fro, and never acknowledges what it does not
 * like: nothing leaves that was not charged.
 *
 * A test counts the reports that leave with different bytes; each of them is an
 * answer with coins of its own, so there may be no more than were paid for.
 */
#include "rig/device_rig.h"

enum { MOST = 256 };

/* Payloads of reports that have left, each once. */
struct left {
    size_t n, len;
    uint8_t bytes[MOST][64];
};

static void left_add(struct left *l, const uint8_t *payload, size_t len)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->len == len && memcmp(l->bytes[i], payload, len) == 0)
            return;
    if (l->n == MOST || len > sizeof l->bytes[0])
        exit(1);
    l->len = len;
    memcpy(l->bytes[l->n++], payload, len);
}

/* Look at the next upload without acknowledging it. */
static hsy_status look(struct rig *g, struct left *l)
{
    uint8_t upload[4096];
    hsy_upload head;
    size_t len;
    hsy_status st = rig_next(g, upload, &len);

    if (st == HSY_OK && hsy_upload_decode(&head, upload, NULL) == HSY_OK &&
        head.kind == 1)
        left_add(l, upload + HSY_UPLOAD_WIRE, len - HSY_UPLOAD_WIRE);
    return st;
}

/* Take the tasks as they are now. */
static bool change(struct rig *g)
{
    rig_publish(g);
    return rig_tasks(g);
}

/* ---- A round that was shown takes no more answers ------------------------ */

static struct rig *reservoir(void)
{
    struct rig *g = rig_new();

    rig_task(g, "apps", "usage", values("oue", 128, EPS), 0);
    g->task[0].slot_days = 0;
    g->task[0].end = DAY0 + 30;
    g->task[0].answers = 30;
    rig_begin(g);
    return g;
}

/* Move the end to today, look, and move it away again. */
static void test_end_moves(void)
{
    struct rig *g = reservoir();
    struct left l = {0};
    bool taken = true;

    for (uint32_t day = 0; day < 25; day++) {
        rig_day(g, day);
        rig_answer(g, 0, day % 128);
        g->task[0].end = DAY0 + day + 1;
        taken &= change(g);
        rig_day(g, day + 1);
        (void)look(g, &l);
        g->task[0].end = DAY0 + 30;
        taken &= change(g);
    }
    ok(taken && eq_u64(rig_spent(g, "usage"), EPS) && eq_u64(l.n, 1),
       "an end that comes and goes shows no more answers than are sent: %zu",
       l.n);
    rig_free(g);
}

static void test_clock_shows(void)
{
    struct rig *g = reservoir();
    struct left l = {0};

    for (uint32_t i = 0; i < 25; i++) {
        rig_day(g, 1);
        rig_answer(g, 0, i);
        rig_day(g, 31);
        (void)look(g, &l);
    }
    ok(eq_u64(rig_spent(g, "usage"), EPS) && eq_u64(l.n, 1),
       "nor does a clock that goes to and fro: %zu", l.n);
    rig_day(g, 1);
    ok(rig_again(g) && eq_int(rig_answer(g, 0, 9), HSY_ANSWER_KEPT),
       "a round that was shown has its answers, also after a restart");
    rig_free(g);
}

/* The round is closed before its report is shown, or it is not shown. */
static void test_not_written_not_shown(void)
{
    struct rig *g = reservoir();
    struct left l = {0};

    rig_answer(g, 0, 5);
    rig_day(g, 31);
    g->world.stores_left = 0;
    ok(eq_status(look(g, &l), HSY_E_IO) && eq_u64(l.n, 0),
       "what cannot be closed is not shown");
    g->world.stores_left = -1;
    ok(rig_again(g) && eq_status(look(g, &l), HSY_OK) && eq_u64(l.n, 1),
       "until it can be");
    rig_free(g);
}

/* ---- A place that a later round took ------------------------------------- */

static void test_place_taken(void)
{
    struct rig *g = rig_new();
    struct left l = {0};
    size_t count[2];
    int said = 0;

    rig_task(g, "site", "browser", values("oue", 64, EPS), 0);
    rig_begin(g);
    for (uint32_t i = 0; i < 20; i++) {
        rig_day(g, 0);
        said = rig_answer(g, 0, i);
        rig_day(g, 1);
        (void)look(g, &l);
        rig_day(g, 9 + i); /* the window's length later, and acknowledged */
        rig_send(g, count);
    }
    ok(rig_spent(g, "browser") == EPS && l.n == 1 && said == HSY_ANSWER_CLOSED,
       "a slot is answered once, also where a later round took its place: %zu",
       l.n);
    rig_free(g);
}

/* A report that is lost by that is told of. */
static void test_place_taken_unsent(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "site", "browser", values("oue", 64, EPS), 0);
    rig_begin(g);
    rig_answer(g, 0, 1);
    rig_day(g, 9);
    rig_send(g, count);
    is_u64(world_entries(&g->world, HSY_LOG_DROPPED), 1,
           "an answered round that is overwritten unsent is logged");
    rig_free(g);
}

/* With several kept answers another truth would make another report of the same
 * round, under the same id. */
static void test_kept_place_taken(void)
{
    struct rig *g = rig_new();
    struct left l = {0};
    size_t count[2];
    int said;

    rig_task(g, "site", "browser", values("oue", 64, EPS), EPS);
    g->task[0].max_changes = 2;
    g->task[0].slot_days = 20;
    rig_begin(g);
    rig_answer(g, 0, 1);
    rig_day(g, 1);
    (void)look(g, &l);
    rig_day(g, 9);
    rig_send(g, count);
    rig_day(g, 0);
    said = rig_answer(g, 0, 2);
    rig_day(g, 1);
    (void)look(g, &l);
    ok(said == HSY_ANSWER_CLOSED && l.n == 1,
       "nor does another truth make another report of one round");
    rig_free(g);
}

/* ---- One round, or several ----------------------------------------------- */

/* The end decides whether a task without slots has one round or several. These
 * are two releases: the kept answer has other coins, and costs more. */
static void several(const char *name, hsy_spec spec)
{
    struct rig *g = rig_new();
    uint64_t once;

    g->sources[2] = (hsy_source){"usage", 8 * EPS, 40 * EPS, 40 * EPS};
    g->policy.cap_day = 100 * EPS;
    rig_task(g, "t", "usage", spec, 0);
    g->task[0].slot_days = 0;
    g->task[0].round_days = 7;
    g->task[0].end = DAY0 + 7;
    rig_begin(g);
    rig_answer(g, 0, 3);
    once = rig_spent(g, "usage");
    is_u64(once, g->release[0]->nano_slot, "%s: a fresh answer is paid for",
           name);
    g->task[0].end = DAY0 + 14;
    g->task[0].permanent = g->scheme[0];
    rig_day(g, 7);
    ok(change(g) && rig_answer(g, 0, 3) == HSY_ANSWERED &&
           rig_spent(g, "usage") == once + g->release[0]->nano_slot,
       "%s: and so is a kept one after it", name);
    rig_free(g);
}

static void test_several(void)
{
    hsy_spec olh = values("olh", 32, EPS), rappor = values("rappor", 32, 0);

    olh.param[HSY_PARAM_POOL_BITS] = 8;
    rappor.design = HSY_DESIGN_RAPPOR;
    rappor.chance[0] = rappor.chance[1] = (hsy_ratio){1, 2};
    rappor.chance[2] = (hsy_ratio){3, 4};
    several("olh", olh);
    several("rappor", rappor);
}

/* ---- Another second step ------------------------------------------------- */

/* Reports of the old step are not sent as reports of the new one. */
static void test_another_step(void)
{
    struct rig *g = rig_new();
    size_t count[2];

    rig_task(g, "t", "usage", values("oue", 64, EPS), 2 * EPS);
    rig_begin(g);
    rig_answer(g, 0, 3);
    g->tasks = 0;
    rig_task(g, "t", "usage", values("oue", 64, EPS / 2), 2 * EPS);
    ok(change(g) && eq_int(rig_answer(g, 0, 3), HSY_ANSWER_KEPT),
       "another second step in the same round changes nothing in it");
    rig_day(g, 1);
    rig_answer(g, 0, 3);
    rig_day(g, 2);
    rig_send(g, count);
    ok(eq_u64(count[0], 1) && eq_u64(count[1], 1) &&
           eq_u64(rig_spent(g, "usage"), 2 * EPS),
       "its round sends a null upload, the next one a report, free");
    rig_free(g);
}

/* ---- Names --------------------------------------------------------------- */

/* The id of the upload that is due. */
static uint64_t due_id(struct rig *g)
{
    uint8_t upload[4096];
    hsy_upload head;
    uint64_t id = 0;
    size_t len;

    if (rig_next(g, upload, &len) != HSY_OK ||
        hsy_upload_decode(&head, upload, NULL) != HSY_OK)
        exit(1);
    memcpy(&id, head.id, sizeof id);
    return id;
}

/* A collector that joins two tasks by ids finds none in both. */
static void test_ids_of_names(void)
{
    struct rig *g = rig_new();
    uint64_t first, renamed = 0;

    rig_task(g, "one", "usage", values("oue", 64, EPS), 0);
    rig_begin(g);
    rig_answer(g, 0, 3);
    rig_day(g, 1);
    first = due_id(g);
    memcpy(g->task[0].id, "two", 3);
    if (change(g))
        renamed = due_id(g);
    ok(eq_u64(g->dev->nrecords, 1) && renamed != 0 && renamed != first,
       "a renamed task has the same answers under other ids");
    g->task[0].release = 2;
    ok(change(g) && due_id(g) != renamed && due_id(g) != first,
       "and so has another release of it");
    rig_free(g);
}

/* Of all that is due the smallest id comes first, whatever was answered when.
 */
static void test_order(void)
{
    struct rig *g = rig_new();
    uint8_t last[16] = {0}, upload[4096];
    hsy_upload head;
    size_t len, sent = 0;
    bool rising = true;

    for (uint32_t i = 0; i < 3; i++)
        rig_task(g, (const char *[]){"a", "b", "c"}[i], "usage",
                 values("oue", 8 + i, EPS), 0);
    rig_begin(g);
    for (uint32_t day = 0; day < 4; day++) {
        rig_day(g, day);
        rig_answer(g, day % 3, day);
    }
    rig_day(g, 4);
    while (rig_next(g, upload, &len) == HSY_OK &&
           hsy_upload_decode(&head, upload, NULL) == HSY_OK &&
           rig_sent(g, upload, len) == HSY_OK) {
        rising &= memcmp(last, head.id, sizeof last) < 0;
        memcpy(last, head.id, sizeof last);
        sent++;
    }
    ok(rising && eq_u64(sent, 12),
       "uploads come in the order of their ids: %zu", sent);
    rig_free(g);
}

/* A double that the anchor has left behind shows nothing more. */
static void test_double(void)
{
    struct rig *g = rig_new();
    struct left l = {0};

    g->world.anchored = true;
    rig_task(g, "t", "usage", values("oue", 64, EPS), 0);
    rig_begin(g);
    rig_answer(g, 0, 3);
    rig_day(g, 1);
    g->world.anchor++; /* another copy of the device has written */
    ok(eq_status(look(g, &l), HSY_E_DAMAGED) && eq_u64(l.n, 0),
       "a device behind its anchor shows no upload");
    rig_free(g);
}

/* ---- Deleting ------------------------------------------------------------ */

/* Nothing of an answer stands in a record any more. */
static bool empty(const hsy_device *dev, bool keys)
{
    const struct device_record *rec = &dev->records[0];
    const uint8_t *reports = device_reports(dev, 0, rec->rounds);
    uint64_t any = 0;

    for (size_t i = 0; i < rec->window * device_round_bytes(rec); i++)
        any |= reports[i];
    for (size_t i = 0; keys && i < HSY_CHANGES_MAX; i++)
        any |= rec->keys[i];
    return any == 0 && (!keys || rec->used == 0);
}

static void test_deleted(void)
{
    struct rig *g = rig_new();

    rig_task(g, "t", "usage", values("oue", 64, EPS), EPS);
    rig_begin(g);
    rig_answer(g, 0, 3);
    ok(!empty(g->dev, false) && !empty(g->dev, true) &&
           eq_status(hsy_device_consent_set(g->dev, HSY_CONSENT_NONE, NULL),
                     HSY_OK) &&
           eq_status(rig_open(g, false), HSY_OK) && empty(g->dev, false),
       "without consent no report stays in the files");
    ok(eq_status(hsy_device_forget(g->dev, "usage", NULL), HSY_OK) &&
           eq_status(rig_open(g, false), HSY_OK) && empty(g->dev, true),
       "nor does what the answers were for, once forgotten");
    rig_free(g);
}

int main(void)
{
    test_end_moves();
    test_clock_shows();
    test_not_written_not_shown();
    test_place_taken();
    test_place_taken_unsent();
    test_kept_place_taken();
    test_several();
    test_another_step();
    test_ids_of_names();
    test_order();
    test_double();
    test_deleted();
    return tap_done();
}
