/* z38.c - duplicates are found within a window of ten minutes, and no longer:
 * best effort, as queues do it. */
#include "zoo_collector.h"

#define Z38_WINDOW (WORLD_DAY / 8) /* ticks */

bool zoo_z38_sees(const struct zoo_books *books, size_t i)
{
    return books->tick - books->known[i].tick < Z38_WINDOW;
}
