/* design_text.c - a survey design in words. */
#include "host/survey/internal.h"

#include <math.h>

void survey_design_hidden(FILE *to, const struct survey_design *d)
{
    table_say(to, "That holds as long as nobody but the respondent knows %s.",
              d->kind->hidden);
}

void survey_design_print(FILE *to, const struct survey_design *d)
{
    const hsy_survey *s = &d->channel;
    const char *yes =
        d->kind->design == HSY_SURVEY_CROSSWISE ? "\"the same\"" : "yes";

    if (d->kind->pair) {
        table_say(to,
                  "Design: %s, the sensitive one asked with chance %.4g in the "
                  "first and %.4g in the second.",
                  d->kind->title, d->chance[0], d->chance[1]);
        return;
    }
    table_say(to,
              "Design: %s. With chance %.4g %s is said where yes is true, with "
              "chance %.4g where it is not.",
              d->kind->title, s->p, yes, s->q);
    if (isinf(d->epsilon)) {
        table_say(to, "Epsilon is infinite: %s.", survey_design_proof(s));
        return;
    }
    table_say(to,
              "Epsilon %.4g: an answer changes the odds of a person's truth "
              "at most %.3g times.",
              d->epsilon, exp(d->epsilon));
    survey_design_hidden(to, d);
}
