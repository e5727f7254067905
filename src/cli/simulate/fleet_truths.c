/* fleet_truths.c - what a fleet sent, and what its people think. */
#include "cli/simulate/simulate_fleet.h"

#include "host/analysis/analysis.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values -------------------------------------------------------------- */

/* The name of value i, into text where it has none of its own. */
static const char *truths_name(const struct fleet_task *t, size_t i,
                               char text[SHARES_BIN], size_t *len)
{
    const char *name = text;

    switch (t->info.kind) {
    case HSY_KIND_YES_NO:
        name = i == 0 ? "no" : "yes";
        break;
    case HSY_KIND_STRINGS:
        name = t->law.word[i];
        break;
    case HSY_KIND_BINS:
        shares_bin(text, &t->info, (uint32_t)i);
        break;
    default:
        name = fleet_label(t, i, len);
        if (name != NULL)
            return name;
        snprintf(text, SHARES_BIN, "%zu", i);
        name = text;
    }
    *len = strlen(name);
    return name;
}

static double truths_share(const struct fleet_task *t, size_t i)
{
    return t->answered != 0 ? (double)t->counts[i] / (double)t->answered : NAN;
}

/* Persons that think so, of days: in each round in which they reported. */
static uint64_t truths_count(const struct fleet_task *t, size_t i)
{
    return t->info.kind == HSY_KIND_NUMBER ? t->answered : t->counts[i];
}

static double truths_mean(const struct fleet_task *t)
{
    return t->answered != 0
               ? t->sum / (double)t->answered / pow(10, t->info.scale)
               : NAN;
}

static size_t truths_rows(const struct fleet_task *t)
{
    if (t->day == 0)
        return 0;
    return t->info.kind == HSY_KIND_NUMBER ? 1 : t->ncounts;
}

/* ---- Tables -------------------------------------------------------------- */

struct truths {
    const struct fleet_task *tasks;
    size_t n;
    char *text; /* a name, until the next is asked for */
};

static void truths_cell(const void *ctx, size_t row, size_t column,
                        struct cli_cell *out)
{
    const struct truths *all = ctx;
    const struct fleet_task *t = all->tasks;
    size_t len = 4;
    const char *name = "mean";

    for (; row >= truths_rows(t); t++)
        row -= truths_rows(t);
    if (t->info.kind != HSY_KIND_NUMBER)
        name = truths_name(t, row, all->text, &len);
    if (column == 0)
        *out = cli_text(t->task.id);
    else if (column == 3)
        *out = cli_count(truths_count(t, row));
    else if (column == 1)
        *out = (struct cli_cell){.type = CLI_TEXT, .text = name, .len = len};
    else
        *out =
            cli_number(t->info.kind == HSY_KIND_NUMBER ? truths_mean(t)
                                                       : truths_share(t, row));
}

static void truths_task_cell(const void *ctx, size_t row, size_t column,
                             struct cli_cell *out)
{
    const struct fleet_task *t = &((const struct truths *)ctx)->tasks[row];

    switch (column) {
    case 0:
        *out = cli_text(t->task.id);
        break;
    case 1:
        *out = cli_text(hsy_kind_name(t->info.kind));
        break;
    case 2:
        *out = cli_count(t->reports);
        break;
    case 3:
        *out = cli_count(t->nulls);
        break;
    case 4:
        *out = cli_count(t->refused);
        break;
    default:
        *out = cli_text(t->day != 0 ? t->law.text : NULL);
    }
}

static void truths_print(const struct truths *all, enum cli_format format)
{
    static const struct cli_column columns[] = {
        {"task", NULL},
        {"value", NULL},
        {"truth", NULL},
        {"person_rounds", "person-rounds"}};
    struct cli_table table = {columns, 4, 0, truths_cell, all};

    for (size_t i = 0; i < all->n; i++)
        table.nrows += truths_rows(&all->tasks[i]);
    cli_print(format, &table, NULL, 0, NULL);
}

static void truths_table(const struct truths *all,
                         const struct fleet_options *o,
                         const struct fleet_result *r)
{
    static const struct cli_column columns[] = {
        {"task", NULL},  {"kind", NULL},    {"reports", NULL},
        {"nulls", NULL}, {"refused", NULL}, {"law", NULL}};
    const struct cli_table table = {columns, 6, all->n, truths_task_cell, all};

    printf("%" PRIu64 " simulated devices sent %" PRIu64 " requests in %.1f s: "
           "%" PRIu64 " uploads acknowledged,\n%" PRIu64 " refused, %" PRIu64
           " given up, %" PRIu64 " requests tried again, %" PRIu64
           " sent once more on\npurpose (--repeat). What the collector had "
           "before is acknowledged, and not\ncounted again.\n\n",
           o->devices, r->requests, r->seconds, r->acknowledged, r->refused,
           r->given_up, r->tried_again, r->repeated);
    cli_print(CLI_TABLE, &table, NULL, 0, NULL);
    puts(r->refused + r->given_up == 0
             ? "\nWhat is so, of those whose answers were sent:\n"
             : "\nWhat is so, of all who answered, also of those whose reports "
               "were refused\nor given up:\n");
    truths_print(all, CLI_TABLE);
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *truths_values(const struct fleet_task *t)
{
    json_t *list = json_array();
    char text[SHARES_BIN];
    size_t len;

    for (size_t i = 0; i < truths_rows(t); i++) {
        const char *name = truths_name(t, i, text, &len);

        json_array_append_new(list, json_pack("{s:s%,s:f,s:I}", "value", name,
                                              len, "share", truths_share(t, i),
                                              "person_rounds",
                                              (json_int_t)truths_count(t, i)));
    }
    return list;
}

/* What was acknowledged by the day in the heads of uploads. */
static json_t *truths_days(const struct fleet_task *t)
{
    json_t *list = json_array();
    char day[16];

    for (uint32_t i = 0; i < t->ndays; i++) {
        if (t->days[i].reports == 0 && t->days[i].nulls == 0)
            continue;
        day_text(day, t->first_day + i);
        json_array_append_new(list,
                              json_pack("{s:s,s:I,s:I}", "day", day, "reports",
                                        (json_int_t)t->days[i].reports, "nulls",
                                        (json_int_t)t->days[i].nulls));
    }
    return list;
}

static json_t *truths_task(const struct fleet_task *t)
{
    char day[16];
    json_t *task;

    day_text(day, t->day);
    task = json_pack("{s:s,s:I,s:s,s:s,s:s,s:I,s:I,s:I,s:I}", "task",
                     t->task.id, "release", (json_int_t)t->task.release, "kind",
                     hsy_kind_name(t->info.kind), "law", t->law.text,
                     "answered_on", day, "answered", (json_int_t)t->answered,
                     "reports", (json_int_t)t->reports, "nulls",
                     (json_int_t)t->nulls, "refused", (json_int_t)t->refused);
    if (t->info.kind == HSY_KIND_NUMBER)
        json_object_set_new(task, "mean", json_real(truths_mean(t)));
    else
        json_object_set_new(task, "truth", truths_values(t));
    if (t->ndays != 0)
        json_object_set_new(task, "days", truths_days(t));
    return task;
}

static int truths_json(const struct truths *all, const struct fleet_options *o,
                       const struct fleet_result *r)
{
    json_t *tasks = json_array(), *statuses = json_array(), *root;
    char *text;

    for (size_t i = 0; i < all->n; i++)
        if (all->tasks[i].day != 0)
            json_array_append_new(tasks, truths_task(&all->tasks[i]));
    for (size_t i = 0; i < FLEET_STATUSES && r->statuses[i].uploads != 0; i++)
        json_array_append_new(
            statuses,
            json_pack("{s:I,s:I}", "status", (json_int_t)r->statuses[i].status,
                      "uploads", (json_int_t)r->statuses[i].uploads));
    root = json_pack(
        "{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:o,s:o}", "url", o->url,
        "devices", (json_int_t)o->devices, "requests", (json_int_t)r->requests,
        "repeated", (json_int_t)r->repeated, "tried_again",
        (json_int_t)r->tried_again, "acknowledged", (json_int_t)r->acknowledged,
        "refused", (json_int_t)r->refused, "given_up", (json_int_t)r->given_up,
        "seconds", r->seconds, "statuses", statuses, "tasks", tasks);
    text = root != NULL ? json_dumps(root, JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    if (text == NULL)
        return cli_fail_nomem();
    puts(text);
    free(text);
    return 0;
}

/* What may be behind a status, where an option of ours helps. */
static const char *truths_why(uint32_t status)
{
    return status == 403   ? ": their task wants an enrolment token (--token), "
                             "or does not take this one"
           : status == 429 ? ": the quota of the token is used up until the "
                             "day is over"
                           : "";
}

int simulate_fleet_show(struct fleet *f, const struct fleet_options *o,
                        const struct fleet_result *r, enum cli_format format)
{
    char text[SHARES_BIN];
    struct truths all = {.text = text};
    int failed = 0;

    all.tasks = fleet_tasks(f, &all.n);
    if (format == CLI_JSON)
        failed = truths_json(&all, o, r);
    else if (format == CLI_CSV)
        truths_print(&all, CLI_CSV);
    else
        truths_table(&all, o, r);
    if (!failed)
        failed = cli_finish();
    for (size_t i = 0; i < FLEET_STATUSES && r->statuses[i].uploads != 0; i++)
        cli_note("note: %" PRIu64 " uploads were refused with status %" PRIu32
                 "%s",
                 r->statuses[i].uploads, r->statuses[i].status,
                 truths_why(r->statuses[i].status));
    if (r->given_up != 0)
        return cli_fail("%" PRIu64 " uploads were given up: the collector is "
                        "too busy, or fails",
                        r->given_up);
    return r->refused != 0 ? CLI_FAILED : failed;
}
