/* clients.c - what a client sends: fresh answers, kept ones, both steps. */
#include "sim/attack/internal.h"

hsy_status sim_answer(struct sim_device *d, uint8_t *bit,
                      enum sim_client client, uint32_t truth, uint32_t first,
                      uint64_t day, hsy_error *err)
{
    const hsy_truth said = {.type = HSY_TRUTH_INDEX, .u = {.index = truth}};
    hsy_status st;

    switch (client) {
    case SIM_FRESH:
        return sim_fresh(d, bit, &said, day, err);
    case SIM_MEMOISED:
        st = sim_permanent(d, truth);
        *bit = d->answer[0];
        return st;
    case SIM_TWO_STEP:
        return sim_report(d, bit, truth, day);
    default:
        return sim_report(d, bit, first, day);
    }
}

const char *sim_client_name(enum sim_client client)
{
    static const char *const names[] = {"fresh", "memoised", "two-step",
                                        "first kept"};

    return names[client];
}
