/* notify.c - the service manager: what it is told, as by sd_notify(3),
 * and what it has opened for us, as by sd_listen_fds(3). */
#define _GNU_SOURCE

#include "server/process/notify.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int notify_open(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t len = path != NULL ? strlen(path) : 0;
    int fd;

    if (len == 0 || len >= sizeof to.sun_path ||
        (path[0] != '/' && path[0] != '@'))
        return -1;
    memcpy(to.sun_path, path, len);
    if (path[0] == '@') /* a name that is in no file system */
        to.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd != -1 && connect(fd, (struct sockaddr *)&to,
                            (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
                                        len)) == -1) {
        close(fd);
        fd = -1;
    }
    return fd;
}

uint64_t notify_watchdog(void)
{
    const char *micros = getenv("WATCHDOG_USEC");
    const char *process = getenv("WATCHDOG_PID");

    if (micros == NULL ||
        (process != NULL && strtoull(process, NULL, 10) != (uint64_t)getpid()))
        return 0;
    return strtoull(micros, NULL, 10);
}

void notify_say(int fd, const char *state)
{
    if (fd != -1)
        (void)!send(fd, state, strlen(state), MSG_NOSIGNAL);
}

#define NOTIFY_FIRST 3 /* of the descriptors that are handed over */

static uintmax_t notify_number(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? strtoumax(text, NULL, 10) : 0;
}

void notify_handed(struct listen_handed *out)
{
    const uintmax_t n = notify_number("LISTEN_FDS");

    *out = (struct listen_handed){.n = 0};
    if (notify_number("LISTEN_PID") == (uintmax_t)getpid())
        out->n = n < LISTEN_HANDED ? (size_t)n : LISTEN_HANDED;
    for (size_t i = 0; i < out->n; i++) {
        out->fd[i] = NOTIFY_FIRST + (int)i;
        fcntl(out->fd[i], F_SETFD, FD_CLOEXEC);
    }
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
}
