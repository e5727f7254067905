/* fleet_truths.c - what a fleet sent, and what its people think. */
#include "sim/fleet/fleet.h"

#include <inttypes.h>
#include <stdlib.h>

struct truths {
    FILE *to;
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
        *out = cell_bytes(v->name, v->name_len);
    else
        *out = cell_number(v->truth);
}

static void truths_task_cell(const void *ctx, size_t row, size_t column,
                             struct table_cell *out)
{
    const struct fleet_task *t = &((const struct truths *)ctx)->tasks[row];
    const struct table_cell cells[] = {
        cell_text(t->task.id),  cell_text(hsy_kind_name(t->info.kind)),
        cell_count(t->reports), cell_count(t->nulls),
        cell_count(t->refused), cell_text(t->day != 0 ? t->law.text : NULL)};

    *out = cells[column];
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
    table_print(all->to, format, &table, NULL, 0, NULL);
}

static void truths_table(const struct truths *all,
                         const struct fleet_options *o,
                         const struct fleet_result *r)
{
    static const struct table_column columns[] = {
        {"task", NULL},  {"kind", NULL},    {"reports", NULL},
        {"nulls", NULL}, {"refused", NULL}, {"law", NULL}};
    const struct table table = {columns, 6, all->n, truths_task_cell, all};

    fprintf(
        all->to,
        "%" PRIu64 " simulated devices sent %" PRIu64 " requests in %.1f s: "
        "%" PRIu64 " uploads acknowledged,\n%" PRIu64 " refused, %" PRIu64
        " given up, %" PRIu64 " requests tried again, %" PRIu64
        " sent once more on\npurpose (--repeat). Uploads that the collector "
        "already had are acknowledged, but\nnot counted again.\n\n",
        o->devices, r->requests, r->seconds, r->acknowledged, r->refused,
        r->given_up, r->tried_again, r->repeated);
    table_print(all->to, TABLE_ALIGNED, &table, NULL, 0, NULL);
    fprintf(all->to, "%s\n",
            r->refused + r->given_up == 0
                ? "\nTrue values, of the devices that sent an answer:\n"
                : "\nTrue values, of all devices that answered, also where the "
                  "report was refused\nor given up:\n");
    truths_print(all, TABLE_ALIGNED);
}

hsy_status fleet_print(FILE *to, enum table_format format, struct fleet *f,
                       const struct fleet_options *o,
                       const struct fleet_result *r, hsy_error *err)
{
    struct fleet_value value;
    struct truths all = {.to = to, .value = &value};
    char *json = NULL;
    hsy_status st = HSY_OK;

    all.tasks = fleet_tasks(f, &all.n);
    if (format == TABLE_JSON)
        st = fleet_json(&json, f, o, r, err);
    if (json != NULL)
        fprintf(to, "%s\n", json);
    else if (format == TABLE_CSV)
        truths_print(&all, TABLE_CSV);
    else if (format == TABLE_ALIGNED)
        truths_table(&all, o, r);
    free(json);
    return st;
}
