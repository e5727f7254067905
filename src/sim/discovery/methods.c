/* methods.c - what searches are called, and what they ask by. */
#include "sim/discovery/discovery.h"

#include <stdlib.h>

const char *discovery_rule(uint32_t id)
{
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        if (row->id == id)
            return row->oracle;
    return NULL;
}

hsy_status discovery_method(struct discovery_method *out, const char *name,
                            hsy_error *err)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = name,
                           .kind = HSY_KIND_STRINGS,
                           .nano_epsilon = HSY_NANO};
    hsy_scheme *s;
    hsy_scheme_info info;
    hsy_status st = scheme_open(&s, &spec, err);

    if (st == HSY_OK) {
        hsy_scheme_describe(s, &info);
        *out = (struct discovery_method){.name = name,
                                         .analysis = info.analysis,
                                         .rule = discovery_rule(info.id),
                                         .oracle = info.oracle};
    }
    free(s);
    return st;
}
