/* test_longitudinal.c - what a permanent answer costs: the vectors of
 * theory 15.3 and 15.4, limits, and extremes. */
#include "rig/trial.h"

/* The weights of outputs and channels are short of e^epsilon by at most 2^-44
 * of it; unary rates cost up to 2^-28 of epsilon (docs/mechanisms/oue.md). */
#define EXACT_CLOSE 1e-13
#define UNARY_CLOSE 0x1p-28

struct link {
    hsy_scheme *permanent, *report;
    hsy_permanent c;
};

static struct link link_of(const hsy_spec *permanent, double epsilon)
{
    hsy_spec report = *permanent;
    struct link l;

    if (report.nano_epsilon != 0)
        report.nano_epsilon = (uint64_t)(epsilon * 1e9 + 0.5);
    l.permanent = trial_scheme(permanent);
    l.report = trial_scheme(&report);
    if (hsy_permanent_init(&l.c, l.permanent, l.report, 0, NULL) != HSY_OK) {
        puts("Bail out! no permanent answer");
        exit(1);
    }
    return l;
}

static struct link link_values(const char *mechanism, uint32_t d,
                               double permanent, double report)
{
    hsy_spec spec = trial_values(mechanism, d, permanent);

    return link_of(&spec, report);
}

static struct link link_rappor(hsy_ratio f, hsy_ratio p, hsy_ratio q,
                               uint64_t hashes)
{
    hsy_spec spec = trial_values("rappor", 10, 0);

    spec.design = HSY_DESIGN_RAPPOR;
    spec.chance[0] = f;
    spec.chance[1] = p;
    spec.chance[2] = q;
    spec.param[HSY_PARAM_HASHES] = hashes;
    return link_of(&spec, 0);
}

static void link_free(struct link *l)
{
    free(l->permanent);
    free(l->report);
}

/* ---- Theory 15.4 --------------------------------------------------------- */

static void second_steps(void)
{
    static const struct {
        const char *mechanism;
        uint32_t d;
        double permanent, report, p2, close;
    } rows[] = {
        {"sue", 5, 2, 1, 0.764996287798405511, UNARY_CLOSE},
        {"dbitflip", 5, 2, 1, 0.764996287798405511, EXACT_CLOSE},
        {"oue", 5, 2, 1, 0.803388066758518147, UNARY_CLOSE},
        {"rr", 2, 2, 1, 0.803388066758518147, EXACT_CLOSE},
        {"blh", 9, 2, 1, 0.803388066758518147, EXACT_CLOSE},
        {"grr", 5, 2, 1, 0.564734795415579714, EXACT_CLOSE},
        {"grr", 50, 2, 1, 0.307365421154449097, EXACT_CLOSE},
        {"sue", 5, 4, 2, 0.803388066758518147, UNARY_CLOSE},
        {"oue", 5, 4, 2, 0.895006414596493483, UNARY_CLOSE},
        {"grr", 5, 4, 2, 0.690651421741409140, EXACT_CLOSE},
        {"grr", 50, 4, 2, 0.234619981132567695, EXACT_CLOSE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct link l = link_values(rows[i].mechanism, rows[i].d,
                                    rows[i].permanent, rows[i].report);
        hsy_permanent_info info;

        hsy_permanent_describe(&l.c, &info);
        ok(fabs(info.p2 - rows[i].p2) <= rows[i].close,
           "%s, %u values, (%g, %g): p2 = %.15f", rows[i].mechanism, rows[i].d,
           rows[i].permanent, rows[i].report, info.p2);
        link_free(&l);
    }
}

static void spent(const char *name, struct link l, const uint64_t *reports,
                  const double *want, size_t n, double close)
{
    bool good = true;

    for (size_t i = 0; i < n; i++)
        good &=
            fabs(hsy_permanent_epsilon(&l.c, reports[i]) - want[i]) <= close;
    ok(good, "%s: what T reports spend, at %zu numbers T", name, n);
    link_free(&l);
}

static void published_losses(void)
{
    static const uint64_t five[] = {1, 2, 5}, ten[] = {1, 2, 3, 5, 10};
    static const uint64_t fifty[] = {1, 2, 5, 10, 50}, one[] = {1, 1000000};
    static const double grr[] = {1, 1.67811805164157704, 1.99656039157167313};
    static const double oue[] = {1, 1.64166, 1.89915, 1.99365, 1.99999};
    static const double rappor[] = {1.07429, 2.01701, 3.65599, 4.29934,
                                    4.39445};
    static const double ends[] = {1.07428586416672818, 4.39444915467243877};
    static const double basic[] = {0.915666187250960729, 3.89182029811062661};
    const hsy_ratio half = {1, 2}, quarters = {3, 4};
    hsy_spec olh = trial_values("olh", 100, 2);

    olh.param[HSY_PARAM_G] = 4;
    spent("grr, 4 values", link_values("grr", 4, 2, 1), five, grr, 3,
          EXACT_CLOSE);
    spent("olh, g 4", link_of(&olh, 1), five, grr, 3, EXACT_CLOSE);
    spent("oue", link_values("oue", 9, 2, 1), ten, oue, 5, 5e-6);
    spent("rappor, h 2", link_rappor(half, half, quarters, 2), fifty, rappor, 5,
          5e-6);
    spent("rappor, h 2, both ends", link_rappor(half, half, quarters, 2), one,
          ends, 2, EXACT_CLOSE);
    /* f = 1/4 is exact; p and q are rounded to 32 digits. */
    spent("rappor, h 1, both ends",
          link_rappor((hsy_ratio){1, 4}, (hsy_ratio){7, 20},
                      (hsy_ratio){13, 20}, 1),
          one, basic, 2, 1e-8);
}

/* Theory 16, erratum 6: the second step as published spends less than it
 * may, for it forgets that a wrong answer may be turned into the right one. */
static void erratum(void)
{
    static const double spends[][2] = {{5, 0.359}, {50, 0.069}};

    for (size_t i = 0; i < 2; i++) {
        double k = spends[i][0], a = exp(1), b = exp(0.5);
        double p1 = a / (a + k - 1), q1 = 1 / (a + k - 1);
        double p2 =
            (q1 - b * p1) / (-p1 * b + k * q1 * b - q1 * b - p1 * (k - 1) + q1);
        double q2 = (1 - p2) / (k - 1);
        double one = log((p1 * p2 + (1 - p1) * q2) / (q1 * p2 + (1 - q1) * q2));
        struct link l = link_values("grr", (uint32_t)k, 1, 0.5);

        ok(fabs(one - spends[i][1]) < 5e-4 &&
               fabs(hsy_permanent_epsilon(&l.c, 1) - 0.5) < EXACT_CLOSE,
           "%g values, (1, 0.5): the published step spends %.3f, ours 0.5", k,
           one);
        link_free(&l);
    }
}

/* ---- Limits -------------------------------------------------------------- */

static void grows(const char *name, struct link l)
{
    const double most = hsy_permanent_epsilon(&l.c, UINT64_MAX);
    double last = 0;
    hsy_permanent_info info;
    bool good = hsy_permanent_epsilon(&l.c, 0) == 0;

    hsy_permanent_describe(&l.c, &info);
    for (uint64_t T = 1; T <= 1000000000; T = T < 50 ? T + 1 : T + T / 3) {
        double now = hsy_permanent_epsilon(&l.c, T);

        good &= now >= last && now <= info.epsilon_permanent && now > 0;
        last = now;
    }
    good &=
        fabs(most - info.epsilon_permanent) <= 1e-12 * info.epsilon_permanent;
    ok(good && info.epsilon_report == hsy_permanent_epsilon(&l.c, 1),
       "%s: more reports spend more, and never more than the answer did", name);
    link_free(&l);
}

/* Where a report spends next to nothing: still no more than its scheme, and
 * short of it by no more than the rounding of the step, 2^-64 of D. */
static void faint(const char *mechanism, uint32_t d)
{
    struct link l = link_values(mechanism, d, 20, 1e-6);
    hsy_scheme_info info;
    double one = hsy_permanent_epsilon(&l.c, 1);
    double many = hsy_permanent_epsilon(&l.c, 1000000000);

    hsy_scheme_describe(l.report, &info);
    ok(one <= info.epsilon_exact * (1 + 1e-12) &&
           one >= info.epsilon_exact * (1 - 1e-6) && many > one && many <= 20,
       "%s, %u values, (20, 1e-6): %.9g once, %.9g for 10^9 reports", mechanism,
       d, one, many);
    link_free(&l);
}

/* ---- What is said of it -------------------------------------------------- */

static void described(const char *name, struct link l, uint64_t keys)
{
    hsy_permanent_info info;
    double p, q, wrong = 1;
    hsy_scheme_info report;

    hsy_permanent_describe(&l.c, &info);
    hsy_scheme_describe(l.report, &report);
    p = info.p1 * info.p2 + (1 - info.p1) * info.q2;
    q = info.q1 * info.p2 + (1 - info.q1) * info.q2;
    if (strcmp(report.mechanism, "olh") != 0 &&
        strcmp(report.mechanism, "blh") != 0) /* theirs is of other values */
        wrong = report.q;
    else
        wrong = q;
    ok(fabs(p - report.p) < 1e-14 && fabs(q - wrong) < 1e-14 &&
           info.keys == keys &&
           (keys == 0 ? isinf(info.epsilon_all_values)
                      : info.epsilon_all_values ==
                            (double)keys * info.epsilon_permanent) &&
           fabs(info.epsilon_report - report.epsilon_exact) <
               EXACT_CLOSE * report.epsilon_exact,
       "%s: both steps together are the report's law; %g for a lifetime", name,
       info.epsilon_all_values);
    link_free(&l);
}

int main(void)
{
    const hsy_ratio half = {1, 2}, quarters = {3, 4};
    hsy_spec number = trial_number(100, 2), strings = trial_values("blh", 0, 2);
    hsy_spec bits = trial_values("dbitflip", 10, 2);
    hsy_spec words = trial_values("rappor", 0, 1);

    strings.kind = words.kind = HSY_KIND_STRINGS;
    bits.param[HSY_PARAM_SAMPLED_BITS] = 4;
    second_steps();
    published_losses();
    erratum();
    grows("rr", link_values("rr", 2, 2, 1));
    grows("grr", link_values("grr", 1000, 20, 0.01));
    grows("sue", link_values("sue", 3, 2, 1));
    grows("oue", link_values("oue", 3, 24, 1));
    grows("onebit", link_of(&number, 0.5));
    grows("rappor", link_rappor(half, half, quarters, 2));
    grows("rappor, p 0 and q 1",
          link_rappor(half, (hsy_ratio){0, 1}, (hsy_ratio){1, 1}, 1));
    grows("equal epsilons", link_values("grr", 4, 2, 2));
    faint("rr", 2);
    faint("grr", 3);
    faint("grr", HSY_VALUES_MAX);
    faint("sue", 3);
    described("rr", link_values("rr", 2, 2, 1), 2);
    described("grr", link_values("grr", 10, 3, 1), 10);
    described("sue", link_values("sue", 10, 3, 1), 10);
    described("oue", link_values("oue", 10, 3, 1), 10);
    described("blh of strings", link_of(&strings, 1), 2);
    described("dbitflip", link_of(&bits, 1), 5);
    described("onebit", link_of(&number, 1), 2);
    described("rappor", link_rappor(half, half, quarters, 2), 10);
    described("rappor of strings", link_of(&words, 1), 0);
    return tap_done();
}
