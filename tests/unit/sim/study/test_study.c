/*
 * test_study.c - studies: populations, reports drawn at once, theory, threads.
 */
#include "sim/study/internal.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NANO(x) ((uint64_t)((x)*1e9))

static hsy_spec values(const char *mechanism, uint32_t d, double epsilon)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = mechanism,
                      .kind = HSY_KIND_VALUES,
                      .d = d,
                      .nano_epsilon = NANO(epsilon)};
}

static hsy_spec number(const char *mechanism, int64_t hi, double epsilon)
{
    return (hsy_spec){.size = sizeof(hsy_spec),
                      .mechanism = mechanism,
                      .kind = HSY_KIND_NUMBER,
                      .hi = hi,
                      .nano_epsilon = NANO(epsilon)};
}

/* ---- Distributions ------------------------------------------------------- */

static void parsing(void)
{
    static const char *const good[] = {
        "zipf:0",        "zipf:1.5",     "geometric:0.5",  "geometric:1",
        "poisson:100",   "uniform",      "uniform:0:14",   "uniform:3:3",
        "uniform:-5:-2", "gaussian:0:1", "gaussian:1e3:.5"};
    static const char *const bad[] = {
        "",           "zipf",        "zipf:",          "zipf:x",
        "zipf:1:2",   "zipf:-1",     "zipf:101",       "zipf:nan",
        "zipf:inf",   "zipf: 1",     "geometric:0",    "geometric:1.1",
        "poisson:0",  "poisson:-1",  "uniform:5",      "uniform:5:4",
        "uniform:1:", "gaussian:5",  "gaussian:5:0",   "gaussian:5:-1",
        "gauss:5:1",  "gaussian:::", "gaussian:1:2:3", "file"};
    struct study_data data;
    hsy_error err;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ok(study_data_parse(&data, good[i], NULL) == HSY_OK, "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ok(study_data_parse(&data, bad[i], &err) != HSY_OK && err.msg != NULL,
           "'%s' is refused", bad[i]);
}

static double weight_of(const struct study_people *p, int64_t value)
{
    double all = 0, own = 0;

    for (size_t i = 0; i < p->n; i++) {
        all += p->weights[i];
        own += p->numbers[i] == value ? p->weights[i] : 0;
    }
    return own / all;
}

static bool opened(struct study_people *p, const char *text,
                   const hsy_spec *question)
{
    struct study_data data;

    return study_data_parse(&data, text, NULL) == HSY_OK &&
           study_people_open(p, &data, question, NULL) == HSY_OK;
}

static void distribution(const char *text, const hsy_spec *question,
                         int64_t value, double want, size_t n)
{
    struct study_people p = {0};
    const bool good = opened(&p, text, question);
    const double got = weight_of(&p, value);

    ok(good && p.n == n && fabs(got - want) < 1e-9,
       "%s: %lld has %.6f, of %zu truths", text, (long long)value, got, p.n);
    study_people_close(&p);
}

static void distributions(void)
{
    hsy_spec list = values("grr", 4, 1), wide = values("grr", 101, 1);
    hsy_spec range = number("onebit", 100, 1), fine = number("onebit", 0, 1);
    struct study_people p = {0};

    fine.lo = -1000000000, fine.hi = 1000000000, fine.scale = 9;
    distribution("zipf:1", &list, 1, 0.5 / (1 + 0.5 + 1.0 / 3 + 0.25), 4);
    distribution("zipf:0", &list, 3, 0.25, 4);
    distribution("geometric:0.5", &list, 0, 0.5 / 0.9375, 4);
    distribution("geometric:1", &list, 0, 1, 1);
    distribution("poisson:5", &wide, 3, 125.0 / 6 * exp(-5), 101);
    distribution("uniform", &wide, 100, 1 / 101.0, 101);
    distribution("uniform:1:2", &list, 2, 0.5, 3);
    distribution("gaussian:50:5", &wide, 50, 2 * hsy_normal_cdf(0.1) - 1, 101);
    distribution("uniform:20:29", &range, 25, 0.1, 30);
    distribution("geometric:0.5", &fine, 0, 0.5 / 0.875 / 2, 3);
    distribution("gaussian:0:0.1", &fine, 0, 2 * hsy_normal_cdf(0.001) - 1,
                 STUDY_POINTS_MAX);
    ok(!opened(&p, "uniform:200:300", &wide), "nothing inside the domain");
    study_people_close(&p);
    ok(!opened(&p, "gaussian:1e9:1", &wide), "or next to nothing is refused");
    study_people_close(&p);
}

/* Counts of many populations against their weights, by chi-square at 1e-9. */
static void populations(void)
{
    enum { DRAWS = 400, USERS = 1000 };
    const hsy_spec question = values("grr", 12, 1);
    struct study_people p = {0};
    uint64_t counts[12], sums[12] = {0};
    double all = 0, chi2 = 0;
    bool whole = opened(&p, "zipf:1.3", &question);
    hsy_stream st;

    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t sum = 0;

        hsy_stream_seed(&st, 3, i);
        study_people_draw(counts, &p, USERS, &st);
        for (size_t v = 0; v < 12; v++) {
            sum += counts[v];
            sums[v] += counts[v];
        }
        whole = whole && sum == USERS;
    }
    ok(whole, "a population has as many people as were asked for");
    for (size_t v = 0; v < 12; v++)
        all += p.weights[v];
    for (size_t v = 0; v < 12; v++) {
        const double want = p.weights[v] / all * DRAWS * USERS;

        chi2 += ((double)sums[v] - want) * ((double)sums[v] - want) / want;
    }
    ok(hsy_chi2_upper(chi2, 11) > 1e-9, "spread as its weights say (%.1f)",
       chi2);
    study_people_close(&p);
}

/* ---- Reports at once ----------------------------------------------------- */

/*
 * Cells drawn at once and cells of simulated reports of the same people have
 * one law: means and variances over many draws agree, each difference within 6
 * of its standard errors (1e-9 each, normal).
 */
enum { CELLS = 5, LAW_DRAWS = 4000, LAW_PEOPLE = 200 };

struct cell_law {
    double mean[CELLS], square[CELLS], product; /* of the first two */
};

static void law_add(struct cell_law *l, const hsy_tally *t)
{
    for (size_t c = 0; c < CELLS && c < t->ncells; c++) {
        const double x = (double)t->cells[c];

        l->mean[c] += x / LAW_DRAWS;
        l->square[c] += x * x / LAW_DRAWS;
    }
    if (t->ncells > 1)
        l->product += (double)t->cells[0] * (double)t->cells[1] / LAW_DRAWS;
}

static double law_variance(const struct cell_law *l, size_t c)
{
    return l->square[c] - l->mean[c] * l->mean[c];
}

static bool law_agree(const struct cell_law *a, const struct cell_law *b,
                      size_t cells)
{
    bool good = true;

    for (size_t c = 0; c < cells; c++) {
        const double v = law_variance(b, c);

        good = good &&
               fabs(a->mean[c] - b->mean[c]) < 6 * sqrt(2 * v / LAW_DRAWS) &&
               fabs(law_variance(a, c) - v) < 6 * v * sqrt(4.0 / LAW_DRAWS);
    }
    if (cells > 1) {
        const double va = law_variance(b, 0), vb = law_variance(b, 1);
        const double ca = a->product - a->mean[0] * a->mean[1];
        const double cb = b->product - b->mean[0] * b->mean[1];

        good = good && fabs(ca - cb) < 6 * sqrt(2 * va * vb / LAW_DRAWS) * 2;
    }
    return good;
}

static void at_once(const hsy_spec *spec, const uint64_t *codes)
{
    static const uint64_t counts[3] = {120, 50, 30}, ends[3] = {120, 170, 200};
    const struct study_truths truths = {codes, counts, ends, 3, LAW_PEOPLE};
    hsy_scheme *s = malloc(hsy_scheme_size(spec));
    struct cell_law once = {{0}, {0}, 0}, each = {{0}, {0}, 0};
    uint64_t room[LAW_PEOPLE];
    uint8_t reports[LAW_PEOPLE * 8];
    struct study_desk desk = {LAW_PEOPLE, room, reports, NULL};
    int64_t *memory;
    hsy_scheme_info info;
    bool good = hsy_scheme_init(s, spec, NULL) == HSY_OK;

    hsy_scheme_describe(s, &info);
    memory = calloc(hsy_tally_words(s), sizeof *memory);
    good = good && study_at_once(&info) && info.report_bytes <= 8;
    for (uint64_t i = 0; good && i < LAW_DRAWS; i++) {
        hsy_stream a, b;
        hsy_tally t;

        hsy_stream_seed(&a, 11, 3 * i);
        hsy_tally_init(&t, s, memory);
        study_draw(&t, &info, &truths, &a);
        good = hsy_tally_reports(&t) == LAW_PEOPLE;
        law_add(&once, &t);
        hsy_stream_seed(&a, 11, 3 * i + 1);
        hsy_stream_seed(&b, 11, 3 * i + 2);
        hsy_tally_init(&t, s, memory);
        good = good &&
               study_report(&t, s, &desk, &truths, 0, &a, &b, NULL) == HSY_OK;
        law_add(&each, &t);
    }
    ok(good && law_agree(&once, &each, info.cells < CELLS ? info.cells : CELLS),
       "%s: drawn at once as one by one", spec->mechanism);
    once.mean[0] *= 1.1;
    ok(!law_agree(&once, &each, 1), "control: a tenth more would be noticed");
    free(memory);
    free(s);
}

static void laws_at_once(void)
{
    static const uint64_t codes[3] = {0, 1, 4}, bits[3] = {0, 1, 1};
    static const uint64_t numbers[3] = {10, 60, 100};
    hsy_spec spec = values("rr", 2, 1);

    at_once(&spec, bits);
    spec = values("grr", 5, 1);
    at_once(&spec, codes);
    spec = values("sue", 5, 1);
    at_once(&spec, codes);
    spec = values("oue", 5, 1);
    at_once(&spec, codes);
    spec = number("onebit", 100, 1);
    at_once(&spec, numbers);
}

/* People of a chunk, whatever its size: each exactly once. */
static void chunks(void)
{
    static const uint64_t codes[4] = {0, 1, 2, 3}, counts[4] = {5, 0, 9, 1};
    static const uint64_t ends[4] = {5, 5, 14, 15};
    const struct study_truths truths = {codes, counts, ends, 4, 15};
    const hsy_spec spec = values("grr", 4, 32);
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    int64_t memory[64];
    bool good = hsy_scheme_init(s, &spec, NULL) == HSY_OK;

    for (size_t chunk = 1; good && chunk <= 16; chunk++) {
        uint64_t room[16];
        uint8_t reports[16 * 8];
        struct study_desk desk = {chunk, room, reports, NULL};
        hsy_tally t;

        hsy_tally_init(&t, s, memory);
        for (uint64_t c = 0; good && c * chunk < 15; c++) {
            hsy_stream a, b;

            hsy_stream_seed(&a, 1, 2 * c);
            hsy_stream_seed(&b, 1, 2 * c + 1);
            good =
                study_report(&t, s, &desk, &truths, c, &a, &b, NULL) == HSY_OK;
        }
        /* At epsilon 32 a wrong report has the chance 1e-14. */
        for (size_t v = 0; v < 4; v++)
            good = good && t.cells[v] == (int64_t)counts[v];
    }
    ok(good, "chunks of any size hold everybody once");
    free(s);
}

/* ---- Theory -------------------------------------------------------------- */

/* The largest variance over all truths, in units of half the range squared. */
static double theory_worst(const hsy_scheme_info *info)
{
    double worst = 0;

    for (int i = 0; i <= 10000; i++)
        worst = fmax(worst, 4 * study_mean_law(info, i / 10000.0));
    return worst;
}

/* Theory 15.2 and 15.3, in units of half the range squared. */
static void theory(void)
{
    static const struct {
        const char *mechanism;
        double epsilon, want;
    } means[] = {{"onebit", 1, 4.68269437683116928},
                 {"laplace", 1, 8},
                 {"laplace", 4, 0.5}};
    hsy_scheme_info info = {.mechanism = "dwm", .epsilon_exact = 2};

    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        const hsy_spec spec =
            number(means[i].mechanism, 1000000, means[i].epsilon);
        hsy_scheme *s = malloc(hsy_scheme_size(&spec));
        hsy_scheme_info of;

        if (hsy_scheme_init(s, &spec, NULL) == HSY_OK) {
            hsy_scheme_describe(s, &of);
            ok(fabs(4 * study_mean_law(&of, 0.5) / means[i].want - 1) < 1e-4,
               "%s at %g has variance %g", means[i].mechanism, means[i].epsilon,
               means[i].want);
        }
        free(s);
    }
    info.param[HSY_PARAM_OUTPUTS] = 3;
    info.param[HSY_PARAM_WINDOW] = 1;
    ok(fabs(theory_worst(&info) - 0.999918372682103491) < 1e-6,
       "a window of 1 in 3 at 2, at its worst truth");
    info.param[HSY_PARAM_OUTPUTS] = 12;
    info.param[HSY_PARAM_WINDOW] = 3;
    info.epsilon_exact = 4;
    ok(fabs(theory_worst(&info) - 0.159208177681685837) < 1e-6,
       "a window of 3 in 12 at 4, at its worst truth");
    info.param[HSY_PARAM_WINDOW] = 1;
    info.param[HSY_PARAM_OUTPUTS] = 2;
    info.epsilon_exact = 1;
    ok(fabs(4 * study_mean_law(&info, 0.5) - 4.68269437683116928) < 1e-9,
       "a window of 1 in 2 is one bit");
    ok(fabs(hsy_best_known_variance(1024, 1) - 3.67355235712264384) < 0.01 &&
           fabs(hsy_best_known_variance(2, 1) - 0.920673594207792319) < 1e-9,
       "subset selection is what others are held against");
}

/* ---- Studies ------------------------------------------------------------- */

static struct study a_study(const struct study_people *people,
                            const hsy_spec *spec)
{
    return (struct study){.people = people,
                          .spec = *spec,
                          .users = 40000,
                          .runs = 3,
                          .seed = 7,
                          .top = 3,
                          .threads = 1,
                          .keep = true};
}

/* The same numbers, to the last bit, whatever the threads. */
static void threads(const char *mechanism)
{
    const hsy_spec spec = values(mechanism, 16, 1);
    struct study_people people = {0};
    struct study_result want = {0}, got = {0};
    bool good = opened(&people, "zipf:1.2", &spec);
    struct study study = a_study(&people, &spec);

    good = good && study_run(&want, &study, NULL) == HSY_OK;
    for (unsigned n = 2; good && n <= 5; n++) {
        study.threads = n;
        good = study_run(&got, &study, NULL) == HSY_OK &&
               memcmp(got.each, want.each,
                      3 * STUDY_METRICS * sizeof *got.each) == 0 &&
               memcmp(got.mean, want.mean, sizeof got.mean) == 0 &&
               memcmp(got.truths, want.truths, 16 * sizeof *got.truths) == 0;
        study_close(&got);
    }
    ok(good, "%s: 1 to 5 threads, the same numbers", mechanism);
    study.seed = 8;
    ok(study_run(&got, &study, NULL) == HSY_OK &&
           got.mean[STUDY_MSE] != want.mean[STUDY_MSE],
       "another seed, other numbers");
    study_close(&got);
    study_close(&want);
    study_people_close(&people);
}

static void runs_differ(void)
{
    const hsy_spec spec = values("olh", 8, 1);
    struct study_people people = {0};
    struct study_result r = {0};
    bool good = opened(&people, "uniform", &spec);
    struct study study = a_study(&people, &spec);

    study.runs = 4;
    good = good && study_run(&r, &study, NULL) == HSY_OK;
    for (size_t i = 0; good && i < 3; i++)
        good = r.each[i * STUDY_METRICS] != r.each[(i + 1) * STUDY_METRICS];
    ok(good && !r.at_once && r.users == 40000, "runs are not the same run");
    study_close(&r);
    study_people_close(&people);
}

/* ---- Models -------------------------------------------------------------- */

static void model_names(void)
{
    static const char *const good[] = {"local", "shuffled", "central",
                                       "multiparty:1", "multiparty:1000000"};
    static const char *const bad[] = {"",
                                      "Local",
                                      "local:1",
                                      "central:",
                                      "multiparty",
                                      "multiparty:",
                                      "multiparty:0",
                                      "multiparty:-1",
                                      "multiparty:+1",
                                      "multiparty: 1",
                                      "multiparty:1.5",
                                      "multiparty:1000001",
                                      "multiparty:99999999999999999999",
                                      "many:3"};
    enum study_model model;
    uint64_t curators;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char name[STUDY_MODEL_NAME] = "";

        if (study_model_parse(&model, &curators, good[i], NULL) == HSY_OK)
            study_model_name(name, model, curators);
        ok(strcmp(name, good[i]) == 0, "%s is a model", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hsy_error err = {0};

        ok(study_model_parse(&model, &curators, bad[i], &err) != HSY_OK &&
               err.msg != NULL,
           "'%s' is none", bad[i]);
    }
}

/* Everybody is counted once, whatever the curators; at epsilon 32 a count has
 * noise with the chance 1e-6. */
static void curators_share(const hsy_spec *asked, const uint64_t *codes)
{
    static const uint64_t counts[4] = {5, 0, 9, 1}, ends[4] = {5, 5, 14, 15};
    const struct study_truths truths = {codes, counts, ends, 4, 15};
    const hsy_spec spec = study_model_spec(STUDY_CENTRAL, asked);
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    int64_t memory[64], own[64];
    double sum = 0;
    bool good = hsy_scheme_init(s, &spec, NULL) == HSY_OK;

    for (size_t i = 0; i < 4; i++)
        sum += (double)(counts[i] * codes[i]);
    for (uint64_t n = 1; good && n <= 15; n++) {
        const struct study_curators all = {n, 5, 0};
        hsy_tally t;

        hsy_tally_init(&t, s, memory);
        good = study_release(&t, own, s, &truths, &all, NULL) == HSY_OK &&
               t.strata[0] == n && t.cells[0] == 15;
        for (size_t v = 0; good && t.ncells > 2 && v < 4; v++)
            good = t.cells[1 + v] == (int64_t)counts[v];
        good = good && (t.ncells > 2 || fabs((double)t.cells[1] - sum) < 30);
    }
    ok(good, "1 to 15 curators count everybody of kind %s once",
       hsy_kind_name(spec.kind));
    free(s);
}

/* The runs of a model, to be freed; NULL if it failed. */
static double *model_runs(const struct study_people *people,
                          const hsy_spec *spec, enum study_model model,
                          uint64_t curators, hsy_scheme_info *info)
{
    struct study study = a_study(people, spec);
    struct study_result r = {0};
    double *each;

    study.model = model;
    study.curators = curators;
    study.top = spec->d < 3 ? spec->d : 3;
    (void)study_run(&r, &study, NULL);
    each = r.each;
    r.each = NULL;
    *info = r.info;
    study_close(&r);
    return each;
}

/* One of several curators is the curator: the same numbers, not only one law.
 * K of them predict K times the squared error. */
static void one_curator_is_central(const hsy_spec *spec)
{
    struct study_people people = {0};
    hsy_scheme_info info;
    bool good = opened(&people, "zipf:1.2", spec);
    double *one, *central, *nine;

    one = model_runs(&people, spec, STUDY_MULTIPARTY, 1, &info);
    central = model_runs(&people, spec, STUDY_CENTRAL, 0, &info);
    nine = model_runs(&people, spec, STUDY_MULTIPARTY, 9, &info);
    good = good && one != NULL && central != NULL && nine != NULL;
    ok(good && info.central &&
           memcmp(one, central, 3 * STUDY_METRICS * sizeof *one) == 0,
       "one of several is central, to the last bit");
    ok(good && fabs(nine[STUDY_PREDICTED] / one[STUDY_PREDICTED] - 9) < 1e-9 &&
           nine[STUDY_MSE] != one[STUDY_MSE],
       "nine predict nine times the squared error");
    free(one);
    free(central);
    free(nine);
    study_people_close(&people);
}

#define BATCH(n, delta)                                                        \
    &(const hsy_batch)                                                         \
    {                                                                          \
        n, {1, 1}, delta                                                       \
    }

/* Theory 9.4: what 10^4 reports of epsilon0 = 2 promise at delta 1e-6. A
 * bound that is tighter for the scheme's own parameters may say more. */
static void shuffled(void)
{
    static const struct {
        const char *mechanism, *bound;
        uint32_t d;
        double epsilon;
    } rows[] = {{"oue", "clones", 8, 0.1550452425},
                {"rr", "binary", 2, 0.1143996153},
                {"auto", "binary", 2, 0.1143996153},
                {"grr", "blanket", 4, 0.101963975},
                {"grr", "blanket", 16, 0.067490288}};
    const char *bound = NULL;
    hsy_error err = {0};
    hsy_spec spec;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool good;

        spec = values(rows[i].mechanism, rows[i].d, rows[i].epsilon);
        good = study_shuffle(&spec, &bound, BATCH(10000, 1e-6), NULL) == HSY_OK;
        ok(good && fabs((double)spec.nano_epsilon / 1e9 - 2) < 1e-6 &&
               strcmp(bound, rows[i].bound) == 0,
           "%s: epsilon %.4g of 10^4 shuffled reports lets each have %.9g",
           rows[i].mechanism, rows[i].epsilon, (double)spec.nano_epsilon / 1e9);
    }
    spec = values("grr", 4, 1);
    ok(study_shuffle(&spec, &bound, BATCH(1, 1e-6), NULL) == HSY_OK &&
           spec.nano_epsilon >= NANO(1) && spec.nano_epsilon < NANO(1.001),
       "one report alone hides behind none");
    spec = values("grr", 4, 30);
    ok(study_shuffle(&spec, &bound, BATCH(1000000, 1e-6), NULL) == HSY_OK &&
           spec.nano_epsilon <= HSY_EPSILON_MAX,
       "and none has more than there is");
    ok(study_shuffle(&spec, &bound, BATCH(HSY_SHUFFLE_PEOPLE_MAX + 1, 1e-6),
                     &err) == HSY_E_RANGE &&
           err.field == HOST_FIELD_USERS,
       "more people than are accounted for are refused");
    ok(study_delta(10) == 1e-6 && fabs(study_delta(1000000) - 1e-9) < 1e-22,
       "delta falls faster than people grow");
}

/* Every scheme that is made promises what was asked for, and a little more
 * would not. */
static void shuffled_schemes(void)
{
    static const char *const names[] = {"grr", "ss", "sue", "oue", "olh",
                                        "blh", "hr", "pgr", "hpg", "cms"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        hsy_spec spec = values(names[i], 10, 0.5);
        const char *bound = "";
        hsy_shuffle by;
        double delta = 1, more = 0;
        hsy_scheme *s = malloc(hsy_scheme_size(&spec));
        bool good =
            study_shuffle(&spec, &bound, BATCH(500, 1e-7), NULL) == HSY_OK &&
            hsy_scheme_init(s, &spec, NULL) == HSY_OK &&
            hsy_shuffle_scheme(&by, s, 500, NULL) == HSY_OK &&
            hsy_shuffle_delta(&by, &delta, 0.5, NULL) == HSY_OK;

        by.epsilon_report *= 1.01;
        good = good && hsy_shuffle_delta(&by, &more, 0.5, NULL) == HSY_OK;
        ok(good && delta <= 1e-7 && more > 1e-7,
           "%s at %.4f by %s: delta %.3g, and %.3g with one per cent more",
           names[i], (double)spec.nano_epsilon / 1e9, bound, delta, more);
        free(s);
    }
}

static void models(void)
{
    static const uint64_t codes[4] = {0, 1, 2, 3}, bits[4] = {0, 0, 1, 1};
    hsy_spec two = values("rr", 2, 1), list = values("grr", 16, 1);
    hsy_spec mean = number("onebit", 100, 1), spec;

    model_names();
    shuffled();
    shuffled_schemes();
    spec = values("grr", 4, 32);
    curators_share(&spec, codes);
    spec = values("rr", 2, 32);
    curators_share(&spec, bits);
    spec = number("onebit", 100, 32);
    curators_share(&spec, codes);
    one_curator_is_central(&two);
    one_curator_is_central(&list);
    one_curator_is_central(&mean);
    spec = study_model_spec(STUDY_CENTRAL, &two);
    ok(spec.kind == HSY_KIND_YES_NO && spec.nano_epsilon == NANO(1),
       "of two values one count is released");
}

static void refusals(void)
{
    hsy_spec spec = values("oue", 1u << 20, 1);
    struct study_people people = {0};
    struct study_result r = {0};
    hsy_error err = {0};
    struct study study;
    bool good = opened(&people, "uniform", &spec);

    study = a_study(&people, &spec);
    study.threads = STUDY_THREADS_MAX;
    study.runs = STUDY_THREADS_MAX;
    ok(good && study_run(&r, &study, &err) == HSY_E_RANGE &&
           err.field == HOST_FIELD_DOMAIN && err.limit == STUDY_MEMORY_MAX &&
           strstr(err.msg, "threads") != NULL,
       "more memory than allowed is refused, with what helps");
    study_close(&r);
    study_people_close(&people);
    spec = values("ss", 8, 1);
    good = opened(&people, "uniform", &spec);
    study = a_study(&people, &spec);
    study.users = STUDY_EACH_MAX + 1;
    ok(good && study_run(&r, &study, &err) == HSY_E_RANGE &&
           err.field == HOST_FIELD_USERS,
       "too many to be simulated one by one are refused");
    study_close(&r);
    study.users = 5;
    study.model = STUDY_MULTIPARTY;
    study.curators = 6;
    ok(study_run(&r, &study, &err) == HSY_E_RANGE &&
           err.field == HOST_FIELD_MODEL,
       "so is a curator without people");
    study_close(&r);
    study.model = STUDY_LOCAL;
    study.spec.mechanism = "rr";
    ok(study_run(&r, &study, &err) == HSY_E_RANGE, "so is a scheme");
    study_close(&r);
    study_people_close(&people);
}

int main(void)
{
    parsing();
    distributions();
    populations();
    laws_at_once();
    chunks();
    theory();
    threads("grr");
    threads("ss");
    threads("olh");
    threads("auto");
    runs_differ();
    models();
    refusals();
    return tap_done();
}
