/*
 * hop_take.c - batches of the hop before: requests wait in a line, and a thread
 * of its own takes them, so that neither a long batch nor a slow disk holds up
 * a listener.
 *
 * Who sends waits for an answer as long as it likes, and asks again: a batch
 * that is here gets the same receipt each time. Strangers may fill the line, as
 * a signature is looked at by the taker only. So the last places are for
 * connections on which the part before was signed by the hop that it is of.
 */
#include "server/shuffle/hop/internal.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const hop_refusals[HOP_REFUSALS] = {
    [HOP_UNKNOWN] = "unknown",   [HOP_MALFORMED] = "malformed",
    [HOP_STRANGER] = "stranger", [HOP_OTHER] = "another",
    [HOP_WRONG] = "wrong",       [HOP_PLACE] = "place",
    [HOP_LATER] = "later"};

/* ---- What an inbox asks -------------------------------------------------- */

static bool take_find(void *ctx, const struct batch_head *head,
                      struct inbox_task *out)
{
    struct hop *h = ctx;
    struct hops_keys keys;
    bool found;

    (void)hop_keys(h, &keys);
    found = hops_find(h->roster, &keys, !h->shuffles, head, out);
    bytes_wipe(&keys, sizeof keys);
    return found;
}

static hsy_status take_open(void *ctx, const struct inbox_task *task,
                            uint8_t *item, bool *null, const uint8_t *envelope)
{
    struct hop *h = ctx;
    struct hops_keys keys;
    hsy_status st = hop_keys(h, &keys);

    if (st == HSY_OK)
        st = hops_open(h->roster, &keys, task, h->day, item, null, envelope);
    bytes_wipe(&keys, sizeof keys);
    return st;
}

static hsy_status take_here(void *ctx, const struct batch_head *head,
                            bool *here, hsy_error *err)
{
    struct counting *counting = ((struct hop *)ctx)->options.counting;
    struct store_received row;
    const hsy_status st =
        counting->ops->received(counting, head->id, &row, err);

    *here = st == HSY_OK;
    if (st == HSY_OK &&
        memcmp(row.digest, head->digest, sizeof row.digest) != 0)
        return host_fail(err, HSY_E_MISMATCH, HOST_FIELD_BATCH,
                         "another batch of this id is here");
    return st == HSY_E_EMPTY ? HSY_OK : st;
}

/* Tell the mixer of what is durable now; one that is not told, for want of
 * memory, finds it at the next start. */
static void take_came(struct hop *h, const struct store_mix *row)
{
    struct hop_came *c = malloc(sizeof *c);

    if (c == NULL)
        return;
    c->row = *row;
    pthread_mutex_lock(&h->lock);
    c->next = h->came;
    h->came = c;
    pthread_cond_signal(&h->mixer_wakes);
    pthread_mutex_unlock(&h->lock);
}

static hsy_status take_take(void *ctx, struct engine_delivery *d,
                            hsy_error *err)
{
    struct hop *h = ctx;
    struct counting *counting = h->options.counting;
    const hsy_status st = counting->ops->receive(counting, d, err);

    if (st == HSY_OK && !d->known) {
        log_event(h->options.log, LOG_NOTE, "batch-taken",
                  "epoch=%" PRIu32 " taken=%" PRIu64 " nulls=%" PRIu64
                  " unopened=%" PRIu64 " again=%" PRIu64,
                  d->epoch, d->taken, d->nulls, d->unopened, d->again);
        pthread_mutex_lock(&h->lock);
        h->status.taken++;
        pthread_mutex_unlock(&h->lock);
        if (d->mix != NULL)
            take_came(h, d->mix);
    }
    return st;
}

hsy_status hop_take_open(struct hop *h, hsy_error *err)
{
    struct inbox_options o = {.size = sizeof o,
                              .directory = h->options.directory,
                              .find = take_find,
                              .open = take_open,
                              .here = take_here,
                              .take = take_take,
                              .ctx = h};
    hsy_status st;

    memcpy(o.secret, h->secret, sizeof o.secret);
    st = inbox_open(&h->inbox, &o, err);
    bytes_wipe(&o, sizeof o);
    return st;
}

/* ---- Answers ------------------------------------------------------------- */

static const struct take_problem {
    hsy_status st;
    int status;
    enum hop_refusal why;
    const char *title;
} take_problems[] = {
    {HSY_E_FORMAT, 400, HOP_MALFORMED, "malformed"},
    {HSY_E_VERSION, 400, HOP_MALFORMED, "of a newer program"},
    {HSY_E_SIGNATURE, 403, HOP_STRANGER, "not signed by the hop before"},
    {HSY_E_UNKNOWN, 404, HOP_UNKNOWN, "no such task"},
    {HSY_E_EMPTY, 404, HOP_UNKNOWN, "no such batch was begun"},
    {HSY_E_MISMATCH, 409, HOP_OTHER, "not as it was, or of another place"},
    {HSY_E_REFUSED, 422, HOP_WRONG, "the batch is not taken"},
    {HSY_E_RANGE, 416, HOP_PLACE, "not the next bytes"},
    {HSY_E_OVERFLOW, 422, HOP_WRONG, "too many reports"},
};

static void take_refuse(struct hop *h, struct request *q, const hsy_error *err)
{
    static const struct take_problem later = {HSY_E_BUSY, 503, HOP_LATER,
                                              "try again later"};
    const struct take_problem *p = &later;
    enum hop_refusal why;

    for (size_t i = 0; i < sizeof take_problems / sizeof *take_problems; i++)
        if (take_problems[i].st == err->status)
            p = &take_problems[i];
    why = err->field == HSY_FIELD_SIGNATURE ? HOP_STRANGER : p->why;
    pthread_mutex_lock(&h->lock);
    h->status.refused[why]++;
    pthread_mutex_unlock(&h->lock);
    /* What the hop before has signed; strangers write no lines here. */
    if (why == HOP_OTHER || why == HOP_WRONG)
        log_failure(h->options.log, "batch-not-taken", err);
    if (p->status == 503)
        request_set(q, "Retry-After", "5");
    request_problem(q, p->status, p->title, "%s",
                    err->msg != NULL ? err->msg : "");
}

static void take_one(struct hop *h, struct request *q)
{
    uint8_t *wire = request_memory(q, PARCEL_ANSWER);
    struct engine_status is;
    struct inbox_answer answer;
    hsy_error err = {.status = HSY_E_NOMEM};
    const uint8_t *body;
    size_t len;

    body = request_body(q, &len);
    h->roster = engine_roster(h->options.counting->view);
    engine_status(h->options.counting->view, &is);
    h->day = is.day;
    if (wire != NULL && h->roster != NULL)
        err.status = parcel_take(h->inbox, body, len, &answer, &err);
    if (err.status == HSY_OK || err.status == HSY_E_SIGNATURE ||
        err.field == HSY_FIELD_SIGNATURE)
        request_trust(q, err.status == HSY_OK);
    if (err.status != HSY_OK) {
        take_refuse(h, q, &err);
    } else {
        parcel_answer_write(wire, &answer);
        request_answer(q, 200, PARCEL_TYPE, wire, PARCEL_ANSWER, NULL);
    }
    roster_drop(h->roster);
    h->roster = NULL;
}

/* ---- The line ------------------------------------------------------------ */

void hop_take(struct hop *h, struct request *q)
{
    const size_t places =
        request_trusted(q) ? HOP_WAITING : HOP_WAITING - HOP_RESERVED;
    bool room;

    pthread_mutex_lock(&h->lock);
    room = !h->stopping && h->nwaiting < places;
    if (room) {
        h->waiting[(h->first + h->nwaiting++) % HOP_WAITING] = q;
        pthread_cond_signal(&h->taker_wakes);
    }
    pthread_mutex_unlock(&h->lock);
    if (!room)
        take_refuse(h, q, &(hsy_error){.status = HSY_E_BUSY});
}

/* The next, or NULL if it is to stop. */
static struct request *take_next(struct hop *h)
{
    struct request *q = NULL;

    pthread_mutex_lock(&h->lock);
    while (h->nwaiting == 0 && !h->stopping)
        pthread_cond_wait(&h->taker_wakes, &h->lock);
    if (!h->stopping) {
        q = h->waiting[h->first];
        h->first = (h->first + 1) % HOP_WAITING;
        h->nwaiting--;
    }
    pthread_mutex_unlock(&h->lock);
    return q;
}

void *hop_take_main(void *ctx)
{
    struct hop *h = ctx;
    struct request *q;

    while ((q = take_next(h)) != NULL)
        take_one(h, q);
    return NULL;
}

void hop_take_none(struct hop *h)
{
    for (; h->nwaiting != 0; h->nwaiting--) {
        take_refuse(h, h->waiting[h->first],
                    &(hsy_error){.status = HSY_E_BUSY});
        h->first = (h->first + 1) % HOP_WAITING;
    }
}
