/*
 * test_blanket.c - the bound of shuffled two-level reports, never below the sum
 * that it stands for (theory 9.2), which is added up here with 77 digits
 * over all that few people can send.
 *
 * A truth that favours hardly any output leaves a chance of nearly 1 that an
 * output favours neither of two truths: what is left of it must not be lost in
 * a difference.
 */
#include "hearsay.h"
#include "tap.h"

#include <gmp.h>
#include <math.h>

#define BITS 256u
#define TERMS 120u /* of e^x, x up to 8 */
#define PEOPLE 6u

static void exp_of(mpf_t out, double x)
{
    mpf_t term, by;

    mpf_init2(by, BITS);
    mpf_init2(term, BITS);
    mpf_set_d(by, x);
    mpf_set_ui(term, 1);
    mpf_set_ui(out, 1);
    for (unsigned i = 1; i < TERMS; i++) {
        mpf_mul(term, term, by);
        mpf_div_ui(term, term, i);
        mpf_add(out, out, term);
    }
    mpf_clears(by, term, NULL);
}

/* What one person sends, and what it counts for: chances of an output of the
 * blanket that favours one of two truths, both of them, or neither, and of one
 * that is not of the blanket. */
struct blanket {
    mpf_t rho, large; /* e^epsilon0, e^epsilon */
    mpf_t chance[4];
    mpf_t tau, edge, scale;
};

static void blanket_clear(struct blanket *b)
{
    mpf_clears(b->rho, b->large, b->tau, b->edge, b->scale, NULL);
    for (size_t i = 0; i < 4; i++)
        mpf_clear(b->chance[i]);
}

/* gamma = 1 / (1 + (rho-1) inside); 2 (inside - both), both and
 * 1 - 2 inside + both of it. */
static void blanket_chances(struct blanket *b, double inside, double both)
{
    mpf_t gamma, x;

    mpf_init2(gamma, BITS);
    mpf_init2(x, BITS);
    mpf_sub_ui(gamma, b->rho, 1);
    mpf_set_d(x, inside);
    mpf_mul(gamma, gamma, x);
    mpf_add_ui(b->chance[3], gamma, 1);
    mpf_div(b->chance[3], gamma, b->chance[3]); /* 1 - gamma */
    mpf_ui_sub(gamma, 1, b->chance[3]);
    mpf_set_d(b->chance[1], both);
    mpf_sub(b->chance[0], x, b->chance[1]);
    mpf_mul_ui(b->chance[0], b->chance[0], 2);
    mpf_ui_sub(b->chance[2], 1, b->chance[0]);
    mpf_sub(b->chance[2], b->chance[2], b->chance[1]);
    for (size_t i = 0; i < 3; i++)
        mpf_mul(b->chance[i], b->chance[i], gamma);
    mpf_clears(gamma, x, NULL);
}

static void blanket_open(struct blanket *b, const hsy_shuffle *s,
                         double epsilon)
{
    mpf_t x;

    mpf_init2(x, BITS);
    mpf_init2(b->rho, BITS);
    mpf_init2(b->large, BITS);
    mpf_init2(b->tau, BITS);
    mpf_init2(b->edge, BITS);
    mpf_init2(b->scale, BITS);
    for (size_t i = 0; i < 4; i++)
        mpf_init2(b->chance[i], BITS);
    exp_of(b->rho, s->epsilon_report);
    exp_of(b->large, epsilon);
    blanket_chances(b, s->favoured, s->overlap);
    /* tau = (E-1) / ((E+1) (rho-1)) and scale = (rho-1) (1+E) / n. */
    mpf_add_ui(x, b->large, 1);
    mpf_sub_ui(b->scale, b->rho, 1);
    mpf_sub_ui(b->tau, b->large, 1);
    mpf_div(b->tau, b->tau, x);
    mpf_div(b->tau, b->tau, b->scale);
    mpf_mul(b->scale, b->scale, x);
    mpf_div_ui(b->scale, b->scale, s->n);
    /* edge = (1 - tau (rho+1)) / 2. */
    mpf_add_ui(x, b->rho, 1);
    mpf_mul(x, x, b->tau);
    mpf_ui_sub(x, 1, x);
    mpf_div_ui(b->edge, x, 2);
    mpf_clear(x);
}

static unsigned long choose(unsigned long n, unsigned long k)
{
    unsigned long ways = 1;

    for (unsigned long i = 0; i < k; i++)
        ways = ways * (n - i) / (i + 1);
    return ways;
}

/* E max(0, u - b) for b ~ Bin(m, 1/2). */
static void under_half(mpf_t out, const mpf_t u, unsigned long m)
{
    mpf_t x;

    mpf_init2(x, BITS);
    mpf_set_ui(out, 0);
    for (unsigned long b = 0; b <= m && mpf_cmp_ui(u, b) > 0; b++) {
        mpf_sub_ui(x, u, b);
        mpf_mul_ui(x, x, choose(m, b));
        mpf_add(out, out, x);
    }
    mpf_div_2exp(out, out, m);
    mpf_clear(x);
}

/* m, z and w people of n send an output that favours one, both and neither. */
static void blanket_case(mpf_t out, const struct blanket *b, unsigned long n,
                         const unsigned long count[3])
{
    const unsigned long rest = n - count[0] - count[1] - count[2];
    mpf_t u, x;

    mpf_init2(u, BITS);
    mpf_init2(x, BITS);
    mpf_mul_ui(u, b->rho, count[1]); /* edge m - tau (rho z + w) */
    mpf_add_ui(u, u, count[2]);
    mpf_mul(u, u, b->tau);
    mpf_mul_ui(x, b->edge, count[0]);
    mpf_sub(u, x, u);
    under_half(out, u, count[0]);
    for (size_t i = 0; i < 4; i++) {
        mpf_pow_ui(x, b->chance[i], i < 3 ? count[i] : rest);
        mpf_mul(out, out, x);
    }
    mpf_mul_ui(out, out,
               choose(n, rest) * choose(n - rest, count[0]) *
                   choose(n - rest - count[0], count[1]));
    mpf_clears(u, x, NULL);
}

/* The sum, or (rho - E) / (1 + rho) if that is less: a report alone. */
static void blanket_sum(mpf_t out, const struct blanket *b, unsigned long n)
{
    unsigned long at[3];
    mpf_t x, y;

    mpf_init2(x, BITS);
    mpf_init2(y, BITS);
    mpf_set_ui(out, 0);
    for (at[0] = 1; at[0] <= n; at[0]++)
        for (at[1] = 0; at[0] + at[1] <= n; at[1]++)
            for (at[2] = 0; at[0] + at[1] + at[2] <= n; at[2]++) {
                blanket_case(x, b, n, at);
                mpf_add(out, out, x);
            }
    mpf_mul(out, out, b->scale);
    mpf_sub(x, b->rho, b->large);
    mpf_add_ui(y, b->rho, 1);
    mpf_div(x, x, y);
    if (mpf_cmp(x, out) < 0)
        mpf_set(out, x);
    mpf_clears(x, y, NULL);
}

static double delta_of(const hsy_shuffle *s, double epsilon)
{
    hsy_error err = {0};
    double delta = 0;

    return hsy_shuffle_delta(s, &delta, epsilon, &err) == HSY_OK ? delta : 0;
}

struct seen {
    size_t points, below, above;
};

/* Above by rounding, by 1e-15 of the chance that is nearly 1, and by the
 * 1e-300 that stand for nothing. */
static void compare(struct seen *seen, const hsy_shuffle *s, double epsilon)
{
    const double lost = 1e-14 / (expm1(s->epsilon_report) * s->favoured);
    const double delta = delta_of(s, epsilon);
    struct blanket b;
    mpf_t exact, got;

    mpf_init2(exact, BITS);
    mpf_init2(got, BITS);
    blanket_open(&b, s, epsilon);
    blanket_sum(exact, &b, (unsigned long)s->n);
    mpf_set_d(got, delta);
    seen->points++;
    seen->below += mpf_cmp(got, exact) < 0;
    seen->above +=
        delta >
        mpf_get_d(exact) * pow(1 + lost, (double)s->n) * (1 + 1e-10) + 2e-300;
    blanket_clear(&b);
    mpf_clears(exact, got, NULL);
}

/* All that few people, epsilons and sharing there are for a share. */
static void shares(double inside)
{
    static const double epsilons[] = {1e-4, 0.1, 1, 4};
    static const double parts[] = {0, 0.4, 0.9, 0.99};
    static const double both[] = {0, 1e-3, 0.1, 0.9};
    struct seen seen = {0};

    for (uint64_t n = 1; n <= PEOPLE; n++)
        for (size_t e = 0; e < 4; e++)
            for (size_t part = 0; part < 4; part++)
                for (size_t k = 0; k < 4; k++) {
                    const hsy_shuffle s = {HSY_SHUFFLE_TWO_LEVEL, n,
                                           epsilons[e], inside,
                                           both[k] * inside};

                    compare(&seen, &s, parts[part] * epsilons[e]);
                }
    ok(seen.points > 300 && eq_u64(seen.below, 0),
       "inside %g: none of %zu deltas is below its sum: %zu are", inside,
       seen.points, seen.below);
    is_u64(seen.above, 0, "nor far above: %zu are", seen.above);
}

/* What grr of 4194304 values has among five, and less. */
static void vectors(void)
{
    const hsy_shuffle values = {HSY_SHUFFLE_TWO_LEVEL, 5, 0.1, 0x1p-22, 0};
    const hsy_shuffle rare = {HSY_SHUFFLE_TWO_LEVEL, 6, 1, 1e-12, 0};
    const double of_values = delta_of(&values, 0.09);
    const double of_rare = delta_of(&rare, 0.9);

    ok(of_values >= 1.2637989802932689e-35 && of_values < 1.26379900e-35,
       "grr of 4194304 values, 5 people: %.17g", of_values);
    ok(of_rare >= 3.83913256e-71 && of_rare < 3.88e-71,
       "a share of 1e-12, 6 people: %.17g", of_rare);
}

int main(void)
{
    static const double inside[] = {0.5,   0.3,   0.01,  1e-6,  0x1p-22, 1e-8,
                                    1e-10, 1e-12, 1e-14, 1e-16, 1e-17};

    vectors();
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
        shares(inside[i]);
    return tap_done();
}
