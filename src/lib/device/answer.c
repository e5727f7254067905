/*
 * answer.c - from a truth to a stored report: check, charge, noise, write.
 *
 * The order: consent, time, what the slot has, sample, the charge. None of it
 * depends on the truth, nor does the size or the number of what is written. The
 * noised answer is computed before anything changes, so a failing coin leaves
 * no trace; then memory and image change together, and nothing is said before
 * the image is durable.
 */
#include "lib/device/internal.h"

#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/core/fail.h"
#include "lib/scheme/sampled.h"
#include "lib/scheme/scheme.h"

#include <string.h>

/* ---- What is to be done -------------------------------------------------- */

static struct device_round *answer_place(const struct answer *a)
{
    return &a->rec->rounds[a->round % a->rec->window];
}

static hsy_status answer_sampled(struct answer *a)
{
    const hsy_ratio share = a->r->task.sample;
    struct prob_base base = hsy_prob_base(share.den);
    struct device_draw draw;
    uint64_t word = 0;
    hsy_status st;

    if (share.num == share.den)
        return HSY_OK;
    st = hsy_device_draw(a->dev, &draw, DEVICE_PURPOSE_SAMPLE, a->r,
                         a->r->digest, a->slot, 0);
    if (st == HSY_OK)
        st = hsy_prob_word(&word, &base, &draw.coins.secret);
    if (st == HSY_OK && prob_event(word, &base, share.num) == 0)
        a->state = HSY_ANSWER_SAMPLED_OUT;
    hsy_device_drawn(&draw);
    return st;
}

/*
 * Of a search the stage of the device's batch alone: drawn once, by coins that
 * the whole search shares and no truth names.
 */
static hsy_status answer_batch(struct answer *a)
{
    const struct mech_staged *staged = mech_staged(a->r->scheme->mech);
    struct device_draw draw;
    bool mine = false;
    hsy_status st;

    if (staged == NULL || a->state != 0)
        return HSY_OK;
    st = hsy_device_draw(a->dev, &draw, DEVICE_PURPOSE_BATCH, a->r,
                         a->r->digest, a->slot, 0);
    if (st == HSY_OK)
        st = staged->mine(a->r->scheme, &mine, &draw.coins.secret);
    if (st == HSY_OK && !mine)
        a->state = HSY_ANSWER_SAMPLED_OUT;
    hsy_device_drawn(&draw);
    return st;
}

/* What the round has seen already: *number is the next answer's. Of a search
 * the uploads of other stages close nothing. */
static hsy_answer_state answer_round(const struct answer *a, uint32_t *number)
{
    const struct device_round *round = answer_place(a);
    const uint64_t own = release_stage(a->r) != 0
                             ? (uint64_t)1 << release_place(a->r)
                             : UINT64_MAX;

    if (round->number != a->round + 1)
        return 0;
    *number = round->answers & ~DEVICE_SHOWN;
    if ((round->sent & own) != 0)
        return HSY_ANSWER_CLOSED; /* the clock was ahead, and is back */
    if (*number >= a->r->task.answers)
        return HSY_ANSWER_KEPT;
    return 0;
}

/*
 * Whether a later round stands where this one's answers did, or would: null
 * uploads of it were acknowledged while the clock was ahead. A fresh slot that
 * is open has had its round; one with several may have had it, and would answer
 * again, for another truth perhaps.
 */
static bool answer_taken(const struct answer *a)
{
    const uint64_t number = answer_place(a)->number;

    return a->r->permanent == NULL ? number != a->round + 1
                                   : number > a->round + 1;
}

/* Returns true if a slot of a record was answered under the promise that holds
 * now, or the person has consented under the document in force. */
static bool answer_promised(const struct answer *a,
                            const struct device_record *rec)
{
    return rec->agreed == a->dev->head.version ||
           device_promise_holds(rec->promise,
                                hsy_shuffled_promise(a->dev, a->r));
}

/* What the slot has seen. Days only go forward, so none is behind the record's
 * unless the files were tampered with. */
static void answer_standing(struct answer *a)
{
    const struct device_record *rec = a->rec;
    const bool open = rec->slot_state != DEVICE_SLOT_NONE;

    if (rec->closed != 0 || (open && a->slot < rec->slot))
        a->state = HSY_ANSWER_CLOSED;
    else if (a->round < hsy_device_resumes(rec, a->r))
        a->state = HSY_ANSWER_NO_CONSENT;
    else
        a->state = answer_round(a, &a->number);
    if (a->state != 0)
        return;
    if (!open || a->slot > rec->slot)
        a->opening = DEVICE_SLOT_PAID;
    else if (rec->slot_state == DEVICE_SLOT_EXHAUSTED)
        a->state = HSY_ANSWER_EXHAUSTED;
    else if (answer_taken(a))
        a->state = HSY_ANSWER_CLOSED;
    else if (!answer_promised(a, rec))
        a->state = HSY_ANSWER_NO_CONSENT;
}

/*
 * An answer at a lower epsilon is made from one at a higher, if there is one
 * for the same slot: free, and never from the truth again (R17). Only answers
 * that were paid for serve; what was made from them already adds nothing.
 */
static bool answer_serves(const struct answer *a, uint32_t record)
{
    const struct device_record *rec = &a->dev->records[record];

    return record != a->record && rec->source == a->rec->source &&
           rec->slot_state == DEVICE_SLOT_PAID && rec->slot == a->slot &&
           hsy_release_lowers(a->r, rec);
}

static bool answer_origin(const struct answer *a, uint32_t *origin)
{
    for (uint32_t i = 0; i < a->dev->nrecords; i++)
        if (answer_serves(a, i)) {
            *origin = i;
            return true;
        }
    return false;
}

static hsy_status answer_decide(struct answer *a, hsy_error *err)
{
    const hsy_task *t = &a->r->task;
    hsy_status st = hsy_device_today(a->dev, &a->day, NULL, err);

    if (st != HSY_OK)
        return st;
    if (a->dev->head.consent == HSY_CONSENT_NONE)
        a->state = HSY_ANSWER_NO_CONSENT;
    else if (a->day < t->start || a->day >= t->end)
        a->state = HSY_ANSWER_CLOSED;
    if (a->state != 0)
        return HSY_OK;
    a->slot = hsy_release_slot(a->r, a->day);
    a->round = hsy_release_round(a->r, a->day);
    answer_standing(a);
    if (a->state != 0)
        return HSY_OK;
    st = answer_sampled(a);
    if (st == HSY_OK)
        st = answer_batch(a);
    if (st != HSY_OK)
        return hsy_fail(err, st, HSY_FIELD_COINS, "the coins failed");
    if (a->state == 0 && a->opening == DEVICE_SLOT_PAID &&
        answer_origin(a, &a->origin)) {
        a->opening = DEVICE_SLOT_LOWERED;
        if (!answer_promised(a, &a->dev->records[a->origin]))
            a->state = HSY_ANSWER_NO_CONSENT;
    }
    return HSY_OK;
}

/* ---- Writing it down ----------------------------------------------------- */

/* Every place is written, so that which one is chosen does not show. */
static void answer_store(struct answer *a)
{
    struct device_round *round = answer_place(a);
    uint8_t *places = device_reports(a->dev, a->record, round);
    const uint8_t *report = a->dev->scratch[0];
    const size_t bytes = a->rec->report_bytes;

    for (uint64_t p = 0; p < a->rec->sends; p++) {
        const uint64_t mask = ct_equal(p, a->place);

        for (size_t i = 0; i < bytes; i++)
            places[p * bytes + i] =
                (uint8_t)ct_select(mask, report[i], places[p * bytes + i]);
    }
    if (a->number < a->rec->sends)
        round->held |= (uint64_t)1 << (release_place(a->r) + a->number);
    round->answers++;
}

/* The round's place, emptied of what an earlier round left there. All of a
 * round's reports have one scheme and one promise: what was given under another
 * promise, before the person consented anew, is not sent. */
static void answer_begin_round(struct answer *a)
{
    struct device_round *round = answer_place(a);

    const uint64_t scheme = device_scheme(a->dev, a->r);

    if (round->number != a->round + 1)
        hsy_device_vacate(a->dev, a->r, a->record, round, a->day);
    else if (round->scheme != scheme)
        round->held = 0;
    round->number = a->round + 1;
    round->scheme = scheme;
}

static hsy_log_entry answer_entry(const struct answer *a, uint32_t kind)
{
    hsy_log_entry e = hsy_device_entry(kind, a->r, a->day);

    e.slot = a->slot;
    e.round = a->round;
    if (kind == HSY_LOG_CHARGE)
        e.u.nano_charged = a->r->nano_slot;
    if (kind == HSY_LOG_SILENT)
        e.u.state = (uint32_t)a->state;
    return e;
}

static void answer_note(struct answer *a, uint32_t kind)
{
    const hsy_log_entry e = answer_entry(a, kind);

    hsy_device_note(a->dev, &e);
}

static void answer_open_slot(struct answer *a)
{
    struct device_record *rec = a->rec;

    rec->slot = a->slot;
    rec->slot_state = a->opening;
    rec->origin = a->origin;
    rec->used = 0;
    bytes_wipe(rec->keys, sizeof rec->keys);
}

/* The charge, if the slot is new: false if a cap is in the way. */
static bool answer_charge(struct answer *a)
{
    if (a->opening != DEVICE_SLOT_PAID)
        return true;
    if (!hsy_ledger_charge(a->dev, a->rec->source, a->r->nano_slot, a->day))
        return false;
    answer_note(a, HSY_LOG_CHARGE);
    return true;
}

/* Nothing fails from here on. */
static void answer_write(struct answer *a)
{
    hsy_device *dev = a->dev;
    const bool paid = answer_charge(a);

    a->state = paid ? HSY_ANSWERED : HSY_ANSWER_EXHAUSTED;
    if (!paid)
        a->opening = DEVICE_SLOT_EXHAUSTED;
    if (a->opening != DEVICE_SLOT_NONE)
        answer_open_slot(a);
    if (paid) {
        a->rec->promise = hsy_shuffled_promise(dev, a->r);
        a->rec->used = a->used;
        memcpy(a->rec->keys, a->keys, sizeof a->keys);
        answer_begin_round(a);
        answer_store(a);
    }
    answer_note(a, paid ? HSY_LOG_ANSWER : HSY_LOG_SILENT);
    dev->head.day = a->day;
    hsy_state_head(dev);
    hsy_state_source(dev, a->rec->source);
    hsy_state_record(dev, a->record);
    hsy_state_finish(dev);
}

/* Say once a day that it is not answered, and why. */
static void answer_silent(struct answer *a)
{
    uint64_t *told = &a->dev->told[a->record];
    const hsy_log_entry e = answer_entry(a, HSY_LOG_SILENT);

    if (a->state == HSY_ANSWER_KEPT || *told == (uint64_t)a->day + 1)
        return;
    *told = (uint64_t)a->day + 1;
    hsy_device_log(a->dev, &e);
}

/* ---- The calls ----------------------------------------------------------- */

/* The codes of a truth; of several one keyed hash names the coins.
 * A wrong type is the program's mistake, found before anything else. */
static hsy_status answer_codes(struct answer *a, const hsy_truth *truth,
                               hsy_error *err)
{
    const hsy_scheme *s = a->r->scheme;
    const size_t width = hsy_codes_per_truth(s);
    uint8_t bytes[8 * HSY_ATTRIBUTES_MAX], hash[8];
    hsy_status st =
        hsy_truth_code_clamped(s, a->codes, truth, a->r->task.other, err);

    if (st != HSY_OK)
        return st;
    a->code = a->codes[0];
    if (width > 1) {
        for (size_t i = 0; i < width; i++)
            bytes_put64(bytes + 8 * i, a->codes[i]);
        hsy_blake2b(hash, sizeof hash, bytes, 8 * width, a->dev->keys.coins,
                    HSY_KEY);
        a->code = bytes_get64(hash);
        bytes_wipe(bytes, sizeof bytes);
        bytes_wipe(hash, sizeof hash);
    }
    return HSY_OK;
}

static hsy_status answer_find(struct answer *a, hsy_error *err)
{
    hsy_status st = hsy_device_allows(a->dev, a->r, err);

    if (st != HSY_OK)
        return st;
    a->record = hsy_device_find(a->dev, a->r);
    if (a->record == a->dev->nrecords)
        return hsy_fail(err, HSY_E_POLICY, HSY_FIELD_TASK,
                        "the task was not admitted: hsy_device_admit");
    a->rec = &a->dev->records[a->record];
    return hsy_shuffled_answers(a->dev, a->r, err);
}

/* Up to the finished image, which is not written yet. */
static hsy_status answer_prepare(struct answer *a, const hsy_truth *truth,
                                 hsy_error *err)
{
    hsy_status st = hsy_device_ready(a->dev, err);

    if (st == HSY_OK)
        st = answer_codes(a, truth, err);
    if (st == HSY_OK)
        st = answer_find(a, err);
    if (st == HSY_OK)
        st = answer_decide(a, err);
    if (st != HSY_OK)
        return st;
    if (a->state != 0) {
        answer_silent(a);
        return HSY_OK;
    }
    st = hsy_state_current(a->dev, err);
    if (st != HSY_OK)
        return st;
    if (a->opening == DEVICE_SLOT_NONE) {
        a->origin = a->rec->origin;
        a->used = a->rec->used;
        memcpy(a->keys, a->rec->keys, sizeof a->keys);
    }
    st = hsy_noise_make(a);
    if (st == HSY_OK)
        st = hsy_noise_place(a);
    if (st == HSY_OK)
        answer_write(a);
    bytes_wipe(a->dev->scratch[0], a->rec->report_bytes);
    if (st != HSY_OK)
        return hsy_fail(err, st, HSY_FIELD_COINS,
                        "the coins failed; nothing was answered");
    a->dev->phase = DEVICE_WRITING;
    return HSY_OK;
}

hsy_status hsy_device_begin(hsy_device *dev, hsy_answer_state *state,
                            hsy_device_write *write, const hsy_release *r,
                            const hsy_truth *truth, hsy_error *err)
{
    struct answer a = {.dev = dev, .r = r};
    hsy_status st = answer_prepare(&a, truth, err);

    if (st == HSY_OK) {
        const bool writing = dev->phase == DEVICE_WRITING;

        write->bytes = writing ? dev->image : NULL;
        write->len = writing ? dev->image_len : 0;
        write->number = dev->generation;
        if (state != NULL)
            *state = a.state;
    }
    bytes_wipe(&a, sizeof a);
    return st;
}

hsy_status hsy_device_end(hsy_device *dev, hsy_status stored, hsy_error *err)
{
    if (dev->phase != DEVICE_WRITING)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_DEVICE,
                        "nothing was begun");
    return hsy_state_settle(dev, stored, err);
}

hsy_status hsy_device_answer(hsy_device *dev, hsy_answer_state *state,
                             const hsy_release *r, const hsy_truth *truth,
                             hsy_error *err)
{
    hsy_answer_state made;
    hsy_device_write write;
    hsy_status st = hsy_device_begin(dev, &made, &write, r, truth, err);

    if (st == HSY_OK && write.len != 0)
        st = hsy_device_end(dev, hsy_state_store(dev), err);
    if (st == HSY_OK && state != NULL)
        *state = made;
    return st;
}
