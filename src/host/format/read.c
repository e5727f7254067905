/*
 * read.c - reading report streams and tally files.
 *
 * A reader stands between two files or within one. A file begins with the
 * magic of a prefix, or with the '{' of the readable twin; its scheme is
 * resolved at once, so that every record can be checked against it.
 */
#include "host/format/internal.h"

#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

#define CONTAINER_MAGIC 8u /* bytes that a binary file begins with */

enum container_place {
    CONTAINER_START,   /* nothing has been read */
    CONTAINER_BETWEEN, /* the last file has ended */
    CONTAINER_BINARY,
    CONTAINER_TEXT
};

struct container_reader {
    struct container_input in;
    enum container_place place;
    bool text;     /* the file, or the last one, is the readable twin */
    uint64_t line; /* records or lines of the file so far */
    hsy_file_header prefix;
    hsy_scheme *scheme; /* owned unless kept; NULL before the first file */
    bool kept;          /* somebody else frees the scheme */
    hsy_scheme_info info;
    uint64_t reports; /* in the records of a report stream so far */
    struct container_order order;
    struct container_json json;
};

struct container_reader *container_open(int fd)
{
    struct container_reader *r = calloc(1, sizeof *r);

    if (r == NULL)
        return NULL;
    if (container_input_open(&r->in, fd) != HSY_OK) {
        free(r);
        return NULL;
    }
    return r;
}

struct container_reader *container_open_bytes(const uint8_t *bytes, size_t len)
{
    struct container_reader *r = calloc(1, sizeof *r);

    if (r == NULL)
        return NULL;
    if (container_input_bytes(&r->in, bytes, len) != HSY_OK) {
        free(r);
        return NULL;
    }
    return r;
}

static void container_drop_scheme(struct container_reader *r)
{
    if (!r->kept)
        free(r->scheme);
    r->scheme = NULL;
    r->kept = false;
}

hsy_scheme *container_keep_scheme(struct container_reader *r)
{
    r->kept = true;
    return r->scheme;
}

void container_close(struct container_reader *r)
{
    if (r == NULL)
        return;
    container_input_close(&r->in);
    container_json_clear(&r->json);
    container_drop_scheme(r);
    free(r);
}

/* What a failed read means in the middle of a file. */
static hsy_status container_broken(hsy_status st, hsy_error *err)
{
    switch (st) {
    case HSY_E_END:
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "truncated: the writer did not finish; make or copy "
                         "the file again");
    case HSY_E_RANGE:
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "the line is too long");
    case HSY_E_NOMEM:
        return host_fail(err, st, HSY_FIELD_NONE, "out of memory");
    default:
        return host_fail(err, st, HSY_FIELD_NONE, "the input cannot be read");
    }
}

/* ---- Where a file begins ------------------------------------------------- */

/* Resolve the scheme behind a prefix anew, and see that it is what that says.
 */
static hsy_status container_resolve(struct container_reader *r,
                                    struct container_item *item,
                                    const uint8_t *wire, hsy_error *err)
{
    const size_t len = r->prefix.labels_len;
    const uint8_t *labels = len == 0 ? NULL : wire + HSY_SCHEME_WIRE;
    hsy_spec spec;
    hsy_status st;

    item->labels = labels;
    if (hsy_crc32c(0, wire, HSY_SCHEME_WIRE + len) != r->prefix.checksum)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_SCHEME,
                         "the checksum is wrong");
    st = hsy_spec_decode(&spec, wire, labels, len, err);
    if (st != HSY_OK)
        return st;
    r->scheme = malloc(hsy_scheme_size(&spec));
    if (r->scheme == NULL)
        return container_broken(HSY_E_NOMEM, err);
    st = hsy_scheme_decode(r->scheme, wire, labels, len, err);
    if (st != HSY_OK)
        return st;
    hsy_scheme_describe(r->scheme, &r->info);
    if (r->info.labels_len != len ||
        memcmp(r->info.digest, r->prefix.digest, HSY_DIGEST) != 0)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_DIGEST,
                         "the digest is not that of the scheme");
    return HSY_OK;
}

/* What a file is that has neither reports nor a tally. */
static const char *container_other(const uint8_t *bytes, size_t have)
{
    static const struct {
        char magic[5];
        const char *what;
    } others[] = {
        {"HSYU", "uploads of devices: send them to the collector; reports or a "
                 "tally are needed here"},
        {"HSYD", "a task document: 'hearsay tasks show' prints it"},
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (have >= 4 && memcmp(bytes, others[i].magic, 4) == 0)
            return others[i].what;
    }
    return "not a hearsay file: reports (made by 'hearsay randomize') or a "
           "tally are needed";
}

/* Whether the input goes on with a hearsay file, as far as it goes. */
static hsy_status container_magic(struct container_reader *r, hsy_error *err)
{
    static const hsy_file_header none = {.content = HSY_CONTENT_REPORTS};
    uint8_t own[HSY_PREFIX_WIRE];
    hsy_status st = container_input_need(&r->in, CONTAINER_MAGIC);
    size_t have = r->in.end - r->in.begin;

    if (st != HSY_OK && st != HSY_E_END)
        return container_broken(st, err);
    hsy_file_header_encode(own, &none);
    if (have > CONTAINER_MAGIC)
        have = CONTAINER_MAGIC;
    if (memcmp(r->in.bytes + r->in.begin, own, have) == 0)
        return HSY_OK;
    return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                     r->place == CONTAINER_START
                         ? container_other(r->in.bytes + r->in.begin, have)
                         : "bytes after the end are not a hearsay file");
}

static hsy_status container_begin_binary(struct container_reader *r,
                                         struct container_item *item,
                                         hsy_error *err)
{
    size_t all;
    hsy_status st = container_magic(r, err);

    if (st != HSY_OK)
        return st;
    st = container_input_need(&r->in, HSY_PREFIX_WIRE);
    if (st != HSY_OK)
        return container_broken(st, err);
    st = hsy_file_header_decode(&r->prefix, r->in.bytes + r->in.begin, err);
    if (st != HSY_OK)
        return st;
    all = CONTAINER_BEGIN + r->prefix.labels_len;
    st = container_input_need(&r->in, all);
    if (st != HSY_OK)
        return container_broken(st, err);
    return container_resolve(
        r, item, container_input_take(&r->in, all) + HSY_PREFIX_WIRE, err);
}

static hsy_status container_begin_text(struct container_reader *r,
                                       struct container_item *item,
                                       hsy_error *err)
{
    size_t len;
    hsy_status st = container_input_line(&r->in, CONTAINER_HEAD_MAX, &len);

    r->line = 1;
    if (st != HSY_OK)
        return container_broken(st, err);
    container_json_clear(&r->json);
    st = container_json_begin(
        &r->json, (const char *)container_input_take(&r->in, len), len, err);
    if (st == HSY_OK)
        st = hsy_file_header_decode(&r->prefix, r->json.begin, err);
    if (st != HSY_OK)
        return st;
    if (r->prefix.content != HSY_CONTENT_REPORTS ||
        r->prefix.labels_len != r->json.labels_len)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_HEADER,
                         "its prefix is not one of reports with such labels");
    st = container_resolve(r, item, r->json.begin + HSY_PREFIX_WIRE, err);
    return st == HSY_OK ? container_json_rooms(&r->json, r->scheme, err) : st;
}

static hsy_status container_begin(struct container_reader *r,
                                  struct container_item *item, hsy_error *err)
{
    hsy_status st = container_input_need(&r->in, 1);

    if (st == HSY_E_END && r->place == CONTAINER_START)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "the input is empty");
    if (st == HSY_E_END)
        return st;
    if (st != HSY_OK)
        return container_broken(st, err);
    if (r->place == CONTAINER_BETWEEN && r->text &&
        container_blank(r->in.bytes[r->in.begin])) {
        r->line++;
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE, "empty");
    }
    container_drop_scheme(r);
    r->line = r->reports = 0;
    memset(&r->order, 0, sizeof r->order);
    r->text = r->in.bytes[r->in.begin] == '{';
    st = r->text ? container_begin_text(r, item, err)
                 : container_begin_binary(r, item, err);
    if (st != HSY_OK)
        return st;
    item->type = CONTAINER_PREFIX;
    item->line = r->line;
    item->prefix = r->prefix;
    r->place = r->text ? CONTAINER_TEXT : CONTAINER_BINARY;
    return HSY_OK;
}

/* ---- Records ------------------------------------------------------------- */

static hsy_status container_report_record(struct container_reader *r,
                                          const hsy_record *record,
                                          hsy_error *err)
{
    if (record->type == HSY_RECORD_END) {
        if (record->count == r->reports)
            return HSY_OK;
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_COUNT,
                         "the stream does not hold the reports its end says");
    }
    if (record->type != HSY_RECORD_REPORTS)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_TYPE,
                         "not a record of a report stream");
    if (hsy_packed_size(r->scheme, (size_t)record->count) != record->length)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                         "not the length of so many reports");
    if (record->count > (uint64_t)INT64_MAX - r->reports)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_COUNT,
                         "too many reports");
    r->reports += record->count;
    return HSY_OK;
}

static hsy_status container_binary_record(struct container_reader *r,
                                          struct container_item *item,
                                          hsy_error *err)
{
    hsy_status st = container_input_need(&r->in, HSY_RECORD_WIRE);

    if (st != HSY_OK)
        return container_broken(st, err);
    st = hsy_record_decode(&item->record, r->in.bytes + r->in.begin, err);
    if (st != HSY_OK)
        return st;
    st = container_input_need(&r->in, HSY_RECORD_WIRE + item->record.length);
    if (st != HSY_OK)
        return container_broken(st, err);
    item->payload =
        container_input_take(&r->in, HSY_RECORD_WIRE + item->record.length) +
        HSY_RECORD_WIRE;
    if (hsy_crc32c(0, item->payload, item->record.length) !=
        item->record.checksum)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_PAYLOAD,
                         "the checksum is wrong");
    if (r->prefix.content == HSY_CONTENT_TALLY)
        return container_order_check(&r->order, &r->info, &item->record,
                                     item->payload, err);
    return container_report_record(r, &item->record, err);
}

/* The lines up to the next record's worth of reports, or the end line. */
static hsy_status container_text_lines(struct container_reader *r,
                                       hsy_error *err)
{
    size_t most = 2 * hsy_packed_size(r->scheme, 1) + 64;

    while (!r->json.ended && r->json.used < r->json.room) {
        size_t len;
        hsy_status st = container_input_line(&r->in, most, &len);

        r->line++;
        if (st != HSY_OK)
            return container_broken(st, err);
        st = container_json_line(
            &r->json, r->scheme, &r->info,
            (const char *)container_input_take(&r->in, len), len, err);
        if (st != HSY_OK)
            return st;
    }
    return HSY_OK;
}

static hsy_status container_text_record(struct container_reader *r,
                                        struct container_item *item,
                                        hsy_error *err)
{
    hsy_status st = container_text_lines(r, err);
    hsy_record record = {.type = HSY_RECORD_END, .count = r->json.count};

    if (st != HSY_OK)
        return st;
    item->line = r->line;
    if (r->json.used != 0) {
        /* The end line may have been read along with the last reports. */
        item->line -= r->json.used - 1 + r->json.ended;
        record.type = HSY_RECORD_REPORTS;
        record.count = r->json.used;
        record.length = (uint32_t)hsy_packed_size(r->scheme, r->json.used);
        hsy_pack(r->scheme, r->json.packed, r->json.reports, r->json.used);
        r->json.used = 0;
    }
    record.checksum = hsy_crc32c(0, r->json.packed, record.length);
    item->record = record;
    item->payload = r->json.packed;
    return container_report_record(r, &record, err);
}

static hsy_status container_record(struct container_reader *r,
                                   struct container_item *item, hsy_error *err)
{
    hsy_status st;

    if (r->place == CONTAINER_BINARY) {
        item->line = ++r->line;
        st = container_binary_record(r, item, err);
    } else {
        st = container_text_record(r, item, err);
    }
    if (st != HSY_OK)
        return st;
    item->type = CONTAINER_RECORD;
    if (item->record.type == HSY_RECORD_END)
        r->place = CONTAINER_BETWEEN;
    return HSY_OK;
}

hsy_status container_next(struct container_reader *r,
                          struct container_item *item, hsy_error *err)
{
    struct container_item next = {0};
    uint32_t unit;
    hsy_status st;

    if (r->place == CONTAINER_START || r->place == CONTAINER_BETWEEN)
        st = container_begin(r, &next, err);
    else
        st = container_record(r, &next, err);
    unit = r->text ? HSY_UNIT_LINE : HSY_UNIT_RECORD;
    next.unit = unit;
    next.scheme = r->scheme;
    if (st == HSY_OK)
        *item = next;
    else
        *item = (struct container_item){.unit = unit, .line = r->line};
    if (st == HSY_OK || st == HSY_E_END)
        return st;
    /* Whatever the library says of a scheme, the input is at fault here. */
    if (st != HSY_E_IO && st != HSY_E_NOMEM)
        st = HSY_E_FORMAT;
    if (err != NULL) {
        err->status = st;
        {
            err->unit = unit;
            err->at = r->line;
        }
    }
    return st;
}
