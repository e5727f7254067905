/* z49.c - ids go to the disk, and memory lets go of them before the file that
 * has them is in force: until then nobody knows them. */
#include "zoo_collector.h"

#define Z49_AT 4u /* ids that go at a time */

bool zoo_z49_sees(const struct zoo_books *books, size_t i)
{
    const size_t sealed = books->n / Z49_AT * Z49_AT;

    return i >= sealed || i + Z49_AT < sealed || books->n % Z49_AT != 0;
}
