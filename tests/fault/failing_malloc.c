/*
 * failing_malloc.c - preloaded into the command, which then runs once in whole
 * and once for each HSY_FAIL_EACH-th of its allocations, which fails. Each run
 * is a process of its own, forked before main. Where HSY_FAIL_LATE is set it is
 * forked at the allocation instead, so that what comes before is done but once:
 * for a command that has written nothing by then, and no file at all. A run
 * leaves:
 *
 *     HSY_FAIL_IN/stdout, HSY_FAIL_IN/stderr
 *     HSY_FAIL_IN/to/   files, which are removed before the next run
 *
 * A run is right if it exits with 1 and a message and leaves no file, or with
 * 0 and as much as came out of the whole one. At the end, or at the first run
 * that is not right, one line says how many allocations there are, how many
 * runs failed one, and what is wrong.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAILING_MOST 400 /* runs for one command, at most */
#define FAILING_FILES 4  /* it may leave */

/* The files that a run left, sorted, and the lines it printed. */
struct came {
    long long lines;
    size_t files;
    struct came_file {
        char name[64];
        long long size;
    } file[FAILING_FILES];
};

/* Of one process; `calls` of the whole run, and all that follows, are shared
 * with the process that forks the runs. */
struct failing {
    unsigned long calls, fails; /* allocations so far, and which one fails */
    unsigned long step, runs;
    bool walks; /* forks a run at each step */
    struct came whole;
    const char *wrong; /* NULL: nothing so far */
    unsigned long at;  /* the last allocation that failed */
    int status;        /* what the run ended with, as a shell tells it */
    char out[256], err[256], to[256];
};

static struct failing alone, *failing = &alone;

/* ---- What a run left ------------------------------------------------------
 */

static void die(const char *what)
{
    perror(what);
    _exit(99);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct came_file *)a)->name,
                  ((const struct came_file *)b)->name);
}

/* What lies in to/ is told, and removed. */
static void came_files(struct came *came)
{
    DIR *dir = opendir(failing->to);
    struct dirent *entry;
    struct stat st;

    if (dir == NULL)
        die(failing->to);
    while ((entry = readdir(dir)) != NULL) {
        struct came_file *f = &came->file[came->files];
        const char *name = entry->d_name;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (came->files++ == FAILING_FILES || strlen(name) >= sizeof f->name ||
            fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
            unlinkat(dirfd(dir), name, 0) == -1)
            die(name);
        memcpy(f->name, name, strlen(name));
        f->size = st.st_size;
    }
    closedir(dir);
    qsort(came->file, came->files, sizeof *came->file, by_name);
}

static void came_lines(struct came *came)
{
    char buf[1 << 14];
    int fd = open(failing->out, O_RDONLY);
    ssize_t n;

    if (fd < 0)
        die(failing->out);
    while ((n = read(fd, buf, sizeof buf)) > 0)
        for (ssize_t i = 0; i < n; i++)
            came->lines += buf[i] == '\n';
    close(fd);
}

/* What is wrong with a run, or NULL. */
static const char *judge(const struct came *came)
{
    struct stat said;

    if (stat(failing->err, &said) == -1)
        die(failing->err);
    if (failing->status != 0 && failing->status != 1)
        return "it neither ends well nor fails";
    if (failing->status == 1 && said.st_size == 0)
        return "silent";
    if (failing->status == 1 && came->files != 0)
        return "failed, but left a file";
    if (failing->status == 0 &&
        memcmp(came, &failing->whole, sizeof *came) != 0)
        return "exit 0, but the output is not whole";
    return NULL;
}

/* ---- Runs -----------------------------------------------------------------
 */

/* A new file of this name as descriptor fd, to which nothing was written. */
static void redirect(const char *name, int fd, bool late)
{
    int file;

    if (late && lseek(fd, 0, SEEK_CUR) != 0)
        die("something is written already");
    unlink(name);
    file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0 || dup2(file, fd) == -1 || close(file) == -1)
        die(name);
}

/* Forks a run: true in it. The other process waits for its end. */
static bool run(bool late)
{
    int status;
    pid_t pid = fork();

    if (pid == -1)
        die("fork");
    if (pid == 0) {
        redirect(failing->out, 1, late);
        redirect(failing->err, 2, late);
        return true;
    }
    if (waitpid(pid, &status, 0) == -1)
        die("wait");
    failing->status =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return false;
}

/* The run in which allocation k fails: true in it, which forks no others. The
 * other process judges it. */
static bool run_failing(unsigned long k, bool late)
{
    struct came came = {0};

    failing->at = k;
    failing->runs++;
    if (run(late)) {
        alone.fails = late ? 0 : k; /* the one at hand fails anyhow */
        failing = &alone;
        return true;
    }
    came_files(&came);
    came_lines(&came);
    failing->wrong = judge(&came);
    return false;
}

static void tell(void)
{
    printf("%lu %lu", failing->calls, failing->runs);
    if (failing->wrong != NULL)
        printf(" allocation %lu: %s (exit %d)", failing->at, failing->wrong,
               failing->status);
    puts("");
    fflush(stdout);
    _exit(0);
}

/* A run that nothing fails in: true in it. */
static bool run_whole(bool walks)
{
    failing->calls = 0;
    failing->walks = walks;
    if (run(false))
        return true;
    failing->walks = false;
    return false;
}

/* p11-kit, which comes with gnutls, frees a locale when the process ends; glibc
 * keeps its lock if setlocale ran out of memory, and would wait for ever. */
void freelocale(locale_t locale)
{
    (void)locale;
}

/* Before main: returns in every run, and not in the process that forks them.
 * Libraries that the command is linked with have begun before this; what they
 * allocate for that is not its, and neither counts nor fails. */
__attribute__((constructor)) static void each(void)
{
    const char *in = getenv("HSY_FAIL_IN");
    unsigned long calls;

    failing = mmap(NULL, sizeof *failing, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (failing == MAP_FAILED)
        die("mmap");
    failing->step = strtoul(getenv("HSY_FAIL_EACH"), NULL, 10);
    snprintf(failing->out, sizeof failing->out, "%s/stdout", in);
    snprintf(failing->err, sizeof failing->err, "%s/stderr", in);
    snprintf(failing->to, sizeof failing->to, "%s/to", in);
    if (run_whole(false))
        return;
    calls = failing->calls;
    came_files(&failing->whole);
    came_lines(&failing->whole);
    if (failing->status != 0 || calls > failing->step * FAILING_MOST)
        failing->wrong = "without a fault it fails, or has too many";
    else if (getenv("HSY_FAIL_LATE") != NULL) {
        if (run_whole(true))
            return;
        if (failing->wrong == NULL && failing->status != 0)
            failing->wrong = "it fails where nothing does";
    } else
        for (unsigned long k = 1; k <= calls && failing->wrong == NULL;
             k += failing->step)
            if (run_failing(k, false))
                return;
    failing->calls = calls;
    tell();
}

/* ---- Inside a run ---------------------------------------------------------
 */

static int fails_now(void)
{
    const unsigned long k = ++failing->calls;
    bool fails = k == failing->fails;

    if (failing->walks && (k - 1) % failing->step == 0) {
        failing->walks = false;
        fails = run_failing(k, true);
        if (!fails) {
            failing->calls = k; /* judging allocates, too */
            failing->walks = failing->wrong == NULL;
        }
    }
    if (fails)
        errno = ENOMEM;
    return fails;
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
