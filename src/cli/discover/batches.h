/* batches.h - searching in batches: what its files share. */
#ifndef CLI_DISCOVER_BATCHES_H
#define CLI_DISCOVER_BATCHES_H

#include "cli/base/tasks.h"
#include "cli/discover/internal.h"

/* The first, the next, or the plan of all stages. */
enum batches_what { BATCHES_START = 1, BATCHES_NEXT, BATCHES_PLAN };

struct batches_options {
    enum batches_what what;
    struct discover_options discover; /* search, frequency, miss, format */
    struct cli_spec spec;             /* --epsilon */
    uint64_t bits, step, sizes;       /* 0: the mechanism chooses */
    const char *alphabet, *oracle;
    const char *task; /* FILE:ID */
    const char *id, *source, *question, *from, *to, *output;
};

/* A spec of the first stage; exit code or 0. */
int batches_spec(const struct batches_options *o, hsy_spec *spec);

/* Tell what all stages take (survivors.c). */
int batches_plan(const struct batches_options *o);

/* What survives the stage of a tally, in memory of the caller's: keep of them.
 * 0, or the exit code after a message. */
int batches_survivors(const hsy_search *search, const struct gather *g,
                      hsy_stage *stage, hsy_candidate **found, size_t *count);

/* A task file of one stage, for a person to read and a device to take
 * (write_stage.c). */
int batches_write(const char *path, uint64_t version, const hsy_task *task,
                  const hsy_spec *spec);

#endif
