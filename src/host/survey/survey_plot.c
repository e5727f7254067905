/*
 * survey_plot.c - figures of a survey.
 *
 * Of one share its likelihood. Of two the surface: curves of equal likelihood
 * around the most likely pair, the line of equal shares, and the curve that
 * just touches it, whose height is the ratio test. Of more a list.
 */
#include "host/survey/survey.h"

#include "host/plot/plot.h"

#include <math.h>
#include <stdio.h>

#define PLOT_AROUND 361u /* points of a curve, the first again at the end */

static const double plot_turn = 6.283185307179586;

struct plot_surface {
    const hsy_evidence *a, *b;
    double best[2], reach[2]; /* the top, and steps to walk from it */
};

/* How far below the top: 0 at it. Outside the square it is impossible. */
static double plot_height(const struct plot_surface *s, double x, double y)
{
    double la = 0, lb = 0;

    if (hsy_evidence_likelihood(&la, s->a, x, NULL) != HSY_OK ||
        hsy_evidence_likelihood(&lb, s->b, y, NULL) != HSY_OK)
        return -HUGE_VAL;
    return la + lb;
}

/* The last point above `low` on the ray at this angle: the logarithm of the
 * likelihood is concave, so that there is one. */
static void plot_ray(double at[2], const struct plot_surface *s, double angle,
                     double low)
{
    const double dx = s->reach[0] * cos(angle), dy = s->reach[1] * sin(angle);
    double inside = 0, outside = 1e6;

    for (int i = 0; i < 100; i++) {
        const double middle = (inside + outside) / 2;

        if (plot_height(s, s->best[0] + middle * dx,
                        s->best[1] + middle * dy) >= low)
            inside = middle;
        else
            outside = middle;
    }
    at[0] = s->best[0] + inside * dx;
    at[1] = s->best[1] + inside * dy;
}

struct plot_curve {
    double x[PLOT_AROUND], y[PLOT_AROUND];
};

static void plot_around(struct plot_curve *c, const struct plot_surface *s,
                        double low)
{
    for (size_t i = 0; i < PLOT_AROUND; i++) {
        double at[2];

        plot_ray(at, s, plot_turn * (double)i / (PLOT_AROUND - 1), low);
        c->x[i] = at[0];
        c->y[i] = at[1];
    }
}

static struct plot_series plot_series_of(enum plot_style style, unsigned colour,
                                         const char *name, size_t n,
                                         const double *x, const double *y)
{
    return (struct plot_series){
        .name = name, .style = style, .colour = colour, .n = n, .x = x, .y = y};
}

/* What the figure shows besides the curves. */
struct plot_texts {
    char note[160], names[6][120];
    char labels[2][SURVEY_NAME_MAX + 32];
};

static void plot_words(struct plot_texts *t, const struct survey_rows *s)
{
    const hsy_survey_test *test = &s->test;

    snprintf(t->note, sizeof t->note,
             "likelihood ratio of equal shares %.4g, p-value %.3g",
             test->statistic, test->p_value);
    snprintf(t->names[0], 120, "50 %% region of both shares");
    snprintf(t->names[1], 120, "%.6g %% region", 100 * s->level);
    snprintf(t->names[2], 120, "as likely as the best equal shares");
    snprintf(t->names[3], 120, "equal shares");
    snprintf(t->names[4], 120, "most likely: %.4g and %.4g", s->rows[0].r.mle,
             s->rows[1].r.mle);
    snprintf(t->names[5], 120, "most likely if equal: %.4g", test->pooled);
    for (size_t i = 0; i < 2; i++)
        snprintf(t->labels[i], sizeof t->labels[i], "share of yes, group %s",
                 s->rows[i].name);
}

/* The diagonal, across what the curves take. */
static void plot_diagonal(double ends[2], const struct plot_curve *curves,
                          size_t n, double pooled)
{
    ends[0] = ends[1] = pooled;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < PLOT_AROUND; i++) {
            ends[0] = fmin(ends[0], fmin(curves[k].x[i], curves[k].y[i]));
            ends[1] = fmax(ends[1], fmax(curves[k].x[i], curves[k].y[i]));
        }
}

/* The regions of both shares, and what is as likely as the best equal ones. */
static void plot_curves(struct plot_curve curves[3],
                        const struct survey_rows *s)
{
    const struct survey_row *rows = s->rows;
    const struct plot_surface surface = {
        &rows[0].point,
        &rows[1].point,
        {rows[0].r.mle, rows[1].r.mle},
        {rows[0].r.sd > 0 ? rows[0].r.sd : 1e-3,
         rows[1].r.sd > 0 ? rows[1].r.sd : 1e-3}};

    plot_around(&curves[0], &surface, -hsy_chi2_quantile(0.5, 2) / 2);
    plot_around(&curves[1], &surface, -hsy_chi2_quantile(s->level, 2) / 2);
    plot_around(&curves[2], &surface, -s->test.statistic / 2);
}

static hsy_status plot_two(char **svg, size_t *len, const struct survey_rows *s,
                           hsy_error *err)
{
    struct plot_curve c[3];
    struct plot_texts t;
    double line[2];
    const struct plot_series series[] = {
        plot_series_of(PLOT_CURVE, 1, t.names[0], PLOT_AROUND, c[0].x, c[0].y),
        plot_series_of(PLOT_CURVE, 2, t.names[1], PLOT_AROUND, c[1].x, c[1].y),
        plot_series_of(PLOT_DASHED, 0, t.names[2], PLOT_AROUND, c[2].x, c[2].y),
        plot_series_of(PLOT_CURVE, 7, t.names[3], 2, line, line),
        plot_series_of(PLOT_POINTS, 1, t.names[4], 1, &s->rows[0].r.mle,
                       &s->rows[1].r.mle),
        plot_series_of(PLOT_POINTS, 0, t.names[5], 1, &s->test.pooled,
                       &s->test.pooled)};
    const struct plot_figure figure = {
        .title = "Which two shares are likely",
        .note = t.note,
        .about = "The shares of two groups against each other. Around the most "
                 "likely pair stand curves of equal likelihood. The curve "
                 "through the most likely pair of equal shares touches the "
                 "line of equal shares there; the further down it lies, the "
                 "less likely it is that the groups are alike.",
        .x = {.label = t.labels[0]},
        .y = {.label = t.labels[1]},
        .series = series,
        .nseries = sizeof series / sizeof series[0]};

    plot_words(&t, s);
    plot_curves(c, s);
    plot_diagonal(line, c, 3, s->test.pooled);
    return plot_svg(svg, len, &figure, err);
}

/* A design as it stands on the command line, "--spinner 0.7". */
static void plot_design(char text[64], const struct survey_design *d)
{
    const char *name = d->kind->name;

    if (d->kind->chances == 1)
        snprintf(text, 64, "--%s %.9g", name, d->chance[0]);
    else
        snprintf(text, 64, "--%s %.9g,%.9g", name, d->chance[0], d->chance[1]);
}

static hsy_status plot_one(char **svg, size_t *len, const struct survey_rows *s,
                           hsy_error *err)
{
    char note[120], design[64];
    const struct plot_likelihood what = {
        .title = "Which share is likely",
        .about = "The likelihood of each share of yes, and its logarithm, "
                 "relative to the most likely one. The shares above the cut "
                 "are the likelihood interval.",
        .note = note,
        .label = "share of yes",
        .point = &s->rows[0].point,
        .level = s->level};

    plot_design(design, s->design);
    snprintf(note, sizeof note, "%.9g of %.9g said yes, %s",
             s->rows[0].yes_worth, s->rows[0].n_worth, design);
    return plot_likelihood_svg(svg, len, &what, err);
}

static hsy_status plot_many(char **svg, size_t *len,
                            const struct survey_rows *s, hsy_error *err)
{
    struct plot_named named[SURVEY_GROUPS_MAX];
    char note[120];
    const struct plot_list list = {
        .title = "Shares of yes by group",
        .about = "The share of yes in each group with its Wilson interval.",
        .note = note,
        .label = "share of yes",
        .named = named,
        .n = s->count,
        .points = true};

    for (size_t i = 0; i < s->count; i++) {
        const hsy_survey_result *r = &s->rows[i].r;

        named[i] = (struct plot_named){s->rows[i].name, r->mle, r->wilson[0],
                                       r->wilson[1]};
    }
    snprintf(note, sizeof note,
             "%.6g %% intervals (Wilson); p-value of equal shares: %.3g",
             100 * s->level, s->test.p_value);
    return plot_list_svg(svg, len, &list, err);
}

hsy_status survey_plot(char **svg, size_t *len, const struct survey_rows *s,
                       hsy_error *err)
{
    return s->count == 1   ? plot_one(svg, len, s, err)
           : s->count == 2 ? plot_two(svg, len, s, err)
                           : plot_many(svg, len, s, err);
}

hsy_status survey_plot_matrix(char **svg, size_t *len,
                              const struct survey_matrix *m,
                              const struct labels *labels, double level,
                              hsy_error *err)
{
    struct plot_named named[HSY_MATRIX_MAX];
    char names[HSY_MATRIX_MAX][64], note[80];
    const struct plot_list list = {
        .title = "Shares behind the answers",
        .about = "The most likely share of each truth with its Wald interval.",
        .note = note,
        .label = "share",
        .named = named,
        .n = m->d};

    for (size_t i = 0; i < m->d; i++) {
        double ends[2];

        snprintf(names[i], sizeof names[i], "%zu", i);
        if (labels->d != 0) {
            size_t size;
            const char *text = labels_at(labels, (uint32_t)i, &size);

            snprintf(names[i], sizeof names[i], "%.*s",
                     (int)(size < 63 ? size : 63), text);
        }
        survey_matrix_wald(ends, m, i, level);
        named[i] =
            (struct plot_named){names[i], m->shares.mle[i], ends[0], ends[1]};
    }
    snprintf(note, sizeof note, "%.0f answers, %.6g %% intervals", m->n,
             100 * level);
    return plot_list_svg(svg, len, &list, err);
}
