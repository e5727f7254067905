/* fail.c - statuses in words, and filling in an hsy_error. */
#include "lib/core/fail.h"

hsy_status hsy_fail(hsy_error *err, hsy_status status, const char *field,
                    const char *msg)
{
    if (err != NULL)
        *err = (hsy_error){.status = status, .msg = msg, .field = field};
    return status;
}

hsy_status hsy_fail_limit(hsy_error *err, hsy_status status, const char *field,
                          const char *msg, uint64_t limit)
{
    hsy_fail(err, status, field, msg);
    if (err != NULL)
        err->limit = limit;
    return status;
}

hsy_status hsy_fail_line(hsy_error *err, hsy_status status, const char *field,
                         const char *msg, uint64_t line)
{
    hsy_fail(err, status, field, msg);
    if (err != NULL)
        err->line = line;
    return status;
}

const char *hsy_strstatus(hsy_status status)
{
    switch (status) {
    case HSY_OK:
        return "done";
    case HSY_E_RANGE:
        return "out of range";
    case HSY_E_UNKNOWN:
        return "unknown name";
    case HSY_E_FORMAT:
        return "malformed";
    case HSY_E_ENTROPY:
        return "the random source failed";
    case HSY_E_NOMEM:
        return "out of memory";
    case HSY_E_IO:
        return "input or output failed";
    case HSY_E_MISMATCH:
        return "different schemes";
    case HSY_E_OVERFLOW:
        return "a count is too large";
    case HSY_E_EMPTY:
        return "no data";
    case HSY_E_REFUSED:
        return "not allowed here";
    case HSY_E_END:
        return "end of input";
    case HSY_E_BUSY:
        return "somebody else is writing";
    case HSY_E_DAMAGED:
        return "the state is damaged";
    case HSY_E_POLICY:
        return "more than the policy allows";
    case HSY_E_SIGNATURE:
        return "not signed by the key in force";
    case HSY_E_OLD:
        return "an older version";
    case HSY_E_FULL:
        return "no room left";
    case HSY_E_VERSION:
        return "made by a newer program";
    }
    return "unknown status";
}
