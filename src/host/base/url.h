/* url.h - addresses of collectors and relays. */
#ifndef HOST_BASE_URL_H
#define HOST_BASE_URL_H

#include <stdbool.h>

/* Returns true for http:// or https://, a host, perhaps a port and a path, and
 * nothing else: no user, query or fragment, and no % in the host, which libcurl
 * would decode to another one. */
bool url_ok(const char *url);

/* Returns true if two such addresses have the same host, whatever their ports
 * and paths are. IP addresses are compared however they are spelled, and an
 * IPv4 address with its IPv6-mapped form; names are not looked up. */
bool url_same_host(const char *a, const char *b);

/* Returns true if the host is this machine itself: localhost, 127.0.0.0/8 or
 * ::1. */
bool url_loopback(const char *url);

#endif
