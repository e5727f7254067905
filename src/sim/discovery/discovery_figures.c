/* discovery_figures.c - what discoveries find against epsilon. */
#include "sim/discovery/internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOUND_NAME 96u

/* All lines of a figure, their points one line after the other. */
struct found_lines {
    struct plot_series series[PLOT_SERIES_MAX];
    char names[PLOT_SERIES_MAX][FOUND_NAME];
    size_t n;
    double *x, *y, *low, *high;
};

static bool found_same(const struct discovery_result *a,
                       const struct discovery_result *b)
{
    return strcmp(a->data, b->data) == 0 &&
           strcmp(a->mechanism, b->mechanism) == 0;
}

/* A line is called by what tells it from the others. */
static void found_name(char name[FOUND_NAME],
                       const struct discovery_result *rows, size_t n, size_t i)
{
    bool data = false, mechanism = false;

    for (size_t k = 1; k < n; k++) {
        data |= strcmp(rows[k].data, rows[0].data) != 0;
        mechanism |= strcmp(rows[k].mechanism, rows[0].mechanism) != 0;
    }
    snprintf(name, FOUND_NAME, "%.60s%s%s",
             data || !mechanism ? rows[i].data : "",
             data && mechanism ? ", " : "", mechanism ? rows[i].mechanism : "");
}

/* A point with two standard errors on each side; lines go from left to right.
 */
static void found_point(struct found_lines *f, size_t first, size_t at,
                        const struct discovery_result *row)
{
    const double y = row->mean[DISCOVERY_NDCG];
    const double sd = row->error[DISCOVERY_NDCG];
    const double off = isfinite(sd) ? 2 * sd : 0;

    for (; at > first && f->x[at - 1] > row->epsilon; at--) {
        f->x[at] = f->x[at - 1];
        f->y[at] = f->y[at - 1];
        f->low[at] = f->low[at - 1];
        f->high[at] = f->high[at - 1];
    }
    f->x[at] = row->epsilon;
    f->y[at] = y;
    f->low[at] = fmax(y - off, 0);
    f->high[at] = fmin(y + off, 1);
}

/* Rows of one line stand together. */
static hsy_status found_gather(struct found_lines *f,
                               const struct discovery_result *rows, size_t n,
                               hsy_error *err)
{
    for (size_t i = 0, next; i < n; i = next) {
        if (f->n == PLOT_SERIES_MAX)
            return host_fail(err, HSY_E_RANGE, HOST_FIELD_PLOT,
                             "too many lines for one figure; ask for fewer "
                             "data or mechanisms");
        for (next = i; next < n && found_same(&rows[i], &rows[next]); next++)
            found_point(f, i, next, &rows[next]);
        found_name(f->names[f->n], rows, n, i);
        f->series[f->n] =
            (struct plot_series){.name = f->names[f->n],
                                 .style = PLOT_LINE,
                                 .colour = (unsigned)f->n % PLOT_COLOURS,
                                 .n = next - i,
                                 .x = f->x + i,
                                 .y = f->y + i,
                                 .low = f->low + i,
                                 .high = f->high + i};
        f->n++;
    }
    return HSY_OK;
}

hsy_status discovery_svg(char **svg, size_t *len,
                         const struct discovery_result *rows, size_t n,
                         hsy_error *err)
{
    struct found_lines f = {.x = calloc(4 * n, sizeof *f.x)};
    char note[FOUND_NAME];
    struct plot_figure figure = {
        .title = "Frequent strings found against epsilon",
        .about = "NDCG of the strings found by simulated searches, 1 if these "
                 "are the most frequent ones in their order, 0 if none of them "
                 "is: means over runs with two standard errors on each side.",
        .note = note,
        .x = {.label = "epsilon"},
        .y = {.label = "NDCG", .low = 0, .high = 1},
        .series = f.series};
    hsy_status st;

    if (f.x == NULL)
        return host_nomem(err);
    snprintf(note, sizeof note,
             "top %" PRIu64 " of %" PRIu64 " bits, in steps of %" PRIu64,
             rows[0].top, rows[0].bits, rows[0].step);
    f.y = f.x + n;
    f.low = f.y + n;
    f.high = f.low + n;
    st = found_gather(&f, rows, n, err);
    figure.nseries = f.n;
    if (st == HSY_OK)
        st = plot_svg(svg, len, &figure, err);
    free(f.x);
    return st;
}
