/*
 * test_send_times.c - when uploads leave, by the real code for sending with a
 * clock, coins and a gateway that the test drives. A gateway that answers 503
 * to everybody links the uploads of a device by time no better than by chance,
 * and nearly all of them where they leave at once.
 */
#include "host/client/send.h"
#include "rig/stat.h"

#include <stdlib.h>

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
    uint64_t now; /* ms */
    hsy_rng coins;
    struct send_when when[TIMES_TASKS]; /* stored */
    bool settled[TIMES_TASKS];
    struct send_answer answers[TIMES_TASKS];
    struct times_arrival *arrivals;
    size_t n;
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

static uint64_t times_draw(void *ctx)
{
    const hsy_rng *coins = &((struct times_device *)ctx)->coins;
    uint64_t x = 0;

    coins->fill(coins->ctx, &x, sizeof x);
    return x;
}

/* A request takes 5 ms. */
static void times_post(void *ctx, const uint8_t *upload, size_t len,
                       struct send_answer *answer)
{
    struct times_device *d = ctx;
    const unsigned task = upload[len - 1];

    d->arrivals[d->n++] = (struct times_arrival){d->now, d->number, task};
    d->now += 5;
    *answer = d->answers[task];
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
        if (d->settled[i])
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
                                           .leaves = item->when.leaves};
    }
    return HSY_OK;
}

/* A run of `device send`. */
static hsy_send_result times_run(struct times_device *d, uint32_t attempts,
                                 uint32_t spread, bool wait)
{
    const struct send_drive drive = {times_now, times_wait, times_draw,
                                     times_post, d};
    const struct send_hooks hooks = {times_gather, times_settle, d, &drive};
    const hsy_send_options o = {.size = sizeof o,
                                .attempts = attempts,
                                .seconds = UINT32_MAX,
                                .spread = spread,
                                .wait = wait};
    hsy_send_result r;

    hsy_send_all(&hooks, "http://gateway", &o, &r, NULL);
    return r;
}

/* A device with coins of its own; every upload is answered so. */
static void times_begin(struct times_device *d, hsy_stream *stream,
                        uint64_t lane, struct send_answer answer)
{
    hsy_stream_seed(stream, stat_seed(), lane);
    *d = (struct times_device){.now = times_noon,
                               .coins = hsy_stream_rng(stream),
                               .arrivals = times_arrivals};
    for (size_t i = 0; i < TIMES_TASKS; i++)
        d->answers[i] = answer;
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

/* All devices start within two minutes and get 503 for every try: with a spread
 * in one run, else in a run an hour, within two minutes of the others' again.
 */
static double times_attack(uint32_t spread)
{
    const bool wait = spread != HSY_SPREAD_NONE;
    size_t n = 0;

    for (unsigned i = 0; i < TIMES_DEVICES; i++) {
        struct times_device d;
        hsy_stream stream;

        times_begin(&d, &stream, i, (struct send_answer){.status = 503});
        d.number = i;
        d.arrivals += n;
        for (unsigned k = 0; k < (wait ? 1 : TIMES_TRIES); k++) {
            d.now =
                times_noon + k * UINT64_C(3600000) + times_draw(&d) % 120000;
            times_run(&d, wait ? TIMES_TRIES : 1, spread, wait);
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

/* Others are acknowledged at their first try: nothing may move them. */
static void answers_move_nobody(void)
{
    static const struct send_answer answers[] = {
        {.status = 204},
        {.status = 503},
        {.status = 503, .retry_after = 7},
        {.status = 429, .problem = true, .retry_after = 3600},
        {.status = 403, .problem = true},
        {.status = 410, .problem = true},
        {.status = 422, .problem = true, .early = true},
        {.status = 200},
        {.status = 302},
        {.why = "no answer", .again = true},
        {.why = "no web server"}};
    uint64_t first[TIMES_TASKS] = {0};
    size_t moved = 0;

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        for (unsigned task = 0; task < TIMES_TASKS; task++) {
            struct times_device d;
            hsy_stream stream;

            times_begin(&d, &stream, 100, answers[0]);
            d.answers[task] = answers[i];
            times_run(&d, 3, TIMES_SPREAD, true);
            for (size_t k = 0; k < d.n; k++) {
                const struct times_arrival *a = &d.arrivals[k];

                if (i == 0)
                    first[a->task] = a->at;
                else if (a->task != task)
                    moved += a->at != first[a->task];
            }
            moved += d.n < TIMES_TASKS;
        }
    ok(eq_u64(moved, 0),
       "no answer to an upload changes when another leaves, or whether");
}

/* ---- Runs that do not wait ----------------------------------------------- */

static void runs_resample_nothing(void)
{
    const unsigned devices = 200;
    double sum = 0;
    size_t late = 0, n = 0;

    for (unsigned i = 0; i < devices; i++) {
        struct times_device d;
        hsy_stream stream;

        times_begin(&d, &stream, 200 + i, (struct send_answer){.status = 204});
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
    hsy_stream stream;
    hsy_send_result r;
    size_t most = 0;

    times_begin(&d, &stream, 500, (struct send_answer){.status = 204});
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

    times_begin(&d, &stream, 501, (struct send_answer){.status = 204});
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
        hsy_stream stream;
        uint64_t tried[TIMES_TASKS] = {0};

        times_begin(
            &d, &stream, 600 + i,
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
    hsy_stream stream;

    times_begin(&d, &stream, 700, (struct send_answer){.status = 204});
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
    runs_resample_nothing();
    sends_one_a_run();
    waits_as_it_is_asked();
    bears_a_clock_that_is_set_back();
    return tap_done();
}
