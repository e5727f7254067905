/* row_popcounts.c - ones per row, for any processor. Vectors of a row go
 * through full adders before their bits are counted: there are fewer of them
 * then. */
#include <string.h>

#include "lib/bits/bytes.h"
#include "lib/kernels/bit_counts.h"

#define POPCOUNT_SOME 8u /* rows added up before the first is entered */

typedef uint64_t popcount_pair __attribute__((vector_size(16)));

/* The ones in each four bits. Shifts go by 64-bit words; what crosses into a
 * neighbour is masked away. */
static inline popcount_pair popcount_fours(popcount_pair x)
{
    const uint64_t m1 = 0x5555555555555555, m2 = 0x3333333333333333;

    x -= (x >> 1) & m1;
    return (x & m2) + ((x >> 2) & m2);
}

static inline popcount_pair popcount_bytes(popcount_pair fours)
{
    const uint64_t m4 = 0x0f0f0f0f0f0f0f0f;

    return (fours & m4) + ((fours >> 4) & m4);
}

static inline popcount_pair popcount_load(const uint8_t *p)
{
    popcount_pair v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* The sum of the 16 bytes, each at most 255. */
static inline uint64_t popcount_across(popcount_pair bytes)
{
    const uint64_t m8 = 0x00ff00ff00ff00ff;
    popcount_pair twos = (bytes & m8) + ((bytes >> 8) & m8);

    return (twos[0] + twos[1]) * 0x0001000100010001 >> 48;
}

/* The ones in each four bits of three vectors together. A pair of bits of a or
 * b counts to two and has room for three: half of c goes to either. */
static inline popcount_pair popcount_three(popcount_pair a, popcount_pair b,
                                           popcount_pair c)
{
    const uint64_t m1 = 0x5555555555555555, m2 = 0x3333333333333333;

    a += (c & m1) - ((a >> 1) & m1);
    b += ((c >> 1) & m1) - ((b >> 1) & m1);
    return (a & m2) + ((a >> 2) & m2) + (b & m2) + ((b >> 2) & m2);
}

/* A full adder in each bit: *sum + a + b = new *sum + 2 * result. */
static inline popcount_pair popcount_csa(popcount_pair *sum, popcount_pair a,
                                         popcount_pair b)
{
    popcount_pair half = *sum ^ a, carry = (*sum & a) | (half & b);

    *sum = half ^ b;
    return carry;
}

/*
 * The ones in each byte of eight vectors, at most 64; the last one is given
 * apart. Seven of them go through three adders: that leaves one vector to
 * count, and three that count twice.
 */
static inline popcount_pair popcount_eight(const uint8_t *p, popcount_pair last)
{
    popcount_pair s = popcount_load(p), t = popcount_load(p + 48);
    popcount_pair a =
        popcount_csa(&s, popcount_load(p + 16), popcount_load(p + 32));
    popcount_pair b =
        popcount_csa(&t, popcount_load(p + 64), popcount_load(p + 80));
    popcount_pair c = popcount_csa(&s, t, popcount_load(p + 96));
    popcount_pair twice = popcount_bytes(popcount_three(a, b, c));

    return twice + twice +
           popcount_bytes(popcount_fours(s) + popcount_fours(last));
}

/* Ones in fewer than 16 bytes. */
static inline uint64_t popcount_rest(const uint8_t *row, size_t bytes)
{
    popcount_pair x = {0, 0};

    if (bytes >= 8) {
        x[0] = bytes_get64(row);
        row += 8;
        bytes -= 8;
    }
    for (size_t i = 0; i < bytes; i++)
        x[1] = x[1] << 8 | row[i];
    return popcount_across(popcount_bytes(popcount_fours(x)));
}

/* How rows of at least 16 bytes are cut: vectors up to the last one, which ends
 * where the row ends and of which `keep` was not read before. */
struct popcount_cut {
    size_t bytes;
    size_t eights, singles; /* vectors before the last: 8 * eights + singles */
    popcount_pair keep;
};

static struct popcount_cut popcount_cut_of(size_t bytes)
{
    static const uint8_t edge[32] = {[16] = 255, 255, 255, 255, 255, 255,
                                     255,        255, 255, 255, 255, 255,
                                     255,        255, 255, 255};
    size_t before = (bytes - 1) / 16;
    struct popcount_cut cut = {bytes, before / 8, before % 8, {0, 0}};

    cut.keep = popcount_load(edge + (bytes - 16 * before));
    return cut;
}

/* The ones in each byte of up to six vectors and the last. */
static inline popcount_pair popcount_few(const uint8_t *p, size_t singles,
                                         popcount_pair last)
{
    const popcount_pair zero = {0, 0};
    const uint8_t *at = p + 16 * (singles - singles % 3);
    popcount_pair a = singles % 3 > 0 ? popcount_load(at) : zero;
    popcount_pair b = singles % 3 > 1 ? popcount_load(at + 16) : zero;
    popcount_pair sum = popcount_bytes(popcount_three(a, b, last));

    for (; p < at; p += 48)
        sum += popcount_bytes(popcount_three(
            popcount_load(p), popcount_load(p + 16), popcount_load(p + 32)));
    return sum;
}

/* The ones in each byte of what comes after the eights, at most 64. */
static inline popcount_pair popcount_end(const uint8_t *row,
                                         const struct popcount_cut *cut)
{
    const uint8_t *p = row + 128 * cut->eights;
    popcount_pair last = popcount_load(row + cut->bytes - 16) & cut->keep;

    return cut->singles == 7 ? popcount_eight(p, last)
                             : popcount_few(p, cut->singles, last);
}

/* Rows of up to 128 bytes. Some are added up before the first is entered: it
 * would hold up the adding of the next. */
static void popcount_short(uint64_t *hist, const uint8_t *rows, size_t n,
                           size_t stride, const struct popcount_cut *cut)
{
    popcount_pair sums[POPCOUNT_SOME];

    while (n > 0) {
        size_t some = n < POPCOUNT_SOME ? n : POPCOUNT_SOME;

        for (size_t r = 0; r < some; r++)
            sums[r] = popcount_end(rows + r * stride, cut);
        for (size_t r = 0; r < some; r++)
            hist[popcount_across(sums[r])]++;
        rows += some * stride;
        n -= some;
    }
}

/* Add eight vectors to planes of weight 1, 2 and 4; what carries out has weight
 * eight. */
static inline popcount_pair popcount_carry(popcount_pair plane[3],
                                           const uint8_t *p)
{
    popcount_pair a =
        popcount_csa(&plane[0], popcount_load(p), popcount_load(p + 16));
    popcount_pair b =
        popcount_csa(&plane[0], popcount_load(p + 32), popcount_load(p + 48));
    popcount_pair c = popcount_csa(&plane[1], a, b);

    a = popcount_csa(&plane[0], popcount_load(p + 64), popcount_load(p + 80));
    b = popcount_csa(&plane[0], popcount_load(p + 96), popcount_load(p + 112));
    return popcount_csa(&plane[2], c, popcount_csa(&plane[1], a, b));
}

/* A longer row. A byte has room for 31 carries, and for the planes together
 * with the end. */
static uint64_t popcount_long(const uint8_t *row,
                              const struct popcount_cut *cut)
{
    popcount_pair plane[3] = {{0, 0}, {0, 0}, {0, 0}};
    popcount_pair rest = popcount_end(row, cut);
    uint64_t eights = 0;

    for (size_t left = cut->eights; left > 0;) {
        size_t some = left < 31 ? left : 31;
        popcount_pair sum = {0, 0};

        for (left -= some; some > 0; some--, row += 128)
            sum += popcount_bytes(popcount_fours(popcount_carry(plane, row)));
        eights += popcount_across(sum);
    }
    rest += popcount_bytes(popcount_fours(plane[0]));
    rest += popcount_bytes(popcount_fours(plane[1])) << 1;
    rest += popcount_bytes(popcount_fours(plane[2])) << 2;
    return 8 * eights + popcount_across(rest);
}

void hsy_row_popcounts_portable(uint64_t *hist, const uint8_t *rows, size_t n,
                                size_t stride, size_t bytes)
{
    if (bytes < 16) {
        for (size_t r = 0; r < n; r++)
            hist[popcount_rest(rows + r * stride, bytes)]++;
        return;
    }

    const struct popcount_cut cut = popcount_cut_of(bytes);

    if (cut.eights == 0)
        popcount_short(hist, rows, n, stride, &cut);
    else
        for (size_t r = 0; r < n; r++)
            hist[popcount_long(rows + r * stride, &cut)]++;
}

#undef POPCOUNT_SOME
