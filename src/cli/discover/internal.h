/* internal.h - what the files of hearsay discover share. */
#ifndef CLI_DISCOVER_INTERNAL_H
#define CLI_DISCOVER_INTERNAL_H

#include "cli/base/gather.h"
#include "host/discover/discover.h"

/* What is asked, whatever the verb. */
struct discover_how {
    struct cli_parser parser;
    hsy_search search;
    hsy_confidence how;
    bool simultaneous, all_stages;
    bool all;           /* sfp: chance or not */
    uint64_t threshold; /* sfp: pairs of an offset that go on */
    struct discover_aim aim;
    const char *plot; /* NULL: no figure */
    enum table_format format;
    struct cli_spec spec; /* of a plan, and of a first stage */
    const char *alphabet;

    /* Of a search in batches. */
    bool in_batches; /* plan such a one */
    struct discover_batches batches;
    int sizes;
    const char *task; /* FILE:ID */
    const char *id, *source, *question, *output;
    uint32_t from, to; /* days; 0: not said */
};

/* What a search refuses, in the words of the options. The exit code. */
int discover_refused(const hsy_search *search, bool puzzle,
                     const hsy_error *err);

/* ---- Searching in batches (batches.c): struct discover_how; the exit code. */

int discover_start(void *to);
int discover_next_stage(struct discover_how *o, struct gather *g);
int discover_plan_stages(struct discover_how *o);

#endif
