/* tasks_show.c - what tasks ask and cost: a table, or labels in plain words. */
#define _DEFAULT_SOURCE
#include "cli/base/tasks_show.h"

#include "host/tasks/calendar.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOW_LABEL 4096u  /* bytes of one, with a question of 1024 */
#define SHOW_DIVIDED 400u /* reports that are divided in every way */

/* Numbers of reports of a slot for which epsilon is shown; 0: all. */
static const uint64_t show_reports[] = {7, 30, 0};

struct show_row {
    const hsy_task *task;
    hsy_release *release; /* owned */
    hsy_release_info info;
    hsy_scheme_info scheme;
    hsy_permanent_info chain;
    double after[3]; /* epsilon after show_reports reports, NaN: no chain */
    char start[16], end[16], digest[2 * HSY_DIGEST + 1];
};

struct show_list {
    struct show_row *rows; /* owned */
    size_t n;
};

enum show_what {
    SHOW_ID,
    SHOW_RELEASE,
    SHOW_SOURCE,
    SHOW_KIND,
    SHOW_MECHANISM,
    SHOW_VALUES,
    SHOW_ONE,
    SHOW_AFTER_7,
    SHOW_AFTER_30,
    SHOW_AFTER_ALL,
    SHOW_SLOT,
    SHOW_LIFETIME,
    SHOW_SLOTS,
    SHOW_ROUNDS,
    SHOW_CHANGES,
    SHOW_KEPT,
    SHOW_KEYS,
    SHOW_REPORT,
    SHOW_UPLOAD,
    SHOW_START,
    SHOW_END,
    SHOW_DIGEST,
    SHOW_QUESTION
};

/* In the order of enum show_what. */
static const struct table_column show_columns[] = {
    {"task", NULL},
    {"release", ""},
    {"source", ""},
    {"kind", NULL},
    {"mechanism", NULL},
    {"values", ""},
    {"epsilon_report", "eps one"},
    {"epsilon_7", ""},
    {"epsilon_30", "30 reports"},
    {"epsilon_slot_exact", ""},
    {"epsilon_slot", "a slot"},
    {"epsilon_task", "all slots"},
    {"slots", NULL},
    {"rounds", NULL},
    {"max_changes", ""},
    {"kept_days", ""},
    {"keys", NULL},
    {"report_bytes", "report B"},
    {"upload_bytes", "upload B"},
    {"start", ""},
    {"end", ""},
    {"digest", ""},
    {"question", ""},
};

/* ---- Rows ---------------------------------------------------------------- */

/* How many permanent answers a slot may use. */
static uint64_t tasks_show_answers(const struct show_row *row)
{
    const uint64_t most = row->info.task.max_changes, keys = row->chain.keys;

    return keys != 0 && keys < most ? keys : most;
}

/*
 * What so many reports of a slot tell at most: the largest sum over all ways to
 * divide them among its answers, whose coins are independent
 * (docs/longitudinal.md). Where there are too many ways, as if each answer had
 * all reports.
 */
static double tasks_show_divided(const hsy_permanent *chain, uint64_t reports,
                                 uint64_t answers)
{
    double one[SHOW_DIVIDED + 1], most[SHOW_DIVIDED + 1];

    if (answers > reports)
        answers = reports;
    if (answers == 1 || reports > SHOW_DIVIDED)
        return (double)answers * hsy_permanent_epsilon(chain, reports);
    for (uint64_t t = 0; t <= reports; t++)
        most[t] = one[t] = hsy_permanent_epsilon(chain, t);
    for (uint64_t k = 1; k < answers; k++) /* in place: downward */
        for (uint64_t t = reports; t > 0; t--)
            for (uint64_t own = 1; own <= t; own++)
                most[t] = fmax(most[t], one[own] + most[t - own]);
    return most[reports];
}

static int tasks_show_row_open(struct show_row *row, const hsy_task *task)
{
    int failed = cli_release_new(&row->release, task);

    if (failed)
        return failed;
    row->task = task;
    hsy_release_describe(row->release, &row->info);
    hsy_scheme_describe(row->info.scheme, &row->scheme);
    day_text(row->start, task->start);
    day_text(row->end, task->end - 1);
    hex_put(row->digest, row->info.digest, HSY_DIGEST);
    for (size_t i = 0; i < 3; i++)
        row->after[i] = NAN;
    if (row->info.chain == NULL)
        return 0;
    hsy_permanent_describe(row->info.chain, &row->chain);
    for (size_t i = 0; i < 3; i++)
        if (show_reports[i] <= row->info.rounds)
            row->after[i] = tasks_show_divided(
                row->info.chain,
                show_reports[i] != 0 ? show_reports[i] : row->info.rounds,
                tasks_show_answers(row));
    return 0;
}

static void tasks_show_close(struct show_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->rows[i].release);
    free(l->rows);
}

static int tasks_show_open(struct show_list *l, const struct task_file *t)
{
    int failed = 0;

    l->rows = calloc(t->n + 1, sizeof *l->rows);
    if (l->rows == NULL)
        return cli_fail_nomem();
    l->n = t->n;
    for (size_t i = 0; i < t->n && !failed; i++)
        failed = tasks_show_row_open(&l->rows[i], &t->all[i]);
    return failed;
}

/* ---- Cells --------------------------------------------------------------- */

static struct table_cell tasks_show_nano(uint64_t nano)
{
    return nano == UINT64_MAX ? cell_text(NULL)
                              : cell_number((double)nano / HSY_NANO);
}

static void tasks_show_plan_cell(const struct show_row *row,
                                 enum show_what column, struct table_cell *out)
{
    const hsy_release_info *info = &row->info;

    switch (column) {
    case SHOW_SLOTS:
        *out = cell_count(info->slots);
        break;
    case SHOW_ROUNDS:
        *out = cell_count(info->rounds);
        break;
    case SHOW_CHANGES:
        *out = cell_count(info->task.max_changes);
        break;
    case SHOW_KEPT:
        if (info->chain != NULL && info->task.max_changes == 1)
            *out = cell_count(calendar_slot(&info->task));
        break;
    case SHOW_KEYS:
        if (info->chain != NULL && row->chain.keys != 0)
            *out = cell_count(row->chain.keys);
        break;
    case SHOW_REPORT:
        *out = cell_count(row->scheme.report_bytes);
        break;
    default:
        *out = cell_count(info->upload_bytes);
    }
}

static void tasks_show_cost_cell(const struct show_row *row,
                                 enum show_what column, struct table_cell *out)
{
    switch (column) {
    case SHOW_VALUES:
        if (row->scheme.d != 0)
            *out = cell_count(row->scheme.d);
        break;
    case SHOW_ONE:
        *out = tasks_show_nano(row->info.nano_report);
        break;
    case SHOW_AFTER_7:
    case SHOW_AFTER_30:
    case SHOW_AFTER_ALL:
        *out = cell_number(row->after[column - SHOW_AFTER_7]);
        break;
    case SHOW_SLOT:
        *out = tasks_show_nano(row->info.nano_slot);
        break;
    case SHOW_LIFETIME:
        *out = tasks_show_nano(row->info.nano_task);
        break;
    default:
        tasks_show_plan_cell(row, column, out);
    }
}

static void tasks_show_cell(const void *ctx, size_t i, size_t column,
                            struct table_cell *out)
{
    const struct show_list *l = ctx;
    const struct show_row *row = &l->rows[i];

    switch ((enum show_what)column) {
    case SHOW_ID:
        *out = cell_text(row->task->id);
        break;
    case SHOW_RELEASE:
        *out = cell_count(row->task->release);
        break;
    case SHOW_SOURCE:
        *out = cell_text(row->task->source);
        break;
    case SHOW_KIND:
        *out = cell_text(hsy_kind_name(row->scheme.kind));
        break;
    case SHOW_MECHANISM:
        *out = cell_text(row->scheme.mechanism);
        break;
    case SHOW_START:
        *out = cell_text(row->start);
        break;
    case SHOW_END:
        *out = cell_text(row->end);
        break;
    case SHOW_DIGEST:
        *out = cell_text(row->digest);
        break;
    case SHOW_QUESTION:
        *out = cell_text(row->task->question);
        out->len = row->task->question_len;
        break;
    default:
        tasks_show_cost_cell(row, (enum show_what)column, out);
    }
}

/* ---- Printing ------------------------------------------------------------ */

/* Whether one of them keeps permanent answers; one with several a slot. */
static bool tasks_show_any(const struct show_list *l, uint32_t changes)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->rows[i].info.chain != NULL &&
            l->rows[i].info.task.max_changes >= changes)
            return true;
    return false;
}

/* Whether one of them sends the first answer of a slot for all of it. */
static bool tasks_show_frozen(const struct show_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->rows[i].info.chain != NULL &&
            l->rows[i].info.task.max_changes == 1)
            return true;
    return false;
}

static void tasks_show_notes(const struct show_list *l)
{
    if (tasks_show_any(l, 1))
        puts("\nA slot is charged up front, whatever the truth does. keys: "
             "permanent answers\nthat there can be. '-': none, more than can "
             "be counted, or fewer reports.");
    if (tasks_show_frozen(l))
        puts("Where max_changes is 1, the first answer of a slot is sent for "
             "all of it: if the\ntruth changes, what is sent does not.");
    if (tasks_show_any(l, 2))
        puts(
            "With more than one change a slot, that and when the answer "
            "changed may show:\nthe bounds hold for people who change from one "
            "kept answer to another at the\nsame times, and no epsilon bounds "
            "the rest. What 30 reports tell is as if they were\ndivided among "
            "the kept answers in the way that tells most.");
}

static void tasks_show_table(const struct show_list *l,
                             const struct task_file *t,
                             const struct tasks_show *how)
{
    const struct table table = {show_columns,
                                sizeof show_columns / sizeof show_columns[0],
                                l->n, tasks_show_cell, l};
    static const uint8_t none[HSY_SIGN_KEY];
    char issued[16], expires[16], next[2 * HSY_SIGN_KEY + 1] = "";

    day_text(issued, t->doc.issued);
    day_text(expires, t->doc.expires - 1);
    if (memcmp(t->doc.next_key, none, sizeof none) != 0)
        hex_put(next, t->doc.next_key, HSY_SIGN_KEY);
    {
        const struct table_field fields[] = {
            {"version", cell_count(t->doc.version)},
            {"issued", cell_text(issued)},
            {"expires", cell_text(expires)},
            {"signature", cell_text(how->signature)},
            {"next_key", cell_text(next[0] != '\0' ? next : NULL)}};

        if (how->format == TABLE_ALIGNED)
            printf("version %" PRIu64 ", issued %s, taken until %s%s%s%s%s\n\n",
                   t->doc.version, issued, expires,
                   how->signature != NULL ? ", signature " : "",
                   how->signature != NULL ? how->signature : "",
                   next[0] != '\0' ? ", next key " : "", next);
        table_print(stdout, how->format, &table, fields,
                    sizeof fields / sizeof fields[0], "tasks");
    }
    if (how->format == TABLE_ALIGNED)
        tasks_show_notes(l);
}

static void tasks_show_labels(const struct show_list *l)
{
    char text[SHOW_LABEL];

    for (size_t i = 0; i < l->n; i++) {
        const struct show_row *row = &l->rows[i];

        hsy_release_label(row->release, row->task, text, sizeof text);
        printf("%s%s\n", i == 0 ? "" : "\n", row->task->id);
        table_paragraph(stdout, text);
    }
}

int tasks_show(const struct task_file *t, const struct tasks_show *how)
{
    struct show_list list = {0};
    int failed = tasks_show_open(&list, t);

    if (!failed && how->labels)
        tasks_show_labels(&list);
    else if (!failed)
        tasks_show_table(&list, t, how);
    tasks_show_close(&list);
    return failed ? failed : cli_finish();
}
