/*
 * survey.h - interview surveys by randomized response: designs, answers,
 * shares, how many people are needed, what to hand out, and a rehearsal.
 *
 * Nothing here prints but to a stream that it is given. Messages of errors are
 * literals and never hold an answer. Memory that a struct owns is freed by the
 * function named with it.
 */
#ifndef HOST_SURVEY_SURVEY_H
#define HOST_SURVEY_SURVEY_H

#include "host/base/table.h"
#include "host/format/codes.h"
#include "host/format/matrix_file.h"

#define SURVEY_COUNT_MAX ((uint64_t)1 << 53)
#define SURVEY_GROUPS_MAX 100u
#define SURVEY_NAME_MAX 255u /* bytes of a group's name */

/* ---- Designs (design.c) -------------------------------------------------- */

struct survey_kind {
    const char *name;         /* on the command line and in json */
    hsy_survey_design design; /* of a pair: HSY_SURVEY_UNRELATED */
    size_t chances;           /* how many it takes */
    bool pair;                /* two samples, a chance each */
    const char *title;        /* what it is called */
    const char *takes;        /* "a probability P" */
    const char *fix;          /* what to do if it holds no information */
    const char *hidden;       /* what nobody but the respondent may know */
};

struct survey_design {
    const struct survey_kind *kind; /* NULL: none */
    double chance[2];
    hsy_ratio ratio[2]; /* the same, exactly; of epsilon 0/0 */
    hsy_survey channel; /* not of a pair */
    double epsilon;     /* of the channel; may be infinite */
};

/* The kind of this name; NULL: there is none. */
const struct survey_kind *survey_kind_of(const char *name);

/* A design from its text. HSY_E_FORMAT if that is not what the kind takes,
 * HSY_E_RANGE if answers would hold no information. */
hsy_status survey_design_parse(struct survey_design *out,
                               const struct survey_kind *kind, const char *text,
                               hsy_error *err);

/* Which answer proves which truth, in words; NULL: none does. */
const char *survey_design_proof(const hsy_survey *s);

/* ---- Answers (answers.c) ------------------------------------------------- */

struct survey_group {
    char name[SURVEY_NAME_MAX + 1];
    uint64_t counts[2]; /* answers: no, yes */
    double sum[2], squares[2];
};

/* People of a table who are left out. */
struct survey_silent {
    bool known; /* there is a table */
    uint64_t missing, refused;
};

/* Answers of groups, or of the two samples of a pair. Zero it to begin. */
struct survey_data {
    struct survey_silent silent;
    struct survey_group *groups; /* owned; SURVEY_GROUPS_MAX of them */
    size_t count;
    bool weighted;
    uint64_t *states; /* owned; answers of a matrix, HSY_MATRIX_MAX of them */
};

/* "3 people without an answer, 2 who refused"; empty if there is nobody. */
#define SURVEY_SILENT_TEXT 96
void survey_silent_text(char text[SURVEY_SILENT_TEXT],
                        const struct survey_silent *s);

/* Room for groups, or for states. HSY_E_NOMEM. */
hsy_status survey_data_open(struct survey_data *data, bool states,
                            hsy_error *err);
void survey_data_clear(struct survey_data *data);

/* One more group, called by its number: yes of n, at most SURVEY_GROUPS_MAX. */
void survey_data_add(struct survey_data *data, uint64_t yes, uint64_t n);

enum survey_column {
    SURVEY_ANSWER,
    SURVEY_GROUP,
    SURVEY_WEIGHT,
    SURVEY_SAMPLE,
    SURVEY_COLUMNS
};

/* A table in CSV, whose first line names the columns, and each further one is a
 * person; commas or semicolons separate fields, as in the first line. A
 * byte-order mark and empty lines at the end are passed over. */
struct survey_table {
    const char *columns[SURVEY_COLUMNS]; /* that are wanted; NULL: not */
    const struct survey_design *design;  /* NULL: a matrix of d states, */
    uint32_t d;
    const struct labels *labels; /* called so; indexed, d is 0: numbers */
};

enum survey_trouble {
    SURVEY_BAD_LINE = 1, /* as the error says */
    SURVEY_BAD_FIELD,    /* of the column, as the error says */
    SURVEY_NO_ANSWER,    /* a field that is none, as truth says */
    SURVEY_NO_COLUMN,    /* of this name */
    SURVEY_NOBODY,       /* no answer of anybody */
    SURVEY_NO_SAMPLE,    /* nobody in this one */
    SURVEY_NO_WEIGHT,    /* all weights of a group are 0 */
    SURVEY_ONE_GROUP     /* all answers are of one */
};

/* Where a table is wrong; trouble 0: as lines_next says. */
struct survey_wrong {
    enum survey_trouble trouble;
    enum survey_column column;
    uint64_t line;            /* from 1 */
    struct truth_wrong truth; /* of an answer */
    size_t sample;            /* 1 or 2 */
    size_t near; /* the column that may have been meant, from 1; 0: none. Not
                    its text: without a header that is an answer */
};

/* Count the answers of a table into data that was opened. */
hsy_status survey_data_read(struct survey_data *data,
                            struct survey_wrong *wrong,
                            const struct survey_table *table, int fd,
                            hsy_error *err);

/* ---- Shares (shares.c) --------------------------------------------------- */

/* One group's figures. */
struct survey_row {
    const char *name;          /* in the data */
    uint64_t yes, n;           /* as answered */
    double yes_worth, n_worth; /* as many plain answers, if they have weights */
    hsy_evidence point;
    hsy_survey_result r;
};

struct survey_rows {
    const struct survey_design *design;
    struct survey_silent silent;
    double level;
    struct survey_row *rows; /* owned */
    size_t count;
    bool weighted;
    hsy_survey_pair pair;    /* if the design is one: a single row */
    hsy_survey_test test;    /* of two groups or more */
    hsy_estimate difference; /* of two: the first less the second */
};

/* Shares behind the answers, and whether groups differ. Design and data must
 * outlive out. */
hsy_status survey_rows_fill(struct survey_rows *out,
                            const struct survey_design *design,
                            const struct survey_data *data, double level,
                            hsy_error *err);
void survey_rows_clear(struct survey_rows *s);

/* Whether no share explains a rate: then its interval is no certainty. */
bool survey_odd(const hsy_survey_result *r);

/* The design's epsilon; of two samples the worse one's, at the most likely rate
 * of the other question. */
double survey_rows_epsilon(const struct survey_rows *s);

/* ---- A matrix of one's own (matrix_shares.c) ----------------------------- */

struct survey_matrix {
    size_t d;
    struct survey_silent silent; /* whoever counted sets it */
    double condition, epsilon;
    double h[HSY_MATRIX_MAX * HSY_MATRIX_MAX]; /* [answer][truth] */
    double inverse[HSY_MATRIX_MAX * HSY_MATRIX_MAX];
    uint64_t counts[HSY_MATRIX_MAX];
    double n; /* of all */
    hsy_survey_shares shares;
};

/* HSY_E_RANGE with the column (from 1) in err->at that the others explain. */
hsy_status survey_matrix_open(struct survey_matrix *m,
                              const struct matrix_file *file, hsy_error *err);

/* The shares of d states behind as many counts. */
hsy_status survey_matrix_estimate(struct survey_matrix *m,
                                  const uint64_t *counts, hsy_error *err);

/* A state's standard error, and its Wald interval cut to [0, 1]. */
double survey_matrix_sd(const struct survey_matrix *m, size_t i);
void survey_matrix_wald(double ends[2], const struct survey_matrix *m, size_t i,
                        double level);

/* Which answer rules out which truth; false: none does. */
bool survey_matrix_proof(size_t *answer, size_t *truth,
                         const struct survey_matrix *m);

/* ---- How many people (power.c) ------------------------------------------- */

/* NaN: not given. One of margin and shares is. */
struct survey_aim {
    double level, margin, share, shares[2];
    double power;     /* chance to tell shares apart */
    double innocuous; /* of a pair: the share of yes to the other question */
};

/* What is needed by the design itself, by the best one of its epsilon, and by
 * asking directly. A pair has none but the first, split in two. */
struct survey_needs {
    bool groups;  /* of each of two groups */
    double share; /* that is expected, or the worst */
    double n, samples[2], best, direct;
};

/* A pair needs margin, share and innocuous: HSY_E_EMPTY without. */
hsy_status survey_needs_find(struct survey_needs *out,
                             const struct survey_design *design,
                             const struct survey_aim *aim, hsy_error *err);

/* ---- A sheet to hand out (sheet.c) --------------------------------------- */

#define SURVEY_CARDS 1000u /* at most */

/* Outcomes 1 to sides: the first parts[0], then parts[1], then the rest. A coin
 * has two sides, a die six, all else are numbered cards. */
struct survey_draw {
    uint64_t sides, parts[2];
};

/* What is really done: chances that no coin, die or pack has are rounded
 * towards more privacy. */
struct survey_sheet {
    struct survey_draw draw[2];     /* the second of two coins, or samples */
    const struct survey_kind *kind; /* how the answers are analysed, */
    hsy_ratio chance[2];            /* with these */
    hsy_survey channel;             /* of what is done; of a pair none */
};

/* HSY_E_RANGE if what is left holds no information. */
hsy_status survey_sheet_settle(struct survey_sheet *out,
                               const struct survey_design *design,
                               hsy_error *err);

/* ---- A rehearsal (rehearse.c) -------------------------------------------- */

#define SURVEY_INTERVALS 4u /* Wald, Wilson, likelihood, exact */

struct survey_rehearsal_how {
    double level, share, innocuous;
    uint64_t n[2]; /* people; the second of a pair only, else 0 */
    uint64_t runs, seed;
    void (*tick)(void *ctx, uint64_t runs); /* done so far; NULL: none */
    void *ctx;
};

struct survey_rehearsal {
    double predicted; /* standard error, by theory */
    double mean, sd;  /* of the estimates; sd is NaN of one run */
    double outside;   /* share of estimates outside [0, 1] */
    struct survey_held {
        const char *name;
        double coverage, width; /* NaN: there was no such interval */
        double law;             /* coverage by its law; NaN: not known */
    } held[SURVEY_INTERVALS];
};

hsy_status survey_rehearse(struct survey_rehearsal *out,
                           const struct survey_design *design,
                           const struct survey_rehearsal_how *how,
                           hsy_error *err);

/* ---- In words and numbers ------------------------------------------------ */

/* Each result for a person, a spreadsheet or a program: survey_rows.c,
 * matrix_rows.c (labels: of the states, d is 0: none), needs_rows.c,
 * rehearsal_rows.c. */
void survey_rows_print(FILE *to, enum table_format format,
                       const struct survey_rows *s);
void survey_matrix_print(FILE *to, enum table_format format,
                         const struct survey_matrix *m,
                         const struct labels *labels, double level);
void survey_needs_print(FILE *to, enum table_format format,
                        const struct survey_needs *w,
                        const struct survey_design *d,
                        const struct survey_aim *aim);
void survey_rehearsal_print(FILE *to, enum table_format format,
                            const struct survey_rehearsal *r,
                            const struct survey_design *design,
                            const struct survey_rehearsal_how *how);

/* The sheet for interviewer and respondent; NULL for a question leaves room for
 * it (sheet_text.c). */
void survey_sheet_print(FILE *to, const struct survey_sheet *sheet,
                        const struct survey_design *design, const char *ask,
                        const char *other);

/* ---- Figures (survey_plot.c) --------------------------------------------- */

/* The likelihood of one share, the surface of two, or a list; to be freed with
 * free(). As plot_svg. A pair has no figure. */
hsy_status survey_plot(char **svg, size_t *len, const struct survey_rows *s,
                       hsy_error *err);

/* The most likely shares of a matrix, called as labels say, if it has d. */
hsy_status survey_plot_matrix(char **svg, size_t *len,
                              const struct survey_matrix *m,
                              const struct labels *labels, double level,
                              hsy_error *err);

#endif
