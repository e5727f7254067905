/* records.c - several attributes: columns of a table in CSV. */
#define _DEFAULT_SOURCE
#include "host/format/records.h"

#include "host/base/csv.h"
#include "host/base/host_fail.h"

#include <stdlib.h>
#include <string.h>

hsy_status records_open(struct records *r, hsy_error *err)
{
    r->field = malloc(CSV_FIELD_ROOM);
    return r->field != NULL ? HSY_OK : host_nomem(err);
}

void records_close(struct records *r)
{
    if (r->field != NULL)
        explicit_bzero(r->field, CSV_FIELD_ROOM);
    free(r->field);
    r->field = NULL;
}

static bool records_wrong(struct truth_wrong *wrong, enum truth_trouble trouble,
                          const struct record_column *column)
{
    wrong->trouble = trouble;
    wrong->column = column != NULL ? column->name : NULL;
    return false;
}

/* Which attribute a column is; count if it is none. */
static size_t records_find(const struct records *r, const struct line *name)
{
    size_t i = 0;

    while (i < r->count &&
           (r->columns[i].name_len != name->len ||
            memcmp(r->columns[i].name, name->text, name->len) != 0))
        i++;
    return i;
}

/* Whether attribute i is one of the header's first columns. */
static bool records_seen(const struct records *r, size_t i, size_t columns)
{
    return memchr(r->place, (int)i, columns) != NULL;
}

/* The attribute that the header lacks, of so many columns. */
static const struct record_column *records_lacking(const struct records *r,
                                                   size_t columns)
{
    size_t i = 0;

    while (records_seen(r, i, columns))
        i++;
    return &r->columns[i];
}

bool records_header(struct records *r, const struct line *line,
                    struct truth_wrong *wrong)
{
    struct csv_record c = {line->text, line->text + line->len, true, ','};
    struct line name;
    size_t columns = 0;

    while (c.more) {
        size_t i;

        if (!csv_field(&c, &name, r->field))
            return records_wrong(wrong, TRUTH_QUOTE, NULL);
        i = records_find(r, &name);
        if (i == r->count) {
            wrong->place = columns + 1;
            return records_wrong(wrong, TRUTH_UNKNOWN, NULL);
        }
        if (records_seen(r, i, columns))
            return records_wrong(wrong, TRUTH_TWICE, &r->columns[i]);
        r->place[columns++] = (uint8_t)i;
    }
    if (columns < r->count)
        return records_wrong(wrong, TRUTH_LACKING, records_lacking(r, columns));
    r->headed = true;
    return true;
}

static bool records_code(const struct record_column *a, uint64_t *code,
                         const struct line *field, struct truth_wrong *wrong)
{
    if (a->none && field->len == 0) {
        *code = a->none_place;
        return true;
    }
    if (field->len == 0)
        return records_wrong(wrong, TRUTH_ABSENT, a);
    return code_lines(&a->coder, code, field, 1, wrong) == 1 ||
           records_wrong(wrong, wrong->trouble, a);
}

bool records_codes(struct records *r, uint64_t *codes, const struct line *line,
                   struct truth_wrong *wrong)
{
    struct csv_record c = {line->text, line->text + line->len, true, ','};
    struct line field;
    size_t columns = 0;

    for (; c.more && columns < r->count; columns++) {
        size_t i = r->place[columns];

        if (!csv_field(&c, &field, r->field))
            return records_wrong(wrong, TRUTH_QUOTE, NULL);
        if (!records_code(&r->columns[i], &codes[i], &field, wrong))
            return false;
    }
    if (c.more || columns < r->count)
        return records_wrong(wrong, TRUTH_FIELDS, NULL);
    return true;
}
