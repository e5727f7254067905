/*
 * list_plot.c - named values one below the other, each with its interval.
 *
 * Names stand to the left of their bars, which leave them the room they need,
 * up to some half of the figure: what does not fit is cut. The figure is as
 * high as its values need.
 */
#include "host/plot/internal.h"

#include <math.h>

#define LIST_MARGIN 16.0
#define LIST_COLUMN 7.0 /* of a name's letter, about */
#define LIST_RIGHT 30.0
#define LIST_TOP 52.0
#define LIST_ROW 24.0
#define LIST_BELOW 56.0 /* numbers and label of the axis */
#define LIST_SHORT 10u  /* columns that any name gets, */
#define LIST_LONG 44u   /* and that the longest gets */
#define LIST_BAR 14.0   /* height of a bar */
#define LIST_CAP 4.0    /* half the height of an error bar's end */

/* What a list becomes. */
struct list {
    const struct plot_list *what;
    struct plot_scale scale;
    size_t columns; /* of the longest name, as it is shown */
    double left;    /* where bars begin */
};

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

static void list_names(struct list *l)
{
    l->columns = LIST_SHORT;
    for (size_t i = 0; i < l->what->n; i++) {
        const size_t columns = plot_columns(l->what->named[i].name, LIST_LONG);

        if (columns > l->columns)
            l->columns = columns;
    }
    l->left = LIST_MARGIN + LIST_COLUMN * (double)l->columns;
}

static hsy_status list_fit(struct list *l, hsy_error *err)
{
    const struct plot_list *list = l->what;
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
    plot_scale_fit(&l->scale, &axis, least, most);
    list_names(l);
    return HSY_OK;
}

static double list_x(const struct list *l, double value)
{
    return l->left + plot_scale_at(&l->scale, value) *
                         (PLOT_WIDTH - l->left - LIST_RIGHT);
}

static void list_axis(FILE *t, const struct list *l, double bottom)
{
    const double width = PLOT_WIDTH - l->left - LIST_RIGHT;
    const struct plot_scale *scale = &l->scale;

    for (size_t i = 0; i < scale->nticks; i++) {
        const double x = l->left + scale->ticks[i] * width;

        fprintf(t, "<path class=\"rule\" d=\"M%.1f %.1fV%.1f\"/>\n", x,
                LIST_TOP, bottom);
        plot_label(t, x, bottom + 18, " text-anchor=\"middle\"",
                   scale->texts[i]);
    }
    plot_label(t, l->left + width / 2, bottom + 40, " text-anchor=\"middle\"",
               l->what->label);
}

/* The pale interval, and the other with its caps. */
static void list_intervals(FILE *t, const struct list *l, size_t i, double y)
{
    const struct plot_named *v = &l->what->named[i];
    const struct plot_further *w = l->what->further;

    if (w != NULL && !isnan(w[i].low))
        fprintf(t,
                "<path class=\"f0 further\" opacity=\".35\" d=\"M%.1f "
                "%.1fH%.1fv%.1fH%.1fz\"/>\n",
                list_x(l, w[i].low), y - LIST_CAP, list_x(l, w[i].high),
                2 * LIST_CAP, list_x(l, w[i].low));
    if (!isnan(v->low))
        fprintf(t,
                "<path class=\"frame\" d=\"M%.1f %.1fv%.1fm0 %.1fH%.1fm0 "
                "%.1fv%.1f\"/>\n",
                list_x(l, v->low), y - LIST_CAP, 2 * LIST_CAP, -LIST_CAP,
                list_x(l, v->high), -LIST_CAP, 2 * LIST_CAP);
}

static void list_row(FILE *t, const struct list *l, size_t i)
{
    const struct plot_named *v = &l->what->named[i];
    const bool points = l->what->points;
    const double y = LIST_TOP + LIST_ROW * ((double)i + 0.5);
    const double x = list_x(l, v->value);

    fprintf(t,
            "<text class=\"ink\" x=\"%.1f\" y=\"%.1f\" "
            "text-anchor=\"end\">",
            l->left - 8, y + 4.5);
    plot_put_cut(t, v->name, l->columns);
    fputs("</text>\n", t);
    if (!points)
        fprintf(t,
                "<path class=\"f1\" opacity=\".6\" d=\"M%.1f "
                "%.1fH%.1fv%.1fH%.1fz\"/>\n",
                list_x(l, 0), y - LIST_BAR / 2, x, LIST_BAR, list_x(l, 0));
    list_intervals(t, l, i, y);
    if (points)
        plot_mark(t, 1, x, y);
}

hsy_status plot_list_svg(char **svg, size_t *len, const struct plot_list *list,
                         hsy_error *err)
{
    const double bottom = LIST_TOP + LIST_ROW * (double)list->n;
    struct written w;
    struct list l = {.what = list};
    hsy_status st = list_fit(&l, err);

    if (st != HSY_OK)
        return st;
    if (!written_open(&w))
        return host_nomem(err);
    plot_open(w.to, bottom + LIST_BELOW, list->title, list->about);
    plot_head(w.to, 16, 0, list->title, list->note);
    list_axis(w.to, &l, bottom);
    for (size_t i = 0; i < list->n; i++)
        list_row(w.to, &l, i);
    if (!list->points)
        fprintf(w.to, "<path class=\"frame\" d=\"M%.1f %.1fV%.1f\"/>\n",
                list_x(&l, 0), LIST_TOP, bottom);
    fputs("</svg>\n", w.to);
    return written_close(&w, svg, len, err);
}
