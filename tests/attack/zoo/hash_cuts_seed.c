/*
 * hash_cuts_seed.c - the hash cuts its seed to half the bits: reports name one
 * function and answer by another, so no count made from them means anything.
 */
#include "lib/kernels/pool.h"
#include "zoo.h"

static hsy_status hash_cuts_seed_single(void *ctx, const hsy_scheme *s,
                                        uint8_t *report,
                                        const struct audit_probe *probe,
                                        hsy_coins *coins)
{
    double e = exp(zoo_epsilon(s)), u = 0;
    hsy_status st = zoo_uniform(&u, coins);
    uint8_t seed = 0;
    uint64_t j, y;
    struct pool_hash h;

    (void)ctx;
    if (st == HSY_OK)
        st = coins->published.fill(coins->published.ctx, &seed, 1);
    j = seed % ZOO_POOL;
    h = hsy_pool_at(0, (uint32_t)(j % (1u << ZOO_POOL_BITS / 2)));
    y = pool_reduce(pool_narrow(&h, probe->code), 2) ^ (u >= e / (e + 1));
    return st == HSY_OK ? zoo_report(s, report, j | y << ZOO_POOL_BITS) : st;
}

const struct zoo_mutant zoo_hash_cuts_seed[] = {
    {"hash_cuts_seed", "the seed is cut to half its bits", "blh",
     HSY_KIND_VALUES, 10, HSY_NANO, hash_cuts_seed_single, 0, 200000,
     AUDIT_LAW},
    {0}};
