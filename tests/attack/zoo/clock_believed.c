/* clock_believed.c - whatever the clock says is the day: wrong for a second,
 * and all days up to there are closed for good. */
#include "zoo_collector.h"

void zoo_clock_believed_told(struct zoo_books *books, uint32_t day)
{
    if (day > books->day)
        books->day = day;
}
