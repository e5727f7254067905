/*
 * answers.c - what was answered: counts, or a table in CSV.
 *
 * A message names line and column of what is wrong, never an answer.
 */
#define _DEFAULT_SOURCE
#include "cli/survey/internal.h"

#include "host/base/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Counts -------------------------------------------------------------- */

/* One count of a list, len bytes of it. */
static bool answers_count(uint64_t *out, const char *text, size_t len)
{
    char digits[24];

    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, text, len);
    digits[len] = '\0';
    return cli_parse_count(out, digits) && *out <= SURVEY_COUNT_MAX;
}

size_t survey_counts(uint64_t *out, size_t most, const char *text,
                     const char *name, struct cli_parser *p)
{
    size_t count = 0;

    for (;;) {
        const size_t len = strcspn(text, ",");

        if (count == most) {
            cli_usage(p, "--%s: at most %zu counts", name, most);
            return 0;
        }
        if (!answers_count(&out[count++], text, len)) {
            cli_usage(p,
                      "--%s: count %zu is none: plain digits up to 2^53, no "
                      "sign and no point; commas stand between counts",
                      name, count);
            return 0;
        }
        if (text[len] == '\0')
            return count;
        text += len + 1;
    }
}

static void answers_take(struct survey_group *g, bool yes, uint64_t times,
                         double weight)
{
    g->counts[yes] += times;
    g->sum[yes] += (double)times * weight;
    g->squares[yes] += (double)times * weight * weight;
}

/* One more group of these counts. */
static void answers_one(struct survey_data *data, uint64_t yes, uint64_t n,
                        struct cli_parser *p)
{
    struct survey_group *g = &data->groups[data->count++];

    if (n == 0)
        cli_usage(p, "--n: nobody answered; there is nothing to estimate");
    else if (yes > n)
        cli_usage(p,
                  "--yes: %" PRIu64 " of %" PRIu64
                  " answers: there are not more yes than answers",
                  yes, n);
    snprintf(g->name, sizeof g->name, "%zu", data->count);
    answers_take(g, true, yes, 1);
    answers_take(g, false, yes < n ? n - yes : 0, 1);
}

static int answers_from_counts(struct survey_data *data,
                               const struct survey_options *o,
                               struct cli_parser *p)
{
    uint64_t yes[SURVEY_GROUPS_MAX], n[SURVEY_GROUPS_MAX];
    const size_t count =
        survey_counts(yes, SURVEY_GROUPS_MAX, o->yes, "yes", p);
    const size_t sizes =
        count == 0 ? 0 : survey_counts(n, SURVEY_GROUPS_MAX, o->n, "n", p);

    if (sizes == 0)
        return p->exit;
    if (count != sizes)
        return cli_usage(p,
                         "--yes has %zu counts and --n has %zu: one of both "
                         "for each group",
                         count, sizes);
    for (size_t i = 0; i < count && p->exit == 0; i++)
        answers_one(data, yes[i], n[i], p);
    return p->exit;
}

/* ---- A table ------------------------------------------------------------- */

enum { ANSWERS_COLUMN, ANSWERS_GROUP, ANSWERS_WEIGHT, ANSWERS_SAMPLE, ANSWERS };

static const char *const answers_options[ANSWERS] = {"column", "group",
                                                     "weight", "sample"};

struct answers_table {
    struct survey_data *data;
    const struct survey_options *how;
    const char *names[ANSWERS]; /* of the columns wanted, NULL: not wanted */
    size_t place[ANSWERS];
    size_t columns; /* of the header */
    struct cli_spec spec;
    uint64_t line;
    uint8_t *room;            /* one field */
    uint8_t *fields[ANSWERS]; /* those that are kept */
    size_t lens[ANSWERS];
};

static int answers_bad(const struct answers_table *t, int which,
                       const char *why)
{
    const char *name = cli_input_name(t->how->answers);

    if (which == ANSWERS)
        return cli_fail("%s: line %" PRIu64 ": %s", name, t->line, why);
    return cli_fail("%s: line %" PRIu64 ", column %s: %s", name, t->line,
                    t->names[which], why);
}

static int answers_header(struct answers_table *t, const struct line *line)
{
    struct csv_record r = {line->text, line->text + line->len, true};
    bool found[ANSWERS] = {false};
    struct line name;

    while (r.more) {
        if (!csv_field(&r, &name, t->room))
            return answers_bad(t, ANSWERS, csv_quote);
        for (int i = 0; i < ANSWERS; i++) {
            if (t->names[i] == NULL || strlen(t->names[i]) != name.len ||
                memcmp(t->names[i], name.text, name.len) != 0)
                continue;
            if (found[i])
                return answers_bad(t, i, "the header has it twice");
            found[i] = true;
            t->place[i] = t->columns;
        }
        t->columns++;
    }
    for (int i = 0; i < ANSWERS; i++)
        if (t->names[i] != NULL && !found[i])
            return cli_fail("%s: --%s %s: the first line names no such column; "
                            "it has the names of all, with commas between",
                            cli_input_name(t->how->answers), answers_options[i],
                            t->names[i]);
    return 0;
}

/* The fields that are wanted, kept. */
static int answers_split(struct answers_table *t, const struct line *line)
{
    struct csv_record r = {line->text, line->text + line->len, true};
    struct line field;
    size_t place = 0;

    for (; r.more; place++) {
        if (!csv_field(&r, &field, t->room))
            return answers_bad(t, ANSWERS, csv_quote);
        for (int i = 0; i < ANSWERS; i++) {
            if (t->names[i] == NULL || t->place[i] != place)
                continue;
            memcpy(t->fields[i], field.text, field.len + 8);
            t->lens[i] = field.len;
        }
    }
    if (place != t->columns)
        return answers_bad(t, ANSWERS, "not as many fields as the first line");
    return 0;
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

static int answers_weight(const struct answers_table *t, double *weight)
{
    const char *text = (const char *)t->fields[ANSWERS_WEIGHT];
    const size_t len = t->lens[ANSWERS_WEIGHT];
    int64_t whole;

    *weight = 1;
    if (t->names[ANSWERS_WEIGHT] == NULL)
        return 0;
    if (hsy_decimal_parse(&whole, text, len, 0) != HSY_OK || text[0] == '-')
        return answers_bad(t, ANSWERS_WEIGHT,
                           "not a weight: a decimal from 0 up, as 1.25");
    *weight = strtod(text, NULL);
    return 0;
}

/* Which of two samples, or whose group. */
static int answers_where(const struct answers_table *t, struct survey_group **g)
{
    const uint8_t *name = t->fields[ANSWERS_GROUP];
    const size_t len = t->lens[ANSWERS_GROUP];

    if (t->names[ANSWERS_SAMPLE] != NULL) {
        const uint8_t *which = t->fields[ANSWERS_SAMPLE];

        if (t->lens[ANSWERS_SAMPLE] != 1 ||
            (which[0] != '1' && which[0] != '2'))
            return answers_bad(t, ANSWERS_SAMPLE, "neither 1 nor 2");
        *g = &t->data->groups[which[0] - '1'];
        return 0;
    }
    if (t->names[ANSWERS_GROUP] == NULL) {
        *g = &t->data->groups[0];
        return 0;
    }
    if (len == 0)
        return answers_bad(t, ANSWERS_GROUP,
                           "empty; every answer needs its group");
    if (len > SURVEY_NAME_MAX || memchr(name, '\0', len) != NULL)
        return answers_bad(t, ANSWERS_GROUP,
                           "longer than 255 bytes, or not text");
    *g = answers_group(t->data, name, len);
    return *g != NULL ? 0
                      : answers_bad(t, ANSWERS_GROUP, "more than 100 groups");
}

/* Crosswise answers may be in their own words. */
static bool answers_crosswise(const struct answers_table *t, uint64_t *code)
{
    const struct survey_kind *kind = t->how->design.kind;
    const char *text = (const char *)t->fields[ANSWERS_COLUMN];

    if (kind == NULL || kind->design != HSY_SURVEY_CROSSWISE)
        return false;
    *code = strcasecmp(text, "same") == 0;
    return *code == 1 || strcasecmp(text, "different") == 0;
}

static int answers_code(const struct answers_table *t, uint64_t *code)
{
    const struct coder coder = cli_coder(&t->spec, NULL);
    const struct line field = {t->fields[ANSWERS_COLUMN],
                               t->lens[ANSWERS_COLUMN]};
    struct truth_wrong wrong = {0};

    if (field.len == 0)
        return answers_bad(t, ANSWERS_COLUMN,
                           "empty; leave out who did not answer");
    if (answers_crosswise(t, code) ||
        code_lines(&coder, code, &field, 1, &wrong) == 1)
        return 0;
    if (t->spec.spec.kind == HSY_KIND_YES_NO)
        return answers_bad(t, ANSWERS_COLUMN, cli_truth_said(&wrong));
    return answers_bad(t, ANSWERS_COLUMN,
                       t->spec.labels.d != 0
                           ? "not one of the answers of --values-file"
                           : "not the number of an answer, from 0 to one less "
                             "than the matrix has lines");
}

static int answers_record(struct answers_table *t, const struct line *line)
{
    struct survey_group *g = NULL;
    uint64_t code = 0;
    double weight = 1;
    int failed = answers_split(t, line);

    if (!failed)
        failed = answers_code(t, &code);
    if (!failed && t->data->states != NULL) {
        t->data->states[code]++;
        return 0;
    }
    if (!failed)
        failed = answers_weight(t, &weight);
    if (!failed)
        failed = answers_where(t, &g);
    if (!failed)
        answers_take(g, code != 0, 1, weight);
    return failed;
}

static int answers_line(void *ctx, const struct line *line, uint64_t number)
{
    struct answers_table *t = ctx;

    t->line = number;
    return number == 1 ? answers_header(t, line) : answers_record(t, line);
}

/* All memory is one block: the room, and a field of each column. */
static int answers_from_table(struct answers_table *t)
{
    const char *name = cli_input_name(t->how->answers);
    uint8_t *block = malloc((1 + ANSWERS) * (size_t)CSV_FIELD_ROOM);
    int fd, failed;

    if (block == NULL)
        return cli_fail_nomem();
    t->room = block;
    for (size_t i = 0; i < ANSWERS; i++)
        t->fields[i] = block + (1 + i) * CSV_FIELD_ROOM;
    fd = cli_open_input(t->how->answers);
    failed = fd == -1 ? CLI_FAILED : cli_lines_each(fd, name, answers_line, t);
    if (fd != -1)
        cli_close_input(fd);
    if (!failed && t->line < 2)
        failed = cli_fail("%s: no answers: the first line names the columns, "
                          "and each further one is a person",
                          name);
    explicit_bzero(block, (1 + ANSWERS) * (size_t)CSV_FIELD_ROOM);
    free(block);
    return failed;
}

/* ---- Either -------------------------------------------------------------- */

static int answers_empty(const struct survey_data *data,
                         const struct survey_options *o)
{
    for (size_t i = 0; i < data->count; i++) {
        const struct survey_group *g = &data->groups[i];

        if (g->counts[0] + g->counts[1] == 0)
            return cli_fail("%s: nobody in sample %zu; both are needed",
                            cli_input_name(o->answers), i + 1);
        if (g->sum[0] + g->sum[1] == 0)
            return cli_fail("%s: all weights of a group are 0",
                            cli_input_name(o->answers));
    }
    return 0;
}

static int answers_read_table(struct survey_data *data,
                              const struct survey_options *o)
{
    struct answers_table t = {
        .data = data,
        .how = o,
        .names = {o->column, o->group, o->weight, o->sample},
        .spec.spec = {.kind = HSY_KIND_YES_NO}};
    int failed;

    data->weighted = o->weight != NULL;
    data->count = o->design.kind->pair ? 2 : o->group != NULL ? 0 : 1;
    failed = answers_from_table(&t);
    if (!failed)
        failed = answers_empty(data, o);
    if (!failed && o->group != NULL && data->count == 1)
        failed = cli_fail("%s: --group %s: all answers are of one group; leave "
                          "it out, or compare with another",
                          cli_input_name(o->answers), o->group);
    return failed;
}

int survey_data_read(struct survey_data *data, const struct survey_options *o,
                     struct cli_parser *p)
{
    int failed;

    *data = (struct survey_data){0};
    data->groups = calloc(SURVEY_GROUPS_MAX, sizeof *data->groups);
    if (data->groups == NULL)
        return cli_fail_nomem();
    failed = o->answers != NULL ? answers_read_table(data, o)
                                : answers_from_counts(data, o, p);
    if (!failed && o->design.kind->pair && data->count != 2)
        failed = cli_usage(p, "--two-sample: two counts of --yes and of --n, "
                              "as --yes 90,120 --n 300,300");
    return failed;
}

int survey_states_read(struct survey_data *data, const struct survey_options *o,
                       struct cli_parser *p, uint32_t d,
                       const struct labels *labels)
{
    struct answers_table t = {
        .data = data,
        .how = o,
        .names = {o->column},
        .spec = {.spec = {.kind = HSY_KIND_VALUES, .d = d}, .labels = *labels}};
    size_t count;

    *data = (struct survey_data){0};
    data->states = calloc(HSY_MATRIX_MAX, sizeof *data->states);
    if (data->states == NULL)
        return cli_fail_nomem();
    if (o->answers != NULL)
        return answers_from_table(&t);
    count = survey_counts(data->states, HSY_MATRIX_MAX, o->counts, "counts", p);
    if (count != 0 && count != d)
        return cli_usage(p,
                         "--counts has %zu counts, and the matrix %" PRIu32
                         " lines: one count for each answer",
                         count, d);
    return p->exit;
}

void survey_data_clear(struct survey_data *data)
{
    free(data->groups);
    free(data->states);
    *data = (struct survey_data){0};
}
