/*
 * rehearsal.c - the clock of a rehearsal, and the mark on its store.
 *
 * The mark is a name among those of merged tallies: it comes with a commit,
 * stays for ever, and is in every backup and archive. No file has that name,
 * for names are hashes.
 */
#define _GNU_SOURCE /* O_CLOEXEC */

#include "rehearsal.h"

#include "hostfail.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const uint8_t rehearsal_name[STORE_MERGED] = "hsy rehearsal";

hsy_status rehearsal_read(uint64_t *seconds, const char *path, hsy_error *err)
{
    char text[32] = "";
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), failed;

    if (fd == -1)
        return host_fail(err, HSY_E_IO, NULL, "it cannot be read");
    n = read(fd, text, sizeof text - 1);
    failed = errno;
    close(fd);
    errno = failed;
    if (n == -1)
        return host_fail(err, HSY_E_IO, NULL, "it cannot be read");
    text[strcspn(text, "\n")] = '\0';
    if (!tasks_time(seconds, text))
        return host_fail(err, HSY_E_FORMAT, NULL,
                         "the clock of a rehearsal is a line with a day, as "
                         "2026-01-31, a time as 2026-01-31T08:30Z, or seconds "
                         "since 1970");
    return HSY_OK;
}

static hsy_status rehearsal_look(void *ctx, const uint8_t name[STORE_MERGED])
{
    bool *marked = ctx;

    *marked |= memcmp(name, rehearsal_name, STORE_MERGED) == 0;
    return HSY_OK;
}

hsy_status rehearsal_mark(struct store *s, struct store_state *state,
                          bool rehearsal, hsy_error *err)
{
    const bool fresh = state->seq == 0 && state->day == 0;
    const struct store_commit mark = {.seq = state->seq + 1,
                                      .merged = rehearsal_name};
    bool marked = false;
    hsy_status st = s->is->read(
        s, &(struct store_reader){.ctx = &marked, .merged = rehearsal_look},
        err);

    if (st != HSY_OK || marked == rehearsal)
        return st;
    if (marked)
        return host_fail(err, HSY_E_REFUSED, "rehearsal",
                         "what is counted here was rehearsed under a driven "
                         "clock: start with --rehearsal FILE, or take another "
                         "directory");
    if (!fresh)
        return host_fail(err, HSY_E_REFUSED, "rehearsal",
                         "this directory was used with the real clock: a "
                         "rehearsal takes one of its own");
    st = s->is->append(s, &mark, err);
    if (st == HSY_OK)
        state->seq = mark.seq;
    return st;
}
