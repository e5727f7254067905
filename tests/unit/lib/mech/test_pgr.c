/*
 * test_pgr.c - projective geometry response: sets by brute force, decoding
 * against sums by definition, variances, refusals, kernels.
 */
#include "hearsay.h"
#include "lib/family/projective.h"
#include "lib/family/twolevel.h"
#include "lib/kernels/kernels.h"
#include "lib/scheme/scheme.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_spec spec_of(const char *mechanism, uint32_t d, double epsilon,
                        uint64_t q, uint64_t t, uint64_t blocks)
{
    hsy_spec spec = trial_values(mechanism, d, epsilon);

    spec.param[HSY_PARAM_Q] = q;
    spec.param[HSY_PARAM_T] = t;
    spec.param[HSY_PARAM_BLOCKS] = blocks;
    return spec;
}

static bool close_to(double got, double want, double relative)
{
    return fabs(got - want) <= relative * fabs(want);
}

/* ---- Vectors of theory 3.14 and 15.3 ------------------------------------- */

static void chosen(void)
{
    static const struct {
        double epsilon;
        uint32_t d;
        uint64_t q, t;
        double v0;
    } cases[] = {
        {0.5, 2, 2, 2, 6.293902},    {0.5, 16, 3, 4, 15.02326},
        {0.5, 1024, 3, 7, 15.78799}, {0.5, 65536, 3, 11, 15.81704},
        {1, 2, 2, 2, 1.259370},      {1, 16, 5, 3, 3.512530},
        {1, 1024, 3, 7, 3.761128},   {1, 65536, 3, 11, 3.769956},
        {2, 2, 2, 2, 0.205513},      {2, 16, 17, 2, 0.572980},
        {2, 1024, 7, 5, 0.730762},   {2, 65536, 7, 7, 0.731916},
        {4, 2, 2, 2, 0.019354},      {4, 16, 17, 2, 0.024575},
        {4, 1024, 53, 3, 0.075332},  {4, 65536, 53, 4, 0.076053},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsy_spec spec = trial_values("pgr", cases[i].d, cases[i].epsilon);
        hsy_scheme *s = trial_scheme(&spec);
        hsy_scheme_info info;

        hsy_scheme_describe(s, &info);
        ok(info.param[HSY_PARAM_Q] == cases[i].q &&
               info.param[HSY_PARAM_T] == cases[i].t &&
               close_to(info.v0, cases[i].v0, 3e-5),
           "epsilon %g, d = %u: (%u,%u), v0 %.6f", cases[i].epsilon, cases[i].d,
           (unsigned)info.param[HSY_PARAM_Q], (unsigned)info.param[HSY_PARAM_T],
           info.v0);
        free(s);
    }
}

static void variances(void)
{
    static const struct {
        const char *mechanism;
        uint64_t q, t, blocks;
        double epsilon;
        uint32_t d;
        double v0, v1; /* 0: not stated */
    } cases[] = {
        {"pgr", 3, 7, 0, 1, 1024, 3.76112784719179040, 0},
        {"pgr", 7, 5, 0, 2, 1024, 0.730761981149668680, 0},
        {"pgr", 53, 3, 0, 4, 1024, 0.0753319140932522537, 0},
        {"pgr", 53, 4, 0, 4, 65536, 0.0760531481999515118, 0},
        {"pgr", 3, 3, 0, 1, 13, 3.04606653, 3.68269438},
        {"pgr", 2, 3, 0, 1, 7, 2.97103243, 2.76202078},
        {"pgr", 5, 3, 0, 1, 31, 3.51253008, 5.52404157},
        {"hpg", 3, 3, 1, 1, 13, 3.04606653, 3.68269438},
        {"hpg", 13, 4, 4, 4, 1024,
         0.203039257642451537 / 4 + 0.0397950700625438472 * 3 / 4, 0},
        {"hpg", 13, 5, 4, 4, 65536, 0.080847, 0},
        {"hpg", 3, 3, 4, 1, 52, 9.06535914 / 4 + 6.21012675 * 3 / 4,
         13.48483558},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsy_spec spec =
            spec_of(cases[i].mechanism, cases[i].d, cases[i].epsilon,
                    cases[i].q, cases[i].t, cases[i].blocks);
        hsy_scheme *s = trial_scheme(&spec);
        hsy_scheme_info info;
        double bound = cases[i].v1 != 0 || cases[i].d == 65536 ? 2e-5 : 1e-9;

        hsy_scheme_describe(s, &info);
        ok(close_to(info.v0, cases[i].v0, bound) &&
               (cases[i].v1 == 0 || close_to(info.v1, cases[i].v1, bound)),
           "%s(%u,%u) at epsilon %g: v0 %.12g, v1 %.12g", cases[i].mechanism,
           (unsigned)cases[i].q, (unsigned)cases[i].t, cases[i].epsilon,
           info.v0, info.v1);
        free(s);
    }
}

/* ---- Against brute force ------------------------------------------------- */

static const struct shape {
    uint64_t q, t;
} shapes[] = {{2, 2},  {2, 3}, {3, 3},  {5, 3}, {3, 4},  {7, 2},  {2, 10},
              {53, 2}, {7, 4}, {13, 3}, {3, 6}, {17, 3}, {37, 3}, {71, 3}};

#define SHAPES (sizeof shapes / sizeof shapes[0])

/* Coordinates of point `number`: digits behind a leading 1. */
static void vector_of(uint64_t q, uint64_t t, uint64_t number, uint64_t *v)
{
    uint64_t k = 0, all = 1, power = 1;

    while (number >= all) {
        k++;
        power *= q;
        all += power;
    }
    number -= all - power;
    for (uint64_t i = 0; i < t; i++) {
        v[t - 1 - i] = i < k ? number % q : i == k;
        number /= q;
    }
}

/* An item's coordinates are those of the point of its number in reverse. */
static bool orthogonal(uint64_t q, uint64_t t, uint64_t point, uint64_t item)
{
    uint64_t u[32], v[32], sum = 0;

    vector_of(q, t, point, u);
    vector_of(q, t, item, v);
    for (uint64_t i = 0; i < t; i++)
        sum += u[i] * v[t - 1 - i];
    return sum % q == 0;
}

/* A number from 1 to 2^31 - 2 after another [Park and Miller]. */
static uint64_t next(uint64_t *state)
{
    *state = *state * 48271 % 2147483647;
    return *state;
}

/* The kernel's points are orthogonal, all different, and as many as there
 * are: hence the whole set. */
static bool whole_set(const hsy_scheme *s, uint32_t item)
{
    const struct projective *p = &s->projective.space;
    uint8_t *seen = trial_memory(s->cells);
    bool good = true;

    for (uint32_t rank = 0; rank < p->set; rank++) {
        uint32_t u = UINT32_MAX;

        s->kernels->orthogonal_points(&u, &item, &rank, 1, &p->geometry);
        good = good && u < s->cells && seen[u] == 0 &&
               orthogonal(p->geometry.q, p->geometry.t, u, item);
        if (good)
            seen[u] = 1;
    }
    free(seen);
    return good;
}

static void sets(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        uint64_t points = hsy_projective_sizes(shapes[i].q, shapes[i].t).points,
                 size = 0;
        hsy_spec spec =
            spec_of("pgr", (uint32_t)points, 1, shapes[i].q, shapes[i].t, 0);
        hsy_scheme *s = trial_scheme(&spec);
        bool good = true;
        uint64_t step = points / 300 + 1;

        for (uint64_t v = 0; v < points; v++)
            size += orthogonal(shapes[i].q, shapes[i].t, v, 0);
        for (uint64_t v = 0; v < points; v += step)
            good &= whole_set(s, (uint32_t)v);
        ok(good && size == s->projective.space.set,
           "(%u,%u): ranks count the orthogonal points, each once",
           (unsigned)shapes[i].q, (unsigned)shapes[i].t);
        free(s);
    }
}

/* Every level gives the plain kernel's points and sums. */
static void levels(void)
{
    enum { N = 4099 };
    static uint32_t items[N], ranks[N], want[N], got[N];
    uint64_t state = 7;

    for (size_t i = 0; i < SHAPES + 3; i++) {
        static const struct shape large[3] = {
            {2, 25}, {5791, 3}, {33554393, 2}};
        struct shape g = i < SHAPES ? shapes[i] : large[i - SHAPES];
        hsy_spec spec = spec_of("pgr", 2, 1, g.q, g.t, 0);
        hsy_scheme *s = trial_scheme(&spec);
        const struct kernel_geometry *geometry = &s->projective.space.geometry;
        bool same = true;

        for (size_t k = 0; k < N; k++) {
            items[k] = (uint32_t)(next(&state) % s->cells);
            ranks[k] = (uint32_t)(next(&state) % s->projective.space.set);
        }
        items[0] = items[1] = (uint32_t)s->cells - 1;
        ranks[1] = ranks[2] = (uint32_t)s->projective.space.set - 1;
        hsy_kernels_at(HSY_CPU_PLAIN)
            ->orthogonal_points(want, items, ranks, N, geometry);
        for (size_t k = 0; k < N; k += 97)
            same &= orthogonal(g.q, g.t, want[k], items[k]);
        for (int level = HSY_CPU_PORTABLE; level <= HSY_CPU_AVX512; level++) {
            if (!hsy_cpu_has((hsy_cpu)level))
                continue;
            memset(got, 0xff, sizeof got);
            hsy_kernels_at((hsy_cpu)level)
                ->orthogonal_points(got, items, ranks, N, geometry);
            same &= memcmp(got, want, sizeof got) == 0;
        }
        ok(same, "(%u,%u): every level finds the same points", (unsigned)g.q,
           (unsigned)g.t);
        free(s);
    }
}

static void radon(void)
{
    static const uint32_t orders[] = {2,  3,  5,  7,  11, 13, 17,
                                      31, 37, 61, 67, 71, 149};
    uint64_t state = 3;

    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        const uint32_t q = orders[i];
        const size_t count = 3, stride = count * q + 5;
        uint32_t *m = trial_memory(count * q * q * sizeof *m);
        uint32_t *want = trial_memory(q * stride * sizeof *want);
        uint32_t *got = trial_memory(q * stride * sizeof *got);
        uint32_t *work = trial_memory(KERNEL_LINE_SUMS_WORK(q) * sizeof *work);
        bool same = true;

        for (size_t k = 0; k < count * q * q; k++)
            m[k] = (uint32_t)(next(&state) * 2654435769u);
        hsy_kernels_at(HSY_CPU_PLAIN)
            ->line_sums(want, stride, m, q, count, work);
        for (uint32_t z = 0, e; z < q; z++) { /* slope 1 by definition */
            uint32_t sum = 0;

            for (e = 0; e < q; e++)
                sum += m[e * q + (z + q - e) % q];
            same &= want[stride + z] == sum;
        }
        for (int level = HSY_CPU_PORTABLE; level <= HSY_CPU_AVX512; level++) {
            if (!hsy_cpu_has((hsy_cpu)level))
                continue;
            memset(got, 0, q * stride * sizeof *got);
            hsy_kernels_at((hsy_cpu)level)
                ->line_sums(got, stride, m, q, count, work);
            same &= memcmp(got, want, q * stride * sizeof *got) == 0;
        }
        ok(same, "order %u: every level sums the same lines, and no more", q);
        free(m);
        free(want);
        free(got);
        free(work);
    }
}

/* Supports of all values, from counts of up to `size` a cell, by definition. */
static void decode(const hsy_spec *spec, uint64_t size)
{
    hsy_scheme *s = trial_scheme(spec);
    const struct projective *p = &s->projective.space;
    const uint32_t points = p->geometry.points[p->geometry.t];
    const uint64_t few[2] = {spec->d - 1, 0};
    int64_t *memory = trial_memory(8 * hsy_tally_words(s));
    hsy_evidence *all = trial_memory(spec->d * sizeof *all), pair[2];
    void *scratch = trial_memory(hsy_evidence_scratch(s, spec->d));
    void *less = trial_memory(hsy_evidence_scratch(s, 2));
    bool same = true;
    uint64_t state = 11;
    hsy_tally t;

    hsy_tally_init(&t, s, memory);
    for (size_t i = 0; i < t.ncells; i++) {
        t.cells[i] = (int64_t)(next(&state) * 2147483647 % size);
        t.strata[0] += (uint64_t)t.cells[i];
    }
    same &= hsy_evidence_of(s, all, &t, NULL, spec->d, scratch, NULL) == HSY_OK;
    same &= hsy_evidence_of(s, pair, &t, few, 2, less, NULL) == HSY_OK;
    for (uint64_t v = 0; v < spec->d; v += spec->d / 500 + 1) {
        uint32_t item, block = projective_place(p, v, &item);
        uint64_t sum = 0;

        for (uint32_t u = 0; u < points; u++)
            if (orthogonal(p->geometry.q, p->geometry.t, u, item))
                sum += (uint64_t)t.cells[block * points + u];
        same &= close_to(all[v].support, (double)sum, 1e-15);
    }
    same &= pair[0].support == all[spec->d - 1].support &&
            pair[1].value == all[0].value && pair[1].v0 == all[0].v0;
    ok(same, "%s(%u,%u), counts below %.0e: supports as by definition",
       spec->mechanism, p->geometry.q, p->geometry.t, (double)size);
    free(memory);
    free(all);
    free(scratch);
    free(less);
    free(s);
}

static void decodes(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        uint64_t points = hsy_projective_sizes(shapes[i].q, shapes[i].t).points;
        hsy_spec spec =
            spec_of("pgr", (uint32_t)points, 1, shapes[i].q, shapes[i].t, 0);

        decode(&spec, 1000);
        if (i % 3 == 0)
            decode(&spec, (uint64_t)1 << 40);
        spec.d = (uint32_t)points / 2 + 1;
        decode(&spec, 1000);
        spec = spec_of("hpg", (uint32_t)points * 3 - 1, 1, shapes[i].q,
                       shapes[i].t, 4);
        decode(&spec, 1000);
    }
}

/* ---- Refusals ------------------------------------------------------------ */

static void refusals(void)
{
    static const struct {
        const char *mechanism;
        uint32_t d;
        double epsilon;
        uint64_t q, t, blocks;
        const char *field;
    } cases[] = {
        {"pgr", 16, 1, 4, 0, 0, "q"},
        {"pgr", 16, 1, 1, 0, 0, "q"},
        {"pgr", 16, 1, 49, 0, 0, "q"},
        {"pgr", 16, 1, 0, 1, 0, "t"},
        {"pgr", 16, 1, 0, 26, 0, "t"},
        {"pgr", 16, 1, 3, 3, 0, "t"},
        {"pgr", 16, 1, 3, 20, 0, "t"},
        {"pgr", 16, 1, 33554467, 0, 0, "q"},
        {"pgr", 1u << 22, 1, 5801, 0, 0, "q"},
        {"pgr", 1u << 22, 32, 2, 0, 0, "q"},
        {"pgr", 16, 1, 0, 0, 2, "blocks"},
        {"hpg", 100, 1, 3, 3, 2, "blocks"},
        {"hpg", 100, 1, 3, 3, 1u << 22, "blocks"},
        {"hpg", 100, 1, 9, 0, 0, "q"},
        {"hpg", 100, 1, 0, 1, 0, "t"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsy_spec spec =
            spec_of(cases[i].mechanism, cases[i].d, cases[i].epsilon,
                    cases[i].q, cases[i].t, cases[i].blocks);
        hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
        hsy_error err = {0};
        hsy_status st = hsy_scheme_init(s, &spec, &err);

        ok(st == HSY_E_RANGE && err.field != HSY_FIELD_NONE &&
               strcmp(hsy_field_name(err.field), cases[i].field) == 0,
           "%s, d = %u, q %u, t %u, blocks %u: refused for %s (%s)",
           cases[i].mechanism, cases[i].d, (unsigned)cases[i].q,
           (unsigned)cases[i].t, (unsigned)cases[i].blocks,
           hsy_field_name(err.field), err.msg);
        free(s);
    }
}

/* What was chosen, given back, is taken as it is. */
static void again(void)
{
    static const uint32_t domains[] = {2, 3, 100, 16384, 1u << 22};
    static const double epsilons[] = {1e-6, 0.5, 3, 9, 20, 32};

    for (size_t i = 0; i < 60; i++) {
        const char *name = i % 2 == 0 ? "pgr" : "hpg";
        hsy_spec spec =
            trial_values(name, domains[i / 2 % 5], epsilons[i / 10]);
        hsy_scheme *s = trial_scheme(&spec), *second;
        hsy_scheme_info info;

        hsy_scheme_describe(s, &info);
        memcpy(spec.param, info.param, sizeof spec.param);
        second = trial_scheme(&spec);
        ok(hsy_scheme_difference(s, second) == NULL && s->cells >= spec.d &&
               s->cells <= 8 * (size_t)spec.d && info.v0 > 0 && info.v1 >= 0 &&
               info.epsilon_exact <= info.epsilon &&
               info.epsilon_exact >= info.epsilon - 1e-11,
           "%s, d = %u, epsilon %g: (%u,%u,%u) again", name, spec.d,
           info.epsilon, (unsigned)info.param[HSY_PARAM_Q],
           (unsigned)info.param[HSY_PARAM_T],
           (unsigned)info.param[HSY_PARAM_BLOCKS]);
        free(s);
        free(second);
    }
}

/* Values go to slots one to one, each block within its points. */
static void places(void)
{
    static const uint32_t domains[] = {2, 51, 100, 1024, 4096};

    for (size_t i = 0; i < 5; i++) {
        hsy_spec spec = spec_of("hpg", domains[i], 4, 0, 0, 0);
        hsy_scheme *s = trial_scheme(&spec);
        const struct projective *p = &s->projective.space;
        const uint32_t points = p->geometry.points[p->geometry.t];
        uint8_t *seen = trial_memory(s->cells);
        uint32_t most = 0, *held = trial_memory(p->blocks * sizeof *held);
        bool good = true;

        for (uint32_t x = 0; x < spec.d; x++) {
            uint32_t item, block = projective_place(p, x, &item);

            good = good && block < p->blocks && item < points &&
                   seen[block * points + item]++ == 0;
            if (good && x < spec.d / 2 && ++held[block] > most)
                most = held[block];
        }
        ok(good && most <= spec.d / 2 / p->blocks + 6,
           "d = %u in %u blocks: places are distinct, neighbours apart", spec.d,
           p->blocks);
        free(seen);
        free(held);
        free(s);
    }
}

/* A batch has the law of single calls: block estimates agree with the truth
 * within 6 standard errors, at every level alike. */
static void batches(const hsy_spec *spec)
{
    enum { N = 100000 };
    hsy_scheme *s = trial_scheme(spec);
    uint64_t *codes = trial_memory(N * sizeof *codes);
    hsy_scheme_info info;
    uint8_t *reports, *first;
    int64_t *memory = trial_memory(8 * hsy_tally_words(s));
    hsy_evidence *points = trial_memory(spec->d * sizeof *points);
    void *scratch = trial_memory(hsy_evidence_scratch(s, spec->d));
    bool same = true, near = true;
    hsy_tally t;

    hsy_scheme_describe(s, &info);
    reports = trial_memory(N * info.report_bytes);
    first = trial_memory(N * info.report_bytes);
    for (size_t i = 0; i < N; i++)
        codes[i] = i % 4 == 0 ? 1 : i % spec->d;
    for (int level = HSY_CPU_PLAIN; level <= HSY_CPU_AVX512; level++) {
        hsy_stream secret, published;
        hsy_coins coins = {hsy_stream_rng(&secret), hsy_stream_rng(&published)};

        if (hsy_scheme_cpu(s, (hsy_cpu)level) != HSY_OK)
            continue;
        hsy_stream_seed(&secret, 5, 0);
        hsy_stream_seed(&published, 5, 1);
        same &=
            hsy_randomize_batch(s, reports, codes, N, &coins, NULL) == HSY_OK;
        if (level == HSY_CPU_PLAIN)
            memcpy(first, reports, N * info.report_bytes);
        same &= memcmp(first, reports, N * info.report_bytes) == 0;
    }
    hsy_tally_init(&t, s, memory);
    same &=
        hsy_tally_batch(&t, s, reports, N, NULL) == HSY_OK &&
        hsy_evidence_of(s, points, &t, NULL, spec->d, scratch, NULL) == HSY_OK;
    for (uint32_t v = 0; v < spec->d; v++) {
        double f = 0, sd;

        for (size_t i = 0; i < N; i++)
            f += codes[i] == v;
        f /= N;
        sd = sqrt(((1 - f) * points[v].v0 + f * points[v].v1) / N);
        near &= fabs(points[v].value - f) < 6 * sd;
    }
    ok(same, "%s, d = %u: a batch is the same at every level", spec->mechanism,
       spec->d);
    ok(near, "%s, d = %u: and its estimates are near the truth",
       spec->mechanism, spec->d);
    free(codes);
    free(reports);
    free(first);
    free(memory);
    free(points);
    free(scratch);
    free(s);
}

int main(void)
{
    hsy_spec one = spec_of("pgr", 50, 1, 0, 0, 0);
    hsy_spec two = spec_of("pgr", 60, 4, 0, 0, 0);
    hsy_spec three = spec_of("hpg", 90, 4, 0, 0, 0);
    hsy_spec four = spec_of("hpg", 40, 1, 3, 3, 4);

    chosen();
    variances();
    sets();
    levels();
    radon();
    decodes();
    refusals();
    again();
    places();
    batches(&one);
    batches(&two);
    batches(&three);
    batches(&four);
    return tap_done();
}
