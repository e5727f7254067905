/* compare_models.c - the error to expect of trusting nobody, some, or one. */
#include "cli/release/internal.h"

/* ---- The table ----------------------------------------------------------- */

static void compare_cell(const void *ctx, size_t row, size_t column,
                         struct table_cell *out)
{
    const struct plan_trust_table *c = ctx;

    if (column == 0) {
        *out = cell_count((uint64_t)c->people[row]);
        return;
    }
    *out = cell_number(c->sd[column - 1][row]);
    snprintf(out->shown, sizeof out->shown, c->mean ? "%.3g" : "%.3g %%",
             (c->mean ? 1 : 100) * out->number);
}

static void compare_print(const struct plan_trust_table *c,
                          const hsy_scheme_info *local,
                          const hsy_scheme_info *central,
                          const struct release_options *o)
{
    struct table_column columns[1 + PLAN_TRUST_MODELS] = {{"people", NULL}};
    const struct table table = {columns, 1 + PLAN_TRUST_MODELS, PLAN_TRUST_ROWS,
                                compare_cell, c};
    const struct table_field fields[] = {
        {"epsilon", cell_number(central->epsilon)},
        {"kind", cell_text(hsy_kind_name(central->kind))},
        {"local", cell_text(local->mechanism)},
        {"central", cell_text(central->mechanism)},
    };

    for (size_t m = 0; m < PLAN_TRUST_MODELS; m++)
        columns[1 + m] = (struct table_column){plan_trust_models[m].name,
                                               plan_trust_models[m].title};
    if (o->format == TABLE_ALIGNED)
        printf("Standard error of %s by noise alone, epsilon %.9g; local is "
               "%s\n\n",
               c->mean ? "a mean" : "a small share", central->epsilon,
               local->mechanism);
    table_print(stdout, o->format, &table, fields,
                sizeof fields / sizeof fields[0], "rows");
}

static int compare_plot(const struct plan_trust_table *c, double epsilon,
                        const char *path)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    const hsy_status made = plan_trust_figure(&svg, &len, c, epsilon, &err);

    return cli_write_figure(path, made, svg, len, &err);
}

int release_compare(const hsy_spec *spec, const struct release_options *o)
{
    struct plan_trust_table c = {0};
    struct plan_trust t;
    hsy_error err = {0};
    int failed = 0;

    if (plan_trust(&t, spec, release_mechanism(o), NULL, &err) != HSY_OK) {
        hsy_spec asked = *spec;

        asked.mechanism = t.asked;
        return cli_scheme_refused(&asked, &err);
    }
    plan_trust_compare(&c, &t);
    if (o->plot != NULL)
        failed = compare_plot(&c, t.central.epsilon, o->plot);
    if (failed)
        return failed;
    compare_print(&c, &t.local, &t.central, o);
    return cli_finish();
}
