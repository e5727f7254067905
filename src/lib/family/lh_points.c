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
 * of f_u^2, kappa = 1 / ((g - 1) K) for K seeds (theory 3.4). The hashes
 * are known, so the part of significant values is predicted and subtracted
 * (Jacobi steps); what is left goes into point.residual_variance.
 * docs/mechanisms/lh.md, 5
 */
#include "lib/family/lh.h"

#include "lib/family/predict.h"
#include "lib/family/twolevel.h"

#define LH_POINTS_BLOCK ((size_t)1 << 17) /* cells decoded at once */
#define LH_POINTS_FINE 20                 /* bits of the mean share of a seed */

/* One estimation. The pointers lead into the caller's scratch. */
struct lh_points {
    struct predict set;
    const hsy_scheme *s;
    const hsy_tally *t;

    size_t rows; /* of a block */
    struct pool_hash *hashes;
    struct kernel_cell *cells; /* of one block, if they are few */
    size_t room;
    int64_t *table; /* one block, predicted */

    double misfit; /* see lh_points_misfit */
    double pairs;  /* ordered pairs of reports with one seed */
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

    return hsy_predict_scratch(count) +
           rows * (sizeof(struct pool_hash) + lh_range(s) * sizeof(int64_t)) +
           lh_points_room(s, rows) * sizeof(struct kernel_cell);
}

static void lh_points_open(struct lh_points *e, const uint64_t *codes,
                           size_t count, void *scratch)
{
    void *behind = hsy_predict_open(&e->set, count, scratch);

    e->set.codes = codes;
    e->set.listed = codes != NULL;
    if (codes == NULL) {
        for (size_t i = 0; i < count; i++)
            e->set.room[i] = i;
        e->set.codes = e->set.room;
    }
    e->rows = lh_points_rows(e->s);
    e->room = lh_points_room(e->s, e->rows);
    e->hashes = behind;
    e->cells = (struct kernel_cell *)(e->hashes + e->rows);
    e->table = (int64_t *)(e->cells + e->room);
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
        s->kernels->lh_direct(e->set.support, e->set.asked, e->set.nasked,
                              e->cells, found, lh_range(s), lh_narrow(s));
    else
        s->kernels->lh_table(e->set.support, e->set.asked, e->set.nasked,
                             e->hashes, table, rows, lh_range(s), lh_narrow(s));
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
    double slope =
        e->set.law.gap / e->set.law.not_q; /* own less other probability */
    double base = (1 - slope * e->set.predicted) * e->set.law.q;
    double unit = slope * e->set.n / (reports * e->set.scale);
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
        part = reports < e->set.n ? reports / e->set.n : 1;
        for (size_t i = 0; i < e->set.nchosen; i++) {
            uint64_t code = e->set.codes[e->set.chosen[i]];
            double share = part * e->set.weight[i];

            row[lh_hash(e->s, &e->hashes[j], code)] +=
                (int64_t)(share * e->set.scale + 0.5);
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
    for (size_t k = 0; k < e->set.nasked; k++)
        e->set.support[k] = 0;
    for (size_t first = 0; first < pool; first += e->rows) {
        size_t rows = pool - first < e->rows ? pool - first : e->rows;
        const int64_t *table = e->t->cells + first * lh_range(s);

        for (size_t j = 0; j < rows; j++)
            e->hashes[j] = lh_function(s, first + j);
        lh_points_predict(e, table, rows);
        lh_points_decode(e, predicted ? e->table : table, rows);
    }
    e->set.residual = 1;
    if (e->pairs > 0)
        e->set.residual = e->misfit / e->pairs * e->set.law.not_q /
                          (e->set.law.gap * e->set.law.gap);
    if (e->set.residual < 0)
        e->set.residual = 0;
}

/* kappa of the seeds in use, each by its reports: kappa itself once reports are
 * many more than seeds, 1 / ((g - 1) n) if they are few. */
static double lh_points_meet(const struct lh_points *e)
{
    return (e->pairs + e->set.n) /
           (e->set.n * e->set.n * (double)(lh_range(e->s) - 1));
}

/*
 * What a correction takes off the variance. By what seed it has, a report of
 * u supports v with probability P_j(u), of variance b over the seeds; of the
 * corrected statistic, P_j(u) less the sum of w_u P_j(u), the mean over all
 * people is b (1 - sum of w_u^2) instead of b (docs/mechanisms/lh.md, 5), and
 * b / gap^2 = 1 / (g - 1). Shares that cannot be, together, count for less.
 */
static void lh_points_sharpen(const struct lh_points *e, hsy_evidence *point,
                              double self)
{
    double f = point->value < 0 ? 0 : point->value;
    double squares = e->set.squares - self * self;

    if (f >= 1)
        return;
    if (squares > (1 - f) * (1 - f))
        squares = (1 - f) * (1 - f);
    /* Carried by those who do not have the value: a share 1 - f of people. */
    point->v0 -= squares / (1 - f) / (double)(lh_range(e->s) - 1);
}

static void lh_points_predicted(void *ctx)
{
    lh_points_sweep(ctx, true);
}

static void lh_points_law(struct lh_points *e)
{
    const hsy_scheme *s = e->s;
    struct predict *p = &e->set;

    hsy_lh_support(s, &p->law);
    p->meet = p->law.q;
    p->not_meet = p->law.not_q;
    p->n = (double)e->t->strata[0];
    p->v0 = mech_support_v0(&p->law);
    p->v1 = mech_support_v1(&p->law);
    p->kappa = 1 / ((double)(lh_range(s) - 1) * (double)lh_pool(s));
    /* Of a seed with up to 8 times the mean one digit of the kernels
     * (lh_decode.h), so that one pass is enough. All roundings together are
     * below 2^-20 / sqrt(seeds) of a share. */
    p->scale = (double)((uint64_t)lh_pool(s) << LH_POINTS_FINE);
    p->sweep = lh_points_predicted;
    p->ctx = e;
}

void hsy_lh_points(const hsy_scheme *s, hsy_evidence *points,
                   const hsy_tally *t, const uint64_t *codes, size_t count,
                   void *scratch)
{
    struct lh_points e = {.s = s, .t = t};
    struct predict *p = &e.set;

    lh_points_open(&e, codes, count, scratch);
    lh_points_law(&e);
    p->asked = p->codes;
    p->nasked = count;
    lh_points_sweep(&e, false);
    for (size_t v = 0; v < count; v++)
        p->counted[v] = (double)p->support[v];
    hsy_predict_plain(p);
    p->most = 0.04 / lh_points_meet(&e);
    hsy_predict_settle(p);
    for (size_t v = 0, next = 0; v < count; v++) {
        hsy_evidence_pure(&points[v], &p->law, p->n, p->counted[v]);
        points[v].value = p->value[v];
        points[v].residual_variance = p->kappa * p->residual;
        lh_points_sharpen(&e, &points[v], hsy_predict_self(p, &next, v));
    }
}
