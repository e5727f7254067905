/*
 * test_choice.c - the geometry that pgr and hpg choose has the least variance
 * of all that come into question, in rational numbers, straight from the
 * moments of a report; of several that have it, it is the first by order,
 * coordinates and blocks. Doubles agree but where the exact costs are the same.
 */
#include "lib/core/exp.h"
#include "lib/family/projective.h"
#include "rig/trial.h"
#include "tap.h"

#include <gmp.h>

#define PRIMES_MOST 61u
#define SPARE 8u

/* A geometry, with what it costs. */
struct choice {
    uint64_t q, t, blocks;
    mpq_t cost;
    double rounded;
};

/* rho = own / other. */
struct asked {
    uint32_t d;
    uint64_t own, other;
    bool hybrid;
};

static void rational(mpq_t out, uint64_t num, uint64_t den)
{
    mpz_set_ui(mpq_numref(out), num);
    mpz_set_ui(mpq_denref(out), den);
    mpq_canonicalize(out);
}

/* sum += value^2 weight / z */
static void add_moment(mpq_t sum, const mpq_t value, const mpq_t weight,
                       const mpq_t z)
{
    mpq_t x;

    mpq_init(x);
    mpq_mul(x, value, value);
    mpq_mul(x, x, weight);
    mpq_div(x, x, z);
    mpq_add(sum, sum, x);
    mpq_clear(x);
}

enum { U, B, K, M, H, Z, SCALE, G, V0, V1, V2, W, X, NUMBERS };

static void sizes_of(mpq_t n[NUMBERS], const struct asked *a,
                     const struct projective_sizes *s, uint64_t blocks)
{
    rational(n[U], a->own - a->other, a->other);
    rational(n[B], s->points, 1);
    rational(n[K], s->set, 1);
    rational(n[M], s->meet, 1);
    rational(n[H], blocks, 1);
    mpq_mul(n[Z], n[H], n[B]); /* Z = h b + u k */
    mpq_mul(n[X], n[U], n[K]);
    mpq_add(n[Z], n[Z], n[X]);
    mpq_sub(n[X], n[K], n[M]); /* scale = Z / (u (k - m)) */
    mpq_mul(n[X], n[X], n[U]);
    mpq_div(n[SCALE], n[Z], n[X]);
}

/* The three values of a report. */
static void values_of(mpq_t n[NUMBERS])
{
    mpq_div(n[X], n[M], n[K]); /* Z g = b m / k - k */
    mpq_mul(n[G], n[B], n[X]);
    mpq_sub(n[G], n[G], n[K]);
    mpq_div(n[G], n[G], n[Z]);
    mpq_mul(n[V2], n[SCALE], n[G]);
    mpq_sub(n[V1], n[G], n[X]);
    mpq_mul(n[V1], n[V1], n[SCALE]);
    mpq_add(n[V0], n[V1], n[SCALE]); /* one more: own, not only in the block */
}

/* Of another value of the block, a share 1 / h of the people. */
static void cost_same(mpq_t sum, mpq_t n[NUMBERS])
{
    mpq_mul(n[W], n[U], n[M]);
    mpq_add(n[W], n[W], n[K]);
    add_moment(sum, n[V0], n[W], n[Z]);
    mpq_sub(n[W], n[K], n[M]);
    mpq_mul(n[W], n[W], n[U]);
    mpq_add(n[W], n[W], n[B]);
    mpq_sub(n[W], n[W], n[K]);
    add_moment(sum, n[V1], n[W], n[Z]);
    mpq_mul(n[W], n[H], n[B]);
    mpq_sub(n[W], n[W], n[B]);
    add_moment(sum, n[V2], n[W], n[Z]);
}

/* Of a value of another block. */
static void cost_other(mpq_t sum, mpq_t n[NUMBERS])
{
    add_moment(sum, n[V0], n[K], n[Z]);
    mpq_sub(n[W], n[B], n[K]);
    add_moment(sum, n[V1], n[W], n[Z]);
    mpq_sub(n[W], n[Z], n[B]);
    add_moment(sum, n[V2], n[W], n[Z]);
}

static void cost_of(struct choice *c, const struct asked *a)
{
    const struct projective_sizes sizes = hsy_projective_sizes(c->q, c->t);
    const double h = (double)c->blocks;
    const struct projective_variance by =
        hsy_projective_variance(&sizes, h, (double)a->own / (double)a->other);
    mpq_t n[NUMBERS], sum;

    for (size_t i = 0; i < NUMBERS; i++)
        mpq_init(n[i]);
    mpq_init(sum);
    sizes_of(n, a, &sizes, c->blocks);
    values_of(n);
    rational(c->cost, 0, 1);
    cost_other(sum, n);
    rational(n[X], c->blocks - 1, 1);
    mpq_mul(c->cost, sum, n[X]);
    rational(sum, 0, 1);
    cost_same(sum, n);
    mpq_add(c->cost, c->cost, sum);
    mpq_div(c->cost, c->cost, n[H]);
    c->rounded = by.same / h + by.other * ((h - 1) / h);
    for (size_t i = 0; i < NUMBERS; i++)
        mpq_clear(n[i]);
    mpq_clear(sum);
}

static void choice_set(struct choice *to, const struct choice *from)
{
    to->q = from->q;
    to->t = from->t;
    to->blocks = from->blocks;
    to->rounded = from->rounded;
    mpq_set(to->cost, from->cost);
}

/* The best so far, exactly and in doubles. */
struct best {
    struct choice exact, rounded, now;
    bool any;
};

static void offer(struct best *best, const struct asked *a)
{
    cost_of(&best->now, a);
    if (!best->any || mpq_cmp(best->now.cost, best->exact.cost) < 0)
        choice_set(&best->exact, &best->now);
    if (!best->any || best->now.rounded < best->rounded.rounded)
        choice_set(&best->rounded, &best->now);
    best->any = true;
}

static bool prime(uint64_t q)
{
    for (uint64_t i = 2; i * i <= q; i++)
        if (q % i == 0)
            return false;
    return q >= 2;
}

/* Every number of blocks that holds the values, with at most SPARE points for
 * each; of pgr the fewest coordinates in one. */
static void offer_order(struct best *best, const struct asked *a, uint64_t q)
{
    for (uint64_t t = 2; t <= PROJECTIVE_T_MAX; t++) {
        const uint64_t points = hsy_projective_sizes(q, t).points;
        const uint64_t most = a->hybrid ? SPARE * a->d / points : 1;
        uint64_t h = (a->d + points - 1) / points;

        if (points > SPARE * (uint64_t)a->d)
            return;
        for (; h <= most; h++) {
            best->now.q = q;
            best->now.t = t;
            best->now.blocks = h;
            offer(best, a);
        }
        if (!a->hybrid && points >= a->d)
            return;
    }
}

static void search(struct best *best, const struct asked *a)
{
    const uint64_t bound = 4 * a->own / a->other + 8;

    for (uint64_t q = 2; q <= bound && q <= 5791; q++)
        if (prime(q) && (!a->hybrid || q <= PRIMES_MOST))
            offer_order(best, a, q);
    for (uint64_t q = a->d <= 3 ? 2 : a->d - 1; !a->hybrid; q++)
        if (prime(q)) {
            offer_order(best, a, q);
            return;
        }
}

/* Whether the choice is the best, and the one in doubles costs the same. */
static bool agrees(const char *mechanism, uint32_t d, double epsilon,
                   unsigned *ties)
{
    hsy_spec spec = trial_values(mechanism, d, epsilon);
    hsy_scheme *s = trial_scheme(&spec);
    const uint64_t half = 2 * spec.nano_epsilon;
    const unsigned shift = hsy_exp_shift(half);
    const struct asked a = {d, hsy_exp_weight(half, shift),
                            (uint64_t)1 << shift,
                            strcmp(mechanism, "hpg") == 0};
    struct best best = {.any = false};
    bool good;

    mpq_inits(best.exact.cost, best.rounded.cost, best.now.cost, NULL);
    search(&best, &a);
    good = s->param[HSY_PARAM_Q] == best.exact.q &&
           s->param[HSY_PARAM_T] == best.exact.t &&
           (!a.hybrid || s->param[HSY_PARAM_BLOCKS] == best.exact.blocks) &&
           mpq_equal(best.rounded.cost, best.exact.cost) != 0;
    *ties += best.rounded.q != best.exact.q || best.rounded.t != best.exact.t;
    mpq_clears(best.exact.cost, best.rounded.cost, best.now.cost, NULL);
    free(s);
    return good;
}

int main(void)
{
    static const uint32_t domains[] = {2, 3, 4, 5, 6, 7, 9, 12, 17, 31, 60};
    static const double epsilons[] = {0.01, 0.1, 0.5, 0.9, 1, 1.1, 1.6,
                                      2,    3,   4.5, 6,   8, 12};
    unsigned ties = 0;

    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++)
        for (int hybrid = 0; hybrid < 2; hybrid++) {
            const char *name = hybrid ? "hpg" : "pgr";
            bool good = true;

            for (size_t k = 0; k < sizeof epsilons / sizeof epsilons[0]; k++)
                good &= agrees(name, domains[i], epsilons[k], &ties);
            ok(good, "%s of %u values: the least variance, exactly", name,
               domains[i]);
        }
    ok(ties > 0, "control: doubles tell costs apart that are the same (%u)",
       ties);
    return tap_done();
}
