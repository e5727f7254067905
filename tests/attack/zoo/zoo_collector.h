/*
 * zoo_collector.h - collectors that forget ids in ways others did.
 *
 * A plain collector in the world of collector_world.h: it counts an upload
 * unless it sees the id among those it remembers. Its memory survives crashes,
 * so that nothing but what it sees is wrong. The right one must pass.
 */
#ifndef ZOO_COLLECTOR_H
#define ZOO_COLLECTOR_H

#include "collector_world.h"

#define ZOO_GRACE 2u /* days, as the rig's */

struct zoo_known {
    uint8_t id[16], digest[32];
    uint32_t epoch, tick;
};

/* What a collector remembers. */
struct zoo_books {
    uint32_t day;
    uint32_t tick;
    size_t n;
    size_t before; /* n when this group began */
    struct zoo_known known[2 * WORLD_ITEMS];
    int64_t cells[RIG_TASKS][WORLD_ITEMS];
};

/* Whether the collector looks at an id that it has written down. */
typedef bool zoo_sees(const struct zoo_books *books, size_t i);

extern zoo_sees zoo_z36_sees, zoo_z37_sees, zoo_z38_sees;

#endif
