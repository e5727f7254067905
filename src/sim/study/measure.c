/* measure.c - a run's estimates against its people. */
#include "sim/study/internal.h"

#include <math.h>
#include <stdlib.h>
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

static bool measure_rappor(const hsy_scheme_info *info)
{
    return strcmp(info->mechanism, "rappor") == 0;
}

static size_t measure_scratch(const hsy_scheme *s, const hsy_scheme_info *info)
{
    if (measure_rappor(info))
        return 0; /* it takes its own */
    return info->iterative ? hsy_density_estimate_scratch(s)
                           : hsy_evidence_scratch(s, measure_count(info));
}

size_t study_bench_bytes(const hsy_scheme *s, const hsy_scheme_info *info,
                         size_t top)
{
    const size_t each =
        sizeof(hsy_evidence) + sizeof(hsy_estimate) + 4 * sizeof(double);

    return measure_count(info) * (each + sizeof(uint32_t)) +
           2 * top * sizeof(uint32_t) + measure_scratch(s, info) +
           (measure_rappor(info) ? study_rappor_bytes(info) : 0);
}

bool study_bench_open(struct study_bench *b, const hsy_scheme *s,
                      const hsy_scheme_info *info, size_t top)
{
    const size_t n = measure_count(info);

    *b = (struct study_bench){.points = calloc(n, sizeof *b->points),
                              .estimates = calloc(n, sizeof *b->estimates),
                              .values = calloc(n, sizeof *b->values),
                              .shares = calloc(n, sizeof *b->shares),
                              .truths = calloc(n, sizeof *b->truths),
                              .variances = calloc(n, sizeof *b->variances),
                              .found = calloc(top + 1, sizeof *b->found),
                              .wanted = calloc(top + 1, sizeof *b->wanted),
                              .ranks = calloc(n, sizeof *b->ranks),
                              .scratch = malloc(measure_scratch(s, info) + 1)};
    return b->points != NULL && b->estimates != NULL && b->values != NULL &&
           b->shares != NULL && b->truths != NULL && b->variances != NULL &&
           b->found != NULL && b->wanted != NULL && b->ranks != NULL &&
           b->scratch != NULL;
}

void study_bench_close(struct study_bench *b)
{
    free(b->points);
    free(b->estimates);
    free(b->values);
    free(b->shares);
    free(b->truths);
    free(b->variances);
    free(b->found);
    free(b->wanted);
    free(b->ranks);
    free(b->scratch);
    memset(b, 0, sizeof *b);
}

/* ---- Estimates ----------------------------------------------------------- */

/* What a point states of its variance, at the true share (hearsay.h). */
static double measure_variance(const hsy_evidence *p, double f)
{
    return ((1 - f) * p->v0 + f * p->v1 + p->binomial_variance * f * (1 - f)) /
               p->n +
           p->residual_variance;
}

/* Of all values; of a yes/no question no and yes. */
static hsy_status measure_points(struct study_bench *b, const hsy_scheme *s,
                                 const hsy_tally *t, size_t n, bool yes_no,
                                 hsy_error *err)
{
    static const uint64_t both[] = {0, 1};
    const hsy_confidence how = {.level = STUDY_LEVEL, .comparisons = 1};
    hsy_status st = hsy_evidence_of(s, b->points, t, yes_no ? both : NULL, n,
                                    b->scratch, err);

    for (size_t i = 0; st == HSY_OK && i < n; i++) {
        st = hsy_estimate_point(&b->estimates[i], &b->points[i], &how, err);
        b->values[i] = b->points[i].value;
    }
    return st;
}

/* All shares, with a distribution made of them. */
static hsy_status measure_pointed(struct study_bench *b, const hsy_scheme *s,
                                  const hsy_scheme_info *info,
                                  const hsy_tally *t, hsy_error *err)
{
    const size_t n = info->d;
    hsy_status st =
        measure_points(b, s, t, n, info->kind == HSY_KIND_YES_NO, err);

    if (st == HSY_OK) /* variances are scratch here */
        st = hsy_post_process(b->shares, b->points, n, HSY_POST_NORM_SUB,
                              b->variances, err);
    for (size_t i = 0; st == HSY_OK && i < n; i++)
        b->variances[i] = measure_variance(&b->points[i], b->truths[i]);
    return st;
}

/* Shares by EM have intervals, and state no variance. */
static hsy_status measure_density(struct study_bench *b, const hsy_scheme *s,
                                  const hsy_tally *t, size_t n, hsy_error *err)
{
    const hsy_density_how how = {.method = HSY_DENSITY_AUTO,
                                 .level = STUDY_LEVEL};
    hsy_status st =
        hsy_density_estimate(s, b->estimates, NULL, t, &how, b->scratch, err);

    for (size_t i = 0; st == HSY_OK && i < n; i++) {
        b->values[i] = b->shares[i] = b->estimates[i].value;
        b->variances[i] = NAN;
    }
    return st;
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
    if (measure_rappor(info))
        return study_rappor(b, s, info, t, err);
    return info->iterative ? measure_density(b, s, t, info->d, err)
                           : measure_pointed(b, s, info, t, err);
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
    hsy_status st = measure_points(b, s, t, 1, false, err);

    if (st != HSY_OK)
        return st;
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
