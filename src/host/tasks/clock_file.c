/* clock_file.c - the clock of a rehearsal, read. */
#define _GNU_SOURCE /* O_CLOEXEC */

#include "host/tasks/clock_file.h"

#include "host/base/day.h"
#include "host/base/files.h"
#include "host/base/host_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

hsy_status rehearsal_read(uint64_t *seconds, const char *path, hsy_error *err)
{
    char text[32] = "";
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), failed;

    if (fd == -1)
        return host_fail(err, HSY_E_IO, HSY_FIELD_NONE, "it cannot be read");
    n = file_fill(fd, text, sizeof text - 1);
    failed = errno;
    close(fd);
    errno = failed;
    if (n == -1)
        return host_fail(err, HSY_E_IO, HSY_FIELD_NONE, "it cannot be read");
    text[strcspn(text, "\n")] = '\0';
    if (!day_moment(seconds, text))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         "the clock of a rehearsal is a line with a day, as "
                         "2026-01-31, a time as 2026-01-31T08:30Z, or seconds "
                         "since 1970");
    return HSY_OK;
}
