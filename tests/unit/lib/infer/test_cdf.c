/* test_cdf.c - quantiles of bins from counts that make their CDF fall. */
#include "rig/trial.h"

#define BINS 6u

/* The mean of the running maximum and the running minimum, by definition. */
static double monotone(const double *cdf, size_t i)
{
    double most = 0, least = 1;

    for (size_t k = 0; k <= i; k++)
        most = fmax(most, cdf[k]);
    for (size_t k = i; k <= BINS; k++)
        least = fmin(least, cdf[k]);
    return (most + least) / 2;
}

/* Where that first reaches q, straight between the edges. */
static double place(const double *cdf, double q)
{
    size_t i = 1;

    while (monotone(cdf, i) < q)
        i++;
    return (double)i -
           (monotone(cdf, i) - q) / (monotone(cdf, i) - monotone(cdf, i - 1));
}

int main(void)
{
    /* Few reports: some shares come out below 0, so that sums of them fall. */
    static const int64_t counts[BINS] = {40, 2, 30, 1, 25, 2};
    const hsy_confidence how = {0.9, HSY_PEOPLE, HSY_INTERVAL_AUTO, 1};
    hsy_spec spec = trial_bins("grr", BINS, 1);
    hsy_scheme *s = trial_scheme(&spec);
    void *scratch = trial_memory(hsy_ranges_scratch(s));
    int64_t memory[BINS + 1];
    double cdf[BINS + 1] = {0}, before = 0;
    bool falls = false, agrees = true, ascends = true;
    hsy_evidence points[BINS];
    hsy_estimate est;
    hsy_ranges r;
    hsy_tally t;

    hsy_tally_init(&t, s, memory);
    t.strata[0] = 100;
    for (size_t i = 0; i < BINS; i++)
        t.cells[i] = counts[i];
    ok(eq_status(hsy_evidence_of(s, points, &t, NULL, BINS, NULL, NULL),
                 HSY_OK) &&
           eq_status(hsy_ranges_open(&r, s, &t, scratch, NULL), HSY_OK),
       "a tally of bins has ranges");
    for (size_t i = 0; i < BINS; i++) {
        cdf[i + 1] = cdf[i] + points[i].value;
        falls |= points[i].value < 0;
    }
    ok(falls, "control: the unbiased CDF falls somewhere");
    for (int i = 1; i < 100; i++) {
        agrees &= hsy_quantile(&r, &est, i / 100.0, &how, NULL) == HSY_OK &&
                  fabs(est.value - place(cdf, i / 100.0)) < 1e-9;
        ascends &= est.value >= before;
        before = est.value;
    }
    ok(agrees, "quantiles lie where the mean of running maximum and running "
               "minimum says");
    ok(ascends, "and ascend");
    free(scratch);
    free(s);
    return tap_done();
}
