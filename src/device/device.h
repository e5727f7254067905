/*
 * device.h - what the files of the client share.
 *
 * A device is a head (counters of the whole device), a record for each source
 * of its policy and one for each release it has answered. The image of all of
 * them is written twice, to two files, before anything is said (state.c).
 */
#ifndef HSY_DEVICE_H
#define HSY_DEVICE_H

#include "hearsay.h"

/* What coins are drawn for (hsy_context.purpose). `release` does not depend on
 * a truth: hash functions, sets of buckets, alpha. */
#define DEVICE_PURPOSE_RELEASE "release"
#define DEVICE_PURPOSE_PERMANENT "permanent"
#define DEVICE_PURPOSE_REPORT "report"
#define DEVICE_PURPOSE_SAMPLE "sample"       /* who takes part in a slot */
#define DEVICE_PURPOSE_RESERVOIR "reservoir" /* which stored answers go out */
#define DEVICE_PURPOSE_DELAY "delay"
#define DEVICE_PURPOSE_UPLOAD "upload " /* and the task's id */

/*
 * Where a device's coins come from: hsy_streams_open under its key. Tests that
 * enumerate coins put another function here after opening; it must give the
 * same coins for the same context, and independent ones otherwise.
 */
typedef hsy_status device_coins(void *ctx, hsy_streams *room, hsy_coins *coins,
                                const hsy_context *context);

void hsy_device_coins(hsy_device *dev, device_coins *open, void *ctx);

#endif
