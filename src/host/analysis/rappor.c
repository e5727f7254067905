/* rappor.c - a tally of RAPPOR's reports, decoded. */
#include "host/analysis/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* hsy_scheme_info calls p what RAPPOR calls q: a bit that is set comes out 1.
 */
hsy_rappor_data analysis_rappor_data(const hsy_scheme_info *info,
                                     size_t candidates)
{
    return (hsy_rappor_data){.size = sizeof(hsy_rappor_data),
                             .k = (uint32_t)info->param[HSY_PARAM_FILTER_BITS],
                             .h = (uint32_t)info->param[HSY_PARAM_HASHES],
                             .m = (uint32_t)info->param[HSY_PARAM_COHORTS],
                             .p = info->q,
                             .q = info->p,
                             .candidates = candidates};
}

hsy_status analysis_rappor_open(struct analysis_rappor *r,
                                const hsy_analysis_tally *t,
                                const uint64_t *codes, size_t candidates,
                                hsy_error *err)
{
    const hsy_scheme_info *info = t->info;
    const hsy_rappor_data data = analysis_rappor_data(info, candidates);
    const uint32_t h = data.h, m = data.m;

    *r = (struct analysis_rappor){
        .law = {.p = info->q,
                .q = info->p,
                .epsilon_report = info->epsilon_exact,
                .epsilon_permanent = info->epsilon_permanent > 0
                                         ? info->epsilon_permanent
                                         : INFINITY},
        .data = data,
        .bits = malloc(candidates * m * h * sizeof *r->bits + 1)};
    r->data.totals = t->tally->strata;
    r->data.ones = (const uint64_t *)t->tally->cells;
    if (r->bits == NULL)
        return host_nomem(err);
    r->data.bits = r->bits;
    for (size_t i = 0; i < candidates; i++) {
        for (uint32_t c = 0; c < m; c++) {
            if (hsy_rappor_bits(t->scheme, r->bits + (i * m + c) * h,
                                codes != NULL ? codes[i] : i, c) != HSY_OK)
                return host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE,
                                 "no such candidate");
        }
    }
    return HSY_OK;
}

void analysis_rappor_clear(struct analysis_rappor *r)
{
    free(r->bits);
    *r = (struct analysis_rappor){0};
}

/*
 * A bit is 1 with chance u if its kept bit is 1, with chance v if not; the kept
 * one is turned with chance f/2. So (u - v)^2 f/2 (1 - f/2) of its variance
 * comes again with every report of a slot. Of a population whose bits are, or
 * are not, set in people's filters at most (p - q)^2 / 4 comes again with every
 * report of a person. Both over the least variance that a bit has.
 */
double analysis_rappor_dispersion(const hsy_analysis_tally *t,
                                  hsy_target target)
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

hsy_status analysis_rappor_decode(hsy_rappor_share **shares,
                                  hsy_rappor_summary *summary,
                                  const hsy_rappor_data *data,
                                  const hsy_rappor_options *how, hsy_error *err)
{
    void *scratch = malloc(hsy_rappor_scratch(data) + 1);
    hsy_rappor_share *made = malloc(data->candidates * sizeof *made + 1);
    hsy_status st = HSY_E_NOMEM;

    if (scratch != NULL && made != NULL)
        st = hsy_rappor_decode(data, made, summary, how, scratch, err);
    else
        host_nomem(err);
    free(scratch);
    if (st == HSY_OK)
        *shares = made;
    else
        free(made);
    return st;
}

/* The level of a row's interval, where `shown` rows are the largest of all
 * candidates and others are not shown: it is adjusted for that, and for having
 * been detected. */
static double rappor_level(const hsy_rappor_share *share,
                           const hsy_rappor_summary *summary, double level,
                           size_t shown, size_t all)
{
    size_t selected = shown;

    if (share->detected && summary->detected < selected)
        selected = summary->detected;
    return hsy_selected_level(level, selected, all);
}

/* Detected strings together that are not among those shown, places of which are
 * given: 1 is they, the detected ones that are shown, and the summary's rest.
 * Their number; 0: there are none. How they vary together is not known: est has
 * no error. */
static size_t rappor_unshown(hsy_estimate *est, const hsy_rappor_share *shares,
                             const hsy_rappor_summary *summary,
                             const hsy_analysis_row *rows, size_t shown)
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

/* Its interval at this level. */
static void rappor_interval(hsy_estimate *est, const hsy_rappor_share *share,
                            double level)
{
    const double reach = -hsy_normal_quantile((1 - level) / 2);

    *est = share->est;
    est->low = share->unbiased - reach * est->sd;
    est->high = share->unbiased + reach * est->sd;
}

/* ---- Rows ---------------------------------------------------------------- */

/* How a request decodes. */
static hsy_rappor_options rappor_how(const hsy_analysis_result *out,
                                     const hsy_analysis_request *q)
{
    hsy_rappor_options how = q->rappor;

    how.size = sizeof how;
    how.alpha = how.alpha > 0 ? how.alpha : 0.1;
    how.level = out->how.level;
    how.target = out->how.target;
    return how;
}

/* One row from its share: a tally's estimates are unbiased like any other's,
 * with the decoder's best guess beside them; of RAPPOR's files the guess comes
 * first. */
static void rappor_row(hsy_analysis_row *row, const hsy_analysis_result *out,
                       const hsy_rappor_share *share, size_t shown)
{
    row->level = rappor_level(share, &out->summary, out->how.level, shown,
                              out->candidates);
    rappor_interval(&row->est, share, row->level);
    row->post = share->est.value;
    row->unbiased = share->unbiased;
    if (!out->from_files)
        row->est.value = share->unbiased;
    row->p_zero = share->p_zero;
    row->q_value = share->q;
    row->detected = share->detected;
}

/* All candidates, or the detected ones; then the largest alone. */
static hsy_status rappor_rows(hsy_analysis_result *out,
                              const hsy_rappor_share *shares, bool all,
                              uint64_t top, hsy_error *err)
{
    out->rows = calloc(out->candidates + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return host_nomem(err);
    for (size_t i = 0; i < out->candidates; i++)
        if (all || shares[i].detected) {
            out->rows[out->count].est.value = shares[i].unbiased;
            out->rows[out->count++].place = (uint32_t)i;
        }
    if (top != 0)
        analysis_top(out->rows, &out->count, top, false);
    out->unshown = rappor_unshown(&out->not_shown, shares, &out->summary,
                                  out->rows, out->count);
    for (size_t i = 0; i < out->count; i++)
        rappor_row(&out->rows[i], out, &shares[out->rows[i].place],
                   top != 0 ? out->count : out->candidates);
    return HSY_OK;
}

/* What is not detected, with the value of the rows above it: the column of best
 * guesses adds up to 1, as that of unbiased estimates does. */
static hsy_estimate rappor_rest(const hsy_analysis_result *out,
                                const hsy_rappor_share *shares)
{
    hsy_estimate rest = out->summary.rest;

    if (!out->from_files)
        return rest;
    rest.value = 1;
    for (size_t i = 0; i < out->candidates; i++)
        if (shares[i].detected)
            rest.value -= shares[i].est.value;
    return rest;
}

/* Decode, and what that says of all candidates. */
static hsy_status rappor_result(hsy_analysis_result *out,
                                const hsy_rappor_data *data, bool all,
                                uint64_t top, hsy_error *err)
{
    const hsy_analysis_note doubt = {.code = HSY_DOUBT_DETECTED};
    hsy_rappor_share *shares = NULL;
    hsy_status st =
        analysis_rappor_decode(&shares, &out->summary, data, &out->rappor, err);

    if (st != HSY_OK)
        return st;
    out->candidates = out->of = data->candidates;
    out->selected = out->summary.detected;
    out->level_selected = out->summary.level_selected;
    out->largest_first = top != 0;
    out->has_rest = true;
    out->rest = rappor_rest(out, shares);
    out->tested = true;
    out->columns |=
        1u << HSY_COLUMN_P_ZERO | 1u << HSY_COLUMN_Q_VALUE |
        1u << HSY_COLUMN_LEVEL | 1u << HSY_COLUMN_DETECTED |
        1u << (out->from_files ? HSY_COLUMN_UNBIASED : HSY_COLUMN_POST);
    st = rappor_rows(out, shares, all, top, err);
    if (st == HSY_OK && out->rest.high < 0)
        st = analysis_note(out, &doubt, err);
    free(shares);
    return st;
}

hsy_status analysis_by_rappor(struct analysis_job *j, hsy_error *err)
{
    hsy_analysis_result *out = j->out;
    struct analysis_rappor r = {0};
    hsy_status st = analysis_no_difference(j, err);

    if (st == HSY_OK)
        st = analysis_rappor_open(&r, &j->t, j->asked.codes, j->asked.count,
                                  err);
    if (st == HSY_OK)
        st = analysis_doubt_few(j, 0, err);
    if (st == HSY_OK) {
        out->law = r.law;
        out->rappor = rappor_how(out, j->request);
        out->rappor.dispersion =
            analysis_rappor_dispersion(&j->t, out->how.target);
        st = rappor_result(out, &r.data, true, j->request->top, err);
    }
    analysis_rappor_clear(&r);
    return st;
}

/* ---- RAPPOR's own files -------------------------------------------------- */

/* What files say of themselves, in place of a scheme. */
static void rappor_about(hsy_scheme_info *info, const hsy_rappor_law *law)
{
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        if (row->analysis == HSY_ANALYSIS_RAPPOR)
            info->mechanism = row->name;
    info->analysis = HSY_ANALYSIS_RAPPOR;
    info->kind = HSY_KIND_STRINGS;
    info->epsilon_exact = law->epsilon_report;
    if (isfinite(law->epsilon_permanent))
        info->epsilon_permanent = law->epsilon_permanent;
}

hsy_status analysis_rappor_files(hsy_analysis_result *out,
                                 const hsy_rappor_law *law,
                                 const hsy_rappor_data *data,
                                 const hsy_analysis_text *names, bool all,
                                 const hsy_analysis_request *request,
                                 hsy_error *err)
{
    struct analysis_asked asked = {.nnames = data->candidates};
    hsy_status st;

    analysis_begin(out, request);
    rappor_about(&out->info, law);
    out->from_files = true;
    out->law = *law;
    out->rappor = rappor_how(out, request);
    asked.names = malloc((data->candidates + 1) * sizeof *asked.names);
    if (asked.names == NULL)
        return host_nomem(err);
    memcpy(asked.names, names, data->candidates * sizeof *names);
    st = rappor_result(out, data, all, 0, err);
    out->reports = out->summary.reports;
    if (st == HSY_OK)
        st = analysis_name_rows(out, &asked, err);
    analysis_asked_clear(&asked);
    if (st != HSY_OK)
        hsy_analysis_clear(out);
    return st;
}
