/*
 * answers.c - what was answered: counts, or a table in CSV.
 *
 * What is wrong is told by line and column, never by an answer.
 */
#define _DEFAULT_SOURCE
#include "host/survey/survey.h"

#include "host/base/host_fail.h"
#include "host/format/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

hsy_status survey_data_open(struct survey_data *data, bool states,
                            hsy_error *err)
{
    *data = (struct survey_data){0};
    if (states)
        data->states = calloc(HSY_MATRIX_MAX, sizeof *data->states);
    else
        data->groups = calloc(SURVEY_GROUPS_MAX, sizeof *data->groups);
    return data->states != NULL || data->groups != NULL ? HSY_OK
                                                        : host_nomem(err);
}

void survey_data_clear(struct survey_data *data)
{
    free(data->groups);
    free(data->states);
    *data = (struct survey_data){0};
}

static void answers_take(struct survey_group *g, bool yes, uint64_t times,
                         double weight)
{
    g->counts[yes] += times;
    g->sum[yes] += (double)times * weight;
    g->squares[yes] += (double)times * weight * weight;
}

void survey_data_add(struct survey_data *data, uint64_t yes, uint64_t n)
{
    struct survey_group *g = &data->groups[data->count++];

    snprintf(g->name, sizeof g->name, "%zu", data->count);
    answers_take(g, true, yes, 1);
    answers_take(g, false, n - yes, 1);
}

/* ---- A table ------------------------------------------------------------- */

struct answers_table {
    struct survey_data *data;
    const struct survey_table *how;
    struct survey_wrong *wrong;
    hsy_spec spec;
    struct coder coder;
    struct records records;
    enum survey_column role[SURVEY_COLUMNS]; /* of each of their columns */
    uint64_t line;
    uint64_t answered;
    uint64_t blank; /* lines without a word since the last person's, */
    uint64_t gap;   /* and the first of them without a separator; 0: none */
    uint8_t *fields[SURVEY_COLUMNS]; /* those that are kept */
    size_t lens[SURVEY_COLUMNS];
};

/* A line that is wrong, or with a column one field of it. */
static hsy_status answers_bad(const struct answers_table *t,
                              enum survey_column column, const char *why,
                              hsy_error *err)
{
    t->wrong->trouble =
        column == SURVEY_COLUMNS ? SURVEY_BAD_LINE : SURVEY_BAD_FIELD;
    t->wrong->column = column;
    t->wrong->line = t->line;
    return host_fail_at(err, HSY_E_FORMAT, HSY_FIELD_NONE, why, HSY_UNIT_LINE,
                        t->line);
}

/* All of it. */
static hsy_status answers_wrong(const struct answers_table *t,
                                enum survey_trouble trouble, const char *why,
                                hsy_error *err)
{
    t->wrong->trouble = trouble;
    return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE, why);
}

/* What is wrong with the header, or with the fields of a line. */
static hsy_status answers_refuse(struct answers_table *t,
                                 const struct line *line,
                                 const struct truth_wrong *w, hsy_error *err)
{
    unsigned column = 0;

    while (column < SURVEY_COLUMNS && t->how->columns[column] != w->column)
        column++;
    switch (w->trouble) {
    case TRUTH_QUOTE:
        return answers_bad(t, SURVEY_COLUMNS, csv_quote, err);
    case TRUTH_TWICE:
        return answers_bad(t, column, "the header has it twice", err);
    case TRUTH_LACKING:
        t->wrong->column = column;
        t->wrong->near = records_near(&t->records, line, w->column);
        return answers_wrong(t, SURVEY_NO_COLUMN, "no such column", err);
    default:
        return answers_bad(t, SURVEY_COLUMNS,
                           "not as many fields as the first line", err);
    }
}

static void answers_columns(struct answers_table *t)
{
    struct records *r = &t->records;

    r->others = true;
    for (unsigned i = 0; i < SURVEY_COLUMNS; i++) {
        const char *name = t->how->columns[i];

        if (name == NULL)
            continue;
        t->role[r->count] = i;
        r->columns[r->count++] =
            (struct record_column){.name = name, .name_len = strlen(name)};
    }
}

/* The fields that are wanted, kept. */
static hsy_status answers_split(struct answers_table *t,
                                const struct line *line, hsy_error *err)
{
    struct record_cursor c = records_begin(&t->records, line);
    struct truth_wrong wrong = {0};
    size_t i;

    while (records_next(&t->records, &c, &i, &wrong)) {
        if (t->role[i] == SURVEY_WEIGHT)
            records_decimal(&t->records, &c.field);
        memcpy(t->fields[t->role[i]], c.field.text, c.field.len + 8);
        t->lens[t->role[i]] = c.field.len;
    }
    return wrong.trouble == 0 ? HSY_OK : answers_refuse(t, line, &wrong, err);
}

/* The group of a name, made if it is new; NULL if there are too many. */
static struct survey_group *answers_group(struct survey_data *data,
                                          const uint8_t *name, size_t len)
{
    struct survey_group *g;

    for (size_t i = 0; i < data->count; i++) {
        g = &data->groups[i];
        if (strlen(g->name) == len && memcmp(g->name, name, len) == 0)
            return g;
    }
    if (data->count == SURVEY_GROUPS_MAX)
        return NULL;
    g = &data->groups[data->count++];
    memcpy(g->name, name, len);
    return g;
}

static hsy_status answers_weight(const struct answers_table *t, double *weight,
                                 hsy_error *err)
{
    const char *text = (const char *)t->fields[SURVEY_WEIGHT];
    const size_t len = t->lens[SURVEY_WEIGHT];
    int64_t whole;

    *weight = 1;
    if (t->how->columns[SURVEY_WEIGHT] == NULL)
        return HSY_OK;
    if (hsy_decimal_parse(&whole, text, len, 0) != HSY_OK || text[0] == '-')
        return answers_bad(t, SURVEY_WEIGHT,
                           "not a weight: a decimal from 0 up, as 1.25", err);
    *weight = strtod(text, NULL);
    return HSY_OK;
}

static hsy_status answers_sample(const struct answers_table *t,
                                 struct survey_group **g, hsy_error *err)
{
    const uint8_t *which = t->fields[SURVEY_SAMPLE];

    if (t->lens[SURVEY_SAMPLE] != 1 || (which[0] != '1' && which[0] != '2'))
        return answers_bad(t, SURVEY_SAMPLE, "neither 1 nor 2", err);
    *g = &t->data->groups[which[0] - '1'];
    return HSY_OK;
}

/* Which of two samples, or whose group. */
static hsy_status answers_where(const struct answers_table *t,
                                struct survey_group **g, hsy_error *err)
{
    const uint8_t *name = t->fields[SURVEY_GROUP];
    const size_t len = t->lens[SURVEY_GROUP];

    if (t->how->columns[SURVEY_SAMPLE] != NULL)
        return answers_sample(t, g, err);
    *g = &t->data->groups[0];
    if (t->how->columns[SURVEY_GROUP] == NULL)
        return HSY_OK;
    if (len == 0)
        return answers_bad(t, SURVEY_GROUP,
                           "empty; every answer needs its group", err);
    if (len > SURVEY_NAME_MAX || memchr(name, '\0', len) != NULL)
        return answers_bad(t, SURVEY_GROUP,
                           "longer than 255 bytes, or not text", err);
    *g = answers_group(t->data, name, len);
    return *g != NULL
               ? HSY_OK
               : answers_bad(t, SURVEY_GROUP, "more than 100 groups", err);
}

/* Crosswise answers may be in their own words. */
static bool answers_crosswise(const struct answers_table *t, uint64_t *code)
{
    const struct survey_design *design = t->how->design;
    const char *text = (const char *)t->fields[SURVEY_ANSWER];

    if (design == NULL || design->kind->design != HSY_SURVEY_CROSSWISE)
        return false;
    *code = strcasecmp(text, "same") == 0;
    return *code == 1 || strcasecmp(text, "different") == 0;
}

static bool answers_given(struct answers_table *t, uint64_t *code)
{
    const struct line field = {t->fields[SURVEY_ANSWER],
                               t->lens[SURVEY_ANSWER]};

    return field.len != 0 &&
           (answers_crosswise(t, code) ||
            code_lines(&t->coder, code, &field, 1, &t->wrong->truth) == 1);
}

/* What stands for no answer, where it is not one by its name. */
static hsy_status answers_none(struct answers_table *t, hsy_error *err)
{
    static const char *const words[] = {"",        "NA",        "N/A",
                                        "missing", "no answer", "refused",
                                        "refusal", "declined"};
    const size_t refusals = 5; /* from here on they are */
    const char *text = (const char *)t->fields[SURVEY_ANSWER];
    const size_t len = t->lens[SURVEY_ANSWER];

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (len == strlen(words[i]) && strcasecmp(text, words[i]) == 0) {
            t->data->silent.missing += i < refusals;
            t->data->silent.refused += i >= refusals;
            return HSY_OK;
        }
    answers_bad(t, SURVEY_ANSWER, "not an answer", err);
    t->wrong->trouble = SURVEY_NO_ANSWER;
    return HSY_E_FORMAT;
}

static hsy_status answers_record(struct answers_table *t,
                                 const struct line *line, hsy_error *err)
{
    struct survey_group *g = NULL;
    uint64_t code = 0;
    double weight = 1;
    hsy_status st = answers_split(t, line, err);

    if (st != HSY_OK)
        return st;
    if (!answers_given(t, &code))
        return answers_none(t, err);
    t->answered++;
    if (t->data->states != NULL) {
        t->data->states[code]++;
        return HSY_OK;
    }
    st = answers_weight(t, &weight, err);
    if (st == HSY_OK)
        st = answers_where(t, &g, err);
    if (st == HSY_OK)
        answers_take(g, code != 0, 1, weight);
    return st;
}

static bool answers_blank(const struct answers_table *t,
                          const struct line *line)
{
    for (size_t i = 0; i < line->len; i++)
        if (line->text[i] != t->records.separator && line->text[i] != ' ')
            return false;
    return true;
}

/* Lines without a word are the end of the table, unless somebody follows. Then
 * they were people without an answer, if they have all fields. */
static hsy_status answers_line(void *ctx, const struct line *line,
                               uint64_t number, hsy_error *err)
{
    struct answers_table *t = ctx;
    struct truth_wrong wrong = {0};

    t->line = number;
    if (t->line == 1)
        return records_header(&t->records, line, &wrong)
                   ? HSY_OK
                   : answers_refuse(t, line, &wrong, err);
    if (answers_blank(t, line)) {
        t->blank++;
        if (line->len == 0 && t->records.width > 1 && t->gap == 0)
            t->gap = t->line;
        return HSY_OK;
    }
    if (t->gap != 0) {
        t->line = t->gap;
        return answers_bad(t, SURVEY_COLUMNS,
                           "empty; only the last lines may be", err);
    }
    t->data->silent.missing += t->blank;
    t->blank = 0;
    return answers_record(t, line, err);
}

/* All memory is one block: a field of each column. */
static hsy_status answers_lines(struct answers_table *t, int fd, hsy_error *err)
{
    const size_t size = SURVEY_COLUMNS * (size_t)CSV_FIELD_ROOM;
    hsy_status st = records_open(&t->records, err);
    uint8_t *block;

    if (st != HSY_OK)
        return st;
    block = malloc(size);
    for (size_t i = 0; block != NULL && i < SURVEY_COLUMNS; i++)
        t->fields[i] = block + i * CSV_FIELD_ROOM;
    st = block != NULL ? lines_each(fd, true, answers_line, t, err)
                       : host_nomem(err);
    if (block != NULL)
        explicit_bzero(block, size);
    free(block);
    records_close(&t->records);
    if (st == HSY_OK && t->answered == 0)
        st = answers_wrong(t, SURVEY_NOBODY, "no answers", err);
    return st;
}

/* Somebody in each sample, and some weight in each group. */
static hsy_status answers_whole(const struct answers_table *t, hsy_error *err)
{
    const struct survey_data *data = t->data;

    for (size_t i = 0; i < data->count; i++) {
        const struct survey_group *g = &data->groups[i];

        t->wrong->sample = i + 1;
        if (g->counts[0] + g->counts[1] == 0)
            return answers_wrong(t, SURVEY_NO_SAMPLE, "nobody in a sample",
                                 err);
        if (g->sum[0] + g->sum[1] == 0)
            return answers_wrong(t, SURVEY_NO_WEIGHT,
                                 "all weights of a group are 0", err);
    }
    if (t->how->columns[SURVEY_GROUP] != NULL && data->count == 1)
        return answers_wrong(t, SURVEY_ONE_GROUP,
                             "all answers are of one group", err);
    return HSY_OK;
}

hsy_status survey_data_read(struct survey_data *data,
                            struct survey_wrong *wrong,
                            const struct survey_table *table, int fd,
                            hsy_error *err)
{
    static const struct labels none;
    struct answers_table t = {.data = data,
                              .how = table,
                              .wrong = wrong,
                              .spec = {.kind = table->design != NULL
                                                   ? HSY_KIND_YES_NO
                                                   : HSY_KIND_VALUES,
                                       .d = table->d}};
    hsy_status st;

    t.coder =
        (struct coder){.spec = &t.spec,
                       .labels = table->labels != NULL ? table->labels : &none};
    answers_columns(&t);
    *wrong = (struct survey_wrong){0};
    data->silent = (struct survey_silent){.known = true};
    data->weighted = table->columns[SURVEY_WEIGHT] != NULL;
    data->count = table->design == NULL                  ? 0
                  : table->design->kind->pair            ? 2
                  : table->columns[SURVEY_GROUP] != NULL ? 0
                                                         : 1;
    st = answers_lines(&t, fd, err);
    return st == HSY_OK && table->design != NULL ? answers_whole(&t, err) : st;
}
