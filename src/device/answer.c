/*
 * answer.c - from a truth to a stored report: check, charge, noise, write.
 *
 * The order: consent, time, sample, what the slot has, the charge. None of it
 * depends on the truth, nor does the size or the number of what is written. The
 * noised answer is computed before anything changes, so a failing coin leaves
 * no trace; then memory and image change together, and nothing is said before
 * the image is durable.
 *
 * Coins. One question has one answer, so each coin is named by what it is for:
 *
 *     release    published coins, alpha: slot (and number of a fresh answer)
 *     permanent  slot (and number of a fresh answer), truth: its key
 *     lowered    the same, for an answer that is made from an older one
 *     report     number of the report since the start, truth: its key; under
 *                a digest with the report's scheme
 *
 * The truth's key is always among the names of secret coins: coins that two
 * truths share would give both away (T07). A fresh answer has its number in the
 * slot among them, so that two answers of one slot are independent and their
 * epsilons add up.
 */
#include "bytes.h"
#include "ct.h"
#include "device.h"
#include "fail.h"
#include "mech.h"

#include <string.h>

/* One call, as far as it has been decided. */
struct answer {
    hsy_device *dev;
    const hsy_release *r;
    uint32_t record;
    struct device_record *rec;
    uint32_t day;
    uint64_t slot, round;
    uint32_t number;          /* of the answer in its round, from 0 on */
    hsy_answer_state state;   /* 0: to be answered */
    enum device_slot opening; /* NONE: the slot is open already */
    uint32_t origin;          /* LOWERED: whose answer it is made from */
    uint64_t code;            /* of the truth; of a tuple a hash */
    uint64_t codes[HSY_ATTRIBUTES_MAX];
    uint64_t used, keys[HSY_CHANGES_MAX]; /* of the slot, as they will be */
    uint64_t place;                       /* in the round's reservoir */
};

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

/* What the round has seen already: *number is the next answer's. */
static hsy_answer_state answer_round(const struct answer *a, uint32_t *number)
{
    const struct device_round *round = answer_place(a);
    const uint64_t scheme = bytes_get64(a->r->report_digest);

    if (round->number != a->round + 1)
        return 0;
    *number = round->answers;
    if (round->sent != 0)
        return HSY_ANSWER_CLOSED; /* the clock was ahead, and is back */
    if (round->answers >= a->r->task.answers ||
        (round->answers != 0 && round->scheme != scheme))
        return HSY_ANSWER_KEPT;
    return 0;
}

/* What the slot has seen. Days only go forward, so none is behind the record's
 * unless the files were tampered with. */
static void answer_standing(struct answer *a)
{
    const struct device_record *rec = a->rec;
    const bool open = rec->slot_state != DEVICE_SLOT_NONE;

    if (rec->closed != 0 || (open && a->slot < rec->slot))
        a->state = HSY_ANSWER_CLOSED;
    else
        a->state = answer_round(a, &a->number);
    if (a->state != 0)
        return;
    if (!open || a->slot > rec->slot)
        a->opening = DEVICE_SLOT_PAID;
    else if (rec->slot_state == DEVICE_SLOT_EXHAUSTED)
        a->state = HSY_ANSWER_EXHAUSTED;
}

/*
 * An answer at a lower epsilon is made from one at a higher, if there is one
 * for the same slot: free, and never from the truth again (R17). Only answers
 * that were paid for serve; what was made from them already adds nothing.
 */
static bool answer_origin(const struct answer *a, uint32_t *origin)
{
    static const uint8_t none[DEVICE_BASE];
    const hsy_device *dev = a->dev;
    hsy_scheme older;

    if (memcmp(a->r->base, none, DEVICE_BASE) == 0)
        return false;
    for (uint32_t i = 0; i < dev->nrecords; i++) {
        const struct device_record *rec = &dev->records[i];

        if (i != a->record && rec->source == a->rec->source &&
            rec->closed == 0 && rec->slot_state == DEVICE_SLOT_PAID &&
            rec->slot == a->slot &&
            rec->nano_permanent >= a->r->nano_permanent &&
            memcmp(rec->base, a->r->base, DEVICE_BASE) == 0 &&
            hsy_release_older(&older, a->r, rec)) {
            *origin = i;
            return true;
        }
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
    if (st != HSY_OK)
        return hsy_fail(err, st, "coins", "the coins failed");
    if (a->state == 0 && a->opening == DEVICE_SLOT_PAID &&
        answer_origin(a, &a->origin))
        a->opening = DEVICE_SLOT_LOWERED;
    return HSY_OK;
}

/* ---- Keys ---------------------------------------------------------------- */

/*
 * The key that is answered for: this one, if it is among those of the slot or
 * there is room for one more; else the oldest. How many keys there are tells
 * how often the truth changed, so it is as secret as they are.
 */
static uint64_t answer_key(struct answer *a, uint64_t key)
{
    const uint32_t most = a->rec->changes;
    uint64_t known = 0, add;

    for (uint32_t i = 0; i < most; i++)
        known |= ct_less(i, a->used) & ct_equal(a->keys[i], key);
    add = ~known & ct_less(a->used, most);
    for (uint32_t i = 0; i < most; i++)
        a->keys[i] = ct_select(add & ct_equal(i, a->used), key, a->keys[i]);
    a->used += add & 1;
    return ct_select(known | add, key, a->keys[0]);
}

/* ---- Noise --------------------------------------------------------------- */

/* A fresh answer's number in its slot, or the slot alone. */
static uint64_t answer_name(const struct answer *a)
{
    return a->r->permanent != NULL ? a->slot
                                   : a->slot * a->r->task.answers + a->number;
}

/* A fresh answer: secret coins by the truth, published ones without it. */
static hsy_status answer_fresh(struct answer *a, uint8_t *report)
{
    const hsy_scheme *s = a->r->scheme;
    struct device_draw own, truth;
    hsy_coins coins;
    hsy_status st = hsy_device_draw(a->dev, &own, DEVICE_PURPOSE_RELEASE, a->r,
                                    a->r->digest, answer_name(a), 0);

    if (st == HSY_OK)
        st = hsy_device_draw(a->dev, &truth, DEVICE_PURPOSE_PERMANENT, a->r,
                             a->r->digest, answer_name(a), a->code);
    if (st == HSY_OK) {
        coins = (hsy_coins){truth.coins.secret, own.coins.published};
        st = s->kind == HSY_KIND_TUPLE
                 ? s->mech->randomize_batch(s, report, a->codes, 1, &coins)
                 : s->mech->randomize(s, report, a->code, &coins);
    }
    hsy_device_drawn(&own);
    hsy_device_drawn(&truth);
    return st;
}

/* The permanent answer of a key. */
static hsy_status answer_permanent(const struct answer *a,
                                   const hsy_chain *chain,
                                   const uint8_t digest[HSY_DIGEST],
                                   uint64_t name, uint64_t key, uint8_t *answer)
{
    struct device_draw own, truth;
    hsy_coins coins;
    hsy_status st = hsy_device_draw(a->dev, &own, DEVICE_PURPOSE_RELEASE, a->r,
                                    digest, name, 0);

    if (st == HSY_OK)
        st = hsy_device_draw(a->dev, &truth, DEVICE_PURPOSE_PERMANENT, a->r,
                             digest, name, key);
    if (st == HSY_OK) {
        coins = (hsy_coins){truth.coins.secret, own.coins.published};
        st = hsy_chain_permanent(chain, answer, key, &coins);
    }
    hsy_device_drawn(&own);
    hsy_device_drawn(&truth);
    return st;
}

/*
 * The older answer, made again from its own key and coins, and weakened. The
 * mechanisms that do this (rr, grr, sue, oue) have the code itself as key and
 * make a permanent answer as they make a report, so one function serves for
 * both plans; a fresh older answer is number 0 of its slot.
 */
static hsy_status answer_lowered(const struct answer *a, uint8_t *answer,
                                 uint64_t *key)
{
    const struct device_record *old = &a->dev->records[a->origin];
    uint8_t *before = a->dev->scratch[2];
    hsy_scheme older;
    hsy_chain chain;
    struct device_draw draw;
    hsy_status st = HSY_E_DAMAGED;

    if (hsy_release_older(&older, a->r, old))
        st = hsy_chain_init(&chain, &older, hsy_release_charged(a->r), 0, NULL);
    if (st != HSY_OK)
        return st;
    *key = old->keys[0];
    st = answer_permanent(a, &chain, old->digest, a->slot * old->answers, *key,
                          before);
    if (st == HSY_OK)
        st = hsy_device_draw(a->dev, &draw, DEVICE_PURPOSE_LOWERED, a->r,
                             a->r->digest, answer_name(a), *key);
    if (st == HSY_OK) {
        st = hsy_chain_report(&chain, answer, before, &draw.coins.secret);
        hsy_device_drawn(&draw);
    }
    bytes_wipe(before, older.report_bytes);
    return st;
}

/* The permanent answer of this truth, or of the one that stands for it. */
static hsy_status answer_kept(struct answer *a, uint8_t *answer, uint64_t *key)
{
    struct device_draw own;
    hsy_status st = hsy_device_draw(a->dev, &own, DEVICE_PURPOSE_RELEASE, a->r,
                                    a->r->digest, a->slot, 0);

    if (st == HSY_OK)
        st = hsy_chain_key(&a->r->chain, key, a->code, &own.coins);
    hsy_device_drawn(&own);
    if (st != HSY_OK)
        return st;
    *key = answer_key(a, *key);
    return answer_permanent(a, &a->r->chain, a->r->digest, a->slot, *key,
                            answer);
}

/* One report from a permanent answer. */
static hsy_status answer_report(const struct answer *a, uint8_t *report,
                                const uint8_t *answer, uint64_t key)
{
    struct device_draw draw;
    hsy_status st = hsy_device_draw(
        a->dev, &draw, DEVICE_PURPOSE_REPORT, a->r, a->r->report_digest,
        a->round * a->r->task.answers + a->number, key);

    if (st == HSY_OK)
        st = hsy_chain_report(&a->r->chain, report, answer, &draw.coins.secret);
    hsy_device_drawn(&draw);
    return st;
}

/* A fresh answer is remembered only where a later release may be answered from
 * it: the first of its slot, as its key. */
static void answer_remember(struct answer *a)
{
    static const uint8_t none[DEVICE_BASE];

    if (a->number == 0 && memcmp(a->r->base, none, DEVICE_BASE) != 0) {
        a->keys[0] = a->code;
        a->used = 1;
    }
}

/* Into scratch[0], by way of scratch[1]. */
static hsy_status answer_noise(struct answer *a)
{
    uint8_t *report = a->dev->scratch[0], *answer = a->dev->scratch[1];
    const bool lowered = a->opening == DEVICE_SLOT_LOWERED ||
                         (a->opening == DEVICE_SLOT_NONE &&
                          a->rec->slot_state == DEVICE_SLOT_LOWERED);
    uint64_t key = 0;
    hsy_status st;

    if (a->r->permanent == NULL) {
        if (lowered)
            return answer_lowered(a, report, &key);
        answer_remember(a);
        return answer_fresh(a, report);
    }
    st = lowered ? answer_lowered(a, answer, &key)
                 : answer_kept(a, answer, &key);
    if (st == HSY_OK)
        st = answer_report(a, report, answer, key);
    bytes_wipe(answer, a->r->scheme->report_bytes);
    bytes_wipe(&key, sizeof key);
    return st;
}

/* Which place the answer takes [Vitter 1985, Alg. R]: all answers of a round
 * are equally likely to be sent. sends or more: none. */
static hsy_status answer_reservoir(struct answer *a)
{
    const uint64_t bound = (uint64_t)a->number + 1;
    struct device_draw draw;
    hsy_status st;

    a->place = a->number;
    if (a->number < a->rec->sends)
        return HSY_OK;
    st = hsy_device_draw(a->dev, &draw, DEVICE_PURPOSE_RESERVOIR, a->r,
                         a->r->digest,
                         a->round * a->r->task.answers + a->number, 0);
    if (st == HSY_OK)
        st = hsy_prob_below(&a->place, bound, hsy_prob_excess(bound),
                            &draw.coins.secret);
    hsy_device_drawn(&draw);
    return st;
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
        round->held |= (uint64_t)1 << a->number;
    round->answers++;
}

/* The round's place, emptied of what an earlier round left there. */
static void answer_begin_round(struct answer *a)
{
    struct device_round *round = answer_place(a);

    if (round->number == a->round + 1)
        return;
    if (round->held != 0) {
        hsy_entry e = hsy_device_entry(HSY_ENTRY_DROPPED, a->r, a->day);

        e.round = round->number - 1;
        e.slot = e.round / a->r->rounds;
        hsy_device_note(a->dev, &e);
    }
    *round = (struct device_round){.number = a->round + 1,
                                   .scheme = bytes_get64(a->r->report_digest)};
    bytes_wipe(device_reports(a->dev, a->record, round),
               device_round_bytes(a->rec));
}

static void answer_note(struct answer *a, uint32_t kind, uint64_t nano)
{
    hsy_entry e = hsy_device_entry(kind, a->r, a->day);

    e.slot = a->slot;
    e.round = a->round;
    e.nano = nano;
    e.state = (uint32_t)a->state;
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
    answer_note(a, HSY_ENTRY_CHARGE, a->r->nano_slot);
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
        a->rec->used = a->used;
        memcpy(a->rec->keys, a->keys, sizeof a->keys);
        answer_begin_round(a);
        answer_store(a);
    }
    answer_note(a, paid ? HSY_ENTRY_ANSWER : HSY_ENTRY_SILENT, 0);
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
    hsy_entry e = hsy_device_entry(HSY_ENTRY_SILENT, a->r, a->day);

    if (a->state == HSY_ANSWER_KEPT || *told == (uint64_t)a->day + 1)
        return;
    *told = (uint64_t)a->day + 1;
    e.slot = a->slot;
    e.round = a->round;
    e.state = (uint32_t)a->state;
    hsy_device_log(a->dev, &e);
}

/* ---- The calls ----------------------------------------------------------- */

/* The codes of a truth; of several attributes one keyed hash names the coins.
 * A wrong type is the program's mistake, found before anything else. */
static hsy_status answer_codes(struct answer *a, const hsy_truth *truth,
                               hsy_error *err)
{
    const hsy_scheme *s = a->r->scheme;
    const size_t width = hsy_code_width(s);
    uint8_t bytes[8 * HSY_ATTRIBUTES_MAX], hash[8];
    hsy_status st = hsy_truth_total(s, a->codes, truth, a->r->task.other, err);

    if (st != HSY_OK)
        return st;
    a->code = a->codes[0];
    if (s->kind == HSY_KIND_TUPLE) {
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
        return hsy_fail(err, HSY_E_POLICY, "task",
                        "the task was not admitted: hsy_device_admit");
    a->rec = &a->dev->records[a->record];
    return HSY_OK;
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
        a->used = a->rec->used;
        memcpy(a->keys, a->rec->keys, sizeof a->keys);
    }
    st = answer_noise(a);
    if (st == HSY_OK)
        st = answer_reservoir(a);
    if (st == HSY_OK)
        answer_write(a);
    bytes_wipe(a->dev->scratch[0], a->rec->report_bytes);
    if (st != HSY_OK)
        return hsy_fail(err, st, "coins",
                        "the coins failed; nothing was answered");
    a->dev->phase = DEVICE_WRITING;
    return HSY_OK;
}

hsy_status hsy_device_begin(hsy_device *dev, const hsy_release *r,
                            const hsy_truth *truth, hsy_answer_state *state,
                            const uint8_t **bytes, size_t *len,
                            uint64_t *number, hsy_error *err)
{
    struct answer a = {.dev = dev, .r = r};
    hsy_status st = answer_prepare(&a, truth, err);

    if (st == HSY_OK) {
        const bool write = dev->phase == DEVICE_WRITING;

        *bytes = write ? dev->image : NULL;
        *len = write ? dev->image_len : 0;
        *number = dev->generation;
        if (state != NULL)
            *state = a.state;
    }
    bytes_wipe(&a, sizeof a);
    return st;
}

hsy_status hsy_device_end(hsy_device *dev, hsy_status stored, hsy_error *err)
{
    if (dev->phase != DEVICE_WRITING)
        return hsy_fail(err, HSY_E_RANGE, "device", "nothing was begun");
    return hsy_state_settle(dev, stored, err);
}

hsy_status hsy_device_answer(hsy_device *dev, const hsy_release *r,
                             const hsy_truth *truth, hsy_answer_state *state,
                             hsy_error *err)
{
    hsy_answer_state made;
    const uint8_t *bytes;
    uint64_t number;
    size_t len;
    hsy_status st =
        hsy_device_begin(dev, r, truth, &made, &bytes, &len, &number, err);

    if (st == HSY_OK && len != 0)
        st = hsy_device_end(dev, hsy_state_store(dev), err);
    if (st == HSY_OK && state != NULL)
        *state = made;
    return st;
}
