/* spec_text.c - a spec from texts: what is asked, and how. */
#include "host/format/spec_text.h"

#include "host/base/csv.h"
#include "host/base/digits.h"
#include "host/base/host_fail.h"
#include "host/base/ratio.h"

#include <stdlib.h>
#include <string.h>

/* ---- Values -------------------------------------------------------------- */

static hsy_status spec_text_fields(struct labels *l, const char *text,
                                   uint8_t *field, hsy_error *err)
{
    const uint8_t *begin = (const uint8_t *)text;
    struct csv_record r = {begin, begin + strlen(text), true, ','};
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

hsy_status spec_text_values(struct labels *l, const char *text, hsy_error *err)
{
    uint8_t *field;
    hsy_status st;

    if (text[0] == '\0')
        return host_fail(err, HSY_E_EMPTY, HSY_FIELD_LABELS,
                         "the list is empty");
    field = malloc(strlen(text) + 1);
    if (field == NULL)
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_LABELS, NULL);
    st = spec_text_fields(l, text, field, err);
    free(field);
    return st == HSY_OK ? labels_index(l, err) : st;
}

/* ---- Ranges -------------------------------------------------------------- */

/* How many decimals text[0..len) has. */
static size_t spec_text_decimals(const char *text, size_t len)
{
    const char *point = memchr(text, '.', len);

    return point == NULL ? 0 : len - (size_t)(point - text) - 1;
}

/* Both ends in units of 10^-scale, if there is room: their difference stays
 * below 2^62. */
static hsy_status spec_text_range_at(hsy_spec *spec, const char *text,
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

static hsy_status spec_text_wrong(hsy_error *err, const char *msg)
{
    return host_fail(err, HSY_E_RANGE, HSY_FIELD_RANGE, msg);
}

hsy_status spec_text_range(hsy_spec *spec, const char *text, hsy_error *err)
{
    const char *colon = strchr(text, ':');
    uint32_t scale = HSY_SCALE_MAX;
    size_t len_lo, least, other;
    hsy_status st;

    if (colon == NULL)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_RANGE, "not LO:HI");
    len_lo = (size_t)(colon - text);
    least = spec_text_decimals(text, len_lo);
    other = spec_text_decimals(colon + 1, strlen(colon + 1));
    least = least < other ? other : least;
    if (least > HSY_SCALE_MAX)
        return spec_text_wrong(err, "at most 9 decimals");
    do
        st = spec_text_range_at(spec, text, len_lo, scale);
    while (st == HSY_E_RANGE && scale-- > least);
    if (st == HSY_E_FORMAT)
        return spec_text_wrong(err, "not two decimal numbers (no exponent): "
                                    "LO:HI");
    if (st != HSY_OK)
        return spec_text_wrong(err, "too large: in units of the last decimal, "
                                    "HI - LO must be below 2^62 (4.6e18) and "
                                    "either end below 2^63");
    return spec->lo < spec->hi ? HSY_OK
                               : spec_text_wrong(err, "LO must be below HI");
}

/* ---- How it is asked ----------------------------------------------------- */

static hsy_status spec_text_epsilon(hsy_spec *spec, const char *text,
                                    hsy_error *err)
{
    const hsy_status st =
        hsy_epsilon_parse(&spec->nano_epsilon, text, strlen(text));

    if (st == HSY_OK)
        return st;
    return host_fail(err, st, HSY_FIELD_EPSILON,
                     st == HSY_E_FORMAT
                         ? "not a decimal number (no exponent); write it "
                           "as 1, 0.5 or ln3"
                         : "must be from 0.000001 to 32");
}

#define SPEC_TEXT_SHARES                                                       \
    " from 0 to 1, as decimals (0.75, at most 9 digits after the point), "     \
    "percentages (75%) or fractions (3/4, denominator at most 2^31)"

static const struct spec_text_design {
    const char *key;
    hsy_design design;
    size_t chances;
    const char *takes;
} spec_text_designs[] = {
    {"spinner", HSY_DESIGN_SPINNER, 1, "a probability" SPEC_TEXT_SHARES},
    {"coins", HSY_DESIGN_COINS, 2, "two probabilities A,B" SPEC_TEXT_SHARES},
    {"channel", HSY_DESIGN_CHANNEL, 2,
     "two probabilities A,B" SPEC_TEXT_SHARES},
    {"rappor", HSY_DESIGN_RAPPOR, 3,
     "three probabilities F,P,Q" SPEC_TEXT_SHARES},
};

/* 0.75 and 3/4 are one scheme. */
static hsy_ratio spec_text_reduced(hsy_ratio r)
{
    const uint64_t common = ratio_gcd(r.num, r.den);

    return common != 0 ? (hsy_ratio){r.num / common, r.den / common} : r;
}

/* All of its probabilities, or one where it stands by itself. */
static hsy_status spec_text_chance(hsy_spec *spec,
                                   const struct spec_text_design *d,
                                   const struct spec_said *said, hsy_error *err)
{
    const bool one = said->at != SPEC_TEXT_WHOLE;
    hsy_ratio chance[HSY_CHANCES] = {{0, 0}}; /* none given */

    if (spec->design != HSY_DESIGN_EPSILON &&
        !(one && spec->design == d->design))
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_DESIGN,
                         "one design at a time, and once");
    if (!ratio_parse_list(chance, one ? 1 : d->chances, said->text))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_CHANCE,
                         one ? spec_text_designs[0].takes : d->takes);
    spec->design = d->design;
    if (one)
        spec->chance[said->at] = spec_text_reduced(chance[0]);
    for (size_t i = 0; i < d->chances && !one; i++)
        spec->chance[i] = spec_text_reduced(chance[i]);
    return HSY_OK;
}

static bool spec_text_named(const struct spec_said *said, const char *name)
{
    return name != NULL && strlen(name) == said->len &&
           memcmp(name, said->key, said->len) == 0;
}

size_t spec_text_param(const char *key, size_t len)
{
    const struct spec_said said = {key, len, NULL, 0};
    size_t i = 0;

    while (i < HSY_PARAMS && !spec_text_named(&said, hsy_param_name(i)))
        i++;
    return i;
}

/* 0 stands for the mechanism's own choice; only a seed may be 0. */
static hsy_status spec_text_number(hsy_spec *spec, uint32_t *given,
                                   const struct spec_said *said, hsy_error *err)
{
    const size_t i = spec_text_param(said->key, said->len);
    const uint64_t least = i != HSY_PARAM_POOL_SEED;
    uint64_t x = 0;

    if (i == HSY_PARAMS)
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_PARAMETERS,
                         "there is no such parameter");
    if (*given >> i & 1)
        return host_fail(err, HSY_E_REFUSED, HSY_FIELD_PARAMETERS,
                         "given twice");
    if (!digits_parse(&x, said->text, strlen(said->text), HSY_PARAM_MAX) ||
        x < least)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_PARAMETERS,
                         least != 0 ? "an integer from 1 to 2^53 - 1"
                                    : "an integer from 0 to 2^53 - 1");
    *given |= (uint32_t)1 << i;
    spec->param[i] = x;
    return HSY_OK;
}

hsy_status spec_text_take(hsy_spec *spec, uint32_t *given,
                          const struct spec_said *said, hsy_error *err)
{
    const size_t n = sizeof spec_text_designs / sizeof spec_text_designs[0];

    if (spec_text_named(said, "epsilon"))
        return spec_text_epsilon(spec, said->text, err);
    if (spec_text_named(said, "alphabet"))
        return hsy_alphabet_parse(spec->alphabet, said->text,
                                  strlen(said->text), err);
    for (size_t i = 0; i < n; i++)
        if (spec_text_named(said, spec_text_designs[i].key))
            return spec_text_chance(spec, &spec_text_designs[i], said, err);
    return spec_text_number(spec, given, said, err);
}

void spec_text_labels(hsy_spec *spec, const struct labels *l)
{
    spec->kind = HSY_KIND_VALUES;
    spec->d = l->d;
    spec->labels = l->block;
    spec->labels_len = l->len;
}
