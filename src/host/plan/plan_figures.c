/* plan_figures.c - figures of plans and accounts: error against people, what an
 * answer tells. */
#include "host/plan/account.h"

#include "host/plot/plot.h"

#include <stdio.h>

#define FIGURES_LEARNED 33u /* 0 to 8 */

const char *const plan_bound_names[] = {"hoeffding", "normal", "exact", NULL};

/* ---- Plans --------------------------------------------------------------- */

struct figures_lines {
    struct plan_curve curves[4];
    char names[4][32];
    struct plot_series series[4];
};

static hsy_status figures_line(struct figures_lines *l, size_t i,
                               const struct plan *p,
                               const struct plan_question *q, uint64_t nano,
                               hsy_error *err)
{
    struct plan_curve *c = &l->curves[i];
    const hsy_status st = plan_curve(c, p, q,
                                     nano < HSY_EPSILON_MIN   ? HSY_EPSILON_MIN
                                     : nano > HSY_EPSILON_MAX ? HSY_EPSILON_MAX
                                                              : nano,
                                     err);

    if (st != HSY_OK)
        return st;
    snprintf(l->names[i], sizeof l->names[i], "epsilon %.9g", c->epsilon);
    l->series[i] = (struct plot_series){.name = l->names[i],
                                        .style = PLOT_LINE,
                                        .colour = (unsigned)i,
                                        .n = PLAN_CURVE,
                                        .x = c->people,
                                        .y = c->alpha};
    return HSY_OK;
}

/* A quarter of the epsilon, half of it, itself and twice as much. */
hsy_status plan_figure(char **svg, size_t *len, struct plan *p,
                       const struct plan_question *q, hsy_error *err)
{
    const uint64_t own = p->at.info.nano_epsilon;
    struct figures_lines l = {.curves = {{.why = 0}}};
    struct plot_figure figure = {
        .title = "Error against people",
        .about = "The error that is passed with chance beta against the number "
                 "of people, both on logarithmic axes, for four epsilons. It "
                 "falls with the square root of the number.",
        .x = {.label = "people", .log = true},
        .y = {.label = p->at.info.kind == HSY_KIND_NUMBER ? "error of the mean"
                       : p->at.nstages != 0 ? "least share that is found"
                                            : "error of a share",
              .log = true},
        .series = l.series,
        .nseries = 4};
    char note[96];

    for (size_t i = 0; i < 4; i++) {
        const hsy_status st = figures_line(&l, i, p, q, own / 4 << i, err);

        p->why = l.curves[i].why;
        if (st != HSY_OK)
            return st;
    }
    snprintf(note, sizeof note, "chance of a larger error %.4g, %s",
             p->number[PLAN_BETA], plan_bound_names[plan_bound(p)]);
    figure.note = note;
    return plot_svg(svg, len, &figure, err);
}

hsy_status plan_learned_figure(char **svg, size_t *len, hsy_error *err)
{
    static const double priors[] = {0.5, 0.1, 0.01};
    double at[FIGURES_LEARNED], y[3][FIGURES_LEARNED];
    char names[3][40];
    struct plot_series series[3];
    const struct plot_figure figure = {
        .title = "What one answer tells",
        .about = "The chance that somebody may give to a fact about a person "
                 "after one answer, at most, against epsilon, for what was "
                 "believed before: one half, a tenth, a hundredth.",
        .x = {.label = "epsilon"},
        .y = {.label = "believed after one answer, at most",
              .low = 0,
              .high = 1},
        .series = series,
        .nseries = 3};

    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < FIGURES_LEARNED; k++) {
            at[k] = (double)k / 4;
            y[i][k] = plan_posterior(priors[i], at[k]);
        }
        snprintf(names[i], sizeof names[i], "believed %.4g before", priors[i]);
        series[i] = (struct plot_series){.name = names[i],
                                         .style = PLOT_LINE,
                                         .colour = (unsigned)i,
                                         .n = FIGURES_LEARNED,
                                         .x = at,
                                         .y = y[i]};
    }
    return plot_svg(svg, len, &figure, err);
}

/* ---- Accounts ------------------------------------------------------------ */

hsy_status account_figure(char **svg, size_t *len, const struct account *a,
                          hsy_error *err)
{
    struct plot_series series[ACCOUNT_CURVES];
    struct plot_figure figure = {.title = a->title,
                                 .about = a->about,
                                 .x = {.label = a->x_label, .log = true},
                                 .y = {.label = a->y_label, .log = true},
                                 .series = series,
                                 .nseries = a->ncurves};

    for (size_t i = 0; i < a->ncurves; i++)
        series[i] = (struct plot_series){
            .name = a->curves[i].name,
            .style = a->curves[i].dashed ? PLOT_DASHED : PLOT_LINE,
            .colour = (unsigned)i,
            .n = a->curves[i].n,
            .x = a->curves[i].x,
            .y = a->curves[i].y};
    return plot_svg(svg, len, &figure, err);
}
