/* owned.c - memory that is freed together, blocks in a list; schemes. */
#include "host/base/owned.h"

#include <stdlib.h>
#include <string.h>

struct owned_block {
    struct owned_block *before;
    _Alignas(max_align_t) unsigned char bytes[];
};

void *owned_array(struct owned *o, size_t n, size_t size)
{
    const size_t most = SIZE_MAX - sizeof(struct owned_block);
    struct owned_block *block = NULL;

    if (n == 0 || size <= most / n)
        block = calloc(1, sizeof *block + n * size);
    if (block == NULL) {
        o->failed = true;
        return NULL;
    }
    block->before = o->last;
    o->last = block;
    return block->bytes;
}

hsy_status owned_scheme(struct owned *o, hsy_scheme **out, const hsy_spec *spec,
                        hsy_error *err)
{
    *out = owned_array(o, 1, hsy_scheme_size(spec));
    return *out != NULL ? hsy_scheme_init(*out, spec, err) : host_nomem(err);
}

hsy_status scheme_open(hsy_scheme **out, const hsy_spec *spec, hsy_error *err)
{
    hsy_status st;

    *out = malloc(hsy_scheme_size(spec));
    if (*out == NULL)
        return host_nomem(err);
    st = hsy_scheme_init(*out, spec, err);
    if (st != HSY_OK) {
        free(*out);
        *out = NULL;
    }
    return st;
}

void owned_free(struct owned *o)
{
    while (o->last != NULL) {
        struct owned_block *block = o->last;

        o->last = block->before;
        free(block);
    }
    o->failed = false;
}
