/* attack_figures.c - the attacks' figures. */
#include "sim/attack/internal.h"

#include <math.h>

#define FIGURES_SERIES 8u
#define FIGURES_POINTS (FIGURES_SERIES * SIM_TIMES_MAX)

/* A figure that is gathered row by row. A series is a run of rows. */
struct figures {
    struct plot_figure fig;
    struct plot_series series[FIGURES_SERIES];
    size_t n;
    double x[FIGURES_POINTS], y[FIGURES_POINTS];
    double low[FIGURES_POINTS], high[FIGURES_POINTS];
    size_t points;
};

static void figures_series(struct figures *f, const char *name,
                           enum plot_style style, unsigned colour)
{
    struct plot_series *s = &f->series[f->n++];

    *s = (struct plot_series){.name = name,
                              .style = style,
                              .colour = colour,
                              .x = f->x + f->points,
                              .y = f->y + f->points};
    if (style == PLOT_LINE) {
        s->low = f->low + f->points;
        s->high = f->high + f->points;
    }
    f->fig.series = f->series;
    f->fig.nseries = f->n;
}

/* A point of the last series; its band is two standard errors on each side,
 * inside what the axis may show. */
static void figures_point(struct figures *f, double x, double y, double sd,
                          double least, double most)
{
    f->x[f->points] = x;
    f->y[f->points] = y;
    f->low[f->points] = fmax(y - 2 * sd, least);
    f->high[f->points] = fmin(y + 2 * sd, most);
    f->points++;
    f->series[f->n - 1].n++;
}

hsy_status sim_averaging_svg(char **svg, size_t *len,
                             const struct sim_result *a, hsy_error *err)
{
    static const char *const exact[] = {"fresh: exactly", "memoised: exactly",
                                        "two-step: exactly"};
    struct figures f = {
        .fig = {.title = "The same truth, asked every day",
                .about = "How often an attacker guesses the truth of a device "
                         "that is asked every day. Fresh noise averages out; "
                         "an answer that is kept stays what it was.",
                .x = {.label = "days", .log = true},
                .y = {.label = "right guesses"}}};
    size_t times = a->nrows / SIM_AVERAGING_CLIENTS;

    for (unsigned c = 0; c < SIM_AVERAGING_CLIENTS; c++) {
        const struct sim_averaging_row *rows = a->u.averaging + c * times;

        figures_series(&f, sim_client_name(rows->client), PLOT_LINE, c);
        for (size_t i = 0; i < times; i++)
            figures_point(&f, (double)rows[i].days, rows[i].right.rate,
                          rows[i].right.sd, 0, 1);
        figures_series(&f, exact[c], PLOT_DASHED, c);
        for (size_t i = 0; i < times; i++)
            figures_point(&f, (double)rows[i].days, rows[i].right.exact, 0, 0,
                          1);
    }
    return plot_svg(svg, len, &f.fig, err);
}

hsy_status sim_change_svg(char **svg, size_t *len, const struct sim_result *c,
                          hsy_error *err)
{
    struct figures f = {
        .fig = {.title = "Has the truth changed?",
                .about = "How often an attacker says rightly whether a "
                         "device's truth has changed, some days after it did "
                         "for half of them. A guess is right half of the time.",
                .x = {.label = "days after the change", .log = true},
                .y = {.label = "right guesses"}}};
    size_t times = c->nrows / SIM_CHANGE_CLIENTS;

    for (unsigned k = 0; k < SIM_CHANGE_CLIENTS; k++) {
        const struct sim_change_row *rows = c->u.change + k * times;

        figures_series(&f, sim_client_name(rows->client), PLOT_LINE, k);
        for (size_t i = 0; i < times; i++)
            figures_point(&f, (double)rows[i].after, rows[i].right.rate,
                          rows[i].right.sd, 0, 1);
    }
    return plot_svg(svg, len, &f.fig, err);
}

hsy_status sim_fingerprint_svg(char **svg, size_t *len,
                               const struct sim_result *p, hsy_error *err)
{
    struct figures f = {
        .fig = {.title = "Found again in a crowd",
                .about = "How many devices an attacker recognises by a second "
                         "upload, among so many that have the same truth. "
                         "In another slot or task it is by guessing.",
                .x = {.label = "devices", .log = true},
                .y = {.label = "found again"}}};
    size_t sizes = p->nrows / SIM_UPLOADS;

    for (unsigned k = 0; k < SIM_UPLOADS; k++) {
        const struct sim_fingerprint_row *rows = p->u.fingerprint + k * sizes;

        figures_series(&f, rows->upload, PLOT_LINE, k);
        for (size_t i = 0; i < sizes; i++)
            figures_point(&f, (double)rows[i].devices, rows[i].relinked,
                          rows[i].sd, 0, 1);
    }
    figures_series(&f, "by guessing", PLOT_DASHED, PLOT_COLOURS - 1);
    for (size_t i = 0; i < sizes; i++)
        figures_point(&f, (double)p->u.fingerprint[i].devices,
                      p->u.fingerprint[i].chance, 0, 0, 1);
    return plot_svg(svg, len, &f.fig, err);
}

hsy_status sim_drift_svg(char **svg, size_t *len, const struct sim_result *d,
                         hsy_error *err)
{
    struct figures f = {
        .fig = {.title = "Age in days, asked every day",
                .about = "What a device has told by its permanent answers. "
                         "One for each value costs more every day; rounding "
                         "by alpha to the ends of the range costs two.",
                .x = {.label = "days", .log = true},
                .y = {.label = "epsilon spent so far", .log = true}}};
    size_t times = d->nrows / SIM_ROUNDINGS;

    for (unsigned k = 0; k < SIM_ROUNDINGS; k++) {
        const struct sim_drift_row *rows = d->u.drift + k * times;

        figures_series(&f, rows->rounding, PLOT_LINE, k);
        for (size_t i = 0; i < times; i++)
            figures_point(&f, (double)rows[i].day, rows[i].epsilon, 0,
                          rows[i].epsilon, rows[i].epsilon);
    }
    return plot_svg(svg, len, &f.fig, err);
}

/* Maximal gain alone: the rows of each mechanism end with it. */
hsy_status sim_poisoning_svg(char **svg, size_t *len,
                             const struct sim_result *p, hsy_error *err)
{
    static const char *const exact[SIM_POISONING_MECHANISMS] = {
        "grr: closed form", "ss: closed form", "oue: closed form",
        "olh: closed form"};
    const size_t block = SIM_POISONING_ATTACKS * SIM_POISONING_SHARES;
    struct figures f = {
        .fig = {.title = "What devices that lie gain",
                .about = "By how much the estimated shares of ten values "
                         "together grow if a share of all devices lies for the "
                         "largest gain: marks as measured, lines by the closed "
                         "form. 1 stands for everybody.",
                .x = {.label = "share of devices that lie", .log = true},
                .y = {.label = "gain of ten values together", .log = true}}};

    for (unsigned k = 0; k < SIM_POISONING_MECHANISMS; k++) {
        const struct sim_poisoning_row *rows =
            p->u.poisoning + (k + 1) * block - SIM_POISONING_SHARES;

        figures_series(&f, rows->mechanism, PLOT_POINTS, k);
        for (size_t i = 0; i < SIM_POISONING_SHARES; i++)
            figures_point(&f, rows[i].lying, rows[i].gain, 0, 0, HUGE_VAL);
        figures_series(&f, exact[k], PLOT_DASHED, k);
        for (size_t i = 0; i < SIM_POISONING_SHARES; i++)
            figures_point(&f, rows[i].lying, rows[i].exact, 0, 0, HUGE_VAL);
    }
    return plot_svg(svg, len, &f.fig, err);
}
