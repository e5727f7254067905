/* retry.h - reading and writing whatever somebody did to a descriptor. */
#ifndef HOST_BASE_RETRY_H
#define HOST_BASE_RETRY_H

#include <stdbool.h>

/*
 * After a read or a write of fd that failed with errno: whether to try again.
 * A signal came in between; or a descriptor shared with others was made
 * non-blocking, and has been waited for. Else false, with errno set.
 */
bool retry_read(int fd);
bool retry_write(int fd);

#endif
