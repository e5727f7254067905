/*
 * notify.h - the service manager: what it is told, and what it has opened for
 * us.
 */
#ifndef SERVER_PROCESS_NOTIFY_H
#define SERVER_PROCESS_NOTIFY_H

#include "server/http/http.h"

/* systemd's protocol: a datagram to the socket that NOTIFY_SOCKET names. -1 if
 * there is none; opened before the sandbox. */
int notify_open(void);
void notify_say(int fd, const char *state); /* "READY=1"; fd -1: nothing */

/* Sockets that it has opened for us, as sd_listen_fds(3) says. None is taken
 * for such a second time. */
void notify_handed(struct listen_handed *out);

/* Microseconds within which it wants a "WATCHDOG=1"; 0: it does not. */
uint64_t notify_watchdog(void);

#endif
