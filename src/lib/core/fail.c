/* fail.c - statuses, fields and units in words, and filling in an hsy_error. */
#include "lib/core/fail.h"

#include <string.h>

hsy_status hsy_fail(hsy_error *err, hsy_status status, uint32_t field,
                    const char *msg)
{
    if (err != NULL)
        *err = (hsy_error){.status = status, .msg = msg, .field = field};
    return status;
}

hsy_status hsy_fail_kind(hsy_error *err, hsy_status status, uint32_t field,
                         const char *msg, hsy_limit_kind kind, uint64_t limit)
{
    hsy_fail(err, status, field, msg);
    if (err != NULL) {
        err->kind = kind;
        err->limit = limit;
    }
    return status;
}

hsy_status hsy_fail_limit(hsy_error *err, hsy_status status, uint32_t field,
                          const char *msg, uint64_t limit)
{
    return hsy_fail_kind(err, status, field, msg, HSY_LIMIT_COUNT, limit);
}

hsy_status hsy_fail_stated(hsy_error *err, hsy_status status, uint32_t field,
                           const char *msg, uint64_t limit)
{
    return hsy_fail_kind(err, status, field, msg, HSY_LIMIT_STATED, limit);
}

hsy_status hsy_fail_at(hsy_error *err, hsy_status status, uint32_t field,
                       const char *msg, hsy_unit unit, uint64_t at)
{
    hsy_fail(err, status, field, msg);
    if (err != NULL) {
        err->unit = unit;
        err->at = at;
    }
    return status;
}

/* One after the other, each with its zero: a table of pointers would take
 * more than the names. */
#define FAIL_NAME(id, name) name "\0"
static const char fail_fields[] = HSY_FIELDS(FAIL_NAME);

const char *hsy_field_name(uint32_t field)
{
    const char *name = fail_fields;

    if (field >= HSY_FIELDS_END)
        return "";
    while (field-- > 0)
        name += strlen(name) + 1;
    return name;
}

#ifdef HSY_CLIENT
/* Names would take more room than a small client has. */
uint32_t hsy_field_find(const char *name)
{
    (void)name;
    return HSY_FIELD_NONE;
}
#else
uint32_t hsy_field_find(const char *name)
{
    const char *at = fail_fields;
    const size_t len = strlen(name) + 1;

    for (uint32_t f = 0; f < HSY_FIELDS_END; f++) {
        const size_t n = strlen(at) + 1;

        if (n == len && memcmp(at, name, n) == 0)
            return f;
        at += n;
    }
    return HSY_FIELD_NONE;
}
#endif

const char *hsy_unit_name(uint32_t unit)
{
    static const char *const names[] = {
        "",       "line",      "record",    "report", "upload",
        "task",   "value",     "candidate", "prefix", "cohort",
        "column", "character", "sample",    "round",  "rank",
        "target", "source",    "series",    "run",    "group"};

    return unit < sizeof names / sizeof names[0] ? names[unit] : "";
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
        return "made by another version";
    }
    return "unknown status";
}
