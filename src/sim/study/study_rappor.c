/*
 * study_rappor.c - shares of a tally of rappor, all values being candidates.
 *
 * The regression alone (HSY_RAPPOR_NNLS), or the sampler if there are more
 * values than it takes: the unbiased shares with their standard errors, and the
 * non-negative ones, scaled to add up to 1, as a distribution.
 */
#include "sim/study/internal.h"

#include <math.h>
#include <stdlib.h>

struct rappor_room {
    hsy_rappor_data data;
    uint16_t *bits;
    hsy_rappor_share *shares;
    void *scratch;
};

/* hsy_scheme_info calls p what RAPPOR calls q: a bit that is set comes out 1.
 */
static hsy_rappor_data rappor_data(const hsy_scheme_info *info)
{
    return (hsy_rappor_data){.size = sizeof(hsy_rappor_data),
                             .k = (uint32_t)info->param[HSY_PARAM_BITS],
                             .h = (uint32_t)info->param[HSY_PARAM_HASHES],
                             .m = (uint32_t)info->param[HSY_PARAM_COHORTS],
                             .p = info->q,
                             .q = info->p,
                             .candidates = info->d};
}

static size_t rappor_places(const hsy_rappor_data *data)
{
    return data->candidates * data->m * data->h;
}

size_t study_rappor_bytes(const hsy_scheme_info *info)
{
    const hsy_rappor_data data = rappor_data(info);

    return hsy_rappor_scratch(&data) + rappor_places(&data) * sizeof(uint16_t) +
           data.candidates * sizeof(hsy_rappor_share);
}

static hsy_status rappor_open(struct rappor_room *r, const hsy_scheme *s,
                              const hsy_scheme_info *info, const hsy_tally *t,
                              hsy_error *err)
{
    hsy_status st = HSY_OK;
    uint16_t *at;

    r->data = rappor_data(info);
    r->bits = at = calloc(rappor_places(&r->data), sizeof *r->bits);
    r->shares = calloc(info->d, sizeof *r->shares);
    r->scratch = malloc(hsy_rappor_scratch(&r->data) + 1);
    if (r->bits == NULL || r->shares == NULL || r->scratch == NULL)
        return study_nomem(err);
    r->data.totals = t->strata;
    r->data.ones = (const uint64_t *)t->cells;
    r->data.bits = r->bits;
    for (size_t v = 0; v < info->d; v++)
        for (uint32_t c = 0; st == HSY_OK && c < r->data.m; c++) {
            st = hsy_rappor_bits(s, v, c, at);
            at += r->data.h;
        }
    return st;
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
                        const hsy_scheme_info *info, const hsy_tally *t,
                        hsy_error *err)
{
    hsy_rappor_options how = {.size = sizeof how,
                              .method = HSY_RAPPOR_NNLS,
                              .level = STUDY_LEVEL,
                              .target = HSY_PEOPLE};
    hsy_rappor_summary summary;
    struct rappor_room r = {0};
    hsy_status st = rappor_open(&r, s, info, t, err);

    if (st == HSY_OK)
        st = hsy_rappor_decode(r.shares, &summary, &r.data, &how, r.scratch,
                               err);
    if (st == HSY_E_RANGE) {
        how.method = HSY_RAPPOR_SAMPLER;
        st = hsy_rappor_decode(r.shares, &summary, &r.data, &how, r.scratch,
                               err);
    }
    if (st == HSY_OK)
        rappor_take(b, r.shares, info->d);
    free(r.bits);
    free(r.shares);
    free(r.scratch);
    return st;
}
