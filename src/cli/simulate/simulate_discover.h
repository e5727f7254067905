/* simulate_discover.h - what the files of hearsay simulate --discover share. */
#ifndef CLI_SIMULATE_SIMULATE_DISCOVER_H
#define CLI_SIMULATE_SIMULATE_DISCOVER_H

#include "cli/simulate/simulate_study.h"
#include "sim/discovery/discovery.h"

struct simulate_discover {
    struct simulate_words data, mechanisms;
    uint64_t epsilons[SIMULATE_LIST_MAX]; /* nano */
    size_t nepsilons;
    uint64_t domain, threads; /* 0: not given */
    uint64_t given;           /* options, bits of their ids */
    struct discovery_grid grid;
    struct simulate_files files;
    enum table_format format;

    struct discovery_data people[SIMULATE_LIST_MAX]; /* owned */
    struct discovery_result *rows;                   /* owned */
    size_t nrows;
    struct cli_progress progress;
    uint64_t asked; /* people so far */
    char of[48];
};

/* Print the rows (found_rows.c). */
void simulate_found(const struct simulate_discover *s);

#endif
