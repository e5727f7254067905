/* question.c - what is asked, as people write it: lists of values, ranges. */
#include "host/format/question.h"

#include "host/base/csv.h"
#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

/* ---- Values -------------------------------------------------------------- */

static hsy_status question_fields(struct labels *l, const char *text,
                                  uint8_t *field, hsy_error *err)
{
    const uint8_t *begin = (const uint8_t *)text;
    struct csv_record r = {begin, begin + strlen(text), true};
    hsy_status st = HSY_OK;
    size_t len;

    while (r.more && st == HSY_OK) {
        if (!csv_take(&r, field, &len))
            return host_fail_at(err, HSY_E_FORMAT, HSY_FIELD_LABELS, csv_quote,
                                HSY_UNIT_NONE, l->d + 1);
        st = labels_add(l, field, len, err);
    }
    return st;
}

hsy_status question_values(struct labels *l, const char *text, hsy_error *err)
{
    uint8_t *field;
    hsy_status st;

    if (text[0] == '\0')
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_LABELS,
                         "the list is empty");
    field = malloc(strlen(text) + 1);
    if (field == NULL)
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_LABELS, NULL);
    st = question_fields(l, text, field, err);
    free(field);
    return st == HSY_OK ? labels_index(l, err) : st;
}

/* ---- Ranges -------------------------------------------------------------- */

/* How many decimals text[0..len) has. */
static size_t question_decimals(const char *text, size_t len)
{
    const char *point = memchr(text, '.', len);

    return point == NULL ? 0 : len - (size_t)(point - text) - 1;
}

/* Both ends in units of 10^-scale, if there is room: their difference stays
 * below 2^62. */
static hsy_status question_range_at(hsy_spec *spec, const char *text,
                                    size_t len_lo, uint32_t scale)
{
    const char *hi = text + len_lo + 1;
    hsy_status st = hsy_decimal_parse(&spec->lo, text, len_lo, scale);

    if (st == HSY_OK)
        st = hsy_decimal_parse(&spec->hi, hi, strlen(hi), scale);
    if (st == HSY_OK && spec->lo < spec->hi &&
        (uint64_t)spec->hi - (uint64_t)spec->lo >= (uint64_t)1 << 62)
        st = HSY_E_RANGE;
    spec->scale = scale;
    return st;
}

static hsy_status question_wrong(hsy_error *err, const char *msg)
{
    return host_fail(err, HSY_E_RANGE, HSY_FIELD_RANGE, msg);
}

hsy_status question_range(hsy_spec *spec, const char *text, hsy_error *err)
{
    const char *colon = strchr(text, ':');
    uint32_t scale = HSY_SCALE_MAX;
    size_t len_lo, least, other;
    hsy_status st;

    if (colon == NULL)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_RANGE, "not LO:HI");
    len_lo = (size_t)(colon - text);
    least = question_decimals(text, len_lo);
    other = question_decimals(colon + 1, strlen(colon + 1));
    least = least < other ? other : least;
    if (least > HSY_SCALE_MAX)
        return question_wrong(err, "at most 9 decimals");
    do
        st = question_range_at(spec, text, len_lo, scale);
    while (st == HSY_E_RANGE && scale-- > least);
    if (st == HSY_E_FORMAT)
        return question_wrong(err, "not two decimal numbers (a digit first, as "
                                   "in 0.5; no exponent): LO:HI");
    if (st != HSY_OK)
        return question_wrong(err, "too large: in units of the last decimal, "
                                   "HI - LO must be below 2^62 (4.6e18) and "
                                   "either end below 2^63");
    return spec->lo < spec->hi ? HSY_OK
                               : question_wrong(err, "LO must be below HI");
}
