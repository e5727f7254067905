/*
 * list_plot.c - named values one below the other, each with its interval.
 *
 * Names stand to the left of their bars and may be as long as they like: what
 * does not fit is cut. The figure is as high as its values need.
 */
#include "host/plot/internal.h"

#include <math.h>

#define LIST_LEFT 226.0
#define LIST_RIGHT 30.0
#define LIST_TOP 52.0
#define LIST_ROW 24.0
#define LIST_BELOW 56.0 /* numbers and label of the axis */
#define LIST_NAME 30u   /* columns of a name */
#define LIST_BAR 14.0   /* height of a bar */
#define LIST_CAP 4.0    /* half the height of an error bar's end */

/* An interval moves the ends of the axis; one of NaNs is none. False if it is
 * no interval at all. */
static bool list_reach(double *least, double *most, double low, double high)
{
    if (isnan(low) && isnan(high))
        return true;
    *least = fmin(*least, low);
    *most = fmax(*most, high);
    return fabs(low) <= PLOT_VALUE_MAX && fabs(high) <= PLOT_VALUE_MAX;
}

static hsy_status list_fit(struct plot_scale *scale,
                           const struct plot_list *list, hsy_error *err)
{
    const struct plot_axis axis = {.label = list->label};
    double least = list->points ? HUGE_VAL : 0;
    double most = list->points ? -HUGE_VAL : 0;

    if (list->n > PLOT_NAMED_MAX)
        return plot_refuse(err, "too many values", HOST_FIELD_NAMED, list->n);
    for (size_t i = 0; i < list->n; i++) {
        const struct plot_named *v = &list->named[i];
        const struct plot_further *w =
            list->further != NULL ? &list->further[i] : NULL;

        if (!(fabs(v->value) <= PLOT_VALUE_MAX) ||
            !list_reach(&least, &most, v->low, v->high) ||
            (w != NULL && !list_reach(&least, &most, w->low, w->high)))
            return plot_refuse(err, "a value is no number of at most 1e300",
                               HOST_FIELD_NAMED, i + 1);
        if (v->low > v->high || (w != NULL && w->low > w->high))
            return plot_refuse(err, "an interval's low end is above its high",
                               HOST_FIELD_NAMED, i + 1);
        least = fmin(least, v->value);
        most = fmax(most, v->value);
    }
    plot_scale_fit(scale, &axis, least, most);
    return HSY_OK;
}

static double list_x(const struct plot_scale *scale, double value)
{
    return LIST_LEFT +
           plot_scale_at(scale, value) * (PLOT_WIDTH - LIST_LEFT - LIST_RIGHT);
}

static void list_axis(struct plot_text *t, const struct plot_scale *scale,
                      const char *label, double bottom)
{
    const double width = PLOT_WIDTH - LIST_LEFT - LIST_RIGHT;

    for (size_t i = 0; i < scale->nticks; i++) {
        const double x = LIST_LEFT + scale->ticks[i] * width;

        plot_put(t, "<path class=\"rule\" d=\"M%.1f %.1fV%.1f\"/>\n", x,
                 LIST_TOP, bottom);
        plot_label(t, x, bottom + 18, " text-anchor=\"middle\"",
                   scale->texts[i]);
    }
    plot_label(t, LIST_LEFT + width / 2, bottom + 40, " text-anchor=\"middle\"",
               label);
}

/* The pale interval, and the other with its caps. */
static void list_intervals(struct plot_text *t, const struct plot_scale *scale,
                           const struct plot_list *list, size_t i, double y)
{
    const struct plot_named *v = &list->named[i];
    const struct plot_further *w = list->further;

    if (w != NULL && !isnan(w[i].low))
        plot_put(t,
                 "<path class=\"f0 further\" opacity=\".35\" d=\"M%.1f "
                 "%.1fH%.1fv%.1fH%.1fz\"/>\n",
                 list_x(scale, w[i].low), y - LIST_CAP,
                 list_x(scale, w[i].high), 2 * LIST_CAP,
                 list_x(scale, w[i].low));
    if (!isnan(v->low))
        plot_put(t,
                 "<path class=\"frame\" d=\"M%.1f %.1fv%.1fm0 %.1fH%.1fm0 "
                 "%.1fv%.1f\"/>\n",
                 list_x(scale, v->low), y - LIST_CAP, 2 * LIST_CAP, -LIST_CAP,
                 list_x(scale, v->high), -LIST_CAP, 2 * LIST_CAP);
}

static void list_row(struct plot_text *t, const struct plot_scale *scale,
                     const struct plot_list *list, size_t i)
{
    const struct plot_named *v = &list->named[i];
    const double y = LIST_TOP + LIST_ROW * ((double)i + 0.5);
    const double x = list_x(scale, v->value);

    plot_put(t,
             "<text class=\"ink\" x=\"%.1f\" y=\"%.1f\" "
             "text-anchor=\"end\">",
             LIST_LEFT - 8, y + 4.5);
    plot_put_cut(t, v->name, LIST_NAME);
    plot_put(t, "</text>\n");
    if (!list->points)
        plot_put(t,
                 "<path class=\"f1\" opacity=\".6\" d=\"M%.1f "
                 "%.1fH%.1fv%.1fH%.1fz\"/>\n",
                 list_x(scale, 0), y - LIST_BAR / 2, x, LIST_BAR,
                 list_x(scale, 0));
    list_intervals(t, scale, list, i, y);
    if (list->points)
        plot_mark(t, 1, x, y);
}

hsy_status plot_list_svg(char **svg, size_t *len, const struct plot_list *list,
                         hsy_error *err)
{
    const double bottom = LIST_TOP + LIST_ROW * (double)list->n;
    struct plot_text t = {0};
    struct plot_scale scale;
    hsy_status st = list_fit(&scale, list, err);

    if (st != HSY_OK)
        return st;
    plot_open(&t, bottom + LIST_BELOW, list->title, list->about);
    plot_head(&t, 16, 0, list->title, list->note);
    list_axis(&t, &scale, list->label, bottom);
    for (size_t i = 0; i < list->n; i++)
        list_row(&t, &scale, list, i);
    if (!list->points)
        plot_put(&t, "<path class=\"frame\" d=\"M%.1f %.1fV%.1f\"/>\n",
                 list_x(&scale, 0), LIST_TOP, bottom);
    return plot_close(&t, svg, len, err);
}
