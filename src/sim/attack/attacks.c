/* attacks.c - any attack, by its name. */
#include "sim/attack/attack.h"

static const struct sim_limits attacks_limits[SIM_KINDS] = {
    [SIM_AVERAGING] = {"averaging", 1000, 1, SIM_DAYS_MAX, 1000, 2,
                       SIM_DEVICES_MAX, HSY_EPSILON_MAX, 1},
    [SIM_CHANGE] = {"change", 200, 4, SIM_DAYS_MAX, 1000, 4, SIM_DEVICES_MAX,
                    HSY_EPSILON_MAX, 1},
    [SIM_FINGERPRINT] = {"fingerprint", 0, 0, 0, 2000, 2, SIM_DEVICES_MAX,
                         HSY_EPSILON_MAX, SIM_UPLOADS},
    [SIM_DRIFT] = {"drift", 3650, 1, SIM_DRIFT_DAYS_MAX, 10000, 50,
                   SIM_DEVICES_MAX, HSY_EPSILON_MAX, SIM_ROUNDINGS},
    [SIM_POISONING] = {"poisoning", 0, 0, 0, 100000, 1000, SIM_DEVICES_MAX,
                       SIM_POISONING_EPSILON_MAX,
                       SIM_POISONING_MECHANISMS *SIM_POISONING_RUNS}};

const struct sim_limits *sim_limits(enum sim_kind kind)
{
    return &attacks_limits[kind];
}

hsy_status sim_run(struct sim_result *out, const struct sim_options *o,
                   hsy_error *err)
{
    switch (out->kind) {
    case SIM_AVERAGING:
        return sim_averaging(&out->u.averaging, o, err);
    case SIM_CHANGE:
        return sim_change(&out->u.change, o, err);
    case SIM_FINGERPRINT:
        return sim_fingerprint(&out->u.fingerprint, o, err);
    case SIM_POISONING:
        return sim_poisoning(&out->u.poisoning, o, err);
    default:
        return sim_drift(&out->u.drift, o, err);
    }
}

hsy_status sim_svg(char **svg, size_t *len, const struct sim_result *r,
                   hsy_error *err)
{
    switch (r->kind) {
    case SIM_AVERAGING:
        return sim_averaging_svg(svg, len, &r->u.averaging, err);
    case SIM_CHANGE:
        return sim_change_svg(svg, len, &r->u.change, err);
    case SIM_FINGERPRINT:
        return sim_fingerprint_svg(svg, len, &r->u.fingerprint, err);
    case SIM_POISONING:
        return sim_poisoning_svg(svg, len, &r->u.poisoning, err);
    default:
        return sim_drift_svg(svg, len, &r->u.drift, err);
    }
}
