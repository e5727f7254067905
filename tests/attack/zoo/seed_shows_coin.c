/*
 * seed_shows_coin.c - the published seed is raw output of the generator that
 * tosses the coin: the seed's number is the top of the very word that decides
 * whether the answer lies, so whoever reads the seed knows whether to believe
 * it.
 */
#include "lib/kernels/pool.h"
#include "zoo.h"

static hsy_status seed_shows_coin_single(void *ctx, const hsy_scheme *s,
                                         uint8_t *report,
                                         const struct audit_probe *probe,
                                         hsy_coins *coins)
{
    double e = exp(zoo_epsilon(s)), u = 0;
    hsy_status st = zoo_uniform(&u, coins);
    uint64_t j = (uint64_t)(u * ZOO_POOL), y;
    struct pool_hash h = hsy_pool_at(0, (uint32_t)j);

    (void)ctx;
    y = pool_reduce(pool_narrow(&h, probe->code), 2) ^ (u >= e / (e + 1));
    return st == HSY_OK ? zoo_report(s, report, j | y << ZOO_POOL_BITS) : st;
}

const struct zoo_mutant zoo_seed_shows_coin[] = {
    {"seed_shows_coin", "the published seed shows the coin", "blh",
     HSY_KIND_VALUES, 10, HSY_NANO, seed_shows_coin_single, 0, 200000,
     AUDIT_SAMPLED | AUDIT_LAW},
    {0}};
