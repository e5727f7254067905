/* bytes.h - little-endian integers in byte strings, zeros, and wiping. */
#ifndef LIB_BITS_BYTES_H
#define LIB_BITS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint32_t bytes_get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline uint64_t bytes_get64(const uint8_t *p)
{
    return (uint64_t)bytes_get32(p) | (uint64_t)bytes_get32(p + 4) << 32;
}

/* Written out, this compiles to one store. */
static inline void bytes_put32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}

static inline void bytes_put64(uint8_t *p, uint64_t x)
{
    bytes_put32(p, (uint32_t)x);
    bytes_put32(p + 4, (uint32_t)(x >> 32));
}

static inline bool bytes_zero(const uint8_t *p, size_t len)
{
    uint8_t any = 0;

    for (size_t i = 0; i < len; i++)
        any |= p[i];
    return any == 0;
}

/* Bytes up to where anything may begin. */
static inline size_t bytes_align(size_t bytes)
{
    const size_t align = _Alignof(max_align_t);

    return (bytes + align - 1) / align * align;
}

/* Zero memory that held a secret; the compiler may not leave it out. */
static inline void bytes_wipe(void *p, size_t len)
{
    uint8_t *bytes = p;

    for (size_t i = 0; i < len; i++)
        bytes[i] = 0;
    __asm__ __volatile__("" : : "r"(p) : "memory");
}

#endif
