/* plot_parts.h - what the files of a figure share. */
#ifndef PLOT_PARTS_H
#define PLOT_PARTS_H

#include "plot.h"

/* ---- Text that grows (plot_text.c) --------------------------------------- */

/* Zero it to begin. After a failure nothing more is added. */
struct plot_text {
    char *bytes; /* owned */
    size_t len, room;
    bool failed; /* out of memory */
};

void plot_put(struct plot_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Text as XML's character data and attributes have it. */
void plot_put_escaped(struct plot_text *t, const char *text);

/* ---- Axes (plot_axis.c) -------------------------------------------------- */

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
