/* compare_models.c - the error to expect of trusting nobody, some, or one. */
#include "cli/release/internal.h"
#include "host/plot/plot.h"

#include <math.h>

#define COMPARE_ROWS 7u /* 10^2 to 10^8 people */

/* From no trust to all of it: how many curators; 0: everybody for himself. */
static const struct compare_model {
    const char *name, *title;
    double curators;
} compare_models[] = {
    {"local", "local", 0},
    {"multiparty_100", "100 curators", 100},
    {"multiparty_10", "10 curators", 10},
    {"central", "1 curator", 1},
};

#define COMPARE_MODELS (sizeof compare_models / sizeof compare_models[0])

struct compare {
    double people[COMPARE_ROWS];
    double sd[COMPARE_MODELS][COMPARE_ROWS];
    bool mean;
};

static void compare_fill(struct compare *c, const struct plan_trust *t)
{
    c->mean = t->central.kind == HSY_KIND_NUMBER;
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        c->people[i] = pow(10, 2 + (double)i);
        for (size_t m = 0; m < COMPARE_MODELS; m++)
            c->sd[m][i] =
                plan_trust_sd(t, c->people[i], compare_models[m].curators);
    }
}

/* ---- The table ----------------------------------------------------------- */

static void compare_cell(const void *ctx, size_t row, size_t column,
                         struct table_cell *out)
{
    const struct compare *c = ctx;

    if (column == 0) {
        *out = cell_count((uint64_t)c->people[row]);
        return;
    }
    *out = cell_number(c->sd[column - 1][row]);
    snprintf(out->shown, sizeof out->shown, c->mean ? "%.3g" : "%.3g %%",
             (c->mean ? 1 : 100) * out->number);
}

static void compare_print(const struct compare *c, const hsy_scheme_info *local,
                          const hsy_scheme_info *central,
                          const struct release_options *o)
{
    struct table_column columns[1 + COMPARE_MODELS] = {{"people", NULL}};
    const struct table table = {columns, 1 + COMPARE_MODELS, COMPARE_ROWS,
                                compare_cell, c};
    const struct table_field fields[] = {
        {"epsilon", cell_number(central->epsilon)},
        {"kind", cell_text(hsy_kind_name(central->kind))},
        {"local", cell_text(local->mechanism)},
        {"central", cell_text(central->mechanism)},
    };

    for (size_t m = 0; m < COMPARE_MODELS; m++)
        columns[1 + m] = (struct table_column){compare_models[m].name,
                                               compare_models[m].title};
    if (o->format == TABLE_ALIGNED)
        printf("Standard error of %s by noise alone, epsilon %.9g; local is "
               "%s\n\n",
               c->mean ? "a mean" : "a small share", central->epsilon,
               local->mechanism);
    table_print(stdout, o->format, &table, fields,
                sizeof fields / sizeof fields[0], "rows");
}

/* ---- The figure ---------------------------------------------------------- */

static hsy_status compare_svg(char **svg, size_t *len, const struct compare *c,
                              double epsilon, hsy_error *err)
{
    struct plot_series series[COMPARE_MODELS];
    struct plot_figure figure = {
        .about = "Standard error against the number of people, both on "
                 "logarithmic axes. Where everybody adds noise it falls with "
                 "the square root of the number; where curators do, with the "
                 "number, and it grows with the square root of how many "
                 "curators there are.",
        .x = {.label = "people", .log = true},
        .y = {.label = c->mean ? "standard error of the mean"
                               : "standard error of a small share",
              .log = true},
        .series = series,
        .nseries = COMPARE_MODELS};
    char title[80];

    snprintf(title, sizeof title, "What trust buys, at epsilon %.9g", epsilon);
    figure.title = title;
    for (size_t m = 0; m < COMPARE_MODELS; m++)
        series[m] = (struct plot_series){.name = compare_models[m].title,
                                         .style = PLOT_LINE,
                                         .colour = (unsigned)m,
                                         .n = COMPARE_ROWS,
                                         .x = c->people,
                                         .y = c->sd[m]};
    return plot_svg(svg, len, &figure, err);
}

static int compare_plot(const struct compare *c, double epsilon,
                        const char *path)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    const hsy_status made = compare_svg(&svg, &len, c, epsilon, &err);

    return cli_write_figure(path, made, svg, len, &err);
}

int release_compare(const hsy_spec *spec, const struct release_options *o)
{
    struct compare c = {0};
    struct plan_trust t;
    hsy_error err = {0};
    int failed = 0;

    if (plan_trust(&t, spec, release_mechanism(o), NULL, &err) != HSY_OK) {
        hsy_spec asked = *spec;

        asked.mechanism = t.asked;
        return cli_scheme_refused(&asked, &err);
    }
    compare_fill(&c, &t);
    if (o->plot != NULL)
        failed = compare_plot(&c, t.central.epsilon, o->plot);
    if (failed)
        return failed;
    compare_print(&c, &t.local, &t.central, o);
    return cli_finish();
}

#undef COMPARE_ROWS
#undef COMPARE_MODELS
