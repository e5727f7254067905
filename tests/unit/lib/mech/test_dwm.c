/* test_dwm.c - means by windows: vectors, choice, refusals, counts. */
#include "lib/scheme/scheme.h"
#include "rig/tape.h"
#include "rig/trial.h"
#include "tap.h"

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
static double worst(const hsy_spec *spec, hsy_scheme_info *info)
{
    hsy_scheme *s = trial_scheme(spec);

    hsy_scheme_describe(s, info);
    free(s);
    return 4 * info->v0;
}

static bool dwm_near(double x, double want, double part)
{
    return fabs(x / want - 1) <= part;
}

/* Theory 15.2. */
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
        hsy_scheme_info info;
        double got;

        spec.param[HSY_PARAM_OUTPUTS] = rows[i].N;
        spec.param[HSY_PARAM_WINDOW] = rows[i].w;
        got = worst(&spec, &info);
        ok(dwm_near(got, rows[i].worst, 1e-11),
           "dwm(%d, %d) at epsilon %g: %.12g", (int)rows[i].N, (int)rows[i].w,
           rows[i].epsilon, got);
    }
}

/* The table of theory 2.5: the best w for N <= 16, and the best of all. */
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
        hsy_scheme_info info;

        for (uint64_t n = 2; n <= 16; n++) {
            hsy_spec spec = mean_spec("dwm", rows[i].epsilon);

            spec.param[HSY_PARAM_OUTPUTS] = n;
            got = worst(&spec, &info);
            if (got < least) {
                least = got;
                N = n;
                w = info.param[HSY_PARAM_WINDOW];
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
    };
    hsy_spec last = mean_spec("hm", 0.609352493), next = last;
    hsy_scheme_info info, more;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hsy_spec spec = mean_spec(rows[i].name, rows[i].epsilon);
        double got = worst(&spec, &info);

        ok(dwm_near(got, rows[i].worst, rows[i].part), "%s at epsilon %g: %.9g",
           rows[i].name, rows[i].epsilon, got);
    }
    next.nano_epsilon++;
    worst(&last, &info);
    worst(&next, &more);
    ok(info.param[HSY_PARAM_MIX] == 0 && info.param[HSY_PARAM_OUTPUTS] == 2 &&
           more.param[HSY_PARAM_MIX] > 0,
       "hm is one bit up to epsilon 0.609352493");
}

/* Theory 2.5: one bit and three outputs are equally good at ln 3, which is
 * 1098612288.67 nano-epsilon. */
static void crossing(void)
{
    static const uint64_t nano[2] = {1098612288, 1098612289};
    double lead[2];

    for (int i = 0; i < 2; i++) {
        hsy_spec one = mean_spec("dwm", 1), three;
        hsy_scheme_info info;

        one.nano_epsilon = nano[i];
        one.param[HSY_PARAM_OUTPUTS] = 2;
        one.param[HSY_PARAM_WINDOW] = 1;
        three = one;
        three.param[HSY_PARAM_OUTPUTS] = 3;
        lead[i] = worst(&one, &info) - worst(&three, &info);
    }
    ok(lead[0] < 0 && lead[1] > 0 && lead[1] < 1e-8,
       "one bit and three outputs cross at ln 3 (%.2g, %.2g)", lead[0],
       lead[1]);
}

/* 5 outputs, 2 of them a window's, and the two of one bit. */
static hsy_spec mixed_spec(void)
{
    hsy_spec spec = mean_spec("dwm", 1);

    spec.param[HSY_PARAM_OUTPUTS] = 5;
    spec.param[HSY_PARAM_WINDOW] = 2;
    spec.param[HSY_PARAM_MIX] = 30000;
    return spec;
}

/* keep R unit = 1 by hand: keep = (e - 1) w / (N - w + w e). */
static void counts(void)
{
    static const uint8_t reports[] = {0, 4, 4, 6, 5, 2, 6}, bad[] = {0, 7};
    const hsy_spec spec = mixed_spec();
    hsy_scheme *s = trial_scheme(&spec);
    const double e = exp(1), unit = (3 + 2 * e) / ((e - 1) * 2 * 3);
    const double bit = (1 + e) / (e - 1);
    int64_t memory[8], more[8];
    hsy_tally t, other;
    hsy_evidence point, again;
    hsy_error err = {0};

    ok(hsy_tally_words(s) == 8, "seven cells and a count");
    hsy_tally_init(&t, s, memory);
    ok(hsy_tally_batch(&t, s, bad, 2, &err) == HSY_E_FORMAT && err.at == 2 &&
           t.strata[0] == 0,
       "an output that there is not is refused, and nothing counted");
    ok(hsy_tally_batch(&t, s, reports, 7, NULL) == HSY_OK && t.cells[4] == 2 &&
           t.cells[6] == 2 && t.cells[5] == 1 && t.strata[0] == 7,
       "outputs are counted");
    ok(hsy_evidence_of(s, &point, &t, NULL, 1, NULL, NULL) == HSY_OK &&
           fabs(point.value -
                (0.5 + ((-2 + 2 + 2 + 0) * unit + (0.5 + 0.5 - 0.5) * bit) /
                           7)) < 1e-9 &&
           point.n == 7 && point.v0 == point.v1 && point.v0 > 0,
       "the mean is that of each report's own estimate");

    hsy_tally_init(&t, s, memory);
    hsy_tally_init(&other, s, more);
    ok(hsy_tally_batch(&t, s, reports, 3, NULL) == HSY_OK &&
           hsy_tally_batch(&other, s, reports + 3, 4, NULL) == HSY_OK &&
           hsy_tally_merge(&t, &other, NULL) == HSY_OK &&
           hsy_evidence_of(s, &again, &t, NULL, 1, NULL, NULL) == HSY_OK &&
           memcmp(&point, &again, sizeof point) == 0,
       "merged tallies say what one says");
    other.cells[0] = INT64_MAX;
    ok(hsy_tally_merge(&t, &other, NULL) == HSY_E_OVERFLOW &&
           t.strata[0] == 7 && t.cells[0] == 1,
       "and are refused where a count would wrap");
    free(s);
}

/* No tally, however odd, makes an estimate that is none. */
static void extremes(void)
{
    static const char *const names[] = {"dwm", "pm", "hm"};
    bool finite = true;

    for (size_t i = 0; i < 3 * 4; i++) {
        hsy_spec spec = mean_spec(names[i % 3], 0.01 * pow(10, (double)i / 4));
        hsy_scheme *s = trial_scheme(&spec);
        int64_t *memory = trial_memory(hsy_tally_words(s) * sizeof *memory);
        hsy_tally t;

        for (size_t y = 0; y < s->cells; y++) {
            hsy_evidence p;

            hsy_tally_init(&t, s, memory);
            t.cells[y] = y % 2 == 0 ? 1 : INT64_MAX;
            t.strata[0] = (uint64_t)t.cells[y];
            finite &=
                hsy_evidence_of(s, &p, &t, NULL, 1, NULL, NULL) == HSY_OK &&
                isfinite(p.value) && p.v0 > 0 && isfinite(p.v0) &&
                p.sampling_discount >= 0 && p.sampling_discount <= 1;
        }
        free(memory);
        free(s);
    }
    ok(finite, "one cell alone, of one report or 2^63 - 1: a finite estimate");
}

/* One report is a batch of one; without all coins there is none. */
static void coins_run_out(void)
{
    const hsy_spec spec = mixed_spec();
    hsy_scheme *s = trial_scheme(&spec);
    const uint64_t words[5] = {1, 1, 1, 1, 1}, code = 500;
    const uint32_t branch = 0;
    bool refused = true;

    for (size_t secret = 0; secret <= 5; secret++)
        for (size_t published = 0; published <= 1; published++) {
            struct tape one = {words, secret * 8},
                        two = {&branch, published * 4};
            hsy_coins coins = {{tape_fill, &one}, {tape_fill, &two}};
            uint8_t report = 9;
            hsy_status st =
                hsy_randomize_batch(s, &report, &code, 1, &coins, NULL);

            if (secret == 5 && published == 1)
                refused &= st == HSY_OK && report >= 5;
            else
                refused &= st == HSY_E_ENTROPY && report == 0;
        }
    ok(refused, "five words and a published coin, or no report");
    free(s);
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
           strcmp(hsy_field_name(err.field), field) == 0,
       "%s refuses %s = %llu", mechanism, field, (unsigned long long)x);
    free(s);
}

static void refusals(void)
{
    refuses("dwm", HSY_PARAM_OUTPUTS, 1, -1, 0, "outputs");
    refuses("dwm", HSY_PARAM_OUTPUTS, 1025, -1, 0, "outputs");
    refuses("dwm", HSY_PARAM_WINDOW, 1, -1, 0, "window");
    refuses("dwm", HSY_PARAM_WINDOW, 5, HSY_PARAM_OUTPUTS, 5, "window");
    refuses("dwm", HSY_PARAM_MIX, 1, -1, 0, "mix");
    refuses("dwm", HSY_PARAM_MIX, 65536, HSY_PARAM_OUTPUTS, 5, "mix");
    refuses("dwm", HSY_PARAM_MIX, 1, HSY_PARAM_OUTPUTS, 2, "mix");
    refuses("pm", HSY_PARAM_MIX, 1, HSY_PARAM_OUTPUTS, 5, "mix");
    refuses("dwm", HSY_PARAM_GRID, 4, -1, 0, "grid");
}

/* Every scheme's wire form is its own fixed point. */
static void wire(void)
{
    static const char *const names[] = {"dwm", "pm", "hm"};
    bool same = true;

    for (size_t i = 0; i < 39; i++) {
        hsy_spec spec = mean_spec(names[i % 3], 0.001 * pow(10, (double)i / 9));
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
    crossing();
    counts();
    extremes();
    coins_run_out();
    refusals();
    wire();
    return tap_done();
}
