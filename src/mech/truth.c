/*
 * truth.c - from a truth to its code, in time that tells nothing of it.
 *
 * Only whether a truth lies in the domain is decided by branches.
 */
#include "bytes.h"
#include "ct.h"
#include "fail.h"
#include "mech.h"

static const char truth_outside[] = "the value is outside the domain";

/*
 * floor(t d / W), at most d - 1, by long division over the bits of d: the
 * same steps for every t. t <= W < 2^63 and d <= 2^22, so t d < 2^85.
 */
static uint64_t truth_bin(uint64_t t, uint64_t width, uint32_t d)
{
    mech_u128 rest = (mech_u128)t * d;
    uint64_t bin = 0;

    for (int bit = 22; bit >= 0; bit--) {
        mech_u128 part = (mech_u128)width << bit;
        mech_u128 next = rest - part;
        uint64_t below = 0 - (uint64_t)(next >> 127); /* ones if rest < part */

        bin |= ~below & (uint64_t)1 << bit;
        rest = next + (part & ((mech_u128)below << 64 | below));
    }
    /* Only t = W reaches d, and belongs to the last bin. */
    return bin + ct_equal(bin, d);
}

/*
 * The hash of a string: BLAKE2b over its length and its bytes padded with zeros
 * to HSY_STRING_MAX, so every string costs the same compressions.
 */
static uint64_t truth_hash(const uint8_t *data, size_t len)
{
    uint8_t padded[8 + HSY_STRING_MAX], out[8];
    uint64_t code;

    bytes_put64(padded, len);
    for (size_t i = 0; i < HSY_STRING_MAX; i++) {
        uint64_t inside = ct_less(i, len);

        /* Past the end the first byte is read again, and dropped. */
        padded[8 + i] = (uint8_t)(data[i & inside] & inside);
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
        return hsy_fail(err, HSY_E_RANGE, "truth", truth_outside);
    *code = truth->u.index;
    return HSY_OK;
}

static hsy_status truth_number(const hsy_scheme *s, uint64_t *code,
                               const hsy_truth *truth, hsy_error *err)
{
    uint64_t steps;

    if (truth->type != HSY_TRUTH_NUMBER || truth->u.number < s->lo ||
        truth->u.number > s->hi)
        return hsy_fail(err, HSY_E_RANGE, "truth", truth_outside);
    steps = (uint64_t)truth->u.number - (uint64_t)s->lo;
    if (s->kind == HSY_KIND_BINS)
        steps = truth_bin(steps, (uint64_t)s->hi - (uint64_t)s->lo, s->d);
    *code = steps;
    return HSY_OK;
}

static hsy_status truth_string(uint64_t *code, const hsy_truth *truth,
                               hsy_error *err)
{
    static const uint8_t nothing[1] = {0};
    const uint8_t *data;

    if (truth->type != HSY_TRUTH_BYTES)
        return hsy_fail(err, HSY_E_RANGE, "truth", truth_outside);
    if (truth->u.bytes.len > HSY_STRING_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, "truth",
                              "a string has at most 1024 bytes",
                              HSY_STRING_MAX);
    data = truth->u.bytes.len == 0 ? nothing : truth->u.bytes.data;
    *code = truth_hash(data, truth->u.bytes.len);
    return HSY_OK;
}

hsy_status hsy_truth_code(const hsy_scheme *s, uint64_t *code,
                          const hsy_truth *truth, hsy_error *err)
{
    switch (s->kind) {
    case HSY_KIND_STRINGS:
        return truth_string(code, truth, err);
    case HSY_KIND_NUMBER:
    case HSY_KIND_BINS:
        return truth_number(s, code, truth, err);
    default:
        return truth_index(s, code, truth, err);
    }
}

uint64_t hsy_code_count(const hsy_scheme *s)
{
    if (s->kind == HSY_KIND_NUMBER)
        return (uint64_t)s->hi - (uint64_t)s->lo + 1;
    return s->d;
}
