/*
 * reach.c - bounds of sums of shares that hold whatever the shares are.
 *
 * Weights v of the outputs with M' v >= a + b make E[v' c] - b at least a' x
 * for all shares x: v' c - b + z sd(v) is an upper bound of a' x that is missed
 * as often as a normal error is above z, although single bins have no estimate
 * worth having [Donoho94]. Which v is best depends on x. It is the one that
 * separates the pilot, a guess at x, from the shares with the largest a' x at
 * distance z from it (reach_path.c); a bad guess makes the bound wide, and not
 * wrong.
 *
 * But the guess comes from the same counts. Where it has 0 because the noise
 * fell so, the weights would make use of that, and the bound would hold too
 * seldom: over a point mass, 3 times in 10. So the pilot is the estimate
 * blurred over its neighbours and over all values, as far as the counts permit:
 * until their squared distance has grown by REACH_BLUR for each value.
 *                                                docs/estimates.md, section 8
 */
#include "lib/infer/reach.h"

#include <math.h>
#include <string.h>

#define REACH_BLUR 2.0
#define REACH_HALF 2u      /* neighbours to either side */
#define REACH_RIDGE 1e-11  /* of the trace: columns alike are told apart */
#define REACH_LEAST 1e-300 /* a pivot of the covariance */
#define REACH_USUAL 0.95   /* level whose interval gives the sd */

bool hsy_reach_fits(size_t values, size_t outputs)
{
    return values <= HSY_REACH_VALUES && outputs <= HSY_REACH_OUTPUTS;
}

static size_t reach_table_doubles(size_t values)
{
    return (values + 1) * (values + 4);
}

size_t hsy_reach_doubles(size_t values, size_t outputs)
{
    if (!hsy_reach_fits(values, outputs))
        return 0;
    return outputs * (2 * values + outputs + 3) + 4 * values +
           2 * reach_table_doubles(values);
}

static double *reach_take(double **room, size_t count)
{
    double *at = *room;

    *room += count;
    return at;
}

static void reach_table_room(struct reach_table *t, double **room, size_t m)
{
    t->cell = reach_take(room, m * m);
    t->at = reach_take(room, m);
    t->step = reach_take(room, m);
    t->held = reach_take(room, m);
}

void hsy_reach_room(struct reach *r, size_t values, size_t outputs,
                    double *room)
{
    *r = (struct reach){.values = values, .outputs = outputs};
    if (!hsy_reach_fits(values, outputs))
        return;
    r->channel = reach_take(&room, values * outputs);
    r->white = reach_take(&room, values * outputs);
    r->factor = reach_take(&room, outputs * outputs);
    r->image = reach_take(&room, outputs);
    r->off = reach_take(&room, outputs);
    r->weights = reach_take(&room, outputs);
    r->theta = reach_take(&room, values);
    r->pilot = reach_take(&room, values);
    r->pull = reach_take(&room, values);
    r->far = reach_take(&room, values);
    reach_table_room(&r->base, &room, values + 1);
    reach_table_room(&r->work, &room, values + 1);
}

void hsy_reach_channel(struct reach *r, const hsy_scheme *s, double *scratch)
{
    r->neighbours = s->kind == HSY_KIND_BINS;
    memset(r->theta, 0, r->values * sizeof *r->theta);
    for (size_t x = 0; x < r->values; x++) {
        r->theta[x] = 1;
        s->mech->estimate->channel->forward(s, r->channel + x * r->outputs,
                                            r->theta, scratch);
        r->theta[x] = 0;
    }
}

static double reach_dot(const double *a, const double *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* out = M theta. */
static void reach_image(const struct reach *r, double *out, const double *theta)
{
    memset(out, 0, r->outputs * sizeof *out);
    for (size_t x = 0; x < r->values; x++) {
        const double *chance = r->channel + x * r->outputs;

        for (size_t y = 0; y < r->outputs && theta[x] != 0; y++)
            out[y] += theta[x] * chance[y];
    }
}

/* ---- The noise of the counts --------------------------------------------- */

/*
 * n times the covariance of the counts' shares is
 *     diag(f) - M diag(x) M' + sampling (M diag(x) M' - f f'),  f = M x,
 * the noise of the people, and as many parts of the sampling as there are. Any
 * part of f f' may be added: weights that tell shares apart do not see it.
 */
static void reach_covariance(struct reach *r)
{
    const size_t k = r->outputs;
    const double part = r->sampling - 1, *f = r->image;
    double *s = r->factor;

    memset(s, 0, k * k * sizeof *s);
    for (size_t x = 0; x < r->values && part != 0; x++) {
        const double *chance = r->channel + x * k;

        for (size_t i = 0; i < k && r->theta[x] > 0; i++) {
            const double by = part * r->theta[x] * chance[i];

            for (size_t j = 0; j <= i; j++)
                s[i * k + j] += by * chance[j];
        }
    }
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j <= i; j++)
            s[i * k + j] -= part * f[i] * f[j];
        s[i * k + i] += f[i];
    }
}

/* Cholesky, in place. */
static void reach_root(struct reach *r)
{
    const size_t k = r->outputs;
    double *s = r->factor;

    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            const double left =
                s[i * k + j] - reach_dot(s + i * k, s + j * k, j);

            s[i * k + j] =
                i == j ? sqrt(fmax(left, REACH_LEAST)) : left / s[j * k + j];
        }
}

/* Solve root out = out, and root' out = out. */
static void reach_over(const struct reach *r, double *out)
{
    const size_t k = r->outputs;

    for (size_t i = 0; i < k; i++)
        out[i] = (out[i] - reach_dot(r->factor + i * k, out, i)) /
                 r->factor[i * k + i];
}

static void reach_over_transposed(const struct reach *r, double *out)
{
    const size_t k = r->outputs;

    for (size_t i = k; i-- > 0;) {
        out[i] /= r->factor[i * k + i];
        for (size_t j = 0; j < i; j++)
            out[j] -= r->factor[i * k + j] * out[i];
    }
}

/* ---- Where the search begins --------------------------------------------- */

/* Half of each share over its neighbours, half over all. */
static void reach_blurred(const struct reach *r, double *out)
{
    const size_t d = r->values;
    const double near = r->neighbours ? 0.5 : 0;

    for (size_t x = 0; x < d; x++)
        out[x] = (1 - near) / (double)d;
    for (size_t x = 0; x < d && near > 0; x++) {
        const size_t from = x > REACH_HALF ? x - REACH_HALF : 0;
        const size_t to = x + REACH_HALF < d ? x + REACH_HALF + 1 : d;

        for (size_t at = from; at < to; at++)
            out[at] += near * r->theta[x] / (double)(to - from);
    }
}

/* The pilot is theta + part (blurred - theta), whose squared distance from the
 * counts exceeds theta's by part^2 w' H w - 2 part pull' w, w = blurred -
 * theta.
 */
static void reach_pilot(struct reach *r)
{
    const size_t d = r->values, m = d + 1;
    double *way = r->far, curve = 0, slope, part = 1;

    reach_blurred(r, r->pilot);
    for (size_t x = 0; x < d; x++)
        way[x] = r->pilot[x] - r->theta[x];
    slope = reach_dot(r->pull, way, d);
    for (size_t x = 0; x < d; x++)
        curve += way[x] * reach_dot(r->base.cell + x * m, way, d);
    if (curve > 0)
        part = fmin(
            1, (slope + sqrt(slope * slope + curve * REACH_BLUR * (double)d)) /
                   curve);
    for (size_t x = 0; x < d; x++)
        r->pilot[x] = r->theta[x] + part * way[x];
}

/* H = n M' S^-1 M with the row of the sum, and pull = n M' S^-1 (c - f). */
static void reach_gram(struct reach *r)
{
    const size_t d = r->values, m = d + 1, k = r->outputs;
    double *cell = r->base.cell, trace = 0;

    for (size_t i = 0; i < d; i++) {
        const double *row = r->white + i * k;

        for (size_t j = 0; j <= i; j++)
            cell[i * m + j] = cell[j * m + i] =
                r->n * reach_dot(row, r->white + j * k, k);
        r->pull[i] = r->n * reach_dot(row, r->off, k);
        trace += cell[i * m + i];
        cell[i * m + d] = -1;
        cell[d * m + i] = 1;
    }
    for (size_t i = 0; i < d; i++)
        cell[i * m + i] += REACH_RIDGE * trace / (double)d;
    cell[d * m + d] = 0;
}

/* All shares of the pilot are above 0, so all are held. */
static void reach_base(struct reach *r)
{
    const size_t d = r->values, m = d + 1;

    memset(r->base.at, 0, m * sizeof *r->base.at);
    memset(r->base.step, 0, m * sizeof *r->base.step);
    memset(r->base.held, 0, m * sizeof *r->base.held);
    for (size_t i = 0; i < m; i++)
        hsy_reach_exchange(&r->base, m, i);
    memcpy(r->base.at, r->pilot, d * sizeof *r->pilot);
    r->base.at[d] = 0;
}

void hsy_reach_open(struct reach *r, const double *theta, const double *counts,
                    double n, double sampling)
{
    r->n = n;
    r->sampling = sampling;
    memcpy(r->theta, theta, r->values * sizeof *theta);
    memcpy(r->white, r->channel, r->values * r->outputs * sizeof *r->channel);
    reach_image(r, r->image, theta);
    reach_covariance(r);
    reach_root(r);
    for (size_t x = 0; x < r->values; x++)
        reach_over(r, r->white + x * r->outputs);
    for (size_t y = 0; y < r->outputs; y++)
        r->off[y] = counts[y] - r->image[y];
    reach_over(r, r->off);
    reach_gram(r);
    reach_pilot(r);
    reach_base(r);
}

/* ---- A bound ------------------------------------------------------------- */

/* The standard deviation of the weighted counts if far were the shares: v is
 * n S^-1 M (far - pilot) / mu. */
static double reach_deviation(const struct reach *r, double mu)
{
    const size_t k = r->outputs;
    double noise = 0, first = 0, second = 0, *v = r->weights;

    memset(v, 0, k * sizeof *v);
    for (size_t x = 0; x < r->values; x++) {
        const double by = (r->far[x] - r->pilot[x]) * r->n / mu;

        for (size_t y = 0; y < k && by != 0; y++)
            v[y] += by * r->white[x * k + y];
    }
    reach_over_transposed(r, v);
    for (size_t x = 0; x < r->values; x++) {
        const double *chance = r->channel + x * k;
        double mean = 0, square = 0;

        if (!(r->far[x] > 0))
            continue;
        for (size_t y = 0; y < k; y++) {
            mean += chance[y] * v[y];
            square += chance[y] * v[y] * v[y];
        }
        noise += r->far[x] * (square - mean * mean);
        first += r->far[x] * mean;
        second += r->far[x] * mean * mean;
    }
    return sqrt(fmax(noise + r->sampling * (second - first * first), 0) / r->n);
}

/* With few reports the variance at the estimate is itself uncertain: the larger
 * of that and the one at the far end. */
double hsy_reach_bound(struct reach *r, const double *a, int sign, double z)
{
    double level = 0, most = -INFINITY, says = 0, mu, bound;

    for (size_t x = 0; x < r->values; x++)
        most = fmax(most, sign * a[x]);
    mu = hsy_reach_path(r, &level, a, sign, z);
    if (!isfinite(mu))
        return sign * most;
    for (size_t x = 0; x < r->values; x++)
        says += r->pull[x] * (r->far[x] - r->pilot[x]);
    bound = (says - level) / mu + z * fmax(z / mu, reach_deviation(r, mu));
    return sign * fmin(bound, most);
}

static void reach_ends(struct reach *r, double ends[2], const double *a,
                       double value, double z)
{
    ends[0] = fmin(value, hsy_reach_bound(r, a, -1, z));
    ends[1] = fmax(value, hsy_reach_bound(r, a, 1, z));
}

void hsy_reach_interval(struct reach *r, hsy_estimate *est, const double *a,
                        double z)
{
    const double usual = -hsy_normal_quantile((1 - REACH_USUAL) / 2);
    double ends[2];

    reach_ends(r, ends, a, est->value, z);
    est->low = ends[0];
    est->high = ends[1];
    if (z != usual)
        reach_ends(r, ends, a, est->value, usual);
    est->sd = (ends[1] - ends[0]) / (2 * usual);
}
