/*
 * crc32c.c - CRC-32C, the checksum of stream and tally records.
 *
 * Polynomial 0x1edc6f41, bits reflected, register and result inverted; the
 * argument and result of every function here are finished checksums, so that
 * a call continues where the last one ended.
 */
#include "lib/bits/bytes.h"
#include "lib/kernels/internal.h"

uint32_t hsy_crc32c(uint32_t crc, const void *data, size_t len)
{
    return hsy_kernels_at(hsy_cpu_best())->crc32c(crc, data, len);
}

uint32_t hsy_crc32c_plain(uint32_t crc, const uint8_t *data, size_t len)
{
    crc = ~crc;
    for (size_t i = 0; i < len; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0x82f63b78u & (0 - (crc & 1)));
    }
    return ~crc;
}

/*
 * Row k holds the register after a byte and k zero bytes. The register is
 * linear in the byte, so a row is spanned by its values at the eight powers of
 * two, which the macros combine.
 */
#define CRC32C_2(x, a) (x), (x) ^ (a)
#define CRC32C_4(x, a, b) CRC32C_2(x, a), CRC32C_2((x) ^ (b), a)
#define CRC32C_8(x, a, b, c) CRC32C_4(x, a, b), CRC32C_4((x) ^ (c), a, b)
#define CRC32C_16(x, a, b, c, d)                                               \
    CRC32C_8(x, a, b, c), CRC32C_8((x) ^ (d), a, b, c)
#define CRC32C_32(x, a, b, c, d, e)                                            \
    CRC32C_16(x, a, b, c, d), CRC32C_16((x) ^ (e), a, b, c, d)
#define CRC32C_64(x, a, b, c, d, e, f)                                         \
    CRC32C_32(x, a, b, c, d, e), CRC32C_32((x) ^ (f), a, b, c, d, e)
#define CRC32C_ROW(a, b, c, d, e, f, g, h)                                     \
    {                                                                          \
        CRC32C_64(0u, a, b, c, d, e, f), CRC32C_64(g, a, b, c, d, e, f),       \
            CRC32C_64(h, a, b, c, d, e, f),                                    \
            CRC32C_64((g) ^ (h), a, b, c, d, e, f)                             \
    }

static const uint32_t crc32c_rows[8][256] = {
    CRC32C_ROW(0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu, 0x105ec76fu,
               0x20bd8edeu, 0x417b1dbcu, 0x82f63b78u),
    CRC32C_ROW(0x13a29877u, 0x274530eeu, 0x4e8a61dcu, 0x9d14c3b8u, 0x3fc5f181u,
               0x7f8be302u, 0xff17c604u, 0xfbc3faf9u),
    CRC32C_ROW(0xa541927eu, 0x4f6f520du, 0x9edea41au, 0x38513ec5u, 0x70a27d8au,
               0xe144fb14u, 0xc76580d9u, 0x8b277743u),
    CRC32C_ROW(0xdd45aab8u, 0xbf672381u, 0x7b2231f3u, 0xf64463e6u, 0xe964b13du,
               0xd725148bu, 0xaba65fe7u, 0x52a0c93fu),
    CRC32C_ROW(0x38116facu, 0x7022df58u, 0xe045beb0u, 0xc5670b91u, 0x8f2261d3u,
               0x1ba8b557u, 0x37516aaeu, 0x6ea2d55cu),
    CRC32C_ROW(0xef306b19u, 0xdb8ca0c3u, 0xb2f53777u, 0x6006181fu, 0xc00c303eu,
               0x85f4168du, 0x0e045bebu, 0x1c08b7d6u),
    CRC32C_ROW(0x68032cc8u, 0xd0065990u, 0xa5e0c5d1u, 0x4e2dfd53u, 0x9c5bfaa6u,
               0x3d5b83bdu, 0x7ab7077au, 0xf56e0ef4u),
    CRC32C_ROW(0x493c7d27u, 0x9278fa4eu, 0x211d826du, 0x423b04dau, 0x847609b4u,
               0x0d006599u, 0x1a00cb32u, 0x34019664u),
};

uint32_t hsy_crc32c_portable(uint32_t crc, const uint8_t *data, size_t len)
{
    crc = ~crc;
    for (; len >= 8; data += 8, len -= 8) {
        uint32_t x = bytes_get32(data) ^ crc;
        uint32_t y = bytes_get32(data + 4);

        crc = crc32c_rows[7][x & 255] ^ crc32c_rows[6][x >> 8 & 255] ^
              crc32c_rows[5][x >> 16 & 255] ^ crc32c_rows[4][x >> 24] ^
              crc32c_rows[3][y & 255] ^ crc32c_rows[2][y >> 8 & 255] ^
              crc32c_rows[1][y >> 16 & 255] ^ crc32c_rows[0][y >> 24];
    }
    for (; len > 0; data++, len--)
        crc = crc >> 8 ^ crc32c_rows[0][(crc ^ *data) & 255];
    return ~crc;
}

#undef CRC32C_2
#undef CRC32C_4
#undef CRC32C_8
#undef CRC32C_16
#undef CRC32C_32
#undef CRC32C_64
#undef CRC32C_ROW
