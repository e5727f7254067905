/*
 * test_study.c - what studies measure is what they predict.
 *
 * Every mechanism of the table, on a population of its own each run. The mean
 * squared error must be what is predicted within 4.5 standard errors of the
 * difference over runs (7e-6 a check, by the central limit theorem), and
 * intervals must cover 95 % within as many, and half a percent for what is
 * normal only nearly: less than that never, more only for a mean, whose one-bit
 * reports cannot tell how far truths lie apart, and for a release, whose noise
 * is of whole people. HSY_TEST_LONG: more epsilons, more runs.
 */
#include "rig/stat.h"
#include "sim/study/study.h"

#define STUDY_ERRORS 4.5
#define STUDY_NEAR 0.005

/* What a kind of question is put to. */
struct study_kind {
    uint32_t kind;
    const char *data;
    uint32_t d;
    int64_t hi;
    uint64_t users, runs;
};

static const struct study_kind study_kinds[] = {
    {HSY_KIND_VALUES, "zipf:1.1", 16, 0, 2000, 150},
    {HSY_KIND_VALUES, "geometric:0.3", 2, 0, 2000, 1500},
    {HSY_KIND_BINS, "gaussian:40:20", 16, 100, 2000, 150},
    {HSY_KIND_NUMBER, "gaussian:40:20", 0, 100, 400, 1500}};

static hsy_spec study_spec(const struct study_kind *k, const char *mechanism,
                           double epsilon)
{
    hsy_spec spec = {.size = sizeof(hsy_spec),
                     .mechanism = mechanism,
                     .kind = k->kind,
                     .d = k->d,
                     .hi = k->hi,
                     .nano_epsilon = (uint64_t)(epsilon * 1e9)};

    trial_attach(&spec); /* of matrix its own */
    return spec;
}

/* The mean difference of measured and predicted, in its standard errors. */
static double study_off(const struct study_result *r, double more)
{
    double sum = 0, squares = 0;
    const double n = (double)r->runs;

    for (uint64_t i = 0; i < r->runs; i++) {
        const double *m = r->each + i * STUDY_METRICS;
        const double off = m[STUDY_MSE] - more * m[STUDY_PREDICTED];

        sum += off;
        squares += off * off;
    }
    return sum / n / sqrt((squares / n - sum / n * (sum / n)) / n);
}

static void study_judge(const struct study_result *r, const char *name,
                        double epsilon)
{
    const double off = study_off(r, 1);
    const double share = r->mean[STUDY_COVERAGE],
                 allow = STUDY_ERRORS * r->error[STUDY_COVERAGE] + STUDY_NEAR;

    ok(fabs(off) <= STUDY_ERRORS,
       "%s at epsilon %g: error as predicted (%.2f standard errors, %.4g and "
       "%.4g)",
       name, epsilon, off, r->mean[STUDY_MSE], r->mean[STUDY_PREDICTED]);
    ok(fabs(study_off(r, 1.6)) > STUDY_ERRORS,
       "control: predicting 60 %% more would be noticed");
    ok(share >= 0.95 - allow && (r->info.kind == HSY_KIND_NUMBER ||
                                 r->info.central || share <= 0.95 + allow),
       "%s at epsilon %g: intervals cover %.4f", name, epsilon, share);
}

static bool study_one(const struct study_kind *k, const char *mechanism,
                      double epsilon, enum study_model model, uint64_t curators)
{
    const hsy_spec spec = study_spec(k, mechanism, epsilon);
    struct study_people people = {0};
    struct study_result r = {0};
    struct study_data data;
    struct study study = {.people = &people,
                          .spec = spec,
                          .model = model,
                          .delta = study_delta(k->users),
                          .curators = curators,
                          .users = k->users,
                          .runs = k->runs * (stat_long() ? 8 : 1),
                          .seed = stat_seed(),
                          .top = k->d < 4 ? k->d : 4,
                          .threads = 2};
    bool taken = study_data_parse(&data, k->data, NULL) == HSY_OK &&
                 study_people_open(&people, &data, &spec, NULL) == HSY_OK &&
                 study_run(&r, &study, NULL) == HSY_OK;

    if (taken && isfinite(r.mean[STUDY_PREDICTED]))
        study_judge(&r, model != STUDY_LOCAL ? r.name : mechanism, epsilon);
    else if (taken)
        ok(r.info.iterative && r.mean[STUDY_MSE] > 0,
           "%s is measured, and predicts nothing (test_density.c)", mechanism);
    study_close(&r);
    study_people_close(&people);
    return taken;
}

/* The first kind of question that a mechanism takes. */
static void study_mechanism(const char *name, double epsilon)
{
    for (size_t i = 0; i < sizeof study_kinds / sizeof study_kinds[0]; i++)
        if (study_one(&study_kinds[i], name, epsilon, STUDY_LOCAL, 0))
            return;
    /* Several attributes and open strings are no study: test_attributes.c and
     * test_discovery.c hold their errors to what is stated. */
    ok(strcmp(name, "smp") == 0 || strcmp(name, "joint") == 0 ||
           strcmp(name, "pem") == 0 || strcmp(name, "sfp") == 0 ||
           strcmp(name, "stage") == 0,
       "%s is measured elsewhere", name);
}

/* Curators, for every kind of question: one is the central model. */
static void study_curators(double epsilon)
{
    static const uint64_t curators[] = {1, 7, 100};

    for (size_t i = 0; i < sizeof study_kinds / sizeof study_kinds[0]; i++)
        for (size_t k = 0; k < 3; k++)
            ok(study_one(&study_kinds[i], "auto", epsilon, STUDY_MULTIPARTY,
                         curators[k]),
               "kind %zu, %d curators", i, (int)curators[k]);
}

/* Shuffled reports, which have less noise. */
static void study_shuffled(double epsilon)
{
    static const struct {
        size_t kind;
        const char *mechanism;
    } rows[] = {{0, "grr"}, {0, "oue"}, {0, "hr"}, {1, "rr"}, {3, "onebit"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ok(study_one(&study_kinds[rows[i].kind], rows[i].mechanism, epsilon,
                     STUDY_SHUFFLED, 0),
           "%s, shuffled", rows[i].mechanism);
}

int main(int argc, char **argv)
{
    static const double epsilons[] = {1, 0.5, 2, 4};
    const size_t n = stat_long() ? 4 : 1;
    const hsy_catalogue *row;

    for (size_t i = 0; (row = hsy_mechanism_at(i)) != NULL; i++)
        for (size_t e = 0; e < n; e++)
            if (argc < 2 || strcmp(argv[1], row->name) == 0)
                study_mechanism(row->name, epsilons[e]);
    for (size_t e = 0; e < n; e++)
        if (argc < 2 || strcmp(argv[1], "central") == 0)
            study_curators(epsilons[e]);
    for (size_t e = 0; e < n; e++)
        if (argc < 2 || strcmp(argv[1], "shuffled") == 0)
            study_shuffled(epsilons[e]);
    return tap_done();
}
