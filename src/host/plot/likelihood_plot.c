/*
 * likelihood_plot.c - the likelihood of a share and its logarithm.
 *
 * Both are drawn relative to their top, so that the cut of a level is the same
 * in every figure: e^(-z^2/2), and -z^2/2, z the normal quantile. The shares
 * whose curve lies above it are the interval.
 */
#include "host/plot/internal.h"

#include <math.h>
#include <stdio.h>

#define LIKELIHOOD_POINTS 241u
#define LIKELIHOOD_DEPTH 4 /* the figure reaches so many cuts down */
#define LIKELIHOOD_SERIES 4u
#define LIKELIHOOD_NAME 64u

/* What both figures show: shares, and the logarithm at them. */
struct likelihood_curve {
    double x[LIKELIHOOD_POINTS], log[LIKELIHOOD_POINTS];
    double across[2]; /* first and last x */
    double best;      /* the most likely share */
    double ends[2];   /* of the interval */
    double cut;       /* of the logarithm: below 0 */
    double depth;     /* how far down the figure reaches: above 0 */
};

/* One of the two figures. */
struct likelihood_part {
    double y[LIKELIHOOD_POINTS];
    double cut[2], bottom[2], top;
    struct plot_series series[LIKELIHOOD_SERIES];
};

/* Of a point that was checked. */
static double likelihood_at(const hsy_evidence *point, double f)
{
    double log = -HUGE_VAL;

    (void)hsy_evidence_likelihood(&log, point, f, NULL);
    return log;
}

/* The share furthest towards `end` that the figure still shows: the logarithm
 * falls on the way there. */
static double likelihood_edge(const hsy_evidence *point, double best,
                              double end, double depth)
{
    if (likelihood_at(point, end) >= -depth)
        return end;
    for (int i = 0; i < 100; i++) {
        const double middle = (best + end) / 2;

        if (likelihood_at(point, middle) >= -depth)
            best = middle;
        else
            end = middle;
    }
    return best;
}

static hsy_status likelihood_fill(struct likelihood_curve *c,
                                  const struct plot_likelihood *what,
                                  hsy_error *err)
{
    const hsy_confidence how = {
        .level = what->level, .interval = HSY_LIKELIHOOD, .comparisons = 1};
    hsy_estimate est;
    hsy_status st = hsy_estimate_point(&est, what->point, &how, err);
    double z;

    if (st != HSY_OK)
        return st;
    z = hsy_normal_quantile((1 - what->level) / 2);
    c->cut = -z * z / 2;
    c->depth = fmax(-LIKELIHOOD_DEPTH * c->cut, 1);
    c->best = fmin(fmax(est.value, 0), 1);
    c->ends[0] = est.low;
    c->ends[1] = est.high;
    c->across[0] = likelihood_edge(what->point, c->best, 0, c->depth);
    c->across[1] = likelihood_edge(what->point, c->best, 1, c->depth);
    for (size_t i = 0; i < LIKELIHOOD_POINTS; i++) {
        const double at = (double)i / (LIKELIHOOD_POINTS - 1);

        c->x[i] = c->across[0] * (1 - at) + c->across[1] * at;
        c->log[i] = fmax(likelihood_at(what->point, c->x[i]), -c->depth);
    }
    return HSY_OK;
}

/* The curve as `shown` makes it of the logarithm. */
static struct plot_figure likelihood_figure(struct likelihood_part *p,
                                            const struct likelihood_curve *c,
                                            double (*shown)(double),
                                            double bottom)
{
    const struct plot_series series[LIKELIHOOD_SERIES] = {
        {.style = PLOT_CURVE,
         .colour = 1,
         .n = LIKELIHOOD_POINTS,
         .x = c->x,
         .y = p->y},
        {.style = PLOT_DASHED,
         .colour = 7,
         .n = 2,
         .x = c->across,
         .y = p->cut},
        {.style = PLOT_LINE,
         .colour = 0,
         .n = 2,
         .x = c->ends,
         .y = p->cut,
         .low = p->bottom,
         .high = p->cut},
        {.style = PLOT_POINTS,
         .colour = 2,
         .n = 1,
         .x = &c->best,
         .y = &p->top},
    };

    for (size_t i = 0; i < LIKELIHOOD_POINTS; i++)
        p->y[i] = shown(c->log[i]);
    p->cut[0] = p->cut[1] = shown(c->cut);
    p->bottom[0] = p->bottom[1] = bottom;
    p->top = shown(0);
    for (size_t i = 0; i < LIKELIHOOD_SERIES; i++)
        p->series[i] = series[i];
    return (struct plot_figure){.series = p->series,
                                .nseries = LIKELIHOOD_SERIES};
}

static double likelihood_same(double log)
{
    return log;
}

/* Names stand once, below both. */
static void likelihood_names(struct likelihood_part *p, const double ends[2],
                             double best, char names[2][LIKELIHOOD_NAME],
                             double level)
{
    snprintf(names[0], LIKELIHOOD_NAME, "%.4g %% interval: %.4g to %.4g",
             100 * level, ends[0], ends[1]);
    snprintf(names[1], LIKELIHOOD_NAME, "most likely: %.4g", best);
    p->series[0].name = "likelihood of each share";
    p->series[1].name = "the interval's cut";
    p->series[2].name = names[0];
    p->series[3].name = names[1];
}

hsy_status plot_likelihood_svg(char **svg, size_t *len,
                               const struct plot_likelihood *what,
                               hsy_error *err)
{
    struct likelihood_curve c;
    struct likelihood_part parts[2];
    struct plot_figure figures[2];
    char names[2][LIKELIHOOD_NAME];
    hsy_status st = likelihood_fill(&c, what, err);

    if (st != HSY_OK)
        return st;
    figures[0] = likelihood_figure(&parts[0], &c, exp, 0);
    figures[1] = likelihood_figure(&parts[1], &c, likelihood_same, -c.depth);
    likelihood_names(&parts[1], c.ends, c.best, names, what->level);
    figures[0].title = what->title;
    figures[0].about = what->about;
    figures[0].note = what->note;
    figures[1].title = "Its logarithm";
    figures[0].x.label = figures[1].x.label = what->label;
    figures[0].y.label = "likelihood, of the greatest";
    figures[1].y.label = "log-likelihood, below the greatest";
    return plot_stack_svg(svg, len, figures, 2, err);
}
