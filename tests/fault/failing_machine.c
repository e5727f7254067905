/*
 * failing_machine.c - preloaded into a collector: a machine whose disk, network
 * and clock do what a test says, while the test looks on.
 *
 * HSY_MACHINE names a file of one struct machine, which both map. Calls of the
 * kinds in `which` are counted; call number `at` is the one that something
 * befalls, and with `on` every one after it too. What befalls it:
 *
 *     MACHINE_KILL  the process is killed before the call;
 *     MACHINE_TORN  the same, but a write puts half of its bytes first;
 *     MACHINE_HANG  it waits until the test says something else;
 *     > 0           it fails with this errno.
 *
 * machine.py has the same numbers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MACHINE_KILL = -1, MACHINE_TORN = -2, MACHINE_HANG = -3 };

enum {
    WRITES = 1, /* bytes into files, and their lengths */
    SYNCS = 2,
    NAMES = 4, /* files made, renamed, removed */
    SENDS = 8,
    READS = 16,
    TAKES = 32, /* connections, events, memory */
};

struct machine {
    uint64_t calls, at;
    int32_t what, on;
    uint32_t which, struck;
    int64_t clock;  /* seconds that CLOCK_REALTIME is ahead */
    int64_t steady; /* and CLOCK_BOOTTIME, which nobody sleeps by */
};

static struct machine *m;

__attribute__((constructor)) static void machine_open(void)
{
    const char *path = getenv("HSY_MACHINE");
    int fd = path == NULL ? -1 : (int)syscall(SYS_open, path, O_RDWR, 0);
    void *at;

    if (fd == -1)
        return;
    at = (void *)syscall(SYS_mmap, NULL, sizeof *m, PROT_READ | PROT_WRITE,
                         MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (at != MAP_FAILED)
        m = at;
}

static void machine_die(void)
{
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    for (;;)
        pause();
}

/* What befalls this call: 0 nothing, MACHINE_TORN, or an errno. */
static int fate(uint32_t kind)
{
    uint64_t call;

    if (m == NULL || (__atomic_load_n(&m->which, __ATOMIC_ACQUIRE) & kind) == 0)
        return 0;
    call = __atomic_fetch_add(&m->calls, 1, __ATOMIC_ACQ_REL);
    if (call < m->at || (call > m->at && m->on == 0))
        return 0;
    __atomic_fetch_add(&m->struck, 1, __ATOMIC_ACQ_REL);
    if (m->what == MACHINE_KILL || (m->what == MACHINE_TORN && kind != WRITES))
        machine_die();
    if (m->what == MACHINE_HANG) {
        while (__atomic_load_n(&m->what, __ATOMIC_ACQUIRE) == MACHINE_HANG)
            syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0,
                    &(struct timespec){.tv_nsec = 10000000}, NULL);
        return 0;
    }
    return m->what;
}

#define FATE(kind)                                                             \
    do {                                                                       \
        int befalls = fate(kind);                                              \
        if (befalls > 0) {                                                     \
            errno = befalls;                                                   \
            return -1;                                                         \
        }                                                                      \
    } while (0)

/* ---- Files --------------------------------------------------------------- */

static bool is_socket(int fd)
{
    struct stat st;

    return syscall(SYS_fstat, fd, &st) == 0 && !S_ISREG(st.st_mode);
}

ssize_t write(int fd, const void *buf, size_t len)
{
    int befalls =
        fd <= STDERR_FILENO ? 0 : fate(is_socket(fd) ? SENDS : WRITES);

    if (befalls == MACHINE_TORN) {
        syscall(SYS_write, fd, buf, len / 2);
        machine_die();
    }
    if (befalls > 0) {
        errno = befalls;
        return -1;
    }
    return syscall(SYS_write, fd, buf, len);
}

static ssize_t put_at(int fd, const void *buf, size_t len, off_t at)
{
    int befalls = fate(WRITES);

    if (befalls == MACHINE_TORN) {
        syscall(SYS_pwrite64, fd, buf, len / 2, at);
        machine_die();
    }
    if (befalls > 0) {
        errno = befalls;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, buf, len, at);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t at)
{
    return put_at(fd, buf, len, at);
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t at)
{
    return put_at(fd, buf, len, at);
}

static int cut(int fd, off_t len)
{
    FATE(WRITES);
    return (int)syscall(SYS_ftruncate, fd, len);
}

int ftruncate(int fd, off_t len)
{
    return cut(fd, len);
}

int ftruncate64(int fd, off64_t len)
{
    return cut(fd, len);
}

int fsync(int fd)
{
    FATE(SYNCS);
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    FATE(SYNCS);
    return (int)syscall(SYS_fdatasync, fd);
}

static int open_at(int dir, const char *name, int flags, mode_t mode)
{
    FATE((flags & O_CREAT) != 0 ? NAMES : READS);
    return (int)syscall(SYS_openat, dir, name, flags, mode);
}

#define MODE(flags, mode)                                                      \
    do {                                                                       \
        va_list args;                                                          \
        va_start(args, flags);                                                 \
        mode =                                                                 \
            (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;   \
        va_end(args);                                                          \
    } while (0)

int open(const char *name, int flags, ...)
{
    mode_t mode;

    MODE(flags, mode);
    return open_at(AT_FDCWD, name, flags, mode);
}

int open64(const char *name, int flags, ...)
{
    mode_t mode;

    MODE(flags, mode);
    return open_at(AT_FDCWD, name, flags, mode);
}

int openat(int dir, const char *name, int flags, ...)
{
    mode_t mode;

    MODE(flags, mode);
    return open_at(dir, name, flags, mode);
}

int rename(const char *from, const char *to)
{
    FATE(NAMES);
    return (int)syscall(SYS_rename, from, to);
}

int renameat(int a, const char *from, int b, const char *to)
{
    FATE(NAMES);
    return (int)syscall(SYS_renameat, a, from, b, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    FATE(NAMES);
    return (int)syscall(SYS_linkat, a, from, b, to, flags);
}

int unlink(const char *name)
{
    FATE(NAMES);
    return (int)syscall(SYS_unlink, name);
}

int unlinkat(int dir, const char *name, int flags)
{
    FATE(NAMES);
    return (int)syscall(SYS_unlinkat, dir, name, flags);
}

int mkdir(const char *name, mode_t mode)
{
    FATE(NAMES);
    return (int)syscall(SYS_mkdir, name, mode);
}

int mkdirat(int dir, const char *name, mode_t mode)
{
    FATE(NAMES);
    return (int)syscall(SYS_mkdirat, dir, name, mode);
}

ssize_t read(int fd, void *buf, size_t len)
{
    FATE(READS);
    return syscall(SYS_read, fd, buf, len);
}

ssize_t pread(int fd, void *buf, size_t len, off_t at)
{
    FATE(READS);
    return syscall(SYS_pread64, fd, buf, len, at);
}

ssize_t pread64(int fd, void *buf, size_t len, off64_t at)
{
    FATE(READS);
    return syscall(SYS_pread64, fd, buf, len, at);
}

/* ---- The network, events, memory ----------------------------------------- */

ssize_t send(int fd, const void *buf, size_t len, int flags)
{
    FATE(SENDS);
    return syscall(SYS_sendto, fd, buf, len, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    FATE(SENDS);
    return syscall(SYS_sendmsg, fd, msg, flags);
}

ssize_t recv(int fd, void *buf, size_t len, int flags)
{
    FATE(READS);
    return syscall(SYS_recvfrom, fd, buf, len, flags, NULL, NULL);
}

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    FATE(TAKES);
    return (int)syscall(SYS_accept4, fd, addr, len, flags);
}

int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
    FATE(TAKES);
    return (int)syscall(SYS_epoll_ctl, epfd, op, fd, event);
}

int epoll_wait(int epfd, struct epoll_event *events, int max, int timeout)
{
    FATE(TAKES);
    return (int)syscall(SYS_epoll_wait, epfd, events, max, timeout);
}

static void *map(void *at, size_t len, int prot, int flags, int fd, off_t from)
{
    int befalls = fate(TAKES);

    if (befalls > 0) {
        errno = befalls;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, len, prot, flags, fd, from);
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t from)
{
    return map(at, len, prot, flags, fd, from);
}

void *mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t from)
{
    return map(at, len, prot, flags, fd, from);
}

/* ---- The clock ----------------------------------------------------------- */

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int result = (int)syscall(SYS_clock_gettime, clock, t);

    if (result == 0 && clock == CLOCK_REALTIME && m != NULL)
        t->tv_sec += __atomic_load_n(&m->clock, __ATOMIC_ACQUIRE);
    if (result == 0 && clock == CLOCK_BOOTTIME && m != NULL)
        t->tv_sec += __atomic_load_n(&m->steady, __ATOMIC_ACQUIRE);
    return result;
}

time_t time(time_t *out)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    if (out != NULL)
        *out = t.tv_sec;
    return t.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec t;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &t);
    out->tv_sec = t.tv_sec;
    out->tv_usec = t.tv_nsec / 1000;
    return 0;
}
