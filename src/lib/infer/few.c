/*
 * few.c - intervals where the normal approximation does not hold.
 *
 * A level z standard errors out asks for tails that few counts do not have: of
 * n q (1-q) supports by chance the tail at z differs from the normal one by a
 * factor of about e^(z^3 / (6 sqrt(n q (1-q)))). So from z = 2 on, and below
 * some z^4 of them, intervals are made from the counts [docs/estimates.md, 3]:
 *
 *     population  Clopper-Pearson
 *     people      all K of n for which Bin(K, p) + Bin(n - K, q) has so little,
 *                 or so much, support with more than miss / 2: exactly
 *     two counts  Clopper-Pearson for each, at half of miss
 *     a bound     value +- sqrt(2 bound ln(2 / miss)) [Hoeffding63]
 */
#include "lib/infer/infer.h"
#include "lib/special/special.h"

#include <math.h>
#include <stddef.h>

#define FEW_LEAST_Z 2.0 /* a single interval at 95 % stays normal */
#define FEW_COIN 4.0    /* times z^4 of chance supports: exact costs no width */
#define FEW_REACH_SD 12 /* beyond so many standard deviations, */
#define FEW_REACH_MORE 60 /* and so many counts, a tail is nothing */

/* ---- Two binomials ------------------------------------------------------- */

struct few_coin {
    double n, rate;
};

static double few_variance(const struct few_coin *c)
{
    return c->n * c->rate * (1 - c->rate);
}

/* The counts that matter: from .. to. */
static void few_reach(const struct few_coin *c, double *from, double *to)
{
    const double mean = c->n * c->rate;
    const double more = FEW_REACH_SD * sqrt(few_variance(c)) + FEW_REACH_MORE;

    *from = fmax(floor(mean - more), 0);
    *to = fmin(ceil(mean + more), c->n);
}

/* P[k - 1] or P[k + 1] over P[k]. */
static double few_down(const struct few_coin *c, double k)
{
    return k * (1 - c->rate) / ((c->n - k + 1) * c->rate);
}

static double few_up(const struct few_coin *c, double k)
{
    return (c->n - k) * c->rate / ((k + 1) * (1 - c->rate));
}

static double few_chance(const struct few_coin *c, double k)
{
    return k < 0 || k > c->n ? 0
                             : exp(hsy_special_binomial_log(k, c->n, c->rate));
}

/* P[x + y >= s], x the one of less variance: the sum over x of P[x] times the
 * tail of y from s - x on, which grows with x by one chance at a time. */
static double few_tail_of(const struct few_coin *x, const struct few_coin *y,
                          double s)
{
    double from, to, least, most, tail, here, chance, sum = 0;

    few_reach(x, &from, &to);
    few_reach(y, &least, &most);
    from = fmax(from, s - most);
    if (from > to)
        return 0;
    tail = hsy_special_binomial(s - from, y->n, y->rate, true);
    here = few_chance(y, s - from);
    chance = few_chance(x, from);
    for (double k = from; k <= to; k++) {
        sum += chance * tail;
        chance *= few_up(x, k);
        here = s - k > 0 ? here * few_down(y, s - k) : 0;
        tail += here;
    }
    return fmin(sum, 1);
}

static double few_tail(const struct few_coin *a, const struct few_coin *b,
                       double s)
{
    return few_variance(a) < few_variance(b) ? few_tail_of(a, b, s)
                                             : few_tail_of(b, a, s);
}

/* ---- The people's share -------------------------------------------------- */

/* A count of n reports, of which people with the value support it by p and the
 * others by q, q < p. */
struct few_people {
    double n, support, p, q;
    double tail; /* the least chance that is not yet a miss */
};

/* Whether own people can make so much support. Never less with more of them. */
static bool few_enough(const struct few_people *c, double own)
{
    const struct few_coin a = {own, c->p}, b = {c->n - own, c->q};

    return few_tail(&a, &b, c->support) > c->tail;
}

/* The fewest people who can, sought from a guess on. */
static double few_fewest(const struct few_people *c, double guess)
{
    double least = -1, most = c->n; /* too few, and enough or everybody */
    double at = fmin(fmax(floor(guess), 0), c->n), step = 1;

    while (most - least > 1) {
        if (few_enough(c, at))
            most = at;
        else
            least = at;
        if (least >= 0 && most < c->n)
            at = floor((least + most) / 2);
        else if (most < c->n)
            at = fmax(most - step, 0);
        else
            at = fmin(least + step, c->n - 1);
        step *= 2;
        if (at <= least || at >= most)
            at = floor((least + most) / 2);
    }
    return most;
}

/* The other way round: people without the value, and reports without support.
 */
static struct few_people few_mirror(struct few_people c)
{
    return (struct few_people){.n = c.n,
                               .support = c.n - c.support,
                               .p = 1 - c.q,
                               .q = 1 - c.p,
                               .tail = c.tail};
}

/* From where the normal interval ends, at shares near the value. */
static double few_guess(const struct few_people *c, double z)
{
    const double f = hsy_share_clip((c->support / c->n - c->q) / (c->p - c->q));
    const double noise = f * c->p * (1 - c->p) + (1 - f) * c->q * (1 - c->q);

    return c->n * f - z * sqrt(c->n * noise) / (c->p - c->q);
}

/* The support that a point's value stands for: what was counted, less what the
 * mechanism took off, and then in general no whole number. */
static double few_support(const hsy_evidence *point)
{
    const double shift = hsy_evidence_shift(point);
    const double support =
        point->support + shift * point->n * (point->p - point->q);

    return fmin(fmax(support, 0), point->n);
}

/* In terms of the other answer where q > p. */
static struct few_people few_people_of(const hsy_evidence *point, double miss)
{
    const struct few_people c = {.n = point->n,
                                 .support = few_support(point),
                                 .p = point->p,
                                 .q = point->q,
                                 .tail = miss / 2};

    if (c.p > c.q)
        return c;
    return (struct few_people){.n = c.n,
                               .support = c.n - c.support,
                               .p = 1 - c.p,
                               .q = 1 - c.q,
                               .tail = c.tail};
}

static void few_people_shares(double ends[2], const hsy_evidence *point,
                              double miss)
{
    const double z = -hsy_normal_quantile(miss / 2);
    struct few_people some = few_people_of(point, miss);
    struct few_people others = few_mirror(some);

    some.support = floor(some.support);
    others.support = floor(others.support);
    ends[0] = few_fewest(&some, few_guess(&some, z)) / point->n;
    ends[1] = 1 - few_fewest(&others, few_guess(&others, z)) / point->n;
}

/* ---- Points -------------------------------------------------------------- */

static double few_share(const hsy_evidence *point, double rate)
{
    return hsy_share_clip((rate - point->q) / (point->p - point->q));
}

/* Where only some of the people were asked, their share is a sample's. */
static void few_coin(double ends[2], const hsy_evidence *point,
                     hsy_target target, double miss)
{
    const double support = few_support(point);
    double rates[2], most[2];

    if (target == HSY_PEOPLE && point->binomial_variance <= 0 &&
        point->n < 0x1p53) {
        few_people_shares(ends, point, miss);
        return;
    }
    hsy_interval_rates(rates, point->n, floor(support), miss);
    hsy_interval_rates(most, point->n, ceil(support), miss);
    rates[1] = most[1];
    ends[0] = few_share(point, rates[point->p < point->q]);
    ends[1] = few_share(point, rates[point->p > point->q]);
}

/* Counts with weights: the rates of each, and the value's least and most. */
static void few_counts(double ends[2], const hsy_few *few, double miss)
{
    const double part = few->weight[1] != 0 ? miss / 2 : miss;

    ends[0] = ends[1] = few->base;
    for (size_t i = 0; i < 2; i++) {
        double rates[2] = {0, 1};

        if (few->n > 0)
            hsy_interval_rates(rates, few->n, few->count[i], part);
        ends[0] += few->weight[i] * rates[few->weight[i] < 0];
        ends[1] += few->weight[i] * rates[few->weight[i] > 0];
    }
}

/* Chances to support that a normal count of this many reports lacks. */
static bool few_is(double n, double rate, double z, double times)
{
    return z > FEW_LEAST_Z && n * rate * (1 - rate) < times * z * z * z * z;
}

/* What is beside the counts takes half of miss, if there is anything. */
static void few_interval(double ends[2], const hsy_evidence *point,
                         hsy_target target, double miss)
{
    const hsy_few *few = &point->few;
    const bool counted = few->rate > 0;
    const double beside = counted ? few->bound : point->residual_variance;
    const double part = beside > 0 ? miss / 2 : miss;
    const double more = sqrt(-2 * beside * log(part / 2));

    if (counted)
        few_counts(ends, few, part);
    else
        few_coin(ends, point, target, part);
    ends[0] = hsy_share_clip(ends[0] - more);
    ends[1] = hsy_share_clip(ends[1] + more);
}

static void few_bound(double ends[2], const hsy_evidence *point, double miss)
{
    const double half = sqrt(-2 * point->few.bound * log(miss / 2));

    ends[0] = point->value - half;
    ends[1] = point->value + half;
}

static bool few_applies(const hsy_evidence *point, double z)
{
    const hsy_few *few = &point->few;

    if (point->kept > 0 || point->came > 0)
        return false; /* counts of people who came again are no coins */
    if (few->rate > 0)
        return few_is(few->n, few->rate, z, 1);
    return hsy_interval_check(point, HSY_EXACT, NULL) == HSY_OK &&
           point->p > 0 && point->p < 1 && point->q > 0 && point->q < 1 &&
           (few_is(point->n, point->q, z, FEW_COIN) ||
            few_is(point->n, point->p, z, FEW_COIN));
}

bool hsy_interval_few(double ends[2], const hsy_evidence *point,
                      hsy_target target, double miss)
{
    if (!few_applies(point, -hsy_normal_quantile(miss / 2)))
        return false;
    if (point->few.rate > 0 && point->few.weight[0] == 0)
        few_bound(ends, point, miss);
    else
        few_interval(ends, point, target, miss);
    ends[0] = fmin(ends[0], point->value);
    ends[1] = fmax(ends[1], point->value);
    return true;
}
