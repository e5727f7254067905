/* dump.h - every run of a simulation, as a line of csv. */
#ifndef SIM_BASE_DUMP_H
#define SIM_BASE_DUMP_H

#include "hearsay.h"
#include "host/base/output.h"

/* One line: what stands before, numbers (empty where they are none), and what
 * comes after them; NULL: nothing. */
hsy_status dump_line(struct output *out, const char *before,
                     const double *numbers, size_t n, const char *after);

#endif
