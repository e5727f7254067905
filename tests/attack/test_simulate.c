/*
 * test_simulate.c - C08: a collector, its devices, network, disk and clocks
 * simulated from seeds; every report counted once if it was acknowledged, and
 * never twice. Wrong collectors of the zoo must be caught.
 *
 *     test_simulate            200 seeds, or 100,000 with HSY_TEST_LONG
 *     test_simulate SEED       that one again, with what happened
 *     test_simulate FIRST N    N seeds from FIRST on
 */
#include "collector_real.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>

static struct world world;

static void tell(uint64_t seed, const char *fault)
{
    printf("# seed %" PRIu64 ": %" PRIu64 " acknowledged, %" PRIu64
           " crashes, %" PRIu64 " replays, %" PRIu64 " times full%s%s\n",
           seed, world.acks, world.crashes, world.replays, world.fulls,
           fault == NULL ? "" : "; ", fault == NULL ? "" : fault);
}

static void seeds(uint64_t first, uint64_t n)
{
    uint64_t acks = 0, crashes = 0, failed = 0;

    for (uint64_t seed = first; seed < first + n; seed++) {
        const char *fault = world_live(&world, &world_real, seed);

        acks += world.acks;
        crashes += world.crashes;
        failed += fault != NULL;
        if (fault != NULL)
            tell(seed, fault);
    }
    ok(failed == 0,
       "%" PRIu64 " seeds: %" PRIu64 " reports acknowledged over %" PRIu64
       " crashes, lost 0, doubled 0",
       n, acks, crashes);
    ok(acks / n > 100 && crashes / n > 3,
       "there was much to lose: %" PRIu64 " reports and %" PRIu64
       " crashes a seed",
       acks / n, crashes / n);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        seeds(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    } else if (argc > 1) {
        const uint64_t seed = strtoull(argv[1], NULL, 10);
        const char *fault = world_live(&world, &world_real, seed);

        tell(seed, fault);
        ok(fault == NULL, "seed %" PRIu64, seed);
    } else {
        seeds(1, getenv("HSY_TEST_LONG") != NULL ? 100000 : 200);
    }
    return tap_done();
}
