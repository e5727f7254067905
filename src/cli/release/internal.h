/* internal.h - what the files of hearsay release share. */
#ifndef CLI_RELEASE_INTERNAL_H
#define CLI_RELEASE_INTERNAL_H

#include "cli/base/base.h"
#include "host/plan/plan.h"

struct release_options {
    const char *input; /* first: cli_one_input */
    const char *output, *plot;
    bool compare, simulate;
    int neighbours; /* 0: as many people; 1: one more or less, too */
    uint64_t seed;
    enum table_format format;
    struct cli_spec spec;
};

/* The mechanism's name, by who counts as a neighbour. */
static inline const char *release_mechanism(const struct release_options *o)
{
    return plan_curator(o->neighbours == 1);
}

/* Print what to expect of noise added by the people themselves, by curators
 * and by one curator (compare_models.c); the exit code. */
int release_compare(const hsy_spec *spec, const struct release_options *o);

#endif
