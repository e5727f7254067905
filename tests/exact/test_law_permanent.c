/*
 * test_law_permanent.c - X2: the law of reports made from a permanent
 * answer, through the real code.
 *
 * What a device draws for good (a seed, a cohort, alpha), the permanent answer
 * of every key and the step of a report are each enumerated by the edges of
 * their coins, as enumerate.h does for a single report. As rationals:
 *
 *     sum over answers of P[answer | key] P[report | answer]
 *
 * is the law of the report scheme up to 2^-50, and no ratio of it passes that
 * scheme's worst. And for all sequences of up to four reports the largest ratio
 * of their joint laws is what hsy_permanent_epsilon says.
 */
#include "lib/family/twolevel.h"
#include "lib/scheme/permanent.h"
#include "rig/enumerate.h"

#define LAW_OUTPUTS 1024u
#define LAW_CODES 8u
#define LAW_FEW 64u /* outputs that one seed can have */
#define LAW_ROUNDS 4u
#define LAW_CLOSE 1e-11 /* of sums of doubles against the formula */

/* ---- Coins --------------------------------------------------------------- */

/* The first `lanes` coins are drawn bit by bit: planes of digits, the last
 * first, of which lane i stands at bit offset + i (kernels.h, slice); a lane is
 * below a threshold by the zeros of its digits (bernoulli_bits.c). The rest are
 * words, which follow. */
struct law_draw {
    struct enumerate_coins coins;
    size_t lanes, offset;
    unsigned digits;
};

static const struct prob_base law_word = {1, UINT64_MAX};

static size_t law_tape(const struct law_draw *draw, uint64_t *tape,
                       const uint64_t *words)
{
    size_t n = 0;

    for (; n < draw->digits; n++) {
        tape[n] = 0;
        for (size_t i = 0; i < draw->lanes; i++)
            tape[n] |= (~words[i] >> (64 - draw->digits + n) & 1)
                       << (draw->offset + i);
    }
    for (size_t i = draw->lanes; i < draw->coins.n; i++)
        tape[n++] = words[i];
    return n;
}

static void law_lanes(struct law_draw *draw, size_t lanes, size_t offset,
                      unsigned digits, const uint64_t *edges, size_t n)
{
    draw->lanes = lanes;
    draw->offset = offset;
    draw->digits = digits;
    for (size_t i = 0; i < lanes; i++)
        enumerate_edges(&draw->coins, &law_word, edges, n);
}

/* What the mechanisms draw for an answer: said anew, as in test_exact_law. */
static struct law_draw law_permanent_draw(const hsy_permanent *c)
{
    const hsy_scheme *s = c->permanent;
    const struct permanent_part part = s->mech->client->permanent->part(s);
    const uint64_t channel[2] = {s->bits.other, s->bits.own};
    struct law_draw draw = {0};

    if (s->mech->client->permanent->step == PERMANENT_OUTPUT) {
        uint64_t blanket = (uint64_t)part.count << s->two.shift;

        enumerate_edges(&draw.coins, &s->coin, &blanket, 1);
        enumerate_below(&draw.coins, part.count);
    } else if (s->mech->client->permanent->step == PERMANENT_INSTANT) {
        law_lanes(&draw, part.count, 0, s->rappor.flip_digits, &s->rappor.flip,
                  1);
    } else if (s->total == 0) {
        law_lanes(&draw, part.count, 0, s->bits.digits, &s->bits.other, 1);
        enumerate_edges(&draw.coins, &law_word, &s->bits.own, 1);
    } else {
        if (s->kind == HSY_KIND_NUMBER)
            enumerate_below(&draw.coins, (uint64_t)(s->hi - s->lo));
        for (uint32_t i = 0; i < part.count; i++)
            enumerate_edges(&draw.coins, &s->coin, channel, 2);
    }
    return draw;
}

static struct law_draw law_step_draw(const hsy_permanent *c)
{
    const struct law_rappor *r = &c->report->rappor;
    const struct permanent_part part =
        c->report->mech->client->permanent->part(c->report);
    const uint64_t low = r->low < r->miss ? r->low : r->miss;
    const uint64_t instant[2] = {low, r->low + r->miss - low};
    struct law_draw draw = {0};

    if (c->report->mech->client->permanent->step == PERMANENT_OUTPUT) {
        enumerate_edges(&draw.coins, &law_word, &c->step, 1);
        enumerate_below(&draw.coins, part.count);
    } else if (c->report->mech->client->permanent->step == PERMANENT_INSTANT) {
        law_lanes(&draw, part.count, 0, r->step_digits, instant, 2);
    } else {
        law_lanes(&draw, part.count, part.first, 64, &c->step, 1);
    }
    return draw;
}

/* ---- What a device has for good ------------------------------------------ */

struct law_own {
    uint64_t secret[2], published; /* two words of one class */
    size_t secret_bytes, published_bytes;
};

static struct law_own *law_owns(const hsy_permanent *c, size_t *count)
{
    const hsy_scheme *s = c->permanent;
    const uint64_t cohorts = s->param[HSY_PARAM_COHORTS];
    struct enumerate_coins alpha = {.n = 0};
    struct law_own *own;

    *count = 1;
    if (s->kind == HSY_KIND_NUMBER) {
        *count = (size_t)c->grain;
        enumerate_below(&alpha, c->grain);
    } else if (s->param[HSY_PARAM_POOL_BITS] != 0) {
        *count = (size_t)1 << s->param[HSY_PARAM_POOL_BITS];
    } else if (cohorts != 0) {
        *count = (size_t)cohorts;
    }
    own = trial_memory(*count * sizeof *own);
    for (size_t i = 0; i < *count; i++) {
        if (s->kind == HSY_KIND_NUMBER)
            own[i] = (struct law_own){
                .secret = {alpha.coin[0].first[i], alpha.coin[0].last[i]},
                .secret_bytes = 8};
        else if (cohorts != 0)
            own[i] = (struct law_own){
                .published = (uint64_t)(((hsy_u128)i << 64) / cohorts) + 2,
                .published_bytes = 8};
        else if (*count > 1)
            own[i] = (struct law_own){.published = i, .published_bytes = 4};
    }
    enumerate_coins_clear(&alpha);
    return own;
}

/* The key of a code; RAPPOR's is the code, whatever the cohort. */
static uint64_t law_key(const hsy_permanent *c, const struct law_own *own,
                        uint64_t code)
{
    const bool asks = c->permanent->mech->client->permanent->key != NULL;
    uint64_t keys[2] = {UINT64_MAX, UINT64_MAX};

    for (size_t i = 0; i < 2; i++) {
        struct tape secret = {&own->secret[i], own->secret_bytes};
        struct tape published = {&own->published,
                                 asks ? own->published_bytes : 0};
        hsy_coins coins = {{tape_fill, &secret}, {tape_fill, &published}};

        if (hsy_permanent_key(c, &keys[i], code, &coins) != HSY_OK ||
            secret.left != 0 || published.left != 0)
            return UINT64_MAX;
    }
    return keys[0] == keys[1] ? keys[0] : UINT64_MAX;
}

/* ---- Enumeration --------------------------------------------------------- */

/* What is played: a permanent answer, or a report from one. */
struct law_play {
    const hsy_permanent *c;
    const struct law_own *own; /* NULL: a report */
    uint64_t key, answer;
};

static uint64_t law_number(const uint8_t *report, size_t bytes)
{
    uint64_t y = 0;

    for (size_t i = 0; i < bytes; i++)
        y |= (uint64_t)report[i] << 8 * i;
    return y;
}

static uint64_t law_one(const struct law_play *p, const uint64_t *tape,
                        size_t n)
{
    const hsy_scheme *s = p->own != NULL ? p->c->permanent : p->c->report;
    struct tape secret = {tape, n * sizeof *tape};
    struct tape published = {NULL, 0};
    hsy_coins coins = {{tape_fill, &secret}, {tape_fill, &published}};
    uint8_t report[8] = {0}, answer[8];
    hsy_status st;

    if (p->own != NULL) {
        published = (struct tape){&p->own->published, p->own->published_bytes};
        st = hsy_permanent_answer(p->c, report, p->key, &coins);
    } else {
        enumerate_report(answer, s, p->answer);
        st = hsy_permanent_report(p->c, report, answer, &coins.secret);
    }
    if (st != HSY_OK || hsy_check(s, report) != HSY_OK || secret.left != 0 ||
        published.left != 0)
        return UINT64_MAX;
    return law_number(report, s->report_bytes);
}

/* One class of each coin, all corners: the report, if it is one. */
static uint64_t law_corners(const struct law_play *p,
                            const struct law_draw *draw, const size_t *at)
{
    uint64_t y = UINT64_MAX;

    for (size_t corner = 0; corner < (size_t)1 << draw->coins.n; corner++) {
        uint64_t words[ENUMERATE_COINS], tape[64 + ENUMERATE_COINS], got;

        for (size_t i = 0; i < draw->coins.n; i++)
            words[i] = corner >> i & 1 ? draw->coins.coin[i].last[at[i]]
                                       : draw->coins.coin[i].first[at[i]];
        got = law_one(p, tape, law_tape(draw, tape, words));
        if (got >= LAW_OUTPUTS || (corner != 0 && got != y))
            return UINT64_MAX;
        y = got;
    }
    return y;
}

/* law[y] = P[y], exactly; false unless every class of coins gives one y. */
static bool law_enumerate(const struct law_play *p, const struct law_draw *draw,
                          mpq_t *law)
{
    size_t at[ENUMERATE_COINS] = {0}, i;
    struct enumerate_law total = {.outputs = 0};
    mpz_t product, size;
    bool agree = true;

    mpz_inits(product, size, total.total, NULL);
    enumerate_total(&total, &draw->coins);
    for (size_t y = 0; y < LAW_OUTPUTS; y++)
        mpq_set_ui(law[y], 0, 1);
    do {
        uint64_t y = law_corners(p, draw, at);

        mpz_set_ui(product, 1);
        for (i = 0; i < draw->coins.n; i++) {
            const struct enumerate_coin *coin = &draw->coins.coin[i];

            mpz_set_ui(size, coin->last[at[i]] - coin->first[at[i]]);
            mpz_add_ui(size, size, 1);
            mpz_mul(product, product, size);
        }
        agree &= y != UINT64_MAX;
        if (agree)
            mpz_add(mpq_numref(law[y]), mpq_numref(law[y]), product);
        for (i = 0; i < draw->coins.n; i++) {
            if (++at[i] < draw->coins.coin[i].classes)
                break;
            at[i] = 0;
        }
    } while (i < draw->coins.n);
    for (size_t y = 0; y < LAW_OUTPUTS; y++) {
        mpz_set(mpq_denref(law[y]), total.total);
        mpq_canonicalize(law[y]);
    }
    mpz_clears(product, size, total.total, NULL);
    return agree;
}

static mpq_t *law_new(size_t n)
{
    mpq_t *law = trial_memory(n * sizeof *law);

    for (size_t i = 0; i < n; i++)
        mpq_init(law[i]);
    return law;
}

static void law_free(mpq_t *law, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mpq_clear(law[i]);
    free(law);
}

/* ---- One seed, cohort or alpha ------------------------------------------- */

/* Answers and reports that are possible with it, few of them, and their laws:
 * P[answer | key], P[report | answer], P[report | key]. */
struct law_table {
    size_t keys, outputs;
    uint64_t output[LAW_FEW];
    mpq_t *kept;   /* [key * LAW_OUTPUTS + answer] */
    mpq_t *step;   /* [answer's place * LAW_OUTPUTS + report] */
    mpq_t *single; /* [key * LAW_OUTPUTS + report] */
    double twice[LAW_CODES][LAW_FEW], once[LAW_FEW][LAW_FEW];
};

static void law_table_init(struct law_table *t, const hsy_permanent *c)
{
    t->keys = (size_t)hsy_permanent_keys(c);
    t->kept = law_new(LAW_CODES * LAW_OUTPUTS);
    t->step = law_new(LAW_FEW * LAW_OUTPUTS);
    t->single = law_new(LAW_CODES * LAW_OUTPUTS);
}

static void law_table_clear(struct law_table *t)
{
    law_free(t->kept, LAW_CODES * LAW_OUTPUTS);
    law_free(t->step, LAW_FEW * LAW_OUTPUTS);
    law_free(t->single, LAW_CODES * LAW_OUTPUTS);
}

/* Every step leads to an answer that some key has. */
static bool law_closed(struct law_table *t)
{
    mpq_t sum, one;
    bool closed = true;

    mpq_inits(sum, one, NULL);
    mpq_set_ui(one, 1, 1);
    for (size_t a = 0; a < t->outputs; a++) {
        mpq_set_ui(sum, 0, 1);
        for (size_t b = 0; b < t->outputs; b++) {
            mpq_t *law = &t->step[a * LAW_OUTPUTS + t->output[b]];

            mpq_add(sum, sum, *law);
            t->once[a][b] = mpq_get_d(*law);
        }
        closed &= mpq_equal(sum, one) != 0;
    }
    mpq_clears(sum, one, NULL);
    return closed;
}

static void law_multiply(struct law_table *t)
{
    mpq_t x;

    mpq_init(x);
    for (size_t key = 0; key < t->keys; key++)
        for (size_t y = 0; y < LAW_OUTPUTS; y++) {
            mpq_t *sum = &t->single[key * LAW_OUTPUTS + y];

            mpq_set_ui(*sum, 0, 1);
            for (size_t a = 0; a < t->outputs; a++) {
                mpq_mul(x, t->kept[key * LAW_OUTPUTS + t->output[a]],
                        t->step[a * LAW_OUTPUTS + y]);
                mpq_add(*sum, *sum, x);
            }
        }
    mpq_clear(x);
}

static bool law_fill(struct law_table *t, const hsy_permanent *c,
                     const struct law_own *own,
                     const struct law_draw *permanent,
                     const struct law_draw *step)
{
    bool agree = true;

    t->outputs = 0;
    for (size_t key = 0; key < t->keys; key++) {
        struct law_play play = {.c = c, .own = own, .key = key};

        agree &= law_enumerate(&play, permanent, t->kept + key * LAW_OUTPUTS);
    }
    for (uint64_t y = 0; y < LAW_OUTPUTS; y++) {
        bool seen = false;

        for (size_t key = 0; key < t->keys; key++)
            seen |= mpq_sgn(t->kept[key * LAW_OUTPUTS + y]) != 0;
        if (seen && t->outputs < LAW_FEW)
            t->output[t->outputs++] = y;
    }
    for (size_t a = 0; a < t->outputs; a++) {
        struct law_play play = {.c = c, .answer = t->output[a]};

        agree &= law_enumerate(&play, step, t->step + a * LAW_OUTPUTS);
        for (size_t key = 0; key < t->keys; key++)
            t->twice[key][a] =
                mpq_get_d(t->kept[key * LAW_OUTPUTS + t->output[a]]);
    }
    law_multiply(t);
    return agree && law_closed(t);
}

/* ---- Comparisons --------------------------------------------------------- */

/* The largest P[y | key] / P[y | key'] with one seed is at most the report
 * scheme's worst. */
static bool law_within(const struct law_table *t, const hsy_scheme *s)
{
    hsy_factor factors[4];
    size_t count;
    mpq_t worst, x;
    bool within = true;

    mpq_inits(worst, x, NULL);
    hsy_law_worst(s, factors, &count);
    enumerate_factors(factors, count, true, mpq_numref(worst),
                      mpq_denref(worst));
    mpz_pow_ui(mpq_numref(worst), mpq_numref(worst), hsy_law_power(s));
    mpz_pow_ui(mpq_denref(worst), mpq_denref(worst), hsy_law_power(s));
    mpq_canonicalize(worst);
    for (size_t i = 0; i < t->keys; i++)
        for (size_t j = 0; j < t->keys; j++)
            for (size_t y = 0; y < LAW_OUTPUTS; y++) {
                mpq_mul(x, t->single[j * LAW_OUTPUTS + y], worst);
                within &= mpq_cmp(t->single[i * LAW_OUTPUTS + y], x) <= 0;
            }
    mpq_clears(worst, x, NULL);
    return within;
}

/* The largest distance to the law of the report scheme, of any probability. */
static double law_distance(const hsy_scheme *s, mpq_t *law)
{
    hsy_factor *factors = trial_memory(hsy_law_factors(s) * sizeof *factors);
    double most = 0;
    mpq_t want;

    mpq_init(want);
    for (uint64_t code = 0; code < hsy_code_count(s); code++)
        for (uint64_t y = 0; y < LAW_OUTPUTS && y >> s->report_bits == 0; y++) {
            uint8_t report[8] = {0};
            size_t count;

            enumerate_report(report, s, y);
            mpq_set_ui(want, 0, 1);
            if (hsy_check(s, report) == HSY_OK) {
                hsy_law(s, factors, &count, code, report);
                enumerate_factors(factors, count, false, mpq_numref(want),
                                  mpq_denref(want));
                mpq_canonicalize(want);
            }
            mpq_sub(want, want, law[code * LAW_OUTPUTS + y]);
            most = fmax(most, fabs(mpq_get_d(want)));
        }
    mpq_clear(want);
    free(factors);
    return most;
}

/* ln of the largest ratio of the chances of `rounds` reports, all of one key.
 */
static double law_sequences(const struct law_table *t, unsigned rounds)
{
    size_t y[LAW_ROUNDS] = {0}, i;
    double most = 0;

    do {
        double high = 0, low = 1;

        for (size_t key = 0; key < t->keys; key++) {
            double chance = 0;

            for (size_t a = 0; a < t->outputs; a++) {
                double each = t->twice[key][a];

                for (unsigned r = 0; r < rounds; r++)
                    each *= t->once[a][y[r]];
                chance += each;
            }
            high = fmax(high, chance);
            low = fmin(low, chance);
        }
        if (high > 0)
            most = fmax(most, log(high / low));
        for (i = 0; i < rounds; i++) {
            if (++y[i] < t->outputs)
                break;
            y[i] = 0;
        }
    } while (i < rounds);
    return most;
}

struct law_result {
    bool classes, within;
    double distance, spent[LAW_ROUNDS];
};

static void law_all(const hsy_permanent *c, struct law_result *result)
{
    struct law_draw permanent = law_permanent_draw(c), step = law_step_draw(c);
    mpq_t *law = law_new(LAW_CODES * LAW_OUTPUTS);
    struct law_table *t = trial_memory(sizeof *t);
    size_t owns;
    struct law_own *own = law_owns(c, &owns);

    law_table_init(t, c);
    *result = (struct law_result){true, true, 0, {0}};
    for (size_t i = 0; i < owns; i++) {
        result->classes &= law_fill(t, c, &own[i], &permanent, &step);
        result->within &= law_within(t, c->report);
        for (unsigned r = 0; r < LAW_ROUNDS; r++)
            result->spent[r] = fmax(result->spent[r], law_sequences(t, r + 1));
        for (uint64_t code = 0; code < hsy_code_count(c->report); code++) {
            uint64_t key = law_key(c, &own[i], code);

            result->classes &= key < t->keys;
            for (size_t y = 0; y < LAW_OUTPUTS && key < t->keys; y++)
                mpq_add(law[code * LAW_OUTPUTS + y],
                        law[code * LAW_OUTPUTS + y],
                        t->single[key * LAW_OUTPUTS + y]);
        }
    }
    for (size_t i = 0; i < LAW_CODES * LAW_OUTPUTS; i++) {
        mpz_mul_ui(mpq_denref(law[i]), mpq_denref(law[i]), owns);
        mpq_canonicalize(law[i]);
    }
    result->distance = law_distance(c->report, law);
    law_table_clear(t);
    law_free(law, LAW_CODES * LAW_OUTPUTS);
    enumerate_coins_clear(&permanent.coins);
    enumerate_coins_clear(&step.coins);
    free(own);
    free(t);
}

/* ---- Permanent answers --------------------------------------------------- */

static void law_of(const char *name, const hsy_spec *permanent,
                   const hsy_spec *report, uint64_t grain)
{
    hsy_scheme *first = trial_scheme(permanent), *second = trial_scheme(report);
    struct law_result result;
    hsy_permanent c;
    bool made = hsy_permanent_init(&c, first, second, grain, NULL) == HSY_OK;

    if (!ok(made, "%s: a permanent answer", name))
        return;
    law_all(&c, &result);
    ok(result.classes, "%s: a class of coins gives one report", name);
    ok(result.distance <= 0x1p-50,
       "%s: a single report has its scheme's law, up to %.3g", name,
       result.distance);
    ok(result.within, "%s: and no ratio passes that law's worst", name);
    for (unsigned r = 0; r < LAW_ROUNDS; r++)
        ok(fabs(result.spent[r] - hsy_permanent_epsilon(&c, r + 1)) <=
               LAW_CLOSE,
           "%s: %u reports together spend %.9f", name, r + 1, result.spent[r]);
    free(first);
    free(second);
}

/* The smallest fault there can be: a step of one unit less. */
static void law_control(const char *mechanism)
{
    hsy_spec permanent = trial_values(mechanism, 3, 2);
    hsy_spec report = trial_values(mechanism, 3, 1);
    hsy_scheme *first = trial_scheme(&permanent);
    hsy_scheme *second = trial_scheme(&report);
    struct law_result result = {.within = true};
    hsy_permanent c;

    if (hsy_permanent_init(&c, first, second, 0, NULL) == HSY_OK) {
        c.step--;
        law_all(&c, &result);
    }
    ok(!result.within, "control: %s with a step 2^-64 smaller spends more",
       mechanism);
    free(first);
    free(second);
}

/* A mechanism at several pairs of epsilon, k values. */
static void law_values(const char *mechanism, uint32_t k, uint64_t pool_bits,
                       uint64_t g, uint64_t bits)
{
    static const double epsilons[][2] = {{2, 1}, {4, 0.5}, {1, 1}, {8, 7.9}};
    char name[80];

    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        hsy_spec permanent = trial_values(mechanism, k, epsilons[i][0]);
        hsy_spec report;

        permanent.param[HSY_PARAM_POOL_BITS] = pool_bits;
        permanent.param[HSY_PARAM_G] = g;
        permanent.param[HSY_PARAM_SAMPLED_BITS] = bits;
        report = permanent;
        report.nano_epsilon = (uint64_t)(epsilons[i][1] * 1e9 + 0.5);
        snprintf(name, sizeof name, "%s, %u values, epsilon %g then %g",
                 mechanism, k, epsilons[i][0], epsilons[i][1]);
        law_of(name, &permanent, &report, 0);
    }
}

static void law_numbers(int64_t width, uint64_t grain)
{
    hsy_spec permanent = trial_number(width, 3);
    hsy_spec report = trial_number(width, 1);
    char name[80];

    snprintf(name, sizeof name, "onebit, range %d, grain %u", (int)width,
             (unsigned)grain);
    law_of(name, &permanent, &report, grain);
}

static hsy_spec law_rappor_spec(uint32_t k, uint32_t h, uint32_t d,
                                const hsy_ratio *chance)
{
    hsy_spec spec = trial_values("rappor", d, 0);

    spec.design = HSY_DESIGN_RAPPOR;
    memcpy(spec.chance, chance, 3 * sizeof *chance);
    spec.param[HSY_PARAM_FILTER_BITS] = k;
    spec.param[HSY_PARAM_HASHES] = h;
    spec.param[HSY_PARAM_COHORTS] = 3;
    return spec;
}

static void law_rappor(void)
{
    static const hsy_ratio usual[3] = {{1, 2}, {1, 2}, {3, 4}};
    static const hsy_ratio other[3] = {{1, 4}, {7, 20}, {13, 20}};
    static const hsy_ratio kept[3] = {{1, 2}, {0, 1}, {1, 1}};
    hsy_spec spec = law_rappor_spec(4, 2, 8, usual);

    law_of("rappor, h 2", &spec, &spec, 0);
    spec = law_rappor_spec(3, 1, 5, usual);
    law_of("rappor, h 1", &spec, &spec, 0);
    spec = law_rappor_spec(3, 1, 5, other);
    law_of("rappor, f 1/4", &spec, &spec, 0);
    spec = law_rappor_spec(4, 2, 6, kept);
    law_of("rappor, p 0 and q 1", &spec, &spec, 0);
}

/* ---- The probability of a step, exactly ---------------------------------- */

/* 2^64 times what the schemes ask for, as the formulas of theory 4.2. */
static void law_wanted(const hsy_permanent *c, mpq_t out)
{
    const hsy_scheme *s[2] = {c->permanent, c->report};
    uint64_t k = c->report->mech->client->permanent->part(c->report).count;
    mpq_t rate[2], x;

    mpq_inits(rate[0], rate[1], x, NULL);
    for (size_t i = 0; i < 2; i++) {
        bool outputs = s[i]->mech->client->permanent->step == PERMANENT_OUTPUT;

        mpz_set_ui(mpq_numref(rate[i]),
                   outputs ? s[i]->two.weight : s[i]->bits.other);
        enumerate_whole(mpq_denref(rate[i]), s[i]->total);
        mpq_canonicalize(rate[i]);
        mpq_set_ui(x, 1, outputs ? k : 2);
        mpq_sub(rate[i], rate[i], x);
    }
    mpq_div(out, rate[1], rate[0]); /* what is kept: D, or 1 - 2 t */
    mpq_set_ui(x, 1, 1);
    mpq_sub(out, x, out);
    if (c->report->mech->client->permanent->step == PERMANENT_FLIP)
        mpq_div_2exp(out, out, 1);
    mpq_mul_2exp(out, out, 64);
    mpq_clears(rate[0], rate[1], x, NULL);
}

static bool law_rounded(const hsy_spec *permanent, const hsy_spec *report)
{
    hsy_scheme *first = trial_scheme(permanent), *second = trial_scheme(report);
    hsy_permanent c;
    bool good = hsy_permanent_init(&c, first, second, 0, NULL) == HSY_OK;
    mpq_t wanted;
    mpz_t up;

    mpq_init(wanted);
    mpz_init(up);
    if (good) {
        law_wanted(&c, wanted);
        mpz_cdiv_q(up, mpq_numref(wanted), mpq_denref(wanted));
        good = mpz_cmp_ui(up, c.step) == 0;
    }
    mpz_clear(up);
    mpq_clear(wanted);
    free(first);
    free(second);
    return good;
}

static void law_steps(const char *mechanism, uint32_t d)
{
    static const double epsilons[] = {1e-6, 2e-6, 0.01, 0.7, 3, 9, 20, 24.5};
    const size_t n = sizeof epsilons / sizeof *epsilons;
    bool good = true;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            hsy_spec permanent = trial_values(mechanism, d, epsilons[i]);
            hsy_spec report = trial_values(mechanism, d, epsilons[j]);

            if (strcmp(mechanism, "onebit") == 0) {
                permanent = trial_number(1000, epsilons[i]);
                report = trial_number(1000, epsilons[j]);
            }
            good &= law_rounded(&permanent, &report);
        }
    ok(good, "%s, %u values: a step is the formula's, rounded up", mechanism,
       d);
}

int main(void)
{
    law_values("rr", 2, 0, 0, 0);
    law_values("grr", 2, 0, 0, 0);
    law_values("grr", 3, 0, 0, 0);
    law_values("grr", 5, 0, 0, 0);
    law_values("sue", 3, 0, 0, 0);
    law_values("oue", 3, 0, 0, 0);
    law_values("olh", 7, 2, 4, 0);
    law_values("blh", 5, 1, 2, 0);
    law_values("dbitflip", 3, 7, 0, 2);
    law_values("dbitflip", 3, 8, 0, 1);
    law_values("dbitflip", 3, 1, 0, 3);
    law_numbers(6, 6);
    law_numbers(6, 3);
    law_numbers(6, 1);
    law_rappor();
    law_control("grr");
    law_control("sue");
    law_control("oue");
    law_steps("rr", 2);
    law_steps("grr", 2);
    law_steps("grr", 50);
    law_steps("grr", HSY_VALUES_MAX);
    law_steps("sue", 5);
    law_steps("oue", 5);
    law_steps("blh", 5);
    law_steps("dbitflip", 5);
    law_steps("onebit", 0);
    return tap_done();
}
