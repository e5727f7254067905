/*
 * test_law.c - every way to randomize, on every processor level, follows the
 * law that hsy_law states, output by output.
 */
#include "rig/stat.h"

#define LAW_REPORTS (1u << 17)
#define LAW_BITS 12u

/* One scheme's counts of whole outputs, for one truth. */
struct law_count {
    hsy_scheme *s;
    hsy_scheme_info info;
    uint64_t *cells;
    size_t size;
};

static double law_probability(const struct law_count *c, uint64_t code,
                              const uint8_t *report)
{
    static hsy_factor factors[64];
    uint64_t codes[HSY_ATTRIBUTES_MAX];
    double p = 1;
    size_t count;

    trial_codes(c->s, codes, code);
    hsy_law_codes(c->s, factors, &count, codes, report);
    for (size_t i = 0; i < count; i++)
        p *= (double)factors[i].num / (factors[i].den == 0
                                           ? 18446744073709551616.0
                                           : (double)factors[i].den);
    return p;
}

#define LAW_RUN 32u /* neighbours that are also looked at together */

/* The oddest cell or run of cells, times the number of cells and of runs
 * [Bonferroni]. */
static double law_oddest(const struct law_count *c, uint64_t code, double power)
{
    double oddest = 1, run = 0;
    uint64_t seen = 0;
    uint8_t report[64];

    for (size_t cell = 0; cell < c->size; cell++) {
        const uint8_t packed[8] = {(uint8_t)cell, (uint8_t)(cell >> 8)};
        double p = 0;

        if (hsy_unpack(c->s, report, packed, 1) == HSY_OK &&
            hsy_check(c->s, report) == HSY_OK)
            p = pow(law_probability(c, code, report), power);
        oddest = fmin(oddest, stat_binomial(c->cells[cell], LAW_REPORTS, p));
        run += p;
        seen += c->cells[cell];
        if ((cell + 1) % LAW_RUN == 0) {
            oddest = fmin(oddest, stat_binomial(seen, LAW_REPORTS, run));
            run = 0;
            seen = 0;
        }
    }
    return oddest * 2 * (double)c->size;
}

static bool law_draw(struct law_count *c, enum stat_way way, uint64_t code,
                     uint64_t lane)
{
    static uint64_t codes[STAT_BLOCK * 2];
    static uint8_t reports[STAT_BLOCK * 64];
    struct stat_coins coins;

    stat_coins_open(&coins, lane);
    memset(c->cells, 0, c->size * sizeof *c->cells);
    for (size_t i = 0; i < STAT_BLOCK; i++)
        trial_codes(c->s, codes + i * hsy_codes_per_truth(c->s), code);
    for (size_t done = 0; done < LAW_REPORTS; done += STAT_BLOCK) {
        if (stat_randomize(c->s, &c->info, way, reports, codes, STAT_BLOCK,
                           &coins) != HSY_OK)
            return false;
        for (size_t i = 0; i < STAT_BLOCK; i++) {
            uint8_t packed[8] = {0};

            hsy_pack(c->s, packed, reports + i * c->info.report_bytes, 1);
            c->cells[packed[0] | (size_t)packed[1] << 8]++;
        }
    }
    return true;
}

/* All ways and levels for one scheme. */
static void law_scheme(struct law_count *c, uint64_t lane)
{
    uint64_t last = trial_count(c->s) - 1;

    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        double worst = 1;
        bool drawn = true, noticed = true;

        if (hsy_scheme_cpu(c->s, (hsy_cpu)level) != HSY_OK)
            continue;
        for (int way = 0; way < STAT_WAYS; way++)
            for (int x = 0; x < 2; x++) {
                uint64_t code = x == 0 ? last / 3 : last;

                drawn &= law_draw(c, (enum stat_way)way, code,
                                  lane * 64 + (uint64_t)(way * 2 + x));
                worst = fmin(worst, law_oddest(c, code, 1));
                noticed &= law_oddest(c, code, 1.1) < STAT_ALPHA;
            }
        ok(drawn && worst > STAT_ALPHA,
           "%s at epsilon %g, %s: outputs follow the law (odds %.2g)",
           c->info.mechanism, c->info.epsilon, hsy_cpu_name((hsy_cpu)level),
           worst);
        ok(noticed, "control: another law would be noticed");
    }
}

int main(void)
{
    static const double epsilons[] = {0.5, 2};
    const hsy_catalogue *row;
    uint64_t lane = 0;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (size_t e = 0; e < 2; e++) {
            struct stat_ask ask = {row->name, 6, epsilons[e], 3, 0};
            struct law_count c = {.s = stat_scheme(&ask)};

            if (!ok(c.s != NULL, "%s is a scheme", row->name))
                continue;
            hsy_scheme_describe(c.s, &c.info);
            c.size = (size_t)1 << c.info.packed_bits;
            c.cells = stat_alloc(c.size * sizeof *c.cells);
            if (ok(c.info.packed_bits <= LAW_BITS &&
                       hsy_law_factors(c.s) <= 64 && c.info.report_bytes <= 64,
                   "its outputs can be counted"))
                law_scheme(&c, ++lane);
            free(c.cells);
            free(c.s);
        }
    return tap_done();
}
