/* collector_real.h - the engine as it is, in the world of collector_world.h. */
#ifndef COLLECTOR_REAL_H
#define COLLECTOR_REAL_H

#include "rig/collector_world.h"

extern const struct world_collector world_real;

#endif
