/* resources.h - what the system lets a server have. */
#ifndef SERVER_PROCESS_RESOURCES_H
#define SERVER_PROCESS_RESOURCES_H

#include <stdint.h>

unsigned resources_cores(void); /* 1 or more */

/* Raise the limit of open descriptors as far as `wanted` and the system allow:
 * how many there may be, at most wanted. Who cannot ask is not told less. */
uint64_t resources_descriptors(uint64_t wanted);

#endif
