/* discover_plot.c - what was found as a figure: shares with their intervals,
 * the largest first. */
#include "host/discover/discover.h"

#include "host/base/written.h"
#include "host/plot/plot.h"

#include <inttypes.h>
#include <stdio.h>

#define DISCOVER_DRAWN 40u /* strings */
#define DISCOVER_NAME 256u /* bytes of one that are looked at */

/* The strings themselves: rows of the last stage, in their order. */
static size_t plot_rows(const struct analysis_search *got,
                        const struct analysis_found *rows[DISCOVER_DRAWN])
{
    size_t n = 0;

    for (size_t i = 0; i < got->count && n < DISCOVER_DRAWN; i++)
        if (got->rows[i].stage + 1 == got->stages)
            rows[n++] = &got->rows[i];
    return n;
}

static void plot_note(char *note, size_t size, const struct discover_found *f,
                      size_t drawn)
{
    const hsy_scheme_info *info = f->tally->info;
    const int used = snprintf(
        note, size,
        "%.14g %% intervals%s; %s, epsilon %.9g, %" PRIu64 " reports",
        100 * f->level,
        f->simultaneous             ? ", all at once"
        : f->got->level != f->level ? ", adjusted for selection"
                                    : "",
        info->mechanism, info->epsilon, hsy_tally_reports(f->tally->tally));

    if (drawn < f->got->found && used > 0 && (size_t)used < size)
        snprintf(note + used, size - (size_t)used,
                 "; the %zu largest of %" PRIu64, drawn, f->got->found);
}

hsy_status discover_svg(char **svg, size_t *len, const struct discover_found *f,
                        hsy_error *err)
{
    const struct analysis_found *rows[DISCOVER_DRAWN];
    const size_t n = plot_rows(f->got, rows);
    const double level =
        f->simultaneous ? f->got->level
                        : hsy_selected_level(f->level, n, f->got->candidates);
    struct plot_named named[DISCOVER_DRAWN];
    char names[DISCOVER_DRAWN][DISCOVER_NAME], note[256], about[320];
    const struct plot_list list = {.title = "Strings that were found",
                                   .about = about,
                                   .note = note,
                                   .label = "share in %",
                                   .named = named,
                                   .n = n};

    plot_note(note, sizeof note, f, n);
    snprintf(about, sizeof about,
             "Shares of the strings that were found, each "
             "with its interval: %s.",
             note);
    for (size_t i = 0; i < n; i++) {
        const hsy_estimate e =
            analysis_at_level(&rows[i]->est, rows[i]->level, level);

        written_name(names[i], sizeof names[i], rows[i]->name,
                     rows[i]->name_len);
        named[i] = (struct plot_named){names[i], 100 * e.value, 100 * e.low,
                                       100 * e.high};
    }
    return plot_list_svg(svg, len, &list, err);
}
