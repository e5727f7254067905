/* owned.h - memory that is freed together; schemes on the heap. */
#ifndef HOST_BASE_OWNED_H
#define HOST_BASE_OWNED_H

#include "host/base/host_fail.h"

/* Zero it to begin. */
struct owned {
    struct owned_block *last;
    bool failed; /* something could not be had */
};

/* n zeroes of size bytes each; NULL and failed: out of memory. */
void *owned_array(struct owned *o, size_t n, size_t size);

/* A scheme among them, and one that the caller frees, NULL on failure. */
hsy_status scheme_open(hsy_scheme **out, const hsy_spec *spec, hsy_error *err);
hsy_status owned_scheme(struct owned *o, hsy_scheme **out, const hsy_spec *spec,
                        hsy_error *err);

/* HSY_E_NOMEM if anything failed. */
static inline hsy_status owned_all(const struct owned *o, hsy_error *err)
{
    return o->failed ? host_nomem(err) : HSY_OK;
}

void owned_free(struct owned *o);

#endif
