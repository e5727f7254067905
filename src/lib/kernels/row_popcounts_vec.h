/*
 * row_popcounts_vec.h - ones per row in vectors.
 *
 * Where counting the ones of bytes costs little, rows stand side by side, one
 * to a word of the result. Elsewhere, in vectors of 16 bytes, those of a row go
 * through full adders first: there are fewer to count then.
 */
#include "lib/kernels/simd.h"

#define POPCOUNT_SOME 16u /* rows counted before the first is entered */

#if SIMD_BYTES == 16 && !defined(__aarch64__)

/* The ones in each four bits. Shifts go by 64-bit words; what crosses into a
 * neighbour is masked away. */
SIMD_INLINE simd64 K(popcount_fours)(simd64 x)
{
    const uint64_t m1 = 0x5555555555555555, m2 = 0x3333333333333333;

    x -= x >> 1 & m1;
    return (x & m2) + (x >> 2 & m2);
}

SIMD_INLINE simd64 K(popcount_bytes)(simd64 fours)
{
    const uint64_t m4 = 0x0f0f0f0f0f0f0f0f;

    return (fours & m4) + (fours >> 4 & m4);
}

/* The sum of the 16 bytes, each at most 255. */
SIMD_INLINE uint64_t K(popcount_across)(simd64 bytes)
{
    simd64 sums = simd_sum8(bytes);

    return sums[0] + sums[1];
}

/* The ones in each four bits of three vectors together. A pair of bits of a or
 * b counts to two and has room for three: half of c goes to either. */
SIMD_INLINE simd64 K(popcount_three)(simd64 a, simd64 b, simd64 c)
{
    const uint64_t m1 = 0x5555555555555555, m2 = 0x3333333333333333;

    a += (c & m1) - (a >> 1 & m1);
    b += (c >> 1 & m1) - (b >> 1 & m1);
    return (a & m2) + (a >> 2 & m2) + (b & m2) + (b >> 2 & m2);
}

/*
 * The ones in each byte of eight vectors, at most 64; the last one is given
 * apart. Seven of them go through three adders: that leaves one vector to
 * count, and three that count twice.
 */
SIMD_INLINE simd64 K(popcount_eight)(const uint8_t *p, simd64 last)
{
    simd64 s = simd_load(p), t = simd_load(p + 48);
    simd64 a = simd_add3(&s, simd_load(p + 16), simd_load(p + 32));
    simd64 b = simd_add3(&t, simd_load(p + 64), simd_load(p + 80));
    simd64 c = simd_add3(&s, t, simd_load(p + 96));
    simd64 twice = K(popcount_bytes)(K(popcount_three)(a, b, c));

    return twice + twice +
           K(popcount_bytes)(K(popcount_fours)(s) + K(popcount_fours)(last));
}

/* Ones in fewer than 16 bytes. */
SIMD_INLINE uint64_t K(popcount_rest)(const uint8_t *row, size_t bytes)
{
    uint64_t low = 0, high = 0;

    if (bytes >= 8) {
        low = bytes_get64(row);
        row += 8;
        bytes -= 8;
    }
    for (size_t i = 0; i < bytes; i++)
        high = high << 8 | row[i];
    return K(popcount_across)(simd_ones8((simd64){low, high}));
}

/* The ones in each byte of up to six vectors and the last. */
SIMD_INLINE simd64 K(popcount_few)(const uint8_t *p, size_t singles,
                                   simd64 last)
{
    const simd64 zero = {0, 0};
    const uint8_t *at = p + 16 * (singles - singles % 3);
    simd64 a = singles % 3 > 0 ? simd_load(at) : zero;
    simd64 b = singles % 3 > 1 ? simd_load(at + 16) : zero;
    simd64 sum = K(popcount_bytes)(K(popcount_three)(a, b, last));

    for (; p < at; p += 48)
        sum += K(popcount_bytes)(K(popcount_three)(
            simd_load(p), simd_load(p + 16), simd_load(p + 32)));
    return sum;
}

/* The ones in each byte of what comes after the eights, at most 64: vectors up
 * to the last one, which ends where the row ends. */
SIMD_INLINE simd64 K(popcount_end)(const uint8_t *row, size_t bytes)
{
    size_t before = (bytes - 1) / 16;
    const uint8_t *p = row + before / 8 * 128;
    simd64 last = simd_load(row + bytes - 16) &
                  simd_load(hsy_edge + 48 + (bytes - 16 * before));

    return before % 8 == 7 ? K(popcount_eight)(p, last)
                           : K(popcount_few)(p, before % 8, last);
}

/* Add eight vectors to planes of weight 1, 2 and 4; what carries out has weight
 * eight. */
SIMD_INLINE simd64 K(popcount_carry)(simd64 plane[3], const uint8_t *p)
{
    simd64 a = simd_add3(&plane[0], simd_load(p), simd_load(p + 16));
    simd64 b = simd_add3(&plane[0], simd_load(p + 32), simd_load(p + 48));
    simd64 c = simd_add3(&plane[1], a, b);

    a = simd_add3(&plane[0], simd_load(p + 64), simd_load(p + 80));
    b = simd_add3(&plane[0], simd_load(p + 96), simd_load(p + 112));
    return simd_add3(&plane[2], c, simd_add3(&plane[1], a, b));
}

/* A row of at least 16 bytes. A byte has room for 31 carries, and for the
 * planes together with the end. */
static uint64_t K(popcount_long)(const uint8_t *row, size_t bytes)
{
    simd64 plane[3] = {{0, 0}, {0, 0}, {0, 0}};
    simd64 rest = K(popcount_end)(row, bytes);
    uint64_t eights = 0;

    for (size_t left = (bytes - 1) / 128; left > 0;) {
        size_t some = left < 31 ? left : 31;
        simd64 sum = {0, 0};

        for (left -= some; some > 0; some--, row += 128)
            sum += simd_ones8(K(popcount_carry)(plane, row));
        eights += K(popcount_across)(sum);
    }
    rest += simd_ones8(plane[0]);
    rest += simd_ones8(plane[1]) << 1;
    rest += simd_ones8(plane[2]) << 2;
    return 8 * eights + K(popcount_across)(rest);
}

SIMD_INLINE uint64_t K(popcount_row)(const uint8_t *row, size_t bytes)
{
    return bytes < 16    ? K(popcount_rest)(row, bytes)
           : bytes > 128 ? K(popcount_long)(row, bytes)
                         : K(popcount_across)(K(popcount_end)(row, bytes));
}

/* Some rows of up to 128 bytes are added up before the first is entered: it
 * would hold up the adding of the next. */
static void K(popcount_rows)(uint64_t *hist, const uint8_t *rows, size_t n,
                             size_t stride, size_t bytes)
{
    simd64 sums[POPCOUNT_SOME];

    while (n > 0 && bytes >= 16 && bytes <= 128) {
        size_t some = n < POPCOUNT_SOME ? n : POPCOUNT_SOME;

        for (size_t r = 0; r < some; r++)
            sums[r] = K(popcount_end)(rows + r * stride, bytes);
        for (size_t r = 0; r < some; r++)
            hist[K(popcount_across)(sums[r])]++;
        rows += some * stride;
        n -= some;
    }
    for (; n > 0; n--, rows += stride)
        hist[K(popcount_row)(rows, bytes)]++;
}

size_t K(hsy_rows_with_popcount)(const uint8_t *rows, size_t n, size_t bytes,
                                 uint64_t ones)
{
    size_t r = 0;

    while (r < n && K(popcount_row)(rows + r * bytes, bytes) == ones)
        r++;
    return r;
}

#else

#define POPCOUNT(x) ((uint64_t)__builtin_popcountll(x))

/* A row of at least eight bytes, word by word; the last load overlaps and is
 * shifted clear of what was counted before. Four sums, so that none waits for
 * another. */
SIMD_INLINE uint64_t K(popcount_words)(const uint8_t *row, size_t bytes)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    size_t at = 0;

    for (; at + 32 <= bytes; at += 32) {
        a += POPCOUNT(bytes_get64(row + at));
        b += POPCOUNT(bytes_get64(row + at + 8));
        c += POPCOUNT(bytes_get64(row + at + 16));
        d += POPCOUNT(bytes_get64(row + at + 24));
    }
    for (; at + 8 <= bytes; at += 8)
        a += POPCOUNT(bytes_get64(row + at));
    if (at < bytes)
        b += POPCOUNT(bytes_get64(row + bytes - 8) >> 8 * (8 - (bytes - at)));
    return a + b + c + d;
}

/* A row of fewer than eight bytes. */
SIMD_INLINE uint64_t K(popcount_bytes)(const uint8_t *row, size_t bytes)
{
    uint64_t x = 0;

    for (size_t i = 0; i < bytes; i++)
        x = x << 8 | row[i];
    return POPCOUNT(x);
}

/* Rows of fewer than eight bytes, by one load each while eight bytes may be
 * read. */
static void K(popcount_short)(uint64_t *hist, const uint8_t *rows, size_t n,
                              size_t stride, size_t bytes)
{
    uint64_t mask = ((uint64_t)1 << 8 * bytes) - 1;
    const uint8_t *end = rows + (n - 1) * stride + bytes;

    for (; n > 0 && (size_t)(end - rows) >= 8; n--, rows += stride)
        hist[POPCOUNT(bytes_get64(rows) & mask)]++;
    for (; n > 0; n--, rows += stride)
        hist[K(popcount_bytes)(rows, bytes)]++;
}

/* Ones are added up in words with AVX-512, else in bytes, which have room for
 * 31 vectors. POPCOUNT_LEAST: bytes of the shortest row in vectors. */
#if defined(SIMD_AVX512)
#define POPCOUNT_LEAST 8u
#define POPCOUNT_MOST SIZE_MAX
#define POPCOUNT_ONES(x) simd_ones64(x)
#define POPCOUNT_WORDS(x) (x)
#else
#define POPCOUNT_LEAST SIMD_BYTES
#define POPCOUNT_MOST (31u * SIMD_BYTES)
#define POPCOUNT_ONES(x) simd_ones8(x)
#define POPCOUNT_WORDS(x) simd_sum8(x)
#endif

/* What the vectors before the last leave of a row. */
SIMD_INLINE simd64 K(popcount_last)(const uint8_t *row, size_t bytes)
{
    size_t rest = (bytes - 1) % SIMD_BYTES + 1;

#if defined(SIMD_AVX512)
    return (simd64)_mm512_maskz_loadu_epi8(UINT64_MAX >> (64 - rest),
                                           row + bytes - rest);
#else
    return simd_load(row + bytes - SIMD_BYTES) &
           simd_load(hsy_edge + 64 - SIMD_BYTES + rest);
#endif
}

#define POPCOUNT_WAYS (SIMD_WORDS < 4 ? SIMD_WORDS : 4)

/* The ones of some rows of up to POPCOUNT_MOST bytes, in the words of a vector
 * each. */
SIMD_INLINE void K(popcount_ways)(simd64 *sum, const uint8_t *row,
                                  size_t stride, size_t bytes)
{
    const uint8_t *end = row + (bytes - 1) / SIMD_BYTES * SIMD_BYTES;

    SIMD_UNROLL
    for (size_t k = 0; k < POPCOUNT_WAYS; k++)
        sum[k] = POPCOUNT_ONES(K(popcount_last)(row + k * stride, bytes));
    for (; row < end; row += SIMD_BYTES) {
        SIMD_UNROLL
        for (size_t k = 0; k < POPCOUNT_WAYS; k++)
            sum[k] += POPCOUNT_ONES(simd_load(row + k * stride));
    }
    SIMD_UNROLL
    for (size_t k = 0; k < POPCOUNT_WAYS; k++)
        sum[k] = POPCOUNT_WORDS(sum[k]);
}

/* As many rows as there are words: word r is the sum of those of x[r]. */
SIMD_INLINE simd64 K(popcount_totals)(const simd64 *x)
{
    simd64 y[4];

    SIMD_UNROLL
    for (size_t k = 0; k < SIMD_WORDS / 2; k++)
        y[k] = simd_low64(x[2 * k], x[2 * k + 1]) +
               simd_high64(x[2 * k], x[2 * k + 1]);
#if SIMD_BYTES == 32
    y[0] = __builtin_shufflevector(y[0], y[1], 0, 1, 4, 5) +
           __builtin_shufflevector(y[0], y[1], 2, 3, 6, 7);
#elif SIMD_BYTES == 64
    SIMD_UNROLL
    for (size_t n = 2; n > 0; n--) {
        SIMD_UNROLL
        for (size_t k = 0; k < n; k++)
            y[k] = __builtin_shufflevector(y[2 * k], y[2 * k + 1], 0, 1, 4, 5,
                                           8, 9, 12, 13) +
                   __builtin_shufflevector(y[2 * k], y[2 * k + 1], 2, 3, 6, 7,
                                           10, 11, 14, 15);
    }
#endif
    return y[0];
}

/* Some rows are counted before the first is entered: where that goes must be
 * known before the next can be. Returns how many, a multiple of SIMD_WORDS. */
SIMD_INLINE size_t K(popcount_some)(uint64_t *hist, const uint8_t *rows,
                                    size_t n, size_t stride, size_t bytes)
{
    uint64_t ones[POPCOUNT_SOME];
    size_t some = n < POPCOUNT_SOME ? n - n % SIMD_WORDS : POPCOUNT_SOME;

    for (size_t r = 0; r < some; r += SIMD_WORDS) {
        simd64 sum[SIMD_WORDS];

        SIMD_UNROLL
        for (size_t k = 0; k < SIMD_WORDS; k += POPCOUNT_WAYS)
            K(popcount_ways)(sum + k, rows + (r + k) * stride, stride, bytes);
        simd_store(ones + r, K(popcount_totals)(sum));
    }
    for (size_t r = 0; r < some; r++)
        hist[ones[r]]++;
    return some;
}

/* A row of at least POPCOUNT_LEAST bytes: vectors by fours through adders, then
 * those that are left. A byte has room for 31 carries. */
static uint64_t K(popcount_long)(const uint8_t *row, size_t bytes)
{
    const uint8_t *end = row + (bytes - 1) / SIMD_BYTES * SIMD_BYTES;
    simd64 rest = POPCOUNT_ONES(K(popcount_last)(row, bytes));
    simd64 plane[2] = {{0}, {0}}, fours = {0}, twos;
    uint64_t total = 0;

    while (end - row >= 4 * SIMD_BYTES) {
        simd64 sum = {0};

        for (int k = 0; k < 31 && end - row >= 4 * SIMD_BYTES; k++) {
            simd64 a = simd_add3(&plane[0], simd_load(row),
                                 simd_load(row + SIMD_BYTES));
            simd64 b = simd_add3(&plane[0], simd_load(row + 2 * SIMD_BYTES),
                                 simd_load(row + 3 * SIMD_BYTES));

            sum += POPCOUNT_ONES(simd_add3(&plane[1], a, b));
            row += 4 * SIMD_BYTES;
        }
        fours += POPCOUNT_WORDS(sum);
    }
    for (; row < end; row += SIMD_BYTES)
        rest += POPCOUNT_ONES(simd_load(row));
    twos = POPCOUNT_ONES(plane[1]);
    rest += POPCOUNT_ONES(plane[0]) + twos + twos;
    fours = (fours << 2) + POPCOUNT_WORDS(rest);
    for (size_t i = 0; i < SIMD_WORDS; i++)
        total += fours[i];
    return total;
}

static void K(popcount_rows)(uint64_t *hist, const uint8_t *rows, size_t n,
                             size_t stride, size_t bytes)
{
    if (n > 0 && bytes < 8) {
        K(popcount_short)(hist, rows, n, stride, bytes);
        return;
    }
    while (n >= SIMD_WORDS && bytes >= POPCOUNT_LEAST &&
           bytes <= POPCOUNT_MOST) {
        size_t some = K(popcount_some)(hist, rows, n, stride, bytes);

        n -= some;
        rows += some * stride;
    }
    if (bytes < 32 || bytes < SIMD_BYTES)
        for (size_t r = 0; r < n; r++)
            hist[K(popcount_words)(rows + r * stride, bytes)]++;
    else
        for (size_t r = 0; r < n; r++)
            hist[K(popcount_long)(rows + r * stride, bytes)]++;
}

size_t K(hsy_rows_with_popcount)(const uint8_t *rows, size_t n, size_t bytes,
                                 uint64_t ones)
{
    size_t r = 0;

    if (bytes < 8) {
        const uint64_t mask = ((uint64_t)1 << 8 * bytes) - 1;

        while ((n - r) * bytes >= 8 &&
               ones == POPCOUNT(bytes_get64(rows + r * bytes) & mask))
            r++;
        while (r < n && K(popcount_bytes)(rows + r * bytes, bytes) == ones)
            r++;
    } else if (bytes < 128) { /* vectors pay only by fours */
        while (r < n && K(popcount_words)(rows + r * bytes, bytes) == ones)
            r++;
    } else {
        while (r < n && K(popcount_long)(rows + r * bytes, bytes) == ones)
            r++;
    }
    return r;
}

#undef POPCOUNT
#undef POPCOUNT_LEAST
#undef POPCOUNT_MOST
#undef POPCOUNT_ONES
#undef POPCOUNT_WORDS
#undef POPCOUNT_WAYS

#endif

#undef POPCOUNT_SOME
