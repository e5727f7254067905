/*
 * test_discovery.c - pem, and sfp, by their numbers: shares and intervals of
 * whole strings, and how many of the most frequent strings a search finds.
 *
 * The figures of F1 are those of theory 5.1 at their full size with
 * HSY_TEST_LONG; else smaller people.
 */
#include "rig/stat.h"
#include "sim/discovery/discovery.h"

#include <math.h>

/* ---- Shares -------------------------------------------------------------- */

#define SHARES_PEOPLE 3000u
#define SHARES_RUNS 400u
#define SHARES_ASKED 4u

/* A share of 0.4, 0.1, 0.02 and 0; the rest evenly over other strings. */
static const double shares_truth[SHARES_ASKED] = {0.4, 0.1, 0.02, 0};

static void shares_people(uint64_t *codes)
{
    size_t at = 0;

    for (size_t v = 0; v < SHARES_ASKED; v++)
        for (size_t k = 0; (double)k < shares_truth[v] * SHARES_PEOPLE - 0.5;
             k++)
            codes[at++] = v;
    for (; at < SHARES_PEOPLE; at++)
        codes[at] = 100 + at % 500;
}

static hsy_spec shares_spec(bool puzzle, double epsilon, unsigned run)
{
    hsy_spec spec = trial_values(puzzle ? "sfp" : "pem", 0, epsilon);

    spec.kind = HSY_KIND_STRINGS;
    spec.param[HSY_PARAM_BITS] = puzzle ? 16 : 12;
    spec.param[puzzle ? HSY_PARAM_FRAGMENT_BITS : HSY_PARAM_STEP] =
        puzzle ? 8 : 5;
    spec.param[HSY_PARAM_POOL_BITS] = puzzle ? 0 : 10;
    spec.param[HSY_PARAM_HASHES] = puzzle ? 8 : 0;
    spec.param[HSY_PARAM_WIDTH] = puzzle ? 64 : 0;
    spec.param[HSY_PARAM_POOL_SEED] = run;
    return spec;
}

/* A mean, or a share of runs, is off by 4.5 standard errors with chance below
 * 7e-6. */
static void shares(bool puzzle, double epsilon, uint64_t lane)
{
    static const uint64_t asked[SHARES_ASKED] = {0, 1, 2, 3};
    static uint64_t codes[SHARES_PEOPLE];
    const hsy_confidence how = {.level = 0.95, .comparisons = 1};
    double sum[SHARES_ASKED] = {0}, squares[SHARES_ASKED] = {0};
    double inside[SHARES_ASKED] = {0};
    uint8_t *reports = stat_alloc((size_t)SHARES_PEOPLE * 32);
    bool good = true;

    shares_people(codes);
    for (unsigned run = 0; run < SHARES_RUNS && good; run++) {
        const hsy_spec spec = shares_spec(puzzle, epsilon, run);
        struct stat_coins c;
        hsy_evidence points[SHARES_ASKED];
        hsy_scheme *s;
        hsy_tally t;
        void *scratch;

        s = trial_scheme(&spec);
        hsy_tally_init(&t, s, stat_alloc(8 * hsy_tally_words(s)));
        scratch = stat_alloc(hsy_evidence_scratch(s, SHARES_ASKED));
        stat_coins_open(&c, lane << 20 | run);
        good = hsy_simulate_batch(s, reports, codes, SHARES_PEOPLE, &c.secret,
                                  &c.published, NULL) == HSY_OK &&
               hsy_tally_batch(&t, s, reports, SHARES_PEOPLE, NULL) == HSY_OK &&
               hsy_evidence_of(s, points, &t, asked, SHARES_ASKED, scratch,
                               NULL) == HSY_OK;
        for (size_t v = 0; v < SHARES_ASKED && good; v++) {
            hsy_estimate est;

            good = hsy_estimate_point(&est, &points[v], &how, NULL) == HSY_OK;
            sum[v] += est.value;
            squares[v] += est.value * est.value;
            inside[v] +=
                est.low <= shares_truth[v] && shares_truth[v] <= est.high;
        }
        free(t.cells);
        free(scratch);
        free(s);
    }
    ok(good, "epsilon %g: %u collections", epsilon, SHARES_RUNS);
    for (size_t v = 0; v < SHARES_ASKED && good; v++) {
        const double n = SHARES_RUNS, mean = sum[v] / n;
        const double sd = sqrt((squares[v] / n - mean * mean) / n);

        ok(fabs(mean - shares_truth[v]) < 4.5 * sd,
           "share %g: %.5f on average, %.2f standard errors off",
           shares_truth[v], mean, (mean - shares_truth[v]) / sd);
        ok(inside[v] / n > 0.95 - 4.5 * sqrt(0.05 * 0.95 / n),
           "and %.1f %% of intervals hold it", 100 * inside[v] / n);
    }
    free(reports);
}

/* ---- Searches ------------------------------------------------------------ */

static struct discovery search_how(uint64_t bits, uint64_t step, uint64_t top,
                                   double epsilon)
{
    struct discovery how = {.spec = trial_values("pem", 0, epsilon),
                            .search = {.size = sizeof how.search, .top = top},
                            .users = 1000000,
                            .runs = 20,
                            .seed = 1,
                            .threads = 2};

    how.spec.kind = HSY_KIND_STRINGS;
    how.spec.param[HSY_PARAM_BITS] = bits;
    how.spec.param[HSY_PARAM_STEP] = step;
    how.spec.param[HSY_PARAM_FIRST] = (uint64_t)ceil(log2((double)top));
    return how;
}

static bool search_people(struct study_people *people, uint32_t d, double s)
{
    const struct study_data data = {.law = STUDY_ZIPF, .a = s};
    const hsy_spec question = trial_values("olh", d, 1);

    return study_people_open(people, &data, &question, NULL) == HSY_OK;
}

/* The means alone. */
static bool search_run(struct discovery_result *out,
                       const struct discovery *how)
{
    const bool good = discovery_run(out, how, NULL) == HSY_OK;

    discovery_close(out);
    return good;
}

static void search_finds(const struct discovery *how, double least)
{
    struct discovery_result out;

    if (ok(search_run(&out, how), "a search"))
        ok(out.mean[DISCOVERY_F1] >= least,
           "top %u at epsilon %g: F1 %.3f, at least %.2f",
           (unsigned)how->search.top, (double)how->spec.nano_epsilon / 1e9,
           out.mean[DISCOVERY_F1], least);
}

/* 2^24 strings, 10^4 of them held, 10^5 people, five runs. */
static void search_small(void)
{
    struct discovery how = search_how(24, 6, 8, 2);
    struct discovery_result one, two;
    struct study_people people = {0};

    ok(search_people(&people, 10000, 1.5), "people");
    how.people = &people;
    how.users = 100000;
    how.runs = 5;
    how.spec.param[HSY_PARAM_POOL_BITS] = 12;
    search_finds(&how, 0.5);
    how.search.significant = true;
    if (!ok(search_run(&one, &how), "only significant ones"))
        return;
    ok(one.mean[DISCOVERY_PRECISION] > 0.95,
       "are there: precision %.3f, recall %.3f", one.mean[DISCOVERY_PRECISION],
       one.mean[DISCOVERY_RECALL]);
    how.threads = 1;
    ok(search_run(&two, &how) &&
           memcmp(one.mean, two.mean, sizeof one.mean) == 0,
       "one thread finds what two find");
    how.spec.param[HSY_PARAM_BITS] = 12;
    ok(discovery_run(&two, &how, NULL) == HSY_E_RANGE,
       "more values than strings are refused");
    study_people_close(&people);
}

/* Issue's sizes: n = 10^6, 48 bits by 8, Zipf 1.5 over 10^6, 20 runs. */
static void search_full(void)
{
    static const struct {
        uint64_t top;
        double epsilon, least;
    } rows[] = {{16, 1, 0.41},
                {16, 2, 0.72},
                {16, 4, 0.94},
                {32, 2, 0.36},
                {32, 4, 0.78}};
    struct study_people people = {0};

    ok(search_people(&people, 1000000, 1.5), "people");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct discovery how = search_how(48, 8, rows[i].top, rows[i].epsilon);

        how.people = &people;
        search_finds(&how, rows[i].least);
    }
    study_people_close(&people);
}

int main(void)
{
    shares(false, 1, 9000);
    shares(false, 4, 9001);
    shares(true, 4, 9002);
    search_small();
    if (stat_long())
        search_full();
    return tap_done();
}
