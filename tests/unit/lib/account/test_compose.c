/*
 * test_compose.c - composition and groups against vectors (theory 15.5),
 * against all outcomes of few reports, and at sizes where sums are long.
 */
#include "hearsay.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double scratch[3 * 8192];

static double total_of(const hsy_spent *spent, size_t kinds, double delta)
{
    hsy_error err = {0};
    double total = NAN;

    return hsy_compose_epsilon(&total, spent, kinds, delta, scratch, &err) ==
                   HSY_OK
               ? total
               : NAN;
}

static double one_of(double epsilon, uint64_t k, double delta)
{
    const hsy_spent spent = {epsilon, k};

    return total_of(&spent, 1, delta);
}

static hsy_composed bounds_of(double epsilon, uint64_t k, double delta)
{
    const hsy_spent spent = {epsilon, k};
    hsy_error err = {0};
    hsy_composed out = {0};

    if (hsy_compose_bounds(&out, &spent, 1, delta, &err) != HSY_OK)
        out.basic = NAN;
    return out;
}

/* Never below, and above by `most` relative at most. */
static bool covers(double bound, double exact, double most)
{
    return bound >= exact && bound <= exact * (1 + most);
}

/* ---- Vectors ------------------------------------------------------------- */

/* 0: not given. The last three from sums with 30 digits. */
static const struct {
    double epsilon;
    uint64_t k;
    double delta, exact, grouposition, advanced;
} rows[] = {
    {0.1, 100, 1e-6, 4.77456758810798615, 5.75652176975693198,
     6.30823095051340823},
    {0.5, 10, 1e-6, 4.99988547110998618, 9.56129068134554963, 0},
    {0.5, 100, 1e-6, 33.3197882385373097, 38.7826088487846599,
     58.7186723837910672},
    {1, 10, 1e-6, 9.99997706582073262, 21.6225813626910993, 0},
    {1, 100, 1e-6, 83.5307016784836120, 102.565217697569320,
     224.393400543473843},
    {0.1, 1000000, 1e-6, 5469.571839817464811, 0, 0},
    {1, 1000000, 1e-9, 467429.7067542814993, 0, 0},
};

static void vectors(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double exact = one_of(rows[i].epsilon, rows[i].k, rows[i].delta);
        const hsy_composed c =
            bounds_of(rows[i].epsilon, rows[i].k, rows[i].delta);

        ok(covers(exact, rows[i].exact, 1e-10),
           "%g times %llu: exactly %.15g, not below and within 1e-10",
           rows[i].epsilon, (unsigned long long)rows[i].k, exact);
        ok(covers(c.basic, rows[i].epsilon * (double)rows[i].k, 1e-12) &&
               c.divergence <= c.grouposition && exact <= c.divergence &&
               exact <= c.advanced && exact <= c.basic,
           "and no bound is below it");
        if (rows[i].grouposition > 0)
            ok(covers(c.grouposition, rows[i].grouposition, 1e-12),
               "grouposition %.15g", c.grouposition);
        if (rows[i].advanced > 0)
            ok(covers(c.advanced, rows[i].advanced, 1e-12), "advanced %.15g",
               c.advanced);
    }
    ok(covers(one_of(0.5, 10, 0.0410284146095159319), 3, 1e-10) &&
           covers(one_of(0.1, 20, 0.000538767087038112157), 1.2, 1e-10) &&
           covers(one_of(1, 10, 0.363591182714519566), 5, 1e-10),
       "the totals of three deltas");
}

/* ---- All outcomes of few reports ----------------------------------------- */

#define FEW 10

/* delta of binary answers with these epsilons, over all 2^k of them. */
static double enumerated(const double *epsilon, size_t k, double total)
{
    double delta = 0;

    for (size_t answers = 0; answers < (size_t)1 << k; answers++) {
        double loss = 0, log_chance = 0;

        for (size_t i = 0; i < k; i++) {
            const double sign = answers >> i & 1 ? -1 : 1;

            loss += sign * epsilon[i];
            log_chance -= log1p(exp(-sign * epsilon[i]));
        }
        delta += exp(log_chance) * fmax(-expm1(total - loss), 0);
    }
    return delta;
}

static void few(void)
{
    bool above = true, near = true;

    for (size_t k = 1; k <= FEW; k++) {
        for (double e = 0.1; e < 5; e *= 1.7) {
            double epsilon[FEW];

            for (size_t i = 0; i < k; i++)
                epsilon[i] = e;
            for (double part = 0; part < 1; part += 0.07) {
                const double total = part * e * (double)k;
                const double exact = enumerated(epsilon, k, total);
                const double got = enumerated(epsilon, k, one_of(e, k, exact));

                above = above && got <= exact * (1 + 1e-13);
                near = near && got >= exact * (1 - 1e-10);
            }
        }
    }
    ok(above, "no outcome of up to 10 equal reports is forgotten");
    ok(near, "and none is counted twice");
}

/* A group of k with generalized randomized response of 3 values, or two bits of
 * a unary encoding: what all change from value 0 to value 1 tells, over all
 * outcomes. Each has at most 4 outputs with these two laws. */
struct changing {
    const char *name;
    size_t outputs;
    double from[4], to[4];
};

static double changing_delta(const struct changing *c, size_t k, double total)
{
    size_t all = 1;
    double delta = 0;

    for (size_t i = 0; i < k; i++)
        all *= c->outputs;
    for (size_t outcome = 0; outcome < all; outcome++) {
        double from = 1, to = 1;

        for (size_t i = 0, rest = outcome; i < k; i++, rest /= c->outputs) {
            from *= c->from[rest % c->outputs];
            to *= c->to[rest % c->outputs];
        }
        delta += fmax(from - exp(total) * to, 0);
    }
    return delta;
}

static void groups(void)
{
    for (double e = 0.5; e < 3; e *= 2) {
        const double E = exp(e), z = E + 2, p = 1 / (1 + exp(-e / 2));
        const double q = 1 - p;
        const struct changing all[] = {
            {"grr", 3, {E / z, 1 / z, 1 / z}, {1 / z, E / z, 1 / z}},
            {"sue",
             4,
             {p * q, q * q, p * p, q * p},
             {q * p, q * q, p * p, p * q}},
            {"rr", 2, {E / (1 + E), 1 / (1 + E)}, {1 / (1 + E), E / (1 + E)}},
        };

        for (size_t i = 0; i < 3; i++) {
            bool above = true, same = true;

            for (size_t k = 1; k <= 6; k++) {
                for (double part = 0; part < 0.95; part += 0.09) {
                    const double total = part * e * (double)k;
                    const double exact = changing_delta(&all[i], k, total);
                    const double got = one_of(e, k, fmax(exact, 1e-14));

                    above = above && (exact < 1e-14 || got >= total - 1e-12);
                    same = same && got <= total + 1e-9;
                }
            }
            ok(above, "groups of up to 6 with %s at %g are covered",
               all[i].name, e);
            ok(same == (i == 2), "%s, and rr is the worst of them",
               all[i].name);
        }
    }
}

static void few_mixed(void)
{
    static const double epsilon[FEW] = {0.1, 0.2, 0.2, 0.35, 0.5,
                                        0.5, 0.8, 1,   1.7,  3};
    double worst = 0;
    bool above = true;

    for (size_t k = 2; k <= FEW; k++) {
        hsy_spent spent[FEW];
        size_t kinds;

        for (size_t i = 0; i < k; i++)
            spent[i] = (hsy_spent){epsilon[FEW - 1 - i], 1};
        kinds = hsy_compose_merge(spent, k, HSY_COMPOSE_KINDS);
        for (double delta = 0.3; delta > 1e-9; delta /= 40) {
            const double total = total_of(spent, kinds, delta);
            const double exact =
                enumerated(epsilon + FEW - k, k, total * (1 - 1e-14));
            const double less =
                enumerated(epsilon + FEW - k, k, total * (1 - 1e-3));

            above = above && exact <= delta * (1 + 1e-12);
            worst = fmax(worst, total > 0 ? delta / less : 0);
        }
    }
    ok(above, "different epsilons: no total is too small");
    ok(worst <= 1, "and a thousandth less would be");
}

/* Reports that hardly tell anything, however many, take nothing away. */
static void few_and_tiny(void)
{
    const hsy_spent tiny = {1e-200, 1000000};
    const hsy_spent least[2] = {{5e-324, 1}, {1e-323, 1}};
    double few_total[2], alone[2];

    for (size_t i = 0; i < 2; i++) {
        const hsy_spent big = i == 0 ? (hsy_spent){1, 100} : (hsy_spent){32, 1};
        const hsy_spent both[2] = {tiny, big};

        alone[i] = one_of(big.epsilon, big.count, 1e-6);
        few_total[i] = total_of(both, 2, 1e-6);
    }
    ok(few_total[0] >= 83.5307016784 && few_total[0] < 83.5308,
       "100 reports of 1 and 10^6 of 1e-200: %.12g", few_total[0]);
    ok(few_total[1] >= alone[1] && few_total[1] <= 32 * (1 + 1e-12),
       "one of 32 and 10^6 of 1e-200: %.12g", few_total[1]);
    ok(one_of(1e-200, 1, 1e-250) >= 0.99e-200 &&
           bounds_of(1e-200, 1, 1e-250).grouposition >= 1e-200 &&
           bounds_of(1e-200, 1, 1e-250).divergence >= 1e-200 &&
           bounds_of(1e-200, 1, 1e-250).advanced >= 1e-200,
       "no bound of one of 1e-200 at delta 1e-250 is below it");
    ok(total_of(least, 2, 1e-6) == 0, "the smallest doubles cost delta alone");
}

/* ---- A part never costs more than the whole ------------------------------ */

#define PARTS 5

static double uniform_of(hsy_stream *stream)
{
    hsy_rng rng = hsy_stream_rng(stream);
    uint64_t word = 0;

    if (rng.fill(rng.ctx, &word, sizeof word) != HSY_OK)
        exit(1);
    return (double)(word >> 11) * 0x1p-53;
}

/* What a part costs, less what its total may be above the optimal one: a search
 * ends within 1e-12 of it, and several kinds have a grid of their own. */
static double part_of(const hsy_spent *spent, size_t set, double delta)
{
    hsy_spent part[PARTS];
    size_t n = 0;

    for (size_t k = 0; k < PARTS; k++)
        if (set >> k & 1)
            part[n++] = spent[k];
    return total_of(part, n, delta) * (1 - (n == 1 ? 3e-12 : 1e-3));
}

/* Epsilons from `least` to 30 and counts to 10^4, evenly by their logarithms;
 * deltas likewise. HSY_TEST_LONG=1 takes 1000 lists. */
static void parts_and_wholes(double least, uint64_t seed)
{
    const size_t lists = getenv("HSY_TEST_LONG") != NULL ? 1000 : 30;
    hsy_stream stream;
    size_t below = 0;

    hsy_stream_seed(&stream, seed, 0);
    for (size_t i = 0; i < lists; i++) {
        const size_t kinds = 2 + (size_t)(uniform_of(&stream) * (PARTS - 1));
        const double delta = pow(10, -20 * uniform_of(&stream)) * 0.9;
        hsy_spent spent[PARTS];
        double whole;

        for (size_t k = 0; k < kinds; k++)
            spent[k] = (hsy_spent){30 * pow(least / 30, uniform_of(&stream)),
                                   (uint64_t)pow(10, 4 * uniform_of(&stream))};
        whole = total_of(spent, kinds, delta);
        for (size_t set = 1; set + 1 < (size_t)1 << kinds; set++)
            below += !(part_of(spent, set, delta) <= whole);
    }
    ok(below == 0, "epsilons from %g: no part of %zu lists costs more: %zu do",
       least, lists, below);
}

/* ---- Several epsilons, many reports -------------------------------------- */

static void many_mixed(void)
{
    hsy_spent parts[HSY_COMPOSE_KINDS];
    double exact = one_of(0.1, 1000000, 1e-6), got, before = 0;
    bool grows = true;

    parts[0] = parts[1] = (hsy_spent){0.1, 500000};
    got = total_of(parts, 2, 1e-6);
    ok(covers(got, exact, 1e-5), "10^6 reports in two halves: %.12g", got);
    for (size_t i = 0; i < 64; i++)
        parts[i] = (hsy_spent){0.1, 15625};
    got = total_of(parts, 64, 1e-6);
    ok(covers(got, exact, 1e-3), "in 64 parts: %.12g", got);
    for (double delta = 1e-2; delta > 1e-200; delta *= 1e-20) {
        const hsy_spent both[2] = {{0.1, 10000}, {0.3, 1000}};

        got = total_of(both, 2, delta);
        grows = grows && got > before && got < 1300 + 1e-6;
        before = got;
    }
    ok(grows, "a smaller delta costs more, down to 1e-200");
}

static void merging(void)
{
    static hsy_spent spent[5000];
    uint64_t reports = 0;
    double sum = 0, rounded = 0;
    size_t kinds;
    bool up = true;

    for (size_t i = 0; i < 5000; i++) {
        spent[i].epsilon = 0.01 + (double)((i * 7919) % 5000) / 5000;
        spent[i].count = 1 + i % 3;
        sum += spent[i].epsilon * (double)spent[i].count;
        reports += spent[i].count;
    }
    kinds = hsy_compose_merge(spent, 5000, 256);
    for (size_t i = 0; i < kinds; i++) {
        rounded += spent[i].epsilon * (double)spent[i].count;
        reports -= spent[i].count;
        up = up && (i == 0 || spent[i].epsilon > spent[i - 1].epsilon);
    }
    ok(kinds <= 256 && kinds > 100 && reports == 0 && up,
       "5000 epsilons become %zu, in order, none forgotten", kinds);
    ok(covers(rounded, sum, 0.02), "rounded up, by less than 2 %%");
    ok(total_of(spent, kinds, 1e-6) < sum / 2, "and composed");
}

/* ---- Ends ---------------------------------------------------------------- */

static void ends(void)
{
    ok(covers(one_of(1, 1, 1e-6), log(exp(1) - 1e-6 * (1 + exp(1))), 1e-12),
       "one report, less what delta covers");
    ok(covers(one_of(100, 1000000, 1e-9), 1e8 - 1e-8, 1e-12),
       "10^6 reports of 100 are not forgiven anything");
    ok(covers(one_of(16, 365, 1e-6), 16 * 365 - 1e-5, 1e-8),
       "nor a year of 16 a day: 5840");
    ok(one_of(1e-6, 1, 1e-6) == 0, "delta alone covers a tiny report");
    ok(one_of(99.9, 5, 1e-100) > 499.5 && one_of(99.9, 5, 1e-250) > 499.5,
       "five of the double 99.9 are more than the double 499.5");
    ok(covers(one_of(1, 10, 1e-250), 10, 1e-12),
       "nothing is lost beyond the sum");
    ok(isfinite(one_of(1, 1000000000, 1e-200)) &&
           one_of(1, 1000000000, 1e-200) < 1e9,
       "10^9 reports, delta 1e-200");
}

static void refusals(void)
{
    static const struct {
        hsy_spent spent;
        double delta;
        size_t kinds;
        const char *field;
    } bad[] = {
        {{0, 1}, 1e-6, 1, "epsilon"},
        {{-1, 1}, 1e-6, 1, "epsilon"},
        {{NAN, 1}, 1e-6, 1, "epsilon"},
        {{101, 1}, 1e-6, 1, "epsilon"},
        {{1, 0}, 1e-6, 1, "count"},
        {{1, HSY_COMPOSE_MAX + 1}, 1e-6, 1, "count"},
        {{1, 1}, 0, 1, "delta"},
        {{1, 1}, 1, 1, "delta"},
        {{1, 1}, NAN, 1, "delta"},
        {{1, 1}, 1e-6, 0, "spent"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hsy_error err = {0};
        double total = -1;

        ok(hsy_compose_epsilon(&total, &bad[i].spent, bad[i].kinds,
                               bad[i].delta, scratch, &err) != HSY_OK &&
               strcmp(hsy_field_name(err.field), bad[i].field) == 0 &&
               total == -1,
           "refusal %zu names %s", i, bad[i].field);
    }
}

int main(void)
{
    ok(hsy_compose_scratch() == sizeof scratch / sizeof scratch[0],
       "the scratch is as large as asked for");
    vectors();
    few();
    groups();
    few_mixed();
    few_and_tiny();
    parts_and_wholes(1e-3, 1);
    parts_and_wholes(1e-300, 2);
    many_mixed();
    merging();
    ends();
    refusals();
    return tap_done();
}
