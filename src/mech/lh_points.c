/*
 * lh_points.c - evidence from a local-hashing tally.
 *
 * The support of v is the number of reports (j, y) with h_j(v) = y. For a
 * random hash another value u supports v in 1/g of its reports; for the fixed
 * pool it is the share c(u, v) of the reports whose seed makes u and v collide.
 * So the plain estimate is off by
 *
 *     sum over u != v of f_u (c(u, v) - 1/g) / (1 - 1/g),
 *
 * however many reports there are: over pools a variance of kappa times the sum
 * of f_u^2, kappa = 1 / ((g - 1) K) for K seeds (MECHANISMS 3.4). The hashes
 * are known, so the part of significant values is predicted and subtracted
 * (Jacobi steps); what is left goes into point.floor. docs/mechanisms/lh.md, 5
 */
#include "lh.h"

#include "twolevel.h"

#define LH_POINTS_BLOCK ((size_t)1 << 17) /* cells decoded at once */
#define LH_POINTS_CHOSEN 4096             /* most values that are predicted */
#define LH_POINTS_ROUNDS 5
#define LH_POINTS_FINE 20 /* bits of the mean share of a seed */

/* One estimation. The pointers lead into the caller's scratch. */
struct lh_points {
    const hsy_scheme *s;
    const hsy_tally *t;
    const uint64_t *codes;
    size_t count;
    bool listed;           /* the caller's codes, which may repeat */
    const uint64_t *asked; /* codes that a sweep decodes: all, or few */
    size_t nasked;

    uint64_t *support; /* count */
    double *counted;   /* count: support in the reports */
    double *value;     /* count: the estimates so far */
    double *weight;    /* LH_POINTS_CHOSEN: predicted shares */
    uint64_t *few;     /* LH_POINTS_CHOSEN: codes of the chosen */
    uint32_t *chosen;  /* LH_POINTS_CHOSEN: their places, ascending */
    size_t nchosen;

    size_t rows; /* of a block */
    struct pool_hash *hashes;
    struct kernel_cell *cells; /* of one block, if they are few */
    size_t room;
    int64_t *table; /* one block, predicted */

    struct mech_support law;
    double scale; /* predicted shares to integers */
    double n, v0, v1;
    double kappa;
    double predicted; /* sum of the predicted shares */
    double squares;   /* sum of their squares */
    double misfit;    /* see lh_points_misfit */
    double pairs;     /* ordered pairs of reports with one seed */
    double residual;  /* sum of (f_u - predicted share of u)^2 over all u */
};

/* Of the other values' reports, 1/g support a value: by the hash, not by the
 * coin. */
void hsy_lh_support(const hsy_scheme *s, struct mech_support *out)
{
    double g = lh_range(s);

    hsy_support_of(out, twolevel_own(s), twolevel_other(s), s->total);
    out->q = 1 / g;
    out->not_q = (g - 1) / g;
    out->gap *= out->not_q;
}

static size_t lh_points_rows(const hsy_scheme *s)
{
    size_t rows = LH_POINTS_BLOCK / lh_range(s);

    if (rows > lh_pool(s))
        rows = lh_pool(s);
    return rows == 0 ? 1 : rows;
}

/* Up to how many non-empty cells hashing for each is cheaper than a look into
 * each row: by how far a row outgrows the registers. */
static size_t lh_points_room(const hsy_scheme *s, size_t rows)
{
    return lh_range(s) <= 16 ? rows : lh_range(s) <= 64 ? 3 * rows : 12 * rows;
}

size_t hsy_lh_points_scratch(const hsy_scheme *s, size_t count)
{
    size_t rows = lh_points_rows(s);

    return count * (2 * sizeof(uint64_t) + 2 * sizeof(double)) +
           LH_POINTS_CHOSEN *
               (sizeof(double) + sizeof(uint64_t) + sizeof(uint32_t)) +
           rows * (sizeof(struct pool_hash) + lh_range(s) * sizeof(int64_t)) +
           lh_points_room(s, rows) * sizeof(struct kernel_cell);
}

/* Every part but the last is a whole number of 8-byte words. */
static void lh_points_open(struct lh_points *e, void *scratch)
{
    uint64_t *codes = scratch;

    if (e->codes == NULL) {
        for (size_t i = 0; i < e->count; i++)
            codes[i] = i;
        e->codes = codes;
    }
    e->rows = lh_points_rows(e->s);
    e->room = lh_points_room(e->s, e->rows);
    e->support = codes + e->count;
    e->counted = (double *)(e->support + e->count);
    e->value = e->counted + e->count;
    e->weight = e->value + e->count;
    e->few = (uint64_t *)(e->weight + LH_POINTS_CHOSEN);
    e->hashes = (struct pool_hash *)(e->few + LH_POINTS_CHOSEN);
    e->cells = (struct kernel_cell *)(e->hashes + e->rows);
    e->table = (int64_t *)(e->cells + e->room);
    e->chosen = (uint32_t *)(e->table + e->rows * lh_range(e->s));
}

/* The non-empty cells of a block into e->cells; more than e->room: stop. */
static size_t lh_points_gather(struct lh_points *e, const int64_t *table,
                               size_t rows)
{
    const uint32_t g = lh_range(e->s);
    size_t found = 0;

    for (size_t j = 0; j < rows; j++)
        for (uint32_t y = 0; y < g; y++) {
            int64_t count = table[j * g + y];

            if (count == 0)
                continue;
            if (found == e->room)
                return found + 1;
            e->cells[found++] =
                (struct kernel_cell){e->hashes[j], (uint64_t)count, y};
        }
    return found;
}

/* Add the support that rows rows of the table give. */
static void lh_points_decode(struct lh_points *e, const int64_t *table,
                             size_t rows)
{
    const hsy_scheme *s = e->s;
    size_t found = lh_points_gather(e, table, rows);

    if (found <= e->room)
        s->kernels->lh_direct(e->support, e->asked, e->nasked, e->cells, found,
                              lh_range(s), lh_narrow(s));
    else
        s->kernels->lh_table(e->support, e->asked, e->nasked, e->hashes, table,
                             rows, lh_range(s), lh_narrow(s));
}

/*
 * How far the counts of one seed are from what the predicted shares make of it,
 * the rest of the people spread evenly: the sum of squares less the part that
 * chance has in it. Where u is predicted to be w_u, its mean is
 * reports^2 gap^2 / (1 - 1/g) times the sum of (f_u - w_u)^2 over random
 * hashes, listed or not.
 */
static void lh_points_misfit(struct lh_points *e, const int64_t *counted,
                             const int64_t *row, double reports)
{
    const uint32_t g = lh_range(e->s);
    double slope = e->law.gap / e->law.not_q; /* own less other probability */
    double base = (1 - slope * e->predicted) * e->law.q;
    double unit = slope * e->n / (reports * e->scale);
    double sum = 0, squares = 0;

    for (uint32_t y = 0; y < g; y++) {
        double p = base + unit * (double)row[y];
        double off = (double)counted[y] - reports * p;

        sum += off * off;
        squares += p * p;
    }
    e->misfit += sum - reports * (1 - squares);
    e->pairs += reports * (reports - 1);
}

/* One block of the table that the chosen values would give. */
static void lh_points_predict(struct lh_points *e, const int64_t *counted,
                              size_t rows)
{
    const uint32_t g = lh_range(e->s);

    for (size_t j = 0; j < rows; j++) {
        int64_t *row = e->table + j * g;
        double reports = 0, part;

        for (uint32_t y = 0; y < g; y++) {
            row[y] = 0;
            reports += (double)counted[j * g + y];
        }
        if (reports <= 0)
            continue;
        part = reports < e->n ? reports / e->n : 1;
        for (size_t i = 0; i < e->nchosen; i++) {
            uint64_t code = e->codes[e->chosen[i]];
            double share = part * e->weight[i];

            row[lh_hash(e->s, &e->hashes[j], code)] +=
                (int64_t)(share * e->scale + 0.5);
        }
        lh_points_misfit(e, counted + j * g, row, reports);
    }
}

/* Decode the whole pool, as counted or as predicted, and measure what the
 * prediction leaves. */
static void lh_points_sweep(struct lh_points *e, bool predicted)
{
    const hsy_scheme *s = e->s;
    size_t pool = lh_pool(s);

    e->misfit = 0;
    e->pairs = 0;
    for (size_t k = 0; k < e->nasked; k++)
        e->support[k] = 0;
    for (size_t first = 0; first < pool; first += e->rows) {
        size_t rows = pool - first < e->rows ? pool - first : e->rows;
        const int64_t *table = e->t->cells + first * lh_range(s);

        for (size_t j = 0; j < rows; j++)
            e->hashes[j] = lh_function(s, first + j);
        lh_points_predict(e, table, rows);
        lh_points_decode(e, predicted ? e->table : table, rows);
    }
    e->residual = 1;
    if (e->pairs > 0)
        e->residual =
            e->misfit / e->pairs * e->law.not_q / (e->law.gap * e->law.gap);
    if (e->residual < 0)
        e->residual = 0;
}

/* Variance of a value's estimate as far as reports are to blame. */
static double lh_points_variance(const struct lh_points *e, double f)
{
    f = f < 0 ? 0 : f > 1 ? 1 : f;
    return (f * e->v1 + (1 - f) * e->v0) / e->n;
}

/* The share that is predicted for a value: at most all, so that no counts
 * whatever make a prediction overflow. */
static double lh_points_share(const struct lh_points *e, size_t v)
{
    return e->value[v] < 1 ? e->value[v] : 1;
}

/* Where the code of chosen value i is chosen first: a list may name a code
 * twice, and it is predicted once. */
static size_t lh_points_first(const struct lh_points *e, size_t i)
{
    for (size_t k = 0; e->listed && k < i; k++)
        if (e->codes[e->chosen[k]] == e->codes[e->chosen[i]])
            return k;
    return i;
}

/* kappa of the seeds in use, each by its reports: kappa itself once reports are
 * many more than seeds, 1 / ((g - 1) n) if they are few. */
static double lh_points_meet(const struct lh_points *e)
{
    return (e->pairs + e->n) / (e->n * e->n * (double)(lh_range(e->s) - 1));
}

/* Fill in e->chosen: values more than `z` standard errors above zero. False if
 * there are too many of them for the prediction to settle. */
static bool lh_points_above(struct lh_points *e, double z)
{
    double most = 0.04 / lh_points_meet(e), different = 0;

    e->nchosen = 0;
    for (size_t v = 0; v < e->count; v++) {
        double f = e->value[v];
        double var = lh_points_variance(e, f) + e->kappa * e->residual;

        if (f <= 0 || f * f <= z * z * var)
            continue;
        if (e->nchosen == LH_POINTS_CHOSEN)
            return false;
        e->chosen[e->nchosen++] = (uint32_t)v;
        if (lh_points_first(e, e->nchosen - 1) == e->nchosen - 1)
            different++;
        if (different > most)
            return false;
    }
    return true;
}

/* Shares do not add up to more than all. Where liars make them, the prediction
 * would take a multiple of the lies off everything (docs/poisoning.md, 3). */
static void lh_points_together(struct lh_points *e)
{
    const double sum = e->predicted;

    if (sum <= 1)
        return;
    for (size_t i = 0; i < e->nchosen; i++)
        e->weight[i] /= sum;
    e->predicted = 1;
    e->squares /= sum * sum;
}

/*
 * Choose what is predicted. Feeding back estimates that are mere noise would
 * multiply it, and the matrix of collisions between m values, in the reports,
 * has norm of about 2 sqrt(meet m): 0.04 / meet values keep the steps
 * contracting.
 */
static void lh_points_choose(struct lh_points *e)
{
    double z = 4;

    while (!lh_points_above(e, z))
        z *= 2;
    e->predicted = 0;
    e->squares = 0;
    for (size_t i = 0; i < e->nchosen; i++) {
        bool known = lh_points_first(e, i) != i;

        e->weight[i] = known ? 0 : lh_points_share(e, e->chosen[i]);
        e->predicted += e->weight[i];
        e->squares += e->weight[i] * e->weight[i];
    }
    lh_points_together(e);
}

static double lh_points_plain(const struct lh_points *e, size_t v)
{
    return (e->counted[v] / e->n - e->law.q) / e->law.gap;
}

/* What was predicted of value v itself; *next walks e->chosen as v goes up. */
static double lh_points_self(const struct lh_points *e, size_t *next, size_t v)
{
    if (*next == e->nchosen || e->chosen[*next] != v)
        return 0;
    return e->weight[lh_points_first(e, (*next)++)];
}

/* Subtract the predicted collisions from the plain estimates of all values, or
 * of the chosen alone. */
static void lh_points_correct(struct lh_points *e, bool all)
{
    double sum = e->predicted;
    size_t next = 0;

    for (size_t i = 0; i < e->nchosen; i++)
        e->few[i] = e->codes[e->chosen[i]];
    e->asked = all ? e->codes : e->few;
    e->nasked = all ? e->count : e->nchosen;
    lh_points_sweep(e, true);
    for (size_t k = 0; k < e->nasked; k++) {
        size_t v = all ? k : e->chosen[k];
        double met = (double)e->support[k] / e->scale;
        double self = lh_points_self(e, &next, v);

        e->value[v] = lh_points_plain(e, v) -
                      (met - self - (sum - self) * e->law.q) / e->law.not_q;
    }
}

/* Jacobi steps, as long as collisions weigh anything against the noise. The
 * second step uses shares that the first has corrected, which therefore looks
 * at no others. */
static void lh_points_settle(struct lh_points *e)
{
    for (int round = 0; round < LH_POINTS_ROUNDS; round++) {
        size_t before = e->nchosen;
        double left = e->kappa * e->residual;

        if (round != 1 && 100 * left < e->v0 / e->n)
            break;
        lh_points_choose(e);
        if (e->nchosen == 0)
            break;
        lh_points_correct(e, round > 0);
        if (round > 1 && e->nchosen == before)
            break;
    }
}

/*
 * What a correction takes off the variance. By what seed it has, a report of
 * u supports v with probability P_j(u), of variance b over the seeds; of the
 * corrected statistic, P_j(u) less the sum of w_u P_j(u), the mean over all
 * people is b (1 - sum of w_u^2) instead of b (docs/mechanisms/lh.md, 5), and
 * b / gap^2 = 1 / (g - 1). Shares that cannot be, together, count for less.
 */
static void lh_points_sharpen(const struct lh_points *e, hsy_point *point,
                              double self)
{
    double f = point->value < 0 ? 0 : point->value;
    double squares = e->squares - self * self;

    if (f >= 1)
        return;
    if (squares > (1 - f) * (1 - f))
        squares = (1 - f) * (1 - f);
    /* Carried by those who do not have the value: a share 1 - f of people. */
    point->v0 -= squares / (1 - f) / (double)(lh_range(e->s) - 1);
}

void hsy_lh_points(const hsy_scheme *s, hsy_point *points, const hsy_tally *t,
                   const uint64_t *codes, size_t count, void *scratch)
{
    struct lh_points e = {.s = s,
                          .t = t,
                          .codes = codes,
                          .count = count,
                          .listed = codes != NULL};

    lh_points_open(&e, scratch);
    hsy_lh_support(s, &e.law);
    e.n = (double)t->strata[0];
    e.v0 = mech_support_v0(&e.law);
    e.v1 = mech_support_v1(&e.law);
    e.kappa = 1 / ((double)(lh_range(s) - 1) * (double)lh_pool(s));
    /* Of a seed with up to 8 times the mean one digit of the kernels
     * (lh_decode.h), so that one pass is enough. All roundings together are
     * below 2^-20 / sqrt(seeds) of a share. */
    e.scale = (double)((uint64_t)lh_pool(s) << LH_POINTS_FINE);
    e.asked = e.codes;
    e.nasked = count;
    lh_points_sweep(&e, false);
    for (size_t v = 0; v < count; v++) {
        e.counted[v] = (double)e.support[v];
        e.value[v] = lh_points_plain(&e, v);
    }
    lh_points_settle(&e);
    for (size_t v = 0, next = 0; v < count; v++) {
        hsy_points_pure(&points[v], &e.law, e.n, e.counted[v]);
        points[v].value = e.value[v];
        points[v].floor = e.kappa * e.residual;
        lh_points_sharpen(&e, &points[v], lh_points_self(&e, &next, v));
    }
}

#undef LH_POINTS_BLOCK
#undef LH_POINTS_CHOSEN
#undef LH_POINTS_ROUNDS
#undef LH_POINTS_FINE
