/* fails_for_one_truth.c - fails for one truth and not for another. */
#include "zoo_device.h"

static hsy_status fails_for_one_truth_accept(uint32_t truth)
{
    return truth == 1 ? HSY_E_RANGE : HSY_OK;
}

const struct zoo_device zoo_fails_for_one_truth = {
    .name = "fails_for_one_truth",
    .slip = "fails for one truth only",
    .accept = fails_for_one_truth_accept,
    .verdict = ZOO_SHAPE};
