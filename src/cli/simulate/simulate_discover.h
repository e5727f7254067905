/* simulate_discover.h - what the files of hearsay simulate --discover share. */
#ifndef CLI_SIMULATE_SIMULATE_DISCOVER_H
#define CLI_SIMULATE_SIMULATE_DISCOVER_H

#include "cli/simulate/simulate_study.h"
#include "sim/discovery/discovery.h"

struct simulate_discover {
    struct simulate_words data, mechanisms;
    uint64_t epsilons[SIMULATE_LIST_MAX]; /* nano */
    size_t nepsilons;
    uint64_t users, domain, bits, step, first, threads; /* 0: not given */
    uint64_t given;      /* options, bits of their ids */
    bool integers, tree; /* tree: treehist */
    struct discovery how;
    struct simulate_files files;
    enum cli_format format;

    /* Owned: of each data, the file's people being so many. */
    struct study_people people[SIMULATE_LIST_MAX];
    uint64_t counted[SIMULATE_LIST_MAX]; /* 0: not from a file */
    struct discovery_result *rows;       /* owned */
    size_t nrows;
    struct cli_progress progress;
    uint64_t asked; /* people so far */
    char of[48];
};

/* Print the rows; write the runs of one to the dump, its header first for the
 * first row (found_rows.c). */
void simulate_found(const struct simulate_discover *s);
hsy_status simulate_found_dump(const struct simulate_discover *s,
                               const struct discovery_result *row, bool first);

#endif
