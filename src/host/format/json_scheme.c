/*
 * json_scheme.c - the scheme in a header of the readable twin.
 *
 * What the header says is a spec; it is resolved like any other, and its
 * digest must come out as the header has it.
 */
#include "host/format/internal.h"

#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const container_scheme_designs[] = {
    [HSY_DESIGN_EPSILON] = "epsilon", [HSY_DESIGN_SPINNER] = "spinner",
    [HSY_DESIGN_COINS] = "coins",     [HSY_DESIGN_CHANNEL] = "channel",
    [HSY_DESIGN_RAPPOR] = "rappor",
};

#define CONTAINER_SCHEME_NONE 32 /* above all numbers that have names */
#define CONTAINER_SCHEME_DESIGNS                                               \
    (sizeof container_scheme_designs / sizeof container_scheme_designs[0])

const char *container_design_name(uint32_t design)
{
    return design < CONTAINER_SCHEME_DESIGNS ? container_scheme_designs[design]
                                             : NULL;
}

/* The members as they stand in the header; what is not there is NULL or 0. */
struct container_scheme_text {
    const char *mechanism, *kind, *design, *oracle, *alphabet;
    size_t mechanism_len, kind_len, design_len, oracle_len, alphabet_len;
    const char *epsilon, *permanent, *lo, *hi, *digest;
    size_t epsilon_len, permanent_len, lo_len, hi_len, digest_len;
    json_int_t bins, scale;
    json_t *values, *chance, *parameters, *matrix, *attributes;
};

static bool container_scheme_unpack(struct container_scheme_text *t,
                                    json_t *json)
{
    static const char format[] =
        "{s:s%,s:s%,s?s%,s?s%,s?s%,s?o,s?I,s?s%,s?s%,s?I,s?s%,s?o,s?o,s?o,s?o,"
        "s?s%,s?s%!}";

    memset(t, 0, sizeof *t);
    return json_unpack(json, format, "mechanism", &t->mechanism,
                       &t->mechanism_len, "kind", &t->kind, &t->kind_len,
                       "digest", &t->digest, &t->digest_len, "epsilon",
                       &t->epsilon, &t->epsilon_len, "permanent", &t->permanent,
                       &t->permanent_len, "values", &t->values, "bins",
                       &t->bins, "lo", &t->lo, &t->lo_len, "hi", &t->hi,
                       &t->hi_len, "scale", &t->scale, "design", &t->design,
                       &t->design_len, "chance", &t->chance, "parameters",
                       &t->parameters, "matrix", &t->matrix, "attributes",
                       &t->attributes, "oracle", &t->oracle, &t->oracle_len,
                       "alphabet", &t->alphabet, &t->alphabet_len) == 0;
}

/* A name without a NUL in it. */
static bool container_scheme_name(const char *name, size_t len)
{
    return name == NULL || strlen(name) == len;
}

static hsy_status container_scheme_bad(hsy_error *err, uint32_t field)
{
    return container_json_refuse(err, field, "not a value for this member");
}

static bool container_scheme_u32(uint32_t *out, json_int_t value)
{
    if (value < 0 || value > (json_int_t)UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* The number that name_of calls name, or CONTAINER_SCHEME_NONE. */
static uint32_t container_scheme_find(const char *(*name_of)(uint32_t),
                                      const char *name)
{
    for (uint32_t i = 0; i < CONTAINER_SCHEME_NONE; i++)
        if (name_of(i) != NULL && strcmp(name_of(i), name) == 0)
            return i;
    return CONTAINER_SCHEME_NONE;
}

/* ---- Members that take more than one line -------------------------------- */

static bool container_scheme_labels_size(const json_t *values, size_t *size)
{
    size_t i, total = 0;
    json_t *value;

    json_array_foreach(values, i, value)
    {
        if (!json_is_string(value) || json_string_length(value) > HSY_LABEL_MAX)
            return false;
        total += 4 + json_string_length(value);
    }
    *size = total;
    return total <= HSY_LABELS_MAX;
}

/* An array of labels becomes their encoding, the caller's to free. */
static hsy_status container_scheme_labels(uint8_t **labels, size_t *labels_len,
                                          const json_t *values, hsy_error *err)
{
    size_t i, at = 0;
    json_t *value;

    if (json_array_size(values) == 0 ||
        !container_scheme_labels_size(values, labels_len))
        return container_scheme_bad(err, HSY_FIELD_VALUES);
    *labels = malloc(*labels_len);
    if (*labels == NULL)
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
    json_array_foreach(values, i, value)
    {
        size_t len = json_string_length(value);

        bytes_put32(*labels + at, (uint32_t)len);
        memcpy(*labels + at + 4, json_string_value(value), len);
        at += 4 + len;
    }
    return HSY_OK;
}

/* A list of labels, or only how many values there are. */
static hsy_status container_scheme_values(hsy_spec *spec, uint8_t **labels,
                                          const json_t *values, hsy_error *err)
{
    hsy_status st;

    if (json_is_integer(values))
        return container_scheme_u32(&spec->d, json_integer_value(values))
                   ? HSY_OK
                   : container_scheme_bad(err, HSY_FIELD_VALUES);
    if (!json_is_array(values) || json_array_size(values) > HSY_VALUES_MAX)
        return container_scheme_bad(err, HSY_FIELD_VALUES);
    st = container_scheme_labels(labels, &spec->labels_len, values, err);
    if (st != HSY_OK)
        return st;
    spec->labels = *labels;
    spec->d = (uint32_t)json_array_size(values);
    return HSY_OK;
}

size_t container_labels_at(const hsy_spec *spec)
{
    return spec->design == HSY_DESIGN_MATRIX ? 8 + 8 * (size_t)spec->d * spec->d
                                             : 0;
}

static bool container_scheme_entry(uint8_t *at, const json_t *value)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    bytes_put64(at, (uint64_t)json_integer_value(value));
    return true;
}

static bool container_scheme_rows(uint8_t *at, const json_t *rows, size_t d)
{
    size_t y, x;
    json_t *row, *value;

    if (json_array_size(rows) != d)
        return false;
    json_array_foreach(rows, y, row)
    {
        if (json_array_size(row) != d)
            return false;
        json_array_foreach(row, x, value)
        {
            if (!container_scheme_entry(at + 8 * (y * d + x), value))
                return false;
        }
    }
    return true;
}

/* The matrix goes before the labels there are. */
static hsy_status container_scheme_matrix(hsy_spec *spec, uint8_t **labels,
                                          const json_t *matrix, hsy_error *err)
{
    size_t len;
    uint8_t *block;
    bool good;

    if (json_array_size(matrix) != 2 || spec->d > HSY_MATRIX_MAX)
        return container_scheme_bad(err, HSY_FIELD_MATRIX);
    spec->design = HSY_DESIGN_MATRIX;
    len = container_labels_at(spec);
    block = malloc(len + spec->labels_len);
    if (block == NULL)
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
    if (spec->labels_len != 0)
        memcpy(block + len, *labels, spec->labels_len);
    good = container_scheme_entry(block, json_array_get(matrix, 0)) &&
           container_scheme_rows(block + 8, json_array_get(matrix, 1), spec->d);
    free(*labels);
    *labels = block;
    spec->labels = block;
    spec->labels_len += len;
    return good ? HSY_OK : container_scheme_bad(err, HSY_FIELD_MATRIX);
}

static hsy_status container_scheme_chance(hsy_spec *spec, json_t *chance,
                                          hsy_error *err)
{
    if (!json_is_array(chance) || json_array_size(chance) > HSY_CHANCES)
        return container_scheme_bad(err, HSY_FIELD_CHANCE);
    for (size_t i = 0; i < json_array_size(chance); i++) {
        json_int_t num, den;

        if (json_unpack(json_array_get(chance, i), "[I,I!]", &num, &den) != 0 ||
            num < 0 || den < 0)
            return container_scheme_bad(err, HSY_FIELD_CHANCE);
        spec->chance[i] = (hsy_ratio){(uint64_t)num, (uint64_t)den};
    }
    return HSY_OK;
}

/* The parameter of that name, or HSY_PARAMS. */
static size_t container_scheme_param(const char *name)
{
    size_t i = 0;

    while (i < HSY_PARAMS &&
           (hsy_param_name(i) == NULL || strcmp(hsy_param_name(i), name) != 0))
        i++;
    return i;
}

static hsy_status
container_scheme_parameters(hsy_spec *spec, json_t *parameters, hsy_error *err)
{
    const char *name;
    json_t *value;

    if (!json_is_object(parameters))
        return container_scheme_bad(err, HSY_FIELD_PARAMETERS);
    json_object_foreach(parameters, name, value)
    {
        size_t i = container_scheme_param(name);

        if (i == HSY_PARAMS || !json_is_integer(value) ||
            json_integer_value(value) < 0)
            return container_scheme_bad(err, HSY_FIELD_PARAMETERS);
        spec->param[i] = (uint64_t)json_integer_value(value);
    }
    return HSY_OK;
}

static hsy_status container_scheme_range(hsy_spec *spec,
                                         const struct container_scheme_text *t,
                                         hsy_error *err)
{
    if (t->lo == NULL || t->hi == NULL || spec->scale > HSY_SCALE_MAX)
        return container_scheme_bad(err, HSY_FIELD_LO);
    if (hsy_decimal_parse(&spec->lo, t->lo, t->lo_len, spec->scale) != HSY_OK)
        return container_scheme_bad(err, HSY_FIELD_LO);
    if (hsy_decimal_parse(&spec->hi, t->hi, t->hi_len, spec->scale) != HSY_OK)
        return container_scheme_bad(err, HSY_FIELD_HI);
    return HSY_OK;
}

/* ---- The whole ----------------------------------------------------------- */

static hsy_status container_scheme_names(hsy_spec *spec,
                                         const struct container_scheme_text *t,
                                         hsy_error *err)
{
    if (!container_scheme_name(t->mechanism, t->mechanism_len) ||
        !container_scheme_name(t->kind, t->kind_len) ||
        !container_scheme_name(t->design, t->design_len) ||
        !container_scheme_name(t->oracle, t->oracle_len))
        return container_scheme_bad(err, HSY_FIELD_SCHEME);
    spec->mechanism = t->mechanism;
    spec->oracle = t->oracle;
    spec->kind = container_scheme_find(hsy_kind_name, t->kind);
    if (hsy_kind_name(spec->kind) == NULL)
        return container_scheme_bad(err, HSY_FIELD_KIND);
    if (t->design != NULL)
        spec->design = container_scheme_find(container_design_name, t->design);
    if (container_design_name(spec->design) == NULL)
        return container_scheme_bad(err, HSY_FIELD_DESIGN);
    if (t->epsilon != NULL && hsy_epsilon_parse(&spec->nano_epsilon, t->epsilon,
                                                t->epsilon_len) != HSY_OK)
        return container_scheme_bad(err, HSY_FIELD_EPSILON);
    if (t->permanent != NULL &&
        hsy_epsilon_parse(&spec->nano_permanent, t->permanent,
                          t->permanent_len) != HSY_OK)
        return container_scheme_bad(err, HSY_FIELD_PERMANENT);
    return HSY_OK;
}

static hsy_status
container_scheme_numbers(hsy_spec *spec, const struct container_scheme_text *t,
                         hsy_error *err)
{
    if (!container_scheme_u32(&spec->d, t->bins))
        return container_scheme_bad(err, HSY_FIELD_BINS);
    if (!container_scheme_u32(&spec->scale, t->scale))
        return container_scheme_bad(err, HSY_FIELD_SCALE);
    return HSY_OK;
}

static hsy_status container_scheme_attributes(hsy_spec *spec, uint8_t **labels,
                                              const json_t *attributes,
                                              hsy_error *err);

static hsy_status container_scheme_spec(hsy_spec *spec, uint8_t **labels,
                                        const struct container_scheme_text *t,
                                        hsy_error *err)
{
    hsy_status st = container_scheme_names(spec, t, err);

    if (st == HSY_OK)
        st = container_scheme_numbers(spec, t, err);
    if (st == HSY_OK && t->values != NULL)
        st = container_scheme_values(spec, labels, t->values, err);
    if (st == HSY_OK && t->matrix != NULL)
        st = container_scheme_matrix(spec, labels, t->matrix, err);
    if (st == HSY_OK && t->chance != NULL)
        st = container_scheme_chance(spec, t->chance, err);
    if (st == HSY_OK && t->parameters != NULL)
        st = container_scheme_parameters(spec, t->parameters, err);
    if (st == HSY_OK && t->alphabet != NULL &&
        hsy_alphabet_parse(spec->alphabet, t->alphabet, t->alphabet_len,
                           NULL) != HSY_OK)
        st = container_scheme_bad(err, HSY_FIELD_ALPHABET);
    if (st == HSY_OK && (t->lo != NULL || t->hi != NULL))
        st = container_scheme_range(spec, t, err);
    if (st == HSY_OK && t->attributes != NULL)
        st = container_scheme_attributes(spec, labels, t->attributes, err);
    return st;
}

/* ---- Attributes: schemes in a scheme ------------------------------------- */

/* The spec of one attribute, which has no digest and no attributes; *labels is
 * the caller's to free. */
static hsy_status container_scheme_inner(hsy_spec *spec, uint8_t **labels,
                                         const char **name, size_t *name_len,
                                         json_t *attribute, hsy_error *err)
{
    struct container_scheme_text t;
    json_t *scheme;

    if (json_unpack(attribute, "{s:s%,s:o!}", "name", name, name_len, "scheme",
                    &scheme) != 0 ||
        !container_scheme_unpack(&t, scheme) || t.digest != NULL ||
        t.attributes != NULL)
        return container_scheme_bad(err, HSY_FIELD_ATTRIBUTES);
    *spec = (hsy_spec){.size = sizeof *spec};
    return container_scheme_spec(spec, labels, &t, err);
}

/* Append an attribute to the block of a spec. */
static hsy_status container_scheme_append(hsy_spec *spec, uint8_t **block,
                                          json_t *attribute, hsy_error *err)
{
    size_t len = spec->labels_len, room = len, name_len;
    uint8_t *labels = NULL, *grown;
    const char *name;
    hsy_spec inner;
    hsy_status st = container_scheme_inner(&inner, &labels, &name, &name_len,
                                           attribute, err);

    if (st == HSY_OK)
        st = hsy_attribute_encode(
            NULL, 0, &room,
            &(hsy_attribute){.name = name, .name_len = name_len, .spec = inner},
            err);
    if (st == HSY_OK && room > HSY_LABELS_MAX)
        st = container_scheme_bad(err, HSY_FIELD_ATTRIBUTES);
    grown = st == HSY_OK ? realloc(*block, room) : NULL;
    if (st == HSY_OK && grown == NULL)
        st = host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
    if (grown != NULL)
        *block = grown;
    if (st == HSY_OK)
        st = hsy_attribute_encode(
            *block, room, &len,
            &(hsy_attribute){.name = name, .name_len = name_len, .spec = inner},
            err);
    free(labels);
    spec->labels = *block;
    spec->labels_len = len;
    return st;
}

static hsy_status container_scheme_attributes(hsy_spec *spec, uint8_t **labels,
                                              const json_t *attributes,
                                              hsy_error *err)
{
    hsy_status st = HSY_OK;
    size_t i;
    json_t *attribute;

    if (!json_is_array(attributes) || spec->labels != NULL ||
        spec->kind != HSY_KIND_TUPLE ||
        json_array_size(attributes) > HSY_ATTRIBUTES_MAX)
        return container_scheme_bad(err, HSY_FIELD_ATTRIBUTES);
    json_array_foreach(attributes, i, attribute)
    {
        if (st == HSY_OK)
            st = container_scheme_append(spec, labels, attribute, err);
    }
    return st;
}

/* Resolve, and compare the digest. */
static hsy_status container_scheme_make(hsy_scheme **scheme,
                                        const hsy_spec *spec,
                                        const struct container_scheme_text *t,
                                        hsy_error *err)
{
    uint8_t digest[HSY_DIGEST];
    hsy_scheme_info info;
    hsy_status st;

    if (t->digest == NULL ||
        !hex_get(digest, sizeof digest, t->digest, t->digest_len))
        return container_scheme_bad(err, HSY_FIELD_DIGEST);
    *scheme = malloc(hsy_scheme_size(spec));
    if (*scheme == NULL)
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
    st = hsy_scheme_init(*scheme, spec, err);
    if (st != HSY_OK) {
        free(*scheme);
        *scheme = NULL;
        return st;
    }
    hsy_scheme_describe(*scheme, &info);
    if (memcmp(info.digest, digest, sizeof digest) != 0) {
        free(*scheme);
        *scheme = NULL;
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_DIGEST,
                         "the digest is not that of the scheme");
    }
    return HSY_OK;
}

hsy_status container_json_scheme(hsy_scheme **scheme, uint8_t **labels,
                                 size_t *labels_len, json_t *json,
                                 hsy_error *err)
{
    struct container_scheme_text text;
    hsy_spec spec = {.size = sizeof spec};
    uint8_t *made = NULL;
    hsy_status st;

    if (!container_scheme_unpack(&text, json))
        return container_json_refuse(
            err, HSY_FIELD_SCHEME,
            "members are missing, foreign or of a wrong type");
    st = container_scheme_spec(&spec, &made, &text, err);
    if (st == HSY_OK)
        st = container_scheme_make(scheme, &spec, &text, err);
    if (st != HSY_OK) {
        free(made);
        return st;
    }
    *labels = made;
    *labels_len = spec.labels_len;
    return HSY_OK;
}

#undef CONTAINER_SCHEME_NONE
#undef CONTAINER_SCHEME_DESIGNS
