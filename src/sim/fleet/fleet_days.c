/*
 * fleet_days.c - a fleet that lives for days, and drives the clock.
 *
 * The clock is a file that a collector of a rehearsal reads its time from. Each
 * day it is set to noon; when the collector has come to that day every device
 * that is there sends what is due, and answers; when all is acknowledged the
 * next day begins. After the last day come as many more as the delay of uploads
 * takes, on which devices only send.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "sim/fleet/internal.h"

#include "host/tasks/calendar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAYS_URL 4096u
#define DAYS_PATH 4096u
#define DAYS_ANSWER 64u
#define DAYS_PATIENCE 60.0 /* seconds for a collector to come to a day */
#define DAYS_TIMEOUT 30L   /* of a request */

struct fleet_days {
    struct fleet *f;
    fleet_each *each; /* who takes the uploads */
    void *ctx;
    struct fleet_http *http;       /* NULL: nobody's clock is driven */
    struct fleet_device **devices; /* NULL: not there yet, or gone */
    uint32_t first, last;          /* days of answers */
    uint32_t settle;               /* days after the last answer of a device */
    uint32_t rounds; /* the last day of the first round of all tasks */
    const struct curl_functions *use;
    CURL *easy;
    char url[DAYS_URL], answer[DAYS_ANSWER];
    size_t len;
};

/* ---- The clock ----------------------------------------------------------- */

/* By a new file in the place of the old: nobody reads half a time. */
static hsy_status days_set(const struct fleet_days *y, uint32_t day,
                           hsy_error *err)
{
    const char *path = y->f->o.clock;
    char draft[DAYS_PATH];
    const int n = snprintf(draft, sizeof draft, "%s.new", path);
    FILE *f = n > 0 && (size_t)n < sizeof draft ? fopen(draft, "we") : NULL;
    bool good = f != NULL;

    if (good)
        good = fprintf(f, "%llu\n",
                       (unsigned long long)day * FLEET_DAY + FLEET_NOON) > 0;
    if (f != NULL)
        good = fclose(f) == 0 && good;
    if (good && rename(draft, path) == 0)
        return HSY_OK;
    return host_fail(err, HSY_E_IO, HSY_FIELD_CLOCK,
                     "the file cannot be written");
}

static size_t days_read(char *bytes, size_t one, size_t n, void *ctx)
{
    struct fleet_days *y = ctx;
    const size_t len = one * n, room = sizeof y->answer - 1 - y->len;

    memcpy(y->answer + y->len, bytes, len < room ? len : room);
    y->len += len < room ? len : room;
    return len;
}

/* The day of the collector. */
static hsy_status days_ask(struct fleet_days *y, uint32_t *day, hsy_error *err)
{
    unsigned long n;

    y->len = 0;
    if (y->use->easy_perform(y->easy) != CURLE_OK)
        return host_fail(err, HSY_E_IO, HSY_FIELD_URL,
                         "the collector cannot be reached, or does not "
                         "answer");
    y->answer[y->len] = '\0';
    if (sscanf(y->answer, "rehearsal day=%lu", &n) != 1)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_CLOCK,
                         "this collector has the real clock, and may count "
                         "real people: one that was started for a "
                         "rehearsal is wanted");
    *day = (uint32_t)n;
    return HSY_OK;
}

/* Set the clock, and wait until the collector is there. */
static hsy_status days_begin(struct fleet_days *y, uint32_t day, hsy_error *err)
{
    static const struct timespec moment = {.tv_nsec = 1000000};
    const double until = fleet_clock() + DAYS_PATIENCE;
    uint32_t there = 0;
    hsy_status st = days_ask(y, &there, err);

    if (st == HSY_OK && there <= day)
        st = days_set(y, day, err);
    while (st == HSY_OK && there < day && fleet_clock() < until) {
        st = days_ask(y, &there, err);
        if (there < day)
            nanosleep(&moment, NULL);
    }
    if (st != HSY_OK || there == day)
        return st;
    return host_fail(err, HSY_E_REFUSED, HSY_FIELD_CLOCK,
                     there > day
                         ? "the collector has come to a later day already: "
                           "its days do not go back"
                         : "the collector does not follow: it was started "
                           "with another file, or does not believe so long a "
                           "step (clock_days)");
}

/* ---- Who is there -------------------------------------------------------- */

/* Days on which device i answers. */
static void days_stay(const struct fleet_days *y, uint64_t i, uint32_t *from,
                      uint32_t *to)
{
    const struct fleet_options *o = &y->f->o;

    *from = y->first;
    *to = y->last;
    if (o->attendance == FLEET_LEAVE && i % 2 == 1)
        *to = y->rounds < y->last ? y->rounds : y->last;
    if (o->attendance == FLEET_JOIN)
        *from = y->first + (uint32_t)(i * o->days / o->devices);
}

static hsy_status days_device(struct fleet_days *y, uint64_t i, uint32_t day,
                              hsy_error *err)
{
    const uint64_t now = (uint64_t)day * FLEET_DAY + FLEET_NOON;
    struct fleet_device **d = &y->devices[i];
    uint32_t from, to;
    hsy_status st = HSY_OK;

    days_stay(y, i, &from, &to);
    if (day < from || day > to + y->settle)
        return HSY_OK;
    if (*d == NULL) {
        st = fleet_device_new(d, y->f, err);
        if (st == HSY_OK)
            st = fleet_device_begin(*d, i, now, err);
    }
    if (st == HSY_OK)
        st = fleet_device_day(*d, now, day <= to, y->each, y->ctx, err);
    if (st == HSY_OK && day == to + y->settle) {
        fleet_device_free(*d);
        *d = NULL;
    }
    return st;
}

/* ---- All of it ----------------------------------------------------------- */

static hsy_status days_open(struct fleet_days *y, struct fleet_result *result,
                            hsy_error *err)
{
    const struct fleet_options *o = &y->f->o;
    size_t len = strlen(o->url);
    hsy_status st;
    CURL *c;

    while (len > 0 && o->url[len - 1] == '/')
        len--;
    snprintf(y->url, sizeof y->url, "%.*s/healthz", (int)len, o->url);
    st = hsy_http_curl(&y->use, err);
    if (st != HSY_OK)
        return st;
    y->easy = c = y->use->easy_init();
    if (c == NULL || y->use->easy_setopt(c, CURLOPT_URL, y->url) != CURLE_OK ||
        y->use->easy_setopt(c, CURLOPT_NOSIGNAL, 1L) != CURLE_OK ||
        y->use->easy_setopt(c, CURLOPT_TIMEOUT, DAYS_TIMEOUT) != CURLE_OK ||
        y->use->easy_setopt(c, CURLOPT_WRITEFUNCTION, days_read) != CURLE_OK ||
        y->use->easy_setopt(c, CURLOPT_WRITEDATA, y) != CURLE_OK ||
        (o->ca_file != NULL &&
         y->use->easy_setopt(c, CURLOPT_CAINFO, o->ca_file) != CURLE_OK))
        return host_nomem(err);
    return fleet_http_open(&y->http, y->f, result, err);
}

static void days_close(struct fleet_days *y)
{
    fleet_http_close(y->http);
    for (uint64_t i = 0; y->devices != NULL && i < y->f->o.devices; i++)
        fleet_device_free(y->devices[i]);
    free(y->devices);
    if (y->easy != NULL)
        y->use->easy_cleanup(y->easy);
}

/* What follows from the tasks: rounds and delays, and room for each day. */
static hsy_status days_plan(struct fleet_days *y, hsy_error *err)
{
    struct fleet *f = y->f;
    uint32_t delay = 0;

    y->first = (uint32_t)(f->o.now / FLEET_DAY);
    y->last = y->first + f->o.days - 1;
    for (size_t k = 0; k < f->norder; k++) {
        const struct fleet_task *t = &f->tasks[f->order[k]];
        const uint32_t round = calendar_round(&t->task), start = t->task.start;
        const uint32_t end = start + ((t->day - start) / round + 1) * round - 1;

        y->rounds = end > y->rounds ? end : y->rounds;
        if (t->task.delay_seconds > delay)
            delay = t->task.delay_seconds;
    }
    y->settle = 1;
    if (delay > FLEET_NOON)
        y->settle += (delay - FLEET_NOON + FLEET_DAY - 1) / FLEET_DAY;
    for (size_t i = 0; i < f->n; i++) {
        struct fleet_task *t = &f->tasks[i];

        t->first_day = y->first;
        t->ndays = f->o.days + y->settle;
        free(t->days);
        t->days = calloc(t->ndays, sizeof *t->days);
        if (t->days == NULL)
            return host_nomem(err);
    }
    return HSY_OK;
}

static hsy_status days_walk(struct fleet_days *y, hsy_error *err)
{
    const struct fleet *f = y->f;
    hsy_status st;

    y->devices = calloc(f->o.devices, sizeof *y->devices);
    if (y->devices == NULL)
        return host_nomem(err);
    st = days_plan(y, err);
    for (uint32_t day = y->first; st == HSY_OK && day <= y->last + y->settle;
         day++) {
        if (y->http != NULL)
            st = days_begin(y, day, err);
        for (uint64_t i = 0; st == HSY_OK && i < f->o.devices; i++) {
            st = days_device(y, i, day, err);
            if (f->o.tick != NULL && day <= y->last)
                f->o.tick(f->o.ctx, 1);
        }
        if (st == HSY_OK && y->http != NULL)
            st = fleet_http_finish(y->http, err);
    }
    return st;
}

hsy_status fleet_days_run(struct fleet *f, struct fleet_result *result,
                          hsy_error *err)
{
    struct fleet_days y = {.f = f, .each = fleet_http_take};
    hsy_status st = days_open(&y, result, err);

    y.ctx = y.http;
    if (st == HSY_OK)
        st = days_walk(&y, err);
    days_close(&y);
    return st;
}

hsy_status fleet_hand(struct fleet *f, fleet_each *each, void *ctx,
                      hsy_error *err)
{
    struct fleet_days y = {.f = f, .each = each, .ctx = ctx};
    const hsy_status st = days_walk(&y, err);

    days_close(&y);
    return st;
}
