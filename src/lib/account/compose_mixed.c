/*
 * compose_mixed.c - the loss of reports with several epsilons, on a grid.
 *
 * Reports with one epsilon lose epsilon (k - 2F) together (compose.c); those of
 * all kinds add up, so their laws are convolved. A loss l between two points of
 * the grid, l1 < l < l2, is split between them so that its chance under both
 * truths is kept:
 *
 *     w = w1 + w2,   w e^-l = w1 e^-l1 + w2 e^-l2.
 *
 * Merging the two points again is a post-processing that gives back the loss
 * l, so the split law loses at least as much: always an upper bound, and off
 * only in the second order of the grid's step, where rounding up is off in the
 * first. Losses below the grid are rounded up to its lowest point; those above
 * count as infinite, that is, into delta.
 */
#include "lib/account/internal.h"

#include <math.h>
#include <string.h>

#define MIXED_CUT 1e-9 /* of delta: what may fall off the upper end */

/* Point i of the grid is the loss (first + i) step. */
struct mixed_law {
    double *mass;
    size_t len;
    double first, step;
};

struct mixed {
    struct mixed_law all, one, next;
    double infinite; /* what lies above */
    double most;     /* the sum of all epsilons */
    double reach;    /* how far from its mean their loss is kept */
    double log_cut, log_delta;
};

/* Hoeffding: losses pass their mean by so much with chance e^-log_cut at most;
 * norm is the root of the sum of squared epsilons, which themselves may be too
 * small for a double. */
static double mixed_reach(double norm, double log_cut)
{
    return norm * sqrt(2 * log_cut);
}

/* Add a mass at a loss, which is within the law's points but for rounding. */
static void mixed_put(struct mixed_law *law, double loss, double mass)
{
    const double at = loss / law->step - law->first;
    const double place = fmax(floor(at), 0);
    const size_t i = (size_t)place;
    /* Moved up by more than its rounding. */
    const double part = (at - place) * law->step + 1e-15 * fabs(loss);
    const double up = fmin(expm1(-fmax(part, 0)) / expm1(-law->step), 1);

    if (i + 1 >= law->len) {
        law->mass[law->len - 1] += mass;
        return;
    }
    law->mass[i] += mass * (1 - up);
    law->mass[i + 1] += mass * up;
}

/* The law of one kind, into m->one: flips from the fewest kept to the most. */
static void mixed_kind(struct mixed *m, const hsy_spent *spent)
{
    struct mixed_law *law = &m->one;
    const double e = spent->epsilon, k = (double)spent->count;
    const double q = exp(-e) / (1 + exp(-e)), mean = k * q;
    const double reach = mixed_reach(sqrt(k), m->log_cut) / 2 + 1;
    const double low = fmax(floor(mean - reach), 0);
    const double high = fmin(ceil(mean + reach), k);

    law->first = floor(e * (k - 2 * high) / law->step);
    law->len = (size_t)(ceil(e * (k - 2 * low) / law->step) - law->first) + 2;
    memset(law->mass, 0, law->len * sizeof *law->mass);
    for (double f = low; f <= high; f++)
        mixed_put(law, e * (k - 2 * f), hsy_account_chance(f, k, q));
    if (high < k) /* less lost: as if it were the least that is kept */
        mixed_put(law, e * (k - 2 * high), exp(-m->log_cut));
    if (low > 0)
        m->infinite += exp(-m->log_cut);
}

/* m->all and m->one into m->next, which begins at `first`. */
static void mixed_convolve(struct mixed *m, double first, size_t len)
{
    const struct mixed_law *a = &m->all, *b = &m->one;
    struct mixed_law *out = &m->next;

    out->first = first;
    out->len = len;
    memset(out->mass, 0, len * sizeof *out->mass);
    for (size_t i = 0; i < a->len; i++) {
        const double start = a->first + (double)i + b->first - first;
        const double below = fmin(fmax(-start, 0), (double)b->len);
        const double fits = fmin(fmax((double)len - start, 0), (double)b->len);
        const size_t from = (size_t)below, to = (size_t)fits;
        double *at = out->mass + (start > 0 ? (size_t)start : 0);
        const double w = a->mass[i];

        for (size_t j = 0; j < from; j++)
            out->mass[0] += w * b->mass[j];
        for (size_t j = from; j < to; j++)
            at[j - from] += w * b->mass[j];
        for (size_t j = to > from ? to : from; j < b->len; j++)
            m->infinite += w * b->mass[j];
    }
}

/* Add a kind to all; mean is that of the kinds so far. What is kept is as wide
 * as the law of all of them, so that splitting does not lead out of it. */
static void mixed_add(struct mixed *m, const hsy_spent *spent, double mean)
{
    const double step = m->one.step;
    struct mixed_law swap = m->all;
    double least, first, end;

    mixed_kind(m, spent);
    least = m->all.first + m->one.first;
    first = fmax(floor((mean - m->reach) / step), least);
    end = fmin(ceil((mean + m->reach) / step) + 1,
               least + (double)(m->all.len + m->one.len - 1));
    end = fmin(end, first + (double)COMPOSE_CELLS);
    mixed_convolve(m, first, (size_t)(end - first));
    m->all = m->next;
    m->next = swap;
}

static double mixed_miss(void *ctx, double total)
{
    const struct mixed *m = ctx;
    const struct mixed_law *law = &m->all;
    double sum = m->infinite;

    if (total >= m->most)
        return -INFINITY;
    for (size_t i = 0; i < law->len; i++) {
        const double loss = (law->first + (double)i) * law->step;
        const double past = loss - total + 1e-15 * fabs(loss);

        if (past > 0)
            sum += law->mass[i] * -expm1(-past);
    }
    return log(sum) - m->log_delta;
}

/* m->most, m->reach, and a step that lets the law of all, and each kind's, fit
 * into the cells, with the up to three that rounding adds to each kind. */
static double mixed_step(struct mixed *m, const hsy_spent *spent, size_t kinds)
{
    double norm = 0, widest = 0;

    for (size_t i = 0; i < kinds; i++) {
        const double e = spent[i].epsilon, k = (double)spent[i].count;
        const double reach = mixed_reach(sqrt(k) * e, m->log_cut) + 4 * e;

        m->most += k * e;
        norm = hypot(norm, sqrt(k) * e);
        widest = fmax(widest, fmin(reach, k * e));
    }
    m->reach = mixed_reach(norm, m->log_cut);
    widest = fmax(widest, fmin(m->reach, m->most));
    return 2 * widest / ((double)COMPOSE_CELLS - 8 - 4 * (double)kinds);
}

/* The search ends on the safe side; 4e-12 a kind is more than chances and sums
 * of COMPOSE_CELLS terms may be too small. What two truths tell apart is at
 * most half the sum of all epsilons: delta alone covers a small one, and a grid
 * could not hold it. */
double hsy_compose_mixed(const hsy_spent *spent, size_t kinds, double delta,
                         double *scratch)
{
    const double slack = log1p(4e-12 * (double)kinds);
    struct mixed m = {.log_cut = log(4 * (double)kinds / (MIXED_CUT * delta)),
                      .log_delta = log(delta) - slack};
    const double step = mixed_step(&m, spent, kinds);
    struct account_search search = {
        .f = mixed_miss, .ctx = &m, .bad = 0, .width = 1e-12};
    double mean = 0;

    if (m.most <= delta)
        return 0;
    m.one = (struct mixed_law){scratch, 0, 0, step};
    m.next = (struct mixed_law){scratch + COMPOSE_CELLS, 0, 0, step};
    m.all = (struct mixed_law){scratch + 2 * COMPOSE_CELLS, 1, 0, step};
    m.all.mass[0] = 1;
    for (size_t i = 0; i < kinds; i++) {
        const double e = spent[i].epsilon;

        mean += (double)spent[i].count * e * tanh(e / 2);
        mixed_add(&m, &spent[i], mean);
    }
    m.most *= COMPOSE_SAFE(kinds);
    search.good = m.most;
    return hsy_account_search(&search);
}
