/* discover_parts.h - what the files of hearsay discover share. */
#ifndef DISCOVER_PARTS_H
#define DISCOVER_PARTS_H

#include "cli_gather.h"

struct discover_options {
    hsy_search search;
    hsy_confidence how;
    bool simultaneous, all_stages;
    bool all;           /* sfp: chance or not */
    uint64_t threshold; /* sfp: pairs of an offset that go on */
    bool plan;          /* nothing is collected yet */
    bool has_frequency, has_miss;
    double frequency, miss;
    enum cli_format format;
};

/* The stages of a search. */
struct discover_stages {
    hsy_stage stage[HSY_STAGES_MAX];
    size_t count;
};

/* A string, or with --all-stages a prefix. */
struct discover_row {
    size_t stage; /* from 0 */
    hsy_found found;
    hsy_estimate est;
    char name[HSY_SPELL_BITS + 16]; /* symbols, and the bits after them */
    size_t name_len;
};

struct discover_result {
    const struct discover_options *options;
    const struct cli_gather *gather;
    const struct discover_stages *stages;
    const char *group; /* what reports are split over, and how many these are */
    size_t groups;
    struct discover_row *rows; /* owned */
    size_t count, room;
    uint64_t found; /* of the last stage */
    uint64_t candidates;
};

/* Append what a stage has found; 0, or the exit code after a message
 * (cmd_discover.c). */
int discover_keep(struct discover_result *r, const hsy_found *found,
                  size_t count, size_t stage);

/* The same of a tally of sfp, from the search to the end, and of the plan
 * (discover_puzzle.c). */
int discover_puzzle(const struct discover_options *o, struct cli_gather *g);
int discover_puzzle_plan(const struct discover_options *o, const hsy_scheme *s);

/* Print to stdout (discover_show.c). */
void discover_show(const struct discover_result *r);
void discover_show_plan(const struct discover_options *o, const hsy_info *info,
                        const struct discover_stages *stages);

#endif
