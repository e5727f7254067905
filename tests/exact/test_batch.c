/*
 * test_batch.c - a batch treats every place like a single call does.
 *
 * With a source that says the same word over and over, the order of draws does
 * not matter: the report at every place of a batch must be the one that a
 * single call makes of its code from that word. So no place, at the end of a
 * block or anywhere else, escapes its coins.
 */
#include "rig/trial.h"

#include <string.h>

#define BATCH_MOST 600u
#define BATCH_WORDS 8u

/* A source that repeats the first `period` bytes of a word, little-endian: the
 * size of one draw, 8 for a coin and 4 for a seed. */
struct batch_source {
    uint64_t word;
    size_t period;
};

static hsy_status batch_fill(void *ctx, void *buf, size_t len)
{
    const struct batch_source *source = ctx;
    uint8_t *out = buf, eight[8];

    for (size_t i = 0; i < 8; i++) /* a period divides 8 */
        eight[i] = (uint8_t)(source->word >> 8 * (i % source->period));
    for (size_t i = 0; i < len; i++)
        out[i] = eight[i % 8];
    return HSY_OK;
}

/* Words that no sampler rejects, or it would ask for another one for ever: a
 * coin takes all up to 2^63, a uniform number all but 0. */
static uint64_t batch_word(size_t i)
{
    static const uint64_t edges[] = {1, 2, UINT64_MAX >> 1};

    if (i < sizeof edges / sizeof edges[0])
        return edges[i];
    return (i * 0x9e3779b97f4a7c15 ^ i << 57) >> 1;
}

/* Who stands at place i of a batch. */
static uint64_t batch_truth(size_t i, uint64_t d)
{
    return (i * 7 + i / 256) % d;
}

/* Whether all n reports are what single calls make of the same words. */
static bool batch_agrees(const hsy_scheme *s, const uint64_t *codes, size_t n,
                         uint64_t secret, uint64_t published)
{
    static uint8_t reports[BATCH_MOST * 700];
    struct batch_source coin = {secret, 8}, seed = {published, 4};
    hsy_coins coins = {{batch_fill, &coin}, {batch_fill, &seed}};
    uint8_t one[700];
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    if (hsy_randomize_batch(s, reports, codes, n, &coins, NULL) != HSY_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        hsy_truth truth = trial_truth(s, batch_truth(i, trial_count(s)));

        if (hsy_randomize(s, one, &truth, &coins, NULL) != HSY_OK ||
            memcmp(one, reports + i * info.report_bytes, info.report_bytes) !=
                0)
            return false;
    }
    return true;
}

static void batch_scheme(hsy_scheme *s, const char *name, uint32_t d,
                         hsy_cpu level)
{
    static const size_t sizes[] = {1,   2,   255, 256, 257,
                                   258, 511, 512, 513, 600};
    const size_t width = hsy_codes_per_truth(s);
    uint64_t codes[2 * BATCH_MOST];
    bool agree = true;

    for (size_t i = 0; i < BATCH_MOST; i++)
        trial_codes(s, codes + i * width, batch_truth(i, d));
    for (size_t w = 0; w < BATCH_WORDS && agree; w++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0] && agree; k++)
            agree = batch_agrees(s, codes, sizes[k], batch_word(w),
                                 batch_word(w + 17));
    ok(agree, "%s, %u codes, %s: every place of a batch has its own coins",
       name, d, hsy_cpu_name(level));
}

static void batch_mechanism(const hsy_catalogue *row, uint32_t d)
{
    hsy_spec spec = trial_small(row, d, 1);
    hsy_scheme *s = trial_scheme(&spec);

    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++)
        if (hsy_scheme_cpu(s, (hsy_cpu)level) == HSY_OK)
            batch_scheme(s, row->name, d, (hsy_cpu)level);
    free(s);
}

int main(void)
{
    static const uint32_t domains[] = {2, 5, 8, 65, 1025};
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (size_t k = 0; k < sizeof domains / sizeof domains[0]; k++)
            if (trial_takes(row, domains[k]))
                batch_mechanism(row, domains[k]);
    return tap_done();
}
