/*
 * test_batches.c - prefix extending in batches, by its numbers.
 *
 * Means over runs are off by more than 4.5 standard errors with chance below
 * 7e-6 (the central limit theorem).
 *
 * The lecture's experiment: 1,000 people, numbers of 16 bits, top 9, grr, 2
 * bits a batch. Over epsilons from 1 to 8 Poisson(5) has a higher NDCG than
 * Uniform[0,14], and Poisson(100) than Uniform[0,100].
 */
#include "rig/stat.h"
#include "sim/discovery/discovery.h"

#include <math.h>

#define BATCHES_ERRORS 4.5

static struct discovery batches_how(const char *mechanism, double epsilon)
{
    struct discovery how = {
        .spec = trial_values(mechanism, 0, epsilon),
        .as_strings = true,
        .search = {.size = sizeof how.search,
                   .top = 9,
                   .keep = 2,
                   .max_candidates = HSY_SEARCH_CANDIDATES},
        .batches = {.asked = true, .bits = 16, .step = 2, .rounds = 1},
        .users = 1000,
        .runs = 25,
        .seed = stat_seed(),
        .threads = 2};

    return how;
}

static void batches_people(struct study_people *people, const char *text)
{
    const hsy_spec question = trial_values("grr", 65536, 1);
    struct study_data data;

    ok(eq_status(study_data_parse(&data, text, NULL), HSY_OK) &&
           eq_status(study_people_open(people, &data, &question, NULL), HSY_OK),
       "people of %s", text);
}

/* ---- One choice, exactly ------------------------------------------------- */

/* Two values, of which 60 and 40 of 100 people hold. What grr counts of the one
 * less what it counts of the other is a sum of 100 independent steps of -1, 0
 * and 1; the larger count wins, and of equals either. The two other values and
 * "other" pass the larger with chance below 1e-4. */
static double choice_chance(double p, double q)
{
    double law[201] = {0}, right = 0;

    law[100] = 1;
    for (unsigned person = 0; person < 100; person++) {
        const double up = person < 60 ? p : q, down = person < 60 ? q : p;
        double next[201] = {0};

        for (unsigned x = 1; x < 200; x++)
            next[x] =
                law[x - 1] * up + law[x + 1] * down + law[x] * (1 - up - down);
        memcpy(law, next, sizeof law);
    }
    for (unsigned x = 100; x < 201; x++)
        right += x == 100 ? law[x] / 2 : law[x];
    return right;
}

static void choice(double epsilon)
{
    static const int64_t numbers[2] = {1, 2};
    static const uint64_t counts[2] = {60, 40};
    const double e = exp(epsilon), q = 1 / (e + 4);
    const double exact = choice_chance(e * q, q);
    struct discovery how = batches_how("grr", epsilon);
    struct discovery_result r;
    struct study_people people = {0};
    double off;

    is_status(study_people_counted(&people, numbers, counts, 2, NULL), HSY_OK,
              "a hundred people");
    how.people = &people;
    how.as_counted = true;
    how.users = 100;
    how.runs = stat_long() ? 40000 : 4000;
    how.search.top = 1;
    how.batches.bits = 2;
    ok(eq_status(discovery_run(&r, &how, NULL), HSY_OK) && r.at_once,
       "a choice");
    off = (r.mean[DISCOVERY_RECALL] - exact) /
          sqrt(exact * (1 - exact) / (double)how.runs);
    ok(fabs(off) < BATCHES_ERRORS,
       "is right with chance %.4f, exactly %.4f: %.2f standard errors off",
       r.mean[DISCOVERY_RECALL], exact, off);
    discovery_close(&r);
    study_people_close(&people);
}

/* ---- Every oracle -------------------------------------------------------- */

static void oracles(const struct study_people *people)
{
    static const struct {
        const char *name;
        uint64_t pool_bits;
    } rows[] = {{"grr", 0}, {"sue", 0}, {"oue", 0}, {"ss", 0},
                {"pgr", 0}, {"hr", 0},  {"olh", 6}, {"auto", 0}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct discovery how = batches_how(rows[i].name, 6);
        struct discovery_result r;
        bool good;

        how.people = people;
        how.spec.param[HSY_PARAM_POOL_BITS] = rows[i].pool_bits;
        how.users = 4000;
        how.runs = 2;
        good = discovery_run(&r, &how, NULL) == HSY_OK;
        ok(good && r.mean[DISCOVERY_NDCG] > 0.9,
           "%s finds at epsilon 6: NDCG %.3f", rows[i].name,
           r.mean[DISCOVERY_NDCG]);
        discovery_close(&r);
    }
}

/* ---- Sizes and rounds ---------------------------------------------------- */

static void sizes(const struct study_people *people)
{
    static const struct {
        enum discovery_sizes sizes;
        uint64_t first, last;
    } rows[] = {{DISCOVERY_EQUAL, 125, 125},
                {DISCOVERY_RISING, 62, 188},
                {DISCOVERY_DIMINISHING, 187, 63}};
    struct discovery how = batches_how("grr", 4);

    how.people = people;
    how.runs = 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct discovery_result r;
        uint64_t sum = 0;

        how.batches.sizes = rows[i].sizes;
        is_status(discovery_run(&r, &how, NULL), HSY_OK, "sizes %zu", i);
        for (size_t b = 0; b < r.groups; b++)
            sum += r.people[b];
        ok(eq_u64(r.groups, 8) && eq_u64(sum, 1000) &&
               eq_u64(r.people[0], rows[i].first) &&
               eq_u64(r.people[7], rows[i].last),
           "%u people, then up or down to %u", (unsigned)r.people[0],
           (unsigned)r.people[7]);
        discovery_close(&r);
    }
}

/* Scores of four rounds of 250 people, averaged, are as good as those of 1,000
 * people; one round of 250 is worse. */
static void rounds(const struct study_people *people)
{
    struct discovery how = batches_how("grr", 3);
    struct discovery_result r[3];
    double off[2];

    how.people = people;
    how.runs = stat_long() ? 4000 : 400;
    for (unsigned i = 0; i < 3; i++) {
        how.users = i == 0 ? 1000 : 250;
        how.batches.rounds = i == 1 ? 4 : 1;
        how.seed = stat_seed() + i;
        is_status(discovery_run(&r[i], &how, NULL), HSY_OK, "rounds, %u", i);
        if (i > 0)
            off[i - 1] =
                (r[i].mean[DISCOVERY_NDCG] - r[0].mean[DISCOVERY_NDCG]) /
                hypot(r[i].error[DISCOVERY_NDCG], r[0].error[DISCOVERY_NDCG]);
        discovery_close(&r[i]);
    }
    ok(fabs(off[0]) < BATCHES_ERRORS,
       "four rounds of 250: NDCG %.3f, 1,000 at once: %.3f, %.2f standard "
       "errors off",
       r[1].mean[DISCOVERY_NDCG], r[0].mean[DISCOVERY_NDCG], off[0]);
    ok(off[1] < -BATCHES_ERRORS, "control: 250 people are fewer: %.3f",
       r[2].mean[DISCOVERY_NDCG]);
}

/* ---- The lecture --------------------------------------------------------- */

#define LECTURE_EPSILONS 8u

/* NDCG of each epsilon; the mean of all, and the square of its error. */
static void lecture_line(const char *data, double *mean, double *square)
{
    struct study_people people = {0};

    batches_people(&people, data);
    *mean = *square = 0;
    for (unsigned e = 1; e <= LECTURE_EPSILONS; e++) {
        struct discovery how = batches_how("grr", e);
        struct discovery_result r;
        bool good;

        how.people = &people;
        how.runs = stat_long() ? 500 : 60;
        good = discovery_run(&r, &how, NULL) == HSY_OK;
        ok(good, "%s at epsilon %u: %.3f", data, e, r.mean[DISCOVERY_NDCG]);
        *mean += r.mean[DISCOVERY_NDCG] / LECTURE_EPSILONS;
        /* The same people at every epsilon: errors add up as they are. */
        *square += r.error[DISCOVERY_NDCG] / LECTURE_EPSILONS;
        discovery_close(&r);
    }
    *square *= *square;
    study_people_close(&people);
}

static void lecture(void)
{
    static const char *const names[4] = {"poisson:5", "uniform:0:14",
                                         "poisson:100", "uniform:0:100"};
    double mean[4], square[4];

    for (unsigned i = 0; i < 4; i++)
        lecture_line(names[i], &mean[i], &square[i]);
    for (unsigned i = 0; i < 4; i += 2) {
        const double error = sqrt(square[i] + square[i + 1]);

        ok(mean[i] - mean[i + 1] > BATCHES_ERRORS * error,
           "%s is ahead of %s: %.3f against %.3f, %.1f standard errors",
           names[i], names[i + 1], mean[i], mean[i + 1],
           (mean[i] - mean[i + 1]) / error);
    }
}

int main(void)
{
    struct study_people people = {0};

    choice(1.5);
    choice(2);
    batches_people(&people, "poisson:5");
    oracles(&people);
    sizes(&people);
    rounds(&people);
    study_people_close(&people);
    lecture();
    return tap_done();
}
