/* survey_estimate.c - from answers to shares, and whether groups differ. */
#include "cli/survey/internal.h"

#include "host/base/output.h"

static void estimate_warn(const struct survey_rows *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct survey_row *row = &s->rows[i];

        if (!survey_odd(&row->r))
            continue;
        cli_note("warning: %s%s%sthe rate of yes is %.3g standard errors "
                 "beyond what any share makes it: is the design the one that "
                 "was used, and did people follow it?",
                 s->count > 1 ? "group " : "", s->count > 1 ? row->name : "",
                 s->count > 1 ? ": " : "", row->r.beyond);
    }
}

static int estimate_run(const struct survey_data *data,
                        const struct survey_options *o, struct output *figure)
{
    struct survey_rows s = {0};
    hsy_error err = {0};
    char *svg = NULL;
    size_t len = 0;
    int failed = 0;

    if (survey_rows_fill(&s, &o->design, data, o->level, &err) != HSY_OK) {
        output_abort(figure);
        return cli_fail_error(NULL, &err);
    }
    if (figure != NULL) {
        const hsy_status made = survey_plot(&svg, &len, &s, &err);

        failed = cli_finish_figure(figure, o->plot, made, svg, len, &err);
    }
    if (!failed) {
        estimate_warn(&s);
        survey_show(&s, o->format);
    }
    survey_rows_clear(&s);
    return failed ? failed : cli_finish();
}

int survey_estimate(const struct survey_options *o, struct cli_parser *p)
{
    struct survey_data data = {0};
    struct output *figure = NULL;
    int failed = survey_input(&data, o, p);

    if (!failed && o->plot != NULL)
        failed = cli_open_output(&figure, o->plot);
    if (!failed)
        failed = estimate_run(&data, o, figure);
    survey_data_clear(&data);
    return failed;
}
