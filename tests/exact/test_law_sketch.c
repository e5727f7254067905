/*
 * test_law_sketch.c - X2 for count-mean sketches: every class of coins through
 * the real code.
 *
 * hcms draws a public index and one coin. cms draws a public row, then planes
 * of digits for the bits of its vector, and the coin of the true bit: a lane's
 * digits stand complemented in the planes, last digit first.
 */
#include "rig/enumerate.h"

static hsy_scheme *sketch(const char *name, uint32_t d, uint32_t rows,
                          uint32_t width, double epsilon)
{
    hsy_spec spec = trial_values(name, d, epsilon);

    spec.param[HSY_PARAM_HASHES] = rows;
    spec.param[HSY_PARAM_WIDTH] = width;
    return trial_scheme(&spec);
}

static void law_hcms(uint32_t d, uint32_t rows, uint32_t width, double epsilon)
{
    hsy_scheme *s = sketch("hcms", d, rows, width, epsilon);
    const uint64_t edges[2] = {s->bits.other, s->bits.own};
    struct enumerate_coins coins = {.published = s->cells,
                                    .published_bytes = 4};

    enumerate_edges(&coins, &s->coin, edges, 2);
    enumerate_check(s, "hcms", &coins, 2 * s->cells);
    enumerate_coins_clear(&coins);
    free(s);
}

/* ---- cms ----------------------------------------------------------------- */

/* A word just below, or at, the edge: what it stands for, and how many do. */
static uint64_t side(uint64_t edge, unsigned zero)
{
    return zero != 0 ? edge : edge - 1;
}

static void weigh(mpz_t product, uint64_t edge, uint64_t last, unsigned zero)
{
    mpz_t size;

    mpz_init_set_ui(size, zero != 0 ? last - edge : edge);
    if (zero != 0)
        mpz_add_ui(size, size, 1);
    mpz_mul(product, product, size);
    mpz_clear(size);
}

/* All sides of all lanes and of the coin, for one truth and row. */
static bool law_cms_row(const hsy_scheme *s, struct enumerate_law *l,
                        uint64_t code, uint64_t row)
{
    const unsigned m = (unsigned)s->param[HSY_PARAM_WIDTH];
    const uint64_t edge = s->bits.other >> (64 - s->bits.digits);
    const uint64_t last = UINT64_MAX >> (64 - s->bits.digits);
    bool agree = true;
    mpz_t product;

    mpz_init(product);
    for (unsigned combo = 0; combo < 2u << m; combo++) {
        uint64_t words[65] = {0}, y;

        mpz_set_ui(product, 1);
        for (unsigned i = 0; i < m; i++) {
            uint64_t lane = side(edge, combo >> i & 1);

            weigh(product, edge, last, combo >> i & 1);
            for (unsigned j = 0; j < s->bits.digits; j++)
                words[j] |= (~lane >> j & 1) << i;
        }
        words[s->bits.digits] = side(s->bits.own, combo >> m);
        weigh(product, s->bits.own, UINT64_MAX, combo >> m);
        y = enumerate_play(s, code, words, s->bits.digits + 1, row, 4);
        agree &= y < l->outputs && y >> m == row;
        if (y < l->outputs)
            mpz_add(l->weight[code * l->outputs + y],
                    l->weight[code * l->outputs + y], product);
    }
    mpz_clear(product);
    return agree;
}

static void law_cms(uint32_t d, uint32_t rows, uint32_t width, double epsilon)
{
    hsy_scheme *s = sketch("cms", d, rows, width, epsilon);
    struct enumerate_law l;
    bool agree = true;

    enumerate_init(&l, s, (size_t)rows << width);
    for (uint64_t code = 0; code < d; code++)
        for (uint64_t row = 0; row < rows; row++)
            agree &= law_cms_row(s, &l, code, row);
    mpz_set_ui(l.total, rows);
    mpz_mul_2exp(l.total, l.total, 64 + (mp_bitcnt_t)s->bits.digits * width);
    enumerate_compare(s, "cms", &l, agree);
    enumerate_clear(&l);
    free(s);
}

int main(void)
{
    static const double epsilons[] = {0.1, 1, 4, 20};

    for (size_t e = 0; e < 4; e++) {
        law_hcms(5, 2, 4, epsilons[e]);
        law_hcms(6, 4, 2, epsilons[e]);
        law_hcms(6, 1, 8, epsilons[e]);
        law_cms(5, 2, 4, epsilons[e]);
        law_cms(6, 4, 3, epsilons[e]);
        law_cms(6, 1, 5, epsilons[e]);
    }
    return tap_done();
}
