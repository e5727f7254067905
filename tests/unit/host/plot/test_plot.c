/* test_plot.c - figures are whole XML, the same each time, and refuse what they
 * cannot show. */
#include "host/plot/internal.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double plot_x[] = {1, 10, 100}, plot_y[] = {0.5, 0.75, 1};
static const double plot_low[] = {0.4, 0.7, 0.9}, plot_high[] = {0.6, 0.8, 1};

static struct plot_series plot_series(void)
{
    return (struct plot_series){.name = "measured",
                                .n = 3,
                                .x = plot_x,
                                .y = plot_y,
                                .low = plot_low,
                                .high = plot_high};
}

static struct plot_figure plot_figure(const struct plot_series *s, size_t n)
{
    return (struct plot_figure){.title = "A title",
                                .about = "What is seen",
                                .x = {.label = "days", .log = true},
                                .y = {.label = "share"},
                                .series = s,
                                .nseries = n};
}

/* ---- A small reader of XML: tags match, nothing is left unescaped -------- */

#define PLOT_DEPTH 32u
#define PLOT_NAME 32u

struct plot_reader {
    const char *at;
    char open[PLOT_DEPTH][PLOT_NAME];
    size_t depth;
    bool bad;
};

static void reader_name(struct plot_reader *r, char name[PLOT_NAME])
{
    size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                             "WXYZ-0123456789");

    r->bad |= n == 0 || n >= PLOT_NAME;
    n = n < PLOT_NAME ? n : PLOT_NAME - 1;
    memcpy(name, r->at, n);
    name[n] = '\0';
    r->at += n;
}

/* Text up to one of the ends; an ampersand begins a number and a semicolon. */
static void reader_text(struct plot_reader *r, const char *ends)
{
    while (*r->at != '\0' && strchr(ends, *r->at) == NULL) {
        if (*r->at == '&') {
            size_t digits = strspn(r->at + 2, "0123456789");

            r->bad |=
                r->at[1] != '#' || digits == 0 || r->at[2 + digits] != ';';
        }
        r->bad |= (unsigned char)*r->at < 0x20 && *r->at != '\n';
        r->at++;
    }
}

static void reader_attributes(struct plot_reader *r)
{
    char name[PLOT_NAME];

    while (*r->at == ' ' && !r->bad) {
        r->at++;
        reader_name(r, name);
        r->bad |= strncmp(r->at, "=\"", 2) != 0;
        r->at += 2;
        reader_text(r, "\"<>");
        r->bad |= *r->at++ != '"';
    }
}

static void reader_tag(struct plot_reader *r)
{
    char name[PLOT_NAME];
    bool closes = *++r->at == '/';

    r->at += closes;
    reader_name(r, name);
    if (closes) {
        r->bad |= r->depth == 0 || strcmp(r->open[r->depth - 1], name) != 0;
        r->depth -= r->depth > 0;
    } else {
        reader_attributes(r);
        if (*r->at == '/')
            r->at++;
        else if (r->depth < PLOT_DEPTH)
            memcpy(r->open[r->depth++], name, PLOT_NAME);
    }
    r->bad |= *r->at++ != '>';
}

static bool reader_whole(const char *svg)
{
    struct plot_reader r = {.at = svg};

    while (*r.at != '\0' && !r.bad) {
        reader_text(&r, "<>\"");
        if (*r.at == '<')
            reader_tag(&r);
        else if (*r.at == '>')
            r.bad = true;
        else if (*r.at == '"')
            r.at++;
    }
    return !r.bad && r.depth == 0;
}

static void plot_reader_is_strict(void)
{
    ok(reader_whole("<a b=\"1\"><c/>x &#38; y</a>\n"), "whole XML is whole");
    ok(!reader_whole("<a><b></a></b>"), "control: tags that cross are seen");
    ok(!reader_whole("<a>x & y</a>"), "control: a bare ampersand is seen");
    ok(!reader_whole("<a b=\"<\"/>"), "control: a bracket in a value is seen");
    ok(!reader_whole("<a>"), "control: a tag left open is seen");
}

/* ---- Figures ------------------------------------------------------------- */

/* The figure's text, to be freed, or NULL. */
static char *plot_drawn(const struct plot_figure *f, hsy_error *err)
{
    char *svg = NULL;
    size_t len = 0;

    if (plot_svg(&svg, &len, f, err) != HSY_OK)
        return NULL;
    ok(svg[len] == '\0' && strlen(svg) == len, "is text of its length");
    ok(reader_whole(svg), "is whole XML");
    ok(strstr(svg, "nan") == NULL && strstr(svg, "inf") == NULL,
       "has no number that is none");
    return svg;
}

static void plot_has_its_parts(void)
{
    const struct plot_series s = plot_series();
    const struct plot_figure f = plot_figure(&s, 1);
    char *a = plot_drawn(&f, NULL), *b = plot_drawn(&f, NULL);

    ok(strcmp(a, b) == 0, "the same figure gives the same bytes");
    ok(strstr(a, "<title id=\"title\">A title</title>") != NULL &&
           strstr(a, "<desc id=\"about\">What is seen</desc>") != NULL,
       "title and description are there to be read aloud");
    ok(strstr(a, "prefers-color-scheme: dark") != NULL, "it knows the dark");
    ok(strstr(a, ">measured</text>") != NULL, "the legend names the series");
    ok(strstr(a, "class=\"band f0\"") != NULL, "a band is drawn");
    ok(strstr(a, "href") == NULL && strstr(a, "url(") == NULL &&
           strstr(a, "@import") == NULL,
       "nothing comes from elsewhere");
    free(a);
    free(b);
}

static void plot_escapes(void)
{
    struct plot_series s = plot_series();
    struct plot_figure f = plot_figure(&s, 1);
    char *svg;

    s.name = "</text><script>\"'&";
    f.title = "a<b & \"c\" > 'd'";
    f.about = "bad \xff\xc3 \xed\xa0\x80 \xef\xbf\xbf \x01 \xc0\x80 end";
    f.x.label = "\xc3\xa9t\xc3\xa9 \xf0\x9f\x8c\x9e";
    svg = plot_drawn(&f, NULL);
    ok(strstr(svg, "<script") == NULL, "no label becomes a tag");
    ok(strstr(svg, "a&#60;b &#38; &#34;c&#34; &#62; &#39;d&#39;") != NULL,
       "five signs are escaped");
    ok(strstr(svg, f.x.label) != NULL, "UTF-8 stays");
    ok(strstr(svg, "\xff") == NULL && strstr(svg, "\xed\xa0") == NULL &&
           strstr(svg, "\xef\xbf\xbf") == NULL && strstr(svg, "\x01") == NULL &&
           strstr(svg, "\\xff\\xc3 ") != NULL &&
           strstr(svg, "\\u{ffff} \\u{1} ") != NULL,
       "what XML cannot hold is shown by its number");
    free(svg);
}

static void plot_draws_the_edges(void)
{
    static const double huge[] = {-1e300, 0, 1e300}, one[] = {7, 7, 7};
    static const double near[] = {1e15, 1e15 + 0.125, 1e15 + 0.25};
    static const double tiny[] = {1e-300, 1, 1e300};
    struct plot_series s = plot_series();
    struct plot_figure f = plot_figure(&s, 1);
    const double *const ys[] = {huge, one, near};
    char *svg;

    s.low = s.high = NULL;
    for (size_t i = 0; i < 3; i++) {
        s.y = ys[i];
        free(plot_drawn(&f, NULL));
    }
    s.y = s.x = tiny;
    f.y.log = true;
    free(plot_drawn(&f, NULL));
    s.n = 0;
    svg = plot_drawn(&f, NULL);
    ok(strstr(svg, ">measured</text>") != NULL && strstr(svg, "M") != NULL,
       "an empty series stands in the legend");
    free(svg);
    f.nseries = 0;
    free(plot_drawn(&f, NULL));
}

static void plot_refused(const struct plot_figure *f, const char *field,
                         uint64_t line, const char *what)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 99;

    ok(plot_svg(&svg, &len, f, &err) == HSY_E_RANGE && svg == NULL &&
           len == 99 && plot_svg(&svg, &len, f, NULL) == HSY_E_RANGE,
       "%s is refused", what);
    ok(err.msg != NULL && err.at == line &&
           (field == NULL || (err.field != HSY_FIELD_NONE &&
                              strcmp(host_field_name(err.field), field) == 0)),
       "and said where");
}

static void plot_refuses(void)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, 1.0000001e300};
    struct plot_series two[2] = {plot_series(), plot_series()};
    struct plot_figure f = plot_figure(two, 2);
    double values[3] = {1, 2, 3};

    two[1].low = two[1].high = NULL;
    for (size_t i = 0; i < 4; i++) {
        values[1] = bad[i];
        two[1].y = values;
        plot_refused(&f, "y", 2, "a y that is no number");
        two[1].y = plot_y;
        two[1].x = values;
        plot_refused(&f, "x", 2, "an x that is no number");
        two[1].x = plot_x;
        two[1].low = values;
        two[1].high = plot_high;
        plot_refused(&f, "low", 2, "a band of no numbers");
        two[1].low = two[1].high = NULL;
    }
    values[1] = 0;
    two[1].x = values;
    plot_refused(&f, "x", 2, "0 on a logarithmic axis");
    two[1].x = plot_x;
    two[1].low = plot_high;
    two[1].high = plot_low;
    plot_refused(&f, NULL, 2, "a band upside down");
    two[1].high = NULL;
    plot_refused(&f, NULL, 2, "half a band");
    two[1].low = NULL;
    two[1].colour = PLOT_COLOURS;
    plot_refused(&f, NULL, 2, "a colour too many");
    two[1].colour = 0;
    f.y.high = 0.9;
    plot_refused(&f, "y", 1, "a value above the axis");
    f.y.high = -1;
    plot_refused(&f, "y", 0, "an axis upside down");
    f.y = (struct plot_axis){"y", true, -1, 1};
    plot_refused(&f, "y", 0, "a logarithmic axis from -1");
    f.y = (struct plot_axis){"y", false, 0, NAN};
    plot_refused(&f, "y", 0, "an axis to nowhere");
    f.nseries = PLOT_SERIES_MAX + 1;
    f.y = (struct plot_axis){"y", false, 0, 0};
    plot_refused(&f, NULL, PLOT_SERIES_MAX + 1, "a series too many");
}

/* ---- Bars and lists ------------------------------------------------------ */

static void plot_draws_bars(void)
{
    static const double x[] = {5, 15, 25}, y[] = {0.5, -0.1, 0};
    static const double low[] = {0.4, -0.2, 0}, high[] = {0.6, 0.1, 0};
    struct plot_series s = {.style = PLOT_BARS,
                            .n = 3,
                            .x = x,
                            .y = y,
                            .low = low,
                            .high = high,
                            .width = 10};
    struct plot_figure f = plot_figure(&s, 1);
    char *svg;

    f.x.log = false;
    f.note = "a note & more";
    svg = plot_drawn(&f, NULL);
    ok(strstr(svg, ">30<") != NULL && strstr(svg, ">0<") != NULL,
       "the axis holds the bars' sides");
    ok(strstr(svg, ">a note &#38; more</text>") != NULL, "the note is there");
    ok(strstr(svg, "class=\"band") == NULL, "error bars are no band");
    free(svg);
    s.low = s.high = NULL;
    free(plot_drawn(&f, NULL));
    s.width = 0;
    plot_refused(&f, "width", 1, "a bar of no width");
    s.width = NAN;
    plot_refused(&f, "width", 1, "a bar of any width");
    s.width = 10;
    f.y.log = true;
    plot_refused(&f, "y", 1, "a bar on a logarithmic axis");
    f.y.log = false;
    f.x = (struct plot_axis){"x", false, 1, 30};
    plot_refused(&f, "x", 1, "a bar that leaves its axis");
}

static char *list_drawn(const struct plot_list *l)
{
    char *svg = NULL;
    size_t len = 0;

    ok(plot_list_svg(&svg, &len, l, NULL) == HSY_OK && reader_whole(svg) &&
           strlen(svg) == len && strstr(svg, "nan") == NULL,
       "a list is whole XML");
    return svg;
}

static void list_refused(const struct plot_list *l, uint64_t line,
                         const char *what)
{
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 99;

    ok(plot_list_svg(&svg, &len, l, &err) == HSY_E_RANGE && svg == NULL &&
           err.at == line,
       "%s is refused", what);
}

static void plot_draws_lists(void)
{
    struct plot_named named[] = {
        {"plain", 12, 10, 14},
        {"<b> & \"c\" \xff \x01", -3, -5, -1},
        {"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 0, 0, 0},
        {"abcdefghijklmnopqrstuvwxyz123456789012345678", 5, 4, 6},
        {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac"
         "\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5"
         "\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97"
         "\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5"
         "\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e!",
         1, 1, 1}};
    struct plot_list l = {.title = "Shares",
                          .about = "What is seen",
                          .note = "note",
                          .label = "share in %",
                          .named = named,
                          .n = 5};
    char *a = list_drawn(&l), *b = list_drawn(&l);

    ok(strcmp(a, b) == 0, "the same list gives the same bytes");
    ok(strstr(a, "&#60;b&#62; &#38; &#34;c&#34; \\xff \\u{1}<") != NULL,
       "names are escaped");
    ok(strstr(a, ">abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ\xe2\x80\xa6<") !=
               NULL &&
           strstr(a, ">abcdefghijklmnopqrstuvwxyz123456789012345678<") != NULL,
       "names of more than 44 columns are cut");
    ok(strstr(a, "!") == NULL && strstr(a, "\xe6\x9c\xac\xe8\xaa\x9e"
                                           "\xe2\x80\xa6") != NULL,
       "wide ones by their width, and between characters");
    free(a);
    free(b);
    l.points = true;
    l.n = 1;
    a = list_drawn(&l);
    ok(strstr(a, ">0<") == NULL, "marks alone need no 0 on their axis");
    free(a);
    l.n = 0;
    free(list_drawn(&l));
    l.n = 5;
    named[3].high = 3;
    list_refused(&l, 4, "an interval upside down");
    named[3].high = INFINITY;
    list_refused(&l, 4, "an interval without end");
    named[1].value = NAN;
    list_refused(&l, 2, "no number");
    l.n = PLOT_NAMED_MAX + 1;
    list_refused(&l, PLOT_NAMED_MAX + 1, "a value too many");
}

static size_t plot_times(const char *svg, const char *what)
{
    size_t n = 0;

    for (; (svg = strstr(svg, what)) != NULL; svg++)
        n++;
    return n;
}

/* A second interval lies pale behind the first; what has none says nothing. */
static void plot_draws_further(void)
{
    static const double x[] = {5, 15}, y[] = {0.5, 0.1};
    static const double low[] = {0.4, NAN}, high[] = {0.6, NAN};
    struct plot_further further[] = {{0.2, 0.9}, {NAN, NAN}};
    const struct plot_series s = {.style = PLOT_BARS,
                                  .n = 2,
                                  .x = x,
                                  .y = y,
                                  .low = low,
                                  .high = high,
                                  .width = 10,
                                  .further = further};
    const struct plot_named named[] = {{"a", 0.5, 0.4, 0.6},
                                       {"b", 0.1, NAN, NAN}};
    const struct plot_list l = {.title = "Shares",
                                .about = "What is seen",
                                .label = "share",
                                .named = named,
                                .further = further,
                                .n = 2};
    struct plot_figure f = plot_figure(&s, 1);
    char *bars, *list;

    f.x.log = false;
    bars = plot_drawn(&f, NULL);
    list = list_drawn(&l);
    ok(plot_times(bars, "further") == 1 && plot_times(list, "further") == 1,
       "a second interval is drawn where there is one");
    ok(plot_times(bars, "class=\"frame\"") == 2 &&
           plot_times(list, "class=\"frame\"") == 2,
       "and no error bar where there is none");
    ok(strstr(list, ">0.8<") != NULL, "the axis reaches as far");
    free(bars);
    free(list);
    further[0].high = 0.1;
    plot_refused(&f, NULL, 1, "a second interval upside down");
    list_refused(&l, 1, "one of a list");
    further[0].high = NAN;
    plot_refused(&f, "low", 1, "half a second interval");
    list_refused(&l, 1, "half of one");
}

/* ---- Figures one below the other, and likelihoods ------------------------ */

static void plot_stacks(void)
{
    const struct plot_series s = plot_series();
    struct plot_figure two[PLOT_STACK_MAX + 1] = {plot_figure(&s, 1),
                                                  plot_figure(&s, 1)};
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;

    two[1].title = "Another";
    ok(plot_stack_svg(&svg, &len, two, 2, NULL) == HSY_OK && reader_whole(svg),
       "two figures are one whole document");
    ok(strstr(svg, ">A title</title>") != NULL &&
           strstr(svg, ">A title</text>") < strstr(svg, ">Another</text>") &&
           strstr(strstr(svg, ">measured</text>") + 1, ">measured</text>"),
       "each with its head and legend, under the first one's title");
    free(svg);
    svg = NULL;
    two[1].y.high = 0.9;
    ok(plot_stack_svg(&svg, &len, two, 2, &err) == HSY_E_RANGE && svg == NULL &&
           err.at == 1,
       "one that cannot be drawn is refused with all");
    ok(plot_stack_svg(&svg, &len, two, 0, NULL) == HSY_E_RANGE &&
           plot_stack_svg(&svg, &len, two, PLOT_STACK_MAX + 1, &err) ==
               HSY_E_RANGE &&
           err.at == PLOT_STACK_MAX + 1,
       "so are none, and too many");
}

static char *likelihood_drawn(double support, double n, double p, double q)
{
    const hsy_evidence point = {.value = (support / n - q) / (p - q),
                                .n = n,
                                .support = support,
                                .p = p,
                                .q = q};
    const struct plot_likelihood what = {.title = "Likelihood",
                                         .about = "What is seen",
                                         .label = "share",
                                         .point = &point,
                                         .level = 0.95};
    char *svg = NULL;
    size_t len = 0;

    ok(plot_likelihood_svg(&svg, &len, &what, NULL) == HSY_OK &&
           reader_whole(svg) && strlen(svg) == len &&
           strstr(svg, "nan") == NULL && strstr(svg, "inf") == NULL,
       "the likelihood of %g of %g is drawn", support, n);
    return svg;
}

/* Theory 15.1 has 400 of 1000 at epsilon 1. */
static void plot_draws_likelihoods(void)
{
    const double q = 1 / (1 + exp(1));
    char *svg = likelihood_drawn(400, 1000, 1 - q, q);

    ok(strstr(svg, ">95 % interval: 0.2185 to 0.3498</text>") != NULL,
       "with the interval of its cut");
    ok(strstr(svg, ">most likely: 0.2836</text>") != NULL, "and its top");
    ok(strstr(svg, ">Its logarithm</text>") != NULL, "and the logarithm");
    free(svg);
    svg = likelihood_drawn(200, 1000, 0.75, 0.25);
    ok(strstr(svg, ">most likely: 0</text>") != NULL,
       "less support than noise alone gives: the top is at 0");
    free(svg);
    free(likelihood_drawn(1000, 1000, 0.25, 0.75));
    free(likelihood_drawn(0, 3, 1, 0));
    free(likelihood_drawn(3, 3, 1, 0));
    free(likelihood_drawn(5e14, 1e15, 0.75, 0.25));
}

static void plot_refuses_likelihoods(void)
{
    hsy_evidence point = {
        .value = 0.5, .n = 10, .support = 5, .p = 0.5, .q = 0.5};
    struct plot_likelihood what = {
        .title = "", .about = "", .label = "", .point = &point, .level = 0.95};
    char *svg = NULL;
    size_t len = 0;

    ok(plot_likelihood_svg(&svg, &len, &what, NULL) == HSY_E_RANGE,
       "reports that tell nothing have no likelihood to draw");
    point.p = 0.75;
    point.n = 0;
    ok(plot_likelihood_svg(&svg, &len, &what, NULL) == HSY_E_EMPTY,
       "nor have none");
    point.n = 10;
    what.level = 1;
    ok(plot_likelihood_svg(&svg, &len, &what, NULL) == HSY_E_RANGE &&
           svg == NULL,
       "and no cut has level 1");
}

/* ---- Axes ---------------------------------------------------------------- */

static bool scale_is(bool log, double least, double most, const char *want)
{
    const struct plot_axis axis = {.label = "", .log = log};
    struct plot_scale s;
    char got[512] = "";

    plot_scale_fit(&s, &axis, least, most);
    for (size_t i = 0; i < s.nticks; i++) {
        size_t used = strlen(got);

        snprintf(got + used, sizeof got - used, "%s%s", i != 0 ? " " : "",
                 s.texts[i]);
        if (!(s.ticks[i] >= 0 && s.ticks[i] <= 1))
            return false;
    }
    if (strcmp(got, want) != 0)
        printf("# %s, not %s\n", got, want);
    return strcmp(got, want) == 0 && plot_scale_at(&s, least) >= 0 &&
           plot_scale_at(&s, most) <= 1;
}

static void plot_numbers_axes(void)
{
    ok(scale_is(false, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"), "0 to 1 by fifths");
    ok(scale_is(false, 0.72, 0.99, "0.70 0.75 0.80 0.85 0.90 0.95 1.00"),
       "a part of it by twentieths");
    ok(scale_is(false, -3, 40, "-10 0 10 20 30 40"), "through zero");
    ok(scale_is(false, 5, 5, "2 3 4 5 6 7 8"), "one value in the middle");
    ok(scale_is(false, 0, 0, "-1.0 -0.5 0.0 0.5 1.0"), "so is zero");
    ok(scale_is(false, 1, 0, "0.0 0.2 0.4 0.6 0.8 1.0"), "no values at all");
    ok(scale_is(false, 0, 5e7, "0 1e7 2e7 3e7 4e7 5e7"), "large numbers");
    ok(scale_is(true, 1, 1000, "1 10 100 1000"), "powers of ten");
    ok(scale_is(true, 3, 40, "1 2 5 10 20 50 100"), "and between, if few");
    ok(scale_is(true, 1e-3, 1, "0.001 0.01 0.1 1"), "below one");
    ok(scale_is(true, 1, 1, "1 2 5 10"), "one value on a logarithmic axis");
    ok(scale_is(true, 1e-20, 1e20,
                "1e-20 1e-15 1e-10 1e-5 1 100000 1e10 1e15 1e20"),
       "many powers by steps");
}

int main(void)
{
    plot_reader_is_strict();
    plot_has_its_parts();
    plot_escapes();
    plot_draws_the_edges();
    plot_refuses();
    plot_draws_bars();
    plot_draws_lists();
    plot_draws_further();
    plot_stacks();
    plot_draws_likelihoods();
    plot_refuses_likelihoods();
    plot_numbers_axes();
    return tap_done();
}
