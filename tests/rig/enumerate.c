/* enumerate.c - see enumerate.h. */

#include "rig/enumerate.h"

void enumerate_class(struct enumerate_coin *c, uint64_t first, uint64_t last)
{
    size_t n = c->classes++;

    c->first = realloc(c->first, (n + 1) * sizeof *c->first);
    c->last = realloc(c->last, (n + 1) * sizeof *c->last);
    if (c->first == NULL || c->last == NULL) {
        puts("Bail out! out of memory");
        exit(1);
    }
    c->first[n] = first;
    c->last[n] = last;
}

void enumerate_edges(struct enumerate_coins *coins,
                     const struct prob_base *base, const uint64_t *edges,
                     size_t n)
{
    struct enumerate_coin *c = &coins->coin[coins->n++];
    uint64_t from = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t edge = base->unit * edges[i];

        if (edge > from)
            enumerate_class(c, from, edge - 1);
        from = edge;
    }
    if (from <= base->last)
        enumerate_class(c, from, base->last);
}

void enumerate_below(struct enumerate_coins *coins, uint64_t bound)
{
    struct enumerate_coin *c = &coins->coin[coins->n++];
    hsy_u128 excess = hsy_prob_excess(bound);

    for (uint64_t v = 0; v < bound; v++) {
        hsy_u128 from = ((hsy_u128)v << 64) + excess;
        hsy_u128 to = (((hsy_u128)v + 1) << 64) - 1;

        enumerate_class(c, (uint64_t)((from + bound - 1) / bound),
                        (uint64_t)(to / bound));
    }
}

void enumerate_coins_clear(struct enumerate_coins *coins)
{
    for (size_t i = 0; i < coins->n; i++) {
        free(coins->coin[i].first);
        free(coins->coin[i].last);
    }
}

/* ---- One law ------------------------------------------------------------- */

static hsy_truth enumerate_truth(const hsy_scheme *s, uint64_t code)
{
    hsy_truth t = {.type = HSY_TRUTH_INDEX};

    if (s->kind == HSY_KIND_NUMBER || s->kind == HSY_KIND_BINS) {
        t.type = HSY_TRUTH_NUMBER;
        t.u.number = s->lo + (int64_t)code;
    } else {
        t.u.index = (uint32_t)code;
    }
    return t;
}

void enumerate_report(uint8_t *report, const hsy_scheme *s, uint64_t y)
{
    for (size_t i = 0; i < s->report_bytes; i++)
        report[i] = i < 8 ? (uint8_t)(y >> 8 * i) : 0;
}

uint64_t enumerate_play(const hsy_scheme *s, uint64_t code,
                        const uint64_t *words, size_t n, uint64_t seed,
                        size_t seed_bytes)
{
    struct tape secret = {words, n * sizeof *words};
    struct tape published = {&seed, seed_bytes};
    hsy_coins coins = {{tape_fill, &secret}, {tape_fill, &published}};
    hsy_truth truth = enumerate_truth(s, code);
    uint8_t *report = trial_memory(s->report_bytes + 8);
    uint64_t y = 0;

    if (hsy_randomize(s, report, &truth, &coins, NULL) != HSY_OK ||
        hsy_check(s, report) != HSY_OK || secret.left != 0 ||
        published.left != 0)
        y = UINT64_MAX;
    for (size_t i = 0; i < s->report_bytes && y != UINT64_MAX; i++) {
        if (i < 8)
            y |= (uint64_t)report[i] << 8 * i;
        else if (report[i] != 0)
            y = UINT64_MAX;
    }
    free(report);
    return y;
}

/* One class of each coin, all corners. */
static bool enumerate_combo(const hsy_scheme *s, struct enumerate_law *l,
                            uint64_t code, const struct enumerate_coins *coins,
                            const size_t *at, uint64_t seed)
{
    uint64_t y = UINT64_MAX;
    mpz_t size, product;
    bool agree = true;

    for (size_t corner = 0; corner < (size_t)1 << coins->n; corner++) {
        uint64_t words[ENUMERATE_COINS], got;

        for (size_t i = 0; i < coins->n; i++)
            words[i] = corner >> i & 1 ? coins->coin[i].last[at[i]]
                                       : coins->coin[i].first[at[i]];
        got = enumerate_play(s, code, words, coins->n, seed,
                             coins->published_bytes);
        agree &= got < l->outputs && (corner == 0 || got == y);
        y = got;
    }
    if (!agree)
        return false;
    mpz_init(size);
    mpz_init_set_ui(product, 1);
    for (size_t i = 0; i < coins->n; i++) {
        mpz_set_ui(size,
                   coins->coin[i].last[at[i]] - coins->coin[i].first[at[i]]);
        mpz_add_ui(size, size, 1);
        mpz_mul(product, product, size);
    }
    mpz_add(l->weight[code * l->outputs + y], l->weight[code * l->outputs + y],
            product);
    mpz_clears(size, product, NULL);
    return true;
}

bool enumerate_code(const hsy_scheme *s, struct enumerate_law *l, uint64_t code,
                    const struct enumerate_coins *coins, uint64_t seed)
{
    size_t at[ENUMERATE_COINS] = {0}, i;
    bool agree = true;

    do {
        agree &= enumerate_combo(s, l, code, coins, at, seed);
        for (i = 0; i < coins->n; i++) {
            if (++at[i] < coins->coin[i].classes)
                break;
            at[i] = 0;
        }
    } while (i < coins->n);
    return agree;
}

static bool enumerate_all(const hsy_scheme *s, struct enumerate_law *l,
                          const struct enumerate_coins *coins)
{
    uint64_t seeds = coins->published != 0 ? coins->published : 1;
    bool agree = true;

    for (uint64_t code = 0; code < l->codes; code++)
        for (uint64_t seed = 0; seed < seeds; seed++)
            agree &= enumerate_code(s, l, code, coins, seed);
    return agree;
}

/* ---- Comparison with the stated law -------------------------------------- */

void enumerate_whole(mpz_t out, uint64_t x)
{
    mpz_set_ui(out, x);
    if (x == 0)
        mpz_setbit(out, 64);
}

void enumerate_factors(const hsy_factor *factors, size_t count, bool whole,
                       mpz_t num, mpz_t den)
{
    mpz_t x;

    mpz_init(x);
    mpz_set_ui(num, 1);
    mpz_set_ui(den, 1);
    for (size_t i = 0; i < count; i++) {
        mpz_set_ui(x, factors[i].num);
        if (whole)
            enumerate_whole(x, factors[i].num);
        mpz_mul(num, num, x);
        enumerate_whole(x, factors[i].den);
        mpz_mul(den, den, x);
    }
    mpz_clear(x);
}

void enumerate_total(struct enumerate_law *l,
                     const struct enumerate_coins *coins)
{
    mpz_t sum, x;

    mpz_inits(sum, x, NULL);
    mpz_set_ui(l->total, coins->published != 0 ? coins->published : 1);
    for (size_t k = 0; k < coins->n; k++) {
        mpz_set_ui(sum, 0);
        for (size_t i = 0; i < coins->coin[k].classes; i++) {
            mpz_set_ui(x, coins->coin[k].last[i] - coins->coin[k].first[i]);
            mpz_add_ui(x, x, 1);
            mpz_add(sum, sum, x);
        }
        mpz_mul(l->total, l->total, sum);
    }
    mpz_clears(sum, x, NULL);
}

/* The weights of every code sum up to total. */
static bool enumerate_sums(const struct enumerate_law *l)
{
    mpz_t sum;
    bool agree = true;

    mpz_init(sum);
    for (size_t code = 0; code < l->codes; code++) {
        mpz_set_ui(sum, 0);
        for (size_t y = 0; y < l->outputs; y++)
            mpz_add(sum, sum, l->weight[code * l->outputs + y]);
        agree &= mpz_cmp(sum, l->total) == 0;
    }
    mpz_clear(sum);
    return agree;
}

/* weight / total == law for every code and report; reports that are none have
 * weight 0. */
static bool enumerate_agrees(const hsy_scheme *s, const struct enumerate_law *l)
{
    hsy_factor *factors = trial_memory(hsy_law_factors(s) * sizeof *factors);
    uint8_t *report = trial_memory(s->report_bytes + 8);
    mpz_t num, den;
    bool agree = true;

    mpz_inits(num, den, NULL);
    for (uint64_t code = 0; code < l->codes; code++)
        for (uint64_t y = 0; y < l->outputs; y++) {
            mpz_srcptr weight = l->weight[code * l->outputs + y];
            size_t count;

            enumerate_report(report, s, y);
            if (hsy_check(s, report) != HSY_OK) {
                agree &= mpz_sgn(weight) == 0;
                continue;
            }
            hsy_law(s, factors, &count, code, report);
            enumerate_factors(factors, count, false, num, den);
            mpz_mul(num, num, l->total);
            mpz_mul(den, den, weight);
            agree &= mpz_cmp(num, den) == 0;
        }
    mpz_clears(num, den, NULL);
    free(report);
    free(factors);
    return agree;
}

/* The largest P[y | x] / P[y | x'] found is the one stated. */
static bool enumerate_worst(const hsy_scheme *s, const struct enumerate_law *l)
{
    hsy_factor factors[4];
    size_t count;
    mpz_t num, den, high, low;
    bool agree;

    mpz_inits(num, den, NULL);
    mpz_init_set_ui(high, 1);
    mpz_init_set_ui(low, 1);
    for (size_t y = 0; y < l->outputs; y++)
        for (size_t a = 0; a < l->codes; a++)
            for (size_t b = 0; b < l->codes; b++) {
                mpz_srcptr one = l->weight[a * l->outputs + y];
                mpz_srcptr two = l->weight[b * l->outputs + y];

                mpz_mul(num, one, low);
                mpz_mul(den, two, high);
                if (mpz_cmp(num, den) > 0) {
                    mpz_set(high, one);
                    mpz_set(low, two);
                }
            }
    hsy_law_worst(s, factors, &count);
    enumerate_factors(factors, count, true, num, den);
    mpz_pow_ui(num, num, hsy_law_power(s));
    mpz_pow_ui(den, den, hsy_law_power(s));
    mpz_mul(num, num, low);
    mpz_mul(den, den, high);
    agree = mpz_cmp(num, den) == 0;
    mpz_clears(num, den, high, low, NULL);
    return agree;
}

void enumerate_init(struct enumerate_law *l, const hsy_scheme *s,
                    size_t outputs)
{
    l->codes = (size_t)hsy_code_count(s);
    l->outputs = outputs;
    l->weight = trial_memory(l->codes * outputs * sizeof *l->weight);
    mpz_init(l->total);
    for (size_t i = 0; i < l->codes * outputs; i++)
        mpz_init(l->weight[i]);
}

void enumerate_clear(struct enumerate_law *l)
{
    for (size_t i = 0; i < l->codes * l->outputs; i++)
        mpz_clear(l->weight[i]);
    mpz_clear(l->total);
    free(l->weight);
}

void enumerate_compare(const hsy_scheme *s, const char *name,
                       const struct enumerate_law *l, bool agree)
{
    double epsilon = (double)s->nano_epsilon / 1e9;

    ok(agree, "%s, %zu codes, epsilon %g: a class of coins gives one report",
       name, l->codes, epsilon);
    ok(enumerate_sums(l),
       "%s, %zu codes, epsilon %g: probabilities sum up to 1", name, l->codes,
       epsilon);
    ok(enumerate_agrees(s, l), "%s, %zu codes, epsilon %g: exactly hsy_law",
       name, l->codes, epsilon);
    ok(enumerate_worst(s, l), "%s, %zu codes, epsilon %g: worst ratio", name,
       l->codes, epsilon);
}

void enumerate_check(const hsy_scheme *s, const char *name,
                     const struct enumerate_coins *coins, size_t outputs)
{
    struct enumerate_law l;
    bool agree;

    enumerate_init(&l, s, outputs);
    agree = enumerate_all(s, &l, coins);
    enumerate_total(&l, coins);
    enumerate_compare(s, name, &l, agree);
    enumerate_clear(&l);
}
