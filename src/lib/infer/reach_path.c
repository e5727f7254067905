/*
 * reach_path.c - the largest sum of shares at each distance from a pilot.
 *
 * With H = n M' S^-1 M, minimize (x - pilot)' H (x - pilot) / 2 - mu a' x over
 * shares x, x >= 0, which add up to 1: from mu = 0 on, x moves along straight
 * lines and turns where a share becomes 0 or leaves 0 [Markowitz56]. Each turn
 * exchanges one share with its multiplier in the table, in O(values^2).
 */
#include "lib/infer/reach.h"

#include <math.h>
#include <string.h>

#define PATH_FLAT 1e-11 /* of the largest step: what rounding leaves */
#define PATH_TURNS 20u  /* times the values; some four in practice */

/*
 * y = A x + c becomes the same with y_k and x_k exchanged:
 * x_k = (y_k - sum of A_kj x_j - c_k) / A_kk, put into all other rows.
 */
void hsy_reach_exchange(struct reach_table *t, size_t m, size_t k)
{
    double *row = t->cell + k * m;
    const double pivot = 1 / row[k];

    for (size_t i = 0; i < m; i++) {
        double *other = t->cell + i * m;
        const double part = other[k] * pivot;

        if (i == k || part == 0)
            continue;
        for (size_t j = 0; j < m; j++)
            other[j] -= part * row[j];
        other[k] = part;
        t->at[i] -= part * t->at[k];
        t->step[i] -= part * t->step[k];
    }
    for (size_t j = 0; j < m; j++)
        row[j] *= -pivot;
    row[k] = pivot;
    t->at[k] *= -pivot;
    t->step[k] *= -pivot;
    t->held[k] = 1 - t->held[k];
}

/* A copy of the base that moves along a. */
static void path_begin(struct reach *r, const double *a, int sign)
{
    const size_t d = r->values, m = d + 1;
    struct reach_table *t = &r->work;

    memcpy(t->cell, r->base.cell, m * m * sizeof *t->cell);
    memcpy(t->at, r->base.at, m * sizeof *t->at);
    memcpy(t->held, r->base.held, m * sizeof *t->held);
    for (size_t i = 0; i < m; i++) {
        double sum = t->held[i] > 0 || i == d ? 0 : -sign * a[i];

        for (size_t j = 0; j < d; j++)
            if (t->held[j] > 0)
                sum += sign * a[j] * t->cell[i * m + j];
        t->step[i] = sum;
    }
}

/* The row that turns next after mu, and where; m if none does. */
static size_t path_turn(const struct reach_table *t, size_t d, size_t last,
                        double flat, double mu, double *at)
{
    size_t found = d + 1;

    *at = INFINITY;
    for (size_t i = 0; i < d; i++) {
        const double least = t->held[i] > 0 ? flat : PATH_FLAT * 100;
        double here;

        if (i == last || t->step[i] >= -least)
            continue;
        here = fmax(-t->at[i] / t->step[i], mu);
        if (here < *at) {
            *at = here;
            found = i;
        }
    }
    return found;
}

/* How fast the sum asked for rises with mu. */
static double path_slope(const struct reach_table *t, size_t d, const double *a,
                         int sign)
{
    double slope = 0;

    for (size_t i = 0; i < d; i++)
        if (t->held[i] > 0)
            slope += sign * a[i] * t->step[i];
    return slope;
}

static double path_flat(const struct reach_table *t, size_t d)
{
    double most = 0;

    for (size_t i = 0; i < d; i++)
        if (t->held[i] > 0)
            most = fmax(most, t->cell[i * (d + 1) + i]);
    return PATH_FLAT * most;
}

/* Between two turns the squared distance grows by slope (mu'^2 - mu^2). */
double hsy_reach_path(struct reach *r, double *level, const double *a, int sign,
                      double z)
{
    const size_t d = r->values, m = d + 1;
    struct reach_table *t = &r->work;
    double mu = 0, square = 0, flat, turn, slope, stop;
    size_t last = m;

    path_begin(r, a, sign);
    flat = path_flat(t, d);
    for (size_t turns = 0;; turns++) {
        const size_t k = path_turn(t, d, last, flat, mu, &turn);

        slope = path_slope(t, d, a, sign);
        stop = slope > flat ? sqrt(mu * mu + (z * z - square) / slope)
                            : (double)INFINITY;
        if (stop <= turn || k == m || turns > PATH_TURNS * d)
            break;
        square += fmax(slope, 0) * (turn * turn - mu * mu);
        mu = turn;
        hsy_reach_exchange(t, m, k);
        t->at[k] = -mu * t->step[k];
        last = k;
    }
    if (!(stop <= turn) || !isfinite(stop))
        return INFINITY;
    for (size_t i = 0; i < d; i++)
        r->far[i] = t->held[i] > 0 ? fmax(t->at[i] + stop * t->step[i], 0) : 0;
    *level = t->at[d] + stop * t->step[d];
    return stop;
}
