/*
 * detect.c - devices that lie, found by the seeds of local hashing.
 *
 * Whatever people answer, the seed of an honest report is uniform over the K of
 * the pool, and given it no hash comes with more than the chance p. Liars who
 * want r values at once need the seeds that send many of them to one hash, and
 * those are few. Two tests, one for few seeds and one for many:
 *
 *   cells   the largest count of a seed and a hash. It is a sum of n coins of
 *           at most p/K each, so no heavier than Bin(n, p/K); g K of them.
 *   pairs   S, pairs of reports with one seed, of which there are
 *           n (n-1) / 2 and each is one with chance 1/K. Any two pairs are
 *           independent, so
 *               mean  n (n-1) / (2 K),  variance  mean (1 - 1/K),
 *           and with three reports to a triangle the third moment is
 *               mean (1 - 1/K) (1 - 2/K) (1 + 2 (n-2) / K).
 *           A gamma distribution with these three moments has its tail, from
 *           a mean of DETECT_PAIRS on.           docs/poisoning.md, 4
 */
#include "lib/infer/infer.h"
#include "lib/special/special.h"

#include <math.h>

#define DETECT_PAIRS 50.0

/* What a table of K seeds and g hashes holds. */
struct detect_table {
    double n, seeds;
    double most;  /* the largest cell */
    double pairs; /* of reports with one seed */
};

static struct detect_table detect_table(const hsy_tally *t,
                                        const hsy_scheme_info *i)
{
    const size_t g = (size_t)i->param[HSY_PARAM_G], seeds = t->ncells / g;
    const double times = 1 + t->kept;
    struct detect_table out = {.n = (double)hsy_tally_reports(t) / times,
                               .seeds = (double)seeds};

    for (size_t j = 0; j < seeds; j++) {
        double row = 0;

        for (size_t y = 0; y < g; y++) {
            row += (double)t->cells[j * g + y] / times;
            out.most = fmax(out.most, (double)t->cells[j * g + y] / times);
        }
        out.pairs += fmax(row * (row - 1) / 2, 0);
    }
    return out;
}

static double detect_cells(const struct detect_table *t, double cells, double p)
{
    return fmin(1, cells *
                       hsy_special_binomial(t->most, t->n, p / t->seeds, true));
}

/* The upper tail of the gamma distribution with this skewness, in standard
 * deviations from its mean. */
static double detect_gamma(double z, double skew)
{
    const double shape = 4 / (skew * skew);
    const double at = shape + z * sqrt(shape);

    return at > 0 ? hsy_chi2_upper(2 * at, 2 * shape) : 1;
}

static double detect_pairs(const struct detect_table *t)
{
    const double each = 1 / t->seeds;
    const double mean = t->n * (t->n - 1) / 2 * each;
    const double variance = mean * (1 - each);
    const double third =
        variance * (1 - 2 * each) * (1 + 2 * (t->n - 2) * each);

    if (mean < DETECT_PAIRS || t->seeds < 3)
        return 1;
    return detect_gamma((t->pairs - mean) / sqrt(variance),
                        third / pow(variance, 1.5));
}

double hsy_detect_seeds(const hsy_tally *t, const hsy_scheme *s)
{
    double least = 1;

    for (size_t i = 0; i < hsy_scheme_parts(s); i++) {
        struct detect_table table;
        hsy_tally own;
        hsy_scheme_info info;

        hsy_tally_part(&own, t, s, i);
        hsy_scheme_describe(hsy_scheme_part(s, i), &info);
        if (info.param[HSY_PARAM_G] == 0 || hsy_tally_reports(&own) == 0)
            continue;
        table = detect_table(&own, &info);
        least = fmin(least,
                     2 * fmin(detect_cells(&table, (double)own.ncells, info.p),
                              detect_pairs(&table)));
    }
    return fmin(least, 1);
}
