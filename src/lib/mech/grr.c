/*
 * grr.c - generalized (k-ary) randomized response [WBLJ17].
 *
 * Report the truth with weight rho = A / 2^shift, every other value with
 * weight 1: the two-level law with K = d outputs and the truth as its own.
 *
 * Privacy. For every report y and any two truths,
 *     P[y | x] / P[y | x'] <= A / 2^shift <= e^epsilon,
 * the last step because A is rounded down.    docs/mechanisms/grr.md, Thm 1
 *
 * Report: the value's index, ceil(log2 d) bits.
 */
#include "lib/family/lies.h"
#include "lib/family/twolevel.h"
#include "lib/scheme/permanent.h"
#include "lib/scheme/report.h"

static hsy_status grr_resolve(hsy_scheme *s, const hsy_spec *spec,
                              hsy_error *err)
{
    (void)spec;
    (void)err;
    hsy_twolevel_resolve(s, s->d, 1);
    s->report_bits = report_bits_of(s->d);
    s->report_bytes = report_bytes_of(s->report_bits);
    s->cells = s->d;
    return HSY_OK;
}

static hsy_status grr_own(const hsy_scheme *s, struct twolevel_block *block,
                          const uint64_t *codes, size_t n, hsy_coins *coins)
{
    (void)s;
    (void)coins;
    for (size_t i = 0; i < n; i++)
        block->own[i] = (uint32_t)codes[i];
    return HSY_OK;
}

static hsy_status grr_randomize(const hsy_scheme *s, uint8_t *reports,
                                const uint64_t *codes, size_t n,
                                hsy_coins *coins)
{
    return hsy_twolevel_randomize(s, reports, codes, n, coins, grr_own, 0);
}

static void grr_support(const hsy_scheme *s, struct mech_support *out)
{
    hsy_support_of(out, twolevel_own(s), twolevel_other(s), s->total);
}

/* Every value gets q of all, and p - q of its own besides: the channel is its
 * own transpose. */
static void grr_forward(const hsy_scheme *s, double *out, const double *in,
                        double *scratch)
{
    struct mech_support law;
    double sum = 0;

    (void)scratch;
    grr_support(s, &law);
    for (size_t i = 0; i < s->d; i++)
        sum += in[i];
    for (size_t i = 0; i < s->d; i++)
        out[i] = law.q * sum + law.gap * in[i];
}

static size_t grr_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                      const uint8_t *report)
{
    bool own = report_get(report, s->report_bytes) == code;

    factors[0].num = own ? twolevel_own(s) : twolevel_other(s);
    factors[0].den = s->total;
    return 1;
}

/*
 * A report supports one value, so supports of v and w never meet: n Cov is
 * minus the mean over people of P[v | x] P[w | x], over gap^2.
 */
static void grr_covariance(const hsy_scheme *s, double *out, const hsy_tally *t,
                           void *scratch)
{
    double n = (double)t->strata[0], share[HSY_MATRIX_MAX];
    struct mech_support law;

    (void)scratch;
    s->mech->estimate->support(s, &law);
    for (size_t v = 0; v < s->d; v++)
        share[v] = ((double)t->cells[v] / n - law.q) / law.gap;
    for (size_t v = 0; v < s->d; v++)
        for (size_t w = 0; w < s->d; w++) {
            double either = share[v] + share[w];

            out[v * s->d + w] = v == w
                                    ? share[v] * mech_support_v1(&law) +
                                          (1 - share[v]) * mech_support_v0(&law)
                                    : -(either * law.p + (1 - either) * law.q) *
                                          law.q / (law.gap * law.gap);
        }
}

static struct permanent_part grr_part(const hsy_scheme *s)
{
    return (struct permanent_part){.count = s->d};
}

static const struct mech_permanent grr_kept = {
    PERMANENT_OUTPUT, grr_part, NULL, NULL, NULL, NULL};

static const struct mech_channel grr_likelihood = {
    .forward = grr_forward,
    .backward = grr_forward,
};

const struct mech_client hsy_mech_grr_client = {
    .resolve = grr_resolve,
    .randomize = grr_randomize,
    .permanent = &grr_kept,
};

const struct mech_counting hsy_mech_grr_counting = {
    .check = hsy_outputs_check,
    .tally = hsy_outputs_tally,
};

const struct mech_estimate hsy_mech_grr_estimate = {
    .cell_law = HSY_CELLS_DIRECT,
    .points = hsy_evidence_cells,
    .covariance = grr_covariance,
    .support = grr_support,
    .lies = &hsy_lies_output,
    .channel = &grr_likelihood,
};

const struct mech_law hsy_mech_grr_law = {
    .favours = MECH_FAVOURS_VALUE,
    .factors = 1,
    .of_code = grr_law,
    .worst = hsy_twolevel_law_worst,
};
