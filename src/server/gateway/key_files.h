/* key_files.h - a gateway's keys, each a file. */
#ifndef SERVER_GATEWAY_KEY_FILES_H
#define SERVER_GATEWAY_KEY_FILES_H

#include "host/seal/ohttp.h"

/* Read at most GATEWAY_KEYS of them; files is ended by NULL, and NULL: none.
 * Of which file a failure is stands in *about. HSY_E_IO with errno,
 * HSY_E_FORMAT if it holds something else, HSY_E_REFUSED if others can read it
 * or two keys would be called by one number, HSY_E_RANGE for too many. */
hsy_status key_files_read(struct ohttp_key *keys, size_t *n, char *const *files,
                          const char **about, hsy_error *err);

#endif
