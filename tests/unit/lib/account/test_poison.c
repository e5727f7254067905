/*
 * test_poison.c - what lying devices gain, by formula, and the bound that no
 * report passes, for every mechanism.
 */
#include "rig/examples.h"
#include "tap.h"

#include <math.h>

#define TARGETS 10u
#define REPORTS 400u

static const uint64_t targets[TARGETS] = {3, 5, 8, 13, 21, 34, 55, 89, 90, 91};

static hsy_scheme *scheme(const char *mechanism, double epsilon, uint32_t d)
{
    const hsy_spec spec = {.size = sizeof spec,
                           .mechanism = mechanism,
                           .kind = HSY_KIND_VALUES,
                           .d = d,
                           .nano_epsilon = (uint64_t)(epsilon * HSY_NANO)};

    return example_scheme(&spec);
}

static bool poison_near(double x, double y, double part)
{
    return fabs(x - y) <= part * fabs(y) + 1e-12;
}

/* ---- Closed forms (theory 12, [CJG21, Table 1]) -------------------------- */

struct form {
    const char *mechanism;
    hsy_attack attack;
    double (*gain)(double beta, double d, double r, double held, double E);
};

static double grr_random(double b, double d, double r, double held, double E)
{
    (void)E;
    return b * (r / d - held);
}

static double any_input(double b, double d, double r, double held, double E)
{
    (void)d;
    (void)r;
    (void)E;
    return b * (1 - held);
}

static double grr_maximal(double b, double d, double r, double held, double E)
{
    return b * (1 - held) + b * (d - r) / (E - 1);
}

static double oue_random(double b, double d, double r, double held, double E)
{
    (void)d;
    (void)E;
    return b * (r - held);
}

static double oue_maximal(double b, double d, double r, double held, double E)
{
    (void)d;
    return b * (2 * r - held) + 2 * b * r / (E - 1);
}

static double olh_random(double b, double d, double r, double held, double E)
{
    (void)d;
    (void)r;
    (void)E;
    return -b * held;
}

/* sue has q = 1 / (s + 1), s^2 = E, and p = 1 - q; any report supports half. */
static double sue_random(double b, double d, double r, double held, double E)
{
    (void)d;
    (void)E;
    return b * (r / 2 - held);
}

static double sue_maximal(double b, double d, double r, double held, double E)
{
    (void)d;
    return b * (r * sqrt(E) / (sqrt(E) - 1) - held);
}

/* w is the even split of d among the weights; j = min(r, w). */
static double ss_maximal(double b, double d, double r, double held, double E)
{
    const double w = floor(d / (E + 1) + 0.5), z = w * E + d - w;
    const double p = w * E / z;
    const double q = (w * (w - 1) * E + (d - w) * w) / ((d - 1) * z);

    return b * ((fmin(r, w) - r * q) / (p - q) - held);
}

static const struct form forms[] = {
    {"grr", HSY_ATTACK_RANDOM, grr_random},
    {"grr", HSY_ATTACK_INPUT, any_input},
    {"grr", HSY_ATTACK_MAXIMAL, grr_maximal},
    {"oue", HSY_ATTACK_RANDOM, oue_random},
    {"oue", HSY_ATTACK_INPUT, any_input},
    {"oue", HSY_ATTACK_MAXIMAL, oue_maximal},
    {"sue", HSY_ATTACK_RANDOM, sue_random},
    {"sue", HSY_ATTACK_INPUT, any_input},
    {"sue", HSY_ATTACK_MAXIMAL, sue_maximal},
    {"olh", HSY_ATTACK_RANDOM, olh_random},
    {"olh", HSY_ATTACK_INPUT, any_input},
    {"blh", HSY_ATTACK_RANDOM, olh_random},
    {"blh", HSY_ATTACK_INPUT, any_input},
    {"ss", HSY_ATTACK_RANDOM, grr_random},
    {"ss", HSY_ATTACK_INPUT, any_input},
    {"ss", HSY_ATTACK_MAXIMAL, ss_maximal},
};

static void closed_forms(void)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const struct form *f = &forms[i];
        hsy_scheme *s = scheme(f->mechanism, 0.5, 128);
        double gain = 0;
        bool good = hsy_poison_gain(s, &gain, NULL,
                                    &(hsy_liars){.attack = f->attack,
                                                 .targets = targets,
                                                 .count = TARGETS,
                                                 .share = 0.01,
                                                 .held = 0.2},
                                    NULL) == HSY_OK;
        double want = f->gain(0.01, 128, TARGETS, 0.2, exp(0.5));

        ok(good && poison_near(gain, want, 1e-6), "%s, attack %d: %.6f is %.6f",
           f->mechanism, (int)f->attack, gain, want);
        free(s);
    }
}

/* T24. */
static void one_item(void)
{
    hsy_scheme *s = scheme("grr", 0.5, 128);
    const uint64_t one = 7;
    double gain = 0;

    hsy_poison_gain(s, &gain, NULL,
                    &(hsy_liars){.attack = HSY_ATTACK_MAXIMAL,
                                 .targets = &one,
                                 .count = 1,
                                 .share = 0.01,
                                 .held = 0},
                    NULL);
    ok(poison_near(gain, 1.97, 0.002),
       "1 %% of lying grr devices at epsilon 0.5, 128 values: %.3f on one item",
       gain);
    free(s);
}

/* A set of w holds no more than w targets, a hash what the pool has. */
static void most_targets(void)
{
    hsy_scheme *ss = scheme("ss", 3, 128), *olh = scheme("olh", 1, 128);
    double gain, j = 0;
    hsy_scheme_info info;

    hsy_scheme_describe(ss, &info);
    hsy_poison_gain(ss, &gain, &j,
                    &(hsy_liars){.attack = HSY_ATTACK_MAXIMAL,
                                 .targets = targets,
                                 .count = TARGETS,
                                 .share = 0.01,
                                 .held = 0},
                    NULL);
    ok(info.param[HSY_PARAM_SUBSET] < TARGETS &&
           j == (double)info.param[HSY_PARAM_SUBSET],
       "a set of %d supports so many of 10 targets", (int)j);
    hsy_poison_gain(olh, &gain, &j,
                    &(hsy_liars){.attack = HSY_ATTACK_MAXIMAL,
                                 .targets = targets,
                                 .count = TARGETS,
                                 .share = 0.01,
                                 .held = 0},
                    NULL);
    ok(j >= 8 && j <= TARGETS,
       "of 65536 seeds some send %d of 10 targets to one of 4 hashes", (int)j);
    free(ss);
    free(olh);
}

/* ---- Reports ------------------------------------------------------------- */

/* Reports of a liar are reports, and support what was said. */
static void forged(const char *mechanism, hsy_attack attack)
{
    hsy_scheme *s = scheme(mechanism, 1, 128);
    hsy_tally t = example_tally(s);
    hsy_stream secret, published;
    hsy_evidence points[TARGETS];
    hsy_scheme_info info;
    double gain, j = 0, supported = 0;
    uint8_t *reports;
    void *scratch;
    hsy_status st;

    hsy_scheme_describe(s, &info);
    hsy_stream_seed(&secret, 5, 0);
    hsy_stream_seed(&published, 5, 1);
    reports = malloc(REPORTS * info.report_bytes);
    scratch = malloc(hsy_evidence_scratch(s, TARGETS) + 1);
    st = hsy_poison_reports(
        s, reports, REPORTS,
        &(hsy_liars){.attack = attack, .targets = targets, .count = TARGETS},
        &secret, &published, NULL);
    if (st == HSY_OK)
        st = hsy_tally_batch(&t, s, reports, REPORTS, NULL);
    if (st == HSY_OK)
        st = hsy_evidence_of(s, points, &t, targets, TARGETS, scratch, NULL);
    hsy_poison_gain(s, &gain, &j,
                    &(hsy_liars){.attack = attack,
                                 .targets = targets,
                                 .count = TARGETS,
                                 .share = 0.01,
                                 .held = 0},
                    NULL);
    for (size_t i = 0; i < TARGETS && st == HSY_OK; i++)
        supported += points[i].support / REPORTS;
    ok(st == HSY_OK && (attack == HSY_ATTACK_MAXIMAL
                            ? poison_near(supported, j, 1e-12)
                            : fabs(supported - j) <= 5 * sqrt(j / REPORTS)),
       "%s, attack %d: reports pass and support %.2f targets, %.2f expected",
       mechanism, (int)attack, supported, j);
    free(reports);
    free(scratch);
    free(t.cells);
    free(s);
}

/* ---- The bound ----------------------------------------------------------- */

/* What one report adds to each value, against what it may. */
struct reach {
    double least, most;  /* that were seen */
    double below, above; /* of the bounds, over all values */
    bool held, known;
};

static void reach_one(struct reach *r, const hsy_scheme *s, hsy_tally *t,
                      const uint8_t *report, const uint64_t *codes,
                      size_t count, void *scratch)
{
    hsy_evidence points[128];
    hsy_poison_bound bounds[128];
    const double lying = 1 - 0x1p-40; /* of one report */

    memset(t->cells, 0, hsy_tally_words(s) * sizeof *t->cells);
    hsy_tally_batch(t, s, report, 1, NULL);
    if (hsy_evidence_of(s, points, t, codes, count, scratch, NULL) != HSY_OK)
        return;
    r->known =
        hsy_poison_bounds(s, bounds, points, count, 1, lying, NULL) == HSY_OK;
    for (size_t i = 0; i < count && r->known; i++) {
        const double phi = points[i].value, slack = 1e-9 * (1 + fabs(phi));

        if (!(points[i].n > 0))
            continue; /* dbitflip: this report does not speak of it */
        r->held = r->held && phi <= bounds[i].up + slack &&
                  phi >= 1 - bounds[i].down - slack;
        r->least = fmin(r->least, phi);
        r->most = fmax(r->most, phi);
        r->below = fmin(r->below, 1 - bounds[i].down);
        r->above = fmax(r->above, bounds[i].up);
    }
}

static void reach_all(const struct example *e)
{
    hsy_scheme *s = example_scheme(&e->spec);
    struct reach r = {.held = true,
                      .least = HUGE_VAL,
                      .most = -HUGE_VAL,
                      .below = HUGE_VAL,
                      .above = -HUGE_VAL};
    static const uint64_t strings[] = {1, 2, 0x9e3779b97f4a7c15,
                                       3, 4, 5}; /* or three of two words */
    uint8_t *reports = example_reports(s, 4000);
    hsy_tally t = example_tally(s);
    void *scratch;
    hsy_scheme_info info;
    size_t count;
    bool string;

    hsy_scheme_describe(s, &info);
    string = info.kind == HSY_KIND_STRINGS;
    count = string ? 3
            : info.kind == HSY_KIND_VALUES || info.kind == HSY_KIND_BINS
                ? info.d
                : 1;
    scratch = malloc(hsy_evidence_scratch(s, count) + 1);
    for (size_t i = 0; i < 4000; i++)
        reach_one(&r, s, &t, reports + i * info.report_bytes,
                  string ? strings : NULL, count, scratch);
    if (!r.known)
        ok(info.iterative || strcmp(e->name, "hh") == 0 ||
               strcmp(e->name, "haar") == 0 ||
               strncmp(e->name, "pem", 3) == 0 ||
               strncmp(e->name, "sfp", 3) == 0 ||
               strcmp(e->name, "stage") == 0 ||
               strncmp(e->name, "rappor", 6) == 0 ||
               info.kind == HSY_KIND_TUPLE,
           "%s: no bound", e->name);
    else if (info.param[HSY_PARAM_G] != 0) /* room for a prediction */
        ok(r.held && poison_near(r.least - 1, r.below, 1e-6) &&
               poison_near(r.most + 1 / ((double)info.param[HSY_PARAM_G] - 1),
                           r.above, 1e-6),
           "%s: a report adds from %.3f to %.3f, within %.3f to %.3f", e->name,
           r.least, r.most, r.below, r.above);
    else
        ok(r.held && poison_near(r.least, r.below, 1e-6) &&
               poison_near(r.most, r.above, 1e-6),
           "%s: a report adds from %.3f to %.3f, as bounded, and reaches both",
           e->name, r.least, r.most);
    free(reports);
    free(scratch);
    free(t.cells);
    free(s);
}

/* Where not everybody is asked for a value, all liars may be. */
static void asked_for(void)
{
    hsy_scheme *s = scheme("grr", 1, 16);
    hsy_evidence point = {
        .value = 0.1, .n = 500, .p = 0.75, .q = 0.25, .v0 = 1, .v1 = 1};
    hsy_poison_bound b = {0, 0};

    hsy_poison_bounds(s, &b, &point, 1, 1000, 0.01, NULL);
    ok(poison_near(b.up, 0.02 * 1.5, 1e-9) &&
           poison_near(b.down, 0.02 * 1.5, 1e-9),
       "with half asked, 1 %% of liars count for 2 %%");
    hsy_poison_bounds(s, &b, &point, 1, 1000, 0.6, NULL);
    ok(poison_near(b.up, 1.5, 1e-9), "and never for more than all");
    free(s);
}

/*
 * Liars who gather in the seeds that send many values to one hash make local
 * hashing predict more people than there are. 5 % of them must not take the
 * most frequent value down by more than the bound: it was 0.6.
 */
static void gathered(void)
{
    enum { HONEST = 20000, LIARS = 1000, D = 128 };
    hsy_scheme *s = scheme("olh", 1.0986, D);
    static const uint64_t wanted[] = {17, 22, 31, 38, 46, 59, 67, 83, 101, 118};
    uint64_t *codes = calloc(HONEST, sizeof *codes);
    uint8_t *reports;
    hsy_tally t = example_tally(s);
    void *scratch = malloc(hsy_evidence_scratch(s, D) + 1);
    hsy_evidence before[D], after[D];
    hsy_poison_bound bounds[D];
    hsy_stream secret, published;
    hsy_scheme_info info;
    double loss;

    hsy_scheme_describe(s, &info);
    reports = malloc(HONEST * info.report_bytes);
    for (size_t i = 0; i < HONEST; i++)
        codes[i] = i % 5 == 0 ? 0 : i % D;
    hsy_stream_seed(&secret, 1, 0);
    hsy_stream_seed(&published, 1, 1);
    hsy_simulate_batch(s, reports, codes, HONEST, &secret, &published, NULL);
    hsy_tally_batch(&t, s, reports, HONEST, NULL);
    hsy_evidence_of(s, before, &t, NULL, D, scratch, NULL);
    hsy_poison_reports(s, reports, LIARS,
                       &(hsy_liars){.attack = HSY_ATTACK_MAXIMAL,
                                    .targets = wanted,
                                    .count = 10},
                       &secret, &published, NULL);
    hsy_tally_batch(&t, s, reports, LIARS, NULL);
    hsy_evidence_of(s, after, &t, NULL, D, scratch, NULL);
    hsy_poison_bounds(s, bounds, after, D, HONEST + LIARS, LIARS / 21000.0,
                      NULL);
    loss = before[0].value - after[0].value;
    ok(fabs(loss) <= bounds[0].down + 5 * sqrt(after[0].residual_variance) &&
           bounds[0].down < 0.2,
       "5 %% of liars take %.3f off the most frequent value, at most %.3f",
       loss, bounds[0].down);
    free(codes);
    free(reports);
    free(scratch);
    free(t.cells);
    free(s);
}

/* ---- Refusals ------------------------------------------------------------ */

static void refuses(void)
{
    hsy_scheme *grr = scheme("grr", 1, 16), *hr = scheme("hr", 1, 16);
    const uint64_t twice[] = {3, 4, 3}, far = 16;
    hsy_poison_bound b;
    hsy_evidence point = {.n = 1, .p = 0.75, .q = 0.25};
    double gain;
    hsy_error err = {0};
    uint8_t report[8];
    hsy_stream one, other;

#define REFUSED(status, sentence, s, ...)                                      \
    ok(hsy_poison_gain(s, &gain, NULL, &(hsy_liars){__VA_ARGS__}, &err) ==     \
           (status),                                                           \
       sentence)
    REFUSED(HSY_E_UNKNOWN, "no lies of hr are known", hr, HSY_ATTACK_INPUT,
            &far, 1, 0.1, 0);
    REFUSED(HSY_E_RANGE, "no such value", grr, HSY_ATTACK_INPUT, &far, 1, 0.1,
            0);
    REFUSED(HSY_E_RANGE, "no target", grr, HSY_ATTACK_INPUT, &far, 0, 0.1, 0);
    REFUSED(HSY_E_RANGE, "a target twice", grr, HSY_ATTACK_INPUT, twice, 3, 0.1,
            0);
    ok(err.at == 3, "and which");
    REFUSED(HSY_E_RANGE, "more targets than values", grr, HSY_ATTACK_INPUT,
            targets, 17, 0.1, 0);
    REFUSED(HSY_E_RANGE, "no such attack", grr, (hsy_attack)3, twice, 1, 0.1,
            0);
    REFUSED(HSY_E_RANGE, "everybody lies", grr, HSY_ATTACK_INPUT, twice, 1, 1.0,
            0);
    REFUSED(HSY_E_RANGE, "a share of more than all", grr, HSY_ATTACK_INPUT,
            twice, 1, 0.1, 1.1);
    ok(hsy_poison_bounds(grr, &b, &point, 1, 1, NAN, &err) == HSY_E_RANGE,
       "no number");
    hsy_stream_seed(&one, 1, 0);
    memset(&other, 0, sizeof other);
    ok(hsy_poison_reports(grr, report, 1,
                          &(hsy_liars){.attack = HSY_ATTACK_RANDOM,
                                       .targets = twice,
                                       .count = 1},
                          &one, &one, &err) == HSY_E_RANGE,
       "one stream for both");
    ok(hsy_poison_reports(grr, report, 1,
                          &(hsy_liars){.attack = HSY_ATTACK_RANDOM,
                                       .targets = twice,
                                       .count = 1},
                          &one, &other, &err) == HSY_E_REFUSED,
       "a stream that is no simulation's");
    free(grr);
    free(hr);
}

int main(void)
{
    static const char *const liars[] = {"grr", "ss",  "sue",
                                        "oue", "olh", "blh"};

    closed_forms();
    one_item();
    most_targets();
    for (size_t i = 0; i < sizeof liars / sizeof liars[0]; i++)
        for (int a = HSY_ATTACK_RANDOM; a <= HSY_ATTACK_MAXIMAL; a++)
            forged(liars[i], (hsy_attack)a);
    for (size_t i = 0; i < EXAMPLES; i++)
        reach_all(&examples[i]);
    asked_for();
    gathered();
    refuses();
    return tap_done();
}
