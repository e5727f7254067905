/*
 * test_exact_law.c - X2: the law of a report through the real code.
 *
 * A coin is a 64-bit word with a few edges. Every class of words between two
 * edges is played by its first and its last word through hsy_randomize, and
 * counted with its exact size; the sums must equal hsy_law as rationals, and
 * the largest ratio hsy_law_worst. For unary reports the lanes of the planes
 * are the words.
 */
#include "rig/enumerate.h"

#define OUTPUTS 256 /* 8 bits of report at most */
#define LANES 8

/* What randomize draws for a scheme of the first mechanisms; false if it is of
 * another, which then has a test of its own, test_law_NAME.c. */
static bool coins_of(const hsy_scheme *s, struct enumerate_coins *coins)
{
    uint64_t low = s->bits.own < s->bits.other ? s->bits.own : s->bits.other;
    uint64_t high = s->bits.own < s->bits.other ? s->bits.other : s->bits.own;
    const uint64_t channel[2] = {low, high};
    const uint64_t blanket =
        s->law == LAW_TWO_LEVEL ? s->two.choice.bound << s->two.shift : 0;

    switch (s->mech->row.id) {
    case 1: /* rr */
        enumerate_edges(coins, &s->coin, channel, 2);
        return true;
    case 5: /* olh */
    case 6: /* blh */
        coins->published = (uint64_t)1 << s->param[HSY_PARAM_POOL_BITS];
        coins->published_bytes = 4;
        /* fall through */
    case 2: /* grr */
        enumerate_edges(coins, &s->coin, &blanket, 1);
        enumerate_below(coins, s->two.choice.bound);
        return true;
    case 7: /* onebit */
        enumerate_below(coins, (uint64_t)(s->hi - s->lo));
        enumerate_edges(coins, &s->coin, channel, 2);
        return true;
    default:
        return false;
    }
}

/* The report, as a number, that these coins give; OUTPUTS if none. */
static unsigned play(const hsy_scheme *s, uint64_t code, const uint64_t *words,
                     size_t n, uint32_t seed)
{
    uint64_t y =
        enumerate_play(s, code, words, n, seed,
                       s->param[HSY_PARAM_POOL_BITS] != 0 ? sizeof seed : 0);

    return y < OUTPUTS ? (unsigned)y : OUTPUTS;
}

/* ---- Unary: a word for each lane ----------------------------------------- */

/* The tape on which lane i reads U[i] and the true bit reads coin: a lane's
 * digits stand complemented in the planes, last digit first. */
static unsigned play_lanes(const hsy_scheme *s, uint64_t code,
                           const uint64_t *lanes, uint64_t coin)
{
    uint64_t words[65] = {0};

    for (unsigned j = 0; j < s->bits.digits; j++)
        for (unsigned i = 0; i < s->d; i++)
            words[j] |= (~lanes[i] >> j & 1) << i;
    words[s->bits.digits] = coin;
    return play(s, code, words, s->bits.digits + 1, 0);
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
static bool enumerate_lanes_of(const hsy_scheme *s, struct enumerate_law *l,
                               uint64_t code, unsigned members)
{
    uint64_t edge = s->bits.other >> (64 - s->bits.digits);
    uint64_t last = UINT64_MAX >> (64 - s->bits.digits);
    unsigned combos = 1;
    bool agree = true;
    mpz_t size, product;

    mpz_inits(size, product, NULL);
    for (unsigned i = 0; i <= s->d; i++)
        combos *= members;
    for (unsigned combo = 0; combo < combos; combo++) {
        uint64_t lanes[LANES];
        unsigned rest = combo, want = 0, y, pick = rest % members;
        uint64_t coin = lane_member(s->bits.own, UINT64_MAX, pick);
        bool counts = pick < 2, own = pick % 2 == 0;

        lane_size(product, s->bits.own, UINT64_MAX, pick);
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
            mpz_add(l->weight[code * OUTPUTS + y],
                    l->weight[code * OUTPUTS + y], product);
    }
    mpz_clears(size, product, NULL);
    return agree;
}

static bool enumerate_lanes(const hsy_scheme *s, struct enumerate_law *l,
                            size_t codes)
{
    bool agree = true;

    for (uint64_t code = 0; code < codes; code++)
        agree &= enumerate_lanes_of(s, l, code, s->d <= 4 ? 4 : 2);
    return agree;
}

static void exact_law_of(const hsy_spec *spec, const char *name)
{
    hsy_scheme *s = trial_scheme(spec);
    struct enumerate_coins coins = {0};

    if (s->law == LAW_BITS && s->bits.digits != 0 && s->mech->row.id <= 4) {
        struct enumerate_law l;
        bool agree;

        enumerate_init(&l, s, OUTPUTS);
        agree = enumerate_lanes(s, &l, l.codes);
        mpz_setbit(l.total, 64 + (mp_bitcnt_t)s->bits.digits * s->d);
        enumerate_compare(s, name, &l, agree);
        enumerate_clear(&l);
    } else if (coins_of(s, &coins)) {
        enumerate_check(s, name, &coins, OUTPUTS);
    }
    enumerate_coins_clear(&coins);
    free(s);
}

/* ---- Without presuming where the edges are ------------------------------- */

#define COARSE 256

/*
 * Every pair of words at a resolution of 8 bits: where the four corners of a
 * pair of cells agree, the report counts as certain, else as open. The law must
 * lie between what is certain and that plus what is open.
 */
static bool coarse_code(const hsy_scheme *s, uint64_t code, size_t n,
                        double *law)
{
    const uint64_t rest = UINT64_MAX / COARSE;
    unsigned certain[OUTPUTS] = {0}, open = 0;
    bool agree = true;

    for (unsigned cell = 0; cell < COARSE * COARSE; cell++) {
        uint64_t a = (uint64_t)(cell / COARSE) << 56;
        uint64_t b = (uint64_t)(cell % COARSE) << 56;
        const uint64_t corners[4][2] = {
            {a, b}, {a | rest, b}, {a, b | rest}, {a | rest, b | rest}};
        unsigned y = play(s, code, corners[0], n, 1);
        bool same = y < OUTPUTS;

        for (unsigned i = 1; i < 4; i++)
            same &= play(s, code, corners[i], n, 1) == y;
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
        law[y] = (double)seeds; /* the seed is given */
        for (size_t i = 0; i < count; i++)
            law[y] *= (double)f[i].num / (double)f[i].den;
    }
}

static void coarse_law_of(const hsy_spec *spec, const char *name)
{
    hsy_scheme *s = trial_scheme(spec);
    size_t codes = (size_t)hsy_code_count(s);
    struct enumerate_coins coins = {0};
    double law[OUTPUTS];
    bool agree = true, wrong = false;

    if (!coins_of(s, &coins))
        codes = 0; /* another test's */

    for (uint64_t code = 0; code < codes; code++) {
        coarse_law(s, code, law);
        agree &= coarse_code(s, code, coins.n, law);
        coarse_law(s, (code + 1) % codes, law);
        wrong |= coarse_code(s, code, coins.n, law);
    }
    if (codes != 0) {
        ok(agree, "%s: every pair of words at 8 bits agrees with the law",
           name);
        ok(!wrong, "%s: control: and not with the law of another truth", name);
    }
    enumerate_coins_clear(&coins);
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
            hsy_spec spec;

            if (!trial_takes(row, d))
                continue;
            spec = trial_small(row, d, epsilons[k % 4]);
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

        coarse_law_of(&spec, row->name);
    }
    return tap_done();
}
