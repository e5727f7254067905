/*
 * bench_command.c - the speed of the commands themselves, text in to tally out.
 *
 * Each run is a new process of the hearsay beside this program, between files
 * in memory, and what counts is the processor time it took, its start included.
 */
#define _GNU_SOURCE /* memfd_create, wait4 */
#include "bench/bench.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define BENCH_VALUES 1024
#define BENCH_LINE 11 /* bytes of "value 0123" and its end */
#define BENCH_RUNS 4

extern char **environ;

/* ---- Files --------------------------------------------------------------- */

static bool bench_write(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);

        if (n < 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

/* Lines "value N", all of one length: N counts up, or is drawn. */
static bool bench_write_lines(int fd, size_t lines, hsy_rng *rng)
{
    char text[1 << 16];
    uint32_t draws[1024];
    size_t used = 0;
    bool good = true;

    for (size_t i = 0; i < lines && good; i++) {
        if (rng != NULL && i % 1024 == 0)
            rng->fill(rng->ctx, draws, sizeof draws);
        snprintf(text + used, sizeof text - used, "value %04u\n",
                 rng != NULL ? draws[i % 1024] % BENCH_VALUES : (unsigned)i);
        used += BENCH_LINE;
        if (sizeof text - used < 32 || i + 1 == lines) {
            good = bench_write(fd, text, used);
            used = 0;
        }
    }
    return good;
}

static bool bench_files_open(struct bench *b)
{
    struct bench_files *f = &b->files;
    hsy_stream stream;
    hsy_rng rng = hsy_stream_rng(&stream);

    if (f->open)
        return true;
    hsy_stream_seed(&stream, 1, 5);
    f->open = true;
    f->labels = memfd_create("labels", 0);
    f->truths = memfd_create("truths", 0);
    f->reports = memfd_create("reports", 0);
    f->tally = memfd_create("tally", 0);
    if (f->labels < 0 || f->truths < 0 || f->reports < 0 || f->tally < 0 ||
        !bench_write_lines(f->labels, BENCH_VALUES, NULL) ||
        !bench_write_lines(f->truths, b->lines, &rng)) {
        bench_fail("memory file: %s", strerror(errno));
        return false;
    }
    return true;
}

void bench_files_clear(struct bench *b)
{
    const struct bench_files *f = &b->files;
    const int all[] = {f->labels, f->truths, f->reports, f->tally};

    for (size_t i = 0; f->open && i < sizeof all / sizeof all[0]; i++)
        if (all[i] >= 0)
            close(all[i]);
    b->files = (struct bench_files){.open = false};
}

/* ---- Processes ----------------------------------------------------------- */

/* The command that was built with this program: "hearsay" in its folder. */
static bool bench_hearsay(char path[PATH_MAX])
{
    static const char name[] = "hearsay";
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - sizeof name);
    char *end = len > 0 ? memrchr(path, '/', (size_t)len) : NULL;

    if (end == NULL)
        return false;
    memcpy(end + 1, name, sizeof name);
    return true;
}

/* Start it with its input and output; its id, or -1 with errno. */
static pid_t bench_start(char *const argv[], int in, int out)
{
    char path[PATH_MAX];
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    int failed;

    if (!bench_hearsay(path))
        return -1;
    failed = posix_spawn_file_actions_init(&actions);

    if (failed == 0) {
        failed = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
        if (failed == 0)
            failed =
                posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
        if (failed == 0)
            failed = posix_spawn(&pid, path, &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    errno = failed;
    return failed == 0 ? pid : -1;
}

static double bench_seconds(const struct timeval *t)
{
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

/* An input from a place on, and an output. */
struct bench_ends {
    int in, out;
    off_t from;
};

/* The processor seconds one run takes, or 0 after a message. */
static double bench_run(char *const argv[], const struct bench_ends *ends)
{
    struct rusage usage;
    int status;
    pid_t pid;

    if (lseek(ends->in, ends->from, SEEK_SET) != ends->from ||
        ftruncate(ends->out, 0) != 0 || lseek(ends->out, 0, SEEK_SET) != 0)
        return bench_fail("memory file: %s", strerror(errno)), 0;
    pid = bench_start(argv, ends->in, ends->out);
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
        return bench_fail("cannot run hearsay %s: %s", argv[1],
                          strerror(errno)),
               0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return bench_fail("hearsay %s failed", argv[1]), 0;
    return bench_seconds(&usage.ru_utime) + bench_seconds(&usage.ru_stime);
}

/* ---- Commands ------------------------------------------------------------ */

static double bench_runs(char *const argv[], const struct bench_ends *ends,
                         int runs)
{
    double best = 0;

    for (int i = 0; i < runs; i++) {
        double seconds = bench_run(argv, ends);

        if (seconds <= 0)
            return 0;
        best = best == 0 || seconds < best ? seconds : best;
    }
    return best;
}

/* Lines of text that a case gets: the last ones. */
static size_t bench_lines(const struct bench *b, const struct bench_case *c)
{
    return c->part != 0 ? b->lines / c->part : b->lines;
}

static double bench_run_randomize(struct bench *b, const struct bench_case *c,
                                  int runs)
{
    const size_t skipped = b->lines - bench_lines(b, c);
    const struct bench_ends ends = {b->files.truths, b->files.reports,
                                    (off_t)(skipped * BENCH_LINE)};
    char values[64], name[16];
    char *argv[] = {"hearsay",     "randomize", "--values-file",
                    values,        "--epsilon", "1",
                    "--mechanism", name,        NULL};
    double seconds;

    snprintf(values, sizeof values, "/proc/self/fd/%d", b->files.labels);
    snprintf(name, sizeof name, "%s", c->mechanism);
    seconds = bench_runs(argv, &ends, runs);
    b->files.made = seconds > 0 ? c->mechanism : NULL;
    return seconds;
}

static double bench_run_tally(struct bench *b, const struct bench_case *c)
{
    const struct bench_ends ends = {b->files.reports, b->files.tally, 0};
    char *argv[] = {"hearsay", "tally", NULL};
    const char *made = b->files.made;

    if ((made == NULL || strcmp(made, c->mechanism) != 0) &&
        bench_run_randomize(b, c, 1) <= 0)
        return 0;
    return bench_runs(argv, &ends, BENCH_RUNS);
}

double bench_command(struct bench *b, const struct bench_case *c, hsy_cpu level)
{
    double seconds;

    (void)level;
    if (!bench_files_open(b))
        return 0;
    seconds = strcmp(c->command, "randomize") == 0
                  ? bench_run_randomize(b, c, BENCH_RUNS)
                  : bench_run_tally(b, c);
    return seconds > 0 ? (double)bench_lines(b, c) / seconds : 0;
}
