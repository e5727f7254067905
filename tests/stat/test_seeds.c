/*
 * test_seeds.c - the published seed of a report says nothing of its secret
 * coins: each bit of the seed is fair, and is uncorrelated with whether the
 * noise kept the hash of the truth, with the bits of the reported hash, and
 * with the noise of the report after it.
 */
#include "rig/stat.h"

#define SEEDS_REPORTS (1u << 20)
#define SEEDS_BITS 16u
#define SEEDS_SIGNS 6u /* kept, three bits of the hash, the next two kept */

/* Per seed bit: how often it is set, and how often it is set together with
 * each sign. */
struct seeds_count {
    uint64_t ones[SEEDS_BITS];
    uint64_t signs[SEEDS_SIGNS];
    uint64_t both[SEEDS_BITS][SEEDS_SIGNS];
    uint64_t n;
};

/* Whether the report shows the truth's own hash: its law says so. */
static bool seeds_kept(const hsy_scheme *s, uint64_t code,
                       const uint8_t *report)
{
    hsy_factor f[4], worst[4];
    size_t count;

    hsy_law(s, f, &count, code, report);
    hsy_law_worst(s, worst, &count);
    return f[1].num == worst[0].num;
}

static uint64_t seeds_packed(const hsy_scheme *s, const uint8_t *report)
{
    uint8_t packed[8] = {0};

    hsy_pack(s, packed, report, 1);
    return (uint64_t)packed[0] | (uint64_t)packed[1] << 8 |
           (uint64_t)packed[2] << 16;
}

static void seeds_add(struct seeds_count *c, uint64_t seed, unsigned signs)
{
    c->n++;
    for (size_t k = 0; k < SEEDS_SIGNS; k++)
        c->signs[k] += signs >> k & 1;
    for (size_t b = 0; b < SEEDS_BITS; b++) {
        if ((seed >> b & 1) == 0)
            continue;
        c->ones[b]++;
        for (size_t k = 0; k < SEEDS_SIGNS; k++)
            c->both[b][k] += signs >> k & 1;
    }
}

/* A block of reports; the last two have no report after them. */
static void seeds_block(struct seeds_count *c, const struct stat_run *r,
                        uint64_t code, bool leaky)
{
    static bool kept[STAT_BLOCK];
    size_t bytes = r->info.report_bytes;

    for (size_t i = 0; i < STAT_BLOCK; i++)
        kept[i] = seeds_kept(r->s, code, r->reports + i * bytes);
    for (size_t i = 0; i + 2 < STAT_BLOCK; i++) {
        uint64_t word = seeds_packed(r->s, r->reports + i * bytes);
        unsigned signs = kept[i] | (unsigned)(word >> SEEDS_BITS & 7) << 1 |
                         (unsigned)kept[i + 1] << 4 |
                         (unsigned)kept[i + 2] << 5;

        /* A generator that leaks: one seed in fifty has the coin in bit 5. */
        if (leaky && i % 50 == 0)
            word = (word & ~UINT64_C(32)) | (kept[i] ? 32 : 0);
        seeds_add(c, word, signs);
    }
}

/* All counts are sums of independent indicators [Bernstein, all at once]. The
 * rate of a sign is its own estimate; its error is below the bound's slack. */
static bool seeds_agree(const struct seeds_count *c)
{
    double n = (double)c->n;
    double alpha = STAT_ALPHA / (SEEDS_BITS * (SEEDS_SIGNS + 1));

    for (size_t b = 0; b < SEEDS_BITS; b++) {
        if (fabs((double)c->ones[b] - n / 2) > stat_bernstein(n / 4, alpha))
            return false;
        for (size_t k = 0; k < SEEDS_SIGNS; k++) {
            double rate = (double)c->signs[k] / n;
            double mean = n * rate / 2;

            if (fabs((double)c->both[b][k] - mean) >
                stat_bernstein(n * rate / 4, alpha))
                return false;
        }
    }
    return true;
}

static bool seeds_draw(struct seeds_count *c, const struct stat_run *r,
                       hsy_coins *coins, bool leaky)
{
    static uint64_t codes[STAT_BLOCK];

    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < STAT_BLOCK; i++)
        codes[i] = 3;
    for (size_t done = 0; done < SEEDS_REPORTS; done += STAT_BLOCK) {
        if (hsy_randomize_batch(r->s, r->reports, codes, STAT_BLOCK, coins,
                                NULL) != HSY_OK)
            return false;
        seeds_block(c, r, 3, leaky);
    }
    return true;
}

int main(void)
{
    const struct stat_ask ask = {"olh", 16, 1.5, SEEDS_BITS, 0};
    struct stat_run r;
    struct stat_coins streams;
    struct seeds_count c;
    hsy_entropy entropy;
    hsy_coins coins;

    if (!stat_run_open(&r, &ask))
        return tap_done();
    stat_coins_open(&streams, 4000);
    coins = (hsy_coins){hsy_stream_rng(&streams.secret),
                        hsy_stream_rng(&streams.published)};
    ok(seeds_draw(&c, &r, &coins, false) && seeds_agree(&c),
       "seeded coins: published seeds tell nothing of the noise");
    ok(seeds_draw(&c, &r, &coins, true) && !seeds_agree(&c),
       "control: one leaking seed in fifty would be noticed");
    hsy_entropy_init(&entropy);
    coins = hsy_entropy_coins(&entropy);
    ok(seeds_draw(&c, &r, &coins, false) && seeds_agree(&c),
       "kernel coins: published seeds tell nothing of the noise");
    hsy_entropy_clear(&entropy);
    stat_run_close(&r);
    return tap_done();
}
