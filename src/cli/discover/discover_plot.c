/* discover_plot.c - what was found as a figure: shares with their intervals,
 * the largest first. */
#include "cli/discover/internal.h"
#include "host/base/written.h"
#include "host/plot/plot.h"

#include <inttypes.h>

#define DISCOVER_DRAWN 40u /* strings */
#define DISCOVER_NAME 256u /* bytes of one that are looked at */

/* The strings themselves: rows of the last stage, in their order. */
static size_t plot_rows(const struct discover_result *r,
                        const struct shares_found *rows[DISCOVER_DRAWN])
{
    size_t n = 0;

    for (size_t i = 0; i < r->got.count && n < DISCOVER_DRAWN; i++)
        if (r->got.rows[i].stage + 1 == r->got.stages)
            rows[n++] = &r->got.rows[i];
    return n;
}

static void plot_note(char *note, size_t size, const struct discover_result *r,
                      size_t drawn)
{
    const struct discover_options *o = r->options;
    const hsy_scheme_info *info = &r->gather->info;
    const int used = snprintf(
        note, size,
        "%.14g %% intervals%s; %s, epsilon %.9g, %" PRIu64 " reports",
        100 * o->how.level,
        o->simultaneous                ? ", all at once"
        : r->got.level != o->how.level ? ", adjusted for selection"
                                       : "",
        info->mechanism, info->epsilon, hsy_tally_reports(&r->gather->tally));

    if (drawn < r->got.found && used > 0 && (size_t)used < size)
        snprintf(note + used, size - (size_t)used,
                 "; the %zu largest of %" PRIu64, drawn, r->got.found);
}

int discover_plot(const struct discover_result *r, struct output *out)
{
    const struct shares_found *rows[DISCOVER_DRAWN];
    const size_t n = plot_rows(r, rows);
    const double level =
        r->options->simultaneous
            ? r->got.level
            : hsy_selected_level(r->options->how.level, n, r->got.candidates);
    struct plot_named named[DISCOVER_DRAWN];
    char names[DISCOVER_DRAWN][DISCOVER_NAME], note[256], about[320];
    const struct plot_list list = {.title = "Strings that were found",
                                   .about = about,
                                   .note = note,
                                   .label = "share in %",
                                   .named = named,
                                   .n = n};
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    hsy_status st;

    plot_note(note, sizeof note, r, n);
    snprintf(about, sizeof about,
             "Shares of the strings that were found, each "
             "with its interval: %s.",
             note);
    for (size_t i = 0; i < n; i++) {
        const hsy_estimate e =
            shares_at_level(&rows[i]->est, rows[i]->level, level);

        written_name(names[i], sizeof names[i], rows[i]->name,
                     rows[i]->name_len);
        named[i] = (struct plot_named){names[i], 100 * e.value, 100 * e.low,
                                       100 * e.high};
    }
    st = plot_list_svg(&svg, &len, &list, &err);
    return cli_finish_figure(out, r->options->plot, st, svg, len, &err);
}

#undef DISCOVER_DRAWN
#undef DISCOVER_NAME
