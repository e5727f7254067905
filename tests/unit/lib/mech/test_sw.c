/* test_sw.c - the square wave: windows, coins, counts, the channel. */
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static hsy_spec spec_of(uint32_t d, double epsilon, uint64_t w)
{
    hsy_spec spec = trial_bins("sw", d, epsilon);

    spec.param[HSY_PARAM_WINDOW] = w;
    return spec;
}

/* 2 floor(b d) + 1, b by the definition in long doubles, or by its series where
 * that is 0/0. */
static void windows(void)
{
    static const double epsilons[] = {1e-6, 0.01, 0.05, 0.5, 1, 2, 4, 20};

    for (size_t i = 0; i < sizeof epsilons / sizeof epsilons[0]; i++) {
        const double x = epsilons[i];
        const long double e = expl((long double)x);
        const double b =
            x < 0.05 ? 0.5 - x / 3 + x * x / 9 - 7 * x * x * x / 270 +
                           2 * x * x * x * x / 405
                     : (double)((x * e - e + 1) / (2 * e * (e - 1 - x)));
        bool good = true;

        for (uint32_t d = 2; d <= 1u << 20; d = d * 3 + 1) {
            hsy_spec spec = spec_of(d, x, 0);
            hsy_scheme *s = trial_scheme(&spec);
            uint64_t w = s->param[HSY_PARAM_WINDOW];

            good &= w == 2 * (uint64_t)(b * d) + 1 && s->cells == d + w - 1;
            free(s);
        }
        ok(good, "epsilon %g: the window is 2 floor(b d) + 1, b = %.12g", x, b);
    }
}

/* The resolved window fed back is the same scheme. */
static void fed_back(void)
{
    hsy_spec spec = spec_of(1000, 0.7, 0);
    hsy_scheme *a = trial_scheme(&spec), *b;
    uint8_t wire[HSY_SCHEME_WIRE];

    spec.param[HSY_PARAM_WINDOW] = a->param[HSY_PARAM_WINDOW];
    b = trial_scheme(&spec);
    ok(hsy_scheme_difference(a, b) == NULL, "the window fed back: same scheme");
    hsy_scheme_encode(a, wire);
    ok(hsy_scheme_decode(b, wire, NULL, 0, NULL) == HSY_OK &&
           memcmp(a->digest, b->digest, HSY_DIGEST) == 0,
       "and so after the wire");
    free(a);
    free(b);
}

static void refused(hsy_spec spec, const char *field, uint64_t limit,
                    const char *what)
{
    hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
    hsy_error err = {0};

    ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
           err.field != HSY_FIELD_NONE &&
           strcmp(hsy_field_name(err.field), field) == 0 && err.limit == limit,
       "refused: %s", what);
    free(s);
}

static void refusals(void)
{
    hsy_spec values = trial_values("sw", 10, 1), g = spec_of(10, 1, 0);

    refused(spec_of(10, 1, 4), "window", 0, "an even window");
    refused(spec_of(10, 1, 21), "window", 19, "a window of twice the bins");
    refused(spec_of(1u << 20, 32, (1u << 20) + 1), "window", 0,
            "weights that pass 63 bits");
    refused(spec_of((1u << 20) + 1, 1, 0), "bins", 1u << 20, "2^20 + 1 bins");
    refused(values, "mechanism", 0, "a list, whose values have no order");
    g.param[HSY_PARAM_G] = 2;
    refused(g, "g", 0, "a parameter of others");
}

/* w = 3, K = 6: step, coin, place; a little above the middle is step 1 of 3
 * and place 3 of 6. */
static void coins(void)
{
    hsy_spec spec = spec_of(4, 1, 3);
    hsy_scheme *s = trial_scheme(&spec);
    const uint64_t half = (uint64_t)9 << 60;
    const uint64_t own[3] = {half, s->two.choice.blanket, half};
    const uint64_t any[3] = {half, s->two.choice.blanket - 1, half};
    const struct {
        const uint64_t *words;
        uint8_t want;
    } cases[] = {{own, 2 + 1}, {any, 3}};
    hsy_truth truth = {.type = HSY_TRUTH_NUMBER};

    truth.u.number = 2;
    for (size_t i = 0; i < 2; i++) {
        struct tape tape = {cases[i].words, 3 * sizeof(uint64_t)};
        struct tape none = {NULL, 0};
        hsy_coins c = {{tape_fill, &tape}, {tape_fill, &none}};
        uint8_t report = 0xff;

        ok(hsy_randomize(s, &report, &truth, &c, NULL) == HSY_OK &&
               report == cases[i].want && tape.left == 0,
           "%s",
           i == 0 ? "from the coin's edge on: in the window"
                  : "below it: any place");
    }
    for (uint8_t y = 0; y < 8; y++)
        ok(hsy_check(s, &y) == (y < 6 ? HSY_OK : HSY_E_FORMAT),
           "place %u is %sa report", y, y < 6 ? "" : "not ");
    free(s);
}

/* forward and backward are the dense channel of hsy_law and its transpose. */
static void channel_of(const hsy_spec *spec, const char *name)
{
    hsy_scheme *s = trial_scheme(spec);
    size_t d = s->d, k = s->mech->estimate->channel->outputs != 0
                             ? s->mech->estimate->channel->outputs
                             : s->cells;
    size_t room = s->mech->estimate->channel->scratch != NULL
                      ? s->mech->estimate->channel->scratch(s)
                      : 0;
    double *theta = trial_memory(d * 8), *ratio = trial_memory(k * 8);
    double *image = trial_memory(k * 8), *back = trial_memory(d * 8);
    double *scratch = trial_memory(room * 8), off = 0;

    for (size_t x = 0; x < d; x++)
        theta[x] = (double)(x * x % 7 + (x == 1)) / (double)d;
    for (size_t y = 0; y < k; y++)
        ratio[y] = (double)(y * y % 11) / 3;
    s->mech->estimate->channel->forward(s, image, theta, scratch);
    s->mech->estimate->channel->backward(s, back, ratio, scratch);
    for (size_t y = 0; y < k; y++)
        for (size_t x = 0; x < d; x++) {
            const uint8_t report[4] = {(uint8_t)y, (uint8_t)(y >> 8)};
            hsy_factor f;
            size_t count;

            hsy_law(s, &f, &count, x, report);
            image[y] -= (double)f.num / (double)f.den * theta[x];
            back[x] -= (double)f.num / (double)f.den * ratio[y];
        }
    for (size_t y = 0; y < k; y++)
        off = fmax(off, fabs(image[y]));
    for (size_t x = 0; x < d; x++)
        off = fmax(off, fabs(back[x]) / (double)k);
    ok(off < 1e-14, "%s, d = %zu: the channel and its transpose (%.1e)", name,
       d, off);
    free(theta);
    free(ratio);
    free(image);
    free(back);
    free(scratch);
    free(s);
}

static void channels(void)
{
    static const uint64_t cases[][2] = {{2, 0},   {2, 3},    {5, 1},  {5, 9},
                                        {16, 0},  {16, 31},  {64, 7}, {64, 63},
                                        {64, 65}, {300, 101}};
    hsy_spec grr = trial_values("grr", 37, 1.3), rr = trial_values("rr", 2, 1);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hsy_spec spec = spec_of((uint32_t)cases[i][0], 1.3, cases[i][1]);

        channel_of(&spec, "sw");
    }
    channel_of(&grr, "grr");
    channel_of(&rr, "rr");
}

/* Points do not exist, and that is what is said. */
static void no_points(void)
{
    hsy_spec spec = spec_of(4, 1, 0);
    hsy_scheme *s = trial_scheme(&spec);
    int64_t *memory = trial_memory(hsy_tally_words(s) * 8);
    hsy_evidence points[4];
    hsy_scheme_info info;
    hsy_tally t;

    hsy_tally_init(&t, s, memory);
    hsy_scheme_describe(s, &info);
    ok(hsy_evidence_of(s, points, &t, NULL, 4, NULL, NULL) == HSY_E_REFUSED &&
           info.iterative && info.v0 == 0 && info.v1 == 0,
       "no points, no variances");
    free(memory);
    free(s);
}

int main(void)
{
    windows();
    fed_back();
    refusals();
    coins();
    channels();
    no_points();
    return tap_done();
}
