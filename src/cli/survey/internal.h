/* internal.h - what the files of hearsay survey share. */
#ifndef CLI_SURVEY_INTERNAL_H
#define CLI_SURVEY_INTERNAL_H

#include "cli/base/base.h"

#define SURVEY_COUNT_MAX ((uint64_t)1 << 53)
#define SURVEY_GROUPS_MAX 100u
#define SURVEY_NAME_MAX 255u /* bytes of a group's name */

enum survey_work {
    SURVEY_ESTIMATE = 0,
    SURVEY_STATES, /* a matrix */
    SURVEY_POWER,
    SURVEY_QUESTIONNAIRE,
    SURVEY_SIMULATE
};

/* ---- Designs (design_options.c) ------------------------------------------ */

struct survey_kind {
    const char *option;       /* without the dashes; also its name in json */
    hsy_survey_design design; /* of a pair: HSY_SURVEY_UNRELATED */
    size_t chances;           /* how many it takes */
    bool pair;                /* two samples, a chance each */
    const char *title;        /* what it is called */
    const char *takes;        /* "a probability P" */
    const char *fix;          /* what to do if it holds no information */
    const char *hidden;       /* what nobody but the respondent may know */
};

struct survey_design {
    const struct survey_kind *kind; /* NULL: none given */
    double chance[2];
    hsy_ratio ratio[2]; /* the same, exactly; of epsilon 0/0 */
    hsy_survey channel; /* not of a pair */
    double epsilon;     /* of the channel; may be infinite */
};

/* Take the option just read, a design's; false after a complaint. */
bool survey_design_option(struct survey_design *d, struct cli_parser *p);

/* Which answer proves which truth, in words; NULL: none does. */
const char *survey_design_proof(const hsy_survey *s);

/* What a table says of a design above its figures. */
void survey_design_print(const struct survey_design *d);

/* The sentence on what must stay hidden. */
void survey_design_hidden(const struct survey_design *d);

/* A design as it stands on the command line, "--spinner 0.7". */
void survey_design_text(char text[64], const struct survey_design *d);

/* ---- Evidence (answers.c) ------------------------------------------------ */

struct survey_group {
    char name[SURVEY_NAME_MAX + 1];
    uint64_t counts[2]; /* answers: no, yes */
    double sum[2], squares[2];
};

/* Answers of groups, or of the two samples of a pair. */
struct survey_data {
    struct survey_group *groups; /* owned; SURVEY_GROUPS_MAX of them */
    size_t count;
    bool weighted;
    uint64_t *states; /* owned; answers of a matrix, d of them */
};

struct survey_options {
    enum survey_work work;
    struct survey_design design;
    const char *yes, *n, *counts;                           /* lists */
    const char *answers, *column, *group, *weight, *sample; /* of a CSV */
    const char *matrix, *values_file;
    double level;
    enum cli_format format;
    const char *plot;
    double margin, share, power, innocuous; /* NaN: not given */
    double shares[2];
    const char *question, *other_question;
    uint64_t runs, seed;
};

/* From --yes and --n, or from --answers; clear it in either case. A message and
 * the exit code, or 0. */
int survey_data_read(struct survey_data *data, const struct survey_options *o,
                     struct cli_parser *p);
void survey_data_clear(struct survey_data *data);

/* Answers of a matrix of d states. labels: d of them, or none. */
int survey_states_read(struct survey_data *data, const struct survey_options *o,
                       struct cli_parser *p, uint32_t d,
                       const struct labels *labels);

/* Plain counts with commas between them, at most `most`; how many, or 0 after a
 * complaint about --name. */
size_t survey_counts(uint64_t *out, size_t most, const char *text,
                     const char *name, struct cli_parser *p);

/* ---- What is done -------------------------------------------------------- */

/* One group's figures. */
struct survey_row {
    const char *name;
    uint64_t yes, n;           /* as answered */
    double yes_worth, n_worth; /* as many plain answers, if they have weights */
    hsy_evidence point;
    hsy_survey_result r;
};

struct survey_rows {
    const struct survey_options *how;
    struct survey_row *rows; /* owned */
    size_t count;
    bool weighted;
    hsy_survey_pair pair;    /* if the design is one: a single row */
    hsy_survey_test test;    /* of two groups or more */
    hsy_estimate difference; /* of two: the first less the second */
};

/* Each the exit code. */
int survey_estimate(const struct survey_options *o, struct cli_parser *p);
int survey_states(const struct survey_options *o, struct cli_parser *p);
int survey_power(const struct survey_options *o, struct cli_parser *p);
int survey_questionnaire(const struct survey_options *o, struct cli_parser *p);
int survey_simulate(const struct survey_options *o, struct cli_parser *p);

/* Print rows in the format asked for (survey_show.c). */
void survey_show(const struct survey_rows *s);

/* "12.3 %", with so many decimals; as many as give sd three digits. */
void survey_percent(char text[48], double share, int decimals);
int survey_decimals(double sd);

/* Draw them (survey_plot.c): the likelihood of one share, the surface of two,
 * or a list. */
hsy_status survey_plot(char **svg, size_t *len, const struct survey_rows *s,
                       hsy_error *err);

#endif
