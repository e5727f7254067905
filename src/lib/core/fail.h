/* fail.h - how the library says what went wrong. */
#ifndef LIB_CORE_FAIL_H
#define LIB_CORE_FAIL_H

#include "hearsay.h"

/* Fill in *err (unless NULL) and return status. msg is a literal, field one of
 * hsy_field. */
hsy_status hsy_fail(hsy_error *err, hsy_status status, uint32_t field,
                    const char *msg);

/* The same with the limit that was passed; with one that msg states; with one
 * of another kind (hsy_limit_kind). */
hsy_status hsy_fail_limit(hsy_error *err, hsy_status status, uint32_t field,
                          const char *msg, uint64_t limit);
hsy_status hsy_fail_stated(hsy_error *err, hsy_status status, uint32_t field,
                           const char *msg, uint64_t limit);
hsy_status hsy_fail_kind(hsy_error *err, hsy_status status, uint32_t field,
                         const char *msg, hsy_limit_kind kind, uint64_t limit);

/* The same with where it is, counted from 1 in units. */
hsy_status hsy_fail_at(hsy_error *err, hsy_status status, uint32_t field,
                       const char *msg, hsy_unit unit, uint64_t at);

#endif
