/*
 * admin.h - what `hearsay store` does to a store of one machine, while no
 * collector has it: look through it, make it small, carry it elsewhere.
 */
#ifndef SERVER_STORE_ADMIN_H
#define SERVER_STORE_ADMIN_H

#include "server/store/store.h"

#include "host/base/output.h"

/* Look through both databases, page by page. HSY_E_DAMAGED; `say` is told what
 * is wrong, in SQLite's words. */
hsy_status store_admin_verify(struct store *s,
                              void (*say)(void *ctx, const char *file,
                                          const char *text),
                              void *ctx, hsy_error *err);

/* Look through a copy that nobody has open: pages, checksums, the chunks of
 * tallies, what rests. HSY_E_DAMAGED if it does not hold together. */
hsy_status store_admin_look(const char *directory, hsy_error *err);

/* Join rows of ids, erase what is over, and give room back to the file system.
 * Needs twice as much room again for a while: HSY_E_FULL. One thread of a
 * process at a time. */
hsy_status store_admin_compact(struct store *s, hsy_error *err);

/* Bytes of both databases with their logs, and of runs. */
uint64_t store_admin_bytes(struct store *s);

/* As store_functions says. */
hsy_status store_admin_inherit(struct store *s, const struct store_state *state,
                               hsy_error *err);

/* Make the names in a directory durable; false with errno
 * (directory.c). */
bool store_sync(const char *directory);

/* Make a name durable, that of a directory just made or renamed; false with
 * errno (directory.c). */
bool store_sync_parent(const char *path);

/* Remove a directory with nothing but a store in it. True if nothing is left;
 * what is not of a store stays. */
bool store_remove(const char *directory);
void store_remove_runs(const char *directory); /* and its directory of runs */

/* ---- Archives (archive.c) ------------------------------------------------ */

/* Everything of a store and the books in its directory, in one file
 * (docs/formats.md). HSY_E_IO with errno if the file could not be written. */
hsy_status store_archive_write(struct store *s, const struct store_state *state,
                               const char *directory, struct output *out,
                               hsy_error *err);

/* Fill an empty store, and its directory, from an archive. HSY_E_FORMAT with
 * the number of the record in err->at; HSY_E_VERSION, HSY_E_IO with errno.
 * The store is useless after a failure. */
hsy_status store_archive_read(struct store *s, const char *directory, int fd,
                              hsy_error *err);

#endif
