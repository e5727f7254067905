/*
 * test_shares.c - what the bound of shuffling takes for granted of a scheme:
 * the share of the outputs that a truth favours, and the least that two truths
 * share (shuffle_scheme.c), counted over all reports by the law itself.
 */
#include "rig/trial.h"

#define REPORT_BITS 16u

/* Which reports are sound, and which of them each truth favours. */
struct shares {
    size_t reports, truths;
    bool *own; /* truths x reports */
};

/* All that hsy_check takes, in order; how many. */
static size_t reports_of(const hsy_scheme *s, uint8_t (*out)[8])
{
    size_t n = 0;

    for (uint64_t k = 0; k < (uint64_t)1 << s->report_bits; k++) {
        uint8_t report[8];

        for (size_t i = 0; i < 8; i++)
            report[i] = (uint8_t)(k >> 8 * i);
        if (hsy_check(s, report) == HSY_OK)
            memcpy(out[n++], report, 8);
    }
    return n;
}

/* A truth's own are those likelier than the least likely. */
static void shares_of(struct shares *out, const hsy_scheme *s)
{
    uint8_t(*reports)[8] = trial_memory((sizeof *reports) << REPORT_BITS);
    double *law = trial_memory(sizeof *law << REPORT_BITS);

    out->reports = reports_of(s, reports);
    out->truths = s->d;
    out->own = trial_memory(out->truths * out->reports);
    for (uint64_t x = 0; x < out->truths; x++) {
        double least = INFINITY;

        for (size_t i = 0; i < out->reports; i++) {
            law[i] = trial_law(s, &x, reports[i]);
            least = fmin(least, law[i]);
        }
        for (size_t i = 0; i < out->reports; i++)
            out->own[x * out->reports + i] = law[i] > least * (1 + 1e-9);
    }
    free(law);
    free(reports);
}

/* The share of reports that both x and y favour. */
static double shared(const struct shares *s, size_t x, size_t y)
{
    size_t n = 0;

    for (size_t i = 0; i < s->reports; i++)
        n += s->own[x * s->reports + i] && s->own[y * s->reports + i];
    return (double)n / (double)s->reports;
}

static void compare(const hsy_spec *spec, size_t reports)
{
    hsy_scheme *s = trial_scheme(spec);
    hsy_shuffle bound = {.n = 0};
    hsy_error err = {0};
    struct shares got;
    double least = 1;
    bool inside = true;

    if (s->report_bits > REPORT_BITS ||
        hsy_shuffle_scheme(&bound, s, 100, &err) != HSY_OK)
        exit(1);
    shares_of(&got, s);
    for (size_t x = 0; x < got.truths; x++) {
        inside &= fabs(shared(&got, x, x) - bound.favoured) <= 1e-12;
        for (size_t y = 0; y < x; y++)
            least = fmin(least, shared(&got, x, y));
    }
    ok(bound.by == HSY_SHUFFLE_TWO_LEVEL && got.reports == reports && inside,
       "%s of %u: each truth favours %.6g of %zu reports", spec->mechanism,
       spec->d, bound.favoured, got.reports);
    ok(bound.overlap <= least + 1e-12,
       "and no two share less than %.6g: they share %.6g", bound.overlap,
       least);
    free(got.own);
    free(s);
}

/* Of d values, with up to two parameters. */
static void scheme(const char *mechanism, uint32_t d, size_t reports,
                   hsy_param first, uint64_t a, hsy_param second, uint64_t b)
{
    hsy_spec spec = trial_values(mechanism, d, 1.5);

    spec.param[first] = a;
    if (b != 0)
        spec.param[second] = b;
    compare(&spec, reports);
}

int main(void)
{
    scheme("grr", 5, 5, HSY_PARAM_SUBSET, 0, HSY_PARAM_SUBSET, 0);
    scheme("ss", 7, 35, HSY_PARAM_SUBSET, 3, HSY_PARAM_SUBSET, 0);
    scheme("ss", 8, 28, HSY_PARAM_SUBSET, 2, HSY_PARAM_SUBSET, 0);
    scheme("hr", 6, 8, HSY_PARAM_BLOCKS, 1, HSY_PARAM_SUBSET, 0);
    scheme("hr", 6, 8, HSY_PARAM_BLOCKS, 2, HSY_PARAM_SUBSET, 0);
    scheme("hr", 12, 16, HSY_PARAM_BLOCKS, 4, HSY_PARAM_SUBSET, 0);
    scheme("pgr", 10, 13, HSY_PARAM_Q, 3, HSY_PARAM_SUBSET, 0);
    scheme("pgr", 40, 40, HSY_PARAM_Q, 3, HSY_PARAM_SUBSET, 0);
    scheme("olh", 6, 192, HSY_PARAM_POOL_BITS, 6, HSY_PARAM_G, 3);
    scheme("blh", 6, 128, HSY_PARAM_POOL_BITS, 6, HSY_PARAM_SUBSET, 0);
    return tap_done();
}
