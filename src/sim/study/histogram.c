/*
 * histogram.c - the first run of a study as a histogram: the true share
 * of each value, and beside it what was estimated, with its interval.
 *
 * Bars stand side by side in groups, one group a value. Of more values than
 * bars can be told apart the true shares are a line, and estimates points.
 */
#include "sim/study/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define HISTOGRAM_GROUP 0.8 /* of the distance of two values */

/* Numbers of the series, each with d of them. */
struct histogram_room {
    double *x, *y, *low, *high;
};

static struct histogram_room histogram_room(double *memory, size_t d)
{
    return (struct histogram_room){memory, memory + d, memory + 2 * d,
                                   memory + 3 * d};
}

/* Series `at` of `of`, without y. */
static struct plot_series histogram_series(double *x, size_t d, size_t at,
                                           size_t of)
{
    const bool bars = d <= STUDY_SHOWN_BARS;
    const double width = bars ? HISTOGRAM_GROUP / (double)of : 0;
    const double off =
        bars ? ((double)at + 0.5) * width - HISTOGRAM_GROUP / 2 : 0;

    for (size_t i = 0; i < d; i++)
        x[i] = (double)i + off;
    return (struct plot_series){.style = bars      ? PLOT_BARS
                                         : at == 0 ? PLOT_DASHED
                                                   : PLOT_POINTS,
                                .colour =
                                    (unsigned)(at == 0 ? PLOT_COLOURS - 1 : at),
                                .n = d,
                                .x = x,
                                .width = width};
}

/* Estimates by EM state no interval. */
static void histogram_estimates(struct plot_series *s,
                                const struct histogram_room *room,
                                const struct study_result *row)
{
    for (size_t i = 0; i < s->n; i++) {
        room->y[i] = row->estimates[i].value;
        room->low[i] = row->estimates[i].low;
        room->high[i] = row->estimates[i].high;
    }
    s->y = room->y;
    s->low = row->info.iterative ? NULL : room->low;
    s->high = row->info.iterative ? NULL : room->high;
}

static hsy_status histogram_draw(char **svg, size_t *len, double *memory,
                                 const struct study_result *rows, size_t n,
                                 hsy_error *err)
{
    const size_t d = rows[0].info.d;
    char title[STUDY_LINE_NAME], names[STUDY_SHOWN_ROWS][STUDY_LINE_NAME];
    struct plot_series series[1 + STUDY_SHOWN_ROWS];
    const struct plot_figure figure = {
        .title = title,
        .about = "True shares of all values in one simulated population, and "
                 "beside them their estimates with 95 % intervals.",
        .note = "the first run; 95 % intervals",
        .x = {.label = rows[0].info.kind == HSY_KIND_BINS ? "bin" : "value",
              .low = -0.5,
              .high = (double)d - 0.5},
        .y = {.label = "share"},
        .series = series,
        .nseries = n + 1};
    bool models = false;

    snprintf(title, sizeof title, "Shares at epsilon %g, %" PRIu64 " people",
             rows[0].epsilon, rows[0].users);
    series[0] = histogram_series(memory + 4 * d * n, d, 0, n + 1);
    series[0].name = "true share";
    series[0].y = rows[0].truths;
    for (size_t i = 0; i < n; i++)
        models |= rows[i].model != STUDY_LOCAL;
    for (size_t i = 0; i < n; i++) {
        const struct histogram_room room =
            histogram_room(memory + 4 * d * i, d);

        series[i + 1] = histogram_series(room.x, d, i + 1, n + 1);
        histogram_estimates(&series[i + 1], &room, &rows[i]);
        study_line_name(names[i], &rows[i], models);
        series[i + 1].name = names[i];
    }
    return plot_svg(svg, len, &figure, err);
}

hsy_status study_histogram(char **svg, size_t *len,
                           const struct study_result *rows, size_t n,
                           hsy_error *err)
{
    double *memory = calloc((4 * n + 1) * rows[0].info.d, sizeof *memory);
    hsy_status st;

    if (memory == NULL)
        return host_nomem(err);
    st = histogram_draw(svg, len, memory, rows, n, err);
    free(memory);
    return st;
}
