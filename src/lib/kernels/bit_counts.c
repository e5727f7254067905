/* bit_counts.c - how many rows have each bit: the plain loop, and the frame of
 * the fast ones. */
#include "lib/kernels/bit_counts.h"

#include <string.h>

#include "lib/kernels/internal.h"

#define TALLY_BITS_GLUED 1024u /* bytes up to which short rows are glued */
#define TALLY_BITS_WIDE_TILE (2u << 20) /* bytes that the outer cache holds */
#define TALLY_BITS_AHEAD 65536u         /* how far ahead memory is asked for */

const uint8_t hsy_edge[128] = {
    [64] = 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255,        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255,        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255,        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255,        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

void hsy_bit_counts_plain(int64_t *cells, uint64_t *hist, const uint8_t *rows,
                          size_t n, size_t stride, uint32_t d)
{
    for (size_t r = 0; r < n; r++) {
        const uint8_t *row = rows + r * stride;
        uint64_t ones = 0;

        for (uint32_t i = 0; i < d; i++) {
            unsigned bit = (unsigned)row[i / 8] >> i % 8 & 1u;

            cells[i] += bit;
            ones += bit;
        }
        if (hist != NULL)
            hist[ones]++;
    }
}

void hsy_bit_counts_some_plain(int64_t *cells, const uint8_t *rows,
                               const uint32_t *order, size_t n, size_t stride,
                               uint32_t d)
{
    for (size_t r = 0; r < n; r++)
        for (uint32_t i = 0; i < d; i++)
            cells[i] += rows[order[r] * stride + i / 8] >> i % 8 & 1;
}

/* Strips of bytes, one or more rows glued together, and the part of each that
 * is counted. */
struct tally_bits_job {
    const struct tally_bits_level *level;
    int64_t *cells;
    uint64_t *hist; /* or NULL */
    const uint8_t *strips;
    const uint32_t *order; /* their numbers; NULL: one after the other */
    size_t n, stride;      /* of the strips */
    size_t start, bytes;   /* the part, at least a vector */
    size_t skip;           /* leading bytes of the part that are not counted */
    size_t glue;           /* rows in a strip */
    size_t row_bytes;
    uint32_t d;
    bool stream; /* the strips are read one after the other */
};

static size_t tally_bits_columns(const struct tally_bits_job *job)
{
    return (job->bytes + job->level->vector - 1) / job->level->vector;
}

/* Add counts of consecutive bits, the first one bit `bit` of the strip. */
static void tally_bits_spread(const struct tally_bits_job *job,
                              const uint16_t *counts, size_t bit, size_t end)
{
    size_t row_bits = 8 * job->row_bytes, at = bit % row_bits;

    while (bit < end) {
        size_t run = end - bit < row_bits - at ? end - bit : row_bits - at;
        size_t real = at >= job->d ? 0 : job->d - at < run ? job->d - at : run;

        job->level->increase(job->cells + at, counts, real);
        counts += run;
        bit += run;
        at = 0;
    }
}

/* Let the carries still pending run through the sums of a column. */
static void tally_bits_settle(uint8_t *column, size_t vector, unsigned batches)
{
    for (unsigned i = 0; i < HSY_FOLD_UPPER; i++) {
        if ((batches >> i & 1) == 0)
            continue;
        for (size_t w = 0; w < vector; w += 8) {
            uint64_t carry, sum;

            memcpy(&carry, column + HSY_FOLD_PENDING(i) * vector + w, 8);
            for (unsigned k = i; k < HSY_FOLD_UPPER; k++) {
                uint8_t *at = column + HSY_FOLD_SUM(k) * vector + w;
                uint64_t both;

                memcpy(&sum, at, 8);
                both = sum & carry;
                sum ^= carry;
                memcpy(at, &sum, 8);
                carry = both;
            }
        }
    }
}

/* Empty the planes after some batches into the cells. */
static void tally_bits_flush(const struct tally_bits_job *job, uint8_t *planes,
                             unsigned batches)
{
    size_t vector = job->level->vector, columns = tally_bits_columns(job);
    size_t counted = job->skip;
    unsigned used = 5;
    uint16_t counts[8 * 64];

    while (used < 4 + HSY_FOLD_UPPER && batches >> (used - 4) != 0)
        used++;
    for (size_t c = 0; c < columns; c++) {
        size_t from = c + 1 < columns ? c * vector : job->bytes - vector;
        uint8_t *column = planes + c * HSY_FOLD_PLANES * vector;

        if (from + vector <= counted)
            continue;
        tally_bits_settle(column, vector, batches);
        job->level->read(counts, column, used);
        tally_bits_spread(job, counts + 8 * (counted - from),
                          8 * (job->start + counted),
                          8 * (job->start + from + vector));
        counted = from + vector;
    }
}

/* The strips from number `first` on: where they start, and whether memory is
 * worth asking for ahead of them. */
static const uint8_t *tally_bits_at(const struct tally_bits_job *job,
                                    size_t first)
{
    return job->strips + job->start + first * job->stride;
}

static bool tally_bits_more(const struct tally_bits_job *job, size_t first)
{
    size_t left = (job->n - first) * job->stride;

    return job->stream &&
           left > TALLY_BITS_AHEAD + HSY_FOLD_ROWS * (job->stride + 64);
}

/* Whether rows are weighed in passing: such that sixteen of them would not
 * stay in the inner cache between weighing and counting. */
static bool tally_bits_passing(const struct tally_bits_job *job)
{
    return job->hist != NULL && job->level->add_weighed != NULL &&
           job->bytes > TALLY_BITS_GLUED;
}

/* Whether counting asks for one half of the memory ahead and weighing for the
 * other, so that it is never idle. */
static bool tally_bits_halves(const struct tally_bits_job *job)
{
    return job->hist != NULL && !tally_bits_passing(job) && !job->level->slow;
}

/* Point batch at the strips from number `first` on. What is missing of sixteen
 * is read from a row of zeros. */
static void tally_bits_aim(struct tally_bits_batch *batch,
                           const struct tally_bits_job *job, size_t first)
{
    static const uint8_t zeros[HSY_FOLD_BLOCK];
    const uint8_t *base = tally_bits_at(job, first);
    size_t left = job->n - first;

    for (size_t i = 0; i < HSY_FOLD_ROWS; i++)
        batch->row[i] = i >= left ? zeros
                        : job->order == NULL
                            ? base + i * job->stride
                            : tally_bits_at(job, job->order[first + i]);
    batch->ahead = base;
    batch->step = batch->ask = 0;
    if (tally_bits_more(job, first)) {
        batch->ahead = base + TALLY_BITS_AHEAD;
        batch->step = HSY_FOLD_ROWS * job->level->vector;
        batch->ask = batch->step;
        if (tally_bits_halves(job))
            batch->ask /= 2; /* tally_bits_weigh asks for the rest */
    }
}

/* Ask for what lies between two offsets and in the second half of a step. */
static void tally_bits_ask(const uint8_t *ahead, size_t from, size_t to,
                           size_t step)
{
    for (size_t at = from - from % step; at < to; at += step) {
        size_t low = at + step / 2 > from ? at + step / 2 : from;
        size_t high = at + step < to ? at + step : to;

        for (; low < high; low += 64)
            __builtin_prefetch(ahead + low, 0, 2);
    }
}

/* Weigh the strips of a batch, some rows at a time. */
static void tally_bits_weigh(const struct tally_bits_job *job, size_t first)
{
    const uint8_t *rows = tally_bits_at(job, first);
    size_t stride = job->stride / job->glue, n = HSY_FOLD_ROWS * job->glue;
    size_t left = (job->n - first) * job->glue;
    size_t step = HSY_FOLD_ROWS * job->level->vector;
    size_t some =
        stride < 512 ? (2048 / stride + 7) / 8 * 8 : 1024 / stride + 1;
    bool more = tally_bits_halves(job) && tally_bits_more(job, first);

    if (n > left)
        n = left;
    for (size_t r = 0; r < n; r += some) {
        if (some > n - r)
            some = n - r;
        if (more)
            tally_bits_ask(rows + TALLY_BITS_AHEAD, r * stride,
                           (r + some) * stride, step);
        job->level->row_popcounts(job->hist, rows + r * stride, some, stride,
                                  job->row_bytes);
    }
}

/* Enter the ones of a batch of rows. */
static void tally_bits_note(const struct tally_bits_job *job,
                            const uint64_t *ones, size_t first)
{
    for (size_t i = 0; i < HSY_FOLD_ROWS && i < job->n - first; i++)
        job->hist[ones[i]]++;
}

/* Count strips, as many batches as the planes can hold at most, from number
 * `first` on; return how many. */
static size_t tally_bits_fill(const struct tally_bits_job *job, size_t first)
{
    uint64_t words[HSY_FOLD_PLANES * HSY_FOLD_BLOCK / 8]
        __attribute__((aligned(64)));
    uint8_t *planes = (uint8_t *)words;
    uint64_t ones[HSY_FOLD_ROWS];
    struct tally_bits_batch batch = {.bytes = job->bytes, .ones = ones};
    bool passing = tally_bits_passing(job);
    size_t at = first;
    unsigned batches = 0;

    memset(planes, 0,
           tally_bits_columns(job) * HSY_FOLD_PLANES * job->level->vector);
    while (batches < HSY_FOLD_BATCHES && at < job->n) {
        if (job->hist != NULL && !passing)
            tally_bits_weigh(job, at);
        tally_bits_aim(&batch, job, at);
        batch.merges = (unsigned)__builtin_ctz(~batches);
        if (passing) {
            job->level->add_weighed(planes, &batch);
            tally_bits_note(job, ones, at);
        } else {
            job->level->add(planes, &batch);
        }
        batches++;
        at += HSY_FOLD_ROWS;
    }
    tally_bits_flush(job, planes, batches);
    return at - first;
}

/* On to the strips after these. */
static void tally_bits_move(struct tally_bits_job *job)
{
    if (job->order != NULL)
        job->order += job->n;
    else
        job->strips += job->n * job->stride;
}

/* Rows wider than a block: block after block, over a tile of rows that the
 * outer cache holds. */
static void tally_bits_wide(struct tally_bits_job job)
{
    size_t tile =
        (TALLY_BITS_WIDE_TILE / job.stride / HSY_FOLD_ROWS + 1) * HSY_FOLD_ROWS;
    size_t vector = job.level->vector, left = job.n;

    for (; left > 0; left -= job.n, tally_bits_move(&job)) {
        struct tally_bits_job block = job;

        job.n = block.n = left < tile ? left : tile;
        if (job.hist != NULL)
            job.level->row_popcounts(job.hist, job.strips, job.n, job.stride,
                                     job.row_bytes);
        block.hist = NULL;
        for (size_t at = 0; at < job.row_bytes; at += HSY_FOLD_BLOCK) {
            size_t rest = job.row_bytes - at;

            block.bytes = rest < HSY_FOLD_BLOCK ? rest : HSY_FOLD_BLOCK;
            block.skip = block.bytes < vector ? vector - block.bytes : 0;
            block.bytes += block.skip;
            block.start = at - block.skip;
            for (size_t done = 0; done < block.n;)
                done += tally_bits_fill(&block, done);
        }
    }
}

/* How many rows to glue into a strip: enough for a vector, and for a long
 * run through memory, but not so many that emptying the planes costs more than
 * filling them. None if there are too few rows for a vector. */
static size_t tally_bits_glue(const struct tally_bits_level *level, size_t n,
                              size_t bytes)
{
    size_t least = (level->vector + bytes - 1) / bytes;
    size_t most = TALLY_BITS_GLUED / bytes, glue = n / (4 * HSY_FOLD_ROWS);

    if (glue > most)
        glue = most;
    if (glue < least)
        glue = least;
    return glue <= n ? glue : 0;
}

void hsy_bit_counts_with(const struct tally_bits_level *level, int64_t *cells,
                         uint64_t *hist, const uint8_t *rows, size_t n,
                         size_t stride, uint32_t d)
{
    struct tally_bits_job job = {
        .level = level, .cells = cells, .hist = hist, .d = d};

    job.row_bytes = ((size_t)d + 7) / 8;
    while (n > 0) {
        /* Gluing needs rows without gaps. */
        bool whole = job.row_bytes == stride;

        job.glue = whole && d > 0 ? tally_bits_glue(level, n, stride) : 1;
        job.bytes = job.glue * job.row_bytes;
        if (job.bytes < level->vector) {
            hsy_bit_counts_plain(cells, hist, rows, n, stride, d);
            return;
        }
        job.strips = rows;
        job.n = n / job.glue;
        job.stride = job.glue * stride;
        job.stream = job.bytes <= HSY_FOLD_BLOCK;
        if (job.bytes > HSY_FOLD_BLOCK)
            tally_bits_wide(job);
        else
            for (size_t done = 0; done < job.n;)
                done += tally_bits_fill(&job, done);
        rows += job.n * job.stride;
        n -= job.n * job.glue;
    }
}

/* Rows that are not next to each other are neither glued nor asked for ahead.
 */
void hsy_bit_counts_some_with(const struct tally_bits_level *level,
                              int64_t *cells, const uint8_t *rows,
                              const uint32_t *order, size_t n, size_t stride,
                              uint32_t d)
{
    size_t bytes = ((size_t)d + 7) / 8;
    struct tally_bits_job job = {.level = level,
                                 .cells = cells,
                                 .strips = rows,
                                 .order = order,
                                 .n = n,
                                 .stride = stride,
                                 .bytes = bytes,
                                 .glue = 1,
                                 .row_bytes = bytes,
                                 .d = d};

    if (bytes < level->vector)
        hsy_bit_counts_some_plain(cells, rows, order, n, stride, d);
    else if (bytes > HSY_FOLD_BLOCK)
        tally_bits_wide(job);
    else
        for (size_t done = 0; done < n;)
            done += tally_bits_fill(&job, done);
}

#undef TALLY_BITS_GLUED
#undef TALLY_BITS_WIDE_TILE
#undef TALLY_BITS_AHEAD
