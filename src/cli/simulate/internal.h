/* internal.h - what the files of hearsay simulate share. */
#ifndef CLI_SIMULATE_INTERNAL_H
#define CLI_SIMULATE_INTERNAL_H

#include "cli/base/base.h"
#include "sim/attack/attack.h"

enum simulate_kind {
    SIMULATE_AVERAGING,
    SIMULATE_CHANGE,
    SIMULATE_FINGERPRINT,
    SIMULATE_DRIFT,
    SIMULATE_POISONING,
    SIMULATE_KINDS
};

struct simulate {
    enum simulate_kind kind;
    const char *name; /* of the attack */
    struct sim_options o;
    enum cli_format format;
    uint64_t yes, of; /* averaging: answers that are weighed */
    union {
        struct sim_averaging averaging;
        struct sim_change change;
        struct sim_fingerprint fingerprint;
        struct sim_drift drift;
        struct sim_poisoning poisoning;
    } result;
};

/* hearsay simulate fleet URL; argv[0] is "fleet" (simulate_fleet.c). */
int simulate_fleet(int argc, char **argv);

/* Print what came out (simulate_show.c). */
void simulate_show(const struct simulate *s);

#endif
