/* test_dwm.c - means by windows and by Laplace noise: vectors, choice,
 * refusals, counts. */
#include "mech.h"
#include "tap.h"
#include "trial.h"

#include <math.h>
#include <string.h>

static hsy_spec mean_spec(const char *name, double epsilon)
{
    hsy_spec spec = trial_number(1000, epsilon);

    spec.mechanism = name;
    return spec;
}

/* n times the worst variance in units of half the range squared, as MECHANISMS
 * has it. */
static double worst(const hsy_spec *spec, hsy_info *info)
{
    hsy_scheme *s = trial_scheme(spec);

    hsy_scheme_info(s, info);
    free(s);
    return 4 * info->v0;
}

static bool near(double x, double want, double part)
{
    return fabs(x / want - 1) <= part;
}

/* MECHANISMS 15.2. */
static void vectors(void)
{
    static const struct {
        uint64_t N, w;
        double epsilon, worst;
    } rows[] = {
        {2, 1, 1, 4.68269437683116928},   {3, 1, 1, 4.94206485837742749},
        {3, 1, 2, 0.999918372682103491},  {7, 2, 3, 0.372449960587782092},
        {8, 2, 4, 0.162178129230888894},  {12, 3, 4, 0.159208177681685837},
        {16, 4, 4, 0.159505344555914697},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = mean_spec("dwm", rows[i].epsilon);
        hsy_info info;
        double got;

        spec.param[HSY_PARAM_OUTPUTS] = rows[i].N;
        spec.param[HSY_PARAM_W] = rows[i].w;
        got = worst(&spec, &info);
        ok(near(got, rows[i].worst, 1e-11), "dwm(%d, %d) at epsilon %g: %.12g",
           (int)rows[i].N, (int)rows[i].w, rows[i].epsilon, got);
    }
}

/* The table of MECHANISMS 2.5: the best w for N <= 16, and the best of all. */
static void table(void)
{
    static const struct {
        double epsilon, small, mixed;
        uint64_t N, w;
    } rows[] = {
        {0.5, 16.67079, 16.67079, 2, 1}, {1, 4.68269, 4.26784, 2, 1},
        {1.5, 1.93583, 1.84835, 3, 1},   {2, 0.99992, 0.98308, 3, 1},
        {3, 0.37245, 0.36289, 7, 2},     {4, 0.15921, 0.15702, 12, 3},
        {6, 0.03662, 0.03662, 15, 2},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double least = INFINITY, got;
        uint64_t N = 0, w = 0;
        hsy_info info;

        for (uint64_t n = 2; n <= 16; n++) {
            hsy_spec spec = mean_spec("dwm", rows[i].epsilon);

            spec.param[HSY_PARAM_OUTPUTS] = n;
            got = worst(&spec, &info);
            if (got < least) {
                least = got;
                N = n;
                w = info.param[HSY_PARAM_W];
            }
        }
        ok(N == rows[i].N && w == rows[i].w &&
               fabs(least - rows[i].small) < 6e-6,
           "epsilon %g: best of 16 outputs is (%d, %d), %.6g", rows[i].epsilon,
           (int)N, (int)w, least);
        {
            hsy_spec spec = mean_spec("dwm", rows[i].epsilon);

            got = worst(&spec, &info);
        }
        ok(got <= rows[i].mixed + 6e-6 && got > 0.9 * rows[i].mixed &&
               info.report_bits <= 6,
           "the choice of all is no worse than the best mix: %.6g", got);
    }
}

static void others(void)
{
    static const struct {
        const char *name;
        double epsilon, worst, part;
    } rows[] = {
        {"onebit", 1, 4.68269437683116928, 1e-11},
        {"pm", 0.5, 21.2225685851582045, 2e-3},
        {"pm", 1, 5.22359745204368502, 2e-3},
        {"pm", 2, 1.22756479227705643, 2e-3},
        {"pm", 4, 0.241353886988770155, 2e-3},
        {"hm", 0.5, 16.6707923561310551, 1e-11},
        {"hm", 1, 4.28899249328181225, 2e-3},
        {"hm", 2, 1.04233634170238786, 2e-3},
        {"hm", 4, 0.218978626206188462, 2e-3},
        {"laplace", 0.5, 32, 2e-3},
        {"laplace", 1, 8, 2e-3},
        {"laplace", 2, 2, 2e-3},
        {"laplace", 4, 0.5, 2e-3},
    };
    hsy_spec last = mean_spec("hm", 0.609352493), next = last;
    hsy_info info, more;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = mean_spec(rows[i].name, rows[i].epsilon);
        double got = worst(&spec, &info);

        ok(near(got, rows[i].worst, rows[i].part), "%s at epsilon %g: %.9g",
           rows[i].name, rows[i].epsilon, got);
    }
    next.nano_epsilon++;
    worst(&last, &info);
    worst(&next, &more);
    ok(info.param[HSY_PARAM_MIX] == 0 && info.param[HSY_PARAM_OUTPUTS] == 2 &&
           more.param[HSY_PARAM_MIX] > 0,
       "hm is one bit up to epsilon 0.609352493");
}

static void refuses(const char *mechanism, int param, uint64_t x, int also,
                    uint64_t y, const char *field)
{
    hsy_spec spec = mean_spec(mechanism, 0.01);
    hsy_scheme *s = trial_memory(hsy_scheme_size(&spec));
    hsy_error err = {0};

    spec.param[param] = x;
    if (also >= 0)
        spec.param[also] = y;
    ok(hsy_scheme_init(s, &spec, &err) == HSY_E_RANGE &&
           strcmp(err.field, field) == 0,
       "%s refuses %s = %llu", mechanism, field, (unsigned long long)x);
    free(s);
}

static void refusals(void)
{
    refuses("dwm", HSY_PARAM_OUTPUTS, 1, -1, 0, "outputs");
    refuses("dwm", HSY_PARAM_OUTPUTS, 1025, -1, 0, "outputs");
    refuses("dwm", HSY_PARAM_W, 1, -1, 0, "w");
    refuses("dwm", HSY_PARAM_W, 5, HSY_PARAM_OUTPUTS, 5, "w");
    refuses("dwm", HSY_PARAM_MIX, 1, -1, 0, "mix");
    refuses("dwm", HSY_PARAM_MIX, 65536, HSY_PARAM_OUTPUTS, 5, "mix");
    refuses("dwm", HSY_PARAM_MIX, 1, HSY_PARAM_OUTPUTS, 2, "mix");
    refuses("pm", HSY_PARAM_MIX, 1, HSY_PARAM_OUTPUTS, 5, "mix");
    refuses("dwm", HSY_PARAM_GRID, 4, -1, 0, "grid");
    refuses("laplace", HSY_PARAM_GRID, 257, -1, 0, "grid");
    refuses("laplace", HSY_PARAM_GRID, 50, -1, 0, "grid");
}

/* Every scheme's wire form is its own fixed point. */
static void wire(void)
{
    static const char *const names[] = {"dwm", "pm", "hm", "laplace"};
    bool same = true;

    for (size_t i = 0; i < 40; i++) {
        hsy_spec spec = mean_spec(names[i % 4], 0.001 * pow(10, (double)i / 9));
        hsy_scheme *s = trial_scheme(&spec), *again = trial_scheme(&spec);
        uint8_t bytes[HSY_SCHEME_WIRE];

        hsy_scheme_encode(s, bytes);
        same &= hsy_scheme_decode(again, bytes, NULL, 0, NULL) == HSY_OK &&
                memcmp(s->digest, again->digest, HSY_DIGEST) == 0;
        free(s);
        free(again);
    }
    ok(same, "resolved parameters resolve to themselves");
}

int main(void)
{
    vectors();
    table();
    others();
    refusals();
    wire();
    return tap_done();
}
