/* trial.h - schemes for tests that cannot go on without them. */
#ifndef TRIAL_H
#define TRIAL_H

#include "hearsay.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* malloc that ends the program where there is no memory. */
static inline void *trial_memory(size_t size)
{
    void *p = calloc(1, size + 1);

    if (p == NULL) {
        puts("Bail out! out of memory");
        exit(1);
    }
    return p;
}

/* A scheme on the heap; the caller frees it. */
static inline hsy_scheme *trial_scheme(const hsy_spec *spec)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(spec));
    hsy_error err = {0};

    if (hsy_scheme_init(s, spec, &err) != HSY_OK) {
        printf("Bail out! no scheme: %s: %s\n", err.field, err.msg);
        exit(1);
    }
    return s;
}

/* d values under a mechanism. */
static inline hsy_spec trial_values(const char *mechanism, uint32_t d,
                                    double epsilon)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = mechanism,
                      .nano_epsilon = (uint64_t)(epsilon * 1e9 + 0.5),
                      .kind = HSY_KIND_VALUES,
                      .d = d};
}

/* A number from 0 to width. */
static inline hsy_spec trial_number(int64_t width, double epsilon)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = "onebit",
                      .nano_epsilon = (uint64_t)(epsilon * 1e9 + 0.5),
                      .kind = HSY_KIND_NUMBER,
                      .hi = width};
}

/* A table row's mechanism on a small domain: d values, or d - 1 steps. */
static inline hsy_spec trial_small(const hsy_catalogue *row, uint32_t d,
                                   double epsilon)
{
    hsy_spec spec;

    if ((row->kinds >> HSY_KIND_VALUES & 1) == 0)
        return trial_number((int64_t)d - 1, epsilon);
    spec = trial_values(row->name, d, epsilon);
    if (strcmp(row->name, "rappor") == 0) {
        spec.param[HSY_PARAM_BITS] = 5;
        spec.param[HSY_PARAM_COHORTS] = 4;
    } else if ((row->kinds >> HSY_KIND_STRINGS & 1) != 0) {
        spec.param[HSY_PARAM_POOL_BITS] = 3;
    }
    return spec;
}

/* Whether a mechanism takes a domain of d codes. */
static inline bool trial_takes(const hsy_catalogue *row, uint32_t d)
{
    hsy_spec spec = trial_small(row, d, 1);
    hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
    bool takes = hsy_scheme_init(s, &spec, NULL) == HSY_OK;

    free(s);
    return takes;
}

/* Whether its estimates come value by value, not by iteration. */
static inline bool trial_pointed(const hsy_catalogue *row)
{
    hsy_spec spec = trial_small(row, trial_takes(row, 4) ? 4 : 2, 1);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_info info;

    hsy_scheme_info(s, &info);
    free(s);
    return !info.iterative;
}

#endif
