/* manual.h - which keys a manual page of section 5 lists. */
#ifndef MANUAL_H
#define MANUAL_H

#include <stdbool.h>
#include <stddef.h>

/* A page of docs/man, whole; the caller frees it. NULL: there is none. */
char *manual_read(const char *name);

/* The text of the item of this key in a section, up to the next item or list's
 * end, not ended by a NUL; NULL if no item, and in SET no list, names it. */
const char *manual_item(const char *page, const char *section, const char *key,
                        size_t *len);

/* How many keys the section has. */
size_t manual_keys(const char *page, const char *section);

#endif
