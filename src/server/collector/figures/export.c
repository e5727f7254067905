/* export.c - a figure as CSV, and drawn. */
#include "server/collector/figures/internal.h"

#include "host/plot/plot.h"

#include <inttypes.h>
#include <stdio.h>

#define EXPORT_TITLE 320u
#define EXPORT_ABOUT 512u

static const char *export_day(char text[DAY_TEXT], uint32_t day)
{
    text[0] = '\0';
    if (day != 0)
        day_text(text, day);
    return text;
}

hsy_status figure_csv(char **csv, size_t *len, const struct figure *f,
                      hsy_error *err)
{
    char note[FIGURE_NOTE], first[DAY_TEXT], last[DAY_TEXT], release[24];
    const struct analysis_said said[] = {
        {"first_day", export_day(first, f->span.first)},
        {"last_day", export_day(last, f->span.last)},
        {"release", release},
        {"why", f->result.why}};
    const struct analysis_more more = {.note = figure_note(note, f),
                                       .said = said,
                                       .nsaid = f->result.why != NULL ? 4 : 3};

    snprintf(release, sizeof release, "%" PRIu32, f->entry->task.release);
    return analysis_csv(csv, len, &f->result, &more, err);
}

/* For those who cannot see it, and for who finds the drawing alone. */
static void export_about(char about[EXPORT_ABOUT], const struct figure *f)
{
    char first[DAY_TEXT], last[DAY_TEXT];

    about[0] = '\0';
    plot_more(about, EXPORT_ABOUT, "Release %" PRIu32 ", target: %s",
              f->entry->task.release,
              analysis_target_names[f->result.how.target]);
    if (f->result.attends)
        plot_more(about, EXPORT_ABOUT, ", devices: at least %" PRIu64,
                  f->result.attended.devices);
    if (f->span.first != 0)
        plot_more(about, EXPORT_ABOUT, ", sent from %s to %s",
                  export_day(first, f->span.first),
                  export_day(last, f->span.last));
    plot_more(about, EXPORT_ABOUT, ".");
}

hsy_status figure_svg(char **svg, size_t *len, const struct figure *f,
                      hsy_error *err)
{
    const hsy_task *task = &f->entry->task;
    char note[FIGURE_NOTE], title[EXPORT_TITLE], about[EXPORT_ABOUT];
    const struct analysis_more more = {
        .note = figure_note(note, f), .title = title, .about = about};

    snprintf(title, sizeof title, "%.*s", (int)task->question_len,
             task->question);
    export_about(about, f);
    return analysis_svg(svg, len, &f->result, NULL, &more, err);
}
