/* internal.h - what the files of hearsay discover share. */
#ifndef CLI_DISCOVER_INTERNAL_H
#define CLI_DISCOVER_INTERNAL_H

#include "cli/base/gather.h"

struct discover_options {
    hsy_search search;
    hsy_confidence how;
    bool simultaneous, all_stages;
    bool all;           /* sfp: chance or not */
    uint64_t threshold; /* sfp: pairs of an offset that go on */
    bool plan;          /* nothing is collected yet */
    bool has_frequency, has_miss;
    double frequency, miss;
    const char *plot; /* NULL: no figure */
    enum cli_format format;
};

/* The stages of a search. */
struct discover_stages {
    hsy_stage stage[HSY_STAGES_MAX];
    size_t count;
};

struct discover_result {
    const struct discover_options *options;
    const struct gather *gather;
    struct shares_search got;
};

/* What a search refuses, in the words of the options. The exit code. */
int discover_refused(const hsy_search *search, const hsy_error *err);

/* Whether --start, --next or --batches is given, and the whole command with
 * them (next_stage.c). */
bool discover_batched(int argc, char **argv);
int discover_batches(int argc, char **argv);

/* The first cells of a row of a plan: its number, what it asks, n Var. */
#define DISCOVER_STAGE_CELLS 5u
void discover_stage_cell(const hsy_stage *stage, size_t row, size_t column,
                         struct cli_cell *out);

/* The same of sfp, and the plan of a search (puzzle_plan.c). */
int discover_puzzle_refused(const struct discover_options *o,
                            const hsy_error *err);
int discover_puzzle_plan(const struct discover_options *o, const hsy_scheme *s);

/* Print to stdout (discover_show.c). */
void discover_show(const struct discover_result *r);
void discover_show_plan(const struct discover_options *o,
                        const hsy_scheme_info *info,
                        const struct discover_stages *stages);

/* Draw what was found into a file that is open (discover_plot.c); 0, or the
 * exit code after a message. */
int discover_plot(const struct discover_result *r, struct output *out);

#endif
