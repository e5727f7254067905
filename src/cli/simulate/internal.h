/* internal.h - what the files of hearsay simulate share. */
#ifndef CLI_SIMULATE_INTERNAL_H
#define CLI_SIMULATE_INTERNAL_H

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

/* Numbers of a list. */
struct simulate_numbers {
    uint64_t at[SIMULATE_LIST_MAX];
    size_t n;
};

/* The value of the option just read, comma-separated; false after a complaint.
 */
bool simulate_words(struct cli_parser *p, struct simulate_words *list);

/* The same for rows of CLI_INTO_CALL, whose place has the list: of any words,
 * of mechanisms, of epsilons (nano), of counts from low to high. */
bool simulate_words_row(struct cli_parser *p, void *to);
bool simulate_mechanisms(struct cli_parser *p, void *to);
bool simulate_epsilons(struct cli_parser *p, void *to);
bool simulate_counts(struct cli_parser *p, void *to);

/* Refuses any operand. */
bool simulate_operand(struct cli_parser *p, void *to);

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

/* ---- A study ------------------------------------------------------------- */

struct simulate_study {
    const char *data;
    struct simulate_words mechanisms;
    struct simulate_numbers epsilons, users, domains;
    struct study_way models[SIMULATE_LIST_MAX]; /* without a mechanism */
    size_t nmodels;
    uint64_t threads;
    struct study_grid grid; /* its top, and how: runs, seed, delta, ... */
    struct simulate_files files;
    bool stop;    /* help was asked for and given */
    int sampling; /* auto, users */
    enum table_format format;
    struct cli_spec question; /* --range, --bins, --set */

    struct study_way *ways;    /* owned */
    struct study_file filed;   /* of file:PATH, which is read once */
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

/* Say what is wrong with people from a file. The exit code. */
int simulate_file_refused(const char *path, enum study_wrong wrong,
                          hsy_error *err);

/* hearsay simulate --data (simulate_study.c). */
int simulate_study(int argc, char **argv);

/* hearsay simulate --discover, and whether that is meant (simulate_discover.c).
 */
int simulate_discover(int argc, char **argv);
bool simulate_discovers(int argc, char **argv);

/* hearsay simulate --discover sfp, likewise (simulate_puzzle.c). */
int simulate_puzzle(int argc, char **argv);
bool simulate_puzzles(int argc, char **argv);

/* hearsay simulate fleet URL; argv[0] is "fleet" (simulate_fleet.c). */
int simulate_fleet(int argc, char **argv);

#endif
