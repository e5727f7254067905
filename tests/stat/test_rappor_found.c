/*
 * test_rappor_found.c - strings that RAPPOR's decoder detects: false ones as
 * seldom as --alpha says, intervals that hold although they were selected, and
 * what is not among them.
 *
 * HSY_TEST_LONG=1 has 20 draws of every kind of population.
 */
#include "rig/rappor_people.h"
#include "rig/stat.h"

static const struct people_shape found_kinds[] = {
    {"few strings, heavy tail", 32, 64, 1, 1e6, 20, 80, 5, 1.5, 0},
    {"a list ten times too long", 16, 32, 2, 6e4, 12, 108, 0, 1.0, 0},
    {"many strings, light tail", 32, 64, 1, 1e6, 120, 120, 20, 0.5, 0},
    {"two hashes, half unlisted", 16, 64, 2, 5e5, 30, 60, 30, 1.0, 0},
    {"ten times too long, many", 64, 32, 2, 1e6, 40, 400, 0, 1.0, 0},
    {"more candidates than bits", 16, 16, 2, 1e5, 20, 300, 0, 1.2, 0},
    {"one string has most", 32, 32, 2, 2e5, 30, 100, 10, 2.0, 0},
    {"exponential, one hash", 32, 64, 1, 1e6, 90, 100, 10, 0, 5},
    {"exponential, few people", 16, 64, 2, 7e4, 50, 10, 0, 0, 5},
    {"three in four nobody has", 32, 32, 2, 2e5, 60, 200, 10, 1.0, 0},
    {"exponential, many bits", 128, 128, 2, 1e6, 100, 100, 0, 0, 5},
    {"few found of a long list", 16, 32, 2, 1e5, 40, 400, 20, 1.2, 0},
    {"ten strings, nine times as many", 32, 64, 1, 1e5, 10, 90, 0, 1.0, 0},
    {"twenty alike", 32, 64, 2, 1e6, 20, 300, 0, 0, 0},
};

#define FOUND_KINDS (sizeof found_kinds / sizeof found_kinds[0])
#define FOUND_SHORT 2u /* kinds, */
#define FOUND_DRAWS 20u
#define FOUND_ALPHAS 3u

static const double found_alphas[FOUND_ALPHAS] = {0.05, 0.1, 0.2};

struct found_sums {
    double wrong;        /* false share */
    double wrong2;       /* its square */
    double right;        /* true strings */
    double missed;       /* share of the detected whose interval misses */
    double rest;         /* runs in which that of the rest does */
    double width, error; /* of the detected: in standard errors; squared */
    double detected, held;
};

static bool found_plausible(double a, double p, double runs)
{
    return stat_hoeffding(a, p, runs) > 1e-6;
}

static void found_add(struct found_sums *sums, const struct people *p,
                      hsy_target target)
{
    const double *truth = target == HSY_PEOPLE ? p->held : p->share;
    double detected = 0, wrong = 0, missed = 0, rest = 1;

    for (size_t j = 0; j < p->data.candidates; j++) {
        const hsy_rappor_share *s = &p->shares[j];
        const double off = (s->unbiased - truth[j]) / s->est.sd;

        if (!s->detected)
            continue;
        detected++;
        wrong += p->share[j] == 0;
        missed += truth[j] < s->est.low || truth[j] > s->est.high;
        rest -= truth[j];
        sums->width += (s->est.high - s->est.low) / s->est.sd / 2;
        sums->error += off * off;
    }
    sums->detected += detected;
    sums->held += detected - missed;
    sums->right += detected - wrong;
    sums->wrong += detected > 0 ? wrong / detected : 0;
    sums->wrong2 += detected > 0 ? wrong * wrong / detected / detected : 0;
    sums->missed += detected > 0 ? missed / detected : 0;
    sums->rest += rest < p->summary.rest.low || rest > p->summary.rest.high;
}

static void found_say(const struct people_shape *shape,
                      const struct found_sums *s, double alpha, double runs)
{
    const double wrong = s->wrong / runs;
    double limits[2];

    stat_limits(limits, (uint64_t)s->held, (uint64_t)s->detected);
    ok(found_plausible(wrong, alpha, runs),
       "%s, alpha %g: false %.4f (standard error %.4f), right %.2f",
       shape->name, alpha, wrong,
       sqrt(fmax(s->wrong2 / runs - wrong * wrong, 0) / (runs - 1)),
       s->right / runs);
    ok(found_plausible(s->missed / runs, 0.05, runs),
       "and %.4f of the intervals of the detected miss; %.3f [%.3f, %.3f] of "
       "%.0f hold; they reach %.2f standard errors, errors are %.2f of them",
       s->missed / runs, s->held / fmax(s->detected, 1), limits[0], limits[1],
       s->detected, s->width / fmax(s->detected, 1),
       sqrt(s->error / fmax(s->detected, 1)));
    ok(found_plausible(s->rest / runs, 0.05, runs),
       "the rest's misses in %.3f of runs", s->rest / runs);
}

/* Every report so many times, as devices that repeat a permanent answer with
 * no noise of its own send them. */
static void found_repeat(struct people *p, uint64_t times)
{
    for (size_t x = 0; x < (size_t)p->shape.m * p->shape.k; x++)
        p->ones[x] *= times;
    for (size_t c = 0; c < p->shape.m; c++)
        p->totals[c] *= times;
}

/* Returns how many more true strings the largest alpha finds. */
static double found_kind(const struct people_shape *shape, unsigned repeats,
                         uint64_t lane)
{
    struct found_sums sums[FOUND_ALPHAS] = {{0}};
    struct people p;

    people_open(&p, shape, 0.5);
    for (unsigned i = 0; i < FOUND_DRAWS; i++) {
        people_draw(&p, stat_seed(), lane + i);
        found_repeat(&p, repeats);
        for (size_t a = 0; a < FOUND_ALPHAS; a++) {
            const hsy_target target = (hsy_target)((i + a) % 2);
            const hsy_rappor_options how = {.size = sizeof how,
                                            .alpha = found_alphas[a],
                                            .target = target,
                                            .dispersion = repeats,
                                            .sweeps = stat_long() ? 0 : 400};

            if (people_decode(&p, &how, NULL) == HSY_OK)
                found_add(&sums[a], &p, target);
            else
                ok(false, "%s decodes", shape->name);
        }
    }
    for (size_t a = 0; a < FOUND_ALPHAS; a++)
        found_say(shape, &sums[a], found_alphas[a], FOUND_DRAWS);
    people_close(&p);
    return sums[FOUND_ALPHAS - 1].right - sums[0].right;
}

/* How many strings the mean of P(zero) alone would detect. */
static size_t found_by_mean(const struct people *p, double alpha)
{
    double sum = 0, last = -1;
    size_t r = 0;

    for (; r < p->data.candidates; r++) {
        double next = INFINITY;

        for (size_t j = 0; j < p->data.candidates; j++)
            if (p->shares[j].p_zero > last)
                next = fmin(next, p->shares[j].p_zero);
        sum += last = next;
        if (sum > alpha * (double)(r + 1))
            break;
    }
    return r;
}

/* Twenty strings of 5 % each are certain, so the mean of P(zero) has room for
 * noise. */
static void found_certain(void)
{
    const struct people_shape shape = {"alike", 32,  64, 2, 1e6,
                                       20,      300, 0,  0, 0};
    const hsy_rappor_options how = {
        .size = sizeof how, .alpha = 0.2, .sweeps = stat_long() ? 0 : 400};
    const unsigned draws = stat_long() ? FOUND_DRAWS : 3;
    size_t right = 0, wrong = 0, by_mean = 0;
    double most = 0;
    struct people p;

    people_open(&p, &shape, 0.5);
    for (unsigned i = 0; i < draws; i++) {
        people_draw(&p, stat_seed(), 990000 + i);
        if (people_decode(&p, &how, NULL) != HSY_OK)
            break;
        by_mean += found_by_mean(&p, how.alpha);
        for (size_t j = 0; j < p.data.candidates; j++) {
            if (!p.shares[j].detected)
                continue;
            right += p.share[j] > 0;
            wrong += p.share[j] == 0;
            most = fmax(most, p.shares[j].p_zero);
        }
    }
    ok(right == 20 * draws && wrong <= draws / 2 && most <= 0.5,
       "beside twenty certain strings noise does not fill alpha: %zu right and "
       "%zu false strings in %u draws, P(zero) at most %.2f",
       right, wrong, draws, most);
    ok(by_mean >= 23 * draws,
       "control: the mean of P(zero) alone would detect %zu", by_mean);
    people_close(&p);
}

/* One bit, by a formula without residuals: nothing but the option can know. */
static void found_dispersed(void)
{
    const struct people_shape shape = {"one bit", 1, 4, 1, 4000, 1, 0, 0, 1, 0};
    const hsy_rappor_options plain = {.size = sizeof plain};
    const hsy_rappor_options wide = {.size = sizeof wide, .dispersion = 9};
    hsy_rappor_share once, same, blind;
    struct people p;

    people_open(&p, &shape, 0.5);
    people_draw(&p, stat_seed(), 1);
    people_decode(&p, &plain, NULL);
    once = p.shares[0];
    found_repeat(&p, 9);
    people_decode(&p, &wide, NULL);
    same = p.shares[0];
    people_decode(&p, &plain, NULL);
    blind = p.shares[0];
    ok(fabs(once.est.low - same.est.low) < 1e-12 &&
           fabs(once.est.high - same.est.high) < 1e-12 &&
           fabs(once.p_zero - same.p_zero) < 1e-12,
       "reports nine times over, dispersion 9: the interval of them once");
    ok(fabs(blind.est.sd * 3 - once.est.sd) < 1e-3 * once.est.sd,
       "control: without it three times too narrow");
    people_close(&p);
}

int main(void)
{
    const size_t kinds = stat_long() ? FOUND_KINDS : FOUND_SHORT;
    double more = 0;

    ok(!found_plausible(0.5, 0.05, FOUND_DRAWS) &&
           !found_plausible(0.8, 0.2, FOUND_DRAWS),
       "control: 50 %% of intervals that miss, or 80 %% of false strings at "
       "alpha 0.2, would be noticed");
    for (size_t i = 0; i < kinds; i++)
        more += found_kind(&found_kinds[i], 1, 100000 * (i + 1));
    ok(more > 0, "a larger alpha finds more true strings: %g at %g than at %g",
       more, found_alphas[FOUND_ALPHAS - 1], found_alphas[0]);
    found_kind(&found_kinds[1], 5, 900000);
    found_certain();
    found_dispersed();
    return tap_done();
}
