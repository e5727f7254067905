/*
 * result_figure.c - estimates as a figure: shares as bars, a mean as a mark,
 * bins as a histogram, each with its interval; the likelihood of a share if
 * that is what its interval is made of.
 */
#include "host/analysis/internal.h"
#include "host/base/written.h"
#include "host/plot/plot.h"

#include <inttypes.h>
#include <stdlib.h>

#define FIGURE_MOST 40u       /* values of a list */
#define FIGURE_MOST_BINS 400u /* bars of a histogram */
#define FIGURE_NAME 256u      /* bytes of a name that are looked at */
#define FIGURE_NOTE 320u
#define FIGURE_ABOUT 1536u

/* A figure that is being made. Owns its memory. */
struct figure {
    const hsy_analysis_tally *tally;
    const hsy_analysis_result *result;
    const struct analysis_more *more;
    const hsy_analysis_row **rows; /* those that are drawn */
    size_t n;
    double level; /* of what is drawn, adjusted for selection */
    bool mean;
    char title[FIGURE_NOTE], label[96], note[FIGURE_NOTE], about[FIGURE_ABOUT];
};

/* ---- What is drawn ------------------------------------------------------- */

static bool figure_is_histogram(const hsy_analysis_result *r)
{
    return r->info.kind == HSY_KIND_BINS && !r->largest_first &&
           r->count <= FIGURE_MOST_BINS;
}

/* A single share, whose interval is a cut through its likelihood. */
static bool figure_is_likelihood(const hsy_analysis_result *r)
{
    return r->info.kind == HSY_KIND_YES_NO &&
           r->how.interval == HSY_LIKELIHOOD && !r->compared && r->lying == 0;
}

/* Further from 0 first, and the largest first. */
static int figure_order(const void *a, const void *b)
{
    return analysis_order_change(*(const hsy_analysis_row *const *)a,
                                 *(const hsy_analysis_row *const *)b);
}

static int figure_falling(const void *a, const void *b)
{
    return analysis_order_value(*(const hsy_analysis_row *const *)a,
                                *(const hsy_analysis_row *const *)b);
}

/* Names have no order of their own: they are drawn by their shares. */
static void figure_sort(struct figure *f)
{
    const hsy_scheme_info *info = &f->result->info;

    if (info->labels_len != 0 && info->kind == HSY_KIND_VALUES)
        qsort(f->rows, f->n, sizeof *f->rows, figure_falling);
}

/* All rows, or the largest. */
static hsy_status figure_choose(struct figure *f, hsy_error *err)
{
    const hsy_analysis_result *r = f->result;

    f->rows = malloc(r->count * sizeof(*f->rows));
    if (f->rows == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < r->count; i++)
        f->rows[i] = &r->rows[i];
    f->n = r->count;
    f->level = r->level_selected;
    if (f->n > FIGURE_MOST && !figure_is_histogram(r)) {
        qsort(f->rows, f->n, sizeof *f->rows, figure_order);
        f->n = FIGURE_MOST;
        if (!r->simultaneous)
            f->level = hsy_selected_level(r->how.level, f->n, r->of);
    }
    figure_sort(f);
    return HSY_OK;
}

/* ---- What is said -------------------------------------------------------- */

static void figure_texts(struct figure *f)
{
    const hsy_analysis_result *r = f->result;
    const hsy_scheme_info *info = &r->info;
    const bool people = r->how.target == HSY_PEOPLE;
    const bool rounds = r->attends && r->attended.rounds > 1;

    f->mean = info->kind == HSY_KIND_NUMBER;
    plot_more(f->title, sizeof f->title, "%s%s%s %s",
              f->mean ? "Mean" : "Shares", r->compared ? ", difference" : "",
              !rounds   ? ""
              : f->mean ? " over person-rounds"
                        : " of person-rounds",
              people ? "among those who answered" : "in the population");
    snprintf(f->label, sizeof f->label, "%s%s", f->mean ? "mean" : "share in %",
             r->compared ? ", difference" : "");
    if (r->why != NULL)
        plot_more(f->note, FIGURE_NOTE, "no intervals: %s", r->why);
    else
        plot_more(f->note, FIGURE_NOTE, "%.14g %% intervals%s",
                  100 * r->how.level,
                  r->simultaneous            ? ", all at once"
                  : f->level != r->how.level ? ", adjusted for selection"
                                             : "");
    plot_more(f->note, FIGURE_NOTE, "; %s, epsilon %.9g, %" PRIu64 " reports",
              info->mechanism, info->epsilon, r->reports);
    if (rounds)
        plot_more(f->note, FIGURE_NOTE,
                  " of at least %" PRIu64 " devices in %" PRIu64 " rounds",
                  r->attended.devices, r->attended.rounds);
    if (r->lying > 0)
        plot_more(f->note, FIGURE_NOTE,
                  "; pale: wider for %.6g %% of lying devices", 100 * r->lying);
    if (f->n < r->count)
        plot_more(f->note, FIGURE_NOTE, "; the %zu largest of %zu", f->n,
                  r->count);
    plot_more(f->about, FIGURE_ABOUT, "%s%s: %s.", f->title,
              r->why != NULL ? "" : ", each with its interval", f->note);
    for (size_t i = 0; i < r->nnotes; i++)
        if (analysis_is_note(&r->notes[i]))
            plot_more(f->about, FIGURE_ABOUT, " Note: %s.",
                      hsy_analysis_code_text(r->notes[i].code));
    if (f->more->note != NULL)
        plot_more(f->about, FIGURE_ABOUT, " Note: %s.", f->more->note);
    if (f->more->about != NULL)
        plot_more(f->about, FIGURE_ABOUT, " %s", f->more->about);
    if (f->more->title != NULL)
        snprintf(f->title, sizeof f->title, "%s", f->more->title);
}

/* ---- Drawing ------------------------------------------------------------- */

static bool figure_lies(const struct figure *f)
{
    return f->result->lying > 0;
}

/* What liars make of an interval. */
static struct plot_further figure_further(const hsy_analysis_row *row,
                                          double unit)
{
    return (struct plot_further){unit * row->low_lying, unit * row->high_lying};
}

static hsy_status figure_list(const struct figure *f, char **svg, size_t *len,
                              hsy_error *err)
{
    const double unit = f->mean ? 1 : 100;
    char names[FIGURE_MOST][FIGURE_NAME];
    struct plot_named named[FIGURE_MOST];
    struct plot_further further[FIGURE_MOST];
    const struct plot_list list = {.title = f->title,
                                   .about = f->about,
                                   .note = f->note,
                                   .label = f->label,
                                   .named = named,
                                   .further = figure_lies(f) ? further : NULL,
                                   .n = f->n,
                                   .points = f->mean};

    for (size_t i = 0; i < f->n; i++) {
        const hsy_estimate e = analysis_at_level(
            &f->rows[i]->est, f->result->level_selected, f->level);
        const hsy_analysis_text *name = &f->rows[i]->value;

        written_name(names[i], sizeof names[i], name->text, name->len);
        named[i] = (struct plot_named){names[i], unit * e.value, unit * e.low,
                                       unit * e.high};
        further[i] = figure_further(f->rows[i], unit);
    }
    return plot_list_svg(svg, len, &list, err);
}

static hsy_status figure_histogram(const struct figure *f, char **svg,
                                   size_t *len, hsy_error *err)
{
    const hsy_scheme_info *info = &f->result->info;
    const double lo = analysis_number((double)info->lo, info->scale);
    const double width =
        analysis_number((double)info->hi - (double)info->lo, info->scale) /
        (double)info->d;
    double x[FIGURE_MOST_BINS], y[FIGURE_MOST_BINS];
    double low[FIGURE_MOST_BINS], high[FIGURE_MOST_BINS];
    struct plot_further further[FIGURE_MOST_BINS];
    const bool none = f->result->why != NULL;
    const struct plot_series bars = {.style = PLOT_BARS,
                                     .colour = 1,
                                     .n = f->n,
                                     .x = x,
                                     .y = y,
                                     .low = none ? NULL : low,
                                     .high = none ? NULL : high,
                                     .width = width,
                                     .further =
                                         figure_lies(f) ? further : NULL};
    const struct plot_figure figure = {.title = f->title,
                                       .about = f->about,
                                       .note = f->note,
                                       .x = {.label = "value"},
                                       .y = {.label = f->label},
                                       .series = &bars,
                                       .nseries = 1};

    for (size_t i = 0; i < f->n; i++) {
        const hsy_analysis_row *row = f->rows[i];

        x[i] = lo + ((double)row->place + 0.5) * width;
        y[i] = 100 * row->est.value;
        low[i] = 100 * row->est.low;
        high[i] = 100 * row->est.high;
        further[i] = figure_further(row, 100);
    }
    return plot_svg(svg, len, &figure, err);
}

static hsy_status figure_likelihood(const struct figure *f, char **svg,
                                    size_t *len, hsy_error *err)
{
    const hsy_analysis_tally *g = f->tally;
    hsy_evidence yes;
    const struct plot_likelihood what = {.title =
                                             "Likelihood of the share of yes",
                                         .about = f->about,
                                         .note = f->note,
                                         .label = "share of yes",
                                         .point = &yes,
                                         .level = f->result->how.level};
    void *scratch = malloc(hsy_evidence_scratch(g->scheme, 1) + 1);
    hsy_status st = HSY_E_NOMEM;

    if (scratch != NULL)
        st = hsy_evidence_of(g->scheme, &yes, g->tally, NULL, 1, scratch, err);
    free(scratch);
    return st == HSY_OK ? plot_likelihood_svg(svg, len, &what, err) : st;
}

static hsy_status figure_draw(const struct figure *f, char **svg, size_t *len,
                              hsy_error *err)
{
    if (figure_is_likelihood(f->result))
        return figure_likelihood(f, svg, len, err);
    return figure_is_histogram(f->result) ? figure_histogram(f, svg, len, err)
                                          : figure_list(f, svg, len, err);
}

hsy_status analysis_svg(char **svg, size_t *len, const hsy_analysis_result *r,
                        const hsy_analysis_tally *t,
                        const struct analysis_more *more, hsy_error *err)
{
    struct figure f = {.tally = t, .result = r, .more = more};
    hsy_status st = figure_choose(&f, err);

    if (st != HSY_OK)
        return st;
    figure_texts(&f);
    st = figure_draw(&f, svg, len, err);
    free(f.rows);
    return st;
}
