/* files.h - small files, whole in memory; descriptors that others share. */
#ifndef HOST_BASE_FILES_H
#define HOST_BASE_FILES_H

#include "hearsay.h"

#include <sys/types.h>

/*
 * After a read or a write of fd that failed with errno: whether to try again.
 * A signal came in between; or a descriptor shared with others was made
 * non-blocking, and has been waited for. Else false, with errno set.
 */
bool retry_read(int fd);
bool retry_write(int fd);

/* Read until the end, or until room bytes have come: how many, or -1 with
 * errno. */
ssize_t file_fill(int fd, void *buf, size_t room);

/* All of a file of at most `most` bytes, and a NUL behind them; the caller
 * frees it. HSY_E_IO with errno, HSY_E_RANGE if it is longer, HSY_E_NOMEM. */
hsy_status file_whole(uint8_t **bytes, size_t *len, const char *path,
                      size_t most, hsy_error *err);

/* The same of what is open already, from where it is. */
hsy_status file_whole_fd(uint8_t **bytes, size_t *len, int fd, size_t most,
                         hsy_error *err);

/* DIRECTORY/NAME, the caller's to free; NULL: out of memory. */
char *file_path(const char *directory, const char *name);

#endif
