/*
 * failing_getrandom.c - preloaded into the command: call number HSY_FAIL_AT
 * (from 0) of getrandom fails, or all do ("all"); others go to the kernel. How:
 * with EIO, or as HSY_FAIL_HOW says: an errno, "zero" bytes, or "short" by all
 * but one. Calls that a library makes when it is loaded, before main, neither
 * count nor fail. With HSY_COUNT_TO set, the number of calls is written to that
 * file at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static unsigned long calls;
static int begun; /* the libraries are loaded */

__attribute__((constructor)) static void begin(void)
{
    begun = 1;
}

static ssize_t fail(void *buf, size_t len, unsigned flags)
{
    const char *how = getenv("HSY_FAIL_HOW");

    if (how != NULL && strcmp(how, "zero") == 0)
        return 0;
    if (how != NULL && strcmp(how, "short") == 0)
        return syscall(SYS_getrandom, buf, len != 0 ? 1 : 0, flags);
    errno = how != NULL ? atoi(how) : EIO;
    return -1;
}

ssize_t getrandom(void *buf, size_t len, unsigned flags)
{
    const char *at = getenv("HSY_FAIL_AT");
    unsigned long call;

    if (!begun)
        return syscall(SYS_getrandom, buf, len, flags);
    call = calls++;
    if (at != NULL && (strcmp(at, "all") == 0 || strtoul(at, NULL, 10) == call))
        return fail(buf, len, flags);
    return syscall(SYS_getrandom, buf, len, flags);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("HSY_COUNT_TO");
    char text[32];
    int fd, len;

    if (path == NULL ||
        (fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600)) < 0)
        return;
    len = snprintf(text, sizeof text, "%lu\n", calls);
    if (write(fd, text, (size_t)len) != len)
        _exit(99);
    close(fd);
}
