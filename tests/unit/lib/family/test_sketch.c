/* test_sketch.c - count-mean sketches: sizes, vectors, counts, estimates. */
#include "lib/family/sketch.h"
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_spec spec_of(const char *name, uint32_t rows, uint32_t width,
                        double epsilon)
{
    hsy_spec spec = trial_values(name, 100, epsilon);

    spec.param[HSY_PARAM_HASHES] = rows;
    spec.param[HSY_PARAM_WIDTH] = width;
    return spec;
}

/* The refused field, NULL if nothing is refused. */
static const char *refused(const hsy_spec *spec)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(spec));
    hsy_error err = {0};
    hsy_status st = hsy_scheme_init(s, spec, &err);

    free(s);
    return st == HSY_OK        ? NULL
           : st == HSY_E_RANGE ? hsy_field_name(err.field)
                               : "status";
}

static void sizes(void)
{
    static const struct {
        const char *name;
        uint32_t rows, width;
        const char *field; /* that is refused */
    } cases[] = {{"cms", 3, 16, "hashes"},      {"cms", 131072, 16, "hashes"},
                 {"cms", 4, 1, "width"},        {"cms", 65536, 1025, "width"},
                 {"cms", 1, 1u << 21, "width"}, {"cms", 65536, 1024, NULL},
                 {"cms", 1, 3, NULL},           {"cms", 8, 70, NULL},
                 {"hcms", 4, 12, "width"},      {"hcms", 5, 16, "hashes"},
                 {"hcms", 1024, 32768, NULL},   {"hcms", 1024, 131072, "width"},
                 {"hcms", 65536, 1024, NULL}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hsy_spec spec =
            spec_of(cases[i].name, cases[i].rows, cases[i].width, 4);
        const char *field = refused(&spec);

        ok(cases[i].field == NULL
               ? field == NULL
               : field != NULL && strcmp(field, cases[i].field) == 0,
           "%s, %u rows of %u: %s", cases[i].name, cases[i].rows,
           cases[i].width, cases[i].field == NULL ? "taken" : "refused");
    }
}

/* Theory 15.3 and 3.9: the noise at epsilon 4, and the whole variance. */
static void vectors(void)
{
    const double m = 1024, k = 1024, times = (m / (m - 1)) * (m / (m - 1));
    const double part = 1 / (m - 1) * (1 - 1 / k);
    hsy_spec spec = spec_of("cms", 0, 0, 4);
    hsy_scheme *s = trial_scheme(&spec);
    double v[2];

    hsy_mech_variance(s, v);
    ok(eq_u64(s->param[HSY_PARAM_HASHES], 1024) && eq_u64(s->report_bits, 1034),
       "by default 1024 rows of 1024 cells");
    ok(fabs((v[0] - part) / times - 0.181015415241577617) < 1e-8,
       "cms: the noise of a report at epsilon 4 is 0.181015");
    free(s);
    spec.mechanism = "hcms";
    s = trial_scheme(&spec);
    hsy_mech_variance(s, v);
    is_u64(s->report_bits, 21, "hcms: 20 bits of index and one more");
    ok(fabs((v[0] - part) / times + 1 / m - 1.07602182983807110) < 1e-9 &&
           fabs(v[1] / times + 1 - 1.07602182983807110) < 1e-9,
       "hcms: c^2 at epsilon 4 is 1.076022");
    free(s);
}

/* n reports of codes 0 .. 99, on the heap. */
static uint8_t *reports_of(const hsy_scheme *s, size_t n, uint64_t lane)
{
    uint8_t *reports = trial_memory(n * s->report_bytes);
    uint64_t *codes = trial_memory(n * sizeof *codes);
    hsy_stream secret, published;
    hsy_coins coins = {hsy_stream_rng(&secret), hsy_stream_rng(&published)};

    hsy_stream_seed(&secret, 7, lane);
    hsy_stream_seed(&published, 8, lane);
    for (size_t i = 0; i < n; i++)
        codes[i] = i % 2 == 0 ? 5 : i % 100;
    is_status(hsy_randomize_batch(s, reports, codes, n, &coins, NULL), HSY_OK,
              "%s: %zu reports", s->mech->row.name, n);
    free(codes);
    return reports;
}

/* One at a time, in a batch, in bulk with scratch, and by merging two halves:
 * the same tally, at every level. */
static void counts(const char *name, uint32_t rows, uint32_t width)
{
    enum { N = 9000 };
    hsy_spec spec = spec_of(name, rows, width, 2);
    hsy_scheme *s = trial_scheme(&spec);
    uint8_t *reports = reports_of(s, N, width);
    size_t words = hsy_tally_words(s), bytes = words * sizeof(int64_t);
    int64_t *memory[4];
    void *scratch = trial_memory(hsy_tally_scratch(s, N));
    hsy_tally t[4];
    bool same = true;

    for (int i = 0; i < 4; i++)
        memory[i] = trial_memory(bytes);
    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        for (int i = 0; i < 4; i++)
            hsy_tally_init(&t[i], s, memory[i]);
        for (size_t i = 0; i < N; i++)
            same &= hsy_tally_add(&t[0], s, reports + i * s->report_bytes,
                                  NULL) == HSY_OK;
        hsy_tally_batch(&t[1], s, reports, N / 3, NULL);
        hsy_tally_bulk(&t[2], s, reports, N, scratch, NULL);
        hsy_tally_batch(&t[3], s, reports + N / 3 * s->report_bytes, N - N / 3,
                        NULL);
        same &= hsy_tally_merge(&t[1], &t[3], NULL) == HSY_OK;
        same &= memcmp(memory[0], memory[1], bytes) == 0 &&
                memcmp(memory[0], memory[2], bytes) == 0 &&
                hsy_tally_reports(&t[0]) == N;
    }
    ok(same, "%s, %u rows of %u: however counted, the same tally", name, rows,
       width);
    for (int i = 0; i < 4; i++)
        free(memory[i]);
    free(scratch);
    free(reports);
    free(s);
}

/* Half of the people have value 5: it is found, and another is not. Where it is
 * a candidate its collisions are predicted, and the floor has what is left;
 * else the sum of squares of all, about a quarter. */
static void estimates(const char *name)
{
    enum { N = 40000 };
    const double kappa = 1.0 / (63.0 * 256);
    hsy_spec spec = spec_of(name, 256, 64, 4);
    hsy_scheme *s = trial_scheme(&spec);
    uint8_t *reports = reports_of(s, N, 99);
    int64_t *memory = trial_memory(8 * hsy_tally_words(s));
    void *scratch = trial_memory(hsy_evidence_scratch(s, 100));
    hsy_evidence points[100], first[100];
    double worst = 0;
    hsy_tally t;

    hsy_tally_init(&t, s, memory);
    hsy_tally_batch(&t, s, reports, N, NULL);
    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        hsy_evidence_of(s, points, &t, NULL, 100, scratch, NULL);
        if (level == HSY_CPU_PLAIN)
            memcpy(first, points, sizeof first);
        is_bytes(first, points, sizeof first, "%s: %s estimates alike", name,
                 hsy_cpu_name((hsy_cpu)level));
    }
    for (size_t v = 0; v < 100; v++) {
        double f = v == 5 ? 0.51 : v % 2 == 1 ? 0.01 : 0;
        double sd = sqrt(points[v].v0 / N + points[v].residual_variance);

        worst = fmax(worst, fabs(points[v].value - f) / sd);
    }
    /* 100 values, normal: 6 standard errors are 2e-7. */
    ok(worst < 6, "%s: all within 6 standard errors (%.2f)", name, worst);
    ok(points[0].residual_variance < 0.02 * kappa &&
           points[5].residual_variance < 0.02 * kappa,
       "%s: the floor has what is not predicted (%.3f)", name,
       points[0].residual_variance / kappa);
    hsy_evidence_of(s, first, &t, (const uint64_t[]){0, 2, 3}, 3, scratch,
                    NULL);
    ok(fabs(first[0].residual_variance / kappa - 0.265) < 0.1,
       "%s: of unlisted values the sum of squares, 0.265 (%.3f)", name,
       first[0].residual_variance / kappa);
    hsy_evidence_of(s, first, &t, (const uint64_t[]){5, 0, 5}, 3, scratch,
                    NULL);
    hsy_evidence_of(s, points, &t, (const uint64_t[]){5, 0}, 2, scratch, NULL);
    ok(first[0].value == first[2].value && first[1].value == points[1].value,
       "%s: a value named twice is predicted once", name);
    free(reports);
    free(memory);
    free(scratch);
    free(s);
}

int main(void)
{
    sizes();
    vectors();
    counts("cms", 8, 70);
    counts("cms", 1, 3);
    counts("cms", 512, 128);
    counts("cms", 1024, 64);
    counts("hcms", 4, 16);
    counts("hcms", 256, 1024);
    estimates("cms");
    estimates("hcms");
    return tap_done();
}
