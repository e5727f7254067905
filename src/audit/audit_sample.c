/* audit_sample.c - draw reports of every probe and count what can be seen. */
#include "audit/internal.h"

#include <stdlib.h>
#include <string.h>

#define AUDIT_SAMPLE_LAW_WORK (1u << 27) /* law factors a part may cost */

/* Of a long report: the beginning, the middle and the end. */
static void audit_sample_watch(struct audit_sample *s)
{
    uint32_t bits = s->info.packed_bits, third = AUDIT_BITS / 3;
    size_t i = 0;

    s->nbits = bits < AUDIT_BITS ? bits : AUDIT_BITS;
    for (; i < s->nbits; i++)
        s->bit_at[i] = (uint32_t)i;
    if (bits <= AUDIT_BITS)
        return;
    for (i = third; i < 2 * third; i++)
        s->bit_at[i] = (uint32_t)(bits / 2 - third / 2 + i - third);
    for (; i < AUDIT_BITS; i++)
        s->bit_at[i] = (uint32_t)(bits - AUDIT_BITS + i);
}

hsy_status audit_sample_init(struct audit_sample *s,
                             const struct audit_subject *subject,
                             const struct audit_outputs *outputs,
                             const struct audit_probe *probes, size_t nprobes,
                             bool batch)
{
    size_t law = hsy_law_factors(subject->scheme);
    bool ok = true;

    memset(s, 0, sizeof *s);
    s->subject = subject;
    s->outputs = outputs;
    s->probes = probes;
    s->nprobes = nprobes;
    s->batch = batch;
    for (s->nturn = 0; s->nturn < nprobes; s->nturn++)
        s->turn[s->nturn] = s->nturn;
    hsy_scheme_describe(subject->scheme, &s->info);
    audit_sample_watch(s);
    s->reports = calloc(AUDIT_BLOCK, s->info.report_bytes + 8);
    s->codes = calloc(AUDIT_BLOCK * hsy_codes_per_truth(subject->scheme),
                      sizeof *s->codes);
    s->packed = calloc(1, s->info.packed_bits / 8 + 16);
    s->factors = calloc(2 * law + 1, sizeof *s->factors);
    for (int p = 0; p < AUDIT_PARTS; p++) {
        struct audit_counts *c = &s->part[p];

        c->cells = calloc(nprobes * outputs->size + 1, sizeof *c->cells);
        c->pairs = calloc(nprobes * AUDIT_BITS * AUDIT_BITS, sizeof *c->pairs);
        ok &= c->cells != NULL && c->pairs != NULL;
    }
    if (ok && s->reports != NULL && s->codes != NULL && s->packed != NULL &&
        s->factors != NULL)
        return HSY_OK;
    audit_sample_clear(s);
    return HSY_E_NOMEM;
}

void audit_sample_clear(struct audit_sample *s)
{
    for (int p = 0; p < AUDIT_PARTS; p++) {
        free(s->part[p].cells);
        free(s->part[p].pairs);
    }
    free(s->reports);
    free(s->codes);
    free(s->packed);
    free(s->factors);
    memset(s, 0, sizeof *s);
}

/* The place of a shape in the table; the last place takes what is too many. */
static size_t audit_sample_shape(struct audit_sample *s,
                                 const struct audit_shape *shape)
{
    size_t i;

    for (i = 0; i < s->nshapes; i++)
        if (s->shape[i].status == shape->status &&
            s->shape[i].secret == shape->secret &&
            s->shape[i].published == shape->published)
            return i;
    if (s->nshapes == AUDIT_SHAPES)
        return AUDIT_SHAPES - 1;
    s->shape[s->nshapes++] = *shape;
    return i;
}

static void audit_sample_see(struct audit_sample *s, struct audit_counts *c,
                             size_t x, hsy_status st,
                             const struct audit_coins *coins,
                             const struct audit_coins *before)
{
    const struct audit_shape shape = {
        st, coins->secret.bytes - before->secret.bytes,
        coins->published.bytes - before->published.bytes};

    c->shaped[x]++;
    c->shapes[x][audit_sample_shape(s, &shape)]++;
}

static bool audit_sample_bit(const struct audit_sample *s, uint32_t at)
{
    return s->packed[at / 8] >> (at % 8) & 1;
}

/* Pairs of ones among the watched bits of the packed report. */
static void audit_sample_pairs(const struct audit_sample *s, uint64_t *pairs)
{
    size_t ones[AUDIT_BITS], n = 0;

    for (size_t i = 0; i < s->nbits; i++)
        if (audit_sample_bit(s, s->bit_at[i]))
            ones[n++] = i;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            pairs[ones[i] * AUDIT_BITS + ones[j]]++;
}

/* Which probe the law holds for the likelier one, for each pair with x. */
static void audit_sample_class(struct audit_sample *s, struct audit_counts *c,
                               size_t x, const uint8_t *report)
{
    c->classed[x]++;
    for (size_t y = 0; y < s->nprobes; y++) {
        size_t a = x < y ? x : y, b = x < y ? y : x;
        int sign;

        if (x == y)
            continue;
        sign = audit_compare(s->subject->scheme, s->factors, s->probes[a].codes,
                             s->probes[b].codes, report);
        c->classes[x][a][b][sign + 1]++;
    }
}

static void audit_sample_report(struct audit_sample *s, struct audit_counts *c,
                                size_t x, const uint8_t *report)
{
    const hsy_scheme *scheme = s->subject->scheme;

    if (hsy_check(scheme, report) != HSY_OK) {
        s->faults |= AUDIT_MALFORMED;
        return;
    }
    hsy_pack(scheme, s->packed, report, 1);
    if (s->outputs->size != 0) {
        size_t cell = s->packed[0];

        if (s->info.packed_bits > 8)
            cell |= (size_t)s->packed[1] << 8;
        c->cells[x * s->outputs->size + cell]++;
        return;
    }
    audit_sample_pairs(s, c->pairs + x * AUDIT_BITS * AUDIT_BITS);
    if (s->class_quota > 0) {
        s->class_quota--;
        audit_sample_class(s, c, x, report);
    }
}

/* A block one report at a time, the probes in turn. */
static void audit_sample_single(struct audit_sample *s, struct audit_counts *c,
                                struct audit_coins *coins, size_t n)
{
    const struct audit_subject *subject = s->subject;

    for (size_t i = 0; i < n; i++) {
        size_t x = s->turn[i % s->nturn];
        struct audit_coins before = *coins;
        hsy_status st =
            subject->single(subject->ctx, subject->scheme, s->reports,
                            &s->probes[x], &coins->coins);

        audit_sample_see(s, c, x, st, coins, &before);
        c->reports[x]++;
        if (st == HSY_OK)
            audit_sample_report(s, c, x, s->reports);
        else
            s->faults |= AUDIT_STATUS;
    }
}

/* A block in one call: of one probe, whose shape is then the block's, or of
 * several in turn. */
static void audit_sample_batch(struct audit_sample *s, struct audit_counts *c,
                               struct audit_coins *coins, size_t n,
                               uint64_t block)
{
    const struct audit_subject *subject = s->subject;
    struct audit_coins before = *coins;
    bool pure = block % 2 == 0 && n == AUDIT_BLOCK;
    const size_t width = hsy_codes_per_truth(subject->scheme);
    size_t who[AUDIT_BLOCK];
    hsy_status st;

    for (size_t i = 0; i < n; i++) {
        who[i] = s->turn[(block / 2 + (pure ? 0 : i)) % s->nturn];
        memcpy(s->codes + i * width, s->probes[who[i]].codes,
               width * sizeof *s->codes);
    }
    st = subject->batch(subject->ctx, subject->scheme, s->reports, s->codes, n,
                        &coins->coins);
    if (pure)
        audit_sample_see(s, c, who[0], st, coins, &before);
    if (st != HSY_OK)
        s->faults |= AUDIT_STATUS;
    for (size_t i = 0; i < n; i++) {
        c->reports[who[i]]++;
        if (st == HSY_OK)
            audit_sample_report(s, c, who[i],
                                s->reports + i * s->info.report_bytes);
    }
}

/* Pairs of bits and classes of the law, from whole outputs. */
static void audit_sample_derive(const struct audit_sample *s,
                                struct audit_counts *c, size_t x)
{
    size_t size = s->outputs->size;

    c->classed[x] = c->reports[x];
    for (size_t cell = 0; cell < size; cell++) {
        uint64_t count = c->cells[x * size + cell];
        uint64_t *pairs = c->pairs + x * AUDIT_BITS * AUDIT_BITS;

        for (size_t i = 0; i < s->nbits && count != 0; i++)
            for (size_t j = i; j < s->nbits; j++)
                pairs[i * AUDIT_BITS + j] +=
                    (cell >> i & cell >> j & 1) * count;
        for (size_t y = 0; y < s->nprobes && count != 0; y++) {
            size_t a = x < y ? x : y, b = x < y ? y : x;
            double pa = s->outputs->law[a * size + cell];
            double pb = s->outputs->law[b * size + cell];

            if (a != b)
                c->classes[x][a][b][1 + (pa > pb) - (pa < pb)] += count;
        }
    }
}

void audit_sample_draw(struct audit_sample *s, enum audit_part part,
                       hsy_coins coins, uint64_t samples)
{
    uint64_t work = hsy_law_factors(s->subject->scheme) * 2 * s->nprobes;
    struct audit_counts *c = &s->part[part];
    struct audit_coins metered;

    audit_coins_init(&metered, coins);
    s->class_quota = AUDIT_SAMPLE_LAW_WORK / (work + 1);
    for (uint64_t block = 0; samples > 0; block++) {
        size_t n = samples < AUDIT_BLOCK ? (size_t)samples : AUDIT_BLOCK;

        if (s->batch)
            audit_sample_batch(s, c, &metered, n, block);
        else
            audit_sample_single(s, c, &metered, n);
        samples -= n;
        if (s->options->tick != NULL)
            s->options->tick(s->options->ctx, n);
    }
    for (size_t x = 0; x < s->nprobes && s->outputs->size != 0; x++)
        audit_sample_derive(s, c, x);
}
