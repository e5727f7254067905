/*
 * send.c - uploads that are due go to the collector, however often it takes.
 *
 * Each upload is sent at a time of its own (send_times.c has the rules, and
 * why), on a connection of its own: whoever keeps connections apart learns from
 * none which uploads are one device's (T09).
 * Only 204 is an acknowledgement; a page of a hotel's network says 200. Only a
 * problem+json takes an upload out of the outbox for good.
 */
#define _GNU_SOURCE /* nanosleep */

#include "host/client/send.h"

#include "host/base/grow.h"
#include "host/base/owned.h"
#include "host/base/steady.h"
#include "host/base/threads.h"
#include "host/base/url.h"
#include "host/client/client.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SEND_ATTEMPTS 5u
#define SEND_WAIT_MS 1000u
#define SEND_WAIT_MAX_MS 600000u
#define SEND_SECONDS 300u
#define SEND_WAIT_SECONDS 86400u /* where a run waits for the times */
#define SEND_SPREAD 3600u        /* seconds */
#define SEND_POLL_MS 100u        /* between looks at requests under way */
#define SEND_LATE_MS 1000u       /* a time that is further past is not used */
#define SEND_LOOK_SECONDS 60u    /* most between searches for new uploads */
#define SEND_ANSWER_SECONDS 30u

/* ---- Lists --------------------------------------------------------------- */

/* A client_each: one more upload, copied. */
static hsy_status send_add(void *list, const uint8_t *upload, size_t len)
{
    struct send_list *l = list;

    if (!grow_room(&l->bytes, &l->room, l->len + len, 1) ||
        !grow_room(&l->items, &l->items_room, l->n + 1, sizeof *l->items))
        return HSY_E_NOMEM;
    memcpy(l->bytes + l->len, upload, len);
    l->items[l->n++] = (struct send_item){.at = l->len, .len = len};
    l->len += len;
    return HSY_OK;
}

void hsy_send_way(struct send_way *way, const hsy_document *document)
{
    hsy_parties parties;

    hsy_document_parties(document, &parties);
    *way = (struct send_way){.nkeys = parties.gateway_keys,
                             .request_bytes = parties.request_bytes,
                             .response_bytes = parties.response_bytes,
                             .document_bytes = parties.document_bytes};
    memcpy(way->keys, parties.gateway, sizeof way->keys);
    if (parties.relay_len != 0 && parties.relay_len <= HSY_RELAY_MAX)
        memcpy(way->relay, parties.relay, parties.relay_len);
}

/* The policy's relays go before the document's, whose word does not count where
 * the policy demands a relay: the collector could name itself. */
static void send_way_pinned(struct send_way *way, const hsy_policy *policy)
{
    const char *relay = policy->nrelays != 0 ? policy->relays[0] : NULL;

    for (size_t i = 0; i < policy->nrelays; i++)
        if (strcmp(policy->relays[i], way->relay) == 0)
            relay = policy->relays[i];
    way->unpinned = relay == NULL && (policy->flags & HSY_POLICY_RELAY) != 0;
    if (relay != NULL)
        snprintf(way->relay, sizeof way->relay, "%s", relay);
}

hsy_status hsy_send_gather(hsy_client *client, enum client_which which,
                           struct send_list *list, hsy_error *err)
{
    const hsy_world *world = hsy_host_world(client->host);
    hsy_status st = hsy_client_due(client, which, send_add, list, err);

    if (st == HSY_OK)
        st = world->now(world->ctx, &list->seconds);
    hsy_send_way(&list->way, &client->document);
    send_way_pinned(&list->way, &client->policy);
    for (size_t i = 0; st == HSY_OK && i < list->n; i++)
        list->items[i].relayed =
            hsy_client_relayed(client, list->bytes + list->items[i].at);
    if (st == HSY_OK)
        hsy_times_load(client->host, list);
    return st;
}

void hsy_send_clear(struct send_list *list)
{
    free(list->bytes);
    free(list->items);
    *list = (struct send_list){.bytes = NULL};
}

/* The log of the host writes down which of the two it was. */
hsy_status hsy_send_mark(hsy_client *client, const struct send_list *list,
                         hsy_error *err)
{
    hsy_host *host = hsy_client_host(client);
    hsy_status st = HSY_OK;

    for (size_t i = 0; st == HSY_OK && i < list->n; i++) {
        const struct send_item *item = &list->items[i];

        if (!item->settled)
            continue;
        host->refused = item->status != 204 ? item->status : 0;
        st = hsy_client_sent(client, list->bytes + item->at, item->len, err);
        host->refused = 0;
        if (st == HSY_E_UNKNOWN) /* forgotten, or too old, in the meantime */
            st = HSY_OK;
    }
    if (st != HSY_OK || !list->keep_times)
        return st;
    st = hsy_times_store(host, list);
    return st == HSY_OK ? st
                        : host_fail(err, st, HSY_FIELD_DEVICE,
                                    "the file 'times' cannot be written");
}

/* ---- What an answer means ------------------------------------------------ */

enum send_next {
    SEND_DONE,  /* settled */
    SEND_LATER, /* it may be tried again in this run */
    SEND_KEPT   /* it may be tried again in a later run */
};

static const struct send_row {
    uint32_t status;
    enum send_next next;
    const char *why;
} send_rows[] = {
    {204, SEND_DONE, NULL},
    {409, SEND_DONE, "an upload of this id was counted with other bytes"},
    {410, SEND_DONE, "the epoch or the task is over"},
    {422, SEND_DONE, "the collector asks it otherwise, or cannot read it"},
    {200, SEND_KEPT,
     "what answers there is no collector: a network that wants a password, or "
     "another address"},
    {401, SEND_KEPT, "the collector wants a token"},
    {403, SEND_KEPT, "the task wants an enrolment token of its own"},
    {404, SEND_KEPT, "no such task there, or no collector at this address"},
    {408, SEND_LATER, "the collector waited for the request in vain"},
    {429, SEND_LATER, "the collector takes no more at present"},
    {503, SEND_LATER, "the collector takes no more at present"},
};

static struct send_row send_meaning(const struct send_answer *a)
{
    if (a->status == 0)
        return (struct send_row){0, a->again ? SEND_LATER : SEND_KEPT, a->why};
    for (size_t i = 0; i < sizeof send_rows / sizeof send_rows[0]; i++) {
        struct send_row row = send_rows[i];

        if (row.status != a->status)
            continue;
        if (a->status == 429 && a->problem)
            row.why = "the enrolment token has brought as many reports of "
                      "this day as its quota allows, and another day has a "
                      "quota of its own";
        if (row.next == SEND_DONE && a->early)
            return (struct send_row){a->status, SEND_KEPT,
                                     "the collector's day is behind: look at "
                                     "the clocks"};
        if (row.next == SEND_DONE && a->status != 204 && !a->problem)
            return (struct send_row){a->status, SEND_KEPT,
                                     "what answers there is no collector"};
        return row;
    }
    if (a->status >= 300 && a->status < 400)
        return (struct send_row){a->status, SEND_KEPT,
                                 "it redirects, which is not followed: give "
                                 "the address that it leads to"};
    if (a->status >= 500)
        return (struct send_row){a->status, SEND_LATER,
                                 "the collector has failed"};
    return (struct send_row){a->status, SEND_KEPT,
                             "the collector does not take it"};
}

/* ---- Runs ---------------------------------------------------------------- */

/* What requests go through. */
struct send_line {
    struct send_http *http;     /* to the collector */
    struct send_http *relay;    /* NULL: there is none */
    struct send_sealed *sealed; /* NULL with it */
};

struct send_run {
    const struct send_hooks *hooks;
    hsy_send_options options; /* complete */
    uint64_t spread;          /* ms */
    bool independent; /* wait with a spread: nothing moves another upload */
    const char *url;
    struct send_line line; /* of requests that are sent one by one */
    hsy_send_result *result;
    struct send_list list; /* as it was gathered last */
    struct send_job *jobs; /* owned: requests in threads of their own */
    uint64_t base;         /* ms: the device's clock less the monotonic one */
    uint64_t deadline;     /* ms; 0: nothing was gathered yet */
    uint64_t woke;         /* ms: when the run last stopped waiting */
    uint64_t look;         /* ms: when uploads without a time get one */
    bool changed;          /* the list is to be settled */
};

/* The monotonic clock stands still while a computer sleeps, so no times pass
 * meanwhile. */
static uint64_t send_now(const struct send_run *run)
{
    const struct send_drive *drive =
        run->hooks != NULL ? run->hooks->drive : NULL;

    return drive != NULL ? drive->now(drive->ctx) : run->base + steady_ms();
}

/* Milliseconds that are left. */
static uint64_t send_left(const struct send_run *run)
{
    const uint64_t now = send_now(run);

    return run->deadline > now ? run->deadline - now : 0;
}

static void send_sleep(const struct send_run *run, uint64_t ms)
{
    const struct send_drive *drive =
        run->hooks != NULL ? run->hooks->drive : NULL;
    struct timespec t = {.tv_sec = (time_t)(ms / 1000),
                         .tv_nsec = (long)(ms % 1000) * 1000000};

    if (drive != NULL) {
        drive->wait(drive->ctx, ms);
        return;
    }
    while (nanosleep(&t, &t) == -1 && errno == EINTR)
        continue;
}

/* Draws from [0, below), below at most 2^42: within 2^-22 of uniform. Coins of
 * their own, not those that answers are made of. id: the upload's, for a test
 * that gives each upload its own coins. */
static hsy_status send_draw(const struct send_run *run, uint64_t *ms,
                            uint64_t below, const uint8_t *id)
{
    hsy_entropy entropy;
    hsy_coins coins;
    uint64_t x = 0;
    hsy_status st = HSY_OK;

    if (run->hooks != NULL && run->hooks->drive != NULL) {
        x = run->hooks->drive->draw(run->hooks->drive->ctx, id);
    } else if (below != 0) {
        hsy_entropy_init(&entropy);
        coins = hsy_entropy_coins(&entropy);
        st = coins.published.fill(coins.published.ctx, &x, sizeof x);
        hsy_entropy_clear(&entropy);
    }
    *ms = below != 0 ? x % below : 0;
    return st;
}

/* An upload leaves within `span` ms, after `after` ms (send_times.c). */
static hsy_status send_plan(struct send_run *run, struct send_item *item,
                            uint64_t after, uint64_t span)
{
    const uint64_t now = send_now(run);
    uint64_t ms;
    hsy_status st =
        send_draw(run, &ms, span, run->list.bytes + item->at + SEND_ID_AT);

    item->when.drawn = now != 0 ? now : 1; /* 0: it has no time */
    item->when.leaves = now + after + ms;
    run->changed = true;
    return st;
}

/* ---- Requests ------------------------------------------------------------ */

static void send_line_close(struct send_line *line)
{
    hsy_http_close(line->http);
    hsy_http_close(line->relay);
    hsy_sealed_close(line->sealed);
}

static hsy_status send_line_open(struct send_line *line,
                                 const struct send_run *run, hsy_error *err)
{
    return hsy_http_open(&line->http, run->url, false, &run->options, err);
}

/* The relay that was asked for, else that of the policy or the document. On the
 * collector's own host it would hide no address from the collector. */
static hsy_status send_line_relay(struct send_line *line,
                                  const struct send_run *run,
                                  const struct send_way *way, hsy_error *err)
{
    const char *relay = run->options.relay;
    hsy_status st = HSY_OK;

    if (relay == NULL && way != NULL && way->relay[0] != '\0' && !way->unpinned)
        relay = way->relay;
    if (line->relay != NULL || relay == NULL)
        return HSY_OK;
    if (url_same_host(relay, run->url) && !url_loopback(relay))
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_RELAY,
                         "the relay is on the collector's host, which would "
                         "see this device's address: name one that somebody "
                         "else runs");
    st = hsy_http_open(&line->relay, relay, true, &run->options, err);
    if (st == HSY_OK)
        st = hsy_sealed_open(&line->sealed, run->url, run->options.token, err);
    return st;
}

/* One request, in a thread of its own where several may be under way. */
struct send_job {
    struct send_job *next;
    const struct send_run *run;
    struct send_way way;
    bool relayed;
    uint32_t turn;    /* which of the gateway's keys */
    uint32_t seconds; /* for an answer */
    struct send_answer answer;
    pthread_t thread;
    atomic_bool done;
    size_t len;
    uint8_t bytes[]; /* of the upload */
};

/* Through the relay where there is one, and never without where the task
 * demands it. */
static void send_post(struct send_job *job, struct send_line *line)
{
    const struct send_drive *drive = job->run->hooks->drive;

    job->answer = (struct send_answer){.unsent = true};
    if (drive != NULL)
        drive->post(drive->ctx, job->bytes, job->len, &job->answer);
    else if (line->relay != NULL)
        hsy_sealed_post(line->sealed, line->relay, &job->way, job->turn,
                        job->bytes, job->len, job->seconds, &job->answer);
    else if (job->relayed && job->way.unpinned && job->way.relay[0] != '\0')
        job->answer.why = "the policy demands a relay, and the document alone "
                          "names one: list it in 'relays' of policy.yaml if "
                          "somebody else than the collector runs it";
    else if (job->relayed)
        job->answer.why = "the task leaves through a relay only: name one";
    else
        hsy_http_post(line->http, job->bytes, job->len, job->seconds,
                      SEND_ANSWER_MAX, &job->answer);
}

static void *send_fly(void *ctx)
{
    struct send_job *job = ctx;
    struct send_line line = {.http = NULL};
    hsy_error err = {0};

    if (send_line_open(&line, job->run, &err) == HSY_OK &&
        send_line_relay(&line, job->run, &job->way, &err) == HSY_OK)
        send_post(job, &line);
    else
        job->answer = (struct send_answer){
            .why = err.msg != NULL ? err.msg : "out of memory", .unsent = true};
    send_line_close(&line);
    atomic_store(&job->done, true);
    return NULL;
}

/* ---- Answers ------------------------------------------------------------- */

/* When to try again: after what the answer asks for, at a time of its own. */
static hsy_status send_plan_retry(struct send_run *run, struct send_item *item,
                                  uint64_t retry_after)
{
    const uint64_t asked =
        1000 * (retry_after < SEND_RETRY_AFTER_MAX ? retry_after
                                                   : SEND_RETRY_AFTER_MAX);
    /* tries starts again with each run, and when a run ends depends on all
     * uploads: turn does not. */
    const uint64_t tries =
        run->independent ? item->when.turn : item->when.tries;
    uint64_t most = run->options.wait_ms;

    for (uint64_t i = 1; i < tries && most < SEND_WAIT_MAX_MS; i++)
        most *= 2;
    if (run->spread > most)
        return send_plan(run, item, asked, run->spread);
    return send_plan(run, item, asked + most / 2, most / 2 + 1);
}

static hsy_status send_apply(struct send_run *run, struct send_item *item,
                             const struct send_answer *answer)
{
    const struct send_row row = send_meaning(answer);
    hsy_send_result *r = run->result;

    item->when.flying = false;
    item->status = answer->status;
    item->settled = row.next == SEND_DONE;
    item->when.why = row.why;
    run->changed = true;
    if (answer->status == 204) {
        r->sent++;
        return HSY_OK;
    }
    r->status = row.status;
    r->refused += item->settled;
    if (item->settled)
        return HSY_OK;
    item->when.unsent = answer->unsent;
    item->when.over =
        !run->independent &&
        (row.next != SEND_LATER || item->when.tries >= run->options.attempts);
    return send_plan_retry(run, item, answer->retry_after);
}

/* Applies the answers that have come; `all`: waits for the others. */
static hsy_status send_collect(struct send_run *run, bool all)
{
    struct send_job **at = &run->jobs, *job;
    hsy_status st = HSY_OK;

    while ((job = *at) != NULL) {
        struct send_item *item;

        if (!all && !atomic_load(&job->done)) {
            at = &job->next;
            continue;
        }
        pthread_join(job->thread, NULL);
        item = hsy_times_find(&run->list, job->bytes + SEND_ID_AT);
        if (item != NULL && st == HSY_OK) /* else forgotten meanwhile */
            st = send_apply(run, item, &job->answer);
        *at = job->next;
        free(job);
    }
    return st;
}

/* ---- Leaving ------------------------------------------------------------- */

static hsy_status send_one(struct send_run *run, struct send_item *item,
                           hsy_error *err)
{
    const struct send_list *list = &run->list;
    const bool alone = run->hooks->drive != NULL || !run->independent ||
                       run->options.one_connection;
    const uint64_t left = (send_left(run) + 999) / 1000;
    const uint32_t most = run->options.answer_seconds;
    struct send_job *job = calloc(1, sizeof *job + item->len);
    hsy_status st = HSY_OK;

    if (job == NULL)
        return host_nomem(err);
    job->run = run;
    job->way = list->way;
    job->relayed = item->relayed;
    job->turn = (uint32_t)item->when.turn++;
    item->when.tries++;
    /* A request that the run's end cut short would show this end. */
    job->seconds = left < most && !run->independent ? (uint32_t)left : most;
    job->len = item->len;
    memcpy(job->bytes, list->bytes + item->at, item->len);
    if (item->when.tries > run->result->attempts)
        run->result->attempts = item->when.tries;
    if (!alone) {
        item->when.flying = thread_start(&job->thread, send_fly, job);
        job->next = run->jobs;
        if (item->when.flying)
            run->jobs = job;
        else
            free(job);
        return item->when.flying ? HSY_OK : host_nomem(err);
    }
    if (run->hooks->drive == NULL)
        st = send_line_relay(&run->line, run, &list->way, err);
    if (st == HSY_OK)
        send_post(job, &run->line);
    if (st == HSY_OK)
        st = send_apply(run, item, &job->answer);
    free(job);
    return st;
}

/* Returns true if an upload may still leave in this run. */
static bool send_pending(const struct send_run *run,
                         const struct send_item *item)
{
    return !item->settled && !item->when.over && !item->when.flying &&
           item->when.drawn != 0 && item->when.leaves < run->deadline;
}

/* Sends what leaves now: without a spread, or in a run that waits, all, else
 * one upload at most, and the others whose time has passed get a new one. */
static hsy_status send_leave(struct send_run *run, hsy_error *err)
{
    struct send_item *first = NULL;
    const uint64_t now = run->independent ? run->woke : send_now(run);
    hsy_status st = HSY_OK;

    for (size_t i = 0; st == HSY_OK && i < run->list.n; i++) {
        struct send_item *item = &run->list.items[i], *late = item;

        if (!send_pending(run, item) || item->when.leaves > now ||
            send_left(run) == 0)
            continue;
        if (run->spread == 0 || run->independent) {
            st = send_one(run, item, err);
            continue;
        }
        if (first == NULL || item->when.leaves < first->when.leaves) {
            late = first;
            first = item;
        }
        if (late != NULL)
            st = send_plan(run, late, 0, run->spread);
    }
    return st == HSY_OK && first != NULL ? send_one(run, first, err) : st;
}

/* Sets the clock of a run that begins, `seconds` since 1970. */
static void send_begin(struct send_run *run, uint64_t seconds)
{
    run->base = 1000 * seconds - steady_ms();
    run->woke = send_now(run);
    run->deadline = run->woke + 1000 * (uint64_t)run->options.seconds;
}

/* Returns the next multiple of an interval since 1970, a sixtieth of the
 * spread: the same for all devices and runs, whatever was answered. */
static uint64_t send_next_look(const struct send_run *run, uint64_t now)
{
    uint64_t interval = run->spread / 60000;

    interval = interval < SEND_LOOK_SECONDS ? interval : SEND_LOOK_SECONDS;
    interval = interval != 0 ? 1000 * interval : 1000;
    return now - now % interval + interval;
}

/* Gives an upload a time if it needs one: an upload that is new (not known), or
 * whose time has passed. In a run that waits this is done at `look` only: when
 * the run read the outbox before depends on the other uploads. */
static hsy_status send_time(struct send_run *run, struct send_item *item,
                            bool known, bool look)
{
    struct send_when *when = &item->when;

    if (!known && (run->spread == 0 ||
                   !hsy_times_valid(when, send_now(run), run->spread)))
        when->drawn = 0;
    if (run->independent && !when->flying &&
        when->leaves + SEND_LATE_MS < run->woke)
        when->drawn = 0;
    return when->drawn == 0 && look ? send_plan(run, item, 0, run->spread)
                                    : HSY_OK;
}

/* Gathers what is due; what is new gets a time, others keep theirs. */
static hsy_status send_refresh(struct send_run *run, hsy_error *err)
{
    struct send_list old = run->list;
    hsy_status st;
    bool look;

    run->list = (struct send_list){.keep_times = run->spread != 0};
    st = run->hooks->gather(run->hooks->ctx, &run->list, err);
    if (st == HSY_OK && run->deadline == 0) {
        send_begin(run, run->list.seconds);
        run->look = send_next_look(run, run->woke);
    }
    look = !run->independent || run->woke >= run->look;
    if (look)
        run->look = send_next_look(run, send_now(run));
    for (size_t i = 0; st == HSY_OK && i < run->list.n; i++) {
        struct send_item *item = &run->list.items[i];
        const struct send_item *same =
            hsy_times_find(&old, run->list.bytes + item->at + SEND_ID_AT);

        if (same != NULL)
            item->when = same->when;
        st = send_time(run, item, same != NULL, look);
    }
    hsy_send_clear(&old);
    return st;
}

/* Waits until the next upload leaves, uploads may get times, or an answer has
 * come. False: there is nothing to wait for. A run that waits with a spread
 * lasts until its deadline while any upload is left that can be sent: if it
 * ended sooner, the time of its end would depend on all uploads together. */
static bool send_rest(struct send_run *run)
{
    const bool time_left = send_left(run) != 0;
    bool more = run->jobs != NULL;
    uint64_t next = UINT64_MAX, now;

    if (run->independent && time_left)
        next = run->look < run->deadline ? run->look : run->deadline;
    for (size_t i = 0; i < run->list.n && time_left; i++) {
        const struct send_item *item = &run->list.items[i];
        const bool pending = send_pending(run, item);

        if (pending && item->when.leaves < next)
            next = item->when.leaves;
        more |=
            run->independent ? !item->settled && !item->when.unsent : pending;
    }
    while (more && (now = send_now(run)) < next) {
        uint64_t ms = next - now;

        for (const struct send_job *job = run->jobs; job != NULL;
             job = job->next) {
            if (atomic_load(&job->done))
                next = 0;
            ms = ms < SEND_POLL_MS ? ms : SEND_POLL_MS;
        }
        if (next != 0)
            send_sleep(run, ms);
    }
    run->woke = send_now(run);
    return more;
}

/* What waits for its time has not failed, unless the run was to wait for it. */
static hsy_status send_end(struct send_run *run, hsy_status st, hsy_error *err)
{
    hsy_send_result *r = run->result;
    bool failed = false;

    for (size_t i = 0; i < run->list.n; i++) {
        const struct send_item *item = &run->list.items[i];

        if (item->settled)
            continue;
        r->waiting++;
        failed |= item->when.tries != 0 || run->options.wait || !run->spread;
        if (item->when.why != NULL)
            r->why = item->when.why;
    }
    if (st != HSY_OK || !failed)
        return st;
    return host_fail(err, HSY_E_IO, HSY_FIELD_URL,
                     r->why != NULL ? r->why : "there was no time left");
}

static hsy_status send_loop(struct send_run *run, hsy_error *err)
{
    hsy_status st;

    do {
        run->changed = false;
        st = send_refresh(run, err);
        if (st == HSY_OK)
            st = send_leave(run, err);
        if (st == HSY_OK)
            st = send_collect(run, false);
        if (st == HSY_OK && run->changed)
            st = run->hooks->settle(run->hooks->ctx, &run->list, err);
    } while (st == HSY_OK && (run->options.wait || run->spread == 0) &&
             send_rest(run));
    send_collect(run, true);
    if (st == HSY_E_ENTROPY)
        host_fail(err, st, HSY_FIELD_COINS, "the system has no entropy");
    return send_end(run, st, err);
}

/* ---- Options ------------------------------------------------------------- */

static hsy_status send_options(hsy_send_options *to,
                               const hsy_send_options *from, hsy_error *err)
{
    *to = (hsy_send_options){.size = sizeof *to};
    if (from != NULL && from->size != sizeof *from &&
        from->size != offsetof(hsy_send_options, spread) &&
        from->size != offsetof(hsy_send_options, relay))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_OPTIONS,
                         "set size to sizeof(hsy_send_options)");
    if (from != NULL)
        memcpy(to, from, from->size);
    to->size = sizeof *to;
    if (to->attempts == 0)
        to->attempts = SEND_ATTEMPTS;
    if (to->wait_ms == 0)
        to->wait_ms = SEND_WAIT_MS;
    if (to->seconds == 0)
        to->seconds = to->wait ? SEND_WAIT_SECONDS : SEND_SECONDS;
    if (to->answer_seconds == 0)
        to->answer_seconds = SEND_ANSWER_SECONDS;
    if (to->spread == 0)
        to->spread = SEND_SPREAD;
    return HSY_OK;
}

hsy_status hsy_send_all(const struct send_hooks *hooks, const char *url,
                        const hsy_send_options *options,
                        hsy_send_result *result, hsy_error *err)
{
    struct send_run run = {.hooks = hooks, .url = url, .result = result};
    hsy_status st = send_options(&run.options, options, err);

    *result = (hsy_send_result){.sent = 0};
    if (run.options.spread != HSY_SPREAD_NONE)
        run.spread = 1000 * (uint64_t)run.options.spread;
    run.independent = run.options.wait && run.spread != 0;
    if (st == HSY_OK && hooks->drive == NULL)
        st = send_line_open(&run.line, &run, err);
    if (st == HSY_OK && hooks->drive == NULL)
        st = send_line_relay(&run.line, &run, NULL, err);
    if (st == HSY_OK)
        st = send_loop(&run, err);
    send_line_close(&run.line);
    hsy_send_clear(&run.list);
    return st;
}

/* ---- A client ------------------------------------------------------------ */

static hsy_status send_gather(void *ctx, struct send_list *list, hsy_error *err)
{
    return hsy_send_gather(ctx, CLIENT_ALL, list, err);
}

static hsy_status send_settle(void *ctx, const struct send_list *list,
                              hsy_error *err)
{
    return hsy_send_mark(ctx, list, err);
}

hsy_status hsy_device_upload(hsy_client *client, hsy_send_result *result,
                             const char *url, const hsy_send_options *options,
                             hsy_error *err)
{
    const struct send_hooks hooks = {send_gather, send_settle, client, NULL};
    hsy_send_result unseen;

    return hsy_send_all(&hooks, url, options, result != NULL ? result : &unseen,
                        err);
}

/* ---- The document -------------------------------------------------------- */

/* Waits before another attempt, from half of `wait` to all of it after what the
 * answer asks for; false: there is no time for it. */
static bool send_fetch_wait(const struct send_run *run, uint64_t retry_after,
                            uint64_t wait)
{
    uint64_t ms = 0;

    if (retry_after > SEND_RETRY_AFTER_MAX ||
        send_draw(run, &ms, wait / 2 + 1, NULL) != HSY_OK)
        return false;
    ms += wait / 2 + 1000 * retry_after;
    if (ms >= send_left(run))
        return false;
    send_sleep(run, ms);
    return true;
}

/* Through the line's relay where it has one, else from the collector. */
static hsy_status send_fetch(const struct send_line *line,
                             const struct send_way *way,
                             const hsy_send_options *o, uint8_t **bytes,
                             size_t *len, hsy_error *err)
{
    const uint64_t deadline = steady_ms() + 1000 * (uint64_t)o->seconds;
    const struct send_run run = {.deadline = deadline};
    uint64_t wait = o->wait_ms;
    struct send_answer answer;

    *bytes = NULL;
    for (uint32_t i = 0;; i++, wait *= 2) {
        if (line->relay != NULL)
            hsy_sealed_fetch(line->sealed, line->relay, way, i,
                             o->answer_seconds, bytes, len, &answer);
        else
            hsy_http_get(line->http, o->answer_seconds, bytes, len, &answer);
        if (*bytes != NULL)
            return HSY_OK;
        if (i + 1 >= o->attempts || wait > SEND_WAIT_MAX_MS ||
            send_meaning(&answer).next != SEND_LATER ||
            !send_fetch_wait(&run, answer.retry_after, wait))
            break;
    }
    if (answer.status == 200)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_URL,
                         "the document is empty");
    return host_fail(err, HSY_E_IO, HSY_FIELD_URL, send_meaning(&answer).why);
}

hsy_status hsy_document_fetch(uint8_t **bytes, size_t *len, const char *url,
                              const hsy_send_options *options, hsy_error *err)
{
    struct send_line line = {.http = NULL};
    hsy_send_options o;
    hsy_status st = send_options(&o, options, err);

    o.token = NULL; /* anyone may ask: it would put a name to this address */
    if (st == HSY_OK)
        st = hsy_http_open(&line.http, url, false, &o, err);
    if (st == HSY_OK)
        st = send_fetch(&line, NULL, &o, bytes, len, err);
    send_line_close(&line);
    return st;
}

/* ---- The next document of a device --------------------------------------- */

/* The relay that was asked for, else that of the policy or the document; "" if
 * there is none that counts. Who demands a relay does not fetch without. */
static hsy_status send_fetch_relay(const hsy_client *client,
                                   const hsy_send_options *o,
                                   struct send_fetch *f, hsy_error *err)
{
    const char *relay = o->relay != NULL  ? o->relay
                        : f->way.unpinned ? ""
                                          : f->way.relay;
    bool demanded = (client->policy.flags & HSY_POLICY_RELAY) != 0;

    for (size_t i = 0; i < client->nreleases; i++)
        demanded |= hsy_client_demands(client, i);
    if (strlen(relay) > HSY_RELAY_MAX)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_URL, "too long");
    memcpy(f->relay, relay, strlen(relay) + 1);
    if (relay[0] == '\0' && demanded)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_RELAY,
                         "uploads leave through a relay only, and so documents "
                         "come: name one, or take the document from a file");
    if (relay[0] != '\0' && f->way.document_bytes == 0)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_DOCUMENT_BYTES,
                         "the document of this device is of a gateway that "
                         "gives none through a relay: take the next document "
                         "from a file");
    return HSY_OK;
}

/* As for an upload: the first run that finds no time draws one. */
static hsy_status send_fetch_when(hsy_client *client, const hsy_send_options *o,
                                  struct send_fetch *f)
{
    const struct send_run run = {.hooks = NULL};
    const uint64_t spread = 1000 * (uint64_t)o->spread;
    const hsy_world *world = hsy_host_world(client->host);
    struct send_when when;
    uint64_t now = 0, ms = 0;
    hsy_status st = world->now(world->ctx, &now);

    now *= 1000;
    hsy_times_load_fetch(client->host, &when);
    if (f->waited || (hsy_times_valid(&when, now, spread) &&
                      (when.leaves > now || !o->wait))) {
        f->wait = !f->waited && when.leaves > now ? when.leaves - now : 0;
        when.drawn = f->wait != 0 ? when.drawn : 0;
    } else {
        st = st == HSY_OK ? send_draw(&run, &ms, spread, NULL) : st;
        when = (struct send_when){.drawn = now, .leaves = now + ms};
        f->wait = ms + 1;
    }
    return st == HSY_OK ? hsy_times_store_fetch(client->host, &when) : st;
}

/* Returns true if the policy pins no gateway keys, or all of the document's are
 * among them: the request is sealed for any one of these. */
static bool send_fetch_keys(const hsy_policy *policy,
                            const struct send_way *way)
{
    uint32_t known = 0;

    for (uint32_t i = 0; i < way->nkeys; i++)
        for (size_t k = 0; k < policy->ngateway_keys; k++)
            if (memcmp(policy->gateway_keys + k * HSY_SEAL_KEY,
                       way->keys[i].key, HSY_SEAL_KEY) == 0) {
                known++;
                break;
            }
    return policy->ngateway_keys == 0 || known == way->nkeys;
}

hsy_status hsy_fetch_plan(hsy_client *client, const hsy_send_options *options,
                          struct send_fetch *f, hsy_error *err)
{
    hsy_status st;

    hsy_send_way(&f->way, &client->document);
    send_way_pinned(&f->way, &client->policy);
    f->wait = 0;
    st = send_fetch_relay(client, options, f, err);
    if (st != HSY_OK || f->relay[0] == '\0')
        return st;
    if (!send_fetch_keys(&client->policy, &f->way))
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_GATEWAY_KEYS,
                         "the document's gateway keys are not those of the "
                         "policy, so no request is sealed for them: take the "
                         "next document from a file, or list the keys in "
                         "gateway_keys of the policy");
    if (options->spread == HSY_SPREAD_NONE)
        return HSY_OK;
    st = send_fetch_when(client, options, f);
    return st == HSY_OK
               ? HSY_OK
               : host_fail(err, st, HSY_FIELD_DEVICE,
                           "no time for the fetch can be drawn and stored");
}

/* Plans until it is time. HSY_OK with a wait: it is not. */
static hsy_status send_fetch_plan(const struct send_fetch_hooks *hooks,
                                  const hsy_send_options *o,
                                  struct send_fetch *f, hsy_error *err)
{
    hsy_status st = hooks->plan(hooks->ctx, o, f, err);

    if (st == HSY_OK && f->relay[0] != '\0' && hooks->sends)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_RELAY,
                         "a run that sends does not fetch the document through "
                         "a relay: use 'hearsay device take' at another time");
    if (st != HSY_OK || f->wait == 0 || !o->wait ||
        f->wait > 1000 * (uint64_t)o->seconds)
        return st;
    send_sleep(&(struct send_run){.hooks = NULL}, f->wait);
    f->waited = true;
    return hooks->plan(hooks->ctx, o, f, err);
}

hsy_status hsy_fetch_all(const struct send_fetch_hooks *hooks, uint8_t **bytes,
                         size_t *len, const char *url,
                         const hsy_send_options *options, hsy_error *err)
{
    struct send_fetch f = {.wait = 0};
    struct send_line line = {.http = NULL};
    struct send_run run = {.url = url};
    hsy_status st = send_options(&run.options, options, err);

    *bytes = NULL;
    run.options.token = NULL; /* as in hsy_document_fetch */
    if (st == HSY_OK)
        st = send_line_open(&line, &run, err);
    if (st == HSY_OK)
        st = send_fetch_plan(hooks, &run.options, &f, err);
    if (st == HSY_OK && f.wait == 0) {
        if (f.relay[0] != '\0') {
            run.options.relay = f.relay;
            st = send_line_relay(&line, &run, &f.way, err);
        }
        if (st == HSY_OK)
            st = send_fetch(&line, &f.way, &run.options, bytes, len, err);
    }
    send_line_close(&line);
    return st;
}

static hsy_status send_plan_client(void *ctx, const hsy_send_options *options,
                                   struct send_fetch *f, hsy_error *err)
{
    return hsy_fetch_plan(ctx, options, f, err);
}

hsy_status hsy_client_fetch(hsy_client *client, uint8_t **bytes, size_t *len,
                            const char *url, const hsy_send_options *options,
                            hsy_error *err)
{
    const struct send_fetch_hooks hooks = {send_plan_client, client, false};

    return hsy_fetch_all(&hooks, bytes, len, url, options, err);
}
