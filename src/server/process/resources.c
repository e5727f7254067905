/* resources.c - cores and descriptors. */
#define _DEFAULT_SOURCE
#include "server/process/resources.h"

#include <sys/resource.h>
#include <unistd.h>

unsigned resources_cores(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores > 1 ? (unsigned)cores : 1;
}

uint64_t resources_descriptors(uint64_t wanted)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == -1 || limit.rlim_cur >= wanted)
        return wanted;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) == -1 ? wanted : limit.rlim_cur;
}
