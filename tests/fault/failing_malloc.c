/*
 * failing_malloc.c - preloaded into the command: allocation number
 * HSY_FAIL_AT (from 1) fails, all others succeed. With HSY_COUNT_TO set, the
 * number of allocations is written to that file at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long calls;

static int fails_now(void)
{
    const char *at = getenv("HSY_FAIL_AT");

    calls++;
    if (at == NULL || strtoul(at, NULL, 10) != calls)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    extern void *__libc_malloc(size_t);

    return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    extern void *__libc_calloc(size_t, size_t);

    return fails_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    extern void *__libc_realloc(void *, size_t);

    return fails_now() ? NULL : __libc_realloc(old, size);
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
