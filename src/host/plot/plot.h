/*
 * plot.h - figures as SVG, from series of numbers.
 *
 * A figure is a frame with two axes and any number of series in it. The same
 * figure always gives the same bytes. It can be read in light and in dark
 * surroundings (the reader's preference decides), without colours (lines differ
 * in their marks), and aloud (title and description); it needs no font of its
 * own, no script and nothing from elsewhere.
 */
#ifndef HOST_PLOT_PLOT_H
#define HOST_PLOT_PLOT_H

#include "hearsay.h"

#define PLOT_COLOURS 8u
#define PLOT_SERIES_MAX 64u
#define PLOT_VALUE_MAX 1e300 /* magnitude of a value */

/* An interval that lies pale behind another, low <= high; NaN in both: none. */
struct plot_further {
    double low, high;
};

enum plot_style {
    PLOT_LINE = 0, /* a line with a mark at each point */
    PLOT_DASHED,   /* a dashed line without marks: what theory says */
    PLOT_POINTS,   /* marks alone */
    PLOT_BARS,     /* bars from 0 to y; what is a band else are error bars */
    PLOT_CURVE     /* a line without marks */
};

struct plot_series {
    const char *name;      /* in the legend; NULL: it has no place there */
    enum plot_style style; /* how it is drawn */
    unsigned colour;       /* below PLOT_COLOURS; its mark goes with it */
    size_t n;              /* points; with 0 only the legend shows it */
    const double *x, *y;
    const double *low, *high; /* a band along it, low <= high; both or none */
    double width;             /* of each bar on the x axis, x in its middle */

    /* Of bars alone, n of them; NULL: none. And NaN in low and high leaves a
     * bar without an error bar. */
    const struct plot_further *further;
};

struct plot_axis {
    const char *label;
    bool log;
    double low, high; /* both 0: what the series need */
};

/* Texts are UTF-8; what is none, and what XML cannot hold, is shown as U+FFFD.
 * They may hold any sign: all are escaped. */
struct plot_figure {
    const char *title;
    const char *about; /* what is to be seen, for those who cannot see it */
    const char *note;  /* a line below the title; NULL: none */
    struct plot_axis x, y;
    const struct plot_series *series;
    size_t nseries;
};

/*
 * The figure as a whole SVG document of *len bytes, to be freed with free().
 * HSY_E_RANGE with the series (from 1) in err->at if a value is not finite,
 * too large, not positive on a logarithmic axis, or outside an axis whose ends
 * are given, or if bars have no width or a logarithmic axis; HSY_E_NOMEM.
 */
hsy_status plot_svg(char **svg, size_t *len, const struct plot_figure *figure,
                    hsy_error *err);

/* More of a text for a figure, as far as its room goes. */
void plot_more(char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define PLOT_STACK_MAX 4u

/* Up to so many figures one below the other in one document, whose title and
 * description are those of the first. As plot_svg. */
hsy_status plot_stack_svg(char **svg, size_t *len,
                          const struct plot_figure *figures, size_t n,
                          hsy_error *err);

/*
 * How likely each share makes the reports of a point (its n, support, p and q
 * are read): the likelihood above, its logarithm below, both relative to their
 * top, around the most likely share, with the cut that leaves the likelihood
 * interval of this level. Of the texts only note may be NULL; label is that of
 * the share.
 */
struct plot_likelihood {
    const char *title, *about, *note, *label;
    const hsy_evidence *point;
    double level; /* 0 < level < 1 */
};

/* As plot_svg; HSY_E_EMPTY and HSY_E_RANGE also where hsy_estimate_point has
 * no likelihood interval. */
hsy_status plot_likelihood_svg(char **svg, size_t *len,
                               const struct plot_likelihood *what,
                               hsy_error *err);

#define PLOT_NAMED_MAX 100u

/* A value with its interval, low <= high; NaN in both: it has none. */
struct plot_named {
    const char *name; /* what is too long for its place is cut */
    double value, low, high;
};

/* Named values one below the other, each a bar from 0 with an error bar, or,
 * if points is set, a mark with one: then the axis need not show 0. */
struct plot_list {
    const char *title, *about, *note; /* as in a figure */
    const char *label;                /* of the axis */
    const struct plot_named *named;
    const struct plot_further *further; /* n of them; NULL: none */
    size_t n;
    bool points;
};

/* As plot_svg; err->at is the value (from 1) that is no number of at most
 * 1e300 or has a low end above its high, or PLOT_NAMED_MAX are passed. */
hsy_status plot_list_svg(char **svg, size_t *len, const struct plot_list *list,
                         hsy_error *err);

/* A document of the above as PNG, of *len bytes, to be freed with free(); in
 * light colours. HSY_E_UNKNOWN: librsvg is not installed; HSY_E_RANGE: too
 * large; HSY_E_NOMEM. */
hsy_status plot_png(uint8_t **png, size_t *len, const char *svg, size_t svg_len,
                    hsy_error *err);

#endif
