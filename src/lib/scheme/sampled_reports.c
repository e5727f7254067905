/*
 * sampled_reports.c - reports that answer one of several parts: made, checked
 * and counted.
 *
 * Which part a report answers is public, so branching on it and grouping by it
 * is fine; the truth only passes through the part's own randomizer.
 */
#include "lib/bits/bytes.h"
#include "lib/bits/draw.h"
#include "lib/scheme/sampled.h"

#include <string.h>

#define SAMPLED_BLOCK 256 /* reports that are grouped by part at once */
#define SAMPLED_ROOM 8192 /* bytes of their parts' reports */

/* ---- One report ---------------------------------------------------------- */

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

/* What stands beside, into a report whose other bits are all there. */
static void sampled_put_beside(const hsy_scheme *s, uint8_t *report,
                               const uint8_t *own)
{
    const size_t bytes = sampled_beside(s)->report_bytes;

    if (sampled_short(s))
        report_put(report, s->report_bytes,
                   report_get(report, s->report_bytes) |
                       report_get(own, bytes) << sampled_beside_bit(s));
    else
        memmove(report + sampled_beside_byte(s), own, bytes);
}

static hsy_status sampled_one(const hsy_scheme *s, uint8_t *report,
                              const uint64_t *codes, hsy_coins *coins)
{
    const uint64_t drawn = sampled_drawn(s);
    const hsy_scheme *part, *last = sampled_beside(s);
    uint8_t room[8], *own = sampled_short(s) ? room : report + 1;
    uint64_t i = 0, sub;
    hsy_status st =
        hsy_prob_below(&i, drawn, hsy_prob_excess(drawn), &coins->published);

    if (st != HSY_OK)
        return st;
    part = hsy_scheme_part(s, i);
    sub = s->mech->parts->code(s, codes, i);
    st = part->mech->client->randomize(part, own, &sub, 1, coins);
    if (st == HSY_OK)
        sampled_put(s, report, i, own);
    if (st == HSY_OK && last != NULL) {
        own = sampled_short(s) ? room : report + sampled_beside_byte(s);
        sub = s->mech->parts->code(s, codes, drawn);
        st = last->mech->client->randomize(last, own, &sub, 1, coins);
        if (st == HSY_OK)
            sampled_put_beside(s, report, own);
    }
    bytes_wipe(&sub, sizeof sub);
    return st;
}

/* Nothing stands outside the answers, each of which is a report. */
static bool sampled_sound(const hsy_scheme *s, const uint8_t *report)
{
    const size_t i = sampled_index(s, report);
    const hsy_scheme *part, *last = sampled_beside(s);
    uint8_t room[8], rest = 0;

    if (i >= sampled_drawn(s))
        return false;
    if (sampled_short(s) && s->report_bits < 64 &&
        report_get(report, s->report_bytes) >> s->report_bits != 0)
        return false;
    part = hsy_scheme_part(s, i);
    if (sampled_short(s)) {
        if (part->report_bits < 64 &&
            sampled_middle(s, report) >> part->report_bits != 0)
            return false;
    } else {
        for (size_t k = 1 + part->report_bytes; k < sampled_beside_byte(s); k++)
            rest |= report[k];
    }
    if (last != NULL && last->mech->counting->check(
                            last, sampled_take_beside(s, room, report), 1) != 1)
        return false;
    return rest == 0 && part->mech->counting->check(
                            part, sampled_take(s, part, room, report), 1) == 1;
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
    uint16_t order[2 * SAMPLED_BLOCK];    /* reports by part */
    uint16_t from[SAMPLED_PARTS_MAX + 2]; /* where a part begins in order */
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
    const size_t parts = sampled_drawn(s);
    uint16_t next[SAMPLED_PARTS_MAX + 2] = {0};

    for (size_t k = 0; k < n; k++)
        next[b->index[k] + 1]++;
    for (size_t i = 0; i < parts; i++)
        next[i + 1] = (uint16_t)(next[i + 1] + next[i]);
    memcpy(b->from, next, sizeof next);
    for (size_t k = 0; k < n; k++)
        b->order[next[b->index[k]]++] = (uint16_t)k;
    if (!s->mech->parts->beside)
        return;
    b->from[parts + 1] = (uint16_t)(2 * n); /* all of them answer the last */
    for (size_t k = 0; k < n; k++)
        b->order[n + k] = (uint16_t)k;
}

/* n parts drawn uniformly, as hsy_prob_below draws one. */
static hsy_status sampled_draw(const hsy_scheme *s, struct sampled_block *b,
                               size_t n, hsy_rng *rng)
{
    const uint64_t parts = sampled_drawn(s), excess = hsy_prob_excess(parts);
    hsy_status st = draw_words(b->words, n, rng);

    for (size_t k = 0; k < n && st == HSY_OK; k++) {
        uint64_t i = (uint64_t)((hsy_u128)b->words[k] * parts >> 64);

        if (b->words[k] * parts < excess)
            st = hsy_prob_below(&i, parts, excess, rng);
        b->index[k] = (uint8_t)i;
    }
    return st;
}

/* Where reports get their coins: simulated if the streams are there. */
struct sampled_coins {
    hsy_coins *coins;
    hsy_stream *secret, *published;
};

static hsy_status sampled_make(const hsy_scheme *part, struct sampled_block *b,
                               size_t n, const struct sampled_coins *from)
{
    if (from->secret != NULL && part->mech->counting->simulate_batch != NULL)
        return part->mech->counting->simulate_batch(
            part, b->own, b->codes, n, from->secret, from->published);
    return part->mech->client->randomize(part, b->own, b->codes, n,
                                         from->coins);
}

/* The reports of a block that answer part i. */
static hsy_status sampled_batch_part(const hsy_scheme *s,
                                     struct sampled_block *b, uint8_t *reports,
                                     const uint64_t *codes, size_t i,
                                     const struct sampled_coins *from)
{
    const hsy_scheme *part = hsy_scheme_part(s, i);
    const uint16_t *order = b->order + b->from[i];
    const size_t n = b->from[i + 1] - b->from[i],
                 width = hsy_codes_per_truth(s);
    hsy_status st;

    if (n == 0)
        return HSY_OK;
    for (size_t k = 0; k < n; k++)
        b->codes[k] = s->mech->parts->code(s, codes + order[k] * width, i);
    st = sampled_make(part, b, n, from);
    for (size_t k = 0; k < n && st == HSY_OK; k++) {
        uint8_t *report = reports + order[k] * s->report_bytes;

        if (i == sampled_drawn(s))
            sampled_put_beside(s, report, b->own + k * part->report_bytes);
        else
            sampled_put(s, report, i, b->own + k * part->report_bytes);
    }
    return st;
}

static hsy_status sampled_batch_block(const hsy_scheme *s,
                                      struct sampled_block *b, uint8_t *reports,
                                      const uint64_t *codes, size_t n,
                                      const struct sampled_coins *from)
{
    hsy_status st = sampled_draw(s, b, n, &from->coins->published);

    if (st != HSY_OK)
        return st;
    sampled_group(s, b, n);
    for (size_t i = 0; i < hsy_scheme_parts(s) && st == HSY_OK; i++)
        st = sampled_batch_part(s, b, reports, codes, i, from);
    return st;
}

static hsy_status sampled_batch(const hsy_scheme *s, uint8_t *reports,
                                const uint64_t *codes, size_t n,
                                const struct sampled_coins *from)
{
    const size_t most = sampled_block_size(s), width = hsy_codes_per_truth(s);
    const bool alone = most < 2 || (n == 1 && from->secret == NULL);
    struct sampled_block block;
    hsy_status st = HSY_OK;

    for (size_t k = 0; k < n && alone && st == HSY_OK; k++)
        st = sampled_one(s, reports + k * s->report_bytes, codes + k * width,
                         from->coins);
    if (alone)
        return st;
    for (size_t done = 0; done < n && st == HSY_OK; done += most)
        st = sampled_batch_block(s, &block, reports + done * s->report_bytes,
                                 codes + done * width,
                                 n - done < most ? n - done : most, from);
    bytes_wipe(&block, sizeof block);
    return st;
}

hsy_status hsy_sampled_randomize(const hsy_scheme *s, uint8_t *reports,
                                 const uint64_t *codes, size_t n,
                                 hsy_coins *coins)
{
    const struct sampled_coins from = {coins, NULL, NULL};

    return sampled_batch(s, reports, codes, n, &from);
}

hsy_status hsy_sampled_simulate(const hsy_scheme *s, uint8_t *reports,
                                const uint64_t *codes, size_t n,
                                hsy_stream *secret, hsy_stream *published)
{
    hsy_coins coins = {hsy_stream_rng(secret), hsy_stream_rng(published)};
    const struct sampled_coins from = {&coins, secret, published};

    return sampled_batch(s, reports, codes, n, &from);
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

        memcpy(b->own + k * bytes,
               i == sampled_drawn(s) ? sampled_take_beside(s, room, report)
                                     : sampled_take(s, part, room, report),
               bytes);
    }
    hsy_tally_part(&own, t, s, i);
    part->mech->counting->tally(part, &own, b->own, n);
}

static void sampled_tally_one(const hsy_scheme *s, hsy_tally *t,
                              const uint8_t *report)
{
    const size_t i = sampled_index(s, report);
    const hsy_scheme *part = hsy_scheme_part(s, i), *last = sampled_beside(s);
    hsy_tally own;

    hsy_tally_part(&own, t, s, i);
    part->mech->counting->tally(part, &own, report + 1, 1);
    if (last == NULL)
        return;
    hsy_tally_part(&own, t, s, sampled_drawn(s));
    last->mech->counting->tally(last, &own, report + sampled_beside_byte(s), 1);
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

const struct mech_counting hsy_mech_sampled_counting = {
    .check = hsy_sampled_check,
    .tally = hsy_sampled_tally,
};
