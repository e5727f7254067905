/*
 * test_shuffle.c - bounds of shuffling against vectors (theory 15.6),
 * against enumeration over all data of few people, and against sums without
 * buckets for many.
 */
#include "lib/account/internal.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double delta_of(hsy_shuffle s, double epsilon)
{
    hsy_error err = {0};
    double delta = NAN;

    return hsy_shuffle_delta(&s, &delta, epsilon, &err) == HSY_OK ? delta : NAN;
}

static double epsilon_of(hsy_shuffle s, double delta)
{
    hsy_error err = {0};
    double epsilon = NAN;

    return hsy_shuffle_epsilon(&s, &epsilon, delta, &err) == HSY_OK ? epsilon
                                                                    : NAN;
}

/* Never below what it should be, and above it by `most` relative at most. */
static bool covers(double bound, double exact, double most)
{
    return bound >= exact && bound <= exact * (1 + most);
}

/* ---- Vectors ------------------------------------------------------------- */

static const struct {
    hsy_shuffle s;
    double epsilon, delta;
} deltas[] = {
    {{HSY_SHUFFLE_ANY, 100, 1, 0, 0}, 0.5, 3.45596880540877236e-5},
    {{HSY_SHUFFLE_ANY, 100, 2, 0, 0}, 1, 0.00360451039266919024},
    {{HSY_SHUFFLE_BINARY, 100, 1, 0, 0}, 0.5, 1.70238384945164662e-6},
    {{HSY_SHUFFLE_BINARY, 100, 2, 0, 0}, 1, 0.000261620009874720223},
    {{HSY_SHUFFLE_TWO_LEVEL, 60, 2, 1.0 / 2, 0}, 0.5, 0.0290204171837734651},
    {{HSY_SHUFFLE_TWO_LEVEL, 60, 2, 1.0 / 4, 0}, 0.5, 0.0187825878768227374},
    {{HSY_SHUFFLE_TWO_LEVEL, 60, 2, 1.0 / 16, 0}, 0.5, 0.00199111483146047125},
    {{HSY_SHUFFLE_EXACT, 20, 1, 0, 0}, 0.3, 0.0178488776537042501},
    {{HSY_SHUFFLE_BINARY, 20, 1, 0, 0}, 0.3, 0.0246958209669158978},
};

/* With the digits that theory 9.4 prints. */
static const struct {
    hsy_shuffle s;
    double delta, epsilon, half_digit;
} epsilons[] = {
    {{HSY_SHUFFLE_ANY, 1000, 1, 0, 0}, 1e-6, 0.1824123475, 5e-11},
    {{HSY_SHUFFLE_BINARY, 1000, 1, 0, 0}, 1e-6, 0.1486706164, 5e-11},
    {{HSY_SHUFFLE_ANY, 10000, 1, 0, 0}, 1e-6, 0.05300532, 5e-9},
    {{HSY_SHUFFLE_BINARY, 10000, 1, 0, 0}, 1e-6, 0.04320616, 5e-9},
    {{HSY_SHUFFLE_ANY, 10000, 2, 0, 0}, 1e-6, 0.1550452425, 5e-11},
    {{HSY_SHUFFLE_BINARY, 10000, 2, 0, 0}, 1e-6, 0.1143996153, 5e-11},
    {{HSY_SHUFFLE_TWO_LEVEL, 10000, 2, 0.25, 0}, 1e-6, 0.101963975, 5e-10},
    {{HSY_SHUFFLE_TWO_LEVEL, 10000, 2, 0.0625, 0}, 1e-6, 0.067490288, 5e-10},
    {{HSY_SHUFFLE_ANY, 10000, 4, 0, 0}, 1e-6, 0.600908764, 5e-10},
    {{HSY_SHUFFLE_BINARY, 10000, 4, 0, 0}, 1e-6, 0.410812293, 5e-10},
    {{HSY_SHUFFLE_TWO_LEVEL, 10000, 4, 0.0625, 0}, 1e-6, 0.361589561, 5e-10},
    {{HSY_SHUFFLE_ANY, 100000, 4, 0, 0}, 1e-6, 0.1697697473, 5e-11},
    {{HSY_SHUFFLE_BINARY, 100000, 4, 0, 0}, 1e-6, 0.1181530665, 5e-11},
    {{HSY_SHUFFLE_ANY, 1000000, 2, 0, 0}, 1e-8, 0.0175589016, 5e-11},
    {{HSY_SHUFFLE_BINARY, 1000000, 2, 0, 0}, 1e-8, 0.0130368696, 5e-11},
    {{HSY_SHUFFLE_ANY, 1000000, 4, 0, 0}, 1e-8, 0.06419684, 5e-9},
    {{HSY_SHUFFLE_BINARY, 1000000, 4, 0, 0}, 1e-8, 0.04507296, 5e-9},
};

static const struct {
    double n, epsilon_report, delta, epsilon;
} closed[] = {
    {1e5, 4, 1e-6, 0.534633991651707646},
    {1e4, 1, 1e-6, 0.214025651930837827},
    {1e6, 1, 1e-8, 0.0267751634675912232},
    {1e4, 4, 1e-6, 4}, /* beyond its range: a report alone */
};

static void vectors(void)
{
    for (size_t i = 0; i < sizeof deltas / sizeof deltas[0]; i++) {
        const double got = delta_of(deltas[i].s, deltas[i].epsilon);

        ok(covers(got, deltas[i].delta, 1e-10),
           "vector %zu: delta %.17g is at least %.17g, within 1e-10", i, got,
           deltas[i].delta);
    }
    for (size_t i = 0; i < sizeof epsilons / sizeof epsilons[0]; i++) {
        const double got = epsilon_of(epsilons[i].s, epsilons[i].delta);

        ok(fabs(got - epsilons[i].epsilon) <= epsilons[i].half_digit,
           "vector %zu: epsilon %.12g is %.10g as printed", i, got,
           epsilons[i].epsilon);
    }
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        const hsy_shuffle s = {.n = (uint64_t)closed[i].n,
                               .epsilon_report = closed[i].epsilon_report};
        hsy_error err = {0};
        double got = NAN;

        ok(hsy_shuffle_closed(&s, &got, closed[i].delta, &err) == HSY_OK &&
               covers(got, closed[i].epsilon, 1e-11),
           "closed form %zu is %.15g", i, got);
    }
}

/* ---- All data of few people ---------------------------------------------- */

#define INPUTS 4
#define OUTPUTS 6
#define CASES 4096
#define NOISE 1e-14 /* of adding up so many cases */

/* Two-level: output y is favoured by x if own[x] has bit y. */
struct channel {
    const char *name;
    size_t inputs, outputs, people;
    unsigned own[INPUTS];
    double inside, both;
};

static double channel_chance(const struct channel *c, size_t x, size_t y,
                             double rho)
{
    const double size = __builtin_popcount(c->own[x]);
    const double all = size * rho + (double)c->outputs - size;

    return (c->own[x] >> y & 1 ? rho : 1) / all;
}

/* Multisets of at most `people` outputs as numbers: one digit an output. */
static size_t channel_cases(const struct channel *c)
{
    size_t cases = 1;

    for (size_t y = 0; y < c->outputs; y++)
        cases *= c->people + 1;
    return cases;
}

static void channel_add(const struct channel *c, double *law, size_t x,
                        double rho)
{
    static double next[CASES * 8];
    const size_t cases = channel_cases(c);
    size_t digit = 1;

    memset(next, 0, cases * sizeof *next);
    for (size_t y = 0; y < c->outputs; y++, digit *= c->people + 1) {
        const double chance = channel_chance(c, x, y, rho);

        for (size_t i = 0; i + digit < cases; i++)
            next[i + digit] += law[i] * chance;
    }
    memcpy(law, next, cases * sizeof *next);
}

/* The worst delta over what the others hold and two truths of one person. */
static double channel_worst(const struct channel *c, double rho, double E)
{
    static double others[CASES * 8], zero[CASES * 8], one[CASES * 8];
    const size_t cases = channel_cases(c);
    size_t data = 1;
    double worst = 0;

    for (size_t i = 1; i < c->people; i++)
        data *= c->inputs;
    for (size_t set = 0; set < data; set++) {
        memset(others, 0, cases * sizeof *others);
        others[0] = 1;
        for (size_t i = 1, rest = set; i < c->people; i++, rest /= c->inputs)
            channel_add(c, others, rest % c->inputs, rho);
        for (size_t pair = 0; pair < c->inputs * c->inputs; pair++) {
            double delta = 0;

            memcpy(zero, others, cases * sizeof *zero);
            memcpy(one, others, cases * sizeof *one);
            channel_add(c, zero, pair / c->inputs, rho);
            channel_add(c, one, pair % c->inputs, rho);
            for (size_t i = 0; i < cases; i++)
                delta += fmax(zero[i] - E * one[i], 0);
            worst = fmax(worst, delta);
        }
    }
    return worst;
}

/* grr of 2, 3 and 4; subsets of 2 of 4; Hadamard response of 3 values in one
 * block of 4; windows of 2 of 5 places. */
static const struct channel channels[] = {
    {"rr", 2, 2, 6, {1, 2}, 1.0 / 2, 0},
    {"grr 3", 3, 3, 5, {1, 2, 4}, 1.0 / 3, 0},
    {"grr 4", 4, 4, 4, {1, 2, 4, 8}, 1.0 / 4, 0},
    {"ss 2 of 4", 4, 6, 3, {7, 25, 42, 52}, 1.0 / 2, 1.0 / 6},
    {"hr", 3, 4, 4, {5, 3, 9}, 1.0 / 2, 1.0 / 4},
    {"window", 4, 5, 4, {3, 6, 12, 24}, 2.0 / 5, 0},
};

static void enumeration(void)
{
    for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
        const struct channel *c = &channels[i];
        double loosest = 0;
        bool above = true, ordered = true;

        for (double e0 = 0.5; e0 <= 3; e0 += 1.25) {
            for (double part = 0; part < 1; part += 0.24) {
                hsy_shuffle s = {HSY_SHUFFLE_TWO_LEVEL, c->people, e0,
                                 c->inside, c->both};
                const double exact = channel_worst(c, exp(e0), exp(part * e0));
                const double blanket = delta_of(s, part * e0);
                double any;

                s.by = HSY_SHUFFLE_ANY;
                any = delta_of(s, part * e0);
                above =
                    above && blanket >= exact - NOISE && any >= exact - NOISE;
                ordered = ordered && blanket <= any * (1 + 1e-10);
                if (exact > 1e-3)
                    loosest = fmax(loosest, blanket / exact);
            }
        }
        ok(above, "%s: no data of %zu people passes blanket or clones", c->name,
           c->people);
        ok(ordered, "%s: the blanket is never worse than clones", c->name);
        ok(loosest < (c->both > 0 ? 10 : 1.3),
           "%s: the blanket is at most %.3g times the worst", c->name, loosest);
    }
}

static void exact_form(void)
{
    bool equal = true, below = true, rare = true;

    for (double e0 = 0.5; e0 <= 3; e0 += 0.5) {
        for (double part = 0; part < 0.95; part += 0.15) {
            const double worst =
                channel_worst(&channels[0], exp(e0), exp(part * e0));
            const hsy_shuffle s = {HSY_SHUFFLE_EXACT, 6, e0, 0, 0};
            const double got = delta_of(s, part * e0);
            const double back = epsilon_of(s, got);

            equal = equal && covers(got, worst * (1 - 1e-13), 1e-8);
            below = below && back <= part * e0 * (1 + 1e-9) + 1e-9 &&
                    delta_of(s, back) <= got;
        }
    }
    ok(equal, "the exact form is the worst of all data, and not below it");
    for (double e0 = 20; e0 < 60; e0 += 0.74) { /* flips of 1e-9 to 1e-26 */
        for (double gap = 0.01; gap < 3; gap *= 5) {
            const hsy_shuffle six = {HSY_SHUFFLE_EXACT, 6, e0, 0, 0};
            const hsy_shuffle one = {HSY_SHUFFLE_EXACT, 1, e0, 0, 0};
            const double epsilon = e0 - gap;
            const double worst =
                channel_worst(&channels[0], exp(e0), exp(epsilon));
            const double alone = -expm1(epsilon - e0) / (1 + exp(-e0));

            rare = rare &&
                   covers(delta_of(six, epsilon), worst * (1 - 1e-11), 1e-8) &&
                   covers(delta_of(one, epsilon), alone, 1e-8);
        }
    }
    ok(rare, "also where a flip is too rare for 1 - q");
    ok(below, "and its epsilon keeps the delta it was asked for");
}

/* ---- Many people --------------------------------------------------------- */

/* The same sum with every M on its own. */
static double unbucketed(double n, double e0, double epsilon, double p)
{
    const double mean = n * p, sd = sqrt(mean * (1 - p)), rho = exp(e0);
    const double edge = 0.5 * (1 - tanh(epsilon / 2) / tanh(e0 / 2));
    double sum = 0;

    for (double m = floor(mean - 11 * sd); m < mean + 11 * sd; m++)
        sum +=
            hsy_account_chance(m, n, p) * hsy_account_under(m, 0.5, edge * m);
    return sum * 2 * (rho - 1) * (1 + exp(epsilon)) / (n * p * (rho + 1));
}

static void many(void)
{
    const hsy_shuffle s = {HSY_SHUFFLE_ANY, 10000000, 1, 0, 0};
    const double epsilon = epsilon_of(s, 1e-9), got = delta_of(s, epsilon);
    const double fine = unbucketed(1e7, 1, epsilon, exp(-1));
    double before = 2;
    bool falls = true, ordered = true;

    ok(got >= fine * (1 - 1e-9) && got <= fine * (1 + 1e-4),
       "10^7 people in buckets: %.9g is not below %.9g, nor far above", got,
       fine);
    for (double n = 1e3; n <= 1e12; n *= 1e3) {
        hsy_shuffle each = {HSY_SHUFFLE_ANY, (uint64_t)n, 1, 0.1, 0};
        const double any = epsilon_of(each, 1e-9);
        double two, ten;

        each.by = HSY_SHUFFLE_BINARY;
        two = delta_of(each, any);
        each.by = HSY_SHUFFLE_TWO_LEVEL;
        ten = delta_of(each, any);
        ordered = ordered && ten < two && two < 1e-9;
        falls = falls && any < before && any * sqrt(n) > 4 && any * sqrt(n) < 8;
        before = any;
    }
    for (double n = 10; n <= 1e5; n *= 10) { /* ss of 3 of 24, sharing or not */
        hsy_shuffle two = {HSY_SHUFFLE_TWO_LEVEL, (uint64_t)n, 2, 0.125,
                           0.125 * 2 / 23};
        const double shares = delta_of(two, 1.5 / sqrt(n));

        two.overlap = 0;
        ordered =
            ordered && shares <= delta_of(two, 1.5 / sqrt(n)) && shares > 0;
    }
    ok(falls, "from 10^3 to 10^12 people epsilon falls as their square root");
    ok(ordered, "the blanket is below clones, and sharing outputs helps");
}

static void questions(void)
{
    hsy_shuffle s = {HSY_SHUFFLE_ANY, 0, 2, 0, 0};
    hsy_error err = {0};
    uint64_t n = 0;
    double e0 = 0;

    ok(hsy_shuffle_people(&s, &n, 0.1, 1e-6, &err) == HSY_OK && n == 22640,
       "epsilon 0.1 from 2 takes 22640 people");
    s.n = n;
    ok(epsilon_of(s, 1e-6) <= 0.1, "so many are enough");
    s.n = n - 1;
    ok(epsilon_of(s, 1e-6) > 0.1, "one less is not");
    s.n = n;
    ok(hsy_shuffle_epsilon_report(&s, &e0, 0.1, 1e-6, &err) == HSY_OK &&
           e0 >= 2 && e0 < 2.0001,
       "and with them epsilon0 2 is about the largest");
    s.epsilon_report = e0;
    ok(epsilon_of(s, 1e-6) <= 0.1 * (1 + 1e-11), "which keeps the target");
    s = (hsy_shuffle){HSY_SHUFFLE_EXACT, 0, 1, 0, 0};
    ok(hsy_shuffle_people(&s, &n, 0.001, 1e-9, &err) == HSY_E_RANGE &&
           err.field == HSY_FIELD_N,
       "what no number of people reaches is said");
}

/* ---- Ends ---------------------------------------------------------------- */

static void ends(void)
{
    const hsy_shuffle alone = {HSY_SHUFFLE_ANY, 1, 1, 0, 0};
    const hsy_shuffle loud = {HSY_SHUFFLE_ANY, 100000, 100, 0, 0};
    const hsy_shuffle quiet = {HSY_SHUFFLE_ANY, 1000, 1e-6, 0, 0};
    const hsy_shuffle sure = {HSY_SHUFFLE_ANY, 5, 48.1, 0, 0};
    const hsy_shuffle exact = {HSY_SHUFFLE_EXACT, 5, 48.1, 0, 0};

    ok(covers(delta_of(alone, 0.5), (exp(1) - exp(0.5)) / (1 + exp(1)), 1e-10),
       "one person has what the report alone has");
    ok(delta_of(alone, 1) == 0 && delta_of(alone, 2) == 0,
       "nothing is lost at epsilon0 and above");
    ok(covers(epsilon_of(loud, 1e-6), 100 + log1p(-1e-6), 1e-10),
       "epsilon0 100 is not amplified by 10^5 people");
    ok(delta_of(sure, 14.4) == 1 && delta_of(exact, 14.4) == 1 &&
           delta_of(sure, 48) < 1,
       "no chance is above 1");
    ok(epsilon_of(quiet, 1e-6) == 0, "delta alone covers a tiny epsilon0");
    ok(epsilon_of(quiet, 1e-12) > 0, "a smaller delta does not");
}

static void refusals(void)
{
    static const struct {
        hsy_shuffle s;
        double delta;
        const char *field;
    } bad[] = {
        {{HSY_SHUFFLE_ANY, 0, 1, 0, 0}, 1e-6, "n"},
        {{HSY_SHUFFLE_ANY, HSY_SHUFFLE_PEOPLE_MAX + 1, 1, 0, 0}, 1e-6, "n"},
        {{HSY_SHUFFLE_EXACT, 1001, 1, 0, 0}, 1e-6, "n"},
        {{HSY_SHUFFLE_ANY, 10, 0, 0, 0}, 1e-6, "epsilon_report"},
        {{HSY_SHUFFLE_ANY, 10, 101, 0, 0}, 1e-6, "epsilon_report"},
        {{HSY_SHUFFLE_ANY, 10, NAN, 0, 0}, 1e-6, "epsilon_report"},
        {{HSY_SHUFFLE_ANY, 10, 1, 0, 0}, 0, "delta"},
        {{HSY_SHUFFLE_ANY, 10, 1, 0, 0}, 1, "delta"},
        {{HSY_SHUFFLE_ANY, 10, 1, 0, 0}, NAN, "delta"},
        {{HSY_SHUFFLE_ANY, 10, 1, 0, 0}, 1e-260, "delta"},
        {{HSY_SHUFFLE_TWO_LEVEL, 10, 1, 0, 0}, 1e-6, "favoured"},
        {{HSY_SHUFFLE_TWO_LEVEL, 10, 1, 1, 0}, 1e-6, "favoured"},
        {{HSY_SHUFFLE_TWO_LEVEL, 10, 1, 0.5, 0.5}, 1e-6, "overlap"},
        {{HSY_SHUFFLE_TWO_LEVEL, 10, 1, 0.75, 0}, 1e-6, "overlap"},
        {{(hsy_shuffle_bound)4, 10, 1, 0, 0}, 1e-6, "by"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hsy_error err = {0};
        double epsilon = -1;

        ok(hsy_shuffle_epsilon(&bad[i].s, &epsilon, bad[i].delta, &err) ==
                   HSY_E_RANGE &&
               strcmp(hsy_field_name(err.field), bad[i].field) == 0 &&
               epsilon == -1,
           "refusal %zu names %s", i, bad[i].field);
    }
}

/* ---- Schemes ------------------------------------------------------------- */

static hsy_shuffle of_scheme(const char *mechanism, uint32_t kind, uint32_t d)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .kind = kind,
                           .d = d,
                           .mechanism = mechanism,
                           .nano_epsilon = 2000000000};
    hsy_scheme *s = malloc(hsy_scheme_size(&spec));
    hsy_shuffle out = {.n = 0};
    hsy_error err = {0};

    if (hsy_scheme_init(s, &spec, &err) != HSY_OK ||
        hsy_shuffle_scheme(&out, s, 10000, &err) != HSY_OK)
        printf("# %s: %s\n", mechanism, err.msg);
    free(s);
    return out;
}

static void schemes(void)
{
    static const struct {
        const char *name;
        uint32_t kind, d;
        hsy_shuffle_bound by;
    } rows[] = {
        {"rr", HSY_KIND_YES_NO, 2, HSY_SHUFFLE_BINARY},
        {"grr", HSY_KIND_VALUES, 16, HSY_SHUFFLE_TWO_LEVEL},
        {"ss", HSY_KIND_VALUES, 16, HSY_SHUFFLE_TWO_LEVEL},
        {"hr", HSY_KIND_VALUES, 16, HSY_SHUFFLE_TWO_LEVEL},
        {"pgr", HSY_KIND_VALUES, 16, HSY_SHUFFLE_TWO_LEVEL},
        {"olh", HSY_KIND_VALUES, 16, HSY_SHUFFLE_TWO_LEVEL},
        {"blh", HSY_KIND_VALUES, 16, HSY_SHUFFLE_TWO_LEVEL},
        {"oue", HSY_KIND_VALUES, 16, HSY_SHUFFLE_ANY},
        {"sue", HSY_KIND_VALUES, 16, HSY_SHUFFLE_ANY},
    };
    const double any =
        epsilon_of((hsy_shuffle){HSY_SHUFFLE_ANY, 10000, 2, 0, 0}, 1e-6);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const hsy_shuffle s = of_scheme(rows[i].name, rows[i].kind, rows[i].d);
        const double epsilon = epsilon_of(s, 1e-6);

        ok(s.by == rows[i].by && s.n == 10000 && s.epsilon_report <= 2 &&
               s.epsilon_report > 2 - 1e-8 && epsilon <= any &&
               epsilon > any / 4,
           "%s has its bound: %.6g", rows[i].name, epsilon);
    }
    ok(fabs(epsilon_of(of_scheme("grr", HSY_KIND_VALUES, 16), 1e-6) -
            0.067490288) < 1e-8,
       "grr's is the one of 16 values");
}

int main(void)
{
    vectors();
    enumeration();
    exact_form();
    many();
    questions();
    ends();
    refusals();
    schemes();
    return tap_done();
}
