/*
 * failing_getrandom.c - preloaded into the command: call number HSY_FAIL_AT
 * (from 0) of getrandom fails, all others go to the kernel. With HSY_COUNT_TO
 * set, the number of calls is written to that file at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static unsigned long calls;

ssize_t getrandom(void *buf, size_t len, unsigned flags)
{
    const char *at = getenv("HSY_FAIL_AT");
    unsigned long call = calls++;

    if (at != NULL && strtoul(at, NULL, 10) == call) {
        errno = EIO;
        return -1;
    }
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
