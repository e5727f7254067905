/*
 * test_output.c - an output is whole or not there. Everything is tried as it
 * is, and again as on a file system that knows no files without a name.
 */
#define _GNU_SOURCE /* O_TMPFILE */

#include "host/base/output.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIG 300001u

static uint8_t big[BIG];

/* How many entries the current directory has. */
static unsigned entries(void)
{
    DIR *d = opendir(".");
    unsigned n = 0;

    if (d == NULL)
        return 0;
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 2;
}

static bool holds(const char *path, const void *want, size_t len)
{
    static uint8_t got[BIG + 1];
    FILE *f = fopen(path, "rb");
    size_t n;

    if (f == NULL)
        return false;
    n = fread(got, 1, sizeof got, f);
    fclose(f);
    return n == len && memcmp(got, want, len) == 0;
}

static mode_t mode_of(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static bool put(const char *path, const char *text)
{
    struct output *out;

    return output_open(&out, path) == HSY_OK &&
           output_write(out, text, strlen(text)) == HSY_OK &&
           output_commit(out) == HSY_OK;
}

static void file_appears_whole(bool nameless)
{
    struct output *out = NULL;
    size_t at = 0, step = 1;

    ok(eq_status(output_open(&out, "new"), HSY_OK) && access("new", F_OK) == -1,
       "a file is not there when it is opened");
    while (at < BIG) {
        size_t n = step < BIG - at ? step : BIG - at;

        output_write(out, big + at, n);
        at += n;
        step = step * 3 % 100003;
    }
    ok(access("new", F_OK) == -1 && entries() == (nameless ? 0 : 1),
       "nor when it is written; %s",
       nameless ? "nothing is" : "its draft is beside it");
    ok(eq_status(output_commit(out), HSY_OK) && holds("new", big, BIG),
       "after the commit it is there with all its bytes");
    ok(eq_u64(entries(), 1) && eq_u64(mode_of("new"), 0640),
       "the draft is gone, the mode is what open gives");
    unlink("new");
}

static void abort_leaves_what_was(void)
{
    struct output *out = NULL;

    ok(eq_status(output_open(&out, "gone"), HSY_OK) &&
           eq_status(output_write(out, big, BIG), HSY_OK),
       "an output may be given up");
    output_abort(out);
    is_u64(entries(), 0, "then nothing is left of it");
    put("kept", "old");
    ok(eq_status(output_open(&out, "kept"), HSY_OK) &&
           eq_status(output_write(out, "newer", 5), HSY_OK),
       "also where a file was");
    output_abort(out);
    ok(eq_u64(entries(), 1) && holds("kept", "old", 3),
       "then the old one stays");
    output_abort(NULL);
    unlink("kept");
}

static void replacing(void)
{
    put("was", "old");
    chmod("was", 0604);
    ok(eq_int(symlink("was", "link"), 0) && put("link", "new"),
       "a link can be written through");
    ok(holds("was", "new", 3) && eq_u64(mode_of("was"), 0604),
       "its target has the new bytes and the old mode");
    ok((readlink("link", (char[8]){0}, 8) == 3) && eq_u64(entries(), 2),
       "and it is a link still");
    unlink("was");
    ok(!put("link", "x") && eq_int(errno, ENOENT) && eq_int(entries(), 1),
       "a link to nowhere is an error");
    unlink("link");
}

static bool refused(const char *path, int error)
{
    struct output *out;

    return output_open(&out, path) == HSY_E_IO && errno == error;
}

static void places_that_are_no_file(void)
{
    struct stat st;

    mkdir("dir", 0700);
    ok(refused("dir", EISDIR), "a directory is refused");
    ok(refused("none/file", ENOENT), "a missing directory too");
    rmdir("dir");
    if (geteuid() == 0) {
        tap_skip("root may write any file");
    } else {
        put("fixed", "old");
        chmod("fixed", 0400);
        ok(refused("fixed", EACCES), "a file that may not be written too");
        unlink("fixed");
    }
    ok(put("/dev/null", "x") && eq_int(stat("/dev/null", &st), 0) &&
           S_ISCHR(st.st_mode),
       "a device is written, not replaced");
    is_u64(entries(), 0, "none of them leaves a draft");
}

static void full_disk(void)
{
    struct output *out = NULL;

    ok(eq_status(output_open(&out, "/dev/full"), HSY_OK) &&
           eq_status(output_write(out, "x", 1), HSY_OK),
       "a short output on a full disk is buffered");
    ok(eq_status(output_commit(out), HSY_E_IO) && eq_int(errno, ENOSPC),
       "but its commit fails");
    ok(eq_status(output_open(&out, "/dev/full"), HSY_OK) &&
           eq_status(output_write(out, big, BIG), HSY_E_IO) &&
           eq_int(errno, ENOSPC),
       "a long one fails at once");
    errno = 0;
    ok(eq_status(output_write(out, "x", 1), HSY_E_IO) && eq_int(errno, ENOSPC),
       "and again at the next write");
    errno = 0;
    ok(eq_status(output_commit(out), HSY_E_IO) && eq_int(errno, ENOSPC),
       "and again at the commit");
}

static void file_that_cannot_grow(void)
{
    struct rlimit old, tight;
    struct output *out = NULL;

    put("kept", "old");
    getrlimit(RLIMIT_FSIZE, &old);
    tight = old;
    tight.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &tight);
    ok(eq_status(output_open(&out, "kept"), HSY_OK) &&
           eq_status(output_write(out, big, BIG), HSY_E_IO) &&
           eq_int(errno, EFBIG),
       "a file that cannot grow says so");
    ok(eq_status(output_commit(out), HSY_E_IO) && eq_int(errno, EFBIG) &&
           eq_int(entries(), 1) && holds("kept", "old", 3),
       "it is not committed, and the old one stays");
    setrlimit(RLIMIT_FSIZE, &old);
    unlink("kept");
}

/* In a child whose standard output is fd. Exit 0: HSY_OK; else errno. */
static int to_stdout(int fd, size_t len)
{
    pid_t child;
    int status;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        struct output *out;

        dup2(fd, STDOUT_FILENO);
        if (output_open(&out, NULL) != HSY_OK)
            _exit(255);
        output_write(out, big, len);
        _exit(output_commit(out) == HSY_OK ? 0 : errno);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void standard_output(void)
{
    int pipes[2], fd;

    fd = open("caught", O_RDWR | O_CREAT, 0600);
    ok(eq_int(to_stdout(fd, BIG), 0) && holds("caught", big, BIG),
       "standard output gets every byte");
    close(fd);
    unlink("caught");
    if (pipe(pipes) == -1)
        return;
    close(pipes[0]);
    ok(to_stdout(pipes[1], 1) == EPIPE && to_stdout(pipes[1], BIG) == EPIPE,
       "a closed pipe is EPIPE");
    close(pipes[1]);
    fd = open("/dev/full", O_WRONLY);
    is_int(to_stdout(fd, 1), ENOSPC, "a full disk is ENOSPC");
    close(fd);
}

/* A reader that begins late, behind a pipe that does not block. */
static void pipe_that_does_not_block(void)
{
    static uint8_t got[BIG];
    int pipes[2], status, result;
    size_t at = 0;
    ssize_t n;
    pid_t child;

    if (pipe(pipes) == -1)
        return;
    fcntl(pipes[1], F_SETFL, O_NONBLOCK);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        close(pipes[0]);
        _exit(to_stdout(pipes[1], BIG));
    }
    close(pipes[1]);
    while ((n = read(pipes[0], got + at, BIG - at)) > 0)
        at += (size_t)n;
    close(pipes[0]);
    waitpid(child, &status, 0);
    result = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
    ok(result == 0 && at == BIG && eq_bytes(got, big, BIG),
       "a pipe that does not block gets every byte");
}

/* Whether opening a file without a name works here. */
static bool knows_nameless(void)
{
    int fd = open(".", O_WRONLY | O_TMPFILE, 0600);

    if (fd != -1)
        close(fd);
    return fd != -1;
}

/* A child that is killed while it replaces a file. */
static void killed(void)
{
    struct output *out;
    pid_t child;
    int status;

    put("kept", "old");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (output_open(&out, "kept") == HSY_OK &&
            output_write(out, big, BIG) == HSY_OK)
            raise(SIGKILL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    ok(WIFSIGNALED(status) && eq_u64(entries(), 1) && holds("kept", "old", 3),
       "a process that is killed leaves what was, and no more");
    unlink("kept");
}

/* Many of them at once, and other people's files in the way. */
static void drafts_do_not_collide(void)
{
    struct output *one = NULL, *two = NULL;
    char name[64];

    snprintf(name, sizeof name, ".hearsay-%ld-0.tmp", (long)getpid());
    put(name, "another's");
    ok(eq_status(output_open(&one, "one"), HSY_OK) &&
           eq_status(output_open(&two, "two"), HSY_OK) &&
           eq_status(output_write(one, "1", 1), HSY_OK) &&
           eq_status(output_write(two, "2", 1), HSY_OK) &&
           eq_status(output_commit(two), HSY_OK) &&
           eq_status(output_commit(one), HSY_OK) && holds("one", "1", 1) &&
           holds("two", "2", 1) && holds(name, "another's", 9) &&
           eq_u64(entries(), 3),
       "outputs side by side do not get into each other's way");
    unlink("one");
    unlink("two");
    unlink(name);
}

static void everything(bool nameless)
{
    file_appears_whole(nameless);
    abort_leaves_what_was();
    replacing();
    drafts_do_not_collide();
    places_that_are_no_file();
    full_disk();
    file_that_cannot_grow();
    standard_output();
    pipe_that_does_not_block();
    if (nameless)
        killed();
    else
        tap_skip("a killed process leaves its draft");
}

/* From now on opening a file without a name fails as it does on such a file
 * system: the low half of the flags of openat has the bit of O_TMPFILE. */
static bool forbid_nameless(void)
{
    enum { FLAGS = offsetof(struct seccomp_data, args[2]) };
    static struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 FLAGS + 4 * (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    static const struct sock_fprog filter = {sizeof code / sizeof code[0],
                                             code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void memory(void)
{
    struct output *out = NULL;
    uint8_t *bytes = NULL;
    size_t at = 0, step = 1, len = 1;

    ok(eq_status(output_memory(&out), HSY_OK) &&
           eq_status(output_take(out, &bytes, &len), HSY_OK) && eq_u64(len, 0),
       "an output in memory may stay empty");
    free(bytes);
    if (!is_status(output_memory(&out), HSY_OK, "another is written"))
        return;
    for (; at < BIG; at += step, step = step % 90000 * 3 + 1) {
        if (step > BIG - at)
            step = BIG - at;
        output_write(out, big + at, step);
    }
    bytes = NULL;
    ok(eq_status(output_take(out, &bytes, &len), HSY_OK) && eq_u64(len, BIG) &&
           eq_bytes(bytes, big, BIG),
       "and taken whole");
    free(bytes);
    ok(eq_status(output_memory(&out), HSY_OK) &&
           eq_status(output_write(out, big, BIG), HSY_OK),
       "a third is written");
    output_abort(out);
}

int main(void)
{
    char dir[] = "/tmp/hearsay-output-XXXXXX";

    if (mkdtemp(dir) == NULL || chdir(dir) == -1)
        return 1;
    umask(027);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < BIG; i++)
        big[i] = (uint8_t)(i * 2654435761u >> 11);
    memory();
    everything(knows_nameless());
    if (forbid_nameless())
        everything(false);
    else
        tap_skip("the kernel takes no filter of system calls");
    is_u64(entries(), 0, "nothing is left behind");
    if (chdir("/") == 0)
        rmdir(dir);
    return tap_done();
}
