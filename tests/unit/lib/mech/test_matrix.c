/* test_matrix.c - a channel of one's own: what is taken, refused, estimated. */
#include "lib/bits/bytes.h"
#include "rig/trial.h"
#include "tap.h"

#define D 3

static uint8_t block[8 + 8 * 65 * 65 + 64];

/* A spec with these entries, row by row. */
static hsy_spec matrix(uint32_t d, uint64_t total, const uint64_t *entries)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "matrix",
                     .kind = HSY_KIND_VALUES,
                     .d = d,
                     .design = HSY_DESIGN_MATRIX,
                     .labels = block,
                     .labels_len = 8 + 8 * (size_t)d * d};

    bytes_put64(block, total);
    for (size_t i = 0; i < (size_t)d * d; i++)
        bytes_put64(block + 8 + 8 * i, entries[i]);
    return spec;
}

static const uint64_t skew[D * D] = {60, 20, 10, 30, 60, 30, 10, 20, 60};

static void refuses(const hsy_spec *spec, const char *field, const char *what)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(spec));
    hsy_error err = {0};
    hsy_status st = hsy_scheme_init(s, spec, &err);

    ok(st == HSY_E_RANGE && err.field != HSY_FIELD_NONE &&
           strcmp(hsy_field_name(err.field), field) == 0,
       "%s is refused by %s", what, field);
    free(s);
}

static void refusals(void)
{
    static const uint64_t zero[4] = {10, 5, 0, 5}, more[4] = {6, 6, 4, 5},
                          less[4] = {6, 5, 4, 4}, even[4] = {5, 5, 5, 5},
                          close[4] = {500000001, 500000000, 499999999,
                                      500000000};
    static uint64_t large[65 * 65];
    hsy_spec spec = matrix(2, 10, zero);

    refuses(&spec, "matrix", "a probability of 0");
    spec = matrix(2, 10, more);
    refuses(&spec, "matrix", "a column above 1");
    spec = matrix(2, 10, less);
    refuses(&spec, "matrix", "a column below 1");
    spec = matrix(2, 10, even);
    refuses(&spec, "matrix", "a singular matrix");
    spec = matrix(2, 1000000000, close);
    refuses(&spec, "matrix", "an ill-conditioned matrix");
    spec = matrix(2, 0, even);
    refuses(&spec, "matrix", "a denominator of 0");
    spec = matrix(2, HSY_MATRIX_TOTAL + 1, even);
    refuses(&spec, "matrix", "a denominator above 2^40");
    spec = matrix(65, 65, large);
    refuses(&spec, "values", "a matrix of 65 states");
    spec = matrix(D, 100, skew);
    spec.labels_len--;
    refuses(&spec, "matrix", "a matrix cut short");
    spec = matrix(D, 100, skew);
    spec.nano_epsilon = HSY_NANO;
    refuses(&spec, "epsilon", "a cap below what it spends");
    spec = matrix(D, 100, skew);
    spec.design = 0;
    spec.labels = NULL;
    spec.labels_len = 0;
    spec.nano_epsilon = HSY_NANO;
    refuses(&spec, "design", "no matrix at all");
    spec = matrix(D, 100, skew);
    spec.chance[0] = (hsy_ratio){1, 2};
    refuses(&spec, "chance", "a matrix and a chance");
}

/* Rows 6:1, 2:1 and 6:1, so epsilon is ln 6. */
static void description(void)
{
    hsy_spec spec = matrix(D, 100, skew), again;
    hsy_scheme *s = trial_scheme(&spec), *t;
    uint8_t wire[HSY_SCHEME_WIRE];
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    ok(fabs(info.epsilon_exact - log(6)) < 1e-14 &&
           info.epsilon >= info.epsilon_exact &&
           info.epsilon - info.epsilon_exact < 1.0001e-9,
       "epsilon is ln 6, rounded up to a nano-epsilon");
    ok(info.labels_at == 8 + 8 * D * D && info.labels_len == info.labels_at,
       "the matrix stands before the labels, of which there are none");
    hsy_scheme_encode(s, wire);
    ok(hsy_spec_decode(&again, wire, block, info.labels_len, NULL) == HSY_OK,
       "a file has all of it");
    t = trial_memory(hsy_scheme_size(&again));
    ok(hsy_scheme_decode(t, wire, block, info.labels_len, NULL) == HSY_OK &&
           hsy_scheme_difference(s, t) == NULL,
       "and gives the same scheme");
    bytes_put64(block + 8, 61);
    ok(hsy_scheme_decode(t, wire, block, info.labels_len, NULL) != HSY_OK,
       "but not with another matrix");
    spec = matrix(D, 100, skew);
    spec.mechanism = NULL;
    ok(hsy_scheme_size(&spec) == hsy_scheme_size(&again) &&
           hsy_scheme_init(t, &spec, NULL) == HSY_OK &&
           hsy_scheme_difference(s, t) == NULL,
       "auto takes a matrix for what it is");
    free(t);
    free(s);
}

/* With rates that shares 1/2, 3/10, 1/5 give exactly, those come out; the
 * variances are those of the formula by hand. */
static void estimates(void)
{
    hsy_spec spec = matrix(D, 100, skew);
    hsy_scheme *s = trial_scheme(&spec);
    double scratch[2 * D * D], cov[D * D], drawn[D * D];
    int64_t memory[D + 1];
    const double f[D] = {0.5, 0.3, 0.2};
    hsy_evidence points[D];
    hsy_tally t;
    bool good = true, sums = true, rows = true, more = true;

    hsy_tally_init(&t, s, memory);
    t.strata[0] = 1000;
    t.cells[0] = 380; /* 60*.5 + 20*.3 + 10*.2 */
    t.cells[1] = 390;
    t.cells[2] = 230;
    ok(hsy_evidence_scratch(s, D) <= sizeof scratch &&
           hsy_evidence_of(s, points, &t, NULL, D, scratch, NULL) == HSY_OK &&
           hsy_covariance(s, cov, &t, HSY_PEOPLE, scratch, NULL) == HSY_OK &&
           hsy_covariance(s, drawn, &t, HSY_POPULATION, scratch, NULL) ==
               HSY_OK,
       "a tally is estimated");
    for (size_t v = 0; v < D; v++) {
        double var = (1 - f[v]) * points[v].v0 + f[v] * points[v].v1, sum = 0;

        good &= fabs(points[v].value - f[v]) < 1e-12;
        rows &= fabs(var / 1000 - cov[v * D + v]) < 1e-12;
        for (size_t w = 0; w < D; w++) {
            sum += cov[v * D + w];
            more &= fabs(drawn[v * D + w] - cov[v * D + w] -
                         f[v] * ((v == w) - f[w]) / 1000) < 1e-15;
        }
        sums &= fabs(sum) < 1e-15;
    }
    ok(good, "to the shares that make such answers");
    ok(rows, "the points' variances are the covariances' diagonal");
    ok(sums, "shares sum up to 1, so covariances to 0");
    ok(more, "a sample of people adds its own covariance");
    free(s);
}

/* Covariances against the mean of squares over many collections. */
static void measured(const char *mechanism)
{
    enum { RUNS = 4000, PEOPLE = 300 };
    hsy_spec spec = strcmp(mechanism, "matrix") == 0
                        ? matrix(D, 100, skew)
                        : trial_values(mechanism, D, 1);
    hsy_scheme *s = trial_scheme(&spec);
    double scratch[2 * D * D], stated[D * D], seen[D * D] = {0};
    static uint64_t codes[PEOPLE];
    static uint8_t reports[PEOPLE];
    hsy_stream secret, published;
    double worst = 0;

    hsy_stream_seed(&secret, 11, 0);
    hsy_stream_seed(&published, 11, 1);
    for (size_t i = 0; i < PEOPLE; i++)
        codes[i] = i < 150 ? 0 : i < 240 ? 1 : 2;
    for (int run = 0; run < RUNS; run++) {
        const double f[D] = {0.5, 0.3, 0.2};
        int64_t memory[D + 1];
        hsy_evidence p[D];
        hsy_tally t;

        hsy_tally_init(&t, s, memory);
        hsy_simulate_batch(s, reports, codes, PEOPLE, &secret, &published,
                           NULL);
        hsy_tally_batch(&t, s, reports, PEOPLE, NULL);
        hsy_evidence_of(s, p, &t, NULL, D, scratch, NULL);
        for (size_t i = 0; i < D * D; i++)
            seen[i] += (p[i / D].value - f[i / D]) *
                       (p[i % D].value - f[i % D]) / RUNS;
        if (run == 0) {
            /* Of many more people alike: what this one is near. */
            for (size_t y = 0; y < D; y++)
                t.cells[y] = 0;
            t.strata[0] = 0;
            for (int k = 0; k < 2000; k++) {
                hsy_simulate_batch(s, reports, codes, PEOPLE, &secret,
                                   &published, NULL);
                hsy_tally_batch(&t, s, reports, PEOPLE, NULL);
            }
            hsy_covariance(s, stated, &t, HSY_PEOPLE, scratch, NULL);
            for (size_t i = 0; i < D * D; i++)
                stated[i] *= 2000;
        }
    }
    /* A product of two normals has a standard deviation of at most sqrt(2)
     * times theirs; six standard errors of the mean over all runs. */
    for (size_t i = 0; i < D * D; i++) {
        double scale = sqrt(stated[i / D * (D + 1)] * stated[i % D * (D + 1)]);

        worst = fmax(worst, fabs(seen[i] - stated[i]) / scale);
    }
    ok(worst < 6 * sqrt(2.0 / RUNS),
       "%s: covariances are those of many collections (%.3f)", mechanism,
       worst);
    free(s);
}

static void no_formula(void)
{
    hsy_spec spec = trial_values("oue", D, 1);
    hsy_scheme *s = trial_scheme(&spec);
    int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
    double cov[D * D];
    hsy_tally t;

    hsy_tally_init(&t, s, memory);
    ok(hsy_covariance(s, cov, &t, HSY_PEOPLE, NULL, NULL) == HSY_E_UNKNOWN,
       "a mechanism without a formula says so");
    free(memory);
    free(s);
}

int main(void)
{
    refusals();
    description();
    estimates();
    measured("matrix");
    measured("grr");
    no_formula();
    return tap_done();
}
