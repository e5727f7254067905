/*
 * study_rappor.c - shares of a tally of rappor, all values being candidates.
 *
 * The regression alone (HSY_RAPPOR_NNLS): its unbiased shares with their
 * standard errors, and the non-negative ones, scaled to add up to 1, as a
 * distribution.
 */
#include "study_parts.h"

#include <math.h>
#include <stdlib.h>

struct rappor_room {
    hsy_rappor_data data;
    uint16_t *bits;
    hsy_rappor_share *shares;
    void *scratch;
};

static hsy_status rappor_open(struct rappor_room *r, const hsy_scheme *s,
                              const hsy_info *info, const hsy_tally *t,
                              hsy_error *err)
{
    const uint32_t m = (uint32_t)info->param[HSY_PARAM_COHORTS];
    const uint32_t h = (uint32_t)info->param[HSY_PARAM_HASHES];
    hsy_status st = HSY_OK;

    /* hsy_info calls p what RAPPOR calls q: a bit that is set comes out 1. */
    r->data = (hsy_rappor_data){.size = sizeof r->data,
                                .k = (uint32_t)info->param[HSY_PARAM_BITS],
                                .h = h,
                                .m = m,
                                .p = info->q,
                                .q = info->p,
                                .totals = t->strata,
                                .ones = (const uint64_t *)t->cells,
                                .candidates = info->d};
    r->bits = calloc((size_t)info->d * m * h, sizeof *r->bits);
    r->shares = calloc(info->d, sizeof *r->shares);
    if (r->bits == NULL || r->shares == NULL)
        return study_nomem(err);
    for (size_t v = 0; v < info->d; v++)
        for (uint32_t c = 0; st == HSY_OK && c < m; c++)
            st = hsy_rappor_bits(s, v, c, r->bits + (v * m + c) * h);
    r->data.bits = r->bits;
    r->scratch = malloc(hsy_rappor_scratch(&r->data) + 1);
    return r->scratch != NULL ? st : study_nomem(err);
}

static void rappor_take(struct study_bench *b, const hsy_rappor_share *shares,
                        size_t d)
{
    double sum = 0;

    for (size_t i = 0; i < d; i++) {
        b->values[i] = shares[i].unbiased;
        b->estimates[i] = shares[i].est;
        b->estimates[i].value = shares[i].unbiased;
        b->variances[i] = shares[i].est.sd * shares[i].est.sd;
        b->shares[i] = fmax(shares[i].est.value, 0);
        sum += b->shares[i];
    }
    for (size_t i = 0; i < d; i++)
        b->shares[i] = sum > 0 ? b->shares[i] / sum : 1 / (double)d;
}

hsy_status study_rappor(struct study_bench *b, const hsy_scheme *s,
                        const hsy_info *info, const hsy_tally *t,
                        hsy_error *err)
{
    const hsy_rappor_options how = {.size = sizeof how,
                                    .method = HSY_RAPPOR_NNLS,
                                    .level = STUDY_LEVEL,
                                    .target = HSY_PEOPLE};
    hsy_rappor_summary summary;
    struct rappor_room r = {0};
    hsy_status st = rappor_open(&r, s, info, t, err);

    if (st == HSY_OK)
        st = hsy_rappor_decode(r.shares, &summary, &r.data, &how, r.scratch,
                               err);
    if (st == HSY_OK)
        rappor_take(b, r.shares, info->d);
    free(r.bits);
    free(r.shares);
    free(r.scratch);
    return st;
}
