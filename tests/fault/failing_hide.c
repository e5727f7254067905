/*
 * failing_hide.c - preloaded into the command: the call named by HSY_FAIL,
 * prctl or setrlimit, is refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refused(const char *name)
{
    const char *which = getenv("HSY_FAIL");

    if (which == NULL || strcmp(which, name) != 0)
        return 0;
    errno = EPERM;
    return 1;
}

int prctl(int option, unsigned long a, unsigned long b, unsigned long c,
          unsigned long d)
{
    return refused("prctl") ? -1 : (int)syscall(SYS_prctl, option, a, b, c, d);
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    return refused("setrlimit")
               ? -1
               : (int)syscall(SYS_prlimit64, 0, resource, limit, NULL);
}
