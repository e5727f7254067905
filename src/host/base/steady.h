/* steady.h - the steady clock, which nobody sets: of deadlines and waits. */
#ifndef HOST_BASE_STEADY_H
#define HOST_BASE_STEADY_H

#include <stdint.h>
#include <time.h>

#define STEADY_SECOND UINT64_C(1000000)

/* Microseconds since some moment, and milliseconds. */
uint64_t steady_us(void);
uint64_t steady_ms(void);

/* The moment so many microseconds from now, for a condition that waits by this
 * clock. */
struct timespec steady_after(uint64_t us);

#endif
