/* gone_peers.c - see gone_peers.h. */

#define _GNU_SOURCE

#include "rig/gone_peers.h"

const char *const gone_names[GONE_HOWS] = {"stay", "close", "reset",
                                           "say that they send no more"};

atomic_uint gone_taken, gone_made, gone_freed;

void *gone_body(void)
{
    void *body = malloc(GONE_BODY);

    if (body == NULL)
        abort();
    memset(body, 'a', GONE_BODY);
    gone_made++;
    return body;
}

void gone_free(void *body)
{
    gone_freed++;
    free(body);
}

void gone_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static int gone_dial(uint16_t port)
{
    static const char get[] = "GET /kept HTTP/1.1\r\nHost: x\r\n"
                              "Connection: close\r\n\r\n";
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        send(fd, get, sizeof get - 1, MSG_NOSIGNAL) != sizeof get - 1)
        abort();
    return fd;
}

static void gone_leave(int fd, enum gone_how how)
{
    const struct linger at_once = {.l_onoff = 1};

    if (how == GONE_HALF)
        shutdown(fd, SHUT_WR);
    if (how == GONE_RESETS)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (how == GONE_CLOSES || how == GONE_RESETS)
        close(fd);
}

/* Whether all of an answer comes. */
static bool gone_hear(int fd)
{
    char part[65536];
    size_t len = 0;
    ssize_t n;

    while ((n = recv(fd, part, sizeof part, 0)) > 0)
        len += (size_t)n;
    close(fd);
    return len > GONE_BODY;
}

unsigned gone_try(const struct gone_server *s, enum gone_how how)
{
    const unsigned before = gone_taken;
    int fds[GONE_PEERS];
    unsigned heard = 0;

    for (unsigned i = 0; i < GONE_PEERS; i++)
        fds[i] = gone_dial(s->port);
    while (gone_taken - before < GONE_PEERS)
        gone_pause();
    for (unsigned i = 0; i < GONE_PEERS; i++)
        gone_leave(fds[i], how);
    s->answer();
    for (unsigned i = 0; i < GONE_PEERS; i++)
        if ((how == GONE_STAYS || how == GONE_HALF) && gone_hear(fds[i]))
            heard++;
    return heard;
}
