/* fields.c - the names of fields above the library. */
#include "host/base/fields.h"

#include <string.h>

#define FIELDS_NAME(id, name) name,
static const char *const fields_names[] = {HOST_FIELDS(FIELDS_NAME) ""};

const char *host_field_name(uint32_t field)
{
    return field < HSY_FIELD_OWN      ? hsy_field_name(field)
           : field >= HOST_FIELDS_END ? ""
                                      : fields_names[field - HSY_FIELD_OWN];
}

uint32_t host_field_find(const char *name)
{
    for (uint32_t f = HSY_FIELD_OWN; f < HOST_FIELDS_END; f++)
        if (strcmp(fields_names[f - HSY_FIELD_OWN], name) == 0)
            return f;
    return hsy_field_find(name);
}
