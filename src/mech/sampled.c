/*
 * sampled.c - parts of a scheme, and reports that answer one of them.
 *
 * Which part a report answers is public, so branching on it and grouping by it
 * is fine; the truth only passes through the part's own randomizer.
 */
#include "sampled.h"

#include "bytes.h"
#include "ct.h"
#include "draw.h"
#include "fail.h"
#include "report.h"
#include "scheme.h"
#include "spell.h"

#include <string.h>

#define SAMPLED_BLOCK 256 /* reports that are grouped by part at once */
#define SAMPLED_ROOM 8192 /* bytes of their parts' reports */
#define SAMPLED_ALIGN 16u /* as malloc aligns */

/* The tail: where each part's scheme begins, in bytes from here. */
struct sampled_tail {
    size_t parts;   /* that reports answer */
    size_t schemes; /* parts, and attributes beside them */
    size_t at[];
};

static size_t sampled_round(size_t size)
{
    return (size + SAMPLED_ALIGN - 1) / SAMPLED_ALIGN * SAMPLED_ALIGN;
}

static size_t sampled_first(size_t parts)
{
    return sampled_round(sizeof(struct sampled_tail) + parts * sizeof(size_t));
}

static hsy_spec sampled_spec(const hsy_spec *spec,
                             const struct mech_sampled *how, size_t i)
{
    hsy_spec sub = {.size = sizeof sub};

    how->part(&sub, spec, i);
    return sub;
}

size_t hsy_sampled_size(const hsy_spec *spec, const struct mech_sampled *how)
{
    size_t parts = how->parts(spec), size = sampled_first(parts);

    for (size_t i = 0; i < parts; i++) {
        hsy_spec sub = sampled_spec(spec, how, i);

        size += sampled_round(hsy_scheme_size(&sub));
    }
    return size;
}

/* Reports of this scheme are one number of at most 64 bits. */
static bool sampled_short(const hsy_scheme *s)
{
    return s->report_bits <= 64;
}

static uint32_t sampled_index_bits(const hsy_scheme *s)
{
    return s->digits;
}

/* digits holds the bits of the index; bits and bytes are the longest part's. */
static void sampled_layout(hsy_scheme *s, size_t parts, uint32_t bits,
                           size_t bytes)
{
    s->digits = report_bits_of(parts);
    if (s->digits + (uint64_t)bits <= 64) {
        s->report_bits = s->digits + bits;
        s->report_bytes = report_bytes_of(s->report_bits);
    } else { /* then bytes is at least 8, so this passes 64 bits */
        s->report_bytes = 1 + bytes;
        s->report_bits = (uint32_t)(8 * s->report_bytes);
    }
}

hsy_status hsy_sampled_resolve(hsy_scheme *s, const hsy_spec *spec,
                               const struct mech_sampled *how, hsy_error *err)
{
    const size_t parts = how->parts(spec);
    uint8_t chain[2 * HSY_DIGEST] = {0}; /* of the parts so far, of the next */
    uint32_t bits = 1;
    size_t bytes = 1;

    s->cells = s->strata = s->weights = 0;
    for (size_t i = 0; i < parts; i++) {
        const hsy_spec sub = sampled_spec(spec, how, i);
        hsy_scheme part;
        hsy_status st = hsy_scheme_head(&part, NULL, &sub, err);

        if (st != HSY_OK)
            return st;
        bits = part.report_bits > bits ? part.report_bits : bits;
        bytes = part.report_bytes > bytes ? part.report_bytes : bytes;
        s->cells += part.cells;
        s->strata += part.strata;
        s->weights += part.weights;
        memcpy(chain + HSY_DIGEST, part.digest, HSY_DIGEST);
        hsy_blake2b(chain, HSY_DIGEST, chain, sizeof chain, NULL, 0);
    }
    s->own = bytes_get64(chain);
    s->total = parts;
    sampled_layout(s, parts, bits, bytes);
    return HSY_OK;
}

void hsy_sampled_settle(hsy_scheme *s, const hsy_spec *spec)
{
    const struct mech_sampled *how = s->mech->sampled;
    struct sampled_tail *tail = (struct sampled_tail *)(s + 1);
    size_t at;

    tail->schemes = how->parts(spec);
    tail->parts = how->whole ? 1 : tail->schemes;
    at = sampled_first(tail->schemes);
    for (size_t i = 0; i < tail->schemes; i++) {
        const hsy_spec sub = sampled_spec(spec, how, i);

        /* It did in resolve, so it does now. */
        (void)hsy_scheme_init((hsy_scheme *)(void *)((uint8_t *)tail + at),
                              &sub, NULL);
        tail->at[i] = at;
        at += sampled_round(hsy_scheme_size(&sub));
    }
}

/* ---- Parts, of any scheme ------------------------------------------------ */

size_t hsy_scheme_parts(const hsy_scheme *s)
{
    const struct sampled_tail *tail = mech_tail(s);

    return s->mech->sampled == NULL ? 1 : tail->parts;
}

const hsy_scheme *hsy_scheme_part(const hsy_scheme *s, size_t i)
{
    const struct sampled_tail *tail = mech_tail(s);
    const uint8_t *bytes = mech_tail(s);

    if (s->mech->sampled == NULL)
        return s;
    return (const hsy_scheme *)(const void *)(bytes + tail->at[i]);
}

uint64_t hsy_part_code(const hsy_scheme *s, const uint64_t *codes, size_t i)
{
    return s->mech->sampled == NULL ? codes[0]
                                    : s->mech->sampled->code(s, codes, i);
}

size_t hsy_code_width(const hsy_scheme *s)
{
    const struct sampled_tail *tail = mech_tail(s);

    if (s->kind == HSY_KIND_TUPLE)
        return tail->schemes - s->mech->sampled->whole;
    return s->mech->spell != NULL ? spell_words(s->param[HSY_PARAM_BITS]) : 1;
}

const hsy_scheme *hsy_scheme_attribute(const hsy_scheme *s, size_t i)
{
    return s->kind == HSY_KIND_TUPLE
               ? hsy_scheme_part(s, i + s->mech->sampled->whole)
               : s;
}

void hsy_sampled_cpu(hsy_scheme *s)
{
    struct sampled_tail *tail = (struct sampled_tail *)(s + 1);

    for (size_t i = 0; i < tail->schemes; i++) {
        void *at = (uint8_t *)tail + tail->at[i];
        hsy_scheme *part = at;

        part->kernels = s->kernels;
        if (part->mech->sampled != NULL)
            hsy_sampled_cpu(part);
    }
}

void hsy_tally_part(hsy_tally *part, const hsy_tally *t, const hsy_scheme *s,
                    size_t i)
{
    const hsy_scheme *own = hsy_scheme_part(s, i);

    *part = *t;
    for (size_t k = 0; k < i; k++) {
        const hsy_scheme *before = hsy_scheme_part(s, k);

        part->cells += before->cells;
        part->strata += before->strata;
        if (part->weights != NULL)
            part->weights += before->weights;
    }
    part->ncells = own->cells;
    part->nstrata = own->strata;
    part->nweights = own->weights;
    if (own->weights == 0)
        part->weights = NULL;
}

/* ---- One report ---------------------------------------------------------- */

static size_t sampled_index(const hsy_scheme *s, const uint8_t *report)
{
    if (!sampled_short(s))
        return report[0];
    return (size_t)(report_get(report, s->report_bytes) &
                    (((uint64_t)1 << sampled_index_bits(s)) - 1));
}

/* The part's own report, in out unless it stands there whole. */
static const uint8_t *sampled_take(const hsy_scheme *s, const hsy_scheme *part,
                                   uint8_t out[8], const uint8_t *report)
{
    if (!sampled_short(s))
        return report + 1;
    report_put(out, part->report_bytes,
               report_get(report, s->report_bytes) >> sampled_index_bits(s));
    return out;
}

static void sampled_put(const hsy_scheme *s, uint8_t *report, size_t i,
                        const uint8_t *own)
{
    const size_t bytes = hsy_scheme_part(s, i)->report_bytes;

    if (sampled_short(s)) {
        report_put(report, s->report_bytes,
                   i | report_get(own, bytes) << sampled_index_bits(s));
        return;
    }
    report[0] = (uint8_t)i;
    memmove(report + 1, own, bytes);
    memset(report + 1 + bytes, 0, s->report_bytes - 1 - bytes);
}

static hsy_status sampled_one(const hsy_scheme *s, uint8_t *report,
                              const uint64_t *codes, hsy_coins *coins)
{
    const uint64_t parts = hsy_scheme_parts(s);
    const hsy_scheme *part;
    uint8_t room[8], *own = sampled_short(s) ? room : report + 1;
    uint64_t i = 0, sub;
    hsy_status st =
        hsy_prob_below(&i, parts, hsy_prob_excess(parts), &coins->published);

    if (st != HSY_OK)
        return st;
    part = hsy_scheme_part(s, i);
    sub = s->mech->sampled->code(s, codes, i);
    st = part->mech->randomize(part, own, sub, coins);
    if (st == HSY_OK)
        sampled_put(s, report, i, own);
    bytes_wipe(&sub, sizeof sub);
    return st;
}

hsy_status hsy_sampled_randomize(const hsy_scheme *s, uint8_t *report,
                                 uint64_t code, hsy_coins *coins)
{
    return sampled_one(s, report, &code, coins);
}

/* Nothing stands outside the part's report, which is one. */
static bool sampled_sound(const hsy_scheme *s, const uint8_t *report)
{
    const size_t i = sampled_index(s, report);
    const hsy_scheme *part;
    uint8_t room[8], rest = 0;

    if (i >= hsy_scheme_parts(s))
        return false;
    part = hsy_scheme_part(s, i);
    if (sampled_short(s)) {
        uint64_t own =
            report_get(report, s->report_bytes) >> sampled_index_bits(s);

        if (part->report_bits < 64 && own >> part->report_bits != 0)
            return false;
    } else {
        for (size_t k = 1 + part->report_bytes; k < s->report_bytes; k++)
            rest |= report[k];
    }
    return rest == 0 &&
           part->mech->check(part, sampled_take(s, part, room, report), 1) == 1;
}

size_t hsy_sampled_check(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    size_t i = 0;

    while (i < n && sampled_sound(s, reports + i * s->report_bytes))
        i++;
    return i;
}

/* ---- Blocks: reports grouped by part ------------------------------------- */

/* Reports of a block in the order of their parts. Codes are secret. */
struct sampled_block {
    uint8_t index[SAMPLED_BLOCK];         /* part of each report */
    uint16_t order[SAMPLED_BLOCK];        /* reports by part */
    uint16_t from[SAMPLED_PARTS_MAX + 1]; /* where a part begins in order */
    uint64_t codes[SAMPLED_BLOCK];
    uint64_t words[SAMPLED_BLOCK];
    uint8_t own[SAMPLED_ROOM];
};

/* How many reports a block takes: their parts' reports fit into its room. */
static size_t sampled_block_size(const hsy_scheme *s)
{
    size_t fits = SAMPLED_ROOM / s->report_bytes;

    return fits < SAMPLED_BLOCK ? fits : SAMPLED_BLOCK;
}

/* order and from, of the n parts in index. */
static void sampled_group(const hsy_scheme *s, struct sampled_block *b,
                          size_t n)
{
    const size_t parts = hsy_scheme_parts(s);
    uint16_t next[SAMPLED_PARTS_MAX + 1] = {0};

    for (size_t k = 0; k < n; k++)
        next[b->index[k] + 1]++;
    for (size_t i = 0; i < parts; i++)
        next[i + 1] = (uint16_t)(next[i + 1] + next[i]);
    memcpy(b->from, next, sizeof next);
    for (size_t k = 0; k < n; k++)
        b->order[next[b->index[k]]++] = (uint16_t)k;
}

/* n parts drawn uniformly, as hsy_prob_below draws one. */
static hsy_status sampled_draw(const hsy_scheme *s, struct sampled_block *b,
                               size_t n, hsy_rng *rng)
{
    const uint64_t parts = hsy_scheme_parts(s), excess = hsy_prob_excess(parts);
    hsy_status st = draw_words(b->words, n, rng);

    for (size_t k = 0; k < n && st == HSY_OK; k++) {
        uint64_t i = (uint64_t)((hsy_u128)b->words[k] * parts >> 64);

        if (b->words[k] * parts < excess)
            st = hsy_prob_below(&i, parts, excess, rng);
        b->index[k] = (uint8_t)i;
    }
    return st;
}

/* The reports of a block that answer part i. */
static hsy_status sampled_batch_part(const hsy_scheme *s,
                                     struct sampled_block *b, uint8_t *reports,
                                     const uint64_t *codes, size_t i,
                                     hsy_coins *coins)
{
    const hsy_scheme *part = hsy_scheme_part(s, i);
    const uint16_t *order = b->order + b->from[i];
    const size_t n = b->from[i + 1] - b->from[i], width = hsy_code_width(s);
    hsy_status st;

    if (n == 0)
        return HSY_OK;
    for (size_t k = 0; k < n; k++)
        b->codes[k] = s->mech->sampled->code(s, codes + order[k] * width, i);
    st = part->mech->randomize_batch(part, b->own, b->codes, n, coins);
    for (size_t k = 0; k < n && st == HSY_OK; k++)
        sampled_put(s, reports + order[k] * s->report_bytes, i,
                    b->own + k * part->report_bytes);
    return st;
}

static hsy_status sampled_batch_block(const hsy_scheme *s,
                                      struct sampled_block *b, uint8_t *reports,
                                      const uint64_t *codes, size_t n,
                                      hsy_coins *coins)
{
    hsy_status st = sampled_draw(s, b, n, &coins->published);

    if (st != HSY_OK)
        return st;
    sampled_group(s, b, n);
    for (size_t i = 0; i < hsy_scheme_parts(s) && st == HSY_OK; i++)
        st = sampled_batch_part(s, b, reports, codes, i, coins);
    return st;
}

hsy_status hsy_sampled_batch(const hsy_scheme *s, uint8_t *reports,
                             const uint64_t *codes, size_t n, hsy_coins *coins)
{
    const size_t most = sampled_block_size(s), width = hsy_code_width(s);
    struct sampled_block block;
    hsy_status st = HSY_OK;

    for (size_t k = 0; k < n && most < 2 && st == HSY_OK; k++)
        st = sampled_one(s, reports + k * s->report_bytes, codes + k * width,
                         coins);
    for (size_t done = 0; done < n && most >= 2 && st == HSY_OK; done += most)
        st = sampled_batch_block(s, &block, reports + done * s->report_bytes,
                                 codes + done * width,
                                 n - done < most ? n - done : most, coins);
    bytes_wipe(&block, sizeof block);
    return st;
}

/* Count the reports of a block that answer part i. */
static void sampled_tally_part(const hsy_scheme *s, struct sampled_block *b,
                               hsy_tally *t, const uint8_t *reports, size_t i)
{
    const hsy_scheme *part = hsy_scheme_part(s, i);
    const size_t n = b->from[i + 1] - b->from[i], bytes = part->report_bytes;
    hsy_tally own;

    if (n == 0)
        return;
    for (size_t k = 0; k < n; k++) {
        const uint8_t *report =
            reports + b->order[b->from[i] + k] * s->report_bytes;
        uint8_t room[8];

        memcpy(b->own + k * bytes, sampled_take(s, part, room, report), bytes);
    }
    hsy_tally_part(&own, t, s, i);
    part->mech->tally(part, &own, b->own, n);
}

static void sampled_tally_one(const hsy_scheme *s, hsy_tally *t,
                              const uint8_t *report)
{
    const size_t i = sampled_index(s, report);
    const hsy_scheme *part = hsy_scheme_part(s, i);
    hsy_tally own;

    hsy_tally_part(&own, t, s, i);
    part->mech->tally(part, &own, report + 1, 1);
}

void hsy_sampled_tally(const hsy_scheme *s, hsy_tally *t,
                       const uint8_t *reports, size_t n)
{
    const size_t most = sampled_block_size(s);
    struct sampled_block block;

    for (size_t k = 0; k < n && most < 2; k++) /* long ones, so not a number */
        sampled_tally_one(s, t, reports + k * s->report_bytes);
    for (size_t done = 0; done < n && most >= 2; done += most) {
        const size_t m = n - done < most ? n - done : most;
        const uint8_t *from = reports + done * s->report_bytes;

        for (size_t k = 0; k < m; k++)
            block.index[k] =
                (uint8_t)sampled_index(s, from + k * s->report_bytes);
        sampled_group(s, &block, m);
        for (size_t i = 0; i < hsy_scheme_parts(s); i++)
            sampled_tally_part(s, &block, t, from, i);
    }
}

/* ---- Laws ---------------------------------------------------------------- */

size_t hsy_sampled_law_factors(const hsy_scheme *s)
{
    size_t most = 0;

    for (size_t i = 0; i < hsy_scheme_parts(s); i++) {
        size_t own = hsy_law_factors(hsy_scheme_part(s, i));

        most = own > most ? own : most;
    }
    return most + 1;
}

size_t hsy_sampled_law_codes(const hsy_scheme *s, hsy_factor *factors,
                             const uint64_t *codes, const uint8_t *report)
{
    const size_t i = sampled_index(s, report);
    const hsy_scheme *part = hsy_scheme_part(s, i);
    uint8_t room[8];

    factors[0] = (hsy_factor){1, hsy_scheme_parts(s)};
    return 1 + part->mech->law(part, factors + 1,
                               s->mech->sampled->code(s, codes, i),
                               sampled_take(s, part, room, report));
}

size_t hsy_sampled_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                       const uint8_t *report)
{
    return hsy_sampled_law_codes(s, factors, &code, report);
}

/* An integer of up to eight factors below 2^64 + 1, least limb first. */
struct sampled_product {
    uint64_t limb[9];
};

/* Times x, where 0 stands for 2^64: then all limbs move up by one. */
static void sampled_times(struct sampled_product *p, uint64_t x)
{
    uint64_t carry = 0;

    for (size_t i = 0; i < 9; i++) {
        hsy_u128 sum = (hsy_u128)p->limb[i] * x + carry;
        uint64_t below = carry;

        carry = x == 0 ? p->limb[i] : (uint64_t)(sum >> 64);
        p->limb[i] = x == 0 ? below : (uint64_t)sum;
    }
}

/* Whether the product of ratios a is larger than b's: cross-multiplied. */
static bool sampled_worse(const hsy_factor *a, size_t na, const hsy_factor *b,
                          size_t nb)
{
    struct sampled_product left = {{1}}, right = {{1}};
    size_t i = 8;

    for (size_t k = 0; k < na; k++) {
        sampled_times(&left, a[k].num);
        sampled_times(&right, a[k].den);
    }
    for (size_t k = 0; k < nb; k++) {
        sampled_times(&left, b[k].den);
        sampled_times(&right, b[k].num);
    }
    while (i > 0 && left.limb[i] == right.limb[i])
        i--;
    return left.limb[i] > right.limb[i];
}

size_t hsy_sampled_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    size_t count = 0;

    for (size_t i = 0; i < hsy_scheme_parts(s); i++) {
        const hsy_scheme *part = hsy_scheme_part(s, i);
        hsy_factor own[4];
        size_t n = part->mech->law_worst(part, own);

        if (i > 0 && !sampled_worse(own, n, factors, count))
            continue;
        memcpy(factors, own, n * sizeof *own);
        count = n;
    }
    return count;
}

#undef SAMPLED_BLOCK
#undef SAMPLED_ROOM
#undef SAMPLED_ALIGN
