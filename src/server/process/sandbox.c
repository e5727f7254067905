/*
 * sandbox.c - Landlock for files, seccomp for system calls, rlimits.
 *
 * Calls that are not on the list fail with EPERM: a library that tries one
 * takes another way or says so, which can be read in a log. What only an
 * intruder would call ends the process. clone3 does not exist: its arguments
 * cannot be looked at, and libc makes threads by clone then.
 */
#define _GNU_SOURCE

#include "server/process/sandbox.h"

#include "host/base/host_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A sanitizer looks into its own process and calls more than the list has: it
 * finds other things, in a build that is for tests. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||     \
    __has_feature(memory_sanitizer)
#define SANDBOX_WATCHED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_WATCHED 1
#endif
#ifndef SANDBOX_WATCHED
#define SANDBOX_WATCHED 0
#endif

/* ---- Landlock ------------------------------------------------------------ */

#define SANDBOX_REFER (UINT64_C(1) << 13)    /* version 2 */
#define SANDBOX_TRUNCATE (UINT64_C(1) << 14) /* version 3 */

#define SANDBOX_READ                                                           \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define SANDBOX_WRITE                                                          \
    (SANDBOX_READ | LANDLOCK_ACCESS_FS_WRITE_FILE |                            \
     LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |          \
     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |               \
     SANDBOX_REFER | SANDBOX_TRUNCATE)
#define SANDBOX_VERSION_1 ((UINT64_C(1) << 13) - 1) /* all that it knows */

/* What the kernel's Landlock can keep from us; 0: it has none. */
static uint64_t sandbox_handled(int version)
{
    return version < 1    ? 0
           : version == 1 ? SANDBOX_VERSION_1
           : version == 2
               ? SANDBOX_VERSION_1 | SANDBOX_REFER
               : SANDBOX_VERSION_1 | SANDBOX_REFER | SANDBOX_TRUNCATE;
}

static bool sandbox_allow(int ruleset, const char *directory, uint64_t rights)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = rights};
    long done;

    rule.parent_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (rule.parent_fd == -1)
        return false;
    done = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH,
                   &rule, 0);
    close(rule.parent_fd);
    return done == 0;
}

/* The directory of a file. */
static bool sandbox_allow_beside(int ruleset, const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t len = slash != NULL ? (size_t)(slash - file) + 1 : 1;
    char *directory = strndup(slash != NULL ? file : ".", len);
    bool good =
        directory != NULL && sandbox_allow(ruleset, directory, SANDBOX_READ);

    free(directory);
    return good;
}

static bool sandbox_rules(int ruleset, const struct sandbox_options *o,
                          uint64_t handled)
{
    for (size_t i = 0; o->writable[i] != NULL; i++)
        if (o->writable[i][0] != '\0' &&
            !sandbox_allow(ruleset, o->writable[i], SANDBOX_WRITE & handled))
            return false;
    for (size_t i = 0; o->readable[i] != NULL; i++)
        if (o->readable[i][0] != '\0' &&
            !sandbox_allow_beside(ruleset, o->readable[i]))
            return false;
    return !SANDBOX_WATCHED || sandbox_allow(ruleset, "/proc", SANDBOX_READ);
}

static hsy_status sandbox_files(const struct sandbox_options *o, int *version,
                                hsy_error *err)
{
    long known = syscall(SYS_landlock_create_ruleset, NULL, 0,
                         LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_ruleset_attr attr = {.handled_access_fs = 0};
    bool good;
    int ruleset;

    *version = known > 0 ? (int)known : 0;
    if (*version == 0)
        return o->required ? host_fail(err, HSY_E_UNKNOWN, HOST_FIELD_SANDBOX,
                                       "this kernel has no Landlock")
                           : HSY_OK;
    attr.handled_access_fs = sandbox_handled(*version);
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr,
                           sizeof attr.handled_access_fs, 0);
    good = ruleset != -1 && sandbox_rules(ruleset, o, attr.handled_access_fs) &&
           syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    if (ruleset != -1)
        close(ruleset);
    return good ? HSY_OK
                : host_fail(err, HSY_E_IO, HOST_FIELD_SANDBOX,
                            "files cannot be closed off (Landlock)");
}

/* ---- Seccomp ------------------------------------------------------------- */

/* Those that read a clock are called where the kernel cannot let a process read
 * it by itself, restart_syscall after a stop, fstat by a libc that has another
 * newfstatat, mremap for large blocks, getrandom by TLS;
 * unlink of a listener's socket file. */
static const int sandbox_common[] = {
    /* files */
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(close), SCMP_SYS(openat),
    SCMP_SYS(newfstatat), SCMP_SYS(fstat), SCMP_SYS(fcntl), SCMP_SYS(unlink),
    /* connections */
    SCMP_SYS(accept4), SCMP_SYS(recvfrom), SCMP_SYS(sendto), SCMP_SYS(sendmsg),
    SCMP_SYS(shutdown), SCMP_SYS(setsockopt), SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_ctl),
    /* memory */
    SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk),
    SCMP_SYS(getrandom),
    /* threads, time, signals */
    SCMP_SYS(futex), SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday), SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigtimedwait), SCMP_SYS(getpid), SCMP_SYS(rseq), SCMP_SYS(exit),
    SCMP_SYS(exit_group)};

/* fallocate is called by store_log.c, fstatfs by that and
 * server/collector/watch/machine.c, and this one goes through its descriptors
 * again with lseek. */
static const int sandbox_keeps[] = {
    SCMP_SYS(pread64),    SCMP_SYS(pwrite64), SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),  SCMP_SYS(rename),   SCMP_SYS(ftruncate),
    SCMP_SYS(mkdir),      SCMP_SYS(rmdir),    SCMP_SYS(access),
    SCMP_SYS(getdents64), SCMP_SYS(lseek),    SCMP_SYS(fstatfs),
    SCMP_SYS(fallocate)};

static const int sandbox_connects[] = {SCMP_SYS(connect), SCMP_SYS(getsockopt),
                                       SCMP_SYS(recvmsg)};

/* libpq's. */
static const int sandbox_asks[] = {SCMP_SYS(poll), SCMP_SYS(getsockname),
                                   SCMP_SYS(getpeername)};

static const struct sandbox_list {
    unsigned need; /* of the process; 0: whatever it is */
    const int *calls;
    size_t n;
} sandbox_lists[] = {
#define SANDBOX_COUNT(list) (sizeof(list) / sizeof(list)[0])
    {0, sandbox_common, SANDBOX_COUNT(sandbox_common)},
    {SANDBOX_KEEPS, sandbox_keeps, SANDBOX_COUNT(sandbox_keeps)},
    {SANDBOX_CONNECTS, sandbox_connects, SANDBOX_COUNT(sandbox_connects)},
    {SANDBOX_ASKS, sandbox_asks, SANDBOX_COUNT(sandbox_asks)},
};

/* With part of their arguments: the bits of a mask must be as said. */
static const struct sandbox_partly {
    unsigned need; /* as in sandbox_list */
    int call;
    unsigned arg;
    uint64_t mask, value;
} sandbox_partly[] = {
    {0, SCMP_SYS(mmap), 2, PROT_EXEC, 0},
    {0, SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
    {0, SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD},
    {SANDBOX_CONNECTS, SCMP_SYS(socket), 0, UINT32_MAX, AF_INET},
    {SANDBOX_CONNECTS, SCMP_SYS(socket), 0, UINT32_MAX, AF_INET6},
};

/* Nothing here calls these by mistake. */
static const int sandbox_deadly[] = {
    SCMP_SYS(ptrace),      SCMP_SYS(process_vm_readv),
    SCMP_SYS(bpf),         SCMP_SYS(process_vm_writev),
    SCMP_SYS(kexec_load),  SCMP_SYS(finit_module),
    SCMP_SYS(init_module), SCMP_SYS(mount),
    SCMP_SYS(setns),       SCMP_SYS(unshare),
    SCMP_SYS(pivot_root),  SCMP_SYS(perf_event_open)};

static bool sandbox_wants(unsigned does, unsigned need)
{
    return (does & need) == need;
}

size_t sandbox_calls(unsigned does)
{
    size_t n = 0;

    for (size_t i = 0; i < SANDBOX_COUNT(sandbox_lists); i++)
        if (sandbox_wants(does, sandbox_lists[i].need))
            n += sandbox_lists[i].n;
    for (size_t i = 0; i < SANDBOX_COUNT(sandbox_partly); i++)
        n += sandbox_wants(does, sandbox_partly[i].need);
    return n;
}

static int sandbox_admit(scmp_filter_ctx filter, const struct sandbox_list *l)
{
    int failed = 0;

    for (size_t i = 0; i < l->n; i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, l->calls[i], 0);
    return failed;
}

static bool sandbox_filter(scmp_filter_ctx filter, unsigned does)
{
    int failed = 0;

    for (size_t i = 0; i < SANDBOX_COUNT(sandbox_lists); i++)
        if (sandbox_wants(does, sandbox_lists[i].need))
            failed |= sandbox_admit(filter, &sandbox_lists[i]);
    for (size_t i = 0; i < SANDBOX_COUNT(sandbox_partly); i++) {
        const struct sandbox_partly *p = &sandbox_partly[i];

        if (sandbox_wants(does, p->need))
            failed |= seccomp_rule_add(
                filter, SCMP_ACT_ALLOW, p->call, 1,
                SCMP_CMP(p->arg, SCMP_CMP_MASKED_EQ, p->mask, p->value));
    }
    for (size_t i = 0; i < SANDBOX_COUNT(sandbox_deadly); i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS,
                                   sandbox_deadly[i], 0);
    failed |=
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    return failed == 0;
}

static hsy_status sandbox_system(const struct sandbox_options *o, bool *entered,
                                 hsy_error *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));

    /* The list is what libc, SQLite and GnuTLS call on this processor. */
    *entered = !SANDBOX_WATCHED && seccomp_arch_native() == SCMP_ARCH_X86_64 &&
               filter != NULL && sandbox_filter(filter, o->does) &&
               seccomp_load(filter) == 0;
    if (filter != NULL)
        seccomp_release(filter);
    return *entered || !o->required
               ? HSY_OK
               : host_fail(err, HSY_E_UNKNOWN, HOST_FIELD_SANDBOX,
                           "system calls cannot be closed off (seccomp)");
}

char *sandbox_socket_place(const char *address)
{
    const char *slash;

    if (address == NULL || strncmp(address, "unix:", 5) != 0)
        return strdup("");
    slash = strrchr(address + 5, '/');
    return slash == NULL ? strdup(".")
                         : strndup(address + 5, (size_t)(slash - address - 4));
}

/* ---- All of it ----------------------------------------------------------- */

hsy_status sandbox_enter(const struct sandbox_options *o,
                         struct sandbox_result *out, hsy_error *err)
{
    static const struct rlimit none = {0, 0};
    hsy_status st;

    if (setrlimit(RLIMIT_CORE, &none) == -1 ||
        prctl(PR_SET_DUMPABLE, SANDBOX_WATCHED, 0, 0, 0) == -1 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
        return host_fail(err, HSY_E_IO, HOST_FIELD_SANDBOX,
                         "core files cannot be forbidden");
    st = sandbox_files(o, &out->landlock, err);
    return st == HSY_OK ? sandbox_system(o, &out->seccomp, err) : st;
}
