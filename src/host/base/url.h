/* url.h - addresses of collectors and relays. */
#ifndef HOST_BASE_URL_H
#define HOST_BASE_URL_H

#include <stdbool.h>

/* Returns true for http:// or https://, a host, perhaps a port and a path, and
 * nothing else: no user, query or fragment. */
bool url_ok(const char *url);

/* Returns true if two such addresses have the same host, whatever their ports
 * and paths are. */
bool url_same_host(const char *a, const char *b);

/* Returns true if the host is this machine itself: localhost, 127.0.0.0/8 or
 * ::1. */
bool url_loopback(const char *url);

#endif
