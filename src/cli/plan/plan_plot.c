/* plan_plot.c - error against people, and what an answer tells. */
#include "cli/plan/internal.h"

#include "host/plot/plot.h"

#include <math.h>

#define PLOT_LEARNED 33u /* 0 to 8 */

static int plot_write(const char *path, const struct plot_figure *figure)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    const hsy_status made = plot_svg(&svg, &len, figure, &err);

    return cli_write_figure(path, made, svg, len, &err);
}

struct plot_lines {
    struct plan_curve curves[4];
    char names[4][32];
    struct plot_series series[4];
};

static int plot_line(struct plot_lines *l, size_t i, const struct plan_run *x,
                     uint64_t nano)
{
    struct plan_curve *c = &l->curves[i];
    hsy_error err = {0};

    if (plan_curve(c, &x->plan, &x->question, nano, &err) != HSY_OK)
        return plan_refused(x, c->why, &err);
    snprintf(l->names[i], sizeof l->names[i], "epsilon %.9g", c->epsilon);
    l->series[i] = (struct plot_series){.name = l->names[i],
                                        .style = PLOT_LINE,
                                        .colour = (unsigned)i,
                                        .n = PLAN_CURVE,
                                        .x = c->people,
                                        .y = c->alpha};
    return 0;
}

/* A quarter of the epsilon, half of it, itself and twice as much. */
int plan_plot(const struct plan_run *x)
{
    const struct plan *p = &x->plan;
    const uint64_t own = p->at.info.nano_epsilon;
    struct plot_lines l;
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
    int failed = 0;

    for (size_t i = 0; i < 4 && !failed; i++) {
        const uint64_t nano = own / 4 << i;

        failed = plot_line(&l, i, x,
                           nano < HSY_EPSILON_MIN   ? HSY_EPSILON_MIN
                           : nano > HSY_EPSILON_MAX ? HSY_EPSILON_MAX
                                                    : nano);
    }
    if (failed)
        return failed;
    snprintf(note, sizeof note, "chance of a larger error %.4g, %s",
             p->number[PLAN_BETA], plan_bound_names[plan_bound(p)]);
    figure.note = note;
    return plot_write(x->options.plot, &figure);
}

int plan_plot_learned(const struct plan_run *x)
{
    static const double priors[] = {0.5, 0.1, 0.01};
    double at[PLOT_LEARNED], y[3][PLOT_LEARNED];
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
        for (size_t k = 0; k < PLOT_LEARNED; k++) {
            at[k] = (double)k / 4;
            y[i][k] = plan_posterior(priors[i], at[k]);
        }
        snprintf(names[i], sizeof names[i], "believed %.4g before", priors[i]);
        series[i] = (struct plot_series){.name = names[i],
                                         .style = PLOT_LINE,
                                         .colour = (unsigned)i,
                                         .n = PLOT_LEARNED,
                                         .x = at,
                                         .y = y[i]};
    }
    return plot_write(x->options.plot_learned, &figure);
}

#undef PLOT_LEARNED
