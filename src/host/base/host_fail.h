/* host_fail.h - how libhearsay-host says what went wrong: it may be linked to a
 * shared libhearsay, which keeps its own way (fail.h) to itself. */
#ifndef HOST_BASE_HOST_FAIL_H
#define HOST_BASE_HOST_FAIL_H

#include "hearsay.h"

/* Fill in *err (unless NULL) and return status. msg and field are literals. */
static inline hsy_status host_fail(hsy_error *err, hsy_status status,
                                   const char *field, const char *msg)
{
    if (err != NULL)
        *err = (hsy_error){.status = status, .field = field, .msg = msg};
    return status;
}

/* The same with the limit that was passed. */
static inline hsy_status host_fail_limit(hsy_error *err, hsy_status status,
                                         const char *field, const char *msg,
                                         uint64_t limit)
{
    host_fail(err, status, field, msg);
    if (err != NULL)
        err->limit = limit;
    return status;
}

/* The same with the number of the line, report or record concerned. */
static inline hsy_status host_fail_line(hsy_error *err, hsy_status status,
                                        const char *field, const char *msg,
                                        uint64_t line)
{
    host_fail(err, status, field, msg);
    if (err != NULL)
        err->line = line;
    return status;
}

#endif
