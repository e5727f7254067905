/*
 * compose.c - what many reports cost together: of one person, one after the
 * other, or of many people who change together.
 *
 * Any two laws within e^epsilon are a post-processing of binary randomized
 * response at epsilon [KOV15], so k of them, each chosen with the ones
 * before in view, lose no more than k answers of it. If F of those come out
 * flipped the loss is epsilon (k - 2F), F ~ Bin(k, q), q = 1 / (1 + e^epsilon),
 * and nothing smaller will do:
 *
 *     delta(total) = E max(0, 1 - e^(total - loss)).
 *
 * Closed bounds beside it, on the sums over all reports: epsilon; [BNS18]
 * epsilon^2 / 2 + sqrt(2 ln(1/delta) sum of epsilon^2); the same with the
 * divergence epsilon tanh(epsilon/2) itself for epsilon^2 / 2; and [DRV10] with
 * epsilon (e^epsilon - 1).           docs/accounting.md
 */
#include "lib/account/internal.h"
#include "lib/core/fail.h"

#include <math.h>

/* ---- Closed bounds ------------------------------------------------------- */

static hsy_status compose_check(const hsy_spent *spent, size_t kinds,
                                hsy_error *err)
{
    uint64_t reports = 0;

    if (kinds == 0)
        return hsy_fail(err, HSY_E_EMPTY, HSY_FIELD_SPENT, "nothing was spent");
    for (size_t i = 0; i < kinds; i++) {
        hsy_status st =
            hsy_account_epsilon_check(spent[i].epsilon, HSY_FIELD_EPSILON, err);

        if (st != HSY_OK)
            return st;
        if (spent[i].count == 0 || spent[i].count > HSY_COMPOSE_MAX - reports)
            return hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_COUNT,
                                   "reports: from 1 to 1000000000 together",
                                   HSY_COMPOSE_MAX);
        reports += spent[i].count;
    }
    return HSY_OK;
}

hsy_status hsy_compose_bounds(hsy_composed *out, const hsy_spent *spent,
                              size_t kinds, double delta, hsy_error *err)
{
    const double safe = COMPOSE_SAFE(kinds);
    double sum = 0, norm = 0, kl = 0, growth = 0, spread;
    hsy_status st = compose_check(spent, kinds, err);

    if (st == HSY_OK)
        st = hsy_account_delta_check(delta, err);
    if (st != HSY_OK)
        return st;
    for (size_t i = 0; i < kinds; i++) {
        const double e = spent[i].epsilon, k = (double)spent[i].count;

        sum += k * e;
        norm = hypot(norm, sqrt(k) * e); /* e * e may be too small */
        kl += k * e * tanh(e / 2);
        growth += k * e * expm1(e);
    }
    spread = norm * sqrt(-2 * log(delta));
    *out = (hsy_composed){.basic = sum * (1 + 4e-16 * (1 + (double)kinds)),
                          .grouposition = (norm * norm / 2 + spread) * safe,
                          .divergence = (kl + spread) * safe,
                          .advanced = (growth + spread) * safe};
    return HSY_OK;
}

/* ---- One epsilon --------------------------------------------------------- */

struct compose_one {
    double epsilon, k, q, log_delta;
};

static struct compose_one compose_one_of(const hsy_spent *spent)
{
    const double e = spent->epsilon;

    return (struct compose_one){
        .epsilon = e, .k = (double)spent->count, .q = exp(-e) / (1 + exp(-e))};
}

/* At least the largest loss. */
static double compose_sum(const struct compose_one *c)
{
    return c->k * c->epsilon * COMPOSE_SAFE(1);
}

/* 1 - e^(total - loss) of F flips, the loss rounded up. */
static double compose_gain(const struct compose_one *c, double flips,
                           double total)
{
    const double loss = c->epsilon * (c->k - 2 * flips);
    const double past = loss - total + 1e-15 * fabs(loss);

    return past > 0 ? -expm1(-past) : 0;
}

/* A sum over flips in one direction, by the ratio of neighbours. */
struct compose_walk {
    double sum, steps;
};

/* From `flips`, whose chance is given, down to none. No gain is above 1, so
 * what is left when it is negligible is at most a geometric series; it is
 * added. */
static void compose_down(struct compose_walk *w, const struct compose_one *c,
                         double total, double flips, double chance)
{
    const double odds = exp(c->epsilon);

    for (double f = flips; f >= 0; f--, w->steps++) {
        const double ratio = f * odds / (c->k - f + 1);
        const double rest = ratio < 1 ? chance * ratio / (1 - ratio) : 1;

        w->sum += chance * compose_gain(c, f, total);
        if (rest <= 1e-16 * w->sum) {
            w->sum += rest;
            return;
        }
        chance *= ratio;
    }
}

/* The same upward, from the next on to `last`. */
static void compose_up(struct compose_walk *w, const struct compose_one *c,
                       double total, double flips, double last, double chance)
{
    const double odds = exp(-c->epsilon);

    for (double f = flips; f < last; f++, w->steps++) {
        const double ratio = (c->k - f) * odds / (f + 1);
        const double rest = ratio < 1 ? chance * ratio / (1 - ratio) : 1;

        if (rest <= 1e-16 * w->sum) {
            w->sum += rest;
            return;
        }
        chance *= ratio;
        w->sum += chance * compose_gain(c, f + 1, total);
    }
}

/*
 * Both ways from the mean of the flips, or down from the most that still lose
 * more than total, which is asked for where delta is small. A step has less
 * than 1e-15 of rounding. Where all chances are below what a double holds,
 * delta is below 1e-290.
 */
static double compose_delta(const struct compose_one *c, double total)
{
    const double last = fmin(ceil((c->k - total / c->epsilon) / 2), c->k);
    const double start = fmin(last, floor(c->k * c->q));
    struct compose_walk w = {0, 1};
    double chance;

    if (last < 0)
        return 0;
    chance = hsy_account_chance(start, c->k, c->q);
    compose_down(&w, c, total, start, chance);
    compose_up(&w, c, total, start, last, chance);
    return fmin(w.sum * (1 + 1e-15 * w.steps) + 1e-290, 1);
}

static double compose_miss(void *ctx, double total)
{
    const struct compose_one *c = ctx;

    if (total >= compose_sum(c))
        return -INFINITY;
    return log(compose_delta(c, total)) - c->log_delta;
}

/* Up to k epsilon, where nothing is left. */
static double compose_one_epsilon(const hsy_spent *spent, double delta)
{
    struct compose_one c = compose_one_of(spent);
    const double sd = 2 * c.epsilon * sqrt(c.k * c.q * (1 - c.q));
    const struct account_search search = {
        .f = compose_miss,
        .ctx = &c,
        .bad = 0,
        .good = compose_sum(&c),
        .guess = c.k * c.epsilon * tanh(c.epsilon / 2) -
                 sd * hsy_normal_quantile(fmin(delta, 0.4)),
        .width = 1e-13};

    c.log_delta = log(delta);
    return hsy_account_search(&search);
}

/* ---- Several ------------------------------------------------------------- */

size_t hsy_compose_scratch(void)
{
    return 3 * COMPOSE_CELLS;
}

hsy_status hsy_compose_epsilon(double *total, const hsy_spent *spent,
                               size_t kinds, double delta, double *scratch,
                               hsy_error *err)
{
    hsy_status st = compose_check(spent, kinds, err);

    if (st == HSY_OK)
        st = hsy_account_delta_check(delta, err);
    if (st == HSY_OK && kinds > HSY_COMPOSE_KINDS)
        st = hsy_fail_stated(err, HSY_E_RANGE, HSY_FIELD_SPENT,
                             "at most 256 different epsilons: merge them first",
                             HSY_COMPOSE_KINDS);
    if (st != HSY_OK)
        return st;
    *total = kinds == 1 ? compose_one_epsilon(spent, delta)
                        : hsy_compose_mixed(spent, kinds, delta, scratch);
    return HSY_OK;
}

/* Heap order by epsilon, largest at the root. */
static void compose_sift(hsy_spent *spent, size_t at, size_t count)
{
    for (;;) {
        size_t child = 2 * at + 1;
        hsy_spent swap = spent[at];

        if (child + 1 < count &&
            spent[child + 1].epsilon > spent[child].epsilon)
            child++;
        if (child >= count || spent[child].epsilon <= swap.epsilon)
            return;
        spent[at] = spent[child];
        spent[child] = swap;
        at = child;
    }
}

static void compose_sort(hsy_spent *spent, size_t count)
{
    for (size_t i = count / 2; i > 0; i--)
        compose_sift(spent, i - 1, count);
    for (size_t left = count; left > 1; left--) {
        hsy_spent swap = spent[0];

        spent[0] = spent[left - 1];
        spent[left - 1] = swap;
        compose_sift(spent, 0, left - 1);
    }
}

/* Which of `most` classes, of equal ratios and counted from the largest. */
static double compose_class(double epsilon, double largest, double smallest,
                            size_t most)
{
    const double place = log(largest / epsilon) / log(largest / smallest);

    return fmin(floor(place * (double)most), (double)most - 1);
}

size_t hsy_compose_merge(hsy_spent *spent, size_t count, size_t most)
{
    size_t kept = 0;
    double largest, smallest;

    compose_sort(spent, count);
    for (size_t i = 0; i < count; i++) { /* equal ones */
        if (kept > 0 && spent[kept - 1].epsilon == spent[i].epsilon)
            spent[kept - 1].count += spent[i].count;
        else
            spent[kept++] = spent[i];
    }
    if (kept <= most)
        return kept;
    smallest = spent[0].epsilon;
    largest = spent[kept - 1].epsilon;
    count = kept;
    kept = 0;
    for (size_t i = 0; i < count; i++) { /* those of one class, rounded up */
        const double class =
            compose_class(spent[i].epsilon, largest, smallest, most);

        if (kept > 0 && compose_class(spent[kept - 1].epsilon, largest,
                                      smallest, most) == class) {
            spent[kept - 1].epsilon = spent[i].epsilon;
            spent[kept - 1].count += spent[i].count;
        } else {
            spent[kept++] = spent[i];
        }
    }
    return kept;
}
