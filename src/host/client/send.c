/*
 * send.c - uploads that are due go to the collector, however often it takes.
 *
 * An attempt sends each upload once, on a connection of its own: whoever keeps
 * connections apart learns from none which uploads are one device's (T09).
 * Only 204 is an acknowledgement; a page of a hotel's network says 200. Only a
 * problem+json takes an upload out of the outbox for good.
 */
#define _GNU_SOURCE /* nanosleep */

#include "host/client/send.h"

#include "host/base/grow.h"
#include "host/base/owned.h"
#include "host/base/steady.h"
#include "host/client/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SEND_ATTEMPTS 5u
#define SEND_WAIT_MS 1000u
#define SEND_WAIT_MAX_MS 600000u
#define SEND_SECONDS 300u
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
                             .request_bytes = parties.request_bytes};
    memcpy(way->keys, parties.gateway, sizeof way->keys);
    if (parties.relay_len != 0 && parties.relay_len <= HSY_RELAY_MAX)
        memcpy(way->relay, parties.relay, parties.relay_len);
}

hsy_status hsy_send_gather(hsy_client *client, enum client_which which,
                           struct send_list *list, hsy_error *err)
{
    hsy_status st = hsy_client_due(client, which, send_add, list, err);

    hsy_send_way(&list->way, &client->document);
    for (size_t i = 0; st == HSY_OK && i < list->n; i++)
        list->items[i].relayed =
            hsy_client_relayed(client, list->bytes + list->items[i].at);
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
    return st;
}

/* ---- What an answer means ------------------------------------------------ */

enum send_next {
    SEND_DONE,  /* settled */
    SEND_LATER, /* this one may be tried again now */
    SEND_KEPT,  /* this one not, but on another day */
    SEND_STOP   /* nobody can be reached: no use in trying others */
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
    {200, SEND_STOP,
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
        return (struct send_row){0, SEND_STOP, a->why};
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
            return (struct send_row){a->status, SEND_STOP,
                                     "what answers there is no collector"};
        return row;
    }
    if (a->status >= 300 && a->status < 400)
        return (struct send_row){a->status, SEND_STOP,
                                 "it redirects, which is not followed: give "
                                 "the address that it leads to"};
    if (a->status >= 500)
        return (struct send_row){a->status, SEND_LATER,
                                 "the collector has failed"};
    return (struct send_row){a->status, SEND_KEPT,
                             "the collector does not take it"};
}

/* ---- Time ---------------------------------------------------------------- */

static void send_sleep(uint64_t ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1000),
                         .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&t, &t) == -1 && errno == EINTR)
        continue;
}

/* From half of `most` to all of it: devices that failed together do not come
 * back together. Coins of their own, not those that answers are made of. */
static hsy_status send_jitter(uint64_t *ms, uint64_t most)
{
    hsy_entropy entropy;
    hsy_coins coins;
    uint64_t x = 0;
    hsy_status st;

    hsy_entropy_init(&entropy);
    coins = hsy_entropy_coins(&entropy);
    st = coins.published.fill(coins.published.ctx, &x, sizeof x);
    hsy_entropy_clear(&entropy);
    *ms = most - x % (most / 2 + 1);
    return st;
}

/* ---- Attempts ------------------------------------------------------------ */

struct send_run {
    const struct send_hooks *hooks;
    hsy_send_options options; /* complete */
    const char *url;
    struct send_http *http;     /* to the collector */
    struct send_http *relay;    /* NULL: there is none */
    struct send_sealed *sealed; /* NULL with it */
    hsy_send_result *result;
    uint64_t deadline;    /* ms */
    uint64_t retry_after; /* seconds: the most that was asked for */
    bool again;           /* something may be tried again soon */
};

/* Milliseconds that are left. */
static uint64_t send_left(const struct send_run *run)
{
    const uint64_t now = steady_ms();

    return run->deadline > now ? run->deadline - now : 0;
}

/* Through the relay where there is one, and never without where the task
 * demands it. */
static struct send_row send_post(struct send_run *run,
                                 const struct send_list *list,
                                 const struct send_item *item, uint32_t seconds,
                                 struct send_answer *answer)
{
    const uint8_t *upload = list->bytes + item->at;

    *answer = (struct send_answer){.status = 0};
    if (run->relay != NULL)
        hsy_sealed_post(run->sealed, run->relay, &list->way,
                        run->result->attempts - 1, upload, item->len, seconds,
                        answer);
    else if (item->relayed)
        return (struct send_row){0, SEND_KEPT,
                                 "the task leaves through a relay only: name "
                                 "one"};
    else
        hsy_http_post(run->http, upload, item->len, seconds, answer);
    return send_meaning(answer);
}

static enum send_next send_one(struct send_run *run, struct send_list *list,
                               struct send_item *item)
{
    const uint64_t left = (send_left(run) + 999) / 1000;
    const uint32_t most = run->options.answer_seconds;
    struct send_answer answer;
    struct send_row row;

    if (left == 0)
        return SEND_STOP;
    row = send_post(run, list, item, left < most ? (uint32_t)left : most,
                    &answer);
    item->status = answer.status;
    item->settled = row.next == SEND_DONE;
    if (answer.status == 204) {
        run->result->sent++;
        return row.next;
    }
    run->result->status = row.status;
    run->result->why = row.why;
    if (row.next == SEND_DONE)
        run->result->refused++;
    if (answer.retry_after > run->retry_after)
        run->retry_after = answer.retry_after;
    run->again |= row.next == SEND_LATER || answer.again;
    return row.next;
}

/* The relay that was asked for, else that of the document. */
static hsy_status send_open_relay(struct send_run *run, const char *relay,
                                  hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (run->relay != NULL || relay == NULL)
        return HSY_OK;
    st = hsy_http_open(&run->relay, relay, true, &run->options, err);
    if (st == HSY_OK)
        st = hsy_sealed_open(&run->sealed, run->url, run->options.token, err);
    return st;
}

/* Everything that is due, once. */
static hsy_status send_attempt(struct send_run *run, hsy_error *err)
{
    struct send_list list = {.bytes = NULL};
    enum send_next next = SEND_DONE;
    hsy_status st = run->hooks->gather(run->hooks->ctx, &list, err);

    if (st == HSY_OK && list.n != 0)
        st = send_open_relay(
            run, list.way.relay[0] != '\0' ? list.way.relay : NULL, err);

    run->again = false;
    run->retry_after = 0;
    run->result->waiting = list.n;
    run->result->attempts += list.n != 0;
    for (size_t i = 0; st == HSY_OK && next != SEND_STOP && i < list.n; i++) {
        next = send_one(run, &list, &list.items[i]);
        run->result->waiting -= list.items[i].settled;
    }
    if (st == HSY_OK && list.n != 0)
        st = run->hooks->settle(run->hooks->ctx, &list, err);
    hsy_send_clear(&list);
    return st;
}

/* Wait before another attempt; false: there is no time for it. */
static bool send_wait(const struct send_run *run, uint64_t wait)
{
    uint64_t ms = 0;

    if (run->retry_after > UINT32_MAX || send_jitter(&ms, wait) != HSY_OK)
        return false;
    ms += run->retry_after * 1000;
    if (ms >= send_left(run))
        return false;
    send_sleep(ms);
    return true;
}

static hsy_status send_attempts(struct send_run *run, hsy_error *err)
{
    uint64_t wait = run->options.wait_ms;
    hsy_status st = send_attempt(run, err);

    for (uint32_t i = 1; st == HSY_OK && run->again &&
                         i < run->options.attempts && send_wait(run, wait);
         i++) {
        st = send_attempt(run, err);
        wait = wait < SEND_WAIT_MAX_MS / 2 ? 2 * wait : SEND_WAIT_MAX_MS;
    }
    if (run->result->waiting == 0)
        run->result->why = NULL;
    if (st != HSY_OK || run->result->waiting == 0)
        return st;
    return host_fail(err, HSY_E_IO, HSY_FIELD_URL,
                     run->result->why != NULL ? run->result->why
                                              : "there was no time left");
}

/* ---- Options ------------------------------------------------------------- */

static hsy_status send_options(hsy_send_options *to,
                               const hsy_send_options *from, hsy_error *err)
{
    *to = (hsy_send_options){.size = sizeof *to};
    if (from != NULL && from->size != sizeof *from &&
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
        to->seconds = SEND_SECONDS;
    if (to->answer_seconds == 0)
        to->answer_seconds = SEND_ANSWER_SECONDS;
    return HSY_OK;
}

hsy_status hsy_send_all(const struct send_hooks *hooks, const char *url,
                        const hsy_send_options *options,
                        hsy_send_result *result, hsy_error *err)
{
    struct send_run run = {.hooks = hooks, .url = url, .result = result};
    hsy_status st = send_options(&run.options, options, err);

    *result = (hsy_send_result){.sent = 0};
    if (st == HSY_OK)
        st = hsy_http_open(&run.http, url, false, &run.options, err);
    if (st == HSY_OK)
        st = send_open_relay(&run, run.options.relay, err);
    run.deadline = steady_ms() + 1000 * (uint64_t)run.options.seconds;
    if (st == HSY_OK)
        st = send_attempts(&run, err);
    hsy_http_close(run.http);
    hsy_http_close(run.relay);
    hsy_sealed_close(run.sealed);
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
    const struct send_hooks hooks = {send_gather, send_settle, client};
    hsy_send_result unseen;

    return hsy_send_all(&hooks, url, options, result != NULL ? result : &unseen,
                        err);
}

/* ---- The document -------------------------------------------------------- */

static hsy_status send_fetch(struct send_http *http, const hsy_send_options *o,
                             uint8_t **bytes, size_t *len, hsy_error *err)
{
    const uint64_t deadline = steady_ms() + 1000 * (uint64_t)o->seconds;
    struct send_run run = {.options = *o, .deadline = deadline};
    uint64_t wait = o->wait_ms;
    struct send_answer answer;

    *bytes = NULL;
    for (uint32_t i = 0;; i++, wait *= 2) {
        hsy_http_get(http, o->answer_seconds, bytes, len, &answer);
        if (*bytes != NULL)
            return HSY_OK;
        run.retry_after = answer.retry_after;
        if (i + 1 >= o->attempts || wait > SEND_WAIT_MAX_MS ||
            (send_meaning(&answer).next != SEND_LATER && !answer.again) ||
            !send_wait(&run, wait))
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
    struct send_http *http = NULL;
    hsy_send_options o;
    hsy_status st = send_options(&o, options, err);

    o.token = NULL; /* anyone may ask: it would put a name to this address */
    if (st == HSY_OK)
        st = hsy_http_open(&http, url, false, &o, err);
    if (st == HSY_OK)
        st = send_fetch(http, &o, bytes, len, err);
    hsy_http_close(http);
    return st;
}
