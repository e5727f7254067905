/* listen_client.c - see listen_client.h. */

#include "rig/listen_client.h"

void dial_from(int fd, const struct listener *l)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(listen_port(l)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        abort();
}

int dial(const struct listener *l)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    dial_from(fd, l);
    return fd;
}

void say(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

        if (n <= 0)
            return;
        bytes += n;
        len -= (size_t)n;
    }
}

const char *hear(int fd)
{
    static char all[1 << 18];
    size_t len = 0;
    ssize_t n;

    while (len < sizeof all - 1 &&
           (n = recv(fd, all + len, sizeof all - 1 - len, 0)) > 0)
        len += (size_t)n;
    all[len] = 0;
    close(fd);
    return all;
}

const char *ask(const struct listener *l, const char *text)
{
    int fd = dial(l);

    say(fd, text, strlen(text));
    return hear(fd);
}

unsigned times(const char *all, const char *part)
{
    unsigned n = 0;

    for (; (all = strstr(all, part)) != NULL; all += strlen(part))
        n++;
    return n;
}

bool begins(const char *all, const char *with)
{
    return strncmp(all, with, strlen(with)) == 0;
}
