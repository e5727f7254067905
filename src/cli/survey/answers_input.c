/*
 * answers_input.c - what was answered: counts, or a table in CSV.
 *
 * A message names line and column of what is wrong, never an answer.
 */
#include "cli/survey/internal.h"

#include "host/format/truth_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Counts -------------------------------------------------------------- */

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
        if (!cli_parse_count_of(&out[count++], text, len) ||
            out[count - 1] > SURVEY_COUNT_MAX) {
            cli_usage(p,
                      "--%s: count %zu is not an integer; use digits up to "
                      "2^53, or 1e6, separated by commas",
                      name, count);
            return 0;
        }
        if (text[len] == '\0')
            return count;
        text += len + 1;
    }
}

/* One more group of these counts. */
static int answers_one(struct survey_data *data, uint64_t yes, uint64_t n,
                       struct cli_parser *p)
{
    if (n == 0)
        return cli_usage(p, "--n: nobody answered; there is nothing to "
                            "estimate");
    if (yes > n)
        return cli_usage(
            p, "--yes (%" PRIu64 ") must not exceed --n (%" PRIu64 ")", yes, n);
    survey_data_add(data, yes, n);
    return 0;
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
                         "--yes has %zu counts and --n has %zu; give one of "
                         "each for every group",
                         count, sizes);
    for (size_t i = 0; i < count; i++)
        if (answers_one(data, yes[i], n[i], p) != 0)
            return p->exit;
    return 0;
}

/* ---- A table ------------------------------------------------------------- */

/* What is wrong with an answer. */
static const char *answers_said(const struct survey_table *t,
                                const struct survey_wrong *w)
{
    if (t->design != NULL)
        return w->truth.trouble == TRUTH_NOT_YES_NO ? TRUTH_NOT_YES_NO_TEXT
                   "; for more than two answers use --matrix and --values-file"
                                                    : cli_truth_said(&w->truth);
    return t->labels->d != 0 ? "not one of the answers of --values-file"
                             : "not the number of an answer; count the lines "
                               "of the matrix from 0";
}

static int answers_refused(const char *name, const struct survey_table *t,
                           const struct survey_wrong *w, const hsy_error *err)
{
    static const char *const options[] = {"column", "group", "weight",
                                          "sample"};
    const char *column =
        w->column < SURVEY_COLUMNS ? t->columns[w->column] : NULL;

    switch (w->trouble) {
    case SURVEY_BAD_LINE:
        return cli_fail("%s: line %" PRIu64 ": %s", name, w->line, err->msg);
    case SURVEY_BAD_FIELD:
    case SURVEY_NO_ANSWER:
        return cli_fail(
            "%s: line %" PRIu64 ", column %s: %s", name, w->line, column,
            w->trouble == SURVEY_NO_ANSWER ? answers_said(t, w) : err->msg);
    case SURVEY_NO_COLUMN:
        if (w->near != 0)
            return cli_fail("%s: --%s %s: no such column in the first line; "
                            "did you mean column %zu?",
                            name, options[w->column], column, w->near);
        return cli_fail("%s: --%s %s: no such column; the first line must name "
                        "the columns, separated by commas or semicolons",
                        name, options[w->column], column);
    case SURVEY_NOBODY:
        return cli_fail("%s: no answers; the first line must name the columns, "
                        "and each further line is a person",
                        name);
    case SURVEY_NO_SAMPLE:
        return cli_fail(
            "%s: sample %zu has no answers; both samples are needed", name,
            w->sample);
    case SURVEY_NO_WEIGHT:
        return cli_fail("%s: all weights of a group are 0", name);
    case SURVEY_ONE_GROUP:
        return cli_fail(
            "%s: --group %s: all answers are in one group; leave it out", name,
            t->columns[SURVEY_GROUP]);
    default:
        return cli_fail_input(name, err);
    }
}

static int answers_from_table(struct survey_data *data, const char *path,
                              const struct survey_table *t)
{
    int fd = cli_open_input(path);
    struct survey_wrong wrong;
    hsy_error err = {0};
    hsy_status st;

    if (fd == -1)
        return CLI_FAILED;
    st = survey_data_read(data, &wrong, t, fd, &err);
    cli_close_input(fd);
    return st == HSY_OK
               ? 0
               : answers_refused(cli_input_name(path), t, &wrong, &err);
}

/* ---- Either -------------------------------------------------------------- */

int survey_input(struct survey_data *data, const struct survey_options *o,
                 struct cli_parser *p)
{
    const struct survey_table table = {
        .columns = {o->column, o->group, o->weight, o->sample},
        .design = &o->design};
    int failed;

    if (survey_data_open(data, false, NULL) != HSY_OK)
        return cli_fail_nomem();
    failed = o->answers != NULL ? answers_from_table(data, o->answers, &table)
                                : answers_from_counts(data, o, p);
    if (!failed && o->design.kind->pair && data->count != 2)
        failed = cli_usage(p, "--two-sample needs two counts of --yes and of "
                              "--n, e.g. --yes 90,120 --n 300,300");
    return failed;
}

int survey_states_input(struct survey_data *data,
                        const struct survey_options *o, struct cli_parser *p,
                        uint32_t d, const struct labels *labels)
{
    const struct survey_table table = {
        .columns = {o->column}, .d = d, .labels = labels};
    size_t count;

    if (survey_data_open(data, true, NULL) != HSY_OK)
        return cli_fail_nomem();
    if (o->answers != NULL)
        return answers_from_table(data, o->answers, &table);
    count = survey_counts(data->states, HSY_MATRIX_MAX, o->counts, "counts", p);
    if (count != 0 && count != d)
        return cli_usage(p,
                         "--counts has %zu counts, but the matrix has %" PRIu32
                         " lines; give one count per answer",
                         count, d);
    return p->exit;
}
