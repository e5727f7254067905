/* ten_minute_window.c - duplicates are found within a window of ten minutes,
 * and no longer: best effort, as queues do it. */
#include "zoo_collector.h"

#define WINDOW (WORLD_DAY / 8) /* ticks */

bool zoo_ten_minute_window_sees(const struct zoo_books *books, size_t i)
{
    return books->tick - books->known[i].tick < WINDOW;
}
