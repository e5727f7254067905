/* fields.h - what errors are about above the library: files of a store, parts
 * of a simulation. */
#ifndef HOST_BASE_FIELDS_H
#define HOST_BASE_FIELDS_H

#include "hearsay.h"

#define HOST_FIELDS(X)                                                         \
    X(STORE, "store")                                                          \
    /* fields end */

#define HOST_FIELD_CONSTANT(id, name) HOST_FIELD_##id,
enum host_field {
    HOST_FIELDS_BEGIN = HSY_FIELD_OWN - 1,
    HOST_FIELDS(HOST_FIELD_CONSTANT) HOST_FIELDS_END
};

/* As hsy_field_name and hsy_field_find, of these too. */
const char *host_field_name(uint32_t field);
uint32_t host_field_find(const char *name);

#endif
