/* run.c - a tally, or two, and a request become one result. */
#include "host/analysis/internal.h"

#include <math.h>
#include <stdlib.h>

static hsy_status run_check(const hsy_analysis_request *q, hsy_error *err)
{
    if (q->size != sizeof *q)
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_SIZE,
                         "not that of this library's request");
    if (!(q->level >= 0 && q->level < 1))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_LEVEL,
                         "a fraction between 0 and 1 is wanted");
    if (!(q->lying >= 0 && q->lying < 1))
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_LYING,
                         "a share from 0 to less than 1 is wanted");
    return HSY_OK;
}

static hsy_interval run_interval(const hsy_analysis_request *q)
{
    if (q->interval != HSY_INTERVAL_AUTO)
        return q->interval;
    return q->target == HSY_PEOPLE ? HSY_SCORE : HSY_WILSON;
}

/* What a tally is, whatever is made of it. */
static void run_about(hsy_scheme_info *info, uint64_t *reports, double *people,
                      hsy_analysis_tally *t)
{
    hsy_scheme_describe(t->scheme, info);
    t->info = info;
    *reports = hsy_tally_reports(t->tally);
    *people = info->central ? hsy_central_people(t->scheme, t->tally) : NAN;
}

void analysis_begin(hsy_analysis_result *out, const hsy_analysis_request *q)
{
    *out = (hsy_analysis_result){0};
    out->question = q->question;
    out->how = (hsy_confidence){.level = q->level > 0 ? q->level : 0.95,
                                .target = q->target,
                                .interval = run_interval(q),
                                .comparisons = 1};
    out->simultaneous = q->simultaneous;
    out->post = q->post;
    out->lying = q->lying > 0 ? NAN : 0; /* until there is a bound */
    out->people = out->people_against = out->lying_p = NAN;
    out->columns = 1u << HSY_COLUMN_VALUE | 1u << HSY_COLUMN_ESTIMATE |
                   1u << HSY_COLUMN_STDERR | 1u << HSY_COLUMN_LOW |
                   1u << HSY_COLUMN_HIGH;
}

static void run_begin(struct analysis_job *j)
{
    const hsy_analysis_request *q = j->request;
    hsy_analysis_result *out = j->out;

    analysis_begin(out, q);
    run_about(&out->info, &out->reports, &out->people, &j->t);
    out->attends = j->t.attended != NULL;
    if (out->attends)
        out->attended = *j->t.attended;
    if (!q->bare)
        out->lying_p = analysis_lying_p(&j->t);
    out->compared = j->against.scheme != NULL;
    if (!out->compared)
        return;
    run_about(&out->against, &out->reports_against, &out->people_against,
              &j->against);
    out->overlap = q->overlap;
    out->devices_in_all = q->devices;
}

/* ---- The way the mechanism is analyzed ----------------------------------- */

typedef hsy_status run_way(struct analysis_job *j, hsy_error *err);

static run_way *const run_ways[] = {
    [HSY_ANALYSIS_POINTS] = analysis_by_points,
    [HSY_ANALYSIS_DENSITY] = analysis_by_density,
    [HSY_ANALYSIS_RAPPOR] = analysis_by_rappor,
    [HSY_ANALYSIS_SEARCH] = analysis_by_search,
    [HSY_ANALYSIS_PUZZLE] = analysis_by_search,
    [HSY_ANALYSIS_STAGE] = analysis_by_search,
    [HSY_ANALYSIS_RELEASE] = analysis_by_points,
    [HSY_ANALYSIS_ATTRIBUTES] = analysis_by_tuple,
    [HSY_ANALYSIS_JOINT] = analysis_by_tuple,
};

/* Strings that are named need not be searched for. */
static run_way *run_choose(const struct analysis_job *j)
{
    const hsy_analysis_request *q = j->request;
    run_way *way = run_ways[j->out->info.analysis];

    if (way == analysis_by_search && q->candidates != NULL)
        way = analysis_by_points;
    if (q->density != HSY_DENSITY_AUTO && way != analysis_by_rappor &&
        way != analysis_by_tuple)
        return analysis_by_density;
    return way;
}

/* Values that are asked for, then rows, then what they are called. */
static hsy_status run_estimates(struct analysis_job *j, hsy_error *err)
{
    run_way *way = run_choose(j);
    hsy_status st = HSY_OK;

    if (way == analysis_by_search || way == analysis_by_tuple ||
        (way == analysis_by_density && j->out->info.kind == HSY_KIND_STRINGS))
        return way(j, err); /* they know their own, or have none */
    st = analysis_ask(&j->asked, &j->t, j->request, err);
    if (st == HSY_OK)
        st = way(j, err);
    return st == HSY_OK && !j->request->bare
               ? analysis_name_rows(j->out, &j->asked, err)
               : st;
}

static hsy_status run_question(struct analysis_job *j, hsy_error *err)
{
    switch (j->request->question) {
    case HSY_ASK_RANGES:
        return analysis_ranges(j, err);
    case HSY_ASK_COVARIANCE:
        return analysis_covariance(j, err);
    default:
        return run_estimates(j, err);
    }
}

hsy_status analysis_run(hsy_analysis_result *out, const hsy_analysis_tally *t,
                        struct analysis_evidence *own,
                        const hsy_analysis_tally *against,
                        struct analysis_evidence *its,
                        const hsy_analysis_request *request, hsy_error *err)
{
    struct analysis_job j = {
        .out = out, .request = request, .t = *t, .own = own, .its = its};
    hsy_status st = run_check(request, err);

    *out = (hsy_analysis_result){0};
    if (st != HSY_OK)
        return st;
    if (against != NULL)
        j.against = *against;
    run_begin(&j);
    if (out->reports == 0 || (out->compared && out->reports_against == 0))
        st = host_fail_at(err, HSY_E_EMPTY, HSY_FIELD_REPORTS,
                          "no data: it holds no reports", HSY_UNIT_LINE,
                          out->reports == 0 ? 1 : 2);
    if (st == HSY_OK)
        st = analysis_worth(&j, err);
    if (st == HSY_OK)
        st = run_question(&j, err);
    if (st == HSY_OK && !request->bare)
        st = analysis_notes(&j, err);
    analysis_asked_clear(&j.asked);
    if (st != HSY_OK)
        hsy_analysis_clear(out);
    return st;
}

hsy_status hsy_analysis_run(hsy_analysis_result *out,
                            const hsy_analysis_tally *t,
                            const hsy_analysis_tally *against,
                            const hsy_analysis_request *request, hsy_error *err)
{
    struct analysis_evidence own = {0}, its = {0};
    hsy_status st = analysis_run(out, t, &own, against, &its, request, err);

    if (st == HSY_OK) {
        out->points = own.points;
        own.points = NULL;
    }
    analysis_evidence_clear(&own);
    analysis_evidence_clear(&its);
    return st;
}

void hsy_analysis_clear(hsy_analysis_result *r)
{
    free(r->rows);
    free(r->quantiles);
    free(r->points);
    free(r->notes);
    free(r->memory);
    *r = (hsy_analysis_result){0};
}

/* ---- Memory -------------------------------------------------------------- */

static size_t run_scratch(const hsy_scheme *s, const hsy_scheme_info *info,
                          size_t count)
{
    const hsy_rappor_data data = analysis_rappor_data(info, count);

    switch (info->analysis) {
    case HSY_ANALYSIS_DENSITY:
        return hsy_density_estimate_scratch(s);
    case HSY_ANALYSIS_RAPPOR:
        return hsy_rappor_scratch(&data) +
               count * (data.m * data.h * sizeof(uint16_t) +
                        sizeof(hsy_rappor_share));
    default:
        return hsy_evidence_scratch(s, count);
    }
}

size_t analysis_bytes(const hsy_scheme *s, const hsy_scheme_info *info)
{
    const size_t count = info->kind == HSY_KIND_NUMBER ? 1 : info->d;

    return count * (sizeof(hsy_evidence) + sizeof(hsy_analysis_row) +
                    2 * sizeof(double)) +
           run_scratch(s, info, count);
}
