/*
 * test_exact_law.c - X2: the law of a report through the real code.
 *
 * A coin is a 64-bit word with a few edges. Every class of words between two
 * edges is played by its first and its last word through hsy_randomize, and
 * counted with its exact size; the sums must equal hsy_law as rationals, and
 * the largest ratio hsy_law_worst. For unary reports the lanes of the planes
 * are the words.
 */
#include "mech.h"
#include "tap.h"
#include "tape.h"
#include "trial.h"

#include <gmp.h>

#define OUTPUTS 256 /* 8 bits of report at most */
#define CODES 8
#define COINS 2
#define CLASSES 9
#define LANES 8

/* One word: its classes, by their first and last member. */
struct coin {
    size_t classes;
    uint64_t first[CLASSES], last[CLASSES];
};

static void coin_class(struct coin *c, uint64_t first, uint64_t last)
{
    c->first[c->classes] = first;
    c->last[c->classes++] = last;
}

/* Words up to last with edges at unit a and unit b, in either order. */
static struct coin coin_edges(uint64_t a, uint64_t b, uint64_t last)
{
    struct coin c = {0};
    uint64_t low = a < b ? a : b, high = a < b ? b : a;

    coin_class(&c, 0, low - 1);
    if (low != high)
        coin_class(&c, low, high - 1);
    coin_class(&c, high, last);
    return c;
}

/* Words that give v: v 2^64 + excess <= word * bound < (v + 1) 2^64. */
static struct coin coin_below(uint64_t bound)
{
    struct coin c = {0};
    hsy_u128 excess = hsy_prob_excess(bound);

    for (uint64_t v = 0; v < bound; v++) {
        hsy_u128 from = ((hsy_u128)v << 64) + excess;
        hsy_u128 to = (((hsy_u128)v + 1) << 64) - 1;

        coin_class(&c, (uint64_t)((from + bound - 1) / bound),
                   (uint64_t)(to / bound));
    }
    return c;
}

/* What randomize draws for a scheme, in order. */
static void coins_of(const hsy_scheme *s, struct coin coins[COINS])
{
    struct coin channel = coin_edges(s->coin.unit * s->own,
                                     s->coin.unit * s->other, s->coin.last);

    if (s->kind == HSY_KIND_NUMBER) {
        coins[0] = coin_below((uint64_t)(s->hi - s->lo));
        coins[1] = channel;
    } else if (s->weight != 0) {
        coins[0] =
            coin_edges(s->choice.blanket, s->choice.blanket, s->choice.last);
        coins[1] = coin_below(s->choice.bound);
    } else {
        coins[0] = channel;
        coins[1] = (struct coin){.classes = 1}; /* one word, never drawn */
    }
}

/* ---- Distributions ------------------------------------------------------- */

struct law {
    mpz_t weight[CODES][OUTPUTS]; /* over total, which all codes share */
    mpz_t total;
};

static void law_init(struct law *l)
{
    for (size_t i = 0; i < CODES; i++)
        for (size_t y = 0; y < OUTPUTS; y++)
            mpz_init(l->weight[i][y]);
    mpz_init(l->total);
}

static void law_clear(struct law *l)
{
    for (size_t i = 0; i < CODES; i++)
        for (size_t y = 0; y < OUTPUTS; y++)
            mpz_clear(l->weight[i][y]);
    mpz_clear(l->total);
}

static hsy_truth truth_of(const hsy_scheme *s, uint64_t code)
{
    hsy_truth t = {.type = HSY_TRUTH_INDEX};

    if (s->kind == HSY_KIND_NUMBER) {
        t.type = HSY_TRUTH_NUMBER;
        t.u.number = s->lo + (int64_t)code;
    } else {
        t.u.index = (uint32_t)code;
    }
    return t;
}

/* The report, as a number, that these coins give; OUTPUTS if none. */
static unsigned play(const hsy_scheme *s, uint64_t code, const uint64_t *words,
                     size_t n, uint32_t seed)
{
    struct tape secret = {words, n * sizeof *words};
    struct tape published = {&seed, sizeof seed};
    hsy_coins coins = {{tape_fill, &secret}, {tape_fill, &published}};
    hsy_truth truth = truth_of(s, code);
    uint8_t report[8] = {0};

    if (hsy_randomize(s, report, &truth, &coins, NULL) != HSY_OK ||
        hsy_check(s, report) != HSY_OK)
        return OUTPUTS;
    return report[0];
}

/* One class of each coin: the four corners agree and count with their size. */
static bool play_classes(const hsy_scheme *s, struct law *l, uint64_t code,
                         const struct coin coins[COINS], size_t a, size_t b,
                         uint32_t seed)
{
    unsigned output = OUTPUTS;
    mpz_t size, other;

    for (unsigned corner = 0; corner < 4; corner++) {
        const uint64_t words[COINS] = {
            corner & 1 ? coins[0].last[a] : coins[0].first[a],
            corner & 2 ? coins[1].last[b] : coins[1].first[b]};
        unsigned y = play(s, code, words, COINS, seed);

        if (y == OUTPUTS || (corner > 0 && y != output))
            return false;
        output = y;
    }
    mpz_init_set_ui(size, coins[0].last[a] - coins[0].first[a]);
    mpz_init_set_ui(other, coins[1].last[b] - coins[1].first[b]);
    mpz_add_ui(size, size, 1);
    mpz_add_ui(other, other, 1);
    mpz_addmul(l->weight[code][output], size, other);
    mpz_clear(size);
    mpz_clear(other);
    return true;
}

static bool enumerate_words(const hsy_scheme *s, struct law *l, size_t codes)
{
    struct coin coins[COINS];
    uint32_t seeds = (uint32_t)1 << s->param[HSY_PARAM_POOL_BITS];
    bool agree = true;

    coins_of(s, coins);
    for (uint64_t code = 0; code < codes; code++)
        for (uint32_t seed = 0; seed < seeds; seed++)
            for (size_t a = 0; a < coins[0].classes; a++)
                for (size_t b = 0; b < coins[1].classes; b++)
                    agree &= play_classes(s, l, code, coins, a, b, seed);
    return agree;
}

/* ---- Unary: a word for each lane ----------------------------------------- */

/* The tape on which lane i reads U[i] and the true bit reads coin: a lane's
 * digits stand complemented in the planes, last digit first. */
static unsigned play_lanes(const hsy_scheme *s, uint64_t code,
                           const uint64_t *lanes, uint64_t coin)
{
    uint64_t words[65] = {0};

    for (unsigned j = 0; j < s->digits; j++)
        for (unsigned i = 0; i < s->d; i++)
            words[j] |= (~lanes[i] >> j & 1) << i;
    words[s->digits] = coin;
    return play(s, code, words, s->digits + 1, 0);
}

/* Classes of one lane, or of the coin: 1 below the edge, 0 from it on. Each
 * has `members` members that are played: those next to the edge, then ends. */
static uint64_t lane_member(uint64_t edge, uint64_t last, unsigned pick)
{
    const uint64_t members[4] = {edge - 1, edge, 0, last};

    return members[pick];
}

/* The size of the class that pick belongs to. */
static void lane_size(mpz_t size, uint64_t edge, uint64_t last, unsigned pick)
{
    mpz_set_ui(size, pick % 2 == 0 ? edge : last - edge);
    if (pick % 2 == 1)
        mpz_add_ui(size, size, 1);
}

/* Every choice of a member for each lane and the coin. Those next to the edges
 * count; the others must give the same report as these. */
static bool enumerate_lanes_of(const hsy_scheme *s, struct law *l,
                               uint64_t code, unsigned members)
{
    uint64_t edge = s->other >> (64 - s->digits);
    uint64_t last = UINT64_MAX >> (64 - s->digits);
    unsigned combos = 1;
    bool agree = true;
    mpz_t size, product;

    mpz_inits(size, product, NULL);
    for (unsigned i = 0; i <= s->d; i++)
        combos *= members;
    for (unsigned combo = 0; combo < combos; combo++) {
        uint64_t lanes[LANES];
        unsigned rest = combo, want = 0, y, pick = rest % members;
        uint64_t coin = lane_member(s->own, UINT64_MAX, pick);
        bool counts = pick < 2, own = pick % 2 == 0;

        lane_size(product, s->own, UINT64_MAX, pick);
        for (unsigned i = 0; i < s->d; i++) {
            rest /= members;
            pick = rest % members;
            lanes[i] = lane_member(edge, last, pick);
            lane_size(size, edge, last, pick);
            mpz_mul(product, product, size);
            counts &= pick < 2;
            want |= (unsigned)(i == code ? own : pick % 2 == 0) << i;
        }
        y = play_lanes(s, code, lanes, coin);
        agree &= y == want;
        if (counts && y < OUTPUTS)
            mpz_add(l->weight[code][y], l->weight[code][y], product);
    }
    mpz_clears(size, product, NULL);
    return agree;
}

static bool enumerate_lanes(const hsy_scheme *s, struct law *l, size_t codes)
{
    bool agree = true;

    for (uint64_t code = 0; code < codes; code++)
        agree &= enumerate_lanes_of(s, l, code, s->d <= 4 ? 4 : 2);
    return agree;
}

/* ---- Comparison with the stated law -------------------------------------- */

static void set_whole(mpz_t out, uint64_t x)
{
    mpz_set_ui(out, x);
    if (x == 0)
        mpz_setbit(out, 64);
}

static void factors_product(const hsy_factor *factors, size_t count, mpz_t num,
                            mpz_t den)
{
    mpz_t x;

    mpz_init(x);
    mpz_set_ui(num, 1);
    mpz_set_ui(den, 1);
    for (size_t i = 0; i < count; i++) {
        mpz_set_ui(x, factors[i].num);
        mpz_mul(num, num, x);
        set_whole(x, factors[i].den);
        mpz_mul(den, den, x);
    }
    mpz_clear(x);
}

/* weight / total == law for every code and report; reports that are none have
 * weight 0. */
static bool law_agrees(const hsy_scheme *s, const struct law *l, size_t codes)
{
    hsy_factor factors[LANES];
    mpz_t num, den;
    bool agree = hsy_law_factors(s) <= LANES;

    mpz_inits(num, den, NULL);
    for (uint64_t code = 0; code < codes; code++)
        for (unsigned y = 0; y < OUTPUTS; y++) {
            const uint8_t report[8] = {(uint8_t)y};
            size_t count;

            if (hsy_check(s, report) != HSY_OK) {
                agree &= mpz_sgn(l->weight[code][y]) == 0;
                continue;
            }
            hsy_law(s, factors, &count, code, report);
            factors_product(factors, count, num, den);
            mpz_mul(num, num, l->total);
            mpz_mul(den, den, l->weight[code][y]);
            agree &= mpz_cmp(num, den) == 0;
        }
    mpz_clears(num, den, NULL);
    return agree;
}

static bool law_sums_to_one(struct law *l, size_t codes)
{
    mpz_t sum;
    bool agree = true;

    mpz_init(sum);
    for (size_t code = 0; code < codes; code++) {
        mpz_set_ui(sum, 0);
        for (unsigned y = 0; y < OUTPUTS; y++)
            mpz_add(sum, sum, l->weight[code][y]);
        if (code == 0)
            mpz_set(l->total, sum);
        agree &= mpz_cmp(sum, l->total) == 0;
    }
    mpz_clear(sum);
    return agree;
}

/* What all coins together weigh, from the coins alone. */
static void coins_total(const hsy_scheme *s, mpz_t total)
{
    mpz_t x;

    mpz_init_set_ui(total, 1);
    mpz_init(x);
    if (s->digits != 0) {
        mpz_mul_2exp(total, total, 64 + (mp_bitcnt_t)s->digits * s->d);
    } else {
        struct coin coins[COINS];

        coins_of(s, coins);
        mpz_mul_2exp(total, total, s->param[HSY_PARAM_POOL_BITS]);
        for (size_t k = 0; k < COINS; k++) {
            mpz_t sum;

            mpz_init(sum);
            for (size_t i = 0; i < coins[k].classes; i++) {
                mpz_set_ui(x, coins[k].last[i] - coins[k].first[i]);
                mpz_add_ui(x, x, 1);
                mpz_add(sum, sum, x);
            }
            mpz_mul(total, total, sum);
            mpz_clear(sum);
        }
    }
    mpz_clear(x);
}

/* The largest P[y | x] / P[y | x'] found is the one stated. */
static bool worst_agrees(const hsy_scheme *s, const struct law *l, size_t codes)
{
    hsy_factor factors[4];
    size_t count;
    mpz_t num, den, x, high, low;
    bool agree;

    mpz_inits(num, den, x, NULL);
    mpz_init_set_ui(high, 1);
    mpz_init_set_ui(low, 1);
    for (unsigned y = 0; y < OUTPUTS; y++)
        for (size_t a = 0; a < codes; a++)
            for (size_t b = 0; b < codes; b++) {
                if (mpz_sgn(l->weight[a][y]) == 0)
                    continue;
                mpz_mul(num, l->weight[a][y], low);
                mpz_mul(den, l->weight[b][y], high);
                if (mpz_cmp(num, den) > 0) {
                    mpz_set(high, l->weight[a][y]);
                    mpz_set(low, l->weight[b][y]);
                }
            }
    hsy_law_worst(s, factors, &count);
    mpz_set_ui(num, 1);
    mpz_set_ui(den, 1);
    for (size_t i = 0; i < count; i++) {
        set_whole(x, factors[i].num);
        mpz_mul(num, num, x);
        set_whole(x, factors[i].den);
        mpz_mul(den, den, x);
    }
    mpz_mul(num, num, low);
    mpz_mul(den, den, high);
    agree = mpz_cmp(num, den) == 0;
    mpz_clears(num, den, x, high, low, NULL);
    return agree;
}

static void exact_law_of(const hsy_spec *spec, const char *name)
{
    hsy_scheme *s = trial_scheme(spec);
    size_t codes = (size_t)hsy_code_count(s);
    double epsilon = (double)s->nano_epsilon / 1e9;
    struct law *l = trial_memory(sizeof *l);
    bool agree;
    mpz_t total;

    law_init(l);
    agree = s->digits != 0 ? enumerate_lanes(s, l, codes)
                           : enumerate_words(s, l, codes);
    ok(agree, "%s, d = %zu, epsilon %g: a class of coins gives one report",
       name, codes, epsilon);
    coins_total(s, total);
    ok(law_sums_to_one(l, codes) && mpz_cmp(total, l->total) == 0,
       "%s, d = %zu, epsilon %g: probabilities sum up to 1", name, codes,
       epsilon);
    ok(law_agrees(s, l, codes), "%s, d = %zu, epsilon %g: exactly hsy_law",
       name, codes, epsilon);
    ok(worst_agrees(s, l, codes), "%s, d = %zu, epsilon %g: worst ratio", name,
       codes, epsilon);
    mpz_clear(total);
    law_clear(l);
    free(l);
    free(s);
}

/* ---- Without presuming where the edges are ------------------------------- */

#define COARSE 256

/*
 * Every pair of words at a resolution of 8 bits: where the four corners of a
 * pair of cells agree, the report counts as certain, else as open. The law must
 * lie between what is certain and that plus what is open.
 */
static bool coarse_code(const hsy_scheme *s, uint64_t code, double *law)
{
    const uint64_t rest = UINT64_MAX / COARSE;
    unsigned certain[OUTPUTS] = {0}, open = 0;
    bool agree = true;

    for (unsigned cell = 0; cell < COARSE * COARSE; cell++) {
        uint64_t a = (uint64_t)(cell / COARSE) << 56;
        uint64_t b = (uint64_t)(cell % COARSE) << 56;
        const uint64_t corners[4][2] = {
            {a, b}, {a | rest, b}, {a, b | rest}, {a | rest, b | rest}};
        unsigned y = play(s, code, corners[0], 2, 1);
        bool same = y < OUTPUTS;

        for (unsigned i = 1; i < 4; i++)
            same &= play(s, code, corners[i], 2, 1) == y;
        if (same)
            certain[y]++;
        else
            open++;
    }
    for (unsigned y = 0; y < OUTPUTS; y++) {
        double cells = law[y] * COARSE * COARSE;

        agree &=
            cells >= certain[y] - 1e-6 && cells <= certain[y] + open + 1e-6;
    }
    return agree && open < COARSE * COARSE / 8;
}

/* P[report | code], given the seed that play is handed where there is one. */
static void coarse_law(const hsy_scheme *s, uint64_t code, double *law)
{
    for (unsigned y = 0; y < OUTPUTS; y++) {
        const uint8_t report[8] = {(uint8_t)y};
        hsy_factor f[2];
        size_t count, seeds = (size_t)1 << s->param[HSY_PARAM_POOL_BITS];

        law[y] = 0;
        if (hsy_check(s, report) != HSY_OK ||
            (y & (seeds - 1)) != (1 & (seeds - 1)))
            continue;
        hsy_law(s, f, &count, code, report);
        law[y] = (double)f[count - 1].num / (double)f[count - 1].den;
    }
}

static void coarse_law_of(const hsy_spec *spec, const char *name)
{
    hsy_scheme *s = trial_scheme(spec);
    size_t codes = (size_t)hsy_code_count(s);
    double law[OUTPUTS];
    bool agree = true, wrong = false;

    for (uint64_t code = 0; code < codes; code++) {
        coarse_law(s, code, law);
        agree &= coarse_code(s, code, law);
        coarse_law(s, (code + 1) % codes, law);
        wrong |= coarse_code(s, code, law);
    }
    ok(agree, "%s: every pair of words at 8 bits agrees with the law", name);
    ok(!wrong, "%s: control: and not with the law of another truth", name);
    free(s);
}

static void exact_law_of_designs(void)
{
    static const struct {
        const char *name;
        uint32_t design;
        hsy_ratio chance[2];
    } designs[] = {
        {"spinner 3/4", HSY_DESIGN_SPINNER, {{3, 4}, {0, 0}}},
        {"spinner 1/5", HSY_DESIGN_SPINNER, {{1, 5}, {0, 0}}},
        {"coins 1/2, 1/2", HSY_DESIGN_COINS, {{1, 2}, {1, 2}}},
        {"coins 3/10, 1/4", HSY_DESIGN_COINS, {{3, 10}, {1, 4}}},
        {"channel 4/5, 1/3", HSY_DESIGN_CHANNEL, {{4, 5}, {1, 3}}},
        {"channel 1/7, 1/2", HSY_DESIGN_CHANNEL, {{1, 7}, {1, 2}}},
    };

    for (size_t i = 0; i < sizeof designs / sizeof designs[0]; i++) {
        hsy_spec spec = {
            .size = sizeof spec,
            .mechanism = "rr",
            .kind = HSY_KIND_YES_NO,
            .design = designs[i].design,
            .chance = {designs[i].chance[0], designs[i].chance[1]}};

        exact_law_of(&spec, designs[i].name);
    }
}

/* Hash ranges that are no power of two, where the mechanism has one. */
static void exact_law_of_rows(void)
{
    static const double epsilons[] = {0.1, 1, 4, 20};
    static const uint32_t domains[] = {2, 3, 5, 8};
    const hsy_catalogue *row;

    for (size_t m = 0; (row = hsy_mechanism_at(m)) != NULL; m++)
        for (size_t k = 0; k < 16; k++) {
            uint32_t d = domains[k / 4];
            hsy_spec spec = trial_small(row, d, epsilons[k % 4]);

            if (!trial_takes(row, d))
                continue;
            if (strcmp(row->name, "olh") == 0)
                spec.param[HSY_PARAM_G] = k % 4 > 1 ? 7 : 0;
            exact_law_of(&spec, row->name);
        }
}

int main(void)
{
    const hsy_catalogue *row;

    exact_law_of_rows();
    exact_law_of_designs();
    for (size_t m = 0; (row = hsy_mechanism_at(m)) != NULL; m++) {
        hsy_spec spec = trial_small(row, trial_takes(row, 4) ? 4 : 2, 1);

        if (row->name[1] != 'u') /* unary words are lanes */
            coarse_law_of(&spec, row->name);
    }
    return tap_done();
}
