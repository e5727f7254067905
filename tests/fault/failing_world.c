/*
 * failing_world.c - preloaded into the command: the world around a device as a
 * test wants it.
 *
 *     HSY_AT=n       call number n (from 0) of those that change something
 *     HSY_DO=kill    ... is where the process is killed, before the call,
 *     HSY_DO=torn    ... a write puts half of its bytes, then is killed,
 *     HSY_DO=5       ... fails with this errno; and with HSY_ON, all after it
 *     HSY_COUNT_TO   a file for the number of such calls
 *     HSY_TRACE_TO   a file for their names, one a line, and a write's length
 *     HSY_CLOCK=s    the seconds that CLOCK_REALTIME has
 *
 * A kill before a call that only reads is the kill after the call before it, so
 * that those that change something are all there are.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned long calls;
static int trace = -1;

/* What is to be done about this call: 0 nothing, else an errno. */
static int fate(const char *name)
{
    const char *at = getenv("HSY_AT"), *what = getenv("HSY_DO");
    const char *to = getenv("HSY_TRACE_TO");
    unsigned long call = calls++, index;

    if (to != NULL && trace == -1)
        trace = (int)syscall(SYS_open, to, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (to != NULL) {
        char line[64];
        int n = snprintf(line, sizeof line, "%s\n", name);

        syscall(SYS_write, trace, line, (size_t)n);
    }
    if (at == NULL || what == NULL)
        return 0;
    index = strtoul(at, NULL, 10);
    if (call != index && (call < index || getenv("HSY_ON") == NULL))
        return 0;
    if (strcmp(what, "kill") == 0)
        kill(getpid(), SIGKILL);
    return atoi(what);
}

#define FATE(name)                                                             \
    do {                                                                       \
        int error = fate(name);                                                \
        if (error > 0) {                                                       \
            errno = error;                                                     \
            return -1;                                                         \
        }                                                                      \
    } while (0)

ssize_t write(int fd, const void *buf, size_t len)
{
    const char *at = getenv("HSY_AT"), *what = getenv("HSY_DO");
    char name[32];

    if (fd == STDOUT_FILENO || fd == STDERR_FILENO)
        return syscall(SYS_write, fd, buf, len);
    if (at != NULL && what != NULL && strcmp(what, "torn") == 0 &&
        calls == strtoul(at, NULL, 10)) {
        syscall(SYS_write, fd, buf, len / 2);
        kill(getpid(), SIGKILL);
    }
    snprintf(name, sizeof name, "write %zu", len);
    FATE(name);
    return syscall(SYS_write, fd, buf, len);
}

int fsync(int fd)
{
    FATE("fsync");
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    FATE("rename");
    return (int)syscall(SYS_rename, from, to);
}

int renameat(int a, const char *from, int b, const char *to)
{
    FATE("renameat");
    return (int)syscall(SYS_renameat, a, from, b, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    FATE("linkat");
    return (int)syscall(SYS_linkat, a, from, b, to, flags);
}

int unlinkat(int dir, const char *name, int flags)
{
    FATE("unlinkat");
    return (int)syscall(SYS_unlinkat, dir, name, flags);
}

int flock(int fd, int how)
{
    FATE("flock");
    return (int)syscall(SYS_flock, fd, how);
}

int mkdir(const char *name, mode_t mode)
{
    FATE("mkdir");
    return (int)syscall(SYS_mkdir, name, mode);
}

int fchmod(int fd, mode_t mode)
{
    FATE("fchmod");
    return (int)syscall(SYS_fchmod, fd, mode);
}

static mode_t mode_of(int flags, va_list args)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
}

int openat(int dir, const char *name, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    FATE("openat");
    return (int)syscall(SYS_openat, dir, name, flags, mode);
}

int open(const char *name, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    FATE("open");
    return (int)syscall(SYS_open, name, flags, mode);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const char *seconds = getenv("HSY_CLOCK");

    if (clock != CLOCK_REALTIME || seconds == NULL)
        return (int)syscall(SYS_clock_gettime, clock, t);
    t->tv_sec = (time_t)strtoll(seconds, NULL, 10);
    t->tv_nsec = 0;
    return 0;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("HSY_COUNT_TO");
    char text[32];
    int fd, len;

    if (path == NULL ||
        (fd = (int)syscall(SYS_open, path, O_WRONLY | O_CREAT | O_TRUNC,
                           0600)) < 0)
        return;
    len = snprintf(text, sizeof text, "%lu\n", calls);
    if (syscall(SYS_write, fd, text, (size_t)len) != len)
        _exit(99);
    syscall(SYS_close, fd);
}
