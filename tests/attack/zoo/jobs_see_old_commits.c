/* jobs_see_old_commits.c - the same report in three concurrent jobs is counted
 * three times: each looks at what was committed before it began [Janus]. */
#include "zoo_collector.h"

bool zoo_jobs_see_old_commits_sees(const struct zoo_books *books, size_t i)
{
    return i < books->before;
}
