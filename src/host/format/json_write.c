/*
 * json_write.c - writing the readable twin of a report stream.
 *
 * Only the bytes of its prefix and labels are ever read; what the header says
 * of the scheme is for people. The header is put together in memory first: if
 * it cannot be written (a label that is not UTF-8, a line that no reader
 * takes), nothing of it is.
 */
#include "host/format/internal.h"

#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "host/base/json.h"
#include "host/base/written.h"
#include "lib/bits/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CONTAINER_TEXT_LINE 64u /* bytes of a line with one number */

/* ---- The header ---------------------------------------------------------- */

#define CONTAINER_TEXT_NUMBER 48u

/* number / 10^scale, all decimals. */
static void container_text_decimal(struct put *p, const char *name,
                                   int64_t number, uint32_t scale)
{
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    uint64_t unit = 1;
    char text[CONTAINER_TEXT_NUMBER];
    int len;

    for (uint32_t i = 0; i < scale; i++)
        unit *= 10;
    len = snprintf(text, sizeof text, "%s%" PRIu64, number < 0 ? "-" : "",
                   size / unit);
    if (scale != 0)
        snprintf(text + len, sizeof text - (size_t)len, ".%0*" PRIu64,
                 (int)scale, size % unit);
    put_word(p, name, text);
}

static void container_text_epsilon(struct put *p, const char *name,
                                   uint64_t nano)
{
    char text[WRITTEN_NUMBER];

    written_nano(text, nano);
    put_word(p, name, text);
}

/* Where in a spec's labels the first label begins. */
static size_t container_labels_at(const hsy_spec *spec)
{
    return spec->design == HSY_DESIGN_MATRIX ? 8 + 8 * (size_t)spec->d * spec->d
                                             : 0;
}

static hsy_status container_text_label(struct put *p, const char *name,
                                       const char *label, size_t len,
                                       hsy_error *err)
{
    if (!written_utf8(label, len))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                         "a value is not UTF-8, so it has no JSON");
    put_text(p, name, label, len);
    return HSY_OK;
}

static hsy_status container_text_labels(struct put *p, const uint8_t *labels,
                                        size_t len, hsy_error *err)
{
    hsy_status st = HSY_OK;

    put_array(p, "values");
    for (size_t at = 0; at < len && st == HSY_OK;) {
        const size_t n = bytes_get32(labels + at);

        st = container_text_label(p, NULL, (const char *)labels + at + 4, n,
                                  err);
        at += 4 + n;
    }
    put_end(p, ']');
    return st;
}

/* The denominator, then the rows: [100,[[60,20],[40,80]]]. */
static void container_text_matrix(struct put *p, const hsy_spec *spec)
{
    const uint8_t *at = spec->labels + 8;

    put_array(p, "matrix");
    put_count(p, NULL, bytes_get64(spec->labels));
    put_array(p, NULL);
    for (uint32_t y = 0; y < spec->d; y++) {
        put_array(p, NULL);
        for (uint32_t x = 0; x < spec->d; x++, at += 8)
            put_count(p, NULL, bytes_get64(at));
        put_end(p, ']');
    }
    put_end(p, ']');
    put_end(p, ']');
}

static hsy_status container_text_scheme(struct put *p, const hsy_spec *spec,
                                        hsy_error *err);

/* [{"name":"a","scheme":{...}}, ...]; an attribute has none of its own. */
static hsy_status container_text_attributes(struct put *p, const hsy_spec *spec,
                                            hsy_error *err)
{
    size_t at = 0;
    hsy_attribute a;
    hsy_status st = HSY_OK;

    put_array(p, "attributes");
    while (st == HSY_OK && at < spec->labels_len) {
        st = hsy_attribute_next(&a, &at, spec->labels, spec->labels_len, err);
        if (st != HSY_OK)
            break;
        put_object(p, NULL);
        st = container_text_label(p, "name", a.name, a.name_len, err);
        put_object(p, "scheme");
        if (st == HSY_OK)
            st = container_text_scheme(p, &a.spec, err);
        put_end(p, '}');
        put_end(p, '}');
    }
    put_end(p, ']');
    return st;
}

static hsy_status container_text_domain(struct put *p, const hsy_spec *spec,
                                        hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (spec->kind == HSY_KIND_VALUES ||
        (spec->kind == HSY_KIND_STRINGS && spec->d != 0)) { /* a stage's */
        size_t skip = container_labels_at(spec);

        if (spec->labels_len != skip)
            st = container_text_labels(p, spec->labels + skip,
                                       spec->labels_len - skip, err);
        else
            put_count(p, "values", spec->d);
    }
    if (spec->kind == HSY_KIND_TUPLE)
        st = container_text_attributes(p, spec, err);
    if (spec->design == HSY_DESIGN_MATRIX)
        container_text_matrix(p, spec);
    if (spec->kind == HSY_KIND_BINS)
        put_count(p, "bins", spec->d);
    if (spec->kind == HSY_KIND_BINS || spec->kind == HSY_KIND_NUMBER) {
        container_text_decimal(p, "lo", spec->lo, spec->scale);
        container_text_decimal(p, "hi", spec->hi, spec->scale);
        put_count(p, "scale", spec->scale);
    }
    return st;
}

/* Probabilities as [num, den], without the empty ones at the end. */
static void container_text_chances(struct put *p, const hsy_spec *spec)
{
    static const char *const names[] = {[HSY_DESIGN_SPINNER] = "spinner",
                                        [HSY_DESIGN_COINS] = "coins",
                                        [HSY_DESIGN_CHANNEL] = "channel",
                                        [HSY_DESIGN_RAPPOR] = "rappor"};
    size_t n = HSY_CHANCES;

    put_word(p, "design", names[spec->design]);
    while (n > 0 && spec->chance[n - 1].den == 0)
        n--;
    put_array(p, "chance");
    for (size_t i = 0; i < n; i++) {
        put_array(p, NULL);
        put_count(p, NULL, spec->chance[i].num);
        put_count(p, NULL, spec->chance[i].den);
        put_end(p, ']');
    }
    put_end(p, ']');
}

static void container_text_parameters(struct put *p, const hsy_spec *spec)
{
    size_t n = 0;

    if (spec->design != HSY_DESIGN_EPSILON && spec->design != HSY_DESIGN_MATRIX)
        container_text_chances(p, spec);
    for (size_t i = 0; i < HSY_PARAMS; i++)
        if (spec->param[i] != 0) {
            if (n++ == 0)
                put_object(p, "parameters");
            put_count(p, hsy_param_name(i), spec->param[i]);
        }
    if (n > 0)
        put_end(p, '}');
}

/* The bytes of an alphabet, in characters of ASCII, and an oracle. */
static void container_text_spelling(struct put *p, const hsy_spec *spec)
{
    char text[HSY_ALPHABET_TEXT];
    const size_t len = hsy_alphabet_text(text, spec->alphabet);

    if (len != 0)
        put_text(p, "alphabet", text, len);
    if (spec->oracle != NULL)
        put_word(p, "oracle", spec->oracle);
}

/* The members of a scheme but its digest. */
static hsy_status container_text_scheme(struct put *p, const hsy_spec *spec,
                                        hsy_error *err)
{
    hsy_status st;

    put_word(p, "mechanism", spec->mechanism);
    put_word(p, "kind", hsy_kind_name(spec->kind));
    if (spec->nano_epsilon != 0)
        container_text_epsilon(p, "epsilon", spec->nano_epsilon);
    if (spec->nano_permanent != 0)
        container_text_epsilon(p, "permanent", spec->nano_permanent);
    st = container_text_domain(p, spec, err);
    container_text_parameters(p, spec);
    container_text_spelling(p, spec);
    return st;
}

/* The header without its line's end; the caller frees *line. */
static hsy_status container_text_make(char **line, size_t *len,
                                      const hsy_spec *spec,
                                      const uint8_t digest[HSY_DIGEST],
                                      const uint8_t wire[CONTAINER_BEGIN],
                                      hsy_error *err)
{
    struct put p;
    hsy_status st = put_open_tight(&p, err);

    if (st != HSY_OK)
        return st;
    put_word(&p, "hearsay", "reports");
    put_count(&p, "version", 1);
    put_object(&p, "scheme");
    st = container_text_scheme(&p, spec, err);
    put_hex(&p, "digest", digest, HSY_DIGEST);
    put_end(&p, '}');
    put_hex(&p, "prefix", wire, CONTAINER_BEGIN);
    if (spec->labels_len != 0)
        put_hex(&p, "labels", spec->labels, spec->labels_len);
    if (st != HSY_OK) {
        put_abort(&p);
        return st;
    }
    st = put_close(&p, line, len, err);
    if (st == HSY_OK && *len + 1 > CONTAINER_HEAD_MAX)
        return host_fail_limit(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                               "they make a header line of JSON that is too "
                               "long; a binary stream takes them",
                               CONTAINER_HEAD_MAX);
    return st;
}

hsy_status container_put_json_head(struct output *out, const hsy_scheme *s,
                                   const uint8_t *labels, size_t labels_len,
                                   hsy_error *err)
{
    uint8_t wire[CONTAINER_BEGIN];
    hsy_scheme_info info;
    hsy_spec spec;
    char *line = NULL;
    size_t len;
    hsy_status st;

    hsy_scheme_describe(s, &info);
    if (!container_begin_wire(wire, s, labels, labels_len,
                              HSY_CONTENT_REPORTS) ||
        hsy_spec_decode(&spec, wire + HSY_PREFIX_WIRE, labels, labels_len,
                        NULL) != HSY_OK)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_VALUES,
                         "they are not those of the scheme");
    st = container_text_make(&line, &len, &spec, info.digest, wire, err);
    if (st == HSY_OK) {
        output_write(out, line, len); /* the next says whether it failed */
        st = output_write(out, "\n", 1);
    }
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
