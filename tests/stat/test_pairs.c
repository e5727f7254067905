/*
 * test_pairs.c - the bits of a unary report are independent: every pair of
 * bits shows each of its four patterns as often as the product law says.
 */
#include "rig/stat.h"

#define PAIRS_REPORTS (1u << 18)
#define PAIRS_BITS 70u /* more than a word of lanes */

static uint32_t pairs_ones[PAIRS_BITS][PAIRS_BITS];

static bool pairs_bit(const uint8_t *report, size_t v)
{
    return report[v / 8] >> v % 8 & 1;
}

static void pairs_count(const uint8_t *report)
{
    size_t ones[PAIRS_BITS], n = 0;

    for (size_t v = 0; v < PAIRS_BITS; v++)
        if (pairs_bit(report, v))
            ones[n++] = v;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            pairs_ones[ones[i]][ones[j]]++;
}

/* Both ones, as often as p_i p_j says [Bernstein, all pairs at once]. The
 * other patterns follow from this one and from the single bits. */
static bool pairs_agree(const hsy_scheme_info *info, size_t truth)
{
    const double n = PAIRS_REPORTS;
    const double alpha = STAT_ALPHA / (PAIRS_BITS * (PAIRS_BITS + 1) / 2);

    for (size_t i = 0; i < PAIRS_BITS; i++)
        for (size_t j = i; j < PAIRS_BITS; j++) {
            double pi = i == truth ? info->p : info->q;
            double pj = j == truth ? info->p : info->q;
            double p = i == j ? pi : pi * pj;

            if (fabs(pairs_ones[i][j] - n * p) >
                stat_bernstein(n * p * (1 - p), alpha))
                return false;
        }
    return true;
}

static bool pairs_draw(const struct stat_run *r, enum stat_way way,
                       uint64_t truth, uint64_t lane, bool shared)
{
    static uint64_t codes[STAT_BLOCK];
    struct stat_coins coins;

    stat_coins_open(&coins, lane);
    memset(pairs_ones, 0, sizeof pairs_ones);
    for (size_t i = 0; i < STAT_BLOCK; i++)
        codes[i] = truth;
    for (size_t done = 0; done < PAIRS_REPORTS; done += STAT_BLOCK) {
        if (stat_randomize(r->s, &r->info, way, r->reports, codes, STAT_BLOCK,
                           &coins) != HSY_OK)
            return false;
        for (size_t i = 0; i < STAT_BLOCK; i++) {
            uint8_t *report = r->reports + i * r->info.report_bytes;

            /* One report in eight repeats bit 1 in bit 8. */
            if (shared && i % 8 == 0)
                report[1] =
                    (uint8_t)((report[1] & 0xfe) | (report[0] >> 1 & 1));
            pairs_count(report);
        }
    }
    return true;
}

static void pairs_scheme(struct stat_run *r, uint64_t lane)
{
    for (int way = 0; way < STAT_WAYS; way++) {
        ok(pairs_draw(r, (enum stat_way)way, 66, lane + (uint64_t)way, false) &&
               pairs_agree(&r->info, 66),
           "%s, %s: all pairs of bits are independent", r->info.mechanism,
           stat_way_names[way]);
    }
    ok(pairs_draw(r, STAT_BATCH, 66, lane + 8, true) &&
           !pairs_agree(&r->info, 66),
       "control: a coin shared in one report of eight would be noticed");
}

int main(void)
{
    static const char *const names[] = {"sue", "oue"};

    for (size_t i = 0; i < 2; i++)
        for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
            const struct stat_ask ask = {names[i], PAIRS_BITS, 1, 0, 0};
            struct stat_run r;

            if (!hsy_cpu_has((hsy_cpu)level) || !stat_run_open(&r, &ask))
                continue;
            is_status(hsy_scheme_cpu(r.s, (hsy_cpu)level), HSY_OK, "on %s",
                      hsy_cpu_name((hsy_cpu)level));
            pairs_scheme(&r, 2000 + 16 * i);
            stat_run_close(&r);
        }
    return tap_done();
}
