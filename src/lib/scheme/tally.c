/* tally.c - views on counters, counting reports, adding tallies. */
#include "lib/core/fail.h"
#include "lib/scheme/report.h"
#include "lib/scheme/scheme.h"

size_t hsy_tally_words(const hsy_scheme *s)
{
    return s->cells + s->strata + s->weights;
}

void hsy_tally_init(hsy_tally *t, const hsy_scheme *s, int64_t *memory)
{
    size_t words = hsy_tally_words(s);

    for (size_t i = 0; i < words; i++)
        memory[i] = 0;
    hsy_tally_view(t, s, memory);
}

void hsy_tally_view(hsy_tally *t, const hsy_scheme *s, int64_t *memory)
{
    t->cells = memory;
    /* Signed and unsigned words of one width may share memory. */
    t->strata = (uint64_t *)memory + s->cells;
    t->weights = s->weights == 0 ? NULL : t->strata + s->strata;
    t->ncells = s->cells;
    t->nstrata = s->strata;
    t->nweights = s->weights;
    t->central = mech_central(s->mech);
    t->answers = s->answers;
    t->kept = 0;
}

uint64_t hsy_tally_reports(const hsy_tally *t)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < t->nstrata; i++)
        sum += t->strata[i];
    return t->answers > 1 ? sum / t->answers : sum;
}

static bool tally_fits(const hsy_tally *t, const hsy_scheme *s)
{
    return t->ncells == s->cells && t->nstrata == s->strata &&
           t->nweights == s->weights;
}

/* Whether n reports may be counted. */
static hsy_status tally_admit(const hsy_tally *t, const hsy_scheme *s,
                              const uint8_t *reports, size_t n, hsy_error *err)
{
    const uint64_t most = INT64_MAX / s->answers;
    uint64_t before = hsy_tally_reports(t);
    size_t good;

    if (!tally_fits(t, s))
        return hsy_fail(err, HSY_E_MISMATCH, HSY_FIELD_TALLY,
                        "the tally belongs to another scheme");
    good = s->mech->counting->check(s, reports, n);
    if (good < n)
        return hsy_fail_at(err, HSY_E_FORMAT, HSY_FIELD_REPORT,
                           "not a report of this scheme", HSY_UNIT_REPORT,
                           good + 1);
    /* No cell and no histogram entry passes the number of reports. */
    if (before > most || n > most - before)
        return hsy_fail_limit(err, HSY_E_OVERFLOW, HSY_FIELD_REPORTS,
                              "the counts would pass 2^63 - 1", most);
    return HSY_OK;
}

hsy_status hsy_tally_batch(hsy_tally *t, const hsy_scheme *s,
                           const uint8_t *reports, size_t n, hsy_error *err)
{
    hsy_status st = tally_admit(t, s, reports, n, err);

    if (st == HSY_OK)
        s->mech->counting->tally(s, t, reports, n);
    return st;
}

size_t hsy_tally_scratch(const hsy_scheme *s, size_t n)
{
    return s->mech->counting->tally_scratch == NULL
               ? 0
               : s->mech->counting->tally_scratch(s, n);
}

hsy_status hsy_tally_bulk(hsy_tally *t, const hsy_scheme *s,
                          const uint8_t *reports, size_t n, void *scratch,
                          hsy_error *err)
{
    hsy_status st = tally_admit(t, s, reports, n, err);

    if (st == HSY_OK && s->mech->counting->tally_bulk != NULL)
        s->mech->counting->tally_bulk(s, t, reports, n, scratch);
    else if (st == HSY_OK)
        s->mech->counting->tally(s, t, reports, n);
    return st;
}

hsy_status hsy_tally_add(hsy_tally *t, const hsy_scheme *s,
                         const uint8_t *report, hsy_error *err)
{
    return hsy_tally_batch(t, s, report, 1, err);
}

/* Whether every sum of counters stays within 0 .. 2^63 - 1. */
static bool tally_counts_add(const uint64_t *a, const uint64_t *b, size_t n)
{
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t sum = a[i] + b[i];

        if (a[i] > INT64_MAX || b[i] > INT64_MAX || sum > INT64_MAX - all)
            return false;
        all += sum;
    }
    return true;
}

static bool tally_cells_add(const int64_t *a, const int64_t *b, size_t n)
{
    int64_t sum;

    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(a[i], b[i], &sum))
            return false;
    return true;
}

/* What hsy_tally_batch takes for granted of every tally it adds to. */
static bool tally_cells_within(const hsy_tally *t)
{
    int64_t most = (int64_t)hsy_tally_reports(t);

    for (size_t i = 0; i < t->ncells && !t->central; i++)
        if (t->cells[i] > most || t->cells[i] < -most)
            return false;
    return true;
}

hsy_status hsy_tally_merge(hsy_tally *into, const hsy_tally *from,
                           hsy_error *err)
{
    if (into->ncells != from->ncells || into->nstrata != from->nstrata ||
        into->nweights != from->nweights)
        return hsy_fail(err, HSY_E_MISMATCH, HSY_FIELD_TALLY,
                        "the tallies belong to different schemes");
    if (!tally_counts_add(into->strata, from->strata, into->nstrata) ||
        !tally_counts_add(into->weights, from->weights, into->nweights) ||
        !tally_cells_add(into->cells, from->cells, into->ncells))
        return hsy_fail(err, HSY_E_OVERFLOW, HSY_FIELD_TALLY,
                        "a count would pass 2^63 - 1");
    if (!tally_cells_within(from))
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_CELLS,
                        "a cell passes the number of reports");
    for (size_t i = 0; i < into->ncells; i++)
        into->cells[i] += from->cells[i];
    for (size_t i = 0; i < into->nstrata; i++)
        into->strata[i] += from->strata[i];
    for (size_t i = 0; i < into->nweights; i++)
        into->weights[i] += from->weights[i];
    return HSY_OK;
}

size_t hsy_spare_check(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    const size_t bytes = s->report_bytes;
    size_t i = 0;

    if (s->report_bits == 64)
        return n;
    while (i < n &&
           report_get(reports + i * bytes, bytes) >> s->report_bits == 0)
        i++;
    return i;
}

size_t hsy_outputs_check(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    const size_t bytes = s->report_bytes;
    size_t i = 0;

    if (bytes < 8 && s->cells >> 8 * bytes != 0)
        return n; /* there is no other number of so many bytes */
    while (i < n && report_get(reports + i * bytes, bytes) < s->cells)
        i++;
    return i;
}

void hsy_outputs_tally(const hsy_scheme *s, hsy_tally *t,
                       const uint8_t *reports, size_t n)
{
    const size_t bytes = s->report_bytes;

    for (size_t i = 0; i < n; i++)
        t->cells[report_get(reports + i * bytes, bytes)]++;
    t->strata[0] += n;
}
