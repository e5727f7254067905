/*
 * test_wobble.c - Microsoft's mean: numbers that wobble, answered from memory.
 *
 * Everybody's number moves every day inside one step of the grain. A device
 * rounds it by its alpha, keeps one bit for each point and sends the point's
 * bit, flipped with probability gamma. Over alpha and coins a report is 1 with
 * the probability of a single onebit report, so every day
 *
 *   - the ones of n people are a sum of n independent coins around that mean:
 *     Bernstein at 1e-12;
 *   - n times the squared error of the mean over the one-bit protocol's
 *     variance is 1: the mean of M such squares has the standard error
 *     sqrt(2 / M), and must lie within 5 of them (6e-7, by the central limit
 *     theorem).
 *
 * That the mean over alpha is x for every x, exactly:
 * tests/unit/lib/scheme/test_permanent.c.
 */
#include "rig/stat.h"

#define WOBBLE_DAYS 12u
#define WOBBLE_PEOPLE 8000u
#define WOBBLE_FEW 100u   /* people of a run */
#define WOBBLE_RUNS 2000u /* for the squared error; ten times in a long run */
#define WOBBLE_POINTS 64u

/* ---- People and their devices -------------------------------------------- */

struct wobble {
    hsy_scheme *permanent, *report;
    hsy_permanent c;
    hsy_permanent_info info;
    double p, q; /* of one report */
    uint64_t lane;
};

static void wobble_open(struct wobble *w, uint64_t grain, hsy_ratio gamma,
                        uint64_t lane)
{
    hsy_spec permanent = trial_number(STAT_RANGE, 1), report = permanent;
    hsy_scheme_info info;

    if (hsy_permanent_gamma(&report.nano_epsilon, permanent.nano_epsilon,
                            gamma) != HSY_OK)
        abort();
    w->permanent = trial_scheme(&permanent);
    w->report = trial_scheme(&report);
    if (hsy_permanent_init(&w->c, w->permanent, w->report, grain, NULL) !=
        HSY_OK)
        abort();
    hsy_permanent_describe(&w->c, &w->info);
    hsy_scheme_describe(w->report, &info);
    w->p = info.p;
    w->q = info.q;
    w->lane = lane;
}

static void wobble_close(struct wobble *w)
{
    free(w->permanent);
    free(w->report);
}

/* A person's number on a day, in the step where it always is. */
static uint64_t wobble_number(const struct wobble *w, uint64_t person,
                              uint64_t day)
{
    const uint64_t s = w->c.grain, steps = STAT_RANGE / s;

    return person * 7 % steps * s + (person * 31 + day * (person % 19 + 1)) % s;
}

/* The coins of a device for one purpose: 0 what it has for good, 1 and up the
 * permanent answer of a key, and above those the report of a day. */
static hsy_coins wobble_coins(struct stat_coins *c, const struct wobble *w,
                              uint64_t device, uint64_t purpose)
{
    stat_coins_open(c, (w->lane << 48) + (device << 16) + purpose);
    return (hsy_coins){hsy_stream_rng(&c->secret),
                       hsy_stream_rng(&c->published)};
}

/* The bit that a device sends; the point it was made from is marked. */
static bool wobble_send(const struct wobble *w, uint8_t *bit, uint64_t *points,
                        uint64_t device, uint64_t x, uint64_t day)
{
    struct stat_coins c;
    hsy_coins coins = wobble_coins(&c, w, device, 0);
    uint8_t answer;
    uint64_t key;

    if (hsy_permanent_key(&w->c, &key, x, &coins) != HSY_OK)
        return false;
    *points |= (uint64_t)1 << key % WOBBLE_POINTS;
    coins = wobble_coins(&c, w, device, 1 + key);
    if (hsy_permanent_answer(&w->c, &answer, key, &coins) != HSY_OK)
        return false;
    coins = wobble_coins(&c, w, device, 2 + STAT_RANGE + day);
    return hsy_permanent_report(&w->c, bit, &answer, &coins.secret) == HSY_OK;
}

/* ---- Every day's count --------------------------------------------------- */

struct wobble_day {
    double ones, mean, variance; /* counted; of the count */
};

static bool wobble_ask(const struct wobble *w, struct wobble_day *out,
                       uint64_t *points, uint64_t day)
{
    bool answered = true;

    *out = (struct wobble_day){0, 0, 0};
    for (uint64_t i = 0; i < WOBBLE_PEOPLE; i++) {
        uint64_t x = wobble_number(w, i, day);
        double chance = w->q + (w->p - w->q) * (double)x / STAT_RANGE;
        uint8_t bit = 0;

        answered &= wobble_send(w, &bit, &points[i], i, x, day);
        out->ones += bit;
        out->mean += chance;
        out->variance += chance * (1 - chance);
    }
    return answered;
}

static bool wobble_near(const struct wobble_day *d, double shift)
{
    return fabs(d->ones - d->mean - shift) <=
           stat_bernstein(d->variance, STAT_ALPHA);
}

static void wobble_days(const struct wobble *w, const char *name)
{
    static uint64_t points[WOBBLE_PEOPLE];
    const double moved = 0.2 * (w->p - w->q) * WOBBLE_PEOPLE;
    bool answered = true, near = true, noticed = true;
    int used = 0;

    memset(points, 0, sizeof points);
    for (uint64_t day = 0; day < WOBBLE_DAYS; day++) {
        struct wobble_day d;

        answered &= wobble_ask(w, &d, points, day);
        near &= wobble_near(&d, 0);
        noticed &= !wobble_near(&d, moved);
    }
    for (size_t i = 0; i < WOBBLE_PEOPLE; i++) {
        int kept = __builtin_popcountll(points[i]);

        used = kept > used ? kept : used;
    }
    printf("# %s: %llu memo states, lifetime bound epsilon %g; inside a step "
           "at most %d used, %g; one report %g\n",
           name, (unsigned long long)w->info.keys, w->info.epsilon_all_values,
           used, used * w->info.epsilon_permanent, w->info.epsilon_report);
    ok(answered && near, "%s: the mean of every day is where it should be",
       name);
    ok(noticed, "%s, control: a mean off by a fifth would be noticed", name);
    ok(used <= 2, "%s: nobody uses more than two answers", name);
}

/* ---- The squared error --------------------------------------------------- */

/* One estimate of a few devices, new ones in each run, on a late day: its
 * squared error over the variance of the one-bit protocol. */
static double wobble_square(const struct wobble *w, uint64_t run)
{
    double ones = 0, sum = 0, variance = 0, error;
    uint64_t points = 0;

    for (uint64_t i = 0; i < WOBBLE_FEW; i++) {
        uint64_t x = wobble_number(w, i, 5);
        double chance = w->q + (w->p - w->q) * (double)x / STAT_RANGE;
        uint8_t bit = 0;

        if (!wobble_send(w, &bit, &points, (run + 1) * WOBBLE_PEOPLE + i, x, 5))
            return NAN;
        ones += bit;
        sum += chance;
        variance += chance * (1 - chance);
    }
    error = ones - sum;
    return error * error / variance;
}

static void wobble_error(const struct wobble *w, const char *name)
{
    const uint64_t runs = (stat_long() ? 10 : 1) * WOBBLE_RUNS;
    const double room = 5 * sqrt(2 / (double)runs);
    double sum = 0, ratio;

    for (uint64_t run = 0; run < runs; run++)
        sum += wobble_square(w, run);
    ratio = sum / (double)runs;
    ok(fabs(ratio - 1) <= room,
       "%s: the error squared is %.3f of the one-bit protocol's", name, ratio);
}

int main(void)
{
    static const uint64_t grains[] = {50, 250, 1000};
    static const hsy_ratio gammas[] = {{0, 1}, {1, 5}};

    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 2; j++) {
            struct wobble w;
            char name[80];

            wobble_open(&w, grains[i], gammas[j], 700 + 2 * i + j);
            snprintf(name, sizeof name, "grain %u of %u, gamma %g",
                     (unsigned)grains[i], STAT_RANGE,
                     (double)gammas[j].num / (double)gammas[j].den);
            wobble_days(&w, name);
            wobble_error(&w, name);
            wobble_close(&w);
        }
    return tap_done();
}
