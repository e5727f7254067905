/* test_fleet.c - devices that live for days: who sends what on which day, and
 * that what was kept is kept. */
#include "sim/fleet/fleet.h"

#include "rig/example_tasks.h"
#include "tap.h"

#define N 20u
#define DAYS 7u
#define NOON 43200u
#define SLOTS (DAYS + 2)
#define EPS ((uint64_t)HSY_NANO)

/* All that was handed on, by task and day. */
struct handed {
    uint64_t reports[2][SLOTS], nulls[2][SLOTS], all;
    uint64_t ones[SLOTS]; /* of task 0, by day */
    uint8_t bytes[2 * N * SLOTS][HSY_UPLOAD_WIRE + 8];
};

static hsy_status hand(void *ctx, const struct fleet_upload *u, hsy_error *err)
{
    struct handed *h = ctx;
    const uint32_t day = u->head.epoch - EXAMPLE_DAY;

    (void)err;
    if (day >= SLOTS || u->task > 1 || h->all == 2 * N * SLOTS ||
        u->len > sizeof h->bytes[0] || u->report != (u->head.kind == 1))
        return HSY_E_RANGE;
    h->reports[u->task][day] += u->report;
    h->nulls[u->task][day] += !u->report;
    if (u->task == 0 && u->report)
        h->ones[day] += u->bytes[HSY_UPLOAD_WIRE] & 1;
    memcpy(h->bytes[h->all++], u->bytes, u->len);
    return HSY_OK;
}

/* The first day of an answer is day 0; its upload is of day 1. */
static bool live(struct handed *h, enum fleet_attendance attendance,
                 struct fleet_task *of, uint64_t *yes)
{
    const hsy_spec yes_no = {.size = sizeof yes_no,
                             .mechanism = "rr",
                             .kind = HSY_KIND_YES_NO,
                             .nano_epsilon = 2 * EPS};
    struct example_tasks e;
    struct fleet_options o = {.seed = 7,
                              .devices = N,
                              .now = (uint64_t)EXAMPLE_DAY * 86400 + NOON,
                              .days = DAYS,
                              .attendance = attendance};
    struct fleet *f = NULL;
    hsy_error err = {0};
    uint8_t *document;
    size_t n;
    hsy_status st;

    memset(h, 0, sizeof *h);
    /* With both epsilons equal a report is the kept answer itself. */
    example_task(&e, 0, "kept", "a", "Which?", yes_no, 2 * EPS);
    example_task(&e, 1, "fresh", "b", "Which?", yes_no, 0);
    e.task[1].slot_days = 1;
    document = example_document(e.task, 2, 1, &o.document_len);
    o.document = document;
    st = fleet_open(&f, &o, &err);
    if (st == HSY_OK)
        st = fleet_hand(f, hand, h, &err);
    if (st != HSY_OK)
        printf("# %d %s\n", (int)st, err.msg != NULL ? err.msg : "");
    if (st == HSY_OK) {
        *of = fleet_tasks(f, &n)[0];
        *yes = of->counts[1];
    }
    fleet_close(f);
    free(document);
    return st == HSY_OK;
}

/* Devices that answer on each of the days. */
static uint64_t there(enum fleet_attendance attendance, uint32_t day)
{
    uint64_t n = 0;

    if (attendance == FLEET_STAY)
        return N;
    if (attendance == FLEET_LEAVE)
        return day == 0 ? N : N / 2;
    for (uint32_t i = 0; i < N; i++)
        n += i * DAYS / N <= day;
    return n;
}

static void sends_once_a_day(void)
{
    static const char *const names[] = {"stay", "leave", "join"};
    static struct handed h;
    struct fleet_task task = {.day = 0};

    for (enum fleet_attendance a = FLEET_STAY; a <= FLEET_JOIN; a++) {
        uint64_t all = 0, nulls = 0, yes = 0;
        bool same = live(&h, a, &task, &yes);

        for (uint32_t day = 0; day < DAYS; day++) {
            same &= h.reports[0][day + 1] == there(a, day) &&
                    h.reports[1][day + 1] == there(a, day);
            all += there(a, day);
        }
        for (uint32_t day = 0; day < SLOTS; day++)
            nulls += h.nulls[0][day] + h.nulls[1][day];
        ok(same, "%s: a report of each who answers, the day after", names[a]);
        ok(eq_u64(h.all, 2 * all) && eq_u64(nulls, 0), "%s: and nothing else",
           names[a]);
        ok(eq_u64(task.answered, all) && yes > 0 && yes < all,
           "%s: person-rounds are counted", names[a]);
    }
}

static void keeps_answers(void)
{
    static struct handed h, again;
    struct fleet_task task;
    uint64_t yes = 0;
    bool same = live(&h, FLEET_STAY, &task, &yes);

    for (uint32_t day = 2; day <= DAYS; day++)
        same &= h.ones[day] == h.ones[1];
    ok(same && h.ones[1] > 0 && h.ones[1] < N,
       "kept answers are the same on every day");
    is_u64(yes % DAYS, 0, "and so is what people think");
    ok(live(&again, FLEET_STAY, &task, &yes) && eq_bytes(&h, &again, sizeof h),
       "the same seed makes the same bytes");
}

int main(void)
{
    sends_once_a_day();
    keeps_answers();
    return tap_done();
}
