/* internal.h - what the files of hearsay simulate share. */
#ifndef CLI_SIMULATE_INTERNAL_H
#define CLI_SIMULATE_INTERNAL_H

#include "cli/base/base.h"
#include "host/base/output.h"
#include "sim/study/study.h"

#define SIMULATE_ROWS_MAX 4096u /* of all lists together */

/* ---- Lists and files (list_options.c) ------------------------------------ */

/* Mechanisms, for a row of CLI_INTO_CALL whose place has a struct cli_words. */
bool simulate_mechanisms(struct cli_parser *p, void *to);

/* What is drawn, and on how many threads. */
#define SIMULATE_DATA "zipf: geometric: poisson: uniform gaussian:"
#define SIMULATE_ROWS(seed, threads)                                           \
    {"seed", "N", "random seed", CLI_INTO_COUNT,                               \
     seed,   0,   UINT64_MAX,    .preset = "1"},                               \
    {                                                                          \
        "threads", "N",                                                        \
            "number of threads (default: all cores); results do not depend "   \
            "on it",                                                           \
            CLI_INTO_COUNT, threads, 1, STUDY_THREADS_MAX                      \
    }

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
    struct cli_words mechanisms;
    struct cli_numbers epsilons, users, domains;
    struct study_way models[CLI_LIST_MAX]; /* without a mechanism */
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

/* ---- What is simulated: argv[0] is its name ------------------------------ */

int simulate_study(int argc, char **argv);
int simulate_fleet(int argc, char **argv);
int simulate_discover(int argc, char **argv);

/* hearsay simulate discover sfp (simulate_puzzle.c). */
int simulate_puzzle(int argc, char **argv);

#endif
