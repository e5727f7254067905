/* records.c - columns of a table in CSV: several attributes, or one truth. */
#define _DEFAULT_SOURCE
#include "host/format/records.h"

#include "host/base/host_fail.h"
#include "host/base/text.h"

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

/* ---- The header ---------------------------------------------------------- */

struct record_cursor records_begin(const struct records *r,
                                   const struct line *line)
{
    return (struct record_cursor){
        .csv = {line->text, line->text + line->len, true, r->separator}};
}

size_t records_near(struct records *r, const struct line *line,
                    const char *name)
{
    struct record_cursor c = records_begin(r, line);
    const char *const names[] = {(const char *)r->field, NULL};

    while (c.csv.more && csv_field(&c.csv, &c.field, r->field)) {
        c.at++;
        if (text_nearest(name, names) != NULL)
            return c.at;
    }
    return 0;
}

/* A name that none of the columns has, but one nearly. */
static bool records_unknown(const struct records *r, const struct line *name,
                            struct truth_wrong *wrong)
{
    const char *names[HSY_ATTRIBUTES_MAX + 1] = {NULL};

    for (size_t i = 0; i < r->count; i++)
        names[i] = r->columns[i].name;
    wrong->place = r->width + 1;
    wrong->meant = text_nearest((const char *)name->text, names);
    return records_wrong(wrong, TRUTH_UNKNOWN, NULL);
}

/* The next name: every column that is called so is there. */
static bool records_name(struct records *r, size_t *found,
                         const struct line *name, struct truth_wrong *wrong)
{
    const size_t before = *found;

    for (size_t i = 0; i < r->count; i++) {
        if (r->columns[i].name_len != name->len ||
            memcmp(r->columns[i].name, name->text, name->len) != 0)
            continue;
        if (r->place[i] != 0)
            return records_wrong(wrong, TRUTH_TWICE, &r->columns[i]);
        r->place[i] = r->width + 1;
        r->order[(*found)++] = (uint8_t)i;
    }
    return *found > before || r->others || records_unknown(r, name, wrong);
}

bool records_header(struct records *r, const struct line *line,
                    struct truth_wrong *wrong)
{
    struct record_cursor c;
    size_t found = 0, i = 0;

    r->separator = csv_separator(line);
    memset(r->place, 0, sizeof r->place);
    c = records_begin(r, line);
    for (r->width = 0; c.csv.more; r->width++) {
        if (!csv_field(&c.csv, &c.field, r->field))
            return records_wrong(wrong, TRUTH_QUOTE, NULL);
        if (!records_name(r, &found, &c.field, wrong))
            return false;
    }
    while (i < r->count && r->place[i] != 0)
        i++;
    if (i < r->count) {
        wrong->place = records_near(r, line, r->columns[i].name);
        return records_wrong(wrong, TRUTH_LACKING, &r->columns[i]);
    }
    r->headed = true;
    return true;
}

/* ---- Fields -------------------------------------------------------------- */

bool records_next(struct records *r, struct record_cursor *c, size_t *which,
                  struct truth_wrong *wrong)
{
    while (c->taken == r->count || c->at < r->place[r->order[c->taken]]) {
        if (!c->csv.more) {
            wrong->trouble = c->at == r->width ? 0 : TRUTH_FIELDS;
            return false;
        }
        if (!csv_field(&c->csv, &c->field, r->field))
            return records_wrong(wrong, TRUTH_QUOTE, NULL);
        c->at++;
    }
    *which = r->order[c->taken++];
    return true;
}

void records_decimal(const struct records *r, const struct line *field)
{
    uint8_t *comma =
        r->separator == ';' ? memchr(r->field, ',', field->len) : NULL;

    if (comma != NULL)
        *comma = '.';
}

static bool records_code(const struct records *r, size_t i, uint64_t *code,
                         const struct line *field, struct truth_wrong *wrong)
{
    const struct record_column *a = &r->columns[i];

    if (a->none && field->len == 0) {
        *code = a->none_place;
        return true;
    }
    if (field->len == 0)
        return records_wrong(wrong, r->count > 1 ? TRUTH_ABSENT : TRUTH_EMPTY,
                             a);
    if (a->coder.spec->kind == HSY_KIND_NUMBER ||
        a->coder.spec->kind == HSY_KIND_BINS)
        records_decimal(r, field);
    return code_lines(&a->coder, code, field, 1, wrong) == 1 ||
           records_wrong(wrong, wrong->trouble, a);
}

bool records_codes(struct records *r, uint64_t *codes, const struct line *line,
                   struct truth_wrong *wrong)
{
    struct record_cursor c = records_begin(r, line);
    size_t i;

    while (records_next(r, &c, &i, wrong))
        if (!records_code(r, i, &codes[i], &c.field, wrong))
            return false;
    return wrong->trouble == 0;
}
