/* scheme.c - from a spec to a scheme: the checks all mechanisms share. */
#include "lib/scheme/scheme.h"

#include "lib/bits/bytes.h"
#include "lib/core/fail.h"
#include "lib/scheme/permanent.h"
#include "lib/scheme/sampled.h"
#include "lib/scheme/tuple.h"

#include <string.h>

/* The first version's spec ended here; later ones append. */
#define SCHEME_SPEC_FIRST                                                      \
    (offsetof(hsy_spec, param) + sizeof(uint64_t[HSY_PARAMS]))
#define SCHEME_SPEC_MAX 4096

static hsy_status scheme_epsilon(hsy_scheme *s, const hsy_spec *spec,
                                 hsy_error *err)
{
    bool needed = spec->design == HSY_DESIGN_EPSILON;

    s->nano_epsilon = spec->nano_epsilon;
    if (!needed && spec->nano_epsilon == 0)
        return HSY_OK;
    if (spec->nano_epsilon < HSY_EPSILON_MIN)
        return hsy_fail_kind(err, HSY_E_RANGE, HSY_FIELD_EPSILON,
                             "epsilon is at least 0.000001", HSY_LIMIT_NANO,
                             HSY_EPSILON_MIN);
    if (spec->nano_epsilon > HSY_EPSILON_MAX)
        return hsy_fail_kind(err, HSY_E_RANGE, HSY_FIELD_EPSILON,
                             "epsilon is at most 32", HSY_LIMIT_NANO,
                             HSY_EPSILON_MAX);
    return HSY_OK;
}

static hsy_status scheme_values(hsy_scheme *s, const hsy_spec *spec,
                                hsy_error *err)
{
    s->d = spec->d;
    if (s->d == 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                        "the list is empty");
    if (s->d == 1)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                        "with one value there is nothing to learn, so "
                        "nothing is sent");
    if (s->d > HSY_VALUES_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                              "too many values", HSY_VALUES_MAX);
    return HSY_OK;
}

static hsy_status scheme_range(hsy_scheme *s, const hsy_spec *spec,
                               hsy_error *err)
{
    uint64_t width = (uint64_t)spec->hi - (uint64_t)spec->lo;

    if (spec->lo >= spec->hi)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_RANGE,
                        "the range's low end is not below its high end");
    if (width > INT64_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_RANGE,
                              "the range is too wide", INT64_MAX);
    if (spec->scale > HSY_SCALE_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_SCALE,
                               "at most 9 decimals", HSY_SCALE_MAX);
    if (s->d > width)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_BINS,
                              "more bins than steps in the range", width);
    s->lo = spec->lo;
    s->hi = spec->hi;
    s->scale = spec->scale;
    return HSY_OK;
}

/* Strings have no list, unless a stage says which prefixes are left. */
static hsy_status scheme_strings(hsy_scheme *s, const hsy_spec *spec,
                                 bool staged, hsy_error *err)
{
    if (spec->d != 0 && !staged)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                        "this kind of truth has no list of values");
    if (spec->d != 0 && spec->labels == NULL)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_PREFIXES,
                        "there are fewer than stated");
    s->d = spec->d;
    return HSY_OK;
}

static hsy_status scheme_domain(hsy_scheme *s, const hsy_spec *spec,
                                bool staged, hsy_error *err)
{
    hsy_status st;

    s->kind = spec->kind;
    switch (spec->kind) {
    case HSY_KIND_YES_NO:
        s->d = 2;
        if (spec->d != 0 && spec->d != 2)
            return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                                  "a yes/no question has two values", 2);
        return HSY_OK;
    case HSY_KIND_VALUES:
        return scheme_values(s, spec, err);
    case HSY_KIND_BINS:
        st = scheme_values(s, spec, err);
        return st == HSY_OK ? scheme_range(s, spec, err) : st;
    case HSY_KIND_STRINGS:
        return scheme_strings(s, spec, staged, err);
    case HSY_KIND_NUMBER:
        if (spec->d != 0)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                            "this kind of truth has no list of values");
        return scheme_range(s, spec, err);
    case HSY_KIND_TUPLE:
        if (spec->d != 0)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                            "several attributes have no list of values");
        return HSY_OK;
    default:
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_KIND,
                        "no such kind of truth");
    }
}

/* What belongs to other kinds must be absent, so that nothing is ignored. */
static hsy_status scheme_foreign(const hsy_scheme *s, const hsy_spec *spec,
                                 bool staged, hsy_error *err)
{
    bool number = s->kind == HSY_KIND_NUMBER || s->kind == HSY_KIND_BINS;

    if (!number && (spec->lo != 0 || spec->hi != 0 || spec->scale != 0))
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_RANGE,
                        "only a number has a range");
    if (s->kind != HSY_KIND_VALUES && s->kind != HSY_KIND_TUPLE &&
        !(staged && s->kind == HSY_KIND_STRINGS) && spec->labels != NULL)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_LABELS,
                        "only a list of values has labels");
    return HSY_OK;
}

/* From `at` on, labels is exactly d times a length and as many bytes. */
static hsy_status scheme_each_label(const hsy_scheme *s, const hsy_spec *spec,
                                    size_t at, hsy_error *err)
{
    for (uint32_t v = 0; v < s->d; v++) {
        uint32_t len;

        if (spec->labels_len - at < 4)
            return hsy_fail_at(err, HSY_E_FORMAT, HSY_FIELD_LABELS,
                               "fewer labels than values", HSY_UNIT_VALUE,
                               v + 1);
        len = bytes_get32(spec->labels + at);
        at += 4;
        if (len > HSY_LABEL_MAX)
            return hsy_fail_at(err, HSY_E_RANGE, HSY_FIELD_LABELS,
                               "a label has at most 4096 bytes", HSY_UNIT_VALUE,
                               v + 1);
        if (len > spec->labels_len - at)
            return hsy_fail_at(err, HSY_E_FORMAT, HSY_FIELD_LABELS,
                               "a label is cut short", HSY_UNIT_VALUE, v + 1);
        at += len;
    }
    if (at != spec->labels_len)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_LABELS,
                        "more labels than values");
    return HSY_OK;
}

/* Labels that have passed all checks become part of the scheme. */
static void scheme_keep_labels(hsy_scheme *s, const hsy_spec *spec)
{
    s->labels_len = spec->labels_len;
    hsy_blake2b(s->labels_digest, HSY_DIGEST, spec->labels, spec->labels_len,
                NULL, 0);
}

static hsy_status scheme_attributes(hsy_scheme *s, const hsy_spec *spec,
                                    hsy_error *err)
{
    hsy_status st = hsy_tuple_check(spec, err);

    if (st != HSY_OK)
        return st;
    s->labels_at = spec->labels_len;
    scheme_keep_labels(s, spec);
    return HSY_OK;
}

/* A matrix, if the design has one, and then labels or none. */
static hsy_status scheme_labels(hsy_scheme *s, const hsy_spec *spec,
                                hsy_error *err)
{
    bool matrix = spec->design == HSY_DESIGN_MATRIX;
    hsy_status st = HSY_OK;

    if (spec->labels == NULL && spec->labels_len != 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_LABELS,
                        "the labels are missing");
    if (matrix && s->d > HSY_MATRIX_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                               "a matrix has at most 64 states",
                               HSY_MATRIX_MAX);
    s->labels_at = matrix ? hsy_matrix_bytes(s->d) : 0;
    if (spec->labels_len < s->labels_at)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_MATRIX,
                        "the matrix is cut short");
    if (spec->labels == NULL)
        return HSY_OK;
    if (spec->labels_len > HSY_LABELS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_LABELS,
                              "the labels are too long together",
                              HSY_LABELS_MAX);
    if (!matrix || spec->labels_len != s->labels_at)
        st = scheme_each_label(s, spec, s->labels_at, err);
    if (st == HSY_OK)
        scheme_keep_labels(s, spec);
    return st;
}

static hsy_status scheme_common(hsy_scheme *s, const hsy_spec *spec,
                                bool staged, hsy_error *err)
{
    hsy_status st = scheme_domain(s, spec, staged, err);

    if (st == HSY_OK)
        st = scheme_foreign(s, spec, staged, err);
    if (st == HSY_OK)
        st = scheme_epsilon(s, spec, err);
    if (st == HSY_OK)
        st = s->kind == HSY_KIND_TUPLE ? scheme_attributes(s, spec, err)
                                       : scheme_labels(s, spec, err);
    return st;
}

/*
 * The spec as this version has it. A program built with an older header gives
 * less: the rest is zero. One built with a newer header gives more: what is
 * not known here must be zero, so that nothing is ignored.
 */
static hsy_status scheme_spec(hsy_spec *known, const hsy_spec *given,
                              hsy_error *err)
{
    const uint8_t *bytes = (const uint8_t *)given;
    const struct hsy_mechanism *mech;
    size_t size = given->size;

    if (size < SCHEME_SPEC_FIRST || size > SCHEME_SPEC_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SIZE,
                              "set it to sizeof(hsy_spec)", sizeof *known);
    for (size_t i = sizeof *known; i < size; i++)
        if (bytes[i] != 0)
            return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_SIZE,
                                  "the spec asks for what only a later "
                                  "version knows",
                                  sizeof *known);
    memset(known, 0, sizeof *known);
    memcpy(known, given, size < sizeof *known ? size : sizeof *known);
    mech = hsy_mech_meant(known);
    if (mech != NULL && mech->client->configure != NULL)
        mech->client->configure(known);
    return HSY_OK;
}

size_t hsy_scheme_size(const hsy_spec *spec)
{
    hsy_spec known;

    if (scheme_spec(&known, spec, NULL) != HSY_OK)
        return sizeof(hsy_scheme); /* which init will refuse */
    return sizeof(hsy_scheme) + hsy_mech_tail_size(&known);
}

/* A report made from a kept answer has the law of its own scheme (permanent.c).
 */
static hsy_status scheme_permanent(hsy_scheme *s, const hsy_spec *spec,
                                   hsy_error *err)
{
    if (spec->nano_permanent == 0)
        return HSY_OK;
    if (s->mech->client->permanent == NULL ||
        s->mech->client->permanent->step == PERMANENT_INSTANT ||
        s->design != HSY_DESIGN_EPSILON ||
        spec->nano_permanent < s->nano_epsilon ||
        spec->nano_permanent > HSY_EPSILON_MAX)
        return hsy_fail_kind(err, HSY_E_RANGE, HSY_FIELD_PERMANENT,
                             "from epsilon to 32, of a mechanism that keeps "
                             "its answers",
                             HSY_LIMIT_NANO, s->nano_epsilon);
    s->nano_permanent = spec->nano_permanent;
    return HSY_OK;
}

static hsy_status scheme_make(hsy_scheme *made, const hsy_spec *spec,
                              hsy_error *err)
{
    const struct hsy_mechanism *mech = hsy_mech_meant(spec);
    hsy_status st;

    if (mech == NULL && !hsy_mech_is_auto(spec->mechanism))
        return hsy_fail(err, HSY_E_UNKNOWN, HSY_FIELD_MECHANISM,
                        "no such mechanism");
    st = scheme_common(made, spec, mech != NULL && mech_staged(mech) != NULL,
                       err);
    if (st != HSY_OK)
        return st;
    st = mech == NULL ? hsy_mech_auto(made, spec, err)
                      : hsy_mech_resolve(made, mech, spec, err);
    return st == HSY_OK ? scheme_permanent(made, spec, err) : st;
}

hsy_status hsy_scheme_head(hsy_scheme *s, hsy_spec *known, const hsy_spec *spec,
                           hsy_error *err)
{
    hsy_scheme made = {.kernels = hsy_kernels_at(hsy_cpu_best())};
    hsy_spec given;
    hsy_status st = scheme_spec(&given, spec, err);

    if (st == HSY_OK)
        st = scheme_make(&made, &given, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_digest(&made);
    *s = made;
    if (known != NULL)
        *known = given;
    return HSY_OK;
}

hsy_status hsy_scheme_init(hsy_scheme *s, const hsy_spec *spec, hsy_error *err)
{
    hsy_spec known;
    hsy_status st = hsy_scheme_head(s, &known, spec, err);

    if (st == HSY_OK && s->mech->client->settle != NULL)
        s->mech->client->settle(s, &known);
    return st;
}

hsy_status hsy_scheme_cpu(hsy_scheme *s, hsy_cpu level)
{
    if (!hsy_cpu_has(level))
        return HSY_E_UNKNOWN;
    s->kernels = hsy_kernels_at(level);
    if (s->mech->parts != NULL)
        hsy_sampled_cpu(s);
    return HSY_OK;
}
