/*
 * fleet_http.c - many requests at once over kept connections, by libcurl.
 *
 * A request is filled with uploads, sent, and filled again when its answer has
 * been read; no answer, and an answer that asks for a later try, sends the same
 * bytes again. Devices are made while requests are on their way.
 *
 * Through a relay a request holds one upload, sealed for the gateway anew each
 * time it is sent; only what the gateway says inside is an answer.
 */
#include "sim/fleet/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HTTP_TIMEOUT 60L
#define HTTP_URL_MAX 4096u
#define HTTP_ANSWER_MAX (1u << 20)
#define HTTP_BACKOFF 0.05 /* seconds before the second attempt; it doubles */

/* An upload of a request. */
struct http_upload {
    uint16_t task;
    bool report;
    uint32_t epoch;
};

enum http_state { HTTP_IDLE, HTTP_FILLING, HTTP_SENT, HTTP_WAITING };

struct http_request {
    enum http_state state;
    CURL *easy;
    struct send_sealed *sealed; /* NULL: it goes to the collector itself */
    uint32_t turn;              /* which of the gateway's keys */
    uint8_t *bytes;             /* of the uploads */
    size_t len, room;
    struct http_upload *uploads;
    size_t n;
    bool copy; /* an earlier request has the same bytes */
    uint32_t attempt;
    double due; /* when it may be sent again */
    uint8_t *answer;
    size_t answer_len, answer_room;
};

struct fleet_http {
    struct fleet *f;
    struct fleet_result *result;
    const struct curl_functions *use;
    CURLM *multi;
    struct curl_slist *headers;
    char url[HTTP_URL_MAX];
    struct http_request *requests; /* as many as connections */
    size_t n, busy;
    struct http_request *filling; /* NULL: none */
    double start;
    const char *broken; /* why nothing can be sent; NULL: it can */
};

/* ---- Opening ------------------------------------------------------------- */

static size_t fleet_http_read(char *bytes, size_t one, size_t n, void *ctx)
{
    struct http_request *r = ctx;
    const size_t len = one * n;

    if (len > HTTP_ANSWER_MAX - r->answer_len ||
        !grow_room(&r->answer, &r->answer_room, r->answer_len + len, 1))
        return 0;
    memcpy(r->answer + r->answer_len, bytes, len);
    r->answer_len += len;
    return len;
}

static bool fleet_http_setup(struct fleet_http *h, struct http_request *r)
{
    const struct fleet_options *o = &h->f->o;
    CURL *c = r->easy = h->use->easy_init();

    r->uploads = calloc(o->batch, sizeof *r->uploads);
    return c != NULL && r->uploads != NULL &&
           h->use->easy_setopt(c, CURLOPT_URL, h->url) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_HTTPHEADER, h->headers) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") ==
               CURLE_OK &&
           (o->ca_file == NULL ||
            h->use->easy_setopt(c, CURLOPT_CAINFO, o->ca_file) == CURLE_OK) &&
           h->use->easy_setopt(c, CURLOPT_HTTP_VERSION,
                               (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_TIMEOUT, HTTP_TIMEOUT) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_PRIVATE, r) == CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_WRITEFUNCTION, fleet_http_read) ==
               CURLE_OK &&
           h->use->easy_setopt(c, CURLOPT_WRITEDATA, r) == CURLE_OK;
}

static bool fleet_http_header(struct fleet_http *h, const char *line)
{
    struct curl_slist *more = h->use->slist_append(h->headers, line);

    h->headers = more != NULL ? more : h->headers;
    return more != NULL;
}

static bool fleet_http_headers(struct fleet_http *h)
{
    static const char *const lines[] = {"Expect:", "Accept:"};
    const bool relay = h->f->relay != NULL;
    char token[1100];
    bool good =
        fleet_http_header(h, relay ? "Content-Type: message/ohttp-req"
                                   : "Content-Type: application/octet-stream");

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        good = good && fleet_http_header(h, lines[i]);
    if (h->f->o.token == NULL || relay) /* then it goes inside */
        return good;
    snprintf(token, sizeof token, "Authorization: Bearer %s", h->f->o.token);
    return good && fleet_http_header(h, token);
}

static void fleet_http_address(struct fleet_http *h)
{
    const char *url = h->f->o.url;
    size_t len = strlen(url);

    if (h->f->relay != NULL) {
        snprintf(h->url, sizeof h->url, "%s", h->f->relay);
        return;
    }
    while (len > 0 && url[len - 1] == '/')
        len--;
    snprintf(h->url, sizeof h->url, "%.*s/v1/uploads", (int)len, url);
}

/* As many requests as connections. */
static hsy_status fleet_http_requests(struct fleet_http *h, hsy_error *err)
{
    const struct fleet_options *o = &h->f->o;
    hsy_status st = HSY_OK;

    h->requests = calloc(o->connections, sizeof *h->requests);
    if (h->requests == NULL)
        return host_nomem(err);
    while (st == HSY_OK && h->n < o->connections) {
        struct http_request *r = &h->requests[h->n++];

        if (!fleet_http_setup(h, r))
            return host_nomem(err);
        if (h->f->relay != NULL)
            st = hsy_sealed_open(&r->sealed, o->url, o->token, err);
    }
    return st;
}

hsy_status fleet_http_open(struct fleet_http **out, struct fleet *f,
                           struct fleet_result *result, hsy_error *err)
{
    struct fleet_http *h = calloc(1, sizeof *h);
    hsy_status st;

    if (h == NULL)
        return host_nomem(err);
    *out = h;
    h->f = f;
    h->result = result;
    h->start = fleet_clock();
    fleet_http_address(h);
    st = hsy_http_curl(&h->use, err);
    if (st != HSY_OK)
        return st;
    h->multi = h->use->multi_init();
    if (h->multi == NULL || !fleet_http_headers(h))
        return host_nomem(err);
    h->use->multi_setopt(h->multi, CURLMOPT_MAXCONNECTS,
                         (long)f->o.connections);
    return fleet_http_requests(h, err);
}

void fleet_http_close(struct fleet_http *h)
{
    if (h == NULL)
        return;
    for (size_t i = 0; i < h->n; i++) {
        struct http_request *r = &h->requests[i];

        if (r->state == HTTP_SENT)
            h->use->multi_remove_handle(h->multi, r->easy);
        h->use->easy_cleanup(r->easy);
        hsy_sealed_close(r->sealed);
        free(r->bytes);
        free(r->uploads);
        free(r->answer);
    }
    free(h->requests);
    if (h->use != NULL) {
        h->use->multi_cleanup(h->multi);
        h->use->slist_free_all(h->headers);
    }
    free(h);
}

/* ---- Answers ------------------------------------------------------------- */

void fleet_refused(struct fleet_result *r, uint32_t status, uint64_t uploads)
{
    struct fleet_status *s = r->statuses;
    size_t i = 0;

    if (uploads == 0)
        return;
    while (i + 1 < FLEET_STATUSES && s[i].uploads != 0 && s[i].status != status)
        i++;
    s[i].status = status;
    s[i].uploads += uploads;
    r->refused += uploads;
}

static void fleet_http_count_day(struct fleet_task *t, uint32_t epoch,
                                 bool report)
{
    if (epoch < t->first_day || epoch - t->first_day >= t->ndays)
        return;
    t->days[epoch - t->first_day].reports += report;
    t->days[epoch - t->first_day].nulls += !report;
}

/* What became of upload i: acknowledged, unless a status says otherwise. A copy
 * is counted with the one it is of. */
static void fleet_http_count(struct fleet_http *h, const struct http_request *r,
                             size_t i, uint32_t status)
{
    const struct http_upload *u = &r->uploads[i];
    struct fleet_task *t = &h->f->tasks[u->task];

    if (r->copy)
        return;
    if (status != 0) {
        t->refused++;
        fleet_refused(h->result, status, 1);
        return;
    }
    h->result->acknowledged++;
    t->reports += u->report;
    t->nulls += !u->report;
    fleet_http_count_day(t, u->epoch, u->report);
}

/* The list of what was refused in an answer; NULL: there is none. */
static json_t *fleet_http_list(const struct http_request *r)
{
    json_t *root = json_loadb((const char *)r->answer, r->answer_len, 0, NULL);
    json_t *list = json_incref(json_object_get(root, "refused"));

    json_decref(root);
    return list;
}

/* The status that upload i was refused with, 0 if it was not. */
static uint32_t fleet_http_status_of(const json_t *list, size_t i)
{
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *item = json_array_get(list, k);

        if (json_integer_value(json_object_get(item, "upload")) ==
            (json_int_t)i + 1)
            return (uint32_t)json_integer_value(
                json_object_get(item, "status"));
    }
    return 0;
}

/* 429 is another matter than for a device: a quota is full until its day is
 * over, and nobody waits for that here. */
static bool fleet_http_later(uint32_t status)
{
    return status == 0 || status == 408 || status >= 500;
}

/* Whether a list asks for a later try of anything in it. */
static bool fleet_http_list_later(const json_t *list)
{
    for (size_t k = 0; k < json_array_size(list); k++)
        if (fleet_http_later((uint32_t)json_integer_value(
                json_object_get(json_array_get(list, k), "status"))))
            return true;
    return false;
}

static void fleet_http_settle(struct fleet_http *h, struct http_request *r,
                              uint32_t status, const json_t *list)
{
    for (size_t i = 0; i < r->n; i++)
        fleet_http_count(h, r, i,
                         status == 204   ? 0
                         : status == 200 ? fleet_http_status_of(list, i)
                                         : status);
    r->state = HTTP_IDLE;
    h->busy--;
}

/* Later, or never: this was the last attempt. broken: why nobody can be
 * reached, NULL if somebody asked for a later try. */
static void fleet_http_again(struct fleet_http *h, struct http_request *r,
                             uint64_t after, const char *broken)
{
    if (++r->attempt < h->f->o.attempts) {
        r->due = fleet_clock() + (double)after +
                 HTTP_BACKOFF * (double)((uint64_t)1 << r->attempt % 16);
        r->state = HTTP_WAITING;
        h->result->tried_again++;
        return;
    }
    h->broken = broken != NULL ? broken : h->broken;
    h->result->given_up += r->copy ? 0 : r->n;
    r->state = HTTP_IDLE;
    h->busy--;
}

/* What the gateway has answered inside. What came in clear is tried again where
 * that may help, and else ends it all: no other upload would fare better. */
static void fleet_http_opened(struct fleet_http *h, struct http_request *r,
                              const struct send_answer *outer)
{
    const bool busy = outer->status >= 500 || outer->status == 429;
    struct send_answer a;

    hsy_sealed_answer(r->sealed, &h->f->way, outer, &a);
    if (a.status == 0 && !a.again)
        h->broken = a.why;
    if (outer->status == 400) /* for good: what is not known stays so */
        r->turn++;
    if (fleet_http_later(a.status) || a.status == 200)
        fleet_http_again(h, r, a.retry_after,
                         a.status == 0 && !busy ? a.why : NULL);
    else
        fleet_http_settle(h, r, a.status, NULL);
}

static void fleet_http_done(struct fleet_http *h, struct http_request *r,
                            CURLcode code)
{
    struct send_answer a;
    json_t *list = NULL;

    h->use->multi_remove_handle(h->multi, r->easy);
    hsy_http_answer(h->use, r->easy, code, r->sealed != NULL, r->answer,
                    r->answer_len, &a);
    if (r->sealed != NULL) {
        fleet_http_opened(h, r, &a);
        return;
    }
    if (a.status == 200)
        list = fleet_http_list(r);
    if (fleet_http_later(a.status) || fleet_http_list_later(list) ||
        (a.status == 200 && list == NULL))
        fleet_http_again(h, r, a.retry_after,
                         a.status == 0 ? "the collector cannot be reached, or "
                                         "does not answer"
                                       : NULL);
    else
        fleet_http_settle(h, r, a.status, list);
    json_decref(list);
}

/* ---- Requests ------------------------------------------------------------ */

static void fleet_http_send(struct fleet_http *h, struct http_request *r)
{
    const uint8_t *bytes = r->bytes;
    size_t len = r->len;

    if (r->sealed != NULL) {
        h->broken = hsy_sealed_request(r->sealed, &h->f->way, r->turn, r->bytes,
                                       r->len, &bytes, &len);
        if (h->broken != NULL)
            return; /* which is the end */
    }
    r->answer_len = 0;
    r->state = HTTP_SENT;
    h->use->easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
    h->use->easy_setopt(r->easy, CURLOPT_POSTFIELDS, bytes);
    h->use->multi_add_handle(h->multi, r->easy);
    h->result->requests++;
}

/* Let the network move on; wait up to so many milliseconds for it. */
static hsy_status fleet_http_pump(struct fleet_http *h, int wait,
                                  hsy_error *err)
{
    const CURLMsg *msg;
    int running, left;

    for (size_t i = 0; h->broken == NULL && i < h->n; i++)
        if (h->requests[i].state == HTTP_WAITING &&
            h->requests[i].due <= fleet_clock())
            fleet_http_send(h, &h->requests[i]);
    if (wait != 0)
        h->use->multi_poll(h->multi, NULL, 0, wait, NULL);
    h->use->multi_perform(h->multi, &running);
    while ((msg = h->use->multi_info_read(h->multi, &left)) != NULL) {
        char *r = NULL;
        const CURLcode code = msg->data.result;

        h->use->easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &r);
        fleet_http_done(h, (struct http_request *)(void *)r, code);
    }
    return h->broken == NULL
               ? HSY_OK
               : host_fail(err, HSY_E_IO, HSY_FIELD_URL, h->broken);
}

/* A request that is idle; waits for one. */
static hsy_status fleet_http_idle(struct fleet_http *h,
                                  struct http_request **out, hsy_error *err)
{
    hsy_status st = HSY_OK;

    while (st == HSY_OK && h->busy == h->n)
        st = fleet_http_pump(h, 20, err);
    for (size_t i = 0; st == HSY_OK && i < h->n; i++)
        if (h->requests[i].state == HTTP_IDLE) {
            *out = &h->requests[i];
            (*out)->state = HTTP_FILLING;
            (*out)->len = (*out)->n = 0;
            (*out)->attempt = 0;
            (*out)->copy = false;
            h->busy++;
            return HSY_OK;
        }
    return st;
}

/* Not more requests a second than was said. */
static hsy_status fleet_http_pace(struct fleet_http *h, hsy_error *err)
{
    const double rate = h->f->o.rate;
    hsy_status st = fleet_http_pump(h, 0, err);

    while (st == HSY_OK && rate > 0 &&
           (double)h->result->requests > (fleet_clock() - h->start) * rate)
        st = fleet_http_pump(h, 1, err);
    return st;
}

static hsy_status fleet_http_copy(struct fleet_http *h,
                                  const struct http_request *of, hsy_error *err)
{
    const size_t len = of->len;
    struct http_request *r = NULL;
    hsy_status st = fleet_http_idle(h, &r, err);

    if (st != HSY_OK)
        return st;
    if (!grow_room(&r->bytes, &r->room, len, 1))
        return host_nomem(err);
    memcpy(r->bytes, of->bytes, len);
    r->len = len;
    r->n = of->n;
    r->copy = true;
    memcpy(r->uploads, of->uploads, of->n * sizeof *r->uploads);
    st = fleet_http_pace(h, err);
    if (st == HSY_OK) {
        fleet_http_send(h, r);
        h->result->repeated++;
    }
    return st;
}

/* Its copies first: whichever comes first is counted. The request itself stays
 * FILLING until they are under way, so that nobody else takes it. */
static hsy_status fleet_http_submit(struct fleet_http *h, hsy_error *err)
{
    struct http_request *r = h->filling;
    hsy_status st = HSY_OK;

    h->filling = NULL;
    for (uint32_t i = 1; st == HSY_OK && i < h->f->o.repeat; i++)
        st = fleet_http_copy(h, r, err);
    if (st == HSY_OK)
        st = fleet_http_pace(h, err);
    if (st == HSY_OK)
        fleet_http_send(h, r);
    return st;
}

hsy_status fleet_http_take(void *http, const struct fleet_upload *upload,
                           hsy_error *err)
{
    struct fleet_http *h = http;
    struct http_request *r;
    hsy_status st = HSY_OK;

    if (h->f->relay == NULL && h->f->tasks[upload->task].relayed)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_RELAY,
                         "the task leaves through a relay only: name one");
    if (h->filling == NULL)
        st = fleet_http_idle(h, &h->filling, err);
    if (st != HSY_OK)
        return st;
    r = h->filling;
    if (!grow_room(&r->bytes, &r->room, r->len + upload->len, 1))
        return host_nomem(err);
    memcpy(r->bytes + r->len, upload->bytes, upload->len);
    r->len += upload->len;
    r->uploads[r->n++] = (struct http_upload){
        (uint16_t)upload->task, upload->report, upload->head.epoch};
    return r->n == h->f->o.batch ? fleet_http_submit(h, err) : HSY_OK;
}

hsy_status fleet_http_finish(struct fleet_http *h, hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (h->filling != NULL && h->filling->n != 0)
        st = fleet_http_submit(h, err);
    while (st == HSY_OK && h->busy != 0)
        st = fleet_http_pump(h, 20, err);
    return st;
}
