/* retry.c - reading and writing whatever somebody did to a descriptor. */
#include "host/base/retry.h"

#include <errno.h>
#include <poll.h>

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
