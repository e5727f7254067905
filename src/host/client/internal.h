/* internal.h - what the files of a device's home share. */
#ifndef HOST_CLIENT_INTERNAL_H
#define HOST_CLIENT_INTERNAL_H

#include "host/client/home.h"

#define HOME_DRAFT "document.new" /* a document about to be taken */

/* What it is about, and the status; with the reason in errno. */
hsy_status home_fail(struct home *h, enum home_trouble trouble,
                     hsy_status status, hsy_error *err);
hsy_status home_fail_errno(struct home *h, enum home_trouble trouble,
                           hsy_error *err);

/* h->path becomes that of a file of the directory. */
hsy_status home_file(struct home *h, const char *name, hsy_error *err);
bool home_there(const char *path);

/* Such a file with these bytes, whole or not there (home_make.c). */
hsy_status home_write(struct home *h, const char *name, const void *bytes,
                      size_t len, hsy_error *err);

/* The policy at h->path. */
hsy_status home_read_policy(struct home *h, struct policy *p, hsy_error *err);

/* How the directory is opened, with its clock. */
hsy_host_options home_options(const struct home *h);
hsy_status home_mark(struct home *h, hsy_error *err);

/* Let a document that was taken, and not yet put in its place, be there now.
 * False with errno. */
bool home_roll_forward(struct home *h);

#endif
