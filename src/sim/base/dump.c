/* dump.c - every run of a simulation, as a line of csv. */
#include "sim/base/dump.h"

#include <math.h>
#include <stdio.h>

#define DUMP_LINE 8192u /* what stands before, and the metrics */

hsy_status dump_line(struct output *out, const char *before,
                     const double *numbers, size_t n, const char *after)
{
    char line[DUMP_LINE];
    size_t at = (size_t)snprintf(line, sizeof line, "%s", before);

    for (size_t i = 0; i < n && at + 32 < sizeof line; i++)
        at += (size_t)(isfinite(numbers[i])
                           ? snprintf(line + at, sizeof line - at, ",%.17g",
                                      numbers[i])
                           : snprintf(line + at, sizeof line - at, ","));
    at +=
        (size_t)snprintf(line + at, sizeof line - at, "%s%s\n",
                         after != NULL ? "," : "", after != NULL ? after : "");
    return output_write(out, line, at);
}
