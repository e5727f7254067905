/* internal.h - what the files of a figure share. */
#ifndef HOST_PLOT_INTERNAL_H
#define HOST_PLOT_INTERNAL_H

#include "host/base/host_fail.h"
#include "host/base/written.h"
#include "host/plot/plot.h"

/* ---- Text (svg_text.c) --------------------------------------------------- */

/* Text as XML's character data and attributes have it. */
void plot_put_escaped(FILE *t, const char *text);

/* Columns that it takes, two for a wide character; `most` if it takes more. */
size_t plot_columns(const char *text, size_t most);

/* As plot_put_escaped up to so many columns; what is cut off leaves an
 * ellipsis. */
void plot_put_cut(FILE *t, const char *text, size_t columns);

/* ---- Parts of a document (svg.c) ----------------------------------------- */

#define PLOT_WIDTH 720.0

/* Everything up to the paper; a text at a place, with more attributes; what
 * stands above the frame, below `top`. */
void plot_open(FILE *t, double height, const char *title, const char *about);
void plot_label(FILE *t, double x, double y, const char *more,
                const char *text);
void plot_head(FILE *t, double x, double top, const char *title,
               const char *note);

/* A mark of a colour's own. */
void plot_mark(FILE *t, unsigned colour, double x, double y);

/* HSY_E_RANGE with a field and the number of what it is about. */
hsy_status plot_refuse(hsy_error *err, const char *msg, uint32_t field,
                       size_t number);

/* ---- Axes (axis.c) ------------------------------------------------------- */

#define PLOT_TICKS_MAX 32u
#define PLOT_TICK_TEXT 24u

/* An axis that is as long as its values need, and where numbers stand on it. */
struct plot_scale {
    bool log;
    double low, high; /* of a logarithmic axis: their logarithms to base 10 */
    size_t nticks;
    double ticks[PLOT_TICKS_MAX]; /* from 0, at low, to 1, at high */
    char texts[PLOT_TICKS_MAX][PLOT_TICK_TEXT];
};

/* least and most are the ends of the values, least > most if there are none;
 * of a logarithmic axis they are positive. */
void plot_scale_fit(struct plot_scale *s, const struct plot_axis *axis,
                    double least, double most);

/* Where a value stands, from 0 to 1. */
double plot_scale_at(const struct plot_scale *s, double value);

#endif
