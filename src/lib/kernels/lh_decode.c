/* lh_decode.c - the support of every value from local-hashing tallies: the
 * plain loops, and the frame of the fast ones. */
#include <string.h>

#include "lib/kernels/internal.h"
#include "lib/kernels/lh_decode.h"

static inline uint32_t lh_decode_hash(const struct pool_hash *h, uint64_t code,
                                      uint32_t g, bool narrow)
{
    return pool_reduce(narrow ? pool_narrow(h, code) : pool_wide(h, code), g);
}

void hsy_lh_direct_plain(uint64_t *support, const uint64_t *codes, size_t count,
                         const struct kernel_cell *cells, size_t n, uint32_t g,
                         bool narrow)
{
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < count; v++)
            if (lh_decode_hash(&cells[i].hash, codes[v], g, narrow) ==
                cells[i].y)
                support[v] += cells[i].count;
}

void hsy_lh_table_plain(uint64_t *support, const uint64_t *codes, size_t count,
                        const struct pool_hash *hashes, const int64_t *table,
                        size_t rows, uint32_t g, bool narrow)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t v = 0; v < count; v++)
            support[v] += (uint64_t)
                table[i * g + lh_decode_hash(&hashes[i], codes[v], g, narrow)];
}

/* The first value that pool_reduce takes to y: ceil(y 2^32 / g). */
static uint64_t lh_decode_edge(uint32_t y, uint32_t g)
{
    return (((uint64_t)y << 32) + g - 1) / g;
}

/* The tests of n <= HSY_LH_BLOCK cells, but for those that can never pass or
 * count nothing. Returns how many; the largest count goes to *largest. */
static size_t lh_decode_tests(struct lh_decode_test *tests,
                              const struct kernel_cell *cells, size_t n,
                              uint32_t g, bool narrow, uint64_t *largest)
{
    size_t used = 0;

    *largest = 0;
    for (size_t i = 0; i < n; i++) {
        const struct kernel_cell *cell = &cells[i];
        struct lh_decode_test *test = &tests[used];
        uint64_t low;

        if (cell->y >= g || cell->count == 0)
            continue;
        low = lh_decode_edge(cell->y, g);
        test->a = cell->hash.a;
        test->b = cell->hash.b - (narrow ? low : low << 32);
        test->c = cell->hash.c;
        test->count = cell->count;
        test->span = (uint32_t)(lh_decode_edge(cell->y + 1, g) - low - 1);
        if (cell->count > *largest)
            *largest = cell->count;
        used++;
    }
    return used;
}

/* Set the digits to those of the counts that start at bit shift. */
static void lh_decode_pick(struct lh_decode_test *tests, size_t n,
                           unsigned shift)
{
    for (size_t i = 0; i < n; i++)
        tests[i].digit =
            (uint32_t)(tests[i].count >> shift) & HSY_LH_DIGIT_MASK;
}

/* Codes group after group, the last one filled up; at most HSY_LH_GROUP_MOST.
 */
struct lh_decode_groups {
    uint64_t support[HSY_LH_GROUP_MOST], codes[HSY_LH_GROUP_MOST];
};

static void lh_decode_fill(struct lh_decode_groups *last, const uint64_t *codes,
                           size_t count)
{
    memset(last, 0, sizeof *last);
    memcpy(last->codes, codes, count * sizeof *codes);
}

void hsy_lh_direct_with(const struct lh_decode_level *level, uint64_t *support,
                        const uint64_t *codes, size_t count,
                        const struct kernel_cell *cells, size_t n, uint32_t g,
                        bool narrow)
{
    lh_decode_direct_group *decode =
        narrow ? level->direct_narrow : level->direct_wide;
    size_t group = narrow ? level->narrow : level->wide, rest = count % group;
    struct lh_decode_test tests[HSY_LH_BLOCK];
    struct lh_decode_groups last;

    lh_decode_fill(&last, codes + count - rest, rest);
    for (size_t i = 0; i < n; i += HSY_LH_BLOCK) {
        size_t some = n - i < HSY_LH_BLOCK ? n - i : HSY_LH_BLOCK;
        uint64_t largest;

        some = lh_decode_tests(tests, cells + i, some, g, narrow, &largest);
        for (unsigned shift = 0; shift < 64 && largest >> shift != 0;
             shift += HSY_LH_DIGIT) {
            lh_decode_pick(tests, some, shift);
            for (size_t v = 0; v + group <= count; v += group)
                decode(support + v, codes + v, tests, some, shift);
            if (rest > 0)
                decode(last.support, last.codes, tests, some, shift);
        }
    }
    for (size_t v = 0; v < rest; v++)
        support[count - rest + v] += last.support[v];
}

/* All bits that occur in some count of the block. */
static uint64_t lh_decode_union(const struct lh_decode_block *block)
{
    uint64_t all = 0;

    for (size_t i = 0; i < block->rows * block->g; i++)
        all |= (uint64_t)block->table[i];
    return all;
}

static void lh_decode_digits(uint32_t *digits,
                             const struct lh_decode_block *block,
                             unsigned shift)
{
    for (size_t i = 0; i < block->rows; i++)
        for (size_t y = 0; y < block->g; y++) {
            uint64_t cell = (uint64_t)block->table[i * block->g + y];

            digits[i * block->slots + y] =
                (uint32_t)(cell >> shift) & HSY_LH_DIGIT_MASK;
        }
}

/* One pass of a block over all codes. */
static void lh_decode_pass(lh_decode_table_group *decode, size_t group,
                           uint64_t *support, const uint64_t *codes,
                           size_t count, const struct lh_decode_block *block,
                           unsigned shift)
{
    size_t rest = count % group;
    struct lh_decode_groups last;

    for (size_t v = 0; v + group <= count; v += group)
        decode(support + v, codes + v, block, shift);
    if (rest == 0)
        return;
    lh_decode_fill(&last, codes + count - rest, rest);
    decode(last.support, last.codes, block, shift);
    for (size_t v = 0; v < rest; v++)
        support[count - rest + v] += last.support[v];
}

void hsy_lh_table_with(const struct lh_decode_level *level, uint64_t *support,
                       const uint64_t *codes, size_t count,
                       struct lh_decode_block block, size_t rows, bool narrow)
{
    int size = block.g <= 16 ? 0 : block.g <= 32 ? 1 : 2;
    lh_decode_table_group *decode =
        narrow ? level->table_narrow[size] : level->table_wide[size];
    size_t group = narrow ? level->narrow : level->wide, most;
    uint32_t digits[HSY_LH_SLOTS] __attribute__((aligned(64)));

    /* Gathers take signed indices. */
    if (block.g > INT32_MAX) {
        hsy_lh_table_plain(support, codes, count, block.hashes, block.table,
                           rows, block.g, narrow);
        return;
    }
    block.slots = 16u << size;
    block.digits = digits;
    if (block.g > 64 || decode == NULL) {
        decode = narrow ? level->lookup_narrow : level->lookup_wide;
        block.slots = 0;
    } else {
        memset(digits, 0, sizeof digits);
    }
    most = block.slots == 64 ? HSY_LH_SLOTS / 64 : HSY_LH_BLOCK;
    for (; rows > 0; rows -= block.rows) {
        block.rows = rows < most ? rows : most;
        if (block.slots == 0) {
            lh_decode_pass(decode, group, support, codes, count, &block, 0);
        } else {
            uint64_t all = lh_decode_union(&block);

            for (unsigned shift = 0; shift < 64 && all >> shift != 0;
                 shift += HSY_LH_DIGIT) {
                lh_decode_digits(digits, &block, shift);
                lh_decode_pass(decode, group, support, codes, count, &block,
                               shift);
            }
        }
        block.hashes += block.rows;
        block.table += block.rows * block.g;
    }
}
