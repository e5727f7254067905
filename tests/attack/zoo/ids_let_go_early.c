/* ids_let_go_early.c - ids go to the disk, and memory lets go of them before
 * the file that has them is in force: until then nobody knows them. */
#include "zoo_collector.h"

#define LET_GO_AT 4u /* ids that go at a time */

bool zoo_ids_let_go_early_sees(const struct zoo_books *books, size_t i)
{
    const size_t sealed = books->n / LET_GO_AT * LET_GO_AT;

    return i >= sealed || i + LET_GO_AT < sealed || books->n % LET_GO_AT != 0;
}
