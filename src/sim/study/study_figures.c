/* study_figures.c - figures of studies: error against epsilon or users.
 * (histogram.c has the other.) */
#include "sim/study/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FIGURE_NAME STUDY_LINE_NAME

/* Points of one line, and room for their names. */
struct figure_line {
    char name[FIGURE_NAME];
    double *x, *y, *low, *high;
    size_t n;
};

struct figure_errors {
    const struct study_result *rows;
    size_t n;
    bool by_users, several_users, several_domains, several_epsilons;
    bool several_models;
    struct figure_line lines[PLOT_SERIES_MAX];
    struct plot_series series[PLOT_SERIES_MAX];
    size_t used;
};

static void figure_look(struct figure_errors *f)
{
    const struct study_result *rows = f->rows;

    for (size_t i = 1; i < f->n; i++) {
        f->several_users |= rows[i].users != rows[0].users;
        f->several_domains |= rows[i].info.d != rows[0].info.d;
        f->several_epsilons |= rows[i].epsilon != rows[0].epsilon;
        f->several_models |= rows[i].model != rows[0].model;
    }
    f->by_users = f->several_users && !f->several_epsilons;
}

/* Whether two rows are points of one line, of a mechanism in a model or
 * (without) of what is best for it. */
static bool figure_same(const struct figure_errors *f,
                        const struct study_result *a,
                        const struct study_result *b, bool mechanism)
{
    return (!mechanism || (a->info.id == b->info.id && a->model == b->model &&
                           a->curators == b->curators)) &&
           a->info.d == b->info.d && (f->by_users || a->users == b->users);
}

/* Whether a line begins with row i: not every row has a best. */
static bool figure_first(const struct figure_errors *f, size_t i,
                         bool mechanism)
{
    if (!mechanism && isnan(f->rows[i].mean[STUDY_LIMIT]))
        return false;
    for (size_t j = 0; j < i; j++)
        if (figure_same(f, &f->rows[j], &f->rows[i], mechanism) &&
            (mechanism || !isnan(f->rows[j].mean[STUDY_LIMIT])))
            return false;
    return true;
}

void study_line_name(char name[STUDY_LINE_NAME], const struct study_result *row,
                     bool models)
{
    if (row->model == STUDY_MULTIPARTY)
        snprintf(name, STUDY_LINE_NAME, "%" PRIu64 " curator%s", row->curators,
                 row->curators == 1 ? "" : "s");
    else if (row->curators > 0)
        snprintf(name, STUDY_LINE_NAME, "%s", row->name);
    else
        snprintf(name, STUDY_LINE_NAME, "%s%s%s", models ? row->name : "",
                 models ? " " : "", row->info.mechanism);
}

/* What a report costs along the line that begins with row i. */
static void figure_bits(char name[FIGURE_NAME], const struct figure_errors *f,
                        size_t i)
{
    uint32_t least = f->rows[i].info.report_bits, most = least;

    if (f->rows[i].info.central)
        return;
    for (size_t j = i; j < f->n; j++) {
        const uint32_t bits = f->rows[j].info.report_bits;

        if (!figure_same(f, &f->rows[i], &f->rows[j], true))
            continue;
        least = bits < least ? bits : least;
        most = bits > most ? bits : most;
    }
    if (least < most)
        plot_more(name, FIGURE_NAME, ", %" PRIu32 " to %" PRIu32 " bits", least,
                  most);
    else
        plot_more(name, FIGURE_NAME, ", %" PRIu32 " bit%s", most,
                  most == 1 ? "" : "s");
}

/* The line that begins with row i, of its mechanism or of the best known. */
static void figure_name(char name[FIGURE_NAME], const struct figure_errors *f,
                        size_t i, bool best)
{
    const struct study_result *row = &f->rows[i];

    if (best)
        snprintf(name, FIGURE_NAME, "best known%s",
                 f->several_models ? " local" : "");
    else
        study_line_name(name, row, f->several_models);
    if (f->several_domains)
        plot_more(name, FIGURE_NAME, ", %" PRIu32 " values", row->info.d);
    if (f->several_users && !f->by_users)
        plot_more(name, FIGURE_NAME, ", %" PRIu64 " people", row->users);
    if (!best)
        figure_bits(name, f, i);
}

/* Put a point in its place: lines go from left to right. */
static void figure_point(struct figure_line *line, double x, double y,
                         double sd)
{
    size_t at = line->n++;

    for (; at > 0 && line->x[at - 1] > x; at--) {
        line->x[at] = line->x[at - 1];
        line->y[at] = line->y[at - 1];
        line->low[at] = line->low[at - 1];
        line->high[at] = line->high[at - 1];
    }
    line->x[at] = x;
    line->y[at] = y;
    line->low[at] = fmax(y - 2 * sd, y / 2);
    line->high[at] = y + 2 * sd;
}

/* A line of the roots of one metric over the rows like row i. A logarithmic
 * axis has no place for an error of zero, and a metric may not apply. */
static hsy_status figure_line(struct figure_errors *f, size_t i,
                              enum study_metric metric, unsigned colour,
                              hsy_error *err)
{
    const bool measured = metric == STUDY_MSE, best = metric == STUDY_LIMIT;
    struct figure_line *line = &f->lines[f->used];
    double *memory;

    if (f->used == PLOT_SERIES_MAX)
        return host_fail(err, HSY_E_RANGE, HOST_FIELD_PLOT,
                         "too many lines for one figure; ask for fewer "
                         "mechanisms, users or domains");
    memory = calloc(4 * f->n, sizeof *memory);
    if (memory == NULL)
        return host_nomem(err);
    *line = (struct figure_line){.x = memory,
                                 .y = memory + f->n,
                                 .low = memory + 2 * f->n,
                                 .high = memory + 3 * f->n};
    figure_name(line->name, f, i, best);
    for (size_t j = i; j < f->n; j++) {
        const struct study_result *row = &f->rows[j];
        const double root = sqrt(row->mean[metric]);
        const double sd = row->error[metric] / (2 * root);

        if (figure_same(f, &f->rows[i], row, !best) && root > 0)
            figure_point(line, f->by_users ? (double)row->users : row->epsilon,
                         root, measured && isfinite(sd) ? sd : 0);
    }
    f->series[f->used] = (struct plot_series){
        .name = metric != STUDY_PREDICTED ? line->name : NULL,
        .style = measured ? PLOT_LINE : PLOT_DASHED,
        .colour = colour % PLOT_COLOURS,
        .n = line->n,
        .x = line->x,
        .y = line->y,
        .low = measured ? line->low : NULL,
        .high = measured ? line->high : NULL};
    f->used++;
    return HSY_OK;
}

static hsy_status figure_lines(struct figure_errors *f, hsy_error *err)
{
    unsigned colour = 0;
    hsy_status st = HSY_OK;

    for (size_t i = 0; st == HSY_OK && i < f->n; i++)
        if (figure_first(f, i, true)) {
            st = figure_line(f, i, STUDY_MSE, colour, err);
            if (st == HSY_OK && !isnan(f->rows[i].mean[STUDY_PREDICTED]))
                st = figure_line(f, i, STUDY_PREDICTED, colour, err);
            colour++;
        }
    for (size_t i = 0; st == HSY_OK && i < f->n; i++)
        if (figure_first(f, i, false))
            st = figure_line(f, i, STUDY_LIMIT, colour++, err);
    return st;
}

static hsy_status figure_errors(char **svg, size_t *len,
                                struct figure_errors *f, hsy_error *err)
{
    const bool mean = f->rows[0].info.kind == HSY_KIND_NUMBER;
    struct plot_figure figure = {
        .about = "Root mean squared error of simulated collections, measured "
                 "over runs (with two standard errors), predicted, and of the "
                 "best mechanism known.",
        .note = "measured; dashed in the same colour: predicted",
        .y = {.label = mean ? "error of the mean" : "error of a share",
              .log = true},
        .series = f->series};
    hsy_status st;

    figure_look(f);
    figure.title =
        f->by_users ? "Error against people" : "Error against epsilon";
    figure.x.label = f->by_users ? "people" : "epsilon";
    figure.x.log = f->by_users;
    st = figure_lines(f, err);
    figure.nseries = f->used;
    if (st == HSY_OK)
        st = plot_svg(svg, len, &figure, err);
    for (size_t i = 0; i < f->used; i++)
        free(f->lines[i].x);
    return st;
}

hsy_status study_svg(char **svg, size_t *len, const struct study_result *rows,
                     size_t n, hsy_error *err)
{
    struct figure_errors *f;
    hsy_status st;

    if (n <= STUDY_SHOWN_ROWS && rows[0].truths != NULL)
        return study_histogram(svg, len, rows, n, err);
    f = calloc(1, sizeof *f);
    if (f == NULL)
        return host_nomem(err);
    f->rows = rows;
    f->n = n;
    st = figure_errors(svg, len, f, err);
    free(f);
    return st;
}
