/* internal.h - what the files of hearsay release share. */
#ifndef CLI_RELEASE_INTERNAL_H
#define CLI_RELEASE_INTERNAL_H

#include "cli/base/base.h"
#include "host/plan/plan.h"

struct release_options {
    const char *input, *output, *plot;
    bool compare, open, simulate, has_seed, has_format;
    uint64_t seed;
    enum cli_format format;
};

/* The mechanism's name, by who counts as a neighbour. */
static inline const char *release_mechanism(const struct release_options *o)
{
    return plan_curator(o->open);
}

/* Print what to expect of noise added by the people themselves, by curators
 * and by one curator (compare_models.c); the exit code. */
int release_compare(const hsy_spec *spec, const struct release_options *o);

#endif
