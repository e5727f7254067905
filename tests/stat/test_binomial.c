/*
 * test_binomial.c - hsy_binomial_draw against the binomial law, by chi-square.
 *
 * Both ways to draw (inversion below an expected count of 10, rejection from
 * there on), both sides of p = 1/2, and large n. Counts k are pooled from left
 * to right into cells of at least 20 expected draws; the statistic must not be
 * one that has a chance below 1e-12. A control draws with a p that is off by a
 * third of a standard deviation of the count, which must be noticed.
 */
#include "rig/stat.h"

#define BINOMIAL_CELLS 400u
#define BINOMIAL_EXPECTED 20.0

struct binomial_cells {
    uint64_t last[BINOMIAL_CELLS]; /* the largest count in each */
    double chance[BINOMIAL_CELLS];
    size_t n;
};

/* Cut at steps of a fraction of the standard deviation. */
static void binomial_cut(struct binomial_cells *c, uint64_t n, double p,
                         double draws)
{
    const double mean = (double)n * p, sd = sqrt(mean * (1 - p));
    const double step = fmax(1, floor(sd / 16));
    double below = 0, at = fmax(0, floor(mean - 9 * sd));

    for (c->n = 0; c->n < BINOMIAL_CELLS - 1 && at < (double)n; at += step) {
        const double up = hsy_binomial_cdf((uint64_t)at, n, p);

        if ((up - below) * draws < BINOMIAL_EXPECTED)
            continue;
        if ((1 - up) * draws < BINOMIAL_EXPECTED)
            break;
        c->last[c->n] = (uint64_t)at;
        c->chance[c->n++] = up - below;
        below = up;
    }
    c->last[c->n] = n;
    c->chance[c->n++] = 1 - below;
}

/* The chance of a statistic as large as that of so many draws. */
static double binomial_p(const struct binomial_cells *c, uint64_t n, double p,
                         uint64_t draws, hsy_stream *st)
{
    uint64_t seen[BINOMIAL_CELLS] = {0};
    double chi2 = 0;

    for (uint64_t i = 0; i < draws; i++) {
        const uint64_t k = hsy_binomial_draw(n, p, st);
        size_t low = 0, high = c->n - 1;

        if (k > n)
            return 0;
        while (low < high) {
            const size_t middle = (low + high) / 2;

            if (k <= c->last[middle])
                high = middle;
            else
                low = middle + 1;
        }
        seen[low]++;
    }
    for (size_t i = 0; i < c->n; i++) {
        const double want = c->chance[i] * (double)draws;

        chi2 += ((double)seen[i] - want) * ((double)seen[i] - want) / want;
    }
    return hsy_chi2_upper(chi2, (double)c->n - 1);
}

static void binomial_case(uint64_t n, double p, uint64_t lane)
{
    const uint64_t draws = stat_long() ? 4000000 : 40000;
    const double off = sqrt(p * (1 - p) / (double)n) / 3;
    static struct binomial_cells cells;
    hsy_stream st;
    double chance;

    hsy_stream_seed(&st, stat_seed(), lane);
    binomial_cut(&cells, n, p, (double)draws);
    chance = binomial_p(&cells, n, p, draws, &st);
    ok(cells.n >= 3 && chance > STAT_ALPHA,
       "Bin(%llu, %g) in %zu cells: a statistic of chance %.3g",
       (unsigned long long)n, p, cells.n, chance);
    ok(binomial_p(&cells, n, p < 0.5 ? p + off : p - off, draws, &st) <
           STAT_ALPHA,
       "control: another p is noticed");
    hsy_stream_clear(&st);
}

int main(void)
{
    static const struct {
        uint64_t n;
        double p;
    } cases[] = {{12, 0.3},
                 {12, 0.7},
                 {40, 0.249},
                 {40, 0.251},
                 {100, 0.5},
                 {1000, 0.0099},
                 {1000, 0.0101},
                 {1000, 0.98},
                 {1000000, 0.3},
                 {1000000000, 0.5},
                 {1000000000, 1e-9 * 7},
                 {1000000000, 0.9}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        binomial_case(cases[i].n, cases[i].p, i);
    return tap_done();
}
