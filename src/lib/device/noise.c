/*
 * noise.c - the coins of an answer.
 *
 * One question has one answer, so each coin is named by what it is for:
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
#include "lib/device/internal.h"

#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/scheme/scheme.h"

#include <string.h>

/* ---- Keys ---------------------------------------------------------------- */

/*
 * The key that is answered for: this one, if it is among those of the slot or
 * there is room for one more; else the oldest. How many keys there are tells
 * how often the truth changed, so it is as secret as they are.
 */
static uint64_t noise_key(struct answer *a, uint64_t key)
{
    const uint32_t most = a->rec->changes;
    uint64_t known = 0, add;

    /* Hidden, or a compiler makes an index of `used` and a branch of it. */
    for (uint32_t i = 0; i < most; i++)
        known |= ct_less(ct_hide(i), a->used) & ct_equal(a->keys[i], key);
    add = ~known & ct_less(ct_hide(a->used), most);
    for (uint32_t i = 0; i < most; i++)
        a->keys[i] =
            ct_select(add & ct_equal(ct_hide(i), a->used), key, a->keys[i]);
    a->used += add & 1;
    return ct_select(known | add, key, a->keys[0]);
}

/* ---- Noise --------------------------------------------------------------- */

/* A fresh answer's number in its slot, or the slot alone. */
static uint64_t noise_name(const struct answer *a)
{
    return a->r->permanent != NULL ? a->slot
                                   : a->slot * a->r->task.answers + a->number;
}

/* The permanent answer of a key, or (memo NULL) a fresh one to the truth whose
 * code the key is: secret coins by the key, published ones without it. */
static hsy_status noise_answer(const struct answer *a,
                               const hsy_permanent *memo,
                               const uint8_t digest[HSY_DIGEST], uint64_t name,
                               uint64_t key, uint8_t *answer)
{
    const hsy_scheme *s = a->r->scheme;
    struct device_draw own, truth;
    hsy_status st = hsy_device_draw(a->dev, &own, DEVICE_PURPOSE_RELEASE, a->r,
                                    digest, name, 0);

    if (st == HSY_OK)
        st = hsy_device_draw(a->dev, &truth, DEVICE_PURPOSE_PERMANENT, a->r,
                             digest, name, key);
    if (st == HSY_OK) {
        hsy_coins coins = {truth.coins.secret, own.coins.published};

        st = memo != NULL
                 ? hsy_permanent_answer(memo, answer, key, &coins)
                 : s->mech->client->randomize(s, answer, a->codes, 1, &coins);
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
static hsy_status noise_lowered(const struct answer *a, uint8_t *answer,
                                uint64_t *key)
{
    const struct device_record *old = &a->dev->records[a->origin];
    uint8_t *before = a->dev->scratch[2];
    hsy_scheme older;
    hsy_permanent memo;
    struct device_draw draw;
    hsy_status st = HSY_E_DAMAGED;

    if (hsy_release_older(&older, a->r, old))
        st = hsy_permanent_init(&memo, &older, hsy_release_charged(a->r), 0,
                                NULL);
    if (st != HSY_OK)
        return st;
    *key = old->keys[0];
    st = noise_answer(a, &memo, old->digest, a->slot * old->answers, *key,
                      before);
    if (st == HSY_OK)
        st = hsy_device_draw(a->dev, &draw, DEVICE_PURPOSE_LOWERED, a->r,
                             a->r->digest, noise_name(a), *key);
    if (st == HSY_OK) {
        st = hsy_permanent_report(&memo, answer, before, &draw.coins.secret);
        hsy_device_drawn(&draw);
    }
    bytes_wipe(before, older.report_bytes);
    return st;
}

/* The permanent answer of this truth, or of the one that stands for it. */
static hsy_status noise_kept(struct answer *a, uint8_t *answer, uint64_t *key)
{
    struct device_draw own;
    hsy_status st = hsy_device_draw(a->dev, &own, DEVICE_PURPOSE_RELEASE, a->r,
                                    a->r->digest, a->slot, 0);

    if (st == HSY_OK)
        st = hsy_permanent_key(&a->r->memo, key, a->code, &own.coins);
    hsy_device_drawn(&own);
    if (st != HSY_OK)
        return st;
    *key = noise_key(a, *key);
    return noise_answer(a, &a->r->memo, a->r->digest, a->slot, *key, answer);
}

/* One report from a permanent answer. */
static hsy_status noise_report(const struct answer *a, uint8_t *report,
                               const uint8_t *answer, uint64_t key)
{
    struct device_draw draw;
    hsy_status st = hsy_device_draw(
        a->dev, &draw, DEVICE_PURPOSE_REPORT, a->r, a->r->report_digest,
        a->round * a->r->task.answers + a->number, key);

    if (st == HSY_OK)
        st = hsy_permanent_report(&a->r->memo, report, answer,
                                  &draw.coins.secret);
    hsy_device_drawn(&draw);
    return st;
}

/* A fresh answer is remembered only where a later release may be answered from
 * it: the first of its slot, as its key. */
static void noise_remember(struct answer *a)
{
    static const uint8_t none[DEVICE_BASE];

    if (a->number == 0 && memcmp(a->r->base, none, DEVICE_BASE) != 0) {
        a->keys[0] = a->code;
        a->used = 1;
    }
}

/* By way of scratch[1], if there is a permanent answer. */
hsy_status hsy_noise_make(struct answer *a)
{
    uint8_t *report = a->dev->scratch[0], *answer = a->dev->scratch[1];
    const bool lowered = a->opening == DEVICE_SLOT_LOWERED ||
                         (a->opening == DEVICE_SLOT_NONE &&
                          a->rec->slot_state == DEVICE_SLOT_LOWERED);
    uint64_t key = 0;
    hsy_status st;

    if (a->r->permanent == NULL) {
        if (lowered)
            return noise_lowered(a, report, &key);
        noise_remember(a);
        return noise_answer(a, NULL, release_fresh(a->r), noise_name(a),
                            a->code, report);
    }
    st = lowered ? noise_lowered(a, answer, &key) : noise_kept(a, answer, &key);
    if (st == HSY_OK)
        st = noise_report(a, report, answer, key);
    bytes_wipe(answer, a->r->scheme->report_bytes);
    bytes_wipe(&key, sizeof key);
    return st;
}

/* Which place the answer takes [Vitter 1985, Alg. R]: all answers of a round
 * are equally likely to be sent. sends or more: none. */
hsy_status hsy_noise_place(struct answer *a)
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
