/* z36.c - the same report in three concurrent jobs is counted three times: each
 * looks at what was committed before it began [Janus]. */
#include "zoo_collector.h"

bool zoo_z36_sees(const struct zoo_books *books, size_t i)
{
    return i < books->before;
}
