/*
 * test_engine_clock.c - C12: a wall clock that is wrong closes nothing, is
 * believed once it has shown that it is right, and leads back where it was
 * wrong.
 */
#include "rig/engine_rig.h"
#include "tap.h"

#define NOON(day) ((uint64_t)(day)*86400 + 43200)

static struct rig_upload up_on(uint64_t id, uint32_t day)
{
    return (struct rig_upload){.epoch = day,
                               .kind = 1,
                               .id = id,
                               .n = 1,
                               .first = (uint32_t)id % 1000};
}

static hsy_status tell(struct rig *r, uint64_t wall)
{
    return engine_tell(r->e, (struct engine_time){wall, r->steady}, NULL);
}

/* So many seconds go by for both clocks, of which the wall clock says noon of a
 * day at their beginning. */
static void pass(struct rig *r, uint32_t day, uint32_t seconds)
{
    for (uint32_t i = 0; i < seconds; i++) {
        tell(r, NOON(day) + i);
        r->steady++;
    }
}

static struct engine_status look(struct rig *r)
{
    struct engine_status status;

    engine_status(r->e, &status);
    return status;
}

static bool opens(struct rig *r, uint32_t first, uint32_t last, uint32_t other,
                  uint32_t other_last)
{
    const struct intake_days d = engine_days(r->e);

    return d.first == first && d.last == last && d.other_first == other &&
           d.other_last == other_last;
}

/* ---- Wrong for a moment -------------------------------------------------- */

static void jumps_ahead(void)
{
    static const uint32_t jumps[] = {2, 9, 12, 13, 3650, 100000};
    struct rig r;

    rig_open(&r);
    ok(opens(&r, RIG_DAY - 2, RIG_DAY + 1, 0, 0),
       "two days of grace are open, and tomorrow");
    rig_one(&r, up_on(1, RIG_DAY));
    for (uint32_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        const uint32_t to = RIG_DAY + jumps[i];
        const bool near = jumps[i] <= r.options.clock_days;

        pass(&r, to, 3);
        ok(look(&r).clock_jumped && !look(&r).clock_behind &&
               eq_u64(look(&r).clock_day, to) &&
               eq_u64(look(&r).day, RIG_DAY) &&
               opens(&r, RIG_DAY - 2, RIG_DAY + 1, near ? to - 2 : 0,
                     near ? to + 1 : 0),
           "a clock %u days ahead closes nothing", jumps[i]);
        ok(eq_u64(rig_one(&r, up_on(10 + i, RIG_DAY)), INTAKE_COUNTED) &&
               eq_u64(rig_one(&r, up_on(1, RIG_DAY)), INTAKE_AGAIN),
           "and what is open without it is taken");
        if (near)
            is_u64(rig_one(&r, up_on(20 + i, to)), INTAKE_COUNTED,
                   "as is what would be open with it");
        pass(&r, RIG_DAY, 1);
        ok(!look(&r).clock_jumped && opens(&r, RIG_DAY - 2, RIG_DAY + 1, 0, 0),
           "and when it is right again nothing has happened");
    }
    rig_close(&r);
}

/* ---- Right after all ----------------------------------------------------- */

static void month_of_rest(void)
{
    const uint32_t back = RIG_DAY + 11;
    struct rig r;

    rig_open(&r);
    rig_one(&r, up_on(1, RIG_DAY));
    rig_restart(&r);
    pass(&r, back, ENGINE_TRIAL + 1);
    ok(look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY),
       "after a long rest two minutes are not enough while nothing comes in");
    for (uint32_t i = 0; i < 3; i++)
        rig_one(&r, up_on(100 + i, RIG_DAY));
    for (uint32_t i = 0; i < 3; i++)
        rig_one(&r, up_on(200 + i, back));
    pass(&r, back, 1);
    ok(look(&r).clock_jumped, "nor if as much is of the old days");
    rig_restart(&r);
    for (uint32_t i = 0; i < 4; i++) {
        pass(&r, back, 1);
        rig_one(&r, up_on(300 + i, back - i % 2));
    }
    rig_one(&r, up_on(310, RIG_DAY));
    tell(&r, NOON(back) + ENGINE_TRIAL - 5);
    ok(look(&r).clock_jumped &&
           opens(&r, RIG_DAY - 2, RIG_DAY + 1, back - 2, back + 1),
       "while it is on trial the days of both readings are open");
    r.steady += ENGINE_TRIAL;
    tell(&r, NOON(back) + ENGINE_TRIAL - 1);
    ok(look(&r).clock_jumped, "a clock that goes on apart begins anew");
    for (uint32_t i = 0; i < 4; i++)
        rig_one(&r, up_on(400 + i, back));
    r.steady += ENGINE_TRIAL;
    tell(&r, NOON(back) + 2 * ENGINE_TRIAL - 1);
    ok(!look(&r).clock_jumped && eq_u64(look(&r).day, back) &&
           opens(&r, back - 2, back + 1, 0, 0) &&
           eq_u64(rig_one(&r, up_on(1, RIG_DAY)), INTAKE_CLOSED),
       "then it is believed, and all epochs that are over close together");
    ok(eq_int(rig_one(&r, up_on(300, back)), INTAKE_AGAIN) &&
           eq_status(rig_fold(&r), HSY_OK) &&
           eq_int(rig_cell(&r, 0, 0, 0, 310), 1) && eq_int(r.store.faults, 0),
       "what was taken meanwhile is known and counted");
    rig_close(&r);
}

/* An upload that intake has told to wait: its day lies between. */
static void waits(struct rig *r, uint32_t day)
{
    struct intake_upload u = {.verdict = INTAKE_CLOCK, .head.epoch = day};
    struct submission s = {.in = {.uploads = &u, .n = 1}};

    engine_admit(r->e, &s, NULL);
}

/* What is of neither reading speaks against the clock too: the real day may lie
 * between. */
static void days_between(void)
{
    const uint32_t wrong = RIG_DAY + 11;
    struct rig r;

    rig_open(&r);
    rig_restart(&r);
    pass(&r, wrong, 2);
    for (uint32_t i = 0; i < 5; i++)
        waits(&r, RIG_DAY + 5);
    rig_one(&r, up_on(200, wrong));
    pass(&r, wrong, ENGINE_TRIAL + 1);
    ok(look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY),
       "and one upload of the new day does not outweigh it");
    rig_close(&r);
}

/* The steady clock is one more witness. */
static void days_meanwhile(void)
{
    struct rig r;

    rig_open(&r);
    pass(&r, RIG_DAY + 40, 1);
    for (uint32_t day = 1; day <= 5; day++) {
        r.steady += 86400;
        tell(&r, NOON(RIG_DAY + 40 + day));
        ok(eq_u64(rig_one(&r, up_on(day, RIG_DAY + day)), INTAKE_COUNTED) &&
               look(&r).clock_jumped,
           "day %u of a clock far ahead: today's uploads are taken", day);
        ok(eq_u64(engine_days(r.e).first, RIG_DAY + day - 2) &&
               eq_u64(look(&r).ids, (day < 4 ? day : 3)),
           "and what is over by either reading closes, so ids do not gather");
    }
    tell(&r, NOON(RIG_DAY + 5));
    ok(!look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY + 5) &&
           opens(&r, RIG_DAY + 3, RIG_DAY + 6, 0, 0),
       "set right it is believed at once, as the steady clock agrees");
    rig_close(&r);
}

/* ---- A day at a time ----------------------------------------------------- */

/* Hours in which all is well, at a wall clock that gains some seconds in each;
 * false: it was not believed once, or another day. */
static bool goes_well(struct rig *r, uint64_t *wall, uint32_t hours, int gain)
{
    bool well = true;

    for (uint32_t i = 0; i < hours; i++) {
        *wall += (uint64_t)(3600 + gain);
        r->steady += 3600;
        tell(r, *wall);
        well &= !look(r).clock_jumped && look(r).day == *wall / 86400;
    }
    return well;
}

static void ordinary(void)
{
    static const int gains[] = {0, 2, -2, 30, -30};
    struct rig r;

    for (size_t i = 0; i < sizeof gains / sizeof gains[0]; i++) {
        uint64_t wall = NOON(RIG_DAY);

        rig_open(&r);
        ok(goes_well(&r, &wall, 40 * 24, gains[i]),
           "40 days of a clock that gains %d s an hour are believed", gains[i]);
        rig_close(&r);
    }
}

/* Each step is small, and all of them are weeks. */
static void wanders(uint32_t step, uint32_t seconds)
{
    uint64_t wall = NOON(RIG_DAY);
    struct rig r;

    rig_open(&r);
    rig_one(&r, up_on(1, RIG_DAY));
    while (wall < NOON(RIG_DAY + 9)) {
        wall += step;
        r.steady += seconds;
        tell(&r, wall);
    }
    ok(look(&r).clock_jumped && look(&r).day <= RIG_DAY + 1 &&
           eq_u64(rig_one(&r, up_on(1, RIG_DAY)), INTAKE_AGAIN) &&
           eq_u64(rig_one(&r, up_on(2, RIG_DAY)), INTAKE_COUNTED),
       "a clock that goes %u s every %u s closes nothing", step, seconds);
    tell(&r, NOON(RIG_DAY) + r.steady);
    ok(!look(&r).clock_jumped && look(&r).day <= RIG_DAY + 1,
       "and is believed when it is right again");
    rig_close(&r);
}

/* The steps are small and slow, and what was gained does not come back. */
static void runs_fast(void)
{
    uint64_t wall = NOON(RIG_DAY);
    uint32_t ahead = 0;
    struct rig r;

    rig_open(&r);
    for (uint32_t i = 0; i < 20; i++) {
        wall += 86400;
        r.steady += 43200;
        tell(&r, wall);
        if (look(&r).day > (NOON(RIG_DAY) + r.steady) / 86400)
            ahead =
                look(&r).day - (uint32_t)((NOON(RIG_DAY) + r.steady) / 86400);
        ok(ahead <= 1, "at twice its speed, step %u: a day ahead at most", i);
    }
    ok(look(&r).clock_jumped && eq_u64(look(&r).clock_day, RIG_DAY + 20) &&
           look(&r).day <= RIG_DAY + 11,
       "and is on trial by then");
    rig_close(&r);
}

static void gains_again(void)
{
    uint64_t wall = NOON(RIG_DAY + 1);
    struct rig r;

    rig_open(&r);
    tell(&r, wall);
    ok(!look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY + 1),
       "a clock may gain a day");
    tell(&r, wall + 86400);
    ok(look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY + 1),
       "but not two at once");
    tell(&r, wall);
    ok(goes_well(&r, &wall, 24, 0), "a day passes");
    wall += 86400;
    tell(&r, wall);
    ok(look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY + 2),
       "and still not another");
    for (uint32_t i = 0; i < 3; i++)
        rig_one(&r, up_on(i, RIG_DAY + 3));
    r.steady += ENGINE_TRIAL;
    tell(&r, wall += ENGINE_TRIAL);
    ok(!look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY + 3),
       "before a trial, in which uploads agree");
    tell(&r, wall += 86400);
    ok(!look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY + 4),
       "after it, it may");
    rig_close(&r);
}

/* Started on a day after the last one, in which nothing came in for so long. */
static void start_on(struct rig *r, uint32_t day, uint32_t seconds)
{
    rig_restart(r);
    tell(r, NOON(day));
    r->steady += seconds;
    tell(r, NOON(day) + seconds);
}

/* A stop over midnight: all is taken, nobody is alarmed, and days close two
 * minutes later. */
static void next_morning(void)
{
    struct rig r;

    rig_open(&r);
    rig_one(&r, up_on(1, RIG_DAY));
    start_on(&r, RIG_DAY + 1, ENGINE_TRIAL - 1);
    ok(!look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY) &&
           opens(&r, RIG_DAY - 2, RIG_DAY + 1, RIG_DAY - 1, RIG_DAY + 2),
       "started the next day both days are taken, and nothing is said");
    start_on(&r, RIG_DAY + 1, ENGINE_TRIAL);
    ok(!look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY + 1),
       "and after two minutes it is believed, though nothing comes in");
    tell(&r, NOON(RIG_DAY + 2));
    r.steady += ENGINE_TRIAL;
    tell(&r, NOON(RIG_DAY + 2) + ENGINE_TRIAL);
    is_u64(look(&r).day, RIG_DAY + 1, "but not for one more day");
    rig_close(&r);
}

static void next_morning_busy(void)
{
    struct rig r;

    rig_open(&r);
    rig_restart(&r);
    tell(&r, NOON(RIG_DAY + 1));
    rig_one(&r, up_on(1, RIG_DAY + 1));
    rig_one(&r, up_on(2, RIG_DAY + 1));
    rig_one(&r, up_on(3, RIG_DAY));
    r.steady += ENGINE_TRIAL;
    tell(&r, NOON(RIG_DAY + 1) + ENGINE_TRIAL);
    is_u64(look(&r).day, RIG_DAY + 1, "most uploads are of the new day: it is");
    tell(&r, NOON(RIG_DAY + 2));
    is_u64(look(&r).day, RIG_DAY + 2, "after which a clock may gain a day");
    rig_restart(&r);
    tell(&r, NOON(RIG_DAY + 3));
    rig_one(&r, up_on(4, RIG_DAY + 2));
    r.steady += 43200;
    tell(&r, NOON(RIG_DAY + 3) + 43200 - 1);
    ok(look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY + 2),
       "uploads of the old day speak against it, which is said after hours");
    r.steady += 43200;
    tell(&r, NOON(RIG_DAY + 4) - 1);
    is_u64(look(&r).day, RIG_DAY + 3, "the steady clock closes it in a day");
    rig_close(&r);
}

/* A clock that goes a day further at each of many starts, or after them. */
static void restarts(void)
{
    struct rig r;

    rig_open(&r);
    rig_one(&r, up_on(1, RIG_DAY));
    for (uint32_t i = 1; i <= 9; i++) {
        start_on(&r, RIG_DAY + i, 1);
        start_on(&r, RIG_DAY, 1);
        tell(&r, NOON(RIG_DAY) + 43199);
        tell(&r, NOON(RIG_DAY) + 43200);
        tell(&r, NOON(RIG_DAY + 1));
    }
    ok(eq_u64(look(&r).day, RIG_DAY) &&
           eq_u64(rig_one(&r, up_on(1, RIG_DAY)), INTAKE_AGAIN),
       "nine restarts with a clock that wanders gain nothing");
    rig_close(&r);
}

static void days_close(void)
{
    struct rig r;

    rig_open(&r);
    rig_one(&r, up_on(1, RIG_DAY));
    rig_day(&r, RIG_DAY + 3);
    ok(eq_u64(rig_one(&r, up_on(1, RIG_DAY)), INTAKE_CLOSED) &&
           eq_u64(r.store.ids.n, 0) &&
           eq_u64(engine_days(r.e).first, RIG_DAY + 1),
       "a day closes for ever when its grace is over, with its ids");
    r.store.full = true;
    ok(eq_status(rig_day(&r, RIG_DAY + 4), HSY_E_FULL) &&
           eq_u64(engine_days(r.e).last, RIG_DAY + 4),
       "a day that cannot be kept has not come");
    rig_close(&r);
}

/* ---- Behind, and the operator's word ------------------------------------- */

/* Ids of reports before a wrong clock was believed, and after. */
static void led_astray(struct rig *r)
{
    rig_open(r);
    rig_one(r, up_on(1, RIG_DAY));
    rig_one(r, up_on(2, RIG_DAY + 1));
    r->options.accept_clock = true;
    rig_restart(r);
    rig_jump(r, RIG_DAY + 3650);
    rig_one(r, up_on(3, RIG_DAY + 3650));
    r->options.accept_clock = false;
}

static void behind(void)
{
    struct rig r;

    led_astray(&r);
    ok(eq_u64(look(&r).day, RIG_DAY + 3650) &&
           eq_u64(engine_days(r.e).first, RIG_DAY + 3648),
       "an operator may accept a clock that is far ahead");
    rig_jump(&r, RIG_DAY + 5);
    ok(look(&r).clock_behind && look(&r).clock_jumped &&
           opens(&r, RIG_DAY + 3648, RIG_DAY + 3651, RIG_DAY + 3, RIG_DAY + 6),
       "a clock behind what is closed is said");
    ok(eq_u64(rig_one(&r, up_on(4, RIG_DAY + 5)), INTAKE_CLOCK) &&
           eq_u64(rig_one(&r, up_on(5, RIG_DAY + 3650)), INTAKE_CLOCK) &&
           eq_u64(rig_one(&r, up_on(3, RIG_DAY + 3650)), INTAKE_AGAIN),
       "and nothing new is taken, as sending it again may help");
    rig_restart(&r);
    rig_jump(&r, RIG_DAY + 5);
    ok(look(&r).clock_behind, "also after a restart");
    r.options.accept_clock = r.store.mends = true;
    rig_restart(&r);
    rig_jump(&r, RIG_DAY + 5);
    ok(!look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY + 5) &&
           eq_u64(rig_one(&r, up_on(4, RIG_DAY + 5)), INTAKE_COUNTED),
       "until the operator accepts it: then today is open again");
    rig_jump(&r, RIG_DAY + 40);
    ok(look(&r).clock_jumped, "which holds for the first time that is told");
    rig_close(&r);
}

/* No day opens again whose ids are forgotten. */
static void mends_once(void)
{
    struct rig r;

    led_astray(&r);
    r.options.accept_clock = r.store.mends = true;
    rig_restart(&r);
    rig_jump(&r, RIG_DAY);
    ok(eq_u64(rig_one(&r, up_on(1, RIG_DAY)), INTAKE_CLOCK) &&
           eq_u64(rig_one(&r, up_on(2, RIG_DAY + 1)), INTAKE_CLOCK),
       "a day in which something was counted does not open again");
    ok(look(&r).clock_behind && eq_u64(engine_days(r.e).first, RIG_DAY + 2),
       "so on the same day there is nothing to take yet, and it is said");
    rig_day(&r, RIG_DAY + 1);
    is_u64(rig_one(&r, up_on(6, RIG_DAY + 2)), INTAKE_CLOCK,
           "and what comes is asked to come again");
    rig_day(&r, RIG_DAY + 2);
    ok(!look(&r).clock_jumped &&
           eq_u64(rig_one(&r, up_on(6, RIG_DAY + 2)), INTAKE_COUNTED) &&
           eq_u64(rig_one(&r, up_on(1, RIG_DAY)), INTAKE_CLOSED) &&
           rig_one(&r, up_on(3, RIG_DAY + 3650)) != INTAKE_COUNTED,
       "from the first day without reports on all is taken, and known ids are");
    ok(eq_status(rig_fold(&r), HSY_OK) && rig_cell(&r, 0, 0, 0, 1) == 1 &&
           rig_cell(&r, 0, 0, 0, 2) == 1 && rig_cell(&r, 0, 0, 0, 3) == 1 &&
           rig_cell(&r, 0, 0, 0, 6) == 1 && r.store.faults == 0,
       "nothing is counted twice by that");
    rig_close(&r);
}

/* One closed day in which something was counted keeps those before it closed:
 * a store knows the last closed day, and no more. */
static void astray_twice(void)
{
    struct rig r;

    rig_open(&r);
    r.options.accept_clock = r.store.mends = true;
    rig_restart(&r);
    rig_jump(&r, RIG_DAY + 6);
    rig_one(&r, up_on(1, RIG_DAY + 6));
    rig_restart(&r);
    rig_jump(&r, RIG_DAY + 20);
    rig_restart(&r);
    rig_jump(&r, RIG_DAY + 1);
    ok(look(&r).clock_behind && eq_u64(engine_days(r.e).first, RIG_DAY + 7) &&
           eq_u64(rig_one(&r, up_on(2, RIG_DAY + 1)), INTAKE_CLOCK),
       "led astray twice, days before the one that was counted stay closed");
    rig_day(&r, RIG_DAY + 7);
    ok(!look(&r).clock_jumped &&
           eq_u64(rig_one(&r, up_on(3, RIG_DAY + 7)), INTAKE_COUNTED) &&
           rig_one(&r, up_on(1, RIG_DAY + 6)) != INTAKE_COUNTED &&
           eq_u64(r.store.faults, 0),
       "until it has passed");
    rig_close(&r);
}

/* A little behind, within the days of grace, is nothing. */
static void a_little(void)
{
    struct rig r;

    rig_open(&r);
    for (uint32_t back = 1; back <= 2; back++) {
        rig_jump(&r, RIG_DAY - back);
        ok(!look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY) &&
               eq_u64(rig_one(&r, up_on(back, RIG_DAY - back)), INTAKE_COUNTED),
           "%u days behind, and they are open: nothing changes", back);
    }
    rig_close(&r);
}

/* A rehearsal's clock goes as its driver likes. */
static void rehearsal(void)
{
    struct rig r;

    rig_open(&r);
    r.options.driven_clock = true;
    rig_restart(&r);
    rig_jump(&r, RIG_DAY + 12);
    ok(!look(&r).clock_jumped && eq_u64(look(&r).day, RIG_DAY + 12),
       "a clock that is driven is believed");
    rig_jump(&r, RIG_DAY + 3650);
    ok(look(&r).clock_jumped, "but for what is out of the question");
    rig_close(&r);
}

int main(void)
{
    jumps_ahead();
    month_of_rest();
    days_between();
    days_meanwhile();
    ordinary();
    wanders(86400, 60);
    wanders(3600, 1);
    wanders(86399, 3600);
    runs_fast();
    gains_again();
    next_morning();
    next_morning_busy();
    restarts();
    days_close();
    behind();
    mends_once();
    astray_twice();
    a_little();
    rehearsal();
    return tap_done();
}
