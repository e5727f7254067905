/* tuple.c - blocks of attributes, and the evidence for each. */
#include "lib/scheme/tuple.h"

#include "lib/bits/bytes.h"
#include "lib/core/fail.h"
#include "lib/scheme/sampled.h"
#include "lib/scheme/scheme.h"

#include <string.h>

#define TUPLE_FIXED                                                            \
    (4 + HSY_SCHEME_WIRE + 4) /* bytes beside name and labels                  \
                               */

/* ---- Writing a block ----------------------------------------------------- */

static hsy_status tuple_kind(uint32_t kind, hsy_error *err)
{
    if (kind == HSY_KIND_TUPLE)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ATTRIBUTE,
                        "an attribute has no attributes of its own");
    return HSY_OK;
}

static hsy_status tuple_name(size_t len, hsy_error *err)
{
    if (len == 0)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ATTRIBUTE,
                        "the name is empty");
    if (len > HSY_LABEL_MAX)
        return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_ATTRIBUTE,
                               "a name has at most 4096 bytes", HSY_LABEL_MAX);
    return HSY_OK;
}

hsy_status hsy_attribute_encode(uint8_t *out, size_t room, size_t *len,
                                const hsy_attribute *a, hsy_error *err)
{
    const size_t name_len = a->name_len;
    hsy_scheme made;
    hsy_spec known;
    uint8_t *at = out == NULL ? NULL : out + *len;
    size_t size;
    hsy_status st = tuple_kind(a->spec.kind, err);

    if (st == HSY_OK)
        st = tuple_name(name_len, err);
    if (st == HSY_OK)
        st = hsy_scheme_head(&made, &known, &a->spec, err);
    if (st == HSY_OK)
        st = hsy_mech_reports(&made, err);
    if (st != HSY_OK)
        return st;
    size = TUPLE_FIXED + name_len + known.labels_len;
    if (out != NULL && (room < *len || room - *len < size))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_ROOM,
                              "the attribute does not fit", room);
    *len += size;
    if (out == NULL)
        return HSY_OK;
    bytes_put32(at, (uint32_t)name_len);
    memcpy(at + 4, a->name, name_len);
    hsy_scheme_encode(&made, at + 4 + name_len);
    at += 4 + name_len + HSY_SCHEME_WIRE;
    bytes_put32(at, (uint32_t)known.labels_len);
    if (known.labels_len != 0)
        memcpy(at + 4, known.labels, known.labels_len);
    return HSY_OK;
}

/* ---- Reading one --------------------------------------------------------- */

static hsy_status tuple_short(hsy_error *err)
{
    return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_ATTRIBUTE,
                    "an attribute is cut short");
}

hsy_status hsy_attribute_next(hsy_attribute *a, size_t *at,
                              const uint8_t *block, size_t len, hsy_error *err)
{
    const uint8_t *from = block + *at;
    size_t left = len - *at, name_len, labels_len;
    hsy_attribute read;
    hsy_status st;

    if (left == 0)
        return HSY_E_END;
    if (left < TUPLE_FIXED || (name_len = bytes_get32(from)) == 0 ||
        name_len > HSY_LABEL_MAX || left - TUPLE_FIXED < name_len)
        return tuple_short(err);
    left -= TUPLE_FIXED + name_len;
    labels_len = bytes_get32(from + 4 + name_len + HSY_SCHEME_WIRE);
    if (left < labels_len)
        return tuple_short(err);
    read.name = (const char *)from + 4;
    read.name_len = name_len;
    st = hsy_spec_decode(&read.spec, from + 4 + name_len,
                         from + TUPLE_FIXED + name_len, labels_len, err);
    if (st != HSY_OK)
        return st;
    *a = read;
    *at += TUPLE_FIXED + name_len + labels_len;
    return HSY_OK;
}

size_t hsy_tuple_count(const hsy_spec *spec)
{
    size_t at = 0, n = 0;
    hsy_attribute a;

    while (spec->labels != NULL && n < HSY_ATTRIBUTES_MAX &&
           hsy_attribute_next(&a, &at, spec->labels, spec->labels_len, NULL) ==
               HSY_OK)
        n++;
    return n;
}

void hsy_tuple_at(hsy_spec *sub, const hsy_spec *spec, size_t i)
{
    size_t at = 0;
    hsy_attribute a;

    for (size_t k = 0; k <= i; k++)
        if (hsy_attribute_next(&a, &at, spec->labels, spec->labels_len, NULL) !=
            HSY_OK)
            return;
    if (a.spec.kind != HSY_KIND_TUPLE) /* which init refuses */
        *sub = a.spec;
}

/* ---- Checking one -------------------------------------------------------- */

/* What stands before `at` has no attribute of this name. */
static hsy_status tuple_named(const hsy_attribute *a, const uint8_t *block,
                              size_t at, hsy_error *err)
{
    size_t before = 0;
    hsy_attribute b;

    while (before < at &&
           hsy_attribute_next(&b, &before, block, at, NULL) == HSY_OK)
        if (a->name_len == b.name_len &&
            memcmp(a->name, b.name, a->name_len) == 0)
            return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_ATTRIBUTE,
                            "two attributes have the same name");
    return HSY_OK;
}

/* The attribute resolves to its own encoding. */
static hsy_status tuple_resolves(const hsy_attribute *a, uint64_t most,
                                 hsy_error *err)
{
    const uint8_t *wire = (const uint8_t *)a->name + a->name_len;
    uint8_t again[HSY_SCHEME_WIRE];
    hsy_scheme made;
    hsy_status st = tuple_kind(a->spec.kind, err);

    if (st == HSY_OK)
        st = hsy_scheme_head(&made, NULL, &a->spec, err);
    if (st == HSY_OK)
        st = hsy_mech_reports(&made, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_encode(&made, again);
    if (memcmp(wire, again, sizeof again) != 0)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_ATTRIBUTE,
                        "an attribute's integers do not follow from its "
                        "parameters");
    if (made.nano_epsilon > most)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_EPSILON,
                        "an attribute claims more than all together");
    return HSY_OK;
}

hsy_status hsy_tuple_check(const hsy_spec *spec, hsy_error *err)
{
    size_t at = 0, n = 0;
    hsy_attribute a;
    hsy_status st = HSY_OK;

    if (spec->labels_len > HSY_LABELS_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_LABELS,
                              "the labels are too long together",
                              HSY_LABELS_MAX);
    while (st == HSY_OK && spec->labels != NULL && n <= HSY_ATTRIBUTES_MAX) {
        const size_t from = at;

        st = hsy_attribute_next(&a, &at, spec->labels, spec->labels_len, err);
        if (st == HSY_OK)
            st = tuple_named(&a, spec->labels, from, err);
        if (st == HSY_OK)
            st = tuple_resolves(&a, spec->nano_epsilon, err);
        n += st == HSY_OK;
    }
    if (st != HSY_OK && st != HSY_E_END)
        return st;
    if (n < 2)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_ATTRIBUTE,
                              "several attributes are at least two", 2);
    if (n > HSY_ATTRIBUTES_MAX)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_ATTRIBUTE,
                              "too many attributes", HSY_ATTRIBUTES_MAX);
    return HSY_OK;
}

/* ---- Evidence ------------------------------------------------------------ */

/*
 * g(f) = v0 + f (v1 - v0 + spread) - spread f^2 has its top where f is
 * (v1 - v0 + spread) / (2 spread), if that lies within.
 */
double hsy_tuple_worst(const double v[2], double spread)
{
    const double slope = v[1] - v[0] + spread;

    if (slope <= 0)
        return v[0];
    if (slope >= 2 * spread)
        return v[1];
    return v[0] + slope * slope / (4 * spread);
}

size_t hsy_attribute_evidence_scratch(const hsy_scheme *s, size_t i,
                                      size_t count)
{
    if (s->kind != HSY_KIND_TUPLE)
        return hsy_evidence_scratch(s, count);
    return s->mech->parts->whole
               ? 0
               : hsy_evidence_scratch(hsy_scheme_part(s, i), count);
}

/*
 * Of n people `asked` were asked for the attribute, a sample without
 * replacement, and a point rests on its n of those. In units of f (1-f) / n of
 * the point that sample adds n / asked times (n_all - asked) / (n_all - 1).
 */
static void tuple_spread(hsy_evidence *points, size_t count, double all,
                         double asked)
{
    const double added = all > 1 ? (all - asked) / (all - 1) : 0;

    for (size_t k = 0; k < count; k++)
        points[k].binomial_variance +=
            (1 - points[k].sampling_discount) * added * points[k].n / asked;
}

static hsy_status tuple_points_joint(const hsy_scheme *s, hsy_evidence *points,
                                     const hsy_tally *t, size_t i, size_t count,
                                     hsy_error *err)
{
    const hsy_scheme *own = hsy_scheme_attribute(s, i);
    const size_t all = own->kind == HSY_KIND_YES_NO ? 1 : own->d;

    if (count != all)
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                              "not the number of values", all);
    if (t->ncells != s->cells || t->nstrata != s->strata)
        return hsy_fail(err, HSY_E_MISMATCH, HSY_FIELD_TALLY,
                        "the tally belongs to another scheme");
    if (hsy_tally_reports(t) == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_REPORTS,
                        "no data: there are no reports");
    hsy_joint_points(s, points, t, i, count);
    return HSY_OK;
}

hsy_status hsy_attribute_evidence(const hsy_scheme *s, hsy_evidence *points,
                                  const hsy_tally *t, size_t i,
                                  const uint64_t *codes, size_t count,
                                  void *scratch, hsy_error *err)
{
    hsy_tally own;
    hsy_status st;

    if (i >= hsy_codes_per_truth(s))
        return hsy_fail_limit(err, HSY_E_RANGE, HSY_FIELD_ATTRIBUTE,
                              "no such attribute", hsy_codes_per_truth(s));
    if (s->kind != HSY_KIND_TUPLE)
        return hsy_evidence_of(s, points, t, codes, count, scratch, err);
    if (s->mech->parts->whole && codes != NULL)
        return hsy_fail(err, HSY_E_RANGE, HSY_FIELD_CANDIDATES,
                        "joint estimates all values of an attribute");
    if (s->mech->parts->whole)
        return tuple_points_joint(s, points, t, i, count, err);
    if (t->ncells != s->cells || t->nstrata != s->strata)
        return hsy_fail(err, HSY_E_MISMATCH, HSY_FIELD_TALLY,
                        "the tally belongs to another scheme");
    hsy_tally_part(&own, t, s, i);
    st = hsy_evidence_of(hsy_scheme_part(s, i), points, &own, codes, count,
                         scratch, err);
    if (st == HSY_OK)
        tuple_spread(points, count, (double)hsy_tally_reports(t),
                     (double)hsy_tally_reports(&own));
    return st;
}
