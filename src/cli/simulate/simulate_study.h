/* simulate_study.h - what the files of hearsay simulate --data share. */
#ifndef CLI_SIMULATE_SIMULATE_STUDY_H
#define CLI_SIMULATE_SIMULATE_STUDY_H

#include "cli/base/base.h"
#include "host/base/output.h"
#include "sim/study/study.h"

#define SIMULATE_LIST_MAX 64u   /* entries of a list on the command line */
#define SIMULATE_ROWS_MAX 4096u /* of all lists together */
#define SIMULATE_ATTACKS "averaging, change, fingerprint, drift or poisoning"

/* ---- Lists and files (list_options.c) ------------------------------------ */

/* The words of a list; memory is owned. */
struct simulate_words {
    const char *at[SIMULATE_LIST_MAX];
    size_t n;
    char *memory;
};

/* The value of the option just read, comma-separated; false after a complaint.
 * Lists have room for SIMULATE_LIST_MAX. */
bool simulate_words(struct cli_parser *p, struct simulate_words *list);
bool simulate_mechanisms(struct cli_parser *p, struct simulate_words *list);
bool simulate_epsilons(struct cli_parser *p, uint64_t *list, size_t *n);
bool simulate_counts(struct cli_parser *p, uint64_t *list, size_t *n,
                     uint64_t least, uint64_t most);

/* How many threads there are if nobody says. */
uint64_t simulate_cores(void);

/* What is written beside the table. */
struct simulate_files {
    const char *plot, *dump;        /* NULL: none */
    struct output *figure, *dumped; /* open while runs are made */
};

/* Open them before the work, so that a wrong path does not cost it; then close
 * the dump, or both if something failed. The exit code after a message, or the
 * one before. */
int simulate_files_open(struct simulate_files *f);
int simulate_files_end(struct simulate_files *f, int code);

/* One line of a dump: what stands before, numbers, and what comes after them;
 * NULL: nothing. */
hsy_status simulate_dump_line(struct output *out, const char *before,
                              const double *numbers, size_t n,
                              const char *after);

/* ---- A study ------------------------------------------------------------- */

struct simulate_model {
    enum study_model model;
    uint64_t curators;
};

/* A model, and a mechanism where people add the noise. */
struct simulate_way {
    struct simulate_model who;
    const char *mechanism;
};

struct simulate_study {
    const char *data;
    struct simulate_words mechanisms;
    uint64_t epsilons[SIMULATE_LIST_MAX]; /* nano */
    uint64_t users[SIMULATE_LIST_MAX];
    uint64_t domains[SIMULATE_LIST_MAX];
    struct simulate_model models[SIMULATE_LIST_MAX];
    size_t nepsilons, nusers, ndomains, nmodels;
    uint64_t runs, seed, top, threads;
    double delta; /* of shuffled reports; 0: by the number of people */
    struct simulate_files files;
    bool one_by_one;
    bool stop; /* help was asked for and given */
    enum cli_format format;
    struct cli_spec question; /* --range, --bins, --set */

    struct simulate_way *ways; /* owned */
    size_t nways;
    struct study_people filed; /* of file:PATH, which is read once */
    uint64_t counted;          /* how many they are */
    struct study_result *rows; /* owned */
    size_t nrows;
    struct cli_progress progress;
    uint64_t people; /* who have reported so far, */
    char of[48];     /* "of 1000 people" */
};

/* Read the arguments (study_options.c). The exit code after a message, or
 * 0. */
int simulate_options(struct simulate_study *s, struct cli_parser *p, int argc,
                     char **argv);
bool simulate_from_file(const struct simulate_study *s);

/* How many rows there will be. */
size_t simulate_count(const struct simulate_study *s);

/* People from a file, one truth a line (people_file.c). Without a domain and
 * a range (d 0 in the spec) the values are the different lines, sorted, and d
 * becomes their number. The exit code after a message, or 0. */
int simulate_file(struct study_people *people, uint64_t *users, hsy_spec *spec,
                  const char *path);

/* The same of strings spelled in so many bits, or of integers as wide, for
 * --discover: the people's numbers are their codes. */
int simulate_strings(struct study_people *people, uint64_t *users,
                     uint64_t bits, bool integers, const char *path);

/* Print the rows; write the runs of one row to the dump, its header first for
 * the first row (study_rows.c). */
void simulate_rows(const struct simulate_study *s);
hsy_status simulate_dump(const struct simulate_study *s,
                         const struct study_result *row, bool first);

/* hearsay simulate --data (simulate_study.c). */
int simulate_study(int argc, char **argv);

/* hearsay simulate --discover, and whether that is meant (discover_grid.c).
 */
int simulate_discover(int argc, char **argv);
bool simulate_discovers(int argc, char **argv);

/* hearsay simulate --discover sfp, likewise (puzzle_grid.c). */
int simulate_puzzle(int argc, char **argv);
bool simulate_puzzles(int argc, char **argv);

#endif
