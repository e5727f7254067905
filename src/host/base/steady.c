/* steady.c - the steady clock. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "host/base/steady.h"

uint64_t steady_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * STEADY_SECOND + (uint64_t)t.tv_nsec / 1000;
}

uint64_t steady_ms(void)
{
    return steady_us() / 1000;
}

struct timespec steady_after(uint64_t us)
{
    const uint64_t at = steady_us() + us;

    return (struct timespec){.tv_sec = (time_t)(at / STEADY_SECOND),
                             .tv_nsec = (long)(at % STEADY_SECOND) * 1000};
}
