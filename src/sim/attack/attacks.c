/* attacks.c - any attack, by its name. */
#include "sim/attack/internal.h"

static const struct attacks_row {
    struct sim_limits limits;
    sim_attack *run;
    sim_figure *svg;
} attacks_rows[SIM_KINDS] = {
    [SIM_AVERAGING] = {{"averaging", 1000, 1, SIM_DAYS_MAX, 1000, 2,
                        SIM_DEVICES_MAX, HSY_EPSILON_MAX, 1},
                       sim_averaging,
                       sim_averaging_svg},
    [SIM_CHANGE] = {{"change", 200, 4, SIM_DAYS_MAX, 1000, 4, SIM_DEVICES_MAX,
                     HSY_EPSILON_MAX, 1},
                    sim_change,
                    sim_change_svg},
    [SIM_FINGERPRINT] = {{"fingerprint", 0, 0, 0, 2000, 2, SIM_DEVICES_MAX,
                          HSY_EPSILON_MAX, SIM_UPLOADS},
                         sim_fingerprint,
                         sim_fingerprint_svg},
    [SIM_DRIFT] = {{"drift", 3650, 1, SIM_DRIFT_DAYS_MAX, 10000, 50,
                    SIM_DEVICES_MAX, HSY_EPSILON_MAX, SIM_ROUNDINGS},
                   sim_drift,
                   sim_drift_svg},
    [SIM_POISONING] = {{"poisoning", 0, 0, 0, 100000, 1000, SIM_DEVICES_MAX,
                        SIM_POISONING_EPSILON_MAX,
                        SIM_POISONING_MECHANISMS *SIM_POISONING_RUNS},
                       sim_poisoning,
                       sim_poisoning_svg}};

const struct sim_limits *sim_limits(enum sim_kind kind)
{
    return &attacks_rows[kind].limits;
}

hsy_status sim_run(struct sim_result *out, const struct sim_options *o,
                   hsy_error *err)
{
    *out = (struct sim_result){.kind = out->kind};
    return attacks_rows[out->kind].run(out, o, err);
}

hsy_status sim_svg(char **svg, size_t *len, const struct sim_result *r,
                   hsy_error *err)
{
    return attacks_rows[r->kind].svg(svg, len, r, err);
}
