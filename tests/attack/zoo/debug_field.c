/* debug_field.c - a debug field tells whether the report was noised. */
#include "zoo_device.h"

static void debug_field_payload(uint8_t payload[2], uint32_t truth)
{
    payload[1] = payload[0] != truth;
}

const struct zoo_device zoo_debug_field = {
    .name = "debug_field",
    .slip = "a debug field tells of the noise",
    .payload = debug_field_payload,
    .verdict = ZOO_RATIO};
