/* coverage_pairs.h - schemes of reports that are made from kept answers. */
#ifndef COVERAGE_PAIRS_H
#define COVERAGE_PAIRS_H

#include "rig/stat.h"

/* A scheme of reports and one of the answers they are made from. */
struct permanent_pair {
    const char *mechanism;
    double permanent, one;
};

static const struct permanent_pair permanent_pairs[] = {
    {"rr", 2, 1},  {"rr", 1, 1},       {"grr", 4, 2},    {"oue", 2, 1},
    {"olh", 2, 1}, {"dbitflip", 2, 1}, {"onebit", 2, 1}, {"rappor", 0, 0}};

static inline hsy_spec permanent_spec(const struct permanent_pair *pair,
                                      double epsilon)
{
    hsy_spec spec = trial_values(pair->mechanism, 16, epsilon);

    if (strcmp(pair->mechanism, "rr") == 0) {
        spec.kind = HSY_KIND_YES_NO;
        spec.d = 0;
    } else if (strcmp(pair->mechanism, "onebit") == 0) {
        spec = trial_number(STAT_RANGE, epsilon);
    } else if (strcmp(pair->mechanism, "olh") == 0) {
        spec.param[HSY_PARAM_POOL_BITS] = 14;
        spec.param[HSY_PARAM_G] = 4;
    } else if (strcmp(pair->mechanism, "rappor") == 0) {
        spec.design = HSY_DESIGN_RAPPOR; /* both steps in one */
        spec.chance[0] = (hsy_ratio){1, 2};
        spec.chance[1] = (hsy_ratio){1, 2};
        spec.chance[2] = (hsy_ratio){3, 4};
        spec.param[HSY_PARAM_FILTER_BITS] = 16;
        spec.param[HSY_PARAM_HASHES] = 2;
        spec.param[HSY_PARAM_COHORTS] = 8;
    }
    return spec;
}

#endif
