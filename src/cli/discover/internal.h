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
    bool has_frequency, has_miss;
    struct discover_aim aim;
    const char *plot; /* NULL: no figure */
    enum table_format format;
};

struct discover_result {
    const struct discover_options *options;
    const struct gather *gather;
    struct analysis_search got;
};

/* What a search refuses, in the words of the options. The exit code. */
int discover_refused(const struct discover_options *o, bool puzzle,
                     const hsy_error *err);

/* Whether --start, --next or --batches is given, and the whole command with
 * them (batches.c). */
bool discover_batched(int argc, char **argv);
int discover_batches(int argc, char **argv);

/* Print to stdout (discover_show.c). */
void discover_show(const struct discover_result *r);

/* The bytes of strings; nothing if they may be any. */
struct table_cell discover_alphabet(char text[HSY_ALPHABET_TEXT],
                                    const hsy_scheme_info *info);

/* Print a plan: of one round, of a puzzle, of batches (plan_show.c). */
void discover_show_groups(const struct discover_options *o,
                          const hsy_scheme_info *info,
                          const struct discover_plan *plan);
void discover_show_puzzle(const struct discover_options *o,
                          const hsy_scheme_info *info,
                          const struct discover_plan *plan);
void discover_show_batches(const struct discover_options *o,
                           const struct discover_plan *plan);

#endif
