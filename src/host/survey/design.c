/* design.c - designs of interview surveys. */
#include "host/survey/survey.h"

#include "host/base/host_fail.h"
#include "host/base/ratio.h"

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

const struct survey_kind *survey_kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof design_kinds / sizeof design_kinds[0]; i++)
        if (strcmp(design_kinds[i].name, name) == 0)
            return &design_kinds[i];
    return NULL;
}

static bool design_epsilon(struct survey_design *d, const char *text)
{
    uint64_t nano = 0;

    if (hsy_epsilon_parse(&nano, text, strlen(text)) != HSY_OK)
        return false;
    d->chance[0] = (double)nano / HSY_NANO;
    return true;
}

static bool design_ratios(struct survey_design *d, const char *text)
{
    if (!ratio_parse_list(d->ratio, d->kind->chances, text))
        return false;
    for (size_t i = 0; i < d->kind->chances; i++)
        d->chance[i] = (double)d->ratio[i].num / (double)d->ratio[i].den;
    return true;
}

hsy_status survey_design_parse(struct survey_design *out,
                               const struct survey_kind *kind, const char *text,
                               hsy_error *err)
{
    const bool epsilon = kind->design == HSY_SURVEY_EPSILON;
    struct survey_design d = {.kind = kind};
    hsy_status st;

    if (!(epsilon ? design_epsilon(&d, text) : design_ratios(&d, text)))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE, kind->takes);
    if (kind->pair && d.chance[0] == d.chance[1])
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE,
                         "both samples are asked alike: no information");
    if (!kind->pair) {
        st = hsy_survey_init(&d.channel, kind->design, d.chance, err);
        if (st != HSY_OK)
            return st;
        d.epsilon = epsilon ? d.chance[0] : hsy_survey_epsilon(&d.channel);
    }
    *out = d;
    return HSY_OK;
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
