/* test_difference.c - two tallies compared. */
#include "hearsay.h"
#include "tap.h"

#include <math.h>

static hsy_evidence warner(double epsilon, double share, double n)
{
    const double q = 1 / (1 + exp(epsilon)), p = 1 - q, gap = p - q;
    const double y = n * (q + share * gap);

    return (hsy_evidence){.value = (y / n - q) / gap,
                          .n = n,
                          .support = y,
                          .p = p,
                          .q = q,
                          .v0 = p * q / (gap * gap),
                          .v1 = p * q / (gap * gap)};
}

static bool difference_near(double got, double want)
{
    return eq_near(got, want, 1e-12 * fmax(fabs(want), 1e-3));
}

static const hsy_interval kinds[] = {
    HSY_INTERVAL_AUTO, HSY_WALD,       HSY_WILSON,   HSY_SCORE,
    HSY_EXACT,         HSY_LIKELIHOOD, HSY_HOEFFDING};

#define KINDS (sizeof kinds / sizeof kinds[0])

static void hand_computed(void)
{
    const hsy_evidence a = warner(1, 0.5, 1000), b = warner(2, 0.3, 4000);
    const hsy_confidence c = {0.95, HSY_PEOPLE, HSY_WALD, 1};
    const double sd =
        sqrt(0.920673594207792319 / 1000 + 0.181015415241577617 / 4000);
    const double z = hsy_normal_quantile(0.975);
    hsy_estimate e;
    double p;

    ok(eq_status(hsy_estimate_difference(&e, &p, &a, &b, &c, NULL), HSY_OK) &&
           difference_near(e.value, 0.2) && difference_near(e.sd, sd) &&
           difference_near(e.low, 0.2 - z * sd) &&
           difference_near(e.high, 0.2 + z * sd),
       "Wald difference of two epsilons");
    ok(difference_near(p, 2 * hsy_normal_cdf(-0.2 / sd)), "its p-value");
}

static void antisymmetric_and_consistent(void)
{
    const hsy_evidence a = warner(1, 0.5, 1000), b = warner(1, 0.42, 900);

    for (size_t i = 0; i < KINDS; i++) {
        const hsy_confidence c = {0.95, HSY_POPULATION, kinds[i], 1};
        hsy_estimate ab, ba;
        double p, p2;

        ok(eq_status(hsy_estimate_difference(&ab, &p, &a, &b, &c, NULL),
                     HSY_OK) &&
               eq_status(hsy_estimate_difference(&ba, &p2, &b, &a, &c, NULL),
                         HSY_OK) &&
               difference_near(ab.low, -ba.high) &&
               difference_near(ab.high, -ba.low) && difference_near(p, p2) &&
               ab.low < ab.value && ab.value < ab.high,
           "interval %d: b - a is a - b reversed", (int)kinds[i]);
    }
}

static void equal_points_are_equal(void)
{
    const hsy_evidence a = warner(1, 0.4, 1000);
    const hsy_confidence c = {0.95, HSY_PEOPLE, HSY_INTERVAL_AUTO, 1};
    hsy_estimate e;
    double p;

    ok(eq_status(hsy_estimate_difference(&e, &p, &a, &a, &c, NULL), HSY_OK) &&
           p == 1 && e.value == 0 && e.low < 0 && e.high > 0,
       "no difference: p-value 1, 0 inside");
}

static void comparisons_count(void)
{
    const hsy_evidence a = warner(1, 0.5, 1000), b = warner(1, 0.3, 1000);
    hsy_confidence c = {0.95, HSY_PEOPLE, HSY_SCORE, 1};
    hsy_estimate one, many;
    double p1, p20, p1e9;

    hsy_estimate_difference(&one, &p1, &a, &b, &c, NULL);
    c.comparisons = 20;
    hsy_estimate_difference(&many, &p20, &a, &b, &c, NULL);
    ok(difference_near(p20, 20 * p1), "20 comparisons: the p-value times 20");
    ok(many.low < one.low && many.high > one.high, "and a wider interval");
    c.comparisons = 1000000000;
    hsy_estimate_difference(&many, &p1e9, &a, &b, &c, NULL);
    ok(p1e9 == 1, "a p-value does not pass 1");
}

/* xorshift64*, and a sum of coins by counting: small n only. */
static uint64_t state = 0x9e3779b97f4a7c15;

static double uniform(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)((state * 0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

static hsy_evidence drawn(double share, double n)
{
    hsy_evidence point = warner(1, share, n);
    double y = 0;

    for (double i = 0; i < n; i++)
        y += uniform() < (i < n * share ? point.p : point.q);
    point.support = y;
    point.value = (y / n - point.q) / (point.p - point.q);
    return point;
}

/*
 * 4000 pairs of surveys with equal shares: the p-value falls below 0.05 as
 * often as it says, and the 95 % interval holds 0. Hoeffding at 1e-12 leaves
 * 0.0595 either way; the control takes shares 0.15 apart.
 */
static void calibrated(void)
{
    const double slack = sqrt(log(2 / 1e-12) / (2 * 4000));
    const hsy_confidence c = {0.95, HSY_PEOPLE, HSY_INTERVAL_AUTO, 1};
    int low_p = 0, held = 0, control = 0;

    for (int i = 0; i < 4000; i++) {
        hsy_evidence a = drawn(0.2, 300), b = drawn(0.2, 200),
                     d = drawn(0.5, 200);
        hsy_estimate e;
        double p;

        hsy_estimate_difference(&e, &p, &a, &b, &c, NULL);
        low_p += p < 0.05;
        held += e.low <= 0 && 0 <= e.high;
        hsy_estimate_difference(&e, &p, &a, &d, &c, NULL);
        control += p < 0.05;
    }
    ok(fabs(low_p / 4000.0 - 0.05) <= slack, "p < 0.05 in %.4f of pairs",
       low_p / 4000.0);
    ok(fabs(held / 4000.0 - 0.95) <= slack, "0 inside in %.4f of pairs",
       held / 4000.0);
    ok(control / 4000.0 - 0.05 > slack, "control: a difference is seen (%.4f)",
       control / 4000.0);
}

static void refusals(void)
{
    const hsy_evidence good = warner(1, 0.5, 1000), small = warner(1, 0.5, 40);
    hsy_evidence empty = good;
    hsy_confidence c = {0.95, HSY_PEOPLE, HSY_WALD, 1};
    hsy_estimate e = {1, 1, 1, 1};
    double p = -1;

    empty.n = 0;
    ok(eq_status(hsy_estimate_difference(&e, &p, &good, &empty, &c, NULL),
                 HSY_E_EMPTY) &&
           eq_status(hsy_estimate_difference(&e, &p, &empty, &good, &c, NULL),
                     HSY_E_EMPTY),
       "no data on either side");
    is_status(hsy_estimate_difference(&e, &p, &good, &small, &c, NULL),
              HSY_E_RANGE, "Wald with 40 reports on one side");
    c.level = 1;
    is_status(hsy_estimate_difference(&e, &p, &good, &good, &c, NULL),
              HSY_E_RANGE, "level 1");
    ok(e.value == 1 && p == -1, "refusals write nothing");
}

int main(void)
{
    hand_computed();
    antisymmetric_and_consistent();
    equal_points_are_equal();
    comparisons_count();
    calibrated();
    refusals();
    return tap_done();
}
