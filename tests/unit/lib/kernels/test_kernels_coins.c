/* test_kernels_coins.c - the kernels behind coins: every level equals plain,
 * and plain equals the definition. */
#include "lib/kernels/kernels.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define GUARD 0xa5
#define ALPHA 1e-12

static hsy_stream test_stream;

static void test_random(void *buf, size_t len)
{
    hsy_rng rng = hsy_stream_rng(&test_stream);

    rng.fill(rng.ctx, buf, len);
}

static uint64_t test_word(void)
{
    uint64_t x;

    test_random(&x, sizeof x);
    return x;
}

static bool test_untouched(const void *p, size_t len)
{
    const uint8_t *bytes = p;

    for (size_t i = 0; i < len; i++)
        if (bytes[i] != GUARD)
            return false;
    return true;
}

/* Run a comparison with plain on every level above it. */
static void test_levels(bool (*agrees)(const struct hsy_kernels *k),
                        const char *sentence)
{
    for (int level = HSY_CPU_PORTABLE; level <= HSY_CPU_AVX512; level++) {
        if (hsy_cpu_has((hsy_cpu)level))
            ok(agrees(hsy_kernels_at((hsy_cpu)level)), "%s: %s",
               hsy_cpu_name((hsy_cpu)level), sentence);
        else
            tap_skip(hsy_cpu_name((hsy_cpu)level));
    }
}

static const struct hsy_kernels *test_plain(void)
{
    return hsy_kernels_at(HSY_CPU_PLAIN);
}

/* ---- ChaCha20 ------------------------------------------------------------ */

/* RFC 8439, 2.3.2 and the first two blocks of A.1. */
static bool chacha20_vectors(const struct hsy_kernels *k)
{
    static const uint8_t want[64] = {
        0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd,
        0x1f, 0xa3, 0x20, 0x71, 0xc4, 0xc7, 0xd1, 0xf4, 0xc7, 0x33, 0xc0,
        0x68, 0x03, 0x04, 0x22, 0xaa, 0x9a, 0xc3, 0xd4, 0x6c, 0x4e, 0xd2,
        0x82, 0x64, 0x46, 0x07, 0x9f, 0xaa, 0x09, 0x14, 0xc2, 0xd7, 0x05,
        0xd9, 0x8b, 0x02, 0xa2, 0xb5, 0x12, 0x9c, 0xd1, 0xde, 0x16, 0x4e,
        0xb9, 0xcb, 0xd0, 0x83, 0xe8, 0xa2, 0x50, 0x3c, 0x4e};
    static const uint8_t zero_first[8] = {0x76, 0xb8, 0xe0, 0xad,
                                          0xa0, 0xf1, 0x3d, 0x90};
    static const uint8_t zero_second[8] = {0x9f, 0x07, 0xe7, 0xbe,
                                           0x55, 0x51, 0x38, 0x7a};
    uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    uint8_t out[128];
    bool zero;

    k->chacha20(out, 2, state);
    zero = memcmp(out, zero_first, 8) == 0 &&
           memcmp(out + 64, zero_second, 8) == 0 && state[12] == 2;
    for (uint32_t i = 0; i < 8; i++)
        state[4 + i] =
            (4 * i) | (4 * i + 1) << 8 | (4 * i + 2) << 16 | (4 * i + 3) << 24;
    state[12] = 1;
    state[13] = 0x09000000;
    state[14] = 0x4a000000;
    k->chacha20(out, 1, state);
    return zero && memcmp(out, want, 64) == 0;
}

static bool chacha20_same(const struct hsy_kernels *k, size_t blocks,
                          uint64_t counter)
{
    uint8_t want[64 * 70], got[64 * 70 + 65];
    uint32_t a[16], b[16];

    test_random(a, sizeof a);
    a[12] = (uint32_t)counter;
    a[13] = (uint32_t)(counter >> 32);
    memcpy(b, a, sizeof b);
    memset(got, GUARD, sizeof got);
    test_plain()->chacha20(want, blocks, a);
    k->chacha20(got + 1, blocks, b);
    return memcmp(want, got + 1, 64 * blocks) == 0 &&
           test_untouched(got + 1 + 64 * blocks,
                          sizeof got - 1 - 64 * blocks) &&
           memcmp(a, b, sizeof a) == 0;
}

static bool chacha20_agrees(const struct hsy_kernels *k)
{
    bool same = true;

    for (size_t blocks = 0; blocks <= 70; blocks++)
        same = same && chacha20_same(k, blocks, test_word()) &&
               chacha20_same(k, blocks, UINT32_MAX - blocks / 2) &&
               chacha20_same(k, blocks, UINT64_MAX - blocks / 3);
    return same;
}

/* ---- CRC-32C ------------------------------------------------------------- */

/* RFC 3720, B.4, and the usual check value. */
static bool crc32c_vectors(const struct hsy_kernels *k)
{
    uint8_t zeros[32] = {0}, ones[32], up[32];

    memset(ones, 0xff, sizeof ones);
    for (uint8_t i = 0; i < 32; i++)
        up[i] = i;
    return k->crc32c(0, (const uint8_t *)"123456789", 9) == 0xe3069283 &&
           k->crc32c(0, zeros, 32) == 0x8a9136aa &&
           k->crc32c(0, ones, 32) == 0x62a8ab43 &&
           k->crc32c(0, up, 32) == 0x46dd794e && k->crc32c(77, up, 0) == 77;
}

static bool crc32c_agrees(const struct hsy_kernels *k)
{
    static uint8_t data[12000];
    bool same = true;

    test_random(data, sizeof data);
    for (size_t len = 0; len < sizeof data - 8; len += 1 + len / 40) {
        uint32_t start = (uint32_t)test_word();
        size_t skip = test_word() % 8, cut = test_word() % (len + 1);
        uint32_t whole = test_plain()->crc32c(start, data + skip, len);
        uint32_t part = k->crc32c(start, data + skip, cut);

        same = same && k->crc32c(start, data + skip, len) == whole &&
               k->crc32c(part, data + skip + cut, len - cut) == whole;
    }
    return same;
}

/* ---- Sliced Bernoulli bits ----------------------------------------------- */

#define WORDS 41

static const unsigned slice_digits[] = {1, 2, 8, 31, 32, 33, 40, 63, 64};

/* A threshold of the given digits: random, smallest, largest or zero. */
static uint64_t slice_threshold(unsigned digits, unsigned which)
{
    uint64_t unit = 1ull << (64 - digits);

    switch (which) {
    case 0:
        return 0;
    case 1:
        return unit;
    case 2:
        return 0 - unit;
    default:
        return test_word() & (0 - unit);
    }
}

/* Lane i compares the complement of its digits, read as a number, with the
 * threshold. */
static uint64_t slice_defined(const uint64_t *planes, size_t words, size_t i,
                              unsigned digits, uint64_t threshold)
{
    uint64_t lanes = 0;

    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t u = 0;

        for (unsigned j = 0; j < digits; j++)
            u |= (~planes[j * words + i] >> lane & 1) << (64 - digits + j);
        lanes |= (uint64_t)(u < threshold) << lane;
    }
    return lanes;
}

static bool slice_is_defined(const struct hsy_kernels *k)
{
    uint64_t planes[64 * 3], lanes[3];
    bool same = true;

    for (size_t n = 0; n < sizeof slice_digits / sizeof *slice_digits; n++)
        for (unsigned which = 0; which < 6; which++) {
            unsigned digits = slice_digits[n];
            uint64_t t = slice_threshold(digits, which);

            test_random(planes, sizeof planes);
            k->bernoulli_bits(lanes, planes, 3, digits, t);
            for (size_t i = 0; i < 3; i++)
                same =
                    same && lanes[i] == slice_defined(planes, 3, i, digits, t);
        }
    return same;
}

static bool slice_same(const struct hsy_kernels *k, size_t words,
                       unsigned digits, uint64_t threshold)
{
    static uint64_t planes[64 * WORDS];
    uint64_t want[WORDS], got[WORDS + 8];

    test_random(planes, 8 * digits * words);
    memset(got, GUARD, sizeof got);
    test_plain()->bernoulli_bits(want, planes, words, digits, threshold);
    k->bernoulli_bits(got, planes, words, digits, threshold);
    return memcmp(want, got, 8 * words) == 0 &&
           test_untouched(got + words, sizeof got - 8 * words);
}

static bool slice_agrees(const struct hsy_kernels *k)
{
    bool same = true;

    for (size_t words = 0; words <= WORDS; words++)
        for (size_t n = 0; n < sizeof slice_digits / sizeof *slice_digits; n++)
            for (unsigned which = 0; which < 4; which++)
                same =
                    same && slice_same(k, words, slice_digits[n],
                                       slice_threshold(slice_digits[n], which));
    return same;
}

/* ---- Early exit ---------------------------------------------------------- */

static bool sparse_same(const struct hsy_kernels *k, size_t words,
                        uint64_t threshold)
{
    uint64_t want[300], got[300 + 8];
    uint64_t after[2];
    hsy_stream a, b;

    hsy_stream_seed(&a, test_word(), 1);
    b = a;
    memset(got, GUARD, sizeof got);
    test_plain()->sparse(want, words, threshold, &a);
    k->sparse(got, words, threshold, &b);
    hsy_stream_rng(&a).fill(&a, &after[0], 8);
    hsy_stream_rng(&b).fill(&b, &after[1], 8);
    return memcmp(want, got, 8 * words) == 0 && after[0] == after[1] &&
           test_untouched(got + words, sizeof got - 8 * words);
}

static bool sparse_agrees(const struct hsy_kernels *k)
{
    bool same = true;

    for (size_t words = 0; words <= 300; words += 1 + words / 40)
        same = same && sparse_same(k, words, test_word()) &&
               sparse_same(k, words, test_word() >> 8) &&
               sparse_same(k, words, 0);
    return same;
}

/* One group, from the coins as they come: eight digits for every lane, most
 * significant first, then eight words at a time for the lanes that are equal to
 * the threshold so far. */
static void sparse_group(uint64_t *lanes, size_t words, uint64_t threshold,
                         hsy_stream *st)
{
    uint64_t planes[8 * 64], reserve[8];
    size_t used = 8;

    hsy_stream_rng(st).fill(st, planes, 64 * words);
    memset(lanes, 0, 8 * words);
    for (size_t lane = 0; lane < 64 * words; lane++) {
        uint64_t head = 0, one;

        for (size_t j = 0; j < 8; j++)
            head = head << 1 | (planes[j * words + lane / 64] >> lane % 64 & 1);
        one = head < threshold >> 56;
        if (head == threshold >> 56) {
            if (used == 8)
                hsy_stream_rng(st).fill(st, reserve, sizeof reserve);
            used %= 8;
            one = reserve[used++] < threshold << 8;
        }
        lanes[lane / 64] |= one << lane % 64;
    }
}

static bool sparse_is_defined(const struct hsy_kernels *k)
{
    uint64_t want[150], got[150];
    bool same = true;

    for (unsigned i = 0; i < 200; i++) {
        uint64_t threshold = test_word() >> i % 16;
        hsy_stream a, b;

        hsy_stream_seed(&a, i, 2);
        b = a;
        sparse_group(want, 64, threshold, &a);
        sparse_group(want + 64, 64, threshold, &a);
        sparse_group(want + 128, 22, threshold, &a);
        k->sparse(got, 150, threshold, &b);
        same = same && memcmp(want, got, sizeof got) == 0;
    }
    return same;
}

/* Hoeffding: the share of ones strays from threshold / 2^64 by more than
 * sqrt(ln(2 / alpha) / 2 n) with probability below alpha. */
static bool sparse_share_is(double share, uint64_t threshold, double n)
{
    double p = (double)threshold / 18446744073709551616.0;

    return fabs(share - p) <= sqrt(log(2 / ALPHA) / (2 * n));
}

static void sparse_has_its_law(void)
{
    static const uint64_t thresholds[] = {
        1ull << 63, 0x4000000000000000, 0x44d3c1a900000001, 0xff7fffffffffffff};
    static uint64_t lanes[1 << 14];
    const double n = 64.0 * (1 << 14);

    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
        uint64_t t = thresholds[i];
        double ones = 0;

        test_plain()->sparse(lanes, 1 << 14, t, &test_stream);
        for (size_t w = 0; w < 1 << 14; w++)
            ones += __builtin_popcountll(lanes[w]);
        ok(sparse_share_is(ones / n, t, n),
           "sparse bits have probability "
           "0x%016llx / 2^64",
           (unsigned long long)t);
        ok(!sparse_share_is(ones / n, t ^ 1ull << 57, n),
           "control: 1/128 more or less would be noticed");
    }
}

static void sparse_reaches_its_ends(void)
{
    static uint64_t lanes[1 << 12];
    uint64_t any = 0, all = UINT64_MAX;

    test_plain()->sparse(lanes, 1 << 12, 0, &test_stream);
    for (size_t w = 0; w < 1 << 12; w++)
        any |= lanes[w];
    is_u64(any, 0, "threshold 0 gives no ones");
    test_plain()->sparse(lanes, 1 << 12, UINT64_MAX, &test_stream);
    for (size_t w = 0; w < 1 << 12; w++)
        all &= lanes[w];
    is_u64(all, UINT64_MAX, "threshold 2^64 - 1 gives only ones");
}

/* ---- Choices ------------------------------------------------------------- */

__extension__ typedef unsigned __int128 test_wide;

#define CHOICES 75

struct choose_case {
    struct kernel_choice choice;
    uint64_t coins[2 * CHOICES];
    uint32_t own[CHOICES];
};

/* Some words at the edges where the result changes, the rest random. */
static uint64_t choose_word(uint64_t edge, uint64_t other)
{
    uint64_t die = test_word() % 8;

    if (die < 2)
        return edge - 1 + die;
    if (die < 5)
        return other - 3 + die;
    return test_word();
}

/* A word whose product with bound has a low half at the edge of redrawing. */
static uint64_t choose_edge(uint64_t bound, uint64_t excess)
{
    uint64_t value = test_word() % bound;
    test_wide target = (test_wide)value << 64;
    uint64_t u;

    if (value > 0 && test_word() % 2 == 0)
        target += excess;
    u = (uint64_t)(target / bound);
    return u + test_word() % 3 - 1;
}

static void choose_deal(struct choose_case *c)
{
    uint64_t bound = 1 + test_word() % (1ull << (1 + test_word() % 32));

    if (bound >= 1ull << 32)
        bound = (1ull << 32) - 1;
    c->choice.bound = bound;
    c->choice.excess = (0 - bound) % bound;
    c->choice.last = UINT64_MAX - (test_word() >> (1 + test_word() % 63));
    c->choice.blanket = test_word() % c->choice.last;
    for (size_t i = 0; i < CHOICES; i++) {
        c->own[i] = (uint32_t)test_word();
        c->coins[2 * i] = choose_word(c->choice.last, c->choice.blanket);
        c->coins[2 * i + 1] = test_word() % 2 == 0
                                  ? choose_edge(bound, c->choice.excess)
                                  : test_word();
    }
}

/* Straight from the definition, in 128-bit arithmetic. */
static size_t choose_defined(uint32_t *out, uint32_t *redo,
                             const struct choose_case *c, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        test_wide product = (test_wide)c->coins[2 * i + 1] * c->choice.bound;
        uint64_t coin = c->coins[2 * i];

        out[i] =
            coin < c->choice.blanket ? (uint32_t)(product >> 64) : c->own[i];
        if (coin > c->choice.last || (uint64_t)product < c->choice.excess)
            redo[count++] = (uint32_t)i;
    }
    return count;
}

/* Equal lists of redraws, and equal values but for those. */
static bool choose_same(const struct hsy_kernels *k,
                        const struct choose_case *c, size_t n, size_t *redrawn)
{
    uint32_t out[CHOICES + 8], redo[CHOICES + 8];
    uint32_t want[CHOICES], again[CHOICES];
    size_t count, wanted = choose_defined(want, again, c, n);

    memset(out, GUARD, sizeof out);
    memset(redo, GUARD, sizeof redo);
    count = k->blanket_choices(out, redo, c->own, c->coins, n, &c->choice);
    for (size_t i = 0; i < count && i < wanted; i++)
        out[redo[i]] = want[redo[i]];
    *redrawn += wanted;
    return count == wanted && memcmp(redo, again, 4 * count) == 0 &&
           memcmp(out, want, 4 * n) == 0 &&
           test_untouched(out + n, sizeof out - 4 * n) &&
           test_untouched(redo + n, sizeof redo - 4 * n);
}

static bool choose_agrees(const struct hsy_kernels *k)
{
    struct choose_case c;
    size_t redrawn = 0;
    bool same = true;

    for (size_t n = 0; n <= CHOICES; n++)
        for (int i = 0; i < 40; i++) {
            choose_deal(&c);
            same = same && choose_same(k, &c, n, &redrawn);
        }
    return same && redrawn > 1000;
}

/* ---- Levels -------------------------------------------------------------- */

static void cpu_names_its_levels(void)
{
    ok(hsy_cpu_has(HSY_CPU_PLAIN) && hsy_cpu_has(HSY_CPU_PORTABLE),
       "plain and portable run anywhere");
    ok(hsy_cpu_has(hsy_cpu_best()) && hsy_cpu_best() != HSY_CPU_PLAIN,
       "the best level is one the machine has, and not the reference");
    ok(!hsy_cpu_has((hsy_cpu)4), "there is no level 4");
    ok(eq_text(hsy_cpu_name(HSY_CPU_PORTABLE), "portable") &&
           eq_text(hsy_cpu_name(HSY_CPU_AVX512), "avx512"),
       "every level has a name, whether the machine has it or not");
    is_text(hsy_cpu_name((hsy_cpu)9), "unknown",
            "a level that does not exist has a name all the same");
}

int main(void)
{
    hsy_stream_seed(&test_stream, 20, 1);
    cpu_names_its_levels();
    ok(chacha20_vectors(test_plain()), "plain: ChaCha20 as in RFC 8439");
    test_levels(chacha20_vectors, "ChaCha20 as in RFC 8439");
    test_levels(chacha20_agrees, "ChaCha20 equals plain, any number of blocks, "
                                 "over both carries of the counter");
    ok(crc32c_vectors(test_plain()), "plain: CRC-32C as in RFC 3720");
    test_levels(crc32c_vectors, "CRC-32C as in RFC 3720");
    test_levels(crc32c_agrees, "CRC-32C equals plain, whole and in parts");
    ok(hsy_crc32c(0, "123456789", 9) == 0xe3069283,
       "the public CRC-32C has its check value");
    ok(slice_is_defined(test_plain()), "plain: a sliced lane is 1 exactly if "
                                       "its digits are below the threshold");
    test_levels(slice_agrees, "sliced lanes equal plain, 0 to 41 words");
    ok(sparse_is_defined(test_plain()), "plain: a sparse lane is 1 exactly if "
                                        "its number is below the threshold");
    test_levels(sparse_agrees, "sparse lanes equal plain and take the same "
                               "coins");
    sparse_has_its_law();
    sparse_reaches_its_ends();
    ok(choose_agrees(test_plain()), "plain: choices equal the definition");
    test_levels(choose_agrees, "choices equal the definition, at its edges");
    return tap_done();
}
