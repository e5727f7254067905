/*
 * json_read.c - reading the readable twin of a report stream.
 *
 * JSON Lines: a header, {"report":R} for each report, {"end":COUNT}. R is the
 * packed report: a whole number where it has at most CONTAINER_WHOLE bits, so
 * that every JSON reader keeps it exact, else its bytes in hexadecimal.
 *
 * The header holds the bytes that a binary stream begins with, and only they
 * are read. What it says in words is for people.
 */
#include "host/format/internal.h"

#include "host/base/digits.h"
#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "host/format/json_value.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_JSON_BATCH 65536u /* bytes of reports in a record */

void container_json_clear(struct container_json *json)
{
    free(json->begin);
    free(json->reports);
    free(json->packed);
    free(json->one);
    memset(json, 0, sizeof *json);
}

hsy_status container_json_refuse(hsy_error *err, uint32_t field,
                                 const char *msg)
{
    if (errno == ENOMEM)
        return host_nomem(err);
    return host_fail(err, HSY_E_FORMAT, field, msg);
}

/* The JSON value of a line; the caller drops its reference. */
static hsy_status container_json_parse(json_t **value, const char *line,
                                       size_t len, hsy_error *err)
{
    errno = 0;
    *value =
        json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    if (*value == NULL)
        return container_json_refuse(err, HSY_FIELD_NONE, "not a line of JSON");
    return HSY_OK;
}

/* ---- The header ---------------------------------------------------------- */

hsy_status container_json_rooms(struct container_json *json,
                                const hsy_scheme *s, hsy_error *err)
{
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    json->room = CONTAINER_JSON_BATCH / info.report_bytes;
    if (json->room == 0)
        json->room = 1;
    json->reports = malloc(json->room * info.report_bytes);
    json->packed = malloc(hsy_packed_size(s, json->room));
    json->one = malloc(hsy_packed_size(s, 1));
    if (json->reports == NULL || json->packed == NULL || json->one == NULL)
        return host_nomem(err);
    return HSY_OK;
}

/* The digits of prefix and labels as bytes, one after the other. */
static hsy_status container_json_bytes(struct container_json *json,
                                       const char *prefix, size_t prefix_len,
                                       const char *labels, size_t labels_len,
                                       hsy_error *err)
{
    const size_t n = labels_len / 2;

    json->begin = malloc(CONTAINER_BEGIN + n);
    if (json->begin == NULL)
        return host_nomem(err);
    json->labels_len = n;
    if (hex_get(json->begin, CONTAINER_BEGIN, prefix, prefix_len) &&
        hex_get(json->begin + CONTAINER_BEGIN, n, labels, labels_len))
        return HSY_OK;
    return host_fail(err, HSY_E_FORMAT, HSY_FIELD_HEADER,
                     "prefix and labels are not the bytes of a stream in "
                     "hexadecimal");
}

static hsy_status container_json_head(struct container_json *json, json_t *head,
                                      hsy_error *err)
{
    const char *content, *prefix, *labels = "";
    size_t content_len, prefix_len, labels_len = 0;
    json_int_t version;
    json_t *scheme;

    if (json_unpack(head, "{s:s%,s:I,s:o,s:s%,s?s%!}", "hearsay", &content,
                    &content_len, "version", &version, "scheme", &scheme,
                    "prefix", &prefix, &prefix_len, "labels", &labels,
                    &labels_len) == -1 ||
        content_len != 7 || memcmp(content, "reports", 7) != 0)
        return container_json_refuse(err, HSY_FIELD_HEADER,
                                     "not a header of hearsay reports");
    if (version != 1)
        return host_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_VERSION,
                               "a version this program does not know", 1);
    return container_json_bytes(json, prefix, prefix_len, labels, labels_len,
                                err);
}

hsy_status container_json_begin(struct container_json *json, const char *line,
                                size_t len, hsy_error *err)
{
    json_t *head;
    hsy_status st = container_json_parse(&head, line, len, err);

    if (st != HSY_OK)
        return st;
    st = container_json_head(json, head, err);
    json_decref(head);
    return st;
}

/* ---- Reports ------------------------------------------------------------- */

static bool container_json_whole(uint8_t *packed, size_t bytes, uint32_t bits,
                                 uint64_t value)
{
    if (value >> bits != 0)
        return false;
    for (size_t i = 0; i < bytes; i++)
        packed[i] = (uint8_t)(value >> (8 * i));
    return true;
}

static bool container_json_packed(uint8_t *packed, const hsy_scheme *s,
                                  const hsy_scheme_info *info,
                                  const json_t *value)
{
    size_t bytes = hsy_packed_size(s, 1);

    if (info->packed_bits <= CONTAINER_WHOLE)
        return json_is_integer(value) && /* below 0 is beyond all bits */
               container_json_whole(packed, bytes, info->packed_bits,
                                    (uint64_t)json_integer_value(value));
    return json_is_string(value) &&
           hex_get(packed, bytes, json_string_value(value),
                   json_string_length(value));
}

static bool container_good(uint8_t *report, const uint8_t *one,
                           const hsy_scheme *s)
{
    return hsy_unpack(s, report, one, 1) == HSY_OK &&
           hsy_check(s, report) == HSY_OK;
}

bool container_json_value(uint8_t *report, uint8_t *one, const hsy_scheme *s,
                          const hsy_scheme_info *info, const json_t *value)
{
    return container_json_packed(one, s, info, value) &&
           container_good(report, one, s);
}

bool container_text_value(uint8_t *report, uint8_t *one, const hsy_scheme *s,
                          const hsy_scheme_info *info, const char *text,
                          size_t len)
{
    const size_t bytes = hsy_packed_size(s, 1);
    uint64_t whole;

    return (info->packed_bits <= CONTAINER_WHOLE
                ? digits_parse(&whole, text, len, UINT64_MAX) &&
                      container_json_whole(one, bytes, info->packed_bits, whole)
                : hex_get(one, bytes, text, len)) &&
           container_good(report, one, s);
}

static hsy_status container_json_report(struct container_json *json,
                                        const hsy_scheme *s,
                                        const hsy_scheme_info *info,
                                        const json_t *value, hsy_error *err)
{
    uint8_t *report = json->reports + json->used * info->report_bytes;

    if (!container_json_value(report, json->one, s, info, value))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_REPORT,
                         "not a report of the scheme");
    json->used++;
    return HSY_OK;
}

static hsy_status container_json_end(struct container_json *json,
                                     const json_t *value, hsy_error *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_END,
                         "not a count of reports");
    json->ended = true;
    json->count = (uint64_t)json_integer_value(value);
    return HSY_OK;
}

hsy_status container_json_line(struct container_json *json, const hsy_scheme *s,
                               const hsy_scheme_info *info, const char *line,
                               size_t len, hsy_error *err)
{
    json_t *object;
    const json_t *report, *end;
    hsy_status st;

    if (container_blank((uint8_t)line[0]))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE, "empty");
    st = container_json_parse(&object, line, len, err);
    if (st != HSY_OK)
        return st;
    report = json_object_get(object, "report");
    end = json_object_get(object, "end");
    if (json_object_size(object) != 1 || (report == NULL && end == NULL))
        st = host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                       "neither a report nor the end");
    else if (report != NULL)
        st = container_json_report(json, s, info, report, err);
    else
        st = container_json_end(json, end, err);
    json_decref(object);
    return st;
}
