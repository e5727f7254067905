/*
 * coverage_counts.h - reports of many rounds as counts: drawn from their law at
 * once, where it is that of a few numbers.
 */
#ifndef COVERAGE_COUNTS_H
#define COVERAGE_COUNTS_H

#include "coverage_attendance.h"

/*
 * Outputs: of rr, grr and onebit, whose answer is one byte of few values: a
 * report has
 * its answer's value with chance p2, else any other, each with chance q2
 * (hsy_permanent_describe). So of the W reports that are made from equal
 * answers, binomially many keep it and the others spread evenly: the same law,
 * and the answers themselves are real.
 */

static inline uint32_t permanent_values(const struct permanent_run *p)
{
    return p->poll.run.info.kind == HSY_KIND_VALUES ? p->poll.run.info.d : 2;
}

/* So many equal reports: a tally of one, doubled again and again. */
static inline hsy_status permanent_add(struct permanent_run *p, uint8_t value,
                                       uint64_t count)
{
    struct stat_run *r = &p->poll.run;
    const size_t words = hsy_tally_words(r->s);
    uint8_t report[8] = {value};
    hsy_tally one;
    hsy_status st;

    hsy_tally_init(&one, r->s, p->memory + words);
    st = hsy_tally_add(&one, r->s, report, NULL);
    for (; count != 0 && st == HSY_OK; count /= 2) {
        if (count % 2 == 1)
            st = hsy_tally_merge(&r->tally, &one, NULL);
        if (st == HSY_OK && count > 1)
            st = hsy_tally_merge(&one, &one, NULL);
    }
    return st;
}

/* The reports of all answers with one value. */
static inline hsy_status permanent_spread(struct permanent_run *p, uint32_t own,
                                          double keep)
{
    const uint32_t values = permanent_values(p);
    uint64_t left =
        p->sent[own] - hsy_binomial_draw(p->sent[own], keep, &p->secret);
    uint32_t others = values - 1;
    hsy_status st = permanent_add(p, (uint8_t)own, p->sent[own] - left);

    for (uint32_t v = 0; v < values && st == HSY_OK; v++) {
        uint64_t k;

        if (v == own)
            continue;
        k = others == 1 ? left
                        : hsy_binomial_draw(left, 1.0 / others, &p->secret);
        others--;
        left -= k;
        st = permanent_add(p, (uint8_t)v, k);
    }
    return st;
}

/*
 * Bits: of oue, dbitflip and RAPPOR. Each bit of a report is 1 with chance p2
 * if that of the answer is, else with q2, by itself; and the cells of a tally
 * add up the bits. So of each cell two binomial numbers are drawn, from the
 * reports whose answer has a 1 there and from those that have a 0.
 */

/* A tally of the answer alone, its bits set to 0, to 1, or left. */
static inline hsy_status permanent_one(struct permanent_run *p, hsy_tally *one,
                                       size_t at, int bit)
{
    const hsy_scheme *s = p->poll.run.s;
    const struct permanent_part part = s->mech->client->permanent->part(s);
    uint8_t report[64];

    if (s->report_bytes > sizeof report)
        return HSY_E_RANGE;
    memcpy(report, p->answer, s->report_bytes);
    for (uint32_t b = part.first; bit >= 0 && b < part.first + part.count; b++)
        report[b / 8] = (uint8_t)((report[b / 8] & ~(1u << b % 8)) |
                                  (unsigned)bit << b % 8);
    hsy_tally_init(one, s, p->memory + at * hsy_tally_words(s));
    return hsy_tally_add(one, s, report, NULL);
}

static inline hsy_status permanent_count_bits(struct permanent_run *p,
                                              uint32_t times)
{
    hsy_tally *all = &p->poll.run.tally, none, set, own;
    hsy_status st = permanent_one(p, &none, 1, 0);

    if (st == HSY_OK)
        st = permanent_one(p, &set, 2, 1);
    if (st == HSY_OK)
        st = permanent_one(p, &own, 3, -1);
    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < all->ncells; i++) {
        all->cells[i] += times * none.cells[i];
        p->asked[i] += times * (set.cells[i] - none.cells[i]);
        p->ones[i] += times * (own.cells[i] - none.cells[i]);
    }
    for (size_t i = 0; i < all->nstrata; i++)
        all->strata[i] += times * none.strata[i];
    return HSY_OK;
}

static inline hsy_status permanent_flip(struct permanent_run *p,
                                        const hsy_permanent_info *info)
{
    hsy_tally *all = &p->poll.run.tally;

    for (size_t i = 0; i < all->ncells; i++) {
        if (p->ones[i] < 0 || p->ones[i] > p->asked[i])
            return HSY_E_MISMATCH; /* not a sum of bits */
        all->cells[i] +=
            (int64_t)(hsy_binomial_draw((uint64_t)p->ones[i], info->p2,
                                        &p->secret) +
                      hsy_binomial_draw((uint64_t)(p->asked[i] - p->ones[i]),
                                        info->q2, &p->secret));
    }
    return HSY_OK;
}

static inline hsy_status permanent_expand(struct permanent_run *p)
{
    hsy_permanent_info info;
    hsy_status st = HSY_OK;

    hsy_permanent_describe(&p->memo, &info);
    if (p->form == PERMANENT_BITS)
        return permanent_flip(p, &info);
    if (fabs(info.p2 + (permanent_values(p) - 1) * info.q2 - 1) > 1e-9)
        return HSY_E_MISMATCH; /* not the law that is drawn from here */
    for (uint32_t v = 0; v < permanent_values(p) && st == HSY_OK; v++)
        st = permanent_spread(p, v, info.p2);
    return st;
}

#endif
