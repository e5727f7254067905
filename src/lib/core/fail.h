/* fail.h - how the library says what went wrong. */
#ifndef LIB_CORE_FAIL_H
#define LIB_CORE_FAIL_H

#include "hearsay.h"

/* Fill in *err (unless NULL) and return status. msg and field are literals. */
hsy_status hsy_fail(hsy_error *err, hsy_status status, const char *field,
                    const char *msg);

/* The same with the limit that was passed. */
hsy_status hsy_fail_limit(hsy_error *err, hsy_status status, const char *field,
                          const char *msg, uint64_t limit);

/* The same with the number of the line, report or record concerned. */
hsy_status hsy_fail_line(hsy_error *err, hsy_status status, const char *field,
                         const char *msg, uint64_t line);

#endif
