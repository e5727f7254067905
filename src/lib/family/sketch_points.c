/*
 * sketch_points.c - evidence of count-mean sketches.
 *
 * For the fixed family of hashes, collisions of v with the other values are a
 * bias: over families a variance of kappa times the sum of f_u^2 over u != v,
 * however many reports there are (theory 3.9). What significant values make
 * of it is predicted and subtracted (predict.h); what is left is measured in
 * the sketch and goes into point.residual_variance: two people of one row meet
 * in a cell for certain if they have the same value, and with probability 1/m
 * if not. docs/mechanisms/cms.md, 4
 */
#include "lib/family/predict.h"
#include "lib/family/sketch.h"

#define SKETCH_POINTS_PART ((size_t)1 << 14) /* cells decoded at once */
#define SKETCH_POINTS_ONE 4194304.0 /* all people: one digit of the kernels */

/* One estimation. The pointers lead into the caller's scratch. */
struct sketch_points {
    struct predict set;
    const hsy_scheme *s;
    const hsy_tally *t;
    const struct sketch_reading *reading;
    size_t rows; /* of a part */
    struct pool_hash *hashes;
    int64_t *transformed; /* one part */
    int64_t *table;       /* one part, predicted */
    double misfit;        /* see sketch_points_misfit */
    double pairs;         /* ordered pairs of reports of one row */
};

static size_t sketch_points_rows(const hsy_scheme *s)
{
    size_t rows = SKETCH_POINTS_PART / sketch_width(s);

    return rows == 0 ? 1 : rows < sketch_rows(s) ? rows : sketch_rows(s);
}

size_t hsy_sketch_points_scratch(const hsy_scheme *s, size_t count)
{
    size_t rows = sketch_points_rows(s);

    return hsy_predict_scratch(count) +
           rows * (sizeof(struct pool_hash) +
                   2 * sketch_width(s) * sizeof(int64_t));
}

static void sketch_points_open(struct sketch_points *e, const uint64_t *codes,
                               size_t count, void *scratch)
{
    const hsy_scheme *s = e->s;

    e->hashes = hsy_predict_open(&e->set, count, scratch);
    e->rows = sketch_points_rows(s);
    e->transformed = (int64_t *)(e->hashes + e->rows);
    e->table = e->transformed + e->rows * sketch_width(s);
    for (size_t v = 0; v < count; v++)
        e->set.room[v] = sketch_code(s, codes != NULL ? codes[v] : v);
    e->set.codes = e->set.room;
    e->set.listed = codes != NULL;
}

/* `rows` rows from number `first` on, as they are read. */
static const int64_t *sketch_points_read(struct sketch_points *e, size_t first,
                                         size_t rows)
{
    const size_t width = sketch_width(e->s);
    const int64_t *table = e->t->cells + first * width;

    for (size_t j = 0; j < rows; j++)
        e->hashes[j] = sketch_function(e->s, (uint32_t)(first + j));
    if (!e->reading->transform)
        return table;
    for (size_t i = 0; i < rows * width; i++)
        e->transformed[i] = table[i];
    for (size_t j = 0; j < rows; j++)
        e->s->kernels->wht(e->transformed + j * width, width);
    return e->transformed;
}

/* One part of the table that the chosen values would give, people falling
 * evenly on the rows. */
static void sketch_points_predict(struct sketch_points *e, size_t rows)
{
    const uint32_t width = sketch_width(e->s);
    const struct predict *p = &e->set;

    for (size_t i = 0; i < rows * width; i++)
        e->table[i] = 0;
    for (size_t i = 0; i < p->nchosen; i++) {
        const uint64_t code = p->codes[p->chosen[i]];
        const int64_t people = (int64_t)(p->weight[i] * SKETCH_POINTS_ONE);

        for (size_t j = 0; j < rows; j++)
            e->table[j * width + pool_reduce(pool_wide(&e->hashes[j], code),
                                             width)] += people;
    }
}

/*
 * How far the counts of one row are from what the predicted shares make of it,
 * the rest of the people spread evenly: the sum of squares less the part that
 * chance has in it. Where u is predicted to be w_u, its mean is (1 - 1/m) times
 * the pairs of reports times the sum of (f_u - w_u)^2 over random hashes,
 * listed or not.
 */
static void sketch_points_misfit(struct sketch_points *e, const int64_t *read,
                                 const int64_t *row, size_t j)
{
    const struct sketch_reading *reading = e->reading;
    const double m = sketch_width(e->s), k = sketch_rows(e->s), all = e->set.n;
    const double n =
        reading->strata != NULL ? (double)reading->strata[j] : all / k;
    const double even = (1 - e->set.predicted) / m, less = reading->q * n;
    const double slope = 1 / reading->gap, unit = 1 / SKETCH_POINTS_ONE;
    double sum = 0, squares = 0;

    for (size_t c = 0; c < sketch_width(e->s); c++) {
        double share = even + unit * (double)row[c];
        double off = slope * ((double)read[c] - less) - n * share;

        sum += off * off;
        squares += share * share;
    }
    e->misfit += sum - n * (reading->noise - squares);
    e->pairs += n * (reading->strata != NULL ? n - 1 : (all - 1) / k);
}

/* Shares as whole parts of SKETCH_POINTS_ONE, so that a value's own is known
 * exactly. */
static void sketch_points_round(struct predict *p)
{
    p->predicted = 0;
    for (size_t i = 0; i < p->nchosen; i++) {
        p->weight[i] = (double)(int64_t)(p->weight[i] * SKETCH_POINTS_ONE) /
                       SKETCH_POINTS_ONE;
        p->predicted += p->weight[i];
    }
}

/* Decode all rows, as counted or as predicted, and measure what the prediction
 * leaves. Transforms have both signs: sums are modulo 2^64. */
static void sketch_points_sweep(struct sketch_points *e, bool predicted)
{
    const hsy_scheme *s = e->s;
    const uint32_t m = sketch_width(s);
    struct predict *p = &e->set;

    e->misfit = 0;
    e->pairs = 0;
    for (size_t k = 0; k < p->nasked; k++)
        p->support[k] = 0;
    for (size_t first = 0; first < sketch_rows(s); first += e->rows) {
        size_t left = sketch_rows(s) - first;
        size_t rows = left < e->rows ? left : e->rows;
        const int64_t *read = sketch_points_read(e, first, rows);

        sketch_points_predict(e, rows);
        for (size_t j = 0; j < rows; j++)
            sketch_points_misfit(e, read + j * m, e->table + j * m, first + j);
        s->kernels->lh_table(p->support, p->asked, p->nasked, e->hashes,
                             predicted ? e->table : read, rows, m, false);
    }
    p->residual = 1;
    if (e->pairs > 0)
        p->residual = e->misfit / e->pairs * m / (m - 1);
    p->residual = p->residual < 0 ? 0 : p->residual > 1 ? 1 : p->residual;
}

static void sketch_points_predicted(void *ctx)
{
    struct sketch_points *e = ctx;

    sketch_points_round(&e->set);
    sketch_points_sweep(e, true);
}

static void sketch_points_law(struct sketch_points *e)
{
    const hsy_scheme *s = e->s;
    struct predict *p = &e->set;
    double v[2];

    s->mech->estimate->support(s, &p->law);
    hsy_sketch_variance(s, v);
    p->n = (double)hsy_tally_reports(e->t);
    p->v0 = v[0];
    p->v1 = v[1];
    p->kappa = hsy_sketch_kappa(s);
    p->most = 0.04 / p->kappa;
    p->meet = 1 / (double)sketch_width(s);
    p->not_meet = 1 - p->meet;
    p->scale = SKETCH_POINTS_ONE * (double)sketch_rows(s);
    p->sweep = sketch_points_predicted;
    p->ctx = e;
}

/* The sum of squares that is left, of others: a value that was not predicted is
 * in it itself. Of the n^2 pairs of people n are of one. */
static double sketch_points_left(const struct predict *p, size_t v, double self)
{
    double f = p->value[v] < 0 ? 0 : p->value[v] > 1 ? 1 : p->value[v];
    double left = p->residual + (1 - p->residual) / p->n;

    if (self > 0)
        return left;
    return left > f * f ? left - f * f : 0;
}

void hsy_sketch_points(const hsy_scheme *s, hsy_evidence *points,
                       const hsy_tally *t, const uint64_t *codes, size_t count,
                       void *scratch, const struct sketch_reading *reading)
{
    struct sketch_points e = {.s = s, .t = t, .reading = reading};
    struct predict *p = &e.set;

    sketch_points_open(&e, codes, count, scratch);
    sketch_points_law(&e);
    p->asked = p->codes;
    p->nasked = count;
    sketch_points_sweep(&e, false);
    for (size_t v = 0; v < count; v++)
        p->counted[v] =
            reading->base + reading->scale * (double)(int64_t)p->support[v];
    hsy_predict_plain(p);
    hsy_predict_settle(p);
    for (size_t v = 0, next = 0; v < count; v++) {
        double self = hsy_predict_self(p, &next, v);

        hsy_evidence_pure(&points[v], &p->law, p->n, p->counted[v]);
        points[v].value = p->value[v];
        points[v].v0 = p->v0;
        points[v].residual_variance = p->kappa * sketch_points_left(p, v, self);
        points[v].lumps = (double)sketch_rows(s) * p->meet;
    }
}
