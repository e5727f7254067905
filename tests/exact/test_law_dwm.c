/*
 * test_law_dwm.c - the exact law of window means, through the real code.
 *
 * Without a mix: rounding, place in the window, blanket, uniform output. With
 * one, the published coin is drawn next, 32 bits compared with mix 2^16, and
 * then the secret coin of the one bit. Its two sides are played by their ends
 * and weighed as the mix says.
 */
#include "rig/enumerate.h"

/* All coins but the published one. */
static struct enumerate_coins law_coins(const hsy_scheme *s)
{
    const uint64_t own = s->two.weight, other = (uint64_t)1 << s->two.shift;
    const uint64_t edges[2] = {other, own};
    const struct prob_base bit = hsy_prob_base(own + other);
    const uint64_t blanket = s->two.choice.bound << s->two.shift;
    struct enumerate_coins coins = {0};

    enumerate_below(&coins, (uint64_t)(s->hi - s->lo));
    enumerate_below(&coins, s->param[HSY_PARAM_WINDOW]);
    enumerate_edges(&coins, &s->coin, &blanket, 1);
    enumerate_below(&coins, s->param[HSY_PARAM_OUTPUTS]);
    if (s->param[HSY_PARAM_MIX] != 0) {
        enumerate_edges(&coins, &bit, edges, 2);
        coins.published_bytes = 4;
    }
    return coins;
}

/* Add what the published coin `from` gives, `size` of 2^16 times. `to` has to
 * give the same. */
static bool law_add(const hsy_scheme *s, struct enumerate_law *l,
                    const struct enumerate_coins *coins, uint64_t from,
                    uint64_t to, uint64_t size)
{
    struct enumerate_law part[2];
    bool agree = true;

    for (int end = 0; end < 2; end++) {
        enumerate_init(&part[end], s, l->outputs);
        for (uint64_t code = 0; code < l->codes; code++)
            agree &= enumerate_code(s, &part[end], code, coins,
                                    end == 0 ? from : to);
    }
    for (size_t i = 0; i < l->codes * l->outputs; i++) {
        agree &= mpz_cmp(part[0].weight[i], part[1].weight[i]) == 0;
        mpz_addmul_ui(l->weight[i], part[0].weight[i], size);
    }
    enumerate_clear(&part[0]);
    enumerate_clear(&part[1]);
    return agree;
}

static void law_mixed(const hsy_scheme *s, const char *name,
                      const struct enumerate_coins *coins)
{
    const uint64_t mix = s->param[HSY_PARAM_MIX];
    struct enumerate_law l;
    bool agree;

    enumerate_init(&l, s, s->cells);
    agree = law_add(s, &l, coins, 0, (mix << 16) - 1, mix) &&
            law_add(s, &l, coins, mix << 16, UINT32_MAX, 65536 - mix);
    enumerate_total(&l, coins);
    mpz_mul_ui(l.total, l.total, 65536);
    enumerate_compare(s, name, &l, agree);
    enumerate_clear(&l);
}

int main(void)
{
    static const struct {
        const char *name;
        uint64_t N, w, mix;
        int64_t width;
        double epsilon;
    } rows[] = {{"dwm", 2, 1, 0, 3, 1},       {"dwm", 3, 1, 0, 1, 0.1},
                {"dwm", 3, 1, 0, 5, 2},       {"dwm", 5, 2, 0, 3, 1},
                {"dwm", 7, 3, 0, 2, 4},       {"dwm", 4, 1, 0, 4, 20},
                {"pm", 5, 0, 0, 3, 1},        {"dwm", 3, 1, 1, 2, 1},
                {"dwm", 3, 1, 65535, 3, 0.5}, {"dwm", 5, 2, 40000, 4, 2},
                {"hm", 5, 0, 39750, 3, 1},    {"hm", 8, 0, 8869, 2, 4}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = trial_number(rows[i].width, rows[i].epsilon);
        struct enumerate_coins coins;
        hsy_scheme *s;

        spec.mechanism = rows[i].name;
        spec.param[HSY_PARAM_OUTPUTS] = rows[i].N;
        spec.param[HSY_PARAM_WINDOW] = rows[i].w;
        spec.param[HSY_PARAM_MIX] = rows[i].mix;
        s = trial_scheme(&spec);
        coins = law_coins(s);
        if (rows[i].mix == 0)
            enumerate_check(s, rows[i].name, &coins, rows[i].N);
        else
            law_mixed(s, rows[i].name, &coins);
        enumerate_coins_clear(&coins);
        free(s);
    }
    return tap_done();
}
