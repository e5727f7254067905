/* progress.c - how far long work is, for who waits at a terminal. */
#define _DEFAULT_SOURCE
#include "cli/base/base.h"
#include "host/base/steady.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- By bytes of inputs -------------------------------------------------- */

/* What is left to read of a regular file; -1: it is none. */
static double progress_left(int fd, double *from)
{
    const off_t at = lseek(fd, 0, SEEK_CUR);
    struct stat is;

    if (at < 0 || fstat(fd, &is) != 0 || !S_ISREG(is.st_mode) ||
        is.st_size < at)
        return -1;
    *from = (double)at;
    return (double)(is.st_size - at);
}

static double progress_size(const char *path)
{
    struct stat is;
    double from;

    if (path == NULL || strcmp(path, "-") == 0)
        return progress_left(STDIN_FILENO, &from);
    return stat(path, &is) == 0 && S_ISREG(is.st_mode) ? (double)is.st_size
                                                       : -1;
}

void cli_progress_inputs(struct cli_progress *p, const char *const *paths,
                         size_t n)
{
    static const char *const standard[] = {NULL};

    if (n == 0) {
        paths = standard;
        n = 1;
    }
    p->total = 0;
    for (size_t i = 0; i < n; i++) {
        const double size = progress_size(paths[i]);

        if (size < 0) {
            p->total = 0;
            return;
        }
        p->total += size;
    }
    p->bytes = p->total > 0;
}

void cli_progress_input(struct cli_progress *p, int fd)
{
    p->fd = fd;
    p->passed += p->size;
    p->size = p->bytes ? progress_left(fd, &p->from) : 0;
}

void cli_progress_file(struct cli_progress *p, int fd)
{
    p->total = fmax(progress_left(fd, &p->from), 0);
    p->bytes = p->total > 0;
    p->fd = fd;
}

static double progress_done(const struct cli_progress *p)
{
    if (!p->bytes)
        return (double)p->done;
    return p->passed + (double)lseek(p->fd, 0, SEEK_CUR) - p->from;
}

/* ---- A line -------------------------------------------------------------- */

static void progress_time(char *text, size_t size, double seconds)
{
    if (seconds < 90)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 90 * 60)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

/* It ends with CR: a message that comes between stands in its place. */
static void progress_show(struct cli_progress *p, uint64_t now)
{
    const double done = progress_done(p);
    const double seconds = (double)(now - p->start) / (double)STEADY_SECOND;
    char left[32];

    if ((done < p->total || p->total <= 0) && now - p->last < STEADY_SECOND)
        return;
    p->last = now;
    p->shown = true;
    if (p->total <= 0 || (done <= p->first && done < p->total)) {
        fprintf(stderr, "\r%" PRIu64 " %s, %.1f M/s\033[K\r", p->done, p->what,
                (double)p->done / seconds / 1e6);
        return;
    }
    progress_time(
        left, sizeof left,
        done < p->total ? seconds * (p->total - done) / (done - p->first) : 0);
    fprintf(stderr, "\r%.0f %%, %" PRIu64 " %s, %s left\033[K\r",
            floor(100 * fmin(done / p->total, 1)), p->done, p->what, left);
}

void cli_progress_set(void *progress, uint64_t done)
{
    struct cli_progress *p = progress;

    p->done = done;
    if (!p->begun) {
        p->begun = true;
        p->terminal = isatty(STDERR_FILENO) == 1;
        p->start = p->last = steady_us();
        p->first = p->terminal ? progress_done(p) : 0;
    }
    if (p->terminal)
        progress_show(p, steady_us());
}

void cli_progress_add(void *progress, uint64_t more)
{
    cli_progress_set(progress, ((struct cli_progress *)progress)->done + more);
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
