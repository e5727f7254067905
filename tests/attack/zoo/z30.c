/* z30.c - a debug field tells whether the report was noised. */
#include "zoo_device.h"

static void z30_payload(uint8_t payload[2], uint32_t truth)
{
    payload[1] = payload[0] != truth;
}

const struct zoo_device zoo_z30 = {.name = "Z30",
                                   .slip = "a debug field tells of the noise",
                                   .payload = z30_payload,
                                   .verdict = ZOO_RATIO};
