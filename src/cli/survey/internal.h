/* internal.h - what the files of hearsay survey share. */
#ifndef CLI_SURVEY_INTERNAL_H
#define CLI_SURVEY_INTERNAL_H

#include "cli/base/base.h"
#include "host/survey/survey.h"

enum survey_work {
    SURVEY_ESTIMATE = 0,
    SURVEY_STATES, /* a matrix */
    SURVEY_POWER,
    SURVEY_QUESTIONNAIRE,
    SURVEY_SIMULATE
};

struct survey_options {
    enum survey_work work;
    struct survey_design design;
    const char *yes, *n, *counts;                           /* lists */
    const char *answers, *column, *group, *weight, *sample; /* of a CSV */
    const char *matrix, *values_file;
    double level;
    enum table_format format;
    const char *plot;
    struct survey_aim aim; /* but for the level */
    const char *question, *other_question;
    uint64_t runs, seed;
};

/* ---- Evidence (answers_input.c) ------------------------------------------ */

/* From --yes and --n, or from --answers; clear it in either case. A message and
 * the exit code, or 0. */
int survey_input(struct survey_data *data, const struct survey_options *o,
                 struct cli_parser *p);

/* Answers of a matrix of d states. labels: d of them, or none. */
int survey_states_input(struct survey_data *data,
                        const struct survey_options *o, struct cli_parser *p,
                        uint32_t d, const struct labels *labels);

/* Plain counts with commas between them, at most `most`; how many, or 0 after a
 * complaint about --name. */
size_t survey_counts(uint64_t *out, size_t most, const char *text,
                     const char *name, struct cli_parser *p);

/* ---- What is done (works.c) ---------------------------------------------- */

/* Each the exit code. */
int survey_estimate(const struct survey_options *o, struct cli_parser *p);
int survey_states(const struct survey_options *o, struct cli_parser *p);
int survey_power(const struct survey_options *o, struct cli_parser *p);
int survey_questionnaire(const struct survey_options *o, struct cli_parser *p);
int survey_simulate(const struct survey_options *o, struct cli_parser *p);

#endif
