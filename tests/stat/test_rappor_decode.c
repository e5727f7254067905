/*
 * test_rappor_decode.c - what RAPPOR's decoder promises, on fresh populations:
 * false detections at most as announced, intervals that cover.
 *
 * HSY_TEST_LONG=1 draws 200 decodes a scenario and 2,000 intervals.
 */
#include "rig/rappor_people.h"
#include "rig/stat.h"

/* An all-bogus list, unlisted strings, collisions, few bits. */
static const struct people_shape scenarios[] = {
    {"as RAPPOR's demo", 32, 64, 1, 1e6, 90, 100, 10, 1.0, 0},
    {"every candidate bogus", 32, 64, 1, 1e6, 0, 190, 100, 1.0, 0},
    {"every candidate bogus, few strings", 32, 64, 1, 1e6, 0, 190, 20, 1.0, 0},
    {"two hashes, few reports", 16, 64, 2, 2e5, 40, 60, 20, 1.0, 0},
    {"all listed", 128, 32, 2, 1e6, 30, 170, 0, 1.5, 0},
    {"eight bits, half unlisted", 8, 128, 2, 1e6, 20, 80, 30, 0.5, 0},
};

#define SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#define ALPHA 0.1

static bool long_run(void)
{
    return getenv("HSY_TEST_LONG") != NULL;
}

/* False share (fdr) or whether there was a false one (bonferroni). */
static double false_share(const struct people *p, bool any)
{
    double wrong = 0, all = 0;

    for (size_t j = 0; j < p->data.candidates; j++) {
        all += p->shares[j].detected;
        wrong += p->shares[j].detected && p->share[j] == 0;
    }
    return any ? wrong > 0 : all > 0 ? wrong / all : 0;
}

/*
 * Hoeffding: the mean of R independent shares in [0, 1], each with expectation
 * at most ALPHA, reaches a > ALPHA with probability at most exp(-R K), where
 * K = a ln(a / ALPHA) + (1 - a) ln((1 - a) / (1 - ALPHA)) [Hoeffding63, (2.1)].
 */
static bool plausible(double a, double runs)
{
    double k = a * log(a / ALPHA);

    if (a <= ALPHA)
        return true;
    k += a < 1 ? (1 - a) * log((1 - a) / (1 - ALPHA)) : 0;
    return exp(-runs * k) > 1e-6;
}

static void holds(const struct people_shape *shape, uint32_t method,
                  uint32_t correction, uint64_t lane)
{
    const uint64_t runs = long_run() ? 200 : 20;
    const hsy_rappor_options how = {.size = sizeof how,
                                    .method = method,
                                    .correction = correction,
                                    .alpha = ALPHA,
                                    .sweeps = long_run() ? 0 : 400};
    struct people p;
    double sum = 0, found = 0;

    people_open(&p, shape, 0.5);
    for (uint64_t i = 0; i < runs; i++) {
        hsy_error err = {0};

        people_draw(&p, stat_seed(), lane + i);
        if (people_decode(&p, &how, &err) != HSY_OK) {
            ok(false, "%s decodes: %s", shape->name, err.msg);
            break;
        }
        sum += false_share(&p, correction == HSY_RAPPOR_BONFERRONI);
        found += (double)p.summary.detected;
    }
    ok(plausible(sum / (double)runs, (double)runs),
       "%s, %s, %s: false %.4f (at most %.2g), %.1f detected", shape->name,
       method == HSY_RAPPOR_SAMPLER ? "sampler" : "nnls",
       correction == HSY_RAPPOR_FDR ? "fdr" : "bonferroni", sum / (double)runs,
       ALPHA, found / (double)runs);
    if (shape->real > 0)
        ok(found / (double)runs >= (double)shape->real / 8,
           "%s: an eighth of the true strings are found", shape->name);
    people_close(&p);
}

/* One candidate a run, so that runs are independent coins. */
static void covers(const struct people_shape *shape, hsy_target target,
                   size_t which, uint64_t lane)
{
    const uint64_t runs = long_run() ? 2000 : 200;
    const hsy_rappor_options how = {
        .size = sizeof how, .method = HSY_RAPPOR_NNLS, .target = target};
    const double z = -hsy_normal_quantile(0.025);
    struct people p;
    uint64_t inside = 0, narrow = 0;

    people_open(&p, shape, 0.5);
    for (uint64_t i = 0; i < runs; i++) {
        double truth;

        people_draw(&p, stat_seed(), lane + i);
        if (people_decode(&p, &how, NULL) != HSY_OK)
            break;
        truth = target == HSY_PEOPLE ? p.held[which] : p.share[which];
        /* Detected, its interval is wider: test_rappor_found.c. */
        inside += fabs(truth - p.shares[which].unbiased) <=
                  z * p.shares[which].est.sd;
        narrow += fabs(truth - p.shares[which].unbiased) <=
                  p.shares[which].est.sd / 2;
    }
    ok(stat_binomial(inside, runs, 0.95) > 1e-6,
       "%s: standard errors cover string %zu for %s: %.4f", shape->name, which,
       target == HSY_PEOPLE ? "people" : "a population",
       (double)inside / (double)runs);
    ok(stat_binomial(narrow, runs, 0.95) < 1e-6,
       "control: intervals a quarter as wide do not");
    people_close(&p);
}

int main(void)
{
    uint64_t lane = 1000;

    ok(!plausible(0.6, 20) && !plausible(0.25, 200),
       "control: a false share of 60 %%, or of 25 %% over a long run, would be "
       "noticed");

    for (size_t i = 0; i < SCENARIOS; i++) {
        for (uint32_t way = 0; way < 4; way++, lane += 10000)
            holds(&scenarios[i], way / 2, way % 2, lane);
    }
    for (size_t i = 0; i < SCENARIOS; i++) {
        covers(&scenarios[i], HSY_PEOPLE, 0, lane += 10000);
        covers(&scenarios[i], HSY_POPULATION,
               scenarios[i].real + scenarios[i].bogus - 1, lane += 10000);
    }
    covers(&scenarios[3], HSY_POPULATION, 0, lane += 10000);
    return tap_done();
}
