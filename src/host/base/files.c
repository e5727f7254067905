/* files.c - small files, whole in memory; descriptors that others share. */
#define _DEFAULT_SOURCE
#include "host/base/files.h"

#include "host/base/host_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_ROOM 65536u /* to begin with, where the size is not known */

static bool retry_when(int fd, short events)
{
    struct pollfd ready = {.fd = fd, .events = events};

    if (errno == EINTR)
        return true;
    return (errno == EAGAIN || errno == EWOULDBLOCK) &&
           (poll(&ready, 1, -1) != -1 || errno == EINTR);
}

bool retry_read(int fd)
{
    return retry_when(fd, POLLIN);
}

bool retry_write(int fd)
{
    return retry_when(fd, POLLOUT);
}

ssize_t file_fill(int fd, void *buf, size_t room)
{
    size_t have = 0;

    while (have < room) {
        ssize_t n = read(fd, (uint8_t *)buf + have, room - have);

        if (n == 0)
            break;
        if (n == -1 && !retry_read(fd))
            return -1;
        have += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)have;
}

/* Bytes that will do at once, if the file stays as it is: secrets then leave no
 * copies behind. At least one beyond the end. */
static size_t files_room(int fd, size_t most)
{
    struct stat s;

    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size >= 0)
        return (uint64_t)s.st_size < most ? (size_t)s.st_size + 2 : most + 2;
    return most < FILES_ROOM ? most + 2 : FILES_ROOM;
}

/* More than `most` bytes are read only to see that there are more. */
static hsy_status files_drain(uint8_t **all, size_t *len, int fd, size_t room,
                              size_t most)
{
    *len = 0;
    for (;; room = room > most / 2 ? most + 2 : 2 * room) {
        uint8_t *grown = realloc(*all, room);
        ssize_t n;

        if (grown == NULL)
            return HSY_E_NOMEM;
        *all = grown;
        n = file_fill(fd, *all + *len, room - 1 - *len);
        if (n == -1)
            return HSY_E_IO;
        *len += (size_t)n;
        if (*len > most)
            return HSY_E_RANGE;
        if (*len < room - 1)
            return HSY_OK;
    }
}

static hsy_status files_failed(hsy_error *err, hsy_status st)
{
    return host_fail(err, st, HSY_FIELD_NONE,
                     st == HSY_E_IO      ? "the file cannot be read"
                     : st == HSY_E_RANGE ? "the file is too long"
                                         : "out of memory");
}

hsy_status file_whole_fd(uint8_t **bytes, size_t *len, int fd, size_t most,
                         hsy_error *err)
{
    uint8_t *all = NULL;
    size_t used;
    hsy_status st = files_drain(&all, &used, fd, files_room(fd, most), most);

    if (st != HSY_OK) {
        free(all);
        return files_failed(err, st);
    }
    all[used] = '\0';
    *bytes = all;
    *len = used;
    return HSY_OK;
}

hsy_status file_whole(uint8_t **bytes, size_t *len, const char *path,
                      size_t most, hsy_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    hsy_status st;
    int why;

    if (fd == -1)
        return files_failed(err, HSY_E_IO);
    st = file_whole_fd(bytes, len, fd, most, err);
    why = errno;
    close(fd);
    errno = why;
    return st;
}

char *file_path(const char *directory, const char *name)
{
    const size_t room = strlen(directory) + strlen(name) + 2;
    char *path = malloc(room);

    if (path != NULL)
        snprintf(path, room, "%s/%s", directory, name);
    return path;
}
