/*
 * outbox.c - uploads: every round the same number, whatever happened in it.
 *
 * Each place of a round gives one upload after the round's end and a delay of
 * its own: the report that was stored there, or a null one. Which rounds are
 * handed out depends on the day, on when the release was admitted and on what
 * has been sent, never on whether there was an answer. Upload n of a release
 * has one id for ever and, once it was shown, one time, both keyed: a retry has
 * the same bytes, its epoch among them, and a collector counts it once. Of all
 * that are due the smallest id goes first: the order tells nothing.
 */
#include "lib/bits/bytes.h"
#include "lib/core/fail.h"
#include "lib/device/internal.h"
#include "lib/scheme/scheme.h"

#include <string.h>

/* One upload, and its release. */
struct outbox_item {
    const hsy_release *r;
    uint32_t record;
    struct device_round *kept;  /* where the round stands, or another one */
    struct device_shown *shown; /* likewise */
    struct device_shown plan;   /* what its time follows from */
    struct device_upload u;
};

/* Whether anything is kept of the round. */
static bool outbox_kept(const struct outbox_item *item)
{
    return item->kept->number == item->u.round + 1;
}

/* Where the place's report stands. */
static uint8_t *outbox_bytes(const hsy_device *dev,
                             const struct outbox_item *item)
{
    const size_t i = item->u.place - release_place(item->r);

    return device_reports(dev, item->record, item->kept) +
           i * dev->records[item->record].report_bytes;
}

/* Whether the place has gone out. */
static bool outbox_gone(const struct outbox_item *item)
{
    return outbox_kept(item) && (item->kept->sent >> item->u.place & 1) != 0;
}

/* The stored report, or NULL: none was made, or by another scheme or under
 * another promise, or it is no longer there. */
static uint8_t *outbox_report(const hsy_device *dev,
                              const struct outbox_item *item)
{
    const uint64_t promise =
        item->kept->scheme ^ bytes_get64(item->r->report_digest);

    if (!outbox_kept(item) || (item->kept->held >> item->u.place & 1) == 0 ||
        !device_promise_holds(promise, hsy_shuffled_promise(dev, item->r)))
        return NULL;
    return outbox_bytes(dev, item);
}

/* Returns true if there is a report that was given under another promise (or by
 * another scheme): a null upload leaves in its place. */
static bool outbox_withheld(const hsy_device *dev,
                            const struct outbox_item *item)
{
    return outbox_kept(item) && (item->kept->held >> item->u.place & 1) != 0 &&
           outbox_report(dev, item) == NULL;
}

static uint64_t outbox_number(const struct outbox_item *item)
{
    return item->u.round * item->r->task.sends + item->u.place;
}

/* ---- Time ---------------------------------------------------------------- */

/* Find where the round stands, and what its times follow from: as it was shown,
 * else as the document has it now. */
static void outbox_plan(const hsy_device *dev, struct outbox_item *item)
{
    struct device_record *rec = &dev->records[item->record];
    const hsy_release *r = item->r;
    const uint64_t number = item->u.round + release_place(r),
                   end = r->task.start + (item->u.round + 1) * r->round_days;

    item->kept = &rec->rounds[item->u.round % rec->window];
    item->shown = &rec->shown[number % rec->window];
    item->plan = (struct device_shown){
        .key = (uint64_t)r->task.release << 32 | (number + 1),
        .end = end < r->task.end ? (uint32_t)end : r->task.end,
        .delay = r->task.delay_seconds,
    };
    if (item->shown->key == item->plan.key)
        item->plan = *item->shown;
}

static hsy_status outbox_due(const hsy_device *dev, struct outbox_item *item)
{
    const uint64_t most = item->plan.delay;
    struct device_draw draw;
    uint64_t delay = 0;
    hsy_status st;

    item->u.due = (uint64_t)item->plan.end * DEVICE_DAY;
    if (most == 0)
        return HSY_OK;
    st = hsy_device_draw(dev, &draw, DEVICE_PURPOSE_DELAY, item->r,
                         item->r->digest, outbox_number(item), 0);
    if (st == HSY_OK)
        st = hsy_prob_below(&delay, most, hsy_prob_excess(most),
                            &draw.coins.secret);
    hsy_device_drawn(&draw);
    item->u.due += delay;
    return st;
}

/* Published coins of an upload: its id, then what a null one is filled with. */
static hsy_status outbox_draw(const hsy_device *dev, struct device_draw *draw,
                              struct outbox_item *item)
{
    static const char prefix[] = DEVICE_PURPOSE_UPLOAD;
    char purpose[sizeof prefix + HSY_TASK_ID];
    hsy_status st;

    memcpy(purpose, prefix, sizeof prefix - 1);
    memcpy(purpose + sizeof prefix - 1, item->r->task.id, HSY_TASK_ID + 1);
    st = hsy_device_draw(dev, draw, purpose, item->r, item->r->report_digest,
                         outbox_number(item), item->r->task.release);
    if (st == HSY_OK)
        st = draw->coins.published.fill(draw->coins.published.ctx, item->u.id,
                                        DEVICE_ID);
    return st;
}

static hsy_status outbox_id(const hsy_device *dev, struct outbox_item *item)
{
    struct device_draw draw;
    hsy_status st = outbox_draw(dev, &draw, item);

    hsy_device_drawn(&draw);
    return st;
}

/* ---- The log ------------------------------------------------------------- */

/* To be logged once all is durable. */
static void outbox_note(hsy_device *dev, uint32_t kind,
                        const struct outbox_item *item, uint32_t day,
                        const uint8_t *bytes, size_t len)
{
    hsy_log_entry e = hsy_device_entry(kind, item->r, day);

    e.round = item->u.round;
    e.slot = item->u.round / item->r->rounds;
    e.u.upload.bytes = bytes;
    e.u.upload.len = len;
    hsy_device_note(dev, &e);
}

/* ---- All uploads that are due -------------------------------------------- */

/* A walk through all releases, and through the places of all rounds that are
 * kept of the one at hand. */
struct outbox_walk {
    hsy_device *dev;
    const hsy_release *const *releases;
    size_t n, i; /* releases, and the next one */
    uint64_t now;
    uint32_t day;
    uint64_t end; /* of the rounds of this release */
    bool open;    /* a round has to be closed */
    struct outbox_item item;
};

/* Goes back to before the first release. */
static void outbox_rewind(struct outbox_walk *w)
{
    w->i = 0;
    for (uint32_t i = 0; i < w->dev->nrecords; i++)
        w->dev->records[i].listed = 0;
}

/* Goes on to the next release that has begun. False at the end. Two tasks may
 * be one release under two names: the first listed sends. Of a search every
 * stage does. */
static bool outbox_release(struct outbox_walk *w)
{
    while (w->i < w->n) {
        const hsy_release *r = w->releases[w->i++];
        const uint64_t bit = (uint64_t)1 << release_place(r);
        const uint32_t record = hsy_device_find(w->dev, r);
        struct device_record *rec = &w->dev->records[record];

        if (record == w->dev->nrecords || (rec->listed & bit) != 0)
            continue;
        rec->listed |= bit;
        if (rec->closed != 0 || w->day < r->task.start)
            continue;
        w->item = (struct outbox_item){.r = r, .record = record};
        return true;
    }
    return false;
}

/* Goes to the release's first place; its rounds are from the window's first, or
 * that of its admission, to the last that has ended. */
static void outbox_enter(struct outbox_walk *w)
{
    const hsy_release *r = w->item.r;
    const struct device_record *rec = &w->dev->records[w->item.record];
    const uint64_t today = hsy_release_round(r, w->day),
                   last = hsy_release_round(r, r->task.end - 1);

    w->end = (today < last ? today : last) + 1;
    w->item.u.round = today >= rec->window ? today - rec->window + 1 : 0;
    if (w->item.u.round < rec->first)
        w->item.u.round = rec->first;
    if (w->item.u.round < hsy_device_resumes(rec, r))
        w->item.u.round = hsy_device_resumes(rec, r);
    w->item.u.place = release_place(r);
}

/* Goes on to the release's next place that can still be sent and whose round
 * has ended. False at the end. */
static bool outbox_step(struct outbox_walk *w)
{
    const hsy_release *r = w->item.r;

    for (; w->item.u.round < w->end; w->item.u.round++) {
        outbox_plan(w->dev, &w->item);
        if (w->item.u.place < release_place(r) + r->task.sends &&
            (uint64_t)w->item.plan.end * DEVICE_DAY <= w->now)
            return true;
        w->item.u.place = release_place(r);
    }
    return false;
}

static hsy_status outbox_start(struct outbox_walk *w, hsy_device *dev,
                               const hsy_release *const *releases, size_t n,
                               hsy_error *err)
{
    hsy_status st = hsy_device_ready(dev, err);

    *w = (struct outbox_walk){.dev = dev, .releases = releases, .n = n};
    if (st == HSY_OK)
        st = hsy_device_today(dev, &w->day, &w->now, err);
    if (st == HSY_OK)
        outbox_rewind(w);
    return st;
}

/* Later than this an upload is not sent at all. */
static bool outbox_too_late(const struct outbox_walk *w)
{
    return w->day > w->item.u.due / DEVICE_DAY + w->item.r->task.grace_days;
}

/* ---- Closing ------------------------------------------------------------- */

/*
 * When a round ends follows from the clock and from the document, and both may
 * move. So before anything is shown all rounds that have ended are closed, and
 * that is durable: one that sends a sample of its answers takes no more, or
 * another sample could be shown later; and what the times of its uploads follow
 * from is written down.
 *
 * Claim: no report is shown under two epochs, as long as its task's release
 * does not go back. What is shown has its plan written down under release and
 * round, and while that stands the epoch follows from it, from the device's key
 * and from the upload's number, which no document changes. It stands until a
 * round `window` or more away takes its place. If that is a later one, this one
 * is not sent any more, unless the clock ran ahead and comes back: then it is
 * found shown, its plan is lost, and its report is dropped. (Null uploads have
 * no such mark and may get another epoch by this; so may stages of a search
 * that are listed together and lie `window` or more apart.)
 */

/* Returns true if a round has to be closed; closes it unless only_look. */
static bool outbox_close_round(hsy_device *dev, const struct outbox_item *item,
                               uint32_t day, bool only_look)
{
    const struct device_record *rec = &dev->records[item->record];
    struct device_round *kept = item->kept;
    uint32_t answers = kept->answers;

    if (outbox_kept(item) && answers != 0)
        answers =
            rec->answers > rec->sends ? UINT32_MAX : answers | DEVICE_SHOWN;
    if (item->shown->key == item->plan.key && answers == kept->answers)
        return false;
    if (only_look)
        return true;
    if (outbox_kept(item) && kept->answers >= DEVICE_SHOWN && kept->held != 0 &&
        release_stage(item->r) == 0 &&
        (uint32_t)item->shown->key != (uint32_t)item->plan.key) {
        outbox_note(dev, HSY_LOG_DROPPED, item, day, NULL, 0);
        kept->held = 0;
    }
    kept->answers = answers;
    *item->shown = item->plan;
    hsy_state_record(dev, item->record);
    return true;
}

/* Closes all rounds that have ended. */
static hsy_status outbox_close(struct outbox_walk *w, hsy_error *err)
{
    outbox_rewind(w);
    while (outbox_release(w))
        for (outbox_enter(w); outbox_step(w); w->item.u.place++)
            (void)outbox_close_round(w->dev, &w->item, w->day, false);
    return hsy_state_commit(w->dev, err);
}

/* ---- Handing out --------------------------------------------------------- */

/* Returns true if a leaves before b. */
static bool outbox_before(const struct device_upload *a,
                          const struct device_upload *b)
{
    return a->due != 0 && (b->due == 0 || memcmp(a->id, b->id, DEVICE_ID) < 0);
}

/* Finds the upload of w->item.r that is due and has the smallest id. While a
 * round has to be closed, the result is not kept for the next call. */
static hsy_status outbox_search(struct outbox_walk *w, struct device_next *next)
{
    uint64_t until = ((uint64_t)w->day + 1) * DEVICE_DAY;
    struct outbox_item *item = &w->item;
    bool open = false;

    next->until = next->upload.due = 0;
    for (outbox_enter(w); outbox_step(w); item->u.place++) {
        hsy_status st;

        open |= outbox_close_round(w->dev, item, w->day, true);
        if (outbox_gone(item))
            continue;
        st = outbox_due(w->dev, item);
        if (st == HSY_OK && item->u.due > w->now) {
            if (item->u.due < until)
                until = item->u.due;
            continue;
        }
        if (st == HSY_OK && outbox_too_late(w))
            continue;
        if (st == HSY_OK)
            st = outbox_id(w->dev, item);
        if (st != HSY_OK)
            return st;
        if (outbox_before(&item->u, &next->upload))
            next->upload = item->u;
    }
    w->open |= open;
    memcpy(next->sending, item->r->sending, DEVICE_SENDING);
    next->since = w->now;
    next->until = open ? 0 : until;
    return HSY_OK;
}

/* Finds the upload of all releases that is due and has the smallest id. */
static hsy_status outbox_first(struct outbox_walk *w, struct outbox_item *best)
{
    best->u.due = 0;
    while (outbox_release(w)) {
        struct device_next *next = &w->dev->records[w->item.record].next;
        hsy_status st = HSY_OK;

        if (w->now < next->since || w->now >= next->until ||
            memcmp(next->sending, w->item.r->sending, DEVICE_SENDING) != 0)
            st = outbox_search(w, next);
        if (st != HSY_OK)
            return st;
        w->item.u = next->upload;
        if (outbox_before(&w->item.u, &best->u))
            *best = w->item;
    }
    if (best->u.due != 0)
        outbox_plan(w->dev, best);
    return HSY_OK;
}

/* The payload: the packed report, or as many published coins. */
static hsy_status outbox_payload(const hsy_device *dev, uint8_t *out,
                                 size_t len, struct outbox_item *item,
                                 bool *report)
{
    const uint8_t *stored = outbox_report(dev, item);
    struct device_draw draw;
    hsy_status st;

    *report = stored != NULL;
    if (stored != NULL) {
        hsy_pack(item->r->scheme, out, stored, 1);
        return HSY_OK;
    }
    st = outbox_draw(dev, &draw, item);
    if (st == HSY_OK)
        st = draw.coins.published.fill(draw.coins.published.ctx, out, len);
    hsy_device_drawn(&draw);
    return st;
}

/* The payload, sealed where the task is shuffled; null and real then look
 * alike. */
static hsy_status outbox_fill(const hsy_device *dev, uint8_t *out, size_t len,
                              struct outbox_item *item, uint32_t *kind,
                              hsy_error *err)
{
    const size_t packed = hsy_packed_size(item->r->scheme, 1);
    const bool sealed = release_layers(item->r) != 0;
    uint8_t *plain = sealed ? dev->scratch[0] : out;
    bool report = false;
    hsy_status st = outbox_payload(dev, plain, packed, item, &report);

    if (st != HSY_OK)
        return hsy_fail(err, st, HSY_FIELD_COINS, "the coins failed");
    *kind = report ? HSY_UPLOAD_REPORTS : HSY_UPLOAD_NULL;
    if (!sealed)
        return HSY_OK;
    st = hsy_shuffled_seal(dev, out, len, item->r,
                           (uint32_t)(item->u.due / DEVICE_DAY), item->u.id,
                           *kind, plain, err);
    bytes_wipe(plain, packed);
    *kind = HSY_UPLOAD_SEALED;
    return st;
}

static hsy_status outbox_make(const hsy_device *dev, uint8_t *upload,
                              struct outbox_item *item, hsy_error *err)
{
    const size_t len = hsy_release_payload(item->r);
    hsy_upload head = {
        .release = item->r->task.release,
        .epoch = (uint32_t)(item->u.due / DEVICE_DAY),
        .count = 1,
        .length = (uint32_t)len,
    };
    hsy_status st =
        outbox_fill(dev, upload + HSY_UPLOAD_WIRE, len, item, &head.kind, err);

    if (st != HSY_OK)
        return st;
    memcpy(head.task, item->r->task.id, sizeof head.task);
    memcpy(head.digest, item->r->scheme->digest, HSY_DIGEST);
    memcpy(head.id, item->u.id, DEVICE_ID);
    head.checksum = hsy_crc32c(0, upload + HSY_UPLOAD_WIRE, len);
    return hsy_upload_encode(upload, &head, err);
}

hsy_status hsy_device_next(hsy_device *dev, uint8_t *upload, size_t room,
                           size_t *len, const hsy_release *const *releases,
                           size_t n, hsy_error *err)
{
    struct outbox_walk walk;
    struct outbox_item best;
    size_t bytes;
    hsy_status st = outbox_start(&walk, dev, releases, n, err);

    if (st != HSY_OK)
        return st;
    if (dev->head.consent != HSY_CONSENT_SEND)
        return hsy_fail(err, HSY_E_END, HSY_FIELD_CONSENT,
                        "the person has not agreed to sending");
    st = outbox_first(&walk, &best);
    if (st != HSY_OK)
        return hsy_fail(err, st, HSY_FIELD_COINS, "the coins failed");
    if (best.u.due == 0)
        return hsy_fail(err, HSY_E_END, HSY_FIELD_UPLOAD, "nothing is due");
    bytes = HSY_UPLOAD_WIRE + hsy_release_payload(best.r);
    if (bytes > room)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_ROOM,
                              "the upload does not fit", bytes);
    st = hsy_state_current(dev, err);
    if (st == HSY_OK && walk.open)
        st = outbox_close(&walk, err);
    if (st == HSY_OK)
        st = outbox_make(dev, upload, &best, err);
    if (st != HSY_OK)
        return st;
    *len = bytes;
    if (outbox_withheld(dev, &best))
        outbox_note(dev, HSY_LOG_WITHHELD, &best, walk.day, NULL, 0);
    outbox_note(dev, HSY_LOG_UPLOAD, &best, walk.day, upload, bytes);
    return hsy_state_settle(dev, HSY_OK, err);
}

/* ---- Acknowledged -------------------------------------------------------- */

/* The upload with this id, gone or not. Ids are keyed by task, so those of
 * other tasks need not be drawn. */
static hsy_status outbox_seek(struct outbox_walk *w, const hsy_upload *head,
                              bool *found)
{
    *found = false;
    while (outbox_release(w)) {
        if (!hsy_device_same(w->item.r->task.id, head->task))
            continue;
        for (outbox_enter(w); outbox_step(w); w->item.u.place++) {
            hsy_status st = outbox_id(w->dev, &w->item);

            if (st != HSY_OK)
                return st;
            *found = memcmp(w->item.u.id, head->id, DEVICE_ID) == 0;
            if (*found)
                return HSY_OK;
        }
    }
    return HSY_OK;
}

/* Mark the place and erase what was there. */
static void outbox_mark(hsy_device *dev, const struct outbox_item *item,
                        uint32_t day)
{
    struct device_round *round = item->kept;
    const uint64_t bit = (uint64_t)1 << item->u.place;

    if (!outbox_kept(item)) {
        hsy_device_vacate(dev, item->r, item->record, round, day);
        round->number = item->u.round + 1;
    }
    if ((round->held & bit) != 0) /* else it may be another stage's */
        bytes_wipe(outbox_bytes(dev, item),
                   dev->records[item->record].report_bytes);
    round->sent |= bit;
    round->held &= ~bit;
    hsy_state_record(dev, item->record);
}

hsy_status hsy_device_sent(hsy_device *dev, const hsy_release *const *releases,
                           size_t n, const uint8_t *upload, size_t len,
                           hsy_error *err)
{
    struct outbox_walk walk;
    hsy_upload head;
    bool found = false;
    hsy_status st = outbox_start(&walk, dev, releases, n, err);

    if (st != HSY_OK)
        return st;
    if (len < HSY_UPLOAD_WIRE)
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_UPLOAD, "cut short",
                              HSY_UPLOAD_WIRE);
    st = hsy_upload_decode(&head, upload, err);
    if (st == HSY_OK)
        st = outbox_seek(&walk, &head, &found);
    if (st == HSY_OK && !found)
        st = hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_UPLOAD,
                      "none that this device has handed out of late");
    if (st != HSY_OK || outbox_gone(&walk.item))
        return st;
    st = hsy_state_current(dev, err);
    if (st != HSY_OK)
        return st;
    outbox_mark(dev, &walk.item, walk.day);
    outbox_note(dev, HSY_LOG_SENT, &walk.item, walk.day, NULL, 0);
    return hsy_state_commit(dev, err);
}
