/*
 * test_few.c - intervals of few counts, held against sums over all counts; and
 * floors made of lumps against Poisson's.
 */
#include "lib/infer/infer.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#define FEW_N 60
#define FEW_LEVEL 0.95

/* P[Bin(n, p) = k], by multiplying up. */
static double binomial(int n, double p, int k)
{
    double x = 1;

    for (int i = 0; i < k; i++)
        x *= p * (n - i) / (i + 1);
    for (int i = 0; i < n - k; i++)
        x *= 1 - p;
    return x;
}

/* chance[s]: of s supports if own of FEW_N people have the value. */
static void people(double chance[FEW_N + 1], int own, double p, double q)
{
    for (int s = 0; s <= FEW_N; s++) {
        chance[s] = 0;
        for (int a = 0; a <= s && a <= own; a++)
            if (s - a <= FEW_N - own)
                chance[s] +=
                    binomial(own, p, a) * binomial(FEW_N - own, q, s - a);
    }
}

static hsy_evidence point_of(double support, double p, double q)
{
    return (hsy_evidence){.value = (support / FEW_N - q) / (p - q),
                          .n = FEW_N,
                          .support = support,
                          .p = p,
                          .q = q,
                          .v0 = q * (1 - q) / ((p - q) * (p - q)),
                          .v1 = p * (1 - p) / ((p - q) * (p - q))};
}

static hsy_estimate interval(const hsy_evidence *point, hsy_target target,
                             uint64_t comparisons)
{
    const hsy_confidence how = {FEW_LEVEL, target, HSY_INTERVAL_AUTO,
                                comparisons};
    hsy_estimate e;

    if (hsy_estimate_point(&e, point, &how, NULL) != HSY_OK)
        abort();
    return e;
}

/* The least chance that the interval holds a share, over all shares k / n. */
static double least_held(double p, double q, hsy_target target,
                         uint64_t comparisons)
{
    double least = 1, chance[FEW_N + 1];

    for (int own = 0; own <= FEW_N; own++) {
        const double f = (double)own / FEW_N;
        double held = 0;

        if (target == HSY_PEOPLE)
            people(chance, own, p, q);
        for (int s = 0; s <= FEW_N; s++) {
            const hsy_evidence point = point_of(s, p, q);
            const hsy_estimate e = interval(&point, target, comparisons);

            if (e.low <= f + 1e-12 && f - 1e-12 <= e.high)
                held += target == HSY_PEOPLE
                            ? chance[s]
                            : binomial(FEW_N, q + (p - q) * f, s);
        }
        least = fmin(least, held);
    }
    return least;
}

static void coverage(void)
{
    static const double rates[][2] = {
        {0.75, 0.01}, {0.5, 0.02}, {0.98, 0.02}, {0.6, 0.4}, {0.02, 0.75}};

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (int target = 0; target < 2; target++) {
            const double least =
                least_held(rates[i][0], rates[i][1], (hsy_target)target, 1024);

            ok(least >= 1 - (1 - FEW_LEVEL) / 1024,
               "p %g, q %g, %s: held by all but %.3g of 0.05 / 1024",
               rates[i][0], rates[i][1],
               target == HSY_PEOPLE ? "people" : "population",
               (1 - least) * 1024);
        }
}

/* One person less at an end, and so much support has not miss / 2. */
static void tight(double p, double q)
{
    const double miss = (1 - FEW_LEVEL) / 100;
    double chance[FEW_N + 1], most[2] = {0};
    bool right = true;

    for (int s = 0; s <= FEW_N; s++) {
        const hsy_evidence point = point_of(s, p, q);
        const hsy_estimate e = interval(&point, HSY_PEOPLE, 100);
        const int low = (int)lround(e.low * FEW_N);
        const int high = (int)lround(e.high * FEW_N);
        double tail = 0;

        if (low > 0 && e.low < point.value) {
            people(chance, low - 1, p, q);
            for (int k = s; k <= FEW_N; k++)
                tail += chance[k];
            right = right && tail <= miss / 2;
            most[0] = fmax(most[0], tail);
        }
        tail = 0;
        if (high < FEW_N && e.high > point.value) {
            people(chance, high + 1, p, q);
            for (int k = 0; k <= s; k++)
                tail += chance[k];
            right = right && tail <= miss / 2;
            most[1] = fmax(most[1], tail);
        }
    }
    ok(right && most[0] > miss / 8 && most[1] > miss / 8,
       "p %g, q %g: no end could be nearer", p, q);
}

/* One interval at 95 % is the normal one, whatever the counts. */
static void single(void)
{
    const hsy_evidence point = point_of(2, 0.7, 0.01);
    const hsy_estimate e = interval(&point, HSY_POPULATION, 1);
    double ends[2];

    hsy_interval_of(ends, &point, HSY_WILSON, HSY_POPULATION, 0.05);
    ok(fabs(e.low - ends[0]) < 1e-15 && fabs(e.high - ends[1]) < 1e-15,
       "a single interval at 95 %% is Wilson's");
    ok(!hsy_interval_few(ends, &point, HSY_PEOPLE, 0.05) &&
           hsy_interval_few(ends, &point, HSY_PEOPLE, 0.001),
       "few are few by the level asked for");
}

/* What a mechanism took off counts as not counted. */
static void corrected(void)
{
    const hsy_evidence plain = point_of(9, 0.5, 0.1);
    hsy_evidence moved = point_of(12, 0.5, 0.1);
    hsy_estimate a, b;

    moved.value = plain.value;
    a = interval(&plain, HSY_PEOPLE, 50);
    b = interval(&moved, HSY_PEOPLE, 50);
    ok(fabs(a.low - b.low) < 1e-12 && fabs(a.high - b.high) < 1e-12,
       "12 counted, 3 taken off: as 9");
    moved.value += 0.5 / FEW_N / 0.4;
    b = interval(&moved, HSY_PEOPLE, 50);
    ok(b.low <= a.low && b.high >= a.high, "half a count: both neighbours'");
    moved.residual_variance = 1e-4;
    a = interval(&moved, HSY_PEOPLE, 50);
    ok(a.high > b.high, "a floor widens it");
}

static void counts(void)
{
    hsy_evidence point = {
        .value = 0.1,
        .n = 100,
        .v0 = 1,
        .v1 = 1,
        .few = {.n = 100, .rate = 0.01, .count = {7, 2}, .weight = {2, -2}}};
    double up[2], down[2];
    hsy_estimate e = interval(&point, HSY_PEOPLE, 1000);

    hsy_interval_rates(up, 100, 7, 0.05 / 1000 / 2);
    hsy_interval_rates(down, 100, 2, 0.05 / 1000 / 2);
    ok(e.low == 0 && fabs(e.high - 2 * (up[1] - down[0])) < 1e-12,
       "two counts have half of the chance to miss each");
    point.few = (hsy_few){.n = 20, .rate = 0.5, .bound = 0.01};
    e = interval(&point, HSY_PEOPLE, 1000);
    ok(fabs(e.high - 0.1 - sqrt(0.02 * log(2 * 1000 / 0.05))) < 1e-12,
       "a bound has Hoeffding's tails");
    point.few.n = 0;
    point.few.weight[0] = 1;
    e = interval(&point, HSY_PEOPLE, 1000);
    ok(e.low == 0 && e.high == 1, "nothing counted: anything may be");
}

/* A floor of one unknown value that meets another in a Poisson number of rows
 * is covered as often as asked for, a tenth of the misses apart. */
static void lumps(void)
{
    bool held = true, same = true;

    for (double mean = 0.02; mean < 60; mean *= 1.07)
        for (double miss = 0.1; miss > 1e-6; miss /= 3) {
            const double z = -hsy_normal_quantile(miss / 2);
            const double t = z * sqrt(mean * hsy_lumps_widen(mean, miss));
            double chance = exp(-mean), out = 1;

            for (int k = 0; k < 400; chance *= mean / ++k)
                if (fabs(k - mean) <= t + 1e-9)
                    out -= fabs(k - mean) < t - 1e-9 ? chance : chance / 2;
            held = held && out <= 1.1 * miss + 1e-12;
            same = same && hsy_lumps_widen(mean, miss) >= 1;
        }
    ok(held && same, "lumps are covered, and never count for less");
    ok(fabs(hsy_lumps_widen(1, 0.05) - 4 / 3.841458820694124) < 1e-12,
       "one lump on average, 95 %%: two more are covered");
    ok(hsy_lumps_widen(5000, 1e-6) == 1, "many are normal");
}

int main(void)
{
    coverage();
    tight(0.75, 0.02);
    tight(0.5, 0.1);
    single();
    corrected();
    counts();
    lumps();
    return tap_done();
}
