/*
 * test_send_times.c - when uploads leave, by the real code for sending with a
 * clock, coins and a gateway that the test drives. A gateway that answers 503
 * to everybody links the uploads of a device by time no better than by chance,
 * and nearly all of them where they leave at once. In runs that wait, nothing
 * that is answered to one upload changes when another leaves, to the
 * millisecond: each upload has coins of its own here.
 */
#include "host/client/send.h"
#include "rig/stat.h"

#include <stdlib.h>
#include <string.h>

#define TIMES_DEVICES 30u
#define TIMES_TASKS 4u
#define TIMES_TRIES 84u /* 30 x 4 x 84: 10,080 pairs */
#define TIMES_ARRIVALS (TIMES_DEVICES * TIMES_TASKS * TIMES_TRIES)
#define TIMES_SPREAD 3600u

static const uint64_t times_noon = UINT64_C(1794830400000); /* in 2026, ms */

struct times_arrival {
    uint64_t at; /* ms */
    unsigned device, task;
};

/* A device, and the gateway that it sends to. */
struct times_device {
    unsigned number;
    uint64_t now;     /* ms */
    uint64_t latency; /* ms that a request takes */
    hsy_stream streams[TIMES_TASKS];
    hsy_rng coins[TIMES_TASKS];         /* of each upload */
    uint64_t due[TIMES_TASKS];          /* ms: when each upload becomes due */
    struct send_when when[TIMES_TASKS]; /* stored */
    bool settled[TIMES_TASKS];
    struct send_answer answers[TIMES_TASKS];
    unsigned tries[TIMES_TASKS];
    unsigned most; /* this try is answered with 204; 0: none */
    struct times_arrival *arrivals;
    size_t n, room;
};

static struct times_arrival times_arrivals[TIMES_ARRIVALS];

/* ---- Driving ------------------------------------------------------------- */

static uint64_t times_now(void *ctx)
{
    return ((struct times_device *)ctx)->now;
}

static void times_wait(void *ctx, uint64_t ms)
{
    ((struct times_device *)ctx)->now += ms;
}

static uint64_t times_coins(const struct times_device *d, unsigned task)
{
    uint64_t x = 0;

    d->coins[task].fill(d->coins[task].ctx, &x, sizeof x);
    return x;
}

static uint64_t times_draw(void *ctx, const uint8_t *id)
{
    return times_coins(ctx, id[0] - 1u);
}

static void times_post(void *ctx, const uint8_t *upload, size_t len,
                       struct send_answer *answer)
{
    struct times_device *d = ctx;
    const unsigned task = upload[len - 1];

    if (d->n == d->room)
        abort();
    d->arrivals[d->n++] = (struct times_arrival){d->now, d->number, task};
    d->now += d->latency;
    *answer = ++d->tries[task] == d->most ? (struct send_answer){.status = 204}
                                          : d->answers[task];
}

static hsy_status times_gather(void *ctx, struct send_list *list,
                               hsy_error *err)
{
    const struct times_device *d = ctx;

    (void)err;
    list->bytes = calloc(TIMES_TASKS, HSY_UPLOAD_WIRE);
    list->items = calloc(TIMES_TASKS, sizeof *list->items);
    list->seconds = d->now / 1000;
    if (list->bytes == NULL || list->items == NULL)
        return HSY_E_NOMEM;
    for (unsigned i = 0; i < TIMES_TASKS; i++) {
        if (d->settled[i] || d->now < d->due[i])
            continue;
        list->bytes[list->len + SEND_ID_AT] = (uint8_t)(i + 1);
        list->bytes[list->len + HSY_UPLOAD_WIRE - 1] = (uint8_t)i;
        list->items[list->n++] = (struct send_item){
            .at = list->len, .len = HSY_UPLOAD_WIRE, .when = d->when[i]};
        list->len += HSY_UPLOAD_WIRE;
    }
    return HSY_OK;
}

static hsy_status times_settle(void *ctx, const struct send_list *list,
                               hsy_error *err)
{
    struct times_device *d = ctx;

    (void)err;
    for (size_t i = 0; i < list->n; i++) {
        const struct send_item *item = &list->items[i];
        const unsigned task = list->bytes[item->at + item->len - 1];

        d->settled[task] = item->settled;
        d->when[task] = (struct send_when){.drawn = item->when.drawn,
                                           .leaves = item->when.leaves,
                                           .turn = item->when.turn};
    }
    return HSY_OK;
}

static hsy_send_result times_run_with(struct times_device *d,
                                      const hsy_send_options *options)
{
    const struct send_drive drive = {times_now, times_wait, times_draw,
                                     times_post, d};
    const struct send_hooks hooks = {times_gather, times_settle, d, &drive};
    hsy_send_result r;

    hsy_send_all(&hooks, "http://gateway", options, &r, NULL);
    return r;
}

/* A run of `device send`. */
static hsy_send_result times_run(struct times_device *d, uint32_t attempts,
                                 uint32_t spread, bool wait)
{
    const hsy_send_options o = {.size = sizeof o,
                                .attempts = attempts,
                                .seconds = 30 * 86400,
                                .spread = spread,
                                .wait = wait};

    return times_run_with(d, &o);
}

/* A device with coins of its own; every upload is answered so. */
static void times_begin(struct times_device *d, uint64_t lane,
                        struct send_answer answer)
{
    *d = (struct times_device){.now = times_noon,
                               .latency = 5,
                               .arrivals = times_arrivals,
                               .room = TIMES_ARRIVALS};
    for (size_t i = 0; i < TIMES_TASKS; i++) {
        hsy_stream_seed(&d->streams[i], stat_seed(), TIMES_TASKS * lane + i);
        d->coins[i] = hsy_stream_rng(&d->streams[i]);
        d->answers[i] = answer;
    }
}

/* ---- Who links uploads --------------------------------------------------- */

static int times_compare(const void *a, const void *b)
{
    const uint64_t x = ((const struct times_arrival *)a)->at,
                   y = ((const struct times_arrival *)b)->at;

    return (x > y) - (x < y);
}

static bool times_same(const struct times_arrival *a,
                       const struct times_arrival *b)
{
    return a->device == b->device;
}

/* The nearest arrival of another upload before i (step -1) or after it (1). */
static const struct times_arrival *times_nearest(size_t n, size_t i, int step)
{
    const struct times_arrival *a = &times_arrivals[i];

    for (size_t k = i + (size_t)step; k < n; k += (size_t)step)
        if (!times_same(a, &times_arrivals[k]) ||
            a->task != times_arrivals[k].task)
            return &times_arrivals[k];
    return NULL;
}

/* The share of arrivals whose nearest in time is of the same device. */
static double times_linked(size_t n)
{
    size_t right = 0;

    qsort(times_arrivals, n, sizeof *times_arrivals, times_compare);
    for (size_t i = 0; i < n; i++) {
        const struct times_arrival *a = &times_arrivals[i],
                                   *before = times_nearest(n, i, -1),
                                   *after = times_nearest(n, i, 1);

        if (before == NULL ||
            (after != NULL && after->at - a->at < a->at - before->at))
            before = after;
        right += before != NULL && times_same(a, before);
    }
    return (double)right / (double)n;
}

/* All devices start within two minutes and get 503 for every try but the last:
 * with a spread
 * in one run, else in a run an hour, within two minutes of the others' again.
 */
static double times_attack(uint32_t spread)
{
    const bool wait = spread != HSY_SPREAD_NONE;
    size_t n = 0;

    for (unsigned i = 0; i < TIMES_DEVICES; i++) {
        struct times_device d;

        times_begin(&d, i, (struct send_answer){.status = 503});
        d.number = i;
        d.most = TIMES_TRIES;
        d.arrivals += n;
        d.room -= n;
        for (unsigned k = 0; k < (wait ? 1 : TIMES_TRIES); k++) {
            d.now = times_noon + k * UINT64_C(3600000) +
                    times_coins(&d, 0) % 120000;
            times_run(&d, 1, spread, wait);
        }
        n += d.n;
    }
    ok(eq_u64(n, TIMES_ARRIVALS), "every upload is tried 84 times");
    return times_linked(n);
}

/* Other seeds: an arrival may count in two pairs, so these 10 standard
 * deviations are at least 7.1 of independent pairs, which is 1e-12. */
static void links_nothing(void)
{
    const double p = (TIMES_TASKS - 1.) / (TIMES_DEVICES * TIMES_TASKS - 1.),
                 deviation = sqrt(p * (1 - p) / TIMES_ARRIVALS),
                 most =
                     p + (getenv("HSY_TEST_SEED") != NULL ? 10 : 3) * deviation;
    double share = times_attack(TIMES_SPREAD);

    ok(share <= most,
       "503 to everybody: the nearest in time is the same device's in %.4f of "
       "10,080 pairs, at most %.4f",
       share, most);
    share = times_attack(HSY_SPREAD_NONE);
    ok(share > .95, "without a spread in %.4f of them", share);
}

/* ---- Answers ------------------------------------------------------------- */

#define TIMES_HOURS(h) ((uint64_t)((h)*3600000))

/* When the uploads of a device become due, in ms after the start. The second
 * one is answered in every way; the others must not show it. The third one
 * becomes due during the first run, and the last one after its deadline. */
static const uint64_t times_due[TIMES_TASKS] = {0, 0, TIMES_HOURS(1.5) + 30000,
                                                TIMES_HOURS(30) + 30000};

#define TIMES_ANSWERED 1u /* the second one */
#define TIMES_END (times_noon + TIMES_HOURS(72))

/* What a gateway's owner may answer. */
static const struct send_answer times_answers[] = {
    {.status = 204},
    {.status = 404, .problem = true},
    {.status = 503},
    {.status = 503, .retry_after = 36000},
    {.status = 503, .retry_after = 7},
    {.status = 429, .problem = true, .retry_after = UINT64_MAX},
    {.status = 401, .problem = true},
    {.status = 410, .problem = true},
    {.status = 422, .problem = true, .early = true},
    {.status = 200},
    {.status = 302},
    {.why = "no answer", .again = true},
    {.why = "no web server"}};

#define TIMES_ANSWERS (sizeof times_answers / sizeof times_answers[0])

/* Runs of `device send` with default options until the end: one that waits is
 * started again as it ends, or after 10 seconds if nothing was due; others
 * start every 5 minutes. Keeps what the others show, and returns how many
 * arrivals these are. */
static size_t times_live(struct times_device *d, bool wait)
{
    const hsy_send_options o = {.size = sizeof o, .wait = wait};
    size_t n = 0;

    d->latency = 0;
    memcpy(d->due, times_due, sizeof d->due);
    for (size_t i = 0; i < TIMES_TASKS; i++)
        d->due[i] += times_noon;
    while (d->now < TIMES_END) {
        const uint64_t before = d->now;

        times_run_with(d, &o);
        if (!wait)
            d->now += 300000;
        else if (d->now == before)
            d->now += 10000;
    }
    for (size_t i = 0; i < d->n; i++)
        if (d->arrivals[i].task != TIMES_ANSWERED &&
            d->arrivals[i].at < TIMES_END)
            d->arrivals[n++] = d->arrivals[i];
    return n;
}

/* Counts the ways to answer one upload that change any time of the others,
 * which are all answered so: first `answer`, and from the try `most` on 204. */
static size_t times_moved(uint64_t lane, struct send_answer answer,
                          unsigned most, bool wait)
{
    static struct times_arrival first[TIMES_ARRIVALS];
    size_t moved = 0, n_first = 0;

    for (size_t i = 0; i < TIMES_ANSWERS; i++) {
        struct times_device d;
        size_t n;
        bool same;

        times_begin(&d, lane, answer);
        d.answers[TIMES_ANSWERED] = times_answers[i];
        d.most = most;
        if (i == 0) {
            d.arrivals = first;
            n_first = times_live(&d, wait);
            continue;
        }
        n = times_live(&d, wait);
        same = n == n_first;
        for (size_t k = 0; same && k < n; k++)
            same = d.arrivals[k].at == first[k].at &&
                   d.arrivals[k].task == first[k].task;
        moved += !same;
    }
    return moved;
}

static void answers_move_nobody(void)
{
    static const struct {
        struct send_answer answer;
        unsigned most;
        const char *name;
    } rows[] = {
        {{.status = 204}, 0, "acknowledged at once"},
        {{.status = 503}, 8, "answered 503 seven times"},
        {{.status = 404, .problem = true}, 0, "answered 404 for 3 days"},
        {{.status = 503, .retry_after = 20000},
         0,
         "told to wait 20,000 s for 3 days"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t moved = 0;

        for (unsigned lane = 0; lane < 10; lane++)
            moved +=
                times_moved(100 + lane, rows[i].answer, rows[i].most, true);
        ok(eq_u64(moved, 0),
           "send --wait: no answer to one upload changes a time of the others, "
           "%s",
           rows[i].name);
    }
    ok(times_moved(100, (struct send_answer){.status = 503}, 0, false) != 0,
       "control: without --wait answers to one upload move the others");
}

/* Four uploads with the same coins have the same times. */
static void equal_times_move_nobody(void)
{
    struct times_device d;
    bool same = true;

    times_begin(&d, 140, (struct send_answer){.status = 503});
    d.latency = 0;
    d.most = 10;
    for (size_t i = 1; i < TIMES_TASKS; i++)
        d.streams[i] = d.streams[0];
    times_run(&d, 5, TIMES_SPREAD, true);
    for (size_t i = 0; i < d.n; i++)
        same &= d.arrivals[i].at == d.arrivals[i - i % TIMES_TASKS].at;
    ok(same && d.n == 10 * TIMES_TASKS,
       "send --wait: uploads whose times are equal leave at that time");
}

/* Each try leaves within an hour of the last one: 142 are expected in 71 hours,
 * and 80 or 204 differ from that by more than 8 standard deviations. */
static void retries_neither_spin_nor_stop(void)
{
    struct times_device d;
    size_t n[TIMES_TASKS] = {0};

    times_begin(&d, 150, (struct send_answer){.status = 204});
    d.answers[0] = (struct send_answer){.status = 404, .problem = true};
    times_live(&d, true);
    for (unsigned i = 0; i < TIMES_TASKS; i++)
        n[i] = d.tries[i];
    ok(n[0] > 80 && n[0] < 204,
       "send --wait: an upload answered 404 for 3 days is tried %zu times",
       n[0]);
    ok(n[1] == 1 && n[2] == 1 && n[3] == 1,
       "send --wait: the others of its device are sent meanwhile, once each");
}

static void wait_ends_with_the_outbox_empty(void)
{
    struct times_device d;
    hsy_send_result r;

    times_begin(&d, 160, (struct send_answer){.status = 204});
    r = times_run(&d, 5, TIMES_SPREAD, true);
    ok(r.sent == TIMES_TASKS && d.now < times_noon + TIMES_HOURS(1.02),
       "send --wait: the run ends when everything is acknowledged");
    r = times_run(&d, 5, TIMES_SPREAD, true);
    ok(r.sent == 0 && d.now < times_noon + TIMES_HOURS(1.02),
       "send --wait: a run with nothing due ends at once");

    times_begin(&d, 161, (struct send_answer){.status = 503});
    d.latency = 0;
    r = times_run_with(&d, &(hsy_send_options){.size = sizeof(hsy_send_options),
                                               .wait = true});
    ok(r.waiting == TIMES_TASKS && r.attempts > 5 &&
           d.now == times_noon + TIMES_HOURS(24),
       "send --wait: while uploads fail the run lasts a day, whatever attempts "
       "says");
}

/* ---- Runs that do not wait ----------------------------------------------- */

static void runs_resample_nothing(void)
{
    const unsigned devices = 200;
    double sum = 0;
    size_t late = 0, n = 0;

    for (unsigned i = 0; i < devices; i++) {
        struct times_device d;

        times_begin(&d, 200 + i, (struct send_answer){.status = 204});
        for (unsigned k = 0; k < 720; k++, d.now = times_noon + k * 10000)
            times_run(&d, 1, TIMES_SPREAD, false);
        for (size_t k = 0; k < d.n; k++)
            sum += (double)(d.arrivals[k].at - times_noon) / 3600000.;
        late += d.n != TIMES_TASKS;
        n += d.n;
    }
    sum /= (double)n;
    ok(late == 0, "what is due leaves within two hours of runs every 10 s");
    /* Of 800 uniform times, two in the same 10 s are moved: 1 in 120. */
    ok(stat_hoeffding(sum > .5 ? sum : 1 - sum, .51, (double)n) > STAT_ALPHA,
       "and not earlier for that: after %.3f of the spread on average", sum);
}

static void sends_one_a_run(void)
{
    struct times_device d;
    hsy_send_result r;
    size_t most = 0;

    times_begin(&d, 500, (struct send_answer){.status = 204});
    r = times_run(&d, 5, TIMES_SPREAD, false);
    ok(d.n == 0 && r.waiting == TIMES_TASKS && r.why == NULL,
       "the first run sends nothing, which is no failure");
    for (unsigned k = 0; k < TIMES_TASKS; k++) {
        const size_t before = d.n;

        d.now += UINT64_C(86400000);
        r = times_run(&d, 5, TIMES_SPREAD, false);
        most = d.n - before > most ? d.n - before : most;
    }
    ok(most == 1 && d.n == TIMES_TASKS && r.waiting == 0,
       "runs a day apart send one upload each");

    times_begin(&d, 501, (struct send_answer){.status = 204});
    times_run(&d, 1, TIMES_SPREAD, false);
    d.now += UINT64_C(86400000);
    times_run(&d, 1, TIMES_SPREAD, true);
    ok(d.n == TIMES_TASKS && d.arrivals[0].at > times_noon + UINT64_C(86400000),
       "a run that waits sends nothing as it starts, whatever time has passed");
}

static void waits_as_it_is_asked(void)
{
    static const struct {
        uint64_t asked, least, most; /* seconds */
    } rows[] = {
        {7200, 7200, 10800}, {UINT64_C(1) << 60, 86400, 90000}, {0, 0, 3600}};
    bool good = true;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct times_device d;
        uint64_t tried[TIMES_TASKS] = {0};

        times_begin(
            &d, 600 + i,
            (struct send_answer){.status = 503, .retry_after = rows[i].asked});
        for (; d.now < times_noon + 3 * UINT64_C(86400000); d.now += 60000)
            times_run(&d, 5, TIMES_SPREAD, false);
        for (size_t k = 0; k < d.n; k++) {
            uint64_t *last = &tried[d.arrivals[k].task];
            const uint64_t gap = (d.arrivals[k].at - *last) / 1000;

            /* One that others were sent before may draw again, and again. */
            good &= *last == 0 ||
                    (gap >= rows[i].least && gap <= rows[i].most + 3 * 3720);
            *last = d.arrivals[k].at;
        }
        good &= d.n >= 2 * TIMES_TASKS;
    }
    ok(good, "Retry-After holds for an upload over runs, up to a day");
}

static void bears_a_clock_that_is_set_back(void)
{
    struct times_device d;

    times_begin(&d, 700, (struct send_answer){.status = 204});
    times_run(&d, 1, TIMES_SPREAD, false);
    d.now -= 365 * UINT64_C(86400000);
    times_run(&d, 1, TIMES_SPREAD, true);
    ok(d.n == TIMES_TASKS &&
           d.now < times_noon - 365 * UINT64_C(86400000) + 3700000,
       "a clock that is set back a year delays nothing for longer than the "
       "spread");
}

int main(void)
{
    links_nothing();
    answers_move_nobody();
    equal_times_move_nobody();
    retries_neither_spin_nor_stop();
    wait_ends_with_the_outbox_empty();
    runs_resample_nothing();
    sends_one_a_run();
    waits_as_it_is_asked();
    bears_a_clock_that_is_set_back();
    return tap_done();
}
