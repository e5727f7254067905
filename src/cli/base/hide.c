/* hide.c - keeping a process's memory from core files and debuggers. */
#define _DEFAULT_SOURCE
#include "cli/base/base.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int cli_hide(void)
{
    static const struct rlimit none = {0, 0};

    if (setrlimit(RLIMIT_CORE, &none) == 0 &&
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
        return 0;
    return cli_fail("cannot protect this process from core files and "
                    "debuggers: %s; nothing was read",
                    strerror(errno));
}
