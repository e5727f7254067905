/* listen_client.h - as much of a client as tests of a listener need: bytes to
 * and from its port, on real sockets. */
#ifndef LISTEN_CLIENT_H
#define LISTEN_CLIENT_H

#include "server/http/http.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void dial_from(int fd, const struct listener *l);

int dial(const struct listener *l);

void say(int fd, const char *bytes, size_t len);

/* Everything until the other side closes. */
const char *hear(int fd);

/* What is answered to these bytes, to the end of the connection. */
const char *ask(const struct listener *l, const char *text);

unsigned times(const char *all, const char *part);

bool begins(const char *all, const char *with);

#define HEAD(line) line " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"

#endif
