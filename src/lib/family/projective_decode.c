/*
 * projective_decode.c - sums over the points orthogonal to each item of a
 * geometry, all items at once.
 *
 * Let y[u] be given for every point u. For a suffix b of items (coordinates l
 * to t-1), a prefix a of points (coordinates 0 to l-1) and a residue z,
 *
 *     D_l[b][a][z] = sum of y[u] over the u that begin with a and have
 *                    sum over i >= l of u_i b_i = z.
 *
 * Items end with 1 and points begin with 1, so a suffix is again the item of a
 * smaller geometry or zero, a prefix a point or zero, and nothing is ever
 * scaled. With s the first coordinate of a suffix and e the next of a prefix,
 *
 *     D_l[(s, b)][a][z] = sum over e of D_(l+1)[b][(a, e)][z - s e]:
 *
 * for one b and one a all s and z of it are the Radon transform of a q x q
 * matrix that lies in one piece, as (a, e) has number q a + 1 + e. A zero
 * suffix needs only the sums of y over prefixes, a zero prefix goes on by 0 or
 * 1 only. D_(t-1) of the suffix (1) is y itself, and
 *
 *     T[(s, b)] = D_1[b][0][0] + D_1[b][1][-s],
 *
 * so t-2 levels are work: K q (t-2) additions, with two buffers that take at
 * most 2 b words each. All modulo 2^32. [FNNT22; theory 3.7]
 */
#include "lib/family/projective.h"

/* One level's table lies suffix after suffix, each `rows` rows of q: row 0 for
 * the zero prefix, row 1 + a for prefix number a. */
struct projective_level {
    uint32_t *table;
    size_t rows;     /* points[l] + 1 */
    size_t suffixes; /* points[t - l] */
};

struct projective_walk {
    const struct kernel_geometry *g;
    const struct hsy_kernels *kernels;
    uint32_t *sums; /* of y over the points that begin with a prefix */
    uint32_t zero;  /* of y over those that begin with the zero prefix */
    uint32_t *work;
};

static size_t projective_level_words(const uint64_t *points, uint64_t q,
                                     uint32_t t, uint32_t l)
{
    return (size_t)(points[t - l] * (points[l] + 1) * q);
}

/* The two buffers of levels: t-1, t-3, ... and t-2, t-4, ... */
static void projective_buffers(uint64_t q, uint32_t t, size_t words[2])
{
    uint64_t points[KERNEL_COORDINATES] = {0};

    words[0] = words[1] = 0;
    for (uint32_t k = 1; k <= t; k++)
        points[k] = points[k - 1] * q + 1;
    for (uint32_t l = 1; l < t; l++) {
        size_t need = projective_level_words(points, q, t, l);
        size_t *buffer = &words[(t - 1 - l) % 2];

        if (need > *buffer)
            *buffer = need;
    }
}

/* Besides the buffers sums over prefixes of t-1 coordinates, and the kernel's
 * room. */
size_t hsy_projective_decode_words(uint64_t q, uint32_t t)
{
    size_t words[2];

    projective_buffers(q, t, words);
    return words[0] + words[1] + (size_t)hsy_projective_sizes(q, t).set +
           KERNEL_LINE_SUMS_WORK(q);
}

/* Level t-1: the suffix (1), y behind the row of the zero prefix. */
static void projective_load(struct projective_walk *w,
                            struct projective_level *last, const int64_t *cells,
                            unsigned shift, uint32_t mask)
{
    const uint32_t q = w->g->q, t = w->g->t;
    const size_t points = w->g->points[t];
    uint32_t *table = last->table;

    last->rows = w->g->points[t - 1] + 1;
    last->suffixes = 1;
    for (size_t i = 0; i < q; i++)
        table[i] = 0;
    w->zero = (uint32_t)((uint64_t)cells[0] >> shift) & mask;
    table[1] = w->zero;
    for (size_t i = 1; i < points; i++)
        table[q + i - 1] = (uint32_t)((uint64_t)cells[i] >> shift) & mask;
    for (size_t a = 0; a + 1 < last->rows; a++) {
        w->sums[a] = 0;
        for (size_t e = 0; e < q; e++)
            w->sums[a] += table[q + a * q + e];
    }
}

/* Of a level, the suffix (1, 0, ..., 0): sums over prefixes one longer. */
static void projective_first(const struct projective_walk *w,
                             const struct projective_level *to)
{
    const size_t q = w->g->q;

    for (size_t z = 0; z < q; z++)
        to->table[z] = 0;
    to->table[0] = w->zero;
    to->table[1] = w->sums[0];
    for (size_t i = q; i < to->rows * q; i++)
        to->table[i] = w->sums[i - q + 1];
}

/* The zero prefix of all suffixes that add one coordinate to b: it goes on by
 * 0 (row 0 of b) or by 1 (row 1). */
static void projective_zero_prefix(uint32_t *out, size_t stride,
                                   const uint32_t *b, uint32_t q)
{
    for (uint32_t s = 0; s < q; s++, out += stride) {
        for (uint32_t z = 0; z < s; z++)
            out[z] = b[z] + b[2 * q + z - s];
        for (uint32_t z = s; z < q; z++)
            out[z] = b[z] + b[q + z - s];
    }
}

/* Sums over prefixes one shorter, in place: what is read lies behind. */
static void projective_shorten(struct projective_walk *w, size_t prefixes)
{
    const size_t q = w->g->q;

    w->zero += w->sums[0];
    for (size_t a = 0; a < prefixes; a++) {
        uint32_t sum = 0;

        for (size_t e = 0; e < q; e++)
            sum += w->sums[q * a + 1 + e];
        w->sums[a] = sum;
    }
}

/* From level l+1 to level l. */
static void projective_step(struct projective_walk *w,
                            struct projective_level *to,
                            const struct projective_level *from, uint32_t l)
{
    const uint32_t q = w->g->q;
    const size_t prefixes = w->g->points[l], block = (prefixes + 1) * q;

    to->rows = prefixes + 1;
    to->suffixes = w->g->points[w->g->t - l];
    projective_first(w, to);
    for (size_t b = 0; b < from->suffixes; b++) {
        const uint32_t *in = from->table + b * from->rows * q;
        uint32_t *out = to->table + (q * b + 1) * block;

        projective_zero_prefix(out, block, in, q);
        w->kernels->line_sums(out + q, block, in + 2 * (size_t)q, q, prefixes,
                              w->work);
    }
    projective_shorten(w, prefixes);
}

/* T from level 1. */
static void projective_finish(const struct projective_walk *w, uint32_t *sums,
                              size_t count,
                              const struct projective_level *first)
{
    const size_t q = w->g->q;
    const uint32_t *b = first->table;

    sums[0] = w->zero;
    for (size_t at = 1; at < count; at += q, b += 2 * q) {
        size_t some = count - at < q ? count - at : q;

        sums[at] = b[0] + b[q];
        for (size_t s = 1; s < some; s++)
            sums[at + s] = b[0] + b[2 * q - s];
    }
}

void hsy_projective_decode(const struct kernel_geometry *g,
                           const struct hsy_kernels *kernels, uint32_t *sums,
                           size_t count, const int64_t *cells, unsigned shift,
                           uint32_t mask, uint32_t *scratch)
{
    struct projective_walk w = {.g = g, .kernels = kernels};
    struct projective_level from, to, swap;
    size_t words[2];

    projective_buffers(g->q, g->t, words);
    from.table = scratch;
    to.table = scratch + words[0];
    w.sums = to.table + words[1];
    w.work = w.sums + g->points[g->t - 1];
    projective_load(&w, &from, cells, shift, mask);
    for (uint32_t l = g->t - 2; l > 0; l--) {
        projective_step(&w, &to, &from, l);
        swap = from;
        from = to;
        to = swap;
    }
    projective_finish(&w, sums, count, &from);
}
