/* discover_parts.h - what the files of hearsay discover share. */
#ifndef DISCOVER_PARTS_H
#define DISCOVER_PARTS_H

#include "cli_gather.h"

struct discover_options {
    hsy_search search;
    hsy_confidence how;
    bool simultaneous, all_stages;
    bool plan; /* nothing is collected yet */
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
    struct discover_row *rows; /* owned */
    size_t count, room;
    uint64_t found; /* of the last stage */
    uint64_t candidates;
};

/* Print to stdout (discover_show.c). */
void discover_show(const struct discover_result *r);
void discover_show_plan(const struct discover_options *o, const hsy_info *info,
                        const struct discover_stages *stages);

#endif
