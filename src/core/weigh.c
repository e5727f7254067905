/* weigh.c - ones per row, for any processor. */
#include <string.h>

#include "bytes.h"
#include "fold.h"

typedef uint64_t weigh_pair __attribute__((vector_size(16)));

/* The ones in each four bits. Shifts go by 64-bit words; what crosses into a
 * neighbour is masked away. */
static inline weigh_pair weigh_fours(weigh_pair x)
{
    const uint64_t m1 = 0x5555555555555555, m2 = 0x3333333333333333;

    x -= (x >> 1) & m1;
    return (x & m2) + ((x >> 2) & m2);
}

static inline weigh_pair weigh_bytes(weigh_pair fours)
{
    const uint64_t m4 = 0x0f0f0f0f0f0f0f0f;

    return (fours & m4) + ((fours >> 4) & m4);
}

static inline weigh_pair weigh_load(const uint8_t *p)
{
    weigh_pair v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* The sum of the 16 bytes, each at most 255. */
static inline uint64_t weigh_across(weigh_pair bytes)
{
    const uint64_t m8 = 0x00ff00ff00ff00ff;
    weigh_pair twos = (bytes & m8) + ((bytes >> 8) & m8);

    return (twos[0] + twos[1]) * 0x0001000100010001 >> 48;
}

/* The ones in each four bits of three vectors together. A pair of bits of a or
 * b counts to two and has room for three: half of c goes to either. */
static inline weigh_pair weigh_three(weigh_pair a, weigh_pair b, weigh_pair c)
{
    const uint64_t m1 = 0x5555555555555555, m2 = 0x3333333333333333;

    a += (c & m1) - ((a >> 1) & m1);
    b += ((c >> 1) & m1) - ((b >> 1) & m1);
    return (a & m2) + ((a >> 2) & m2) + (b & m2) + ((b >> 2) & m2);
}

/* Ones in fewer than 16 bytes. */
static inline uint64_t weigh_rest(const uint8_t *row, size_t bytes)
{
    weigh_pair x = {0, 0};

    if (bytes >= 8) {
        x[0] = bytes_get64(row);
        row += 8;
        bytes -= 8;
    }
    for (size_t i = 0; i < bytes; i++)
        x[1] = x[1] << 8 | row[i];
    return weigh_across(weigh_bytes(weigh_fours(x)));
}

/* What is left of a row of at least 16 bytes after vectors by threes: up to two
 * vectors, and a part of one, read with bytes before it that are masked away.
 */
static inline weigh_pair weigh_left(const uint8_t *row, size_t bytes)
{
    static const uint8_t edge[32] = {[16] = 255, 255, 255, 255, 255, 255,
                                     255,        255, 255, 255, 255, 255,
                                     255,        255, 255, 255};
    const weigh_pair zero = {0, 0};
    size_t at = bytes - bytes % 48, whole = bytes % 48 / 16;
    weigh_pair a = whole > 0 ? weigh_load(row + at) : zero;
    weigh_pair b = whole > 1 ? weigh_load(row + at + 16) : zero;
    weigh_pair c = weigh_load(row + bytes - 16) & weigh_load(edge + bytes % 16);

    return weigh_bytes(weigh_three(a, b, c));
}

/* A row of at least 16 bytes. Three vectors add at most 24 to a byte. */
static inline uint64_t weigh_row(const uint8_t *row, size_t bytes)
{
    weigh_pair sum = weigh_left(row, bytes);
    size_t threes = bytes / 48;
    uint64_t ones = 0;

    for (; threes > 0; ones += weigh_across(sum), sum ^= sum)
        for (size_t k = threes < 9 ? threes : 9; k > 0; k--, threes--) {
            sum += weigh_bytes(weigh_three(
                weigh_load(row), weigh_load(row + 16), weigh_load(row + 32)));
            row += 48;
        }
    return bytes < 48 ? weigh_across(sum) : ones;
}

void hsy_weigh_portable(uint64_t *hist, const uint8_t *rows, size_t n,
                        size_t stride, size_t bytes)
{
    for (size_t r = 0; r < n; r++)
        hist[bytes < 16 ? weigh_rest(rows + r * stride, bytes)
                        : weigh_row(rows + r * stride, bytes)]++;
}
