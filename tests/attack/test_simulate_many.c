/*
 * test_simulate_many.c - C08 with several nodes on databases that fail over:
 * src/server/cluster as it is, PostgreSQL's part simulated (rig/fake_pg.h).
 * Every report is counted once if it was acknowledged, and never twice; wrong
 * nodes are caught.
 *
 *     test_simulate_many            200 seeds, or 100,000 with HSY_TEST_LONG
 *     test_simulate_many SEED       that one again, with what happened
 *     test_simulate_many FIRST N    N seeds from FIRST on
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "rig/collector_many.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>

static struct world world;

/* The clock of all that runs here. */
int clock_gettime(clockid_t which, struct timespec *t)
{
    (void)which;
    many_time(t);
    return 0;
}

static void tell(uint64_t seed, const char *fault)
{
    printf("# seed %" PRIu64 ": %" PRIu64 " acknowledged, %" PRIu64
           " crashes, %" PRIu64 " replays%s%s\n",
           seed, world.acks, world.crashes, world.replays,
           fault == NULL ? "" : "; ", fault == NULL ? "" : fault);
}

static void seeds(uint64_t first, uint64_t n)
{
    const struct many_seen *s = &many_seen;
    uint64_t acks = 0, failed = 0;

    for (uint64_t seed = first; seed < first + n; seed++) {
        const char *fault = world_live(&world, &world_many, seed);

        acks += world.acks;
        failed += fault != NULL;
        if (fault != NULL)
            tell(seed, fault);
    }
    is_u64(failed, 0,
           "%" PRIu64 " seeds: %" PRIu64 " reports acknowledged over %" PRIu64
           " failovers, lost 0, doubled 0",
           n, acks, s->failovers);
    printf("# %" PRIu64 " zombies, %" PRIu64 " restarts of a primary, %" PRIu64
           " nodes killed, %" PRIu64 " cut off, %" PRIu64
           " waits cancelled, %" PRIu64 " groups, %" PRIu64
           " uploads in doubt, %" PRIu64 " folds\n",
           s->zombies, s->restarts, s->kills, s->cuts, s->cancelled, s->groups,
           s->doubts, s->folds);
    ok(acks / n > 100 && s->failovers / n > 3 && s->zombies > n &&
           s->kills / n > 3 && s->cancelled > n && s->doubts > n &&
           s->folds / n > 50,
       "there was much to lose");
}

/* ---- The zoo ------------------------------------------------------------- */

static void zoo(void)
{
    static const struct {
        enum fake_slip slip;
        const char *name;
    } wrong[] = {
        {FAKE_TRUSTS_WARNING, "it takes COMMIT with a warning for a commit"},
        {FAKE_AGAIN_UNWRITTEN,
         "what was there before is acknowledged without a write"},
        {FAKE_WATERMARK,
         "batches are folded by number, and late ones skipped"}};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        unsigned caught = 0;

        many_slips(wrong[i].slip);
        for (uint64_t seed = 1; seed <= 30; seed++)
            caught += world_live(&world, &world_many, seed) != NULL;
        many_slips(FAKE_RIGHT);
        /* Not every seed has a failover, or a fold, at such a moment. */
        ok(caught >= 5, "caught by %u of 30 seeds: %s", caught, wrong[i].name);
    }
}

#define IDS 4000u

/* Who knows how shards are chosen, but not the key, sends ids that are all one
 * shard's by that. A fair coin passes by 1 - 1e-12: within 7.2 deviations. */
static void one_shard_is_not_to_be_filled(void)
{
    static uint8_t ids[IDS][16];
    const size_t half = IDS / 2, within = 228; /* 7.2 * sqrt(IDS) / 2 */
    uint64_t random = 1;
    size_t keyed, plain;

    for (size_t i = 0; i < IDS; i++)
        for (size_t k = 0; k < 16; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            ids[i][k] = (uint8_t)(random >> 56);
            if (k == 11)
                ids[i][k] &= 0x7f;
        }
    keyed = many_first(&world, (const uint8_t(*)[16])ids, IDS, true);
    plain = many_first(&world, (const uint8_t(*)[16])ids, IDS, false);
    ok(keyed > half - within && keyed < half + within,
       "chosen ids are spread: %zu of %u in the first shard", keyed, IDS);
    ok(!(plain > half - within && plain < half + within),
       "caught: shards are chosen by ids without a key: %zu of %u", plain, IDS);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        seeds(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    } else if (argc > 1) {
        const uint64_t seed = strtoull(argv[1], NULL, 10);
        const char *fault = world_live(&world, &world_many, seed);

        tell(seed, fault);
        ok(fault == NULL, "seed %" PRIu64, seed);
    } else {
        seeds(1, getenv("HSY_TEST_LONG") != NULL ? 100000 : 200);
        zoo();
        one_shard_is_not_to_be_filled();
    }
    return tap_done();
}
