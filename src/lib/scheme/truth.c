/*
 * truth.c - from a truth to its code, in time that tells nothing of it.
 *
 * Only whether a truth lies in the domain is decided by branches.
 */
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"
#include "lib/core/fail.h"
#include "lib/scheme/scheme.h"
#include "lib/scheme/spell.h"

static const char truth_outside[] = "the value is outside the domain";

/*
 * floor(t d / W), at most d - 1, by long division over the bits of d: the
 * same steps for every t. t <= W < 2^63 and d <= 2^22, so t d < 2^85.
 */
static uint64_t truth_bin(uint64_t t, uint64_t width, uint32_t d)
{
    hsy_u128 rest = (hsy_u128)t * d;
    uint64_t bin = 0;

    for (int bit = 22; bit >= 0; bit--) {
        hsy_u128 part = (hsy_u128)width << bit;
        hsy_u128 next = rest - part;
        uint64_t below = 0 - (uint64_t)(next >> 127); /* ones if rest < part */

        bin |= ~below & (uint64_t)1 << bit;
        rest = next + (part & ((hsy_u128)below << 64 | below));
    }
    /* Only t = W reaches d, and belongs to the last bin. */
    return bin + ct_equal(bin, d);
}

/*
 * The hash of a string: BLAKE2b over its length and its bytes padded with zeros
 * to HSY_STRING_MAX, so every string costs the same compressions. All of room
 * is read, len <= room, so addresses do not depend on len either.
 */
static uint64_t truth_hash(const uint8_t *data, size_t room, size_t len)
{
    uint8_t padded[8 + HSY_STRING_MAX], out[8];
    uint64_t code;

    bytes_put64(padded, len);
    for (size_t i = 0; i < HSY_STRING_MAX; i++) {
        /* Past the room the first byte is read again, and dropped. */
        uint8_t byte = data[i & ct_less(i, room)];

        padded[8 + i] = (uint8_t)(byte & ct_less(i, len));
    }
    hsy_blake2b(out, sizeof out, padded, sizeof padded, NULL, 0);
    code = bytes_get64(out);
    bytes_wipe(padded, sizeof padded);
    bytes_wipe(out, sizeof out);
    return code;
}

static hsy_status truth_index(const hsy_scheme *s, uint64_t *code,
                              const hsy_truth *truth, hsy_error *err)
{
    if (truth->type != HSY_TRUTH_INDEX || truth->u.index >= s->d)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TRUTH, truth_outside);
    *code = truth->u.index;
    return HSY_OK;
}

static hsy_status truth_number(const hsy_scheme *s, uint64_t *code,
                               const hsy_truth *truth, hsy_error *err)
{
    uint64_t steps;

    if (truth->type != HSY_TRUTH_NUMBER || truth->u.number < s->lo ||
        truth->u.number > s->hi)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TRUTH, truth_outside);
    steps = (uint64_t)truth->u.number - (uint64_t)s->lo;
    if (s->kind == HSY_KIND_BINS)
        steps = truth_bin(steps, (uint64_t)s->hi - (uint64_t)s->lo, s->d);
    *code = steps;
    return HSY_OK;
}

/* Only a string that comes back as it was is inside the domain. */
static hsy_status truth_spelled(const hsy_scheme *s, uint64_t *codes,
                                const uint8_t *data, size_t room, size_t len,
                                hsy_error *err)
{
    const uint64_t wrong = s->mech->client->spell(s, codes, data, room, len);

    if (wrong & SPELL_LONG)
        return hsy_fail_limit(
            err, HSY_E_RANGE, HSY_FIELD_BITS,
            "the string is longer than its spelling: raise its bits, or count "
            "such strings as \"other\"",
            hsy_spell_most(s));
    if (wrong & SPELL_FOREIGN)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ALPHABET,
                        "the string has a byte that is not in the alphabet: "
                        "add it there, or count such strings as \"other\"");
    if (wrong & SPELL_ENDING)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TRUTH,
                        "the string ends in a zero byte, which spelling does "
                        "not keep");
    return HSY_OK;
}

static hsy_status truth_string(const hsy_scheme *s, uint64_t *code,
                               const hsy_truth *truth, hsy_error *err)
{
    static const uint8_t nothing[1] = {0};
    const uint8_t *data = truth->u.bytes.data;
    const size_t len = truth->u.bytes.len;
    size_t room = truth->u.bytes.room;

    if (truth->type != HSY_TRUTH_BYTES)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TRUTH, truth_outside);
    if (len > HSY_STRING_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_TRUTH,
                               "a string has at most 1024 bytes",
                               HSY_STRING_MAX);
    if (room != 0 && len > room)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TRUTH, truth_outside);
    if (room == 0)
        room = len; /* no more may be read, so the length shows */
    if (room == 0)
        data = nothing;
    if (s->mech->client->spell != NULL)
        return truth_spelled(s, code, data, room, len, err);
    *code = truth_hash(data, room, len);
    return HSY_OK;
}

/* A code itself, in place of a string that spells it. */
static bool truth_is_raw(const hsy_scheme *s, const hsy_truth *truth)
{
    return s->mech->client->spell != NULL && truth->type == HSY_TRUTH_INDEX;
}

/* Its last M bits: an index has 32, so at most two words are not zeros. What
 * they amount to. */
static uint64_t truth_raw(const hsy_scheme *s, uint64_t *codes,
                          const hsy_truth *truth)
{
    const uint64_t bits = s->param[HSY_PARAM_BITS];
    const size_t words = spell_words(bits);
    const unsigned left = (unsigned)(bits - 64 * (words - 1)); /* of the last */
    const uint64_t index = truth->u.index;

    for (size_t k = 0; k < words; k++)
        codes[k] = 0;
    codes[words - 1] = index & UINT64_MAX >> (64 - left);
    if (words == 1 || left == 64)
        return codes[words - 1];
    codes[words - 2] = index >> left;
    return index;
}

static hsy_status truth_one(const hsy_scheme *s, uint64_t *code,
                            const hsy_truth *truth, hsy_error *err)
{
    if (truth_is_raw(s, truth))
        return truth_raw(s, code, truth) == truth->u.index
                   ? HSY_OK
                   : hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TRUTH, truth_outside);
    switch (s->kind) {
    case HSY_KIND_STRINGS:
        return truth_string(s, code, truth, err);
    case HSY_KIND_NUMBER:
    case HSY_KIND_BINS:
        return truth_number(s, code, truth, err);
    default:
        return truth_index(s, code, truth, err);
    }
}

/* All items are coded whatever became of the others, and what is said of a bad
 * one is the same for each. */
static hsy_status truth_tuple(const hsy_scheme *s, uint64_t *codes,
                              const hsy_truth *truth, hsy_error *err)
{
    const size_t width = hsy_codes_per_truth(s);
    uint64_t made[HSY_ATTRIBUTES_MAX] = {0};
    bool outside = false;

    if (truth->type != HSY_TRUTH_TUPLE || truth->u.tuple.count != width)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_TRUTH,
                              "not one item for each attribute", width);
    for (size_t i = 0; i < width; i++)
        outside |= truth_one(hsy_scheme_attribute(s, i), &made[i],
                             &truth->u.tuple.items[i], NULL) != HSY_OK;
    for (size_t i = 0; i < width && !outside; i++)
        codes[i] = made[i];
    bytes_wipe(made, sizeof made);
    if (outside)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_TRUTH, truth_outside);
    return HSY_OK;
}

hsy_status hsy_truth_code(const hsy_scheme *s, uint64_t *code,
                          const hsy_truth *truth, hsy_error *err)
{
    return s->kind == HSY_KIND_TUPLE ? truth_tuple(s, code, truth, err)
                                     : truth_one(s, code, truth, err);
}

/* ---- Total: on a device no truth is an error ----------------------------- */

/* x, or the nearer end of lo to hi. Turning the sign bit makes the order of
 * signed numbers that of unsigned ones. */
static uint64_t truth_clamp(const hsy_scheme *s, int64_t x)
{
    const uint64_t sign = (uint64_t)1 << 63;
    const uint64_t lo = (uint64_t)s->lo ^ sign, hi = (uint64_t)s->hi ^ sign;
    uint64_t u = (uint64_t)x ^ sign;

    u = ct_select(ct_less(u, lo), lo, u);
    u = ct_select(ct_less(hi, u), hi, u);
    return u - lo;
}

static void truth_total_string(const hsy_scheme *s, uint64_t *codes,
                               const hsy_truth *truth)
{
    static const uint8_t nothing[1] = {0};
    const uint8_t *data = truth->u.bytes.data;
    size_t room = truth->u.bytes.room;
    uint64_t len = truth->u.bytes.len;

    if (room == 0)
        room = (size_t)len; /* no more may be read, so the length shows */
    len = ct_select(ct_less(room, len), room, len);
    len = ct_select(ct_less(HSY_STRING_MAX, len), HSY_STRING_MAX, len);
    if (room == 0)
        data = nothing;
    if (s->mech->client->spell != NULL)
        (void)s->mech->client->spell(s, codes, data, room, (size_t)len);
    else
        codes[0] = truth_hash(data, room, (size_t)len);
}

static hsy_status truth_total_one(const hsy_scheme *s, uint64_t *code,
                                  const hsy_truth *truth, uint32_t other)
{
    const uint64_t width = (uint64_t)s->hi - (uint64_t)s->lo;
    const hsy_truth_type want =
        s->kind == HSY_KIND_STRINGS ? HSY_TRUTH_BYTES
        : s->kind == HSY_KIND_NUMBER || s->kind == HSY_KIND_BINS
            ? HSY_TRUTH_NUMBER
            : HSY_TRUTH_INDEX;

    if (truth_is_raw(s, truth)) {
        (void)truth_raw(s, code, truth);
        return HSY_OK;
    }
    if (truth->type != want)
        return HSY_E_RANGE;
    if (want == HSY_TRUTH_BYTES)
        truth_total_string(s, code, truth);
    else if (want == HSY_TRUTH_INDEX)
        *code = ct_select(ct_less(truth->u.index, s->d), truth->u.index,
                          other < s->d ? other : s->d - 1);
    else if (s->kind == HSY_KIND_NUMBER)
        *code = truth_clamp(s, truth->u.number);
    else
        *code = truth_bin(truth_clamp(s, truth->u.number), width, s->d);
    return HSY_OK;
}

hsy_status hsy_truth_code_clamped(const hsy_scheme *s, uint64_t *codes,
                                  const hsy_truth *truth, uint32_t other,
                                  hsy_error *err)
{
    const hsy_truth *items = truth;
    size_t count = 1;
    hsy_status st = HSY_OK;

    if (s->kind == HSY_KIND_TUPLE) {
        count = hsy_codes_per_truth(s);
        if (truth->type != HSY_TRUTH_TUPLE || truth->u.tuple.count != count)
            return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_TRUTH,
                                  "not one item for each attribute", count);
        items = truth->u.tuple.items;
    }
    for (size_t i = 0; i < count && st == HSY_OK; i++)
        st = truth_total_one(hsy_scheme_attribute(s, i), &codes[i], &items[i],
                             other);
    if (st != HSY_OK)
        return hsy_fail(err, st, HSY_FIELD_TRUTH,
                        "not the type of truth that is asked for: an index, a "
                        "number or a string");
    return HSY_OK;
}

/* Of the last word of a spelled string; 0 if it may be anything. */
static uint64_t truth_spelled_count(const hsy_scheme *s)
{
    const unsigned left = s->param[HSY_PARAM_BITS] % 64;

    return left == 0 ? 0 : (uint64_t)1 << left;
}

uint64_t hsy_code_count(const hsy_scheme *s)
{
    if (s->kind == HSY_KIND_NUMBER)
        return (uint64_t)s->hi - (uint64_t)s->lo + 1;
    if (s->mech->client->spell != NULL)
        return hsy_codes_per_truth(s) == 1 ? truth_spelled_count(s) : 0;
    return s->d;
}

/* How many codes there are at place a of a truth's. */
static uint64_t truth_count_at(const hsy_scheme *s, size_t a)
{
    if (s->mech->client->spell == NULL)
        return hsy_code_count(hsy_scheme_attribute(s, a));
    return a + 1 == hsy_codes_per_truth(s) ? truth_spelled_count(s) : 0;
}

/* There are at most 2^63 codes, so one outside has its top bit set, or count -
 * 1 less it is negative. */
bool hsy_codes_inside(const hsy_scheme *s, const uint64_t *codes, size_t n)
{
    const size_t width = hsy_codes_per_truth(s);
    uint64_t outside = 0;

    for (size_t a = 0; a < width; a++) {
        const uint64_t count = truth_count_at(s, a);

        for (size_t i = a; i < n * width && count != 0; i += width)
            outside |= codes[i] | (count - 1 - codes[i]);
    }
    return outside >> 63 == 0;
}
