/* measure.c - a run's estimates against its people. */
#include "sim/study/internal.h"

#include "host/analysis/analysis.h"

#include <math.h>
#include <string.h>

static const char *const measure_names[STUDY_METRICS] = {
    [STUDY_MSE] = "mse",        [STUDY_PREDICTED] = "predicted_mse",
    [STUDY_MAX] = "max_error",  [STUDY_COVERAGE] = "coverage",
    [STUDY_MAE] = "mae",        [STUDY_KL] = "kl",
    [STUDY_TV] = "tv",          [STUDY_PRECISION] = "precision",
    [STUDY_RECALL] = "recall",  [STUDY_F1] = "f1",
    [STUDY_NCR] = "ncr",        [STUDY_NDCG] = "ndcg",
    [STUDY_LIMIT] = "limit_mse"};

const char *study_metric_name(enum study_metric metric)
{
    return measure_names[metric];
}

/* ---- Memory -------------------------------------------------------------- */

static size_t measure_count(const hsy_scheme_info *info)
{
    return info->kind == HSY_KIND_NUMBER ? 1 : info->d;
}

size_t study_bench_bytes(const hsy_scheme *s, const hsy_scheme_info *info,
                         size_t top)
{
    const size_t each = sizeof(hsy_estimate) + 4 * sizeof(double);

    return measure_count(info) * (each + sizeof(uint32_t)) +
           2 * top * sizeof(uint32_t) + analysis_bytes(s, info);
}

void study_bench_open(struct study_bench *b, struct owned *memory,
                      const hsy_scheme_info *info, size_t top)
{
    const size_t n = measure_count(info);

    b->estimates = owned_array(memory, n, sizeof *b->estimates);
    b->values = owned_array(memory, n, sizeof *b->values);
    b->shares = owned_array(memory, n, sizeof *b->shares);
    b->truths = owned_array(memory, n, sizeof *b->truths);
    b->variances = owned_array(memory, n, sizeof *b->variances);
    b->found = owned_array(memory, top, sizeof *b->found);
    b->wanted = owned_array(memory, top, sizeof *b->wanted);
    b->ranks = owned_array(memory, n, sizeof *b->ranks);
}

/* ---- Estimates ----------------------------------------------------------- */

/* What a point states of its variance, at the true share (hearsay.h). */
static double measure_variance(const hsy_evidence *p, double f)
{
    return ((1 - f) * p->v0 + f * p->v1 + p->binomial_variance * f * (1 - f)) /
               p->n +
           p->residual_variance;
}

/* The whole tally as `hearsay estimate` analyzes it, with a distribution made
 * of the shares. RAPPOR's by regression alone, or by the sampler if there are
 * more values than it takes. */
static hsy_status measure_run(hsy_analysis_result *r, const hsy_scheme *s,
                              const hsy_scheme_info *info, const hsy_tally *t,
                              hsy_error *err)
{
    const hsy_analysis_tally of = {.scheme = s, .info = info, .tally = t};
    hsy_analysis_request q = {.size = sizeof q,
                              .level = STUDY_LEVEL,
                              .bare = true,
                              .rappor.method = HSY_RAPPOR_NNLS};
    hsy_status st;

    if (info->analysis != HSY_ANALYSIS_RAPPOR && !info->iterative &&
        info->kind != HSY_KIND_NUMBER)
        q.post = HSY_POST_NORM_SUB;
    st = hsy_analysis_run(r, &of, NULL, &q, err);
    if (st != HSY_E_RANGE || info->analysis != HSY_ANALYSIS_RAPPOR)
        return st;
    q.rappor.method = HSY_RAPPOR_SAMPLER;
    return hsy_analysis_run(r, &of, NULL, &q, err);
}

/* The non-negative shares of a decoder, scaled to add up to 1. */
static void measure_decoded(struct study_bench *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        b->variances[i] = b->estimates[i].sd * b->estimates[i].sd;
        b->shares[i] = fmax(b->shares[i], 0);
        sum += b->shares[i];
    }
    for (size_t i = 0; i < n; i++)
        b->shares[i] = sum > 0 ? b->shares[i] / sum : 1 / (double)n;
}

/* Rows by code: of a yes/no question no and yes. Shares by EM have intervals,
 * and state no variance. */
static void measure_take(struct study_bench *b, const hsy_analysis_result *r)
{
    const bool yes_no = r->info.kind == HSY_KIND_YES_NO;
    const size_t n = r->count;

    for (size_t k = 0; k < n; k++) {
        const hsy_analysis_row *row = &r->rows[k];
        const size_t i = yes_no ? 1 - k : k;

        b->estimates[i] = row->est;
        b->values[i] = r->points != NULL ? r->points[k].value : row->est.value;
        b->shares[i] =
            r->density != HSY_DENSITY_AUTO ? row->est.value : row->post;
        b->variances[i] = r->points != NULL
                              ? measure_variance(&r->points[k], b->truths[i])
                              : NAN;
    }
    if (r->info.analysis == HSY_ANALYSIS_RAPPOR)
        measure_decoded(b, n);
}

/* ---- The k heaviest ------------------------------------------------------ */

/* How many of the k largest are above zero: a value that nobody holds, or that
 * seems to be nobody's, is not heavy. Equal ones: the smaller value first. */
static size_t measure_heaviest(uint32_t *places, size_t k, const double *x,
                               size_t n)
{
    size_t some = 0;

    hsy_metrics_largest(places, k, x, n);
    while (some < k && x[places[some]] > 0)
        some++;
    return some;
}

static void measure_top(double metrics[STUDY_METRICS], struct study_bench *b,
                        size_t n, size_t top)
{
    const size_t wanted = measure_heaviest(b->wanted, top, b->truths, n);
    const size_t found = measure_heaviest(b->found, top, b->values, n);
    hsy_topk_score t;

    memset(b->ranks, 0, n * sizeof *b->ranks);
    for (size_t i = 0; i < wanted; i++)
        b->ranks[b->wanted[i]] = (uint32_t)i + 1;
    for (size_t i = 0; i < found; i++)
        b->found[i] = b->ranks[b->found[i]];
    if (hsy_metrics_top(&t, b->found, found, wanted, NULL) != HSY_OK)
        return;
    metrics[STUDY_PRECISION] = t.precision;
    metrics[STUDY_RECALL] = t.recall;
    metrics[STUDY_F1] = t.f1;
    metrics[STUDY_NCR] = t.ncr;
    metrics[STUDY_NDCG] = t.ndcg;
}

/* ---- Shares -------------------------------------------------------------- */

static void measure_errors(double metrics[STUDY_METRICS],
                           const struct study_bench *b, size_t n, double unit)
{
    hsy_errors e;

    hsy_metrics_errors(&e, b->values, b->truths, n);
    metrics[STUDY_MSE] = e.mse * unit * unit;
    metrics[STUDY_MAE] = e.mae * unit;
    metrics[STUDY_MAX] = e.max * unit;
}

/* What is stated of the errors, where something is. */
static void measure_stated(double metrics[STUDY_METRICS],
                           const struct study_bench *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += b->variances[i];
    if (!isnan(sum))
        metrics[STUDY_PREDICTED] = sum / (double)n;
    if (!isnan(b->estimates[0].low))
        metrics[STUDY_COVERAGE] =
            hsy_metrics_coverage(b->estimates, b->truths, n);
}

static hsy_status measure_estimate(struct study_bench *b, const hsy_scheme *s,
                                   const hsy_scheme_info *info,
                                   const hsy_tally *t, hsy_error *err)
{
    hsy_analysis_result r;
    hsy_status st = measure_run(&r, s, info, t, err);

    if (st == HSY_OK)
        measure_take(b, &r);
    hsy_analysis_clear(&r);
    return st;
}

static hsy_status measure_shares(double metrics[STUDY_METRICS],
                                 struct study_bench *b, const hsy_scheme *s,
                                 const hsy_scheme_info *info,
                                 const hsy_tally *t,
                                 const struct study_truths *truths,
                                 const struct study_aim *aim, hsy_error *err)
{
    const double users = (double)truths->users;
    const size_t n = info->d;
    hsy_status st;

    memset(b->truths, 0, n * sizeof *b->truths);
    for (size_t i = 0; i < truths->n; i++)
        b->truths[truths->codes[i]] += (double)truths->counts[i] / users;
    st = measure_estimate(b, s, info, t, err);
    if (st != HSY_OK)
        return st;
    measure_stated(metrics, b, n);
    measure_errors(metrics, b, n, 1);
    metrics[STUDY_KL] =
        hsy_metrics_divergence(b->shares, b->truths, n, 0.5 / users);
    metrics[STUDY_TV] = hsy_metrics_variation(b->shares, b->truths, n);
    if (aim->best)
        metrics[STUDY_LIMIT] =
            hsy_best_known_variance((double)n, info->epsilon) / users;
    measure_top(metrics, b, n, aim->top);
    return HSY_OK;
}

/* ---- A mean -------------------------------------------------------------- */

/* What a law says of all, as a share of the range, squared. */
static double measure_law(const double *law, const struct study_truths *truths)
{
    const double users = (double)truths->users;
    double sum = 0;

    for (size_t i = 0; i < truths->n; i++)
        sum += (double)truths->counts[i] / users * law[i];
    return sum / users;
}

static hsy_status measure_mean(double metrics[STUDY_METRICS],
                               struct study_bench *b, const hsy_scheme *s,
                               const hsy_scheme_info *info, const hsy_tally *t,
                               const struct study_truths *truths,
                               const struct study_aim *aim, hsy_error *err)
{
    const double most = (double)((uint64_t)info->hi - (uint64_t)info->lo);
    const double unit = most / pow(10, info->scale);
    const double zero = (double)info->lo / pow(10, info->scale);
    hsy_status st = measure_estimate(b, s, info, t, err);

    if (st != HSY_OK)
        return st;
    b->estimates[0].low = (b->estimates[0].low - zero) / unit;
    b->estimates[0].high = (b->estimates[0].high - zero) / unit;
    b->truths[0] = 0;
    for (size_t i = 0; i < truths->n; i++)
        b->truths[0] += (double)truths->counts[i] / (double)truths->users *
                        ((double)truths->codes[i] / most);
    measure_errors(metrics, b, 1, unit);
    metrics[STUDY_COVERAGE] = hsy_metrics_coverage(b->estimates, b->truths, 1);
    metrics[STUDY_PREDICTED] = measure_law(aim->laws[0], truths) * unit * unit;
    if (!aim->best)
        return HSY_OK;
    metrics[STUDY_LIMIT] = INFINITY;
    for (size_t i = 1; i < STUDY_LAWS_OF_MEAN; i++)
        metrics[STUDY_LIMIT] =
            fmin(metrics[STUDY_LIMIT],
                 measure_law(aim->laws[i], truths) * unit * unit);
    return HSY_OK;
}

hsy_status study_measure(double metrics[STUDY_METRICS], struct study_bench *b,
                         const hsy_scheme *s, const hsy_scheme_info *info,
                         const hsy_tally *t, const struct study_truths *truths,
                         const struct study_aim *aim, hsy_error *err)
{
    for (size_t i = 0; i < STUDY_METRICS; i++)
        metrics[i] = NAN;
    return info->kind == HSY_KIND_NUMBER
               ? measure_mean(metrics, b, s, info, t, truths, aim, err)
               : measure_shares(metrics, b, s, info, t, truths, aim, err);
}
