/*
 * crc32c_x86.c - CRC-32C with the processor's own instruction.
 *
 * The instruction takes three cycles but starts one a cycle, so long inputs
 * are cut into three runs that are computed side by side and joined.
 */
#include "lib/kernels/internal.h"

#if defined(__x86_64__)

#include <nmmintrin.h>
#include <string.h>
#include <wmmintrin.h>

#define CRC32C_TARGET __attribute__((target("sse4.2,pclmul")))
#define CRC32C_RUN 1024 /* bytes */

CRC32C_TARGET static inline uint64_t crc32c_step(uint64_t crc,
                                                 const uint8_t *data)
{
    uint64_t word;

    memcpy(&word, data, sizeof word);
    return _mm_crc32_u64(crc, word);
}

/*
 * The register after len zero bytes is crc x^(8 len) mod P. The product with
 * factor = x^(8 len - 33) mod P is off by x because the operands are reflected
 * in 32 bits but the product in 64, and the instruction multiplies by x^32.
 */
CRC32C_TARGET static inline uint64_t crc32c_shift(uint64_t crc, uint32_t factor)
{
    __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
                             _mm_cvtsi64_si128((long long)factor), 0);

    return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

CRC32C_TARGET static uint64_t crc32c_three(uint64_t crc, const uint8_t *data)
{
    uint64_t second = 0, third = 0;

    for (size_t i = 0; i < CRC32C_RUN; i += 8) {
        crc = crc32c_step(crc, data + i);
        second = crc32c_step(second, data + i + CRC32C_RUN);
        third = crc32c_step(third, data + i + 2 * CRC32C_RUN);
    }
    return crc32c_shift(crc, 0xa51b6135u) ^ crc32c_shift(second, 0x170076fau) ^
           third;
}

CRC32C_TARGET uint32_t hsy_crc32c_sse42(uint32_t crc, const uint8_t *data,
                                        size_t len)
{
    uint64_t x = (uint32_t)~crc;

    for (; len >= 3 * CRC32C_RUN; data += 3 * CRC32C_RUN, len -= 3 * CRC32C_RUN)
        x = crc32c_three(x, data);
    for (; len >= 8; data += 8, len -= 8)
        x = crc32c_step(x, data);
    for (; len > 0; data++, len--)
        x = _mm_crc32_u8((uint32_t)x, *data);
    return ~(uint32_t)x;
}

#undef CRC32C_TARGET
#undef CRC32C_RUN

#endif
