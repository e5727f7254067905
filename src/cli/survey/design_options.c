/* design_options.c - designs of interview surveys on the command line. */
#include "cli/survey/internal.h"

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
