/* test_metrics.c - metrics on lists small enough to work out by hand. */
#include "hearsay.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static bool metrics_near(double x, double want)
{
    return fabs(x - want) <= 1e-9 * fmax(1, fabs(want));
}

static void errors(void)
{
    const double e[4] = {0.5, 0.1, -0.1, 0.5}, t[4] = {0.4, 0.3, 0, 0.3};
    hsy_errors out;

    hsy_metrics_errors(&out, e, t, 4);
    ok(metrics_near(out.mse, (0.01 + 0.04 + 0.01 + 0.04) / 4),
       "mean squared error");
    ok(metrics_near(out.mae, 0.15) && metrics_near(out.max, 0.2),
       "mean and largest error");
    hsy_metrics_errors(&out, t, t, 1);
    ok(out.mse == 0 && out.mae == 0 && out.max == 0, "the truth has none");
}

static void coverage(void)
{
    const hsy_estimate e[4] = {{0.5, 0.1, 0.3, 0.7},
                               {0.5, 0.1, 0.3, 0.7},
                               {0.5, 0.1, 0.3, 0.7},
                               {0.5, NAN, NAN, NAN}};
    const double t[4] = {0.3, 0.7, 0.71, 0.5};

    ok(hsy_metrics_coverage(e, t, 4) == 0.5,
       "ends belong to an interval, and no interval covers nothing");
}

static void distributions(void)
{
    const double t[3] = {0.5, 0.5, 0}, s[3] = {0.25, 0.5, 0.25};
    const double none[3] = {1, 0, 0};

    ok(metrics_near(hsy_metrics_variation(s, t, 3), 0.25), "total variation");
    ok(metrics_near(hsy_metrics_divergence(s, t, 3, 1e-9), 0.5 * log(2)),
       "divergence, where no share is below the floor");
    ok(metrics_near(hsy_metrics_divergence(none, t, 3, 0.125),
                    0.5 * log(0.5 * 1.25) + 0.5 * log(0.5 * 1.25 / 0.125)),
       "shares below the floor are raised, and all scaled");
    ok(hsy_metrics_divergence(t, t, 2, 1e-9) == 0, "none from the truth");
}

static void largest(void)
{
    const double x[8] = {3, 1, 4, 1, 5, 9, 2, 4}, same[5] = {7, 7, 7, 7, 7};
    const uint32_t want[8] = {5, 4, 2, 7, 0, 6, 1, 3};
    uint32_t places[8];
    bool good = true;

    for (size_t k = 0; k <= 8; k++) {
        memset(places, 0xff, sizeof places);
        hsy_metrics_largest(places, k, x, 8);
        good = good && memcmp(places, want, k * sizeof *want) == 0 &&
               (k == 8 || places[k] == UINT32_MAX);
    }
    ok(good, "the k largest, whatever k");
    hsy_metrics_largest(places, 3, same, 5);
    ok(places[0] == 0 && places[1] == 1 && places[2] == 2,
       "of equals the earlier place comes first");
}

/* Theory 5.3: the truth is a, b, c, d; a, c, x, b is returned. */
static void top(void)
{
    const uint32_t ranks[4] = {1, 3, 0, 2}, ideal[4] = {1, 2, 3, 4};
    const uint32_t one[1] = {2}, twice[2] = {1, 1}, high[2] = {1, 3};
    hsy_error err = {0};
    hsy_topk_score t;

    ok(hsy_metrics_top(&t, ranks, 4, 4, NULL) == HSY_OK && t.hits == 3 &&
           t.extra == 1 && t.missed == 1,
       "three of four, one wrong, one left out");
    ok(metrics_near(t.f1, 0.75) && metrics_near(t.precision, 0.75) &&
           metrics_near(t.recall, 0.75) && metrics_near(t.ncr, 0.9) &&
           fabs(t.ndcg - 0.8949163338) < 1e-10,
       "F1 0.75, NCR 0.9, NDCG 0.8949163338");
    hsy_metrics_top(&t, ideal, 4, 4, NULL);
    ok(metrics_near(t.f1, 1) && metrics_near(t.ncr, 1) &&
           metrics_near(t.ndcg, 1),
       "all in order");
    hsy_metrics_top(&t, one, 1, 4, NULL);
    ok(metrics_near(t.precision, 1) && metrics_near(t.recall, 0.25) &&
           metrics_near(t.f1, 0.4),
       "what was missed counts in F1: 2/5, not 2/2");
    hsy_metrics_top(&t, one, 0, 4, NULL);
    ok(t.precision == 0 && t.recall == 0 && t.f1 == 0 && t.ncr == 0 &&
           t.ndcg == 0 && t.missed == 4,
       "an empty list finds nothing");
    ok(hsy_metrics_top(&t, high, 2, 2, &err) == HSY_E_RANGE && err.at == 2,
       "a rank above k is refused, with its position");
    ok(hsy_metrics_top(&t, twice, 2, 1, &err) == HSY_E_RANGE,
       "more hits than k are refused");
    ok(hsy_metrics_top(&t, ideal, 4, 0, &err) == HSY_E_RANGE, "so is k = 0");
}

int main(void)
{
    errors();
    coverage();
    distributions();
    largest();
    top();
    return tap_done();
}
