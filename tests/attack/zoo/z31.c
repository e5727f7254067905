/* z31.c - fails for one truth and not for another. */
#include "zoo_device.h"

static hsy_status z31_accept(uint32_t truth)
{
    return truth == 1 ? HSY_E_RANGE : HSY_OK;
}

const struct zoo_device zoo_z31 = {.name = "Z31",
                                   .slip = "fails for one truth only",
                                   .accept = z31_accept,
                                   .verdict = ZOO_SHAPE};
