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

#define OUTBOX_ID 16

/* One upload: place `place` of round `round`. */
struct outbox_item {
    const hsy_release *r;
    uint32_t record;
    uint64_t round;
    uint32_t place;
    struct device_round *kept;  /* where the round stands, or another one */
    struct device_shown *shown; /* likewise */
    struct device_shown plan;   /* what its time follows from */
    uint64_t due;               /* seconds */
    uint8_t id[OUTBOX_ID];
};

/* Whether anything is kept of the round. */
static bool outbox_kept(const struct outbox_item *item)
{
    return item->kept->number == item->round + 1;
}

/* Where the place's report stands. */
static uint8_t *outbox_bytes(const hsy_device *dev,
                             const struct outbox_item *item)
{
    const size_t i = item->place - release_place(item->r);

    return device_reports(dev, item->record, item->kept) +
           i * dev->records[item->record].report_bytes;
}

/* Whether the place has gone out. */
static bool outbox_gone(const struct outbox_item *item)
{
    return outbox_kept(item) && (item->kept->sent >> item->place & 1) != 0;
}

/* The stored report, or NULL: none was made, or by another scheme or under
 * another promise, or it is no longer there. */
static uint8_t *outbox_report(const hsy_device *dev,
                              const struct outbox_item *item)
{
    const uint64_t promise =
        item->kept->scheme ^ bytes_get64(item->r->report_digest);

    if (!outbox_kept(item) || (item->kept->held >> item->place & 1) == 0 ||
        !device_promise_holds(promise, hsy_shuffled_promise(dev, item->r)))
        return NULL;
    return outbox_bytes(dev, item);
}

/* Returns true if there is a report that was given under another promise (or by
 * another scheme): a null upload leaves in its place. */
static bool outbox_withheld(const hsy_device *dev,
                            const struct outbox_item *item)
{
    return outbox_kept(item) && (item->kept->held >> item->place & 1) != 0 &&
           outbox_report(dev, item) == NULL;
}

static uint64_t outbox_number(const struct outbox_item *item)
{
    return item->round * item->r->task.sends + item->place;
}

/* ---- Time ---------------------------------------------------------------- */

/* Find where the round stands, and what its times follow from: as it was shown,
 * else as the document has it now. */
static void outbox_plan(const hsy_device *dev, struct outbox_item *item)
{
    struct device_record *rec = &dev->records[item->record];
    const hsy_release *r = item->r;
    const uint64_t number = item->round + release_place(r),
                   end = r->task.start + (item->round + 1) * r->round_days;

    item->kept = &rec->rounds[item->round % rec->window];
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

    item->due = (uint64_t)item->plan.end * DEVICE_DAY;
    if (most == 0)
        return HSY_OK;
    st = hsy_device_draw(dev, &draw, DEVICE_PURPOSE_DELAY, item->r,
                         item->r->digest, outbox_number(item), 0);
    if (st == HSY_OK)
        st = hsy_prob_below(&delay, most, hsy_prob_excess(most),
                            &draw.coins.secret);
    hsy_device_drawn(&draw);
    item->due += delay;
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
        st = draw->coins.published.fill(draw->coins.published.ctx, item->id,
                                        OUTBOX_ID);
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

    e.round = item->round;
    e.slot = item->round / item->r->rounds;
    e.u.upload.bytes = bytes;
    e.u.upload.len = len;
    hsy_device_note(dev, &e);
}

/* ---- All uploads that are due -------------------------------------------- */

/* A walk through the places of all rounds that are kept, of all releases. */
struct outbox_walk {
    const hsy_device *dev;
    const hsy_release *const *releases;
    size_t n, i; /* releases, and which */
    uint64_t now;
    uint32_t day;
    uint64_t end; /* of the rounds of this release */
    struct outbox_item item;
};

/* Two tasks may be one release under two names: the first listed sends. Of a
 * search every stage does. */
static bool outbox_listed_before(const struct outbox_walk *w)
{
    const hsy_release *r = w->item.r;
    const size_t len = strlen(r->task.source) + 1;

    /* Those with one record, without a search for it: with n tasks that would
     * be n^3 comparisons for each upload. */
    for (size_t k = 0; k < w->i; k++)
        if (release_stage(w->releases[k]) == release_stage(r) &&
            memcmp(w->releases[k]->task.source, r->task.source, len) == 0 &&
            memcmp(w->releases[k]->digest, r->digest, HSY_DIGEST) == 0)
            return true;
    return false;
}

/* Stand before the first place of release i; its rounds are from the window's
 * first, or that of its admission, to the last that has ended. */
static void outbox_enter(struct outbox_walk *w)
{
    const hsy_release *r = w->releases[w->i];
    const struct device_record *rec;
    uint64_t today, last;

    w->item = (struct outbox_item){.r = r};
    w->end = 0;
    w->item.record = hsy_device_find(w->dev, r);
    if (w->item.record == w->dev->nrecords || outbox_listed_before(w))
        return;
    rec = &w->dev->records[w->item.record];
    if (rec->closed != 0 || w->day < r->task.start)
        return;
    today = hsy_release_round(r, w->day);
    last = hsy_release_round(r, r->task.end - 1);
    w->end = (today < last ? today : last) + 1;
    w->item.round = today >= rec->window ? today - rec->window + 1 : 0;
    if (w->item.round < rec->first)
        w->item.round = rec->first;
    if (w->item.round < hsy_device_resumes(rec, r))
        w->item.round = hsy_device_resumes(rec, r);
    w->item.place = release_place(r);
}

/* On to the next place that can still be sent and whose round has ended. False
 * at the end. */
static bool outbox_step(struct outbox_walk *w)
{
    while (w->i < w->n) {
        const hsy_release *r = w->releases[w->i];

        if (w->item.round >= w->end) {
            if (++w->i < w->n)
                outbox_enter(w);
            continue;
        }
        outbox_plan(w->dev, &w->item);
        if (w->item.place < release_place(r) + r->task.sends &&
            (uint64_t)w->item.plan.end * DEVICE_DAY <= w->now)
            return true;
        w->item.round++;
        w->item.place = release_place(r);
    }
    return false;
}

static hsy_status outbox_start(struct outbox_walk *w, const hsy_device *dev,
                               const hsy_release *const *releases, size_t n,
                               hsy_error *err)
{
    hsy_status st = hsy_device_ready(dev, err);

    *w = (struct outbox_walk){.dev = dev, .releases = releases, .n = n};
    if (st == HSY_OK)
        st = hsy_device_today(dev, &w->day, &w->now, err);
    if (st == HSY_OK && n != 0)
        outbox_enter(w);
    return st;
}

/* Later than this an upload is not sent at all. */
static bool outbox_too_late(const struct outbox_walk *w)
{
    return w->day > w->item.due / DEVICE_DAY + w->item.r->task.grace_days;
}

/* ---- Closing ------------------------------------------------------------- */

/*
 * When a round ends follows from the clock and from the document, and both may
 * move. So before anything is shown all rounds that have ended are closed, and
 * that is durable: one that sends a sample of its answers takes no more, or
 * another sample could be shown later; and what the times of its uploads follow
 * from is written down. False if all that was done before.
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
static bool outbox_close_round(hsy_device *dev, const struct outbox_item *item,
                               uint32_t day)
{
    const struct device_record *rec = &dev->records[item->record];
    struct device_round *kept = item->kept;
    const bool answered = outbox_kept(item) && kept->answers != 0;
    bool open = item->shown->key != item->plan.key;

    if (answered && kept->answers >= DEVICE_SHOWN && kept->held != 0 &&
        release_stage(item->r) == 0 &&
        (uint32_t)item->shown->key != (uint32_t)item->plan.key) {
        outbox_note(dev, HSY_LOG_DROPPED, item, day, NULL, 0);
        kept->held = 0;
    }
    *item->shown = item->plan;
    if (answered) {
        const uint32_t before = kept->answers;

        kept->answers |= DEVICE_SHOWN;
        if (rec->answers > rec->sends)
            kept->answers = UINT32_MAX;
        open |= kept->answers != before;
    }
    return open;
}

/* All that have ended. */
static hsy_status outbox_close(hsy_device *dev, struct outbox_walk *w,
                               hsy_error *err)
{
    bool any = false;

    for (; outbox_step(w); w->item.place++)
        if (outbox_close_round(dev, &w->item, w->day)) {
            hsy_state_record(dev, w->item.record);
            any = true;
        }
    return any ? hsy_state_commit(dev, err) : HSY_OK;
}

/* ---- Handing out --------------------------------------------------------- */

/* The one that is due and has the smallest id. */
static hsy_status outbox_first(struct outbox_walk *w, struct outbox_item *best,
                               bool *found)
{
    *found = false;
    for (; outbox_step(w); w->item.place++) {
        hsy_status st;

        if (outbox_gone(&w->item))
            continue;
        st = outbox_due(w->dev, &w->item);
        if (st == HSY_OK && (w->item.due > w->now || outbox_too_late(w)))
            continue;
        if (st == HSY_OK)
            st = outbox_id(w->dev, &w->item);
        if (st != HSY_OK)
            return st;
        if (!*found || memcmp(w->item.id, best->id, OUTBOX_ID) < 0)
            *best = w->item;
        *found = true;
    }
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
                           (uint32_t)(item->due / DEVICE_DAY), item->id, *kind,
                           plain, err);
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
        .epoch = (uint32_t)(item->due / DEVICE_DAY),
        .count = 1,
        .length = (uint32_t)len,
    };
    hsy_status st =
        outbox_fill(dev, upload + HSY_UPLOAD_WIRE, len, item, &head.kind, err);

    if (st != HSY_OK)
        return st;
    memcpy(head.task, item->r->task.id, sizeof head.task);
    memcpy(head.digest, item->r->scheme->digest, HSY_DIGEST);
    memcpy(head.id, item->id, OUTBOX_ID);
    head.checksum = hsy_crc32c(0, upload + HSY_UPLOAD_WIRE, len);
    return hsy_upload_encode(upload, &head, err);
}

hsy_status hsy_device_next(hsy_device *dev, uint8_t *upload, size_t room,
                           size_t *len, const hsy_release *const *releases,
                           size_t n, hsy_error *err)
{
    struct outbox_walk walk, again;
    struct outbox_item best;
    size_t bytes;
    bool found;
    hsy_status st = outbox_start(&walk, dev, releases, n, err);

    again = walk;
    if (st != HSY_OK)
        return st;
    if (dev->head.consent != HSY_CONSENT_SEND)
        return hsy_fail(err, HSY_E_END, HSY_FIELD_CONSENT,
                        "the person has not agreed to sending");
    st = outbox_first(&walk, &best, &found);
    if (st != HSY_OK)
        return hsy_fail(err, st, HSY_FIELD_COINS, "the coins failed");
    if (!found)
        return hsy_fail(err, HSY_E_END, HSY_FIELD_UPLOAD, "nothing is due");
    bytes = HSY_UPLOAD_WIRE + hsy_release_payload(best.r);
    if (bytes > room)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_ROOM,
                              "the upload does not fit", bytes);
    st = hsy_state_current(dev, err);
    if (st == HSY_OK)
        st = outbox_close(dev, &again, err);
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

/* The upload with this id, gone or not. */
static hsy_status outbox_seek(struct outbox_walk *w, const hsy_upload *head,
                              bool *found)
{
    *found = false;
    for (; outbox_step(w); w->item.place++) {
        hsy_status st = outbox_id(w->dev, &w->item);

        if (st != HSY_OK)
            return st;
        *found = memcmp(w->item.id, head->id, OUTBOX_ID) == 0;
        if (*found)
            return HSY_OK;
    }
    return HSY_OK;
}

/* Mark the place and erase what was there. */
static void outbox_mark(hsy_device *dev, const struct outbox_item *item,
                        uint32_t day)
{
    struct device_round *round = item->kept;
    const uint64_t bit = (uint64_t)1 << item->place;

    if (!outbox_kept(item)) {
        hsy_device_vacate(dev, item->r, item->record, round, day);
        round->number = item->round + 1;
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
