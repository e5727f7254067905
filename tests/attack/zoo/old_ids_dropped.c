/* old_ids_dropped.c - ids are collected as garbage once they are old, but an
 * old report is not refused: when it comes again it is new. */
#include "zoo_collector.h"

bool zoo_old_ids_dropped_sees(const struct zoo_books *books, size_t i)
{
    return books->known[i].epoch + ZOO_GRACE >= books->day;
}
