/* host_fail.h - how libhearsay-host says what went wrong: it may be linked to a
 * shared libhearsay, which keeps its own way (fail.h) to itself. */
#ifndef HOST_BASE_HOST_FAIL_H
#define HOST_BASE_HOST_FAIL_H

#include "host/base/fields.h"

/* Fill in *err (unless NULL) and return status. msg is a literal, field one of
 * hsy_field or host_field. */
static inline hsy_status host_fail(hsy_error *err, hsy_status status,
                                   uint32_t field, const char *msg)
{
    if (err != NULL)
        *err = (hsy_error){.status = status, .field = field, .msg = msg};
    return status;
}

static inline hsy_status host_nomem(hsy_error *err)
{
    return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
}

/* host_fail with the limit that was passed; with one that msg states; with one
 * of another kind (hsy_limit_kind). */
static inline hsy_status host_fail_kind(hsy_error *err, hsy_status status,
                                        uint32_t field, const char *msg,
                                        hsy_limit_kind kind, uint64_t limit)
{
    host_fail(err, status, field, msg);
    if (err != NULL) {
        err->kind = kind;
        err->limit = limit;
    }
    return status;
}

static inline hsy_status host_fail_limit(hsy_error *err, hsy_status status,
                                         uint32_t field, const char *msg,
                                         uint64_t limit)
{
    return host_fail_kind(err, status, field, msg, HSY_LIMIT_COUNT, limit);
}

static inline hsy_status host_fail_stated(hsy_error *err, hsy_status status,
                                          uint32_t field, const char *msg,
                                          uint64_t limit)
{
    return host_fail_kind(err, status, field, msg, HSY_LIMIT_STATED, limit);
}

/* The same with where it is, counted from 1 in units. */
static inline hsy_status host_fail_at(hsy_error *err, hsy_status status,
                                      uint32_t field, const char *msg,
                                      hsy_unit unit, uint64_t at)
{
    host_fail(err, status, field, msg);
    if (err != NULL) {
        err->unit = unit;
        err->at = at;
    }
    return status;
}

#endif
