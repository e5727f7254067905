/*
 * test_support.c - support counts are where p and q put them, in large domains
 * and on every processor level, and estimates are unbiased.
 */
#include "rig/stat.h"

#define SUPPORT_PEOPLE (1u << 18)
#define SUPPORT_VALUES 100u
#define SUPPORT_FLOOR 7.2 /* standard deviations: 2 P[Z > 7.2] < 1e-12 */

/* A third hold value 0, a tenth the last one, the others are spread evenly. A
 * number is a third of the range, on the average. */
static void support_people(uint64_t *codes, uint64_t count, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        codes[i] = i % (count - 1);
        if (i % 3 == 0)
            codes[i] = 0;
        else if (i % 10 == 1)
            codes[i] = count - 1;
    }
}

/* The true shares: of each value, of yes, or the mean as a part of the range.
 */
static void support_shares(double *shares, const struct stat_run *r,
                           const uint64_t *codes)
{
    memset(shares, 0, r->npoints * sizeof *shares);
    for (size_t i = 0; i < SUPPORT_PEOPLE; i++)
        if (r->npoints > 1)
            shares[codes[i]] += 1.0 / SUPPORT_PEOPLE;
        else
            shares[0] += (double)codes[i] / SUPPORT_PEOPLE /
                         (r->info.kind == HSY_KIND_NUMBER ? STAT_RANGE : 1);
}

/* Bernstein for the coins. With a pool q is exact only over the choice of the
 * pool, so this is for the mechanisms without one. */
static bool support_agrees(const struct stat_run *r, size_t v, double f,
                           double alpha)
{
    const hsy_evidence *p = &r->points[v];
    double mean = p->n * (f * p->p + (1 - f) * p->q);
    double var = p->n * (f * p->p * (1 - p->p) + (1 - f) * p->q * (1 - p->q) +
                         p->binomial_variance * f * (1 - f) * (p->p - p->q) *
                             (p->p - p->q));

    return fabs(p->support - mean) <= stat_bernstein(var, alpha);
}

/* The estimate, in its own units; the pool's part was corrected or stands in
 * the floor. Where the law is not pure (p = q) the unit of a report is not
 * stated: then 8 standard errors, 1e-15 of a normal sum. */
static bool support_unbiased(const struct stat_run *r, size_t v, double f,
                             double alpha)
{
    const hsy_evidence *p = &r->points[v];
    double gap = fabs(p->p - p->q);
    double var;

    /* Without a pure law: by the central limit theorem. */
    if (gap == 0)
        return fabs(p->value - f) <=
               hsy_normal_quantile(1 - alpha / 2) * sqrt(stat_variance(p, f));
    var =
        p->n * p->n * gap * gap * (stat_variance(p, f) - p->residual_variance);

    if (gap == 0)
        return fabs(p->value - f) <= 8 * sqrt(stat_variance(p, f));

    if (gap == 0) /* no support: a sum of many, so normal */
        return fabs(p->value - f) <=
               -hsy_normal_quantile(alpha / 2) * sqrt(stat_variance(p, f));
    return fabs(p->value - f) <= stat_bernstein(var, alpha) / (p->n * gap) +
                                     SUPPORT_FLOOR * sqrt(p->residual_variance);
}

static void support_check(const struct stat_run *r, const double *shares,
                          const char *name)
{
    double alpha = STAT_ALPHA / (double)r->npoints;
    bool support = true, unbiased = true;

    for (size_t v = 0; v < r->npoints; v++) {
        if (r->info.param[HSY_PARAM_POOL_BITS] == 0 &&
            r->info.param[HSY_PARAM_HASHES] == 0 &&
            r->points[v].p != r->points[v].q)
            support &= support_agrees(r, v, shares[v], alpha);
        unbiased &= support_unbiased(r, v, shares[v], alpha);
    }
    ok(support, "%s at epsilon %g, %s: support where p and q put it",
       r->info.mechanism, r->info.epsilon, name);
    ok(unbiased, "estimates are unbiased");
}

static void support_level(struct stat_run *r, const uint64_t *codes,
                          uint64_t lane)
{
    static double shares[SUPPORT_VALUES];

    support_shares(shares, r, codes);
    for (int way = 0; way < STAT_WAYS; way++) {
        struct stat_coins coins;

        stat_coins_open(&coins, lane);
        if (!ok(stat_collect(r, (enum stat_way)way, codes, SUPPORT_PEOPLE,
                             &coins),
                "%s answers by %s", r->info.mechanism, stat_way_names[way]))
            continue;
        support_check(r, shares, stat_way_names[way]);
        ok(!support_unbiased(r, 0, shares[0] + 0.05, STAT_ALPHA),
           "control: five points more would be noticed");
    }
}

int main(void)
{
    static uint64_t codes[SUPPORT_PEOPLE];
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
            const struct stat_ask ask = {row->name, SUPPORT_VALUES, 3, 12, 0};
            struct stat_run r;

            if (!hsy_cpu_has((hsy_cpu)level) || !stat_pointed(row->name) ||
                !stat_run_open(&r, &ask))
                continue;
            if (r.info.iterative) { /* no support: test_law.c, test_density.c */
                stat_run_close(&r);
                continue;
            }
            is_status(hsy_scheme_cpu(r.s, (hsy_cpu)level), HSY_OK, "on %s",
                      hsy_cpu_name((hsy_cpu)level));
            support_people(codes, hsy_code_count(r.s), SUPPORT_PEOPLE);
            support_level(&r, codes, 1000 + i);
            stat_run_close(&r);
        }
    return tap_done();
}
