/* rappor.c - a tally of RAPPOR's reports, decoded. */
#include "host/analysis/analysis.h"

#include <math.h>
#include <stdlib.h>

static hsy_status rappor_failed(hsy_error *err, hsy_status st, const char *msg)
{
    if (err != NULL)
        *err = (hsy_error){.status = st, .msg = msg};
    return st;
}

hsy_status shares_rappor_open(struct shares_rappor *r,
                              const struct shares_tally *t,
                              const uint64_t *codes, size_t candidates,
                              hsy_error *err)
{
    const hsy_scheme_info *info = t->info;
    const uint32_t h = (uint32_t)info->param[HSY_PARAM_HASHES];
    const uint32_t m = (uint32_t)info->param[HSY_PARAM_COHORTS];

    *r = (struct shares_rappor){
        .law = {.p = info->q,
                .q = info->p,
                .epsilon_report = info->epsilon_exact,
                .epsilon_permanent = info->epsilon_permanent > 0
                                         ? info->epsilon_permanent
                                         : INFINITY},
        .data = {.size = sizeof r->data,
                 .k = (uint32_t)info->param[HSY_PARAM_BITS],
                 .h = h,
                 .m = m,
                 .p = info->q,
                 .q = info->p,
                 .totals = t->tally->strata,
                 .ones = (const uint64_t *)t->tally->cells,
                 .candidates = candidates},
        .bits = malloc(candidates * m * h * sizeof *r->bits + 1)};
    if (r->bits == NULL)
        return rappor_failed(err, HSY_E_NOMEM, "out of memory");
    r->data.bits = r->bits;
    for (size_t i = 0; i < candidates; i++) {
        for (uint32_t c = 0; c < m; c++) {
            if (hsy_rappor_bits(t->scheme, codes != NULL ? codes[i] : i, c,
                                r->bits + (i * m + c) * h) != HSY_OK)
                return rappor_failed(err, HSY_E_RANGE, "no such candidate");
        }
    }
    return HSY_OK;
}

void shares_rappor_clear(struct shares_rappor *r)
{
    free(r->bits);
    *r = (struct shares_rappor){0};
}

/*
 * A bit is 1 with chance u if its kept bit is 1, with chance v if not; the kept
 * one is turned with chance f/2. So (u - v)^2 f/2 (1 - f/2) of its variance
 * comes again with every report of a slot. Of a population whose bits are, or
 * are not, set in people's filters at most (p - q)^2 / 4 comes again with every
 * report of a person. Both over the least variance that a bit has.
 */
double shares_rappor_dispersion(const struct shares_tally *t, hsy_target target)
{
    const double p = t->info->p, q = t->info->q;
    const double least = fmin(p * (1 - p), q * (1 - q));
    uint8_t wire[HSY_SCHEME_WIRE];
    hsy_spec spec;
    double chance[3], kept, sampled;

    if (t->attended == NULL)
        return 1;
    hsy_scheme_encode(t->scheme, wire);
    if (hsy_spec_decode(&spec, wire, NULL, t->info->labels_len, NULL) != HSY_OK)
        return 1 + t->attended->came;
    for (size_t i = 0; i < 3; i++)
        chance[i] = (double)spec.chance[i].num / (double)spec.chance[i].den;
    kept = chance[0] / 2 * (1 - chance[0] / 2) * (chance[2] - chance[1]) *
           (chance[2] - chance[1]);
    sampled = target == HSY_POPULATION ? (p - q) * (p - q) / 4 : 0;
    return 1 + t->attended->kept * fmin(1, kept / least) +
           t->attended->came * fmin(1, sampled / least);
}

hsy_status shares_rappor_decode(hsy_rappor_share **shares,
                                hsy_rappor_summary *summary,
                                const hsy_rappor_data *data,
                                const hsy_rappor_options *how, hsy_error *err)
{
    void *scratch = malloc(hsy_rappor_scratch(data) + 1);
    hsy_rappor_share *made = malloc(data->candidates * sizeof *made + 1);
    hsy_status st = HSY_E_NOMEM;

    if (scratch != NULL && made != NULL)
        st = hsy_rappor_decode(made, summary, data, how, scratch, err);
    else
        rappor_failed(err, st, "out of memory");
    free(scratch);
    if (st == HSY_OK)
        *shares = made;
    else
        free(made);
    return st;
}

double shares_rappor_level(const hsy_rappor_share *share,
                           const hsy_rappor_summary *summary, double level,
                           size_t shown, size_t all)
{
    size_t selected = shown;

    if (share->detected && summary->detected < selected)
        selected = summary->detected;
    return hsy_selected_level(level, selected, all);
}

size_t shares_rappor_unshown(hsy_estimate *est, const hsy_rappor_share *shares,
                             const hsy_rappor_summary *summary,
                             const struct shares_row *rows, size_t shown)
{
    size_t left = summary->detected;

    *est = (hsy_estimate){1 - summary->rest.value, NAN, NAN, NAN};
    for (size_t i = 0; i < shown; i++) {
        const hsy_rappor_share *share = &shares[rows[i].place];

        if (!share->detected)
            continue;
        est->value -= share->unbiased;
        left--;
    }
    return left;
}

const char *shares_rappor_doubt(const hsy_rappor_summary *summary)
{
    return summary->rest.high < 0
               ? "what is not detected lies wholly below 0: the detected "
                 "strings make more than 100 %; some reports were made up, or "
                 "made with other parameters"
               : NULL;
}

void shares_rappor_interval(hsy_estimate *est, const hsy_rappor_share *share,
                            double level)
{
    const double reach = -hsy_normal_quantile((1 - level) / 2);

    *est = share->est;
    est->low = share->unbiased - reach * est->sd;
    est->high = share->unbiased + reach * est->sd;
}
