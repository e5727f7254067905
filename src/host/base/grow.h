/* grow.h - arrays that grow. `memory` is where the pointer to one stands. */
#ifndef HOST_BASE_GROW_H
#define HOST_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Room for n items of a size, and no more. False: out of memory, and all is as
 * it was. */
bool grow_to(void *memory, size_t n, size_t size);

/* The same, doubling *room until it is enough; new items are zero. */
bool grow_room(void *memory, size_t *room, size_t n, size_t size);

#endif
