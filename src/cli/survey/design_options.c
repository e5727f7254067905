/* design_options.c - designs of interview surveys on the command line. */
#include "cli/survey/internal.h"

#include <math.h>

bool survey_design_option(struct survey_design *d, struct cli_parser *p)
{
    const struct survey_kind *kind = survey_kind_of(p->name);
    hsy_error err = {0};

    if (d->kind != NULL) {
        cli_usage(p, "--%s: one design at a time, and --%s is given", p->name,
                  d->kind->name);
        return false;
    }
    switch (survey_design_parse(d, kind, p->value, &err)) {
    case HSY_OK:
        return true;
    case HSY_E_FORMAT:
        cli_usage(p, "--%s takes %s%s", kind->name, kind->takes,
                  kind->design == HSY_SURVEY_EPSILON
                      ? ""
                      : "; from 0 to 1, as decimals (0.75, at most 9 digits "
                        "after the point) or fractions (3/4)");
        return false;
    default:
        cli_usage(p, "--%s: %s; %s", kind->name, err.msg, kind->fix);
        return false;
    }
}

/* ---- In words ------------------------------------------------------------ */

void survey_design_hidden(const struct survey_design *d)
{
    char line[200];

    snprintf(line, sizeof line,
             "That holds as long as nobody but the respondent knows %s.",
             d->kind->hidden);
    table_paragraph(stdout, line);
}

static void design_print_pair(const struct survey_design *d)
{
    char line[240];

    snprintf(line, sizeof line,
             "Design: %s, the sensitive one asked with chance %.4g in the "
             "first and %.4g in the second.",
             d->kind->title, d->chance[0], d->chance[1]);
    table_paragraph(stdout, line);
}

void survey_design_print(const struct survey_design *d)
{
    const hsy_survey *s = &d->channel;
    const char *yes =
        d->kind->design == HSY_SURVEY_CROSSWISE ? "\"the same\"" : "yes";
    char line[320];

    if (d->kind->pair) {
        design_print_pair(d);
        return;
    }
    snprintf(line, sizeof line,
             "Design: %s. With chance %.4g %s is said where yes is true, with "
             "chance %.4g where it is not.",
             d->kind->title, s->p, yes, s->q);
    table_paragraph(stdout, line);
    if (isinf(d->epsilon))
        snprintf(line, sizeof line, "Epsilon is infinite: %s.",
                 survey_design_proof(s));
    else
        snprintf(line, sizeof line,
                 "Epsilon %.4g: an answer changes the odds of a person's truth "
                 "at most %.3g times.",
                 d->epsilon, exp(d->epsilon));
    table_paragraph(stdout, line);
    if (!isinf(d->epsilon))
        survey_design_hidden(d);
}
