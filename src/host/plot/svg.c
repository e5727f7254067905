/*
 * svg.c - figures as an SVG document.
 *
 * Coordinates are tenths of a pixel, so the same figure gives the same bytes
 * wherever it is drawn. Colours are classes, which a style sheet inside the
 * document gives one meaning in light surroundings and another in dark ones.
 */
#include "host/plot/internal.h"

#include <math.h>

#define SVG_LEFT 76.0
#define SVG_RIGHT 30.0
#define SVG_TOP 48.0
#define SVG_HEIGHT 330.0 /* of the frame */
#define SVG_BELOW 62.0   /* numbers and label of the x axis */
#define SVG_LEGEND_ROW 22.0
#define SVG_LEGEND_COLUMNS 2u

struct svg_frame {
    struct plot_scale x, y;
    double top; /* of its part of the document */
    double end; /* of that part */
};

static double svg_x(const struct svg_frame *f, double value)
{
    return SVG_LEFT +
           plot_scale_at(&f->x, value) * (PLOT_WIDTH - SVG_LEFT - SVG_RIGHT);
}

static double svg_y(const struct svg_frame *f, double value)
{
    return f->top + SVG_TOP + (1 - plot_scale_at(&f->y, value)) * SVG_HEIGHT;
}

/* ---- What is refused ----------------------------------------------------- */

hsy_status plot_refuse(hsy_error *err, const char *msg, uint32_t field,
                       size_t number)
{
    return host_fail_at(err, HSY_E_RANGE, field, msg, HSY_UNIT_SERIES, number);
}

/* The ends of an axis' values so far. */
struct svg_ends {
    double least, most;
};

static hsy_status svg_check_axis(const struct plot_axis *axis, uint32_t field,
                                 hsy_error *err)
{
    if (axis->low == 0 && axis->high == 0)
        return HSY_OK;
    if (!(fabs(axis->low) <= PLOT_VALUE_MAX) ||
        !(fabs(axis->high) <= PLOT_VALUE_MAX) || axis->low >= axis->high)
        return plot_refuse(err, "an axis goes from a number to a larger one",
                           field, 0);
    if (axis->log && axis->low <= 0)
        return plot_refuse(err, "a logarithmic axis begins above 0", field, 0);
    return HSY_OK;
}

static hsy_status svg_check(struct svg_ends *ends, const struct plot_axis *axis,
                            uint32_t field, const double *values, size_t n,
                            size_t series, hsy_error *err)
{
    bool given = axis->low != 0 || axis->high != 0;

    for (size_t i = 0; i < n; i++) {
        double v = values[i];

        if (!(fabs(v) <= PLOT_VALUE_MAX)) /* NaN included */
            return plot_refuse(err, "a value is no number of at most 1e300",
                               field, series);
        if (axis->log && v <= 0)
            return plot_refuse(err, "a logarithmic axis has no place for 0",
                               field, series);
        if (given && (v < axis->low || v > axis->high))
            return plot_refuse(err, "a value is outside the axis", field,
                               series);
        ends->least = v < ends->least ? v : ends->least;
        ends->most = v > ends->most ? v : ends->most;
    }
    return HSY_OK;
}

/* Bars have two sides, and stand on 0. */
static hsy_status svg_check_bars(struct svg_ends ends[2],
                                 const struct plot_figure *fig, size_t i,
                                 hsy_error *err)
{
    const struct plot_series *s = &fig->series[i];
    const double zero = 0;
    hsy_status st = svg_check(&ends[1], &fig->y, HOST_FIELD_AXIS_Y, &zero,
                              s->n != 0, i + 1, err);

    if (!(s->width > 0) || fig->x.log)
        return plot_refuse(err, "bars need a width on a linear axis",
                           HSY_FIELD_WIDTH, i + 1);
    for (size_t k = 0; k < s->n && st == HSY_OK; k++) {
        const double sides[] = {s->x[k] - s->width / 2, s->x[k] + s->width / 2};

        st = svg_check(&ends[0], &fig->x, HOST_FIELD_AXIS_X, sides, 2, i + 1,
                       err);
    }
    return st;
}

/* The two ends of an interval, or NaN in both: it is not there. */
static hsy_status svg_check_interval(struct svg_ends *ends,
                                     const struct plot_figure *fig, double low,
                                     double high, size_t series, hsy_error *err)
{
    const double both[] = {low, high};

    if (isnan(low) && isnan(high))
        return HSY_OK;
    if (low > high)
        return plot_refuse(err, "a band's low side is above its high side",
                           HSY_FIELD_NONE, series);
    return svg_check(ends, &fig->y, HOST_FIELD_LOW, both, 2, series, err);
}

/* Error bars, and what lies behind them. */
static hsy_status svg_check_errors(struct svg_ends *ends,
                                   const struct plot_figure *fig, size_t i,
                                   hsy_error *err)
{
    const struct plot_series *s = &fig->series[i];
    hsy_status st = HSY_OK;

    for (size_t k = 0; k < s->n && st == HSY_OK; k++) {
        if (s->low != NULL)
            st = svg_check_interval(ends, fig, s->low[k], s->high[k], i + 1,
                                    err);
        if (st == HSY_OK && s->further != NULL)
            st = svg_check_interval(ends, fig, s->further[k].low,
                                    s->further[k].high, i + 1, err);
    }
    return st;
}

static hsy_status svg_check_band(struct svg_ends *ends,
                                 const struct plot_figure *fig, size_t i,
                                 hsy_error *err)
{
    const struct plot_series *s = &fig->series[i];
    hsy_status st =
        svg_check(ends, &fig->y, HOST_FIELD_LOW, s->low, s->n, i + 1, err);

    if (st == HSY_OK)
        st = svg_check(ends, &fig->y, HOST_FIELD_HIGH, s->high, s->n, i + 1,
                       err);
    for (size_t k = 0; st == HSY_OK && k < s->n; k++)
        if (s->low[k] > s->high[k])
            st = plot_refuse(err, "a band's low side is above its high side",
                             HSY_FIELD_NONE, i + 1);
    return st;
}

static hsy_status svg_check_series(struct svg_ends ends[2],
                                   const struct plot_figure *fig, size_t i,
                                   hsy_error *err)
{
    const struct plot_series *s = &fig->series[i];
    hsy_status st =
        svg_check(&ends[0], &fig->x, HOST_FIELD_AXIS_X, s->x, s->n, i + 1, err);

    if (s->colour >= PLOT_COLOURS || s->style > PLOT_CURVE)
        return plot_refuse(err, "no such colour or style", HSY_FIELD_NONE,
                           i + 1);
    if ((s->low == NULL) != (s->high == NULL))
        return plot_refuse(err, "a band has two sides", HSY_FIELD_NONE, i + 1);
    if (st == HSY_OK)
        st = svg_check(&ends[1], &fig->y, HOST_FIELD_AXIS_Y, s->y, s->n, i + 1,
                       err);
    if (st == HSY_OK && s->style == PLOT_BARS)
        st = svg_check_errors(&ends[1], fig, i, err);
    else if (st == HSY_OK && s->low != NULL)
        st = svg_check_band(&ends[1], fig, i, err);
    return st == HSY_OK && s->style == PLOT_BARS
               ? svg_check_bars(ends, fig, i, err)
               : st;
}

static hsy_status svg_fit(struct svg_frame *f, const struct plot_figure *fig,
                          hsy_error *err)
{
    struct svg_ends ends[2] = {{HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, -HUGE_VAL}};
    hsy_status st = svg_check_axis(&fig->x, HOST_FIELD_AXIS_X, err);
    size_t named = 0;

    if (st == HSY_OK)
        st = svg_check_axis(&fig->y, HOST_FIELD_AXIS_Y, err);
    if (fig->nseries > PLOT_SERIES_MAX)
        return plot_refuse(err, "too many series", HSY_FIELD_NONE,
                           fig->nseries);
    for (size_t i = 0; st == HSY_OK && i < fig->nseries; i++) {
        st = svg_check_series(ends, fig, i, err);
        named += fig->series[i].name != NULL;
    }
    if (st != HSY_OK)
        return st;
    plot_scale_fit(&f->x, &fig->x, ends[0].least, ends[0].most);
    plot_scale_fit(&f->y, &fig->y, ends[1].least, ends[1].most);
    named = (named + SVG_LEGEND_COLUMNS - 1) / SVG_LEGEND_COLUMNS;
    f->end = f->top + SVG_TOP + SVG_HEIGHT + SVG_BELOW +
             SVG_LEGEND_ROW * (double)named;
    return HSY_OK;
}

/* ---- Style --------------------------------------------------------------- */

/* Colours that people with any colour vision tell apart, dark enough for
 * white, and light enough for black. */
static const char *const svg_light[PLOT_COLOURS] = {
    "#c2410c", "#0067a5", "#00795a", "#8f3a84",
    "#7a5a00", "#a01a3c", "#3f46a8", "#565656"};
static const char *const svg_dark[PLOT_COLOURS] = {
    "#ff9a5c", "#62b8f0", "#3ed6a8", "#e59ddb",
    "#e8c14a", "#ff7f9a", "#a3a9ff", "#bdbdbd"};

static void svg_colours(FILE *t, const char *const *colours, const char *paper,
                        const char *ink, const char *rule)
{
    fprintf(t, ".paper{fill:%s}.ink{fill:%s}.frame{stroke:%s}.rule{stroke:%s}",
            paper, ink, ink, rule);
    for (unsigned i = 0; i < PLOT_COLOURS; i++)
        fprintf(t, ".s%u{stroke:%s}.f%u{fill:%s}", i, colours[i], i,
                colours[i]);
}

static void svg_style(FILE *t)
{
    fputs("<style>\n", t);
    svg_colours(t, svg_light, "#ffffff", "#1f2328", "#d8dce1");
    fputs("\n@media (prefers-color-scheme: dark){", t);
    svg_colours(t, svg_dark, "#14171a", "#e6e8ea", "#3a4047");
    fprintf(t, "}\n.line,.frame,.rule{fill:none}.line{stroke-width:1.8}"
               ".band{opacity:.22}\n</style>\n");
}

void plot_open(FILE *t, double height, const char *title, const char *about)
{
    fprintf(t,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
            "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
            "aria-labelledby=\"title about\" "
            "font-family=\"system-ui, sans-serif\" font-size=\"13\">\n",
            PLOT_WIDTH, height, PLOT_WIDTH, height);
    fputs("<title id=\"title\">", t);
    plot_put_escaped(t, title);
    fputs("</title>\n<desc id=\"about\">", t);
    plot_put_escaped(t, about);
    fputs("</desc>\n", t);
    svg_style(t);
    fprintf(t, "<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n",
            PLOT_WIDTH, height);
}

/* ---- Axes ---------------------------------------------------------------- */

void plot_label(FILE *t, double x, double y, const char *more, const char *text)
{
    fprintf(t, "<text class=\"ink\" x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
    plot_put_escaped(t, text);
    fputs("</text>\n", t);
}

void plot_head(FILE *t, double x, double top, const char *title,
               const char *note)
{
    plot_label(t, x, top + (note != NULL ? 22 : 28),
               " font-size=\"16\" font-weight=\"600\"", title);
    if (note != NULL)
        plot_label(t, x, top + 40, " font-size=\"12\"", note);
}

static void svg_axes(FILE *t, const struct svg_frame *f,
                     const struct plot_figure *fig)
{
    const double right = PLOT_WIDTH - SVG_RIGHT, top = f->top + SVG_TOP,
                 bottom = top + SVG_HEIGHT;

    for (size_t i = 0; i < f->x.nticks; i++) {
        double x = SVG_LEFT + f->x.ticks[i] * (right - SVG_LEFT);

        fprintf(t, "<path class=\"rule\" d=\"M%.1f %.1fV%.1f\"/>\n", x, top,
                bottom);
        plot_label(t, x, bottom + 19, " text-anchor=\"middle\"", f->x.texts[i]);
    }
    for (size_t i = 0; i < f->y.nticks; i++) {
        double y = bottom - f->y.ticks[i] * SVG_HEIGHT;

        fprintf(t, "<path class=\"rule\" d=\"M%.1f %.1fH%.1f\"/>\n", SVG_LEFT,
                y, right);
        plot_label(t, SVG_LEFT - 8, y + 4.5, " text-anchor=\"end\"",
                   f->y.texts[i]);
    }
    fprintf(t, "<path class=\"frame\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", SVG_LEFT,
            top, bottom, right);
    plot_head(t, SVG_LEFT, f->top, fig->title, fig->note);
    plot_label(t, (SVG_LEFT + right) / 2, bottom + 42,
               " text-anchor=\"middle\"", fig->x.label);
    fprintf(t,
            "<text class=\"ink\" transform=\"translate(18 %.1f) "
            "rotate(-90)\" text-anchor=\"middle\">",
            top + SVG_HEIGHT / 2);
    plot_put_escaped(t, fig->y.label);
    fputs("</text>\n", t);
}

/* ---- Series -------------------------------------------------------------- */

/* A mark for each colour: those who do not see it see the shape. */
static const char *const svg_marks[PLOT_COLOURS] = {
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z", /* disc */
    "m-3.2-3.2h6.4v6.4h-6.4z",                      /* square */
    "m0-4.2l4.2 7.4h-8.4z",                         /* triangle */
    "m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",            /* diamond */
    "m0 4.2l4.2-7.4h-8.4z",                         /* triangle, upside down */
    "m-1.2-4h2.4v8h-2.4z",                          /* bar */
    "m-1.2-4h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z", /* plus */
    "m-4-1.2h8v2.4h-8z"};                                        /* dash */

void plot_mark(FILE *t, unsigned colour, double x, double y)
{
    fprintf(t, "<path class=\"f%u\" d=\"M%.1f %.1f%s\"/>\n", colour, x, y,
            svg_marks[colour]);
}

static void svg_band(FILE *t, const struct svg_frame *f,
                     const struct plot_series *s)
{
    if (s->low == NULL || s->n == 0)
        return;
    fprintf(t, "<path class=\"band f%u\" d=\"", s->colour);
    for (size_t i = 0; i < s->n; i++)
        fprintf(t, "%c%.1f %.1f", i == 0 ? 'M' : 'L', svg_x(f, s->x[i]),
                svg_y(f, s->high[i]));
    for (size_t i = s->n; i-- > 0;)
        fprintf(t, "L%.1f %.1f", svg_x(f, s->x[i]), svg_y(f, s->low[i]));
    fputs("z\"/>\n", t);
}

/* An error bar, and what lies behind it. */
static void svg_error(FILE *t, const struct svg_frame *f,
                      const struct plot_series *s, size_t i, double middle,
                      double cap)
{
    const struct plot_further *w = s->further;

    if (w != NULL && !isnan(w[i].low))
        fprintf(t,
                "<path class=\"f0 further\" opacity=\".35\" d=\"M%.2f "
                "%.1fV%.1fh%.2fV%.1fz\"/>\n",
                middle - cap, svg_y(f, w[i].low), svg_y(f, w[i].high), 2 * cap,
                svg_y(f, w[i].low));
    if (s->low != NULL && !isnan(s->low[i]))
        fprintf(t,
                "<path class=\"frame\" d=\"M%.2f %.1fh%.2fm%.2f "
                "0V%.1fm%.2f 0h%.2f\"/>\n",
                middle - cap, svg_y(f, s->low[i]), 2 * cap, -cap,
                svg_y(f, s->high[i]), -cap, 2 * cap);
}

/* Bars, and error bars over them. */
static void svg_bars(FILE *t, const struct svg_frame *f,
                     const struct plot_series *s)
{
    const double zero = svg_y(f, 0);

    for (size_t i = 0; i < s->n; i++) {
        const double left = svg_x(f, s->x[i] - s->width / 2),
                     right = svg_x(f, s->x[i] + s->width / 2),
                     cap = fmin(4, (right - left) / 4), y = svg_y(f, s->y[i]);

        fprintf(t,
                "<path class=\"f%u\" opacity=\".6\" d=\"M%.2f "
                "%.1fV%.1fH%.2fV%.1fz\"/>\n",
                s->colour, left, zero, y, right, zero);
        svg_error(t, f, s, i, (left + right) / 2, cap);
    }
}

static const char *svg_dashes(const struct plot_series *s)
{
    return s->style == PLOT_DASHED ? " stroke-dasharray=\"6 4\"" : "";
}

static bool svg_marked(const struct plot_series *s)
{
    return s->style != PLOT_DASHED && s->style != PLOT_CURVE;
}

static void svg_series(FILE *t, const struct svg_frame *f,
                       const struct plot_series *s)
{
    if (s->style == PLOT_BARS) {
        svg_bars(t, f, s);
        return;
    }
    svg_band(t, f, s);
    if (s->style != PLOT_POINTS && s->n > 1) {
        fprintf(t, "<path class=\"line s%u\"%s d=\"", s->colour, svg_dashes(s));
        for (size_t i = 0; i < s->n; i++)
            fprintf(t, "%c%.1f %.1f", i == 0 ? 'M' : 'L', svg_x(f, s->x[i]),
                    svg_y(f, s->y[i]));
        fputs("\"/>\n", t);
    }
    for (size_t i = 0; svg_marked(s) && i < s->n; i++)
        plot_mark(t, s->colour, svg_x(f, s->x[i]), svg_y(f, s->y[i]));
}

static void svg_legend(FILE *t, const struct svg_frame *f,
                       const struct plot_figure *fig)
{
    const double column =
        (PLOT_WIDTH - SVG_LEFT - SVG_RIGHT) / SVG_LEGEND_COLUMNS;
    size_t place = 0;

    for (size_t i = 0; i < fig->nseries; i++) {
        const struct plot_series *s = &fig->series[i];
        double x = SVG_LEFT + column * (double)(place % SVG_LEGEND_COLUMNS);
        double y = f->top + SVG_TOP + SVG_HEIGHT + SVG_BELOW +
                   SVG_LEGEND_ROW * (double)(place / SVG_LEGEND_COLUMNS);

        if (s->name == NULL)
            continue;
        if (s->style != PLOT_POINTS && s->style != PLOT_BARS)
            fprintf(t, "<path class=\"line s%u\"%s d=\"M%.1f %.1fh28\"/>\n",
                    s->colour, svg_dashes(s), x, y);
        if (svg_marked(s))
            plot_mark(t, s->colour, x + 14, y);
        plot_label(t, x + 36, y + 4.5, "", s->name);
        place++;
    }
}

static void svg_draw(FILE *t, const struct svg_frame *f,
                     const struct plot_figure *fig)
{
    svg_axes(t, f, fig);
    for (size_t i = 0; i < fig->nseries; i++)
        svg_series(t, f, &fig->series[i]);
    svg_legend(t, f, fig);
}

hsy_status plot_stack_svg(char **svg, size_t *len,
                          const struct plot_figure *figures, size_t n,
                          hsy_error *err)
{
    struct svg_frame frames[PLOT_STACK_MAX];
    struct written w;

    if (n == 0 || n > PLOT_STACK_MAX)
        return plot_refuse(err, "no figure, or too many for one document",
                           HOST_FIELD_FIGURES, n);
    for (size_t i = 0; i < n; i++) {
        hsy_status st;

        frames[i].top = i > 0 ? frames[i - 1].end : 0;
        st = svg_fit(&frames[i], &figures[i], err);
        if (st != HSY_OK)
            return st;
    }
    if (!written_open(&w))
        return host_nomem(err);
    plot_open(w.to, frames[n - 1].end, figures[0].title, figures[0].about);
    for (size_t i = 0; i < n; i++)
        svg_draw(w.to, &frames[i], &figures[i]);
    fputs("</svg>\n", w.to);
    return written_close(&w, svg, len, err);
}

hsy_status plot_svg(char **svg, size_t *len, const struct plot_figure *figure,
                    hsy_error *err)
{
    return plot_stack_svg(svg, len, figure, 1, err);
}
