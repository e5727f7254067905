/* test_sandbox.c - from inside the sandbox (H12): each way out is refused, what
 * a collector needs still works. Every trial is a process of its own. */
#define _GNU_SOURCE
#include "rig/sanitized.h"
#include "server/process/sandbox.h"
#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char place[] = "/tmp/hearsay-sandbox-XXXXXX";
static char inside[64], outside[64], beside[64];

/* ---- Ways out: 0 if it was refused, else why not ------------------------- */

static int refused(bool done, int error)
{
    return !done && (errno == error || errno == EPERM) ? 0 : 1 + errno;
}

static int reads_outside(void)
{
    return refused(open(outside, O_RDONLY) != -1, EACCES);
}

static int reads_system(void)
{
    return refused(open("/etc/passwd", O_RDONLY) != -1, EACCES);
}

static int writes_outside(void)
{
    return refused(open(outside, O_WRONLY) != -1, EACCES);
}

static int makes_outside(void)
{
    char name[80];

    snprintf(name, sizeof name, "%s/new", place);
    return refused(open(name, O_WRONLY | O_CREAT, 0600) != -1, EACCES);
}

static int climbs_out(void)
{
    char name[128];

    snprintf(name, sizeof name, "%s/../../../../../etc/passwd", inside);
    return refused(open(name, O_RDONLY) != -1, EACCES);
}

static int writes_beside(void)
{
    return refused(open(beside, O_WRONLY) != -1, EACCES);
}

static int moves_out(void)
{
    char from[80], to[80];

    snprintf(from, sizeof from, "%s/file", inside);
    snprintf(to, sizeof to, "%s/moved", place);
    return refused(rename(from, to) == 0, EACCES);
}

static int makes_a_socket(void)
{
    return refused(socket(AF_INET, SOCK_STREAM, 0) != -1, EPERM) ||
           refused(socket(AF_UNIX, SOCK_STREAM, 0) != -1, EPERM);
}

static int runs_a_program(void)
{
    char *args[] = {"true", NULL};

    return refused(execv("/bin/true", args) != -1, EPERM);
}

static int forks(void)
{
    return refused(fork() != -1, EPERM);
}

static int maps_code(void)
{
    return refused(mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED,
                   EPERM);
}

static int kills(void)
{
    return refused(kill(getppid(), 0) == 0, EPERM);
}

static int leaves_a_core(void)
{
    struct rlimit limit = {1, 1};

    return refused(setrlimit(RLIMIT_CORE, &limit) == 0, EPERM);
}

/* These two end the process. */
static int traces(void)
{
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    return 1;
}

static int reads_a_process(void)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {&byte, 1};

    process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    return 1;
}

/* Of a server that connects and keeps nothing. */
static int connects(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd == -1 || socket(AF_INET6, SOCK_STREAM, 0) == -1)
        return 1;
    return connect(fd, (struct sockaddr *)&to, sizeof to) == -1 &&
                   errno != EPERM
               ? 0
               : 2;
}

static int makes_another_socket(void)
{
    return refused(socket(AF_UNIX, SOCK_STREAM, 0) != -1, EPERM) ||
           refused(socket(AF_NETLINK, SOCK_RAW, 0) != -1, EPERM);
}

static int keeps_something(void)
{
    char from[80], to[80];

    snprintf(from, sizeof from, "%s/file", inside);
    snprintf(to, sizeof to, "%s/moved", inside);
    return refused(rename(from, to) == 0, EPERM) ||
           refused(mkdir(to, 0700) == 0, EPERM) ||
           refused(truncate(from, 0) == 0, EPERM);
}

/* ---- What is left -------------------------------------------------------- */

static void *think(void *done)
{
    *(bool *)done = true;
    return NULL;
}

static int works(void)
{
    char name[80], moved[80];
    bool thought = false;
    pthread_t thread;
    int fd;

    snprintf(name, sizeof name, "%s/new", inside);
    snprintf(moved, sizeof moved, "%s/moved", inside);
    fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd == -1 || pwrite(fd, "x", 1, 0) != 1 || fdatasync(fd) == -1 ||
        ftruncate(fd, 0) == -1 || close(fd) == -1)
        return 1;
    if (rename(name, moved) == -1 || unlink(moved) == -1)
        return 2;
    if (open(beside, O_RDONLY) == -1)
        return 3;
    if (pthread_create(&thread, NULL, think, &thought) != 0 ||
        pthread_join(thread, NULL) != 0 || !thought)
        return 4;
    return prctl(PR_GET_DUMPABLE) == -1 && errno == EPERM ? 0 : 5;
}

/* ---- Trials -------------------------------------------------------------- */

#define NO_LANDLOCK 99 /* this kernel cannot close off files */

static unsigned does = SANDBOX_KEEPS; /* what the server is for */

static int enter_and_try(int (*way)(void), bool files)
{
    const char *const writable[] = {inside, "", NULL};
    const char *const readable[] = {beside, "", NULL};
    const struct sandbox_options o = {
        .does = does, .writable = writable, .readable = readable};
    struct sandbox_result r = {0};
    hsy_error err;

    if (sandbox_enter(&o, &r, &err) != HSY_OK || (!r.seccomp && !files))
        return 98;
    return files && r.landlock == 0 ? NO_LANDLOCK : way();
}

static void tries(int (*way)(void), bool files, bool deadly, const char *what)
{
    pid_t child;
    int status = 0;

    if (TEST_SANITIZED && !files) {
        tap_skip("a sanitizer calls more than the list has");
        return;
    }
    child = fork();
    if (child == 0)
        _exit(enter_and_try(way, files));
    if (child == -1 || waitpid(child, &status, 0) != child)
        status = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_LANDLOCK)
        tap_skip("this kernel has no Landlock");
    else
        ok(deadly ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS
                  : status == 0,
           "%s (%d)", what, status);
}

static void touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    close(fd);
}

int main(void)
{
    char name[80];

    if (mkdtemp(place) == NULL)
        return 1;
    snprintf(inside, sizeof inside, "%s/data", place);
    snprintf(outside, sizeof outside, "%s/secret", place);
    snprintf(name, sizeof name, "%s/etc", place);
    snprintf(beside, sizeof beside, "%s/etc/key", place);
    mkdir(inside, 0700);
    mkdir(name, 0700);
    touch(outside);
    touch(beside);
    snprintf(name, sizeof name, "%s/file", inside);
    touch(name);

    ok(sandbox_calls(SANDBOX_KEEPS) <= SANDBOX_CALLS_MAX,
       "at most %u calls are left: %zu", SANDBOX_CALLS_MAX,
       sandbox_calls(SANDBOX_KEEPS));
    ok(sandbox_calls(SANDBOX_CONNECTS) <= SANDBOX_RELAY_MAX,
       "at most %u to a relay: %zu", SANDBOX_RELAY_MAX,
       sandbox_calls(SANDBOX_CONNECTS));
    tries(works, false, false, "files inside, threads and the clock are left");
    tries(reads_outside, true, false, "a file outside cannot be read");
    tries(reads_system, true, false, "nor one of the system");
    tries(writes_outside, true, false, "nor written");
    tries(makes_outside, true, false, "nor made");
    tries(climbs_out, true, false, "nor by way of ..");
    tries(moves_out, true, false, "nor moved there");
    tries(writes_beside, true, false, "what is to be read is not written");
    tries(makes_a_socket, false, false, "no socket is made");
    tries(runs_a_program, false, false, "no program is run");
    tries(forks, false, false, "no process is made");
    tries(maps_code, false, false, "no code is mapped");
    tries(kills, false, false, "no signal is sent");
    tries(leaves_a_core, false, false, "no core file is allowed");
    tries(traces, false, true, "who traces is ended");
    tries(reads_a_process, false, true, "who reads another process is ended");

    does = SANDBOX_CONNECTS;
    tries(connects, false, false, "a relay connects");
    tries(makes_another_socket, false, false, "by TCP only");
    tries(keeps_something, false, false, "and changes no file");
    tries(reads_outside, true, false, "nor reads one outside");
    tries(runs_a_program, false, false, "nor runs a program");

    unlink(name);
    unlink(outside);
    unlink(beside);
    rmdir(inside);
    snprintf(name, sizeof name, "%s/etc", place);
    rmdir(name);
    rmdir(place);
    return tap_done();
}
