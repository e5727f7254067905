/*
 * test_worth.c - what a batch is worth: the numbers of the design, which bound
 * counts, seeds that are kept, and batches from permanent answers against
 * enumeration over all data of few people.
 */
#include "rig/trial.h"

#define NINE_TENTHS                                                            \
    (hsy_ratio)                                                                \
    {                                                                          \
        9, 10                                                                  \
    }
#define ALL                                                                    \
    (hsy_ratio)                                                                \
    {                                                                          \
        1, 1                                                                   \
    }

static unsigned held; /* batches of which hsy_worth_holds says the same */
static unsigned asked;

static hsy_worth worth(const hsy_scheme *s, const hsy_permanent *kept,
                       uint64_t reports, hsy_ratio honest, double delta)
{
    const hsy_batch b = {reports, honest, delta};
    bool above = false, below = true;
    hsy_worth w = {0};
    hsy_error err = {0};

    if (hsy_worth_of(&w, s, kept, &b, &err) != HSY_OK ||
        hsy_worth_holds(&above, s, kept, &b, w.epsilon + 1e-6, &err) !=
            HSY_OK ||
        hsy_worth_holds(&below, s, kept, &b, w.epsilon - 1e-6, &err) !=
            HSY_OK) {
        printf("Bail out! %s\n", err.msg);
        exit(1);
    }
    asked++;
    held += above && !below;
    return w;
}

/* ---- One batch ----------------------------------------------------------- */

/* ss, 64 values, a report of 6.777, delta 1e-8. */
static void published(void)
{
    static const struct {
        uint64_t n;
        double epsilon;
    } rows[] = {{50000, 1.00},
                {45000, 1.07},
                {40000, 1.15},
                {25000, 1.62},
                {5000, 3.83}};
    const hsy_spec spec = trial_values("ss", 64, 6.777);
    hsy_scheme *s = trial_scheme(&spec);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const hsy_worth w = worth(s, NULL, rows[i].n, ALL, 1e-8);

        ok(fabs(w.epsilon - rows[i].epsilon) < 0.0051 && w.n == rows[i].n &&
               w.among == w.n && w.by == HSY_SHUFFLE_TWO_LEVEL &&
               w.again == w.epsilon && isinf(w.most),
           "%u honest reports of 6.777 are worth %.3f", (unsigned)w.n,
           w.epsilon);
    }
    free(s);
}

static void honest(void)
{
    const hsy_spec spec = trial_values("grr", 64, 4);
    hsy_scheme *s = trial_scheme(&spec);
    const hsy_worth w = worth(s, NULL, 55556, NINE_TENTHS, 1e-8);
    const hsy_worth same = worth(s, NULL, 50000, ALL, 1e-8);
    const hsy_worth one = worth(s, NULL, 1, NINE_TENTHS, 1e-8);
    const hsy_worth none = worth(s, NULL, 0, NINE_TENTHS, 1e-8);

    is_u64(w.n, 50000, "0.9 of 55556 reports, rounded down");
    ok(w.epsilon == same.epsilon, "are worth what 50000 are");
    ok(one.n == 0 && one.epsilon > one.epsilon_report - 1e-7,
       "who is alone has a report's epsilon: %.9g", one.epsilon);
    ok(none.n == 0 && none.epsilon == one.epsilon,
       "and so would one in a batch of nulls");
    free(s);
}

static void bounds(void)
{
    static const struct {
        const char *mechanism;
        uint32_t d;
        uint64_t n;
        const char *name;
    } rows[] = {{"rr", 2, 1000, "exact"},    {"rr", 2, 1001, "blanket"},
                {"grr", 9, 1000, "blanket"}, {"hr", 9, 1000, "blanket"},
                {"oue", 9, 1000, "clones"},  {"olh", 9, 1000, "blanket"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const hsy_spec spec = trial_values(rows[i].mechanism, rows[i].d, 1);
        hsy_scheme *s = trial_scheme(&spec);
        const hsy_worth w = worth(s, NULL, rows[i].n, ALL, 1e-6);

        is_text(hsy_shuffle_bound_name(w.by), rows[i].name, "%s, %u people",
                rows[i].mechanism, (unsigned)rows[i].n);
        free(s);
    }
}

static void refused(void)
{
    const hsy_spec spec = trial_values("grr", 9, 1);
    const hsy_batch wrong[] = {{1000, {0, 1}, 1e-6},
                               {1000, {2, 1}, 1e-6},
                               {1000, ALL, 0},
                               {1000, ALL, 1},
                               {HSY_SHUFFLE_PEOPLE_MAX + 1, ALL, 1e-6}};
    static const uint32_t fields[] = {HSY_FIELD_SHARE, HSY_FIELD_SHARE,
                                      HSY_FIELD_DELTA, HSY_FIELD_DELTA,
                                      HSY_FIELD_N};
    hsy_scheme *s = trial_scheme(&spec);

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        hsy_error err = {0};
        hsy_worth w;

        is_status(hsy_worth_of(&w, s, NULL, &wrong[i], &err), HSY_E_RANGE,
                  "batch %zu is refused", i);
        is_u64(err.field, fields[i], "... with the field");
    }
    free(s);
}

/* ---- Several batches ----------------------------------------------------- */

static void fresh(void)
{
    const hsy_spec spec = trial_values("grr", 64, 3);
    hsy_scheme *s = trial_scheme(&spec);
    const hsy_worth w = worth(s, NULL, 50000, ALL, 1e-9);
    double epsilon = NAN, delta = NAN;
    hsy_error err = {0};

    hsy_worth_batches(&w, &epsilon, &delta, 0, &err);
    ok(epsilon == 0 && delta == 0, "no batch tells nothing");
    hsy_worth_batches(&w, &epsilon, &delta, 1, &err);
    ok(epsilon == w.epsilon && delta == w.delta, "one tells what it does");
    hsy_worth_batches(&w, &epsilon, &delta, 2, &err);
    ok(epsilon <= 2 * w.epsilon && delta <= 3 * w.delta,
       "two at most twice as much: %g", epsilon / w.epsilon);
    hsy_worth_batches(&w, &epsilon, &delta, 365, &err);
    ok(epsilon < 200 * w.epsilon && fabs(delta - 366e-9) < 1e-18,
       "365 compose to %.4g times one, with one delta more",
       epsilon / w.epsilon);
    is_status(hsy_worth_batches(&w, &epsilon, &delta,
                                (uint64_t)HSY_COMPOSE_MAX + 1, &err),
              HSY_E_RANGE, "more batches than can be counted");
    free(s);
}

struct pair {
    hsy_scheme *permanent, *report;
    hsy_permanent both;
};

static struct pair pair_of(hsy_spec spec, double report)
{
    struct pair p = {.permanent = trial_scheme(&spec)};
    hsy_error err = {0};

    if (spec.nano_epsilon != 0)
        spec.nano_epsilon = (uint64_t)(report * 1e9 + 0.5);
    p.report = trial_scheme(&spec);
    if (hsy_permanent_init(&p.both, p.permanent, p.report, 0, &err) != HSY_OK) {
        printf("Bail out! %s\n", err.msg);
        exit(1);
    }
    return p;
}

static void pair_free(struct pair *p)
{
    free(p->permanent);
    free(p->report);
}

/* The second step of grr is grr at a larger epsilon; see longitudinal.c. */
static void second_step(void)
{
    struct pair p = pair_of(trial_values("grr", 16, 6), 2);
    const hsy_worth w = worth(p.report, &p.both, 100000, ALL, 1e-8);
    const hsy_worth alone = worth(p.report, NULL, 100000, ALL, 1e-8);
    hsy_permanent_info info;
    hsy_shuffle step = {HSY_SHUFFLE_TWO_LEVEL, 100000, 0, 1.0 / 16, 0};
    double want = NAN, epsilon = NAN, delta = NAN;
    hsy_error err = {0};

    hsy_permanent_describe(&p.both, &info);
    step.epsilon_report = log(info.p2 / info.q2);
    hsy_shuffle_epsilon(&step, &want, 1e-8, &err);
    near(w.again, want, 1e-9, "each batch is worth its second step");
    ok(w.epsilon == alone.epsilon && w.epsilon < w.again,
       "one alone is worth a report's both: %.4f, not %.4f", w.epsilon,
       w.again);
    ok(fabs(w.most - 6) < 1e-6, "and all of them at most the answer's 6");
    hsy_worth_batches(&w, &epsilon, &delta, 3, &err);
    ok(epsilon <= 3 * w.again && epsilon > w.again && delta > 0,
       "three batches add up: %.4f", epsilon);
    hsy_worth_batches(&w, &epsilon, &delta, 1000000, &err);
    ok(epsilon == w.most && delta == 0, "a million: the answer's, no delta");
    pair_free(&p);
}

/* A million reports with 2^8 kept seeds: the person has about 3906 of his own
 * kind, of whom 600 fewer are sure. */
static void kept_seeds(void)
{
    hsy_spec spec = trial_values("olh", 64, 4);
    hsy_scheme *fresh;
    struct pair p;
    hsy_worth w, loose;

    spec.param[HSY_PARAM_G] = 8;
    spec.param[HSY_PARAM_POOL_BITS] = 8;
    p = pair_of(spec, 2);
    w = worth(p.report, &p.both, 1000000, ALL, 1e-8);
    spec.nano_epsilon = 2000000000;
    fresh = trial_scheme(&spec);
    loose = worth(fresh, NULL, 1000000, ALL, 1e-8);
    free(fresh);
    ok(w.among < 1000000 / 256 && w.among > 1000000 / 256 - 600,
       "%u of a million have the same seed for sure", (unsigned)w.among);
    ok(w.epsilon > 5 * loose.epsilon,
       "a kept seed costs: %.4f instead of %.4f with fresh ones", w.epsilon,
       loose.epsilon);
    w = worth(p.report, &p.both, 256, ALL, 1e-8);
    ok(w.among == 1 && w.epsilon > w.epsilon_report - 1e-7,
       "one person a seed is hidden by nobody");
    pair_free(&p);
}

static void rappor(void)
{
    hsy_spec spec = trial_values("rappor", 10, 0);
    struct pair p;
    hsy_worth w;

    spec.design = HSY_DESIGN_RAPPOR;
    spec.chance[0] = spec.chance[1] = (hsy_ratio){1, 2};
    spec.chance[2] = (hsy_ratio){3, 4};
    spec.param[HSY_PARAM_HASHES] = 2;
    spec.param[HSY_PARAM_COHORTS] = 64;
    p = pair_of(spec, 0);
    w = worth(p.report, &p.both, 1000000, ALL, 1e-8);
    ok(w.among < 1000000 / 64 && w.among > 1000000 / 64 - 1200,
       "rappor: %u in a cohort for sure", (unsigned)w.among);
    ok(w.epsilon < w.epsilon_report && w.again > w.most &&
           w.most > w.epsilon_report,
       "one report is hidden (%.4f), several have the answer's %.4f, not "
       "%.4f",
       w.epsilon, w.most, w.again);
    w = worth(p.report, NULL, 1000000, ALL, 1e-8);
    ok(isfinite(w.most) && w.among < 1000000 / 64,
       "without the pair its scheme says as much");
    pair_free(&p);
}

/* ---- Permanent answers of few people, enumerated ------------------------- */

#define PEOPLE 5
#define SEEN ((PEOPLE + 1) * (PEOPLE + 1))

/* The law of how many ones the reports of these people have, their permanent
 * answers being given. */
static void ones(double law[PEOPLE + 1], unsigned answers, double flip)
{
    memset(law, 0, (PEOPLE + 1) * sizeof *law);
    law[0] = 1;
    for (unsigned i = 0; i < PEOPLE; i++) {
        const double one = answers >> i & 1 ? 1 - flip : flip;

        for (unsigned k = i + 1; k > 0; k--)
            law[k] = law[k] * (1 - one) + law[k - 1] * one;
        law[0] *= 1 - one;
    }
}

/* Of two batches of the same people together. */
static void two_batches(double law[SEEN], unsigned truths, double wrong,
                        double flip)
{
    memset(law, 0, SEEN * sizeof *law);
    for (unsigned answers = 0; answers < 1u << PEOPLE; answers++) {
        double chance = 1, batch[PEOPLE + 1];

        for (unsigned i = 0; i < PEOPLE; i++)
            chance *= (answers ^ truths) >> i & 1 ? wrong : 1 - wrong;
        ones(batch, answers, flip);
        for (unsigned a = 0; a <= PEOPLE; a++)
            for (unsigned b = 0; b <= PEOPLE; b++)
                law[a * (PEOPLE + 1) + b] += chance * batch[a] * batch[b];
    }
}

/* The worst over everybody else's truths, either way round. */
static double enumerated(double epsilon, double wrong, double flip)
{
    double worst = 0;

    for (unsigned truths = 0; truths < 1u << PEOPLE; truths++) {
        double p[SEEN], q[SEEN], delta = 0;

        two_batches(p, truths, wrong, flip);
        two_batches(q, truths ^ 1, wrong, flip);
        for (unsigned i = 0; i < SEEN; i++)
            delta += fmax(0, p[i] - exp(epsilon) * q[i]);
        worst = fmax(worst, delta);
    }
    return worst;
}

static void small_batches(double permanent, double report, double delta)
{
    struct pair p = pair_of(trial_values("rr", 2, permanent), report);
    const hsy_worth w = worth(p.report, &p.both, PEOPLE, ALL, delta);
    hsy_permanent_info info;
    double epsilon = NAN, total = NAN, exact;
    hsy_error err = {0};

    hsy_permanent_describe(&p.both, &info);
    hsy_worth_batches(&w, &epsilon, &total, 2, &err);
    exact = enumerated(epsilon, info.q1, info.q2);
    ok(exact <= total + 1e-15 && epsilon <= w.most,
       "permanent %g, reports %g: two batches have %.4f with delta %.4g, at "
       "most %.4g",
       permanent, report, epsilon, exact, total);
    pair_free(&p);
}

/* Were the report's own epsilon amplified and added, as if both steps were
 * drawn anew, the account would be too small. */
static void control(void)
{
    const double delta = 0.02;
    struct pair p = pair_of(trial_values("rr", 2, 3), 0.3);
    const hsy_worth w = worth(p.report, NULL, PEOPLE, ALL, delta);
    const double wrong = 1 / (1 + exp(3)), flip = 0;

    ok(enumerated(2 * w.epsilon, wrong, flip) > 2 * delta,
       "control: kept answers without a second step are not worth two fresh "
       "reports of %.3f",
       w.epsilon);
    pair_free(&p);
}

int main(void)
{
    published();
    honest();
    bounds();
    refused();
    fresh();
    second_step();
    kept_seeds();
    rappor();
    small_batches(1, 0.5, 0.01);
    small_batches(2, 1, 0.05);
    small_batches(3, 0.5, 0.02);
    small_batches(6, 0.2, 0.01);
    control();
    ok(asked > 10 && held == asked,
       "of %u batches hsy_worth_holds proves the epsilon found, and not a "
       "smaller one",
       asked);
    return tap_done();
}
