/*
 * internal.h - what the accounts of privacy have in common: expectations over
 * binomial laws that never come out too small, and a search that ends on the
 * safe side.
 *
 * Doubles, for people to read. A special function here is right within
 * ACCOUNT_SLACK, relative (special.h, tests/unit/lib/special/test_special);
 * whatever is computed from one is made larger by as much, so that a bound
 * stays one.
 */
#ifndef LIB_ACCOUNT_INTERNAL_H
#define LIB_ACCOUNT_INTERNAL_H

#include "hearsay.h"

#define ACCOUNT_SLACK 1e-12
#define ACCOUNT_DELTA_MIN 1e-250 /* below, doubles have no room for tails */
#define ACCOUNT_EPSILON_MAX 100.0

/* The lower tail of X ~ Bin(n, p), and the mean of what lies there. */
struct account_tail {
    double mass;   /* P(X <= h) */
    double excess; /* E (np - X) of it: never negative */
};

/* Not rounded. h and n are integers in doubles, 0 <= h <= n, and 0 < p < 1. */
void hsy_account_lower(struct account_tail *out, double h, double n, double p);

/* At least E max(0, y - X) for X ~ Bin(n, p). */
double hsy_account_under(double n, double p, double y);

/* At least P(X = k). */
double hsy_account_chance(double k, double n, double p);

/* At least P(low <= X <= high). */
double hsy_account_between(double low, double high, double n, double p);

/*
 * Where f, which falls or grows from above 0 at `bad` to 0 or less at `good`,
 * passes 0: the last point seen with f <= 0, within `width` relative of one
 * where f > 0. whole: only integers are tried.
 */
struct account_search {
    double (*f)(void *ctx, double x);
    void *ctx;
    double bad, good, guess, width;
    bool whole;
};

double hsy_account_search(const struct account_search *search);

/* At least the delta of shuffled reports, checked and not EXACT (shuffle.c),
 * and about the epsilon that has a delta. */
double hsy_account_shuffle(const hsy_shuffle *s, double epsilon);
double hsy_account_shuffle_guess(const hsy_shuffle *s, double delta);

/* At least the delta, or the epsilon, of n <= HSY_SHUFFLE_EXACT_MAX shuffled
 * answers by binary randomized response, for the worst data (shuffle_exact.c).
 */
double hsy_account_shuffled(uint64_t n, double epsilon0, double epsilon);
double hsy_account_shuffled_epsilon(uint64_t n, double epsilon0, double delta);

/* Several epsilons (compose_mixed.c): at least the optimal epsilon of all of
 * spent, checked, for delta; scratch has 3 COMPOSE_CELLS. */
#define COMPOSE_CELLS 8192u /* of the grid of losses */
double hsy_compose_mixed(const hsy_spent *spent, size_t kinds, double delta,
                         double *scratch);

/* More than rounding takes from a few factors and a sum of so many terms. */
#define COMPOSE_SAFE(terms) (1 + 1e-14 + 4e-16 * (double)(terms))

hsy_status hsy_account_delta_check(double delta, hsy_error *err);
hsy_status hsy_account_epsilon_check(double epsilon, uint32_t field,
                                     hsy_error *err);

#endif
