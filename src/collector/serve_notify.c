/* serve_notify.c - telling the service manager, as sd_notify(3) does. */
#define _GNU_SOURCE

#include "serve.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int serve_notify_open(void)
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

uint64_t serve_watchdog(void)
{
    const char *micros = getenv("WATCHDOG_USEC");
    const char *process = getenv("WATCHDOG_PID");

    if (micros == NULL ||
        (process != NULL && strtoull(process, NULL, 10) != (uint64_t)getpid()))
        return 0;
    return strtoull(micros, NULL, 10);
}

void serve_notify(int fd, const char *state)
{
    if (fd != -1)
        (void)!send(fd, state, strlen(state), MSG_NOSIGNAL);
}
