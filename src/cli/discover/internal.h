/* internal.h - what the files of hearsay discover share. */
#ifndef CLI_DISCOVER_INTERNAL_H
#define CLI_DISCOVER_INTERNAL_H

#include "cli/base/gather.h"
#include "host/discover/discover.h"

struct discover_options {
    hsy_search search;
    hsy_confidence how;
    bool simultaneous, all_stages;
    bool all;           /* sfp: chance or not */
    uint64_t threshold; /* sfp: pairs of an offset that go on */
    bool plan;          /* nothing is collected yet */
    struct discover_aim aim;
    const char *plot; /* NULL: no figure */
    enum table_format format;
};

/* What a search refuses, in the words of the options. The exit code. */
int discover_refused(const struct discover_options *o, bool puzzle,
                     const hsy_error *err);

/* Whether --start, --next or --batches is given, and the whole command with
 * them (batches.c). */
bool discover_batched(int argc, char **argv);
int discover_batches(int argc, char **argv);

#endif
