/*
 * reports.c - the tally of a population's reports.
 *
 * Where the law of the whole tally is known it is drawn at once, in steps that
 * do not depend on how many people there are (theory 11.7):
 *
 *     rr, onebit   ones: of each truth x, Bin(n_x, P[1 | x]), added up
 *     sue, oue     the count of v: Bin(n_v, p) + Bin(n - n_v, q); bits are
 *                  independent, so counts are
 *     grr          Bin(n_v, p - q) keep their value; the others report any of
 *                  the d values alike: a multinomial
 *
 * p and q are those of the integers in use. The weights of unary reports, which
 * no estimate reads, are left empty. Everybody else reports one by one, by
 * hsy_simulate_batch.
 */
#include "sim/study/internal.h"

/* ---- At once ------------------------------------------------------------- */

static void reports_bit(hsy_tally *t, const hsy_scheme_info *info,
                        const struct study_truths *truths, hsy_stream *st)
{
    const double most = info->kind == HSY_KIND_NUMBER
                            ? (double)((uint64_t)info->hi - (uint64_t)info->lo)
                            : 1;

    for (size_t i = 0; i < truths->n; i++) {
        const double x = (double)truths->codes[i] / most;

        t->cells[0] += (int64_t)hsy_binomial_draw(
            truths->counts[i], (1 - x) * info->q + x * info->p, st);
    }
}

static void reports_unary(hsy_tally *t, const hsy_scheme_info *info,
                          const struct study_truths *truths, hsy_stream *st)
{
    for (size_t i = 0; i < truths->n; i++)
        t->cells[truths->codes[i]] += (int64_t)truths->counts[i];
    for (size_t v = 0; v < t->ncells; v++) {
        const uint64_t own = (uint64_t)t->cells[v];

        t->cells[v] =
            (int64_t)(hsy_binomial_draw(own, info->p, st) +
                      hsy_binomial_draw(truths->users - own, info->q, st));
    }
}

static void reports_direct(hsy_tally *t, const hsy_scheme_info *info,
                           const struct study_truths *truths, hsy_stream *st)
{
    uint64_t left = truths->users;

    for (size_t i = 0; i < truths->n; i++) {
        const uint64_t kept =
            hsy_binomial_draw(truths->counts[i], info->p - info->q, st);

        t->cells[truths->codes[i]] += (int64_t)kept;
        left -= kept;
    }
    for (size_t v = 0; v < t->ncells; v++) {
        const uint64_t some =
            hsy_binomial_draw(left, 1 / (double)(t->ncells - v), st);

        t->cells[v] += (int64_t)some;
        left -= some;
    }
}

static void (*const reports_laws[])(hsy_tally *t, const hsy_scheme_info *info,
                                    const struct study_truths *truths,
                                    hsy_stream *st) = {
    [HSY_CELLS_BIT] = reports_bit,
    [HSY_CELLS_UNARY] = reports_unary,
    [HSY_CELLS_DIRECT] = reports_direct,
};

bool study_at_once(const hsy_scheme_info *info)
{
    return reports_laws[info->cell_law] != NULL;
}

void study_draw(hsy_tally *t, const hsy_scheme_info *info,
                const struct study_truths *truths, hsy_stream *st)
{
    reports_laws[info->cell_law](t, info, truths, st);
    t->strata[0] = truths->users;
}

/* ---- One by one ---------------------------------------------------------- */

#define REPORTS_CHUNK 16384u
#define REPORTS_BYTES ((size_t)8 << 20) /* of a chunk's reports, about */

size_t study_chunk(const hsy_scheme_info *info)
{
    const size_t fit = REPORTS_BYTES / (info->report_bytes + 1);

    return fit < 1 ? 1 : fit < REPORTS_CHUNK ? fit : REPORTS_CHUNK;
}

void study_desk_open(struct study_desk *desk, struct owned *owned,
                     const hsy_scheme *s, size_t report_bytes)
{
    desk->codes = owned_array(owned, desk->chunk, sizeof *desk->codes);
    desk->reports = owned_array(owned, desk->chunk, report_bytes);
    desk->scratch = owned_array(owned, 1, hsy_tally_scratch(s, desk->chunk));
}

/* The truth of person number `who`: the first whose end lies behind. */
static size_t reports_truth(const struct study_truths *truths, uint64_t who)
{
    size_t low = 0, high = truths->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (truths->ends[middle] > who)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Codes of the people from number `who` on; how many there are. */
static size_t reports_codes(uint64_t *codes, size_t room,
                            const struct study_truths *truths, uint64_t who)
{
    size_t n = 0, i = reports_truth(truths, who);

    for (; i < truths->n && n < room; i++)
        for (; who < truths->ends[i] && n < room; who++)
            codes[n++] = truths->codes[i];
    return n;
}

hsy_status study_report(hsy_tally *t, const hsy_scheme *s,
                        const struct study_desk *desk,
                        const struct study_truths *truths, uint64_t which,
                        hsy_stream *secret, hsy_stream *published,
                        hsy_error *err)
{
    const size_t n =
        reports_codes(desk->codes, desk->chunk, truths, which * desk->chunk);
    hsy_status st = hsy_simulate_batch(s, desk->reports, desk->codes, n, secret,
                                       published, err);

    return st == HSY_OK
               ? hsy_tally_bulk(t, s, desk->reports, n, desk->scratch, err)
               : st;
}
