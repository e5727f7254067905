/*
 * json_write.c - writing the readable twin of a report stream.
 *
 * The header is put together in memory first: if it cannot be written (a label
 * that is not UTF-8, a line that no reader takes), nothing of it is.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include "host/format/internal.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"
#include "lib/bits/hex.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_TEXT_LINE 64u /* bytes of a line with one number */

/* ---- The header ---------------------------------------------------------- */

/* number / 10^scale, all decimals. */
static void container_text_decimal(FILE *f, int64_t number, uint32_t scale)
{
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    uint64_t unit = 1;

    for (uint32_t i = 0; i < scale; i++)
        unit *= 10;
    fprintf(f, "%s%" PRIu64, number < 0 ? "-" : "", size / unit);
    if (scale != 0)
        fprintf(f, ".%0*" PRIu64, (int)scale, size % unit);
}

/* Epsilon without zeros at the end. */
static void container_text_epsilon(FILE *f, uint64_t nano)
{
    uint64_t rest = nano % HSY_NANO;
    int digits = 9;

    fprintf(f, "%" PRIu64, nano / HSY_NANO);
    if (rest == 0)
        return;
    while (rest % 10 == 0) {
        rest /= 10;
        digits--;
    }
    fprintf(f, ".%0*" PRIu64, digits, rest);
}

static hsy_status container_text_nomem(hsy_error *err)
{
    return host_fail(err, HSY_E_NOMEM, NULL, "out of memory");
}

static hsy_status container_text_label(FILE *f, const uint8_t *label,
                                       size_t len, hsy_error *err)
{
    json_t *text;
    int failed;

    errno = 0;
    text = json_stringn((const char *)label, len);
    if (text == NULL && errno != ENOMEM)
        return host_fail(err, HSY_E_RANGE, "values",
                         "a value is not UTF-8, so it has no JSON");
    failed = text == NULL || json_dumpf(text, f, JSON_ENCODE_ANY) != 0;
    json_decref(text);
    return failed ? container_text_nomem(err) : HSY_OK;
}

static hsy_status container_text_labels(FILE *f, const uint8_t *labels,
                                        size_t len, hsy_error *err)
{
    for (size_t at = 0; at < len;) {
        size_t label_len = bytes_get32(labels + at);
        hsy_status st;

        fputs(at == 0 ? "[" : ",", f);
        st = container_text_label(f, labels + at + 4, label_len, err);
        if (st != HSY_OK)
            return st;
        at += 4 + label_len;
    }
    fputs("]", f);
    return HSY_OK;
}

/* The denominator, then the rows: [100,[[60,20],[40,80]]]. */
static void container_text_matrix(FILE *f, const hsy_spec *spec)
{
    const uint8_t *at = spec->labels + 8;

    fprintf(f, ",\"matrix\":[%" PRIu64 ",[", bytes_get64(spec->labels));
    for (uint32_t y = 0; y < spec->d; y++) {
        for (uint32_t x = 0; x < spec->d; x++, at += 8)
            fprintf(f, "%s%" PRIu64, x == 0 ? "[" : ",", bytes_get64(at));
        fputs(y + 1 < spec->d ? "]," : "]", f);
    }
    fputs("]]", f);
}

static hsy_status container_text_scheme(FILE *f, const hsy_spec *spec,
                                        hsy_error *err);

/* [{"name":"a","scheme":{...}}, ...]; an attribute has none of its own. */
static hsy_status container_text_attributes(FILE *f, const hsy_spec *spec,
                                            hsy_error *err)
{
    size_t at = 0;
    hsy_attribute a;
    hsy_status st = HSY_OK;

    fputs(",\"attributes\":[", f);
    for (bool first = true; st == HSY_OK && at < spec->labels_len;
         first = false) {
        st = hsy_attribute_next(&a, &at, spec->labels, spec->labels_len, err);
        fputs(first ? "{\"name\":" : ",{\"name\":", f);
        if (st == HSY_OK)
            st = container_text_label(f, (const uint8_t *)a.name, a.name_len,
                                      err);
        fputs(",\"scheme\":", f);
        if (st == HSY_OK)
            st = container_text_scheme(f, &a.spec, err);
        fputs("}}", f);
    }
    fputs("]", f);
    return st;
}

static hsy_status container_text_domain(FILE *f, const hsy_spec *spec,
                                        hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (spec->kind == HSY_KIND_VALUES ||
        (spec->kind == HSY_KIND_STRINGS && spec->d != 0)) { /* a stage's */
        size_t skip = container_labels_at(spec);

        fputs(",\"values\":", f);
        if (spec->labels_len != skip)
            st = container_text_labels(f, spec->labels + skip,
                                       spec->labels_len - skip, err);
        else
            fprintf(f, "%" PRIu32, spec->d);
    }
    if (spec->kind == HSY_KIND_TUPLE)
        st = container_text_attributes(f, spec, err);
    if (spec->design == HSY_DESIGN_MATRIX)
        container_text_matrix(f, spec);
    if (spec->kind == HSY_KIND_BINS)
        fprintf(f, ",\"bins\":%" PRIu32, spec->d);
    if (spec->kind == HSY_KIND_BINS || spec->kind == HSY_KIND_NUMBER) {
        fputs(",\"lo\":\"", f);
        container_text_decimal(f, spec->lo, spec->scale);
        fputs("\",\"hi\":\"", f);
        container_text_decimal(f, spec->hi, spec->scale);
        fprintf(f, "\",\"scale\":%" PRIu32, spec->scale);
    }
    return st;
}

/* Probabilities as [num, den], without the empty ones at the end. */
static void container_text_chances(FILE *f, const hsy_spec *spec)
{
    size_t n = HSY_CHANCES;

    while (n > 0 && spec->chance[n - 1].den == 0)
        n--;
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s[%" PRIu64 ",%" PRIu64 "]", i == 0 ? "" : ",",
                spec->chance[i].num, spec->chance[i].den);
}

static void container_text_parameters(FILE *f, const hsy_spec *spec)
{
    size_t n = 0;

    if (spec->design != HSY_DESIGN_EPSILON &&
        spec->design != HSY_DESIGN_MATRIX) {
        fprintf(f, ",\"design\":\"%s\",\"chance\":[",
                container_design_name(spec->design));
        container_text_chances(f, spec);
        fputs("]", f);
    }
    for (size_t i = 0; i < HSY_PARAMS; i++)
        if (spec->param[i] != 0)
            fprintf(f, "%s\"%s\":%" PRIu64,
                    n++ == 0 ? ",\"parameters\":{" : ",", hsy_param_name(i),
                    spec->param[i]);
    if (n > 0)
        fputs("}", f);
}

/* The bytes of an alphabet, in characters of ASCII, and an oracle. */
static hsy_status container_text_spelling(FILE *f, const hsy_spec *spec,
                                          hsy_error *err)
{
    char text[HSY_ALPHABET_TEXT];
    const size_t len = hsy_alphabet_text(text, spec->alphabet);
    hsy_status st = HSY_OK;

    if (len != 0) {
        fputs(",\"alphabet\":", f);
        st = container_text_label(f, (const uint8_t *)text, len, err);
    }
    if (spec->oracle != NULL)
        fprintf(f, ",\"oracle\":\"%s\"", spec->oracle);
    return st;
}

/* The members of a scheme but its digest, and no brace at the end. */
static hsy_status container_text_scheme(FILE *f, const hsy_spec *spec,
                                        hsy_error *err)
{
    hsy_status st;

    fprintf(f, "{\"mechanism\":\"%s\",\"kind\":\"%s\"", spec->mechanism,
            hsy_kind_name(spec->kind));
    if (spec->nano_epsilon != 0) {
        fputs(",\"epsilon\":\"", f);
        container_text_epsilon(f, spec->nano_epsilon);
        fputs("\"", f);
    }
    if (spec->nano_permanent != 0) {
        fputs(",\"permanent\":\"", f);
        container_text_epsilon(f, spec->nano_permanent);
        fputs("\"", f);
    }
    st = container_text_domain(f, spec, err);
    container_text_parameters(f, spec);
    if (st == HSY_OK)
        st = container_text_spelling(f, spec, err);
    return st;
}

static hsy_status container_text_head(FILE *f, const hsy_spec *spec,
                                      const uint8_t digest[HSY_DIGEST],
                                      hsy_error *err)
{
    char digits[2 * HSY_DIGEST + 1];
    hsy_status st;

    fputs("{\"hearsay\":\"reports\",\"version\":1,\"scheme\":", f);
    st = container_text_scheme(f, spec, err);
    hex_put(digits, digest, HSY_DIGEST);
    fprintf(f, ",\"digest\":\"%s\"}}\n", digits);
    return st;
}

/* The header line; the caller frees *line. */
static hsy_status container_text_make(char **line, size_t *len,
                                      const hsy_spec *spec,
                                      const uint8_t digest[HSY_DIGEST],
                                      hsy_error *err)
{
    FILE *f = open_memstream(line, len);
    hsy_status st;
    bool lost;

    if (f == NULL)
        return container_text_nomem(err);
    st = container_text_head(f, spec, digest, err);
    lost = ferror(f) != 0;
    lost |= fclose(f) != 0;
    lost |= *line == NULL; /* cutting it to its length may fail silently */
    if (st != HSY_OK)
        return st;
    if (lost)
        return container_text_nomem(err);
    if (*len > CONTAINER_HEAD_MAX)
        return host_fail_limit(err, HSY_E_RANGE, "values",
                               "they make a header line of JSON that is too "
                               "long; a binary stream takes them",
                               CONTAINER_HEAD_MAX);
    return HSY_OK;
}

hsy_status container_put_json_head(struct output *out, const hsy_scheme *s,
                                   const uint8_t *labels, size_t labels_len,
                                   hsy_error *err)
{
    uint8_t wire[HSY_SCHEME_WIRE];
    hsy_scheme_info info;
    hsy_spec spec;
    char *line = NULL;
    size_t len;
    hsy_status st;

    hsy_scheme_describe(s, &info);
    hsy_scheme_encode(s, wire);
    if (!container_own_labels(wire, labels, labels_len) ||
        hsy_spec_decode(&spec, wire, labels, labels_len, NULL) != HSY_OK)
        return host_fail(err, HSY_E_RANGE, "values",
                         "they are not those of the scheme");
    st = container_text_make(&line, &len, &spec, info.digest, err);
    if (st == HSY_OK)
        st = output_write(out, line, len);
    free(line);
    return st;
}

/* ---- Reports ------------------------------------------------------------- */

static hsy_status container_text_whole(struct output *out,
                                       const uint8_t *packed, size_t bytes)
{
    char line[CONTAINER_TEXT_LINE];
    uint64_t value = 0;
    int len;

    for (size_t i = bytes; i-- > 0;)
        value = value << 8 | packed[i];
    len = snprintf(line, sizeof line, "{\"report\":%" PRIu64 "}\n", value);
    return output_write(out, line, (size_t)len);
}

/* The output remembers a failure, so only the last write is looked at. */
static hsy_status container_text_bytes(struct output *out,
                                       const uint8_t *packed, size_t bytes)
{
    output_write(out, "{\"report\":\"", 11);
    for (size_t i = 0; i < bytes; i++) {
        char digits[3];

        hex_put(digits, packed + i, 1);
        output_write(out, digits, 2);
    }
    return output_write(out, "\"}\n", 3);
}

hsy_status container_put_json_reports(struct output *out, const hsy_scheme *s,
                                      const uint8_t *reports, size_t n)
{
    size_t bytes = hsy_packed_size(s, 1);
    uint8_t *packed = malloc(bytes);
    hsy_status st = packed == NULL ? HSY_E_NOMEM : HSY_OK;
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        hsy_pack(s, packed, reports + i * info.report_bytes, 1);
        st = info.packed_bits <= CONTAINER_WHOLE
                 ? container_text_whole(out, packed, bytes)
                 : container_text_bytes(out, packed, bytes);
    }
    free(packed);
    return st;
}

hsy_status container_put_json_end(struct output *out, uint64_t reports)
{
    char line[CONTAINER_TEXT_LINE];
    int len = snprintf(line, sizeof line, "{\"end\":%" PRIu64 "}\n", reports);

    return output_write(out, line, (size_t)len);
}

#undef CONTAINER_TEXT_LINE
