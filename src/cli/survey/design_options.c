/* design_options.c - designs of interview surveys on the command line. */
#include "cli/survey/internal.h"

#include "host/base/ratio.h"

#include <math.h>
#include <string.h>

static const struct survey_kind design_kinds[] = {
    {"epsilon", HSY_SURVEY_EPSILON, 1, false, "the best design of its epsilon",
     "a number E from 0.000001 to 32, or ln3", "raise it", "what was drawn"},
    {"spinner", HSY_SURVEY_SPINNER, 1, false, "Warner's spinner",
     "a probability P", "take P other than 1/2", "where the spinner stopped"},
    {"coins", HSY_SURVEY_COINS, 2, false, "two coins",
     "two probabilities T,R: of telling the truth, and of yes if not",
     "take T above 0", "how the coins fell"},
    {"channel", HSY_SURVEY_CHANNEL, 2, false, "a channel",
     "two probabilities P,Q: of yes if it is true, and if it is not",
     "take P and Q that differ", "what was drawn"},
    {"unrelated", HSY_SURVEY_UNRELATED, 2, false, "an unrelated question",
     "two probabilities T,R: of the sensitive question, and of yes to the "
     "other "
     "one",
     "take T above 0",
     "which question was drawn, nor the respondent's answer to the other one"},
    {"forced", HSY_SURVEY_FORCED, 2, false, "forced response",
     "two probabilities Y,N: of being made to say yes, and no",
     "take Y and N that add up to less than 1", "what was drawn"},
    {"crosswise", HSY_SURVEY_CROSSWISE, 1, false, "a crosswise question",
     "a probability R: of yes to the other question", "take R other than 1/2",
     "the respondent's answer to the other question"},
    {"two-sample", HSY_SURVEY_UNRELATED, 2, true,
     "an unrelated question in two samples",
     "two probabilities A,B: of the sensitive question in either sample",
     "take A and B that differ",
     "which question was drawn, nor the respondent's answer to the other one"}};

static bool design_epsilon(struct survey_design *d, struct cli_parser *p)
{
    uint64_t nano = 0;

    if (hsy_epsilon_parse(&nano, p->value, strlen(p->value)) != HSY_OK) {
        cli_usage(p, "--epsilon takes %s", d->kind->takes);
        return false;
    }
    d->chance[0] = (double)nano / HSY_NANO;
    return true;
}

static bool design_ratios(struct survey_design *d, struct cli_parser *p)
{
    const bool good = ratio_parse_list(d->ratio, d->kind->chances, p->value);

    for (size_t i = 0; good && i < d->kind->chances; i++)
        d->chance[i] = (double)d->ratio[i].num / (double)d->ratio[i].den;
    if (!good)
        cli_usage(p,
                  "--%s takes %s; from 0 to 1, as decimals (0.75, at most 9 "
                  "digits after the point) or fractions (3/4)",
                  d->kind->option, d->kind->takes);
    return good;
}

static bool design_settle(struct survey_design *d, struct cli_parser *p)
{
    hsy_error err = {0};

    if (d->kind->pair) {
        if (d->chance[0] != d->chance[1])
            return true;
        cli_usage(p, "--%s: both samples are asked alike: no information; %s",
                  d->kind->option, d->kind->fix);
        return false;
    }
    if (hsy_survey_init(&d->channel, d->kind->design, d->chance, &err) !=
        HSY_OK) {
        cli_usage(p, "--%s: %s; %s", d->kind->option, err.msg, d->kind->fix);
        return false;
    }
    d->epsilon = d->kind->design == HSY_SURVEY_EPSILON
                     ? d->chance[0]
                     : hsy_survey_epsilon(&d->channel);
    return true;
}

bool survey_design_option(struct survey_design *d, struct cli_parser *p)
{
    const struct survey_kind *kind = design_kinds;

    while (strcmp(kind->option, p->name) != 0)
        kind++;
    if (d->kind != NULL) {
        cli_usage(p, "--%s: one design at a time, and --%s is given", p->name,
                  d->kind->option);
        return false;
    }
    d->kind = kind;
    return (kind->design == HSY_SURVEY_EPSILON ? design_epsilon(d, p)
                                               : design_ratios(d, p)) &&
           design_settle(d, p);
}

/* ---- In words ------------------------------------------------------------ */

const char *survey_design_proof(const hsy_survey *s)
{
    const struct {
        bool holds;
        const char *words;
    } rows[] = {
        {s->q == 0 && s->not_p == 0, "every answer is the truth"},
        {s->p == 0 && s->not_q == 0, "every answer is the truth's opposite"},
        {s->q == 0, "a yes proves that the truth is yes"},
        {s->p == 0, "a yes proves that the truth is no"},
        {s->not_p == 0, "a no proves that the truth is no"},
        {s->not_q == 0, "a no proves that the truth is yes"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].holds)
            return rows[i].words;
    return NULL;
}

void survey_design_text(char text[64], const struct survey_design *d)
{
    const char *option = d->kind->option;

    if (d->kind->chances == 1)
        snprintf(text, 64, "--%s %.9g", option, d->chance[0]);
    else
        snprintf(text, 64, "--%s %.9g,%.9g", option, d->chance[0],
                 d->chance[1]);
}

void survey_design_hidden(const struct survey_design *d)
{
    char line[200];

    snprintf(line, sizeof line,
             "That holds as long as nobody but the respondent knows %s.",
             d->kind->hidden);
    cli_paragraph(line);
}

static void design_print_pair(const struct survey_design *d)
{
    char line[240];

    snprintf(line, sizeof line,
             "Design: %s, the sensitive one asked with chance %.4g in the "
             "first and %.4g in the second.",
             d->kind->title, d->chance[0], d->chance[1]);
    cli_paragraph(line);
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
    cli_paragraph(line);
    if (isinf(d->epsilon))
        snprintf(line, sizeof line, "Epsilon is infinite: %s.",
                 survey_design_proof(s));
    else
        snprintf(line, sizeof line,
                 "Epsilon %.4g: an answer changes the odds of a person's truth "
                 "at most %.3g times.",
                 d->epsilon, exp(d->epsilon));
    cli_paragraph(line);
    if (!isinf(d->epsilon))
        survey_design_hidden(d);
}
