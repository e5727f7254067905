/* test_cdf.c - the monotone CDF of bins, from counts that make it fall. */
#include "lib/infer/ranges.h"
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
    return fmin(fmax((most + least) / 2, 0), 1);
}

int main(void)
{
    /* Few reports: some shares come out below 0, so that sums of them fall. */
    static const int64_t counts[BINS] = {40, 2, 30, 1, 25, 2};
    hsy_spec spec = trial_bins("grr", BINS, 1);
    hsy_scheme *s = trial_scheme(&spec);
    void *scratch = trial_memory(hsy_ranges_scratch(s));
    int64_t memory[BINS + 1];
    double cdf[BINS + 1] = {0}, out[BINS + 1];
    bool falls = false, agrees = true, ascends = true;
    hsy_evidence points[BINS];
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
    hsy_ranges_cdf(&r, out);
    for (size_t i = 1; i < BINS; i++)
        agrees &= fabs(out[i] - monotone(cdf, i)) < 1e-12;
    for (size_t i = 0; i < BINS; i++)
        ascends &= out[i] <= out[i + 1];
    ok(agrees, "it is the mean of running maximum and running minimum");
    ok(ascends && out[0] == 0 && out[BINS] == 1, "and ascends from 0 to 1");
    free(scratch);
    free(s);
    return tap_done();
}
