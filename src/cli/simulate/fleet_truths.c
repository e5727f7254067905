/* fleet_truths.c - what a fleet sent, and what its people think. */
#include "cli/simulate/simulate_fleet.h"

#include <inttypes.h>
#include <stdlib.h>

struct truths {
    const struct fleet_task *tasks;
    size_t n;
    struct fleet_value *value; /* room for one, until the next is asked for */
};

static void truths_cell(const void *ctx, size_t row, size_t column,
                        struct table_cell *out)
{
    const struct truths *all = ctx;
    const struct fleet_task *t = all->tasks;
    const struct fleet_value *v = all->value;

    for (; row >= fleet_values(t); t++)
        row -= fleet_values(t);
    fleet_value(all->value, t, row);
    if (column == 0)
        *out = cell_text(t->task.id);
    else if (column == 3)
        *out = cell_count(v->person_rounds);
    else if (column == 1)
        *out = (struct table_cell){
            .type = CELL_TEXT, .text = v->name, .len = v->name_len};
    else
        *out = cell_number(v->truth);
}

static void truths_task_cell(const void *ctx, size_t row, size_t column,
                             struct table_cell *out)
{
    const struct fleet_task *t = &((const struct truths *)ctx)->tasks[row];

    switch (column) {
    case 0:
        *out = cell_text(t->task.id);
        break;
    case 1:
        *out = cell_text(hsy_kind_name(t->info.kind));
        break;
    case 2:
        *out = cell_count(t->reports);
        break;
    case 3:
        *out = cell_count(t->nulls);
        break;
    case 4:
        *out = cell_count(t->refused);
        break;
    default:
        *out = cell_text(t->day != 0 ? t->law.text : NULL);
    }
}

static void truths_print(const struct truths *all, enum table_format format)
{
    static const struct table_column columns[] = {
        {"task", NULL},
        {"value", NULL},
        {"truth", NULL},
        {"person_rounds", "person-rounds"}};
    struct table table = {columns, 4, 0, truths_cell, all};

    for (size_t i = 0; i < all->n; i++)
        table.nrows += fleet_values(&all->tasks[i]);
    table_print(stdout, format, &table, NULL, 0, NULL);
}

static void truths_table(const struct truths *all,
                         const struct fleet_options *o,
                         const struct fleet_result *r)
{
    static const struct table_column columns[] = {
        {"task", NULL},  {"kind", NULL},    {"reports", NULL},
        {"nulls", NULL}, {"refused", NULL}, {"law", NULL}};
    const struct table table = {columns, 6, all->n, truths_task_cell, all};

    printf("%" PRIu64 " simulated devices sent %" PRIu64 " requests in %.1f s: "
           "%" PRIu64 " uploads acknowledged,\n%" PRIu64 " refused, %" PRIu64
           " given up, %" PRIu64 " requests tried again, %" PRIu64
           " sent once more on\npurpose (--repeat). What the collector had "
           "before is acknowledged, and not\ncounted again.\n\n",
           o->devices, r->requests, r->seconds, r->acknowledged, r->refused,
           r->given_up, r->tried_again, r->repeated);
    table_print(stdout, TABLE_ALIGNED, &table, NULL, 0, NULL);
    puts(r->refused + r->given_up == 0
             ? "\nWhat is so, of those whose answers were sent:\n"
             : "\nWhat is so, of all who answered, also of those whose reports "
               "were refused\nor given up:\n");
    truths_print(all, TABLE_ALIGNED);
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
                        const struct fleet_result *r, enum table_format format)
{
    struct fleet_value value;
    struct truths all = {.value = &value};
    hsy_error err = {0};
    char *json = NULL;
    int failed = 0;

    all.tasks = fleet_tasks(f, &all.n);
    if (format == TABLE_JSON && fleet_json(&json, f, o, r, &err) != HSY_OK)
        failed = cli_fail_nomem();
    else if (format == TABLE_JSON)
        puts(json);
    else if (format == TABLE_CSV)
        truths_print(&all, TABLE_CSV);
    else
        truths_table(&all, o, r);
    free(json);
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
