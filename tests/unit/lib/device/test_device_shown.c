/*
 * test_device_shown.c - an upload that was shown once comes with the same bytes
 * for good, whatever a later document says about the task's end and delay.
 *
 * Two devices with one key: one keeps its document, the other is given another
 * before every attempt, and is opened anew each time.
 */
#include "rig/device_rig.h"

enum { MOST = 64, LOOK = 21 /* the day on which all is due */ };

struct shown {
    size_t n;
    struct one {
        size_t len;
        uint8_t bytes[256];
    } upload[MOST];
};

static const uint8_t *one_id(const struct one *u)
{
    static hsy_upload head[2];
    static int turn;

    turn ^= 1;
    if (hsy_upload_decode(&head[turn], u->bytes, NULL) != HSY_OK)
        exit(1);
    return head[turn].id;
}

static struct one *shown_add(struct shown *s)
{
    if (s->n == MOST)
        exit(1);
    return &s->upload[s->n++];
}

static bool one_same(const struct one *a, const struct one *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* ---- Tasks, and what a document may make of them ------------------------- */

static void weekly(struct rig *g)
{
    rig_task(g, "a", "browser", values("grr", 4, EPS), 0)->slot_days = 7;
}

static void kept(struct rig *g)
{
    rig_task(g, "a", "browser", values("sue", 8, EPS), 2 * EPS);
    g->task[0].start = DAY0 - 14;
    g->task[0].slot_days = 14;
    g->task[0].round_days = 7;
}

static void once(struct rig *g)
{
    rig_task(g, "a", "browser", values("grr", 4, EPS), 0)->slot_days = 0;
}

static void several(struct rig *g)
{
    weekly(g);
    g->task[0].answers = 5;
    g->task[0].sends = 3;
}

static const struct shape {
    const char *name;
    void (*make)(struct rig *g);
} shapes[] = {{"weekly", weekly},
              {"kept answers", kept},
              {"asked once", once},
              {"several a round", several}};

static void no_delay(hsy_task *t)
{
    t->delay_seconds = 0;
}
static void less_delay(hsy_task *t)
{
    t->delay_seconds = DEVICE_DAY;
}
static void more_delay(hsy_task *t)
{
    t->delay_seconds = 7 * DEVICE_DAY - 1;
}
static void sooner(hsy_task *t)
{
    t->end = DAY0 + 10;
}
static void later(hsy_task *t)
{
    t->end = DAY0 + 30;
}
static void both(hsy_task *t)
{
    sooner(t);
    no_delay(t);
}

static const struct change {
    const char *name;
    void (*make)(hsy_task *t);
} changes[] = {
    {"no delay", no_delay},     {"less delay", less_delay},
    {"more delay", more_delay}, {"an earlier end", sooner},
    {"a later end", later},     {"an earlier end and no delay", both}};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Two weeks from DAY0 on, with or without answers; then it is LOOK. */
static struct rig *life(const struct shape *shape, bool answered)
{
    struct rig *g = rig_new();

    shape->make(g);
    g->task[0].end = DAY0 + 14;
    g->task[0].delay_seconds = 5 * DEVICE_DAY;
    rig_publish(g);
    if (rig_open(g, true) != HSY_OK || !rig_tasks(g) ||
        hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL) != HSY_OK)
        exit(1);
    for (uint32_t day = 1; day < 14 && answered; day += 7) {
        rig_day(g, day);
        rig_answer(g, 0, day % 4);
    }
    rig_day(g, LOOK);
    return g;
}

/* A document with the change, or without it; the device is opened with it. */
static void publish(struct rig *g, const struct change *change)
{
    const hsy_task before = g->task[0];

    if (change != NULL)
        change->make(&g->task[0]);
    rig_publish(g);
    g->task[0] = before;
    if (!rig_again(g))
        exit(1);
}

static bool look(struct rig *g, struct one *u)
{
    uint8_t upload[4096];

    if (rig_next(g, upload, &u->len) != HSY_OK)
        return false;
    if (u->len > sizeof u->bytes)
        exit(1);
    memcpy(u->bytes, upload, u->len);
    return true;
}

/* All uploads, one after another; another document before each attempt. */
static void send_all(struct rig *g, struct shown *s,
                     const struct change *change)
{
    struct one u, again;
    bool same = true;

    s->n = 0;
    if (change != NULL)
        publish(g, change);
    while (look(g, &u)) {
        if (change != NULL)
            publish(g, s->n % 2 == 0 ? NULL : change);
        same &= look(g, &again) && one_same(&u, &again);
        *shown_add(s) = u;
        if (rig_sent(g, u.bytes, u.len) != HSY_OK)
            exit(1);
    }
    if (!same)
        printf("# an attempt differed\n");
    s->n = same ? s->n : 0;
}

/* Uploads of `all` that `some` has under their ids with other bytes, or not at
 * all. */
static size_t differing(const struct shown *all, const struct shown *some)
{
    size_t differ = 0;

    for (size_t i = 0; i < all->n; i++) {
        size_t same = 0, id = 0;

        for (size_t k = 0; k < some->n; k++) {
            id += memcmp(one_id(&all->upload[i]), one_id(&some->upload[k]),
                         16) == 0;
            same += one_same(&all->upload[i], &some->upload[k]);
        }
        differ += same != 1 || id != 1;
    }
    return differ;
}

/* ---- The same bytes ------------------------------------------------------ */

static void stays(const struct shape *shape, bool answered,
                  const struct change *change)
{
    static struct shown quiet, moved;
    struct rig *g = life(shape, answered);
    struct one first;

    send_all(g, &quiet, NULL);
    rig_free(g);
    g = life(shape, answered);
    if (!look(g, &first))
        exit(1);
    send_all(g, &moved, change);
    ok(quiet.n >= 1 && eq_u64(differing(&quiet, &moved), 0) &&
           one_same(&first, &quiet.upload[0]),
       "%s, %s: %s changes nothing that was shown (%zu uploads)", shape->name,
       answered ? "answered" : "silent", change->name, quiet.n);
    rig_free(g);
}

/* What nobody has seen follows the document: so the above can fail. */
static void follows(const struct shape *shape, const struct change *change)
{
    static struct shown quiet, moved;
    struct rig *g = life(shape, true);

    send_all(g, &quiet, NULL);
    rig_free(g);
    g = life(shape, true);
    publish(g, change);
    send_all(g, &moved, NULL);
    ok(differing(&quiet, &moved) != 0, "%s: before it was shown %s holds",
       shape->name, change->name);
    rig_free(g);
}

static void same_bytes(void)
{
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t c = 0; c < COUNT(changes); c++) {
            stays(&shapes[s], true, &changes[c]);
            stays(&shapes[s], false, &changes[c]);
        }
    for (size_t s = 0; s < COUNT(shapes); s++) {
        follows(&shapes[s], &changes[0]);
        follows(&shapes[s], &changes[3]);
    }
}

/* ---- Writes that fail, and power cuts ------------------------------------ */

/* Cut after so many stores: nothing was shown, and what is shown afterwards
 * stays. */
static void cut(int stores)
{
    struct rig *g = life(&shapes[0], true);
    struct one u, again;
    uint8_t upload[4096];
    size_t len = 0;
    bool blank = true;

    memset(upload, 0x5a, sizeof upload);
    g->world.stores_left = stores;
    ok(rig_next(g, upload, &len) != HSY_OK, "a write fails: nothing is shown");
    for (size_t i = 0; i < sizeof upload; i++)
        blank &= upload[i] == 0x5a;
    ok(blank && eq_u64(len, 0), "not a byte of it");
    g->world.stores_left = -1;
    publish(g, &changes[0]);
    ok(look(g, &u), "opened again it is");
    publish(g, NULL);
    ok(look(g, &again) && one_same(&u, &again), "and stays as it is");
    rig_free(g);
}

/* The first attempt writes; another one does not. */
static void written_once(void)
{
    struct rig *g = life(&shapes[3], true);
    struct one u;

    g->world.stores = 0;
    ok(look(g, &u) && eq_u64(g->world.stores, 2),
       "both copies are written before anything is shown");
    ok(look(g, &u) && rig_sent(g, u.bytes, u.len) == HSY_OK && look(g, &u) &&
           eq_u64(g->world.stores, 4),
       "once for all that has ended");
    rig_free(g);
}

/* ---- What is another upload ---------------------------------------------- */

static uint32_t epoch(const struct one *u)
{
    hsy_upload head;

    return hsy_upload_decode(&head, u->bytes, NULL) == HSY_OK ? head.epoch : 0;
}

static uint32_t kind(const struct one *u)
{
    hsy_upload head;

    return hsy_upload_decode(&head, u->bytes, NULL) == HSY_OK ? head.kind : 0;
}

static void another_release(void)
{
    struct rig *g = life(&shapes[2], true);
    struct one u, next;

    ok(look(g, &u) && epoch(&u) >= DAY0 + 14, "a task that is asked once");
    g->task[0].release = 2;
    g->task[0].end = DAY0 + 18;
    g->task[0].delay_seconds = 0;
    publish(g, NULL);
    ok(look(g, &next) && memcmp(one_id(&u), one_id(&next), 16) != 0 &&
           eq_u64(epoch(&next), DAY0 + 18),
       "another release has uploads of its own, and a time of its own");
    rig_free(g);
}

/* The end goes away again after null uploads were shown: what is answered then
 * has their id, and their epoch. */
static void answered_later(void)
{
    struct rig *g = life(&shapes[2], false);
    struct one null, report;

    ok(look(g, &null) && eq_u64(kind(&null), HSY_UPLOAD_NULL),
       "a null upload is shown");
    g->task[0].end = DAY0 + 30;
    publish(g, NULL);
    is_int(rig_answer(g, 0, 1), HSY_ANSWERED, "the task goes on: answered");
    publish(g, &changes[0]);
    ok(look(g, &report) && eq_u64(kind(&report), HSY_UPLOAD_REPORTS) &&
           memcmp(one_id(&null), one_id(&report), 16) == 0 &&
           eq_u64(epoch(&null), epoch(&report)),
       "the report has the same id and epoch: it is counted instead, or not "
       "at all");
    rig_free(g);
}

/* ---- A clock that runs ahead --------------------------------------------- */

/* Show a report, then what comes `weeks` later, and go back. */
static void ahead(uint32_t weeks, bool stays)
{
    struct rig *g = life(&shapes[0], true);
    struct one u, far, again;

    g->task[0].end = DAY0 + 350;
    publish(g, NULL);
    ok(look(g, &u) && eq_u64(kind(&u), HSY_UPLOAD_REPORTS), "a report");
    g->world.now += (uint64_t)weeks * 7 * DEVICE_DAY;
    ok(look(g, &far), "the clock runs ahead");
    rig_day(g, LOOK);
    publish(g, &changes[0]);
    ok(look(g, &again), "and comes back");
    if (stays)
        ok(one_same(&u, &again), "the report is as it was");
    else
        ok(eq_u64(kind(&again), HSY_UPLOAD_NULL) &&
               world_entries(&g->world, HSY_LOG_DROPPED) >= 1,
           "a report whose time was forgotten is dropped, not shown anew");
    rig_free(g);
}

int main(void)
{
    same_bytes();
    cut(0);
    cut(1);
    written_once();
    another_release();
    answered_later();
    ahead(1, true);
    ahead(20, false);
    return tap_done();
}
