/* simulate_fleet.h - what the files of hearsay simulate fleet share. */
#ifndef CLI_SIMULATE_SIMULATE_FLEET_H
#define CLI_SIMULATE_SIMULATE_FLEET_H

#include "cli/base/base.h"
#include "sim/fleet/fleet.h"

/* Print what was sent and what is so (fleet_truths.c). 0, or the exit code
 * after a message. */
int simulate_fleet_show(struct fleet *f, const struct fleet_options *o,
                        const struct fleet_result *r, enum table_format format);

#endif
