/* internal.h - what the files of hearsay simulate share. */
#ifndef CLI_SIMULATE_INTERNAL_H
#define CLI_SIMULATE_INTERNAL_H

#include "cli/base/base.h"
#include "sim/attack/attack.h"

struct simulate {
    const struct sim_limits *attack;
    struct sim_options o;
    enum table_format format;
    uint64_t yes, of; /* averaging: answers that are weighed */
    struct sim_result result;
};

/* hearsay simulate fleet URL; argv[0] is "fleet" (simulate_fleet.c). */
int simulate_fleet(int argc, char **argv);

/* Print what came out (simulate_show.c). */
void simulate_show(const struct simulate *s);

#endif
