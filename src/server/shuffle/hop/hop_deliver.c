/*
 * hop_deliver.c - a mixed batch goes to the next hop: its heads, its envelopes
 * from where the next hop has them, its end; until there is a receipt.
 *
 * Every request can be sent again. What the next hop does not take, or does not
 * answer, waits and is tried again later, longer after each failure; what it
 * refuses for good is for the operators of both, and stays until then.
 */
#define _GNU_SOURCE
#include "server/shuffle/hop/internal.h"

#include "host/base/grow.h"
#include "host/base/host_fail.h"
#include "host/base/steady.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DELIVER_ANSWER                                                         \
    120u                    /* seconds: a batch of a million is opened in one  \
                             */
#define DELIVER_BODY 65536u /* bytes of an answer */
#define DELIVER_FIRST 500u  /* milliseconds after a failure */
#define DELIVER_LAST 60000u /* and after many */
#define DELIVER_REFUSED 600000u /* after a refusal for good */
#define DELIVER_ROUNDS 8u /* times that a batch is begun before it waits */

hsy_status hop_deliver_open(struct hop *h, const char **about, hsy_error *err)
{
    const struct target_options to = {.url = h->options.next,
                                      .path = "/v1/batches",
                                      .type = PARCEL_TYPE,
                                      .ca_file = h->options.next_ca};
    const struct client_options client = {.size = sizeof client,
                                          .target = &h->sender.to,
                                          .connections = 1,
                                          .answer_seconds = DELIVER_ANSWER,
                                          .body_bytes = DELIVER_BODY};
    hsy_status st;

    *about = h->options.next;
    st = target_open(&h->sender.to, &to, err);
    if (st == HSY_OK)
        st = client_open(&h->sender.client, &client, err);
    h->sender.wire = malloc(PARCEL_MAX);
    if (st == HSY_OK && h->sender.wire == NULL)
        st = host_nomem(err);
    return st;
}

void hop_deliver_close(struct hop *h)
{
    client_close(h->sender.client);
    target_close(&h->sender.to);
    free(h->sender.wire);
    free(h->sender.refused);
}

/* ---- One request --------------------------------------------------------- */

/* What became of it. */
enum deliver_step {
    DELIVER_WENT,
    DELIVER_AGAIN, /* begin again: the next hop has something else */
    DELIVER_LATER, /* it is not there, or busy */
    DELIVER_NEVER, /* it refuses */
    DELIVER_STOPS
};

static enum deliver_step deliver_says(unsigned status, bool begins)
{
    if (status == 200)
        return DELIVER_WENT;
    if (!begins && (status == 404 || status == 416))
        return DELIVER_AGAIN; /* it has forgotten, or has other bytes */
    return status >= 500 || status == 429 || status == 408 ? DELIVER_LATER
                                                           : DELIVER_NEVER;
}

/* The status of an answer that is a refusal, in whatever words. */
static void deliver_answered(struct hop *h, unsigned status)
{
    pthread_mutex_lock(&h->lock);
    h->status.answered = status;
    pthread_mutex_unlock(&h->lock);
}

/* Send what is in the wire. */
static enum deliver_step deliver_ask(struct hop *h, size_t len, bool begins,
                                     const struct mixer_parcel *parcel,
                                     struct inbox_answer *out)
{
    struct response r;
    const enum client_outcome outcome =
        client_post(h->sender.client, h->sender.wire, len, &r);
    enum deliver_step step = DELIVER_LATER;

    if (outcome == CLIENT_ANSWERED)
        step = deliver_says(r.head.status, begins);
    else if (outcome == CLIENT_STOPPED)
        step = DELIVER_STOPS;
    if (step == DELIVER_WENT &&
        (!parcel_answer_read(out, response_body(&r), r.head.length) ||
         memcmp(out->id, parcel->id, sizeof out->id) != 0))
        step = DELIVER_NEVER; /* something else answers there */
    pthread_mutex_lock(&h->lock);
    h->status.tries[outcome]++;
    pthread_mutex_unlock(&h->lock);
    if (step == DELIVER_NEVER)
        deliver_answered(h, r.head.status);
    response_clear(&r);
    return step;
}

/* ---- One batch ----------------------------------------------------------- */

static hsy_status deliver_begin(struct hop *h,
                                const struct mixer_parcel *parcel,
                                enum deliver_step *step, struct inbox_answer *a,
                                hsy_error *err)
{
    uint8_t heads[STORE_HEADS];
    const hsy_status st =
        mixer_parcel_read(h->mixer, parcel, heads, 0, parcel->heads, err);

    if (st == HSY_OK)
        *step =
            deliver_ask(h, parcel_begin(h->sender.wire, heads, parcel->heads),
                        true, parcel, a);
    return st;
}

/* The next bytes, or the end if the next hop has all. */
static hsy_status deliver_go_on(struct hop *h,
                                const struct mixer_parcel *parcel,
                                enum deliver_step *step, struct inbox_answer *a,
                                hsy_error *err)
{
    const uint64_t whole = parcel->bytes - parcel->heads;
    const uint64_t at = a->at;
    const size_t n =
        whole - at < INBOX_PIECE ? (size_t)(whole - at) : (size_t)INBOX_PIECE;
    hsy_status st = HSY_OK;
    size_t len;

    if (n != 0)
        st = mixer_parcel_read(h->mixer, parcel, h->sender.wire + PARCEL_BEFORE,
                               parcel->heads + at, n, err);
    if (st != HSY_OK)
        return st;
    len = n != 0 ? parcel_piece(h->sender.wire, parcel->id, at, n, h->secret)
                 : parcel_end(h->sender.wire, parcel->id, h->secret);
    if (len == 0)
        return host_fail(err, HSY_E_ENTROPY, HSY_FIELD_SIGNATURE,
                         "a delivery cannot be signed");
    *step = deliver_ask(h, len, false, parcel, a);
    /* After the end there is nothing more to want. */
    if (*step == DELIVER_WENT && !a->done && (n == 0 || a->at != at + n))
        *step = DELIVER_NEVER;
    return HSY_OK;
}

/* Until there is a receipt, or no sense in going on. */
static hsy_status deliver_parcel(struct hop *h,
                                 const struct mixer_parcel *parcel,
                                 enum deliver_step *step,
                                 struct inbox_answer *a, hsy_error *err)
{
    hsy_status st = HSY_OK;

    *step = DELIVER_AGAIN;
    for (unsigned i = 0;
         st == HSY_OK && *step == DELIVER_AGAIN && i < DELIVER_ROUNDS; i++) {
        st = deliver_begin(h, parcel, step, a, err);
        if (*step == DELIVER_WENT && !a->done &&
            a->at > parcel->bytes - parcel->heads)
            *step = DELIVER_NEVER;
        while (st == HSY_OK && *step == DELIVER_WENT && !a->done)
            st = deliver_go_on(h, parcel, step, a, err);
    }
    return st;
}

/* ---- When ---------------------------------------------------------------- */

static struct hop_refused *deliver_refused(struct hop_sender *s,
                                           const uint8_t *id)
{
    for (size_t i = 0; i < s->nrefused; i++)
        if (s->refused[i].again != 0 &&
            memcmp(s->refused[i].id, id, STORE_BATCH_ID) == 0)
            return &s->refused[i];
    return NULL;
}

/* A place for one more: that of a batch that was taken after all, or a new one.
 * NULL: there is no memory. */
static struct hop_refused *deliver_refused_room(struct hop_sender *s)
{
    for (size_t i = 0; i < s->nrefused; i++)
        if (s->refused[i].again == 0)
            return &s->refused[i];
    if (!grow_to(&s->refused, s->nrefused + 1, sizeof *s->refused))
        return NULL;
    return &s->refused[s->nrefused++];
}

/* The next batch after one (NULL: the first) that may be tried. */
static bool deliver_after(struct hop *h, const uint8_t *after, uint64_t now,
                          struct mixer_parcel *out)
{
    uint8_t id[STORE_BATCH_ID];

    while (mixer_parcel(h->mixer, after, out)) {
        const struct hop_refused *r = deliver_refused(&h->sender, out->id);

        if (r == NULL || now >= r->again)
            return true;
        memcpy(id, out->id, sizeof id);
        after = id;
    }
    return false;
}

/* The one whose turn it is: after one that was to come later, so that it does
 * not keep the others from being tried. */
static bool deliver_next(struct hop *h, struct mixer_parcel *out)
{
    const uint64_t now = steady_ms();

    return now >= h->sender.again &&
           (deliver_after(h, h->sender.last, now, out) ||
            deliver_after(h, NULL, now, out));
}

/* How long nothing has been received, and how much is refused. */
static void deliver_note(struct hop *h, bool failed)
{
    uint64_t refusals = 0;

    for (size_t i = 0; i < h->sender.nrefused; i++)
        refusals += h->sender.refused[i].again != 0;
    pthread_mutex_lock(&h->lock);
    h->status.refusals = refusals;
    if (!failed)
        h->failing = 0;
    else if (h->failing == 0)
        h->failing = steady_ms();
    pthread_mutex_unlock(&h->lock);
}

static void deliver_later(struct hop *h, const struct mixer_parcel *parcel)
{
    struct hop_sender *s = &h->sender;
    uint64_t wait = DELIVER_LAST;

    memcpy(s->last, parcel->id, sizeof s->last);
    if (s->failures < 16 && (uint64_t)DELIVER_FIRST << s->failures < wait)
        wait = (uint64_t)DELIVER_FIRST << s->failures;
    s->again = steady_ms() + wait;
    if (s->failures++ == 0)
        log_event(h->options.log, LOG_NOTE, "next-lost", "%s", "");
}

/* It is remembered, so that it does not stand in the way of the others; what
 * cannot be is as if nobody was there. Whether others may be tried now. */
static bool deliver_never(struct hop *h, const struct mixer_parcel *parcel)
{
    struct hop_sender *s = &h->sender;
    struct hop_refused *r = deliver_refused(s, parcel->id);

    log_event(h->options.log, LOG_ERROR, "batch-refused",
              "entry=%" PRIu32 " envelopes=%" PRIu64 " status=%u",
              parcel->entry, parcel->n, h->status.answered);
    if (r == NULL)
        r = deliver_refused_room(s);
    if (r == NULL) {
        deliver_later(h, parcel);
        return false;
    }
    memcpy(r->id, parcel->id, sizeof r->id);
    r->again = steady_ms() + DELIVER_REFUSED;
    return true;
}

static void deliver_done(struct hop *h, const struct mixer_parcel *parcel)
{
    struct hop_refused *r = deliver_refused(&h->sender, parcel->id);

    if (r != NULL)
        r->again = 0;
    if (h->sender.failures != 0)
        log_event(h->options.log, LOG_NOTE, "next-reached", "%s", "");
    h->sender.failures = 0;
    h->sender.again = 0;
}

void hop_deliver_anew(struct hop *h)
{
    for (size_t i = 0; i < h->sender.nrefused; i++)
        h->sender.refused[i].again = 0;
    h->sender.again = 0;
}

hsy_status hop_deliver(struct hop *h, bool *more, hsy_error *err)
{
    struct inbox_answer a = {.done = false};
    struct mixer_parcel parcel;
    enum deliver_step step;
    hsy_status st;

    *more = deliver_next(h, &parcel);
    if (!*more)
        return HSY_OK;
    st = deliver_parcel(h, &parcel, &step, &a, err);
    if (st == HSY_OK && step == DELIVER_WENT)
        st = mixer_acked(h->mixer, parcel.id, a.receipt, err);
    if (st == HSY_E_REFUSED) { /* a receipt that somebody else has signed */
        step = DELIVER_NEVER;
        deliver_answered(h, 200);
    } else if (st != HSY_OK) {
        return st;
    }
    *more = step == DELIVER_WENT;
    if (step == DELIVER_WENT)
        deliver_done(h, &parcel);
    else if (step == DELIVER_NEVER)
        *more = deliver_never(h, &parcel);
    else if (step != DELIVER_STOPS)
        deliver_later(h, &parcel);
    deliver_note(h, step != DELIVER_WENT);
    return HSY_OK;
}
