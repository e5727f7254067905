/*
 * fleet.c - a fleet: its tasks, and the days on which they are answered.
 *
 * A task is answered in the last of its rounds after which all uploads have
 * become due: their delays are over, however they fell. So a task that began
 * yesterday with rounds of a day and no delay is due today.
 */
#include "sim/fleet/internal.h"

#include "host/base/steady.h"
#include "host/tasks/calendar.h"
#include "sim/base/crew.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tasks --------------------------------------------------------------- */

/* The last day of the last round whose uploads are all due; 0: there is none.
 */
static uint32_t fleet_answer_day(const hsy_task *t, uint64_t now)
{
    const uint32_t all = t->end - t->start;
    const uint32_t round = calendar_round(t);
    const uint64_t over = (uint64_t)t->start * FLEET_DAY + t->delay_seconds;
    uint64_t days, end;

    if (now < over)
        return 0;
    days = (now - over) / FLEET_DAY; /* whole days that can be behind it */
    if (days >= all)
        return t->end - 1; /* the last round may be a shorter one */
    end = days / round * round;
    return end == 0 ? 0 : t->start + (uint32_t)end - 1;
}

/* Set the day on which a task is answered, or say why it is left out. */
static void fleet_schedule(struct fleet_task *t, uint64_t now)
{
    const uint32_t day = fleet_answer_day(&t->task, now);

    if (t->info.kind == HSY_KIND_TUPLE)
        t->why = "it asks several things at once";
    else if (day == 0)
        t->why = "no round of it is over, with the delay of its uploads";
    else if (now / FLEET_DAY > (uint64_t)day + 1 + t->task.grace_days)
        t->why = "it is over, and devices send nothing of it any more";
    else
        t->day = day;
}

/* The first of the days that they live on which a task is asked. */
static void fleet_schedule_days(struct fleet_task *t,
                                const struct fleet_options *o)
{
    const uint64_t first = o->now / FLEET_DAY, end = first + o->days;

    if (t->info.kind == HSY_KIND_TUPLE)
        t->why = "it asks several things at once";
    else if (t->task.start >= end || t->task.end <= first)
        t->why = "it is not asked on any of these days";
    else
        t->day = t->task.start > first ? t->task.start : (uint32_t)first;
}

static hsy_status fleet_task_open(struct fleet *f, size_t i, hsy_error *err)
{
    struct fleet_task *t = &f->tasks[i];
    hsy_release *r;
    hsy_release_info info;
    hsy_status st;

    t->place = (uint32_t)i;
    hsy_document_task(&f->document, &t->task, t->place);
    r = malloc(hsy_release_size(&t->task));
    if (r == NULL)
        return host_nomem(err);
    st = hsy_release_init(r, &t->task, err);
    if (st == HSY_OK) {
        hsy_release_describe(r, &info);
        hsy_scheme_describe(info.scheme, &t->info);
        memcpy(t->digest, info.digest, HSY_DIGEST);
        if (f->o.days != 0)
            fleet_schedule_days(t, &f->o);
        else
            fleet_schedule(t, f->o.now);
    }
    free(r);
    return st == HSY_OK && t->info.kind != HSY_KIND_TUPLE
               ? fleet_law_default(t, err)
               : st;
}

/* Whether the same release of a source leaves by the relay only, under this
 * name or another. */
static bool fleet_demands(const struct fleet *f, const struct fleet_task *t)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct fleet_task *other = &f->tasks[i];

        if ((other->task.flags & HSY_TASK_RELAY) != 0 &&
            memcmp(other->digest, t->digest, HSY_DIGEST) == 0 &&
            strcmp(other->task.source, t->task.source) == 0)
            return true;
    }
    return false;
}

/* Without a relay nobody answers what demands one. */
static void fleet_withhold(struct fleet *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct fleet_task *t = &f->tasks[i];

        t->relayed = fleet_demands(f, t);
        if (!t->relayed || f->relay != NULL || t->day == 0)
            continue;
        t->day = 0;
        t->why = "its uploads leave through a relay only, and none is named";
    }
}

/* Those that are answered, by their days: a device's day does not go back. */
static void fleet_sort(struct fleet *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        size_t at = f->norder;

        if (f->tasks[i].day == 0)
            continue;
        for (; at > 0 && f->tasks[i].day < f->tasks[f->order[at - 1]].day; at--)
            f->order[at] = f->order[at - 1];
        f->order[at] = i;
        f->norder++;
    }
}

/* The relay that was asked for, else that of the document; a sealed request
 * holds one upload. */
static void fleet_find_relay(struct fleet *f)
{
    hsy_send_way(&f->way, &f->document);
    f->relay = f->o.relay;
    if (f->relay == NULL && f->way.relay[0] != '\0')
        f->relay = f->way.relay;
    if (f->relay != NULL)
        f->o.batch = 1;
}

static hsy_status fleet_fetch(struct fleet *f, hsy_error *err)
{
    const hsy_send_options how = {.size = sizeof how,
                                  .ca_file = f->o.ca_file,
                                  .attempts = 4,
                                  .wait_ms = 100};
    size_t len = f->o.document_len;
    hsy_status st = HSY_OK;

    if (f->o.document == NULL) {
        st = hsy_document_fetch(&f->bytes, &len, f->o.url, &how, err);
    } else {
        f->bytes = malloc(len + 1);
        if (f->bytes == NULL)
            return host_nomem(err);
        memcpy(f->bytes, f->o.document, len);
    }
    if (st == HSY_OK)
        st = hsy_document_open(&f->document, f->bytes, len, err);
    if (st != HSY_OK)
        return st;
    if (f->o.key != NULL &&
        !hsy_sign_verify(f->o.key, f->bytes + len - HSY_SIGNATURE, f->bytes,
                         len - HSY_SIGNATURE))
        return host_fail(err, HSY_E_SIGNATURE, HOST_FIELD_PUBLIC_KEY,
                         "the collector's document is not signed by this key");
    f->n = f->document.tasks;
    fleet_find_relay(f);
    return HSY_OK;
}

/* ---- A fleet ------------------------------------------------------------- */

hsy_status fleet_open(struct fleet **out, const struct fleet_options *options,
                      hsy_error *err)
{
    struct fleet *f = calloc(1, sizeof *f);
    hsy_status st;

    if (f == NULL)
        return host_nomem(err);
    *out = f;
    f->o = *options;
    st = fleet_fetch(f, err);
    if (st != HSY_OK)
        return st;
    f->tasks = calloc(f->n + 1, sizeof *f->tasks);
    f->order = calloc(f->n + 1, sizeof *f->order);
    if (f->tasks == NULL || f->order == NULL)
        return host_nomem(err);
    for (size_t i = 0; st == HSY_OK && i < f->n; i++)
        st = fleet_task_open(f, i, err);
    if (st != HSY_OK)
        return st;
    fleet_withhold(f);
    fleet_sort(f);
    return HSY_OK;
}

void fleet_close(struct fleet *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; f->tasks != NULL && i < f->n; i++) {
        fleet_law_clear(&f->tasks[i].law);
        free(f->tasks[i].counts);
        free(f->tasks[i].days);
    }
    free(f->tasks);
    free(f->order);
    free(f->bytes);
    free(f);
}

struct fleet_task *fleet_tasks(struct fleet *f, size_t *n)
{
    *n = f->n;
    return f->tasks;
}

const char *fleet_relay(const struct fleet *f)
{
    return f->relay;
}

double fleet_clock(void)
{
    return (double)steady_us() / STEADY_SECOND;
}

/* ---- Running: some threads, each with devices, requests and counts ------- */

struct fleet_job {
    struct fleet *f;
    struct fleet_result *result;
    pthread_mutex_t lock; /* for both, and for who is told */
};

/* What a thread works with: a fleet of its own, which shares everything with
 * the whole but what it counts. */
struct fleet_worker {
    struct fleet_job *job;
    struct owned owned; /* its tasks with their counts */
    struct fleet f;
    struct fleet_result result;
    struct fleet_device *device;
    struct fleet_http *http;
};

static void fleet_tick(struct fleet_worker *w)
{
    const struct fleet_options *o = &w->f.o;

    pthread_mutex_lock(&w->job->lock);
    if (o->tick != NULL)
        o->tick(o->ctx, 1);
    pthread_mutex_unlock(&w->job->lock);
}

static hsy_status fleet_worker_counts(struct fleet_worker *w, hsy_error *err)
{
    const struct fleet *of = w->job->f;

    w->f.tasks = owned_array(&w->owned, of->n, sizeof *w->f.tasks);
    for (size_t i = 0; w->f.tasks != NULL && i < of->n; i++) {
        struct fleet_task *t = &w->f.tasks[i];

        *t = of->tasks[i];
        t->counts = owned_array(&w->owned, t->ncounts, sizeof *t->counts);
    }
    return owned_all(&w->owned, err);
}

static hsy_status fleet_worker_open(void *worker, void *job, hsy_error *err)
{
    struct fleet_worker *w = worker;
    hsy_status st;

    w->job = job;
    w->f = *w->job->f;
    w->f.tasks = NULL;
    w->f.o.connections =
        (w->f.o.connections + w->f.o.threads - 1) / w->f.o.threads;
    w->f.o.connections += w->f.o.connections == 1 && w->f.o.repeat > 1;
    w->f.o.rate /= w->f.o.threads;
    st = fleet_worker_counts(w, err);
    if (st == HSY_OK)
        st = fleet_device_new(&w->device, &w->f, err);
    if (st == HSY_OK)
        st = fleet_http_open(&w->http, &w->f, &w->result, err);
    return st;
}

/* Every device whose number leaves this remainder. */
static hsy_status fleet_worker_work(void *worker, uint64_t item, hsy_error *err)
{
    struct fleet_worker *w = worker;
    hsy_status st = HSY_OK;

    for (uint64_t i = item; st == HSY_OK && i < w->f.o.devices;
         i += w->f.o.threads) {
        st = fleet_device_live(w->device, i, fleet_http_take, w->http, err);
        fleet_tick(w);
    }
    return st == HSY_OK ? fleet_http_finish(w->http, err) : st;
}

static void fleet_add_task(struct fleet_task *to, const struct fleet_task *of)
{
    to->answered += of->answered;
    to->sum += of->sum;
    to->reports += of->reports;
    to->nulls += of->nulls;
    to->refused += of->refused;
    for (size_t i = 0; i < to->ncounts; i++)
        to->counts[i] += of->counts[i];
}

static void fleet_add_result(struct fleet_result *to,
                             const struct fleet_result *of)
{
    to->requests += of->requests;
    to->repeated += of->repeated;
    to->tried_again += of->tried_again;
    to->acknowledged += of->acknowledged;
    to->given_up += of->given_up;
    for (size_t i = 0; i < FLEET_STATUSES; i++)
        fleet_refused(to, of->statuses[i].status, of->statuses[i].uploads);
}

static void fleet_worker_close(void *worker)
{
    struct fleet_worker *w = worker;

    fleet_http_close(w->http);
    fleet_device_free(w->device);
    pthread_mutex_lock(&w->job->lock);
    for (size_t i = 0; w->f.tasks != NULL && i < w->f.n; i++)
        if (w->f.tasks[i].counts != NULL)
            fleet_add_task(&w->job->f->tasks[i], &w->f.tasks[i]);
    fleet_add_result(w->job->result, &w->result);
    pthread_mutex_unlock(&w->job->lock);
    owned_free(&w->owned);
}

hsy_status fleet_run(struct fleet *f, struct fleet_result *result,
                     hsy_error *err)
{
    const double start = fleet_clock();
    struct fleet_job job = {.f = f, .result = result};
    const struct crew crew = {.items = f->o.threads,
                              .threads = f->o.threads,
                              .worker = sizeof(struct fleet_worker),
                              .job = &job,
                              .open = fleet_worker_open,
                              .work = fleet_worker_work,
                              .close = fleet_worker_close};
    hsy_status st;

    *result = (struct fleet_result){.requests = 0};
    if (f->o.days != 0) {
        st = fleet_days_run(f, result, err);
        result->seconds = fleet_clock() - start;
        return st;
    }
    if (pthread_mutex_init(&job.lock, NULL) != 0)
        return host_nomem(err);
    st = crew_work(&crew, err);
    pthread_mutex_destroy(&job.lock);
    result->seconds = fleet_clock() - start;
    return st;
}
