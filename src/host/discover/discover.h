/*
 * discover.h - searches for strings: how many people they take, and their
 * stages as task files.
 *
 * A search in batches keeps no state but tallies and task files: from a stage's
 * task and its tally comes the next stage's task. What is wrong is a status, an
 * error, and a code that says with what.
 */
#ifndef HOST_DISCOVER_DISCOVER_H
#define HOST_DISCOVER_DISCOVER_H

#include "hearsay.h"
#include "host/analysis/analysis.h"
#include "host/base/table.h"

/* With what something is wrong. */
enum discover_wrong {
    DISCOVER_FINE = 0,
    DISCOVER_STEP,     /* does not divide the bits */
    DISCOVER_ALPHABET, /* err says why */
    DISCOVER_WIDTH,    /* more candidates than are allowed */
    DISCOVER_SCHEME,   /* err: of a spec */
    DISCOVER_SEARCH,   /* err: of what is wanted of a search */
    DISCOVER_DOCUMENT, /* err: of a document with the task */
    DISCOVER_RELEASE,  /* err: of what a device makes of the task */
    DISCOVER_NO_STAGE, /* the task is not of a search in batches */
    DISCOVER_OTHER_STAGE,
    DISCOVER_OTHER_TASK, /* `differs` in what */
    DISCOVER_EMPTY,      /* the tally has no reports */
    DISCOVER_LAST,       /* the search is over */
    DISCOVER_ROOM,       /* the search was begun for fewer prefixes */
    DISCOVER_NOTHING,    /* no prefix is significant */
    DISCOVER_MEMORY
};

/* ---- How many people (search_plan.c) ------------------------------------- */

/* A string to be found: held by a share of people, and missed at a stage with
 * this chance. */
struct discover_aim {
    double frequency, miss;
};

/* What is asked for at once, of people of its own or of a part of a report. */
struct discover_row {
    hsy_stage stage;
    double epsilon; /* of this part of a report */
    double part;    /* of the people that it has */
    double users;   /* that it takes: of a stage its own people, of a puzzle's
                       part all who answer */
};

struct discover_plan {
    struct discover_row row[HSY_STAGES_MAX];
    size_t count;
    size_t groups;             /* that people are split into */
    double users;              /* in all */
    enum discover_wrong wrong; /* of batches: where it failed */
};

/* Stages of one round of reports: everybody is in one group. */
hsy_status discover_plan_groups(struct discover_plan *out, const hsy_scheme *s,
                                const hsy_search *search,
                                const struct discover_aim *aim, hsy_error *err);

/* The fragment puzzle: a row for the fragments and one for the word. */
hsy_status discover_plan_puzzle(struct discover_plan *out, const hsy_scheme *s,
                                const hsy_puzzle *how,
                                const struct discover_aim *aim, hsy_error *err);

/* ---- Batches (first_stage.c) --------------------------------------------- */

/* What holds for all stages of a search in batches. */
struct discover_batches {
    uint64_t nano_epsilon;
    uint64_t bits, step;  /* of a string, of a stage; 0: 48, 8 */
    uint64_t sizes;       /* equal, rising, diminishing */
    const char *oracle;   /* NULL: the mechanism's choice */
    const char *alphabet; /* as text; NULL: any bytes */
    uint64_t top, keep;   /* 0: 16, 2 */
    uint64_t candidates;  /* of a stage, at most */
};

/* What is not said becomes what it stands for. */
void discover_settle(struct discover_batches *b);

/* The spec of the first stage; b is settled. */
hsy_status discover_first(hsy_spec *spec, enum discover_wrong *wrong,
                          const struct discover_batches *b, hsy_error *err);

/* All stages of a search with this first one, as many survivors as there may be
 * after each. */
hsy_status discover_plan_batches(struct discover_plan *out,
                                 const hsy_spec *first,
                                 const hsy_search *search,
                                 const struct discover_aim *aim,
                                 hsy_error *err);

/* The task of a first stage but for its names and question: what a person can
 * change in the file. From `start` to the day before `end`. */
#define DISCOVER_DAYS 7u
hsy_task discover_task(uint32_t start, uint32_t end);

/* A task file, for a person to read and a device to take. */
struct discover_file {
    char *text; /* owned */
    size_t len;
    enum discover_wrong wrong; /* why there is none */
};

/* The file of a stage; the scheme of the task is that of the spec. It is
 * checked as devices will. */
hsy_status discover_stage_file(struct discover_file *out, const hsy_task *task,
                               const hsy_spec *spec, uint64_t version,
                               hsy_error *err);

/* The bare text of such a file (stage_file.c). HSY_E_NOMEM. */
hsy_status discover_stage_text(struct discover_file *out, const hsy_task *task,
                               const hsy_spec *spec, uint64_t version,
                               hsy_error *err);

/* ---- The next stage (next_stage.c) --------------------------------------- */

/* A stage that is over, and what is wanted of the next. */
struct discover_done {
    const hsy_task *task;
    uint64_t version;  /* of its file */
    hsy_search search; /* top 0: as many go on as there is room for */
    uint32_t end;      /* of the next; 0: it is as long again */
};

/* What became of it, as far as it is known when something is wrong. */
struct discover_next {
    struct discover_file file; /* owned; its `wrong` is for all of this */
    uint32_t stage, stages;    /* of the task; from 1 on */
    const char *differs;       /* a literal */
    uint64_t top, keep, room;  /* prefixes asked for, and there is room for */
    size_t survivors;
    uint64_t candidates;
};

/* The stage after, as the tally t of that stage has found. Free file.text. */
hsy_status discover_next(struct discover_next *out, const hsy_analysis_tally *t,
                         const struct discover_done *done, hsy_error *err);

/* The spec of a stage becomes that of the next one: its labels are what was
 * found by s, the stage's scheme. *labels, NULL at first, is freed and made
 * anew. HSY_E_NOMEM. */
hsy_status discover_next_spec(hsy_spec *spec, uint8_t **labels,
                              const hsy_scheme *s, const hsy_candidate *found,
                              size_t count, hsy_error *err);

/* ---- What is told of it -------------------------------------------------- */

/* What was found in a tally, which has its info: shares with their intervals at
 * this level. */
struct discover_found {
    const hsy_analysis_tally *tally;
    const struct analysis_search *got;
    double level;
    bool simultaneous, all_stages;
    double miss; /* chance to miss a string that is told of */
};

/* The largest first, as a figure (discover_plot.c). */
hsy_status discover_svg(char **svg, size_t *len, const struct discover_found *f,
                        hsy_error *err);

/* For a person, a spreadsheet or a program (found_text.c). */
void discover_print(FILE *to, enum table_format format,
                    const struct discover_found *r);

/* The same of a plan; info: of its scheme, NULL for batches (plan_text.c). */
void discover_plan_print(FILE *to, enum table_format format,
                         const struct discover_plan *plan,
                         const hsy_scheme_info *info,
                         const struct discover_aim *aim);

/* The bytes of strings; nothing if they may be any. */
struct table_cell discover_alphabet(char text[HSY_ALPHABET_TEXT],
                                    const hsy_scheme_info *info);

#endif
