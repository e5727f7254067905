/*
 * test_portions.c - whose ids fill an epoch: a flood through one task leaves
 * the others their part, and who has a token the reserve, also after a restart
 * and after a commit for which there was no room.
 */
#include "rig/engine_rig.h"
#include "server/engine/portions.h"
#include "tap.h"

#define LIMIT 1200u
#define DAY 7u

/* Three tasks: a reserve of 300, 150 for each, 450 for whoever comes. */
static struct roster *roster(void)
{
    struct roster *none = roster_new(), *r = NULL;
    hsy_document doc;
    size_t len;
    uint8_t *bytes = rig_document(RIG_TASKS, 1, 1, &len);

    hsy_document_open(&doc, bytes, len, NULL);
    roster_extend(&r, none, &doc, NULL);
    roster_drop(none);
    free(bytes);
    return r;
}

static uint64_t takes(struct portions *s, uint32_t entry, bool enrolled,
                      uint64_t most)
{
    uint64_t n = 0;

    while (n < most && portions_take(s, DAY, entry, enrolled))
        n++;
    return n;
}

static void floods(struct roster *r)
{
    struct portions s = {0};

    portions_divide(&s, LIMIT, r);
    ok(eq_u64(takes(&s, 0, false, LIMIT + 1), 800) &&
           eq_u64(takes(&s, 1, false, LIMIT), 200) &&
           eq_u64(takes(&s, 2, true, LIMIT), 0) &&
           eq_u64(takes(&s, 2, false, LIMIT), 200),
       "without tokens each task has a third of one half");
    portions_clear(&s);

    portions_divide(&s, LIMIT, r);
    portions_enrols(&s, true);
    is_u64(takes(&s, 0, false, LIMIT + 1), 600,
           "a flood takes its part and the "
           "common one");
    is_u64(takes(&s, 1, false, LIMIT), 150, "another task still has its own");
    is_u64(takes(&s, 2, true, LIMIT), 300, "and so has who brings a token");
    is_u64(takes(&s, 2, false, LIMIT), 150, "all of it fits");
    portions_give(&s, DAY, 0, false);
    ok(eq_u64(takes(&s, 1, false, 2), 1) && eq_u64(takes(&s, 2, true, 2), 0),
       "what is given back of the common part is for whoever comes");
    portions_give(&s, DAY, 2, true);
    ok(eq_u64(takes(&s, 1, false, 2), 0) && eq_u64(takes(&s, 2, true, 2), 1),
       "what is given back of another's is his");
    portions_drop(&s, DAY);
    is_u64(takes(&s, 0, false, 10), 10, "a day that is over is over");
    portions_clear(&s);
}

static void hurries(struct roster *r)
{
    const uint64_t much = 360000000; /* 100,000 a second, 6 million at once */
    struct portions s = {0};

    portions_divide(&s, much, r);
    portions_tick(&s, 1000);
    is_u64(takes(&s, 0, false, much), 6000000,
           "a flood stops after a minute's");
    ok(eq_u64(takes(&s, 0, true, 1000), 1000) &&
           eq_u64(takes(&s, 1, false, 1000), 1000),
       "which is nothing to others, and to who has a token");
    portions_tick(&s, 1000);
    is_u64(takes(&s, 0, false, 1), 0, "no time, no ids");
    portions_tick(&s, 1003);
    is_u64(takes(&s, 0, false, much), 300000, "then it goes on slowly");
    portions_tick(&s, 1002);
    portions_tick(&s, 500000);
    is_u64(takes(&s, 0, false, much), 6000000, "and never faster");
    portions_clear(&s);
}

/* ---- In an engine -------------------------------------------------------- */

static struct rig_upload up(uint32_t task, uint64_t id, uint32_t kind)
{
    return (struct rig_upload){.task = task,
                               .epoch = RIG_DAY,
                               .kind = kind,
                               .id = id,
                               .n = 1,
                               .first = (uint32_t)id % 300};
}

static uint64_t sends(struct rig *r, uint32_t task, uint64_t *id, uint64_t n)
{
    uint64_t counted = 0;

    for (uint64_t i = 0; i < n; i++)
        counted += rig_one(r, up(task, (*id)++, 1)) == INTAKE_COUNTED;
    return counted;
}

static void restarts(void)
{
    struct engine_status status;
    struct rig r;
    uint64_t id = 1;

    rig_open(&r);
    r.options.ids_epoch = LIMIT;
    rig_restart(&r);
    rig_day(&r, RIG_DAY);
    is_u64(sends(&r, 0, &id, 900), 800, "an engine divides its ids");
    engine_status(r.e, &status);
    ok(eq_u64(status.ids, 800) && eq_u64(status.ids_refused, 100),
       "and says what it has");
    ok(eq_status(rig_restart(&r), HSY_OK) && eq_u64(sends(&r, 0, &id, 10), 0),
       "a restart does not make room");
    r.store.full = true;
    is_u64(sends(&r, 1, &id, 300), 0, "nor does a full disk take any");
    r.store.full = false;
    ok(eq_u64(sends(&r, 1, &id, 300), 200) &&
           eq_u64(sends(&r, 2, &id, 300), 200),
       "the other tasks have all that is theirs");
    rig_restart(&r);
    ok(eq_u64(sends(&r, 1, &id, 10), 0) && eq_u64(sends(&r, 2, &id, 10), 0) &&
           eq_u64(rig_one(&r, up(0, 5, 1)), INTAKE_AGAIN),
       "and no more; what was counted is known");
    rig_close(&r);
}

/* A node of a cluster reads anew what an epoch has while uploads wait, some of
 * which give back what they took. */
static void reads_anew(struct roster *r)
{
    static const uint64_t used[RIG_TASKS] = {1, 0, 0};
    const uint64_t much = 360000000;
    struct portions s = {0};

    portions_divide(&s, LIMIT, r);
    portions_enrols(&s, true);
    takes(&s, 0, false, 10);
    takes(&s, 1, true, 10);
    portions_had(&s, DAY, 1, used);
    for (size_t i = 0; i < 10; i++) {
        portions_give(&s, DAY, 0, false);
        portions_give(&s, DAY, 1, true);
    }
    ok(eq_u64(takes(&s, 1, true, LIMIT), 750) &&
           eq_u64(takes(&s, 1, false, LIMIT), 150),
       "what is given back and was not there makes no room, and takes none");
    portions_clear(&s);

    portions_divide(&s, much, r);
    portions_tick(&s, 1000);
    takes(&s, 0, false, 10);
    portions_tick(&s, 1100);
    for (size_t i = 0; i < 10; i++)
        portions_give(&s, DAY, 0, false);
    portions_tick(&s, 1200);
    is_u64(takes(&s, 0, false, much), 6000000, "nor haste");
    portions_clear(&s);
}

int main(void)
{
    struct roster *r = roster();

    floods(r);
    hurries(r);
    restarts();
    reads_anew(r);
    roster_drop(r);
    return tap_done();
}
