/* test_tally.c - tallies add up, in any order, or not at all. */
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#include <string.h>

enum { N = 500 };

static hsy_tally open_tally(const hsy_scheme *s)
{
    hsy_tally t;

    hsy_tally_init(&t, s, trial_memory(8 * hsy_tally_words(s)));
    return t;
}

static uint8_t *some_reports(const hsy_scheme *s)
{
    uint8_t *reports = trial_memory(N * s->report_bytes);
    const size_t width = hsy_codes_per_truth(s);
    uint64_t *codes = trial_memory(N * width * sizeof *codes);
    uint64_t count = trial_count(s);
    hsy_stream a, b;
    hsy_coins coins = {hsy_stream_rng(&a), hsy_stream_rng(&b)};

    hsy_stream_seed(&a, 3, 0);
    hsy_stream_seed(&b, 3, 1);
    for (size_t i = 0; i < N; i++)
        trial_codes(s, codes + i * width, i * i % count);
    hsy_randomize_batch(s, reports, codes, N, &coins, NULL);
    free(codes);
    return reports;
}

static bool same(const hsy_tally *a, const hsy_tally *b)
{
    return memcmp(a->cells, b->cells,
                  8 * (a->ncells + a->nstrata + a->nweights)) == 0;
}

/* One by one, in one go, and in three parts merged backwards. */
static void splits(const hsy_catalogue *row)
{
    hsy_spec spec = trial_small(row, trial_takes(row, 70) ? 70 : 2, 1);
    hsy_scheme *s = trial_scheme(&spec);
    uint8_t *reports = some_reports(s);
    hsy_tally whole = open_tally(s), single = open_tally(s),
              merged = open_tally(s);
    const size_t cuts[4] = {0, 1, 333, N};
    bool good = true;

    ok(eq_status(hsy_tally_batch(&whole, s, reports, N, NULL), HSY_OK) &&
           eq_u64(hsy_tally_reports(&whole), N),
       "%s: %d reports are counted", row->name, N);
    for (size_t i = 0; i < N; i++)
        good &= hsy_tally_add(&single, s, reports + i * s->report_bytes,
                              NULL) == HSY_OK;
    ok(good && same(&whole, &single), "%s: one by one is the same", row->name);
    for (size_t k = 3; k > 0; k--) {
        hsy_tally part = open_tally(s);

        hsy_tally_batch(&part, s, reports + cuts[k - 1] * s->report_bytes,
                        cuts[k] - cuts[k - 1], NULL);
        good &= hsy_tally_merge(&merged, &part, NULL) == HSY_OK;
        free(part.cells);
    }
    ok(good && same(&whole, &merged),
       "%s: parts merged in another order are the same", row->name);
    is_status(hsy_tally_batch(&whole, s, reports, 0, NULL), HSY_OK,
              "%s: no reports are nothing", row->name);
    free(whole.cells);
    free(single.cells);
    free(merged.cells);
    free(reports);
    free(s);
}

/* ---- Counts near 2^63 ---------------------------------------------------- */

static void refuses_merge(hsy_tally *into, const hsy_tally *from,
                          hsy_status status, const char *why)
{
    size_t words = into->ncells + into->nstrata + into->nweights;
    int64_t *before = trial_memory(8 * words);
    hsy_error err = {0};

    memcpy(before, into->cells, 8 * words);
    ok(eq_u64(hsy_tally_merge(into, from, &err), status) &&
           eq_u64(err.status, status) &&
           eq_bytes(before, into->cells, 8 * words),
       "%s: nothing is added", why);
    free(before);
}

static void overflow(void)
{
    hsy_spec spec = trial_values("oue", 3, 1);
    hsy_scheme *s = trial_scheme(&spec);
    hsy_tally a = open_tally(s), b = open_tally(s);
    const uint8_t report = 1;
    hsy_error err;

    a.strata[0] = INT64_MAX;
    ok(eq_status(hsy_tally_add(&a, s, &report, &err), HSY_E_OVERFLOW) &&
           a.cells[0] == 0 && a.strata[0] == INT64_MAX,
       "report 2^63 is refused");
    a.strata[0] = UINT64_MAX;
    is_status(hsy_tally_add(&a, s, &report, &err), HSY_E_OVERFLOW,
              "so is any to a count that was too large before");
    a.strata[0] = INT64_MAX;
    b.strata[0] = 1;
    refuses_merge(&a, &b, HSY_E_OVERFLOW, "2^63 reports together");
    b.strata[0] = (uint64_t)INT64_MAX + 1;
    a.strata[0] = 0;
    refuses_merge(&a, &b, HSY_E_OVERFLOW, "2^63 reports at once");
    refuses_merge(&b, &a, HSY_E_OVERFLOW, "into 2^63 reports");
    a.strata[0] = INT64_MAX - 1;
    b.strata[0] = 1;
    a.cells[2] = INT64_MAX;
    b.cells[2] = 1;
    refuses_merge(&a, &b, HSY_E_OVERFLOW, "a cell of 2^63");
    a.cells[2] = INT64_MIN;
    b.cells[2] = -1;
    refuses_merge(&a, &b, HSY_E_OVERFLOW, "a cell below -2^63");
    a.cells[2] = 0;
    b.cells[2] = 2;
    refuses_merge(&a, &b, HSY_E_FORMAT, "a cell above the reports");
    b.cells[2] = -2;
    refuses_merge(&a, &b, HSY_E_FORMAT, "a cell below minus the reports");
    b.cells[2] = 0;
    a.weights[1] = (uint64_t)INT64_MAX;
    b.weights[1] = 1;
    refuses_merge(&a, &b, HSY_E_OVERFLOW, "2^63 reports of one weight");
    b.weights[1] = 0;
    b.weights[2] = 1;
    refuses_merge(&a, &b, HSY_E_OVERFLOW, "weights of 2^63 reports");
    a.weights[1] = 0;
    ok(eq_status(hsy_tally_merge(&a, &b, NULL), HSY_OK) &&
           eq_u64(a.strata[0], INT64_MAX) && eq_u64(a.weights[2], 1),
       "up to 2^63 - 1 all is added");
    free(a.cells);
    free(b.cells);
    free(s);
}

static void mismatch(void)
{
    hsy_spec one = trial_values("oue", 3, 1), two = trial_values("grr", 4, 1);
    hsy_scheme *s = trial_scheme(&one), *t = trial_scheme(&two);
    hsy_tally a = open_tally(s), b = open_tally(t);
    const uint8_t report = 1;
    hsy_evidence points[4];

    refuses_merge(&a, &b, HSY_E_MISMATCH, "tallies of different shape");
    ok(eq_status(hsy_tally_add(&a, t, &report, NULL), HSY_E_MISMATCH) &&
           eq_status(hsy_tally_add(&b, s, &report, NULL), HSY_E_MISMATCH),
       "a report is not counted by another scheme's tally");
    hsy_tally_add(&a, s, &report, NULL);
    is_status(hsy_evidence_of(t, points, &a, NULL, 4, NULL, NULL),
              HSY_E_MISMATCH, "nor estimated from it");
    free(a.cells);
    free(b.cells);
    free(s);
    free(t);
}

int main(void)
{
    const hsy_catalogue *row;

    for (size_t m = 0; (row = hsy_mechanism_at(m)) != NULL; m++)
        splits(row);
    overflow();
    mismatch();
    return tap_done();
}
