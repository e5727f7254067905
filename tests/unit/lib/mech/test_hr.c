/* test_hr.c - Hadamard response: blocks, vectors, coins, counts, channel. */
#include "lib/mech/hr.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_scheme *scheme(uint32_t d, double epsilon, uint64_t blocks)
{
    hsy_spec spec = trial_values("hr", d, epsilon);

    spec.param[HSY_PARAM_BLOCKS] = blocks;
    return trial_scheme(&spec);
}

/* Theory 15.3. */
static void vectors(void)
{
    static const struct {
        double epsilon, v0;
    } one[] = {{0.5, 16.6707923561310551},
               {1, 4.68269437683116928},
               {2, 1.72406166096631047},
               {4, 1.07602182983807110}};
    hsy_scheme *s = scheme(1000, 2, 4);
    double c;

    for (size_t i = 0; i < 4; i++) {
        hsy_scheme *b1 = scheme(1000, one[i].epsilon, 1);
        hsy_scheme_info info;

        hsy_scheme_describe(b1, &info);
        ok(fabs(info.v0 / one[i].v0 - 1) < 1e-9, "B = 1, epsilon %g: v0 %.12f",
           one[i].epsilon, info.v0);
        free(b1);
    }
    /* v1 is that of a block with everybody less 1; other follows by 2 c. */
    c = (double)s->total / (double)((uint64_t)1 << s->two.shift) /
        pow(expm1(2), 2);
    ok(fabs(2 * c - 0.704999645369922740) < 1e-9, "B = 4: other");
    ok(fabs(c * (exp(2) + 1) - 2.95714078736724795) < 1e-9, "B = 4: same");
    free(s);
}

/* The best power of two by the balanced formula, found by trying all. */
static void best_blocks(void)
{
    bool best = true;

    for (double epsilon = 0.05; epsilon < 12; epsilon += 0.05) {
        hsy_scheme *s = scheme(1u << 20, epsilon, 0);
        double u = expm1(epsilon), b = (double)s->param[HSY_PARAM_BLOCKS];
        double mine = 4 * b + u * u / b;

        for (double other = 1; other <= 1 << 20; other *= 2)
            best &= mine <= (4 * other + u * u / other) * (1 + 1e-6);
        free(s);
    }
    ok(best, "no other power of two gives less variance");
}

static void layout(void)
{
    static const uint32_t domains[] = {2, 3, 5, 64, 100, 1000, 4097};
    bool bijection = true, balanced = true;

    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        for (uint64_t blocks = 1; blocks <= domains[i]; blocks *= 4) {
            hsy_scheme *s = scheme(domains[i], 1, blocks);
            struct kernel_hadamard h = hr_kernel(s);
            uint32_t *met = trial_memory(s->cells * sizeof *met);
            uint32_t *full = trial_memory(blocks * sizeof *full);

            for (uint32_t x = 0; x < domains[i]; x++) {
                uint64_t item = hadamard_item(x, &h);

                bijection &= item < s->cells && met[item]++ == 0 &&
                             (item & ((1u << h.index_bits) - 1)) != 0;
                full[item >> h.index_bits]++;
            }
            for (uint64_t b = 0; b < blocks; b++)
                balanced &= full[b] == domains[i] / blocks ||
                            full[b] == domains[i] / blocks + 1;
            free(met);
            free(full);
            free(s);
        }
    ok(bijection, "every value has a place of its own, never index 0");
    ok(balanced, "blocks differ by one value at most");
}

static void refusals(void)
{
    hsy_spec spec = trial_values("hr", 100, 1);
    hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
    hsy_error err = {0};

    spec.param[HSY_PARAM_BLOCKS] = 3;
    ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_BLOCKS,
       "three blocks are refused");
    spec.param[HSY_PARAM_BLOCKS] = 256;
    ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE && err.limit == 128,
       "256 blocks for 100 values are refused, 128 are the most");
    spec.param[HSY_PARAM_BLOCKS] = 128;
    ok(hsy_scheme_init(s, &spec, &err) == HSY_OK && s->cells == 256,
       "128 blocks have two outputs each");
    spec.param[HSY_PARAM_G] = 2;
    ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_G,
       "a foreign parameter is refused");
    free(s);
    s = scheme(1u << 22, 32, 1);
    ok(s->cells == 1u << 23 && s->total < (uint64_t)1 << 63,
       "the largest domain at the largest epsilon in one block");
    free(s);
}

/* Every level gives the same reports; all of them are well-formed. */
static void levels(void)
{
    enum { N = 1003 };
    static uint64_t codes[N];
    static uint8_t first[4 * N], reports[4 * N];
    static const uint64_t blocks[] = {1, 2, 16, 256};
    bool same = true;

    for (size_t b = 0; b < 4; b++) {
        hsy_scheme *s = scheme(50000, 1, blocks[b]);

        for (size_t i = 0; i < N; i++)
            codes[i] = i * 49 % 50000;
        for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
            hsy_stream st, unused;
            hsy_coins coins = {hsy_stream_rng(&st), hsy_stream_rng(&unused)};

            if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
                continue;
            hsy_stream_seed(&st, 5, b);
            same &= hsy_randomize_batch(s, reports, codes, N, &coins, NULL) ==
                    HSY_OK;
            if (level == HSY_CPU_PLAIN)
                memcpy(first, reports, sizeof first);
            same &= memcmp(first, reports, N * s->report_bytes) == 0;
        }
        free(s);
    }
    ok(same, "every level gives the same reports");
}

/* Forward is the law times theta, backward its transpose. */
static void channel(void)
{
    enum { D = 11 };
    hsy_scheme *s = scheme(D, 1.5, 2);
    double theta[D], back[D], *out = trial_memory(s->cells * sizeof *out);
    double *ratio = trial_memory(s->cells * sizeof *ratio);
    double *scratch = trial_memory(s->cells * sizeof *scratch);
    double off = 0;

    for (size_t x = 0; x < D; x++)
        theta[x] = (double)(x + 1) / 66;
    for (size_t y = 0; y < s->cells; y++)
        ratio[y] = 1 + sin((double)y);
    s->mech->estimate->channel->forward(s, out, theta, scratch);
    s->mech->estimate->channel->backward(s, back, ratio, scratch);
    for (uint64_t y = 0; y < s->cells; y++)
        for (uint64_t x = 0; x < D; x++) {
            const uint8_t report[4] = {(uint8_t)y};
            hsy_factor f[2];
            size_t count;
            double p;

            hsy_law(s, f, &count, x, report);
            p = (double)f[0].num / (double)f[0].den / (double)f[1].den;
            out[y] -= p * theta[x];
            back[x] -= p * ratio[y];
        }
    for (size_t y = 0; y < s->cells; y++)
        off = fmax(off, fabs(out[y]));
    for (size_t x = 0; x < D; x++)
        off = fmax(off, fabs(back[x]));
    ok(off < 1e-12, "the channel and its transpose are the law (%.1e)", off);
    free(out);
    free(ratio);
    free(scratch);
    free(s);
}

/* One block has the pure law, and so every interval; more have not. */
static void intervals(void)
{
    static const hsy_confidence exact = {0.95, HSY_POPULATION, HSY_EXACT, 1};

    for (uint64_t blocks = 1; blocks <= 2; blocks++) {
        hsy_scheme *s = scheme(6, 1, blocks);
        int64_t *memory = trial_memory(8 * hsy_tally_words(s));
        void *scratch = trial_memory(hsy_evidence_scratch(s, 6));
        const uint8_t reports[5] = {0, 1, 2, 3, 5};
        hsy_estimate est;
        hsy_evidence points[6];
        hsy_tally t;

        hsy_tally_init(&t, s, memory);
        ok(hsy_tally_batch(&t, s, reports, 5, NULL) == HSY_OK &&
               hsy_evidence_of(s, points, &t, NULL, 6, scratch, NULL) == HSY_OK,
           "B = %u: estimates", (unsigned)blocks);
        ok(hsy_estimate_point(&est, &points[3], &exact, NULL) ==
               (blocks == 1 ? HSY_OK : HSY_E_RANGE),
           "an exact interval %s", blocks == 1 ? "exists" : "is refused");
        ok(points[3].v0 >= 0 && points[3].v1 >= 0, "variances are variances");
        ok(hsy_check(s, (const uint8_t[]){9}) == HSY_E_FORMAT,
           "an output past the last is refused");
        free(memory);
        free(scratch);
        free(s);
    }
}

int main(void)
{
    vectors();
    best_blocks();
    layout();
    refusals();
    levels();
    channel();
    intervals();
    return tap_done();
}
